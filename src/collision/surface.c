// Convex shapes on surfaces of triangles. Normals that an inner edge would give by itself are
// replaced by those of the faces around it, so that nothing catches on the seams of a smooth floor.
// docs/theory/collision.md, "Surfaces".
#include "collision/support.h"

#include <string.h>

#define RG_DEEP       1e-3 // relative depth from which a contact's origin is checked
#define RG_CANDIDATES 32   // deep contacts judged together
#define RG_GROUPS     8    // normals kept apart
#define RG_SAME       1e-6 // 1 - cosine of normals that count as one
#define RG_FLAT_EDGE  1e-3 // sine of the bend up to which an edge is flat
#define RG_ON_EDGE    1e-7 // weight below which the nearest point is on an edge
#define RG_SLANT      1e-8 // difference from the face normal that is rounding
#define RG_GROUP_FULL (RG_RAW_LIMIT - RG_POLYGON_LIMIT - 16)

// The side of a surface that a point is on: that of the nearest triangle, or of all that meet in
// the nearest edge or vertex, weighted by their angles there.
typedef struct rgSide {
    rgVec3 p, foot, outward;
    double apart, limit; // squared distance, and how far to look
    double rounding;     // rounding of squared distances
    rgSurfaceTriangle nearest;
} rgSide;

// Deep contact before it is accepted.
typedef struct rgDeepCandidate {
    rgSurfaceTriangle triangle;
    rgVec3 normal;
    double gap;
    bool around; // B is below the triangle without meeting it
    int count;
    rgRawPoint points[4];
} rgDeepCandidate;

typedef struct rgSurfaceQuery {
    const rgGeometry* surface;
    rgConvex triangle; // core of the triangle at hand
    rgConvexPair pair; // in the frame of the surface
    rgVec3 center;     // center of B
    double margin;
    bool solid; // height fields: pushed up from any depth
    int groupCount;
    rgRawManifold groups[RG_GROUPS];
    int candidateCount;
    rgDeepCandidate candidates[RG_CANDIDATES];
    bool met;               // B meets some triangle
    rgSigned wayOut;        // least depth that frees B, used if all candidates prove false
    bool inside;            // B's center is behind the surface
    double homeDepth;       // distance to push B along its normal
    rgSurfaceTriangle home; // triangle of that depth
    double least;           // distance query: smallest so far
    rgSigned nearest;
} rgSurfaceQuery;

static rgSurfaceQuery* rgBeginQuery(rgSurfaceQuery* q, const rgGeometry* a, rgPose poseA,
                                    const rgGeometry* b, rgPose poseB, double margin) {
    q->surface = a;
    q->triangle = (rgConvex){.kind = RG_CORE_TRIANGLE};
    q->pair = rgMakePair(&q->triangle, poseA, &b->convex, poseB);
    q->center = rgAdd(rgMat3_Multiply(&q->pair.r, b->convex.center), q->pair.t);
    q->margin = margin;
    q->solid = a->kind == rg_shapeHeightField;
    q->groupCount = 0;
    q->least = INFINITY;
    q->nearest = (rgSigned){.normal = {0, 0, 1}};
    q->inside = false;
    q->candidateCount = 0;
    q->met = false;
    q->wayOut.gap = -INFINITY;
    return q;
}

static void rgSetTriangle(rgSurfaceQuery* q, const rgSurfaceTriangle* t) {
    rgConvex* c = &q->triangle;
    rgVec3 sum = rgAdd(rgAdd(t->corners[0], t->corners[1]), t->corners[2]);
    c->center = rgScale(1.0 / 3, sum);
    c->scale = 0;
    for (int k = 0; k < 3; ++k) {
        c->triangle[k] = t->corners[k];
        c->ids[k] = t->ids[k];
        c->scale = RG_MAX(c->scale, rgLength(rgSub(t->corners[k], c->center)));
    }
    q->pair.scale = RG_MAX(c->scale, q->pair.b->scale);
}

