// The monitor: motion that mechanics explains raises no anomaly, other motion does.
#include "scene.h"

static rgHealth RunHealth(Scene* scene, int steps) {
    SceneRun(scene, steps);
    return rgWorld_Health(scene->world);
}

static Scene BallOverFloor(double height, const rgWorldDef* def) {
    Scene scene = SceneStart();
    ScenePlane(&scene, 0.5, rgQuatIdentity());
    Solid ball = SolidOf(rg_shapeSphere, rgVec(0.1, 0, 0), 1, rgVec(0, 0, height));
    SceneFree(&scene, &ball);
    SceneMake(&scene, def);
    return scene;
}

// Placed half into the floor: the overlap comes from nowhere, and lifting it out takes energy from
// nowhere. The ball gets no speed.
static void test_deep_overlap(void** state) {
    (void)state;
    rgWorldDef def = SceneWorldDef(1e-3, 1e-10);
    Scene scene = BallOverFloor(1, &def);
    rgHealth health = RunHealth(&scene, 100);
    assert_int_equal(health.anomalies, rg_anomalyNone);
    double q[7] = {0, 0, 0.04, 1};
    assert_int_equal(rgWorld_SetState(scene.world, q, NULL), rg_ok);
    double time = rgWorld_Time(scene.world);
    health = RunHealth(&scene, 200);
    assert_int_equal(health.anomalies, rg_anomalyDepth | rg_anomalyEnergy);
    EXPECT_NEAR(health.depth.amount, 0.06, 1e-9);
    EXPECT_NEAR(health.depth.time, time, 1e-9);
    assert_int_equal(health.depth.shapeA.index1 + health.depth.shapeB.index1, 3);
    EXPECT_NEAR(health.energy.amount, 0.06 * SCENE_G, 1e-3);
    assert_true(rgWorld_KineticEnergy(scene.world) < 1e-12);
    SceneEnd(&scene);
}

// Springs give back what they held, and the overlap is told all the same.
static void test_deep_overlap_of_springs(void** state) {
    (void)state;
    rgWorldDef def = SceneWorldDef(1e-3, 1e-10);
    def.stiffness = 1e4;
    def.damping = 10;
    Scene scene = BallOverFloor(0.04, &def);
    rgHealth health = RunHealth(&scene, 200);
    assert_int_equal(health.anomalies, rg_anomalyDepth);
    assert_true(rgWorld_PotentialEnergy(scene.world) > 2); // 18 J were in the spring
    SceneEnd(&scene);
}

// Springs of shapes, of their friction and of pairs keep energy as well: a box that swings on one
// gets back the speed that it had.
static void test_springs_of_shapes(void** state) {
    (void)state;
    rgWorldDef def = SceneWorldDef(1e-3, 1e-10);
    for (int kind = 0; kind < 3; ++kind) { // of the shapes, of their friction, of the pair
        const bool tangential = kind == 1;
        Scene scene = SceneStart();
        Solid box = SolidOf(rg_shapeBox, rgVec(0.2, 0.2, 0.05), 1, rgVec(0, 0, 0.05));
        rgMaterial springy = box.material;
        *(tangential ? &springy.tangentialStiffness : &springy.stiffness) = tangential ? 8 : 1e4;
        box.material = kind < 2 ? springy : box.material;
        rgShapeDef floor = rgDefaultShapeDef();
        floor.kind = rg_shapePlane;
        floor.material = box.material;
        assert_int_equal(rgModelDef_AddShape(scene.def, &floor, NULL), rg_ok);
        SceneFree(&scene, &box);
        if (kind == 2) {
            assert_int_equal(
                rgModelDef_AddPair(scene.def, (rgShapeId){1}, (rgShapeId){2}, &springy), rg_ok);
        }
        SceneMake(&scene, &def);
        SceneSetVelocity(&scene, 0, 6, (double[]){tangential, 0, -2 * (1 - tangential), 0, 0, 0});
        double least = INFINITY, most = 0;
        for (int i = 0; i < 1500; ++i) {
            SceneStep(&scene);
            double energy = rgWorld_KineticEnergy(scene.world);
            least = fmin(least, energy);
            most = fmax(most, energy - least);
        }
        assert_true(least < 0.1 && most > 0.3); // and back
        assert_int_equal(rgWorld_Health(scene.world).anomalies & rg_anomalyEnergy, 0);
        SceneEnd(&scene);
    }
}

