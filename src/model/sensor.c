// Kinds of sensors: their names in MJCF, sizes and objects. src/query/sensors.c reads them.
#include "model/kinds.h"

#include "base/base.h"

#include <string.h>

static const rgSensorTraits traits[rg_sensorKindCount] = {
    [rg_sensorNone] = {NULL, 0, rg_objectNothing, rg_rangeSigned},
    [rg_sensorJointPosition] = {"jointpos", 1, rg_objectJoint, rg_rangeSigned},
    [rg_sensorJointVelocity] = {"jointvel", 1, rg_objectJoint, rg_rangeSigned},
    [rg_sensorJointActuatorForce] = {"jointactuatorfrc", 1, rg_objectJoint, rg_rangeSigned},
    [rg_sensorTendonPosition] = {"tendonpos", 1, rg_objectTendon, rg_rangeSigned},
    [rg_sensorTendonVelocity] = {"tendonvel", 1, rg_objectTendon, rg_rangeSigned},
    [rg_sensorActuatorPosition] = {"actuatorpos", 1, rg_objectActuator, rg_rangeSigned},
    [rg_sensorActuatorVelocity] = {"actuatorvel", 1, rg_objectActuator, rg_rangeSigned},
    [rg_sensorActuatorForce] = {"actuatorfrc", 1, rg_objectActuator, rg_rangeSigned},
    [rg_sensorBallQuat] = {"ballquat", 4, rg_objectBall, rg_rangeUnit},
    [rg_sensorBallAngularVelocity] = {"ballangvel", 3, rg_objectBall, rg_rangeSigned},
    [rg_sensorFramePosition] = {"framepos", 3, rg_objectFrame, rg_rangeSigned},
    [rg_sensorFrameQuat] = {"framequat", 4, rg_objectFrame, rg_rangeUnit},
    [rg_sensorFrameLinearVelocity] = {"framelinvel", 3, rg_objectFrame, rg_rangeSigned},
    [rg_sensorFrameAngularVelocity] = {"frameangvel", 3, rg_objectFrame, rg_rangeSigned},
    [rg_sensorFrameLinearAcceleration] = {"framelinacc", 3, rg_objectFrame, rg_rangeSigned},
    [rg_sensorFrameAngularAcceleration] = {"frameangacc", 3, rg_objectFrame, rg_rangeSigned},
    [rg_sensorAccelerometer] = {"accelerometer", 3, rg_objectSite, rg_rangeSigned},
    [rg_sensorGyro] = {"gyro", 3, rg_objectSite, rg_rangeSigned},
    [rg_sensorVelocimeter] = {"velocimeter", 3, rg_objectSite, rg_rangeSigned},
    [rg_sensorForce] = {"force", 3, rg_objectSite, rg_rangeSigned},
    [rg_sensorTorque] = {"torque", 3, rg_objectSite, rg_rangeSigned},
    [rg_sensorTouch] = {"touch", 1, rg_objectSite, rg_rangeAboveZero},
    [rg_sensorSubtreeCenter] = {"subtreecom", 3, rg_objectSubtree, rg_rangeSigned},
    [rg_sensorSubtreeLinearVelocity] = {"subtreelinvel", 3, rg_objectSubtree, rg_rangeSigned},
    [rg_sensorSubtreeAngularMomentum] = {"subtreeangmom", 3, rg_objectSubtree, rg_rangeSigned},
    [rg_sensorTendonActuatorForce] = {"tendonactuatorfrc", 1, rg_objectTendon, rg_rangeSigned},
    [rg_sensorJointLimitPosition] = {"jointlimitpos", 1, rg_objectJoint, rg_rangeSigned},
    [rg_sensorJointLimitVelocity] = {"jointlimitvel", 1, rg_objectJoint, rg_rangeSigned},
    [rg_sensorJointLimitForce] = {"jointlimitfrc", 1, rg_objectJoint, rg_rangeAboveZero},
    [rg_sensorTendonLimitPosition] = {"tendonlimitpos", 1, rg_objectTendon, rg_rangeSigned},
    [rg_sensorTendonLimitVelocity] = {"tendonlimitvel", 1, rg_objectTendon, rg_rangeSigned},
    [rg_sensorTendonLimitForce] = {"tendonlimitfrc", 1, rg_objectTendon, rg_rangeAboveZero},
    [rg_sensorFrameXAxis] = {"framexaxis", 3, rg_objectFrame, rg_rangeUnit},
    [rg_sensorFrameYAxis] = {"frameyaxis", 3, rg_objectFrame, rg_rangeUnit},
    [rg_sensorFrameZAxis] = {"framezaxis", 3, rg_objectFrame, rg_rangeUnit},
    [rg_sensorMagnetometer] = {"magnetometer", 3, rg_objectSite, rg_rangeSigned},
    [rg_sensorRangefinder] = {"rangefinder", 1, rg_objectSite, rg_rangeAboveZero},
    [rg_sensorClock] = {"clock", 1, rg_objectNothing, rg_rangeSigned},
    [rg_sensorPotentialEnergy] = {"e_potential", 1, rg_objectNothing, rg_rangeSigned},
    [rg_sensorKineticEnergy] = {"e_kinetic", 1, rg_objectNothing, rg_rangeSigned},
    [rg_sensorContact] = {"contact", 0, rg_objectContacts, rg_rangeSigned},
};

const rgSensorTraits* rgSensorKind_Traits(rgSensorKind kind) {
    return (int)kind >= 0 && kind < rg_sensorKindCount ? &traits[kind] : &traits[0];
}

rgSensorKind rgSensorKind_Find(const char* name) {
    for (int k = rg_sensorNone + 1; k < rg_sensorKindCount; ++k) {
        if (strcmp(traits[k].name, name) == 0) {
            return (rgSensorKind)k;
        }
    }
    return rg_sensorNone;
}

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
    int contact = rgContactNumbersSize(def) * RG_MAX(def->contactCount, 1);
    return def->kind == rg_sensorNone      ? def->zeroCount
           : def->kind == rg_sensorContact ? contact
                                           : rgSensorKind_Traits(def->kind)->size;
}
