// Positions are projected after the velocities are solved: rigid loops are closed, penetration is
// undone by a share per step, joints return within their limits. One frictionless complementarity
// problem in the metric of the mass matrix; velocities stay. docs/theory/projection.md.
#include "world/project.h"
#include "math/triple.h"

#include <string.h>

// Residual that the positions are solved to, over the largest depth.
static double rgProjection_Tolerance(const rgWorldDef* def) {
    return fmax(RG_PROJECT_TOLERANCE_RATIO, def->contact.accuracy);
}

// ---- create and destroy

rgResult rgProjection_Create(rgWorld* world) {
    rgProjection* p = rgAllocate(&world->heap.allocator, 1, sizeof(rgProjection));
    world->projection = p;
    if (p == NULL) {
        return rg_errorMemory;
    }
    rgContactSolverDef def = rgDefaultContactSolverDef();
    def.tolerance = rgProjection_Tolerance(&world->def);
    def.kernels = world->def.contact.kernels;
    def.tasks = world->def.tasks;
    def.allocator = world->heap.allocator;
    size_t nv = (size_t)world->model->vCount;
    p->column = rgAllocate(&world->heap.allocator, nv, sizeof(int));
    p->x = rgAllocate(&world->heap.allocator, nv, sizeof(double));
    p->work = rgAllocate(&world->heap.allocator, nv, sizeof(double));
    p->moved = rgAllocate(&world->heap.allocator, nv, sizeof(double));
    bool good = p->column != NULL && p->x != NULL && p->work != NULL && p->moved != NULL;
    return good ? rgCreateContactSolver(&def, &p->solver) : rg_errorMemory;
}

void rgProjection_Destroy(rgProjection* p, const rgAllocator* allocator) {
    if (p == NULL) {
        return;
    }
    rgDestroyContactSolver(p->solver);
    rgRows_Free(&p->rows, allocator);
    void* arrays[] = {p->halfLines, p->whitened, p->dense, p->diagonal,
                      p->column,    p->x,        p->work,  p->moved};
    for (int i = 0; i < RG_COUNT(arrays); ++i) {
        rgRelease(allocator, arrays[i]);
    }
    rgRelease(allocator, p);
}

// ---- half lines

// True if the projection keeps the row from closing; then *end is its gap where the next step is
// computed, as v+ leads there.
static bool rgWorld_IsHalfLine(const rgWorld* world, int row, double* end) {
    const rgRows* rows = &world->constraints.rows;
    const rgRowSource* source = &rows->sources[row];
    double gap, ahead, curve = 0, rowChange = 0;
    if (source->kind == -1) {
        const rgContactPoint* point = &world->contacts.points[source->index];
        if (source->row != 2 || point->isSoft || point->overlaps) {
            return false;
        }
        ahead = rgKinematics_TimeAhead(&world->kinematics, &world->settings,
                                       world->contacts.colliders[point->colliderA].link,
                                       world->contacts.colliders[point->colliderB].link);
        gap = point->gap;
        curve = point->gapCorrection + ahead * rgContactPoint_NormalArc(point);
    } else {
        bool limit = source->kind == rg_constraintLimit ||
                     (source->kind == rg_constraintTendon && rgTendonRowIsLimit(source->row));
        if (!limit || rows->compliance[row] != 0) {
            return false;
        }
        int link = world->model->dofs[rows->column[rows->rowStart[row]]].link;
        ahead = rgKinematics_TimeAhead(&world->kinematics, &world->settings, link, link);
        gap = rgTouchingGap(rows->gap[row]);
        rowChange = rgConstraintSet_RowProjectionChange(
            &world->constraints, &world->kinematics, &world->fast, row, world->constraints.isHeld);
    }
    *end = gap + ahead * (rgRows_Speed(rows, row, world->next.v) + rowChange) + curve;
    return rgRows_Columns(rows, row) > 0;
}

// Gap that the projection leaves in place of `end`: at most a share of the depth is undone per
// step, at most at the push-out speed.
static double rgCorrectedGap(const rgWorldDef* def, double dt, double end) {
    return end > 0 ? end : fmax(RG_PROJECT_SHARE * end, -def->pushOutSpeed * dt);
}

