// Many bodies: walls that stand, mass ratios, a grasp, islands, threads.
#include "scene.h"

// The wall of the paper: rows of cubes of 0.2 m, row r with mass 10^r kg, mu 0.5.
static Scene Wall(bool pyramid, double tolerance) {
    Scene scene = SceneStart();
    ScenePlane(&scene, 0.5, rgQuatIdentity());
    for (int row = 0; row < 5; ++row) {
        int count = pyramid ? 5 - row : 3;
        for (int i = 0; i < count; ++i) {
            double x = 0.22 * (i - 0.5 * (count - 1));
            SceneCube(&scene, 0.1, pow(10, row), rgVec(x, 0, 0.1 + 0.2 * row), 0.5);
        }
    }
    rgWorldDef def = SceneWorldDef(1e-3, tolerance);
    SceneMake(&scene, &def);
    return scene;
}

static void RunWall(bool pyramid) {
    Scene scene = Wall(pyramid, 1e-6);
    double worst = 0, drift = 0, kinetic = 0;
    rgVec3 start[16];
    for (int b = 0; b < 15; ++b) {
        start[b] = SceneBodyPoint(&scene, (rgBodyId){b + 1});
    }
    for (int i = 0; i < 2000; ++i) {
        rgStepReport report = SceneStep(&scene);
        worst = fmax(worst, report.penetration);
        kinetic = fmax(kinetic, i > 10 ? rgWorld_KineticEnergy(scene.world) : 0);
    }
    for (int b = 0; b < 15; ++b) {
        rgVec3 moved = rgSub(SceneBodyPoint(&scene, (rgBodyId){b + 1}), start[b]);
        drift = fmax(drift, rgLength(moved));
    }
    print_message("%s: drift %.1e m, penetration %.1e m, kinetic energy %.1e J, unconverged %d\n",
                  pyramid ? "pyramid" : "3x5", drift, worst, rgWorld_KineticEnergy(scene.world),
                  rgWorld_UnconvergedSteps(scene.world));
    assert_true(drift < 1e-6);
    assert_true(worst < 1e-6);
    assert_true(rgWorld_KineticEnergy(scene.world) < 1e-9);
    SceneEnd(&scene);
}

static void test_pyramid_stands(void** state) {
    (void)state;
    RunWall(true);
}

static void test_straight_wall_stands(void** state) {
    (void)state;
    RunWall(false);
}

// Two fingers on sliders press a cube with a servo of limited force; it must not creep.
static void test_grasp_holds(void** state) {
    (void)state;
    Scene scene = SceneStart();
    rgBodyId fingers[2];
    for (int i = 0; i < 2; ++i) {
        double side = i == 0 ? -1 : 1;
        Solid finger =
            SolidOf(rg_shapeBox, rgVec(0.01, 0.02, 0.02), 0.1, rgVec(side * 0.031, 0, 1));
        fingers[i] = SceneBody(&scene, &finger, (rgBodyId){0});
        rgJointId slider =
            SceneJoint(&scene, fingers[i], rg_jointPrismatic, rgVec(0, 0, 0), rgVec(-side, 0, 0));
        rgActuatorDef motor = rgDefaultActuatorDef();
        motor.joint = slider;
        assert_int_equal(rgModelDef_AddActuator(scene.def, &motor, NULL), rg_ok);
    }
    rgBodyId cube = SceneCube(&scene, 0.02, 0.05, rgVec(0, 0, 1), 0.7);
    rgWorldDef def = SceneWorldDef(1e-3, 1e-12);
    SceneMake(&scene, &def);
    double press[2] = {2, 2};
    assert_int_equal(rgWorld_SetControl(scene.world, press), rg_ok);
    SceneRun(&scene, 500);
    rgVec3 before = rgSub(SceneBodyPoint(&scene, cube), SceneBodyPoint(&scene, fingers[0]));
    SceneRun(&scene, 9500);
    rgVec3 after = rgSub(SceneBodyPoint(&scene, cube), SceneBodyPoint(&scene, fingers[0]));
    print_message("grasp drift %.1e m\n", rgLength(rgSub(after, before)));
    EXPECT_NEAR(rgLength(rgSub(after, before)), 0, 1e-9);
    SceneEnd(&scene);
}

