// Reading a model: sizes, parts, look-up by name, and how bodies hang together.
#include "model/model.h"

rgModelInfo rgModel_Info(const rgModel* model) {
    return model != NULL ? model->info : (rgModelInfo){.name = ""};
}

static bool rgIsIn(const rgModel* model, int index1, rgPartKind kind) {
    return model != NULL && index1 >= 1 && index1 <= rgModel_PartCount(model, kind);
}

const rgBodyDef* rgModel_Body(const rgModel* model, rgBodyId id) {
    return rgIsIn(model, id.index1, rg_partBody) ? &model->bodies[id.index1 - 1] : NULL;
}

const rgJointDef* rgModel_Joint(const rgModel* model, rgJointId id) {
    return rgIsIn(model, id.index1, rg_partJoint) ? &model->joints[id.index1 - 1] : NULL;
}

const rgShapeDef* rgModel_Shape(const rgModel* model, rgShapeId id) {
    return rgIsIn(model, id.index1, rg_partShape) ? &model->shapes[id.index1 - 1] : NULL;
}

const rgFrameDef* rgModel_Frame(const rgModel* model, rgFrameId id) {
    return rgIsIn(model, id.index1, rg_partFrame) ? &model->frames[id.index1 - 1] : NULL;
}

const rgTendonDef* rgModel_Tendon(const rgModel* model, rgTendonId id) {
    return rgIsIn(model, id.index1, rg_partTendon) ? &model->tendons[id.index1 - 1] : NULL;
}

const rgActuatorDef* rgModel_Actuator(const rgModel* model, rgActuatorId id) {
    return rgIsIn(model, id.index1, rg_partActuator) ? &model->actuators[id.index1 - 1] : NULL;
}

const rgEqualityDef* rgModel_Equality(const rgModel* model, rgEqualityId id) {
    return rgIsIn(model, id.index1, rg_partEquality) ? &model->equalities[id.index1 - 1] : NULL;
}

const rgSensorDef* rgModel_Sensor(const rgModel* model, rgSensorId id) {
    return rgIsIn(model, id.index1, rg_partSensor) ? &model->sensors[id.index1 - 1] : NULL;
}

int rgModel_SensorNumbers(const rgModel* model) {
    int size = 0;
    for (int i = 0; model != NULL && i < model->info.sensorCount; ++i) {
        size += rgSensorDef_Size(&model->sensors[i]);
    }
    return size;
}

const rgKeyDef* rgModel_Key(const rgModel* model, rgKeyId id) {
    return rgIsIn(model, id.index1, rg_partKey) ? &model->keys[id.index1 - 1] : NULL;
}

rgBodyId rgModel_FindBody(const rgModel* model, const char* name) {
    return (rgBodyId){rgModel_FindPart(model, rg_partBody, name) + 1};
}

rgJointId rgModel_FindJoint(const rgModel* model, const char* name) {
    return (rgJointId){rgModel_FindPart(model, rg_partJoint, name) + 1};
}

rgShapeId rgModel_FindShape(const rgModel* model, const char* name) {
    return (rgShapeId){rgModel_FindPart(model, rg_partShape, name) + 1};
}

rgFrameId rgModel_FindFrame(const rgModel* model, const char* name) {
    return (rgFrameId){rgModel_FindPart(model, rg_partFrame, name) + 1};
}

rgTendonId rgModel_FindTendon(const rgModel* model, const char* name) {
    return (rgTendonId){rgModel_FindPart(model, rg_partTendon, name) + 1};
}

rgActuatorId rgModel_FindActuator(const rgModel* model, const char* name) {
    return (rgActuatorId){rgModel_FindPart(model, rg_partActuator, name) + 1};
}

rgEqualityId rgModel_FindEquality(const rgModel* model, const char* name) {
    return (rgEqualityId){rgModel_FindPart(model, rg_partEquality, name) + 1};
}

rgSensorId rgModel_FindSensor(const rgModel* model, const char* name) {
    return (rgSensorId){rgModel_FindPart(model, rg_partSensor, name) + 1};
}

rgKeyId rgModel_FindKey(const rgModel* model, const char* name) {
    return (rgKeyId){rgModel_FindPart(model, rg_partKey, name) + 1};
}

rgJointRange rgModel_JointRange(const rgModel* model, rgJointId id) {
    return rgIsIn(model, id.index1, rg_partJoint) ? model->jointRanges[id.index1 - 1]
                                                  : (rgJointRange){0};
}

rgBodyLink rgModel_BodyLink(const rgModel* model, rgBodyId id) {
    if (!rgIsIn(model, id.index1, rg_partBody)) {
        return (rgBodyLink){.pose = rgPoseIdentity()};
    }
    const rgPlace* place = &model->bodyPlaces[id.index1 - 1];
    int moving = model->movingBodies[place->link];
    if (moving < 0) {
        return (rgBodyLink){.pose = place->pose};
    }
    rgPose carrier = model->bodyPlaces[moving].pose;
    return (rgBodyLink){.moving = {moving + 1},
                        .pose = rgPoseMultiply(rgPoseInvert(carrier), place->pose)};
}

rgFrameId rgModel_BodyFrame(const rgModel* model, rgBodyId id) {
    if (!rgIsIn(model, id.index1, rg_partBody)) {
        return (rgFrameId){0};
    }
    return (rgFrameId){model->info.frameCount - model->info.bodyCount + id.index1};
}

bool rgShapeDef_HasBelt(const rgShapeDef* def) {
    const rgVec3 *v = &def->surfaceVelocity, *s = &def->surfaceSpin;
    return v->x != 0 || v->y != 0 || v->z != 0 || s->x != 0 || s->y != 0 || s->z != 0;
}
