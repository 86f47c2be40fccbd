// Nonsmooth interior point: impulses and velocities stay inside their cones while their product is
// driven to zero. The De Saxcé term is differentiated along with the rest. Rows that are no cones
// use their natural map. docs/theory/interior.md (1)-(8), (13).
#include "contact/interior.h"

#include <math.h>
#include <string.h>

#define RG_REACH         0.95 // share of the way to the boundary
#define RG_LEAST_AIM     0.01 // product aimed at, over the present one
#define RG_SHORT_REACH   0.2  // steps below it show that the slip term misleads
#define RG_SLIP_RETREAT  0.7
#define RG_SLIP_RECOVERY 1.05
#define RG_JAM_REACH     0.01
#define RG_JAM_STEPS     8
#define RG_GAP_AIM       0.005 // product aimed at, over the largest gap
#define RG_POLISH        1e-4  // residual at which Newton tries for the first time
#define RG_NARROW_REACH  0.3   // steps below it are widened

// A contact with friction has a cone; without, its normal is a half line and its tangents are idle.
static bool rgHasCone(const rgSet* set) {
    return set->kind == rg_blockCoulomb && set->mu > 1e-9;
}

static bool rgIsFrictionless(const rgSet* set) {
    return set->kind == rg_blockCoulomb && !rgHasCone(set);
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
    double c = x[0] * x[0] - x[1] * x[1] - x[2] * x[2];
    c = c > 0 ? c : 0;
    double most = d[0] < 0 ? -x[0] / d[0] : INFINITY;
    double discriminant = b * b - a * c, root = INFINITY;
    if (a < 0) {
        // One positive root, in the form that does not cancel.
        double r = sqrt(discriminant > 0 ? discriminant : 0);
        root = b <= 0 ? c / (r - b) : (b + r) / -a;
    } else if (b < 0 && discriminant >= 0) {
        root = c / (sqrt(discriminant) - b);
    }
    return RG_MIN(most, root);
}

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

static void rgInterior_FindCones(rgInterior* point, double slipShare) {
    const rgSystem* system = point->system;
    for (int i = 0; i < system->setCount; ++i) {
        const rgSet* set = system->sets + i;
        if (rgHasCone(set)) {
            point->cones[point->coneCount++] = (rgCone){.set = set, .slipShare = slipShare};
        } else if (rgIsFrictionless(set)) {
            point->lines[point->lineCount++] = set->row + 2;
        }
        for (int k = 0; set->kind == rg_blockHalfLine && k < set->size; ++k) {
            point->lines[point->lineCount++] = set->row + k;
        }
    }
}

rgResult rgInterior_Init(rgInterior* point, rgRun* run, const rgInteriorOptions* options) {
    rgSystem* system = run->system;
    rgArena* arena = system->arena;
    *point = (rgInterior){
        .run = run,
        .system = system,
        .few = options->few,
    };
    double** vectors[] = {&point->lambda,  &point->u,  &point->sigma, &point->gap,   &point->rhs,
                          &point->dLambda, &point->dU, &point->moved, &point->second};
    for (int i = 0; i < RG_COUNT(vectors); ++i) {
        *vectors[i] = RG_TAKE(arena, double, system->n);
    }
    point->A = RG_TAKE(arena, double, system->pairCount);
    point->B = RG_TAKE(arena, double, system->pairCount);
    point->idle = RG_TAKE(arena, bool, system->setCount);
    point->cones = RG_TAKE(arena, rgCone, system->setCount);
    point->lines = RG_TAKE(arena, int, system->n);
    if (arena->failed) {
        return rg_errorMemory;
    }
    rgInterior_FindCones(point, options->slipShare);
    return rg_ok;
}

// A point well inside every cone.
void rgInterior_Start(rgInterior* point, double size) {
    rgSystem* system = point->system;
    memset(point->lambda, 0, (size_t)system->n * sizeof(double));
    for (int i = 0; i < point->lineCount; ++i) {
        point->lambda[point->lines[i]] = 0.3 * size;
    }
    for (int i = 0; i < point->coneCount; ++i) {
        const rgSet* set = point->cones[i].set;
        point->lambda[set->row + 2] = 0.3 * size / fmax(set->mu, 1e-3);
    }
    rgSystem_Velocity(system, point->lambda, point->sigma);
    memcpy(point->u, point->sigma, (size_t)system->n * sizeof(double));
    for (int i = 0; i < point->lineCount; ++i) {
        double* u = point->u + point->lines[i];
        *u = fmax(*u, 0) + 0.5 * size;
    }
    for (int i = 0; i < point->coneCount; ++i) {
        double* u = point->u + point->cones[i].set->row;
        u[2] =
            fmax(u[2], 0) + point->cones[i].set->mu * sqrt(u[0] * u[0] + u[1] * u[1]) + 0.5 * size;
    }
}

