// MJCF robots of RIGOR_DATA: every file loads and compiles; humanoid and Cassie agree with the
// reference values of another library; the same robot from URDF and MJCF is the same. Tolerances
// are relative to the largest entry of the array that is compared.
#include "json.h"
#include "model/def.h"
#include "rbd.h"
#include "rigor/rigor.h"
#include "same.h"
#include "support.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_V 64

static rgModel* rgOpenFile(const char* relative) {
    rgModelDef* def = rgLoadOrFail(rgDataPath(relative));
    rgModel* model = rgCompileOrFail(def);
    rgDestroyModelDef(def);
    return model;
}

// Sizes counted in the files: joints, bodies, geoms (those whose mesh is there).
static void test_all_files(void** state) {
    (void)state;
    static const struct {
        const char* file;
        int nq, nv, bodies, shapes, keys;
        double mass; // of everything; 0: not checked
    } files[] = {
        {"robots/allegro/allegro.xml", 16, 16, 21, 22, 1, 0.9549},
        {"robots/cassie/cassie_eq.xml", 35, 32, 25, 26, 1, 33.312},
        {"robots/cassie/cassie_eq_strict.xml", 35, 32, 25, 26, 1, 33.312},
        {"robots/cassie/cassie_noeq.xml", 35, 32, 25, 26, 1, 33.312},
        {"robots/cassie/cassie_noeq_strict.xml", 35, 32, 25, 26, 1, 33.312},
        {"robots/humanoid/humanoid.xml", 28, 27, 16, 20, 1, 0},
        {"robots/solo12/solo12.xml", 19, 18, 17, 18, 1, 2.50000279},
        {"robots/solo12/solo12_strict.xml", 19, 18, 17, 18, 1, 2.50000279},
        {"robots/talos/talos.xml", 39, 38, 60, 53, 1, 90.272192},
        {"robots/talos/talos_strict.xml", 39, 38, 60, 53, 1, 90.272192},
        {"robots/ur5/ur5.xml", 6, 6, 11, 9, 1, 20.9939},
        {"robots/wall/wall_3x5.xml", 112, 96, 16, 17, 0, 34333},
        {"robots/wall/wall_pyramid.xml", 112, 96, 16, 17, 0, 13345},
        {"robots/wall/wall_pyramid_stiff.xml", 112, 96, 16, 17, 0, 13345},
        {"rbd/urdf/cassie_menagerie.xml", 35, 32, 25, 19, 0, 33.312},
        {"rbd/urdf/humanoid_mujoco.xml", 28, 27, 16, 20, 0, 0},
    };
    for (int i = 0; i < (int)(sizeof(files) / sizeof(files[0])); ++i) {
        rgModel* model = rgOpenFile(files[i].file);
        rgModelInfo info = rgModel_Info(model);
        assert_int_equal(info.qCount, files[i].nq);
        assert_int_equal(info.vCount, files[i].nv);
        assert_int_equal(info.bodyCount, files[i].bodies);
        assert_int_equal(info.shapeCount, files[i].shapes);
        assert_int_equal(info.keyCount, files[i].keys);
        if (files[i].mass > 0) {
            EXPECT_NEAR(info.mass + info.staticMass, files[i].mass, 1e-9 * files[i].mass);
        }
        rgDestroyModel(model);
    }
}

typedef struct rgRobot {
    rgJson* root;
    rgModel* model;
    rgDynamics* dynamics;
    int nv;
    double q[MAX_V], v[MAX_V], a[MAX_V], tau[MAX_V];
    double expected[MAX_V * MAX_V], actual[MAX_V * MAX_V];
} rgRobot;

static void rgExpectArray(rgRobot* robot, const rgJson* state, const char* key, int count,
                          double tolerance) {
    int found = rgJson_Flatten(rgJson_Find(state, key), robot->expected, MAX_V * MAX_V);
    assert_int_equal(found, count);
    rgExpectRelative(key, robot->actual, robot->expected, count, tolerance);
}

