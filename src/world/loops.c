// Rigid loops and couplings are put back on their constraint after the position update: at most
// three Newton steps in the metric of the mass matrix. docs/theory/constraints.md (11).
#include "math/triple.h"
#include "world/world.h"

#include <string.h>

#define RG_LOOP_STEPS     3
#define RG_LOOP_TOLERANCE 1e-10 // [m] or [rad]
#define RG_LOOP_STOPS     4     // rounds in which joints are found that would pass their limits
#define RG_LOOP_BEYOND    1e-6  // [m] or [rad] that they may, which is left to the next step
#define RG_LOOP_DENSE     128   // rows up to which G is factorized here
#define RG_LOOP_ROUNDS    60    // of rgWorld_Project, each with a factor of its own

static bool rgTakesPart(const rgWorld* world, int equality) {
    const rgEqualityDef* def = &world->model->equalities[equality];
    if (def->disabled || def->stiffness != 0) {
        return false;
    }
    const rgLoopGroup* group = rgWorld_LoopGroup(world, equality);
    return group != NULL && group->active && !world->leftOut[equality];
}

// How far an equality is from closed at the kinematics of the workspace; negative where it has no
// rows. Couplings are rows already. NAN: out of memory.
static double rgWorld_EqualityMiss(rgWorld* world, int equality) {
    if (rgEqualityIsLoop(&world->model->equalities[equality])) {
        return rgWorld_LoopMiss(world, equality);
    }
    int row = rgAddEqualityRows(world, equality);
    return row >= 0 ? fabs(world->rows.gap[row]) : row == -1 ? NAN : -1;
}

// The largest violation of the rigid equalities that take part, at the kinematics of the workspace;
// negative when out of memory. There are no rows then.
static double rgWorld_LoopError(rgWorld* world) {
    const rgModel* model = world->model;
    double largest = 0;
    rgWorld_PlaceTendons(world);
    for (int t = 0; t < model->treeCount; ++t) {
        world->loopGroups[t].reached = 0;
    }
    for (int e = 0; e < model->info.equalityCount; ++e) {
        rgRows_Clear(&world->rows);
        double miss = rgTakesPart(world, e) ? rgWorld_EqualityMiss(world, e) : -1;
        if (isnan(miss)) {
            return -1;
        }
        if (miss >= 0) {
            rgLoopGroup* group = rgWorld_LoopGroup(world, e);
            world->missed[e] = miss;
            group->reached = fmax(group->reached, miss);
            largest = fmax(largest, miss);
        }
    }
    rgRows_Clear(&world->rows);
    return largest;
}

// Their rows. regularize: without what nothing can move; else they get no compliance yet.
static rgResult rgWorld_AddLoops(rgWorld* world, bool regularize) {
    rgRows_Clear(&world->rows);
    for (int e = 0; e < world->model->info.equalityCount; ++e) {
        int first = rgTakesPart(world, e) ? rgAddEqualityRows(world, e) : -2;
        if (first == -1) {
            return rg_errorMemory;
        }
        if (first >= 0 && regularize) {
            rgRows_Regularize(world, first);
        }
    }
    return rg_ok;
}

// (10) for rows that have no compliance yet. False: nothing can move some of them.
static bool rgWorld_ComplyAll(rgWorld* world) {
    const rgRows* rows = &world->rows;
    size_t stride = (size_t)rgLeadingDimension(rows->rowCount) + 1;
    bool good = true;
    for (int b = 0; b < rows->blockCount && good; ++b) {
        int first = rows->blocks[b].firstRow;
        good = rows->compliance[first] != 0 ||
               rgRows_Comply(world, b, world->loopG + (size_t)first * stride, (int)stride);
    }
    return good;
}

