// Sine and cosine without branches, so that the compiler can take several angles at a time: the
// angle is reduced by multiples of pi/2 held in two parts, then two polynomials, then quadrants by
// masks.
#include "math/sincos.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

static const double rgLargestAngle = 1e5; // multiples of pi/2 times the first part are exact

static inline int64_t rgBitsOf(double x) {
    int64_t bits;
    memcpy(&bits, &x, sizeof(bits));
    return bits;
}

static inline double rgDoubleOf(int64_t bits) {
    double x;
    memcpy(&x, &bits, sizeof(x));
    return x;
}

// Minimax polynomials on |r| <= pi/4; z = r^2.
static inline double rgSinPolynomial(double r, double z) {
    double p = 1.58969099521155010221e-10;
    p = p * z - 2.50507602534068634195e-08;
    p = p * z + 2.75573137070700676789e-06;
    p = p * z - 1.98412698298579493134e-04;
    p = p * z + 8.33333333332248946124e-03;
    p = p * z - 1.66666666666666324348e-01;
    return r + r * z * p;
}

static inline double rgCosPolynomial(double z) {
    double p = -1.13596475577881948265e-11;
    p = p * z + 2.08757232129817482790e-09;
    p = p * z - 2.75573143513906633035e-07;
    p = p * z + 2.48015872894767294178e-05;
    p = p * z - 1.38888888888741095749e-03;
    p = p * z + 4.16666666666666019037e-02;
    double half = 0.5 * z, w = 1 - half;
    return w + ((1 - w - half) + z * z * p); // with the rounding error of 1 - z/2
}

static inline void rgSinCosOne(double x, double* s, double* c) {
    const double magic = 6755399441055744.0; // 1.5 * 2^52: adding it rounds to an integer
    double t = x * 0.636619772367581343 + magic;
    int64_t quadrant = rgBitsOf(t);
    double k = t - magic;
    double r = (x - k * 1.57079632673412561417e+00) - k * 6.07710050650619224932e-11;
    double z = r * r;
    int64_t sine = rgBitsOf(rgSinPolynomial(r, z)), cosine = rgBitsOf(rgCosPolynomial(z));
    int64_t odd = -(quadrant & 1);
    int64_t exchanged = (sine ^ cosine) & odd;
    uint64_t sineSign = (uint64_t)(quadrant & 2) << 62;
    uint64_t cosineSign = (uint64_t)((quadrant + 1) & 2) << 62;
    *s = rgDoubleOf(sine ^ exchanged ^ (int64_t)sineSign);
    *c = rgDoubleOf(cosine ^ exchanged ^ (int64_t)cosineSign);
}

void rgSinCos(int count, const double* restrict x, double* restrict s, double* restrict c) {
    for (int i = 0; i < count; ++i) {
        rgSinCosOne(x[i], &s[i], &c[i]);
    }
    for (int i = 0; i < count; ++i) {
        if (!(fabs(x[i]) <= rgLargestAngle)) {
            s[i] = sin(x[i]);
            c[i] = cos(x[i]);
        }
    }
}
