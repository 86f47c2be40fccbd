// The step as an integrator: order, energy, momentum, and what sticks to things that turn.
#include "scene.h"

static Scene TextScene(const char* text, const rgWorldDef* def) {
    Scene scene = {0};
    assert_int_equal(rgParseModelDef(text, strlen(text), NULL, NULL, NULL, &scene.def), rg_ok);
    SceneMake(&scene, def);
    return scene;
}

static const char doublePendulum[] =
    "<mujoco><worldbody><body><joint axis='0 1 0'/>"
    "<inertial pos='0 0 -.5' mass='1' diaginertia='.083 .083 .001'/>"
    "<body pos='0 0 -1'><joint axis='0 1 0'/>"
    "<inertial pos='0 0 -.4' mass='.7' diaginertia='.05 .05 .001'/></body></body>"
    "</worldbody></mujoco>";

static const char floatingChain[] =
    "<mujoco><option gravity='0 0 0'/><worldbody><body pos='0 0 1'><freejoint/>"
    "<inertial pos='.05 .02 0' mass='2' diaginertia='.05 .08 .1'/>"
    "<body pos='.3 0 0'><joint axis='0 1 0'/>"
    "<inertial pos='.2 0 .03' mass='1' diaginertia='.004 .02 .02'/>"
    "<body pos='.4 0 0'><joint axis='0 0 1'/>"
    "<inertial pos='.15 .01 0' mass='.6' diaginertia='.003 .01 .01'/></body></body></body>"
    "</worldbody></mujoco>";

static const char springMass[] =
    "<mujoco><option gravity='0 0 0'/><worldbody><body><joint type='slide' axis='1 0 0' "
    "stiffness='986.96044010893586'/>" // (2 pi 5 Hz)^2
    "<inertial pos='0 0 0' mass='1' diaginertia='1 1 1'/></body></worldbody></mujoco>";

// Energy may be off by `share` of what potential and kinetic energy exchanged.
static void ExpectEnergy(Scene* scene, int steps, double share) {
    double start = SceneEnergy(scene), off = 0, most = 0;
    for (int i = 0; i < steps; ++i) {
        SceneStep(scene);
        off = fmax(off, fabs(SceneEnergy(scene) - start));
        most = fmax(most, rgWorld_KineticEnergy(scene->world));
    }
    print_message("energy off by %.2e of %.3g J\n", off, most);
    assert_true(off < share * most);
}

static void TestDoublePendulum(void** state) {
    (void)state;
    rgWorldDef def = SceneWorldDef(1e-3, 1e-6);
    Scene scene = TextScene(doublePendulum, &def);
    assert_int_equal(rgWorld_SetState(scene.world, (double[]){1.5707963, 0.5}, NULL), rg_ok);
    ExpectEnergy(&scene, rgFewer(60000), 1e-3);
    SceneEnd(&scene);
}

static void TestSpringKeepsItsEnergy(void** state) {
    (void)state;
    rgWorldDef def = SceneWorldDef(1e-3, 1e-6);
    Scene scene = TextScene(springMass, &def);
    assert_int_equal(rgWorld_SetState(scene.world, (double[]){0.1}, NULL), rg_ok);
    ExpectEnergy(&scene, rgFewer(10000), 1e-3);
    SceneEnd(&scene);
}

// Nothing pushes: the centre of mass goes straight on.
static void TestFloatingChain(void** state) {
    (void)state;
    rgWorldDef def = SceneWorldDef(1e-3, 1e-6);
    Scene scene = TextScene(floatingChain, &def);
    double q[9] = {0, 0, 1, 1, 0, 0, 0, 0.3, -0.4}, v[8] = {0, 0, 0, 1, 2, 3, 2, -3};
    assert_int_equal(rgWorld_SetState(scene.world, q, v), rg_ok);
    rgDynamicsDef dynamicsDef = rgDefaultDynamicsDef(scene.model);
    rgDynamics* d;
    assert_int_equal(rgCreateDynamics(scene.model, &dynamicsDef, &d), rg_ok);
    rgDynamics_SetState(d, q, v);
    rgVec3 start = rgDynamics_Center(d), speed = rgDynamics_CenterVelocity(d);
    ExpectEnergy(&scene, rgFewer(60000), 1e-3);
    rgDynamics_SetPositions(d, rgWorld_Positions(scene.world, NULL));
    rgVec3 expected = rgAddScaled(start, rgWorld_Time(scene.world), speed);
    assert_true(rgLength(rgSub(rgDynamics_Center(d), expected)) < 1e-3);
    rgDestroyDynamics(d);
    SceneEnd(&scene);
}

