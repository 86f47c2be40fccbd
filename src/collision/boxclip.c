// Overlap of the faces of two boxes along a normal. The face of B is the unit square of
// its own coordinates s, t, in which that of A is a parallelogram; it is cut by the sides of the
// square. docs/theory/collision.md, "Manifolds"; the same points as rgClipFeatures gives.
#include "collision/boxes.h"

#define RG_CUT_LIMIT 8
#define RG_CUT_SLACK 1e-6 // relative: a corner this close to a side counts as inside

// Corner of the overlap. The edge that starts here is one of A's face (k >= 0) or a side (-1 - k).
typedef struct rgCutCorner {
    double at[2]; // s, t
    int edge;
} rgCutCorner;

typedef struct rgCut {
    int count;
    rgCutCorner corners[RG_CUT_LIMIT];
} rgCut;

typedef struct rgFaces {
    int idsA[4], idsB[4]; // corners around; of B in the order of square
    rgVec3 center, p, q;  // face of B: center + s p + t q
    double h1, h2;        // lengths of p and q
    int axis;             // axis of A's face; gap of a point of B's, along the normal:
    double along, offset; // along x[axis] - offset
    double slack[2];      // in s and t
    rgCut cut;
} rgFaces;

static int rgLargestAxis(rgVec3 d) {
    rgVec3 m = rgAbs3(d);
    return m.x >= m.y && m.x >= m.z ? 0 : m.y >= m.z ? 1 : 2;
}

static rgVec3 rgColumn(const rgMat3* r, int j) {
    return rgVec(r->m[j], r->m[3 + j], r->m[6 + j]);
}

static inline int rgNext(int axis) {
    return axis < 2 ? axis + 1 : 0;
}

// The face of B, and the map of vectors to its coordinates, s = toS . x.
static void rgFaces_SetB(rgFaces* f, const rgConvexPair* pair, rgVec3 normal, rgVec3* toS,
                         rgVec3* toT) {
    rgVec3 n = rgMat3_MultiplyTransposed(&pair->r, normal);
    int j = rgLargestAxis(n), j1 = rgNext(j), j2 = rgNext(j1);
    int high = rgVec3_At(n, j) < 0;
    rgVec3 half = pair->b->size;
    double h = rgVec3_At(half, j), h1 = rgVec3_At(half, j1), h2 = rgVec3_At(half, j2);
    rgVec3 u = rgColumn(&pair->r, j1), v = rgColumn(&pair->r, j2);
    f->center = rgAddScaled(pair->t, high ? h : -h, rgColumn(&pair->r, j));
    f->p = rgScale(h1, u);
    f->q = rgScale(h2, v);
    f->h1 = h1;
    f->h2 = h2;
    double area = rgVec3_At(n, j); // normal . (u x v)
    *toS = rgScale(1 / (area * h1), rgCross(v, normal));
    *toT = rgScale(1 / (area * h2), rgCross(normal, u));
    // Signs of s and t of B's corners; side k runs from corner k to the next.
    RG_TABLE int square[4][2] = {{1, -1}, {1, 1}, {-1, 1}, {-1, -1}};
    for (int k = 0; k < 4; ++k) {
        f->idsB[k] = high << j | (square[k][0] > 0) << j1 | (square[k][1] > 0) << j2;
    }
}

// The face of A as a parallelogram in s and t, counter-clockwise seen from outside A.
static void rgFaces_SetA(rgFaces* f, const rgConvexPair* pair, rgVec3 normal, rgVec3 toS,
                         rgVec3 toT) {
    RG_TABLE int around[2][4] = {{0, 2, 3, 1}, {0, 1, 3, 2}};
    int i = rgLargestAxis(normal), u = rgNext(i), v = rgNext(u);
    int high = rgVec3_At(normal, i) >= 0;
    rgVec3 half = pair->a->size;
    double h = high ? rgVec3_At(half, i) : -rgVec3_At(half, i);
    double hu = rgVec3_At(half, u), hv = rgVec3_At(half, v);
    double s0 = h * rgVec3_At(toS, i) - rgDot(toS, f->center);
    double t0 = h * rgVec3_At(toT, i) - rgDot(toT, f->center);
    double su = hu * rgVec3_At(toS, u), tu = hu * rgVec3_At(toT, u);
    double sv = hv * rgVec3_At(toS, v), tv = hv * rgVec3_At(toT, v);
    f->cut.count = 4;
    for (int k = 0; k < 4; ++k) {
        int bits = around[high][k];
        double a = bits & 1 ? 1 : -1, b = bits >> 1 ? 1 : -1;
        f->cut.corners[k] = (rgCutCorner){{s0 + a * su + b * sv, t0 + a * tu + b * tv}, k};
        f->idsA[k] = high << i | (bits & 1) << u | (bits >> 1) << v;
    }
    f->axis = i;
    f->along = 1 / rgVec3_At(normal, i);
    f->offset = h * f->along;
    double least = RG_MIN(RG_MAX(hu, hv), RG_MAX(f->h1, f->h2));
    f->slack[0] = 2 * RG_CUT_SLACK * least * rgLength(toS);
    f->slack[1] = 2 * RG_CUT_SLACK * least * rgLength(toT);
}