// (2) gap = sigma + Gamma(u) - u on the cones; (3) mean product
void rgInterior_Measure(rgInterior* point) {
    rgSystem* system = point->system;
    rgSystem_Velocity(system, point->lambda, point->sigma);
    for (int i = 0; i < system->n; ++i) {
        point->gap[i] = point->sigma[i] - point->u[i];
    }
    double sum = 0;
    for (int i = 0; i < point->lineCount; ++i) {
        sum += point->lambda[point->lines[i]] * point->u[point->lines[i]];
    }
    for (int i = 0; i < point->coneCount; ++i) {
        rgCone* cone = point->cones + i;
        const rgSet* set = cone->set;
        const double* u = point->u + set->row;
        double length = sqrt(u[0] * u[0] + u[1] * u[1]);
        bool exact = system->model == rg_modelNcp;
        double k = exact && length > 1e-12 ? set->mu / length : 0;
        point->gap[set->row + 2] += exact ? set->mu * length : 0;
        cone->slip[0] = k * u[0];
        cone->slip[1] = k * u[1];
        rgSymmetric(set->mu, point->lambda + set->row, u, cone->l, cone->w);
        sum += cone->l[0] * cone->w[0] + cone->l[1] * cone->w[1] + cone->l[2] * cone->w[2];
    }
    int count = point->coneCount + point->lineCount;
    point->product = count > 0 ? sum / count : 0;
}

// A = W^-1 T1 and B = W T2 E with E = [I 0; mu t' 1]; block columns t1, t2, n, block rows tail,
// tail, head
static void rgLinearizeCone(rgCone* cone, double* A, double* B) {
    int m = cone->set->size;
    rgScaling_Init(&cone->scaling, cone->l, cone->w);
    cone->slip[0] *= cone->slipShare;
    cone->slip[1] *= cone->slipShare;
    for (int j = 0; j < 3; ++j) {
        double unit[3] = {j == 0, j == 1, j == 2};
        double du[3] = {unit[0], unit[1],
                        unit[2] + cone->slip[0] * unit[0] + cone->slip[1] * unit[1]};
        double dl[3], dw[3], a[3], b[3];
        rgSymmetric(cone->set->mu, unit, du, dl, dw);
        rgScaling_Apply(&cone->scaling, true, dl, a);
        rgScaling_Apply(&cone->scaling, false, dw, b);
        for (int i = 0; i < 3; ++i) {
            A[i * m + j] = a[(i + 1) % 3];
            B[i * m + j] = b[(i + 1) % 3];
        }
    }
}

// Natural maps of the rows that are neither cones nor half lines.
static void rgInterior_LinearizeRest(rgInterior* point) {
    rgSystem* system = point->system;
    for (int i = 0; i < system->setCount; ++i) {
        const rgSet* set = system->sets + i;
        int m = set->size;
        double* A = point->A + set->pairStart;
        double* B = point->B + set->pairStart;
        point->idle[i] = false;
        if (set->kind == rg_blockCoulomb && m == 3 && rgHasCone(set)) {
            continue; // the cone fills all of it
        }
        memset(A, 0, (size_t)(m * m) * sizeof(double));
        memset(B, 0, (size_t)(m * m) * sizeof(double));
        rgLinearizeSet(set, system->model, 1, point->lambda + set->row, point->sigma + set->row, A,
                       B);
        for (int k = 0; set->kind == rg_blockHalfLine && k < m; ++k) {
            double lambda = point->lambda[set->row + k], u = point->u[set->row + k];
            A[k * m + k] = u / (lambda + u);
            B[k * m + k] = lambda / (lambda + u);
        }
        if (rgIsFrictionless(set)) {
            double lambda = point->lambda[set->row + 2], u = point->u[set->row + 2];
            A[0] = A[m + 1] = 1; // no tangential impulse
            B[0] = B[m + 1] = 0;
            A[2] = A[m + 2] = B[2] = B[m + 2] = 0;
            A[2 * m + 2] = u / (lambda + u);
            B[2 * m + 2] = lambda / (lambda + u);
        }
    }
}

