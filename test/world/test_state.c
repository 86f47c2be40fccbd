// State and faults: save, restore, hash, reset, forward, bad input, memory.
#include "scene.h"

#include "world/world.h"

#include <stdio.h>
#include <string.h>

static Scene Tumble(const rgWorldDef* def) {
    Scene scene = SceneStart();
    ScenePlane(&scene, 0.5, rgQuatIdentity());
    for (int i = 0; i < 6; ++i) {
        Solid solid = SolidOf(i % 2 ? rg_shapeBox : rg_shapeCapsule, rgVec(0.1, 0.08, 0.06), 1 + i,
                              rgVec(0.1 * (i % 2), 0, 0.3 + 0.25 * i));
        solid.pose.q = rgQuatFromRotationVector(rgVec(0.3 * i, 0.2, 0.1 * i));
        SceneFree(&scene, &solid);
    }
    Solid arm = SolidOf(rg_shapeCapsule, rgVec(0.05, 0.2, 0), 1, rgVec(0.5, 0, 0.5));
    rgBodyId body = SceneBody(&scene, &arm, (rgBodyId){0});
    rgJointDef joint = rgDefaultJointDef();
    joint.body = body;
    joint.anchor = rgVec(0, 0, 0.2);
    joint.axis = rgVec(0, 1, 0);
    joint.dryFriction = 0.1;
    joint.hasLimits = true;
    joint.lower = -1;
    joint.upper = 1;
    rgJointId hinge;
    assert_int_equal(rgModelDef_AddJoint(scene.def, &joint, &hinge), rg_ok);
    rgActuatorDef servo = rgDefaultActuatorDef();
    servo.joint = hinge;
    servo.gain = servo.kp = 10;
    servo.kd = 1;
    servo.hasForceRange = true;
    servo.forceLower = -3;
    servo.forceUpper = 3;
    assert_int_equal(rgModelDef_AddActuator(scene.def, &servo, NULL), rg_ok);
    SceneMake(&scene, def);
    double control = 0.8;
    assert_int_equal(rgWorld_SetControl(scene.world, &control), rg_ok);
    return scene;
}

static void test_restore_repeats_the_bits(void** state) {
    (void)state;
    rgWorldDef def = SceneWorldDef(1e-3, 1e-6);
    Scene scene = Tumble(&def);
    SceneRun(&scene, 300);
    size_t size = rgWorld_StateSize(scene.world);
    void* saved = malloc(size);
    assert_int_equal(rgWorld_Save(scene.world, saved, size), rg_ok);
    uint64_t at = rgWorld_Hash(scene.world);
    SceneRun(&scene, 200);
    uint64_t first = rgWorld_Hash(scene.world);
    assert_int_equal(rgWorld_Restore(scene.world, saved, size), rg_ok);
    assert_true(rgWorld_Hash(scene.world) == at);
    EXPECT_NEAR(rgWorld_Time(scene.world), 0.3, 1e-12);
    SceneRun(&scene, 200);
    assert_true(rgWorld_Hash(scene.world) == first);
    // And in another world of the same model, whose broadphase has another history.
    Scene other = scene;
    assert_int_equal(rgCreateWorld(scene.model, &def, NULL, &other.world), rg_ok);
    SceneRun(&other, 17);
    assert_int_equal(rgWorld_Restore(other.world, saved, size), rg_ok);
    SceneRun(&other, 200);
    assert_true(rgWorld_Hash(other.world) == first);
    rgDestroyWorld(other.world);
    free(saved);
    SceneEnd(&scene);
}

// A state that was damaged on its way is refused whole, whichever bit it was.
static void test_flipped_bits(void** state) {
    (void)state;
    rgWorldDef def = SceneWorldDef(1e-3, 1e-6);
    Scene scene = Tumble(&def);
    SceneRun(&scene, 250);
    size_t size = rgWorld_StateSize(scene.world);
    unsigned char* saved = malloc(size);
    assert_int_equal(rgWorld_Save(scene.world, saved, size), rg_ok);
    SceneRun(&scene, 10);
    uint64_t hash = rgWorld_Hash(scene.world);
    for (size_t bit = 0; bit < 8 * size; ++bit) {
        saved[bit / 8] ^= (unsigned char)(1 << bit % 8);
        rgResult result = rgWorld_Restore(scene.world, saved, size);
        assert_true(result == rg_errorFormat || (bit < 40 * 8 && result == rg_errorArgument));
        assert_true(rgWorld_Hash(scene.world) == hash);
        saved[bit / 8] ^= (unsigned char)(1 << bit % 8);
    }
    assert_int_equal(rgWorld_Restore(scene.world, saved, size), rg_ok);
    free(saved);
    SceneEnd(&scene);
}

