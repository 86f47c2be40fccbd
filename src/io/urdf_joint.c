// URDF joints: type, axis, limits, damping and friction, coupling.
#include "io/urdf.h"

#include <string.h>

static const char* const jointElements[] = {"origin", "parent",      "child",
                                            "axis",   "limit",       "dynamics",
                                            "mimic",  "calibration", "safety_controller",
                                            NULL};

// The link that <parent link="..."> or <child link="..."> names; -1 and an error otherwise.
static int rgUrdf_ReadEnd(rgUrdf* urdf, const rgUrdfJoint* joint, const char* element) {
    static const char* const known[] = {"link", NULL};
    const rgXmlNode* node = rgXmlReader_RequiredChild(&urdf->xml, joint->node, element);
    if (node == NULL) {
        return -1;
    }
    rgXmlReader_CheckAttributes(&urdf->xml, node, known);
    rgXmlReader_CheckChildren(&urdf->xml, node, NULL);
    const char* name = rgXmlReader_Required(&urdf->xml, node, "link");
    if (name == NULL) {
        return -1;
    }
    int link = rgFindName(urdf->linkNames, urdf->linkCount, name);
    if (link < 0) {
        char suggestion[100];
        rgUrdf_Suggest(urdf, urdf->linkNames, urdf->linkCount, name, suggestion);
        rgXmlReader_Error(&urdf->xml, node, "joint '%.60s': there is no link '%.60s'%s",
                          joint->name, name, suggestion);
    }
    return link;
}

void rgUrdf_ReadJoint(rgUrdf* urdf, rgUrdfJoint* joint) {
    static const char* const knownAttributes[] = {"name", "type", NULL};
    static const rgXmlWord types[] = {
        {"fixed", rg_urdfFixed},           {"revolute", rg_urdfRevolute},
        {"continuous", rg_urdfContinuous}, {"prismatic", rg_urdfPrismatic},
        {"floating", rg_urdfFloating},     {"planar", rg_urdfPlanar},
        {"spherical", rg_urdfSpherical},   {NULL, 0},
    };
    int type = rg_urdfFixed;
    rgXmlReader_CheckAttributes(&urdf->xml, joint->node, knownAttributes);
    rgXmlReader_CheckChildren(&urdf->xml, joint->node, jointElements);
    rgCheckUrdfSingle(&urdf->xml, joint->node, jointElements);
    if (rgXmlReader_Required(&urdf->xml, joint->node, "type") != NULL) {
        rgXmlReader_Word(&urdf->xml, joint->node, "type", types, &type);
    }
    joint->type = (rgUrdfJointType)type;
    joint->parent = rgUrdf_ReadEnd(urdf, joint, "parent");
    joint->child = rgUrdf_ReadEnd(urdf, joint, "child");
}

bool rgUrdfJoint_Moves(const rgUrdf* urdf, const rgUrdfJoint* joint) {
    bool atRoot = joint->parent == urdf->rootLink;
    switch (joint->type) {
    case rg_urdfFixed:
        // The base of "world -> base" floats if the definition sets it.
        return urdf->def->base == rg_baseFloating && urdf->worldRoot && atRoot;
    case rg_urdfFloating:
        return !(urdf->def->base == rg_baseFixed && atRoot);
    default:
        return true;
    }
}

static void rgUrdf_ReadAxis(rgUrdf* urdf, const rgUrdfJoint* joint, rgVec3* axis) {
    static const char* const known[] = {"xyz", NULL};
    double xyz[3] = {1, 0, 0};
    const rgXmlNode* node = rgXmlNode_Child(joint->node, "axis");
    if (node != NULL) {
        rgXmlReader_CheckAttributes(&urdf->xml, node, known);
        rgXmlReader_CheckChildren(&urdf->xml, node, NULL);
        rgXmlReader_Required(&urdf->xml, node, "xyz");
        rgXmlReader_Doubles(&urdf->xml, node, "xyz", xyz, 3, 3);
    }
    *axis = rgVec(xyz[0], xyz[1], xyz[2]);
    double length = rgLength(*axis);
    if (!(length > 1e-12)) {
        rgXmlReader_Error(&urdf->xml, node, "joint '%.60s': the axis is zero", joint->name);
        *axis = rgVec(1, 0, 0);
    } else if (fabs(length - 1) > 1e-3) {
        rgXmlReader_Warn(&urdf->xml, node,
                         "joint '%.60s': the axis has length %g; its direction is used",
                         joint->name, length);
    }
}

