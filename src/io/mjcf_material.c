// MJCF surfaces, once all geoms are there: springs of solref, restitution, and <custom> values for
// material properties that MJCF cannot express. docs/formats/mjcf.md.
#include "io/mjcf.h"

#include <math.h>
#include <string.h>

// ---- custom

#define RG_MJ_PREFIX "rigor:"

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

// Text after the colon, or NULL.
static const char* rgMjcf_GeomOf(const char* name) {
    const char* colon = strchr(name, ':');
    return colon != NULL ? colon + 1 : NULL;
}

static bool rgMjcf_StartsWith(const char* name, const char* word) {
    return strlen(word) == strcspn(name, ":") && strncmp(name, word, strlen(word)) == 0;
}

static const rgMjProperty* rgMjcf_FindProperty(const char* name) {
    for (int i = 0; i < RG_MJ_PROPERTY_COUNT; ++i) {
        if (rgMjcf_StartsWith(name, rgMjProperties[i].name)) {
            return &rgMjProperties[i];
        }
    }
    return NULL;
}

// Range of shapes that an element applies to: first to last. None when it names a geom that was
// left out.
static void rgMjcf_Range(rgMjcf* m, const rgXmlNode* node, const char* geom, int* first, int* end) {
    *first = 0;
    *end = m->def->shapeCount;
    if (geom == NULL) {
        return;
    }
    *first = rgMjNames_Find(&m->geomNames, geom);
    *end = *first + 1;
    if (*first < 0 && rgMjNames_Find(&m->leftGeoms, geom) < 0) {
        char suggestion[100];
        rgMjcf_Suggest(m, &m->geomNames, geom, suggestion);
        rgXmlReader_Error(&m->reader, node, "<%s name>: there is no geom '%.60s'%s", node->name,
                          geom, suggestion);
    }
    *first = RG_MAX(*first, 0);
}

// Round the edges of boxes and cylinders, which keep the size of the file.
static void rgMjcf_Round(rgMjcf* m, const rgXmlNode* node, rgShapeDef* shape, double radius) {
    bool box = shape->kind == rg_shapeBox;
    if (!box && shape->kind != rg_shapeCylinder) {
        return;
    }
    double least = RG_MIN(shape->size.x, shape->size.y);
    least = (box ? RG_MIN(least, shape->size.z) : least) + shape->rounding;
    if (!(radius >= 0 && radius < least)) {
        rgXmlReader_Error(&m->reader, node,
                          "<numeric data>: a rounding of %g m, where the geom is %g m in half",
                          radius, least);
        return;
    }
    double less = radius - shape->rounding;
    shape->size = rgSub(shape->size, rgVec(less, less, box ? less : 0));
    shape->rounding = radius;
}

static void rgMjcf_ReadNumeric(rgMjcf* m, const rgXmlNode* node, const char* name) {
    const rgMjProperty* property = rgMjcf_FindProperty(name);
    int first, end;
    double value = 0;
    bool rounds = rgMjcf_StartsWith(name, "rounding");
    if (property == NULL && !rounds) {
        rgXmlReader_Warn(&m->reader, node, "<numeric name>: '" RG_MJ_PREFIX "%.60s' is not known",
                         name);
    } else if (rgXmlReader_Required(&m->reader, node, "data") != NULL &&
               rgXmlReader_Double(&m->reader, node, "data", &value)) {
        rgMjcf_Range(m, node, rgMjcf_GeomOf(name), &first, &end);
        for (int i = first; i < end; ++i) {
            if (rounds) {
                rgMjcf_Round(m, node, &m->def->shapes[i], value);
            } else {
                *rgMjProperty_Of(property, &m->def->shapes[i].material) = value;
            }
        }
    }
}

static void rgMjcf_ReadText(rgMjcf* m, const rgXmlNode* node, const char* name) {
    int rule = rg_frictionMaximum, first, end;
    if (!rgMjcf_StartsWith(name, "friction_rule")) {
        rgXmlReader_Warn(&m->reader, node, "<text name>: '" RG_MJ_PREFIX "%.60s' is not known",
                         name);
    } else if (rgXmlReader_Word(&m->reader, node, "data", rgFrictionRuleWords, &rule)) {
        rgMjcf_Range(m, node, rgMjcf_GeomOf(name), &first, &end);
        for (int i = first; i < end; ++i) {
            m->def->shapes[i].material.frictionRule = (rgFrictionRule)rule;
        }
    }
}

