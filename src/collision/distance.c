// Signed distance of two convex shapes, apart, touching or deep, and the public distance queries.
// Penetration is found by descent: B is moved out along the best direction known, GJK gives a
// better one, until the direction stays. docs/theory/collision.md, "Penetration".
#include "collision/support.h"

#define RG_TRACK_LIMIT   32
#define RG_TRACK_SHIFT   0.02 // distance at which GJK runs, relative to the smaller shape
#define RG_TOUCH         1e-6 // relative distance below which the sign needs care
#define RG_SHALLOW       0.1  // relative depth up to which a remembered direction is trusted
#define RG_COARSE_NORMAL 1e-12

static rgVec3 rgSupportOfPair(const rgConvexPair* pair, rgVec3 n, int32_t* hintA, int32_t* hintB) {
    rgVec3 a = rgConvex_Support(pair->a, n, hintA);
    rgVec3 b = rgConvex_Support(pair->b, rgMat3_MultiplyTransposed(&pair->r, rgNegate(n)), hintB);
    return rgSub(rgSub(a, rgMat3_Multiply(&pair->r, b)), pair->t);
}

// Direction from A to B; of a triangle its own normal, which is exact however short v is. A length
// above `enough` is long enough for v itself.
static rgVec3 rgGjkNormal(const rgGjkResult* gjk, double enough) {
    const rgSimplex* s = &gjk->simplex;
    if (gjk->distance > enough) {
        return rgScale(-1 / gjk->distance, gjk->v);
    }
    if (s->count == 3) {
        rgVec3 n = rgCross(rgSub(s->w[1], s->w[0]), rgSub(s->w[2], s->w[0]));
        n = rgNormalize(n);
        return rgDot(n, gjk->v) > 0 ? rgNegate(n) : n;
    }
    return rgNormalize(rgNegate(gjk->v));
}

static rgVec3 rgBetweenCenters(const rgConvexPair* pair) {
    rgVec3 d = rgAdd(rgMat3_Multiply(&pair->r, pair->b->center), pair->t);
    d = rgSub(d, pair->a->center);
    return rgLengthSquared(d) > 0 ? rgNormalize(d) : rgVec(0, 0, 1);
}

static bool rgIsSmoothPoint(const rgSimplex* s, int k) {
    return s->ia[k] == RG_SMOOTH_VERTEX || s->ib[k] == RG_SMOOTH_VERTEX;
}

// Project the origin onto the simplex, if it is a face of A - B that contains the projection along
// its normal: weights of the projection. shift was subtracted from A - B.
static bool rgProjectOrigin(rgSimplex* s, rgVec3 shift) {
    if (s->count != 3 || rgIsSmoothPoint(s, 0) || rgIsSmoothPoint(s, 1) || rgIsSmoothPoint(s, 2)) {
        return false;
    }
    rgVec3 a = rgAdd(s->w[0], shift), b = rgAdd(s->w[1], shift), c = rgAdd(s->w[2], shift);
    rgVec3 u = rgSub(b, a), v = rgSub(c, a), n = rgCross(u, v);
    double nn = rgDot(n, n);
    if (!(nn > 1e-20 * rgDot(u, u) * rgDot(v, v))) {
        return false;
    }
    rgVec3 p = rgScale(rgDot(n, a) / nn, n);
    a = rgSub(a, p), b = rgSub(b, p), c = rgSub(c, p);
    double wa = rgDot(n, rgCross(b, c)), wb = rgDot(n, rgCross(c, a)), wc = rgDot(n, rgCross(a, b));
    if (!(wa >= 0 && wb >= 0 && wc >= 0)) {
        return false;
    }
    double sum = wa + wb + wc;
    s->weight[0] = wa / sum;
    s->weight[1] = wb / sum;
    s->weight[2] = wc / sum;
    return true;
}

static void rgKeepSimplex(const rgConvexPair* pair, const rgSimplex* s, rgSigned* out) {
    out->simplexCount = 0;
    for (int k = 0; k < s->count && k < 3; ++k) {
        if (rgIsSmoothPoint(s, k)) {
            rgSmooth_Keep(pair, s, out);
            return;
        }
        out->simplexA[k] = s->ia[k];
        out->simplexB[k] = s->ib[k];
        out->simplexCount = k + 1;
    }
}

static double rgShallowDepth(const rgConvexPair* pair) {
    return RG_SHALLOW * RG_MIN(pair->a->scale, pair->b->scale);
}

