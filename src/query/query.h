// Answers of a world, shared by the readers of reactions and sensors.
#pragma once
#include "rigor/query.h"
#include "world/world.h"

// ---- reaction.c
// Wrench of the parent per body, about the world's origin.
const rgSpatial* rgWorld_Reactions(const rgWorld* world);
// Torque of torsion and rolling on B.
rgVec3 rgContactTorque(const rgContact* contact, double dt);

// ---- contact_sensor.c
// True if the body is `top` or below it; top -1: the world.
bool rgModel_IsBelow(const rgModel* model, int body, int top);
void rgReadContactSensor(const rgWorld* world, const rgSensorDef* def, double* out);
