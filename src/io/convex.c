// Convex hulls as triangles, by Qhull.
#include "io/convex.h"
#include "base/system.h"

#include <libqhull_r/qhull_ra.h>
#include <stdlib.h>
#include <string.h>

// Triangles of the convex hull, in the order of Qhull; the corners are vertices of the mesh.
static int* rgReadFacets(qhT* qh, rgArena* arena, rgMeshData* hull) {
    facetT* facet;
    int count = 0;
    FORALLfacet_(qh->facet_list) {
        ++count;
    }
    int* corners = RG_TAKE(arena, int, 3 * (size_t)count);
    hull->triangles = corners;
    if (corners == NULL) {
        return NULL;
    }
    FORALLfacet_(qh->facet_list) {
        vertexT *vertex, **vertexp;
        int k = 0;
        FOREACHvertex_(facet->vertices) {
            if (k < 3) {
                corners[3 * hull->triangleCount + k++] = qh_pointid(qh, vertex->point);
            }
        }
        hull->triangleCount += k == 3;
    }
    return corners;
}

static rgVec3 rgHullVertex(const rgMeshData* mesh, int i) {
    const double* v = mesh->vertices + 3 * (size_t)i;
    return rgVec(v[0], v[1], v[2]);
}

// Turn the triangles that face a point inside.
static void rgFaceOutward(const rgMeshData* hull, int* corners) {
    rgVec3 inside = {0, 0, 0};
    for (int i = 0; i < 3 * hull->triangleCount; ++i) {
        inside =
            rgAddScaled(inside, 1.0 / (3 * hull->triangleCount), rgHullVertex(hull, corners[i]));
    }
    for (int i = 0; i < hull->triangleCount; ++i) {
        int* t = corners + 3 * i;
        rgVec3 a = rgHullVertex(hull, t[0]);
        rgVec3 ab = rgSub(rgHullVertex(hull, t[1]), a), ac = rgSub(rgHullVertex(hull, t[2]), a);
        if (rgDot(rgCross(ab, ac), rgSub(a, inside)) < 0) {
            int swap = t[1];
            t[1] = t[2];
            t[2] = swap;
        }
    }
}

bool rgConvexTriangles(const rgMeshData* mesh, rgArena* arena, rgMeshData* hull) {
    *hull = (rgMeshData){.vertexCount = mesh->vertexCount, .vertices = mesh->vertices};
    double* points = RG_TAKE(arena, double, 3 * (size_t)mesh->vertexCount);
    char* text = NULL;
    size_t bytes = 0;
    FILE* messages = open_memstream(&text, &bytes); // Qhull insists on a file to write to
    if (points == NULL || messages == NULL) {
        if (messages != NULL) {
            fclose(messages);
        }
        free(text);
        return false;
    }
    memcpy(points, mesh->vertices, 3 * (size_t)mesh->vertexCount * sizeof(double));
    char command[] = "qhull Qt Pp";
    qhT qh;
    memset(&qh, 0, sizeof(qh));
    qh_zero(&qh, messages);
    int code = qh_new_qhull(&qh, 3, mesh->vertexCount, points, False, command, messages, messages);
    int* corners = code == 0 ? rgReadFacets(&qh, arena, hull) : NULL;
    if (corners != NULL) {
        rgFaceOutward(hull, corners);
    }
    qh_freeqhull(&qh, !qh_ALL);
    int longs, total;
    qh_memfreeshort(&qh, &longs, &total);
    fclose(messages);
    free(text);
    return corners != NULL;
}
