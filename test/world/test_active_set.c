// Points that are near and do not close: they are shown, they have no rows, and none that an impact
// swings in is missed.
#include "scene.h"

#define ROD_HALF   1.0
#define ROD_RADIUS 0.01

// A rod that falls on one end; the other is farther than the free motion takes it.
static Scene FallingRod(double dt, double speed, double lead) {
    Scene scene = SceneStart();
    ScenePlane(&scene, 0.5, rgQuatIdentity());
    double low = ROD_RADIUS + 0.1 * dt * speed, high = ROD_RADIUS + lead * dt * speed;
    Solid rod = SolidOf(rg_shapeCapsule, rgVec(ROD_RADIUS, ROD_HALF, 0), 1,
                        rgVec(0, 0, 0.5 * (low + high)));
    double tilt = asin((high - low) / (2 * ROD_HALF));
    rod.pose.q = rgQuatFromAxisAngle(rgVec(0, 1, 0), acos(0) - tilt);
    SceneFree(&scene, &rod);
    rgWorldDef def = SceneWorldDef(dt, 1e-9);
    def.hasGravity = true;
    SceneMake(&scene, &def);
    rgVec3 v = rgRotateBack(rod.pose.q, rgVec(0, 0, -speed));
    SceneSetVelocity(&scene, 0, 3, (double[3]){v.x, v.y, v.z});
    return scene;
}

// The end that is stopped turns the rod, and the other goes on at 1.45 times its speed: both are
// stopped at the floor, but for the turn's second order. A first step looks 3/2 dt ahead, so that
// the free motion leaves the other end open.
static void test_swings_in(void** state) {
    (void)state;
    double dt = 1e-3, speed = 10;
    for (int k = 0; k < 4; ++k) {
        double lead = 1.6 + 0.1 * k;
        Scene scene = FallingRod(dt, speed, lead);
        rgStepReport report = SceneStep(&scene);
        assert_int_equal(report.contactCount, 2);
        assert_int_equal(report.rowCount, 6);
        double turn = dt * 1.5 * speed / ROD_HALF;
        rgStepReport next = SceneStep(&scene);
        assert_true(next.penetration < 0.5 * ROD_HALF * turn * turn + 1e-6);
        SceneEnd(&scene);
    }
}

// Farther away it does not get there, and waits.
static void test_stays_out(void** state) {
    (void)state;
    Scene scene = FallingRod(1e-3, 10, 2.5);
    rgStepReport report = SceneStep(&scene);
    assert_int_equal(report.rowCount, 3);
    SceneEnd(&scene);
}

// A box that glides above the floor: four open contacts with their slip, in the order of features
// that they have on the floor, and no rows.
static void test_open_contacts_are_shown(void** state) {
    (void)state;
    Scene scene = SceneStart();
    ScenePlane(&scene, 0.4, rgQuatIdentity());
    rgBodyId box = SceneCube(&scene, 0.1, 2, rgVec(0, 0, 0.1005), 0.4);
    rgWorldDef def = SceneWorldDef(1e-3, 1e-9);
    SceneMake(&scene, &def);
    SceneSetVelocity(&scene, 0, 3, (double[3]){0.3, -0.2, 0});
    rgStepReport report = SceneStep(&scene);
    assert_int_equal(report.contactCount, 4);
    assert_int_equal(report.rowCount, 0);
    int count;
    const rgContact* c = rgWorld_Contacts(scene.world, &count);
    assert_int_equal(count, 4);
    uint32_t features[4];
    for (int i = 0; i < 4; ++i) {
        assert_int_equal(c[i].state, rg_contactOpen);
        assert_int_equal(c[i].rowCount, 3);
        EXPECT_NEAR(c[i].mu, 0.4, 1e-15);
        EXPECT_NEAR(c[i].gap, 5e-4, 1e-12);
        EXPECT_NEAR(c[i].impulse[2], 0, 0);
        rgVec3 slip =
            rgAddScaled(rgScale(c[i].slip[0], c[i].tangent1), c[i].slip[1], c[i].tangent2);
        EXPECT_NEAR(rgLength(rgSub(slip, rgVec(0.3, -0.2, 0))), 0, 1e-12);
        features[i] = c[i].feature;
    }
    rgPose down = {rgVec(0, 0, 0.1), rgQuatIdentity()};
    assert_int_equal(rgWorld_SetBodyPose(scene.world, box, down), rg_ok);
    SceneStep(&scene);
    c = rgWorld_Contacts(scene.world, &count);
    assert_int_equal(count, 4);
    for (int i = 0; i < 4; ++i) {
        assert_int_equal(c[i].feature, features[i]);
        assert_true(c[i].impulse[2] > 0);
    }
    SceneEnd(&scene);
}

// One edge on the floor, the other a little above it: two contacts have rows, and all four are
// shown pair by pair as if all had.
static void test_some_wait(void** state) {
    (void)state;
    Scene scene = SceneStart();
    ScenePlane(&scene, 0.4, rgQuatIdentity());
    double tilt = 2e-3;
    Solid solid =
        SolidOf(rg_shapeBox, rgVec(0.1, 0.1, 0.1), 2, rgVec(0, 0, 0.1 * (cos(tilt) + sin(tilt))));
    solid.pose.q = rgQuatFromAxisAngle(rgVec(0, 1, 0), tilt);
    SceneFree(&scene, &solid);
    rgWorldDef def = SceneWorldDef(1e-3, 1e-9);
    SceneMake(&scene, &def);
    rgStepReport report = SceneStep(&scene);
    assert_int_equal(report.contactCount, 4);
    assert_int_equal(report.rowCount, 6);
    int count, open = 0;
    const rgContact* c = rgWorld_Contacts(scene.world, &count);
    for (int i = 0; i < count; ++i) {
        bool above = c[i].gap > 1e-4;
        open += above;
        assert_int_equal(c[i].state == rg_contactOpen, above);
        assert_int_equal(c[i].impulse[2] > 0, !above);
    }
    assert_int_equal(count, 4);
    assert_int_equal(open, 2);
    SceneEnd(&scene);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_swings_in),
        cmocka_unit_test(test_stays_out),
        cmocka_unit_test(test_open_contacts_are_shown),
        cmocka_unit_test(test_some_wait),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