static void rgInterior_Linearize(rgInterior* point) {
    rgInterior_LinearizeRest(point);
    for (int i = 0; i < point->coneCount; ++i) {
        rgCone* cone = point->cones + i;
        rgLinearizeCone(cone, point->A + cone->set->pairStart, point->B + cone->set->pairStart);
    }
}

// L(v)^-1 (target e - v o v - second) - W T2 gap, rows tail, tail, head
static void rgConeRightSide(const rgCone* cone, const double* gap, double target,
                            const double* second, double* rhs) {
    const double* v = cone->scaling.v;
    double p[3], y[3], z[3];
    rgJordan(v, v, p);
    double r[3] = {target - p[0] - second[2], -p[1] - second[0], -p[2] - second[1]};
    rgJordanSolve(v, r, y);
    double scaledGap[3] = {gap[2], cone->set->mu * gap[0], cone->set->mu * gap[1]};
    rgScaling_Apply(&cone->scaling, false, scaledGap, z);
    for (int i = 0; i < 3; ++i) {
        rhs[i] = y[(i + 1) % 3] - z[(i + 1) % 3];
    }
}

// (5) right-hand side for a wanted product; `second` holds the correction of the predictor, or
// zeros
static void rgInterior_RightSide(rgInterior* point, double target) {
    rgSystem* system = point->system;
    rgSystem_Map(system, 1, point->lambda, point->sigma, point->rhs);
    for (int i = 0; i < system->n; ++i) {
        point->rhs[i] = -point->rhs[i];
    }
    for (int i = 0; i < system->setCount; ++i) {
        const rgSet* set = system->sets + i;
        if (rgIsFrictionless(set)) {
            point->rhs[set->row] = -point->lambda[set->row];
            point->rhs[set->row + 1] = -point->lambda[set->row + 1];
        }
    }
    for (int i = 0; i < point->lineCount; ++i) {
        int k = point->lines[i];
        double lambda = point->lambda[k], u = point->u[k];
        double wanted = target - lambda * u - lambda * point->gap[k] - point->second[k];
        point->rhs[k] = wanted / (lambda + u);
    }
    for (int i = 0; i < point->coneCount; ++i) {
        const rgCone* cone = point->cones + i;
        int row = cone->set->row;
        rgConeRightSide(cone, point->gap + row, target, point->second + row, point->rhs + row);
    }
}

// (6) dLambda from the linear system, dU = E G dLambda + gap
void rgInterior_Follow(rgInterior* point) {
    rgSystem* system = point->system;
    system->ops->solvePair(system, point->rhs, point->dLambda);
    system->ops->apply(system, point->dLambda, point->moved);
    for (int i = 0; i < system->n; ++i) {
        point->dU[i] = point->moved[i] + point->gap[i];
    }
    for (int i = 0; i < point->coneCount; ++i) {
        const rgCone* cone = point->cones + i;
        const double* moved = point->moved + cone->set->row;
        point->dU[cone->set->row + 2] += cone->slip[0] * moved[0] + cone->slip[1] * moved[1];
    }
}

static void rgInterior_Direction(rgInterior* point, double target) {
    rgInterior_RightSide(point, target);
    rgInterior_Follow(point);
}

double rgInterior_Reach(rgInterior* point) {
    double most = INFINITY;
    for (int i = 0; i < point->lineCount; ++i) {
        int k = point->lines[i];
        most = point->dLambda[k] < 0 ? fmin(most, -point->lambda[k] / point->dLambda[k]) : most;
        most = point->dU[k] < 0 ? fmin(most, -point->u[k] / point->dU[k]) : most;
    }
    for (int i = 0; i < point->coneCount; ++i) {
        rgCone* cone = point->cones + i;
        int row = cone->set->row;
        double dl[3], dw[3];
        rgSymmetric(cone->set->mu, point->dLambda + row, point->dU + row, dl, dw);
        double stepL = rgConeStep(cone->l, dl), stepW = rgConeStep(cone->w, dw);
        cone->reach = RG_MIN(stepL, stepW);
        most = RG_MIN(most, cone->reach);
    }
    return fmin(1, RG_REACH * most);
}

// (7) the product of the predictor's steps, which the corrector takes away
static void rgInterior_SecondOrder(rgInterior* point) {
    for (int i = 0; i < point->lineCount; ++i) {
        int k = point->lines[i];
        point->second[k] = point->dLambda[k] * point->dU[k];
    }
    for (int i = 0; i < point->coneCount; ++i) {
        const rgCone* cone = point->cones + i;
        int row = cone->set->row;
        double dl[3], dw[3], a[3], b[3], p[3];
        rgSymmetric(cone->set->mu, point->dLambda + row, point->dU + row, dl, dw);
        rgScaling_Apply(&cone->scaling, true, dl, a);
        rgScaling_Apply(&cone->scaling, false, dw, b);
        rgJordan(a, b, p);
        point->second[row] = p[1];
        point->second[row + 1] = p[2];
        point->second[row + 2] = p[0];
    }
}

