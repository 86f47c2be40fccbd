// MJCF <contact> and <equality>: pairs, exclusions, loops and couplings.
#include "io/mjcf.h"

#include <string.h>

typedef struct rgMjPair {
    bool hasCondim, hasFriction;
    int condim;
    double friction[5];
    int frictionCount;
    double adhesion; // negative: that of the geoms
    rgMjSoftness softness;
} rgMjPair;

void rgMjcf_ApplyPair(rgMjcf* m, const rgXmlNode* node, void* value) {
    static const char* const known[] = {
        "name",           "class",  "geom1", "geom2",  "condim",   "friction", "solref",
        "solreffriction", "solimp", "gap",   "margin", "adhesion", NULL};
    static const char* const unsupported[] = {"gap", "margin", NULL};
    rgMjPair* pair = value;
    rgXmlReader_CheckAttributes(&m->reader, node, known);
    rgMjcf_Unsupported(m, node, unsupported);
    pair->hasCondim = rgXmlReader_Int(&m->reader, node, "condim", &pair->condim) || pair->hasCondim;
    int count = rgXmlReader_Doubles(&m->reader, node, "friction", pair->friction, 1, 5);
    pair->hasFriction = count > 0 || pair->hasFriction;
    pair->frictionCount = RG_MAX(count, pair->frictionCount);
    rgXmlReader_Double(&m->reader, node, "adhesion", &pair->adhesion);
    rgMjcf_ReadSoftness(m, node, "solref", "solimp", &pair->softness);
}

// Material of a pair that sets none: that of the geom of higher priority, or both combined as for
// any other pair, with the frictions of the file.
static rgMaterial rgMjcf_MixedMaterial(const rgMjcf* m, int a, int b) {
    const rgShapeDef *A = &m->def->shapes[a], *B = &m->def->shapes[b];
    if (A->priority != B->priority) {
        return A->priority > B->priority ? A->material : B->material;
    }
    rgFrictionRule rule = RG_MAX(A->material.frictionRule, B->material.frictionRule);
    return rgCombineMaterials(&A->material, &B->material, rule);
}

static void rgMjcf_SetPairFriction(rgMjcf* m, const rgXmlNode* node, const rgMjPair* pair,
                                   rgMaterial* material) {
    const double* f = pair->friction;
    if (pair->hasCondim) {
        material->dimension = pair->condim;
        if (pair->condim != 1 && pair->condim != 3 && pair->condim != 4 && pair->condim != 6) {
            rgXmlReader_Error(&m->reader, node, "<pair condim>: %d is not 1, 3, 4 or 6",
                              pair->condim);
        }
    }
    if (!pair->hasFriction) {
        return;
    }
    material->mu = f[0];
    material->muTorsion = f[2];
    material->muRolling = f[3];
    if ((pair->frictionCount > 1 && f[0] != f[1]) || (pair->frictionCount > 4 && f[3] != f[4])) {
        rgXmlReader_Warn(&m->reader, node,
                         "<pair friction>: is taken as the same in all directions, %g and %g", f[0],
                         f[3]);
    }
}

