// Levenberg and Marquardt's method with central differences. The starts of the motions are unknowns
// of their own, each of one motion alone: they are eliminated motion by motion, and what is left
// has the size of the parameters. identify.5-8.
#include "identify/identify.h"
#include "identify/linear.h"

#include <math.h>
#include <string.h>

enum { rg_blockMotions = 32, rg_dampingTries = 5, rg_narrowings = 2 };

typedef struct rgRefinement {
    rgFit* fit;
    rgSolution* solution;
    int p, l;           // parameters, and numbers of a start that are unknowns too
    double difference;  // step of the derivatives
    rgSlopeTable table; // with derivatives of steps: unknowns that have some are not moved
    int movedCount;     // unknowns that are moved
    int* moved;         // up to p + l
    rgModel** models; // 1 + 2 p: the present point, then each parameter that is moved, up and down
    double* widths;   // p: from down to up
    double* shift;    // l: start of one variant
    double* weights;  // weights of the samples of a motion
    double* columns;  // (p + l) x errors of a motion
    double* full;     // (p + l)^2 of a motion
    double* half;     // p + l
    double* eliminators; // motions x l x (p + 1): H_ll^-1 [H_lp g_l]
    double* hessian;     // p x p of all, priors too
    double* gradient;    // p
    double* factor;      // p x p
    double* step;        // p
    double* place;       // p, tried
    double* local;       // motions x l, tried
    double* costs;       // motions, tried
    double* oldCosts;    // motions, tried from the present starts
    double* slopes;      // of the motions of a block, (p + l) x errors each
    size_t slopesUsed;
    double* memory;
} rgRefinement;

// ---- derivatives

// Step of an unknown start in differences, in units of its deviation.
#define RG_LOCAL_STEP 0.25

static rgResult rgCompileVariants(rgRefinement* r) {
    rgFit* fit = r->fit;
    double place[RG_MAX_PARAMETERS];
    double h = r->difference;
    memcpy(place, r->solution->place, (size_t)r->p * sizeof(double));
    rgResult result = rgFit_Compile(fit, place, &r->models[0]);
    for (int k = 0; k < r->movedCount && r->moved[k] < r->p && result == rg_ok; ++k) {
        int i = r->moved[k];
        double at = place[i], up = fmin(at + h, 1), down = fmax(at - h, 0);
        r->widths[i] = up - down;
        place[i] = up;
        result = rgFit_Compile(fit, place, &r->models[1 + 2 * k]);
        place[i] = down;
        if (result == rg_ok) {
            result = rgFit_Compile(fit, place, &r->models[2 + 2 * k]);
        }
        place[i] = at;
    }
    return result == rg_ok && fit->hasSlopes ? rgSlopeTable_Fill(&r->table, r->solution->place)
                                             : result;
}

static void rgDestroyVariants(rgRefinement* r) {
    for (int i = 0; i < 1 + 2 * r->p; ++i) {
        rgDestroyModel(r->models[i]);
        r->models[i] = NULL;
    }
}

// Motions first to end of one variant: the present point, then each moved unknown up and down.
static void rgAddVariant(rgRefinement* r, rgTrialList* list, int variant, int first, int end) {
    int unknown = variant > 0 ? r->moved[(variant - 1) / 2] : -1;
    const rgModel* model = unknown < r->p && variant > 0 ? r->models[variant] : r->models[0];
    for (int i = first; i < end; ++i) {
        size_t locals = (size_t)r->fit->localCount;
        memcpy(r->shift, r->solution->local + (size_t)i * locals, locals * sizeof(double));
        if (unknown >= r->p) {
            r->shift[unknown - r->p] += variant % 2 == 1 ? RG_LOCAL_STEP : -RG_LOCAL_STEP;
        }
        rgTrialList_Add(list, r->fit, model, r->solution->motions[i], r->shift);
        if (variant == 0 && r->fit->hasSlopes) {
            rgTrial* trial = &list->trials[list->count - 1];
            trial->slopes = &r->table;
            trial->local = r->solution->local + (size_t)i * locals;
            trial->unknownCount = r->p + r->l;
            trial->columns = r->slopes + r->slopesUsed;
            r->slopesUsed +=
                (size_t)(r->p + r->l) * (size_t)r->fit->targets[trial->target].sizeCount;
        }
    }
}

