// Farthest vertex of a hull in a direction: a scan of few vertices, or a climb along edges from a
// vertex known or from the seed of the direction. Two vertices are compared at a time.
#include "collision/support.h"
#include "math/two.h"

// Points two by two, with their coordinates along a direction.
typedef struct rgTwos {
    const double *x, *y, *z;
    int stride, count;
} rgTwos;

static inline rgTwo rgTwos_Along(const rgTwos* points, int i, rgVec3 d) {
    int at = i * points->stride;
    return rgBoth(d.x) * rgLoadTwo(points->x + at) + rgBoth(d.y) * rgLoadTwo(points->y + at) +
           rgBoth(d.z) * rgLoadTwo(points->z + at);
}

static inline bool rgTwos_AnyFarther(const rgTwos* points, rgVec3 d, double most) {
    const rgTwo best = rgBoth(most);
    rgTwoInts any = {0, 0};
    for (int i = 0; 2 * i < points->count; ++i) {
        any |= rgTwos_Along(points, i, d) > best;
    }
    return rgAnyOf(any);
}

// First of the points that are farther than `most` and than all others; -1 when none is. most
// becomes its value.
static inline int rgTwos_Farthest(const rgTwos* points, rgVec3 d, double* most) {
    rgLargest farthest = rgAbove(*most);
    rgTwoInts at = {0, 1};
    for (int i = 0; 2 * i < points->count; ++i) {
        rgLargest_Update(&farthest, rgTwos_Along(points, i, d), at);
        at += 2;
    }
    *most = rgLargest_Value(&farthest);
    return rgLargest_Place(&farthest);
}

int rgHull_ScanAlong(const rgHull* hull, double x, double y, double z) {
    rgVec3 d = rgVec(x, y, z);
    double most = rgDot(d, rgHull_Vertex(hull, 0));
    rgTwos all = {hull->x, hull->y, hull->z, 2, hull->vertexCount};
    int best = rgTwos_Farthest(&all, d, &most);
    return best < 0 ? 0 : best;
}

// Cell of a direction on a cube around the origin.
static int rgSeedCell(rgVec3 d) {
    double ax = fabs(d.x), ay = fabs(d.y), az = fabs(d.z);
    int side;
    double u, v, most;
    if (ax >= ay && ax >= az) {
        side = d.x < 0;
        most = ax, u = d.y, v = d.z;
    } else if (ay >= az) {
        side = 2 + (d.y < 0);
        most = ay, u = d.z, v = d.x;
    } else {
        side = 4 + (d.z < 0);
        most = az, u = d.x, v = d.y;
    }
    double s = most > 0 ? 0.5 * RG_SEED_SIDE / most : 0;
    int i = (int)(s * u + 0.5 * RG_SEED_SIDE), j = (int)(s * v + 0.5 * RG_SEED_SIDE);
    i = i < RG_SEED_SIDE ? i : RG_SEED_SIDE - 1;
    j = j < RG_SEED_SIDE ? j : RG_SEED_SIDE - 1;
    return (side * RG_SEED_SIDE + i) * RG_SEED_SIDE + j;
}

static rgVec3 rgSeedDirection(int cell) {
    int side = cell / (RG_SEED_SIDE * RG_SEED_SIDE);
    double u = (cell / RG_SEED_SIDE % RG_SEED_SIDE + 0.5) * 2.0 / RG_SEED_SIDE - 1;
    double v = (cell % RG_SEED_SIDE + 0.5) * 2.0 / RG_SEED_SIDE - 1;
    double s = side % 2 ? -1 : 1;
    return side < 2 ? rgVec(s, u, v) : side < 4 ? rgVec(v, s, u) : rgVec(u, v, s);
}

// Walk along edges while that leads farther in the direction, from start, or from the seed of the
// direction when start is no vertex. Ends at a vertex that no neighbour beats, which on a convex
// polytope is a farthest one.
int rgHull_ClimbAlong(const rgHull* hull, double x, double y, double z, int start) {
    rgVec3 d = rgVec(x, y, z);
    bool known = start >= 0 && start < hull->vertexCount;
    int at = known ? start : hull->seeds[rgSeedCell(d)];
    double most = rgDot(d, rgHull_Vertex(hull, at));
    for (;;) {
        int first = hull->neighborStart[at], count = hull->neighborStart[at + 1] - first;
        const double* p = hull->around + 6 * (size_t)hull->aroundStart[at];
        rgTwos around = {p, p + 2, p + 4, 6, count};
        // Most climbs are short: at the end, who is farthest need not be known.
        if (!rgTwos_AnyFarther(&around, d, most)) {
            return at;
        }
        at = hull->neighbors[first + rgTwos_Farthest(&around, d, &most)];
    }
}

#if !defined(__CUDACC__)

static bool rgHull_StoreAround(rgHull* hull, rgArena* arena) {
    int blocks = 0;
    hull->aroundStart = RG_TAKE(arena, int, hull->vertexCount);
    for (int v = 0; v < hull->vertexCount && hull->aroundStart != NULL; ++v) {
        hull->aroundStart[v] = blocks;
        blocks += (hull->neighborStart[v + 1] - hull->neighborStart[v] + 1) / 2;
    }
    hull->around = RG_TAKE(arena, double, 6 * blocks);
    if (arena->failed) {
        return false;
    }
    for (int v = 0; v < hull->vertexCount; ++v) {
        int first = hull->neighborStart[v], count = hull->neighborStart[v + 1] - first;
        double* around = hull->around + 6 * (size_t)hull->aroundStart[v];
        for (int k = 0; k < count + count % 2; ++k) {
            // An odd one is followed by the vertex itself, which is no farther.
            rgVec3 p = rgHull_Vertex(hull, k < count ? hull->neighbors[first + k] : v);
            double* lane = around + 6 * (k / 2) + k % 2;
            lane[0] = p.x;
            lane[2] = p.y;
            lane[4] = p.z;
        }
    }
    return true;
}

bool rgHull_PrepareClimbs(rgHull* hull, rgArena* arena) {
    if (!rgHull_StoreAround(hull, arena)) {
        return false;
    }
    for (int cell = 0; cell < RG_SEED_COUNT; ++cell) {
        hull->seeds[cell] = rgHull_Scan(hull, rgSeedDirection(cell));
    }
    return true;
}

#endif
