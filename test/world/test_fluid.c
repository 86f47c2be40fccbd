// Bodies in a fluid: closed forms, energy, thick fluids, and what wind and reactions are.
#include "inverse.h"
#include "source_dir.h"

static Scene TextScene(const char* text, double dt) {
    rgWorldDef def = SceneWorldDef(dt, 1e-11);
    return SceneText(text, &def);
}

#define BALL(option)                                                                               \
    "<mujoco><option " option "/><worldbody><body><freejoint/><geom type='sphere' size='0.1' "     \
    "mass='2'/></body></worldbody></mujoco>"
#define PI 3.14159265358979323846

// A sphere is a cube of side r sqrt(8/5). Viscous: v = v0 exp(-3 pi mu d t/m), and likewise spin.
static void test_decay(void** state) {
    (void)state;
    Scene scene = TextScene(BALL("gravity='0 0 0' viscosity='3'"), 1e-3);
    double q[7] = {0, 0, 0, 1, 0, 0, 0}, v[6] = {1, 0.5, 0, 0, 0, 2};
    double side = 0.1 * sqrt(2.4), moment = 0.4 * 2 * 0.01;
    assert_int_equal(rgWorld_SetState(scene.world, q, v), rg_ok);
    SceneRun(&scene, 500);
    rgSpatial now = rgWorld_BodyVelocity(scene.world, (rgBodyId){1});
    EXPECT_NEAR(now.linear.x, exp(-3 * PI * 3 * side * 0.5 / 2), 2e-5);
    EXPECT_NEAR(now.linear.y, 0.5 * exp(-3 * PI * 3 * side * 0.5 / 2), 1e-5);
    double turn = PI * 3 * side * side * side / moment;
    EXPECT_NEAR(now.angular.z, 2 * exp(-turn * 0.5), 5e-4);
    SceneEnd(&scene);
}

// It falls until drag carries it: m g = rho b^2 v^2/2, and is carried along by the wind.
static void test_terminal(void** state) {
    (void)state;
    Scene scene = TextScene(BALL("density='50' wind='1.5 0 0'"), 1e-3);
    SceneRun(&scene, 20000);
    rgSpatial now = rgWorld_BodyVelocity(scene.world, (rgBodyId){1});
    double side = 0.1 * sqrt(2.4);
    EXPECT_NEAR(now.linear.z, -sqrt(2 * 2 * SCENE_G / (50 * side * side)), 1e-6);
    assert_true(now.linear.x > 1.3 && now.linear.x < 1.5);
    SceneEnd(&scene);
}

// Without wind and motors energy only falls, in air as in something thicker than tar; and there
// everything comes to a stop without turning around.
static void test_passive(void** state) {
    (void)state;
    const double densities[] = {1.2, 1000, 1e6, 1e9}, viscosities[] = {2e-5, 1e-3, 100, 1e6};
    const char* file = RIGOR_SOURCE_DIR "/test/io/mjcf/motion/fluid.xml";
    for (int i = 0; i < 4; ++i) {
        Scene scene = {0};
        rgWorldDef def = SceneWorldDef(2e-3, 1e-11);
        assert_int_equal(rgLoadModelDef(file, NULL, NULL, &scene.def), rg_ok);
        rgModelOptions options = rgModelDef_Info(scene.def).options;
        options.density = densities[i];
        options.viscosity = viscosities[i];
        options.wind = options.gravity = rgVec(0, 0, 0);
        options.hasGravity = true;
        rgModelDef_SetOptions(scene.def, &options);
        SceneMake(&scene, &def);
        assert_int_equal(rgWorld_Reset(scene.world, (rgKeyId){1}), rg_ok);
        double last = rgWorld_KineticEnergy(scene.world), first = last;
        for (int k = 0; k < 300; ++k) {
            SceneStep(&scene);
            double now = rgWorld_KineticEnergy(scene.world);
            assert_true(now <= last * (1 + 1e-6) + 1e-9 * first);
            last = now;
        }
        assert_true(i < 2 || last < 1e-2 * first);
        SceneEnd(&scene);
    }
}

// A wing on a slider in the wind: the slider holds what the wind pushes across it.
static void test_reaction(void** state) {
    (void)state;
    Scene scene = TextScene(
        "<mujoco><option gravity='0 0 0' density='2' wind='0 3 0'/><worldbody><body><joint "
        "type='slide' axis='1 0 0'/><geom type='box' size='0.1 0.2 0.3' mass='1'/></body>"
        "</worldbody></mujoco>",
        1e-3);
    SceneStep(&scene);
    rgVec3 held = rgWorld_BodyReaction(scene.world, (rgBodyId){1}).linear;
    EXPECT_NEAR(held.y, -0.5 * 2 * 0.2 * 0.6 * 9, 1e-9);
    EXPECT_NEAR(fabs(held.x) + fabs(held.z), 0, 1e-9);
    SceneEnd(&scene);
}

static void test_inverse(void** state) {
    (void)state;
    rgWorldDef def = SceneWorldDef(1e-3, 1e-12);
    Scene scene = FileScene(RIGOR_SOURCE_DIR "/test/io/mjcf/motion/fluid.xml", &def);
    RoundTrips(&scene, 4, 10);
    SceneEnd(&scene);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_decay), cmocka_unit_test(test_terminal),
        cmocka_unit_test(test_passive), cmocka_unit_test(test_reaction),
        cmocka_unit_test(test_inverse)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
