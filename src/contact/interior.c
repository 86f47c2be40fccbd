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
    int shortSteps; // in a row
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

// (4) Nesterov-Todd scaling of one cone: W u~ = W^-1 lambda~ = v, W = beta (2 q q' - J), J =
// diag(1, -1, -1).
typedef struct rgScaling {
    double beta;
    double q[3];
    double v[3];
} rgScaling;

static double rgConeDeterminant(const double x[3]) {
    double tail = sqrt(x[1] * x[1] + x[2] * x[2]);
    return fmax((x[0] - tail) * (x[0] + tail), 1e-300);
}

// out = W x or W^-1 x
static void rgScaling_Apply(const rgScaling* scaling, bool inverse, const double x[3],
                            double out[3]) {
    const double* q = scaling->q;
    double sign = inverse ? -1 : 1;
    double dot = q[0] * x[0] + sign * (q[1] * x[1] + q[2] * x[2]);
    double factor = inverse ? 1 / scaling->beta : scaling->beta;
    out[0] = factor * (2 * q[0] * dot - x[0]);
    out[1] = factor * (2 * sign * q[1] * dot + x[1]);
    out[2] = factor * (2 * sign * q[2] * dot + x[2]);
}

static void rgScaling_Init(rgScaling* scaling, const double l[3], const double w[3]) {
    double a = sqrt(rgConeDeterminant(l));
    double b = sqrt(rgConeDeterminant(w));
    double dot = (l[0] * w[0] + l[1] * w[1] + l[2] * w[2]) / (a * b);
    double gamma = sqrt(0.5 * (1 + dot));
    double mean[3] = {(l[0] / a + w[0] / b) / (2 * gamma), (l[1] / a - w[1] / b) / (2 * gamma),
                      (l[2] / a - w[2] / b) / (2 * gamma)};
    double norm = sqrt(2 * (mean[0] + 1));
    scaling->beta = sqrt(a / b);
    scaling->q[0] = (mean[0] + 1) / norm;
    scaling->q[1] = mean[1] / norm;
    scaling->q[2] = mean[2] / norm;
    rgScaling_Apply(scaling, false, w, scaling->v);
}

// L(v)^-1 r, the inverse of the Jordan product with v
static void rgJordanSolve(const double v[3], const double r[3], double out[3]) {
    out[0] = (v[0] * r[0] - v[1] * r[1] - v[2] * r[2]) / rgConeDeterminant(v);
    out[1] = (r[1] - out[0] * v[1]) / v[0];
    out[2] = (r[2] - out[0] * v[2]) / v[0];
}

// A = W^-1 T1 and B = W T2 E with E = [I 0; mu t' 1]; block columns t1, t2, n, block rows tail,
// tail, head
static void rgLinearizeCone(const rgSet* set, rgContactModel model, const double* lambda,
                            const double* u, double* A, double* B) {
    int m = set->size;
    double l[3], w[3], e[2];
    rgScaling scaling;
    rgSymmetric(set->mu, lambda, u, l, w);
    rgScaling_Init(&scaling, l, w);
    rgSlipGradient(set, model, u, e);
    for (int j = 0; j < 3; ++j) {
        double unit[3] = {j == 0, j == 1, j == 2};
        double du[3] = {unit[0], unit[1], unit[2] + e[0] * unit[0] + e[1] * unit[1]};
        double dl[3], dw[3], a[3], b[3];
        rgSymmetric(set->mu, unit, du, dl, dw);
        rgScaling_Apply(&scaling, true, dl, a);
        rgScaling_Apply(&scaling, false, dw, b);
        for (int i = 0; i < 3; ++i) {
            A[i * m + j] = a[(i + 1) % 3];
            B[i * m + j] = b[(i + 1) % 3];
        }
    }
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
            A[k * m + k] = u[k] / (lambda[k] + u[k]);
            B[k * m + k] = lambda[k] / (lambda[k] + u[k]);
        }
        if (set->kind == rg_blockCoulomb && !rgHasCone(set)) {
            A[0] = A[m + 1] = 1; // frictionless: no tangential impulse
            B[0] = B[m + 1] = 0;
            A[2] = A[m + 2] = B[2] = B[m + 2] = 0;
        }
    }
}

// L(v)^-1 (target e - v o v - second) - W T2 gap, rows tail, tail, head
static void rgConeRightSide(const rgSet* set, const double* lambda, const double* u,
                            const double* gap, double target, const double* second, double* rhs) {
    double l[3], w[3], p[3], y[3], z[3];
    rgScaling scaling;
    rgSymmetric(set->mu, lambda, u, l, w);
    rgScaling_Init(&scaling, l, w);
    rgJordan(scaling.v, scaling.v, p);
    double r[3] = {target - p[0] - second[2], -p[1] - second[0], -p[2] - second[1]};
    rgJordanSolve(scaling.v, r, y);
    double scaledGap[3] = {gap[2], set->mu * gap[0], set->mu * gap[1]};
    rgScaling_Apply(&scaling, false, scaledGap, z);
    for (int i = 0; i < 3; ++i) {
        rhs[i] = y[(i + 1) % 3] - z[(i + 1) % 3];
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
            rhs[k] =
                (target - lambda[k] * u[k] - lambda[k] * gap[k] - second[k]) / (lambda[k] + u[k]);
        }
        if (set->kind == rg_blockCoulomb && !rgHasCone(set)) {
            rhs[0] = -lambda[0];
            rhs[1] = -lambda[1];
        }
        if (rgHasCone(set)) {
            rgConeRightSide(set, lambda, u, gap, target, second, rhs);
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
            double l[3], w[3], dl[3], dw[3], a[3], b[3], p[3];
            rgScaling scaling;
            rgSymmetric(set->mu, point->lambda + row, point->u + row, l, w);
            rgScaling_Init(&scaling, l, w);
            rgSymmetric(set->mu, point->dLambda + row, point->dU + row, dl, dw);
            rgScaling_Apply(&scaling, true, dl, a);
            rgScaling_Apply(&scaling, false, dw, b);
            rgJordan(a, b, p);
            point->second[row] = p[1];
            point->second[row + 1] = p[2];
            point->second[row + 2] = p[0];
        }
    }
}

// One predictor-corrector iteration; false when the linear system or the step fails.
static bool rgInterior_Advance(rgInterior* point) {
    rgSystem* system = point->system;
    double eps = 0.1 * rgSystem_LeastShift(system);
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
    point->shortSteps = reach < 0.01 ? point->shortSteps + 1 : 0;
    return sum == 0 && point->shortSteps < 4; // jammed in a corner
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
