// Free motion: M^ and v_free from q, v and everything that is no constraint row: gravity, Coriolis,
// joint springs and damping, actuators, forces of the user. Springs, damping and gains are
// implicit. free.1, free.4, free.7-8.
#include "world/world.h"

#include <string.h>

// Forces of users in step coordinates.
static void rgFreeMotion_AddUserForces(rgFreeMotion* motion, const rgKinematics* kinematics,
                                       const rgState* state) {
    const rgModel* model = kinematics->dynamics->model;
    rgModel_StepVelocity(model, kinematics->q, state->force, motion->tau);
    memset(motion->added, 0, (size_t)model->vCount * sizeof(double));
}

static void rgFreeMotion_AddWrench(rgFreeMotion* motion, const rgKinematics* kinematics, int body) {
    const rgModel* model = kinematics->dynamics->model;
    const rgDynamics* d = kinematics->dynamics;
    const double* w = motion->wrench + 6 * body;
    const rgPlace* place = &model->bodyPlaces[body];
    rgVec3 force = rgVec(w[0], w[1], w[2]), torque = rgVec(w[3], w[4], w[5]);
    rgVec3 center = rgPose_Point(place->pose, model->bodies[body].inertia.center);
    const rgLinkPose* pose = &d->poses[place->link];
    rgVec3 arm = rgAdd(pose->p, rgRot_Apply(&pose->r, center));
    rgSpatial push = {force, rgAdd(torque, rgCross(arm, force))};
    const rgLink* link = &model->links[place->link];
    int last = place->link > 0 ? link->v + link->vCount - 1 : -1;
    for (int k = last; k >= 0; k = model->dofs[k].parent) {
        motion->tau[k] += rgSpatialDot(&d->axes[k], &push);
    }
}

static void rgFreeMotion_AddCompensation(rgFreeMotion* motion, const rgModel* model,
                                         const rgSettings* settings, int body) {
    const rgBodyDef* def = &model->bodies[body];
    double mass = def->gravityCompensation * def->inertia.mass;
    double* w = motion->wrench + 6 * body;
    w[0] -= mass * settings->gravity.x, w[1] -= mass * settings->gravity.y;
    w[2] -= mass * settings->gravity.z;
}

// Wrenches of users and compensation of gravity. Readers see those of the step, even if the user
// has changed them since.
static void rgWorld_AddWrenches(rgWorld* world) {
    world->free.hasWrench = world->free.stateHasWrench || world->free.compensates ||
                            world->free.hasFluid || world->free.hasAdhesion;
    int count = world->free.hasWrench ? world->model->info.bodyCount : 0;
    if (count > 0) {
        memcpy(world->free.wrench, world->state.wrench, 6 * (size_t)count * sizeof(double));
    }
    if (world->free.hasFluid) {
        rgWorld_AddFluid(world);
    }
    if (world->free.hasAdhesion) {
        rgWorld_AddAdhesion(world);
    }
    for (int b = 0; b < count; ++b) {
        rgFreeMotion_AddCompensation(&world->free, world->model, &world->settings, b);
        rgFreeMotion_AddWrench(&world->free, &world->kinematics, b);
    }
}

rgWeights rgSpringWeights(double driftTime, double z) {
    double y = RG_STIFFNESS_FACTOR * z, w = driftTime == 0 || y > 1e8 ? 1 : y * y / (1 + y * y);
    return (rgWeights){w, 0.25 * (1 + w) * (1 + w), 0.5 * (1 + w)};
}

// z of free.2
static double rgDamperWeight(double d) {
    return d > 2 ? 1 - 2 / d : 0;
}

rgWeights rgJointWeights(double driftTime, double k, double d) {
    double y = RG_STIFFNESS_FACTOR * k / (1 + RG_STIFFNESS_FACTOR * d), z = rgDamperWeight(d);
    double w = driftTime == 0 || y > 1e8 ? 1 : y * y / (1 + y * y);
    return (rgWeights){.along = w + 0.5 * (1 - w) * z,
                       .ahead = 0.25 * ((1 + w) * (1 + w) + (1 - w) * z),
                       .share = 0.5 * (1 + w + (1 - w) * z)};
}

