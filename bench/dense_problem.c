// Dense copies of contact problems.
#include "dense_problem.h"

#include "cli.h"

#include <stdlib.h>
#include <string.h>

static double* rgCopyNumbers(const double* from, size_t count) {
    double* copy = from != NULL ? rgCli_Allocate(count, sizeof(double)) : NULL;
    if (copy != NULL) {
        memcpy(copy, from, count * sizeof(double));
    }
    return copy;
}

// G column by column, from the response to units.
void rgDenseProblem_Copy(rgDenseProblem* dense, const rgContactProblem* problem) {
    size_t n = (size_t)problem->rowCount;
    double* unit = rgCli_Allocate(n, sizeof(double));
    dense->G = rgCli_Allocate(n * n, sizeof(double));
    dense->g = rgCopyNumbers(problem->freeVelocity, n);
    dense->R = rgCopyNumbers(problem->compliance, n);
    dense->length = rgCopyNumbers(problem->rowLength, n);
    dense->blocks = rgCli_Allocate((size_t)problem->blockCount, sizeof(rgBlock));
    memcpy(dense->blocks, problem->blocks, (size_t)problem->blockCount * sizeof(rgBlock));
    for (size_t j = 0; j < n; ++j) {
        unit[j] = 1;
        rgContactProblem_Velocity(problem, unit, dense->G + j * n);
        unit[j] = 0;
        for (size_t i = 0; i < n; ++i) {
            dense->G[j * n + i] -= dense->g[i] + (i == j && dense->R != NULL ? dense->R[i] : 0);
        }
    }
    for (size_t j = 0; j < n; ++j) { // rounding is not symmetric
        for (size_t i = 0; i < j; ++i) {
            dense->G[j * n + i] = dense->G[i * n + j] =
                0.5 * (dense->G[j * n + i] + dense->G[i * n + j]);
        }
    }
    dense->problem = *problem;
    dense->problem.blocks = dense->blocks;
    dense->problem.freeVelocity = dense->g;
    dense->problem.compliance = dense->R;
    dense->problem.rowLength = dense->length;
    dense->problem.delassus = (rgDelassus){.kind = rg_delassusDense, .matrix = dense->G};
    free(unit);
}

void rgDenseProblem_Free(rgDenseProblem* dense) {
    free(dense->G);
    free(dense->g);
    free(dense->R);
    free(dense->length);
    free(dense->blocks);
    *dense = (rgDenseProblem){0};
}
