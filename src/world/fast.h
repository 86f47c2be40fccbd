// Trees that turn fast: transported link velocities instead of a bias.
#pragma once
#include "world/kinematics.h"

typedef struct rgConstraintSet rgConstraintSet;
typedef struct rgFreeMotion rgFreeMotion;
typedef struct rgHeap rgHeap;
typedef struct rgNext rgNext;

typedef struct rgFastTrees {
    bool* isFast;             // per tree
    bool* isTransported;      // per tree: fast at the start or after an impact
    double* projectedV;       // vCount: v of the transported velocities, projected on the joints
    rgSpatial* rejectedRates; // per link: J projectedV less the transported velocity, of the centre
                              // of mass in world axes, rates in axes of the link
    rgSpatial* endRates;      // per link: velocities at the end of the step
    int* substeps;            // per tree; 1 where rows act
    double* substepV;         // vCount
    double* substepForce;     // vCount
    double* substepTau;       // vCount
    double* substepAdded;     // vCount
    double* flightQ;          // qCount: of trees in flight, after both halves of the step
    double* flightV;          // vCount
    double* flightMidV;       // vCount
} rgFastTrees;

// A given v+; inBody: the linear velocity of a free joint is in the axes that it ends with.
typedef struct rgTargetVelocity {
    const double* v;
    bool inBody;
} rgTargetVelocity;

bool rgFastTrees_Create(rgFastTrees* fast, rgHeap* heap, const rgModel* model);
// Find the trees that are fast at the start of the step, once their links are placed.
void rgWorld_StartFast(rgWorld* world);
// Factorize M^ of a tree, unless it is that of M.
rgResult rgFreeMotion_FactorizeTree(const rgFreeMotion* motion, rgKinematics* kinematics,
                                    const rgFastTrees* fast, int tree);
// x := M^ (free v - projectedV).
void rgWorld_FastImpulse(rgWorld* world, int tree, double* x);
// Velocity of the coordinates for a velocity of the rows.
void rgFastTrees_CoordinateVelocity(const rgFastTrees* fast, const rgKinematics* kinematics,
                                    int tree, const double* v, double* out);
// Velocity that the transported motion adds to a row.
double rgConstraintSet_RowProjectionChange(const rgConstraintSet* constraints,
                                           const rgKinematics* kinematics, const rgFastTrees* fast,
                                           int row, const bool* held);
// Add these velocities to the bias of rows of joints, tendons and loops.
void rgWorld_AddProjectionChanges(rgWorld* world);
// True if v+ makes a tree fast that was not.
bool rgWorld_BecomesFast(rgWorld* world, int tree, const double* v);
// Transport the link velocities of fast trees along v+.
rgResult rgWorld_TransportFast(rgWorld* world);
// Velocity of the coordinates of fast trees at q+.
rgResult rgUpdateFastVelocity(rgWorld* world);
// Angle of the fastest joint of a tree in a step with v [rad]; change: NULL, or that of v in the
// last step.
double rgTreeTurn(const rgModel* model, double dt, int tree, const double* v, const double* change);
// Number of substeps of a tree without rows.
int rgFreeMotion_CountSubsteps(const rgFreeMotion* motion, const rgKinematics* kinematics,
                               double dt, int tree);
rgResult rgWorld_MoveInSubsteps(rgWorld* world, int tree, int count);
// error := target less v; returns its largest entry.
double rgVelocityError(const rgNext* next, const rgModel* model, int tree,
                       const rgTargetVelocity* target, const double* v, double* error);
// Inverse dynamics of fast trees: velocity of the rows with which a tree ends at the target.
void rgWorld_FindFast(rgWorld* world, int tree, const rgTargetVelocity* target, double* v);
// Force, beside those of the step, that makes the rows of a tree end with v.
void rgWorld_FastForce(rgWorld* world, int tree, const double* v, double* force);
// The same for a tree that moves in substeps.
void rgWorld_FindSubstepForce(rgWorld* world, int tree, const rgTargetVelocity* target,
                              double* force);