static rgWeights rgJointWeightsBy(double w, double z, double dw, double dz) {
    double change = (1 - w) * dz - z * dw; // of (1 - w) z
    return (rgWeights){.along = dw + 0.5 * change,
                       .ahead = 0.5 * (1 + w) * dw + 0.25 * change,
                       .share = 0.5 * (dw + change)};
}

void rgJointWeightSlopes(double driftTime, double k, double d, rgWeights* byK, rgWeights* byD) {
    double most = 1 + RG_STIFFNESS_FACTOR * d, y = RG_STIFFNESS_FACTOR * k / most;
    double z = rgDamperWeight(d), square = 1 + y * y, w = 1, slope = 0;
    if (driftTime > 0 && y <= 1e8) {
        w = y * y / square;
        slope = 2 * y / (square * square) * RG_STIFFNESS_FACTOR / most;
    }
    *byK = rgJointWeightsBy(w, z, slope, 0);
    *byD = rgJointWeightsBy(w, z, -slope * y, z > 0 ? 2 / (d * d) : 0);
}

static rgWeights rgFreeMotion_DofWeights(const rgFreeMotion* motion, const rgKinematics* kinematics,
                                         int dof, double dt) {
    const rgModel* model = kinematics->dynamics->model;
    double factor = dt * rgKinematics_DofMobility(kinematics, dof);
    int tree = model->links[model->dofs[dof].link].tree;
    return rgJointWeights(kinematics->driftTime[tree], factor * dt * motion->dofStiffness[dof],
                          factor * motion->dofDamping[dof]);
}

static rgDofForces rgFreeMotion_StepDofForces(const rgFreeMotion* motion,
                                              const rgKinematics* kinematics, double dt) {
    return (rgDofForces){kinematics->q, kinematics->v, dt, 0, kinematics->dynamics->model->vCount,
                         motion->tau,   motion->added};
}

// Gains on one degree of freedom: their part of the actuator's force.
static double rgFreeMotion_AddGain(const rgFreeMotion* motion, const rgKinematics* kinematics,
                                   const rgTransmission* transmission, const rgDofForces* forces,
                                   int actuator) {
    const rgModel* model = kinematics->dynamics->model;
    const rgActuator* servo = &transmission->actuators[actuator];
    const rgActuatorDef* def = &model->actuators[actuator];
    int dof = model->jointRanges[def->joint.index1 - 1].v;
    double dt = forces->dt, gear = def->gear[0], v = gear * forces->v[dof];
    rgWeights w = rgFreeMotion_DofWeights(motion, kinematics, dof, dt);
    double position = gear * forces->q[model->jointRanges[def->joint.index1 - 1].q];
    position += w.along * dt * v;
    forces->added[dof] +=
        gear * gear * dt * (w.ahead * dt * servo->stiffness + w.share * servo->damping);
    return servo->stiffness * position + servo->damping * v;
}

// Actuators without rows: forces, and gains that become part of M^.
static void rgWorld_AddActuatorForces(rgWorld* world) {
    const rgModel* model = world->model;
    rgDofForces forces =
        rgFreeMotion_StepDofForces(&world->free, &world->kinematics, world->settings.dt);
    for (int a = 0; a < model->info.actuatorCount; ++a) {
        const rgActuator* servo = &world->transmission.actuators[a];
        if (servo->mode == rg_actuatorRow) {
            continue;
        }
        int count = rgActuatorEntries(&world->transmission, &world->constraints, model, a);
        double force = servo->command;
        if (servo->mode == rg_actuatorForce) {
            force = fmin(fmax(force, servo->lower), servo->upper);
        } else {
            force -= rgFreeMotion_AddGain(&world->free, &world->kinematics, &world->transmission,
                                          &forces, a);
        }
        world->transmission.actuatorForce[a] = force;
        for (int k = 0; k < count; ++k) {
            world->free.tau[world->constraints.entryColumns[k]] +=
                world->constraints.entryValues[k] * force;
        }
    }
}

// Efforts of motors and users are limited to those of their joints.
static void rgFreeMotion_ClampEfforts(rgFreeMotion* motion, const rgModel* model) {
    for (int j = 0; j < model->info.jointCount; ++j) {
        double limit = model->joints[j].effortLimit;
        const rgJointRange* range = &model->jointRanges[j];
        for (int k = range->v; limit > 0 && k < range->v + range->vCount; ++k) {
            motion->tau[k] = fmin(fmax(motion->tau[k], -limit), limit);
        }
    }
}

