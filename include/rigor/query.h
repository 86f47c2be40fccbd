// Questions to a world: hits of rays and moving shapes, distances, touching pairs, and the
// rigid-body quantities of the current state.
#pragma once
#include "rigor/collision.h"
#include "rigor/dynamics.h"
#include "rigor/world.h"

/// Shapes that a query ignores. Zero-initialised, or NULL as an argument: none.
typedef struct rgQueryFilter {
    uint32_t
        groups; ///< bits: shapes without one of them in their group are passed by; 0: all count
    rgBodyId ignore;  ///< shapes of this body are passed by
    bool ignoreTree;  ///< and those of all that hangs together with it by joints
    bool ignoreWorld; ///< shapes that belong to no body are passed by
} rgQueryFilter;

typedef struct rgWorldHit {
    rgShapeId shape;
    rgBodyId body;   ///< null: the world
    rgVec3 point;    ///< on the shape, world [m]
    rgVec3 normal;   ///< outward unit normal of the shape there
    double distance; ///< from the origin along the direction [m]
    double fraction; ///< the same as a share of the direction
    int part;        ///< ray: triangle of a mesh, face of a hull, cell of a height field
} rgWorldHit;

/// Queries see the current state and the shapes that take part in collisions; shapes and bodies
/// that are disabled are passed by. One thread at a time, as all calls on a world.

/// The first shape that a ray meets; false: none. See rgRayCast() for rays that start inside.
RG_API bool rgWorld_RayCast(const rgWorld* world, const rgRay* ray, const rgQueryFilter* filter,
                            rgWorldHit* hit);
/// Many rays at once, such as those of a lidar. hits[i].shape is null where ray i meets nothing,
/// and its distance is then infinite. Returns the number of rays that met something.
RG_API int rgWorld_CastRays(const rgWorld* world, const rgRay* rays, int count,
                            const rgQueryFilter* filter, rgWorldHit* hits);
/// The first shape that a convex geometry meets on its way from the pose along the direction,
/// without turning, up to maxFraction of it. One that overlaps already is met at fraction 0. The
/// fraction is right to 1e-6 m of distance. Height fields are met from above. False: none, or the
/// geometry is a surface.
RG_API bool rgWorld_ShapeCast(const rgWorld* world, const rgGeometry* geometry, rgPose pose,
                              rgVec3 direction, double maxFraction, const rgQueryFilter* filter,
                              rgWorldHit* hit);
/// Shapes that share a point with a geometry at a pose, in the order of their ids, those of the
/// world first. Writes up to capacity of them; returns how many there are.
RG_API int rgWorld_Overlaps(const rgWorld* world, const rgGeometry* geometry, rgPose pose,
                            const rgQueryFilter* filter, rgShapeId* shapes, int capacity);
/// Signed distance of two shapes of the world; see rgDistance(). rg_errorUnsupported for two
/// surfaces and for shapes that take no part in collisions.
RG_API rgResult rgWorld_ShapeDistance(const rgWorld* world, rgShapeId a, rgShapeId b,
                                      rgProximity* proximity);

/// All that rigor/dynamics.h offers, at the current state: Jacobians that map
/// rgWorld_Velocities(), M, centre of mass, momentum. A view until the state changes; made at the
/// first call, NULL when there is no memory for it. Kinematic bodies are where they are.
RG_API rgDynamics* rgWorld_Dynamics(const rgWorld* world);
/// Of a frame's origin in the last step or forward call, world axes, without gravity.
RG_API rgSpatial rgWorld_FrameAcceleration(const rgWorld* world, rgFrameId frame);

typedef enum rgTouchState {
    rg_touchBegin,   ///< it presses, and did not in the step before
    rg_touchPersist, ///< it presses, as in the step before
    rg_touchEnd,     ///< it pressed in the step before, and does no more
} rgTouchState;

/// Two shapes that press on each other, or have just stopped to.
typedef struct rgTouch {
    rgBodyId bodyA, bodyB; ///< null: the world, which is never B
    rgShapeId shapeA, shapeB;
    rgTouchState state;
    int firstContact, contactCount; ///< in rgWorld_Contacts(); none where both sleep
    rgVec3 force;                   ///< net, on B [N], world axes
} rgTouch;

/// Pairs that touch in the last step or forward call, and those that ended; a view until the next
/// call.
RG_API const rgTouch* rgWorld_Touches(const rgWorld* world, int* count);
/// Net wrench of all contacts on a body, at its centre of mass, world axes.
RG_API rgSpatial rgWorld_ContactWrench(const rgWorld* world, rgBodyId body);
/// Of those with another body only; null: with shapes that are fixed to the world by no body.
RG_API rgSpatial rgWorld_PairWrench(const rgWorld* world, rgBodyId body, rgBodyId other);
