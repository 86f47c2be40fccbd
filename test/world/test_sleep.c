// What rests sleeps where a world says so, keeps its place, and wakes when it has to.
#include "scene.h"

static rgWorldDef SleepDef(double sleepTime) {
    rgWorldDef def = SceneWorldDef(1e-3, 1e-9);
    def.sleepTime = sleepTime;
    return def;
}

typedef struct Pile {
    Scene scene;
    rgBodyId boxes[4], ball;
} Pile;

// Three boxes on each other and one beside them; a ball that waits far away.
static Pile MakePile(const rgWorldDef* def) {
    Pile pile = {.scene = SceneStart()};
    ScenePlane(&pile.scene, 0.5, rgQuatIdentity());
    for (int i = 0; i < 3; ++i) {
        pile.boxes[i] =
            SceneCube(&pile.scene, 0.1, 1 + i, rgVec(0.01 * i, 0, 0.12 + 0.21 * i), 0.5);
    }
    pile.boxes[3] = SceneCube(&pile.scene, 0.1, 1, rgVec(2, 0, 0.12), 0.5);
    Solid ball = SolidOf(rg_shapeSphere, rgVec(0.1, 0, 0), 2, rgVec(0, 0, 50));
    pile.ball = SceneFree(&pile.scene, &ball);
    SceneMake(&pile.scene, def);
    assert_int_equal(rgWorld_EnableBody(pile.scene.world, pile.ball, false), rg_ok);
    return pile;
}

static int Sleepers(const Pile* pile) {
    int count = 0;
    for (int i = 0; i < 4; ++i) {
        count += rgWorld_IsAsleep(pile->scene.world, pile->boxes[i]);
    }
    return count;
}

static bool SameMotion(const rgWorld* a, const rgWorld* b) {
    int nq, nv;
    const double *qa = rgWorld_Positions(a, &nq), *qb = rgWorld_Positions(b, NULL);
    const double *va = rgWorld_Velocities(a, &nv), *vb = rgWorld_Velocities(b, NULL);
    return memcmp(qa, qb, (size_t)nq * sizeof(double)) == 0 &&
           memcmp(va, vb, (size_t)nv * sizeof(double)) == 0;
}

static void test_falls_asleep(void** state) {
    (void)state;
    rgWorldDef def = SleepDef(0.2), never = SleepDef(0);
    Pile pile = MakePile(&def), awake = MakePile(&never);
    int first = 0;
    for (int i = 1; i <= 1000; ++i) {
        SceneStep(&pile.scene);
        SceneStep(&awake.scene);
        int count = Sleepers(&pile);
        first = first == 0 && count > 0 ? i : first;
        if (count == 0) { // to the bit as without the option
            assert_true(SameMotion(pile.scene.world, awake.scene.world));
        }
    }
    assert_true(first > 200 && first < 600);
    assert_int_equal(Sleepers(&pile), 4);
    assert_int_equal(Sleepers(&awake), 0);
    EXPECT_NEAR(rgWorld_KineticEnergy(pile.scene.world), 0, 0);
    for (int i = 0; i < 4; ++i) {
        rgVec3 a = SceneBodyPoint(&pile.scene, pile.boxes[i]);
        EXPECT_NEAR(rgLength(rgSub(a, SceneBodyPoint(&awake.scene, pile.boxes[i]))), 0, 1e-6);
    }
    // nothing is done, and nothing changes but time
    rgStepReport report = SceneStep(&pile.scene);
    assert_int_equal(report.rowCount, 0);
    int count;
    const rgTouch* touches = rgWorld_Touches(pile.scene.world, &count);
    assert_int_equal(count, 4); // they press on as before
    double carried = 0;
    for (int i = 0; i < count; ++i) {
        assert_int_equal(touches[i].state, rg_touchPersist);
        carried += touches[i].bodyA.index1 == 0 ? touches[i].force.z : 0;
    }
    EXPECT_NEAR(carried, 7 * SCENE_G, 1e-3);
    SceneEnd(&pile.scene);
    SceneEnd(&awake.scene);
}

static void Settle(Pile* pile) {
    SceneRun(&pile->scene, 1000);
    assert_int_equal(Sleepers(pile), 4);
}