// The reference measures joints from where their bodies are drawn; MJCF from there minus `ref`.
static void rgSetState(rgRobot* robot, const rgJson* state) {
    double theirs[MAX_V];
    rgJson_Flatten(rgJson_Find(state, "q"), theirs, MAX_V);
    rgConvertRbdPositions(robot->model, theirs, robot->q);
    for (int j = 1; j <= rgModel_Info(robot->model).jointCount; ++j) {
        rgJointRange range = rgModel_JointRange(robot->model, (rgJointId){j});
        if (range.qCount == 1) {
            robot->q[range.q] += rgModel_Joint(robot->model, (rgJointId){j})->reference;
        }
    }
    rgJson_Flatten(rgJson_Find(state, "v"), robot->v, MAX_V);
    rgJson_Flatten(rgJson_Find(state, "a"), robot->a, MAX_V);
    rgJson_Flatten(rgJson_Find(state, "tau"), robot->tau, MAX_V);
    rgDynamics_SetState(robot->dynamics, robot->q, robot->v);
}

static void rgCheckPoses(rgRobot* robot, const rgJson* state) {
    const rgJson* frames = rgJson_Find(robot->root, "body_frames");
    const rgJson* poses = rgJson_Find(state, "oMf");
    int count = 0;
    for (int i = 0; i < frames->count; ++i) {
        rgBodyId body = rgModel_FindBody(robot->model, rgJson_Text(&frames->items[i], "name"));
        if (body.index1 == 0) {
            continue; // the universe
        }
        rgPose pose = rgDynamics_BodyPose(robot->dynamics, body);
        rgMat3 m = rgMat3FromQuat(pose.q);
        memcpy(robot->actual, m.m, sizeof(m.m));
        memcpy(robot->actual + 9, &pose.p, sizeof(pose.p));
        assert_int_equal(rgJson_Flatten(&poses->items[i], robot->expected, 12), 12);
        rgExpectRelative("pose", robot->actual, robot->expected, 12, 1e-12);
        ++count;
    }
    assert_int_equal(count, rgModel_Info(robot->model).bodyCount);
}

static void rgCheckReference(const char* name, const char* file, double abaTolerance) {
    char path[128];
    rgRobot* robot = calloc(1, sizeof(rgRobot));
    snprintf(path, sizeof(path), "rbd/%s.json", name);
    robot->root = rgReadJson(rgDataPath(path));
    assert_non_null(robot->root);
    robot->model = rgOpenFile(file);
    robot->nv = rgModel_Info(robot->model).vCount;
    rgDynamicsDef def = rgDefaultDynamicsDef(robot->model);
    assert_int_equal(rgCreateDynamics(robot->model, &def, &robot->dynamics), rg_ok);
    assert_int_equal(robot->nv, (int)rgJson_Number(robot->root, "nv"));
    EXPECT_NEAR(rgModel_Info(robot->model).mass, rgJson_Number(robot->root, "total_mass"), 1e-12);
    const rgJson* states = rgJson_Find(robot->root, "states");
    assert_int_equal(states->count, 20);
    for (int i = 0; i < states->count; ++i) {
        const rgJson* at = &states->items[i];
        rgSetState(robot, at);
        rgCheckPoses(robot, at);
        rgDynamics_MassMatrix(robot->dynamics, robot->actual);
        rgExpectArray(robot, at, "M", robot->nv * robot->nv, 1e-12);
        rgDynamics_Bias(robot->dynamics, robot->actual);
        rgExpectArray(robot, at, "nle", robot->nv, 1e-12);
        rgDynamics_InverseDynamics(robot->dynamics, robot->a, NULL, robot->actual);
        rgExpectArray(robot, at, "rnea", robot->nv, 1e-12);
        assert_int_equal(
            rgDynamics_ForwardDynamics(robot->dynamics, robot->tau, NULL, robot->actual), rg_ok);
        rgExpectArray(robot, at, "aba", robot->nv, abaTolerance);
    }
    rgDestroyDynamics(robot->dynamics);
    rgDestroyModel(robot->model);
    rgDestroyJson(robot->root);
    free(robot);
}

static void test_humanoid(void** state) {
    (void)state;
    rgCheckReference("humanoid_mjcf", "rbd/urdf/humanoid_mujoco.xml", 1e-12);
}

// M has condition 9e6.
static void test_cassie(void** state) {
    (void)state;
    rgCheckReference("cassie_mjcf", "rbd/urdf/cassie_menagerie.xml", 2e-9);
}

// Two descriptions whose joints may come in different orders.
typedef struct rgTwo {
    rgModel *a, *b;
    rgDynamics *da, *db;
    int nv;
    int qMap[MAX_V], vMap[MAX_V]; // place in b of each coordinate of a
    double zero[MAX_V];           // MJCF ref, which URDF has not
    double qa[MAX_V], qb[MAX_V], va[MAX_V], vb[MAX_V];
    double x[MAX_V * MAX_V], y[MAX_V * MAX_V], z[MAX_V * MAX_V];
} rgTwo;

