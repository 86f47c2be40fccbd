// Trees on free joints without rows: the step is extrapolated to fourth order from one with dt and
// two with dt/2, so that energy and angular momentum stay. free.6.
#include "world/flight.h"

#include <string.h>

// One that turns by less per step has an error below 1e-12 in it.
bool rgWorld_IsInFlight(const rgWorld* world, int tree) {
    const rgTree* range = &world->model->trees[tree];
    return world->model->links[range->firstLink].kind == rg_linkFree &&
           rgTreeIsRefined(&world->kinematics, &world->constraints, &world->sleep, tree) &&
           !world->fast.isFast[tree] && !world->free.hasFluid &&
           rgTreeTurn(world->model, world->settings.dt, tree, world->kinematics.v, NULL) >
               RG_FLIGHT_ANGLE;
}

static bool rgWorld_HasPulls(const rgWorld* world, int first, int end) {
    bool any = false;
    for (int i = first; i < end; ++i) {
        any = any || world->free.dofStiffness[i] > 0 || world->free.dofDamping[i] > 0;
    }
    return any;
}

// free.6 of a part of the step, from a guess of the velocity at its end.
static void rgWorld_SolveMidpoint(rgWorld* world, rgDynamics* d, int tree, double h,
                                  const double* tau, double* next) {
    const rgTree* range = &world->model->trees[tree];
    int first = range->firstDof, end = first + range->dofCount;
    const double* v = world->fast.substepV;
    double *mid = world->fast.flightMidV, *y = world->kinematics.scratch, last = INFINITY;
    for (int k = 0; k < RG_SEARCH_ITERATIONS; ++k) {
        double most = 0, speed = 0;
        for (int i = first; i < end; ++i) {
            mid[i] = 0.5 * (v[i] + next[i]);
        }
        rgDynamics_SetTreeVelocity(d, tree, mid);
        rgDynamics_TreeBias(d, tree, y);
        for (int i = first; i < end; ++i) {
            y[i] = h * (tau[i] - y[i]);
        }
        rgDynamics_SolveTree(d, tree, y);
        for (int i = first; i < end; ++i) {
            double changed = v[i] + y[i];
            most = fmax(most, fabs(changed - next[i]));
            speed = fmax(speed, fabs(changed));
            next[i] = changed;
        }
        if (!(most < last) || most <= RG_MIDPOINT_TOLERANCE * speed) {
            return;
        }
        last = most;
    }
}

// From flightQ and substepV over pull->dt, with the change of the velocity that is foreseen.
static rgResult rgWorld_MoveHalf(rgWorld* world, const rgDofForces* pull, int tree, bool pulls) {
    rgDynamics* d = world->readout->start;
    double *q = world->fast.flightQ, *v = world->fast.substepV, *next = world->fast.flightV;
    size_t bytes = (size_t)(pull->end - pull->first) * sizeof(double);
    rgKinematics_IntegrateTree(&world->kinematics, tree, q, v, 0.5 * pull->dt, q);
    rgDynamics_PlaceTree(d, tree, q);
    if (pulls) {
        rgFreeMotion_AddDofForces(&world->free, &world->kinematics, &world->transmission, pull);
    }
    for (int i = pull->first; i < pull->end; ++i) {
        pull->tau[i] = world->fast.substepForce[i] + (pulls ? pull->tau[i] : 0);
    }
    rgResult result = rgDynamics_FactorizeTree(d, tree, pulls ? pull->added : NULL);
    if (result != rg_ok) {
        return result;
    }
    rgWorld_SolveMidpoint(world, d, tree, pull->dt, pull->tau, next);
    memcpy(v + pull->first, next + pull->first, bytes);
    rgKinematics_IntegrateTree(&world->kinematics, tree, q, v, 0.5 * pull->dt, q);
    return rg_ok;
}

// Both halves of the step, to flightQ and substepV; v1 is what the whole step ends with.
static rgResult rgWorld_MoveInHalves(rgWorld* world, int tree, const double* v1) {
    const rgTree* range = &world->model->trees[tree];
    int first = range->firstDof, end = first + range->dofCount;
    const double* v0 = world->kinematics.v;
    bool pulls = rgWorld_HasPulls(world, first, end);
    rgDofForces pull = {
        world->kinematics.q,     v0, world->settings.dt, first, end, world->fast.substepTau,
        world->fast.substepAdded};
    if (pulls) {
        rgFreeMotion_AddDofForces(&world->free, &world->kinematics, &world->transmission, &pull);
    }
    for (int i = first; i < end; ++i) {
        world->fast.substepForce[i] = world->free.tau[i] - (pulls ? pull.tau[i] : 0);
        world->fast.substepV[i] = v0[i];
        world->fast.flightV[i] = 0.5 * (v0[i] + v1[i]);
    }
    pull.q = world->fast.flightQ, pull.v = world->fast.substepV;
    pull.dt = 0.5 * world->settings.dt;
    rgKinematics_IntegrateTree(&world->kinematics, tree, world->state.q, v0, 0,
                               world->fast.flightQ);
    rgResult result = rgWorld_MoveHalf(world, &pull, tree, pulls);
    for (int i = first; i < end; ++i) {
        world->fast.flightV[i] = 2 * world->fast.flightV[i] - v0[i];
    }
    return result == rg_ok ? rgWorld_MoveHalf(world, &pull, tree, pulls) : result;
}

