// A plane (half space) against every convex shape. The normal is the plane's.
#include "collision/sole.h"
#include "collision/support.h"

// Plane in the frame of B: height of x is d . x + offset.
typedef struct rgLocalPlane {
    rgVec3 normal; // world
    rgVec3 d;
    double offset;
} rgLocalPlane;

static rgLocalPlane rgMakeLocalPlane(const rgPose* plane, const rgPose* b, const rgRot* axes) {
    rgLocalPlane p;
    p.normal = rgZAxis(plane->q);
    p.d = rgRot_ApplyBack(axes, p.normal);
    p.offset = rgDot(p.normal, rgSub(b->p, plane->p));
    return p;
}

static void rgPutPoint(rgManifold* m, rgVec3 surface, rgVec3 normal, double gap, uint32_t id) {
    m->points[m->count++] = (rgManifoldPoint){.position = rgAddScaled(surface, -0.5 * gap, normal),
                                              .normal = normal,
                                              .gap = gap,
                                              .feature = id};
}

static void rgPlaneSphere(const rgCollideInput* in, rgManifold* m) {
    rgVec3 n = rgZAxis(in->poseA->q);
    double r = in->b->size.x;
    double gap = rgDot(n, rgSub(in->poseB->p, in->poseA->p)) - r;
    if (gap <= in->margin && gap > -INFINITY) {
        m->normal = n;
        rgPutPoint(m, rgAddScaled(in->poseB->p, -r, n), n, gap, 0);
    }
}

static void rgPlaneCapsule(const rgCollideInput* in, rgManifold* m) {
    rgVec3 n = rgZAxis(in->poseA->q);
    rgVec3 half = rgScale(in->b->size.y, rgZAxis(in->poseB->q));
    double r = in->b->size.x;
    m->normal = n;
    for (int k = 0; k < 2; ++k) {
        rgVec3 end = k == 0 ? rgSub(in->poseB->p, half) : rgAdd(in->poseB->p, half);
        double gap = rgDot(n, rgSub(end, in->poseA->p)) - r;
        if (gap <= in->margin && gap > -INFINITY && m->count < in->maxPoints) {
            rgPutPoint(m, rgAddScaled(end, -r, n), n, gap, (uint32_t)k);
        }
    }
}

typedef struct rgPlaneTask {
    const rgHull* hull;
    rgLocalPlane plane;
    double margin;
    int maxPoints;
    double least; // height of the lowest vertex
    double scale; // size of the hull
} rgPlaneTask;

// The vertices that a choice is made from. Returns whether there were more than it has room for.
static bool rgPlaneTask_FindVertices(const rgPlaneTask* t, rgVec3 lowest, rgRawManifold* raw) {
    rgSolePlane plane = {
        .d = t->plane.d, .offset = t->plane.offset, .margin = t->margin, .least = t->least};
    rgPatchBasis(plane.d, &plane.t1, &plane.t2);
    plane.x = rgDot(plane.t1, lowest);
    plane.y = rgDot(plane.t2, lowest);
    rgSole sole;
    rgFindSole(t->hull, &plane, &sole);
    for (int k = 0; k < sole.count; ++k) {
        int32_t vertex = sole.vertices[k];
        rgRawManifold_Add(raw, rgHull_Vertex(t->hull, vertex), sole.gap[k], (uint32_t)vertex);
    }
    return sole.thinned || sole.count > t->maxPoints;
}

// The points of the lowest feature within the margin, in the frame of B.
static void rgPlaneFeature(const rgConvex* c, const rgLocalPlane* p, double margin,
                           rgRawManifold* raw) {
    rgFeature f;
    rgConvex_Feature(c, rgNegate(p->d), 0, &f);
    int step = c->kind == rg_shapeCylinder && f.count > 2 ? 3 : 1;
    for (int k = 0; k < f.count; k += step) {
        double gap = rgDot(p->d, f.points[k]) + p->offset;
        if (gap <= margin) {
            rgRawManifold_Add(raw, f.points[k], gap, (uint32_t)f.ids[k]);
        }
    }
}

// Height of the lowest corner of a box in B's frame.
static double rgBoxHeight(const rgBox* box, const rgLocalPlane* p) {
    double x = p->d.x * (p->d.x > 0 ? box->lower.x : box->upper.x);
    double y = p->d.y * (p->d.y > 0 ? box->lower.y : box->upper.y);
    double z = p->d.z * (p->d.z > 0 ? box->lower.z : box->upper.z);
    return x + y + z + p->offset;
}

// ---- points that were chosen before

// A choice stays while no vertex has turned by more than half of the margin towards the plane, so
// that what was beyond the margin is beyond half of it, no more of the margin than RG_KEEP_MARGIN
// is gained or lost, and no vertex is deeper than those chosen by more than RG_KEEP_DEPTH of their
// distance.
#define RG_KEEP_COUNT  6    // room in the cache
#define RG_KEEP_TURN   0.25 // part of the margin, times the size: vertices are twice that apart
#define RG_KEEP_MARGIN 1e-2
#define RG_KEEP_DEPTH  1e-5

static inline int32_t* rgKeptVertex(rgPairCache* cache, int k) {
    return k < 3 ? &cache->simplexA[k] : &cache->simplexB[k - 3];
}

