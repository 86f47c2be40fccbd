// Extreme eigenvalues of a symmetric positive semidefinite operator by a few Lanczos steps. The
// start vector is fixed, so that the same operator always gives the same bits.
#pragma once
#include "math/kernels.h"

// y = A x
typedef void rgOperatorFcn(const double* x, double* y, void* context);

typedef struct rgOperator {
    int size;
    rgOperatorFcn* apply;
    void* context;
} rgOperator;

// Ritz values: `smallest` is never below, `largest` never above the true one but for rounding. The
// largest converges fast; the smallest only where it is well apart from the rest.
typedef struct rgSpectrum {
    double smallest, largest;
    int steps; // steps made; fewer than requested when the Krylov space was exhausted
} rgSpectrum;

// Doubles of scratch that the calls below need.
int rgSpectrumScratch(int size, int steps);

// At most `steps` applications of A. Ritz values are found to the given relative tolerance.
rgSpectrum rgEstimateSpectrum(const rgKernels* kernels, const rgOperator* A, int steps,
                              double tolerance, double* scratch);

// The smallest eigenvalue through an operator that applies A^-1: converges fast, never below the
// true one. Zero when the inverse gives values that are not finite.
double rgEstimateSmallestEigenvalue(const rgKernels* kernels, const rgOperator* inverse, int steps,
                                    double tolerance, double* scratch);
