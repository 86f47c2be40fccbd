// Readout: contact forces, slip, reactions and sensors against statics.
#include "scene.h"

static rgSensorId AddSensor(Scene* scene, rgSensorKind kind, rgBodyId body, rgJointId joint) {
    rgSensorDef sensor = rgDefaultSensorDef();
    sensor.kind = kind;
    sensor.body = body;
    sensor.joint = joint;
    rgSensorId id;
    assert_int_equal(rgModelDef_AddSensor(scene->def, &sensor, &id), rg_ok);
    return id;
}

static const double* Sensor(const Scene* scene, rgSensorId id) {
    return rgWorld_Sensors(scene->world, NULL) + rgWorld_SensorStart(scene->world, id);
}

static void test_resting_cube(void** state) {
    (void)state;
    Scene scene = SceneStart();
    ScenePlane(&scene, 0.5, rgQuatIdentity());
    rgBodyId cube = SceneCube(&scene, 0.1, 3, rgVec(0, 0, 0.1), 0.5);
    rgSensorId touch = AddSensor(&scene, rg_sensorTouch, cube, (rgJointId){0});
    rgSensorId meter = AddSensor(&scene, rg_sensorAccelerometer, cube, (rgJointId){0});
    rgWorldDef def = SceneWorldDef(1e-3, 1e-10);
    SceneMake(&scene, &def);
    SceneRun(&scene, 50);
    rgVec3 force = rgWorld_ContactForce(scene.world, cube);
    EXPECT_NEAR(force.z, 3 * SCENE_G, 1e-6);
    EXPECT_NEAR(hypot(force.x, force.y), 0, 1e-6);
    EXPECT_NEAR(Sensor(&scene, touch)[0], 3 * SCENE_G, 1e-6);
    EXPECT_NEAR(Sensor(&scene, meter)[2], SCENE_G, 1e-6);
    int count;
    const rgContact* contacts = rgWorld_Contacts(scene.world, &count);
    assert_int_equal(count, 4);
    for (int i = 0; i < count; ++i) {
        assert_int_equal(contacts[i].bodyA.index1, 0);
        assert_int_equal(contacts[i].bodyB.index1, cube.index1);
        EXPECT_NEAR(contacts[i].normal.z, 1, 1e-12);
    }
    SceneEnd(&scene);
}

static void ExpectWorldFirst(const Scene* scene, int bodyCount) {
    int count = 0, touching = 0, withWorld = 0, touchesWithWorld = 0;
    const rgContact* contacts = rgWorld_Contacts(scene->world, &count);
    for (int i = 0; i < count; ++i) {
        assert_in_range(contacts[i].bodyB.index1, 1, bodyCount);
        withWorld += contacts[i].bodyA.index1 == 0;
    }
    const rgTouch* touches = rgWorld_Touches(scene->world, &touching);
    for (int i = 0; i < touching; ++i) {
        assert_in_range(touches[i].bodyB.index1, 1, bodyCount);
        touchesWithWorld += touches[i].bodyA.index1 == 0;
    }
    assert_int_equal(withWorld, 8); // two cubes lie on what belongs to the world, four points each
    assert_true(count > withWorld);
    assert_int_equal(touchesWithWorld, 2);
}

// Whatever the order of shapes: here one of the world lies between those of bodies, one behind
// them.
static void test_world_is_body_a(void** state) {
    (void)state;
    Scene scene = SceneStart();
    SceneCube(&scene, 0.1, 3, rgVec(0, 0, 0.1), 0.5);
    rgShapeDef block = rgDefaultShapeDef();
    block.kind = rg_shapeBox;
    block.size = rgVec(0.5, 0.5, 0.1);
    block.pose.p = rgVec(2, 0, 0.1);
    assert_int_equal(rgModelDef_AddShape(scene.def, &block, NULL), rg_ok);
    SceneCube(&scene, 0.1, 3, rgVec(2, 0, 0.3), 0.5);
    SceneCube(&scene, 0.1, 1, rgVec(2, 0, 0.5), 0.5);
    ScenePlane(&scene, 0.5, rgQuatIdentity());
    rgWorldDef def = SceneWorldDef(1e-3, 1e-10);
    SceneMake(&scene, &def);
    SceneRun(&scene, 5);
    ExpectWorldFirst(&scene, 3);
    SceneEnd(&scene);
}

