// Parts of a definition by name and number: look-up, views, counts, servos for every joint.
#include "model/def.h"

#include <string.h>

rgPartArray rgModelDef_Parts(const rgModelDef* view, rgPartKind kind) {
    union {
        const rgModelDef* view;
        rgModelDef* def;
    } cast = {.view = view};
    rgModelDef* def = cast.def;
    const rgPartArray arrays[rg_partKindCount] = {
        {"body", (char*)def->bodies, &def->bodyCount, sizeof(rgBodyDef),
         offsetof(rgBodyDef, source)},
        {"joint", (char*)def->joints, &def->jointCount, sizeof(rgJointDef),
         offsetof(rgJointDef, source)},
        {"shape", (char*)def->shapes, &def->shapeCount, sizeof(rgShapeDef),
         offsetof(rgShapeDef, source)},
        {"frame", (char*)def->frames, &def->frameCount, sizeof(rgFrameDef),
         offsetof(rgFrameDef, source)},
        {"tendon", (char*)def->tendons, &def->tendonCount, sizeof(rgTendonDef),
         offsetof(rgTendonDef, source)},
        {"actuator", (char*)def->actuators, &def->actuatorCount, sizeof(rgActuatorDef),
         offsetof(rgActuatorDef, source)},
        {"equality", (char*)def->equalities, &def->equalityCount, sizeof(rgEqualityDef),
         offsetof(rgEqualityDef, source)},
        {"sensor", (char*)def->sensors, &def->sensorCount, sizeof(rgSensorDef),
         offsetof(rgSensorDef, source)},
        {"key", (char*)def->keys, &def->keyCount, sizeof(rgKeyDef), offsetof(rgKeyDef, source)},
    };
    return arrays[kind];
}

const char* rgPartArray_Name(const rgPartArray* array, int index) {
    const char* name = NULL;
    memcpy(&name, array->parts + (size_t)index * array->size, sizeof(name));
    return name != NULL ? name : "";
}

rgSource rgPartArray_Source(const rgPartArray* array, int index) {
    rgSource source;
    memcpy(&source, array->parts + (size_t)index * array->size + array->sourceAt, sizeof(source));
    return source;
}

static int rgFindIn(const rgModelDef* def, rgPartKind kind, const char* name) {
    if (def == NULL || name == NULL || name[0] == '\0') {
        return 0;
    }
    rgPartArray array = rgModelDef_Parts(def, kind);
    for (int i = 0; i < *array.count; ++i) {
        if (strcmp(rgPartArray_Name(&array, i), name) == 0) {
            return i + 1;
        }
    }
    return 0;
}

static const void* rgViewOf(const rgModelDef* def, rgPartKind kind, int index1) {
    if (def == NULL) {
        return NULL;
    }
    rgPartArray array = rgModelDef_Parts(def, kind);
    bool good = index1 >= 1 && index1 <= *array.count;
    return good ? array.parts + (size_t)(index1 - 1) * array.size : NULL;
}

rgBodyId rgModelDef_FindBody(const rgModelDef* def, const char* name) {
    return (rgBodyId){rgFindIn(def, rg_partBody, name)};
}

const rgBodyDef* rgModelDef_Body(const rgModelDef* def, rgBodyId id) {
    return rgViewOf(def, rg_partBody, id.index1);
}

rgJointId rgModelDef_FindJoint(const rgModelDef* def, const char* name) {
    return (rgJointId){rgFindIn(def, rg_partJoint, name)};
}

const rgJointDef* rgModelDef_Joint(const rgModelDef* def, rgJointId id) {
    return rgViewOf(def, rg_partJoint, id.index1);
}

rgShapeId rgModelDef_FindShape(const rgModelDef* def, const char* name) {
    return (rgShapeId){rgFindIn(def, rg_partShape, name)};
}

const rgShapeDef* rgModelDef_Shape(const rgModelDef* def, rgShapeId id) {
    return rgViewOf(def, rg_partShape, id.index1);
}

