// Free motion: momentum, energy, tops and pendulums. Tolerances are of the order of the scheme.
#include "scene.h"

static Scene FreeBody(rgVec3 size, rgVec3 center, double dt, rgIntegrator integrator) {
    Scene scene = SceneStart();
    rgBodyDef body = rgDefaultBodyDef();
    body.inertia = rgInertiaFromShape(rg_shapeBox, size, 2);
    body.inertia.center = center;
    rgBodyId id;
    assert_int_equal(rgModelDef_AddBody(scene.def, &body, &id), rg_ok);
    SceneJoint(&scene, id, rg_jointFree, rgVec(0, 0, 0), rgVec(0, 0, 1));
    rgWorldDef def = SceneWorldDef(dt, 1e-6);
    def.hasGravity = true;
    def.integrator = integrator;
    SceneMake(&scene, &def);
    return scene;
}

static rgVec3 CenterVelocity(const Scene* scene, rgVec3 center) {
    rgSpatial v = rgWorld_BodyVelocity(scene->world, (rgBodyId){1});
    rgPose pose = rgWorld_BodyPose(scene->world, (rgBodyId){1});
    return rgAdd(v.linear, rgCross(v.angular, rgRotate(pose.q, center)));
}

// A body that spins at 50 rad/s about no principal axis, its centre off the origin.
static void test_momentum_is_kept(void** state) {
    (void)state;
    rgVec3 centers[2] = {{0, 0, 0}, {0.05, -0.02, 0.03}};
    rgIntegrator integrators[2] = {rg_integratorMidpoint, rg_integratorEuler};
    for (int k = 0; k < 4; ++k) {
        Scene scene = FreeBody(rgVec(0.1, 0.2, 0.3), centers[k / 2], 1e-3, integrators[k % 2]);
        SceneSetVelocity(&scene, 0, 6, (double[]){1, -2, 3, 30, 40, 5});
        rgVec3 before = CenterVelocity(&scene, centers[k / 2]);
        double energy = rgWorld_KineticEnergy(scene.world);
        for (int i = 0; i < 1000; ++i) {
            SceneStep(&scene);
            rgVec3 drift = rgSub(CenterVelocity(&scene, centers[k / 2]), before);
            EXPECT_NEAR(rgLength(drift), 0, 1e-11); // rounding of 1000 rotations
        }
        double after = rgWorld_KineticEnergy(scene.world);
        EXPECT_NEAR(after / energy, 1, 1e-3); // midpoint rule, one Newton step
        SceneEnd(&scene);
    }
}

static double SpinLoss(double dt) {
    Scene scene = FreeBody(rgVec(0.1, 0.2, 0.3), rgVec(0, 0, 0), dt, rg_integratorEuler);
    SceneSetVelocity(&scene, 3, 3, (double[]){3, 4, 1});
    double energy = rgWorld_KineticEnergy(scene.world);
    SceneRun(&scene, (int)lround(1 / dt));
    double loss = 1 - rgWorld_KineticEnergy(scene.world) / energy;
    SceneEnd(&scene);
    return loss;
}

// The midpoint rule would keep it; one Newton step of it leaves an error of second order.
static void test_spin_energy_is_second_order(void** state) {
    (void)state;
    double coarse = SpinLoss(4e-3), fine = SpinLoss(2e-3);
    assert_true(fabs(coarse) < 1e-3);
    assert_true(fabs(fine) < 0.3 * fabs(coarse));
}

static void test_free_fall(void** state) {
    (void)state;
    for (int k = 0; k < 2; ++k) {
        Scene scene = SceneStart();
        SceneCube(&scene, 0.1, 3, rgVec(0, 0, 100), 0.5);
        rgWorldDef def = SceneWorldDef(1e-3, 1e-6);
        def.integrator = k == 0 ? rg_integratorMidpoint : rg_integratorEuler;
        SceneMake(&scene, &def);
        SceneRun(&scene, 1000);
        // Euler: the sum of dt v+ over the steps.
        double fall = SCENE_G * 0.5 * (k == 0 ? 1 : 1.001);
        EXPECT_NEAR(SceneBodyPoint(&scene, (rgBodyId){1}).z, 100 - fall, 1e-10);
        EXPECT_NEAR(rgWorld_BodyVelocity(scene.world, (rgBodyId){1}).linear.z, -SCENE_G, 1e-11);
        SceneEnd(&scene);
    }
}

// A heavy top on a spherical joint: steady precession at the rate that solves
// I1 W^2 cos(a) - I3 s W + m g l = 0 (s: total spin about its axis).
static void test_top_precesses(void** state) {
    (void)state;
    double m = 1, l = 0.2, tilt = 0.4, spin = 120;
    rgInertia inertia = rgInertiaFromShape(rg_shapeCylinder, rgVec(0.1, 0.02, 0), m);
    double I3 = inertia.moment.zz, I1 = inertia.moment.xx + m * l * l;
    double A = I1 * cos(tilt), B = -I3 * spin, C = m * SCENE_G * l;
    double W = (-B - sqrt(B * B - 4 * A * C)) / (2 * A);
    Scene scene = SceneStart();
    rgBodyDef body = rgDefaultBodyDef();
    body.inertia = inertia;
    body.inertia.center = rgVec(0, 0, l);
    rgBodyId id;
    assert_int_equal(rgModelDef_AddBody(scene.def, &body, &id), rg_ok);
    SceneJoint(&scene, id, rg_jointSpherical, rgVec(0, 0, 0), rgVec(0, 0, 1));
    rgWorldDef def = SceneWorldDef(1e-4, 1e-6);
    SceneMake(&scene, &def);
    rgQuat q = rgQuatFromAxisAngle(rgVec(0, 1, 0), tilt);
    // Body rate: precession about the vertical plus the rest of the spin about the axis.
    rgVec3 w = rgRotateBack(q, rgVec(0, 0, W));
    w.z = spin;
    assert_int_equal(rgWorld_SetState(scene.world, &q.w, &w.x), rg_ok);
    SceneRun(&scene, 5000);
    rgVec3 axis = rgRotate(rgWorld_BodyPose(scene.world, id).q, rgVec(0, 0, 1));
    EXPECT_NEAR(acos(axis.z), tilt, 2e-3);
    EXPECT_NEAR(remainder(atan2(axis.y, axis.x) - 0.5 * W, 6.283185307179586), 0, 2e-2);
    SceneEnd(&scene);
}

