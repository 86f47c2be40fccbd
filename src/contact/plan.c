// auto: accept the start, proximal Newton with a second try, interior point with blocking contacts
// resolved, damped Newton; all judged alike. docs/theory/auto.md.
#include "contact/cones.h"
#include "contact/run.h"
#include "contact/tuning.h"

#include <limits.h>
#include <math.h>
#include <string.h>

// Gauss-Seidel passes after contacts came or went: they find the active set at a fraction of the
// cost of a Newton iteration.
static void rgPassesFromStart(rgRun* run, double* lambda) {
    rgSystem* system = run->system;
    rgSystem_Velocity(system, lambda, run->trialSigma);
    for (int k = 0; k < RG_GAUSS_SEIDEL_PASSES && rgRun_Count(run, rg_phaseSweep); ++k) {
        system->ops->gaussSeidel(system, lambda, run->trialSigma, 1);
    }
}

// Bodies at rest: Newton as long as each iteration halves the residual. Among contacts with almost
// no load it changes the active set over and over; that error is local, and a few Gauss-Seidel
// passes remove it.
static rgResult rgStartAtRest(rgRun* run, double* lambda, rgNewtonOptions newton) {
    newton.quick = true;
    rgResult result = rgRunNewton(run, lambda, &newton);
    memcpy(lambda, run->best, (size_t)run->system->n * sizeof(double));
    if (result == rg_ok && !rgRun_Solved(run)) {
        result = rgRunGaussSeidel(run, lambda, RG_GAUSS_SEIDEL_PASSES, 1);
        memcpy(lambda, run->best, (size_t)run->system->n * sizeof(double));
    }
    return result;
}

// Proximal Newton from the start: of all solutions it finds the nearest one.
static rgResult rgNewtonFromStart(rgRun* run, double* lambda) {
    rgNewtonOptions newton = {.limit = RG_NEWTON_ITERATIONS,
                              .weight = 1,
                              .regularisation = RG_NEWTON_SHIFT_RATIO,

                              .proximal =
                                  rgRun_Uses(run, rg_planProximal) ? RG_NEWTON_PROXIMAL_RATIO : 0,
                              .centre = run->start,
                              .tolerance = run->firstTolerance};
    memcpy(lambda, run->start, (size_t)run->system->n * sizeof(double));
    if (run->firstTolerance < run->tolerance && run->warm &&
        run->bestResidual <= RG_START_FAR_RESIDUAL) {
        rgResult result = rgStartAtRest(run, lambda, newton);
        if (result != rg_ok || rgRun_Solved(run)) {
            return result;
        }
    }
    if (run->warm && run->bestResidual > RG_START_FAR_RESIDUAL) {
        rgPassesFromStart(run, lambda);
    }
    return rgRunNewton(run, lambda, &newton);
}

// Second try: a few Gauss-Seidel passes from the best point, then Newton with more regularization.
// Most cycles of the first try end here, for less than the interior point costs.
static rgResult rgNewtonAgain(rgRun* run, double* lambda) {
    rgNewtonOptions newton = {.limit = RG_NEWTON_ITERATIONS,
                              .weight = 1,
                              .regularisation = RG_AGAIN_SHIFT_RATIO,
                              .proximal =
                                  rgRun_Uses(run, rg_planProximal) ? RG_NEWTON_PROXIMAL_RATIO : 0,
                              .centre = run->start};
    memcpy(lambda, run->best, (size_t)run->system->n * sizeof(double));
    rgResult result = rgRunGaussSeidel(run, lambda, RG_GAUSS_SEIDEL_PASSES, 1);
    return result == rg_ok && !rgRun_Solved(run) ? rgRunNewton(run, lambda, &newton) : result;
}

static rgResult rgPhase_Newton(rgRun* run, double* lambda) {
    rgResult result = rgNewtonFromStart(run, lambda);
    bool again = result == rg_ok && !rgRun_Solved(run) && rgRun_Uses(run, rg_planAgain);
    return again ? rgNewtonAgain(run, lambda) : result;
}

// Interior point from zero impulses, which chooses no active set and so cannot cycle; then Newton
// from its end, since the central path stops a little before the solution.
static rgResult rgRunPolished(rgRun* run, const rgInteriorOptions* interior) {
    const rgNewtonOptions newton = {
        .limit = RG_NEWTON_ITERATIONS, .weight = 1, .regularisation = RG_NEWTON_SHIFT_RATIO};
    rgResult result = rgRunInterior(run, interior);
    return result == rg_ok && !rgRun_Solved(run) ? rgRunNewton(run, run->best, &newton) : result;
}

static rgResult rgPhase_Interior(rgRun* run, double* lambda) {
    (void)lambda;
    rgInteriorOptions interior = {.limit = RG_ROBUST_ITERATIONS,
                                  .polish = rgRun_Uses(run, rg_planPolish),
                                  .blockingMost =
                                      rgRun_Uses(run, rg_planFew) ? RG_BLOCKING_MOST_COUNT : 0};
    return interior.polish ? rgRunPolished(run, &interior) : rgRunInterior(run, &interior);
}

