// Composing definitions: attach, find, edit, remove; mesh files alone; what clashes is told.
#include "model/def.h"
#include "rigor/rigor.h"
#include "same.h"
#include "support.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static rgDiagnostics* rgListen(void) {
    rgDiagnostics* said = NULL;
    assert_int_equal(rgCreateDiagnostics(NULL, &said), rg_ok);
    return said;
}

static rgModelDef* rgParse(const char* text, const char* path) {
    rgModelDef* def = NULL;
    rgDiagnostics* said = rgListen();
    rgResult result = rgParseModelDef(text, strlen(text), path, NULL, said, &def);
    for (int i = 0; result != rg_ok && i < rgDiagnostics_Count(said); ++i) {
        print_message("%s\n", rgDiagnostics_Message(said, i).text);
    }
    assert_int_equal(result, rg_ok);
    rgDestroyDiagnostics(said);
    return def;
}

static bool rgSays(const rgDiagnostics* said, const char* file, int line, const char* text) {
    for (int i = 0; i < rgDiagnostics_Count(said); ++i) {
        rgMessage m = rgDiagnostics_Message(said, i);
        bool here = file == NULL || (m.file != NULL && strcmp(m.file, file) == 0 && m.line == line);
        if (here && strstr(m.text, text) != NULL) {
            return true;
        }
    }
    for (int i = 0; i < rgDiagnostics_Count(said); ++i) {
        rgMessage m = rgDiagnostics_Message(said, i);
        print_message("%s:%d: %s\n", m.file != NULL ? m.file : "", m.line, m.text);
    }
    return false;
}

static rgModelDef* rgEmpty(void) {
    rgModelDef* def = NULL;
    assert_int_equal(rgCreateModelDef(NULL, &def), rg_ok);
    return def;
}

static void rgAttach(rgModelDef* def, const rgModelDef* other, const rgAttachDef* how) {
    rgDiagnostics* said = rgListen();
    rgResult result = rgModelDef_Attach(def, other, how, said, NULL);
    for (int i = 0; result != rg_ok && i < rgDiagnostics_Count(said); ++i) {
        print_message("%s\n", rgDiagnostics_Message(said, i).text);
    }
    assert_int_equal(result, rg_ok);
    rgDestroyDiagnostics(said);
}

// The file that a definition becomes; the caller frees it.
static char* rgAsMjcf(const rgModelDef* def) {
    char path[64];
    snprintf(path, sizeof(path), "./compose_%d.xml", (int)getpid());
    assert_int_equal(rgSaveMjcf(def, path, NULL), rg_ok);
    FILE* in = fopen(path, "r");
    assert_non_null(in);
    char* text = calloc(1, 1 << 22);
    size_t count = fread(text, 1, (1 << 22) - 1, in);
    assert_true(count > 0);
    fclose(in);
    remove(path);
    return text;
}

static const char* const robots[] = {"humanoid", "arm", "quadruped", "hand", "biped", "arm.urdf"};

// Attached to nothing at the origin, a robot is what it was, down to the text of its file.
static void test_attach_to_nothing(void** state) {
    (void)state;
    for (int i = 0; i < (int)(sizeof(robots) / sizeof(robots[0])); ++i) {
        rgModelDef *robot = rgLoadOrFail(robots[i]), *def = rgEmpty();
        rgAttachDef how = rgDefaultAttachDef();
        rgAttach(def, robot, &how);
        char *a = rgAsMjcf(robot), *b = rgAsMjcf(def);
        assert_string_equal(a, b);
        free(a);
        free(b);
        rgDestroyModelDef(robot);
        rgDestroyModelDef(def);
    }
}