// Velocities that the rows touch, numbered as they are met; their count.
static int rgWorld_NumberColumns(rgWorld* world) {
    const rgRows* rows = &world->rows;
    int count = 0;
    memset(world->loopColumn, -1, (size_t)world->model->vCount * sizeof(int));
    for (int b = 0; b < rows->blockCount; ++b) { // rows of a block have the same columns
        int first = rows->blocks[b].firstRow;
        for (int k = rows->rowStart[first]; k < rows->rowStart[first + 1]; ++k) {
            int* place = &world->loopColumn[rows->column[k]];
            *place = *place < 0 ? count++ : *place;
        }
    }
    return count;
}

// W of the rows, and the lower triangle of G.
static rgResult rgWorld_FillLoopG(rgWorld* world) {
    const rgRows* rows = &world->rows;
    int n = rows->rowCount, m = rgWorld_NumberColumns(world), lead = rgLeadingDimension(n);
    rgSparse J = {n, world->model->vCount, rows->rowStart, rows->column, rows->value};
    rgResult result = rgReserve(&world->allocator, (void**)&world->loopG, &world->loopCapacity, 0,
                                lead * (n + m), sizeof(double));
    if (result == rg_ok) {
        result = rgReserve(&world->allocator, (void**)&world->loopWork, &world->loopWorkCapacity, 0,
                           rows->entryCount, sizeof(double));
    }
    if (result != rg_ok) {
        return result;
    }
    rgDynamics_Whiten(world->dynamics, &J, world->loopWork);
    memset(world->loopG, 0, (size_t)(lead * (n + m)) * sizeof(double));
    double* columns = world->loopG + lead * n; // of W
    for (int r = 0; r < n; ++r) {
        for (int k = rows->rowStart[r]; k < rows->rowStart[r + 1]; ++k) {
            columns[world->loopColumn[rows->column[k]] * lead + r] = world->loopWork[k];
        }
    }
    world->kernels->addSelfProduct(n, m, columns, lead, world->loopG, lead);
    return rg_ok;
}

// x = L^-T W' lambda
static void rgWorld_MoveByLoops(rgWorld* world, double* x) {
    const rgRows* rows = &world->rows;
    for (int b = 0; b < rows->blockCount; ++b) {
        int r = rows->blocks[b].firstRow, end = r + rows->blocks[b].rowCount;
        int count = rgRows_Columns(rows, r);
        for (; r + 3 <= end; r += 3) { // rows of a block have the same columns
            int begin = rows->rowStart[r];
            rgPushTriple(count, rows->column + begin, world->loopWork + begin, rows->lambda + r, x);
        }
        for (; r < end; ++r) {
            for (int k = rows->rowStart[r]; k < rows->rowStart[r + 1]; ++k) {
                x[rows->column[k]] += world->loopWork[k] * rows->lambda[r];
            }
        }
    }
    rgDynamics_Unwhiten(world->dynamics, x);
}

static rgResult rgWorld_SolveDense(rgWorld* world, double* x) {
    rgRows* rows = &world->rows;
    rgResult result = rgWorld_FillLoopG(world);
    if (result == rg_ok && !rgWorld_ComplyAll(world)) {
        result = rgWorld_AddLoops(world, true);
        result = result == rg_ok ? rgWorld_FillLoopG(world) : result;
    }
    if (result != rg_ok) {
        return result;
    }
    int n = rows->rowCount, lead = rgLeadingDimension(n);
    for (int r = 0; r < n; ++r) {
        world->loopG[(size_t)r * (size_t)(lead + 1)] += rows->compliance[r];
        rows->lambda[r] = -rows->gap[r];
    }
    if (world->kernels->cholesky(n, world->loopG, lead)) {
        world->kernels->choleskySolve(n, world->loopG, lead, rows->lambda);
        rgWorld_MoveByLoops(world, x);
    } else { // leaves the loop to the velocities
        memset(rows->lambda, 0, (size_t)n * sizeof(double));
    }
    return rg_ok;
}

