// Actuators: activations, gains that vary, what they act on, muscles.
#include "inverse.h"
#include "source_dir.h"

static Scene TextScene(const char* text, double dt, rgIntegrator integrator) {
    rgWorldDef def = SceneWorldDef(dt, 1e-11);
    def.integrator = integrator;
    return SceneText(text, &def);
}

#define SLIDER(actuators, more)                                                                    \
    "<mujoco><option gravity='0 0 0'/><worldbody><body><joint name='x' type='slide' axis='1 0 "    \
    "0'/>"                                                                                         \
    "<geom size='0.1' mass='2'/><site name='s'/></body></worldbody><actuator>" actuators           \
    "</actuator>" more "</mujoco>"

static void Control(Scene* scene, double value) {
    double controls[8] = {value, value, value, value, value, value, value, value};
    assert_int_equal(rgWorld_SetControl(scene->world, controls), rg_ok);
}

static double Speed(const Scene* scene) {
    return rgWorld_Velocities(scene->world, NULL)[0];
}

// A filter and an integrator have their closed forms, and so has the speed of what they push.
static void test_activations(void** state) {
    (void)state;
    Scene scene =
        TextScene(SLIDER("<general joint='x' dyntype='filter' dynprm='0.05' gainprm='4'/>"
                         "<general joint='x' dyntype='integrator' gainprm='3' actlimited='true' "
                         "actrange='0 0.04'/><motor joint='x' gear='0'/>",
                         "<keyframe><key act='0.5 0.01'/></keyframe>"),
                  1e-3, rg_integratorMidpoint);
    int count;
    assert_int_equal(rgWorld_Reset(scene.world, (rgKeyId){1}), rg_ok);
    const double* u = rgWorld_Activation(scene.world, &count);
    assert_int_equal(count, 3);
    EXPECT_NEAR(u[0], 0.5, 0);
    Control(&scene, 1);
    SceneRun(&scene, 20);
    double t = 0.02, decay = exp(-t / 0.05);
    u = rgWorld_Activation(scene.world, NULL);
    EXPECT_NEAR(u[0], 1 - 0.5 * decay, 1e-14);
    EXPECT_NEAR(u[1], 0.03, 1e-15);
    double push = 4 * (t - 0.5 * 0.05 * (1 - decay)) + 3 * (0.01 * t + 0.5 * t * t);
    EXPECT_NEAR(Speed(&scene), push / 2, 1e-6);
    SceneRun(&scene, 30);
    EXPECT_NEAR(rgWorld_Activation(scene.world, NULL)[1], 0.04, 0);
    double sizes[3] = {0.1, 0.2, NAN};
    assert_int_equal(rgWorld_SetActivation(scene.world, sizes), rg_errorArgument);
    SceneEnd(&scene);
}

