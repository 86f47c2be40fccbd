// Reference values of five robots, 20 states each, computed by another library (RIGOR_DATA/rbd).
// Tolerances are relative to the largest entry of the array that is compared.
#include "json.h"
#include "rbd.h"
#include "rigor/rigor.h"
#include "support.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_V 64

// One robot with room for one state.
typedef struct rgRobot {
    rgJson* root;
    rgModel* model;
    rgDynamics* dynamics;
    int nv;
    double abaTolerance;
    double q[MAX_V], v[MAX_V], a[MAX_V], tau[MAX_V];
    double expected[MAX_V * MAX_V], actual[MAX_V * MAX_V];
} rgRobot;

static void rgOpenRobot(rgRobot* robot, const char* name, double abaTolerance) {
    char path[128];
    snprintf(path, sizeof(path), "rbd/%s.json", name);
    robot->root = rgReadJson(rgDataPath(path));
    assert_non_null(robot->root);
    robot->model = rgModelFromRbd(robot->root);
    assert_non_null(robot->model);
    rgDynamicsDef def = rgDefaultDynamicsDef(robot->model);
    assert_int_equal(rgCreateDynamics(robot->model, &def, &robot->dynamics), rg_ok);
    robot->nv = rgModel_Info(robot->model).vCount;
    robot->abaTolerance = abaTolerance;
    assert_int_equal(robot->nv, (int)rgJson_Number(robot->root, "nv"));
    assert_int_equal(rgModel_Info(robot->model).qCount, (int)rgJson_Number(robot->root, "nq"));
}

static void rgCloseRobot(rgRobot* robot) {
    rgDestroyDynamics(robot->dynamics);
    rgDestroyModel(robot->model);
    rgDestroyJson(robot->root);
}

// Compare robot->actual with the state's array of this name.
static void rgExpectArray(rgRobot* robot, const rgJson* state, const char* key, int count,
                          double tolerance) {
    int found = rgJson_Flatten(rgJson_Find(state, key), robot->expected, MAX_V * MAX_V);
    assert_int_equal(found, count);
    rgExpectRelative(key, robot->actual, robot->expected, count, tolerance);
}

static void rgLoadState(rgRobot* robot, const rgJson* state) {
    double theirs[MAX_V];
    rgJson_Flatten(rgJson_Find(state, "q"), theirs, MAX_V);
    rgConvertRbdPositions(robot->model, theirs, robot->q);
    rgJson_Flatten(rgJson_Find(state, "v"), robot->v, MAX_V);
    rgJson_Flatten(rgJson_Find(state, "a"), robot->a, MAX_V);
    rgJson_Flatten(rgJson_Find(state, "tau"), robot->tau, MAX_V);
    rgDynamics_SetState(robot->dynamics, robot->q, robot->v);
    rgDynamics_SetAccelerations(robot->dynamics, robot->a);
}

static void rgCheckPoses(rgRobot* robot, const rgJson* state) {
    const rgJson* frames = rgJson_Find(robot->root, "body_frames");
    const rgJson* poses = rgJson_Find(state, "oMf");
    double expected[12], actual[12];
    for (int i = 0; i < frames->count; ++i) {
        rgPose pose = rgDynamics_FramePose(robot->dynamics, (rgFrameId){i + 1});
        rgMat3 m = rgMat3FromQuat(pose.q);
        memcpy(actual, m.m, sizeof(m.m));
        memcpy(actual + 9, &pose.p, sizeof(pose.p));
        assert_int_equal(rgJson_Flatten(&poses->items[i], expected, 12), 12);
        rgExpectRelative("rotation", actual, expected, 9, 1e-12);
        for (int k = 9; k < 12; ++k) {
            EXPECT_NEAR(actual[k], expected[k], 1e-12);
        }
    }
}

static void rgCheckForces(rgRobot* robot, const rgJson* state) {
    rgDynamics* d = robot->dynamics;
    int nv = robot->nv;
    rgDynamics_InverseDynamics(d, robot->a, NULL, robot->actual);
    rgExpectArray(robot, state, "rnea", nv, 1e-12);
    rgDynamics_Bias(d, robot->actual);
    rgExpectArray(robot, state, "nle", nv, 1e-12);
    rgDynamics_GravityTorque(d, robot->actual);
    rgExpectArray(robot, state, "gravity_torque", nv, 1e-12);
    rgDynamics_MassMatrix(d, robot->actual);
    rgExpectArray(robot, state, "M", nv * nv, 1e-12);
    assert_int_equal(rgDynamics_ForwardDynamics(d, robot->tau, NULL, robot->actual), rg_ok);
    rgExpectArray(robot, state, "aba", nv, robot->abaTolerance);
    rgDynamics_Bias(d, robot->actual);
    for (int i = 0; i < nv; ++i) {
        robot->actual[i] = robot->tau[i] - robot->actual[i];
    }
    assert_int_equal(rgDynamics_Factorize(d, NULL), rg_ok);
    rgDynamics_Solve(d, 1, robot->actual);
    rgExpectArray(robot, state, "aba", nv, robot->abaTolerance);
}

