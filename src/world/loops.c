// Rigid loops and couplings are put back on their constraint after the position update: at most
// three Newton steps in the metric of the mass matrix. docs/theory/constraints.md (11).
#include "world/world.h"

#include <string.h>

#define RG_LOOP_STEPS     3
#define RG_LOOP_TOLERANCE 1e-10 // [m] or [rad]
#define RG_LOOP_DENSE     128   // rows up to which G is factorized here
#define RG_LOOP_ROUNDS    60    // of rgWorld_Project, each with a factor of its own

static bool rgEqualityIsRigid(const rgEqualityDef* def) {
    return !def->disabled && def->stiffness == 0;
}

// Rows of all rigid equalities at the kinematics of the workspace; the largest violation, negative
// when out of memory.
static double rgWorld_LoopError(rgWorld* world, bool regularize) {
    const rgModel* model = world->model;
    double error = 0;
    rgWorld_PlaceTendons(world);
    rgRows_Clear(&world->rows);
    for (int e = 0; e < model->info.equalityCount; ++e) {
        int first = rgEqualityIsRigid(&model->equalities[e]) ? rgAddEqualityRows(world, e) : -2;
        if (first == -1) {
            return -1;
        }
        if (first >= 0 && regularize) {
            rgRows_Regularize(world, first);
        }
        for (int r = first; first >= 0 && r < world->rows.rowCount; ++r) {
            error = fmax(error, fabs(world->rows.gap[r]));
        }
    }
    return error;
}

// L L' x = -right for the lower triangle of A, n x n, which L replaces. False when A is indefinite.
static bool rgSolveCholesky(int n, double* A, const double* right, double* x) {
    for (int i = 0; i < n; ++i) {
        double* row = A + (size_t)i * (size_t)n;
        x[i] = -right[i];
        for (int j = 0; j <= i; ++j) {
            const double* other = A + (size_t)j * (size_t)n;
            double sum = row[j];
            for (int k = 0; k < j; ++k) {
                sum -= row[k] * other[k];
            }
            if (i == j && !(sum > 0)) {
                return false;
            }
            row[j] = i == j ? sqrt(sum) : sum / other[j];
        }
        for (int k = 0; k < i; ++k) {
            x[i] -= row[k] * x[k];
        }
        x[i] /= row[i];
    }
    for (int i = n - 1; i >= 0; --i) {
        for (int k = i + 1; k < n; ++k) {
            x[i] -= A[(size_t)k * (size_t)n + (size_t)i] * x[k];
        }
        x[i] /= A[(size_t)i * (size_t)n + (size_t)i];
    }
    return true;
}

static rgResult rgWorld_SolveDense(rgWorld* world, const rgContactProblem* problem) {
    rgRows* rows = &world->rows;
    int n = rows->rowCount;
    rgResult result = rgReserve(&world->allocator, (void**)&world->loopG, &world->loopCapacity, 0,
                                n * n, sizeof(double));
    if (result == rg_ok) {
        result = rgReserve(&world->allocator, (void**)&world->loopWork, &world->loopWorkCapacity, 0,
                           rows->entryCount, sizeof(double));
    }
    if (result != rg_ok) {
        return result;
    }
    rgDynamics_Delassus(world->dynamics, &problem->delassus.jacobian, world->loopWork,
                        world->loopG);
    for (int r = 0; r < n; ++r) {
        world->loopG[(size_t)r * (size_t)(n + 1)] += rows->compliance[r];
    }
    bool definite = rgSolveCholesky(n, world->loopG, rows->gap, rows->lambda);
    for (int r = 0; !definite && r < n; ++r) {
        rows->lambda[r] = 0; // leaves the loop to the velocities
    }
    return rg_ok;
}

static rgResult rgWorld_SolveSparse(rgWorld* world, rgContactProblem* problem) {
    problem->delassus.mass.value = world->massValue; // M^, as in the factor that moves q
    return rgContactSolver_Solve(world->solver, problem, world->rows.lambda, NULL, NULL);
}

// J M^-1 J' lambda = -phi, then q moves by M^-1 J' lambda.
static rgResult rgWorld_LoopStep(rgWorld* world, double* q) {
    rgRows* rows = &world->rows;
    int n = rows->rowCount, nv = world->model->vCount;
    rgContactProblem problem = {
        .rowCount = n,
        .blockCount = rows->blockCount,
        .blocks = rows->blocks,
        .delassus = {.kind = rg_delassusVelocity,
                     .mass = {nv, nv, world->massStart, world->massColumn, NULL},
                     .jacobian = {n, nv, rows->rowStart, rows->column, rows->value}},
        .freeVelocity = rows->gap,
        .compliance = rows->compliance,
    };
    rgResult result = n <= RG_LOOP_DENSE ? rgWorld_SolveDense(world, &problem)
                                         : rgWorld_SolveSparse(world, &problem);
    if (result != rg_ok) {
        return result;
    }
    double* x = world->column;
    memset(x, 0, (size_t)nv * sizeof(double));
    for (int r = 0; r < n; ++r) {
        for (int k = rows->rowStart[r]; k < rows->rowStart[r + 1]; ++k) {
            x[rows->column[k]] += rows->value[k] * rows->lambda[r];
        }
    }
    rgDynamics_Solve(world->dynamics, 1, x);
    rgWorld_Move(world, q, x, 1, q);
    return rg_ok;
}

