// Two boxes: the separating axis test over 15 axes, then clipping of the faces that the normal
// names. Apart, the normal is that of the corner or the two edges which are nearest.
#include "collision/boxes.h"
#include "collision/support.h"

// Edges this close to parallel add nothing to the face axes.
#define RG_PARALLEL  1e-6
#define RG_SAT_TIE   1e-6 // relative: a face is preferred to an edge that is better by less
#define RG_BOX_TOUCH 1e-6 // relative distance below which boxes do not count as apart

// Rounding of corners that meet, as a part of the thinner box: the normal is that of rounded
// corners.
#define RG_BOX_ROUND 0.01

typedef struct rgBoxTest {
    double r[3][3], f[3][3]; // B's axes in A as columns, and absolute values
    double t[3], a[3], b[3]; // center of B in A, half extents
    double faces[6];         // separation along the face axes of A and B
    double best;             // largest separation so far
    rgVec3 axis;             // axis of that separation, in A
    int edgeA, edgeB;        // edges that cross there, -1: a face
} rgBoxTest;

static void rgTestFaces(rgBoxTest* x) {
    for (int i = 0; i < 3; ++i) {
        double reach = x->a[i] + x->b[0] * x->f[i][0] + x->b[1] * x->f[i][1] + x->b[2] * x->f[i][2];
        double s = fabs(x->t[i]) - reach;
        x->faces[i] = s;
        if (s > x->best) {
            x->best = s;
            double sign = x->t[i] < 0 ? -1 : 1;
            x->axis = rgVec(i == 0 ? sign : 0, i == 1 ? sign : 0, i == 2 ? sign : 0);
        }
    }
    double tie = RG_SAT_TIE * (x->a[0] + x->a[1] + x->a[2]);
    for (int j = 0; j < 3; ++j) {
        double d = x->t[0] * x->r[0][j] + x->t[1] * x->r[1][j] + x->t[2] * x->r[2][j];
        double reach = x->b[j] + x->a[0] * x->f[0][j] + x->a[1] * x->f[1][j] + x->a[2] * x->f[2][j];
        double s = fabs(d) - reach;
        x->faces[3 + j] = s;
        if (s > x->best + tie) {
            x->best = s;
            double sign = d < 0 ? -1 : 1;
            x->axis = rgVec(sign * x->r[0][j], sign * x->r[1][j], sign * x->r[2][j]);
        }
    }
}

static void rgTestEdges(rgBoxTest* x) {
    double tie = RG_SAT_TIE * (x->a[0] + x->a[1] + x->a[2]);
    for (int i = 0; i < 3; ++i) {
        int i1 = i < 2 ? i + 1 : 0, i2 = i1 < 2 ? i1 + 1 : 0;
        for (int j = 0; j < 3; ++j) {
            double across = 1 - x->r[i][j] * x->r[i][j];
            if (across < RG_PARALLEL) {
                continue;
            }
            int j1 = j < 2 ? j + 1 : 0, j2 = j1 < 2 ? j1 + 1 : 0;
            double d = x->t[i2] * x->r[i1][j] - x->t[i1] * x->r[i2][j];
            double reach = x->a[i1] * x->f[i2][j] + x->a[i2] * x->f[i1][j] +
                           x->b[j1] * x->f[i][j2] + x->b[j2] * x->f[i][j1];
            double bound = x->best + tie, excess = fabs(d) - reach;
            // excess / sqrt(across) > bound, without the root
            if (excess * fabs(excess) <= bound * fabs(bound) * across) {
                continue;
            }
            double scale = 1 / sqrt(across);
            x->best = excess * scale;
            double sign = d < 0 ? -scale : scale;
            double axis[3];
            axis[i] = 0;
            axis[i1] = -sign * x->r[i2][j];
            axis[i2] = sign * x->r[i1][j];
            x->axis = rgVec(axis[0], axis[1], axis[2]);
            x->edgeA = i;
            x->edgeB = j;
        }
    }
}

