// One body and one floor: sliding, creeping, rolling, standing. Exact answers of the discrete step.
#include "scene.h"

static rgQuat Tilt(double angle) {
    return rgQuatFromAxisAngle(rgVec(0, 1, 0), angle);
}

// v loses mu g dt every step. Half of every step goes with the velocity at either end, or all of it
// with that of the end.
static double DiscreteSlide(double v, double mu, double dt, rgIntegrator integrator) {
    double x = 0;
    while (v > 0) {
        double next = fmax(0, v - mu * SCENE_G * dt);
        x += integrator == rg_integratorEuler ? dt * next : 0.5 * dt * (v + next);
        v = next;
    }
    return x;
}

static void test_cube_stops(void** state) {
    (void)state;
    EXPECT_NEAR(DiscreteSlide(1, 0.5, 1e-3, rg_integratorMidpoint), 0.101937, 1e-6);
    for (int k = 0; k < 12; ++k) {
        double angle = k * 0.5235987755982988 + 0.1 * (k > 5);
        Scene scene = SceneStart();
        ScenePlane(&scene, 0.5, rgQuatIdentity());
        rgBodyId cube = SceneCube(&scene, 0.1, 1, rgVec(0, 0, 0.1), 0.5);
        rgWorldDef def = SceneWorldDef(1e-3, 1e-9);
        def.integrator = k % 2 == 0 ? rg_integratorMidpoint : rg_integratorEuler;
        SceneMake(&scene, &def);
        SceneSetVelocity(&scene, 0, 2, (double[]){cos(angle), sin(angle)});
        double highest = 0;
        for (int i = 0; i < 400; ++i) {
            rgStepReport report = SceneStep(&scene);
            assert_int_equal(report.contact.status, rg_contactSolved);
            highest = fmax(highest, fabs(SceneBodyPoint(&scene, cube).z - 0.1));
        }
        rgVec3 p = SceneBodyPoint(&scene, cube);
        EXPECT_NEAR(hypot(p.x, p.y), DiscreteSlide(1, 0.5, 1e-3, def.integrator), 1e-6);
        EXPECT_NEAR(atan2(p.y, p.x), atan2(sin(angle), cos(angle)), 1e-5);
        EXPECT_NEAR(highest, 0, 1e-9);
        SceneEnd(&scene);
    }
}

static Scene Incline(double angle, double mu, double tolerance) {
    Scene scene = SceneStart();
    ScenePlane(&scene, mu, Tilt(angle));
    Solid cube = SolidOf(rg_shapeBox, rgVec(0.1, 0.1, 0.1), 1, rgVec(0, 0, 0));
    cube.material.mu = mu;
    cube.pose.q = Tilt(angle);
    cube.pose.p = rgRotate(cube.pose.q, rgVec(0, 0, 0.1));
    SceneFree(&scene, &cube);
    rgWorldDef def = SceneWorldDef(1e-3, tolerance);
    SceneMake(&scene, &def);
    return scene;
}

static double Creep(double tolerance) {
    double mu = 0.5;
    Scene scene = Incline(atan(0.98 * mu), mu, tolerance);
    SceneRun(&scene, 200);
    rgVec3 before = SceneBodyPoint(&scene, (rgBodyId){1});
    SceneRun(&scene, 1000);
    rgVec3 moved = rgSub(SceneBodyPoint(&scene, (rgBodyId){1}), before);
    SceneEnd(&scene);
    return rgLength(moved);
}

static void test_incline_holds(void** state) {
    (void)state;
    EXPECT_NEAR(Creep(1e-10), 0, 1e-9);
    EXPECT_NEAR(Creep(1e-6), 0, 2e-6);
}

static void test_incline_slides(void** state) {
    (void)state;
    double mu = 0.3, angle = 0.6, dt = 1e-3;
    Scene scene = Incline(angle, mu, 1e-10);
    SceneRun(&scene, 500);
    double a = SCENE_G * (sin(angle) - mu * cos(angle));
    rgSpatial v = rgWorld_BodyVelocity(scene.world, (rgBodyId){1});
    rgVec3 down = rgRotate(Tilt(angle), rgVec(1, 0, 0));
    EXPECT_NEAR(rgDot(v.linear, down), 500 * dt * a, 1e-8);
    EXPECT_NEAR(rgLength(v.angular), 0, 1e-7);
    SceneEnd(&scene);
}

