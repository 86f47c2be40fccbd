// Complementarity as equations: for each block a map F(lambda, sigma) that vanishes at a solution,
// and its generalised derivative F' = A dlambda + B dsigma. newton.1-6.
#pragma once
#include "contact/system.h"

// F of every block, n. Returns |F|_2.
double rgSystem_Map(const rgSystem* system, const double* lambda, const double* sigma, double* F);

// F of one block.
void rgSystem_MapBlock(const rgSystem* system, int block, const double* lambda, const double* sigma,
                       double* F);

// A and B of every block, entryCount each, and their kinds.
void rgSystem_Linearize(const rgSystem* system, const double* lambda, const double* sigma,
                        double* A, double* B, rgJacobianKind* kinds);

// The rows of one block; A and B must be zero on entry.
rgJacobianKind rgLinearizeBlock(const rgSystemBlock* block, rgContactModel model,
                                const double* lambda, const double* sigma, double* A, double* B);

// sigma + Gamma(sigma) in place, for the exact model's Coulomb blocks; nothing for others.
void rgSystem_Shift(const rgSystem* system, const double* sigma, double* shifted);

// The judge's residual of impulses that lie in K, given their sigma.
double rgSystem_Residual(const rgSystem* system, const double* lambda, const double* sigma);

// Bounds of a row that is neither of a cone nor of a disc; normal: impulse that bounds torsion.
void rgRowBounds(const rgSystemBlock* block, double normal, double* low, double* high);

// P_K in place.
void rgSystem_Project(const rgSystem* system, double* lambda);