// Column k of a motion's Jacobian; nothing where a simulation failed.
static void rgDifference(double* column, const rgTrial* up, const rgTrial* down, double width,
                         int size) {
    bool finite = width > 0;
    for (int j = 0; j < size; ++j) {
        column[j] = (up->errors[j] - down->errors[j]) / width;
        finite = finite && isfinite(column[j]);
    }
    if (!finite) {
        memset(column, 0, (size_t)size * sizeof(double));
    }
}

// identify.7: Eliminate the start: H_pp - H_pl H_ll^-1 H_lp, and in the gradient.
static void rgEliminate(rgRefinement* r, int motion) {
    int p = r->p, l = r->l, n = p + l;
    double* H = r->solution->hessians + (size_t)motion * (size_t)(p * p);
    double* g = r->solution->gradients + (size_t)motion * (size_t)p;
    double* Z = r->eliminators + (size_t)motion * (size_t)(l * (p + 1));
    double L[RG_MAX_LOCALS * RG_MAX_LOCALS], x[RG_MAX_LOCALS];
    const double* local = r->solution->local + (size_t)motion * (size_t)l;
    for (int a = 0; a < l; ++a) {
        for (int b = 0; b < l; ++b) {
            L[a * l + b] = r->full[(p + a) * n + p + b] + (a == b); // the start's own prior
        }
        r->half[p + a] += local[a];
    }
    rgCholesky(l, L); // at least the identity
    for (int b = 0; b <= p; ++b) {
        for (int a = 0; a < l; ++a) {
            x[a] = b < p ? r->full[(p + a) * n + b] : r->half[p + a];
        }
        rgCholeskySolve(l, L, x);
        for (int a = 0; a < l; ++a) {
            Z[a * (p + 1) + b] = x[a];
        }
    }
    for (int i = 0; i < p; ++i) {
        g[i] = r->half[i];
        for (int a = 0; a < l; ++a) {
            g[i] -= r->full[i * n + p + a] * Z[a * (p + 1) + p];
        }
        for (int j = 0; j < p; ++j) {
            double sum = r->full[i * n + j];
            for (int a = 0; a < l; ++a) {
                sum -= r->full[i * n + p + a] * Z[a * (p + 1) + j];
            }
            H[i * p + j] = sum;
        }
    }
}

static void rgLinearizeMotion(rgRefinement* r, const rgTrialList* list, int motion, int place,
                              int count) {
    const rgTrial* base = &list->trials[place];
    const rgTarget* target = &r->fit->targets[base->target];
    size_t p = (size_t)r->p;
    r->solution->costs[motion] = rgMotionCost(r->fit->def, target, base->errors, r->weights);
    if (!isfinite(r->solution->costs[motion])) { // a failed motion gives no direction
        memset(r->solution->hessians + (size_t)motion * p * p, 0, p * p * sizeof(double));
        memset(r->solution->gradients + (size_t)motion * p, 0, p * sizeof(double));
        return;
    }
    size_t size = (size_t)target->sizeCount;
    if (base->columns != NULL) {
        memcpy(r->columns, base->columns, (p + (size_t)r->l) * size * sizeof(double));
    }
    for (int k = 0; k < r->movedCount; ++k) {
        const rgTrial *up = base + (size_t)(1 + 2 * k) * (size_t)count,
                      *down = base + (size_t)(2 + 2 * k) * (size_t)count;
        int unknown = r->moved[k];
        double width = unknown < r->p ? r->widths[unknown] : 2 * RG_LOCAL_STEP;
        rgDifference(r->columns + (size_t)unknown * size, up, down, width, target->sizeCount);
    }
    rgNormalEquations(r->p + r->l, target->sizeCount, target->errorCount, r->columns, r->weights,
                      base->errors, r->full, r->half);
    rgEliminate(r, motion);
}

