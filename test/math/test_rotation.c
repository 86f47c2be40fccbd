// Quaternions in the order w, x, y, z, conversions, exponential and logarithm, tangent basis.
#include "rigor/math.h"
#include "support.h"

#include <string.h>

static const double rg_pi = 3.14159265358979323846;

static rgVec3 rgRandomVector(rgRandom* random) {
    return rgVec(rgRandom_Normal(random), rgRandom_Normal(random), rgRandom_Normal(random));
}

static rgQuat rgRandomQuat(rgRandom* random) {
    rgQuat q = {rgRandom_Normal(random), rgRandom_Normal(random), rgRandom_Normal(random),
                rgRandom_Normal(random)};
    return rgQuatNormalize(q);
}

static void rgExpectVector(rgVec3 a, rgVec3 b, double tolerance) {
    EXPECT_NEAR(a.x, b.x, tolerance);
    EXPECT_NEAR(a.y, b.y, tolerance);
    EXPECT_NEAR(a.z, b.z, tolerance);
}

// Equal as rotations: q and -q are the same one.
static void rgExpectRotation(rgQuat a, rgQuat b, double tolerance) {
    double dot = a.w * b.w + a.x * b.x + a.y * b.y + a.z * b.z;
    double sign = dot < 0 ? -1 : 1;
    EXPECT_NEAR(a.w, sign * b.w, tolerance);
    EXPECT_NEAR(a.x, sign * b.x, tolerance);
    EXPECT_NEAR(a.y, sign * b.y, tolerance);
    EXPECT_NEAR(a.z, sign * b.z, tolerance);
}

// The real part is first in memory and in meaning.
static void test_order_is_wxyz(void** state) {
    (void)state;
    const double h = sqrt(0.5);
    const double memory[4] = {h, 0, 0, h};
    rgQuat q;
    memcpy(&q, memory, sizeof(q));
    rgExpectVector(rgRotate(q, rgVec(1, 0, 0)), rgVec(0, 1, 0), 1e-15);
    rgExpectVector(rgRotate(q, rgVec(0, 1, 0)), rgVec(-1, 0, 0), 1e-15);
    rgExpectVector(rgRotate(q, rgVec(0, 0, 1)), rgVec(0, 0, 1), 1e-15);
    // i j = k
    rgQuat k = rgQuatMultiply((rgQuat){0, 1, 0, 0}, (rgQuat){0, 0, 1, 0});
    assert_true(k.w == 0 && k.x == 0 && k.y == 0 && k.z == 1);
    rgQuat identity = rgQuatIdentity();
    assert_true(identity.w == 1 && identity.x == 0 && identity.y == 0 && identity.z == 0);
}

static void test_rotation_keeps_geometry(void** state) {
    (void)state;
    rgRandom random = {1};
    for (int i = 0; i < 200; ++i) {
        rgQuat p = rgRandomQuat(&random), q = rgRandomQuat(&random);
        rgVec3 a = rgRandomVector(&random), b = rgRandomVector(&random);
        EXPECT_NEAR(rgDot(rgRotate(q, a), rgRotate(q, b)), rgDot(a, b), 1e-13);
        rgExpectVector(rgCross(rgRotate(q, a), rgRotate(q, b)), rgRotate(q, rgCross(a, b)), 1e-13);
        rgExpectVector(rgRotate(rgQuatMultiply(p, q), a), rgRotate(p, rgRotate(q, a)), 1e-13);
        rgExpectVector(rgRotateBack(q, rgRotate(q, a)), a, 1e-13);
    }
}

static void test_matrix_and_quaternion(void** state) {
    (void)state;
    rgRandom random = {2};
    for (int i = 0; i < 300; ++i) {
        rgQuat q = rgRandomQuat(&random);
        // Every branch: turns by nearly half about each axis.
        if (i < 60) {
            double e = i % 5 == 0 ? 0 : 1e-3;
            rgVec3 axis = rgVec(i % 3 == 0 ? 1 : e, i % 3 == 1 ? 1 : e, i % 3 == 2 ? 1 : -e);
            q = rgQuatFromAxisAngle(rgNormalize(axis), rg_pi - (i < 30 ? 0 : 1e-7));
        }
        rgMat3 m = rgMat3FromQuat(q);
        rgExpectRotation(rgQuatFromMat3(&m), q, 1e-14);
        rgVec3 a = rgRandomVector(&random);
        rgExpectVector(rgMat3_Multiply(&m, a), rgRotate(q, a), 1e-13);
        rgExpectVector(rgMat3_MultiplyTransposed(&m, a), rgRotateBack(q, a), 1e-13);
    }
}

