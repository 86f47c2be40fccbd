// What sticks to things that turn stays there, and what rolls is not taken for it.
#include "scene.h"

// Drift of the last body in axes that turn with the first, in metres per second.
static double Creep(Scene* scene, double rate, double seconds) {
    rgVec3 first = {0}, last = {0};
    int steps = (int)lround(seconds * 1e3), half = steps / 2;
    rgBodyId carried = {rgModel_Info(scene->model).bodyCount};
    for (int i = 0; i <= steps; ++i) {
        double angle = rgWorld_Positions(scene->world, NULL)[0];
        rgQuat turn = rgQuatFromAxisAngle(rgVec(0, 0, 1), angle);
        last = rgRotateBack(turn, rgWorld_BodyPose(scene->world, carried).p);
        first = i == half ? last : first;
        SceneStep(scene);
    }
    EXPECT_NEAR(rgWorld_Velocities(scene->world, NULL)[0], rate, 1e-3);
    return rgLength(rgSub(last, first)) / ((steps - half) * 1e-3);
}

static void test_turntable(void** state) {
    (void)state;
    const char* text =
        "<mujoco><worldbody><body><joint name='j' axis='0 0 1'/>"
        "<geom type='cylinder' size='1 .05' mass='100' friction='2'/></body>"
        "<body pos='.5 0 .07'><freejoint/><geom type='box' size='.05 .05 .02' mass='1' "
        "friction='2'/></body></worldbody>"
        "<actuator><velocity joint='j' kv='1e5'/></actuator></mujoco>";
    {
        rgWorldDef def = SceneWorldDef(1e-3, 1e-9);
        Scene scene = SceneText(text, &def);
        double w = 5, q[8] = {0, 0.5, 0, 0.07, 1, 0, 0, 0}, v[7] = {w, 0, 0.5 * w, 0, 0, 0, w};
        assert_int_equal(rgWorld_SetState(scene.world, q, v), rg_ok);
        assert_int_equal(rgWorld_SetControl(scene.world, &w), rg_ok);
        double creep = Creep(&scene, w, 2);
        print_message("creeps at %.1e m/s\n", creep);
        assert_true(creep < 1e-6);
        int count;
        const rgContact* contacts = rgWorld_Contacts(scene.world, &count);
        for (int i = 0; i < count; ++i) {
            assert_true(hypot(contacts[i].slip[0], contacts[i].slip[1]) < 1e-6);
        }
        SceneEnd(&scene);
    }
}

static void test_turning_gripper(void** state) {
    (void)state;
    const char* text =
        "<mujoco><worldbody><body pos='0 0 1'><joint name='j' axis='0 0 1'/>"
        "<inertial pos='0 0 0' mass='20' diaginertia='1 1 1'/>"
        "<body pos='.4 -.06 0'><joint name='l' type='slide' axis='0 1 0'/>"
        "<geom type='box' size='.03 .01 .03' mass='.2' friction='1'/></body>"
        "<body pos='.4 .06 0'><joint name='r' type='slide' axis='0 -1 0'/>"
        "<geom type='box' size='.03 .01 .03' mass='.2' friction='1'/></body></body>"
        "<body pos='.4 0 1'><freejoint/><geom type='box' size='.02 .05 .02' mass='.1' "
        "friction='1'/></body></worldbody><equality><joint joint1='l' joint2='r'/></equality>"
        "<actuator><velocity joint='j' kv='1e5'/><motor joint='l'/></actuator></mujoco>";
    rgWorldDef def = SceneWorldDef(1e-3, 1e-9);
    Scene scene = SceneText(text, &def);
    double w = 2, v[9] = {w, 0, 0, 0, 0.4 * w, 0, 0, 0, w}, control[2] = {w, 40};
    assert_int_equal(rgWorld_SetState(scene.world, NULL, v), rg_ok);
    assert_int_equal(rgWorld_SetControl(scene.world, control), rg_ok);
    double creep = Creep(&scene, w, 4);
    print_message("creeps at %.1e m/s\n", creep);
    assert_true(creep < 1e-6);
    SceneEnd(&scene);
}

// Fingers that tumble with a box: the normals accelerate with it, 4 m/s^2 along them, and do no
// work as long as nothing slips. Without the arcs of normals the energy changes by 8e-4 in two
// seconds.
static void test_tumbling_gripper_keeps_energy(void** state) {
    (void)state;
    const char* text =
        "<mujoco><option gravity='0 0 0'/><worldbody><body><freejoint/><geom type='box' "
        "size='.1 .1 .1' mass='5' contype='0' conaffinity='0'/><body pos='-.03 0 .3'><joint "
        "name='l' type='slide' axis='1 0 0'/><geom type='box' size='.01 .05 .05' mass='.2'/>"
        "</body><body pos='.03 0 .3'><joint name='r' type='slide' axis='-1 0 0'/><geom type='box' "
        "size='.01 .05 .05' mass='.2'/></body></body><body pos='0 0 .3'><freejoint/><geom "
        "type='box' size='.02 .02 .02' mass='1'/></body></worldbody><actuator><position joint='l' "
        "kp='1e5' kv='1e2'/><motor joint='r'/></actuator></mujoco>";
    rgWorldDef def = SceneWorldDef(1e-3, 1e-9);
    Scene scene = SceneText(text, &def);
    double w = 3.65, control[2] = {50e-5, 50};
    double v[14] = {0, 0, 0, w, 0, w, 0, 0, 0, -0.3 * w, 0, w, 0, w};
    assert_int_equal(rgWorld_SetState(scene.world, NULL, v), rg_ok);
    assert_int_equal(rgWorld_SetControl(scene.world, control), rg_ok);
    SceneStep(&scene);
    double start = rgWorld_KineticEnergy(scene.world), most = 0;
    for (int i = 0; i < 2000; ++i) {
        SceneStep(&scene);
        most = fmax(most, fabs(rgWorld_KineticEnergy(scene.world) / start - 1));
    }
    print_message("energy changes by %.1e\n", most);
    assert_true(most < 3e-5);
    SceneEnd(&scene);
}

// A ball that rolls and pivots on a plane goes straight on: its contact moves over it, and no arc
// of its points is taken for slip.
static void test_rolling_ball_goes_straight(void** state) {
    (void)state;
    Scene scene = SceneStart();
    ScenePlane(&scene, 0.8, rgQuatIdentity());
    Solid ball = SolidOf(rg_shapeSphere, rgVec(0.1, 0, 0), 1, rgVec(0, 0, 0.1));
    rgBodyId id = SceneFree(&scene, &ball);
    rgWorldDef def = SceneWorldDef(1e-3, 1e-9);
    SceneMake(&scene, &def);
    double v[6] = {1, 0, 0, 0, 10, 20};
    assert_int_equal(rgWorld_SetState(scene.world, NULL, v), rg_ok);
    SceneRun(&scene, 1000);
    rgVec3 p = SceneBodyPoint(&scene, id);
    EXPECT_NEAR(p.x, 1, 1e-5);
    EXPECT_NEAR(p.y, 0, 1e-5);
    SceneEnd(&scene);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_turntable),
        cmocka_unit_test(test_turning_gripper),
        cmocka_unit_test(test_tumbling_gripper_keeps_energy),
        cmocka_unit_test(test_rolling_ball_goes_straight),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
