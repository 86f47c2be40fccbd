// Identification of known bodies from motions that were simulated with them: what is found, what is
// said to be open, and that nothing depends on the number of threads.
#include "identify/identify.h"
#include "rigor/dynamics.h"
#include "rigor/identify.h"
#include "rigor/io.h"
#include "rigor/record.h"
#include "support.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DT 0.002

static const char cube[] =
    "<mujoco><worldbody><geom name='floor' type='plane' size='1 1 1' friction='0.25'/>"
    "<body name='cube' pos='0 0 0.05'><freejoint/>"
    "<inertial pos='0.001 -0.002 0.006' mass='0.4' diaginertia='0.0009 0.0009 0.0009'/>"
    "<geom name='box' type='box' size='0.05 0.05 0.05' friction='0.25'/></body>"
    "</worldbody><custom><numeric name='rigor:restitution' data='0.2'/></custom></mujoco>";
static const char pendulum[] =
    "<mujoco><worldbody><body name='arm' pos='0 0 1'>"
    "<joint name='hinge' axis='0 1 0' damping='0.02' frictionloss='0.01' armature='0.001'/>"
    "<geom name='rod' type='capsule' fromto='0 0 0 0.3 0 0' size='0.01' mass='0.2'/></body>"
    "</worldbody><actuator><motor name='motor' joint='hinge'/></actuator></mujoco>";

enum { mostMotions = 16, RG_LIGHT = 3 };

typedef struct Recorded {
    int count;
    rgMotion motions[mostMotions];
    rgChannel channel;
} Recorded;

// Under sanitizers and valgrind everything is called, on little, and figures are not looked at.
static bool Light(void) {
    return rgFewer(100) < 100;
}

static rgModelDef* Parse(const char* text) {
    rgModelDef* def = NULL;
    assert_int_equal(rgParseMjcf(text, strlen(text), NULL, NULL, NULL, &def), rg_ok);
    return def;
}

// A start of the free body above the floor, or of the joint.
static void Throw(const rgModel* model, int number, double* q, double* v) {
    uint64_t seed = rgRandomBits(17, (uint64_t)number);
    rgModelInfo info = rgModel_Info(model);
    for (int k = 0; k < info.vCount; ++k) {
        v[k] = (k < 3 ? 0.8 : 5) * (2 * rgRandomUnit(seed, (uint64_t)k) - 1);
    }
    q[0] = 0;
    if (info.qCount == 7) {
        rgQuat turn = rgQuatFromRotationVector(
            rgVec(rgRandomNormal(seed, 20), rgRandomNormal(seed, 21), rgRandomNormal(seed, 22)));
        const double start[7] = {0, 0, 0.13, turn.w, turn.x, turn.y, turn.z};
        memcpy(q, start, sizeof(start));
    }
}

// Samples of one motion every fifth step, with noise.
static void Record(rgMotion* motion, const rgModel* model, const rgChannel* channel, int number,
                   int samples, double noise) {
    rgModelInfo info = rgModel_Info(model);
    bool pose = channel->kind == rg_channelPose;
    int width = pose ? 7 : 1;
    double* memory = calloc((size_t)(samples * (2 + width) + 16), sizeof(double));
    double *times = memory, *q = times + samples, *v = q + 8, *values = v + 8;
    double* controls = values + samples * width;
    Throw(model, number, q, v);
    rgWorldDef def = rgDefaultWorldDef();
    def.timeStep = DT;
    rgWorld* world = NULL;
    assert_int_equal(rgCreateWorld(model, &def, NULL, &world), rg_ok);
    assert_int_equal(rgWorld_SetState(world, q, v), rg_ok);
    for (int s = 0; s < samples; ++s) {
        double* row = values + s * width;
        times[s] = 5 * DT * s;
        controls[s] = 0.1 * sin(3.0 * times[s] + number);
        if (info.actuatorCount > 0) {
            assert_int_equal(rgWorld_SetControl(world, controls + s), rg_ok);
        }
        uint64_t seed = rgRandomBits((uint64_t)number + 99, (uint64_t)s);
        if (pose) {
            rgPose at = rgWorld_BodyPose(world, channel->body);
            double numbers[7] = {at.p.x, at.p.y, at.p.z, at.q.w, at.q.x, at.q.y, at.q.z};
            for (int k = 0; k < 7; ++k) {
                row[k] = numbers[k] + noise * rgRandomNormal(seed, (uint64_t)k);
            }
        } else {
            row[0] = rgWorld_Positions(world, NULL)[0] + noise * rgRandomNormal(seed, 0);
        }
        for (int k = 0; k < 5; ++k) {
            assert_int_equal(rgWorld_Step(world, NULL), rg_ok);
        }
    }
    rgDestroyWorld(world);
    *motion = (rgMotion){.name = "throw",
                         .sampleCount = samples,
                         .times = times,
                         .channelCount = 1,
                         .channels = channel,
                         .valueCount = width,
                         .values = values,
                         .q = q,
                         .v = v,
                         .controls = info.actuatorCount > 0 ? controls : NULL};
}

