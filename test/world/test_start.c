// Start configurations of worlds: inside joint limits, with loops closed.
#include "remarks.h"
#include "rigor/rigor.h"

#include <stdio.h>
#include <string.h>

#define INERTIAL "<inertial pos='0 0 0' mass='1' diaginertia='0.01 0.01 0.01'/>"

// A hinge that is drawn 0.4 below its limits, a slide 0.1 above, a hinge inside, and one without.
static const char* const outside =
    "<mujoco><worldbody>"
    "<body><joint name='a' axis='0 1 0' range='0.4 1'/>" INERTIAL "</body>"
    "<body pos='1 0 0'><joint name='b' type='slide' range='-1 -0.1'/>" INERTIAL "</body>"
    "<body pos='2 0 0'><joint name='c' axis='0 1 0' range='-1 1'/>" INERTIAL "</body>"
    "<body pos='3 0 0'><joint name='d' axis='0 1 0'/>" INERTIAL "</body>"
    "</worldbody>%s</mujoco>";

static rgModel* rgModelOf(const char* rest) {
    char text[2000];
    snprintf(text, sizeof(text), outside, rest);
    rgDiagnostics* diagnostics = NULL;
    rgModelDef* def = NULL;
    rgModel* model = NULL;
    assert_int_equal(rgCreateDiagnostics(NULL, &diagnostics), rg_ok);
    rgResult result = rgParseMjcf(text, strlen(text), "x.xml", NULL, diagnostics, &def);
    if (result != rg_ok) {
        rgPrintRemarks(diagnostics);
    }
    assert_int_equal(result, rg_ok);
    assert_int_equal(rgCompileModel(def, NULL, diagnostics, &model), rg_ok);
    rgDestroyModelDef(def);
    rgDestroyDiagnostics(diagnostics);
    return model;
}

static void rgExpectPositions(const rgWorld* world, const double* expected, double tolerance) {
    const double* q = rgWorld_Positions(world, NULL);
    for (int i = 0; i < 4; ++i) {
        EXPECT_NEAR(q[i], expected[i], tolerance);
    }
}

// Limits are radians here: a compiler element without angle means degrees.
#define RADIAN "<compiler angle='radian'/>"

static void test_start_inside_limits(void** state) {
    (void)state;
    rgModel* model = rgModelOf(RADIAN);
    rgDiagnostics* diagnostics = NULL;
    rgWorld* world = NULL;
    assert_int_equal(rgCreateDiagnostics(NULL, &diagnostics), rg_ok);
    assert_int_equal(rgCreateWorld(model, NULL, diagnostics, &world), rg_ok);
    static const double inside[] = {0.4, -0.1, 0, 0}, neutral[] = {0, 0, 0, 0};
    rgExpectPositions(world, inside, 0);
    assert_true(rgHasRemark(diagnostics, rg_severityNote, 1,
                            "joint 'a' starts at 0.4, not 0, inside its limits, and 1 more"));
    assert_int_equal(rgWorld_SetState(world, NULL, NULL), rg_ok);
    rgExpectPositions(world, neutral, 0);
    assert_int_equal(rgWorld_Reset(world, (rgKeyId){0}), rg_ok);
    rgExpectPositions(world, inside, 0);
    rgDestroyWorld(world);
    rgDestroyDiagnostics(diagnostics);
    rgDestroyModel(model);
}

// A coupling moves along; one that cannot leaves the joints where they are drawn.
static void test_start_with_couplings(void** state) {
    (void)state;
    static const double neutral[] = {0, 0, 0, 0};
    static const char* const couplings[] = {
        RADIAN "<equality><joint joint1='c' joint2='a' polycoef='0 0.5 0 0 0'/></equality>",
        RADIAN "<equality><joint joint1='a' polycoef='0 0 0 0 0'/></equality>"};
    for (int i = 0; i < 2; ++i) {
        rgModel* model = rgModelOf(couplings[i]);
        rgWorld* world = NULL;
        assert_int_equal(rgCreateWorld(model, NULL, NULL, &world), rg_ok);
        const double* q = rgWorld_Positions(world, NULL);
        if (i == 0) { // little motion of both: inside the limits, and coupled
            assert_true(q[0] >= 0.4 - 1e-6);
            EXPECT_NEAR(q[2], 0.5 * q[0], 1e-9);
        } else {
            rgExpectPositions(world, neutral, 0);
        }
        rgDestroyWorld(world);
        rgDestroyModel(model);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_start_inside_limits),
        cmocka_unit_test(test_start_with_couplings),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
