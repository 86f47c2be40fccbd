// Free motion: M^ and v_free from q, v and everything that is no constraint row: gravity, Coriolis,
// joint springs and damping, actuators, forces of the user. Springs, damping and gains are
// implicit. docs/theory/step.md (1)-(5).
#include "world/world.h"

#include <string.h>

#define RG_STIFF 4.0

static rgQuat rgWorld_FreeRotation(const rgWorld* world, const rgLink* link) {
    const double* q = world->startQ + link->q + 3;
    return (rgQuat){q[0], q[1], q[2], q[3]};
}

// What the user set, in step coordinates.
static void rgWorld_TakeForces(rgWorld* world) {
    const rgModel* model = world->model;
    rgModel_StepVelocity(model, world->startQ, world->state.force, world->tau);
    memset(world->added, 0, (size_t)model->vCount * sizeof(double));
}

static void rgWorld_AddWrench(rgWorld* world, int body) {
    const rgModel* model = world->model;
    const rgDynamics* d = world->dynamics;
    const double* w = world->stepWrench + 6 * body;
    const rgPlace* place = &model->bodyPlaces[body];
    rgVec3 force = rgVec(w[0], w[1], w[2]), torque = rgVec(w[3], w[4], w[5]);
    rgVec3 center = rgPose_Point(place->pose, model->bodies[body].inertia.center);
    const rgLinkPose* pose = &d->poses[place->link];
    rgVec3 arm = rgAdd(pose->p, rgRot_Apply(&pose->r, center));
    rgSpatial push = {force, rgAdd(torque, rgCross(arm, force))};
    const rgLink* link = &model->links[place->link];
    int last = place->link > 0 ? link->v + link->vCount - 1 : -1;
    for (int k = last; k >= 0; k = model->dofs[k].parent) {
        world->tau[k] += rgSpatialDot(&d->axes[k], &push);
    }
}

static void rgWorld_AddCompensation(rgWorld* world, int body) {
    const rgBodyDef* def = &world->model->bodies[body];
    double mass = def->gravityCompensation * def->inertia.mass;
    double* w = world->stepWrench + 6 * body;
    w[0] -= mass * world->gravity.x, w[1] -= mass * world->gravity.y;
    w[2] -= mass * world->gravity.z;
}

// What the user set, and what takes weight off bodies. Readers see those of the step, whatever is
// set or cleared after it.
static void rgWorld_AddWrenches(rgWorld* world) {
    world->stepWrenched = world->wrenched || world->compensates || world->fluid;
    int count = world->stepWrenched ? world->model->info.bodyCount : 0;
    if (count > 0) {
        memcpy(world->stepWrench, world->state.wrench, 6 * (size_t)count * sizeof(double));
    }
    if (world->fluid) {
        rgWorld_AddFluid(world);
    }
    for (int b = 0; b < count; ++b) {
        rgWorld_AddCompensation(world, b);
        rgWorld_AddWrench(world, b);
    }
}

// (1) How implicit they are. z = (dt^2 k + dt d)/m: beyond a twelfth of a period in a step, what
// rings would ring on and on.
rgWeights rgSpringWeights(double lead, double z) {
    double y = RG_STIFF * z, w = lead == 0 || y > 1e8 ? 1 : y * y / (1 + y * y);
    return (rgWeights){w, 0.25 * (1 + w) * (1 + w), 0.5 * (1 + w)};
}

static rgWeights rgWorld_DofWeights(const rgWorld* world, int dof, double dt) {
    const rgModel* model = world->model;
    double k = world->dofStiffness[dof], d = world->dofDamping[dof];
    double mass = world->dynamics->mass[model->dofs[dof].rowStart];
    int tree = model->links[model->dofs[dof].link].tree;
    return rgSpringWeights(world->lead[tree], dt * (dt * k + d) / mass);
}

