// Loops that nothing can close: targets out of reach, loops against limits, loops against each
// other. They yield without adding energy, say so, and are rigid again once they can be closed.
#include "scene.h"

// A lift with a limit, and an arm of two links of 0.5 m that reaches 1 m from the shoulder; a hand
// moves its tip.
#define ARM(equality, shoulder, elbow)                                                             \
    "<mujoco><compiler angle='radian'/><worldbody><body name='hand' mocap='true' pos='0.8 0 1'/>"  \
    "<body name='lift' pos='0 0 1'><joint type='slide' axis='0 0 1' limited='true' "               \
    "range='0 0.3'/><geom size='0.05' mass='3' contype='0' conaffinity='0'/><body euler='0 "       \
    "-0.643501108793284 0'><joint name='shoulder' axis='0 1 0' " shoulder                          \
    "/><geom type='capsule' size='0.03' fromto='0 0 0 0.5 0 0' mass='1' contype='0' "              \
    "conaffinity='0'/><body pos='0.5 0 0' euler='0 1.287002217586569 0'><joint axis='0 1 0' "      \
    "damping='0.01' " elbow "/><geom type='capsule' size='0.03' fromto='0 0 0 0.5 0 0' mass='1' "  \
    "contype='0' conaffinity='0'/><body name='tip' pos='0.5 0 0' euler='0 -0.643501108793284 "     \
    "0'><geom size='0.02' mass='0.1' contype='0' conaffinity='0'/></body></body></body></body>"    \
    "</worldbody><equality>" equality "</equality></mujoco>"
#define CONNECT "<connect body1='tip' body2='hand' anchor='0 0 0'/>"
#define WELD    "<weld body1='hand' body2='tip'/>"

static rgBodyId Named(const Scene* scene, const char* name) {
    return rgModel_FindBody(scene->model, name);
}

static void MoveHand(Scene* scene, double x, double z) {
    rgPose pose = {{x, 0, z}, {1, 0, 0, 0}};
    assert_int_equal(rgWorld_MoveBody(scene->world, Named(scene, "hand"), pose), rg_ok);
}

static double Miss(const Scene* scene) {
    return rgLength(rgSub(SceneBodyPoint(scene, Named(scene, "tip")),
                          SceneBodyPoint(scene, Named(scene, "hand"))));
}

static bool EqualityYields(const Scene* scene, int equality) {
    int count;
    const rgConstraintForce* rows = rgWorld_Constraints(scene->world, &count);
    bool yields = false;
    for (int i = 0; i < count; ++i) {
        yields = yields || (rows[i].kind == rg_constraintEquality && rows[i].index == equality &&
                            rows[i].regularized);
    }
    return yields;
}

// One step; the largest kinetic energy so far.
static rgStepReport Watch(Scene* scene, double* motion) {
    rgStepReport report = SceneStep(scene);
    *motion = fmax(*motion, rgWorld_KineticEnergy(scene->world));
    assert_int_equal(report.contact.status, rg_contactSolved);
    return report;
}

// A hand that goes out of reach, stays there and comes back: while it is within reach the tip is
// where it is to nanometres; out of reach the arm points at it, at rest, and the step says so.
static void test_out_of_reach(void** state) {
    (void)state;
    const char* texts[] = {ARM(CONNECT, "", ""), ARM(WELD, "", "")};
    for (int kind = 0; kind < 4; ++kind) {
        rgWorldDef def = SceneWorldDef(kind < 2 ? 1e-3 : 4e-3, 1e-9);
        Scene scene = SceneText(texts[kind % 2], &def);
        double motion = 0;
        int steps = (int)(1 / def.timeStep + 0.5);
        for (int k = 1; k <= 8 * steps; ++k) {
            double t = k * def.timeStep, away = t < 2 ? t : t < 5 ? 2 : t < 7 ? 7 - t : 0;
            MoveHand(&scene, 0.8 + away, 1);
            rgStepReport report = Watch(&scene, &motion);
            assert_int_equal(report.regularizedRows > 0, EqualityYields(&scene, 0));
            if (kind % 2 == 0 && (t < 0.17 || t > 7.5)) {
                assert_true(t > 7.5 || report.regularizedRows == 0);
                EXPECT_NEAR(Miss(&scene), 0, 1e-9);
            }
            if (t > 4.5 && t < 5) {
                assert_true(report.regularizedRows > 0);
                assert_true(rgWorld_KineticEnergy(scene.world) < 1e-3); // the elbow swings on
                assert_true(Miss(&scene) > 1.7 && Miss(&scene) < 2.1);
            }
        }
        // 5 kg, and ten times the speed of the hand in the step that stretches the arm
        assert_true(motion < 600);
        if (kind % 2 == 0) { // the weld asks for a pose that three joints do not have
            assert_false(EqualityYields(&scene, 0));
        }
        SceneEnd(&scene);
    }
}

