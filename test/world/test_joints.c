// Joints and loops: limits, friction, springs, actuators with implicit gains and effort limits,
// couplings, closed loops.
#include "scene.h"
#include "world/world.h"

// A hinge about y at the world's origin with a rod hanging down, horizontal axis.
static Scene Rod(const rgJointDef* joint, const rgActuatorDef* actuator, bool gravity,
                 rgWorldDef def) {
    Scene scene = SceneStart();
    rgBodyDef body = rgDefaultBodyDef();
    body.inertia =
        (rgInertia){.mass = 1, .center = {0, 0, -0.5}, .moment = {0.1, 0.1, 0.1, 0, 0, 0}};
    rgBodyId id;
    rgJointId hinge;
    assert_int_equal(rgModelDef_AddBody(scene.def, &body, &id), rg_ok);
    rgJointDef copy = *joint;
    copy.body = id;
    copy.axis = rgVec(0, 1, 0);
    assert_int_equal(rgModelDef_AddJoint(scene.def, &copy, &hinge), rg_ok);
    if (actuator != NULL) {
        rgActuatorDef drive = *actuator;
        drive.joint = hinge;
        assert_int_equal(rgModelDef_AddActuator(scene.def, &drive, NULL), rg_ok);
    }
    def.hasGravity = !gravity;
    SceneMake(&scene, &def);
    return scene;
}

#define INERTIA 0.35 // about the hinge

static double Angle(const Scene* scene) {
    return rgWorld_Positions(scene->world, NULL)[0];
}

static double Rate(const Scene* scene) {
    return rgWorld_Velocities(scene->world, NULL)[0];
}

// Weight that is taken off: a free body floats, a hinged one accelerates by the share that is left,
// and the hinge carries it.
static void test_gravity_compensation(void** state) {
    (void)state;
    Scene scene = SceneStart();
    rgBodyDef body = rgDefaultBodyDef();
    body.inertia =
        (rgInertia){.mass = 2, .center = {0.5, 0, 0}, .moment = {0.1, 0.1, 0.1, 0, 0, 0}};
    rgJointDef joint = rgDefaultJointDef();
    body.gravityCompensation = 1;
    assert_int_equal(rgModelDef_AddBody(scene.def, &body, &joint.body), rg_ok);
    joint.kind = rg_jointFree;
    assert_int_equal(rgModelDef_AddJoint(scene.def, &joint, NULL), rg_ok);
    body.gravityCompensation = 0.25;
    assert_int_equal(rgModelDef_AddBody(scene.def, &body, &joint.body), rg_ok);
    joint.kind = rg_jointRevolute;
    joint.axis = rgVec(0, 1, 0);
    rgJointId hinge;
    assert_int_equal(rgModelDef_AddJoint(scene.def, &joint, &hinge), rg_ok);
    rgWorldDef def = SceneWorldDef(1e-3, 1e-10);
    SceneMake(&scene, &def);
    SceneRun(&scene, 1);
    const double* v = rgWorld_Velocities(scene.world, NULL);
    for (int i = 0; i < 6; ++i) {
        EXPECT_NEAR(v[i], 0, 1e-15);
    }
    double moment = 0.1 + 2 * 0.25, pull = 0.75 * 2 * SCENE_G;
    double rate = pull * 0.5 / moment;
    EXPECT_NEAR(v[6], 1e-3 * rate, 1e-9);
    rgSpatial reaction = rgWorld_JointReaction(scene.world, hinge);
    EXPECT_NEAR(fabs(reaction.linear.z), pull - 2 * 0.5 * rate, 1e-3);
    assert_int_equal(rgWorld_Health(scene.world).anomalies, 0);
    SceneEnd(&scene);
}

static void test_limit_holds(void** state) {
    (void)state;
    rgJointDef joint = rgDefaultJointDef();
    joint.hasLimits = true;
    joint.lower = -0.4;
    joint.upper = 0.3;
    Scene scene = Rod(&joint, NULL, true, SceneWorldDef(1e-3, 1e-10));
    double q = 0.25, v = 5;
    assert_int_equal(rgWorld_SetState(scene.world, &q, &v), rg_ok);
    SceneRun(&scene, 20);
    EXPECT_NEAR(Angle(&scene), 0.3, 3e-3); // falls back from the limit it hit
    double torque = -20;
    assert_int_equal(rgWorld_SetForce(scene.world, &torque), rg_ok);
    SceneRun(&scene, 2000);
    EXPECT_NEAR(Angle(&scene), -0.4, 1e-9);
    int count;
    const rgConstraintForce* forces = rgWorld_Constraints(scene.world, &count);
    assert_int_equal(count, 1);
    assert_int_equal(forces[0].kind, rg_constraintLimit);
    assert_int_equal(forces[0].row, 0);
    EXPECT_NEAR(forces[0].force, 20 + SCENE_G * 0.5 * sin(-0.4), 1e-6);
    rgStepReport report = SceneStep(&scene); // its impulse is that of the last step
    assert_int_equal(report.contact.iterationCount, 0);
    SceneEnd(&scene);
}

