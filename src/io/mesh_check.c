// Is a mesh closed, is it convex: walks over the edges that triangles share.
#include "io/mesh.h"
#include "rigor/math.h"

#include <stdlib.h>
#include <string.h>

// A directed edge of a triangle. Sorted by (low, high), the two uses of an edge are neighbours.
typedef struct rgMeshEdge {
    int low, high;
    int triangle;
    bool forward; // the triangle runs from low to high
} rgMeshEdge;

static int rgCompareEdges(const void* a, const void* b) {
    const rgMeshEdge* x = a;
    const rgMeshEdge* y = b;
    if (x->low != y->low) {
        return x->low < y->low ? -1 : 1;
    }
    if (x->high != y->high) {
        return x->high < y->high ? -1 : 1;
    }
    return (int)x->forward - (int)y->forward;
}

static rgMeshEdge* rgMesh_SortedEdges(const rgMesh* mesh) {
    rgMeshEdge* edges =
        rgAllocate(&mesh->allocator, 3 * (size_t)mesh->triangleCount, sizeof(rgMeshEdge));
    if (edges == NULL) {
        return NULL;
    }
    for (int t = 0; t < mesh->triangleCount; ++t) {
        const int* corner = mesh->triangles + 3 * (size_t)t;
        for (int i = 0; i < 3; ++i) {
            int from = corner[i], to = corner[(i + 1) % 3];
            edges[3 * (size_t)t + (size_t)i] = (rgMeshEdge){.low = RG_MIN(from, to),
                                                            .high = RG_MAX(from, to),
                                                            .triangle = t,
                                                            .forward = from < to};
        }
    }
    qsort(edges, 3 * (size_t)mesh->triangleCount, sizeof(rgMeshEdge), rgCompareEdges);
    return edges;
}

static bool rgSameEdge(const rgMeshEdge* a, const rgMeshEdge* b) {
    return a->low == b->low && a->high == b->high;
}

// Every edge exactly twice, once in each direction.
static bool rgEdgesAreClosed(const rgMeshEdge* edges, size_t count) {
    for (size_t i = 0; i < count; i += 2) {
        bool paired = i + 1 < count && rgSameEdge(&edges[i], &edges[i + 1]) &&
                      edges[i].forward != edges[i + 1].forward;
        bool third = i + 2 < count && rgSameEdge(&edges[i], &edges[i + 2]);
        if (!paired || third) {
            return false;
        }
    }
    return count > 0;
}

static rgVec3 rgMesh_Vertex(const rgMesh* mesh, int vertex) {
    const double* x = mesh->vertices + 3 * (size_t)vertex;
    return rgVec(x[0], x[1], x[2]);
}

// Unit normal of a triangle; zero when it has no area.
static rgVec3 rgMesh_Normal(const rgMesh* mesh, int triangle) {
    const int* corner = mesh->triangles + 3 * (size_t)triangle;
    rgVec3 p = rgMesh_Vertex(mesh, corner[0]);
    rgVec3 normal =
        rgCross(rgSub(rgMesh_Vertex(mesh, corner[1]), p), rgSub(rgMesh_Vertex(mesh, corner[2]), p));
    double length = rgLength(normal);
    return length > 0 ? rgScale(1 / length, normal) : rgVec(0, 0, 0);
}

// Height of a vertex above the plane of a triangle.
static double rgMesh_Height(const rgMesh* mesh, int triangle, rgVec3 normal, int vertex) {
    rgVec3 p = rgMesh_Vertex(mesh, mesh->triangles[3 * (size_t)triangle]);
    return rgDot(normal, rgSub(rgMesh_Vertex(mesh, vertex), p));
}

// Height of the corner of triangle b that is not on the edge, over the plane of triangle a.
static double rgMesh_ConcavityDepth(const rgMesh* mesh, const rgMeshEdge* a, const rgMeshEdge* b) {
    const int* corner = mesh->triangles + 3 * (size_t)b->triangle;
    int apex = corner[0] + corner[1] + corner[2] - b->low - b->high;
    return rgMesh_Height(mesh, a->triangle, rgMesh_Normal(mesh, a->triangle), apex);
}

// A cheap test that most meshes which are not convex fail: all vertices against a few planes.
static bool rgMesh_MayBeConvex(const rgMesh* mesh, double tolerance) {
    int step = RG_MAX(mesh->triangleCount / 16, 1);
    for (int t = 0; t < mesh->triangleCount; t += step) {
        rgVec3 normal = rgMesh_Normal(mesh, t);
        for (int i = 0; i < mesh->vertexCount; ++i) {
            if (rgMesh_Height(mesh, t, normal, i) > tolerance) {
                return false;
            }
        }
    }
    return true;
}

static int rgFindRoot(int* parent, int i) {
    while (parent[i] != i) {
        parent[i] = parent[parent[i]];
        i = parent[i];
    }
    return i;
}

// One connected surface: union of triangles over shared edges. Negative: out of memory.
static int rgMesh_ComponentCount(const rgMesh* mesh, const rgMeshEdge* edges) {
    int* parent = rgAllocate(&mesh->allocator, (size_t)mesh->triangleCount, sizeof(int));
    if (parent == NULL) {
        return -1;
    }
    for (int t = 0; t < mesh->triangleCount; ++t) {
        parent[t] = t;
    }
    int count = mesh->triangleCount;
    for (size_t i = 0; i + 1 < 3 * (size_t)mesh->triangleCount; i += 2) {
        int a = rgFindRoot(parent, edges[i].triangle);
        int b = rgFindRoot(parent, edges[i + 1].triangle);
        count -= a != b;
        parent[a] = b;
    }
    rgRelease(&mesh->allocator, parent);
    return count;
}

static bool rgMesh_EdgesAreConvex(const rgMesh* mesh, const rgMeshEdge* edges, double tolerance) {
    for (size_t i = 0; i < 3 * (size_t)mesh->triangleCount; i += 2) {
        if (rgMesh_ConcavityDepth(mesh, &edges[i], &edges[i + 1]) > tolerance) {
            return false;
        }
    }
    return true;
}

rgResult rgMesh_IsClosed(const rgMesh* mesh, bool* closed) {
    if (mesh == NULL || closed == NULL) {
        return rg_errorArgument;
    }
    rgMeshEdge* edges = rgMesh_SortedEdges(mesh);
    if (edges == NULL) {
        return rg_errorMemory;
    }
    *closed = rgEdgesAreClosed(edges, 3 * (size_t)mesh->triangleCount);
    rgRelease(&mesh->allocator, edges);
    return rg_ok;
}

rgResult rgMesh_IsConvex(const rgMesh* mesh, double tolerance, bool* convex) {
    if (mesh == NULL || convex == NULL) {
        return rg_errorArgument;
    }
    *convex = false;
    if (!rgMesh_MayBeConvex(mesh, tolerance)) {
        return rg_ok;
    }
    rgMeshEdge* edges = rgMesh_SortedEdges(mesh);
    if (edges == NULL) {
        return rg_errorMemory;
    }
    bool closed = rgEdgesAreClosed(edges, 3 * (size_t)mesh->triangleCount);
    int componentCount = closed ? rgMesh_ComponentCount(mesh, edges) : 0;
    *convex = componentCount == 1 && rgMesh_EdgesAreConvex(mesh, edges, tolerance);
    rgRelease(&mesh->allocator, edges);
    return componentCount < 0 ? rg_errorMemory : rg_ok;
}