static rgPull rgWorld_StepPull(const rgWorld* world) {
    return (rgPull){world->startQ,        world->startV, world->dt,   0,
                    world->model->vCount, world->tau,    world->added};
}

// Gains on one degree of freedom: their part of the actuator's force.
static double rgWorld_AddGain(const rgWorld* world, const rgPull* pull, int actuator) {
    const rgDrive* drive = &world->drives[actuator];
    const rgActuatorDef* def = &world->model->actuators[actuator];
    int dof = world->model->jointRanges[def->joint.index1 - 1].v;
    double dt = pull->dt, gear = def->gear[0], v = gear * pull->v[dof];
    rgWeights w = rgWorld_DofWeights(world, dof, dt);
    double position = gear * pull->q[world->model->jointRanges[def->joint.index1 - 1].q];
    position += w.along * dt * v;
    pull->added[dof] +=
        gear * gear * dt * (w.ahead * dt * drive->stiffness + w.share * drive->damping);
    return drive->stiffness * position + drive->damping * v;
}

// Actuators that are no rows: plain forces, and gains that become part of M^.
static void rgWorld_AddDrives(rgWorld* world) {
    const rgModel* model = world->model;
    rgPull pull = rgWorld_StepPull(world);
    for (int a = 0; a < model->info.actuatorCount; ++a) {
        const rgDrive* drive = &world->drives[a];
        if (drive->mode == rg_driveRow) {
            continue;
        }
        int count = rgDriveEntries(world, a);
        double force = drive->command;
        if (drive->mode == rg_driveForce) {
            force = fmin(fmax(force, drive->lower), drive->upper);
        } else {
            force -= rgWorld_AddGain(world, &pull, a);
        }
        world->driveForce[a] = force;
        for (int k = 0; k < count; ++k) {
            world->tau[world->entryColumns[k]] += world->entryValues[k] * force;
        }
    }
}

// What motors and users ask of a joint is limited to its effort.
static void rgWorld_ClampEfforts(rgWorld* world) {
    const rgModel* model = world->model;
    for (int j = 0; j < model->info.jointCount; ++j) {
        double limit = model->joints[j].effortLimit;
        const rgJointRange* range = &model->jointRanges[j];
        for (int k = range->v; limit > 0 && k < range->v + range->vCount; ++k) {
            world->tau[k] = fmin(fmax(world->tau[k], -limit), limit);
        }
    }
}

static void rgWorld_AddSpring(const rgWorld* world, const rgPull* pull, int joint) {
    const rgModel* model = world->model;
    const rgJointDef* def = &model->joints[joint];
    const rgJointRange* range = &model->jointRanges[joint];
    const double* q = pull->q + range->q;
    double stretch[3] = {0};
    if (def->kind == rg_jointSpherical) {
        rgVec3 r = rgRotationVectorFromQuat((rgQuat){q[0], q[1], q[2], q[3]});
        stretch[0] = r.x, stretch[1] = r.y, stretch[2] = r.z;
    } else if (range->vCount == 1) {
        stretch[0] = q[0] - def->springReference;
    } else {
        return;
    }
    double dt = pull->dt, k = def->stiffness;
    for (int i = 0; i < range->vCount; ++i) {
        int dof = range->v + i;
        rgWeights w = rgWorld_DofWeights(world, dof, dt);
        pull->tau[dof] -= k * (stretch[i] + w.along * dt * pull->v[dof]);
        pull->added[dof] += dt * dt * (w.ahead * k);
    }
}

static void rgWorld_AddSprings(const rgWorld* world, const rgPull* pull) {
    const rgModel* model = world->model;
    for (int j = 0; j < model->info.jointCount; ++j) {
        int dof = model->jointRanges[j].v;
        if (model->joints[j].stiffness > 0 && dof >= pull->first && dof < pull->end) {
            rgWorld_AddSpring(world, pull, j);
        }
    }
    for (int i = pull->first; i < pull->end; ++i) {
        double d = model->dofs[i].damping;
        if (d > 0) {
            pull->tau[i] -= d * pull->v[i];
            pull->added[i] += pull->dt * (rgWorld_DofWeights(world, i, pull->dt).share * d);
        }
    }
}

