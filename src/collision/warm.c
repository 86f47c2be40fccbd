// Pairs that moved little since the last call: the features that were nearest, if they still are.
// One support of each shape confirms them; otherwise the general search starts anew.
#include "collision/support.h"

#define RG_WARM_TOLERANCE 1e-13 // as of the search, relative to the distance

// Nearest feature of the last call at the present poses: a vertex, edge or triangle of A - B.
typedef struct rgLast {
    rgVec3 a[3], w[3]; // points of A, and of A - B
    double weight[3];
    rgVec3 normal; // unit, from A to B
    double gap;
} rgLast;

static inline bool rgLast_Place(const rgConvexPair* pair, const rgPairCache* cache, int count,
                                rgLast* last) {
    // The cache may be of another pair.
    unsigned countA = (unsigned)rgConvex_VertexCount(pair->a);
    unsigned countB = (unsigned)rgConvex_VertexCount(pair->b);
    for (int k = 0; k < count; ++k) {
        int32_t ia = cache->simplexA[k], ib = cache->simplexB[k];
        if ((unsigned)ia >= countA || (unsigned)ib >= countB) {
            return false;
        }
        rgVec3 b = rgMat3_Multiply(&pair->r, rgConvex_Vertex(pair->b, ib));
        last->a[k] = rgConvex_Vertex(pair->a, ia);
        last->w[k] = rgSub(rgSub(last->a[k], b), pair->t);
    }
    return true;
}

// The origin above or below a triangle: the gap may be negative.
static inline bool rgLast_Triangle(rgLast* last, rgVec3 axis) {
    rgVec3 w = last->w[0], u = rgSub(last->w[1], w), v = rgSub(last->w[2], w), n = rgCross(u, v);
    double nn = rgDot(n, n);
    if (!(nn > 1e-20 * rgDot(u, u) * rgDot(v, v))) {
        return false;
    }
    double inverse = rgDot(n, axis) < 0 ? -1 / sqrt(nn) : 1 / sqrt(nn);
    last->normal = rgScale(inverse, n);
    last->gap = -rgDot(last->normal, w);
    // Areas seen along the normal, relative to the triangle's.
    rgVec3 across = rgScale(inverse * inverse, rgCross(n, w));
    last->weight[1] = -rgDot(across, v);
    last->weight[2] = rgDot(across, u);
    last->weight[0] = 1 - last->weight[1] - last->weight[2];
    return (last->weight[0] >= 0) & (last->weight[1] >= 0) & (last->weight[2] >= 0);
}

// The origin beside an edge or a vertex, at a distance above `least`.
static bool rgLast_Edge(rgLast* last, int count, double least) {
    rgVec3 v = last->w[0];
    last->weight[0] = 1;
    if (count == 2) {
        rgVec3 e = rgSub(last->w[1], v);
        double ee = rgDot(e, e), t = -rgDot(v, e);
        if (!(t > 0 && t < ee)) {
            return false;
        }
        double s = t / ee;
        last->weight[0] = 1 - s;
        last->weight[1] = s;
        v = rgAddScaled(v, s, e);
    }
    last->gap = rgLength(v);
    if (!(last->gap > least)) {
        return false;
    }
    last->normal = rgScale(-1 / last->gap, v);
    return true;
}

static bool rgIsAmong(const rgPairCache* cache, int32_t ia, int32_t ib) {
    for (int k = 0; k < cache->simplexCount; ++k) {
        if (ia == cache->simplexA[k] && ib == cache->simplexB[k]) {
            return true;
        }
    }
    return false;
}

// True if no point of A - B lies beyond the plane through the feature. Differences of vertices are
// compared, so that it does not matter how far apart the shapes are.
static inline bool rgLast_IsSupported(const rgConvexPair* pair, const rgPairCache* cache,
                                      const rgLast* last, double tolerance, rgSigned* out) {
    rgVec3 toB = rgNegate(rgMat3_MultiplyTransposed(&pair->r, last->normal));
    out->vertexA = cache->vertexA;
    out->vertexB = cache->vertexB;
    rgVec3 a = rgConvex_Support(pair->a, last->normal, &out->vertexA);
    rgVec3 b = rgConvex_Support(pair->b, toB, &out->vertexB);
    rgVec3 b0 = rgConvex_Vertex(pair->b, cache->simplexB[0]);
    double beyond = rgDot(last->normal, rgSub(a, last->a[0])) + rgDot(toB, rgSub(b, b0));
    return beyond <= tolerance || rgIsAmong(cache, out->vertexA, out->vertexB);
}

bool rgWarmDistance(const rgConvexPair* pair, const rgPairCache* cache, const rgWarmLimits* limits,
                    rgSigned* out) {
    rgLast last;
    int count = cache->simplexCount;
    if (count == 3) {
        if (!rgLast_Place(pair, cache, 3, &last) || !rgLast_Triangle(&last, cache->axis)) {
            return false;
        }
    } else if (count < 1 || count > 3 || !rgLast_Place(pair, cache, count, &last) ||
               !rgLast_Edge(&last, count, limits->least)) {
        return false;
    }
    if (last.gap <= -limits->shallow &&
        !rgDeep_IsLeast(pair, cache, last.w, last.weight, -last.gap)) {
        return false;
    }
    double scale = RG_MAX(fabs(last.gap), cache->touching ? limits->room : 0);
    if (!rgLast_IsSupported(pair, cache, &last, RG_WARM_TOLERANCE * scale, out)) {
        return false;
    }
    out->gap = last.gap;
    out->normal = last.normal;
    out->pointA = rgScale(last.weight[0], last.a[0]);
    for (int k = 1; k < count; ++k) {
        out->pointA = rgAddScaled(out->pointA, last.weight[k], last.a[k]);
    }
    out->pointB = rgAddScaled(out->pointA, last.gap, last.normal);
    out->beyond = false;
    out->iterations = 1;
    return true;
}
