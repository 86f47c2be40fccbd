// A falling pile beside Bullet: time per step, and penetration by one geometric judge that reads
// the poses of either engine.
//     rigor bench pile [BODIES [SECONDS [REPEAT]]]
// The scene is the library's pile of boxes, balls and rods, 2 ms a step. rigor solves each step to
// its tolerance, and to accuracies above it. Bullet takes 50 iterations, in
// double precision, without sleeping. CPU time of one thread; the least of all repetitions, which
// alternate, counts for each half of the run.
#include "measure.h"
#include "rigor/rigor.h"
#ifdef RIGOR_PEER_PILE
#include "pile_bullet.h"
#endif

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { rg_halfCount = 2, rg_maxEngines = 8, rg_lookEvery = 5, rg_bulletIterations = 50 };
static const double rgTimeStep = 2e-3;
static const double rgNear = 1e-3; // [m]: pairs that count as touching

typedef struct rgEngine {
    char name[32];
    bool bullet;
    double accuracy;              // 0: the tolerance
    double seconds[rg_halfCount]; // per step, least of all repetitions
    double* depths[rg_halfCount]; // depths of touching pairs [m]
    int depthCount[rg_halfCount];
    double speed; // median speed of the bodies over the last half second [m/s]
    int unsolved;
} rgEngine;

typedef struct rgPileBench {
    rgModel* model;
    int bodyCount, shapeCount;
    int steps;
    rgPlacedGeometry* shapes; // by shape, from 0; poses of bodies are those of their only shape
    rgEngine engines[rg_maxEngines];
    int engineCount;
} rgPileBench;

static double rgCpuSeconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void rgMust(bool good, const char* what) {
    if (!good) {
        fprintf(stderr, "rigor bench pile: %s\n", what);
        exit(1);
    }
}

// ---- the scene ----

static void rgBuild(rgPileBench* bench) {
    const rgSceneInfo* scene = rgFindScene("pile");
    rgSceneDef def = rgDefaultSceneDef();
    def.count = bench->bodyCount;
    rgModelDef* model = NULL;
    rgMust(rgBuildScene(scene, &def, NULL, &model) == rg_ok, "the scene cannot be built");
    rgMust(rgCompileModel(model, NULL, NULL, &bench->model) == rg_ok, "the model is refused");
    rgDestroyModelDef(model);
    bench->shapeCount = rgModel_Info(bench->model).shapeCount;
    bench->shapes = calloc((size_t)bench->shapeCount, sizeof(rgPlacedGeometry));
    rgMust(bench->shapes != NULL, "out of memory");
    for (int i = 0; i < bench->shapeCount; ++i) {
        const rgShapeDef* shape = rgModel_Shape(bench->model, (rgShapeId){i + 1});
        rgGeometryDef geometry = rgDefaultGeometryDef();
        geometry.kind = shape->kind;
        geometry.size = shape->size;
        rgGeometry* made = NULL;
        rgMust(rgCreateGeometry(&geometry, NULL, &made) == rg_ok, "a shape is refused");
        bench->shapes[i] = (rgPlacedGeometry){made, shape->pose};
    }
}

// ---- the judge ----

static int rgCompare(const void* a, const void* b) {
    double x = *(const double*)a, y = *(const double*)b;
    return (x > y) - (x < y);
}

// Depths of all pairs that touch, into the half of the run that this step belongs to.
static void rgJudgePoses(const rgPileBench* bench, rgEngine* engine, int half) {
    int capacity = 12 * bench->shapeCount, found = 0;
    rgClosePair* pairs = malloc((size_t)capacity * sizeof(rgClosePair));
    rgMust(pairs != NULL, "out of memory");
    rgMust(rgFindClosePairs(bench->shapes, bench->shapeCount, rgNear, pairs, capacity, &found) ==
               rg_ok,
           "the judge failed");
    found = found < capacity ? found : capacity;
    size_t count = (size_t)engine->depthCount[half];
    double* depths = realloc(engine->depths[half], (count + (size_t)found + 1) * sizeof(double));
    rgMust(depths != NULL, "out of memory");
    for (int i = 0; i < found; ++i) {
        depths[count + (size_t)i] = fmax(0, -pairs[i].proximity.distance);
    }
    engine->depths[half] = depths;
    engine->depthCount[half] += found;
    free(pairs);
}

// ---- the engines ----

// A run in either engine: step, and where shape i is.
typedef struct rgPileRun {
    rgWorld* world;
#ifdef RIGOR_PEER_PILE
    PeerPile* peer;
#endif
    int unsolved;
} rgPileRun;

