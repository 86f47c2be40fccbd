// Batches of worlds on a device: state in and out, steps, and what is left to rgWorld.
#include "device/worlds.h"

#include <math.h>
#include <string.h>

#define RG_DEVICE_BATCH_COOKIE 0x44424154u
#define RG_HOST_LANE_BYTES     (227 * 1024) // as on the largest device, so that hosts do the same

_Static_assert((int)rg_hostReasonCount == (int)rg_manyReasonCount, "reasons");

rgDeviceBatchDef rgDefaultDeviceBatchDef(void) {
    return (rgDeviceBatchDef){
        .worldCount = 1, .world = rgDefaultWorldDef(), .cookie = RG_DEVICE_BATCH_COOKIE};
}

const char* rgHostReason_Name(rgHostReason reason) {
    static const char* const names[] = {"none",     "start",       "fast",   "shapes", "curved",
                                        "rolling",  "restitution", "points", "rows",   "passes",
                                        "unsolved", "projection",  "flight", "numbers"};
    return (int)reason >= 0 && (int)reason < RG_COUNT(names) ? names[reason] : "unknown";
}

// ---- create and destroy

// Numbers of one world at first.
static void rgFillStart(const rgDeviceBatch* batch, const rgWorld* world, double* x) {
    const rgManyState* at = &batch->plan.state;
    memcpy(x + at->q, world->state.q, (size_t)batch->plan.qCount * sizeof(double));
    for (int t = 0; t < batch->plan.treeCount; ++t) {
        x[at->isSet + t] = 1;
    }
}

// Worlds of a list, or all where it is NULL, as they were at first.
static rgResult rgDeviceBatch_Restart(rgDeviceBatch* batch, const int* list, int count);

static rgResult rgDeviceBatch_Allocate(rgDeviceBatch* batch) {
    const rgAllocator* allocator = &batch->allocator;
    const rgManySizes* sizes = &batch->sizes;
    size_t worlds = (size_t)batch->worldCount, stride = (size_t)batch->stride;
    batch->start = rgAllocate(allocator, (size_t)sizes->stateCount, sizeof(double));
    batch->faults = rgAllocate(allocator, worlds, 1);
    batch->left = rgAllocate(allocator, worlds, sizeof(int));
    batch->results = rgAllocate(allocator, worlds, sizeof(rgResult));
    batch->unsolved = rgAllocate(allocator, worlds, sizeof(bool));
    batch->memory = rgAllocate(allocator, (size_t)batch->workerCount, sizeof(double*));
    bool good = batch->start != NULL && batch->faults != NULL && batch->left != NULL &&
                batch->results != NULL && batch->unsolved != NULL && batch->memory != NULL;
    if (good && batch->device == NULL) {
        batch->state = rgAllocate(allocator, stride * (size_t)sizes->stateCount, sizeof(double));
        batch->stateInt = rgAllocate(allocator, stride * (size_t)sizes->stateIntCount, sizeof(int));
        good = batch->state != NULL && batch->stateInt != NULL;
    }
    for (int i = 0; good && batch->device == NULL && i < batch->workerCount; ++i) {
        batch->memory[i] = rgAllocate(allocator, rgManyHostBytes(sizes), 1);
        good = batch->memory[i] != NULL;
    }
    return good ? rg_ok : rg_errorMemory;
}

