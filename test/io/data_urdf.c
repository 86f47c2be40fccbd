// Robots of RIGOR_DATA: every URDF loads and compiles, and three of them agree with the reference
// values of another library. Coordinates are matched by joint name. Tolerances are relative to the
// largest entry of the array that is compared.
#include "json.h"
#include "rigor/rigor.h"
#include "support.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_V 64

typedef struct rgRobot {
    rgJson* root;
    rgModelDef* def;
    rgModel* model;
    rgDynamics* dynamics;
    int nq, nv;
    int qOurs[MAX_V]; // place in our q of each entry of theirs
    int vOurs[MAX_V];
    double q[MAX_V], v[MAX_V], a[MAX_V], tau[MAX_V];
    double actual[MAX_V * MAX_V], expected[MAX_V * MAX_V];
} rgRobot;

static rgModelDef* rgLoad(const char* relative, const rgLoadDef* def) {
    rgDiagnostics* diagnostics = NULL;
    rgModelDef* model = NULL;
    const char* path = rgDataPath(relative);
    assert_non_null(path);
    assert_int_equal(rgCreateDiagnostics(NULL, &diagnostics), rg_ok);
    rgResult result = rgLoadModelDef(path, def, diagnostics, &model);
    for (int i = 0; result != rg_ok && i < rgDiagnostics_Count(diagnostics); ++i) {
        rgMessage message = rgDiagnostics_Message(diagnostics, i);
        print_error("%s:%d: %s\n", message.file, message.line, message.text);
    }
    assert_int_equal(result, rg_ok);
    rgDestroyDiagnostics(diagnostics);
    return model;
}

static rgModel* rgCompile(const rgModelDef* def) {
    rgDiagnostics* diagnostics = NULL;
    rgModel* model = NULL;
    assert_int_equal(rgCreateDiagnostics(NULL, &diagnostics), rg_ok);
    rgResult result = rgCompileModel(def, NULL, diagnostics, &model);
    for (int i = 0; result != rg_ok && i < rgDiagnostics_Count(diagnostics); ++i) {
        print_error("%s\n", rgDiagnostics_Message(diagnostics, i).text);
    }
    assert_int_equal(result, rg_ok);
    rgDestroyDiagnostics(diagnostics);
    return model;
}

// Sizes counted in the files: moving joints, links, collisions.
static void test_all_robots(void** state) {
    (void)state;
    static const struct {
        const char* file;
        bool meshes; // the files that it names are there
        int nq, nv, bodies, collisions;
        double mass; // of everything, fixed or not; 0: not checked
    } robots[] = {
        {"robots/allegro/allegro.urdf", true, 16, 16, 21, 21, 0},
        {"robots/cassie/cassie_noeq.urdf", true, 28, 26, 25, 25, 33.312},
        {"robots/humanoid/humanoid.urdf", true, 21, 21, 25, 19, 0},
        {"robots/solo12/solo12.urdf", true, 12, 12, 17, 17, 2.50000279},
        {"robots/talos/talos.urdf", true, 32, 32, 60, 52, 90.272192},
        {"robots/ur5/ur5.urdf", true, 6, 6, 10, 8, 20.9939},
        {"rbd/urdf/ur5_robot.urdf", false, 6, 6, 10, -1, 20.9939},
        {"rbd/urdf/talos_reduced.urdf", false, 32, 32, -1, -1, 90.272192},
        {"rbd/urdf/solo12.urdf", false, 12, 12, 17, -1, 2.50000279},
    };
    for (int i = 0; i < (int)(sizeof(robots) / sizeof(robots[0])); ++i) {
        for (int floating = 0; floating < 2; ++floating) {
            rgLoadDef def = rgDefaultLoadDef();
            def.meshes = robots[i].meshes ? rg_meshesAll : rg_meshesNone;
            def.base = floating ? rg_baseFloating : rg_baseFixed;
            rgModelDef* model = rgLoad(robots[i].file, &def);
            rgModel* compiled = rgCompile(model);
            rgModelInfo info = rgModel_Info(compiled);
            assert_int_equal(info.qCount, robots[i].nq + 7 * floating);
            assert_int_equal(info.vCount, robots[i].nv + 6 * floating);
            if (robots[i].bodies >= 0) {
                assert_int_equal(info.bodyCount, robots[i].bodies);
            }
            if (robots[i].collisions >= 0) {
                assert_int_equal(info.shapeCount, robots[i].collisions);
            }
            if (robots[i].mass > 0) {
                EXPECT_NEAR(info.mass + info.staticMass, robots[i].mass, 1e-9);
            }
            rgDestroyModel(compiled);
            rgDestroyModelDef(model);
        }
    }
}

