// The constraint problem of a step, and its solution. step.7-10.
#include "world/world.h"

#include <string.h>

// step.8: Rigid: a gap may close in the time ahead, contact does not go deeper. gamma >= 0, so
// that the velocity problem has a solution; the projection undoes penetration (project.c).
rgLaw rgUnilateralLaw(double phi, double ahead) {
    return (rgLaw){.bias = fmax(phi, 0) / ahead};
}

// Inverse mass along a row, without the coupling of its degrees of freedom.
double rgRows_Mobility(const rgWorld* world, int row) {
    const rgRows* rows = &world->constraints.rows;
    double sum = 0;
    for (int k = rows->rowStart[row]; k < rows->rowStart[row + 1]; ++k) {
        double mass =
            world->kinematics.dynamics->mass[world->model->dofs[rows->column[k]].rowStart];
        sum += rows->value[k] * rows->value[k] / mass;
    }
    return sum;
}

// free.1 along a row
rgLaw rgSpringLaw(const rgWorld* world, int row, rgSoftness soft, double stretch, double command) {
    double dt = world->settings.dt, k = soft.stiffness, d = soft.damping;
    const rgModel* model = world->model;
    int tree =
        model
            ->links
                [model->dofs[world->constraints.rows.column[world->constraints.rows.rowStart[row]]]
                     .link]
            .tree;
    rgWeights w = rgSpringWeights(world->kinematics.driftTime[tree],
                                  dt * (dt * k + d) * rgRows_Mobility(world, row));
    double R = 1 / (dt * (dt * k * w.ahead + d * w.share));
    double rate = rgRows_Speed(&world->constraints.rows, row, world->kinematics.v);
    double before = (d * (1 - w.share) + dt * k * (w.along - w.ahead)) * rate;
    return (rgLaw){.bias = R * dt * (k * stretch + before - command), .compliance = R};
}

// step.9: A spring and damper that acts in both directions.
rgLaw rgBilateralLaw(const rgWorld* world, double phi, rgSoftness soft) {
    double gain = world->settings.dt * soft.stiffness + soft.damping;
    return (rgLaw){.bias = phi * soft.stiffness / gain,
                   .compliance = 1 / (world->settings.dt * gain)};
}

// True if a row can act: limits, those of tendons included, do nothing from afar.
static bool rgWorld_RowActs(const rgWorld* world, int row) {
    const rgRows* rows = &world->constraints.rows;
    const rgRowSource* source = &rows->sources[row];
    bool limit = source->kind == rg_constraintLimit ||
                 (source->kind == rg_constraintTendon && rgTendonRowIsLimit(source->row));
    return !limit ||
           rgLimitIsNear(world, rows->gap[row], rgRows_Speed(rows, row, world->kinematics.v), 0);
}

static void rgWorld_MarkSide(rgWorld* world, int collider) {
    int link = world->contacts.colliders[collider].link;
    if (link > 0 && link < world->model->linkCount) {
        world->constraints.isHeld[world->model->links[link].tree] = true;
    }
}

// Trees on which rows act. Inactive points count: they must not change how a tree moves, since
// inverse dynamics does not know the active set.
static void rgWorld_FindConstrainedTrees(rgWorld* world) {
    const rgRows* rows = &world->constraints.rows;
    memset(world->constraints.isHeld, 0, (size_t)world->model->treeCount * sizeof(bool));
    int contacts =
        world->contacts.pointCount > 0 ? world->contacts.points[0].firstRow : rows->rowCount;
    for (int r = 0; r < contacts; ++r) {
        bool holds = rgWorld_RowActs(world, r);
        for (int k = rows->rowStart[r]; holds && k < rows->rowStart[r + 1]; ++k) {
            world->constraints.isHeld[world->constraints.treeOfDof[rows->column[k]]] = true;
        }
    }
    for (int i = 0; i < world->contacts.pointCount; ++i) {
        if (rgRows_Columns(rows, world->contacts.points[i].firstRow) > 0) {
            rgWorld_MarkSide(world, world->contacts.points[i].colliderA);
            rgWorld_MarkSide(world, world->contacts.points[i].colliderB);
        }
    }
    for (int i = 0; i < world->contacts.inactiveCount; ++i) {
        rgWorld_MarkSide(world, world->contacts.inactive[i].colliderA);
        rgWorld_MarkSide(world, world->contacts.inactive[i].colliderB);
    }
}