static void rgWorld_AddStepSprings(rgWorld* world) {
    rgPull pull = rgWorld_StepPull(world);
    rgWorld_AddSprings(world, &pull);
}

static rgVec3 rgLoad3(const double* x) {
    return rgVec(x[0], x[1], x[2]);
}

static void rgStore3(rgVec3 x, double* out) {
    out[0] = x.x, out[1] = x.y, out[2] = x.z;
}

static rgVec3 rgMultiply3(const rgVec3 columns[3], rgVec3 x) {
    return rgAdd(rgAddScaled(rgScale(x.x, columns[0]), x.y, columns[1]), rgScale(x.z, columns[2]));
}

// x with [a b c] x = right, by Cramer's rule.
static rgVec3 rgSolve3(rgVec3 a, rgVec3 b, rgVec3 c, rgVec3 right) {
    rgVec3 bc = rgCross(b, c);
    double inverse = 1 / rgDot(a, bc);
    return rgVec(inverse * rgDot(right, bc), inverse * rgDot(a, rgCross(right, c)),
                 inverse * rgDot(a, rgCross(b, right)));
}

// (4) D = d(w x I w)/dw, by columns.
static void rgGyroscopic(const rgSym3* I, rgVec3 w, rgVec3 columns[3]) {
    rgVec3 Iw = rgSym3_Multiply(I, w);
    for (int k = 0; k < 3; ++k) {
        rgVec3 e = rgVec(k == 0, k == 1, k == 2);
        columns[k] = rgSub(rgCross(w, rgSym3_Multiply(I, e)), rgCross(Iw, e));
    }
}

// (4) I + dt/2 D, by columns.
static void rgSpinColumns(const rgSym3* I, rgVec3 w, double dt, rgVec3 columns[3]) {
    rgGyroscopic(I, w, columns);
    for (int k = 0; k < 3; ++k) {
        rgVec3 e = rgVec(k == 0, k == 1, k == 2);
        columns[k] = rgAddScaled(rgSym3_Multiply(I, e), 0.5 * dt, columns[k]);
    }
}

// exp(time w) x
static rgVec3 rgTurnedBy(rgVec3 w, double time, rgVec3 x) {
    return rgRotate(rgQuatFromRotationVector(rgScale(time, w)), x);
}

#define RG_SPIN_STEPS 12

// (29) exp(dt/2 w+) I w+ = exp(-dt/2 w) I w + dt T, body axes, without impulses: Newton. Returns
// w+.
static rgVec3 rgSpinFreely(const rgSym3* I, rgVec3 w, rgVec3 torque, double dt) {
    if (I->xx == I->yy && I->yy == I->zz && I->xy == 0 && I->xz == 0 && I->yz == 0) {
        return rgAddScaled(w, dt / I->xx, torque); // I w turns about itself: a ball, a cube
    }
    rgVec3 momentum = rgTurnedBy(w, -0.5 * dt, rgSym3_Multiply(I, w)), next = w, best = w;
    momentum = rgAddScaled(momentum, dt, torque);
    double least = INFINITY, small = 1e-15 * rgLength(momentum);
    for (int k = 0; k < RG_SPIN_STEPS && least > small; ++k) {
        rgVec3 residual = rgSub(rgTurnedBy(next, 0.5 * dt, rgSym3_Multiply(I, next)), momentum);
        double size = rgLength(residual);
        if (!(size < least)) {
            break; // rounding, or half a turn in a step
        }
        best = next;
        least = size;
        rgVec3 columns[3];
        rgSpinColumns(I, next, dt, columns);
        next = rgSub(next, rgSolve3(columns[0], columns[1], columns[2], residual));
    }
    return best;
}

