// Kinds of parts that definitions and models hold.
#pragma once
#include "rigor/model.h"

typedef enum rgPartKind {
    rg_partBody,
    rg_partJoint,
    rg_partShape,
    rg_partFrame,
    rg_partTendon,
    rg_partActuator,
    rg_partEquality,
    rg_partSensor,
    rg_partKey,
    rg_partKindCount,
} rgPartKind;

// Numbers of a contact that a sensor may give, in the order of the bits of rgContactNumbers.
#define RG_CONTACT_NUMBER_KINDS 7
extern const int rgContactNumberSizes[RG_CONTACT_NUMBER_KINDS];
bool rgShapeDef_HasBelt(const rgShapeDef* def); // its surface moves past it. model.c
int rgSensorDef_Size(const rgSensorDef* def);   // numbers that it reads. sensor.c
