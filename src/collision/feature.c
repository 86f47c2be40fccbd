// Supporting features: the face, edge or vertex that a core shows in a direction.
#include "collision/support.h"

// A face steeper than this against the direction is not offered; an edge or a vertex is.
#define RG_FACE_COSINE 0.5
#define RG_RIM         12

static void rgFeature_Add(rgFeature* f, rgVec3 p, int32_t id) {
    f->points[f->count] = p;
    f->ids[f->count++] = id;
}

static void rgBoxFeature(const rgConvex* c, rgVec3 d, rgFeature* f) {
    rgVec3 m = rgAbs3(d);
    int axis = m.x >= m.y && m.x >= m.z ? 0 : m.y >= m.z ? 1 : 2;
    int high = rgVec3_At(d, axis) >= 0;
    // Corners around the face, counter-clockwise from outside.
    RG_TABLE int around[2][4] = {{0, 2, 3, 1}, {0, 1, 3, 2}};
    int u = (axis + 1) % 3, v = (axis + 2) % 3;
    for (int k = 0; k < 4; ++k) {
        int bits = around[high][k];
        int id = high << axis | (bits & 1) << u | (bits >> 1) << v;
        rgFeature_Add(f, rgConvex_Vertex(c, id), id);
    }
    double sign = high ? 1 : -1;
    f->normal = rgVec(axis == 0 ? sign : 0, axis == 1 ? sign : 0, axis == 2 ? sign : 0);
}

// The edge at a vertex that is most across the direction, unless all are steep.
static void rgHullEdge(const rgHull* hull, rgVec3 d, int vertex, rgFeature* f) {
    rgVec3 p = rgHull_Vertex(hull, vertex);
    int best = -1;
    double least = RG_FACE_COSINE;
    for (int k = hull->neighborStart[vertex]; k < hull->neighborStart[vertex + 1]; ++k) {
        rgVec3 e = rgSub(p, rgHull_Vertex(hull, hull->neighbors[k]));
        double slope = rgDot(d, e) / rgLength(e);
        if (slope < least) {
            least = slope;
            best = hull->neighbors[k];
        }
    }
    rgFeature_Add(f, p, vertex);
    if (best >= 0) {
        rgFeature_Add(f, rgHull_Vertex(hull, best), best);
    }
}

static void rgHullFeature(const rgHull* hull, rgVec3 d, int32_t hint, rgFeature* f) {
    int vertex =
        hull->vertexCount <= RG_HULL_SMALL ? rgHull_Scan(hull, d) : rgHull_Climb(hull, d, hint);
    int best = -1;
    double most = RG_FACE_COSINE;
    for (int k = hull->vertexFaceStart[vertex]; k < hull->vertexFaceStart[vertex + 1]; ++k) {
        double cosine = rgDot(d, hull->faceNormal[hull->vertexFaces[k]]);
        if (cosine > most) {
            most = cosine;
            best = hull->vertexFaces[k];
        }
    }
    if (best < 0) {
        rgHullEdge(hull, d, vertex, f);
        return;
    }
    for (int k = hull->faceStart[best]; k < hull->faceStart[best + 1]; ++k) {
        int id = hull->faceVertices[k];
        rgFeature_Add(f, rgHull_Vertex(hull, id), id);
    }
    f->normal = hull->faceNormal[best];
}

static void rgTriangleFeature(const rgConvex* c, rgVec3 d, rgFeature* f) {
    const rgVec3* p = c->triangle;
    rgVec3 n = rgNormalize(rgCross(rgSub(p[1], p[0]), rgSub(p[2], p[0])));
    double cosine = rgDot(n, d);
    if (fabs(cosine) > RG_FACE_COSINE) {
        bool front = cosine > 0;
        rgFeature_Add(f, p[0], c->ids[0]);
        rgFeature_Add(f, p[front ? 1 : 2], c->ids[front ? 1 : 2]);
        rgFeature_Add(f, p[front ? 2 : 1], c->ids[front ? 2 : 1]);
        f->normal = front ? n : rgNegate(n);
        return;
    }
    int top = rgSupportTriangle(p, d);
    int next = (top + 1) % 3, last = (top + 2) % 3;
    rgVec3 e1 = rgSub(p[top], p[next]), e2 = rgSub(p[top], p[last]);
    double s1 = rgDot(d, e1) / rgLength(e1), s2 = rgDot(d, e2) / rgLength(e2);
    rgFeature_Add(f, p[top], c->ids[top]);
    if (RG_MIN(s1, s2) < RG_FACE_COSINE) {
        int other = s1 <= s2 ? next : last;
        rgFeature_Add(f, p[other], c->ids[other]);
    }
}

