// SDF joints: their ends and types, the tree that they make of the links, and joints that close
// loops.
#include "io/sdf.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define RG_SDF_NO_LIMIT  1e16 // bound that Gazebo treats as none
#define RG_SDF_LOOP_HALF 0.1 // [m] between the two points on the axis of a hinge that closes a loop

static const rgXmlWord jointTypes[] = {
    {"fixed", rg_sdfFixed},         {"revolute", rg_sdfRevolute},
    {"prismatic", rg_sdfPrismatic}, {"ball", rg_sdfBall},
    {"universal", rg_sdfUniversal}, {"continuous", rg_sdfContinuous},
    {"screw", rg_sdfScrew},         {"revolute2", rg_sdfUniversal},
    {"gearbox", rg_sdfGearbox},     {NULL, 0},
};

static int rgSdf_ReadEnd(rgSdf* sdf, const rgSdfPart* joint, const char* name) {
    const rgXmlNode* node = rgXmlReader_RequiredChild(&sdf->xml, joint->node, name);
    if (node == NULL) {
        return -1;
    }
    rgXmlReader_CheckAttributes(&sdf->xml, node, NULL);
    const char* text = node->text != NULL ? node->text : "";
    int found = rgSdf_Find(sdf, joint, text);
    if (found < 0) {
        rgXmlReader_Error(&sdf->xml, node, "joint '%.60s': there is no link or frame '%.60s'",
                          joint->fullName, text);
    } else if (found == 0 && strcmp(name, "child") == 0) {
        rgXmlReader_Error(&sdf->xml, node,
                          "joint '%.60s': the world cannot be a child; exchange parent and child",
                          joint->fullName);
    }
    return found;
}

void rgSdf_ReadJoint(rgSdf* sdf, rgSdfPart* joint) {
    static const char* const knownAttributes[] = {"name", "type", NULL};
    static const char* const known[] = {"parent",
                                        "child",
                                        "pose",
                                        "axis",
                                        "axis2",
                                        "thread_pitch",
                                        "gearbox_ratio",
                                        "gearbox_reference_body",
                                        "physics",
                                        "screw_thread_pitch",
                                        NULL};
    static const char* const skipped[] = {"sensor", "no sensor is made", "plugin",
                                          "its parts stay passive", NULL};
    int type = rg_sdfFixed;
    rgXmlReader_CheckAttributes(&sdf->xml, joint->node, knownAttributes);
    rgSdf_CheckChildren(sdf, joint->node, known, skipped);
    if (rgXmlReader_Required(&sdf->xml, joint->node, "type") != NULL) {
        rgXmlReader_Word(&sdf->xml, joint->node, "type", jointTypes, &type);
    }
    joint->type = (rgSdfJointType)type;
    joint->parent = rgSdf_ReadEnd(sdf, joint, "parent");
    joint->child = rgSdf_ReadEnd(sdf, joint, "child");
    if (rgXmlNode_Child(joint->node, "physics") != NULL) {
        rgXmlReader_Note(&sdf->xml, rgXmlNode_Child(joint->node, "physics"),
                         "<physics> of joints is skipped: it sets up Gazebo's solvers");
    }
    if (joint->type == rg_sdfGearbox) {
        rgXmlReader_Warn(&sdf->xml, joint->node,
                         "gearbox joint '%.60s' is not supported: its links turn independently "
                         "of each other; a <mimic> of one axis couples them",
                         joint->fullName);
    }
}

static int rgSdf_Group(rgSdf* sdf, int link) {
    while (sdf->parts[link].group != link) {
        sdf->parts[link].group = sdf->parts[sdf->parts[link].group].group;
        link = sdf->parts[link].group;
    }
    return link;
}

// True if a link is fixed to the world permanently.
static bool rgSdf_IsAnchored(const rgSdf* sdf, int link) {
    return link == 0 || sdf->parts[link].isStatic;
}

static int rgSdf_OtherEnd(const rgSdf* sdf, int joint, int link) {
    int parent = sdf->parts[joint].parent;
    return parent != link ? parent : sdf->parts[joint].child;
}

// Make `joint` the tree joint of `link`, and reverse the joints on its former path to the root.
static void rgSdf_SetTreeJoint(rgSdf* sdf, int link, int joint) {
    while (link >= 0) {
        int old = sdf->parts[link].treeJoint;
        int next = old >= 0 ? rgSdf_OtherEnd(sdf, old, link) : -1;
        sdf->parts[link].treeJoint = joint;
        joint = old;
        link = next;
    }
}

