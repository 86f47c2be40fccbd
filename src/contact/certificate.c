// Proof that an island has no solution. auto.1-3.
//
// Without friction the problem is a convex program, and friction cannot help where no velocity
// opens all contacts. Proximal steps on it diverge along a self-stress y: rows that press on each
// other, move nothing, and are asked to open.
#include "contact/run.h"
#include "contact/tuning.h"

#include <float.h>
#include <math.h>
#include <string.h>

// The same rows, normals only: nothing that is bounded can be in conflict with anything.
static rgResult rgStripFriction(const rgSystem* system, rgSystem* frictionless) {
    *frictionless = *system;
    frictionless->model = rg_modelCcp;
    frictionless->blocks = RG_TAKE(system->arena, rgSystemBlock, system->blockCount);
    if (frictionless->blocks == NULL) {
        return rg_errorMemory;
    }
    for (int i = 0; i < system->blockCount; ++i) {
        rgSystemBlock* block = frictionless->blocks + i;
        *block = system->blocks[i];
        block->mu = block->torsion = block->rolling = 0;
        block->lower = block->lower == -INFINITY ? block->lower : 0;
        block->upper = block->upper == INFINITY ? block->upper : 0;
    }
    return rg_ok;
}

// auto.2: With y as weights, the mean violation of any velocity is at least demand less stress
// times that velocity.
static bool rgIsCertificate(const rgRun* run, rgSystem* system, const double* y, double* scratch) {
    system->ops->apply(system, y, scratch);
    double stress = 0, demand = 0, fastest = 0, sum = 0, least = INFINITY;
    for (int i = 0; i < system->n; ++i) {
        stress += y[i] * scratch[i];
        demand -= y[i] * system->g[i];
        sum += fabs(y[i]);
        if (y[i] != 0) {
            fastest = fmax(fastest, fabs(system->g[i]));
            least = fmin(least, system->mass[i] * system->weight[i]);
        }
    }
    // Rounding of the product, for G with a diagonal near one: y'Gy may be that much larger.
    stress = fmax(stress, 0) + 2 * DBL_EPSILON * system->n * sum * sum;
    bool impossible = demand > RG_CERTIFICATE_SPEED_RATIO * fastest * sqrt(stress);
    return impossible && demand * least > run->tolerance * sum;
}

// Impulses of the regularized problem, in which every row has a compliance: bounded.
static rgResult rgRegularizeAll(rgRun* run) {
    const rgNewtonOptions newton = {.limit = 2 * RG_NEWTON_ITERATIONS,
                                    .regularisation = RG_NEWTON_SHIFT_RATIO,
                                    .proximal = RG_STRONG_PROXIMAL_RATIO,
                                    .keepCentre = true,
                                    .last = run->best};
    memset(run->trial, 0, (size_t)run->system->n * sizeof(double));
    rgResult result = rgRunNewton(run, run->trial, &newton);
    rgSystem_Project(run->system, run->best);
    return result;
}

rgResult rgRunCertificate(rgRun* run, bool* found) {
    rgSystem* system = run->system;
    rgArenaMark mark = rgArena_Mark(system->arena);
    double* y = RG_TAKE(system->arena, double, system->n);
    double* zero = RG_TAKE(system->arena, double, system->n);
    rgSystem frictionless;
    *found = false;
    rgResult result = rgStripFriction(system, &frictionless);
    if (result != rg_ok || system->arena->failed) {
        return rg_errorMemory;
    }
    memset(zero, 0, (size_t)system->n * sizeof(double));
    rgRun inner;
    result = rgRun_Fork(run, &frictionless, &inner);
    if (result != rg_ok) {
        return result;
    }
    inner.tolerance = -1; // as far as it goes
    const rgNewtonOptions newton = {.limit = 2 * RG_NEWTON_ITERATIONS,
                                    .regularisation = RG_NEWTON_SHIFT_RATIO,
                                    .proximal = RG_STRONG_PROXIMAL_RATIO,
                                    .last = y};
    result = rgRunNewton(&inner, zero, &newton);
    rgRun_Join(run, &inner);
    rgSystem_Project(&frictionless, y);
    *found = result == rg_ok && rgIsCertificate(run, &frictionless, y, zero);
    double largest = 0;
    for (int i = 0; i < system->n; ++i) {
        largest = fmax(largest, fabs(y[i]));
    }
    for (int i = 0; *found && i < system->blockCount; ++i) {
        const rgSystemBlock* block = system->blocks + i;
        for (int k = 0; k < block->size; ++k) {
            run->conflict[i] =
                run->conflict[i] || fabs(y[block->row + k]) > RG_CONFLICT_RATIO * largest;
        }
    }
    rgArena_Return(system->arena, mark);
    return result == rg_ok && *found ? rgRegularizeAll(run) : result;
}
