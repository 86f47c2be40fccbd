// Bytes as calls to a world: states and controls that are set, derivatives, tapes and their
// gradients, images of cameras, with numbers that hurt. A call answers with finite numbers, or it
// is refused and the world is as it was.
#include "fuzz.h"

#include "rigor/camera.h"
#include "rigor/linearize.h"
#include "rigor/tape.h"

enum { rg_mostColumns = 200, rg_mostSteps = 3 };

typedef struct rgFuzzAnswers {
    rgModel* model;
    rgWorld* world;
    rgModelInfo info;
    void* start;
    size_t size;
} rgFuzzAnswers;

static void rgAnswers_Begin(rgFuzzAnswers* a) {
    rgModelDef* def = NULL;
    rgWorldDef settings = rgDefaultWorldDef();
    rgLoadDef load = rgDefaultLoadDef();
    load.ignoreEnvironment = true;
    settings.contact.maxIterations = 40;
    RG_PROMISE(rgLoadModelDef("quadruped", &load, NULL, &def) == rg_ok);
    RG_PROMISE(rgCompileModel(def, NULL, NULL, &a->model) == rg_ok);
    rgDestroyModelDef(def);
    RG_PROMISE(rgCreateWorld(a->model, &settings, NULL, &a->world) == rg_ok);
    rgWorld_Reset(a->world, rgModel_FindKey(a->model, "stand"));
    for (int i = 0; i < 100; ++i) {
        RG_PROMISE(rgWorld_Step(a->world, NULL) == rg_ok);
    }
    a->info = rgModel_Info(a->model);
    a->size = rgWorld_StateSize(a->world);
    a->start = malloc(a->size);
    RG_PROMISE(rgWorld_Save(a->world, a->start, a->size) == rg_ok);
}

static bool rgIsRefusal(rgResult result) {
    return result == rg_errorArgument || result == rg_errorNumeric || result == rg_errorUnsupported;
}

static void rgNumbers(rgInput* in, double* x, int count) {
    for (int i = 0; i < count; ++i) {
        x[i] = rgInput_Byte(in) < 64 ? rgInput_Number(in) : 0;
    }
}

// The present state with some numbers changed: it is taken whole or not at all.
static void rgSetState(rgFuzzAnswers* a, rgInput* in) {
    double q[rg_mostColumns], v[rg_mostColumns];
    int nq, nv;
    memcpy(q, rgWorld_Positions(a->world, &nq), (size_t)a->info.qCount * sizeof(double));
    memcpy(v, rgWorld_Velocities(a->world, &nv), (size_t)a->info.vCount * sizeof(double));
    *(rgInput_Byte(in) < 128 ? &v[rgInput_Below(in, nv)] : &q[rgInput_Below(in, nq)]) =
        rgInput_Number(in);
    uint64_t before = rgWorld_Hash(a->world);
    rgResult result = rgWorld_SetState(a->world, q, v);
    RG_PROMISE(result == rg_ok || (rgIsRefusal(result) && rgWorld_Hash(a->world) == before));
}

static rgDerivativeDef rgMakeDerivative(rgInput* in, rgQuantity parameters[2]) {
    rgDerivativeDef def = rgDefaultDerivativeDef();
    def.by = rgInput_Byte(in) < 64 ? rgInput_Byte(in) : def.by;
    def.heldGaps = rgInput_Byte(in) < 64;
    def.impulses = rgInput_Byte(in) < 64;
    def.sensors = rgInput_Byte(in) < 32;
    def.differences = rgInput_Byte(in) < 8;
    def.smoothing = rgInput_Byte(in) < 64 ? rgInput_Number(in) : 0;
    def.increment = rgInput_Byte(in) < 16 ? rgInput_Number(in) : def.increment;
    def.parameterCount = rgInput_Below(in, 3);
    for (int i = 0; i < 2; ++i) {
        parameters[i] = (rgQuantity){(rgQuantityKind)rgInput_Below(in, 14),
                                     (int)rgInput_Byte(in) - 2, (int)rgInput_Below(in, 12) - 1};
    }
    def.parameters = parameters;
    return def;
}

static void rgDifferentiate(rgFuzzAnswers* a, rgInput* in) {
    rgQuantity parameters[2];
    rgDerivativeDef def = rgMakeDerivative(in, parameters);
    rgDerivatives d;
    int nv = a->info.vCount, columns = rgModel_DerivativeColumns(a->model, &def);
    double x[rg_mostColumns], y[rg_mostColumns], out[rg_mostColumns];
    uint64_t before = rgWorld_Hash(a->world);
    int kind = rgInput_Below(in, 3);
    RG_PROMISE(columns <= rg_mostColumns);
    RG_PROMISE(rgModel_SensorNumbers(a->model) <= rg_mostColumns);
    rgNumbers(in, x, rg_mostColumns);
    rgNumbers(in, y, rg_mostColumns);
    rgStepGradient gradient = {.qBar = x, .vBar = y};
    gradient.trendBar = def.by & rg_byTrend ? x + nv : NULL;
    gradient.sensorBar = def.sensors ? y : NULL;
    rgResult result = kind == 0   ? rgWorld_Derivatives(a->world, &def, &d)
                      : kind == 1 ? rgWorld_Adjoint(a->world, &def, &gradient, out, NULL)
                                  : rgWorld_DirectionalDerivative(a->world, &def, x, out, y, NULL);
    RG_PROMISE(result == rg_ok || rgIsRefusal(result));
    RG_PROMISE(columns >= 0 || result != rg_ok);
    RG_PROMISE(rgWorld_Hash(a->world) == before);
    if (result != rg_ok) {
        return;
    }
    if (kind == 0) {
        RG_PROMISE(d.columnCount == columns && rgAllFinite(d.nextQ, nv * columns));
        RG_PROMISE(rgAllFinite(d.nextV, nv * columns));
        RG_PROMISE(d.impulse == NULL || rgAllFinite(d.impulse, d.rowCount * columns));
        RG_PROMISE(d.nextTrend == NULL || rgAllFinite(d.nextTrend, 2 * nv * columns));
        RG_PROMISE(d.sensor == NULL || rgAllFinite(d.sensor, d.sensorCount * columns));
    } else {
        RG_PROMISE(rgAllFinite(out, kind == 1 ? columns : nv));
        RG_PROMISE(kind == 1 || rgAllFinite(y, nv));
    }
}

