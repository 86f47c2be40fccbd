// Free motion: M^ and v_free from q, v and everything that is no constraint row: gravity, Coriolis,
// joint springs and damping, actuators, forces of the user. Springs, damping and gains are
// implicit. free.1-2, free.5-6.
#include "world/world.h"

#include <string.h>

// Forces of users in step coordinates.
static void rgWorld_AddUserForces(rgWorld* world) {
    const rgModel* model = world->model;
    rgModel_StepVelocity(model, world->kinematics.q, world->state.force, world->free.tau);
    memset(world->free.added, 0, (size_t)model->vCount * sizeof(double));
}

static void rgWorld_AddWrench(rgWorld* world, int body) {
    const rgModel* model = world->model;
    const rgDynamics* d = world->kinematics.dynamics;
    const double* w = world->free.wrench + 6 * body;
    const rgPlace* place = &model->bodyPlaces[body];
    rgVec3 force = rgVec(w[0], w[1], w[2]), torque = rgVec(w[3], w[4], w[5]);
    rgVec3 center = rgPose_Point(place->pose, model->bodies[body].inertia.center);
    const rgLinkPose* pose = &d->poses[place->link];
    rgVec3 arm = rgAdd(pose->p, rgRot_Apply(&pose->r, center));
    rgSpatial push = {force, rgAdd(torque, rgCross(arm, force))};
    const rgLink* link = &model->links[place->link];
    int last = place->link > 0 ? link->v + link->vCount - 1 : -1;
    for (int k = last; k >= 0; k = model->dofs[k].parent) {
        world->free.tau[k] += rgSpatialDot(&d->axes[k], &push);
    }
}

static void rgWorld_AddCompensation(rgWorld* world, int body) {
    const rgBodyDef* def = &world->model->bodies[body];
    double mass = def->gravityCompensation * def->inertia.mass;
    double* w = world->free.wrench + 6 * body;
    w[0] -= mass * world->settings.gravity.x, w[1] -= mass * world->settings.gravity.y;
    w[2] -= mass * world->settings.gravity.z;
}

// Wrenches of users and compensation of gravity. Readers see those of the step, also when they were
// set or cleared after it.
static void rgWorld_AddWrenches(rgWorld* world) {
    world->free.hasWrench =
        world->free.stateHasWrench || world->free.compensates || world->free.hasFluid;
    int count = world->free.hasWrench ? world->model->info.bodyCount : 0;
    if (count > 0) {
        memcpy(world->free.wrench, world->state.wrench, 6 * (size_t)count * sizeof(double));
    }
    if (world->free.hasFluid) {
        rgWorld_AddFluid(world);
    }
    for (int b = 0; b < count; ++b) {
        rgWorld_AddCompensation(world, b);
        rgWorld_AddWrench(world, b);
    }
}

// Weights of springs between the trapezoidal rule and implicit Euler (free.1), for z = (dt^2 k + dt
// d)/m: with less than twelve steps per period, a trapezoidal spring would ring on.
rgWeights rgSpringWeights(double lead, double z) {
    double y = RG_STIFFNESS_FACTOR * z, w = lead == 0 || y > 1e8 ? 1 : y * y / (1 + y * y);
    return (rgWeights){w, 0.25 * (1 + w) * (1 + w), 0.5 * (1 + w)};
}

static rgWeights rgWorld_DofWeights(const rgWorld* world, int dof, double dt) {
    const rgModel* model = world->model;
    double k = world->free.dofStiffness[dof], d = world->free.dofDamping[dof];
    double mass = world->kinematics.dynamics->mass[model->dofs[dof].rowStart];
    int tree = model->links[model->dofs[dof].link].tree;
    return rgSpringWeights(world->kinematics.driftTime[tree], dt * (dt * k + d) / mass);
}

static rgDofForces rgWorld_StepDofForces(const rgWorld* world) {
    return (rgDofForces){world->kinematics.q,  world->kinematics.v, world->settings.dt, 0,
                         world->model->vCount, world->free.tau,     world->free.added};
}

// Gains on one degree of freedom: their part of the actuator's force.
static double rgWorld_AddGain(const rgWorld* world, const rgDofForces* forces, int actuator) {
    const rgActuator* drive = &world->transmission.actuators[actuator];
    const rgActuatorDef* def = &world->model->actuators[actuator];
    int dof = world->model->jointRanges[def->joint.index1 - 1].v;
    double dt = forces->dt, gear = def->gear[0], v = gear * forces->v[dof];
    rgWeights w = rgWorld_DofWeights(world, dof, dt);
    double position = gear * forces->q[world->model->jointRanges[def->joint.index1 - 1].q];
    position += w.along * dt * v;
    forces->added[dof] +=
        gear * gear * dt * (w.ahead * dt * drive->stiffness + w.share * drive->damping);
    return drive->stiffness * position + drive->damping * v;
}

