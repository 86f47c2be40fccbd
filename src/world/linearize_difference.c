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