static rgResult rgWorld_Approach(rgWorld* world, double* q) {
    size_t bytes = (size_t)world->model->qCount * sizeof(double);
    double last = INFINITY;
    rgResult result = rg_ok;
    for (int i = 0; i <= RG_LOOP_STEPS && result == rg_ok; ++i) {
        rgDynamics_SetPositions(world->dynamics, q);
        double error = rgWorld_LoopError(world, false);
        if (error < 0) {
            return rg_errorMemory;
        }
        if (!(error < last)) {
            memcpy(q, world->loopQ, bytes); // a locked loop: the step made it worse
            return rg_ok;
        }
        if (error < RG_LOOP_TOLERANCE || i == RG_LOOP_STEPS) {
            return rg_ok;
        }
        last = error;
        memcpy(world->loopQ, q, bytes);
        // The factor of the step weighs the motion well enough; the axes are new.
        if (rgWorld_LoopError(world, true) < 0) {
            result = rg_errorMemory;
        }
        result = result == rg_ok ? rgWorld_LoopStep(world, q) : result;
    }
    return result;
}

rgResult rgWorld_ProjectLoops(rgWorld* world, double* q) {
    // The rows of the step stay as they are for readers.
    rgRows step = world->rows;
    world->rows = world->loopRows;
    rgResult result = rgWorld_Approach(world, q);
    world->loopRows = world->rows;
    world->rows = step;
    return result;
}

// The largest violation at q; negative when out of memory.
static double rgWorld_LoopErrorAt(rgWorld* world, const double* q) {
    rgDynamics_SetPositions(world->dynamics, q);
    return rgWorld_LoopError(world, false);
}

// One Newton step from q, as much of it as makes the violation smaller; q stays where none does.
// The factor of M is that of the last forward call.
static rgResult rgWorld_CloseStep(rgWorld* world, double* q, double* x, double* next,
                                  double* error) {
    size_t bytes = (size_t)world->model->qCount * sizeof(double);
    *error = rgWorld_LoopErrorAt(world, q);
    if (*error < RG_LOOP_TOLERANCE) {
        return *error < 0 ? rg_errorMemory : rg_ok;
    }
    memcpy(next, q, bytes);
    rgResult result =
        rgWorld_LoopError(world, true) < 0 ? rg_errorMemory : rgWorld_LoopStep(world, next);
    memcpy(x, world->column, (size_t)world->model->vCount * sizeof(double));
    for (double share = 1; result == rg_ok && share > 1e-3; share *= 0.5) {
        rgWorld_Move(world, q, x, share, next);
        double reached = rgWorld_LoopErrorAt(world, next);
        if (reached < 0) {
            return rg_errorMemory;
        }
        if (reached < *error) {
            *error = reached;
            memcpy(q, next, bytes);
            return rg_ok;
        }
    }
    return result != rg_ok ? result : rg_errorNumeric;
}

rgResult rgWorld_Project(rgWorld* world) {
    if (world == NULL) {
        return rg_errorArgument;
    }
    size_t qCount = (size_t)world->model->qCount, vCount = (size_t)world->model->vCount;
    double* q = rgAllocate(&world->allocator, 2 * qCount + vCount + 1, sizeof(double));
    rgResult result = q != NULL ? rg_ok : rg_errorMemory;
    double error = INFINITY;
    for (int i = 0; result == rg_ok && !(error < RG_LOOP_TOLERANCE) && i < RG_LOOP_ROUNDS; ++i) {
        result = rgWorld_Forward(world, NULL);
        if (result != rg_ok) {
            break;
        }
        memcpy(q, world->state.q, qCount * sizeof(double));
        rgRows step = world->rows;
        world->rows = world->loopRows;
        result = rgWorld_CloseStep(world, q, q + 2 * qCount, q + qCount, &error);
        world->loopRows = world->rows;
        world->rows = step;
        if (result == rg_ok) {
            result = rgWorld_SetState(world, q, world->state.v);
        }
    }
    rgRelease(&world->allocator, q);
    return result != rg_ok ? result : error < RG_LOOP_TOLERANCE ? rg_ok : rg_errorNumeric;
}