// A control that acts n steps later makes the motion that it makes at once, n steps later, to the
// last bit; in between lies the line between two controls. The history is part of what is saved,
// and after a reset it is as if the controls had always been so.
static void test_delays(void** state) {
    (void)state;
    Scene now =
        TextScene(SLIDER("<position joint='x' kp='50' kv='2'/>", ""), 1e-3, rg_integratorMidpoint);
    Scene later =
        TextScene(SLIDER("<position joint='x' kp='50' kv='2' delay='0.0025' nsample='3'/>",
                         "<keyframe><key qpos='1' ctrl='1'/></keyframe>"),
                  1e-3, rg_integratorMidpoint);
    Scene line = TextScene(SLIDER("<position joint='x' kp='50' kv='2' delay='0.0025' nsample='3' "
                                  "interp='linear'/>",
                                  ""),
                           1e-3, rg_integratorMidpoint);
    double speeds[64], between[64], saved[4096], controls[65] = {0};
    for (int i = 0; i < 60; ++i) {
        controls[i] = sin(0.7 * i) + (i > 5);
        Control(&now, controls[i]);
        Control(&later, controls[i]);
        Control(&line, controls[i]);
        assert_true(i < 3 || Speed(&later) == speeds[i - 3]);
        assert_true(i >= 3 || Speed(&later) == 0);
        speeds[i] = Speed(&now);
        between[i] = Speed(&line);
        if (i == 30) {
            assert_true(rgWorld_StateSize(later.world) <= sizeof(saved));
            assert_int_equal(rgWorld_Save(later.world, saved, sizeof(saved)), rg_ok);
        }
        SceneStep(&now);
        SceneStep(&later);
        SceneStep(&line);
    }
    double end = Speed(&later);
    assert_int_equal(rgWorld_Restore(later.world, saved, sizeof(saved)), rg_ok);
    for (int i = 30; i < 60; ++i) {
        Control(&later, controls[i]);
        SceneStep(&later);
    }
    assert_true(Speed(&later) == end);
    assert_int_equal(rgWorld_Reset(now.world, (rgKeyId){0}), rg_ok);
    for (int i = 0; i < 60; ++i) { // by hand: half of either control
        double older = i >= 3 ? controls[i - 3] : 0, newer = i >= 2 ? controls[i - 2] : 0;
        EXPECT_NEAR(Speed(&now), between[i], 1e-14);
        Control(&now, 0.5 * (older + newer));
        SceneStep(&now);
    }
    assert_int_equal(rgWorld_Reset(later.world, (rgKeyId){1}), rg_ok);
    SceneRun(&later, 10);
    assert_true(Speed(&later) == 0); // it holds the key from the first step on
    SceneEnd(&now);
    SceneEnd(&later);
    SceneEnd(&line);
}

// A ball of 1 kg sticks to the floor at one point with 5 N, a box at four: either holds until it is
// pulled by its weight and its points' adhesion, and slides at mu times the two.
static void test_sticky_materials(void** state) {
    (void)state;
    const char* const geoms[2] = {"size='.1'", "type='box' size='.1 .1 .1'"};
    for (int i = 0; i < 2; ++i) {
        char text[800];
        double points = i == 0 ? 1 : 4, holds = SCENE_G + 5 * points;
        snprintf(text, sizeof(text),
                 "<mujoco><option gravity='0 0 -9.81'/><worldbody><geom type='plane' size='1 1 1' "
                 "adhesion='3' friction='.5'/><body pos='0 0 .1'><freejoint/><geom %s mass='1' "
                 "adhesion='2' friction='.5'/></body></worldbody></mujoco>",
                 geoms[i]);
        for (int run = 0; run < (i == 1 ? 4 : 2); ++run) { // pulled up, and pushed along
            rgWorldDef def = SceneWorldDef(1e-3, 1e-10);
            def.hasGravity = false;
            Scene scene = SceneText(text, &def);
            bool moves = run % 2 == 1, along = run > 1;
            double size = holds * (moves ? 1.02 : 0.98);
            rgVec3 force = along ? rgVec(0.5 * size, 0, 0) : rgVec(0, 0, size);
            SceneRun(&scene, 5);
            assert_int_equal(rgWorld_ApplyWrench(scene.world, (rgBodyId){1}, force,
                                                 rgVec(0, along ? -0.05 * size : 0, 0)),
                             rg_ok);
            SceneRun(&scene, 200);
            const double* q = rgWorld_Positions(scene.world, NULL);
            double moved = along ? q[0] : q[2] - 0.1;
            assert_true(moves ? moved > 1e-3 : fabs(moved) < 1e-8);
            SceneEnd(&scene);
        }
    }
}