// (4) One Newton step of the midpoint rule for I w' + w x I w = T, body axes. Returns w+.
static rgVec3 rgSpin(const rgSym3* I, rgVec3 w, rgVec3 torque, double dt) {
    rgVec3 Iw = rgSym3_Multiply(I, w);
    rgVec3 residual = rgScale(dt, rgSub(rgCross(w, Iw), torque));
    rgVec3 columns[3];
    rgSpinColumns(I, w, dt, columns);
    return rgSub(w, rgSolve3(columns[0], columns[1], columns[2], residual));
}

// (29) What momentum gains beside I (w+ - w) while the body turns with w, then with w+.
static rgVec3 rgGyroscopicImpulse(const rgSym3* I, rgVec3 w, rgVec3 next, double dt) {
    rgVec3 before = rgSym3_Multiply(I, w), after = rgSym3_Multiply(I, next);
    return rgSub(rgSub(rgTurnedBy(next, 0.5 * dt, after), after),
                 rgSub(rgTurnedBy(w, -0.5 * dt, before), before));
}

static rgVec3 rgInvertMoment(const rgSym3* I, rgVec3 x) {
    rgVec3 a = rgVec(I->xx, I->xy, I->xz), b = rgVec(I->xy, I->yy, I->yz);
    return rgSolve3(a, b, rgVec(I->xz, I->yz, I->zz), x);
}

// Whether a loop, a point that it rolls on or contact springs bend its path, as far as the last
// steps tell. Of other contacts they tell nothing: an impact would turn along a path that it ends.
static bool rgWorld_IsBent(const rgWorld* world, const rgLink* link) {
    const double* trend = world->trend + link->v + 3;
    bool held =
        world->isLooped[link->tree] || world->rolls[link->tree] || world->springs[link->tree];
    return held && (trend[0] != 0 || trend[1] != 0 || trend[2] != 0);
}

// (29) of the rate that is foreseen.
static rgVec3 rgWorld_BentImpulse(const rgWorld* world, const rgLink* link, rgVec3 w) {
    rgVec3 next = rgAddScaled(w, 2, rgLoad3(world->trend + link->v + 3));
    return rgGyroscopicImpulse(&link->moment, w, next, world->dt);
}

// Rate after the free motion of a step.
static rgVec3 rgWorld_SpinBody(const rgWorld* world, const rgLink* link, rgVec3 w, rgVec3 torque) {
    const rgSym3* I = &link->moment;
    double dt = world->dt;
    if (world->lead[link->tree] == 0) {
        return rgSpin(I, w, torque, dt);
    }
    if (!rgWorld_IsBent(world, link)) {
        return rgSpinFreely(I, w, torque, dt);
    }
    rgVec3 push = rgSub(rgScale(dt, torque), rgWorld_BentImpulse(world, link, w));
    return rgAdd(w, rgInvertMoment(I, push));
}

// (3) A free body moves with its centre of mass: momentum is kept to rounding.
static void rgWorld_MoveFreeBody(const rgWorld* world, const rgLink* link, double* out) {
    const double* tau = world->tau + link->v;
    const double* v = world->startV + link->v;
    rgQuat q = rgWorld_FreeRotation(world, link);
    rgVec3 c = rgRotate(q, link->center);
    rgVec3 force = rgVec(tau[0], tau[1], tau[2]), w = rgVec(v[3], v[4], v[5]);
    rgVec3 torque = rgSub(rgVec(tau[3], tau[4], tau[5]), rgRotateBack(q, rgCross(c, force)));
    rgVec3 rate = rgAddScaled(world->gravity, 1 / link->mass, force);
    rgVec3 spin = rgWorld_SpinBody(world, link, w, torque);
    rgVec3 change = rgCross(rgRotate(q, rgSub(w, spin)), c);
    out[0] = v[0] + (world->dt * rate.x + change.x);
    out[1] = v[1] + (world->dt * rate.y + change.y);
    out[2] = v[2] + (world->dt * rate.z + change.z);
    out[3] = spin.x, out[4] = spin.y, out[5] = spin.z;
}

