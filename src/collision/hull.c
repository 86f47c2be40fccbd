// Convex hulls: points to polygons through Qhull, then the tables that climbs and clipping use.
#include "base/system.h"
#include "collision/support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <libqhull_r/qhull_ra.h>

// Relative to the hull's size: thinner is flat, and faces closer to one plane are one polygon.
#define RG_HULL_FLAT  1e-8
#define RG_HULL_MERGE 5e-7
// Vertices more pointed than this (square of the sine of the angle of their faces with an axis)
// count as that blunt.
#define RG_HULL_NEEDLE 0.01

typedef struct rgHalfEdge {
    int from, to;
    int facet;
    int next; // within the facet
    int twin; // in the neighbouring facet
} rgHalfEdge;

// Polygons as Qhull gives them, before coplanar neighbours are merged.
typedef struct rgRawHull {
    int vertexCount, facetCount, edgeCount;
    rgVec3* vertices;
    int* facetStart; // facetCount + 1, into edges
    rgHalfEdge* edges;
    rgVec3* normal; // per facet
    double* area;
    int* group; // per facet: the face it becomes part of
    double size;
} rgRawHull;

typedef struct rgHullBuild {
    const rgGeometryDef* def;
    rgDiagnostics* diagnostics;
    rgArena scratch;
    rgRawHull raw;
} rgHullBuild;

static rgResult rgRefuseHull(const rgHullBuild* build, const char* reason) {
    rgDiagnostics_Add(build->diagnostics, rg_severityError, build->def->file, build->def->line,
                      "convex hull of %d points: %s",
                      build->def->mesh != NULL ? build->def->mesh->vertexCount : 0, reason);
    return rg_errorArgument;
}

static rgVec3 rgMeshVertex(const rgMeshData* mesh, int i) {
    return rgVec(mesh->vertices[3 * i], mesh->vertices[3 * i + 1], mesh->vertices[3 * i + 2]);
}

// Vertex that is farthest from base after the directions in `axes` are projected out.
static int rgFarthest(const rgMeshData* mesh, rgVec3 base, const rgVec3* axes, int axisCount,
                      double* distance) {
    int best = 0;
    *distance = -1;
    for (int i = 0; i < mesh->vertexCount; ++i) {
        rgVec3 r = rgSub(rgMeshVertex(mesh, i), base);
        for (int k = 0; k < axisCount; ++k) {
            r = rgAddScaled(r, -rgDot(r, axes[k]), axes[k]);
        }
        double length = rgLength(r);
        if (length > *distance) {
            *distance = length;
            best = i;
        }
    }
    return best;
}

// Size of the point set, and a refusal when it spans fewer than three dimensions.
static rgResult rgMeasureSpan(const rgHullBuild* build, double* size) {
    static const char* const reasons[] = {"all points coincide",
                                          "all points lie on one line: no volume",
                                          "all points lie in one plane: no volume"};
    const rgMeshData* mesh = build->def->mesh;
    double distance;
    rgVec3 axes[3];
    int start = rgFarthest(mesh, rgMeshVertex(mesh, 0), NULL, 0, &distance);
    rgVec3 base = rgMeshVertex(mesh, start);
    for (int k = 0; k < 3; ++k) {
        int far = rgFarthest(mesh, base, axes, k, &distance);
        if (k == 0) {
            *size = distance;
        }
        if (!(distance > (k == 0 ? 0 : RG_HULL_FLAT * *size))) {
            return rgRefuseHull(build, reasons[k]);
        }
        rgVec3 r = rgSub(rgMeshVertex(mesh, far), base);
        for (int j = 0; j < k; ++j) {
            r = rgAddScaled(r, -rgDot(r, axes[j]), axes[j]);
        }
        axes[k] = rgNormalize(r);
    }
    return rg_ok;
}

