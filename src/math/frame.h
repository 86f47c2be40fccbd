// Rotations as three columns and spatial vectors in world axes, for hot loops.
#pragma once
#include "rigor/math.h"

// Rotation matrix by columns: the axes of the rotated frame.
typedef struct rgRot {
    rgVec3 x, y, z;
} rgRot;

static inline rgRot rgRotFromQuat(rgQuat q) {
    rgMat3 m = rgMat3FromQuat(q);
    rgRot r = {{m.m[0], m.m[3], m.m[6]}, {m.m[1], m.m[4], m.m[7]}, {m.m[2], m.m[5], m.m[8]}};
    return r;
}

static inline rgMat3 rgMat3FromRot(const rgRot* r) {
    rgMat3 m = {{r->x.x, r->y.x, r->z.x, r->x.y, r->y.y, r->z.y, r->x.z, r->y.z, r->z.z}};
    return m;
}

static inline rgVec3 rgRot_Apply(const rgRot* r, rgVec3 v) {
    return rgVec(r->x.x * v.x + r->y.x * v.y + r->z.x * v.z,
                 r->x.y * v.x + r->y.y * v.y + r->z.y * v.z,
                 r->x.z * v.x + r->y.z * v.y + r->z.z * v.z);
}

static inline rgVec3 rgRot_ApplyBack(const rgRot* r, rgVec3 v) {
    return rgVec(rgDot(r->x, v), rgDot(r->y, v), rgDot(r->z, v));
}

static inline rgRot rgRot_Multiply(const rgRot* a, const rgRot* b) {
    rgRot c = {rgRot_Apply(a, b->x), rgRot_Apply(a, b->y), rgRot_Apply(a, b->z)};
    return c;
}

static inline rgSpatial rgSpatialAdd(rgSpatial a, rgSpatial b) {
    rgSpatial c = {rgAdd(a.linear, b.linear), rgAdd(a.angular, b.angular)};
    return c;
}

static inline rgSpatial rgSpatialAddScaled(rgSpatial a, double s, rgSpatial b) {
    rgSpatial c = {rgAddScaled(a.linear, s, b.linear), rgAddScaled(a.angular, s, b.angular)};
    return c;
}

// Power of a force on a motion. Two sums of neighbours, for registers of two numbers.
static inline double rgSpatialDot(const rgSpatial* a, const rgSpatial* b) {
    double even =
        a->linear.x * b->linear.x + a->linear.z * b->linear.z + a->angular.y * b->angular.y;
    double odd =
        a->linear.y * b->linear.y + a->angular.x * b->angular.x + a->angular.z * b->angular.z;
    return even + odd;
}

// v x m: rate of change of a motion m that is fixed in a body of velocity v.
static inline rgSpatial rgMotionCross(const rgSpatial* v, const rgSpatial* m) {
    rgSpatial c = {rgAdd(rgCross(v->angular, m->linear), rgCross(v->linear, m->angular)),
                   rgCross(v->angular, m->angular)};
    return c;
}

// v x* f: rate of change of a force f that is fixed in a body of velocity v.
static inline rgSpatial rgForceCross(const rgSpatial* v, const rgSpatial* f) {
    rgSpatial c = {rgCross(v->angular, f->linear),
                   rgAdd(rgCross(v->angular, f->angular), rgCross(v->linear, f->linear))};
    return c;
}
