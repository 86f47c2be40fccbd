// rgCollide: which method serves which pair, and the general one for convex shapes.
#include "collision/support.h"

#include <string.h>

#define RG_WITNESS_SLACK 1e-6 // relative: the clipped points reach the true distance this closely

// B's feature in the frame of the pair.
static void rgFeatureOfB(const rgConvexPair* pair, rgVec3 normal, int32_t hint, rgFeature* f) {
    rgConvex_Feature(pair->b, rgMat3_MultiplyTransposed(&pair->r, rgNegate(normal)), hint, f);
    f->normal = rgMat3_Multiply(&pair->r, f->normal);
    for (int k = 0; k < f->count; ++k) {
        f->points[k] = rgAdd(rgMat3_Multiply(&pair->r, f->points[k]), pair->t);
    }
}

void rgBuildManifold(const rgConvexPair* pair, const rgSigned* s, double margin,
                     rgRawManifold* raw) {
    raw->normal = s->normal;
    raw->count = 0;
    if (s->beyond || !(s->gap <= margin)) {
        return;
    }
    rgFeature a, b;
    rgConvex_Feature(pair->a, s->normal, s->vertexA, &a);
    if (a.count > 1) {
        rgFeatureOfB(pair, s->normal, s->vertexB, &b);
        rgClipFeatures(&a, &b, pair->a->radius, pair->b->radius, margin, raw);
    }
    rgFinishManifold(pair, s, raw);
}

void rgFinishManifold(const rgConvexPair* pair, const rgSigned* s, rgRawManifold* raw) {
    double least = INFINITY;
    for (int k = 0; k < raw->count; ++k) {
        // Gaps are at least the distance; edges that are not quite parallel may give less.
        raw->points[k].gap = RG_MAX(raw->points[k].gap, s->gap);
        least = RG_MIN(least, raw->points[k].gap);
    }
    // Vertices and crossing edges touch at the witnesses only.
    if (least > s->gap + RG_WITNESS_SLACK * RG_MIN(pair->a->scale, pair->b->scale)) {
        rgVec3 middle = rgScale(0.5, rgAdd(s->pointA, s->pointB));
        rgRawManifold_Add(raw, middle, s->gap, rgFeatureId(3, 0, 0, 0, 0));
    }
}

// True if the remembered direction already shows that the shapes are further apart than margin.
static bool rgIsApart(const rgConvexPair* pair, double margin, rgPairCache* cache) {
    rgVec3 n = cache->axis;
    double length = rgLengthSquared(n);
    if (!(length > 0.5 && length < 2)) {
        return false;
    }
    rgVec3 a = rgConvex_Support(pair->a, n, &cache->vertexA);
    rgVec3 b = rgConvex_Support(pair->b, rgMat3_MultiplyTransposed(&pair->r, rgNegate(n)),
                                &cache->vertexB);
    rgVec3 d = rgSub(rgAdd(rgMat3_Multiply(&pair->r, b), pair->t), a);
    double radii = pair->a->radius + pair->b->radius, along = rgDot(n, d);
    if (!(along > margin + radii)) {
        return false;
    }
    rgApart_Store(pair, along / sqrt(length) - radii, cache);
    return true;
}

// Manifold without calls per shape before.
static bool rgStaysApartAt(const rgCollideInput* in) {
#if defined(__CUDACC__) // pairs have no memory there
    (void)in;
    return false;
#else
    rgPlacement a, b;
    rgBox box;
    rgPlaceGeometry(in->a, in->poseA, 0, &a, &box);
    rgPlaceGeometry(in->b, in->poseB, 0, &b, &box);
    return rgStaysApart(in, &a, &b);
#endif
}