rgResult rgWorld_AddRows(rgWorld* world) {
    static rgResult (*const kinds[])(rgWorld*) = {rgAddLimits,    rgAddDryFriction, rgAddTendons,
                                                  rgAddActuators, rgAddEqualities,  rgAddContacts};
    rgRows_Clear(&world->constraints.rows);
    for (int i = 0; i < RG_COUNT(kinds); ++i) {
        rgResult result = kinds[i](world);
        if (result != rg_ok) {
            return result;
        }
    }
    rgWorld_FindConstrainedTrees(world);
    rgWorld_AddProjectionChanges(world);
    return rg_ok;
}

// M^ in compressed rows.
void rgWorld_FillMass(const rgWorld* world, const double* added, double* values) {
    const rgModel* model = world->model;
    const double* compact = rgDynamics_CompactMassMatrix(world->kinematics.dynamics, NULL);
    for (int k = 0; k < world->constraints.massStart[model->vCount]; ++k) {
        values[k] = compact[world->constraints.massSource[k]];
    }
    for (int i = 0; i < model->vCount && added != NULL; ++i) { // after those above it
        values[world->constraints.massStart[i] + model->dofs[i].depth - 1] += added[i];
    }
}

rgResult rgWorld_ReserveWhitened(rgWorld* world) {
    return rgReserve(&world->heap.allocator, (void**)&world->constraints.whitened,
                     &world->constraints.whitenedCapacity, world->constraints.whitenedCapacity,
                     world->constraints.rows.entryCount, sizeof(double));
}

// Whitened rows W, but for those that have them.
rgResult rgWorld_WhitenRows(rgWorld* world) {
    const rgRows* rows = &world->constraints.rows;
    rgResult result = rgWorld_ReserveWhitened(world);
    if (result != rg_ok) {
        return result;
    }
    rgSparse J = {world->constraints.whitenedFirst, world->model->vCount, rows->rowStart,
                  rows->column, rows->value};
    rgDynamics_FindRoots(world->kinematics.dynamics);
    rgDynamics_WhitenFrom(world->kinematics.dynamics, &J, 0, world->constraints.whitened);
    J.rowCount = rows->rowCount;
    rgDynamics_WhitenFrom(world->kinematics.dynamics, &J, world->constraints.whitenedEnd,
                          world->constraints.whitened);
    return rg_ok;
}

// step.7: g = J v_free + gamma
static rgResult rgAssembleRows(rgStep* step) {
    rgWorld* world = step->world;
    rgRows* rows = &world->constraints.rows;
    rgResult result = rgWorld_AddRows(world);
    int n = rows->rowCount, nv = world->model->vCount;
    step->report->rowCount = n;
    if (result == rg_ok) {
        result = rgWorld_RefineFreeVelocity(world);
    }
    if (result != rg_ok || n == 0) {
        world->constraints.problem = (rgContactProblem){0};
        return result;
    }
    // M in compressed rows serves loops, the judge and readers; it is filled where one of them
    // needs it.
    bool whole = world->model->info.equalityCount > 0;
    if (whole) {
        rgWorld_FillMass(world, world->free.added, world->constraints.massValue);
    }
    rgWorld_FillLengths(world);
    rgWorld_LoadImpulses(world);
    if (step->resumes) {
        rgWorld_LoadPassImpulses(world);
    }
    rgShareNormals(world);
    memcpy(rows->freeVelocity, rows->bias, (size_t)n * sizeof(double));
    rgRows_AddSpeeds(rows, world->free.v, rows->freeVelocity);
    result = rgWorld_WhitenRows(world);
    if (result != rg_ok) {
        return result;
    }
    world->constraints.problem = (rgContactProblem){
        .rowCount = n,
        .blockCount = rows->blockCount,
        .blocks = rows->blocks,
        .delassus = {.kind = rg_delassusVelocity,
                     .mass = {nv, nv, world->constraints.massStart, world->constraints.massColumn,
                              whole ? world->constraints.massValue : NULL},
                     .jacobian = {n, nv, rows->rowStart, rows->column, rows->value},
                     .whitened = world->constraints.whitened,
                     .tree = world->constraints.treeOfDof},
        .freeVelocity = rows->freeVelocity,
        .compliance = rows->compliance,
        .rowLength = rows->length,
        .referenceVelocity = rgLength(world->settings.gravity) * world->settings.dt,
    };
    return rg_ok;
}

