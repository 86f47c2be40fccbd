// MJCF: equalities, actuators, sensors, keys, flags and what is not used, on small files.
#include "mjcf_text.h"

// What is known, changes something and is not used is named with its consequence, once per element.
static void test_ignored(void** state) {
    (void)state;
    static const char* const cases[][2] = {
        {"<option impratio='10'/>", "<option impratio> is not used: friction is exact"},
        {"<option cone='elliptic'/>", "<option cone> is not used: friction is exact"},
        {"<option solver='CG'/>", "<option solver> is not used"},
        {"<option iterations='5'/>", "<option iterations> is not used"},
        {"<option tolerance='1e-9'/>", "<option tolerance> is not used"},
        {"<option jacobian='dense'/>", "<option jacobian> is not used"},
        {"<option noslip_iterations='5'/>", "sticking contacts do not slip"},
        {"<option><flag multiccd='enable'/></option>", "as many points as they need"},
        {"<option><flag sensornoise='enable'/></option>", "readings have no noise"},
        {"<option><flag sleep='enable'/></option>", "an option of the world"},
        {"<compiler discardvisual='true'/>", "visual geoms are kept"},
        {"<compiler fusestatic='true'/>", "bodies without joints keep their names"},
        {"<asset><mesh name='m' vertex='0 0 0 1 0 0 0 1 0 0 0 1' maxhullvert='8'/></asset>",
         "hulls keep all their vertices"},
        {"<default><joint solreflimit='.01 1'/></default>", "limits are rigid"},
        {"<default><joint solimpfriction='.9'/></default>", "dry friction is rigid"},
        {"<equality><joint joint1='j' solref='.01 1'/></equality>", "couplings are rigid"},
        {"<contact><pair geom1='g' geom2='h' solreffriction='.1 1'/></contact>",
         "friction is rigid"},
        {"<sensor><jointpos joint='j' noise='.1'/></sensor>", "readings have no noise"},
    };
    rgParsed used = rgParse("<mujoco><option magnetic='0 1 0' wind='1 0 0'/></mujoco>");
    for (int k = 0; k < rgDiagnostics_Count(used.diagnostics); ++k) {
        assert_null(strstr(rgDiagnostics_Message(used.diagnostics, k).text, "is not used"));
    }
    rgParsed_Close(&used);
    for (int i = 0; i < (int)(sizeof(cases) / sizeof(cases[0])); ++i) {
        char text[1000];
        snprintf(text, sizeof(text),
                 "<mujoco>%s<worldbody><geom name='g' size='1'/><body><joint name='j'/><geom "
                 "name='h' size='1'/></body></worldbody></mujoco>",
                 cases[i][0]);
        rgParsed f = rgParse(text);
        int told = 0;
        for (int k = 0; k < rgDiagnostics_Count(f.diagnostics); ++k) {
            told += strstr(rgDiagnostics_Message(f.diagnostics, k).text, cases[i][1]) != NULL;
        }
        if (told != 1) {
            fail_msg("%s: '%s' is said %d times", cases[i][0], cases[i][1], told);
        }
        rgParsed_Close(&f);
    }
}

// Delays are read, from classes too, and written.
static void test_delays(void** state) {
    (void)state;
    rgParsed f = rgParse("<mujoco><option timestep='.001'/><default><motor delay='.004' "
                         "nsample='4'/></default><worldbody><body><joint name='j'/><geom "
                         "size='1'/></body></worldbody><actuator><motor joint='j'/><motor "
                         "joint='j' delay='.0025' interp='linear'/></actuator></mujoco>");
    for (int round = 0; round < 2; ++round) {
        const rgActuatorDef* a = rgModelDef_Actuator(f.def, (rgActuatorId){1});
        EXPECT_NEAR(a->delay, 0.004, 1e-15);
        assert_false(a->delayIsContinuous);
        a = rgModelDef_Actuator(f.def, (rgActuatorId){2});
        EXPECT_NEAR(a->delay, 0.0025, 1e-15);
        assert_true(a->delayIsContinuous);
        if (round == 0) {
            assert_int_equal(rgSaveMjcf(f.def, "delays.xml", NULL), rg_ok);
            rgParsed_Close(&f);
            assert_int_equal(rgCreateDiagnostics(NULL, &f.diagnostics), rg_ok);
            assert_int_equal(rgLoadMjcf("delays.xml", NULL, f.diagnostics, &f.def), rg_ok);
        }
    }
    rgParsed_Close(&f);
    remove("delays.xml");
}

