// Spheres and capsules against each other and boxes, in closed form.
#include "collision/support.h"

static rgVec3 rgAcross(rgVec3 axis) {
    rgVec3 t1, t2;
    rgTangentBasis(axis, &t1, &t2);
    return t1;
}

// Normal of two axes whose points coincide: across both, or across one.
static rgVec3 rgNormalOfAxes(rgVec3 u, rgVec3 v) {
    rgVec3 across = rgCross(u, v);
    return rgLengthSquared(across) > 1e-12 ? rgNormalize(across) : rgAcross(u);
}

// Contact of two balls around points a and b of axes u and v; the axes matter when the points
// coincide.
static void rgBallContact(const rgCollideInput* in, rgVec3 a, rgVec3 u, rgVec3 b, rgVec3 v,
                          rgManifold* m) {
    double ra = in->a->size.x, rb = in->b->size.x;
    rgVec3 d = rgSub(b, a);
    double reach = in->margin + ra + rb;
    double dd = rgLengthSquared(d);
    if (!(dd <= reach * reach) || reach < 0 || m->count >= in->maxPoints) {
        return;
    }
    double length = sqrt(dd);
    rgVec3 n = length > 0 ? rgScale(1 / length, d) : rgNormalOfAxes(u, v);
    double gap = length - ra - rb;
    m->normal = n;
    m->points[m->count++] =
        (rgManifoldPoint){.position = rgAddScaled(a, ra + 0.5 * gap, n), .normal = n, .gap = gap};
}

void rgCollideSpheres(const rgCollideInput* in, rgManifold* m) {
    rgBallContact(in, in->poseA->p, rgVec(1, 0, 0), in->poseB->p, rgVec(0, 1, 0), m);
}

void rgCollideSphereCapsule(const rgCollideInput* in, rgManifold* m) {
    rgVec3 axis = rgZAxis(in->poseB->q);
    double s = rgDot(axis, rgSub(in->poseA->p, in->poseB->p)), h = in->b->size.y;
    s = s > h ? h : s < -h ? -h : s;
    rgBallContact(in, in->poseA->p, axis, rgAddScaled(in->poseB->p, s, axis), axis, m);
}

// Capsules side by side touch along a stretch: its two ends, with the common normal.
static void rgParallelCapsules(const rgCollideInput* in, rgVec3 u, rgVec3 v, rgManifold* m) {
    double hu = in->a->size.y, hv = in->b->size.y;
    double ra = in->a->size.x, rb = in->b->size.x;
    double sign = rgDot(u, v) < 0 ? -1 : 1;
    rgVec3 between = rgSub(in->poseB->p, in->poseA->p);
    double middle = rgDot(u, between);
    double low = RG_MAX(-hu, middle - hv), high = RG_MIN(hu, middle + hv);
    rgVec3 n = m->normal;
    double first = m->points[0].gap;
    m->count = 0;
    for (int k = 0; k < 2 && m->count < in->maxPoints; ++k) {
        double s = k == 0 ? low : high;
        double t = sign * (s - middle);
        t = t > hv ? hv : t < -hv ? -hv : t;
        rgVec3 a = rgAddScaled(in->poseA->p, s, u), b = rgAddScaled(in->poseB->p, t, v);
        double gap = rgDot(n, rgSub(b, a)) - ra - rb;
        // Against rounding: the least gap is the distance.
        gap = gap < first ? first : gap;
        if (gap <= in->margin) {
            rgVec3 middleOf = rgScale(0.5, rgAdd(rgAddScaled(a, ra, n), rgAddScaled(b, -rb, n)));
            m->points[m->count++] = (rgManifoldPoint){
                .position = middleOf, .normal = n, .gap = gap, .feature = 1 + (uint32_t)k};
        }
    }
}

void rgCollideCapsules(const rgCollideInput* in, rgManifold* m) {
    rgVec3 u = rgZAxis(in->poseA->q);
    rgVec3 v = rgZAxis(in->poseB->q);
    rgVec3 between = rgSub(in->poseB->p, in->poseA->p);
    double hu = in->a->size.y, hv = in->b->size.y;
    double s, t;
    rgNearestOnSegments(between, u, hu, v, hv, &s, &t);
    rgVec3 a = rgAddScaled(in->poseA->p, s, u), b = rgAddScaled(in->poseB->p, t, v);
    rgBallContact(in, a, u, b, v, m);
    // Up to 0.6 degrees apart; overlapping by more than a point; touching from the side.
    if (m->count == 0 || rgLengthSquared(rgCross(u, v)) > 1e-4) {
        return;
    }
    double middle = rgDot(u, between);
    double shared = RG_MIN(hu, middle + hv) - RG_MAX(-hu, middle - hv);
    if (shared > 1e-3 * RG_MIN(hu, hv) && fabs(rgDot(m->normal, u)) < 0.05) {
        rgParallelCapsules(in, u, v, m);
    }
}

void rgCollideSphereBox(const rgCollideInput* in, rgManifold* m) {
    rgConvexPair pair = {.a = &in->a->convex, .b = &in->b->convex};
    rgQuat back = rgQuatConjugate(in->poseB->q);
    rgVec3 p = rgRotate(back, rgSub(in->poseA->p, in->poseB->p));
    rgVec3 reach = rgSub(rgAbs3(p), in->b->size);
    double limit = in->margin + in->a->size.x;
    if (reach.x > limit || reach.y > limit || reach.z > limit) {
        return;
    }
    // In the frame of the box, with the box first: normal and gap turn over below.
    pair.a = &in->b->convex;
    pair.b = &in->a->convex;
    pair.t = p;
    rgSigned core;
    rgClosedDistance(&pair, &core);
    double gap = core.gap - in->a->size.x;
    if (!(gap <= in->margin)) {
        return;
    }
    rgVec3 n = rgRotate(in->poseB->q, core.normal);
    m->normal = rgNegate(n);
    rgVec3 onBox = rgPose_Point(*in->poseB, core.pointA);
    m->points[m->count++] = (rgManifoldPoint){
        .position = rgAddScaled(onBox, 0.5 * gap, n), .normal = m->normal, .gap = gap};
}
