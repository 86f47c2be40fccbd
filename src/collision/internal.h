// Common to the files of this folder: convex cores, hulls, features, and the pair frame.
// Every computation of a pair runs in the frame of its first shape.
#pragma once
#include "base/base.h"
#include "collision/collide.h"

// Constant numbers of a function.
#if defined(__CUDACC__)
#define RG_TABLE const
#else
#define RG_TABLE static const
#endif

#define RG_SEED_SIDE      8
#define RG_SEED_COUNT     (6 * RG_SEED_SIDE * RG_SEED_SIDE)
#define RG_POLYGON_LIMIT  32 // vertices of a face used for clipping
#define RG_HULL_SMALL     24 // up to here all vertices are scanned
#define RG_SMOOTH_VERTEX  (-1)
#define RG_PARALLEL_FACES 0.9995 // cosine of 1.8 degrees

#define RG_BLOCK_SIZE 16 // a multiple of 4

// Vertices that are near each other, in blocks of RG_BLOCK_SIZE; the last one may be short, and is
// filled up with its first vertex.
typedef struct rgHullBlocks {
    int count;
    double *lower[3], *upper[3]; // boxes, and the first again up to a multiple of 4
    double* points[3];
    int32_t* vertices;
} rgHullBlocks;

// Convex polytope; its arrays belong to the geometry's arena.
typedef struct rgHull {
    int vertexCount;
    double *x, *y, *z;  // coordinates, padded with vertex 0 to a multiple of 4
    double* vertices;   // the same interleaved
    int* neighborStart; // vertexCount + 1
    int* neighbors;     // along edges
    int* aroundStart;   // first block of each vertex in around
    double* around;     // coordinates of the neighbours two by two: x x y y z z
    int faceCount;      // coplanar triangles are merged into polygons
    int* faceStart;     // faceCount + 1
    int* faceVertices;  // counter-clockwise from outside, at most RG_POLYGON_LIMIT per face
    rgVec3* faceNormal; // faceCount
    double* faceOffset; // faceCount, normal . x = offset
    int* vertexFaceStart;
    int* vertexFaces;
    rgVec3* vertexInward; // moved by this, a vertex is one unit inside its faces
    rgHullBlocks blocks;
    int32_t seeds[RG_SEED_COUNT]; // supporting vertex by direction, where climbs begin
} rgHull;

// Kind of core used for triangles of meshes and height fields; not a public shape.
#define RG_CORE_TRIANGLE ((int)rg_shapeMesh)

// A convex core and a radius around it: spheres are points, capsules are segments.
typedef struct rgConvex {
    int kind; // rgShapeKind, or RG_CORE_TRIANGLE
    rgVec3 size;
    double radius; // added all around the core
    double scale;  // size of the core about its center plus radius: unit of tolerances
    double thin;   // half of the least width
    rgVec3 center; // a point inside the core
    const rgHull* hull;
    rgVec3 triangle[3];
    int32_t ids[3]; // names of the triangle's corners
} rgConvex;

typedef struct rgBvhNode {
    float lower[3], upper[3]; // rounded outward
    int32_t first;            // leaf: first triangle in order; inner: left child (right is next)
    int32_t count;            // 0: inner
} rgBvhNode;

// Static triangles with flags of their edges from neighbouring triangles.
typedef struct rgTriangles {
    int vertexCount, triangleCount, nodeCount;
    double* vertices;
    int32_t* corners;     // 3 per triangle, ordered by the tree
    int32_t* original;    // number of the triangle in the input
    rgVec3* normal;       // per triangle
    bool* closed;         // per triangle: of a piece without a border
    rgVec3* edgeNormal;   // 3 per triangle: normal of the neighbour across edge (k, k + 1), or zero
    int32_t* aroundStart; // vertexCount + 1
    int32_t* around;      // vertices joined to each by an edge, 6 per triangle
    rgBvhNode* nodes;
} rgTriangles;

typedef struct rgHeights {
    int columnCount, rowCount;
    double sizeX, sizeY, cellX, cellY, depth, lowest, highest;
    double* heights;
} rgHeights;

struct rgGeometry {
    rgShapeKind kind;
    rgVec3 size;
    rgConvex convex;
    rgHull hull;
    rgTriangles triangles;
    rgHeights heights;
    rgBox box;
    rgVec3 middle, half; // box of its core
    double boundingRadius;
    rgAllocator allocator;
    rgArena arena; // arrays of hull, triangles and heights
};

