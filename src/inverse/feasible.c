// Open impulses chosen by least squares: as little force as can be on degrees of freedom that have
// no motor, inside the cones and in keeping with the wanted velocity. The optimality conditions are
// a convex contact problem with G = J_u J_u', which the contact solver takes. Also: the rank of the
// open rows. inverse.13-15.
#include "inverse/inverse.h"

#include <string.h>

void rgReduced_Free(const rgAllocator* allocator, rgReduced* reduced) {
    void* arrays[] = {
        reduced->columnOf,       reduced->massStart, reduced->massColumn, reduced->massValue,
        reduced->missingImpulse, reduced->blocks,    reduced->rowStart,   reduced->x,
        reduced->anchor,         reduced->g,         reduced->compliance, reduced->column,
        reduced->value};
    for (int i = 0; i < RG_COUNT(arrays); ++i) {
        rgRelease(allocator, arrays[i]);
    }
    rgDestroyContactSolver(reduced->solver);
    *reduced = (rgReduced){0};
}

static rgResult rgReduced_Create(const rgModel* model, const rgAllocator* allocator,
                                 rgReduced* reduced) {
    if (reduced->solver != NULL) {
        return rg_ok;
    }
    size_t nv = (size_t)model->vCount;
    reduced->columnOf = rgAllocate(allocator, nv, sizeof(int));
    reduced->massStart = rgAllocate(allocator, nv + 1, sizeof(int));
    reduced->massColumn = rgAllocate(allocator, nv, sizeof(int));
    reduced->massValue = rgAllocate(allocator, nv, sizeof(double));
    reduced->missingImpulse = rgAllocate(allocator, nv, sizeof(double));
    rgContactSolverDef def = rgDefaultContactSolverDef();
    def.model = rg_modelCcp;
    def.tolerance = RG_FEASIBLE_TOLERANCE;
    def.maxIterations = RG_FEASIBLE_ITERATIONS;
    def.allocator = *allocator;
    bool good = reduced->columnOf != NULL && reduced->massStart != NULL &&
                reduced->massColumn != NULL && reduced->massValue != NULL &&
                reduced->missingImpulse != NULL;
    rgResult result = good ? rgCreateContactSolver(&def, &reduced->solver) : rg_errorMemory;
    if (result != rg_ok) {
        rgReduced_Free(allocator, reduced);
    }
    return result;
}

static rgResult rgReduced_ReserveRows(const rgAllocator* allocator, rgReduced* reduced, int rows) {
    struct {
        void** array;
        size_t size;
    } list[] = {{(void**)&reduced->rowStart, sizeof(int)},
                {(void**)&reduced->x, sizeof(double)},
                {(void**)&reduced->anchor, sizeof(double)},
                {(void**)&reduced->g, sizeof(double)},
                {(void**)&reduced->compliance, sizeof(double)}};
    int capacity = reduced->rowCapacity;
    rgResult result = rg_ok;
    for (int i = 0; i < RG_COUNT(list) && rows + 1 > reduced->rowCapacity && result == rg_ok; ++i) {
        capacity = reduced->rowCapacity;
        result = rgReserve(allocator, list[i].array, &capacity, 0, rows + 1, list[i].size);
    }
    reduced->rowCapacity = result == rg_ok ? capacity : reduced->rowCapacity;
    return result;
}

static rgResult rgReduced_ReserveEntries(const rgAllocator* allocator, rgReduced* reduced, int used,
                                         int count) {
    int columns = reduced->entryCapacity, values = reduced->entryCapacity;
    if (count <= reduced->entryCapacity) {
        return rg_ok;
    }
    rgResult result =
        rgReserve(allocator, (void**)&reduced->column, &columns, used, count, sizeof(int));
    if (result == rg_ok) {
        result =
            rgReserve(allocator, (void**)&reduced->value, &values, used, count, sizeof(double));
    }
    reduced->entryCapacity = result == rg_ok ? values : reduced->entryCapacity;
    return result;
}

// Degrees of freedom without a motor, and an identity of their number.
static void rgReduced_Columns(const rgInverseCall* call, rgReduced* reduced) {
    int count = 0;
    for (int i = 0; i < call->world->model->vCount; ++i) {
        bool asleep = rgSleep_LinkSleeps(&call->world->sleep, call->world->model,
                                         call->world->model->dofs[i].link);
        reduced->columnOf[i] = call->work->actuated[i] || asleep ? -1 : count++;
    }
    for (int i = 0; i < count; ++i) {
        reduced->massStart[i] = reduced->massColumn[i] = i;
        reduced->massValue[i] = 1;
    }
    reduced->massStart[count] = count;
    reduced->unknownCount = count;
}

