// Nonsmooth interior point: impulses and velocities stay inside their cones while their product is
// driven to zero. The De Saxcé term is differentiated along with the rest. Rows that are no cones
// use their natural map. docs/theory/interior.md (1)-(7).
#include "contact/run.h"

#include <math.h>
#include <string.h>

typedef struct rgInterior {
    rgRun* run;
    rgSystem* system;
    double* lambda; // inside K
    double* u;      // inside K*: stands for sigma + Gamma(sigma)
    double* sigma;  // G lambda + g
    double* gap;    // sigma + Gamma - u: infeasibility
    double* rhs;
    double* dLambda;
    double* dU;
    double* moved; // G dLambda
    double* A;
    double* B;
    bool* idle;
    double* second; // second-order correction, n
    int coneCount;
    double product; // mean of lambda~ . u~ over the cones
} rgInterior;

// A contact with friction has a cone; without, its normal is a half line and its tangents are idle.
static bool rgHasCone(const rgSet* set) {
    return set->kind == rg_blockCoulomb && set->mu > 1e-9;
}

// Rows of the set that hold a half line: [first, end).
static void rgHalfLineRows(const rgSet* set, int* first, int* end) {
    *first = 0;
    *end = 0;
    if (set->kind == rg_blockHalfLine) {
        *end = set->size;
    } else if (set->kind == rg_blockCoulomb && !rgHasCone(set)) {
        *first = 2;
        *end = 3;
    }
}

// (1) lambda~ = (lambda_t, mu lambda_n), u~ = (mu u_t, u_n) live in the same self-dual cone; head
// first.
static void rgSymmetric(double mu, const double* lambda, const double* u, double l[3],
                        double w[3]) {
    l[0] = mu * lambda[2];
    l[1] = lambda[0];
    l[2] = lambda[1];
    w[0] = u[2];
    w[1] = mu * u[0];
    w[2] = mu * u[1];
}

// Jordan product, head first.
static void rgJordan(const double a[3], const double b[3], double out[3]) {
    out[0] = a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
    out[1] = a[0] * b[1] + b[0] * a[1];
    out[2] = a[0] * b[2] + b[0] * a[2];
}

// Largest step that keeps x + t d in the cone |x_1,2| <= x_0.
static double rgConeStep(const double x[3], const double d[3]) {
    double a = d[0] * d[0] - d[1] * d[1] - d[2] * d[2];
    double b = x[0] * d[0] - x[1] * d[1] - x[2] * d[2];
    double c = fmax(x[0] * x[0] - x[1] * x[1] - x[2] * x[2], 0);
    double most = d[0] < 0 ? -x[0] / d[0] : INFINITY;
    double discriminant = b * b - a * c;
    if (a < 0) {
        // One positive root, in the form that does not cancel.
        double root = sqrt(fmax(discriminant, 0));
        most = fmin(most, b <= 0 ? c / (root - b) : (b + root) / -a);
    } else if (b < 0 && discriminant >= 0) {
        most = fmin(most, c / (sqrt(discriminant) - b));
    }
    return most;
}

static rgResult rgInterior_Init(rgInterior* point, rgRun* run) {
    rgSystem* system = run->system;
    rgArena* arena = system->arena;
    *point = (rgInterior){.run = run, .system = system};
    double** vectors[] = {&point->lambda,  &point->u,  &point->sigma, &point->gap,   &point->rhs,
                          &point->dLambda, &point->dU, &point->moved, &point->second};
    for (int i = 0; i < RG_COUNT(vectors); ++i) {
        *vectors[i] = RG_TAKE(arena, double, system->n);
    }
    point->A = RG_TAKE(arena, double, system->pairCount);
    point->B = RG_TAKE(arena, double, system->pairCount);
    point->idle = RG_TAKE(arena, bool, system->setCount);
    return arena->failed ? rg_errorMemory : rg_ok;
}

