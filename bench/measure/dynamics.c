// Rigid-body algorithms of this library and, where libmujoco is there, of MuJoCo on the same robots
// in the same run: interleaved, minimum over many repetitions. Pinocchio's are those of a program
// of its own, which runs after them (solvers/pinocchio_dynamics.cpp). Robots come from RIGOR_DATA.
// MuJoCo's mj_kinematics also places geoms, and mj_comPos turns inertias, which this library does
// with the first algorithm that needs them.
#include "dynamics.h"
#include "measure.h"
#include "peer.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#ifdef RIGOR_PEER_MUJOCO
#include <mujoco/mujoco.h>
#endif

#define MAX_V 64

typedef struct rgBench {
    rgPeerScene scene;
    rgDynamics* dynamics;
    double q[MAX_V], v[MAX_V], a[MAX_V], tau[MAX_V], out[MAX_V];
#ifdef RIGOR_PEER_MUJOCO
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

#ifdef RIGOR_PEER_MUJOCO
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
_Static_assert(sizeof(rows) / sizeof(rows[0]) == rg_algorithmCount, "a time for each");

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

// The start of the file, with velocities, accelerations and torques of some size everywhere.
static bool rgOpenBench(rgBench* bench, const char* path) {
    if (!rgPeerScene_Load(&bench->scene, path, 1e-3)) {
        return false;
    }
    const rgModelInfo* info = &bench->scene.info;
    rgDynamicsDef def = rgDefaultDynamicsDef(bench->scene.model);
    bool good = info->qCount <= MAX_V && info->vCount <= MAX_V &&
                rgCreateDynamics(bench->scene.model, &def, &bench->dynamics) == rg_ok;
    for (int i = 0; good && i < info->qCount; ++i) {
        bench->q[i] = bench->scene.q[i];
    }
    for (int i = 0; good && i < info->vCount; ++i) {
        bench->v[i] = rgRandomUnit(1, (uint64_t)i) - 0.5;
        bench->a[i] = rgRandomUnit(2, (uint64_t)i) - 0.5;
        bench->tau[i] = rgRandomUnit(3, (uint64_t)i) - 0.5;
    }
#ifdef RIGOR_PEER_MUJOCO
    char error[512] = "";
    bench->mjm = good && bench->scene.file != NULL
                     ? mj_loadXML(bench->scene.file, NULL, error, sizeof(error))
                     : NULL;
    if (bench->mjm != NULL && bench->mjm->nq == info->qCount && bench->mjm->nv == info->vCount) {
        bench->mjd = mj_makeData(bench->mjm);
        memcpy(bench->mjd->qpos, bench->q, sizeof(double) * (size_t)info->qCount);
        memcpy(bench->mjd->qvel, bench->v, sizeof(double) * (size_t)info->vCount);
    }
#endif
    return good;
}

static void rgCloseBench(rgBench* bench) {
    rgDestroyDynamics(bench->dynamics);
    rgPeerScene_Free(&bench->scene);
#ifdef RIGOR_PEER_MUJOCO
    mj_deleteData(bench->mjd);
    mj_deleteModel(bench->mjm);
#endif
}

static bool rgHasPeer(const rgBench* bench) {
#ifdef RIGOR_PEER_MUJOCO
    return bench->mjd != NULL;
#else
    (void)bench;
    return false;
#endif
}

static void rgMeasure(rgBench* bench, int rounds, rgAlgorithmTimes* times) {
    bool peer = rgHasPeer(bench);
    for (int r = 0; r < rg_algorithmCount; ++r) {
        times->names[r] = rows[r].name;
        times->own[r] = INFINITY;
        times->peer[r] = peer && rows[r].peer != NULL ? INFINITY : NAN;
    }
    for (int round = 0; round < rounds; ++round) {
        for (int r = 0; r < rg_algorithmCount; ++r) {
            times->own[r] = fmin(times->own[r], rgTimeBatch(rows[r].ours, bench));
            if (!isnan(times->peer[r])) {
                times->peer[r] = fmin(times->peer[r], rgTimeBatch(rows[r].peer, bench));
            }
        }
    }
}

// ---- Pinocchio

// The program beside this one; NULL: it was not built.
static char* rgPinocchioProgram(void) {
    char own[4096];
    ssize_t length = readlink("/proc/self/exe", own, sizeof(own) - 1);
    own[length > 0 ? length : 0] = '\0';
    char* slash = strrchr(own, '/');
    char* path = slash != NULL
                     ? rgCli_Format("%.*s/rigor-bench-pinocchio-dynamics", (int)(slash - own), own)
                     : NULL;
    if (path != NULL && access(path, X_OK) != 0) {
        free(path);
        path = NULL;
    }
    return path;
}

static double rgMassTrace(rgBench* bench) {
    int n = bench->scene.info.vCount;
    double* M = rgCli_Allocate((size_t)n * (size_t)n, sizeof(double));
    double sum = 0;
    rgDynamics_SetPositions(bench->dynamics, bench->q);
    rgDynamics_MassMatrix(bench->dynamics, M);
    for (int i = 0; i < n; ++i) {
        sum += M[i * n + i];
    }
    free(M);
    return sum;
}

// Times of a robot that has the same mass matrix there, else none. Its reader puts several joints
// of one body at one place, which changes the trace of the humanoid's by 5e-4.
static void rgMeasurePinocchio(rgBench* bench, int rounds, rgAlgorithmTimes* times) {
    for (int r = 0; r < rg_algorithmCount; ++r) {
        times->pinocchio[r] = NAN;
    }
    char* program = bench->scene.file != NULL ? rgPinocchioProgram() : NULL;
    if (program == NULL) {
        return;
    }
    char* command = rgCli_Format("'%s' '%s' %d", program, bench->scene.file, rounds);
    for (int i = 0; i < bench->scene.info.qCount; ++i) {
        char* longer = rgCli_Format("%s %.17g", command, bench->q[i]);
        free(command);
        command = longer;
    }
    FILE* answer = popen(command, "r");
    double trace = NAN, numbers[rg_algorithmCount];
    bool good = answer != NULL && fscanf(answer, "%lf", &trace) == 1 &&
                fabs(trace / rgMassTrace(bench) - 1) < 1e-3;
    for (int r = 0; r < rg_algorithmCount && good; ++r) {
        good = fscanf(answer, "%lf", &numbers[r]) == 1;
    }
    if (answer != NULL) {
        pclose(answer);
    }
    if (good) {
        memcpy(times->pinocchio, numbers, sizeof(numbers));
    }
    free(command);
    free(program);
}

static const char* const robots[rg_timedRobotCount][2] = {
    {"robots/ur5/ur5.xml", "arm"},
    {"robots/solo12/solo12.xml", "quadruped"},
    {"robots/humanoid/humanoid.xml", "humanoid"},
    {"robots/cassie/cassie_noeq.xml", NULL},
    {"robots/talos/talos.xml", NULL},
};

bool rgTimeAlgorithms(int robot, int rounds, rgAlgorithmTimes* times) {
    rgBench bench = {0};
    const char* path = rgBenchPath(robots[robot][0]);
    path = access(path, R_OK) == 0 ? path : robots[robot][1];
    bool good = path != NULL && rgOpenBench(&bench, path);
    if (good) {
        snprintf(times->robot, sizeof(times->robot), "%s", bench.scene.name);
        times->velocityCount = bench.scene.info.vCount;
        rgMeasure(&bench, rounds, times);
        rgMeasurePinocchio(&bench, rounds, times);
    }
    rgCloseBench(&bench);
    return good;
}

int rgBench_Dynamics(int argc, char** argv) {
    int rounds = argc > 1 ? atoi(argv[1]) : 1000;
    for (int i = 0; i < rg_timedRobotCount; ++i) {
        rgAlgorithmTimes times;
        if (!rgTimeAlgorithms(i, rounds, &times)) {
            printf("%s: not below $RIGOR_DATA\n", robots[i][0]);
            continue;
        }
        printf("%s (nv %d)\n", times.robot, times.velocityCount);
        for (int r = 0; r < rg_algorithmCount; ++r) {
            printf("  %-30s %8.3f us", times.names[r], times.own[r]);
            if (isfinite(times.peer[r])) {
                printf("   MuJoCo %8.3f us   ratio %5.2f", times.peer[r],
                       times.peer[r] / times.own[r]);
            }
            if (isfinite(times.pinocchio[r])) {
                printf("   Pinocchio %8.3f us   ratio %5.2f", times.pinocchio[r],
                       times.pinocchio[r] / times.own[r]);
            }
            printf("\n");
        }
    }
    return 0;
}