// The half lines of the step; *deep: some of them end in penetration.
static rgResult rgProjection_ListHalfLines(rgWorld* world, bool* deep) {
    rgProjection* p = world->projection;
    rgResult result = rgReserve(&world->heap.allocator, (void**)&p->halfLines, &p->halfLineCapacity,
                                0, world->constraints.rows.rowCount, sizeof(rgHalfLine));
    p->halfLineCount = 0;
    *deep = false;
    if (result != rg_ok) {
        return result;
    }
    for (int r = 0; r < world->constraints.rows.rowCount; ++r) {
        double end;
        if (rgWorld_IsHalfLine(world, r, &end)) {
            *deep = *deep || end < -RG_SLOP;
            p->halfLines[p->halfLineCount++] =
                (rgHalfLine){r, rgCorrectedGap(&world->def, world->settings.dt, end), end, 0};
        }
    }
    return rg_ok;
}

// Islands with penetration or rigid loops, which the projection moves.
static void rgProjection_MarkIslands(rgProjection* p, rgConstraintSet* constraints,
                                     const rgModel* model) {
    const rgRows* rows = &constraints->rows;
    rgConnectIslands(constraints, model);
    for (int i = 0; i < p->halfLineCount; ++i) {
        if (p->halfLines[i].room < -RG_PROJECT_SHARE * RG_SLOP) {
            constraints->islands[rgRowIsland(constraints, p->halfLines[i].row)].projects = true;
        }
    }
    for (int r = 0; r < rows->rowCount && constraints->rigidEqualityCount > 0; ++r) {
        if (rows->sources[r].kind == rg_constraintEquality &&
            model->equalities[rows->sources[r].index].stiffness == 0) {
            constraints->islands[rgRowIsland(constraints, r)].projects = true;
        }
    }
}

// Half lines of the marked islands join the rows, with the W of the step.
static rgResult rgProjection_AddHalfLines(rgWorld* world) {
    rgProjection* p = world->projection;
    const rgRows* from = &world->constraints.rows;
    for (int i = 0; i < p->halfLineCount; ++i) {
        const rgHalfLine* line = &p->halfLines[i];
        if (!world->constraints.islands[rgRowIsland(&world->constraints, line->row)].projects) {
            continue;
        }
        int entries = rgRows_Columns(from, line->row), first = p->rows.entryCount;
        int row = rgRows_AddCopy(&p->rows, &world->heap.allocator,
                                 (rgBlock){.kind = rg_blockHalfLine}, from, line->row);
        if (row < 0 || rgReserve(&world->heap.allocator, (void**)&p->whitened, &p->whitenedCapacity,
                                 first, first + entries, sizeof(double)) != rg_ok) {
            return rg_errorMemory;
        }
        const double* W = world->constraints.whitened + from->rowStart[line->row];
        memcpy(p->whitened + first, W, (size_t)entries * sizeof(double));
        double G = rgSquareOf(entries, W);
        if (!(G > 0)) { // nothing moves it
            rgRows_DropLast(&p->rows);
            continue;
        }
        p->rows.gap[row] = line->room;
        p->rows.compliance[row] = RG_PROJECT_COMPLIANCE_RATIO * G;
        p->rows.lambda[row] =
            RG_PROJECT_SHARE *
            rgConstraintSet_ProjectionImpulse(&world->constraints, &world->contacts, line->row);
        p->rows.sources[row] = (rgRowSource){.kind = -1, .index = i, .slot = -1};
    }
    return rg_ok;
}

// ---- loops

// projection.7: Levenberg-Marquardt damping of a loop in proportion to its violation: near singular
// configurations that do not close, it bounds the motion.
static void rgProjection_Damp(rgRows* rows, int first, double violation) {
    double share = RG_DAMPED_COMPLIANCE_RATIO * fmin(violation / RG_OPEN_VIOLATION, 1);
    for (int r = first; r < rows->rowCount; ++r) {
        rows->compliance[r] *= fmax(share / RG_RIGID_COMPLIANCE_RATIO, 1);
    }
}

// Rows of a rigid equality at the positions of the workspace, with the violation as their gap.
// Returns the largest of it; 0: nothing to close, negative: out of memory.
static double rgProjection_AddLoop(rgWorld* world, int equality) {
    rgRows* rows = &world->projection->rows;
    const rgEqualityDef* def = &world->model->equalities[equality];
    double violation = 0;
    int first =
        def->disabled || def->stiffness != 0 ? -2 : rgAddEqualityRows(world, rows, equality);
    if (first < 0) {
        return first == -1 ? -1 : 0;
    }
    for (int r = first; r < rows->rowCount; ++r) {
        violation = fmax(violation, fabs(rows->gap[r]));
    }
    rgRows_Regularize(rows, &world->kinematics, first);
    return violation;
}

