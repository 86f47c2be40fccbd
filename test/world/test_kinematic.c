// Bodies that move as they are told, and belts: what they carry, push and hold, beside formulas.
#include "scene.h"

static rgBodyId Platform(Scene* scene, rgVec3 half, rgVec3 position, double mu) {
    rgBodyDef body = rgDefaultBodyDef();
    body.kinematic = true;
    body.pose.p = position;
    rgBodyId id;
    assert_int_equal(rgModelDef_AddBody(scene->def, &body, &id), rg_ok);
    rgShapeDef shape = rgDefaultShapeDef();
    shape.body = id;
    shape.kind = rg_shapeBox;
    shape.size = half;
    shape.material.mu = mu;
    assert_int_equal(rgModelDef_AddShape(scene->def, &shape, NULL), rg_ok);
    return id;
}

static rgShapeId Belt(Scene* scene, rgPose pose, rgVec3 velocity, double mu) {
    rgShapeDef shape = rgDefaultShapeDef();
    shape.kind = rg_shapeBox;
    shape.size = rgVec(5, 5, 0.1);
    shape.pose = pose;
    shape.material.mu = mu;
    shape.surfaceVelocity = velocity;
    rgShapeId id;
    assert_int_equal(rgModelDef_AddShape(scene->def, &shape, &id), rg_ok);
    return id;
}

static rgPose At(double x, double y, double z) {
    return (rgPose){rgVec(x, y, z), rgQuatIdentity()};
}

// x = a t^2/2, said after each step. Below mu g the box stays where it is on the platform; above,
// it has mu g.
static void test_accelerating_platform(void** state) {
    (void)state;
    const double mu = 0.5, dt = 1e-3;
    const double rates[2] = {0.95 * mu * SCENE_G, 1.3 * mu * SCENE_G};
    for (int i = 0; i < 2; ++i) {
        Scene scene = SceneStart();
        rgBodyId platform = Platform(&scene, rgVec(20, 1, 0.1), rgVec(0, 0, 0), mu);
        rgBodyId box = SceneCube(&scene, 0.1, 2, rgVec(0, 0, 0.2), mu);
        rgWorldDef def = SceneWorldDef(dt, 1e-9);
        SceneMake(&scene, &def);
        for (int k = 1; k <= 1000; ++k) {
            double t = k * dt;
            assert_int_equal(
                rgWorld_MoveBody(scene.world, platform, At(0.5 * rates[i] * t * t, 0, 0)), rg_ok);
            SceneStep(&scene);
        }
        double own = SceneBodyPoint(&scene, box).x, carrier = SceneBodyPoint(&scene, platform).x;
        double speed = rgWorld_BodyVelocity(scene.world, box).linear.x;
        EXPECT_NEAR(carrier, 0.5 * rates[i], 1e-12);
        EXPECT_NEAR(rgWorld_BodyVelocity(scene.world, platform).linear.x, rates[i], rates[i] * dt);
        if (i == 0) {
            EXPECT_NEAR(own - carrier, 0, 2e-5); // until the change of its velocity is known
            EXPECT_NEAR(speed, rates[0], 1e-6);
        } else {
            EXPECT_NEAR(speed, mu * SCENE_G, 0.5 * mu * SCENE_G * dt); // the first step is half one
            EXPECT_NEAR(own, 0.5 * mu * SCENE_G, mu * SCENE_G * dt);
        }
        SceneEnd(&scene);
    }
}

