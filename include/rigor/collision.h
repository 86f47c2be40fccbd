// Collision detection: geometries, manifolds, distances, rays, and the broadphase.
#pragma once
#include "rigor/shape.h"

/// Axis-aligned box.
typedef struct rgBox {
    rgVec3 lower, upper; ///< [m]; infinite for planes
} rgBox;

/// Definition of a geometry. Start from rgDefaultGeometryDef().
typedef struct rgGeometryDef {
    rgShapeKind kind;
    rgVec3 size;            ///< meaning: see rgShapeKind [m]
    double rounding;        ///< box, cylinder, hull: radius of a ball added all around [m]
    const rgMeshData* mesh; ///< hull, mesh; copied
    const rgHeightFieldData* heightField; ///< height field; copied
    const char* file;                     ///< where it was written, for messages; may be NULL
    int line;
    rgAllocator allocator; ///< zero means the C runtime
    uint32_t cookie;
} rgGeometryDef;

/// One shape prepared for collision detection: immutable, shared by any number of threads.
typedef struct rgGeometry rgGeometry;

RG_API rgGeometryDef rgDefaultGeometryDef(void);
/// Refuses sizes that are not positive, flat or empty hulls, vertices that are not numbers, indices
/// out of range, height fields of less than one cell; the diagnostics say why.
RG_API rgResult rgCreateGeometry(const rgGeometryDef* def, rgDiagnostics* diagnostics,
                                 rgGeometry** geometry);
RG_API void rgDestroyGeometry(rgGeometry* geometry);

RG_API rgShapeKind rgGeometry_Kind(const rgGeometry* geometry);
RG_API rgVec3 rgGeometry_Size(const rgGeometry* geometry);
/// Box around the geometry in its own frame.
RG_API rgBox rgGeometry_LocalBox(const rgGeometry* geometry);
/// Largest distance of a point of the geometry from the origin of its frame [m]; infinite for
/// planes.
RG_API double rgGeometry_BoundingRadius(const rgGeometry* geometry);
/// Least width [m]: of hulls the least across a face; infinite for planes, height fields, meshes.
RG_API double rgGeometry_Width(const rgGeometry* geometry);
/// Triangles of a mesh whose piece has a border. They meet shapes on their front only, on which
/// their corners run counter-clockwise; shapes from behind pass through.
RG_API int rgGeometry_OpenTriangleCount(const rgGeometry* geometry);
/// Box around the geometry at a pose.
RG_API rgBox rgGeometry_Box(const rgGeometry* geometry, rgPose pose);

/// Polygons of a convex hull, counter-clockwise from outside. A view that lives as long as the
/// geometry.
typedef struct rgHullView {
    int vertexCount;
    const double* vertices; ///< 3 per vertex [m]
    int faceCount;
    const int* faceStart;    ///< faceCount + 1
    const int* faceVertices; ///< faceStart[faceCount]
} rgHullView;
/// False unless the geometry is a hull.
RG_API bool rgGeometry_Hull(const rgGeometry* geometry, rgHullView* view);

/// How a solid of triangles becomes convex hulls. Start from rgDefaultDecomposeDef().
typedef struct rgDecomposeDef {
    double tolerance; ///< hollows may be filled up to this share of the diagonal of the mesh's box
    int maxHulls;     ///< 1 to RG_DECOMPOSE_LIMIT; more hollow may be filled where they run out
    const char* file; ///< where it was written, for messages; may be NULL
    int line;
    rgAllocator allocator; ///< zero means the C runtime
    uint32_t cookie;
} rgDecomposeDef;
#define RG_DECOMPOSE_LIMIT 256

/// Convex hulls that cover a mesh.
typedef struct rgDecomposition rgDecomposition;

RG_API rgDecomposeDef rgDefaultDecomposeDef(void);
/// The same mesh and def give the same bits. A mesh that encloses no volume gives one hull and a
/// warning; a flat one is refused.
RG_API rgResult rgDecomposeMesh(const rgMeshData* mesh, const rgDecomposeDef* def,
                                rgDiagnostics* diagnostics, rgDecomposition** decomposition);
