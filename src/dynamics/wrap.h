// A thread that goes around a shape. docs/theory/tendons.md.
#pragma once
#include "rigor/shape.h"

#include <stdbool.h>

typedef struct rgWrap {
    bool touches;    // false: straight on
    rgVec3 from, to; // points at which it meets and leaves the shape
    double length;   // between them, along the surface
} rgWrap;

// Shortest path from one point to another past a sphere or cylinder (of any length, along z). Side:
// NULL, or a point on the side of the path; if that is within the shape, it goes through the shape
// instead.
rgWrap rgWrapAround(rgShapeKind kind, double radius, rgPose pose, rgVec3 from, rgVec3 to,
                    const rgVec3* side);