static void rgMjcf_ReadPair(rgMjcf* m, const rgXmlNode* node) {
    static const char* const names[] = {"pair", NULL};
    rgMjPair pair = {
        .friction = {1, 1, 0.005, 0.0001, 0.0001}, .adhesion = -1, .softness = rgMjcf_NoSoftness()};
    rgMjcf_ApplyClass(m, rgMjcf_Class(m, node, "class", 0), names, rgMjcf_ApplyPair, &pair);
    rgMjcf_ApplyPair(m, node, &pair);
    int a = rgMjcf_Lookup(m, &m->geomNames, node, "geom1", "geom");
    int b = rgMjcf_Lookup(m, &m->geomNames, node, "geom2", "geom");
    if (a < 0 || b < 0) {
        return;
    }
    if (a == b) {
        rgXmlReader_Error(&m->reader, node, "<pair>: a geom cannot collide with itself");
        return;
    }
    rgMaterial material = rgMjcf_MixedMaterial(m, a, b);
    rgMjcf_SetPairFriction(m, node, &pair, &material);
    material.adhesion = pair.adhesion >= 0 ? pair.adhesion : material.adhesion;
    if (m->load->fileContact && pair.softness.isSet) {
        double mass = rgMjcf_ReducedMass(rgMjcf_TreeMass(m, m->def->shapes[a].body),
                                         rgMjcf_TreeMass(m, m->def->shapes[b].body));
        rgMjcf_ContactSpring(m, &pair.softness, mass, &material);
    } else if (pair.softness.isSet) {
        double e = rgMjcf_Restitution(&pair.softness);
        material.restitution = e > 0 ? e : material.restitution;
    }
    m->def->shapes[a].visualOnly = false;
    m->def->shapes[b].visualOnly = false;
    rgMjcf_Check(m, rgModelDef_AddPair(m->def, (rgShapeId){a + 1}, (rgShapeId){b + 1}, &material));
}

static void rgMjcf_ReadExclude(rgMjcf* m, const rgXmlNode* node) {
    static const char* const known[] = {"name", "body1", "body2", NULL};
    rgXmlReader_CheckAttributes(&m->reader, node, known);
    int a = rgMjcf_Lookup(m, &m->bodyNames, node, "body1", "body");
    int b = rgMjcf_Lookup(m, &m->bodyNames, node, "body2", "body");
    if (a >= 0 && a == b) {
        rgXmlReader_Warn(&m->reader, node, "<exclude>: a body never collides with itself");
    } else if (a >= 0 && b >= 0) {
        rgMjcf_Check(m, rgModelDef_ExcludePair(m->def, (rgBodyId){a}, (rgBodyId){b}));
    }
}

void rgMjcf_ReadContacts(rgMjcf* m, const rgXmlNode* root) {
    static const char* const known[] = {"pair", "exclude", NULL};
    for (const rgXmlNode* section = rgXmlNode_Child(root, "contact"); section != NULL;
         section = rgXmlNode_Next(section, "contact")) {
        rgXmlReader_CheckChildren(&m->reader, section, known);
        for (const rgXmlNode* node = rgXmlNode_Child(section, NULL); node != NULL;
             node = rgXmlNode_Next(node, NULL)) {
            if (strcmp(node->name, "pair") == 0) {
                rgMjcf_ReadPair(m, node);
            } else if (strcmp(node->name, "exclude") == 0) {
                rgMjcf_ReadExclude(m, node);
            }
        }
    }
}

typedef struct rgMjEquality {
    bool active;
    rgMjSoftness softness;
} rgMjEquality;

void rgMjcf_ApplyEquality(rgMjcf* m, const rgXmlNode* node, void* value) {
    rgMjEquality* e = value;
    rgMjcf_Flag(m, node, "active", &e->active);
    rgMjcf_ReadSoftness(m, node, "solref", "solimp", &e->softness);
}

static rgPose rgMjcf_WorldPose(const rgMjcf* m, rgBodyId body) {
    return body.index1 == 0 ? rgPoseIdentity() : m->bodies[body.index1 - 1].world;
}

