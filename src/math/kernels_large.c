// Large dense matrices: LAPACK for the leading block, BLAS 3 for the rest.
#include "math/kernels_large.h"

#include <cblas.h>
#include <f77blas.h>
#include <math.h>

// LAPACK lets values that are not finite pass: look at the pivots, of which A holds the roots.
static bool rgPivotsArePositive(int n, const double* A, int lda) {
    for (int i = 0; i < n; ++i) {
        double root = A[(size_t)i * (size_t)lda + (size_t)i];
        if (!(root > 0) || !isnormal(root * root)) {
            return false;
        }
    }
    return true;
}

static bool rgPivotsAreUsable(int n, const double* A, int lda) {
    for (int i = 0; i < n; ++i) {
        double pivot = A[(size_t)i * (size_t)lda + (size_t)i];
        if (!isnormal(pivot)) {
            return false;
        }
    }
    return true;
}

bool rgLargeCholeskyPanel(int m, int n, double* A, int lda) {
    char lower = 'L';
    int info = 0;
    dpotrf_(&lower, &n, A, &lda, &info);
    if (info != 0 || !rgPivotsArePositive(n, A, lda)) {
        return false;
    }
    if (m > n) {
        cblas_dtrsm(CblasColMajor, CblasRight, CblasLower, CblasTrans, CblasNonUnit, m - n, n, 1, A,
                    lda, A + n, lda);
    }
    return true;
}

bool rgLargeLuPanel(int m, int n, double* A, int lda, int* pivot) {
    int info = 0;
    dgetrf_(&n, &n, A, &lda, pivot, &info);
    if (info != 0 || !rgPivotsAreUsable(n, A, lda)) {
        return false;
    }
    for (int i = 0; i < n; ++i) {
        pivot[i] -= 1;
    }
    if (m > n) {
        cblas_dtrsm(CblasColMajor, CblasRight, CblasUpper, CblasNoTrans, CblasNonUnit, m - n, n, 1,
                    A, lda, A + n, lda);
    }
    return true;
}

void rgLargeSubtractProduct(int m, int n, int k, const double* A, int lda, const double* B, int ldb,
                            double keep, double* C, int ldc) {
    cblas_dgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, m, n, k, -1, A, lda, B, ldb, keep, C,
                ldc);
}

void rgLargeAddOuterProduct(int m, int n, int k, double sign, const double* A, int lda,
                            const double* B, int ldb, double* C, int ldc) {
    cblas_dgemm(CblasColMajor, CblasNoTrans, CblasTrans, m, n, k, sign, A, lda, B, ldb, 1, C, ldc);
}

void rgLargeAddSelfProduct(int n, int k, double sign, const double* A, int lda, double keep,
                           double* C, int ldc) {
    cblas_dsyrk(CblasColMajor, CblasLower, CblasNoTrans, n, k, sign, A, lda, keep, C, ldc);
}