// Ten short links whip at hundreds of radians per second.
static void TestTenLinks(void** state) {
    (void)state;
    char text[4096] = "<mujoco><worldbody>";
    for (int i = 0; i < 10; ++i) {
        strcat(text, i == 0 ? "<body pos='0 0 2'>" : "<body pos='.05 0 0'>");
        strcat(text, "<joint axis='0 1 0'/><inertial pos='.025 0 0' mass='.1' "
                     "diaginertia='1e-6 2.0933333333e-5 2.0933333333e-5'/>");
    }
    for (int i = 0; i < 10; ++i) {
        strcat(text, "</body>");
    }
    strcat(text, "</worldbody></mujoco>");
    rgWorldDef def = SceneWorldDef(1e-3, 1e-6);
    Scene scene = TextScene(text, &def);
    ExpectEnergy(&scene, rgFewer(60000), 1e-2);
    SceneEnd(&scene);
}

// A body without forces: momentum and energy, whatever it turns about.
static void TestTumblingBody(void** state) {
    (void)state;
    Scene scene = SceneStart();
    Solid brick = SolidOf(rg_shapeBox, rgVec(0.3, 0.1, 0.2), 2, rgVec(0, 0, 3));
    SceneFree(&scene, &brick);
    rgWorldDef def = SceneWorldDef(1e-3, 1e-6);
    def.overrideGravity = true;
    SceneMake(&scene, &def);
    double v[6] = {1, -2, 3, 0.1, 8, 0.1};
    assert_int_equal(rgWorld_SetState(scene.world, NULL, v), rg_ok);
    rgSym3 I = rgInertiaFromShape(brick.kind, brick.size, brick.mass).moment;
    double energy = rgWorld_KineticEnergy(scene.world), off = 0, turned = 0;
    rgVec3 L = rgSym3_Multiply(&I, rgVec(v[3], v[4], v[5])), start = rgVec(1, -2, 3);
    for (int i = 0; i < rgFewer(60000); ++i) {
        SceneStep(&scene);
        rgSpatial V = rgWorld_BodyVelocity(scene.world, (rgBodyId){1});
        rgQuat q = rgWorld_BodyPose(scene.world, (rgBodyId){1}).q;
        rgVec3 now = rgRotate(q, rgSym3_Multiply(&I, rgRotateBack(q, V.angular)));
        turned = fmax(turned, rgLength(rgSub(now, L)) / rgLength(L));
        off = fmax(off, fabs(rgWorld_KineticEnergy(scene.world) / energy - 1));
        assert_true(rgLength(rgSub(V.linear, start)) < 1e-10);
    }
    print_message("angular momentum off by %.1e, energy by %.1e\n", turned, off);
    assert_true(turned < 1e-10);
    assert_true(off < 1e-4);
    SceneEnd(&scene);
}

// ---- order

static rgVec3 EndOf(const char* text, const double* q, const double* v, double dt,
                    rgIntegrator integrator) {
    rgWorldDef def = SceneWorldDef(dt, 1e-12);
    def.integrator = integrator;
    Scene scene = TextScene(text, &def);
    assert_int_equal(rgWorld_SetState(scene.world, q, v), rg_ok);
    SceneRun(&scene, (int)lround(0.5 / dt));
    rgModelInfo info = rgModel_Info(scene.model);
    rgVec3 p = rgWorld_BodyPose(scene.world, (rgBodyId){info.bodyCount}).p;
    p = rgAdd(p, rgWorld_BodyVelocity(scene.world, (rgBodyId){info.bodyCount}).linear);
    p = rgAdd(
        p, rgRotate(rgWorld_BodyPose(scene.world, (rgBodyId){info.bodyCount}).q, rgVec(1, 2, 3)));
    SceneEnd(&scene);
    return p;
}

// Steps of h, h/2 and h/4: errors go down by 2^order.
static void ExpectOrder(const char* text, const double* q, const double* v, double order,
                        rgIntegrator integrator) {
    rgVec3 a = EndOf(text, q, v, 2e-3, integrator), b = EndOf(text, q, v, 1e-3, integrator);
    rgVec3 c = EndOf(text, q, v, 5e-4, integrator);
    double found = log2(rgLength(rgSub(a, b)) / rgLength(rgSub(b, c)));
    print_message("order %.3f\n", found);
    EXPECT_NEAR(found, order, 0.1);
}

// A sphere hangs by a loop closure and swings in a cone-like way: constraint forces bend its path.
static const char hanging[] =
    "<mujoco><worldbody><body name='b' pos='0 0 0'><freejoint/>"
    "<inertial pos='.05 0 -.3' mass='1' diaginertia='.02 .03 .01'/></body></worldbody>"
    "<equality><connect body1='b' anchor='0 0 0'/></equality></mujoco>";

