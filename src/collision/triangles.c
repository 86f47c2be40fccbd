// Triangles of static meshes and height fields: checks, neighbours across edges, a tree, visits.
#include "collision/internal.h"

#include <stdlib.h>
#include <string.h>

#define RG_LEAF_TRIANGLES 4
#define RG_TREE_STACK     128

static rgResult rgRefuse(const rgGeometryDef* def, rgDiagnostics* diagnostics, const char* reason) {
    rgDiagnostics_Add(diagnostics, rg_severityError, def->file, def->line, "%s", reason);
    return rg_errorArgument;
}

// ---- meshes

typedef struct rgMeshBuild {
    const rgMeshData* mesh;
    rgArena scratch;
    int count;         // triangles that have an area
    int32_t* keep;     // their numbers
    int32_t* weld;     // vertex -> first vertex at the same place
    int32_t* corners;  // 3 per triangle of the mesh, welded, counter-clockwise from outside
    int32_t* opposite; // 3 per triangle: side (3 triangle + edge) that shares the edge, or -1
    bool* dropped;     // per triangle: fewer than three corners, or a duplicate
    bool* closed;      // per triangle: its piece has no border
    int turnedCount;   // triangles that faced inward
    rgVec3* normal;    // per kept triangle
    int32_t* neighbor; // 3 per kept triangle, -1: none
} rgMeshBuild;

static rgVec3 rgVertexOf(const rgMeshData* mesh, int i) {
    return rgVec(mesh->vertices[3 * i], mesh->vertices[3 * i + 1], mesh->vertices[3 * i + 2]);
}

static rgResult rgCheckMesh(const rgGeometryDef* def, rgDiagnostics* diagnostics) {
    const rgMeshData* mesh = def->mesh;
    if (mesh == NULL || mesh->vertices == NULL || mesh->triangles == NULL ||
        mesh->triangleCount < 1 || mesh->vertexCount < 3) {
        return rgRefuse(def, diagnostics, "a triangle mesh needs at least one triangle");
    }
    if (mesh->triangleCount > 50000000) {
        return rgRefuse(def, diagnostics, "more than 50000000 triangles");
    }
    for (int i = 0; i < mesh->vertexCount; ++i) {
        if (!rgIsFinite(rgVertexOf(mesh, i)) || rgLength(rgVertexOf(mesh, i)) > 1e30) {
            rgDiagnostics_Add(diagnostics, rg_severityError, def->file, def->line,
                              "vertex %d of the mesh is not a finite number", i);
            return rg_errorArgument;
        }
    }
    for (int i = 0; i < 3 * mesh->triangleCount; ++i) {
        if (mesh->triangles[i] < 0 || mesh->triangles[i] >= mesh->vertexCount) {
            rgDiagnostics_Add(diagnostics, rg_severityError, def->file, def->line,
                              "triangle %d refers to vertex %d; there are %d", i / 3,
                              mesh->triangles[i], mesh->vertexCount);
            return rg_errorArgument;
        }
    }
    return rg_ok;
}

typedef struct rgVertexKey {
    double x, y, z;
    int32_t vertex;
} rgVertexKey;

static int rgCompareVertices(const void* left, const void* right) {
    const rgVertexKey *a = left, *b = right;
    if (a->x != b->x) {
        return a->x < b->x ? -1 : 1;
    }
    if (a->y != b->y) {
        return a->y < b->y ? -1 : 1;
    }
    if (a->z != b->z) {
        return a->z < b->z ? -1 : 1;
    }
    return a->vertex < b->vertex ? -1 : a->vertex > b->vertex;
}

static bool rgWeldVertices(rgMeshBuild* build) {
    int n = build->mesh->vertexCount;
    rgVertexKey* keys = RG_TAKE(&build->scratch, rgVertexKey, n);
    build->weld = RG_TAKE(&build->scratch, int32_t, n);
    if (build->scratch.failed) {
        return false;
    }
    for (int i = 0; i < n; ++i) {
        rgVec3 v = rgVertexOf(build->mesh, i);
        keys[i] = (rgVertexKey){v.x + 0.0, v.y + 0.0, v.z + 0.0, i};
    }
    qsort(keys, (size_t)n, sizeof(rgVertexKey), rgCompareVertices);
    for (int i = 0; i < n; ++i) {
        bool same = i > 0 && keys[i].x == keys[i - 1].x && keys[i].y == keys[i - 1].y &&
                    keys[i].z == keys[i - 1].z;
        build->weld[keys[i].vertex] = same ? build->weld[keys[i - 1].vertex] : keys[i].vertex;
    }
    return true;
}