static void rgWorld_ReplaceFreeBodies(rgWorld* world) {
    const rgModel* model = world->model;
    for (int t = 0; t < model->treeCount; ++t) {
        const rgTree* tree = &model->trees[t];
        if (world->sleeps[t] != 0) {
            memcpy(world->freeV + tree->firstDof, world->startV + tree->firstDof,
                   (size_t)tree->dofCount * sizeof(double));
        } else if (world->isFreeBody[t]) {
            const rgLink* link = &model->links[tree->firstLink];
            rgWorld_MoveFreeBody(world, link, world->freeV + link->v);
        }
    }
}

// Free bodies have (29) instead of a bias.
void rgWorld_SetMidVelocity(rgWorld* world) {
    for (int t = 0; t < world->model->treeCount; ++t) {
        if (world->lead[t] > 0 && !world->isFreeBody[t]) {
            rgDynamics_SetTreeVelocity(world->dynamics, t, world->midV);
        }
    }
}

// (2) dt (tau - b), or what (37) has in its place.
static void rgWorld_TreePush(rgWorld* world, int tree, double* x) {
    const rgTree* range = &world->model->trees[tree];
    size_t bytes = (size_t)range->dofCount * sizeof(double);
    if (world->isFast[tree]) {
        rgWorld_PushFast(world, tree, x);
        return;
    }
    if (world->isFreeBody[tree]) { // (29) takes its place
        memset(world->column + range->firstDof, 0, bytes);
    } else {
        rgDynamics_TreeBias(world->dynamics, tree, world->column);
    }
    for (int i = range->firstDof; i < range->firstDof + range->dofCount; ++i) {
        x[i] = world->dt * (world->tau[i] - world->column[i]);
    }
}

rgResult rgComputeFreeVelocity(rgStep* step) {
    rgWorld* world = step->world;
    const rgModel* model = world->model;
    rgDynamics_NeedMass(world->dynamics);
    rgWorld_SetMidVelocity(world);
    rgWorld_TakeForces(world);
    rgWorld_AddDrives(world);
    rgWorld_ClampEfforts(world);
    rgWorld_AddWrenches(world);
    rgWorld_AddStepSprings(world);
    rgResult result = rg_ok;
    for (int t = 0; t < model->treeCount && result == rg_ok; ++t) {
        rgWorld_TreePush(world, t, world->freeV);
        result = rgWorld_FactorizeTree(world, t);
    }
    if (result != rg_ok) {
        return result;
    }
    rgDynamics_Solve(world->dynamics, 1, world->freeV);
    for (int i = 0; i < model->vCount; ++i) {
        world->freeV[i] +=
            world->isFast[world->treeOfDof[i]] ? world->projectedV[i] : world->startV[i];
    }
    rgWorld_ReplaceFreeBodies(world);
    return rg_ok;
}

// ---- the velocity of the middle of the step

#define RG_REFINE_STEPS    8
#define RG_REFINE_ACCURACY 1e-9 // relative to the velocity

// Where no rows act, the free motion is the motion.
bool rgWorld_IsRefined(const rgWorld* world, int tree) {
    return world->lead[tree] > 0 && !world->isHeld[tree] && !world->isFreeBody[tree] &&
           world->sleeps[tree] == 0;
}