#ifdef RIGOR_PEER_PILE
static void rgAddToBullet(const rgPileBench* bench, PeerPile* peer, int shape, rgPose pose) {
    static const PeerShape kinds[] = {[rg_shapeBox] = peerBox,
                                      [rg_shapeSphere] = peerSphere,
                                      [rg_shapeCapsule] = peerCapsule,
                                      [rg_shapePlane] = peerPlane};
    const rgShapeDef* def = rgModel_Shape(bench->model, (rgShapeId){shape + 1});
    rgInertia inertia = {0};
    if (def->body.index1 != 0) {
        inertia = rgModel_Body(bench->model, def->body)->inertia;
    }
    const double size[3] = {def->size.x, def->size.y, def->size.z};
    const double moments[3] = {inertia.moment.xx, inertia.moment.yy, inertia.moment.zz};
    const double at[7] = {pose.p.x, pose.p.y, pose.p.z, pose.q.w, pose.q.x, pose.q.y, pose.q.z};
    peerAddBody(peer, kinds[def->kind], size, inertia.mass, moments, at, def->material.mu);
}
#endif

static void rgBegin(const rgPileBench* bench, const rgEngine* engine, rgPileRun* run) {
    *run = (rgPileRun){0};
    rgWorldDef def = rgDefaultWorldDef();
    def.timeStep = rgTimeStep;
    def.contact.accuracy = engine->accuracy;
    rgMust(rgCreateWorld(bench->model, &def, NULL, &run->world) == rg_ok, "no world");
    rgMust(rgScene_Start(rgFindScene("pile"), run->world) == rg_ok, "no start");
#ifdef RIGOR_PEER_PILE
    if (engine->bullet) {
        run->peer = peerCreatePile(rgTimeStep, rg_bulletIterations);
        rgMust(rgWorld_Forward(run->world, NULL) == rg_ok, "no start");
        for (int i = 0; i < bench->shapeCount; ++i) {
            rgAddToBullet(bench, run->peer, i, rgWorld_ShapePose(run->world, (rgShapeId){i + 1}));
        }
    }
#else
    (void)engine;
#endif
}

static void rgEnd(rgPileRun* run) {
    rgDestroyWorld(run->world);
#ifdef RIGOR_PEER_PILE
    peerDestroyPile(run->peer);
#endif
}

static void rgAdvance(const rgEngine* engine, rgPileRun* run) {
#ifdef RIGOR_PEER_PILE
    if (engine->bullet) {
        peerStepPile(run->peer);
        return;
    }
#else
    (void)engine;
#endif
    rgStepReport report;
    rgMust(rgWorld_Step(run->world, &report) == rg_ok, "a step failed");
    run->unsolved += report.contact.status != rg_contactSolved;
}

static void rgReadPoses(rgPileBench* bench, const rgEngine* engine, const rgPileRun* run) {
    for (int i = 0; i < bench->shapeCount; ++i) {
#ifdef RIGOR_PEER_PILE
        if (engine->bullet) {
            double p[7];
            peerReadPose(run->peer, i, p);
            bench->shapes[i].pose = (rgPose){{p[0], p[1], p[2]}, {p[3], p[4], p[5], p[6]}};
            continue;
        }
#else
        (void)engine;
#endif
        bench->shapes[i].pose = rgWorld_ShapePose(run->world, (rgShapeId){i + 1});
    }
}

// Median over bodies of the displacement by time, over `seconds` [m/s].
static double rgMedianSpeed(const rgPileBench* bench, const rgVec3* before, double seconds) {
    double* speeds = malloc((size_t)bench->shapeCount * sizeof(double));
    rgMust(speeds != NULL, "out of memory");
    int count = 0;
    for (int i = 0; i < bench->shapeCount; ++i) {
        if (rgModel_Shape(bench->model, (rgShapeId){i + 1})->body.index1 != 0) {
            speeds[count++] = rgLength(rgSub(bench->shapes[i].pose.p, before[i])) / seconds;
        }
    }
    qsort(speeds, (size_t)count, sizeof(double), rgCompare);
    double median = count > 0 ? speeds[count / 2] : 0;
    free(speeds);
    return median;
}