// ---- orientation: pieces joined by edges face one way, closed ones outward

static rgVec3 rgCornerOf(const rgMeshBuild* build, int side) {
    return rgVertexOf(build->mesh, build->corners[side]);
}

typedef struct rgTripleKey {
    int32_t low, middle, high, triangle;
} rgTripleKey;

static int rgCompareTriples(const void* left, const void* right) {
    const rgTripleKey *a = left, *b = right;
    const int32_t u[4] = {a->low, a->middle, a->high, a->triangle};
    const int32_t v[4] = {b->low, b->middle, b->high, b->triangle};
    for (int k = 0; k < 4; ++k) {
        if (u[k] != v[k]) {
            return u[k] < v[k] ? -1 : 1;
        }
    }
    return 0;
}

// Welded corners; duplicate triangles, of either orientation, count once.
static bool rgCopyCorners(rgMeshBuild* build) {
    int n = build->mesh->triangleCount;
    build->corners = RG_TAKE(&build->scratch, int32_t, 3 * (size_t)n);
    build->opposite = RG_TAKE(&build->scratch, int32_t, 3 * (size_t)n);
    build->dropped = RG_TAKE(&build->scratch, bool, n);
    build->closed = RG_TAKE(&build->scratch, bool, n);
    rgTripleKey* keys = RG_TAKE(&build->scratch, rgTripleKey, n);
    if (build->scratch.failed) {
        return false;
    }
    for (int t = 0; t < n; ++t) {
        int32_t* c = build->corners + 3 * (size_t)t;
        for (int k = 0; k < 3; ++k) {
            c[k] = build->weld[build->mesh->triangles[3 * t + k]];
        }
        build->dropped[t] = c[0] == c[1] || c[1] == c[2] || c[2] == c[0];
        int32_t low = RG_MIN(c[0], RG_MIN(c[1], c[2])), high = RG_MAX(c[0], RG_MAX(c[1], c[2]));
        keys[t] = (rgTripleKey){low, c[0] ^ c[1] ^ c[2] ^ low ^ high, high, t};
    }
    qsort(keys, (size_t)n, sizeof(rgTripleKey), rgCompareTriples);
    for (int i = 1; i < n; ++i) {
        const rgTripleKey *a = &keys[i - 1], *b = &keys[i];
        if (a->low == b->low && a->middle == b->middle && a->high == b->high) {
            build->dropped[b->triangle] = true;
        }
    }
    return true;
}

typedef struct rgSideKey {
    int32_t low, high, side; // side: 3 triangle + edge
} rgSideKey;

static int rgCompareSides(const void* left, const void* right) {
    const rgSideKey *a = left, *b = right;
    if (a->low != b->low) {
        return a->low < b->low ? -1 : 1;
    }
    if (a->high != b->high) {
        return a->high < b->high ? -1 : 1;
    }
    return a->side < b->side ? -1 : a->side > b->side;
}

// Two triangles that share an edge with no third are neighbours. An edge of an odd number of
// triangles is a border.
static bool rgPairSides(rgMeshBuild* build) {
    int n = 3 * build->mesh->triangleCount, count = 0;
    rgSideKey* keys = RG_TAKE(&build->scratch, rgSideKey, n);
    if (build->scratch.failed) {
        return false;
    }
    for (int s = 0; s < n; ++s) {
        build->opposite[s] = -1;
        build->closed[s / 3] = true;
        int32_t u = build->corners[s], v = build->corners[s - s % 3 + (s + 1) % 3];
        if (!build->dropped[s / 3]) {
            keys[count++] = (rgSideKey){RG_MIN(u, v), RG_MAX(u, v), s};
        }
    }
    qsort(keys, (size_t)count, sizeof(rgSideKey), rgCompareSides);
    for (int i = 0, j; i < count; i = j) {
        for (j = i + 1; j < count && keys[j].low == keys[i].low && keys[j].high == keys[i].high;) {
            j += 1;
        }
        if (j - i == 2) {
            build->opposite[keys[i].side] = keys[i + 1].side;
            build->opposite[keys[i + 1].side] = keys[i].side;
        }
        for (int k = i; k < j && (j - i) % 2 == 1; ++k) {
            build->closed[keys[k].side / 3] = false;
        }
    }
    return true;
}

