// Dense kernels with AVX-512: eight lanes, and masks for the rest.
#include "math/kernels_large.h"
#include "math/kernels_plain.h"
#include "math/kernels_wide.h"

#include <immintrin.h>

#define RG_LANES 8

// Sizes from which LAPACK and BLAS are used; measured on Zen 4 with OpenBLAS 0.3.21, see
// docs/kernels.md.
#define RG_WIDE_PRODUCT_LIMIT  3e8
#define RG_WIDE_CHOLESKY_LIMIT 1000
#define RG_WIDE_LU_LIMIT       1000

typedef __m512d rgWide;
typedef __mmask8 rgMask;

static inline rgMask rgMaskFirst(int count) {
    return (rgMask)((1u << count) - 1u);
}
static inline rgMask rgMaskFrom(int lane) {
    return (rgMask)(0xffu << lane);
}
static inline rgMask rgMaskAnd(rgMask a, rgMask b) {
    return a & b;
}
static inline rgMask rgMaskWithout(rgMask a, int lane) {
    return (rgMask)(a & ~(1u << lane));
}
static inline rgMask rgMaskIf(bool all) {
    return all ? 0xff : 0;
}
static inline rgWide rgZero(void) {
    return _mm512_setzero_pd();
}
static inline rgWide rgFill(double x) {
    return _mm512_set1_pd(x);
}
static inline rgWide rgLoad(const double* p) {
    return _mm512_loadu_pd(p);
}
static inline rgWide rgLoadMasked(rgMask mask, const double* p) {
    return _mm512_maskz_loadu_pd(mask, p);
}
static inline void rgStore(double* p, rgWide x) {
    _mm512_storeu_pd(p, x);
}
static inline void rgStoreMasked(rgMask mask, double* p, rgWide x) {
    _mm512_mask_storeu_pd(p, mask, x);
}
static inline rgWide rgPlus(rgWide a, rgWide b) {
    return _mm512_add_pd(a, b);
}
static inline rgWide rgTimes(rgWide a, rgWide b) {
    return _mm512_mul_pd(a, b);
}
static inline rgWide rgOver(rgWide a, rgWide b) {
    return _mm512_div_pd(a, b);
}
static inline rgWide rgRoot(rgWide a) {
    return _mm512_sqrt_pd(a);
}
static inline rgWide rgPlusProduct(rgWide c, rgWide a, rgWide b) {
    return _mm512_fmadd_pd(a, b, c);
}
static inline rgWide rgMinusProduct(rgWide c, rgWide a, rgWide b) {
    return _mm512_fnmadd_pd(a, b, c);
}
static inline rgWide rgSize(rgWide a) {
    return _mm512_abs_pd(a);
}
// Size a (not negative) with the sign of b.
static inline rgWide rgWithSign(rgWide a, rgWide b) {
    return _mm512_or_pd(a, _mm512_and_pd(b, _mm512_set1_pd(-0.0)));
}
static inline rgWide rgLarger(rgWide a, rgWide b) {
    return _mm512_max_pd(a, b);
}
// b where the mask is set, else a.
static inline rgWide rgSelect(rgMask mask, rgWide a, rgWide b) {
    return _mm512_mask_blend_pd(mask, a, b);
}
static inline rgWide rgKeep(rgMask mask, rgWide a) {
    return _mm512_maskz_mov_pd(mask, a);
}
// All lanes get the given one.
static inline rgWide rgLane(rgWide a, int lane) {
    return _mm512_permutexvar_pd(_mm512_set1_epi64(lane), a);
}
static inline double rgFirst(rgWide a) {
    return _mm512_cvtsd_f64(a);
}
static inline rgWide rgLargestLane(rgWide a) {
    a = _mm512_max_pd(a, _mm512_shuffle_f64x2(a, a, 0x4e));
    a = _mm512_max_pd(a, _mm512_permutex_pd(a, 0x4e));
    return _mm512_max_pd(a, _mm512_permute_pd(a, 0x55));
}
// Bits of the lanes where a == b.
static inline unsigned rgEqualLanes(rgWide a, rgWide b) {
    return _mm512_cmp_pd_mask(a, b, _CMP_EQ_OQ);
}
static inline double rgSum(rgWide a) {
    __m256d half = _mm256_add_pd(_mm512_castpd512_pd256(a), _mm512_extractf64x4_pd(a, 1));
    __m128d pair = _mm_add_pd(_mm256_castpd256_pd128(half), _mm256_extractf128_pd(half, 1));
    return _mm_cvtsd_f64(_mm_add_sd(pair, _mm_unpackhi_pd(pair, pair)));
}

#include "math/wide_product.h"

#include "math/wide_factor.h"

#include "math/wide_solve.h"

#include "math/wide_rows.h"

const rgKernels rg_avx512Kernels = {
    .set = rg_kernelsAvx512,
    .name = "avx512",
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
