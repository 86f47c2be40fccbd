// Collision detection: pairs in nanoseconds, distances and broadphase beside libccd, FCL, Bullet.
// Minimum over repetitions of one loop over prepared poses; peers run interleaved with rigor.
// Output is JSON.
#include "rigor/collision.h"
#include "measure.h"
#ifdef RIGOR_PEER_COLLISION
#include "collision_peers.h"
#endif

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define RG_POSES 256
#define RG_RUNS  15

static double rgNow(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static uint64_t rgBits(uint64_t* state) {
    uint64_t z = (*state += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

static double rgUniform(uint64_t* state, double low, double high) {
    return low + (high - low) * ((double)(rgBits(state) >> 11) * 0x1p-53);
}

static rgVec3 rgOnSphere(uint64_t* state) {
    rgVec3 d;
    do {
        d = rgVec(rgUniform(state, -1, 1), rgUniform(state, -1, 1), rgUniform(state, -1, 1));
    } while (rgLength(d) > 1 || rgLength(d) < 0.01);
    return rgNormalize(d);
}

static rgQuat rgTurn(uint64_t* state) {
    return rgQuatFromRotationVector(rgScale(rgUniform(state, 0, 3.1), rgOnSphere(state)));
}

static rgGeometry* rgMakeShape(rgShapeKind kind, double x, double y, double z) {
    rgGeometryDef def = rgDefaultGeometryDef();
    def.kind = kind;
    def.size = rgVec(x, y, z);
    rgGeometry* g = NULL;
    rgCreateGeometry(&def, NULL, &g);
    return g;
}

static rgGeometry* rgMakeBall(int count, uint64_t* state) {
    double* points = malloc(3 * (size_t)count * sizeof(double));
    for (int i = 0; i < count; ++i) {
        rgVec3 d = rgOnSphere(state);
        points[3 * i] = d.x;
        points[3 * i + 1] = 0.8 * d.y;
        points[3 * i + 2] = 0.6 * d.z;
    }
    rgMeshData mesh = {.vertexCount = count, .vertices = points};
    rgGeometryDef def = rgDefaultGeometryDef();
    def.kind = rg_shapeHull;
    def.mesh = &mesh;
    rgGeometry* g = NULL;
    rgCreateGeometry(&def, NULL, &g);
    free(points);
    return g;
}

// ---- manifolds

typedef struct rgPairBench {
    const char* name;
    rgGeometry *a, *b;
    rgPose pa[RG_POSES], pb[RG_POSES];
    rgPairCache caches[RG_POSES];
    double margin;
    bool keepCache;
} rgPairBench;

// B at the given gap from A, along a random direction, then exactly by the measured distance.
static void rgPlaceNear(rgPairBench* bench, int k, double gap, uint64_t* state) {
    bench->pa[k] = (rgPose){rgOnSphere(state), rgTurn(state)};
    rgVec3 n = rgGeometry_Kind(bench->a) == rg_shapePlane ? rgRotate(bench->pa[k].q, rgVec(0, 0, 1))
                                                          : rgOnSphere(state);
    bench->pb[k] = (rgPose){rgAddScaled(bench->pa[k].p, 4, n), rgTurn(state)};
    for (int i = 0; i < 4; ++i) {
        rgProximity p;
        rgDistance(bench->a, bench->pa[k], bench->b, bench->pb[k], NULL, &p);
        bench->pb[k].p = rgAddScaled(bench->pb[k].p, gap - p.distance, p.normal);
    }
}

static double rgTimePairs(rgPairBench* bench, double* points) {
    double best = 1e30;
    int total = 0;
    for (int run = 0; run < 10 * RG_RUNS; ++run) {
        total = 0;
        double start = rgNow();
        for (int k = 0; k < RG_POSES; ++k) {
            rgManifold m;
            total += rgCollide(bench->a, bench->pa[k], bench->b, bench->pb[k], bench->margin,
                               bench->keepCache ? &bench->caches[k] : NULL, &m);
        }
        double time = (rgNow() - start) / RG_POSES;
        best = time < best ? time : best;
    }
    *points = (double)total / RG_POSES;
    return best;
}

static void rgRunPair(const char* name, rgGeometry* a, rgGeometry* b, double low, double high,
                      bool keepCache) {
    static rgPairBench bench;
    uint64_t state = 7;
    memset(&bench, 0, sizeof(bench));
    bench.a = a;
    bench.b = b;
    bench.margin = 0.02;
    bench.keepCache = keepCache;
    for (int k = 0; k < RG_POSES; ++k) {
        rgPlaceNear(&bench, k, rgUniform(&state, low, high), &state);
    }
    double points, time = rgTimePairs(&bench, &points);
    printf("    {\"pair\": \"%s\", \"gap\": [%g, %g], \"warm\": %s, \"ns\": %.1f, "
           "\"points\": %.2f},\n",
           name, low, high, keepCache ? "true" : "false", 1e9 * time, points);
}

// A box flat on a box, as in a stack.
static void rgRunStack(rgGeometry* a, rgGeometry* b, const char* name) {
    static rgPairBench bench;
    uint64_t state = 8;
    memset(&bench, 0, sizeof(bench));
    bench.a = a;
    bench.b = b;
    bench.margin = 0.005;
    bench.keepCache = true;
    double top = rgGeometry_LocalBox(a).upper.z - rgGeometry_LocalBox(b).lower.z;
    for (int k = 0; k < RG_POSES; ++k) {
        bench.pa[k] = rgPoseIdentity();
        rgVec3 p = rgVec(rgUniform(&state, -0.3, 0.3), rgUniform(&state, -0.3, 0.3),
                         top + rgUniform(&state, -1e-4, 1e-4));
        rgQuat q = rgQuatFromAxisAngle(rgVec(0, 0, 1), rgUniform(&state, -1, 1));
        rgVec3 tilt = rgScale(1e-4, rgOnSphere(&state));
        bench.pb[k] = (rgPose){p, rgQuatMultiply(rgQuatFromRotationVector(tilt), q)};
    }
    double points, time = rgTimePairs(&bench, &points);
    printf("    {\"pair\": \"%s\", \"warm\": true, \"ns\": %.1f, \"points\": %.2f},\n", name,
           1e9 * time, points);
}

static void rgRunPairs(void) {
    uint64_t state = 3;
    rgGeometry* plane = rgMakeShape(rg_shapePlane, 0, 0, 0);
    rgGeometry* sphere = rgMakeShape(rg_shapeSphere, 0.3, 0, 0);
    rgGeometry* capsule = rgMakeShape(rg_shapeCapsule, 0.2, 0.5, 0);
    rgGeometry* box = rgMakeShape(rg_shapeBox, 0.5, 0.4, 0.3);
    rgGeometry* cylinder = rgMakeShape(rg_shapeCylinder, 0.3, 0.5, 0);
    rgGeometry* hull32 = rgMakeBall(32, &state);
    rgGeometry* hull200 = rgMakeBall(200, &state);
    rgGeometry* hull1000 = rgMakeBall(1000, &state);
    printf("  \"manifolds\": [\n");
    rgRunPair("plane-sphere", plane, sphere, -0.01, 0.01, false);
    rgRunPair("plane-capsule", plane, capsule, -0.01, 0.01, false);
    rgRunPair("plane-box", plane, box, -0.01, 0.01, false);
    rgRunPair("plane-hull32", plane, hull32, -0.01, 0.01, true);
    rgRunPair("plane-hull1000", plane, hull1000, -0.01, 0.01, true);
    rgRunPair("plane-hull1000", plane, hull1000, -0.01, 0.01, false);
    rgRunPair("sphere-sphere", sphere, sphere, -0.01, 0.01, false);
    rgRunPair("capsule-capsule", capsule, capsule, -0.01, 0.01, false);
    rgRunPair("sphere-box", sphere, box, -0.01, 0.01, false);
    rgRunPair("box-box", box, box, -0.01, 0.01, false);
    rgRunPair("box-box apart", box, box, 0.05, 0.2, false);
    rgRunPair("capsule-box", capsule, box, -0.01, 0.01, false);
    rgRunPair("capsule-box", capsule, box, -0.01, 0.01, true);
    rgRunPair("cylinder-box", cylinder, box, -0.01, 0.01, true);
    rgRunPair("hull32-hull32", hull32, hull32, -0.01, 0.01, true);
    rgRunPair("hull200-hull200", hull200, hull200, -0.01, 0.01, true);
    rgRunPair("hull1000-hull1000", hull1000, hull1000, -0.01, 0.01, true);
    rgRunPair("hull1000-hull1000", hull1000, hull1000, -0.01, 0.01, false);
    rgRunPair("hull1000-hull1000 apart", hull1000, hull1000, 0.05, 0.2, true);
    rgRunStack(box, box, "box on box");
    printf("    {}\n  ],\n");
    rgGeometry* all[] = {plane, sphere, capsule, box, cylinder, hull32, hull200, hull1000};
    for (int i = 0; i < 8; ++i) {
        rgDestroyGeometry(all[i]);
    }
}

// ---- distances of hulls, cold and along a path

#define RG_PATH 256

typedef struct rgDistanceBench {
    rgGeometry *a, *b;
    rgPose pa[RG_PATH], pb[RG_PATH];
    double expected[RG_PATH];
} rgDistanceBench;

static void rgMakeColdPoses(rgDistanceBench* bench, uint64_t* state) {
    for (int k = 0; k < RG_PATH; ++k) {
        bench->pa[k] = (rgPose){rgOnSphere(state), rgTurn(state)};
        rgVec3 away = rgScale(rgUniform(state, 2, 4), rgOnSphere(state));
        bench->pb[k] = (rgPose){rgAdd(bench->pa[k].p, away), rgTurn(state)};
    }
}

// B circles A slowly: 2 mm and 2 mrad from pose to pose.
static void rgMakePath(rgDistanceBench* bench, uint64_t* state) {
    rgQuat turn = rgQuatFromRotationVector(rgScale(2e-3, rgOnSphere(state)));
    rgPose at = {rgVec(2.2, 0, 0), rgTurn(state)};
    for (int k = 0; k < RG_PATH; ++k) {
        bench->pa[k] = rgPoseIdentity();
        bench->pb[k] = at;
        at.p = rgRotate(rgQuatFromRotationVector(rgVec(0, 0, 1e-3)), at.p);
        at.q = rgQuatNormalize(rgQuatMultiply(turn, at.q));
    }
}

typedef double rgDistanceFcn(rgDistanceBench* bench, int k, void* context);

static double rgOwnCold(rgDistanceBench* bench, int k, void* context) {
    (void)context;
    rgProximity p;
    rgDistance(bench->a, bench->pa[k], bench->b, bench->pb[k], NULL, &p);
    return p.distance;
}

static double rgOwnWarm(rgDistanceBench* bench, int k, void* context) {
    rgProximity p;
    rgDistance(bench->a, bench->pa[k], bench->b, bench->pb[k], context, &p);
    return p.distance;
}

static double rgTimeDistances(rgDistanceBench* bench, rgDistanceFcn* run, void* context,
                              double* error) {
    *error = 0;
    double start = rgNow();
    double values[RG_PATH];
    for (int k = 0; k < RG_PATH; ++k) {
        values[k] = run(bench, k, context);
    }
    double time = (rgNow() - start) / RG_PATH;
    for (int k = 0; k < RG_PATH; ++k) {
        double off = fabs(values[k] - bench->expected[k]);
        *error = off > *error ? off : *error;
    }
    return time;
}

#ifdef RIGOR_PEER_COLLISION
typedef struct rgPeerPair {
    PeerHull *a, *b;
    double (*distance)(PeerHull* a, const double* poseA, PeerHull* b, const double* poseB);
} rgPeerPair;

static double rgPeerDistance(rgDistanceBench* bench, int k, void* context) {
    rgPeerPair* pair = context;
    return pair->distance(pair->a, &bench->pa[k].p.x, pair->b, &bench->pb[k].p.x);
}

static PeerHull* rgPeerHull(const rgGeometry* g) {
    rgHullView v;
    rgGeometry_Hull(g, &v);
    int size = v.faceCount + v.faceStart[v.faceCount], used = 0;
    int* polygons = malloc((size_t)size * sizeof(int));
    for (int f = 0; f < v.faceCount; ++f) {
        polygons[used++] = v.faceStart[f + 1] - v.faceStart[f];
        for (int i = v.faceStart[f]; i < v.faceStart[f + 1]; ++i) {
            polygons[used++] = v.faceVertices[i];
        }
    }
    PeerHull* hull = peerCreateHull(v.vertexCount, v.vertices, v.faceCount, polygons, size);
    free(polygons);
    return hull;
}
#endif

static void rgKeepBest(double* best, double time) {
    *best = time < *best ? time : *best;
}

static void rgRunDistance(int vertices, bool warm) {
    static rgDistanceBench bench;
    uint64_t state = 11 + (uint64_t)vertices;
    bench.a = rgMakeBall(vertices, &state);
    bench.b = rgMakeBall(vertices, &state);
    if (warm) {
        rgMakePath(&bench, &state);
    } else {
        rgMakeColdPoses(&bench, &state);
    }
    for (int k = 0; k < RG_PATH; ++k) {
        bench.expected[k] = rgOwnCold(&bench, k, NULL);
    }
    double own = 1e30, ownError = 0;
    double peers[3] = {1e30, 1e30, 1e30}, errors[3] = {0, 0, 0};
#ifdef RIGOR_PEER_COLLISION
    PeerHull *a = rgPeerHull(bench.a), *b = rgPeerHull(bench.b);
    rgPeerPair pairs[3] = {
        {a, b, peerFclDistance}, {a, b, peerCcdDistance}, {a, b, peerBulletDistance}};
#endif
    for (int run = 0; run < RG_RUNS; ++run) {
        rgPairCache cache = {0};
        rgKeepBest(&own, rgTimeDistances(&bench, warm ? rgOwnWarm : rgOwnCold, &cache, &ownError));
#ifdef RIGOR_PEER_COLLISION
        for (int p = 0; p < 3 && run < 5; ++p) {
            rgKeepBest(&peers[p], rgTimeDistances(&bench, rgPeerDistance, &pairs[p], &errors[p]));
        }
#endif
    }
    printf("    {\"vertices\": %d, \"warm\": %s, \"ns\": %.0f, \"error\": %.2g, "
           "\"fcl_ns\": %.0f, \"fcl_error\": %.2g, \"ccd_ns\": %.0f, \"ccd_error\": %.2g, "
           "\"bullet_ns\": %.0f, \"bullet_error\": %.2g},\n",
           vertices, warm ? "true" : "false", 1e9 * own, ownError, 1e9 * peers[0], errors[0],
           1e9 * peers[1], errors[1], 1e9 * peers[2], errors[2]);
#ifdef RIGOR_PEER_COLLISION
    peerDestroyHull(a);
    peerDestroyHull(b);
#endif
    rgDestroyGeometry(bench.a);
    rgDestroyGeometry(bench.b);
}

// ---- broadphase

#define RG_STEPS 40

typedef struct rgCrowd {
    int count;
    double* centers;    // centers at the present step
    double* velocities; // per step
} rgCrowd;

static rgCrowd rgMakeCrowd(int count) {
    rgCrowd crowd = {.count = count};
    uint64_t state = 5;
    // About three overlaps per box, whatever the number.
    double room = 0.5 * cbrt(count / 0.4);
    crowd.centers = malloc(3 * (size_t)count * sizeof(double));
    crowd.velocities = malloc(3 * (size_t)count * sizeof(double));
    for (int i = 0; i < 3 * count; ++i) {
        crowd.centers[i] = rgUniform(&state, -room, room);
        crowd.velocities[i] = rgUniform(&state, -0.01, 0.01);
    }
    return crowd;
}

static void rgMoveCrowd(rgCrowd* crowd) {
    for (int i = 0; i < 3 * crowd->count; ++i) {
        crowd->centers[i] += crowd->velocities[i];
    }
}

static rgBox rgCrowdBox(const rgCrowd* crowd, int i) {
    const double* c = crowd->centers + 3 * i;
    return (rgBox){rgVec(c[0] - 0.5, c[1] - 0.5, c[2] - 0.5),
                   rgVec(c[0] + 0.5, c[1] + 0.5, c[2] + 0.5)};
}

static int rgStepCrowd(const rgCrowd* crowd, rgBroadphase* bp) {
    for (int i = 0; i < crowd->count; ++i) {
        rgBroadphase_Move(bp, i, rgCrowdBox(crowd, i));
    }
    rgBroadphase_Update(bp, NULL, NULL);
    int count, overlaps = 0;
    const rgProxyPair* pairs = rgBroadphase_Pairs(bp, &count);
    for (int k = 0; k < count; ++k) {
        overlaps += rgBroadphase_BoxesOverlap(bp, pairs[k], 0);
    }
    return overlaps;
}

typedef struct rgCrowdTimes {
    double own, fcl; // per step
    int pairs, fclPairs;
} rgCrowdTimes;

// One run of all steps; the two libraries alternate.
static void rgTimeCrowd(int count, rgCrowdTimes* times) {
    rgCrowd crowd = rgMakeCrowd(count);
    rgBroadphaseDef def = rgDefaultBroadphaseDef();
    rgBroadphase* bp = NULL;
    rgCreateBroadphase(&def, &bp);
    for (int i = 0; i < count; ++i) {
        int proxy;
        rgBroadphase_Add(bp, rgCrowdBox(&crowd, i), &proxy);
    }
    rgBroadphase_Update(bp, NULL, NULL);
    *times = (rgCrowdTimes){0};
#ifdef RIGOR_PEER_COLLISION
    PeerCrowd* peer = peerCreateCrowd(count, crowd.centers, 0.5);
#endif
    for (int step = 0; step < RG_STEPS; ++step) {
        rgMoveCrowd(&crowd);
        double start = rgNow();
        times->pairs = rgStepCrowd(&crowd, bp);
        times->own += (rgNow() - start) / RG_STEPS;
#ifdef RIGOR_PEER_COLLISION
        start = rgNow();
        times->fclPairs = peerStepCrowd(peer, crowd.centers);
        times->fcl += (rgNow() - start) / RG_STEPS;
#endif
    }
#ifdef RIGOR_PEER_COLLISION
    peerDestroyCrowd(peer);
#endif
    rgDestroyBroadphase(bp);
    free(crowd.centers);
    free(crowd.velocities);
}

static void rgRunCrowd(int count) {
    rgCrowdTimes best = {.own = 1e30, .fcl = 1e30}, times;
    for (int run = 0; run < 5; ++run) {
        rgTimeCrowd(count, &times);
        rgKeepBest(&best.own, times.own);
        rgKeepBest(&best.fcl, times.fcl);
    }
    printf("    {\"bodies\": %d, \"pairs\": %d, \"ms\": %.3f, \"ns_per_body\": %.0f, "
           "\"fcl_ms\": %.3f, \"fcl_pairs\": %d},\n",
           count, times.pairs, 1e3 * best.own, 1e9 * best.own / count, 1e3 * best.fcl,
           times.fclPairs);
}

static bool rgIsWanted(int count, char** names, const char* name) {
    bool wanted = count == 1;
    for (int i = 1; i < count; ++i) {
        wanted |= strcmp(names[i], name) == 0;
    }
    return wanted;
}

// Sections may be named: manifolds, distances, broadphase.
int rgBench_Collision(int count, char** names) {
    static const int sizes[] = {32, 200, 1000}, crowds[] = {1000, 10000, 30000};
    printf("{\n");
    if (rgIsWanted(count, names, "manifolds")) {
        rgRunPairs();
    }
    printf("  \"distances\": [\n");
    for (int i = 0; i < 3 && rgIsWanted(count, names, "distances"); ++i) {
        rgRunDistance(sizes[i], false);
        rgRunDistance(sizes[i], true);
    }
    printf("    {}\n  ],\n  \"broadphase\": [\n");
    for (int i = 0; i < 3 && rgIsWanted(count, names, "broadphase"); ++i) {
        rgRunCrowd(crowds[i]);
    }
    printf("    {}\n  ]\n}\n");
    return 0;
}