static inline bool rgIsFinite(rgVec3 v) {
    return isfinite(v.x) && isfinite(v.y) && isfinite(v.z);
}
static inline rgVec3 rgMin3(rgVec3 a, rgVec3 b) {
    return rgVec(RG_MIN(a.x, b.x), RG_MIN(a.y, b.y), RG_MIN(a.z, b.z));
}
static inline rgVec3 rgMax3(rgVec3 a, rgVec3 b) {
    return rgVec(RG_MAX(a.x, b.x), RG_MAX(a.y, b.y), RG_MAX(a.z, b.z));
}
static inline rgVec3 rgAbs3(rgVec3 a) {
    return rgVec(fabs(a.x), fabs(a.y), fabs(a.z));
}
static inline bool rgIsConvexKind(rgShapeKind kind) {
    return kind >= rg_shapeSphere && kind <= rg_shapeHull;
}
// Order of the shapes of a pair: surfaces first, then by kind.
static inline bool rgIsSwapped(rgShapeKind a, rgShapeKind b) {
    bool surfaceA = !rgIsConvexKind(a), surfaceB = !rgIsConvexKind(b);
    return surfaceA != surfaceB ? surfaceB : a > b;
}

// ---- hull.c
rgResult rgBuildHull(const rgGeometryDef* def, rgDiagnostics* diagnostics, rgGeometry* geometry);

// ---- sole.c
bool rgHull_MakeBlocks(rgHull* hull, rgArena* arena, rgArena* scratch);

// ---- climb.c
bool rgHull_PrepareClimbs(rgHull* hull, rgArena* arena); // needs vertices and neighbours
// Climb along a direction given by components: a vector would be passed through memory.
int rgHull_ClimbAlong(const rgHull* hull, double x, double y, double z, int start);
int rgHull_ScanAlong(const rgHull* hull, double x, double y, double z);
static inline int rgHull_Climb(const rgHull* hull, rgVec3 d, int start) {
    return rgHull_ClimbAlong(hull, d.x, d.y, d.z, start);
}
static inline int rgHull_Scan(const rgHull* hull, rgVec3 d) {
    return rgHull_ScanAlong(hull, d.x, d.y, d.z);
}

// ---- support.h has the supports, inline.

// B as seen from A, and the point at which both are compared.
typedef struct rgConvexPair {
    const rgConvex* a;
    const rgConvex* b;
    rgMat3 r; // B's axes in A
    rgVec3 t; // B's origin in A
    double scale;
    rgQuat q; // as r
} rgConvexPair;

static inline rgConvexPair rgMakePair(const rgConvex* a, rgPose poseA, const rgConvex* b,
                                      rgPose poseB) {
    rgQuat back = rgQuatConjugate(poseA.q);
    rgConvexPair pair = {.a = a, .b = b};
    pair.q = rgQuatMultiply(back, poseB.q);
    pair.r = rgMat3FromQuat(pair.q);
    pair.t = rgRotate(back, rgSub(poseB.p, poseA.p));
    pair.scale = RG_MAX(a->scale, b->scale);
    return pair;
}

// Not finite poses give no contact; closed forms see it in their comparisons.
static inline bool rgPair_IsFinite(const rgConvexPair* pair) {
    const double* m = pair->r.m;
    double r = (m[0] + m[1] + m[2]) + (m[3] + m[4] + m[5]) + (m[6] + m[7] + m[8]);
    return isfinite(r + (pair->t.x + pair->t.y + pair->t.z));
}

// Points of A - B around the origin. b is B's point before any shift.
typedef struct rgSimplex {
    int count;
    rgVec3 w[4], a[4], b[4];
    int32_t ia[4], ib[4];
    double weight[4];
} rgSimplex;

typedef struct rgGjkResult {
    rgSimplex simplex;
    rgVec3 v;        // nearest point of A - B - shift to the origin
    double distance; // |v|; at least the cutoff when beyond
    bool contained;  // the origin is inside, or touched
    bool beyond;     // further apart than the cutoff: v is a separating direction only
    int iterations;
    int32_t hintA, hintB; // last supporting vertices
} rgGjkResult;

