// Inside the interior point: a point, its cones, and the steps of one iteration.
// docs/theory/interior.md.
#pragma once
#include "contact/pairs.h"
#include "contact/run.h"
#include "contact/tuning.h"

// Friction of one contact: impulses b = (mu lambda_n, lambda_t) and velocities e = (psi, sigma_t).
// The relaxed model has e = (sigma_n, mu sigma_t) and no psi.
typedef struct rgCone {
    const rgSystemBlock* block;
    double b[3];
    double e[3];
    rgScaling scaling;
    double head[3];    // W e_0 over its length
    double length;     // of W e_0
    double tail[2];    // W (W e_0): dpsi per dsigma_t
    double c[3];       // right-hand side of the pair in interior.7
    double second[3];  // second-order terms of the predictor
    double floor;      // interior.10: product of the pair below which nothing is gained
    double proximal;   // interior.12: p, at least rho
    double stepLength; // longest step that this contact allows
} rgCone;

// A row with lambda >= 0 and sigma >= 0: a half line, or the normal of a contact.
typedef struct rgLine {
    int row;
    int pair; // its place on the diagonals of A and B
    double second, floor, stepLength;
} rgLine;

typedef struct rgDirection {
    double* lambda; // n
    double* sigma;  // n
    double* psi;    // one per cone
} rgDirection;

typedef struct rgInterior {
    rgRun* run;
    rgSystem* system;
    bool exact;       // Signorini and Coulomb; else the relaxed model
    double* lambda;   // inside K
    double* sigma;    // velocity unknown: inside the dual cones and half lines
    double* velocity; // G lambda + g
    double* primal;   // interior.4: velocity + rho lambda - sigma
    double* rhs;
    rgDirection direction, trial;
    double* A;
    double* B;
    rgJacobianKind* kinds;
    int coneCount;
    rgCone* cones;
    int lineCount;
    rgLine* lines;             // in the exact model those of the cones first, in their order
    double dualityMeasure;     // interior.9: mean over the pairs
    double targetMu;           // of the last step
    double pathProximal;       // interior.9: rho
    double fractionToBoundary; // share of the way to the boundary that a step goes
    int blockingMost;          // blocking contacts that are resolved, at most
} rgInterior;

// interior.10: Target of one product: mu, at least the product that changes the residual.
static inline double rgTarget(double targetMu, double floor) {
    return targetMu > floor ? targetMu : floor;
}

// A contact with friction has a cone; without, its normal is a half line and its tangents are idle.
static inline bool rgHasCone(const rgSystemBlock* block) {
    return block->kind == rg_blockCoulomb && block->mu > RG_ZERO_RATIO;
}

static inline bool rgIsFrictionless(const rgSystemBlock* block) {
    return block->kind == rg_blockCoulomb && !rgHasCone(block);
}

// interior.7: A and B of the present point with the proximal terms; rows of the right-hand side for
// a wanted product.
void rgInterior_Linearize(rgInterior* point);
void rgInterior_RightSide(rgInterior* point, double targetMu);

// interior.8: The direction that the right-hand side asks for, with c of the cones.
void rgInterior_SolveDirection(rgInterior* point, rgDirection* direction);

// Longest step that stays inside all cones, and how far each contact would go by itself.
double rgInterior_StepLength(rgInterior* point, const rgDirection* direction);

// interior.13-16: A direction that reaches farther, if there is one, in place of the present one,
// and its stepLength.
rgResult rgInterior_ResolveBlocking(rgInterior* point, double targetMu, double* stepLength);
