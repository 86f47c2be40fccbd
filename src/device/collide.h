// Contact points of a world, as src/world/contacts.c finds them, of convex shapes but hulls, by the
// code of src/collision. Other shapes that come near leave the step to the host. step.4, step.5.
#pragma once
#include "device/motion.h"

RG_MANY_FN int rgManyColliderAt(const rgMany* w, int collider, int number) {
    return w->m->work.colliders + RG_MANY_COLLIDER_NUMBERS * collider + number;
}

RG_MANY_FN rgPose rgManyPoseOf(const rgMany* w, int collider) {
    int at = rgManyColliderAt(w, collider, 0);
    rgPose pose = {rgManyVec(w, at), rgManyQuat(w, at + rg_colliderTurn)};
    return pose;
}

// Time that a gap of a tree has to close.
RG_MANY_FN double rgManyTreeAhead(const rgMany* w, int link) {
    int tree = w->m->links[link].tree;
    int starts = tree >= 0 && w->m->drifts && RG_W(w, drift, tree) == 0;
    return starts ? 1.5 * w->m->dt : w->m->dt;
}

RG_MANY_FN double rgManyTimeAhead(const rgMany* w, int linkA, int linkB) {
    return rgManyMost(rgManyTreeAhead(w, linkA), rgManyTreeAhead(w, linkB));
}

// Velocity of a point of a link, from velocities of links at `from`.
RG_MANY_FN rgVec3 rgManyPointVelocity(const rgMany* w, int from, int link, rgVec3 point) {
    if (link == 0) {
        return rgVec(0, 0, 0);
    }
    rgSpatial V = rgManySpatial(w, from + 6 * link);
    return rgAdd(V.linear, rgCross(V.angular, rgSub(point, rgManyOrigin(w, link))));
}

// Velocity of B's point from A's.
RG_MANY_FN rgVec3 rgManyPairVelocity(const rgMany* w, int from, const rgManyPair* pair,
                                     rgVec3 point) {
    return rgSub(rgManyPointVelocity(w, from, w->m->colliders[pair->b].link, point),
                 rgManyPointVelocity(w, from, w->m->colliders[pair->a].link, point));
}

// Half of a shape's box along the axes of the world.
RG_MANY_FN rgVec3 rgManyExtent(const rgGeometry* g, const rgRot* r) {
    rgVec3 s = g->size;
    double radius = g->convex.radius;
    if (g->kind == rg_shapeEllipsoid) {
        rgVec3 x = rgScale(s.x, r->x), y = rgScale(s.y, r->y), z = rgScale(s.z, r->z);
        return rgVec(sqrt(x.x * x.x + y.x * y.x + z.x * z.x),
                     sqrt(x.y * x.y + y.y * y.y + z.y * z.y),
                     sqrt(x.z * x.z + y.z * y.z + z.z * z.z));
    }
    if (g->kind == rg_shapeCylinder) {
        rgVec3 z = r->z;
        rgVec3 rim = rgVec(sqrt(RG_MAX(0, 1 - z.x * z.x)), sqrt(RG_MAX(0, 1 - z.y * z.y)),
                           sqrt(RG_MAX(0, 1 - z.z * z.z)));
        rgVec3 half = rgAdd(rgScale(s.y, rgAbs3(z)), rgScale(s.x, rim));
        return rgAdd(half, rgVec(radius, radius, radius));
    }
    rgVec3 half = rgAdd(rgAdd(rgScale(g->half.x, rgAbs3(r->x)), rgScale(g->half.y, rgAbs3(r->y))),
                        rgScale(g->half.z, rgAbs3(r->z)));
    return rgAdd(half, rgVec(radius, radius, radius));
}