// Lowest point of B along the normal, its radius included.
static rgVec3 rgLowest(const rgSurfaceQuery* q, rgVec3 normal) {
    int32_t hint = 0;
    rgVec3 d = rgMat3_MultiplyTransposed(&q->pair.r, rgNegate(normal));
    rgVec3 p = rgConvex_Support(q->pair.b, d, &hint);
    p = rgAdd(rgMat3_Multiply(&q->pair.r, p), q->pair.t);
    return rgAddScaled(p, -q->pair.b->radius, normal);
}

// Weights of a point with respect to the corners, seen along the triangle's normal.
static void rgWeights(const rgSurfaceTriangle* t, rgVec3 p, double weights[3]) {
    const rgVec3* c = t->corners;
    double whole = rgDot(t->normal, rgCross(rgSub(c[1], c[0]), rgSub(c[2], c[0])));
    for (int k = 0; k < 3; ++k) {
        rgVec3 u = rgSub(c[(k + 1) % 3], p), v = rgSub(c[(k + 2) % 3], p);
        weights[k] = rgDot(t->normal, rgCross(u, v)) / whole;
    }
}

static bool rgIsOver(const rgSurfaceTriangle* t, rgVec3 p) {
    double w[3];
    rgWeights(t, p, w);
    return w[0] >= -1e-6 && w[1] >= -1e-6 && w[2] >= -1e-6;
}

// ---- collecting points by normal

static rgRawManifold* rgGroupOf(rgSurfaceQuery* q, rgVec3 normal, double gap) {
    int shallow = 0;
    double most = -INFINITY;
    for (int g = 0; g < q->groupCount; ++g) {
        rgRawManifold* group = &q->groups[g];
        if (rgDot(group->normal, normal) > 1 - RG_SAME) {
            return group;
        }
        double least = INFINITY;
        for (int k = 0; k < group->count; ++k) {
            least = RG_MIN(least, group->points[k].gap);
        }
        if (least > most) {
            most = least;
            shallow = g;
        }
    }
    if (q->groupCount == RG_GROUPS && most <= gap) {
        return NULL;
    }
    rgRawManifold* group = &q->groups[q->groupCount < RG_GROUPS ? q->groupCount++ : shallow];
    group->count = 0;
    group->normal = normal;
    return group;
}

static void rgAddToGroup(rgSurfaceQuery* q, const rgRawManifold* raw) {
    for (int k = 0; k < raw->count; ++k) {
        const rgRawPoint* p = &raw->points[k];
        rgRawManifold* group = rgGroupOf(q, raw->normal, p->gap);
        if (group == NULL) {
            return;
        }
        if (group->count >= RG_GROUP_FULL) {
            rgReduce(group, RG_MANIFOLD_CAPACITY);
        }
        bool known = false;
        for (int j = 0; j < group->count && !known; ++j) {
            rgVec3 d = rgSub(group->points[j].position, p->position);
            known = rgLength(d) < 1e-6 * q->pair.b->scale;
        }
        if (!known) {
            rgRawManifold_Add(group, p->position, p->gap, p->feature);
        }
    }
}

// ---- one triangle

static double rgHeightOver(const rgSurfaceQuery* q, const rgSurfaceTriangle* t) {
    return rgDot(t->normal, rgSub(q->center, t->corners[0]));
}