static Scene Pile(const rgWorldDef* def) {
    Scene scene = SceneStart();
    rgRandom random = {7};
    ScenePlane(&scene, 0.6, rgQuatIdentity());
    for (int i = 0; i < 40; ++i) {
        rgVec3 p = rgVec(0.35 * (i % 4), 0.35 * (i / 4 % 3), 0.2 + 0.3 * (i / 12));
        Solid solid =
            SolidOf(i % 3 == 0 ? rg_shapeSphere : rg_shapeBox, rgVec(0.1, 0.08, 0.12), 1, p);
        solid.pose.q = rgQuatFromRotationVector(
            rgVec(rgRandom_Normal(&random), rgRandom_Normal(&random), rgRandom_Normal(&random)));
        SceneFree(&scene, &solid);
    }
    SceneMake(&scene, def);
    return scene;
}

static uint64_t PileHash(int workers, int steps) {
    rgThreadPool* pool = NULL;
    rgWorldDef def = SceneWorldDef(2e-3, 1e-6);
    if (workers > 0) {
        assert_int_equal(rgCreateThreadPool(workers, NULL, &pool), rg_ok);
        def.tasks = rgThreadPool_Tasks(pool);
    }
    Scene scene = Pile(&def);
    SceneRun(&scene, steps);
    uint64_t hash = rgWorld_Hash(scene.world);
    SceneEnd(&scene);
    rgDestroyThreadPool(pool);
    return hash;
}

static void test_threads_give_the_same_bits(void** state) {
    (void)state;
    uint64_t serial = PileHash(0, 250);
    for (int workers = 1; workers <= 8; workers *= 2) {
        assert_true(PileHash(workers, 250) == serial);
    }
}

// Loops that a world hands out, the last index first.
static void RunBackwards(int count, rgTaskFcn* task, void* taskContext, void* context) {
    *(int*)context += 1;
    for (int i = count - 1; i >= 0; --i) {
        task(i, i % 3, taskContext);
    }
}

// A wall of bricks, one island of more than 200 contacts, hit by a cube.
static uint64_t WallHash(rgTasks tasks, double accuracy) {
    Scene scene = SceneStart();
    ScenePlane(&scene, 0.5, rgQuatIdentity());
    for (int i = 0; i < 81; ++i) {
        double x = 0.41 * (i % 9) + (i / 9 % 2 ? 0.2 : 0), z = 0.1 + 0.2 * (i / 9);
        Solid brick = SolidOf(rg_shapeBox, rgVec(0.2, 0.1, 0.1), 1, rgVec(x, 0, z));
        SceneFree(&scene, &brick);
    }
    rgBodyId cube = SceneCube(&scene, 0.2, 20, rgVec(1.6, -0.31, 1), 0.5);
    rgWorldDef def = SceneWorldDef(2e-3, 1e-6);
    def.tasks = tasks;
    def.contact.accuracy = accuracy;
    SceneMake(&scene, &def);
    rgSpatial speed = {.linear = rgVec(0, 4, 0)};
    assert_int_equal(rgWorld_SetBodyVelocity(scene.world, cube, speed), rg_ok);
    rgStepReport report = {0};
    for (int i = 0; i < 6; ++i) {
        report = SceneStep(&scene);
    }
    int count = 0;
    rgWorld_Contacts(scene.world, &count);
    assert_true(count > 250 && report.contact.islandCount <= 2);
    uint64_t hash = rgWorld_Hash(scene.world);
    SceneEnd(&scene);
    return hash;
}

static void test_threads_within_an_island_give_the_same_bits(void** state) {
    (void)state;
    for (int k = 0; k < 2; ++k) {
        double accuracy = k == 0 ? 0 : 1e-2;
        int loops = 0;
        uint64_t serial = WallHash((rgTasks){0}, accuracy);
        rgTasks backwards = {.run = RunBackwards, .workerCount = 3, .context = &loops};
        assert_true(WallHash(backwards, accuracy) == serial);
        assert_true(loops > 6 * 20); // the solver's own
        rgThreadPool* pool = NULL;
        assert_int_equal(rgCreateThreadPool(4, NULL, &pool), rg_ok);
        assert_true(WallHash(rgThreadPool_Tasks(pool), accuracy) == serial);
        rgDestroyThreadPool(pool);
    }
}

static void test_islands_equal_the_whole(void** state) {
    (void)state;
    rgWorldDef def = SceneWorldDef(2e-3, 1e-11), whole = def;
    whole.contact.splitIslands = false;
    Scene a = Pile(&def), b = Pile(&whole);
    SceneRun(&a, 60);
    SceneRun(&b, 60);
    int count;
    const double* p = rgWorld_Positions(a.world, &count);
    const double* q = rgWorld_Positions(b.world, NULL);
    for (int i = 0; i < count; ++i) {
        EXPECT_NEAR(p[i], q[i], 1e-7);
    }
    SceneEnd(&a);
    SceneEnd(&b);
}