static rgResult rgWorld_SolveSparse(rgWorld* world, double* x) {
    rgRows* rows = &world->rows;
    int n = rows->rowCount, nv = world->model->vCount;
    rgContactProblem problem = {
        .rowCount = n,
        .blockCount = rows->blockCount,
        .blocks = rows->blocks,
        .delassus = {.kind = rg_delassusVelocity, // M^, as in the factor that moves q
                     .mass = {nv, nv, world->massStart, world->massColumn, world->massValue},
                     .jacobian = {n, nv, rows->rowStart, rows->column, rows->value}},
        .freeVelocity = rows->gap,
        .compliance = rows->compliance,
    };
    rgResult result = rgContactSolver_Solve(world->solver, &problem, rows->lambda, NULL, NULL);
    for (int r = 0; r < n && result == rg_ok; ++r) {
        for (int k = rows->rowStart[r]; k < rows->rowStart[r + 1]; ++k) {
            x[rows->column[k]] += rows->value[k] * rows->lambda[r];
        }
    }
    rgDynamics_Solve(world->dynamics, 1, x);
    return result;
}

// x = M^-1 J' lambda with J M^-1 J' lambda = -phi, in world->column.
static rgResult rgWorld_SolveLoops(rgWorld* world) {
    memset(world->column, 0, (size_t)world->model->vCount * sizeof(double));
    return world->rows.rowCount <= RG_LOOP_DENSE ? rgWorld_SolveDense(world, world->column)
                                                 : rgWorld_SolveSparse(world, world->column);
}

// A row that stops a joint at its limit, or where it is beyond it.
static rgResult rgWorld_StopJoint(rgWorld* world, int joint, double way) {
    int v = world->model->jointRanges[joint].v;
    double one = 1;
    int row = rgRows_AddRow(world, (rgBlock){.kind = rg_blockFree}, 1, &v, &one);
    if (row < 0) {
        return rg_errorMemory;
    }
    world->rows.gap[row] = -way;
    world->rows.sources[row] =
        (rgRowSource){.kind = rg_constraintLimit, .index = joint, .slot = -1};
    rgRows_Regularize(world, row);
    return rg_ok;
}

// Joints that x moves beyond their limits get rows; their count, negative when out of memory.
static int rgWorld_StopAtLimits(rgWorld* world, const double* q) {
    const rgModel* model = world->model;
    int count = 0;
    for (int j = 0; j < model->info.jointCount && !world->def.ignoreLimits; ++j) {
        const rgJointDef* def = &model->joints[j];
        const rgJointRange* range = &model->jointRanges[j];
        if (!def->hasLimits || range->vCount != 1 || world->column[range->v] == 0) {
            continue;
        }
        double x = world->column[range->v],
               way = x > 0 ? def->upper - q[range->q] : def->lower - q[range->q];
        if (fabs(x) <= RG_LOOP_BEYOND || x * (x - way) <= 0 || fabs(x - way) <= RG_LOOP_BEYOND) {
            continue; // to it or back to it, or hardly beyond
        }
        if (rgWorld_StopJoint(world, j, x * way > 0 ? way : 0) != rg_ok) {
            return -1;
        }
        ++count;
    }
    return count;
}

// Contacts that carry and that x would push into each other get rows; their count, negative when
// out of memory.
static int rgWorld_StopAtContacts(rgWorld* world) {
    const rgRows* held = &world->heldRows;
    int count = 0;
    for (int i = 0; i < world->pointCount; ++i) {
        int normal = world->points[i].firstRow + 2;
        bool touches = held->lambda[normal] > 0 || world->points[i].gap <= RG_LOOP_BEYOND;
        if (!touches || rgRows_Dot(held, normal, world->column) > -RG_LOOP_BEYOND) {
            continue;
        }
        int start = held->rowStart[normal];
        int row =
            rgRows_AddRow(world, (rgBlock){.kind = rg_blockFree}, rgRows_Columns(held, normal),
                          held->column + start, held->value + start);
        if (row < 0) {
            return -1;
        }
        rgRows_Regularize(world, row);
        ++count;
    }
    return count;
}

