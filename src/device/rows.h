// From the state of a world to its contact problem: step.1, free.1-9, step.5, step.7-9.
#pragma once
#include "device/collide.h"
#include "device/fast.h"
#include "lanes/problem.h"

// ---- kinematics

// Linear velocities of free joints, from axes of the body to those of the world or back.
RG_MANY_FN void rgManyTurnFree(const rgMany* w, int q, int v, int out) {
    for (int t = 0; t < w->m->treeCount; ++t) {
        const rgManyLink* link = w->m->links + w->m->trees[t].firstLink;
        if (link->kind == rg_manyFree) {
            rgQuat turn = rgManyQuat(w, q + link->q + 3);
            rgVec3 x = rgManyVec(w, v + link->v);
            rgManySetVec(w, v + link->v, out ? rgRotate(turn, x) : rgRotateBack(turn, x));
        }
    }
}

// Rates of joints that turn freely, from axes of the body to those of its parent or back.
RG_MANY_FN void rgManyTurnRates(const rgMany* w, int v, int out) {
    const rgManyModel* m = w->m;
    for (int i = 1; i < m->linkCount; ++i) {
        const rgManyLink* link = m->links + i;
        if (link->kind == rg_manySpherical || link->kind == rg_manyFree) {
            rgQuat turn = rgManyQuat(w, m->work.q + link->q + (link->kind == rg_manyFree ? 3 : 0));
            int at = v + link->v + link->vCount - 3;
            rgVec3 rate = rgManyVec(w, at);
            rgManySetVec(w, at, out ? rgRotate(turn, rate) : rgRotateBack(turn, rate));
        }
    }
}

// step.1, free.5. Trees that were set and move are left to the host.
RG_MANY_FN void rgManyPlace(const rgMany* w) {
    const rgManyModel* m = w->m;
    for (int i = 0; i < m->qCount; ++i) {
        RG_W(w, q, i) = RG_S(w, q, i);
        RG_W(w, nextQ, i) = RG_S(w, q, i);
    }
    for (int i = 0; i < m->vCount; ++i) {
        RG_W(w, v, i) = RG_S(w, v, i);
        RG_W(w, predictor, i) = RG_S(w, predictor, i);
    }
    rgManyTurnFree(w, m->work.q, m->work.v, 1);
    for (int t = 0; t < m->treeCount; ++t) {
        const rgManyTree* tree = m->trees + t;
        int moves = 0;
        for (int i = tree->firstDof; i < tree->firstDof + tree->dofCount; ++i) {
            moves = moves || RG_S(w, v, i) != 0;
        }
        RG_W(w, drift, t) = m->drifts ? 0.5 * m->dt : 0;
        if (m->drifts && moves && RG_S(w, isSet, t) != 0) {
            rgManyFail(w, rg_manyStart);
        }
        if (m->drifts) {
            rgManyIntegrateTree(w, t, m->work.nextQ, m->work.v, 0.5 * m->dt, m->work.q);
            rgManyTransformTree(w, t, m->work.nextQ, m->work.q, m->work.v);
        }
    }
    if (m->drifts) {
        rgManyTurnRates(w, m->work.predictor, 0);
    }
    for (int i = 0; i < m->vCount; ++i) {
        RG_W(w, midV, i) = RG_W(w, v, i) + RG_W(w, predictor, i);
    }
    for (int k = 0; k < 12; ++k) {
        RG_W(w, poses, k) = k == 0 || k == 4 || k == 8;
    }
    for (int t = 0; t < m->treeCount; ++t) {
        const rgManyTree* tree = m->trees + t;
        double threshold = tree->linkCount == 1 && tree->dofCount >= 3 ? 0 : RG_FAST_ANGLE;
        int fast =
            !tree->isFreeBody && rgManyTreeTurn(w, t, m->work.v, rg_manyLastChange) > threshold;
        RG_WI(w, isFast, t) = fast;
        RG_WI(w, substeps, t) = 1;
        if (fast) {
            rgManyTransportStart(w, t);
        } else {
            rgManyPlaceTree(w, t, m->work.q);
        }
        rgManyMoveTree(w, t, m->work.v);
    }
}

// ---- what curved paths and rolling would change

RG_MANY_FN rgVec3 rgManyPointBias(const rgMany* w, int link, rgVec3 position) {
    if (link == 0) {
        return rgVec(0, 0, 0);
    }
    rgSpatial V = rgManySpatial(w, w->m->work.velocities + 6 * link);
    rgSpatial B = rgManySpatial(w, w->m->work.biases + 6 * link);
    rgVec3 arm = rgSub(position, rgManyOrigin(w, link));
    if (w->m->trees[w->m->links[link].tree].isFreeBody) {
        rgRot r = rgManyRot(w, link);
        rgVec3 center = rgRot_Apply(&r, w->m->links[link].center);
        return rgCross(V.angular, rgCross(V.angular, rgSub(arm, center)));
    }
    rgVec3 velocity = rgAdd(V.linear, rgCross(V.angular, arm));
    return rgAdd(rgAdd(B.linear, rgCross(B.angular, arm)), rgCross(V.angular, velocity));
}

