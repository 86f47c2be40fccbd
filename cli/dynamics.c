// rigor dynamics: poses, mass matrix, bias and energies of a robot at one state.
#include "model.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct rgDynamicsArguments {
    rgModelArguments model;
    const char* q;
    const char* v;
    const char* key;
    bool json;
} rgDynamicsArguments;

// One state and the quantities derived from it.
typedef struct rgDynamicsView {
    const rgModel* model;
    rgModelInfo info;
    double *q, *v;
    double* mass; // nv x nv
    double* bias; // nv
    rgVec3 center;
    rgEnergy energy;
    rgDynamics* dynamics;
} rgDynamicsView;

static int rgParseDynamics(int argc, char** argv, rgDynamicsArguments* arguments, int* count) {
    rgOption table[RG_MODEL_OPTION_COUNT + 4] = {
        [RG_MODEL_OPTION_COUNT] = {"--q", rg_optionText, &arguments->q,
                                   "configuration; the neutral one without it", "Q1,Q2,...", NULL,
                                   0, 0},
        {"--v", rg_optionText, &arguments->v, "velocity; zero without it", "V1,V2,...", NULL, 0, 0},
        {"--key", rg_optionText, &arguments->key, "start from a key frame of the file", "NAME",
         NULL, 0, 0},
        {"--json", rg_optionFlag, &arguments->json, "print one JSON object", NULL, NULL, 0, 0},
    };
    rgModelArguments_Options(&arguments->model, table);
    const rgCommand command = {
        .name = "rigor dynamics",
        .usage = "MODEL... [--q Q1,Q2,...] [--v V1,V2,...] [OPTIONS]",
        .summary = "Print poses, mass matrix M, bias b (M a + b = tau), and energies of a robot "
                   "at one state.\nA free joint has x y z and a quaternion w x y z in q, and "
                   "linear then angular velocity in the body frame in v.\n\nExamples:\n  rigor "
                   "dynamics arm --key home\n  rigor dynamics robot.urdf --json",
        .options = table,
        .optionCount = RG_MODEL_OPTION_COUNT + 4,
        .minArguments = 1,
        .maxArguments = -1,
    };
    return rgParseOptions(&command, argc, argv, count);
}

// Quaternions typed by people are rarely of unit length.
static bool rgNormalizeQuaternions(const rgModel* model, double* q) {
    for (int i = 1; i <= rgModel_Info(model).jointCount; ++i) {
        rgJointKind kind = rgModel_Joint(model, (rgJointId){i})->kind;
        int offset = kind == rg_jointFree ? 3 : 0;
        if (kind != rg_jointFree && kind != rg_jointSpherical) {
            continue;
        }
        double* w = q + rgModel_JointRange(model, (rgJointId){i}).q + offset;
        double length = sqrt(w[0] * w[0] + w[1] * w[1] + w[2] * w[2] + w[3] * w[3]);
        if (!(length > 1e-6)) {
            rgCli_Error("--q: the quaternion of joint '%s' is zero",
                        rgModel_Joint(model, (rgJointId){i})->name);
            return false;
        }
        for (int k = 0; k < 4; ++k) {
            w[k] /= length;
        }
    }
    return true;
}

static bool rgReadKey(rgDynamicsView* view, const char* name) {
    const rgKeyDef* key = rgModel_Key(view->model, rgModel_FindKey(view->model, name));
    if (key == NULL) {
        rgCli_Error("--key: the model has no key frame '%s'", name);
        return false;
    }
    memcpy(view->q, key->q, (size_t)view->info.qCount * sizeof(double));
    memcpy(view->v, key->v, (size_t)view->info.vCount * sizeof(double));
    return true;
}

static bool rgReadState(rgDynamicsView* view, const rgDynamicsArguments* arguments) {
    rgModel_NeutralConfiguration(view->model, view->q);
    return (arguments->key == NULL || rgReadKey(view, arguments->key)) &&
           (arguments->q == NULL ||
            rgCli_ReadNumbers("--q", arguments->q, view->q, view->info.qCount)) &&
           (arguments->v == NULL ||
            rgCli_ReadNumbers("--v", arguments->v, view->v, view->info.vCount)) &&
           rgNormalizeQuaternions(view->model, view->q);
}

