// State of a world: one block of numbers that save, restore and hash copy.
#pragma once
#include "model/model.h"
#include "rigor/world.h"

typedef struct rgSleep rgSleep;
typedef struct rgWarmStart rgWarmStart;

// Controls of an actuator with a delay, the latest first: where they are in the history, how many,
// and the share of the last one, whose rest is the one before it.
typedef struct rgDelay {
    int first, count;
    double share;
} rgDelay;

// Views into one block of numbers, in this order.
typedef struct rgState {
    double* block;
    int blockCount;
    double* time;       // 1
    double* q;          // qCount
    double* v;          // vCount, body coordinates
    double* control;    // actuatorCount
    double* activation; // activationCount
    double* force;      // vCount, body coordinates
    double* wrench;     // 6 per body: force and torque at the centre of mass, world axes
    double* asleep;     // per tree: 0 awake, 1 disabled, 2 and above a group that fell asleep
    double* kinematic;  // RG_KINEMATIC_NUMBERS per kinematic link
    double* isSet;      // per tree: 1 if its q or v were set since the last step
    double* change; // vCount, step coordinates, rates in the parent's axes: of v in the last step
    double* predictor; // vCount, step coordinates: half of the predicted change
    double* solved;    // per tree: 1 if the last step solved for its impulses, 0: accepted start
    double* impulse;   // per slot: warm start of rows that are no contacts
    double* slowTime;  // per tree, where sleep is an option: for how long it has been slow [s]
    double* history;   // historyCount: controls that have not acted yet
    int historyCount;
    rgDelay* delays; // not in the block; per actuator
} rgState;

static inline bool rgState_LinkIsDisabled(const rgState* state, const rgModel* model, int link) {
    int tree = model->links[link].tree;
    return tree >= 0 && state->asleep[tree] == 1;
}

bool rgNumbersAreFinite(const double* x, int count);
bool rgState_Create(rgWorld* world);
// Views of the parts of a block.
void rgViewState(const rgSleep* sleep, const rgWarmStart* warmStart, const rgModel* model,
                 int historyCount, double* block, rgState* state);
// The control that acts on an actuator now.
double rgState_Control(const rgState* state, int actuator);
// Append the controls of the step to the history of those that are delayed.
void rgWorld_CommitControls(rgWorld* world);
// True if the pose is finite and its quaternion has a length.
bool rgPoseIsUsable(rgPose pose);
// Write the checksum at the end of a saved state.
void rgSealState(void* bytes, size_t byteCount);

// ---- start.c
// The start configuration with loops closed, at rest; the neutral one where loops do not close with
// joints inside their limits. A note names joints that moved.
rgResult rgWorld_SetStart(rgWorld* world, rgDiagnostics* diagnostics);
