// All worlds of a mask on all threads. Every thread has a range of its own, which it visits again
// at the next call while it is warm, and steals from the others when that is done.
#include "batch/batch.h"

bool rgBatch_MaskFits(const rgBatch* batch, const rgWorldMask* mask) {
    return mask == NULL || (mask->on != NULL && mask->count == batch->worldCount);
}

void rgBatch_Stop(rgBatch* batch, int world, rgWorldFault fault) {
    rgWorldStatus* status = &batch->status[world];
    if (status->fault == rg_faultNone) {
        status->fault = fault;
        status->faultTime = batch->instances[world].block[0];
    }
}

typedef struct rgVisit {
    rgBatch* batch;
    rgVisitFcn* visit;
    void* context;
} rgVisit;

static uint64_t rgRange(int first, int end) {
    return (uint64_t)(uint32_t)first << 32 | (uint32_t)end;
}

// A part of the rest of a range: an eighth from its front for the owner, half from its end for
// a thief. False: it is empty.
static bool rgQueue_Pop(rgQueue* queue, bool steal, int* first, int* end) {
    uint64_t seen = atomic_load_explicit(&queue->range, memory_order_relaxed);
    for (;;) {
        int low = (int)(seen >> 32), high = (int)(uint32_t)seen, left = high - low;
        if (left <= 0) {
            return false;
        }
        int part = steal ? (left + 1) / 2 : (left + 7) / 8;
        *first = steal ? high - part : low;
        *end = *first + part;
        uint64_t rest = steal ? rgRange(low, high - part) : rgRange(low + part, high);
        if (atomic_compare_exchange_weak_explicit(&queue->range, &seen, rest, memory_order_relaxed,
                                                  memory_order_relaxed)) {
            return true;
        }
    }
}

static void rgVisit_World(const rgVisit* job, rgLane* lane, int world) {
    rgBatch* batch = job->batch;
    rgInstance* instance = &batch->instances[world];
    rgResult result = rgWorld_Bind(lane->world, instance);
    if (result == rg_ok) {
        job->visit(batch, lane, world, job->context);
        result = rgWorld_Unbind(lane->world, instance, &batch->allocator);
    }
    if (result != rg_ok) {
        rgBatch_Stop(batch, world, rg_faultMemory);
    }
}

static void rgVisit_Drain(const rgVisit* job, rgLane* lane, int queue, bool steal) {
    rgBatch* batch = job->batch;
    int first, end;
    while (rgQueue_Pop(&batch->queues[queue], steal, &first, &end)) {
        for (int i = first; i < end; ++i) {
            rgVisit_World(job, lane, batch->chosen[i]);
        }
    }
}

static void rgVisit_Run(int index, int worker, void* context) {
    const rgVisit* job = context;
    rgBatch* batch = job->batch;
    rgLane* lane = &batch->lanes[worker];
    rgVisit_Drain(job, lane, index, false);
    for (int k = 1; k < batch->laneCount; ++k) {
        rgVisit_Drain(job, lane, (index + k) % batch->laneCount, true);
    }
}

rgResult rgBatch_Visit(rgBatch* batch, const rgWorldMask* mask, bool faulty, rgVisitFcn* visit,
                       void* context) {
    if (batch == NULL || !rgBatch_MaskFits(batch, mask)) {
        return rg_errorArgument;
    }
    int count = 0;
    for (int i = 0; i < batch->worldCount; ++i) {
        if (rgMask_Has(mask, i) && (faulty || batch->status[i].fault == rg_faultNone)) {
            batch->chosen[count++] = i;
        }
    }
    int lanes = batch->laneCount;
    for (int k = 0; k < lanes; ++k) {
        int first = (int)((int64_t)count * k / lanes),
            end = (int)((int64_t)count * (k + 1) / lanes);
        atomic_store_explicit(&batch->queues[k].range, rgRange(first, end), memory_order_relaxed);
    }
    rgVisit job = {batch, visit, context};
    rgTasks_Run(&batch->def.tasks, lanes, rgVisit_Run, &job);
    return rg_ok;
}