// 0.5 v' M v with the file's M; its "kinetic_energy" differs where composite joints have armature.
static double rgExpectedKinetic(rgRobot* robot, const rgJson* state) {
    int nv = robot->nv;
    double sum = 0;
    rgJson_Flatten(rgJson_Find(state, "M"), robot->expected, MAX_V * MAX_V);
    for (int i = 0; i < nv; ++i) {
        for (int j = 0; j < nv; ++j) {
            sum += 0.5 * robot->v[i] * robot->expected[i * nv + j] * robot->v[j];
        }
    }
    return sum;
}

static void rgCheckWhole(rgRobot* robot, const rgJson* state) {
    rgVec3 center = rgDynamics_Center(robot->dynamics);
    rgVec3 velocity = rgDynamics_CenterVelocity(robot->dynamics);
    rgEnergy energy = rgDynamics_Energy(robot->dynamics);
    memcpy(robot->actual, &center, sizeof(center));
    rgExpectArray(robot, state, "com", 3, 1e-12);
    memcpy(robot->actual, &velocity, sizeof(velocity));
    rgExpectArray(robot, state, "vcom", 3, 1e-12);
    EXPECT_NEAR(energy.kinetic, rgExpectedKinetic(robot, state), 1e-12 * (energy.kinetic + 1));
    double scale = fabs(energy.potential) + 1;
    EXPECT_NEAR(energy.potential, rgJson_Number(state, "potential_energy"), 1e-12 * scale);
    EXPECT_NEAR(rgModel_Info(robot->model).mass, rgJson_Number(robot->root, "total_mass"), 1e-12);
}

static void rgCheckMotion(rgRobot* robot, const rgJson* item, const char* key, rgSpatial actual) {
    memcpy(robot->actual, &actual, sizeof(actual));
    rgExpectArray(robot, item, key, 6, 1e-12);
}

static void rgCheckJacobians(rgRobot* robot, const rgJson* state) {
    const rgJson* list = rgJson_Find(state, "jac");
    rgDynamics* d = robot->dynamics;
    assert_true(list->count > 0);
    for (int i = 0; i < list->count; ++i) {
        char name[128];
        const rgJson* item = &list->items[i];
        snprintf(name, sizeof(name), "frame:%s", rgJson_Text(item, "frame"));
        rgFrameId frame = rgModel_FindFrame(robot->model, name);
        assert_true(frame.index1 > 0);
        rgDynamics_FrameJacobian(d, frame, rg_referenceLocal, robot->actual);
        rgExpectArray(robot, item, "LOCAL", 6 * robot->nv, 1e-12);
        rgDynamics_FrameJacobian(d, frame, rg_referenceAligned, robot->actual);
        rgExpectArray(robot, item, "LOCAL_WORLD_ALIGNED", 6 * robot->nv, 1e-12);
        rgCheckMotion(robot, item, "frame_vel_LWA",
                      rgDynamics_FrameVelocity(d, frame, rg_referenceAligned));
        rgCheckMotion(robot, item, "frame_spatial_acc_LOCAL",
                      rgDynamics_FrameAcceleration(d, frame, rg_referenceLocal));
        rgCheckMotion(robot, item, "frame_classical_acc_LWA",
                      rgDynamics_FrameAcceleration(d, frame, rg_referenceAligned));
    }
}

static void rgCheckRobot(const char* name, double abaTolerance) {
    rgRobot* robot = calloc(1, sizeof(rgRobot));
    rgOpenRobot(robot, name, abaTolerance);
    const rgJson* states = rgJson_Find(robot->root, "states");
    assert_int_equal(states->count, 20);
    for (int i = 0; i < states->count; ++i) {
        rgLoadState(robot, &states->items[i]);
        rgCheckPoses(robot, &states->items[i]);
        rgCheckForces(robot, &states->items[i]);
        rgCheckWhole(robot, &states->items[i]);
        rgCheckJacobians(robot, &states->items[i]);
    }
    rgCloseRobot(robot);
    free(robot);
}

static void test_ur5(void** state) {
    (void)state;
    rgCheckRobot("ur5", 1e-10);
}

static void test_talos(void** state) {
    (void)state;
    rgCheckRobot("talos_reduced", 1e-10);
}

static void test_solo12(void** state) {
    (void)state;
    rgCheckRobot("solo12", 1e-10);
}

static void test_humanoid(void** state) {
    (void)state;
    rgCheckRobot("humanoid_mjcf", 1e-10);
}

// The mass matrix has a condition number of 9e6.
static void test_cassie(void** state) {
    (void)state;
    rgCheckRobot("cassie_mjcf", 2e-9);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ur5),    cmocka_unit_test(test_talos),
        cmocka_unit_test(test_solo12), cmocka_unit_test(test_humanoid),
        cmocka_unit_test(test_cassie),
    };
    if (!rgHaveData("rbd")) {
        return 77;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
