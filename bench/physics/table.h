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

typedef void rgPhysicsReportFcn(void* context, int done, int total, const char* name);

// Run the rows whose name holds the text (NULL: all), without slow ones if quick; returns their
// number. The function, which may be NULL, gets the name of the next row.
int rgPhysics_Run(const char* only, bool quick, rgPhysicsRow rows[rg_physicsCapacity],
                  rgPhysicsReportFcn* report, void* context);
