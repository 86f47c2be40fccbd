// MJCF joints: hinge, slide, ball and free.
#include "io/mjcf.h"

#include <string.h>

typedef enum rgMjJointType { rg_mjFree, rg_mjBall, rg_mjSlide, rg_mjHinge } rgMjJointType;

typedef struct rgMjJoint {
    int type; // rgMjJointType
    double pos[3], axis[3], range[2], forceRange[2];
    int limited, forceLimited;
    double frictionLoss, stiffness, damping, armature, ref, springRef;
    double springDamper[2]; // time constant, damping ratio
} rgMjJoint;

static const char* const jointKnown[] = {"name",
                                         "class",
                                         "type",
                                         "group",
                                         "pos",
                                         "axis",
                                         "springdamper",
                                         "limited",
                                         "actuatorfrclimited",
                                         "solreflimit",
                                         "solimplimit",
                                         "solreffriction",
                                         "solimpfriction",
                                         "stiffness",
                                         "range",
                                         "actuatorfrcrange",
                                         "actuatorgravcomp",
                                         "margin",
                                         "ref",
                                         "springref",
                                         "armature",
                                         "damping",
                                         "frictionloss",
                                         "user",
                                         NULL};

void rgMjcf_ApplyJoint(rgMjcf* m, const rgXmlNode* node, void* value) {
    static const rgXmlWord types[] = {{"free", rg_mjFree},
                                      {"ball", rg_mjBall},
                                      {"slide", rg_mjSlide},
                                      {"hinge", rg_mjHinge},
                                      {NULL, 0}};
    static const char* const unsupported[] = {"margin", NULL};
    rgXmlReader* r = &m->reader;
    rgMjJoint* j = value;
    rgXmlReader_CheckAttributes(r, node, jointKnown);
    rgMjcf_Unsupported(m, node, unsupported);
    rgXmlReader_Word(r, node, "type", types, &j->type);
    rgXmlReader_Doubles(r, node, "pos", j->pos, 3, 3);
    rgXmlReader_Doubles(r, node, "axis", j->axis, 3, 3);
    rgXmlReader_Doubles(r, node, "range", j->range, 2, 2);
    rgXmlReader_Doubles(r, node, "actuatorfrcrange", j->forceRange, 2, 2);
    rgXmlReader_Word(r, node, "limited", rgMjAutoWords, &j->limited);
    rgXmlReader_Word(r, node, "actuatorfrclimited", rgMjAutoWords, &j->forceLimited);
    rgXmlReader_Double(r, node, "frictionloss", &j->frictionLoss);
    rgMjcf_ReadLinear(m, node, "stiffness", &j->stiffness);
    rgMjcf_ReadLinear(m, node, "damping", &j->damping);
    rgXmlReader_Double(r, node, "armature", &j->armature);
    rgXmlReader_Double(r, node, "ref", &j->ref);
    rgXmlReader_Double(r, node, "springref", &j->springRef);
    rgXmlReader_Doubles(r, node, "springdamper", j->springDamper, 2, 2);
}

static void rgMjcf_SetJointLimits(rgMjcf* m, const rgXmlNode* node, const rgMjJoint* j,
                                  rgJointDef* def) {
    double range[2] = {j->range[0], j->range[1]};
    if (j->type == rg_mjFree) {
        return;
    }
    if (j->type == rg_mjBall && j->limited == 1 && range[0] == 0 && range[1] == 0) {
        rgXmlReader_Warn(&m->reader, node,
                         "<joint range>: a limited ball joint without a range would be locked; it "
                         "gets no limit");
        return;
    }
    def->hasLimits = rgMjcf_Limited(m, node, "range", j->limited, range);
    double scale = j->type == rg_mjSlide ? 1 : m->compiler.angleScale;
    def->lower = def->hasLimits ? scale * range[0] : 0;
    def->upper = def->hasLimits ? scale * range[1] : 0;
    if (j->type == rg_mjBall && def->hasLimits && range[0] != 0) {
        rgXmlReader_Error(&m->reader, node, "<joint range>: a ball joint's range starts at 0");
    }
}

static void rgMjcf_SetEffortLimit(rgMjcf* m, const rgXmlNode* node, const rgMjJoint* j,
                                  rgJointDef* def) {
    const double* range = j->forceRange;
    if (!rgMjcf_Limited(m, node, "actuatorfrcrange", j->forceLimited, range)) {
        return;
    }
    def->effortLimit = RG_MAX(fabs(range[0]), fabs(range[1]));
    if (range[0] != -range[1]) {
        rgXmlReader_Warn(&m->reader, node,
                         "<joint actuatorfrcrange>: is taken as symmetric, -%g to %g",
                         def->effortLimit, def->effortLimit);
    }
}

