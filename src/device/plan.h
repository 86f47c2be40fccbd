// A model, and worlds of it, as the device reads them: plain numbers, the same on host and device.
// docs/gpu.md.
#pragma once
#include "collision/internal.h"

#include <stddef.h>
#include <stdint.h>

#define RG_MANY_ROUNDS 4   // passes of a step; steps that need more are done on the host
#define RG_MANY_SWEEPS 400 // Gauss-Seidel passes of the projection; then the host

// Why a step of a world is done by rgWorld instead.
typedef enum rgManyReason {
    rg_manyDone,
    rg_manyStart,       // moving trees that were set: the start looks ahead
    rg_manyFast,        // a fast tree turns with another one that it touches
    rg_manyShapes,      // shapes are near that the device does not collide
    rg_manyCurved,      // curved paths: a gap at the end of the step is another
    rg_manyRolling,     // a round body rolls
    rg_manyRestitution, // an impact rebounds
    rg_manyPoints,      // more contact points than there is room for
    rg_manyRows,        // more rows than there is room for
    rg_manyPasses,      // more passes than RG_MANY_ROUNDS
    rg_manyUnsolved,    // the contact problem
    rg_manyProjection,  // the projection
    rg_manyFlight,      // large rotations within a step of flight
    rg_manyNumbers,     // numbers that are not finite, M without a factor
    rg_manyReasonCount
} rgManyReason;

typedef enum rgManyLinkKind { // as rgLinkKind
    rg_manyWorld,
    rg_manyRevolute,
    rg_manyPrismatic,
    rg_manySpherical,
    rg_manyFree
} rgManyLinkKind;

typedef struct rgManyLink {
    rgRot rotation;
    rgVec3 origin, center;
    rgSym3 moment;
    double mass, sign;
    int parent, q, v, vCount, tree, kind, axis, unrotated, massless;
} rgManyLink;

typedef struct rgManyDof {
    double armature, damping, dryFriction, effort; // effort 0: no limit
    double spring, springReference;                // of its joint, with one degree of freedom
    double allStiffness, allDamping;               // with those of gains: part of M^
    double leverArm, coupling;
    int link, parent, rowStart, depth, tree, q, slot;
} rgManyDof;

typedef struct rgManyTree {
    int firstLink, linkCount, firstDof, dofCount;
    int isFreeBody;
} rgManyTree;

typedef struct rgManyLimit {
    double lower, upper;
    int q, v, slot;
} rgManyLimit;

typedef enum rgManyDriveMode { rg_manyForce, rg_manyJoint, rg_manyRow } rgManyDriveMode;

typedef struct rgManyDrive {
    double gain, bias, controlLower, controlUpper, lower, upper, stiffness, damping, gear;
    int mode, q, v, slot, hasControlRange;
} rgManyDrive;

typedef struct rgManyCollider {
    rgPose place; // in its link; in the world for those of link 0
    double bound; // radius about the origin; infinite for planes
    double thin, margin;
    int link, tree, isOrigin;
    int isRound, isCentered; // a sphere at the centre of mass of its link
    int isFlat;              // a plane or a box
    int isKnown;             // the device collides it
} rgManyCollider;

typedef struct rgManyPair {
    double mu, restitution;
    int a, b;
    int sameRobot;
} rgManyPair;

// Places of the numbers of a world in its state and in its work memory. state.* and work.* count
// numbers, *Int count ints.
typedef struct rgManyState {
    int time, q, v, control, force, change, predictor, isSet, impulse;
    int memory; // per point: impulse, and that of the projection
    int residual, count;
} rgManyState;

typedef struct rgManyStateInt {
    int memoryCount, memoryPair, memoryFeature;
    int pair; // per pair: bit 0: near in the last step, bit 1: overlaps by design
    int steps, mostRows;
    int reason; // rgManyReason of the last step
    int halted; // the world stands still
    int count;
} rgManyStateInt;