// Point of a triangle nearest to p, and the angle that the triangle spans around it.
static rgVec3 rgFootOn(const rgSurfaceTriangle* t, rgVec3 p, double* angle) {
    double w[3], least = INFINITY;
    rgVec3 foot = rgAddScaled(p, -rgDot(t->normal, rgSub(p, t->corners[0])), t->normal);
    rgWeights(t, p, w);
    *angle = 2;
    if (w[0] >= 0 && w[1] >= 0 && w[2] >= 0) {
        return foot;
    }
    for (int k = 0; k < 3; ++k) {
        rgVec3 c = t->corners[k], e = rgSub(t->corners[(k + 1) % 3], c);
        double s = rgDot(rgSub(p, c), e) / rgDot(e, e);
        s = s < 0 ? 0 : s > 1 ? 1 : s;
        rgVec3 on = s == 1 ? t->corners[(k + 1) % 3] : rgAddScaled(c, s, e);
        double away = rgLengthSquared(rgSub(p, on));
        if (away < least) {
            int at = s == 1 ? (k + 1) % 3 : k;
            rgVec3 u = rgNormalize(rgSub(t->corners[(at + 1) % 3], t->corners[at]));
            rgVec3 v = rgNormalize(rgSub(t->corners[(at + 2) % 3], t->corners[at]));
            least = away;
            foot = on;
            *angle =
                s > 0 && s < 1 ? 1 : acos(RG_MAX(-1, RG_MIN(1, rgDot(u, v)))) / 3.141592653589793;
        }
    }
    return foot;
}

static bool rgVisitSide(const rgSurfaceTriangle* t, void* context) {
    rgSide* side = context;
    double angle;
    rgVec3 foot = rgFootOn(t, side->p, &angle);
    double apart = rgLengthSquared(rgSub(side->p, foot));
    double slack = 1e-9 * apart + side->rounding;
    if (apart > side->apart + slack) {
        return true;
    }
    if (apart < side->apart - slack) {
        side->foot = foot;
        side->outward = rgVec(0, 0, 0);
        side->nearest = *t;
    }
    side->outward = rgAddScaled(side->outward, angle, t->normal);
    side->apart = RG_MIN(apart, side->apart);
    side->limit = RG_MIN(side->limit, side->apart + 2 * slack);
    return true;
}

// True if a point is behind a mesh that is no further than reach.
static bool rgIsBehind(const rgSurfaceQuery* q, rgVec3 p, double reach, rgSide* side) {
    double size = q->surface->boundingRadius;
    side->p = p;
    side->apart = INFINITY;
    side->limit = reach * reach;
    side->rounding = 1e-22 * size * size;
    rgVisitNear(&q->surface->triangles, p, &side->limit, rgVisitSide, side);
    return side->apart <= reach * reach && rgDot(side->outward, rgSub(p, side->foot)) < 0;
}

// The triangle of a height field above B's center, at any depth.
static bool rgLocateAbove(const rgSurfaceTriangle* t, void* context) {
    rgSurfaceQuery* q = context;
    rgSurfaceTriangle flat = *t;
    flat.normal = rgVec(0, 0, 1);
    if (rgHeightOver(q, t) < 0 && rgIsOver(&flat, q->center)) {
        q->home = *t;
        q->inside = true;
    }
    return !q->inside;
}

static double rgDepthBehind(const rgSurfaceQuery* q, const rgSurfaceTriangle* t) {
    return rgDot(t->normal, rgSub(t->corners[0], rgLowest(q, t->normal)));
}

// Triangle that B leaves soonest, among those that B's center is right behind.
static bool rgLocateExit(const rgSurfaceTriangle* t, void* context) {
    rgSurfaceQuery* q = context;
    if (rgHeightOver(q, t) < 0 && rgIsOver(t, q->center)) {
        double depth = rgDepthBehind(q, t);
        if (depth < q->homeDepth) {
            q->home = *t;
            q->homeDepth = depth;
        }
    }
    return true;
}

static bool rgTriangleDistance(rgSurfaceQuery* q, const rgSurfaceTriangle* t, double reach,
                               rgSigned* s);

static bool rgFindMet(const rgSurfaceTriangle* t, void* context) {
    rgSurfaceQuery* q = context;
    rgSigned s;
    rgSetTriangle(q, t);
    q->met = rgTriangleDistance(q, t, 0, &s);
    return !q->met;
}