static void test_wakes(void** state) {
    (void)state;
    rgWorldDef def = SleepDef(0.2);
    Pile pile = MakePile(&def);
    rgWorld* world = pile.scene.world;
    Settle(&pile);
    // a push wakes all that fell asleep together, and nobody else
    assert_int_equal(rgWorld_ApplyWrench(world, pile.boxes[2], rgVec(0.1, 0, 0), rgVec(0, 0, 0)),
                     rg_ok);
    assert_int_equal(Sleepers(&pile), 1);
    assert_true(rgWorld_IsAsleep(world, pile.boxes[3]));
    rgStepReport report = SceneStep(&pile.scene);
    assert_int_equal(report.contactCount, 12);
    assert_true(rgWorld_BodyVelocity(world, pile.boxes[0]).linear.z > -1e-6); // it starts warm
    SceneRun(&pile.scene, 1000);
    assert_int_equal(Sleepers(&pile), 4);
    rgWorld_ClearWrenches(world);
    assert_int_equal(Sleepers(&pile), 1);
    Settle(&pile);
    // what it stands on goes away
    rgPose away = {rgVec(-3, 0, 0.1), rgQuatIdentity()};
    assert_int_equal(rgWorld_SetBodyPose(world, pile.boxes[0], away), rg_ok);
    SceneRun(&pile.scene, 100);
    assert_true(rgWorld_BodyVelocity(world, pile.boxes[2]).linear.z < -0.5);
    Settle(&pile);
    EXPECT_NEAR(SceneBodyPoint(&pile.scene, pile.boxes[2]).z, 0.3, 1e-4);
    // gravity is turned around
    rgWorldDef settings = rgWorld_Settings(world);
    settings.gravity.z = 1;
    assert_int_equal(rgWorld_ChangeSettings(world, &settings, NULL), rg_ok);
    assert_int_equal(Sleepers(&pile), 0);
    SceneRun(&pile.scene, 100);
    assert_true(rgWorld_BodyVelocity(world, pile.boxes[3]).linear.z > 0.05);
    SceneEnd(&pile.scene);
}

// A carriage that dry friction holds wakes by another control or force, not by the one that it has,
// nor by one that is refused.
static void test_inputs(void** state) {
    (void)state;
    rgWorldDef def = SleepDef(0.1);
    Scene scene = SceneText(
        "<mujoco><worldbody><body name='carriage'><joint name='rail' type='slide' axis='1 0 0' "
        "frictionloss='9'/><geom type='box' size='0.1 0.1 0.1' mass='1'/></body></worldbody>"
        "<actuator><motor joint='rail'/></actuator></mujoco>",
        &def);
    rgWorld* world = scene.world;
    const rgBodyId body = {1};
    const rgActuatorId motor = {1};
    const double numbers[] = {0, 2, 2, NAN, 3, 3, INFINITY, 1, 1};
    for (int i = 0; i < 9; ++i) {
        SceneRun(&scene, 300);
        assert_true(rgWorld_IsAsleep(world, body));
        bool other = isfinite(numbers[i]) && i > 0 && numbers[i] != numbers[i - 1];
        rgResult expected = isfinite(numbers[i]) ? rg_ok : rg_errorArgument;
        if (i < 4) {
            assert_int_equal(rgWorld_SetControl(world, &numbers[i]), expected);
        } else if (i < 7) {
            assert_int_equal(rgWorld_SetActuatorControl(world, motor, numbers[i]), expected);
        } else {
            assert_int_equal(rgWorld_SetForce(world, &numbers[i]), expected);
        }
        assert_int_equal(rgWorld_IsAsleep(world, body), !other);
    }
    SceneEnd(&scene);
}