static void rgProjection_StartLoops(rgProjection* projection, const rgKinematics* kinematics,
                                    rgTransmission* transmission) {
    projection->closesOpen = false;
    rgRows_Clear(&projection->rows);
    rgTransmission_PlaceTendons(transmission, kinematics);
}

// Rows of the loops of a step, damped. Open couplings, and open loops that are near, close as far
// as the push-out speed takes them; loops that are far are left to their springs. Returns the
// largest violation; negative: out of memory.
static double rgProjection_AddLoops(rgWorld* world) {
    rgProjection* p = world->projection;
    rgRows* rows = &p->rows;
    double largest = 0, most = world->def.pushOutSpeed * world->settings.dt;
    rgProjection_StartLoops(world->projection, &world->kinematics, &world->transmission);
    for (int e = 0; e < world->model->info.equalityCount; ++e) {
        int first = rows->rowCount;
        double violation = rgProjection_AddLoop(world, e);
        if (violation < 0) {
            return -1;
        }
        bool open = world->constraints.isOpen[e],
             far =
                 rgEqualityIsLoop(&world->model->equalities[e]) && violation > RG_OPEN_STEPS * most,
             left = p->leavesOpen || far;
        if (open && left && rows->rowCount > first) {
            rgRows_DropLast(rows);
            continue;
        }
        rgProjection_Damp(rows, first, violation);
        for (int r = first; open && r < rows->rowCount; ++r) {
            rows->gap[r] = fmin(fmax(rows->gap[r], -most), most);
        }
        largest = fmax(largest, violation);
        p->closesOpen = p->closesOpen || open;
    }
    p->loopRowCount = rows->rowCount;
    return largest;
}

// W of the loops, by the factor of M at the middle of the step.
static rgResult rgProjection_WhitenLoops(rgProjection* p, const rgKinematics* kinematics,
                                         const rgAllocator* allocator) {
    const rgRows* rows = &p->rows;
    rgResult result = rgReserve(allocator, (void**)&p->whitened, &p->whitenedCapacity, 0,
                                rows->entryCount, sizeof(double));
    if (result == rg_ok && p->loopRowCount > 0) {
        rgSparse J = {p->loopRowCount, kinematics->dynamics->model->vCount, rows->rowStart,
                      rows->column, rows->value};
        rgDynamics_Whiten(kinematics->dynamics, &J, p->whitened);
    }
    return result;
}

// Velocities that the rows touch, numbered as they are met; their count.
static int rgProjection_NumberColumns(rgProjection* p, int vCount) {
    const rgRows* rows = &p->rows;
    int count = 0;
    memset(p->column, -1, (size_t)vCount * sizeof(int));
    for (int b = 0; b < rows->blockCount; ++b) { // rows of a block have the same columns
        int first = rows->blocks[b].firstRow;
        for (int k = rows->rowStart[first]; k < rows->rowStart[first + 1]; ++k) {
            int* place = &p->column[rows->column[k]];
            *place = *place < 0 ? count++ : *place;
        }
    }
    return count;
}

// Dense Cholesky factor of G + R of the loops. *good: it exists.
static rgResult rgProjection_FactorLoops(rgWorld* world, bool* good) {
    rgProjection* p = world->projection;
    const rgRows* rows = &p->rows;
    int n = p->loopRowCount, stride = rgLeadingDimension(n);
    int m = rgProjection_NumberColumns(p, world->model->vCount);
    rgResult result = rgReserve(&world->heap.allocator, (void**)&p->dense, &p->denseCapacity, 0,
                                stride * (n + m), sizeof(double));
    if (result != rg_ok) {
        return result;
    }
    memset(p->dense, 0, (size_t)(stride * (n + m)) * sizeof(double));
    double* columns = p->dense + stride * n; // of W
    for (int r = 0; r < n; ++r) {
        for (int k = rows->rowStart[r]; k < rows->rowStart[r + 1]; ++k) {
            columns[p->column[rows->column[k]] * stride + r] = p->whitened[k];
        }
    }
    world->constraints.kernels->addSelfProduct(n, m, columns, stride, p->dense, stride);
    for (int r = 0; r < n; ++r) {
        p->dense[(size_t)r * (size_t)(stride + 1)] += rows->compliance[r];
    }
    *good = world->constraints.kernels->cholesky(n, p->dense, stride);
    return rg_ok;
}

