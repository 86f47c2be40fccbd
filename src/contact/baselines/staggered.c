// Staggered projections (Kaufman et al. 2008): normal impulses for given friction, friction for
// given normal impulses, in turns; each a convex quadratic program, solved by splitting with one
// factorization for all of them. models.14-16.
#include "contact/maps.h"
#include "contact/run.h"

#include "contact/cones.h"
#include "math/eigen.h"

#include <math.h>
#include <string.h>

#define RG_STAGGERED_SPECTRUM_STEPS 12
#define RG_STAGGERED_LEAST_RATIO    1e-6 // penalty's least eigenvalue / largest
#define RG_STAGGERED_INNER_RATIO    0.1  // error of a program / change of the last turn
#define RG_STAGGERED_INNER_MOST     200  // iterations of a program

typedef struct rgStaggered {
    rgRun* run;
    rgSystem* system;
    double rho;
    double* f; // impulses of the quadratic step
    double* y; // impulses in the program's set
    double* z; // dual variable of either program, 2 n
    double* last;
} rgStaggered;

static void rgStaggered_Apply(const double* x, double* y, void* context) {
    rgSystem* system = context;
    system->ops->apply(system, x, y);
}

// rho = sqrt(m L) of G, with m at least a share of L.
static rgResult rgStaggered_Prepare(rgStaggered* work) {
    rgSystem* system = work->system;
    rgArenaMark mark = rgArena_Mark(system->arena);
    double* scratch =
        RG_TAKE(system->arena, double, rgSpectrumScratch(system->n, RG_STAGGERED_SPECTRUM_STEPS));
    if (scratch == NULL) {
        return rg_errorMemory;
    }
    rgOperator G = {.size = system->n, .apply = rgStaggered_Apply, .context = system};
    rgSpectrum spectrum =
        rgEstimateSpectrum(system->kernels, &G, RG_STAGGERED_SPECTRUM_STEPS, 1e-2, scratch);
    rgArena_Return(system->arena, mark);
    work->rho = spectrum.largest *
                sqrt(fmax(spectrum.smallest / spectrum.largest, RG_STAGGERED_LEAST_RATIO));
    return system->ops->factorShift(system, work->rho);
}

// models.15, models.16: Project impulses of one block on the set of its program. `given` holds the
// other program's impulses.
static void rgStaggered_ProjectBlock(const rgSystemBlock* block, bool friction, const double* given,
                                     double* x) {
    if (block->kind != rg_blockCoulomb) {
        for (int k = 0; k < block->size && !friction; ++k) {
            double low, high;
            rgRowBounds(block, 0, &low, &high);
            x[k] = rgClamp(x[k], low, high);
        }
        if (friction) {
            memcpy(x, given, (size_t)block->size * sizeof(double));
        }
        return;
    }
    if (!friction) {
        double normal = fmax(x[2], 0);
        memcpy(x, given, (size_t)block->size * sizeof(double));
        x[2] = normal;
        return;
    }
    x[2] = given[2];
    rgProjectDisc(block->mu * x[2], x);
    if (block->size > 3) {
        x[3] = rgClamp(x[3], -block->torsion * x[2], block->torsion * x[2]);
    }
    if (block->size > 4) {
        rgProjectDisc(block->rolling * x[2], x + 4);
    }
}

// One program from y and its dual variable: at most `most` iterations, until y and f agree to the
// tolerance. lambda: the other program's impulses, and the answer.
static void rgStaggered_Solve(rgStaggered* work, bool friction, double tolerance, double* lambda) {
    rgSystem* system = work->system;
    double* z = work->z + (friction ? system->n : 0);
    memcpy(work->y, lambda, (size_t)system->n * sizeof(double));
    for (int k = 0; k < RG_STAGGERED_INNER_MOST && rgRun_Count(work->run, rg_phaseAdmm); ++k) {
        for (int i = 0; i < system->n; ++i) {
            work->f[i] = work->rho * work->y[i] + z[i] - system->g[i];
        }
        system->ops->solveShift(system, work->f);
        for (int i = 0; i < system->n; ++i) {
            work->last[i] = work->y[i];
            work->y[i] = work->f[i] - z[i] / work->rho;
        }
        for (int i = 0; i < system->blockCount; ++i) {
            const rgSystemBlock* block = system->blocks + i;
            rgStaggered_ProjectBlock(block, friction, lambda + block->row, work->y + block->row);
        }
        double error = 0;
        for (int i = 0; i < system->n; ++i) {
            z[i] += work->rho * (work->y[i] - work->f[i]);
            error =
                fmax(error, fmax(fabs(work->y[i] - work->f[i]), fabs(work->y[i] - work->last[i])));
        }
        if (error <= tolerance) {
            break;
        }
    }
    memcpy(lambda, work->y, (size_t)system->n * sizeof(double));
}

rgResult rgRunStaggered(rgRun* run, int limit) {
    rgSystem* system = run->system;
    rgArenaMark mark = rgArena_Mark(system->arena);
    rgStaggered work = {.run = run, .system = system};
    work.f = RG_TAKE(system->arena, double, system->n);
    work.y = RG_TAKE(system->arena, double, system->n);
    work.z = RG_TAKE(system->arena, double, 2 * system->n);
    work.last = RG_TAKE(system->arena, double, system->n);
    double* before = RG_TAKE(system->arena, double, system->n);
    if (system->arena->failed) {
        return rg_errorMemory;
    }
    double* lambda = run->start;
    double tolerance = 1;
    memset(work.z, 0, 2 * (size_t)system->n * sizeof(double));
    rgResult result = rgStaggered_Prepare(&work);
    while (result == rg_ok && run->iterationCount < limit && !rgRun_Solved(run)) {
        double change = 0;
        memcpy(before, lambda, (size_t)system->n * sizeof(double));
        rgStaggered_Solve(&work, false, tolerance, lambda); // models.15
        rgStaggered_Solve(&work, true, tolerance, lambda);  // models.16
        for (int i = 0; i < system->n; ++i) {
            change = fmax(change, fabs(lambda[i] - before[i]));
        }
        tolerance = fmax(RG_STAGGERED_INNER_RATIO * fmin(change, tolerance), 1e-14);
        rgRun_RecordResidual(run, rg_phaseAdmm, rgRun_UpdateBest(run, lambda, NULL));
    }
    rgArena_Return(system->arena, mark);
    return result == rg_errorNumeric ? rg_ok : result;
}
