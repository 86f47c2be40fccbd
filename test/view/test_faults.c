// The n-th allocation fails, for every n, once alone and once with all after it: every call that
// takes an allocator says so, gives back all memory, and leaves its objects as they were.
#include "support.h"

#include "rigor/rigor.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

// Allocations are counted from where the faults begin; the recorder has two threads.
typedef struct rgFaults {
    _Atomic int calls, live;
    int fail;    // the call that fails; negative: none
    bool onlyIt; // and not those after it
} rgFaults;

static void* rgFaultyAllocate(size_t bytes, size_t alignment, void* context) {
    rgFaults* f = context;
    int call = f->calls++;
    if (f->fail >= 0 && (call == f->fail || (call > f->fail && !f->onlyIt))) {
        return NULL;
    }
    f->live += 1;
    return aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
}

static void rgFaultyRelease(void* memory, void* context) {
    rgFaults* f = context;
    f->live -= memory != NULL;
    free(memory);
}

static rgAllocator rgFaultyAllocator(rgFaults* f) {
    return (rgAllocator){rgFaultyAllocate, rgFaultyRelease, f};
}

static int rg_survived; // failures in all

// Make and unmake something; rg_ok or rg_errorMemory.
typedef rgResult rgAttemptFcn(rgFaults* faults);

static int rgTryAll(const char* what, rgAttemptFcn* attempt) {
    int count = 0;
    for (int mode = 0; mode < 2; ++mode) {
        rgResult result = rg_errorMemory;
        for (int n = 0; result != rg_ok; ++n) {
            rgFaults faults = {.fail = n, .onlyIt = mode == 1};
            result = attempt(&faults);
            if (result != rg_ok && result != rg_errorMemory) {
                print_error("%s: allocation %d fails: %s\n", what, n, rgResult_Name(result));
            }
            assert_true(result == rg_ok || result == rg_errorMemory);
            if (faults.live != 0) {
                print_error("%s: allocation %d fails: %d blocks are lost\n", what, n, faults.live);
            }
            assert_int_equal(faults.live, 0);
            count += result != rg_ok;
            assert_true(n < 100000);
            if (result == rg_ok && faults.calls > n) { // it did without: go on
                result = rg_errorMemory;
                count += 1;
            }
        }
    }
    print_message("%-12s %5d failures\n", what, count);
    rg_survived += count;
    return count;
}

// ---- loading

static rgResult rgLoadText(rgFaults* faults, const char* name) {
    rgLoadDef def = rgDefaultLoadDef();
    rgModelDef* model = NULL;
    def.allocator = rgFaultyAllocator(faults);
    def.ignoreEnvironment = true;
    const rgBuiltinModel* found = rgFindBuiltinModel(name);
    assert_non_null(found);
    rgResult result = rgParseModelDef(found->text, found->byteCount, name, &def, NULL, &model);
    assert_true((model != NULL) == (result == rg_ok));
    rgDestroyModelDef(model);
    return result;
}

static rgResult rgTryUrdf(rgFaults* faults) {
    return rgLoadText(faults, "arm.urdf");
}

static rgResult rgTryMjcf(rgFaults* faults) {
    return rgLoadText(faults, "arm");
}

static rgResult rgTryMeshText(rgFaults* faults, const char* text, rgMeshFormat format) {
    rgAllocator allocator = rgFaultyAllocator(faults);
    rgMesh* mesh = NULL;
    rgResult result = rgParseMesh(text, strlen(text), format, "text", &allocator, NULL, &mesh);
    rgDestroyMesh(mesh);
    return result;
}

static rgResult rgTryObj(rgFaults* faults) {
    static const char text[] =
        "o a\nv 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\no b\nf 1 4 3\nf 2 3 4\n";
    return rgTryMeshText(faults, text, rg_meshObj);
}

static rgResult rgTryStl(rgFaults* faults) {
    static const char text[] =
        "solid s\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\n"
        "vertex 0 1 0\nendloop\nendfacet\nendsolid s\n";
    return rgTryMeshText(faults, text, rg_meshStl);
}

// ---- what is made of a definition

static rgModelDef* rg_def; // outside of the faults
static rgModel* rg_model;

static rgResult rgTryCompile(rgFaults* faults) {
    rgAllocator allocator = rgFaultyAllocator(faults);
    rgModel* model = NULL;
    rgResult result = rgCompileModel(rg_def, &allocator, NULL, &model);
    assert_true((model != NULL) == (result == rg_ok));
    rgDestroyModel(model);
    return result;
}

