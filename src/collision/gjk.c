// GJK: the point of A - B nearest to the origin, by a sequence of simplices of supporting points.
// docs/theory/collision.md, "Distance".
#include "collision/support.h"

#define RG_GJK_LIMIT     64
#define RG_GJK_COLD      4     // supports that begin at a seed
#define RG_GJK_TOLERANCE 1e-13 // on |v|^2 - v.w relative to |v|^2: the relative error of |v|
#define RG_GJK_TOUCH     1e-14 // bound of |v| relative to the largest point: inside

// Part of a simplex nearest to the origin.
typedef struct rgNearest {
    int count;
    int at[4];
    double weight[4];
    rgVec3 v;
    double vv;
} rgNearest;

static inline void rgNearestVertex(const rgVec3* w, int i, rgNearest* near) {
    near->count = 1;
    near->at[0] = i;
    near->weight[0] = 1;
    near->v = w[i];
    near->vv = rgLengthSquared(w[i]);
}

static inline void rgNearestEdge(const rgVec3* w, int i, int j, rgNearest* near) {
    rgVec3 e = rgSub(w[j], w[i]);
    double ee = rgDot(e, e), t = -rgDot(w[i], e);
    if (!(t > 0)) {
        rgNearestVertex(w, i, near);
        return;
    }
    if (!(t < ee)) {
        rgNearestVertex(w, j, near);
        return;
    }
    double s = t / ee;
    near->count = 2;
    near->at[0] = i;
    near->at[1] = j;
    near->weight[0] = 1 - s;
    near->weight[1] = s;
    near->v = rgAddScaled(w[i], s, e);
    near->vv = rgLengthSquared(near->v);
}

// The other edge, if it is nearer.
static void rgTryEdge(const rgVec3* w, int i, int j, rgNearest* best) {
    rgNearest other;
    if (best->count == 0) {
        rgNearestEdge(w, i, j, best);
        return;
    }
    rgNearestEdge(w, i, j, &other);
    if (other.vv < best->vv) {
        *best = other;
    }
}

static void rgNearestTriangle(const rgVec3* w, int i, int j, int k, rgNearest* near) {
    rgVec3 a = w[i], b = w[j], c = w[k];
    rgVec3 ab = rgSub(b, a), ac = rgSub(c, a);
    rgVec3 n = rgCross(ab, ac);
    double nn = rgDot(n, n);
    bool flat = !(nn > 1e-26 * rgDot(ab, ab) * rgDot(ac, ac));
    // Foot of the origin on the plane; weights times nn are areas around it.
    rgVec3 p = rgScale(flat ? 0 : rgDot(n, a) / nn, n);
    rgVec3 pa = rgSub(a, p), pb = rgSub(b, p), pc = rgSub(c, p);
    double wa = rgDot(n, rgCross(pb, pc)), wb = rgDot(n, rgCross(pc, pa));
    double wc = rgDot(n, rgCross(pa, pb));
    if (!flat && wa >= 0 && wb >= 0 && wc >= 0) {
        double s = 1 / (wa + wb + wc);
        near->count = 3;
        near->at[0] = i;
        near->at[1] = j;
        near->at[2] = k;
        near->weight[0] = s * wa;
        near->weight[1] = s * wb;
        near->weight[2] = s * wc;
        near->v = p;
        near->vv = rgLengthSquared(p);
        return;
    }
    near->count = 0;
    near->vv = INFINITY;
    if (flat || wc < 0) {
        rgTryEdge(w, i, j, near);
    }
    if (flat || wa < 0) {
        rgTryEdge(w, j, k, near);
    }
    if (flat || wb < 0) {
        rgTryEdge(w, i, k, near);
    }
}

// Side of the origin and of the fourth corner with respect to a face of a tetrahedron.
static bool rgIsOutside(rgVec3 a, rgVec3 b, rgVec3 c, rgVec3 opposite, bool* flat) {
    rgVec3 u = rgSub(b, a), v = rgSub(c, a), d = rgSub(opposite, a);
    rgVec3 n = rgCross(u, v);
    double corner = rgDot(n, d), origin = -rgDot(n, a);
    *flat |= corner * corner <= 1e-26 * rgDot(n, n) * rgDot(d, d);
    return corner > 0 ? origin < 0 : origin > 0;
}

