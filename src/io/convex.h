// Convex hulls as triangles.
#pragma once
#include "base/base.h"
#include "rigor/shape.h"

// Triangles of the hull of the mesh's vertices, counter-clockwise from outside. The vertices are
// the mesh's own; the triangles belong to the arena. False: flat, or out of memory.
bool rgConvexTriangles(const rgMeshData* mesh, rgArena* arena, rgMeshData* hull);