// ---- rows

// The row's part of an open block: a row of its own, or everything that follows the normal.
static bool rgOpen_Contains(const rgInverseOpen* open, int reducedRow, int k) {
    bool single = open->block.rowCount == 1;
    int normal = open->count == 1 ? 0 : 2;
    if (single || reducedRow == normal) {
        return !open->normalIsGiven && (k == normal || !open->independent[k]) &&
               open->independent[normal];
    }
    return k == reducedRow && open->independent[k];
}

static void rgOpen_Row(const rgConstraintSet* constraints, const rgModel* model,
                       const rgInverseOpen* open, int reducedRow, double* y) {
    const rgRows* rows = &constraints->rows;
    int normal = open->count == 1 ? 0 : 2;
    memset(y, 0, (size_t)model->vCount * sizeof(double));
    for (int k = 0; k < open->count; ++k) {
        if (!rgOpen_Contains(open, reducedRow, k)) {
            continue;
        }
        bool follows = open->block.rowCount == 1 || reducedRow == normal;
        double weight = follows ? open->ray[k] : 1;
        int row = open->first + k;
        for (int e = rows->rowStart[row]; weight != 0 && e < rows->rowStart[row + 1]; ++e) {
            y[rows->column[e]] += weight * rows->value[e];
        }
    }
}

static rgResult rgReduced_AddRow(rgInverseCall* call, int row, const double* y) {
    rgReduced* reduced = &call->work->reduced;
    int nv = call->world->model->vCount, at = reduced->rowStart[row];
    rgResult result = rgReduced_ReserveEntries(&call->world->heap.allocator, reduced, at,
                                               at + reduced->unknownCount);
    for (int i = 0; i < nv && result == rg_ok; ++i) {
        if (reduced->columnOf[i] >= 0 && y[i] != 0) {
            reduced->column[at] = reduced->columnOf[i];
            reduced->value[at++] = y[i];
        }
    }
    reduced->rowStart[row + 1] = at;
    return result;
}

static int rgReduced_Plan(rgInverseCall* call) {
    rgReduced* reduced = &call->work->reduced;
    int rows = 0;
    for (int i = 0; i < call->work->openCount; ++i) {
        reduced->blocks[i] = call->work->opens[i].block;
        reduced->blocks[i].firstRow = rows;
        rows += reduced->blocks[i].rowCount;
    }
    return rows;
}

static rgResult rgReduced_Build(rgInverseCall* call, int* rowCount) {
    rgInverseWork* work = call->work;
    rgReduced* reduced = &work->reduced;
    rgResult result = rgReduced_Create(call->world->model, &call->world->heap.allocator, reduced);
    if (result == rg_ok) {
        result = rgReserve(&call->world->heap.allocator, (void**)&reduced->blocks,
                           &reduced->blockCapacity, 0, work->openCount, sizeof(rgBlock));
    }
    if (result != rg_ok) {
        return result;
    }
    *rowCount = rgReduced_Plan(call);
    rgReduced_Columns(call, reduced);
    result = rgReduced_ReserveRows(&call->world->heap.allocator, reduced, *rowCount);
    if (result != rg_ok) {
        return result;
    }
    for (int i = 0; i < work->openCount; ++i) {
        const rgBlock* block = &reduced->blocks[i];
        for (int k = 0; k < block->rowCount && result == rg_ok; ++k) {
            if (block->firstRow + k == 0) {
                reduced->rowStart[0] = 0;
            }
            rgOpen_Row(&call->world->constraints, call->world->model, &work->opens[i], k,
                       call->world->kinematics.scratch);
            result = rgReduced_AddRow(call, block->firstRow + k, call->world->kinematics.scratch);
        }
        if (result != rg_ok) {
            return result;
        }
    }
    return rg_ok;
}

// ---- impulses there and back

static void rgReduced_Gather(const rgInverseCall* call, double* x) {
    const double* lambda = call->world->constraints.rows.lambda;
    for (int i = 0; i < call->work->openCount; ++i) {
        const rgInverseOpen* open = &call->work->opens[i];
        const rgBlock* block = &call->work->reduced.blocks[i];
        int normal = open->count == 1 ? 0 : 2;
        for (int k = 0; k < block->rowCount; ++k) {
            int from = block->rowCount == 1 ? normal : k;
            bool taken = open->independent[from] || from == normal;
            x[block->firstRow + k] = taken ? lambda[open->first + from] : 0;
        }
    }
}