static rgResult rgDeviceBatch_Build(rgDeviceBatch* batch, rgDiagnostics* diagnostics) {
    rgWorldDef def = batch->def.world;
    def.allocator = batch->allocator;
    def.untimed = true;
    rgResult result = rg_ok;
    for (int i = 0; i < batch->workerCount && result == rg_ok; ++i) {
        result = rgCreateWorld(batch->model, &def, i == 0 ? diagnostics : NULL, &batch->worlds[i]);
    }
    if (result != rg_ok) {
        return result;
    }
    int64_t laneBytes = RG_HOST_LANE_BYTES;
    if (batch->def.device == rg_deviceCuda) {
        char why[RG_CUDA_WHY_SIZE];
        rgDeviceInfo info;
        batch->table = rgOpenCuda(why);
        bool found = batch->table != NULL && batch->table->count(why) > batch->def.deviceIndex &&
                     batch->table->info(batch->def.deviceIndex, &info) == rg_ok;
        if (!found) {
            rgDiagnostics_Add(diagnostics, rg_severityError, NULL, 0, "cuda device %d: %s",
                              batch->def.deviceIndex, why[0] != '\0' ? why : "there is none");
            return rg_errorUnsupported;
        }
        laneBytes = RG_MIN(laneBytes, info.sharedMemory);
    }
    result = rgWorld_Forward(batch->worlds[0], NULL); // finds the coupling of free.3
    if (result == rg_ok) {
        result = rgManyPlan(batch, batch->worlds[0], laneBytes, diagnostics);
    }
    batch->sizes.worldCount = batch->worldCount;
    batch->sizes.stride = batch->stride = batch->worldCount;
    if (result == rg_ok && batch->table != NULL) {
        char why[RG_CUDA_WHY_SIZE] = "";
        batch->sizes.stride = batch->stride = (batch->worldCount + 31) / 32 * 32;
        result = batch->table->worlds->create(batch->def.deviceIndex, &batch->plan, batch->block,
                                              &batch->sizes, &batch->device, why);
        if (result != rg_ok) {
            rgDiagnostics_Add(diagnostics, rg_severityError, NULL, 0, "cuda device %d: %s",
                              batch->def.deviceIndex, why);
        }
    }
    result = result == rg_ok ? rgDeviceBatch_Allocate(batch) : result;
    if (result == rg_ok) {
        rgFillStart(batch, batch->worlds[0], batch->start);
        result = rgDeviceBatch_Restart(batch, NULL, batch->worldCount);
    }
    return result;
}

rgResult rgCreateDeviceBatch(const rgModel* model, const rgDeviceBatchDef* def,
                             rgDiagnostics* diagnostics, rgDeviceBatch** batch) {
    if (model == NULL || def == NULL || batch == NULL || def->cookie != RG_DEVICE_BATCH_COOKIE ||
        def->worldCount < 1 || (int)def->device < 0 || def->device >= rg_deviceKindCount ||
        def->deviceIndex < 0 || (def->device == rg_deviceHost && def->deviceIndex > 0) ||
        def->maxRows < 0 || def->world.tasks.run != NULL) {
        return rg_errorArgument;
    }
    rgDeviceBatch* made = rgAllocate(&def->allocator, 1, sizeof(rgDeviceBatch));
    if (made == NULL) {
        return rg_errorMemory;
    }
    made->def = *def;
    made->allocator = rgResolveAllocator(&def->allocator);
    made->model = model;
    made->worldCount = def->worldCount;
    made->workerCount = RG_MAX(def->tasks.workerCount, 1);
    made->worlds = rgAllocate(&made->allocator, (size_t)made->workerCount, sizeof(rgWorld*));
    rgResult result =
        made->worlds != NULL ? rgDeviceBatch_Build(made, diagnostics) : rg_errorMemory;
    if (result != rg_ok) {
        rgDestroyDeviceBatch(made);
        return result;
    }
    *batch = made;
    return rg_ok;
}

void rgDestroyDeviceBatch(rgDeviceBatch* batch) {
    if (batch == NULL) {
        return;
    }
    rgAllocator allocator = batch->allocator;
    if (batch->device != NULL) {
        batch->table->worlds->destroy(batch->device);
    }
    for (int i = 0; i < batch->workerCount; ++i) {
        if (batch->worlds != NULL) {
            rgDestroyWorld(batch->worlds[i]);
        }
        if (batch->memory != NULL) {
            rgRelease(&allocator, batch->memory[i]);
        }
    }
    void* arrays[] = {batch->worlds,  batch->memory,    batch->block,   batch->hostSlots,
                      batch->state,   batch->stateInt,  batch->start,   batch->faults,
                      batch->left,    batch->leftState, batch->leftInt, batch->results,
                      batch->unsolved};
    for (int i = 0; i < RG_COUNT(arrays); ++i) {
        rgRelease(&allocator, arrays[i]);
    }
    rgRelease(&allocator, batch);
}

// ---- state in and out

