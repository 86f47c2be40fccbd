// Scenes that change how a built-in robot starts or is driven.
#include "scene/scene.h"

#include "base/base.h"

#include <string.h>

// Compile the definition so far: joints by name, and a key frame to start from.
static rgModel* rgCompileSoFar(rgSceneBuilder* builder) {
    rgModel* model = NULL;
    rgSceneBuilder_Check(
        builder, rgCompileModel(builder->def, &builder->allocator, builder->diagnostics, &model));
    return model;
}

static void rgStartFromKey(rgSceneBuilder* builder, const rgModel* model, const char* name) {
    rgModelInfo info = rgModel_Info(model);
    const rgKeyDef* key = rgModel_Key(model, rgModel_FindKey(model, name));
    if (key == NULL) {
        rgDiagnostics_Add(builder->diagnostics, rg_severityError, NULL, 0,
                          "model '%s' has no key frame '%s'", info.name, name);
        rgSceneBuilder_Check(builder, rg_errorFormat);
        return;
    }
    rgSceneBuilder_AddStart(builder, key->q, info.qCount, key->v, info.vCount);
}

// Servos beside the motors of the file, which stay at zero torque.
static void rgAddServos(rgSceneBuilder* builder, const rgModel* model, double* control) {
    rgModelInfo info = rgModel_Info(model);
    for (int i = 0; i < info.actuatorCount; ++i) {
        const rgActuatorDef* motor = rgModel_Actuator(model, (rgActuatorId){i + 1});
        char name[64] = "servo_";
        strncat(name, motor->name, sizeof(name) - 8);
        rgActuatorDef servo = rgDefaultActuatorDef();
        servo.name = name;
        servo.joint = motor->joint;
        servo.gain = servo.kp = 100;
        servo.kd = 2;
        servo.hasForceRange = true;
        servo.forceLower = motor->controlLower;
        servo.forceUpper = motor->controlUpper;
        rgSceneBuilder_AddActuator(builder, &servo);
        control[info.actuatorCount + i] = builder->start[rgModel_JointRange(model, motor->joint).q];
    }
}

void rgHoldQuadruped(rgSceneBuilder* builder) {
    rgModel* model = rgCompileSoFar(builder);
    if (model == NULL) {
        return;
    }
    double control[64] = {0};
    int count = rgModel_Info(model).actuatorCount;
    RG_ASSERT(2 * count <= RG_COUNT(control));
    rgStartFromKey(builder, model, "stand");
    if (builder->result == rg_ok) {
        rgAddServos(builder, model, control);
    }
    rgSceneBuilder_AddKey(builder, control, 2 * count);
    rgDestroyModel(model);
}

void rgDropQuadruped(rgSceneBuilder* builder) {
    rgModel* model = rgCompileSoFar(builder);
    if (model == NULL) {
        return;
    }
    rgStartFromKey(builder, model, "stand");
    if (builder->result == rg_ok) {
        rgQuat tilt = rgQuatFromRollPitchYaw(0.5, 0.4, 0);
        double* root = builder->start + rgModel_JointRange(model, (rgJointId){1}).q;
        root[2] += 0.3;
        root[3] = tilt.w, root[4] = tilt.x, root[5] = tilt.y, root[6] = tilt.z;
    }
    rgSceneBuilder_AddKey(builder, NULL, 0);
    rgDestroyModel(model);
}