RG_API void rgDestroyDecomposition(rgDecomposition* decomposition);
RG_API int rgDecomposition_Count(const rgDecomposition* decomposition);
/// A view that lives as long as the decomposition; empty when there is no such hull.
RG_API rgHullView rgDecomposition_Hull(const rgDecomposition* decomposition, int index);
/// The deepest hollow that is filled, as measured, as a share of the mesh's diagonal.
RG_API double rgDecomposition_Hollow(const rgDecomposition* decomposition);

#define RG_MANIFOLD_CAPACITY 8

/// One point at which two shapes touch or are about to.
typedef struct rgManifoldPoint {
    rgVec3 position;  ///< midway between the two surfaces, world [m]
    rgVec3 normal;    ///< unit, from A to B, world. The same for all points of two convex shapes.
    double gap;       ///< [m]; negative: penetration
    uint32_t feature; ///< names the touching features; the same from step to step
} rgManifoldPoint;

typedef struct rgManifold {
    rgVec3 normal; ///< of the deepest point
    int count;
    rgManifoldPoint points[RG_MANIFOLD_CAPACITY];
} rgManifold;

/// Memory of a pair from call to call, for speed. Zero-initialized: nothing yet. It may change
/// results within rounding and the choice of points, hence belongs to the state that is saved and
/// restored.
typedef struct rgPairCache {
    rgVec3 axis;              ///< last direction from A to B, in A's frame; zero: none
    int32_t vertexA, vertexB; ///< last supporting vertices
    int32_t simplexA[3], simplexB[3];
    int32_t simplexCount; ///< vertices of the nearest feature; -1: features of smooth shapes
    int32_t touching;     ///< the last gap was close to zero
    // Deep pairs: result of the last search of all directions, and the pose of B then. Pairs that
    // are apart: a distance that they had, as a negative depth.
    float offset[3], turn[4]; ///< from A's center to B's, and B's rotation, in A's frame
    float depth;              ///< least depth then [m]
    float reach;              ///< from the nearest point of A - B to the border of its face [m]
    float rest;               ///< any other minimum was deeper than this [m]; 0: not known
    // Hulls below planes: the vertices chosen (simplexA, simplexB), the plane's normal in the
    // hull's frame (axis), the rest of the margin (reach), and their distance (rest).
} rgPairCache;

/// Points of A and B whose gap is at most margin, 4 at most for two convex shapes and
/// RG_MANIFOLD_CAPACITY for height fields and meshes. The cache may be NULL. Returns their number.
/// Pure: no memory, no globals.
RG_API int rgCollide(const rgGeometry* a, rgPose poseA, const rgGeometry* b, rgPose poseB,
                     double margin, rgPairCache* cache, rgManifold* manifold);

/// The same with another limit than 4; at most RG_MANIFOLD_CAPACITY.
RG_API int rgCollideUpTo(int maxPoints, const rgGeometry* a, rgPose poseA, const rgGeometry* b,
                         rgPose poseB, double margin, rgPairCache* cache, rgManifold* manifold);

/// Signed distance of two shapes.
typedef struct rgProximity {
    double distance;       ///< [m]; negative: depth of penetration
    rgVec3 pointA, pointB; ///< pointB = pointA + distance normal, world
    rgVec3 normal;         ///< unit, from A to B, world
    int iterations;        ///< support evaluations of each shape; 0 for closed forms
} rgProximity;

/// Distance, nearest points and normal; valid apart, touching and deep. The cache may be NULL.
/// Surfaces (height fields, meshes) count as penetrated only near their triangles.
/// rg_errorUnsupported when both are surfaces (plane, height field, mesh), rg_errorNumeric when a
/// pose is not finite, or the square of a length overflows.
RG_API rgResult rgDistance(const rgGeometry* a, rgPose poseA, const rgGeometry* b, rgPose poseB,
                           rgPairCache* cache, rgProximity* proximity);

/// True if two shapes share a point. False for two surfaces.
RG_API bool rgOverlap(const rgGeometry* a, rgPose poseA, const rgGeometry* b, rgPose poseB);

typedef struct rgRay {
    rgVec3 origin;      ///< world [m]
    rgVec3 direction;   ///< need not be a unit vector
    double maxFraction; ///< the ray ends at origin + maxFraction direction
} rgRay;

