// Free motion: M^ and v_free from q, v and everything that is no constraint row: gravity, Coriolis,
// joint springs and damping, actuators, forces of the user. Springs, damping and gains are
// implicit as far as they are stiff. docs/theory/step.md (1)-(5), (19),
// (20).
#include "world/world.h"

#include <string.h>

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
    const double* w = world->state.wrench + 6 * body;
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

// Readers see those of the step, whatever is set or cleared after it.
static void rgWorld_AddWrenches(rgWorld* world) {
    int count = world->wrenched ? world->model->info.bodyCount : 0;
    world->stepWrenched = world->wrenched;
    if (count > 0) {
        memcpy(world->stepWrench, world->state.wrench, 6 * (size_t)count * sizeof(double));
    }
    for (int b = 0; b < count; ++b) {
        rgWorld_AddWrench(world, b);
    }
}

// Actuators that are no rows: plain forces, and the commands of gains that are part of M^.
static void rgWorld_AddDrives(rgWorld* world) {
    const rgModel* model = world->model;
    for (int a = 0; a < model->info.actuatorCount; ++a) {
        const rgDrive* drive = &world->drives[a];
        if (drive->mode == rg_driveRow) {
            continue;
        }
        int count = rgDriveEntries(world, a);
        double force = rgDriveCommand(world, a);
        if (drive->mode == rg_driveForce) {
            force = fmin(fmax(force, drive->lower), drive->upper);
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

// ---- springs, dampers and gains

// (19) How implicit they are: z = (dt^2 k + dt d)/m says how much of a period a step is.
rgWeights rgWorld_Weights(const rgWorld* world, double z) {
    double w = world->integrator == rg_integratorEuler || z > 1e8 ? 1 : z * z / (1 + z * z);
    return (rgWeights){0.25 + 0.75 * w, 0.25 * (1 - w), 0.5 + 0.5 * w};
}

// What springs, dampers and gains act on: degrees of freedom from first to before end, about
// positions q and the mass matrix of d, over a time dt.
typedef struct rgPull {
    const rgDynamics* d;
    const double *q, *v;
    double dt;
    int first, end;
    double *tau, *added;
} rgPull;

static rgWeights rgPull_Weights(const rgWorld* world, const rgPull* pull, int dof) {
    double mass = pull->d->mass[world->model->dofs[dof].rowStart];
    double k = world->dofStiffness[dof], d = world->dofDamping[dof];
    return rgWorld_Weights(world, pull->dt * (pull->dt * k + d) / mass);
}

static void rgPull_AddSpring(const rgWorld* world, const rgPull* pull, int dof, double k,
                             double stretch) {
    rgWeights w = rgPull_Weights(world, pull, dof);
    double dt = pull->dt;
    pull->tau[dof] -= k * (stretch + dt * (w.ahead - w.behind) * pull->v[dof]);
    pull->added[dof] += dt * dt * k * w.ahead;
}

static void rgPull_AddDamper(const rgWorld* world, const rgPull* pull, int dof, double d) {
    rgWeights w = rgPull_Weights(world, pull, dof);
    pull->tau[dof] -= d * pull->v[dof];
    pull->added[dof] += pull->dt * d * w.share;
}

static void rgWorld_AddSpring(const rgWorld* world, const rgPull* pull, int joint) {
    const rgJointDef* def = &world->model->joints[joint];
    const rgJointRange* range = &world->model->jointRanges[joint];
    const double* q = pull->q + range->q;
    if (def->kind == rg_jointSpherical) {
        rgVec3 r = rgRotationVectorFromQuat((rgQuat){q[0], q[1], q[2], q[3]});
        rgPull_AddSpring(world, pull, range->v, def->stiffness, r.x);
        rgPull_AddSpring(world, pull, range->v + 1, def->stiffness, r.y);
        rgPull_AddSpring(world, pull, range->v + 2, def->stiffness, r.z);
    } else if (range->vCount == 1) {
        rgPull_AddSpring(world, pull, range->v, def->stiffness, q[0] - def->springReference);
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
        if (model->dofs[i].damping > 0) {
            rgPull_AddDamper(world, pull, i, model->dofs[i].damping);
        }
    }
}

// Gains on one degree of freedom. Their part of the force at the start of the step is also told.
static void rgWorld_AddGains(rgWorld* world, const rgPull* pull) {
    const rgModel* model = world->model;
    for (int a = 0; a < model->info.actuatorCount; ++a) {
        const rgDrive* drive = &world->drives[a];
        const rgActuatorDef* def = &model->actuators[a];
        int dof = drive->mode == rg_driveJoint ? model->jointRanges[def->joint.index1 - 1].v : -1;
        if (dof < pull->first || dof >= pull->end) {
            continue;
        }
        double gear = def->gear[0], before = pull->tau[dof];
        double position = rgDrivePosition(model, a, pull->q) / gear;
        rgPull_AddSpring(world, pull, dof, gear * gear * drive->stiffness, position);
        rgPull_AddDamper(world, pull, dof, gear * gear * drive->damping);
        if (pull->tau == world->tau) {
            world->driveForce[a] += (pull->tau[dof] - before) / gear;
        }
    }
}

static void rgWorld_AddPulls(rgWorld* world, const rgPull* pull) {
    rgWorld_AddGains(world, pull);
    rgWorld_AddSprings(world, pull);
}

// Those of the whole step; steady keeps what does not depend on them.
static void rgWorld_AddStepPulls(rgWorld* world) {
    int nv = world->model->vCount;
    rgDynamics_NeedMass(world->dynamics);
    memcpy(world->steady, world->tau, (size_t)nv * sizeof(double));
    rgPull pull = {.d = world->dynamics,
                   .q = world->startQ,
                   .v = world->startV,
                   .dt = world->dt,
                   .end = nv,
                   .tau = world->tau,
                   .added = world->added};
    rgWorld_AddPulls(world, &pull);
}

// x with [a b c] x = right, by Cramer's rule.
static rgVec3 rgSolve3(rgVec3 a, rgVec3 b, rgVec3 c, rgVec3 right) {
    rgVec3 bc = rgCross(b, c);
    double inverse = 1 / rgDot(a, bc);
    return rgVec(inverse * rgDot(right, bc), inverse * rgDot(a, rgCross(right, c)),
                 inverse * rgDot(a, rgCross(b, right)));
}

// ---- free bodies

// exp(time w) x
static rgVec3 rgTurnedBy(rgVec3 w, double time, rgVec3 x) {
    return rgRotate(rgQuatFromRotationVector(rgScale(time, w)), x);
}

// Columns of I + time d(w x I w)/dw, the derivative of exp(time w) I w for a small turn.
static void rgSpinColumns(const rgSym3* I, rgVec3 w, double time, rgVec3 columns[3]) {
    rgVec3 Iw = rgSym3_Multiply(I, w);
    for (int k = 0; k < 3; ++k) {
        rgVec3 e = rgVec(k == 0, k == 1, k == 2), Ie = rgSym3_Multiply(I, e);
        columns[k] = rgAddScaled(Ie, time, rgSub(rgCross(w, Ie), rgCross(Iw, e)));
    }
}

#define RG_SPIN_STEPS 12

// (4) exp(after w+) I w+ = exp(-before w) I w + dt T, body axes: Newton. Returns w+.
static rgVec3 rgSpin(const rgWorld* world, const rgLink* link, rgVec3 w, rgVec3 torque) {
    const rgSym3* I = &link->moment;
    double dt = world->dt, before = world->treeLead[link->tree], after = dt - world->lead;
    rgVec3 momentum = rgTurnedBy(w, -before, rgSym3_Multiply(I, w)), next = w, best = w;
    momentum = rgAddScaled(momentum, dt, torque);
    double least = INFINITY, small = 1e-15 * rgLength(momentum);
    for (int k = 0; k < RG_SPIN_STEPS; ++k) {
        rgVec3 residual = rgSub(rgTurnedBy(next, after, rgSym3_Multiply(I, next)), momentum);
        double size = rgLength(residual);
        if (!(size < least)) {
            break; // rounding, or half a turn in a step
        }
        best = next;
        least = size;
        if (size <= small) {
            break;
        }
        rgVec3 columns[3];
        rgSpinColumns(I, next, after, columns);
        next = rgSub(next, rgSolve3(columns[0], columns[1], columns[2], residual));
    }
    return best;
}

// (3), (4) A free body moves with its centre of mass: momentum is kept to rounding. The impulses
// that are foreseen turn it like forces, and are taken back.
static void rgWorld_MoveFreeBody(const rgWorld* world, const rgLink* link, double* out) {
    const double *tau = world->tau + link->v, *push = world->push + link->v;
    const double* v = world->startV + link->v;
    double rate = 1 / world->dt;
    rgQuat q = rgWorld_FreeRotation(world, link);
    rgVec3 c = rgRotate(q, link->center);
    rgVec3 force = rgVec(tau[0], tau[1], tau[2]), w = rgVec(v[3], v[4], v[5]);
    rgVec3 all = rgAddScaled(force, rate, rgVec(push[0], push[1], push[2]));
    rgVec3 turn =
        rgAddScaled(rgVec(tau[3], tau[4], tau[5]), rate, rgVec(push[3], push[4], push[5]));
    rgVec3 torque = rgSub(turn, rgRotateBack(q, rgCross(c, all)));
    const double* kick = world->kick + link->v;
    rgVec3 spin = rgSpin(world, link, w, torque);
    spin = rgSub(spin, rgVec(kick[3], kick[4], kick[5]));
    rgVec3 speed = rgAddScaled(world->gravity, 1 / link->mass, force);
    rgVec3 change = rgCross(rgRotate(q, rgSub(w, spin)), c);
    out[0] = v[0] + (world->dt * speed.x + change.x);
    out[1] = v[1] + (world->dt * speed.y + change.y);
    out[2] = v[2] + (world->dt * speed.z + change.z);
    out[3] = spin.x, out[4] = spin.y, out[5] = spin.z;
}

// ---- trees

#define RG_BIAS_STEPS    16
#define RG_BIAS_ACCURACY 1e-11 // relative to the velocity
#define RG_TURN_SLOW     1e-10 // [rad] in a step: the bias is that of gravity
#define RG_TURN_FAST     0.02  // [rad] in a step above which a tree is moved in smaller ones
#define RG_TREE_STEPS    50

static bool rgWorld_IsSlow(const rgWorld* world, int tree, double dt, const double* x) {
    const rgTree* range = &world->model->trees[tree];
    double most = 0;
    for (int i = range->firstDof; i < range->firstDof + range->dofCount; ++i) {
        most = fmax(most, fabs(world->startV[i]) + fabs(x[i]));
    }
    return dt * most < RG_TURN_SLOW;
}

// (5) In how many steps a tree moves: by the fastest of its joints at the start of the step.
static int rgWorld_CountSteps(const rgWorld* world, int tree) {
    const rgModel* model = world->model;
    const rgTree* range = &model->trees[tree];
    double square = 0;
    for (int i = range->firstLink; i < range->firstLink + range->linkCount; ++i) {
        const rgLink* link = &model->links[i];
        const double* v = world->startV + link->v + (link->kind == rg_linkFree ? 3 : 0);
        if (link->kind == rg_linkRevolute) {
            square = fmax(square, v[0] * v[0]);
        } else if (link->kind != rg_linkPrismatic) {
            square = fmax(square, v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
        }
    }
    return (int)fmin(fmax(ceil(world->dt * sqrt(square) / RG_TURN_FAST), 1), RG_TREE_STEPS);
}

// A tree on its way from v to v + x.
typedef struct rgMotion {
    rgDynamics* d; // with the factor of M^
    int tree;
    double dt;
    const double *tau, *v;
    double* x;
} rgMotion;

// One evaluation of (2): right = dt (tau - b(v + x/2)), x := M^^-1 right. Returns the square of the
// change of x in the metric of M^.
static double rgMotion_Correct(rgWorld* world, const rgMotion* m) {
    const rgTree* range = &world->model->trees[m->tree];
    int first = range->firstDof, end = first + range->dofCount;
    double *mid = world->trial, *bias = world->column, *right = world->right, change = 0;
    for (int i = first; i < end; ++i) {
        mid[i] = m->v[i] + 0.5 * m->x[i];
    }
    rgDynamics_TreeBias(m->d, m->tree, mid, bias);
    for (int i = first; i < end; ++i) {
        bias[i] = m->dt * (m->tau[i] - bias[i]);
        mid[i] = bias[i];
    }
    rgDynamics_SolveTree(m->d, m->tree, mid);
    for (int i = first; i < end; ++i) {
        change += (mid[i] - m->x[i]) * (bias[i] - right[i]);
        m->x[i] = mid[i];
        right[i] = bias[i];
    }
    return fmax(change, 0);
}

static void rgMotion_Start(rgWorld* world, const rgMotion* m) {
    const rgTree* range = &world->model->trees[m->tree];
    size_t bytes = (size_t)range->dofCount * sizeof(double);
    memset(m->x + range->firstDof, 0, bytes);
    memset(world->right + range->firstDof, 0, bytes);
    rgMotion_Correct(world, m);
}

// (2) M^ x = dt (tau - b(v + x/2)), from an x that goes with right, by fixed-point iteration: each
// contracts by about half of what the tree turns in a step.
static void rgMotion_Solve(rgWorld* world, const rgMotion* m) {
    const rgTree* range = &world->model->trees[m->tree];
    double changed = 0, speed = 0;
    if (rgWorld_IsSlow(world, m->tree, m->dt, m->x)) {
        return;
    }
    rgDynamics_TreeMultiply(m->d, m->tree, m->v, world->trial);
    for (int i = range->firstDof; i < range->firstDof + range->dofCount; ++i) {
        changed += m->x[i] * world->right[i];
        speed += m->v[i] * world->trial[i];
    }
    double last = sqrt(fmax(changed, 0));
    double small = RG_BIAS_ACCURACY * (last + sqrt(fmax(speed, 0)));
    for (int k = 0; k < RG_BIAS_STEPS; ++k) {
        double change = sqrt(rgMotion_Correct(world, m)), ratio = last > 0 ? change / last : 0;
        if (!(ratio < 1) && change > small) {
            rgMotion_Start(world, m); // forces beyond reason: the bias of the start of the step
            break;
        }
        if (!(change * ratio > small)) {
            break;
        }
        last = change;
    }
}

// (5) The same in steps of dt/n, from the state at the start of the step.
static bool rgWorld_MoveInSteps(rgWorld* world, int tree, int n, double* x) {
    const rgTree* range = &world->model->trees[tree];
    int first = range->firstDof, end = first + range->dofCount;
    double dt = world->dt / n, lead = world->treeLead[tree] / n, rest = dt - world->lead / n;
    double *v = world->trialV, *q = world->freeQ;
    double* tau = world->trialTau;
    rgDynamics* d = world->readout->start; // readers come after the step
    bool good = true;
    memcpy(v + first, world->startV + first, (size_t)range->dofCount * sizeof(double));
    rgWorld_MoveTree(world, tree, world->state.q, v, 0, q);
    for (int k = 0; k < n && good; ++k) {
        rgWorld_MoveTree(world, tree, q, v, lead, q);
        rgDynamics_PlaceTree(d, tree, q);
        rgDynamics_FillTreeMass(d, tree);
        for (int i = first; i < end; ++i) {
            tau[i] = world->steady[i] + world->push[i] * (1 / world->dt);
            world->trialAdded[i] = 0;
        }
        rgPull pull = {d, q, v, dt, first, end, tau, world->trialAdded};
        rgWorld_AddPulls(world, &pull);
        good = rgDynamics_FactorizeTree(d, tree, world->trialAdded) == rg_ok;
        if (good) {
            rgMotion motion = {d, tree, dt, tau, v, x};
            rgMotion_Start(world, &motion);
            rgMotion_Solve(world, &motion);
        }
        for (int i = first; i < end; ++i) {
            v[i] += x[i];
        }
        rgWorld_MoveTree(world, tree, q, v, rest, q);
    }
    for (int i = first; i < end; ++i) {
        x[i] = v[i] - world->startV[i];
        good = good && isfinite(x[i]);
    }
    return good;
}

static rgMotion rgWorld_TreeMotion(rgWorld* world, int tree) {
    return (rgMotion){world->dynamics, tree, world->dt, world->tau, world->startV, world->freeV};
}

// The motion of a tree without impulses, in freeV. Those that are foreseen act like forces, so that
// the bias is that of the middle of the step, and are taken back.
static void rgWorld_FreeTree(rgWorld* world, int tree) {
    const rgTree* range = &world->model->trees[tree];
    int first = range->firstDof, end = first + range->dofCount;
    double* tau = world->trialTau;
    rgMotion motion = rgWorld_TreeMotion(world, tree);
    motion.tau = tau;
    for (int i = first; i < end; ++i) {
        tau[i] = world->tau[i] + world->push[i] * (1 / world->dt);
        world->freeV[i] += world->kick[i] - world->startV[i];
        world->right[i] += world->push[i];
    }
    int n = world->treeSteps[tree];
    if (n == 1) {
        rgMotion_Solve(world, &motion);
    } else if (!rgWorld_MoveInSteps(world, tree, n, world->freeV)) {
        world->treeSteps[tree] = 1; // forces beyond reason
        for (int i = first; i < end; ++i) {
            tau[i] = world->tau[i] + world->push[i] * (1 / world->dt);
        }
        rgMotion_Start(world, &motion);
    }
    for (int i = first; i < end; ++i) {
        world->freeV[i] += world->startV[i] - world->kick[i];
    }
}

// Forces, M^, and a first guess of the free motion, with the bias of the start of the step.
rgResult rgComputeFreeVelocity(rgStep* step) {
    rgWorld* world = step->world;
    const rgModel* model = world->model;
    size_t bytes = (size_t)model->vCount * sizeof(double);
    rgWorld_TakeForces(world);
    rgWorld_AddDrives(world);
    rgWorld_ClampEfforts(world);
    rgWorld_AddWrenches(world);
    rgWorld_AddStepPulls(world);
    rgResult result = rgDynamics_Factorize(world->dynamics, world->added);
    memset(world->push, 0, bytes);
    memset(world->kick, 0, bytes);
    for (int t = 0; t < model->treeCount && result == rg_ok; ++t) {
        const rgTree* tree = &model->trees[t];
        int first = tree->firstDof;
        world->treeSteps[t] = 1;
        if (world->state.asleep[t] != 0) {
            memcpy(world->freeV + first, world->startV + first,
                   (size_t)tree->dofCount * sizeof(double));
        } else if (world->isFreeBody[t]) {
            rgWorld_MoveFreeBody(world, &model->links[tree->firstLink], world->freeV + first);
        } else {
            rgMotion motion = rgWorld_TreeMotion(world, t);
            world->treeSteps[t] = rgWorld_CountSteps(world, t);
            rgMotion_Start(world, &motion);
            for (int i = first; i < first + tree->dofCount; ++i) {
                world->freeV[i] += world->startV[i];
            }
        }
    }
    return result;
}

// Share of a row's impulse of the last step that is foreseen for this one: nothing of impacts, nor
// of a state that was set since.
static double rgWorld_ForeseenShare(const rgWorld* world, int row) {
    const rgRowSource* source = &world->rows.sources[row];
    double share = 1;
    if (source->kind < 0) {
        share = world->memories[1].pairs[world->points[source->index].pair].steady;
    }
    return *world->state.isSet == 0 ? share : 0;
}

// (20) push = J' lambda and kick = M^^-1 J' lambda with the impulses of the last step.
void rgWorld_Foresee(rgWorld* world, const double* lambda) {
    const rgRows* rows = &world->rows;
    size_t bytes = (size_t)world->model->vCount * sizeof(double);
    memset(world->push, 0, bytes);
    memset(world->kick, 0, bytes);
    world->foresees = false;
    for (int r = 0; r < rows->rowCount; ++r) {
        double used = lambda[r] != 0 ? lambda[r] * rgWorld_ForeseenShare(world, r) : 0;
        for (int k = rows->rowStart[r]; used != 0 && k < rows->rowStart[r + 1]; ++k) {
            world->push[rows->column[k]] += rows->value[k] * used;
        }
        world->foresees = world->foresees || used != 0;
    }
    if (world->foresees) {
        memcpy(world->kick, world->push, bytes);
        rgDynamics_Solve(world->dynamics, 1, world->kick);
    }
}

// (2)-(5) with the impulses that the rows foresee.
void rgWorld_FinishFreeVelocity(rgWorld* world) {
    const rgModel* model = world->model;
    rgWorld_Foresee(world, world->rows.lambda);
    for (int t = 0; t < model->treeCount; ++t) {
        const rgLink* link = &model->links[model->trees[t].firstLink];
        if (world->state.asleep[t] != 0) {
            continue;
        }
        if (!world->isFreeBody[t]) {
            rgWorld_FreeTree(world, t);
        } else if (world->foresees) {
            rgWorld_MoveFreeBody(world, link, world->freeV + link->v);
        }
    }
}

// ---- the same, turned around (docs/theory/inverse.md)

// Forces on the degrees of freedom without the user's, in tau; driven: the actuators' share.
void rgWorld_SumOtherForces(rgWorld* world, double* driven) {
    size_t bytes = (size_t)world->model->vCount * sizeof(double);
    memset(world->tau, 0, bytes);
    memset(world->added, 0, bytes);
    rgWorld_AddDrives(world);
    memcpy(driven, world->tau, bytes);
    rgWorld_AddWrenches(world);
    rgWorld_AddStepPulls(world);
}

bool rgWorld_IsFast(const rgWorld* world, int tree) {
    return rgWorld_CountSteps(world, tree) > 1;
}

#define RG_REFINE_STEPS 50

// Where the free motion of a tree ends with another force on it, less v.
static void rgWorld_TryForce(rgWorld* world, int tree, const double* v, const double* force,
                             double* error) {
    const rgTree* range = &world->model->trees[tree];
    int first = range->firstDof, end = first + range->dofCount;
    double *tau = world->nextV, *steady = world->nextBodyV; // not yet in use
    rgMotion motion = rgWorld_TreeMotion(world, tree);
    for (int i = first; i < end; ++i) {
        tau[i] = world->tau[i], steady[i] = world->steady[i];
        world->tau[i] += force[i], world->steady[i] += force[i];
    }
    rgMotion_Start(world, &motion);
    for (int i = first; i < end; ++i) {
        world->freeV[i] += world->startV[i];
    }
    rgWorld_FreeTree(world, tree);
    for (int i = first; i < end; ++i) {
        world->tau[i] = tau[i], world->steady[i] = steady[i];
        error[i] = v[i] - world->freeV[i];
    }
}

static double rgLargest(const double* x, int first, int end) {
    double most = 0;
    for (int i = first; i < end; ++i) {
        most = fmax(most, fabs(x[i]));
    }
    return most;
}

// The force with which the free motion of a fast tree, which takes smaller steps, ends at v; force
// is a first guess, which stays where nothing better is found.
void rgWorld_RefineForce(rgWorld* world, int tree, const double* v, double* force) {
    const rgTree* range = &world->model->trees[tree];
    int first = range->firstDof, end = first + range->dofCount;
    double *error = world->entryValues, *change = world->trialForce, last = INFINITY;
    double small = 1e-14 * rgLargest(v, first, end);
    world->treeSteps[tree] = rgWorld_CountSteps(world, tree);
    for (int k = 0; k < RG_REFINE_STEPS; ++k) {
        rgWorld_TryForce(world, tree, v, force, error);
        double worst = rgLargest(error, first, end);
        if (!(worst < last)) {
            for (int i = first; i < end && k > 0; ++i) {
                force[i] -= change[i];
            }
            break;
        }
        last = worst;
        if (worst <= small) {
            break;
        }
        rgDynamics_TreeMultiply(world->dynamics, tree, error, change);
        for (int i = first; i < end; ++i) {
            change[i] = (change[i] + world->added[i] * error[i]) / world->dt;
            force[i] += change[i];
        }
    }
}

static rgVec3 rgLoad3(const double* x) {
    return rgVec(x[0], x[1], x[2]);
}

static void rgStore3(rgVec3 x, double* out) {
    out[0] = x.x, out[1] = x.y, out[2] = x.z;
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
    rgVec3 x = rgVec(I->xx, I->xy, I->xz), y = rgVec(I->xy, I->yy, I->yz);
    rgVec3 kick = rgSolve3(x, y, rgVec(I->xz, I->yz, I->zz), turn);
    rgVec3 w = rgLoad3(world->startV + link->v + 3), spin = rgSub(rgLoad3(v + 3), kick);
    rgVec3 rest = rgAdd(rgLoad3(v), rgCross(rgRotate(q, kick), c));
    rest = rgAddScaled(rest, -1 / link->mass, push);
    // (3) and (4), solved for force and torque
    rgVec3 start = rgAdd(rgLoad3(world->startV + link->v), rgCross(rgRotate(q, rgSub(w, spin)), c));
    rgVec3 rate = rgScale(1 / dt, rgSub(rest, start));
    rgVec3 force = rgScale(link->mass, rgSub(rate, world->gravity));
    rgVec3 foreseen = rgLoad3(world->kick + link->v + 3), end = rgAdd(spin, foreseen);
    rgVec3 before = rgTurnedBy(w, -world->treeLead[link->tree], rgSym3_Multiply(I, w));
    rgVec3 after = rgTurnedBy(end, dt - world->lead, rgSym3_Multiply(I, end));
    rgVec3 torque = rgSub(rgSub(after, before), rgSym3_Multiply(I, foreseen));
    torque = rgScale(1 / dt, torque);
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