// The start of a robot file: a joint outside its limit by 38 mm, and a loop that is closed there
// and nowhere else.
static void test_against_limit(void** state) {
    (void)state;
    const char* texts[] = {
        ARM(CONNECT, "limited='true' range='-0.01 0.01'", "limited='true' range='-0.01 0.01'"),
        ARM(WELD, "limited='true' range='-0.01 0.01'", "limited='true' range='-0.01 0.01'")};
    for (int kind = 0; kind < 2; ++kind) {
        rgWorldDef def = SceneWorldDef(1e-3, 1e-9);
        Scene scene = SceneText(texts[kind], &def);
        double q[3] = {-0.038, 0, 0}, motion = 0;
        rgPose pose = {{0.8, 0, 0.962}, {1, 0, 0, 0}};
        assert_int_equal(rgWorld_SetState(scene.world, q, NULL), rg_ok);
        assert_int_equal(rgWorld_SetBodyPose(scene.world, Named(&scene, "hand"), pose), rg_ok);
        for (int k = 0; k < 2000; ++k) {
            Watch(&scene, &motion);
        }
        const double* now = rgWorld_Positions(scene.world, NULL);
        assert_true(EqualityYields(&scene, 0));
        assert_true(now[0] > -1e-6);
        assert_true(fabs(now[1]) < 0.0101 && fabs(now[2]) < 0.0101);
        assert_true(Miss(&scene) > 0.02 && Miss(&scene) < 0.06);
        assert_true(motion < 5 && rgWorld_KineticEnergy(scene.world) < 1e-9);
        SceneEnd(&scene);
    }
}

// A body that is tied to two places: the tie that is closed at the start holds, and the other one
// yields; between both it hangs half way. Another body has nothing to do with it.
static void test_against_each_other(void** state) {
    (void)state;
    for (int kind = 0; kind < 2; ++kind) {
        rgWorldDef def = SceneWorldDef(1e-3, 1e-9);
        Scene scene = SceneText(
            "<mujoco><worldbody><body name='a' pos='0 0 1'><freejoint/><geom size='0.1' mass='2'/>"
            "</body><body name='b' pos='2 0 1'><freejoint/><geom size='0.1' mass='2'/></body>"
            "<body name='left' mocap='true' pos='0 0 1'/><body name='right' mocap='true' "
            "pos='0 0 1'/></worldbody><equality><connect body1='a' body2='left' anchor='0 0 0'/>"
            "<connect body1='a' body2='right' anchor='0 0 0'/><connect body1='b' anchor='0 0 0'/>"
            "</equality></mujoco>",
            &def);
        double motion = 0, shift = kind == 0 ? 0 : 0.05;
        rgPose left = {{-shift, 0, 1}, {1, 0, 0, 0}}, right = {{0.1 - shift, 0, 1}, {1, 0, 0, 0}};
        assert_int_equal(rgWorld_SetBodyPose(scene.world, Named(&scene, "left"), left), rg_ok);
        assert_int_equal(rgWorld_SetBodyPose(scene.world, Named(&scene, "right"), right), rg_ok);
        for (int k = 0; k < 3000; ++k) {
            Watch(&scene, &motion);
            assert_false(EqualityYields(&scene, 2));
        }
        rgVec3 a = SceneBodyPoint(&scene, Named(&scene, "a"));
        rgVec3 b = SceneBodyPoint(&scene, Named(&scene, "b"));
        assert_int_equal(EqualityYields(&scene, 0), kind == 1);
        assert_true(EqualityYields(&scene, 1));
        EXPECT_NEAR(a.x, 0, 1e-9);
        assert_true(kind == 0 ? fabs(a.z - 1) < 1e-9 : a.z < 1 && a.z > 1 - 2e-3);
        EXPECT_NEAR(rgLength(rgSub(b, rgVec(2, 0, 1))), 0, 1e-9);
        assert_true(motion < 1 && rgWorld_KineticEnergy(scene.world) < 1e-9);
        SceneEnd(&scene);
    }
}