// ---- half lines and loops together

// Product of a row of W with y.
static double rgProjection_Dot(const rgProjection* p, int row, const double* y) {
    double sum = 0;
    for (int k = p->rows.rowStart[row]; k < p->rows.rowStart[row + 1]; ++k) {
        sum += p->whitened[k] * y[p->rows.column[k]];
    }
    return sum;
}

// Add a row of W times an impulse to y.
static void rgProjection_AddRow(const rgProjection* p, int row, double impulse, double* y) {
    if (impulse == 0) {
        return;
    }
    for (int k = p->rows.rowStart[row]; k < p->rows.rowStart[row + 1]; ++k) {
        y[p->rows.column[k]] += p->whitened[k] * impulse;
    }
}

// y = W' lambda
static void rgProjection_Gather(const rgProjection* p, int vCount, double* y) {
    memset(y, 0, (size_t)vCount * sizeof(double));
    for (int r = 0; r < p->rows.rowCount; ++r) {
        rgProjection_AddRow(p, r, p->rows.lambda[r], y);
    }
}

// Gauss-Seidel update of all loops as one block. Returns the largest violation before it.
static double rgProjection_UpdateLoops(rgProjection* p, const rgConstraintSet* constraints,
                                       double* y) {
    rgRows* rows = &p->rows;
    int n = p->loopRowCount;
    double largest = 0, *change = p->diagonal;
    for (int r = 0; r < n; ++r) {
        change[r] =
            -(rows->gap[r] + rows->compliance[r] * rows->lambda[r] + rgProjection_Dot(p, r, y));
        largest = fmax(largest, fabs(change[r]));
    }
    constraints->kernels->choleskySolve(n, p->dense, rgLeadingDimension(n), change);
    for (int r = 0; r < n; ++r) {
        rows->lambda[r] += change[r];
        rgProjection_AddRow(p, r, change[r], y);
    }
    return largest;
}

// Gauss-Seidel update of a half line. Returns the change of its gap [m].
static double rgProjection_UpdateHalfLine(rgProjection* p, int row, double* y) {
    rgRows* rows = &p->rows;
    double gap =
        rows->gap[row] + rows->compliance[row] * rows->lambda[row] + rgProjection_Dot(p, row, y);
    double mass = p->diagonal[row] + rows->compliance[row];
    double next = fmax(rows->lambda[row] - gap / mass, 0), change = next - rows->lambda[row];
    rgProjection_AddRow(p, row, change, y);
    rows->lambda[row] = next;
    return fabs(change) * mass;
}

// Gauss-Seidel passes over the loops and each half line. True: the last one changed gaps by at most
// `least`.
static bool rgProjection_Sweep(rgProjection* p, const rgConstraintSet* constraints,
                               const rgModel* model, double least) {
    int first = p->loopRowCount, end = p->rows.rowCount;
    double change = INFINITY;
    rgProjection_Gather(p, model->vCount, p->work);
    for (int r = first; r < end; ++r) {
        const double* W = p->whitened + p->rows.rowStart[r];
        p->diagonal[r] = rgSquareOf(rgRows_Columns(&p->rows, r), W);
    }
    for (int k = 0; k < RG_PROJECT_PASSES && change > least; ++k) {
        change = first > 0 ? rgProjection_UpdateLoops(p, constraints, p->work) : 0;
        if (first == end) {
            return true; // loops alone: one exact block
        }
        for (int i = first; i < end; ++i) {
            int row = k % 2 == 0 ? i : first + end - 1 - i;
            change = fmax(change, rgProjection_UpdateHalfLine(p, row, p->work));
        }
    }
    return change <= least;
}

static double rgProjection_Depth(const rgProjection* p) {
    double depth = 0;
    for (int r = 0; r < p->rows.rowCount; ++r) {
        double gap = p->rows.gap[r];
        depth = fmax(depth, r < p->loopRowCount ? fabs(gap) : -gap);
    }
    return depth;
}