static rgResult rgCheckPoints(const rgHullBuild* build) {
    const rgMeshData* mesh = build->def->mesh;
    if (mesh == NULL || mesh->vertices == NULL || mesh->vertexCount < 4) {
        return rgRefuseHull(build, "needs at least 4 points");
    }
    if (mesh->vertexCount > 2000000) {
        return rgRefuseHull(build, "more than 2000000 points");
    }
    for (int i = 0; i < mesh->vertexCount; ++i) {
        rgVec3 v = rgMeshVertex(mesh, i);
        if (!rgIsFinite(v) || rgLength(v) > 1e100) {
            rgDiagnostics_Add(build->diagnostics, rg_severityError, build->def->file,
                              build->def->line, "vertex %d is (%g, %g, %g): not a finite number", i,
                              v.x, v.y, v.z);
            return rg_errorArgument;
        }
    }
    return rg_ok;
}

// ---- Qhull to half-edges

static int rgAddFacet(qhT* qh, rgRawHull* raw, facetT* facet, const int* number) {
    setT* set = qh_facet3vertex(qh, facet);
    int start = raw->edgeCount;
    int count = qh_setsize(qh, set);
    for (int k = 0; k < count; ++k) {
        vertexT* from = SETelemt_(set, k, vertexT);
        vertexT* to = SETelemt_(set, (k + 1) % count, vertexT);
        raw->edges[start + k] = (rgHalfEdge){
            .from = number[qh_pointid(qh, from->point)],
            .to = number[qh_pointid(qh, to->point)],
            .facet = raw->facetCount,
            .next = start + (k + 1) % count,
            .twin = -1,
        };
    }
    qh_settempfree(qh, &set);
    raw->edgeCount += count;
    raw->facetCount += 1;
    raw->facetStart[raw->facetCount] = raw->edgeCount;
    return count;
}

static void rgNumberVertices(qhT* qh, rgRawHull* raw, const rgMeshData* mesh, int* number) {
    // Only vertices of facets, in the order of the input: the result does not depend on Qhull's.
    facetT* facet;
    memset(number, 0, (size_t)mesh->vertexCount * sizeof(int));
    FORALLfacet_(qh->facet_list) {
        vertexT *vertex, **vertexp;
        FOREACHvertex_(facet->vertices) {
            number[qh_pointid(qh, vertex->point)] = 1;
        }
    }
    for (int i = 0; i < mesh->vertexCount; ++i) {
        if (number[i]) {
            raw->vertices[raw->vertexCount] = rgMeshVertex(mesh, i);
            number[i] = raw->vertexCount++;
        }
    }
}

static bool rgReadQhull(qhT* qh, rgHullBuild* build) {
    rgRawHull* raw = &build->raw;
    facetT* facet;
    int facets = 0, corners = 0;
    FORALLfacet_(qh->facet_list) {
        facets += 1;
        corners += qh_setsize(qh, facet->vertices);
    }
    raw->vertexCount = raw->facetCount = raw->edgeCount = 0;
    raw->vertices = RG_TAKE(&build->scratch, rgVec3, build->def->mesh->vertexCount);
    int* number = RG_TAKE(&build->scratch, int, build->def->mesh->vertexCount);
    raw->facetStart = RG_TAKE(&build->scratch, int, facets + 1);
    raw->edges = RG_TAKE(&build->scratch, rgHalfEdge, corners);
    raw->normal = RG_TAKE(&build->scratch, rgVec3, facets);
    raw->area = RG_TAKE(&build->scratch, double, facets);
    raw->group = RG_TAKE(&build->scratch, int, facets);
    if (build->scratch.failed) {
        return false;
    }
    rgNumberVertices(qh, raw, build->def->mesh, number);
    raw->facetStart[0] = 0;
    FORALLfacet_(qh->facet_list) {
        rgAddFacet(qh, raw, facet, number);
    }
    return true;
}

typedef struct rgEdgeKey {
    int low, high, edge;
} rgEdgeKey;

