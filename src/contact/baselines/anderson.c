// Anderson acceleration: the next point is the combination of recent images whose residuals cancel
// best. admm.11-12.
#include "contact/baselines/anderson.h"

#include <math.h>
#include <string.h>

rgResult rgAnderson_Init(rgAnderson* anderson, int n, int memory, const rgKernels* kernels,
                         rgArena* arena) {
    *anderson = (rgAnderson){.kernels = kernels, .n = n, .memory = memory};
    if (memory <= 0) {
        return rg_ok;
    }
    size_t size = (size_t)n;
    size_t depth = (size_t)memory;
    anderson->point = RG_TAKE(arena, double, size);
    anderson->image = RG_TAKE(arena, double, size);
    anderson->residual = RG_TAKE(arena, double, size);
    anderson->residuals = RG_TAKE(arena, double, size* depth);
    anderson->images = RG_TAKE(arena, double, size* depth);
    anderson->normal = RG_TAKE(arena, double, depth* depth);
    anderson->weights = RG_TAKE(arena, double, depth);
    return arena->failed ? rg_errorMemory : rg_ok;
}

void rgAnderson_Restart(rgAnderson* anderson) {
    anderson->count = 0;
    anderson->next = 0;
    anderson->primed = false;
}

static double* rgRow(const rgAnderson* anderson, double* rows, int k) {
    return rows + (size_t)k * (size_t)anderson->n;
}

// admm.12: regularised normal equations, solved by Cholesky in place; false when that fails
static bool rgAnderson_Weigh(rgAnderson* anderson, const double* residual) {
    const rgKernels* kernels = anderson->kernels;
    int n = anderson->n, m = anderson->count;
    double* N = anderson->normal;
    double trace = 0;
    for (int i = 0; i < m; ++i) {
        const double* row = rgRow(anderson, anderson->residuals, i);
        for (int j = 0; j <= i; ++j) {
            N[j * m + i] = kernels->dot(n, row, rgRow(anderson, anderson->residuals, j));
        }
        anderson->weights[i] = kernels->dot(n, row, residual);
        trace += N[i * m + i];
    }
    for (int i = 0; i < m; ++i) {
        N[i * m + i] += 1e-12 * trace;
    }
    bool done = kernels->cholesky(m, N, m);
    if (done) {
        kernels->choleskySolve(m, N, m, anderson->weights);
    }
    return done;
}

// Keep the differences to the previous call.
static void rgAnderson_Store(rgAnderson* anderson, const double* image) {
    int n = anderson->n;
    double* dr = rgRow(anderson, anderson->residuals, anderson->next);
    double* di = rgRow(anderson, anderson->images, anderson->next);
    for (int i = 0; i < n; ++i) {
        dr[i] = (image[i] - anderson->point[i]) - anderson->residual[i];
        di[i] = image[i] - anderson->image[i];
    }
    anderson->next = (anderson->next + 1) % anderson->memory;
    anderson->count = RG_MIN(anderson->count + 1, anderson->memory);
}

void rgAnderson_Accelerate(rgAnderson* anderson, double* image) {
    int n = anderson->n;
    size_t bytes = (size_t)n * sizeof(double);
    if (!anderson->primed) {
        // Nothing is known yet: take the plain step.
        memcpy(anderson->image, image, bytes);
        memcpy(anderson->point, image, bytes);
        anderson->primed = true;
        anderson->lastStep = -1;
        return;
    }
    double step = 0;
    for (int i = 0; i < n; ++i) {
        double r = image[i] - anderson->point[i];
        step += r * r;
    }
    step = sqrt(step);
    if (anderson->lastStep >= 0) {
        if (step > 2 * anderson->lastStep) {
            // The last accelerated step raised the residual: clear the history.
            anderson->count = 0;
            anderson->next = 0;
        } else {
            rgAnderson_Store(anderson, image);
        }
    }
    for (int i = 0; i < n; ++i) {
        anderson->residual[i] = image[i] - anderson->point[i];
    }
    memcpy(anderson->image, image, bytes);
    anderson->lastStep = step;
    if (anderson->count > 0 && rgAnderson_Weigh(anderson, anderson->residual)) {
        for (int k = 0; k < anderson->count; ++k) {
            const double* di = rgRow(anderson, anderson->images, k);
            anderson->kernels->axpy(n, -anderson->weights[k], di, image);
        }
    }
    memcpy(anderson->point, image, bytes);
}