// A motion that is large for the errors that it is to undo leads elsewhere: its group stays.
static void rgWorld_StopWildGroups(rgWorld* world) {
    const rgModel* model = world->model;
    const rgRows* rows = &world->rows;
    rgWorld_FillLengths(world);
    for (int t = 0; t < model->treeCount; ++t) {
        world->loopGroups[t].energy = world->loopGroups[t].size = 0;
    }
    for (int r = 0; r < rows->rowCount; ++r) {
        int tree = world->treeOfDof[rows->column[rows->rowStart[r]]];
        rgLoopGroup* group = &world->loopGroups[world->loopGroup[tree]];
        group->energy -=
            0.5 * rows->lambda[r] * (rows->gap[r] + rows->compliance[r] * rows->lambda[r]);
        group->size = fmax(group->size, fabs(rows->gap[r]) * rows->length[r]);
    }
    for (int t = 0; t < model->treeCount; ++t) {
        const rgLoopGroup* group = &world->loopGroups[world->loopGroup[t]];
        double mass = group->active ? rgWorld_GroupMass(world, world->loopGroup[t]) : 0;
        if (mass > 0 && rgIsAmplified(group->energy, mass, group->size)) {
            memset(world->column + model->trees[t].firstDof, 0,
                   (size_t)model->trees[t].dofCount * sizeof(double));
        }
    }
}

static void rgWorld_StopTree(rgWorld* world, int link) {
    const rgModel* model = world->model;
    int tree = link < model->linkCount ? model->links[link].tree : -1;
    if (tree < 0 || !world->loopGroups[world->loopGroup[tree]].tries) {
        return;
    }
    for (int t = 0; t < model->treeCount; ++t) {
        if (world->loopGroup[t] == world->loopGroup[tree]) {
            memset(world->column + model->trees[t].firstDof, 0,
                   (size_t)model->trees[t].dofCount * sizeof(double));
        }
    }
}

// Groups with loops that yield stay where closing them would lead into what is near.
static void rgWorld_StopBeforeOthers(rgWorld* world) {
    const rgModel* model = world->model;
    double* way = world->readout->row;
    for (int v = 0; v < model->vCount && world->waitingCount > 0; ++v) {
        way[v] = world->column[v] + 0.5 * world->dt * world->nextV[v];
    }
    if (world->waitingCount > 0) {
        rgWorld_RateLinks(world, way);
        for (int k = 0; k < model->kinematicCount; ++k) {
            world->linkVelocities[model->linkCount + k] = (rgSpatial){0};
        }
    }
    for (int i = 0; i < world->waitingCount; ++i) {
        const rgPoint* point = &world->waiting[i];
        if (point->gap + rgDot(point->normal, rgWorld_PointRate(world, point)) < -RG_LOOP_BEYOND) {
            rgWorld_StopTree(world, world->colliders[point->colliderA].link);
            rgWorld_StopTree(world, world->colliders[point->colliderB].link);
        }
    }
}

// What a step of Newton leaves of frames that it joins is of second order: the squares of the
// angles, times the reach of what turns.
static double rgWorld_LoopBend(const rgWorld* world) {
    double sum = 0;
    for (int v = 0; v < world->model->vCount; ++v) {
        sum += world->reach[v] * world->column[v] * world->column[v];
    }
    return sum;
}

// Frames alone, and none that yields.
static bool rgWorld_LoopsAreSmooth(const rgWorld* world) {
    bool smooth = world->rows.rowCount <= RG_LOOP_DENSE;
    for (int e = 0; e < world->model->info.equalityCount && smooth; ++e) {
        smooth = !rgTakesPart(world, e) || (rgEqualityIsLoop(&world->model->equalities[e]) &&
                                            !rgWorld_LoopGroup(world, e)->tries);
    }
    return smooth;
}

