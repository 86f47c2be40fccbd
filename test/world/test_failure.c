// What a world shows after a step that failed.
#include "scene.h"
#include "world/world.h"

// A first step that fails after contacts were found has no rows to read. Found by fuzzing.
static void test_failed_step(void** state) {
    (void)state;
    rgModel* model = NULL;
    rgWorld* world = NULL;
    int count = -1, constraints = -1;
    assert_int_equal(rgLoadModel("quadruped", NULL, NULL, &model), rg_ok);
    assert_int_equal(rgCreateWorld(model, NULL, NULL, &world), rg_ok);
    rgPose low = {rgVec(0, 0, 0.05), rgQuatIdentity()}; // in the floor
    assert_int_equal(rgWorld_SetBodyPose(world, (rgBodyId){1}, low), rg_ok);
    rgSpatial fast = {rgVec(0, 0, 0), rgVec(1e200, 1e200, 0)};
    assert_int_equal(rgWorld_SetBodyVelocity(world, (rgBodyId){1}, fast), rg_ok);
    assert_int_equal(rgWorld_Step(world, NULL), rg_errorNumeric);
    rgWorld_Contacts(world, &count);
    rgWorld_Constraints(world, &constraints);
    assert_int_equal(count, 0);
    assert_int_equal(constraints, 0);
    rgWorld_Touches(world, &count);
    assert_int_equal(count, 0);
    rgWorld_Sensors(world, &count);
    rgDestroyWorld(world);
    rgDestroyModel(model);
}

// Speeds that nothing explains: the next step fails, names the body, and keeps the state.
static void test_runaway(void** state) {
    (void)state;
    Scene scene = SceneStart();
    ScenePlane(&scene, 0.5, rgQuatIdentity());
    SceneCube(&scene, 0.1, 1, rgVec(0, 0, 0.1), 0.5);
    rgBodyId body = SceneCube(&scene, 0.1, 1, rgVec(1, 0, 1), 0.5);
    rgWorldDef def = SceneWorldDef(1e-3, 1e-8);
    SceneMake(&scene, &def);
    SceneRun(&scene, 1000); // falls, and hits the floor
    scene.world->state.v[6] = 5000;
    int steps = 0;
    while (steps < 20 && rgWorld_Step(scene.world, NULL) == rg_ok) {
        ++steps;
    }
    assert_true(steps < 10);
    double speed, x = SceneBodyPoint(&scene, body).x;
    assert_int_equal(rgWorld_FastestBody(scene.world, &speed).index1, body.index1);
    assert_true(speed > 4000);
    rgStepReport report;
    assert_int_equal(rgWorld_Step(scene.world, &report), rg_errorNumeric);
    assert_true(x == SceneBodyPoint(&scene, body).x);
    assert_int_equal(rgWorld_Forward(scene.world, NULL), rg_ok);
    SceneSetVelocity(&scene, 6, 1, (double[]){5000}); // whoever sets it knows
    SceneRun(&scene, 50);
    SceneEnd(&scene);
}

// A force that does work without end: no body passes the speed of light.
static void test_driven_explosion(void** state) {
    (void)state;
    Scene scene = SceneStart();
    rgBodyId body = SceneCube(&scene, 0.1, 1, rgVec(0, 0, 0), 0.5);
    rgWorldDef def = SceneWorldDef(1e-3, 1e-8);
    SceneMake(&scene, &def);
    SceneSetVelocity(&scene, 0, 1, (double[]){1});
    int steps = 0;
    for (; steps < 1000; ++steps) {
        double force[6] = {-3000 * rgWorld_Velocities(scene.world, NULL)[0]};
        assert_int_equal(rgWorld_SetForce(scene.world, force), rg_ok);
        if (rgWorld_Step(scene.world, NULL) != rg_ok) {
            break;
        }
    }
    assert_true(steps > 10 && steps < 100);
    assert_true(rgWorld_KineticEnergy(scene.world) < 1e17);
    assert_int_equal(rgWorld_FastestBody(scene.world, NULL).index1, body.index1);
    SceneEnd(&scene);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_failed_step),
        cmocka_unit_test(test_runaway),
        cmocka_unit_test(test_driven_explosion),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