static rgResult rgLinearizeBlock(rgRefinement* r, int first, int end) {
    rgFit* fit = r->fit;
    size_t room = 0;
    for (int i = first; i < end; ++i) {
        room += (size_t)fit->targets[r->solution->motions[i]].sizeCount;
    }
    rgTrialList list;
    int count = end - first, variants = 1 + 2 * r->movedCount;
    rgResult result = rgTrialList_Create(&list, fit, count * variants, room * (size_t)variants);
    r->slopesUsed = 0;
    r->slopes = rgAllocate(&fit->allocator, room * (size_t)(r->p + r->l) + 1, sizeof(double));
    result = r->slopes == NULL ? rg_errorMemory : result;
    for (int variant = 0; variant < variants && result == rg_ok; ++variant) {
        rgAddVariant(r, &list, variant, first, end);
    }
    if (result == rg_ok) {
        result = rgTrialList_Run(&list, fit);
    }
    for (int i = first; i < end && result == rg_ok; ++i) {
        rgLinearizeMotion(r, &list, i, i - first, count);
    }
    rgTrialList_Free(&list, fit);
    rgRelease(&fit->allocator, r->slopes);
    return result;
}

static rgResult rgLinearize(rgRefinement* r) {
    rgSolution* solution = r->solution;
    rgResult result = rgCompileVariants(r);
    for (int i = 0; i < solution->motionCount && result == rg_ok; i += rg_blockMotions) {
        result = rgLinearizeBlock(r, i, RG_MIN(i + rg_blockMotions, solution->motionCount));
    }
    rgDestroyVariants(r);
    if (result != rg_ok) {
        return result;
    }
    size_t p = (size_t)r->p;
    memset(r->hessian, 0, p * p * sizeof(double));
    memset(r->gradient, 0, p * sizeof(double));
    rgFit_Prior(r->fit, solution->place, r->gradient, r->hessian);
    for (int i = 0; i < solution->motionCount; ++i) {
        for (size_t k = 0; k < p * p; ++k) {
            r->hessian[k] += solution->hessians[(size_t)i * p * p + k];
        }
        for (size_t k = 0; k < p; ++k) {
            r->gradient[k] += solution->gradients[(size_t)i * p + k];
        }
    }
    solution->cost =
        rgFit_Total(r->fit, solution, solution->place, solution->local, solution->costs);
    return rg_ok;
}

// ---- steps

// identify.6: The damped step within the bounds. Parameters at a bound that want to leave it stay
// there.
static bool rgSolveStep(rgRefinement* r, double damping) {
    int p = r->p;
    double* A = r->factor;
    memcpy(A, r->hessian, (size_t)(p * p) * sizeof(double));
    double trace = 0;
    for (int i = 0; i < p; ++i) {
        trace += A[i * p + i];
    }
    for (int i = 0; i < p; ++i) {
        double at = r->solution->place[i], g = r->gradient[i];
        bool stays = (at <= 0 && g > 0) || (at >= 1 && g < 0);
        r->step[i] = stays ? 0 : -g;
        for (int j = 0; stays && j < p; ++j) {
            A[i * p + j] = A[j * p + i] = 0;
        }
        A[i * p + i] = stays ? 1 : A[i * p + i] * (1 + damping) + 1e-9 * trace / p + 1e-300;
    }
    if (!rgCholesky(p, A)) {
        return false;
    }
    rgCholeskySolve(p, A, r->step);
    double longest = 0;
    for (int i = 0; i < p; ++i) {
        longest = fmax(longest, fabs(r->step[i]));
    }
    double shrink = longest > 0.2 ? 0.2 / longest : 1; // limit of the derivatives' validity
    for (int i = 0; i < p; ++i) {
        r->place[i] = fmin(fmax(r->solution->place[i] + shrink * r->step[i], 0), 1);
        r->step[i] = r->place[i] - r->solution->place[i];
    }
    return isfinite(longest);
}

