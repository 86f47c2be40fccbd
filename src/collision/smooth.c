// Pairs with a cylinder or an ellipsoid that moved little since the last call: Newton's method on
// the features that met then. docs/theory/collision.md, "Smooth shapes".
#include "collision/support.h"

#define RG_SMOOTH_LIMIT     8
#define RG_SMOOTH_TOLERANCE 1e-13 // on depths, relative to the size

// Feature of a cylinder; ellipsoids are curved all over, other shapes keep the ids of vertices.
enum {
    rg_side,      // a line that turns with the normal
    rg_rimBottom, // a circle
    rg_rimTop,
    rg_capBottom, // a face
    rg_capTop,
    rg_curved
};

// One of the two shapes with its feature: 1 to 3 vertices, or one of the above.
typedef struct rgShown {
    const rgConvexPair* pair;
    const rgConvex* convex;
    const int32_t* ids;
    bool isB, isSmooth;
    int count; // number of vertices
} rgShown;

static bool rgIsSmoothKind(const rgConvex* c) {
    return c->kind == rg_shapeCylinder || c->kind == rg_shapeEllipsoid;
}

static rgVec3 rgShown_ToLocal(const rgShown* s, rgVec3 d) {
    return s->isB ? rgMat3_MultiplyTransposed(&s->pair->r, d) : d;
}

static rgVec3 rgShown_Direction(const rgShown* s, rgVec3 d) {
    return s->isB ? rgMat3_Multiply(&s->pair->r, d) : d;
}

static rgVec3 rgShown_Place(const rgShown* s, rgVec3 p) {
    return s->isB ? rgAdd(rgMat3_Multiply(&s->pair->r, p), s->pair->t) : p;
}

// False when the ids are not of this shape: the cache may be of another pair.
static bool rgShown_Make(rgShown* s, const rgConvexPair* pair, const int32_t ids[3], bool isB) {
    *s = (rgShown){.pair = pair, .convex = isB ? pair->b : pair->a, .ids = ids, .isB = isB};
    s->isSmooth = rgIsSmoothKind(s->convex);
    if (s->isSmooth) {
        bool curved = s->convex->kind == rg_shapeEllipsoid;
        return curved ? ids[0] == rg_curved : ids[0] >= rg_side && ids[0] <= rg_capTop;
    }
    int32_t limit = rgConvex_VertexCount(s->convex);
    while (s->count < 3 && ids[s->count] >= 0 && ids[s->count] < limit) {
        s->count += 1;
    }
    return s->count > 0;
}

static bool rgShown_IsFace(const rgShown* s) {
    return s->isSmooth ? s->ids[0] == rg_capBottom || s->ids[0] == rg_capTop : s->count == 3;
}

// Point that is farthest along n (from the shape outward); of a line its first end.
static rgVec3 rgShown_Point(const rgShown* s, rgVec3 n) {
    const rgConvex* c = s->convex;
    if (!s->isSmooth) {
        return rgShown_Place(s, rgConvex_Vertex(c, s->ids[0]));
    }
    rgVec3 d = rgShown_ToLocal(s, n);
    if (s->ids[0] == rg_curved) {
        return rgShown_Place(s, rgSupportEllipsoid(c->size, d));
    }
    double across = c->size.x / sqrt(d.x * d.x + d.y * d.y);
    double z = s->ids[0] == rg_rimTop ? c->size.y : -c->size.y;
    return rgShown_Place(s, rgVec(across * d.x, across * d.y, z));
}

static bool rgShown_Line(const rgShown* s, rgVec3* line) {
    if (s->isSmooth) {
        *line = rgShown_Direction(s, rgVec(0, 0, 2 * s->convex->size.y));
        return s->ids[0] == rg_side;
    }
    if (s->count == 2) {
        rgVec3 from = rgConvex_Vertex(s->convex, s->ids[0]);
        *line = rgShown_Direction(s, rgSub(rgConvex_Vertex(s->convex, s->ids[1]), from));
    }
    return s->count == 2;
}

