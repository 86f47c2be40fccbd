// Attributes that many MJCF elements share: flags, poses, limits, softness.
#include "io/mjcf.h"

#include <string.h>

const rgXmlWord rgMjBoolWords[3] = {{"false", 0}, {"true", 1}, {NULL, 0}};
const rgXmlWord rgMjAutoWords[4] = {{"false", 0}, {"true", 1}, {"auto", 2}, {NULL, 0}};

void rgMjcf_Flag(rgMjcf* m, const rgXmlNode* node, const char* name, bool* value) {
    int word = *value;
    rgXmlReader_Word(&m->reader, node, name, rgMjBoolWords, &word);
    *value = word != 0;
}

rgMjPlace rgMjcf_NoPlace(void) {
    return (rgMjPlace){.quat = {1, 0, 0, 0}};
}

typedef struct rgMjTurnName {
    const char* name;
    rgMjTurn turn;
    int count;
} rgMjTurnName;

static const rgMjTurnName turnNames[] = {
    {"quat", rg_mjTurnQuat, 4},           {"euler", rg_mjTurnEuler, 3},
    {"axisangle", rg_mjTurnAxisAngle, 4}, {"xyaxes", rg_mjTurnXyAxes, 6},
    {"zaxis", rg_mjTurnZAxis, 3},
};

void rgMjcf_ReadPlace(rgMjcf* m, const rgXmlNode* node, rgMjPlace* place) {
    rgXmlReader_Doubles(&m->reader, node, "pos", place->pos, 3, 3);
    const char* first = NULL;
    for (int i = 0; i < RG_COUNT(turnNames); ++i) {
        const rgMjTurnName* name = &turnNames[i];
        if (rgXmlNode_Attribute(node, name->name) == NULL) {
            continue;
        }
        if (first != NULL) {
            rgXmlReader_Error(&m->reader, node,
                              "<%s>: has both %s and %s; one orientation is enough", node->name,
                              first, name->name);
            return;
        }
        first = name->name;
        bool isQuat = name->turn == rg_mjTurnQuat;
        double* values = isQuat ? place->quat : place->values;
        if (rgXmlReader_Doubles(&m->reader, node, name->name, values, name->count, name->count) >
                0 &&
            !isQuat) {
            place->turn = name->turn;
        }
    }
}

// Lower case letters turn about axes that move along, upper case about fixed ones.
static rgQuat rgMjcf_Euler(const rgMjcf* m, const double* angles) {
    rgQuat q = rgQuatIdentity();
    for (int i = 0; i < 3; ++i) {
        char letter = m->compiler.eulerSequence[i];
        bool fixed = letter < 'a';
        int axis = letter - (fixed ? 'X' : 'x');
        rgVec3 unit = {axis == 0, axis == 1, axis == 2};
        rgQuat step = rgQuatFromAxisAngle(unit, angles[i] * m->compiler.angleScale);
        q = fixed ? rgQuatMultiply(step, q) : rgQuatMultiply(q, step);
    }
    return q;
}

rgQuat rgMjcf_TurnZ(rgVec3 axis) {
    rgVec3 z = rgNormalize(axis);
    rgVec3 around = rgVec(-z.y, z.x, 0);
    double s = rgLength(around);
    if (s < 1e-10) {
        return z.z < 0 ? (rgQuat){0, 1, 0, 0} : rgQuatIdentity();
    }
    return rgQuatFromAxisAngle(rgScale(1 / s, around), atan2(s, z.z));
}

static rgQuat rgMjcf_XyAxes(rgMjcf* m, const rgXmlNode* node, const double* v) {
    rgVec3 x = rgVec(v[0], v[1], v[2]), y = rgVec(v[3], v[4], v[5]);
    double length = rgLength(x);
    x = rgNormalize(x);
    y = rgAddScaled(y, -rgDot(x, y), x);
    if (length < 1e-14 || rgLength(y) < 1e-14) {
        rgXmlReader_Error(&m->reader, node, "<%s xyaxes>: the axes are zero or parallel",
                          node->name);
        return rgQuatIdentity();
    }
    y = rgNormalize(y);
    rgVec3 z = rgCross(x, y);
    rgMat3 r = {{x.x, y.x, z.x, x.y, y.y, z.y, x.z, y.z, z.z}};
    return rgQuatNormalize(rgQuatFromMat3(&r));
}

static rgQuat rgMjcf_AxisTurn(rgMjcf* m, const rgXmlNode* node, const rgMjPlace* place) {
    const double* v = place->values;
    rgVec3 axis = rgVec(v[0], v[1], v[2]);
    if (rgLength(axis) < 1e-14) {
        rgXmlReader_Error(&m->reader, node, "<%s %s>: the axis is zero", node->name,
                          place->turn == rg_mjTurnZAxis ? "zaxis" : "axisangle");
        return rgQuatIdentity();
    }
    if (place->turn == rg_mjTurnZAxis) {
        return rgMjcf_TurnZ(axis);
    }
    return rgQuatFromAxisAngle(rgNormalize(axis), v[3] * m->compiler.angleScale);
}