// A sin(w t) sticks while A w^2 < mu g.
static void test_shaking_platform(void** state) {
    (void)state;
    const double mu = 0.4, w = 10, dt = 1e-3;
    for (int i = 0; i < 2; ++i) {
        double share = i == 0 ? 0.95 : 1.2, A = share * mu * SCENE_G / (w * w);
        Scene scene = SceneStart();
        rgBodyId platform = Platform(&scene, rgVec(2, 1, 0.1), rgVec(0, 0, 0), mu);
        rgBodyId box = SceneCube(&scene, 0.1, 2, rgVec(0, 0, 0.2), mu);
        rgWorldDef def = SceneWorldDef(dt, 1e-9);
        SceneMake(&scene, &def);
        // starts at an extreme, hence at rest
        double most = 0;
        for (int k = 1; k <= 2000; ++k) {
            double x = A * (1 - cos(w * k * dt));
            assert_int_equal(rgWorld_MoveBody(scene.world, platform, At(0, x, 0)), rg_ok);
            SceneStep(&scene);
            most = fmax(most, fabs(SceneBodyPoint(&scene, box).y - x));
        }
        if (i == 0) {
            assert_true(most < 2e-5); // until the change of its velocity is known
        } else {
            assert_true(most > 1e-3);
        }
        SceneEnd(&scene);
    }
}

// A belt at v takes a box along: mu g until v/(mu g), then v. Its motion does not heat a box that
// rides along.
static void test_conveyor(void** state) {
    (void)state;
    const double mu = 0.3, v = 1.5, dt = 1e-3, until = v / (mu * SCENE_G);
    const rgQuat turns[2] = {rgQuatIdentity(), rgQuatFromAxisAngle(rgVec(0, 0, 1), 2)};
    for (int i = 0; i < 2; ++i) {
        Scene scene = SceneStart();
        Belt(&scene, (rgPose){rgVec(0, 0, -0.1), turns[i]}, rgVec(v, 0, 7), mu); // 7: no part
        rgBodyId box = SceneCube(&scene, 0.1, 3, rgVec(0, 0, 0.1), mu);
        rgWorldDef def = SceneWorldDef(dt, 1e-9);
        SceneMake(&scene, &def);
        rgVec3 along = rgRotate(turns[i], rgVec(1, 0, 0));
        for (int k = 1; k <= 1000; ++k) {
            SceneStep(&scene);
            double t = k * dt, speed = rgDot(rgWorld_BodyVelocity(scene.world, box).linear, along);
            EXPECT_NEAR(speed, fmin(mu * SCENE_G * t, v), 2 * mu * SCENE_G * dt);
        }
        EXPECT_NEAR(rgDot(rgWorld_BodyVelocity(scene.world, box).linear, along), v, 1e-6);
        rgVec3 p = SceneBodyPoint(&scene, box);
        EXPECT_NEAR(rgDot(p, along), v * 1 - 0.5 * v * until, v * dt);
        EXPECT_NEAR(rgLength(rgSub(p, rgAddScaled(rgVec(0, 0, 0.1), rgDot(p, along), along))), 0,
                    1e-5);
        int count;
        const rgContact* contacts = rgWorld_Contacts(scene.world, &count);
        assert_int_equal(count, 4);
        for (int k = 0; k < count; ++k) {
            assert_int_equal(contacts[k].state, rg_contactStick);
            EXPECT_NEAR(hypot(contacts[k].slip[0], contacts[k].slip[1]), 0, 1e-6);
        }
        assert_int_equal(rgWorld_Health(scene.world).anomalies, 0);
        SceneEnd(&scene);
    }
}

// The belt stops and goes while the world runs.
static void test_belt_changes(void** state) {
    (void)state;
    Scene scene = SceneStart();
    rgShapeId belt = Belt(&scene, At(0, 0, -0.1), rgVec(0, 0, 0), 0.8);
    rgBodyId box = SceneCube(&scene, 0.1, 3, rgVec(0, 0, 0.1), 0.8);
    rgWorldDef def = SceneWorldDef(1e-3, 1e-9);
    SceneMake(&scene, &def);
    for (int i = 0; i < 4; ++i) {
        rgShapeDef shape = *rgModel_Shape(rgWorld_Model(scene.world), belt);
        shape.surfaceVelocity = rgVec(0, i % 2 == 0 ? 1 : -0.5, 0);
        assert_int_equal(rgWorld_ChangeShape(scene.world, belt, &shape, NULL), rg_ok);
        SceneRun(&scene, 500);
        EXPECT_NEAR(rgWorld_BodyVelocity(scene.world, box).linear.y, shape.surfaceVelocity.y, 1e-6);
    }
    SceneEnd(&scene);
}