static void test_slip_is_seen(void** state) {
    (void)state;
    Scene scene = SceneStart();
    ScenePlane(&scene, 0.5, rgQuatIdentity());
    rgBodyId cube = SceneCube(&scene, 0.1, 1, rgVec(0, 0, 0.1), 0.5);
    rgWorldDef def = SceneWorldDef(1e-3, 1e-10);
    SceneMake(&scene, &def);
    SceneSetVelocity(&scene, 0, 2, (double[]){0.6, 0.8});
    SceneRun(&scene, 1);
    int count;
    const rgContact* contacts = rgWorld_Contacts(scene.world, &count);
    double slipping = 0;
    for (int i = 0; i < count; ++i) {
        if (contacts[i].impulse[2] > 1e-9) {
            assert_int_equal(contacts[i].state, rg_contactSlip);
            EXPECT_NEAR(hypot(contacts[i].slip[0], contacts[i].slip[1]), 1 - 0.5 * SCENE_G * 1e-3,
                        1e-6);
            slipping += 1;
        }
    }
    assert_true(slipping > 0);
    rgVec3 force = rgWorld_ContactForce(scene.world, cube);
    EXPECT_NEAR(force.x, -0.5 * SCENE_G * 0.6, 1e-5);
    EXPECT_NEAR(force.y, -0.5 * SCENE_G * 0.8, 1e-5);
    SceneEnd(&scene);
}

// A cantilever of two welded pieces on a servo: weight and moment at the joint.
static void test_joint_reaction(void** state) {
    (void)state;
    Scene scene = SceneStart();
    Solid arm = SolidOf(rg_shapeBox, rgVec(0.5, 0.05, 0.05), 2, rgVec(0.5, 0, 1));
    rgBodyId body = SceneBody(&scene, &arm, (rgBodyId){0});
    rgJointId hinge = SceneJoint(&scene, body, rg_jointRevolute, rgVec(-0.5, 0, 0), rgVec(0, 0, 1));
    Solid tip = SolidOf(rg_shapeBox, rgVec(0.1, 0.1, 0.1), 1, rgVec(0.6, 0, 0));
    rgBodyId fixed = SceneBody(&scene, &tip, body); // no joint: fixed to the arm
    rgSensorId force = AddSensor(&scene, rg_sensorForce, fixed, (rgJointId){0});
    rgSensorId torque = AddSensor(&scene, rg_sensorTorque, fixed, (rgJointId){0});
    rgSensorId position = AddSensor(&scene, rg_sensorJointPosition, (rgBodyId){0}, hinge);
    rgSensorId center = AddSensor(&scene, rg_sensorSubtreeCenter, body, (rgJointId){0});
    rgWorldDef def = SceneWorldDef(1e-3, 1e-10);
    SceneMake(&scene, &def);
    assert_int_equal(rgWorld_ApplyWrench(scene.world, fixed, rgVec(0, 0, -10), rgVec(0, 0, 0)),
                     rg_ok);
    SceneRun(&scene, 10);
    rgSpatial reaction = rgWorld_JointReaction(scene.world, hinge);
    EXPECT_NEAR(reaction.linear.z, 3 * SCENE_G + 10, 1e-8);
    EXPECT_NEAR(reaction.angular.y, -(2 * SCENE_G * 0.5 + (SCENE_G + 10) * 1.1), 1e-8);
    EXPECT_NEAR(Sensor(&scene, force)[2], SCENE_G + 10, 1e-8);
    EXPECT_NEAR(Sensor(&scene, torque)[1], 0, 1e-8);
    EXPECT_NEAR(Sensor(&scene, position)[0], 0, 1e-12);
    EXPECT_NEAR(Sensor(&scene, center)[0], (2 * 0.5 + 1.1) / 3, 1e-12);
    SceneEnd(&scene);
}