// identify.8: Starts that belong to a step of the parameters.
static void rgFollow(rgRefinement* r) {
    int p = r->p, l = r->l;
    size_t locals = (size_t)r->solution->motionCount * (size_t)r->fit->localCount;
    memcpy(r->local, r->solution->local, locals * sizeof(double));
    for (int m = 0; m < r->solution->motionCount; ++m) {
        const double* Z = r->eliminators + (size_t)m * (size_t)(l * (p + 1));
        for (int a = 0; a < l; ++a) {
            double by = -Z[a * (p + 1) + p];
            for (int i = 0; i < p; ++i) {
                by -= Z[a * (p + 1) + i] * r->step[i];
            }
            size_t k = (size_t)m * (size_t)l + (size_t)a;
            r->local[k] = r->solution->local[k] + fmin(fmax(by, -2), 2);
        }
    }
}

static double rgStartSquare(const rgRefinement* r, const double* local, int motion) {
    double sum = 0;
    for (int a = 0; a < r->l; ++a) {
        double x = local[(size_t)motion * (size_t)r->l + (size_t)a];
        sum += x * x;
    }
    return sum;
}

// Costs of the step. With the parameters given, motions are independent of each other: each keeps
// the start that it had where the new one is no better.
static rgResult rgTry(rgRefinement* r) {
    rgSolution* solution = r->solution;
    size_t l = (size_t)r->l;
    rgResult result = rgFit_Judge(r->fit, solution, r->place, r->local, r->costs, NULL);
    if (result != rg_ok || l == 0) {
        return result;
    }
    result = rgFit_Judge(r->fit, solution, r->place, solution->local, r->oldCosts, NULL);
    for (int i = 0; i < solution->motionCount && result == rg_ok; ++i) {
        double now = r->costs[i] + rgStartSquare(r, r->local, i);
        double old = r->oldCosts[i] + rgStartSquare(r, solution->local, i);
        if (!(now < old)) {
            r->costs[i] = r->oldCosts[i];
            memcpy(r->local + (size_t)i * l, solution->local + (size_t)i * l, l * sizeof(double));
        }
    }
    return result;
}

// A step that makes the cost smaller, or none.
static rgResult rgImprove(rgRefinement* r, double* damping, bool* moved) {
    rgSolution* solution = r->solution;
    size_t locals = (size_t)solution->motionCount * (size_t)r->fit->localCount;
    double cost = solution->cost;
    *moved = false;
    for (int k = 0; k < rg_dampingTries && !*moved; ++k) {
        if (rgSolveStep(r, *damping)) {
            rgFollow(r);
            rgResult result = rgTry(r);
            if (result != rg_ok) {
                return result;
            }
            cost = rgFit_Total(r->fit, solution, r->place, r->local, r->costs);
            *moved = cost < solution->cost;
        }
        *damping = *moved ? fmax(*damping / 5, 1e-6) : *damping * 5;
    }
    if (*moved) {
        // A mean squared error in units of the noise is zero below a millionth.
        solution->converged = cost > 0.999 * solution->cost - 1e-6;
        for (int i = 0; i < r->p; ++i) {
            solution->converged = solution->converged && fabs(r->step[i]) < 1e-3;
        }
        memcpy(solution->place, r->place, (size_t)r->p * sizeof(double));
        memcpy(solution->local, r->local, locals * sizeof(double));
        solution->cost = cost;
    } else {
        solution->converged = true; // nothing near is better
    }
    return rg_ok;
}