// a := b + (b - a)/3
static void rgExtrapolate(const double* b, int count, double* a) {
    for (int i = 0; i < count; ++i) {
        a[i] = b[i] + (b[i] - a[i]) / 3;
    }
}

static void rgExtrapolateQuat(const double* b, double* a) {
    rgQuat from = {a[0], a[1], a[2], a[3]}, to = {b[0], b[1], b[2], b[3]};
    rgVec3 turn = rgRotationVectorFromQuat(rgQuatMultiply(rgQuatConjugate(from), to));
    rgQuat next =
        rgQuatNormalize(rgQuatMultiply(to, rgQuatFromRotationVector(rgScale(1.0 / 3, turn))));
    a[0] = next.w, a[1] = next.x, a[2] = next.y, a[3] = next.z;
}

static void rgWorld_ExtrapolatePosition(rgWorld* world, int tree) {
    const rgTree* range = &world->model->trees[tree];
    for (int i = range->firstLink; i < range->firstLink + range->linkCount; ++i) {
        const rgLink* link = &world->model->links[i];
        double *a = world->next.q + link->q, *b = world->fast.flightQ + link->q;
        if (link->kind == rg_linkSpherical) {
            rgExtrapolateQuat(b, a);
        } else if (link->kind == rg_linkFree) {
            rgExtrapolate(b, 3, a);
            rgExtrapolateQuat(b + 3, a + 3);
        } else {
            rgExtrapolate(b, 1, a);
        }
    }
}

static void rgWorld_ExtrapolateVelocity(rgWorld* world, int tree) {
    const rgTree* range = &world->model->trees[tree];
    int first = range->firstDof;
    double *v = world->next.endV + first, *body = world->next.bodyV + first;
    rgExtrapolate(world->fast.substepV + first, range->dofCount, v);
    memcpy(body, v, (size_t)range->dofCount * sizeof(double));
    const double* q = world->next.q + world->model->links[range->firstLink].q + 3;
    rgVec3 linear = rgRotateBack((rgQuat){q[0], q[1], q[2], q[3]}, rgVec(v[0], v[1], v[2]));
    body[0] = linear.x, body[1] = linear.y, body[2] = linear.z;
}

rgResult rgExtrapolateFlight(rgStep* step) {
    rgWorld* world = step->world;
    for (int t = 0; t < world->model->treeCount; ++t) {
        if (!rgWorld_IsInFlight(world, t)) {
            continue;
        }
        rgResult result = rgWorld_MoveInHalves(world, t, world->next.endV);
        if (result != rg_ok) {
            return result;
        }
        rgWorld_ExtrapolatePosition(world, t);
        rgWorld_ExtrapolateVelocity(world, t);
    }
    return rg_ok;
}

// ---- inverse dynamics (docs/theory/inverse.md)

// q+ and v+ of the extrapolated step, to next.q and flightMidV, from a guess of v+.
static rgResult rgWorld_RepeatFlight(rgWorld* world, int tree, double* v1) {
    const rgTree* range = &world->model->trees[tree];
    int first = range->firstDof;
    size_t bytes = (size_t)range->dofCount * sizeof(double);
    double dt = world->settings.dt, *v = world->fast.flightMidV;
    memcpy(world->fast.substepV + first, world->kinematics.v + first, bytes);
    rgWorld_SolveMidpoint(world, world->kinematics.dynamics, tree, dt, world->free.tau, v1);
    rgKinematics_IntegrateTree(&world->kinematics, tree, world->kinematics.q, v1, 0.5 * dt,
                               world->next.q);
    rgResult result = rgWorld_MoveInHalves(world, tree, v1);
    rgWorld_ExtrapolatePosition(world, tree);
    memcpy(v + first, v1 + first, bytes);
    rgExtrapolate(world->fast.substepV + first, range->dofCount, v + first);
    return result;
}

// The force, beside tau, with which a whole step ends as target becomes that with which the
// extrapolated one does; v is near to its v+.
void rgWorld_CorrectFlightForce(rgWorld* world, int tree, const rgTargetVelocity* target,
                                const double* v, double* force) {
    const rgTree* range = &world->model->trees[tree];
    int first = range->firstDof, end = first + range->dofCount;
    double *tau = world->free.tau, *error = world->fast.flightV, *more = world->kinematics.scratch;
    memcpy(world->next.endV + first, v + first, (size_t)(end - first) * sizeof(double));
    for (int i = first; i < end; ++i) {
        tau[i] += force[i];
    }
    rgResult result = rgWorld_RepeatFlight(world, tree, world->next.endV);
    rgVelocityError(&world->next, world->model, tree, target, world->fast.flightMidV, error);
    rgDynamics_TreeMultiply(world->kinematics.dynamics, tree, error, more);
    for (int i = first; i < end; ++i) {
        double change = (more[i] + world->free.added[i] * error[i]) / world->settings.dt;
        tau[i] -= force[i];
        force[i] += result == rg_ok ? change : 0;
    }
}