// Adhesion of two geoms is their sum, of a pair its own, and both are written.
static void test_adhesion(void** state) {
    (void)state;
    rgParsed f = rgParse("<mujoco><worldbody><geom name='a' size='1' adhesion='2'/><body><joint/>"
                         "<geom name='b' size='1' adhesion='3'/><geom name='c' size='1'/></body>"
                         "</worldbody><contact><pair geom1='a' geom2='c' adhesion='7'/></contact>"
                         "</mujoco>");
    for (int round = 0; round < 2; ++round) {
        rgModel* model;
        assert_int_equal(rgCompileModel(f.def, NULL, NULL, &model), rg_ok);
        rgShapeId a = rgModel_FindShape(model, "a"), b = rgModel_FindShape(model, "b"),
                  c = rgModel_FindShape(model, "c");
        EXPECT_NEAR(rgModel_PairMaterial(model, a, b).adhesion, 5, 0);
        EXPECT_NEAR(rgModel_PairMaterial(model, a, c).adhesion, 7, 0);
        rgDestroyModel(model);
        if (round == 0) {
            assert_int_equal(rgSaveMjcf(f.def, "adhesion.xml", NULL), rg_ok);
            rgParsed_Close(&f);
            assert_int_equal(rgCreateDiagnostics(NULL, &f.diagnostics), rg_ok);
            assert_int_equal(rgLoadMjcf("adhesion.xml", NULL, f.diagnostics, &f.def), rg_ok);
        }
    }
    rgParsed_Close(&f);
    remove("adhesion.xml");
}

// Ends of loops meet at the reference configuration.
static void test_equality(void** state) {
    (void)state;
    rgParsed f = rgParse("<mujoco><worldbody>" BALL(
        "a",
        "1 0 0") "<body name='b' pos='0 2 0' euler='0 0 90'>"
                 "<joint name='jb'/><geom size='.1'/><site name='s' pos='0 0 1'/></body><site "
                 "name='w' "
                 "pos='3 0 0'/></worldbody><equality><connect body1='a' body2='b' anchor='1 0 0'/>"
                 "<weld body1='a' body2='b'/><weld body1='a' body2='b' relpose='1 2 3 1 0 0 0' "
                 "anchor='4 5 6'/><joint joint1='ja' joint2='jb' polycoef='1 2'/>"
                 "<connect site1='s' site2='w' active='false'/><weld "
                 "body1='b'/></equality></mujoco>");
    const rgEqualityDef* e = f.def->equalities;
    assert_int_equal(f.def->equalityCount, 6);
    rgExpectVec(e[0].poseA.p, 1, 0, 0);
    rgExpectVec(e[0].poseB.p, -2, -2, 0);
    rgExpectVec(e[1].poseA.p, -1, 2, 0);
    rgExpectVec(rgRotate(e[1].poseA.q, rgVec(1, 0, 0)), 0, 1, 0);
    rgExpectVec(e[1].poseB.p, 0, 0, 0);
    rgExpectVec(e[2].poseA.p, 1, 2, 3);
    rgExpectVec(e[2].poseB.p, 4, 5, 6);
    EXPECT_NEAR(e[3].polynomial[0], 1, 0);
    EXPECT_NEAR(e[3].polynomial[1], 2, 0);
    assert_int_equal(e[3].jointB.index1, 2);
    assert_true(e[4].disabled);
    rgExpectVec(e[4].poseA.p, 0, 0, 1);
    assert_int_equal(e[4].bodyB.index1, 0);
    rgExpectVec(e[5].poseA.p, -2, 0, 0); // the world's origin in b
    rgParsed_Close(&f);
}

