// Distance of two convex sets known by their supports only: Wolfe's algorithm for the point of
// least norm, which shares no code with the library, and certifies its answer from both sides.
#pragma once
#include "rigor/math.h"

// Farthest point of the set along a direction.
typedef rgVec3 rgFarthestFcn(const void* set, rgVec3 direction);

typedef struct rgNearest {
    double distance; // 0: they meet
    double lower;    // the gap of the slab across the normal: no less than this
    rgVec3 normal;   // from A to B, where the distance is positive
} rgNearest;
rgNearest rgFindNearest(rgFarthestFcn* a, const void* setA, rgFarthestFcn* b, const void* setB);

// Winding number of closed triangles around a point by their solid angles; 1 inside.
double rgWindingNumber(int triangleCount, const int* triangles, const double* vertices, rgVec3 p);
