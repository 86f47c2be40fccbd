// auto: Newton where it is near, an interior point where it is not, a short last resort; all from
// the best impulses so far, all judged alike. docs/theory/auto.md.
#include "contact/run.h"

#include <limits.h>
#include <math.h>
#include <string.h>

#define RG_FEW_FACTORIZATIONS 3   // budget below which sweeps get farther than anything else
#define RG_SWEEP_SHARE        0.2 // of a budget for sweeps before Newton, and after it
#define RG_LARGE              150 // rows from which what follows Newton is dear
#define RG_PATIENCE           6   // iterations of Newton there without much gain
#define RG_HUGE_RESTARTS      4   // of the restarts that are tried there
#define RG_CONTINUATION       16  // steps in which friction comes in
#define RG_LARGEST_START      10  // residual of a warm start
#define RG_FAR                0.1 // residual of a start that has the wrong active sets
#define RG_FAR_SWEEPS         2   // that mostly find the right ones
#define RG_REST_SWEEPS        5   // where Newton is not quick although all is at rest

// Other weights and more regularisation break the cycles that the first choice fell into. Large
// regularisation suits large piles, large weights small hyperstatic robots; what is left then is
// mostly friction above one, where large steps lead nowhere.
typedef struct rgRestartOptions {
    int sweeps; // from the best point; 0: Newton from zero
    rgNewtonOptions newton;
} rgRestartOptions;
static const rgRestartOptions rgRestarts[] = {
    {20, {.limit = 60, .weight = 1, .regularisation = 3e-2}},
    {20, {.limit = 150, .weight = 0.3, .regularisation = 1e-1}},
    {20, {.limit = 60, .weight = 3, .regularisation = 1e-2}},
    {20, {.limit = 60, .weight = 0.3, .regularisation = 1e-2}},
    {0, {.limit = 100, .weight = 0.1, .regularisation = 1, .proximal = 1e-3}},
    {100, {.limit = 100, .weight = 0.1, .regularisation = 1e-1, .proximal = 1}},
    {0, {.limit = 100, .weight = 10, .regularisation = 1}},
    {100, {.limit = 100, .weight = 1, .regularisation = 1e-1}},
    {0, {.limit = 100, .weight = 1, .regularisation = 1e-1}},
};

// The phases, in order. Each is run only while the island is not solved; lambda is scratch.
typedef rgResult rgPhaseFcn(rgRun* run, double* lambda);
typedef struct rgPhase {
    rgPlanPart part;
    rgPhaseFcn* run;
    bool inHuge; // also in islands of more than RG_HUGE rows
} rgPhase;

// Contacts that have come or gone since the last step: a sweep sees it at a fraction of what a step
// of Newton costs.
static void rgSweepStart(rgRun* run, double* lambda) {
    rgSystem* system = run->system;
    rgSystem_Velocity(system, lambda, run->trialSigma);
    for (int k = 0; k < RG_FAR_SWEEPS && rgRun_Count(run, rg_phaseSweep); ++k) {
        system->ops->sweep(system, lambda, run->trialSigma, 1);
    }
}

// What rests is near: Newton as long as it is quick. Among contacts that carry next to nothing it
// changes sets over and over; what is left wrong there is local, and few sweeps take it away.
static rgResult rgStartAtRest(rgRun* run, double* lambda, rgNewtonOptions newton) {
    newton.quick = true;
    rgResult result = rgRunNewton(run, lambda, &newton);
    memcpy(lambda, run->best, (size_t)run->system->n * sizeof(double));
    if (result == rg_ok && !rgRun_Solved(run)) {
        result = rgRunSweeps(run, lambda, RG_REST_SWEEPS, 1);
        memcpy(lambda, run->best, (size_t)run->system->n * sizeof(double));
    }
    return result;
}