static void rgCylinderFeature(const rgConvex* c, rgVec3 d, rgFeature* f) {
    // cos and sin of k pi / 6
    RG_TABLE double rim[RG_RIM][2] = {
        {1, 0},  {0.8660254037844386, 0.5},   {0.5, 0.8660254037844386},
        {0, 1},  {-0.5, 0.8660254037844386},  {-0.8660254037844386, 0.5},
        {-1, 0}, {-0.8660254037844386, -0.5}, {-0.5, -0.8660254037844386},
        {0, -1}, {0.5, -0.8660254037844386},  {0.8660254037844386, -0.5}};
    double across = sqrt(d.x * d.x + d.y * d.y);
    // The deepest point of the rim comes first; upright there is none, and the x axis is taken.
    bool tilted = across > 1e-5;
    double ux = tilted ? c->size.x * d.x / across : c->size.x;
    double uy = tilted ? c->size.x * d.y / across : 0;
    if (fabs(d.z) <= RG_FACE_COSINE) {
        rgFeature_Add(f, rgVec(ux, uy, -c->size.y), 0);
        rgFeature_Add(f, rgVec(ux, uy, c->size.y), 1);
        return;
    }
    double sign = d.z > 0 ? 1 : -1;
    for (int k = 0; k < RG_RIM; ++k) {
        double co = rim[k][0], si = sign * rim[k][1];
        rgVec3 p = rgVec(co * ux - si * uy, co * uy + si * ux, sign * c->size.y);
        rgFeature_Add(f, p, (d.z > 0 ? 32 : 16) + k);
    }
    f->normal = rgVec(0, 0, sign);
}

static void rgCapsuleFeature(const rgConvex* c, rgVec3 d, rgFeature* f) {
    int32_t id;
    if (fabs(d.z) > 0.9 * rgLength(d)) {
        rgVec3 p = rgConvex_Support(c, d, &id);
        rgFeature_Add(f, p, id);
        return;
    }
    rgFeature_Add(f, rgVec(0, 0, -c->size.y), 0);
    rgFeature_Add(f, rgVec(0, 0, c->size.y), 1);
}

void rgConvex_Feature(const rgConvex* c, rgVec3 d, int32_t hint, rgFeature* f) {
    f->count = 0;
    f->normal = d;
    switch (c->kind) {
    case rg_shapeBox:
        rgBoxFeature(c, d, f);
        break;
    case rg_shapeHull:
        rgHullFeature(c->hull, d, hint, f);
        break;
    case RG_CORE_TRIANGLE:
        rgTriangleFeature(c, d, f);
        break;
    case rg_shapeCylinder:
        rgCylinderFeature(c, d, f);
        break;
    case rg_shapeCapsule:
        rgCapsuleFeature(c, d, f);
        break;
    default: {
        int32_t id = hint;
        rgVec3 p = rgConvex_Support(c, d, &id);
        rgFeature_Add(f, p, 0);
        break;
    }
    }
}

// Number that names a pair of features: a vertex (b1 < 0), or two crossing edges.
uint32_t rgFeatureId(int kind, int32_t a0, int32_t a1, int32_t b0, int32_t b1) {
    uint64_t h = (uint64_t)(uint32_t)kind + 0x9e3779b97f4a7c15u;
    const int32_t parts[4] = {RG_MIN(a0, a1), RG_MAX(a0, a1), RG_MIN(b0, b1), RG_MAX(b0, b1)};
    for (int k = 0; k < 4; ++k) {
        h = (h ^ (uint32_t)parts[k]) * 0xff51afd7ed558ccdu;
        h ^= h >> 32;
    }
    return (uint32_t)h;
}