// Find the triangle that B is to be pushed out of, if its center is inside. A surface with a border
// has no inside: there B must still touch it.
static void rgLocate(rgSurfaceQuery* q, const rgBox* box) {
    if (q->solid) {
        rgVisitTriangles(q->surface, box, rgLocateAbove, q);
        return;
    }
    rgSide side;
    if (!rgIsBehind(q, q->center, q->pair.b->scale, &side)) {
        return;
    }
    q->home = side.nearest;
    if (!q->home.closed) {
        rgVisitTriangles(q->surface, box, rgFindMet, q);
    }
    q->inside = q->home.closed || (q->met && rgHeightOver(q, &q->home) < 0);
    if (!q->inside) {
        return;
    }
    q->homeDepth = rgDepthBehind(q, &q->home);
    rgVisitTriangles(q->surface, box, rgLocateExit, q);
}

// Out along the face normal, whatever the depth.
static void rgPushOut(rgSurfaceQuery* q, const rgSurfaceTriangle* t, rgRawManifold* raw) {
    rgVec3 low = rgLowest(q, t->normal);
    double gap = rgDot(t->normal, rgSub(low, t->corners[0]));
    raw->normal = t->normal;
    raw->count = 0;
    if (gap <= q->margin) {
        rgRawManifold_Add(raw, rgAddScaled(low, -0.5 * gap, t->normal), gap,
                          rgFeatureId(3, 1, 0, 0, 0));
    }
}

// Normals allowed on an edge lie between the two faces it joins when it bends outward; a flat or
// hollow edge has none of its own.
static bool rgEdgeAllows(const rgSurfaceTriangle* t, int k, rgVec3 normal) {
    rgVec3 across = t->edgeNormal[k];
    rgVec3 e = rgNormalize(rgSub(t->corners[(k + 1) % 3], t->corners[k]));
    rgVec3 out = rgCross(e, t->normal); // leaves the triangle through this edge
    double lean = rgDot(normal, out);
    if (fabs(lean) <= RG_SLANT) {
        return true;
    }
    if (lean < 0 || fabs(rgDot(normal, e)) > 1e-3) {
        return false;
    }
    if (rgLengthSquared(across) == 0) {
        return true;
    }
    // Lean and bend compared as angles from the face normal.
    double bend = rgDot(across, out);
    double up = rgDot(normal, t->normal), over = rgDot(across, t->normal);
    return bend > RG_FLAT_EDGE && (over <= 0 || lean * over <= bend * up + 1e-6);
}

// A normal is a vertex's own when all edges there fall away from it.
static bool rgVertexAllows(const rgSurfaceQuery* q, const rgSurfaceTriangle* t, int k,
                           rgVec3 normal) {
    rgVec3 around[RG_AROUND_LIMIT];
    int count = rgNeighborsOf(q->surface, t->ids[k], around);
    for (int n = 0; n < count; ++n) {
        rgVec3 e = rgSub(around[n], t->corners[k]);
        if (rgDot(normal, e) > 1e-6 * rgLength(e)) {
            return false;
        }
    }
    return count > 0;
}

// True if neighbours leave the normal to this triangle, whose point `nearest` is in touch.
static bool rgNormalHolds(const rgSurfaceQuery* q, const rgSurfaceTriangle* t, rgVec3 nearest,
                          rgVec3 normal) {
    double w[3];
    rgWeights(t, nearest, w);
    int zeros = 0, last = 0, high = 0;
    for (int k = 0; k < 3; ++k) {
        bool zero = w[k] <= RG_ON_EDGE;
        zeros += zero;
        last = zero ? k : last;
        high = w[k] > w[high] ? k : high;
    }
    if (zeros == 0) {
        return rgLengthSquared(rgSub(normal, t->normal)) <= RG_SLANT * RG_SLANT;
    }
    return zeros == 1 ? rgEdgeAllows(t, (last + 1) % 3, normal)
                      : rgVertexAllows(q, t, high, normal);
}