// What is attached and removed again leaves no trace.
static void test_attach_then_remove(void** state) {
    (void)state;
    for (int i = 0; i < (int)(sizeof(robots) / sizeof(robots[0])); ++i) {
        rgModelDef *def = rgLoadOrFail("arm_wall"), *robot = rgLoadOrFail(robots[i]);
        char* before = rgAsMjcf(def);
        rgAttachDef how = rgDefaultAttachDef();
        how.prefix = "other_";
        how.withoutWorld = true;
        how.pose.p = rgVec(3, 0, 1);
        int bodies = def->bodyCount, keys = def->keyCount;
        rgAttach(def, robot, &how);
        assert_true(def->bodyCount > bodies);
        // Bodies from the last: each takes along what hangs on it.
        while (def->bodyCount > bodies) {
            assert_int_equal(rgModelDef_RemoveBody(def, (rgBodyId){bodies + 1}, NULL), rg_ok);
        }
        while (def->keyCount > keys) {
            assert_int_equal(rgModelDef_RemoveKey(def, (rgKeyId){keys + 1}, NULL), rg_ok);
        }
        char* after = rgAsMjcf(def);
        assert_string_equal(before, after);
        free(before);
        free(after);
        rgDestroyModelDef(def);
        rgDestroyModelDef(robot);
    }
}

static rgWorld* rgStart(const rgModel* model, const char* key) {
    rgWorld* world = NULL;
    rgWorldDef settings = rgDefaultWorldDef();
    settings.contact.tolerance = 1e-10;
    assert_int_equal(rgCreateWorld(model, &settings, NULL, &world), rg_ok);
    assert_int_equal(rgWorld_Reset(world, rgModel_FindKey(model, key)), rg_ok);
    return world;
}

// Robots that do not meet move as each does alone: free, with servos and floors of their own, at
// poses of their own; keys come along and are moved.
static void test_instances_move_as_one_alone(void** state) {
    (void)state;
    rgModelDef *robot = rgLoadOrFail("quadruped"), *def = rgEmpty();
    for (int i = 0; i < 3; ++i) {
        char prefix[8];
        snprintf(prefix, sizeof(prefix), "r%d/", i);
        rgAttachDef how = rgDefaultAttachDef();
        how.prefix = prefix;
        how.pose = (rgPose){rgVec(5.0 * i, 1, 0), rgQuatFromAxisAngle(rgVec(0, 0, 1), 0.5 * i)};
        how.withoutWorld = i > 0; // one floor for all
        rgAttach(def, robot, &how);
    }
    rgModel *alone = rgCompileOrFail(robot), *all = rgCompileOrFail(def);
    assert_int_equal(rgModel_Info(all).qCount, 3 * rgModel_Info(alone).qCount);
    assert_int_equal(rgModel_Info(all).keyCount, 3 * rgModel_Info(alone).keyCount);
    rgWorld* one = rgStart(alone, "stand");
    rgWorld* many = rgStart(all, "r1/stand");
    int nq = rgModel_Info(alone).qCount;
    const double *q1 = rgWorld_Positions(one, NULL), *q3 = rgWorld_Positions(many, NULL);
    for (int k = 7; k < nq; ++k) { // r1 stands, the others are neutral
        EXPECT_NEAR(q3[nq + k], q1[k], 0);
    }
    for (int step = 0; step < rgFewer(100); ++step) {
        assert_int_equal(rgWorld_Step(one, NULL), rg_ok);
        assert_int_equal(rgWorld_Step(many, NULL), rg_ok);
    }
    rgPose base = {rgVec(5, 1, 0), rgQuatFromAxisAngle(rgVec(0, 0, 1), 0.5)};
    for (int b = 1; b <= rgModel_Info(alone).bodyCount; ++b) {
        char name[64];
        snprintf(name, sizeof(name), "r1/%s", rgModel_Body(alone, (rgBodyId){b})->name);
        rgPose expected = rgPoseMultiply(base, rgWorld_BodyPose(one, (rgBodyId){b}));
        rgPose found = rgWorld_BodyPose(many, rgModel_FindBody(all, name));
        assert_true(rgLength(rgSub(found.p, expected.p)) < 1e-7);
    }
    rgDestroyWorld(one);
    rgDestroyWorld(many);
    rgDestroyModel(alone);
    rgDestroyModel(all);
    rgDestroyModelDef(robot);
    rgDestroyModelDef(def);
}

static const char pole[] = "<mujoco><worldbody><body name='pole' pos='0 0 1'>"
                           "<joint name='lean' axis='0 1 0'/>"
                           "<geom type='capsule' size='0.05 0.4' mass='2'/>"
                           "</body></worldbody></mujoco>";