RG_MANY_FN void rgManyPlaceCollider(const rgMany* w, int index) {
    const rgManyModel* m = w->m;
    const rgManyCollider* c = m->colliders + index;
    const rgGeometry* g = m->geometries + index;
    int at = rgManyColliderAt(w, index, 0);
    rgPose pose = c->place;
    rgVec3 velocity = rgVec(0, 0, 0);
    double spin = 0, speed = 0, ahead = m->dt, reach = 0;
    if (c->link > 0) {
        rgRot on = rgManyRot(w, c->link);
        rgMat3 matrix = rgMat3FromRot(&on);
        rgQuat q = rgQuatFromMat3(&matrix);
        rgVec3 origin = rgManyOrigin(w, c->link);
        rgSpatial V = rgManySpatial(w, m->work.velocities + 6 * c->link);
        double turning = rgLength(V.angular);
        pose.p = rgAdd(origin, rgAdd(rgManyPlaceOf(w, c->link), rgRot_Apply(&on, c->place.p)));
        pose.q = c->isOrigin ? q : rgQuatMultiply(q, c->place.q);
        velocity = rgAdd(V.linear, rgCross(V.angular, rgSub(pose.p, origin)));
        spin = turning > 0 && c->bound < INFINITY ? turning * c->bound : 0;
        speed = rgLength(velocity) + spin;
        ahead = rgManyTreeAhead(w, c->link);
        reach = ahead * speed + m->margin + c->margin;
    }
    rgManySetVec(w, at + rg_colliderPlace, pose.p);
    rgManySetQuat(w, at + rg_colliderTurn, pose.q);
    rgManySetVec(w, at + rg_colliderVelocity, velocity);
    RG_AT(w, at + rg_colliderSpin) = spin;
    RG_AT(w, at + rg_colliderSpeed) = speed;
    RG_AT(w, at + rg_colliderAhead) = ahead;
    RG_AT(w, at + rg_colliderReach) = reach;
    if (g->kind != rg_shapePlane) {
        rgRot r = rgRotFromQuat(pose.q);
        rgVec3 half = rgAdd(rgManyExtent(g, &r), rgVec(reach, reach, reach));
        rgVec3 middle = rgAdd(pose.p, rgRot_Apply(&r, g->middle));
        rgManySetVec(w, at + rg_colliderBox, rgSub(middle, half));
        rgManySetVec(w, at + rg_colliderBox + 3, rgAdd(middle, half));
    }
}

RG_MANY_FN double rgManyPairTravel(const rgMany* w, const rgManyPair* pair) {
    int a = rgManyColliderAt(w, pair->a, 0), b = rgManyColliderAt(w, pair->b, 0);
    double time = rgManyMost(RG_AT(w, a + rg_colliderAhead), RG_AT(w, b + rg_colliderAhead));
    rgVec3 apart =
        rgSub(rgManyVec(w, a + rg_colliderVelocity), rgManyVec(w, b + rg_colliderVelocity));
    return time * (rgLength(apart) + RG_AT(w, a + rg_colliderSpin) + RG_AT(w, b + rg_colliderSpin));
}

// step.4
RG_MANY_FN double rgManyPairMargin(const rgMany* w, const rgManyPair* pair, double travel) {
    const rgManyCollider *A = w->m->colliders + pair->a, *B = w->m->colliders + pair->b;
    return rgManyMost(RG_IMPACT_SPEED_RATIO * travel + w->m->margin,
                      rgManyMost(A->margin, B->margin));
}

// True if a shape is further above a plane than the margin of the pair.
RG_MANY_FN int rgManyIsAbove(const rgMany* w, const rgManyPair* pair, int plane, int other) {
    int P = rgManyColliderAt(w, plane, 0), O = rgManyColliderAt(w, other, 0);
    rgVec3 n = rgZAxis(rgManyQuat(w, P + rg_colliderTurn));
    rgVec3 lower = rgManyVec(w, O + rg_colliderBox), upper = rgManyVec(w, O + rg_colliderBox + 3);
    rgVec3 low = rgVec(n.x > 0 ? lower.x : upper.x, n.y > 0 ? lower.y : upper.y,
                       n.z > 0 ? lower.z : upper.z);
    double height =
        rgDot(n, rgSub(low, rgManyVec(w, P + rg_colliderPlace))) + RG_AT(w, O + rg_colliderReach);
    double most = rgManyMost(RG_AT(w, P + rg_colliderAhead), RG_AT(w, O + rg_colliderAhead)) *
                  (RG_AT(w, P + rg_colliderSpeed) + RG_AT(w, O + rg_colliderSpeed));
    return height > rgManyPairMargin(w, pair, most) ||
           height > rgManyPairMargin(w, pair, rgManyPairTravel(w, pair));
}