// Curvature slips (constraints.23) between trees that turn together, where they count, and bodies
// that roll (gap.1) are left to the host.
RG_MANY_FN void rgManyFindCurves(const rgMany* w) {
    const rgManyModel* m = w->m;
    int V = m->work.velocities;
    for (int t = 0; t < m->treeCount; ++t) {
        RG_WI(w, treeTouches, t) = 0;
    }
    for (int i = 0; i < RG_WI(w, pointCount, 0); ++i) {
        const rgManyPair* pair = m->pairs + RG_WI(w, pointPair, i);
        int at = rgManyPointAt(w, i, 0);
        int treeA = m->colliders[pair->a].tree, treeB = m->colliders[pair->b].tree;
        rgVec3 n = rgManyVec(w, at + rg_pointNormal);
        int loaded = rgDot(rgManyVec(w, at + rg_pointMemory), n) > 0;
        for (int k = 0; k < 2 && loaded; ++k) {
            int tree = k == 0 ? treeA : treeB;
            if (tree >= 0) {
                RG_WI(w, treeTouches, tree) += 1;
            }
        }
        if (treeA == treeB || treeA < 0 || treeB < 0) {
            continue; // against the world the sides turn together only at rest
        }
        int linkA = m->colliders[pair->a].link, linkB = m->colliders[pair->b].link;
        rgVec3 a = rgManyVec(w, V + 6 * linkA + 3), b = rgManyVec(w, V + 6 * linkB + 3);
        double apart = rgLength(rgSub(b, a)), both = rgLength(a) + rgLength(b);
        double share = both > 0 ? rgManyMost(1 - RG_TOGETHER_FACTOR * apart / both, 0) : 1;
        if (share > 0 && (RG_WI(w, isFast, treeA) || RG_WI(w, isFast, treeB))) {
            rgManyFail(w, rg_manyFast);
        } else if (share > 0) {
            rgVec3 x = rgManyVec(w, at + rg_pointPosition);
            rgVec3 arc = rgScale(0.5 * m->dt,
                                 rgSub(rgManyPointBias(w, linkB, x), rgManyPointBias(w, linkA, x)));
            rgVec3 slip = rgSub(rgManyPairVelocity(w, V, pair, x), arc);
            slip = rgAddScaled(slip, -rgDot(slip, n), n);
            arc = rgAddScaled(arc, -0.25 * m->dt, rgCross(rgAdd(a, b), slip));
            if (share * rgLength(arc) > RG_ROUNDING) {
                rgManyFail(w, rg_manyCurved);
            }
        }
    }
    for (int i = 0; i < (m->hasWholeRounds && m->drifts ? RG_WI(w, pointCount, 0) : 0); ++i) {
        const rgManyPair* pair = m->pairs + RG_WI(w, pointPair, i);
        const rgManyCollider *A = m->colliders + pair->a, *B = m->colliders + pair->b;
        int at = rgManyPointAt(w, i, 0);
        int wholeA = A->tree < 0 || m->trees[A->tree].isFreeBody;
        int wholeB = B->tree < 0 || m->trees[B->tree].isFreeBody;
        int straight = (A->isCentered && B->isFlat && B->link == 0) ||
                       (B->isCentered && A->isFlat && A->link == 0);
        int onceA = A->tree < 0 || RG_WI(w, treeTouches, A->tree) == 1;
        int onceB = B->tree < 0 || RG_WI(w, treeTouches, B->tree) == 1;
        rgVec3 n = rgManyVec(w, at + rg_pointNormal);
        if (!wholeA || !wholeB || !(A->isRound || B->isRound) || straight || !onceA || !onceB ||
            !(rgDot(rgManyVec(w, at + rg_pointMemory), n) > 0) || RG_WI(w, pointOverlaps, i)) {
            continue;
        }
        rgVec3 a = A->link > 0 ? rgManyVec(w, V + 6 * A->link + 3) : rgVec(0, 0, 0);
        rgVec3 b = B->link > 0 ? rgManyVec(w, V + 6 * B->link + 3) : rgVec(0, 0, 0);
        double turn = m->dt * rgLength(rgSub(b, a)), arm = INFINITY;
        for (int k = 0; k < 2; ++k) {
            int link = k == 0 ? A->link : B->link;
            if (link > 0) {
                rgRot r = rgManyRot(w, link);
                rgVec3 center = rgAdd(rgAdd(rgManyOrigin(w, link), rgManyPlaceOf(w, link)),
                                      rgRot_Apply(&r, m->links[link].center));
                rgVec3 x = rgSub(rgManyVec(w, at + rg_pointPosition), center);
                arm = rgManyLeast(arm, rgLength(x));
            }
        }
        if (turn * turn * arm > m->dt * m->dt * RG_REST_RATIO * m->gravityLength) {
            rgManyFail(w, rg_manyRolling);
        }
    }
}

// ---- free motion

RG_MANY_FN void rgManyDofWeights(const rgMany* w, int dof, double dt, double* along, double* ahead,
                                 double* share) {
    const rgManyDof* d = w->m->dofs + dof;
    double factor = dt * d->coupling / RG_W(w, diagonal, dof);
    rgManySpringWeights(RG_W(w, drift, d->tree), factor * dt * d->allStiffness,
                        factor * d->allDamping, along, ahead, share);
}

RG_MANY_FN double rgManyCommand(const rgMany* w, int drive) {
    const rgManyDrive* d = w->m->drives + drive;
    double c = RG_S(w, control, drive);
    if (d->hasControlRange) {
        c = rgManyLeast(rgManyMost(c, d->controlLower), d->controlUpper);
    }
    return d->gain * c + d->bias;
}

