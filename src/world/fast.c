// Trees that turn fast: instead of a bias, link velocities are transported from the start of the
// step to its middle and end, and projected there on the motions of the joints. Energy never rises
// by it. free.10-12, free.14.
#include "world/project.h"

#include <string.h>

// ---- one link that turns freely

static rgVec3 rgSolveColumns3(const rgVec3 m[3], rgVec3 right) {
    rgVec3 bc = rgCross(m[1], m[2]);
    double inverse = 1 / rgDot(m[0], bc);
    return rgVec(inverse * rgDot(right, bc), inverse * rgDot(m[0], rgCross(right, m[2])),
                 inverse * rgDot(m[0], rgCross(m[1], right)));
}

// free.10: I (w+ - w) = L x (w + w+) with L = time/4 I (w + w+): w + w+ is across the right side,
// so that energy stays for any L.
static rgVec3 rgTurnRate(const rgSym3* I, rgVec3 w, double time) {
    if (I->xx == I->yy && I->yy == I->zz && I->xy == 0 && I->xz == 0 && I->yz == 0) {
        return w;
    }
    rgVec3 next = w, momentum = rgSym3_Multiply(I, w), m[3];
    for (int k = 0; k < RG_ROTATION_ITERATIONS; ++k) {
        rgVec3 L = rgScale(0.25 * time, rgAdd(momentum, rgSym3_Multiply(I, next)));
        m[0] = rgVec(I->xx, I->xy - L.z, I->xz + L.y);
        m[1] = rgVec(I->xy + L.z, I->yy, I->yz - L.x);
        m[2] = rgVec(I->xz - L.y, I->yz + L.x, I->zz);
        next = rgSolveColumns3(m, rgAdd(momentum, rgCross(L, w)));
    }
    return next;
}

static void rgTurnRates(const rgModel* model, int tree, double time, rgSpatial* rates) {
    const rgTree* range = &model->trees[tree];
    for (int i = range->firstLink; i < range->firstLink + range->linkCount; ++i) {
        const rgLink* link = &model->links[i];
        if (!link->massless) {
            rates[i].angular = rgTurnRate(&link->moment, rates[i].angular, time);
        }
    }
}

// ---- one tree

// rates := J v + scale rates
static void rgAddRates(rgKinematics* kinematics, int tree, const double* v, double scale,
                       rgSpatial* rates) {
    const rgTree* range = &kinematics->dynamics->model->trees[tree];
    rgSpatial* along = kinematics->linkVelocities;
    rgDynamics_TreeRates(kinematics->dynamics, tree, v, along);
    for (int i = range->firstLink; i < range->firstLink + range->linkCount; ++i) {
        rates[i] = rgSpatialAddScaled(along[i], scale, rates[i]);
    }
}

// free.11: x := M^-1 J' of the momenta; rotors turn with their joints.
static rgResult rgProjectRates(rgDynamics* d, int tree, const rgSpatial* rates, const double* rotor,
                               double* x) {
    const rgTree* range = &d->model->trees[tree];
    rgResult result = rgDynamics_FactorizeTree(d, tree, NULL);
    rgDynamics_SumMomenta(d, tree, rates, x);
    for (int i = range->firstDof; i < range->firstDof + range->dofCount; ++i) {
        x[i] += d->model->dofs[i].armature * rotor[i];
    }
    rgDynamics_SolveTree(d, tree, x);
    return result;
}

// Forces on a tree during a step or substep.
typedef struct rgFastForces {
    int tree;
    double dt;
    const double *tau, *added; // forces, M^ - M
    const double *v, *middle;  // at the start, projected
} rgFastForces;

// x := dt (tau + weight), and the part of the implicit forces (free.1) that is not in v+ - v
static void rgFastForces_Gather(const rgKinematics* kinematics, const rgFastForces* push,
                                double* x) {
    const rgTree* range = &kinematics->dynamics->model->trees[push->tree];
    rgDynamics_TreeWeight(kinematics->dynamics, push->tree, x);
    for (int i = range->firstDof; i < range->firstDof + range->dofCount; ++i) {
        x[i] =
            push->dt * (x[i] + push->tau[i]) + 2 * push->added[i] * (push->v[i] - push->middle[i]);
    }
}

static double rgSquare(const double* x, int count) {
    return count < 3 ? x[0] * x[0] : x[0] * x[0] + x[1] * x[1] + x[2] * x[2];
}

