// Vectors, matrices and the algebra of poses.
#include "rigor/math.h"
#include "support.h"

static rgVec3 rgRandomVector(rgRandom* random) {
    return rgVec(rgRandom_Normal(random), rgRandom_Normal(random), rgRandom_Normal(random));
}

static rgPose rgRandomPose(rgRandom* random) {
    rgQuat q = {rgRandom_Normal(random), rgRandom_Normal(random), rgRandom_Normal(random),
                rgRandom_Normal(random)};
    return (rgPose){rgRandomVector(random), rgQuatNormalize(q)};
}

static void rgExpectVector(rgVec3 a, rgVec3 b, double tolerance) {
    EXPECT_NEAR(a.x, b.x, tolerance);
    EXPECT_NEAR(a.y, b.y, tolerance);
    EXPECT_NEAR(a.z, b.z, tolerance);
}

static void test_vectors(void** state) {
    (void)state;
    rgVec3 a = rgVec(1, 2, 3), b = rgVec(-4, 0.5, 2);
    rgExpectVector(rgCross(rgVec(1, 0, 0), rgVec(0, 1, 0)), rgVec(0, 0, 1), 0);
    rgExpectVector(rgAddScaled(a, 2, b), rgAdd(a, rgScale(2, b)), 0);
    rgExpectVector(rgSub(a, b), rgAdd(a, rgNegate(b)), 0);
    EXPECT_NEAR(rgDot(a, rgCross(a, b)), 0, 1e-15);
    // Lagrange: |a x b|^2 + (a b)^2 = |a|^2 |b|^2
    EXPECT_NEAR(rgLengthSquared(rgCross(a, b)) + rgDot(a, b) * rgDot(a, b),
                rgLengthSquared(a) * rgLengthSquared(b), 1e-12);
    EXPECT_NEAR(rgLength(rgNormalize(b)), 1, 1e-15);
    rgExpectVector(rgNormalize(rgVec(0, 0, 0)), rgVec(1, 0, 0), 0);
    for (int i = 0; i < 3; ++i) {
        EXPECT_NEAR(rgVec3_At(a, i), i + 1, 0);
    }
    rgQuat none = rgQuatNormalize((rgQuat){0, 0, 0, 0});
    assert_true(none.w == 1 && none.x == 0);
}

static void test_matrices_are_stored_by_rows(void** state) {
    (void)state;
    rgMat3 m = {{1, 2, 3, 4, 5, 6, 7, 8, 9}};
    rgExpectVector(rgMat3_Multiply(&m, rgVec(1, 0, 0)), rgVec(1, 4, 7), 0);
    rgExpectVector(rgMat3_MultiplyTransposed(&m, rgVec(1, 0, 0)), rgVec(1, 2, 3), 0);
    rgSym3 s = {.xx = 1, .yy = 2, .zz = 3, .xy = 4, .xz = 5, .yz = 6};
    rgExpectVector(rgSym3_Multiply(&s, rgVec(1, 0, 0)), rgVec(1, 4, 5), 0);
    rgExpectVector(rgSym3_Multiply(&s, rgVec(0, 1, 0)), rgVec(4, 2, 6), 0);
    rgExpectVector(rgSym3_Multiply(&s, rgVec(0, 0, 1)), rgVec(5, 6, 3), 0);
}

// Poses form a group that acts on points.
static void test_pose_algebra(void** state) {
    (void)state;
    rgRandom random = {1};
    for (int i = 0; i < 200; ++i) {
        rgPose a = rgRandomPose(&random), b = rgRandomPose(&random), c = rgRandomPose(&random);
        rgVec3 x = rgRandomVector(&random);
        rgExpectVector(rgPose_Point(rgPoseMultiply(a, b), x), rgPose_Point(a, rgPose_Point(b, x)),
                       1e-13);
        rgPose left = rgPoseMultiply(rgPoseMultiply(a, b), c);
        rgPose right = rgPoseMultiply(a, rgPoseMultiply(b, c));
        rgExpectVector(rgPose_Point(left, x), rgPose_Point(right, x), 1e-13);
        rgExpectVector(rgPose_Point(rgPoseInvert(a), x), rgPose_PointBack(a, x), 1e-13);
        rgExpectVector(rgPose_PointBack(a, rgPose_Point(a, x)), x, 1e-13);
        rgExpectVector(rgPose_Point(rgPoseMultiply(a, rgPoseIdentity()), x), rgPose_Point(a, x), 0);
        rgPose one = rgPoseMultiply(rgPoseInvert(a), a);
        rgExpectVector(one.p, rgVec(0, 0, 0), 1e-13);
        EXPECT_NEAR(fabs(one.q.w), 1, 1e-14);
    }
}

// Frame B seen from A, by hand: B sits at (1, 0, 0) of A and is turned by 90 degrees about z.
static void test_pose_convention(void** state) {
    (void)state;
    rgPose b = {rgVec(1, 0, 0), {sqrt(0.5), 0, 0, sqrt(0.5)}};
    rgExpectVector(rgPose_Point(b, rgVec(1, 0, 0)), rgVec(1, 1, 0), 1e-15);
    rgExpectVector(rgPose_PointBack(b, rgVec(0, 0, 0)), rgVec(0, 1, 0), 1e-15);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_vectors),
        cmocka_unit_test(test_matrices_are_stored_by_rows),
        cmocka_unit_test(test_pose_algebra),
        cmocka_unit_test(test_pose_convention),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