static void rgMatchJoints(rgTwo* two) {
    for (int j = 1; j <= rgModel_Info(two->a).jointCount; ++j) {
        const rgJointDef* joint = rgModel_Joint(two->a, (rgJointId){j});
        rgJointRange ra = rgModel_JointRange(two->a, (rgJointId){j});
        rgJointId other = ra.qCount == 7 ? (rgJointId){1} : rgModel_FindJoint(two->b, joint->name);
        assert_true(other.index1 > 0);
        rgJointRange rb = rgModel_JointRange(two->b, other);
        assert_int_equal(ra.qCount, rb.qCount);
        for (int k = 0; k < ra.qCount; ++k) {
            two->qMap[ra.q + k] = rb.q + k;
            two->zero[ra.q + k] = ra.qCount == 1 ? joint->reference : 0;
        }
        for (int k = 0; k < ra.vCount; ++k) {
            two->vMap[ra.v + k] = rb.v + k;
        }
    }
}

static rgDynamics* rgOpenDynamics(const rgModel* model) {
    rgDynamics* dynamics = NULL;
    rgDynamicsDef def = rgDefaultDynamicsDef(model);
    assert_int_equal(rgCreateDynamics(model, &def, &dynamics), rg_ok);
    return dynamics;
}

static void rgSetBoth(rgTwo* two, uint64_t seed) {
    rgRandom random = {.state = seed};
    rgModel_RandomConfiguration(two->a, seed, two->qa);
    for (int i = 0; i < rgModel_Info(two->a).qCount; ++i) {
        two->qb[two->qMap[i]] = two->qa[i] - two->zero[i];
    }
    for (int i = 0; i < two->nv; ++i) {
        two->va[i] = rgRandom_Uniform(&random, -2, 2);
        two->vb[two->vMap[i]] = two->va[i];
    }
    rgDynamics_SetState(two->da, two->qa, two->va);
    rgDynamics_SetState(two->db, two->qb, two->vb);
}

static void rgCompareDynamics(rgTwo* two, double tolerance) {
    int nv = two->nv;
    rgDynamics_MassMatrix(two->da, two->x);
    rgDynamics_MassMatrix(two->db, two->y);
    for (int i = 0; i < nv; ++i) {
        for (int k = 0; k < nv; ++k) {
            two->z[i * nv + k] = two->y[two->vMap[i] * nv + two->vMap[k]];
        }
    }
    rgExpectRelative("M", two->z, two->x, nv * nv, tolerance);
    rgDynamics_Bias(two->da, two->x);
    rgDynamics_Bias(two->db, two->y);
    for (int i = 0; i < nv; ++i) {
        two->z[i] = two->y[two->vMap[i]];
    }
    rgExpectRelative("bias", two->z, two->x, nv, tolerance);
}

static double rgNearest(const rgShapeDef* shape, rgPose pose, rgVec3 point) {
    double best = INFINITY;
    for (int i = 0; i < shape->mesh->vertexCount; ++i) {
        const double* v = shape->mesh->vertices + 3 * i;
        best = fmin(best, rgLength(rgSub(rgPose_Point(pose, rgVec(v[0], v[1], v[2])), point)));
    }
    return best;
}

// Every shape of a that collides has one of the same kind, size and place on b's body of that name.
static bool rgHasTwin(const rgTwo* two, rgShapeId id) {
    const rgShapeDef* s = rgModel_Shape(two->a, id);
    rgPose pose = rgDynamics_ShapePose(two->da, id);
    for (int j = 1; j <= rgModel_Info(two->b).shapeCount; ++j) {
        const rgShapeDef* t = rgModel_Shape(two->b, (rgShapeId){j});
        rgPose other = rgDynamics_ShapePose(two->db, (rgShapeId){j});
        bool hull = s->kind == rg_shapeHull;
        bool mesh = t->kind == rg_shapeHull || t->kind == rg_shapeMesh;
        if (t->visualOnly || (hull ? !mesh : t->kind != s->kind)) {
            continue;
        }
        double error = 0;
        if (hull) {
            for (int i = 0; i < s->mesh->vertexCount && error < 1e-5; ++i) {
                const double* v = s->mesh->vertices + 3 * i;
                error =
                    fmax(error, rgNearest(t, other, rgPose_Point(pose, rgVec(v[0], v[1], v[2]))));
            }
        } else {
            rgVec3 za = rgRotate(pose.q, rgVec(0, 0, 1)), zb = rgRotate(other.q, rgVec(0, 0, 1));
            double turned = s->kind == rg_shapeSphere ? 0 : rgLength(rgCross(za, zb));
            error = fmax(rgLength(rgSub(pose.p, other.p)),
                         fmax(turned, rgLength(rgSub(s->size, t->size))));
        }
        if (error < 1e-5) {
            return true;
        }
    }
    return false;
}