static void test_restore_refuses_other_bytes(void** state) {
    (void)state;
    rgWorldDef def = SceneWorldDef(1e-3, 1e-6);
    Scene scene = Tumble(&def);
    SceneRun(&scene, 250);
    size_t size = rgWorld_StateSize(scene.world);
    unsigned char *saved = malloc(size), *broken = malloc(size);
    assert_int_equal(rgWorld_Save(scene.world, saved, size), rg_ok);
    assert_int_equal(rgWorld_Save(scene.world, saved, size - 1), rg_errorArgument);
    assert_int_equal(rgWorld_Restore(scene.world, saved, size - 1), rg_errorArgument);
    uint64_t hash = rgWorld_Hash(scene.world);
    rgRandom random = {3};
    for (int i = 0; i < 300; ++i) {
        memcpy(broken, saved, size);
        for (int k = 0; k < 4; ++k) {
            broken[rgRandom_Index(&random, i < 100 ? 40 : (int)size)] =
                (unsigned char)rgRandom_Bits(&random);
        }
        rgSealState(broken, size);
        // Refused or taken, but never a crash, and a refusal changes nothing.
        if (rgWorld_Restore(scene.world, broken, size) != rg_ok) {
            assert_true(rgWorld_Hash(scene.world) == hash);
        } else {
            rgWorld_Step(scene.world, NULL);
            assert_int_equal(rgWorld_Restore(scene.world, saved, size), rg_ok);
        }
    }
    free(saved);
    free(broken);
    SceneEnd(&scene);
}

static void test_forward_moves_nothing(void** state) {
    (void)state;
    rgWorldDef def = SceneWorldDef(1e-3, 1e-6);
    Scene scene = Tumble(&def);
    SceneRun(&scene, 400);
    uint64_t hash = rgWorld_Hash(scene.world);
    rgStepReport forward, step;
    assert_int_equal(rgWorld_Forward(scene.world, &forward), rg_ok);
    assert_true(rgWorld_Hash(scene.world) == hash);
    int count;
    const rgContact* contacts = rgWorld_Contacts(scene.world, &count);
    assert_true(count > 0);
    rgContact* copy = malloc((size_t)count * sizeof(rgContact));
    memcpy(copy, contacts, (size_t)count * sizeof(rgContact));
    assert_int_equal(rgWorld_Step(scene.world, &step), rg_ok);
    assert_int_equal(step.contactCount, forward.contactCount);
    contacts = rgWorld_Contacts(scene.world, &count);
    for (int i = 0; i < count; ++i) {
        assert_true(contacts[i].impulse[2] == copy[i].impulse[2]);
    }
    free(copy);
    SceneEnd(&scene);
}

static void test_no_allocation_after_warm_up(void** state) {
    (void)state;
    rgCounter counter = {.failAfter = -1};
    rgWorldDef def = SceneWorldDef(1e-3, 1e-6);
    def.allocator = rgCountingAllocator(&counter);
    Scene scene = Tumble(&def);
    SceneRun(&scene, 1500);
    int before = counter.allocations;
    SceneRun(&scene, 300);
    assert_int_equal(counter.allocations, before);
    assert_true(rgWorld_MemoryUse(scene.world) > 1000);
    SceneEnd(&scene);
    assert_int_equal(counter.live, 0);
}

// Whatever allocation fails, creating and stepping end with an error or well, and nothing leaks.
static void test_out_of_memory(void** state) {
    (void)state;
    rgWorldDef plain = SceneWorldDef(1e-3, 1e-6);
    Scene scene = Tumble(&plain);
    int failures = 0;
    for (int n = 0; n < 400; ++n) {
        rgCounter counter = {.failAfter = n};
        rgWorldDef def = plain;
        def.allocator = rgCountingAllocator(&counter);
        rgWorld* world = NULL;
        rgResult result = rgCreateWorld(scene.model, &def, NULL, &world);
        assert_true(result == rg_ok || result == rg_errorMemory);
        for (int i = 0; i < 3 && result == rg_ok; ++i) {
            uint64_t hash = rgWorld_Hash(world);
            result = rgWorld_Step(world, NULL);
            assert_true(result == rg_ok || result == rg_errorMemory);
            assert_true(result == rg_ok || rgWorld_Hash(world) == hash);
        }
        failures += result != rg_ok;
        rgDestroyWorld(world);
        assert_int_equal(counter.live, 0);
    }
    assert_true(failures > 50);
    SceneEnd(&scene);
}

