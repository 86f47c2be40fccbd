// Tapes of rollouts: states that are kept, and gradients through all steps with the adjoint of each
// (step_derivatives.22).
#include "rigor/tape.h"

#include "batch/batch.h"

#include <string.h>

#define RG_COOKIE_TAPE 0x74617065u

// States of one world, one after the other, each a whole number of units.
typedef struct rgTrack {
    char* bytes;
    int capacity, used; // units of RG_ALIGNMENT
    int* places;        // units, per state
    int* sizes;         // bytes, per state
    double *q, *v;      // (T + 1) rows
    bool isWhole;       // all steps were taken
} rgTrack;

struct rgTape {
    rgAllocator allocator;
    const rgModel* model;
    rgTapeDef def; // its arrays are copies
    int worldCount, stateCount;
    rgTrack* tracks;
    double* controls;
    rgQuantity* parameters;
};

rgTapeDef rgDefaultTapeDef(void) {
    return (rgTapeDef){.stateInterval = 1, .cookie = RG_COOKIE_TAPE};
}

// ---- making

void rgDestroyTape(rgTape* tape) {
    if (tape == NULL) {
        return;
    }
    rgAllocator allocator = tape->allocator;
    for (int i = 0; i < tape->worldCount && tape->tracks != NULL; ++i) {
        rgTrack* track = &tape->tracks[i];
        void* all[] = {track->bytes, track->places, track->sizes, track->q, track->v};
        for (int k = 0; k < RG_COUNT(all); ++k) {
            rgRelease(&allocator, all[k]);
        }
    }
    rgRelease(&allocator, tape->tracks);
    rgRelease(&allocator, tape->controls);
    rgRelease(&allocator, tape->parameters);
    rgRelease(&allocator, tape);
}

static rgDerivativeDef rgTape_Columns(const rgTapeDef* def, const rgQuantity* parameters) {
    rgDerivativeDef out = rgDefaultDerivativeDef();
    out.by |= rg_byTrend | (def->parameterCount > 0 ? rg_byParameters : 0u);
    out.parameters = parameters;
    out.parameterCount = def->parameterCount;
    out.heldGaps = def->heldGaps;
    out.smoothing = def->smoothing;
    return out;
}

static bool rgTapeDefFits(const rgModel* model, const rgTapeDef* def, int worldCount) {
    if (def->cookie != RG_COOKIE_TAPE || def->stepCount < 0 || def->stateInterval < 1 ||
        def->parameterCount < 0 || (def->parameterCount > 0 && def->parameters == NULL)) {
        return false;
    }
    size_t count = (size_t)worldCount * (size_t)def->stepCount;
    rgDerivativeDef columns = rgTape_Columns(def, def->parameters);
    return (def->controls == NULL ||
            def->controlCount == count * (size_t)model->info.actuatorCount) &&
           rgModel_DerivativeColumns(model, &columns) >= 0;
}

// A copy of an array that may be empty.
static bool rgCopyTo(const rgAllocator* allocator, const void* from, size_t count, size_t size,
                     void** to) {
    *to = NULL;
    if (from == NULL || count == 0) {
        return true;
    }
    *to = rgAllocate(allocator, count, size);
    if (*to != NULL) {
        memcpy(*to, from, count * size);
    }
    return *to != NULL;
}

static bool rgTrack_Make(const rgTape* tape, rgTrack* track) {
    const rgAllocator* a = &tape->allocator;
    size_t rows = (size_t)tape->def.stepCount + 1, states = (size_t)tape->stateCount + 1;
    track->q = rgAllocate(a, rows * (size_t)tape->model->qCount + 1, sizeof(double));
    track->v = rgAllocate(a, rows * (size_t)tape->model->vCount + 1, sizeof(double));
    track->places = rgAllocate(a, states, sizeof(int));
    track->sizes = rgAllocate(a, states, sizeof(int));
    return track->q != NULL && track->v != NULL && track->places != NULL && track->sizes != NULL;
}

static rgTape* rgTape_Make(const rgModel* model, const rgTapeDef* def, int worldCount,
                           const rgAllocator* allocator) {
    rgTape* tape = rgAllocate(allocator, 1, sizeof(rgTape));
    if (tape == NULL) {
        return NULL;
    }
    *tape =
        (rgTape){.allocator = *allocator, .model = model, .def = *def, .worldCount = worldCount};
    tape->stateCount = (def->stepCount + def->stateInterval - 1) / def->stateInterval;
    tape->tracks = rgAllocate(allocator, (size_t)worldCount, sizeof(rgTrack));
    bool good = tape->tracks != NULL;
    good = rgCopyTo(allocator, def->controls, def->controlCount, sizeof(double),
                    (void**)&tape->controls) &&
           good;
    good = rgCopyTo(allocator, def->parameters, (size_t)def->parameterCount, sizeof(rgQuantity),
                    (void**)&tape->parameters) &&
           good;
    for (int i = 0; i < worldCount && good; ++i) {
        good = rgTrack_Make(tape, &tape->tracks[i]);
    }
    if (!good) {
        rgDestroyTape(tape);
        tape = NULL;
    }
    return tape;
}

