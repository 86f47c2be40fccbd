// Two boxes: the separating axis test over 15 axes, then clipping of the faces it names.
#include "collision/internal.h"

// Edges this close to parallel add nothing to the face axes.
#define RG_PARALLEL 1e-6
#define RG_SAT_TIE  1e-6 // relative: a face is preferred to an edge that is better by less

typedef struct rgBoxTest {
    double r[3][3], f[3][3]; // B's axes in A as columns, and absolute values
    double t[3], a[3], b[3]; // center of B in A, half extents
    double best;             // largest separation so far
    rgVec3 axis;             // where it is, in A
} rgBoxTest;

static void rgTestFaces(rgBoxTest* x) {
    for (int i = 0; i < 3; ++i) {
        double reach = x->a[i] + x->b[0] * x->f[i][0] + x->b[1] * x->f[i][1] + x->b[2] * x->f[i][2];
        double s = fabs(x->t[i]) - reach;
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
}

// Points where the faces that the axis names overlap; false when none reaches the separation, as
// happens for boxes apart with a corner or crossing edges nearest.
static bool rgClipBoxes(const rgConvexPair* pair, const rgBoxTest* x, double margin,
                        rgRawManifold* raw) {
    rgFeature a, b;
    raw->normal = x->axis;
    raw->count = 0;
    rgConvex_Feature(pair->a, x->axis, 0, &a);
    rgConvex_Feature(pair->b, rgMat3_MultiplyTransposed(&pair->r, rgNegate(x->axis)), 0, &b);
    b.normal = rgMat3_Multiply(&pair->r, b.normal);
    for (int k = 0; k < b.count; ++k) {
        b.points[k] = rgAdd(rgMat3_Multiply(&pair->r, b.points[k]), pair->t);
    }
    rgClipFeatures(&a, &b, 0, 0, margin, raw);
    double least = INFINITY;
    for (int k = 0; k < raw->count; ++k) {
        least = RG_MIN(least, raw->points[k].gap);
    }
    return least <= x->best + 1e-5 * RG_MIN(pair->a->scale, pair->b->scale);
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
    if (!rgClipBoxes(&pair, &test, in->margin, &raw)) {
        rgCollideConvex(in, manifold);
        return;
    }
    rgReduce(&raw, in->maxPoints);
    rgEmit(&raw, *in->poseA, manifold);
}
