// Rows of the constraint problem, each against a law that no scheme can change: balances at rest,
// slopes of couplings, thresholds, and what a body feels from all rows of a contact.
#include "scene.h"
#include "world/world.h"

// ---- tendons and couplings

static rgBodyId Slider(Scene* scene, double mass, double y, rgVec3 axis, rgJointId* joint) {
    rgBodyDef body = rgDefaultBodyDef();
    body.pose.p = rgVec(0, y, 0);
    body.inertia = (rgInertia){.mass = mass, .moment = {0.1, 0.1, 0.1, 0, 0, 0}};
    rgBodyId id;
    assert_int_equal(rgModelDef_AddBody(scene->def, &body, &id), rg_ok);
    *joint = SceneJoint(scene, id, rg_jointPrismatic, rgVec(0, 0, 0), axis);
    return id;
}

// A weight hangs on a tendon's spring: the spring carries it at k c (c q - rest) = -m g.
static void test_tendon_carries_a_weight(void** state) {
    (void)state;
    const double steps[] = {1e-3, 4e-3};
    for (int i = 0; i < 2; ++i) {
        Scene scene = SceneStart();
        rgJointId joint;
        Slider(&scene, 2, 0, rgVec(0, 0, 1), &joint);
        double c = 3, k = 50, rest = 0.1;
        rgTendonDef tendon = rgDefaultTendonDef();
        tendon.jointCount = 1;
        tendon.joints = &joint;
        tendon.coefficients = &c;
        tendon.stiffness = k;
        tendon.springReference = rest;
        tendon.damping = 5;
        assert_int_equal(rgModelDef_AddTendon(scene.def, &tendon, NULL), rg_ok);
        rgWorldDef def = SceneWorldDef(steps[i], 1e-12);
        SceneMake(&scene, &def);
        SceneRun(&scene, (int)(8 / steps[i]));
        double q = rgWorld_Positions(scene.world, NULL)[0];
        EXPECT_NEAR(q, (rest - 2 * SCENE_G / (k * c)) / c, 1e-9);
        int count;
        const rgConstraintForce* forces = rgWorld_Constraints(scene.world, &count);
        assert_int_equal(count, 1);
        assert_int_equal(forces[0].kind, rg_constraintTendon);
        EXPECT_NEAR(c * forces[0].force, 2 * SCENE_G, 1e-8);
        SceneEnd(&scene);
    }
}

// q_A = p(q_B): velocities obey the slope of every power, from one constraint and one free motion.
static void test_coupling_slopes(void** state) {
    (void)state;
    for (int power = 1; power <= 4; ++power) {
        Scene scene = SceneStart();
        rgEqualityDef coupling = rgDefaultEqualityDef();
        coupling.kind = rg_equalityJoint;
        Slider(&scene, 1, 0, rgVec(1, 0, 0), &coupling.jointA);
        Slider(&scene, 1, 1, rgVec(1, 0, 0), &coupling.jointB);
        coupling.polynomial[1] = 0; // the default is a copy
        coupling.polynomial[power] = 0.7;
        assert_int_equal(rgModelDef_AddEquality(scene.def, &coupling, NULL), rg_ok);
        rgWorldDef def = SceneWorldDef(1e-5, 1e-12);
        SceneMake(&scene, &def);
        double b = 0.8, slope = 0.7 * power * pow(b, power - 1);
        double q[2] = {0.7 * pow(b, power), b}, v[2] = {0, 1};
        assert_int_equal(rgWorld_SetState(scene.world, q, v), rg_ok);
        SceneStep(&scene);
        const double* after = rgWorld_Velocities(scene.world, NULL);
        EXPECT_NEAR(after[0] / after[1], slope, 1e-4); // the slope moves by dt v
        // equal masses: the constraint's impulse is along (1, -slope)
        EXPECT_NEAR(after[0] * slope + after[1], 1, 1e-4);
        SceneEnd(&scene);
    }
}

// ---- restitution

static double ReboundSpeed(double speed, double threshold, double along) {
    Scene scene = SceneStart();
    ScenePlane(&scene, 0.5, rgQuatIdentity());
    Solid ball = SolidOf(rg_shapeSphere, rgVec(0.1, 0, 0), 1, rgVec(0, 0, 0.1));
    SceneFree(&scene, &ball);
    rgWorldDef def = SceneWorldDef(1e-4, 1e-12);
    def.restitution = 0.5;
    def.restitutionThreshold = threshold;
    def.hasGravity = true;
    def.gravity = rgVec(along, 0, 0);
    SceneMake(&scene, &def);
    SceneSetVelocity(&scene, 2, 1, (double[]){-speed});
    SceneRun(&scene, 3);
    double after = rgWorld_Velocities(scene.world, NULL)[2];
    SceneEnd(&scene);
    return after;
}

