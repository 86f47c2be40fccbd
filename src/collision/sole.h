// Vertices of a hull that are near a plane: all, or a selection of many.
#pragma once
#include "collision/internal.h"

#define RG_SOLE_LIMIT 256
#define RG_SOLE_FEW   16

// Column by column, as seen along the plane's normal.
typedef struct rgSole {
    int count;    // at most RG_SOLE_FEW
    bool thinned; // there were more
    double x[RG_SOLE_LIMIT], y[RG_SOLE_LIMIT], gap[RG_SOLE_LIMIT];
    int32_t vertices[RG_SOLE_LIMIT];
} rgSole;

// In the hull's frame: d . x + offset is the height of x.
typedef struct rgSolePlane {
    rgVec3 d, t1, t2; // normal and tangents
    double offset, margin;
    double x, y, least; // lowest vertex: along the tangents, and its height
} rgSolePlane;

// Select vertices within the margin if there are more than RG_SOLE_FEW: the lowest, and to each of
// eight sides the one that is farthest out, where being higher by all of the margin counts as half
// the size of the sole: that on which the hull would stand if it were tilted by that slope. A
// corner of any rectangle is met from one side at least.
void rgFindSole(const rgHull* hull, const rgSolePlane* plane, rgSole* sole);

void rgFindSoleAvx2(const rgHull* hull, const rgSolePlane* plane, rgSole* sole);
