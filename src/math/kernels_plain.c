// Dense kernels in plain C: columns are updated four at a time, in a fixed order of operations.
#include "math/kernels_plain.h"

#include "math/kernels_large.h"
#include "math/two.h"

#include <math.h>
#include <string.h>

#define RG_SMALL_LIMIT 12 // rows up to which set-up costs more than arithmetic

static const double* rgColumn(const double* A, int lda, int j) {
    return A + (size_t)j * (size_t)lda;
}

static double rgPlainDot(int n, const double* x, const double* y) {
    double s0 = 0, s1 = 0, s2 = 0, s3 = 0;
    int i = 0;
    for (; i + 4 <= n; i += 4) {
        s0 += x[i] * y[i];
        s1 += x[i + 1] * y[i + 1];
        s2 += x[i + 2] * y[i + 2];
        s3 += x[i + 3] * y[i + 3];
    }
    for (; i < n; ++i) {
        s0 += x[i] * y[i];
    }
    return (s0 + s1) + (s2 + s3);
}

static void rgPlainAxpy(int n, double a, const double* x, double* y) {
    for (int i = 0; i < n; ++i) {
        y[i] += a * x[i];
    }
}

// y -= A b, with A m x k and b of stride `stride`. A and y do not overlap.
static void rgSubtractColumns(int m, int k, const double* A, int lda, const double* b,
                              size_t stride, double* restrict y) {
    int p = 0;
    for (; p + 4 <= k; p += 4) {
        const double *a0 = rgColumn(A, lda, p), *a1 = a0 + lda, *a2 = a1 + lda, *a3 = a2 + lda;
        const double* c = b + (size_t)p * stride;
        double b0 = c[0], b1 = c[stride], b2 = c[2 * stride], b3 = c[3 * stride];
        for (int i = 0; i < m; ++i) {
            y[i] = (((y[i] - a0[i] * b0) - a1[i] * b1) - a2[i] * b2) - a3[i] * b3;
        }
    }
    for (; p < k; ++p) {
        const double* a = rgColumn(A, lda, p);
        double bp = b[(size_t)p * stride];
        for (int i = 0; i < m; ++i) {
            y[i] -= a[i] * bp;
        }
    }
}

// y += A b, four columns at a time.
static void rgAddColumns(int m, int k, const double* A, int lda, const double* b, size_t stride,
                         double* restrict y) {
    int p = 0;
    for (; p + 4 <= k; p += 4) {
        const double *a0 = rgColumn(A, lda, p), *a1 = a0 + lda, *a2 = a1 + lda, *a3 = a2 + lda;
        const double* c = b + (size_t)p * stride;
        double b0 = c[0], b1 = c[stride], b2 = c[2 * stride], b3 = c[3 * stride];
        for (int i = 0; i < m; ++i) {
            y[i] = (((y[i] + a0[i] * b0) + a1[i] * b1) + a2[i] * b2) + a3[i] * b3;
        }
    }
    for (; p < k; ++p) {
        rgPlainAxpy(m, b[(size_t)p * stride], rgColumn(A, lda, p), y);
    }
}

static void rgPlainMultiply(int m, int n, const double* A, int lda, const double* x, double* y) {
    for (int i = 0; i < m; ++i) {
        y[i] = 0;
    }
    rgAddColumns(m, n, A, lda, x, 1, y);
}

static void rgPlainMultiplyTransposed(int m, int n, const double* A, int lda, const double* x,
                                      double* y) {
    for (int j = 0; j < n; ++j) {
        y[j] = rgPlainDot(m, rgColumn(A, lda, j), x);
    }
}

static void rgPlainSubtractProduct(int m, int n, int k, const double* A, int lda, const double* B,
                                   int ldb, double* C, int ldc) {
    if (m > RG_PLAIN_LIMIT && n > RG_PLAIN_LIMIT && k > RG_PLAIN_LIMIT) {
        rgLargeSubtractProduct(m, n, k, A, lda, B, ldb, 1, C, ldc);
        return;
    }
    for (int j = 0; j < n; ++j) {
        rgSubtractColumns(m, k, A, lda, rgColumn(B, ldb, j), 1, C + (size_t)j * (size_t)ldc);
    }
}

