// Dense kernels in plain C, AVX2, AVX-512 and NEON, chosen at run time. Matrices are column-major
// with a leading dimension; symmetric ones use the lower triangle. Each object that computes holds
// one of these tables. Large matrices go to LAPACK and BLAS; the plain table stays plain C, with
// the same bits from every compiler, while n <= RG_PLAIN_LIMIT.
#pragma once
#include "base/base.h"

#define RG_PLAIN_LIMIT 256

typedef struct rgKernels {
    rgKernelSet set;
    const char* name;
    double (*dot)(int n, const double* x, const double* y);
    void (*axpy)(int n, double a, const double* x, double* y); // y += a x
    // y = A x, A m x n (column-major, lda).
    void (*multiply)(int m, int n, const double* A, int lda, const double* x, double* y);
    // y = A' x, A m x n.
    void (*multiplyTransposed)(int m, int n, const double* A, int lda, const double* x, double* y);
    // C -= A B, with A m x k, B k x n, C m x n.
    void (*subtractProduct)(int m, int n, int k, const double* A, int lda, const double* B, int ldb,
                            double* C, int ldc);
    // C = -A B, and the lower triangle of C = -A A': the same without the old C.
    void (*negativeProduct)(int m, int n, int k, const double* A, int lda, const double* B, int ldb,
                            double* C, int ldc);
    void (*negativeSelfProduct)(int n, int k, const double* A, int lda, double* C, int ldc);
    // C += A, both m x n.
    void (*addMatrix)(int m, int n, const double* A, int lda, double* C, int ldc);
    // C += A B', with A m x k, B n x k, C m x n.
    void (*addOuterProduct)(int m, int n, int k, const double* A, int lda, const double* B, int ldb,
                            double* C, int ldc);
    // C -= A B', the same sizes.
    void (*subtractOuterProduct)(int m, int n, int k, const double* A, int lda, const double* B,
                                 int ldb, double* C, int ldc);
    // Lower triangle of C += A A' with A n x k.
    void (*addSelfProduct)(int n, int k, const double* A, int lda, double* C, int ldc);
    // Lower triangle of C -= A A'.
    void (*subtractSelfProduct)(int n, int k, const double* A, int lda, double* C, int ldc);
    // A = L L' in place (lower triangle). False when a pivot is not positive (subnormal or
    // not finite included); A is then partly overwritten.
    bool (*cholesky)(int n, double* A, int lda);
    // Columns of a Cholesky factor: A m x n with m >= n (lower trapezoid) becomes L with
    // L(0:n) L(0:n)' = A(0:n) and the rows below solved accordingly.
    bool (*choleskyPanel)(int m, int n, double* A, int lda);
    // Solve L L' x = b in place, and the two halves apart.
    void (*choleskySolve)(int n, const double* L, int lda, double* x);
    void (*lowerSolve)(int n, const double* L, int lda, double* x);           // L x = b
    void (*lowerTransposedSolve)(int n, const double* L, int lda, double* x); // L' x = b
    // P A = L U in place with partial pivoting; pivot[i] is the row exchanged with row i. False
    // when singular to working precision (a pivot that is zero, subnormal or not finite).
    bool (*lu)(int n, double* A, int lda, int* pivot);
    // The same for the columns A m x n, m >= n, with pivots among the first n rows only.
    bool (*luPanel)(int m, int n, double* A, int lda, int* pivot);
    // X := L^-1 P X for X n x columns, and U x = b, with the first n rows of a factorized panel.
    void (*luForward)(int n, int columns, const double* LU, int lda, const int* pivot, double* X,
                      int ldx);
    void (*upperSolve)(int n, const double* U, int lda, double* x);
    void (*luSolve)(int n, const double* LU, int lda, const int* pivot, double* x);
    // Few short rows, stored one after the other (rows m x width, row-major), as contact Jacobians
    // are: out += sum over r of factors[r] rows[r], and out[r] += rows[r] . x.
    void (*combineRows)(int m, int width, const double* factors, const double* rows, double* out);
    // out = C rows, C m x m row-major, both row arrays with `width` numbers per row.
    void (*transformRows)(int m, int width, const double* C, const double* rows, double* out);
    void (*dotRows)(int m, int width, const double* rows, const double* x, double* out);
} rgKernels;

// Table of kernels for a choice; the best that this CPU runs for rg_kernelsBest, and the plain one
// if this CPU lacks the requested wide one. Never NULL.
const rgKernels* rgSelectKernels(rgKernelSet choice);

// Smallest leading dimension >= n that keeps columns aligned for the wide kernels.
static inline int rgLeadingDimension(int n) {
    return n < 8 ? n : (n + 7) / 8 * 8;
}
