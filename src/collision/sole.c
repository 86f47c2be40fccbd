// The vertices of a hull that are near a plane. They stand in blocks of neighbours, each with a
// box, so that those far above are passed over together.
#include "collision/sole.h"
#include "collision/support.h"
#include "math/two.h"

#include <stdlib.h>

typedef struct rgFour {
    rgTwo low, high;
} rgFour;

static inline rgFour rgFour_All(double x) {
    return (rgFour){rgBoth(x), rgBoth(x)};
}
static inline rgFour rgFour_Load(const double* p) {
    return (rgFour){rgLoadTwo(p), rgLoadTwo(p + 2)};
}
static inline void rgFour_Store(double* p, rgFour a) {
    rgStoreTwo(p, a.low);
    rgStoreTwo(p + 2, a.high);
}
static inline rgFour rgFour_Add(rgFour a, rgFour b) {
    return (rgFour){a.low + b.low, a.high + b.high};
}
static inline rgFour rgFour_Subtract(rgFour a, rgFour b) {
    return (rgFour){a.low - b.low, a.high - b.high};
}
static inline rgFour rgFour_Multiply(rgFour a, rgFour b) {
    return (rgFour){a.low * b.low, a.high * b.high};
}
// a > b ? c : d
static inline rgFour rgFour_Choose(rgFour a, rgFour b, rgFour c, rgFour d) {
    return (rgFour){rgChooseTwo(a.low > b.low, c.low, d.low),
                    rgChooseTwo(a.high > b.high, c.high, d.high)};
}
// a > b ? a : b
static inline rgFour rgFour_Larger(rgFour a, rgFour b) {
    return rgFour_Choose(a, b, a, b);
}
// Bits of those with a <= b.
static inline unsigned rgFour_NotAbove(rgFour a, rgFour b) {
    rgTwoInts low = (a.low <= b.low) & (rgTwoInts){1, 2};
    rgTwoInts high = (a.high <= b.high) & (rgTwoInts){4, 8};
    return (unsigned)(low[0] | low[1] | high[0] | high[1]);
}

#include "collision/sole_scan.h"

void rgFindSole(const rgHull* hull, const rgSolePlane* plane, rgSole* sole) {
#if defined(__x86_64__) && !defined(__CUDACC__)
    if (__builtin_cpu_supports("avx2")) {
        rgFindSoleAvx2(hull, plane, sole);
        return;
    }
#endif
    rgFindSoleWith(hull, plane, sole);
}

#if !defined(__CUDACC__)

// ---- blocks

typedef struct rgPlaceKey {
    double along;
    int32_t vertex;
} rgPlaceKey;

static int rgCompareKeys(const void* p, const void* q) {
    const rgPlaceKey *a = p, *b = q;
    if (a->along != b->along) {
        return a->along < b->along ? -1 : 1;
    }
    return (a->vertex > b->vertex) - (a->vertex < b->vertex);
}

static rgBox rgBoxOfVertices(const rgHull* hull, const int32_t* vertices, int count) {
    rgVec3 first = rgHull_Vertex(hull, vertices[0]);
    rgBox box = {first, first};
    for (int k = 1; k < count; ++k) {
        box.lower = rgMin3(box.lower, rgHull_Vertex(hull, vertices[k]));
        box.upper = rgMax3(box.upper, rgHull_Vertex(hull, vertices[k]));
    }
    return box;
}

// Halves across the longest side, until each is a block.
static void rgSplitVertices(const rgHull* hull, int32_t* vertices, int count, rgPlaceKey* keys) {
    if (count <= RG_BLOCK_SIZE) {
        return;
    }
    rgBox box = rgBoxOfVertices(hull, vertices, count);
    rgVec3 size = rgSub(box.upper, box.lower);
    int axis = size.x >= size.y && size.x >= size.z ? 0 : size.y >= size.z ? 1 : 2;
    for (int k = 0; k < count; ++k) {
        keys[k] = (rgPlaceKey){rgVec3_At(rgHull_Vertex(hull, vertices[k]), axis), vertices[k]};
    }
    qsort(keys, (size_t)count, sizeof(rgPlaceKey), rgCompareKeys);
    for (int k = 0; k < count; ++k) {
        vertices[k] = keys[k].vertex;
    }
    int blocks = (count + RG_BLOCK_SIZE - 1) / RG_BLOCK_SIZE, half = blocks / 2 * RG_BLOCK_SIZE;
    rgSplitVertices(hull, vertices, half, keys);
    rgSplitVertices(hull, vertices + half, count - half, keys);
}

static void rgStoreBlock(const rgHull* hull, rgHullBlocks* blocks, int block) {
    int first = block * RG_BLOCK_SIZE, count = RG_MIN(RG_BLOCK_SIZE, hull->vertexCount - first);
    rgBox box = rgBoxOfVertices(hull, blocks->vertices + first, count);
    for (int i = 0; i < 3; ++i) {
        blocks->lower[i][block] = rgVec3_At(box.lower, i);
        blocks->upper[i][block] = rgVec3_At(box.upper, i);
        for (int k = 0; k < RG_BLOCK_SIZE; ++k) {
            int32_t vertex = blocks->vertices[first + (k < count ? k : 0)];
            blocks->points[i][first + k] = rgVec3_At(rgHull_Vertex(hull, vertex), i);
        }
    }
}

bool rgHull_MakeBlocks(rgHull* hull, rgArena* arena, rgArena* scratch) {
    rgHullBlocks* blocks = &hull->blocks;
    int count = (hull->vertexCount + RG_BLOCK_SIZE - 1) / RG_BLOCK_SIZE,
        boxes = (count + 3) / 4 * 4;
    blocks->count = count;
    blocks->vertices = RG_TAKE(arena, int32_t, count * RG_BLOCK_SIZE);
    for (int i = 0; i < 3; ++i) {
        blocks->lower[i] = RG_TAKE(arena, double, boxes);
        blocks->upper[i] = RG_TAKE(arena, double, boxes);
        blocks->points[i] = RG_TAKE(arena, double, count* RG_BLOCK_SIZE);
    }
    rgPlaceKey* keys = RG_TAKE(scratch, rgPlaceKey, hull->vertexCount);
    if (arena->failed || scratch->failed) {
        return false;
    }
    for (int k = 0; k < count * RG_BLOCK_SIZE; ++k) {
        blocks->vertices[k] = k < hull->vertexCount ? k : 0;
    }
    rgSplitVertices(hull, blocks->vertices, hull->vertexCount, keys);
    for (int b = 0; b < count; ++b) {
        rgStoreBlock(hull, blocks, b);
    }
    for (int b = count; b < boxes; ++b) {
        for (int i = 0; i < 3; ++i) {
            blocks->lower[i][b] = blocks->lower[i][0];
            blocks->upper[i][b] = blocks->upper[i][0];
        }
    }
    return true;
}

#endif
