// A contact problem in dense form, on its own.
#pragma once
#include "rigor/contact.h"

typedef struct rgDenseProblem {
    rgContactProblem problem;
    rgBlock* blocks;
    double *G, *g, *R, *length;
} rgDenseProblem;

void rgDenseProblem_Copy(rgDenseProblem* dense, const rgContactProblem* problem);
void rgDenseProblem_Free(rgDenseProblem* dense);