// Of all impulses that would do, those nearest to the start: zero when cold, the last step's when
// warm.
static rgResult rgPhase_Start(rgRun* run, double* lambda) {
    rgNewtonOptions newton = {.limit = run->warm ? 20 : 25,
                              .weight = 1,
                              .regularisation = 1e-2,
                              .patience = run->system->n > RG_HUGE ? RG_PATIENCE : 0,
                              .proximal = rgRun_Uses(run, rg_planProximal) ? RG_PROXIMAL : 0,
                              .centre = run->start,
                              .aim = run->aim};
    memcpy(lambda, run->start, (size_t)run->system->n * sizeof(double));
    if (run->aim < run->tolerance && run->warm && run->bestResidual <= RG_FAR) {
        rgResult result = rgStartAtRest(run, lambda, newton);
        if (result != rg_ok || rgRun_Solved(run)) {
            return result;
        }
    }
    if (run->warm && run->bestResidual > RG_FAR) {
        rgSweepStart(run, lambda);
    }
    return rgRunNewton(run, lambda, &newton);
}

// Sweeps from the best point, then Newton with other options.
static rgResult rgRestart(rgRun* run, double* lambda, int sweeps, const rgNewtonOptions* newton) {
    memcpy(lambda, run->best, (size_t)run->system->n * sizeof(double));
    rgResult result = rgRunSweeps(run, lambda, sweeps, 1);
    return result == rg_ok && !rgRun_Solved(run) ? rgRunNewton(run, lambda, newton) : result;
}

// Once more, from elsewhere: most cycles of the start end here, for less than the interior point
// takes.
static rgResult rgPhase_Again(rgRun* run, double* lambda) {
    rgNewtonOptions newton = {.limit = 15,
                              .weight = 1,
                              .regularisation = 3e-2,
                              .proximal = rgRun_Uses(run, rg_planProximal) ? RG_PROXIMAL : 0,
                              .centre = run->start};
    return rgRestart(run, lambda, 5, &newton);
}

static rgResult rgPhase_Interior(rgRun* run, double* lambda) {
    (void)lambda;
    rgInteriorOptions options = {
        .limit = 40,
        .warm = true,
        .few = rgRun_Uses(run, rg_planFew) && run->system->n > RG_LARGE ? 20 : 0,
        .polish = rgRun_Uses(run, rg_planPolish)};
    rgResult result = run->warm ? rgRunInterior(run, &options) : rg_ok;
    options.warm = false;
    options.limit = 100;
    return result == rg_ok && !rgRun_Solved(run) ? rgRunInterior(run, &options) : result;
}

// From near the solution.
static rgResult rgPhase_Polish(rgRun* run, double* lambda) {
    (void)lambda;
    return rgRunNewton(run, run->best,
                       &(rgNewtonOptions){.limit = 20, .weight = 1, .regularisation = 1e-2});
}

static rgResult rgPhase_Restarts(rgRun* run, double* lambda) {
    int count = run->system->n <= RG_HUGE ? RG_COUNT(rgRestarts) : RG_HUGE_RESTARTS;
    rgResult result = rg_ok;
    for (int i = 0; result == rg_ok && i < count && !rgRun_Solved(run); ++i) {
        const rgRestartOptions* restart = rgRestarts + i;
        if (restart->sweeps > 0) {
            result = rgRestart(run, lambda, restart->sweeps, &restart->newton);
        } else {
            memset(lambda, 0, (size_t)run->system->n * sizeof(double));
            result = rgRunNewton(run, lambda, &restart->newton);
        }
    }
    // In small islands the exact solution of few contacts mostly costs more than it brings.
    rgInteriorOptions interior = {.limit = 100, .few = 20, .polish = true};
    bool small = run->system->n <= RG_LARGE && rgRun_Uses(run, rg_planFew);
    return result == rg_ok && small && !rgRun_Solved(run) ? rgRunInterior(run, &interior) : result;
}