static const char tool[] = "<mujoco><worldbody><body name='tool' pos='0.1 0 0'><freejoint/>"
                           "<geom name='pad' type='box' size='0.1 0.05 0.02' mass='1'/>"
                           "<body name='finger' pos='0.1 0 0'><joint name='grip' axis='0 0 1'/>"
                           "<geom type='sphere' size='0.03' mass='0.2'/></body>"
                           "</body></worldbody></mujoco>";
static const char both[] = "<mujoco><worldbody><body name='pole' pos='0 0 1'>"
                           "<joint name='lean' axis='0 1 0'/>"
                           "<geom type='capsule' size='0.05 0.4' mass='2'/>"
                           "<body name='t_tool' pos='0.1 0 0.5'>%s"
                           "<geom name='t_pad' type='box' size='0.1 0.05 0.02' mass='1'/>"
                           "<body name='t_finger' pos='0.1 0 0'><joint name='t_grip' axis='0 0 1'/>"
                           "<geom type='sphere' size='0.03' mass='0.2'/></body></body>"
                           "</body></worldbody></mujoco>";

// A tool on a pole is the robot that one file describes, fixed or by a joint.
static void test_attach_to_a_body(void** state) {
    (void)state;
    for (int byJoint = 0; byJoint < 2; ++byJoint) {
        char text[1200];
        snprintf(text, sizeof(text), both, byJoint ? "<joint name='turn' axis='1 0 0'/>" : "");
        rgModelDef *def = rgParse(pole, "pole.xml"), *other = rgParse(tool, "tool.xml");
        rgModelDef* expected = rgParse(text, "both.xml");
        rgAttachDef how = rgDefaultAttachDef();
        how.kind = byJoint ? rg_attachJoint : rg_attachFixed;
        how.prefix = "t_";
        how.parent = rgModelDef_FindBody(def, "pole");
        how.pose.p.z = 0.5;
        how.joint.name = "turn";
        how.joint.axis = rgVec(1, 0, 0);
        rgAttach(def, other, &how);
        rgModel *a = rgCompileOrFail(def), *b = rgCompileOrFail(expected);
        rgExpectSameRobot(a, b, 1e-12, false);
        rgDestroyModel(a);
        rgDestroyModel(b);
        rgDestroyModelDef(def);
        rgDestroyModelDef(other);
        rgDestroyModelDef(expected);
    }
}

// What stands on its own becomes free, each root by a joint of its name.
static void test_free_roots(void** state) {
    (void)state;
    rgModelDef *def = rgEmpty(),
               *other = rgParse("<mujoco><worldbody><body name='u'><geom size='.1'/><body name='v'>"
                                "<geom size='.1'/></body></body><body name='w'><geom size='.1'/>"
                                "</body></worldbody></mujoco>",
                                "two.xml");
    rgAttachDef how = rgDefaultAttachDef();
    how.kind = rg_attachFree;
    rgAttach(def, other, &how);
    assert_int_equal(def->jointCount, 2);
    for (int i = 0; i < 2; ++i) {
        const rgJointDef* joint = &def->joints[i];
        assert_int_equal(joint->kind, rg_jointFree);
        assert_string_equal(joint->name, i == 0 ? "u" : "w");
        assert_string_equal(def->bodies[joint->body.index1 - 1].name, joint->name);
    }
    rgDestroyModelDef(def);
    rgDestroyModelDef(other);
}