// Gains on one degree of freedom at q and v: their part of the force, and of M^.
RG_MANY_FN double rgManyAddGain(const rgMany* w, int drive, int q, int v, double dt, int added) {
    const rgManyDrive* d = w->m->drives + drive;
    double along, ahead, share, rate = d->gear * RG_AT(w, v + d->v);
    rgManyDofWeights(w, d->v, dt, &along, &ahead, &share);
    double position = d->gear * RG_AT(w, q + d->q) + along * dt * rate;
    RG_AT(w, added + d->v) +=
        d->gear * d->gear * dt * (ahead * dt * d->stiffness + share * d->damping);
    return d->stiffness * position + d->damping * rate;
}

// Springs and dampers of the joints of a tree at q and v.
RG_MANY_FN void rgManyAddSprings(const rgMany* w, int tree, int q, int v, double dt, int tau,
                                 int added) {
    const rgManyModel* m = w->m;
    const rgManyTree* range = m->trees + tree;
    for (int i = range->firstDof; i < range->firstDof + range->dofCount; ++i) {
        const rgManyDof* d = m->dofs + i;
        double along, ahead, share, rate = RG_AT(w, v + i);
        if (d->spring == 0 && d->damping == 0) {
            continue;
        }
        rgManyDofWeights(w, i, dt, &along, &ahead, &share);
        if (d->spring > 0) {
            double stretch = RG_AT(w, q + d->q) - d->springReference;
            RG_AT(w, tau + i) -= d->spring * (stretch + along * dt * rate);
            RG_AT(w, added + i) += dt * dt * (ahead * d->spring);
        }
        RG_AT(w, tau + i) -= d->damping * rate;
        RG_AT(w, added + i) += dt * (share * d->damping);
    }
}

// Springs, dampers and gains of a tree alone.
RG_MANY_FN void rgManyPullTree(const rgMany* w, int tree, int q, int v, double dt, int tau,
                               int added) {
    const rgManyModel* m = w->m;
    const rgManyTree* range = m->trees + tree;
    int end = range->firstDof + range->dofCount;
    for (int i = range->firstDof; i < end; ++i) {
        RG_AT(w, tau + i) = RG_AT(w, added + i) = 0;
    }
    for (int a = 0; a < m->driveCount; ++a) {
        const rgManyDrive* d = m->drives + a;
        if (d->mode == rg_manyJoint && d->v >= range->firstDof && d->v < end) {
            RG_AT(w, tau + d->v) -= d->gear * rgManyAddGain(w, a, q, v, dt, added);
        }
    }
    rgManyAddSprings(w, tree, q, v, dt, tau, added);
}

RG_MANY_FN void rgManySumForces(const rgMany* w) {
    const rgManyModel* m = w->m;
    for (int i = 0; i < m->vCount; ++i) {
        RG_W(w, tau, i) = RG_S(w, force, i);
        RG_W(w, added, i) = 0;
    }
    rgManyTurnFree(w, m->work.q, m->work.tau, 1);
    for (int a = 0; a < m->driveCount; ++a) {
        const rgManyDrive* d = m->drives + a;
        double force = rgManyCommand(w, a);
        if (d->mode == rg_manyForce) {
            force = rgManyLeast(rgManyMost(force, d->lower), d->upper);
        } else if (d->mode == rg_manyJoint) {
            force -= rgManyAddGain(w, a, m->work.q, m->work.v, m->dt, m->work.added);
        } else {
            continue;
        }
        RG_W(w, tau, d->v) += d->gear * force;
    }
    for (int i = 0; i < m->vCount; ++i) {
        double limit = m->dofs[i].effort, tau = RG_W(w, tau, i);
        RG_W(w, tau, i) = limit > 0 ? rgManyLeast(rgManyMost(tau, -limit), limit) : tau;
    }
    for (int t = 0; t < m->treeCount; ++t) {
        rgManyAddSprings(w, t, m->work.q, m->work.v, m->dt, m->work.tau, m->work.added);
    }
}

// x with [a b c] x = right.
RG_MANY_FN rgVec3 rgManySolve3(rgVec3 a, rgVec3 b, rgVec3 c, rgVec3 right) {
    rgVec3 bc = rgCross(b, c);
    double inverse = 1 / rgDot(a, bc);
    return rgVec(inverse * rgDot(right, bc), inverse * rgDot(a, rgCross(right, c)),
                 inverse * rgDot(a, rgCross(b, right)));
}

RG_MANY_FN void rgManySpinColumns(const rgSym3* I, rgVec3 o, double dt, rgVec3* columns) {
    rgVec3 Iw = rgSym3_Multiply(I, o);
    for (int k = 0; k < 3; ++k) {
        rgVec3 e = rgVec(k == 0, k == 1, k == 2), Ie = rgSym3_Multiply(I, e);
        columns[k] = rgAddScaled(Ie, 0.5 * dt, rgSub(rgCross(o, Ie), rgCross(Iw, e)));
    }
}

RG_MANY_FN rgVec3 rgManyTurnedBy(rgVec3 o, double time, rgVec3 x) {
    return rgRotate(rgManyExp(rgScale(time, o)), x);
}