static void rgTurn(rgMeshBuild* build, int t) {
    int32_t *c = build->corners + 3 * (size_t)t, *o = build->opposite + 3 * (size_t)t;
    int32_t first = c[0], side = o[1];
    c[0] = c[1];
    c[1] = first;
    // Edges 0, 1, 2 become 0, 2, 1.
    o[1] = o[2];
    o[2] = side;
    for (int k = 0; k < 3; ++k) {
        if (o[k] >= 0) {
            build->opposite[o[k]] = 3 * t + k;
        }
    }
}

typedef struct rgPiece {
    int first, count; // in the list of triangles by piece
    double volume;    // signed
    double turned, kept;
    bool closed, over; // over: to be turned
    rgBox box;
} rgPiece;

typedef struct rgPieces {
    int count;
    rgPiece* pieces;
    int32_t* triangles; // by piece
    bool* turned;       // per triangle
} rgPieces;

static rgVec3 rgAreaOf(const rgMeshBuild* build, int t) {
    rgVec3 p = rgCornerOf(build, 3 * t);
    rgVec3 u = rgSub(rgCornerOf(build, 3 * t + 1), p), v = rgSub(rgCornerOf(build, 3 * t + 2), p);
    return rgCross(u, v);
}

// All triangles joined to the first, turned the way it faces.
static void rgGrowPiece(rgMeshBuild* build, rgPieces* all, bool* seen, rgPiece* piece) {
    rgVec3 origin = rgCornerOf(build, 3 * all->triangles[piece->first]);
    piece->count = 1;
    piece->closed = true;
    piece->volume = piece->turned = piece->kept = 0;
    piece->box = (rgBox){origin, origin};
    for (int i = piece->first; i < piece->first + piece->count; ++i) {
        int t = all->triangles[i];
        for (int k = 0; k < 3; ++k) {
            int other = build->opposite[3 * t + k];
            if (other >= 0 && !seen[other / 3]) {
                int side = 3 * t + (k + 1) % 3;
                seen[other / 3] = true;
                all->triangles[piece->first + piece->count++] = other / 3;
                // Neighbours run along a shared edge in opposite directions.
                if (build->corners[other] != build->corners[side]) {
                    rgTurn(build, other / 3);
                    all->turned[other / 3] = true;
                }
            }
            piece->box.lower = rgMin3(piece->box.lower, rgCornerOf(build, 3 * t + k));
            piece->box.upper = rgMax3(piece->box.upper, rgCornerOf(build, 3 * t + k));
        }
        rgVec3 area = rgAreaOf(build, t);
        piece->volume += rgDot(area, rgSub(rgCornerOf(build, 3 * t), origin));
        *(all->turned[t] ? &piece->turned : &piece->kept) += rgLength(area);
        piece->closed = piece->closed && build->closed[t];
    }
}

static bool rgFindPieces(rgMeshBuild* build, rgPieces* all) {
    int n = build->mesh->triangleCount;
    all->pieces = RG_TAKE(&build->scratch, rgPiece, n);
    all->triangles = RG_TAKE(&build->scratch, int32_t, n);
    all->turned = RG_TAKE(&build->scratch, bool, n);
    bool* seen = RG_TAKE(&build->scratch, bool, n);
    if (build->scratch.failed) {
        return false;
    }
    memset(all->turned, 0, (size_t)n * sizeof(bool));
    memcpy(seen, build->dropped, (size_t)n * sizeof(bool));
    int filled = 0;
    all->count = 0;
    for (int t = 0; t < n; ++t) {
        if (!seen[t]) {
            seen[t] = true;
            rgPiece* piece = &all->pieces[all->count++];
            piece->first = filled;
            all->triangles[filled] = t;
            rgGrowPiece(build, all, seen, piece);
            filled += piece->count;
        }
    }
    return true;
}

// Winding number of a piece around a point.
static double rgWindingOf(const rgMeshBuild* build, const rgPieces* all, const rgPiece* piece,
                          rgVec3 p) {
    double sum = 0;
    for (int i = piece->first; i < piece->first + piece->count; ++i) {
        int t = all->triangles[i];
        rgVec3 a = rgSub(rgCornerOf(build, 3 * t), p), b = rgSub(rgCornerOf(build, 3 * t + 1), p);
        rgVec3 c = rgSub(rgCornerOf(build, 3 * t + 2), p);
        double la = rgLength(a), lb = rgLength(b), lc = rgLength(c);
        sum += atan2(rgDot(a, rgCross(b, c)),
                     la * lb * lc + rgDot(a, b) * lc + rgDot(b, c) * la + rgDot(c, a) * lb);
    }
    return sum / 6.283185307179586;
}

