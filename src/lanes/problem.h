// Contact problems as the lanes read them: plain numbers, one after the other, the same on host and
// device.
#pragma once
#include <stdint.h>

// Numbers of G in an rgLaneProblem.
typedef enum rgLaneForm {
    rg_laneDense,    // lower triangle of G by rows
    rg_laneMass,     // lower triangle of M by rows, then J by rows
    rg_laneWhitened, // W = J L^-T by rows; G = W W'
} rgLaneForm;

typedef enum rgLaneKind { rg_laneFree, rg_laneHalfLine, rg_laneBox, rg_laneCoulomb } rgLaneKind;

// Three rows of a contact, or one row of another kind.
typedef struct rgLaneGroup {
    int kind;
    int row;
    int island; // groups of one island are compared with the same reference velocity
    int block;  // of the problem, for reports
    double mu, lower, upper;
} rgLaneGroup;

typedef struct rgLaneProblem {
    int rows, velocities, groups;
    int form;
    int64_t matrix, group, row; // first of its matrix numbers, groups and rows
    int64_t factor;             // first of its numbers in factors
    double reference;           // rgContactProblem.referenceVelocity
} rgLaneProblem;

typedef enum rgLaneStatus {
    rg_laneUnsolved,
    rg_laneSolved,
    rg_laneRefused, // M cannot be factorized, something cannot move, or numbers are not finite
} rgLaneStatus;

typedef struct rgLaneOutcome {
    int status;
    int iterations; // of Newton
    int sweeps;     // Gauss-Seidel passes
    int second;     // found by the second run
    int block;      // with the largest error; -1: none has any
    double residual;
    double velocity; // that error [m/s]
} rgLaneOutcome;

// All problems of a batch; arrays of one number per row unless something else is said.
typedef struct rgLaneBatch {
    const rgLaneProblem* problems;
    const double* matrices;
    const rgLaneGroup* groups;
    const double* velocity; // g
    const double* compliance;
    const double* length;
    const double* start; // impulses to begin with
    double* lambda;      // in K
    double* sigma;
    double* factors;         // of M, scratch
    rgLaneOutcome* outcomes; // per problem
    double tolerance;
} rgLaneBatch;

// How far to go: few iterations for all, many for what is left.
typedef enum rgLaneEffort { rg_laneQuick, rg_laneThorough } rgLaneEffort;
