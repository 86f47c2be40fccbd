// Worlds that step on a device: robots that fall and lie with random controls.
//     rigor bench worlds [FILE.xml STEPS WORLDS...]
// The code of devices on the host, on one core, beside rgWorld; then every GPU there is, whose
// bytes are compared with those of the host. Times of steps begin after a fifth of them; "kernels"
// are those of the device, "call" has the steps of the host on all cores, too.
#include "measure.h"
#include "rigor/rigor.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { rg_compared = 64, rg_controlEvery = 10 };

static double rgNow(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

typedef struct rgRun {
    const rgModel* model;
    rgModelInfo info;
    int worlds, steps;
    rgDeviceBatch* batch;
    double *q, *v, *u;
} rgRun;

static void rgFreeRun(rgRun* run) {
    rgDestroyDeviceBatch(run->batch);
    free(run->q);
    free(run->v);
    free(run->u);
}

// Controls of a world do not depend on the number of worlds.
static void rgDrawControls(const rgRun* run, int step, double* u) {
    for (int i = 0; i < run->worlds; ++i) {
        for (int k = 0; k < run->info.actuatorCount; ++k) {
            uint64_t index = (uint64_t)step * 1000 + (uint64_t)k;
            u[(size_t)i * (size_t)run->info.actuatorCount + (size_t)k] =
                0.6 * (rgRandomUnit((uint64_t)i, index) - 0.5);
        }
    }
}

static bool rgStartRun(rgRun* run, rgDeviceKind kind, int index, const rgTasks* tasks) {
    rgDiagnostics* diagnostics = NULL;
    rgDeviceBatchDef def = rgDefaultDeviceBatchDef();
    def.device = kind;
    def.deviceIndex = index;
    def.worldCount = run->worlds;
    def.world.timeStep = 1e-3;
    def.tasks = *tasks;
    rgCreateDiagnostics(NULL, &diagnostics);
    if (rgCreateDeviceBatch(run->model, &def, diagnostics, &run->batch) != rg_ok) {
        for (int i = 0; i < rgDiagnostics_Count(diagnostics); ++i) {
            rgMessage message = rgDiagnostics_Message(diagnostics, i);
            if (message.severity == rg_severityError) {
                printf("  %s\n", message.text);
            }
        }
        rgDestroyDiagnostics(diagnostics);
        return false;
    }
    rgDestroyDiagnostics(diagnostics);
    size_t worlds = (size_t)run->worlds, nv = (size_t)run->info.vCount;
    run->q = calloc(worlds * (size_t)run->info.qCount + 1, sizeof(double));
    run->v = calloc(worlds * nv + 1, sizeof(double));
    run->u = calloc(worlds * (size_t)run->info.actuatorCount + 1, sizeof(double));
    for (size_t i = 0; i < worlds; ++i) {
        for (size_t k = 0; k < nv; ++k) {
            run->v[i * nv + k] = rgRandomUnit((uint64_t)i, (uint64_t)k) - 0.5;
        }
    }
    rgDeviceBatch_Write(run->batch, rg_batchVelocities, run->v, worlds * nv, NULL);
    return true;
}

static bool rgAdvanceRun(rgRun* run, int step) {
    size_t controls = (size_t)run->worlds * (size_t)run->info.actuatorCount;
    if (step % rg_controlEvery == 0 && controls > 0) {
        rgDrawControls(run, step, run->u);
        rgDeviceBatch_Write(run->batch, rg_batchControls, run->u, controls, NULL);
    }
    return rgDeviceBatch_Step(run->batch, 1) == rg_ok;
}

static void rgReadRun(rgRun* run) {
    size_t worlds = (size_t)run->worlds;
    rgDeviceBatch_Read(run->batch, rg_batchPositions, run->q, worlds * (size_t)run->info.qCount);
    rgDeviceBatch_Read(run->batch, rg_batchVelocities, run->v, worlds * (size_t)run->info.vCount);
}

static void rgPrintReport(const rgRun* run, double kernels, double call, int steps) {
    rgDeviceBatchReport report = rgDeviceBatch_Report(run->batch);
    double count = (double)run->worlds * steps;
    printf("  %d worlds, %d steps: %.3g steps/s (kernels), %.3g steps/s (call); host %.3f %%",
           run->worlds, run->steps, count / kernels, count / call,
           100.0 * (double)report.hostCount / (double)report.stepCount);
    for (int i = 1; i < rg_hostReasonCount; ++i) {
        if (report.reasonCount[i] > 0) {
            printf(", %s %.3f %%", rgHostReason_Name((rgHostReason)i),
                   100.0 * (double)report.reasonCount[i] / (double)report.stepCount);
        }
    }
    printf("; rows %d at most, worst residual on the device %.1e, unconverged %lld, faults %d\n",
           report.mostRows, report.worstResidual, (long long)report.unconvergedCount,
           report.faultCount);
}

// All steps; times of the last four fifths.
static bool rgTimeRun(rgRun* run) {
    double kernels = 0, call = 0;
    int counted = 0;
    for (int s = 0; s < run->steps; ++s) {
        double begin = rgNow();
        if (!rgAdvanceRun(run, s)) {
            printf("  a step failed\n");
            return false;
        }
        if (s >= run->steps / 5) {
            call += rgNow() - begin;
            kernels += rgDeviceBatch_Report(run->batch).deviceTime;
            ++counted;
        }
    }
    rgPrintReport(run, kernels, call, counted);
    return true;
}

// rgWorld on one core, with the controls and velocities of the first worlds.
static void rgTimeWorld(const rgRun* like) {
    rgWorldDef def = rgDefaultWorldDef();
    def.timeStep = 1e-3;
    double seconds = 0;
    int worlds = like->worlds < 4 ? like->worlds : 4;
    rgRun run = *like;
    run.worlds = worlds;
    run.u = calloc((size_t)(worlds * like->info.actuatorCount) + 1, sizeof(double));
    run.v = calloc((size_t)like->info.vCount + 1, sizeof(double));
    for (int i = 0; i < worlds; ++i) {
        rgWorld* world = NULL;
        if (rgCreateWorld(like->model, &def, NULL, &world) != rg_ok) {
            break;
        }
        for (int k = 0; k < like->info.vCount; ++k) {
            run.v[k] = rgRandomUnit((uint64_t)i, (uint64_t)k) - 0.5;
        }
        rgWorld_SetState(world, rgWorld_Positions(world, NULL), run.v);
        for (int s = 0; s < like->steps; ++s) {
            if (s % rg_controlEvery == 0) {
                rgDrawControls(&run, s, run.u);
                rgWorld_SetControl(world, run.u + i * like->info.actuatorCount);
            }
            double begin = rgNow();
            rgWorld_Step(world, NULL);
            seconds += s >= like->steps / 5 ? rgNow() - begin : 0;
        }
        rgDestroyWorld(world);
    }
    printf("  rgWorld, one core: %.3g steps/s\n",
           worlds * (like->steps - like->steps / 5) / seconds);
    free(run.u);
    free(run.v);
}

// Steps after which q or v of a device differ from those of the host; the first, or -1.
static int rgCompareRuns(rgRun* host, rgRun* device) {
    size_t q = (size_t)(host->worlds * host->info.qCount) * sizeof(double);
    size_t v = (size_t)(host->worlds * host->info.vCount) * sizeof(double);
    for (int s = 0; s < host->steps; ++s) {
        if (!rgAdvanceRun(host, s) || !rgAdvanceRun(device, s)) {
            return s;
        }
        rgReadRun(host);
        rgReadRun(device);
        if (memcmp(host->q, device->q, q) != 0 || memcmp(host->v, device->v, v) != 0) {
            return s;
        }
    }
    return -1;
}

static int rgMeasureGpus(const rgRun* like, const int* sizes, int sizeCount, const rgTasks* tasks) {
    rgDiagnostics* diagnostics = NULL;
    rgCreateDiagnostics(NULL, &diagnostics);
    int count = rgDeviceCount(rg_deviceCuda, diagnostics), wrong = 0;
    if (count == 0) {
        printf("no GPU: %s\n", rgDiagnostics_Message(diagnostics, 0).text);
    }
    rgDestroyDiagnostics(diagnostics);
    for (int d = 0; d < count; ++d) {
        rgDeviceInfo info;
        rgDeviceAt(rg_deviceCuda, d, &info);
        printf("%s\n", info.name);
        rgRun host = *like, device = *like;
        if (rgStartRun(&host, rg_deviceHost, 0, tasks) &&
            rgStartRun(&device, rg_deviceCuda, d, tasks)) {
            int first = rgCompareRuns(&host, &device);
            printf("  %d worlds, %d steps: %s", like->worlds, like->steps,
                   first < 0 ? "the bytes of the host after every step\n" : "");
            if (first >= 0) {
                printf("bytes differ from the host's at step %d\n", first);
                ++wrong;
            }
        } else {
            ++wrong;
        }
        rgFreeRun(&host);
        rgFreeRun(&device);
        for (int i = 0; i < sizeCount; ++i) {
            rgRun run = *like;
            run.worlds = sizes[i];
            wrong += !rgStartRun(&run, rg_deviceCuda, d, tasks) || !rgTimeRun(&run);
            rgFreeRun(&run);
        }
    }
    return wrong;
}

int rgBench_Worlds(int argc, char** argv) {
    const char* path = argc > 1 ? argv[1] : RIGOR_SOURCE_DIR "/models/humanoid.xml";
    int steps = argc > 2 ? atoi(argv[2]) : 500, sizes[16] = {8192}, sizeCount = 1, wrong = 0;
    for (int i = 3; i < argc && i < 3 + 16; ++i) {
        sizes[i - 3] = atoi(argv[i]);
        sizeCount = i - 2;
    }
    rgModel* model = NULL;
    if (steps < 1 || rgLoadModel(path, NULL, NULL, &model) != rg_ok) {
        fprintf(stderr, "usage: rigor bench worlds [FILE.xml STEPS WORLDS...]\n");
        return 2;
    }
    rgRun like = {
        .model = model, .info = rgModel_Info(model), .worlds = rg_compared, .steps = steps};
    rgTasks alone = {0};
    rgDeviceInfo here;
    rgThreadPool* pool = NULL;
    rgDeviceAt(rg_deviceHost, 0, &here);
    rgCreateThreadPool(here.processorCount, NULL, &pool);
    rgTasks tasks = rgThreadPool_Tasks(pool);
    printf("%s: nv %d\n", path, like.info.vCount);
    rgTimeWorld(&like);
    rgRun host = like;
    host.worlds = 8;
    printf("code of devices on the host, one core\n");
    wrong += !rgStartRun(&host, rg_deviceHost, 0, &alone) || !rgTimeRun(&host);
    rgFreeRun(&host);
    wrong += rgMeasureGpus(&like, sizes, sizeCount, &tasks);
    rgDestroyThreadPool(pool);
    rgDestroyModel(model);
    return wrong > 0;
}
