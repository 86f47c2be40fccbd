// Tendons with a way in a world: what they carry, keep, limit and pass on to bodies.
#include "inverse.h"
#include "source_dir.h"

#define HANGING(tendon, joint)                                                                     \
    "<mujoco><worldbody><site name='top' pos='0 0 1'/>"                                            \
    "<geom name='drum' type='cylinder' size='0.1 0.1' pos='0.2 0 1' euler='90 0 0' "               \
    "contype='0' conaffinity='0'/><site name='over' pos='0.2 0 1.3'/>"                             \
    "<body name='b' pos='0.3 0 0.5'>" joint "<geom size='0.05' mass='2' contype='0' "              \
    "conaffinity='0'/><site name='hook'/></body></worldbody><tendon><spatial name='t' " tendon     \
    "><site site='top'/><geom geom='drum' sidesite='over'/><site site='hook'/></spatial>"          \
    "</tendon><sensor><tendonpos tendon='t'/><tendonvel tendon='t'/></sensor></mujoco>"
#define DOWN "<joint type='slide' axis='0 0 1'/>"

static double Sensor(const Scene* scene, int index) {
    return rgWorld_Sensors(scene->world, NULL)[index];
}

// A weight on a rope over a drum hangs lower by m g/k; the joint holds nothing else than the rope
// pulls sideways: nothing, as it leaves the drum straight down.
static void test_weight(void** state) {
    (void)state;
    rgWorldDef def = SceneWorldDef(1e-3, 1e-10);
    Scene scene = SceneText(HANGING("stiffness='1000' damping='60'", DOWN), &def);
    double rest = Sensor(&scene, 0);
    SceneRun(&scene, 3000);
    EXPECT_NEAR(Sensor(&scene, 0) - rest, 2 * SCENE_G / 1000, 1e-9);
    EXPECT_NEAR(Sensor(&scene, 1), 0, 1e-9);
    // all of the weight hangs on the rope, and the slider feels none of it
    rgSpatial reaction = rgWorld_BodyReaction(scene.world, (rgBodyId){1});
    EXPECT_NEAR(rgLength(reaction.linear), 0, 1e-7);
    SceneEnd(&scene);
}

// Two weights on ropes, one of which goes down half as far as the other goes up: sliders hold
// nothing of what the ropes carry, at rest or not.
static void test_coupled_ropes(void** state) {
    (void)state;
    const char* text =
        "<mujoco><worldbody><site name='top' pos='0 0 1'/><site name='roof' pos='1 0 1'/>"
        "<body><joint type='slide' axis='0 0 1'/><geom size='.05' mass='2'/><site name='x'/></body>"
        "<body pos='1 0 0'><joint type='slide' axis='0 0 1'/><geom size='.05' mass='3'/>"
        "<site name='y'/></body></worldbody><tendon><spatial name='a'><site site='top'/>"
        "<site site='x'/></spatial><spatial name='b'><site site='roof'/><site site='y'/></spatial>"
        "</tendon><equality><tendon tendon1='a' tendon2='b' polycoef='0 -.5 0 0 0'/></equality>"
        "</mujoco>";
    rgWorldDef def = SceneWorldDef(1e-3, 1e-12);
    Scene scene = SceneText(text, &def);
    SceneRun(&scene, 100);
    const double* v = rgWorld_Velocities(scene.world, NULL);
    // x' = -y'/2 (heights), and both accelerations with the ropes' forces f and f/2 upwards
    double acceleration = -SCENE_G * (3 - 2 * 0.5) / (3 + 2 * 0.25);
    EXPECT_NEAR(v[1], 0.1 * acceleration, 1e-6);
    EXPECT_NEAR(v[0], -0.05 * acceleration, 1e-6);
    for (int body = 1; body <= 2; ++body) {
        EXPECT_NEAR(rgLength(rgWorld_BodyReaction(scene.world, (rgBodyId){body}).linear), 0, 1e-6);
    }
    SceneEnd(&scene);
}