static void rgFreeMotion_AddSpring(const rgFreeMotion* motion, const rgKinematics* kinematics,
                                   const rgDofForces* forces, int joint) {
    const rgModel* model = kinematics->dynamics->model;
    const rgJointDef* def = &model->joints[joint];
    const rgJointRange* range = &model->jointRanges[joint];
    const double* q = forces->q + range->q;
    double stretch[3] = {0};
    if (def->kind == rg_jointSpherical) {
        rgVec3 r = rgRotationVectorFromQuat((rgQuat){q[0], q[1], q[2], q[3]});
        stretch[0] = r.x, stretch[1] = r.y, stretch[2] = r.z;
    } else if (range->vCount == 1) {
        stretch[0] = q[0] - def->springReference;
    } else {
        return;
    }
    double dt = forces->dt, k = def->stiffness;
    for (int i = 0; i < range->vCount; ++i) {
        int dof = range->v + i;
        rgWeights w = rgFreeMotion_DofWeights(motion, kinematics, dof, dt);
        forces->tau[dof] -= k * (stretch[i] + w.along * dt * forces->v[dof]);
        forces->added[dof] += dt * dt * (w.ahead * k);
    }
}

static void rgFreeMotion_AddSprings(const rgFreeMotion* motion, const rgKinematics* kinematics,
                                    const rgDofForces* forces) {
    const rgModel* model = kinematics->dynamics->model;
    for (int j = 0; j < model->info.jointCount; ++j) {
        int dof = model->jointRanges[j].v;
        if (model->joints[j].stiffness > 0 && dof >= forces->first && dof < forces->end) {
            rgFreeMotion_AddSpring(motion, kinematics, forces, j);
        }
    }
    for (int i = forces->first; i < forces->end; ++i) {
        double d = model->dofs[i].damping;
        if (d > 0) {
            forces->tau[i] -= d * forces->v[i];
            forces->added[i] +=
                forces->dt * (rgFreeMotion_DofWeights(motion, kinematics, i, forces->dt).share * d);
        }
    }
}

static void rgFreeMotion_AddStepSprings(rgFreeMotion* motion, const rgKinematics* kinematics,
                                        double dt) {
    rgDofForces forces = rgFreeMotion_StepDofForces(motion, kinematics, dt);
    rgFreeMotion_AddSprings(motion, kinematics, &forces);
}

// Free bodies have free.9 instead of a bias.
static void rgKinematics_SetMidVelocity(rgKinematics* kinematics) {
    for (int t = 0; t < kinematics->dynamics->model->treeCount; ++t) {
        if (kinematics->driftTime[t] > 0 && !kinematics->isFreeBody[t]) {
            rgDynamics_SetTreeVelocity(kinematics->dynamics, t, kinematics->midV);
        }
    }
}

// free.4: dt (tau - b); free.12 for fast trees.
static void rgWorld_TreeImpulse(rgWorld* world, int tree, double* x) {
    const rgTree* range = &world->model->trees[tree];
    size_t bytes = (size_t)range->dofCount * sizeof(double);
    if (world->fast.isFast[tree]) {
        rgWorld_FastImpulse(world, tree, x);
        return;
    }
    if (world->kinematics.isFreeBody[tree]) { // free.9 takes its place
        memset(world->kinematics.scratch + range->firstDof, 0, bytes);
    } else {
        rgDynamics_TreeBias(world->kinematics.dynamics, tree, world->kinematics.scratch);
    }
    for (int i = range->firstDof; i < range->firstDof + range->dofCount; ++i) {
        x[i] = world->settings.dt * (world->free.tau[i] - world->kinematics.scratch[i]);
    }
}