// A point well inside every cone.
static void rgInterior_Start(rgInterior* point) {
    rgSystem* system = point->system;
    memset(point->lambda, 0, (size_t)system->n * sizeof(double));
    for (int i = 0; i < system->setCount; ++i) {
        const rgSet* set = system->sets + i;
        int first, end;
        rgHalfLineRows(set, &first, &end);
        for (int k = first; k < end; ++k) {
            point->lambda[set->row + k] = 0.3;
        }
        if (rgHasCone(set)) {
            point->lambda[set->row + 2] = 0.3 / fmax(set->mu, 1e-3);
        }
        point->coneCount += rgHasCone(set) + (end - first);
    }
    rgSystem_Velocity(system, point->lambda, point->sigma);
    memcpy(point->u, point->sigma, (size_t)system->n * sizeof(double));
    for (int i = 0; i < system->setCount; ++i) {
        const rgSet* set = system->sets + i;
        double* u = point->u + set->row;
        int first, end;
        rgHalfLineRows(set, &first, &end);
        for (int k = first; k < end; ++k) {
            u[k] = fmax(u[k], 0) + 0.5;
        }
        if (rgHasCone(set)) {
            u[2] = fmax(u[2], 0) + set->mu * sqrt(u[0] * u[0] + u[1] * u[1]) + 0.5;
        }
    }
}

// (2) gap = sigma + Gamma(u) - u on the cones; (3) mean product
static void rgInterior_Measure(rgInterior* point) {
    rgSystem* system = point->system;
    rgSystem_Velocity(system, point->lambda, point->sigma);
    double sum = 0;
    for (int i = 0; i < system->setCount; ++i) {
        const rgSet* set = system->sets + i;
        const double* u = point->u + set->row;
        const double* lambda = point->lambda + set->row;
        double* gap = point->gap + set->row;
        for (int k = 0; k < set->size; ++k) {
            gap[k] = point->sigma[set->row + k] - u[k];
        }
        int first, end;
        rgHalfLineRows(set, &first, &end);
        for (int k = first; k < end; ++k) {
            sum += lambda[k] * u[k];
        }
        if (rgHasCone(set)) {
            if (system->model == rg_modelNcp) {
                gap[2] += set->mu * sqrt(u[0] * u[0] + u[1] * u[1]);
            }
            double l[3], w[3], p[3];
            rgSymmetric(set->mu, lambda, u, l, w);
            rgJordan(l, w, p);
            sum += p[0];
        }
    }
    point->product = point->coneCount > 0 ? sum / point->coneCount : 0;
}

// d Gamma_n / d u_t = mu t, the direction of slip
static void rgSlipGradient(const rgSet* set, rgContactModel model, const double* u, double out[2]) {
    double length = sqrt(u[0] * u[0] + u[1] * u[1]);
    double k = model == rg_modelNcp && length > 1e-12 ? set->mu / length : 0;
    out[0] = k * u[0];
    out[1] = k * u[1];
}

// (4) A = L(u~) T1 and B = L(lambda~) T2 E with E = [I 0; mu t' 1], written in rows t1, t2, n
static void rgLinearizeCone(const rgSet* set, rgContactModel model, const double* lambda,
                            const double* u, double* A, double* B) {
    int m = set->size;
    double mu = set->mu;
    double l[3], w[3], e[2];
    rgSymmetric(mu, lambda, u, l, w);
    rgSlipGradient(set, model, u, e);
    // Row 2 of the block is the head of the product, rows 0 and 1 its tail.
    A[0] = w[0];
    A[1] = A[m] = 0;
    A[m + 1] = w[0];
    A[2] = mu * w[1];
    A[m + 2] = mu * w[2];
    A[2 * m] = w[1];
    A[2 * m + 1] = w[2];
    A[2 * m + 2] = mu * w[0];
    double tail[2] = {l[1], l[2]};
    for (int i = 0; i < 2; ++i) {
        for (int j = 0; j < 2; ++j) {
            B[i * m + j] = (i == j ? mu * l[0] : 0) + tail[i] * e[j];
        }
        B[i * m + 2] = tail[i];
        B[2 * m + i] = mu * tail[i] + l[0] * e[i];
    }
    B[2 * m + 2] = l[0];
}