// Friction that comes in by and by. Without it the problem is convex, and Newton follows the
// solution as long as it is one path.
static rgResult rgPhase_Continuation(rgRun* run, double* lambda) {
    rgSystem part = *run->system;
    rgArenaMark mark = rgArena_Mark(part.arena);
    part.sets = RG_TAKE(part.arena, rgSet, part.setCount);
    rgRun inner;
    rgResult result = rgRun_Fork(run, &part, &inner);
    if (result != rg_ok || part.sets == NULL) {
        return rg_errorMemory;
    }
    static const rgNewtonOptions newton = {.limit = 20, .weight = 1, .regularisation = 1e-2};
    memset(lambda, 0, (size_t)part.n * sizeof(double));
    for (int k = 0; k < RG_CONTINUATION && result == rg_ok; ++k) {
        for (int i = 0; i < part.setCount; ++i) {
            rgSet* set = part.sets + i;
            *set = run->system->sets[i];
            set->mu *= (double)k / RG_CONTINUATION;
            set->torsion *= (double)k / RG_CONTINUATION;
            set->rolling *= (double)k / RG_CONTINUATION;
        }
        inner.bestResidual = INFINITY;
        result = rgRunNewton(&inner, lambda, &newton);
        memcpy(lambda, inner.best, (size_t)part.n * sizeof(double));
    }
    rgRun_Join(run, &inner);
    static const rgNewtonOptions last = {.limit = 40, .weight = 1, .regularisation = 1e-2};
    result = result == rg_ok ? rgRunNewton(run, lambda, &last) : result;
    rgArena_Return(part.arena, mark);
    return result;
}

static rgResult rgPhase_Certificate(rgRun* run, double* lambda) {
    (void)lambda;
    return rgRunCertificate(run, &run->infeasible);
}

static const rgPhase rgPhases[] = {
    {rg_planStart, rgPhase_Start, true},
    {rg_planAgain, rgPhase_Again, false},
    {rg_planInterior, rgPhase_Interior, true},
    {rg_planPolish, rgPhase_Polish, false},
    {rg_planCertificate, rgPhase_Certificate, false},
    {rg_planContinuation, rgPhase_Continuation, false},
    {rg_planRestarts, rgPhase_Restarts, true},
};

// Within a budget: sweeps, which gain most at first; where the budget reaches far enough, Newton in
// their midst, held back so that it gains with every step.
static rgResult rgPlan_Budgeted(rgRun* run, double* lambda) {
    static const rgNewtonOptions newton = {
        .limit = INT_MAX, .weight = 1, .regularisation = 1e-1, .proximal = RG_PROXIMAL};
    double whole = run->budget;
    memcpy(lambda, run->start, (size_t)run->system->n * sizeof(double));
    rgResult result = rg_ok;
    if (whole >= RG_FEW_FACTORIZATIONS * run->system->pairFlops) {
        run->budget = RG_SWEEP_SHARE * whole;
        result = rgRunSweeps(run, lambda, run->iterationLimit, 1);
        run->budget = (1 - RG_SWEEP_SHARE) * whole;
        result = result == rg_ok ? rgRunNewton(run, run->best, &newton) : result;
        memcpy(lambda, run->best, (size_t)run->system->n * sizeof(double));
    }
    run->budget = whole;
    return result == rg_ok ? rgRunSweeps(run, lambda, run->iterationLimit, 1) : result;
}

static rgResult rgPlan_Whole(rgRun* run, double* lambda) {
    rgResult result = rg_ok;
    for (int i = 0; i < RG_COUNT(rgPhases) && result == rg_ok; ++i) {
        bool tried = run->system->n <= RG_HUGE || rgPhases[i].inHuge;
        bool done = i == 0 ? run->bestResidual <= run->aim : rgRun_Solved(run);
        if (tried && !done && !run->infeasible && rgRun_Uses(run, rgPhases[i].part)) {
            result = rgPhases[i].run(run, lambda);
        }
    }
    return result;
}

// A warm start with a residual above this is scaled down to it: what bodies move in a step turns
// large self-stress into velocities far beyond the load's, and the nearest solution keeps it.
static void rgEaseStart(rgRun* run) {
    if (!run->warm || run->bestResidual <= RG_LARGEST_START) {
        return;
    }
    double share = RG_LARGEST_START / run->bestResidual;
    for (int i = 0; i < run->system->n; ++i) {
        run->start[i] *= share;
    }
    rgRun_Offer(run, run->start, NULL);
}

rgResult rgRunPlan(rgRun* run) {
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
