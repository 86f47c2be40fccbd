// Code for a group of 32 lanes, written once: nvcc makes device code of it, where a warp is the
// group; gcc and clang make host code, where one thread plays all lanes, one after the other. Both
// give the same bits: sums have one fixed tree, nothing is contracted, and of libm only sqrt and
// fabs are used.
//
// Rules. What lanes share lies in arrays; every other variable has the same value on all lanes,
// unless it lives within one RG_EACH. An RG_EACH reads nothing that another index of it writes.
// RG_SYNC() stands between an RG_EACH that writes and whoever reads that at other indices.
#pragma once
#include <math.h>
#include <stdint.h>

#define RG_LANE_COUNT 32

#if defined(__CUDACC__)

// Before a loop: not unrolled. Warps are at different places of a long program, and waiting for
// instructions costs a device more than anything else.
#define RG_COMPACT    _Pragma("unroll 1")
#define RG_LANE_FN    static __device__
#define RG_LANE_CALL  static __device__ __noinline__
#define RG_BOTH_FN    static __host__ __device__
#define RG_THIS       ((int)(threadIdx.x & 31u))
#define RG_EACH(i, n) RG_COMPACT for (int i = RG_THIS; i < (n); i += RG_LANE_COUNT)
#define RG_ONE()      if (RG_THIS == 0)
#define RG_SYNC()     __syncwarp()

RG_LANE_FN inline double rgLane_SumAll(double part) {
    for (int step = RG_LANE_COUNT / 2; step > 0; step /= 2) {
        part += __shfl_xor_sync(0xffffffffu, part, step);
    }
    return part;
}

// Not a number wins.
RG_LANE_FN inline double rgLane_LargestOfAll(double part) {
    for (int step = RG_LANE_COUNT / 2; step > 0; step /= 2) {
        double other = __shfl_xor_sync(0xffffffffu, part, step);
        part = part > other || part != part ? part : other;
    }
    return part;
}

// out = sum of the term, an expression in i, over i from 0 to n - 1
#define RG_SUM(out, i, n, term)                                                                    \
    do {                                                                                           \
        double rgPart = 0;                                                                         \
        RG_EACH(i, n) {                                                                            \
            rgPart += (term);                                                                      \
        }                                                                                          \
        (out) = rgLane_SumAll(rgPart);                                                             \
    } while (0)

// out = largest of the term and of 0, or not a number where one of them is not
#define RG_LARGEST(out, i, n, term)                                                                \
    do {                                                                                           \
        double rgPart = 0;                                                                         \
        RG_EACH(i, n) {                                                                            \
            double rgTerm = (term);                                                                \
            rgPart = rgTerm <= rgPart || rgPart != rgPart ? rgPart : rgTerm;                       \
        }                                                                                          \
        (out) = rgLane_LargestOfAll(rgPart);                                                       \
    } while (0)

// Index from first to n - 1 of the largest |x[index * stride]|; of several, the lowest. Numbers
// without their sign have the order of their bits; what is not a number comes last.
RG_LANE_FN inline int rgLane_LargestAt(const double* x, int stride, int first, int n) {
    unsigned long long best = 0;
    int index = first;
    RG_COMPACT for (int i = first + RG_THIS; i < n; i += RG_LANE_COUNT) {
        double a = fabs(x[i * stride]);
        unsigned long long bits = a == a ? (unsigned long long)__double_as_longlong(a) + 1 : 0;
        if (bits > best) {
            best = bits;
            index = i;
        }
    }
    unsigned high = (unsigned)(best >> 32);
    unsigned most = __reduce_max_sync(0xffffffffu, high);
    unsigned low = high == most ? (unsigned)best : 0;
    unsigned least = __reduce_max_sync(0xffffffffu, low);
    unsigned mine = high == most && low == least && best > 0 ? (unsigned)index : 0x7fffffffu;
    unsigned at = __reduce_min_sync(0xffffffffu, mine);
    return at == 0x7fffffffu ? first : (int)at;
}

#else

#define RG_COMPACT
#define RG_LANE_FN   static
#define RG_LANE_CALL static
#define RG_BOTH_FN   static
// Lanes in reverse order find an RG_EACH that depends on the order: test/lanes.
#if defined(RG_LANES_REVERSED)
#define RG_EACH(i, n) for (int i = (n)-1; i >= 0; --i)
#else
#define RG_EACH(i, n) for (int i = 0; i < (n); ++i)
#endif
#define RG_ONE()
#define RG_SYNC() ((void)0)

RG_LANE_FN inline double rgLane_SumAll(double* part) {
    for (int step = RG_LANE_COUNT / 2; step > 0; step /= 2) {
        for (int i = 0; i < step; ++i) {
            part[i] += part[i + step];
        }
    }
    return part[0];
}

#define RG_SUM(out, i, n, term)                                                                    \
    do {                                                                                           \
        double rgPart[RG_LANE_COUNT] = {0};                                                        \
        for (int i = 0; i < (n); ++i) {                                                            \
            rgPart[i % RG_LANE_COUNT] += (term);                                                   \
        }                                                                                          \
        (out) = rgLane_SumAll(rgPart);                                                             \
    } while (0)

#define RG_LARGEST(out, i, n, term)                                                                \
    do {                                                                                           \
        double rgPart = 0;                                                                         \
        for (int i = 0; i < (n); ++i) {                                                            \
            double rgTerm = (term);                                                                \
            rgPart = rgTerm <= rgPart || rgPart != rgPart ? rgPart : rgTerm;                       \
        }                                                                                          \
        (out) = rgPart;                                                                            \
    } while (0)

RG_LANE_FN inline int rgLane_LargestAt(const double* x, int stride, int first, int n) {
    double best = -1;
    int index = first;
    for (int i = first; i < n; ++i) {
        double a = fabs(x[i * stride]);
        if (a > best) {
            best = a;
            index = i;
        }
    }
    return index;
}

#endif

// The power of two at or below x, for finite x > 0 that is not denormal.
RG_LANE_FN inline double rgLane_PowerBelow(double x) {
    union {
        double number;
        uint64_t bits;
    } u;
    u.number = x;
    u.bits &= 0x7ff0000000000000u;
    return u.number;
}