// Columns of all worlds, from first to before first + count, dense by world.
static rgResult rgDeviceBatch_Get(const rgDeviceBatch* batch, int first, int count, double* out) {
    size_t stride = (size_t)batch->stride;
    if (batch->device != NULL) {
        return batch->table->worlds->get(batch->device, first, count, out);
    }
    for (int i = 0; i < batch->worldCount; ++i) {
        for (int k = 0; k < count; ++k) {
            out[(size_t)i * (size_t)count + (size_t)k] =
                batch->state[(size_t)(first + k) * stride + (size_t)i];
        }
    }
    return rg_ok;
}

// All numbers of some worlds, dense by world, to the device or from it.
static rgResult rgDeviceBatch_Move(rgDeviceBatch* batch, const int* list, int count, bool back) {
    size_t stride = (size_t)batch->stride;
    int numbers = batch->sizes.stateCount, ints = batch->sizes.stateIntCount;
    if (batch->device != NULL) {
        return batch->table->worlds->move(batch->device, list, count, batch->leftState,
                                          batch->leftInt, back);
    }
    for (int i = 0; i < count; ++i) {
        double* x = batch->leftState + (size_t)i * (size_t)numbers;
        int* y = batch->leftInt + (size_t)i * (size_t)ints;
        for (int k = 0; k < numbers; ++k) {
            double* there = batch->state + (size_t)k * stride + (size_t)list[i];
            *(back ? there : &x[k]) = *(back ? &x[k] : there);
        }
        for (int k = 0; k < ints; ++k) {
            int* there = batch->stateInt + (size_t)k * stride + (size_t)list[i];
            *(back ? there : &y[k]) = *(back ? &y[k] : there);
        }
    }
    return rg_ok;
}

static rgResult rgDeviceBatch_Reserve(rgDeviceBatch* batch, int count) {
    if (count <= batch->leftCapacity) {
        return rg_ok;
    }
    count = RG_MIN(batch->worldCount, RG_MAX(2 * batch->leftCapacity, count));
    rgRelease(&batch->allocator, batch->leftState);
    rgRelease(&batch->allocator, batch->leftInt);
    size_t numbers = (size_t)batch->sizes.stateCount, ints = (size_t)batch->sizes.stateIntCount;
    batch->leftCapacity = 0;
    batch->leftState = rgAllocate(&batch->allocator, (size_t)count * numbers, sizeof(double));
    batch->leftInt = rgAllocate(&batch->allocator, (size_t)count * ints, sizeof(int));
    if (batch->leftState == NULL || batch->leftInt == NULL) {
        return rg_errorMemory;
    }
    batch->leftCapacity = count;
    return rg_ok;
}

// Worlds of the mask into the list `left`; their number.
static int rgDeviceBatch_List(rgDeviceBatch* batch, const rgWorldMask* mask) {
    int count = 0;
    for (int i = 0; i < batch->worldCount; ++i) {
        if (mask == NULL || mask->on[i] != 0) {
            batch->left[count++] = i;
        }
    }
    return count;
}

static rgResult rgDeviceBatch_Restart(rgDeviceBatch* batch, const int* list, int count) {
    rgResult result = rgDeviceBatch_Reserve(batch, count);
    if (list == NULL) {
        rgDeviceBatch_List(batch, NULL);
        list = batch->left;
    }
    if (result != rg_ok) {
        return result;
    }
    size_t numbers = (size_t)batch->sizes.stateCount, ints = (size_t)batch->sizes.stateIntCount;
    memset(batch->leftInt, 0, (size_t)count * ints * sizeof(int));
    for (int i = 0; i < count; ++i) {
        memcpy(batch->leftState + (size_t)i * numbers, batch->start, numbers * sizeof(double));
        batch->faults[list[i]] = 0;
    }
    return rgDeviceBatch_Move(batch, list, count, true);
}

static bool rgMaskFits(const rgDeviceBatch* batch, const rgWorldMask* mask) {
    return mask == NULL || (mask->on != NULL && mask->count == batch->worldCount);
}

rgResult rgDeviceBatch_Reset(rgDeviceBatch* batch, const rgWorldMask* mask) {
    if (batch == NULL || !rgMaskFits(batch, mask)) {
        return rg_errorArgument;
    }
    int count = rgDeviceBatch_List(batch, mask);
    return count > 0 ? rgDeviceBatch_Restart(batch, batch->left, count) : rg_ok;
}

