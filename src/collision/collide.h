// Collision for the step of a world, without the checks of the public calls.
#pragma once
#include "math/frame.h"
#include "math/two.h"
#include "rigor/collision.h"

typedef struct rgCollideInput {
    const rgGeometry *a, *b;
    const rgPose *poseA, *poseB;
    double margin;
    int maxPoints;
    rgPairCache* cache;         // may be NULL
    bool isSeparationUnknown;   // rgStaysApart() was called and could not decide
    const rgRot *axesA, *axesB; // rotations of the poses; NULL: not known
} rgCollideInput;
int rgCollideShapes(const rgCollideInput* input, rgManifold* manifold); // manifold.c

// Data that the pairs of a shape share.
typedef struct rgPlacement {
    rgRot axes;    // rotation of its pose
    rgVec3 center; // center of its core, world
} rgPlacement;
// The box of a shape, larger by grow on all sides, and its placement.
void rgPlaceGeometry(const rgGeometry* geometry, const rgPose* pose, double grow,
                     rgPlacement* placement, rgBox* box);
// True if a pair whose cache has a negative depth, hence was apart, has moved too little since to
// be within the margin: no points then. deep.c
bool rgStaysApart(const rgCollideInput* input, const rgPlacement* a, const rgPlacement* b);

// rgBroadphase_Move() of a proxy that is in use.
rgResult rgBroadphase_MoveTo(rgBroadphase* broadphase, int proxy, const rgBox* box);
const rgBox* rgBroadphase_Boxes(const rgBroadphase* broadphase); // by proxy, as given

// y is compared twice.
static inline bool rgBoxesMeet(const rgBox* a, const rgBox* b) {
    rgTwoInts xy = (rgLoadTwo(&a->lower.x) <= rgLoadTwo(&b->upper.x)) &
                   (rgLoadTwo(&b->lower.x) <= rgLoadTwo(&a->upper.x));
    rgTwoInts yz = (rgLoadTwo(&a->lower.y) <= rgLoadTwo(&b->upper.y)) &
                   (rgLoadTwo(&b->lower.y) <= rgLoadTwo(&a->upper.y));
    return rgAllOf(xy & yz);
}

// Image of the z axis.
static inline rgVec3 rgZAxis(rgQuat q) {
    return rgVec(2 * (q.x * q.z + q.w * q.y), 2 * (q.y * q.z - q.w * q.x),
                 1 - 2 * (q.x * q.x + q.y * q.y));
}
