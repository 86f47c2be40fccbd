// Free bodies: the midpoint rule about the centre of mass. free.7, free.8, free.9.
#include "world/world.h"

#include <string.h>

static rgQuat rgKinematics_FreeRotation(const rgKinematics* kinematics, const rgLink* link) {
    const double* q = kinematics->q + link->q + 3;
    return (rgQuat){q[0], q[1], q[2], q[3]};
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

// free.8: D = d(w x I w)/dw, by columns.
static void rgGyroscopic(const rgSym3* I, rgVec3 w, rgVec3 columns[3]) {
    rgVec3 Iw = rgSym3_Multiply(I, w);
    for (int k = 0; k < 3; ++k) {
        rgVec3 e = rgVec(k == 0, k == 1, k == 2);
        columns[k] = rgSub(rgCross(w, rgSym3_Multiply(I, e)), rgCross(Iw, e));
    }
}

// free.8: I + dt/2 D, by columns.
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

// free.9: exp(dt/2 w+) I w+ = exp(-dt/2 w) I w + dt T, body axes, without impulses: Newton.
// Returns w+.
static rgVec3 rgSpinFreely(const rgSym3* I, rgVec3 w, rgVec3 torque, double dt) {
    if (I->xx == I->yy && I->yy == I->zz && I->xy == 0 && I->xz == 0 && I->yz == 0) {
        return rgAddScaled(w, dt / I->xx, torque); // I w turns about itself: a ball, a cube
    }
    rgVec3 momentum = rgTurnedBy(w, -0.5 * dt, rgSym3_Multiply(I, w)), next = w, best = w;
    momentum = rgAddScaled(momentum, dt, torque);
    double least = INFINITY, small = 1e-15 * rgLength(momentum);
    for (int k = 0; k < RG_SEARCH_ITERATIONS && least > small; ++k) {
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

// free.8: One Newton step of the midpoint rule for I w' + w x I w = T, body axes. Returns w+.
static rgVec3 rgSpin(const rgSym3* I, rgVec3 w, rgVec3 torque, double dt) {
    rgVec3 Iw = rgSym3_Multiply(I, w);
    rgVec3 residual = rgScale(dt, rgSub(rgCross(w, Iw), torque));
    rgVec3 columns[3];
    rgSpinColumns(I, w, dt, columns);
    return rgSub(w, rgSolve3(columns[0], columns[1], columns[2], residual));
}

// free.9: Change of the angular momentum beside I (w+ - w) while the body turns with w, then with
// w+.
static rgVec3 rgGyroscopicImpulse(const rgSym3* I, rgVec3 w, rgVec3 next, double dt) {
    rgVec3 before = rgSym3_Multiply(I, w), after = rgSym3_Multiply(I, next);
    return rgSub(rgSub(rgTurnedBy(next, 0.5 * dt, after), after),
                 rgSub(rgTurnedBy(w, -0.5 * dt, before), before));
}

static rgVec3 rgInvertMoment(const rgSym3* I, rgVec3 x) {
    rgVec3 a = rgVec(I->xx, I->xy, I->xz), b = rgVec(I->xy, I->yy, I->yz);
    return rgSolve3(a, b, rgVec(I->xz, I->yz, I->zz), x);
}

// True if loops, rolling or contact springs curve the path of a body, with a known predictor.
// Impacts do not count: they end the path.
static bool rgKinematics_HasPredictedTurn(const rgKinematics* kinematics,
                                          const rgContactSet* contacts, const rgFreeMotion* motion,
                                          const rgLink* link) {
    const double* predictor = kinematics->predictor + link->v + 3;
    bool held = motion->isLooped[link->tree] || contacts->treeRolls[link->tree] ||
                contacts->treeSprings[link->tree];
    return held && (predictor[0] != 0 || predictor[1] != 0 || predictor[2] != 0);
}

// free.9 of the predicted rate.
static rgVec3 rgKinematics_PredictedGyroscopicImpulse(const rgKinematics* kinematics, double dt,
                                                      const rgLink* link, rgVec3 w) {
    rgVec3 next = rgAddScaled(w, 2, rgLoad3(kinematics->predictor + link->v + 3));
    return rgGyroscopicImpulse(&link->moment, w, next, dt);
}

// Rate after the free motion of a step.
static rgVec3 rgWorld_SpinBody(const rgWorld* world, const rgLink* link, rgVec3 w, rgVec3 torque) {
    const rgSym3* I = &link->moment;
    double dt = world->settings.dt;
    if (world->kinematics.driftTime[link->tree] == 0) {
        return rgSpin(I, w, torque, dt);
    }
    if (!rgKinematics_HasPredictedTurn(&world->kinematics, &world->contacts, &world->free, link)) {
        return rgSpinFreely(I, w, torque, dt);
    }
    rgVec3 push = rgSub(rgScale(dt, torque), rgKinematics_PredictedGyroscopicImpulse(
                                                 &world->kinematics, world->settings.dt, link, w));
    return rgAdd(w, rgInvertMoment(I, push));
}

// free.7: A free body moves with its centre of mass: momentum is kept to rounding.
static void rgWorld_MoveFreeBody(const rgWorld* world, const rgLink* link, double* out) {
    const double* tau = world->free.tau + link->v;
    const double* v = world->kinematics.v + link->v;
    rgQuat q = rgKinematics_FreeRotation(&world->kinematics, link);
    rgVec3 c = rgRotate(q, link->center);
    rgVec3 force = rgVec(tau[0], tau[1], tau[2]), w = rgVec(v[3], v[4], v[5]);
    rgVec3 torque = rgSub(rgVec(tau[3], tau[4], tau[5]), rgRotateBack(q, rgCross(c, force)));
    rgVec3 rate = rgAddScaled(world->settings.gravity, 1 / link->mass, force);
    rgVec3 spin = rgWorld_SpinBody(world, link, w, torque);
    rgVec3 change = rgCross(rgRotate(q, rgSub(w, spin)), c);
    out[0] = v[0] + (world->settings.dt * rate.x + change.x);
    out[1] = v[1] + (world->settings.dt * rate.y + change.y);
    out[2] = v[2] + (world->settings.dt * rate.z + change.z);
    out[3] = spin.x, out[4] = spin.y, out[5] = spin.z;
}

void rgWorld_ReplaceFreeBodies(rgWorld* world) {
    const rgModel* model = world->model;
    for (int t = 0; t < model->treeCount; ++t) {
        const rgTree* tree = &model->trees[t];
        if (world->sleep.asleep[t] != 0) {
            memcpy(world->free.v + tree->firstDof, world->kinematics.v + tree->firstDof,
                   (size_t)tree->dofCount * sizeof(double));
        } else if (world->kinematics.isFreeBody[t]) {
            const rgLink* link = &model->links[tree->firstLink];
            rgWorld_MoveFreeBody(world, link, world->free.v + link->v);
        }
    }
}

// free.8 or free.9, solved for the torque.
static rgVec3 rgWorld_SpinTorque(const rgWorld* world, const rgLink* link, rgVec3 w, rgVec3 spin) {
    const rgSym3* I = &link->moment;
    double dt = world->settings.dt;
    rgVec3 change = rgScale(1 / dt, rgSub(spin, w));
    if (world->kinematics.driftTime[link->tree] > 0) {
        rgVec3 predictedImpulse =
            rgKinematics_HasPredictedTurn(&world->kinematics, &world->contacts, &world->free, link)
                ? rgKinematics_PredictedGyroscopicImpulse(&world->kinematics, world->settings.dt,
                                                          link, w)
                : rgGyroscopicImpulse(I, w, spin, dt);
        return rgAddScaled(rgSym3_Multiply(I, change), 1 / dt, predictedImpulse);
    }
    rgVec3 columns[3];
    rgSpinColumns(I, w, dt, columns);
    return rgAdd(rgCross(w, rgSym3_Multiply(I, w)), rgMultiply3(columns, change));
}

// Forces on a free body that, with the impulse (both at its origin), make the step end with v.
void rgWorld_FreeBodyForce(const rgWorld* world, const rgLink* link, const double* v,
                           const double* impulse, double* tau) {
    const rgSym3* I = &link->moment;
    double dt = world->settings.dt;
    rgQuat q = rgKinematics_FreeRotation(&world->kinematics, link);
    rgVec3 c = rgRotate(q, link->center), push = rgLoad3(impulse);
    rgVec3 turn = rgSub(rgLoad3(impulse + 3), rgRotateBack(q, rgCross(c, push)));
    // the free motion: v less the change by the impulse
    rgVec3 rateChange = rgInvertMoment(I, turn);
    rgVec3 w = rgLoad3(world->kinematics.v + link->v + 3), spin = rgSub(rgLoad3(v + 3), rateChange);
    rgVec3 rest = rgAdd(rgLoad3(v), rgCross(rgRotate(q, rateChange), c));
    rest = rgAddScaled(rest, -1 / link->mass, push);
    // free.7 and free.8, solved for force and torque
    rgVec3 start =
        rgAdd(rgLoad3(world->kinematics.v + link->v), rgCross(rgRotate(q, rgSub(w, spin)), c));
    rgVec3 rate = rgScale(1 / dt, rgSub(rest, start));
    rgVec3 force = rgScale(link->mass, rgSub(rate, world->settings.gravity));
    rgVec3 torque = rgWorld_SpinTorque(world, link, w, spin);
    rgStore3(force, tau);
    rgStore3(rgAdd(torque, rgRotateBack(q, rgCross(c, force))), tau + 3);
}

// The impulse at its origin that a free body needs beside the forces in tau to reach v.
void rgWorld_FreeBodyImpulse(const rgWorld* world, const rgLink* link, const double* v,
                             double* impulse) {
    double rest[6];
    rgWorld_MoveFreeBody(world, link, rest);
    rgQuat q = rgKinematics_FreeRotation(&world->kinematics, link);
    rgVec3 c = rgRotate(q, link->center), rateChange = rgSub(rgLoad3(v + 3), rgLoad3(rest + 3));
    rgVec3 center = rgAdd(rgSub(rgLoad3(v), rgLoad3(rest)), rgCross(rgRotate(q, rateChange), c));
    rgVec3 push = rgScale(link->mass, center);
    rgStore3(push, impulse);
    rgStore3(rgAdd(rgSym3_Multiply(&link->moment, rateChange), rgRotateBack(q, rgCross(c, push))),
             impulse + 3);
}