// As it is, a free tool cannot hang on a pole that moves; free, it can stand in the world.
static void test_free_things(void** state) {
    (void)state;
    rgModelDef *def = rgParse(pole, "pole.xml"), *other = rgParse(tool, "tool.xml");
    rgDiagnostics* said = rgListen();
    rgAttachDef how = rgDefaultAttachDef();
    how.parent = rgModelDef_FindBody(def, "pole");
    int bodies = def->bodyCount;
    assert_int_equal(rgModelDef_Attach(def, other, &how, said, NULL), rg_errorArgument);
    assert_int_equal(def->bodyCount, bodies);
    assert_true(rgSays(said, "tool.xml", 1, "is free, and the body that it is attached to moves"));
    rgModel* model = NULL; // the definition remembers it
    assert_int_equal(rgCompileModel(def, NULL, NULL, &model), rg_errorArgument);
    rgDestroyModelDef(def);

    rgModelDef* arm = rgLoadOrFail("arm.urdf");
    def = rgEmpty();
    how = rgDefaultAttachDef();
    how.kind = rg_attachFree;
    how.pose.p = rgVec(0, 0, 2);
    rgAttach(def, arm, &how);
    model = rgCompileOrFail(def);
    rgModel* fixed = rgCompileOrFail(arm);
    assert_int_equal(rgModel_Info(model).vCount, rgModel_Info(fixed).vCount + 6);
    rgDestroyModel(fixed);
    rgDestroyModel(model);
    rgDestroyModelDef(arm);
    rgDestroyModelDef(def);
    rgDestroyModelDef(other);
    rgDestroyDiagnostics(said);
}

static void test_clashes_tell_both_places(void** state) {
    (void)state;
    static const char first[] = "<mujoco><option timestep='0.001' gravity='0 0 -9.81'/>\n"
                                "<worldbody>\n<geom name='floor' type='plane' size='1 1 1'/>\n"
                                "<body name='box'><freejoint/><geom size='.1'/></body>"
                                "</worldbody></mujoco>";
    static const char second[] = "<mujoco>\n<option timestep='0.002' gravity='0 0 -1.62'/>\n"
                                 "<worldbody>\n<geom type='plane' size='1 1 1'/>\n\n"
                                 "<body name='box'><freejoint/><geom name='floor' size='.1'/>"
                                 "</body></worldbody></mujoco>";
    rgModelDef *def = rgParse(first, "a.xml"), *other = rgParse(second, "b.xml");
    rgDiagnostics* said = rgListen();
    rgAttachDef how = rgDefaultAttachDef();
    assert_int_equal(rgModelDef_Attach(def, other, &how, said, NULL), rg_errorArgument);
    assert_true(rgSays(said, "b.xml", 6, "body 'box': the name is already used in a.xml:4"));
    assert_true(rgSays(said, "b.xml", 6, "shape 'floor': the name is already used in a.xml:3"));
    assert_int_equal(rgDiagnostics_CountOf(said, rg_severityError), 2);
    rgDestroyModelDef(def);
    rgDiagnostics_Clear(said);

    def = rgParse(first, "a.xml");
    how.prefix = "b_";
    assert_int_equal(rgModelDef_Attach(def, other, &how, said, NULL), rg_ok);
    assert_true(rgSays(said, "b.xml", 2,
                       "the time step is 0.002 s here and 0.001 s in the definition "
                       "that it is attached to; that of a.xml:1 is used"));
    assert_true(rgSays(said, "b.xml", 2, "the gravity is (0, 0, -1.62) here and (0, 0, -9.81)"));
    assert_true(rgSays(said, "b.xml", 4, "lies in the floor 'floor' of a.xml:3"));
    rgModel* model = rgCompileOrFail(def);
    EXPECT_NEAR(rgModel_Info(model).options.timeStep, 0.001, 0);
    EXPECT_NEAR(rgModel_Info(model).options.gravity.z, -9.81, 0);
    rgDestroyModel(model);
    rgDestroyModelDef(def);
    rgDestroyModelDef(other);
    rgDestroyDiagnostics(said);
}

