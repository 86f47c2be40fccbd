// RaiSim's per-contact iteration: a Gauss-Seidel pass in which each contact is open, sticks, or
// slides with the impulse of least energy among those on its cone that leave no normal velocity,
// found by bisection. models.7-9.
#include "contact/run.h"

#include <math.h>
#include <string.h>

#define RG_BISECTIONS              60
#define RG_FIRST_TURN              0.05 // [rad] of the search for a bracket
#define RG_FIRM                    1e-12 // shift / trace of a block: contacts that only move along a line
#define RG_LEAST_DENOMINATOR_RATIO 1e-9 // of the denominator of models.8, over D_nn

// One contact that slides.
typedef struct rgSliding {
    double mu;
    double D[9];
    double c[3];
} rgSliding;

// models.8: The impulse in direction theta that leaves no normal velocity, and how the energy
// changes with theta. False where no impulse does.
static bool rgSliding_At(const rgSliding* s, double theta, double* x, double* slope) {
    double e[2] = {cos(theta), sin(theta)}, turned[2] = {-e[1], e[0]};
    double coupling = s->mu * (s->D[6] * e[0] + s->D[7] * e[1]);
    double hold = s->D[8] + coupling;
    if (!(hold > RG_LEAST_DENOMINATOR_RATIO * s->D[8])) {
        return false;
    }
    x[2] = -s->c[2] / hold;
    x[0] = s->mu * x[2] * e[0];
    x[1] = s->mu * x[2] * e[1];
    double growth = -x[2] * s->mu * (s->D[6] * turned[0] + s->D[7] * turned[1]) / hold;
    *slope = 0; // sigma_t . dx_t/dtheta: the energy's derivative, for sigma_n = 0
    for (int i = 0; i < 2; ++i) {
        double sigma =
            s->c[i] + s->D[3 * i] * x[0] + s->D[3 * i + 1] * x[1] + s->D[3 * i + 2] * x[2];
        *slope += sigma * s->mu * (growth * e[i] + x[2] * turned[i]);
    }
    return true;
}

// models.9: Downhill from the direction against the slip that a normal impulse alone would leave,
// until the slope changes its sign; then halves.
static void rgSliding_Solve(const rgSliding* s, double* x) {
    double normal = -s->c[2] / s->D[8];
    double low = atan2(-s->c[1] - s->D[5] * normal, -s->c[0] - s->D[2] * normal);
    double slope, at[3];
    if (!rgSliding_At(s, low, x, &slope)) {
        x[0] = x[1] = 0; // nothing on that side of the cone holds the normal
        x[2] = normal;
        return;
    }
    double side = slope > 0 ? -1 : 1, turn = RG_FIRST_TURN, high = low;
    bool bracketed = false;
    for (int k = 0; k < RG_BISECTIONS && !bracketed && turn > 1e-12; ++k) {
        double value;
        if (!rgSliding_At(s, low + side * turn, at, &value)) {
            turn *= 0.5;
            continue;
        }
        bracketed = side * value >= 0;
        high = low + side * turn;
        low = bracketed ? low : high;
        turn = RG_MIN(2 * turn, 0.5);
    }
    for (int k = 0; k < RG_BISECTIONS && bracketed; ++k) {
        double middle = 0.5 * (low + high), value = 0;
        rgSliding_At(s, middle, at, &value);
        *(side * value >= 0 ? &high : &low) = middle;
    }
    rgSliding_At(s, low, x, &slope);
}

// -(D + shift)^-1 c of a symmetric block, by Gauss without pivots: D + shift is positive definite.
static void rgStick(const double* D, const double* c, double* x) {
    double shift = RG_FIRM * (D[0] + D[4] + D[8]);
    double a = D[0] + shift, b = D[4] + shift, d = D[8] + shift;
    double l1 = D[3] / a, l2 = D[6] / a;
    double b1 = b - l1 * D[1], c1 = D[7] - l2 * D[1];
    double y0 = -c[0], y1 = -c[1] - l1 * y0;
    double l3 = c1 / b1;
    x[2] = (-c[2] - l2 * y0 - l3 * y1) / (d - l2 * D[2] - l3 * c1);
    x[1] = (y1 - c1 * x[2]) / b1;
    x[0] = (y0 - D[1] * x[1] - D[2] * x[2]) / a;
}

void rgBisectContact(double mu, const double* D, int stride, const double* c, double* x) {
    rgSliding s = {.mu = mu};
    for (int i = 0; i < 3; ++i) {
        memcpy(s.D + 3 * i, D + i * stride, 3 * sizeof(double));
        s.c[i] = c[i];
    }
    x[0] = x[1] = x[2] = 0;
    if (c[2] >= 0 || !(s.D[8] > 0)) {
        return;
    }
    rgStick(s.D, c, x);
    bool sticks = x[2] >= 0 && x[0] * x[0] + x[1] * x[1] <= mu * mu * x[2] * x[2];
    if (!sticks) {
        rgSliding_Solve(&s, x);
    }
}

// Largest velocity that the last pass moved anything by, in units of the residual.
static double rgLargestMove(const rgSystem* system, const double* before, const double* after) {
    double most = 0;
    for (int i = 0; i < system->n; ++i) {
        most = RG_MAX(most, system->weight[i] * fabs(after[i] - before[i]));
    }
    return most;
}

rgResult rgRunBisection(rgRun* run, int limit, double relaxation) {
    rgSystem* system = run->system;
    rgArenaMark mark = rgArena_Mark(system->arena);
    double* sigma = RG_TAKE(system->arena, double, system->n);
    double* before = RG_TAKE(system->arena, double, system->n);
    if (system->arena->failed) {
        return rg_errorMemory;
    }
    size_t bytes = (size_t)system->n * sizeof(double);
    double* lambda = run->start;
    system->bisect = true;
    bool moves = true; // the iteration has come to rest where its own law holds
    for (int k = 0; k < limit && moves && !rgRun_Solved(run) && rgRun_Count(run, rg_phaseSweep);
         ++k) {
        memcpy(before, lambda, bytes);
        rgSystem_Velocity(system, lambda, sigma);
        system->ops->gaussSeidel(system, lambda, sigma, relaxation);
        moves = rgLargestMove(system, before, lambda) > 0.1 * run->tolerance;
        rgRun_Record(run, &(rgContactRecord){.phase = rg_phaseSweep,
                                             .primal = NAN,
                                             .dual = NAN,
                                             .complementarity = NAN,
                                             .residual = rgRun_UpdateBest(run, lambda, NULL),
                                             .penalty = NAN});
    }
    system->bisect = false;
    // The result of the method is its last iterate, not the one with the least residual of the
    // exact law.
    rgSystem_Project(system, lambda);
    memcpy(run->best, lambda, bytes);
    run->bestResidual = INFINITY;
    rgRun_UpdateBest(run, lambda, NULL);
    rgArena_Return(system->arena, mark);
    return rg_ok;
}
