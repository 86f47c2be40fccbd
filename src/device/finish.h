// From impulses to the next state of a world: step.12-14, the projection, flight, and the commit.
#pragma once
#include "device/rows.h"

// y := y + J' lambda of the rows of the step.
RG_MANY_FN void rgManyGather(const rgMany* w, int y) {
    const rgManyModel* m = w->m;
    int n = RG_WI(w, rowCount, 0);
    for (int i = 0; i < m->vCount; ++i) {
        double sum = 0;
        for (int r = 0; r < n; ++r) {
            sum += w->J[r * m->vCount + i] * w->lambda[r];
        }
        RG_AT(w, y + i) = sum;
    }
}

// ---- curved paths

// Poses at a time ahead with v+, and back; those of before are kept beside
// them.
RG_MANY_FN void rgManyPlaceEnds(const rgMany* w) {
    const rgManyModel* m = w->m;
    for (int k = 0; k < 12 * m->linkCount; ++k) {
        RG_W(w, before, k) = RG_W(w, poses, k);
    }
    for (int k = 0; k < 3 * m->treeCount; ++k) {
        RG_W(w, beforeOrigins, k) = RG_W(w, origins, k);
    }
    for (int t = 0; t < m->treeCount; ++t) {
        double time = rgManyTreeAhead(w, m->trees[t].firstLink);
        rgManyIntegrateTree(w, t, m->work.q, m->work.nextV, time, m->work.flightQ);
        rgManyPlaceTree(w, t, m->work.flightQ);
    }
}

// A vector that is fixed to a link, or a point, at the end.
RG_MANY_FN rgVec3 rgManyEndOf(const rgMany* w, int link, rgVec3 x, int isPoint) {
    int at = w->m->work.before + 12 * link, tree = w->m->links[link].tree;
    if (link == 0) {
        return x;
    }
    rgRot now = {rgManyVec(w, at), rgManyVec(w, at + 3), rgManyVec(w, at + 6)};
    rgRot next = rgManyRot(w, link);
    if (!isPoint) {
        return rgRot_Apply(&next, rgRot_ApplyBack(&now, x));
    }
    rgVec3 from = rgAdd(rgManyVec(w, w->m->work.beforeOrigins + 3 * tree), rgManyVec(w, at + 9));
    rgVec3 to = rgAdd(rgManyOrigin(w, link), rgManyPlaceOf(w, link));
    return rgAdd(to, rgRot_Apply(&next, rgRot_ApplyBack(&now, rgSub(x, from))));
}

// gap.2: true if the path of a point curves so far that its gap at the end is
// another. straight: its gap along straight paths. Bodies that both are solid
// may also overlap beside their points.
RG_MANY_FN int rgManyPointCurves(const rgMany* w, int point, double straight) {
    const rgManyPair* pair = w->m->pairs + RG_WI(w, pointPair, point);
    const rgManyCollider *A = w->m->colliders + pair->a, *B = w->m->colliders + pair->b;
    int at = rgManyPointAt(w, point, 0);
    rgVec3 n = rgManyVec(w, at + rg_pointNormal), x = rgManyVec(w, at + rg_pointPosition);
    rgVec3 half = rgScale(0.5 * RG_AT(w, at + rg_pointGap), n);
    rgVec3 apart = rgSub(rgManyEndOf(w, B->link, rgAdd(x, half), 1),
                         rgManyEndOf(w, A->link, rgSub(x, half), 1));
    double gap = rgManyLeast(rgDot(rgManyEndOf(w, A->link, n, 0), apart),
                             rgDot(rgManyEndOf(w, B->link, n, 0), apart));
    double least = RG_CURVED_GAP_RATIO * rgManyLeast(A->thin, B->thin);
    return gap - straight < -least || rgManyMost(A->thin, B->thin) < INFINITY;
}

// Contacts whose paths curve are left to the host.
RG_MANY_FN void rgManyFindCurvedPaths(const rgMany* w) {
    const rgManyModel* m = w->m;
    int count = RG_WI(w, pointCount, 0);
    for (int i = 0; i < count; ++i) { // before poses change
        RG_W(w, projection, i) = RG_WI(w, pointCurves, i) ? rgManyNextGap(w, i) : 0;
    }
    rgManyPlaceEnds(w);
    for (int i = 0; i < count; ++i) {
        if (RG_WI(w, pointCurves, i) && rgManyPointCurves(w, i, RG_W(w, projection, i))) {
            rgManyFail(w, rg_manyCurved);
        }
    }
    for (int t = 0; t < m->treeCount; ++t) {
        rgManyPlaceTree(w, t, m->work.q);
    }
}

