// CMA-ES with the tutorial's constants.
#include "identify/search.h"
#include "identify/linear.h"
#include "rigor/batch.h"

#include <math.h>
#include <string.h>

rgResult rgSearch_Create(rgSearch* search, const rgAllocator* allocator, int size, int population,
                         uint64_t seed) {
    size_t n = (size_t)size, count = (size_t)population;
    *search = (rgSearch){.size = size, .population = population, .seed = seed};
    search->parents = population / 2;
    size_t numbers = 5 * n + 3 * n * n + count * n + count;
    search->memory = rgAllocate(allocator, numbers, sizeof(double));
    search->order = rgAllocate(allocator, count, sizeof(int));
    if (search->memory == NULL || search->order == NULL) {
        rgSearch_Free(search, allocator);
        return rg_errorMemory;
    }
    double** parts[] = {&search->mean,    &search->path,       &search->sigmaPath,
                        &search->lengths, &search->covariance, &search->axes,
                        &search->scratch, &search->candidates, &search->weights};
    size_t sizes[] = {n, n, n, n, n * n, n * n, n * n + n, count * n, count};
    double* at = search->memory;
    for (int i = 0; i < RG_COUNT(parts); ++i) {
        *parts[i] = at;
        at += sizes[i];
    }
    double sum = 0;
    for (int i = 0; i < search->parents; ++i) {
        search->weights[i] = log(0.5 * population + 0.5) - log(i + 1.0);
        sum += search->weights[i];
    }
    for (int i = 0; i < search->parents; ++i) {
        search->weights[i] /= sum;
    }
    return rg_ok;
}

void rgSearch_Free(rgSearch* search, const rgAllocator* allocator) {
    rgRelease(allocator, search->memory);
    rgRelease(allocator, search->order);
    *search = (rgSearch){0};
}

void rgSearch_Begin(rgSearch* search, const double* mean, double sigma) {
    int n = search->size;
    search->sigma = sigma;
    search->generation = 0;
    for (int i = 0; i < n; ++i) {
        search->mean[i] = mean[i];
        search->path[i] = search->sigmaPath[i] = 0;
        search->lengths[i] = 1;
        for (int j = 0; j < n; ++j) {
            search->covariance[i * n + j] = search->axes[i * n + j] = i == j;
        }
    }
}

// Reflect a value into [0, 1].
static double rgReflect(double x) {
    x = fmod(fabs(x), 2);
    return x > 1 ? 2 - x : x;
}

void rgSearch_Sample(rgSearch* search) {
    int n = search->size;
    uint64_t seed = rgRandomBits(search->seed, (uint64_t)search->generation);
    for (int c = 0; c < search->population; ++c) {
        double* x = search->candidates + (size_t)c * (size_t)n;
        double* z = search->scratch;
        for (int i = 0; i < n; ++i) {
            z[i] =
                search->lengths[i] * rgRandomNormal(seed, (uint64_t)c * (uint64_t)n + (uint64_t)i);
        }
        for (int i = 0; i < n; ++i) {
            double y = 0;
            for (int k = 0; k < n; ++k) {
                y += search->axes[i * n + k] * z[k];
            }
            x[i] = rgReflect(search->mean[i] + search->sigma * y);
        }
    }
}

// Candidates from best to worst; of equal ones the earlier first.
static void rgSearch_Rank(rgSearch* search, const double* costs) {
    for (int c = 0; c < search->population; ++c) {
        int at = c;
        while (at > 0 && costs[search->order[at - 1]] > costs[c]) {
            search->order[at] = search->order[at - 1];
            --at;
        }
        search->order[at] = c;
    }
}

// C^-1/2 y
static void rgSearch_Whiten(const rgSearch* search, const double* y, double* out) {
    int n = search->size;
    memset(out, 0, (size_t)n * sizeof(double));
    for (int k = 0; k < n; ++k) {
        double along = 0;
        for (int i = 0; i < n; ++i) {
            along += search->axes[i * n + k] * y[i];
        }
        along /= search->lengths[k];
        for (int i = 0; i < n; ++i) {
            out[i] += search->axes[i * n + k] * along;
        }
    }
}

static void rgSearch_Decompose(rgSearch* search) {
    int n = search->size;
    double* copy = search->scratch;
    memcpy(copy, search->covariance, (size_t)(n * n) * sizeof(double));
    rgSymmetricEigen(n, copy, search->lengths, search->axes);
    for (int i = 0; i < n; ++i) {
        // A direction that has collapsed keeps a part of the longest.
        search->lengths[i] = sqrt(fmax(search->lengths[i], 1e-14 * search->lengths[0]));
    }
}

void rgSearch_Update(rgSearch* search, const double* costs) {
    int n = search->size;
    double effective = 0;
    for (int i = 0; i < search->parents; ++i) {
        effective += search->weights[i] * search->weights[i];
    }
    effective = 1 / effective;
    double cs = (effective + 2) / (n + effective + 5);
    double ds = 1 + 2 * fmax(0, sqrt((effective - 1) / (n + 1)) - 1) + cs;
    double cc = (4 + effective / n) / (n + 4 + 2 * effective / n);
    double c1 = 2 / ((n + 1.3) * (n + 1.3) + effective);
    double cm =
        fmin(1 - c1, 2 * (effective - 2 + 1 / effective) / ((n + 2.0) * (n + 2.0) + effective));
    double expected = sqrt(n) * (1 - 1 / (4.0 * n) + 1 / (21.0 * n * n));

    rgSearch_Rank(search, costs);
    double* step = search->scratch; // step of the mean, in units of sigma
    double* white = search->scratch + n;
    for (int i = 0; i < n; ++i) {
        double mean = 0;
        for (int k = 0; k < search->parents; ++k) {
            mean += search->weights[k] * search->candidates[search->order[k] * n + i];
        }
        step[i] = (mean - search->mean[i]) / search->sigma;
    }
    rgSearch_Whiten(search, step, white);
    double length = 0;
    for (int i = 0; i < n; ++i) {
        search->sigmaPath[i] =
            (1 - cs) * search->sigmaPath[i] + sqrt(cs * (2 - cs) * effective) * white[i];
        length += search->sigmaPath[i] * search->sigmaPath[i];
    }
    length = sqrt(length);
    double grown = 1 - pow(1 - cs, 2.0 * (search->generation + 1));
    bool moves = length / sqrt(grown) < (1.4 + 2.0 / (n + 1)) * expected;
    for (int i = 0; i < n; ++i) {
        search->path[i] =
            (1 - cc) * search->path[i] + (moves ? sqrt(cc * (2 - cc) * effective) * step[i] : 0);
    }
    double keep = 1 - c1 - cm + (moves ? 0 : c1 * cc * (2 - cc));
    for (int i = 0; i < n; ++i) {
        for (int j = 0; j <= i; ++j) {
            double sum = 0;
            for (int k = 0; k < search->parents; ++k) {
                const double* x = search->candidates + (size_t)search->order[k] * (size_t)n;
                sum += search->weights[k] * (x[i] - search->mean[i]) * (x[j] - search->mean[j]);
            }
            double* c = &search->covariance[i * n + j];
            *c = keep * *c + c1 * search->path[i] * search->path[j] +
                 cm * sum / (search->sigma * search->sigma);
            search->covariance[j * n + i] = *c;
        }
    }
    for (int i = 0; i < n; ++i) {
        search->mean[i] += search->sigma * step[i];
    }
    search->sigma = fmin(search->sigma * exp(cs / ds * (length / expected - 1)), 0.5);
    search->generation += 1;
    rgSearch_Decompose(search);
}