// Contact along the face normal: only the part of B over this triangle.
static void rgFaceContact(rgSurfaceQuery* q, const rgSurfaceTriangle* t, rgRawManifold* raw) {
    rgFeature a, b;
    raw->normal = t->normal;
    raw->count = 0;
    rgConvex_Feature(q->pair.b, rgMat3_MultiplyTransposed(&q->pair.r, rgNegate(t->normal)), 0, &b);
    if (b.count > 1) {
        rgConvex_Feature(&q->triangle, t->normal, 0, &a);
        b.normal = rgMat3_Multiply(&q->pair.r, b.normal);
        for (int k = 0; k < b.count; ++k) {
            b.points[k] = rgAdd(rgMat3_Multiply(&q->pair.r, b.points[k]), q->pair.t);
        }
        rgClipFeatures(&a, &b, 0, q->pair.b->radius, q->margin, raw);
    }
    rgVec3 low = rgLowest(q, t->normal);
    double gap = rgDot(t->normal, rgSub(low, t->corners[0]));
    for (int k = 0; k < raw->count; ++k) {
        // Planes of slivers, a little beyond their edges, may be lower than B is.
        raw->points[k].gap = RG_MAX(raw->points[k].gap, gap);
    }
    if (b.count > 1) {
        return;
    }
    if (gap <= q->margin && rgIsOver(t, low)) {
        rgRawManifold_Add(raw, rgAddScaled(low, -0.5 * gap, t->normal), gap,
                          rgFeatureId(1, b.ids[0], -1, -1, -1));
    }
}

// Least depth reached from one more direction, if that one is the triangle's.
static void rgTryDirection(rgSurfaceQuery* q, const rgSurfaceTriangle* t, rgVec3 direction,
                           rgSigned* s) {
    rgSigned other;
    memset(&other, 0, sizeof(other));
    rgTrack(&q->pair, rgNormalize(direction), NULL, &other);
    if (other.gap > s->gap && rgDot(other.normal, t->normal) > 0 &&
        rgNormalHolds(q, t, other.pointA, other.normal)) {
        other.iterations += s->iterations;
        *s = other;
    }
}

// Depth of a triangle within B: descent from its normal, and when that stays deep from between it
// and its neighbours across edges that bend outward, as B may just lean against one of those.
static void rgTriangleDepth(rgSurfaceQuery* q, const rgSurfaceTriangle* t, rgSigned* s) {
    rgTrack(&q->pair, t->normal, NULL, s);
    if (s->gap > -RG_DEEP * q->pair.b->scale) {
        return;
    }
    for (int k = 0; k < 3; ++k) {
        rgVec3 e = rgSub(t->corners[(k + 1) % 3], t->corners[k]);
        rgVec3 out = rgNormalize(rgCross(e, t->normal)), across = t->edgeNormal[k];
        bool border = rgLengthSquared(across) == 0;
        if (border || rgDot(across, out) > RG_FLAT_EDGE) {
            rgTryDirection(q, t, rgAdd(t->normal, border ? out : across), s);
        }
    }
}

// Signed distance to the front of a triangle; false when B is out of reach or behind.
static bool rgTriangleDistance(rgSurfaceQuery* q, const rgSurfaceTriangle* t, double reach,
                               rgSigned* s) {
    double radius = q->pair.b->radius;
    rgGjkInput input = {.direction = t->normal, .cutoff = reach + radius};
    rgGjkResult gjk;
    rgGjk(&q->pair, &input, &gjk);
    if (gjk.beyond) {
        return false;
    }
    memset(s, 0, sizeof(*s));
    s->iterations = gjk.iterations;
    if (!gjk.contained && gjk.distance > 1e-6 * q->pair.b->scale) {
        s->gap = gjk.distance;
        s->normal = rgNormalize(rgNegate(gjk.v));
        rgSimplex_Witnesses(&gjk.simplex, &s->pointA, &s->pointB);
    } else if (!gjk.contained && gjk.distance > 1e-12 * q->pair.b->scale) {
        rgTrack(&q->pair, rgNormalize(rgNegate(gjk.v)), &gjk.simplex, s);
    } else {
        rgTriangleDepth(q, t, s);
    }
    s->gap -= radius;
    s->pointB = rgAddScaled(s->pointB, -radius, s->normal);
    return s->gap <= reach;
}