static void test_exponential_and_logarithm(void** state) {
    (void)state;
    rgRandom random = {3};
    static const double lengths[] = {0,    1e-300, 1e-12, 1e-8, 0.99e-4, 1.01e-4,
                                     1e-3, 0.1,    1,     3,    3.14};
    for (int i = 0; i < 11; ++i) {
        for (int k = 0; k < 20; ++k) {
            rgVec3 r = rgScale(lengths[i], rgNormalize(rgRandomVector(&random)));
            rgQuat q = rgQuatFromRotationVector(r);
            EXPECT_NEAR(q.w * q.w + q.x * q.x + q.y * q.y + q.z * q.z, 1, 1e-15);
            rgExpectVector(rgRotationVectorFromQuat(q), r, 1e-15 + 2e-15 * lengths[i]);
            // The other sign is the same rotation.
            rgQuat minus = {-q.w, -q.x, -q.y, -q.z};
            rgExpectVector(rgRotationVectorFromQuat(minus), r, 1e-15 + 2e-15 * lengths[i]);
            rgQuat axis = rgQuatFromAxisAngle(rgNormalize(r), lengths[i]);
            rgExpectRotation(q, axis, 1e-15);
        }
    }
    // Longer than pi: the logarithm is the short way round.
    rgVec3 r = rgRotationVectorFromQuat(rgQuatFromRotationVector(rgVec(0, 0, 4)));
    rgExpectVector(r, rgVec(0, 0, 4 - 2 * rg_pi), 1e-14);
    // Half a turn has length pi.
    EXPECT_NEAR(rgLength(rgRotationVectorFromQuat((rgQuat){0, 0, 1, 0})), rg_pi, 1e-15);
}

// exp(s r) exp(t r) = exp((s + t) r)
static void test_exponential_is_additive(void** state) {
    (void)state;
    rgRandom random = {4};
    for (int i = 0; i < 100; ++i) {
        rgVec3 r = rgRandomVector(&random);
        double s = rgRandom_Uniform(&random, -2, 2), t = rgRandom_Uniform(&random, -2, 2);
        rgQuat product = rgQuatMultiply(rgQuatFromRotationVector(rgScale(s, r)),
                                        rgQuatFromRotationVector(rgScale(t, r)));
        rgExpectRotation(product, rgQuatFromRotationVector(rgScale(s + t, r)), 1e-14);
    }
}

static void test_roll_pitch_yaw(void** state) {
    (void)state;
    // URDF: about fixed axes, x first, then y, then z.
    double roll = 0.3, pitch = -0.7, yaw = 1.9;
    double cr = cos(roll), sr = sin(roll), cp = cos(pitch), sp = sin(pitch);
    double cy = cos(yaw), sy = sin(yaw);
    const double expected[9] = {cy * cp,
                                cy * sp * sr - sy * cr,
                                cy * sp * cr + sy * sr,
                                sy * cp,
                                sy * sp * sr + cy * cr,
                                sy * sp * cr - cy * sr,
                                -sp,
                                cp * sr,
                                cp * cr};
    rgMat3 m = rgMat3FromQuat(rgQuatFromRollPitchYaw(roll, pitch, yaw));
    for (int i = 0; i < 9; ++i) {
        EXPECT_NEAR(m.m[i], expected[i], 1e-15);
    }
}

static void test_shortest_rotation_between(void** state) {
    (void)state;
    rgRandom random = {5};
    for (int i = 0; i < 200; ++i) {
        rgVec3 a = rgNormalize(rgRandomVector(&random)), b = rgNormalize(rgRandomVector(&random));
        b = i % 4 == 0 ? rgNegate(a) : i % 4 == 1 ? a : b;
        rgQuat q = rgQuatBetween(a, b);
        rgExpectVector(rgRotate(q, a), b, 1e-12);
        EXPECT_NEAR(rgLength(rgRotationVectorFromQuat(q)),
                    atan2(rgLength(rgCross(a, b)), rgDot(a, b)), 1e-7);
    }
}

static void rgExpectBasis(rgVec3 n) {
    rgVec3 t1, t2;
    rgTangentBasis(n, &t1, &t2);
    EXPECT_NEAR(rgLength(t1), 1, 1e-14);
    EXPECT_NEAR(rgLength(t2), 1, 1e-14);
    EXPECT_NEAR(rgDot(t1, n), 0, 1e-14);
    EXPECT_NEAR(rgDot(t2, n), 0, 1e-14);
    EXPECT_NEAR(rgDot(t1, t2), 0, 1e-14);
    rgExpectVector(rgCross(t1, t2), n, 1e-14);
}