static void test_bad_input_is_refused(void** state) {
    (void)state;
    rgWorldDef def = SceneWorldDef(1e-3, 1e-6);
    Scene scene = Tumble(&def);
    rgWorld* world = scene.world;
    SceneRun(&scene, 10);
    uint64_t hash = rgWorld_Hash(world);
    int nq, nv;
    rgWorld_Positions(world, &nq);
    rgWorld_Velocities(world, &nv);
    double q[64] = {0}, v[64] = {0}, bad = NAN;
    memcpy(q, rgWorld_Positions(world, NULL), (size_t)nq * sizeof(double));
    q[2] = INFINITY;
    assert_int_equal(rgWorld_SetState(world, q, v), rg_errorArgument);
    q[2] = 0;
    q[3] = q[4] = q[5] = q[6] = 0; // no rotation at all
    assert_int_equal(rgWorld_SetState(world, q, v), rg_errorArgument);
    v[nv - 1] = NAN;
    assert_int_equal(rgWorld_SetForce(world, v), rg_errorArgument);
    assert_int_equal(rgWorld_SetControl(world, &bad), rg_errorArgument);
    assert_int_equal(rgWorld_SetControl(world, NULL), rg_errorArgument);
    assert_int_equal(rgWorld_SetTime(world, bad), rg_errorArgument);
    assert_int_equal(rgWorld_Reset(world, (rgKeyId){5}), rg_errorArgument);
    assert_int_equal(rgWorld_ApplyWrench(world, (rgBodyId){99}, rgVec(1, 0, 0), rgVec(0, 0, 0)),
                     rg_errorArgument);
    assert_int_equal(rgWorld_ApplyWrench(world, (rgBodyId){1}, rgVec(bad, 0, 0), rgVec(0, 0, 0)),
                     rg_errorArgument);
    assert_int_equal(rgWorld_EnableBody(world, (rgBodyId){0}, false), rg_errorArgument);
    assert_true(rgWorld_Hash(world) == hash);
    assert_int_equal(rgWorld_Step(NULL, NULL), rg_errorArgument);
    SceneEnd(&scene);
}

static void test_bad_defs_are_refused(void** state) {
    (void)state;
    rgWorldDef good = SceneWorldDef(1e-3, 1e-6);
    Scene scene = Tumble(&good);
    rgDiagnostics* diagnostics;
    assert_int_equal(rgCreateDiagnostics(NULL, &diagnostics), rg_ok);
    rgWorldDef defs[11];
    for (int i = 0; i < 11; ++i) {
        defs[i] = good;
    }
    defs[0].timeStep = -1;
    defs[1].timeStep = NAN;
    defs[2].stiffness = -5;
    defs[3].friction = INFINITY;
    defs[4].restitution = 1.5;
    defs[5].cookie = 0;
    defs[6].maxContactsPerPair = 0;
    defs[7].gravity = rgVec(NAN, 0, 0);
    defs[8].contact.tolerance = -1;
    defs[9].friction = -1;
    defs[10].restitution = -0.5;
    for (int i = 0; i < 11; ++i) {
        rgWorld* world = NULL;
        assert_int_equal(rgCreateWorld(scene.model, &defs[i], diagnostics, &world),
                         rg_errorArgument);
        assert_null(world);
    }
    assert_true(rgDiagnostics_CountOf(diagnostics, rg_severityError) >= 9);
    rgWorld* usual = NULL;
    assert_int_equal(rgCreateWorld(scene.model, NULL, NULL, &usual), rg_ok); // the default
    rgDestroyWorld(usual);
    rgDestroyDiagnostics(diagnostics);
    SceneEnd(&scene);
}

