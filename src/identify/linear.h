// Small dense algebra of identification: matrices of at most a few hundred rows, row by row, with
// the same bits from every compiler.
#pragma once
#include <stdbool.h>

// Eigenvalues of a symmetric matrix A [n x n], largest first, by Jacobi's rotations; A is used up.
// The eigenvector of values[j] is column j of V [n x n].
void rgSymmetricEigen(int n, double* A, double* values, double* V);

// Cholesky's factor L of a symmetric positive definite A, in its lower half. False: it is not.
bool rgCholesky(int n, double* A);
// x = (L L')^-1 x
void rgCholeskySolve(int n, const double* L, double* x);

// Normal equations of a sum of weighted squares: full [n x n] = J' W J and half [n] = J' W e, with
// J in columns of `size` numbers each and a weight for every `per` of them (NULL: 1).
void rgNormalEquations(int n, int size, int per, const double* columns, const double* weights,
                       const double* errors, double* full, double* half);