// A pendulum's accelerometer and gyro at the bottom of its swing.
static void test_inertial_sensors(void** state) {
    (void)state;
    Scene scene = SceneStart();
    Solid bob = SolidOf(rg_shapeSphere, rgVec(0.05, 0, 0), 1, rgVec(0, 0, -1));
    rgBodyId body = SceneBody(&scene, &bob, (rgBodyId){0});
    SceneJoint(&scene, body, rg_jointRevolute, rgVec(0, 0, 1), rgVec(0, 1, 0));
    rgSensorId meter = AddSensor(&scene, rg_sensorAccelerometer, body, (rgJointId){0});
    rgSensorId gyro = AddSensor(&scene, rg_sensorGyro, body, (rgJointId){0});
    rgSensorId speed = AddSensor(&scene, rg_sensorFrameLinearVelocity, body, (rgJointId){0});
    rgWorldDef def = SceneWorldDef(1e-5, 1e-10);
    SceneMake(&scene, &def);
    double q = 0, v = 2;
    assert_int_equal(rgWorld_SetState(scene.world, &q, &v), rg_ok);
    SceneRun(&scene, 1);
    EXPECT_NEAR(Sensor(&scene, meter)[2], SCENE_G + 4, 1e-3);
    EXPECT_NEAR(Sensor(&scene, gyro)[1], 2, 1e-3);
    EXPECT_NEAR(Sensor(&scene, speed)[0], -2, 1e-3);
    SceneEnd(&scene);
}

// Torsion and rolling rows stop a spinning and a rolling ball; without them they would go on.
static void test_torsion_and_rolling(void** state) {
    (void)state;
    for (int dimension = 3; dimension <= 6; dimension += dimension == 4 ? 2 : 1) {
        Scene scene = SceneStart();
        Solid ball = SolidOf(rg_shapeSphere, rgVec(0.1, 0, 0), 1, rgVec(0, 0, 0.1));
        ball.material.dimension = dimension;
        ball.material.muTorsion = 0.02;
        ball.material.muRolling = 0.005;
        rgShapeDef floor = rgDefaultShapeDef();
        floor.kind = rg_shapePlane;
        floor.material = ball.material;
        assert_int_equal(rgModelDef_AddShape(scene.def, &floor, NULL), rg_ok);
        rgBodyId id = SceneFree(&scene, &ball);
        rgWorldDef def = SceneWorldDef(1e-3, 1e-10);
        SceneMake(&scene, &def);
        SceneSetVelocity(&scene, 0, 6, (double[]){0.2, 0, 0, 0, 2, 5});
        SceneRun(&scene, 100);
        rgSpatial v = rgWorld_BodyVelocity(scene.world, id);
        double inertia = 0.4 * 0.01;
        double spin = dimension > 3 ? fmax(0, 5 - 0.1 * 0.02 * SCENE_G / inertia) : 5;
        double roll = dimension > 4 ? 0.2 - 0.1 * 0.005 * SCENE_G * 0.1 / (inertia + 0.01) : 0.2;
        EXPECT_NEAR(v.angular.z, spin, 1e-4);
        EXPECT_NEAR(v.linear.x, roll, 1e-3);
        int count;
        const rgContact* contacts = rgWorld_Contacts(scene.world, &count);
        assert_int_equal(count, 1);
        assert_int_equal(contacts[0].rowCount, dimension);
        SceneEnd(&scene);
    }
}

// A level beam on a hinge and a loop: each carries half of it, whichever side of the loop it is.
static void test_reaction_beside_a_loop(void** state) {
    (void)state;
    for (int side = 0; side < 2; ++side) {
        Scene scene = SceneStart();
        Solid beam = SolidOf(rg_shapeBox, rgVec(0.5, 0.05, 0.05), 2, rgVec(0.5, 0, 1));
        rgBodyId body = SceneBody(&scene, &beam, (rgBodyId){0});
        rgJointId hinge =
            SceneJoint(&scene, body, rg_jointRevolute, rgVec(-0.5, 0, 0), rgVec(0, 1, 0));
        rgEqualityDef loop = rgDefaultEqualityDef();
        loop.kind = rg_equalityConnect;
        *(side == 0 ? &loop.bodyA : &loop.bodyB) = body;
        (side == 0 ? &loop.poseA : &loop.poseB)->p = rgVec(0.5, 0, 0);
        (side == 0 ? &loop.poseB : &loop.poseA)->p = rgVec(1, 0, 1);
        assert_int_equal(rgModelDef_AddEquality(scene.def, &loop, NULL), rg_ok);
        rgWorldDef def = SceneWorldDef(1e-3, 1e-10);
        SceneMake(&scene, &def);
        SceneRun(&scene, 10);
        EXPECT_NEAR(rgWorld_JointReaction(scene.world, hinge).linear.z, SCENE_G, 1e-6);
        SceneEnd(&scene);
    }
}