// A hand that holds a box goes through a wall and back: the box stays before the wall, pressed
// against it, and is in the hand again on the way back.
static void test_against_wall(void** state) {
    (void)state;
    rgWorldDef def = SceneWorldDef(1e-3, 1e-9);
    Scene scene = SceneText(
        "<mujoco><worldbody><geom type='box' size='.1 1 1' pos='1 0 1'/><body name='hand' "
        "mocap='true' pos='.5 0 1'/><body name='tip' pos='.5 0 1'><freejoint/><geom type='box' "
        "size='.1 .1 .1' mass='2'/></body></worldbody><equality><weld body1='hand' body2='tip'/>"
        "</equality></mujoco>",
        &def);
    double motion = 0;
    for (int k = 1; k <= 2000; ++k) {
        double x = k <= 1000 ? 0.5 + 1e-3 * k : 1.5 - 1e-3 * (k - 1000);
        MoveHand(&scene, x, 1);
        rgStepReport report = Watch(&scene, &motion);
        double place = SceneBodyPoint(&scene, Named(&scene, "tip")).x;
        // On the way back it leaves the wall, and may be put into the hand from some millimetres.
        assert_true(place < 0.8 + (k <= 1000 ? 1e-5 : 3e-3));
        assert_int_equal(report.regularizedRows > 0, EqualityYields(&scene, 0));
        if (x < 0.79) {
            EXPECT_NEAR(Miss(&scene), 0, 1e-9);
        } else if (x > 0.81) {
            assert_true(EqualityYields(&scene, 0));
            EXPECT_NEAR(place, 0.8, 5e-3);
        }
    }
    assert_true(motion < 2); // 2 kg, and the hand at 1 m/s
    SceneEnd(&scene);
}

// Saved in the middle of a conflict, it goes on with the same bits.
static void test_restored(void** state) {
    (void)state;
    rgWorldDef def = SceneWorldDef(1e-3, 1e-9);
    Scene scene = SceneText(ARM(CONNECT, "", ""), &def);
    uint64_t hash[2] = {0, 1};
    char* bytes = NULL;
    size_t size = 0;
    for (int round = 0; round < 2; ++round) {
        for (int k = 0; k < 400; ++k) {
            if (k == 300 && round == 0) {
                size = rgWorld_StateSize(scene.world);
                bytes = malloc(size);
                assert_int_equal(rgWorld_Save(scene.world, bytes, size), rg_ok);
                assert_true(EqualityYields(&scene, 0));
            }
            if (k < 300 && round == 1) {
                continue;
            }
            if (k == 300 && round == 1) {
                assert_int_equal(rgWorld_Restore(scene.world, bytes, size), rg_ok);
            }
            MoveHand(&scene, 0.8 + 1.5e-3 * (k + 1), 1);
            SceneStep(&scene);
        }
        hash[round] = rgWorld_Hash(scene.world);
    }
    assert_int_equal(hash[0], hash[1]);
    free(bytes);
    SceneEnd(&scene);
}

// The fingers of a gripper: links of 50 to 130 g whose joints have dry friction far above what a
// soft pull between them can overcome, coupled in a row, 0.4 rad apart at the start.
#define FINGER(name, range, y)                                                                     \
    "<body pos='0 " y " 0'><inertial pos='0 0.02 -0.02' mass='0.1' diaginertia='2e-4 1e-4 1e-4'/>" \
    "<joint name='" name "' axis='1 0 0' range='" range "' damping='1' frictionloss='1'/></body>"
#define GRIPPER(range)                                                                             \
    "<mujoco><compiler angle='radian'/><worldbody>" FINGER("motor", "-0.96 0", "0.02")             \
        FINGER("single", range, "-0.02") FINGER("inner", "-1.0472 0", "0.005")                     \
            FINGER("other", "0 1.0472", "-0.005") "</worldbody><equality><joint joint1='single' "  \
                                                  "joint2='motor' polycoef='0 -1 0 0 0'/><joint "  \
                                                  "joint1='motor' joint2='inner' polycoef='0 1 0 " \
                                                  "0 0'/><joint joint1='other' joint2='inner' "    \
                                                  "polycoef='0 -1 0 0 0'/></equality></mujoco>"

static Scene OpenGripper(const char* text, double timeStep, double single) {
    rgWorldDef def = SceneWorldDef(timeStep, 1e-9);
    const double q[4] = {-0.4, single, 0, 0.4};
    Scene scene = SceneText(text, &def);
    assert_int_equal(rgWorld_SetState(scene.world, q, NULL), rg_ok);
    return scene;
}

static double WorstCoupling(const Scene* scene) {
    const double* q = rgWorld_Positions(scene->world, NULL);
    return fmax(fabs(q[1] + q[0]), fmax(fabs(q[0] - q[2]), fabs(q[3] + q[2])));
}