static void test_dry_friction_holds_and_slips(void** state) {
    (void)state;
    rgJointDef joint = rgDefaultJointDef();
    joint.dryFriction = 2;
    Scene scene = Rod(&joint, NULL, false, SceneWorldDef(1e-3, 1e-10));
    double torque = 1.9;
    assert_int_equal(rgWorld_SetForce(scene.world, &torque), rg_ok);
    SceneRun(&scene, 500);
    EXPECT_NEAR(Angle(&scene), 0, 1e-12);
    torque = 3;
    assert_int_equal(rgWorld_SetForce(scene.world, &torque), rg_ok);
    SceneRun(&scene, 500);
    EXPECT_NEAR(Rate(&scene), 0.5 * (3 - 2) / INERTIA, 1e-8);
    SceneEnd(&scene);
}

// Implicit damping: v+ = v / (1 + dt d / I) with Euler, stable for any d. By the midpoint rule a
// stiff damper stops what moves: free.2.
static void test_damping_is_implicit(void** state) {
    (void)state;
    rgJointDef joint = rgDefaultJointDef();
    joint.damping = 1000;
    for (int k = 0; k < 2; ++k) {
        rgWorldDef def = SceneWorldDef(1e-3, 1e-10);
        def.integrator = k == 0 ? rg_integratorEuler : rg_integratorMidpoint;
        Scene scene = Rod(&joint, NULL, false, def);
        double q = 0, v = 1, z = 1e-3 * 1000 / INERTIA;
        double share = k == 0 ? 1 : 1 - 1 / z;
        assert_int_equal(rgWorld_SetState(scene.world, &q, &v), rg_ok);
        SceneRun(&scene, 1);
        EXPECT_NEAR(Rate(&scene), (1 - (1 - share) * z) / (1 + share * z), 1e-12);
        SceneEnd(&scene);
    }
}

static void test_spring_finds_rest(void** state) {
    (void)state;
    rgJointDef joint = rgDefaultJointDef();
    joint.stiffness = 5;
    joint.springReference = 0.7;
    joint.damping = 3;
    Scene scene = Rod(&joint, NULL, false, SceneWorldDef(1e-3, 1e-10));
    SceneRun(&scene, 10000);
    EXPECT_NEAR(Angle(&scene), 0.7, 1e-6);
    SceneEnd(&scene);
}

static rgActuatorDef Servo(double kp, double kd) {
    rgActuatorDef actuator = rgDefaultActuatorDef();
    actuator.gain = kp;
    actuator.kp = kp;
    actuator.kd = kd;
    return actuator;
}

static void test_servo_with_huge_gain(void** state) {
    (void)state;
    rgJointDef joint = rgDefaultJointDef();
    rgActuatorDef servo = Servo(1e6, 1e3);
    Scene scene = Rod(&joint, &servo, true, SceneWorldDef(1e-3, 1e-10));
    double target = 1;
    assert_int_equal(rgWorld_SetControl(scene.world, &target), rg_ok);
    SceneRun(&scene, 1000);
    EXPECT_NEAR(Angle(&scene), 1 - SCENE_G * 0.5 * sin(1) / 1e6, 1e-9);
    EXPECT_NEAR(Rate(&scene), 0, 1e-9);
    SceneEnd(&scene);
}

// The same servo with limits that do not bind is a row instead of a part of M^; same motion.
static void test_servo_as_row_is_the_same(void** state) {
    (void)state;
    rgJointDef joint = rgDefaultJointDef();
    rgActuatorDef servo = Servo(300, 20), limited = servo;
    limited.hasForceRange = true;
    limited.forceLower = -1e6;
    limited.forceUpper = 1e6;
    Scene a = Rod(&joint, &servo, true, SceneWorldDef(1e-3, 1e-13));
    Scene b = Rod(&joint, &limited, true, SceneWorldDef(1e-3, 1e-13));
    double target = 1;
    assert_int_equal(rgWorld_SetControl(a.world, &target), rg_ok);
    assert_int_equal(rgWorld_SetControl(b.world, &target), rg_ok);
    for (int i = 0; i < 300; ++i) {
        SceneStep(&a);
        SceneStep(&b);
        EXPECT_NEAR(Angle(&a), Angle(&b), 1e-10);
    }
    SceneEnd(&a);
    SceneEnd(&b);
}