static void test_deep_start_is_pushed_out(void** state) {
    (void)state;
    Scene scene = SceneStart();
    ScenePlane(&scene, 0.5, rgQuatIdentity());
    SceneCube(&scene, 0.1, 1, rgVec(0, 0, 0.02), 0.5);
    SceneCube(&scene, 0.1, 1, rgVec(0.05, 0, 0.1), 0.5);
    rgWorldDef def = SceneWorldDef(1e-3, 1e-8);
    SceneMake(&scene, &def);
    for (int i = 0; i < 1500; ++i) {
        rgStepReport report = SceneStep(&scene);
        assert_true(rgWorld_KineticEnergy(scene.world) < 5);
        assert_true(i < 1000 || report.penetration < 1e-5);
    }
    SceneEnd(&scene);
}

// A cube between floor and ceiling that are closer than it is high.
static Scene Jam(const rgWorldDef* def) {
    Scene scene = SceneStart();
    ScenePlane(&scene, 0.5, rgQuatIdentity());
    rgShapeDef ceiling = rgDefaultShapeDef();
    ceiling.kind = rg_shapePlane;
    ceiling.pose.p = rgVec(0, 0, 0.2 - 1e-7);
    ceiling.pose.q = (rgQuat){0, 1, 0, 0};
    ceiling.material.mu = 0.5;
    assert_int_equal(rgModelDef_AddShape(scene.def, &ceiling, NULL), rg_ok);
    SceneCube(&scene, 0.1, 1, rgVec(0, 0, 0.1), 0.5);
    SceneMake(&scene, def);
    return scene;
}

// It cannot leave either: velocities are solved, forces are those of its weight, and the projection
// leaves it in the middle.
static void test_jam_is_solved(void** state) {
    (void)state;
    rgWorldDef def = SceneWorldDef(1e-3, 1e-6);
    Scene scene = Jam(&def);
    for (int i = 0; i < 200; ++i) {
        rgStepReport report = SceneStep(&scene);
        assert_int_equal(report.contact.status, rg_contactSolved);
        assert_int_equal(report.regularizedRows, 0);
        assert_true(report.penetration < 1.1e-7);
        rgVec3 force = rgWorld_ContactForce(scene.world, (rgBodyId){1});
        EXPECT_NEAR(force.z, SCENE_G, 1e-4);
    }
    assert_int_equal(rgWorld_UnconvergedSteps(scene.world), 0);
    EXPECT_NEAR(SceneBodyPoint(&scene, (rgBodyId){1}).z, 0.1, 1.1e-7);
    assert_true(rgWorld_KineticEnergy(scene.world) < 1e-12);
    SceneEnd(&scene);
}

// A light cube that starts a micrometre deep, under a heavy one, comes out rather than sinks.
static void test_nothing_sinks(void** state) {
    (void)state;
    Scene scene = SceneStart();
    ScenePlane(&scene, 0.5, rgQuatIdentity());
    SceneCube(&scene, 0.1, 1, rgVec(0, 0, 0.1 - 1e-6), 0.5);
    SceneCube(&scene, 0.1, 1e4, rgVec(0, 0, 0.3 - 2e-6), 0.5);
    rgWorldDef def = SceneWorldDef(1e-3, 1e-6);
    SceneMake(&scene, &def);
    double last = 1;
    for (int i = 0; i < 500; ++i) {
        rgStepReport report = SceneStep(&scene);
        assert_true(report.penetration <= last + 2e-9); // a nanometre counts as touching
        last = report.penetration;
    }
    assert_true(last < 2e-7);
    SceneEnd(&scene);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pyramid_stands),
        cmocka_unit_test(test_straight_wall_stands),
        cmocka_unit_test(test_grasp_holds),
        cmocka_unit_test(test_threads_give_the_same_bits),
        cmocka_unit_test(test_threads_within_an_island_give_the_same_bits),
        cmocka_unit_test(test_islands_equal_the_whole),
        cmocka_unit_test(test_deep_start_is_pushed_out),
        cmocka_unit_test(test_jam_is_solved),
        cmocka_unit_test(test_nothing_sinks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
