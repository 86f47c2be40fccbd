// EPA: direction of least penetration. A polytope inside A - B grows towards the face of A - B
// that is nearest to the origin. docs/theory/collision.md, "Penetration".
#include "collision/support.h"

#define RG_EPA_VERTICES  96
#define RG_EPA_FACES     (2 * RG_EPA_VERTICES)
#define RG_EPA_TOLERANCE 1e-10 // tolerance of the depth's bounds, relative to the pair's size
#define RG_EPA_SLACK     1e-14 // distance that counts as beyond a face, relative to the pair's size
#define RG_EPA_SEEDED    8  // vertices up to which the corners of a face are far from the support
#define RG_EPA_RIVALS    12 // supports spent on other minima once the least is known

typedef struct rgEpaPoint {
    rgVec3 w, a, b; // points of A - B, of A, of B in the frame of A
    int32_t ia, ib;
} rgEpaPoint;

typedef struct rgEpaFace {
    rgVec3 normal;
    int16_t corners[3], across[3]; // across edge k, from corner k to the next
    bool used, seen, harmless;     // harmless: no minimum of the polytope
} rgEpaFace;

typedef struct rgEpaPolytope {
    const rgConvexPair* pair;
    int vertexCount, faceCount, freeCount;
    rgEpaPoint points[RG_EPA_VERTICES];
    rgEpaFace faces[RG_EPA_FACES];
    double distance[RG_EPA_FACES]; // distance of each plane from the origin; infinite: sliver or
                                   // unused
    int16_t unused[RG_EPA_FACES];
} rgEpaPolytope;

static rgEpaPoint rgEpa_Support(const rgConvexPair* pair, rgVec3 n, int32_t hintA, int32_t hintB) {
    rgEpaPoint p = {.ia = hintA, .ib = hintB};
    p.a = rgConvex_Support(pair->a, n, &p.ia);
    p.b = rgConvex_Support(pair->b, rgMat3_MultiplyTransposed(&pair->r, rgNegate(n)), &p.ib);
    p.b = rgAdd(rgMat3_Multiply(&pair->r, p.b), pair->t);
    p.w = rgSub(p.a, p.b);
    return p;
}

// Early on directions jump, and the seeds are nearer than the corners of a face.
static rgEpaPoint rgEpa_SupportFace(const rgEpaPolytope* p, int f) {
    rgVec3 n = p->faces[f].normal;
    if (p->vertexCount < RG_EPA_SEEDED) {
        return rgEpa_Support(p->pair, n, -1, -1);
    }
    const rgEpaPoint* best[2];
    double mostA = -INFINITY, mostB = -INFINITY;
    best[0] = best[1] = &p->points[p->faces[f].corners[0]];
    for (int k = 0; k < 3; ++k) {
        const rgEpaPoint* corner = &p->points[p->faces[f].corners[k]];
        double alongA = rgDot(n, corner->a), alongB = -rgDot(n, corner->b);
        best[0] = alongA > mostA ? corner : best[0];
        best[1] = alongB > mostB ? corner : best[1];
        mostA = RG_MAX(mostA, alongA);
        mostB = RG_MAX(mostB, alongB);
    }
    return rgEpa_Support(p->pair, n, best[0]->ia, best[1]->ib);
}

static int rgEpa_AddFace(rgEpaPolytope* p, int i, int j, int k) {
    if (p->freeCount == 0 && p->faceCount == RG_EPA_FACES) {
        return -1;
    }
    int f = p->freeCount > 0 ? p->unused[--p->freeCount] : p->faceCount++;
    rgVec3 a = p->points[i].w;
    rgVec3 u = rgSub(p->points[j].w, a), v = rgSub(p->points[k].w, a);
    rgVec3 n = rgCross(u, v);
    double length = rgLength(n);
    rgEpaFace* face = &p->faces[f];
    *face = (rgEpaFace){.corners = {(int16_t)i, (int16_t)j, (int16_t)k}, .used = true};
    // Slivers have no direction: they stay as part of the surface and are never expanded.
    if (!(length * length > 1e-28 * rgDot(u, u) * rgDot(v, v))) {
        p->distance[f] = INFINITY;
        return f;
    }
    face->normal = rgScale(1 / length, n);
    p->distance[f] = rgDot(face->normal, a);
    return f;
}

static double rgVolume(rgVec3 a, rgVec3 b, rgVec3 c, rgVec3 d) {
    return rgDot(rgCross(rgSub(b, a), rgSub(c, a)), rgSub(d, a));
}

// ---- the first tetrahedron