RG_MANY_FN int rgManyPairIsActive(const rgMany* w, const rgManyPair* pair) {
    int planeA = w->m->geometries[pair->a].kind == rg_shapePlane;
    int planeB = w->m->geometries[pair->b].kind == rg_shapePlane;
    if (planeA || planeB) {
        return !(planeA && rgManyIsAbove(w, pair, pair->a, pair->b)) &&
               !(planeB && rgManyIsAbove(w, pair, pair->b, pair->a));
    }
    int a = rgManyColliderAt(w, pair->a, rg_colliderBox);
    int b = rgManyColliderAt(w, pair->b, rg_colliderBox);
    for (int k = 0; k < 3; ++k) {
        if (!(RG_AT(w, a + k) <= RG_AT(w, b + 3 + k)) ||
            !(RG_AT(w, b + k) <= RG_AT(w, a + 3 + k))) {
            return 0;
        }
    }
    return 1;
}

// ---- shapes against shapes

// True if the boxes around two shapes are further apart than the margin, along an axis of one or
// across one of each.
RG_MANY_FN int rgManyBoxesAreApart(const rgGeometry* a, rgPose poseA, const rgGeometry* b,
                                   rgPose poseB, double margin) {
    rgRot A = rgRotFromQuat(poseA.q), B = rgRotFromQuat(poseB.q);
    rgVec3 t = rgSub(rgAdd(poseB.p, rgRot_Apply(&B, b->middle)),
                     rgAdd(poseA.p, rgRot_Apply(&A, a->middle)));
    for (int k = 0; k < 15; ++k) {
        int i = k < 6 ? k % 3 : (k - 6) / 3, j = k % 3;
        rgVec3 ofA = i == 0 ? A.x : i == 1 ? A.y : A.z, ofB = j == 0 ? B.x : j == 1 ? B.y : B.z;
        rgVec3 axis = k < 3 ? ofA : k < 6 ? ofB : rgCross(ofA, ofB);
        double length = rgLength(axis);
        if (!(length > 1e-6)) {
            continue;
        }
        axis = rgScale(1 / length, axis);
        double size = rgDot(rgAbs3(rgRot_ApplyBack(&A, axis)), a->half) +
                      rgDot(rgAbs3(rgRot_ApplyBack(&B, axis)), b->half) + a->convex.radius +
                      b->convex.radius;
        if (fabs(rgDot(t, axis)) > size + margin) {
            return 1;
        }
    }
    return 0;
}

// True if the box around a shape is above a plane by more than the margin.
RG_MANY_FN int rgManyBoxIsAbove(rgPose plane, const rgGeometry* b, rgPose poseB, double margin) {
    rgRot B = rgRotFromQuat(poseB.q);
    rgVec3 n = rgZAxis(plane.q), middle = rgAdd(poseB.p, rgRot_Apply(&B, b->middle));
    double size = rgDot(rgAbs3(rgRot_ApplyBack(&B, n)), b->half) + b->convex.radius;
    return rgDot(n, rgSub(middle, plane.p)) - size > margin;
}

// Manifold of shapes in the order of rgCollideShapes(), without the memory of a pair.
RG_MANY_FN void rgManyCollideKnown(const rgCollideInput* in, rgManifold* m) {
    rgShapeKind a = in->a->kind, b = in->b->kind;
    double rounding = in->a->convex.radius + in->b->convex.radius;
    if (a == rg_shapePlane) {
        rgCollidePlane(in, m);
    } else if (a == rg_shapeSphere && b == rg_shapeSphere) {
        rgCollideSpheres(in, m);
    } else if (a == rg_shapeSphere && b == rg_shapeCapsule) {
        rgCollideSphereCapsule(in, m);
    } else if (a == rg_shapeSphere && b == rg_shapeBox && in->b->convex.radius == 0) {
        rgCollideSphereBox(in, m);
    } else if (a == rg_shapeCapsule && b == rg_shapeCapsule) {
        rgCollideCapsules(in, m);
    } else if (a == rg_shapeBox && b == rg_shapeBox && rounding == 0) {
        rgCollideBoxes(in, m);
    } else {
        rgCollideConvex(in, m);
    }
}

