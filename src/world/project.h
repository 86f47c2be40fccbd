// Projection of positions onto rigid loops, contacts and limits: rows and workspace.
#pragma once
#include "world/world.h"

// A half line of the projection: a normal or a limit of the step.
typedef struct rgHalfLine {
    int row;        // of the step
    double room;    // distance that it may still close [m] or [rad]; negative: it has to open
    double end;     // gap where the next step is computed, before the projection
    double impulse; // of the last iteration
} rgHalfLine;

struct rgProjection {
    rgContactSolver* solver; // to its own tolerance
    rgRows rows;             // rigid loops at q+, then half lines
    int loopRowCount;
    bool closesOpen; // open loops that are near are among the rows
    bool leavesOpen; // none are: they had their step, or would pass through something
    rgHalfLine* halfLines;
    int halfLineCount, halfLineCapacity;
    double* whitened; // W of the rows
    int whitenedCapacity;
    double* dense; // G of the loops, then columns of W
    int denseCapacity;
    double* diagonal; // of G, per row
    int diagonalCapacity;
    int* column;   // vCount: number of a column of W in the dense form
    double* x;     // vCount: motion, step coordinates
    double* work;  // vCount
    double* moved; // vCount: motion of the whole projection
};
