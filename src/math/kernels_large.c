// Large dense matrices: LAPACK for the leading block, BLAS 3 for the rest.
#include "math/kernels_large.h"

#include <cblas.h>
#include <f77blas.h>
#include <math.h>

static double* rgAt(double* A, int lda, int row, int column) {
    return A + (size_t)column * (size_t)lda + (size_t)row;
}

// LAPACK lets values that are not finite pass: look at the pivots.
static bool rgPivotsArePositive(int n, const double* A, int lda) {
    for (int i = 0; i < n; ++i) {
        double pivot = A[(size_t)i * (size_t)lda + (size_t)i];
        if (!(pivot > 0) || !isfinite(pivot)) {
            return false;
        }
    }
    return true;
}

static bool rgPivotsAreUsable(int n, const double* A, int lda) {
    for (int i = 0; i < n; ++i) {
        double pivot = A[(size_t)i * (size_t)lda + (size_t)i];
        if (pivot == 0 || !isfinite(pivot)) {
            return false;
        }
    }
    return true;
}

bool rgLargePartialCholesky(int n, int k, double* A, int lda) {
    char lower = 'L';
    int info = 0;
    dpotrf_(&lower, &k, A, &lda, &info);
    if (info != 0 || !rgPivotsArePositive(k, A, lda)) {
        return false;
    }
    int rest = n - k;
    if (rest > 0) {
        cblas_dtrsm(CblasColMajor, CblasRight, CblasLower, CblasTrans, CblasNonUnit, rest, k, 1, A,
                    lda, rgAt(A, lda, k, 0), lda);
        cblas_dsyrk(CblasColMajor, CblasLower, CblasNoTrans, rest, k, -1, rgAt(A, lda, k, 0), lda,
                    1, rgAt(A, lda, k, k), lda);
    }
    return true;
}

static void rgSwapRows(int k, const int* pivot, int columns, double* A, int lda) {
    for (int j = 0; j < columns; ++j) {
        double* x = rgAt(A, lda, 0, j);
        for (int i = 0; i < k; ++i) {
            double t = x[i];
            x[i] = x[pivot[i]];
            x[pivot[i]] = t;
        }
    }
}

bool rgLargePartialLu(int n, int k, double* A, int lda, int* pivot) {
    int info = 0;
    dgetrf_(&k, &k, A, &lda, pivot, &info);
    if (info != 0 || !rgPivotsAreUsable(k, A, lda)) {
        return false;
    }
    for (int i = 0; i < k; ++i) {
        pivot[i] -= 1;
    }
    int rest = n - k;
    if (rest > 0) {
        double* right = rgAt(A, lda, 0, k);
        double* below = rgAt(A, lda, k, 0);
        rgSwapRows(k, pivot, rest, right, lda);
        cblas_dtrsm(CblasColMajor, CblasLeft, CblasLower, CblasNoTrans, CblasUnit, k, rest, 1, A,
                    lda, right, lda);
        cblas_dtrsm(CblasColMajor, CblasRight, CblasUpper, CblasNoTrans, CblasNonUnit, rest, k, 1,
                    A, lda, below, lda);
        rgLargeSubtractProduct(rest, rest, k, below, lda, right, lda, rgAt(A, lda, k, k), lda);
    }
    return true;
}

void rgLargeSubtractProduct(int m, int n, int k, const double* A, int lda, const double* B, int ldb,
                            double* C, int ldc) {
    cblas_dgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, m, n, k, -1, A, lda, B, ldb, 1, C, ldc);
}

void rgLargeAddSelfProduct(int n, int k, const double* A, int lda, double* C, int ldc) {
    cblas_dsyrk(CblasColMajor, CblasLower, CblasNoTrans, n, k, 1, A, lda, 1, C, ldc);
}
