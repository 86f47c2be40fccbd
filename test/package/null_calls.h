// What the generated null_calls.c is made of: an object of every kind, and a process of its own for
// each call, so that one that crashes is told by name.
#pragma once
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

typedef struct rgCase {
    const char* name;
    int argument; // that is NULL; -1: all are
    void (*call)(void);
} rgCase;

// ---- values

static const char* const rg_names[] = {"name"};

static void* rgRoom(void) {
    return calloc(1, 1 << 20);
}

static bool rgCallback_rgPairFilterFcn(int a, int b, void* context) {
    (void)context;
    return a != b;
}

static bool rgCallback_rgProxyFcn(int proxy, void* context) {
    (void)context;
    return proxy >= 0;
}

static double rgCallback_rgProxyRayFcn(int proxy, const rgRay* ray, void* context) {
    (void)proxy;
    (void)context;
    return ray->maxFraction;
}

static rgResult rgCallback_rgWorldPolicyFcn(rgWorld* world, int index, int step, void* context) {
    (void)world;
    (void)index;
    (void)step;
    (void)context;
    return rg_ok;
}

static void rgMake(rgResult result) {
    if (result != rg_ok) {
        fprintf(stderr, "a fixture failed: %s\n", rgResult_Name(result));
        _exit(3);
    }
}

static inline rgDiagnostics* rgObject_rgDiagnostics(void) {
    rgDiagnostics* diagnostics = NULL;
    rgMake(rgCreateDiagnostics(NULL, &diagnostics));
    return diagnostics;
}

static inline rgModelDef* rgObject_rgModelDef(void) {
    rgModelDef* def = NULL;
    rgMake(rgLoadModelDef("arm", NULL, NULL, &def));
    return def;
}

static inline rgModel* rgObject_rgModel(void) {
    static rgModel* model;
    if (model == NULL) {
        rgMake(rgCompileModel(rgObject_rgModelDef(), NULL, NULL, &model));
    }
    return model;
}

static inline rgWorld* rgObject_rgWorld(void) {
    rgWorld* world = NULL;
    rgMake(rgCreateWorld(rgObject_rgModel(), NULL, NULL, &world));
    return world;
}

static inline rgBatch* rgObject_rgBatch(void) {
    rgBatchDef def = rgDefaultBatchDef();
    rgBatch* batch = NULL;
    def.worldCount = 1;
    rgMake(rgCreateBatch(rgObject_rgModel(), &def, NULL, &batch));
    return batch;
}

static inline rgTape* rgObject_rgTape(void) {
    rgTapeDef def = rgDefaultTapeDef();
    rgTape* tape = NULL;
    rgMake(rgWorld_Record(rgObject_rgWorld(), &def, &tape));
    return tape;
}

static inline rgDynamics* rgObject_rgDynamics(void) {
    rgDynamicsDef def = rgDefaultDynamicsDef(rgObject_rgModel());
    rgDynamics* dynamics = NULL;
    rgMake(rgCreateDynamics(rgObject_rgModel(), &def, &dynamics));
    return dynamics;
}

static inline rgGeometry* rgObject_rgGeometry(void) {
    rgGeometryDef def = rgDefaultGeometryDef();
    rgGeometry* geometry = NULL;
    def.kind = rg_shapeSphere;
    def.size = rgVec(1, 0, 0);
    rgMake(rgCreateGeometry(&def, NULL, &geometry));
    return geometry;
}

static inline rgBroadphase* rgObject_rgBroadphase(void) {
    rgBroadphaseDef def = rgDefaultBroadphaseDef();
    rgBroadphase* broadphase = NULL;
    rgMake(rgCreateBroadphase(&def, &broadphase));
    return broadphase;
}

static inline const rgMeshData* rgObject_rgMeshData(void) {
    static const double corners[] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1};
    static const int triangles[] = {0, 2, 1, 0, 1, 3, 0, 3, 2, 1, 2, 3};
    static const rgMeshData mesh = {4, corners, 4, triangles};
    return &mesh;
}

static inline rgDecomposition* rgObject_rgDecomposition(void) {
    rgDecomposition* decomposition = NULL;
    rgMake(rgDecomposeMesh(rgObject_rgMeshData(), NULL, NULL, &decomposition));
    return decomposition;
}

static inline rgMesh* rgObject_rgMesh(void) {
    static const char text[] = "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n";
    rgMesh* mesh = NULL;
    rgMake(rgParseMesh(text, strlen(text), rg_meshObj, "text", NULL, NULL, &mesh));
    return mesh;
}

