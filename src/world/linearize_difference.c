// Central differences of whole steps: a second opinion on the derivatives.
#include "rigor/query.h"
#include "world/linearize.h"
#include "world/project.h"

#include <string.h>

// Inputs of a step.
typedef struct rgPerturbed {
    double *q, *v, *control, *force, *predictor, *change;
} rgPerturbed;

static int rgPerturbedCount(const rgModel* model) {
    return model->qCount + 4 * model->vCount + model->info.actuatorCount;
}

static rgPerturbed rgPerturbedIn(const rgModel* model, double* x) {
    int n = model->vCount, nq = model->qCount, u = model->info.actuatorCount;
    rgPerturbed out = {.q = x, .v = x + nq, .control = x + nq + n};
    out.force = out.control + u;
    out.predictor = out.force + n;
    out.change = out.predictor + n;
    return out;
}

static void rgKeep(const rgWorld* world, rgPerturbed* kept, bool back) {
    size_t n = (size_t)world->model->vCount, nq = (size_t)world->model->qCount;
    size_t u = (size_t)world->model->info.actuatorCount;
    const rgState* state = &world->state;
    double* live[] = {state->q,     state->v,         state->control,
                      state->force, state->predictor, state->change};
    double* copy[] = {kept->q, kept->v, kept->control, kept->force, kept->predictor, kept->change};
    size_t counts[] = {nq, n, u, n, n, n};
    for (int i = 0; i < RG_COUNT(live); ++i) {
        memcpy(back ? live[i] : copy[i], back ? copy[i] : live[i], counts[i] * sizeof(double));
    }
}

static void rgPerturb(rgWorld* world, const rgLinearization* l, int column, double by) {
    int n = l->n;
    const struct {
        int first, count;
        double* numbers;
    } blocks[] = {{n, n, world->state.v},
                  {l->controlFirst, l->controlCount, world->state.control},
                  {l->forceFirst, n, world->state.force},
                  {l->trendFirst, n, world->state.predictor},
                  {l->trendFirst + n, n, world->state.change}};
    if (column < n) {
        double* unit = l->bars[0];
        memset(unit, 0, (size_t)n * sizeof(double));
        unit[column] = by;
        rgModel_Integrate(world->model, world->state.q, unit, 1, world->state.q);
        return;
    }
    for (int i = 0; i < RG_COUNT(blocks); ++i) {
        int k = column - blocks[i].first;
        if (blocks[i].first >= n && k >= 0 && k < blocks[i].count) {
            blocks[i].numbers[k] += by;
            return;
        }
    }
}

// Outputs of a step.
typedef struct rgReached {
    double *q, *v, *trend, *sensors;
} rgReached;

static int rgReachedCount(const rgModel* model, const rgLinearization* l) {
    return model->qCount + 3 * model->vCount + l->sensorCount;
}

static rgReached rgReachedIn(const rgModel* model, double* x) {
    int n = model->vCount, nq = model->qCount;
    return (rgReached){x, x + nq, x + nq + n, x + nq + 3 * n};
}

static rgResult rgReadNext(rgWorld* world, int sensorCount, rgReached* out) {
    rgStepReport report;
    rgStep step = rgWorld_EvaluateStep(world, &report);
    size_t n = (size_t)world->model->vCount, nq = (size_t)world->model->qCount;
    memcpy(out->q, world->next.q, nq * sizeof(double));
    memcpy(out->v, world->next.bodyV, n * sizeof(double));
    memcpy(out->trend, world->state.predictor, n * sizeof(double));
    memcpy(out->trend + n, world->state.change, n * sizeof(double));
    rgWorld_FindTrend(world, out->trend + n, out->trend);
    if (step.result == rg_ok && sensorCount > 0) { // the state is put back by who changed it
        memcpy(world->state.q, world->next.q, nq * sizeof(double));
        memcpy(world->state.v, world->next.bodyV, n * sizeof(double));
        rgReadout_Invalidate(world->readout);
        memcpy(out->sensors, rgWorld_Sensors(world, NULL), (size_t)sensorCount * sizeof(double));
    }
    return step.result;
}