// free.9, and free.8 by Euler's rule.
RG_MANY_FN rgVec3 rgManySpin(const rgSym3* I, rgVec3 o, rgVec3 torque, double dt, int drifts) {
    rgVec3 columns[3];
    if (!drifts) {
        rgVec3 Iw = rgSym3_Multiply(I, o);
        rgVec3 residual = rgScale(dt, rgSub(rgCross(o, Iw), torque));
        rgManySpinColumns(I, o, dt, columns);
        return rgSub(o, rgManySolve3(columns[0], columns[1], columns[2], residual));
    }
    if (I->xx == I->yy && I->yy == I->zz && I->xy == 0 && I->xz == 0 && I->yz == 0) {
        return rgAddScaled(o, dt / I->xx, torque);
    }
    rgVec3 momentum = rgManyTurnedBy(o, -0.5 * dt, rgSym3_Multiply(I, o)), next = o, best = o;
    momentum = rgAddScaled(momentum, dt, torque);
    double least = INFINITY, small = 1e-15 * rgLength(momentum);
    for (int k = 0; k < RG_SEARCH_ITERATIONS && least > small; ++k) {
        rgVec3 residual = rgSub(rgManyTurnedBy(next, 0.5 * dt, rgSym3_Multiply(I, next)), momentum);
        double size = rgLength(residual);
        if (!(size < least)) {
            break;
        }
        best = next;
        least = size;
        rgManySpinColumns(I, next, dt, columns);
        next = rgSub(next, rgManySolve3(columns[0], columns[1], columns[2], residual));
    }
    return best;
}

// free.7
RG_MANY_FN void rgManyMoveFreeBody(const rgMany* w, int tree) {
    const rgManyModel* m = w->m;
    const rgManyLink* link = m->links + m->trees[tree].firstLink;
    int tau = m->work.tau + link->v, v = m->work.v + link->v, out = m->work.freeV + link->v;
    rgQuat q = rgManyQuat(w, m->work.q + link->q + 3);
    rgVec3 c = rgRotate(q, link->center), force = rgManyVec(w, tau), o = rgManyVec(w, v + 3);
    rgVec3 torque = rgSub(rgManyVec(w, tau + 3), rgRotateBack(q, rgCross(c, force)));
    rgVec3 rate = rgAddScaled(m->gravity, 1 / link->mass, force);
    rgVec3 spin = rgManySpin(&link->moment, o, torque, m->dt, m->drifts);
    rgVec3 change = rgCross(rgRotate(q, rgSub(o, spin)), c);
    rgManySetVec(w, out, rgAdd(rgManyVec(w, v), rgAddScaled(change, m->dt, rate)));
    rgManySetVec(w, out + 3, spin);
}

// free.4
RG_MANY_FN void rgManyFreeVelocity(const rgMany* w) {
    const rgManyModel* m = w->m;
    for (int t = 0; t < m->treeCount; ++t) {
        rgManySumInertias(w, t);
        rgManyFillMass(w, t);
        if (m->drifts && !m->trees[t].isFreeBody) {
            rgManyMoveTree(w, t, m->work.midV);
        }
    }
    for (int i = 0; i < m->vCount; ++i) {
        RG_W(w, diagonal, i) = RG_W(w, mass, m->dofs[i].rowStart);
    }
    rgManySumForces(w);
    for (int t = 0; t < m->treeCount; ++t) {
        const rgManyTree* tree = m->trees + t;
        rgManyFactorTree(w, t, m->work.added);
        if (tree->isFreeBody) {
            rgManyMoveFreeBody(w, t);
            continue;
        }
        int fast = RG_WI(w, isFast, t), before = fast ? m->work.projectedV : m->work.v;
        if (fast) {
            rgManyGatherFast(w, t, m->dt, m->work.tau, m->work.added, m->work.v, m->work.projectedV,
                             m->work.freeV);
        } else {
            rgManyTreeBias(w, t, m->work.x);
        }
        for (int i = tree->firstDof; i < tree->firstDof + tree->dofCount && !fast; ++i) {
            RG_W(w, freeV, i) = m->dt * (RG_W(w, tau, i) - RG_W(w, x, i));
        }
        rgManySolveTree(w, t, m->work.freeV);
        for (int i = tree->firstDof; i < tree->firstDof + tree->dofCount; ++i) {
            RG_W(w, freeV, i) += RG_AT(w, before + i);
        }
    }
    for (int i = 0; i < m->vCount; ++i) {
        if (RG_W(w, freeV, i) * 0 != 0) {
            rgManyFail(w, rg_manyNumbers);
        }
    }
}

// free.6 of a tree from v over dt with the factor of now, to its fixed point in next; mid is
// scratch. speed 0: relative to the velocity that is reached.
RG_MANY_FN void rgManySolveMidpoint(const rgMany* w, int tree, int v, int tau, double dt, int mid,
                                    int next, double speed) {
    const rgManyModel* m = w->m;
    const rgManyTree* range = m->trees + tree;
    int first = range->firstDof, end = first + range->dofCount, y = m->work.y;
    double last = INFINITY;
    for (int k = 0; k < RG_SEARCH_ITERATIONS; ++k) {
        double most = 0, reached = 0;
        for (int i = first; i < end; ++i) {
            RG_AT(w, mid + i) = 0.5 * (RG_AT(w, v + i) + RG_AT(w, next + i));
        }
        rgManyMoveTree(w, tree, mid);
        rgManyTreeBias(w, tree, y);
        for (int i = first; i < end; ++i) {
            RG_AT(w, y + i) = dt * (RG_AT(w, tau + i) - RG_AT(w, y + i));
        }
        rgManySolveTree(w, tree, y);
        for (int i = first; i < end; ++i) {
            double changed = RG_AT(w, v + i) + RG_AT(w, y + i);
            most = rgManyMost(most, fabs(changed - RG_AT(w, next + i)));
            reached = rgManyMost(reached, fabs(changed));
            RG_AT(w, next + i) = changed;
        }
        if (!(most < last) || most <= RG_MIDPOINT_TOLERANCE * (speed > 0 ? speed : reached)) {
            return;
        }
        last = most;
    }
}

