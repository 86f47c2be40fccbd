// Inverse dynamics with contacts: the stages of a step up to the rows, the proximal iteration, and
// recursive Newton-Euler with the impulses. docs/theory/inverse.md.
#include "inverse/inverse.h"
#include "math/triple.h"
#include "world/flight.h"
#include "world/project.h"

#include <string.h>

#define RG_COOKIE_INVERSE 0x696e7601u

rgInverseDef rgDefaultInverseDef(void) {
    rgInverseProblem problem = rgDefaultInverseProblem();
    return (rgInverseDef){.penalty = problem.penalty,
                          .tolerance = problem.tolerance,
                          .snap = 1e-6,
                          .maxIterations = problem.maxIterations,
                          .compliance = NAN,
                          .cookie = RG_COOKIE_INVERSE};
}

// ---- memory

static void* rgInverse_Allocate(const rgAllocator* allocator, int count, size_t size, bool* good) {
    void* memory = rgAllocate(allocator, (size_t)count, size);
    *good = *good && memory != NULL;
    return memory;
}

static rgResult rgInverse_Create(rgWorld* world) {
    int nv = world->model->vCount;
    bool good = true;
    if (world->inverse != NULL) {
        return rg_ok;
    }
    rgInverseWork* work =
        rgInverse_Allocate(&world->heap.allocator, 1, sizeof(rgInverseWork), &good);
    world->inverse = work;
    if (!good) {
        return rg_errorMemory;
    }
    double** arrays[] = {&work->givenV, &work->vRef, &work->driven, &work->acceleration,
                         &work->push,   &work->need, &work->force,  &work->contactForce};
    for (int i = 0; i < RG_COUNT(arrays); ++i) {
        *arrays[i] = rgInverse_Allocate(&world->heap.allocator, nv, sizeof(double), &good);
    }
    work->actuated = rgInverse_Allocate(&world->heap.allocator, nv, sizeof(bool), &good);
    work->bases = rgInverse_Allocate(&world->heap.allocator, world->model->treeCount,
                                     sizeof(rgInverseBase), &good);
    if (!good) {
        rgInverse_Destroy(world);
    }
    return good ? rg_ok : rg_errorMemory;
}

void rgInverse_Destroy(rgWorld* world) {
    rgInverseWork* work = world->inverse;
    if (work == NULL) {
        return;
    }
    void* arrays[] = {work->vRef,  work->driven,   work->acceleration, work->push,
                      work->need,  work->force,    work->contactForce, work->actuated,
                      work->bases, work->contacts, work->reference,    work->target,
                      work->saved, work->opens,    work->dense,        work->givenV};
    for (int i = 0; i < RG_COUNT(arrays); ++i) {
        rgRelease(&world->heap.allocator, arrays[i]);
    }
    rgReduced_Free(&world->heap.allocator, &work->reduced);
    rgRelease(&world->heap.allocator, work);
    world->inverse = NULL;
}

static rgResult rgInverse_ReserveRows(rgInverseCall* call) {
    rgInverseWork* work = call->work;
    const rgAllocator* allocator = &call->world->heap.allocator;
    int n = call->world->constraints.rows.rowCount, capacity = work->rowCapacity;
    double** arrays[] = {&work->reference, &work->target, &work->saved};
    rgResult result = rg_ok;
    for (int i = 0; i < RG_COUNT(arrays) && n > work->rowCapacity && result == rg_ok; ++i) {
        capacity = work->rowCapacity;
        result = rgReserve(allocator, (void**)arrays[i], &capacity, 0, n, sizeof(double));
    }
    work->rowCapacity = result == rg_ok ? capacity : work->rowCapacity;
    if (result == rg_ok) {
        result = rgReserve(allocator, (void**)&work->contacts, &work->contactCapacity, 0,
                           call->world->contacts.pointCount, sizeof(rgInverseContact));
    }
    return result;
}

// ---- the rows at the wanted velocity

