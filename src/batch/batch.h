// Private view of a batch: the states of all worlds, and per thread one world that is each of them
// in turn.
#pragma once
#include "rigor/batch.h"
#include "world/world.h"

// Workspace of a thread.
typedef struct rgLane {
    rgWorld* world;
    rgState home;  // the world's own, unused
    double* saved; // scratch, qCount
} rgLane;

// Places in the list of chosen worlds that a thread has still to visit: the first in the upper
// half, the end in the lower one. Others steal from the end. A cache line of its own.
typedef struct rgQueue {
    _Atomic uint64_t range;
    char padding[RG_ALIGNMENT - sizeof(uint64_t)];
} rgQueue;

// Contacts of one world's last step.
typedef struct rgContactList {
    rgContact* contacts;
    int count, capacity;
} rgContactList;

struct rgBatch {
    rgAllocator allocator;
    rgBatchDef def;
    const rgModel* model;
    int worldCount;
    int laneCount;
    rgLane* lanes;
    rgQueue* queues;       // laneCount
    int stride;            // numbers from block to block
    double* blocks;        // worldCount x stride
    rgInstance* instances; // worldCount
    rgWorldStatus* status; // worldCount
    int* chosen;           // worldCount: worlds that the present call visits
    int sensorSize;
    double* sensors;         // worldCount x sensorSize, with keepSensors
    rgContactList* contacts; // worldCount, with keepContacts
};

// One world, entered in the lane.
typedef void rgVisitFcn(rgBatch* batch, rgLane* lane, int world, void* context);

// visit.c: enter every world of the mask and leave it again, on all threads. Worlds with a fault
// only where they are wanted.
rgResult rgBatch_Visit(rgBatch* batch, const rgWorldMask* mask, bool faulty, rgVisitFcn* visit,
                       void* context);
bool rgBatch_MaskFits(const rgBatch* batch, const rgWorldMask* mask);
// arrays.c: whether values are N rows of so many columns; a message if not.
bool rgBatch_RowsFit(const rgBatch* batch, const char* what, const double* values, size_t count,
                     int columnCount, const rgWorldMask* mask, rgDiagnostics* diagnostics);
static inline bool rgMask_Has(const rgWorldMask* mask, int world) {
    return mask == NULL || mask->on[world] != 0;
}
void rgBatch_Stop(rgBatch* batch, int world, rgWorldFault fault);

// Restart a world: reset its status and its counters.
void rgBatch_ResetWorld(rgBatch* batch, rgLane* lane, int world);
// Sensors and contacts of the world that is entered.
void rgBatch_Keep(rgBatch* batch, rgLane* lane, int world);