// (28) freeV := v + M^^-1 dt (tau - b((v + freeV)/2)). Returns the largest change.
static double rgWorld_RefineOnce(rgWorld* world, int tree) {
    const rgTree* range = &world->model->trees[tree];
    int first = range->firstDof, end = first + range->dofCount;
    double *y = world->column, most = 0;
    for (int i = first; i < end; ++i) {
        world->midV[i] = 0.5 * (world->startV[i] + world->freeV[i]);
    }
    rgDynamics_SetTreeVelocity(world->dynamics, tree, world->midV);
    rgDynamics_TreeBias(world->dynamics, tree, y);
    for (int i = first; i < end; ++i) {
        y[i] = world->dt * (world->tau[i] - y[i]);
    }
    rgDynamics_SolveTree(world->dynamics, tree, y);
    for (int i = first; i < end; ++i) {
        y[i] += world->startV[i];
        most = fmax(most, fabs(y[i] - world->freeV[i]));
        world->freeV[i] = y[i];
    }
    return most;
}

// Each iteration contracts by about half of what the tree turns meanwhile.
static void rgWorld_RefineSlow(rgWorld* world, int tree) {
    const rgTree* range = &world->model->trees[tree];
    double speed = 0, last = INFINITY;
    for (int i = range->firstDof; i < range->firstDof + range->dofCount; ++i) {
        speed = fmax(speed, fabs(world->startV[i]) + fabs(world->freeV[i] - world->startV[i]));
    }
    for (int k = 0; k < RG_REFINE_STEPS; ++k) {
        double change = rgWorld_RefineOnce(world, tree);
        if (!(change < last) || change <= RG_REFINE_ACCURACY * speed) {
            return;
        }
        last = change;
    }
}

static rgResult rgWorld_RefineFast(rgWorld* world, int tree) {
    const rgTree* range = &world->model->trees[tree];
    world->parts[tree] = rgWorld_CountParts(world, tree);
    if (world->parts[tree] == 1) {
        return rg_ok;
    }
    rgResult result = rgWorld_MoveInParts(world, tree, world->parts[tree]);
    for (int i = range->firstDof; i < range->firstDof + range->dofCount; ++i) {
        world->freeV[i] = world->partV[i];
        world->midV[i] = 0.5 * (world->startV[i] + world->partV[i]);
    }
    return result;
}

rgResult rgWorld_RefineFreeVelocity(rgWorld* world) {
    rgResult result = rg_ok;
    for (int t = 0; t < world->model->treeCount && result == rg_ok; ++t) {
        world->parts[t] = 1;
        if (!rgWorld_IsRefined(world, t)) {
            continue;
        }
        if (world->isFast[t]) {
            result = rgWorld_RefineFast(world, t);
        } else {
            rgWorld_RefineSlow(world, t);
        }
    }
    return result;
}

// Of what is implicit, and of springs and gains on joints alone.
void rgWorld_TreePulls(const rgWorld* world, const rgPull* pull) {
    const rgModel* model = world->model;
    size_t bytes = (size_t)(pull->end - pull->first) * sizeof(double);
    memset(pull->tau + pull->first, 0, bytes);
    memset(pull->added + pull->first, 0, bytes);
    for (int a = 0; a < model->info.actuatorCount; ++a) {
        const rgActuatorDef* def = &model->actuators[a];
        bool joint = world->drives[a].mode == rg_driveJoint;
        int dof = joint ? model->jointRanges[def->joint.index1 - 1].v : -1;
        if (dof >= pull->first && dof < pull->end) {
            pull->tau[dof] -= def->gear[0] * rgWorld_AddGain(world, pull, a);
        }
    }
    rgWorld_AddSprings(world, pull);
}

// ---- the same, turned around (docs/theory/inverse.md)

// Forces on the degrees of freedom without the user's, in tau; driven: the actuators' share.
void rgWorld_SumOtherForces(rgWorld* world, double* driven) {
    size_t bytes = (size_t)world->model->vCount * sizeof(double);
    rgDynamics_NeedMass(world->dynamics);
    rgWorld_SetMidVelocity(world);
    memset(world->tau, 0, bytes);
    memset(world->added, 0, bytes);
    rgWorld_AddDrives(world);
    memcpy(driven, world->tau, bytes);
    rgWorld_AddWrenches(world);
    rgWorld_AddStepSprings(world);
}