static void rgMjcf_SetJointNumbers(rgMjcf* m, const rgXmlNode* node, const rgMjJoint* j,
                                   rgJointDef* def) {
    double scale = j->type == rg_mjHinge ? m->compiler.angleScale : 1;
    bool scalar = j->type == rg_mjHinge || j->type == rg_mjSlide;
    def->damping = j->damping;
    def->dryFriction = j->frictionLoss;
    def->armature = j->armature;
    def->stiffness = j->stiffness;
    def->reference = scalar ? scale * j->ref : 0;
    def->springReference = scalar ? scale * j->springRef : 0;
    rgMjcf_SetJointLimits(m, node, j, def);
    rgMjcf_SetEffortLimit(m, node, j, def);
    double* const checked[] = {&def->damping, &def->dryFriction, &def->armature, &def->stiffness};
    const char* const names[] = {"damping", "frictionloss", "armature", "stiffness"};
    for (int i = 0; i < RG_COUNT(checked); ++i) {
        if (*checked[i] < 0) {
            rgXmlReader_Warn(&m->reader, node, "<joint %s>: %g is negative; 0 is taken", names[i],
                             *checked[i]);
            *checked[i] = 0;
        }
    }
}

// Springs of free joints pull towards where the body is drawn; rigor has none.
static void rgMjcf_DropFreeSpring(rgMjcf* m, const rgXmlNode* node, rgMjJoint* j) {
    if (j->type == rg_mjFree && (j->stiffness != 0 || j->springDamper[0] > 0)) {
        rgXmlReader_Warn(&m->reader, node,
                         "<joint stiffness>: a spring on a free joint is not supported; it is left "
                         "out");
        j->stiffness = j->springDamper[0] = 0;
    }
}

static rgJointKind rgMjcf_JointKind(int type) {
    static const rgJointKind kinds[] = {rg_jointFree, rg_jointSpherical, rg_jointPrismatic,
                                        rg_jointRevolute};
    return kinds[type];
}

static void rgMjcf_SetJointAxis(rgMjcf* m, const rgXmlNode* node, const rgMjJoint* j, rgPose frame,
                                rgJointDef* def) {
    rgVec3 axis = rgVec(j->axis[0], j->axis[1], j->axis[2]);
    if (j->type >= rg_mjSlide && !(rgLength(axis) > 1e-14)) {
        rgXmlReader_Error(&m->reader, node, "<joint axis>: is zero");
    }
    def->axis = rgRotate(frame.q, rgNormalize(axis));
    def->anchor = j->type == rg_mjFree
                      ? rgVec(0, 0, 0)
                      : rgPose_Point(frame, rgVec(j->pos[0], j->pos[1], j->pos[2]));
}

static rgMjJoint rgMjcf_JointSettings(rgMjcf* m, const rgXmlNode* node, int class) {
    static const char* const names[] = {"joint", NULL};
    static const char* const freeKnown[] = {"name", "group", "align", NULL};
    rgMjJoint joint = {.type = rg_mjHinge, .axis = {0, 0, 1}, .limited = 2, .forceLimited = 2};
    if (strcmp(node->name, "freejoint") == 0) {
        rgXmlReader_CheckAttributes(&m->reader, node, freeKnown);
        joint.type = rg_mjFree;
        return joint;
    }
    rgMjcf_ApplyClass(m, rgMjcf_Class(m, node, "class", class), names, rgMjcf_ApplyJoint, &joint);
    rgMjcf_ApplyJoint(m, node, &joint);
    return joint;
}

void rgMjcf_ReadJoint(rgMjcf* m, const rgXmlNode* node, rgBodyId body, int class, rgPose frame) {
    rgMjJoint joint = rgMjcf_JointSettings(m, node, class);
    rgMjcf_DropFreeSpring(m, node, &joint);
    rgJointDef def = rgDefaultJointDef();
    def.name = rgXmlNode_Attribute(node, "name");
    def.body = body;
    def.kind = rgMjcf_JointKind(joint.type);
    def.source = rgMjcf_Source(node);
    rgMjcf_SetJointAxis(m, node, &joint, frame, &def);
    rgMjcf_SetJointNumbers(m, node, &joint, &def);
    rgBodyId parent = m->def->bodies[body.index1 - 1].parent;
    if (joint.type == rg_mjFree && parent.index1 != 0) {
        rgXmlReader_Error(&m->reader, node, "<%s>: a free joint belongs to a body of the world",
                          node->name);
        return;
    }
    m->bodies[m->bodies[body.index1 - 1].root].treeMoves = true;
    double(*spring)[2] = rgMjcf_Grow(m, (void**)&m->springDampers, &m->springCapacity,
                                     m->def->jointCount, sizeof(*spring));
    if (spring == NULL) {
        return;
    }
    memcpy(*spring, joint.springDamper, sizeof(*spring));
    rgMjNames_Add(m, &m->jointNames, node, def.name, m->def->jointCount);
    rgMjcf_Check(m, rgModelDef_AddJoint(m->def, &def, NULL));
}