static void TestOrder(void** state) {
    (void)state;
    double spring[] = {0.1}, pendulum[] = {1.5, 0.5};
    double q[9] = {0, 0, 1, 1, 0, 0, 0, 0.3, -0.4}, v[8] = {0, 0, 0, 1, 2, 3, 2, -3};
    double tilted[7] = {0, 0, 0, cos(0.4), sin(0.4), 0, 0}, turning[6] = {0, 0, 0, 1, 2, 6};
    ExpectOrder(springMass, spring, NULL, 2, rg_integratorMidpoint);
    ExpectOrder(doublePendulum, pendulum, NULL, 2, rg_integratorMidpoint);
    ExpectOrder(floatingChain, q, v, 2, rg_integratorMidpoint);
    ExpectOrder(hanging, tilted, turning, 2, rg_integratorMidpoint);
    ExpectOrder(doublePendulum, pendulum, NULL, 1, rg_integratorEuler);
}

// ---- what sticks to things that turn

// Drift of the last body in axes that turn with the first, in metres per second.
static double Creep(Scene* scene, double rate, double seconds) {
    rgVec3 first = {0}, last = {0};
    int steps = (int)lround(seconds * 1e3), half = steps / 2;
    rgBodyId carried = {rgModel_Info(scene->model).bodyCount};
    for (int i = 0; i <= steps; ++i) {
        double angle = rgWorld_Positions(scene->world, NULL)[0];
        rgQuat turn = rgQuatFromAxisAngle(rgVec(0, 0, 1), angle);
        last = rgRotateBack(turn, rgWorld_BodyPose(scene->world, carried).p);
        first = i == half ? last : first;
        SceneStep(scene);
    }
    EXPECT_NEAR(rgWorld_Velocities(scene->world, NULL)[0], rate, 1e-3);
    return rgLength(rgSub(last, first)) / ((steps - half) * 1e-3);
}

static void TestTurntable(void** state) {
    (void)state;
    const char* text =
        "<mujoco><worldbody><body><joint name='j' axis='0 0 1'/>"
        "<geom type='cylinder' size='1 .05' mass='100' friction='2'/></body>"
        "<body pos='.5 0 .07'><freejoint/><geom type='box' size='.05 .05 .02' mass='1' "
        "friction='2'/></body></worldbody>"
        "<actuator><velocity joint='j' kv='1e5'/></actuator></mujoco>";
    for (int k = 0; k < 2; ++k) {
        rgWorldDef def = SceneWorldDef(1e-3, 1e-9);
        def.integrator = k == 0 ? rg_integratorMidpoint : rg_integratorEuler;
        Scene scene = TextScene(text, &def);
        double w = 5, q[8] = {0, 0.5, 0, 0.07, 1, 0, 0, 0}, v[7] = {w, 0, 0.5 * w, 0, 0, 0, w};
        assert_int_equal(rgWorld_SetState(scene.world, q, v), rg_ok);
        assert_int_equal(rgWorld_SetControl(scene.world, &w), rg_ok);
        double creep = Creep(&scene, w, 2);
        print_message("creeps at %.1e m/s\n", creep);
        assert_true(creep < 1e-6);
        int count;
        const rgContact* contacts = rgWorld_Contacts(scene.world, &count);
        for (int i = 0; i < count; ++i) {
            assert_true(hypot(contacts[i].slip[0], contacts[i].slip[1]) < 1e-6);
        }
        SceneEnd(&scene);
    }
}

static void TestTurningGripper(void** state) {
    (void)state;
    const char* text =
        "<mujoco><worldbody><body pos='0 0 1'><joint name='j' axis='0 0 1'/>"
        "<inertial pos='0 0 0' mass='20' diaginertia='1 1 1'/>"
        "<body pos='.4 -.06 0'><joint name='l' type='slide' axis='0 1 0'/>"
        "<geom type='box' size='.03 .01 .03' mass='.2' friction='1'/></body>"
        "<body pos='.4 .06 0'><joint name='r' type='slide' axis='0 -1 0'/>"
        "<geom type='box' size='.03 .01 .03' mass='.2' friction='1'/></body></body>"
        "<body pos='.4 0 1'><freejoint/><geom type='box' size='.02 .05 .02' mass='.1' "
        "friction='1'/></body></worldbody><equality><joint joint1='l' joint2='r'/></equality>"
        "<actuator><velocity joint='j' kv='1e5'/><motor joint='l'/></actuator></mujoco>";
    rgWorldDef def = SceneWorldDef(1e-3, 1e-9);
    Scene scene = TextScene(text, &def);
    double w = 2, v[9] = {w, 0, 0, 0, 0.4 * w, 0, 0, 0, w}, control[2] = {w, 40};
    assert_int_equal(rgWorld_SetState(scene.world, NULL, v), rg_ok);
    assert_int_equal(rgWorld_SetControl(scene.world, control), rg_ok);
    double creep = Creep(&scene, w, 4);
    print_message("creeps at %.1e m/s\n", creep);
    assert_true(creep < 1e-6);
    SceneEnd(&scene);
}

