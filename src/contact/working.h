// Which contacts of an island take part in a solve. Contacts that are far from closing wait: they
// have no impulse, hence no influence, unless the impulses of the others close them; then they
// join.
#pragma once
#include "contact/layout.h"

typedef struct rgWorking {
    const rgContactProblem* problem;
    const rgLayout* layout;
    int count;
    int* members; // sets that take part, ascending
    int waitingCount;
    int* waiting;     // ascending
    double* velocity; // scratch, nv
    int rounds;
} rgWorking;

// All sets of the island take part; with `screen`, those that are not likely to close wait. lambda
// is the start; it becomes zero where they wait.
rgResult rgWorking_Init(rgWorking* working, const rgContactProblem* problem, const rgLayout* layout,
                        int island, double* lambda, bool screen, rgArena* arena);

// Take sets out for good.
void rgWorking_Drop(rgWorking* working, const bool* drop);

// Let those join that these impulses close. False when there are none: the island is solved.
bool rgWorking_Admit(rgWorking* working, const double* lambda);
