// Dense linear systems of the derivatives of a step, and their pseudoinverse where they are
// singular (step_derivatives.18). Matrices are stored row by row, which kernels see as transposes.
#include "world/linearize.h"

#include <string.h>

static double* rgAt(double* matrix, int width, int row, int column) {
    return matrix + (size_t)row * (size_t)width + (size_t)column;
}

void rgSubtractProduct(const rgKernels* kernels, int n, int k, int m, const double* a,
                       const double* b, double* c) {
    if (n > 0 && k > 0 && m > 0) {
        kernels->subtractProduct(m, n, k, b, m, a, k, c, m);
    }
}

// Householder's reflection 1 - factor u u' that makes all but the first number of u zero; u_0 = 1.
// That number is in first. Returns the factor; 0: nothing to do.
static double rgReflect(int count, double* u, double* first) {
    double sum = 0;
    for (int i = 1; i < count; ++i) {
        sum += u[i] * u[i];
    }
    *first = u[0];
    if (!(sum > 0)) {
        return 0;
    }
    double norm = sqrt(u[0] * u[0] + sum), pivot;
    *first = u[0] > 0 ? -norm : norm;
    pivot = u[0] - *first;
    for (int i = 1; i < count; ++i) {
        u[i] /= pivot;
    }
    u[0] = 1;
    return -pivot / *first;
}

// Column from k on that is largest from row k on.
static int rgLargestColumn(int n, int k, const double* a, double* sums, double* most) {
    memset(sums, 0, (size_t)n * sizeof(double));
    for (int i = k; i < n; ++i) {
        const double* row = a + (size_t)i * (size_t)(2 * n);
        for (int j = k; j < n; ++j) {
            sums[j] += row[j] * row[j];
        }
    }
    int best = k;
    for (int j = k + 1; j < n; ++j) {
        best = sums[j] > sums[best] ? j : best;
    }
    *most = sqrt(sums[best]);
    return best;
}

// [a q]: a P = Q R with column pivoting, and Q' in the place of q = 1. Returns the rank. scratch: 3
// n numbers.
static int rgPivotedQr(const rgKernels* kernels, int n, double* a, int* order, double* scratch) {
    int width = 2 * n;
    double *u = scratch, *sums = scratch + n, *along = scratch + n, largest = 0;
    for (int i = 0; i < n; ++i) {
        order[i] = i;
    }
    for (int k = 0; k < n; ++k) {
        double most;
        int best = rgLargestColumn(n, k, a, sums, &most);
        largest = k == 0 ? most : largest;
        if (!(most > RG_RANK_RATIO * largest)) {
            return k;
        }
        for (int i = 0; i < n && best != k; ++i) {
            double* row = rgAt(a, width, i, 0);
            double swap = row[k];
            row[k] = row[best], row[best] = swap;
        }
        int swap = order[k], rows = n - k, rest = width - k - 1;
        order[k] = order[best], order[best] = swap;
        for (int i = 0; i < rows; ++i) {
            u[i] = *rgAt(a, width, k + i, k);
        }
        double first, factor = rgReflect(rows, u, &first), *block = rgAt(a, width, k, k + 1);
        *rgAt(a, width, k, k) = first;
        if (factor != 0) {
            kernels->multiply(rest, rows, block, width, u, along);
            for (int i = 0; i < rows; ++i) {
                u[i] *= factor;
            }
            kernels->subtractProduct(rest, rows, 1, along, rest, u, 1, block, width);
        }
    }
    return n;
}

// Rows of R are columns of R': reflections of what is beyond the triangle, from the last row on,
// make it a triangle of rank rows.
static void rgReflectRows(const rgKernels* kernels, int n, int rank, double* a, double* factors,
                          double* along) {
    int width = 2 * n, rest = n - rank;
    for (int k = rank - 1; k >= 0; --k) {
        double *row = rgAt(a, width, k, 0), sum = 0;
        for (int j = rank; j < n; ++j) {
            sum += row[j] * row[j];
        }
        double norm = sqrt(row[k] * row[k] + sum), first = row[k] > 0 ? -norm : norm;
        double pivot = row[k] - first;
        factors[k] = sum > 0 ? -pivot / first : 0;
        for (int j = rank; j < n && sum > 0; ++j) {
            row[j] /= pivot;
        }
        row[k] = sum > 0 ? first : row[k];
        if (k == 0 || factors[k] == 0) {
            continue;
        }
        kernels->multiplyTransposed(rest, k, a + rank, width, row + rank, along);
        for (int i = 0; i < k; ++i) {
            double* entry = rgAt(a, width, i, k);
            along[i] = factors[k] * (along[i] + *entry);
            *entry -= along[i];
        }
        kernels->subtractProduct(rest, k, 1, row + rank, rest, along, 1, a + rank, width);
    }
}