static void RecordAll(Recorded* recorded, const rgModelDef* def, int count, int samples,
                      double noise) {
    rgModel* model = NULL;
    assert_int_equal(rgCompileModel(def, NULL, NULL, &model), rg_ok);
    recorded->count = count = Light() ? RG_LIGHT : count;
    samples = Light() ? 8 : samples;
    recorded->channel = rgModel_Info(model).qCount == 7 ? (rgChannel){rg_channelPose, {1}, 0}
                                                        : (rgChannel){rg_channelCoordinate, {0}, 0};
    for (int i = 0; i < count; ++i) {
        Record(&recorded->motions[i], model, &recorded->channel, i, samples, noise);
    }
    rgDestroyModel(model);
}

static void FreeAll(Recorded* recorded) {
    for (int i = 0; i < recorded->count; ++i) {
        free((void*)(uintptr_t)recorded->motions[i].times);
    }
}

static rgParameterDef Between(const char* name, double lower, double upper) {
    rgParameterDef def = rgDefaultParameterDef();
    def.name = name;
    def.lower = lower;
    def.upper = upper;
    def.start = 0.7 * lower + 0.3 * upper; // not where the model is
    return def;
}

static rgIdentifyDef DefOf(const Recorded* recorded, const rgParameterDef* parameters, int count) {
    rgIdentifyDef def = rgDefaultIdentifyDef();
    def.parameters = parameters;
    def.parameterCount = count;
    def.motions = recorded->motions;
    def.motionCount = recorded->count;
    def.world.timeStep = DT;
    def.generations = Light() ? 1 : 15;
    def.refinements = Light() ? 1 : 16;
    return def;
}

static rgParameterEstimate Estimate(const rgIdentification* id, int i) {
    return rgIdentification_Parameter(id, i);
}

// ---- derivatives of the errors

typedef struct Probe {
    rgFit fit;
    rgSlopeTable table;
    rgTarget target;
    rgParameter parameters[8];
    rgIdentifyDef def;
    int locals[12];
    double units[12];
} Probe;

// Errors of the first motion at a place of the parameters, and their derivatives (may be NULL).
static void Simulate(Probe* probe, const double* place, const double* local, double* errors,
                     double* columns) {
    rgFit* fit = &probe->fit;
    rgModel* model = NULL;
    double q[16], v[32];
    assert_int_equal(rgFit_Compile(fit, place, &model), rg_ok);
    rgFit_Start(fit, 0, local, q, v);
    rgTrial trial = {.model = model, .q = q, .v = v, .errors = errors};
    if (columns != NULL) {
        assert_int_equal(rgSlopeTable_Fill(&probe->table, place), rg_ok);
        trial.slopes = &probe->table;
        trial.local = local;
        trial.unknownCount = fit->parameterCount + fit->localCount;
        trial.columns = columns;
    }
    assert_int_equal(rgSimulator_Run(&fit->simulator, &trial, 1), rg_ok);
    rgDestroyModel(model);
}