// First number and count of an array; false: there is none.
static bool rgFindArray(const rgDeviceBatch* batch, rgBatchArray array, int* first, int* count) {
    const rgManyModel* m = &batch->plan;
    const struct {
        rgBatchArray array;
        int first, count;
    } arrays[] = {{rg_batchTime, m->state.time, 1},
                  {rg_batchPositions, m->state.q, m->qCount},
                  {rg_batchVelocities, m->state.v, m->vCount},
                  {rg_batchControls, m->state.control, m->driveCount},
                  {rg_batchForces, m->state.force, m->vCount}};
    for (int i = 0; i < RG_COUNT(arrays); ++i) {
        if (arrays[i].array == array) {
            *first = arrays[i].first;
            *count = arrays[i].count;
            return true;
        }
    }
    return false;
}

// Quaternions of a row of positions become unit ones; false: one has no length.
static bool rgNormalizeRow(const rgManyModel* m, double* q) {
    for (int i = 1; i < m->linkCount; ++i) {
        const rgManyLink* link = &m->links[i];
        double* x = q + link->q + (link->kind == rg_manyFree ? 3 : 0);
        if (link->kind != rg_manyFree && link->kind != rg_manySpherical) {
            continue;
        }
        double norm = sqrt(x[0] * x[0] + x[1] * x[1] + x[2] * x[2] + x[3] * x[3]);
        if (!(norm > 1e-9 && norm < 1e9)) {
            return false;
        }
        for (int k = 0; fabs(norm - 1) > 1e-15 && k < 4; ++k) {
            x[k] /= norm;
        }
    }
    return true;
}

// Rows of values into the worlds of the list, which are there. A state that was set starts anew.
static rgResult rgFillRows(rgDeviceBatch* batch, rgBatchArray array, const double* values,
                           int first, int columns, int count) {
    const rgManyModel* m = &batch->plan;
    for (int i = 0; i < count; ++i) {
        double* x = batch->leftState + (size_t)i * (size_t)batch->sizes.stateCount;
        const double* row = values + (size_t)batch->left[i] * (size_t)columns;
        for (int k = 0; k < columns; ++k) {
            if (!isfinite(row[k])) {
                return rg_errorArgument;
            }
            x[first + k] = row[k];
        }
        if (array == rg_batchPositions && !rgNormalizeRow(m, x + first)) {
            return rg_errorArgument;
        }
        if (array == rg_batchPositions || array == rg_batchVelocities) {
            memset(x + m->state.change, 0, (size_t)m->vCount * sizeof(double));
            memset(x + m->state.predictor, 0, (size_t)m->vCount * sizeof(double));
            for (int t = 0; t < m->treeCount; ++t) {
                x[m->state.isSet + t] = 1;
            }
        }
    }
    return rg_ok;
}

rgResult rgDeviceBatch_Write(rgDeviceBatch* batch, rgBatchArray array, const double* values,
                             size_t count, const rgWorldMask* mask) {
    int first, columns;
    if (batch == NULL || values == NULL || !rgMaskFits(batch, mask) ||
        !rgFindArray(batch, array, &first, &columns) ||
        count != (size_t)columns * (size_t)batch->worldCount) {
        return rg_errorArgument;
    }
    int some = rgDeviceBatch_List(batch, mask);
    rgResult result = rgDeviceBatch_Reserve(batch, some);
    if (some == 0 || columns == 0 || result != rg_ok) {
        return result;
    }
    result = rgDeviceBatch_Move(batch, batch->left, some, false);
    if (result == rg_ok) {
        result = rgFillRows(batch, array, values, first, columns, some);
    }
    return result == rg_ok ? rgDeviceBatch_Move(batch, batch->left, some, true) : result;
}

rgResult rgDeviceBatch_Read(const rgDeviceBatch* batch, rgBatchArray array, double* values,
                            size_t count) {
    int first, columns;
    if (batch == NULL || values == NULL || !rgFindArray(batch, array, &first, &columns) ||
        count != (size_t)columns * (size_t)batch->worldCount) {
        return rg_errorArgument;
    }
    return columns > 0 ? rgDeviceBatch_Get(batch, first, columns, values) : rg_ok;
}