// Bounces, soft and hard, impacts at speed, friction: all explained.
static void test_impacts_are_explained(void** state) {
    (void)state;
    const double stiffness[] = {0, 1e4, 1e6}, restitution[] = {0, 0.8, 1};
    for (int k = 0; k < 3; ++k) {
        for (int e = 0; e < 3; ++e) {
            rgWorldDef def = SceneWorldDef(1e-3, 1e-10);
            def.stiffness = stiffness[k];
            def.restitution = stiffness[k] > 0 ? 0 : restitution[e];
            Scene scene = BallOverFloor(0.6, &def);
            SceneSetVelocity(&scene, 0, 6, (double[]){3, 0, -10.0 * e, 0, 40, 10});
            assert_int_equal(RunHealth(&scene, 2000).anomalies, rg_anomalyNone);
            SceneEnd(&scene);
        }
    }
}

// Whoever drives a scene or sets its state may add energy; bodies placed without overlap raise no
// anomaly.
static void test_driven_is_explained(void** state) {
    (void)state;
    rgWorldDef def = SceneWorldDef(1e-3, 1e-10);
    Scene scene = BallOverFloor(0.1, &def);
    SceneRun(&scene, 100);
    assert_int_equal(
        rgWorld_ApplyWrench(scene.world, (rgBodyId){1}, rgVec(1, 0, 30), rgVec(0, 0, 0)), rg_ok);
    SceneRun(&scene, 300);
    assert_true(SceneEnergy(&scene) > 20);
    rgWorld_ClearWrenches(scene.world);
    SceneRun(&scene, 300);
    size_t size = rgWorld_StateSize(scene.world);
    void* saved = malloc(size);
    assert_int_equal(rgWorld_Save(scene.world, saved, size), rg_ok);
    SceneRun(&scene, 1000);
    assert_int_equal(rgWorld_Restore(scene.world, saved, size), rg_ok); // back up, and faster
    SceneRun(&scene, 1000);
    rgPose up = {rgVec(0, 0, 5), rgQuatIdentity()};
    assert_int_equal(rgWorld_SetBodyPose(scene.world, (rgBodyId){1}, up), rg_ok);
    SceneRun(&scene, 1500);
    double force[6] = {20, 0, 0, 0, 0, 0};
    assert_int_equal(rgWorld_SetForce(scene.world, force), rg_ok);
    assert_int_equal(RunHealth(&scene, 500).anomalies, rg_anomalyNone);
    free(saved);
    SceneEnd(&scene);
}

// Looking at a state does not count as an event, however often.
static void test_forward_is_no_event(void** state) {
    (void)state;
    rgWorldDef def = SceneWorldDef(1e-3, 1e-10);
    Scene scene = BallOverFloor(0.3, &def);
    for (int i = 0; i < 500; ++i) {
        assert_int_equal(rgWorld_Forward(scene.world, NULL), rg_ok);
        SceneStep(&scene);
    }
    assert_int_equal(rgWorld_Health(scene.world).anomalies, rg_anomalyNone);
    SceneEnd(&scene);
}

// A body that the filter lets through a wall meets it only once it is inside: as a mesh whose other
// side is seen too late would. The pair is new, and no speed explains how deep it is.
static void test_appears_inside(void** state) {
    (void)state;
    Scene scene = SceneStart();
    Solid wall = SolidOf(rg_shapeBox, rgVec(0.5, 0.5, 0.5), 1, rgVec(0, 0, 0));
    SceneBody(&scene, &wall, (rgBodyId){0});
    Solid ball = SolidOf(rg_shapeSphere, rgVec(0.1, 0, 0), 1, rgVec(2, 0, 0));
    rgBodyId id = SceneFree(&scene, &ball);
    rgWorldDef def = SceneWorldDef(1e-3, 1e-10);
    def.hasGravity = true;
    SceneMake(&scene, &def);
    SceneSetVelocity(&scene, 0, 1, (double[]){-1});
    SceneRun(&scene, 3000); // stops at the wall
    EXPECT_NEAR(SceneBodyPoint(&scene, id).x, 0.6, 1e-6);
    assert_int_equal(rgWorld_Health(scene.world).anomalies, rg_anomalyNone);
    // asleep, it is carried inside; awake, it is there
    assert_int_equal(rgWorld_EnableBody(scene.world, id, false), rg_ok);
    SceneRun(&scene, 10);
    rgPose inside = {rgVec(0.4, 0, 0), rgQuatIdentity()};
    assert_int_equal(rgWorld_SetBodyPose(scene.world, id, inside), rg_ok);
    SceneRun(&scene, 10);
    assert_int_equal(rgWorld_EnableBody(scene.world, id, true), rg_ok);
    rgHealth health = RunHealth(&scene, 10);
    assert_true((health.anomalies & rg_anomalyDepth) != 0);
    EXPECT_NEAR(health.depth.amount, 0.2, 1e-6);
    SceneEnd(&scene);
}

