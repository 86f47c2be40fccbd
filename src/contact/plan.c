// auto: cheap things first, each phase from the best impulses so far, all judged alike.
// docs/theory/auto.md.
#include "contact/run.h"

#include <math.h>
#include <string.h>

#define RG_PLAN_SWEEPS 5
#define RG_WARM_NEAR   10    // times the tolerance
#define RG_MOVING      0.03  // share of the sets above 1e-4 up to which a large island rests
#define RG_TREMBLING   0.08  // the same above 1e-5
#define RG_CALM_LEAST  1e-11 // residual that rounding allows
#define RG_SMALL       300   // rows beyond which Newton seldom finds the way from afar
#define RG_HUGE        1500 // rows beyond which a warm start's island gets the interior point alone
#define RG_LARGE       120  // rows from which a cold Newton gives way to the interior point sooner

// Sweeps find which contacts are open and which slip. They go on while they would reach the
// tolerance for less than a Newton step costs.
static rgResult rgPlan_Sweep(rgRun* run, double* lambda) {
    rgSystem* system = run->system;
    double affordable = system->pairFlops / system->sweepFlops;
    double before = run->bestResidual;
    rgResult result = rgRunSweeps(run, lambda, RG_PLAN_SWEEPS, 1);
    for (int round = 0; result == rg_ok && round < 40 && !rgRun_Solved(run); ++round) {
        double rate = run->bestResidual / before;
        double rounds = rate < 1 ? log(run->tolerance / run->bestResidual) / log(rate) : INFINITY;
        bool first = round == 0 && rate < 1;
        if (RG_PLAN_SWEEPS * rounds > 2 * affordable && !first) {
            break;
        }
        before = run->bestResidual;
        result = rgRunSweeps(run, lambda, RG_PLAN_SWEEPS, 1);
    }
    return result;
}

static rgResult rgPlan_Newton(rgRun* run, const double* start, int limit, double weight) {
    if (rgRun_Solved(run)) {
        return rg_ok;
    }
    return rgRunNewton(
        run, start, &(rgNewtonOptions){.limit = limit, .weight = weight, .regularisation = 1e-2});
}

// Sweeps, then Newton, each only when what came before has not solved the island.
static rgResult rgPlan_Try(rgRun* run, double* lambda, int sweeps, const rgNewtonOptions* newton) {
    rgResult result = rg_ok;
    if (!rgRun_Solved(run) && sweeps > 0) {
        result = rgRunSweeps(run, lambda, sweeps, 1);
    }
    if (result == rg_ok && !rgRun_Solved(run)) {
        result = rgRunNewton(run, lambda, newton);
    }
    return result;
}

// Nearly solved: a sweep or two settles the contacts that are hardly loaded, and Newton does the
// rest in a step or two or not at all. Where many impulses would do, a proximal term that does not
// vanish finds the nearest ones rather than cycling among all.
static rgResult rgPlan_Near(rgRun* run, double* lambda) {
    rgNewtonOptions plain = {.limit = 3, .weight = 1, .regularisation = 1e-4};
    rgNewtonOptions proximal = {.limit = 6, .weight = 1, .regularisation = 1e-4, .least = 1e-3};
    rgResult result = rgPlan_Try(run, lambda, 2, &plain);
    return result == rg_ok ? rgPlan_Try(run, run->best, 0, &proximal) : result;
}

// Other weights and more regularisation break the cycles that the first choice fell into. Large
// regularisation suits large piles, large weights small hyperstatic robots.
static const rgNewtonOptions rgRestarts[] = {
    {.limit = 60, .weight = 1, .regularisation = 3e-2},
    {.limit = 150, .weight = 0.3, .regularisation = 1e-1},
    {.limit = 60, .weight = 3, .regularisation = 1e-2},
    {.limit = 60, .weight = 0.3, .regularisation = 1e-2},
    {.limit = 150, .weight = 0.1, .regularisation = 1e-1},
    {.limit = 60, .weight = 10, .regularisation = 1e-2},
};

// The phases, in order. Each is run only while the island is not solved; lambda is scratch.
typedef rgResult rgPhaseFcn(rgRun* run, double* lambda);

