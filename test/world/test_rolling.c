// What rolls on one point, and bodies that spin on a tip: second order in the time step.
#include "scene.h"

#define PI 3.14159265358979323846

// A disc of radius r in steady motion on its rim, at 70 degrees to the floor, and how far from its
// circle it ends. gap.1.
static double CoinError(double dt) {
    const double r = 0.1, h = 0.002, tilt = 70 * PI / 180, W = 2, s = sin(tilt), c = cos(tilt);
    double across = r * r / 4 + h * h / 3, along = r * r / 2, k = W * (r * s + h * c);
    double spin = (SCENE_G * (h * s - r * c) + k * W * s * h + c * across * W * W * s) /
                  (W * s * along + k * r);
    double speed = W * s * h - spin * r, own = spin - W * c;
    Scene scene = SceneStart();
    ScenePlane(&scene, 10, rgQuatIdentity());
    Solid coin = SolidOf(rg_shapeCylinder, rgVec(r, h, 0), 1, rgVec(0, 0, r * s + h * c));
    coin.pose.q = rgQuatFromAxisAngle(rgVec(1, 0, 0), tilt);
    rgBodyId body = SceneFree(&scene, &coin);
    rgWorldDef def = SceneWorldDef(dt, 1e-11);
    SceneMake(&scene, &def);
    rgSpatial motion = {{speed, 0, 0}, {0, -s * own, W + c * own}};
    assert_int_equal(rgWorld_SetBodyVelocity(scene.world, body, motion), rg_ok);
    for (int i = 0; i < (int)lround(3 / dt); ++i) {
        SceneStep(&scene);
    }
    double angle = W * rgWorld_Time(scene.world), around = speed / W;
    rgVec3 at = SceneBodyPoint(&scene, body);
    SceneEnd(&scene);
    return hypot(at.x - around * sin(angle), at.y - around * (1 - cos(angle)));
}

// Points of the rim that only are near count for nothing: 79 mm at 1 ms.
static void test_coin(void** state) {
    (void)state;
    double coarse = CoinError(2e-3), fine = CoinError(1e-3);
    print_message("%.2e m at 2 ms, %.2e m at 1 ms\n", coarse, fine);
    assert_true(fine < 4e-4);
    EXPECT_NEAR(log2(coarse / fine), 2, 0.1);
}

// Share of its energy that a top at 300 rad/s gains on a tip of 10 um, and its tilt.
static double TopTilt(double dt, double* gain) {
    rgWorldDef def = SceneWorldDef(dt, 1e-11);
    def.friction = 1;
    Scene scene =
        SceneText("<mujoco><worldbody><geom type='plane' size='0 0 1'/><body pos='0 0 1e-5' "
                  "axisangle='1 0 0 45.83662361'><freejoint/><inertial pos='0 0 .06' mass='.5' "
                  "diaginertia='3e-4 3e-4 2e-4'/><geom size='1e-5'/></body></worldbody></mujoco>",
                  &def);
    rgSpatial motion = {{0, 0, 0}, {0, -300 * sin(0.8), 300 * cos(0.8)}};
    assert_int_equal(rgWorld_SetBodyVelocity(scene.world, (rgBodyId){1}, motion), rg_ok);
    double start = rgWorld_KineticEnergy(scene.world) + rgWorld_PotentialEnergy(scene.world);
    for (int i = 0; i < (int)lround(0.2 / dt); ++i) {
        SceneStep(&scene);
    }
    double end = rgWorld_KineticEnergy(scene.world) + rgWorld_PotentialEnergy(scene.world);
    *gain = end / start - 1;
    rgQuat q = rgWorld_BodyPose(scene.world, (rgBodyId){1}).q;
    SceneEnd(&scene);
    return acos(rgRotate(q, rgVec(0, 0, 1)).z);
}

static void test_peg_top(void** state) {
    (void)state;
    double gain, a = TopTilt(1e-3, &gain), b = TopTilt(5e-4, &gain), c = TopTilt(2.5e-4, &gain);
    print_message("tilt %.5f, %.5f, %.5f, energy %.1e\n", a, b, c, gain);
    EXPECT_NEAR(log2((a - b) / (b - c)), 2, 0.3);
    assert_true(fabs(gain) < 1e-6);
}

// A coin that falls flat, or rolls into a wall, carries on more points than one: nothing is gained.
static void test_coins_fall(void** state) {
    (void)state;
    rgRandom random = {35};
    double most = 0;
    for (int i = 0; i < rgFewer(60); ++i) {
        Scene scene = SceneStart();
        ScenePlane(&scene, 0.5, rgQuatIdentity());
        rgShapeDef wall = rgDefaultShapeDef();
        wall.kind = rg_shapeBox;
        wall.size = rgVec(0.1, 1, 1);
        wall.pose.p = rgVec(0.5, 0, 0);
        assert_int_equal(rgModelDef_AddShape(scene.def, &wall, NULL), rg_ok);
        Solid coin = SolidOf(rg_shapeCylinder, rgVec(0.1, 0.004, 0), 1, rgVec(0.1, 0, 0.101));
        double lean = rgRandom_Uniform(&random, 0.3, 0.5) * PI;
        coin.pose.q = rgQuatFromAxisAngle(rgVec(1, 0, 0), lean);
        rgBodyId body = SceneFree(&scene, &coin);
        rgWorldDef def = SceneWorldDef(1e-3, 1e-9);
        SceneMake(&scene, &def);
        double v = rgRandom_Uniform(&random, 0, 1);
        rgSpatial motion = {{v, 0, 0}, {0, v / 0.1, rgRandom_Uniform(&random, -10, 10)}};
        assert_int_equal(rgWorld_SetBodyVelocity(scene.world, body, motion), rg_ok);
        double least = INFINITY, largest = 0;
        for (int k = 0; k < 1500; ++k) {
            SceneStep(&scene);
            double kinetic = rgWorld_KineticEnergy(scene.world);
            double now = kinetic + rgWorld_PotentialEnergy(scene.world);
            least = fmin(least, now);
            largest = fmax(largest, kinetic);
            most = fmax(most, (now - least) / largest);
        }
        SceneEnd(&scene);
    }
    print_message("energy up by %.1e\n", most);
    assert_true(most < 2e-3);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_coin),
        cmocka_unit_test(test_peg_top),
        cmocka_unit_test(test_coins_fall),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