// Angle of the fastest joint of a tree in a step with v [rad]. The change of a rate in the last
// step, up to the rate, may recur: it counts too, and the predictor does not have it.
double rgTreeTurn(const rgModel* model, double dt, int tree, const double* v,
                  const double* change) {
    const rgTree* range = &model->trees[tree];
    double most = 0;
    for (int i = range->firstLink; i < range->firstLink + range->linkCount; ++i) {
        const rgLink* link = &model->links[i];
        int first = link->v + (link->kind == rg_linkFree ? 3 : 0);
        double square = link->kind != rg_linkPrismatic ? rgSquare(v + first, link->vCount) : 0;
        if (change != NULL) {
            double changed = rgSquare(change + first, link->vCount);
            square += RG_FAST_CHANGE_FACTOR * RG_FAST_CHANGE_FACTOR *
                      (changed < square ? changed : square);
        }
        most = square > most ? square : most;
    }
    return dt * sqrt(most);
}

// ---- a step

// free.10 and free.11 of the start of the step.
static bool rgWorld_TransportStart(rgWorld* world, int tree) {
    rgDynamics *d = world->kinematics.dynamics, *before = world->readout->start;
    rgDynamics_PlaceTreeLinks(before, tree, world->state.q);
    rgDynamics_TreeRates(before, tree, world->kinematics.v, world->fast.rejectedRates);
    rgTurnRates(world->model, tree, world->kinematics.driftTime[tree], world->fast.rejectedRates);
    rgResult result = rgProjectRates(d, tree, world->fast.rejectedRates, world->kinematics.v,
                                     world->fast.projectedV);
    rgAddRates(&world->kinematics, tree, world->fast.projectedV, -1, world->fast.rejectedRates);
    return result == rg_ok;
}

// Turn in a step above which a tree is fast; lower for a single free link, a top, which costs
// little.
static double rgFastThreshold(const rgModel* model, int tree) {
    const rgTree* range = &model->trees[tree];
    return range->linkCount == 1 && range->dofCount >= 3 ? 0 : RG_FAST_ANGLE;
}

void rgWorld_StartFast(rgWorld* world) {
    for (int t = 0; t < world->model->treeCount; ++t) {
        const double *v = world->kinematics.v, *change = world->state.change;
        world->fast.isFast[t] = false;
        if (!world->kinematics.isFreeBody[t] &&
            rgTreeTurn(world->model, world->settings.dt, t, v, change) >
                rgFastThreshold(world->model, t)) {
            rgDynamics_NeedMass(world->kinematics.dynamics);
            world->fast.isFast[t] = rgWorld_TransportStart(world, t);
        }
    }
}

// Factorize M^, unless the factors of M serve.
rgResult rgFreeMotion_FactorizeTree(const rgFreeMotion* motion, rgKinematics* kinematics,
                                    const rgFastTrees* fast, int tree) {
    const rgTree* range = &kinematics->dynamics->model->trees[tree];
    bool plain = fast->isFast[tree];
    for (int i = range->firstDof; plain && i < range->firstDof + range->dofCount; ++i) {
        plain = motion->added[i] == 0;
    }
    return plain ? rg_ok : rgDynamics_FactorizeTree(kinematics->dynamics, tree, motion->added);
}

// dt times all forces, without the part of free.1 that is in v+ - v.
void rgWorld_FastImpulse(rgWorld* world, int tree, double* x) {
    rgFastForces push = {tree,
                         world->settings.dt,
                         world->free.tau,
                         world->free.added,
                         world->kinematics.v,
                         world->fast.projectedV};
    rgFastForces_Gather(&world->kinematics, &push, x);
}

// Velocity of the coordinates less that of the rows.
static double rgFastTrees_ProjectionChange(const rgFastTrees* fast, const rgKinematics* kinematics,
                                           int dof) {
    return fast->projectedV[dof] - kinematics->v[dof];
}

// Velocity of the coordinates of a tree from v+ of the rows.
void rgFastTrees_CoordinateVelocity(const rgFastTrees* fast, const rgKinematics* kinematics,
                                    int tree, const double* v, double* out) {
    const rgTree* range = &kinematics->dynamics->model->trees[tree];
    for (int i = range->firstDof; i < range->firstDof + range->dofCount; ++i) {
        out[i] =
            v[i] + (fast->isFast[tree] ? rgFastTrees_ProjectionChange(fast, kinematics, i) : 0);
    }
}