// A large island rests when few of its sets are far from solved at the start.
static bool rgPlan_IsCalm(rgRun* run, const double* lambda) {
    rgSystem* system = run->system;
    double* sigma = run->trialSigma;
    rgSystem_Velocity(system, lambda, sigma);
    int moving = 0, trembling = 0;
    for (int i = 0; i < system->setCount; ++i) {
        double residual = rgSystem_SetResidual(system, i, lambda, sigma);
        moving += residual > 1e-4;
        trembling += residual > 1e-5;
    }
    return moving <= RG_MOVING * system->setCount && trembling <= RG_TREMBLING * system->setCount;
}

// A large island that rests: where it moves first, then Newton, which must not let go of the
// impulses that hold the rest. What is left wrong would be all over the island in the next step:
// more is done than the tolerance asks.
static rgResult rgPlan_Calm(rgRun* run, double* lambda) {
    static const rgNewtonOptions held = {
        .limit = 15, .weight = 1, .regularisation = 1e-3, .pull = 1e-5, .lastPull = 1e-5};
    static const rgNewtonOptions byAndBy = {
        .limit = 40, .weight = 1, .regularisation = 1e-3, .pull = 1e-2, .lastPull = 1e-5};
    rgResult result = rgRun_Uses(run, rg_planRegions) ? rgRunRegions(run, lambda) : rg_ok;
    run->aim = 0.5 * run->tolerance;
    if (result == rg_ok) {
        result = rgRunNewton(run, lambda, &held);
    }
    if (result == rg_ok && !rgRun_Solved(run)) {
        run->extraCount = 0;
        result = rgRunNewton(run, run->start, &byAndBy);
    }
    run->aim = fmin(run->tolerance, fmax(1e-4 * run->tolerance, RG_CALM_LEAST));
    run->extraCount = 0;
    return result;
}

static rgResult rgPlan_Warm(rgRun* run, double* lambda) {
    static const rgNewtonOptions newton = {.limit = 20, .weight = 1, .regularisation = 1e-3};
    if (run->bestResidual <= RG_WARM_NEAR * run->tolerance && rgRun_Uses(run, rg_planNear)) {
        return rgPlan_Near(run, lambda);
    }
    if (run->system->n <= RG_SMALL) {
        return rgPlan_Try(run, lambda, 0, &newton);
    }
    bool calm = rgRun_Uses(run, rg_planResting) && rgPlan_IsCalm(run, lambda);
    return calm ? rgPlan_Calm(run, lambda) : rg_ok;
}

static rgResult rgPhase_Start(rgRun* run, double* lambda) {
    memcpy(lambda, run->start, (size_t)run->system->n * sizeof(double));
    if (run->warm) {
        return rgPlan_Warm(run, lambda);
    }
    rgResult result = rgRun_Uses(run, rg_planSweeps) ? rgPlan_Sweep(run, lambda) : rg_ok;
    int limit = run->system->n > RG_LARGE ? 20 : 40;
    return result == rg_ok ? rgPlan_Newton(run, lambda, limit, 1) : result;
}

// Large islands: from several starts. Where one gets stuck, another mostly does not.
static const rgInteriorOptions rgInteriorStarts[] = {
    {.limit = 60, .size = 1, .slipShare = 1, .few = 20},
    {.limit = 60, .size = 1, .slipShare = 1, .few = 48},
    {.limit = 60, .size = 3, .slipShare = 0.5, .few = 48},
    {.limit = 60, .size = 1, .slipShare = 0.25, .few = 48},
};

static rgResult rgPlan_Interior(rgRun* run, rgInteriorOptions options) {
    options.few = rgRun_Uses(run, rg_planBottleneck) ? options.few : 0;
    return rgRunInterior(run, &options);
}

static rgResult rgPhase_Interior(rgRun* run, double* lambda) {
    (void)lambda;
    if (run->system->n <= RG_SMALL) {
        return rgPlan_Interior(
            run, (rgInteriorOptions){.limit = 30, .size = 1, .slipShare = 1, .few = 20});
    }
    rgResult result = rg_ok;
    int count = rgRun_Uses(run, rg_planStarts) ? RG_COUNT(rgInteriorStarts) : 1;
    for (int i = 0; result == rg_ok && i < count && !rgRun_Solved(run); ++i) {
        result = rgPlan_Interior(run, rgInteriorStarts[i]);
    }
    return result;
}