// 0: the device does not have the shapes, and they may touch.
RG_MANY_FN int rgManyCollideColliders(const rgMany* w, const rgManyPair* pair, double margin,
                                      int most, rgManifold* m) {
    const rgManyModel* model = w->m;
    const rgGeometry *a = model->geometries + pair->a, *b = model->geometries + pair->b;
    rgPose poseA = rgManyPoseOf(w, pair->a), poseB = rgManyPoseOf(w, pair->b);
    int turned = rgIsSwapped(a->kind, b->kind);
    m->count = 0;
    if (turned) {
        const rgGeometry* c = a;
        rgPose pose = poseA;
        a = b, b = c;
        poseA = poseB, poseB = pose;
    }
    if (!model->colliders[pair->a].isKnown || !model->colliders[pair->b].isKnown) {
        return a->kind == rg_shapePlane ? rgManyBoxIsAbove(poseA, b, poseB, margin)
                                        : rgManyBoxesAreApart(a, poseA, b, poseB, margin);
    }
    rgCollideInput in = {a, b, &poseA, &poseB, margin, most, NULL, false, NULL, NULL};
    rgManyCollideKnown(&in, m);
    for (int k = 0; k < m->count && turned; ++k) {
        m->points[k].normal = rgNegate(m->points[k].normal);
    }
    return 1;
}

// ---- pairs

// step.5: points that stay open by far are dropped.
RG_MANY_FN void rgManyRemoveDistant(const rgMany* w, const rgManyPair* pair, rgManifold* m) {
    double closing[RG_MANIFOLD_CAPACITY], most = 0;
    double time = rgManyTimeAhead(w, w->m->colliders[pair->a].link, w->m->colliders[pair->b].link);
    for (int k = 0; k < m->count; ++k) {
        const rgManifoldPoint* p = &m->points[k];
        rgVec3 rate = rgManyPairVelocity(w, w->m->work.velocities, pair, p->position);
        closing[k] = rgManyMost(-rgDot(p->normal, rate), 0);
        if (p->gap <= time * closing[k]) {
            most = rgManyMost(most, closing[k]);
        }
    }
    int kept = 0;
    for (int k = 0; k < m->count; ++k) {
        double speed = rgManyMost(closing[k], most);
        if (m->points[k].gap <= w->m->margin + RG_IMPACT_SPEED_RATIO * time * speed) {
            m->points[kept++] = m->points[k];
        }
    }
    m->count = kept;
}

RG_MANY_FN double rgManyTouchingGap(double gap) {
    double size = rgManyLeast(2 * (fabs(gap) - RG_SLOP), fabs(gap));
    return size > 0 ? (gap < 0 ? -size : size) : 0;
}

// Memory of a point from the last step; -1: it is new.
RG_MANY_FN int rgManyMemoryOf(const rgMany* w, int pair, int feature) {
    for (int k = 0; k < RG_SI(w, memoryCount, 0); ++k) {
        if (RG_SI(w, memoryPair, k) == pair && RG_SI(w, memoryFeature, k) == feature) {
            return k;
        }
    }
    return -1;
}

RG_MANY_FN int rgManyPointAt(const rgMany* w, int point, int number) {
    return w->m->work.points + RG_MANY_POINT_NUMBERS * point + number;
}