// Activations are part of what is saved; those of the end of the step act early.
static void test_restore_and_early(void** state) {
    (void)state;
    double speeds[2];
    for (int early = 0; early < 2; ++early) {
        Scene scene = TextScene(
            early ? SLIDER("<general joint='x' dyntype='integrator' actearly='true'/>", "")
                  : SLIDER("<general joint='x' dyntype='integrator'/>", ""),
            1e-3, rg_integratorEuler);
        Control(&scene, 1);
        SceneRun(&scene, 10);
        size_t bytes = rgWorld_StateSize(scene.world);
        void* saved = malloc(bytes);
        assert_int_equal(rgWorld_Save(scene.world, saved, bytes), rg_ok);
        SceneRun(&scene, 10);
        speeds[early] = Speed(&scene);
        uint64_t hash = rgWorld_Hash(scene.world);
        assert_int_equal(rgWorld_Restore(scene.world, saved, bytes), rg_ok);
        EXPECT_NEAR(rgWorld_Activation(scene.world, NULL)[0], 0.01, 1e-15);
        SceneRun(&scene, 10);
        assert_true(rgWorld_Hash(scene.world) == hash);
        free(saved);
        SceneEnd(&scene);
    }
    // sums of 0..19 and of 1..20 thousandths, over a mass of 2
    EXPECT_NEAR(speeds[0], 190e-6 / 2, 1e-15);
    EXPECT_NEAR(speeds[1], 210e-6 / 2, 1e-15);
}

// A damper whose control asks for any damping stops what moves, and never turns it around.
static void test_damper(void** state) {
    (void)state;
    const double controls[] = {0.5, 50, 1e4, 1e8};
    for (int i = 0; i < 4; ++i) {
        Scene scene = TextScene(SLIDER("<damper joint='x' kv='2' ctrlrange='0 1e9'/>", ""), 1e-3,
                                rg_integratorMidpoint);
        double q = 0, v = 1;
        assert_int_equal(rgWorld_SetState(scene.world, &q, &v), rg_ok);
        Control(&scene, controls[i]);
        for (int k = 0; k < 100; ++k) {
            double before = Speed(&scene);
            SceneStep(&scene);
            assert_true(Speed(&scene) >= 0 && (Speed(&scene) < before || before < 1e-9));
        }
        if (controls[i] < 100) {
            EXPECT_NEAR(Speed(&scene), exp(-controls[i] * 0.1), 1e-4);
        }
        SceneEnd(&scene);
    }
}

// Motors on a free joint push along the world's axes and turn about the body's; at a site, along
// its own axes, and by its arm.
static void test_free_and_site(void** state) {
    (void)state;
    for (int site = 0; site < 2; ++site) {
        Scene scene = TextScene(
            site ? "<mujoco><option gravity='0 0 0'/><worldbody><body euler='0 0 90'><freejoint "
                   "name='f'/><geom size='0.1' mass='2'/><site name='s' pos='0.05 0 0' euler='0 0 "
                   "90'/></body></worldbody><actuator><motor site='s' gear='1 0 0 0 0 0.01'/>"
                   "</actuator></mujoco>"
                 : "<mujoco><option gravity='0 0 0'/><worldbody><body euler='0 0 90'><freejoint "
                   "name='f'/><geom size='0.1' mass='2'/></body></worldbody><actuator><motor "
                   "joint='f' gear='1 0 0 0.01 0 0'/></actuator></mujoco>",
            1e-4, rg_integratorMidpoint);
        Control(&scene, 1);
        SceneStep(&scene);
        rgSpatial v = rgWorld_BodyVelocity(scene.world, (rgBodyId){1});
        double spin = 1e-4 / (0.4 * 2 * 0.01);
        // the site's x is -x of the world, its arm (0, 0.05) in world axes
        rgVec3 angular = site ? rgVec(0, 0, (0.01 + 0.05) * spin) : rgVec(0, 0.01 * spin, 0);
        EXPECT_NEAR(v.linear.x, (site ? -1 : 1) * 1e-4 / 2, 1e-12);
        EXPECT_NEAR(rgLength(rgSub(v.angular, angular)), 0, 1e-10);
        SceneEnd(&scene);
    }
}