// True if a constraint can replace the joint where it closes a loop.
static bool rgSdf_CanClose(const rgSdfPart* joint) {
    return joint->type == rg_sdfFixed || joint->type == rg_sdfBall ||
           joint->type == rg_sdfRevolute || joint->type == rg_sdfContinuous;
}

// Make a joint's child the child of its parent link, or the reverse when the child has a parent
// already; a joint within a group stays for a loop. False: it stays.
static bool rgSdf_Connect(rgSdf* sdf, int index, bool turn) {
    const rgSdfPart* joint = &sdf->parts[index];
    int parent = rgSdf_Group(sdf, joint->parent), child = rgSdf_Group(sdf, joint->child);
    bool free = sdf->parts[joint->child].treeJoint < 0 && !rgSdf_IsAnchored(sdf, joint->child);
    if (parent == child || (!free && !turn)) {
        return false;
    }
    // The group of the world keeps its root.
    bool down = free || rgSdf_IsAnchored(sdf, parent);
    rgSdf_SetTreeJoint(sdf, down ? joint->child : joint->parent, index);
    sdf->parts[RG_MAX(parent, child)].group = RG_MIN(parent, child);
    return true;
}

// True if the joint is one of the tree or of a loop.
static bool rgSdf_IsUsed(const rgSdf* sdf, const rgSdfPart* part) {
    bool released =
        sdf->def->base == rg_baseFloating && part->type == rg_sdfFixed && part->parent == 0;
    return part->kind == rg_sdfJoint && part->type != rg_sdfGearbox && !released;
}

static void rgSdf_AddChild(rgSdf* sdf, int link) {
    int joint = sdf->parts[link].treeJoint;
    rgSdfPart* parent = &sdf->parts[rgSdf_OtherEnd(sdf, joint, link)];
    sdf->parts[link].nextChild = -1;
    if (parent->lastChild >= 0) {
        sdf->parts[parent->lastChild].nextChild = link;
    } else {
        parent->firstChild = link;
    }
    parent->lastChild = link;
}

// Joints of static models move nothing; both ends are at the links now.
static void rgSdf_FindEnds(rgSdf* sdf) {
    for (int i = 1; i < sdf->partCount; ++i) {
        rgSdfPart* part = &sdf->parts[i];
        part->group = part->kind == rg_sdfLink && part->isStatic ? 0 : i;
        if (part->kind != rg_sdfJoint) {
            continue;
        }
        part->parent = sdf->parts[part->parent].link;
        part->child = sdf->parts[part->child].link;
        if (part->parent == part->child) {
            rgXmlReader_Error(&sdf->xml, part->node, "joint '%.60s' joins a link to itself",
                              part->fullName);
        }
    }
}

void rgSdf_BuildTree(rgSdf* sdf) {
    rgSdf_FindEnds(sdf);
    if (sdf->xml.errorCount > 0) {
        return;
    }
    // Keep the file's direction if possible; joints that no constraint can replace come first.
    for (int pass = 0; pass < 4; ++pass) {
        for (int i = 1; i < sdf->partCount; ++i) {
            const rgSdfPart* joint = &sdf->parts[i];
            if (rgSdf_IsUsed(sdf, joint) && rgSdf_CanClose(joint) == (pass % 2 == 1)) {
                rgSdf_Connect(sdf, i, pass >= 2);
            }
        }
    }
    // Children of a link come in the order of their joints.
    for (int i = 1; i < sdf->partCount; ++i) {
        const rgSdfPart* joint = &sdf->parts[i];
        if (joint->kind != rg_sdfJoint) {
            continue;
        }
        if (joint->child > 0 && sdf->parts[joint->child].treeJoint == i) {
            rgSdf_AddChild(sdf, joint->child);
        } else if (joint->parent > 0 && sdf->parts[joint->parent].treeJoint == i) {
            rgSdf_AddChild(sdf, joint->parent);
        }
    }
}

// A bound; infinity and Gazebo's large numbers mean none.
static double rgSdf_Bound(rgSdf* sdf, const rgXmlNode* limit, const char* name, double none) {
    double value = none;
    const char* text = rgSdf_Text(limit, name);
    bool infinite = text != NULL && strstr(text, "inf") != NULL;
    if (!infinite) {
        rgSdf_Number(sdf, limit, name, &value);
    }
    return fabs(value) >= RG_SDF_NO_LIMIT ? none : value;
}