static void rgFillBoxTest(const rgConvexPair* pair, rgBoxTest* x) {
    for (int i = 0; i < 3; ++i) {
        for (int j = 0; j < 3; ++j) {
            x->r[i][j] = pair->r.m[3 * i + j];
            x->f[i][j] = fabs(x->r[i][j]);
        }
        x->t[i] = rgVec3_At(pair->t, i);
        x->a[i] = rgVec3_At(pair->a->size, i);
        x->b[i] = rgVec3_At(pair->b->size, i);
    }
    x->best = -INFINITY;
    x->edgeA = x->edgeB = -1;
}

// ---- boxes apart

static rgVec3 rgBoxCorner(rgVec3 half, rgVec3 d) {
    return rgVec(copysign(half.x, d.x), copysign(half.y, d.y), copysign(half.z, d.z));
}

// True if a corner of a box is farthest in a direction.
static bool rgIsFarthest(rgVec3 corner, rgVec3 d) {
    return (corner.x * d.x >= 0) & (corner.y * d.y >= 0) & (corner.z * d.z >= 0);
}

static rgVec3 rgClamp3(rgVec3 p, rgVec3 half) {
    return rgVec(rgClamp(p.x, half.x), rgClamp(p.y, half.y), rgClamp(p.z, half.z));
}

// Corner of B and the point of A nearest to it, if the planes across their connection separate the
// boxes: then they are nearest. The corner is looked for from a normal that becomes a better one.
static bool rgNearestCorner(rgVec3 halfA, rgVec3 halfB, const rgMat3* r, rgVec3 t, rgVec3* normal,
                            rgVec3* pointA, rgVec3* pointB) {
    for (int k = 0; k < 2; ++k) {
        rgVec3 inB = rgMat3_MultiplyTransposed(r, *normal);
        rgVec3 corner = rgBoxCorner(halfB, rgNegate(inB));
        *pointB = rgAdd(rgMat3_Multiply(r, corner), t);
        *pointA = rgClamp3(*pointB, halfA);
        rgVec3 d = rgSub(*pointB, *pointA);
        double dd = rgLengthSquared(d);
        if (!(dd > 0)) {
            return false;
        }
        *normal = rgScale(1 / sqrt(dd), d);
        if (rgIsFarthest(corner, rgNegate(rgMat3_MultiplyTransposed(r, *normal)))) {
            return true;
        }
    }
    return false;
}

static rgMat3 rgMat3_Transposed(const rgMat3* a) {
    const double* m = a->m;
    return (rgMat3){{m[0], m[3], m[6], m[1], m[4], m[7], m[2], m[5], m[8]}};
}

// Nearest corner of A: B is the box in its own frame.
static bool rgNearestCornerOfA(const rgConvexPair* pair, rgSigned* s) {
    rgMat3 back = rgMat3_Transposed(&pair->r);
    rgVec3 t = rgNegate(rgMat3_Multiply(&back, pair->t));
    rgVec3 normal = rgNegate(rgMat3_Multiply(&back, s->normal)), a, b;
    if (!rgNearestCorner(pair->b->size, pair->a->size, &back, t, &normal, &b, &a)) {
        return false;
    }
    s->normal = rgNegate(rgMat3_Multiply(&pair->r, normal));
    s->pointA = rgAdd(rgMat3_Multiply(&pair->r, a), pair->t);
    s->pointB = rgAdd(rgMat3_Multiply(&pair->r, b), pair->t);
    return true;
}

