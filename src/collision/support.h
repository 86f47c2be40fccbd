// Supporting points of convex cores: the farthest point in a direction.
#pragma once
#include "collision/internal.h"

static inline rgVec3 rgHull_Vertex(const rgHull* hull, int i) {
    const double* v = hull->vertices + 3 * i;
    return rgVec(v[0], v[1], v[2]);
}

static inline rgVec3 rgSupportCylinder(rgVec3 size, rgVec3 d) {
    double across = sqrt(d.x * d.x + d.y * d.y);
    double z = d.z >= 0 ? size.y : -size.y;
    if (!(across > 0)) {
        return rgVec(size.x, 0, z);
    }
    double s = size.x / across;
    return rgVec(s * d.x, s * d.y, z);
}

static inline rgVec3 rgSupportEllipsoid(rgVec3 size, rgVec3 d) {
    rgVec3 scaled = rgVec(size.x * d.x, size.y * d.y, size.z * d.z);
    double length = rgLength(scaled);
    if (!(length > 0)) {
        return rgVec(0, 0, size.z);
    }
    double s = 1 / length;
    return rgVec(s * size.x * scaled.x, s * size.y * scaled.y, s * size.z * scaled.z);
}

static inline int rgSupportTriangle(const rgVec3* p, rgVec3 d) {
    double s0 = rgDot(p[0], d), s1 = rgDot(p[1], d), s2 = rgDot(p[2], d);
    return s0 >= s1 ? (s0 >= s2 ? 0 : 2) : (s1 >= s2 ? 1 : 2);
}

// Point of vertex id (as given by rgConvex_Support); smooth shapes have none.
static inline rgVec3 rgConvex_Vertex(const rgConvex* c, int32_t id) {
    if (c->kind == rg_shapeHull) {
        return rgHull_Vertex(c->hull, id);
    }
    switch (c->kind) {
    case rg_shapeCapsule:
        return rgVec(0, 0, id ? c->size.y : -c->size.y);
    case rg_shapeBox:
        return rgVec(id & 1 ? c->size.x : -c->size.x, id & 2 ? c->size.y : -c->size.y,
                     id & 4 ? c->size.z : -c->size.z);
    case RG_CORE_TRIANGLE:
        return c->triangle[id];
    default:
        return rgVec(0, 0, 0);
    }
}

static inline int rgConvex_VertexCount(const rgConvex* c) {
    if (c->kind == rg_shapeHull) {
        return c->hull->vertexCount;
    }
    switch (c->kind) {
    case rg_shapeSphere:
        return 1;
    case rg_shapeCapsule:
        return 2;
    case rg_shapeBox:
        return 8;
    case RG_CORE_TRIANGLE:
        return 3;
    default:
        return 0;
    }
}

// Farthest point of the core along d. hint is the last answer and becomes this one.
static inline rgVec3 rgConvex_Support(const rgConvex* c, rgVec3 d, int32_t* hint) {
    if (c->kind == rg_shapeHull) {
        *hint = c->hull->vertexCount <= RG_HULL_SMALL ? rgHull_Scan(c->hull, d)
                                                      : rgHull_Climb(c->hull, d, *hint);
        return rgHull_Vertex(c->hull, *hint);
    }
    switch (c->kind) {
    case rg_shapeCapsule:
        *hint = d.z >= 0;
        return rgVec(0, 0, d.z >= 0 ? c->size.y : -c->size.y);
    case rg_shapeBox:
        *hint = (d.x >= 0) | (d.y >= 0) << 1 | (d.z >= 0) << 2;
        return rgVec(d.x >= 0 ? c->size.x : -c->size.x, d.y >= 0 ? c->size.y : -c->size.y,
                     d.z >= 0 ? c->size.z : -c->size.z);
    case RG_CORE_TRIANGLE:
        *hint = rgSupportTriangle(c->triangle, d);
        return c->triangle[*hint];
    case rg_shapeCylinder:
        *hint = RG_SMOOTH_VERTEX;
        return rgSupportCylinder(c->size, d);
    case rg_shapeEllipsoid:
        *hint = RG_SMOOTH_VERTEX;
        return rgSupportEllipsoid(c->size, d);
    default:
        *hint = 0;
        return rgVec(0, 0, 0);
    }
}

static inline double rgClamp(double x, double limit) {
    return x > limit ? limit : x < -limit ? -limit : x;
}

// Nearest points s u and between + t v of two segments with unit directions and half lengths.
static inline void rgNearestOnSegments(rgVec3 between, rgVec3 u, double hu, rgVec3 v, double hv,
                                       double* s, double* t) {
    double b = rgDot(u, v), du = rgDot(u, between), dv = rgDot(v, between);
    double across = 1 - b * b;
    *s = across > 1e-12 ? rgClamp((du - b * dv) / across, hu) : rgClamp(du, hu);
    *t = b * *s - dv;
    if (fabs(*t) > hv) {
        *t = rgClamp(*t, hv);
        *s = rgClamp(du + b * *t, hu);
    }
}
