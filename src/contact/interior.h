// Inside the interior point: a point, its cones, and the steps of one iteration.
// docs/theory/interior.md.
#pragma once
#include "contact/run.h"

// (4) Nesterov-Todd scaling of one cone: W u~ = W^-1 lambda~ = v, W = beta (2 q q' - J), J =
// diag(1, -1, -1).
typedef struct rgScaling {
    double beta;
    double q[3];
    double v[3];
} rgScaling;

// One cone at the present point.
typedef struct rgCone {
    const rgSet* set;
    double l[3]; // lambda~
    double w[3]; // u~
    double slip[2];
    double slipShare; // of the slip term's gradient that counts
    double reach;     // longest step, as far as this cone is concerned
    rgScaling scaling;
} rgCone;

typedef struct rgInterior {
    rgRun* run;
    rgSystem* system;
    double* lambda; // inside K
    double* u;      // inside K*: stands for sigma + Gamma(sigma)
    double* sigma;  // G lambda + g
    double* gap;    // sigma + Gamma - u: infeasibility
    double* rhs;
    double* dLambda;
    double* dU;
    double* moved; // G dLambda
    double* A;
    double* B;
    bool* idle;
    double* second; // second-order correction, n
    int coneCount;
    rgCone* cones;
    int lineCount;
    int* lines;     // rows that are half lines
    int shortSteps; // in a row
    double product; // mean of lambda~ . u~ over the cones
    double floor;   // product below which nothing is aimed at
    int few;        // contacts that may be solved exactly to widen short steps
} rgInterior;

// Vectors and cones of a point, from the arena of the run's system.
rgResult rgInterior_Init(rgInterior* point, rgRun* run, const rgInteriorOptions* options);

// A point well inside every cone.
void rgInterior_Start(rgInterior* point, double size);

// (2), (3)
void rgInterior_Measure(rgInterior* point);

// One predictor-corrector iteration; false when the linear system or the step fails.
bool rgInterior_Advance(rgInterior* point);

// (6) the direction that the right-hand side asks for
void rgInterior_Follow(rgInterior* point);

// Longest step that stays inside all cones, and how far each would go by itself.
double rgInterior_Reach(rgInterior* point);

// (9)-(12) A direction that reaches farther, if there is one, in place of the present one, and its
// reach. The right-hand side and the factorization are those of the present direction.
rgResult rgInterior_Widen(rgInterior* point, double aim, double* reach);