rgResult rgAssembleProblem(rgStep* step) {
    rgWorld* world = step->world;
    rgResult result = rg_ok;
    if (step->pass == 0) {
        world->constraints.restitutionPass = 0;
        result = rgWorld_DeactivateContacts(world);
        memset(world->constraints.fresh, 0, (size_t)world->model->treeCount * sizeof(bool));
    } else if (step->movesFreely) {
        result = rgComputeFreeVelocity(step);
    }
    if (result != rg_ok) {
        return result;
    }
    return rgAssembleRows(step);
}

static void rgWorld_UpdateMass(rgWorld* world) {
    if (world->constraints.problem.delassus.mass.value == NULL) {
        rgWorld_FillMass(world, world->free.added, world->constraints.massValue);
        world->constraints.problem.delassus.mass.value = world->constraints.massValue;
    }
}

// Starts by tree: impulses of the last step mostly solve a tree at rest, and then one evaluation of
// the residual suffices.
static void rgWorld_FindStarts(rgWorld* world) {
    double limit = RG_REST_RATIO * rgLength(world->settings.gravity) * world->settings.dt;
    for (int t = 0; t < world->model->treeCount; ++t) {
        const rgTree* tree = &world->model->trees[t];
        bool rests = true;
        for (int i = tree->firstDof; i < tree->firstDof + tree->dofCount; ++i) {
            rests = rests && fabs(world->kinematics.v[i]) < limit;
        }
        world->constraints.rest[t] = !rests                       ? rg_startMoves
                                     : world->state.fresh[t] != 0 ? rg_startSolved
                                                                  : rg_startKept;
    }
}

// step.10: The judge factorizes M, which takes a tenth of a small step: between samples it goes by
// W.
rgResult rgSolveProblem(rgStep* step) {
    rgWorld* world = step->world;
    rgContactReport* report = &step->report->contact;
    if (world->constraints.rows.rowCount == 0) {
        return rg_ok;
    }
    bool byMass = world->monitor.solveCount++ % world->def.judgeInterval == 0;
    if (byMass) {
        rgWorld_UpdateMass(world);
    }
    rgContactProblem problem = world->constraints.problem;
    if (!byMass) {
        problem.delassus.mass.value = NULL;
    }
    rgWorld_FindStarts(world);
    rgStart* rest = world->def.contact.stop == rg_stopPaper ? NULL : world->constraints.rest;
    rgResult result = rgContactSolver_SolveBuilt(world->constraints.solver, &problem,
                                                 world->constraints.rows.lambda, rest, report);
    for (int t = 0; t < world->model->treeCount; ++t) {
        world->constraints.fresh[t] =
            world->constraints.fresh[t] || world->constraints.rest[t] != rg_startAccepted;
    }
    step->iterationCount += report->iterationCount;
    step->factorizationCount += report->factorizationCount;
    report->iterationCount = step->iterationCount;
    report->factorizationCount = step->factorizationCount;
    return result;
}

bool rgWorld_LoopIsOpen(const rgWorld* world, int row) {
    const rgRowSource* source = &world->constraints.rows.sources[row];
    return source->kind == rg_constraintEquality && world->constraints.isOpen[source->index];
}

// Contacts that give way to a kinematic body, and loops that are open: rows without a rigid
// solution, or beyond the reach of what they join.
int rgWorld_RegularizedRows(const rgWorld* world) {
    const rgRows* rows = &world->constraints.rows;
    int count = 0;
    for (int i = 0; i < world->contacts.pointCount; ++i) {
        rgContactPoint* point = &world->contacts.points[i];
        int normal = point->firstRow + 2;
        double slip = rows->compliance[normal] * rows->lambda[normal];
        point->regularized = point->squeezes && slip > RG_REGULARIZED_RATIO * -rows->drift[normal];
        count += point->regularized;
    }
    for (int r = 0; r < rows->rowCount && world->constraints.rigidEqualityCount > 0; ++r) {
        count += rgWorld_LoopIsOpen(world, r);
    }
    return count;
}