// A servo between two sites holds one at the wanted place of the other; the joint below feels
// what the site is pushed with.
static void test_reference(void** state) {
    (void)state;
    Scene scene = TextScene(
        "<mujoco><worldbody><site name='r' pos='0 0 0.2' euler='90 0 0'/><body><joint type='slide' "
        "axis='0 0 1'/><geom size='0.1' mass='2'/><site name='s'/></body></worldbody><actuator>"
        "<general site='s' refsite='r' gear='0 1 0 0 0 0' gainprm='3000' biastype='affine' "
        "biasprm='0 -3000 -300'/></actuator></mujoco>",
        1e-3, rg_integratorMidpoint);
    Control(&scene, 0.3); // along y of the reference, which is z of the world
    SceneRun(&scene, 3000);
    EXPECT_NEAR(rgWorld_Positions(scene.world, NULL)[0], 0.5 - 2 * SCENE_G / 3000, 1e-7);
    EXPECT_NEAR(rgLength(rgWorld_BodyReaction(scene.world, (rgBodyId){1}).linear), 0, 1e-4);
    SceneEnd(&scene);
}

// Every kind of actuator: the rate of its position is that of differences, inverse dynamics undoes
// a step, and a saved state goes on to the same bits.
static void test_all_kinds(void** state) {
    (void)state;
    const char* files[] = {RIGOR_SOURCE_DIR "/test/io/mjcf/motion/actuators.xml",
                           RIGOR_SOURCE_DIR "/test/io/mjcf/motion/muscles.xml"};
    for (int f = 0; f < 2; ++f) {
        rgWorldDef def = SceneWorldDef(1e-3, 1e-12);
        Scene scene = FileScene(files[f], &def);
        RoundTrips(&scene, 11, 10);
        ExpectSameAfterRestore(&scene, 10);
        SceneEnd(&scene);
    }
}

// The rate of a crank's position against differences.
static void test_crank(void** state) {
    (void)state;
    Scene scene = TextScene(
        "<mujoco><worldbody><site name='guide' pos='0 0 -0.1' euler='10 5 0'/><body><joint "
        "axis='0 1 0'/><geom type='capsule' fromto='0 0 0 0.2 0 0' size='0.02'/><site name='pin' "
        "pos='0.15 0 0.02'/></body></worldbody><actuator><motor name='c' cranksite='pin' "
        "slidersite='guide' cranklength='0.4' gear='2'/></actuator><sensor><actuatorpos "
        "actuator='c'/><actuatorvel actuator='c'/></sensor></mujoco>",
        1e-3, rg_integratorMidpoint);
    for (double q = -2; q < 2; q += 0.3) {
        double position[2], v = 1, h = 1e-6;
        for (int side = 0; side < 2; ++side) {
            double x = q + (side == 0 ? -h : h);
            assert_int_equal(rgWorld_SetState(scene.world, &x, &v), rg_ok);
            position[side] = rgWorld_Sensors(scene.world, NULL)[0];
        }
        assert_int_equal(rgWorld_SetState(scene.world, &q, &v), rg_ok);
        EXPECT_NEAR(rgWorld_Sensors(scene.world, NULL)[1], (position[1] - position[0]) / (2 * h),
                    1e-8);
    }
    SceneEnd(&scene);
}

// A muscle at rest holds a weight where its force is the weight's; its length range is what the
// joint allows, and its force follows from what it accelerates.
static void test_muscle(void** state) {
    (void)state;
    Scene scene = TextScene(
        "<mujoco><worldbody><body><joint name='x' type='slide' axis='0 0 -1' range='0 0.3' "
        "limited='true' damping='5'/><geom size='0.1' mass='2'/></body></worldbody><actuator>"
        "<muscle joint='x' scale='40'/></actuator></mujoco>",
        1e-3, rg_integratorMidpoint);
    const rgMuscle* m = &rgModel_Actuator(scene.model, (rgActuatorId){1})->muscle;
    EXPECT_NEAR(m->lengthRange[0], 0, 1e-12);
    EXPECT_NEAR(m->lengthRange[1], 0.3, 1e-12);
    EXPECT_NEAR(m->force, 40 * 2, 1e-9);
    Control(&scene, 0.3);
    SceneRun(&scene, 4000);
    // 80 N times 0.3 times FL: FL = m g/24, on the way up to L = 1
    double FL = 2 * SCENE_G / 24, L = 1 - 0.25 * sqrt(2 * (1 - FL));
    double unit = 0.3 / 0.3, l = (L - 0.75) * unit;
    EXPECT_NEAR(rgWorld_Positions(scene.world, NULL)[0], l, 1e-4);
    SceneEnd(&scene);
}