// One substep of h of a fast tree from nextQ, where it is placed, and flightV; both become those of
// its end.
RG_MANY_FN void rgManyMoveSubstep(const rgMany* w, int tree, double h) {
    const rgManyModel* m = w->m;
    const rgManyTree* range = m->trees + tree;
    int first = range->firstDof, end = first + range->dofCount;
    int q = m->work.nextQ, v = m->work.flightV, x = m->work.y, rates = m->work.rejected;
    rgManyAddRates(w, tree, v, 0, rates);
    rgManyTurnLinks(w, tree, 0.5 * h, rates);
    rgManyIntegrateTree(w, tree, q, v, 0.5 * h, q);
    rgManyPlaceTree(w, tree, q);
    rgManySumInertias(w, tree);
    rgManyFillMass(w, tree);
    rgManyProjectRates(w, tree, rates, v, m->work.projectedV);
    for (int i = first; i < end; ++i) {
        RG_W(w, diagonal, i) = RG_W(w, mass, m->dofs[i].rowStart);
    }
    rgManyPullTree(w, tree, q, v, h, m->work.flightTau, m->work.flightAdded);
    for (int i = first; i < end; ++i) {
        RG_W(w, flightTau, i) += RG_W(w, flightForce, i);
    }
    rgManyGatherFast(w, tree, h, m->work.flightTau, m->work.flightAdded, v, m->work.projectedV, x);
    rgManyFactorTree(w, tree, m->work.flightAdded);
    rgManySolveTree(w, tree, x);
    for (int i = first; i < end; ++i) { // x := v + v+
        RG_AT(w, x + i) += 2 * RG_W(w, projectedV, i);
    }
    rgManyAddRates(w, tree, x, -1, rates);
    rgManyTurnLinks(w, tree, 0.5 * h, rates);
    for (int i = first; i < end; ++i) {
        RG_AT(w, v + i) = RG_AT(w, x + i) - RG_AT(w, v + i);
    }
    rgManyIntegrateTree(w, tree, q, v, 0.5 * h, q);
    rgManyPlaceTree(w, tree, q);
    rgManySumInertias(w, tree);
    rgManyFillMass(w, tree);
    for (int i = first; i < end; ++i) {
        RG_AT(w, x + i) = RG_AT(w, v + i);
    }
    rgManyProjectRates(w, tree, rates, x, v);
}

// free.14: a fast tree without rows from the state to the end of the step in equal substeps: q+ is
// nextQ, v+ is freeV.
RG_MANY_FN void rgManyMoveInSubsteps(const rgMany* w, int tree, int count) {
    const rgManyModel* m = w->m;
    const rgManyTree* range = m->trees + tree;
    int first = range->firstDof, end = first + range->dofCount;
    rgManyPullTree(w, tree, m->work.q, m->work.v, m->dt, m->work.flightTau, m->work.flightAdded);
    for (int i = first; i < end; ++i) {
        RG_W(w, flightForce, i) = RG_W(w, tau, i) - RG_W(w, flightTau, i);
        RG_W(w, flightV, i) = RG_W(w, v, i);
    }
    for (int i = range->firstLink; i < range->firstLink + range->linkCount; ++i) {
        const rgManyLink* link = m->links + i;
        int numbers = link->kind == rg_manyFree ? 7 : link->kind == rg_manySpherical ? 4 : 1;
        for (int k = link->q; k < link->q + numbers; ++k) {
            RG_W(w, nextQ, k) = RG_S(w, q, k);
        }
    }
    rgManyPlaceTree(w, tree, m->work.nextQ);
    for (int k = 0; k < count; ++k) {
        rgManyMoveSubstep(w, tree, m->dt / count);
    }
    for (int i = first; i < end; ++i) {
        RG_W(w, freeV, i) = RG_W(w, flightV, i);
    }
}

// ---- active set

RG_MANY_FN double rgManyNextGap(const rgMany* w, int point) {
    const rgManyPair* pair = w->m->pairs + RG_WI(w, pointPair, point);
    int at = rgManyPointAt(w, point, 0);
    double ahead = rgManyTimeAhead(w, w->m->colliders[pair->a].link, w->m->colliders[pair->b].link);
    rgVec3 rate =
        rgManyPairVelocity(w, w->m->work.linkV, pair, rgManyVec(w, at + rg_pointPosition));
    return RG_AT(w, at + rg_pointGap) + ahead * rgDot(rgManyVec(w, at + rg_pointNormal), rate);
}

RG_MANY_FN void rgManyDeactivate(const rgMany* w) {
    double fall = w->m->gravityLength * w->m->dt * w->m->dt;
    rgManySetLinkVelocities(w, w->m->work.freeV);
    for (int i = 0; i < RG_WI(w, pointCount, 0); ++i) {
        double gap = RG_AT(w, rgManyPointAt(w, i, rg_pointGap));
        RG_WI(w, pointActive, i) = gap <= 0 || rgManyNextGap(w, i) <= fall;
    }
}

// All of a step up to its first problem.
RG_MANY_FN void rgManyBegin(const rgMany* w) {
    RG_WI(w, reason, 0) = rg_manyDone;
    RG_WI(w, pass, 0) = 0;
    RG_WI(w, again, 0) = 1;
    RG_WI(w, resumes, 0) = 0;
    RG_WI(w, rowCount, 0) = 0;
    rgManyPlace(w);
    if (RG_WI(w, reason, 0) != rg_manyDone) {
        return;
    }
    rgManyCollide(w);
    rgManyFindCurves(w);
    if (RG_WI(w, reason, 0) != rg_manyDone) {
        return;
    }
    rgManyFreeVelocity(w);
    rgManyDeactivate(w);
}

