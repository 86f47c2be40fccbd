// Corners and edges of two shapes that meet close to their ends. Any normal between the faces that
// meet there is as good for sharp shapes; depth alone would take a face's, and jump with it. The
// direction between shapes that are smaller by a little is continuous, and symmetric where the
// shapes are. docs/theory/collision.md, "Manifolds".
#include "collision/support.h"

// Cosine of 26 degrees: faces that bend less make no corner, as those of hulls that approximate a
// smooth surface.
#define RG_BLUNT_CORNER 0.9
#define RG_CORNER_FACES 24
// Inset relative to the thinner shape. Along such a normal shapes are a little deeper than along
// that of a face, by the more the rounder they are; robots of meshes are full of corners that jam.
#define RG_CORNER_ROUND 0.002
// The normal may cost as many insets of depth: corners move by more than faces.
#define RG_CORNER_DEEP 8

static bool rgHasCorners(const rgConvex* c) {
    bool sharp = c->kind == rg_shapeBox || c->kind == rg_shapeHull || c->kind == rg_shapeCylinder;
    return sharp && c->radius == 0;
}

// ---- faces near a point

// Outward normals of faces and their distances from the origin, in the frame of their shape.
typedef struct rgNearFaces {
    int count;
    rgVec3 normal[RG_CORNER_FACES];
    double offset[RG_CORNER_FACES];
} rgNearFaces;

static void rgNearFaces_Add(rgNearFaces* f, rgVec3 x, double depth, rgVec3 normal, double offset) {
    if (f->count < RG_CORNER_FACES && rgDot(normal, x) - offset >= -depth) {
        f->normal[f->count] = normal;
        f->offset[f->count++] = offset;
    }
}

static void rgFacesOfHull(const rgHull* hull, const int32_t ids[3], rgVec3 x, double depth,
                          rgNearFaces* f) {
    for (int k = 0; k < 3 && ids[k] >= 0; ++k) {
        for (int i = hull->vertexFaceStart[ids[k]]; i < hull->vertexFaceStart[ids[k] + 1]; ++i) {
            int face = hull->vertexFaces[i];
            rgNearFaces_Add(f, x, depth, hull->faceNormal[face], hull->faceOffset[face]);
        }
    }
}

// ids: vertices of a hull that span the feature nearest to the other shape; -1 ends them.
static void rgFacesNear(const rgConvex* c, const int32_t ids[3], rgVec3 x, double depth,
                        rgNearFaces* f) {
    f->count = 0;
    if (c->kind == rg_shapeHull) {
        rgFacesOfHull(c->hull, ids, x, depth, f);
    } else if (c->kind == rg_shapeBox) {
        rgNearFaces_Add(f, x, depth, rgVec(copysign(1, x.x), 0, 0), c->size.x);
        rgNearFaces_Add(f, x, depth, rgVec(0, copysign(1, x.y), 0), c->size.y);
        rgNearFaces_Add(f, x, depth, rgVec(0, 0, copysign(1, x.z)), c->size.z);
    } else {
        double across = sqrt(x.x * x.x + x.y * x.y);
        rgNearFaces_Add(f, x, depth, rgVec(0, 0, copysign(1, x.z)), c->size.y);
        if (across > 0) {
            rgNearFaces_Add(f, x, depth, rgVec(x.x / across, x.y / across, 0), c->size.x);
        }
    }
}

static bool rgNearFaces_AreSharp(const rgNearFaces* f) {
    for (int i = 1; i < f->count; ++i) {
        for (int k = 0; k < i; ++k) {
            if (rgDot(f->normal[i], f->normal[k]) < RG_BLUNT_CORNER) {
                return true;
            }
        }
    }
    return false;
}

// ---- whether corners meet

// Axes along which shapes smaller by an inset may be separated: two that are not parallel make a
// corner. Along one axis that moves a face by one inset and a corner by up to sqrt(3) of them.
typedef struct rgCornerTest {
    const rgConvexPair* pair;
    double depth;
    rgVec3 first; // axis in A
    bool any, isCorner;
} rgCornerTest;

static void rgCornerTest_Add(rgCornerTest* test, const rgNearFaces* f, bool isB) {
    const rgConvexPair* pair = test->pair;
    for (int k = 0; k < f->count && !test->isCorner; ++k) {
        rgVec3 n = isB ? rgNegate(rgMat3_Multiply(&pair->r, f->normal[k])) : f->normal[k];
        if (test->any && fabs(rgDot(n, test->first)) > RG_PARALLEL_FACES) {
            continue;
        }
        int32_t hint = -1;
        double room;
        if (isB) { // the farthest point of A along n is before the face of B
            rgVec3 a = rgConvex_Support(pair->a, n, &hint);
            room = rgDot(n, pair->t) - f->offset[k] - rgDot(n, a);
        } else {
            rgVec3 toB = rgNegate(rgMat3_MultiplyTransposed(&pair->r, n));
            room = rgDot(n, pair->t) - rgDot(toB, rgConvex_Support(pair->b, toB, &hint)) -
                   f->offset[k];
        }
        if (room >= -test->depth) {
            test->isCorner = test->any;
            test->first = test->any ? test->first : n;
            test->any = true;
        }
    }
}

static void rgFeatureIds(const rgPairCache* cache, bool isB, int32_t ids[3]) {
    for (int k = 0; k < 3; ++k) {
        bool known = cache->simplexCount < 0 || k < cache->simplexCount;
        ids[k] = !known ? -1 : isB ? cache->simplexB[k] : cache->simplexA[k];
    }
}