// A conical pendulum on two hinges: W^2 l cos(a) = g for a point mass.
static void test_conical_pendulum(void** state) {
    (void)state;
    double l = 1, a = 0.5, W = sqrt(SCENE_G / (l * cos(a)));
    Scene scene = SceneStart();
    rgBodyDef body = rgDefaultBodyDef();
    body.inertia =
        (rgInertia){.mass = 1, .center = {0, 0, -l}, .moment = {1e-6, 1e-6, 1e-6, 0, 0, 0}};
    rgBodyId id;
    assert_int_equal(rgModelDef_AddBody(scene.def, &body, &id), rg_ok);
    SceneJoint(&scene, id, rg_jointSpherical, rgVec(0, 0, 0), rgVec(0, 0, 1));
    double dt = 1e-4;
    rgWorldDef def = SceneWorldDef(dt, 1e-6);
    SceneMake(&scene, &def);
    rgQuat q = rgQuatFromAxisAngle(rgVec(0, 1, 0), -a);
    rgVec3 w = rgRotateBack(q, rgVec(0, 0, W));
    assert_int_equal(rgWorld_SetState(scene.world, &q.w, &w.x), rg_ok);
    SceneRun(&scene, 10000);
    rgPose pose = rgWorld_BodyPose(scene.world, id);
    rgVec3 bob = rgRotate(pose.q, rgVec(0, 0, -l));
    EXPECT_NEAR(hypot(bob.x, bob.y), l * sin(a), 5e-3);
    EXPECT_NEAR(remainder(atan2(bob.y, bob.x) - W * 1.0, 6.283185307179586), 0, 1e-2);
    SceneEnd(&scene);
}

static double PendulumEnergyDrift(double dt, rgIntegrator integrator) {
    Scene scene = SceneStart();
    Solid rod = SolidOf(rg_shapeBox, rgVec(0.02, 0.02, 0.5), 1, rgVec(0, 0, 0));
    rgBodyId id = SceneBody(&scene, &rod, (rgBodyId){0});
    SceneJoint(&scene, id, rg_jointRevolute, rgVec(0, 0, 0.5), rgVec(0, 1, 0));
    rgWorldDef def = SceneWorldDef(dt, 1e-6);
    def.integrator = integrator;
    SceneMake(&scene, &def);
    double q = 1.5, v = 0;
    assert_int_equal(rgWorld_SetState(scene.world, &q, &v), rg_ok);
    double start = SceneEnergy(&scene), worst = 0;
    for (int i = 0; i < (int)lround(2 / dt); ++i) {
        SceneStep(&scene);
        worst = fmax(worst, fabs(SceneEnergy(&scene) - start));
    }
    SceneEnd(&scene);
    return worst;
}

static void test_pendulum_energy(void** state) {
    (void)state;
    double coarse = PendulumEnergyDrift(2e-3, rg_integratorMidpoint);
    EXPECT_NEAR(coarse / PendulumEnergyDrift(1e-3, rg_integratorMidpoint), 4, 0.2);
    coarse = PendulumEnergyDrift(2e-3, rg_integratorEuler);
    EXPECT_NEAR(coarse / PendulumEnergyDrift(1e-3, rg_integratorEuler), 2, 0.2);
}

static void test_wrench_and_force(void** state) {
    (void)state;
    rgVec3 center = rgVec(0.05, 0, 0.1);
    Scene scene = FreeBody(rgVec(0.1, 0.1, 0.1), center, 1e-3, rg_integratorMidpoint);
    assert_int_equal(
        rgWorld_ApplyWrench(scene.world, (rgBodyId){1}, rgVec(4, 0, -6), rgVec(0, 0, 0)), rg_ok);
    SceneRun(&scene, 100);
    rgSpatial v = rgWorld_BodyVelocity(scene.world, (rgBodyId){1});
    EXPECT_NEAR(v.linear.x, 0.1 * 4 / 2, 1e-12);
    EXPECT_NEAR(v.linear.z, -0.1 * 6 / 2, 1e-12);
    EXPECT_NEAR(rgLength(v.angular), 0, 1e-12);
    rgWorld_ClearWrenches(scene.world);
    double torque[6] = {0, 0, 0, 0, 0, 1};
    assert_int_equal(rgWorld_SetForce(scene.world, torque), rg_ok);
    SceneRun(&scene, 100);
    v = rgWorld_BodyVelocity(scene.world, (rgBodyId){1});
    EXPECT_NEAR(v.angular.z, 0.1 / (2 * (0.04 + 0.04) / 12 * 1), 1e-9);
    rgVec3 c = CenterVelocity(&scene, center);
    EXPECT_NEAR(c.x, 0.2, 1e-12);
    EXPECT_NEAR(c.y, 0, 1e-12);
    SceneEnd(&scene);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_momentum_is_kept), cmocka_unit_test(test_spin_energy_is_second_order),
        cmocka_unit_test(test_free_fall),        cmocka_unit_test(test_top_precesses),
        cmocka_unit_test(test_conical_pendulum), cmocka_unit_test(test_pendulum_energy),
        cmocka_unit_test(test_wrench_and_force),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
