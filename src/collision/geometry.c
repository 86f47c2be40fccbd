// Geometries: checks, bounds, and the convex core of every shape.
#include "collision/support.h"
#include "math/split.h"

#define RG_GEOMETRY_COOKIE 0x67656f6du

rgGeometryDef rgDefaultGeometryDef(void) {
    return (rgGeometryDef){.cookie = RG_GEOMETRY_COOKIE};
}

static rgResult rgRefuseSize(const rgGeometryDef* def, rgDiagnostics* diagnostics, const char* what,
                             double value) {
    rgDiagnostics_Add(diagnostics, rg_severityError, def->file, def->line,
                      "%s is %g; it must be positive and finite", what, value);
    return rg_errorArgument;
}

static bool rgIsSize(double value) {
    return value > 0 && value < 1e100;
}

static bool rgIsRounded(rgShapeKind kind) {
    return kind == rg_shapeBox || kind == rg_shapeCylinder || kind == rg_shapeHull;
}

static rgResult rgCheckRounding(const rgGeometryDef* def, rgDiagnostics* diagnostics) {
    bool good =
        rgIsRounded(def->kind) ? def->rounding >= 0 && def->rounding < 1e100 : def->rounding == 0;
    if (!good) {
        rgDiagnostics_Add(diagnostics, rg_severityError, def->file, def->line,
                          "rounding is %g; it must be finite and not negative, and zero but for "
                          "boxes, cylinders and hulls",
                          def->rounding);
    }
    return good ? rg_ok : rg_errorArgument;
}

static rgResult rgCheckSize(const rgGeometryDef* def, rgDiagnostics* diagnostics) {
    rgVec3 s = def->size;
    switch (def->kind) {
    case rg_shapeSphere:
        return rgIsSize(s.x) ? rg_ok : rgRefuseSize(def, diagnostics, "sphere radius", s.x);
    case rg_shapeCapsule:
    case rg_shapeCylinder:
        if (!rgIsSize(s.x)) {
            return rgRefuseSize(def, diagnostics, "radius", s.x);
        }
        return rgIsSize(s.y) ? rg_ok : rgRefuseSize(def, diagnostics, "half length", s.y);
    case rg_shapeBox:
    case rg_shapeEllipsoid:
        for (int i = 0; i < 3; ++i) {
            if (!rgIsSize(rgVec3_At(s, i))) {
                return rgRefuseSize(def, diagnostics,
                                    def->kind == rg_shapeBox ? "half extent of a box"
                                                             : "half axis of an ellipsoid",
                                    rgVec3_At(s, i));
            }
        }
        return rg_ok;
    default:
        return rg_ok;
    }
}

static rgBox rgBoxAround(rgVec3 half) {
    return (rgBox){.lower = rgNegate(half), .upper = half};
}

// The least width along the normal of a face; edges across each other may be nearer by a little.
static double rgHullWidth(const rgHull* hull) {
    double least = INFINITY;
    int32_t vertex = 0;
    for (int f = 0; f < hull->faceCount; ++f) {
        rgVec3 n = rgNegate(hull->faceNormal[f]);
        vertex = rgHull_Climb(hull, n, vertex);
        least = RG_MIN(least, rgDot(n, rgHull_Vertex(hull, vertex)) + hull->faceOffset[f]);
    }
    return RG_MAX(least, 0);
}

static void rgSetHullBounds(rgGeometry* g) {
    const rgHull* hull = &g->hull;
    g->box = (rgBox){rgHull_Vertex(hull, 0), rgHull_Vertex(hull, 0)};
    rgVec3 mean = rgVec(0, 0, 0);
    for (int i = 0; i < hull->vertexCount; ++i) {
        rgVec3 v = rgHull_Vertex(hull, i);
        g->box.lower = rgMin3(g->box.lower, v);
        g->box.upper = rgMax3(g->box.upper, v);
        g->boundingRadius = RG_MAX(g->boundingRadius, rgLength(v));
        mean = rgAddScaled(mean, 1.0 / hull->vertexCount, v);
    }
    g->convex.center = mean;
    for (int i = 0; i < hull->vertexCount; ++i) {
        double reach = rgLength(rgSub(rgHull_Vertex(hull, i), mean));
        g->convex.scale = RG_MAX(g->convex.scale, reach);
    }
    g->convex.hull = hull;
    g->convex.thin = 0.5 * rgHullWidth(hull);
}

