// Polygons of mesh files into triangles.
#pragma once
#include "base/base.h"

// Above this many corners a polygon that is not convex becomes a fan: clipping takes n^2 steps.
#define RG_POLYGON_MAX_CLIPPED 1000

// Cut a nearly plane polygon into count - 2 triangles: a fan when it is convex, ears otherwise.
// Corners index vertices (3 numbers each) and are used up. Room for 3 (count - 2) numbers.
void rgTriangulatePolygon(const double* vertices, int* corners, int count, int* triangles);
