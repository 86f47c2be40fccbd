// Recordings: what is written comes back, whole, cut short or damaged.
#include "rigor/rigor.h"
#include "support.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    rg_frames = 700, // more than two batches
    rg_moves = 40    // of kinematic bodies
};

typedef struct rgFixture {
    char path[40];
    rgDiagnostics* said;
    rgModelDef* def;
    rgModel* model;
    rgWorld* world;
    const rgSceneInfo* scene;
} rgFixture;

static int rgSetUp(void** state) {
    rgFixture* f = calloc(1, sizeof(rgFixture));
    strcpy(f->path, "/tmp/rigor-record-XXXXXX");
    int file = mkstemp(f->path);
    assert_true(file >= 0);
    close(file);
    rgWorldDef world = rgDefaultWorldDef();
    world.judgeInterval = 1; // else residuals depend on how many solves there were before
    f->scene = rgFindScene("quadruped");
    assert_int_equal(rgCreateDiagnostics(NULL, &f->said), rg_ok);
    assert_int_equal(rgBuildScene(f->scene, NULL, f->said, &f->def), rg_ok);
    assert_int_equal(rgCompileModel(f->def, NULL, f->said, &f->model), rg_ok);
    assert_int_equal(rgCreateWorld(f->model, &world, f->said, &f->world), rg_ok);
    assert_int_equal(rgScene_Start(f->scene, f->world), rg_ok);
    *state = f;
    return 0;
}

static int rgTearDown(void** state) {
    rgFixture* f = *state;
    unlink(f->path);
    rgDestroyWorld(f->world);
    rgDestroyModel(f->model);
    rgDestroyModelDef(f->def);
    rgDestroyDiagnostics(f->said);
    free(f);
    return 0;
}

static rgRecorder* rgOpenRecorder(rgFixture* f, int interval) {
    rgRecorderDef def = rgDefaultRecorderDef();
    rgRecorder* recorder = NULL;
    def.path = f->path;
    def.def = f->def;
    def.title = "a <title>";
    def.arguments = "simulate\nquadruped\n";
    def.interval = interval;
    assert_int_equal(rgCreateRecorder(&def, f->world, f->said, &recorder), rg_ok);
    assert_int_equal(rgRecorder_Add(recorder, f->world, NULL), rg_ok);
    return recorder;
}

static void rgStepAndAdd(rgFixture* f, rgRecorder* recorder, rgStepReport* report) {
    assert_int_equal(rgScene_Act(f->scene, f->world), rg_ok);
    assert_int_equal(rgWorld_Step(f->world, report), rg_ok);
    assert_int_equal(rgRecorder_Add(recorder, f->world, report), rg_ok);
}