// Largest difference of a column from central differences, over its largest entry, in the samples
// up to some; the largest of all columns.
static double ColumnError(const char* text, const rgParameterDef* parameters, int count,
                          int samples, int smooth, double tolerance) {
    rgModelDef *def = Parse(text), *work = Parse(text);
    rgModel* model = NULL;
    Recorded recorded;
    assert_int_equal(rgCompileModel(def, NULL, NULL, &model), rg_ok);
    recorded.channel = rgModel_Info(model).qCount == 7 ? (rgChannel){rg_channelPose, {1}, 0}
                                                       : (rgChannel){rg_channelCoordinate, {0}, 0};
    Record(&recorded.motions[0], model, &recorded.channel, 3, samples, 1e-2);
    recorded.count = 1;
    Probe probe = {.def = DefOf(&recorded, parameters, count)};
    probe.def.world.contact.tolerance = tolerance;
    int errors = recorded.channel.kind == rg_channelPose ? 6 : 1, nv = rgModel_Info(model).vCount;
    probe.target = (rgTarget){recorded.motions, errors, (samples - 1) * errors};
    probe.fit = (rgFit){.allocator = rgResolveAllocator(&(rgAllocator){0}),
                        .def = &probe.def,
                        .base = def,
                        .work = work,
                        .model = model,
                        .parameterCount = count,
                        .parameters = probe.parameters,
                        .motionCount = 1,
                        .targets = &probe.target,
                        .localCount = 2 * nv,
                        .hasSlopes = true,
                        .localIndex = probe.locals,
                        .localUnit = probe.units};
    probe.fit.simulator = (rgSimulator){&probe.def, &probe.target, probe.fit.allocator};
    double place[8], local[12] = {0};
    for (int i = 0; i < count; ++i) {
        probe.parameters[i].def = parameters[i];
        assert_int_equal(rgParameter_Resolve(&probe.parameters[i], def, NULL), rg_ok);
        place[i] = 0.3;
    }
    for (int k = 0; k < 2 * nv; ++k) {
        probe.locals[k] = k;
        probe.units[k] = 0.1;
        local[k] = 0.1 * k;
    }
    assert_int_equal(rgSlopeTable_Create(&probe.table, &probe.fit), rg_ok);
    int n = count + 2 * nv, size = probe.target.sizeCount;
    double *e[3], *columns = calloc((size_t)(n * size), sizeof(double)), worst = 0;
    for (int k = 0; k < 3; ++k) {
        e[k] = calloc((size_t)size, sizeof(double));
    }
    Simulate(&probe, place, local, e[2], columns);
    for (int j = 0; j < n; ++j) {
        const double h = 1e-5;
        double* x = j < count ? &place[j] : &local[j - count];
        double at = *x, most = 1e-3, apart = 0;
        if (j < count && !probe.table.known[j]) {
            continue;
        }
        for (int side = 0; side < 2; ++side) {
            *x = at + (side == 0 ? -h : h);
            Simulate(&probe, place, local, e[side], NULL);
        }
        *x = at;
        for (int k = 0; k < smooth * errors; ++k) {
            double slope = (e[1][k] - e[0][k]) / (2 * h);
            apart = fmax(apart, fabs(slope - columns[j * size + k]));
            most = fmax(most, fabs(slope));
        }
        worst = fmax(worst, apart / most);
    }
    for (int k = 0; k < 3; ++k) {
        free(e[k]);
    }
    free(columns);
    rgSlopeTable_Free(&probe.table, &probe.fit);
    FreeAll(&recorded);
    rgDestroyModelDef(work);
    rgDestroyModelDef(def);
    rgDestroyModel(model);
    return worst;
}

// Columns of a driven joint and of a body in flight, to the accuracy of differences of 1e-5.
static void test_columns(void** state) {
    (void)state;
    const rgParameterDef joint[] = {
        Between("joint/hinge/damping", 0, 0.1), Between("joint/hinge/armature", 0, 0.01),
        Between("body/arm/com.x", 0.1, 0.2), Between("body/arm/mass", 0.1, 0.4),
        Between("actuator/motor/gain", 0.5, 2)};
    EXPECT_NEAR(ColumnError(pendulum, joint, 5, 30, 29, 1e-12), 0, 1e-7);
    const rgParameterDef body[] = {Between("shape/*/friction", 0.1, 0.5)};
    EXPECT_NEAR(ColumnError(cube, body, 1, 8, 7, 1e-12), 0, 1e-7);
}

// A fifth of the simulations that differences take find the same optimum, with unknown starts.
static void test_slopes(void** state) {
    (void)state;
    rgModelDef* def = Parse(pendulum);
    Recorded recorded;
    RecordAll(&recorded, def, 6, 60, 1e-4);
    rgParameterDef parameters[] = {
        Between("joint/hinge/damping", 0, 0.1), Between("joint/hinge/friction", 0, 0.05),
        Between("joint/hinge/armature", 0, 0.01), Between("body/arm/com.x", 0.1, 0.2),
        Between("actuator/motor/gain", 0.5, 2)};
    rgIdentification* id[3];
    for (int k = 0; k < 3; ++k) {
        rgIdentifyDef settings = DefOf(&recorded, parameters, 5);
        settings.generations = 0;
        settings.coordinateNoise = 1e-3;
        settings.startRotation = settings.startRate = 1e-2;
        settings.slopes =
            (rgIdentifySlopes[]){rg_slopesSteps, rg_slopesAuto, rg_slopesDifferences}[k];
        assert_int_equal(rgIdentify(def, &settings, NULL, &id[k]), rg_ok);
    }
    rgIdentificationInfo steps = rgIdentification_Info(id[0]), other = rgIdentification_Info(id[2]);
    assert_true(Light() || 5 * steps.simulationCount <= other.simulationCount);
    assert_true(Light() || steps.cost <= other.cost * (1 + 1e-4));
    for (int i = 0; i < 5; ++i) {
        double own = Estimate(id[0], i).value, width = parameters[i].upper - parameters[i].lower;
        assert_true(own == Estimate(id[1], i).value); // nothing touches
        EXPECT_NEAR((Estimate(id[2], i).value - own) / width, 0, Light() ? 1 : 5e-3);
    }
    for (int k = 0; k < 3; ++k) {
        rgDestroyIdentification(id[k]);
    }
    FreeAll(&recorded);
    rgDestroyModelDef(def);
}

