// The constraint problem of a step, and its solution. step.7-10.
#include "world/world.h"

#include <string.h>

// step.8: Rigid: a gap may close in the time ahead, contact does not go deeper. gamma >= 0, so
// that the velocity problem has a solution; the projection undoes penetration (project.c).
rgLaw rgUnilateralLaw(double phi, double ahead) {
    return (rgLaw){.bias = fmax(phi, 0) / ahead};
}

// Inverse mass along a row, without the coupling of its degrees of freedom.
double rgRows_Mobility(const rgConstraintSet* constraints, const rgKinematics* kinematics,
                       int row) {
    const rgRows* rows = &constraints->rows;
    double sum = 0;
    for (int k = rows->rowStart[row]; k < rows->rowStart[row + 1]; ++k) {
        double mass =
            kinematics->dynamics->mass[kinematics->dynamics->model->dofs[rows->column[k]].rowStart];
        sum += rows->value[k] * rows->value[k] / mass;
    }
    return sum;
}

double rgRows_SpringMobility(const rgConstraintSet* constraints, const rgKinematics* kinematics,
                             int row) {
    const rgRows* rows = &constraints->rows;
    double most = 1;
    for (int k = rows->rowStart[row]; k < rows->rowStart[row + 1]; ++k) {
        most = fmax(most, kinematics->coupling[rows->column[k]]);
    }
    return most * rgRows_Mobility(constraints, kinematics, row);
}

// free.1 along a row
rgLaw rgSpringLaw(const rgConstraintSet* constraints, const rgKinematics* kinematics, double dt,
                  int row, rgSoftness soft, double stretch, double command) {
    double k = soft.stiffness, d = soft.damping;
    int tree = constraints->treeOfDof[constraints->rows.column[constraints->rows.rowStart[row]]];
    double mobility = rgRows_SpringMobility(constraints, kinematics, row);
    rgWeights w =
        rgJointWeights(kinematics->driftTime[tree], dt * dt * k * mobility, dt * d * mobility);
    double R = 1 / (dt * (dt * k * w.ahead + d * w.share));
    double rate = rgRows_Speed(&constraints->rows, row, kinematics->v);
    double before = (d * (1 - w.share) + dt * k * (w.along - w.ahead)) * rate;
    return (rgLaw){.bias = R * dt * (k * stretch + before - command), .compliance = R};
}

// step.9: A spring and damper that acts in both directions.
rgLaw rgBilateralLaw(double dt, double phi, rgSoftness soft) {
    double gain = dt * soft.stiffness + soft.damping;
    return (rgLaw){.bias = phi * soft.stiffness / gain, .compliance = 1 / (dt * gain)};
}

// True if a row can act: limits far from their bound cannot.
static bool rgWorld_RowActs(const rgWorld* world, int row) {
    const rgRows* rows = &world->constraints.rows;
    const rgRowSource* source = &rows->sources[row];
    bool limit = source->kind == rg_constraintLimit ||
                 (source->kind == rg_constraintTendon && rgTendonRowIsLimit(source->row));
    return !limit || rgLimitIsNear(world->settings.dt, rows->gap[row],
                                   rgRows_Speed(rows, row, world->kinematics.v), 0);
}