static void rgPlainNegativeProduct(int m, int n, int k, const double* A, int lda, const double* B,
                                   int ldb, double* C, int ldc) {
    for (int j = 0; j < n && m > 0; ++j) {
        memset(C + (size_t)j * (size_t)ldc, 0, (size_t)m * sizeof(double));
    }
    rgPlainSubtractProduct(m, n, k, A, lda, B, ldb, C, ldc);
}

static void rgPlainAddMatrix(int m, int n, const double* A, int lda, double* C, int ldc) {
    for (int j = 0; j < n; ++j) {
        const double* a = A + (size_t)j * (size_t)lda;
        double* c = C + (size_t)j * (size_t)ldc;
        for (int i = 0; i < m; ++i) {
            c[i] += a[i];
        }
    }
}

static void rgPlainAddOuterProduct(int m, int n, int k, const double* A, int lda, const double* B,
                                   int ldb, double* C, int ldc) {
    if (m > RG_PLAIN_LIMIT && n > RG_PLAIN_LIMIT && k > RG_PLAIN_LIMIT) {
        rgLargeAddOuterProduct(m, n, k, 1, A, lda, B, ldb, C, ldc);
        return;
    }
    for (int j = 0; j < n; ++j) {
        rgAddColumns(m, k, A, lda, B + j, (size_t)ldb, C + (size_t)j * (size_t)ldc);
    }
}

static void rgPlainSubtractOuterProduct(int m, int n, int k, const double* A, int lda,
                                        const double* B, int ldb, double* C, int ldc) {
    if (m > RG_PLAIN_LIMIT && n > RG_PLAIN_LIMIT && k > RG_PLAIN_LIMIT) {
        rgLargeAddOuterProduct(m, n, k, -1, A, lda, B, ldb, C, ldc);
        return;
    }
    for (int j = 0; j < n; ++j) {
        rgSubtractColumns(m, k, A, lda, B + j, (size_t)ldb, C + (size_t)j * (size_t)ldc);
    }
}

static void rgPlainAddSelfProduct(int n, int k, const double* A, int lda, double* C, int ldc) {
    if (n > RG_PLAIN_LIMIT && k > RG_PLAIN_LIMIT) {
        rgLargeAddSelfProduct(n, k, 1, A, lda, 1, C, ldc);
        return;
    }
    for (int j = 0; j < n; ++j) {
        double* c = C + (size_t)j * (size_t)ldc + j;
        rgAddColumns(n - j, k, A + j, lda, A + j, (size_t)lda, c);
    }
}

static void rgPlainSubtractSelfProduct(int n, int k, const double* A, int lda, double* C, int ldc) {
    if (n > RG_PLAIN_LIMIT && k > RG_PLAIN_LIMIT) {
        rgLargeAddSelfProduct(n, k, -1, A, lda, 1, C, ldc);
        return;
    }
    for (int j = 0; j < n; ++j) {
        double* c = C + (size_t)j * (size_t)ldc + j;
        rgSubtractColumns(n - j, k, A + j, lda, A + j, (size_t)lda, c);
    }
}

static void rgPlainNegativeSelfProduct(int n, int k, const double* A, int lda, double* C, int ldc) {
    for (int j = 0; j < n; ++j) {
        memset(C + (size_t)j * (size_t)ldc + j, 0, (size_t)(n - j) * sizeof(double));
    }
    rgPlainSubtractSelfProduct(n, k, A, lda, C, ldc);
}

// Scale a column below its pivot by the pivot's root. False when the pivot is not positive.
static bool rgFinishCholeskyColumn(int count, double* c) {
    double pivot = c[0];
    if (!(pivot > 0) || !isnormal(pivot)) {
        return false;
    }
    double root = sqrt(pivot);
    double inverse = 1 / root;
    c[0] = root;
    for (int i = 1; i < count; ++i) {
        c[i] *= inverse;
    }
    return true;
}

