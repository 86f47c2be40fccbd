// Central differences of whole steps: a second opinion on the derivatives.
#include "world/linearize.h"
#include "world/project.h"

#include <string.h>

// The state as a step begins with it, and the definitions that parameters change.
typedef struct rgPerturbed {
    double *q, *v, *control, *force;
} rgPerturbed;

static void rgKeep(const rgWorld* world, rgPerturbed* kept, bool back) {
    size_t n = (size_t)world->model->vCount, nq = (size_t)world->model->qCount;
    size_t u = (size_t)world->model->info.actuatorCount;
    double* live[4] = {world->state.q, world->state.v, world->state.control, world->state.force};
    double* copy[4] = {kept->q, kept->v, kept->control, kept->force};
    size_t counts[4] = {nq, n, u, n};
    for (int i = 0; i < 4; ++i) {
        memcpy(back ? live[i] : copy[i], back ? copy[i] : live[i], counts[i] * sizeof(double));
    }
}

// A column by an increment. False: it is none that can be changed so.
static void rgPerturb(rgWorld* world, const rgLinearization* l, int column, double by) {
    int n = l->n;
    if (column < n) {
        double* unit = l->bars[0];
        memset(unit, 0, (size_t)n * sizeof(double));
        unit[column] = by;
        rgModel_Integrate(world->model, world->state.q, unit, 1, world->state.q);
    } else if (column < 2 * n) {
        world->state.v[column - n] += by;
    } else if (l->controlFirst >= 0 && column >= l->controlFirst &&
               column < l->controlFirst + world->model->info.actuatorCount) {
        world->state.control[column - l->controlFirst] += by;
    } else {
        world->state.force[column - l->forceFirst] += by;
    }
}

static rgResult rgReadNext(rgWorld* world, double* q, double* v) {
    rgStepReport report;
    rgStep step = rgWorld_EvaluateStep(world, &report);
    memcpy(q, world->next.q, (size_t)world->model->qCount * sizeof(double));
    memcpy(v, world->next.bodyV, (size_t)world->model->vCount * sizeof(double));
    return step.result;
}

typedef struct rgEnds {
    double *q[2], *v[2];
} rgEnds;

static rgResult rgDifference(rgWorld* world, rgLinearization* l, rgPerturbed* kept, rgEnds* ends,
                             int column) {
    double h = l->def.increment;
    for (int side = 0; side < 2; ++side) {
        rgPerturb(world, l, column, side == 0 ? -h : h);
        rgResult result = rgReadNext(world, ends->q[side], ends->v[side]);
        rgKeep(world, kept, true);
        if (result != rg_ok) {
            return result;
        }
    }
    double* moved = l->bars[0];
    rgModel_Difference(world->model, ends->q[0], ends->q[1], moved);
    for (int i = 0; i < l->n; ++i) {
        size_t at = (size_t)i * (size_t)l->width + (size_t)column;
        l->next[at] = moved[i] / (2 * h);
        l->out[at] = (ends->v[1][i] - ends->v[0][i]) / (2 * h);
    }
    return rg_ok;
}

rgResult rgLinearize_Differences(rgWorld* world, rgLinearization* l) {
    int n = l->n, nq = world->model->qCount, u = world->model->info.actuatorCount;
    if (l->parameterFirst >= 0 || l->def.impulses) {
        return rg_errorUnsupported; // rows come and go; parameters are of the model
    }
    l->m = l->pitch = l->projectedCapacity = 0;
    rgResult result = rgLinearization_Reserve(world, l);
    int numbers = 3 * nq + 4 * n + u;
    if (result == rg_ok) {
        result = rgReserve(&world->heap.allocator, (void**)&l->kept, &l->keptCapacity, 0,
                           numbers * (int)sizeof(double), 1);
    }
    if (result != rg_ok) {
        return result;
    }
    double* x = (double*)(void*)l->kept;
    rgPerturbed kept = {x, x + nq, x + nq + n, x + nq + n + u};
    x += nq + 2 * n + u;
    rgEnds ends = {{x, x + nq}, {x + 2 * nq, x + 2 * nq + n}};
    rgKeep(world, &kept, false);
    for (int column = 0; column < l->used && result == rg_ok; ++column) {
        result = rgDifference(world, l, &kept, &ends, column);
    }
    return result;
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
    size_t n = (size_t)world->model->vCount, nq = (size_t)world->model->qCount;
    size_t u = (size_t)world->model->info.actuatorCount;
    double* x = rgAllocate(&world->heap.allocator, nq + 2 * n + u + 1, sizeof(double));
    if (x == NULL) {
        return rg_errorMemory;
    }
    rgPerturbed kept = {x, x + nq, x + nq + n, x + nq + n + u};
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
    out.nextQ = out.nextV = out.impulse = NULL;
    if (result == rg_ok && derivatives != NULL) {
        *derivatives = out;
    }
    rgRelease(&world->heap.allocator, x);
    return result;
}