static void rgConstraintSet_MarkSide(rgConstraintSet* constraints, const rgContactSet* contacts,
                                     const rgModel* model, int collider) {
    int link = contacts->colliders[collider].link;
    if (link > 0 && link < model->linkCount) {
        constraints->isHeld[model->links[link].tree] = true;
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
            rgConstraintSet_MarkSide(&world->constraints, &world->contacts, world->model,
                                     world->contacts.points[i].colliderA);
            rgConstraintSet_MarkSide(&world->constraints, &world->contacts, world->model,
                                     world->contacts.points[i].colliderB);
        }
    }
    for (int i = 0; i < world->contacts.inactiveCount; ++i) {
        rgConstraintSet_MarkSide(&world->constraints, &world->contacts, world->model,
                                 world->contacts.inactive[i].colliderA);
        rgConstraintSet_MarkSide(&world->constraints, &world->contacts, world->model,
                                 world->contacts.inactive[i].colliderB);
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
void rgConstraintSet_FillMass(const rgConstraintSet* constraints, const rgKinematics* kinematics,
                              const double* added, double* values) {
    const rgModel* model = kinematics->dynamics->model;
    const double* compact = rgDynamics_CompactMassMatrix(kinematics->dynamics, NULL);
    for (int k = 0; k < constraints->massStart[model->vCount]; ++k) {
        values[k] = compact[constraints->massSource[k]];
    }
    for (int i = 0; i < model->vCount && added != NULL; ++i) { // after those above it
        values[constraints->massStart[i] + model->dofs[i].depth - 1] += added[i];
    }
}

rgResult rgConstraintSet_ReserveWhitened(rgConstraintSet* constraints,
                                         const rgAllocator* allocator) {
    return rgReserve(allocator, (void**)&constraints->whitened, &constraints->whitenedCapacity,
                     constraints->whitenedCapacity, constraints->rows.entryCount, sizeof(double));
}

// Whiten the rows that have no W yet.
rgResult rgConstraintSet_WhitenRows(rgConstraintSet* constraints, const rgKinematics* kinematics,
                                    const rgAllocator* allocator) {
    const rgRows* rows = &constraints->rows;
    rgResult result = rgConstraintSet_ReserveWhitened(constraints, allocator);
    if (result != rg_ok) {
        return result;
    }
    rgSparse J = {constraints->whitenedFirst, kinematics->dynamics->model->vCount, rows->rowStart,
                  rows->column, rows->value};
    rgDynamics_FindRoots(kinematics->dynamics);
    rgDynamics_WhitenFrom(kinematics->dynamics, &J, 0, constraints->whitened);
    J.rowCount = rows->rowCount;
    rgDynamics_WhitenFrom(kinematics->dynamics, &J, constraints->whitenedEnd,
                          constraints->whitened);
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
        rgConstraintSet_FillMass(&world->constraints, &world->kinematics, world->free.added,
                                 world->constraints.massValue);
    }
    rgConstraintSet_FillLengths(&world->constraints, &world->kinematics, &world->contacts);
    rgWorld_LoadImpulses(world);
    if (step->resumes) {
        rgConstraintSet_LoadPassImpulses(&world->constraints, &world->contacts, &world->warmStart);
    }
    memcpy(rows->freeVelocity, rows->bias, (size_t)n * sizeof(double));
    rgRows_AddSpeeds(rows, world->free.v, rows->freeVelocity);
    result =
        rgConstraintSet_WhitenRows(&world->constraints, &world->kinematics, &world->heap.allocator);
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
        rgWorld_StartRestitution(world);
        result = rgWorld_DeactivateContacts(world);
        memset(world->constraints.solved, 0, (size_t)world->model->treeCount * sizeof(bool));
    } else if (step->movesFreely) {
        result = rgComputeFreeVelocity(step);
    }
    if (result != rg_ok) {
        return result;
    }
    return rgAssembleRows(step);
}

static void rgConstraintSet_UpdateMass(rgConstraintSet* constraints, const rgKinematics* kinematics,
                                       const rgFreeMotion* motion) {
    if (constraints->problem.delassus.mass.value == NULL) {
        rgConstraintSet_FillMass(constraints, kinematics, motion->added, constraints->massValue);
        constraints->problem.delassus.mass.value = constraints->massValue;
    }
}

// Starts by tree: impulses of the last step mostly solve a tree at rest, and those of an earlier
// pass an island that got no contact; then one evaluation of the residual suffices.
static void rgWorld_FindStarts(rgWorld* world, bool resumes) {
    double limit = RG_REST_RATIO * rgLength(world->settings.gravity) * world->settings.dt;
    for (int t = 0; t < world->model->treeCount; ++t) {
        const rgTree* tree = &world->model->trees[t];
        bool rests = true;
        for (int i = tree->firstDof; i < tree->firstDof + tree->dofCount; ++i) {
            rests = rests && fabs(world->kinematics.v[i]) < limit;
        }
        world->constraints.starts[t] = !rests && resumes             ? rg_startResumed
                                       : !rests                      ? rg_startMoves
                                       : world->state.solved[t] != 0 ? rg_startSolved
                                                                     : rg_startKept;
    }
}

// Two thirds of what the step has left, so that contacts which v+ closes in a hard step are solved
// for, too.
static int rgStep_MostFactorizations(const rgStep* step) {
    return RG_MAX(1, (RG_MOST_FACTORIZATIONS - step->factorizationCount) * 2 / 3);
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
        rgConstraintSet_UpdateMass(&world->constraints, &world->kinematics, &world->free);
    }
    rgContactProblem problem = world->constraints.problem;
    if (!byMass) {
        problem.delassus.mass.value = NULL;
    }
    rgWorld_FindStarts(world, step->resumes);
    rgStart* starts = world->def.contact.stop == rg_stopPaper ? NULL : world->constraints.starts;
    rgResult result = rgContactSolver_SolveBuilt(world->constraints.solver, &problem,
                                                 world->constraints.rows.lambda, starts,
                                                 rgStep_MostFactorizations(step), report);
    for (int t = 0; t < world->model->treeCount; ++t) {
        world->constraints.solved[t] =
            world->constraints.solved[t] || world->constraints.starts[t] != rg_startAccepted;
    }
    step->iterationCount += report->iterationCount;
    step->factorizationCount += report->factorizationCount;
    report->iterationCount = step->iterationCount;
    report->factorizationCount = step->factorizationCount;
    return result;
}

bool rgConstraintSet_LoopIsOpen(const rgConstraintSet* constraints, int row) {
    const rgRowSource* source = &constraints->rows.sources[row];
    return source->kind == rg_constraintEquality && constraints->isOpen[source->index];
}