// Pattern of M, both triangles, from the compact rows.
static bool rgWorld_PlanMass(rgWorld* world) {
    const rgModel* model = world->model;
    int nv = model->vCount;
    int* fill = rgAllocate(&world->heap.allocator, (size_t)nv, sizeof(int));
    bool good = fill != NULL;
    for (int i = 1; good && i < nv; ++i) {
        bool root = model->dofs[i].parent < 0;
        world->constraints.treeOfDof[i] = world->constraints.treeOfDof[i - 1] + (root ? 1 : 0);
    }
    for (int i = 0; good && i < nv; ++i) {
        const rgDof* dof = &model->dofs[i];
        world->constraints.massStart[i + 1] += dof->depth;
        for (int k = 1; k < dof->depth; ++k) {
            world->constraints.massStart[model->massColumns[dof->rowStart + k] + 1] += 1;
        }
    }
    for (int i = 0; good && i < nv; ++i) {
        world->constraints.massStart[i + 1] += world->constraints.massStart[i];
        fill[i] = world->constraints.massStart[i];
    }
    // Row i: ancestors and itself ascending, then descendants as their turn comes.
    for (int i = 0; good && i < nv; ++i) {
        const rgDof* dof = &model->dofs[i];
        for (int k = dof->depth - 1; k >= 0; --k) {
            int j = model->massColumns[dof->rowStart + k];
            world->constraints.massColumn[fill[i]] = j;
            world->constraints.massSource[fill[i]++] = dof->rowStart + k;
            if (k > 0) {
                world->constraints.massColumn[fill[j]] = i;
                world->constraints.massSource[fill[j]++] = dof->rowStart + k;
            }
        }
    }
    rgRelease(&world->heap.allocator, fill);
    return good;
}

rgResult rgConstraintSet_Create(rgWorld* world) {
    rgConstraintSet* set = &world->constraints;
    const rgModelInfo* info = &world->model->info;
    int nv = world->model->vCount;
    int entries = 2 * world->model->massCount - nv;
    bool good = true;
    set->massStart = rgWorld_Allocate(world, nv + 1, sizeof(int), &good);
    set->massColumn = rgWorld_Allocate(world, entries, sizeof(int), &good);
    set->massSource = rgWorld_Allocate(world, entries, sizeof(int), &good);
    set->massValue = rgWorld_Allocate(world, entries, sizeof(double), &good);
    set->treeOfDof = rgWorld_Allocate(world, nv, sizeof(int), &good);
    set->islands = rgWorld_Allocate(world, info->treeCount, sizeof(rgIsland), &good);
    set->isHeld = rgWorld_Allocate(world, info->treeCount, sizeof(bool), &good);
    set->rest = rgWorld_Allocate(world, info->treeCount, sizeof(rgStart), &good);
    set->fresh = rgWorld_Allocate(world, info->treeCount, sizeof(bool), &good);
    set->isOpen = rgWorld_Allocate(world, info->equalityCount, sizeof(bool), &good);
    set->loopPlaces = rgWorld_Allocate(world, 2 * info->equalityCount, sizeof(rgPlace), &good);
    set->entryColumns = rgWorld_Allocate(world, nv, sizeof(int), &good);
    set->entryValues = rgWorld_Allocate(world, nv, sizeof(double), &good);
    if (!good || !rgWorld_PlanMass(world)) {
        return rg_errorMemory;
    }
    rgContactSolverDef contact = world->def.contact;
    contact.allocator = world->heap.allocator;
    contact.disabled |= rg_planCertificate; // velocity problems of worlds have a solution
    if (contact.tasks.run == NULL) {
        contact.tasks = world->def.tasks;
    }
    set->kernels = rgSelectKernels(contact.kernels);
    return rgCreateContactSolver(&contact, &set->solver);
}

void rgConstraintSet_Destroy(rgWorld* world) {
    rgConstraintSet* set = &world->constraints;
    rgDestroyContactSolver(set->solver);
    rgRows_Free(world, &set->rows);
    rgRelease(&world->heap.allocator, set->whitened);
}
