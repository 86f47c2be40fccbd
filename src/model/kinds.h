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

// Object that a sensor measures.
typedef enum rgSensorObject {
    rg_objectNothing,
    rg_objectJoint, // revolute or prismatic
    rg_objectBall,  // spherical joint
    rg_objectTendon,
    rg_objectActuator,
    rg_objectSite,    // frame, or the frame of a body
    rg_objectFrame,   // the same, seen from a reference
    rg_objectSubtree, // body and all below it
    rg_objectContacts,
} rgSensorObject;

// Range of a reading, which decides how a cutoff applies.
typedef enum rgSensorRange {
    rg_rangeSigned,
    rg_rangeAboveZero, // cut from above only
    rg_rangeUnit,      // directions and orientations, never cut
} rgSensorRange;

typedef struct rgSensorTraits {
    const char* name; // MJCF's element
    int size;         // count of numbers; contacts: by the definition
    rgSensorObject object;
    rgSensorRange range;
} rgSensorTraits;

const rgSensorTraits* rgSensorKind_Traits(rgSensorKind kind); // sensor.c
rgSensorKind rgSensorKind_Find(const char* name);             // by MJCF's element; rg_sensorNone
bool rgShapeDef_HasBelt(const rgShapeDef* def);               // its surface moves past it. model.c
int rgSensorDef_Size(const rgSensorDef* def);                 // numbers that it reads. sensor.c