rgFrameId rgModelDef_FindFrame(const rgModelDef* def, const char* name) {
    return (rgFrameId){rgFindIn(def, rg_partFrame, name)};
}

const rgFrameDef* rgModelDef_Frame(const rgModelDef* def, rgFrameId id) {
    return rgViewOf(def, rg_partFrame, id.index1);
}

rgTendonId rgModelDef_FindTendon(const rgModelDef* def, const char* name) {
    return (rgTendonId){rgFindIn(def, rg_partTendon, name)};
}

const rgTendonDef* rgModelDef_Tendon(const rgModelDef* def, rgTendonId id) {
    return rgViewOf(def, rg_partTendon, id.index1);
}

rgActuatorId rgModelDef_FindActuator(const rgModelDef* def, const char* name) {
    return (rgActuatorId){rgFindIn(def, rg_partActuator, name)};
}

const rgActuatorDef* rgModelDef_Actuator(const rgModelDef* def, rgActuatorId id) {
    return rgViewOf(def, rg_partActuator, id.index1);
}

rgEqualityId rgModelDef_FindEquality(const rgModelDef* def, const char* name) {
    return (rgEqualityId){rgFindIn(def, rg_partEquality, name)};
}

const rgEqualityDef* rgModelDef_Equality(const rgModelDef* def, rgEqualityId id) {
    return rgViewOf(def, rg_partEquality, id.index1);
}

rgSensorId rgModelDef_FindSensor(const rgModelDef* def, const char* name) {
    return (rgSensorId){rgFindIn(def, rg_partSensor, name)};
}

const rgSensorDef* rgModelDef_Sensor(const rgModelDef* def, rgSensorId id) {
    return rgViewOf(def, rg_partSensor, id.index1);
}

rgKeyId rgModelDef_FindKey(const rgModelDef* def, const char* name) {
    return (rgKeyId){rgFindIn(def, rg_partKey, name)};
}

const rgKeyDef* rgModelDef_Key(const rgModelDef* def, rgKeyId id) {
    return rgViewOf(def, rg_partKey, id.index1);
}

rgModelInfo rgModelDef_Info(const rgModelDef* def) {
    if (def == NULL) {
        return (rgModelInfo){.name = ""};
    }
    return (rgModelInfo){.name = def->name,
                         .bodyCount = def->bodyCount,
                         .jointCount = def->jointCount,
                         .shapeCount = def->shapeCount,
                         .frameCount = def->frameCount,
                         .tendonCount = def->tendonCount,
                         .actuatorCount = def->actuatorCount,
                         .equalityCount = def->equalityCount,
                         .sensorCount = def->sensorCount,
                         .keyCount = def->keyCount,
                         .options = def->options};
}

static bool rgIsDriven(const rgModelDef* def, int joint) {
    for (int i = 0; i < def->actuatorCount; ++i) {
        if (def->actuators[i].joint.index1 == joint) {
            return true;
        }
    }
    return false;
}

rgResult rgModelDef_AddServos(rgModelDef* def, double kp, double kd) {
    if (def == NULL) {
        return rg_errorArgument;
    }
    rgResult result = rg_ok;
    for (int j = 1; result == rg_ok && j <= def->jointCount; ++j) {
        const rgJointDef* joint = &def->joints[j - 1];
        bool scalar = joint->kind == rg_jointRevolute || joint->kind == rg_jointPrismatic;
        if (!scalar || rgIsDriven(def, j)) {
            continue;
        }
        rgActuatorDef servo = rgDefaultActuatorDef();
        servo.name = joint->name;
        servo.joint.index1 = j;
        servo.gain = kp;
        servo.kp = kp;
        servo.kd = kd;
        servo.hasForceRange = joint->effortLimit > 0;
        servo.forceLower = -joint->effortLimit;
        servo.forceUpper = joint->effortLimit;
        servo.source = joint->source;
        result = rgModelDef_AddActuator(def, &servo, NULL);
    }
    return result;
}