// ---- states

static rgResult rgTrack_Save(const rgAllocator* allocator, rgTrack* track, const rgWorld* world,
                             int state) {
    size_t size = rgWorld_StateSize(world);
    int units = (int)((size + RG_ALIGNMENT - 1) / RG_ALIGNMENT);
    rgResult result = rgReserve(allocator, (void**)&track->bytes, &track->capacity, track->used,
                                track->used + units, RG_ALIGNMENT);
    if (result != rg_ok) {
        return result;
    }
    track->places[state] = track->used;
    track->sizes[state] = (int)size;
    track->used += units;
    return rgWorld_Save(world, track->bytes + (size_t)track->places[state] * RG_ALIGNMENT, size);
}

static rgResult rgTrack_Restore(const rgTrack* track, rgWorld* world, int state) {
    return rgWorld_Restore(world, track->bytes + (size_t)track->places[state] * RG_ALIGNMENT,
                           (size_t)track->sizes[state]);
}

static rgResult rgTape_Control(const rgTape* tape, rgWorld* world, int index, int step) {
    size_t row = (size_t)index * (size_t)tape->def.stepCount + (size_t)step;
    return tape->def.controls == NULL || tape->model->info.actuatorCount == 0
               ? rg_ok
               : rgWorld_SetControl(world,
                                    tape->controls + row * (size_t)tape->model->info.actuatorCount);
}

static void rgTrack_Note(const rgTape* tape, rgTrack* track, const rgWorld* world, int row) {
    size_t nq = (size_t)tape->model->qCount, nv = (size_t)tape->model->vCount;
    for (size_t k = 0; k < nq; ++k) {
        track->q[(size_t)row * nq + k] = world != NULL ? world->state.q[k] : NAN;
    }
    for (size_t k = 0; k < nv; ++k) {
        track->v[(size_t)row * nv + k] = world != NULL ? world->state.v[k] : NAN;
    }
}

static rgResult rgTape_RecordWorld(rgTape* tape, rgWorld* world, int index) {
    rgTrack* track = &tape->tracks[index];
    rgResult result = rg_ok;
    rgTrack_Note(tape, track, world, 0);
    for (int step = 0; step < tape->def.stepCount; ++step) {
        result = result == rg_ok ? rgTape_Control(tape, world, index, step) : result;
        if (result == rg_ok && step % tape->def.stateInterval == 0) {
            result = rgTrack_Save(&tape->allocator, track, world, step / tape->def.stateInterval);
        }
        result = result == rg_ok ? rgWorld_Step(world, NULL) : result;
        rgTrack_Note(tape, track, result == rg_ok ? world : NULL, step + 1);
    }
    track->isWhole = result == rg_ok;
    return result;
}

rgResult rgWorld_Record(rgWorld* world, const rgTapeDef* def, rgTape** tape) {
    if (tape != NULL) {
        *tape = NULL;
    }
    if (world == NULL || def == NULL || tape == NULL || !rgTapeDefFits(world->model, def, 1)) {
        return rg_errorArgument;
    }
    // Not through the world's meter: tapes may live longer.
    rgTape* made = rgTape_Make(world->model, def, 1, &world->heap.meter.inner);
    rgResult result = made != NULL ? rgTape_RecordWorld(made, world, 0) : rg_errorMemory;
    if (result != rg_ok) {
        rgDestroyTape(made);
        return result;
    }
    *tape = made;
    return rg_ok;
}

static void rgRecordOne(rgBatch* batch, rgLane* lane, int i, void* context) {
    rgResult result = rgTape_RecordWorld(context, lane->world, i);
    if (result != rg_ok) {
        rgBatch_Stop(batch, i, result == rg_errorMemory ? rg_faultMemory : rg_faultDiverged);
    }
}

rgResult rgBatch_Record(rgBatch* batch, const rgTapeDef* def, const rgWorldMask* mask,
                        rgTape** tape) {
    if (tape != NULL) {
        *tape = NULL;
    }
    if (batch == NULL || def == NULL || tape == NULL || !rgBatch_MaskFits(batch, mask) ||
        !rgTapeDefFits(batch->model, def, batch->worldCount)) {
        return rg_errorArgument;
    }
    *tape = rgTape_Make(batch->model, def, batch->worldCount, &batch->allocator);
    return *tape != NULL ? rgBatch_Visit(batch, mask, false, rgRecordOne, *tape) : rg_errorMemory;
}

