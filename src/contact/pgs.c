// Projected Gauss-Seidel with over-relaxation, judged by the true residual. docs/theory/pgs.md.
#include "contact/run.h"
#include "contact/tuning.h"

#include "contact/cones.h"

#include <math.h>
#include <string.h>

// Add column k of the diagonal block times delta to the block's own sigma.
static void rgMoveSigma(int m, const double* diagonal, int k, double delta, double* sigma) {
    for (int i = 0; i < m; ++i) {
        sigma[i] += diagonal[i * m + k] * delta;
    }
}

static double rgLargestEigenvalue2(double a, double b, double c) {
    return 0.5 * (a + c) + sqrt(0.25 * (a - c) * (a - c) + b * b);
}

// Two rows on a disc of a radius, or on a polygon around it: the largest eigenvalue of their block
// gives the step.
static void rgGaussSeidelDisc(const rgSystemBlock* block, int sides, const double* D, int row,
                              double radius, double relaxation, double* lambda, double* sigma) {
    int m = block->size;
    const double* d = D + row * m + row;
    double L = rgLargestEigenvalue2(d[0], d[1], d[m + 1]);
    double step = L > 0 ? relaxation / L : 0;
    double x[2] = {lambda[row] - step * sigma[row], lambda[row + 1] - step * sigma[row + 1]};
    rgProjectFriction(sides, radius, x);
    for (int i = 0; i < 2; ++i) {
        rgMoveSigma(m, D, row + i, x[i] - lambda[row + i], sigma);
        lambda[row + i] = x[i];
    }
}

// Normal first, then the tangential rows with the velocity that the normal left. pgs.2-4.
static void rgGaussSeidelContact(const rgSystemBlock* block, int sides, const double* D,
                                 double relaxation, double* lambda, double* sigma) {
    int m = block->size;
    double dn = D[2 * m + 2];
    double normal = dn > 0 ? lambda[2] - relaxation * sigma[2] / dn : lambda[2];
    normal = normal > 0 ? normal : 0;
    rgMoveSigma(m, D, 2, normal - lambda[2], sigma);
    lambda[2] = normal;
    rgGaussSeidelDisc(block, sides, D, 0, block->mu * normal, relaxation, lambda, sigma);
}

// The relaxed model: a projected gradient step on the whole cone.
static void rgGaussSeidelConvex(const rgSystemBlock* block, const double* D, double relaxation,
                                double* lambda, double* sigma) {
    int m = block->size;
    double L = D[0] + D[m + 1] + D[2 * m + 2]; // the trace bounds the largest eigenvalue
    double step = L > 0 ? relaxation / L : 0;
    double x[3];
    for (int i = 0; i < 3; ++i) {
        x[i] = lambda[i] - step * sigma[i];
    }
    rgProjectCone(block->mu, x);
    for (int i = 0; i < 3; ++i) {
        rgMoveSigma(m, D, i, x[i] - lambda[i], sigma);
        lambda[i] = x[i];
    }
}

static void rgGaussSeidelRow(const rgSystemBlock* block, const double* D, int k, double relaxation,
                             double* lambda, double* sigma) {
    double low, high;
    rgRowBounds(block, block->kind == rg_blockCoulomb ? lambda[2] : 0, &low, &high);
    double d = D[k * block->size + k];
    double x = rgClamp(d > 0 ? lambda[k] - relaxation * sigma[k] / d : lambda[k], low, high);
    rgMoveSigma(block->size, D, k, x - lambda[k], sigma);
    lambda[k] = x;
}

// As RaiSim does: all three at once, given the velocity that the contact has without its impulse.
static void rgGaussSeidelBisection(const rgSystemBlock* block, const double* D, double relaxation,
                                   double* lambda, double* sigma) {
    int m = block->size;
    double c[3], x[3];
    for (int i = 0; i < 3; ++i) {
        c[i] = sigma[i];
        for (int k = 0; k < 3; ++k) {
            c[i] -= D[i * m + k] * lambda[k];
        }
    }
    rgBisectContact(block->mu, D, m, c, x);
    for (int i = 0; i < 3; ++i) {
        double change = relaxation * (x[i] - lambda[i]);
        rgMoveSigma(m, D, i, change, sigma);
        lambda[i] += change;
    }
}

bool rgGaussSeidelBlock(const rgSystem* system, const rgSystemBlock* block, double relaxation,
                        double* lambda, double* sigma, double* change) {
    const double* diagonal = system->diagonal + block->entryStart;
    int sides = rgModelSides(system->model);
    double before[RG_BLOCK_ROWS];
    memcpy(before, lambda, (size_t)block->size * sizeof(double));
    int row = 0;
    if (block->kind == rg_blockCoulomb) {
        if (system->bisect) {
            rgGaussSeidelBisection(block, diagonal, relaxation, lambda, sigma);
        } else if (system->model != rg_modelCcp) {
            rgGaussSeidelContact(block, sides, diagonal, relaxation, lambda, sigma);
        } else {
            rgGaussSeidelConvex(block, diagonal, relaxation, lambda, sigma);
        }
        row = 3;
    }
    bool rolls = block->kind == rg_blockCoulomb && block->size == 6;
    for (; row < block->size - 2 * rolls; ++row) {
        rgGaussSeidelRow(block, diagonal, row, relaxation, lambda, sigma);
    }
    if (rolls) {
        rgGaussSeidelDisc(block, sides, diagonal, 4, block->rolling * lambda[2], relaxation, lambda,
                          sigma);
    }
    bool moved = false;
    for (int i = 0; i < block->size; ++i) {
        change[i] = lambda[i] - before[i];
        moved = moved || change[i] != 0;
    }
    return moved;
}

rgResult rgRunGaussSeidel(rgRun* run, double* lambda, int limit, double relaxation) {
    rgSystem* system = run->system;
    rgArenaMark mark = rgArena_Mark(system->arena);
    double* sigma = RG_TAKE(system->arena, double, system->n);
    if (sigma == NULL) {
        return rg_errorMemory;
    }
    bool pending = false; // lambda has moved since it was offered
    rgSystem_Velocity(system, lambda, sigma);
    for (int k = 0; k < limit && !rgRun_Solved(run) && rgRun_Count(run, rg_phaseSweep); ++k) {
        system->ops->gaussSeidel(system, lambda, sigma, relaxation);
        // lambda is in K and sigma is current: the residual costs no product with G.
        double residual = rgSystem_Residual(system, lambda, sigma);
        pending = residual > run->tolerance;
        if (!pending) {
            residual = rgRun_UpdateBest(run, lambda, NULL);
            memcpy(sigma, run->trialSigma, (size_t)system->n * sizeof(double)); // without rounding
        }
        rgRun_RecordResidual(run, rg_phaseSweep, residual);
    }
    if (pending) {
        rgRun_UpdateBest(run, lambda, NULL);
    }
    rgArena_Return(system->arena, mark);
    return rg_ok;
}