static rgQuat rgMjcf_Quat(rgMjcf* m, const rgXmlNode* node, const double* v) {
    rgQuat q = {v[0], v[1], v[2], v[3]};
    double length = sqrt(q.w * q.w + q.x * q.x + q.y * q.y + q.z * q.z);
    if (!(length > 1e-14)) {
        rgXmlReader_Error(&m->reader, node, "<%s quat>: is zero", node->name);
        return rgQuatIdentity();
    }
    // Unit to rounding already: dividing would only move the last bits.
    return fabs(length - 1) < 1e-15 ? q : rgQuatNormalize(q);
}

rgPose rgMjcf_Pose(rgMjcf* m, const rgXmlNode* node, const rgMjPlace* place) {
    rgPose pose = {.p = {place->pos[0], place->pos[1], place->pos[2]}};
    switch (place->turn) {
    case rg_mjTurnEuler:
        pose.q = rgMjcf_Euler(m, place->values);
        break;
    case rg_mjTurnXyAxes:
        pose.q = rgMjcf_XyAxes(m, node, place->values);
        break;
    case rg_mjTurnAxisAngle:
    case rg_mjTurnZAxis:
        pose.q = rgMjcf_AxisTurn(m, node, place);
        break;
    default:
        pose.q = rgMjcf_Quat(m, node, place->quat);
        break;
    }
    return pose;
}

bool rgMjcf_Limited(rgMjcf* m, const rgXmlNode* node, const char* what, int limited,
                    const double range[2]) {
    bool given = range[0] < range[1];
    if (limited == 2 && !given && (range[0] != 0 || range[1] != 0)) {
        rgXmlReader_Warn(&m->reader, node, "<%s %s>: %g is not below %g; there is no limit",
                         node->name, what, range[0], range[1]);
    }
    if (limited == 2 && given && !m->compiler.autoLimits) {
        rgXmlReader_Error(&m->reader, node,
                          "<%s %s>: has a range, but limited is not set and autolimits is off",
                          node->name, what);
    }
    bool holds = limited == 1 || (limited == 2 && given && m->compiler.autoLimits);
    if (holds && !(range[0] < range[1])) {
        rgXmlReader_Error(&m->reader, node, "<%s %s>: %g is not below %g", node->name, what,
                          range[0], range[1]);
    }
    return holds;
}

static bool rgIsNoValue(const char* value) {
    const char* const words[] = {"false", "none", "auto", "disable", ""};
    for (int i = 0; i < RG_COUNT(words); ++i) {
        if (strcmp(value, words[i]) == 0) {
            return true;
        }
    }
    return value[strspn(value, "0. +-\t\n\r")] == '\0'; // zeros
}

void rgMjcf_Unsupported(rgMjcf* m, const rgXmlNode* node, const char* const* names) {
    for (int i = 0; names[i] != NULL; ++i) {
        const char* value = rgXmlNode_Attribute(node, names[i]);
        if (value != NULL && !rgIsNoValue(value)) {
            rgXmlReader_Warn(&m->reader, node, "<%s %s>: '%.40s' is not supported; it is ignored",
                             node->name, names[i], value);
        }
    }
}

void rgMjcf_ReadLinear(rgMjcf* m, const rgXmlNode* node, const char* name, double* value) {
    double terms[3] = {*value, 0, 0};
    int count = rgXmlReader_Doubles(&m->reader, node, name, terms, 1, 3);
    *value = terms[0];
    if (count > 1 && (terms[1] != 0 || terms[2] != 0)) {
        rgXmlReader_Warn(&m->reader, node,
                         "<%s %s>: %g and %g, of higher powers, are not supported; %g is taken",
                         node->name, name, terms[1], terms[2], terms[0]);
    }
}

rgMjSoftness rgMjcf_NoSoftness(void) {
    return (rgMjSoftness){.solref = {0.02, 1}, .solimp = {0.9, 0.95, 0.001, 0.5, 2}};
}

void rgMjcf_ReadSoftness(rgMjcf* m, const rgXmlNode* node, const char* ref, const char* imp,
                         rgMjSoftness* softness) {
    int given = rgXmlReader_Doubles(&m->reader, node, ref, softness->solref, 1, 2);
    given += rgXmlReader_Doubles(&m->reader, node, imp, softness->solimp, 1, 5);
    softness->isSet = softness->isSet || given > 0;
}

// solref is a time constant and a damping ratio, or minus stiffness and damping per unit mass. Both
// are taken at the full impedance dmax, where it drops out. See docs/formats/mjcf.md.
void rgMjcf_Spring(const rgMjSoftness* softness, double mass, double* stiffness, double* damping) {
    double a = softness->solref[0], b = softness->solref[1];
    if (a > 0 && b > 0) {
        *stiffness = mass / (a * a * b * b);
        *damping = 2 * mass / a;
    } else if (a <= 0 && b <= 0) {
        *stiffness = -a * mass;
        *damping = -b * mass;
    } else {
        *stiffness = 0;
        *damping = 0;
    }
}