// The walls of a hole inside a solid face into the hole: the other way than the piece around them.
// A part inside another that faces the same way is a part.
static bool rgIsCavity(const rgMeshBuild* build, const rgPieces* all, const rgPiece* piece) {
    rgVec3 p = rgCornerOf(build, 3 * all->triangles[piece->first]);
    double around = 0;
    for (int i = 0; i < all->count; ++i) {
        const rgPiece* other = &all->pieces[i];
        rgVec3 low = rgMax3(other->box.lower, piece->box.lower);
        rgVec3 high = rgMin3(other->box.upper, piece->box.upper);
        bool holds = low.x == piece->box.lower.x && low.y == piece->box.lower.y &&
                     low.z == piece->box.lower.z && high.x == piece->box.upper.x &&
                     high.y == piece->box.upper.y && high.z == piece->box.upper.z;
        if (other != piece && other->closed && holds) {
            around += round(rgWindingOf(build, all, other, p));
        }
    }
    return around * piece->volume < 0;
}

static bool rgOrientTriangles(rgMeshBuild* build) {
    rgPieces all;
    if (!rgCopyCorners(build) || !rgPairSides(build) || !rgFindPieces(build, &all)) {
        return false;
    }
    build->turnedCount = 0;
    for (int i = 0; i < all.count; ++i) {
        rgPiece* piece = &all.pieces[i];
        piece->over = piece->closed ? (piece->volume < 0) != rgIsCavity(build, &all, piece)
                                    : piece->turned > piece->kept;
    }
    for (int i = 0; i < all.count; ++i) {
        const rgPiece* piece = &all.pieces[i];
        for (int k = piece->first; k < piece->first + piece->count; ++k) {
            int t = all.triangles[k];
            if (piece->over) {
                rgTurn(build, t);
            }
            build->turnedCount += all.turned[t] != piece->over;
            build->closed[t] = piece->closed;
        }
    }
    return true;
}

static bool rgKeepTriangles(rgMeshBuild* build) {
    const rgMeshData* mesh = build->mesh;
    build->keep = RG_TAKE(&build->scratch, int32_t, mesh->triangleCount);
    build->normal = RG_TAKE(&build->scratch, rgVec3, mesh->triangleCount);
    if (build->scratch.failed) {
        return false;
    }
    build->count = 0;
    for (int t = 0; t < mesh->triangleCount; ++t) {
        rgVec3 p = rgCornerOf(build, 3 * t);
        rgVec3 u = rgSub(rgCornerOf(build, 3 * t + 1), p);
        rgVec3 v = rgSub(rgCornerOf(build, 3 * t + 2), p), n = rgCross(u, v);
        if (!build->dropped[t] && rgLength(n) > 1e-12 * rgLength(u) * rgLength(v)) {
            build->normal[build->count] = rgNormalize(n);
            build->keep[build->count++] = t;
        }
    }
    return true;
}

static bool rgFindNeighbors(rgMeshBuild* build) {
    build->neighbor = RG_TAKE(&build->scratch, int32_t, 3 * (size_t)build->count);
    int32_t* place = RG_TAKE(&build->scratch, int32_t, build->mesh->triangleCount);
    if (build->scratch.failed) {
        return false;
    }
    for (int t = 0; t < build->mesh->triangleCount; ++t) {
        place[t] = -1;
    }
    for (int i = 0; i < build->count; ++i) {
        place[build->keep[i]] = i;
    }
    for (int s = 0; s < 3 * build->count; ++s) {
        int side = 3 * build->keep[s / 3] + s % 3, other = build->opposite[side];
        // A strip that cannot be oriented keeps an edge that both sides run along alike.
        bool joined = other >= 0 && build->corners[other] != build->corners[side];
        build->neighbor[s] = joined ? place[other / 3] : -1;
    }
    return true;
}

static rgVec3 rgMiddleOf(const rgMeshBuild* build, int kept) {
    int t = 3 * build->keep[kept];
    return rgAdd(rgAdd(rgCornerOf(build, t), rgCornerOf(build, t + 1)), rgCornerOf(build, t + 2));
}

// Split a range of `order` where the middle of its extent is; in halves when that is lopsided.
static int rgSplitTriangles(const rgMeshBuild* build, int32_t* order, int count) {
    rgVec3 low = rgMiddleOf(build, order[0]), high = low;
    for (int i = 1; i < count; ++i) {
        rgVec3 c = rgMiddleOf(build, order[i]);
        low = rgMin3(low, c);
        high = rgMax3(high, c);
    }
    rgVec3 d = rgSub(high, low);
    int axis = d.x >= d.y && d.x >= d.z ? 0 : d.y >= d.z ? 1 : 2;
    double middle = 0.5 * (rgVec3_At(low, axis) + rgVec3_At(high, axis));
    int i = 0, j = count - 1;
    while (i <= j) {
        if (rgVec3_At(rgMiddleOf(build, order[i]), axis) < middle) {
            i += 1;
        } else {
            int32_t swap = order[i];
            order[i] = order[j];
            order[j--] = swap;
        }
    }
    return i < count / 8 || i > count - count / 8 || i == 0 || i == count ? count / 2 : i;
}