static void test_reaction_is_that_of_the_step(void** state) {
    (void)state;
    Scene scene = SceneStart();
    Solid rod = SolidOf(rg_shapeSphere, rgVec(0.1, 0, 0), 1, rgVec(0, 0, 0));
    rgBodyId body = SceneBody(&scene, &rod, (rgBodyId){0});
    SceneJoint(&scene, body, rg_jointRevolute, rgVec(0, 0, 0), rgVec(0, 0, 1));
    rgWorldDef def = SceneWorldDef(1e-3, 1e-6);
    SceneMake(&scene, &def);
    rgWorld_ApplyWrench(scene.world, body, rgVec(100, 0, 0), rgVec(0, 0, 0));
    SceneStep(&scene);
    rgWorld_ClearWrenches(scene.world);
    EXPECT_NEAR(rgWorld_JointReaction(scene.world, (rgJointId){1}).linear.x, -100, 1e-9);
    SceneStep(&scene);
    rgWorld_ApplyWrench(scene.world, body, rgVec(100, 0, 0), rgVec(0, 0, 0));
    EXPECT_NEAR(rgWorld_JointReaction(scene.world, (rgJointId){1}).linear.x, 0, 1e-9);
    SceneEnd(&scene);
}

// Torques of motors on joints, a tendon, a frame and a free body accelerate what rests by M^-1
// times them, whatever the axes of the free joint.
static void test_actuator_torques(void** state) {
    (void)state;
    const char* text =
        "<mujoco><option gravity='0 0 0'/><worldbody><body name='b' euler='30 40 50'>"
        "<freejoint name='free'/><geom type='box' size='0.3 0.2 0.1' mass='3'/>"
        "<site name='tip' pos='0.3 0 0.1' euler='20 0 70'/><body pos='0.4 0 0'>"
        "<joint name='h' type='hinge' axis='0 1 0'/><geom size='0.1' pos='0.3 0 0' mass='1'/>"
        "<body pos='0.5 0 0'><joint name='s' type='slide' axis='0 0 1'/>"
        "<geom size='0.1' mass='0.5'/></body></body></body></worldbody>"
        "<tendon><fixed name='t'><joint joint='h' coef='2'/><joint joint='s' coef='-3'/></fixed>"
        "</tendon><actuator><motor joint='h' gear='5'/><motor tendon='t' gear='0.5'/>"
        "<motor site='tip' gear='1 2 3 0.4 0.5 0.6'/><motor joint='free' gear='1 -2 0.5 0.1 0 "
        "0.2'/>"
        "</actuator></mujoco>";
    rgWorldDef def = SceneWorldDef(1e-6, 1e-10);
    Scene scene = SceneText(text, &def);
    double control[4] = {0.7, -1.1, 0.9, 2}, torques[8], a[8];
    int count;
    assert_int_equal(rgWorld_SetControl(scene.world, control), rg_ok);
    rgDynamics* d = NULL;
    rgDynamicsDef dynamics = rgDefaultDynamicsDef(scene.model);
    assert_int_equal(rgCreateDynamics(scene.model, &dynamics, &d), rg_ok);
    rgDynamics_SetState(d, rgWorld_Positions(scene.world, NULL),
                        rgWorld_Velocities(scene.world, NULL));
    assert_int_equal(rgWorld_Step(scene.world, NULL), rg_ok);
    const double* forces = rgWorld_ActuatorForces(scene.world, &count);
    assert_int_equal(count, 4);
    for (int i = 0; i < 4; ++i) {
        EXPECT_NEAR(forces[i], control[i], 0);
    }
    assert_int_equal(rgWorld_ActuatorTorques(scene.world, torques), rg_ok);
    EXPECT_NEAR(torques[6], 5 * 0.7 - 0.5 * 2 * 1.1, 1e-12);
    EXPECT_NEAR(torques[7], 0.5 * 3 * 1.1, 1e-12);
    assert_int_equal(rgDynamics_ForwardDynamics(d, torques, NULL, a), rg_ok);
    const double* v = rgWorld_Velocities(scene.world, NULL);
    for (int i = 0; i < 8; ++i) {
        EXPECT_NEAR(v[i] / 1e-6, a[i], 1e-4);
        assert_true(fabs(a[i]) > 0.1);
    }
    rgDestroyDynamics(d);
    SceneEnd(&scene);
}