// ---- rows

typedef enum rgManyRowKind {
    rg_rowLimit,
    rg_rowFriction,
    rg_rowDrive,
    rg_rowContact
} rgManyRowKind;

// A row, zero as yet, with its group; -1: no room.
RG_MANY_FN int rgManyOpenRows(const rgMany* w, int rows, int kind, int source, int groupKind) {
    const rgManyModel* m = w->m;
    int row = RG_WI(w, rowCount, 0), group = RG_WI(w, groupCount, 0);
    if (row + rows > m->rowCapacity) {
        rgManyFail(w, rg_manyRows);
        return -1;
    }
    for (int k = row; k < row + rows; ++k) {
        for (int i = 0; i < m->vCount; ++i) {
            w->J[k * m->vCount + i] = 0;
        }
        w->velocity[k] = 0;
        w->compliance[k] = 0;
        w->length[k] = 1;
        w->start[k] = 0;
        RG_WI(w, rowKind, k) = kind;
        RG_WI(w, rowSource, k) = source;
        RG_W(w, rowGap, k) = 0;
    }
    rgLaneGroup* out = w->groups + group;
    out->kind = groupKind;
    out->row = row;
    out->island = 0;
    out->block = group;
    out->mu = out->lower = out->upper = 0;
    RG_WI(w, rowCount, 0) = row + rows;
    RG_WI(w, groupCount, 0) = group + 1;
    return row;
}

RG_MANY_FN double rgManyRowSpeed(const rgMany* w, int row, int v) {
    double sum = 0;
    for (int i = 0; i < w->m->vCount; ++i) {
        sum += w->J[row * w->m->vCount + i] * RG_AT(w, v + i);
    }
    return sum;
}

RG_MANY_FN int rgManyLimitIsNear(const rgMany* w, double phi, double speed, double freeSpeed) {
    return phi <= RG_SLOP + RG_IMPACT_SPEED_RATIO * w->m->dt * (fabs(speed) + fabs(freeSpeed));
}

RG_MANY_FN void rgManyAddLimits(const rgMany* w) {
    const rgManyModel* m = w->m;
    for (int k = 0; k < 2 * m->limitCount; ++k) {
        const rgManyLimit* limit = m->limits + k / 2;
        double q = RG_W(w, q, limit->q), sign = k % 2 == 0 ? 1 : -1;
        double phi = k % 2 == 0 ? q - limit->lower : limit->upper - q;
        if (!rgManyLimitIsNear(w, phi, RG_W(w, v, limit->v), RG_W(w, freeV, limit->v))) {
            continue;
        }
        int row = rgManyOpenRows(w, 1, rg_rowLimit, k, rg_laneHalfLine);
        if (row < 0) {
            return;
        }
        double ahead = rgManyTreeAhead(w, m->dofs[limit->v].link);
        w->J[row * m->vCount + limit->v] = sign;
        w->velocity[row] = rgManyMost(rgManyTouchingGap(phi), 0) / ahead;
        w->length[row] = m->dofs[limit->v].leverArm;
        w->start[row] = RG_S(w, impulse, limit->slot + k % 2);
        RG_W(w, rowGap, row) = phi;
    }
}

RG_MANY_FN void rgManyAddDryFriction(const rgMany* w) {
    const rgManyModel* m = w->m;
    for (int i = 0; i < m->vCount; ++i) {
        double bound = m->dt * m->dofs[i].dryFriction;
        int row = bound != 0 ? rgManyOpenRows(w, 1, rg_rowFriction, i, rg_laneBox) : -1;
        if (row >= 0) {
            w->groups[RG_WI(w, groupCount, 0) - 1].lower = -bound;
            w->groups[RG_WI(w, groupCount, 0) - 1].upper = bound;
            w->J[row * m->vCount + i] = 1;
            w->length[row] = m->dofs[i].leverArm;
            w->start[row] = RG_S(w, impulse, m->dofs[i].slot);
        }
    }
}

// Servos whose force is limited: free.1 along a row.
RG_MANY_FN void rgManyAddDrives(const rgMany* w) {
    const rgManyModel* m = w->m;
    for (int a = 0; a < m->driveCount; ++a) {
        const rgManyDrive* d = m->drives + a;
        const rgManyDof* dof = m->dofs + d->v;
        int row = d->mode == rg_manyRow ? rgManyOpenRows(w, 1, rg_rowDrive, a, rg_laneBox) : -1;
        if (row < 0) {
            continue;
        }
        double along, ahead, share, dt = m->dt, k = d->stiffness, c = d->damping;
        double mobility =
            rgManyMost(1, dof->coupling) * d->gear * d->gear / RG_W(w, diagonal, d->v);
        rgManySpringWeights(RG_W(w, drift, dof->tree), dt * dt * k * mobility, dt * c * mobility,
                            &along, &ahead, &share);
        double R = 1 / (dt * (dt * k * ahead + c * share));
        double rate = d->gear * RG_W(w, v, d->v), position = d->gear * RG_W(w, q, d->q);
        double before = (c * (1 - share) + dt * k * (along - ahead)) * rate;
        w->J[row * m->vCount + d->v] = d->gear;
        w->compliance[row] = R;
        w->velocity[row] = R * dt * (k * position + before - rgManyCommand(w, a));
        w->length[row] = dof->leverArm / fabs(d->gear);
        w->start[row] = RG_S(w, impulse, d->slot);
        w->groups[RG_WI(w, groupCount, 0) - 1].lower = dt * d->lower;
        w->groups[RG_WI(w, groupCount, 0) - 1].upper = dt * d->upper;
    }
}