static void rgSetNodeBox(const rgMeshBuild* build, const int32_t* order, rgBvhNode* node) {
    rgBox box = {{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}};
    for (int i = 0; i < node->count; ++i) {
        for (int k = 0; k < 3; ++k) {
            rgVec3 p = rgCornerOf(build, 3 * build->keep[order[node->first + i]] + k);
            box.lower = rgMin3(box.lower, p);
            box.upper = rgMax3(box.upper, p);
        }
    }
    for (int k = 0; k < 3; ++k) {
        node->lower[k] = nextafterf((float)rgVec3_At(box.lower, k), -INFINITY);
        node->upper[k] = nextafterf((float)rgVec3_At(box.upper, k), INFINITY);
    }
}

// The tree over `order`; every inner node is followed by its children's slots, left then right.
static int rgGrowTree(const rgMeshBuild* build, int32_t* order, rgBvhNode* nodes) {
    int nodeCount = 1, stack[RG_TREE_STACK], depth = 0;
    nodes[0] = (rgBvhNode){.first = 0, .count = build->count};
    stack[depth++] = 0;
    while (depth > 0) {
        rgBvhNode* node = &nodes[stack[--depth]];
        rgSetNodeBox(build, order, node);
        if (node->count <= RG_LEAF_TRIANGLES) {
            continue;
        }
        int left = rgSplitTriangles(build, order + node->first, node->count);
        nodes[nodeCount] = (rgBvhNode){.first = node->first, .count = left};
        nodes[nodeCount + 1] =
            (rgBvhNode){.first = node->first + left, .count = node->count - left};
        node->first = nodeCount;
        node->count = 0;
        stack[depth++] = nodeCount;
        stack[depth++] = nodeCount + 1;
        nodeCount += 2;
    }
    return nodeCount;
}

static bool rgStoreTriangles(rgMeshBuild* build, rgGeometry* g) {
    rgTriangles* t = &g->triangles;
    const rgMeshData* mesh = build->mesh;
    int n = build->count;
    t->vertexCount = mesh->vertexCount;
    t->triangleCount = n;
    t->vertices = RG_TAKE(&g->arena, double, 3 * (size_t)mesh->vertexCount);
    t->corners = RG_TAKE(&g->arena, int32_t, 3 * (size_t)n);
    t->original = RG_TAKE(&g->arena, int32_t, n);
    t->normal = RG_TAKE(&g->arena, rgVec3, n);
    t->edgeNormal = RG_TAKE(&g->arena, rgVec3, 3 * (size_t)n);
    t->closed = RG_TAKE(&g->arena, bool, n);
    t->nodes = RG_TAKE(&g->arena, rgBvhNode, 2 * (size_t)n);
    int32_t* order = RG_TAKE(&build->scratch, int32_t, n);
    if (g->arena.failed || build->scratch.failed) {
        return false;
    }
    for (int i = 0; i < n; ++i) {
        order[i] = i;
    }
    memcpy(t->vertices, mesh->vertices, 3 * (size_t)mesh->vertexCount * sizeof(double));
    t->nodeCount = rgGrowTree(build, order, t->nodes);
    for (int i = 0; i < n; ++i) {
        int kept = order[i];
        t->original[i] = build->keep[kept];
        t->normal[i] = build->normal[kept];
        t->closed[i] = build->closed[build->keep[kept]];
        for (int k = 0; k < 3; ++k) {
            int other = build->neighbor[3 * kept + k];
            t->corners[3 * i + k] = build->corners[3 * build->keep[kept] + k];
            t->edgeNormal[3 * i + k] = other >= 0 ? build->normal[other] : rgVec(0, 0, 0);
        }
    }
    return true;
}