static int rgCompareEdges(const void* left, const void* right) {
    const rgEdgeKey *a = left, *b = right;
    if (a->low != b->low) {
        return a->low < b->low ? -1 : 1;
    }
    if (a->high != b->high) {
        return a->high < b->high ? -1 : 1;
    }
    return a->edge < b->edge ? -1 : a->edge > b->edge;
}

// Pair opposite half-edges; false when the surface is not closed and consistently oriented.
static bool rgPairEdges(rgHullBuild* build) {
    rgRawHull* raw = &build->raw;
    if (raw->edgeCount % 2 != 0 || raw->edgeCount < 12) {
        return false;
    }
    rgEdgeKey* keys = RG_TAKE(&build->scratch, rgEdgeKey, raw->edgeCount);
    if (keys == NULL) {
        return false;
    }
    for (int i = 0; i < raw->edgeCount; ++i) {
        int u = raw->edges[i].from, v = raw->edges[i].to;
        keys[i] = (rgEdgeKey){RG_MIN(u, v), RG_MAX(u, v), i};
    }
    qsort(keys, (size_t)raw->edgeCount, sizeof(rgEdgeKey), rgCompareEdges);
    for (int i = 0; i < raw->edgeCount; i += 2) {
        rgHalfEdge* a = &raw->edges[keys[i].edge];
        rgHalfEdge* b = &raw->edges[keys[i + 1].edge];
        if (a->from != b->to || a->to != b->from || a->from == a->to) {
            return false;
        }
        a->twin = keys[i + 1].edge;
        b->twin = keys[i].edge;
    }
    return true;
}

static void rgReverseFacets(rgRawHull* raw) {
    for (int f = 0; f < raw->facetCount; ++f) {
        int start = raw->facetStart[f], count = raw->facetStart[f + 1] - start;
        for (int k = 0; k < count; ++k) {
            rgHalfEdge* edge = &raw->edges[start + k];
            int from = edge->from;
            edge->from = edge->to;
            edge->to = from;
            edge->next = start + (k + count - 1) % count;
        }
    }
}

static rgVec3 rgFacetArea(const rgRawHull* raw, int f) {
    rgVec3 sum = rgVec(0, 0, 0);
    rgVec3 base = raw->vertices[raw->edges[raw->facetStart[f]].from];
    for (int i = raw->facetStart[f]; i < raw->facetStart[f + 1]; ++i) {
        rgVec3 u = rgSub(raw->vertices[raw->edges[i].from], base);
        rgVec3 v = rgSub(raw->vertices[raw->edges[i].to], base);
        sum = rgAddScaled(sum, 0.5, rgCross(u, v));
    }
    return sum;
}

// Facet normals outward; false when the surface encloses no volume.
static bool rgOrientFacets(rgRawHull* raw) {
    rgVec3 center = rgVec(0, 0, 0);
    for (int i = 0; i < raw->vertexCount; ++i) {
        center = rgAddScaled(center, 1.0 / raw->vertexCount, raw->vertices[i]);
    }
    double volume = 0;
    for (int f = 0; f < raw->facetCount; ++f) {
        rgVec3 base = rgSub(raw->vertices[raw->edges[raw->facetStart[f]].from], center);
        volume += rgDot(rgFacetArea(raw, f), base);
    }
    if (volume < 0) {
        rgReverseFacets(raw);
    }
    for (int f = 0; f < raw->facetCount; ++f) {
        rgVec3 area = rgFacetArea(raw, f);
        raw->area[f] = rgLength(area);
        raw->normal[f] = rgNormalize(area);
    }
    return volume != 0;
}