static void test_actuators(void** state) {
    (void)state;
    rgParsed f = rgParse(
        "<mujoco><default><position kp='5'/><general ctrlrange='-1 1'/></default><worldbody>" BALL(
            "a", "0 0 0") "</worldbody><tendon><fixed name='t' range='0 1'><joint joint='ja' "
                          "coef='2'/></fixed></tendon><actuator><motor joint='ja' gear='7'/>"
                          "<position joint='ja' kv='2'/><velocity tendon='t' kv='3'/>"
                          "<general joint='ja' gainprm='2' biastype='affine' biasprm='1 -4 -6' "
                          "forcerange='-8 9'/></actuator></mujoco>");
    const rgActuatorDef* a = f.def->actuators;
    const double expected[4][4] = {{1, 0, 0, 0}, {5, 0, 5, 2}, {3, 0, 0, 3}, {2, 1, 4, 6}};
    assert_int_equal(f.def->actuatorCount, 4);
    for (int i = 0; i < 4; ++i) {
        const double ours[4] = {a[i].gain, a[i].bias, a[i].kp, a[i].kd};
        for (int k = 0; k < 4; ++k) {
            EXPECT_NEAR(ours[k], expected[i][k], 0);
        }
        assert_true(a[i].hasControlRange);
        assert_int_equal(a[i].hasForceRange, i == 3);
    }
    EXPECT_NEAR(a[0].gear[0], 7, 0);
    EXPECT_NEAR(a[3].forceUpper, 9, 0);
    assert_int_equal(a[2].tendon.index1, 1);
    assert_true(f.def->tendons[0].hasLimits);
    rgParsed_Close(&f);
}

// kd = 2 ratio sqrt(kp m) with the diagonal m of the mass matrix, at the joint or through gear and
// tendon; a joint's spring follows from the inertia that it feels when the others are free.
static void test_damping_ratio(void** state) {
    (void)state;
    rgParsed f = rgParse(
        "<mujoco><default><position dampratio='.5'/></default><worldbody>"
        "<body><joint name='a' axis='0 1 0' armature='.25'/><inertial pos='1 0 0' mass='2' "
        "diaginertia='1 1 1'/><body pos='1 0 0'><joint name='b' axis='0 1 0' "
        "springdamper='.5 .7'/><inertial pos='1 0 0' mass='3' diaginertia='1 1 1'/></body></body>"
        "</worldbody><tendon><fixed name='t'><joint joint='a' coef='2'/></fixed><fixed name='u'>"
        "<joint joint='a' coef='2'/><joint joint='b' coef='3'/></fixed></tendon><actuator>"
        "<position joint='b' kp='9' gear='2'/><position tendon='t' kp='9' dampratio='1'/>"
        "<position joint='a' kp='9' kv='3'/><general joint='b' gainprm='16' biastype='affine' "
        "biasprm='0 -16 1'/><position tendon='u' kp='9' dampratio='1'/></actuator></mujoco>");
    double held = 0.25 + 1 + 2 + 1 + 3 * 4, alone = 1 + 3, mixed = 1 + 3 * 2;
    const rgActuatorDef* a = f.def->actuators;
    EXPECT_NEAR(a[0].kd, 2 * 0.5 * sqrt(9 * alone / 4), 1e-12);
    EXPECT_NEAR(a[1].kd, 2 * sqrt(9 * held / 4), 1e-12);
    EXPECT_NEAR(a[2].kd, 3, 0);
    EXPECT_NEAR(a[3].kd, 2 * sqrt(16 * alone), 1e-12);
    EXPECT_NEAR(a[4].kd, 2 * sqrt(9 * (held / 4 + alone / 9)), 1e-12);
    double felt = alone - mixed * mixed / held;
    EXPECT_NEAR(f.def->joints[1].stiffness, felt / (0.25 * 0.49), 1e-11);
    EXPECT_NEAR(f.def->joints[1].damping, 2 * felt / 0.5, 1e-11);
    rgParsed_Close(&f);
}

