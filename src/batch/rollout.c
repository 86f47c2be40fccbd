// Steps of all worlds: some at a time, open loop or closed loop, with recorded outputs.
#include "batch/batch.h"

#include <string.h>

#define RG_COOKIE_ROLLOUT 0x726f6c6cu

rgRolloutDef rgDefaultRolloutDef(void) {
    return (rgRolloutDef){.recordInterval = 1, .cookie = RG_COOKIE_ROLLOUT};
}

// Steps first to end of a rollout of def.stepCount steps.
typedef struct rgRollout {
    rgRolloutDef def;
    int first, end;
    int recordCount; // S
} rgRollout;

// ---- recording

static void rgRecordRow(double* array, const rgRollout* rollout, int world, int record,
                        const double* row, int count) {
    if (array == NULL || count == 0) {
        return;
    }
    double* to =
        array + ((size_t)world * (size_t)rollout->recordCount + (size_t)record) * (size_t)count;
    for (int k = 0; k < count; ++k) {
        to[k] = row != NULL ? row[k] : NAN;
    }
}

// world NULL: not a number.
static void rgRecord(const rgBatch* batch, const rgRollout* rollout, const rgWorld* world, int i,
                     int record) {
    const rgRolloutDef* def = &rollout->def;
    const double* sensors =
        world != NULL && def->sensors != NULL ? rgWorld_Sensors(world, NULL) : NULL;
    rgRecordRow(def->positions, rollout, i, record, world != NULL ? world->state.q : NULL,
                batch->model->qCount);
    rgRecordRow(def->velocities, rollout, i, record, world != NULL ? world->state.v : NULL,
                batch->model->vCount);
    rgRecordRow(def->sensors, rollout, i, record, sensors, batch->sensorSize);
    rgRecordRow(def->inputs, rollout, i, record,
                world != NULL ? rgWorld_Control(world, NULL) : NULL,
                batch->model->info.actuatorCount);
    double time = world != NULL ? rgWorld_Time(world) : NAN;
    rgRecordRow(def->times, rollout, i, record, &time, 1);
}

static void rgRecordFault(const rgBatch* batch, const rgRollout* rollout, int i, int step) {
    for (int k = step / rollout->def.recordInterval; k < rollout->recordCount; ++k) {
        rgRecord(batch, rollout, NULL, i, k);
    }
}

void rgBatch_Keep(rgBatch* batch, rgLane* lane, int i) {
    if (batch->sensors != NULL && batch->sensorSize > 0) {
        memcpy(batch->sensors + (size_t)i * (size_t)batch->sensorSize,
               rgWorld_Sensors(lane->world, NULL), (size_t)batch->sensorSize * sizeof(double));
    }
    if (batch->contacts != NULL) {
        rgContactList* list = &batch->contacts[i];
        int count = 0;
        const rgContact* contacts = rgWorld_Contacts(lane->world, &count);
        if (rgReserve(&batch->allocator, (void**)&list->contacts, &list->capacity, 0, count,
                      sizeof(rgContact)) != rg_ok) {
            rgBatch_Stop(batch, i, rg_faultMemory);
            count = 0;
        }
        if (count > 0) {
            memcpy(list->contacts, contacts, (size_t)count * sizeof(rgContact));
        }
        list->count = count;
    }
}

// ---- one world

// Restore the monitor after forward: its counts belong to steps.
static rgResult rgForward(rgWorld* world) {
    rgMonitor monitor = world->monitor;
    rgResult result = rgWorld_Forward(world, NULL);
    world->monitor = monitor;
    return result;
}

static rgWorldFault rgFaultOf(rgResult result) {
    return result == rg_errorMemory ? rg_faultMemory : rg_faultDiverged;
}

static rgWorldFault rgControl(const rgBatch* batch, const rgRollout* rollout, rgWorld* world, int i,
                              int step) {
    const rgRolloutDef* def = &rollout->def;
    size_t size = (size_t)batch->model->info.actuatorCount;
    if (def->controls != NULL) {
        size_t row = (size_t)i * (size_t)def->stepCount + (size_t)step;
        if (rgWorld_SetControl(world, def->controls + row * size) != rg_ok) {
            return rg_faultControl;
        }
    }
    bool good = def->each == NULL || def->each(world, i, step, def->context) == rg_ok;
    return good ? rg_faultNone : rg_faultCallback;
}

static void rgCount(rgWorldStatus* status, const rgWorld* world, const rgStepReport* report) {
    status->stepCount += 1;
    status->unconvergedCount = world->monitor.unconvergedCount;
    status->regularizedCount = world->monitor.regularizedCount;
    status->anomalies = world->monitor.health.anomalies;
    status->contactCount = report->contactCount;
    status->residual = RG_MAX(status->residual, report->contact.residual.total);
    status->penetration = RG_MAX(status->penetration, report->penetration);
}

static rgWorldFault rgStepOnce(rgBatch* batch, const rgRollout* rollout, rgLane* lane, int i,
                               int step) {
    rgStepReport report;
    rgWorldFault fault = rgControl(batch, rollout, lane->world, i, step);
    if (fault != rg_faultNone) {
        return fault;
    }
    rgResult result = rgWorld_Step(lane->world, &report);
    if (result != rg_ok) {
        return rgFaultOf(result);
    }
    if (!isfinite(report.contact.residual.total)) { // a mass of 1e300: impulses overflow
        return rg_faultDiverged;
    }
    rgCount(&batch->status[i], lane->world, &report);
    int interval = rollout->def.recordInterval, done = step + 1;
    if (done % interval == 0) {
        rgRecord(batch, rollout, lane->world, i, done / interval - 1);
    }
    return rg_faultNone;
}