// ---- deep contacts, and where they come from

// True if a point of B, so deep along a normal, is inside the solid at all: B may reach below a
// triangle by going around it.
static bool rgIsWithin(const rgSurfaceQuery* q, const rgRawPoint* p, rgVec3 normal) {
    rgSide side;
    rgVec3 onB = rgAddScaled(p->position, 0.5 * p->gap, normal);
    return q->solid || rgIsBehind(q, onB, 1.001 * fabs(p->gap) + 1e-9 * q->pair.b->scale, &side);
}

// Points deeper than B is in the triangle, or deep at all, stay if they are inside the solid.
static void rgDropOutside(const rgSurfaceQuery* q, double gap, rgRawManifold* raw) {
    double candidate = gap > 0 ? -1e-9 * q->pair.b->scale : -RG_DEEP * q->pair.b->scale;
    int kept = 0;
    for (int k = 0; k < raw->count; ++k) {
        const rgRawPoint* p = &raw->points[k];
        if (p->gap >= candidate || rgIsWithin(q, p, raw->normal)) {
            raw->points[kept++] = *p;
        }
    }
    raw->count = kept;
}

static double rgGroupDepth(const rgRawManifold* g) {
    double least = INFINITY;
    for (int k = 0; k < g->count; ++k) {
        least = RG_MIN(least, g->points[k].gap);
    }
    return least;
}

// True if B, moved out of a contact that is less deep, leaves this triangle too.
static bool rgIsExplained(rgSurfaceQuery* q, const rgDeepCandidate* candidate) {
    double slack = 1e-6 * q->pair.b->scale;
    rgSetTriangle(q, &candidate->triangle);
    for (int g = 0; g < q->groupCount; ++g) {
        double gap = rgGroupDepth(&q->groups[g]);
        if (gap > 0 || gap <= candidate->gap + slack) {
            continue;
        }
        rgGjkInput input = {.shift = rgScale(slack - gap, q->groups[g].normal),
                            .direction = q->groups[g].normal,
                            .cutoff = q->pair.b->radius};
        rgGjkResult gjk;
        rgGjk(&q->pair, &input, &gjk);
        if (!gjk.contained && (gjk.beyond || gjk.distance >= q->pair.b->radius)) {
            return true;
        }
    }
    return false;
}

// The less deep ones first; ties keep their order.
static void rgJudgeCandidates(rgSurfaceQuery* q) {
    int order[RG_CANDIDATES];
    for (int i = 0; i < q->candidateCount; ++i) {
        int at = i;
        for (; at > 0 && q->candidates[order[at - 1]].gap < q->candidates[i].gap; --at) {
            order[at] = order[at - 1];
        }
        order[at] = i;
    }
    for (int i = 0; i < q->candidateCount; ++i) {
        const rgDeepCandidate* candidate = &q->candidates[order[i]];
        if ((q->met || !candidate->around) && !rgIsExplained(q, candidate)) {
            rgRawManifold raw;
            raw.normal = candidate->normal;
            raw.count = candidate->count;
            memcpy(raw.points, candidate->points, sizeof(candidate->points));
            rgAddToGroup(q, &raw);
        }
    }
    q->candidateCount = 0;
}

static void rgAddCandidate(rgSurfaceQuery* q, const rgSurfaceTriangle* t, bool around,
                           rgRawManifold* raw) {
    double gap = rgGroupDepth(raw);
    if (raw->count == 0 || gap > (around ? 0 : -RG_DEEP * q->pair.b->scale)) {
        rgAddToGroup(q, raw);
        return;
    }
    // B reached this triangle from behind, by way of another one.
    if (rgDot(raw->normal, rgSub(q->center, raw->points[0].position)) < 0) {
        return;
    }
    if (q->candidateCount == RG_CANDIDATES) {
        rgJudgeCandidates(q);
    }
    rgReduce(raw, 4);
    rgDeepCandidate* candidate = &q->candidates[q->candidateCount++];
    candidate->triangle = *t;
    candidate->normal = raw->normal;
    candidate->gap = gap;
    candidate->around = around;
    candidate->count = raw->count;
    memcpy(candidate->points, raw->points, sizeof(candidate->points));
}

