// MJCF <tendon>: sums of joint coordinates, and ways along sites and around geoms.
#include "io/mjcf.h"

#include <string.h>

typedef struct rgMjTendon {
    int limited;
    double range[2];
    double frictionLoss, stiffness, damping, armature;
    double springLength[2];
    int springCount;
} rgMjTendon;

void rgMjcf_ApplyTendon(rgMjcf* m, const rgXmlNode* node, void* value) {
    static const char* const unsupported[] = {"margin", "actuatorfrcrange", NULL};
    rgXmlReader* r = &m->reader;
    rgMjTendon* t = value;
    rgMjcf_Unsupported(m, node, unsupported);
    rgXmlReader_Word(r, node, "limited", rgMjAutoWords, &t->limited);
    rgXmlReader_Doubles(r, node, "range", t->range, 2, 2);
    rgXmlReader_Double(r, node, "frictionloss", &t->frictionLoss);
    rgMjcf_ReadLinear(m, node, "stiffness", &t->stiffness);
    rgMjcf_ReadLinear(m, node, "damping", &t->damping);
    rgXmlReader_Double(r, node, "armature", &t->armature);
    int count = rgXmlReader_Doubles(r, node, "springlength", t->springLength, 1, 2);
    t->springCount = RG_MAX(count, t->springCount);
}

// Joints and coefficients of a fixed tendon, in the arena.
static int rgMjcf_ReadTendonJoints(rgMjcf* m, const rgXmlNode* node, rgTendonDef* def,
                                   double* spring) {
    int count = 0;
    for (const rgXmlNode* j = rgXmlNode_Child(node, "joint"); j != NULL;
         j = rgXmlNode_Next(j, "joint")) {
        ++count;
    }
    rgJointId* joints = RG_TAKE(&m->arena, rgJointId, RG_MAX(count, 1));
    double* coefficients = RG_TAKE(&m->arena, double, RG_MAX(count, 1));
    if (joints == NULL || coefficients == NULL) {
        rgMjcf_Check(m, rg_errorMemory);
        return 0;
    }
    int used = 0;
    for (const rgXmlNode* j = rgXmlNode_Child(node, "joint"); j != NULL;
         j = rgXmlNode_Next(j, "joint")) {
        int joint = rgMjcf_Lookup(m, &m->jointNames, j, "joint", "joint");
        coefficients[used] = 0;
        rgXmlReader_Required(&m->reader, j, "coef");
        rgXmlReader_Double(&m->reader, j, "coef", &coefficients[used]);
        if (joint >= 0) {
            joints[used].index1 = joint + 1;
            *spring += coefficients[used] * m->def->joints[joint].springReference;
            ++used;
        }
    }
    def->joints = joints;
    def->coefficients = coefficients;
    return used;
}

// -1: the length where joints have their springref, which for a way is not known yet.
static void rgMjcf_SetTendonSpring(rgMjcf* m, const rgXmlNode* node, const rgMjTendon* t,
                                   double atReference, rgTendonDef* def) {
    double rest = t->springLength[0], end = t->springCount == 2 ? t->springLength[1] : rest;
    bool own = t->springCount == 0 || rest == -1;
    if (end < rest) {
        rgXmlReader_Error(&m->reader, node, "<%s springlength>: %g is below %g", node->name, end,
                          rest);
    }
    def->springReference = own ? atReference : rest;
    def->slack = own ? 0 : RG_MAX(end - rest, 0);
}

static void rgMjcf_SetTendon(rgMjcf* m, const rgXmlNode* node, const rgMjTendon* t,
                             rgTendonDef* def) {
    def->name = rgXmlNode_Attribute(node, "name");
    def->source = rgMjcf_Source(node);
    def->hasLimits = rgMjcf_Limited(m, node, "range", t->limited, t->range);
    def->lower = t->range[0];
    def->upper = t->range[1];
    def->damping = t->damping;
    def->dryFriction = t->frictionLoss;
    def->stiffness = t->stiffness;
}

static void rgMjcf_AddTendon(rgMjcf* m, const rgXmlNode* node, const rgTendonDef* def) {
    rgMjNames_Add(m, &m->tendonNames, node, def->name, m->def->tendonCount);
    rgMjcf_Check(m, rgModelDef_AddTendon(m->def, def, NULL));
}

static rgMjTendon rgMjcf_TendonSettings(rgMjcf* m, const rgXmlNode* node) {
    static const char* const names[] = {"tendon", NULL};
    rgMjTendon settings = {.limited = 2};
    rgMjcf_ApplyClass(m, rgMjcf_Class(m, node, "class", 0), names, rgMjcf_ApplyTendon, &settings);
    rgMjcf_ApplyTendon(m, node, &settings);
    return settings;
}

#define RG_TENDON_ATTRIBUTES                                                                       \
    "name", "class", "group", "limited", "range", "solreflimit", "solimplimit", "solreffriction",  \
        "solimpfriction", "margin", "frictionloss", "springlength", "stiffness", "damping",        \
        "armature", "actuatorfrclimited", "actuatorfrcrange", "user"