// What comes slower than the threshold does not rebound; what comes faster does.
static void test_restitution_threshold(void** state) {
    (void)state;
    EXPECT_NEAR(ReboundSpeed(0.29, 0.3, 0), 0, 1e-9);
    EXPECT_NEAR(ReboundSpeed(0.31, 0.3, 0), 0.155, 1e-9);
    EXPECT_NEAR(ReboundSpeed(1.9e-3, 0, 10), 0, 1e-7); // 2 g dt unless told
    EXPECT_NEAR(ReboundSpeed(2.1e-3, 0, 10), 1.05e-3, 1e-7);
    EXPECT_NEAR(ReboundSpeed(1e-4, 0, 0), 0.5e-4, 1e-9);
}

// ---- contacts with torsion and rolling

typedef struct Rolling {
    Scene scene;
    rgBodyId ball;
    rgJointId joint;
} Rolling;

// A ball on a slope that rolling friction holds, and that a torque tries to twist.
static Rolling BallOnSlope(double slope, double twist) {
    Rolling r = {.scene = SceneStart()};
    Solid ball = SolidOf(rg_shapeSphere, rgVec(0.1, 0, 0), 1, rgVec(0, 0, 0.1));
    ball.material.dimension = 6;
    ball.material.mu = 1;
    ball.material.muTorsion = 0.05;
    ball.material.muRolling = 0.05;
    rgShapeDef floor = rgDefaultShapeDef();
    floor.kind = rg_shapePlane;
    floor.material = ball.material;
    assert_int_equal(rgModelDef_AddShape(r.scene.def, &floor, NULL), rg_ok);
    r.ball = SceneBody(&r.scene, &ball, (rgBodyId){0});
    r.joint = SceneJoint(&r.scene, r.ball, rg_jointFree, rgVec(0, 0, 0), rgVec(0, 0, 1));
    rgWorldDef def = SceneWorldDef(1e-3, 1e-11);
    def.hasGravity = true;
    // downhill between the tangents, so that both rolling rows work
    def.gravity =
        rgVec(SCENE_G * sin(slope) * 0.8, SCENE_G * sin(slope) * 0.6, -SCENE_G * cos(slope));
    SceneMake(&r.scene, &def);
    assert_int_equal(rgWorld_ApplyWrench(r.scene.world, r.ball, rgVec(0, 0, 0), rgVec(0, 0, twist)),
                     rg_ok);
    return r;
}

// The impulses of the last step are where the next one starts: at rest they are its answer, rolling
// and torsional rows included, and nothing is left to iterate.
static void test_warm_start_of_all_rows(void** state) {
    (void)state;
    Rolling r = BallOnSlope(0.2, 0.2);
    SceneRun(&r.scene, 3);
    int count;
    const rgContact* contacts = rgWorld_Contacts(r.scene.world, &count);
    assert_int_equal(count, 1);
    assert_int_equal(contacts[0].rowCount, 6);
    for (int k = 0; k < 6; ++k) {
        assert_true(fabs(contacts[0].impulse[k]) > 1e-5); // every row works
    }
    rgStepReport report = SceneStep(&r.scene);
    assert_int_equal(report.contact.status, rg_contactSolved);
    assert_int_equal(report.contact.iterationCount, 0);
    SceneEnd(&r.scene);
}

// Nothing holds a free body but what touches it: with all rows of the contact counted, the reaction
// of its joint is nil, at rest and while it rolls and spins.
static void test_reaction_counts_all_rows(void** state) {
    (void)state;
    for (int moving = 0; moving < 2; ++moving) {
        Rolling r = BallOnSlope(moving ? 0.8 : 0.2, 0.2);
        if (moving) {
            SceneSetVelocity(&r.scene, 0, 6, (double[]){0.1, 0.2, 0, -2, 1, 5});
        }
        for (int i = 0; i < 50; ++i) {
            SceneStep(&r.scene);
            rgSpatial reaction = rgWorld_JointReaction(r.scene.world, r.joint);
            EXPECT_NEAR(rgLength(reaction.linear), 0, 1e-7);
            EXPECT_NEAR(rgLength(reaction.angular), 0, 1e-7);
        }
        const rgContact* contact = rgWorld_Contacts(r.scene.world, NULL);
        for (int k = 3; k < 6; ++k) {
            assert_true(fabs(contact->impulse[k]) > 1e-5);
        }
        SceneEnd(&r.scene);
    }
}