static void rgInterior_Linearize(rgInterior* point) {
    rgSystem* system = point->system;
    memset(point->A, 0, (size_t)system->pairCount * sizeof(double));
    memset(point->B, 0, (size_t)system->pairCount * sizeof(double));
    for (int i = 0; i < system->setCount; ++i) {
        const rgSet* set = system->sets + i;
        int m = set->size;
        const double* lambda = point->lambda + set->row;
        const double* u = point->u + set->row;
        double* A = point->A + set->pairStart;
        double* B = point->B + set->pairStart;
        point->idle[i] = false;
        rgLinearizeSet(set, system->model, 1, lambda, point->sigma + set->row, A, B);
        if (rgHasCone(set)) {
            rgLinearizeCone(set, system->model, lambda, u, A, B);
        }
        int first, end;
        rgHalfLineRows(set, &first, &end);
        for (int k = first; k < end; ++k) {
            A[k * m + k] = u[k];
            B[k * m + k] = lambda[k];
        }
        if (set->kind == rg_blockCoulomb && !rgHasCone(set)) {
            A[0] = A[m + 1] = 1; // frictionless: no tangential impulse
            B[0] = B[m + 1] = 0;
            A[2] = A[m + 2] = B[2] = B[m + 2] = 0;
        }
    }
}

// (5) right-hand side for a wanted product; `second` holds the correction of the predictor, or
// zeros
static void rgInterior_RightSide(rgInterior* point, double target) {
    rgSystem* system = point->system;
    rgSystem_Map(system, 1, point->lambda, point->sigma, point->rhs);
    for (int i = 0; i < system->setCount; ++i) {
        const rgSet* set = system->sets + i;
        int row = set->row;
        const double* lambda = point->lambda + row;
        const double* u = point->u + row;
        const double* gap = point->gap + row;
        const double* second = point->second + row;
        double* rhs = point->rhs + row;
        for (int k = 0; k < set->size; ++k) {
            rhs[k] = -rhs[k];
        }
        int first, end;
        rgHalfLineRows(set, &first, &end);
        for (int k = first; k < end; ++k) {
            rhs[k] = target - lambda[k] * u[k] - lambda[k] * gap[k] - second[k];
        }
        if (set->kind == rg_blockCoulomb && !rgHasCone(set)) {
            rhs[0] = -lambda[0];
            rhs[1] = -lambda[1];
        }
        if (rgHasCone(set)) {
            double l[3], w[3], p[3], q[3];
            rgSymmetric(set->mu, lambda, u, l, w);
            rgJordan(l, w, p);
            double scaled[3] = {gap[2], set->mu * gap[0], set->mu * gap[1]};
            rgJordan(l, scaled, q);
            rhs[0] = -p[1] - q[1] - second[0];
            rhs[1] = -p[2] - q[2] - second[1];
            rhs[2] = target - p[0] - q[0] - second[2];
        }
    }
}

// (6) dLambda from the linear system, dU = E G dLambda + gap
static void rgInterior_Direction(rgInterior* point, double target) {
    rgSystem* system = point->system;
    rgInterior_RightSide(point, target);
    system->ops->solvePair(system, point->rhs, point->dLambda);
    system->ops->apply(system, point->dLambda, point->moved);
    for (int i = 0; i < system->setCount; ++i) {
        const rgSet* set = system->sets + i;
        int row = set->row;
        double* dU = point->dU + row;
        for (int k = 0; k < set->size; ++k) {
            dU[k] = point->moved[row + k] + point->gap[row + k];
        }
        if (rgHasCone(set)) {
            double e[2];
            rgSlipGradient(set, system->model, point->u + row, e);
            dU[2] += e[0] * point->moved[row] + e[1] * point->moved[row + 1];
        }
    }
}