typedef struct rgGjkInput {
    rgVec3 shift;     // B is moved by this
    rgVec3 direction; // from A to B, where to look first
    double cutoff;    // stop as soon as the distance is known to exceed this
    int32_t hintA, hintB;
    const rgSimplex* warm; // NULL, or points (ids) to start from
} rgGjkInput;

// ---- gjk.c
void rgGjk(const rgConvexPair* pair, const rgGjkInput* input, rgGjkResult* result);
void rgSimplex_Witnesses(const rgSimplex* simplex, rgVec3* a, rgVec3* b);

// Signed distance of two rounded cores in the frame of A.
typedef struct rgSigned {
    double gap;
    rgVec3 normal; // from A to B
    rgVec3 pointA, pointB;
    int32_t vertexA, vertexB;
    int32_t simplexA[3], simplexB[3]; // vertices that span the nearest feature of A - B
    int32_t simplexCount;             // -1: features of a smooth pair, see smooth.c; 0: none
    bool beyond; // gap is larger than the cutoff; nothing else is valid but normal
    int iterations;
} rgSigned;

// ---- epa.c: direction of least penetration for an origin inside A - B.
typedef struct rgEpaResult {
    rgVec3 normal;
    double depth; // along the normal
    bool exact;   // simplex is a triangle of the face of A - B nearest to the origin
    rgSimplex simplex;
    double reach, rest; // as of rgPairCache, when exact and requested
    int iterations;
} rgEpaResult;
bool rgEpa(const rgConvexPair* pair, const rgSimplex* simplex, bool survey, rgEpaResult* result);

// ---- corners.c: where corners or edges meet, the normal of corners that are rounded a little.
// The cache is that of the call that found s.
void rgRoundCorners(const rgConvexPair* pair, const rgPairCache* cache, rgSigned* s);

// ---- deep.c
void rgDeep_Store(const rgConvexPair* pair, const rgEpaResult* epa, rgPairCache* cache);
// True if a triangle of a face of A - B at this depth, which has the origin's foot with these
// weights, is nearer to the origin than all else: true only if the last search implies it.
bool rgDeep_IsLeast(const rgConvexPair* pair, const rgPairCache* cache, const rgVec3 w[3],
                    const double weight[3], double depth);

// A pair that is apart by a distance at least, for rgStaysApart(). The cache's depth is negative.
void rgApart_Store(const rgConvexPair* pair, double distance, rgPairCache* cache);

// ---- warm.c
typedef struct rgWarmLimits {
    double least;   // nearer than this only a triangle counts
    double room;    // up to this distance a touching pair is compared as if at it
    double shallow; // deeper than this the last search must imply that nothing is nearer
} rgWarmLimits;
// Signed distance from the features nearest last time; false when they may be so no more.
bool rgWarmDistance(const rgConvexPair* pair, const rgPairCache* cache, const rgWarmLimits* limits,
                    rgSigned* out);

// ---- smooth.c: warm start for cylinders and ellipsoids, down to a depth.
bool rgWarmSmooth(const rgConvexPair* pair, const rgPairCache* cache, double shallow,
                  rgSigned* out);
void rgSmooth_Keep(const rgConvexPair* pair, const rgSimplex* simplex, rgSigned* out);

// ---- distance.c
void rgSignedDistance(const rgConvexPair* pair, double cutoff, rgPairCache* cache, rgSigned* out);
// Local minimum of penetration reached by descent from a direction.
void rgTrack(const rgConvexPair* pair, rgVec3 normal, const rgSimplex* warm, rgSigned* out);
// Core against core by a closed form; false when there is none for these kinds.
bool rgClosedDistance(const rgConvexPair* pair, rgSigned* out);

// Face, edge or vertex that supports a core in some direction, in the frame of the pair.
typedef struct rgFeature {
    int count; // 1 vertex, 2 edge, more: face
    rgVec3 points[RG_POLYGON_LIMIT];
    int32_t ids[RG_POLYGON_LIMIT];
    rgVec3 normal; // normal of a face
} rgFeature;

// Points before reduction.
typedef struct rgRawPoint {
    rgVec3 position;
    double gap;
    double x, y; // in the tangent plane
    uint32_t feature;
} rgRawPoint;
#define RG_RAW_LIMIT (4 * RG_POLYGON_LIMIT)

typedef struct rgRawManifold {
    rgVec3 normal;
    int count;
    rgRawPoint points[RG_RAW_LIMIT];
} rgRawManifold;