static void test_effort_limit_binds(void** state) {
    (void)state;
    rgJointDef joint = rgDefaultJointDef();
    joint.effortLimit = 2;
    rgActuatorDef servo = Servo(1e5, 1e2);
    Scene scene = Rod(&joint, &servo, false, SceneWorldDef(1e-3, 1e-12));
    double target = 10;
    assert_int_equal(rgWorld_SetControl(scene.world, &target), rg_ok);
    SceneRun(&scene, 500);
    EXPECT_NEAR(Rate(&scene), 0.5 * 2 / INERTIA, 1e-9);
    int count;
    const rgConstraintForce* forces = rgWorld_Constraints(scene.world, &count);
    assert_int_equal(count, 1);
    EXPECT_NEAR(forces[0].force, 2, 1e-9);
    SceneEnd(&scene);
}

// So does what a user adds.
static void test_effort_of_users_is_limited(void** state) {
    (void)state;
    rgJointDef joint = rgDefaultJointDef();
    joint.effortLimit = 2;
    Scene scene = Rod(&joint, NULL, false, SceneWorldDef(1e-3, 1e-12));
    double torque = -50;
    assert_int_equal(rgWorld_SetForce(scene.world, &torque), rg_ok);
    SceneRun(&scene, 500);
    EXPECT_NEAR(Rate(&scene), -0.5 * 2 / INERTIA, 1e-9);
    SceneEnd(&scene);
}

static void test_control_range_and_gear(void** state) {
    (void)state;
    rgJointDef joint = rgDefaultJointDef();
    rgActuatorDef motor = rgDefaultActuatorDef();
    motor.gear[0] = 5;
    motor.hasControlRange = true;
    motor.controlLower = -1;
    motor.controlUpper = 1;
    Scene scene = Rod(&joint, &motor, false, SceneWorldDef(1e-3, 1e-10));
    double u = 100;
    assert_int_equal(rgWorld_SetControl(scene.world, &u), rg_ok);
    SceneRun(&scene, 100);
    EXPECT_NEAR(Rate(&scene), 0.1 * 5 / INERTIA, 1e-10);
    SceneEnd(&scene);
}

// ---- loops

// A parallelogram in the xz plane: two cranks of length 1 and a rod of length 2; the rod keeps its
// direction, so that everything moves like one pendulum.
typedef struct FourBar {
    Scene scene;
    rgBodyId left, rod, right;
} FourBar;

static rgBodyId AddBar(Scene* scene, rgBodyId parent, rgVec3 position, double length, bool across) {
    rgBodyDef body = rgDefaultBodyDef();
    body.parent = parent;
    body.pose.p = position;
    body.inertia.mass = length;
    body.inertia.center = across ? rgVec(0.5 * length, 0, 0) : rgVec(0, 0, -0.5 * length);
    double i = length * length * length / 12;
    body.inertia.moment = (rgSym3){across ? 1e-6 : i, i, across ? i : 1e-6, 0, 0, 0};
    rgBodyId id;
    assert_int_equal(rgModelDef_AddBody(scene->def, &body, &id), rg_ok);
    SceneJoint(scene, id, rg_jointRevolute, rgVec(0, 0, 0), rgVec(0, 1, 0));
    return id;
}

static FourBar MakeFourBar(double dt, double tolerance, int copies) {
    FourBar bar = {.scene = SceneStart()};
    bar.left = AddBar(&bar.scene, (rgBodyId){0}, rgVec(0, 0, 0), 1, false);
    bar.rod = AddBar(&bar.scene, bar.left, rgVec(0, 0, -1), 2, true);
    bar.right = AddBar(&bar.scene, (rgBodyId){0}, rgVec(2, 0, 0), 1, false);
    for (int i = 0; i < copies; ++i) {
        rgEqualityDef loop = rgDefaultEqualityDef();
        loop.kind = rg_equalityConnect;
        loop.bodyA = bar.rod;
        loop.bodyB = bar.right;
        loop.poseA.p = rgVec(2, 0, 0);
        loop.poseB.p = rgVec(0, 0, -1);
        assert_int_equal(rgModelDef_AddEquality(bar.scene.def, &loop, NULL), rg_ok);
    }
    rgWorldDef def = SceneWorldDef(dt, tolerance);
    SceneMake(&bar.scene, &def);
    double q[3] = {0.8, -0.8, 0.8}, v[3] = {0};
    assert_int_equal(rgWorld_SetState(bar.scene.world, q, v), rg_ok);
    return bar;
}

static double LoopError(const FourBar* bar) {
    rgPose rod = rgWorld_BodyPose(bar->scene.world, bar->rod);
    rgPose right = rgWorld_BodyPose(bar->scene.world, bar->right);
    return rgLength(rgSub(rgPose_Point(rod, rgVec(2, 0, 0)), rgPose_Point(right, rgVec(0, 0, -1))));
}

// Inertia of the one degree of freedom, and the torque of gravity.
#define BAR_INERTIA (2 * (1.0 / 12 + 0.25) + 2 * 1 + 2e-6 * 0)
#define BAR_MOMENT  (2 * 0.5 + 2 * 1)