// Numbers that overflow make the step fail by name, and the state stays.
static void test_overflow_leaves_the_state(void** state) {
    (void)state;
    rgWorldDef def = SceneWorldDef(1e-3, 1e-6);
    Scene scene = Tumble(&def);
    SceneRun(&scene, 5);
    double v[64] = {0};
    v[1] = 1e200;
    v[4] = 1e200;
    double q[64];
    int nq;
    memcpy(q, rgWorld_Positions(scene.world, &nq), sizeof(double) * 50);
    assert_int_equal(rgWorld_SetState(scene.world, q, v), rg_ok);
    uint64_t hash = rgWorld_Hash(scene.world);
    assert_int_equal(rgWorld_Step(scene.world, NULL), rg_errorNumeric);
    assert_true(rgWorld_Hash(scene.world) == hash);
    SceneEnd(&scene);
}

static void test_empty_model(void** state) {
    (void)state;
    Scene scene = SceneStart();
    rgWorldDef def = SceneWorldDef(1e-2, 1e-6);
    SceneMake(&scene, &def);
    SceneRun(&scene, 10);
    EXPECT_NEAR(rgWorld_Time(scene.world), 0.1, 1e-15);
    SceneEnd(&scene);
}

static void test_sleepers_take_no_part(void** state) {
    (void)state;
    Scene scene = SceneStart();
    ScenePlane(&scene, 0.5, rgQuatIdentity());
    rgBodyId below = SceneCube(&scene, 0.1, 1, rgVec(0, 0, 0.5), 0.5);
    rgBodyId above = SceneCube(&scene, 0.1, 1, rgVec(0, 0, 0.75), 0.5);
    rgWorldDef def = SceneWorldDef(1e-3, 1e-8);
    SceneMake(&scene, &def);
    assert_int_equal(rgWorld_EnableBody(scene.world, below, false), rg_ok);
    SceneRun(&scene, 1000);
    EXPECT_NEAR(SceneBodyPoint(&scene, below).z, 0.5, 0);
    EXPECT_NEAR(SceneBodyPoint(&scene, above).z, 0.1, 1e-6); // fell through the sleeper
    assert_int_equal(rgWorld_EnableBody(scene.world, below, true), rg_ok);
    SceneRun(&scene, 1000);
    EXPECT_NEAR(SceneBodyPoint(&scene, below).z, 0.3, 1e-5);
    SceneEnd(&scene);
}

static int hookCalls;
static void CountCalls(rgWorld* world, void* context) {
    (void)world;
    *(int*)context += 1;
}

static void ExpectPose(rgPose a, rgPose b) {
    EXPECT_NEAR(rgLength(rgSub(a.p, b.p)), 0, 1e-14);
    rgQuat turn = rgQuatMultiply(rgQuatConjugate(a.q), rgQuatNormalize(b.q));
    EXPECT_NEAR(fabs(turn.w), 1, 1e-14);
}

static void ExpectMotion(rgSpatial a, rgSpatial b) {
    EXPECT_NEAR(rgLength(rgSub(a.linear, b.linear)), 0, 1e-13);
    EXPECT_NEAR(rgLength(rgSub(a.angular, b.angular)), 0, 1e-13);
}