static bool rgCornersMeet(const rgConvexPair* pair, const rgSigned* s, const int32_t idsA[3],
                          const int32_t idsB[3], double inset) {
    rgCornerTest test = {.pair = pair, .depth = 3 * inset};
    rgVec3 inB = rgMat3_MultiplyTransposed(&pair->r, rgSub(s->pointA, pair->t));
    rgNearFaces a, b;
    double depth = test.depth + fabs(s->gap);
    rgFacesNear(pair->a, idsA, s->pointA, depth, &a);
    if (!rgNearFaces_AreSharp(&a)) {
        return false;
    }
    rgFacesNear(pair->b, idsB, inB, depth, &b);
    if (!rgNearFaces_AreSharp(&b)) {
        return false;
    }
    rgCornerTest_Add(&test, &a, false);
    rgCornerTest_Add(&test, &b, true);
    return test.isCorner;
}

// ---- smaller shapes

// Part of a hull around a feature, moved inward.
typedef struct rgInner {
    rgConvex convex;
    rgHull hull;
    int32_t ids[RG_HULL_SMALL];
    double x[RG_HULL_SMALL], y[RG_HULL_SMALL], z[RG_HULL_SMALL], vertices[3 * RG_HULL_SMALL];
} rgInner;

static bool rgInner_Add(rgInner* inner, const rgHull* hull, int32_t id, double inset) {
    int count = inner->hull.vertexCount;
    for (int k = 0; k < count; ++k) {
        if (inner->ids[k] == id) {
            return true;
        }
    }
    if (count == RG_HULL_SMALL) {
        return false;
    }
    rgVec3 p = rgAddScaled(rgHull_Vertex(hull, id), -inset, hull->vertexInward[id]);
    inner->ids[count] = id;
    inner->x[count] = inner->vertices[3 * count] = p.x;
    inner->y[count] = inner->vertices[3 * count + 1] = p.y;
    inner->z[count] = inner->vertices[3 * count + 2] = p.z;
    inner->hull.vertexCount += 1;
    return true;
}

// A polytope is the cone of its edges around a vertex, and no more is needed near it.
static bool rgInner_AddAround(rgInner* inner, const rgHull* hull, const int32_t ids[3],
                              double inset) {
    bool fits = true;
    for (int k = 0; k < 3 && ids[k] >= 0; ++k) {
        fits = fits && rgInner_Add(inner, hull, ids[k], inset);
        for (int i = hull->neighborStart[ids[k]]; i < hull->neighborStart[ids[k] + 1]; ++i) {
            fits = fits && rgInner_Add(inner, hull, hull->neighbors[i], inset);
        }
    }
    for (int k = inner->hull.vertexCount; k > 0 && k % 4 != 0; ++k) {
        inner->x[k] = inner->x[0];
        inner->y[k] = inner->y[0];
        inner->z[k] = inner->z[0];
    }
    return fits && inner->hull.vertexCount > 0;
}

static bool rgInner_Make(rgInner* inner, const rgConvex* c, const int32_t ids[3], double inset) {
    inner->convex = *c;
    if (c->kind != rg_shapeHull) {
        inner->convex.size = rgSub(c->size, rgVec(inset, inset, inset));
        return true;
    }
    inner->convex.hull = &inner->hull;
    inner->hull.vertexCount = 0;
    inner->hull.x = inner->x;
    inner->hull.y = inner->y;
    inner->hull.z = inner->z;
    inner->hull.vertices = inner->vertices;
    return rgInner_AddAround(inner, c->hull, ids, inset);
}

// Direction from one to the other, if they are apart.
static bool rgInnerNormal(const rgConvexPair* pair, const int32_t idsA[3], const int32_t idsB[3],
                          double inset, rgSigned* s) {
    rgInner a, b;
    if (!rgInner_Make(&a, pair->a, idsA, inset) || !rgInner_Make(&b, pair->b, idsB, inset)) {
        return false;
    }
    rgConvexPair inner = *pair;
    inner.a = &a.convex;
    inner.b = &b.convex;
    rgPairCache own = {.axis = s->normal};
    rgSignedDistance(&inner, INFINITY, &own, s);
    return s->gap > 0;
}

void rgRoundCorners(const rgConvexPair* pair, const rgPairCache* cache, rgSigned* s) {
    double whole = RG_CORNER_ROUND * RG_MIN(pair->a->thin, pair->b->thin);
    double inset = whole - 0.5 * RG_MAX(0, s->gap);
    if (s->beyond || !(inset > 0) || s->gap < -whole || !rgHasCorners(pair->a) ||
        !rgHasCorners(pair->b)) {
        return;
    }
    int32_t idsA[3], idsB[3];
    rgFeatureIds(cache, false, idsA);
    rgFeatureIds(cache, true, idsB);
    rgSigned round = *s;
    if (!rgCornersMeet(pair, s, idsA, idsB, inset) ||
        !rgInnerNormal(pair, idsA, idsB, inset, &round)) {
        return;
    }
    rgVec3 n = round.normal, toB = rgNegate(rgMat3_MultiplyTransposed(&pair->r, n));
    rgVec3 middle = rgScale(0.5, rgAdd(round.pointA, round.pointB));
    int32_t vertexA = s->vertexA, vertexB = s->vertexB;
    double gap = rgDot(n, pair->t) - rgDot(n, rgConvex_Support(pair->a, n, &vertexA)) -
                 rgDot(toB, rgConvex_Support(pair->b, toB, &vertexB));
    if (gap < s->gap - RG_CORNER_DEEP * inset) {
        return; // more than the part around the corner is in the way
    }
    s->normal = n;
    s->gap = gap;
    s->vertexA = vertexA;
    s->vertexB = vertexB;
    s->pointA = rgAddScaled(middle, -0.5 * gap, n);
    s->pointB = rgAddScaled(middle, 0.5 * gap, n);
}