// ---- what is found

// Friction, rebound, centre of mass and inertia of a thrown cube, from exact recordings: to a
// hundredth of the bounds; the answer, given to a model, is that model.
static void test_cube(void** state) {
    (void)state;
    rgModelDef* def = Parse(cube);
    Recorded recorded;
    RecordAll(&recorded, def, 16, 30, 0);
    rgParameterDef parameters[] = {
        Between("shape/*/friction", 0.1, 0.5), Between("shape/*/restitution", 0, 0.5),
        Between("body/cube/com.x", -0.01, 0.01), Between("body/cube/com.z", -0.01, 0.01),
        Between("body/cube/inertia.scale", 0.6, 1.6)};
    const double truth[] = {0.25, 0.2, 0.001, 0.006, 1};
    rgIdentifyDef settings = DefOf(&recorded, parameters, 5);
    settings.generations = 3 * settings.generations;
    rgIdentification* id = NULL;
    assert_int_equal(rgIdentify(def, &settings, NULL, &id), rg_ok);
    for (int i = 0; i < 5 && !Light(); ++i) {
        rgParameterEstimate p = Estimate(id, i);
        EXPECT_NEAR(p.value, truth[i], 0.01 * (parameters[i].upper - parameters[i].lower));
        assert_true(p.determined > 0.9);
        assert_false(p.atBound);
        assert_string_equal(p.name, parameters[i].name);
    }
    rgIdentificationInfo info = rgIdentification_Info(id);
    assert_true(Light() || info.undeterminedCount == 0);
    assert_true(Light() || info.cost < 0.01 * info.costBefore);
    assert_true(Light() || info.after.position < 1e-3);
    assert_true(isnan(info.after.coordinate));
    assert_int_equal(rgIdentification_Apply(id, def), rg_ok);
    double value = NAN;
    assert_int_equal(rgModelDef_ParameterValue(def, "body/cube/com.z", &value, NULL), rg_ok);
    assert_true(value == Estimate(id, 3).value);
    rgDestroyIdentification(id);
    FreeAll(&recorded);
    rgDestroyModelDef(def);
}

// Damping, dry friction and armature of a driven joint, from recordings with noise.
static void test_joint(void** state) {
    (void)state;
    rgModelDef* def = Parse(pendulum);
    Recorded recorded;
    RecordAll(&recorded, def, 6, 60, 1e-4);
    rgParameterDef parameters[] = {Between("joint/hinge/damping", 0, 0.1),
                                   Between("joint/hinge/friction", 0, 0.05),
                                   Between("body/arm/com.x", 0.1, 0.2)};
    parameters[1].start = NAN;
    rgIdentifyDef settings = DefOf(&recorded, parameters, 3);
    settings.coordinateNoise = 1e-3;
    settings.foldCount = 3;
    rgIdentification* id = NULL;
    assert_int_equal(rgIdentify(def, &settings, NULL, &id), rg_ok);
    const double truth[] = {0.02, 0.01, 0.15}, within[] = {5e-4, 5e-4, 1e-3};
    for (int i = 0; i < 3 && !Light(); ++i) {
        rgParameterEstimate p = Estimate(id, i);
        EXPECT_NEAR(p.value, truth[i], within[i]);
        assert_true(p.lower <= p.value && p.value <= p.upper && p.deviation < within[i]);
        for (int f = 0; f < 3; ++f) {
            EXPECT_NEAR(rgIdentification_FoldValue(id, f, i), truth[i], 3 * within[i]);
        }
    }
    EXPECT_NEAR(Estimate(id, 1).start, 0.01, 1e-12); // what the model has
    rgMotionEstimate motion = rgIdentification_Motion(id, recorded.count - 1);
    assert_int_equal(motion.fold, 2);
    assert_int_equal(motion.sampleCount, recorded.motions[0].sampleCount);
    assert_true(Light() || (motion.heldOut.coordinate < 1e-3 && motion.heldOut.coordinate > 1e-5));
    rgDestroyIdentification(id);
    FreeAll(&recorded);
    rgDestroyModelDef(def);
}

