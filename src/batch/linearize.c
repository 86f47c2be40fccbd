// Derivatives of the next step of all worlds, on all threads; each equals that of its world alone.
#include "batch/batch.h"

#include <string.h>

typedef struct rgBatchSlopes {
    const rgDerivativeDef* def;
    int columnCount;
    rgBatchMatrices matrices;
    rgStepGradient gradient;
    double* out;            // output of the adjoint
    rgDerivatives* answers; // or NULL
} rgBatchSlopes;

static void rgStoreMatrix(const double* from, double* to, size_t count, int world) {
    if (to != NULL && from != NULL) {
        memcpy(to + (size_t)world * count, from, count * sizeof(double));
    }
}

static void rgKeepAnswer(const rgBatchSlopes* slopes, int i, rgDerivatives d) {
    if (slopes->answers != NULL) {
        d.nextQ = d.nextV = d.nextTrend = d.impulse = d.sensor = NULL;
        slopes->answers[i] = d;
    }
}

static void rgBatch_EndSlopes(rgBatch* batch, int i, rgResult result) {
    if (result != rg_ok) {
        rgBatch_Stop(batch, i, result == rg_errorMemory ? rg_faultMemory : rg_faultState);
    }
}

static void rgDifferentiateWorld(rgBatch* batch, rgLane* lane, int i, void* context) {
    const rgBatchSlopes* slopes = context;
    rgDerivatives d;
    rgResult result = rgWorld_Derivatives(lane->world, slopes->def, &d);
    size_t columns = (size_t)slopes->columnCount;
    size_t count = (size_t)batch->model->vCount * columns;
    if (result == rg_ok) {
        const rgBatchMatrices* to = &slopes->matrices;
        rgStoreMatrix(d.nextQ, to->nextQ, count, i);
        rgStoreMatrix(d.nextV, to->nextV, count, i);
        rgStoreMatrix(d.nextTrend, to->nextTrend, 2 * count, i);
        rgStoreMatrix(d.sensor, to->sensor, (size_t)d.sensorCount * columns, i);
        rgKeepAnswer(slopes, i, d);
    }
    rgBatch_EndSlopes(batch, i, result);
}

static const double* rgRowOfWorld(const double* rows, int world, size_t count) {
    return rows != NULL ? rows + (size_t)world * count : NULL;
}

static void rgPullWorld(rgBatch* batch, rgLane* lane, int i, void* context) {
    const rgBatchSlopes* slopes = context;
    size_t n = (size_t)batch->model->vCount;
    size_t sensors = (size_t)rgModel_SensorNumbers(batch->model);
    const rgStepGradient* all = &slopes->gradient;
    rgStepGradient own = {rgRowOfWorld(all->qBar, i, n), rgRowOfWorld(all->vBar, i, n),
                          rgRowOfWorld(all->trendBar, i, 2 * n),
                          rgRowOfWorld(all->sensorBar, i, sensors)};
    rgDerivatives d;
    rgResult result = rgWorld_Adjoint(lane->world, slopes->def, &own,
                                      slopes->out + (size_t)i * (size_t)slopes->columnCount, &d);
    if (result == rg_ok) {
        rgKeepAnswer(slopes, i, d);
    }
    rgBatch_EndSlopes(batch, i, result);
}

// The def is checked once, before any world is stopped over it.
static bool rgSlopesFit(const rgBatch* batch, const rgDerivativeDef** def, rgDerivativeDef* usual,
                        int* columnCount) {
    *usual = rgDefaultDerivativeDef();
    *def = *def != NULL ? *def : usual;
    *columnCount = batch != NULL ? rgModel_DerivativeColumns(batch->model, *def) : -1;
    return *columnCount >= 0 && !(*def)->advance;
}

rgResult rgBatch_Derivatives(rgBatch* batch, const rgDerivativeDef* def,
                             const rgBatchMatrices* matrices, rgDerivatives* answers,
                             const rgWorldMask* mask) {
    rgDerivativeDef usual;
    rgBatchSlopes slopes = {.answers = answers};
    slopes.matrices = matrices != NULL ? *matrices : (rgBatchMatrices){0};
    if (!rgSlopesFit(batch, &def, &usual, &slopes.columnCount)) {
        return rg_errorArgument;
    }
    slopes.def = def;
    return rgBatch_Visit(batch, mask, false, rgDifferentiateWorld, &slopes);
}

rgResult rgBatch_Adjoint(rgBatch* batch, const rgDerivativeDef* def, const rgStepGradient* gradient,
                         double* out, rgDerivatives* answers, const rgWorldMask* mask) {
    rgDerivativeDef usual;
    rgBatchSlopes slopes = {.out = out, .answers = answers};
    slopes.gradient = gradient != NULL ? *gradient : (rgStepGradient){0};
    if (out == NULL || !rgSlopesFit(batch, &def, &usual, &slopes.columnCount) || def->differences ||
        (slopes.gradient.trendBar != NULL && (def->by & rg_byTrend) == 0)) {
        return rg_errorArgument;
    }
    slopes.def = def;
    return rgBatch_Visit(batch, mask, false, rgPullWorld, &slopes);
}