rgResult rgComputeFreeVelocity(rgStep* step) {
    rgWorld* world = step->world;
    const rgModel* model = world->model;
    rgDynamics_NeedMass(world->kinematics.dynamics);
    rgKinematics_SetMidVelocity(&world->kinematics);
    rgFreeMotion_AddUserForces(&world->free, &world->kinematics, &world->state);
    rgWorld_AddActuatorForces(world);
    rgFreeMotion_ClampEfforts(&world->free, model);
    rgWorld_AddWrenches(world);
    rgFreeMotion_AddStepSprings(&world->free, &world->kinematics, world->settings.dt);
    rgResult result = rg_ok;
    for (int t = 0; t < model->treeCount && result == rg_ok; ++t) {
        rgWorld_TreeImpulse(world, t, world->free.v);
        result = rgFreeMotion_FactorizeTree(&world->free, &world->kinematics, &world->fast, t);
    }
    if (result != rg_ok) {
        return result;
    }
    rgDynamics_Solve(world->kinematics.dynamics, 1, world->free.v);
    for (int i = 0; i < model->vCount; ++i) {
        world->free.v[i] += world->fast.isFast[world->constraints.treeOfDof[i]]
                                ? world->fast.projectedV[i]
                                : world->kinematics.v[i];
    }
    rgWorld_ReplaceFreeBodies(world);
    return rg_ok;
}

// ---- free motion with the bias of the middle of the step

// True where no rows act: the motion is the free motion.
bool rgTreeIsRefined(const rgKinematics* kinematics, const rgConstraintSet* constraints,
                     const rgSleep* sleep, int tree) {
    return kinematics->driftTime[tree] > 0 && !constraints->isHeld[tree] &&
           !kinematics->isFreeBody[tree] && sleep->asleep[tree] == 0;
}

// free.6: freeV := v + M^^-1 dt (tau - b((v + freeV)/2)). Returns the largest change.
static double rgFreeMotion_RefineOnce(rgFreeMotion* motion, rgKinematics* kinematics, double dt,
                                      int tree) {
    const rgTree* range = &kinematics->dynamics->model->trees[tree];
    int first = range->firstDof, end = first + range->dofCount;
    double *y = kinematics->scratch, most = 0;
    for (int i = first; i < end; ++i) {
        kinematics->midV[i] = 0.5 * (kinematics->v[i] + motion->v[i]);
    }
    rgDynamics_SetTreeVelocity(kinematics->dynamics, tree, kinematics->midV);
    rgDynamics_TreeBias(kinematics->dynamics, tree, y);
    for (int i = first; i < end; ++i) {
        y[i] = dt * (motion->tau[i] - y[i]);
    }
    rgDynamics_SolveTree(kinematics->dynamics, tree, y);
    for (int i = first; i < end; ++i) {
        y[i] += kinematics->v[i];
        most = fmax(most, fabs(y[i] - motion->v[i]));
        motion->v[i] = y[i];
    }
    return most;
}

// Fixed-point iteration; it contracts by about half of the angle that the tree turns in a step.
static void rgFreeMotion_RefineSlow(rgFreeMotion* motion, rgKinematics* kinematics, double dt,
                                    int tree) {
    const rgTree* range = &kinematics->dynamics->model->trees[tree];
    double speed = 0, last = INFINITY;
    for (int i = range->firstDof; i < range->firstDof + range->dofCount; ++i) {
        speed = fmax(speed, fabs(kinematics->v[i]) + fabs(motion->v[i] - kinematics->v[i]));
    }
    for (int k = 0; k < RG_SEARCH_ITERATIONS; ++k) {
        double change = rgFreeMotion_RefineOnce(motion, kinematics, dt, tree);
        if (!(change < last) || change <= RG_MIDPOINT_TOLERANCE * speed) {
            return;
        }
        last = change;
    }
}

static rgResult rgWorld_RefineFast(rgWorld* world, int tree) {
    const rgTree* range = &world->model->trees[tree];
    world->fast.substeps[tree] =
        rgFreeMotion_CountSubsteps(&world->free, &world->kinematics, world->settings.dt, tree);
    if (world->fast.substeps[tree] == 1) {
        return rg_ok;
    }
    rgResult result = rgWorld_MoveInSubsteps(world, tree, world->fast.substeps[tree]);
    for (int i = range->firstDof; i < range->firstDof + range->dofCount; ++i) {
        world->free.v[i] = world->fast.substepV[i];
        world->kinematics.midV[i] = 0.5 * (world->kinematics.v[i] + world->fast.substepV[i]);
    }
    return result;
}