// Estimates beyond the bounds end at them, and the report says so.
static void test_bounds(void** state) {
    (void)state;
    rgModelDef* def = Parse(pendulum);
    Recorded recorded;
    RecordAll(&recorded, def, 3, 60, 0);
    rgParameterDef parameters[] = {Between("joint/hinge/damping", 0.03, 0.1),
                                   Between("actuator/motor/gain", 0.5, 0.8),
                                   Between("body/arm/com.x", 0.1, 0.2)};
    rgIdentifyDef settings = DefOf(&recorded, parameters, 3);
    rgIdentification* id = NULL;
    assert_int_equal(rgIdentify(def, &settings, NULL, &id), rg_ok);
    for (int i = 0; i < 2 && !Light(); ++i) {
        rgParameterEstimate p = Estimate(id, i);
        assert_true(p.atBound);
        EXPECT_NEAR(p.value, i == 0 ? 0.03 : 0.8, 1e-5);
    }
    rgDestroyIdentification(id);
    FreeAll(&recorded);
    rgDestroyModelDef(def);
}

// The size of a body, which takes another model for every candidate, and gravity with it.
static void test_size_and_gravity(void** state) {
    (void)state;
    rgModelDef* def = Parse(cube);
    Recorded recorded;
    RecordAll(&recorded, def, 6, 30, 0);
    rgParameterDef parameters[] = {Between("shape/box/size.scale", 0.9, 1.1),
                                   Between("shape/box/corner", 0, 0.01),
                                   Between("gravity", 9, 10.5)};
    rgIdentifyDef settings = DefOf(&recorded, parameters, 3);
    rgIdentification* id = NULL;
    assert_int_equal(rgIdentify(def, &settings, NULL, &id), rg_ok);
    const double truth[] = {1, 0, 9.81}, within[] = {0.003, 0.0007, 0.03};
    for (int i = 0; i < 3 && !Light(); ++i) {
        EXPECT_NEAR(Estimate(id, i).value, truth[i], within[i]);
    }
    rgDestroyIdentification(id);
    FreeAll(&recorded);
    rgDestroyModelDef(def);
}

// A recording of two bodies and a joint with a motor is the motion that was simulated: its
// channels, start and controls; and gravity is found from all of them together.
static void test_recording(void** state) {
    (void)state;
    static const char text[] =
        "<mujoco><worldbody><body name='arm'><joint name='hinge' axis='0 1 0'/>"
        "<geom type='capsule' fromto='0 0 0 0.3 0 0' size='0.01' mass='0.2'/></body>"
        "<body name='a' pos='2 0 0'><freejoint/><geom size='0.1' mass='1'/></body>"
        "<body name='b' pos='4 0 0'><freejoint/><geom size='0.1' mass='1'/></body></worldbody>"
        "<actuator><motor name='motor' joint='hinge'/></actuator></mujoco>";
    const char* path = "test_identify_recording.h5";
    rgModelDef* def = Parse(text);
    rgModel* model = NULL;
    rgWorld* world = NULL;
    rgRecorder* recorder = NULL;
    rgWorldDef settings = rgDefaultWorldDef();
    settings.timeStep = DT;
    rgRecorderDef recording = rgDefaultRecorderDef();
    recording.path = path;
    assert_int_equal(rgCompileModel(def, NULL, NULL, &model), rg_ok);
    assert_int_equal(rgCreateWorld(model, &settings, NULL, &world), rg_ok);
    enum { nq = 15, nv = 13, most = 20 };
    double q[nq] = {0.1, 2, 0, 0, 1, 0, 0, 0, 4, 0, 0, 1, 0, 0, 0}, v[nv];
    for (int i = 0; i < nv; ++i) {
        v[i] = 0.1 * (i + 1);
    }
    assert_int_equal(rgWorld_SetState(world, q, v), rg_ok);
    remove(path);
    assert_int_equal(rgCreateRecorder(&recording, world, NULL, &recorder), rg_ok);
    for (int s = 0; s < most; ++s) {
        double control = 0.01 * (s + 1);
        assert_int_equal(rgWorld_SetControl(world, &control), rg_ok);
        assert_int_equal(rgWorld_Step(world, NULL), rg_ok);
        assert_int_equal(rgRecorder_Add(recorder, world, NULL), rg_ok);
    }
    double angle = rgWorld_Positions(world, NULL)[0];
    rgVec3 end = rgWorld_BodyPose(world, (rgBodyId){3}).p;
    rgDestroyRecorder(recorder);
    rgDestroyWorld(world);
    rgMotion* motion = NULL;
    assert_int_equal(rgLoadMotion(path, model, NULL, NULL, &motion), rg_ok);
    remove(path);
    assert_int_equal(motion->channelCount, 3);
    assert_int_equal(motion->valueCount, 15);
    int last = motion->sampleCount - 1;
    const double* row = motion->values + last * motion->valueCount;
    assert_true(motion->channels[0].body.index1 == 2 && motion->channels[1].body.index1 == 3);
    assert_true(row[7] == end.x && row[8] == end.y && row[9] == end.z && row[14] == angle);
    assert_int_equal(last, most - 1); // the state after each step
    for (int s = 0; s < last; ++s) {
        assert_true(motion->controls[s] == 0.01 * (s + 2)); // of the step from there
    }
    Recorded recorded = {.count = 1, .motions = {*motion}};
    rgParameterDef gravity = Between("gravity", 9, 10.5);
    rgIdentifyDef identify = DefOf(&recorded, &gravity, 1);
    rgIdentification* id = NULL;
    assert_int_equal(rgIdentify(def, &identify, NULL, &id), rg_ok);
    if (!Light()) {
        EXPECT_NEAR(Estimate(id, 0).value, 9.81, 1e-3);
        assert_true(rgIdentification_Info(id).after.position < 1e-6);
        assert_true(rgIdentification_Info(id).after.coordinate < 1e-6);
    }
    rgDestroyIdentification(id);
    rgDestroyMotion(motion);
    rgDestroyModel(model);
    rgDestroyModelDef(def);
}

