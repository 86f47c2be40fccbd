// All experiments with known answers, run.
#pragma once
#include "physics.h"

typedef struct rgPhysicsRow {
    const char* subject;
    const rgPhysicsTest* experiment;
    rgOutcome outcome;
    double seconds;
    bool passes;
} rgPhysicsRow;

enum { rg_physicsCapacity = 256 };

typedef void rgPhysicsTellFcn(void* context, int done, int total, const char* name);

// Those whose name holds the text (NULL: all), without slow ones if quick; their number. The
// function, which may be NULL, is told what comes next.
int rgPhysics_Run(const char* only, bool quick, rgPhysicsRow rows[rg_physicsCapacity],
                  rgPhysicsTellFcn* tell, void* context);