static bool rgCompute(rgDynamicsView* view) {
    rgDynamicsDef def = rgDefaultDynamicsDef(view->model);
    if (rgCreateDynamics(view->model, &def, &view->dynamics) != rg_ok) {
        rgCli_Error("out of memory");
        return false;
    }
    rgDynamics_SetState(view->dynamics, view->q, view->v);
    rgDynamics_MassMatrix(view->dynamics, view->mass);
    rgDynamics_Bias(view->dynamics, view->bias);
    view->center = rgDynamics_Center(view->dynamics);
    view->energy = rgDynamics_Energy(view->dynamics);
    bool finite = isfinite(view->energy.kinetic) && isfinite(view->energy.potential) &&
                  isfinite(view->energy.spring);
    for (int i = 0; i < view->info.vCount; ++i) {
        finite = finite && isfinite(view->bias[i]);
    }
    if (!finite) {
        rgCli_Error("forces or energies at this q and v are too large for a number");
    }
    return finite;
}

static const char* rgBodyName(const rgDynamicsView* view, int id) {
    const char* name = rgModel_Body(view->model, (rgBodyId){id})->name;
    return name != NULL ? name : "";
}

static void rgPrintPoses(const rgDynamicsView* view) {
    static const char* const headers[] = {"body", "x", "y", "z", "qw", "qx", "qy", "qz"};
    rgTable table;
    rgTable_Init(&table, headers, 8);
    for (int i = 1; i <= view->info.bodyCount; ++i) {
        rgPose pose = rgDynamics_BodyPose(view->dynamics, (rgBodyId){i});
        const double values[] = {pose.p.x, pose.p.y, pose.p.z, pose.q.w,
                                 pose.q.x, pose.q.y, pose.q.z};
        rgTable_Add(&table, "%s", rgBodyName(view, i));
        for (int k = 0; k < 7; ++k) {
            rgTable_Add(&table, "%.6f", values[k]);
        }
    }
    rgTable_Print(&table, stdout);
    rgTable_Free(&table);
}

static double rgLargest(const double* values, size_t count) {
    double largest = 0;
    for (size_t i = 0; i < count; ++i) {
        largest = fmax(largest, fabs(values[i]));
    }
    return largest;
}

// Print a row of numbers; numbers that are rounding beside the largest are shown as 0.
static void rgPrintRow(const double* values, int count, double largest) {
    for (int i = 0; i < count; ++i) {
        double shown = fabs(values[i]) < 1e-14 * largest ? 0 : values[i];
        printf("%s%11.5g", i > 0 ? " " : "", shown);
    }
    printf("\n");
}

static void rgPrintMatrix(const rgDynamicsView* view) {
    size_t n = (size_t)view->info.vCount;
    double largest = rgLargest(view->mass, n * n);
    for (size_t i = 0; i < n; ++i) {
        rgPrintRow(view->mass + i * n, (int)n, largest);
    }
}

static void rgPrintVector(const char* label, const double* values, int count) {
    printf("%s\n", label);
    rgPrintRow(values, count, rgLargest(values, (size_t)count));
}

static void rgPrintJoints(const rgDynamicsView* view) {
    static const char* const headers[] = {"joint", "q from", "q count", "v from", "v count"};
    rgTable table;
    rgTable_Init(&table, headers, 5);
    for (int i = 1; i <= view->info.jointCount; ++i) {
        rgJointRange range = rgModel_JointRange(view->model, (rgJointId){i});
        const char* name = rgModel_Joint(view->model, (rgJointId){i})->name;
        const int values[] = {range.q, range.qCount, range.v, range.vCount};
        rgTable_Add(&table, "%s", name != NULL ? name : "");
        for (int k = 0; k < 4; ++k) {
            rgTable_Add(&table, "%d", values[k]);
        }
    }
    rgTable_Print(&table, stdout);
    rgTable_Free(&table);
}

static void rgPrintDynamics(const rgDynamicsView* view) {
    rgPrintPoses(view);
    printf("\n");
    rgPrintJoints(view);
    rgPrintVector("\nq", view->q, view->info.qCount);
    rgPrintVector("v", view->v, view->info.vCount);
    rgPrintVector("b [N m, N]", view->bias, view->info.vCount);
    printf("M [kg m^2, kg]\n");
    rgPrintMatrix(view);
    printf("\ncentre of mass %.6f %.6f %.6f m\n", view->center.x, view->center.y, view->center.z);
    printf("kinetic energy %.9g J, potential %.9g J, springs %.9g J\n", view->energy.kinetic,
           view->energy.potential, view->energy.spring);
}