// A free base with a bracket fixed to it and an arm that swings, beside a pendulum.
static void test_bodies_are_placed(void** state) {
    (void)state;
    Scene scene = SceneStart();
    Solid box = SolidOf(rg_shapeBox, rgVec(0.1, 0.2, 0.3), 1, rgVec(1, 2, 3));
    rgBodyId base = SceneFree(&scene, &box);
    box.pose = (rgPose){{0.4, 0, 0.1}, rgQuatFromAxisAngle(rgVec(0.6, 0.8, 0), 0.7)};
    rgBodyId bracket = SceneBody(&scene, &box, base); // no joint
    rgBodyId arm = SceneBody(&scene, &box, base);
    SceneJoint(&scene, arm, rg_jointRevolute, rgVec(0, 0, 0), rgVec(0, 1, 0));
    rgBodyId pendulum = SceneBody(&scene, &box, (rgBodyId){0});
    SceneJoint(&scene, pendulum, rg_jointRevolute, rgVec(0, 0, 0), rgVec(0, 1, 0));
    rgWorldDef def = SceneWorldDef(1e-3, 1e-10);
    SceneMake(&scene, &def);
    rgWorld* world = scene.world;
    rgPose pose = {{-1, 0.5, 2}, rgQuatFromAxisAngle(rgVec(0, 0.6, 0.8), 2)};
    rgSpatial velocity = {{1, 2, 3}, {4, -5, 6}};
    const rgBodyId bodies[] = {base, bracket};
    for (int i = 0; i < 2; ++i) {
        rgPose relative = rgPoseMultiply(rgPoseInvert(rgWorld_BodyPose(world, base)),
                                         rgWorld_BodyPose(world, arm));
        assert_int_equal(rgWorld_SetBodyPose(world, bodies[i], pose), rg_ok);
        assert_int_equal(rgWorld_SetBodyVelocity(world, bodies[i], velocity), rg_ok);
        ExpectPose(rgWorld_BodyPose(world, bodies[i]), pose);
        ExpectMotion(rgWorld_BodyVelocity(world, bodies[i]), velocity);
        // the arm comes along, and velocity stays when the pose is set after it
        ExpectPose(rgPoseMultiply(rgWorld_BodyPose(world, base), relative),
                   rgWorld_BodyPose(world, arm));
        pose.q = rgQuatMultiply(pose.q, rgQuatFromAxisAngle(rgVec(1, 0, 0), 1));
        pose.q = (rgQuat){2 * pose.q.w, 2 * pose.q.x, 2 * pose.q.y, 2 * pose.q.z}; // any length
        assert_int_equal(rgWorld_SetBodyPose(world, bodies[i], pose), rg_ok);
        ExpectMotion(rgWorld_BodyVelocity(world, bodies[i]), velocity);
    }
    uint64_t before = rgWorld_Hash(world);
    assert_int_equal(rgWorld_SetBodyPose(world, pendulum, pose), rg_errorUnsupported);
    assert_int_equal(rgWorld_SetBodyVelocity(world, arm, velocity), rg_errorUnsupported);
    assert_int_equal(rgWorld_SetBodyPose(world, (rgBodyId){0}, pose), rg_errorArgument);
    assert_int_equal(rgWorld_SetBodyVelocity(world, (rgBodyId){9}, velocity), rg_errorArgument);
    velocity.angular.y = NAN;
    assert_int_equal(rgWorld_SetBodyVelocity(world, base, velocity), rg_errorArgument);
    pose.q = (rgQuat){0, 0, 0, 0};
    assert_int_equal(rgWorld_SetBodyPose(world, base, pose), rg_errorArgument);
    assert_int_equal(rgWorld_SetBodyPose(NULL, base, pose), rg_errorArgument);
    assert_true(rgWorld_Hash(world) == before);
    SceneEnd(&scene);
}

static void test_hooks_and_reset(void** state) {
    (void)state;
    rgWorldDef def = SceneWorldDef(1e-3, 1e-6);
    hookCalls = 0;
    def.beforeStep = def.afterStep = CountCalls;
    def.context = &hookCalls;
    Scene scene = Tumble(&def);
    assert_int_equal(rgWorld_Reset(scene.world, (rgKeyId){0}), rg_ok);
    uint64_t start = rgWorld_Hash(scene.world);
    SceneRun(&scene, 20);
    assert_int_equal(hookCalls, 40);
    assert_true(rgWorld_Hash(scene.world) != start);
    assert_int_equal(rgWorld_Reset(scene.world, (rgKeyId){0}), rg_ok);
    assert_true(rgWorld_Hash(scene.world) == start);
    SceneEnd(&scene);
}

// Step-size, contacts and everything else of the report is there.
static void test_report(void** state) {
    (void)state;
    rgWorldDef def = SceneWorldDef(1e-3, 1e-6);
    Scene scene = Tumble(&def);
    SceneRun(&scene, 400);
    rgStepReport report = SceneStep(&scene);
    int count;
    rgWorld_Contacts(scene.world, &count);
    assert_int_equal(report.contactCount, count);
    const double* lambda;
    const rgContactProblem* problem = rgWorld_Problem(scene.world, &lambda);
    assert_int_equal(report.rowCount, problem->rowCount);
    // The judge, not the solver.
    assert_true(rgContactProblem_Residual(problem, lambda) <= 1.01e-6);
    SceneEnd(&scene);
}

