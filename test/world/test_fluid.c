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
    const char* const files[] = {RIGOR_SOURCE_DIR "/test/io/mjcf/motion/fluid.xml",
                                 RIGOR_SOURCE_DIR "/test/io/mjcf/motion/fluid_ellipsoid.xml"};
    for (int i = 0; i < 2; ++i) {
        rgWorldDef def = SceneWorldDef(1e-3, 1e-12);
        Scene scene = FileScene(files[i], &def);
        RoundTrips(&scene, 4, 10);
        SceneEnd(&scene);
    }
}

// ---- ellipsoids

#define ELLIPSOID(option, geom)                                                                    \
    "<mujoco><option gravity='0 0 0' " option "/><worldbody><body><freejoint/><geom " geom         \
    " fluidshape='ellipsoid'/></body></worldbody></mujoco>"

// Acceleration of the first body in a short step from a velocity in its own axes, which are those
// of the world.
static rgVec3 FluidForce(const char* text, const double v[6], double mass) {
    const double dt = 1e-7;
    Scene scene = TextScene(text, dt);
    double q[7] = {0, 0, 0, 1, 0, 0, 0};
    assert_int_equal(rgWorld_SetState(scene.world, q, v), rg_ok);
    rgVec3 before = rgWorld_BodyVelocity(scene.world, (rgBodyId){1}).linear;
    SceneStep(&scene);
    rgVec3 after = rgWorld_BodyVelocity(scene.world, (rgBodyId){1}).linear;
    SceneEnd(&scene);
    return rgScale(mass / dt, rgSub(after, before));
}

// Stokes, 6 pi mu r v; drag rho C pi r^2 v^2 with C of blunt bodies; a ball that spins: what
// Magnus' lift adds, rho V w x v, less half of that, which the fluid around a ball weighs.
static void test_ball_in_fluid(void** state) {
    (void)state;
    const double r = 0.1, v[6] = {2, 0, 0, 0, 0, 3}, volume = 4 * PI / 3 * r * r * r;
    rgVec3 f = FluidForce(ELLIPSOID("viscosity='3'", "size='0.1' mass='2'"), v, 2);
    EXPECT_NEAR(f.x, -6 * PI * 3 * r * 2, 1e-4);
    EXPECT_NEAR(f.y, 0, 1e-4);
    f = FluidForce(ELLIPSOID("density='50'", "size='0.1' mass='2'"), v, 2);
    EXPECT_NEAR(f.x, -50 * 0.5 * PI * r * r * 4, 1e-4);
    EXPECT_NEAR(f.y, 0.5 * 50 * volume * 3 * 2, 1e-4);
    EXPECT_NEAR(f.z, 0, 1e-4);
}

// A disc of radius r and thickness 2 h in a flow at 45 degrees to its face: lift by the area and
// the normal of fluid.8, which here are pi r ((r^4 + h^4)/(r^2 + h^2))^1/2 and along (h/r, 0, r/h).
static void test_disc_lifts(void** state) {
    (void)state;
    const double r = 0.1, h = 0.01, speed = 2, at = speed * sqrt(0.5);
    const double v[6] = {at, 0, at, 0, 0, 0};
    rgVec3 f = FluidForce(
        ELLIPSOID("density='30'", "type='ellipsoid' size='.1 .1 .01' mass='1' fluidcoef='0 0 0 2'"),
        v, 1);
    double s = sqrt((r * r * r * r + h * h * h * h) / (r * r + h * h));
    rgVec3 n = rgVec(h / r, 0, r / h), u = rgVec(sqrt(0.5), 0, sqrt(0.5));
    n = rgScale(1 / rgLength(n), n);
    double lift = 2 * 30 * PI * r * s * rgDot(u, n);
    rgVec3 V = rgScale(speed, u), expected = rgScale(lift, rgCross(rgCross(n, V), V));
    EXPECT_NEAR(f.x, expected.x, 2e-4);
    EXPECT_NEAR(f.z, expected.z, 2e-4);
    EXPECT_NEAR(f.x + f.z, 0, 1e-4); // across the flow
    assert_true(f.x > 1);
}

// Drag only takes energy, and lift, Magnus' force and the fluid that moves along do no work.
static void test_ellipsoids_are_passive(void** state) {
    (void)state;
    const double densities[] = {1.2, 20, 1e5}, viscosities[] = {2e-5, 0.5, 1e4};
    for (int i = 0; i < 3; ++i) {
        Scene scene = {0};
        rgWorldDef def = SceneWorldDef(1e-3, 1e-11);
        assert_int_equal(rgLoadModelDef(RIGOR_SOURCE_DIR "/test/io/mjcf/motion/fluid_ellipsoid.xml",
                                        NULL, NULL, &scene.def),
                         rg_ok);
        rgModelOptions options = rgModelDef_Info(scene.def).options;
        options.density = densities[i];
        options.viscosity = viscosities[i];
        options.wind = options.gravity = rgVec(0, 0, 0);
        options.hasGravity = true;
        rgModelDef_SetOptions(scene.def, &options);
        SceneMake(&scene, &def);
        assert_int_equal(rgWorld_Reset(scene.world, (rgKeyId){1}), rg_ok);
        double last = rgWorld_KineticEnergy(scene.world), first = last;
        for (int k = 0; k < 400; ++k) {
            SceneStep(&scene);
            double now = rgWorld_KineticEnergy(scene.world);
            assert_true(now <= last * (1 + 1e-5) + 1e-7 * first);
            last = now;
        }
        print_message("density %g: %.3g of the energy is left\n", densities[i], last / first);
        assert_true(i < 2 || last < 1e-3 * first);
        SceneEnd(&scene);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_decay),      cmocka_unit_test(test_terminal),
        cmocka_unit_test(test_passive),    cmocka_unit_test(test_reaction),
        cmocka_unit_test(test_inverse),    cmocka_unit_test(test_ball_in_fluid),
        cmocka_unit_test(test_disc_lifts), cmocka_unit_test(test_ellipsoids_are_passive)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
