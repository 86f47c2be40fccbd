// Spatial vectors two numbers at a time, where they come from memory and go there.
#pragma once
#include "math/frame.h"
#include "math/two.h"

typedef struct rgSix {
    rgTwo a, b, c; // linear x y, linear z angular x, angular y z
} rgSix;

static inline rgSix rgLoadSix(const rgSpatial* p) {
    return (rgSix){rgLoadTwo(&p->linear.x), rgLoadTwo(&p->linear.z), rgLoadTwo(&p->angular.y)};
}

static inline void rgStoreSix(rgSpatial* p, rgSix s) {
    rgStoreTwo(&p->linear.x, s.a);
    rgStoreTwo(&p->linear.z, s.b);
    rgStoreTwo(&p->angular.y, s.c);
}

// Load numbers that were just computed one by one: a vector load of two that were stored apart
// would stall on the stores.
static inline rgSix rgSixOf(const rgSpatial* p) {
    return (rgSix){
        {p->linear.x, p->linear.y}, {p->linear.z, p->angular.x}, {p->angular.y, p->angular.z}};
}

static inline rgSix rgSix_Add(rgSix s, rgSix t) {
    return (rgSix){s.a + t.a, s.b + t.b, s.c + t.c};
}

// Dot product of rgSpatialDot().
static inline double rgSix_Dot(rgSix s, rgSix t) {
    rgTwo sum = s.a * t.a + s.b * t.b + s.c * t.c;
    return sum[0] + sum[1];
}
