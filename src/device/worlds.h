// Private view of a batch on a device: its plan, and who runs it.
#pragma once
#include "device/backend.h"
#include "rigor/device_batch.h"
#include "world/world.h"

struct rgDeviceBatch {
    rgDeviceBatchDef def;
    rgAllocator allocator;
    const rgModel* model;
    rgManyModel plan; // pointers into plan's block
    rgManySizes sizes;
    char* block;
    int* hostSlots;         // plan.slotCount
    int worldCount, stride; // worlds, and what they are apart
    int workerCount;
    rgWorld** worlds;         // per worker
    const rgCudaTable* table; // NULL: the host
    rgManyDevice* device;
    double* state; // on the host; for another device a copy of some worlds
    int* stateInt;
    double* start;   // numbers of one world at first
    uint8_t* faults; // worldCount
    int* left;       // worldCount: worlds that the host steps
    double* leftState;
    int* leftInt;
    rgResult* results; // per world that is left
    bool* unsolved;
    int leftCapacity;
    double** memory; // per worker, host's lanes: work, problem and lanes
    rgDeviceBatchReport report;
};

// flatten.c: the plan of a model, from a world of it. Remarks name what the device does not have.
rgResult rgManyPlan(rgDeviceBatch* batch, const rgWorld* world, int64_t laneBytes,
                    rgDiagnostics* diagnostics);

// worlds.c: take a world as it is, without what the device does not have; for tests.
rgResult rgDeviceBatch_TakeWorld(rgDeviceBatch* batch, int index, const rgWorld* world);