// A number that may not be negative; 0 when it is absent.
static double rgUrdf_NotNegative(rgUrdf* urdf, const rgUrdfJoint* joint, const rgXmlNode* node,
                                 const char* name) {
    double value = 0;
    rgXmlReader_Double(&urdf->xml, node, name, &value);
    if (value < 0) {
        rgXmlReader_Error(&urdf->xml, node, "joint '%.60s': <%s %s> is negative: %g", joint->name,
                          node->name, name, value);
        value = 0;
    }
    return value;
}

// Range of a revolute or prismatic joint. An absent bound is 0, by URDF.
static void rgUrdf_ReadRange(rgUrdf* urdf, const rgUrdfJoint* joint, const rgXmlNode* node,
                             rgJointDef* def) {
    bool hasLower = rgXmlNode_Attribute(node, "lower") != NULL;
    bool hasUpper = rgXmlNode_Attribute(node, "upper") != NULL;
    rgXmlReader_Double(&urdf->xml, node, "lower", &def->lower);
    rgXmlReader_Double(&urdf->xml, node, "upper", &def->upper);
    if (!hasLower && !hasUpper) {
        rgXmlReader_Warn(&urdf->xml, node,
                         "joint '%.60s': <limit> has neither lower nor upper: taken as unlimited",
                         joint->name);
        return;
    }
    if (!hasLower || !hasUpper) {
        rgXmlReader_Warn(&urdf->xml, node, "joint '%.60s': <limit> has no '%s': taken as 0",
                         joint->name, hasLower ? "upper" : "lower");
    }
    if (def->lower > def->upper) {
        rgXmlReader_Error(&urdf->xml, node,
                          "joint '%.60s': the lower limit %g is above the upper %g", joint->name,
                          def->lower, def->upper);
        return;
    }
    if (def->lower == def->upper) {
        rgXmlReader_Warn(&urdf->xml, node,
                         "joint '%.60s': lower and upper are both %g: it is locked", joint->name,
                         def->lower);
    }
    def->hasLimits = true;
}

static void rgUrdf_ReadLimit(rgUrdf* urdf, const rgUrdfJoint* joint, rgJointDef* def) {
    static const char* const known[] = {"lower",        "upper", "effort",       "velocity",
                                        "acceleration", "jerk",  "deceleration", NULL};
    const rgXmlNode* node = rgXmlNode_Child(joint->node, "limit");
    bool needsRange = joint->type == rg_urdfRevolute || joint->type == rg_urdfPrismatic;
    if (node == NULL) {
        if (needsRange) {
            rgXmlReader_Warn(&urdf->xml, joint->node,
                             "joint '%.60s' has no <limit>: taken as unlimited", joint->name);
        }
        return;
    }
    rgXmlReader_CheckAttributes(&urdf->xml, node, known);
    rgXmlReader_CheckChildren(&urdf->xml, node, NULL);
    def->effortLimit = rgUrdf_NotNegative(urdf, joint, node, "effort");
    def->velocityLimit = rgUrdf_NotNegative(urdf, joint, node, "velocity");
    if (def->effortLimit == 0 && rgXmlNode_Attribute(node, "effort") != NULL &&
        urdf->xml.errorCount == 0) {
        rgXmlReader_Note(&urdf->xml, node, "joint '%.60s': an effort limit of 0 means no limit",
                         joint->name);
    }
    if (needsRange) {
        rgUrdf_ReadRange(urdf, joint, node, def);
    }
}

static void rgUrdf_ReadDynamics(rgUrdf* urdf, const rgUrdfJoint* joint, rgJointDef* def) {
    static const char* const known[] = {"damping", "friction", NULL};
    const rgXmlNode* node = rgXmlNode_Child(joint->node, "dynamics");
    if (node == NULL) {
        return;
    }
    rgXmlReader_CheckAttributes(&urdf->xml, node, known);
    rgXmlReader_CheckChildren(&urdf->xml, node, NULL);
    def->damping = rgUrdf_NotNegative(urdf, joint, node, "damping");
    def->dryFriction = rgUrdf_NotNegative(urdf, joint, node, "friction");
}

// Check elements that belong to controllers of other programs.
static void rgUrdf_CheckControl(rgUrdf* urdf, const rgUrdfJoint* joint) {
    static const char* const calibrations[] = {"rising", "falling", "reference_position", NULL};
    static const char* const safeties[] = {"soft_lower_limit", "soft_upper_limit", "k_position",
                                           "k_velocity", NULL};
    const rgXmlNode* calibration = rgXmlNode_Child(joint->node, "calibration");
    const rgXmlNode* safety = rgXmlNode_Child(joint->node, "safety_controller");
    if (calibration != NULL) {
        rgXmlReader_CheckAttributes(&urdf->xml, calibration, calibrations);
    }
    if (safety != NULL) {
        rgXmlReader_CheckAttributes(&urdf->xml, safety, safeties);
        rgXmlReader_Note(&urdf->xml, safety,
                         "joint '%.60s': <safety_controller> is not used: soft limits need a "
                         "controller; only <limit> is used",
                         joint->name);
    }
}

