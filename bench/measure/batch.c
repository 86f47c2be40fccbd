// Many humanoids: worlds one by one, a batch on one and on two threads, and MuJoCo with one mjData
// per thread.
//     rigor bench batch [WORLDS STEPS REPEAT FILE.xml]
// Least wall time of all repetitions, in microseconds per step of one world, in the same run. Every
// world starts from the first key frame with velocities of its own.
#include "measure.h"
#include "rigor/rigor.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#ifdef RIGOR_PEER_MUJOCO
#include <mujoco/mujoco.h>
#endif

typedef struct rgCase {
    int worlds, steps;
    rgModel* model;
    rgModelInfo info;
    double* v; // worlds x vCount
} rgCase;

static double rgNow(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static rgKeyId rgFirstKey(const rgCase* test) {
    return (rgKeyId){test->info.keyCount > 0 ? 1 : 0};
}

// ---- rigor

static double rgOneByOne(const rgCase* test) {
    rgWorldDef def = rgDefaultWorldDef();
    rgWorld* world = NULL;
    rgCreateWorld(test->model, &def, NULL, &world);
    size_t bytes = (size_t)test->info.qCount * sizeof(double);
    double* q = malloc(bytes);
    double seconds = 0;
    for (int i = 0; i < test->worlds; ++i) {
        rgWorld_Reset(world, rgFirstKey(test));
        memcpy(q, rgWorld_Positions(world, NULL), bytes);
        rgWorld_SetState(world, q, test->v + (size_t)i * (size_t)test->info.vCount);
        double begin = rgNow();
        for (int s = 0; s < test->steps; ++s) {
            rgWorld_Step(world, NULL);
        }
        seconds += rgNow() - begin;
    }
    free(q);
    rgDestroyWorld(world);
    return seconds;
}

// Time of steps in portions of `portion` per call; 0: all in one call.
static double rgTogether(const rgCase* test, int threads, int portion, rgBatchMemory* use) {
    rgThreadPool* pool = NULL;
    rgBatchDef def = rgDefaultBatchDef();
    def.worldCount = test->worlds;
    if (threads > 1) {
        rgCreateThreadPool(threads, NULL, &pool);
        def.tasks = rgThreadPool_Tasks(pool);
    }
    rgBatch* batch = NULL;
    rgCreateBatch(test->model, &def, NULL, &batch);
    size_t count = (size_t)test->worlds * (size_t)test->info.vCount;
    for (int warm = 0; warm < 2; ++warm) { // memory is taken the first time
        rgBatch_Step(batch, warm == 0 ? 0 : test->steps, NULL);
        rgBatch_Reset(batch, rgFirstKey(test), NULL);
        rgBatch_Write(batch, rg_batchVelocities, test->v, count, NULL, NULL);
    }
    int step = portion > 0 ? portion : test->steps;
    double begin = rgNow();
    for (int s = 0; s < test->steps; s += step) {
        rgBatch_Step(batch, step, NULL);
    }
    double seconds = rgNow() - begin;
    *use = rgBatch_MemoryUse(batch);
    rgDestroyBatch(batch);
    rgDestroyThreadPool(pool);
    return seconds;
}

// ---- MuJoCo

#ifdef RIGOR_PEER_MUJOCO
typedef struct rgPeer {
    const rgCase* test;
    mjModel* model;
    mjData* data[2];
} rgPeer;

static void rgPeerWorld(int i, int worker, void* context) {
    const rgPeer* peer = context;
    mjData* data = peer->data[worker];
    if (peer->model->nkey > 0) {
        mj_resetDataKeyframe(peer->model, data, 0);
    } else {
        mj_resetData(peer->model, data);
    }
    // Both store a free joint's velocity as linear, then angular; the axes differ, which is nothing
    // to random numbers.
    for (int k = 0; k < peer->model->nv && k < peer->test->info.vCount; ++k) {
        data->qvel[k] = peer->test->v[(size_t)i * (size_t)peer->test->info.vCount + (size_t)k];
    }
    for (int s = 0; s < peer->test->steps; ++s) {
        mj_step(peer->model, data);
    }
}

static double rgPeerTogether(rgPeer* peer, int threads) {
    rgThreadPool* pool = NULL;
    rgCreateThreadPool(threads, NULL, &pool);
    rgTasks tasks = rgThreadPool_Tasks(pool);
    double begin = rgNow();
    tasks.run(peer->test->worlds, rgPeerWorld, peer, tasks.context);
    double seconds = rgNow() - begin;
    rgDestroyThreadPool(pool);
    return seconds;
}

static bool rgPeer_Load(rgPeer* peer, const rgCase* test, const char* path) {
    char error[512] = "";
    *peer = (rgPeer){.test = test, .model = mj_loadXML(path, NULL, error, sizeof(error))};
    if (peer->model == NULL) {
        fprintf(stderr, "MuJoCo: %s\n", error);
        return false;
    }
    peer->model->opt.cone = mjCONE_ELLIPTIC;
    peer->model->opt.timestep = 1e-3;
    peer->data[0] = mj_makeData(peer->model);
    peer->data[1] = mj_makeData(peer->model);
    return true;
}

static void rgPeer_Free(rgPeer* peer) {
    mj_deleteData(peer->data[0]);
    mj_deleteData(peer->data[1]);
    mj_deleteModel(peer->model);
}
#endif

// ---- all

enum { rg_alone, rg_one, rg_two, rg_oneStep, rg_twoSteps, rg_peerOne, rg_peerTwo, rg_measures };

static void rgMeasure(const rgCase* test, const char* path, int repeat) {
    const char* const names[rg_measures] = {"worlds one by one",
                                            "batch, 1 thread",
                                            "batch, 2 threads",
                                            "batch, 1 thread, one step per call",
                                            "batch, 2 threads, one step per call",
                                            "MuJoCo, 1 thread",
                                            "MuJoCo, 2 threads, one mjData each"};
    double least[rg_measures];
    for (int m = 0; m < rg_measures; ++m) {
        least[m] = -1;
    }
    rgBatchMemory use = {0};
#ifdef RIGOR_PEER_MUJOCO
    rgPeer peer;
    bool rival = rgPeer_Load(&peer, test, path);
#else
    (void)path;
#endif
    for (int r = 0; r < repeat; ++r) {
        double seconds[rg_measures] = {rgOneByOne(test), rgTogether(test, 1, 0, &use),
                                       rgTogether(test, 2, 0, &use), rgTogether(test, 1, 1, &use),
                                       rgTogether(test, 2, 1, &use)};
        int count = rg_peerOne;
#ifdef RIGOR_PEER_MUJOCO
        if (rival) {
            seconds[rg_peerOne] = rgPeerTogether(&peer, 1);
            seconds[rg_peerTwo] = rgPeerTogether(&peer, 2);
            count = rg_measures;
        }
#endif
        for (int m = 0; m < count; ++m) {
            least[m] = least[m] < 0 || seconds[m] < least[m] ? seconds[m] : least[m];
        }
    }
    double total = (double)test->worlds * test->steps;
    for (int m = 0; m < rg_measures && least[m] >= 0; ++m) {
        printf("%-38s %8.2f us %9.0f steps/s\n", names[m], 1e6 * least[m] / total,
               total / least[m]);
    }
    printf("bytes: %zu per world, %zu per thread, %zu shared\n", use.perWorld, use.perThread,
           use.shared);
#ifdef RIGOR_PEER_MUJOCO
    if (rival) {
        rgPeer_Free(&peer);
    }
#endif
}

int rgBench_Batch(int argc, char** argv) {
    rgCase test = {.worlds = argc > 1 ? atoi(argv[1]) : 1024,
                   .steps = argc > 2 ? atoi(argv[2]) : 10};
    int repeat = argc > 3 ? atoi(argv[3]) : 3;
    const char* path = argc > 4 ? argv[4] : RIGOR_SOURCE_DIR "/models/humanoid.xml";
    rgModelDef* def = NULL;
    if (test.worlds < 1 || test.steps < 1 || repeat < 1 ||
        rgLoadModelDef(path, NULL, NULL, &def) != rg_ok ||
        rgCompileModel(def, NULL, NULL, &test.model) != rg_ok) {
        fprintf(stderr, "usage: rigor bench batch [WORLDS STEPS REPEAT FILE.xml]\n");
        return 2;
    }
    test.info = rgModel_Info(test.model);
    size_t count = (size_t)test.worlds * (size_t)test.info.vCount;
    test.v = malloc((count + 1) * sizeof(double));
    for (size_t k = 0; k < count; ++k) {
        test.v[k] = 0.4 * (rgRandomUnit(1, k) - 0.5);
    }
    printf("%d worlds of %s, %d steps, least of %d\n", test.worlds, path, test.steps, repeat);
    rgMeasure(&test, path, repeat);
    free(test.v);
    rgDestroyModel(test.model);
    rgDestroyModelDef(def);
    return 0;
}