// A step that is said goes before the 2 ms that MJCF means by saying nothing, in either order.
static void test_implied_time_step(void** state) {
    (void)state;
    static const char* const texts[] = {"<mujoco/>", "<mujoco><option timestep='0.005'/></mujoco>"};
    for (int i = 0; i < 2; ++i) {
        rgModelDef *def = rgParse(texts[i], "a.xml"), *other = rgParse(texts[1 - i], "b.xml");
        rgDiagnostics* said = rgListen();
        rgModelDef* empty = NULL;
        assert_int_equal(rgCreateModelDef(NULL, &empty), rg_ok);
        assert_int_equal(rgModelDef_Attach(empty, def, NULL, said, NULL), rg_ok);
        EXPECT_NEAR(rgModelDef_Info(empty).options.timeStep, i == 0 ? 0.002 : 0.005, 0);
        assert_int_equal(rgModelDef_Attach(empty, other, NULL, said, NULL), rg_ok);
        EXPECT_NEAR(rgModelDef_Info(empty).options.timeStep, 0.005, 0);
        assert_int_equal(rgDiagnostics_Count(said), 0);
        rgDestroyModelDef(def);
        rgDestroyModelDef(other);
        rgDestroyModelDef(empty);
        rgDestroyDiagnostics(said);
    }
}

// Names used twice in one definition, by parts of two files.
static void test_compile_tells_both_files(void** state) {
    (void)state;
    rgModelDef* def = rgParse(pole, "pole.xml");
    rgShapeDef shape = rgDefaultShapeDef();
    shape.kind = rg_shapeSphere;
    shape.size.x = 1;
    shape.name = "ball";
    shape.source = (rgSource){"first.xml", 3};
    assert_int_equal(rgModelDef_AddShape(def, &shape, NULL), rg_ok);
    shape.source = (rgSource){"second.xml", 5};
    assert_int_equal(rgModelDef_AddShape(def, &shape, NULL), rg_ok);
    rgDiagnostics* said = rgListen();
    rgModel* model = NULL;
    assert_int_equal(rgCompileModel(def, NULL, said, &model), rg_errorArgument);
    assert_true(rgSays(said, "second.xml", 5, "the name is already used in first.xml:3"));
    rgDestroyDiagnostics(said);
    rgDestroyModelDef(def);
}

static void test_edit_by_name(void** state) {
    (void)state;
    rgModelDef* def = rgLoadOrFail("arm");
    rgJointId id = rgModelDef_FindJoint(def, rgModelDef_Joint(def, (rgJointId){2})->name);
    assert_int_equal(id.index1, 2);
    rgJointDef joint = *rgModelDef_Joint(def, id);
    joint.damping = 7;
    assert_int_equal(rgModelDef_SetJoint(def, id, &joint), rg_ok);
    rgModel* model = rgCompileOrFail(def);
    EXPECT_NEAR(rgModel_Joint(model, id)->damping, 7, 0);
    rgDestroyModel(model);
    // A name that is not there leads to the null id, and the definition remembers.
    id = rgModelDef_FindJoint(def, "no such joint");
    assert_int_equal(id.index1, 0);
    assert_null(rgModelDef_Joint(def, id));
    assert_int_equal(rgModelDef_SetJoint(def, id, &joint), rg_errorArgument);
    rgDiagnostics* said = rgListen();
    assert_int_equal(rgCompileModel(def, NULL, said, &model), rg_errorArgument);
    assert_true(rgSays(said, NULL, 0, "joint was not changed: the id is null"));
    rgDestroyDiagnostics(said);
    rgDestroyModelDef(def);
    // A body cannot hang on one that comes after it.
    def = rgLoadOrFail("arm");
    rgBodyDef body = *rgModelDef_Body(def, (rgBodyId){1});
    body.parent.index1 = 2;
    assert_int_equal(rgModelDef_SetBody(def, (rgBodyId){1}, &body), rg_errorArgument);
    assert_int_equal(rgModelDef_RemoveShape(def, (rgShapeId){0}, NULL), rg_errorArgument);
    rgDestroyModelDef(def);
}