void rgInverse_ImpulseForce(const rgConstraintSet* constraints, const rgModel* model,
                            const double* lambda, double* y) {
    const rgRows* rows = &constraints->rows;
    memset(y, 0, (size_t)model->vCount * sizeof(double));
    for (int r = 0; r < rows->rowCount; ++r) {
        for (int k = rows->rowStart[r]; lambda[r] != 0 && k < rows->rowStart[r + 1]; ++k) {
            y[rows->column[k]] += rows->value[k] * lambda[r];
        }
    }
}

static bool rgInverse_HasImpacts(const rgContactSet* contacts) {
    for (int i = 0; i < contacts->pointCount; ++i) {
        if (contacts->points[i].mayHit) {
            return true;
        }
    }
    return false;
}

// inverse.10: Whether a point rebounds depends on the free motion, which the impulses at the start
// imply: contact rows are made anew with it.
static rgResult rgInverse_Rebound(rgInverseCall* call) {
    rgWorld* world = call->world;
    rgRows* rows = &world->constraints.rows;
    rgResult result = rgDynamics_Factorize(world->kinematics.dynamics, world->free.added);
    if (result != rg_ok) {
        return result;
    }
    rgInverse_ImpulseForce(&world->constraints, world->model, rows->lambda, world->free.v);
    rgDynamics_Solve(world->kinematics.dynamics, 1, world->free.v);
    for (int i = 0; i < world->model->vCount; ++i) {
        world->free.v[i] = call->work->vRef[i] - world->free.v[i];
    }
    rows->rowCount = world->contacts.points[0].firstRow;
    rows->entryCount = rows->rowStart[rows->rowCount];
    rows->blockCount -= world->contacts.pointCount;
    return rgAddContacts(world);
}

// A point that carries while it rolls has no normal velocity left; others did not roll.
static bool rgInverse_StopRolls(const rgInverseCall* call) {
    const rgWorld* world = call->world;
    bool any = false;
    for (int i = 0; i < world->contacts.pointCount; ++i) {
        rgContactPoint* point = &world->contacts.points[i];
        int normal = point->firstRow + 2;
        double velocity = world->constraints.rows.bias[normal] +
                          rgRows_Speed(&world->constraints.rows, normal, call->work->vRef);
        double most = RG_INVERSE_ROLLING_RATIO * fabs(point->gapCorrection) / world->settings.dt +
                      RG_CREEP_SPEED;
        if (point->rolls && fabs(velocity) > most) {
            rgContactSet_StopRolling(&world->contacts, world->model, point);
            any = true;
        }
    }
    return any;
}

static rgTargetVelocity rgInverse_TargetVelocity(const rgInverseCall* call) {
    return (rgTargetVelocity){call->work->givenV, call->def->coordinates == rg_velocityBody};
}

// Row velocities of trees that v_ref makes fast. True: there are some.
static bool rgInverse_FindFast(rgInverseCall* call) {
    rgWorld* world = call->world;
    rgTargetVelocity givenV = rgInverse_TargetVelocity(call);
    bool any = false;
    for (int t = 0; t < world->model->treeCount; ++t) {
        world->fast.isTransported[t] = rgWorld_BecomesFast(world, t, givenV.v);
        if (world->fast.isTransported[t]) {
            rgWorld_FindFast(world, t, &givenV, call->work->vRef);
            any = true;
        }
    }
    return any;
}

static rgResult rgInverse_AddRows(rgInverseCall* call) {
    rgWorld* world = call->world;
    memcpy(world->free.v, call->work->vRef, (size_t)world->model->vCount * sizeof(double));
    rgKinematics_SetLinkVelocities(&world->kinematics, call->work->vRef);
    rgWorld_CorrectGaps(world, call->work->vRef, 1);
    return rgWorld_AddRows(world);
}