// Cut away the part beyond a side: at[axis] * sign > 1.
static void rgCut_By(const rgCut* in, int side, int axis, double sign, double slack, rgCut* out) {
    out->count = 0;
    const rgCutCorner* p = &in->corners[in->count - 1];
    double dp = 1 - sign * p->at[axis];
    for (int i = 0; i < in->count; ++i) {
        const rgCutCorner* q = &in->corners[i];
        double dq = 1 - sign * q->at[axis];
        bool pIn = dp >= -slack, qIn = dq >= -slack;
        if (pIn != qIn && out->count < RG_CUT_LIMIT) {
            double x = RG_MAX(0, RG_MIN(1, dp / (dp - dq)));
            out->corners[out->count++] = (rgCutCorner){
                {p->at[0] + x * (q->at[0] - p->at[0]), p->at[1] + x * (q->at[1] - p->at[1])},
                pIn ? -1 - side : p->edge};
        }
        if (qIn && out->count < RG_CUT_LIMIT) {
            out->corners[out->count++] = *q;
        }
        p = q;
        dp = dq;
    }
}

// Sides beyond which some corner lies, one bit each; bit 4: all beyond one of them.
static unsigned rgSidesCrossed(const rgFaces* f) {
    unsigned any = 0, all = 15;
    for (int k = 0; k < f->cut.count; ++k) {
        const double* at = f->cut.corners[k].at;
        unsigned out =
            (unsigned)(at[0] > 1 + f->slack[0]) | (unsigned)(at[1] > 1 + f->slack[1]) << 1 |
            (unsigned)(at[0] < -1 - f->slack[0]) << 2 | (unsigned)(at[1] < -1 - f->slack[1]) << 3;
        any |= out;
        all &= out;
    }
    return any | (all != 0) << 4;
}

static void rgFaces_Cut(rgFaces* f) {
    unsigned crossed = rgSidesCrossed(f);
    if (crossed >> 4) {
        f->cut.count = 0;
        return;
    }
    for (int side = 0; side < 4 && f->cut.count > 0; ++side) {
        if (crossed >> side & 1) {
            rgCut in = f->cut;
            int axis = side & 1;
            rgCut_By(&in, side, axis, side < 2 ? 1 : -1, f->slack[axis], &f->cut);
        }
    }
}

// Name of a corner, as rgClipFeatures gives it.
static uint32_t rgFaces_Id(const rgFaces* f, int in, int out) {
    if (in >= 0 && out >= 0) {
        return rgFeatureId(0, f->idsA[out], -1, -1, -1);
    }
    if (in < 0 && out < 0) {
        // Sides meet at the corner that they share.
        int a = -1 - in, b = -1 - out;
        int corner = (a + 1) % 4 == b ? b : a;
        return rgFeatureId(1, f->idsB[corner], -1, -1, -1);
    }
    int a = in >= 0 ? in : out, b = in >= 0 ? -1 - out : -1 - in;
    return rgFeatureId(2, f->idsA[a], f->idsA[(a + 1) % 4], f->idsB[b], f->idsB[(b + 1) % 4]);
}

static bool rgFaces_IsKnown(const rgFaces* f, const rgRawManifold* raw, double s, double t) {
    for (int k = 0; k < raw->count; ++k) {
        if ((fabs(raw->points[k].x - s) <= 4 * f->slack[0]) &
            (fabs(raw->points[k].y - t) <= 4 * f->slack[1])) {
            return true;
        }
    }
    return false;
}

void rgClipBoxFaces(const rgConvexPair* pair, rgVec3 normal, double margin, rgRawManifold* raw) {
    rgFaces f;
    rgVec3 toS, toT;
    raw->normal = normal;
    raw->count = 0;
    rgFaces_SetB(&f, pair, normal, &toS, &toT);
    rgFaces_SetA(&f, pair, normal, toS, toT);
    rgFaces_Cut(&f);
    for (int k = 0; k < f.cut.count; ++k) {
        const rgCutCorner* c = &f.cut.corners[k];
        double s = c->at[0], t = c->at[1];
        rgVec3 x = rgAddScaled(rgAddScaled(f.center, s, f.p), t, f.q);
        double gap = f.along * rgVec3_At(x, f.axis) - f.offset;
        if (!(gap <= margin) || rgFaces_IsKnown(&f, raw, s, t)) {
            continue;
        }
        int before = f.cut.corners[k > 0 ? k - 1 : f.cut.count - 1].edge;
        raw->points[raw->count++] = (rgRawPoint){rgAddScaled(x, -0.5 * gap, normal), gap, s, t,
                                                 rgFaces_Id(&f, before, c->edge)};
    }
}
