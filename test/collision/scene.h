// Random shapes and poses, and supports and membership computed apart from the library.
#pragma once
#include "rigor/collision.h"
#include "support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define RG_TEST_POINTS 256

typedef struct rgTestShape {
    rgShapeKind kind;
    rgVec3 size;
    int pointCount;
    double points[3 * RG_TEST_POINTS];
    rgGeometry* geometry;
} rgTestShape;

static inline rgVec3 rgTestPoint(const rgTestShape* s, int i) {
    return rgVec(s->points[3 * i], s->points[3 * i + 1], s->points[3 * i + 2]);
}

static inline void rgTestCreate(rgTestShape* s) {
    rgGeometryDef def = rgDefaultGeometryDef();
    rgMeshData mesh = {.vertexCount = s->pointCount, .vertices = s->points};
    def.kind = s->kind;
    def.size = s->size;
    def.mesh = &mesh;
    assert_int_equal(rgCreateGeometry(&def, NULL, &s->geometry), rg_ok);
}

static inline void rgTestDestroy(rgTestShape* s) {
    rgDestroyGeometry(s->geometry);
    s->geometry = NULL;
}

static inline rgVec3 rgTestDirection(rgRandom* random) {
    rgVec3 d;
    do {
        d = rgVec(rgRandom_Normal(random), rgRandom_Normal(random), rgRandom_Normal(random));
    } while (rgLength(d) < 1e-3);
    return rgNormalize(d);
}

static inline rgQuat rgTestRotation(rgRandom* random) {
    rgQuat q = {rgRandom_Normal(random), rgRandom_Normal(random), rgRandom_Normal(random),
                rgRandom_Normal(random)};
    return rgQuatNormalize(q);
}

// Points on an ellipsoid, so that all are vertices of the hull.
static inline void rgTestHull(rgTestShape* s, rgRandom* random, int count, rgVec3 half) {
    s->kind = rg_shapeHull;
    s->pointCount = count;
    for (int i = 0; i < count; ++i) {
        rgVec3 d = rgTestDirection(random);
        s->points[3 * i] = half.x * d.x;
        s->points[3 * i + 1] = half.y * d.y;
        s->points[3 * i + 2] = half.z * d.z;
    }
}

#define RG_TEST_SHAPES 12
static inline const char* rgTestName(int which) {
    static const char* const names[RG_TEST_SHAPES] = {
        "sphere", "capsule", "cylinder", "box",    "ellipsoid", "tetrahedron",
        "hull8",  "hull30",  "hull200",  "needle", "plate",     "grid cube"};
    return names[which];
}

// One of RG_TEST_SHAPES kinds, of the given size.
static inline void rgTestMake(rgTestShape* s, int which, double scale, rgRandom* random) {
    memset(s, 0, sizeof(*s));
    double u = rgRandom_Uniform(random, 0.3, 1) * scale;
    double v = rgRandom_Uniform(random, 0.3, 1) * scale;
    double w = rgRandom_Uniform(random, 0.3, 1) * scale;
    static const rgShapeKind kinds[5] = {rg_shapeSphere, rg_shapeCapsule, rg_shapeCylinder,
                                         rg_shapeBox, rg_shapeEllipsoid};
    s->size = rgVec(u, v, w);
    switch (which) {
    case 5:
        rgTestHull(s, random, 4, s->size);
        break;
    case 6:
        rgTestHull(s, random, 8, s->size);
        break;
    case 7:
        rgTestHull(s, random, 30, s->size);
        break;
    case 8:
        rgTestHull(s, random, 200, s->size);
        break;
    case 9:
        rgTestHull(s, random, 12, rgVec(1e-3 * u, 2e-3 * u, scale));
        break;
    case 10:
        rgTestHull(s, random, 20, rgVec(u, v, 1e-3 * u));
        break;
    case 11: // many coplanar and collinear points
        s->kind = rg_shapeHull;
        for (int i = 0; i < 125; ++i) {
            s->points[3 * i] = u * (i % 5 - 2) / 2;
            s->points[3 * i + 1] = v * (i / 5 % 5 - 2) / 2;
            s->points[3 * i + 2] = w * (i / 25 - 2) / 2;
        }
        s->pointCount = 125;
        break;
    default:
        s->kind = kinds[which];
        break;
    }
    rgTestCreate(s);
}

// max of d . x over the shape, d in its frame.
static inline double rgTestSupport(const rgTestShape* s, rgVec3 d) {
    rgVec3 z = s->size;
    double most = -INFINITY;
    switch (s->kind) {
    case rg_shapeSphere:
        return z.x * rgLength(d);
    case rg_shapeCapsule:
        return z.x * rgLength(d) + z.y * fabs(d.z);
    case rg_shapeCylinder:
        return z.x * sqrt(d.x * d.x + d.y * d.y) + z.y * fabs(d.z);
    case rg_shapeBox:
        return z.x * fabs(d.x) + z.y * fabs(d.y) + z.z * fabs(d.z);
    case rg_shapeEllipsoid:
        return rgLength(rgVec(z.x * d.x, z.y * d.y, z.z * d.z));
    default:
        for (int i = 0; i < s->pointCount; ++i) {
            most = fmax(most, rgDot(d, rgTestPoint(s, i)));
        }
        return most;
    }
}

