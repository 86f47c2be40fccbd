// Inside Newton: an iterate and its step. docs/theory/newton.md.
#pragma once
#include "contact/run.h"
#include "contact/tuning.h"

typedef struct rgNewton {
    rgRun* run;
    rgSystem* system;
    const rgNewtonOptions* options;
    double proximal; // p
    double* lambda;  // iterate, not necessarily in K
    double* sigma;   // its velocity, with the proximal term
    double* centre;  // of the proximal term
    double* F;       // map at the iterate
    double* step;    // d
    double* moved;   // (G + p) d
    double* lambda2; // trial point of the line search
    double* sigma2;
    double* F2;
    double* A;
    double* B;
    rgJacobianKind* kinds;
    double norm; // |F|
    double trialNorm;
    double past[RG_NEWTON_ITERATIONS];
    int pastCount;
} rgNewton;

// The step for a right-hand side, with the last factorization.
void rgNewton_SolveStep(rgNewton* newton, const double* rhs);

// The map at the iterate and a part of the step.
void rgNewton_Try(rgNewton* newton, double t);

// newton.17-20: The step with the contacts that it leaves most wrong solved exactly, where that
// leaves less than a whole step does.
rgResult rgNewton_SolveSubproblem(rgNewton* newton);