static bool rgCollideTriangle(const rgSurfaceTriangle* t, void* context) {
    rgSurfaceQuery* q = context;
    double low = rgDot(t->normal, rgSub(rgLowest(q, t->normal), t->corners[0]));
    if (low > q->margin) {
        return true;
    }
    rgRawManifold raw;
    rgSigned s;
    raw.count = 0;
    raw.normal = t->normal;
    rgSetTriangle(q, t);
    bool reached = rgTriangleDistance(q, t, q->margin, &s);
    double gap = reached ? s.gap : INFINITY;
    if (reached && rgDot(s.normal, t->normal) > 0 && rgNormalHolds(q, t, s.pointA, s.normal)) {
        rgBuildManifold(&q->pair, &s, q->margin, &raw);
    } else if ((reached || low < 0) && rgHeightOver(q, t) >= 0) {
        // Points that went below this triangle by way of another one, too.
        rgFaceContact(q, t, &raw);
    }
    // An edge or a vertex of the surface within B is deep wherever B's own points are.
    if (rgDot(raw.normal, t->normal) > 1 - RG_SAME) {
        rgDropOutside(q, gap, &raw);
    }
    if (gap < -RG_DEEP * q->pair.b->scale && gap > q->wayOut.gap) {
        q->wayOut = s;
    }
    q->met = q->met || gap <= 0;
    rgAddCandidate(q, t, gap > 0, &raw);
    return true;
}

// Add the least way out if triangles are deep in B but no contact was accepted, as with a B that is
// all the way through a plate.
static void rgAddWayOut(rgSurfaceQuery* q) {
    const rgSigned* s = &q->wayOut;
    bool held = !(s->gap > -INFINITY);
    for (int g = 0; g < q->groupCount; ++g) {
        held = held || rgGroupDepth(&q->groups[g]) <= 0;
    }
    if (held) {
        return;
    }
    rgRawManifold raw;
    raw.normal = s->normal;
    raw.count = 0;
    rgRawManifold_Add(&raw, rgScale(0.5, rgAdd(s->pointA, s->pointB)), s->gap,
                      rgFeatureId(3, 2, 0, 0, 0));
    rgAddToGroup(q, &raw);
}

// ---- the manifold

// Groups by depth, the deepest first; ties keep their order.
static void rgOrderGroups(const rgSurfaceQuery* q, int order[RG_GROUPS]) {
    for (int g = 0; g < q->groupCount; ++g) {
        int at = g;
        while (at > 0 && rgGroupDepth(&q->groups[order[at - 1]]) > rgGroupDepth(&q->groups[g])) {
            order[at] = order[at - 1];
            at -= 1;
        }
        order[at] = g;
    }
}

static void rgMakeIdsUnique(rgManifold* m) {
    for (int k = 1; k < m->count; ++k) {
        for (int j = 0; j < k; ++j) {
            if (m->points[j].feature == m->points[k].feature) {
                m->points[k].feature = m->points[k].feature * 31 + 7;
                j = -1;
            }
        }
    }
}

static void rgEmitGroups(rgSurfaceQuery* q, rgPose poseA, rgManifold* m) {
    int order[RG_GROUPS] = {0};
    rgOrderGroups(q, order);
    m->count = 0;
    for (int g = 0; g < q->groupCount; ++g) {
        rgRawManifold* raw = &q->groups[order[g]];
        int left = RG_MANIFOLD_CAPACITY - m->count, groups = q->groupCount - g;
        int share = RG_MIN(4, RG_MAX(1, left / groups));
        rgReduce(raw, share);
        rgVec3 normal = rgRotate(poseA.q, raw->normal);
        m->normal = g == 0 ? normal : m->normal;
        for (int k = 0; k < raw->count && m->count < RG_MANIFOLD_CAPACITY; ++k) {
            const rgRawPoint* p = &raw->points[k];
            m->points[m->count++] = (rgManifoldPoint){.position = rgPose_Point(poseA, p->position),
                                                      .normal = normal,
                                                      .gap = p->gap,
                                                      .feature = p->feature};
        }
    }
    rgMakeIdsUnique(m);
}

