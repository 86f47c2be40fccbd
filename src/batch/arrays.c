// Numbers of all worlds: stacked arrays in and out, reset, restore.
#include "batch/batch.h"

#include <string.h>

// ---- where they are

rgBatchView rgBatch_View(const rgBatch* batch, rgBatchArray array) {
    if (batch == NULL) {
        return (rgBatchView){0};
    }
    const rgModelInfo* info = &batch->model->info;
    rgState state;
    const rgWorld* world = batch->lanes[0].world;
    rgViewState(&world->sleep, &world->warmStart, world->model, world->state.historyCount,
                batch->blocks, &state);
    rgBatchView view = {.rowCount = batch->worldCount, .stride = batch->stride};
    switch (array) {
    case rg_batchTime:
        view.data = state.time, view.columnCount = 1;
        break;
    case rg_batchPositions:
        view.data = state.q, view.columnCount = info->qCount;
        break;
    case rg_batchVelocities:
        view.data = state.v, view.columnCount = info->vCount;
        break;
    case rg_batchControls:
        view.data = state.control, view.columnCount = info->actuatorCount;
        break;
    case rg_batchActivations:
        view.data = state.activation, view.columnCount = info->activationCount;
        break;
    case rg_batchForces:
        view.data = state.force, view.columnCount = info->vCount;
        break;
    case rg_batchSensors:
        view.data = batch->sensors, view.stride = batch->sensorSize;
        view.columnCount = batch->sensors != NULL ? batch->sensorSize : 0;
        break;
    default:
        view = (rgBatchView){0};
        break;
    }
    return view;
}

rgResult rgBatch_Read(const rgBatch* batch, rgBatchArray array, double* values, size_t count) {
    rgBatchView view = batch != NULL ? rgBatch_View(batch, array) : (rgBatchView){0};
    size_t columns = (size_t)view.columnCount;
    if (view.rowCount == 0 || count != (size_t)view.rowCount * columns ||
        (count > 0 && values == NULL)) {
        return rg_errorArgument;
    }
    for (int i = 0; columns > 0 && i < view.rowCount; ++i) {
        memcpy(values + (size_t)i * columns, view.data + i * view.stride, columns * sizeof(double));
    }
    return rg_ok;
}

// ---- writing

typedef struct rgWrite {
    rgBatchArray array;
    const double* values;
    int columnCount;
} rgWrite;

static void rgWriteRow(rgBatch* batch, rgLane* lane, int i, void* context) {
    const rgWrite* write = context;
    const rgModel* model = batch->model;
    rgWorld* world = lane->world;
    const double* row = write->values + (size_t)i * (size_t)write->columnCount;
    rgResult result = rg_ok;
    switch (write->array) {
    case rg_batchTime:
        result = rgWorld_SetTime(world, row[0]);
        break;
    case rg_batchPositions:
        memcpy(lane->saved, world->state.v, (size_t)model->vCount * sizeof(double));
        result = rgWorld_SetState(world, row, lane->saved);
        break;
    case rg_batchVelocities:
        memcpy(lane->saved, world->state.q, (size_t)model->qCount * sizeof(double));
        result = rgWorld_SetState(world, lane->saved, row);
        break;
    case rg_batchControls:
        result = rgWorld_SetControl(world, row);
        break;
    case rg_batchActivations:
        result = rgWorld_SetActivation(world, row);
        break;
    default:
        result = rgWorld_SetForce(world, row);
        break;
    }
    bool state = write->array <= rg_batchVelocities;
    if (result != rg_ok) {
        rgBatch_Stop(batch, i, state ? rg_faultState : rg_faultControl);
    }
}

