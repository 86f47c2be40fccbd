// auto: accept the start, proximal Newton, interior point with blocking contacts resolved, damped
// Newton; all judged alike. docs/theory/auto.md.
#include "contact/cones.h"
#include "contact/run.h"
#include "contact/tuning.h"

#include <math.h>
#include <string.h>

// Gauss-Seidel passes after contacts came or went: they find the active set at a fraction of the
// cost of a Newton iteration. trialSigma is the velocity of lambda, before and after.
static void rgPassesFromStart(rgRun* run, double* lambda) {
    rgSystem* system = run->system;
    for (int k = 0; k < RG_GAUSS_SEIDEL_PASSES && rgRun_Count(run, rg_phaseSweep); ++k) {
        system->ops->gaussSeidel(system, lambda, run->trialSigma, 1);
    }
}

// True if contacts have come or gone.
static bool rgRun_IsFar(const rgRun* run) {
    return run->warm && run->bestResidual > RG_START_FAR_RESIDUAL;
}

static bool rgRun_IsAtRest(const rgRun* run) {
    return run->firstTolerance < run->tolerance && run->warm &&
           run->bestResidual <= RG_START_FAR_RESIDUAL;
}

static rgNewtonOptions rgNewtonAroundStart(const rgRun* run) {
    return (rgNewtonOptions){.limit = RG_NEWTON_ITERATIONS,
                             .regularisation = RG_NEWTON_SHIFT_RATIO,
                             .proximal =
                                 rgRun_Uses(run, rg_planProximal) ? RG_NEWTON_PROXIMAL_RATIO : 0,
                             .centre = run->start,
                             .sigma = run->trialSigma,
                             .tolerance = run->firstTolerance};
}

// Bodies at rest: Newton as long as each iteration halves the residual. Among contacts with almost
// no load it changes the active set over and over; that error is local, and a few Gauss-Seidel
// passes remove it.
static rgResult rgStartAtRest(rgRun* run, double* lambda) {
    rgNewtonOptions newton = rgNewtonAroundStart(run);
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
    rgNewtonOptions newton = rgNewtonAroundStart(run);
    memcpy(lambda, run->start, (size_t)run->system->n * sizeof(double));
    if (rgRun_IsAtRest(run)) {
        rgResult result = rgStartAtRest(run, lambda);
        if (result != rg_ok || rgRun_Solved(run)) {
            return result;
        }
        newton.sigma = NULL;
    } else if (rgRun_IsFar(run)) {
        rgPassesFromStart(run, lambda);
    }
    return rgRunNewton(run, lambda, &newton);
}

// True where a few contacts are wrong among many, rather than many of a few.
static bool rgRun_IsLarge(const rgRun* run) {
    return run->system->blockCount > RG_LARGE_BLOCK_COUNT;
}

// Residual of impulses, projected, in the problem with the proximal term p (lambda - c), and in the
// one without.
static double rgProximalResidual(rgRun* run, double p, const double* centre, double* lambda,
                                 double* rigid) {
    rgSystem_Project(run->system, lambda);
    *rigid = rgRun_UpdateBest(run, lambda, NULL);
    for (int i = 0; i < run->system->n; ++i) {
        run->trialSigma[i] += p * (lambda[i] - centre[i]);
    }
    return rgSystem_Residual(run->system, lambda, run->trialSigma);
}

// Method of multipliers: Newton on problems with the proximal term p (lambda - c), each to the
// accuracy, around `first`, then around the impulses of the problem before. p is larger where that
// was not solved, smaller where the rigid residual does not fall.
static rgResult rgRunMultipliers(rgRun* run, double accuracy, const double* first, double* lambda) {
    rgArenaMark mark = rgArena_Mark(run->system->arena);
    size_t bytes = (size_t)run->system->n * sizeof(double);
    double* centre = RG_TAKE(run->system->arena, double, run->system->n);
    double p = accuracy, before = INFINITY;
    if (centre == NULL) {
        return rg_errorMemory;
    }
    memcpy(centre, first, bytes);
    rgResult result = rg_ok;
    int end = run->iterationCount + RG_ROBUST_ITERATIONS;
    do {
        const rgNewtonOptions newton = {.limit = RG_MULTIPLIER_ITERATIONS,
                                        .regularisation = RG_NEWTON_SHIFT_RATIO,
                                        .proximal = p,
                                        .centre = centre,
                                        .keepCentre = true,
                                        .enough = accuracy,
                                        .last = lambda};
        result = rgRunNewton(run, lambda, &newton);
        double residual;
        if (rgProximalResidual(run, p, centre, lambda, &residual) > accuracy) {
            p = fmin(RG_PROXIMAL_GROWTH_RATIO * p, 1);
        } else if (residual > RG_SLOW_RESIDUAL_RATIO * before) {
            p *= RG_MULTIPLIER_DECAY_RATIO;
        }
        before = residual;
        memcpy(centre, lambda, bytes);
    } while (result == rg_ok && run->bestResidual > accuracy && run->iterationCount < end &&
             rgRun_MayContinue(run));
    rgArena_Return(run->system->arena, mark);
    return result;
}