static rgResult rgInverse_Assemble(rgInverseCall* call) {
    rgWorld* world = call->world;
    rgResult result = rg_ok;
    if (world->model->info.equalityCount > 0) { // loops weigh their compliance with M^
        result = rgDynamics_Factorize(world->kinematics.dynamics, world->free.added);
    }
    if (result != rg_ok) {
        return result;
    }
    result = rgInverse_AddRows(call);
    if (result == rg_ok && rgInverse_FindFast(call)) {
        result = rgInverse_AddRows(call);
    }
    if (result == rg_ok && rgInverse_StopRolls(call)) {
        result = rgWorld_AddRows(world);
    }
    if (result != rg_ok) {
        return result;
    }
    result = rgInverse_ReserveRows(call);
    if (result != rg_ok) {
        return result;
    }
    rgWorld_PredictFree(world, call->work->vRef);
    rgInverse_Reference(call);
    rgInverse_Start(call);
    if (rgInverse_HasImpacts(&world->contacts)) {
        result = rgInverse_Rebound(call);
        rgInverse_Reference(call);
        rgInverse_Start(call);
    }
    return result;
}

// ---- impulses

static rgInverseProblem rgInverse_Problem(const rgInverseCall* call, const double* velocity) {
    const rgRows* rows = &call->world->constraints.rows;
    return (rgInverseProblem){.rowCount = rows->rowCount,
                              .blockCount = rows->blockCount,
                              .blocks = rows->blocks,
                              .velocity = velocity,
                              .compliance = rows->compliance,
                              .model = call->def->model,
                              .penalty = call->def->penalty,
                              .tolerance = call->def->tolerance,
                              .maxIterations = call->def->maxIterations};
}

// Friction of tangential springs follows the normal impulse around a corner, from the cone to the
// spring; least squares over cones do not.
static bool rgInverse_HasOpenSprings(const rgInverseCall* call) {
    bool any = false;
    for (int i = 0; i < call->work->openCount; ++i) {
        any = any || call->work->opens[i].springs;
    }
    return any;
}

// Solve for an admissible velocity, then judge the given one.
static rgResult rgInverse_SolveImpulses(rgInverseCall* call) {
    rgInverseResult* out = call->result;
    rgRows* rows = &call->world->constraints.rows;
    rgInverseProblem problem = rgInverse_Problem(call, call->work->target);
    rgResult result = rgInverseProblem_Solve(&problem, rows->lambda, &out->contact);
    if (result != rg_ok) {
        return rg_errorNumeric; // infinite or NaN input
    }
    result = rgInverse_FindOpen(call);
    if (result == rg_ok && call->def->feasible && rgInverse_HasOpenSprings(call)) {
        return rg_errorUnsupported;
    }
    if (result == rg_ok && call->def->feasible) {
        result = rgInverse_MakeFeasible(call);
    }
    if (result == rg_ok && call->def->countRank) {
        result = rgInverse_CountRank(call);
    }
    return result;
}

static rgResult rgInverse_Judge(rgInverseCall* call) {
    rgInverseResult* out = call->result;
    rgInverseProblem problem = rgInverse_Problem(call, call->work->reference);
    rgContactReport truth;
    problem.maxIterations = 0;
    rgResult result =
        rgInverseProblem_Solve(&problem, call->world->constraints.rows.lambda, &truth);
    out->contact.residual = truth.residual;
    if (out->violationCount > 0) {
        out->contact.status = rg_contactInfeasible;
    }
    return result == rg_ok ? rg_ok : rg_errorNumeric;
}

// ---- forces

