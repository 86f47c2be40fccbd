// Products of 3 x 3 matrices.
#pragma once
#include "rigor/math.h"

static inline rgMat3 rgMat3_Identity(void) {
    return (rgMat3){{1, 0, 0, 0, 1, 0, 0, 0, 1}};
}

static inline rgMat3 rgMat3_Scaled(double s, const rgMat3* a) {
    rgMat3 b;
    for (int k = 0; k < 9; ++k) {
        b.m[k] = s * a->m[k];
    }
    return b;
}

static inline rgMat3 rgMat3_TransposedOf(const rgMat3* a) {
    const double* m = a->m;
    return (rgMat3){{m[0], m[3], m[6], m[1], m[4], m[7], m[2], m[5], m[8]}};
}

static inline rgMat3 rgMat3_Product(const rgMat3* a, const rgMat3* b) {
    rgMat3 c;
    for (int i = 0; i < 3; ++i) {
        for (int j = 0; j < 3; ++j) {
            const double* row = a->m + 3 * i;
            c.m[3 * i + j] = row[0] * b->m[j] + row[1] * b->m[3 + j] + row[2] * b->m[6 + j];
        }
    }
    return c;
}

static inline void rgMat3_AddScaled(rgMat3* sum, double s, const rgMat3* a) {
    for (int k = 0; k < 9; ++k) {
        sum->m[k] += s * a->m[k];
    }
}

// [v]: [v] x = v x x
static inline rgMat3 rgSkew(rgVec3 v) {
    return (rgMat3){{0, -v.z, v.y, v.z, 0, -v.x, -v.y, v.x, 0}};
}

// a b'
static inline rgMat3 rgOuterProduct(rgVec3 a, rgVec3 b) {
    return (rgMat3){{a.x * b.x, a.x * b.y, a.x * b.z, a.y * b.x, a.y * b.y, a.y * b.z, a.z * b.x,
                     a.z * b.y, a.z * b.z}};
}