static void test_four_bar(void** state) {
    (void)state;
    for (int copies = 1; copies <= 3; ++copies) {
        double dt = 1e-3;
        FourBar bar = MakeFourBar(dt, 1e-10, copies);
        double a = 0.8, w = 0, worst = 0;
        for (int i = 0; i < (copies == 1 ? 10000 : 2000); ++i) {
            SceneStep(&bar.scene);
            worst = fmax(worst, LoopError(&bar));
            // The closed form, by the same scheme.
            w -= dt * SCENE_G * BAR_MOMENT * sin(a) / BAR_INERTIA;
            a += dt * w;
            if (i < 1000) {
                EXPECT_NEAR(rgWorld_Positions(bar.scene.world, NULL)[0], a, 5e-3);
            }
        }
        EXPECT_NEAR(worst, 0, 1e-10 * sqrt(3)); // projection.6, per row, looked at or not
        // Energy stays, to the order of the scheme.
        EXPECT_NEAR(SceneEnergy(&bar.scene), -SCENE_G * (2 * 0.5 + 2) * cos(0.8), 0.2);
        assert_int_equal(rgWorld_UnconvergedSteps(bar.scene.world), 0);
        SceneEnd(&bar.scene);
    }
}

// A gear: q_B follows q_A with ratio -2, and reflects its inertia.
static void test_gear(void** state) {
    (void)state;
    Scene scene = SceneStart();
    rgJointId joints[2];
    for (int i = 0; i < 2; ++i) {
        rgBodyDef body = rgDefaultBodyDef();
        body.pose.p = rgVec(i, 0, 0);
        body.inertia = (rgInertia){.mass = 1, .moment = {0.1, 0.1, 0.1, 0, 0, 0}};
        rgBodyId id;
        assert_int_equal(rgModelDef_AddBody(scene.def, &body, &id), rg_ok);
        joints[i] = SceneJoint(&scene, id, rg_jointRevolute, rgVec(0, 0, 0), rgVec(0, 0, 1));
    }
    rgEqualityDef gear = rgDefaultEqualityDef();
    gear.kind = rg_equalityJoint;
    gear.jointA = joints[0];
    gear.jointB = joints[1];
    gear.polynomial[1] = -2;
    assert_int_equal(rgModelDef_AddEquality(scene.def, &gear, NULL), rg_ok);
    rgWorldDef def = SceneWorldDef(1e-3, 1e-12);
    SceneMake(&scene, &def);
    double torque[2] = {0, 1};
    assert_int_equal(rgWorld_SetForce(scene.world, torque), rg_ok);
    SceneRun(&scene, 200);
    const double* q = rgWorld_Positions(scene.world, NULL);
    const double* v = rgWorld_Velocities(scene.world, NULL);
    EXPECT_NEAR(q[0], -2 * q[1], 1e-9);
    EXPECT_NEAR(v[1], 0.2 / (0.1 + 4 * 0.1), 1e-7);
    SceneEnd(&scene);
}

// Two bodies welded move like one: a cantilever on a hinge.
static void test_weld_holds(void** state) {
    (void)state;
    Scene scene = SceneStart();
    Solid rod = SolidOf(rg_shapeBox, rgVec(0.5, 0.05, 0.05), 1, rgVec(0.5, 0, 0));
    Solid block = SolidOf(rg_shapeBox, rgVec(0.1, 0.1, 0.1), 2, rgVec(1.2, 0, 0));
    rgBodyId a = SceneBody(&scene, &rod, (rgBodyId){0});
    SceneJoint(&scene, a, rg_jointRevolute, rgVec(-0.5, 0, 0), rgVec(0, 1, 0));
    rgBodyId b = SceneFree(&scene, &block);
    rgEqualityDef weld = rgDefaultEqualityDef();
    weld.kind = rg_equalityWeld;
    weld.bodyA = a;
    weld.bodyB = b;
    weld.poseA.p = rgVec(0.5, 0, 0);
    weld.poseB.p = rgVec(-0.2, 0, 0);
    assert_int_equal(rgModelDef_AddEquality(scene.def, &weld, NULL), rg_ok);
    assert_int_equal(rgModelDef_ExcludePair(scene.def, a, b), rg_ok);
    rgWorldDef def = SceneWorldDef(1e-3, 1e-10);
    SceneMake(&scene, &def);
    for (int i = 0; i < 1000; ++i) {
        SceneStep(&scene);
        rgPose p = rgWorld_BodyPose(scene.world, a), q = rgWorld_BodyPose(scene.world, b);
        rgVec3 gap = rgSub(rgPose_Point(p, rgVec(0.5, 0, 0)), rgPose_Point(q, rgVec(-0.2, 0, 0)));
        EXPECT_NEAR(rgLength(gap), 0, 1e-10 * sqrt(3)); // projection.6
        rgVec3 turn = rgRotationVectorFromQuat(rgQuatMultiply(rgQuatConjugate(p.q), q.q));
        EXPECT_NEAR(rgLength(turn), 0, 1e-10 * sqrt(3));
    }
    assert_true(SceneBodyPoint(&scene, b).z < -0.3);
    SceneEnd(&scene);
}

