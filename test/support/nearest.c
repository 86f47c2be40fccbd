#include "nearest.h"

#include <math.h>
#include <string.h>

typedef struct rgCorral {
    int count;
    rgVec3 points[4];
    double weights[4];
} rgCorral;

static rgVec3 rgCorral_Point(const rgCorral* c) {
    rgVec3 x = rgVec(0, 0, 0);
    for (int k = 0; k < c->count; ++k) {
        x = rgAddScaled(x, c->weights[k], c->points[k]);
    }
    return x;
}

// Weights of the point of least norm in the affine hull, by elimination on the bordered Gram
// matrix.
static int rgCorral_Affine(const rgCorral* c, double weights[4]) {
    int n = c->count;
    double m[5][6];
    memset(m, 0, sizeof(m));
    double largest = 0;
    for (int i = 0; i < n; ++i) {
        largest = fmax(largest, rgLengthSquared(c->points[i]));
    }
    for (int i = 0; i < n; ++i) {
        for (int j = 0; j < n; ++j) {
            m[i][j] = rgDot(c->points[i], c->points[j]) / largest;
        }
        m[i][n] = m[n][i] = 1;
    }
    m[n][n + 1] = 1;
    for (int k = 0; k <= n; ++k) {
        int pivot = k;
        for (int i = k + 1; i <= n; ++i) {
            pivot = fabs(m[i][k]) > fabs(m[pivot][k]) ? i : pivot;
        }
        if (!(fabs(m[pivot][k]) > 1e-14)) {
            return 0;
        }
        for (int j = 0; j <= n + 1; ++j) {
            double swap = m[k][j];
            m[k][j] = m[pivot][j];
            m[pivot][j] = swap;
        }
        for (int i = 0; i <= n; ++i) {
            double f = i == k ? 0 : m[i][k] / m[k][k];
            for (int j = k; j <= n + 1; ++j) {
                m[i][j] -= f * m[k][j];
            }
        }
    }
    for (int i = 0; i < n; ++i) {
        weights[i] = m[i][n + 1] / m[i][i];
    }
    return 1;
}

static void rgCorral_Drop(rgCorral* c, int k) {
    c->count -= 1;
    for (int i = k; i < c->count; ++i) {
        c->points[i] = c->points[i + 1];
        c->weights[i] = c->weights[i + 1];
    }
}

// Move to the affine minimum, leaving corners whose weights vanish on the way.
static void rgCorral_Descend(rgCorral* c) {
    for (;;) {
        double y[4];
        if (!rgCorral_Affine(c, y)) {
            rgCorral_Drop(c, c->count - 1); // no new direction
            return;
        }
        double step = 1;
        int out = -1;
        for (int k = 0; k < c->count; ++k) {
            if (y[k] <= 0 && c->weights[k] / (c->weights[k] - y[k]) <= step) {
                step = c->weights[k] / (c->weights[k] - y[k]);
                out = k;
            }
        }
        for (int k = 0; k < c->count; ++k) {
            c->weights[k] += step * (y[k] - c->weights[k]);
        }
        if (out < 0) {
            return;
        }
        rgCorral_Drop(c, out);
    }
}

rgNearest rgFindNearest(rgFarthestFcn* a, const void* setA, rgFarthestFcn* b, const void* setB) {
    rgCorral c = {1, {rgSub(b(setB, rgVec(1, 0, 0)), a(setA, rgVec(-1, 0, 0)))}, {1}};
    rgNearest best = {.distance = INFINITY, .lower = -INFINITY};
    for (int i = 0; i < 2000; ++i) {
        rgVec3 x = rgCorral_Point(&c); // of B - A
        double length = rgLength(x);
        best.distance = fmin(best.distance, length);
        if (!(length > 1e-9)) {
            best.distance = 0;
            break;
        }
        rgVec3 n = rgScale(1 / length, x);
        rgVec3 w = rgSub(b(setB, rgNegate(n)), a(setA, n));
        if (rgDot(n, w) > best.lower) {
            best.lower = rgDot(n, w);
            best.normal = n;
        }
        if (best.distance - best.lower < 1e-10 || c.count == 4) {
            best.distance = c.count == 4 ? 0 : best.distance;
            break;
        }
        c.points[c.count] = w;
        c.weights[c.count++] = 0;
        rgCorral_Descend(&c);
    }
    return best;
}

double rgWindingNumber(int triangleCount, const int* triangles, const double* vertices, rgVec3 p) {
    double sum = 0;
    for (int t = 0; t < triangleCount; ++t) {
        rgVec3 d[3];
        double l[3];
        for (int k = 0; k < 3; ++k) {
            const double* v = vertices + 3 * triangles[3 * t + k];
            d[k] = rgSub(rgVec(v[0], v[1], v[2]), p);
            l[k] = rgLength(d[k]);
        }
        double top = rgDot(d[0], rgCross(d[1], d[2]));
        double under = l[0] * l[1] * l[2] + rgDot(d[0], d[1]) * l[2] + rgDot(d[1], d[2]) * l[0] +
                       rgDot(d[2], d[0]) * l[1];
        sum += 2 * atan2(top, under);
    }
    return sum / (4 * acos(-1));
}