rgDeviceView rgDeviceBatch_View(const rgDeviceBatch* batch, rgBatchArray array) {
    int first, columns;
    if (batch == NULL || !rgFindArray(batch, array, &first, &columns)) {
        return (rgDeviceView){0};
    }
    double* state =
        batch->device != NULL ? batch->table->worlds->state(batch->device) : batch->state;
    return (rgDeviceView){.data = state + (size_t)first * (size_t)batch->stride,
                          .device = batch->def.device,
                          .deviceIndex = batch->def.deviceIndex,
                          .rowCount = batch->worldCount,
                          .columnCount = columns,
                          .worldStride = 1,
                          .columnStride = batch->stride};
}

// ---- steps of the host

// From the device's numbers to a world.
static rgResult rgEnterWorld(const rgDeviceBatch* batch, rgWorld* world, const double* x,
                             const int* y) {
    const rgManyModel* m = &batch->plan;
    rgState* state = &world->state;
    rgMemory* memory = &world->warmStart.memories[0];
    const rgAllocator* allocator = &world->heap.allocator;
    int pairs = 0, contacts = y[m->stateInt.memoryCount];
    memset(state->block, 0, (size_t)state->blockCount * sizeof(double));
    *state->time = x[m->state.time];
    memcpy(state->q, x + m->state.q, (size_t)m->qCount * sizeof(double));
    memcpy(state->v, x + m->state.v, (size_t)m->vCount * sizeof(double));
    memcpy(state->control, x + m->state.control, (size_t)m->driveCount * sizeof(double));
    memcpy(state->force, x + m->state.force, (size_t)m->vCount * sizeof(double));
    memcpy(state->change, x + m->state.change, (size_t)m->vCount * sizeof(double));
    memcpy(state->predictor, x + m->state.predictor, (size_t)m->vCount * sizeof(double));
    memcpy(state->isSet, x + m->state.isSet, (size_t)m->treeCount * sizeof(double));
    for (int t = 0; t < m->treeCount; ++t) {
        state->solved[t] = 1;
    }
    for (int k = 0; k < m->slotCount; ++k) {
        state->impulse[batch->hostSlots[k]] = x[m->state.impulse + k];
    }
    rgResult result = rgReserve(allocator, (void**)&memory->pairs, &memory->pairCapacity, 0,
                                m->pairCount, sizeof(rgPairMemory));
    if (result == rg_ok) {
        result = rgReserve(allocator, (void**)&memory->contacts, &memory->contactCapacity, 0,
                           contacts, sizeof(rgContactMemory));
    }
    if (result != rg_ok) {
        return result;
    }
    for (int i = 0, at = 0; i < m->pairCount; ++i) {
        int seen = y[m->stateInt.pair + i], first = at;
        for (; at < contacts && y[m->stateInt.memoryPair + at] == i; ++at) {
            const double* push = x + m->state.memory + 4 * at;
            memory->contacts[at] =
                (rgContactMemory){.feature = (uint32_t)y[m->stateInt.memoryFeature + at],
                                  .rowCount = 3,
                                  .linear = rgVec(push[0], push[1], push[2]),
                                  .projection = push[3]};
        }
        if (seen != 0) {
            memory->pairs[pairs++] = (rgPairMemory){.a = m->pairs[i].a,
                                                    .b = m->pairs[i].b,
                                                    .firstContact = at > first ? first : 0,
                                                    .contactCount = at - first,
                                                    .overlap = (seen & 2) != 0,
                                                    .age = 1,
                                                    .energyTank = at > first ? -1 : 0};
        }
    }
    memory->pairCount = pairs;
    memory->contactCount = contacts;
    world->readout->evaluated = false;
    rgReadout_Invalidate(world->readout);
    rgMonitor_Reset(&world->monitor);
    return rg_ok;
}