// Elements for all geoms first, then those for one.
void rgMjcf_ReadCustom(rgMjcf* m, const rgXmlNode* root) {
    size_t prefix = strlen(RG_MJ_PREFIX);
    for (int named = 0; named < 2; ++named) {
        for (const rgXmlNode* section = rgXmlNode_Child(root, "custom"); section != NULL;
             section = rgXmlNode_Next(section, "custom")) {
            for (const rgXmlNode* node = section->firstChild; node != NULL; node = node->next) {
                const char* name = rgXmlNode_Attribute(node, "name");
                if (name == NULL || strncmp(name, RG_MJ_PREFIX, prefix) != 0 ||
                    (rgMjcf_GeomOf(name + prefix) != NULL) != (named == 1)) {
                    continue;
                }
                if (strcmp(node->name, "numeric") == 0) {
                    rgMjcf_ReadNumeric(m, node, name + prefix);
                } else if (strcmp(node->name, "text") == 0) {
                    rgMjcf_ReadText(m, node, name + prefix);
                }
            }
        }
    }
}

// ---- solref

// Restitution of rigid contacts from a solref that is a stiffness and a damping: a spring and
// damper that never pull have e = exp(-tan(b) (pi - 2 b)), sin(b) being the damping ratio;
// docs/theory/constraints.md.
double rgMjcf_Restitution(const rgMjSoftness* softness) {
    double k = -softness->solref[0], d = -softness->solref[1];
    if (!softness->isSet || !(k > 0) || d < 0) {
        return 0;
    }
    double ratio = d / (2 * sqrt(k));
    double b = ratio < 1 ? asin(ratio) : 0;
    return ratio < 1 ? exp(-tan(b) * (acos(-1) - 2 * b)) : 0;
}

// MuJoCo's impedance at a depth, from solimp: dmin, dmax, width, midpoint, power.
static double rgMjcf_Impedance(const rgMjSoftness* softness, double depth) {
    const double* s = softness->solimp;
    double x = s[2] > 0 ? RG_MIN(depth / s[2], 1) : 1, middle = RG_MIN(RG_MAX(s[3], 1e-4), 0.9999);
    double power = RG_MAX(s[4], 1);
    double y = x <= middle ? middle * pow(x / middle, power)
                           : 1 - (1 - middle) * pow((1 - x) / (1 - middle), power);
    return RG_MIN(RG_MAX(s[0] + y * (s[1] - s[0]), 1e-4), 0.9999);
}

// Spring of MuJoCo's contact, which is no spring itself: with impedance d its acceleration is (1 -
// d) of the free one and d of that of the spring, so that it bears loads 1/(1 - d) times better
// than it swings. The spring here sinks as deep under the weight of the mass, and has the same
// damping ratio.
void rgMjcf_ContactSpring(const rgMjcf* m, const rgMjSoftness* softness, double mass,
                          rgMaterial* material) {
    double stiffness, damping, dmax = RG_MIN(RG_MAX(softness->solimp[1], 1e-4), 0.9999);
    rgMjcf_Spring(softness, 1, &stiffness, &damping);
    const rgModelOptions* options = &m->def->options;
    double g = options->hasGravity ? rgLength(options->gravity) : 9.81;
    g = g > 0 ? g : 9.81;
    if (!(stiffness > 0)) {
        material->stiffness = material->damping = 0;
        return;
    }
    double low = 0, high = g / stiffness * 1e8; // at an impedance of 1e-4
    for (int i = 0; i < 200; ++i) {
        double r = 0.5 * (low + high), d = rgMjcf_Impedance(softness, r) / dmax;
        *(d * d * stiffness * r < (1 - d * dmax) * g ? &low : &high) = r;
    }
    material->stiffness = mass * g / high;
    material->damping = damping * sqrt(material->stiffness * mass / stiffness);
}

void rgMjcf_SetSoftness(rgMjcf* m) {
    if (!m->load->fileContact) {
        if (m->softNode != NULL) {
            rgXmlReader_Note(&m->reader, m->softNode,
                             "solref and solimp are not used: contacts are rigid unless the file's "
                             "are requested");
        }
        return;
    }
    for (int i = 0; i < m->def->shapeCount; ++i) {
        rgShapeDef* shape = &m->def->shapes[i];
        double mass = rgMjcf_TreeMass(m, shape->body);
        if (m->geoms[i].softness.isSet && isfinite(mass)) {
            rgMjcf_ContactSpring(m, &m->geoms[i].softness, mass, &shape->material);
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