static bool rgRunQhull(rgHullBuild* build, const char* options) {
    const rgMeshData* mesh = build->def->mesh;
    coordT* points = RG_TAKE(&build->scratch, coordT, 3 * (size_t)mesh->vertexCount);
    char* text = NULL;
    size_t bytes = 0;
    FILE* messages = open_memstream(&text, &bytes);
    if (points == NULL || messages == NULL) {
        if (messages != NULL) {
            fclose(messages);
            free(text);
        }
        return false;
    }
    memcpy(points, mesh->vertices, 3 * (size_t)mesh->vertexCount * sizeof(double));
    char command[64];
    snprintf(command, sizeof(command), "qhull %s", options);
    qhT state;
    memset(&state, 0, sizeof(state));
    qh_zero(&state, messages);
    int code =
        qh_new_qhull(&state, 3, mesh->vertexCount, points, False, command, messages, messages);
    bool done = code == 0 && rgReadQhull(&state, build);
    qh_freeqhull(&state, !qh_ALL);
    int longs, total;
    qh_memfreeshort(&state, &longs, &total);
    fclose(messages);
    free(text);
    return done && rgPairEdges(build) && rgOrientFacets(&build->raw);
}

// ---- merging coplanar facets

static bool rgFacetFits(const rgRawHull* raw, int f, rgVec3 normal, double offset) {
    if (rgDot(raw->normal[f], normal) < 0.99) {
        return false;
    }
    for (int i = raw->facetStart[f]; i < raw->facetStart[f + 1]; ++i) {
        double height = rgDot(normal, raw->vertices[raw->edges[i].from]) - offset;
        if (fabs(height) > RG_HULL_MERGE * raw->size) {
            return false;
        }
    }
    return true;
}

// Add to its group everything coplanar with facet `seed` that is connected to it.
static void rgGrowGroup(rgRawHull* raw, int seed, int* stack) {
    rgVec3 normal = raw->normal[seed];
    double offset = rgDot(normal, raw->vertices[raw->edges[raw->facetStart[seed]].from]);
    int depth = 0;
    raw->group[seed] = seed;
    stack[depth++] = seed;
    while (depth > 0) {
        int f = stack[--depth];
        for (int i = raw->facetStart[f]; i < raw->facetStart[f + 1]; ++i) {
            int other = raw->edges[raw->edges[i].twin].facet;
            if (raw->group[other] < 0 && rgFacetFits(raw, other, normal, offset)) {
                raw->group[other] = seed;
                stack[depth++] = other;
            }
        }
    }
}

static bool rgIsBorder(const rgRawHull* raw, int edge) {
    const rgHalfEdge* e = &raw->edges[edge];
    return raw->group[e->facet] != raw->group[raw->edges[e->twin].facet];
}

// Walk the border of a group from one of its border edges; the number of edges walked.
static int rgWalkBorder(const rgRawHull* raw, int start, int* loop) {
    int edge = start, count = 0;
    do {
        loop[count++] = raw->edges[edge].from;
        edge = raw->edges[edge].next;
        while (!rgIsBorder(raw, edge)) {
            edge = raw->edges[raw->edges[edge].twin].next;
        }
    } while (edge != start && count < raw->edgeCount);
    return count;
}

typedef struct rgAreaKey {
    double area;
    int facet;
} rgAreaKey;

static int rgCompareAreas(const void* left, const void* right) {
    const rgAreaKey *a = left, *b = right;
    if (a->area != b->area) {
        return a->area > b->area ? -1 : 1;
    }
    return a->facet < b->facet ? -1 : a->facet > b->facet;
}

// A group whose border is not one loop falls apart again.
static void rgCheckGroup(rgRawHull* raw, int group, int* loop) {
    int borders = 0, start = -1;
    for (int i = 0; i < raw->edgeCount; ++i) {
        if (raw->group[raw->edges[i].facet] == group && rgIsBorder(raw, i)) {
            borders += 1;
            start = start < 0 ? i : start;
        }
    }
    if (start >= 0 && borders >= 3 && rgWalkBorder(raw, start, loop) == borders) {
        return;
    }
    for (int f = 0; f < raw->facetCount; ++f) {
        if (raw->group[f] == group) {
            raw->group[f] = f;
        }
    }
}

