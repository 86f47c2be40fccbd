// One island being solved: the system, the best impulses so far, counters and history. Every method
// works on a run, offers its iterates, and stops when the run is solved or its iterations are
// used up.
#pragma once
#include "contact/maps.h"

#include <math.h>

typedef struct rgRun {
    const rgContactSolverDef* def;
    rgSystem* system;
    double tolerance;
    double accuracy; // that is enough where bodies move: the tolerance or more
    double
        firstTolerance; // of the first phase of a plan: the tolerance, or less where all is at rest
    int iterationLimit;
    int factorizationLimit;
    int iterationCount;
    int phaseIterations[rg_phaseCount];
    double* best; // impulses in K, n
    double bestResidual;
    bool accepted;  // the paper's own test holds: best is its result
    bool* conflict; // blocks that a certificate names, blockCount
    bool infeasible;
    double* start;            // where the caller began (warm start, in K), n
    bool warm;                // start is not zero
    double* trial;            // scratch of rgRun_UpdateBest, n
    double* trialSigma;       // velocity of the last iterate that was offered
    rgContactRecord* history; // NULL unless recorded
    int historyCount;
    int historyCapacity;
} rgRun;

rgResult rgRun_Init(rgRun* run, const rgContactSolverDef* def, rgSystem* system, double tolerance,
                    const double* lambda);

// Run on another system of the same rows, with impulses of its own; then add its costs to the
// first.
rgResult rgRun_Fork(const rgRun* run, rgSystem* system, rgRun* fork);
void rgRun_Join(rgRun* run, const rgRun* fork);

// Project impulses on K, judge them, keep them when they are the best so far. Returns their
// residual. sigma, where it is known, saves computing it for impulses that are in K already.
double rgRun_UpdateBest(rgRun* run, const double* lambda, const double* sigma);

static inline bool rgRun_Solved(const rgRun* run) {
    return run->bestResidual <= run->tolerance;
}

// True if the best residual is within the tolerance.
static inline bool rgRun_Satisfied(const rgRun* run) {
    return run->bestResidual <= run->accuracy;
}

// True if this part of the plan is enabled.
static inline bool rgRun_Uses(const rgRun* run, rgPlanPart part) {
    return (run->def->disabled & (uint32_t)part) == 0;
}

// True below the limits of iterations and factorizations.
bool rgRun_MayContinue(const rgRun* run);
// Count one iteration of a phase. False at the limit.
bool rgRun_Count(rgRun* run, rgContactPhase phase);
void rgRun_Record(rgRun* run, const rgContactRecord* record);
void rgRun_RecordResidual(rgRun* run, rgContactPhase phase, double residual); // nothing else

// The methods. Each starts from given impulses, spends at most `limit` iterations, offers its
// iterates. rg_errorNumeric from a factorization is not an error of the run: the method just ends.
rgResult rgRunGaussSeidel(rgRun* run, double* lambda, int limit, double relaxation);

typedef struct rgNewtonOptions {
    int limit;
    double regularisation; // eps over |F|
    double proximal;       // p at first: keeps impulses near a centre; 0: none
    const double* centre;  // at first; NULL: where the iterations start
    const double* sigma;   // velocity there; NULL: not known
    bool keepCentre;       // the centre stays, and with it p
    bool eliminate;        // nonlinear elimination in small islands, too
    bool cycles;           // goes on although it cycles, which sometimes ends by itself
    double tolerance;      // below the tolerance, as far as that is quick; 0: the tolerance
    bool quick;            // it ends when it no longer is
    double enough;         // a residual, with or without the proximal term, that ends it; 0: none
    double* last;          // gets the last iterate, n; may be NULL
} rgNewtonOptions;
rgResult rgRunNewton(rgRun* run, const double* lambda, const rgNewtonOptions* options);

typedef struct rgInteriorOptions {
    int limit;
    bool polish;      // let Newton try near the solution
    int blockingMost; // contacts that are solved exactly when they hold up the rest, at most
} rgInteriorOptions;
rgResult rgRunInterior(rgRun* run, const rgInteriorOptions* options);
rgResult rgRunAdmm(rgRun* run, const double* lambda, const rgAdmmDef* admm, int limit);
// Look for a proof that there is no solution. When there is one, the blocks in it are marked and
// best has impulses that are bounded.
rgResult rgRunCertificate(rgRun* run, bool* found);
// Baselines: Lemke's method for polygons in place of discs, RaiSim's iteration, Dojo's interior
// point, and staggered projections.
rgResult rgRunPivots(rgRun* run);
rgResult rgRunBisection(rgRun* run, int limit, double relaxation);
rgResult rgRunDojo(rgRun* run, int limit);
rgResult rgRunStaggered(rgRun* run, int limit);
rgResult rgRunMethod(rgRun* run); // the method of the def