// The free length of a spring around a ball is that of the way around it: two tangents and an arc.
static void test_free_length_around_a_ball(void** state) {
    (void)state;
    rgParsed f = rgParse(
        "<mujoco><worldbody><geom name='ring' type='sphere' size='.1' contype='0' "
        "conaffinity='0'/><site name='left' pos='-.3 0 .01'/><site name='top' pos='0 0 .2'/>"
        "<body pos='0 0 0'><joint axis='0 1 0'/><geom size='.05' pos='.3 0 0' mass='1'/>"
        "<site name='right' pos='.3 0 .01'/></body></worldbody><tendon>"
        "<spatial name='over' stiffness='5'><site site='left'/>"
        "<geom geom='ring' sidesite='top'/><site site='right'/></spatial></tendon></mujoco>");
    double away = hypot(0.3, 0.01), tangent = sqrt(away * away - 0.1 * 0.1);
    double arc = 0.1 * (PI - 2 * atan2(0.01, 0.3) - 2 * acos(0.1 / away));
    EXPECT_NEAR(f.def->tendons[0].springReference, 2 * tangent + arc, 1e-12);
    rgParsed_Close(&f);
}

// The force of a muscle is its scale over the acceleration that a unit of it gives to all joints
// together.
static void test_muscle_force(void** state) {
    (void)state;
    rgParsed f = rgParse(
        "<mujoco><worldbody><body><joint name='a' type='slide'/><inertial pos='0 0 0' mass='4' "
        "diaginertia='1 1 1'/></body><body><joint name='b' type='slide'/><inertial pos='0 0 0' "
        "mass='5' diaginertia='1 1 1'/></body></worldbody><tendon><fixed name='t'>"
        "<joint joint='a' coef='3'/><joint joint='b' coef='-5'/></fixed></tendon><actuator>"
        "<muscle joint='a' scale='100' lengthrange='0 1'/><muscle tendon='t' lengthrange='0 1'/>"
        "<muscle tendon='t' force='7' lengthrange='0 1'/></actuator></mujoco>");
    EXPECT_NEAR(f.def->actuators[0].muscle.force, 400, 1e-10);
    EXPECT_NEAR(f.def->actuators[1].muscle.force, 200 / hypot(3 / 4.0, 1), 1e-10);
    EXPECT_NEAR(f.def->actuators[2].muscle.force, 7, 0);
    rgParsed_Close(&f);
}

static void test_disabled_actuators(void** state) {
    (void)state;
    rgParsed f =
        rgParse("<mujoco><option actuatorgroupdisable='2 5'/><worldbody>" BALL("a", "0 0 0") //
                "</worldbody><actuator><motor joint='ja' group='5'/><motor joint='ja' group='1'/>"
                "</actuator></mujoco>");
    EXPECT_NEAR(f.def->actuators[0].gain, 0, 0);
    EXPECT_NEAR(f.def->actuators[1].gain, 1, 0);
    rgParsed_Close(&f);
}

#define SWITCHES(text)                                                                             \
    "<mujoco><option><flag " text "/></option><worldbody><body name='p'><joint name='j' "          \
    "range='-1 1' stiffness='2' damping='3' frictionloss='4'/><geom name='g' size='1'/>"           \
    "<body name='c'><joint/><geom name='h' size='1'/></body></body></worldbody><contact>"          \
    "<pair geom1='g' geom2='h'/></contact><equality><joint joint1='j'/></equality><actuator>"      \
    "<position joint='j' kp='5' ctrlrange='-1 1'/></actuator></mujoco>"