// u . H v, where H is the derivative of the farthest point along n.
static double rgShown_Curvature(const rgShown* s, rgVec3 n, rgVec3 u, rgVec3 v) {
    if (!s->isSmooth) {
        return 0;
    }
    rgVec3 d = rgShown_ToLocal(s, n), z = s->convex->size;
    u = rgShown_ToLocal(s, u);
    v = rgShown_ToLocal(s, v);
    if (s->ids[0] == rg_curved) {
        rgVec3 du = rgVec(z.x * u.x, z.y * u.y, z.z * u.z),
               dv = rgVec(z.x * v.x, z.y * v.y, z.z * v.z);
        rgVec3 dn = rgVec(z.x * d.x, z.y * d.y, z.z * d.z);
        double nn = rgDot(dn, dn);
        return (rgDot(du, dv) - rgDot(dn, du) * rgDot(dn, dv) / nn) / sqrt(nn);
    }
    double pp = d.x * d.x + d.y * d.y;
    double cu = d.x * u.y - d.y * u.x, cv = d.x * v.y - d.y * v.x;
    return z.x * cu * cv / (pp * sqrt(pp));
}

typedef struct rgMeeting {
    rgShown a, b;
    rgVec3 n, w; // w of A - B
    rgVec3 lineA, lineB;
    bool hasA, hasB;
} rgMeeting;

static void rgMeeting_Evaluate(rgMeeting* m) {
    m->w = rgSub(rgShown_Point(&m->a, m->n), rgShown_Point(&m->b, rgNegate(m->n)));
}

static double rgMeeting_Curvature(const rgMeeting* m, rgVec3 u, rgVec3 v) {
    return rgShown_Curvature(&m->a, m->n, u, v) + rgShown_Curvature(&m->b, rgNegate(m->n), u, v);
}

// One step along the circle across a line, or on the sphere. NAN where the depth has no minimum.
static double rgMeeting_Step(rgMeeting* m, const rgVec3* line) {
    double depth = rgDot(m->n, m->w);
    rgVec3 t1, t2;
    if (line != NULL) {
        t1 = rgNormalize(rgCross(*line, m->n));
        double slope = rgMeeting_Curvature(m, t1, t1) - depth, step = -rgDot(t1, m->w) / slope;
        m->n = rgNormalize(rgAddScaled(m->n, step, t1));
        return slope > 0 ? fabs(step) : NAN;
    }
    rgTangentBasis(m->n, &t1, &t2);
    double h11 = rgMeeting_Curvature(m, t1, t1) - depth,
           h22 = rgMeeting_Curvature(m, t2, t2) - depth;
    double h12 = rgMeeting_Curvature(m, t1, t2), g1 = rgDot(t1, m->w), g2 = rgDot(t2, m->w);
    double det = h11 * h22 - h12 * h12;
    double s1 = (h12 * g2 - h22 * g1) / det, s2 = (h12 * g1 - h11 * g2) / det;
    m->n = rgNormalize(rgAddScaled(rgAddScaled(m->n, s1, t1), s2, t2));
    return det > 0 && h11 > 0 ? fabs(s1) + fabs(s2) : NAN;
}

// The normal at which the features meet; w is of that normal.
static bool rgMeeting_Solve(rgMeeting* m) {
    rgVec3 before = m->n;
    if (m->hasA && m->hasB) {
        rgVec3 n = rgCross(m->lineA, m->lineB);
        double most = rgDot(m->lineA, m->lineA) * rgDot(m->lineB, m->lineB);
        if (!(rgDot(n, n) > 1e-12 * most)) {
            return false;
        }
        m->n = rgNormalize(rgDot(n, before) < 0 ? rgNegate(n) : n);
        rgMeeting_Evaluate(m);
        return rgDot(m->n, before) > 0.9;
    }
    const rgVec3* line = m->hasA ? &m->lineA : m->hasB ? &m->lineB : NULL;
    if (line != NULL) {
        double along = rgDot(m->n, *line) / rgDot(*line, *line);
        m->n = rgNormalize(rgAddScaled(m->n, -along, *line));
    }
    for (int k = 0; k < RG_SMOOTH_LIMIT; ++k) {
        rgMeeting_Evaluate(m);
        double step = rgMeeting_Step(m, line);
        if (!(step < 0.2)) {
            return false;
        }
        if (step <= 1e-8) { // its square is below rounding
            rgMeeting_Evaluate(m);
            return rgDot(m->n, before) > 0.9;
        }
    }
    return false;
}

