// One contact's friction as a complementarity pair in the cone |x_t| <= x_0, head first: Jordan
// algebra, Nesterov-Todd scaling, and the smoothed law of which the pairs are pieces.
// interior.3-6, interior.11.
#pragma once

#include <stdbool.h>

// interior.6: W e = W^-1 b = v, W = beta (2 q q' - J), J = diag(1, -1, -1)
typedef struct rgScaling {
    double beta;
    double q[3];
    double v[3];
} rgScaling;

void rgScaling_Init(rgScaling* scaling, const double b[3], const double e[3]);
// out = W x or W^-1 x
void rgScaling_Apply(const rgScaling* scaling, bool inverse, const double x[3], double out[3]);

// a o b, and the x with v o x = r
void rgJordan(const double a[3], const double b[3], double out[3]);
void rgJordanSolve(const double v[3], const double r[3], double x[3]);

// Largest step that keeps x + t d in the cone.
double rgConeStep(const double x[3], const double d[3]);

// interior.11: The impulse of the smoothed half line, lambda sigma = k and lambda - sigma = z.
double rgSmoothHalfLine(double k, double z);
// interior.11: The one point of the smoothed law with lambda - sigma = z, rows t1, t2, n. k:
// products of the normal and of the pair. D = dlambda/dz, row-major, unless NULL.
void rgSmoothLaw(double mu, const double k[2], const double z[3], double lambda[3], double sigma[3],
                 double D[9]);
// psi there
double rgSlipBound(double mu, double k, const double lambda[3], const double sigma[3]);