static bool rgIsShallow(const rgConvexPair* pair, double gap) {
    return gap > -rgShallowDepth(pair);
}

static double rgTrackShift(const rgConvexPair* pair) {
    double small = RG_MIN(pair->a->scale, pair->b->scale);
    return RG_TRACK_SHIFT * RG_MAX(small, 1e-4 * pair->scale);
}

// Supports along the normal decide: for smooth shapes, and when the descent did not end.
static void rgFinishTrack(const rgConvexPair* pair, rgVec3 normal, rgSigned* out) {
    rgVec3 w = rgSupportOfPair(pair, normal, &out->vertexA, &out->vertexB);
    out->gap = -rgDot(normal, w);
}

void rgTrack(const rgConvexPair* pair, rgVec3 normal, const rgSimplex* warm, rgSigned* out) {
    double room = rgTrackShift(pair);
    rgGjkResult results[2]; // one starts from the other
    rgGjkResult* gjk = results;
    out->beyond = false;
    for (int k = 0; k < RG_TRACK_LIMIT; ++k) {
        gjk = &results[k % 2];
        rgFinishTrack(pair, normal, out);
        rgGjkInput input = {.shift = rgScale(room - out->gap, normal),
                            .direction = normal,
                            .cutoff = INFINITY,
                            .hintA = out->vertexA,
                            .hintB = out->vertexB,
                            .warm = warm};
        rgGjk(pair, &input, gjk);
        out->iterations += gjk->iterations + 1;
        if (gjk->contained || !(gjk->distance > 0)) {
            // Rounding only, as the plane with this normal separates after the shift.
            int32_t vertex = out->vertexA;
            out->normal = normal;
            out->pointA = rgConvex_Support(pair->a, normal, &vertex);
            out->pointB = rgAddScaled(out->pointA, out->gap, normal);
            return;
        }
        rgVec3 next = rgGjkNormal(gjk, INFINITY);
        bool face = rgProjectOrigin(&gjk->simplex, input.shift);
        double turn = rgLengthSquared(rgSub(next, normal));
        normal = next;
        rgKeepSimplex(pair, &gjk->simplex, out);
        if (face || turn <= (out->simplexCount > 0 ? 1e-26 : 1e-18)) {
            break;
        }
        warm = &gjk->simplex;
    }
    rgSimplex_Witnesses(&gjk->simplex, &out->pointA, &out->pointB);
    out->normal = normal;
    if (out->simplexCount > 0) {
        // The simplex is on the supporting plane: its points are supports already.
        out->gap = rgDot(normal, rgSub(gjk->simplex.b[0], gjk->simplex.a[0]));
        out->vertexA = gjk->simplex.ia[0];
        out->vertexB = gjk->simplex.ib[0];
    } else {
        rgFinishTrack(pair, normal, out);
    }
}

// Best of some fixed directions, for shapes whose difference has no volume.
static rgVec3 rgScanDirections(const rgConvexPair* pair) {
    rgVec3 best = rgBetweenCenters(pair);
    double least = INFINITY;
    int32_t hintA = 0, hintB = 0;
    for (int k = 0; k < 27; ++k) {
        int x = k % 3 - 1, y = k / 3 % 3 - 1, z = k / 9 - 1;
        rgVec3 n = rgVec(x, y, z);
        n = k == 13 ? rgBetweenCenters(pair) : rgNormalize(n);
        double depth = rgDot(n, rgSupportOfPair(pair, n, &hintA, &hintB));
        if (depth < least) {
            least = depth;
            best = n;
        }
    }
    return best;
}

// ---- cache of a pair

static bool rgCache_IsUsable(const rgPairCache* cache) {
    double length = rgLengthSquared(cache->axis);
    return length > 0.5 && length < 2;
}

static bool rgIsVertex(const rgConvex* c, int32_t id) {
    return id >= 0 && id < rgConvex_VertexCount(c);
}

static const rgSimplex* rgCache_Simplex(const rgPairCache* cache, const rgConvexPair* pair,
                                        rgSimplex* s) {
    s->count = 0;
    for (int k = 0; k < cache->simplexCount && k < 3; ++k) {
        if (!rgIsVertex(pair->a, cache->simplexA[k]) || !rgIsVertex(pair->b, cache->simplexB[k])) {
            return NULL;
        }
        s->ia[k] = cache->simplexA[k];
        s->ib[k] = cache->simplexB[k];
        s->a[k] = s->b[k] = rgVec(0, 0, 0);
        s->count = k + 1;
    }
    return s->count > 0 ? s : NULL;
}