// ---- what is open

// Bodies that are as many times heavier fall and rebound alike: rigid contacts do not tell. Mass
// and moments apart: their ratio is found, and the open direction is the one that keeps it.
static void test_mass_is_open(void** state) {
    (void)state;
    rgModelDef* def = Parse(cube);
    Recorded recorded;
    RecordAll(&recorded, def, 6, 30, 0);
    rgParameterDef parameters[] = {Between("body/cube/scale", 0.5, 2),
                                   Between("shape/*/friction", 0.1, 0.5)};
    rgIdentifyDef settings = DefOf(&recorded, parameters, 2);
    settings.generations = Light() ? 1 : 8;
    rgIdentification* id = NULL;
    assert_int_equal(rgIdentify(def, &settings, NULL, &id), rg_ok);
    assert_true(Estimate(id, 0).determined < 0.1);
    assert_true(Light() || Estimate(id, 1).determined > 0.9);
    assert_true(Light() || rgIdentification_Info(id).undeterminedCount == 1);
    double strength = 0;
    const double* open = rgIdentification_Direction(id, 1, &strength);
    assert_true(Light() || (fabs(open[0]) > 0.99 && strength < 3.5));
    assert_null(rgIdentification_Direction(id, 2, &strength));
    rgDestroyIdentification(id);
    FreeAll(&recorded);
    rgDestroyModelDef(def);
}

// Mass and moments apart: their ratio is found, and the open direction is the one that keeps it.
static void test_ratio_is_found(void** state) {
    (void)state;
    if (Light()) {
        return;
    }
    rgModelDef* def = Parse(cube);
    Recorded recorded;
    RecordAll(&recorded, def, 6, 30, 0);
    rgParameterDef parameters[2];
    rgIdentifyDef settings = DefOf(&recorded, parameters, 2);
    settings.generations = 8;
    rgIdentification* id = NULL;
    double strength = 0;
    parameters[0] = Between("body/cube/mass", 0.2, 0.6);
    parameters[1] = Between("body/cube/inertia.scale", 0.5, 1.5);
    assert_int_equal(rgIdentify(def, &settings, NULL, &id), rg_ok);
    double ratio = Estimate(id, 1).value / Estimate(id, 0).value;
    EXPECT_NEAR(ratio, 1 / 0.4, 0.1);
    const double* open = rgIdentification_Direction(id, 1, &strength);
    // d mass / mass = d scale / scale, in widths of the bounds
    double wanted = Estimate(id, 1).value / Estimate(id, 0).value * 0.4;
    EXPECT_NEAR(open[1] / open[0], wanted, 0.15);
    assert_true(strength < 3.5);
    rgDestroyIdentification(id);
    FreeAll(&recorded);
    rgDestroyModelDef(def);
}

// A prior decides where the motions do not.
static void test_prior(void** state) {
    (void)state;
    rgModelDef* def = Parse(cube);
    Recorded recorded;
    RecordAll(&recorded, def, 4, 30, 0);
    rgParameterDef parameter = Between("body/cube/scale", 0.5, 2);
    parameter.prior = 1.3;
    parameter.deviation = 0.1;
    rgIdentifyDef settings = DefOf(&recorded, &parameter, 1);
    rgIdentification* id = NULL;
    assert_int_equal(rgIdentify(def, &settings, NULL, &id), rg_ok);
    assert_true(Light() || fabs(Estimate(id, 0).value - 1.3) < 0.01);
    rgDestroyIdentification(id);
    FreeAll(&recorded);
    rgDestroyModelDef(def);
}

// ---- starts