// Longest step that stays inside all cones.
static double rgInterior_Reach(const rgInterior* point) {
    const rgSystem* system = point->system;
    double most = INFINITY;
    for (int i = 0; i < system->setCount; ++i) {
        const rgSet* set = system->sets + i;
        int row = set->row;
        int first, end;
        rgHalfLineRows(set, &first, &end);
        for (int k = row + first; k < row + end; ++k) {
            most = point->dLambda[k] < 0 ? fmin(most, -point->lambda[k] / point->dLambda[k]) : most;
            most = point->dU[k] < 0 ? fmin(most, -point->u[k] / point->dU[k]) : most;
        }
        if (rgHasCone(set)) {
            double l[3], w[3], dl[3], dw[3];
            rgSymmetric(set->mu, point->lambda + row, point->u + row, l, w);
            rgSymmetric(set->mu, point->dLambda + row, point->dU + row, dl, dw);
            most = fmin(most, fmin(rgConeStep(l, dl), rgConeStep(w, dw)));
        }
    }
    return fmin(1, 0.99 * most);
}

// (7) the product of the predictor's steps, which the corrector takes away
static void rgInterior_SecondOrder(rgInterior* point) {
    const rgSystem* system = point->system;
    for (int i = 0; i < system->setCount; ++i) {
        const rgSet* set = system->sets + i;
        int row = set->row;
        int first, end;
        rgHalfLineRows(set, &first, &end);
        for (int k = row + first; k < row + end; ++k) {
            point->second[k] = point->dLambda[k] * point->dU[k];
        }
        if (rgHasCone(set)) {
            double dl[3], dw[3], p[3];
            rgSymmetric(set->mu, point->dLambda + row, point->dU + row, dl, dw);
            rgJordan(dl, dw, p);
            point->second[row] = p[1];
            point->second[row + 1] = p[2];
            point->second[row + 2] = p[0];
        }
    }
}

// One predictor-corrector iteration; false when the linear system or the step fails.
static bool rgInterior_Advance(rgInterior* point) {
    rgSystem* system = point->system;
    double eps = system->ops == &rgVelocityOps ? 1e-9 : 1e-10;
    rgInterior_Linearize(point);
    if (system->ops->factorPair(system, point->A, point->B, point->idle, eps) != rg_ok) {
        return false;
    }
    memset(point->second, 0, (size_t)system->n * sizeof(double));
    rgInterior_Direction(point, 0);
    double reach = rgInterior_Reach(point);
    double rest = 1 - reach;
    double centering = fmin(fmax(rest * rest * rest, 1e-4), 0.8);
    if (reach > 0.1) {
        rgInterior_SecondOrder(point);
    }
    rgInterior_Direction(point, centering * point->product);
    reach = rgInterior_Reach(point);
    double sum = 0;
    for (int i = 0; i < system->n; ++i) {
        point->lambda[i] += reach * point->dLambda[i];
        point->u[i] += reach * point->dU[i];
        sum += (point->lambda[i] + point->u[i]) * 0;
    }
    return sum == 0 && reach > 1e-8;
}

rgResult rgRunInterior(rgRun* run, int limit) {
    rgSystem* system = run->system;
    rgArenaMark mark = rgArena_Mark(system->arena);
    rgInterior point;
    rgResult result = rgInterior_Init(&point, run);
    if (result != rg_ok) {
        return result;
    }
    rgInterior_Start(&point);
    rgInterior_Measure(&point);
    for (int k = 0; k < limit && !rgRun_Solved(run); ++k) {
        if (!rgRun_Count(run, rg_phaseInterior) || !rgInterior_Advance(&point)) {
            break;
        }
        rgInterior_Measure(&point);
        double residual = rgRun_Offer(run, point.lambda);
        rgRun_Record(run, &(rgContactRecord){.phase = rg_phaseInterior,
                                             .primal = NAN,
                                             .dual = NAN,
                                             .complementarity = point.product,
                                             .residual = residual,
                                             .penalty = NAN});
    }
    rgArena_Return(system->arena, mark);
    return rg_ok;
}