static void rgCache_StoreSimplex(rgPairCache* cache, const rgSigned* core) {
    cache->simplexCount = core->simplexCount;
    for (int k = 0; k < (core->simplexCount < 0 ? 3 : core->simplexCount); ++k) {
        cache->simplexA[k] = core->simplexA[k];
        cache->simplexB[k] = core->simplexB[k];
    }
}

static void rgCache_Store(rgPairCache* cache, const rgConvexPair* pair, const rgSigned* core) {
    cache->axis = core->normal;
    cache->vertexA = core->vertexA;
    cache->vertexB = core->vertexB;
    bool near = !core->beyond && core->gap < rgTrackShift(pair);
    cache->touching = near ? (rgIsShallow(pair, core->gap) ? 1 : 2) : 0;
}

// ---- signed distance of the cores

static void rgCoreFromGjk(const rgConvexPair* pair, const rgGjkResult* gjk, rgSigned* out) {
    out->normal = rgGjkNormal(gjk, 1e-3 * pair->scale);
    out->beyond = gjk->beyond;
    out->gap = gjk->distance;
    out->vertexA = gjk->hintA;
    out->vertexB = gjk->hintB;
    rgKeepSimplex(pair, &gjk->simplex, out);
    rgSimplex_Witnesses(&gjk->simplex, &out->pointA, &out->pointB);
}

// The face that EPA found; smooth shapes have none, and there the direction is refined.
static void rgCoreFromEpa(const rgConvexPair* pair, const rgEpaResult* epa, rgSigned* out) {
    out->iterations += epa->iterations;
    if (epa->exact) {
        rgKeepSimplex(pair, &epa->simplex, out);
    }
    if (out->simplexCount <= 0) {
        rgTrack(pair, epa->normal, NULL, out);
        return;
    }
    const rgSimplex* s = &epa->simplex;
    rgSimplex_Witnesses(s, &out->pointA, &out->pointB);
    out->normal = epa->normal;
    out->gap = rgDot(out->normal, rgSub(s->b[0], s->a[0]));
    out->vertexA = s->ia[0];
    out->vertexB = s->ib[0];
}

static void rgPenetration(const rgConvexPair* pair, const rgGjkResult* gjk, rgPairCache* cache,
                          rgSigned* out) {
    if (!gjk->contained && gjk->distance > RG_COARSE_NORMAL * pair->scale) {
        rgTrack(pair, rgGjkNormal(gjk, INFINITY), &gjk->simplex, out);
        return;
    }
    bool known = rgCache_IsUsable(cache);
    if (known && cache->touching != 2) {
        rgTrack(pair, cache->axis, NULL, out);
        if (rgIsShallow(pair, out->gap)) {
            return;
        }
    }
    rgEpaResult epa;
    out->simplexCount = 0;
    if (!rgEpa(pair, &gjk->simplex, known, &epa)) {
        rgTrack(pair, rgScanDirections(pair), NULL, out);
        return;
    }
    rgCoreFromEpa(pair, &epa, out);
    if (known && out->simplexCount > 0) {
        rgDeep_Store(pair, &epa, cache);
    }
}

// The features of the last call, if they are nearest still. Below the touching distance only a
// triangle gives the normal and the sign.
static bool rgSameFeatures(const rgConvexPair* pair, const rgPairCache* cache, rgSigned* out) {
    rgWarmLimits limits = {RG_TOUCH * pair->scale, rgTrackShift(pair), rgShallowDepth(pair)};
    if (cache->simplexCount == 0 || !rgCache_IsUsable(cache)) {
        return false;
    }
    return cache->simplexCount > 0 ? rgWarmDistance(pair, cache, &limits, out)
                                   : rgWarmSmooth(pair, cache, limits.shallow, out);
}

