// Pairs that moved little since the last call: the features that were nearest, if they still are.
// One support of each shape confirms them; otherwise the general search starts anew.
#include "collision/support.h"

#define RG_WARM_TOLERANCE 1e-13 // as of the search, relative to the distance

// What was nearest last time, where it is now: a vertex, edge or triangle of A - B.
typedef struct rgLast {
    int count;
    rgVec3 a[3], b[3], w[3]; // w = a - b; b in the frame of A
    double weight[3];
    rgVec3 normal; // unit, from A to B
    double gap;
} rgLast;

static bool rgLast_Place(const rgConvexPair* pair, const rgPairCache* cache, rgLast* last) {
    last->count = cache->simplexCount;
    if (last->count < 1 || last->count > 3) {
        return false;
    }
    // The cache may be of another pair.
    unsigned countA = (unsigned)rgConvex_VertexCount(pair->a);
    unsigned countB = (unsigned)rgConvex_VertexCount(pair->b);
    for (int k = 0; k < last->count; ++k) {
        int32_t ia = cache->simplexA[k], ib = cache->simplexB[k];
        if ((unsigned)ia >= countA || (unsigned)ib >= countB) {
            return false;
        }
        rgVec3 b = rgConvex_Vertex(pair->b, ib);
        last->a[k] = rgConvex_Vertex(pair->a, ia);
        last->b[k] = rgAdd(rgMat3_Multiply(&pair->r, b), pair->t);
        last->w[k] = rgSub(last->a[k], last->b[k]);
    }
    return true;
}

// The origin above or below a triangle: the gap may be negative.
static bool rgLast_Triangle(rgLast* last, rgVec3 axis) {
    const rgVec3* w = last->w;
    rgVec3 u = rgSub(w[1], w[0]), v = rgSub(w[2], w[0]), n = rgCross(u, v);
    double nn = rgDot(n, n);
    if (!(nn > 1e-20 * rgDot(u, u) * rgDot(v, v))) {
        return false;
    }
    double inverse = rgDot(n, axis) < 0 ? -1 / sqrt(nn) : 1 / sqrt(nn);
    last->normal = rgScale(inverse, n);
    last->gap = -rgDot(last->normal, w[0]);
    rgVec3 foot = rgScale(-last->gap, last->normal);
    rgVec3 a = rgSub(w[0], foot), b = rgSub(w[1], foot), c = rgSub(w[2], foot);
    double wa = rgDot(n, rgCross(b, c)), wb = rgDot(n, rgCross(c, a)), wc = rgDot(n, rgCross(a, b));
    double s = 1 / (wa + wb + wc);
    last->weight[0] = s * wa;
    last->weight[1] = s * wb;
    last->weight[2] = s * wc;
    return (wa >= 0) & (wb >= 0) & (wc >= 0);
}

// The origin beside an edge or a vertex, at a distance above `least`.
static bool rgLast_Edge(rgLast* last, double least) {
    rgVec3 v = last->w[0];
    last->weight[0] = 1;
    if (last->count == 2) {
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

// Whether no point of A - B lies beyond the plane through the feature. Differences of vertices are
// compared, so that it does not matter how far apart the shapes are.
static bool rgLast_IsSupported(const rgConvexPair* pair, const rgPairCache* cache,
                               const rgLast* last, double tolerance, rgSigned* out) {
    rgVec3 toB = rgNegate(rgMat3_MultiplyTransposed(&pair->r, last->normal));
    out->vertexA = cache->vertexA;
    out->vertexB = cache->vertexB;
    rgVec3 a = rgConvex_Support(pair->a, last->normal, &out->vertexA);
    rgVec3 b = rgConvex_Support(pair->b, toB, &out->vertexB);
    rgVec3 b0 = rgConvex_Vertex(pair->b, cache->simplexB[0]);
    double beyond = rgDot(last->normal, rgSub(a, last->a[0])) + rgDot(toB, rgSub(b, b0));
    if (beyond <= tolerance) {
        return true;
    }
    for (int k = 0; k < last->count; ++k) {
        if (out->vertexA == cache->simplexA[k] && out->vertexB == cache->simplexB[k]) {
            return true;
        }
    }
    return false;
}

bool rgWarmDistance(const rgConvexPair* pair, const rgPairCache* cache, double least, double room,
                    rgSigned* out) {
    rgLast last;
    if (!rgLast_Place(pair, cache, &last) ||
        !(last.count == 3 ? rgLast_Triangle(&last, cache->axis) : rgLast_Edge(&last, least))) {
        return false;
    }
    double scale = RG_MAX(fabs(last.gap), cache->touching ? room : 0);
    if (!rgLast_IsSupported(pair, cache, &last, RG_WARM_TOLERANCE * scale, out)) {
        return false;
    }
    out->gap = last.gap;
    out->normal = last.normal;
    out->pointA = rgScale(last.weight[0], last.a[0]);
    out->pointB = rgScale(last.weight[0], last.b[0]);
    for (int k = 1; k < last.count; ++k) {
        out->pointA = rgAddScaled(out->pointA, last.weight[k], last.a[k]);
        out->pointB = rgAddScaled(out->pointB, last.weight[k], last.b[k]);
    }
    out->beyond = false;
    out->iterations = 1;
    return true;
}