static rgResult rgTryWorld(rgFaults* faults) {
    rgWorldDef def = rgDefaultWorldDef();
    rgWorld* world = NULL;
    def.allocator = rgFaultyAllocator(faults);
    rgResult result = rgCreateWorld(rg_model, &def, NULL, &world);
    assert_true((world != NULL) == (result == rg_ok));
    rgDestroyWorld(world);
    return result;
}

// The first steps with contacts, where workspaces grow: a step that fails changes nothing.
static rgResult rgTrySteps(rgFaults* faults) {
    rgWorldDef def = rgDefaultWorldDef();
    rgWorld* world = NULL;
    rgStepReport report;
    int fail = faults->fail;
    def.allocator = rgFaultyAllocator(faults);
    def.timeStep = 4e-3;
    faults->fail = -1;
    assert_int_equal(rgCreateWorld(rg_model, &def, NULL, &world), rg_ok);
    rgPose low = rgPoseIdentity();
    low.p = rgVec(0, 0, 0.3);
    rgWorld_SetBodyPose(world, (rgBodyId){1}, low);
    faults->calls = 0;
    faults->fail = fail;
    rgResult result = rg_ok;
    for (int i = 0; i < 40 && result == rg_ok; ++i) {
        uint64_t before = rgWorld_Hash(world);
        result = rgWorld_Step(world, &report);
        assert_true(result == rg_ok || rgWorld_Hash(world) == before);
    }
    int calls = faults->calls;
    if (result != rg_ok) { // memory is there again
        faults->fail = -1;
        assert_int_equal(rgWorld_Step(world, &report), rg_ok);
    }
    rgDestroyWorld(world);
    faults->calls = calls;
    return result;
}

static rgResult rgTrySave(rgFaults* faults) {
    rgWorldDef def = rgDefaultWorldDef();
    rgWorld *from = NULL, *to = NULL;
    int fail = faults->fail;
    assert_int_equal(rgCreateWorld(rg_model, NULL, NULL, &from), rg_ok);
    for (int i = 0; i < 300; ++i) {
        assert_int_equal(rgWorld_Step(from, NULL), rg_ok);
    }
    size_t size = rgWorld_StateSize(from);
    void* bytes = malloc(size);
    assert_int_equal(rgWorld_Save(from, bytes, size), rg_ok);
    faults->fail = -1;
    def.allocator = rgFaultyAllocator(faults);
    assert_int_equal(rgCreateWorld(rg_model, &def, NULL, &to), rg_ok);
    uint64_t before = rgWorld_Hash(to);
    faults->calls = 0;
    faults->fail = fail;
    rgResult result = rgWorld_Restore(to, bytes, size);
    assert_true(rgWorld_Hash(to) == (result == rg_ok ? rgWorld_Hash(from) : before));
    int calls = faults->calls;
    rgDestroyWorld(to);
    rgDestroyWorld(from);
    free(bytes);
    faults->calls = calls;
    return result;
}

static rgResult rgTryBatch(rgFaults* faults) {
    rgBatchDef def = rgDefaultBatchDef();
    rgBatch* batch = NULL;
    def.worldCount = 3;
    def.keepSensors = def.keepContacts = true;
    def.allocator = rgFaultyAllocator(faults);
    rgResult result = rgCreateBatch(rg_model, &def, NULL, &batch);
    assert_true((batch != NULL) == (result == rg_ok));
    if (result == rg_ok) {
        result = rgBatch_Step(batch, 2, NULL);
        const rgWorldStatus* status = rgBatch_Status(batch);
        for (int i = 0; i < 3 && result == rg_ok; ++i) { // a world without memory says so
            assert_true(status[i].fault == rg_faultNone || status[i].fault == rg_faultMemory);
            result = status[i].fault == rg_faultNone ? rg_ok : rg_errorMemory;
        }
    }
    rgDestroyBatch(batch);
    return result;
}

