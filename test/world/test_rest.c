// Worlds at rest: impulses that hold are taken over, island by island, and nothing creeps.
#include "scene.h"

// Cubes of 0.2 m in straight columns, row r with the r-th power of a ratio in kg.
static void AddWall(Scene* scene, int columns, int rows, double ratio) {
    for (int row = 0; row < rows; ++row) {
        for (int i = 0; i < columns; ++i) {
            rgVec3 at = rgVec(0.22 * i, 0, 0.1 + 0.2 * row);
            SceneCube(scene, 0.1, pow(ratio, row), at, 0.5);
        }
    }
}

static Scene MakeWall(int columns, int rows, double ratio) {
    Scene scene = SceneStart();
    ScenePlane(&scene, 0.5, rgQuatIdentity());
    AddWall(&scene, columns, rows, ratio);
    rgWorldDef def = SceneWorldDef(1e-3, 1e-6);
    SceneMake(&scene, &def);
    return scene;
}

// Every solve leaves impulses that stop what the step before left; taken over as they are they
// would push the other way, and every second step would have to be solved.
static void test_most_steps_take_over(void** state) {
    (void)state;
    static const struct {
        int columns, rows;
        double ratio;
    } walls[] = {{1, 10, 1}, {4, 4, 1}, {3, 5, 2}};
    for (int k = 0; k < 3; ++k) {
        Scene scene = MakeWall(walls[k].columns, walls[k].rows, walls[k].ratio);
        SceneRun(&scene, 20);
        int count, solved = 0, steps = 1000;
        double start[400], drift = 0, worst = 0;
        const double* q = rgWorld_Positions(scene.world, &count);
        memcpy(start, q, (size_t)count * sizeof(double));
        for (int i = 0; i < steps; ++i) {
            rgStepReport report = SceneStep(&scene);
            solved += report.contact.factorizationCount > 0;
            worst = fmax(worst, report.contact.residual.total);
        }
        q = rgWorld_Positions(scene.world, NULL);
        for (int i = 0; i < count; ++i) {
            drift = fmax(drift, fabs(q[i] - start[i]));
        }
        print_message("%d x %d, ratio %g: %d of %d steps solved, drift %.1e m\n", walls[k].columns,
                      walls[k].rows, walls[k].ratio, solved, steps, drift);
        assert_true(solved < steps / 4);
        assert_true(worst <= 1e-6);
        assert_true(drift < 1e-9);
        SceneEnd(&scene);
    }
}

// The same wall, bit by bit, whether something slides, falls and rolls elsewhere or not.
static void test_what_rests_does_not_notice_what_moves(void** state) {
    (void)state;
    Scene alone = MakeWall(3, 4, 1), beside = SceneStart();
    ScenePlane(&beside, 0.5, rgQuatIdentity());
    AddWall(&beside, 3, 4, 1);
    rgBodyId slider = SceneCube(&beside, 0.1, 2, rgVec(0, 5, 0.1), 0.5);
    rgBodyId faller = SceneCube(&beside, 0.1, 2, rgVec(0, 9, 1), 0.5);
    rgWorldDef def = SceneWorldDef(1e-3, 1e-6);
    SceneMake(&beside, &def);
    rgSpatial speed = {.linear = rgVec(3, 0, 0)};
    assert_int_equal(rgWorld_SetBodyVelocity(beside.world, slider, speed), rg_ok);
    speed = (rgSpatial){.angular = rgVec(3, 1, 0)};
    assert_int_equal(rgWorld_SetBodyVelocity(beside.world, faller, speed), rg_ok);
    for (int i = 0; i < 500; ++i) {
        SceneStep(&alone);
        SceneStep(&beside);
        int count;
        const double* q = rgWorld_Positions(alone.world, &count);
        assert_memory_equal(q, rgWorld_Positions(beside.world, NULL),
                            (size_t)count * sizeof(double));
    }
    SceneEnd(&alone);
    SceneEnd(&beside);
}

// Whether impulses were solved for or taken over is part of the state.
static void test_any_step_can_be_repeated(void** state) {
    (void)state;
    Scene scene = MakeWall(1, 10, 1), other = MakeWall(1, 10, 1);
    size_t size = 0;
    char* bytes = NULL;
    for (int i = 0; i < 400; ++i) {
        SceneStep(&scene);
        if (i > 0) { // a step on from where the other was put before
            SceneStep(&other);
            assert_true(rgWorld_Hash(other.world) == rgWorld_Hash(scene.world));
        }
        size = rgWorld_StateSize(scene.world);
        bytes = realloc(bytes, size);
        assert_int_equal(rgWorld_Save(scene.world, bytes, size), rg_ok);
        SceneEnd(&other);
        other = MakeWall(1, 10, 1);
        assert_int_equal(rgWorld_Restore(other.world, bytes, size), rg_ok);
    }
    free(bytes);
    SceneEnd(&scene);
    SceneEnd(&other);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_most_steps_take_over),
        cmocka_unit_test(test_what_rests_does_not_notice_what_moves),
        cmocka_unit_test(test_any_step_can_be_repeated),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