// Impulses with 0 <= lambda and 0 <= gap + (G + R) lambda complementary at half lines.
static rgResult rgProjection_SolveAll(rgWorld* world, rgStepReport* report) {
    rgProjection* p = world->projection;
    rgRows* rows = &p->rows;
    int n = rows->rowCount, nv = world->model->vCount;
    double depth = rgProjection_Depth(p), least = rgProjection_Tolerance(&world->def) * depth;
    if (n == 0 || depth == 0) {
        memset(rows->lambda, 0, (size_t)n * sizeof(double));
        return rg_ok;
    }
    rgResult result = rgReserve(&world->heap.allocator, (void**)&p->diagonal, &p->diagonalCapacity,
                                0, n, sizeof(double));
    bool sweeps = p->loopRowCount <= RG_LOOP_DENSE_ROWS;
    if (result == rg_ok && sweeps && p->loopRowCount > 0) {
        result = rgProjection_FactorLoops(world, &sweeps);
    }
    if (result != rg_ok || (sweeps && rgProjection_Sweep(world->projection, &world->constraints,
                                                         world->model, least))) {
        return result;
    }
    rgContactProblem problem = {
        .rowCount = n,
        .blockCount = rows->blockCount,
        .blocks = rows->blocks,
        .delassus = {.kind = rg_delassusVelocity,
                     .mass = {nv, nv, world->constraints.massStart, world->constraints.massColumn,
                              NULL},
                     .jacobian = {n, nv, rows->rowStart, rows->column, rows->value},
                     .whitened = p->whitened,
                     .tree = world->constraints.treeOfDof},
        .freeVelocity = rows->gap,
        .compliance = rows->compliance,
        .referenceVelocity = depth,
    };
    rgContactReport own;
    result = rgContactSolver_SolveBuilt(p->solver, &problem, rows->lambda, NULL, 0, &own);
    if (result == rg_ok) {
        report->projectionFactorizations += own.factorizationCount;
        report->projectionResidual = fmax(report->projectionResidual, own.residual.total);
    }
    return result;
}

// x = L^-T W' lambda
static void rgProjection_FindMotion(rgProjection* p, const rgKinematics* kinematics) {
    rgProjection_Gather(p, kinematics->dynamics->model->vCount, p->x);
    rgDynamics_Unwhiten(kinematics->dynamics, p->x);
}

// True if the motion of the loops takes more than their room from half lines.
static bool rgProjection_Deepens(const rgProjection* p, const rgConstraintSet* constraints) {
    for (int i = 0; i < p->halfLineCount; ++i) {
        const rgHalfLine* line = &p->halfLines[i];
        if (line->room + rgRows_Dot(&constraints->rows, line->row, p->x) < -RG_SLOP) {
            return true;
        }
    }
    return false;
}

// True if the motion takes more than its gap from an inactive contact.
static bool rgProjection_HitsInactive(rgWorld* world) {
    rgProjection* p = world->projection;
    if (world->contacts.inactiveCount == 0) {
        return false;
    }
    for (int v = 0; v < world->model->vCount; ++v) {
        p->work[v] = world->next.v[v] + p->x[v] / world->settings.dt;
    }
    rgKinematics_SetLinkVelocities(&world->kinematics, p->work);
    for (int i = 0; i < world->contacts.inactiveCount; ++i) {
        if (rgContactSet_StraightGap(&world->contacts, &world->kinematics, &world->settings,
                                     &world->contacts.inactive[i]) < -RG_SLOP) {
            return true;
        }
    }
    return false;
}

// Second-order error of a Gauss-Newton step between frames: the squares of the angles times the
// lever arms.
static double rgProjection_Curvature(const rgProjection* projection,
                                     const rgKinematics* kinematics) {
    double sum = 0;
    for (int v = 0; v < kinematics->dynamics->model->vCount; ++v) {
        sum += kinematics->leverArm[v] * projection->x[v] * projection->x[v];
    }
    return sum;
}

// Violation that damping leaves.
static double rgProjection_Remainder(const rgProjection* p) {
    double most = 0;
    for (int r = 0; r < p->loopRowCount; ++r) {
        most = fmax(most, fabs(p->rows.compliance[r] * p->rows.lambda[r]));
    }
    return most;
}

// True if only frames are joined, whose violation after a step is its curvature.
static bool rgJoinsFrames(const rgModel* model) {
    for (int e = 0; e < model->info.equalityCount; ++e) {
        const rgEqualityDef* def = &model->equalities[e];
        if (!def->disabled && def->stiffness == 0 && !rgEqualityIsLoop(def)) {
            return false;
        }
    }
    return true;
}

