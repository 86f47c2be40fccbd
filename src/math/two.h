// Two numbers at a time, on every machine: compilers turn each operation into one instruction.
#pragma once
#include "base/base.h"

#include <string.h>

#if defined(__CUDACC__)
#include "math/two_device.h"
#else
typedef double rgTwo __attribute__((vector_size(16)));
typedef int64_t rgTwoInts __attribute__((vector_size(16)));

static inline rgTwo rgChooseTwo(rgTwoInts which, rgTwo a, rgTwo b) {
    return (rgTwo)((which & (rgTwoInts)a) | (~which & (rgTwoInts)b));
}
#endif

static inline rgTwo rgLoadTwo(const double* p) {
    rgTwo v;
    memcpy(&v, p, sizeof(v));
    return v;
}

static inline void rgStoreTwo(double* p, rgTwo v) {
    memcpy(p, &v, sizeof(v));
}

static inline rgTwo rgBoth(double x) {
    return (rgTwo){x, x};
}

// y += s x
static inline void rgAddMultiple(int count, double s, const double* x, double* y) {
    int k = 0;
    for (; k + 2 <= count; k += 2) {
        rgStoreTwo(y + k, rgLoadTwo(y + k) + s * rgLoadTwo(x + k));
    }
    if (k < count) {
        y[k] += s * x[k];
    }
}

// True if entries of a sparse row, ascending, stand side by side, as those of most bodies do.
static inline bool rgColumnsAreClose(const int* column, int begin, int end) {
    return end > begin && column[end - 1] - column[begin] == end - begin - 1;
}

static inline bool rgAllOf(rgTwoInts which) {
    return (which[0] & which[1]) != 0;
}

static inline bool rgAnyOf(rgTwoInts which) {
    return (which[0] | which[1]) != 0;
}

// The largest of numbers that are offered in the order of their places, and the first place that
// has it: -1 while none is above the start.
typedef struct rgLargest {
    rgTwo most;
    rgTwoInts place;
} rgLargest;

static inline rgLargest rgAbove(double start) {
    return (rgLargest){rgBoth(start), {-1, -1}};
}

static inline void rgLargest_Update(rgLargest* l, rgTwo value, rgTwoInts place) {
    rgTwoInts larger = value > l->most;
    l->most = rgChooseTwo(larger, value, l->most);
    l->place = (larger & place) | (~larger & l->place);
}

static inline bool rgLargest_IsSecond(const rgLargest* l) {
    return l->most[1] > l->most[0] || (l->most[1] == l->most[0] && l->place[1] < l->place[0]);
}

static inline int rgLargest_Place(const rgLargest* l) {
    return (int)(rgLargest_IsSecond(l) ? l->place[1] : l->place[0]);
}

static inline double rgLargest_Value(const rgLargest* l) {
    return rgLargest_IsSecond(l) ? l->most[1] : l->most[0];
}