// The same run once more, compared with what the file says.
static void rgExpectRun(rgFixture* f, rgRecording* recording, int frames, int interval) {
    rgRecordingInfo info = rgRecording_Info(recording);
    rgModelInfo model = rgModel_Info(f->model);
    rgRecordedFrame frame;
    assert_int_equal(info.frameCount, frames);
    assert_int_equal(info.qCount, model.qCount);
    assert_int_equal(info.vCount, model.vCount);
    rgWorld_Reset(f->world, (rgKeyId){0});
    rgWorld_SetTime(f->world, 0);
    assert_int_equal(rgScene_Start(f->scene, f->world), rg_ok);
    int64_t contacts = 0;
    for (int i = 0; i < frames; ++i) {
        rgStepReport report = {0};
        for (int k = 0; i > 0 && k < interval; ++k) {
            assert_int_equal(rgScene_Act(f->scene, f->world), rg_ok);
            assert_int_equal(rgWorld_Step(f->world, &report), rg_ok);
        }
        assert_int_equal(rgRecording_Frame(recording, i, &frame), rg_ok);
        size_t qBytes = (size_t)model.qCount * sizeof(double);
        size_t vBytes = (size_t)model.vCount * sizeof(double);
        assert_memory_equal(frame.q, rgWorld_Positions(f->world, NULL), qBytes);
        assert_memory_equal(frame.v, rgWorld_Velocities(f->world, NULL), vBytes);
        assert_true(frame.time == rgWorld_Time(f->world));
        EXPECT_NEAR(frame.kineticEnergy, rgWorld_KineticEnergy(f->world),
                    1e-12 * (1 + frame.kineticEnergy));
        EXPECT_NEAR(frame.potentialEnergy, rgWorld_PotentialEnergy(f->world), 1e-10);
        assert_true(frame.residual == report.contact.residual.total);
        assert_int_equal(frame.iterationCount, report.contact.iterationCount);
        int count = 0;
        const rgContact* expected = i > 0 ? rgWorld_Contacts(f->world, &count) : NULL;
        assert_int_equal(frame.contactCount, count);
        contacts += count;
        for (int k = 0; k < count; ++k) {
            const rgRecordedContact* c = &frame.contacts[k];
            assert_int_equal(c->bodyA.index1, expected[k].bodyA.index1);
            assert_int_equal(c->shapeB.index1, expected[k].shapeB.index1);
            assert_int_equal(c->feature, expected[k].feature);
            assert_int_equal(c->state, expected[k].state);
            assert_true((float)c->force.z == (float)expected[k].force.z);
            assert_true((float)c->gap == (float)expected[k].gap);
            assert_true((float)c->point.x == (float)expected[k].point.x);
        }
    }
    assert_int_equal(info.contactCount, contacts);
    assert_true(contacts > 0);
}

static void test_round_trip(void** state) {
    rgFixture* f = *state;
    rgRecording* recording = NULL;
    rgStepReport report;
    rgRecorder* recorder = rgOpenRecorder(f, 1);
    for (int i = 1; i < rg_frames; ++i) {
        rgStepAndAdd(f, recorder, &report);
    }
    assert_int_equal(rgRecorder_Finish(recorder), rg_ok);
    assert_int_equal(rgRecorder_Add(recorder, f->world, NULL), rg_errorArgument);
    rgDestroyRecorder(recorder);
    assert_int_equal(rgLoadRecording(f->path, NULL, f->said, &recording), rg_ok);
    rgRecordingInfo info = rgRecording_Info(recording);
    assert_true(info.isComplete);
    assert_string_equal(info.title, "a <title>");
    assert_string_equal(info.arguments, "simulate\nquadruped\n");
    assert_non_null(strstr(info.scene, "\"joints\":["));
    rgExpectRun(f, recording, rg_frames, 1);
    // backwards, and out of range
    rgRecordedFrame frame;
    assert_int_equal(rgRecording_Frame(recording, 3, &frame), rg_ok);
    EXPECT_NEAR(frame.time, 3 * info.timeStep, 1e-12);
    assert_int_equal(rgRecording_Frame(recording, rg_frames, &frame), rg_errorArgument);
    assert_int_equal(rgRecording_Frame(recording, -1, &frame), rg_errorArgument);
    rgDestroyRecording(recording);
}

// The model plays without the original files.
static void test_model_inside(void** state) {
    rgFixture* f = *state;
    rgRecording* recording = NULL;
    rgDestroyRecorder(rgOpenRecorder(f, 1));
    assert_int_equal(rgLoadRecording(f->path, NULL, f->said, &recording), rg_ok);
    rgRecordingInfo info = rgRecording_Info(recording);
    rgModelDef* def = NULL;
    rgModel* model = NULL;
    assert_int_equal(rgParseModelDef(info.mjcf, strlen(info.mjcf), "model", NULL, f->said, &def),
                     rg_ok);
    assert_int_equal(rgCompileModel(def, NULL, f->said, &model), rg_ok);
    assert_int_equal(rgModel_Info(model).qCount, info.qCount);
    EXPECT_NEAR(rgModel_Info(model).mass, rgModel_Info(f->model).mass, 1e-12);
    rgDestroyModel(model);
    rgDestroyModelDef(def);
    rgDestroyRecording(recording);
}