static void rgRunEngine(rgPileBench* bench, rgEngine* engine, bool look) {
    rgPileRun run;
    rgBegin(bench, engine, &run);
    double seconds[rg_halfCount] = {0};
    int late = bench->steps - (int)lround(0.5 / rgTimeStep);
    rgVec3* before = calloc((size_t)bench->shapeCount, sizeof(rgVec3));
    rgMust(before != NULL, "out of memory");
    for (int s = 0; s < bench->steps; ++s) {
        int half = 2 * s >= bench->steps;
        double begin = rgCpuSeconds();
        rgAdvance(engine, &run);
        seconds[half] += rgCpuSeconds() - begin;
        bool isLate = s == (late > 0 ? late : 0);
        if (look && (s % rg_lookEvery == 0 || isLate || s + 1 == bench->steps)) {
            rgReadPoses(bench, engine, &run);
            rgJudgePoses(bench, engine, half);
        }
        for (int i = 0; look && isLate && i < bench->shapeCount; ++i) {
            before[i] = bench->shapes[i].pose.p;
        }
    }
    for (int h = 0; h < rg_halfCount; ++h) {
        int steps = h == 0 ? (bench->steps + 1) / 2 : bench->steps / 2;
        engine->seconds[h] = fmin(engine->seconds[h], seconds[h] / (steps > 0 ? steps : 1));
    }
    if (look) {
        engine->unsolved = run.unsolved;
        engine->speed = rgMedianSpeed(bench, before, rgTimeStep * (bench->steps - 1 - late));
    }
    free(before);
    rgEnd(&run);
}

// ---- report ----

static void rgAddEngine(rgPileBench* bench, const char* name, bool bullet, double accuracy) {
    rgEngine* engine = &bench->engines[bench->engineCount++];
    snprintf(engine->name, sizeof(engine->name), "%s", name);
    engine->bullet = bullet;
    engine->accuracy = accuracy;
    for (int h = 0; h < rg_halfCount; ++h) {
        engine->seconds[h] = INFINITY;
    }
}

static void rgPrintHalf(rgEngine* engine, int half) {
    double* depths = engine->depths[half];
    int count = engine->depthCount[half];
    qsort(depths, (size_t)count, sizeof(double), rgCompare);
    double sum = 0;
    for (int i = 0; i < count; ++i) {
        sum += depths[i];
    }
    double n = count > 0 ? count : 1;
    printf("  {\"engine\": \"%s\", \"half\": %d, \"ms_per_step\": %.3f, \"pairs\": %d, "
           "\"mean_mm\": %.5f, "
           "\"p99_mm\": %.4f, \"max_mm\": %.3f, \"unsolved_steps\": %d, \"late_speed_mm_s\": "
           "%.3f}",
           engine->name, half + 1, 1e3 * engine->seconds[half], count, 1e3 * sum / n,
           count > 0 ? 1e3 * depths[(size_t)(0.99 * (n - 1))] : 0,
           count > 0 ? 1e3 * depths[count - 1] : 0, engine->unsolved, 1e3 * engine->speed);
}

int rgBench_Pile(int argc, char** argv) {
    rgPileBench bench = {.bodyCount = argc > 1 ? atoi(argv[1]) : 300};
    double duration = argc > 2 ? atof(argv[2]) : 2;
    int repeat = argc > 3 ? atoi(argv[3]) : 3;
    rgMust(bench.bodyCount > 0 && duration > 0 && repeat > 0,
           "usage: rigor bench pile [BODIES [SECONDS [REPEAT]]]");
    bench.steps = (int)lround(duration / rgTimeStep);
    rgBuild(&bench);
    rgAddEngine(&bench, "rigor", false, 0);
    rgAddEngine(&bench, "rigor to 1e-3", false, 1e-3);
    rgAddEngine(&bench, "rigor to 1e-2", false, 1e-2);
#ifdef RIGOR_PEER_PILE
    rgAddEngine(&bench, "bullet", true, 0);
#endif
    for (int r = 0; r < repeat; ++r) {
        for (int e = 0; e < bench.engineCount; ++e) {
            rgRunEngine(&bench, &bench.engines[e], r == 0);
        }
    }
    printf("{\"bodies\": %d, \"steps\": %d, \"dt\": %g, \"runs\": [\n", bench.bodyCount,
           bench.steps, rgTimeStep);
    for (int e = 0; e < bench.engineCount; ++e) {
        for (int h = 0; h < rg_halfCount; ++h) {
            rgPrintHalf(&bench.engines[e], h);
            bool last = e + 1 == bench.engineCount && h + 1 == rg_halfCount;
            printf("%s\n", last ? "]}" : ",");
            free(bench.engines[e].depths[h]);
        }
    }
    for (int i = 0; i < bench.shapeCount; ++i) {
        rgGeometry* geometry = (rgGeometry*)(uintptr_t)bench.shapes[i].geometry;
        rgDestroyGeometry(geometry);
    }
    free(bench.shapes);
    rgDestroyModel(bench.model);
    return 0;
}