// Contacts make costs with many small steps in them: derivatives over some width see the slope
// through them. Where that leads no further, a narrower one may.
static rgResult rgIterate(rgRefinement* r, int steps, bool curvatures) {
    double damping = 1e-2;
    int narrower = 0;
    bool done = false;
    rgResult result = rgLinearize(r);
    for (int k = 0; k < steps && result == rg_ok && !done; ++k) {
        bool moved = false;
        result = rgImprove(r, &damping, &moved);
        bool last = k + 1 == steps;
        if (result == rg_ok && r->solution->converged && narrower < rg_narrowings && !last &&
            r->movedCount > 0) {
            ++narrower;
            r->difference /= 4;
            r->solution->converged = false;
            damping = 1e-2;
            moved = true;
        }
        done = r->solution->converged;
        if (result == rg_ok && moved && (curvatures || (k + 1 < steps && !done))) {
            result = rgLinearize(r);
        }
        if (result == rg_ok) {
            result = rgFit_Report(r->fit, rg_identifyRefine, k + 1, steps, r->solution->cost);
        }
    }
    return result;
}

static rgResult rgRefinement_Create(rgRefinement* r) {
    const rgFit* fit = r->fit;
    size_t p = (size_t)r->p, l = (size_t)r->l, n = p + l;
    size_t motions = (size_t)r->solution->motionCount, samples = 0, errors = 0;
    for (int i = 0; i < r->solution->motionCount; ++i) {
        const rgTarget* target = &fit->targets[r->solution->motions[i]];
        samples = RG_MAX(samples, (size_t)target->motion->sampleCount);
        errors = RG_MAX(errors, (size_t)target->sizeCount);
    }
    double** parts[] = {&r->widths,      &r->shift,   &r->weights,  &r->columns, &r->full,
                        &r->half,        &r->hessian, &r->gradient, &r->factor,  &r->step,
                        &r->eliminators, &r->place,   &r->local,    &r->costs,   &r->oldCosts};
    size_t starts = (size_t)fit->localCount;
    size_t sizes[] = {p,
                      starts,
                      samples,
                      n * errors,
                      n * n,
                      n,
                      p * p,
                      p,
                      p * p,
                      p,
                      motions * l * (p + 1),
                      p,
                      motions * starts,
                      motions,
                      motions};
    size_t total = 1;
    for (int i = 0; i < RG_COUNT(sizes); ++i) {
        total += sizes[i];
    }
    r->memory = rgAllocate(&fit->allocator, total, sizeof(double));
    r->models = rgAllocate(&fit->allocator, 1 + 2 * p, sizeof(rgModel*));
    r->moved = rgAllocate(&fit->allocator, p + l + 1, sizeof(int));
    if (r->memory == NULL || r->models == NULL || r->moved == NULL) {
        return rg_errorMemory;
    }
    for (int k = 0; k < r->p + r->l; ++k) {
        if (!fit->hasSlopes || (k < r->p && !r->table.known[k])) {
            r->moved[r->movedCount++] = k;
        }
    }
    double* at = r->memory;
    for (int i = 0; i < RG_COUNT(parts); ++i) {
        *parts[i] = at;
        at += sizes[i];
    }
    return rg_ok;
}

rgResult rgFit_Refine(rgFit* fit, rgSolution* solution, int steps, bool curvatures) {
    rgRefinement r = {.fit = fit, .solution = solution, .p = fit->parameterCount};
    r.l = fit->hasWindow ? 0 : fit->localCount;
    r.difference = fit->def->differenceStep;
    rgResult result = rgSlopeTable_Create(&r.table, fit);
    result = result == rg_ok ? rgRefinement_Create(&r) : result;
    if (result == rg_ok) {
        result = rgIterate(&r, steps, curvatures);
    }
    rgRelease(&fit->allocator, r.memory);
    rgRelease(&fit->allocator, r.models);
    rgRelease(&fit->allocator, r.moved);
    rgSlopeTable_Free(&r.table, fit);
    return result;
}