// Where each of the reference's coordinates is in ours, by the joints' names.
static void rgMatchJoints(rgRobot* robot) {
    const rgJson* joints = rgJson_Find(robot->root, "joints");
    for (int i = 0; i < joints->count; ++i) {
        const rgJson* joint = &joints->items[i];
        rgJointId id = rgModel_FindJoint(robot->model, rgJson_Text(joint, "name"));
        assert_true(id.index1 > 0);
        rgJointRange range = rgModel_JointRange(robot->model, id);
        assert_int_equal(range.qCount, (int)rgJson_Number(joint, "nq"));
        assert_int_equal(range.vCount, (int)rgJson_Number(joint, "nv"));
        int firstQ = (int)rgJson_Number(joint, "idx_q");
        int firstV = (int)rgJson_Number(joint, "idx_v");
        for (int k = 0; k < range.qCount; ++k) {
            // A free joint's quaternion is x y z w there and w x y z here.
            int place = range.qCount == 7 && k >= 3 ? 3 + (k - 2) % 4 : k;
            robot->qOurs[firstQ + k] = range.q + place;
        }
        for (int k = 0; k < range.vCount; ++k) {
            robot->vOurs[firstV + k] = range.v + k;
        }
    }
}

static void rgOpenRobot(rgRobot* robot, const char* name, const char* file) {
    char path[128];
    snprintf(path, sizeof(path), "rbd/%s.json", name);
    robot->root = rgReadJson(rgDataPath(path));
    assert_non_null(robot->root);
    rgLoadDef load = rgDefaultLoadDef();
    load.meshes = rg_meshesNone;
    bool floats = strcmp(rgJson_Text(robot->root, "kind"), "urdf_ff") == 0;
    load.base = floats ? rg_baseFloating : rg_baseFromFile;
    snprintf(path, sizeof(path), "rbd/urdf/%s", file);
    robot->def = rgLoad(path, &load);
    robot->model = rgCompile(robot->def);
    robot->nq = rgModel_Info(robot->model).qCount;
    robot->nv = rgModel_Info(robot->model).vCount;
    assert_int_equal(robot->nq, (int)rgJson_Number(robot->root, "nq"));
    assert_int_equal(robot->nv, (int)rgJson_Number(robot->root, "nv"));
    rgMatchJoints(robot);
    rgDynamicsDef def = rgDefaultDynamicsDef(robot->model);
    assert_int_equal(rgCreateDynamics(robot->model, &def, &robot->dynamics), rg_ok);
}

// One of the state's vectors in our order.
static void rgTakeVector(const rgJson* state, const char* key, const int* ours, int count,
                         double* out) {
    double theirs[MAX_V];
    assert_int_equal(rgJson_Flatten(rgJson_Find(state, key), theirs, MAX_V), count);
    for (int i = 0; i < count; ++i) {
        out[ours[i]] = theirs[i];
    }
}

// robot->actual, a vector in our order, against theirs.
static void rgExpectVector(rgRobot* robot, const rgJson* state, const char* key, double tolerance) {
    rgTakeVector(state, key, robot->vOurs, robot->nv, robot->expected);
    rgExpectRelative(key, robot->actual, robot->expected, robot->nv, tolerance);
}

// robot->actual, rows of nv entries in our order, against theirs; rows are permuted when asked.
static void rgExpectMatrix(rgRobot* robot, const rgJson* item, const char* key, int rowCount,
                           bool permuteRows) {
    static double theirs[MAX_V * MAX_V];
    int nv = robot->nv;
    assert_int_equal(rgJson_Flatten(rgJson_Find(item, key), theirs, MAX_V * MAX_V), rowCount * nv);
    for (int i = 0; i < rowCount; ++i) {
        for (int k = 0; k < nv; ++k) {
            int row = permuteRows ? robot->vOurs[i] : i;
            robot->expected[row * nv + robot->vOurs[k]] = theirs[i * nv + k];
        }
    }
    rgExpectRelative(key, robot->actual, robot->expected, rowCount * nv, 1e-12);
}

static void rgSetState(rgRobot* robot, const rgJson* state) {
    rgTakeVector(state, "q", robot->qOurs, robot->nq, robot->q);
    rgTakeVector(state, "v", robot->vOurs, robot->nv, robot->v);
    rgTakeVector(state, "a", robot->vOurs, robot->nv, robot->a);
    rgTakeVector(state, "tau", robot->vOurs, robot->nv, robot->tau);
    rgDynamics_SetState(robot->dynamics, robot->q, robot->v);
}