static void test_tangent_basis(void** state) {
    (void)state;
    rgRandom random = {6};
    for (int i = 0; i < 300; ++i) {
        rgExpectBasis(rgNormalize(rgRandomVector(&random)));
    }
    for (int i = 0; i < 3; ++i) {
        rgExpectBasis(rgVec(i == 0, i == 1, i == 2));
        rgExpectBasis(rgVec(-(i == 0), -(i == 1), -(i == 2)));
    }
    // Around n = -z, where a formula could divide by almost zero.
    for (double e = 1e-160; e < 1; e *= 4) {
        rgExpectBasis(rgNormalize(rgVec(e, -0.3 * e, -1)));
    }
}

// Away from the jump, straight down included, a small turn of n turns the tangents by as little.
static void test_tangent_basis_is_continuous(void** state) {
    (void)state;
    rgRandom random = {7};
    for (int i = 0; i < 300; ++i) {
        rgVec3 n = rgNormalize(rgRandomVector(&random));
        n = i % 4 == 0 ? rgNormalize(rgVec(1e-5 * n.x, 1e-5 * n.y, -1)) : n;
        if (fabs(n.z + 0.93) < 1e-4) {
            continue;
        }
        rgVec3 moved = rgNormalize(rgAddScaled(n, 1e-6, rgRandomVector(&random)));
        rgVec3 t1, t2, u1, u2;
        rgTangentBasis(n, &t1, &t2);
        rgTangentBasis(moved, &u1, &u2);
        double step = rgLength(rgSub(n, moved));
        assert_true(rgLength(rgSub(t1, u1)) <= 40 * step + 1e-14);
        assert_true(rgLength(rgSub(t2, u2)) <= 40 * step + 1e-14);
    }
}

static rgMat3 rgProduct(const rgMat3* a, const rgMat3* b) {
    rgMat3 c = {{0}};
    for (int k = 0; k < 27; ++k) {
        c.m[k / 9 * 3 + k % 3] += a->m[k / 9 * 3 + k / 3 % 3] * b->m[k / 3 % 3 * 3 + k % 3];
    }
    return c;
}

// exp(r + d) = exp(r) exp(J d): differences with steps of 1e-4 are good to 1e-8; J and its inverse
// agree to rounding, also beside the angle where series take over.
static void test_jacobians_of_rotations(void** state) {
    (void)state;
    rgRandom random = {8};
    static const double angles[] = {0, 1e-9, 1e-5, 0.01, 0.1999, 0.2001, 1, 3, 3.1415926, 5};
    for (size_t i = 0; i < sizeof(angles) / sizeof(angles[0]); ++i) {
        rgVec3 r = rgScale(angles[i], rgNormalize(rgRandomVector(&random)));
        rgMat3 J = rgRotationJacobian(r), inverse = rgRotationJacobianInverse(r);
        rgMat3 one = rgProduct(&J, &inverse);
        for (int k = 0; k < 9; ++k) {
            EXPECT_NEAR(one.m[k], k % 4 == 0, 2e-14);
        }
        rgVec3 d = rgScale(1e-4, rgRandomVector(&random));
        rgQuat after = rgQuatFromRotationVector(rgAdd(r, d));
        rgQuat before = rgQuatFromRotationVector(rgSub(r, d));
        rgVec3 turned = rgRotationVectorFromQuat(rgQuatMultiply(rgQuatConjugate(before), after));
        rgExpectVector(turned, rgScale(2, rgMat3_Multiply(&J, d)), 1e-11);
        // The left Jacobian is that of -r.
        rgMat3 left = rgRotationJacobian(rgNegate(r));
        for (int k = 0; k < 9; ++k) {
            EXPECT_NEAR(left.m[k], J.m[k % 3 * 3 + k / 3], 1e-16);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_order_is_wxyz),
        cmocka_unit_test(test_rotation_keeps_geometry),
        cmocka_unit_test(test_matrix_and_quaternion),
        cmocka_unit_test(test_exponential_and_logarithm),
        cmocka_unit_test(test_exponential_is_additive),
        cmocka_unit_test(test_roll_pitch_yaw),
        cmocka_unit_test(test_shortest_rotation_between),
        cmocka_unit_test(test_tangent_basis),
        cmocka_unit_test(test_tangent_basis_is_continuous),
        cmocka_unit_test(test_jacobians_of_rotations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