static bool rgMergeFacets(rgHullBuild* build, int* loop) {
    rgRawHull* raw = &build->raw;
    rgAreaKey* keys = RG_TAKE(&build->scratch, rgAreaKey, raw->facetCount);
    int* members = RG_TAKE(&build->scratch, int, raw->facetCount);
    int* stack = RG_TAKE(&build->scratch, int, raw->facetCount);
    if (build->scratch.failed) {
        return false;
    }
    for (int f = 0; f < raw->facetCount; ++f) {
        keys[f] = (rgAreaKey){raw->area[f], f};
        raw->group[f] = -1;
        members[f] = 0;
    }
    qsort(keys, (size_t)raw->facetCount, sizeof(rgAreaKey), rgCompareAreas);
    for (int k = 0; k < raw->facetCount; ++k) {
        if (raw->group[keys[k].facet] < 0) {
            rgGrowGroup(raw, keys[k].facet, stack);
        }
    }
    for (int f = 0; f < raw->facetCount; ++f) {
        members[raw->group[f]] += 1;
    }
    for (int f = 0; f < raw->facetCount; ++f) {
        if (members[f] > 1) {
            rgCheckGroup(raw, f, loop);
        }
    }
    return true;
}

// ---- tables

// Drop the corner that changes the area least until the polygon is small enough.
static int rgShrinkPolygon(const rgRawHull* raw, int* loop, int count) {
    while (count > RG_POLYGON_LIMIT) {
        int least = 0;
        double smallest = INFINITY;
        for (int k = 0; k < count; ++k) {
            rgVec3 p = raw->vertices[loop[(k + count - 1) % count]];
            rgVec3 u = rgSub(raw->vertices[loop[k]], p);
            rgVec3 v = rgSub(raw->vertices[loop[(k + 1) % count]], p);
            double area = rgLength(rgCross(u, v));
            if (area < smallest) {
                smallest = area;
                least = k;
            }
        }
        memmove(loop + least, loop + least + 1, (size_t)(count - least - 1) * sizeof(int));
        count -= 1;
    }
    return count;
}

static void rgSetFacePlane(rgHull* hull, int face) {
    int start = hull->faceStart[face], count = hull->faceStart[face + 1] - start;
    rgVec3 base = rgHull_Vertex(hull, hull->faceVertices[start]);
    rgVec3 sum = rgVec(0, 0, 0);
    for (int k = 1; k + 1 < count; ++k) {
        rgVec3 u = rgSub(rgHull_Vertex(hull, hull->faceVertices[start + k]), base);
        rgVec3 v = rgSub(rgHull_Vertex(hull, hull->faceVertices[start + k + 1]), base);
        sum = rgAdd(sum, rgCross(u, v));
    }
    hull->faceNormal[face] = rgNormalize(sum);
    double offset = 0;
    for (int k = 0; k < count; ++k) {
        rgVec3 v = rgHull_Vertex(hull, hull->faceVertices[start + k]);
        offset += rgDot(hull->faceNormal[face], rgSub(v, base)) / count;
    }
    hull->faceOffset[face] = offset + rgDot(hull->faceNormal[face], base);
}

static bool rgStoreVertices(rgHullBuild* build, rgArena* arena, rgHull* hull) {
    const rgRawHull* raw = &build->raw;
    int padded = (raw->vertexCount + 3) / 4 * 4;
    hull->vertexCount = raw->vertexCount;
    hull->x = RG_TAKE(arena, double, padded);
    hull->y = RG_TAKE(arena, double, padded);
    hull->z = RG_TAKE(arena, double, padded);
    hull->vertices = RG_TAKE(arena, double, 3 * padded);
    if (arena->failed) {
        return false;
    }
    for (int i = 0; i < padded; ++i) {
        rgVec3 v = raw->vertices[i < raw->vertexCount ? i : 0];
        hull->x[i] = hull->vertices[3 * i] = v.x;
        hull->y[i] = hull->vertices[3 * i + 1] = v.y;
        hull->z[i] = hull->vertices[3 * i + 2] = v.z;
    }
    return true;
}