// A direction across everything found so far.
static rgVec3 rgEpa_FreeDirection(const rgEpaPolytope* p, int attempt) {
    const rgEpaPoint* v = p->points;
    rgVec3 n = rgVec(attempt % 3 == 0, attempt % 3 == 1, attempt % 3 == 2);
    if (p->vertexCount == 2) {
        n = rgCross(n, rgSub(v[1].w, v[0].w));
    } else if (p->vertexCount == 3) {
        n = rgCross(rgSub(v[1].w, v[0].w), rgSub(v[2].w, v[0].w));
    }
    n = rgNormalize(n);
    return attempt >= 3 ? rgNegate(n) : n;
}

// True if w spans one dimension more than the vertices so far.
static bool rgEpa_Spans(const rgEpaPolytope* p, rgVec3 w) {
    const rgEpaPoint* v = p->points;
    rgVec3 d = p->vertexCount > 0 ? rgSub(w, v[0].w) : w;
    double least = 1e-9 * p->pair->scale;
    switch (p->vertexCount) {
    case 0:
        return true;
    case 1:
        return rgLength(d) > least;
    case 2:
        return rgLength(rgCross(d, rgNormalize(rgSub(v[1].w, v[0].w)))) > least;
    default: {
        rgVec3 n = rgNormalize(rgCross(rgSub(v[1].w, v[0].w), rgSub(v[2].w, v[0].w)));
        return fabs(rgDot(n, d)) > least;
    }
    }
}

static void rgEpa_StartFromSimplex(rgEpaPolytope* p, const rgSimplex* s) {
    for (int k = 0; k < s->count; ++k) {
        if (rgEpa_Spans(p, s->w[k])) {
            p->points[p->vertexCount++] =
                (rgEpaPoint){s->w[k], s->a[k], s->b[k], s->ia[k], s->ib[k]};
        }
    }
}

// Start from the last simplex of GJK, completed. False when A - B is flat.
static bool rgEpa_Start(rgEpaPolytope* p, const rgSimplex* simplex) {
    RG_TABLE int16_t across[4][3] = {{1, 2, 3}, {3, 2, 0}, {1, 3, 0}, {2, 1, 0}};
    rgEpa_StartFromSimplex(p, simplex);
    for (int attempt = 0; attempt < 6 && p->vertexCount < 4; ++attempt) {
        rgEpaPoint point = rgEpa_Support(p->pair, rgEpa_FreeDirection(p, attempt), -1, -1);
        if (rgEpa_Spans(p, point.w)) {
            p->points[p->vertexCount++] = point;
            attempt = -1;
        }
    }
    if (p->vertexCount < 4) {
        return false;
    }
    rgEpaPoint* v = p->points;
    if (rgVolume(v[0].w, v[1].w, v[2].w, v[3].w) > 0) {
        rgEpaPoint swap = v[1];
        v[1] = v[2];
        v[2] = swap;
    }
    RG_TABLE int corners[4][3] = {{0, 1, 2}, {0, 3, 1}, {1, 3, 2}, {2, 3, 0}};
    for (int f = 0; f < 4; ++f) {
        rgEpa_AddFace(p, corners[f][0], corners[f][1], corners[f][2]);
        for (int k = 0; k < 3; ++k) {
            p->faces[f].across[k] = across[f][k];
        }
    }
    return true;
}

// ---- growth

static int rgEpa_Nearest(const rgEpaPolytope* p) {
    int best = -1;
    double least = INFINITY;
    for (int f = 0; f < p->faceCount; ++f) {
        if (p->distance[f] < least) {
            least = p->distance[f];
            best = f;
        }
    }
    return best;
}

static bool rgEpa_FaceIsVisible(const rgEpaPolytope* p, int f, rgVec3 w) {
    const rgEpaFace* face = &p->faces[f];
    return p->distance[f] < INFINITY
               ? rgDot(face->normal, w) - p->distance[f] > RG_EPA_SLACK * p->pair->scale
               : rgVolume(p->points[face->corners[0]].w, p->points[face->corners[1]].w,
                          p->points[face->corners[2]].w, w) > 0;
}

// Edges between faces that a point sees and those that it does not, seen faces on the left.
typedef struct rgHorizon {
    int count, seenCount;
    int16_t from[RG_EPA_FACES], to[RG_EPA_FACES], outside[RG_EPA_FACES];
    int16_t seen[RG_EPA_FACES];
} rgHorizon;