// ---- what was recorded

static const rgTrack* rgTape_Track(const rgTape* tape, int world) {
    return tape != NULL && world >= 0 && world < tape->worldCount ? &tape->tracks[world] : NULL;
}

const double* rgTape_Positions(const rgTape* tape, int world) {
    const rgTrack* track = rgTape_Track(tape, world);
    return track != NULL ? track->q : NULL;
}

const double* rgTape_Velocities(const rgTape* tape, int world) {
    const rgTrack* track = rgTape_Track(tape, world);
    return track != NULL ? track->v : NULL;
}

size_t rgTape_MemoryUse(const rgTape* tape) {
    size_t bytes = 0;
    for (int i = 0; tape != NULL && i < tape->worldCount; ++i) {
        size_t rows = (size_t)tape->def.stepCount + 1;
        bytes += (size_t)tape->tracks[i].capacity * RG_ALIGNMENT;
        bytes += rows * (size_t)(tape->model->qCount + tape->model->vCount) * sizeof(double);
        bytes += ((size_t)tape->stateCount + 1) * 2 * sizeof(int) + sizeof(rgTrack);
    }
    return tape != NULL ? bytes + sizeof(rgTape) : 0;
}

// ---- gradients

// The way back of one world. Numbers: a gradient by q, v and the trend, and one row of the adjoint.
typedef struct rgWayBack {
    const rgTape* tape;
    const rgTapeGradient* gradient;
    rgDerivativeDef columns;
    int width; // of the adjoint
} rgWayBack;

static double* rgRowFrom(double* array, size_t row, size_t width) {
    return array != NULL ? array + row * width : NULL;
}

static void rgAddBar(const double* bar, size_t row, size_t n, double* sum) {
    for (size_t k = 0; k < n && bar != NULL; ++k) {
        sum[k] += bar[row * n + k];
    }
}

// One step back, from the state before it, where the world is.
static rgResult rgWayBack_Step(const rgWayBack* way, rgWorld* world, int index, int step,
                               double* bars) {
    const rgTape* tape = way->tape;
    size_t n = (size_t)tape->model->vCount, u = (size_t)tape->model->info.actuatorCount;
    size_t row = (size_t)index * (size_t)tape->def.stepCount + (size_t)step;
    size_t count = (size_t)tape->def.parameterCount;
    double* out = bars + 4 * n;
    rgAddBar(way->gradient->qBar, row, n, bars);
    rgAddBar(way->gradient->vBar, row, n, bars + n);
    rgStepGradient own = {.qBar = bars, .vBar = bars + n, .trendBar = bars + 2 * n};
    rgResult result = rgWorld_Adjoint(world, &way->columns, &own, out, NULL);
    if (result != rg_ok) {
        return result;
    }
    memcpy(bars, out, 2 * n * sizeof(double));
    memcpy(bars + 2 * n, out + 2 * n + u + count, 2 * n * sizeof(double));
    double* control = rgRowFrom(way->gradient->controls, row, u);
    if (control != NULL) {
        memcpy(control, out + 2 * n, u * sizeof(double));
    }
    double* parameters = rgRowFrom(way->gradient->parameters, (size_t)index, count);
    for (size_t k = 0; k < count && parameters != NULL; ++k) {
        parameters[k] += out[2 * n + u + k];
    }
    return rg_ok;
}

// States of a part of the steps, in memory of its own where they are more than one.
static rgResult rgWayBack_Replay(const rgWayBack* way, rgWorld* world, int index, int first,
                                 int end, rgTrack* states) {
    const rgTape* tape = way->tape;
    rgResult result = rgTrack_Restore(&tape->tracks[index], world, first / tape->def.stateInterval);
    states->used = 0;
    for (int step = first; step < end && result == rg_ok && end - first > 1; ++step) {
        if (step > first) {
            result = rgWorld_Step(world, NULL);
            result = result == rg_ok ? rgTape_Control(tape, world, index, step) : result;
        }
        result = result == rg_ok ? rgTrack_Save(&world->heap.allocator, states, world, step - first)
                                 : result;
    }
    return result;
}