static void rgMjcf_ReadFixedTendon(rgMjcf* m, const rgXmlNode* node) {
    static const char* const known[] = {RG_TENDON_ATTRIBUTES, NULL};
    static const char* const children[] = {"joint", NULL};
    rgXmlReader_CheckAttributes(&m->reader, node, known);
    rgXmlReader_CheckChildren(&m->reader, node, children);
    rgMjTendon settings = rgMjcf_TendonSettings(m, node);
    rgTendonDef def = rgDefaultTendonDef();
    double spring = 0;
    def.jointCount = rgMjcf_ReadTendonJoints(m, node, &def, &spring);
    rgMjcf_SetTendon(m, node, &settings, &def);
    rgMjcf_SetTendonSpring(m, node, &settings, spring, &def);
    def.armature = settings.armature;
    if (def.jointCount == 0) {
        rgXmlReader_Error(&m->reader, node, "<fixed>: has no joints");
        return;
    }
    rgMjcf_AddTendon(m, node, &def);
}

static void rgMjcf_ReadPoint(rgMjcf* m, const rgXmlNode* node, rgTendonPoint* point) {
    static const char* const known[] = {"site", "geom", "sidesite", "divisor", NULL};
    rgXmlReader_CheckAttributes(&m->reader, node, known);
    if (strcmp(node->name, "site") == 0) {
        point->kind = rg_pointFrame;
        point->frame.index1 = rgMjcf_Lookup(m, &m->siteNames, node, "site", "site") + 1;
    } else if (strcmp(node->name, "geom") == 0) {
        point->kind = rg_pointShape;
        point->shape.index1 = rgMjcf_Lookup(m, &m->geomNames, node, "geom", "geom") + 1;
        if (rgXmlNode_Attribute(node, "sidesite") != NULL) {
            point->frame.index1 = rgMjcf_Lookup(m, &m->siteNames, node, "sidesite", "site") + 1;
        }
    } else {
        point->kind = rg_pointPulley;
        point->divisor = 1;
        rgXmlReader_Double(&m->reader, node, "divisor", &point->divisor);
    }
}

static int rgMjcf_ReadPoints(rgMjcf* m, const rgXmlNode* node, rgTendonDef* def) {
    int count = 0;
    for (const rgXmlNode* p = rgXmlNode_Child(node, NULL); p != NULL; p = rgXmlNode_Next(p, NULL)) {
        ++count;
    }
    rgTendonPoint* points = RG_TAKE(&m->arena, rgTendonPoint, RG_MAX(count, 1));
    if (points == NULL) {
        rgMjcf_Check(m, rg_errorMemory);
        return 0;
    }
    int used = 0;
    for (const rgXmlNode* p = rgXmlNode_Child(node, NULL); p != NULL; p = rgXmlNode_Next(p, NULL)) {
        bool known = strcmp(p->name, "site") == 0 || strcmp(p->name, "geom") == 0 ||
                     strcmp(p->name, "pulley") == 0;
        if (known) {
            points[used] = (rgTendonPoint){0};
            rgMjcf_ReadPoint(m, p, &points[used]);
            // A geom that was left out is not in its way.
            used += points[used].kind != rg_pointShape || points[used].shape.index1 > 0;
        }
    }
    def->points = points;
    return used;
}

static void rgMjcf_ReadSpatialTendon(rgMjcf* m, const rgXmlNode* node) {
    static const char* const known[] = {RG_TENDON_ATTRIBUTES, "width", "material", "rgba", NULL};
    static const char* const children[] = {"site", "geom", "pulley", NULL};
    int errors = m->reader.errorCount;
    rgXmlReader_CheckAttributes(&m->reader, node, known);
    rgXmlReader_CheckChildren(&m->reader, node, children);
    rgMjTendon settings = rgMjcf_TendonSettings(m, node);
    rgTendonDef def = rgDefaultTendonDef();
    def.pointCount = rgMjcf_ReadPoints(m, node, &def);
    rgMjcf_SetTendon(m, node, &settings, &def);
    rgMjcf_SetTendonSpring(m, node, &settings, NAN, &def);
    def.armature = settings.armature;
    if (def.pointCount == 0) {
        rgXmlReader_Error(&m->reader, node, "<spatial>: has no sites");
    }
    if (m->reader.errorCount == errors && m->result == rg_ok) {
        rgMjcf_AddTendon(m, node, &def);
    }
}

void rgMjcf_ReadTendons(rgMjcf* m, const rgXmlNode* root) {
    static const char* const known[] = {"fixed", "spatial", NULL};
    for (const rgXmlNode* section = rgXmlNode_Child(root, "tendon"); section != NULL;
         section = rgXmlNode_Next(section, "tendon")) {
        rgXmlReader_CheckChildren(&m->reader, section, known);
        for (const rgXmlNode* node = rgXmlNode_Child(section, NULL); node != NULL;
             node = rgXmlNode_Next(node, NULL)) {
            if (strcmp(node->name, "fixed") == 0) {
                rgMjcf_ReadFixedTendon(m, node);
            } else if (strcmp(node->name, "spatial") == 0) {
                rgMjcf_ReadSpatialTendon(m, node);
            }
        }
    }
}