static void test_interval(void** state) {
    rgFixture* f = *state;
    rgRecording* recording = NULL;
    rgStepReport report;
    rgRecorder* recorder = rgOpenRecorder(f, 7);
    for (int i = 0; i < 70; ++i) {
        rgStepAndAdd(f, recorder, &report);
    }
    rgDestroyRecorder(recorder);
    assert_int_equal(rgLoadRecording(f->path, NULL, f->said, &recording), rg_ok);
    rgExpectRun(f, recording, 11, 7);
    rgDestroyRecording(recording);
}

// A file that is still written can be read up to the last flush, and the writer goes on.
static void test_read_while_writing(void** state) {
    rgFixture* f = *state;
    rgRecording* recording = NULL;
    rgStepReport report;
    rgRecorder* recorder = rgOpenRecorder(f, 1);
    for (int i = 1; i < 100; ++i) {
        rgStepAndAdd(f, recorder, &report);
    }
    assert_int_equal(rgRecorder_Flush(recorder), rg_ok);
    char copy[160];
    snprintf(copy, sizeof(copy), "cp %s %s.copy", f->path, f->path);
    assert_int_equal(system(copy), 0); // what a crash would leave
    for (int i = 0; i < 20; ++i) {
        rgStepAndAdd(f, recorder, &report);
    }
    rgDestroyRecorder(recorder);
    snprintf(copy, sizeof(copy), "%s.copy", f->path);
    assert_int_equal(rgLoadRecording(copy, NULL, f->said, &recording), rg_ok);
    unlink(copy);
    assert_false(rgRecording_Info(recording).isComplete);
    rgExpectRun(f, recording, 100, 1);
    rgDestroyRecording(recording);
    assert_int_equal(rgLoadRecording(f->path, NULL, f->said, &recording), rg_ok);
    assert_true(rgRecording_Info(recording).isComplete);
    assert_int_equal(rgRecording_Info(recording).frameCount, 120);
    rgDestroyRecording(recording);
}

static void test_refusals(void** state) {
    rgFixture* f = *state;
    rgRecorder* recorder = NULL;
    rgRecording* recording = NULL;
    rgRecorderDef def = rgDefaultRecorderDef();
    assert_int_equal(rgCreateRecorder(&def, f->world, f->said, &recorder), rg_errorArgument);
    def.path = "/nowhere/at/all.h5";
    assert_int_equal(rgCreateRecorder(&def, f->world, f->said, &recorder), rg_errorFile);
    def.path = f->path;
    def.interval = 0;
    assert_int_equal(rgCreateRecorder(&def, f->world, f->said, &recorder), rg_errorArgument);
    assert_int_equal(rgLoadRecording("/nowhere/at/all.h5", NULL, f->said, &recording),
                     rg_errorFile);
    FILE* file = fopen(f->path, "w");
    fputs("time,q\n", file);
    fclose(file);
    rgDiagnostics_Clear(f->said);
    assert_int_equal(rgLoadRecording(f->path, NULL, f->said, &recording), rg_errorFormat);
    assert_non_null(strstr(rgDiagnostics_Message(f->said, 0).text, "not an HDF5 file"));
    assert_null(recording);
}

