// The judge's own view of a problem. Shared by judge.c and judge_operator.c alone: no solver uses
// any of it, and of theirs it uses only what couples what (layout.h).
#pragma once
#include "contact/layout.h"
#include "contact/problem.h"

typedef struct rgJudgeWork {
    const rgContactProblem* problem;
    const rgLayout* layout;
    rgArena* arena;
    double* lambda;    // projected impulses, n
    double* sigma;     // (G + R) lambda + g, n
    double* diagonal;  // of G, n
    double* reference; // V of each island
    double** factors;  // of M, part by part: lower Cholesky factor, row-major, diagonal inverted;
                       // NULL: M is not given, or not needed
    int* lastRow;      // last row that touched a part
    double* scratch;   // nv
} rgJudgeWork;

// Factors of M where they are needed; rg_errorNumeric when M is not positive definite.
rgResult rgJudge_Prepare(rgJudgeWork* work);

// (1) sigma = (G + R) lambda + g
rgResult rgJudge_Velocity(rgJudgeWork* work, const double* lambda, double* sigma);

double rgJudge_Diagonal(rgJudgeWork* work, int row); // of G