// A ball that rolls in wakes the boxes that it hits, and ends as it does where nothing sleeps.
static void test_hit(void** state) {
    (void)state;
    rgWorldDef def = SleepDef(0.2), never = SleepDef(0);
    Pile piles[2] = {MakePile(&def), MakePile(&never)};
    for (int i = 0; i < 2; ++i) {
        Pile* pile = &piles[i];
        SceneRun(&pile->scene, 1000);
        assert_int_equal(rgWorld_EnableBody(pile->scene.world, pile->ball, true), rg_ok);
        rgPose pose = {rgVec(-1, 0, 0.1), rgQuatIdentity()};
        rgSpatial motion = {rgVec(4, 0, 0), rgVec(0, 40, 0)};
        assert_int_equal(rgWorld_SetBodyPose(pile->scene.world, pile->ball, pose), rg_ok);
        assert_int_equal(rgWorld_SetBodyVelocity(pile->scene.world, pile->ball, motion), rg_ok);
        for (int k = 0; k < 150; ++k) {
            SceneStep(&pile->scene);
            bool near = SceneBodyPoint(&pile->scene, pile->ball).x > -0.25;
            assert_true(i == 1 || near || Sleepers(pile) == 4);
        }
        SceneRun(&pile->scene, 150);
        assert_true(SceneBodyPoint(&pile->scene, pile->boxes[0]).x > 0.02);
        assert_true(i == 1 || rgWorld_IsAsleep(pile->scene.world, pile->boxes[3]));
        assert_int_equal(rgWorld_Health(pile->scene.world).anomalies & rg_anomalyDepth, 0);
    }
    for (int i = 0; i < 4; ++i) {
        rgVec3 a = SceneBodyPoint(&piles[0].scene, piles[0].boxes[i]);
        rgVec3 b = SceneBodyPoint(&piles[1].scene, piles[1].boxes[i]);
        EXPECT_NEAR(rgLength(rgSub(a, b)), 0, 2e-3);
    }
    SceneEnd(&piles[0].scene);
    SceneEnd(&piles[1].scene);
}

static void test_sleep_is_state(void** state) {
    (void)state;
    rgWorldDef def = SleepDef(0.2);
    Pile pile = MakePile(&def), other = MakePile(&def);
    for (int part = 0; part < 2; ++part) { // before they sleep, and while they do
        SceneRun(&pile.scene, part == 0 ? 250 : 750);
        size_t size = rgWorld_StateSize(pile.scene.world);
        void* saved = malloc(size);
        assert_int_equal(rgWorld_Save(pile.scene.world, saved, size), rg_ok);
        assert_int_equal(rgWorld_Restore(other.scene.world, saved, size), rg_ok);
        for (int i = 0; i < 2; ++i) {
            Scene* scene = i == 0 ? &pile.scene : &other.scene;
            SceneRun(scene, 50);
            assert_int_equal(
                rgWorld_ApplyWrench(scene->world, pile.boxes[1], rgVec(1, 0, 0), rgVec(0, 0, 0)),
                rg_ok);
            SceneRun(scene, 50);
            rgWorld_ClearWrenches(scene->world);
            SceneRun(scene, 100);
        }
        assert_true(rgWorld_Hash(pile.scene.world) == rgWorld_Hash(other.scene.world));
        free(saved);
    }
    uint64_t hash = rgWorld_Hash(pile.scene.world);
    assert_int_equal(rgWorld_Forward(pile.scene.world, NULL), rg_ok);
    assert_true(rgWorld_Hash(pile.scene.world) == hash);
    SceneEnd(&pile.scene);
    SceneEnd(&other.scene);
}