// rgFastTrees_ProjectionChange() along a row, for trees in `held`; NULL: for all trees of the row.
double rgConstraintSet_RowProjectionChange(const rgConstraintSet* constraints,
                                           const rgKinematics* kinematics, const rgFastTrees* fast,
                                           int row, const bool* held) {
    const rgRows* rows = &constraints->rows;
    double sum = 0;
    for (int k = rows->rowStart[row]; k < rows->rowStart[row + 1]; ++k) {
        int i = rows->column[k], tree = constraints->treeOfDof[i];
        bool leads = fast->isFast[tree] && (held == NULL || held[tree]);
        sum += leads ? rows->value[k] * rgFastTrees_ProjectionChange(fast, kinematics, i) : 0;
    }
    return sum;
}

// Rows of joints, tendons and loops constrain the coordinates, which move with v+ (free.12).
void rgWorld_AddProjectionChanges(rgWorld* world) {
    rgRows* rows = &world->constraints.rows;
    bool any = false;
    for (int t = 0; t < world->model->treeCount; ++t) {
        any = any || (world->fast.isFast[t] && world->constraints.isHeld[t]);
    }
    int contacts =
        world->contacts.pointCount > 0 ? world->contacts.points[0].firstRow : rows->rowCount;
    for (int r = 0; any && r < contacts; ++r) {
        rows->bias[r] += rgConstraintSet_RowProjectionChange(
            &world->constraints, &world->kinematics, &world->fast, r, world->constraints.isHeld);
    }
}

// free.12: v moves the coordinates.
static void rgFastTrees_TransportEnd(rgFastTrees* fast, rgKinematics* kinematics, double dt,
                                     int tree, const double* v) {
    const rgTree* range = &kinematics->dynamics->model->trees[tree];
    double* x = kinematics->scratch;
    for (int i = range->firstLink; i < range->firstLink + range->linkCount; ++i) {
        fast->endRates[i] = fast->rejectedRates[i];
    }
    for (int i = range->firstDof; i < range->firstDof + range->dofCount; ++i) {
        x[i] = v[i] - rgFastTrees_ProjectionChange(fast, kinematics, i);
    }
    rgAddRates(kinematics, tree, x, 1, fast->endRates);
    rgTurnRates(kinematics->dynamics->model, tree, dt - kinematics->driftTime[tree],
                fast->endRates);
}

// True if v+, or with the midpoint rule its change in an impact, makes a slow tree fast: the second
// half of the step is that of fast trees.
bool rgWorld_BecomesFast(rgWorld* world, int tree, const double* v) {
    if (!world->constraints.isHeld[tree] || world->fast.isFast[tree] ||
        world->kinematics.isFreeBody[tree]) {
        return false;
    }
    bool midpoint = world->settings.integrator == rg_integratorMidpoint;
    const rgTree* range = &world->model->trees[tree];
    double* change = world->kinematics.scratch;
    for (int i = range->firstDof; i < range->firstDof + range->dofCount; ++i) {
        change[i] = v[i] - world->kinematics.v[i];
    }
    return rgTreeTurn(world->model, world->settings.dt, tree, v, midpoint ? change : NULL) >
               RG_FAST_ANGLE &&
           rgWorld_TransportStart(world, tree);
}

rgResult rgWorld_TransportFast(rgWorld* world) {
    rgResult result = rg_ok;
    memcpy(world->next.endV, world->next.v, (size_t)world->model->vCount * sizeof(double));
    for (int t = 0; t < world->model->treeCount; ++t) {
        bool hit = rgWorld_BecomesFast(world, t, world->next.v);
        world->fast.isTransported[t] =
            hit || (world->fast.isFast[t] && world->fast.substeps[t] == 1);
        if (hit) { // loops and readers have the factors of the step
            result = rgDynamics_FactorizeTree(world->kinematics.dynamics, t, world->free.added);
        }
        if (world->fast.isTransported[t]) {
            rgFastTrees_CoordinateVelocity(&world->fast, &world->kinematics, t, world->next.v,
                                           world->next.endV);
            rgFastTrees_TransportEnd(&world->fast, &world->kinematics, world->settings.dt, t,
                                     world->next.endV);
        }
        if (result != rg_ok) {
            return result;
        }
    }
    return rg_ok;
}