// The edges that the axis names, if they pass each other within their lengths.
static bool rgNearestEdges(const rgConvexPair* pair, const rgBoxTest* x, rgSigned* s) {
    rgVec3 inB = rgMat3_MultiplyTransposed(&pair->r, x->axis);
    rgVec3 a = rgBoxCorner(pair->a->size, x->axis), b = rgBoxCorner(pair->b->size, rgNegate(inB));
    int i = x->edgeA, j = x->edgeB;
    a = rgVec(i == 0 ? 0 : a.x, i == 1 ? 0 : a.y, i == 2 ? 0 : a.z);
    b = rgVec(j == 0 ? 0 : b.x, j == 1 ? 0 : b.y, j == 2 ? 0 : b.z);
    b = rgAdd(rgMat3_Multiply(&pair->r, b), pair->t);
    rgVec3 v = rgVec(x->r[0][j], x->r[1][j], x->r[2][j]), between = rgSub(b, a);
    double cosine = x->r[i][j], du = rgVec3_At(between, i), dv = rgDot(v, between);
    double alongA = (du - cosine * dv) / (1 - cosine * cosine), alongB = cosine * alongA - dv;
    if (fabs(alongA) > x->a[i] || fabs(alongB) > x->b[j]) {
        return false;
    }
    s->normal = x->axis;
    s->pointA = rgAdd(a, rgVec(i == 0 ? alongA : 0, i == 1 ? alongA : 0, i == 2 ? alongA : 0));
    s->pointB = rgAddScaled(b, alongB, v);
    return true;
}

// Nearest points of boxes apart, from the axis that separates them most.
static bool rgNearestOfBoxes(const rgConvexPair* pair, const rgBoxTest* x, rgSigned* s) {
    rgVec3 a, b;
    s->normal = x->axis;
    bool edges = x->edgeA >= 0 && rgNearestEdges(pair, x, s);
    if (!edges &&
        rgNearestCorner(pair->a->size, pair->b->size, &pair->r, pair->t, &s->normal, &a, &b)) {
        s->pointA = a;
        s->pointB = b;
    } else if (!edges && !rgNearestCornerOfA(pair, s)) {
        return false;
    }
    s->gap = rgDot(s->normal, rgSub(s->pointB, s->pointA));
    s->beyond = false;
    return s->gap > RG_BOX_TOUCH * pair->scale;
}

// ---- manifold

// True if faces of the two are close to parallel. Those are clipped first: many points are about
// equally near, and the normal of a face is steadier than that of a corner.
static bool rgIsFlat(const rgBoxTest* x) {
    double most = 0;
    for (int i = 0; i < 3; ++i) {
        most = RG_MAX(most, RG_MAX(x->f[i][0], RG_MAX(x->f[i][1], x->f[i][2])));
    }
    return most > RG_PARALLEL_FACES;
}

// Points where the faces that the axis names overlap; false when none reaches the separation, as
// happens for boxes apart with a corner or crossing edges nearest.
static bool rgClipAlongAxis(const rgConvexPair* pair, const rgBoxTest* x, double margin,
                            rgRawManifold* raw) {
    rgClipBoxFaces(pair, x->axis, margin, raw);
    double least = INFINITY;
    for (int k = 0; k < raw->count; ++k) {
        least = RG_MIN(least, raw->points[k].gap);
    }
    return least <= x->best + 1e-5 * RG_MIN(pair->a->scale, pair->b->scale);
}

// Nearest points by GJK, from the best axis unless the cache knows more.
static void rgSearchBoxes(const rgConvexPair* pair, const rgBoxTest* x, const rgCollideInput* in,
                          rgSigned* s) {
    rgPairCache own = {.axis = x->axis};
    rgSignedDistance(pair, in->margin, in->cache != NULL ? in->cache : &own, s);
}

// ---- corners against corners

static rgVec3 rgFaceAxis(const rgBoxTest* x, int k) {
    return k < 3 ? rgVec(k == 0, k == 1, k == 2)
                 : rgVec(x->r[0][k - 3], x->r[1][k - 3], x->r[2][k - 3]);
}

// True if boxes that are smaller by an inset may be separated along two axes that are not parallel:
// along one axis that moves a face by one inset and a corner by up to sqrt(3) of them.
static bool rgIsCorner(const rgBoxTest* x, double inset) {
    int first = -1;
    for (int k = 0; k < 6; ++k) {
        if (x->faces[k] < -3 * inset) {
            continue;
        }
        first = first < 0 ? k : first;
        if (fabs(rgDot(rgFaceAxis(x, first), rgFaceAxis(x, k))) < RG_PARALLEL_FACES) {
            return true;
        }
    }
    return false;
}