// Both other corners of every triangle around a vertex; those of inner edges come twice.
static bool rgStoreAround(rgGeometry* g) {
    rgTriangles* t = &g->triangles;
    int n = 3 * t->triangleCount;
    t->aroundStart = RG_TAKE(&g->arena, int32_t, (size_t)t->vertexCount + 2);
    t->around = RG_TAKE(&g->arena, int32_t, 2 * (size_t)n);
    if (g->arena.failed) {
        return false;
    }
    memset(t->aroundStart, 0, ((size_t)t->vertexCount + 2) * sizeof(int32_t));
    for (int i = 0; i < n; ++i) {
        t->aroundStart[t->corners[i] + 2] += 2;
    }
    for (int v = 0; v < t->vertexCount; ++v) {
        t->aroundStart[v + 2] += t->aroundStart[v + 1];
    }
    for (int i = 0; i < n; ++i) {
        int base = i / 3 * 3;
        int32_t* at = &t->aroundStart[t->corners[i] + 1];
        t->around[(*at)++] = t->corners[base + (i + 1) % 3];
        t->around[(*at)++] = t->corners[base + (i + 2) % 3];
    }
    return true;
}

rgResult rgBuildTriangles(const rgGeometryDef* def, rgDiagnostics* diagnostics, rgGeometry* g) {
    rgResult result = rgCheckMesh(def, diagnostics);
    if (result != rg_ok) {
        return result;
    }
    rgMeshBuild build = {.mesh = def->mesh};
    rgArena_Init(&build.scratch, &def->allocator);
    bool done = rgWeldVertices(&build) && rgOrientTriangles(&build) && rgKeepTriangles(&build);
    if (done && build.count == 0) {
        rgArena_Free(&build.scratch);
        return rgRefuse(def, diagnostics, "no triangle of the mesh has an area");
    }
    done = done && rgFindNeighbors(&build) && rgStoreTriangles(&build, g) && rgStoreAround(g);
    if (done && build.count < def->mesh->triangleCount) {
        rgDiagnostics_Add(diagnostics, rg_severityNote, def->file, def->line,
                          "%d triangles without area, or repeated, were left out",
                          def->mesh->triangleCount - build.count);
    }
    if (done && build.turnedCount > 0) {
        rgDiagnostics_Add(diagnostics, rg_severityNote, def->file, def->line,
                          "%d of %d triangles were turned to face outward", build.turnedCount,
                          def->mesh->triangleCount);
    }
    rgArena_Free(&build.scratch);
    if (!done) {
        return rg_errorMemory;
    }
    const rgBvhNode* root = g->triangles.nodes;
    g->box = (rgBox){{root->lower[0], root->lower[1], root->lower[2]},
                     {root->upper[0], root->upper[1], root->upper[2]}};
    return rg_ok;
}

// ---- height fields

static rgResult rgCheckHeights(const rgGeometryDef* def, rgDiagnostics* diagnostics) {
    const rgHeightFieldData* h = def->heightField;
    if (h == NULL || h->heights == NULL) {
        return rgRefuse(def, diagnostics, "a height field needs heights");
    }
    if (h->columnCount < 2 || h->rowCount < 2 || h->columnCount > 30000 || h->rowCount > 30000) {
        rgDiagnostics_Add(diagnostics, rg_severityError, def->file, def->line,
                          "height field of %d x %d samples; it needs 2 to 30000 each way",
                          h->columnCount, h->rowCount);
        return rg_errorArgument;
    }
    if (!(h->sizeX > 0 && h->sizeX < 1e30) || !(h->sizeY > 0 && h->sizeY < 1e30) ||
        !(h->depth >= 0 && h->depth < 1e30)) {
        rgDiagnostics_Add(diagnostics, rg_severityError, def->file, def->line,
                          "height field of half extents %g, %g and depth %g: extents must be "
                          "positive, the depth not negative",
                          h->sizeX, h->sizeY, h->depth);
        return rg_errorArgument;
    }
    for (int i = 0; i < h->columnCount * h->rowCount; ++i) {
        if (!(fabs(h->heights[i]) < 1e30)) {
            rgDiagnostics_Add(diagnostics, rg_severityError, def->file, def->line,
                              "height at column %d, row %d is %g: not a finite number",
                              i % h->columnCount, i / h->columnCount, h->heights[i]);
            return rg_errorArgument;
        }
    }
    return rg_ok;
}