static void rgSdf_ReadLimit(rgSdf* sdf, const rgSdfPart* joint, const rgXmlNode* axis,
                            rgJointDef* def) {
    static const char* const known[] = {"lower",     "upper",       "effort", "velocity",
                                        "stiffness", "dissipation", NULL};
    const rgXmlNode* limit = rgXmlNode_Child(axis, "limit");
    if (limit == NULL) {
        return;
    }
    rgSdf_CheckChildren(sdf, limit, known, NULL);
    double effort = rgSdf_Bound(sdf, limit, "effort", -1);
    double velocity = rgSdf_Bound(sdf, limit, "velocity", -1);
    def->effortLimit = effort > 0 ? effort : 0;
    def->velocityLimit = velocity > 0 ? velocity : 0;
    if (joint->type == rg_sdfContinuous) {
        return;
    }
    def->lower = rgSdf_Bound(sdf, limit, "lower", -INFINITY);
    def->upper = rgSdf_Bound(sdf, limit, "upper", INFINITY);
    if (def->lower > def->upper) {
        rgXmlReader_Error(&sdf->xml, limit,
                          "joint '%.60s': the lower limit %g is above the upper %g",
                          joint->fullName, def->lower, def->upper);
        return;
    }
    if (def->lower == def->upper) {
        rgXmlReader_Warn(&sdf->xml, limit,
                         "joint '%.60s': lower and upper are both %g: it is locked",
                         joint->fullName, def->lower);
    }
    def->hasLimits = isfinite(def->lower) || isfinite(def->upper);
}

static void rgSdf_ReadDynamics(rgSdf* sdf, const rgXmlNode* axis, rgJointDef* def) {
    static const char* const known[] = {"damping", "friction", "spring_reference",
                                        "spring_stiffness", NULL};
    const rgXmlNode* node = rgXmlNode_Child(axis, "dynamics");
    if (node == NULL) {
        return;
    }
    rgSdf_CheckChildren(sdf, node, known, NULL);
    rgSdf_NotNegative(sdf, node, "damping", &def->damping);
    rgSdf_NotNegative(sdf, node, "friction", &def->dryFriction);
    rgSdf_NotNegative(sdf, node, "spring_stiffness", &def->stiffness);
    rgSdf_Number(sdf, node, "spring_reference", &def->springReference);
}

// The frame that the axis is written in: the joint's, one that is named, or, in old files, the
// model's.
static rgPose rgSdf_AxisFrame(rgSdf* sdf, const rgSdfPart* joint, const rgXmlNode* axis) {
    const rgXmlNode* xyz = axis != NULL ? rgXmlNode_Child(axis, "xyz") : NULL;
    const char* name = xyz != NULL ? rgXmlNode_Attribute(xyz, "expressed_in") : NULL;
    if (name != NULL && name[0] != '\0') {
        int found = rgSdf_Find(sdf, joint, name);
        if (found < 0) {
            rgXmlReader_Error(&sdf->xml, xyz, "<xyz expressed_in>: there is no frame '%.60s'",
                              name);
        }
        return sdf->parts[RG_MAX(found, 0)].world;
    }
    bool ofModel = joint->version < 105;
    if (axis != NULL) {
        rgSdf_Bool(sdf, axis, "use_parent_model_frame", &ofModel);
    }
    return ofModel ? sdf->parts[joint->model].world : joint->world;
}

static rgVec3 rgSdf_ReadAxis(rgSdf* sdf, const rgSdfPart* joint, const rgXmlNode* axis) {
    static const char* const known[] = {"xyz",   "limit", "dynamics", "use_parent_model_frame",
                                        "mimic", NULL};
    static const char* const skipped[] = {"initial_position",
                                          "!the joint starts where its links are", NULL};
    static const char* const knownXyz[] = {"expressed_in", NULL};
    rgVec3 xyz = rgVec(0, 0, 1);
    if (axis != NULL) {
        rgSdf_CheckChildren(sdf, axis, known, skipped);
        rgSdf_Vector(sdf, axis, "xyz", &xyz);
        if (rgXmlNode_Child(axis, "xyz") != NULL) {
            rgXmlReader_CheckAttributes(&sdf->xml, rgXmlNode_Child(axis, "xyz"), knownXyz);
        }
    }
    if (!(rgLength(xyz) > 1e-12)) {
        rgXmlReader_Error(&sdf->xml, axis, "joint '%.60s': the axis is zero", joint->fullName);
        return rgVec(0, 0, 1);
    }
    return rgRotate(rgSdf_AxisFrame(sdf, joint, axis).q, xyz);
}