// A world of another size is refused, and the recorder goes on.
// The file of a recorder is its own until it has finished.
static void test_two_recorders(void** state) {
    rgFixture* f = *state;
    rgStepReport report;
    rgRecorder* first = rgOpenRecorder(f, 1);
    rgRecorder* second = NULL;
    rgRecorderDef def = rgDefaultRecorderDef();
    def.path = f->path;
    rgStepAndAdd(f, first, &report);
    assert_int_equal(rgRecorder_Flush(first), rg_ok);
    assert_int_equal(rgCreateRecorder(&def, f->world, f->said, &second), rg_errorFile);
    assert_null(second);
    assert_non_null(strstr(rgDiagnostics_Message(f->said, 0).text, "by another program"));
    rgStepAndAdd(f, first, &report);
    assert_int_equal(rgRecorder_Finish(first), rg_ok);
    rgRecording* recording = NULL;
    assert_int_equal(rgLoadRecording(f->path, NULL, f->said, &recording), rg_ok);
    assert_int_equal(rgRecording_Info(recording).frameCount, 3);
    rgDestroyRecording(recording);
    assert_int_equal(rgCreateRecorder(&def, f->world, f->said, &second), rg_ok); // still there
    rgDestroyRecorder(second);
    rgDestroyRecorder(first);
}

// A child of fork() has no writer: it is told so, and the parent's file stays the parent's.
static void test_fork(void** state) {
    rgFixture* f = *state;
    rgStepReport report;
    rgRecorder* recorder = rgOpenRecorder(f, 1);
    rgStepAndAdd(f, recorder, &report);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        alarm(60); // a hang ends by a signal
        bool refused = rgRecorder_Add(recorder, f->world, &report) == rg_errorArgument &&
                       rgRecorder_Flush(recorder) == rg_errorArgument &&
                       rgRecorder_Finish(recorder) == rg_errorArgument;
        rgDestroyRecorder(recorder);
        _exit(refused ? 0 : 1);
    }
    int status = -1;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    rgStepAndAdd(f, recorder, &report);
    assert_int_equal(rgRecorder_Finish(recorder), rg_ok);
    rgDestroyRecorder(recorder);
    rgRecording* recording = NULL;
    assert_int_equal(rgLoadRecording(f->path, NULL, f->said, &recording), rg_ok);
    assert_int_equal(rgRecording_Info(recording).frameCount, 3);
    rgDestroyRecording(recording);
}

static void test_other_world(void** state) {
    rgFixture* f = *state;
    rgRecorder* recorder = rgOpenRecorder(f, 1);
    rgModelDef* def = NULL;
    rgModel* model = NULL;
    rgWorld* world = NULL;
    rgWorldDef settings = rgDefaultWorldDef();
    assert_int_equal(rgLoadModelDef("arm", NULL, f->said, &def), rg_ok);
    assert_int_equal(rgCompileModel(def, NULL, f->said, &model), rg_ok);
    assert_int_equal(rgCreateWorld(model, &settings, f->said, &world), rg_ok);
    assert_int_equal(rgRecorder_Add(recorder, world, NULL), rg_errorArgument);
    assert_int_equal(rgRecorder_Add(recorder, f->world, NULL), rg_ok);
    rgDestroyRecorder(recorder);
    rgDestroyWorld(world);
    rgDestroyModel(model);
    rgDestroyModelDef(def);
}

// ---- kinematic bodies ----

typedef struct rgTheatre {
    rgModelDef* def;
    rgModel* model;
    rgWorld* world;
    rgBodyId lift, shelf, ball, hand; // the shelf is fixed to the lift
} rgTheatre;

static rgBodyId rgAddPart(rgModelDef* def, rgVec3 position, rgBodyId parent, bool kinematic) {
    rgBodyDef body = rgDefaultBodyDef();
    rgBodyId id;
    body.kinematic = kinematic;
    body.parent = parent;
    body.pose.p = position;
    body.inertia = rgInertiaFromShape(rg_shapeSphere, rgVec(0.1, 0, 0), 1000);
    assert_int_equal(rgModelDef_AddBody(def, &body, &id), rg_ok);
    return id;
}