void rgCollideConvex(const rgCollideInput* in, rgManifold* manifold) {
    if (in->cache != NULL && in->cache->depth < 0 && !in->isSeparationUnknown &&
        rgStaysApartAt(in)) {
        return;
    }
    rgConvexPair pair = rgMakePair(&in->a->convex, *in->poseA, &in->b->convex, *in->poseB);
    rgPairCache none = {0};
    rgPairCache* cache = in->cache != NULL ? in->cache : &none;
    // Skip the separation test for pairs in contact: they rarely separate at once, and the distance
    // query finds their gap.
    bool touched = cache->touching != 0;
    if (!rgPair_IsFinite(&pair) || (!touched && rgIsApart(&pair, in->margin, cache))) {
        return;
    }
    rgSigned s;
    rgSignedDistance(&pair, in->margin, cache, &s);
    rgRoundCorners(&pair, cache, &s);
    rgRawManifold raw;
    rgBuildManifold(&pair, &s, in->margin, &raw);
    rgReduce(&raw, in->maxPoints);
    rgEmit(&raw, *in->poseA, manifold);
}

typedef void rgCollideFcn(const rgCollideInput* input, rgManifold* manifold);

#if !defined(__CUDACC__)

// Rounded boxes take the general way, which knows cores with a radius.
static rgCollideFcn* rgMethodFor(const rgGeometry* first, const rgGeometry* second) {
    rgShapeKind a = first->kind, b = second->kind;
    if (a == rg_shapePlane) {
        return rgCollidePlane;
    }
    if (a == rg_shapeHeightField || a == rg_shapeMesh) {
        return rgCollideSurface;
    }
    if (a == rg_shapeSphere && b == rg_shapeSphere) {
        return rgCollideSpheres;
    }
    if (a == rg_shapeSphere && b == rg_shapeCapsule) {
        return rgCollideSphereCapsule;
    }
    if (a == rg_shapeSphere && b == rg_shapeBox && second->convex.radius == 0) {
        return rgCollideSphereBox;
    }
    if (a == rg_shapeCapsule && b == rg_shapeCapsule) {
        return rgCollideCapsules;
    }
    if (a == rg_shapeBox && b == rg_shapeBox && first->convex.radius + second->convex.radius == 0) {
        return rgCollideBoxes;
    }
    return rgCollideConvex;
}

static void rgFlip(rgManifold* m) {
    m->normal = rgNegate(m->normal);
    for (int k = 0; k < m->count; ++k) {
        m->points[k].normal = rgNegate(m->points[k].normal);
    }
}

int rgCollideShapes(const rgCollideInput* in, rgManifold* manifold) {
    manifold->count = 0;
    rgShapeKind kindA = in->a->kind, kindB = in->b->kind;
    if (!rgIsConvexKind(kindA) && !rgIsConvexKind(kindB)) {
        return 0;
    }
    if (!rgIsSwapped(kindA, kindB)) {
        rgMethodFor(in->a, in->b)(in, manifold);
        return manifold->count;
    }
    rgCollideInput turned = *in;
    turned.a = in->b;
    turned.b = in->a;
    turned.poseA = in->poseB;
    turned.poseB = in->poseA;
    turned.axesA = in->axesB;
    turned.axesB = in->axesA;
    rgMethodFor(in->b, in->a)(&turned, manifold);
    rgFlip(manifold);
    return manifold->count;
}

int rgCollideUpTo(int maxPoints, const rgGeometry* a, rgPose poseA, const rgGeometry* b,
                  rgPose poseB, double margin, rgPairCache* cache, rgManifold* manifold) {
    if (a == NULL || b == NULL || manifold == NULL) {
        return 0;
    }
    maxPoints = RG_MAX(1, RG_MIN(maxPoints, RG_MANIFOLD_CAPACITY));
    rgCollideInput in = {a, b, &poseA, &poseB, margin, maxPoints, cache, false, NULL, NULL};
    return rgCollideShapes(&in, manifold);
}

int rgCollide(const rgGeometry* a, rgPose poseA, const rgGeometry* b, rgPose poseB, double margin,
              rgPairCache* cache, rgManifold* manifold) {
    if (a == NULL || b == NULL || manifold == NULL) {
        return 0;
    }
    rgCollideInput in = {a, b, &poseA, &poseB, margin, 4, cache, false, NULL, NULL};
    return rgCollideShapes(&in, manifold);
}

#endif