// Read site1 and site2, or body1 and perhaps body2. False after an error message.
static bool rgMjcf_ReadEnds(rgMjcf* m, const rgXmlNode* node, rgEqualityDef* def, bool* sites) {
    *sites =
        rgXmlNode_Attribute(node, "site1") != NULL || rgXmlNode_Attribute(node, "site2") != NULL;
    if (*sites) {
        int a = rgMjcf_Lookup(m, &m->siteNames, node, "site1", "site");
        int b = rgMjcf_Lookup(m, &m->siteNames, node, "site2", "site");
        if (a < 0 || b < 0) {
            return false;
        }
        def->bodyA = m->def->frames[a].body;
        def->bodyB = m->def->frames[b].body;
        def->poseA = m->def->frames[a].pose;
        def->poseB = m->def->frames[b].pose;
        return true;
    }
    int a = rgMjcf_Lookup(m, &m->bodyNames, node, "body1", "body");
    int b = rgXmlNode_Attribute(node, "body2") != NULL
                ? rgMjcf_Lookup(m, &m->bodyNames, node, "body2", "body")
                : 0;
    def->bodyA.index1 = RG_MAX(a, 0);
    def->bodyB.index1 = RG_MAX(b, 0);
    return a >= 0 && b >= 0;
}

static bool rgMjcf_ReadConnect(rgMjcf* m, const rgXmlNode* node, rgEqualityDef* def) {
    static const char* const known[] = {"name",  "class",  "active", "solref", "solimp", "body1",
                                        "body2", "anchor", "site1",  "site2",  NULL};
    bool sites = false;
    double anchor[3];
    rgXmlReader_CheckAttributes(&m->reader, node, known);
    def->kind = rg_equalityConnect;
    if (!rgMjcf_ReadEnds(m, node, def, &sites) || sites) {
        return sites && !rgMjcf_Failed(m);
    }
    if (rgXmlReader_Required(&m->reader, node, "anchor") == NULL ||
        rgXmlReader_Doubles(&m->reader, node, "anchor", anchor, 3, 3) == 0) {
        return false;
    }
    def->poseA.p = rgVec(anchor[0], anchor[1], anchor[2]);
    rgVec3 point = rgPose_Point(rgMjcf_WorldPose(m, def->bodyA), def->poseA.p);
    def->poseB.p = rgPose_PointBack(rgMjcf_WorldPose(m, def->bodyB), point);
    return true;
}

// relpose places the anchor of body2 in body1; without one it is where it is at the reference.
static bool rgMjcf_ReadWeld(rgMjcf* m, const rgXmlNode* node, rgEqualityDef* def) {
    static const char* const known[] = {"name",  "class",       "active",  "solref", "solimp",
                                        "body1", "body2",       "relpose", "anchor", "site1",
                                        "site2", "torquescale", NULL};
    bool sites = false;
    rgXmlReader_CheckAttributes(&m->reader, node, known);
    def->kind = rg_equalityWeld;
    if (!rgMjcf_ReadEnds(m, node, def, &sites) || sites) {
        return sites && !rgMjcf_Failed(m);
    }
    double anchor[3] = {0, 0, 0}, relative[7] = {0};
    rgXmlReader_Doubles(&m->reader, node, "anchor", anchor, 3, 3);
    rgXmlReader_Doubles(&m->reader, node, "relpose", relative, 7, 7);
    def->poseB.p = rgVec(anchor[0], anchor[1], anchor[2]);
    rgQuat q = {relative[3], relative[4], relative[5], relative[6]};
    if (q.w != 0 || q.x != 0 || q.y != 0 || q.z != 0) {
        def->poseA =
            (rgPose){.p = {relative[0], relative[1], relative[2]}, .q = rgQuatNormalize(q)};
    } else {
        rgPose b = rgPoseMultiply(rgMjcf_WorldPose(m, def->bodyB), def->poseB);
        def->poseA = rgPoseMultiply(rgPoseInvert(rgMjcf_WorldPose(m, def->bodyA)), b);
    }
    return true;
}

