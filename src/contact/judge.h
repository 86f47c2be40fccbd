// The judge's own view of a problem. Shared by judge.c and judge_operator.c alone: no solver uses
// any of it.
#pragma once
#include "contact/problem.h"

// A mass matrix splits into parts (bodies, trees) that its entries connect; each is kept as a dense
// factor.
typedef struct rgMassPart {
    int size;
    int* columns;   // velocities of this part, ascending
    double* factor; // size x size, lower Cholesky factor, row-major, diagonal inverted
} rgMassPart;

typedef struct rgJudgeWork {
    const rgContactProblem* problem;
    rgArena* arena;
    double* lambda;    // projected impulses, n
    double* sigma;     // (G + R) lambda + g, n
    double* diagonal;  // of G, n
    int* island;       // representative block of each block's island
    double* reference; // V of each island, kept at its representative
    bool byMass;       // velocity form, M is given
    int partCount;     // velocity form only
    rgMassPart* parts;
    int* partOfVelocity; // nv
    int* placeInPart;    // nv
    int* lastRow;        // last row that touched a part
    double* scratch;     // nv
} rgJudgeWork;

// Representative of block i's island.
int rgJudge_Island(rgJudgeWork* work, int block);

// Factors of M where they are needed; rg_errorNumeric when M is not positive definite.
rgResult rgJudge_Prepare(rgJudgeWork* work);

// (1) sigma = (G + R) lambda + g
rgResult rgJudge_Velocity(rgJudgeWork* work, const double* lambda, double* sigma);

double rgJudge_Diagonal(rgJudgeWork* work, int row); // of G

// Blocks that an entry of G couples belong to one island.
rgResult rgJudge_FindIslands(rgJudgeWork* work);