// Limits, ranges and frames as seen from others, in closed form. A slider of 2 kg hangs on its
// lower limit; above the floor an eye looks down.
static void test_more_sensors(void** state) {
    (void)state;
    const char* text =
        "<mujoco><option magnetic='0 1 0'/><worldbody><geom type='plane' size='5 5 1'/>"
        "<body name='b' pos='0 0 1' euler='0 0 90'><joint name='j' type='slide' axis='0 0 1' "
        "range='-0.2 0.5' limited='true'/><geom size='0.1' mass='2'/><site name='eye' pos='0.3 0 "
        "0' "
        "euler='180 0 0'/></body><body name='k' mocap='true' pos='1 0 0' euler='0 0 90'/>"
        "</worldbody><tendon><fixed name='t' range='-1 1'><joint joint='j' coef='10'/></fixed>"
        "</tendon><actuator><motor tendon='t' gear='3'/></actuator>"
        "<sensor><jointlimitpos joint='j'/><jointlimitvel joint='j'/><jointlimitfrc joint='j'/>"
        "<tendonlimitpos tendon='t'/><tendonlimitfrc tendon='t'/><tendonactuatorfrc tendon='t'/>"
        "<rangefinder site='eye'/><rangefinder site='eye' cutoff='0.5'/><magnetometer site='eye'/>"
        "<framexaxis objtype='xbody' objname='b'/><framepos objtype='xbody' objname='b' "
        "reftype='xbody' refname='k'/><clock/><e_kinetic/><jointactuatorfrc joint='j'/></sensor>"
        "</mujoco>";
    rgWorldDef def = SceneWorldDef(1e-3, 1e-10);
    Scene scene = SceneText(text, &def);
    double control = 0.1;
    assert_int_equal(rgWorld_SetControl(scene.world, &control), rg_ok);
    SceneRun(&scene, 3000);
    // the tendon's limit, at q = -0.1, is met first: it carries the weight less 30 times the motor
    const double* s = rgWorld_Sensors(scene.world, NULL);
    double force = (2 * SCENE_G - 10 * 3 * 0.1) / 10;
    EXPECT_NEAR(s[0], 0, 0);
    EXPECT_NEAR(s[2], 0, 0);
    EXPECT_NEAR(s[3], 0, 1e-6);
    EXPECT_NEAR(s[4], force, 1e-6);
    EXPECT_NEAR(s[5], 0.1, 0);
    EXPECT_NEAR(s[6], 0.9, 1e-6);
    EXPECT_NEAR(s[7], 0.5, 0);
    EXPECT_NEAR(s[8], 1, 1e-12); // y of the world is x of the eye: turned by 90 degrees, then over
    EXPECT_NEAR(s[12], 1, 1e-12);
    EXPECT_NEAR(s[14], 0, 1e-12); // one metre behind, seen by who looks along y
    EXPECT_NEAR(s[15], 1, 1e-12);
    EXPECT_NEAR(s[16], 0.9, 1e-6);
    EXPECT_NEAR(s[17], 3, 1e-9);
    EXPECT_NEAR(s[18], 0, 1e-9);
    EXPECT_NEAR(s[19], 10 * 3 * 0.1, 1e-12);
    double q = -0.3, v = 0.25;
    assert_int_equal(rgWorld_SetState(scene.world, &q, &v), rg_ok);
    s = rgWorld_Sensors(scene.world, NULL);
    EXPECT_NEAR(s[0], -0.1, 1e-15);
    EXPECT_NEAR(s[1], 0.25, 0);
    EXPECT_NEAR(s[3], -2, 1e-15);
    q = 0.6;
    assert_int_equal(rgWorld_SetState(scene.world, &q, &v), rg_ok);
    s = rgWorld_Sensors(scene.world, NULL);
    EXPECT_NEAR(s[0], -0.1, 1e-15);
    EXPECT_NEAR(s[1], -0.25, 0);
    EXPECT_NEAR(s[18], 0.5 * 2 * 0.25 * 0.25, 1e-12);
    SceneEnd(&scene);
}

