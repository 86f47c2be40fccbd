// Three sparse rows over the same columns, as those of a contact: one row after the other in w, of
// count numbers each.
#pragma once
#include "math/two.h"

// v += s[0] w_0 + s[1] w_1 + s[2] w_2
static inline void rgPushTriple(int count, const int* column, const double* w, const double* s,
                                double* v) {
    const double *x = w, *y = w + count, *z = y + count;
    double a = s[0], b = s[1], c = s[2];
    int k = 0;
    if (rgColumnsAreClose(column, 0, count)) {
        double* own = v + column[0];
        for (; k + 2 <= count; k += 2) {
            rgTwo sum = a * rgLoadTwo(x + k) + b * rgLoadTwo(y + k) + c * rgLoadTwo(z + k);
            rgStoreTwo(own + k, rgLoadTwo(own + k) + sum);
        }
    }
    for (; k < count; ++k) {
        v[column[k]] += a * x[k] + b * y[k] + c * z[k];
    }
}

// out[r] = w_r . v
static inline void rgDotTriple(int count, const int* column, const double* w, const double* v,
                               double* out) {
    const double *x = w, *y = w + count, *z = y + count;
    double a = 0, b = 0, c = 0;
    int k = 0;
    if (rgColumnsAreClose(column, 0, count)) {
        rgTwo sumA = {0, 0}, sumB = sumA, sumC = sumA;
        const double* own = v + column[0];
        for (; k + 2 <= count; k += 2) {
            rgTwo both = rgLoadTwo(own + k);
            sumA += rgLoadTwo(x + k) * both;
            sumB += rgLoadTwo(y + k) * both;
            sumC += rgLoadTwo(z + k) * both;
        }
        a = sumA[0] + sumA[1], b = sumB[0] + sumB[1], c = sumC[0] + sumC[1];
    }
    for (; k < count; ++k) {
        double own = v[column[k]];
        a += x[k] * own, b += y[k] * own, c += z[k] * own;
    }
    out[0] = a, out[1] = b, out[2] = c;
}

// out[r] = w_r . w_r
static inline void rgSquareTriple(int count, const double* w, double* out) {
    const double *x = w, *y = w + count, *z = y + count;
    rgTwo a = {0, 0}, b = a, c = a;
    int k = 0;
    for (; k + 2 <= count; k += 2) {
        a += rgLoadTwo(x + k) * rgLoadTwo(x + k);
        b += rgLoadTwo(y + k) * rgLoadTwo(y + k);
        c += rgLoadTwo(z + k) * rgLoadTwo(z + k);
    }
    bool odd = k < count;
    out[0] = a[0] + a[1] + (odd ? x[k] * x[k] : 0);
    out[1] = b[0] + b[1] + (odd ? y[k] * y[k] : 0);
    out[2] = c[0] + c[1] + (odd ? z[k] * z[k] : 0);
}

static inline double rgSquareOf(int count, const double* x) {
    rgTwo sum = {0, 0};
    int k = 0;
    for (; k + 2 <= count; k += 2) {
        rgTwo both = rgLoadTwo(x + k);
        sum += both * both;
    }
    return sum[0] + sum[1] + (k < count ? x[k] * x[k] : 0);
}