// A ball that rolls and pivots on a plane goes straight on: its contact moves over it, and no arc
// of its points is taken for slip.
static void TestRollingBallGoesStraight(void** state) {
    (void)state;
    Scene scene = SceneStart();
    ScenePlane(&scene, 0.8, rgQuatIdentity());
    Solid ball = SolidOf(rg_shapeSphere, rgVec(0.1, 0, 0), 1, rgVec(0, 0, 0.1));
    rgBodyId id = SceneFree(&scene, &ball);
    rgWorldDef def = SceneWorldDef(1e-3, 1e-9);
    SceneMake(&scene, &def);
    double v[6] = {1, 0, 0, 0, 10, 20};
    assert_int_equal(rgWorld_SetState(scene.world, NULL, v), rg_ok);
    SceneRun(&scene, 1000);
    rgVec3 p = SceneBodyPoint(&scene, id);
    EXPECT_NEAR(p.x, 1, 1e-5);
    EXPECT_NEAR(p.y, 0, 1e-5);
    SceneEnd(&scene);
}

// ---- smaller things

// Many loops with damped joints: projected in the metric in which they move.
static void TestManyDampedLoops(void** state) {
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
        SceneStep(&scene);
        for (int i = 0; i < count; ++i) {
            EXPECT_NEAR(rgWorld_Positions(scene.world, NULL)[i], 0, 1e-12);
        }
        SceneEnd(&scene);
    }
}

static void TestReactionIsThatOfTheStep(void** state) {
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

// A state that was set touching the floor on its way down stops there.
static void TestSetIntoTheFloor(void** state) {
    (void)state;
    Scene scene = SceneStart();
    ScenePlane(&scene, 0.5, rgQuatIdentity());
    Solid ball = SolidOf(rg_shapeSphere, rgVec(0.1, 0, 0), 1, rgVec(0, 0, 0.1));
    rgBodyId id = SceneFree(&scene, &ball);
    rgWorldDef def = SceneWorldDef(1e-3, 1e-9);
    SceneMake(&scene, &def);
    assert_int_equal(rgWorld_SetState(scene.world, NULL, (double[6]){0, 0, -5}), rg_ok);
    for (int i = 0; i < 20; ++i) {
        SceneStep(&scene);
        EXPECT_NEAR(SceneBodyPoint(&scene, id).z, 0.1, 1e-9);
    }
    SceneEnd(&scene);
}

static void TestIntegratorOfAFile(void** state) {
    (void)state;
    const char* names[] = {"Euler", "implicit", "implicitfast", "RK4"};
    for (int i = 0; i < 4; ++i) {
        char text[128];
        snprintf(text, sizeof(text), "<mujoco><option integrator='%s'/><worldbody/></mujoco>",
                 names[i]);
        rgModelDef* def;
        rgModel* model;
        assert_int_equal(rgParseModelDef(text, strlen(text), NULL, NULL, NULL, &def), rg_ok);
        assert_int_equal(rgCompileModel(def, NULL, NULL, &model), rg_ok);
        assert_int_equal(rgModel_Info(model).options.integrator,
                         i == 0 ? rg_integratorEuler : rg_integratorMidpoint);
        rgDestroyModel(model);
        rgDestroyModelDef(def);
    }
    const char* wrong = "<mujoco><option integrator='magic'/><worldbody/></mujoco>";
    rgModelDef* def = NULL;
    assert_int_not_equal(rgParseModelDef(wrong, strlen(wrong), NULL, NULL, NULL, &def), rg_ok);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(TestDoublePendulum),
        cmocka_unit_test(TestSpringKeepsItsEnergy),
        cmocka_unit_test(TestFloatingChain),
        cmocka_unit_test(TestTenLinks),
        cmocka_unit_test(TestTumblingBody),
        cmocka_unit_test(TestOrder),
        cmocka_unit_test(TestTurntable),
        cmocka_unit_test(TestTurningGripper),
        cmocka_unit_test(TestRollingBallGoesStraight),
        cmocka_unit_test(TestManyDampedLoops),
        cmocka_unit_test(TestReactionIsThatOfTheStep),
        cmocka_unit_test(TestSetIntoTheFloor),
        cmocka_unit_test(TestIntegratorOfAFile),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