// free.11 at the end of the step.
static rgResult rgWorld_ProjectEnd(rgWorld* world, int tree, const double* q, double* v) {
    rgDynamics* after = world->readout->start;
    const rgTree* range = &world->model->trees[tree];
    rgDynamics_PlaceTree(after, tree, q);
    rgResult result =
        rgProjectRates(after, tree, world->fast.endRates, v, world->kinematics.scratch);
    memcpy(v + range->firstDof, world->kinematics.scratch + range->firstDof,
           (size_t)range->dofCount * sizeof(double));
    return result;
}

// Velocities at q+ as projected: links keep their velocities, so that the projection adds no
// energy.
rgResult rgUpdateFastVelocity(rgWorld* world) {
    for (int t = 0; t < world->model->treeCount; ++t) {
        if (!world->fast.isTransported[t]) {
            continue;
        }
        const rgTree* range = &world->model->trees[t];
        rgFastTrees_CoordinateVelocity(&world->fast, &world->kinematics, t, world->next.v,
                                       world->next.endV);
        rgResult result = rgWorld_ProjectEnd(world, t, world->next.q, world->next.endV);
        if (result != rg_ok) {
            return result;
        }
        for (int i = range->firstDof; i < range->firstDof + range->dofCount; ++i) { // for readers
            world->kinematics.midV[i] = 0.5 * (world->kinematics.v[i] + world->next.endV[i]);
            world->next.bodyV[i] = world->next.endV[i];
        }
        const rgLink* root = &world->model->links[range->firstLink];
        if (root->kind == rg_linkFree) {
            const double* quat = world->next.q + root->q + 3;
            double* v = world->next.bodyV + root->v;
            rgVec3 linear =
                rgRotateBack((rgQuat){quat[0], quat[1], quat[2], quat[3]}, rgVec(v[0], v[1], v[2]));
            v[0] = linear.x, v[1] = linear.y, v[2] = linear.z;
        }
    }
    return rgMonitor_IsSlow(world->next.bodyV, world->model->vCount) ? rg_ok : rg_errorNumeric;
}

// ---- substeps

int rgFreeMotion_CountSubsteps(const rgFreeMotion* motion, const rgKinematics* kinematics,
                               double dt, int tree) {
    if (motion->hasFluid && rgFreeMotion_FluidIsThick(motion, kinematics, dt, tree)) {
        return 1; // its forces would change from part to part
    }
    double turn = rgTreeTurn(kinematics->dynamics->model, dt, tree, kinematics->v, NULL);
    return (int)fmin(fmax(ceil(turn / RG_FAST_ANGLE), 1), RG_SUBSTEP_MOST_COUNT);
}

// One substep of h from next.q, where the tree is placed, and substepV; both become those of its
// end.
static rgResult rgWorld_MoveSubstep(rgWorld* world, rgDofForces* forces, int tree, double h) {
    const rgTree* range = &world->model->trees[tree];
    rgDynamics* d = world->kinematics.dynamics;
    int first = range->firstDof, end = first + range->dofCount;
    double *v = world->fast.substepV, *x = world->kinematics.scratch,
           *middle = world->fast.projectedV;
    rgFastForces push = {tree, h, forces->tau, forces->added, v, middle};
    rgDynamics_TreeRates(d, tree, v, world->fast.rejectedRates);
    rgTurnRates(world->model, tree, 0.5 * h, world->fast.rejectedRates);
    rgKinematics_IntegrateTree(&world->kinematics, tree, world->next.q, v, 0.5 * h, world->next.q);
    rgDynamics_PlaceTree(d, tree, world->next.q);
    rgResult result = rgProjectRates(d, tree, world->fast.rejectedRates, v, middle);
    rgFreeMotion_AddDofForces(&world->free, &world->kinematics, &world->transmission, forces);
    for (int i = first; i < end; ++i) {
        forces->tau[i] += world->fast.substepForce[i];
    }
    rgFastForces_Gather(&world->kinematics, &push, x);
    if (result != rg_ok) {
        return result;
    }
    result = rgDynamics_FactorizeTree(d, tree, forces->added);
    rgDynamics_SolveTree(d, tree, x);
    for (int i = first; i < end; ++i) { // x := v + v+
        x[i] += 2 * middle[i];
    }
    rgAddRates(&world->kinematics, tree, x, -1, world->fast.rejectedRates);
    rgTurnRates(world->model, tree, 0.5 * h, world->fast.rejectedRates);
    for (int i = first; i < end; ++i) {
        v[i] = x[i] - v[i];
    }
    rgKinematics_IntegrateTree(&world->kinematics, tree, world->next.q, v, 0.5 * h, world->next.q);
    rgDynamics_PlaceTree(d, tree, world->next.q);
    memcpy(x + first, v + first, (size_t)range->dofCount * sizeof(double));
    if (result != rg_ok) {
        return result;
    }
    return rgProjectRates(d, tree, world->fast.rejectedRates, x, v);
}