static bool rgStoreFaces(rgHullBuild* build, rgArena* arena, rgHull* hull, int* loop) {
    const rgRawHull* raw = &build->raw;
    hull->faceStart = RG_TAKE(arena, int, raw->facetCount + 1);
    hull->faceVertices = RG_TAKE(arena, int, raw->edgeCount);
    hull->faceNormal = RG_TAKE(arena, rgVec3, raw->facetCount);
    hull->faceOffset = RG_TAKE(arena, double, raw->facetCount);
    int* faceOf = RG_TAKE(&build->scratch, int, raw->facetCount);
    if (arena->failed || build->scratch.failed) {
        return false;
    }
    int used = 0;
    hull->faceCount = 0;
    hull->faceStart[0] = 0;
    for (int f = 0; f < raw->facetCount; ++f) {
        faceOf[f] = -1;
    }
    // A face is met at its first border edge, so that faces are numbered in a fixed order.
    for (int i = 0; i < raw->edgeCount; ++i) {
        int group = raw->group[raw->edges[i].facet];
        if (faceOf[group] >= 0 || !rgIsBorder(raw, i)) {
            continue;
        }
        int count = rgShrinkPolygon(raw, loop, rgWalkBorder(raw, i, loop));
        memcpy(hull->faceVertices + used, loop, (size_t)count * sizeof(int));
        used += count;
        faceOf[group] = hull->faceCount;
        hull->faceStart[hull->faceCount + 1] = used;
        rgSetFacePlane(hull, hull->faceCount++);
    }
    for (int f = 0; f < raw->facetCount; ++f) {
        build->raw.group[f] = faceOf[raw->group[f]];
    }
    return true;
}

// Neighbours of every vertex along edges and faces around it. After rgStoreFaces a facet's group
// is its face.
static bool rgStoreNeighbors(rgHullBuild* build, rgArena* arena, rgHull* hull) {
    const rgRawHull* raw = &build->raw;
    int n = raw->vertexCount;
    hull->neighborStart = RG_TAKE(arena, int, n + 1);
    hull->vertexFaceStart = RG_TAKE(arena, int, n + 1);
    hull->neighbors = RG_TAKE(arena, int, raw->edgeCount);
    hull->vertexFaces = RG_TAKE(arena, int, raw->edgeCount);
    int* fill = RG_TAKE(&build->scratch, int, n + 1);
    int* faces = RG_TAKE(&build->scratch, int, raw->edgeCount);
    if (arena->failed || build->scratch.failed) {
        return false;
    }
    memset(hull->neighborStart, 0, (size_t)(n + 1) * sizeof(int));
    for (int i = 0; i < raw->edgeCount; ++i) {
        hull->neighborStart[raw->edges[i].from + 1] += 1;
    }
    for (int i = 0; i < n; ++i) {
        hull->neighborStart[i + 1] += hull->neighborStart[i];
        fill[i] = hull->neighborStart[i];
    }
    for (int i = 0; i < raw->edgeCount; ++i) {
        int slot = fill[raw->edges[i].from]++;
        hull->neighbors[slot] = raw->edges[i].to;
        faces[slot] = raw->group[raw->edges[i].facet];
    }
    int used = 0;
    for (int i = 0; i < n; ++i) {
        int first = hull->vertexFaceStart[i] = used;
        for (int k = hull->neighborStart[i]; k < hull->neighborStart[i + 1]; ++k) {
            bool known = false;
            for (int j = first; j < used; ++j) {
                known |= hull->vertexFaces[j] == faces[k];
            }
            if (!known) {
                hull->vertexFaces[used++] = faces[k];
            }
        }
    }
    hull->vertexFaceStart[n] = used;
    return true;
}