static void rgSetBounds(rgGeometry* g) {
    rgVec3 s = g->size;
    g->convex = (rgConvex){.kind = (int)g->kind, .size = s};
    switch (g->kind) {
    case rg_shapePlane:
        g->box = rgBoxAround(rgVec(INFINITY, INFINITY, INFINITY));
        g->boundingRadius = INFINITY;
        return;
    case rg_shapeSphere:
        g->convex.radius = g->convex.thin = s.x;
        g->box = rgBoxAround(rgVec(s.x, s.x, s.x));
        g->boundingRadius = s.x;
        break;
    case rg_shapeCapsule:
        g->convex.radius = g->convex.thin = s.x;
        g->box = rgBoxAround(rgVec(s.x, s.x, s.x + s.y));
        g->boundingRadius = s.x + s.y;
        break;
    case rg_shapeCylinder:
        g->box = rgBoxAround(rgVec(s.x, s.x, s.y));
        g->boundingRadius = sqrt(s.x * s.x + s.y * s.y);
        g->convex.thin = RG_MIN(s.x, s.y);
        break;
    case rg_shapeBox:
        g->box = rgBoxAround(s);
        g->boundingRadius = rgLength(s);
        g->convex.thin = RG_MIN(s.x, RG_MIN(s.y, s.z));
        break;
    case rg_shapeEllipsoid:
        g->box = rgBoxAround(s);
        g->boundingRadius = RG_MAX(s.x, RG_MAX(s.y, s.z));
        g->convex.thin = RG_MIN(s.x, RG_MIN(s.y, s.z));
        break;
    case rg_shapeHull:
        rgSetHullBounds(g);
        return;
    default:
        g->boundingRadius = rgLength(rgMax3(rgAbs3(g->box.lower), rgAbs3(g->box.upper)));
        break;
    }
    g->convex.scale = g->boundingRadius;
}

// A ball all around the core.
static void rgAddRounding(rgGeometry* g, double rounding) {
    rgVec3 grow = rgVec(rounding, rounding, rounding);
    if (rounding > 0) {
        g->convex.radius = rounding;
        g->convex.scale += rounding;
        g->convex.thin += rounding;
        g->boundingRadius += rounding;
        g->box = (rgBox){rgSub(g->box.lower, grow), rgAdd(g->box.upper, grow)};
    }
}

static rgResult rgBuildGeometry(const rgGeometryDef* def, rgDiagnostics* diagnostics,
                                rgGeometry* g) {
    rgResult result = rgCheckSize(def, diagnostics);
    result = result == rg_ok ? rgCheckRounding(def, diagnostics) : result;
    if (result != rg_ok) {
        return result;
    }
    switch (def->kind) {
    case rg_shapeHull:
        return rgBuildHull(def, diagnostics, g);
    case rg_shapeMesh:
        return rgBuildTriangles(def, diagnostics, g);
    case rg_shapeHeightField:
        return rgBuildHeights(def, diagnostics, g);
    default:
        return rg_ok;
    }
}

rgResult rgCreateGeometry(const rgGeometryDef* def, rgDiagnostics* diagnostics,
                          rgGeometry** geometry) {
    if (def == NULL || def->cookie != RG_GEOMETRY_COOKIE || geometry == NULL ||
        def->kind <= rg_shapeNone || def->kind > rg_shapeMesh) {
        return rg_errorArgument;
    }
    rgGeometry* made = rgAllocate(&def->allocator, 1, sizeof(rgGeometry));
    if (made == NULL) {
        return rg_errorMemory;
    }
    made->kind = def->kind;
    made->size = def->size;
    made->allocator = rgResolveAllocator(&def->allocator);
    rgArena_Init(&made->arena, &made->allocator);
    rgResult result = rgBuildGeometry(def, diagnostics, made);
    if (result != rg_ok) {
        rgDestroyGeometry(made);
        return result;
    }
    rgSetBounds(made);
    rgAddRounding(made, def->rounding);
    rgVec3 ball = rgVec(made->convex.radius, made->convex.radius, made->convex.radius);
    made->middle = rgScale(0.5, rgAdd(made->box.lower, made->box.upper));
    made->half = rgSub(rgScale(0.5, rgSub(made->box.upper, made->box.lower)), ball);
    *geometry = made;
    return rg_ok;
}

void rgDestroyGeometry(rgGeometry* geometry) {
    if (geometry != NULL) {
        rgAllocator allocator = geometry->allocator;
        rgArena_Free(&geometry->arena);
        rgRelease(&allocator, geometry);
    }
}

rgShapeKind rgGeometry_Kind(const rgGeometry* geometry) {
    return geometry != NULL ? geometry->kind : (rgShapeKind)0;
}

rgVec3 rgGeometry_Size(const rgGeometry* geometry) {
    return geometry != NULL ? geometry->size : (rgVec3){0};
}