static void rgWriteVector(rgJson* json, const char* key, const double* values, int count) {
    rgJson_BeginArray(json, key);
    for (int i = 0; i < count; ++i) {
        rgJson_Number(json, NULL, values[i]);
    }
    rgJson_EndArray(json);
}

static void rgWritePoses(rgJson* json, const rgDynamicsView* view) {
    rgJson_BeginArray(json, "bodies");
    for (int i = 1; i <= view->info.bodyCount; ++i) {
        rgPose pose = rgDynamics_BodyPose(view->dynamics, (rgBodyId){i});
        rgJson_BeginObject(json, NULL);
        rgJson_String(json, "name", rgBodyName(view, i));
        rgWriteVector(json, "position", (double[]){pose.p.x, pose.p.y, pose.p.z}, 3);
        rgWriteVector(json, "quaternion", (double[]){pose.q.w, pose.q.x, pose.q.y, pose.q.z}, 4);
        rgJson_EndObject(json);
    }
    rgJson_EndArray(json);
}

static void rgWriteJoints(rgJson* json, const rgDynamicsView* view) {
    rgJson_BeginArray(json, "joints");
    for (int i = 1; i <= view->info.jointCount; ++i) {
        rgJointRange range = rgModel_JointRange(view->model, (rgJointId){i});
        rgJson_BeginObject(json, NULL);
        rgJson_String(json, "name", rgModel_Joint(view->model, (rgJointId){i})->name);
        rgJson_Int(json, "q", range.q);
        rgJson_Int(json, "qCount", range.qCount);
        rgJson_Int(json, "v", range.v);
        rgJson_Int(json, "vCount", range.vCount);
        rgJson_EndObject(json);
    }
    rgJson_EndArray(json);
}

static void rgWriteDynamics(const rgDynamicsView* view) {
    int n = view->info.vCount;
    rgJson json = {.out = stdout};
    rgJson_BeginObject(&json, NULL);
    rgWriteVector(&json, "q", view->q, view->info.qCount);
    rgWriteVector(&json, "v", view->v, n);
    rgWriteJoints(&json, view);
    rgWritePoses(&json, view);
    rgJson_BeginArray(&json, "M");
    for (int i = 0; i < n; ++i) {
        rgWriteVector(&json, NULL, view->mass + (size_t)i * (size_t)n, n);
    }
    rgJson_EndArray(&json);
    rgWriteVector(&json, "bias", view->bias, n);
    rgWriteVector(&json, "center", (double[]){view->center.x, view->center.y, view->center.z}, 3);
    rgJson_Number(&json, "kineticEnergy", view->energy.kinetic);
    rgJson_Number(&json, "potentialEnergy", view->energy.potential);
    rgJson_Number(&json, "springEnergy", view->energy.spring);
    rgJson_EndObject(&json);
}

static bool rgShowDynamics(const rgModel* model, const rgDynamicsArguments* arguments) {
    rgDynamicsView view = {.model = model, .info = rgModel_Info(model)};
    size_t nq = (size_t)view.info.qCount, nv = (size_t)view.info.vCount;
    view.q = rgCli_Allocate(nq, sizeof(double));
    view.v = rgCli_Allocate(nv, sizeof(double));
    view.bias = rgCli_Allocate(nv, sizeof(double));
    view.mass = rgCli_Allocate(nv * nv, sizeof(double));
    bool good = rgReadState(&view, arguments) && rgCompute(&view);
    if (good && arguments->json) {
        rgWriteDynamics(&view);
    } else if (good) {
        rgPrintDynamics(&view);
    }
    rgDestroyDynamics(view.dynamics);
    free(view.q);
    free(view.v);
    free(view.bias);
    free(view.mass);
    return good;
}

int rgCli_Dynamics(int argc, char** argv) {
    rgDynamicsArguments arguments = {0};
    int count = 0;
    int code = rgParseDynamics(argc, argv, &arguments, &count);
    if (code != RG_CLI_GO) {
        return code;
    }
    arguments.model.noMeshes = true; // geometry has no effect on dynamics
    rgLoadedModel loaded;
    bool good = rgCli_LoadModel(argv + 1, count, &arguments.model, &loaded);
    rgCli_PrintDiagnostics(loaded.diagnostics, stderr, false, false);
    good = good && rgShowDynamics(loaded.model, &arguments);
    rgCli_FreeModel(&loaded);
    return good ? rg_exitDone : rg_exitUsage;
}