// Places of the nearest points on two lines; false beyond their ends.
static bool rgMeeting_Points(const rgMeeting* m, rgSigned* out) {
    double sa = 0, sb = 0;
    if (m->hasA && m->hasB) {
        rgVec3 across = rgCross(m->lineA, m->lineB);
        double inverse = 1 / rgDot(across, across);
        sa = -inverse * rgDot(rgCross(m->w, m->lineB), across);
        sb = inverse * rgDot(rgCross(m->lineA, m->w), across);
    } else if (m->hasA) {
        sa = -rgDot(m->w, m->lineA) / rgDot(m->lineA, m->lineA);
    } else if (m->hasB) {
        sb = rgDot(m->w, m->lineB) / rgDot(m->lineB, m->lineB);
    }
    if (!(sa >= 0 && sa <= 1 && sb >= 0 && sb <= 1)) {
        return false;
    }
    out->pointA = rgShown_Point(&m->a, m->n);
    out->pointA = m->hasA ? rgAddScaled(out->pointA, sa, m->lineA) : out->pointA;
    out->pointB = rgAddScaled(out->pointA, -rgDot(m->n, m->w), m->n);
    return true;
}

static rgVec3 rgCapNormal(const rgShown* s) {
    return rgVec(0, 0, s->ids[0] == rg_capTop ? 1 : -1);
}

// A face of one shape and a point of the other; the normal is the face's.
static bool rgMeeting_Face(rgMeeting* m, bool ofB, rgSigned* out) {
    const rgShown *face = ofB ? &m->b : &m->a, *other = ofB ? &m->a : &m->b;
    rgVec3 outward = rgShown_ToLocal(face, ofB ? rgNegate(m->n) : m->n), n, corners[3];
    if (face->isSmooth) {
        n = rgCapNormal(face);
    } else {
        for (int k = 0; k < 3; ++k) {
            corners[k] = rgConvex_Vertex(face->convex, face->ids[k]);
        }
        n = rgNormalize(rgCross(rgSub(corners[1], corners[0]), rgSub(corners[2], corners[0])));
        n = rgDot(n, outward) < 0 ? rgNegate(n) : n;
    }
    if (!(rgDot(n, outward) > 0.9)) {
        return false;
    }
    rgVec3 world = rgShown_Direction(face, n);
    m->n = ofB ? rgNegate(world) : world;
    int32_t id = -1;
    rgVec3 point = rgConvex_Support(other->convex, rgShown_ToLocal(other, rgNegate(world)), &id);
    point = rgShown_Place(other, point);
    rgVec3 local = rgShown_ToLocal(face, ofB ? rgSub(point, m->a.pair->t) : point);
    if (face->isSmooth) {
        double r = face->convex->size.x;
        if (!(local.x * local.x + local.y * local.y <= r * r)) {
            return false;
        }
        local.z = n.z * face->convex->size.y;
    } else {
        for (int k = 0; k < 3; ++k) {
            rgVec3 edge = rgSub(corners[(k + 1) % 3], corners[k]);
            rgVec3 opposite = rgSub(corners[(k + 2) % 3], corners[k]);
            rgVec3 inward = rgCross(n, edge);
            double side = rgDot(inward, opposite) < 0 ? -1 : 1;
            if (!(side * rgDot(inward, rgSub(local, corners[k])) >= 0)) {
                return false;
            }
        }
        local = rgAddScaled(local, rgDot(n, rgSub(corners[0], local)), n);
    }
    rgVec3 foot = rgShown_Place(face, local);
    out->pointA = ofB ? point : foot;
    out->pointB = ofB ? foot : point;
    m->w = rgSub(out->pointA, out->pointB);
    return true;
}

