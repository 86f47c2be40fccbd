// Dense kernels with AVX2 and FMA: four lanes.
#include "math/kernels_large.h"
#include "math/kernels_plain.h"
#include "math/kernels_wide.h"

#include <immintrin.h>

#define RG_LANES 4

// Sizes from which LAPACK and BLAS are used; measured on Zen 4 with OpenBLAS 0.3.21, see
// docs/kernels.md.
#define RG_WIDE_PRODUCT_LIMIT  1e7
#define RG_WIDE_CHOLESKY_LIMIT 480
#define RG_WIDE_LU_LIMIT       400

typedef __m256d rgWide;
typedef __m256d rgMask; // all bits of a lane set or none

// Loading at offset 4 - count gives count set lanes, then clear ones; at 8 - lane, lanes from lane.
static const int64_t rg_maskTable[12] = {-1, -1, -1, -1, 0, 0, 0, 0, -1, -1, -1, -1};

static inline rgMask rgMaskAt(int offset) {
    return _mm256_castsi256_pd(_mm256_loadu_si256((const __m256i*)(rg_maskTable + offset)));
}
static inline rgMask rgMaskFirst(int count) {
    return rgMaskAt(4 - count);
}
static inline rgMask rgMaskFrom(int lane) {
    return rgMaskAt(8 - lane);
}
static inline rgMask rgMaskAnd(rgMask a, rgMask b) {
    return _mm256_and_pd(a, b);
}
static inline rgMask rgMaskIf(bool all) {
    return rgMaskAt(all ? 0 : 4);
}
static inline rgMask rgMaskWithout(rgMask a, int lane) {
    __m256i lanes = _mm256_set_epi64x(3, 2, 1, 0);
    __m256i one = _mm256_cmpeq_epi64(lanes, _mm256_set1_epi64x(lane));
    return _mm256_andnot_pd(_mm256_castsi256_pd(one), a);
}
static inline rgWide rgZero(void) {
    return _mm256_setzero_pd();
}
static inline rgWide rgFill(double x) {
    return _mm256_set1_pd(x);
}
static inline rgWide rgLoad(const double* p) {
    return _mm256_loadu_pd(p);
}
static inline rgWide rgLoadMasked(rgMask mask, const double* p) {
    return _mm256_maskload_pd(p, _mm256_castpd_si256(mask));
}
static inline void rgStore(double* p, rgWide x) {
    _mm256_storeu_pd(p, x);
}
static inline void rgStoreMasked(rgMask mask, double* p, rgWide x) {
    _mm256_maskstore_pd(p, _mm256_castpd_si256(mask), x);
}
static inline rgWide rgPlus(rgWide a, rgWide b) {
    return _mm256_add_pd(a, b);
}
static inline rgWide rgTimes(rgWide a, rgWide b) {
    return _mm256_mul_pd(a, b);
}
static inline rgWide rgOver(rgWide a, rgWide b) {
    return _mm256_div_pd(a, b);
}
static inline rgWide rgRoot(rgWide a) {
    return _mm256_sqrt_pd(a);
}
static inline rgWide rgPlusProduct(rgWide c, rgWide a, rgWide b) {
    return _mm256_fmadd_pd(a, b, c);
}
static inline rgWide rgMinusProduct(rgWide c, rgWide a, rgWide b) {
    return _mm256_fnmadd_pd(a, b, c);
}
static inline rgWide rgSize(rgWide a) {
    return _mm256_andnot_pd(_mm256_set1_pd(-0.0), a);
}
// Size a (not negative) with the sign of b.
static inline rgWide rgWithSign(rgWide a, rgWide b) {
    return _mm256_or_pd(a, _mm256_and_pd(b, _mm256_set1_pd(-0.0)));
}
static inline rgWide rgLarger(rgWide a, rgWide b) {
    return _mm256_max_pd(a, b);
}
// b where the mask is set, else a.
static inline rgWide rgSelect(rgMask mask, rgWide a, rgWide b) {
    return _mm256_blendv_pd(a, b, mask);
}
static inline rgWide rgKeep(rgMask mask, rgWide a) {
    return _mm256_and_pd(mask, a);
}
// All lanes get the given one.
static inline rgWide rgLane(rgWide a, int lane) {
    __m256i index =
        _mm256_add_epi32(_mm256_set1_epi32(2 * lane), _mm256_set_epi32(1, 0, 1, 0, 1, 0, 1, 0));
    return _mm256_castps_pd(_mm256_permutevar8x32_ps(_mm256_castpd_ps(a), index));
}
static inline double rgFirst(rgWide a) {
    return _mm256_cvtsd_f64(a);
}
static inline rgWide rgLargestLane(rgWide a) {
    a = _mm256_max_pd(a, _mm256_permute4x64_pd(a, 0x4e));
    return _mm256_max_pd(a, _mm256_permute_pd(a, 0x5));
}
// Bits of the lanes where a == b.
static inline unsigned rgEqualLanes(rgWide a, rgWide b) {
    return (unsigned)_mm256_movemask_pd(_mm256_cmp_pd(a, b, _CMP_EQ_OQ));
}
static inline double rgSum(rgWide a) {
    __m128d pair = _mm_add_pd(_mm256_castpd256_pd128(a), _mm256_extractf128_pd(a, 1));
    return _mm_cvtsd_f64(_mm_add_sd(pair, _mm_unpackhi_pd(pair, pair)));
}

#include "math/wide_product.h"

#include "math/wide_factor.h"

#include "math/wide_solve.h"

#include "math/wide_rows.h"

const rgKernels rg_avx2Kernels = {
    .set = rg_kernelsAvx2,
    .name = "avx2",
    .dot = rgWideDot,
    .axpy = rgWideAxpy,
    .multiply = rgWideMultiply,
    .multiplyTransposed = rgWideMultiplyTransposed,
    .subtractProduct = rgWideSubtractProduct,
    .negativeProduct = rgWideNegativeProduct,
    .negativeSelfProduct = rgWideNegativeSelfProduct,
    .addMatrix = rgWideAddMatrix,
    .addOuterProduct = rgWideAddOuterProduct,
    .subtractOuterProduct = rgWideSubtractOuterProduct,
    .addSelfProduct = rgWideAddSelfProduct,
    .subtractSelfProduct = rgWideSubtractSelfProduct,
    .cholesky = rgWideCholesky,
    .choleskyPanel = rgWideCholeskyPanel,
    .choleskySolve = rgWideCholeskySolve,
    .lowerSolve = rgWideLowerSolve,
    .lowerTransposedSolve = rgWideLowerTransposedSolve,
    .lu = rgWideLu,
    .luPanel = rgWideLuPanel,
    .luForward = rgWideLuForward,
    .upperSolve = rgWideUpperSolve,
    .luSolve = rgWideLuSolve,
    .combineRows = rgWideCombineRows,
    .transformRows = rgWideTransformRows,
    .dotRows = rgWideDotRows,
};