typedef struct rgManyWork {
    int q, v, predictor, midV, tau, added, freeV, nextV, endV, bodyV, nextQ, x, y;
    int origins, poses, axes, velocities, biases, linkV, inertias, composites;
    int mass, diagonal, factor, inverse, drift;
    int projectedV, rejected;  // of trees that turn fast
    int colliders;             // RG_MANY_COLLIDER_NUMBERS each
    int points;                // RG_MANY_POINT_NUMBERS each
    int before, beforeOrigins; // poses that others took the place of
    int rowGap, projection, room, flightQ, flightV, flightMid, flightForce, flightTau, flightAdded;
    int count;
} rgManyWork;

enum { // numbers of a contact point
    rg_pointPosition = 0,
    rg_pointNormal = 3,
    rg_pointTangent1 = 6,
    rg_pointTangent2 = 9,
    rg_pointGap = 12,
    rg_pointImpulse = 13, // of the last pass, 3
    rg_pointMemory = 16,  // of the last step, 3, and of its projection
    rg_pointProjection = 19,
    RG_MANY_POINT_NUMBERS = 20
};

enum { // numbers of a collider
    rg_colliderPlace = 0,
    rg_colliderTurn = 3,
    rg_colliderVelocity = 7,
    rg_colliderSpin = 10,
    rg_colliderSpeed = 11,
    rg_colliderAhead = 12,
    rg_colliderReach = 13,
    rg_colliderBox = 14, // lower, upper
    RG_MANY_COLLIDER_NUMBERS = 20
};

typedef struct rgManyWorkInt {
    int pointCount, pointPair, pointFeature, pointActive, pointHasImpulse, pointOverlaps,
        pointCurves, pointRow;
    int pairState, rowKind, rowSource, isHeld, isFast, isTransported, substeps, island, treeTouches,
        rowCount, groupCount, pass, again, resumes, reason;
    int lineRow, mayCurve;
    int count;
} rgManyWorkInt;

// All arrays lie in one block, so that a copy of it with moved pointers serves a device.
typedef struct rgManyModel {
    int linkCount, treeCount, vCount, qCount, massCount, limitCount, driveCount, colliderCount,
        pairCount, slotCount;
    int pointCapacity, rowCapacity;
    int drifts; // midpoint rule
    int maxContactsPerPair;
    int hasWholeRounds; // round shapes on free bodies: they may roll
    double dt, margin, pushOutSpeed, restitutionThreshold, gravityLength;
    rgVec3 gravity;
    const rgManyLink* links;
    const rgManyDof* dofs;
    const rgManyTree* trees;
    const rgManyLimit* limits;
    const rgManyDrive* drives;
    const rgManyCollider* colliders;
    const rgGeometry* geometries; // of the colliders; hulls have no arrays
    const rgManyPair* pairs;
    const int* massColumns;
    rgManyState state;
    rgManyStateInt stateInt;
    rgManyWork work;
    rgManyWorkInt workInt;
} rgManyModel;

// One world: its numbers are `stride` apart in the state, and `step` apart in the work memory.
typedef struct rgMany {
    const rgManyModel* m;
    double* state;
    int* stateInt;
    double* work;
    int* workInt;
    size_t stride, step;
    struct rgLaneProblem* problem;
    struct rgLaneGroup* groups;
    double *mass, *J; // dense lower triangle; rows
    double *velocity, *compliance, *length, *start, *lambda;
    const struct rgLaneOutcome* outcome;
} rgMany;

#define RG_S(w, field, i)  (w)->state[(size_t)((w)->m->state.field + (i)) * (w)->stride]
#define RG_SI(w, field, i) (w)->stateInt[(size_t)((w)->m->stateInt.field + (i)) * (w)->stride]
#define RG_W(w, field, i)  (w)->work[(size_t)((w)->m->work.field + (i)) * (w)->step]
#define RG_WI(w, field, i) (w)->workInt[(size_t)((w)->m->workInt.field + (i)) * (w)->step]
#define RG_AT(w, i)        (w)->work[(size_t)(i) * (w)->step]