static void rgBuildTheatre(rgFixture* f, rgTheatre* s) {
    rgJointDef joint = rgDefaultJointDef();
    joint.kind = rg_jointFree;
    assert_int_equal(rgCreateModelDef(NULL, &s->def), rg_ok);
    s->lift = rgAddPart(s->def, rgVec(1, 0, 0), (rgBodyId){0}, true);
    s->shelf = rgAddPart(s->def, rgVec(0, 0, 0.5), s->lift, false);
    s->ball = joint.body = rgAddPart(s->def, rgVec(0, 0, 3), (rgBodyId){0}, false);
    s->hand = rgAddPart(s->def, rgVec(0, 2, 0), (rgBodyId){0}, true);
    assert_int_equal(rgModelDef_AddJoint(s->def, &joint, NULL), rg_ok);
    assert_int_equal(rgCompileModel(s->def, NULL, f->said, &s->model), rg_ok);
    assert_int_equal(rgCreateWorld(s->model, NULL, f->said, &s->world), rg_ok);
}

static void rgDestroyTheatre(rgTheatre* s) {
    rgDestroyWorld(s->world);
    rgDestroyModel(s->model);
    rgDestroyModelDef(s->def);
}

static void test_kinematic(void** state) {
    rgFixture* f = *state;
    rgRecorderDef def = rgDefaultRecorderDef();
    rgRecorder* recorder = NULL;
    rgRecording* recording = NULL;
    rgTheatre stage;
    rgRecordedFrame frame;
    rgStepReport report;
    rgPose expected[rg_moves][2];
    rgBuildTheatre(f, &stage);
    def.path = f->path;
    assert_int_equal(rgCreateRecorder(&def, stage.world, f->said, &recorder), rg_ok);
    for (int i = 0; i < rg_moves; ++i) {
        rgVec3 turn = rgVec(0, 0, 0.05 * i);
        rgPose lift = {rgVec(1, 0.1 * i, 0), rgQuatFromRotationVector(turn)};
        rgPose hand = {rgVec(0, 2, 0.3 * i), rgQuatIdentity()};
        assert_int_equal(rgWorld_MoveBody(stage.world, stage.lift, lift), rg_ok);
        assert_int_equal(rgWorld_Step(stage.world, &report), rg_ok);
        if (i % 3 == 0) { // elsewhere at once, after the step
            assert_int_equal(rgWorld_SetBodyPose(stage.world, stage.hand, hand), rg_ok);
        }
        assert_int_equal(rgRecorder_Add(recorder, stage.world, &report), rg_ok);
        expected[i][0] = rgWorld_BodyPose(stage.world, stage.lift);
        expected[i][1] = rgWorld_BodyPose(stage.world, stage.hand);
        EXPECT_NEAR(expected[i][0].p.y, 0.1 * i, 1e-12);
    }
    // a world with as many coordinates, but no such bodies
    rgModelDef* other = NULL;
    rgModel* model = NULL;
    rgWorld* world = NULL;
    rgJointDef joint = rgDefaultJointDef();
    joint.kind = rg_jointFree;
    assert_int_equal(rgCreateModelDef(NULL, &other), rg_ok);
    joint.body = rgAddPart(other, rgVec(0, 0, 3), (rgBodyId){0}, false);
    assert_int_equal(rgModelDef_AddJoint(other, &joint, NULL), rg_ok);
    assert_int_equal(rgCompileModel(other, NULL, f->said, &model), rg_ok);
    assert_int_equal(rgCreateWorld(model, NULL, f->said, &world), rg_ok);
    assert_int_equal(rgRecorder_Add(recorder, world, NULL), rg_errorArgument);
    rgDestroyTheatre(&(rgTheatre){.def = other, .model = model, .world = world});
    rgDestroyRecorder(recorder);
    assert_int_equal(rgLoadRecording(f->path, NULL, f->said, &recording), rg_ok);
    rgRecordingInfo info = rgRecording_Info(recording);
    assert_int_equal(info.kinematicCount, 2);
    assert_int_equal(info.frameCount, rg_moves);
    for (int i = 0; i < rg_moves; ++i) {
        assert_int_equal(rgRecording_Frame(recording, i, &frame), rg_ok);
        assert_memory_equal(frame.kinematic, expected[i], sizeof(expected[i]));
    }
    rgDestroyRecording(recording);
    rgDestroyTheatre(&stage);
}