// A disc whose surface turns while it stays: a box in the middle spins along, one further out goes
// round as on a turntable.
static void test_turning_surface(void** state) {
    (void)state;
    const double w = 2, r = 0.3, dt = 1e-3;
    Scene scene = SceneStart();
    rgShapeDef disc = rgDefaultShapeDef();
    disc.kind = rg_shapeCylinder;
    disc.size = rgVec(2, 0.1, 0);
    disc.pose = At(0.5, -0.2, -0.1);
    disc.material.mu = 0.9;
    disc.surfaceSpin = rgVec(0, 0, w);
    assert_int_equal(rgModelDef_AddShape(scene.def, &disc, NULL), rg_ok);
    rgBodyId middle = SceneCube(&scene, 0.1, 2, rgVec(0.5, -0.2, 0.1), 0.9);
    rgBodyId outer = SceneCube(&scene, 0.03, 1, rgVec(0.5 + r, -0.2, 0.03), 0.9);
    rgWorldDef def = SceneWorldDef(dt, 1e-9);
    SceneMake(&scene, &def);
    // both start with the surface
    const rgJointRange ranges[2] = {rgModel_JointRange(scene.model, (rgJointId){1}),
                                    rgModel_JointRange(scene.model, (rgJointId){2})};
    double v[12] = {0};
    v[ranges[0].v + 5] = v[ranges[1].v + 5] = w;
    v[ranges[1].v + 1] = w * r;
    assert_int_equal(rgWorld_SetState(scene.world, rgWorld_Positions(scene.world, NULL), v), rg_ok);
    SceneRun(&scene, 1000);
    EXPECT_NEAR(rgWorld_BodyVelocity(scene.world, middle).angular.z, w, 1e-5);
    rgVec3 at = rgSub(SceneBodyPoint(&scene, outer), rgVec(0.5, -0.2, 0.03));
    // the surface's velocity is that at the middle of a step: it leads outward by dt w^2 r/2
    EXPECT_NEAR(rgLength(at), r, 0.6 * dt * w * w * r);
    EXPECT_NEAR(atan2(at.y, at.x), w, 1e-4);
    SceneEnd(&scene);
}