rgBox rgGeometry_LocalBox(const rgGeometry* geometry) {
    return geometry != NULL ? geometry->box : (rgBox){0};
}

double rgGeometry_BoundingRadius(const rgGeometry* geometry) {
    return geometry != NULL ? geometry->boundingRadius : 0;
}

double rgGeometry_Width(const rgGeometry* geometry) {
    if (geometry == NULL) {
        return 0;
    }
    return rgIsConvexKind(geometry->kind) ? 2 * geometry->convex.thin : INFINITY;
}

int rgGeometry_OpenTriangleCount(const rgGeometry* geometry) {
    int count = 0;
    for (int i = 0; geometry != NULL && i < geometry->triangles.triangleCount; ++i) {
        count += !geometry->triangles.closed[i];
    }
    return count;
}

static rgVec3 rgRoundExtent(const rgGeometry* g, const rgRot* r) {
    rgMat3 rows = rgMat3FromRot(r);
    const double* m = rows.m;
    rgVec3 s = g->size;
    switch (g->kind) {
    case rg_shapeSphere:
        return rgVec(s.x, s.x, s.x);
    case rg_shapeCapsule:
        return rgVec(fabs(m[2]) * s.y + s.x, fabs(m[5]) * s.y + s.x, fabs(m[8]) * s.y + s.x);
    case rg_shapeCylinder:
        return rgAdd(rgVec(fabs(m[2]) * s.y + s.x * sqrt(fmax(0, 1 - m[2] * m[2])),
                           fabs(m[5]) * s.y + s.x * sqrt(fmax(0, 1 - m[5] * m[5])),
                           fabs(m[8]) * s.y + s.x * sqrt(fmax(0, 1 - m[8] * m[8]))),
                     rgVec(g->convex.radius, g->convex.radius, g->convex.radius));
    default: // ellipsoid
        return rgVec(
            sqrt(m[0] * m[0] * s.x * s.x + m[1] * m[1] * s.y * s.y + m[2] * m[2] * s.z * s.z),
            sqrt(m[3] * m[3] * s.x * s.x + m[4] * m[4] * s.y * s.y + m[5] * m[5] * s.z * s.z),
            sqrt(m[6] * m[6] * s.x * s.x + m[7] * m[7] * s.y * s.y + m[8] * m[8] * s.z * s.z));
    }
}

static inline void rgPutBox(rgSplit center, rgSplit half, double grow, rgBox* box) {
    rgStoreTwo(&box->lower.x, center.xy - half.xy - grow);
    box->lower.z = center.z - half.z - grow;
    rgStoreTwo(&box->upper.x, center.xy + half.xy + grow);
    box->upper.z = center.z + half.z + grow;
}

void rgPlaceGeometry(const rgGeometry* g, const rgPose* pose, double grow, rgPlacement* placement,
                     rgBox* box) {
    rgRot r = rgRotFromQuat(pose->q);
    placement->axes = r;
    const rgSplit axes[3] = {rgSplitOf(r.x), rgSplitOf(r.y), rgSplitOf(r.z)};
    rgSplit p = rgSplitOf(pose->p);
    rgSplit center = rgSplit_Add(p, rgSplit_Combine(axes, g->convex.center));
    placement->center = rgVec(center.xy[0], center.xy[1], center.z);
    if (g->kind == rg_shapePlane) {
        *box = g->box;
    } else if (rgIsConvexKind(g->kind) && g->kind != rg_shapeBox && g->kind != rg_shapeHull) {
        rgPutBox(p, rgSplitOf(rgRoundExtent(g, &r)), grow, box);
    } else {
        double ball = g->convex.radius;
        const rgSplit sizes[3] = {rgSplit_Abs(axes[0]), rgSplit_Abs(axes[1]), rgSplit_Abs(axes[2])};
        rgSplit half = rgSplit_Combine(sizes, g->half);
        half = (rgSplit){half.xy + ball, half.z + ball};
        rgPutBox(rgSplit_Add(p, rgSplit_Combine(axes, g->middle)), half, grow, box);
    }
}

rgBox rgGeometry_Box(const rgGeometry* g, rgPose pose) {
    rgBox box = {0};
    rgPlacement placement;
    if (g != NULL) {
        rgPlaceGeometry(g, &pose, 0, &placement, &box);
    }
    return box;
}

bool rgGeometry_Hull(const rgGeometry* geometry, rgHullView* view) {
    if (geometry == NULL || view == NULL || geometry->kind != rg_shapeHull) {
        return false;
    }
    const rgHull* hull = &geometry->hull;
    *view = (rgHullView){hull->vertexCount, hull->vertices, hull->faceCount, hull->faceStart,
                         hull->faceVertices};
    return true;
}