// inverse.11: Forces that the motion needs without any impulse, less those that act anyway.
static void rgInverse_RequiredForce(rgInverseCall* call) {
    rgWorld* world = call->world;
    rgInverseWork* work = call->work;
    int nv = world->model->vCount;
    double rate = 1 / world->settings.dt;
    for (int i = 0; i < nv; ++i) {
        work->acceleration[i] = (work->vRef[i] - world->kinematics.v[i]) * rate;
    }
    rgDynamics_InverseDynamics(world->kinematics.dynamics, work->acceleration, NULL, work->need);
    for (int i = 0; i < nv; ++i) {
        work->need[i] += world->free.added[i] * work->acceleration[i] - world->free.tau[i];
    }
    for (int t = 0; t < world->model->treeCount; ++t) {
        if (world->fast.isFast[t]) {
            rgWorld_FastForce(world, t, work->vRef, work->need);
        }
        if (world->fast.isFast[t] &&
            rgTreeIsRefined(&world->kinematics, &world->constraints, &world->sleep, t) &&
            rgFreeMotion_CountSubsteps(&world->free, &world->kinematics, world->settings.dt, t) >
                1) {
            rgTargetVelocity givenV = rgInverse_TargetVelocity(call);
            rgWorld_FindSubstepForce(world, t, &givenV, work->need);
        } else if (rgWorld_IsInFlight(world, t)) {
            rgTargetVelocity givenV = rgInverse_TargetVelocity(call);
            rgWorld_CorrectFlightForce(world, t, &givenV, work->vRef, work->need);
        }
    }
}

// inverse.12: Sleeping trees need nothing; free bodies turn their own step around.
static void rgInverse_TreeForces(rgInverseCall* call, int t) {
    rgWorld* world = call->world;
    rgInverseWork* work = call->work;
    const rgTree* tree = &world->model->trees[t];
    int first = tree->firstDof;
    if (world->sleep.asleep[t] != 0) {
        memset(work->force + first, 0, (size_t)tree->dofCount * sizeof(double));
    } else if (world->kinematics.isFreeBody[t]) {
        rgWorld_FreeBodyForce(world, &world->model->links[tree->firstLink], work->vRef + first,
                              work->push + first, work->force + first);
        for (int k = first; k < first + 6; ++k) {
            work->force[k] -= world->free.tau[k];
        }
    }
}

static void rgInverse_Forces(rgInverseCall* call) {
    rgWorld* world = call->world;
    rgInverseWork* work = call->work;
    int nv = world->model->vCount;
    double rate = 1 / world->settings.dt;
    rgInverse_ImpulseForce(&world->constraints, world->model, world->constraints.rows.lambda,
                           work->push);
    for (int i = 0; i < nv; ++i) {
        work->contactForce[i] = work->push[i] * rate;
        work->force[i] = work->need[i] - work->contactForce[i];
    }
    for (int t = 0; t < world->model->treeCount; ++t) {
        rgInverse_TreeForces(call, t);
    }
}

static void rgInverse_AddBase(rgInverseCall* call, const rgLink* link, int index) {
    rgWorld* world = call->world;
    const double* tau = call->work->force + link->v;
    int body = world->model->movingBodies[index];
    rgQuat q = world->kinematics.rotations[index];
    rgVec3 arm = rgRotate(q, world->model->bodyPlaces[body].pose.p);
    rgVec3 force = rgVec(tau[0], tau[1], tau[2]);
    rgVec3 torque = rgRotate(q, rgVec(tau[3], tau[4], tau[5]));
    call->work->bases[call->work->baseCount++] =
        (rgInverseBase){{body + 1}, force, rgSub(torque, rgCross(arm, force))};
}

// Norm of the missing force of the unactuated rows among three or one; zero if it is small beside
// the forces that act there, or within the tolerance.
static double rgInverse_MissingForce(const rgInverseCall* call, int first, int count) {
    const rgInverseWork* work = call->work;
    double missing = 0, scale = 0;
    for (int k = first; k < first + count; ++k) {
        if (!work->actuated[k]) {
            missing = hypot(missing, work->force[k]);
            scale = hypot(scale, fabs(work->need[k]) + fabs(work->contactForce[k]));
        }
    }
    return missing > fmax(RG_MISSING_RATIO * scale, call->def->tolerance) ? missing : 0;
}

static void rgInverse_FindMissing(rgInverseCall* call) {
    const rgModel* model = call->world->model;
    rgInverseResult* out = call->result;
    for (int i = 1; i < model->linkCount; ++i) {
        const rgLink* link = &model->links[i];
        if (rgSleep_LinkSleeps(&call->world->sleep, call->world->model, i)) {
            continue;
        }
        bool slides = link->kind == rg_linkFree || link->kind == rg_linkPrismatic;
        int linear = slides ? RG_MIN(link->vCount, 3) : 0;
        double force = rgInverse_MissingForce(call, link->v, linear);
        double torque = rgInverse_MissingForce(call, link->v + linear, link->vCount - linear);
        out->missingForce = fmax(out->missingForce, force);
        out->missingTorque = fmax(out->missingTorque, torque);
    }
}

