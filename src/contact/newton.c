// Semismooth Newton on the Alart-Curnier map with a proximal regularisation and a nonmonotone line
// search. docs/theory/newton.md (7)-(10).
#include "contact/run.h"

#include <math.h>
#include <string.h>

#define RG_NEWTON_MEMORY   20  // a step may be as bad as the worst of so many iterates
#define RG_NEWTON_REFRESH  5   // iterations between two computed velocities
#define RG_NEWTON_ALIKE    0.3 // relative difference of |F|
#define RG_NEWTON_PATIENCE 8   // iterations after which a pulled Newton must be nearer
#define RG_NEWTON_SLACK    1e3 // growth of |F| that is allowed after the centre has moved
#define RG_NEWTON_CENTRED  0.1 // |F| over what the pull leaves at which its centre moves

typedef struct rgNewton {
    rgRun* run;
    rgSystem* system;
    const rgNewtonOptions* options;
    double weight;   // r
    double* lambda;  // iterate, not necessarily in K
    double* sigma;   // its velocity, with the pull
    double* centre;  // what the pull pulls to
    double* pull;    // how much, n; NULL when there is none
    double pullNow;  // the largest of them
    double* F;       // map at the iterate
    double* step;    // d
    double* moved;   // G d
    double* lambda2; // trial point of the line search
    double* sigma2;
    double* F2;
    double* A;
    double* B;
    bool* idle;
    double norm;         // |F|
    double first, least; // |F| at the start and the smallest so far
    double trialNorm;
    double ceiling; // most of |F| that counts for the regularisation
    int slowSteps;  // in a row
    double past[RG_NEWTON_MEMORY];
    int pastCount;
} rgNewton;

// (11) less where impulses are large, since the residual counts the product
static rgResult rgNewton_TakePull(rgNewton* newton) {
    const rgSystem* system = newton->system;
    newton->pullNow = newton->options->pull;
    newton->pull = RG_TAKE(system->arena, double, system->n);
    if (newton->pull == NULL) {
        return rg_errorMemory;
    }
    for (int i = 0; i < system->setCount; ++i) {
        const rgSet* set = system->sets + i;
        double load = 1;
        for (int k = 0; k < set->size; ++k) {
            load = fmax(load, fabs(newton->centre[set->row + k]));
        }
        for (int k = 0; k < set->size; ++k) {
            newton->pull[set->row + k] = newton->pullNow / load;
        }
    }
    return rg_ok;
}

// Add what the pull makes of a vector of impulses to a vector of velocities.
static void rgNewton_AddPull(const rgNewton* newton, const double* lambda, const double* centre,
                             double* sigma) {
    for (int i = 0; newton->pull != NULL && i < newton->system->n; ++i) {
        sigma[i] += newton->pull[i] * (lambda[i] - (centre != NULL ? centre[i] : 0));
    }
}

static void rgNewton_Evaluate(rgNewton* newton) {
    rgSystem_Velocity(newton->system, newton->lambda, newton->sigma);
    rgNewton_AddPull(newton, newton->lambda, newton->centre, newton->sigma);
    newton->norm =
        rgSystem_Map(newton->system, newton->weight, newton->lambda, newton->sigma, newton->F);
}

static rgResult rgNewton_Init(rgNewton* newton, rgRun* run, const double* lambda,
                              const rgNewtonOptions* options) {
    rgSystem* system = run->system;
    rgArena* arena = system->arena;
    *newton = (rgNewton){
        .run = run, .system = system, .options = options, .weight = options->weight, .ceiling = 1};
    double** vectors[] = {&newton->lambda, &newton->sigma, &newton->F,
                          &newton->step,   &newton->moved, &newton->lambda2,
                          &newton->sigma2, &newton->F2,    &newton->centre};
    for (int i = 0; i < RG_COUNT(vectors); ++i) {
        *vectors[i] = RG_TAKE(arena, double, system->n);
    }
    newton->A = RG_TAKE(arena, double, system->pairCount);
    newton->B = RG_TAKE(arena, double, system->pairCount);
    newton->idle = RG_TAKE(arena, bool, system->setCount);
    if (arena->failed) {
        return rg_errorMemory;
    }
    memcpy(newton->lambda, lambda, (size_t)system->n * sizeof(double));
    memcpy(newton->centre, lambda, (size_t)system->n * sizeof(double));
    rgResult result = options->pull > 0 ? rgNewton_TakePull(newton) : rg_ok;
    if (result != rg_ok) {
        return result;
    }
    rgNewton_Evaluate(newton);
    newton->first = newton->least = newton->norm;
    newton->past[newton->pastCount++] = newton->norm;
    return rg_ok;
}