bool rgWarmSmooth(const rgConvexPair* pair, const rgPairCache* cache, double shallow,
                  rgSigned* out) {
    rgMeeting m = {.n = cache->axis};
    if (!rgShown_Make(&m.a, pair, cache->simplexA, false) ||
        !rgShown_Make(&m.b, pair, cache->simplexB, true)) {
        return false;
    }
    bool faceA = rgShown_IsFace(&m.a), faceB = rgShown_IsFace(&m.b);
    if (faceA || faceB) {
        if ((faceA && faceB) || !rgMeeting_Face(&m, faceB, out)) {
            return false;
        }
    } else {
        m.hasA = rgShown_Line(&m.a, &m.lineA);
        m.hasB = rgShown_Line(&m.b, &m.lineB);
        if (!rgMeeting_Solve(&m) || !rgMeeting_Points(&m, out)) {
            return false;
        }
    }
    out->normal = m.n;
    out->gap = -rgDot(m.n, m.w);
    out->vertexA = cache->vertexA;
    out->vertexB = cache->vertexB;
    rgVec3 a = rgConvex_Support(pair->a, m.n, &out->vertexA);
    rgVec3 b = rgConvex_Support(pair->b, rgMat3_MultiplyTransposed(&pair->r, rgNegate(m.n)),
                                &out->vertexB);
    b = rgAdd(rgMat3_Multiply(&pair->r, b), pair->t);
    double beyond = rgDot(m.n, rgSub(a, b)) + out->gap;
    out->beyond = false;
    out->iterations = 1;
    return out->gap > -shallow &&
           fabs(beyond) <= RG_SMOOTH_TOLERANCE * RG_MAX(pair->scale, fabs(out->gap));
}

// ---- which features

static void rgListVertices(const int32_t* found, const double* weight, int count, int32_t ids[3]) {
    int used = 0;
    ids[0] = ids[1] = ids[2] = -1;
    for (int k = 0; k < count && k < 3; ++k) {
        bool known = !(weight[k] > 1e-9);
        for (int j = 0; j < used; ++j) {
            known = known || ids[j] == found[k];
        }
        if (!known) {
            ids[used++] = found[k];
        }
    }
}

// Feature of a cylinder from points near it: a line has points at both ends, a cap far from each
// other.
static int32_t rgCylinderShows(const rgConvex* c, const rgVec3* points, int count) {
    bool top = false, bottom = false;
    double spread = 0;
    for (int k = 0; k < count; ++k) {
        top = top || points[k].z > 0;
        bottom = bottom || points[k].z <= 0;
        double x = points[k].x - points[0].x, y = points[k].y - points[0].y;
        spread = RG_MAX(spread, x * x + y * y);
    }
    if (top && bottom) {
        return rg_side;
    }
    bool cap = spread > 0.01 * c->size.x * c->size.x;
    return top ? (cap ? rg_capTop : rg_rimTop) : (cap ? rg_capBottom : rg_rimBottom);
}

void rgSmooth_Keep(const rgConvexPair* pair, const rgSimplex* s, rgSigned* out) {
    int count = RG_MIN(s->count, 3);
    rgVec3 points[3];
    for (int side = 0; side < 2; ++side) {
        const rgConvex* c = side ? pair->b : pair->a;
        int32_t* ids = side ? out->simplexB : out->simplexA;
        if (!rgIsSmoothKind(c)) {
            rgListVertices(side ? s->ib : s->ia, s->weight, count, ids);
            continue;
        }
        for (int k = 0; k < count; ++k) {
            rgVec3 b = rgMat3_MultiplyTransposed(&pair->r, rgSub(s->b[k], pair->t));
            points[k] = side ? b : s->a[k];
        }
        ids[0] = c->kind == rg_shapeEllipsoid ? rg_curved : rgCylinderShows(c, points, count);
        ids[1] = ids[2] = -1;
    }
    out->simplexCount = count > 0 ? -1 : 0;
}