// Back, once a step went well. false: the device has no room for the contacts; they are forgotten.
static void rgLeaveWorld(const rgDeviceBatch* batch, const rgWorld* world, double* x, int* y) {
    const rgManyModel* m = &batch->plan;
    const rgState* state = &world->state;
    const rgMemory* memory = &world->warmStart.memories[0];
    int count = 0, pair = 0;
    x[m->state.time] = *state->time;
    memcpy(x + m->state.q, state->q, (size_t)m->qCount * sizeof(double));
    memcpy(x + m->state.v, state->v, (size_t)m->vCount * sizeof(double));
    memcpy(x + m->state.change, state->change, (size_t)m->vCount * sizeof(double));
    memcpy(x + m->state.predictor, state->predictor, (size_t)m->vCount * sizeof(double));
    memcpy(x + m->state.isSet, state->isSet, (size_t)m->treeCount * sizeof(double));
    for (int k = 0; k < m->slotCount; ++k) {
        x[m->state.impulse + k] = state->impulse[batch->hostSlots[k]];
    }
    for (int i = 0; i < m->pairCount; ++i) {
        y[m->stateInt.pair + i] = 0;
    }
    for (int p = 0; p < memory->pairCount; ++p) {
        const rgPairMemory* from = &memory->pairs[p];
        while (pair < m->pairCount &&
               (m->pairs[pair].a != from->a || m->pairs[pair].b != from->b)) {
            ++pair;
        }
        if (pair == m->pairCount) {
            break; // both lists have one order, and each pair is in the device's
        }
        y[m->stateInt.pair + pair] = from->overlap != 0 ? 3 : 1;
        for (int k = 0; k < from->contactCount && count < m->pointCapacity; ++k, ++count) {
            const rgContactMemory* contact = &memory->contacts[from->firstContact + k];
            double* push = x + m->state.memory + 4 * count;
            push[0] = contact->linear.x, push[1] = contact->linear.y, push[2] = contact->linear.z;
            push[3] = contact->projection;
            y[m->stateInt.memoryPair + count] = pair;
            y[m->stateInt.memoryFeature + count] = (int)contact->feature;
        }
    }
    y[m->stateInt.memoryCount] = count;
}

rgResult rgDeviceBatch_TakeWorld(rgDeviceBatch* batch, int index, const rgWorld* world) {
    const rgManyModel* m = &batch->plan;
    rgResult result = rgDeviceBatch_Reserve(batch, 1);
    if (result == rg_ok) {
        result = rgDeviceBatch_Move(batch, &index, 1, false);
    }
    if (result != rg_ok) {
        return result;
    }
    rgLeaveWorld(batch, world, batch->leftState, batch->leftInt);
    memcpy(batch->leftState + m->state.control, world->state.control,
           (size_t)m->driveCount * sizeof(double));
    memcpy(batch->leftState + m->state.force, world->state.force,
           (size_t)m->vCount * sizeof(double));
    return rgDeviceBatch_Move(batch, &index, 1, true);
}

static void rgStepLeft(int index, int worker, void* context) {
    rgDeviceBatch* batch = context;
    rgWorld* world = batch->worlds[worker];
    double* x = batch->leftState + (size_t)index * (size_t)batch->sizes.stateCount;
    int* y = batch->leftInt + (size_t)index * (size_t)batch->sizes.stateIntCount;
    rgStepReport report = {0};
    rgResult result = rgEnterWorld(batch, world, x, y);
    if (result == rg_ok) {
        result = rgWorld_Step(world, &report);
    }
    batch->results[index] = result;
    batch->unsolved[index] = result == rg_ok && report.contact.status != rg_contactSolved;
    if (result == rg_ok) {
        rgLeaveWorld(batch, world, x, y);
    } else {
        y[batch->plan.stateInt.halted] = 1;
    }
}

static void rgRunTasks(const rgDeviceBatch* batch, int count, rgTaskFcn* task, void* context) {
    rgTasks_Run(&batch->def.tasks, count, task, context);
}