// Energy that the motion takes against gravity [J].
static double rgProjection_Work(rgProjection* p, const rgKinematics* kinematics) {
    double sum = 0;
    rgDynamics_GravityTorque(kinematics->dynamics, p->work);
    for (int v = 0; v < kinematics->dynamics->model->vCount; ++v) {
        sum += p->work[v] * p->x[v];
    }
    return sum;
}

// q+ moves by x; half lines lose as much of their room.
static void rgProjection_Move(rgWorld* world) {
    rgProjection* p = world->projection;
    for (int i = 0; i < p->halfLineCount; ++i) {
        p->halfLines[i].room += rgRows_Dot(&world->constraints.rows, p->halfLines[i].row, p->x);
    }
    rgKinematics_Integrate(&world->kinematics, world->next.q, p->x, 1, world->next.q);
    for (int v = 0; v < world->model->vCount; ++v) {
        p->moved[v] += p->x[v];
    }
}

// One iteration: rows, impulses, motion. *deep: half lines take part; set where loops would go
// through them.
static rgResult rgProjection_Iterate(rgWorld* world, rgStepReport* report, bool* deep) {
    rgResult result =
        rgProjection_WhitenLoops(world->projection, &world->kinematics, &world->heap.allocator);
    if (result == rg_ok && !*deep) {
        result = rgProjection_SolveAll(world, report);
        if (result != rg_ok) {
            return result;
        }
        rgProjection_FindMotion(world->projection, &world->kinematics);
        if (!rgProjection_Deepens(world->projection, &world->constraints)) {
            return rg_ok;
        }
        rgProjection_MarkIslands(world->projection, &world->constraints, world->model);
        *deep = true;
    }
    if (result == rg_ok) {
        result = rgProjection_AddHalfLines(world);
    }
    if (result == rg_ok) {
        result = rgProjection_SolveAll(world, report);
    }
    if (result == rg_ok) {
        rgProjection_FindMotion(world->projection, &world->kinematics);
    }
    return result;
}

// Impulses of half lines, for the next step to start from.
static void rgProjection_Keep(const rgProjection* p, rgConstraintSet* constraints,
                              rgWarmStart* warmStart) {
    for (int r = p->loopRowCount; r < p->rows.rowCount; ++r) {
        rgHalfLine* line = &p->halfLines[p->rows.sources[r].index];
        line->impulse = p->rows.lambda[r];
        rgWarmStart_StoreProjectionImpulse(warmStart, constraints, line->row, line->impulse);
    }
}

// True if the next iteration would find nothing to do: only frames are joined, whole violations
// were undone, and their remainder is below the tolerance.
static bool rgProjection_IsDone(const rgWorld* world, double violation) {
    bool whole = violation <= world->def.pushOutSpeed * world->settings.dt;
    return whole && rgJoinsFrames(world->model) &&
           rgProjection_Curvature(world->projection, &world->kinematics) +
                   rgProjection_Remainder(world->projection) <
               RG_LOOP_TOLERANCE;
}

// Iterate from q+. deep: some half lines end in penetration.
static rgResult rgProjection_Run(rgStep* step, bool deep) {
    rgWorld* world = step->world;
    rgProjection* p = world->projection;
    bool loops = world->constraints.rigidEqualityCount > 0, started = deep;
    for (int i = 0; i < RG_LOOP_ITERATIONS; ++i) {
        double violation = 0;
        rgRows_Clear(&p->rows);
        if (loops) {
            rgDynamics_SetPositions(world->kinematics.dynamics, world->next.q);
            violation = rgProjection_AddLoops(world);
        }
        if (violation < 0) {
            return rg_errorMemory;
        }
        if (violation < RG_LOOP_TOLERANCE && !started) {
            return rg_ok;
        }
        rgResult result = rgProjection_Iterate(world, step->report, &deep);
        if (result != rg_ok) {
            return result;
        }
        started = false;
        if (p->closesOpen && rgProjection_HitsInactive(world)) {
            p->leavesOpen = true; // again, with open loops left to their springs
            started = deep;
            continue;
        }
        step->report->projectedRows = RG_MAX(step->report->projectedRows, p->rows.rowCount);
        if (step->timed) {
            step->report->projectionWork +=
                rgProjection_Work(world->projection, &world->kinematics);
        }
        rgProjection_Move(world);
        p->leavesOpen = true; // one step at the push-out speed
        if (!step->isInverse) {
            rgProjection_Keep(world->projection, &world->constraints, &world->warmStart);
        }
        if (rgProjection_IsDone(world, violation)) {
            return rg_ok;
        }
    }
    return rg_ok;
}