// Energies are of the bodies as they are, not as the model had them at the start.
static void test_changed_mass(void** state) {
    rgFixture* f = *state;
    rgRecorderDef def = rgDefaultRecorderDef();
    rgRecorder* recorder = NULL;
    rgRecording* recording = NULL;
    rgTheatre theatre;
    rgRecordedFrame frame;
    rgStepReport report;
    double kinetic[rg_moves], potential[rg_moves];
    rgBuildTheatre(f, &theatre);
    def.path = f->path;
    assert_int_equal(rgCreateRecorder(&def, theatre.world, f->said, &recorder), rg_ok);
    for (int i = 0; i < rg_moves; ++i) {
        if (i == rg_moves / 2) {
            rgBodyDef ball = *rgModel_Body(rgWorld_Model(theatre.world), theatre.ball);
            ball.inertia = rgInertiaFromShape(rg_shapeSphere, rgVec(0.1, 0, 0), 4000);
            double before = rgWorld_KineticEnergy(theatre.world);
            assert_int_equal(rgWorld_ChangeBody(theatre.world, theatre.ball, &ball, f->said),
                             rg_ok);
            EXPECT_NEAR(rgWorld_KineticEnergy(theatre.world), 4 * before, 1e-9 * before);
        }
        assert_int_equal(rgWorld_Step(theatre.world, &report), rg_ok);
        assert_int_equal(rgRecorder_Add(recorder, theatre.world, &report), rg_ok);
        kinetic[i] = rgWorld_KineticEnergy(theatre.world);
        potential[i] = rgWorld_PotentialEnergy(theatre.world);
    }
    rgDestroyRecorder(recorder);
    assert_int_equal(rgLoadRecording(f->path, NULL, f->said, &recording), rg_ok);
    for (int i = 0; i < rg_moves; ++i) {
        assert_int_equal(rgRecording_Frame(recording, i, &frame), rg_ok);
        EXPECT_NEAR(frame.kineticEnergy, kinetic[i], 1e-12 * (1 + kinetic[i]));
        EXPECT_NEAR(frame.potentialEnergy, potential[i], 1e-12 * (1 + fabs(potential[i])));
    }
    rgDestroyRecording(recording);
    rgDestroyTheatre(&theatre);
}

// The scene says where the values of each sensor are.
static void test_sensor_places(void** state) {
    rgFixture* f = *state;
    char* scene = NULL;
    int end = 0;
    int count = rgModel_Info(f->model).sensorCount;
    assert_true(count > 1);
    assert_int_equal(rgDescribeModel(f->model, NULL, &scene), rg_ok);
    rgWorld_Sensors(f->world, &end);
    const char* at = strstr(scene, "\"sensors\":[");
    for (int i = 1; i <= count; ++i) {
        char expected[160];
        int start = rgWorld_SensorStart(f->world, (rgSensorId){i});
        int next = i < count ? rgWorld_SensorStart(f->world, (rgSensorId){i + 1}) : end;
        snprintf(expected, sizeof(expected), "{\"name\":\"%s\",\"start\":%d,\"size\":%d}",
                 rgModel_Sensor(f->model, (rgSensorId){i})->name, start, next - start);
        at = strstr(at, expected);
        assert_non_null(at);
    }
    free(scene);
}

// Without kinematic bodies the dataset is not there, as in files of older programs.
static void test_no_kinematic(void** state) {
    rgFixture* f = *state;
    rgRecording* recording = NULL;
    rgRecordedFrame frame;
    rgDestroyRecorder(rgOpenRecorder(f, 1));
    assert_int_equal(rgLoadRecording(f->path, NULL, f->said, &recording), rg_ok);
    assert_int_equal(rgRecording_Info(recording).kinematicCount, 0);
    assert_int_equal(rgRecording_Frame(recording, 0, &frame), rg_ok);
    assert_null(frame.kinematic);
    assert_int_equal(rgRecording_Info(recording).activationCount, 0);
    assert_null(frame.activation);
    rgDestroyRecording(recording);
}