static double* rgColumnOf(const rgLinearization* l, double* matrix, int row, int column) {
    return matrix + (size_t)row * (size_t)l->width + (size_t)column;
}

static void rgStoreDifference(const rgLinearization* l, double* matrix, int count, int column,
                              const double* below, const double* above) {
    for (int i = 0; i < count; ++i) {
        *rgColumnOf(l, matrix, i, column) = (above[i] - below[i]) / (2 * l->def.increment);
    }
}

static rgResult rgDifference(rgWorld* world, rgLinearization* l, rgPerturbed* kept,
                             rgReached ends[2], int column) {
    double h = l->def.increment;
    for (int side = 0; side < 2; ++side) {
        rgPerturb(world, l, column, side == 0 ? -h : h);
        rgResult result = rgReadNext(world, l->sensorCount, &ends[side]);
        rgKeep(world, kept, true);
        if (result != rg_ok) {
            return result;
        }
    }
    double* moved = l->bars[0];
    rgModel_Difference(world->model, ends[0].q, ends[1].q, moved);
    for (int i = 0; i < l->n; ++i) {
        *rgColumnOf(l, l->next, i, column) = moved[i] / (2 * h);
    }
    rgStoreDifference(l, l->out, l->n, column, ends[0].v, ends[1].v);
    rgStoreDifference(l, l->trend, l->trendFirst >= 0 ? 2 * l->n : 0, column, ends[0].trend,
                      ends[1].trend);
    rgStoreDifference(l, l->sensor, l->sensorCount, column, ends[0].sensors, ends[1].sensors);
    return rg_ok;
}

rgResult rgLinearize_Differences(rgWorld* world, rgLinearization* l) {
    const rgModel* model = world->model;
    if (l->parameterFirst >= 0 || l->def.impulses) {
        return rg_errorUnsupported; // rows come and go; parameters are of the model
    }
    l->m = l->pitch = l->projectedCapacity = 0;
    l->hasFast = l->hasParts = false;
    rgResult result = rgLinearization_Reserve(world, l);
    int numbers = rgPerturbedCount(model), reached = rgReachedCount(model, l);
    if (result == rg_ok) {
        result = rgReserve(&world->heap.allocator, (void**)&l->kept, &l->keptCapacity, 0,
                           (numbers + 2 * reached) * (int)sizeof(double), 1);
    }
    if (result != rg_ok) {
        return result;
    }
    double* x = (double*)(void*)l->kept;
    rgPerturbed kept = rgPerturbedIn(model, x);
    rgReached ends[2] = {rgReachedIn(model, x + numbers),
                         rgReachedIn(model, x + numbers + reached)};
    rgKeep(world, &kept, false);
    for (int column = 0; column < l->used && result == rg_ok; ++column) {
        result = rgDifference(world, l, &kept, ends, column);
    }
    return result;
}

// ---- trees that move in parts of the step

bool rgWorld_MovesInParts(const rgWorld* world, int tree) {
    return world->fast.substeps[tree] > 1;
}

// Columns by what has a part in the motion of these trees.
static bool rgMovesParts(const rgLinearization* l, int column) {
    int n = l->n, first = 0;
    if (l->controlFirst >= 0 && column >= l->controlFirst &&
        column < l->controlFirst + l->controlCount) {
        return true;
    }
    if (l->parameterFirst >= 0 && column >= l->parameterFirst &&
        column < l->parameterFirst + l->def.parameterCount) {
        return false;
    }
    first = l->forceFirst >= 0 && column >= l->forceFirst ? l->forceFirst : first;
    first = l->trendFirst >= 0 && column >= l->trendFirst ? l->trendFirst : first;
    return l->inParts[(column - first) % n];
}