static void rgOpen_Spread(const rgInverseOpen* open, const double* x, double* lambda) {
    int normal = open->count == 1 ? 0 : 2;
    bool single = open->block.rowCount == 1;
    double along = open->normalIsGiven ? open->normal : single ? x[0] : x[normal];
    for (int k = 0; k < open->count; ++k) {
        lambda[k] = open->independent[k] && k != normal ? x[k] : along * open->ray[k];
    }
    if (open->normalIsGiven && open->block.mu > 0) {
        double tangent = hypot(lambda[0], lambda[1]), bound = open->block.mu * along;
        double scale = tangent > bound ? bound / tangent : 1;
        lambda[0] *= scale;
        lambda[1] *= scale;
    }
    for (int k = 3; k < open->count; ++k) {
        double limit = (k == 3 ? open->block.muTorsion : open->block.muRolling) * along;
        lambda[k] = open->independent[k] ? fmin(fmax(lambda[k], -limit), limit) : lambda[k];
    }
}

static void rgReduced_Spread(const rgInverseCall* call, const double* x) {
    for (int i = 0; i < call->work->openCount; ++i) {
        const rgInverseOpen* open = &call->work->opens[i];
        rgOpen_Spread(open, x + call->work->reduced.blocks[i].firstRow,
                      call->world->constraints.rows.lambda + open->first);
    }
}

// inverse.13: The impulse that unactuated rows lack when nothing but the open impulses is left to
// choose.
static void rgReduced_Target(rgInverseCall* call) {
    rgWorld* world = call->world;
    rgInverseWork* work = call->work;
    double* missingImpulse = work->reduced.missingImpulse;
    for (int i = 0; i < world->model->vCount; ++i) {
        missingImpulse[i] = world->settings.dt * work->need[i];
    }
    rgInverse_ImpulseForce(&world->constraints, world->model, world->constraints.rows.lambda,
                           work->push);
    for (int t = 0; t < world->model->treeCount; ++t) {
        const rgTree* tree = &world->model->trees[t];
        if (world->kinematics.isFreeBody[t]) {
            rgWorld_FreeBodyImpulse(world, &world->model->links[tree->firstLink],
                                    work->vRef + tree->firstDof, missingImpulse + tree->firstDof);
        }
    }
    memcpy(work->saved, world->constraints.rows.lambda,
           (size_t)world->constraints.rows.rowCount * sizeof(double));
    for (int i = 0; i < work->openCount; ++i) {
        const rgInverseOpen* open = &work->opens[i];
        for (int k = 0; k < open->count; ++k) {
            bool given = open->normalIsGiven && !open->independent[k];
            work->saved[open->first + k] =
                given ? world->constraints.rows.lambda[open->first + k] : 0;
        }
    }
    rgInverse_ImpulseForce(&world->constraints, world->model, work->saved, work->push);
    for (int i = 0; i < world->model->vCount; ++i) {
        missingImpulse[i] -= work->push[i];
    }
}

// ---- solve

// inverse.14: g = -J_u wanted - pull anchor; given normals are held by a stiff term.
static double rgReduced_Scale(const rgReduced* reduced, int rowCount) {
    double trace = 0;
    int end = reduced->rowStart[rowCount];
    for (int e = 0; e < end; ++e) {
        trace += reduced->value[e] * reduced->value[e];
    }
    return trace > 0 ? trace / rowCount : 1;
}

static void rgReduced_SetTerms(rgInverseCall* call, int rowCount, double scale) {
    rgReduced* reduced = &call->work->reduced;
    const double* missingImpulse = reduced->missingImpulse;
    double pull = RG_FEASIBLE_PROXIMAL_RATIO * scale;
    for (int i = 0; i < call->world->model->vCount; ++i) {
        if (reduced->columnOf[i] >= 0) {
            call->world->kinematics.scratch[reduced->columnOf[i]] = missingImpulse[i];
        }
    }
    for (int r = 0; r < rowCount; ++r) {
        double sum = 0;
        for (int e = reduced->rowStart[r]; e < reduced->rowStart[r + 1]; ++e) {
            sum += reduced->value[e] * call->world->kinematics.scratch[reduced->column[e]];
        }
        reduced->compliance[r] = pull;
        reduced->g[r] = -sum - pull * reduced->anchor[r];
    }
    for (int i = 0; i < call->work->openCount; ++i) {
        const rgInverseOpen* open = &call->work->opens[i];
        int row = reduced->blocks[i].firstRow + 2;
        if (open->normalIsGiven) {
            reduced->compliance[row] = RG_FEASIBLE_GIVEN_RATIO * scale;
            reduced->g[row] = -reduced->compliance[row] * open->normal;
        }
    }
}

