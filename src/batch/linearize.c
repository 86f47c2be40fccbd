// Derivatives of the next step of all worlds, on all threads; each equals that of its world alone.
#include "batch/batch.h"

#include <string.h>

typedef struct rgBatchSlopes {
    const rgDerivativeDef* def;
    int columnCount;
    double *nextQ, *nextV;     // matrices, or NULL
    const double *qBar, *vBar; // gradients
    double* out;               // output of the adjoint
    rgDerivatives* answers;    // or NULL
} rgBatchSlopes;

static void rgStoreMatrix(const double* from, double* to, size_t count, int world) {
    if (to != NULL) {
        memcpy(to + (size_t)world * count, from, count * sizeof(double));
    }
}

static void rgKeepAnswer(const rgBatchSlopes* slopes, int i, rgDerivatives d) {
    if (slopes->answers != NULL) {
        d.nextQ = d.nextV = d.impulse = NULL;
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
    size_t count = (size_t)batch->model->vCount * (size_t)slopes->columnCount;
    if (result == rg_ok) {
        rgStoreMatrix(d.nextQ, slopes->nextQ, count, i);
        rgStoreMatrix(d.nextV, slopes->nextV, count, i);
        rgKeepAnswer(slopes, i, d);
    }
    rgBatch_EndSlopes(batch, i, result);
}

static void rgPullWorld(rgBatch* batch, rgLane* lane, int i, void* context) {
    const rgBatchSlopes* slopes = context;
    size_t at = (size_t)i * (size_t)batch->model->vCount;
    rgDerivatives d;
    rgResult result =
        rgWorld_Adjoint(lane->world, slopes->def, slopes->qBar != NULL ? slopes->qBar + at : NULL,
                        slopes->vBar != NULL ? slopes->vBar + at : NULL,
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

rgResult rgBatch_Derivatives(rgBatch* batch, const rgDerivativeDef* def, double* nextQ,
                             double* nextV, rgDerivatives* answers, const rgWorldMask* mask) {
    rgDerivativeDef usual;
    rgBatchSlopes slopes = {.nextQ = nextQ, .nextV = nextV, .answers = answers};
    if (!rgSlopesFit(batch, &def, &usual, &slopes.columnCount)) {
        return rg_errorArgument;
    }
    slopes.def = def;
    return rgBatch_Visit(batch, mask, false, rgDifferentiateWorld, &slopes);
}

rgResult rgBatch_Adjoint(rgBatch* batch, const rgDerivativeDef* def, const double* qBar,
                         const double* vBar, double* out, rgDerivatives* answers,
                         const rgWorldMask* mask) {
    rgDerivativeDef usual;
    rgBatchSlopes slopes = {.qBar = qBar, .vBar = vBar, .out = out, .answers = answers};
    if (out == NULL || !rgSlopesFit(batch, &def, &usual, &slopes.columnCount) || def->differences) {
        return rg_errorArgument;
    }
    slopes.def = def;
    return rgBatch_Visit(batch, mask, false, rgPullWorld, &slopes);
}