// A rangefinder passes by the shapes of what it is fixed to, and of nothing else. Readings of
// MuJoCo 3.14.
static void test_rangefinders(void** state) {
    (void)state;
    const char* text =
        "<mujoco><worldbody><geom type='plane' size='5 5 1'/><site name='w' pos='0 0 1' "
        "zaxis='0 0 -1'/><site name='o' pos='2 0 1' zaxis='0 0 -1'/><body pos='2 0 0.5'>"
        "<freejoint/><geom size='.1'/></body><body pos='4 0 0'><geom size='.2'/><site name='f' "
        "pos='0 0 1' zaxis='0 0 -1'/><body pos='0 0 .3'><geom size='.1'/></body></body>"
        "</worldbody><sensor><rangefinder site='w'/><rangefinder site='o'/><rangefinder site='f'/>"
        "</sensor></mujoco>";
    rgWorldDef def = SceneWorldDef(1e-3, 1e-10);
    Scene scene = SceneText(text, &def);
    const double* s = rgWorld_Sensors(scene.world, NULL);
    EXPECT_NEAR(s[0], -1, 0);
    EXPECT_NEAR(s[1], 0.4, 1e-12);
    EXPECT_NEAR(s[2], 0.6, 1e-12);
    SceneEnd(&scene);
}

// The stages of a report are timed unless the world is told not to; its other numbers are the same.
static void test_untimed(void** state) {
    (void)state;
    rgStepReport reports[2];
    for (int untimed = 0; untimed < 2; ++untimed) {
        Scene scene = SceneStart();
        ScenePlane(&scene, 0.5, rgQuatIdentity());
        SceneCube(&scene, 0.1, 3, rgVec(0, 0, 0.0999), 0.5);
        rgWorldDef def = SceneWorldDef(1e-3, 1e-10);
        def.untimed = untimed == 1;
        SceneMake(&scene, &def);
        assert_int_equal(rgWorld_Step(scene.world, &reports[untimed]), rg_ok);
        double seconds = 0;
        for (int i = 0; i < rg_stageCount; ++i) {
            seconds += reports[untimed].stageSeconds[i];
        }
        assert_true(untimed == 1 ? seconds == 0 : seconds > 0);
        SceneEnd(&scene);
    }
    assert_int_equal(reports[0].contactCount, 4);
    assert_int_equal(reports[1].contactCount, 4);
    EXPECT_NEAR(reports[0].penetration, 1e-4, 1e-12);
    EXPECT_NEAR(reports[1].penetration, reports[0].penetration, 0);
    EXPECT_NEAR(reports[1].contact.residual.total, reports[0].contact.residual.total, 0);
}

// A box on the floor that gravity pulls aside, and sensors of its contacts by geom, body and
// subtree. The force that it presses with is m g; points lie at its lower corners.
#define LEANING_BOX(sensors)                                                                       \
    "<mujoco><option gravity='1 0.5 -9.81'/><worldbody><geom name='floor' type='plane' size='5 5 " \
    "1'/><body name='b' pos='0.3 0.2 0.1'><freejoint/><geom name='box' type='box' size='0.1 0.2 "  \
    "0.1' mass='2'/><body name='c' pos='0 0 0.3'><geom name='ball' size='0.05' mass='0.5'/>"       \
    "</body></body></worldbody><sensor>" sensors "</sensor></mujoco>"
#define ALL_NUMBERS " data='found force torque dist pos normal tangent'/>"
enum { SENSED = 17 }; // numbers of a contact

static void ExpectForces(const double* values, const rgVec3 force) {
    EXPECT_NEAR(values[1], force.x, 1e-6);
    EXPECT_NEAR(values[2], force.y, 1e-6);
    EXPECT_NEAR(values[3], force.z, 1e-6);
}

