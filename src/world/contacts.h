// Colliders, active pairs and contact points of a step.
#pragma once
#include "collision/collide.h"
#include "world/kinematics.h"
#include "world/tuning.h"
#include "world/warmstart.h"

typedef struct rgConstraintSet rgConstraintSet;

typedef enum rgColliderRest {
    rg_colliderStill = 1,    // it does not move by itself, or sleeps
    rg_colliderAsleep = 2,   // or disabled, with its tree
    rg_colliderDisabled = 4, // by itself
    rg_colliderPlane = 8,    // no box
} rgColliderRest;

// A shape that takes part in collisions.
typedef struct rgCollider {
    const rgGeometry* geometry;
    double radius;   // bounding, about the shape's origin; infinite for planes
    double thin;     // half of its least width; infinite for surfaces
    rgVec3 velocity; // rgWorld_PlaceColliders: of the shape's origin [m/s]
    double spin;     // rgWorld_PlaceColliders: bound on the speed of its points about the origin
    double speed;    // rgWorld_PlaceColliders: bound on the speed of its points
    double ahead;    // rgWorld_PlaceColliders: rgKinematics_TreeAhead() of its link [s]
    double margin;   // rgWorld_PlaceColliders: of its shape [m]
    double reach;    // rgWorld_PlaceColliders: growth of its box beyond the shape [m]
    int shape;       // index
    int link;
    int body; // index; -1: the world
    bool plane;
    rgPose pose; // rgWorld_PlaceColliders, world
    rgPlacement placement;
} rgCollider;

// Stiffness and damping of a constraint or a contact point.
typedef struct rgSoftness {
    double stiffness, damping; // 0: rigid
} rgSoftness;

// One contact point of this step.
typedef struct rgContactPoint {
    rgVec3 position;
    rgVec3 normal, tangent1, tangent2;
    double gap;
    uint32_t feature;
    int pair;  // in the next memory
    int place; // in its manifold
    int colliderA, colliderB;
    int pointCount; // of its manifold
    int firstRow;   // rgAssembleContacts
    int rowCount;
    double mu;
    bool isSoft;            // has a normal spring
    double springEnergy;    // rgAddContacts: of that spring at the start of the step [J]
    bool overlaps;          // rigid, between parts that overlap by design
    bool squeezes;          // rigid, and a kinematic body closes it
    bool regularized;       // a kinematic body squeezes it, and no rigid solution was found
    double projection;      // rgWorld_LoadImpulses: of the last step [kg m]
    bool hasImpulse;        // rgWorld_StorePassImpulses: it had rows in the last pass
    double impulse[6];      // rgWorld_StorePassImpulses: of the last pass
    rgSoftness tangential;  // rgAddContacts; none in an impact
    double hitSpeed;        // rgContactSet_Activate: that an impact elsewhere closed it with
    bool mayHit;            // rgAddContacts: the free motion decides whether it is an impact
    double restitutionBias; // rgAddContacts: of an impact with restitution; 0: none
    double restBias;        // rgAddContacts: bias without restitution
    bool rolls;        // rgWorld_FindRolling: corrections are those of a point that rolls along
    bool mayCurve;     // its pair is fast enough for curved paths to matter
    bool actsAtCenter; // rgWorld_CorrectGaps: at the centre of the body that turns faster
    double manifoldCorrection; // rgWorld_CorrectGaps: part of it for overlap beside the point
    double gapCorrection; // rgWorld_CorrectGaps: of the gap at the end, by curved paths [m], <= 0
    rgVec3 curvatureSlip; // rgSetCurvatureSlips: slip that curved paths of both sides add [m/s]
    double rollingShare;  // rgSetCurvatureSlips: from 0, where the sides turn apart, to 1
    rgVec3 anchor;        // rgAddBristles: elastic tangential displacement before the step
} rgContactPoint;