// step.12, step.5: v+, and whether another pass is needed.
RG_MANY_FN void rgManyRevise(const rgMany* w) {
    const rgManyModel* m = w->m;
    int n = RG_WI(w, rowCount, 0), pass = RG_WI(w, pass, 0) + 1, any = 0;
    if (RG_WI(w, reason, 0) != rg_manyDone || !RG_WI(w, again, 0)) {
        return;
    }
    RG_WI(w, pass, 0) = pass;
    if (n > 0 && w->outcome->status != rg_laneSolved) {
        rgManyFail(w, rg_manyUnsolved);
        return;
    }
    if (n > 0) {
        rgManyGather(w, m->work.nextV);
        for (int t = 0; t < m->treeCount; ++t) {
            rgManySolveTree(w, t, m->work.nextV);
        }
    }
    double sum = 0;
    for (int i = 0; i < m->vCount; ++i) {
        RG_W(w, nextV, i) = (n > 0 ? RG_W(w, nextV, i) : 0) + RG_W(w, freeV, i);
        sum += RG_W(w, nextV, i) * 0;
    }
    if (sum != 0) {
        rgManyFail(w, rg_manyNumbers);
        return;
    }
    rgManySetLinkVelocities(w, m->work.nextV);
    if (RG_WI(w, mayCurve, 0)) {
        rgManyFindCurvedPaths(w);
    }
    for (int i = 0; i < RG_WI(w, pointCount, 0); ++i) {
        int row = RG_WI(w, pointRow, i);
        if (RG_WI(w, pointActive, i)) {
            RG_WI(w, pointHasImpulse, i) = 1;
            for (int k = 0; k < 3; ++k) {
                RG_AT(w, rgManyPointAt(w, i, rg_pointImpulse + k)) = w->lambda[row + k];
            }
        } else if (rgManyNextGap(w, i) < -RG_ROUNDING) {
            RG_WI(w, pointActive, i) = 1;
            any = 1;
        }
    }
    RG_WI(w, again, 0) = any;
    RG_WI(w, resumes, 0) = any;
    if (any && pass >= RG_MANY_ROUNDS) {
        rgManyFail(w, rg_manyPasses);
    }
}

// ---- projection

// True if the projection keeps the row from closing; then *end is its gap where the next step is
// computed.
RG_MANY_FN int rgManyIsHalfLine(const rgMany* w, int row, double* end) {
    const rgManyModel* m = w->m;
    int kind = RG_WI(w, rowKind, row), source = RG_WI(w, rowSource, row);
    double gap, ahead, change = 0;
    if (kind == rg_rowContact) {
        const rgManyPair* pair = m->pairs + RG_WI(w, pointPair, source);
        if (row != RG_WI(w, pointRow, source) + 2 || RG_WI(w, pointOverlaps, source)) {
            return 0;
        }
        ahead = rgManyTimeAhead(w, m->colliders[pair->a].link, m->colliders[pair->b].link);
        gap = RG_W(w, rowGap, row);
    } else if (kind == rg_rowLimit) {
        ahead = rgManyTreeAhead(w, m->dofs[m->limits[source / 2].v].link);
        gap = rgManyTouchingGap(RG_W(w, rowGap, row));
        change = rgManyRowChange(w, row);
    } else {
        return 0;
    }
    *end = gap + ahead * (rgManyRowSpeed(w, row, m->work.nextV) + change);
    return 1;
}

// W of a half line: D^-1/2 L^-T J' in the place of its row of J.
RG_MANY_FN double rgManyWhitenRow(const rgMany* w, int row) {
    const rgManyModel* m = w->m;
    double square = 0;
    for (int i = 0; i < m->vCount; ++i) {
        RG_W(w, y, i) = w->J[row * m->vCount + i];
    }
    for (int t = 0; t < m->treeCount; ++t) {
        rgManyReduceTree(w, t, m->work.y);
    }
    for (int i = 0; i < m->vCount; ++i) {
        double x = RG_W(w, y, i) * sqrt(RG_W(w, inverse, i));
        w->J[row * m->vCount + i] = x;
        square += x * x;
    }
    return square;
}