static rgResult rgTrySolver(rgFaults* faults) {
    rgWorld* world = NULL;
    rgContactSolver* solver = NULL;
    double lambda[512] = {0};
    assert_int_equal(rgCreateWorld(rg_model, NULL, NULL, &world), rg_ok);
    rgPose low = rgPoseIdentity();
    low.p = rgVec(0, 0, 0.2);
    rgWorld_SetBodyPose(world, (rgBodyId){1}, low);
    for (int i = 0; i < 20; ++i) {
        assert_int_equal(rgWorld_Step(world, NULL), rg_ok);
    }
    const rgContactProblem* problem = rgWorld_Problem(world, NULL);
    assert_true(problem->rowCount > 0 && problem->rowCount <= 512);
    rgContactSolverDef def = rgDefaultContactSolverDef();
    def.allocator = rgFaultyAllocator(faults);
    rgResult result = rgCreateContactSolver(&def, &solver);
    if (result == rg_ok) {
        result = rgContactSolver_Solve(solver, problem, lambda, NULL, NULL);
        for (int i = 0; i < problem->rowCount && result != rg_ok; ++i) {
            assert_true(lambda[i] == 0);
        }
    }
    rgDestroyContactSolver(solver);
    rgDestroyWorld(world);
    return result;
}

// A frame that could not be kept is not there, and the others are.
static rgResult rgTryRecorder(rgFaults* faults) {
    char path[64];
    rgRecorderDef def = rgDefaultRecorderDef();
    rgWorld* world = NULL;
    rgRecorder* recorder = NULL;
    rgRecording* recording = NULL;
    rgStepReport report;
    int added = 0;
    snprintf(path, sizeof(path), "/tmp/rigor_faults_%ld.h5", (long)getpid());
    def.path = path;
    def.allocator = rgFaultyAllocator(faults);
    assert_int_equal(rgCreateWorld(rg_model, NULL, NULL, &world), rg_ok);
    rgPose low = rgPoseIdentity();
    low.p = rgVec(0, 0, 0.2);
    rgWorld_SetBodyPose(world, (rgBodyId){1}, low);
    rgResult result = rgCreateRecorder(&def, world, NULL, &recorder);
    for (int i = 0; i < 5 && recorder != NULL; ++i) {
        assert_int_equal(rgWorld_Step(world, &report), rg_ok);
        rgResult kept = rgRecorder_Add(recorder, world, &report);
        assert_true(kept == rg_ok || kept == rg_errorMemory);
        added += kept == rg_ok;
        result = kept == rg_ok ? result : kept;
    }
    if (recorder != NULL) {
        assert_int_equal(rgRecorder_Finish(recorder), rg_ok);
        rgDestroyRecorder(recorder);
        assert_int_equal(rgLoadRecording(path, NULL, NULL, &recording), rg_ok);
        assert_int_equal(rgRecording_Info(recording).frameCount, added);
        rgDestroyRecording(recording);
    }
    unlink(path);
    rgDestroyWorld(world);
    return result;
}

static rgResult rgTryViewer(rgFaults* faults) {
    rgViewerDef def = rgDefaultViewerDef();
    rgViewer* viewer = NULL;
    rgWorld* world = NULL;
    assert_int_equal(rgCreateWorld(rg_model, NULL, NULL, &world), rg_ok);
    def.allocator = rgFaultyAllocator(faults);
    rgResult result = rgCreateViewer(&def, NULL, &viewer);
    assert_true((viewer != NULL) == (result == rg_ok));
    result = result == rg_ok ? rgViewer_ShowWorld(viewer, world) : result;
    result = result == rg_ok ? rgViewer_Update(viewer, world, NULL, NULL) : result;
    rgDestroyViewer(viewer);
    rgDestroyWorld(world);
    return result;
}

static rgResult rgTryDescribe(rgFaults* faults) {
    rgAllocator allocator = rgFaultyAllocator(faults);
    char* text = NULL;
    rgResult result = rgDescribeModel(rg_model, &allocator, &text);
    if (text != NULL) {
        rgFaultyRelease(text, faults);
    }
    return result;
}

