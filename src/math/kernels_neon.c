// Dense kernels with NEON, which every 64-bit ARM has: four lanes in two registers, so that a tile
// takes 24 of the 32 registers.
#include "math/kernels_large.h"
#include "math/kernels_plain.h"
#include "math/kernels_wide.h"

#include <arm_neon.h>

#define RG_LANES 4

// Those of AVX2; not measured on this architecture.
#define RG_WIDE_PRODUCT_LIMIT  1e7
#define RG_WIDE_CHOLESKY_LIMIT 480
#define RG_WIDE_LU_LIMIT       400

typedef struct rgWide {
    float64x2_t low, high;
} rgWide;

typedef struct rgMask { // all bits of a lane set or none
    uint64x2_t low, high;
} rgMask;

// Loading at offset 4 - count gives count set lanes, then clear ones; at 8 - lane, lanes from lane.
static const uint64_t rg_maskTable[12] = {UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX,
                                          0,          0,          0,          0,
                                          UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX};

static inline rgMask rgMaskAt(int offset) {
    return (rgMask){vld1q_u64(rg_maskTable + offset), vld1q_u64(rg_maskTable + offset + 2)};
}
static inline rgMask rgMaskFirst(int count) {
    return rgMaskAt(4 - count);
}
static inline rgMask rgMaskFrom(int lane) {
    return rgMaskAt(8 - lane);
}
static inline rgMask rgMaskAnd(rgMask a, rgMask b) {
    return (rgMask){vandq_u64(a.low, b.low), vandq_u64(a.high, b.high)};
}
static inline rgMask rgMaskIf(bool all) {
    return rgMaskAt(all ? 0 : 4);
}
static inline rgMask rgMaskWithout(rgMask a, int lane) {
    const uint64_t lanes[4] = {lane == 0 ? UINT64_MAX : 0, lane == 1 ? UINT64_MAX : 0,
                               lane == 2 ? UINT64_MAX : 0, lane == 3 ? UINT64_MAX : 0};
    return (rgMask){vbicq_u64(a.low, vld1q_u64(lanes)), vbicq_u64(a.high, vld1q_u64(lanes + 2))};
}
static inline rgWide rgFill(double x) {
    return (rgWide){vdupq_n_f64(x), vdupq_n_f64(x)};
}
static inline rgWide rgZero(void) {
    return rgFill(0);
}
static inline rgWide rgLoad(const double* p) {
    return (rgWide){vld1q_f64(p), vld1q_f64(p + 2)};
}
// One lane at a time: memory behind the others is not read.
static inline rgWide rgLoadMasked(rgMask mask, const double* p) {
    double x[4] = {0};
    x[0] = vgetq_lane_u64(mask.low, 0) != 0 ? p[0] : 0;
    x[1] = vgetq_lane_u64(mask.low, 1) != 0 ? p[1] : 0;
    x[2] = vgetq_lane_u64(mask.high, 0) != 0 ? p[2] : 0;
    x[3] = vgetq_lane_u64(mask.high, 1) != 0 ? p[3] : 0;
    return rgLoad(x);
}
static inline void rgStore(double* p, rgWide x) {
    vst1q_f64(p, x.low);
    vst1q_f64(p + 2, x.high);
}
static inline void rgStoreMasked(rgMask mask, double* p, rgWide x) {
    if (vgetq_lane_u64(mask.low, 0) != 0) {
        p[0] = vgetq_lane_f64(x.low, 0);
    }
    if (vgetq_lane_u64(mask.low, 1) != 0) {
        p[1] = vgetq_lane_f64(x.low, 1);
    }
    if (vgetq_lane_u64(mask.high, 0) != 0) {
        p[2] = vgetq_lane_f64(x.high, 0);
    }
    if (vgetq_lane_u64(mask.high, 1) != 0) {
        p[3] = vgetq_lane_f64(x.high, 1);
    }
}
static inline rgWide rgPlus(rgWide a, rgWide b) {
    return (rgWide){vaddq_f64(a.low, b.low), vaddq_f64(a.high, b.high)};
}
static inline rgWide rgTimes(rgWide a, rgWide b) {
    return (rgWide){vmulq_f64(a.low, b.low), vmulq_f64(a.high, b.high)};
}
static inline rgWide rgOver(rgWide a, rgWide b) {
    return (rgWide){vdivq_f64(a.low, b.low), vdivq_f64(a.high, b.high)};
}
static inline rgWide rgRoot(rgWide a) {
    return (rgWide){vsqrtq_f64(a.low), vsqrtq_f64(a.high)};
}
static inline rgWide rgPlusProduct(rgWide c, rgWide a, rgWide b) {
    return (rgWide){vfmaq_f64(c.low, a.low, b.low), vfmaq_f64(c.high, a.high, b.high)};
}
static inline rgWide rgMinusProduct(rgWide c, rgWide a, rgWide b) {
    return (rgWide){vfmsq_f64(c.low, a.low, b.low), vfmsq_f64(c.high, a.high, b.high)};
}
static inline rgWide rgSize(rgWide a) {
    return (rgWide){vabsq_f64(a.low), vabsq_f64(a.high)};
}
// Size a (not negative) with the sign of b.
static inline rgWide rgWithSign(rgWide a, rgWide b) {
    uint64x2_t sign = vdupq_n_u64(UINT64_C(1) << 63);
    return (rgWide){vbslq_f64(sign, b.low, a.low), vbslq_f64(sign, b.high, a.high)};
}
// b where a is not larger, as on x86: NaN in a gives b.
static inline rgWide rgLarger(rgWide a, rgWide b) {
    return (rgWide){vbslq_f64(vcgtq_f64(a.low, b.low), a.low, b.low),
                    vbslq_f64(vcgtq_f64(a.high, b.high), a.high, b.high)};
}
// b where the mask is set, else a.
static inline rgWide rgSelect(rgMask mask, rgWide a, rgWide b) {
    return (rgWide){vbslq_f64(mask.low, b.low, a.low), vbslq_f64(mask.high, b.high, a.high)};
}
static inline rgWide rgKeep(rgMask mask, rgWide a) {
    return rgSelect(mask, rgZero(), a);
}
// All lanes get the given one.
static inline rgWide rgLane(rgWide a, int lane) {
    double x[4];
    rgStore(x, a);
    return rgFill(x[lane]);
}
static inline double rgFirst(rgWide a) {
    return vgetq_lane_f64(a.low, 0);
}
static inline rgWide rgLargestLane(rgWide a) {
    rgWide crossed = {a.high, a.low};
    a = rgLarger(a, crossed);
    return rgLarger(a, (rgWide){vextq_f64(a.low, a.low, 1), vextq_f64(a.high, a.high, 1)});
}
// Bits of the lanes where a == b.
static inline unsigned rgEqualLanes(rgWide a, rgWide b) {
    uint64x2_t low = vceqq_f64(a.low, b.low), high = vceqq_f64(a.high, b.high);
    return (unsigned)((vgetq_lane_u64(low, 0) & 1) | (vgetq_lane_u64(low, 1) & 2) |
                      (vgetq_lane_u64(high, 0) & 4) | (vgetq_lane_u64(high, 1) & 8));
}
static inline double rgSum(rgWide a) {
    return vaddvq_f64(vaddq_f64(a.low, a.high));
}

