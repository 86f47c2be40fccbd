// Rigid-body algorithms of this library and, where libmujoco is there, of MuJoCo on the same robots
// in the same run: interleaved, minimum over many repetitions. Robots come from RIGOR_DATA.
// MuJoCo's mj_kinematics also places geoms, and mj_comPos turns inertias, which this library does
// with the first algorithm that needs them.
#include "json.h"
#include "rbd.h"
#include "rigor/rigor.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#ifdef RIGOR_HAVE_MUJOCO
#include <mujoco/mujoco.h>
#endif

#define MAX_V 64

typedef struct rgBench {
    rgModel* model;
    rgDynamics* dynamics;
    double q[MAX_V], v[MAX_V], a[MAX_V], tau[MAX_V], out[MAX_V];
#ifdef RIGOR_HAVE_MUJOCO
    mjModel* mjm;
    mjData* mjd;
#endif
} rgBench;

typedef void rgBenchFcn(rgBench* bench);

static void rgRunState(rgBench* b) {
    rgDynamics_SetState(b->dynamics, b->q, b->v);
}

static void rgRunPositions(rgBench* b) {
    rgDynamics_SetPositions(b->dynamics, b->q);
}

static void rgRunBias(rgBench* b) {
    rgDynamics_Bias(b->dynamics, b->out);
}

static void rgRunStateInverse(rgBench* b) {
    rgDynamics_SetState(b->dynamics, b->q, b->v);
    rgDynamics_InverseDynamics(b->dynamics, b->a, NULL, b->out);
}

static void rgRunPositionsMass(rgBench* b) {
    rgDynamics_SetPositions(b->dynamics, b->q);
    rgDynamics_CompactMassMatrix(b->dynamics, NULL);
}

static void rgRunPositionsFactor(rgBench* b) {
    rgDynamics_SetPositions(b->dynamics, b->q);
    rgDynamics_Factorize(b->dynamics, NULL);
}

static void rgRunStateForward(rgBench* b) {
    rgDynamics_SetState(b->dynamics, b->q, b->v);
    rgDynamics_ForwardDynamics(b->dynamics, b->tau, NULL, b->out);
}

static void rgRunStateBiasFactor(rgBench* b) {
    rgDynamics_SetState(b->dynamics, b->q, b->v);
    rgDynamics_Bias(b->dynamics, b->out);
    rgDynamics_Factorize(b->dynamics, NULL);
}

#ifdef RIGOR_HAVE_MUJOCO
static void rgPeerPositions(rgBench* b) {
    mj_kinematics(b->mjm, b->mjd);
    mj_comPos(b->mjm, b->mjd);
}

static void rgPeerState(rgBench* b) {
    rgPeerPositions(b);
    mj_comVel(b->mjm, b->mjd);
}

static void rgPeerBias(rgBench* b) {
    mj_rne(b->mjm, b->mjd, 0, b->out);
}

static void rgPeerStateInverse(rgBench* b) {
    rgPeerState(b);
    mj_rne(b->mjm, b->mjd, 1, b->out);
}

static void rgPeerPositionsMass(rgBench* b) {
    rgPeerPositions(b);
    mj_crb(b->mjm, b->mjd);
}

static void rgPeerPositionsFactor(rgBench* b) {
    rgPeerPositions(b);
    mj_crb(b->mjm, b->mjd);
    mj_factorM(b->mjm, b->mjd);
}

static void rgPeerStateBiasFactor(rgBench* b) {
    rgPeerState(b);
    mj_rne(b->mjm, b->mjd, 0, b->out);
    mj_crb(b->mjm, b->mjd);
    mj_factorM(b->mjm, b->mjd);
}
#define RG_PEER(function) function
#else
#define RG_PEER(function) NULL
#endif

typedef struct rgRow {
    const char* name;
    rgBenchFcn* ours;
    rgBenchFcn* peer;
} rgRow;

static const rgRow rows[] = {
    {"positions", rgRunPositions, RG_PEER(rgPeerPositions)},
    {"positions + velocities", rgRunState, RG_PEER(rgPeerState)},
    {"bias at a given state", rgRunBias, RG_PEER(rgPeerBias)},
    {"state + RNEA", rgRunStateInverse, RG_PEER(rgPeerStateInverse)},
    {"positions + CRBA", rgRunPositionsMass, RG_PEER(rgPeerPositionsMass)},
    {"positions + CRBA + factor", rgRunPositionsFactor, RG_PEER(rgPeerPositionsFactor)},
    {"state + bias + CRBA + factor", rgRunStateBiasFactor, RG_PEER(rgPeerStateBiasFactor)},
    {"state + ABA", rgRunStateForward, NULL},
};
enum { ROW_COUNT = sizeof(rows) / sizeof(rows[0]) };

static double rgNow(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec * 1e-3;
}

// Time of one call [us], over a batch short enough to fall between interruptions.
static double rgTimeBatch(rgBenchFcn* run, rgBench* bench) {
    enum { BATCH = 50 };
    double start = rgNow();
    for (int i = 0; i < BATCH; ++i) {
        run(bench);
    }
    return (rgNow() - start) / BATCH;
}