rgResult rgWorld_RefineFreeVelocity(rgWorld* world) {
    rgResult result = rg_ok;
    for (int t = 0; t < world->model->treeCount; ++t) {
        world->fast.substeps[t] = 1;
        if (!rgTreeIsRefined(&world->kinematics, &world->constraints, &world->sleep, t)) {
            continue;
        }
        if (world->fast.isFast[t]) {
            result = rgWorld_RefineFast(world, t);
        } else {
            rgFreeMotion_RefineSlow(&world->free, &world->kinematics, world->settings.dt, t);
        }
        if (result != rg_ok) {
            return result;
        }
    }
    return rg_ok;
}

// Forces of springs, dampers and gains on joints, and their share of M^.
void rgFreeMotion_AddDofForces(const rgFreeMotion* motion, const rgKinematics* kinematics,
                               const rgTransmission* transmission, const rgDofForces* forces) {
    const rgModel* model = kinematics->dynamics->model;
    size_t bytes = (size_t)(forces->end - forces->first) * sizeof(double);
    memset(forces->tau + forces->first, 0, bytes);
    memset(forces->added + forces->first, 0, bytes);
    for (int a = 0; a < model->info.actuatorCount; ++a) {
        const rgActuatorDef* def = &model->actuators[a];
        bool joint = transmission->actuators[a].mode == rg_actuatorJoint;
        int dof = joint ? model->jointRanges[def->joint.index1 - 1].v : -1;
        if (dof >= forces->first && dof < forces->end) {
            forces->tau[dof] -=
                def->gear[0] * rgFreeMotion_AddGain(motion, kinematics, transmission, forces, a);
        }
    }
    rgFreeMotion_AddSprings(motion, kinematics, forces);
}

// ---- inverse dynamics (docs/theory/inverse.md)

// Forces on the degrees of freedom without the user's, in tau; driven: the actuators' share.
void rgWorld_SumOtherForces(rgWorld* world, double* driven) {
    size_t bytes = (size_t)world->model->vCount * sizeof(double);
    rgDynamics_NeedMass(world->kinematics.dynamics);
    rgKinematics_SetMidVelocity(&world->kinematics);
    memset(world->free.tau, 0, bytes);
    memset(world->free.added, 0, bytes);
    rgWorld_AddActuatorForces(world);
    memcpy(driven, world->free.tau, bytes);
    rgWorld_AddWrenches(world);
    rgFreeMotion_AddStepSprings(&world->free, &world->kinematics, world->settings.dt);
}

// free.6 of a v+ that is known
void rgWorld_PredictFree(rgWorld* world, const double* v) {
    for (int t = 0; t < world->model->treeCount; ++t) {
        const rgTree* range = &world->model->trees[t];
        if (!rgTreeIsRefined(&world->kinematics, &world->constraints, &world->sleep, t) ||
            world->fast.isFast[t]) {
            continue;
        }
        for (int i = range->firstDof; i < range->firstDof + range->dofCount; ++i) {
            world->kinematics.midV[i] = 0.5 * (world->kinematics.v[i] + v[i]);
        }
        rgDynamics_SetTreeVelocity(world->kinematics.dynamics, t, world->kinematics.midV);
    }
}

// Stiffness and damping of each degree of freedom, which determine how implicit its step is
// (free.1).
static void rgFreeMotion_PlanDofForces(rgFreeMotion* motion, const rgTransmission* transmission,
                                       const rgModel* model) {
    for (int i = 0; i < model->vCount; ++i) {
        motion->dofDamping[i] = model->dofs[i].damping;
        motion->dofStiffness[i] = 0;
    }
    for (int j = 0; j < model->info.jointCount; ++j) {
        const rgJointRange* range = &model->jointRanges[j];
        for (int k = range->v; k < range->v + range->vCount; ++k) {
            motion->dofStiffness[k] += model->joints[j].stiffness;
        }
    }
    for (int a = 0; a < model->info.actuatorCount; ++a) {
        const rgActuator* servo = &transmission->actuators[a];
        const rgActuatorDef* def = &model->actuators[a];
        if (servo->mode == rg_actuatorJoint) {
            int dof = model->jointRanges[def->joint.index1 - 1].v;
            motion->dofStiffness[dof] += def->gear[0] * def->gear[0] * servo->stiffness;
            motion->dofDamping[dof] += def->gear[0] * def->gear[0] * servo->damping;
        }
    }
}

