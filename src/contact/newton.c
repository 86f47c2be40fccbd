// Semismooth Newton on the Alart-Curnier map with a proximal regularisation and a nonmonotone line
// search. newton.7-10.
#include "contact/newton.h"

#include <math.h>
#include <string.h>

// newton.11: p (lambda - c), added to a vector of velocities; centre NULL counts as zero
static void rgNewton_AddProximal(const rgNewton* newton, const double* lambda, const double* centre,
                                 double* sigma) {
    for (int i = 0; newton->proximal > 0 && i < newton->system->n; ++i) {
        sigma[i] += newton->proximal * (lambda[i] - (centre != NULL ? centre[i] : 0));
    }
}

// The map at the iterate, whose velocity is known without the proximal term.
static void rgNewton_EvaluateMap(rgNewton* newton) {
    rgNewton_AddProximal(newton, newton->lambda, newton->centre, newton->sigma);
    newton->norm = rgSystem_Map(newton->system, newton->lambda, newton->sigma, newton->F);
}

static void rgNewton_Evaluate(rgNewton* newton) {
    rgSystem_Velocity(newton->system, newton->lambda, newton->sigma);
    rgNewton_EvaluateMap(newton);
}

static rgResult rgNewton_Init(rgNewton* newton, rgRun* run, const double* lambda,
                              const rgNewtonOptions* options) {
    rgSystem* system = run->system;
    rgArena* arena = system->arena;
    *newton =
        (rgNewton){.run = run, .system = system, .options = options, .proximal = options->proximal};
    double** vectors[] = {&newton->lambda, &newton->sigma, &newton->F,
                          &newton->step,   &newton->moved, &newton->lambda2,
                          &newton->sigma2, &newton->F2,    &newton->centre};
    for (int i = 0; i < RG_COUNT(vectors); ++i) {
        *vectors[i] = RG_TAKE(arena, double, system->n);
    }
    newton->A = RG_TAKE(arena, double, system->entryCount);
    newton->B = RG_TAKE(arena, double, system->entryCount);
    newton->kinds = RG_TAKE(arena, rgJacobianKind, system->blockCount);
    if (arena->failed) {
        return rg_errorMemory;
    }
    memcpy(newton->lambda, lambda, (size_t)system->n * sizeof(double));
    memcpy(newton->centre, options->centre != NULL ? options->centre : lambda,
           (size_t)system->n * sizeof(double));
    if (options->sigma == NULL) {
        rgNewton_Evaluate(newton);
    } else {
        memcpy(newton->sigma, options->sigma, (size_t)system->n * sizeof(double));
        rgNewton_EvaluateMap(newton);
    }
    newton->past[newton->pastCount++] = newton->norm;
    return rg_ok;
}

// newton.7: regularisation: vanishes with the map, so that the last steps are full Newton steps
static double rgNewton_Regularisation(const rgNewton* newton) {
    double load = 1;
    for (int i = 0; i < newton->system->n; ++i) {
        load = fmax(load, fabs(newton->lambda[i]));
    }
    double eps = newton->options->regularisation * fmin(newton->norm, 1) / load;
    return fmax(eps, RG_LEAST_SHIFT);
}

// A + p B
static void rgNewton_LinearizeProximal(rgNewton* newton) {
    for (int i = 0; newton->proximal > 0 && i < newton->system->entryCount; ++i) {
        newton->A[i] += newton->proximal * newton->B[i];
    }
}

// Residual of the iterate offered last in the problem with the proximal term.
static double rgNewton_ProximalResidual(const rgNewton* newton) {
    rgRun* run = newton->run;
    rgNewton_AddProximal(newton, run->trial, newton->centre, run->trialSigma);
    return rgSystem_Residual(newton->system, run->trial, run->trialSigma);
}

void rgNewton_SolveStep(rgNewton* newton, const double* rhs) {
    const rgSystemOps* ops = newton->system->ops;
    ops->solveNewton(newton->system, rhs, newton->step, NULL);
    ops->apply(newton->system, newton->step, newton->moved);
    rgNewton_AddProximal(newton, newton->step, NULL, newton->moved);
}

// newton.8: (A + eps I + B (G + p)) d = -F
static rgResult rgNewton_Step(rgNewton* newton) {
    rgSystem* system = newton->system;
    rgSystem_Linearize(system, newton->lambda, newton->sigma, newton->A, newton->B, newton->kinds);
    rgNewton_LinearizeProximal(newton);
    double eps = rgNewton_Regularisation(newton);
    rgResult result = system->ops->factorNewton(system, newton->A, newton->B, newton->kinds, eps);
    if (result != rg_ok) {
        return result;
    }
    for (int i = 0; i < system->n; ++i) {
        newton->F2[i] = -newton->F[i];
    }
    rgNewton_SolveStep(newton, newton->F2);
    double sum = 0;
    for (int i = 0; i < system->n; ++i) {
        sum += newton->step[i] * 0;
    }
    return sum == 0 ? rg_ok : rg_errorNumeric;
}