// Couplings that are open close at the push-out speed, whatever holds the joints back; then they
// are rigid.
static void test_couplings_close(void** state) {
    (void)state;
    for (int n = 0; n < 2; ++n) {
        double dt = n == 0 ? 1e-3 : 5e-3, motion = 0;
        Scene scene = OpenGripper(GRIPPER("0 1.0472"), dt, 0.8);
        double before = WorstCoupling(&scene);
        assert_true(before > 0.39);
        for (double t = 0; t < 1; t += dt) {
            rgStepReport report = Watch(&scene, &motion);
            assert_true(t < 0.9 || report.regularizedRows == 0);
            assert_true(WorstCoupling(&scene) < before + 1e-9);
            before = WorstCoupling(&scene);
        }
        assert_true(before < 1e-9);
        assert_true(motion < 1e-6); // positions close, velocities stay
        SceneEnd(&scene);
    }
}

// A coupling that limits keep open: it comes as near as they allow, stays there and says so.
static void test_coupling_against_limits(void** state) {
    (void)state;
    Scene scene = OpenGripper(GRIPPER("0.97 1.0472"), 1e-3, 1); // the motor stops at -0.96
    double motion = 0;
    for (int k = 0; k < 2000; ++k) {
        rgStepReport report = Watch(&scene, &motion);
        assert_true(report.regularizedRows > 0);
        if (k > 1500) {
            const double* q = rgWorld_Positions(scene.world, NULL);
            assert_true(q[0] > -0.96 - 1e-3 && q[1] > 0.97 - 1e-3);
            assert_true(WorstCoupling(&scene) < 0.012);
        }
    }
    assert_true(motion < 1e-3);
    SceneEnd(&scene);
}

#define LINKS 6

// Arms of six random joints with limits, a weld at the tip, and a hand that wanders anywhere.
static void test_random_arms(void** state) {
    (void)state;
    int yielding = 0, rigid = 0;
    for (int n = 0; n < rgFewer(200); ++n) {
        rgRandom random = {(uint64_t)n + 1};
        Scene scene = SceneStart();
        rgBodyId parent = {0};
        for (int i = 0; i < LINKS; ++i) {
            Solid solid = SolidOf(rg_shapeSphere, rgVec(0.05, 0, 0), 1, rgVec(0.3, 0, 0));
            parent = SceneBody(&scene, &solid, parent);
            rgJointDef joint = rgDefaultJointDef();
            joint.body = parent;
            joint.kind =
                rgRandom_Uniform(&random, 0, 1) < 0.8 ? rg_jointRevolute : rg_jointPrismatic;
            joint.axis = rgVec(rgRandom_Uniform(&random, -1, 1), rgRandom_Uniform(&random, -1, 1),
                               rgRandom_Uniform(&random, -1, 1));
            joint.hasLimits = i % 2 == 0;
            joint.lower = -rgRandom_Uniform(&random, 0, 0.5);
            joint.upper = rgRandom_Uniform(&random, 0, 0.5);
            assert_int_equal(rgModelDef_AddJoint(scene.def, &joint, NULL), rg_ok);
        }
        rgBodyDef hand = rgDefaultBodyDef();
        hand.kinematic = true;
        hand.pose.p = rgVec(0.3 * LINKS, 0, 0);
        rgEqualityDef equality = rgDefaultEqualityDef();
        assert_int_equal(rgModelDef_AddBody(scene.def, &hand, &equality.bodyA), rg_ok);
        equality.bodyB = parent;
        equality.kind = n % 2 == 0 ? rg_equalityWeld : rg_equalityConnect;
        assert_int_equal(rgModelDef_AddEquality(scene.def, &equality, NULL), rg_ok);
        rgWorldDef def = SceneWorldDef(2e-3, 1e-8);
        SceneMake(&scene, &def);
        rgVec3 speed = {0, 0, 0};
        double motion = 0;
        for (int k = 0; k < 500; ++k) {
            if (k % 100 == 0) {
                speed = rgVec(rgRandom_Uniform(&random, -1, 1), rgRandom_Uniform(&random, -1, 1),
                              rgRandom_Uniform(&random, -1, 1));
            }
            hand.pose.p = rgAdd(hand.pose.p, rgScale(def.timeStep, speed));
            assert_int_equal(rgWorld_MoveBody(scene.world, equality.bodyA, hand.pose), rg_ok);
            rgStepReport report = SceneStep(&scene);
            motion = fmax(motion, rgWorld_KineticEnergy(scene.world));
            yielding += report.regularizedRows > 0;
            rigid += report.regularizedRows == 0;
        }
        assert_true(motion < 2000); // 6 kg
        SceneEnd(&scene);
    }
    assert_true(yielding > 0 && rigid > 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_out_of_reach),
        cmocka_unit_test(test_against_limit),
        cmocka_unit_test(test_against_each_other),
        cmocka_unit_test(test_against_wall),
        cmocka_unit_test(test_restored),
        cmocka_unit_test(test_couplings_close),
        cmocka_unit_test(test_coupling_against_limits),
        cmocka_unit_test(test_random_arms),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