// What a flag switches off is not in the definition, and nothing else is missing.
static void test_flags(void** state) {
    (void)state;
    static const struct {
        const char* text;
        int limit, spring, damper, friction, contact, equality, servo, clamp;
    } cases[] = {
        {SWITCHES("contact='enable'"), 1, 1, 1, 1, 1, 1, 1, 1},
        {SWITCHES("override='disable' sensor='enable'"), 1, 1, 1, 1, 1, 1, 1, 1},
        {SWITCHES("contact='disable'"), 1, 1, 1, 1, 0, 1, 1, 1},
        {SWITCHES("constraint='disable'"), 0, 1, 1, 0, 0, 0, 1, 1},
        {SWITCHES("limit='disable'"), 0, 1, 1, 1, 1, 1, 1, 1},
        {SWITCHES("frictionloss='disable'"), 1, 1, 1, 0, 1, 1, 1, 1},
        {SWITCHES("passive='disable'"), 1, 0, 0, 1, 1, 1, 1, 1},
        {SWITCHES("spring='disable'"), 1, 0, 1, 1, 1, 1, 1, 1},
        {SWITCHES("damper='disable'"), 1, 1, 0, 1, 1, 1, 1, 1},
        {SWITCHES("equality='disable'"), 1, 1, 1, 1, 1, 0, 1, 1},
        {SWITCHES("actuation='disable'"), 1, 1, 1, 1, 1, 1, 0, 1},
        {SWITCHES("clampctrl='disable'"), 1, 1, 1, 1, 1, 1, 1, 0},
    };
    for (int i = 0; i < (int)(sizeof(cases) / sizeof(cases[0])); ++i) {
        rgParsed f = rgParse(cases[i].text);
        const rgJointDef* j = &f.def->joints[0];
        assert_int_equal(j->hasLimits, cases[i].limit);
        assert_int_equal(j->stiffness == 2, cases[i].spring);
        assert_int_equal(j->damping == 3, cases[i].damper);
        assert_int_equal(j->dryFriction == 4, cases[i].friction);
        assert_int_equal(f.def->pairCount, cases[i].contact);
        assert_int_equal(!f.def->shapes[0].visualOnly, cases[i].contact);
        assert_int_equal(!f.def->equalities[0].disabled, cases[i].equality);
        assert_int_equal(f.def->actuators[0].kp == 5, cases[i].servo);
        assert_int_equal(f.def->actuators[0].hasControlRange, cases[i].clamp);
        rgParsed_Close(&f);
    }
    rgParsed f = rgParse(WORLD("<body><joint/><geom size='1'/><body><joint/><geom size='1'/>"
                               "<body><joint/><geom size='1'/></body></body></body>") "");
    assert_int_equal(f.def->pairCount, 0);
    rgParsed_Close(&f);
    f = rgParse("<mujoco><option collision='predefined'><flag filterparent='disable'/></option>"
                "<worldbody><body><joint/><geom size='1'/><body><joint/><geom size='1'/></body>"
                "</body></worldbody></mujoco>");
    assert_int_equal(f.def->pairCount, 0);
    assert_int_equal(f.def->shapes[0].group, 0);
    rgParsed_Close(&f);
    f = rgParse("<mujoco><option><flag filterparent='disable'/></option><worldbody><body><joint/>"
                "<geom size='1'/><body><joint/><geom size='1'/><body><joint/><geom size='1'/>"
                "</body></body></body></worldbody></mujoco>");
    assert_int_equal(f.def->pairCount, 2);
    rgParsed_Close(&f);
}

// MuJoCo: a free joint's linear velocity is in world axes. Here: in the body's.
static void test_keys(void** state) {
    (void)state;
    rgParsed f = rgParse("<mujoco><worldbody><body><freejoint/><geom size='1'/></body>" BALL(
        "a", "0 0 0") "</worldbody><actuator><motor joint='ja'/></actuator><keyframe><key name='k' "
                      "time='3' "
                      "qpos='1 2 3 2 0 0 2 .5' qvel='1 2 3 4 5 6 7' "
                      "ctrl='8'/><key/></keyframe></mujoco>");
    const rgKeyDef* k = f.def->keys;
    const double half = sqrt(0.5);
    const double q[8] = {1, 2, 3, half, 0, 0, half, 0.5}, v[7] = {2, -1, 3, 4, 5, 6, 7};
    EXPECT_NEAR(k->time, 3, 0);
    for (int i = 0; i < 8; ++i) {
        EXPECT_NEAR(k->q[i], q[i], 1e-15);
    }
    for (int i = 0; i < 7; ++i) {
        EXPECT_NEAR(k->v[i], v[i], 1e-15);
    }
    EXPECT_NEAR(k->control[0], 8, 0);
    assert_null(k[1].q);
    rgParsed_Close(&f);
}