// A tendon over two sliders: spring, limit and friction act on the sum of the coordinates.
static void test_tendon(void** state) {
    (void)state;
    for (int kind = 0; kind < 2; ++kind) {
        Scene scene = SceneStart();
        rgJointId joints[2];
        for (int i = 0; i < 2; ++i) {
            rgBodyDef body = rgDefaultBodyDef();
            body.pose.p = rgVec(0, i, 0);
            body.inertia = (rgInertia){.mass = 1 + i, .moment = {0.1, 0.1, 0.1, 0, 0, 0}};
            rgBodyId id;
            assert_int_equal(rgModelDef_AddBody(scene.def, &body, &id), rg_ok);
            joints[i] = SceneJoint(&scene, id, rg_jointPrismatic, rgVec(0, 0, 0), rgVec(1, 0, 0));
        }
        double coefficients[2] = {1, 1};
        rgTendonDef tendon = rgDefaultTendonDef();
        tendon.jointCount = 2;
        tendon.joints = joints;
        tendon.coefficients = coefficients;
        if (kind == 0) {
            tendon.stiffness = 100;
            tendon.springReference = 0.2;
            tendon.damping = 20;
        } else {
            tendon.hasLimits = true;
            tendon.lower = -0.1;
            tendon.upper = 0.1;
        }
        assert_int_equal(rgModelDef_AddTendon(scene.def, &tendon, NULL), rg_ok);
        rgWorldDef def = SceneWorldDef(1e-3, 1e-12);
        SceneMake(&scene, &def);
        double force[2] = {kind, 0};
        assert_int_equal(rgWorld_SetForce(scene.world, force), rg_ok);
        SceneRun(&scene, 3000);
        const double* q = rgWorld_Positions(scene.world, NULL);
        EXPECT_NEAR(q[0] + q[1], kind == 0 ? 0.2 : 0.1, 1e-6);
        if (kind == 0) {
            EXPECT_NEAR(q[0] * 1 - q[1] * 2, 0, 1e-9); // equal and opposite shares of momentum
        }
        SceneEnd(&scene);
    }
}

// Parts of one robot that overlap where no joint can separate them: nothing is asked of the joints,
// every step is solved, and the robot still turns.
static void test_overlap_by_design(void** state) {
    (void)state;
    Scene scene = SceneStart();
    rgBodyId parent = {0};
    for (int i = 0; i < 3; ++i) {
        double z = i == 2 ? -0.005 : 0.05; // the third sinks 5 mm into the first
        Solid plate = SolidOf(rg_shapeBox, rgVec(0.1, 0.1, 0.025), 1, rgVec(0, 0, z));
        parent = SceneBody(&scene, &plate, parent);
        SceneJoint(&scene, parent, rg_jointRevolute, rgVec(0, 0, 0), rgVec(0, 0, 1));
    }
    rgWorldDef def = SceneWorldDef(1e-3, 1e-8);
    def.friction = 0;
    SceneMake(&scene, &def);
    double torque[3] = {0, 0, 0.01};
    assert_int_equal(rgWorld_SetForce(scene.world, torque), rg_ok);
    for (int i = 0; i < 200; ++i) {
        rgStepReport report = SceneStep(&scene);
        assert_true(report.contactCount > 0 && report.penetration > 1e-3);
        assert_int_equal(report.contact.status, rg_contactSolved);
    }
    assert_true(rgWorld_Velocities(scene.world, NULL)[2] > 1e-3);
    SceneEnd(&scene);
}

// Parts of one robot that overlap at the start stay where they are, although their joint could
// move them apart. Once they have come apart, overlap is undone.
static void test_overlap_ends_when_parts_separate(void** state) {
    (void)state;
    Scene scene = SceneStart();
    rgBodyId parent = {0};
    const rgVec3 axes[3] = {{1, 0, 0}, {1, 0, 0}, {0, 0, 1}};
    for (int i = 0; i < 3; ++i) {
        double z = i == 2 ? -0.005 : 0.05; // the third sinks 5 mm into the first
        Solid plate = SolidOf(rg_shapeBox, rgVec(0.1, 0.1, 0.025), 1, rgVec(0, 0, z));
        parent = SceneBody(&scene, &plate, parent);
        SceneJoint(&scene, parent, i < 2 ? rg_jointRevolute : rg_jointPrismatic, rgVec(0, 0, 0),
                   axes[i]);
    }
    rgWorldDef def = SceneWorldDef(1e-3, 1e-8);
    def.friction = 0;
    SceneMake(&scene, &def);
    const double *q = rgWorld_Positions(scene.world, NULL), still[3] = {0};
    SceneRun(&scene, 50);
    EXPECT_NEAR(q[2], 0, 1e-9);
    assert_int_equal(rgWorld_SetState(scene.world, (double[3]){0, 0, 0.0051}, still), rg_ok);
    SceneStep(&scene);
    assert_int_equal(rgWorld_SetState(scene.world, (double[3]){0, 0, 0.004}, still), rg_ok);
    SceneRun(&scene, 50);
    EXPECT_NEAR(q[2], 0.005, 1e-5);
    SceneEnd(&scene);
}