static bool rgPlainCholeskyPanel(int m, int n, double* A, int lda) {
    if (n > RG_PLAIN_LIMIT) {
        return rgLargeCholeskyPanel(m, n, A, lda);
    }
    for (int j = 0; j < n; ++j) {
        double* c = A + (size_t)j * (size_t)lda + j;
        rgSubtractColumns(m - j, j, A + j, lda, A + j, (size_t)lda, c);
        if (!rgFinishCholeskyColumn(m - j, c)) {
            return false;
        }
    }
    return true;
}

static bool rgPlainCholesky(int n, double* A, int lda) {
    return rgPlainCholeskyPanel(n, n, A, lda);
}

// Four steps of x := L^-1 x at a time, with or without the diagonal, then the rows below.
static void rgPlainLowerSolve(int n, const double* L, int lda, double* x) {
    for (int j = 0; j < n; j += 4) {
        int end = RG_MIN(j + 4, n);
        for (int i = j; i < end; ++i) {
            double s = x[i];
            for (int p = j; p < i; ++p) {
                s -= rgColumn(L, lda, p)[i] * x[p];
            }
            x[i] = s / rgColumn(L, lda, i)[i];
        }
        rgSubtractColumns(n - end, end - j, rgColumn(L, lda, j) + end, lda, x + j, 1, x + end);
    }
}

// x := L^-1 x for the first k of m rows, L unit lower m x k, then the rows below are updated.
static void rgUnitLowerSolve(int m, int k, const double* L, int lda, double* x) {
    for (int j = 0; j < k; j += 4) {
        int end = RG_MIN(j + 4, k);
        for (int i = j + 1; i < end; ++i) {
            double s = x[i];
            for (int p = j; p < i; ++p) {
                s -= rgColumn(L, lda, p)[i] * x[p];
            }
            x[i] = s;
        }
        rgSubtractColumns(m - end, end - j, rgColumn(L, lda, j) + end, lda, x + j, 1, x + end);
    }
}

static void rgPlainLowerTransposedSolve(int n, const double* L, int lda, double* x) {
    for (int j = n - 1; j >= 0; --j) {
        const double* c = rgColumn(L, lda, j);
        x[j] = (x[j] - rgPlainDot(n - 1 - j, c + j + 1, x + j + 1)) / c[j];
    }
}

static void rgPlainUpperSolve(int n, const double* U, int lda, double* x) {
    for (int j = n - 1; j >= 0; --j) {
        const double* c = rgColumn(U, lda, j);
        x[j] /= c[j];
        rgSubtractColumns(j, 1, c, lda, x + j, 1, x);
    }
}

static void rgPlainCholeskySolve(int n, const double* L, int lda, double* x) {
    rgPlainLowerSolve(n, L, lda, x);
    rgPlainLowerTransposedSolve(n, L, lda, x);
}

static void rgApplyPivots(int k, const int* pivot, double* x) {
    for (int i = 0; i < k; ++i) {
        double t = x[i];
        x[i] = x[pivot[i]];
        x[pivot[i]] = t;
    }
}

// Row of the entry of largest size among first .. end - 1.
static int rgFindPivot(int first, int end, const double* c) {
    int best = first;
    for (int i = first + 1; i < end; ++i) {
        if (fabs(c[i]) > fabs(c[best])) {
            best = i;
        }
    }
    return best;
}

// Pivot column j of the panel: exchange rows in columns 0..j and divide.
static bool rgFinishLuColumn(int m, int n, int j, double* A, int lda, int* pivot) {
    double* c = A + (size_t)j * (size_t)lda;
    int row = rgFindPivot(j, n, c);
    pivot[j] = row;
    for (int p = 0; p <= j; ++p) {
        double* a = A + (size_t)p * (size_t)lda;
        double t = a[j];
        a[j] = a[row];
        a[row] = t;
    }
    if (!isnormal(c[j])) {
        return false;
    }
    double inverse = 1 / c[j];
    for (int i = j + 1; i < m; ++i) {
        c[i] *= inverse;
    }
    return true;
}

static bool rgPlainLuPanel(int m, int n, double* A, int lda, int* pivot) {
    if (n > RG_PLAIN_LIMIT) {
        return rgLargeLuPanel(m, n, A, lda, pivot);
    }
    for (int j = 0; j < n; ++j) {
        double* c = A + (size_t)j * (size_t)lda;
        rgApplyPivots(j, pivot, c);
        rgUnitLowerSolve(m, j, A, lda, c);
        if (!rgFinishLuColumn(m, n, j, A, lda, pivot)) {
            return false;
        }
    }
    return true;
}

