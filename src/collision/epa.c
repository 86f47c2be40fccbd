// EPA: direction of least penetration. A polytope inside A - B grows towards the face of A - B
// that is nearest to the origin. docs/theory/collision.md, "Penetration".
#include "collision/support.h"

#define RG_EPA_VERTICES  96
#define RG_EPA_FACES     192
#define RG_EPA_TOLERANCE 1e-10 // of the depth's bounds, relative to the pair's size

typedef struct rgEpaFace {
    int corners[3];
    rgVec3 normal;
    double distance; // of its plane from the origin
    bool dead;
} rgEpaFace;

typedef struct rgEpaPolytope {
    int vertexCount, faceCount;
    rgVec3 vertices[RG_EPA_VERTICES];
    rgEpaFace faces[RG_EPA_FACES];
} rgEpaPolytope;

static rgVec3 rgEpa_Support(const rgConvexPair* pair, rgVec3 n) {
    int32_t fromA = -1, fromB = -1; // directions jump: the seeds are nearer than the last answers
    rgVec3 a = rgConvex_Support(pair->a, n, &fromA);
    rgVec3 b = rgConvex_Support(pair->b, rgMat3_MultiplyTransposed(&pair->r, rgNegate(n)), &fromB);
    return rgSub(rgSub(a, rgMat3_Multiply(&pair->r, b)), pair->t);
}

static bool rgEpa_AddFace(rgEpaPolytope* p, int i, int j, int k) {
    if (p->faceCount == RG_EPA_FACES) {
        return false;
    }
    rgVec3 a = p->vertices[i];
    rgVec3 u = rgSub(p->vertices[j], a), v = rgSub(p->vertices[k], a);
    rgVec3 n = rgCross(u, v);
    double length = rgLength(n);
    rgEpaFace* face = &p->faces[p->faceCount++];
    *face = (rgEpaFace){.corners = {i, j, k}};
    // Slivers have no direction: they stay as part of the surface and are never expanded.
    if (length * length <= 1e-28 * rgDot(u, u) * rgDot(v, v)) {
        face->distance = INFINITY;
        return true;
    }
    face->normal = rgScale(1 / length, n);
    face->distance = rgDot(face->normal, a);
    return true;
}

static double rgVolume(rgVec3 a, rgVec3 b, rgVec3 c, rgVec3 d) {
    return rgDot(rgCross(rgSub(b, a), rgSub(c, a)), rgSub(d, a));
}

// A direction across everything found so far.
static rgVec3 rgEpa_FreeDirection(const rgEpaPolytope* p, int attempt) {
    rgVec3 n = rgVec(attempt % 3 == 0, attempt % 3 == 1, attempt % 3 == 2);
    if (p->vertexCount == 2) {
        n = rgCross(n, rgSub(p->vertices[1], p->vertices[0]));
    } else if (p->vertexCount == 3) {
        n = rgCross(rgSub(p->vertices[1], p->vertices[0]), rgSub(p->vertices[2], p->vertices[0]));
    }
    n = rgNormalize(n);
    return attempt >= 3 ? rgNegate(n) : n;
}

// Whether w spans one dimension more than the vertices so far.
static bool rgEpa_Spans(const rgEpaPolytope* p, rgVec3 w, double scale) {
    const rgVec3* v = p->vertices;
    rgVec3 d = p->vertexCount > 0 ? rgSub(w, v[0]) : w;
    switch (p->vertexCount) {
    case 0:
        return true;
    case 1:
        return rgLength(d) > 1e-9 * scale;
    case 2:
        return rgLength(rgCross(d, rgNormalize(rgSub(v[1], v[0])))) > 1e-9 * scale;
    default: {
        rgVec3 n = rgNormalize(rgCross(rgSub(v[1], v[0]), rgSub(v[2], v[0])));
        return fabs(rgDot(n, d)) > 1e-9 * scale;
    }
    }
}