static void rgCoreDistance(const rgConvexPair* pair, double cutoff, rgPairCache* cache,
                           rgSigned* out) {
    bool known = rgCache_IsUsable(cache);
    rgSimplex stored;
    const rgSimplex* warm = known ? rgCache_Simplex(cache, pair, &stored) : NULL;
    out->vertexA = cache->vertexA;
    out->vertexB = cache->vertexB;
    out->iterations = 0;
    cache->rest = 0;
    if (known && cache->touching == 1) {
        rgTrack(pair, rgNormalize(cache->axis), warm, out);
        if (rgIsShallow(pair, out->gap)) {
            return;
        }
    }
    rgGjkInput input = {.direction = known ? cache->axis : rgBetweenCenters(pair),
                        .cutoff = cutoff,
                        .hintA = cache->vertexA,
                        .hintB = cache->vertexB,
                        .warm = warm};
    rgGjkResult gjk;
    rgGjk(pair, &input, &gjk);
    out->iterations += gjk.iterations;
    if (gjk.beyond || (!gjk.contained && gjk.distance > RG_TOUCH * pair->scale)) {
        rgCoreFromGjk(pair, &gjk, out);
        return;
    }
    rgPenetration(pair, &gjk, cache, out);
}

// GJK finds normals of smooth shapes to 1e-5, EPA deep inside only to 0.1; Newton's method gives
// the rest.
static void rgPolish(const rgConvexPair* pair, const rgPairCache* cache, rgSigned* out) {
    rgPairCache found = *cache;
    found.axis = out->normal;
    rgSigned better = *out;
    if (rgWarmSmooth(pair, &found, INFINITY, &better)) {
        better.iterations += out->iterations;
        *out = better;
    }
}

void rgSignedDistance(const rgConvexPair* pair, double cutoff, rgPairCache* cache, rgSigned* out) {
    double ra = pair->a->radius, rb = pair->b->radius;
    out->vertexA = out->vertexB = out->simplexCount = out->iterations = 0;
    out->beyond = false;
    if (!rgClosedDistance(pair, out)) {
        if (!rgSameFeatures(pair, cache, out)) {
            rgCoreDistance(pair, cutoff + ra + rb, cache, out);
            rgCache_StoreSimplex(cache, out);
            if (out->simplexCount < 0 && !out->beyond) {
                rgPolish(pair, cache, out);
            }
        }
        rgCache_Store(cache, pair, out);
    }
    out->gap -= ra + rb;
    out->pointA = rgAddScaled(out->pointA, ra, out->normal);
    out->pointB = rgAddScaled(out->pointB, -rb, out->normal);
}

// ---- closed forms for points, segments and boxes

static rgVec3 rgAnyAcross(rgVec3 axis) {
    rgVec3 t1, t2;
    rgTangentBasis(axis, &t1, &t2);
    return t1;
}

static void rgSetCore(rgSigned* out, rgVec3 a, rgVec3 b, rgVec3 fallback) {
    rgVec3 d = rgSub(b, a);
    double length = rgLength(d);
    out->gap = length;
    out->normal = length > 0 ? rgScale(1 / length, d) : fallback;
    out->pointA = a;
    out->pointB = b;
}

static void rgPointBox(rgVec3 p, rgVec3 half, rgVec3* onBox, rgVec3* normal, double* gap) {
    *onBox = rgVec(rgClamp(p.x, half.x), rgClamp(p.y, half.y), rgClamp(p.z, half.z));
    rgVec3 d = rgSub(p, *onBox);
    double dd = rgLengthSquared(d);
    if (dd > 0) {
        *gap = sqrt(dd);
        *normal = rgScale(1 / *gap, d);
        return;
    }
    // Inside: out through the nearest face.
    rgVec3 room = rgSub(half, rgAbs3(p));
    int axis = room.x <= room.y && room.x <= room.z ? 0 : room.y <= room.z ? 1 : 2;
    double sign = rgVec3_At(p, axis) < 0 ? -1 : 1;
    *normal = rgVec(axis == 0 ? sign : 0, axis == 1 ? sign : 0, axis == 2 ? sign : 0);
    *gap = -rgVec3_At(room, axis);
    *onBox = rgAddScaled(p, -*gap, *normal);
}

static void rgCapsuleCores(const rgConvexPair* pair, rgSigned* out) {
    rgVec3 u = rgVec(0, 0, 1), v = rgVec(pair->r.m[2], pair->r.m[5], pair->r.m[8]);
    double hu = pair->a->kind == rg_shapeCapsule ? pair->a->size.y : 0;
    double hv = pair->b->kind == rg_shapeCapsule ? pair->b->size.y : 0;
    double s, t;
    rgNearestOnSegments(pair->t, u, hu, v, hv, &s, &t);
    rgVec3 across = rgCross(u, v);
    bool crossing = hu > 0 && hv > 0 && rgLengthSquared(across) > 1e-12;
    rgVec3 fallback = crossing ? rgNormalize(across) : rgAnyAcross(hu > 0 ? u : v);
    rgSetCore(out, rgScale(s, u), rgAddScaled(pair->t, t, v), fallback);
}