// The interior point brings large islands near the solution, where Newton circles unless it is held
// back much.
static rgResult rgPhase_Polish(rgRun* run, double* lambda) {
    (void)lambda;
    rgNewtonOptions slow = {.limit = 150, .weight = 3, .regularisation = 1};
    bool held = run->warm && run->system->n > RG_SMALL;
    return held ? rgRunNewton(run, run->best, &slow) : rgPlan_Newton(run, run->best, 20, 1);
}

// More sweeps from the best point, then Newton with other options.
static rgResult rgPhase_Restarts(rgRun* run, double* lambda) {
    rgResult result = rg_ok;
    for (int i = 0; result == rg_ok && i < RG_COUNT(rgRestarts) && !rgRun_Solved(run); ++i) {
        memcpy(lambda, run->best, (size_t)run->system->n * sizeof(double));
        result = rgRunSweeps(run, lambda, 20, 1);
        if (result == rg_ok && !rgRun_Solved(run)) {
            result = rgRunNewton(run, lambda, rgRestarts + i);
        }
    }
    return result;
}

static rgResult rgPhase_FromZero(rgRun* run, double* lambda) {
    memset(lambda, 0, (size_t)run->system->n * sizeof(double));
    return rgPlan_Newton(run, lambda, 100, 1);
}

static rgResult rgPhase_Admm(rgRun* run, double* lambda) {
    (void)lambda;
    rgAdmmDef admm = rgAcceleratedAdmmDef();
    return rgRunAdmm(run, run->best, &admm, 300);
}

// Smaller impulses and velocities to begin with, and a slip term that comes in by and by.
static rgResult rgPhase_OtherInterior(rgRun* run, double* lambda) {
    (void)lambda;
    return rgPlan_Interior(
        run, (rgInteriorOptions){.limit = 40, .size = 0.3, .slipShare = 0.25, .few = 20});
}

// The cascade is slow; Newton finishes what it brings near.
static rgResult rgPhase_Cascade(rgRun* run, double* lambda) {
    (void)lambda;
    rgResult result = rg_ok;
    if (run->def->model == rg_modelNcp) {
        result = rgRunCascade(run, run->system->n <= RG_SMALL ? 15 : 60);
    }
    return result == rg_ok ? rgPlan_Newton(run, run->best, 15, 1) : result;
}

static const struct {
    rgPhaseFcn* run;
    uint32_t part; // that it is; 0: always run
} rgPhases[] = {
    {rgPhase_Start, 0},
    {rgPhase_Interior, rg_planInterior},
    {rgPhase_Polish, rg_planPolish},
    {rgPhase_Restarts, rg_planRestarts},
    {rgPhase_OtherInterior, rg_planOtherInterior},
    {rgPhase_Polish, rg_planPolish},
    {rgPhase_FromZero, rg_planFromZero},
    {rgPhase_Admm, rg_planAdmm},
    {rgPhase_Polish, rg_planPolish},
    {rgPhase_Cascade, rg_planCascade},
};

// Newton and the rest hardly ever solve what the interior point could not in so large an island.
static int rgPhaseCount(const rgRun* run) {
    return run->warm && run->system->n > RG_HUGE ? 2 : RG_COUNT(rgPhases);
}

rgResult rgRunPlan(rgRun* run) {
    rgArena* arena = run->system->arena;
    rgArenaMark mark = rgArena_Mark(arena);
    double* lambda = RG_TAKE(arena, double, run->system->n);
    rgResult result = lambda != NULL ? rg_ok : rg_errorMemory;
    for (int i = 0; result == rg_ok && i < rgPhaseCount(run) && !rgRun_Solved(run); ++i) {
        if ((run->def->disabled & rgPhases[i].part) == 0) {
            result = rgPhases[i].run(run, lambda);
        }
    }
    rgArena_Return(arena, mark);
    return result;
}