static void rgHorizon_Find(rgHorizon* h, rgEpaPolytope* p, int first, rgVec3 w) {
    h->count = 0;
    h->seenCount = 1;
    h->seen[0] = (int16_t)first;
    p->faces[first].seen = true;
    for (int i = 0; i < h->seenCount; ++i) {
        const rgEpaFace* face = &p->faces[h->seen[i]];
        for (int k = 0; k < 3; ++k) {
            int other = face->across[k];
            if (p->faces[other].seen) {
                continue;
            }
            if (rgEpa_FaceIsVisible(p, other, w)) {
                p->faces[other].seen = true;
                h->seen[h->seenCount++] = (int16_t)other;
            }
        }
    }
    for (int i = 0; i < h->seenCount; ++i) {
        const rgEpaFace* face = &p->faces[h->seen[i]];
        for (int k = 0; k < 3; ++k) {
            if (!p->faces[face->across[k]].seen) {
                h->from[h->count] = face->corners[k];
                h->to[h->count] = face->corners[(k + 1) % 3];
                h->outside[h->count++] = face->across[k];
            }
        }
    }
}

// True if the horizon is one loop: each of its corners starts one edge. fan gives the edge's
// number.
static bool rgHorizon_IsLoop(const rgHorizon* h, int16_t fan[RG_EPA_VERTICES]) {
    for (int i = 0; i < h->count; ++i) {
        fan[h->from[i]] = fan[h->to[i]] = -1;
    }
    for (int i = 0; i < h->count; ++i) {
        if (fan[h->from[i]] >= 0) {
            return false;
        }
        fan[h->from[i]] = (int16_t)i;
    }
    return h->count >= 3;
}

static void rgEpa_Join(rgEpaPolytope* p, int f, int from, int to, int other) {
    rgEpaFace* face = &p->faces[f];
    for (int k = 0; k < 3; ++k) {
        if (face->corners[k] == from && face->corners[(k + 1) % 3] == to) {
            face->across[k] = (int16_t)other;
        }
    }
}

// Replace everything that the point sees, `first` included, by a fan from it.
static bool rgEpa_Expand(rgEpaPolytope* p, const rgEpaPoint* point, int first) {
    rgHorizon h;
    int16_t fan[RG_EPA_VERTICES], made[RG_EPA_FACES];
    if (p->vertexCount == RG_EPA_VERTICES) {
        return false;
    }
    rgHorizon_Find(&h, p, first, point->w);
    if (!rgHorizon_IsLoop(&h, fan)) {
        return false;
    }
    for (int i = 0; i < h.seenCount; ++i) {
        p->faces[h.seen[i]].used = false;
        p->distance[h.seen[i]] = INFINITY;
        p->unused[p->freeCount++] = h.seen[i];
    }
    int tip = p->vertexCount;
    p->points[p->vertexCount++] = *point;
    for (int i = 0; i < h.count; ++i) {
        int f = rgEpa_AddFace(p, h.from[i], h.to[i], tip);
        if (f < 0) {
            return false;
        }
        made[i] = (int16_t)f;
    }
    for (int i = 0; i < h.count; ++i) {
        int next = made[fan[h.to[i]]];
        p->faces[made[i]].across[0] = h.outside[i];
        p->faces[made[i]].across[1] = (int16_t)next;
        p->faces[next].across[2] = made[i];
        rgEpa_Join(p, h.outside[i], h.to[i], h.from[i], made[i]);
    }
    return true;
}

// ---- results

// Weights of the corners at the point of the face's plane nearest to the origin; the least one.
static double rgEpa_Foot(const rgEpaPolytope* p, int f, double weight[3]) {
    const rgEpaFace* face = &p->faces[f];
    rgVec3 a = p->points[face->corners[0]].w, n = face->normal;
    rgVec3 u = rgSub(p->points[face->corners[1]].w, a), v = rgSub(p->points[face->corners[2]].w, a);
    double inverse = 1 / rgDot(n, rgCross(u, v));
    rgVec3 across = rgCross(n, a);
    weight[1] = -inverse * rgDot(across, v);
    weight[2] = inverse * rgDot(across, u);
    weight[0] = 1 - weight[1] - weight[2];
    return RG_MIN(weight[0], RG_MIN(weight[1], weight[2]));
}

static bool rgEpa_IsCoplanar(const rgEpaPolytope* p, int f, const rgEpaResult* r) {
    rgVec3 d = rgSub(p->faces[f].normal, r->normal);
    return fabs(p->distance[f] - r->depth) <= 2 * RG_EPA_TOLERANCE * p->pair->scale &&
           rgLengthSquared(d) <= 1e-16;
}