// A joint about or along an axis given in the world, at the frame of the SDF joint.
static rgJointDef rgSdf_JointDef(const rgSdfPart* joint, const rgSdfPart* link, rgJointKind kind,
                                 rgVec3 axis, bool turned) {
    rgJointDef def = rgDefaultJointDef();
    def.body = link->body;
    def.kind = kind;
    def.anchor = rgPose_PointBack(link->world, joint->world.p);
    def.axis = rgRotateBack(link->world.q, turned ? rgScale(-1, axis) : axis);
    def.source = (rgSource){.file = joint->node->file, .line = joint->node->line};
    return def;
}

static void rgSdf_AddAxis(rgSdf* sdf, rgSdfPart* joint, rgSdfPart* link, int number, bool turned) {
    const rgXmlNode* axis = rgXmlNode_Child(joint->node, number == 0 ? "axis" : "axis2");
    rgJointKind kind = joint->type == rg_sdfPrismatic ? rg_jointPrismatic : rg_jointRevolute;
    rgJointDef def = rgSdf_JointDef(joint, link, kind, rgSdf_ReadAxis(sdf, joint, axis), turned);
    char* name = rgArena_Take(&sdf->arena, strlen(joint->fullName) + 16, 1);
    if (name == NULL) {
        sdf->result = rg_errorMemory;
        return;
    }
    sprintf(name, "%s%s", joint->fullName, number == 0 ? "" : "::axis2");
    def.name = name;
    if (axis != NULL) {
        rgSdf_ReadLimit(sdf, joint, axis, &def);
        rgSdf_ReadDynamics(sdf, axis, &def);
    } else if (joint->type != rg_sdfUniversal || number == 0) {
        rgXmlReader_Warn(&sdf->xml, joint->node, "joint '%.60s' has no <axis>: 0 0 1 is taken",
                         joint->fullName);
    }
    sdf->result = rgModelDef_AddJoint(sdf->model, &def, &joint->ids[number]);
}

// Travel of a screw along its axis per radian [m].
static double rgSdf_ThreadPitch(rgSdf* sdf, const rgSdfPart* joint) {
    double pitch = 0, thread = 0;
    if (rgSdf_Number(sdf, joint->node, "screw_thread_pitch", &pitch)) {
        return pitch / (2 * RG_PI); // m per turn, right-handed
    }
    if (rgSdf_Number(sdf, joint->node, "thread_pitch", &thread) && thread != 0) {
        return -1 / thread; // rad/m, left-handed
    }
    rgXmlReader_Warn(&sdf->xml, joint->node,
                     "screw joint '%.60s' has neither <screw_thread_pitch> nor <thread_pitch>: "
                     "1 rad/m is used, as SDF specifies",
                     joint->fullName);
    return -1;
}

// A screw turns and slides; one coordinate follows the other.
static void rgSdf_AddSlide(rgSdf* sdf, rgSdfPart* joint, rgSdfPart* link, bool turned) {
    const rgJointDef* turn = rgModelDef_Joint(sdf->model, joint->ids[0]);
    char* name = rgArena_Take(&sdf->arena, strlen(joint->fullName) + 16, 1);
    if (turn == NULL || name == NULL) {
        sdf->result = sdf->result == rg_ok ? rg_errorMemory : sdf->result;
        return;
    }
    sprintf(name, "%s::slide", joint->fullName);
    rgJointDef def = rgSdf_JointDef(joint, link, rg_jointPrismatic, rgVec(0, 0, 1), turned);
    def.axis = turn->axis;
    def.name = name;
    sdf->result = rgModelDef_AddJoint(sdf->model, &def, &joint->ids[1]);
    if (sdf->result != rg_ok) {
        return;
    }
    rgEqualityDef couple = rgDefaultEqualityDef();
    couple.name = name;
    couple.kind = rg_equalityJoint;
    couple.jointA = joint->ids[1];
    couple.jointB = joint->ids[0];
    couple.polynomial[1] = rgSdf_ThreadPitch(sdf, joint);
    couple.source = def.source;
    sdf->result = rgModelDef_AddEquality(sdf->model, &couple, NULL);
}