static void rgTakeTape(rgFuzzAnswers* a, rgInput* in) {
    rgTapeDef def = rgDefaultTapeDef();
    rgQuantity parameters[2];
    double controls[rg_mostSteps * rg_mostColumns], bar[rg_mostSteps * rg_mostColumns];
    double start[2 * rg_mostColumns], byControl[rg_mostSteps * rg_mostColumns], byParameter[2];
    rgTape* tape = NULL;
    rgMakeDerivative(in, parameters);
    def.stepCount = rgInput_Below(in, rg_mostSteps + 1);
    def.stateInterval = rgInput_Below(in, 4);
    def.smoothing = rgInput_Byte(in) < 64 ? rgInput_Number(in) : 0;
    def.heldGaps = rgInput_Byte(in) < 64;
    def.parameters = parameters;
    def.parameterCount = rgInput_Below(in, 3);
    rgNumbers(in, controls, def.stepCount * a->info.actuatorCount);
    if (rgInput_Byte(in) < 128) {
        def.controls = controls;
        def.controlCount = (size_t)(def.stepCount * a->info.actuatorCount);
        def.controlCount += rgInput_Byte(in) < 16 ? 1 : 0;
    }
    rgResult result = rgWorld_Record(a->world, &def, &tape);
    RG_PROMISE((tape != NULL) == (result == rg_ok));
    RG_PROMISE(result == rg_ok || rgIsRefusal(result));
    if (result == rg_ok) {
        rgNumbers(in, bar, def.stepCount * a->info.vCount);
        rgTapeGradient gradient = {rgInput_Byte(in) < 128 ? bar : NULL,
                                   rgInput_Byte(in) < 128 ? bar : NULL, start, byControl,
                                   byParameter};
        uint64_t before = rgWorld_Hash(a->world);
        result = rgTape_WorldGradient(tape, a->world, &gradient);
        RG_PROMISE(result == rg_ok || rgIsRefusal(result));
        RG_PROMISE(rgWorld_Hash(a->world) == before);
        RG_PROMISE(result != rg_ok || rgAllFinite(start, 2 * a->info.vCount));
    }
    rgDestroyTape(tape);
}

static void rgTakeImage(rgFuzzAnswers* a, rgInput* in) {
    rgCameraDef def = rgDefaultCameraDef();
    rgCamera* camera = NULL;
    rgImage image;
    def.width = rgInput_Byte(in) < 240 ? 1 + rgInput_Below(in, 12) : 8 - rgInput_Below(in, 17);
    def.height = rgInput_Byte(in) < 240 ? 1 + rgInput_Below(in, 12) : -rgInput_Below(in, 9);
    def.fieldOfView = rgInput_Byte(in) < 64 ? rgInput_Number(in) : def.fieldOfView;
    def.body = (rgBodyId){rgInput_Below(in, 20)};
    def.pose = rgInput_Pose(in, rgInput_Number);
    def.channels = rgInput_Below(in, 9);
    def.samples = rgInput_Below(in, 4);
    def.colliders = rgInput_Byte(in) < 128;
    def.shadows = rgInput_Byte(in) < 128;
    def.nearest = rgInput_Byte(in) < 32 ? rgInput_Number(in) : def.nearest;
    def.furthest = rgInput_Byte(in) < 32 ? rgInput_Number(in) : def.furthest;
    def.light = rgInput_Byte(in) < 32 ? rgInput_Vec(in, rgInput_Number) : def.light;
    rgResult result = rgCreateCamera(a->model, &def, NULL, &camera);
    RG_PROMISE((camera != NULL) == (result == rg_ok));
    RG_PROMISE(result == rg_ok || rgIsRefusal(result));
    if (result == rg_ok) {
        result = rgCamera_Draw(camera, a->world, &image);
        RG_PROMISE(result == rg_ok || rgIsRefusal(result));
        bool isDepth = result == rg_ok && image.depth != NULL;
        for (int i = 0; isDepth && i < image.width * image.height; ++i) {
            RG_PROMISE(!isnan(image.depth[i]));
        }
    }
    rgDestroyCamera(camera);
}

int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t count) {
    static rgFuzzAnswers answers; // lives as long as the program
    static void (*const calls[])(rgFuzzAnswers*, rgInput*) = {rgSetState, rgDifferentiate,
                                                              rgTakeTape, rgTakeImage};
    if (answers.world == NULL) {
        rgAnswers_Begin(&answers);
    }
    rgInput in = {bytes, count};
    RG_PROMISE(rgWorld_Restore(answers.world, answers.start, answers.size) == rg_ok);
    for (int i = 0; i < 4 && in.left > 0; ++i) {
        calls[rgInput_Below(&in, 4)](&answers, &in);
    }
    return 0;
}