// A table that is told to turn, and one on a hinge that is too heavy to be slowed down.
static void test_turntable(void** state) {
    (void)state;
    const double w = 2.5, dt = 1e-3;
    rgVec3 places[2][2];
    for (int i = 0; i < 2; ++i) {
        Scene scene = SceneStart();
        rgBodyId table;
        Solid disc = SolidOf(rg_shapeCylinder, rgVec(2, 0.1, 0), 1e9, rgVec(0.3, 0, -0.1));
        disc.material.mu = 0.6;
        if (i == 0) {
            table = SceneBody(&scene, &disc, (rgBodyId){0});
            SceneJoint(&scene, table, rg_jointRevolute, rgVec(0, 0, 0), rgVec(0, 0, 1));
        } else {
            rgBodyDef body = rgDefaultBodyDef();
            body.kinematic = true;
            body.pose = disc.pose;
            assert_int_equal(rgModelDef_AddBody(scene.def, &body, &table), rg_ok);
            rgShapeDef shape = rgDefaultShapeDef();
            shape.body = table;
            shape.kind = disc.kind;
            shape.size = disc.size;
            shape.material = disc.material;
            assert_int_equal(rgModelDef_AddShape(scene.def, &shape, NULL), rg_ok);
        }
        rgBodyId inner = SceneCube(&scene, 0.05, 1, rgVec(0.9, 0, 0.05), 0.6);   // stays
        rgBodyId outer = SceneCube(&scene, 0.05, 1, rgVec(0.3, 1.8, 0.05), 0.6); // leaves
        rgWorldDef def = SceneWorldDef(dt, 1e-10);
        SceneMake(&scene, &def);
        if (i == 0) {
            double v[13] = {w};
            assert_int_equal(rgWorld_SetState(scene.world, rgWorld_Positions(scene.world, NULL), v),
                             rg_ok);
        } else {
            rgSpatial turning = {rgVec(0, 0, 0), rgVec(0, 0, w)};
            assert_int_equal(rgWorld_SetBodyVelocity(scene.world, table, turning), rg_ok);
        }
        for (int k = 0; k < 2; ++k) { // they ride along from the start
            rgBodyId body = k == 0 ? inner : outer;
            rgVec3 r = rgSub(SceneBodyPoint(&scene, body), rgVec(0.3, 0, 0));
            rgSpatial motion = {rgCross(rgVec(0, 0, w), r), rgVec(0, 0, w)};
            assert_int_equal(rgWorld_SetBodyVelocity(scene.world, body, motion), rg_ok);
        }
        SceneRun(&scene, 600);
        places[i][0] = SceneBodyPoint(&scene, inner);
        places[i][1] = SceneBodyPoint(&scene, outer);
        rgVec3 r = rgSub(places[i][0], rgVec(0.3, 0, 0));
        EXPECT_NEAR(atan2(r.y, r.x), 0.6 * w, 1e-5);
        EXPECT_NEAR(hypot(r.x, r.y), 0.6, 1e-6);
        r = rgSub(places[i][1], rgVec(0.3, 0, 0));
        assert_true(hypot(r.x, r.y) > 1.85);
        SceneEnd(&scene);
    }
    EXPECT_NEAR(rgLength(rgSub(places[0][0], places[1][0])), 0, 1e-6);
    EXPECT_NEAR(rgLength(rgSub(places[0][1], places[1][1])), 0, 1e-5);
}

// A lift that speeds up is pressed by m (g + a), and so is whoever moves it, with its own mass.
static void test_reaction(void** state) {
    (void)state;
    const double dt = 1e-3, a = 2, mass = 3, own = 1.5;
    Scene scene = SceneStart();
    rgBodyDef body = rgDefaultBodyDef();
    body.kinematic = true;
    body.inertia = rgInertiaFromShape(rg_shapeBox, rgVec(1, 1, 0.1), own);
    rgBodyId lift;
    assert_int_equal(rgModelDef_AddBody(scene.def, &body, &lift), rg_ok);
    rgShapeDef shape = rgDefaultShapeDef();
    shape.body = lift;
    shape.kind = rg_shapeBox;
    shape.size = rgVec(1, 1, 0.1);
    assert_int_equal(rgModelDef_AddShape(scene.def, &shape, NULL), rg_ok);
    rgBodyId box = SceneCube(&scene, 0.1, mass, rgVec(0.4, 0, 0.2), 0.5);
    rgWorldDef def = SceneWorldDef(dt, 1e-10);
    SceneMake(&scene, &def);
    assert_true(rgModel_Info(scene.model).mass == mass);
    for (int k = 1; k <= 500; ++k) {
        rgSpatial up = {rgVec(0, 0, a * k * dt), rgVec(0, 0, 0)};
        assert_int_equal(rgWorld_SetBodyVelocity(scene.world, lift, up), rg_ok);
        SceneStep(&scene);
    }
    rgSpatial holds = rgWorld_BodyReaction(scene.world, lift);
    EXPECT_NEAR(rgWorld_ContactForce(scene.world, box).z, mass * (SCENE_G + a), 1e-5);
    EXPECT_NEAR(rgWorld_ContactForce(scene.world, lift).z, -mass * (SCENE_G + a), 1e-5);
    // The velocity was set before the step: its own acceleration is none of the step's.
    EXPECT_NEAR(holds.linear.z, mass * (SCENE_G + a) + own * SCENE_G, 1e-5);
    EXPECT_NEAR(holds.angular.y, -0.4 * mass * (SCENE_G + a), 1e-5);
    for (int k = 1; k <= 100; ++k) {
        double z = rgWorld_BodyPose(scene.world, lift).p.z + dt * a * (0.5 + k * dt);
        assert_int_equal(rgWorld_MoveBody(scene.world, lift, At(0, 0, z)), rg_ok);
        SceneStep(&scene);
    }
    holds = rgWorld_BodyReaction(scene.world, lift);
    EXPECT_NEAR(holds.linear.z, (mass + own) * (SCENE_G + a), 1e-4);
    SceneEnd(&scene);
}

