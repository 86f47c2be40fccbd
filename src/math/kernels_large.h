// Factorizations and products of large matrices by LAPACK and BLAS, behind the signatures of
// kernels.h. The number of BLAS threads is the calling program's business.
#pragma once
#include "base/base.h"

bool rgLargeCholeskyPanel(int m, int n, double* A, int lda);
bool rgLargeLuPanel(int m, int n, double* A, int lda, int* pivot);
// C = keep C - A B; C need not be initialized when keep is 0.
void rgLargeSubtractProduct(int m, int n, int k, const double* A, int lda, const double* B, int ldb,
                            double keep, double* C, int ldc);
// C += sign A B'
void rgLargeAddOuterProduct(int m, int n, int k, double sign, const double* A, int lda,
                            const double* B, int ldb, double* C, int ldc);
// C = keep C + sign A A'
void rgLargeAddSelfProduct(int n, int k, double sign, const double* A, int lda, double keep,
                           double* C, int ldc);
