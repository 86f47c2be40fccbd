// Rotations: exponential, logarithm, and conversions that need functions of angles.
#include "rigor/math.h"

rgQuat rgQuatFromRotationVector(rgVec3 rotation) {
    double angle = rgLength(rotation);
    // sin(a/2)/a by its series where the quotient would lose digits
    double s = angle > 1e-4 ? sin(0.5 * angle) / angle : 0.5 - angle * angle / 48;
    rgQuat q = {cos(0.5 * angle), s * rotation.x, s * rotation.y, s * rotation.z};
    return q;
}

rgVec3 rgRotationVectorFromQuat(rgQuat q) {
    double sign = q.w < 0 ? -1 : 1;
    rgVec3 u = rgVec(sign * q.x, sign * q.y, sign * q.z);
    double s = rgLength(u);
    double c = sign * q.w;
    double scale = s > 1e-8 ? 2 * atan2(s, c) / s : 2;
    return rgScale(scale, u);
}

// 1 + a [r] + b [r]^2
static rgMat3 rgRotationSeries(rgVec3 r, double a, double b) {
    double x = r.x, y = r.y, z = r.z, square = rgLengthSquared(r);
    return (rgMat3){{1 + b * (x * x - square), b * x * y - a * z, b * x * z + a * y,
                     b * x * y + a * z, 1 + b * (y * y - square), b * y * z - a * x,
                     b * x * z - a * y, b * y * z + a * x, 1 + b * (z * z - square)}};
}

#define RG_SMALL_ANGLE 0.2 // [rad] below which series of five terms are good to 1e-16

rgMat3 rgRotationJacobian(rgVec3 rotation) {
    double s = rgLengthSquared(rotation), angle = sqrt(s), half = 0.5 * angle;
    double sinc = angle > 1e-8 ? sin(half) / half : 1;
    double cubic =
        angle > RG_SMALL_ANGLE
            ? (angle - sin(angle)) / (s * angle)
            : 1. / 6 - s * (1. / 120 - s * (1. / 5040 - s * (1. / 362880 - s / 39916800)));
    return rgRotationSeries(rotation, -0.5 * sinc * sinc, cubic);
}

rgMat3 rgRotationJacobianInverse(rgVec3 rotation) {
    double s = rgLengthSquared(rotation), half = 0.5 * sqrt(s);
    double square =
        half > 0.5 * RG_SMALL_ANGLE
            ? (1 - half * cos(half) / sin(half)) / s
            : 1. / 12 + s * (1. / 720 + s * (1. / 30240 + s * (1. / 1209600 + s / 47900160)));
    return rgRotationSeries(rotation, 0.5, square);
}

rgQuat rgQuatFromRollPitchYaw(double roll, double pitch, double yaw) {
    rgQuat x = rgQuatFromAxisAngle(rgVec(1, 0, 0), roll);
    rgQuat y = rgQuatFromAxisAngle(rgVec(0, 1, 0), pitch);
    rgQuat z = rgQuatFromAxisAngle(rgVec(0, 0, 1), yaw);
    return rgQuatMultiply(z, rgQuatMultiply(y, x));
}

rgQuat rgQuatBetween(rgVec3 a, rgVec3 b) {
    double c = rgDot(a, b);
    if (c < -1 + 1e-12) {
        // Half a turn about any axis across a.
        rgVec3 t1, t2;
        rgTangentBasis(a, &t1, &t2);
        return (rgQuat){0, t1.x, t1.y, t1.z};
    }
    rgVec3 axis = rgCross(a, b);
    return rgQuatNormalize((rgQuat){1 + c, axis.x, axis.y, axis.z});
}