static const char* rgBenchPath(const char* relative) {
    static char path[4096];
    const char* root = getenv("RIGOR_DATA");
    snprintf(path, sizeof(path), "%s/%s", root != NULL ? root : "../shared/data", relative);
    return path;
}

static bool rgOpenBench(rgBench* bench, const char* reference, const char* scene) {
    rgJson* root = rgReadJson(rgBenchPath(reference));
    bench->model = root != NULL ? rgModelFromRbd(root) : NULL;
    if (bench->model == NULL) {
        rgDestroyJson(root);
        return false;
    }
    const rgJson* state = &rgJson_Find(root, "states")->items[0];
    double theirs[MAX_V];
    rgDynamicsDef def = rgDefaultDynamicsDef(bench->model);
    rgResult result = rgCreateDynamics(bench->model, &def, &bench->dynamics);
    rgJson_Flatten(rgJson_Find(state, "q"), theirs, MAX_V);
    rgConvertRbdPositions(bench->model, theirs, bench->q);
    rgJson_Flatten(rgJson_Find(state, "v"), bench->v, MAX_V);
    rgJson_Flatten(rgJson_Find(state, "a"), bench->a, MAX_V);
    rgJson_Flatten(rgJson_Find(state, "tau"), bench->tau, MAX_V);
    rgDestroyJson(root);
#ifdef RIGOR_HAVE_MUJOCO
    char error[512] = "";
    bench->mjm = mj_loadXML(rgBenchPath(scene), NULL, error, sizeof(error));
    if (bench->mjm != NULL) {
        int nq = rgModel_Info(bench->model).qCount, nv = rgModel_Info(bench->model).vCount;
        bench->mjd = mj_makeData(bench->mjm);
        memcpy(bench->mjd->qpos, bench->q, sizeof(double) * (size_t)fmin(nq, bench->mjm->nq));
        memcpy(bench->mjd->qvel, bench->v, sizeof(double) * (size_t)fmin(nv, bench->mjm->nv));
        printf("%s: MuJoCo nv %d\n", scene, bench->mjm->nv);
    } else {
        printf("%s: %s\n", scene, error);
    }
#else
    (void)scene;
#endif
    return result == rg_ok;
}

static void rgCloseBench(rgBench* bench) {
    rgDestroyDynamics(bench->dynamics);
    rgDestroyModel(bench->model);
#ifdef RIGOR_HAVE_MUJOCO
    mj_deleteData(bench->mjd);
    mj_deleteModel(bench->mjm);
#endif
}

static bool rgHasPeer(const rgBench* bench) {
#ifdef RIGOR_HAVE_MUJOCO
    return bench->mjm != NULL;
#else
    (void)bench;
    return false;
#endif
}

static void rgMeasure(rgBench* bench, int rounds) {
    double best[ROW_COUNT][2];
    bool peer = rgHasPeer(bench);
    for (int r = 0; r < ROW_COUNT; ++r) {
        best[r][0] = best[r][1] = INFINITY;
    }
    for (int round = 0; round < rounds; ++round) {
        for (int r = 0; r < ROW_COUNT; ++r) {
            best[r][0] = fmin(best[r][0], rgTimeBatch(rows[r].ours, bench));
            if (peer && rows[r].peer != NULL) {
                best[r][1] = fmin(best[r][1], rgTimeBatch(rows[r].peer, bench));
            }
        }
    }
    for (int r = 0; r < ROW_COUNT; ++r) {
        printf("  %-30s %8.3f us", rows[r].name, best[r][0]);
        if (isfinite(best[r][1])) {
            printf("   MuJoCo %8.3f us   ratio %5.2f", best[r][1], best[r][1] / best[r][0]);
        }
        printf("\n");
    }
}

int main(int argc, char** argv) {
    static const char* const robots[][3] = {
        {"UR5", "rbd/ur5.json", "robots/ur5/ur5.xml"},
        {"Solo12", "rbd/solo12.json", "robots/solo12/solo12.xml"},
        {"humanoid", "rbd/humanoid_mjcf.json", "robots/humanoid/humanoid.xml"},
        {"Cassie", "rbd/cassie_mjcf.json", "robots/cassie/cassie_noeq.xml"},
        {"Talos", "rbd/talos_reduced.json", "robots/talos/talos.xml"},
    };
    int rounds = argc > 1 ? atoi(argv[1]) : 1000;
    for (size_t i = 0; i < sizeof(robots) / sizeof(robots[0]); ++i) {
        rgBench bench = {0};
        if (!rgOpenBench(&bench, robots[i][1], robots[i][2])) {
            printf("%s: no data (set RIGOR_DATA)\n", robots[i][0]);
            continue;
        }
        printf("%s (nv %d)\n", robots[i][0], rgModel_Info(bench.model).vCount);
        rgMeasure(&bench, rounds);
        rgCloseBench(&bench);
    }
    return 0;
}