// No row acts on these trees, so that their motion depends on nothing but their own state and
// forces. Rows of the answer: l->parts, 4 n x width.
rgResult rgLinearize_Parts(rgWorld* world, rgLinearization* l) {
    const rgModel* model = world->model;
    int n = l->n, numbers = rgPerturbedCount(model), reached = rgReachedCount(model, l);
    rgResult result = rgReserve(&world->heap.allocator, (void**)&l->kept, &l->keptCapacity, 0,
                                (numbers + 2 * reached + n) * (int)sizeof(double), 1);
    if (result != rg_ok) {
        return result;
    }
    double* x = (double*)(void*)l->kept;
    rgPerturbed kept = rgPerturbedIn(model, x);
    rgReached ends[2] = {rgReachedIn(model, x + numbers),
                         rgReachedIn(model, x + numbers + reached)};
    double* moved = x + numbers + 2 * reached;
    for (int i = 0; i < n; ++i) {
        l->inParts[i] = rgWorld_MovesInParts(world, world->constraints.treeOfDof[i]);
    }
    rgKeep(world, &kept, false);
    memset(l->parts, 0, 4 * (size_t)n * (size_t)l->width * sizeof(double));
    for (int column = 0; column < l->used && result == rg_ok; ++column) {
        bool state = column < 2 * n || (l->trendFirst >= 0 && column >= l->trendFirst);
        double h = state ? RG_PART_STEP : RG_PART_FORCE_STEP;
        for (int side = 0; side < 2 && result == rg_ok && rgMovesParts(l, column); ++side) {
            rgPerturb(world, l, column, side == 0 ? -h : h);
            result = rgReadNext(world, 0, &ends[side]);
            rgKeep(world, &kept, true);
        }
        if (result != rg_ok || !rgMovesParts(l, column)) {
            continue;
        }
        rgModel_Difference(model, ends[0].q, ends[1].q, moved);
        const double* above[4] = {moved, ends[1].v, ends[1].trend, ends[1].trend + n};
        const double* below[4] = {NULL, ends[0].v, ends[0].trend, ends[0].trend + n};
        for (int i = 0; i < 4 * n; ++i) {
            int k = i % n;
            double change = above[i / n][k] - (i >= n ? below[i / n][k] : 0);
            *rgColumnOf(l, l->parts, i, column) = l->inParts[k] ? change / (2 * h) : 0;
        }
    }
    return result;
}

// Rows of the answer, once columns are those of q and v.
void rgLinearize_PushParts(const rgLinearization* l) {
    int n = l->n;
    for (int i = 0; i < 4 * n && l->hasParts; ++i) {
        double* matrix = i < n ? l->next : i < 2 * n ? l->out : l->trend;
        int row = i < n ? i : i < 2 * n ? i - n : i - 2 * n;
        if (l->inParts[i % n] && (i < 2 * n || l->trendFirst >= 0)) {
            memcpy(rgColumnOf(l, matrix, row, 0), rgColumnOf(l, l->parts, i, 0),
                   (size_t)l->width * sizeof(double));
        }
    }
}

// From gradients by these rows, 4 n numbers, of which others are left.
void rgLinearize_PullParts(const rgLinearization* l, double* bars, double* row) {
    for (int i = 0; i < 4 * l->n && l->hasParts; ++i) {
        if (l->inParts[i % l->n]) {
            const double* part = rgColumnOf(l, l->parts, i, 0);
            for (int j = 0; j < l->width && bars[i] != 0; ++j) {
                row[j] += bars[i] * part[j];
            }
            bars[i] = 0;
        }
    }
}

// ---- one side of a kink

// The state some way along a direction of the columns.
static void rgLead(rgWorld* world, const rgDerivatives* columns, const double* direction,
                   double way) {
    int n = world->model->vCount, u = world->model->info.actuatorCount;
    const double* byQ = columns->positionColumn >= 0 ? direction + columns->positionColumn : NULL;
    const double* byV = columns->velocityColumn >= 0 ? direction + columns->velocityColumn : NULL;
    const double* byControl =
        columns->controlColumn >= 0 ? direction + columns->controlColumn : NULL;
    const double* byForce = columns->forceColumn >= 0 ? direction + columns->forceColumn : NULL;
    if (byQ != NULL) {
        rgModel_Integrate(world->model, world->state.q, byQ, way, world->state.q);
    }
    for (int i = 0; i < n; ++i) {
        world->state.v[i] += byV != NULL ? way * byV[i] : 0;
        world->state.force[i] += byForce != NULL ? way * byForce[i] : 0;
    }
    for (int i = 0; i < u && byControl != NULL; ++i) {
        world->state.control[i] += way * byControl[i];
    }
}