// (7) regularisation: vanishes with the map, so that the last steps are full Newton steps
static double rgNewton_Regularisation(const rgNewton* newton) {
    double least = fmax(newton->options->least, rgSystem_LeastShift(newton->system));
    return fmax(newton->options->regularisation * fmin(newton->norm, newton->ceiling), least);
}

// A + B pull
static void rgNewton_LinearizePull(rgNewton* newton) {
    for (int i = 0; newton->pull != NULL && i < newton->system->setCount; ++i) {
        const rgSet* set = newton->system->sets + i;
        double* A = newton->A + set->pairStart;
        const double* B = newton->B + set->pairStart;
        for (int k = 0; k < set->size * set->size; ++k) {
            A[k] += newton->pull[set->row] * B[k];
        }
    }
}

// (8) (A + eps I + B (G + pull)) d = -F
static rgResult rgNewton_Step(rgNewton* newton) {
    rgSystem* system = newton->system;
    rgSystem_Linearize(system, newton->weight, newton->lambda, newton->sigma, newton->A, newton->B,
                       newton->idle);
    rgNewton_LinearizePull(newton);
    double eps = rgNewton_Regularisation(newton);
    rgResult result = system->ops->factorPair(system, newton->A, newton->B, newton->idle, eps);
    for (int tries = 0; result == rg_errorNumeric && tries < 3; ++tries) {
        eps = fmax(100 * eps, 1e-6);
        result = system->ops->factorPair(system, newton->A, newton->B, newton->idle, eps);
    }
    if (result != rg_ok) {
        return result;
    }
    for (int i = 0; i < system->n; ++i) {
        newton->F2[i] = -newton->F[i];
    }
    system->ops->solvePair(system, newton->F2, newton->step);
    double sum = 0;
    for (int i = 0; i < system->n; ++i) {
        sum += newton->step[i] * 0;
    }
    return sum == 0 ? rg_ok : rg_errorNumeric;
}

static void rgNewton_Try(rgNewton* newton, double t) {
    for (int i = 0; i < newton->system->n; ++i) {
        newton->lambda2[i] = newton->lambda[i] + t * newton->step[i];
        newton->sigma2[i] = newton->sigma[i] + t * newton->moved[i];
    }
    newton->trialNorm =
        rgSystem_Map(newton->system, newton->weight, newton->lambda2, newton->sigma2, newton->F2);
}

// |F| of the k-th iterate before the present one.
static double rgNewton_Past(const rgNewton* newton, int k) {
    return newton->past[(newton->pastCount - 1 - k) % RG_NEWTON_MEMORY];
}

// Two points that lead to each other: as good as the last time around, twice.
static bool rgNewton_Cycles(const rgNewton* newton) {
    if (newton->pastCount < 4 || !rgRun_Uses(newton->run, rg_planCycles)) {
        return false;
    }
    double a = rgNewton_Past(newton, 0), b = rgNewton_Past(newton, 1);
    return fabs(a - rgNewton_Past(newton, 2)) < RG_NEWTON_ALIKE * a &&
           fabs(b - rgNewton_Past(newton, 3)) < RG_NEWTON_ALIKE * b;
}

// (9) first of 1, 1/2, ... that does not exceed the worst recent |F|, or the present one when the
// last steps went in a circle; else the least bad of them
static double rgNewton_Search(rgNewton* newton) {
    double reference = newton->norm;
    bool cycles = rgNewton_Cycles(newton);
    for (int i = 0; !cycles && i < RG_MIN(newton->pastCount, RG_NEWTON_MEMORY); ++i) {
        reference = fmax(reference, newton->past[i]);
    }
    double bestNorm = INFINITY;
    double bestLength = 1;
    double t = 1;
    for (; t > 0.05; t *= 0.5) {
        rgNewton_Try(newton, t);
        if (newton->trialNorm < bestNorm) {
            bestNorm = newton->trialNorm;
            bestLength = t;
        }
        if (newton->trialNorm < (1 - 1e-4 * t) * reference) {
            break;
        }
    }
    if (t <= 0.05) {
        rgNewton_Try(newton, bestLength);
        t = bestLength;
    }
    return t;
}

