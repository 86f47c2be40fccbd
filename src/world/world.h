// Private view of a world: its rooms, and the stages of a step. docs/architecture.md, "Rooms of a
// world"; docs/theory/step.md.
#pragma once
#include "world/constraints.h"
#include "world/contacts.h"
#include "world/fast.h"
#include "world/free.h"
#include "world/heap.h"
#include "world/instance.h"
#include "world/kinematics.h"
#include "world/monitor.h"
#include "world/position.h"
#include "world/readout.h"
#include "world/rows.h"
#include "world/sleep.h"
#include "world/state.h"
#include "world/transmission.h"
#include "world/tuning.h"
#include "world/variant.h"
#include "world/warmstart.h"

typedef struct rgProjection rgProjection;   // project.h
typedef struct rgInverseWork rgInverseWork; // inverse.h

struct rgWorld {
    rgHeap heap;
    rgWorldDef def;
    const rgModel* model; // the shared one, or the variant's own
    rgVariant variant;
    rgSettings settings;
    rgState state;
    rgWarmStart warmStart;
    rgKinematics kinematics;
    rgContactSet contacts;
    rgFreeMotion free;
    rgFastTrees fast;
    rgTransmission transmission;
    rgConstraintSet constraints;
    rgNext next;
    rgProjection* projection;
    rgSleep sleep;
    rgMonitor monitor;
    rgReadout* readout;
    rgInverseWork* inverse;                // rgWorld_Inverse, NULL before the first call
    struct rgLinearization* linearization; // rgWorld_Derivatives, NULL before the first call
};

// ---- world.c
bool rgCheckWorldDef(const rgWorldDef* def, rgDiagnostics* diagnostics);
// Settings and sizes from the definition of the world.
void rgWorld_SetConstants(rgWorld* world);
// Plans of the rooms from the model; again after parameters change.
void rgWorld_Plan(rgWorld* world);

// Step in progress.
typedef struct rgStep {
    rgWorld* world;
    rgStepReport* report;
    rgResult result;
    int pass;           // of assembly, solve and velocity, from 0
    bool isInverse;     // rgWorld_Inverse: the state stays
    bool resumes;       // rgRevise: the next pass starts from the impulses of this one
    bool movesFreely;   // rgRevise: v_free changes in the next pass
    int iterationCount; // of all passes
    int factorizationCount;
    bool timed;
    double clock; // at the end of the last stage, if it is timed
} rgStep;

typedef rgResult rgStageFcn(rgStep* step);

// Stages, in order.
rgResult rgUpdateKinematics(rgStep* step);    // kinematics.c
rgResult rgFindContacts(rgStep* step);        // contacts.c
rgResult rgComputeFreeVelocity(rgStep* step); // free.c
rgResult rgAssembleProblem(rgStep* step);     // constraints.c
rgResult rgSolveProblem(rgStep* step);        // constraints.c
rgResult rgUpdateVelocity(rgStep* step);      // position.c
bool rgRevise(rgStep* step);                  // revise.c: true: another pass of the last three
rgResult rgStoreContactState(rgStep* step);   // position.c
rgResult rgIntegratePositions(rgStep* step);  // position.c
rgResult rgProjectPosition(rgStep* step);     // project.c
rgResult rgUpdateBodyVelocity(rgStep* step);  // position.c

// ---- step.c
// A step up to its new state, which is not committed; then commit it.
rgStep rgWorld_EvaluateStep(rgWorld* world, rgStepReport* report);
rgResult rgWorld_CommitStep(rgStep* step);

// ---- project.c, inverse.c, linearize.c
rgResult rgProjection_Create(rgWorld* world);
void rgProjection_Destroy(rgProjection* projection, const rgAllocator* allocator);
void rgInverse_Destroy(rgWorld* world);
void rgLinearization_Destroy(rgWorld* world);
