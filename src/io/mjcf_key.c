// MJCF <keyframe>: states in MuJoCo's convention into ours. Positions are the same (quaternions
// are made unit); a free joint's linear velocity is in world axes there and in the body's here.
#include "io/mjcf.h"

#include <string.h>

static int rgMjcf_JointSize(rgJointKind kind, bool velocity) {
    switch (kind) {
    case rg_jointFree:
        return velocity ? 6 : 7;
    case rg_jointSpherical:
        return velocity ? 3 : 4;
    default:
        return 1;
    }
}

static int rgMjcf_StateSize(const rgMjcf* m, bool velocity) {
    int size = 0;
    for (int i = 0; i < m->def->jointCount; ++i) {
        size += rgMjcf_JointSize(m->def->joints[i].kind, velocity);
    }
    return size;
}

// Numbers of an attribute in the arena; NULL when absent or bad (reported).
static double* rgMjcf_KeyNumbers(rgMjcf* m, const rgXmlNode* node, const char* name, int count) {
    if (rgXmlNode_Attribute(node, name) == NULL ||
        (count == 0 && rgXmlNode_WordCount(node, name) == 0)) {
        return NULL;
    }
    double* values = RG_TAKE(&m->arena, double, RG_MAX(count, 1));
    if (values == NULL) {
        rgMjcf_Check(m, rg_errorMemory);
        return NULL;
    }
    return rgXmlReader_Doubles(&m->reader, node, name, values, count, count) > 0 ? values : NULL;
}

static rgQuat rgMjcf_NormalizeQuat(double* q) {
    rgQuat unit = rgQuatNormalize((rgQuat){q[0], q[1], q[2], q[3]});
    q[0] = unit.w, q[1] = unit.x, q[2] = unit.y, q[3] = unit.z;
    return unit;
}

// Joint by joint: unit quaternions, and free velocities into the body's axes.
static void rgMjcf_ConvertKey(const rgMjcf* m, double* q, double* v) {
    int iq = 0, iv = 0;
    for (int i = 0; i < m->def->jointCount; ++i) {
        const rgJointDef* joint = &m->def->joints[i];
        if (q != NULL && joint->kind == rg_jointSpherical) {
            rgMjcf_NormalizeQuat(q + iq);
        } else if (joint->kind == rg_jointFree) {
            rgQuat turn = m->def->bodies[joint->body.index1 - 1].pose.q;
            turn = q != NULL ? rgMjcf_NormalizeQuat(q + iq + 3) : turn;
            if (v != NULL) {
                rgVec3 linear = rgRotateBack(turn, rgVec(v[iv], v[iv + 1], v[iv + 2]));
                v[iv] = linear.x, v[iv + 1] = linear.y, v[iv + 2] = linear.z;
            }
        }
        iq += rgMjcf_JointSize(joint->kind, false);
        iv += rgMjcf_JointSize(joint->kind, true);
    }
}

// Activations of the file's actuators, spread over all actuators. Unsupported actuators may have
// further ones in the file: if the number of values differs, all start at zero.
static double* rgMjcf_KeyActivations(rgMjcf* m, const rgXmlNode* node) {
    int count = 0, idle = 0;
    for (int i = 0; i < m->def->actuatorCount; ++i) {
        idle += rgMjcf_IsIdle(m->def, &m->def->actuators[i]);
        count += m->def->actuators[i].activation != rg_activationNone;
    }
    if (idle > 0 && rgXmlNode_WordCount(node, "act") != count) {
        rgXmlReader_Warn(&m->reader, node,
                         "<key act>: some actuators are not supported; activations start at zero");
        return NULL;
    }
    double* given = rgMjcf_KeyNumbers(m, node, "act", count);
    double* all =
        given != NULL ? RG_TAKE(&m->arena, double, RG_MAX(m->def->actuatorCount, 1)) : NULL;
    for (int a = 0, k = 0; all != NULL && a < m->def->actuatorCount; ++a) {
        bool has = m->def->actuators[a].activation != rg_activationNone;
        all[a] = has ? given[k++] : 0;
    }
    return all;
}

static void rgMjcf_ReadKey(rgMjcf* m, const rgXmlNode* node) {
    static const char* const known[] = {"name", "time", "qpos",  "qvel", "act",
                                        "ctrl", "mpos", "mquat", NULL};
    static const char* const unsupported[] = {"mpos", "mquat", NULL};
    rgXmlReader_CheckAttributes(&m->reader, node, known);
    rgMjcf_Unsupported(m, node, unsupported);
    rgKeyDef key = rgDefaultKeyDef();
    key.name = rgXmlNode_Attribute(node, "name");
    key.source = rgMjcf_Source(node);
    rgXmlReader_Double(&m->reader, node, "time", &key.time);
    double* q = rgMjcf_KeyNumbers(m, node, "qpos", rgMjcf_StateSize(m, false));
    double* v = rgMjcf_KeyNumbers(m, node, "qvel", rgMjcf_StateSize(m, true));
    double* control = rgMjcf_KeyNumbers(m, node, "ctrl", m->def->actuatorCount);
    double* activation =
        rgXmlNode_Attribute(node, "act") != NULL ? rgMjcf_KeyActivations(m, node) : NULL;
    if (rgMjcf_Failed(m)) {
        return;
    }
    rgMjcf_ConvertKey(m, q, v);
    key.q = q;
    key.v = v;
    key.control = control;
    key.qCount = q != NULL ? rgMjcf_StateSize(m, false) : 0;
    key.vCount = v != NULL ? rgMjcf_StateSize(m, true) : 0;
    key.activation = activation;
    key.activationCount = activation != NULL ? m->def->actuatorCount : 0;
    key.controlCount = control != NULL ? m->def->actuatorCount : 0;
    rgMjNames_Add(m, &m->keyNames, node, key.name, m->def->keyCount);
    rgMjcf_Check(m, rgModelDef_AddKey(m->def, &key, NULL));
}

void rgMjcf_ReadKeys(rgMjcf* m, const rgXmlNode* root) {
    static const char* const known[] = {"key", NULL};
    for (const rgXmlNode* section = rgXmlNode_Child(root, "keyframe"); section != NULL;
         section = rgXmlNode_Next(section, "keyframe")) {
        rgXmlReader_CheckChildren(&m->reader, section, known);
        for (const rgXmlNode* node = rgXmlNode_Child(section, "key");
             node != NULL && !rgMjcf_Failed(m); node = rgXmlNode_Next(node, "key")) {
            rgMjcf_ReadKey(m, node);
        }
    }
}