// Half lines of islands with penetration; x: their motion. 0: none is needed. Rows of J change.
RG_MANY_FN int rgManyProject(const rgMany* w) {
    const rgManyModel* m = w->m;
    int n = RG_WI(w, rowCount, 0), lines = 0, deep = 0;
    double end;
    for (int r = 0; r < n; ++r) {
        deep = deep || (rgManyIsHalfLine(w, r, &end) && end < -RG_SLOP);
    }
    if (!deep) {
        return 0;
    }
    for (int t = 0; t < m->treeCount; ++t) {
        RG_WI(w, treeTouches, t) = 0; // by island: it is projected
    }
    double depth = 0, most = -m->pushOutSpeed * m->dt;
    for (int r = 0; r < n; ++r) {
        if (rgManyIsHalfLine(w, r, &end)) {
            double room = end > 0 ? end : rgManyMost(RG_PROJECT_SHARE * end, most);
            if (room < -RG_PROJECT_SHARE * RG_SLOP) {
                RG_WI(w, treeTouches, rgManyIslandOf(w, rgManyTreeOfRow(w, r))) = 1;
            }
        }
    }
    for (int i = 0; i < m->vCount; ++i) {
        RG_W(w, x, i) = 0;
    }
    for (int r = 0; r < n; ++r) {
        if (!rgManyIsHalfLine(w, r, &end) ||
            !RG_WI(w, treeTouches, rgManyIslandOf(w, rgManyTreeOfRow(w, r)))) {
            continue;
        }
        double room = end > 0 ? end : rgManyMost(RG_PROJECT_SHARE * end, most);
        double G = rgManyWhitenRow(w, r);
        if (!(G > 0)) {
            continue;
        }
        int contact = RG_WI(w, rowKind, r) == rg_rowContact, point = RG_WI(w, rowSource, r);
        double start =
            contact ? RG_PROJECT_SHARE * RG_AT(w, rgManyPointAt(w, point, rg_pointProjection)) : 0;
        RG_WI(w, lineRow, lines) = r;
        RG_W(w, room, 3 * lines) = room;
        RG_W(w, room, 3 * lines + 1) = G;
        RG_W(w, room, 3 * lines + 2) = start;
        depth = rgManyMost(depth, -room);
        for (int i = 0; i < m->vCount; ++i) {
            RG_W(w, x, i) += w->J[r * m->vCount + i] * start;
        }
        ++lines;
    }
    double change = INFINITY;
    for (int k = 0; k < RG_MANY_SWEEPS && change > RG_PROJECT_TOLERANCE_RATIO * depth; ++k) {
        change = 0;
        for (int j = 0; j < lines; ++j) {
            int line = k % 2 == 0 ? j : lines - 1 - j;
            const double* W = w->J + RG_WI(w, lineRow, line) * m->vCount;
            double G = RG_W(w, room, 3 * line + 1), R = RG_PROJECT_COMPLIANCE_RATIO * G;
            double lambda = RG_W(w, room, 3 * line + 2);
            double gap = RG_W(w, room, 3 * line) + R * lambda;
            for (int i = 0; i < m->vCount; ++i) {
                gap += W[i] * RG_W(w, x, i);
            }
            double next = rgManyMost(lambda - gap / (G + R), 0), push = next - lambda;
            for (int i = 0; i < m->vCount; ++i) {
                RG_W(w, x, i) += W[i] * push;
            }
            RG_W(w, room, 3 * line + 2) = next;
            change = rgManyMost(change, fabs(push) * (G + R));
        }
    }
    if (!(change <= RG_PROJECT_TOLERANCE_RATIO * depth)) {
        rgManyFail(w, rg_manyProjection);
        return 0;
    }
    for (int j = 0; j < lines; ++j) {
        int r = RG_WI(w, lineRow, j);
        if (RG_WI(w, rowKind, r) == rg_rowContact) {
            RG_W(w, projection, RG_WI(w, rowSource, r)) = RG_W(w, room, 3 * j + 2);
        }
    }
    for (int t = 0; t < m->treeCount; ++t) { // x := L^-1 D^-1/2 x
        const rgManyTree* tree = m->trees + t;
        for (int i = tree->firstDof; i < tree->firstDof + tree->dofCount; ++i) {
            double inverse = RG_W(w, inverse, i);
            RG_W(w, x, i) *= inverse > 0 ? 1 / sqrt(inverse) : 0; // rgManyFollowTree has 1/D
        }
        rgManyFollowTree(w, t, m->work.x);
    }
    return 1;
}