// Held by a hand: a free body that is welded or hung to a kinematic one.
static void test_weld_and_connect(void** state) {
    (void)state;
    const double dt = 1e-3, a = 3;
    for (int weld = 0; weld < 2; ++weld) {
        Scene scene = SceneStart();
        rgBodyId hand = Platform(&scene, rgVec(0.02, 0.02, 0.02), rgVec(0, 0, 2), 0.5);
        double tilt = weld ? 0 : atan2(a, SCENE_G); // of a pendulum that follows at rest
        Solid solid = SolidOf(rg_shapeBox, rgVec(0.1, 0.1, 0.2), 2, rgVec(0, 0, 1.5));
        solid.pose.q = rgQuatFromAxisAngle(rgVec(0, 1, 0), tilt);
        solid.pose.p = rgAdd(rgVec(0, 0, 2), rgRotate(solid.pose.q, rgVec(0, 0, -0.5)));
        rgEqualityDef equality = rgDefaultEqualityDef();
        equality.kind = weld ? rg_equalityWeld : rg_equalityConnect;
        equality.bodyA = hand;
        equality.bodyB = SceneFree(&scene, &solid);
        equality.poseB.p = rgVec(0, 0, 0.5);
        assert_int_equal(rgModelDef_AddEquality(scene.def, &equality, NULL), rg_ok);
        rgWorldDef def = SceneWorldDef(dt, 1e-10);
        SceneMake(&scene, &def);
        for (int k = 1; k <= 1000; ++k) {
            double t = k * dt;
            rgPose pose = At(0.5 * a * t * t, 0, 2);
            if (weld) {
                pose.p.z += 0.2 * sin(5 * t);
                pose.q = rgQuatFromAxisAngle(rgVec(0, 1, 0), 1.5 * sin(2 * t));
            }
            assert_int_equal(rgWorld_MoveBody(scene.world, hand, pose), rg_ok);
            SceneStep(&scene);
            rgPose held = rgWorld_BodyPose(scene.world, equality.bodyB);
            rgVec3 off = rgSub(rgPose_Point(held, rgVec(0, 0, 0.5)), pose.p);
            EXPECT_NEAR(rgLength(off), 0, 1e-9);
            if (weld) {
                rgQuat turn = rgQuatMultiply(rgQuatConjugate(pose.q), held.q);
                EXPECT_NEAR(rgLength(rgRotationVectorFromQuat(turn)), 0, 1e-9);
            } else {
                rgVec3 down = rgRotate(held.q, rgVec(0, 0, -1));
                EXPECT_NEAR(atan2(-down.x, -down.z), tilt, 2e-3);
            }
        }
        if (!weld) {
            rgSpatial pull = rgWorld_BodyReaction(scene.world, hand);
            EXPECT_NEAR(pull.linear.x, 2 * a, 0.02);
            EXPECT_NEAR(pull.linear.z, 2 * SCENE_G, 0.05);
        }
        SceneEnd(&scene);
    }
}

