// Anderson acceleration: the next point is the combination of recent images whose residuals cancel
// best. docs/theory/admm.md (11)-(12).
#include "contact/anderson.h"

#include <math.h>
#include <string.h>

rgResult rgAnderson_Init(rgAnderson* anderson, int n, int memory, rgArena* arena) {
    *anderson = (rgAnderson){.n = n, .memory = memory};
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

static double rgInner(int n, const double* x, const double* y) {
    double sum = 0;
    for (int i = 0; i < n; ++i) {
        sum += x[i] * y[i];
    }
    return sum;
}

static const double* rgRow(const double* rows, int n, int k) {
    return rows + (size_t)k * (size_t)n;
}

static double* rgRowMutable(double* rows, int n, int k) {
    return rows + (size_t)k * (size_t)n;
}

// (12) regularised normal equations, solved by Cholesky in place; false when that fails
static bool rgAnderson_Weigh(rgAnderson* anderson, const double* residual) {
    int m = anderson->count;
    double* N = anderson->normal;
    double trace = 0;
    for (int i = 0; i < m; ++i) {
        const double* row = rgRow(anderson->residuals, anderson->n, i);
        for (int j = 0; j <= i; ++j) {
            N[i * m + j] = rgInner(anderson->n, row, rgRow(anderson->residuals, anderson->n, j));
        }
        anderson->weights[i] = rgInner(anderson->n, row, residual);
        trace += N[i * m + i];
    }
    for (int i = 0; i < m; ++i) {
        N[i * m + i] += 1e-12 * trace;
        for (int j = 0; j <= i; ++j) {
            double sum = N[i * m + j];
            for (int k = 0; k < j; ++k) {
                sum -= N[i * m + k] * N[j * m + k];
            }
            if (i == j && !(sum > 0)) {
                return false;
            }
            N[i * m + j] = i == j ? sqrt(sum) : sum / N[j * m + j];
        }
    }
    for (int i = 0; i < m; ++i) {
        for (int k = 0; k < i; ++k) {
            anderson->weights[i] -= N[i * m + k] * anderson->weights[k];
        }
        anderson->weights[i] /= N[i * m + i];
    }
    for (int i = m - 1; i >= 0; --i) {
        for (int k = i + 1; k < m; ++k) {
            anderson->weights[i] -= N[k * m + i] * anderson->weights[k];
        }
        anderson->weights[i] /= N[i * m + i];
    }
    return true;
}

// Keep the differences to the previous call.
static void rgAnderson_Store(rgAnderson* anderson, const double* image) {
    int n = anderson->n;
    double* dr = rgRowMutable(anderson->residuals, n, anderson->next);
    double* di = rgRowMutable(anderson->images, n, anderson->next);
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
            // The last accelerated step did harm: forget what led to it.
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
            const double* di = rgRow(anderson->images, n, k);
            for (int i = 0; i < n; ++i) {
                image[i] -= anderson->weights[k] * di[i];
            }
        }
    }
    memcpy(anderson->point, image, bytes);
}