rgResult rgProjectPosition(rgStep* step) {
    rgWorld* world = step->world;
    rgProjection* p = world->projection;
    bool loops = world->constraints.rigidEqualityCount > 0, deep = false;
    memset(p->moved, 0, (size_t)world->model->vCount * sizeof(double));
    p->loopRowCount = 0;
    p->leavesOpen = false;
    rgRows_Clear(&p->rows);
    rgResult result = rgProjection_ListHalfLines(world, &deep);
    if (result != rg_ok || (!loops && !deep)) {
        return result;
    }
    if (deep) {
        rgProjection_MarkIslands(world->projection, &world->constraints, world->model);
    }
    if (loops) {
        rgKinematics_PlaceNext(&world->kinematics, world->kinematics.dynamics);
    }
    return rgProjection_Run(step, deep);
}

// ---- rgWorld_Project

// Rigid loops at q; their largest violation, negative when out of memory.
static double rgWorld_LoopErrorAt(rgWorld* world, const double* q) {
    rgProjection* p = world->projection;
    double largest = 0;
    rgDynamics_SetPositions(world->kinematics.dynamics, q);
    rgProjection_StartLoops(world->projection, &world->kinematics, &world->transmission);
    for (int e = 0; e < world->model->info.equalityCount && largest >= 0; ++e) {
        double violation = rgProjection_AddLoop(world, e);
        largest = violation < 0 ? -1 : fmax(largest, violation);
    }
    p->loopRowCount = p->rows.rowCount;
    return largest;
}

// One Gauss-Newton step of the loops from q, as much of it as makes the violation smaller; q
// stays where none does.
static rgResult rgWorld_LoopNewtonStep(rgWorld* world, double* q, double* next, double* error) {
    rgProjection* p = world->projection;
    *error = rgWorld_LoopErrorAt(world, q);
    if (*error < RG_LOOP_TOLERANCE) {
        return *error < 0 ? rg_errorMemory : rg_ok;
    }
    rgStepReport report = {0};
    rgResult result =
        rgProjection_WhitenLoops(world->projection, &world->kinematics, &world->heap.allocator);
    if (result == rg_ok) {
        result = rgProjection_SolveAll(world, &report);
    }
    if (result != rg_ok) {
        return result;
    }
    rgProjection_FindMotion(world->projection, &world->kinematics);
    for (double share = 1; share > RG_SEARCH_LEAST_STEP; share *= 0.5) {
        rgKinematics_Integrate(&world->kinematics, q, p->x, share, next);
        double reached = rgWorld_LoopErrorAt(world, next);
        if (reached < 0) {
            return rg_errorMemory;
        }
        if (reached < *error) {
            *error = reached;
            memcpy(q, next, (size_t)world->model->qCount * sizeof(double));
            return rg_ok;
        }
    }
    return rg_errorNumeric;
}

rgResult rgWorld_Project(rgWorld* world) {
    if (world == NULL) {
        return rg_errorArgument;
    }
    size_t qCount = (size_t)world->model->qCount;
    double* q = rgAllocate(&world->heap.allocator, 2 * qCount + 1, sizeof(double));
    rgResult result = q != NULL ? rg_ok : rg_errorMemory;
    double error = INFINITY;
    for (int i = 0; result == rg_ok && error >= RG_LOOP_TOLERANCE && i < RG_SEARCH_ITERATIONS;
         ++i) {
        result = rgWorld_Forward(world, NULL);
        if (result != rg_ok) {
            break;
        }
        memcpy(q, world->state.q, qCount * sizeof(double));
        result = rgWorld_LoopNewtonStep(world, q, q + qCount, &error);
        if (result == rg_ok) {
            result = rgWorld_SetState(world, q, world->state.v);
        }
    }
    rgRelease(&world->heap.allocator, q);
    return result != rg_ok ? result : error < RG_LOOP_TOLERANCE ? rg_ok : rg_errorNumeric;
}