// Worlds in the list `left` by rgWorld_Step().
static rgResult rgDeviceBatch_StepLeft(rgDeviceBatch* batch, int count) {
    const rgManyModel* m = &batch->plan;
    rgResult result = rgDeviceBatch_Reserve(batch, count);
    if (result == rg_ok) {
        result = rgDeviceBatch_Move(batch, batch->left, count, false);
    }
    if (result != rg_ok) {
        return result;
    }
    rgRunTasks(batch, count, rgStepLeft, batch);
    for (int i = 0; i < count; ++i) {
        const int* y = batch->leftInt + (size_t)i * (size_t)batch->sizes.stateIntCount;
        int reason = y[m->stateInt.reason];
        bool memory = batch->results[i] == rg_errorMemory;
        result = memory ? rg_errorMemory : result;
        batch->report.reasonCount[reason] += 1;
        batch->report.hostCount += 1;
        batch->report.unconvergedCount += batch->unsolved[i];
        if (batch->results[i] != rg_ok && !batch->faults[batch->left[i]]) {
            batch->faults[batch->left[i]] = 1;
        }
    }
    rgResult moved = rgDeviceBatch_Move(batch, batch->left, count, true);
    return result != rg_ok ? result : moved;
}

// ---- steps

static void rgStepOnHost(int index, int worker, void* context) {
    rgDeviceBatch* batch = context;
    int* stateInt = batch->stateInt + index;
    if (batch->faults[index] == 0) {
        rgManyHostStep(&batch->plan, &batch->sizes, batch->state + index, stateInt,
                       batch->memory[worker]);
    }
}

static rgResult rgDeviceBatch_StepOnce(rgDeviceBatch* batch) {
    int count = 0, faults = 0;
    for (int i = 0; i < batch->worldCount; ++i) {
        faults += batch->faults[i] != 0;
    }
    if (batch->device != NULL) {
        char why[RG_CUDA_WHY_SIZE] = "";
        double seconds = 0;
        rgResult result =
            batch->table->worlds->step(batch->device, batch->left, &count, &seconds, why);
        batch->report.deviceTime += seconds;
        if (result != rg_ok) {
            return result;
        }
    } else {
        const rgManyStateInt* at = &batch->plan.stateInt;
        double clock = rgSeconds();
        rgRunTasks(batch, batch->worldCount, rgStepOnHost, batch);
        batch->report.deviceTime += rgSeconds() - clock;
        for (int i = 0; i < batch->worldCount; ++i) {
            int reason = batch->stateInt[(size_t)at->reason * (size_t)batch->stride + (size_t)i];
            if (batch->faults[i] == 0 && reason != rg_manyDone) {
                batch->left[count++] = i;
            }
        }
    }
    batch->report.stepCount += batch->worldCount - faults;
    return count > 0 ? rgDeviceBatch_StepLeft(batch, count) : rg_ok;
}

rgResult rgDeviceBatch_Step(rgDeviceBatch* batch, int stepCount) {
    if (batch == NULL || stepCount < 0) {
        return rg_errorArgument;
    }
    rgResult result = rg_ok;
    batch->report.deviceTime = 0;
    for (int k = 0; k < stepCount && result == rg_ok; ++k) {
        result = rgDeviceBatch_StepOnce(batch);
    }
    return result;
}

// ---- reports

rgDeviceBatchReport rgDeviceBatch_Report(const rgDeviceBatch* batch) {
    if (batch == NULL) {
        return (rgDeviceBatchReport){0};
    }
    rgDeviceBatchReport report = batch->report;
    for (int i = 0; i < batch->worldCount; ++i) {
        report.faultCount += batch->faults[i] != 0;
    }
    if (batch->device != NULL) {
        batch->table->worlds->most(batch->device, &report.mostRows, &report.worstResidual);
        return report;
    }
    size_t stride = (size_t)batch->stride;
    const double* residual = batch->state + (size_t)batch->plan.state.residual * stride;
    const int* rows = batch->stateInt + (size_t)batch->plan.stateInt.mostRows * stride;
    for (int i = 0; i < batch->worldCount; ++i) {
        report.worstResidual = RG_MAX(report.worstResidual, residual[i]);
        report.mostRows = RG_MAX(report.mostRows, rows[i]);
    }
    return report;
}

rgResult rgDeviceBatch_Faults(const rgDeviceBatch* batch, uint8_t* faults, size_t count) {
    if (batch == NULL || faults == NULL || count != (size_t)batch->worldCount) {
        return rg_errorArgument;
    }
    memcpy(faults, batch->faults, count);
    return rg_ok;
}