// q moves by x, but no joint beyond its limit and no contact deeper. sure: the loops are closed
// then, for nothing kept x from being all of the step.
static rgResult rgWorld_LoopStep(rgWorld* world, double* q, bool* sure) {
    rgResult result = rgWorld_SolveLoops(world);
    double bend = rgWorld_LoopBend(world);
    *sure = bend > 0 && bend < RG_LOOP_TOLERANCE && rgWorld_LoopsAreSmooth(world);
    for (int i = 0; i < RG_LOOP_STOPS && result == rg_ok; ++i) {
        int limits = rgWorld_StopAtLimits(world, q);
        int contacts = limits >= 0 ? rgWorld_StopAtContacts(world) : 0;
        if (limits < 0 || contacts < 0 || limits + contacts == 0) {
            result = limits < 0 || contacts < 0 ? rg_errorMemory : rg_ok;
            break;
        }
        result = rgWorld_SolveLoops(world);
        *sure = false;
    }
    if (result == rg_ok) {
        rgWorld_StopWildGroups(world);
        rgWorld_StopBeforeOthers(world);
        *sure = *sure && rgWorld_LoopBend(world) == bend;
        rgWorld_Move(world, q, world->column, 1, q);
    }
    return result;
}

static void rgWorld_CopyTree(const rgWorld* world, int tree, const double* from, double* to) {
    const rgModel* model = world->model;
    int next = model->trees[tree].firstLink + model->trees[tree].linkCount;
    int first = model->links[model->trees[tree].firstLink].q;
    int end = next < model->linkCount ? model->links[next].q : model->qCount;
    memcpy(to + first, from + first, (size_t)(end - first) * sizeof(double));
}

// Groups that came nearer go on; a locked one, which the step made worse, goes back. True: some go
// on.
static bool rgWorld_AcceptGroups(rgWorld* world, double* q, bool last) {
    const rgModel* model = world->model;
    bool any = false;
    for (int e = 0; e < model->info.equalityCount; ++e) {
        const rgLoopGroup* group = rgTakesPart(world, e) ? rgWorld_LoopGroup(world, e) : NULL;
        if (group != NULL && group->reached < group->error) {
            world->miss[e] = world->missed[e];
        }
    }
    for (int t = 0; t < model->treeCount; ++t) {
        const rgLoopGroup* group = &world->loopGroups[world->loopGroup[t]];
        if (group->active && !(group->reached < group->error)) {
            rgWorld_CopyTree(world, t, world->loopQ, q);
        }
    }
    // What yields comes back by its own forces first, so that it goes through nothing.
    double near = world->def.pushOutSpeed * (world->dt + world->timeConstant);
    for (int t = 0; t < model->treeCount; ++t) {
        rgLoopGroup* group = &world->loopGroups[t];
        if (group->tries && group->reached > near) {
            group->active = false;
        }
        bool nearer = group->reached < group->error;
        group->error = group->active && nearer ? group->reached : group->error;
        group->active = group->active && nearer && !(group->reached < RG_LOOP_TOLERANCE) && !last;
        any = any || group->active;
    }
    return any;
}

// The factor of the step weighs the motion well enough; the axes are new.
static rgResult rgWorld_PrepareLoops(rgWorld* world) {
    rgResult result = rgWorld_AddLoops(world, false);
    return result == rg_ok && world->rows.rowCount > RG_LOOP_DENSE ? rgWorld_AddLoops(world, true)
                                                                   : result;
}

static void rgWorld_CloseActive(rgWorld* world) {
    for (int e = 0; e < world->model->info.equalityCount; ++e) {
        world->miss[e] = rgTakesPart(world, e) ? 0 : world->miss[e];
    }
    for (int t = 0; t < world->model->treeCount; ++t) {
        rgLoopGroup* group = &world->loopGroups[t];
        group->error = group->active ? 0 : group->error;
        group->active = false;
    }
}

