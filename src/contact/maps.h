// Complementarity as equations: for each set a map F(lambda, sigma) that vanishes at a solution,
// and its generalised derivative F' = A dlambda + B dsigma. docs/theory/newton.md (1)-(6).
#pragma once
#include "contact/system.h"

// F of every set, n. r > 0 weighs velocity against impulse. Returns |F|_2.
double rgSystem_Map(const rgSystem* system, double r, const double* lambda, const double* sigma,
                    double* F);

// A and B of every set, pairCount each, and what they look like.
void rgSystem_Linearize(const rgSystem* system, double r, const double* lambda, const double* sigma,
                        double* A, double* B, rgPairKind* kinds);

// The rows of one set; A and B must be zero on entry.
rgPairKind rgLinearizeSet(const rgSet* set, rgContactModel model, double r, const double* lambda,
                          const double* sigma, double* A, double* B);

// sigma + Gamma(sigma) in place, for the exact model's Coulomb sets; nothing for others.
void rgSystem_Shift(const rgSystem* system, const double* sigma, double* shifted);

// The judge's residual of impulses that lie in K, given their sigma.
double rgSystem_Residual(const rgSystem* system, const double* lambda, const double* sigma);
double rgSystem_SetResidual(const rgSystem* system, int set, const double* lambda,
                            const double* sigma); // one set's

// Bounds of a row that is neither of a cone nor of a disc; normal: impulse that bounds torsion.
void rgRowBounds(const rgSet* set, double normal, double* low, double* high);

// P_K in place.
void rgSystem_Project(const rgSystem* system, double* lambda);