// Large islands: to an accuracy first, whose proximal weight is as large as it can be, then to the
// tolerance.
static rgResult rgMultipliersToTolerance(rgRun* run, double* lambda) {
    double accuracy = fmax(RG_MULTIPLIER_FIRST_RESIDUAL, run->tolerance);
    rgResult result = rgRunMultipliers(run, accuracy, lambda, lambda);
    return result == rg_ok && !rgRun_Solved(run)
               ? rgRunMultipliers(run, run->tolerance, lambda, lambda)
               : result;
}

static rgResult rgPhase_Newton(rgRun* run, double* lambda) {
    size_t bytes = (size_t)run->system->n * sizeof(double);
    if (rgRun_IsLarge(run) && rgRun_IsFar(run)) {
        memcpy(lambda, run->start, bytes);
        rgPassesFromStart(run, lambda);
        return rgMultipliersToTolerance(run, lambda);
    }
    rgResult result = rgNewtonFromStart(run, lambda);
    if (result == rg_ok && !rgRun_Solved(run) && rgRun_IsLarge(run)) {
        memcpy(lambda, run->best, bytes);
        return rgMultipliersToTolerance(run, lambda);
    }
    return result;
}

// Interior point from zero impulses, which chooses no active set and so cannot cycle; then Newton
// from its end, since the central path stops a little before the solution.
static rgResult rgRunPolished(rgRun* run, const rgInteriorOptions* interior) {
    const rgNewtonOptions newton = {.limit = RG_NEWTON_ITERATIONS,
                                    .regularisation = RG_NEWTON_SHIFT_RATIO};
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

// Damped Newton, which goes on although it cycles: from the best impulses, then from zero. For
// friction above one.
static rgResult rgPhase_Damped(rgRun* run, double* lambda) {
    const rgNewtonOptions newton = {
        .limit = RG_ROBUST_ITERATIONS, .regularisation = RG_DAMPED_SHIFT_RATIO, .cycles = true};
    rgResult result = rgRunNewton(run, run->best, &newton);
    if (result == rg_ok && !rgRun_Solved(run)) {
        memset(lambda, 0, (size_t)run->system->n * sizeof(double));
        result = rgRunNewton(run, lambda, &newton);
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

// A warm start with a residual above this is scaled down to it: the motion of a step turns large
// self-stress into velocities far beyond the load's, and the nearest solution keeps it.
static void rgScaleStart(rgRun* run) {
    if (!run->warm || run->bestResidual <= RG_START_MOST_RESIDUAL) {
        return;
    }
    double share = RG_START_MOST_RESIDUAL / run->bestResidual;
    for (int i = 0; i < run->system->n; ++i) {
        run->start[i] *= share;
    }
    rgRun_UpdateBest(run, run->start, NULL);
}

// To an accuracy: bodies at rest as ever; the method of multipliers, one iteration at least so that
// bodies that slow down converge; the interior point where it fails.
static rgResult rgPlan_Accurate(rgRun* run, double* lambda) {
    rgResult result = rg_ok;
    memcpy(lambda, run->start, (size_t)run->system->n * sizeof(double));
    bool rested = rgRun_IsAtRest(run);
    if (rested) {
        result = rgStartAtRest(run, lambda);
    } else if (rgRun_IsFar(run)) {
        rgPassesFromStart(run, lambda);
    }
    if (result == rg_ok && !(rested && rgRun_Satisfied(run))) {
        result = rgRunMultipliers(run, run->accuracy, run->start, lambda);
    }
    double tolerance = run->tolerance;
    run->tolerance = run->accuracy;
    if (result == rg_ok && !rgRun_Solved(run)) {
        result = rgPhase_Interior(run, lambda);
    }
    run->tolerance = tolerance;
    return result;
}

static rgResult rgRunPlan(rgRun* run) {
    rgArena* arena = run->system->arena;
    rgArenaMark mark = rgArena_Mark(arena);
    double* lambda = RG_TAKE(arena, double, run->system->n);
    if (lambda == NULL) {
        return rg_errorMemory;
    }
    rgScaleStart(run);
    rgResult result =
        run->accuracy > run->tolerance ? rgPlan_Accurate(run, lambda) : rgPlan_Whole(run, lambda);
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
        .limit = limit, .regularisation = RG_NEWTON_SHIFT_RATIO, .cycles = true};
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
    case rg_methodDojo:
        return rgRunDojo(run, limit);
    case rg_methodStaggered:
        return rgRunStaggered(run, limit);
    case rg_methodAuto:
        break;
    }
    return rgModelSides(def->model) > 0 ? rgRunLinearised(run, limit) : rgRunPlan(run);
}
