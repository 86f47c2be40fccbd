// Contact space for small models: G = J M^^-1 J' from the tree-sparse factors of M^, which the free
// motion has made. Large models stay in velocity space and leave the choice to the solver.
// docs/theory/step.md (9).
#include "math/kernels.h"
#include "world/world.h"

#include <string.h>

#define RG_DENSE_VELOCITIES 100
#define RG_DENSE_ROWS       240

static rgResult rgReserveNumbers(rgWorld* world, double** numbers, int* capacity, int needed) {
    return rgReserve(&world->allocator, (void**)numbers, capacity, 0, needed, sizeof(double));
}

// X = M^^-1 J', velocities by rows
static void rgSolveJacobian(rgWorld* world, double* X) {
    const rgRows* rows = &world->rows;
    int n = rows->rowCount;
    memset(X, 0, (size_t)world->model->vCount * (size_t)n * sizeof(double));
    for (int r = 0; r < n; ++r) {
        for (int k = rows->rowStart[r]; k < rows->rowStart[r + 1]; ++k) {
            X[(size_t)rows->column[k] * (size_t)n + (size_t)r] = rows->value[k];
        }
    }
    rgDynamics_Solve(world->dynamics, n, X);
}

// Lower triangle of G = J X, mirrored.
static void rgMultiplyJacobian(const rgWorld* world, const double* X, double* G) {
    const rgKernels* kernels = rgSelectKernels((rgKernelSet)world->def.contact.kernels);
    const rgRows* rows = &world->rows;
    size_t n = (size_t)rows->rowCount;
    memset(G, 0, n * n * sizeof(double));
    for (size_t r = 0; r < n; ++r) {
        for (int k = rows->rowStart[r]; k < rows->rowStart[r + 1]; ++k) {
            kernels->axpy((int)r + 1, rows->value[k], X + (size_t)rows->column[k] * n, G + r * n);
        }
        for (size_t s = 0; s < r; ++s) {
            G[s * n + r] = G[r * n + s];
        }
    }
}

rgResult rgWorld_Condense(rgWorld* world, rgContactProblem* problem) {
    int n = world->rows.rowCount, nv = world->model->vCount;
    *problem = world->problem;
    if (nv > RG_DENSE_VELOCITIES || n > RG_DENSE_ROWS) {
        return rg_ok;
    }
    rgResult result = rgReserveNumbers(world, &world->delassus, &world->delassusCapacity, n * n);
    if (result == rg_ok) {
        result = rgReserveNumbers(world, &world->solved, &world->solvedCapacity, nv * n);
    }
    if (result != rg_ok) {
        return result;
    }
    rgSolveJacobian(world, world->solved);
    rgMultiplyJacobian(world, world->solved, world->delassus);
    problem->delassus = (rgDelassus){.kind = rg_delassusDense, .matrix = world->delassus};
    return rg_ok;
}