rgResult rgBuildHeights(const rgGeometryDef* def, rgDiagnostics* diagnostics, rgGeometry* g) {
    rgResult result = rgCheckHeights(def, diagnostics);
    if (result != rg_ok) {
        return result;
    }
    const rgHeightFieldData* in = def->heightField;
    rgHeights* h = &g->heights;
    int n = in->columnCount * in->rowCount;
    *h = (rgHeights){.columnCount = in->columnCount,
                     .rowCount = in->rowCount,
                     .sizeX = in->sizeX,
                     .sizeY = in->sizeY,
                     .cellX = 2 * in->sizeX / (in->columnCount - 1),
                     .cellY = 2 * in->sizeY / (in->rowCount - 1),
                     .depth = in->depth,
                     .lowest = INFINITY,
                     .highest = -INFINITY};
    h->heights = RG_TAKE(&g->arena, double, n);
    if (h->heights == NULL) {
        return rg_errorMemory;
    }
    for (int i = 0; i < n; ++i) {
        h->heights[i] = in->heights[i];
        h->lowest = RG_MIN(h->lowest, in->heights[i]);
        h->highest = RG_MAX(h->highest, in->heights[i]);
    }
    g->box = (rgBox){rgVec(-h->sizeX, -h->sizeY, h->lowest - h->depth),
                     rgVec(h->sizeX, h->sizeY, h->highest)};
    return rg_ok;
}

static rgVec3 rgSample(const rgHeights* h, int i, int j) {
    return rgVec(-h->sizeX + i * h->cellX, -h->sizeY + j * h->cellY,
                 h->heights[j * h->columnCount + i]);
}

// Corners of half a cell: 0 is the one at low y, 1 the one at high y. The diagonal runs from the
// low to the high corner. Gives the normal; zero outside the field.
static rgVec3 rgHalfCell(const rgHeights* h, int i, int j, int half, rgVec3 corners[3]) {
    if (i < 0 || j < 0 || i >= h->columnCount - 1 || j >= h->rowCount - 1) {
        return rgVec(0, 0, 0);
    }
    corners[0] = rgSample(h, i, j);
    corners[1] = half == 0 ? rgSample(h, i + 1, j) : rgSample(h, i + 1, j + 1);
    corners[2] = half == 0 ? rgSample(h, i + 1, j + 1) : rgSample(h, i, j + 1);
    rgVec3 n = rgCross(rgSub(corners[1], corners[0]), rgSub(corners[2], corners[0]));
    return rgNormalize(n);
}

void rgHeights_Triangle(const rgHeights* h, int i, int j, int half, rgSurfaceTriangle* t) {
    rgVec3 other[3];
    int n = h->columnCount, at = j * n + i;
    t->normal = rgHalfCell(h, i, j, half, t->corners);
    t->index = 2 * (j * (n - 1) + i) + half;
    t->closed = true;
    t->ids[0] = at;
    t->ids[1] = half == 0 ? at + 1 : at + n + 1;
    t->ids[2] = half == 0 ? at + n + 1 : at + n;
    if (half == 0) {
        t->edgeNormal[0] = rgHalfCell(h, i, j - 1, 1, other);
        t->edgeNormal[1] = rgHalfCell(h, i + 1, j, 1, other);
        t->edgeNormal[2] = rgHalfCell(h, i, j, 1, other);
    } else {
        t->edgeNormal[0] = rgHalfCell(h, i, j, 0, other);
        t->edgeNormal[1] = rgHalfCell(h, i, j + 1, 0, other);
        t->edgeNormal[2] = rgHalfCell(h, i - 1, j, 0, other);
    }
}

static int rgCellOf(double x, double size, double cell, int cells) {
    double at = floor((x + size) / cell);
    return at < 0 ? 0 : at >= cells ? cells - 1 : (int)at;
}

// Solid below: every cell under the box that reaches up to it.
static void rgVisitHeights(const rgHeights* h, const rgBox* box, rgTriangleFcn* visit,
                           void* context) {
    int cellsX = h->columnCount - 1, cellsY = h->rowCount - 1;
    if (box->upper.x < -h->sizeX || box->lower.x > h->sizeX || box->upper.y < -h->sizeY ||
        box->lower.y > h->sizeY || box->lower.z > h->highest) {
        return;
    }
    int i0 = rgCellOf(box->lower.x, h->sizeX, h->cellX, cellsX);
    int i1 = rgCellOf(box->upper.x, h->sizeX, h->cellX, cellsX);
    int j0 = rgCellOf(box->lower.y, h->sizeY, h->cellY, cellsY);
    int j1 = rgCellOf(box->upper.y, h->sizeY, h->cellY, cellsY);
    for (int j = j0; j <= j1; ++j) {
        for (int i = i0; i <= i1; ++i) {
            const double* low = h->heights + j * h->columnCount + i;
            const double* high = low + h->columnCount;
            double top = RG_MAX(RG_MAX(low[0], low[1]), RG_MAX(high[0], high[1]));
            for (int half = 0; half < 2 && top >= box->lower.z; ++half) {
                rgSurfaceTriangle t;
                rgHeights_Triangle(h, i, j, half, &t);
                if (!visit(&t, context)) {
                    return;
                }
            }
        }
    }
}