static void rgRollWorld(rgBatch* batch, rgLane* lane, int i, void* context) {
    const rgRollout* rollout = context;
    rgWorldFault fault = rg_faultNone;
    if (rollout->def.each != NULL) {
        rgResult result = rgForward(lane->world);
        fault = result == rg_ok ? rg_faultNone : rgFaultOf(result);
    }
    int step = rollout->first;
    while (step < rollout->end && fault == rg_faultNone) {
        fault = rgStepOnce(batch, rollout, lane, i, step);
        step += fault == rg_faultNone;
    }
    if (step > rollout->first) {
        rgBatch_Keep(batch, lane, i);
    }
    if (fault != rg_faultNone) {
        rgBatch_Stop(batch, i, fault);
        rgRecordFault(batch, rollout, i, step);
    }
}

static void rgForwardWorld(rgBatch* batch, rgLane* lane, int i, void* context) {
    (void)context;
    rgResult result = rgForward(lane->world);
    rgBatch_Keep(batch, lane, i);
    if (result != rg_ok) {
        rgBatch_Stop(batch, i, rgFaultOf(result));
    }
}

// ---- all worlds

rgResult rgBatch_Forward(rgBatch* batch, const rgWorldMask* mask) {
    return rgBatch_Visit(batch, mask, false, rgForwardWorld, NULL);
}

rgResult rgBatch_Step(rgBatch* batch, int stepCount, const rgWorldMask* mask) {
    rgRollout rollout = {.def = rgDefaultRolloutDef(), .end = stepCount};
    return stepCount >= 0 ? rgBatch_Visit(batch, mask, false, rgRollWorld, &rollout)
                          : rg_errorArgument;
}

static bool rgCheckShape(rgDiagnostics* diagnostics, const char* what, const void* array,
                         size_t count, size_t wanted) {
    if (array == NULL || count == wanted) {
        return true;
    }
    rgDiagnostics_Add(diagnostics, rg_severityError, NULL, 0,
                      "rollout: the array of %s needs %zu numbers, not %zu", what, wanted, count);
    return false;
}

static bool rgCheckRollout(const rgBatch* batch, const rgRollout* rollout, const rgWorldMask* mask,
                           rgDiagnostics* diagnostics) {
    const rgRolloutDef* def = &rollout->def;
    const rgModelInfo* info = &batch->model->info;
    if (def->stepCount < 0 || def->recordInterval < 1) {
        rgDiagnostics_Add(diagnostics, rg_severityError, NULL, 0,
                          "rollout: %d steps, recorded after every %d", def->stepCount,
                          def->recordInterval);
        return false;
    }
    if (def->each != NULL && def->all != NULL) {
        rgDiagnostics_Add(diagnostics, rg_severityError, NULL, 0,
                          "rollout: one callback for each world or one for all, not both");
        return false;
    }
    if (!rgBatch_MaskFits(batch, mask)) {
        rgDiagnostics_Add(diagnostics, rg_severityError, NULL, 0,
                          "rollout: a mask for %d worlds; the batch has %d", mask->count,
                          batch->worldCount);
        return false;
    }
    size_t worlds = (size_t)batch->worldCount, records = worlds * (size_t)rollout->recordCount;
    size_t steps = worlds * (size_t)def->stepCount;
    bool good = rgCheckShape(diagnostics, "controls", def->controls, def->controlCount,
                             steps * (size_t)info->actuatorCount);
    good = rgCheckShape(diagnostics, "positions", def->positions, def->positionCount,
                        records * (size_t)info->qCount) &&
           good;
    good = rgCheckShape(diagnostics, "velocities", def->velocities, def->velocityCount,
                        records * (size_t)info->vCount) &&
           good;
    good = rgCheckShape(diagnostics, "inputs", def->inputs, def->inputCount,
                        records * (size_t)info->actuatorCount) &&
           good;
    good = rgCheckShape(diagnostics, "times", def->times, def->timeCount, records) && good;
    return rgCheckShape(diagnostics, "sensors", def->sensors, def->sensorCount,
                        records * (size_t)batch->sensorSize) &&
           good;
}

// Step all worlds together, since the callback needs all of them between steps.
static rgResult rgRollTogether(rgBatch* batch, rgRollout* rollout, const rgWorldMask* mask) {
    rgResult result = rg_ok;
    for (int step = 0; step < rollout->def.stepCount && result == rg_ok; ++step) {
        result = rollout->def.all(batch, step, rollout->def.context);
        if (result == rg_ok) {
            rollout->first = step;
            rollout->end = step + 1;
            result = rgBatch_Visit(batch, mask, false, rgRollWorld, rollout);
        }
    }
    return result;
}

rgResult rgBatch_Rollout(rgBatch* batch, const rgRolloutDef* def, const rgWorldMask* mask,
                         rgDiagnostics* diagnostics) {
    rgRollout rollout = {.def = def != NULL ? *def : rgDefaultRolloutDef()};
    if (batch == NULL || rollout.def.cookie != RG_COOKIE_ROLLOUT) {
        return rg_errorArgument;
    }
    int interval = rollout.def.recordInterval;
    rollout.end = rollout.def.stepCount;
    rollout.recordCount = interval > 0 ? rollout.end / interval : 0;
    if (!rgCheckRollout(batch, &rollout, mask, diagnostics)) {
        return rg_errorArgument;
    }
    for (int i = 0; i < batch->worldCount; ++i) {
        if (rgMask_Has(mask, i) && batch->status[i].fault != rg_faultNone) {
            rgRecordFault(batch, &rollout, i, 0);
        }
    }
    return rollout.def.all != NULL ? rgRollTogether(batch, &rollout, mask)
                                   : rgBatch_Visit(batch, mask, false, rgRollWorld, &rollout);
}
