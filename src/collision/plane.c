// A plane (half space) against every convex shape. The normal is the plane's.
#include "collision/support.h"
#include "collision/two.h"

#include <string.h>

#define RG_FLOOD_LIMIT 64
#define RG_FLOOD_BITS  1024

// Plane in the frame of B: height of x is d . x + offset.
typedef struct rgLocalPlane {
    rgVec3 normal; // world
    rgVec3 d;
    double offset;
} rgLocalPlane;

static rgLocalPlane rgMakeLocalPlane(rgPose plane, rgPose b) {
    rgLocalPlane p;
    p.normal = rgZAxis(plane.q);
    p.d = rgRotateBack(b.q, p.normal);
    p.offset = rgDot(p.normal, rgSub(b.p, plane.p));
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

typedef struct rgFlood {
    const rgHull* hull;
    rgRawManifold* raw; // what was found, named by vertex; also: whose neighbours are to be found
    bool exact;         // a bit per vertex
    uint64_t seen[RG_FLOOD_BITS / 64]; // bit id % RG_FLOOD_BITS: clear when id was not found
} rgFlood;

static bool rgFlood_Finds(const rgFlood* f, uint32_t vertex) {
    bool found = false;
    for (int j = 0; j < f->raw->count && !found; ++j) {
        found = f->raw->points[j].feature == vertex;
    }
    return found;
}

static inline void rgFlood_Add(rgFlood* f, uint32_t vertex, double gap) {
    uint64_t* word = &f->seen[vertex % RG_FLOOD_BITS / 64];
    uint64_t bit = (uint64_t)1 << vertex % 64;
    if ((*word & bit) != 0 && (f->exact || rgFlood_Finds(f, vertex))) {
        return;
    }
    if (f->raw->count < RG_FLOOD_LIMIT) {
        *word |= bit;
        rgRawPoint* point = &f->raw->points[f->raw->count++];
        point->position = rgHull_Vertex(f->hull, (int)vertex);
        point->gap = gap;
        point->feature = vertex;
    }
}

// Vertices within the margin, found from the lowest along edges: what lies below a plane is
// connected.
static void rgFloodHull(const rgHull* hull, const rgLocalPlane* p, int start, double margin,
                        rgRawManifold* raw) {
    rgFlood f;
    f.hull = hull;
    f.raw = raw;
    f.exact = hull->vertexCount <= RG_FLOOD_BITS;
    // Only the words that the hull needs: small hulls are frequent.
    for (int i = 0; i < RG_FLOOD_BITS / 64 && 64 * i < hull->vertexCount; i += 4) {
        memset(f.seen + i, 0, 4 * sizeof(f.seen[0]));
    }
    const rgTwo x = rgBoth(p->d.x), y = rgBoth(p->d.y), z = rgBoth(p->d.z);
    const rgTwo offset = rgBoth(p->offset), limit = rgBoth(margin);
    rgFlood_Add(&f, (uint32_t)start, rgDot(p->d, rgHull_Vertex(hull, start)) + p->offset);
    for (int at = 0; at < raw->count && raw->count < RG_FLOOD_LIMIT; ++at) {
        uint32_t v = raw->points[at].feature;
        const int* neighbor = hull->neighbors + hull->neighborStart[v];
        const int* end = hull->neighbors + hull->neighborStart[v + 1];
        const double* around = hull->around + 6 * (size_t)hull->aroundStart[v];
        for (; neighbor < end; neighbor += 2, around += 6) {
            rgTwo gap = x * rgLoadTwo(around) + y * rgLoadTwo(around + 2) +
                        z * rgLoadTwo(around + 4) + offset;
            rgTwoInts below = gap <= limit;
            if (below[0] != 0) {
                rgFlood_Add(&f, (uint32_t)neighbor[0], gap[0]);
            }
            if (below[1] != 0 && neighbor + 1 < end) {
                rgFlood_Add(&f, (uint32_t)neighbor[1], gap[1]);
            }
        }
    }
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

// Of the lowest corner of a box in B's frame.
static double rgBoxHeight(const rgBox* box, const rgLocalPlane* p) {
    double x = p->d.x * (p->d.x > 0 ? box->lower.x : box->upper.x);
    double y = p->d.y * (p->d.y > 0 ? box->lower.y : box->upper.y);
    double z = p->d.z * (p->d.z > 0 ? box->lower.z : box->upper.z);
    return x + y + z + p->offset;
}

static void rgPlaneRaw(const rgCollideInput* in, const rgLocalPlane* p, rgRawManifold* raw) {
    const rgConvex* c = &in->b->convex;
    if (c->kind != rg_shapeHull) {
        rgPlaneFeature(c, p, in->margin, raw);
        return;
    }
    if (rgBoxHeight(&in->b->box, p) + c->radius > in->margin) {
        return;
    }
    int32_t lowest = in->cache != NULL ? in->cache->vertexB : -1;
    rgVec3 x = rgConvex_Support(c, rgNegate(p->d), &lowest);
    if (in->cache != NULL) {
        in->cache->vertexB = lowest;
    }
    if (rgDot(p->d, x) + p->offset <= in->margin) {
        rgFloodHull(c->hull, p, lowest, in->margin, raw);
    }
}

// A rounded shape is its core above a plane that is higher by the radius.
static void rgPlaneGeneral(const rgCollideInput* in, rgManifold* m) {
    rgLocalPlane p = rgMakeLocalPlane(*in->poseA, *in->poseB);
    double radius = in->b->convex.radius;
    p.offset -= radius;
    if (!isfinite(p.offset + rgDot(p.d, rgVec(1, 1, 1)))) {
        return;
    }
    rgRawManifold raw;
    raw.count = 0;
    raw.normal = p.d;
    rgPlaneRaw(in, &p, &raw);
    if (raw.count > in->maxPoints) {
        rgReduce(&raw, in->maxPoints);
    }
    m->normal = p.normal;
    for (int k = 0; k < raw.count; ++k) {
        rgVec3 x = rgPose_Point(*in->poseB, raw.points[k].position);
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
    rgLocalPlane p = rgMakeLocalPlane(poseA, poseB);
    int32_t hint = 0;
    rgVec3 low = rgConvex_Support(b, rgNegate(p.d), &hint);
    low = rgAddScaled(low, -b->radius, p.d);
    out->distance = rgDot(p.d, low) + p.offset;
    out->normal = p.normal;
    out->pointB = rgPose_Point(poseB, low);
    out->pointA = rgAddScaled(out->pointB, -out->distance, p.normal);
    out->iterations = 0;
}