// Contacts that give way to a kinematic body, and open loops: rows without a rigid solution.
int rgConstraintSet_MarkRegularized(const rgConstraintSet* constraints, rgContactSet* contacts) {
    const rgRows* rows = &constraints->rows;
    int count = 0;
    for (int i = 0; i < contacts->pointCount; ++i) {
        rgContactPoint* point = &contacts->points[i];
        int normal = point->firstRow + 2;
        double slip = rows->compliance[normal] * rows->lambda[normal];
        point->regularized = point->squeezes && slip > RG_REGULARIZED_RATIO * -rows->drift[normal];
        count += point->regularized;
    }
    for (int r = 0; r < rows->rowCount && constraints->rigidEqualityCount > 0; ++r) {
        count += rgConstraintSet_LoopIsOpen(constraints, r);
    }
    return count;
}

// Pattern of M, both triangles, from the compact rows.
static bool rgConstraintSet_PlanMass(rgConstraintSet* constraints, const rgModel* model,
                                     const rgAllocator* allocator) {
    int nv = model->vCount;
    int* fill = rgAllocate(allocator, (size_t)nv, sizeof(int));
    bool good = fill != NULL;
    for (int i = 1; good && i < nv; ++i) {
        bool root = model->dofs[i].parent < 0;
        constraints->treeOfDof[i] = constraints->treeOfDof[i - 1] + (root ? 1 : 0);
    }
    for (int i = 0; good && i < nv; ++i) {
        const rgDof* dof = &model->dofs[i];
        constraints->massStart[i + 1] += dof->depth;
        for (int k = 1; k < dof->depth; ++k) {
            constraints->massStart[model->massColumns[dof->rowStart + k] + 1] += 1;
        }
    }
    for (int i = 0; good && i < nv; ++i) {
        constraints->massStart[i + 1] += constraints->massStart[i];
        fill[i] = constraints->massStart[i];
    }
    // Row i: ancestors and itself ascending, then descendants as their turn comes.
    for (int i = 0; good && i < nv; ++i) {
        const rgDof* dof = &model->dofs[i];
        for (int k = dof->depth - 1; k >= 0; --k) {
            int j = model->massColumns[dof->rowStart + k];
            constraints->massColumn[fill[i]] = j;
            constraints->massSource[fill[i]++] = dof->rowStart + k;
            if (k > 0) {
                constraints->massColumn[fill[j]] = i;
                constraints->massSource[fill[j]++] = dof->rowStart + k;
            }
        }
    }
    rgRelease(allocator, fill);
    return good;
}

rgResult rgConstraintSet_Create(rgWorld* world) {
    rgConstraintSet* set = &world->constraints;
    const rgModelInfo* info = &world->model->info;
    int nv = world->model->vCount;
    int entries = 2 * world->model->massCount - nv;
    bool good = true;
    set->massStart = rgHeap_Allocate(&world->heap, nv + 1, sizeof(int), &good);
    set->massColumn = rgHeap_Allocate(&world->heap, entries, sizeof(int), &good);
    set->massSource = rgHeap_Allocate(&world->heap, entries, sizeof(int), &good);
    set->massValue = rgHeap_Allocate(&world->heap, entries, sizeof(double), &good);
    set->treeOfDof = rgHeap_Allocate(&world->heap, nv, sizeof(int), &good);
    set->islands = rgHeap_Allocate(&world->heap, info->treeCount, sizeof(rgIsland), &good);
    set->isHeld = rgHeap_Allocate(&world->heap, info->treeCount, sizeof(bool), &good);
    set->starts = rgHeap_Allocate(&world->heap, info->treeCount, sizeof(rgStart), &good);
    set->solved = rgHeap_Allocate(&world->heap, info->treeCount, sizeof(bool), &good);
    set->isOpen = rgHeap_Allocate(&world->heap, info->equalityCount, sizeof(bool), &good);
    set->loopPlaces =
        rgHeap_Allocate(&world->heap, 2 * info->equalityCount, sizeof(rgPlace), &good);
    set->entryColumns = rgHeap_Allocate(&world->heap, nv, sizeof(int), &good);
    set->entryValues = rgHeap_Allocate(&world->heap, nv, sizeof(double), &good);
    if (!good ||
        !rgConstraintSet_PlanMass(&world->constraints, world->model, &world->heap.allocator)) {
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

void rgConstraintSet_Destroy(rgConstraintSet* set, const rgAllocator* allocator) {
    rgDestroyContactSolver(set->solver);
    rgRows_Free(&set->rows, allocator);
    rgRelease(allocator, set->whitened);
}

void rgConstraintSet_Plan(rgConstraintSet* constraints, const rgModel* model) {
    constraints->hasBelts = false;
    for (int s = 0; s < model->info.shapeCount; ++s) {
        constraints->hasBelts = constraints->hasBelts || rgShapeDef_HasBelt(&model->shapes[s]);
    }
    constraints->rigidEqualityCount = 0;
    for (int e = 0; e < model->info.equalityCount; ++e) {
        const rgEqualityDef* def = &model->equalities[e];
        constraints->rigidEqualityCount += !def->disabled && def->stiffness == 0;
    }
    rgConstraintSet_PlaceLoops(constraints, model);
}

void rgConstraintSet_Clear(rgConstraintSet* constraints) {
    constraints->problem = (rgContactProblem){0};
    rgRows_Clear(&constraints->rows);
}