static rgFrameId rgFindFrame(const rgRobot* robot, const char* name) {
    rgFrameId frame = rgModel_FindFrame(robot->model, name);
    assert_true(frame.index1 > 0 || strcmp(name, "world") == 0 || strcmp(name, "universe") == 0);
    return frame;
}

static void rgCheckPoses(rgRobot* robot, const rgJson* state) {
    const rgJson* frames = rgJson_Find(robot->root, "body_frames");
    const rgJson* poses = rgJson_Find(state, "oMf");
    assert_true(frames->count > 5);
    for (int i = 0; i < frames->count; ++i) {
        const char* name = frames->items[i].kind == rg_jsonString
                               ? frames->items[i].text
                               : rgJson_Text(&frames->items[i], "name");
        rgPose pose = rgDynamics_FramePose(robot->dynamics, rgFindFrame(robot, name));
        rgMat3 m = rgMat3FromQuat(pose.q);
        memcpy(robot->actual, m.m, sizeof(m.m));
        memcpy(robot->actual + 9, &pose.p, sizeof(pose.p));
        assert_int_equal(rgJson_Flatten(&poses->items[i], robot->expected, 12), 12);
        rgExpectRelative(name, robot->actual, robot->expected, 12, 1e-12);
    }
}

static void rgCheckForces(rgRobot* robot, const rgJson* state) {
    rgDynamics_InverseDynamics(robot->dynamics, robot->a, NULL, robot->actual);
    rgExpectVector(robot, state, "rnea", 1e-12);
    rgDynamics_Bias(robot->dynamics, robot->actual);
    rgExpectVector(robot, state, "nle", 1e-12);
    rgDynamics_MassMatrix(robot->dynamics, robot->actual);
    rgExpectMatrix(robot, state, "M", robot->nv, true);
    assert_int_equal(rgDynamics_ForwardDynamics(robot->dynamics, robot->tau, NULL, robot->actual),
                     rg_ok);
    rgExpectVector(robot, state, "aba", 1e-10);
    rgVec3 center = rgDynamics_Center(robot->dynamics);
    assert_int_equal(rgJson_Flatten(rgJson_Find(state, "com"), robot->expected, 3), 3);
    rgExpectRelative("com", (const double[]){center.x, center.y, center.z}, robot->expected, 3,
                     1e-12);
}

static void rgCheckJacobians(rgRobot* robot, const rgJson* state) {
    const rgJson* list = rgJson_Find(state, "jac");
    assert_true(list->count > 0);
    for (int i = 0; i < list->count; ++i) {
        const rgJson* item = &list->items[i];
        rgFrameId frame = rgFindFrame(robot, rgJson_Text(item, "frame"));
        rgDynamics_FrameJacobian(robot->dynamics, frame, rg_referenceLocal, robot->actual);
        rgExpectMatrix(robot, item, "LOCAL", 6, false);
        rgDynamics_FrameJacobian(robot->dynamics, frame, rg_referenceAligned, robot->actual);
        rgExpectMatrix(robot, item, "LOCAL_WORLD_ALIGNED", 6, false);
    }
}

static void rgCheckRobot(const char* name, const char* file) {
    rgRobot* robot = calloc(1, sizeof(rgRobot));
    rgOpenRobot(robot, name, file);
    const rgJson* states = rgJson_Find(robot->root, "states");
    assert_int_equal(states->count, 20);
    for (int i = 0; i < states->count; ++i) {
        rgSetState(robot, &states->items[i]);
        rgCheckPoses(robot, &states->items[i]);
        rgCheckForces(robot, &states->items[i]);
        rgCheckJacobians(robot, &states->items[i]);
    }
    EXPECT_NEAR(rgModel_Info(robot->model).mass, rgJson_Number(robot->root, "total_mass"), 1e-12);
    rgDestroyDynamics(robot->dynamics);
    rgDestroyModel(robot->model);
    rgDestroyModelDef(robot->def);
    rgDestroyJson(robot->root);
    free(robot);
}

static void test_ur5(void** state) {
    (void)state;
    rgCheckRobot("ur5", "ur5_robot.urdf");
}

static void test_talos(void** state) {
    (void)state;
    rgCheckRobot("talos_reduced", "talos_reduced.urdf");
}

static void test_solo12(void** state) {
    (void)state;
    rgCheckRobot("solo12", "solo12.urdf");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_robots),
        cmocka_unit_test(test_ur5),
        cmocka_unit_test(test_talos),
        cmocka_unit_test(test_solo12),
    };
    if (!rgHaveData("robots") || !rgHaveData("rbd")) {
        return 77;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