// A racket at u meets a ball at -w: it leaves at u + e (u + w).
static void test_racket(void** state) {
    (void)state;
    const double u = 2, w = 3, e = 0.6;
    Scene scene = SceneStart();
    rgBodyId racket = Platform(&scene, rgVec(0.5, 0.5, 0.05), rgVec(0, 0, 0), 0.5);
    Solid ball = SolidOf(rg_shapeSphere, rgVec(0.05, 0, 0), 0.1, rgVec(0, 0, 0.2));
    ball.material.restitution = e;
    rgBodyId id = SceneFree(&scene, &ball);
    rgWorldDef def = SceneWorldDef(1e-4, 1e-10);
    def.hasGravity = true;
    def.gravity = rgVec(0, 0, 0);
    SceneMake(&scene, &def);
    rgSpatial up = {rgVec(0, 0, u), rgVec(0, 0, 0)}, down = {rgVec(0, 0, -w), rgVec(0, 0, 0)};
    assert_int_equal(rgWorld_SetBodyVelocity(scene.world, racket, up), rg_ok);
    assert_int_equal(rgWorld_SetBodyVelocity(scene.world, id, down), rg_ok);
    SceneRun(&scene, 400);
    EXPECT_NEAR(rgWorld_BodyVelocity(scene.world, id).linear.z, u + e * (u + w), 1e-6);
    assert_int_equal(rgWorld_Health(scene.world).anomalies, 0);
    SceneEnd(&scene);
}

// A plate that goes down squeezes a box on the floor: there is no rigid solution. The contacts give
// way and say so, the step is solved, and the impulses are bounded. Before that nothing gives way.
static void test_squeeze(void** state) {
    (void)state;
    Scene scene = SceneStart();
    ScenePlane(&scene, 0.5, rgQuatIdentity());
    SceneCube(&scene, 0.1, 1, rgVec(0, 0, 0.1), 0.5);
    rgBodyId press = Platform(&scene, rgVec(0.3, 0.3, 0.1), rgVec(0, 0, 0.32), 0.5);
    rgWorldDef def = SceneWorldDef(1e-3, 1e-6);
    SceneMake(&scene, &def);
    const double speed = 0.1;
    rgSpatial down = {rgVec(0, 0, -speed), rgVec(0, 0, 0)};
    assert_int_equal(rgWorld_SetBodyVelocity(scene.world, press, down), rg_ok);
    int squeezed = 0;
    for (int i = 0; i < 250; ++i) { // it touches after 200
        rgStepReport report = SceneStep(&scene);
        assert_int_equal(report.contact.status, rg_contactSolved);
        assert_true(i > 190 || report.regularizedRows == 0);
        squeezed += report.regularizedRows > 0;
        assert_true(i < 210 || report.regularizedRows > 0);
    }
    int count, marked = 0;
    const rgContact* contacts = rgWorld_Contacts(scene.world, &count);
    for (int i = 0; i < count; ++i) {
        marked += contacts[i].regularized;
        assert_true(contacts[i].impulse[2] < speed * 1e8); // drift / R, G is about 1/kg
    }
    assert_true(squeezed >= 40 && marked > 0);
    SceneEnd(&scene);
}

// A body put into another is named with it.
static void test_teleport_is_told(void** state) {
    (void)state;
    Scene scene = SceneStart();
    ScenePlane(&scene, 0.5, rgQuatIdentity());
    rgBodyId box = SceneCube(&scene, 0.1, 1, rgVec(0, 0, 0.1), 0.5);
    rgBodyId hand = Platform(&scene, rgVec(0.1, 0.1, 0.1), rgVec(3, 0, 0.5), 0.5);
    rgWorldDef def = SceneWorldDef(1e-3, 1e-8);
    SceneMake(&scene, &def);
    SceneRun(&scene, 100);
    assert_int_equal(rgWorld_Health(scene.world).anomalies, 0);
    assert_int_equal(rgWorld_SetBodyPose(scene.world, hand, At(0.15, 0, 0.12)), rg_ok);
    SceneRun(&scene, 1);
    rgHealth health = rgWorld_Health(scene.world);
    assert_true((health.anomalies & rg_anomalyDepth) != 0);
    EXPECT_NEAR(health.depth.amount, 0.05, 1e-3);
    int a = rgModel_Shape(scene.model, health.depth.shapeA)->body.index1;
    int b = rgModel_Shape(scene.model, health.depth.shapeB)->body.index1;
    assert_true((a == box.index1 && b == hand.index1) || (a == hand.index1 && b == box.index1));
    SceneEnd(&scene);
}

