// SCS, a general conic solver, on convex contact problems: the system's library where CMake found
// one, else the npm package scs-solver, which is WebAssembly, in a process of Node's.
#pragma once
#include "rigor/contact.h"

typedef struct rgScsAnswer {
    double* lambda; // the caller frees it
    double seconds; // set-up and solve, by SCS's own clock
    int iterations;
} rgScsAnswer;

// "SCS (native)" or "SCS (WebAssembly)".
const char* rgScs_Label(void);

// Dense problems. False when neither library nor package is there, or a set is none that SCS knows
// (torsion and rolling).
bool rgScs_Solve(const rgContactProblem** problems, int count, double tolerance, int iterations,
                 rgScsAnswer* answers);
