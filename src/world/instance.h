// Data of a world that last from step to step.
#pragma once
#include "world/monitor.h"
#include "world/state.h"
#include "world/warmstart.h"

// Instance: the data of a world that persist from step to step; the rest derives from the model or
// is computed anew. A batch keeps one per world, and binds them one after the other to the world of
// a thread, which steps them to the bits that a world of their own would have.
typedef struct rgInstance {
    double* block;   // of rgState
    rgMemory memory; // arrays of the batch
    rgMonitor monitor;
    bool wrenched;
    unsigned changed; // bits of rgChangeKind
    double* changes;  // their numbers; an array of the batch
    int changeCapacity;
} rgInstance;

// Bind an instance to the world: its block becomes the state, and no last step is known. Unbind
// gives back the data that steps changed; its arrays grow by the allocator.
rgResult rgWorld_Bind(rgWorld* world, const rgInstance* instance);
rgResult rgWorld_Unbind(rgWorld* world, rgInstance* instance, const rgAllocator* allocator);