// A rope that only pulls: free fall until it is taut, then a limit; with a spring, m g/k beyond.
static void test_slack(void** state) {
    (void)state;
    rgWorldDef def = SceneWorldDef(1e-3, 1e-10);
    for (int kind = 0; kind < 2; ++kind) {
        Scene scene = SceneText(kind == 0 ? HANGING("range='0 1' limited='true'", DOWN)
                                          : HANGING("springlength='0 1' stiffness='5000' "
                                                    "damping='100'",
                                                    DOWN),
                                &def);
        double start = Sensor(&scene, 0);
        assert_true(start < 0.95);
        if (kind == 0) { // nothing acts before it is taut
            SceneRun(&scene, 50);
            EXPECT_NEAR(Sensor(&scene, 0) - start, 0.5 * SCENE_G * 0.05 * 0.05, 1e-9);
        }
        SceneRun(&scene, 4000);
        EXPECT_NEAR(Sensor(&scene, 0), 1 + (kind == 0 ? 0 : 2 * SCENE_G / 5000), 1e-6);
        SceneEnd(&scene);
    }
}

// A ball on an elastic rope around a drum, in space: nothing takes energy.
static void test_energy(void** state) {
    (void)state;
    rgWorldDef def = SceneWorldDef(5e-4, 1e-12);
    Scene scene = SceneText(HANGING("stiffness='60' springlength='0.6'", "<freejoint/>"), &def);
    double v[6] = {0.3, 0.4, 0, 1, 2, 3};
    const double* q = rgWorld_Positions(scene.world, NULL);
    double before[7];
    memcpy(before, q, sizeof(before));
    assert_int_equal(rgWorld_SetState(scene.world, before, v), rg_ok);
    double first = rgWorld_KineticEnergy(scene.world) + rgWorld_PotentialEnergy(scene.world);
    double worst = 0;
    for (int i = 0; i < 4000; ++i) {
        SceneStep(&scene);
        double now = rgWorld_KineticEnergy(scene.world) + rgWorld_PotentialEnergy(scene.world);
        worst = fmax(worst, fabs(now - first));
    }
    assert_true(worst < 5e-3); // of 4 J that go to and fro
    SceneEnd(&scene);
}

// Inertia of a tendon: a motor of 1 N on c1 q1 + c2 q2 feels both masses and the armature.
static void test_armature(void** state) {
    (void)state;
    const char* text =
        "<mujoco><option gravity='0 0 0'/><worldbody><body><joint name='a' type='slide' "
        "axis='1 0 0'/><geom size='0.1' mass='2'/></body><body pos='0 1 0'><joint name='b' "
        "type='slide' axis='1 0 0'/><geom size='0.1' mass='3'/></body></worldbody><tendon><fixed "
        "name='t' armature='0.7'><joint joint='a' coef='1'/><joint joint='b' coef='-2'/></fixed>"
        "</tendon><actuator><motor tendon='t'/></actuator></mujoco>";
    rgWorldDef def = SceneWorldDef(1e-3, 1e-12);
    Scene scene = SceneText(text, &def);
    double control = 1;
    assert_int_equal(rgWorld_SetControl(scene.world, &control), rg_ok);
    SceneRun(&scene, 100);
    // (M + a c c') v = t c: v = M^-1 c t / (1 + a c' M^-1 c)
    double weight = 1 + 0.7 * (1.0 / 2 + 4.0 / 3);
    const double* v = rgWorld_Velocities(scene.world, NULL);
    EXPECT_NEAR(v[0], 0.1 / 2 / weight, 1e-9);
    EXPECT_NEAR(v[1], -0.2 / 3 / weight, 1e-9);
    double kinetic =
        0.5 * (2 * v[0] * v[0] + 3 * v[1] * v[1] + 0.7 * (v[0] - 2 * v[1]) * (v[0] - 2 * v[1]));
    EXPECT_NEAR(rgWorld_KineticEnergy(scene.world), kinetic, 1e-12);
    SceneEnd(&scene);
}

// What a step does is undone by inverse dynamics, and a saved state goes on to the same bits.
static void test_inverse_and_restore(void** state) {
    (void)state;
    const char* file = RIGOR_SOURCE_DIR "/test/io/mjcf/motion/tendon_wrap.xml";
    rgWorldDef def = SceneWorldDef(1e-3, 1e-12);
    Scene scene = FileScene(file, &def);
    RoundTrips(&scene, 9, 20);
    ExpectSameAfterRestore(&scene, 20);
    SceneEnd(&scene);
}