#include "math/wide_product.h"

#include "math/wide_factor.h"

#include "math/wide_solve.h"

// The few short rows of wide_rows.h, two lanes at a time.
static void rgAddRow(int width, double factor, const double* row, double* out) {
    float64x2_t scale = vdupq_n_f64(factor);
    int j = 0;
    for (; j + 2 <= width; j += 2) {
        vst1q_f64(out + j, vfmaq_f64(vld1q_f64(out + j), scale, vld1q_f64(row + j)));
    }
    if (j < width) {
        out[j] += factor * row[j];
    }
}

static void rgWideCombineRows(int m, int width, const double* factors, const double* rows,
                              double* out) {
    for (int r = 0; r < m; ++r) {
        rgAddRow(width, factors[r], rows + r * width, out);
    }
}

static void rgWideTransformRows(int m, int width, const double* C, const double* rows,
                                double* out) {
    for (int r = 0; r < m; ++r) {
        for (int j = 0; j < width; ++j) {
            out[r * width + j] = 0;
        }
        rgWideCombineRows(m, width, C + r * m, rows, out + r * width);
    }
}

static void rgWideDotRows(int m, int width, const double* rows, const double* x, double* out) {
    for (int r = 0; r < m; ++r) {
        const double* row = rows + r * width;
        float64x2_t sum = vdupq_n_f64(0);
        int j = 0;
        for (; j + 2 <= width; j += 2) {
            sum = vfmaq_f64(sum, vld1q_f64(row + j), vld1q_f64(x + j));
        }
        out[r] += vaddvq_f64(sum) + (j < width ? row[j] * x[j] : 0);
    }
}

const rgKernels rg_neonKernels = {
    .set = rg_kernelsNeon,
    .name = "neon",
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