// Activations are kept, to the bit, for models that have them.
static void test_activations(void** state) {
    rgFixture* f = *state;
    static const char text[] =
        "<mujoco><worldbody><body><joint name='x' type='slide'/><geom size='.1'/></body>"
        "</worldbody><actuator><motor joint='x'/><general joint='x' dyntype='filter' "
        "dynprm='0.05'/></actuator></mujoco>";
    const double control[2] = {0.5, 1};
    double kept[5][2];
    rgModelDef* def = NULL;
    rgModel* model = NULL;
    rgWorld* world = NULL;
    rgRecorder* recorder = NULL;
    rgRecording* recording = NULL;
    rgRecordedFrame frame;
    assert_int_equal(rgParseMjcf(text, strlen(text), NULL, NULL, f->said, &def), rg_ok);
    assert_int_equal(rgCompileModel(def, NULL, f->said, &model), rg_ok);
    assert_int_equal(rgCreateWorld(model, NULL, f->said, &world), rg_ok);
    assert_int_equal(rgWorld_SetControl(world, control), rg_ok);
    rgRecorderDef how = rgDefaultRecorderDef();
    how.path = f->path;
    how.def = def;
    assert_int_equal(rgCreateRecorder(&how, world, f->said, &recorder), rg_ok);
    for (int i = 0; i < 5; ++i) {
        assert_int_equal(rgWorld_Step(world, NULL), rg_ok);
        assert_int_equal(rgRecorder_Add(recorder, world, NULL), rg_ok);
        memcpy(kept[i], rgWorld_Activation(world, NULL), sizeof(kept[i]));
    }
    rgDestroyRecorder(recorder);
    assert_int_equal(rgLoadRecording(f->path, NULL, f->said, &recording), rg_ok);
    assert_int_equal(rgRecording_Info(recording).activationCount, 2);
    for (int i = 0; i < 5; ++i) {
        assert_int_equal(rgRecording_Frame(recording, i, &frame), rg_ok);
        assert_memory_equal(frame.activation, kept[i], sizeof(kept[i]));
        assert_true(frame.activation[1] > 0.015 * (i + 1));
    }
    rgDestroyRecording(recording);
    rgDestroyWorld(world);
    rgDestroyModel(model);
    rgDestroyModelDef(def);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_round_trip, rgSetUp, rgTearDown),
        cmocka_unit_test_setup_teardown(test_model_inside, rgSetUp, rgTearDown),
        cmocka_unit_test_setup_teardown(test_interval, rgSetUp, rgTearDown),
        cmocka_unit_test_setup_teardown(test_read_while_writing, rgSetUp, rgTearDown),
        cmocka_unit_test_setup_teardown(test_refusals, rgSetUp, rgTearDown),
        cmocka_unit_test_setup_teardown(test_two_recorders, rgSetUp, rgTearDown),
        cmocka_unit_test_setup_teardown(test_fork, rgSetUp, rgTearDown),
        cmocka_unit_test_setup_teardown(test_other_world, rgSetUp, rgTearDown),
        cmocka_unit_test_setup_teardown(test_kinematic, rgSetUp, rgTearDown),
        cmocka_unit_test_setup_teardown(test_changed_mass, rgSetUp, rgTearDown),
        cmocka_unit_test_setup_teardown(test_sensor_places, rgSetUp, rgTearDown),
        cmocka_unit_test_setup_teardown(test_no_kinematic, rgSetUp, rgTearDown),
        cmocka_unit_test_setup_teardown(test_activations, rgSetUp, rgTearDown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