// A cup that sucks lifts a load of 1 kg if it pulls with more than its weight, and inverse dynamics
// finds the force of the lift that carries both.
static void test_adhesion_lifts(void** state) {
    (void)state;
    for (int holds = 0; holds < 2; ++holds) {
        Scene scene = TextScene(
            "<mujoco><worldbody><body name='cup' pos='0 0 1'><joint name='lift' type='slide' "
            "axis='0 0 1'/><geom type='box' size='.05 .05 .02' mass='.1'/></body><body name='load' "
            "pos='0 0 .93'><freejoint/><geom type='box' size='.05 .05 .05' mass='1'/></body>"
            "</worldbody><actuator><position joint='lift' kp='2000' kv='100'/><adhesion "
            "body='cup' gain='9.81' ctrlrange='0 2'/></actuator></mujoco>",
            1e-3, rg_integratorMidpoint);
        double control[2] = {0, holds ? 1.001 : 0.999}, sag = 1.1 * SCENE_G / 2000, v[7] = {0};
        double start[8] = {-sag, 0, 0, 0.93 - sag, 1, 0, 0, 0};
        assert_int_equal(rgWorld_SetState(scene.world, start, v), rg_ok);
        assert_int_equal(rgWorld_SetControl(scene.world, control), rg_ok);
        SceneRun(&scene, 1000);
        const double* q = rgWorld_Positions(scene.world, NULL);
        if (holds) {
            EXPECT_NEAR(q[0], -sag, 1e-6);
            EXPECT_NEAR(q[3] - q[0], 0.93, 1e-7);
            RoundTrips(&scene, 3, 3);
            ExpectSameAfterRestore(&scene, 10);
        } else {
            assert_true(q[3] < 0.9);
        }
        SceneEnd(&scene);
    }
}

// A box that clings to a wall: friction holds its weight if mu times the force exceeds it. It falls
// like a free body once the force is gone, and nothing pulls it back from a distance.
static void test_adhesion_on_a_wall(void** state) {
    (void)state;
    for (int holds = 0; holds < 2; ++holds) {
        Scene scene = TextScene(
            "<mujoco><worldbody><geom type='plane' size='5 5 .1' euler='0 90 0' friction='.5'/>"
            "<body name='box' pos='.05 0 0'><freejoint/><geom type='box' size='.05 .05 .05' "
            "mass='1' friction='.5'/></body></worldbody><actuator><adhesion body='box' "
            "gain='9.81' ctrlrange='0 9'/></actuator></mujoco>",
            1e-3, rg_integratorMidpoint);
        Control(&scene, holds ? 2.02 : 1.98);
        SceneRun(&scene, 500);
        double z = rgWorld_Positions(scene.world, NULL)[2];
        if (holds) {
            EXPECT_NEAR(z, 0, 1e-7);
            double away[3] = {0.06, 0, z}, v[6] = {0};
            assert_int_equal(
                rgWorld_SetState(scene.world, (double[]){away[0], 0, z, 1, 0, 0, 0}, v), rg_ok);
            SceneRun(&scene, 100);
            EXPECT_NEAR(rgWorld_Positions(scene.world, NULL)[0], 0.06, 1e-12);
        } else { // with what friction lacks of the weight
            EXPECT_NEAR(z, -0.5 * 0.01 * SCENE_G * 0.25, 1e-4);
        }
        SceneEnd(&scene);
    }
}