// ---- flight: src/world/flight.c

RG_MANY_FN void rgManyMoveHalf(const rgMany* w, int tree, int pulls) {
    const rgManyModel* m = w->m;
    const rgManyTree* range = m->trees + tree;
    double h = 0.5 * m->dt;
    int q = m->work.flightQ, v = m->work.flightV, end = range->firstDof + range->dofCount;
    rgManyIntegrateTree(w, tree, q, v, 0.5 * h, q);
    rgManyPlaceTree(w, tree, q);
    rgManySumInertias(w, tree);
    rgManyFillMass(w, tree);
    if (pulls) {
        rgManyPullTree(w, tree, q, v, h, m->work.flightTau, m->work.flightAdded);
    }
    for (int i = range->firstDof; i < end; ++i) {
        double own = pulls ? RG_W(w, flightTau, i) : 0;
        RG_W(w, flightTau, i) = RG_W(w, flightForce, i) + own;
        RG_W(w, flightAdded, i) = pulls ? RG_W(w, flightAdded, i) : 0;
    }
    rgManyFactorTree(w, tree, m->work.flightAdded);
    rgManySolveMidpoint(w, tree, v, m->work.flightTau, h, m->work.flightMid, m->work.bodyV, 0);
    for (int i = range->firstDof; i < end; ++i) {
        RG_AT(w, v + i) = RG_W(w, bodyV, i);
    }
    rgManyIntegrateTree(w, tree, q, v, 0.5 * h, q);
}

RG_MANY_FN void rgManyExtrapolateQuat(const rgMany* w, int b, int a, int* good) {
    rgQuat from = rgManyQuat(w, a), to = rgManyQuat(w, b);
    rgVec3 turn = rgManyLogSmall(rgQuatMultiply(rgQuatConjugate(from), to), good);
    rgManySetQuat(w, a, rgQuatNormalize(rgQuatMultiply(to, rgManyExp(rgScale(1.0 / 3, turn)))));
}

// A tree on a free joint without rows, extrapolated from steps with dt and dt/2. It is placed
// anew, and bodyV is scratch.
RG_MANY_FN void rgManyFly(const rgMany* w, int tree) {
    const rgManyModel* m = w->m;
    const rgManyTree* range = m->trees + tree;
    int first = range->firstDof, end = first + range->dofCount, pulls = 0, good = 1;
    for (int i = first; i < end; ++i) {
        pulls = pulls || m->dofs[i].allStiffness > 0 || m->dofs[i].allDamping > 0;
    }
    if (pulls) {
        rgManyPullTree(w, tree, m->work.q, m->work.v, m->dt, m->work.flightTau,
                       m->work.flightAdded);
    }
    for (int i = first; i < end; ++i) {
        RG_W(w, flightForce, i) = RG_W(w, tau, i) - (pulls ? RG_W(w, flightTau, i) : 0);
        RG_W(w, flightV, i) = RG_W(w, v, i);
        RG_W(w, bodyV, i) = 0.5 * (RG_W(w, v, i) + RG_W(w, endV, i));
    }
    for (int k = m->links[range->firstLink].q; k < m->qCount; ++k) {
        RG_W(w, flightQ, k) = RG_S(w, q, k);
    }
    rgManyMoveHalf(w, tree, pulls);
    for (int i = first; i < end; ++i) {
        RG_W(w, bodyV, i) = 2 * RG_W(w, bodyV, i) - RG_W(w, v, i);
    }
    rgManyMoveHalf(w, tree, pulls);
    for (int i = range->firstLink; i < range->firstLink + range->linkCount; ++i) {
        const rgManyLink* link = m->links + i;
        int a = m->work.nextQ + link->q, b = m->work.flightQ + link->q;
        int plain = link->kind == rg_manyFree ? 3 : link->kind == rg_manySpherical ? 0 : 1;
        for (int k = 0; k < plain; ++k) {
            RG_AT(w, a + k) = RG_AT(w, b + k) + (RG_AT(w, b + k) - RG_AT(w, a + k)) / 3;
        }
        if (plain != 1) {
            rgManyExtrapolateQuat(w, b + plain, a + plain, &good);
        }
    }
    for (int i = first; i < end; ++i) {
        double b = RG_W(w, flightV, i);
        RG_W(w, endV, i) = b + (b - RG_W(w, endV, i)) / 3;
    }
    if (!good) {
        rgManyFail(w, rg_manyFlight);
    }
}