// Actuators that are no rows: plain forces, and gains that become part of M^.
static void rgWorld_AddActuatorForces(rgWorld* world) {
    const rgModel* model = world->model;
    rgDofForces forces = rgWorld_StepDofForces(world);
    for (int a = 0; a < model->info.actuatorCount; ++a) {
        const rgActuator* drive = &world->transmission.actuators[a];
        if (drive->mode == rg_actuatorRow) {
            continue;
        }
        int count = rgActuatorEntries(world, a);
        double force = drive->command;
        if (drive->mode == rg_actuatorForce) {
            force = fmin(fmax(force, drive->lower), drive->upper);
        } else {
            force -= rgWorld_AddGain(world, &forces, a);
        }
        world->transmission.actuatorForce[a] = force;
        for (int k = 0; k < count; ++k) {
            world->free.tau[world->constraints.entryColumns[k]] +=
                world->constraints.entryValues[k] * force;
        }
    }
}

// Efforts of motors and users are limited to those of their joints.
static void rgWorld_ClampEfforts(rgWorld* world) {
    const rgModel* model = world->model;
    for (int j = 0; j < model->info.jointCount; ++j) {
        double limit = model->joints[j].effortLimit;
        const rgJointRange* range = &model->jointRanges[j];
        for (int k = range->v; limit > 0 && k < range->v + range->vCount; ++k) {
            world->free.tau[k] = fmin(fmax(world->free.tau[k], -limit), limit);
        }
    }
}

static void rgWorld_AddSpring(const rgWorld* world, const rgDofForces* forces, int joint) {
    const rgModel* model = world->model;
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
        rgWeights w = rgWorld_DofWeights(world, dof, dt);
        forces->tau[dof] -= k * (stretch[i] + w.along * dt * forces->v[dof]);
        forces->added[dof] += dt * dt * (w.ahead * k);
    }
}

static void rgWorld_AddSprings(const rgWorld* world, const rgDofForces* forces) {
    const rgModel* model = world->model;
    for (int j = 0; j < model->info.jointCount; ++j) {
        int dof = model->jointRanges[j].v;
        if (model->joints[j].stiffness > 0 && dof >= forces->first && dof < forces->end) {
            rgWorld_AddSpring(world, forces, j);
        }
    }
    for (int i = forces->first; i < forces->end; ++i) {
        double d = model->dofs[i].damping;
        if (d > 0) {
            forces->tau[i] -= d * forces->v[i];
            forces->added[i] += forces->dt * (rgWorld_DofWeights(world, i, forces->dt).share * d);
        }
    }
}

static void rgWorld_AddStepSprings(rgWorld* world) {
    rgDofForces forces = rgWorld_StepDofForces(world);
    rgWorld_AddSprings(world, &forces);
}

// Free bodies have free.7 instead of a bias.
void rgWorld_SetMidVelocity(rgWorld* world) {
    for (int t = 0; t < world->model->treeCount; ++t) {
        if (world->kinematics.driftTime[t] > 0 && !world->kinematics.isFreeBody[t]) {
            rgDynamics_SetTreeVelocity(world->kinematics.dynamics, t, world->kinematics.midV);
        }
    }
}