static rgInverseStatus rgInverse_Status(const rgInverseCall* call) {
    const rgInverseResult* out = call->result;
    bool forbidden = out->contact.status == rg_contactInfeasible;
    bool chosen = !call->def->feasible || out->feasible.status == rg_contactSolved;
    if (!forbidden && (out->contact.status != rg_contactSolved || !chosen)) {
        return rg_inverseUnsolved;
    }
    return forbidden                                         ? rg_inverseForbidden
           : out->missingForce > 0 || out->missingTorque > 0 ? rg_inverseUnheld
           : out->effortExcess > 0                           ? rg_inverseOverload
                                                             : rg_inverseSolved;
}

static void rgInverse_Summarize(rgInverseCall* call) {
    const rgModel* model = call->world->model;
    rgInverseWork* work = call->work;
    rgInverseResult* out = call->result;
    work->baseCount = 0;
    for (int t = 0; t < model->treeCount; ++t) {
        int index = model->trees[t].firstLink;
        if (model->links[index].kind == rg_linkFree && call->world->sleep.asleep[t] == 0) {
            rgInverse_AddBase(call, &model->links[index], index);
        }
    }
    for (int j = 0; j < model->info.jointCount; ++j) {
        double limit = model->joints[j].effortLimit;
        const rgJointRange* range = &model->jointRanges[j];
        for (int k = range->v; limit > 0 && k < range->v + range->vCount; ++k) {
            out->effortExcess =
                fmax(out->effortExcess, fabs(work->force[k] + work->driven[k]) - limit);
        }
    }
    rgModel_BodyVelocity(model, call->world->kinematics.q, work->force, work->force);
    rgModel_BodyVelocity(model, call->world->kinematics.q, work->contactForce, work->contactForce);
    rgInverse_FindMissing(call);
    out->status = rgInverse_Status(call);
}

// ---- the call

static bool rgInverse_AllFinite(const double* x, int count) {
    bool finite = true;
    for (int i = 0; i < count; ++i) {
        finite = finite && isfinite(x[i]);
    }
    return finite;
}

static bool rgInverse_IsValid(const rgWorld* world, const rgInverseDef* def, const double* vRef,
                              const rgInverseResult* result) {
    if (world == NULL || result == NULL || def->cookie != RG_COOKIE_INVERSE ||
        (vRef == NULL && world->model->vCount > 0)) {
        return false;
    }
    bool given = def->start == rg_startGiven;
    return (int)def->model >= 0 && def->model <= rg_modelCcp && (int)def->start >= 0 &&
           def->start <= rg_startGiven && def->penalty > 0 && isfinite(def->penalty) &&
           def->tolerance > 0 && def->snap >= 0 && isfinite(def->snap) && def->maxIterations >= 0 &&
           !(def->compliance < 0) && !(def->compliance == INFINITY) && isfinite(def->normalForce) &&
           def->normalForce >= 0 && !(def->feasible && def->model == rg_modelCcp) &&
           (!given || (def->impulseCount >= 0 && def->constraintCount >= 0)) &&
           rgInverse_AllFinite(vRef, world->model->vCount);
}

// Check arguments that depend on the awake bodies and contact points.
static bool rgInverse_FitsState(const rgInverseCall* call) {
    const rgWorld* world = call->world;
    const rgInverseDef* def = call->def;
    for (int i = 0; i < world->model->vCount; ++i) {
        bool asleep = rgSleep_LinkSleeps(&world->sleep, world->model, world->model->dofs[i].link);
        if (asleep && call->work->vRef[i] != 0) {
            return false;
        }
    }
    if (def->start != rg_startGiven) {
        return true;
    }
    bool finite = def->impulseCount == world->contacts.pointCount &&
                  (def->impulseCount == 0 || def->impulses != NULL) &&
                  (def->constraintCount == 0 || def->constraints != NULL) &&
                  rgInverse_AllFinite(def->impulses, 6 * def->impulseCount);
    for (int i = 0; finite && i < def->constraintCount; ++i) {
        finite = isfinite(def->constraints[i].impulse);
    }
    return finite;
}