// ---- commit

// free.5
RG_MANY_FN void rgManyPredict(const rgMany* w, int first, int count) {
    double both = 0, a = 0, b = 0;
    for (int k = first; k < first + count; ++k) {
        double last = RG_S(w, change, k), now = RG_W(w, y, k);
        both += last * now;
        a += last * last;
        b += now * now;
    }
    for (int k = first; k < first + count; ++k) {
        double change = a < b ? RG_S(w, change, k) : RG_W(w, y, k);
        RG_S(w, predictor, k) = both > 0 ? 0.5 * change : 0;
    }
}

RG_MANY_FN void rgManyCommitPredictor(const rgMany* w) {
    const rgManyModel* m = w->m;
    for (int i = 0; i < m->vCount; ++i) {
        RG_W(w, y, i) = RG_W(w, endV, i) - RG_W(w, v, i);
    }
    rgManyTurnRates(w, m->work.y, 1);
    for (int i = 1; i < m->linkCount; ++i) {
        const rgManyLink* link = m->links + i;
        rgManyPredict(w, link->v, link->vCount < 3 ? link->vCount : 3);
        if (link->vCount > 3) {
            rgManyPredict(w, link->v + 3, 3);
        }
    }
    for (int i = 0; i < m->vCount; ++i) {
        RG_S(w, change, i) = RG_W(w, y, i);
    }
}

RG_MANY_FN void rgManyCommitMemory(const rgMany* w) {
    const rgManyModel* m = w->m;
    int count = 0, n = RG_WI(w, rowCount, 0);
    for (int i = 0; i < m->slotCount; ++i) {
        RG_S(w, impulse, i) = 0;
    }
    for (int r = 0; r < n; ++r) {
        int kind = RG_WI(w, rowKind, r), source = RG_WI(w, rowSource, r);
        if (kind == rg_rowLimit) {
            RG_S(w, impulse, m->limits[source / 2].slot + source % 2) = w->lambda[r];
        } else if (kind == rg_rowFriction) {
            RG_S(w, impulse, m->dofs[source].slot) = w->lambda[r];
        } else if (kind == rg_rowDrive) {
            RG_S(w, impulse, m->drives[source].slot) = w->lambda[r];
        }
    }
    for (int i = 0; i < RG_WI(w, pointCount, 0); ++i) {
        if (!RG_WI(w, pointActive, i)) {
            continue;
        }
        int at = rgManyPointAt(w, i, 0), row = RG_WI(w, pointRow, i);
        rgVec3 push = rgScale(w->lambda[row], rgManyVec(w, at + rg_pointTangent1));
        push = rgAddScaled(push, w->lambda[row + 1], rgManyVec(w, at + rg_pointTangent2));
        push = rgAddScaled(push, w->lambda[row + 2], rgManyVec(w, at + rg_pointNormal));
        RG_S(w, memory, 4 * count) = push.x;
        RG_S(w, memory, 4 * count + 1) = push.y;
        RG_S(w, memory, 4 * count + 2) = push.z;
        RG_S(w, memory, 4 * count + 3) = RG_W(w, projection, i);
        RG_SI(w, memoryPair, count) = RG_WI(w, pointPair, i);
        RG_SI(w, memoryFeature, count) = RG_WI(w, pointFeature, i);
        ++count;
    }
    RG_SI(w, memoryCount, 0) = count;
    for (int i = 0; i < m->pairCount; ++i) {
        RG_SI(w, pair, i) = RG_WI(w, pairState, i);
    }
}