static void test_memory(void** state) {
    (void)state;
    static const struct {
        const char* what;
        rgAttemptFcn* attempt;
    } attempts[] = {{"URDF", rgTryUrdf},
                    {"MJCF", rgTryMjcf},
                    {"OBJ", rgTryObj},
                    {"STL", rgTryStl},
                    {"compile", rgTryCompile},
                    {"world", rgTryWorld},
                    {"steps", rgTrySteps},
                    {"restore", rgTrySave},
                    {"batch", rgTryBatch},
                    {"solver", rgTrySolver},
                    {"recorder", rgTryRecorder},
                    {"viewer", rgTryViewer},
                    {"description", rgTryDescribe}};
    assert_int_equal(rgLoadModelDef("quadruped", NULL, NULL, &rg_def), rg_ok);
    assert_int_equal(rgCompileModel(rg_def, NULL, NULL, &rg_model), rg_ok);
    for (size_t i = 0; i < sizeof(attempts) / sizeof(attempts[0]); ++i) {
        bool needsServer = attempts[i].attempt == rgTryViewer && !rgHasViewer();
        assert_true(needsServer || rgTryAll(attempts[i].what, attempts[i].attempt) > 0);
    }
    print_message("in all       %5d failures\n", rg_survived);
    rgDestroyModel(rg_model);
    rgDestroyModelDef(rg_def);
}

// ---- disks

static void rgWriteOld(const char* path) {
    FILE* file = fopen(path, "wb");
    assert_non_null(file);
    assert_true(fputs("what was there", file) >= 0);
    assert_int_equal(fclose(file), 0);
}

static void rgExpectOld(const char* path) {
    char text[32] = "";
    FILE* file = fopen(path, "rb");
    assert_non_null(file);
    assert_non_null(fgets(text, sizeof(text), file));
    fclose(file);
    assert_string_equal(text, "what was there");
}

// Files end at 4 KiB: the disk is full. Every writer says so, and what was there stays.
static void test_full_disk(void** state) {
    (void)state;
    char path[64];
    rgModelDef* def = NULL;
    rgModel* model = NULL;
    rgWorld* world = NULL;
    rgRecorder* recorder = NULL;
    rgStepReport report;
    struct rlimit before, small;
    snprintf(path, sizeof(path), "/tmp/rigor_full_%ld", (long)getpid());
    assert_int_equal(rgLoadModelDef("humanoid", NULL, NULL, &def), rg_ok);
    assert_int_equal(rgCompileModel(def, NULL, NULL, &model), rg_ok);
    assert_int_equal(rgCreateWorld(model, NULL, NULL, &world), rg_ok);
    rgDiagnostics* said = NULL;
    assert_int_equal(rgCreateDiagnostics(NULL, &said), rg_ok);
    rgWriteOld(path);
    getrlimit(RLIMIT_FSIZE, &before);
    small = before;
    small.rlim_cur = 4096;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0); // SIGXFSZ is ignored by main
    assert_int_equal(rgSaveMjcf(def, path, said), rg_errorFile);
    assert_int_equal(rgSaveUrdf(def, path, said), rg_errorFile);
    rgExpectOld(path);
    rgRecorderDef settings = rgDefaultRecorderDef();
    settings.path = path;
    rgResult result = rgCreateRecorder(&settings, world, said, &recorder);
    for (int i = 0; i < 3000 && result == rg_ok; ++i) {
        assert_int_equal(rgWorld_Step(world, &report), rg_ok);
        result = rgRecorder_Add(recorder, world, &report);
    }
    result = result == rg_ok ? rgRecorder_Finish(recorder) : result;
    assert_int_equal(result, rg_errorFile);
    rgDestroyRecorder(recorder);
    setrlimit(RLIMIT_FSIZE, &before);
    assert_true(rgDiagnostics_CountOf(said, rg_severityError) >= 3);
    unlink(path);
    rgDestroyDiagnostics(said);
    rgDestroyWorld(world);
    rgDestroyModel(model);
    rgDestroyModelDef(def);
}

// Device files and folders that do not exist are errors, and stay what they are.
static void test_no_device_is_replaced(void** state) {
    (void)state;
    rgModelDef* def = NULL;
    assert_int_equal(rgLoadModelDef("arm", NULL, NULL, &def), rg_ok);
    assert_int_equal(rgSaveMjcf(def, "/dev/full", NULL), rg_errorFile);
    assert_int_equal(access("/dev/full", W_OK), 0);
    assert_int_equal(rgSaveMjcf(def, "/nowhere/at/all.xml", NULL), rg_errorFile);
    rgDestroyModelDef(def);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_memory),
        cmocka_unit_test(test_full_disk),
        cmocka_unit_test(test_no_device_is_replaced),
    };
    signal(SIGXFSZ, SIG_IGN);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    fflush(NULL);
    _exit(failed != 0); // libhdf5 crashes at exit over a file that it could not close
}