// A cart that can only slide along the floor it is sunk into: nothing can lift it, so nothing is
// asked; every step is solved, and friction-free it slides on.
static void test_sunk_slide(void** state) {
    (void)state;
    Scene scene = SceneStart();
    ScenePlane(&scene, 0, rgQuatIdentity());
    Solid cart = SolidOf(rg_shapeBox, rgVec(0.1, 0.1, 0.05), 1, rgVec(0, 0, 0.0495));
    rgBodyId id = SceneBody(&scene, &cart, (rgBodyId){0});
    SceneJoint(&scene, id, rg_jointPrismatic, rgVec(0, 0, 0), rgVec(1, 0, 0));
    SceneJoint(&scene, id, rg_jointPrismatic, rgVec(0, 0, 0), rgVec(0, 1, 0));
    rgWorldDef def = SceneWorldDef(1e-3, 1e-8);
    def.friction = 0;
    SceneMake(&scene, &def);
    const double q[2] = {0, 0}, v[2] = {0.5, 0};
    assert_int_equal(rgWorld_SetState(scene.world, q, v), rg_ok);
    for (int i = 0; i < 100; ++i) {
        rgStepReport report = SceneStep(&scene);
        assert_true(report.contactCount > 0);
        assert_int_equal(report.contact.status, rg_contactSolved);
    }
    EXPECT_NEAR(rgWorld_Positions(scene.world, NULL)[0], 0.05, 1e-9);
    SceneEnd(&scene);
}

// A cart on rails that rise from the floor by 0.35 rad, sunk into it by a millimetre: alone on the
// rails, free to move across, or pulled. Below tan 0.35 and above, friction or not: the velocity
// problem is solved and knows nothing of the depth, the projection slides the cart out along the
// rails, and its speed stays that of the forces.
static void test_wedge(void** state) {
    (void)state;
    double rise = 0.35;
    for (int kind = 0; kind < 6; ++kind) {
        Scene scene = SceneStart();
        ScenePlane(&scene, 0, rgQuatIdentity());
        Solid cart = SolidOf(rg_shapeSphere, rgVec(0.1, 0, 0), 1, rgVec(0, 0, 0.099));
        rgBodyId id = SceneBody(&scene, &cart, (rgBodyId){0});
        SceneJoint(&scene, id, rg_jointPrismatic, rgVec(0, 0, 0), rgVec(cos(rise), 0, sin(rise)));
        if (kind % 2 == 1) { // and across, which does not help
            SceneJoint(&scene, id, rg_jointPrismatic, rgVec(0, 0, 0), rgVec(0, 1, 0));
        }
        bool wedged = kind >= 2, pulled = kind >= 4;
        rgWorldDef def = SceneWorldDef(1e-3, 1e-8);
        def.friction = wedged ? 0.5 : 0.3;
        SceneMake(&scene, &def);
        double force[2] = {pulled ? 20 : 0, 0};
        assert_int_equal(rgWorld_SetForce(scene.world, force), rg_ok);
        for (int i = 0; i < 300; ++i) {
            rgStepReport report = SceneStep(&scene);
            assert_int_equal(report.contact.status, rg_contactSolved);
            assert_int_equal(report.regularizedRows, 0);
            assert_true(pulled || rgWorld_KineticEnergy(scene.world) < 1e-12);
        }
        double out = rgWorld_Positions(scene.world, NULL)[0] * sin(rise);
        assert_true(out > 0.99e-3);
        assert_true(pulled || out < 1.01e-3);
        SceneEnd(&scene);
    }
}

