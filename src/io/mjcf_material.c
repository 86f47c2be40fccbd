// MJCF surfaces, once all geoms are there: springs of solref, restitution, what <custom> says about
// materials that MJCF has no words for. docs/formats/mjcf.md.
#include "io/mjcf.h"

#include <math.h>
#include <string.h>

// ---- custom

#define RG_MJ_PREFIX "rigor:"

static const rgXmlWord ruleWords[] = {{"geometric", rg_frictionGeometric},
                                      {"average", rg_frictionAverage},
                                      {"minimum", rg_frictionMinimum},
                                      {"maximum", rg_frictionMaximum},
                                      {NULL, 0}};

const rgMjProperty rgMjProperties[RG_MJ_PROPERTY_COUNT] = {
    {"restitution", offsetof(rgMaterial, restitution)},
    {"stiffness", offsetof(rgMaterial, stiffness)},
    {"damping", offsetof(rgMaterial, damping)},
    {"dissipation", offsetof(rgMaterial, dissipation)},
    {"tangential_stiffness", offsetof(rgMaterial, tangentialStiffness)},
    {"tangential_damping", offsetof(rgMaterial, tangentialDamping)},
    {"impact_friction", offsetof(rgMaterial, muImpact)},
    {"transition_speed", offsetof(rgMaterial, transitionSpeed)},
};

double* rgMjProperty_Of(const rgMjProperty* property, rgMaterial* material) {
    return (double*)(void*)((char*)material + property->offset);
}

// The property that starts the text, up to its end or a colon; what follows the colon is a geom.
static const rgMjProperty* rgMjcf_FindProperty(const char* text, const char** geom) {
    size_t length = strcspn(text, ":");
    *geom = text[length] == ':' ? text + length + 1 : NULL;
    for (int i = 0; i < RG_MJ_PROPERTY_COUNT; ++i) {
        const char* name = rgMjProperties[i].name;
        if (strlen(name) == length && strncmp(name, text, length) == 0) {
            return &rgMjProperties[i];
        }
    }
    return NULL;
}

static void rgMjcf_ReadNumeric(rgMjcf* m, const rgXmlNode* node, const char* name, bool named) {
    const char* geom;
    const rgMjProperty* property = rgMjcf_FindProperty(name, &geom);
    if (property == NULL) {
        rgXmlReader_Warn(&m->reader, node, "<numeric name>: '" RG_MJ_PREFIX "%.60s' is not known",
                         name);
        return;
    }
    if ((geom != NULL) != named) {
        return; // those for all geoms come first
    }
    double value = 0;
    if (!rgXmlReader_Double(&m->reader, node, "data", &value)) {
        rgXmlReader_Error(&m->reader, node, "<numeric data>: one number is needed");
        return;
    }
    int only = named ? rgMjNames_Find(&m->geomNames, geom) : -1;
    if (named && only < 0 && rgMjNames_Find(&m->leftGeoms, geom) < 0) {
        rgXmlReader_Error(&m->reader, node, "<numeric name>: there is no geom '%.60s'", geom);
    }
    for (int i = 0; i < m->def->shapeCount; ++i) {
        if (!named || i == only) {
            *rgMjProperty_Of(property, &m->def->shapes[i].material) = value;
        }
    }
}

static void rgMjcf_ReadText(rgMjcf* m, const rgXmlNode* node, const char* name) {
    int rule = rg_frictionMaximum;
    if (strcmp(name, "friction_rule") != 0) {
        rgXmlReader_Warn(&m->reader, node, "<text name>: '" RG_MJ_PREFIX "%.60s' is not known",
                         name);
        return;
    }
    rgXmlReader_Word(&m->reader, node, "data", ruleWords, &rule);
    for (int i = 0; i < m->def->shapeCount; ++i) {
        m->def->shapes[i].material.frictionRule = (rgFrictionRule)rule;
    }
}

static void rgMjcf_ReadCustomOnce(rgMjcf* m, const rgXmlNode* root, bool named) {
    size_t prefix = strlen(RG_MJ_PREFIX);
    for (const rgXmlNode* section = rgXmlNode_Child(root, "custom"); section != NULL;
         section = rgXmlNode_Next(section, "custom")) {
        for (const rgXmlNode* node = section->firstChild; node != NULL; node = node->next) {
            const char* name = rgXmlNode_Attribute(node, "name");
            if (name == NULL || strncmp(name, RG_MJ_PREFIX, prefix) != 0) {
                continue;
            }
            if (strcmp(node->name, "numeric") == 0) {
                rgMjcf_ReadNumeric(m, node, name + prefix, named);
            } else if (strcmp(node->name, "text") == 0 && !named) {
                rgMjcf_ReadText(m, node, name + prefix);
            }
        }
    }
}

void rgMjcf_ReadCustom(rgMjcf* m, const rgXmlNode* root) {
    rgMjcf_ReadCustomOnce(m, root, false);
    rgMjcf_ReadCustomOnce(m, root, true);
}

// ---- solref

// Contacts stay rigid, and a solref that is a stiffness and a damping says how they rebound: a
// spring and damper that let go where they would pull have e = exp(-tan(b) (pi - 2 b)), sin(b)
// being the damping ratio; docs/theory/constraints.md.
double rgMjcf_Restitution(const rgMjSoftness* softness) {
    double k = -softness->solref[0], d = -softness->solref[1];
    if (!softness->isSet || !(k > 0) || d < 0) {
        return 0;
    }
    double ratio = d / (2 * sqrt(k));
    double b = ratio < 1 ? asin(ratio) : 0;
    return ratio < 1 ? exp(-tan(b) * (acos(-1) - 2 * b)) : 0;
}

void rgMjcf_SetSoftness(rgMjcf* m) {
    if (!m->load->fileContact) {
        if (m->softNode != NULL) {
            rgXmlReader_Note(&m->reader, m->softNode,
                             "solref and solimp are not used: contacts are rigid unless the file's "
                             "are asked for");
        }
        return;
    }
    for (int i = 0; i < m->def->shapeCount; ++i) {
        rgShapeDef* shape = &m->def->shapes[i];
        double mass = rgMjcf_TreeMass(m, shape->body);
        if (m->geoms[i].softness.isSet && isfinite(mass)) {
            rgMjcf_Spring(&m->geoms[i].softness, mass, &shape->material.stiffness,
                          &shape->material.damping);
        }
    }
}

// ---- torsion and rolling

// Every geom has torsional and rolling friction, written or not; without a geom of condim 4 or 6
// they act nowhere (pairs have their own).
void rgMjcf_DropTorsion(rgMjcf* m) {
    int most = 0;
    for (int i = 0; i < m->def->shapeCount; ++i) {
        most = RG_MAX(most, m->def->shapes[i].material.dimension);
    }
    for (int i = 0; i < m->def->shapeCount; ++i) {
        rgMaterial* material = &m->def->shapes[i].material;
        material->muTorsion = most < 4 ? 0 : material->muTorsion;
        material->muRolling = most < 6 ? 0 : material->muRolling;
    }
    if (m->torsionNode != NULL && most < 4) {
        rgXmlReader_Note(
            &m->reader, m->torsionNode,
            "torsional and rolling friction have no effect: no geom has condim 4 or 6");
    }
}