// Triangle of the nearest plane that contains the origin's foot, as a simplex.
static bool rgEpa_KeepFace(const rgEpaPolytope* p, rgEpaResult* r) {
    int best = -1;
    double most = -1e-12, weight[3];
    for (int f = 0; f < p->faceCount; ++f) {
        if (p->distance[f] < INFINITY && rgEpa_IsCoplanar(p, f, r) &&
            rgEpa_Foot(p, f, weight) > most) {
            best = f;
            most = rgEpa_Foot(p, f, weight);
        }
    }
    if (best < 0) {
        return false;
    }
    rgEpa_Foot(p, best, r->simplex.weight);
    r->simplex.count = 3;
    for (int k = 0; k < 3; ++k) {
        const rgEpaPoint* point = &p->points[p->faces[best].corners[k]];
        r->simplex.w[k] = point->w;
        r->simplex.a[k] = point->a;
        r->simplex.b[k] = point->b;
        r->simplex.ia[k] = point->ia;
        r->simplex.ib[k] = point->ib;
    }
    r->normal = p->faces[best].normal;
    return true;
}

// Distance from the origin's foot to the border of the nearest plane's face.
static double rgEpa_Reach(const rgEpaPolytope* p, const rgEpaResult* r) {
    double least = INFINITY;
    rgVec3 foot = rgScale(r->depth, r->normal);
    for (int f = 0; f < p->faceCount; ++f) {
        if (!(p->distance[f] < INFINITY) || !rgEpa_IsCoplanar(p, f, r)) {
            continue;
        }
        const rgEpaFace* face = &p->faces[f];
        for (int k = 0; k < 3; ++k) {
            int other = face->across[k];
            if (p->distance[other] < INFINITY && rgEpa_IsCoplanar(p, other, r)) {
                continue;
            }
            rgVec3 a = p->points[face->corners[k]].w;
            rgVec3 e = rgSub(p->points[face->corners[(k + 1) % 3]].w, a);
            double inside = rgDot(rgCross(r->normal, e), rgSub(foot, a)) / rgLength(e);
            least = RG_MIN(least, inside);
        }
    }
    return RG_MAX(least, 0);
}

// Nearest face below `limit`, other than the nearest plane's, at which the polytope has a minimum.
static int rgEpa_OtherMinimum(rgEpaPolytope* p, const rgEpaResult* r, double limit) {
    int best = -1;
    double weight[3];
    for (int f = 0; f < p->faceCount; ++f) {
        rgEpaFace* face = &p->faces[f];
        if (!(p->distance[f] < limit) || face->harmless) {
            continue;
        }
        if (rgEpa_IsCoplanar(p, f, r) || rgEpa_Foot(p, f, weight) < -1e-6) {
            face->harmless = true;
            continue;
        }
        limit = p->distance[f];
        best = f;
    }
    return best;
}

// Distance from the nearest face's normal and how deep any other minimum is. Supports at those of
// the polytope push them out, until one is a face of A - B itself.
static void rgEpa_Accuracy(rgEpaPolytope* p, rgEpaResult* r) {
    r->reach = rgEpa_Reach(p, r);
    double limit = sqrt(r->depth * r->depth + r->reach * r->reach);
    r->rest = limit;
    for (int k = 0; k < RG_EPA_RIVALS; ++k) {
        int rival = rgEpa_OtherMinimum(p, r, limit);
        if (rival < 0) {
            r->rest = limit;
            return;
        }
        r->rest = p->distance[rival];
        rgEpaPoint point = rgEpa_SupportFace(p, rival);
        r->iterations += 1;
        double beyond = rgDot(p->faces[rival].normal, point.w) - p->distance[rival];
        if (beyond <= RG_EPA_TOLERANCE * p->pair->scale || !rgEpa_Expand(p, &point, rival)) {
            return;
        }
    }
    int rival = rgEpa_OtherMinimum(p, r, limit);
    r->rest = rival < 0 ? limit : p->distance[rival];
}

bool rgEpa(const rgConvexPair* pair, const rgSimplex* simplex, bool survey, rgEpaResult* r) {
    rgEpaPolytope p;
    p.pair = pair;
    p.vertexCount = p.faceCount = p.freeCount = 0;
    *r = (rgEpaResult){.depth = INFINITY};
    if (!rgEpa_Start(&p, simplex)) {
        return false;
    }
    for (;;) {
        int nearest = rgEpa_Nearest(&p);
        if (nearest < 0) {
            break;
        }
        rgVec3 n = p.faces[nearest].normal;
        rgEpaPoint point = rgEpa_SupportFace(&p, nearest);
        double upper = rgDot(n, point.w);
        r->iterations += 1;
        if (upper < r->depth) {
            r->depth = upper;
            r->normal = n;
        }
        if (r->depth - p.distance[nearest] <= RG_EPA_TOLERANCE * pair->scale) {
            r->exact = rgEpa_KeepFace(&p, r);
            break;
        }
        if (!rgEpa_Expand(&p, &point, nearest)) {
            break;
        }
    }
    if (r->exact && survey) {
        rgEpa_Accuracy(&p, r);
    }
    return r->depth < INFINITY;
}