// Servos for every joint, without compiling in between; a key still fits.
static void test_add_servos(void** state) {
    (void)state;
    rgModelDef* def = rgLoadOrFail("arm.urdf");
    int joints = rgModelDef_Info(def).jointCount;
    assert_int_equal(rgModelDef_Info(def).actuatorCount, 0);
    rgModel* alone = rgCompileOrFail(def);
    int count = rgModel_Info(alone).qCount;
    double q[64] = {0};
    q[5] = 0.6;
    rgDestroyModel(alone);
    rgKeyDef key = rgDefaultKeyDef();
    key.name = "here";
    key.q = q;
    key.qCount = count;
    assert_int_equal(rgModelDef_AddKey(def, &key, NULL), rg_ok);
    assert_int_equal(rgModelDef_AddServos(def, 100, 10), rg_ok);
    int servos = rgModelDef_Info(def).actuatorCount;
    assert_true(servos >= 6 && servos <= joints);
    assert_int_equal(rgModelDef_AddServos(def, 100, 10), rg_ok); // each joint has one now
    assert_int_equal(rgModelDef_Info(def).actuatorCount, servos);
    // A box on top of it: the key speaks of the arm alone.
    rgBodyDef box = rgDefaultBodyDef();
    box.pose.p = rgVec(1, 2, 3);
    box.inertia = rgInertiaFromShape(rg_shapeSphere, rgVec(1, 0, 0), 1);
    rgJointDef free = rgDefaultJointDef();
    free.kind = rg_jointFree;
    assert_int_equal(rgModelDef_AddBody(def, &box, &free.body), rg_ok);
    assert_int_equal(rgModelDef_AddJoint(def, &free, NULL), rg_ok);
    rgModel* model = rgCompileOrFail(def);
    const rgKeyDef* found = rgModel_Key(model, rgModel_FindKey(model, "here"));
    assert_int_equal(found->qCount, count + 7);
    assert_int_equal(found->controlCount, servos);
    EXPECT_NEAR(found->q[5], 0.6, 0);
    EXPECT_NEAR(found->q[count + 2], 3, 0); // neutral: where the body's definition says
    rgDestroyModel(model);
    rgDestroyModelDef(def);
}

// Whatever is removed, what stays compiles, or says what it lacks, and no id dangles.
static void test_remove_at_random(void** state) {
    (void)state;
    rgRandom random = {11};
    for (int trial = 0; trial < rgFewer(200); ++trial) {
        rgModelDef* def = rgLoadOrFail(robots[rgRandom_Index(&random, 6)]);
        for (int k = 0; k < 4; ++k) {
            rgPartKind kind = (rgPartKind)rgRandom_Index(&random, rg_partKindCount);
            int count = *rgModelDef_Parts(def, kind).count;
            if (count == 0) {
                continue;
            }
            int id = 1 + rgRandom_Index(&random, count);
            rgDiagnostics* said = rgListen();
            int before = 0, after = 0;
            for (int i = 0; i < rg_partKindCount; ++i) {
                before += *rgModelDef_Parts(def, (rgPartKind)i).count;
            }
            assert_int_equal(rgModelDef_RemoveParts(def, kind, &id, 1, said), rg_ok);
            for (int i = 0; i < rg_partKindCount; ++i) {
                after += *rgModelDef_Parts(def, (rgPartKind)i).count;
            }
            assert_int_equal(before - after, 1 + rgDiagnostics_Count(said)); // each is told
            rgDestroyDiagnostics(said);
        }
        rgModel* model = NULL;
        rgDiagnostics* said = rgListen();
        if (rgCompileModel(def, NULL, said, &model) == rg_ok) {
            rgModelDef* copy = rgEmpty();
            rgAttachDef how = rgDefaultAttachDef();
            rgAttach(copy, def, &how);
            char *a = rgAsMjcf(def), *b = rgAsMjcf(copy);
            assert_string_equal(a, b);
            free(a);
            free(b);
            rgDestroyModelDef(copy);
        } else {
            assert_true(rgSays(said, NULL, 0, "without inertia")); // all that carried it is gone
        }
        rgDestroyDiagnostics(said);
        rgDestroyModel(model);
        rgDestroyModelDef(def);
    }
}