static void test_sensors(void** state) {
    (void)state;
    rgParsed f = rgParse("<mujoco><worldbody><body name='a' pos='0 0 1'><joint name='j'/>"
                         "<geom name='g' size='.1' pos='.5 0 0'/><site name='s' size='.2'/></body>"
                         "</worldbody><sensor><touch site='s'/><jointvel joint='j'/>"
                         "<framepos objtype='body' objname='a'/><framequat objtype='xbody' "
                         "objname='a'/><framelinvel objtype='geom' objname='g'/><subtreecom "
                         "body='a'/></sensor></mujoco>");
    const rgSensorDef* s = f.def->sensors;
    assert_int_equal(f.def->sensorCount, 6);
    EXPECT_NEAR(s[0].touchRadius, 0.2, 0);
    assert_int_equal(s[0].frame.index1, 1);
    assert_int_equal(s[1].joint.index1, 1);
    rgExpectVec(f.def->frames[s[2].frame.index1 - 1].pose.p, 0.5, 0, 0);
    assert_int_equal(s[3].frame.index1, 0);
    assert_int_equal(s[3].body.index1, 1);
    rgExpectVec(f.def->frames[s[4].frame.index1 - 1].pose.p, 0.5, 0, 0);
    assert_int_equal(s[5].kind, rg_sensorSubtreeCenter);
    rgParsed_Close(&f);
}

// Unsupported actuators keep their control, name and sensor: those behind them do not
// move.
static void test_idle_actuators(void** state) {
    (void)state;
    rgParsed f =
        rgParseText(rgParseMjcf, "x.xml",
                    "<mujoco><worldbody><body name='b'><joint name='j' axis='0 0 1'/>"
                    "<geom size='.1'/></body></worldbody><actuator>"
                    "<general name='glue' joint='j' gaintype='user'/><motor name='m' joint='j'/>"
                    "<motor name='on_body' body='b'/></actuator>"
                    "<sensor><actuatorfrc name='s' actuator='glue'/></sensor>"
                    "<keyframe><key ctrl='1 2 3'/></keyframe></mujoco>",
                    NULL);
    assert_int_equal(f.result, rg_ok);
    assert_int_equal(f.def->actuatorCount, 3);
    assert_int_equal(rgModelDef_FindActuator(f.def, "m").index1, 2);
    assert_int_equal(rgModelDef_FindActuator(f.def, "on_body").index1, 3);
    EXPECT_NEAR(f.def->keys[0].control[1], 2, 0);
    rgModel* model = NULL;
    rgWorld* world = NULL;
    rgWorldDef def = rgDefaultWorldDef();
    assert_int_equal(rgCompileModel(f.def, NULL, NULL, &model), rg_ok);
    assert_int_equal(rgCreateWorld(model, &def, NULL, &world), rg_ok);
    assert_int_equal(rgWorld_Reset(world, (rgKeyId){1}), rg_ok);
    assert_int_equal(rgWorld_Step(world, NULL), rg_ok);
    // 2 N m on a sphere of 4.19 kg: 0.4 m r^2
    double inertia = 0.4 * 1000 * 4 / 3 * 3.14159265358979323846 * 1e-5;
    EXPECT_NEAR(rgWorld_Velocities(world, NULL)[0], 2 * 0.002 / inertia, 1e-9);
    rgDestroyWorld(world);
    rgDestroyModel(model);
    rgParsed_Close(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ignored),
        cmocka_unit_test(test_delays),
        cmocka_unit_test(test_adhesion),
        cmocka_unit_test(test_equality),
        cmocka_unit_test(test_actuators),
        cmocka_unit_test(test_damping_ratio),
        cmocka_unit_test(test_free_length_around_a_ball),
        cmocka_unit_test(test_muscle_force),
        cmocka_unit_test(test_disabled_actuators),
        cmocka_unit_test(test_flags),
        cmocka_unit_test(test_keys),
        cmocka_unit_test(test_sensors),
        cmocka_unit_test(test_idle_actuators),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