static void rgInverse_SetActuated(rgInverseCall* call) {
    const rgModel* model = call->world->model;
    for (int i = 0; i < model->vCount; ++i) {
        bool isFree = model->links[model->dofs[i].link].kind == rg_linkFree;
        call->work->actuated[i] = call->def->actuated != NULL ? call->def->actuated[i] : !isFree;
    }
}

// The velocity that rows have in a step that ends with v_ref.
static void rgInverse_FindRowVelocity(rgInverseCall* call) {
    rgWorld* world = call->world;
    rgTargetVelocity givenV = rgInverse_TargetVelocity(call);
    if (givenV.inBody) {
        rgWorld_StepVelocityAfter(world, call->work->vRef);
    }
    memcpy(world->next.endV, call->work->vRef, (size_t)world->model->vCount * sizeof(double));
    for (int t = 0; t < world->model->treeCount; ++t) {
        if (world->fast.isFast[t]) {
            rgWorld_FindFast(world, t, &givenV, call->work->vRef);
        }
    }
}

// q, v, v_ref -> poses, points; forces that act anyway.
static rgResult rgInverse_Prepare(rgInverseCall* call, const double* vRef) {
    rgWorld* world = call->world;
    rgStepReport report = {0};
    rgStep step = {.world = world, .report = &report};
    rgResult result = rgUpdateKinematics(&step);
    if (result != rg_ok) {
        return result;
    }
    result = rgFindContacts(&step);
    if (result != rg_ok) {
        return result;
    }
    for (int i = 0; i < world->model->vCount; ++i) {
        call->work->givenV[i] = call->work->vRef[i] = vRef[i];
    }
    rgInverse_FindRowVelocity(call);
    if (!rgInverse_FitsState(call)) {
        return rg_errorArgument;
    }
    rgInverse_SetActuated(call);
    rgWorld_SumOtherForces(world, call->work->driven);
    return rg_ok;
}

// Readers see this call as they would see a step.
static void rgInverse_Publish(rgInverseCall* call) {
    rgWorld* world = call->world;
    rgInverseWork* work = call->work;
    rgInverseResult* out = call->result;
    memcpy(world->next.v, work->vRef, (size_t)world->model->vCount * sizeof(double));
    const rgRows* rows = &world->constraints.rows;
    for (int r = 0; r < rows->rowCount; ++r) {
        if (rows->sources[r].kind == rg_constraintActuator) {
            world->transmission.actuatorForce[rows->sources[r].index] =
                rows->lambda[r] / world->settings.dt;
        }
    }
    out->contactCount = world->contacts.pointCount;
    out->rowCount = rows->rowCount;
    out->force = work->force;
    out->contactForce = work->contactForce;
    out->contacts = work->contacts;
    out->bases = work->bases;
    out->baseCount = work->baseCount;
}

// True if a held tree turns fast: the projection of positions then changes its velocity.
static bool rgInverse_HasFast(const rgInverseCall* call) {
    const rgWorld* world = call->world;
    bool lands = false;
    for (int t = 0; t < world->model->treeCount; ++t) {
        lands = lands || (world->constraints.isHeld[t] &&
                          (world->fast.isFast[t] || world->fast.isTransported[t]));
    }
    return lands;
}

// True if the projection of positions turns a root whose axes v_ref is given in.
static bool rgInverse_TurnsRoots(const rgInverseCall* call) {
    const rgWorld* world = call->world;
    bool turns = false;
    for (int t = 0; t < world->model->treeCount && rgInverse_TargetVelocity(call).inBody; ++t) {
        const rgLink* root = &world->model->links[world->model->trees[t].firstLink];
        turns = turns || (world->constraints.isHeld[t] && root->kind == rg_linkFree);
    }
    return turns;
}