typedef struct rgRayHit {
    double fraction; ///< of the direction
    rgVec3 position; ///< world [m]
    rgVec3 normal;   ///< outward unit normal of the surface
    int part;        ///< triangle of a mesh, face of a hull, cell of a height field; otherwise 0
} rgRayHit;

/// First point at which a ray enters a shape. A ray that starts inside a solid shape hits at
/// fraction 0 with the normal against the ray. Planes are solid below; meshes and height fields are
/// hit from either side.
RG_API bool rgRayCast(const rgGeometry* geometry, rgPose pose, const rgRay* ray, rgRayHit* hit);

/// A geometry somewhere.
typedef struct rgPlacedGeometry {
    const rgGeometry* geometry;
    rgPose pose;
} rgPlacedGeometry;

typedef struct rgClosePair {
    int a, b; ///< a < b
    rgProximity proximity;
} rgClosePair;

/// Pairs no further apart than maxDistance, nearest first. Writes up to capacity of them and
/// reports how many exist. Pairs of two surfaces are left out.
RG_API rgResult rgFindClosePairs(const rgPlacedGeometry* shapes, int shapeCount, double maxDistance,
                                 rgClosePair* pairs, int capacity, int* found);

/// Finds boxes that overlap. One thread at a time.
typedef struct rgBroadphase rgBroadphase;

typedef struct rgBroadphaseDef {
    double fatten;         ///< boxes are kept larger by this much on every side [m], and some steps
                           ///< ahead in the direction of motion
    double fattenRelative; ///< and by this fraction of their size [-]
    rgKernelSet kernels;   ///< AVX-512 counts as AVX2; pairs are the same
    rgAllocator allocator;
    uint32_t cookie;
} rgBroadphaseDef;

/// True if two proxies may collide; called when one leaves its fat box. A pure function.
typedef bool rgPairFilterFcn(int proxyA, int proxyB, void* context);

typedef struct rgProxyPair {
    int32_t a, b; ///< proxies, a < b
} rgProxyPair;

/// How the pairs of an update came from those of the one before.
typedef struct rgPairChanges {
    int count;
    const int32_t* previous; ///< for each pair its index in the last update, or -1 when new
} rgPairChanges;

RG_API rgBroadphaseDef rgDefaultBroadphaseDef(void);
RG_API rgResult rgCreateBroadphase(const rgBroadphaseDef* def, rgBroadphase** broadphase);
RG_API void rgDestroyBroadphase(rgBroadphase* broadphase);

/// Add a box; its proxy is the smallest number not in use. Boxes with infinite sides meet
/// everything that the filter lets through.
RG_API rgResult rgBroadphase_Add(rgBroadphase* broadphase, rgBox box, int* proxy);
RG_API rgResult rgBroadphase_Remove(rgBroadphase* broadphase, int proxy);
/// Tell where a box is now. Cheap while it stays within its fat box.
RG_API rgResult rgBroadphase_Move(rgBroadphase* broadphase, int proxy, rgBox box);
/// Bring pairs up to date. The filter may be NULL.
RG_API rgResult rgBroadphase_Update(rgBroadphase* broadphase, rgPairFilterFcn* filter,
                                    void* context);
/// Pairs whose fat boxes overlap and whom the filter let through, ordered by a, then b: the same
/// for any history of the tree. A view until the next update.
RG_API const rgProxyPair* rgBroadphase_Pairs(const rgBroadphase* broadphase, int* count);
RG_API rgPairChanges rgBroadphase_Changes(const rgBroadphase* broadphase);
/// Whether the boxes given last (not fattened) overlap, once grown by margin.
RG_API bool rgBroadphase_BoxesOverlap(const rgBroadphase* broadphase, rgProxyPair pair,
                                      double margin);

/// Called for each proxy found; false ends the search.
typedef bool rgProxyFcn(int proxy, void* context);
/// Proxies whose boxes overlap the given one, in no promised order.
RG_API void rgBroadphase_Query(const rgBroadphase* broadphase, rgBox box, rgProxyFcn* visit,
                               void* context);
/// Called for each proxy whose box the ray meets; returns the new maxFraction (0 ends the search).
typedef double rgProxyRayFcn(int proxy, const rgRay* ray, void* context);
RG_API void rgBroadphase_RayCast(const rgBroadphase* broadphase, const rgRay* ray,
                                 rgProxyRayFcn* visit, void* context);