// Colliders, active pairs and contact points of a step.
typedef struct rgContactSet {
    rgBroadphase* broadphase;
    int geometryCount;
    rgGeometry** geometries; // per shape; NULL: takes no part
    int colliderCount;
    rgCollider* colliders;  // in the order of their proxies
    uint8_t* colliderRest;  // rgWorld_MatchPairs, bits of rgColliderRest
    int* treeContacts;      // gap.c, per tree: contact points
    bool* treeRolls;        // gap.c, per tree: on a point that was loaded before
    bool* treeSprings;      // gap.c, per tree: on points that all are compliant
    rgContactPoint* points; // in the active set
    int pointCount, pointCapacity;
    rgContactPoint* inactive; // active_set.c: contacts without rows
    int inactiveCount, inactiveCapacity;
    rgManifold* manifolds; // per active pair
    int manifoldCapacity;
    bool mayCurve;  // any point may have a curved path
    bool keepsOpen; // rgWorld_Derivatives: points that stay open have rows, too
} rgContactSet;

// Gap less the slop. Smaller gaps are errors within the solver's tolerance, which in hyperstatic
// assemblies would decide which contacts carry. Continuous, for heavy bodies: from zero at RG_SLOP
// to the whole gap at twice that.
static inline double rgTouchingGap(double gap) {
    double size = RG_MIN(2 * (fabs(gap) - RG_SLOP), fabs(gap));
    return size > 0 ? copysign(size, gap) : 0;
}

// Bound on how far points of a pair close in this step.
static inline double rgPairTravel(const rgCollider* A, const rgCollider* B) {
    double time = RG_MAX(A->ahead, B->ahead);
    return time * (rgLength(rgSub(A->velocity, B->velocity)) + A->spin + B->spin);
}

// step.4: A multiple of the travel: where one end is stopped, the other moves on faster.
static inline double rgPairMargin(const rgWorldDef* def, const rgCollider* A, const rgCollider* B,
                                  double travel) {
    return RG_MAX(RG_IMPACT_SPEED_RATIO * travel + def->margin, RG_MAX(A->margin, B->margin));
}

bool rgContactSet_Create(rgContactSet* contacts, rgHeap* heap, const rgModel* model);
void rgContactSet_Destroy(rgContactSet* contacts, const rgAllocator* allocator);
void rgContactSet_Clear(rgContactSet* contacts); // no points
rgResult rgWorld_CreateColliders(rgWorld* world, rgDiagnostics* diagnostics);

// ---- kinematics.c
// Gap after the time that a contact looks ahead, along straight paths at the link velocities.
double rgContactSet_StraightGap(const rgContactSet* contacts, const rgKinematics* kinematics,
                                const rgSettings* settings, const rgContactPoint* point);
// Velocity of B from A at a point, for the link velocities.
rgVec3 rgKinematics_PointVelocity(const rgKinematics* kinematics, const rgContactSet* contacts,
                                  const rgContactPoint* point);

// ---- active_set.c
// Deactivate contacts that the free motion leaves open.
rgResult rgWorld_DeactivateContacts(rgWorld* world);
// Activate contacts that v+ would close; link velocities are those of v+. False: there are none.
bool rgContactSet_Activate(rgContactSet* contacts, const rgKinematics* kinematics,
                           const rgSettings* settings, int round);
// Order by pair, then by place in the manifold.
bool rgPointBefore(const rgContactPoint* a, const rgContactPoint* b);

// ---- gap.c
// True if the pair is fast enough for curved paths to change its gaps.
bool rgContactSet_PairCurves(const rgContactSet* contacts, const rgPairMemory* pair);
// Correct gaps to the ends of the curved paths of v. True: some changed since the last solve.
bool rgWorld_CorrectGaps(rgWorld* world, const double* v, int round);
// Stop the rolling of points without load. True: there are some, and v_free changes.
bool rgContactSet_ReviseRolling(rgContactSet* contacts, const rgConstraintSet* constraints,
                                const rgModel* model);
void rgContactSet_StopRolling(const rgContactSet* contacts, const rgModel* model,
                              rgContactPoint* point);
// Gaps and slips of rolling points at the predicted end of the step.
void rgWorld_FindRolling(rgWorld* world);

// ---- curvature.c
// Acceleration of a point of a link at constant v, J-dot v.
rgVec3 rgKinematics_PointBias(const rgKinematics* kinematics, int link, rgVec3 position);
// Curvature slips of all points, at the velocity of the start.
void rgSetCurvatureSlips(rgWorld* world);
// Add the curvature slips to the bias of the contact rows.
void rgAddCurvatureSlips(rgWorld* world);
double rgContactPoint_NormalArc(const rgContactPoint* point);