bool rgBatch_RowsFit(const rgBatch* batch, const char* what, const double* values, size_t count,
                     int columnCount, const rgWorldMask* mask, rgDiagnostics* diagnostics) {
    size_t wanted = (size_t)batch->worldCount * (size_t)columnCount;
    if (count != wanted || (count > 0 && values == NULL)) {
        rgDiagnostics_Add(diagnostics, rg_severityError, NULL, 0,
                          "batch: %s of %d worlds: %d x %d = %zu numbers are needed, not %zu", what,
                          batch->worldCount, batch->worldCount, columnCount, wanted,
                          values != NULL ? count : 0);
        return false;
    }
    if (!rgBatch_MaskFits(batch, mask)) {
        rgDiagnostics_Add(diagnostics, rg_severityError, NULL, 0,
                          "batch: a mask for %d worlds; the batch has %d", mask->count,
                          batch->worldCount);
        return false;
    }
    return true;
}

static const char* const rgArrayNames[] = {"times",  "positions", "velocities", "controls",
                                           "forces", "sensors",   "activations"};

rgResult rgBatch_Write(rgBatch* batch, rgBatchArray array, const double* values, size_t count,
                       const rgWorldMask* mask, rgDiagnostics* diagnostics) {
    if (batch == NULL || (int)array < 0 || array >= rg_batchArrayCount ||
        array == rg_batchSensors) {
        rgDiagnostics_Add(diagnostics, rg_severityError, NULL, 0,
                          "batch: no writable array has this name");
        return rg_errorArgument;
    }
    rgWrite write = {array, values, rgBatch_View(batch, array).columnCount};
    if (!rgBatch_RowsFit(batch, rgArrayNames[array], values, count, write.columnCount, mask,
                         diagnostics)) {
        return rg_errorArgument;
    }
    return count > 0 ? rgBatch_Visit(batch, mask, false, rgWriteRow, &write) : rg_ok;
}

// ---- starting anew

void rgBatch_ResetWorld(rgBatch* batch, rgLane* lane, int i) {
    rgWorld* world = lane->world;
    batch->status[i] = (rgWorldStatus){0};
    world->monitor = (rgMonitor){0};
    rgMonitor_Create(&world->monitor, &world->def, world->model);
    if (batch->contacts != NULL) {
        batch->contacts[i].count = 0;
    }
    if (batch->sensors != NULL) {
        memset(batch->sensors + (size_t)i * (size_t)batch->sensorSize, 0,
               (size_t)batch->sensorSize * sizeof(double));
    }
}

static void rgResetWorld(rgBatch* batch, rgLane* lane, int i, void* context) {
    const rgKeyId* key = context;
    rgBatch_ResetWorld(batch, lane, i);
    if (rgWorld_Reset(lane->world, *key) != rg_ok) {
        rgBatch_Stop(batch, i, rg_faultState);
    }
}

rgResult rgBatch_Reset(rgBatch* batch, rgKeyId key, const rgWorldMask* mask) {
    if (batch == NULL || key.index1 < 0 || key.index1 > batch->model->info.keyCount) {
        return rg_errorArgument;
    }
    return rgBatch_Visit(batch, mask, true, rgResetWorld, &key);
}

typedef struct rgBytes {
    const void* bytes;
    size_t count;
} rgBytes;

static void rgRestoreWorld(rgBatch* batch, rgLane* lane, int i, void* context) {
    const rgBytes* from = context;
    rgBatch_ResetWorld(batch, lane, i);
    if (rgWorld_Restore(lane->world, from->bytes, from->count) != rg_ok) {
        rgBatch_Stop(batch, i, rg_faultState);
    }
}

rgResult rgBatch_Restore(rgBatch* batch, const void* bytes, size_t byteCount,
                         const rgWorldMask* mask) {
    if (batch == NULL || bytes == NULL) {
        return rg_errorArgument;
    }
    // Into a state that nobody sees: the bytes are good for all worlds or for none.
    rgWorld* world = batch->lanes[0].world;
    world->state = batch->lanes[0].home;
    rgResult result = rgWorld_Restore(world, bytes, byteCount);
    rgBytes from = {bytes, byteCount};
    return result == rg_ok ? rgBatch_Visit(batch, mask, true, rgRestoreWorld, &from) : result;
}