// Motion of the projection at the end of a step with these rows and v_ref.
static rgResult rgInverse_Project(rgInverseCall* call) {
    rgWorld* world = call->world;
    rgStepReport report = {0};
    rgStep step = {.world = world, .report = &report, .isInverse = true};
    for (int t = 0; t < world->model->treeCount; ++t) {
        double rest = world->settings.dt - world->kinematics.driftTime[t];
        rgFastTrees_CoordinateVelocity(&world->fast, &world->kinematics, t, call->work->vRef,
                                       world->next.endV);
        rgKinematics_IntegrateTree(&world->kinematics, t, world->kinematics.q, world->next.endV,
                                   rest, world->next.q);
        world->fast.isTransported[t] = false;
    }
    memcpy(world->next.v, call->work->vRef, (size_t)world->model->vCount * sizeof(double));
    rgResult result = rgDynamics_Factorize(world->kinematics.dynamics, world->free.added);
    if (result != rg_ok) {
        return result;
    }
    result =
        rgConstraintSet_WhitenRows(&world->constraints, &world->kinematics, &world->heap.allocator);
    if (result != rg_ok) {
        return result;
    }
    return rgProjectPosition(&step);
}

// q, v, v_ref -> J, R, gamma. The projection depends on the rows and they, by a little, on it.
static rgResult rgInverse_Build(rgInverseCall* call, const double* vRef) {
    double* moved = call->world->projection->moved;
    int nv = call->world->model->vCount;
    memset(moved, 0, (size_t)nv * sizeof(double));
    rgResult result = rg_ok;
    for (int k = 0; result == rg_ok; ++k) {
        result = rgInverse_Prepare(call, vRef); // q, v -> points, tau
        if (result != rg_ok) {
            return result;
        }
        result = rgInverse_Assemble(call); // -> J, R, gamma
        bool fast = rgInverse_HasFast(call);
        if (result != rg_ok || k == RG_INVERSE_PROJECTIONS ||
            !(fast || rgInverse_TurnsRoots(call))) {
            return result;
        }
        result = rgInverse_Project(call);
    }
    return result;
}

static rgResult rgInverse_Run(rgInverseCall* call, const double* vRef) {
    rgResult result = rgInverse_Build(call, vRef);
    if (result != rg_ok) {
        return result;
    }
    rgInverse_Target(call);                 // J v_ref + gamma -> admissible velocity of rows
    rgInverse_RequiredForce(call);          // v_ref -> RNEA
    result = rgInverse_SolveImpulses(call); // -> lambda
    if (result != rg_ok) {
        return result;
    }
    result = rgInverse_Judge(call);
    if (result == rg_ok) {
        rgInverse_Forces(call); // lambda -> force
        rgInverse_Summarize(call);
        rgInverse_Publish(call);
    }
    return result;
}

rgResult rgWorld_Inverse(rgWorld* world, const rgInverseDef* def, const double* vRef,
                         rgInverseResult* result) {
    rgInverseDef usual = rgDefaultInverseDef();
    def = def != NULL ? def : &usual;
    if (!rgInverse_IsValid(world, def, vRef, result)) {
        return rg_errorArgument;
    }
    double start = rgSeconds();
    rgResult made = rgInverse_Create(world);
    if (made != rg_ok) {
        return made;
    }
    *result = (rgInverseResult){.redundantCount = -1};
    rgReadout_Invalidate(world->readout);
    world->constraints.problem =
        (rgContactProblem){0}; // that of a step has another mass matrix and bias
    rgInverseCall call = {.world = world, .work = world->inverse, .def = def, .result = result};
    made = rgInverse_Run(&call, vRef);
    if (made != rg_ok) {
        world->contacts.pointCount = 0; // nothing for readers to see
        rgRows_Clear(&world->constraints.rows);
    }
    result->seconds = rgSeconds() - start;
    return made;
}