// The mass matrix of the last key is the same.
static void rgExpectSameMass(const rgModel* a, const rgModel* b) {
    const rgModel* const models[2] = {a, b};
    int n = rgModel_Info(a).vCount;
    double* M[2];
    assert_int_equal(rgModel_Info(b).vCount, n);
    for (int i = 0; i < 2; ++i) {
        rgDynamicsDef settings = rgDefaultDynamicsDef(models[i]);
        rgDynamics* dynamics = NULL;
        rgKeyId last = {rgModel_Info(models[i]).keyCount};
        M[i] = calloc((size_t)n * (size_t)n, sizeof(double));
        assert_int_equal(rgCreateDynamics(models[i], &settings, &dynamics), rg_ok);
        rgDynamics_SetPositions(dynamics, rgModel_Key(models[i], last)->q);
        rgDynamics_MassMatrix(dynamics, M[i]);
        rgDestroyDynamics(dynamics);
    }
    rgExpectRelative("M", M[1], M[0], n * n, 1e-12);
    free(M[0]);
    free(M[1]);
}

// A composed definition is written and read back as the same robot, keys included.
static void test_composed_files_round_trip(void** state) {
    (void)state;
    rgModelDef *def = rgLoadOrFail("arm_wall"), *dog = rgLoadOrFail("quadruped");
    rgModelDef* hand = rgLoadOrFail("hand");
    rgAttachDef how = rgDefaultAttachDef();
    how.prefix = "dog/";
    how.pose = (rgPose){rgVec(0, 3, 0), rgQuatFromAxisAngle(rgVec(0, 0, 1), 1)};
    rgAttach(def, dog, &how);
    how.prefix = "hand/";
    how.kind = rg_attachFixed;
    how.parent = rgModelDef_FindBody(def, "wrist_3");
    how.withoutWorld = true;
    rgAttach(def, hand, &how);
    char* text = rgAsMjcf(def);
    rgModelDef* again = rgParse(text, "again.xml");
    rgModel *a = rgCompileOrFail(def), *b = rgCompileOrFail(again);
    rgExpectSameMass(a, b);
    char* third = rgAsMjcf(again);
    assert_string_equal(text, third);
    free(third);
    assert_int_equal(rgModel_Info(a).keyCount, rgModel_Info(b).keyCount);
    assert_true(rgModel_Info(a).keyCount > 1);
    for (int i = 1; i <= rgModel_Info(a).keyCount; ++i) {
        const rgKeyDef *x = rgModel_Key(a, (rgKeyId){i}), *y = rgModel_Key(b, (rgKeyId){i});
        assert_string_equal(x->name, y->name);
        rgExpectRelative("q", y->q, x->q, x->qCount, 1e-14);
        rgExpectRelative("v", y->v, x->v, x->vCount, 1e-14);
        rgExpectRelative("control", y->control, x->control, x->controlCount, 0);
    }
    free(text);
    rgDestroyModel(a);
    rgDestroyModel(b);
    rgDestroyModelDef(def);
    rgDestroyModelDef(dog);
    rgDestroyModelDef(hand);
    rgDestroyModelDef(again);
}

static void rgWriteText(const char* path, const char* text) {
    FILE* out = fopen(path, "w");
    assert_non_null(out);
    fputs(text, out);
    fclose(out);
}

static const char cubeObj[] = "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nv 0 0 1\nv 1 0 1\nv 1 1 1\n"
                              "v 0 1 1\nf 4 3 2 1\nf 5 6 7 8\nf 1 2 6 5\nf 2 3 7 6\nf 3 4 8 7\n"
                              "f 4 1 5 8\n";