bool rgClosedDistance(const rgConvexPair* pair, rgSigned* out) {
    int ka = pair->a->kind, kb = pair->b->kind;
    bool roundA = ka == rg_shapeSphere || ka == rg_shapeCapsule;
    bool roundB = kb == rg_shapeSphere || kb == rg_shapeCapsule;
    if (roundA && roundB) {
        rgCapsuleCores(pair, out);
        return true;
    }
    if (ka == rg_shapeBox && kb == rg_shapeSphere) {
        out->pointB = pair->t;
        rgPointBox(pair->t, pair->a->size, &out->pointA, &out->normal, &out->gap);
        return true;
    }
    if (ka == rg_shapeSphere && kb == rg_shapeBox) {
        rgVec3 p = rgNegate(rgMat3_MultiplyTransposed(&pair->r, pair->t)), onBox, normal;
        rgPointBox(p, pair->b->size, &onBox, &normal, &out->gap);
        out->normal = rgNegate(rgMat3_Multiply(&pair->r, normal));
        out->pointA = rgVec(0, 0, 0);
        out->pointB = rgAdd(rgMat3_Multiply(&pair->r, onBox), pair->t);
        return true;
    }
    return false;
}

#if !defined(__CUDACC__)

// ---- public queries

static bool rgIsSurface(const rgGeometry* g) {
    return !rgIsConvexKind(g->kind);
}

static void rgSwapProximity(rgProximity* p) {
    rgVec3 point = p->pointA;
    p->pointA = p->pointB;
    p->pointB = point;
    p->normal = rgNegate(p->normal);
}

static void rgConvexDistance(const rgGeometry* a, const rgPose* poseA, const rgGeometry* b,
                             const rgPose* poseB, rgPairCache* cache, rgProximity* p) {
    rgConvexPair pair = rgMakePair(&a->convex, *poseA, &b->convex, *poseB);
    rgSigned core;
    rgSignedDistance(&pair, INFINITY, cache, &core);
    p->distance = core.gap;
    p->normal = rgRotate(poseA->q, core.normal);
    p->pointA = rgPose_Point(*poseA, core.pointA);
    p->pointB = rgPose_Point(*poseA, core.pointB);
    p->iterations = core.iterations;
}

static double rgPoseSum(const rgPose* x) {
    return ((x->p.x + x->p.y) + (x->p.z + x->q.w)) + ((x->q.x + x->q.y) + x->q.z);
}

// Shapes so far apart, or so large, that squares of lengths overflow have no distance.
static rgResult rgIsProximity(const rgProximity* p) {
    bool good = isfinite(p->distance) && fabs(rgLengthSquared(p->normal) - 1) < 1e-6;
    return good ? rg_ok : rg_errorNumeric;
}

rgResult rgDistance(const rgGeometry* a, rgPose poseA, const rgGeometry* b, rgPose poseB,
                    rgPairCache* cache, rgProximity* p) {
    if (a == NULL || b == NULL || p == NULL) {
        return rg_errorArgument;
    }
    if (!isfinite(rgPoseSum(&poseA) + rgPoseSum(&poseB))) {
        return rg_errorNumeric;
    }
    if (rgIsSurface(a) && rgIsSurface(b)) {
        return rg_errorUnsupported;
    }
    if (rgIsConvexKind(a->kind) && rgIsConvexKind(b->kind)) {
        rgPairCache none;
        if (cache == NULL) {
            none = (rgPairCache){0};
            cache = &none;
        }
        rgConvexDistance(a, &poseA, b, &poseB, cache, p);
        return rgIsProximity(p);
    }
    *p = (rgProximity){0};
    if (rgIsSurface(b)) {
        rgResult result = rgDistance(b, poseB, a, poseA, NULL, p);
        rgSwapProximity(p);
        return result;
    }
    if (a->kind == rg_shapePlane) {
        rgPlaneDistance(&b->convex, poseA, poseB, p);
    } else {
        rgSurfaceDistance(a, poseA, b, poseB, p);
    }
    return rgIsProximity(p);
}

bool rgOverlap(const rgGeometry* a, rgPose poseA, const rgGeometry* b, rgPose poseB) {
    rgProximity p;
    return rgDistance(a, poseA, b, poseB, NULL, &p) == rg_ok && p.distance <= 0;
}

#endif