// (8) The slip term is what makes the problem nonmonotone. In the contacts that keep steps short,
// less of its gradient counts until they no longer do.
static void rgInterior_AdaptSlip(rgInterior* point, double reach) {
    for (int i = 0; i < point->coneCount; ++i) {
        rgCone* cone = point->cones + i;
        double more = RG_SLIP_RECOVERY * fmax(cone->slipShare, 0.25);
        cone->slipShare =
            cone->reach < RG_SHORT_REACH ? RG_SLIP_RETREAT * cone->slipShare : fmin(1, more);
    }
    point->shortSteps = reach < RG_JAM_REACH ? point->shortSteps + 1 : 0;
}

// (13) No product far below the gap: a point that is central but wrong gets stuck.
static double rgInterior_Aim(const rgInterior* point, double predicted) {
    double rest = 1 - predicted;
    double centering = fmin(fmax(rest * rest * rest, RG_LEAST_AIM), 0.8);
    double gap = 0;
    for (int i = 0; i < point->coneCount; ++i) {
        gap = fmax(gap, fabs(point->gap[point->cones[i].set->row + 2]));
    }
    double least = fmin(RG_GAP_AIM * gap, point->product);
    return fmax(fmax(centering * point->product, least), point->floor);
}

static bool rgInterior_Move(rgInterior* point, double reach) {
    double sum = 0;
    for (int i = 0; i < point->system->n; ++i) {
        point->lambda[i] += reach * point->dLambda[i];
        point->u[i] += reach * point->dU[i];
        sum += (point->lambda[i] + point->u[i]) * 0;
    }
    return sum == 0;
}

bool rgInterior_Advance(rgInterior* point) {
    rgSystem* system = point->system;
    double eps = 0.1 * rgSystem_LeastShift(system);
    rgInterior_Linearize(point);
    if (system->ops->factorPair(system, point->A, point->B, point->idle, eps) != rg_ok) {
        return false;
    }
    memset(point->second, 0, (size_t)system->n * sizeof(double));
    rgInterior_Direction(point, 0);
    double reach = rgInterior_Reach(point);
    if (reach > 0.1) {
        rgInterior_SecondOrder(point);
    }
    double aim = rgInterior_Aim(point, reach);
    rgInterior_Direction(point, aim);
    reach = rgInterior_Reach(point);
    if (point->few > 0 && reach < RG_NARROW_REACH &&
        rgInterior_Widen(point, aim, &reach) != rg_ok) {
        return false;
    }
    bool finite = rgInterior_Move(point, reach);
    rgInterior_AdaptSlip(point, reach);
    return finite && point->shortSteps < RG_JAM_STEPS;
}

rgResult rgRunInterior(rgRun* run, const rgInteriorOptions* options) {
    rgSystem* system = run->system;
    rgArenaMark mark = rgArena_Mark(system->arena);
    rgInterior point;
    rgResult result = rgInterior_Init(&point, run, options);
    if (result != rg_ok) {
        return result;
    }
    double polishAt = RG_POLISH;
    rgInterior_Start(&point, options->size);
    rgInterior_Measure(&point);
    for (int k = 0; k < options->limit && !rgRun_Solved(run); ++k) {
        if (!rgRun_Count(run, rg_phaseInterior) || !rgInterior_Advance(&point)) {
            break;
        }
        rgInterior_Measure(&point);
        double residual = rgRun_Offer(run, point.lambda, point.sigma);
        rgRun_Record(run, &(rgContactRecord){.phase = rg_phaseInterior,
                                             .primal = NAN,
                                             .dual = NAN,
                                             .complementarity = point.product,
                                             .residual = residual,
                                             .penalty = NAN});
        // Near the solution Newton is faster; where it is not, the path goes on.
        if (options->polish && residual < polishAt && !rgRun_Solved(run)) {
            static const rgNewtonOptions newton = {.limit = 5, .weight = 1, .regularisation = 1e-3};
            polishAt = 0.1 * residual;
            result = rgRunNewton(run, point.lambda, &newton);
            if (result != rg_ok) {
                return result;
            }
        }
    }
    rgArena_Return(system->arena, mark);
    return rg_ok;
}