// Length of the increment along a direction, by the largest change of each kind; 0: a direction of
// parameters alone.
static double rgWayAlong(const rgWorld* world, const rgDerivatives* columns,
                         const double* direction) {
    int n = world->model->vCount, u = world->model->info.actuatorCount;
    int firsts[4] = {columns->positionColumn, columns->velocityColumn, columns->forceColumn,
                     columns->controlColumn};
    int counts[4] = {n, n, n, u};
    double sizes[4] = {RG_SIDE_POSITION, RG_SIDE_VELOCITY, RG_SIDE_FORCE, RG_SIDE_FORCE};
    double most = 0;
    for (int k = 0; k < 4; ++k) {
        for (int j = 0; j < counts[k] && firsts[k] >= 0; ++j) {
            most = fmax(most, fabs(direction[firsts[k] + j]) / sizes[k]);
        }
    }
    return most > 0 ? 1 / most : 0;
}

static void rgMultiply(int n, int width, const double* matrix, const double* x, double* out) {
    for (int i = 0; i < n; ++i) {
        out[i] = 0;
        for (int j = 0; j < width; ++j) {
            out[i] += matrix[(size_t)i * (size_t)width + (size_t)j] * x[j];
        }
    }
}

rgResult rgWorld_DirectionalDerivative(rgWorld* world, const rgDerivativeDef* def,
                                       const double* direction, double* nextQ, double* nextV,
                                       rgDerivatives* derivatives) {
    rgDerivativeDef usual = rgDefaultDerivativeDef();
    usual = def != NULL ? *def : usual;
    int width = world != NULL ? rgModel_DerivativeColumns(world->model, &usual) : -1;
    if (width < 0 || usual.advance || usual.differences || usual.smoothing > 0 ||
        direction == NULL || !rgAllFinite(direction, width)) {
        return rg_errorArgument;
    }
    size_t n = (size_t)world->model->vCount;
    size_t numbers = (size_t)rgPerturbedCount(world->model);
    double* x = rgAllocate(&world->heap.allocator, numbers, sizeof(double));
    if (x == NULL) {
        return rg_errorMemory;
    }
    rgPerturbed kept = rgPerturbedIn(world->model, x);
    rgKeep(world, &kept, false);
    rgDerivatives out;
    rgResult result = rgWorld_Derivatives(world, &usual, &out); // says whose columns are where
    double way = result == rg_ok ? rgWayAlong(world, &out, direction) : 0;
    if (way > 0) {
        rgLead(world, &out, direction, way);
        world->linearization->isSided = true;
        result = rgWorld_Derivatives(world, &usual, &out);
        world->linearization->isSided = false;
        rgKeep(world, &kept, true);
    }
    if (result == rg_ok) {
        rgMultiply((int)n, width, out.nextQ, direction, x);
        rgMultiply((int)n, width, out.nextV, direction, x + n);
        result = rgAllFinite(x, (int)(2 * n)) ? rg_ok : rg_errorNumeric;
    }
    if (result == rg_ok && nextQ != NULL) {
        memcpy(nextQ, x, n * sizeof(double));
    }
    if (result == rg_ok && nextV != NULL) {
        memcpy(nextV, x + n, n * sizeof(double));
    }
    out.nextQ = out.nextV = out.nextTrend = out.impulse = out.sensor = NULL;
    if (result == rg_ok && derivatives != NULL) {
        *derivatives = out;
    }
    rgRelease(&world->heap.allocator, x);
    return result;
}