// The points of the last choice at their heights of now. Returns whether they are still good.
static bool rgPlaneTask_Keep(const rgPlaneTask* t, rgPairCache* cache, rgRawManifold* raw) {
    int count = cache->simplexCount;
    rgVec3 turn = rgSub(t->plane.d, cache->axis);
    if (!(cache->rest > 0) || cache->vertexA != t->maxPoints || count > RG_KEEP_COUNT ||
        !(rgLength(turn) * t->scale <= RG_KEEP_TURN * t->margin)) {
        return false;
    }
    double least = INFINITY, first = INFINITY;
    for (int k = 0; k < count; ++k) {
        int32_t vertex = *rgKeptVertex(cache, k);
        if ((uint32_t)vertex >= (uint32_t)t->hull->vertexCount) {
            return false; // the cache of another pair
        }
        rgVec3 x = rgHull_Vertex(t->hull, vertex);
        double gap = rgDot(t->plane.d, x) + t->plane.offset;
        first = k == 0 ? gap : first;
        least = RG_MIN(least, gap);
        if (gap <= t->margin) {
            rgRawManifold_Add(raw, x, gap, (uint32_t)vertex);
        }
    }
    return fabs(t->margin - first - (double)cache->reach) <= RG_KEEP_MARGIN * t->margin &&
           least <= t->least + RG_KEEP_DEPTH * (double)cache->rest;
}

static void rgPlaneTask_Remember(const rgPlaneTask* t, const rgRawManifold* raw,
                                 rgPairCache* cache) {
    double size = 0;
    for (int k = 0; k < raw->count; ++k) {
        *rgKeptVertex(cache, k) = (int32_t)raw->points[k].feature;
        size = RG_MAX(size, rgLength(rgSub(raw->points[k].position, raw->points[0].position)));
    }
    cache->simplexCount = raw->count;
    cache->vertexA = t->maxPoints;
    cache->axis = t->plane.d;
    cache->reach = (float)(t->margin - raw->points[0].gap);
    cache->rest = (float)size;
}

static void rgPlaneHull(const rgCollideInput* in, const rgLocalPlane* p, rgRawManifold* raw) {
    const rgConvex* c = &in->b->convex;
    if (rgBoxHeight(&in->b->box, p) + c->radius > in->margin) {
        return;
    }
    rgPairCache none = {.vertexB = -1};
    rgPairCache* cache = in->cache != NULL ? in->cache : &none;
    rgVec3 x = rgConvex_Support(c, rgNegate(p->d), &cache->vertexB);
    rgPlaneTask task = {c->hull, *p, in->margin, in->maxPoints, rgDot(p->d, x) + p->offset,
                        c->scale};
    if (task.least > in->margin || rgPlaneTask_Keep(&task, cache, raw)) {
        return;
    }
    cache->rest = 0;
    raw->count = 0;
    bool chosen = rgPlaneTask_FindVertices(&task, x, raw);
    rgReduce(raw, in->maxPoints);
    if (chosen && raw->count <= RG_KEEP_COUNT) {
        rgPlaneTask_Remember(&task, raw, cache);
    }
}

// A rounded shape is its core above a plane that is higher by the radius.
static void rgPlaneGeneral(const rgCollideInput* in, rgManifold* m) {
    rgRot axes = in->axesB != NULL ? *in->axesB : rgRotFromQuat(in->poseB->q);
    rgLocalPlane p = rgMakeLocalPlane(in->poseA, in->poseB, &axes);
    double radius = in->b->convex.radius;
    p.offset -= radius;
    if (!isfinite(p.offset + rgDot(p.d, rgVec(1, 1, 1)))) {
        return;
    }
    rgRawManifold raw;
    raw.count = 0;
    raw.normal = p.d;
    if (in->b->convex.kind == rg_shapeHull) {
        rgPlaneHull(in, &p, &raw);
    } else {
        rgPlaneFeature(&in->b->convex, &p, in->margin, &raw);
    }
    rgReduce(&raw, in->maxPoints);
    m->normal = p.normal;
    for (int k = 0; k < raw.count; ++k) {
        rgVec3 x = rgAdd(in->poseB->p, rgRot_Apply(&axes, raw.points[k].position));
        rgPutPoint(m, rgAddScaled(x, -radius, p.normal), p.normal, raw.points[k].gap,
                   raw.points[k].feature);
    }
}

void rgCollidePlane(const rgCollideInput* in, rgManifold* m) {
    switch (in->b->kind) {
    case rg_shapeSphere:
        rgPlaneSphere(in, m);
        break;
    case rg_shapeCapsule:
        rgPlaneCapsule(in, m);
        break;
    default:
        rgPlaneGeneral(in, m);
        break;
    }
}

void rgPlaneDistance(const rgConvex* b, rgPose poseA, rgPose poseB, rgProximity* out) {
    rgRot axes = rgRotFromQuat(poseB.q);
    rgLocalPlane p = rgMakeLocalPlane(&poseA, &poseB, &axes);
    int32_t hint = 0;
    rgVec3 low = rgConvex_Support(b, rgNegate(p.d), &hint);
    low = rgAddScaled(low, -b->radius, p.d);
    out->distance = rgDot(p.d, low) + p.offset;
    out->normal = p.normal;
    out->pointB = rgAdd(poseB.p, rgRot_Apply(&axes, low));
    out->pointA = rgAddScaled(out->pointB, -out->distance, p.normal);
    out->iterations = 0;
}