static double Apart(const Scene* scene, int a, int b) {
    rgProximity proximity;
    rgResult result =
        rgWorld_ShapeDistance(scene->world, (rgShapeId){a}, (rgShapeId){b}, &proximity);
    assert_int_equal(result, rg_ok);
    return proximity.distance;
}

// A base that is fixed to the world is part of the robot: what overlaps it by design is not pushed
// apart, no more than parts of a floating robot are, and raises no anomaly. Nor does its weight
// press it deeper, by more than the square of what a step turns it.
static void test_overlaps_its_fixed_base(void** state) {
    (void)state;
    Scene scene = SceneStart();
    Solid box = SolidOf(rg_shapeBox, rgVec(0.1, 0.1, 0.1), 1, rgVec(0, 0, 1));
    rgBodyId base = SceneBody(&scene, &box, (rgBodyId){0});
    rgBodyId tips[2];
    for (int side = 0; side < 2; ++side) {
        box.pose.p = rgVec(side ? 0.15 : -0.15, 0, -0.15);
        rgBodyId upper = SceneBody(&scene, &box, base);
        SceneJoint(&scene, upper, rg_jointRevolute, rgVec(0, 0, 0.1), rgVec(0, 1, 0));
        box.pose.p = rgVec(side ? -0.12 : 0.12, 0, 0.05); // back into the base, and the other one
        tips[side] = SceneBody(&scene, &box, upper);
        SceneJoint(&scene, tips[side], rg_jointRevolute, rgVec(0, 0, 0), rgVec(1, 0, 0));
    }
    rgWorldDef def = SceneWorldDef(1e-3, 1e-8);
    SceneMake(&scene, &def);
    double start = SceneEnergy(&scene);
    const int pairs[3][2] = {{1, 3}, {1, 5}, {3, 5}}; // shapes: the base and the tips
    double apart[3];
    for (int k = 0; k < 3; ++k) {
        apart[k] = Apart(&scene, pairs[k][0], pairs[k][1]);
        assert_true(apart[k] < -1e-3);
    }
    for (int i = 0; i < 1000; ++i) {
        rgStepReport report = SceneStep(&scene);
        assert_int_equal(report.contact.status, rg_contactSolved);
        assert_true(SceneEnergy(&scene) < start + 1e-3);
        for (int k = 0; k < 3; ++k) {
            assert_true(Apart(&scene, pairs[k][0], pairs[k][1]) > apart[k] - 1e-5);
        }
    }
    assert_int_equal(rgWorld_Health(scene.world).anomalies, rg_anomalyNone);
    SceneEnd(&scene);
}

// A ball that rests on the floor is pressed down, by less and by more than 1e4 times its weight.
static void test_force_beyond_the_weight(void** state) {
    (void)state;
    rgWorldDef def = SceneWorldDef(1e-3, 1e-10);
    for (int k = 0; k < 2; ++k) {
        const double press = (k == 0 ? 0.5e4 : 2e4) * SCENE_G;
        Scene scene = BallOverFloor(0.1, &def);
        assert_int_equal(rgWorld_SetForce(scene.world, (double[6]){0, 0, -press}), rg_ok);
        rgHealth health = RunHealth(&scene, 16);
        assert_int_equal(health.anomalies, k == 0 ? rg_anomalyNone : rg_anomalyForce);
        EXPECT_NEAR(health.force.amount, k == 0 ? 0 : press + SCENE_G, 1e-6 * press);
        SceneEnd(&scene);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_deep_overlap),
        cmocka_unit_test(test_deep_overlap_of_springs),
        cmocka_unit_test(test_springs_of_shapes),
        cmocka_unit_test(test_impacts_are_explained),
        cmocka_unit_test(test_driven_is_explained),
        cmocka_unit_test(test_forward_is_no_event),
        cmocka_unit_test(test_appears_inside),
        cmocka_unit_test(test_overlaps_its_fixed_base),
        cmocka_unit_test(test_force_beyond_the_weight),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