RG_MANY_FN void rgManyAddPoint(const rgMany* w, int pair, int overlaps, int curves,
                               const rgManifoldPoint* p) {
    int index = RG_WI(w, pointCount, 0);
    if (index >= w->m->pointCapacity) {
        rgManyFail(w, rg_manyPoints);
        return;
    }
    rgVec3 t1, t2;
    rgTangentBasis(p->normal, &t1, &t2);
    int at = rgManyPointAt(w, index, 0), memory = rgManyMemoryOf(w, pair, (int)p->feature);
    rgManySetVec(w, at + rg_pointPosition, p->position);
    rgManySetVec(w, at + rg_pointNormal, p->normal);
    rgManySetVec(w, at + rg_pointTangent1, t1);
    rgManySetVec(w, at + rg_pointTangent2, t2);
    RG_AT(w, at + rg_pointGap) = rgManyTouchingGap(p->gap);
    for (int i = 0; i < 3; ++i) {
        RG_AT(w, at + rg_pointMemory + i) = memory >= 0 ? RG_S(w, memory, 4 * memory + i) : 0;
    }
    RG_AT(w, at + rg_pointProjection) = memory >= 0 ? RG_S(w, memory, 4 * memory + 3) : 0;
    RG_WI(w, pointPair, index) = pair;
    RG_WI(w, pointFeature, index) = (int)p->feature;
    RG_WI(w, pointActive, index) = 1;
    RG_WI(w, pointHasImpulse, index) = 0;
    RG_WI(w, pointOverlaps, index) = overlaps;
    RG_WI(w, pointCurves, index) = curves;
    RG_WI(w, pointCount, 0) = index + 1;
}

// gap.2: true if curved paths may change the gaps of the pair.
RG_MANY_FN int rgManyPairCurves(const rgMany* w, const rgManyPair* pair, double travel) {
    const rgManyCollider *A = w->m->colliders + pair->a, *B = w->m->colliders + pair->b;
    double thin = rgManyLeast(A->thin, B->thin), radius = rgManyLeast(A->bound, B->bound);
    double far = RG_IMPACT_SPEED_RATIO * travel;
    return far * far > 2 * radius * RG_CURVED_GAP_RATIO * thin;
}

// Overlap of parts of one robot: bit 0 of pair is that it was seen, bit 1 that it overlaps.
RG_MANY_FN void rgManyCollidePair(const rgMany* w, int index) {
    const rgManyModel* m = w->m;
    const rgManyPair* pair = m->pairs + index;
    int before = RG_SI(w, pair, index), overlaps = (before & 2) != 0;
    RG_WI(w, pairState, index) = 0;
    if (!rgManyPairIsActive(w, pair)) {
        return;
    }
    double travel = rgManyPairTravel(w, pair), margin = rgManyPairMargin(w, pair, travel);
    double least = 0;
    int few = RG_MIN(m->maxContactsPerPair, RG_OVERLAP_POINT_COUNT);
    int most = overlaps ? few : travel > m->margin ? RG_MANIFOLD_CAPACITY : m->maxContactsPerPair;
    rgManifold found;
    RG_WI(w, pairState, index) = 1;
    if (!rgManyCollideColliders(w, pair, margin, most, &found)) {
        rgManyFail(w, rg_manyShapes);
        return;
    }
    if (found.count > 0) {
        rgManyRemoveDistant(w, pair, &found);
    }
    for (int k = 0; k < found.count; ++k) {
        least = rgManyLeast(least, found.points[k].gap);
    }
    int born = before == 0 && least < -RG_DEPTH_TOLERANCE && pair->sameRobot;
    overlaps = (born || overlaps) && least < -RG_DEPTH_TOLERANCE;
    RG_WI(w, pairState, index) = overlaps ? 3 : 1;
    int curves = rgManyPairCurves(w, pair, travel);
    RG_WI(w, mayCurve, 0) |= curves && found.count > 0;
    for (int k = 0; k < found.count; ++k) {
        rgManyAddPoint(w, index, overlaps, curves, &found.points[k]);
    }
}

RG_MANY_FN void rgManyCollide(const rgMany* w) {
    RG_WI(w, pointCount, 0) = 0;
    RG_WI(w, mayCurve, 0) = 0;
    for (int i = 0; i < w->m->colliderCount; ++i) {
        rgManyPlaceCollider(w, i);
    }
    for (int i = 0; i < w->m->pairCount; ++i) {
        rgManyCollidePair(w, i);
    }
}