void rgSdf_AddJoint(rgSdf* sdf, rgSdfPart* link) {
    rgSdfPart* joint = &sdf->parts[link->treeJoint];
    bool turned = &sdf->parts[joint->parent] == link;
    if (turned) {
        rgXmlReader_Note(&sdf->xml, joint->node,
                         "joint '%.60s': its child '%.60s' has another parent already, so the "
                         "joint moves its parent '%.60s'",
                         joint->fullName, sdf->parts[joint->child].fullName, link->fullName);
    }
    if (joint->type == rg_sdfBall) {
        rgJointDef def = rgSdf_JointDef(joint, link, rg_jointSpherical, rgVec(0, 0, 1), false);
        def.name = joint->fullName;
        const rgXmlNode* axis = rgXmlNode_Child(joint->node, "axis");
        if (axis != NULL) {
            rgSdf_ReadDynamics(sdf, axis, &def);
        }
        sdf->result = rgModelDef_AddJoint(sdf->model, &def, &joint->ids[0]);
    } else if (joint->type == rg_sdfUniversal) {
        // The first axis belongs to the parent: nearest to the link's parent.
        rgSdf_AddAxis(sdf, joint, link, turned ? 1 : 0, turned);
        if (sdf->result == rg_ok) {
            rgSdf_AddAxis(sdf, joint, link, turned ? 0 : 1, turned);
        }
    } else if (joint->type != rg_sdfFixed) {
        rgSdf_AddAxis(sdf, joint, link, 0, turned);
        if (joint->type == rg_sdfScrew && sdf->result == rg_ok) {
            rgSdf_AddSlide(sdf, joint, link, turned);
        }
    }
}

// Two points, or frames, that a joint holds together.
static void rgSdf_AddClosure(rgSdf* sdf, const rgSdfPart* joint, rgEqualityKind kind, rgVec3 offset,
                             const char* name) {
    const rgSdfPart* a = &sdf->parts[joint->child];
    const rgSdfPart* b = &sdf->parts[joint->parent];
    rgPose at = joint->world;
    at.p = rgAdd(at.p, offset);
    rgEqualityDef def = rgDefaultEqualityDef();
    def.name = name;
    def.kind = kind;
    def.bodyA = a->body;
    def.bodyB = b->body;
    def.poseA = rgPoseMultiply(rgPoseInvert(a->world), at);
    def.poseB = rgPoseMultiply(rgPoseInvert(b->world), at);
    def.source = (rgSource){.file = joint->node->file, .line = joint->node->line};
    if (sdf->result == rg_ok) {
        sdf->result = rgModelDef_AddEquality(sdf->model, &def, NULL);
    }
}

// A hinge holds two points of its axis together.
static void rgSdf_AddHinge(rgSdf* sdf, const rgSdfPart* joint) {
    const rgXmlNode* axis = rgXmlNode_Child(joint->node, "axis");
    rgVec3 direction = rgNormalize(rgSdf_ReadAxis(sdf, joint, axis));
    size_t length = strlen(joint->fullName) + 16;
    char* name = rgArena_Take(&sdf->arena, length, 1);
    if (name == NULL) {
        sdf->result = rg_errorMemory;
        return;
    }
    snprintf(name, length, "%s::axis", joint->fullName);
    rgVec3 half = rgScale(RG_SDF_LOOP_HALF, direction);
    rgSdf_AddClosure(sdf, joint, rg_equalityConnect, rgScale(-1, half), joint->fullName);
    rgSdf_AddClosure(sdf, joint, rg_equalityConnect, half, name);
    rgJointDef ignored = rgDefaultJointDef();
    if (axis != NULL) {
        rgSdf_ReadLimit(sdf, joint, axis, &ignored);
        rgSdf_ReadDynamics(sdf, axis, &ignored);
    }
    if (ignored.hasLimits || ignored.damping > 0 || ignored.dryFriction > 0 ||
        ignored.stiffness > 0) {
        rgXmlReader_Warn(&sdf->xml, joint->node,
                         "joint '%.60s' closes a loop: its limits, damping, friction and spring "
                         "are left out",
                         joint->fullName);
    }
}

