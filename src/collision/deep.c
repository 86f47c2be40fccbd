// Pairs without relative motion. Deep inside each other: a search of all directions also bounds the
// motion of the shapes until which no other direction can be the least deep; until then a face of A
// - B that is a minimum is the minimum. Apart: they stay so until they have moved by their
// distance. B's last pose is kept in A's frame. docs/theory/collision.md, "Pairs that stay deep",
// "Pairs that stay apart".
#include "collision/support.h"

#define RG_DEEP_ROUNDING 1e-6 // rounding of floats in the cache, relative to the sum of the sizes

static rgVec3 rgOffsetOfB(const rgConvexPair* pair) {
    rgVec3 center = rgAdd(rgMat3_Multiply(&pair->r, pair->b->center), pair->t);
    return rgSub(center, pair->a->center);
}

static void rgStorePlace(const rgConvexPair* pair, rgPairCache* cache) {
    rgVec3 offset = rgOffsetOfB(pair);
    cache->offset[0] = (float)offset.x;
    cache->offset[1] = (float)offset.y;
    cache->offset[2] = (float)offset.z;
    cache->turn[0] = (float)pair->q.w;
    cache->turn[1] = (float)pair->q.x;
    cache->turn[2] = (float)pair->q.y;
    cache->turn[3] = (float)pair->q.z;
}

void rgDeep_Store(const rgConvexPair* pair, const rgEpaResult* epa, rgPairCache* cache) {
    rgStorePlace(pair, cache);
    cache->depth = (float)epa->depth;
    cache->reach = (float)epa->reach;
    cache->rest = (float)epa->rest;
}

// |q - q0| = 2 sin(angle / 4), and a point at distance 1 moves by 2 sin(angle / 2) at most.
static inline double rgTurnSince(const rgPairCache* cache, rgQuat q) {
    double w = q.w - cache->turn[0], x = q.x - cache->turn[1];
    double y = q.y - cache->turn[2], z = q.z - cache->turn[3];
    return 2 * sqrt(w * w + x * x + y * y + z * z);
}

// Bound on how far any point of B moved relative to A, or of A relative to B, since the search.
static double rgDeep_Motion(const rgConvexPair* pair, const rgPairCache* cache) {
    rgVec3 old = rgVec(cache->offset[0], cache->offset[1], cache->offset[2]);
    rgVec3 offset = rgOffsetOfB(pair);
    rgQuat q = pair->q;
    double turn = rgTurnSince(cache, q);
    double a = pair->a->scale, b = pair->b->scale;
    double inA = rgLength(rgSub(offset, old)) + turn * b;
    // In the frame of B the center of A has moved by the same, and by the turn of the offset.
    rgQuat before = {cache->turn[0], cache->turn[1], cache->turn[2], cache->turn[3]};
    rgVec3 seen = rgSub(rgRotateBack(q, offset), rgRotateBack(before, old));
    double inB = rgLength(seen) + turn * a;
    return RG_MIN(inA, inB) + RG_DEEP_ROUNDING * (a + b);
}

// Distance from the point with these weights to the nearest edge of a triangle.
static double rgTriangleReach(const rgVec3 w[3], const double weight[3]) {
    rgVec3 e0 = rgSub(w[2], w[1]), e1 = rgSub(w[0], w[2]), e2 = rgSub(w[1], w[0]);
    double area = rgLength(rgCross(e1, e2));
    double r0 = weight[0] / rgLength(e0), r1 = weight[1] / rgLength(e1);
    double r2 = weight[2] / rgLength(e2);
    return area * RG_MIN(r0, RG_MIN(r1, r2));
}

bool rgDeep_IsLeast(const rgConvexPair* pair, const rgPairCache* cache, const rgVec3 w[3],
                    const double weight[3], double depth) {
    double rest = cache->rest;
    if (!(rest > 0) || !(depth < rest)) {
        return false;
    }
    double s = depth + rgDeep_Motion(pair, cache);
    if (!(s < rest)) {
        return false;
    }
    // Directions less deep than this are within the angle whose tangent is t of the old normal.
    double d = cache->depth, reach = cache->reach;
    double room = d * d + reach * reach - s * s;
    if (!(room >= 0)) {
        return false;
    }
    double t = (s * s - d * d) / (d * reach + s * sqrt(room));
    return rgTriangleReach(w, weight) >= depth * t;
}

void rgApart_Store(const rgConvexPair* pair, double distance, rgPairCache* cache) {
    rgStorePlace(pair, cache);
    cache->depth = (float)-distance;
    cache->reach = cache->rest = 0;
}

// Result in the order of the pair: a is first.
static inline bool rgStaysApartFrom(const rgCollideInput* in, const rgConvex* a, const rgConvex* b,
                                    rgQuat q, rgVec3 offset) {
    const rgPairCache* cache = in->cache;
    rgVec3 old = rgVec(cache->offset[0], cache->offset[1], cache->offset[2]);
    double motion = rgLength(rgSub(offset, old)) + rgTurnSince(cache, q) * b->scale;
    double rounding = RG_DEEP_ROUNDING * (a->scale + b->scale - cache->depth);
    return -cache->depth > in->margin + motion + rounding;
}

bool rgStaysApart(const rgCollideInput* in, const rgPlacement* a, const rgPlacement* b) {
    rgQuat q = rgQuatMultiply(rgQuatConjugate(in->poseA->q), in->poseB->q);
    if (rgIsSwapped(in->a->kind, in->b->kind)) {
        rgVec3 offset = rgRot_ApplyBack(&b->axes, rgSub(a->center, b->center));
        return rgStaysApartFrom(in, &in->b->convex, &in->a->convex, rgQuatConjugate(q), offset);
    }
    rgVec3 offset = rgRot_ApplyBack(&a->axes, rgSub(b->center, a->center));
    return rgStaysApartFrom(in, &in->a->convex, &in->b->convex, q, offset);
}
