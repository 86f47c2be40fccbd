// SCS, a general conic solver, on convex contact problems: run by node from the npm package
// scs-solver, which is WebAssembly.
#pragma once
#include "rigor/contact.h"

typedef struct rgScsAnswer {
    double* lambda; // the caller frees it
    double seconds; // set-up and solve, by SCS's own clock
    int iterations;
} rgScsAnswer;

// Dense problems. False when node or the package is not there, or a set is none that SCS knows
// (torsion and rolling).
bool rgScs_Solve(const rgContactProblem** problems, int count, double tolerance, int iterations,
                 rgScsAnswer* answers);
