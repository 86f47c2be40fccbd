// Configurations: integrate and difference are inverses, random ones respect limits, the two
// velocity coordinates convert into each other.
#include "model/model.h"
#include "random_model.h"

#include <string.h>

#define MAX_V 128

static void rgExpectSamePositions(const rgModel* model, const double* a, const double* b,
                                  double tolerance) {
    double difference[MAX_V];
    rgModel_Difference(model, a, b, difference);
    for (int i = 0; i < model->vCount; ++i) {
        EXPECT_NEAR(difference[i], 0, tolerance);
    }
}

static void test_integrate_and_difference_are_inverses(void** state) {
    (void)state;
    for (uint64_t seed = 1; seed <= 20; ++seed) {
        rgRandom random = {seed};
        rgModel* model = rgRandomModel(&random, 12);
        double q0[MAX_V], q1[MAX_V], back[MAX_V], v[MAX_V], same[MAX_V];
        rgModel_RandomConfiguration(model, seed, q0);
        rgModel_RandomConfiguration(model, seed + 100, q1);
        rgModel_Difference(model, q0, q1, v);
        rgModel_Integrate(model, q0, v, 1, back);
        rgExpectSamePositions(model, back, q1, 1e-13);
        // Rotations by less than half a turn come back as they went.
        for (int i = 0; i < model->vCount; ++i) {
            v[i] = rgRandom_Uniform(&random, -1, 1);
        }
        memcpy(q1, q0, sizeof(q0));
        rgModel_Integrate(model, q1, v, 0.5, q1);
        rgModel_Difference(model, q0, q1, same);
        for (int i = 0; i < model->vCount; ++i) {
            EXPECT_NEAR(same[i], 0.5 * v[i], 1e-13);
        }
        rgDestroyModel(model);
    }
}

static void test_free_position_moves_straight(void** state) {
    (void)state;
    rgModelDef* def = NULL;
    rgModel* model = NULL;
    rgBodyDef body = rgDefaultBodyDef();
    rgJointDef joint = rgDefaultJointDef();
    rgCreateModelDef(NULL, &def);
    body.inertia = rgInertiaFromShape(rg_shapeSphere, rgVec(0.1, 0, 0), 1);
    body.pose.p = rgVec(1, 2, 3);
    rgModelDef_AddBody(def, &body, &joint.body);
    joint.kind = rg_jointFree;
    rgModelDef_AddJoint(def, &joint, NULL);
    assert_int_equal(rgCompileModel(def, NULL, NULL, &model), rg_ok);
    double q[7], expectedQuat[4] = {cos(0.25), 0, 0, sin(0.25)};
    double v[6] = {1, 0, 0, 0, 0, 0.5};
    rgModel_NeutralConfiguration(model, q);
    EXPECT_NEAR(q[0], 1, 0);
    EXPECT_NEAR(q[2], 3, 0);
    EXPECT_NEAR(q[3], 1, 0); // w comes first
    rgModel_Integrate(model, q, v, 1, q);
    EXPECT_NEAR(q[0], 2, 1e-15); // the exponential of SE(3) would give 1.96
    EXPECT_NEAR(q[1], 2, 1e-15);
    for (int k = 0; k < 4; ++k) {
        EXPECT_NEAR(q[3 + k], expectedQuat[k], 1e-15);
    }
    // Now the body's x axis is turned by 0.5 rad: body velocity x moves it there.
    v[5] = 0;
    rgModel_Integrate(model, q, v, 1, q);
    EXPECT_NEAR(q[0], 2 + cos(0.5), 1e-15);
    EXPECT_NEAR(q[1], 2 + sin(0.5), 1e-15);
    double step[6], body2[6];
    rgModel_StepVelocity(model, q, v, step);
    EXPECT_NEAR(step[1], sin(0.5), 1e-15);
    rgModel_BodyVelocity(model, q, step, body2);
    for (int k = 0; k < 6; ++k) {
        EXPECT_NEAR(body2[k], v[k], 1e-15);
    }
    rgDestroyModel(model);
    rgDestroyModelDef(def);
}

static void test_random_configurations_respect_limits(void** state) {
    (void)state;
    rgModelDef* def = NULL;
    rgModel* model = NULL;
    rgBodyDef body = rgDefaultBodyDef();
    rgJointDef joint = rgDefaultJointDef();
    rgCreateModelDef(NULL, &def);
    body.inertia = rgInertiaFromShape(rg_shapeSphere, rgVec(0.1, 0, 0), 1);
    rgModelDef_AddBody(def, &body, &joint.body);
    joint.hasLimits = true;
    joint.lower = 0.5;
    joint.upper = 0.75;
    rgModelDef_AddJoint(def, &joint, NULL);
    body.parent = joint.body;
    rgModelDef_AddBody(def, &body, &joint.body);
    joint.kind = rg_jointSpherical;
    joint.upper = 0.2;
    rgModelDef_AddJoint(def, &joint, NULL);
    assert_int_equal(rgCompileModel(def, NULL, NULL, &model), rg_ok);
    double q[5], low = 1, high = 0, angle = 0;
    for (uint64_t seed = 0; seed < 500; ++seed) {
        rgModel_RandomConfiguration(model, seed, q);
        rgVec3 rotation = rgRotationVectorFromQuat((rgQuat){q[1], q[2], q[3], q[4]});
        low = fmin(low, q[0]);
        high = fmax(high, q[0]);
        angle = fmax(angle, rgLength(rotation));
    }
    assert_true(low >= 0.5 && low < 0.51 && high <= 0.75 && high > 0.74);
    assert_true(angle <= 0.2 && angle > 0.19);
    rgDestroyModel(model);
    rgDestroyModelDef(def);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_integrate_and_difference_are_inverses),
        cmocka_unit_test(test_free_position_moves_straight),
        cmocka_unit_test(test_random_configurations_respect_limits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
