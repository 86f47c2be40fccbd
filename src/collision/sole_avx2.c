// Search for the vertices near a plane with AVX2.
#include "collision/sole.h"

#include <immintrin.h>

typedef __m256d rgFour;

static inline rgFour rgFour_All(double x) {
    return _mm256_set1_pd(x);
}
static inline rgFour rgFour_Load(const double* p) {
    return _mm256_loadu_pd(p);
}
static inline void rgFour_Store(double* p, rgFour a) {
    _mm256_storeu_pd(p, a);
}
static inline rgFour rgFour_Add(rgFour a, rgFour b) {
    return _mm256_add_pd(a, b);
}
static inline rgFour rgFour_Subtract(rgFour a, rgFour b) {
    return _mm256_sub_pd(a, b);
}
static inline rgFour rgFour_Multiply(rgFour a, rgFour b) {
    return _mm256_mul_pd(a, b);
}
// a > b ? a : b
static inline rgFour rgFour_Larger(rgFour a, rgFour b) {
    return _mm256_max_pd(a, b);
}
// a > b ? c : d
static inline rgFour rgFour_Choose(rgFour a, rgFour b, rgFour c, rgFour d) {
    return _mm256_blendv_pd(d, c, _mm256_cmp_pd(a, b, _CMP_GT_OQ));
}
// Bits of those with a <= b.
static inline unsigned rgFour_NotAbove(rgFour a, rgFour b) {
    return (unsigned)_mm256_movemask_pd(_mm256_cmp_pd(a, b, _CMP_LE_OQ));
}

#include "collision/sole_scan.h"

void rgFindSoleAvx2(const rgHull* hull, const rgSolePlane* plane, rgSole* sole) {
    rgFindSoleWith(hull, plane, sole);
}