// Room between the boxes along a normal.
static double rgSeparation(const rgConvexPair* pair, rgVec3 n) {
    rgVec3 a = rgAbs3(n), b = rgAbs3(rgMat3_MultiplyTransposed(&pair->r, n));
    return rgDot(n, pair->t) - rgDot(a, pair->a->size) - rgDot(b, pair->b->size);
}

// Normal of slightly smaller boxes at corners or edges that meet close to their ends. Sharp boxes
// admit any normal between the faces that meet there; by depth alone it is a face's, and jumps. The
// direction between boxes that are smaller by a little is continuous, and symmetric if the boxes
// are.
static bool rgRoundedNormal(const rgConvexPair* pair, const rgBoxTest* x, double gap, rgSigned* s) {
    double whole = RG_BOX_ROUND * RG_MIN(pair->a->thin, pair->b->thin);
    double inset = whole - 0.5 * RG_MAX(0, gap);
    if (!(inset > 0) || gap < -whole || !rgIsCorner(x, inset)) {
        return false;
    }
    rgVec3 less = rgVec(inset, inset, inset);
    rgConvex a = *pair->a, b = *pair->b;
    a.size = rgSub(a.size, less);
    b.size = rgSub(b.size, less);
    rgConvexPair inner = *pair;
    inner.a = &a;
    inner.b = &b;
    rgBoxTest test;
    rgFillBoxTest(&inner, &test);
    rgTestFaces(&test);
    rgTestEdges(&test);
    if (!(test.best > 0)) {
        return false;
    }
    if (!rgNearestOfBoxes(&inner, &test, s)) {
        rgPairCache own = {.axis = test.axis};
        rgSignedDistance(&inner, INFINITY, &own, s);
    }
    rgVec3 middle = rgScale(0.5, rgAdd(s->pointA, s->pointB));
    s->gap = rgSeparation(pair, s->normal);
    s->pointA = rgAddScaled(middle, -0.5 * s->gap, s->normal);
    s->pointB = rgAddScaled(middle, 0.5 * s->gap, s->normal);
    return !s->beyond;
}

static void rgCollectPoints(const rgConvexPair* pair, const rgBoxTest* x, const rgCollideInput* in,
                            rgRawManifold* raw) {
    bool apart = x->best > 0 && !rgIsFlat(x);
    rgSigned s;
    if (!apart) {
        bool corner = rgRoundedNormal(pair, x, x->best, &s);
        if (!corner && rgClipAlongAxis(pair, x, in->margin, raw)) {
            return;
        }
        if (!corner) {
            rgSearchBoxes(pair, x, in, &s);
        }
    } else {
        if (!rgNearestOfBoxes(pair, x, &s)) {
            rgSearchBoxes(pair, x, in, &s);
        }
        rgRoundedNormal(pair, x, s.gap, &s);
    }
    raw->count = 0;
    if (s.beyond || !(s.gap <= in->margin)) {
        return;
    }
    rgClipBoxFaces(pair, s.normal, in->margin, raw);
    rgFinishManifold(pair, &s, raw);
}

void rgCollideBoxes(const rgCollideInput* in, rgManifold* manifold) {
    rgConvexPair pair = rgMakePair(&in->a->convex, *in->poseA, &in->b->convex, *in->poseB);
    if (!rgPair_IsFinite(&pair)) {
        return;
    }
    rgBoxTest test;
    rgFillBoxTest(&pair, &test);
    rgTestFaces(&test);
    if (test.best > in->margin) {
        return;
    }
    rgTestEdges(&test);
    if (test.best > in->margin) {
        return;
    }
    rgRawManifold raw;
    rgCollectPoints(&pair, &test, in, &raw);
    rgReduce(&raw, in->maxPoints);
    rgEmit(&raw, *in->poseA, manifold);
}
