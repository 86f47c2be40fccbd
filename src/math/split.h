// Vectors as two numbers and one, for operators that are applied to many of them.
#pragma once
#include "math/frame.h"
#include "math/two.h"

typedef struct rgSplit {
    rgTwo xy;
    double z;
} rgSplit;

static inline rgSplit rgSplitOf(rgVec3 v) {
    return (rgSplit){{v.x, v.y}, v.z};
}
static inline rgSplit rgSplit_Add(rgSplit a, rgSplit b) {
    return (rgSplit){a.xy + b.xy, a.z + b.z};
}
static inline rgSplit rgSplit_Abs(rgSplit a) {
    return (rgSplit){(rgTwo)((rgTwoInts)a.xy & INT64_MAX), fabs(a.z)};
}
// The sum of c[k] times the components of v: as rgRot_Apply() for the columns of a rotation.
static inline rgSplit rgSplit_Combine(const rgSplit c[3], rgVec3 v) {
    return (rgSplit){c[0].xy * v.x + c[1].xy * v.y + c[2].xy * v.z,
                     c[0].z * v.x + c[1].z * v.y + c[2].z * v.z};
}

// R S R' for the columns of R.
static inline rgSym3 rgSplit_Congruence(const rgSplit r[3], const rgSym3* s) {
    // Columns of R S, then the six dot products with the rows of R.
    rgSplit a = rgSplit_Combine(r, rgVec(s->xx, s->xy, s->xz));
    rgSplit b = rgSplit_Combine(r, rgVec(s->xy, s->yy, s->yz));
    rgSplit c = rgSplit_Combine(r, rgVec(s->xz, s->yz, s->zz));
    rgTwo square = a.xy * r[0].xy + b.xy * r[1].xy + c.xy * r[2].xy;
    rgTwo z = a.xy * r[0].z + b.xy * r[1].z + c.xy * r[2].z;
    return (rgSym3){.xx = square[0],
                    .yy = square[1],
                    .zz = a.z * r[0].z + b.z * r[1].z + c.z * r[2].z,
                    .xy = a.xy[0] * r[0].xy[1] + b.xy[0] * r[1].xy[1] + c.xy[0] * r[2].xy[1],
                    .xz = z[0],
                    .yz = z[1]};
}