void rgNewton_Try(rgNewton* newton, double t) {
    for (int i = 0; i < newton->system->n; ++i) {
        newton->lambda2[i] = newton->lambda[i] + t * newton->step[i];
        newton->sigma2[i] = newton->sigma[i] + t * newton->moved[i];
    }
    newton->trialNorm = rgSystem_Map(newton->system, newton->lambda2, newton->sigma2, newton->F2);
}

// newton.9: first of 1, 1/2, ... that does not exceed the worst recent |F|; else the least bad of
// them
static void rgNewton_Search(rgNewton* newton) {
    double reference = newton->norm;
    for (int i = 0; i < RG_MIN(newton->pastCount, RG_NEWTON_ITERATIONS); ++i) {
        reference = fmax(reference, newton->past[i]);
    }
    double bestNorm = INFINITY;
    double bestLength = 1;
    double t = 1;
    for (; t > RG_LINE_SEARCH_LEAST_STEP; t *= 0.5) {
        rgNewton_Try(newton, t);
        if (newton->trialNorm < bestNorm) {
            bestNorm = newton->trialNorm;
            bestLength = t;
        }
        if (newton->trialNorm < reference) {
            return;
        }
    }
    rgNewton_Try(newton, bestLength);
}

static void rgSwap(double** a, double** b) {
    double* c = *a;
    *a = *b;
    *b = c;
}

// The trial point becomes the iterate. Its velocity is updated, not computed; the judge computes
// its own.
static void rgNewton_Accept(rgNewton* newton) {
    rgSwap(&newton->lambda, &newton->lambda2);
    rgSwap(&newton->sigma, &newton->sigma2);
    rgSwap(&newton->F, &newton->F2);
    newton->norm = newton->trialNorm;
    newton->past[newton->pastCount++ % RG_NEWTON_ITERATIONS] = newton->norm;
}

// newton.12: When the residual is that of the proximal term, its centre moves here, and the term
// becomes a tenth.
static void rgNewton_MoveCentre(rgNewton* newton) {
    int n = newton->system->n;
    double sum = 0;
    for (int i = 0; i < n; ++i) {
        double left = newton->proximal * (newton->lambda[i] - newton->centre[i]);
        sum += left * left;
    }
    if (newton->norm > RG_CENTRE_MAP_RATIO * sqrt(sum)) {
        return;
    }
    memcpy(newton->centre, newton->lambda, (size_t)n * sizeof(double));
    newton->proximal *= RG_CENTRE_PROXIMAL_RATIO;
    rgNewton_Evaluate(newton);
    newton->pastCount = 0;
    newton->past[newton->pastCount++] = RG_CENTRE_GROWTH_RATIO * newton->norm;
}

// True if |F| is that of an earlier iteration: the same active sets come around again.
static bool rgNewton_Cycles(const rgNewton* newton) {
    bool found = false;
    for (int back = 2; back < RG_MIN(newton->pastCount, RG_NEWTON_ITERATIONS); ++back) {
        double past = newton->past[(newton->pastCount - 1 - back) % RG_NEWTON_ITERATIONS];
        found = found || fabs(past - newton->norm) <= RG_CYCLE_MAP_RATIO * newton->norm;
    }
    return found;
}

rgResult rgRunNewton(rgRun* run, const double* lambda, const rgNewtonOptions* options) {
    rgSystem* system = run->system;
    rgArenaMark mark = rgArena_Mark(system->arena);
    rgNewton newton;
    rgResult result = rgNewton_Init(&newton, run, lambda, options);
    double tolerance = options->tolerance > 0 ? options->tolerance : run->tolerance;
    for (int k = 0; result == rg_ok && k < options->limit && run->bestResidual > tolerance; ++k) {
        if (!rgRun_Count(run, rg_phaseNewton)) {
            break;
        }
        result = rgNewton_Step(&newton);
        if (result != rg_ok) {
            break;
        }
        if (options->eliminate || system->blockCount > RG_LARGE_BLOCK_COUNT) {
            result = rgNewton_SolveSubproblem(&newton);
            if (result != rg_ok) {
                break;
            }
        }
        rgNewton_Search(&newton);
        rgNewton_Accept(&newton);
        double before = run->bestResidual;
        double residual =
            rgRun_UpdateBest(run, newton.lambda, NULL); // newton.10: the judge decides
        rgRun_RecordResidual(run, rg_phaseNewton, residual);
        if (options->enough > 0 &&
            fmin(residual, rgNewton_ProximalResidual(&newton)) <= options->enough) {
            break;
        }
        bool slow = run->bestResidual > RG_SLOW_RESIDUAL_RATIO * before;
        bool stalled = slow && (options->quick || rgRun_Solved(run));
        if (!isfinite(newton.norm) || stalled || run->bestResidual <= tolerance ||
            (!options->cycles && rgNewton_Cycles(&newton))) {
            break;
        }
        if (newton.proximal > 0 && !options->keepCentre) {
            rgNewton_MoveCentre(&newton);
        }
    }
    if (options->last != NULL) {
        memcpy(options->last, newton.lambda, (size_t)system->n * sizeof(double));
    }
    rgArena_Return(system->arena, mark);
    return result == rg_errorNumeric ? rg_ok : result;
}
