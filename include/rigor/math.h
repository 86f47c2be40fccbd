// Vectors, rotations, poses and spatial quantities: plain structs with inline functions.
#pragma once
#include "rigor/base.h"

#include <math.h>

typedef struct rgVec3 {
    double x, y, z;
} rgVec3;

/// Rotation, w x y z. Every quaternion in rigor has unit length and its real part first.
typedef struct rgQuat {
    double w, x, y, z;
} rgQuat;

/// 3 x 3 matrix, row by row: m[3 * row + column].
typedef struct rgMat3 {
    double m[9];
} rgMat3;

/// Frame B seen from frame A: x_A = q x_B + p.
typedef struct rgPose {
    rgVec3 p;
    rgQuat q;
} rgPose;

/// Motion (velocity) or force at one point: linear part first, then angular.
typedef struct rgSpatial {
    rgVec3 linear, angular;
} rgSpatial;

/// Symmetric 3 x 3 matrix.
typedef struct rgSym3 {
    double xx, yy, zz, xy, xz, yz;
} rgSym3;

/// Mass distribution of a body in its own frame.
typedef struct rgInertia {
    double mass;   ///< [kg]
    rgVec3 center; ///< center of mass [m]
    rgSym3 moment; ///< about the center of mass, axes of the body frame [kg m^2]
} rgInertia;

static inline rgVec3 rgVec(double x, double y, double z) {
    rgVec3 v = {x, y, z};
    return v;
}
static inline rgVec3 rgAdd(rgVec3 a, rgVec3 b) {
    return rgVec(a.x + b.x, a.y + b.y, a.z + b.z);
}
static inline rgVec3 rgSub(rgVec3 a, rgVec3 b) {
    return rgVec(a.x - b.x, a.y - b.y, a.z - b.z);
}
static inline rgVec3 rgScale(double s, rgVec3 a) {
    return rgVec(s * a.x, s * a.y, s * a.z);
}
static inline rgVec3 rgNegate(rgVec3 a) {
    return rgVec(-a.x, -a.y, -a.z);
}
/// a + s b
static inline rgVec3 rgAddScaled(rgVec3 a, double s, rgVec3 b) {
    return rgVec(a.x + s * b.x, a.y + s * b.y, a.z + s * b.z);
}
static inline double rgDot(rgVec3 a, rgVec3 b) {
    return a.x * b.x + a.y * b.y + a.z * b.z;
}
static inline rgVec3 rgCross(rgVec3 a, rgVec3 b) {
    return rgVec(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x);
}
static inline double rgLengthSquared(rgVec3 a) {
    return rgDot(a, a);
}
static inline double rgLength(rgVec3 a) {
    return sqrt(rgDot(a, a));
}
/// Unit vector along a; the x axis when a is zero.
static inline rgVec3 rgNormalize(rgVec3 a) {
    double length = rgLength(a);
    return length > 0 ? rgScale(1 / length, a) : rgVec(1, 0, 0);
}
static inline double rgVec3_At(rgVec3 a, int i) {
    return i == 0 ? a.x : i == 1 ? a.y : a.z;
}

static inline rgQuat rgQuatIdentity(void) {
    rgQuat q = {1, 0, 0, 0};
    return q;
}
static inline rgQuat rgQuatConjugate(rgQuat q) {
    rgQuat c = {q.w, -q.x, -q.y, -q.z};
    return c;
}
static inline rgQuat rgQuatMultiply(rgQuat a, rgQuat b) {
    rgQuat c = {a.w * b.w - a.x * b.x - a.y * b.y - a.z * b.z,
                a.w * b.x + a.x * b.w + a.y * b.z - a.z * b.y,
                a.w * b.y - a.x * b.z + a.y * b.w + a.z * b.x,
                a.w * b.z + a.x * b.y - a.y * b.x + a.z * b.w};
    return c;
}
static inline rgQuat rgQuatNormalize(rgQuat q) {
    double length = sqrt(q.w * q.w + q.x * q.x + q.y * q.y + q.z * q.z);
    if (!(length > 0)) {
        return rgQuatIdentity();
    }
    double s = 1 / length;
    rgQuat unit = {s * q.w, s * q.x, s * q.y, s * q.z};
    return unit;
}
static inline rgVec3 rgRotate(rgQuat q, rgVec3 v) {
    rgVec3 u = {q.x, q.y, q.z};
    rgVec3 t = rgScale(2, rgCross(u, v));
    return rgAdd(rgAddScaled(v, q.w, t), rgCross(u, t));
}
static inline rgVec3 rgRotateBack(rgQuat q, rgVec3 v) {
    return rgRotate(rgQuatConjugate(q), v);
}
/// Rotation by angle [rad] about a unit axis.
static inline rgQuat rgQuatFromAxisAngle(rgVec3 axis, double angle) {
    double s = sin(0.5 * angle);
    rgQuat q = {cos(0.5 * angle), s * axis.x, s * axis.y, s * axis.z};
    return q;
}

