// Lanczos without reorthogonalization, and bisection on the tridiagonal matrix that it makes.
// Ghosts of converged values repeat extreme eigenvalues and do no harm here.
#include "math/eigen.h"

#include <float.h>
#include <math.h>
#include <string.h>

// Tridiagonal matrix: diagonal, and off[i] between i and i + 1.
typedef struct rgTridiagonal {
    int size;
    double* diagonal;
    double* off;
} rgTridiagonal;

int rgSpectrumScratch(int size, int steps) {
    return 3 * size + 2 * RG_MAX(steps, 1);
}

// Components of both signs and different sizes, from a fixed sequence.
static void rgFillStart(int n, double* v) {
    uint64_t state = 0x9e3779b97f4a7c15u;
    double squares = 0;
    for (int i = 0; i < n; ++i) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        double x = (double)(state >> 11) * 0x1p-53;
        v[i] = x < 0.5 ? x - 1 : x;
        squares += v[i] * v[i];
    }
    double scale = 1 / sqrt(squares);
    for (int i = 0; i < n; ++i) {
        v[i] *= scale;
    }
}

// Number of eigenvalues below x: negative pivots of T - x.
static int rgCountBelow(const rgTridiagonal* t, double x) {
    int count = 0;
    double pivot = 1;
    for (int i = 0; i < t->size; ++i) {
        double off = i > 0 ? t->off[i - 1] : 0;
        pivot = t->diagonal[i] - x - off * off / pivot;
        pivot = fabs(pivot) < DBL_MIN ? -DBL_MIN : pivot;
        count += pivot < 0;
    }
    return count;
}

// All eigenvalues lie within these bounds (Gershgorin).
static void rgBoundEigenvalues(const rgTridiagonal* t, double* low, double* high) {
    *low = INFINITY;
    *high = -INFINITY;
    for (int i = 0; i < t->size; ++i) {
        double radius = (i > 0 ? fabs(t->off[i - 1]) : 0) + (i + 1 < t->size ? fabs(t->off[i]) : 0);
        *low = fmin(*low, t->diagonal[i] - radius);
        *high = fmax(*high, t->diagonal[i] + radius);
    }
}

// Eigenvalue number `index` (from 0, ascending) to a tolerance relative to the largest one, or to
// itself where it is positive.
static double rgBisect(const rgTridiagonal* t, int index, double tolerance) {
    double low, high;
    rgBoundEigenvalues(t, &low, &high);
    double size = fmax(fabs(low), fabs(high));
    for (int i = 0;
         i < 200 && high - low > tolerance * fabs(low) && high - low > 4 * DBL_EPSILON * size;
         ++i) {
        double middle = low + 0.5 * (high - low);
        if (rgCountBelow(t, middle) > index) {
            high = middle;
        } else {
            low = middle;
        }
    }
    return low + 0.5 * (high - low);
}

// Fill t by the Lanczos recurrence. Stops early when the next vector vanishes. False when a value
// is not finite.
static bool rgLanczos(const rgKernels* k, const rgOperator* A, int steps, double* vectors,
                      rgTridiagonal* t) {
    int n = A->size;
    double *last = vectors, *v = vectors + n, *w = vectors + 2 * n;
    double size = 0;
    memset(last, 0, (size_t)n * sizeof(double));
    rgFillStart(n, v);
    for (int j = 0; j < steps; ++j) {
        A->apply(v, w, A->context);
        double a = k->dot(n, v, w);
        k->axpy(n, -a, v, w);
        k->axpy(n, j > 0 ? -t->off[j - 1] : 0, last, w);
        double b = sqrt(k->dot(n, w, w));
        if (!isfinite(a) || !isfinite(b)) {
            return false;
        }
        t->diagonal[j] = a;
        t->off[j] = b;
        t->size = j + 1;
        size = fmax(size, fabs(a) + b);
        if (b <= 8 * DBL_EPSILON * size) {
            break;
        }
        double* next = last;
        for (int i = 0; i < n; ++i) {
            next[i] = w[i] / b;
        }
        last = v;
        v = next;
    }
    return true;
}

rgSpectrum rgEstimateSpectrum(const rgKernels* kernels, const rgOperator* A, int steps,
                              double tolerance, double* scratch) {
    rgTridiagonal t = {.diagonal = scratch + 3 * A->size};
    int count = RG_MIN(RG_MAX(steps, 1), A->size);
    t.off = t.diagonal + RG_MAX(steps, 1);
    rgSpectrum spectrum = {0, 0, 0};
    if (count == 0) {
        return spectrum;
    }
    if (!rgLanczos(kernels, A, count, scratch, &t)) {
        return (rgSpectrum){.smallest = NAN, .largest = NAN, .steps = t.size};
    }
    spectrum.steps = t.size;
    spectrum.smallest = rgBisect(&t, 0, tolerance);
    spectrum.largest = rgBisect(&t, t.size - 1, tolerance);
    return spectrum;
}

double rgEstimateSmallestEigenvalue(const rgKernels* kernels, const rgOperator* inverse, int steps,
                                    double tolerance, double* scratch) {
    rgSpectrum spectrum = rgEstimateSpectrum(kernels, inverse, steps, tolerance, scratch);
    return spectrum.largest > 0 ? 1 / spectrum.largest : 0;
}