static void test_state_and_readers(void** state) {
    (void)state;
    Scene scene = SceneStart();
    rgBodyId hand = Platform(&scene, rgVec(0.3, 0.3, 0.1), rgVec(0, 0, 0), 0.5);
    rgBodyDef part = rgDefaultBodyDef();
    part.parent = hand;
    part.pose = (rgPose){rgVec(0.3, 0.1, 0), rgQuatFromAxisAngle(rgVec(1, 0, 0), 0.5)};
    rgBodyId finger;
    assert_int_equal(rgModelDef_AddBody(scene.def, &part, &finger), rg_ok);
    rgSensorDef sensor = rgDefaultSensorDef();
    sensor.kind = rg_sensorFrameLinearAcceleration;
    sensor.body = finger;
    assert_int_equal(rgModelDef_AddSensor(scene.def, &sensor, NULL), rg_ok);
    rgBodyId box = SceneCube(&scene, 0.1, 1, rgVec(0, 0, 0.2), 0.5);
    rgWorldDef def = SceneWorldDef(1e-3, 1e-9);
    SceneMake(&scene, &def);
    assert_int_equal(rgModel_Info(scene.model).qCount, 7);
    rgBodyLink link = rgModel_BodyLink(scene.model, finger);
    assert_int_equal(link.moving.index1, hand.index1);

    // told by a body that is fixed to it
    rgPose there = {rgVec(1, 2, 3), rgQuatFromAxisAngle(rgVec(0, 0.6, 0.8), 0.7)};
    assert_int_equal(rgWorld_SetBodyPose(scene.world, finger, there), rg_ok);
    rgPose read = rgWorld_BodyPose(scene.world, finger);
    EXPECT_NEAR(rgLength(rgSub(read.p, there.p)), 0, 1e-14);
    rgSpatial motion = {rgVec(0.1, -0.2, 0.3), rgVec(1, 2, -1)};
    assert_int_equal(rgWorld_SetBodyVelocity(scene.world, finger, motion), rg_ok);
    rgSpatial moving = rgWorld_BodyVelocity(scene.world, finger);
    EXPECT_NEAR(rgLength(rgSub(moving.linear, motion.linear)), 0, 1e-14);
    EXPECT_NEAR(rgLength(rgSub(moving.angular, motion.angular)), 0, 1e-14);
    // the hand's origin goes straight on, the finger around it
    rgPose from = rgWorld_BodyPose(scene.world, hand);
    rgSpatial origin = rgWorld_BodyVelocity(scene.world, hand);
    SceneRun(&scene, 100);
    rgPose to = rgWorld_BodyPose(scene.world, hand);
    EXPECT_NEAR(rgLength(rgSub(to.p, rgAddScaled(from.p, 0.1, origin.linear))), 0, 1e-12);
    rgQuat turn = rgQuatMultiply(rgQuatFromRotationVector(rgScale(0.1, motion.angular)), from.q);
    EXPECT_NEAR(fabs(rgQuatMultiply(rgQuatConjugate(turn), to.q).w), 1, 1e-12);
    rgVec3 arm = rgSub(rgWorld_BodyPose(scene.world, finger).p, to.p);
    rgVec3 expected = rgCross(motion.angular, rgCross(motion.angular, arm));
    const double* sensed = rgWorld_Sensors(scene.world, NULL);
    EXPECT_NEAR(rgLength(rgSub(rgVec(sensed[0], sensed[1], sensed[2]), expected)), 0, 2e-2);

    // saved in the middle of a move
    assert_int_equal(rgWorld_MoveBody(scene.world, hand, At(0, 0, 0.01)), rg_ok);
    uint64_t hash = rgWorld_Hash(scene.world);
    assert_int_equal(rgWorld_Forward(scene.world, NULL), rg_ok);
    assert_true(rgWorld_Hash(scene.world) == hash);
    size_t size = rgWorld_StateSize(scene.world);
    void* saved = malloc(size);
    assert_int_equal(rgWorld_Save(scene.world, saved, size), rg_ok);
    SceneRun(&scene, 50);
    uint64_t end = rgWorld_Hash(scene.world);
    EXPECT_NEAR(rgLength(rgWorld_BodyVelocity(scene.world, hand).linear), 0, 0);
    assert_int_equal(rgWorld_Restore(scene.world, saved, size), rg_ok);
    assert_true(rgWorld_Hash(scene.world) == hash);
    SceneRun(&scene, 50);
    assert_true(rgWorld_Hash(scene.world) == end);
    free(saved);
    // back to where the definition says
    assert_int_equal(rgWorld_Reset(scene.world, (rgKeyId){0}), rg_ok);
    EXPECT_NEAR(rgLength(rgWorld_BodyPose(scene.world, hand).p), 0, 0);

    assert_int_equal(rgWorld_MoveBody(scene.world, box, At(0, 0, 1)), rg_errorUnsupported);
    assert_int_equal(rgWorld_MoveBody(scene.world, (rgBodyId){77}, At(0, 0, 1)), rg_errorArgument);
    assert_int_equal(rgWorld_MoveBody(scene.world, hand, At(NAN, 0, 1)), rg_errorArgument);
    SceneEnd(&scene);
}

