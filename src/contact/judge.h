// The judge's own view of a problem. Shared by judge.c and judge_operator.c alone: no solver uses
// any of it, and of theirs it uses only the coupling of blocks (layout.h).
#pragma once
#include "contact/layout.h"
#include "contact/problem.h"

// Rows that are judged together: the three of a contact, its two rolling rows, else one.
typedef struct rgGroupOfRows {
    const rgBlock* block;
    int first; // within the block
    int count;
    double mass;        // m of ncp.9; 0: nothing moves these rows
    double inverseMass; // velocity that an impulse makes (ncp.10) [1/kg]; immovable rows: 1
    double length;      // [m] per unit of the rows
} rgGroupOfRows;

typedef struct rgJudgeWork {
    const rgContactProblem* problem;
    const rgLayout* layout;
    rgArena* arena;
    double* lambda;   // projected impulses, n
    double* sigma;    // (G + R) lambda + g, n
    double* diagonal; // of G, n
    int groupCount;
    rgGroupOfRows* groups; // in the order of the rows
    double* reference;     // V of each island
    double* residuals;     // of each island; NULL: nobody asks
    double** factors; // of M, part by part: lower Cholesky factor, row-major, diagonal inverted;
                      // NULL: M is not given, or not needed
    int* lastRow;     // last row that touched a part
    double* scratch;  // 4 nv
} rgJudgeWork;

// Factors of M where they are needed; rg_errorNumeric when M is not positive definite.
rgResult rgJudge_Prepare(rgJudgeWork* work);

// ncp.1: sigma = (G + R) lambda + g, and the diagonal of G where it is asked for
rgResult rgJudge_Velocity(rgJudgeWork* work, const double* lambda, double* sigma, double* diagonal);