// Forces of controllers and of motors with a resistance, by hand; each control has its place.
static void test_controllers(void** state) {
    (void)state;
    static const struct {
        const char* element;
        int controls;
        double gear, force; // by x = 0.5, x' = 2 and controls of 3, 4, 5
    } cases[] = {
        {"<pid joint='x' kp='10' kv='.1'/>", 2, 1, 10 * 2.5 + .1 * 2},
        {"<pid joint='x' kp='10' kv='.1' input='pos vel ff'/>", 3, 1, 10 * 2.5 + .1 * 2 + 5},
        {"<pid joint='x' kp='10' kv='.1' input='vel'/>", 1, 1, -5 + .1 * 1},
        {"<pid joint='x' kp='10' kv='.1' gear='3'/>", 2, 3, 3 * (10 * 1.5 + .1 * (4 - 6))},
        {"<dcmotor joint='x' motorconst='.1' resistance='2'/>", 1, 1, .05 * (3 - .1 * 2)},
        {"<dcmotor joint='x' nominal='12 .5 100'/>", 1, 1, .12 / 2.88 * (3 - .12 * 2)},
        {"<dcmotor joint='x' motorconst='.1' resistance='2' saturation='.1 0 0'/>", 1, 1, .1},
        {"<dcmotor joint='x' motorconst='.1' resistance='2' saturation='0 .5 0'/>", 1, 1, .05},
        {"<dcmotor joint='x' motorconst='.1' resistance='2' input='none'/>", 0, 1, -.005 * 2},
        {"<dcmotor joint='x' motorconst='.1' resistance='2' controller='10 0 1' input='pos vel "
         "ff'/>",
         3, 1, 10 * 2.5 + 1 * (4 - 2) + 5},
        {"<motor joint='x' gear='3' damping='.3'/>", 1, 3, 9 - 2 * 2.7},
    };
    for (int i = 0; i < (int)(sizeof(cases) / sizeof(cases[0])); ++i) {
        char text[800];
        snprintf(text, sizeof(text),
                 "<mujoco><option gravity='0 0 0'/><worldbody><body><joint name='x' type='slide' "
                 "axis='1 0 0'/><inertial pos='0 0 0' mass='1' diaginertia='1 1 1'/></body>"
                 "</worldbody><actuator>%s</actuator></mujoco>",
                 cases[i].element);
        Scene scene = TextScene(text, 1e-7, rg_integratorMidpoint);
        double q = 0.5, v = 2, control[3] = {3, 4, 5};
        assert_int_equal(rgModel_Info(scene.model).actuatorCount, cases[i].controls);
        assert_int_equal(rgWorld_SetState(scene.world, &q, &v), rg_ok);
        if (cases[i].controls > 0) {
            assert_int_equal(rgWorld_SetControl(scene.world, control), rg_ok);
        }
        SceneStep(&scene);
        double force = (Speed(&scene) - v) / 1e-7;
        if (!(fabs(force - cases[i].force) < 1e-4)) {
            fail_msg("%s: %g, expected %g", cases[i].element, force, cases[i].force);
        }
        SceneEnd(&scene);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_adhesion_lifts),
                                       cmocka_unit_test(test_adhesion_on_a_wall),
                                       cmocka_unit_test(test_controllers),
                                       cmocka_unit_test(test_activations),
                                       cmocka_unit_test(test_sticky_materials),
                                       cmocka_unit_test(test_delays),
                                       cmocka_unit_test(test_restore_and_early),
                                       cmocka_unit_test(test_damper),
                                       cmocka_unit_test(test_free_and_site),
                                       cmocka_unit_test(test_reference),
                                       cmocka_unit_test(test_all_kinds),
                                       cmocka_unit_test(test_crank),
                                       cmocka_unit_test(test_muscle)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