/// exp: rotation vector [rad] to quaternion, accurate for small angles too.
RG_API rgQuat rgQuatFromRotationVector(rgVec3 rotation);
/// log: the rotation vector of length at most pi.
RG_API rgVec3 rgRotationVectorFromQuat(rgQuat q);
/// Right Jacobian of SO(3): exp(r + dr) = exp(r) exp(J dr) to first order. Its transpose is the
/// left one.
RG_API rgMat3 rgRotationJacobian(rgVec3 rotation);
/// J^-1, for rotations of less than a whole turn: log(exp(r) exp(d)) = r + J^-1 d to first order.
RG_API rgMat3 rgRotationJacobianInverse(rgVec3 rotation);
/// Quaternion of a rotation matrix (assumed orthonormal).
RG_API rgQuat rgQuatFromMat3(const rgMat3* m);
/// Fixed-axis roll, pitch, yaw as in URDF: Rz(yaw) Ry(pitch) Rx(roll).
RG_API rgQuat rgQuatFromRollPitchYaw(double roll, double pitch, double yaw);
/// Shortest rotation that takes unit vector a to unit vector b.
RG_API rgQuat rgQuatBetween(rgVec3 a, rgVec3 b);

static inline rgMat3 rgMat3FromQuat(rgQuat q) {
    double xx = q.x * q.x, yy = q.y * q.y, zz = q.z * q.z;
    double xy = q.x * q.y, xz = q.x * q.z, yz = q.y * q.z;
    double wx = q.w * q.x, wy = q.w * q.y, wz = q.w * q.z;
    rgMat3 r = {{1 - 2 * (yy + zz), 2 * (xy - wz), 2 * (xz + wy), 2 * (xy + wz), 1 - 2 * (xx + zz),
                 2 * (yz - wx), 2 * (xz - wy), 2 * (yz + wx), 1 - 2 * (xx + yy)}};
    return r;
}
static inline rgVec3 rgMat3_Multiply(const rgMat3* a, rgVec3 v) {
    const double* m = a->m;
    return rgVec(m[0] * v.x + m[1] * v.y + m[2] * v.z, m[3] * v.x + m[4] * v.y + m[5] * v.z,
                 m[6] * v.x + m[7] * v.y + m[8] * v.z);
}
static inline rgVec3 rgMat3_MultiplyTransposed(const rgMat3* a, rgVec3 v) {
    const double* m = a->m;
    return rgVec(m[0] * v.x + m[3] * v.y + m[6] * v.z, m[1] * v.x + m[4] * v.y + m[7] * v.z,
                 m[2] * v.x + m[5] * v.y + m[8] * v.z);
}
static inline rgVec3 rgSym3_Multiply(const rgSym3* s, rgVec3 v) {
    return rgVec(s->xx * v.x + s->xy * v.y + s->xz * v.z, s->xy * v.x + s->yy * v.y + s->yz * v.z,
                 s->xz * v.x + s->yz * v.y + s->zz * v.z);
}

static inline rgPose rgPoseIdentity(void) {
    rgPose pose = {{0, 0, 0}, {1, 0, 0, 0}};
    return pose;
}
/// Pose of C in A from B in A and C in B.
static inline rgPose rgPoseMultiply(rgPose a, rgPose b) {
    rgPose c = {rgAdd(a.p, rgRotate(a.q, b.p)), rgQuatMultiply(a.q, b.q)};
    return c;
}
static inline rgPose rgPoseInvert(rgPose a) {
    rgQuat q = rgQuatConjugate(a.q);
    rgPose inverse = {rgNegate(rgRotate(q, a.p)), q};
    return inverse;
}
static inline rgVec3 rgPose_Point(rgPose a, rgVec3 x) {
    return rgAdd(a.p, rgRotate(a.q, x));
}
static inline rgVec3 rgPose_PointBack(rgPose a, rgVec3 x) {
    return rgRotateBack(a.q, rgSub(x, a.p));
}

/// Two unit tangents t1, t2 so that t1, t2, n is right-handed. Deterministic, and continuous in n
/// but for a jump where n.z = -0.93.
RG_API void rgTangentBasis(rgVec3 normal, rgVec3* t1, rgVec3* t2);