// free.14: From the state to the end of the step in equal substeps. Writes q+ to next.q and v+ to
// substepV.
rgResult rgWorld_MoveInSubsteps(rgWorld* world, int tree, int count) {
    const rgModel* model = world->model;
    const rgTree* range = &model->trees[tree];
    int first = range->firstDof, end = first + range->dofCount;
    rgDofForces forces = {
        world->kinematics.q,    world->kinematics.v,     world->settings.dt, first, end,
        world->fast.substepTau, world->fast.substepAdded};
    rgFreeMotion_AddDofForces(&world->free, &world->kinematics, &world->transmission, &forces);
    for (int i = first; i < end; ++i) {
        world->fast.substepForce[i] = world->free.tau[i] - forces.tau[i];
        world->fast.substepV[i] = world->kinematics.v[i];
    }
    rgKinematics_IntegrateTree(&world->kinematics, tree, world->state.q, world->kinematics.v, 0,
                               world->next.q);
    rgDynamics_PlaceTreeLinks(world->kinematics.dynamics, tree, world->next.q);
    forces.q = world->next.q, forces.v = world->fast.substepV,
    forces.dt = world->settings.dt / count;
    rgResult result = rg_ok;
    for (int k = 0; k < count; ++k) {
        result = rgWorld_MoveSubstep(world, &forces, tree, forces.dt);
        if (result != rg_ok) {
            return result;
        }
    }
    return rg_ok;
}

// ---- inverse dynamics of fast trees (docs/theory/inverse.md)

// The target is a v+ of step coordinates, or has the linear velocity of a free joint in the axes
// that it ends with. error := target less the velocity that the tree ends with.
double rgVelocityError(const rgNext* next, const rgModel* model, int tree,
                       const rgTargetVelocity* target, const double* v, double* error) {
    const rgTree* range = &model->trees[tree];
    const rgLink* link = &model->links[range->firstLink];
    double most = 0;
    memcpy(error + range->firstDof, target->v + range->firstDof,
           (size_t)range->dofCount * sizeof(double));
    if (target->inBody && link->kind == rg_linkFree) {
        const double *q = next->q + link->q + 3, *a = target->v + link->v;
        rgVec3 linear = rgRotate((rgQuat){q[0], q[1], q[2], q[3]}, rgVec(a[0], a[1], a[2]));
        error[link->v] = linear.x, error[link->v + 1] = linear.y, error[link->v + 2] = linear.z;
    }
    for (int i = range->firstDof; i < range->firstDof + range->dofCount; ++i) {
        error[i] -= v[i];
        most = fmax(most, fabs(error[i]));
    }
    return most;
}

// Velocity of the rows with which the step ends at the target, which becomes endV.
void rgWorld_FindFast(rgWorld* world, int tree, const rgTargetVelocity* target, double* v) {
    const rgTree* range = &world->model->trees[tree];
    int first = range->firstDof, end = first + range->dofCount, rises = 0;
    double last = INFINITY, *error = world->fast.substepV;
    memcpy(v + first, target->v + first, (size_t)(end - first) * sizeof(double));
    for (int k = 0; k < RG_SEARCH_ITERATIONS && rises <= RG_SEARCH_RISE_COUNT; ++k) {
        rgFastTrees_TransportEnd(&world->fast, &world->kinematics, world->settings.dt, tree, v);
        rgKinematics_IntegrateTree(&world->kinematics, tree, world->kinematics.q, v,
                                   world->settings.dt - world->kinematics.driftTime[tree],
                                   world->next.q);
        rgKinematics_IntegrateTree(&world->kinematics, tree, world->next.q,
                                   world->projection->moved, 1, world->next.q);
        memcpy(world->next.endV + first, v + first, (size_t)(end - first) * sizeof(double));
        rgWorld_ProjectEnd(world, tree, world->next.q, world->next.endV);
        double most =
            rgVelocityError(&world->next, world->model, tree, target, world->next.endV, error);
        rises += !(most < last);
        last = most;
        for (int i = first; i < end && rises <= RG_SEARCH_RISE_COUNT; ++i) {
            v[i] += error[i];
        }
    }
    for (int i = first; i < end && world->fast.isFast[tree]; ++i) {
        v[i] -= rgFastTrees_ProjectionChange(&world->fast, &world->kinematics, i);
    }
}