// What the MJCF files say on purpose: where a fixed base stands, and inertias that no body can
// have, which balanceinertia replaced.
static void rgAgree(rgModelDef* mjcf, rgModelDef* urdf) {
    int mended = 0;
    for (int i = 0; i < urdf->bodyCount; ++i) {
        rgBodyDef* theirs = &urdf->bodies[i];
        for (int j = 0; j < mjcf->bodyCount; ++j) {
            rgBodyDef* ours = &mjcf->bodies[j];
            if (strcmp(ours->name, theirs->name) != 0) {
                continue;
            }
            if (theirs->parent.index1 == 0) {
                theirs->pose = ours->pose;
            }
            if (rgInertia_Check(&theirs->inertia) == rg_inertiaTriangle) {
                assert_int_equal(rgInertia_Check(&ours->inertia), rg_inertiaFine);
                ours->inertia = theirs->inertia;
                ++mended;
            }
        }
    }
    assert_true(mended < mjcf->bodyCount);
}

static void rgCheckTwo(const char* mjcf, const char* urdf, double tolerance) {
    rgTwo* two = calloc(1, sizeof(rgTwo));
    rgLoadDef load = rgDefaultLoadDef();
    rgModelDef *ours = rgLoadOrFail(rgDataPath(mjcf)), *theirs = NULL;
    load.base = ours->joints[0].kind == rg_jointFree ? rg_baseFloating : rg_baseFromFile;
    assert_int_equal(rgLoadModelDef(rgDataPath(urdf), &load, NULL, &theirs), rg_ok);
    rgAgree(ours, theirs);
    two->a = rgCompileOrFail(ours);
    two->b = rgCompileOrFail(theirs);
    two->nv = rgModel_Info(two->a).vCount;
    assert_int_equal(rgModel_Info(two->b).vCount, two->nv);
    two->da = rgOpenDynamics(two->a);
    two->db = rgOpenDynamics(two->b);
    rgMatchJoints(two);
    for (uint64_t k = 1; k <= 3; ++k) {
        rgSetBoth(two, k);
        rgCompareDynamics(two, tolerance);
        for (int i = 1; i <= rgModel_Info(two->a).shapeCount; ++i) {
            const rgShapeDef* shape = rgModel_Shape(two->a, (rgShapeId){i});
            if (shape->kind != rg_shapePlane && !rgHasTwin(two, (rgShapeId){i})) {
                fail_msg("%s: shape %d '%s' has no twin in %s", mjcf, i,
                         shape->name != NULL ? shape->name : "", urdf);
            }
        }
    }
    rgDestroyDynamics(two->da);
    rgDestroyDynamics(two->db);
    rgDestroyModel(two->a);
    rgDestroyModel(two->b);
    rgDestroyModelDef(ours);
    rgDestroyModelDef(theirs);
    free(two);
}

// The MJCF files hold 9 digits.
static void test_same_robots(void** state) {
    (void)state;
    rgCheckTwo("robots/ur5/ur5.xml", "robots/ur5/ur5.urdf", 1e-6);
    rgCheckTwo("robots/solo12/solo12.xml", "robots/solo12/solo12.urdf", 1e-6);
    rgCheckTwo("robots/talos/talos.xml", "robots/talos/talos.urdf", 1e-6);
    rgCheckTwo("robots/humanoid/humanoid.xml", "robots/humanoid/humanoid.urdf", 1e-6);
    rgCheckTwo("robots/cassie/cassie_noeq.xml", "robots/cassie/cassie_noeq.urdf", 1e-6);
    rgCheckTwo("robots/allegro/allegro.xml", "robots/allegro/allegro.urdf", 1e-6);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_files),
        cmocka_unit_test(test_humanoid),
        cmocka_unit_test(test_cassie),
        cmocka_unit_test(test_same_robots),
    };
    if (!rgHaveData("robots") || !rgHaveData("rbd")) {
        return 77;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