// Column of a degree of freedom in the three rows of a contact.
RG_MANY_FN void rgManyFillColumn(const rgMany* w, int row, int dof, double sign, rgVec3 point,
                                 int at) {
    const rgManyModel* m = w->m;
    rgSpatial axis = rgManySpatial(w, m->work.axes + 6 * dof);
    rgVec3 arm = rgSub(point, rgManyOrigin(w, m->dofs[dof].link));
    rgVec3 rate = rgScale(sign, rgAdd(axis.linear, rgCross(axis.angular, arm)));
    double* J = w->J + row * m->vCount + dof;
    J[0] = rgDot(rate, rgManyVec(w, at + rg_pointTangent1));
    J[m->vCount] = rgDot(rate, rgManyVec(w, at + rg_pointTangent2));
    J[2 * m->vCount] = rgDot(rate, rgManyVec(w, at + rg_pointNormal));
}

RG_MANY_FN int rgManyLastDof(const rgMany* w, int link) {
    return link > 0 ? w->m->links[link].v + w->m->links[link].vCount - 1 : -1;
}

RG_MANY_FN void rgManyAddContact(const rgMany* w, int index) {
    const rgManyModel* m = w->m;
    const rgManyPair* pair = m->pairs + RG_WI(w, pointPair, index);
    int at = rgManyPointAt(w, index, 0);
    int linkA = m->colliders[pair->a].link, linkB = m->colliders[pair->b].link;
    int row = rgManyOpenRows(w, 3, rg_rowContact, index, rg_laneCoulomb);
    if (row < 0) {
        return;
    }
    RG_WI(w, pointRow, index) = row;
    rgVec3 point = rgManyVec(w, at + rg_pointPosition);
    int a = rgManyLastDof(w, linkA), b = rgManyLastDof(w, linkB);
    while (a != b) { // columns that move both are zero
        if (a > b) {
            rgManyFillColumn(w, row, a, -1, point, at);
            a = m->dofs[a].parent;
        } else {
            rgManyFillColumn(w, row, b, 1, point, at);
            b = m->dofs[b].parent;
        }
    }
    double gap = RG_AT(w, at + rg_pointGap), ahead = rgManyTimeAhead(w, linkA, linkB), most = 0;
    for (int i = 0; i < m->vCount; ++i) {
        most = rgManyMost(most, fabs(w->J[(row + 2) * m->vCount + i]));
    }
    if (!(most > RG_ROUNDING)) {
        RG_WI(w, pointOverlaps, index) = 1;
    }
    w->velocity[row + 2] = rgManyMost(gap, 0) / ahead;
    w->groups[RG_WI(w, groupCount, 0) - 1].mu = pair->mu;
    RG_W(w, rowGap, row + 2) = gap;
    if (pair->restitution > 0 && rgManyRowSpeed(w, row + 2, m->work.v) < -m->restitutionThreshold &&
        gap + ahead * rgManyRowSpeed(w, row + 2, m->work.freeV) < 0) {
        rgManyFail(w, rg_manyRestitution);
    }
    int last = RG_WI(w, resumes, 0) && RG_WI(w, pointHasImpulse, index);
    for (int k = 0; k < 3; ++k) {
        rgVec3 axis = rgManyVec(w, at + (k == 0   ? rg_pointTangent1
                                         : k == 1 ? rg_pointTangent2
                                                  : rg_pointNormal));
        w->start[row + k] = last ? RG_AT(w, at + rg_pointImpulse + k)
                                 : rgDot(rgManyVec(w, at + rg_pointMemory), axis);
    }
}

// Trees that rows act on, and islands of trees that rows connect.
RG_MANY_FN int rgManyIslandOf(const rgMany* w, int tree) {
    while (RG_WI(w, island, tree) != tree) {
        tree = RG_WI(w, island, tree);
    }
    return tree;
}

RG_MANY_FN void rgManyConnect(const rgMany* w) {
    const rgManyModel* m = w->m;
    for (int t = 0; t < m->treeCount; ++t) {
        RG_WI(w, island, t) = t;
        RG_WI(w, isHeld, t) = 0;
    }
    for (int g = 0; g < RG_WI(w, groupCount, 0); ++g) {
        int row = w->groups[g].row, kind = RG_WI(w, rowKind, row), dof = RG_WI(w, rowSource, row);
        if (kind == rg_rowContact) {
            continue;
        }
        dof = kind == rg_rowLimit   ? m->limits[dof / 2].v
              : kind == rg_rowDrive ? m->drives[dof].v
                                    : dof;
        int tree = m->dofs[dof].tree;
        double speed = kind == rg_rowLimit ? RG_W(w, v, dof) : 0;
        if (kind != rg_rowLimit || rgManyLimitIsNear(w, RG_W(w, rowGap, row), speed, 0)) {
            RG_WI(w, isHeld, tree) = 1;
        }
    }
    for (int i = 0; i < RG_WI(w, pointCount, 0); ++i) {
        const rgManyPair* pair = m->pairs + RG_WI(w, pointPair, i);
        int a = m->colliders[pair->a].tree, b = m->colliders[pair->b].tree;
        if (a >= 0) {
            RG_WI(w, isHeld, a) = 1;
        }
        if (b >= 0) {
            RG_WI(w, isHeld, b) = 1;
        }
        if (RG_WI(w, pointActive, i) && a >= 0 && b >= 0) {
            int rootA = rgManyIslandOf(w, a), rootB = rgManyIslandOf(w, b);
            if (rootA < rootB) {
                RG_WI(w, island, rootB) = rootA;
            } else {
                RG_WI(w, island, rootA) = rootB;
            }
        }
    }
}