// Newton from zero impulses, with large regularization and small steps: friction above one.
static rgResult rgPhase_Damped(rgRun* run, double* lambda) {
    const rgNewtonOptions newtons[] = {
        {.limit = RG_ROBUST_ITERATIONS,
         .weight = RG_DAMPED_SMALL_WEIGHT,
         .regularisation = RG_DAMPED_SHIFT_RATIO},
        {.limit = RG_ROBUST_ITERATIONS,
         .weight = RG_DAMPED_LARGE_WEIGHT,
         .regularisation = RG_DAMPED_SHIFT_RATIO},
    };
    rgResult result = rg_ok;
    for (int i = 0; i < RG_COUNT(newtons) && result == rg_ok && !rgRun_Solved(run); ++i) {
        memset(lambda, 0, (size_t)run->system->n * sizeof(double));
        result = rgRunNewton(run, lambda, &newtons[i]);
    }
    return result;
}

static rgResult rgPhase_Certificate(rgRun* run, double* lambda) {
    (void)lambda;
    return rgRunCertificate(run, &run->infeasible);
}

// The phases, in order. Each runs only while the island is not solved; lambda is scratch.
typedef struct rgPhase {
    rgPlanPart part;
    rgResult (*run)(rgRun* run, double* lambda);
} rgPhase;
static const rgPhase rgPhases[] = {
    {rg_planStart, rgPhase_Newton},
    {rg_planInterior, rgPhase_Interior},
    {rg_planCertificate, rgPhase_Certificate}, // not in a world
    {rg_planDamped, rgPhase_Damped},
};

// Within a budget: Gauss-Seidel, which gains most at first; where the budget allows, Newton in
// between, regularized so that every iteration gains.
static rgResult rgPlan_Budgeted(rgRun* run, double* lambda) {
    const rgNewtonOptions newton = {.limit = INT_MAX,
                                    .weight = 1,
                                    .regularisation = RG_BUDGET_SHIFT_RATIO,
                                    .proximal = RG_NEWTON_PROXIMAL_RATIO};
    double whole = run->budget;
    memcpy(lambda, run->start, (size_t)run->system->n * sizeof(double));
    rgResult result = rg_ok;
    if (whole >= RG_BUDGET_LEAST_FACTORIZATIONS * run->system->newtonFlops) {
        run->budget = RG_BUDGET_PASSES_RATIO * whole;
        result = rgRunGaussSeidel(run, lambda, run->iterationLimit, 1);
        run->budget = (1 - RG_BUDGET_PASSES_RATIO) * whole;
        result = result == rg_ok ? rgRunNewton(run, run->best, &newton) : result;
        memcpy(lambda, run->best, (size_t)run->system->n * sizeof(double));
    }
    run->budget = whole;
    return result == rg_ok ? rgRunGaussSeidel(run, lambda, run->iterationLimit, 1) : result;
}

static rgResult rgPlan_Whole(rgRun* run, double* lambda) {
    rgResult result = rg_ok;
    for (int i = 0; i < RG_COUNT(rgPhases) && result == rg_ok; ++i) {
        bool done = i == 0 ? run->bestResidual <= run->firstTolerance : rgRun_Solved(run);
        if (!done && !run->infeasible && rgRun_Uses(run, rgPhases[i].part)) {
            result = rgPhases[i].run(run, lambda);
        }
    }
    return result;
}

// A warm start with a residual above this is scaled down to it: what bodies move in a step turns
// large self-stress into velocities far beyond the load's, and the nearest solution keeps it.
static void rgEaseStart(rgRun* run) {
    if (!run->warm || run->bestResidual <= RG_START_MOST_RESIDUAL) {
        return;
    }
    double share = RG_START_MOST_RESIDUAL / run->bestResidual;
    for (int i = 0; i < run->system->n; ++i) {
        run->start[i] *= share;
    }
    rgRun_Offer(run, run->start, NULL);
}

static rgResult rgRunPlan(rgRun* run) {
    rgArena* arena = run->system->arena;
    rgArenaMark mark = rgArena_Mark(arena);
    double* lambda = RG_TAKE(arena, double, run->system->n);
    if (lambda == NULL) {
        return rg_errorMemory;
    }
    rgEaseStart(run);
    rgResult result = run->budget > 0 ? rgPlan_Budgeted(run, lambda) : rgPlan_Whole(run, lambda);
    rgArena_Return(arena, mark);
    return result;
}

// Polygons in place of discs: pivots, then Gauss-Seidel passes if these fail.
static rgResult rgRunLinearised(rgRun* run, int limit) {
    rgResult result = rgRunPivots(run);
    return result == rg_ok && !rgRun_Solved(run) ? rgRunGaussSeidel(run, run->start, limit, 1)
                                                 : result;
}

rgResult rgRunMethod(rgRun* run) {
    const rgContactSolverDef* def = run->def;
    int limit = def->maxIterations;
    const rgNewtonOptions newton = {
        .limit = limit, .weight = 1, .regularisation = RG_NEWTON_SHIFT_RATIO, .cycles = true};
    const rgInteriorOptions interior = {.limit = RG_MIN(limit, RG_ROBUST_ITERATIONS),
                                        .blockingMost = RG_BLOCKING_MOST_COUNT};
    switch (def->method) {
    case rg_methodNewton:
        return rgRunNewton(run, run->start, &newton);
    case rg_methodAdmm:
        return rgRunAdmm(run, run->start, &def->admm, limit);
    case rg_methodPgs:
        return rgRunGaussSeidel(run, run->start, limit, def->overRelaxation);
    case rg_methodInterior:
        return rgRunPolished(run, &interior);
    case rg_methodPivot:
        return rgRunPivots(run);
    case rg_methodBisection:
        return rgRunBisection(run, limit, def->overRelaxation);
    case rg_methodAuto:
        break;
    }
    return rgModelSides(def->model) > 0 ? rgRunLinearised(run, limit) : rgRunPlan(run);
}