static void test_contact_sensors(void** state) {
    (void)state;
    rgWorldDef def = SceneWorldDef(1e-3, 1e-10);
    Scene scene = SceneText(
        LEANING_BOX("<user dim='3'/>"
                    "<contact subtree1='b' body2='world' reduce='netforce'" ALL_NUMBERS
                    "<contact body1='world' subtree2='b' reduce='netforce'" ALL_NUMBERS
                    "<contact geom1='floor' geom2='box' num='5' reduce='maxforce'" ALL_NUMBERS
                    "<contact geom1='box' geom2='floor' num='5'" ALL_NUMBERS
                    "<contact geom1='ball' num='2' data='found dist'/>"
                    "<contact body2='b'/><contact num='2' data='normal' reduce='mindist'/>"),
        &def);
    SceneRun(&scene, 100);
    const double* s = rgWorld_Sensors(scene.world, NULL);
    int starts[8];
    for (int i = 0; i < 8; ++i) {
        starts[i] = rgWorld_SensorStart(scene.world, (rgSensorId){i + 1});
    }
    // sensors that are not supported keep their places, with zeros
    assert_int_equal(starts[1], 3);
    assert_true(s[0] == 0 && s[1] == 0 && s[2] == 0);
    assert_int_equal(starts[3] - starts[2], SENSED);
    assert_int_equal(starts[4] - starts[3], 5 * SENSED);
    assert_int_equal(starts[6] - starts[5], 4);
    assert_int_equal(starts[7] - starts[6], 1);
    ExpectForces(s + starts[1], rgVec(2.5, 1.25, -2.5 * 9.81)); // on the world
    ExpectForces(s + starts[2], rgVec(-2.5, -1.25, 2.5 * 9.81));
    // the wrench about its point carries the centre of mass: moments about it vanish
    for (int i = 1; i < 3; ++i) {
        const double* v = s + starts[i];
        rgVec3 force = rgVec(v[1], v[2], v[3]), torque = rgVec(v[4], v[5], v[6]);
        rgVec3 arm = rgVec(v[8] - 0.3, v[9] - 0.2, v[10] - 0.1 - 0.3 * 0.5 / 2.5);
        rgVec3 moment = rgAdd(torque, rgCross(arm, force));
        EXPECT_NEAR(rgLength(moment), 0, 1e-6);
        assert_true(v[0] == 4 && v[7] == 0 && v[11] == 1 && v[15] == 1);
    }
    double sum = 0, last = INFINITY;
    for (int k = 0; k < 5; ++k) {
        const double *hard = s + starts[3] + k * SENSED, *turned = s + starts[4] + k * SENSED;
        double size = sqrt(hard[1] * hard[1] + hard[2] * hard[2] + hard[3] * hard[3]);
        assert_true(size <= last + 1e-12);
        last = size;
        if (k == 4) { // four points touch: the rest is zero
            for (int i = 0; i < SENSED; ++i) {
                assert_true(hard[i] == 0 && turned[i] == 0);
            }
            break;
        }
        assert_true(hard[0] == 4 && turned[0] == 4);
        EXPECT_NEAR(hard[13], 1, 1e-12); // from the floor to the box
        EXPECT_NEAR(turned[13], -1, 1e-12);
        EXPECT_NEAR(fabs(hard[8] - 0.3), 0.1, 1e-6);
        EXPECT_NEAR(fabs(hard[9] - 0.2), 0.2, 1e-6);
        // the force in world axes acts on the second side, so it turns with the direction
        const double *v = turned, *n = v + 11, *t = v + 14;
        rgVec3 normal = rgVec(n[0], n[1], n[2]), first = rgVec(t[0], t[1], t[2]);
        rgVec3 force = rgAddScaled(rgScale(v[1], normal), v[2], first);
        force = rgAddScaled(force, v[3], rgCross(normal, first));
        assert_true(force.z < 0 && force.x > 0 && force.y > 0);
        sum += force.x;
    }
    EXPECT_NEAR(sum, 2.5, 1e-6);
    assert_true(s[starts[5]] == 0 && s[starts[6]] == 4);
    assert_true(fabs(s[starts[7] + 2]) == 1 && fabs(s[starts[7] + 5]) == 1);
    SceneEnd(&scene);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_more_sensors),
        cmocka_unit_test(test_actuator_torques),
        cmocka_unit_test(test_reaction_beside_a_loop),
        cmocka_unit_test(test_reaction_is_that_of_the_step),
        cmocka_unit_test(test_resting_cube),
        cmocka_unit_test(test_world_is_body_a),
        cmocka_unit_test(test_slip_is_seen),
        cmocka_unit_test(test_joint_reaction),
        cmocka_unit_test(test_inertial_sensors),
        cmocka_unit_test(test_rangefinders),
        cmocka_unit_test(test_torsion_and_rolling),
        cmocka_unit_test(test_untimed),
        cmocka_unit_test(test_contact_sensors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