// A ball in a groove of two planes, sunk into both by a millimetre, with less and with more
// friction than the groove is steep. Every step is solved, impulses stay as small as the load, and
// the projection lifts the ball until it touches both planes.
static void test_groove(void** state) {
    (void)state;
    double slope = 0.35, start = 0.099 / sin(slope);
    for (int kind = 0; kind < 6; ++kind) {
        bool isFree = kind % 2 == 1, jammed = kind >= 2, pulled = kind >= 4;
        Scene scene = SceneStart();
        for (int side = -1; side <= 1; side += 2) {
            ScenePlane(&scene, 0,
                       rgQuatFromAxisAngle(rgVec(1, 0, 0), side * (0.5 * acos(-1) - slope)));
        }
        Solid ball = SolidOf(rg_shapeSphere, rgVec(0.1, 0, 0), 1, rgVec(0, 0, start));
        if (isFree) {
            SceneFree(&scene, &ball);
        } else {
            rgBodyId id = SceneBody(&scene, &ball, (rgBodyId){0});
            SceneJoint(&scene, id, rg_jointPrismatic, rgVec(0, 0, 0), rgVec(0, 1, 0));
            SceneJoint(&scene, id, rg_jointPrismatic, rgVec(0, 0, 0), rgVec(0, 0, 1));
        }
        rgWorldDef def = SceneWorldDef(1e-3, 1e-8);
        def.friction = jammed ? 0.5 : 0.3;
        SceneMake(&scene, &def);
        double force[6] = {0};
        force[isFree ? 2 : 1] = pulled ? 20 : 0;
        assert_int_equal(rgWorld_SetForce(scene.world, force), rg_ok);
        double largest = 0;
        for (int i = 0; i < 300; ++i) {
            rgStepReport report = SceneStep(&scene);
            assert_int_equal(report.contact.status, rg_contactSolved);
            assert_int_equal(report.regularizedRows, 0);
            int count;
            const rgContact* contacts = rgWorld_Contacts(scene.world, &count);
            for (int k = 0; k < count; ++k) {
                largest = fmax(largest, contacts[k].impulse[2]);
            }
        }
        double up = rgWorld_Positions(scene.world, NULL)[isFree ? 2 : 1] - (isFree ? start : 0);
        assert_true(largest < 0.02);
        assert_true(up > 0.99e-3 / sin(slope));
        assert_true(pulled || up < 1.01e-3 / sin(slope));
        SceneEnd(&scene);
    }
}

// A chain of 100 pinned links (many rows take the sparse path of the projection) falls and stays
// together, and the problem on view is the step's own.
static void test_many_loops(void** state) {
    (void)state;
    Scene scene = SceneStart();
    enum { count = 100 };
    rgBodyId previous = {0};
    for (int i = 0; i < count; ++i) {
        Solid bar = SolidOf(rg_shapeBox, rgVec(0.05, 0.01, 0.01), 0.1, rgVec(0.1 * i, 0, 0));
        rgBodyId id = SceneFree(&scene, &bar);
        rgEqualityDef pin = rgDefaultEqualityDef();
        pin.kind = rg_equalityConnect;
        pin.bodyA = id;
        pin.bodyB = previous;
        pin.poseA.p = rgVec(-0.05, 0, 0);
        pin.poseB.p = previous.index1 > 0 ? rgVec(0.05, 0, 0) : rgVec(-0.05, 0, 0);
        assert_int_equal(rgModelDef_AddEquality(scene.def, &pin, NULL), rg_ok);
        assert_int_equal(rgModelDef_ExcludePair(scene.def, previous, id), rg_ok);
        previous = id;
    }
    rgWorldDef def = SceneWorldDef(1e-3, 1e-6);
    SceneMake(&scene, &def);
    for (int i = 0; i < 60; ++i) {
        SceneStep(&scene);
        const double* lambda;
        const rgContactProblem* problem = rgWorld_Problem(scene.world, &lambda);
        assert_true(problem->rowCount >= 3 * count);
        assert_true(i % 20 != 0 || rgContactProblem_Residual(problem, lambda) < 2e-6);
    }
    double worst = 0;
    for (int i = 1; i < count; ++i) {
        rgPose a = rgWorld_BodyPose(scene.world, (rgBodyId){i});
        rgPose b = rgWorld_BodyPose(scene.world, (rgBodyId){i + 1});
        rgVec3 gap = rgSub(rgPose_Point(a, rgVec(0.05, 0, 0)), rgPose_Point(b, rgVec(-0.05, 0, 0)));
        worst = fmax(worst, rgLength(gap));
    }
    EXPECT_NEAR(worst, 0, 1e-7);
    assert_true(SceneBodyPoint(&scene, (rgBodyId){count}).z < -0.01);
    SceneEnd(&scene);
}