// Velocities at the start that are wrong are found again: from all samples, together with the
// parameters, and from the flight before the first contact alone.
static void test_starts(void** state) {
    (void)state;
    rgModelDef* def = Parse(cube);
    Recorded recorded;
    RecordAll(&recorded, def, 6, 30, 0);
    double wrong[mostMotions][6];
    for (int i = 0; i < recorded.count; ++i) {
        for (int k = 0; k < 6; ++k) {
            wrong[i][k] = recorded.motions[i].v[k] + (k < 3 ? 0.02 : 0.2) * (k % 2 ? 1 : -1);
        }
        recorded.motions[i].v = wrong[i];
    }
    rgParameterDef parameter = Between("body/cube/com.z", -0.01, 0.01);
    for (int window = 0; window < 2; ++window) {
        rgIdentifyDef settings = DefOf(&recorded, &parameter, 1);
        settings.startVelocity = 0.05;
        settings.startRate = 0.5;
        settings.startWindow = window ? 1 : 0;
        settings.positionNoise = 1e-4; // what the recordings are worth beside the starts
        settings.rotationNoise = 1e-3;
        settings.refinements = Light() ? 1 : 20;
        rgIdentification* id = NULL;
        assert_int_equal(rgIdentify(def, &settings, NULL, &id), rg_ok);
        assert_true(Light() || fabs(Estimate(id, 0).value - 0.006) < 3e-4);
        rgIdentificationInfo info = rgIdentification_Info(id);
        assert_true(Light() || window || info.adapted.position < 0.2 * info.before.position);
        int near = 0;
        for (int i = 0; i < recorded.count; ++i) {
            rgMotionEstimate motion = rgIdentification_Motion(id, i);
            double error = 0;
            for (int k = 0; k < 6; ++k) {
                double was = wrong[i][k] - (k < 3 ? 0.02 : 0.2) * (k % 2 ? 1 : -1);
                error = fmax(error, fabs(motion.v[k] - was) / (k < 3 ? 0.02 : 0.2));
            }
            near += error < 0.3;
        }
        assert_true(Light() ||
                    near >= 4); // of 6: not every flight is long, nor every impact smooth
        rgDestroyIdentification(id);
    }
    FreeAll(&recorded);
    rgDestroyModelDef(def);
}

// ---- the same bits

static void ExpectSame(const rgIdentification* a, const rgIdentification* b, int parameters) {
    for (int i = 0; i < parameters; ++i) {
        rgParameterEstimate x = Estimate(a, i), y = Estimate(b, i);
        assert_memory_equal(&x.value, &y.value, sizeof(double));
        assert_memory_equal(&x.lower, &y.lower, sizeof(double));
        assert_memory_equal(&x.determined, &y.determined, sizeof(double));
    }
    rgIdentificationInfo x = rgIdentification_Info(a), y = rgIdentification_Info(b);
    assert_memory_equal(&x.heldOut, &y.heldOut, sizeof(x.heldOut));
    assert_memory_equal(&x.cost, &y.cost, sizeof(double));
    assert_int_equal(x.simulationCount, y.simulationCount);
}

static void test_threads(void** state) {
    (void)state;
    rgModelDef* def = Parse(cube);
    Recorded recorded;
    RecordAll(&recorded, def, 4, 20, 1e-4);
    rgParameterDef parameters[] = {Between("shape/*/friction", 0.1, 0.5),
                                   Between("shape/box/corner", 0, 0.01)};
    rgIdentifyDef settings = DefOf(&recorded, parameters, 2);
    settings.generations = Light() ? 1 : 5;
    settings.refinements = Light() ? 1 : 3;
    settings.foldCount = 2;
    settings.startVelocity = 0.01;
    rgIdentification *one = NULL, *more = NULL;
    assert_int_equal(rgIdentify(def, &settings, NULL, &one), rg_ok);
    for (int threads = 2; threads <= 3; ++threads) {
        rgThreadPool* pool = NULL;
        assert_int_equal(rgCreateThreadPool(threads, NULL, &pool), rg_ok);
        settings.tasks = rgThreadPool_Tasks(pool);
        assert_int_equal(rgIdentify(def, &settings, NULL, &more), rg_ok);
        ExpectSame(one, more, 2);
        rgDestroyIdentification(more);
        rgDestroyThreadPool(pool);
    }
    rgDestroyIdentification(one);
    FreeAll(&recorded);
    rgDestroyModelDef(def);
}

// ---- refusals

static bool Says(const rgDiagnostics* said, const char* text) {
    for (int i = 0; i < rgDiagnostics_Count(said); ++i) {
        if (strstr(rgDiagnostics_Message(said, i).text, text) != NULL) {
            return true;
        }
    }
    return false;
}