static rgResult rgWorld_Approach(rgWorld* world, double* q) {
    size_t bytes = (size_t)world->model->qCount * sizeof(double);
    rgResult result = rg_ok;
    bool sure = false;
    for (int i = 0; result == rg_ok && !sure; ++i) {
        rgDynamics_SetPositions(world->dynamics, q);
        if (rgWorld_LoopError(world) < 0) {
            return rg_errorMemory;
        }
        if (!rgWorld_AcceptGroups(world, q, i == RG_LOOP_STEPS)) {
            break;
        }
        memcpy(world->loopQ, q, bytes);
        result = rgWorld_PrepareLoops(world);
        result = result == rg_ok ? rgWorld_LoopStep(world, q, &sure) : result;
    }
    if (result == rg_ok && sure) {
        rgWorld_CloseActive(world);
    }
    return result;
}

// (28) Groups with loops that yield: all of them closed, or those that yield as they were.
static bool rgWorld_GiveUpGroups(rgWorld* world, double* q) {
    const rgModel* model = world->model;
    bool any = false;
    for (int t = 0; t < model->treeCount; ++t) {
        const rgLoopGroup* group = &world->loopGroups[world->loopGroup[t]];
        if (group->hasOpen && !(group->error < RG_LOOP_TOLERANCE)) {
            rgWorld_CopyTree(world, t, world->triedQ, q);
            any = true;
        }
    }
    for (int t = 0; t < model->treeCount; ++t) {
        rgLoopGroup* group = &world->loopGroups[t];
        group->active = group->hasOpen && !(group->error < RG_LOOP_TOLERANCE);
        group->error = group->active ? INFINITY : group->error;
        group->tries = false;
    }
    for (int e = 0; e < model->info.equalityCount; ++e) {
        world->leftOut[e] = world->isOpen[e] && rgWorld_LoopGroup(world, e)->active &&
                            world->miss[e] > RG_LOOP_OPEN;
    }
    return any;
}

static rgResult rgWorld_CloseGroups(rgWorld* world, double* q) {
    const rgModel* model = world->model;
    memcpy(world->triedQ, q, (size_t)model->qCount * sizeof(double));
    for (int t = 0; t < model->treeCount; ++t) {
        world->loopGroups[t] = (rgLoopGroup){.error = INFINITY, .active = true};
    }
    for (int e = 0; e < model->info.equalityCount; ++e) {
        world->miss[e] = world->isOpen[e] ? INFINITY : 0; // stays where it takes no part: asleep
        world->leftOut[e] = false;
        if (world->isOpen[e]) {
            rgLoopGroup* group = rgWorld_LoopGroup(world, e);
            group->hasOpen = group->tries = true;
        }
    }
    rgResult result = rgWorld_Approach(world, q);
    if (result == rg_ok && rgWorld_GiveUpGroups(world, q)) {
        result = rgWorld_Approach(world, q);
    }
    return result;
}

rgResult rgWorld_ProjectLoops(rgWorld* world, double* q) {
    // The rows of the step stay as they are for readers.
    world->heldRows = world->rows;
    world->rows = world->loopRows;
    rgResult result = rgWorld_CloseGroups(world, q);
    world->loopRows = world->rows;
    world->rows = world->heldRows;
    return result;
}

// The largest violation at q; negative when out of memory.
static double rgWorld_LoopErrorAt(rgWorld* world, const double* q) {
    rgDynamics_SetPositions(world->dynamics, q);
    return rgWorld_LoopError(world);
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
    rgResult result = rgWorld_PrepareLoops(world);
    result = result == rg_ok ? rgWorld_SolveLoops(world) : result;
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
    for (int t = 0; t < world->model->treeCount; ++t) {
        world->loopGroups[t] = (rgLoopGroup){.active = true};
    }
    memset(world->leftOut, 0, (size_t)world->model->info.equalityCount * sizeof(bool));
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