// A farthest point of the shape along d, in its frame.
static inline rgVec3 rgTestFarthest(const rgTestShape* s, rgVec3 d) {
    rgVec3 z = s->size, u = rgNormalize(d);
    double across = sqrt(d.x * d.x + d.y * d.y);
    int best = 0;
    switch (s->kind) {
    case rg_shapeSphere:
        return rgScale(z.x, u);
    case rg_shapeCapsule:
        return rgAddScaled(rgVec(0, 0, copysign(z.y, d.z)), z.x, u);
    case rg_shapeCylinder:
        return across > 0 ? rgVec(z.x * d.x / across, z.x * d.y / across, copysign(z.y, d.z))
                          : rgVec(z.x, 0, copysign(z.y, d.z));
    case rg_shapeBox:
        return rgVec(copysign(z.x, d.x), copysign(z.y, d.y), copysign(z.z, d.z));
    case rg_shapeEllipsoid: {
        rgVec3 w = rgVec(z.x * u.x, z.y * u.y, z.z * u.z);
        double length = rgLength(w);
        return rgVec(z.x * w.x / length, z.y * w.y / length, z.z * w.z / length);
    }
    default:
        for (int i = 1; i < s->pointCount; ++i) {
            best = rgDot(d, rgTestPoint(s, i)) > rgDot(d, rgTestPoint(s, best)) ? i : best;
        }
        return rgTestPoint(s, best);
    }
}

// Gap of the slab with normal n between two placed shapes: a lower bound of the signed distance,
// and equal to it for the best n.
static inline double rgTestSlab(const rgTestShape* a, rgPose pa, const rgTestShape* b, rgPose pb,
                                rgVec3 n) {
    double high = rgTestSupport(a, rgRotateBack(pa.q, n));
    double low = rgTestSupport(b, rgRotateBack(pb.q, rgNegate(n)));
    return rgDot(n, rgSub(pb.p, pa.p)) - high - low;
}

// How far a point (in the shape's frame) is outside; an estimate that is zero inside.
static inline double rgTestOutside(const rgTestShape* s, rgVec3 x) {
    rgVec3 z = s->size;
    double most = 0;
    rgHullView view;
    switch (s->kind) {
    case rg_shapeSphere:
        return fmax(0, rgLength(x) - z.x);
    case rg_shapeCapsule: {
        double t = fmax(-z.y, fmin(z.y, x.z));
        return fmax(0, rgLength(rgVec(x.x, x.y, x.z - t)) - z.x);
    }
    case rg_shapeCylinder:
        return fmax(0, fmax(sqrt(x.x * x.x + x.y * x.y) - z.x, fabs(x.z) - z.y));
    case rg_shapeBox:
        return fmax(0, fmax(fabs(x.x) - z.x, fmax(fabs(x.y) - z.y, fabs(x.z) - z.z)));
    case rg_shapeEllipsoid: {
        double r = rgLength(rgVec(x.x / z.x, x.y / z.y, x.z / z.z));
        return fmax(0, (r - 1) * fmin(z.x, fmin(z.y, z.z)));
    }
    default:
        assert_true(rgGeometry_Hull(s->geometry, &view));
        // Beyond the slab of a face normal, which is found by Newell's sum.
        for (int f = 0; f < view.faceCount; ++f) {
            const int* v = view.faceVertices + view.faceStart[f];
            int count = view.faceStart[f + 1] - view.faceStart[f];
            rgVec3 n = rgVec(0, 0, 0);
            for (int k = 0; k < count; ++k) {
                const double* p = view.vertices + 3 * v[k];
                const double* q = view.vertices + 3 * v[(k + 1) % count];
                n = rgAdd(n, rgCross(rgVec(p[0], p[1], p[2]), rgVec(q[0], q[1], q[2])));
            }
            n = rgNormalize(n);
            most = fmax(most, rgDot(n, x) - rgTestSupport(s, n));
        }
        return most;
    }
}

// B near A: the gap along a random direction is `gap`.
static inline rgPose rgTestPlace(const rgTestShape* a, rgPose pa, const rgTestShape* b, double gap,
                                 rgRandom* random) {
    rgPose pb = {pa.p, rgTestRotation(random)};
    rgVec3 n = rgTestDirection(random);
    pb.p = rgAddScaled(pb.p, gap - rgTestSlab(a, pa, b, pb, n), n);
    return pb;
}