static void Refused(const rgModelDef* def, const rgIdentifyDef* settings, const char* text) {
    rgDiagnostics* said = NULL;
    assert_int_equal(rgCreateDiagnostics(NULL, &said), rg_ok);
    rgIdentification* id = NULL;
    assert_int_not_equal(rgIdentify(def, settings, said, &id), rg_ok);
    assert_null(id);
    if (!Says(said, text)) {
        fprintf(stderr, "not said: %s\n", text);
    }
    assert_true(Says(said, text));
    rgDestroyDiagnostics(said);
}

static void test_refusals(void** state) {
    (void)state;
    rgModelDef* def = Parse(cube);
    Recorded recorded;
    RecordAll(&recorded, def, 2, 10, 0);
    const struct {
        const char* name;
        double lower, upper;
        const char* text;
    } cases[] = {
        {"body/cub/mass", 0.1, 1, "the model has no body 'cub'; did you mean 'cube'?"},
        {"body/cube/weight", 0.1, 1, "there is no such field of a body; there are mass, com.x"},
        {"mass", 0.1, 1, "a name is KIND/NAME/FIELD"},
        {"joint/knee/damping", 0, 1, "the model has no joint 'knee'"},
        {"body/cube/mass", 1, 0.1, "the lower bound must be below the upper one"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); ++i) {
        rgParameterDef parameter = Between(cases[i].name, cases[i].lower, cases[i].upper);
        rgIdentifyDef settings = DefOf(&recorded, &parameter, 1);
        Refused(def, &settings, cases[i].text);
    }
    rgParameterDef twice[] = {Between("body/cube/mass", 0.1, 1), Between("body/cube/mass", 0.1, 1)};
    rgIdentifyDef settings = DefOf(&recorded, twice, 2);
    Refused(def, &settings, "is given twice");
    settings = DefOf(&recorded, twice, 1);
    settings.foldCount = 5;
    Refused(def, &settings, "more folds than motions");
    twice[0] = Between("body/cube/com.z", 0, 0.01);
    twice[0].logarithmic = true;
    settings = DefOf(&recorded, twice, 1);
    Refused(def, &settings, "equal ratios need a lower bound above 0");
    double back[] = {0, 0.1, 0.05};
    rgMotion wrong = recorded.motions[0];
    wrong.times = back;
    wrong.sampleCount = 3;
    twice[0] = Between("body/cube/com.z", 0, 0.01);
    settings = DefOf(&recorded, twice, 1);
    settings.motions = &wrong;
    settings.motionCount = 1;
    Refused(def, &settings, "its times do not increase");
    FreeAll(&recorded);
    rgDestroyModelDef(def);
}

// Every field can be read and set, and reads what was set.
static void test_fields(void** state) {
    (void)state;
    rgParameterField field;
    int count = 0;
    for (; rgParameterFieldAt(count, &field); ++count) {
        rgModelDef* def =
            Parse(strcmp(field.kind, "actuator") == 0 || strcmp(field.kind, "joint") == 0 ? pendulum
                                                                                          : cube);
        const char* part = strcmp(field.kind, "actuator") == 0 ? "motor"
                           : strcmp(field.kind, "joint") == 0  ? "hinge"
                           : strcmp(field.kind, "shape") == 0  ? "box"
                                                               : "cube";
        char name[100];
        snprintf(name, sizeof(name), field.field[0] ? "%s/%s/%s" : "%s", field.kind, part,
                 field.field);
        double value = NAN;
        bool there = strcmp(field.kind, "tendon") != 0 && strcmp(field.kind, "equality") != 0;
        bool factor = strstr(field.field, "scale") != NULL;
        assert_int_equal(rgModelDef_ParameterValue(def, name, &value, NULL) == rg_ok, there);
        if (there) {
            assert_true(isfinite(value));
            assert_int_equal(rgModelDef_SetParameter(def, name, 0.03125, NULL), rg_ok);
            assert_int_equal(rgModelDef_ParameterValue(def, name, &value, NULL), rg_ok);
            assert_true(value == (factor ? 1 : 0.03125));
        }
        rgDestroyModelDef(def);
    }
    assert_true(count > 40);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_columns),        cmocka_unit_test(test_slopes),
        cmocka_unit_test(test_cube),           cmocka_unit_test(test_joint),
        cmocka_unit_test(test_bounds),         cmocka_unit_test(test_size_and_gravity),
        cmocka_unit_test(test_recording),      cmocka_unit_test(test_mass_is_open),
        cmocka_unit_test(test_ratio_is_found), cmocka_unit_test(test_prior),
        cmocka_unit_test(test_starts),         cmocka_unit_test(test_threads),
        cmocka_unit_test(test_refusals),       cmocka_unit_test(test_fields),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