// Tetrahedron to start from: what GJK ended with, completed. False when A - B is flat.
static bool rgEpa_Start(const rgConvexPair* pair, const rgSimplex* simplex, rgEpaPolytope* p) {
    for (int k = 0; k < simplex->count; ++k) {
        if (rgEpa_Spans(p, simplex->w[k], pair->scale)) {
            p->vertices[p->vertexCount++] = simplex->w[k];
        }
    }
    for (int attempt = 0; attempt < 6 && p->vertexCount < 4; ++attempt) {
        rgVec3 w = rgEpa_Support(pair, rgEpa_FreeDirection(p, attempt));
        if (rgEpa_Spans(p, w, pair->scale)) {
            p->vertices[p->vertexCount++] = w;
            attempt = -1;
        }
    }
    if (p->vertexCount < 4) {
        return false;
    }
    rgVec3* v = p->vertices;
    if (rgVolume(v[0], v[1], v[2], v[3]) > 0) {
        rgVec3 swap = v[1];
        v[1] = v[2];
        v[2] = swap;
    }
    return rgEpa_AddFace(p, 0, 1, 2) && rgEpa_AddFace(p, 0, 3, 1) && rgEpa_AddFace(p, 1, 3, 2) &&
           rgEpa_AddFace(p, 2, 3, 0);
}

static int rgEpa_Nearest(const rgEpaPolytope* p) {
    int best = -1;
    for (int f = 0; f < p->faceCount; ++f) {
        const rgEpaFace* face = &p->faces[f];
        if (!face->dead && face->distance < INFINITY &&
            (best < 0 || face->distance < p->faces[best].distance)) {
            best = f;
        }
    }
    return best;
}

static bool rgEpa_Sees(const rgEpaPolytope* p, const rgEpaFace* face, rgVec3 w, double slack) {
    return face->distance < INFINITY
               ? rgDot(face->normal, w) - face->distance > slack
               : rgVolume(p->vertices[face->corners[0]], p->vertices[face->corners[1]],
                          p->vertices[face->corners[2]], w) > 0;
}

typedef struct rgHorizon {
    int count;
    int from[RG_EPA_FACES], to[RG_EPA_FACES];
} rgHorizon;

// Edges seen from one side only stay; those seen from both cancel.
static bool rgHorizon_Add(rgHorizon* h, int from, int to) {
    for (int i = 0; i < h->count; ++i) {
        if (h->from[i] == to && h->to[i] == from) {
            h->count -= 1;
            h->from[i] = h->from[h->count];
            h->to[i] = h->to[h->count];
            return true;
        }
    }
    if (h->count == RG_EPA_FACES) {
        return false;
    }
    h->from[h->count] = from;
    h->to[h->count++] = to;
    return true;
}

static void rgEpa_Compact(rgEpaPolytope* p) {
    int used = 0;
    for (int f = 0; f < p->faceCount; ++f) {
        if (!p->faces[f].dead) {
            p->faces[used++] = p->faces[f];
        }
    }
    p->faceCount = used;
}

// Replace everything that w sees by a fan from w.
static bool rgEpa_Expand(rgEpaPolytope* p, rgVec3 w, int nearest, double slack) {
    if (p->vertexCount == RG_EPA_VERTICES) {
        return false;
    }
    rgHorizon horizon;
    horizon.count = 0;
    for (int f = 0; f < p->faceCount; ++f) {
        rgEpaFace* face = &p->faces[f];
        if (f == nearest || rgEpa_Sees(p, face, w, slack)) {
            face->dead = true;
            for (int k = 0; k < 3; ++k) {
                if (!rgHorizon_Add(&horizon, face->corners[k], face->corners[(k + 1) % 3])) {
                    return false;
                }
            }
        }
    }
    rgEpa_Compact(p);
    int tip = p->vertexCount;
    p->vertices[p->vertexCount++] = w;
    for (int i = 0; i < horizon.count; ++i) {
        if (!rgEpa_AddFace(p, horizon.from[i], horizon.to[i], tip)) {
            return false;
        }
    }
    return true;
}

bool rgEpa(const rgConvexPair* pair, const rgSimplex* simplex, rgVec3* normal, int* iterations) {
    rgEpaPolytope p;
    p.vertexCount = p.faceCount = 0;
    if (!rgEpa_Start(pair, simplex, &p)) {
        return false;
    }
    double least = INFINITY;
    double tolerance = RG_EPA_TOLERANCE * pair->scale;
    for (int k = 0; k < RG_EPA_VERTICES; ++k) {
        int nearest = rgEpa_Nearest(&p);
        if (nearest < 0) {
            break;
        }
        rgVec3 n = p.faces[nearest].normal;
        double lower = p.faces[nearest].distance;
        rgVec3 w = rgEpa_Support(pair, n);
        double upper = rgDot(n, w);
        *iterations += 1;
        if (upper < least) {
            least = upper;
            *normal = n;
        }
        if (least - lower <= tolerance || !rgEpa_Expand(&p, w, nearest, 1e-14 * pair->scale)) {
            break;
        }
    }
    return least < INFINITY;
}