static void rgNearestTetrahedron(const rgVec3* w, rgNearest* near) {
    // Corners in ascending order, then the opposite one. The last corner is the newest: it is on
    // the origin's side of the other three, so their face is only looked at when all is flat.
    RG_TABLE int faces[4][4] = {{0, 1, 3, 2}, {1, 2, 3, 0}, {0, 2, 3, 1}, {0, 1, 2, 3}};
    bool outside[4], flat = false, inside = true;
    outside[3] = false;
    for (int f = 0; f < 3; ++f) {
        const int* c = faces[f];
        outside[f] = rgIsOutside(w[c[0]], w[c[1]], w[c[2]], w[c[3]], &flat);
        inside &= !outside[f];
    }
    near->count = 4;
    near->vv = INFINITY;
    if (inside && !flat) {
        *near = (rgNearest){.count = 4, .at = {0, 1, 2, 3}};
        return;
    }
    for (int f = 0; f < 4; ++f) {
        if (!outside[f] && !flat) {
            continue;
        }
        if (near->count == 4) {
            rgNearestTriangle(w, faces[f][0], faces[f][1], faces[f][2], near);
            continue;
        }
        rgNearest other;
        rgNearestTriangle(w, faces[f][0], faces[f][1], faces[f][2], &other);
        if (other.vv < near->vv) {
            *near = other;
        }
    }
}

static void rgNearestPart(const rgSimplex* s, rgNearest* near) {
    switch (s->count) {
    case 1:
        rgNearestVertex(s->w, 0, near);
        break;
    case 2:
        rgNearestEdge(s->w, 0, 1, near);
        break;
    case 3:
        rgNearestTriangle(s->w, 0, 1, 2, near);
        break;
    default:
        rgNearestTetrahedron(s->w, near);
        break;
    }
}

// The numbers kept ascend, so that points move down only.
static void rgSimplex_Keep(rgSimplex* s, const rgNearest* near) {
    s->count = near->count;
    for (int k = 0; k < near->count; ++k) {
        int i = near->at[k];
        if (i != k) {
            s->w[k] = s->w[i];
            s->a[k] = s->a[i];
            s->b[k] = s->b[i];
            s->ia[k] = s->ia[i];
            s->ib[k] = s->ib[i];
        }
        s->weight[k] = near->weight[k];
    }
}

void rgSimplex_Witnesses(const rgSimplex* s, rgVec3* a, rgVec3* b) {
    *a = *b = rgVec(0, 0, 0);
    for (int k = 0; k < s->count; ++k) {
        *a = rgAddScaled(*a, s->weight[k], s->a[k]);
        *b = rgAddScaled(*b, s->weight[k], s->b[k]);
    }
}

static void rgSimplex_Set(rgSimplex* s, int i, rgVec3 a, rgVec3 b, rgVec3 shift) {
    s->a[i] = a;
    s->b[i] = b;
    s->w[i] = rgSub(rgSub(a, b), shift);
}

// Points of the warm simplex at the poses of now.
static void rgSimplex_Refresh(const rgConvexPair* pair, const rgGjkInput* input, rgSimplex* s) {
    s->count = 0;
    if (input->warm == NULL) {
        return;
    }
    for (int k = 0; k < input->warm->count && k < 3; ++k) {
        rgVec3 a = input->warm->a[k], b = input->warm->b[k];
        int32_t ia = input->warm->ia[k], ib = input->warm->ib[k];
        if (ia != RG_SMOOTH_VERTEX) {
            a = rgConvex_Vertex(pair->a, ia);
        }
        if (ib != RG_SMOOTH_VERTEX) {
            b = rgAdd(rgMat3_Multiply(&pair->r, rgConvex_Vertex(pair->b, ib)), pair->t);
        }
        s->ia[k] = ia;
        s->ib[k] = ib;
        rgSimplex_Set(s, k, a, b, input->shift);
        s->count = k + 1;
    }
}