static inline rgContactSolver* rgObject_rgContactSolver(void) {
    rgContactSolverDef def = rgDefaultContactSolverDef();
    rgContactSolver* solver = NULL;
    rgMake(rgCreateContactSolver(&def, &solver));
    return solver;
}

static inline rgThreadPool* rgObject_rgThreadPool(void) {
    rgThreadPool* pool = NULL;
    rgMake(rgCreateThreadPool(1, NULL, &pool));
    return pool;
}

static inline const rgSceneInfo* rgObject_rgSceneInfo(void) {
    return rgSceneAt(0);
}

// A file that nobody sees any more once the process has ended.
static const char* rgScratchPath(void) {
    static char path[64];
    snprintf(path, sizeof(path), "null_calls.%ld.h5", (long)getpid());
    return path;
}

static inline rgRecorder* rgObject_rgRecorder(void) {
    rgRecorderDef def = rgDefaultRecorderDef();
    rgRecorder* recorder = NULL;
    def.path = rgScratchPath();
    rgMake(rgCreateRecorder(&def, rgObject_rgWorld(), NULL, &recorder));
    unlink(def.path);
    return recorder;
}

static inline rgRecording* rgObject_rgRecording(void) {
    rgRecorderDef def = rgDefaultRecorderDef();
    rgRecorder* recorder = NULL;
    rgRecording* recording = NULL;
    def.path = rgScratchPath();
    rgMake(rgCreateRecorder(&def, rgObject_rgWorld(), NULL, &recorder));
    rgMake(rgRecorder_Finish(recorder));
    rgMake(rgLoadRecording(def.path, NULL, NULL, &recording));
    unlink(def.path);
    return recording;
}

static inline rgResults* rgObject_rgResults(void) {
    rgResultsDef def = rgDefaultResultsDef();
    const rgResultsArray array = {"x", {2, 0}, false};
    rgResults* results = NULL;
    def.rowCount = 2;
    def.arrays = &array;
    def.arrayCount = 1;
    def.overwrite = true;
    rgMake(rgCreateResults(rgScratchPath(), &def, NULL, &results));
    unlink(rgScratchPath());
    return results;
}

static inline const rgBlock* rgObject_rgBlock(void) {
    static const rgBlock block = {.kind = rg_blockCoulomb, .rowCount = 3, .mu = 0.5};
    return &block;
}

static inline const rgContactProblem* rgObject_rgContactProblem(void) {
    static const double G[] = {1, 0, 0, 0, 1, 0, 0, 0, 1}, g[] = {1, 0, -1};
    static rgContactProblem problem;
    problem = (rgContactProblem){.rowCount = 3,
                                 .blockCount = 1,
                                 .blocks = rgObject_rgBlock(),
                                 .delassus = {.kind = rg_delassusDense, .matrix = G},
                                 .freeVelocity = g};
    return &problem;
}

static inline rgFclibProblem* rgObject_rgFclibProblem(void) {
    rgFclibContent content = {.problem = rgObject_rgContactProblem()};
    rgFclibProblem* problem = NULL;
    rgMake(rgSaveFclib(rgScratchPath(), &content, NULL));
    rgMake(rgLoadFclib(rgScratchPath(), NULL, NULL, &problem));
    unlink(rgScratchPath());
    return problem;
}

// ---- one call after the other

static void rgExpect(bool holds) {
    if (!holds) {
        _exit(2);
    }
}

// Whether the call ends, and with the right answer.
static const char* rgRunCase(const rgCase* c) {
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        alarm(60);
        c->call();
        _exit(0);
    }
    int status = 0;
    if (child < 0 || waitpid(child, &status, 0) != child) {
        return "has no process";
    }
    if (WIFSIGNALED(status)) {
        return "crashes";
    }
    int code = WEXITSTATUS(status);
    return code == 0   ? NULL
           : code == 2 ? "has an answer to nothing"
           : code == 3 ? "was not called: its objects could not be made"
                       : "is stopped by a sanitizer";
}

// Calls that save write a file called as the names are: in a folder of its own.
static int rgRunCases(const rgCase* cases, int count) {
    int faults = 0;
    char folder[] = "/tmp/rigor-null-XXXXXX";
    if (mkdtemp(folder) == NULL || chdir(folder) != 0) {
        perror(folder);
        return 1;
    }
    for (int i = 0; i < count; ++i) {
        const char* fault = rgRunCase(&cases[i]);
        if (fault != NULL) {
            printf("%s, argument %d NULL: %s\n", cases[i].name, cases[i].argument, fault);
            ++faults;
        }
    }
    printf("%d calls, %d faults\n", count, faults);
    (void)!remove(rg_names[0]);
    if (rmdir(folder) != 0) {
        perror(folder);
        return 1;
    }
    return faults != 0;
}