void rgTriangles_Get(const rgTriangles* t, int i, rgSurfaceTriangle* out) {
    for (int k = 0; k < 3; ++k) {
        const double* v = t->vertices + 3 * (size_t)t->corners[3 * i + k];
        out->corners[k] = rgVec(v[0], v[1], v[2]);
        out->edgeNormal[k] = t->edgeNormal[3 * i + k];
        out->ids[k] = t->corners[3 * i + k];
    }
    out->normal = t->normal[i];
    out->index = t->original[i];
    out->closed = t->closed[i];
}

static bool rgNodeMeets(const rgBvhNode* node, const rgBox* box) {
    return node->lower[0] <= box->upper.x && node->upper[0] >= box->lower.x &&
           node->lower[1] <= box->upper.y && node->upper[1] >= box->lower.y &&
           node->lower[2] <= box->upper.z && node->upper[2] >= box->lower.z;
}

static void rgVisitMesh(const rgTriangles* t, const rgBox* box, rgTriangleFcn* visit,
                        void* context) {
    int stack[RG_TREE_STACK], depth = 0;
    stack[depth++] = 0;
    while (depth > 0) {
        const rgBvhNode* node = &t->nodes[stack[--depth]];
        if (!rgNodeMeets(node, box)) {
            continue;
        }
        if (node->count == 0) {
            stack[depth++] = node->first + 1;
            stack[depth++] = node->first;
            continue;
        }
        for (int i = node->first; i < node->first + node->count; ++i) {
            rgSurfaceTriangle triangle;
            rgTriangles_Get(t, i, &triangle);
            if (!visit(&triangle, context)) {
                return;
            }
        }
    }
}

static double rgNodeApart(const rgBvhNode* node, rgVec3 p) {
    double sum = 0;
    for (int k = 0; k < 3; ++k) {
        double x = rgVec3_At(p, k);
        double d = RG_MAX(0, RG_MAX(node->lower[k] - x, x - node->upper[k]));
        sum += d * d;
    }
    return sum;
}

void rgVisitNear(const rgTriangles* t, rgVec3 p, const double* limit, rgTriangleFcn* visit,
                 void* context) {
    int stack[RG_TREE_STACK], depth = 0;
    stack[depth++] = 0;
    while (depth > 0) {
        const rgBvhNode* node = &t->nodes[stack[--depth]];
        if (rgNodeApart(node, p) > *limit) {
            continue;
        }
        if (node->count == 0) {
            // The nearer child first.
            bool right =
                rgNodeApart(&t->nodes[node->first + 1], p) < rgNodeApart(&t->nodes[node->first], p);
            stack[depth++] = node->first + !right;
            stack[depth++] = node->first + right;
            continue;
        }
        for (int i = node->first; i < node->first + node->count; ++i) {
            rgSurfaceTriangle triangle;
            rgTriangles_Get(t, i, &triangle);
            if (!visit(&triangle, context)) {
                return;
            }
        }
    }
}

void rgVisitTriangles(const rgGeometry* surface, const rgBox* box, rgTriangleFcn* visit,
                      void* context) {
    if (surface->kind == rg_shapeHeightField) {
        rgVisitHeights(&surface->heights, box, visit, context);
    } else {
        rgVisitMesh(&surface->triangles, box, visit, context);
    }
}

int rgNeighborsOf(const rgGeometry* g, int32_t vertex, rgVec3 around[RG_AROUND_LIMIT]) {
    int count = 0;
    if (g->kind == rg_shapeMesh) {
        const rgTriangles* t = &g->triangles;
        for (int k = t->aroundStart[vertex]; k < t->aroundStart[vertex + 1]; ++k) {
            const double* v = t->vertices + 3 * (size_t)t->around[k];
            if (count < RG_AROUND_LIMIT) {
                around[count++] = rgVec(v[0], v[1], v[2]);
            }
        }
        return count;
    }
    static const int steps[6][2] = {{1, 0}, {-1, 0}, {0, 1}, {0, -1}, {1, 1}, {-1, -1}};
    const rgHeights* h = &g->heights;
    int i = vertex % h->columnCount, j = vertex / h->columnCount;
    for (int k = 0; k < 6; ++k) {
        int u = i + steps[k][0], v = j + steps[k][1];
        if (u >= 0 && v >= 0 && u < h->columnCount && v < h->rowCount) {
            around[count++] = rgSample(h, u, v);
        }
    }
    return count;
}