static void ExpectError(const Scene* scene, const char* text) {
    rgDiagnostics* said;
    rgModel* model = NULL;
    assert_int_equal(rgCreateDiagnostics(NULL, &said), rg_ok);
    assert_int_equal(rgCompileModel(scene->def, NULL, said, &model), rg_errorArgument);
    assert_non_null(strstr(rgDiagnostics_Message(said, 0).text, text));
    rgDestroyDiagnostics(said);
}

static void test_refusals(void** state) {
    (void)state;
    Scene scene = SceneStart();
    rgBodyId hand = Platform(&scene, rgVec(1, 1, 1), rgVec(0, 0, 0), 0.5);
    SceneJoint(&scene, hand, rg_jointRevolute, rgVec(0, 0, 0), rgVec(0, 0, 1));
    ExpectError(&scene, "no joints");
    SceneEnd(&scene);
    scene = SceneStart();
    hand = Platform(&scene, rgVec(1, 1, 1), rgVec(0, 0, 0), 0.5);
    Solid solid = SolidOf(rg_shapeSphere, rgVec(0.1, 0, 0), 1, rgVec(0, 0, 0));
    rgBodyId below = SceneBody(&scene, &solid, hand);
    SceneJoint(&scene, below, rg_jointRevolute, rgVec(0, 0, 0), rgVec(0, 0, 1));
    ExpectError(&scene, "below a kinematic body");
    SceneEnd(&scene);
    scene = SceneStart();
    rgBodyId free = SceneFree(&scene, &solid);
    rgBodyDef body = rgDefaultBodyDef();
    body.kinematic = true;
    body.parent = free;
    assert_int_equal(rgModelDef_AddBody(scene.def, &body, NULL), rg_ok);
    ExpectError(&scene, "whose parent moves");
    SceneEnd(&scene);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_accelerating_platform),
        cmocka_unit_test(test_shaking_platform),
        cmocka_unit_test(test_conveyor),
        cmocka_unit_test(test_belt_changes),
        cmocka_unit_test(test_turning_surface),
        cmocka_unit_test(test_turntable),
        cmocka_unit_test(test_reaction),
        cmocka_unit_test(test_weld_and_connect),
        cmocka_unit_test(test_racket),
        cmocka_unit_test(test_squeeze),
        cmocka_unit_test(test_teleport_is_told),
        cmocka_unit_test(test_state_and_readers),
        cmocka_unit_test(test_refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