// A few rows, column after column: columns to the right are updated at once.
static bool rgSmallLu(int n, double* A, int lda, int* pivot) {
    for (int j = 0; j < n; ++j) {
        double* c = A + (size_t)j * (size_t)lda;
        if (!rgFinishLuColumn(n, n, j, A, lda, pivot)) {
            return false;
        }
        for (int k = j + 1; k < n; ++k) {
            double* next = A + (size_t)k * (size_t)lda;
            double x = next[pivot[j]];
            next[pivot[j]] = next[j];
            next[j] = x;
            rgAddMultiple(n - j - 1, -x, c + j + 1, next + j + 1);
        }
    }
    return true;
}

static bool rgPlainLu(int n, double* A, int lda, int* pivot) {
    return n <= RG_SMALL_LIMIT ? rgSmallLu(n, A, lda, pivot) : rgPlainLuPanel(n, n, A, lda, pivot);
}

static void rgPlainLuForward(int n, int columns, const double* LU, int lda, const int* pivot,
                             double* X, int ldx) {
    for (int j = 0; j < columns; ++j) {
        double* x = X + (size_t)j * (size_t)ldx;
        rgApplyPivots(n, pivot, x);
        rgUnitLowerSolve(n, n, LU, lda, x);
    }
}

static void rgPlainLuSolve(int n, const double* LU, int lda, const int* pivot, double* x) {
    rgApplyPivots(n, pivot, x);
    rgUnitLowerSolve(n, n, LU, lda, x);
    rgPlainUpperSolve(n, LU, lda, x);
}

static void rgPlainCombineRows(int m, int width, const double* factors, const double* rows,
                               double* out) {
    for (int r = 0; r < m; ++r) {
        double factor = factors[r];
        for (int j = 0; j < width; ++j) {
            out[j] += factor * rows[r * width + j];
        }
    }
}

static void rgPlainTransformRows(int m, int width, const double* C, const double* rows,
                                 double* out) {
    for (int r = 0; r < m; ++r) {
        for (int j = 0; j < width; ++j) {
            out[r * width + j] = 0;
        }
        rgPlainCombineRows(m, width, C + r * m, rows, out + r * width);
    }
}

static void rgPlainDotRows(int m, int width, const double* rows, const double* x, double* out) {
    for (int r = 0; r < m; ++r) {
        double sum = 0;
        for (int j = 0; j < width; ++j) {
            sum += rows[r * width + j] * x[j];
        }
        out[r] += sum;
    }
}

const rgKernels rg_plainKernels = {
    .set = rg_kernelsPlain,
    .name = "plain",
    .dot = rgPlainDot,
    .axpy = rgPlainAxpy,
    .multiply = rgPlainMultiply,
    .multiplyTransposed = rgPlainMultiplyTransposed,
    .subtractProduct = rgPlainSubtractProduct,
    .negativeProduct = rgPlainNegativeProduct,
    .negativeSelfProduct = rgPlainNegativeSelfProduct,
    .addMatrix = rgPlainAddMatrix,
    .addOuterProduct = rgPlainAddOuterProduct,
    .subtractOuterProduct = rgPlainSubtractOuterProduct,
    .addSelfProduct = rgPlainAddSelfProduct,
    .subtractSelfProduct = rgPlainSubtractSelfProduct,
    .cholesky = rgPlainCholesky,
    .choleskyPanel = rgPlainCholeskyPanel,
    .choleskySolve = rgPlainCholeskySolve,
    .lowerSolve = rgPlainLowerSolve,
    .lowerTransposedSolve = rgPlainLowerTransposedSolve,
    .lu = rgPlainLu,
    .luPanel = rgPlainLuPanel,
    .luForward = rgPlainLuForward,
    .upperSolve = rgPlainUpperSolve,
    .luSolve = rgPlainLuSolve,
    .combineRows = rgPlainCombineRows,
    .transformRows = rgPlainTransformRows,
    .dotRows = rgPlainDotRows,
};