// Many loops with damped joints: projected in the metric in which they move.
static void test_many_damped_loops(void** state) {
    (void)state;
    for (int count = 40; count <= 70; count += 30) { // below and above 128 rows
        Scene scene = SceneStart();
        for (int i = 0; i < count; ++i) {
            rgBodyDef body = rgDefaultBodyDef();
            body.pose.p = rgVec(3 * i, 0, 0);
            body.inertia = rgInertiaFromShape(rg_shapeSphere, rgVec(0.2, 0, 0), 1);
            body.inertia.center = rgVec(0.5, 0, 0);
            rgBodyId id;
            assert_int_equal(rgModelDef_AddBody(scene.def, &body, &id), rg_ok);
            rgJointDef joint = rgDefaultJointDef();
            joint.body = id;
            joint.kind = rg_jointRevolute;
            joint.axis = rgVec(0, 1, 0);
            joint.damping = 1000;
            assert_int_equal(rgModelDef_AddJoint(scene.def, &joint, NULL), rg_ok);
            rgEqualityDef loop = rgDefaultEqualityDef();
            loop.kind = rg_equalityConnect;
            loop.bodyA = id;
            loop.poseA.p = rgVec(1, 0, 0);
            loop.poseB.p = rgVec(3 * i + 1, 0, 0);
            assert_int_equal(rgModelDef_AddEquality(scene.def, &loop, NULL), rg_ok);
        }
        rgWorldDef def = SceneWorldDef(1e-3, 1e-6);
        SceneMake(&scene, &def);
        double q[70];
        for (int i = 0; i < count; ++i) {
            q[i] = 0.01;
        }
        assert_int_equal(rgWorld_SetState(scene.world, q, NULL), rg_ok);
        SceneRun(&scene, 15); // 10 mm at 1 m/s
        for (int i = 0; i < count; ++i) {
            EXPECT_NEAR(rgWorld_Positions(scene.world, NULL)[i], 0, 1e-10);
        }
        SceneEnd(&scene);
    }
}

// A rope of ball joints that lands on a floor. Where paths are long M is factorized by articulated
// inertias; entry by entry the motion is the same, and the judge reads M either way.
#define ROPE 24

static Scene Rope(bool articulated) {
    char text[8192] = "<mujoco><worldbody><geom type='plane' size='5 5 1'/>";
    size_t at = strlen(text);
    for (int i = 0; i < ROPE; ++i) {
        at +=
            (size_t)snprintf(text + at, sizeof(text) - at,
                             "<body pos='%s'><joint type='ball'/><geom type='capsule' size='0.01' "
                             "fromto='0 0 0 0.05 0 0' mass='0.05'/>",
                             i == 0 ? "0 0 0.3" : "0.05 0 0");
    }
    for (int i = 0; i < ROPE; ++i) {
        at += (size_t)snprintf(text + at, sizeof(text) - at, "</body>");
    }
    snprintf(text + at, sizeof(text) - at, "</worldbody></mujoco>");
    rgWorldDef def = SceneWorldDef(9e-4, 1e-10);
    Scene scene = SceneText(text, &def);
    assert_true(scene.world->kinematics.dynamics->anyDeep);
    if (!articulated) {
        rgDynamics* both[2] = {scene.world->kinematics.dynamics, scene.world->readout->start};
        for (int k = 0; k < 2; ++k) {
            both[k]->anyDeep = both[k]->isDeep[0] = false;
        }
    }
    return scene;
}

static void test_ropes_of_any_length(void** state) {
    (void)state;
    Scene one = Rope(true), other = Rope(false);
    int nv, touching = 0;
    for (int i = 0; i < 300; ++i) { // then they whip, and soon are others
        rgStepReport report = SceneStep(&one);
        SceneStep(&other);
        touching += report.contactCount > 0 && report.rowCount > 0;
        if (report.rowCount > 0) {
            assert_true(one.world->constraints.problem.delassus.mass.value != NULL);
        }
        const double* v = rgWorld_Velocities(one.world, &nv);
        const double* w = rgWorld_Velocities(other.world, NULL);
        for (int k = 0; k < nv; ++k) {
            // the solver's tolerance, and a rope that whips, once it has landed
            EXPECT_NEAR(v[k], w[k], touching > 0 ? 1e-3 : 1e-9);
        }
    }
    assert_true(touching > 20);
    SceneEnd(&one);
    SceneEnd(&other);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ropes_of_any_length),
        cmocka_unit_test(test_gravity_compensation),
        cmocka_unit_test(test_limit_holds),
        cmocka_unit_test(test_dry_friction_holds_and_slips),
        cmocka_unit_test(test_damping_is_implicit),
        cmocka_unit_test(test_spring_finds_rest),
        cmocka_unit_test(test_servo_with_huge_gain),
        cmocka_unit_test(test_servo_as_row_is_the_same),
        cmocka_unit_test(test_effort_limit_binds),
        cmocka_unit_test(test_effort_of_users_is_limited),
        cmocka_unit_test(test_control_range_and_gear),
        cmocka_unit_test(test_four_bar),
        cmocka_unit_test(test_gear),
        cmocka_unit_test(test_weld_holds),
        cmocka_unit_test(test_tendon),
        cmocka_unit_test(test_many_loops),
        cmocka_unit_test(test_many_damped_loops),
        cmocka_unit_test(test_overlap_by_design),
        cmocka_unit_test(test_overlap_ends_when_parts_separate),
        cmocka_unit_test(test_sunk_slide),
        cmocka_unit_test(test_wedge),
        cmocka_unit_test(test_groove),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