// ---- feature.c
void rgConvex_Feature(const rgConvex* convex, rgVec3 direction, int32_t hint, rgFeature* feature);
uint32_t rgFeatureId(int kind, int32_t a0, int32_t a1, int32_t b0, int32_t b1);

// ---- clip.c
// Overlap of two features seen along the normal. Gaps are between the rounded surfaces.
void rgClipFeatures(const rgFeature* a, const rgFeature* b, double radiusA, double radiusB,
                    double margin, rgRawManifold* raw);
// Tangents that turn smoothly with the normal except near one odd direction and its opposite, so
// that the choice of points does not jump for normals along axes, of either sign.
void rgPatchBasis(rgVec3 normal, rgVec3* t1, rgVec3* t2);
// Keep at most limit points, with the largest support area.
void rgReduce(rgRawManifold* raw, int limit);
void rgEmit(const rgRawManifold* raw, rgPose poseA, rgManifold* manifold);
void rgRawManifold_Add(rgRawManifold* raw, rgVec3 position, double gap, uint32_t feature);

// ---- manifold.c
// Pair of convex cores at a known signed distance to points.
void rgBuildManifold(const rgConvexPair* pair, const rgSigned* signedDistance, double margin,
                     rgRawManifold* raw);
// Gaps no less than the distance, and the nearest points where no other point reaches it.
void rgFinishManifold(const rgConvexPair* pair, const rgSigned* signedDistance, rgRawManifold* raw);
void rgCollideConvex(const rgCollideInput* input, rgManifold* manifold);

// ---- closed forms: plane.c, round.c, boxes.c
void rgCollidePlane(const rgCollideInput* input, rgManifold* manifold); // a is the plane
void rgCollideSpheres(const rgCollideInput* input, rgManifold* manifold);
void rgCollideSphereCapsule(const rgCollideInput* input, rgManifold* manifold);
void rgCollideCapsules(const rgCollideInput* input, rgManifold* manifold);
void rgCollideSphereBox(const rgCollideInput* input, rgManifold* manifold);
void rgCollideBoxes(const rgCollideInput* input, rgManifold* manifold);
void rgPlaneDistance(const rgConvex* b, rgPose poseA, rgPose poseB, rgProximity* proximity);

// ---- triangles.c and surface.c: height fields and meshes
rgResult rgBuildTriangles(const rgGeometryDef* def, rgDiagnostics* diagnostics,
                          rgGeometry* geometry);
rgResult rgBuildHeights(const rgGeometryDef* def, rgDiagnostics* diagnostics, rgGeometry* geometry);
void rgCollideSurface(const rgCollideInput* input, rgManifold* manifold); // a is the surface
void rgSurfaceDistance(const rgGeometry* a, rgPose poseA, const rgGeometry* b, rgPose poseB,
                       rgProximity* proximity);

typedef struct rgSurfaceTriangle {
    rgVec3 corners[3];
    rgVec3 normal;
    rgVec3 edgeNormal[3]; // neighbour's normal across edge k, or zero
    int32_t index;
    int32_t ids[3]; // vertex numbers, shared by neighbouring triangles
    bool closed;    // part of a solid: the side behind it is inside
} rgSurfaceTriangle;
// Called for each triangle whose box meets; false ends.
typedef bool rgTriangleFcn(const rgSurfaceTriangle* triangle, void* context);
void rgVisitTriangles(const rgGeometry* surface, const rgBox* box, rgTriangleFcn* visit,
                      void* context);
// Triangles whose squared distance from a point may be within the limit, which the visitor lowers.
void rgVisitNear(const rgTriangles* triangles, rgVec3 p, const double* limit, rgTriangleFcn* visit,
                 void* context);
void rgHeights_Triangle(const rgHeights* h, int i, int j, int half, rgSurfaceTriangle* t);
void rgTriangles_Get(const rgTriangles* t, int i, rgSurfaceTriangle* out);
#define RG_AROUND_LIMIT 64
// Vertices joined to a vertex by edges of the surface, at most RG_AROUND_LIMIT; their number.
int rgNeighborsOf(const rgGeometry* surface, int32_t vertex, rgVec3 around[RG_AROUND_LIMIT]);
bool rgRayCastSurface(const rgGeometry* geometry, const rgRay* ray, rgRayHit* hit);
// The ray, in the mesh's frame, meets any triangle.
bool rgRayMeetsMesh(const rgTriangles* triangles, const rgRay* ray);