// Least vector with at least unit length along the normals of all faces around a vertex: from the
// point nearest to the origin of the hull of these normals, whose inverse it is. A limited number
// of faces suffices.
static rgVec3 rgInward(const rgHull* hull, int vertex) {
    double x[RG_HULL_SMALL], y[RG_HULL_SMALL], z[RG_HULL_SMALL], ends[3 * RG_HULL_SMALL];
    int first = hull->vertexFaceStart[vertex], count = hull->vertexFaceStart[vertex + 1] - first;
    int used = RG_MIN(count, RG_HULL_SMALL), padded = (used + 3) / 4 * 4;
    for (int k = 0; k < padded; ++k) {
        int at = k < used ? (int)((int64_t)k * count / used) : 0;
        rgVec3 n = hull->faceNormal[hull->vertexFaces[first + at]];
        x[k] = ends[3 * k] = n.x;
        y[k] = ends[3 * k + 1] = n.y;
        z[k] = ends[3 * k + 2] = n.z;
    }
    rgHull normals = {.vertexCount = used, .x = x, .y = y, .z = z, .vertices = ends};
    rgConvex cone = {.kind = rg_shapeHull, .scale = 1, .hull = &normals};
    rgConvex origin = {.kind = rg_shapeSphere};
    rgConvexPair pair = rgMakePair(&cone, rgPoseIdentity(), &origin, rgPoseIdentity());
    rgGjkInput input = {.direction = rgVec(ends[0], ends[1], ends[2]), .cutoff = INFINITY};
    rgGjkResult nearest;
    rgGjk(&pair, &input, &nearest);
    double vv = nearest.contained ? 0 : rgLengthSquared(nearest.v);
    return vv > 0 ? rgScale(1 / RG_MAX(vv, RG_HULL_NEEDLE), nearest.v) : rgVec(0, 0, 0);
}

static bool rgStoreInward(rgArena* arena, rgHull* hull) {
    hull->vertexInward = RG_TAKE(arena, rgVec3, hull->vertexCount);
    for (int i = 0; i < hull->vertexCount && !arena->failed; ++i) {
        hull->vertexInward[i] = rgInward(hull, i);
    }
    return !arena->failed;
}

static rgResult rgStoreHull(rgHullBuild* build, rgGeometry* geometry) {
    rgHull* hull = &geometry->hull;
    int* loop = RG_TAKE(&build->scratch, int, build->raw.edgeCount);
    if (loop == NULL || !rgMergeFacets(build, loop) ||
        !rgStoreVertices(build, &geometry->arena, hull) ||
        !rgStoreFaces(build, &geometry->arena, hull, loop) ||
        !rgStoreNeighbors(build, &geometry->arena, hull) ||
        !rgStoreInward(&geometry->arena, hull) || !rgHull_PrepareClimbs(hull, &geometry->arena) ||
        !rgHull_MakeBlocks(hull, &geometry->arena, &build->scratch)) {
        return rg_errorMemory;
    }
    return rg_ok;
}

static rgResult rgBuildHullWith(rgHullBuild* build, rgGeometry* geometry) {
    rgResult result = rgCheckPoints(build);
    if (result == rg_ok) {
        result = rgMeasureSpan(build, &build->raw.size);
    }
    if (result != rg_ok) {
        return result;
    }
    // Merged facets first; joggled input where rounding spoils the topology.
    if (!rgRunQhull(build, "Pp") && !rgRunQhull(build, "QJ Pp")) {
        return build->scratch.failed ? rg_errorMemory
                                     : rgRefuseHull(build, "Qhull found no closed surface");
    }
    return rgStoreHull(build, geometry);
}

rgResult rgBuildHull(const rgGeometryDef* def, rgDiagnostics* diagnostics, rgGeometry* geometry) {
    rgHullBuild build = {.def = def, .diagnostics = diagnostics};
    rgArena_Init(&build.scratch, &def->allocator);
    rgResult result = rgBuildHullWith(&build, geometry);
    rgArena_Free(&build.scratch);
    return result;
}
