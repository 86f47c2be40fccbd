// Free motion: M^ and v_free from q, v and everything that is no constraint row: gravity, Coriolis,
// joint springs and damping, actuators, forces of the user. Springs, damping and gains are
// implicit. docs/theory/step.md (1)-(5).
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
    world->stepWrenched = world->wrenched || world->compensates;
    int count = world->stepWrenched ? world->model->info.bodyCount : 0;
    if (count > 0) {
        memcpy(world->stepWrench, world->state.wrench, 6 * (size_t)count * sizeof(double));
    }
    for (int b = 0; b < count; ++b) {
        rgWorld_AddCompensation(world, b);
        rgWorld_AddWrench(world, b);
    }
}

// Actuators that are no rows: plain forces, and gains that become part of M^.
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
        } else {
            int dof = world->entryColumns[0];
            double gear = world->entryValues[0], v = gear * world->startV[dof], dt = world->dt;
            force -= drive->stiffness * (rgDrivePosition(world->model, a, world->startQ) + dt * v) +
                     drive->damping * v;
            world->added[dof] += gear * gear * dt * (dt * drive->stiffness + drive->damping);
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

static void rgWorld_AddSpring(rgWorld* world, int joint) {
    const rgModel* model = world->model;
    const rgJointDef* def = &model->joints[joint];
    const rgJointRange* range = &model->jointRanges[joint];
    const double* q = world->startQ + range->q;
    double stretch[3] = {0};
    if (def->kind == rg_jointSpherical) {
        rgVec3 r = rgRotationVectorFromQuat((rgQuat){q[0], q[1], q[2], q[3]});
        stretch[0] = r.x, stretch[1] = r.y, stretch[2] = r.z;
    } else if (range->vCount == 1) {
        stretch[0] = q[0] - def->springReference;
    } else {
        return;
    }
    double dt = world->dt, k = def->stiffness;
    for (int i = 0; i < range->vCount; ++i) {
        world->tau[range->v + i] -= k * (stretch[i] + dt * world->startV[range->v + i]);
        world->added[range->v + i] += dt * dt * k;
    }
}

static void rgWorld_AddSprings(rgWorld* world) {
    const rgModel* model = world->model;
    for (int j = 0; j < model->info.jointCount; ++j) {
        if (model->joints[j].stiffness > 0) {
            rgWorld_AddSpring(world, j);
        }
    }
    for (int i = 0; i < model->vCount; ++i) {
        double d = model->dofs[i].damping;
        world->tau[i] -= d * world->startV[i];
        world->added[i] += world->dt * d;
    }
}

static rgVec3 rgMultiply3(const rgVec3 columns[3], rgVec3 x) {
    return rgAdd(rgAddScaled(rgScale(x.x, columns[0]), x.y, columns[1]), rgScale(x.z, columns[2]));
}

// R' S R
static rgSym3 rgSym3InBody(const rgRot* r, const rgSym3* s) {
    rgVec3 x = rgSym3_Multiply(s, r->x), y = rgSym3_Multiply(s, r->y), z = rgSym3_Multiply(s, r->z);
    return (rgSym3){rgDot(r->x, x), rgDot(r->y, y), rgDot(r->z, z),
                    rgDot(r->x, y), rgDot(r->x, z), rgDot(r->y, z)};
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

// (4) One Newton step of the midpoint rule for I w' + w x I w = T, body axes. Returns w+.
static rgVec3 rgSpin(const rgSym3* I, rgVec3 w, rgVec3 torque, double dt) {
    rgVec3 Iw = rgSym3_Multiply(I, w);
    rgVec3 residual = rgScale(dt, rgSub(rgCross(w, Iw), torque));
    rgVec3 columns[3];
    rgSpinColumns(I, w, dt, columns);
    return rgSub(w, rgSolve3(columns[0], columns[1], columns[2], residual));
}

// D of a tree whose first joint turns freely, with the inertia of the whole tree. Returns the first
// of that joint's three angular degrees of freedom.
static int rgWorld_TreeGyroscopic(const rgWorld* world, int tree, rgVec3 D[3]) {
    const rgDynamics* d = world->dynamics;
    int index = world->model->trees[tree].firstLink;
    const rgLink* link = &world->model->links[index];
    int first = link->v + link->vCount - 3;
    rgSym3 moment = rgSym3InBody(&d->poses[index].r, &d->composites[index].moment);
    rgGyroscopic(&moment, rgVec(d->v[first], d->v[first + 1], d->v[first + 2]), D);
    return first;
}

// (5) The same for such a tree: only the 3 x 3 block of that joint is implicit.
// change := (M^ + dt/2 P D P')^-1 M^ change.
static void rgWorld_SpinTree(rgWorld* world, int tree, double* change) {
    rgDynamics* d = world->dynamics;
    rgVec3 D[3], N[3];
    int first = rgWorld_TreeGyroscopic(world, tree, D);
    double* y = world->column;
    const rgTree* range = &world->model->trees[tree];
    double half = 0.5 * world->dt;
    rgVec3 x = rgVec(change[first], change[first + 1], change[first + 2]);
    rgVec3 push = rgScale(half, rgMultiply3(D, x));
    for (int k = 0; k < 3; ++k) {
        memset(y + range->firstDof, 0, (size_t)range->dofCount * sizeof(double));
        y[first + k] = 1;
        rgDynamics_SolveTree(d, tree, y);
        N[k] = rgScale(half, rgMultiply3(D, rgVec(y[first], y[first + 1], y[first + 2])));
    }
    N[0].x += 1, N[1].y += 1, N[2].z += 1;
    rgVec3 s = rgSolve3(N[0], N[1], N[2], push);
    memset(y + range->firstDof, 0, (size_t)range->dofCount * sizeof(double));
    y[first] = s.x, y[first + 1] = s.y, y[first + 2] = s.z;
    rgDynamics_SolveTree(d, tree, y);
    for (int i = range->firstDof; i < range->firstDof + range->dofCount; ++i) {
        change[i] -= y[i];
    }
}

static bool rgWorld_TreeSpins(const rgWorld* world, int tree) {
    int kind = world->model->links[world->model->trees[tree].firstLink].kind;
    return (kind == rg_linkSpherical || kind == rg_linkFree) && !world->isFreeBody[tree];
}

static void rgWorld_SpinTrees(rgWorld* world, double* change) {
    for (int t = 0; t < world->model->treeCount; ++t) {
        if (rgWorld_TreeSpins(world, t)) {
            rgWorld_SpinTree(world, t, change);
        }
    }
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
    rgVec3 spin = rgSpin(&link->moment, w, torque, world->dt);
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

rgResult rgComputeFreeVelocity(rgStep* step) {
    rgWorld* world = step->world;
    const rgModel* model = world->model;
    rgWorld_TakeForces(world);
    rgWorld_AddDrives(world);
    rgWorld_ClampEfforts(world);
    rgWorld_AddWrenches(world);
    rgWorld_AddSprings(world);
    // (2) v_free = v + M^^-1 dt (tau - b)
    rgDynamics_Bias(world->dynamics, world->column);
    for (int i = 0; i < model->vCount; ++i) {
        world->freeV[i] = world->dt * (world->tau[i] - world->column[i]);
    }
    rgResult result = rgDynamics_Factorize(world->dynamics, world->added);
    if (result != rg_ok) {
        return result;
    }
    rgDynamics_Solve(world->dynamics, 1, world->freeV);
    rgWorld_SpinTrees(world, world->freeV);
    for (int i = 0; i < model->vCount; ++i) {
        world->freeV[i] += world->startV[i];
    }
    rgWorld_ReplaceFreeBodies(world);
    return rg_ok;
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
    rgWorld_AddSprings(world);
}

// Whether (5) has a say: a first joint that turns freely, and does turn.
bool rgWorld_HasSpin(const rgWorld* world) {
    const rgModel* model = world->model;
    bool any = false;
    for (int t = 0; t < model->treeCount && !any; ++t) {
        const rgLink* link = &model->links[model->trees[t].firstLink];
        const double* w = world->startV + link->v + link->vCount - 3;
        any = rgWorld_TreeSpins(world, t) && (w[0] != 0 || w[1] != 0 || w[2] != 0);
    }
    return any;
}

// (5) force += scale P D P' change
void rgWorld_AddSpinForces(rgWorld* world, const double* change, double scale, double* force) {
    rgDynamics_NeedComposites(world->dynamics);
    for (int t = 0; t < world->model->treeCount; ++t) {
        if (rgWorld_TreeSpins(world, t)) {
            rgVec3 D[3];
            int first = rgWorld_TreeGyroscopic(world, t, D);
            const double* x = change + first;
            rgVec3 y = rgMultiply3(D, rgVec(x[0], x[1], x[2]));
            force[first] += scale * y.x;
            force[first + 1] += scale * y.y;
            force[first + 2] += scale * y.z;
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
    rgVec3 rate = rgScale(1 / dt, rgSub(rest, start)), columns[3];
    rgVec3 force = rgScale(link->mass, rgSub(rate, world->gravity));
    rgSpinColumns(I, w, dt, columns);
    rgVec3 change = rgScale(1 / dt, rgSub(spin, w)), torque = rgCross(w, rgSym3_Multiply(I, w));
    torque = rgAddScaled(torque, change.x, columns[0]);
    torque = rgAddScaled(torque, change.y, columns[1]);
    torque = rgAddScaled(torque, change.z, columns[2]);
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