// The end of a step, and its commit unless something is left to the host.
RG_MANY_FN void rgManyEnd(const rgMany* w) {
    const rgManyModel* m = w->m;
    if (RG_WI(w, reason, 0) != rg_manyDone) {
        return;
    }
    for (int i = 0; i < m->vCount; ++i) {
        RG_W(w, endV, i) = RG_W(w, nextV, i);
    }
    for (int i = 0; i < RG_WI(w, pointCount, 0); ++i) {
        RG_W(w, projection, i) = 0;
    }
    for (int t = 0; t < m->treeCount; ++t) {
        int fast = RG_WI(w, isFast, t), whole = RG_WI(w, substeps, t) == 1;
        int hit = RG_WI(w, isHeld, t) && !fast && !m->trees[t].isFreeBody &&
                  rgManyTreeTurn(w, t, m->work.nextV,
                                 m->drifts ? rg_manyThisChange : rg_manyNoChange) > RG_FAST_ANGLE;
        if (hit) { // an impact makes it fast
            rgManyTransportStart(w, t);
            rgManyFactorTree(w, t, m->work.added);
        }
        RG_WI(w, isTransported, t) = hit || (fast && whole);
        if (RG_WI(w, isTransported, t)) {
            rgManyTransportEnd(w, t);
        }
        if (whole) { // else it is there
            rgManyIntegrateTree(w, t, m->work.q, m->work.endV, m->dt - RG_W(w, drift, t),
                                m->work.nextQ);
        }
    }
    if (rgManyProject(w)) {
        for (int t = 0; t < m->treeCount; ++t) {
            rgManyIntegrateTree(w, t, m->work.nextQ, m->work.x, 1, m->work.nextQ);
        }
    }
    for (int t = 0; t < m->treeCount; ++t) {
        const rgManyTree* tree = m->trees + t;
        if (m->drifts && m->links[tree->firstLink].kind == rg_manyFree && !RG_WI(w, isHeld, t) &&
            !tree->isFreeBody && !RG_WI(w, isFast, t) &&
            rgManyTreeTurn(w, t, m->work.v, rg_manyNoChange) > RG_FLIGHT_ANGLE) {
            rgManyFly(w, t);
        } else if (RG_WI(w, isTransported, t)) {
            rgManyProjectEnd(w, t);
        }
    }
    double sum = 0;
    for (int i = 0; i < m->vCount; ++i) {
        RG_W(w, bodyV, i) = RG_W(w, endV, i);
    }
    for (int t = 0; t < m->treeCount; ++t) {
        rgManyTransformTree(w, t, m->work.q, m->work.nextQ, m->work.bodyV);
    }
    rgManyTurnFree(w, m->work.nextQ, m->work.bodyV, 0);
    for (int i = 0; i < m->vCount; ++i) {
        sum += fabs(RG_W(w, bodyV, i)) < RG_LIGHT_SPEED ? 0 : 1;
    }
    for (int i = 0; i < m->qCount; ++i) {
        sum += RG_W(w, nextQ, i) * 0;
    }
    if (sum != 0) {
        rgManyFail(w, rg_manyNumbers);
    }
    if (RG_WI(w, reason, 0) != rg_manyDone) {
        return;
    }
    for (int i = 0; i < m->qCount; ++i) {
        RG_S(w, q, i) = RG_W(w, nextQ, i);
    }
    for (int i = 0; i < m->vCount; ++i) {
        RG_S(w, v, i) = RG_W(w, bodyV, i);
    }
    if (m->drifts) {
        rgManyCommitPredictor(w);
        for (int t = 0; t < m->treeCount; ++t) {
            RG_S(w, isSet, t) = 0;
        }
    }
    rgManyCommitMemory(w);
    RG_S(w, time, 0) += m->dt;
    RG_SI(w, steps, 0) += 1;
    int n = RG_WI(w, rowCount, 0);
    if (n > 0) {
        RG_S(w, residual, 0) = rgManyMost(RG_S(w, residual, 0), w->outcome->residual);
    }
    RG_SI(w, mostRows, 0) = RG_SI(w, mostRows, 0) > n ? RG_SI(w, mostRows, 0) : n;
}