// A rope between a kinematic body and a weight: it goes where it is pulled.
static void test_kinematic_end(void** state) {
    (void)state;
    const char* text =
        "<mujoco><worldbody><body name='hand' mocap='true' pos='0 0 1'><site name='grip'/></body>"
        "<body pos='0 0 0.5'><joint type='slide' axis='0 0 1'/><geom size='0.05' mass='1' "
        "contype='0' conaffinity='0'/><site name='hook'/></body></worldbody><tendon><spatial "
        "range='0 0.5' limited='true'><site site='grip'/><site site='hook'/></spatial></tendon>"
        "</mujoco>";
    rgWorldDef def = SceneWorldDef(1e-3, 1e-10);
    Scene scene = SceneText(text, &def);
    rgSpatial up = {.linear = {0, 0, 0.2}};
    assert_int_equal(rgWorld_SetBodyVelocity(scene.world, (rgBodyId){1}, up), rg_ok);
    SceneRun(&scene, 1000);
    EXPECT_NEAR(rgWorld_Velocities(scene.world, NULL)[0], 0.2, 1e-6);
    EXPECT_NEAR(rgWorld_Positions(scene.world, NULL)[0], 0.2, 1e-3);
    SceneEnd(&scene);
}

// A rope with an inertia of its length: nothing else moves, hence (M + m (x/l)^2) x'^2/2 stays. And
// what hangs on it keeps its energy, whatever it winds around.
static void test_inertia_of_a_way(void** state) {
    (void)state;
    const double mass = 2, inertia = 3, h = 0.5;
    double error[2];
    for (int k = 0; k < 2; ++k) {
        rgWorldDef def = SceneWorldDef(k == 0 ? 2e-3 : 1e-3, 1e-12);
        Scene scene = SceneText(
            "<mujoco><option gravity='0 0 0'/><worldbody><site name='top' pos='0 0 .5'/><body>"
            "<joint type='slide' axis='1 0 0'/><geom size='.05' mass='2'/><site name='end'/>"
            "</body></worldbody><tendon><spatial armature='3'><site site='top'/><site site='end'/>"
            "</spatial></tendon></mujoco>",
            &def);
        double x = -1, v = 1.5;
        assert_int_equal(rgWorld_SetState(scene.world, &x, &v), rg_ok);
        double start = 0.5 * (mass + inertia * x * x / (x * x + h * h)) * v * v;
        error[k] = 0;
        while (x < 1) {
            SceneStep(&scene);
            x = rgWorld_Positions(scene.world, NULL)[0],
            v = rgWorld_Velocities(scene.world, NULL)[0];
            double now = 0.5 * (mass + inertia * x * x / (x * x + h * h)) * v * v;
            error[k] = fmax(error[k], fabs(now - start));
        }
        SceneEnd(&scene);
    }
    assert_true(error[1] < 1e-4 && error[1] < error[0] / 3);
    rgWorldDef def = SceneWorldDef(1e-3, 1e-12);
    Scene scene =
        SceneText(HANGING("armature='1.5'", "<joint type='slide' axis='1 0 0'/>"
                                            "<joint type='slide' axis='0 0 1' stiffness='200'/>"),
                  &def);
    double q[2] = {0.05, 0.05}, v[2] = {0.4, -0.5}, first = 0;
    assert_int_equal(rgWorld_SetState(scene.world, q, v), rg_ok);
    for (int i = 0; i < 1000; ++i) {
        double sum = SceneEnergy(&scene); // the tendon's inertia counts
        first = i == 0 ? sum : first;
        EXPECT_NEAR(sum, first, 2e-4);
        SceneStep(&scene);
    }
    SceneEnd(&scene);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_weight),
                                       cmocka_unit_test(test_coupled_ropes),
                                       cmocka_unit_test(test_slack),
                                       cmocka_unit_test(test_energy),
                                       cmocka_unit_test(test_armature),
                                       cmocka_unit_test(test_inverse_and_restore),
                                       cmocka_unit_test(test_inertia_of_a_way),
                                       cmocka_unit_test(test_kinematic_end)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