RG_MANY_FN int rgManyTreeOfRow(const rgMany* w, int row) {
    const rgManyModel* m = w->m;
    int kind = RG_WI(w, rowKind, row), source = RG_WI(w, rowSource, row);
    if (kind == rg_rowContact) {
        const rgManyPair* pair = m->pairs + RG_WI(w, pointPair, source);
        int a = m->colliders[pair->a].tree;
        return a >= 0 ? a : m->colliders[pair->b].tree;
    }
    int dof = kind == rg_rowLimit   ? m->limits[source / 2].v
              : kind == rg_rowDrive ? m->drives[source].v
                                    : source;
    return m->dofs[dof].tree;
}

// Velocity that the transported motion of a fast tree adds to a row of a joint.
RG_MANY_FN double rgManyRowChange(const rgMany* w, int row) {
    int tree = rgManyTreeOfRow(w, row);
    double sum = 0;
    if (RG_WI(w, isFast, tree) && RG_WI(w, isHeld, tree)) {
        for (int i = 0; i < w->m->vCount; ++i) {
            double entry = w->J[row * w->m->vCount + i];
            sum += entry != 0 ? entry * rgManyProjectionChange(w, i) : 0;
        }
    }
    return sum;
}

// free.6 of trees that no rows act on. Those with v as yet have the largest speed of both.
RG_MANY_FN void rgManyRefine(const rgMany* w) {
    const rgManyModel* m = w->m;
    for (int t = 0; t < m->treeCount; ++t) {
        const rgManyTree* tree = m->trees + t;
        double speed = 0;
        RG_WI(w, substeps, t) = 1;
        if (!m->drifts || RG_WI(w, isHeld, t) || tree->isFreeBody) {
            continue;
        }
        if (RG_WI(w, isFast, t)) {
            double parts = rgManyTreeTurn(w, t, m->work.v, rg_manyNoChange) / RG_FAST_ANGLE;
            int count = parts < RG_SUBSTEP_MOST_COUNT ? (int)parts : RG_SUBSTEP_MOST_COUNT;
            count += count < parts && count < RG_SUBSTEP_MOST_COUNT; // rounded up
            RG_WI(w, substeps, t) = count < 1 ? 1 : count;
            if (count > 1) {
                rgManyMoveInSubsteps(w, t, count);
            }
            continue;
        }
        for (int i = tree->firstDof; i < tree->firstDof + tree->dofCount; ++i) {
            double v = RG_W(w, v, i);
            speed = rgManyMost(speed, fabs(v) + fabs(RG_W(w, freeV, i) - v));
        }
        rgManySolveMidpoint(w, t, m->work.v, m->work.tau, m->dt, m->work.midV, m->work.freeV,
                            speed > 0 ? speed : 1e-300);
    }
}

// The contact problem of a pass.
RG_MANY_FN void rgManyAssemble(const rgMany* w) {
    const rgManyModel* m = w->m;
    if (RG_WI(w, reason, 0) != rg_manyDone || !RG_WI(w, again, 0)) {
        return;
    }
    RG_WI(w, rowCount, 0) = RG_WI(w, groupCount, 0) = 0;
    rgManyAddLimits(w);
    rgManyAddDryFriction(w);
    rgManyAddDrives(w);
    for (int i = 0; i < RG_WI(w, pointCount, 0); ++i) {
        if (RG_WI(w, pointActive, i)) {
            rgManyAddContact(w, i);
        }
    }
    rgManyConnect(w);
    int n = RG_WI(w, rowCount, 0), last = RG_WI(w, resumes, 0);
    for (int r = 0; r < n; ++r) {
        if (RG_WI(w, rowKind, r) != rg_rowContact) { // free.12
            w->velocity[r] += rgManyRowChange(w, r);
        }
    }
    rgManyRefine(w);
    for (int r = 0; r < n; ++r) {
        w->velocity[r] += rgManyRowSpeed(w, r, m->work.freeV);
        if (last && RG_WI(w, rowKind, r) != rg_rowContact) {
            w->start[r] = w->lambda[r]; // rows of joints come first, and are the same
        }
    }
    for (int g = 0; g < RG_WI(w, groupCount, 0); ++g) {
        int tree = rgManyTreeOfRow(w, w->groups[g].row);
        w->groups[g].island = tree >= 0 ? rgManyIslandOf(w, tree) : 0;
    }
    for (int i = 0; i < m->vCount && n > 0; ++i) {
        double* row = w->mass + i * (i + 1) / 2;
        for (int j = 0; j <= i; ++j) {
            row[j] = 0;
        }
        const rgManyDof* dof = m->dofs + i;
        for (int k = 0; k < dof->depth; ++k) {
            row[m->massColumns[dof->rowStart + k]] = RG_W(w, mass, dof->rowStart + k);
        }
        row[i] += RG_W(w, added, i);
    }
    w->problem->rows = n;
    w->problem->groups = RG_WI(w, groupCount, 0);
    w->problem->velocities = m->vCount;
    w->problem->form = rg_laneMass;
    w->problem->reference = m->gravityLength * m->dt;
}

// True if a pass has a problem to solve.
RG_MANY_FN int rgManySolves(const rgMany* w) {
    return RG_WI(w, reason, 0) == rg_manyDone && RG_WI(w, again, 0) && RG_WI(w, rowCount, 0) > 0;
}
