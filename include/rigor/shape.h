// Geometry of one shape, as models describe it and collision detection reads it.
#pragma once
#include "rigor/math.h"

typedef enum rgShapeKind {
    rg_shapeNone,
    rg_shapePlane,       ///< half space below z = 0 of the shape frame; normal +z
    rg_shapeSphere,      ///< size.x = radius
    rg_shapeCapsule,     ///< size.x = radius, size.y = half length of the segment along z
    rg_shapeCylinder,    ///< size.x = radius, size.y = half length along z
    rg_shapeBox,         ///< size = half extents
    rg_shapeEllipsoid,   ///< size = half axes
    rg_shapeHull,        ///< convex hull of a mesh's vertices
    rg_shapeHeightField, ///< grid of heights over x, y
    rg_shapeMesh,        ///< triangles; static bodies only
} rgShapeKind;

/// Triangles or just points. Borrowed where a def uses it, copied into objects made from the def.
typedef struct rgMeshData {
    int vertexCount;
    const double* vertices; ///< 3 per vertex [m]
    int triangleCount;      ///< 0: points only
    const int* triangles;   ///< 3 vertex numbers per triangle, counter-clockwise from outside
} rgMeshData;

/// Heights over a regular grid, row by row along y; the frame's origin is in the middle.
typedef struct rgHeightFieldData {
    int columnCount;       ///< samples along x, at least 2
    int rowCount;          ///< samples along y, at least 2
    double sizeX;          ///< half extent [m]
    double sizeY;          ///< half extent [m]
    double depth;          ///< solid below the lowest sample [m]
    const double* heights; ///< columnCount * rowCount [m]
} rgHeightFieldData;