static void test_mesh_file_alone(void** state) {
    (void)state;
    char path[64];
    snprintf(path, sizeof(path), "./crate_%d.obj", (int)getpid());
    rgWriteText(path, cubeObj);
    rgLoadDef load = rgDefaultLoadDef();
    load.density = 500;
    load.meshScale = 0.2;
    rgModel* model = NULL;
    rgDiagnostics* said = rgListen();
    assert_int_equal(rgLoadModel(path, &load, said, &model), rg_ok);
    assert_int_equal(rgDiagnostics_Count(said), 0);
    EXPECT_NEAR(rgModel_Info(model).mass, 500 * 0.2 * 0.2 * 0.2, 1e-12);
    assert_int_equal(rgModel_Info(model).qCount, 7);
    const rgBodyDef* body = rgModel_Body(model, (rgBodyId){1});
    EXPECT_NEAR(body->inertia.center.z, 0.1, 1e-12);
    EXPECT_NEAR(body->inertia.moment.xx, 4 * 0.04 / 6, 1e-12); // m a^2 / 6
    char name[64];
    snprintf(name, sizeof(name), "crate_%d", (int)getpid());
    assert_string_equal(body->name, name);
    assert_int_equal(rgModel_Shape(model, (rgShapeId){1})->kind, rg_shapeHull);
    rgDestroyModel(model);

    load.base = rg_baseFixed;
    assert_int_equal(rgLoadModel(path, &load, said, &model), rg_ok);
    assert_int_equal(rgModel_Info(model).qCount, 0);
    rgDestroyModel(model);
    load.meshScale = 50;
    assert_int_equal(rgLoadModel(path, &load, said, &model), rg_ok);
    assert_true(rgSays(said, path, 0, "the mesh is 50 m large"));
    rgDestroyModel(model);
    load.density = NAN;
    assert_int_equal(rgLoadModel(path, &load, said, &model), rg_errorArgument);

    rgDiagnostics_Clear(said);
    rgWriteText(path, "v 0 0 0\nv 1 0 0\nv 1 1 0\nf 1 2 3\n");
    assert_int_equal(rgLoadModel(path, NULL, said, &model), rg_errorFormat);
    assert_true(rgSays(said, path, 0, "the mesh is flat"));
    rgDestroyDiagnostics(said);
    remove(path);
}

// Lack of memory at any point leaves a definition that refuses to compile or is complete.
static void test_lack_of_memory(void** state) {
    (void)state;
    rgModelDef* dog = rgLoadOrFail("quadruped");
    bool done = false;
    for (int fail = 0; !done; fail += 7) {
        rgCounter counter = {.failAfter = -1};
        rgAllocator allocator = rgCountingAllocator(&counter);
        rgModelDef* def = NULL;
        assert_int_equal(rgCreateModelDef(&allocator, &def), rg_ok);
        rgAttachDef how = rgDefaultAttachDef();
        how.kind = rg_attachFixed;
        counter.failAfter = counter.allocations + fail;
        rgResult result = rgModelDef_Attach(def, dog, &how, NULL, NULL);
        counter.failAfter = -1;
        rgModel* model = NULL;
        done = result == rg_ok;
        assert_int_equal(rgCompileModel(def, NULL, NULL, &model), done ? rg_ok : rg_errorMemory);
        rgDestroyModel(model);
        rgDestroyModelDef(def);
        assert_int_equal(counter.live, 0);
    }
    rgDestroyModelDef(dog);
}

static void test_nearest_names(void** state) {
    (void)state;
    const char* const names[] = {"left_hip", "right_hip", NULL, "knee", "", "ankle", "a"};
    const struct {
        const char* typed;
        int meant;
    } cases[] = {{"left_hpi", 0}, {"rigth_hip", 1}, {"kne", 3}, {"Knee", 3},
                 {"hip", 0},      {"elbow", -1},    {"zz", -1}, {"", -1}};
    for (int i = 0; i < (int)(sizeof(cases) / sizeof(cases[0])); ++i) {
        assert_int_equal(rgNearestName(cases[i].typed, names, 7), cases[i].meant);
    }
    assert_int_equal(rgNearestName("x", NULL, 0), -1);
    assert_int_equal(rgNearestName(NULL, names, 7), -1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_attach_to_nothing),
        cmocka_unit_test(test_attach_then_remove),
        cmocka_unit_test(test_instances_move_as_one_alone),
        cmocka_unit_test(test_attach_to_a_body),
        cmocka_unit_test(test_free_roots),
        cmocka_unit_test(test_free_things),
        cmocka_unit_test(test_clashes_tell_both_places),
        cmocka_unit_test(test_compile_tells_both_files),
        cmocka_unit_test(test_edit_by_name),
        cmocka_unit_test(test_add_servos),
        cmocka_unit_test(test_remove_at_random),
        cmocka_unit_test(test_composed_files_round_trip),
        cmocka_unit_test(test_mesh_file_alone),
        cmocka_unit_test(test_lack_of_memory),
        cmocka_unit_test(test_implied_time_step),
        cmocka_unit_test(test_nearest_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