static rgResult rgReduced_Solve(rgInverseCall* call, int rowCount) {
    rgReduced* reduced = &call->work->reduced;
    int u = reduced->unknownCount;
    double scale = rgReduced_Scale(reduced, rowCount);
    rgContactProblem problem = {
        .rowCount = rowCount,
        .blockCount = call->work->openCount,
        .blocks = reduced->blocks,
        .delassus = {.kind = rg_delassusVelocity,
                     .mass = {u, u, reduced->massStart, reduced->massColumn, reduced->massValue},
                     .jacobian = {rowCount, u, reduced->rowStart, reduced->column, reduced->value}},
        .freeVelocity = reduced->g,
        .compliance = reduced->compliance,
    };
    rgResult result = rg_ok;
    rgReduced_Gather(call, reduced->x);
    for (int pass = 0; pass < RG_FEASIBLE_PASSES && result == rg_ok; ++pass) {
        rgContactReport report;
        memcpy(reduced->anchor, reduced->x, (size_t)rowCount * sizeof(double));
        rgReduced_Target(call);
        rgReduced_SetTerms(call, rowCount, scale);
        result = rgContactSolver_Solve(reduced->solver, &problem, reduced->x, NULL, &report);
        report.iterationCount += call->result->feasible.iterationCount;
        report.history = NULL;
        call->result->feasible = report;
        rgReduced_Spread(call, reduced->x);
    }
    return result == rg_errorArgument ? rg_errorNumeric : result;
}

rgResult rgInverse_MakeFeasible(rgInverseCall* call) {
    int rowCount = 0;
    call->result->feasible.status = rg_contactSolved;
    if (call->work->openCount == 0) {
        return rg_ok;
    }
    rgResult result = rgReduced_Build(call, &rowCount);
    if (result != rg_ok || call->work->reduced.unknownCount == 0) {
        return result;
    }
    return rgReduced_Solve(call, rowCount);
}

// ---- rank

static double rgDotN(const double* a, const double* b, int n) {
    double sum = 0;
    for (int i = 0; i < n; ++i) {
        sum += a[i] * b[i];
    }
    return sum;
}

// True if the row adds a direction to the kept ones (Gram-Schmidt, twice).
static bool rgAddsDirection(double* row, const double* kept, int keptCount, int n) {
    double length = sqrt(rgDotN(row, row, n));
    for (int k = 0; k < 2 * keptCount; ++k) {
        const double* other = kept + (size_t)(k % keptCount) * (size_t)n;
        double along = rgDotN(row, other, n);
        for (int i = 0; i < n; ++i) {
            row[i] -= along * other[i];
        }
    }
    double rest = sqrt(rgDotN(row, row, n));
    if (!(rest > RG_FEASIBLE_TOLERANCE * length)) {
        return false;
    }
    for (int i = 0; i < n; ++i) {
        row[i] /= rest;
    }
    return true;
}

// inverse.15: Open impulses less the rank of their rows.
rgResult rgInverse_CountRank(rgInverseCall* call) {
    rgInverseWork* work = call->work;
    int nv = call->world->model->vCount, rank = 0;
    int64_t needed = ((int64_t)RG_MIN(call->result->openCount, nv) + 1) * nv;
    if (needed > INT32_MAX) {
        return rg_errorMemory;
    }
    rgResult result = rgReserve(&call->world->heap.allocator, (void**)&work->dense,
                                &work->denseCapacity, 0, (int)needed, sizeof(double));
    for (int i = 0; i < work->openCount && result == rg_ok; ++i) {
        const rgInverseOpen* open = &work->opens[i];
        for (int k = 0; k < open->block.rowCount; ++k) {
            double* row = work->dense + (size_t)rank * (size_t)nv;
            rgOpen_Row(&call->world->constraints, call->world->model, open, k, row);
            rank += rgAddsDirection(row, work->dense, rank, nv);
        }
    }
    call->result->redundantCount = call->result->openCount - rank;
    return result;
}