static bool rgMjcf_ReadCoupling(rgMjcf* m, const rgXmlNode* node, rgEqualityDef* def) {
    static const char* const known[] = {"name",    "class",    "active", "solref",
                                        "solimp",  "joint1",   "joint2", "tendon1",
                                        "tendon2", "polycoef", NULL};
    bool joint = strcmp(node->name, "joint") == 0;
    const rgMjNames* names = joint ? &m->jointNames : &m->tendonNames;
    const char* second = joint ? "joint2" : "tendon2";
    rgXmlReader_CheckAttributes(&m->reader, node, known);
    int a = rgMjcf_Lookup(m, names, node, joint ? "joint1" : "tendon1", node->name);
    bool has = rgXmlNode_Attribute(node, second) != NULL;
    int b = has ? rgMjcf_Lookup(m, names, node, second, node->name) : -1;
    if (a < 0 || (has && b < 0)) {
        return false;
    }
    def->kind = joint ? rg_equalityJoint : rg_equalityTendon;
    if (joint) {
        def->jointA.index1 = a + 1;
        def->jointB.index1 = b + 1;
    } else {
        def->tendonA.index1 = a + 1;
        def->tendonB.index1 = b + 1;
    }
    def->polynomial[1] = 1;
    rgXmlReader_Doubles(&m->reader, node, "polycoef", def->polynomial, 1, 5);
    return true;
}

static bool rgMjcf_ReadEqualityKind(rgMjcf* m, const rgXmlNode* node, rgEqualityDef* def) {
    if (strcmp(node->name, "connect") == 0) {
        return rgMjcf_ReadConnect(m, node, def);
    }
    if (strcmp(node->name, "weld") == 0) {
        return rgMjcf_ReadWeld(m, node, def);
    }
    if (strcmp(node->name, "joint") == 0 || strcmp(node->name, "tendon") == 0) {
        return rgMjcf_ReadCoupling(m, node, def);
    }
    rgXmlReader_Warn(&m->reader, node, "<%.60s> is not supported; it is left out", node->name);
    return false;
}

static void rgMjcf_ReadEquality(rgMjcf* m, const rgXmlNode* node) {
    static const char* const names[] = {"equality", NULL};
    rgMjEquality settings = {.active = true, .softness = rgMjcf_NoSoftness()};
    rgMjcf_ApplyClass(m, rgMjcf_Class(m, node, "class", 0), names, rgMjcf_ApplyEquality, &settings);
    rgMjcf_ApplyEquality(m, node, &settings);
    rgEqualityDef def = rgDefaultEqualityDef();
    def.name = rgXmlNode_Attribute(node, "name");
    def.source = rgMjcf_Source(node);
    def.disabled = !settings.active;
    if (!rgMjcf_ReadEqualityKind(m, node, &def)) {
        return;
    }
    bool bodies = def.kind == rg_equalityConnect || def.kind == rg_equalityWeld;
    if (settings.softness.isSet && bodies && !m->load->fileContact) {
        rgXmlReader_Note(
            &m->reader, node,
            "<%s>: solref and solimp are not used: it is rigid; --contact file uses them",
            node->name);
    }
    if (m->load->fileContact && settings.softness.isSet && bodies) {
        double mass =
            rgMjcf_ReducedMass(rgMjcf_TreeMass(m, def.bodyA), rgMjcf_TreeMass(m, def.bodyB));
        rgMaterial spring = rgDefaultMaterial();
        rgMjcf_ContactSpring(m, &settings.softness, mass, &spring);
        def.stiffness = spring.stiffness;
        def.damping = spring.damping;
    }
    rgMjNames_Add(m, &m->equalityNames, node, def.name, m->def->equalityCount);
    rgMjcf_Check(m, rgModelDef_AddEquality(m->def, &def, NULL));
}

// Couplings of tendons name tendons of <tendon>, so tendons are read first.
void rgMjcf_ReadEqualities(rgMjcf* m, const rgXmlNode* root) {
    for (const rgXmlNode* section = rgXmlNode_Child(root, "equality"); section != NULL;
         section = rgXmlNode_Next(section, "equality")) {
        for (const rgXmlNode* node = rgXmlNode_Child(section, NULL); node != NULL;
             node = rgXmlNode_Next(node, NULL)) {
            rgMjcf_ReadEquality(m, node);
        }
    }
}