// On a platform that starts to move; and anchors of tangential springs are still there.
static void test_platform_and_anchors(void** state) {
    (void)state;
    Scene scene = SceneStart();
    rgBodyDef body = rgDefaultBodyDef();
    body.kinematic = true;
    rgBodyId platform;
    assert_int_equal(rgModelDef_AddBody(scene.def, &body, &platform), rg_ok);
    rgShapeDef shape = rgDefaultShapeDef();
    shape.body = platform;
    shape.kind = rg_shapeBox;
    shape.size = rgVec(5, 5, 0.1);
    shape.pose.q = rgQuatFromAxisAngle(rgVec(0, 1, 0), 0.2);
    shape.material.mu = 0.8;
    assert_int_equal(rgModelDef_AddShape(scene.def, &shape, NULL), rg_ok);
    Solid solid = SolidOf(rg_shapeBox, rgVec(0.1, 0.1, 0.1), 2, rgVec(0, 0, 0));
    solid.pose.q = shape.pose.q;
    solid.pose.p = rgRotate(shape.pose.q, rgVec(0, 0, 0.2));
    solid.material.mu = 0.8;
    solid.material.tangentialStiffness = 1e4;
    solid.material.tangentialDamping = 100;
    rgBodyId box = SceneFree(&scene, &solid);
    rgWorldDef def = SleepDef(0.3);
    SceneMake(&scene, &def);
    SceneRun(&scene, 2000);
    assert_true(rgWorld_IsAsleep(scene.world, box));
    assert_false(rgWorld_IsAsleep(NULL, box) || rgWorld_IsAsleep(scene.world, (rgBodyId){0}) ||
                 rgWorld_IsAsleep(scene.world, (rgBodyId){99}));
    rgVec3 there = SceneBodyPoint(&scene, box);
    double sunk = rgDot(rgSub(there, solid.pose.p), rgRotate(shape.pose.q, rgVec(1, 0, 0)));
    EXPECT_NEAR(sunk, 2 * SCENE_G * sin(0.2) / 4e4, 2e-6);
    assert_int_equal(rgWorld_ApplyWrench(scene.world, box, rgVec(0, 0, -1e-9), rgVec(0, 0, 0)),
                     rg_ok);
    assert_false(rgWorld_IsAsleep(scene.world, box));
    SceneRun(&scene, 1000);
    EXPECT_NEAR(rgLength(rgSub(SceneBodyPoint(&scene, box), there)), 0,
                1e-6); // it did not sink again
    assert_true(rgWorld_IsAsleep(scene.world, box));
    rgSpatial motion = {rgVec(0, 0.5, 0), rgVec(0, 0, 0)};
    assert_int_equal(rgWorld_SetBodyVelocity(scene.world, platform, motion), rg_ok);
    SceneRun(&scene, 1000);
    assert_false(rgWorld_IsAsleep(scene.world, box));
    EXPECT_NEAR(rgWorld_BodyVelocity(scene.world, box).linear.y, 0.5, 1e-4);
    SceneEnd(&scene);
}

// What hangs on a hand that starts to move.
static void test_tied(void** state) {
    (void)state;
    Scene scene = SceneStart();
    rgBodyDef body = rgDefaultBodyDef();
    body.kinematic = true;
    rgEqualityDef weld = rgDefaultEqualityDef();
    weld.kind = rg_equalityWeld;
    assert_int_equal(rgModelDef_AddBody(scene.def, &body, &weld.bodyA), rg_ok);
    Solid solid = SolidOf(rg_shapeSphere, rgVec(0.1, 0, 0), 1, rgVec(0, 0, -1));
    weld.poseA.p = solid.pose.p;
    weld.bodyB = SceneFree(&scene, &solid);
    assert_int_equal(rgModelDef_AddEquality(scene.def, &weld, NULL), rg_ok);
    rgWorldDef def = SleepDef(0.1);
    SceneMake(&scene, &def);
    SceneRun(&scene, 300);
    assert_true(rgWorld_IsAsleep(scene.world, weld.bodyB));
    rgPose pose = {rgVec(0.001, 0, 0), rgQuatIdentity()};
    assert_int_equal(rgWorld_MoveBody(scene.world, weld.bodyA, pose), rg_ok);
    SceneRun(&scene, 1);
    EXPECT_NEAR(SceneBodyPoint(&scene, weld.bodyB).x, 0.001, 1e-9);
    SceneRun(&scene, 300);
    assert_true(rgWorld_IsAsleep(scene.world, weld.bodyB));
    rgSpatial motion = {rgVec(1, 0, 0), rgVec(0, 0, 0)};
    assert_int_equal(rgWorld_SetBodyVelocity(scene.world, weld.bodyA, motion), rg_ok);
    SceneRun(&scene, 100);
    EXPECT_NEAR(SceneBodyPoint(&scene, weld.bodyB).x, 0.101, 1e-9);
    SceneEnd(&scene);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_falls_asleep),   cmocka_unit_test(test_wakes),
        cmocka_unit_test(test_inputs),         cmocka_unit_test(test_hit),
        cmocka_unit_test(test_sleep_is_state), cmocka_unit_test(test_platform_and_anchors),
        cmocka_unit_test(test_tied),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