static rgResult rgWayBack_Run(const rgWayBack* way, rgWorld* world, int index, rgTrack* states,
                              double* bars) {
    const rgTape* tape = way->tape;
    int interval = tape->def.stateInterval;
    rgResult result = rg_ok;
    for (int state = tape->stateCount - 1; state >= 0 && result == rg_ok; --state) {
        int first = state * interval, end = RG_MIN(first + interval, tape->def.stepCount);
        result = rgWayBack_Replay(way, world, index, first, end, states);
        for (int step = end - 1; step >= first && result == rg_ok; --step) {
            result = end - first > 1 ? rgTrack_Restore(states, world, step - first) : rg_ok;
            result = result == rg_ok ? rgWayBack_Step(way, world, index, step, bars) : result;
        }
    }
    return result;
}

static void rgClearRows(double* array, size_t row, size_t count) {
    if (array != NULL && count > 0) {
        memset(array + row * count, 0, count * sizeof(double));
    }
}

static void rgClearGradient(const rgTape* tape, const rgTapeGradient* gradient, int index) {
    size_t i = (size_t)index;
    size_t steps = (size_t)tape->def.stepCount * (size_t)tape->model->info.actuatorCount;
    rgClearRows(gradient->start, i, 2 * (size_t)tape->model->vCount);
    rgClearRows(gradient->controls, i, steps);
    rgClearRows(gradient->parameters, i, (size_t)tape->def.parameterCount);
}

static rgResult rgWayBack_World(const rgWayBack* way, rgWorld* world, int index) {
    const rgTape* tape = way->tape;
    const rgAllocator* allocator = &world->heap.allocator;
    size_t n = (size_t)tape->model->vCount;
    if (!tape->tracks[index].isWhole) {
        return rg_ok;
    }
    int interval = tape->def.stateInterval, endPlace[1], endSize[1];
    rgTrack end = {.places = endPlace, .sizes = endSize};
    rgTrack states = {.places = rgAllocate(allocator, (size_t)interval, sizeof(int)),
                      .sizes = rgAllocate(allocator, (size_t)interval, sizeof(int))};
    double* bars = rgAllocate(allocator, 4 * n + (size_t)way->width + 1, sizeof(double));
    rgMonitor monitor = world->monitor;
    rgResult result = states.places != NULL && states.sizes != NULL && bars != NULL
                          ? rgTrack_Save(allocator, &end, world, 0)
                          : rg_errorMemory;
    if (result == rg_ok) {
        memset(bars, 0, 4 * n * sizeof(double));
        result = rgWayBack_Run(way, world, index, &states, bars);
        rgResult back = rgTrack_Restore(&end, world, 0);
        result = result == rg_ok ? back : result;
        world->monitor = monitor;
    }
    double* start = rgRowFrom(way->gradient->start, (size_t)index, 2 * n);
    if (result == rg_ok && start != NULL) {
        memcpy(start, bars, 2 * n * sizeof(double));
    }
    void* all[] = {end.bytes, states.bytes, states.places, states.sizes, bars};
    for (int k = 0; k < RG_COUNT(all); ++k) {
        rgRelease(allocator, all[k]);
    }
    return result;
}

static rgWayBack rgMakeWayBack(const rgTape* tape, const rgTapeGradient* gradient) {
    rgWayBack way = {.tape = tape, .gradient = gradient};
    way.columns = rgTape_Columns(&tape->def, tape->parameters);
    way.width = rgModel_DerivativeColumns(tape->model, &way.columns);
    for (int i = 0; i < tape->worldCount; ++i) {
        rgClearGradient(tape, gradient, i);
    }
    return way;
}

rgResult rgTape_WorldGradient(const rgTape* tape, rgWorld* world, const rgTapeGradient* gradient) {
    if (tape == NULL || world == NULL || gradient == NULL || tape->worldCount != 1 ||
        world->model != tape->model) {
        return rg_errorArgument;
    }
    rgWayBack way = rgMakeWayBack(tape, gradient);
    return rgWayBack_World(&way, world, 0);
}

static void rgPullOne(rgBatch* batch, rgLane* lane, int i, void* context) {
    const rgWayBack* way = context;
    rgResult result = rgWayBack_World(way, lane->world, i);
    if (result != rg_ok) {
        rgClearGradient(way->tape, way->gradient, i);
        rgBatch_Stop(batch, i, result == rg_errorMemory ? rg_faultMemory : rg_faultState);
    }
}

rgResult rgTape_BatchGradient(const rgTape* tape, rgBatch* batch, const rgTapeGradient* gradient) {
    if (tape == NULL || batch == NULL || gradient == NULL || batch->model != tape->model ||
        batch->worldCount != tape->worldCount) {
        return rg_errorArgument;
    }
    rgWayBack way = rgMakeWayBack(tape, gradient);
    return rgBatch_Visit(batch, NULL, false, rgPullOne, &way);
}