// The convex relaxation lifts a sliding body off by mu times its slip; exact friction does not.
static void test_relaxation_lifts(void** state) {
    (void)state;
    for (int ccp = 0; ccp < 2; ++ccp) {
        Scene scene = SceneStart();
        ScenePlane(&scene, 0.5, rgQuatIdentity());
        rgBodyId ball = SceneCube(&scene, 0.1, 1, rgVec(0, 0, 0.1), 0.5);
        rgWorldDef def = SceneWorldDef(1e-3, 1e-9);
        def.contact.model = ccp ? rg_modelCcp : rg_modelNcp;
        SceneMake(&scene, &def);
        SceneSetVelocity(&scene, 0, 1, (double[]){1});
        SceneRun(&scene, 1);
        double rise = rgWorld_BodyVelocity(scene.world, ball).linear.z;
        double slip = rgWorld_BodyVelocity(scene.world, ball).linear.x;
        EXPECT_NEAR(rise, ccp ? 0.5 * slip : 0, 1e-6);
        SceneEnd(&scene);
    }
}

static double SlideUnder(rgContactModel model, rgContactMethod method, double angle) {
    Scene scene = SceneStart();
    ScenePlane(&scene, 0.5, rgQuatIdentity());
    rgBodyId cube = SceneCube(&scene, 0.1, 1, rgVec(0, 0, 0.1), 0.5);
    rgWorldDef def = SceneWorldDef(1e-3, 1e-9);
    def.contact.model = model;
    def.contact.method = method;
    SceneMake(&scene, &def);
    SceneSetVelocity(&scene, 0, 2, (double[]){cos(angle), sin(angle)});
    SceneRun(&scene, 400);
    rgVec3 p = SceneBodyPoint(&scene, cube);
    SceneEnd(&scene);
    return hypot(p.x, p.y);
}

// Friction on a polygon around the disc: exact across its sides, too strong by 1/cos(pi/sides)
// towards its corners.
static void test_polygons_stop_sooner(void** state) {
    (void)state;
    double pi = 3.14159265358979323846;
    static const rgContactMethod methods[] = {rg_methodPivot, rg_methodPgs};
    for (int k = 0; k < 2; ++k) {
        for (int sides = 4; sides <= 8; sides += 4) {
            rgContactModel model = sides == 4 ? rg_modelLcp4 : rg_modelLcp8;
            double strong = 0.5 / cos(pi / sides);
            EXPECT_NEAR(SlideUnder(model, methods[k], 0),
                        DiscreteSlide(1, 0.5, 1e-3, rg_integratorMidpoint), 1e-6);
            EXPECT_NEAR(SlideUnder(model, methods[k], pi / sides),
                        DiscreteSlide(1, strong, 1e-3, rg_integratorMidpoint), 1e-6);
        }
    }
}

static void test_ball_rolls(void** state) {
    (void)state;
    Scene scene = SceneStart();
    ScenePlane(&scene, 0.5, rgQuatIdentity());
    Solid solid = SolidOf(rg_shapeSphere, rgVec(0.1, 0, 0), 1, rgVec(0, 0, 0.1));
    rgBodyId ball = SceneFree(&scene, &solid);
    rgWorldDef def = SceneWorldDef(1e-3, 1e-10);
    SceneMake(&scene, &def);
    SceneSetVelocity(&scene, 0, 6, (double[]){1, 0, 0, 0, 10, 0});
    SceneRun(&scene, 2000);
    rgSpatial v = rgWorld_BodyVelocity(scene.world, ball);
    rgVec3 p = SceneBodyPoint(&scene, ball);
    EXPECT_NEAR(v.linear.x, 1, 1e-8);
    EXPECT_NEAR(v.angular.y, 10, 1e-7);
    EXPECT_NEAR(p.z, 0.1, 1e-9);
    EXPECT_NEAR(p.x, 2, 1e-7);
    EXPECT_NEAR(p.y, 0, 1e-9);
    SceneEnd(&scene);
}

// A ball that slides at first rolls with 5/7 of its speed, whatever mu is.
static void test_ball_starts_to_roll(void** state) {
    (void)state;
    Scene scene = SceneStart();
    ScenePlane(&scene, 0.3, rgQuatIdentity());
    Solid solid = SolidOf(rg_shapeSphere, rgVec(0.1, 0, 0), 1, rgVec(0, 0, 0.1));
    rgBodyId ball = SceneFree(&scene, &solid);
    rgWorldDef def = SceneWorldDef(1e-3, 1e-10);
    SceneMake(&scene, &def);
    SceneSetVelocity(&scene, 0, 1, (double[]){1.4});
    SceneRun(&scene, 500);
    EXPECT_NEAR(rgWorld_BodyVelocity(scene.world, ball).linear.x, 1.0, 1e-8);
    SceneEnd(&scene);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cube_stops),           cmocka_unit_test(test_incline_holds),
        cmocka_unit_test(test_incline_slides),       cmocka_unit_test(test_relaxation_lifts),
        cmocka_unit_test(test_polygons_stop_sooner), cmocka_unit_test(test_ball_rolls),
        cmocka_unit_test(test_ball_starts_to_roll),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