// Full steps that help a little each time are held back by the regularisation: lower its ceiling.
static void rgNewton_AdaptCeiling(rgNewton* newton, double length, double normBefore) {
    bool slow = length == 1 && newton->norm < normBefore && newton->norm > 0.7 * normBefore;
    newton->slowSteps = slow ? newton->slowSteps + 1 : 0;
    if (newton->slowSteps >= 2 && rgRun_Uses(newton->run, rg_planCeiling)) {
        newton->ceiling = fmax(0.01 * newton->ceiling, 1e-4);
    }
}

static void rgSwap(double** a, double** b) {
    double* c = *a;
    *a = *b;
    *b = c;
}

// The trial point becomes the iterate. Its velocity was updated, not computed: now and then it is
// computed, lest rounding adds up.
static void rgNewton_Accept(rgNewton* newton) {
    rgSwap(&newton->lambda, &newton->lambda2);
    rgSwap(&newton->sigma, &newton->sigma2);
    rgSwap(&newton->F, &newton->F2);
    newton->norm = newton->trialNorm;
    if (newton->pastCount % RG_NEWTON_REFRESH == 0) {
        rgNewton_Evaluate(newton);
    }
    newton->past[newton->pastCount++ % RG_NEWTON_MEMORY] = newton->norm;
}

// (12) What is left is the pull's doing: the centre moves here. False when it does not yet.
static bool rgNewton_MoveCentre(rgNewton* newton) {
    int n = newton->system->n;
    double sum = 0;
    for (int i = 0; i < n; ++i) {
        double left = newton->pull[i] * (newton->lambda[i] - newton->centre[i]);
        sum += left * left;
    }
    if (newton->norm > RG_NEWTON_CENTRED * sqrt(sum)) {
        return false;
    }
    memcpy(newton->centre, newton->lambda, (size_t)n * sizeof(double));
    double share = fmax(0.1, newton->options->lastPull / newton->pullNow);
    newton->pullNow *= share;
    for (int i = 0; i < n; ++i) {
        newton->pull[i] *= share;
    }
    rgNewton_Evaluate(newton);
    newton->pastCount = 0;
    newton->past[newton->pastCount++] = RG_NEWTON_SLACK * newton->norm;
    return true;
}

// With a pull, Newton is near or not at all: whether to go on after iteration k.
static bool rgNewton_GoesOn(rgNewton* newton, int k) {
    if (newton->pull == NULL) {
        return true;
    }
    newton->least = fmin(newton->least, newton->norm);
    bool lost = k + 1 >= RG_NEWTON_PATIENCE && newton->least > 0.1 * newton->first;
    bool done = rgNewton_MoveCentre(newton) && rgRun_Solved(newton->run);
    return !lost && !done;
}

rgResult rgRunNewton(rgRun* run, const double* lambda, const rgNewtonOptions* options) {
    rgSystem* system = run->system;
    rgArenaMark mark = rgArena_Mark(system->arena);
    rgNewton newton;
    rgResult result = rgNewton_Init(&newton, run, lambda, options);
    for (int k = 0; result == rg_ok && k < options->limit && !rgRun_Finished(run); ++k) {
        if (!rgRun_Count(run, rg_phaseNewton)) {
            break;
        }
        result = rgNewton_Step(&newton);
        if (result != rg_ok) {
            break;
        }
        system->ops->apply(system, newton.step, newton.moved);
        rgNewton_AddPull(&newton, newton.step, NULL, newton.moved);
        double normBefore = newton.norm;
        double length = rgNewton_Search(&newton);
        rgNewton_Accept(&newton);
        rgNewton_AdaptCeiling(&newton, length, normBefore);
        double residual = rgRun_Offer(run, newton.lambda, NULL); // (10) the judge decides
        rgRun_Record(run, &(rgContactRecord){.phase = rg_phaseNewton,
                                             .primal = NAN,
                                             .dual = NAN,
                                             .complementarity = NAN,
                                             .residual = residual,
                                             .penalty = NAN});
        if (!isfinite(newton.norm) || !rgNewton_GoesOn(&newton, k)) {
            break;
        }
    }
    rgArena_Return(system->arena, mark);
    return result == rg_errorNumeric ? rg_ok : result;
}