void rgSdf_AddLoop(rgSdf* sdf, const rgSdfPart* joint) {
    const rgSdfPart* parent = &sdf->parts[joint->parent];
    const rgSdfPart* child = &sdf->parts[joint->child];
    bool inTree = child->treeJoint >= 0 && &sdf->parts[child->treeJoint] == joint;
    inTree = inTree || (parent->treeJoint >= 0 && &sdf->parts[parent->treeJoint] == joint);
    bool still = rgSdf_IsAnchored(sdf, joint->parent) && rgSdf_IsAnchored(sdf, joint->child);
    if (inTree || still || !rgSdf_IsUsed(sdf, joint)) {
        return;
    }
    rgXmlReader_Note(&sdf->xml, joint->node,
                     "joint '%.60s' closes a loop: a constraint stands for it, and it has no "
                     "coordinate",
                     joint->fullName);
    if (joint->type == rg_sdfFixed) {
        rgSdf_AddClosure(sdf, joint, rg_equalityWeld, rgVec(0, 0, 0), joint->fullName);
    } else if (joint->type == rg_sdfBall) {
        rgSdf_AddClosure(sdf, joint, rg_equalityConnect, rgVec(0, 0, 0), joint->fullName);
    } else if (rgSdf_CanClose(joint)) {
        rgSdf_AddHinge(sdf, joint);
    } else {
        rgXmlReader_Error(&sdf->xml, joint->node,
                          "joint '%.60s' closes a loop, which only fixed, revolute, continuous and "
                          "ball joints can",
                          joint->fullName);
    }
    if (sdf->result == rg_ok && joint->parent > 0) {
        sdf->result = rgModelDef_ExcludePair(sdf->model, parent->body, child->body);
    }
}

// The joint that a <mimic> follows, and its coordinate.
static rgJointId rgSdf_Leader(rgSdf* sdf, const rgSdfPart* joint, const rgXmlNode* mimic) {
    static const rgXmlWord axes[] = {{"axis", 0}, {"axis2", 1}, {NULL, 0}};
    const char* name = rgXmlReader_Required(&sdf->xml, mimic, "joint");
    int found = name != NULL ? rgSdf_Find(sdf, joint, name) : -1;
    int axis = 0;
    rgXmlReader_Word(&sdf->xml, mimic, "axis", axes, &axis);
    rgJointId id = {0};
    if (found > 0 && sdf->parts[found].kind == rg_sdfJoint &&
        sdf->parts[found].type != rg_sdfBall) {
        id = sdf->parts[found].ids[axis];
    }
    if (name != NULL && id.index1 == 0) {
        rgXmlReader_Error(&sdf->xml, mimic,
                          "joint '%.60s' mimics '%.60s', which is no joint with that axis",
                          joint->fullName, name);
    }
    return id;
}

static void rgSdf_AddMimicAxis(rgSdf* sdf, const rgSdfPart* joint, int number) {
    static const char* const knownAttributes[] = {"joint", "axis", NULL};
    static const char* const known[] = {"multiplier", "offset", "reference", NULL};
    const rgXmlNode* axis = rgXmlNode_Child(joint->node, number == 0 ? "axis" : "axis2");
    const rgXmlNode* mimic = axis != NULL ? rgXmlNode_Child(axis, "mimic") : NULL;
    if (mimic == NULL || joint->ids[number].index1 == 0 || joint->type == rg_sdfBall) {
        return;
    }
    double multiplier = 1, offset = 0, reference = 0;
    rgXmlReader_CheckAttributes(&sdf->xml, mimic, knownAttributes);
    rgSdf_CheckChildren(sdf, mimic, known, NULL);
    rgSdf_Number(sdf, mimic, "multiplier", &multiplier);
    rgSdf_Number(sdf, mimic, "offset", &offset);
    rgSdf_Number(sdf, mimic, "reference", &reference);
    rgEqualityDef def = rgDefaultEqualityDef();
    def.kind = rg_equalityJoint;
    def.jointA = joint->ids[number];
    def.jointB = rgSdf_Leader(sdf, joint, mimic);
    if (def.jointB.index1 == def.jointA.index1) {
        rgXmlReader_Error(&sdf->xml, mimic, "joint '%.60s' mimics itself", joint->fullName);
    }
    def.name = rgModelDef_Joint(sdf->model, def.jointA)->name;
    def.polynomial[0] = offset - multiplier * reference;
    def.polynomial[1] = multiplier;
    def.source = (rgSource){.file = mimic->file, .line = mimic->line};
    if (sdf->xml.errorCount == 0) {
        sdf->result = rgModelDef_AddEquality(sdf->model, &def, NULL);
    }
}

void rgSdf_AddMimic(rgSdf* sdf, const rgSdfPart* joint) {
    for (int i = 0; i < 2 && sdf->result == rg_ok; ++i) {
        rgSdf_AddMimicAxis(sdf, joint, i);
    }
}
