// Statistics of measurements.
#pragma once
#include <stdbool.h>

double rgMeanOf(const double* values, int count);      // NAN for none, as all below
double rgDeviationOf(const double* values, int count); // deviation of the values, not of their mean
double rgGeometricMeanOf(const double* values, int count);
// Between the two values in the middle of the sorted ones: share 0.5 is the median. The values
// stay in their order.
double rgQuantileOf(const double* values, int count, double share);

// Least squares for y = factor x^exponent in logarithms; false for fewer than two different x.
typedef struct rgPowerLaw {
    double factor, exponent;
} rgPowerLaw;
bool rgFitPowerLaw(const double* x, const double* y, int count, rgPowerLaw* law);

// Dolan and More: cost of problem p with solver s at [p * solverCount + s], INFINITY where it was
// not solved. The share of problems that a solver solves within a factor of the best one; problems
// that none solves count as not solved.
double rgProfileAt(const double* costs, int problemCount, int solverCount, int solver,
                   double factor);
// The largest finite ratio to the best of any solver, from where on profiles do not change; at
// least 1.
double rgProfileEnd(const double* costs, int problemCount, int solverCount);