// (28) of a v+ that is known
void rgWorld_ForeseeFree(rgWorld* world, const double* v) {
    for (int t = 0; t < world->model->treeCount; ++t) {
        const rgTree* range = &world->model->trees[t];
        if (!rgWorld_IsRefined(world, t) || world->isFast[t]) {
            continue;
        }
        for (int i = range->firstDof; i < range->firstDof + range->dofCount; ++i) {
            world->midV[i] = 0.5 * (world->startV[i] + v[i]);
        }
        rgDynamics_SetTreeVelocity(world->dynamics, t, world->midV);
    }
}

// (4) or (29), solved for the torque.
static rgVec3 rgWorld_SpinTorque(const rgWorld* world, const rgLink* link, rgVec3 w, rgVec3 spin) {
    const rgSym3* I = &link->moment;
    double dt = world->dt;
    rgVec3 change = rgScale(1 / dt, rgSub(spin, w));
    if (world->lead[link->tree] > 0) {
        rgVec3 bent = rgWorld_IsBent(world, link) ? rgWorld_BentImpulse(world, link, w)
                                                  : rgGyroscopicImpulse(I, w, spin, dt);
        return rgAddScaled(rgSym3_Multiply(I, change), 1 / dt, bent);
    }
    rgVec3 columns[3];
    rgSpinColumns(I, w, dt, columns);
    return rgAdd(rgCross(w, rgSym3_Multiply(I, w)), rgMultiply3(columns, change));
}

// All forces on a free body that, with the impulse (both at its origin), make the step end with v.
void rgWorld_FreeBodyForce(const rgWorld* world, const rgLink* link, const double* v,
                           const double* impulse, double* tau) {
    const rgSym3* I = &link->moment;
    double dt = world->dt;
    rgQuat q = rgWorld_FreeRotation(world, link);
    rgVec3 c = rgRotate(q, link->center), push = rgLoad3(impulse);
    rgVec3 turn = rgSub(rgLoad3(impulse + 3), rgRotateBack(q, rgCross(c, push)));
    // the free motion: v less what the impulse changes
    rgVec3 kick = rgInvertMoment(I, turn);
    rgVec3 w = rgLoad3(world->startV + link->v + 3), spin = rgSub(rgLoad3(v + 3), kick);
    rgVec3 rest = rgAdd(rgLoad3(v), rgCross(rgRotate(q, kick), c));
    rest = rgAddScaled(rest, -1 / link->mass, push);
    // (3) and (4), solved for force and torque
    rgVec3 start = rgAdd(rgLoad3(world->startV + link->v), rgCross(rgRotate(q, rgSub(w, spin)), c));
    rgVec3 rate = rgScale(1 / dt, rgSub(rest, start));
    rgVec3 force = rgScale(link->mass, rgSub(rate, world->gravity));
    rgVec3 torque = rgWorld_SpinTorque(world, link, w, spin);
    rgStore3(force, tau);
    rgStore3(rgAdd(torque, rgRotateBack(q, rgCross(c, force))), tau + 3);
}

// The impulse at its origin that a free body needs beside the forces in tau to reach v.
void rgWorld_FreeBodyImpulse(const rgWorld* world, const rgLink* link, const double* v,
                             double* impulse) {
    double rest[6];
    rgWorld_MoveFreeBody(world, link, rest);
    rgQuat q = rgWorld_FreeRotation(world, link);
    rgVec3 c = rgRotate(q, link->center), kick = rgSub(rgLoad3(v + 3), rgLoad3(rest + 3));
    rgVec3 center = rgAdd(rgSub(rgLoad3(v), rgLoad3(rest)), rgCross(rgRotate(q, kick), c));
    rgVec3 push = rgScale(link->mass, center);
    rgStore3(push, impulse);
    rgStore3(rgAdd(rgSym3_Multiply(&link->moment, kick), rgRotateBack(q, rgCross(c, push))),
             impulse + 3);
}