// free.2: dt (tau - b), or what free.10 has in its place.
static void rgWorld_TreeImpulse(rgWorld* world, int tree, double* x) {
    const rgTree* range = &world->model->trees[tree];
    size_t bytes = (size_t)range->dofCount * sizeof(double);
    if (world->fast.isFast[tree]) {
        rgWorld_FastImpulse(world, tree, x);
        return;
    }
    if (world->kinematics.isFreeBody[tree]) { // free.7 takes its place
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
    rgWorld_SetMidVelocity(world);
    rgWorld_AddUserForces(world);
    rgWorld_AddActuatorForces(world);
    rgWorld_ClampEfforts(world);
    rgWorld_AddWrenches(world);
    rgWorld_AddStepSprings(world);
    rgResult result = rg_ok;
    for (int t = 0; t < model->treeCount && result == rg_ok; ++t) {
        rgWorld_TreeImpulse(world, t, world->free.v);
        result = rgWorld_FactorizeTree(world, t);
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

// True where no rows act: there the free motion is the motion.
bool rgWorld_IsRefined(const rgWorld* world, int tree) {
    return world->kinematics.driftTime[tree] > 0 && !world->constraints.isHeld[tree] &&
           !world->kinematics.isFreeBody[tree] && world->sleep.asleep[tree] == 0;
}

// free.4: freeV := v + M^^-1 dt (tau - b((v + freeV)/2)). Returns the largest change.
static double rgWorld_RefineOnce(rgWorld* world, int tree) {
    const rgTree* range = &world->model->trees[tree];
    int first = range->firstDof, end = first + range->dofCount;
    double *y = world->kinematics.scratch, most = 0;
    for (int i = first; i < end; ++i) {
        world->kinematics.midV[i] = 0.5 * (world->kinematics.v[i] + world->free.v[i]);
    }
    rgDynamics_SetTreeVelocity(world->kinematics.dynamics, tree, world->kinematics.midV);
    rgDynamics_TreeBias(world->kinematics.dynamics, tree, y);
    for (int i = first; i < end; ++i) {
        y[i] = world->settings.dt * (world->free.tau[i] - y[i]);
    }
    rgDynamics_SolveTree(world->kinematics.dynamics, tree, y);
    for (int i = first; i < end; ++i) {
        y[i] += world->kinematics.v[i];
        most = fmax(most, fabs(y[i] - world->free.v[i]));
        world->free.v[i] = y[i];
    }
    return most;
}

// Fixed-point iteration; it contracts by about half of the angle that the tree turns in a step.
static void rgWorld_RefineSlow(rgWorld* world, int tree) {
    const rgTree* range = &world->model->trees[tree];
    double speed = 0, last = INFINITY;
    for (int i = range->firstDof; i < range->firstDof + range->dofCount; ++i) {
        speed = fmax(speed, fabs(world->kinematics.v[i]) +
                                fabs(world->free.v[i] - world->kinematics.v[i]));
    }
    for (int k = 0; k < RG_MIDPOINT_ITERATIONS; ++k) {
        double change = rgWorld_RefineOnce(world, tree);
        if (!(change < last) || change <= RG_MIDPOINT_TOLERANCE * speed) {
            return;
        }
        last = change;
    }
}

static rgResult rgWorld_RefineFast(rgWorld* world, int tree) {
    const rgTree* range = &world->model->trees[tree];
    world->fast.substeps[tree] = rgWorld_CountSubsteps(world, tree);
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
        if (!rgWorld_IsRefined(world, t)) {
            continue;
        }
        if (world->fast.isFast[t]) {
            result = rgWorld_RefineFast(world, t);
        } else {
            rgWorld_RefineSlow(world, t);
        }
        if (result != rg_ok) {
            return result;
        }
    }
    return rg_ok;
}

// Forces of springs, dampers and gains on joints, and their share of M^.
void rgWorld_AddDofForces(const rgWorld* world, const rgDofForces* forces) {
    const rgModel* model = world->model;
    size_t bytes = (size_t)(forces->end - forces->first) * sizeof(double);
    memset(forces->tau + forces->first, 0, bytes);
    memset(forces->added + forces->first, 0, bytes);
    for (int a = 0; a < model->info.actuatorCount; ++a) {
        const rgActuatorDef* def = &model->actuators[a];
        bool joint = world->transmission.actuators[a].mode == rg_actuatorJoint;
        int dof = joint ? model->jointRanges[def->joint.index1 - 1].v : -1;
        if (dof >= forces->first && dof < forces->end) {
            forces->tau[dof] -= def->gear[0] * rgWorld_AddGain(world, forces, a);
        }
    }
    rgWorld_AddSprings(world, forces);
}

// ---- inverse dynamics (docs/theory/inverse.md)

// Forces on the degrees of freedom without the user's, in tau; driven: the actuators' share.
void rgWorld_SumOtherForces(rgWorld* world, double* driven) {
    size_t bytes = (size_t)world->model->vCount * sizeof(double);
    rgDynamics_NeedMass(world->kinematics.dynamics);
    rgWorld_SetMidVelocity(world);
    memset(world->free.tau, 0, bytes);
    memset(world->free.added, 0, bytes);
    rgWorld_AddActuatorForces(world);
    memcpy(driven, world->free.tau, bytes);
    rgWorld_AddWrenches(world);
    rgWorld_AddStepSprings(world);
}

// free.4 of a v+ that is known
void rgWorld_PredictFree(rgWorld* world, const double* v) {
    for (int t = 0; t < world->model->treeCount; ++t) {
        const rgTree* range = &world->model->trees[t];
        if (!rgWorld_IsRefined(world, t) || world->fast.isFast[t]) {
            continue;
        }
        for (int i = range->firstDof; i < range->firstDof + range->dofCount; ++i) {
            world->kinematics.midV[i] = 0.5 * (world->kinematics.v[i] + v[i]);
        }
        rgDynamics_SetTreeVelocity(world->kinematics.dynamics, t, world->kinematics.midV);
    }
}

// Stiffness and damping of each degree of freedom: they say how implicit the step is there
// (free.1).
void rgWorld_PlanDofForces(rgWorld* world) {
    const rgModel* model = world->model;
    for (int i = 0; i < model->vCount; ++i) {
        world->free.dofDamping[i] = model->dofs[i].damping;
        world->free.dofStiffness[i] = 0;
    }
    for (int j = 0; j < model->info.jointCount; ++j) {
        const rgJointRange* range = &model->jointRanges[j];
        for (int k = range->v; k < range->v + range->vCount; ++k) {
            world->free.dofStiffness[k] += model->joints[j].stiffness;
        }
    }
    for (int a = 0; a < model->info.actuatorCount; ++a) {
        const rgActuator* drive = &world->transmission.actuators[a];
        const rgActuatorDef* def = &model->actuators[a];
        if (drive->mode == rg_actuatorJoint) {
            int dof = model->jointRanges[def->joint.index1 - 1].v;
            world->free.dofStiffness[dof] += def->gear[0] * def->gear[0] * drive->stiffness;
            world->free.dofDamping[dof] += def->gear[0] * def->gear[0] * drive->damping;
        }
    }
}

void rgWorld_MarkLoop(rgWorld* world, const rgEqualityDef* def) {
    const rgModel* model = world->model;
    const int bodies[2] = {def->bodyA.index1, def->bodyB.index1};
    for (int i = 0; i < 2; ++i) {
        int link = bodies[i] > 0 ? model->bodyPlaces[bodies[i] - 1].link : 0;
        int tree = model->links[link].tree;
        if (tree >= 0 && !def->disabled && def->stiffness == 0) {
            world->free.isLooped[tree] = true;
        }
    }
}

// Trees on which tendons with springs act: such a spring bends the path of a body as a loop does.
void rgWorld_MarkTendon(rgWorld* world, int tendon) {
    const rgModel* model = world->model;
    const rgTendonDef* def = &model->tendons[tendon];
    bool pulls =
        def->pointCount > 0 && (def->stiffness > 0 || def->damping > 0 || def->armature > 0);
    for (int k = model->tendonStart[tendon]; pulls && k < model->tendonStart[tendon + 1]; ++k) {
        world->free.isLooped[model->links[model->dofs[model->tendonColumns[k]].link].tree] = true;
    }
}

void rgWorld_MarkActuator(rgWorld* world, int actuator) {
    const rgModel* model = world->model;
    const rgActuatorDef* def = &model->actuators[actuator];
    int joint = def->joint.index1 - 1, tendon = def->tendon.index1 - 1;
    bool way = joint >= 0    ? model->jointRanges[joint].vCount > 1
               : tendon >= 0 ? model->tendons[tendon].pointCount > 0
                             : true;
    const rgActuator* drive = &world->transmission.actuators[actuator];
    bool pulls = drive->mode == rg_actuatorRow || (way && drive->varies);
    for (int k = model->driveStart[actuator]; pulls && k < model->driveStart[actuator + 1]; ++k) {
        world->free.isLooped[model->links[model->dofs[model->driveColumns[k]].link].tree] = true;
    }
}

bool rgFreeMotion_Create(rgWorld* world) {
    rgFreeMotion* free = &world->free;
    const rgModelInfo* info = &world->model->info;
    int nv = world->model->vCount;
    bool good = true;
    free->isLooped = rgWorld_Allocate(world, info->treeCount, sizeof(bool), &good);
    free->dofStiffness = rgWorld_Allocate(world, nv, sizeof(double), &good);
    free->dofDamping = rgWorld_Allocate(world, nv, sizeof(double), &good);
    free->wrench = rgWorld_Allocate(world, 6 * info->bodyCount, sizeof(double), &good);
    free->tau = rgWorld_Allocate(world, nv, sizeof(double), &good);
    free->added = rgWorld_Allocate(world, nv, sizeof(double), &good);
    free->v = rgWorld_Allocate(world, nv, sizeof(double), &good);
    free->fluidBoxes = rgWorld_Allocate(world, info->bodyCount, sizeof(rgFluidBox), &good);
    free->fluidDamping = rgWorld_Allocate(world, nv, sizeof(double), &good);
    return good;
}
