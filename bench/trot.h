// A quadruped that trots over a steep height field: a reactive controller for scenes with many
// breaking and sliding contacts.
#pragma once
#include "rigor/rigor.h"

// The built-in quadruped with servos, on bumps on a slope of 20 degrees.
rgResult rgBuildTrot(rgModelDef** def);

typedef struct rgTrot {
    int joints[4][3];    // place in q of spread, hip and knee of each leg
    int actuators[4][3]; // servos of the four legs
    rgBodyId feet[4], trunk;
    double control[64];
    int controlCount;
} rgTrot;

bool rgTrot_Init(rgTrot* trot, const rgModel* model);
// Targets of the servos for the next step.
void rgTrot_Control(rgTrot* trot, rgWorld* world);
