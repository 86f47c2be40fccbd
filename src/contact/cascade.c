// Cascade of convex problems: fix the De Saxcé term s = mu |sigma_t|, solve, update s, repeat.
// docs/theory/cascade.md (1)-(3).
#include "contact/run.h"

#include <math.h>
#include <string.h>

typedef struct rgCascade {
    rgRun* outer;
    rgRun inner;             // the convex problem: same system, its own best impulses
    double* exactVelocity;   // g
    double* shiftedVelocity; // g + s
    double* sigma;
} rgCascade;

static rgResult rgCascade_Init(rgCascade* cascade, rgRun* run) {
    rgSystem* system = run->system;
    rgArena* arena = system->arena;
    *cascade = (rgCascade){.outer = run, .inner = *run, .exactVelocity = system->g};
    cascade->shiftedVelocity = RG_TAKE(arena, double, system->n);
    cascade->sigma = RG_TAKE(arena, double, system->n);
    cascade->inner.best = RG_TAKE(arena, double, system->n);
    cascade->inner.history = NULL;
    cascade->inner.tolerance = fmax(1e-2 * run->tolerance, 1e-13);
    return arena->failed ? rg_errorMemory : rg_ok;
}

// (1) s from the velocity of the best impulses, with the exact g
static void rgCascade_FixTerm(rgCascade* cascade, const double* lambda) {
    rgSystem* system = cascade->outer->system;
    rgSystem_Velocity(system, lambda, cascade->sigma);
    memcpy(cascade->shiftedVelocity, system->g, (size_t)system->n * sizeof(double));
    for (int i = 0; i < system->setCount; ++i) {
        const rgSet* set = system->sets + i;
        if (set->kind == rg_blockCoulomb && system->model == rg_modelNcp) {
            const double* s = cascade->sigma + set->row;
            cascade->shiftedVelocity[set->row + 2] += set->mu * sqrt(s[0] * s[0] + s[1] * s[1]);
        }
    }
}

// (2) the convex problem, by Newton from the last impulses and by interior point when that stalls
static rgResult rgCascade_SolveConvex(rgCascade* cascade) {
    rgSystem* system = cascade->outer->system;
    rgRun* inner = &cascade->inner;
    system->g = cascade->shiftedVelocity;
    system->model = rg_modelCcp;
    bool counted = cascade->outer->def->method == rg_methodAuto; // the plan counts what it costs
    int left = cascade->outer->iterationLimit - cascade->outer->iterationCount;
    inner->iterationCount = 0;
    inner->iterationLimit = counted ? RG_MIN(200, left) : 200;
    inner->bestResidual = INFINITY;
    rgResult result = rgRunNewton(
        inner, inner->best, &(rgNewtonOptions){.limit = 15, .weight = 1, .regularisation = 1e-2});
    if (result == rg_ok && !rgRun_Solved(inner)) {
        result = rgRunInterior(
            inner, &(rgInteriorOptions){.limit = 40, .size = 1, .slipShare = 1, .few = 20});
    }
    if (result == rg_ok && !rgRun_Solved(inner)) {
        result = rgRunNewton(inner, inner->best,
                             &(rgNewtonOptions){.limit = 15, .weight = 1, .regularisation = 1e-2});
    }
    system->g = cascade->exactVelocity;
    system->model = cascade->outer->def->model;
    cascade->outer->iterationCount += counted ? inner->iterationCount : 0;
    return result;
}

rgResult rgRunCascade(rgRun* run, int limit) {
    rgSystem* system = run->system;
    rgArenaMark mark = rgArena_Mark(system->arena);
    rgCascade cascade;
    rgResult result = rgCascade_Init(&cascade, run);
    if (result == rg_ok) {
        memcpy(cascade.inner.best, run->best, (size_t)system->n * sizeof(double));
    }
    for (int k = 0; result == rg_ok && k < limit && !rgRun_Solved(run); ++k) {
        if (!rgRun_Count(run, rg_phaseCascade)) {
            break;
        }
        rgCascade_FixTerm(&cascade, cascade.inner.best);
        result = rgCascade_SolveConvex(&cascade);
        double residual = rgRun_Offer(run, cascade.inner.best, NULL); // (3)
        rgRun_Record(run, &(rgContactRecord){.phase = rg_phaseCascade,
                                             .primal = NAN,
                                             .dual = NAN,
                                             .complementarity = NAN,
                                             .residual = residual,
                                             .penalty = NAN});
    }
    rgArena_Return(system->arena, mark);
    return result;
}