static bool rgSimplex_Has(const rgSimplex* s, int last) {
    for (int k = 0; k < last; ++k) {
        bool smooth = s->ia[last] == RG_SMOOTH_VERTEX || s->ib[last] == RG_SMOOTH_VERTEX;
        rgVec3 d = rgSub(s->w[k], s->w[last]);
        if (smooth ? d.x == 0 && d.y == 0 && d.z == 0
                   : s->ia[k] == s->ia[last] && s->ib[k] == s->ib[last]) {
            return true;
        }
    }
    return false;
}

// Supporting point of A - B - shift in direction -v, put at the end of the simplex.
static void rgSimplex_Support(const rgConvexPair* pair, rgVec3 shift, rgVec3 v, rgSimplex* s,
                              int32_t* hintA, int32_t* hintB) {
    int last = s->count;
    rgVec3 a = rgConvex_Support(pair->a, rgNegate(v), hintA);
    rgVec3 b = rgConvex_Support(pair->b, rgMat3_MultiplyTransposed(&pair->r, v), hintB);
    b = rgAdd(rgMat3_Multiply(&pair->r, b), pair->t);
    s->ia[last] = *hintA;
    s->ib[last] = *hintB;
    rgSimplex_Set(s, last, a, b, shift);
}

static double rgSimplex_Size(const rgSimplex* s) {
    double most = 0;
    for (int k = 0; k < s->count; ++k) {
        most = RG_MAX(most, rgLengthSquared(s->w[k]));
    }
    return most;
}

void rgGjk(const rgConvexPair* pair, const rgGjkInput* input, rgGjkResult* result) {
    rgSimplex* s = &result->simplex;
    int32_t hintA = input->hintA, hintB = input->hintB;
    rgVec3 v = rgNegate(input->direction);
    double vv = INFINITY;
    result->contained = result->beyond = false;
    rgSimplex_Refresh(pair, input, s);
    int cold = s->count > 0 ? 0 : RG_GJK_COLD;
    if (s->count > 0) {
        rgNearest near;
        rgNearestPart(s, &near);
        rgSimplex_Keep(s, &near);
        v = near.v;
        vv = near.vv;
    }
    int k = 0;
    for (; k < RG_GJK_LIMIT; ++k) {
        // No point of A - B is much farther from v than the larger shape is wide.
        bool small = vv < 1e-20 * pair->scale * pair->scale;
        if (small && vv <= RG_GJK_TOUCH * RG_GJK_TOUCH * rgSimplex_Size(s)) {
            result->contained = true;
            break;
        }
        if (k < cold) {
            hintA = hintB = -1; // the direction still turns much: the seed is nearer
        }
        rgSimplex_Support(pair, input->shift, v, s, &hintA, &hintB);
        double vw = rgDot(v, s->w[s->count]);
        double length = s->count > 0 ? vv : rgDot(v, v);
        if (vw > 0 && vw * vw > input->cutoff * input->cutoff * length) {
            result->beyond = true;
            vv = length;
            k += 1;
            break;
        }
        // Done when no point is nearer than v in its own direction.
        if (s->count > 0 && (vv - vw <= RG_GJK_TOLERANCE * vv || rgSimplex_Has(s, s->count))) {
            k += 1;
            break;
        }
        s->count += 1;
        rgNearest near;
        rgNearestPart(s, &near);
        // A support with v . w > 0 proves that the origin is outside, even if a flat simplex
        // contains it.
        if (near.count == 4 && !(vw > 0)) {
            result->contained = true;
            k += 1;
            break;
        }
        if (near.count == 4 || !(near.vv < vv)) {
            s->count -= 1; // rounding: the last simplex was as good
            k += 1;
            break;
        }
        rgSimplex_Keep(s, &near);
        v = near.v;
        vv = near.vv;
    }
    result->v = v;
    result->distance = result->contained ? 0 : sqrt(vv);
    result->iterations = k;
    result->hintA = hintA;
    result->hintB = hintB;
}