// step_derivatives.18 x := the pseudoinverse of a, which stands beside 1 in [a 1]: a = Q R P',
// R' = Z (S 0)', x = P Z S^-T Q'. null gets the rows of Q' that no x can meet. scratch: 3 n
// numbers. Returns the rank.
static int rgPseudoinvert(const rgKernels* kernels, int n, double* a, double* x, double* null,
                          int* order, double* scratch) {
    int rank = rgPivotedQr(kernels, n, a, order, scratch), width = 2 * n;
    double *factors = scratch, *along = scratch + n, *q = a + n;
    if (rank < n) {
        rgReflectRows(kernels, n, rank, a, factors, along);
    }
    for (int i = rank - 1; i >= 0; --i) { // (S^-T 0)' Q'
        double* row = rgAt(q, width, i, 0);
        if (i + 1 < rank) {
            kernels->subtractProduct(n, 1, rank - i - 1, rgAt(q, width, i + 1, 0), width,
                                     rgAt(a, width, i, i + 1), rank, row, width);
        }
        double inverse = 1 / *rgAt(a, width, i, i);
        for (int j = 0; j < n; ++j) {
            row[j] *= inverse;
        }
    }
    for (int i = rank; i < n; ++i) {
        memcpy(null + (size_t)(i - rank) * (size_t)n, rgAt(q, width, i, 0),
               (size_t)n * sizeof(double));
        memset(rgAt(q, width, i, 0), 0, (size_t)n * sizeof(double));
    }
    for (int k = 0; k < rank && rank < n; ++k) { // Z
        const double* u = rgAt(a, width, k, 0);
        if (factors[k] == 0) {
            continue;
        }
        double* own = rgAt(q, width, k, 0);
        kernels->multiply(n, n - rank, rgAt(q, width, rank, 0), width, u + rank, along);
        for (int j = 0; j < n; ++j) {
            along[j] = factors[k] * (along[j] + own[j]);
            own[j] -= along[j];
        }
        kernels->subtractProduct(n, n - rank, 1, along, n, u + rank, 1, rgAt(q, width, rank, 0),
                                 width);
    }
    for (int i = 0; i < n; ++i) {
        memcpy(rgAt(x, n, order[i], 0), rgAt(q, width, i, 0), (size_t)n * sizeof(double));
    }
    return rank;
}

// Entries of U^-1 say how far K in its units, whose diagonal is about 1, is from singular.
static bool rgIsRegular(const rgLinearSystem* s, double* x) {
    double most = 0;
    for (int k = 0; k < s->n; ++k) { // those on the diagonal first
        double pivot = fabs(s->factor[(size_t)k * (size_t)(s->n + 1)]);
        most = pivot * most >= 1 ? most : 1 / pivot;
    }
    for (int k = 0; k < s->n && RG_REGULAR_RATIO * most < 1; ++k) {
        memset(x, 0, (size_t)k * sizeof(double));
        x[k] = 1;
        s->kernels->upperSolve(k + 1, s->factor, s->n, x);
        for (int i = 0; i <= k; ++i) {
            most = fabs(x[i]) <= most ? most : fabs(x[i]);
        }
    }
    return RG_REGULAR_RATIO * most < 1;
}

static void rgScaleSquare(const rgLinearSystem* s, const double* from, int width, double* to) {
    for (int i = 0; i < s->n; ++i) {
        const double* row = from + (size_t)i * (size_t)s->n;
        double* out = to + (size_t)i * (size_t)width;
        for (int j = 0; j < s->n; ++j) {
            out[j] = row[j] * (s->units[i] * s->units[j]);
        }
    }
}

bool rgLinearSystem_Factorize(rgLinearSystem* s, const rgKernels* kernels, double* scratch) {
    int n = s->n;
    s->kernels = kernels;
    s->rank = n;
    rgScaleSquare(s, s->K, n, s->factor);
    s->isRegular =
        n == 0 || (kernels->lu(n, s->factor, n, s->exchanges) && rgIsRegular(s, scratch));
    if (s->isRegular) {
        return true;
    }
    rgScaleSquare(s, s->K, 2 * n, scratch);
    for (int i = 0; i < n; ++i) {
        double* row = rgAt(scratch, 2 * n, i, n);
        memset(row, 0, (size_t)n * sizeof(double));
        row[i] = 1;
    }
    s->rank = rgPseudoinvert(kernels, n, scratch, s->factor, s->null, s->order,
                             scratch + 2 * (size_t)(n * n));
    for (int i = 0; i < n - s->rank; ++i) {
        for (int j = 0; j < n; ++j) {
            s->null[(size_t)i * (size_t)n + (size_t)j] *= s->units[j];
        }
    }
    rgScaleSquare(s, s->factor, n, s->factor);
    return rgAllFinite(s->factor, n * n);
}

void rgLinearSystem_SolveRight(const rgLinearSystem* s, int rowCount, double* x, double* scratch) {
    int n = s->n;
    size_t count = (size_t)rowCount * (size_t)n;
    if (count == 0) {
        return;
    }
    if (!s->isRegular) {
        s->kernels->negativeProduct(n, rowCount, n, s->factor, n, x, n, scratch, n);
        for (size_t i = 0; i < count; ++i) {
            x[i] = -scratch[i];
        }
        return;
    }
    for (int r = 0; r < rowCount; ++r) {
        double* row = rgAt(x, n, r, 0);
        for (int i = 0; i < n; ++i) {
            row[i] *= s->units[i];
        }
    }
    s->kernels->luForward(n, rowCount, s->factor, n, s->exchanges, x, n);
    for (int r = 0; r < rowCount; ++r) {
        double* row = rgAt(x, n, r, 0);
        s->kernels->upperSolve(n, s->factor, n, row);
        for (int i = 0; i < n; ++i) {
            row[i] *= s->units[i];
        }
    }
}

const double* rgLinearSystem_Inverse(const rgLinearSystem* s, double* out, double* scratch) {
    if (!s->isRegular) {
        return s->factor;
    }
    memset(out, 0, (size_t)s->n * (size_t)s->n * sizeof(double));
    for (int i = 0; i < s->n; ++i) {
        *rgAt(out, s->n, i, i) = 1;
    }
    rgLinearSystem_SolveRight(s, s->n, out, scratch);
    return out;
}
