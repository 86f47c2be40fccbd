// Forces that are no constraints, and the motion by them alone.
#pragma once
#include "world/kinematics.h"
#include "world/transmission.h"

typedef struct rgConstraintSet rgConstraintSet;
typedef struct rgHeap rgHeap;
typedef struct rgSleep rgSleep;

// Box of equal inertia, on which a fluid acts: axes in the body's frame, sides [m].
typedef struct rgFluidBox {
    rgQuat axes;
    double sides[3];
    bool isLeft; // the fluid acts on ellipsoids of the body instead
} rgFluidBox;

// Shape on which a fluid acts as on an ellipsoid: semi-axes, and what the motion of the fluid adds
// to mass and moments per density (fluid.7).
typedef struct rgFluidEllipsoid {
    int shape;
    double r[3], mass[3], moment[3];
} rgFluidEllipsoid;

// Forces that are no constraints, and the motion by them alone.
typedef struct rgFreeMotion {
    double* tau;          // vCount
    double* wrench;       // 6 per body: the wrenches of the step
    bool hasWrench;       // the wrenches of the step are not all zero
    bool stateHasWrench;  // the wrenches of the state are not all zero
    double* added;        // vCount: M^ - M
    double* v;            // vCount, step coordinates
    bool compensates;     // any body has gravity compensation
    bool* isLooped;       // per tree: a rigid equality or a spatial tendon acts on it
    double* dofStiffness; // vCount: of springs and gains that are part of M^
    double* dofDamping;   // vCount: of dampers and gains that are part of M^
    bool hasFluid;
    bool hasAdhesion;
    rgFluidBox* fluidBoxes; // fluid.c, per body
    int fluidEllipsoidCount;
    rgFluidEllipsoid* fluidEllipsoids; // fluid_ellipsoid.c, of shapes of moving bodies
    double* fluidDamping;              // fluid.c, vCount: diagonal above the slope of fluid forces
} rgFreeMotion;

// Degrees of freedom that springs, dampers and gains act on, from first to before end, about q and
// v over a time dt.
typedef struct rgDofForces {
    const double *q, *v;
    double dt;
    int first, end;
    double *tau, *added;
} rgDofForces;

// Weights of the velocities c before and c+ after a step in springs and dampers: the force is
// k (x + dt (along c + ahead (c+ - c))) + d (c + share (c+ - c)).
typedef struct rgWeights {
    double along, ahead, share;
} rgWeights;

bool rgFreeMotion_Create(rgFreeMotion* motion, rgHeap* heap, const rgModel* model);
void rgFreeMotion_Plan(rgFreeMotion* motion, const rgTransmission* transmission,
                       const rgModel* model);
// step.8: Weights of a contact's spring and damper with z = (dt^2 k + dt d)/m.
rgWeights rgSpringWeights(double driftTime, double z);
// free.2: Weights of a spring and damper, k = dt^2 stiffness/m and d = dt damping/m.
rgWeights rgJointWeights(double driftTime, double k, double d);
// Their slopes by k and by d.
void rgJointWeightSlopes(double driftTime, double k, double d, rgWeights* byK, rgWeights* byD);
// Iterate the middle velocity of trees without rows, once rows are known.
rgResult rgWorld_RefineFreeVelocity(rgWorld* world);
// True for trees that rgWorld_RefineFreeVelocity() iterates.
bool rgTreeIsRefined(const rgKinematics* kinematics, const rgConstraintSet* constraints,
                     const rgSleep* sleep, int tree);
// Middle velocity for a known v+.
void rgWorld_PredictFree(rgWorld* world, const double* v);
// Add forces of springs, dampers and gains to tau, and their share of M^ to added.
void rgFreeMotion_AddDofForces(const rgFreeMotion* motion, const rgKinematics* kinematics,
                               const rgTransmission* transmission, const rgDofForces* forces);
// All forces but the user's, for inverse dynamics.
void rgWorld_SumOtherForces(rgWorld* world, double* driven);

// ---- free_body.c
// Free velocity of free bodies, from their own equation of motion.
void rgWorld_ReplaceFreeBodies(rgWorld* world);
// Force on a free body that, with the impulse (both at its origin), makes the step end with v.
void rgWorld_FreeBodyForce(const rgWorld* world, const rgLink* link, const double* v,
                           const double* impulse, double* tau);
// Impulse on a free body, beside the free motion, that makes the step end with v.
void rgWorld_FreeBodyImpulse(const rgWorld* world, const rgLink* link, const double* v,
                             double* impulse);

// ---- fluid.c
bool rgWorld_HasFluid(const rgModel* model);
bool rgWorld_HasAdhesion(const rgModel* model);
// Add forces of adhesive actuators to the wrenches of bodies, at the present contacts.
void rgWorld_AddAdhesion(rgWorld* world);
void rgFreeMotion_PlanFluid(rgFreeMotion* motion, const rgModel* model);
// True if fluid damping of a tree is stiff.
bool rgFreeMotion_FluidIsThick(const rgFreeMotion* motion, const rgKinematics* kinematics,
                               double dt, int tree);
// Add fluid forces to the wrenches of the step and to M^.
void rgWorld_AddFluid(rgWorld* world);

// ---- fluid_ellipsoid.c
void rgFluidEllipsoid_Set(rgFluidEllipsoid* ellipsoid, const rgShapeDef* shape);
// Force and torque at a motion relative to the fluid, linear and angular, in its axes.
void rgFluidEllipsoid_Force(const rgFluidEllipsoid* ellipsoid, const double coefficients[5],
                            const rgModelOptions* fluid, const double motion[6], double out[6]);
// Bounds on the slopes of drag up to a speed and a rate.
void rgFluidEllipsoid_Slopes(const rgFluidEllipsoid* ellipsoid, const double coefficients[5],
                             const rgModelOptions* fluid, double speed, double rate,
                             double slopes[6]);