// Force on a tree beside those of the step that makes its rows end with v.
void rgWorld_FastForce(rgWorld* world, int tree, const double* v, double* force) {
    const rgTree* range = &world->model->trees[tree];
    double *x = world->kinematics.scratch, *push = world->fast.substepV;
    rgWorld_FastImpulse(world, tree, push);
    for (int i = range->firstDof; i < range->firstDof + range->dofCount; ++i) {
        x[i] = v[i] - world->fast.projectedV[i];
    }
    rgDynamics_TreeMultiply(world->kinematics.dynamics, tree, x, force);
    for (int i = range->firstDof; i < range->firstDof + range->dofCount; ++i) {
        force[i] = (force[i] + world->free.added[i] * x[i] - push[i]) / world->settings.dt;
    }
}

// free.14 solved for the force that, beside tau, makes the substeps end at the target. Starts from
// one that is near, by Newton's method with M in place of the derivative.
void rgWorld_FindSubstepForce(rgWorld* world, int tree, const rgTargetVelocity* target,
                              double* force) {
    const rgTree* range = &world->model->trees[tree];
    int first = range->firstDof, end = first + range->dofCount;
    int count =
        rgFreeMotion_CountSubsteps(&world->free, &world->kinematics, world->settings.dt, tree);
    double last = INFINITY, *error = world->kinematics.scratch, *more = world->fast.substepForce;
    int rises = 0;
    for (int i = first; i < end; ++i) {
        world->free.tau[i] += force[i];
    }
    for (int k = 0; k < RG_SEARCH_ITERATIONS && rises <= RG_SEARCH_RISE_COUNT; ++k) {
        if (rgWorld_MoveInSubsteps(world, tree, count) != rg_ok) {
            break;
        }
        memcpy(world->next.endV + first, world->fast.substepV + first,
               (size_t)(end - first) * sizeof(double));
        double most =
            rgVelocityError(&world->next, world->model, tree, target, world->fast.substepV, error);
        rises += !(most < last);
        last = most;
        rgDynamics_TreeMultiply(world->kinematics.dynamics, tree, error, more);
        for (int i = first; i < end && rises <= RG_SEARCH_RISE_COUNT; ++i) {
            force[i] += more[i] / world->settings.dt;
            world->free.tau[i] += more[i] / world->settings.dt;
        }
    }
    for (int i = first; i < end; ++i) {
        world->free.tau[i] -= force[i];
    }
}

bool rgFastTrees_Create(rgFastTrees* fast, rgHeap* heap, const rgModel* model) {
    const rgModelInfo* info = &model->info;
    int nv = model->vCount;
    int links = rgModel_AllLinks(model);
    bool good = true;
    fast->substeps = rgHeap_Allocate(heap, info->treeCount, sizeof(int), &good);
    fast->substepV = rgHeap_Allocate(heap, nv, sizeof(double), &good);
    fast->substepForce = rgHeap_Allocate(heap, nv, sizeof(double), &good);
    fast->substepTau = rgHeap_Allocate(heap, nv, sizeof(double), &good);
    fast->substepAdded = rgHeap_Allocate(heap, nv, sizeof(double), &good);
    fast->flightQ = rgHeap_Allocate(heap, model->qCount, sizeof(double), &good);
    fast->flightV = rgHeap_Allocate(heap, nv, sizeof(double), &good);
    fast->flightMidV = rgHeap_Allocate(heap, nv, sizeof(double), &good);
    fast->isFast = rgHeap_Allocate(heap, info->treeCount, sizeof(bool), &good);
    fast->isTransported = rgHeap_Allocate(heap, info->treeCount, sizeof(bool), &good);
    fast->projectedV = rgHeap_Allocate(heap, nv, sizeof(double), &good);
    fast->rejectedRates = rgHeap_Allocate(heap, links, sizeof(rgSpatial), &good);
    fast->endRates = rgHeap_Allocate(heap, links, sizeof(rgSpatial), &good);
    return good;
}