static rgBox rgBoxInSurface(rgPose poseA, const rgGeometry* b, rgPose poseB, double grow) {
    rgBox box = rgGeometry_Box(b, rgPoseMultiply(rgPoseInvert(poseA), poseB));
    box.lower = rgSub(box.lower, rgVec(grow, grow, grow));
    box.upper = rgAdd(box.upper, rgVec(grow, grow, grow));
    return box;
}

void rgCollideSurface(const rgCollideInput* in, rgManifold* manifold) {
    rgSurfaceQuery query;
    rgSurfaceQuery* q = rgBeginQuery(&query, in->a, *in->poseA, in->b, *in->poseB, in->margin);
    if (!rgPair_IsFinite(&q->pair) || !isfinite(in->margin)) {
        return;
    }
    rgBox box = rgBoxInSurface(*in->poseA, in->b, *in->poseB, RG_MAX(0, in->margin));
    rgLocate(q, &box);
    if (q->inside) {
        rgRawManifold raw;
        rgPushOut(q, &q->home, &raw);
        rgAddToGroup(q, &raw);
    } else {
        rgVisitTriangles(in->a, &box, rgCollideTriangle, q);
        rgJudgeCandidates(q);
        rgAddWayOut(q);
    }
    rgEmitGroups(q, *in->poseA, manifold);
}

// ---- distance

static bool rgMeasureTriangle(const rgSurfaceTriangle* t, void* context) {
    rgSurfaceQuery* q = context;
    rgSigned s;
    rgSetTriangle(q, t);
    if (!rgTriangleDistance(q, t, RG_MIN(q->least, q->margin), &s)) {
        return true;
    }
    if (s.gap < q->least) {
        q->least = s.gap;
        q->nearest = s;
    }
    return true;
}

void rgSurfaceDistance(const rgGeometry* a, rgPose poseA, const rgGeometry* b, rgPose poseB,
                       rgProximity* p) {
    rgSurfaceQuery query;
    rgSurfaceQuery* q = rgBeginQuery(&query, a, poseA, b, poseB, b->convex.scale);
    rgBox around = rgBoxInSurface(poseA, b, poseB, 0);
    q->margin = 0;
    rgLocate(q, &around);
    q->margin = b->convex.scale;
    if (q->inside) {
        rgSigned* s = &q->nearest;
        memset(s, 0, sizeof(*s));
        s->normal = q->home.normal;
        s->pointB = rgLowest(q, s->normal);
        s->gap = rgDot(s->normal, rgSub(s->pointB, q->home.corners[0]));
        s->pointA = rgAddScaled(s->pointB, -s->gap, s->normal);
        q->least = s->gap;
    }
    // Look further and further out until something is found; a triangle outside the box searched
    // is farther than the box was grown.
    rgVec3 local = rgPose_PointBack(poseA, poseB.p);
    double limit = 4 * (rgLength(local) + a->boundingRadius + b->boundingRadius);
    for (; q->least > q->margin && q->margin < 4 * limit; q->margin *= 4) {
        rgBox box = rgBoxInSurface(poseA, b, poseB, q->margin);
        rgVisitTriangles(a, &box, rgMeasureTriangle, q);
        if (q->least <= q->margin) {
            break;
        }
    }
    p->distance = q->nearest.gap;
    p->normal = rgRotate(poseA.q, q->nearest.normal);
    p->pointA = rgPose_Point(poseA, q->nearest.pointA);
    p->pointB = rgPose_Point(poseA, q->nearest.pointB);
    p->iterations = q->nearest.iterations;
}
