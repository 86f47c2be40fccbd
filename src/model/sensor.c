// Sizes of sensor readings.
#include "model/kinds.h"

#include "base/base.h"

const int rgContactNumberSizes[RG_CONTACT_NUMBER_KINDS] = {1, 3, 3, 1, 3, 3, 3};

// Numbers of one contact.
static int rgContactNumbersSize(const rgSensorDef* def) {
    int sum = 0;
    for (int i = 0; i < RG_CONTACT_NUMBER_KINDS; ++i) {
        sum += (def->contactNumbers & (1 << i)) != 0 ? rgContactNumberSizes[i] : 0;
    }
    return sum;
}

int rgSensorDef_Size(const rgSensorDef* def) {
    switch (def->kind) {
    case rg_sensorNone:
        return def->zeroCount;
    case rg_sensorContact:
        return rgContactNumbersSize(def) * RG_MAX(def->contactCount, 1);
    case rg_sensorJointPosition:
    case rg_sensorJointVelocity:
    case rg_sensorJointActuatorForce:
    case rg_sensorTendonPosition:
    case rg_sensorTendonVelocity:
    case rg_sensorActuatorPosition:
    case rg_sensorActuatorVelocity:
    case rg_sensorActuatorForce:
    case rg_sensorTouch:
    case rg_sensorTendonActuatorForce:
    case rg_sensorJointLimitPosition:
    case rg_sensorJointLimitVelocity:
    case rg_sensorJointLimitForce:
    case rg_sensorTendonLimitPosition:
    case rg_sensorTendonLimitVelocity:
    case rg_sensorTendonLimitForce:
    case rg_sensorRangefinder:
    case rg_sensorClock:
    case rg_sensorPotentialEnergy:
    case rg_sensorKineticEnergy:
        return 1;
    case rg_sensorBallQuat:
    case rg_sensorFrameQuat:
        return 4;
    default:
        return 3;
    }
}