// Setting the state to views of itself changes nothing.
static void test_state_from_its_own_views(void** state) {
    (void)state;
    rgModel* model = NULL;
    rgWorld* world = NULL;
    assert_int_equal(rgLoadModel("quadruped", NULL, NULL, &model), rg_ok);
    assert_int_equal(rgCreateWorld(model, NULL, NULL, &world), rg_ok);
    for (int i = 0; i < 5; ++i) {
        assert_int_equal(rgWorld_Step(world, NULL), rg_ok);
    }
    double before = rgWorld_KineticEnergy(world);
    assert_true(before > 0);
    assert_int_equal(
        rgWorld_SetState(world, rgWorld_Positions(world, NULL), rgWorld_Velocities(world, NULL)),
        rg_ok);
    EXPECT_NEAR(rgWorld_KineticEnergy(world), before, 1e-12 * before);
    rgDestroyWorld(world);
    rgDestroyModel(model);
}

// Two bars whose ends are connected: where they reach each other, the loop closes.
static rgResult Close(const char* at, double* gap) {
    char text[700];
    snprintf(
        text, sizeof(text),
        "<mujoco><worldbody><body name='a'><joint axis='0 1 0'/>"
        "<geom type='capsule' fromto='0 0 0 1 0 0' size='.05'/></body>"
        "<body name='b' pos='%s 0 0'><joint axis='0 1 0'/>"
        "<geom type='capsule' fromto='0 0 0 -1 0 0' size='.05'/><site name='end' pos='-1 0 0'/>"
        "</body></worldbody><equality><connect body1='a' body2='b' anchor='1 0 0'/>"
        "</equality></mujoco>",
        at);
    rgModelDef* def = NULL;
    rgModel* model = NULL;
    rgWorld* world = NULL;
    assert_int_equal(rgParseModelDef(text, strlen(text), NULL, NULL, NULL, &def), rg_ok);
    // The anchor is where both ends should be, whatever the reference says.
    rgEqualityDef connect = *rgModelDef_Equality(def, (rgEqualityId){1});
    connect.poseB.p = rgVec(-1, 0, 0);
    assert_int_equal(rgModelDef_SetEquality(def, (rgEqualityId){1}, &connect), rg_ok);
    assert_int_equal(rgCompileModel(def, NULL, NULL, &model), rg_ok);
    assert_int_equal(rgCreateWorld(model, NULL, NULL, &world), rg_ok);
    double q[2] = {0.5, 0.1}, v[2] = {0.25, -0.5};
    assert_int_equal(rgWorld_SetState(world, q, v), rg_ok);
    rgResult result = rgWorld_Project(world);
    EXPECT_NEAR(rgWorld_Velocities(world, NULL)[1], -0.5, 0);
    rgVec3 end =
        rgPose_Point(rgWorld_BodyPose(world, rgModel_FindBody(model, "a")), rgVec(1, 0, 0));
    rgVec3 other = rgWorld_FramePose(world, rgModel_FindFrame(model, "end")).p;
    *gap = rgLength(rgSub(end, other));
    rgDestroyWorld(world);
    rgDestroyModel(model);
    rgDestroyModelDef(def);
    return result;
}

static void test_project_closes_loops(void** state) {
    (void)state;
    double gap = 0;
    assert_int_equal(Close("1.5", &gap), rg_ok);
    assert_true(gap < 1e-9);
    assert_int_equal(Close("2.5", &gap), rg_errorNumeric); // half a metre too far
    assert_true(gap > 0.49 && gap < 0.6);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_restore_repeats_the_bits),
        cmocka_unit_test(test_flipped_bits),
        cmocka_unit_test(test_restore_refuses_other_bytes),
        cmocka_unit_test(test_forward_moves_nothing),
        cmocka_unit_test(test_no_allocation_after_warm_up),
        cmocka_unit_test(test_out_of_memory),
        cmocka_unit_test(test_bad_input_is_refused),
        cmocka_unit_test(test_bad_defs_are_refused),
        cmocka_unit_test(test_overflow_leaves_the_state),
        cmocka_unit_test(test_empty_model),
        cmocka_unit_test(test_sleepers_take_no_part),
        cmocka_unit_test(test_bodies_are_placed),
        cmocka_unit_test(test_hooks_and_reset),
        cmocka_unit_test(test_state_from_its_own_views),
        cmocka_unit_test(test_project_closes_loops),
        cmocka_unit_test(test_report),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