static void rgFreeMotion_MarkLoop(rgFreeMotion* motion, const rgModel* model,
                                  const rgEqualityDef* def) {
    const int bodies[2] = {def->bodyA.index1, def->bodyB.index1};
    for (int i = 0; i < 2; ++i) {
        int link = bodies[i] > 0 ? model->bodyPlaces[bodies[i] - 1].link : 0;
        int tree = model->links[link].tree;
        if (tree >= 0 && !def->disabled && def->stiffness == 0) {
            motion->isLooped[tree] = true;
        }
    }
}

// Trees on which tendons with springs act: they curve the path of a body as loops do.
static void rgFreeMotion_MarkTendon(rgFreeMotion* motion, const rgModel* model, int tendon) {
    const rgTendonDef* def = &model->tendons[tendon];
    bool pulls =
        def->pointCount > 0 && (def->stiffness > 0 || def->damping > 0 || def->armature > 0);
    for (int k = model->tendonStart[tendon]; pulls && k < model->tendonStart[tendon + 1]; ++k) {
        motion->isLooped[model->links[model->dofs[model->tendonColumns[k]].link].tree] = true;
    }
}

static void rgFreeMotion_MarkActuator(rgFreeMotion* motion, const rgTransmission* transmission,
                                      const rgModel* model, int actuator) {
    const rgActuatorDef* def = &model->actuators[actuator];
    int joint = def->joint.index1 - 1, tendon = def->tendon.index1 - 1;
    bool way = joint >= 0    ? model->jointRanges[joint].vCount > 1
               : tendon >= 0 ? model->tendons[tendon].pointCount > 0
                             : true;
    const rgActuator* servo = &transmission->actuators[actuator];
    bool pulls = servo->mode == rg_actuatorRow || (way && servo->varies);
    for (int k = model->driveStart[actuator]; pulls && k < model->driveStart[actuator + 1]; ++k) {
        motion->isLooped[model->links[model->dofs[model->driveColumns[k]].link].tree] = true;
    }
}

bool rgFreeMotion_Create(rgFreeMotion* free, rgHeap* heap, const rgModel* model) {
    const rgModelInfo* info = &model->info;
    int nv = model->vCount;
    bool good = true;
    free->isLooped = rgHeap_Allocate(heap, info->treeCount, sizeof(bool), &good);
    free->dofStiffness = rgHeap_Allocate(heap, nv, sizeof(double), &good);
    free->dofDamping = rgHeap_Allocate(heap, nv, sizeof(double), &good);
    free->wrench = rgHeap_Allocate(heap, 6 * info->bodyCount, sizeof(double), &good);
    free->tau = rgHeap_Allocate(heap, nv, sizeof(double), &good);
    free->added = rgHeap_Allocate(heap, nv, sizeof(double), &good);
    free->v = rgHeap_Allocate(heap, nv, sizeof(double), &good);
    free->fluidBoxes = rgHeap_Allocate(heap, info->bodyCount, sizeof(rgFluidBox), &good);
    free->fluidEllipsoids =
        rgHeap_Allocate(heap, info->shapeCount, sizeof(rgFluidEllipsoid), &good);
    free->fluidDamping = rgHeap_Allocate(heap, nv, sizeof(double), &good);
    return good;
}

void rgFreeMotion_Plan(rgFreeMotion* motion, const rgTransmission* transmission,
                       const rgModel* model) {
    motion->compensates = false;
    for (int b = 0; b < model->info.bodyCount; ++b) {
        motion->compensates = motion->compensates || model->bodies[b].gravityCompensation != 0;
    }
    memset(motion->isLooped, 0, (size_t)model->treeCount * sizeof(bool));
    for (int e = 0; e < model->info.equalityCount; ++e) {
        rgFreeMotion_MarkLoop(motion, model, &model->equalities[e]);
    }
    for (int t = 0; t < model->info.tendonCount; ++t) {
        rgFreeMotion_MarkTendon(motion, model, t);
    }
    for (int a = 0; a < model->info.actuatorCount; ++a) {
        rgFreeMotion_MarkActuator(motion, transmission, model, a);
    }
    rgFreeMotion_PlanDofForces(motion, transmission, model);
    rgFreeMotion_PlanFluid(motion, model);
    motion->hasAdhesion = rgWorld_HasAdhesion(model);
}
