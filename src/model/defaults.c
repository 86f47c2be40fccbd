// Default values of every part of a definition. One place, so that the manual's table is true.
#include "model/def.h"

rgBodyDef rgDefaultBodyDef(void) {
    return (rgBodyDef){.pose = rgPoseIdentity(), .cookie = RG_COOKIE_BODY};
}

rgJointDef rgDefaultJointDef(void) {
    return (rgJointDef){.kind = rg_jointRevolute, .axis = {0, 0, 1}, .cookie = RG_COOKIE_JOINT};
}

rgMaterial rgDefaultMaterial(void) {
    return (rgMaterial){.mu = 0.7, .dimension = 3};
}

rgShapeDef rgDefaultShapeDef(void) {
    return (rgShapeDef){
        .pose = rgPoseIdentity(),
        .material = rgDefaultMaterial(),
        .group = 1,
        .mask = 1,
        .fluidCoefficients = {0.5, 0.25, 1.5, 1, 1},
        .color = {0.6f, 0.6f, 0.6f, 1},
        .cookie = RG_COOKIE_SHAPE,
    };
}

rgFrameDef rgDefaultFrameDef(void) {
    return (rgFrameDef){.pose = rgPoseIdentity(), .cookie = RG_COOKIE_FRAME};
}

rgTendonDef rgDefaultTendonDef(void) {
    return (rgTendonDef){.cookie = RG_COOKIE_TENDON};
}

rgActuatorDef rgDefaultActuatorDef(void) {
    return (rgActuatorDef){.gear = {1},
                           .gain = 1,
                           .muscle = {.range = {0.75, 1.05},
                                      .lmin = 0.5,
                                      .lmax = 1.6,
                                      .vmax = 1.5,
                                      .fpmax = 1.3,
                                      .fvmax = 1.2,
                                      .activationTime = 0.01,
                                      .deactivationTime = 0.04},
                           .cookie = RG_COOKIE_ACTUATOR};
}

rgEqualityDef rgDefaultEqualityDef(void) {
    return (rgEqualityDef){
        .poseA = rgPoseIdentity(), .poseB = rgPoseIdentity(), .cookie = RG_COOKIE_EQUALITY};
}

rgSensorDef rgDefaultSensorDef(void) {
    return (rgSensorDef){.cookie = RG_COOKIE_SENSOR};
}

rgKeyDef rgDefaultKeyDef(void) {
    return (rgKeyDef){.cookie = RG_COOKIE_KEY};
}

rgAttachDef rgDefaultAttachDef(void) {
    return (rgAttachDef){
        .pose = rgPoseIdentity(), .joint = rgDefaultJointDef(), .cookie = RG_COOKIE_ATTACH};
}
