// Meshes with a border as sheets of a thickness: closed, so that they stop bodies on both sides.
#include "io/sheet.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

// Vertex and its position, to sort by.
typedef struct rgCornerKey {
    double p[3];
    int vertex;
} rgCornerKey;

// Edge of a triangle by its welded ends, the lower first; `turned` if the triangle goes from the
// higher to the lower.
typedef struct rgSheetEdge {
    int low, high;
    bool turned;
} rgSheetEdge;

static int rgCompareCorners(const void* a, const void* b) {
    const rgCornerKey *x = a, *y = b;
    for (int k = 0; k < 3; ++k) {
        if (x->p[k] != y->p[k]) {
            return x->p[k] < y->p[k] ? -1 : 1;
        }
    }
    return x->vertex - y->vertex;
}

static int rgCompareEdges(const void* a, const void* b) {
    const rgSheetEdge *x = a, *y = b;
    int first = x->low - y->low;
    return first != 0 ? first : x->high - y->high;
}

static rgVec3 rgVertexOf(const rgMeshData* mesh, int i) {
    const double* p = mesh->vertices + 3 * (size_t)i;
    return rgVec(p[0], p[1], p[2]);
}

// First vertex at the same place, per vertex.
static int* rgWeld(rgArena* arena, const rgMeshData* mesh) {
    int* weld = RG_TAKE(arena, int, mesh->vertexCount);
    rgCornerKey* keys = RG_TAKE(arena, rgCornerKey, mesh->vertexCount);
    if (weld == NULL || keys == NULL) {
        return NULL;
    }
    for (int i = 0; i < mesh->vertexCount; ++i) {
        const double* p = mesh->vertices + 3 * (size_t)i;
        keys[i] = (rgCornerKey){{p[0] + 0.0, p[1] + 0.0, p[2] + 0.0}, i}; // -0 is 0
    }
    qsort(keys, (size_t)mesh->vertexCount, sizeof(*keys), rgCompareCorners);
    for (int i = 0; i < mesh->vertexCount; ++i) {
        bool same = i > 0 && memcmp(keys[i].p, keys[i - 1].p, sizeof(keys[i].p)) == 0;
        weld[keys[i].vertex] = same ? weld[keys[i - 1].vertex] : keys[i].vertex;
    }
    return weld;
}

// Edges of one triangle alone, at the front of the returned array.
static rgSheetEdge* rgFindBorder(rgArena* arena, const rgMeshData* mesh, const int* weld,
                                 int* count) {
    int edgeCount = 3 * mesh->triangleCount;
    rgSheetEdge* edges = RG_TAKE(arena, rgSheetEdge, edgeCount);
    *count = 0;
    for (int e = 0; edges != NULL && e < edgeCount; ++e) {
        int a = weld[mesh->triangles[e]], b = weld[mesh->triangles[e % 3 == 2 ? e - 2 : e + 1]];
        edges[e] = (rgSheetEdge){RG_MIN(a, b), RG_MAX(a, b), a > b};
    }
    if (edges == NULL) {
        return NULL;
    }
    qsort(edges, (size_t)edgeCount, sizeof(*edges), rgCompareEdges);
    for (int i = 0, next = 0; i < edgeCount; i = next) {
        for (next = i + 1; next < edgeCount && rgCompareEdges(&edges[i], &edges[next]) == 0;) {
            ++next;
        }
        if (next == i + 1) {
            edges[(*count)++] = edges[i];
        }
    }
    return edges;
}

// Sums of the normals of the triangles around each welded vertex, weighted by their angles there.
static rgVec3* rgVertexNormals(rgArena* arena, const rgMeshData* mesh, const int* weld) {
    rgVec3* normals = RG_TAKE(arena, rgVec3, mesh->vertexCount);
    if (normals == NULL) {
        return NULL;
    }
    memset(normals, 0, (size_t)mesh->vertexCount * sizeof(*normals));
    for (int t = 0; t < mesh->triangleCount; ++t) {
        const int* c = mesh->triangles + 3 * (size_t)t;
        rgVec3 p[3] = {rgVertexOf(mesh, c[0]), rgVertexOf(mesh, c[1]), rgVertexOf(mesh, c[2])};
        rgVec3 n = rgCross(rgSub(p[1], p[0]), rgSub(p[2], p[0]));
        double area = rgLength(n);
        for (int k = 0; k < 3 && area > 0; ++k) {
            rgVec3 u = rgSub(p[(k + 1) % 3], p[k]), v = rgSub(p[(k + 2) % 3], p[k]);
            double angle = atan2(rgLength(rgCross(u, v)), rgDot(u, v));
            normals[weld[c[k]]] = rgAddScaled(normals[weld[c[k]]], angle / area, n);
        }
    }
    return normals;
}

// Half the thickness to both sides, along the normals of vertices.
static void rgOffsetVertices(const rgMeshData* mesh, const int* weld, const rgVec3* normals,
                             double thickness, double* vertices) {
    for (int i = 0; i < mesh->vertexCount; ++i) {
        rgVec3 p = rgVertexOf(mesh, i), n = normals[weld[i]];
        double length = rgLength(n);
        rgVec3 step = length > 0 ? rgScale(0.5 * thickness / length, n) : rgVec(0, 0, 0);
        for (int side = 0; side < 2; ++side) {
            rgVec3 q = rgAddScaled(p, side == 0 ? 1 : -1, step);
            double* out = vertices + 3 * ((size_t)side * (size_t)mesh->vertexCount + (size_t)i);
            out[0] = q.x, out[1] = q.y, out[2] = q.z;
        }
    }
}

static int* rgAddSheetTriangle(int* at, int a, int b, int c) {
    at[0] = a, at[1] = b, at[2] = c;
    return at + 3;
}

rgResult rgMakeSheet(rgArena* arena, double thickness, rgMeshData* mesh) {
    int borderCount = 0, n = mesh->vertexCount;
    int* weld = rgWeld(arena, mesh);
    rgSheetEdge* border = weld != NULL ? rgFindBorder(arena, mesh, weld, &borderCount) : NULL;
    if (border == NULL) {
        return rg_errorMemory;
    }
    int64_t count = 2 * ((int64_t)mesh->triangleCount + borderCount);
    if (borderCount == 0 || count > INT_MAX / 3 || n > INT_MAX / 2) {
        return rg_ok;
    }
    rgVec3* normals = rgVertexNormals(arena, mesh, weld);
    double* vertices = RG_TAKE(arena, double, 6 * (size_t)n);
    int* triangles = RG_TAKE(arena, int, 3 * (size_t)count);
    if (normals == NULL || vertices == NULL || triangles == NULL) {
        return rg_errorMemory;
    }
    rgOffsetVertices(mesh, weld, normals, thickness, vertices);
    int* at = triangles;
    for (int t = 0; t < mesh->triangleCount; ++t) {
        const int* c = mesh->triangles + 3 * (size_t)t;
        at = rgAddSheetTriangle(at, c[0], c[1], c[2]);
        at = rgAddSheetTriangle(at, n + c[0], n + c[2], n + c[1]);
    }
    for (int e = 0; e < borderCount; ++e) {
        int a = border[e].turned ? border[e].high : border[e].low;
        int b = border[e].turned ? border[e].low : border[e].high;
        at = rgAddSheetTriangle(at, a, n + a, n + b);
        at = rgAddSheetTriangle(at, a, n + b, b);
    }
    *mesh = (rgMeshData){2 * n, vertices, (int)count, triangles};
    return rg_ok;
}