// ---- lengths

// Residuals compare rows of loops in metres per second (ncp.10): rows of points are, those of
// turns are by the lever arm of what turns last, here to the far end of the second link.
static void test_lengths_of_welds(void** state) {
    (void)state;
    Scene scene = SceneText(
        "<mujoco><worldbody><body name='a'><freejoint/>"
        "<geom type='sphere' size='0.05' mass='1'/>"
        "<body name='b' pos='0.4 0 0'><joint axis='0 0 1'/>"
        "<geom type='sphere' pos='0.2 0 0' size='0.05' mass='1'/></body></body></worldbody>"
        "<equality><weld body1='a'/></equality></mujoco>",
        NULL);
    SceneStep(&scene);
    const rgRows* rows = &scene.world->constraints.rows;
    assert_int_equal(rows->rowCount, 6);
    for (int r = 0; r < 6; ++r) {
        EXPECT_NEAR(rows->length[r], r < 3 ? 1 : 0.65, 1e-12);
    }
    SceneEnd(&scene);
}

// ---- touch

// A dumbbell on two balls: a sensor of a small radius feels the near ball alone.
static void test_touch_radius(void** state) {
    (void)state;
    Scene scene = SceneStart();
    ScenePlane(&scene, 0.5, rgQuatIdentity());
    rgBodyDef body = rgDefaultBodyDef();
    body.pose.p = rgVec(0, 0, 0.1);
    body.inertia = (rgInertia){.mass = 3, .center = {0.1, 0, 0}, .moment = {1, 1, 1, 0, 0, 0}};
    rgBodyId id;
    assert_int_equal(rgModelDef_AddBody(scene.def, &body, &id), rg_ok);
    // upright: the hinge's axis is across, so that the two balls carry all of the weight
    SceneJoint(&scene, id, rg_jointPlanar, rgVec(0, 0, 0), rgVec(0, 1, 0));
    for (int side = -1; side <= 1; side += 2) {
        rgShapeDef shape = rgDefaultShapeDef();
        shape.body = id;
        shape.kind = rg_shapeSphere;
        shape.size = rgVec(0.1, 0, 0);
        shape.pose.p = rgVec(0.5 * side, 0, 0);
        assert_int_equal(rgModelDef_AddShape(scene.def, &shape, NULL), rg_ok);
    }
    rgFrameDef foot = rgDefaultFrameDef();
    foot.body = id;
    foot.pose.p = rgVec(0.5, 0, -0.1);
    const double radii[] = {0.2, 0, 1.5, 0.05};
    for (int i = 0; i < 4; ++i) {
        rgSensorDef touch = rgDefaultSensorDef();
        touch.kind = rg_sensorTouch;
        touch.touchRadius = radii[i];
        assert_int_equal(rgModelDef_AddFrame(scene.def, &foot, &touch.frame), rg_ok);
        foot.pose.p = i == 2 ? rgVec(0, 0, 0) : foot.pose.p; // the last: near no contact
        assert_int_equal(rgModelDef_AddSensor(scene.def, &touch, NULL), rg_ok);
    }
    rgWorldDef def = SceneWorldDef(1e-3, 1e-12);
    SceneMake(&scene, &def);
    SceneRun(&scene, 200);
    int count;
    const double* touch = rgWorld_Sensors(scene.world, &count);
    assert_int_equal(count, 4);
    EXPECT_NEAR(touch[0], 3 * SCENE_G * 0.6, 1e-6); // lever: 0.6 of the weight
    EXPECT_NEAR(touch[1], 3 * SCENE_G, 1e-6);       // radius 0: all of the body
    EXPECT_NEAR(touch[2], 3 * SCENE_G, 1e-6);       // both are near
    EXPECT_NEAR(touch[3], 0, 0);
    SceneEnd(&scene);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tendon_carries_a_weight),
        cmocka_unit_test(test_coupling_slopes),
        cmocka_unit_test(test_restitution_threshold),
        cmocka_unit_test(test_warm_start_of_all_rows),
        cmocka_unit_test(test_reaction_counts_all_rows),
        cmocka_unit_test(test_lengths_of_welds),
        cmocka_unit_test(test_touch_radius),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