static rgJointKind rgUrdf_JointKind(rgUrdfJointType type) {
    switch (type) {
    case rg_urdfRevolute:
    case rg_urdfContinuous:
        return rg_jointRevolute;
    case rg_urdfPrismatic:
        return rg_jointPrismatic;
    case rg_urdfPlanar:
        return rg_jointPlanar;
    case rg_urdfSpherical:
        return rg_jointSpherical;
    default:
        return rg_jointFree;
    }
}

void rgUrdf_AddJoint(rgUrdf* urdf, rgUrdfJoint* joint, rgBodyId body) {
    if (!rgUrdfJoint_Moves(urdf, joint)) {
        return;
    }
    rgUrdf_CheckControl(urdf, joint);
    rgJointDef def = rgDefaultJointDef();
    def.name = joint->name;
    def.body = body;
    def.kind = rgUrdf_JointKind(joint->type);
    def.source = (rgSource){.file = joint->node->file, .line = joint->node->line};
    if (def.kind != rg_jointFree && def.kind != rg_jointSpherical) {
        rgUrdf_ReadAxis(urdf, joint, &def.axis);
        rgUrdf_ReadLimit(urdf, joint, &def);
    }
    rgUrdf_ReadDynamics(urdf, joint, &def);
    if (urdf->result == rg_ok) {
        urdf->result = rgModelDef_AddJoint(urdf->model, &def, &joint->id);
    }
}

static bool rgUrdf_HasOneCoordinate(const rgUrdfJoint* joint) {
    return joint->type == rg_urdfRevolute || joint->type == rg_urdfContinuous ||
           joint->type == rg_urdfPrismatic;
}

// The joint that a <mimic> follows; NULL and an error when it cannot.
static const rgUrdfJoint* rgUrdf_MimicLeader(rgUrdf* urdf, const rgUrdfJoint* joint,
                                             const rgXmlNode* node) {
    const char* name = rgXmlReader_Required(&urdf->xml, node, "joint");
    int index = name != NULL ? rgFindName(urdf->jointNames, urdf->jointCount, name) : -1;
    const rgUrdfJoint* leader = index >= 0 ? &urdf->joints[index] : NULL;
    if (name != NULL && leader == NULL) {
        char suggestion[100];
        rgUrdf_Suggest(urdf, urdf->jointNames, urdf->jointCount, name, suggestion);
        rgXmlReader_Error(&urdf->xml, node, "joint '%.60s' mimics '%.60s', which does not exist%s",
                          joint->name, name, suggestion);
    } else if (leader == joint) {
        rgXmlReader_Error(&urdf->xml, node, "joint '%.60s' mimics itself", joint->name);
        return NULL;
    } else if (leader != NULL && leader->isLocked) {
        return NULL; // the error has been reported
    } else if (leader != NULL && !rgUrdf_HasOneCoordinate(leader)) {
        rgXmlReader_Error(&urdf->xml, node,
                          "joint '%.60s' mimics '%.60s', which is not revolute, continuous or "
                          "prismatic",
                          joint->name, name);
        return NULL;
    }
    return leader;
}

void rgUrdf_AddMimic(rgUrdf* urdf, const rgUrdfJoint* joint) {
    static const char* const known[] = {"joint", "multiplier", "offset", NULL};
    const rgXmlNode* node = rgXmlNode_Child(joint->node, "mimic");
    if (node == NULL || joint->type == rg_urdfFixed) {
        return;
    }
    if (!rgUrdf_HasOneCoordinate(joint)) {
        rgXmlReader_Error(&urdf->xml, node,
                          "joint '%.60s': only revolute, continuous and prismatic joints mimic",
                          joint->name);
        return;
    }
    double multiplier = 1, offset = 0;
    rgXmlReader_CheckAttributes(&urdf->xml, node, known);
    rgXmlReader_Double(&urdf->xml, node, "multiplier", &multiplier);
    rgXmlReader_Double(&urdf->xml, node, "offset", &offset);
    const rgUrdfJoint* leader = rgUrdf_MimicLeader(urdf, joint, node);
    if (leader == NULL || urdf->result != rg_ok) {
        return;
    }
    rgEqualityDef def = rgDefaultEqualityDef();
    def.name = joint->name;
    def.kind = rg_equalityJoint;
    def.jointA = joint->id;
    def.jointB = leader->id;
    def.polynomial[0] = offset;
    def.polynomial[1] = multiplier;
    def.source = (rgSource){.file = node->file, .line = node->line};
    urdf->result = rgModelDef_AddEquality(urdf->model, &def, NULL);
}
