// Private view of a world. State (what save, restore and hash copy) is apart from the workspace
// (what a step recomputes). docs/theory/step.md.
#pragma once
#include "collision/collide.h"
#include "contact/problem.h"
#include "dynamics/dynamics.h"
#include "math/kernels.h"
#include "model/model.h"
#include "rigor/world.h"
#include "world/tuning.h"

#include <stdatomic.h>

// Memory of a pair of shapes from step to step. No padding: states are compared by bytes.
typedef struct rgPairMemory {
    int32_t a, b; // proxies, a < b
    rgPairCache cache;
    int32_t firstContact, contactCount; // in rgMemory.contacts
    int32_t overlap;   // 1: parts of one tree that overlapped when they were first seen
    int32_t age;       // steps that it is known for, at most 1
    double energyTank; // energy that its normal springs may give back [J]; negative: not known
    double gap;        // of its deepest point when it was last looked at [m]; 0: none
} rgPairMemory;

// Impulse and anchor of one contact point, in world axes so that they outlive the choice of
// tangents.
typedef struct rgContactMemory {
    uint32_t feature;
    int32_t rowCount;
    rgVec3 linear, angular;
    rgVec3 anchor;     // elastic tangential displacement of B from A [m]
    rgVec3 normal;     // that it belongs to
    double projection; // impulse of the projection along the normal [kg m]
} rgContactMemory;

// Warm start of contacts, sorted by pair. Two of them: that of the state, and the next one.
typedef struct rgMemory {
    rgPairMemory* pairs;
    int pairCount, pairCapacity;
    rgContactMemory* contacts;
    int contactCount, contactCapacity;
} rgMemory;

// Views into one block of numbers, in this order.
typedef struct rgState {
    double* block;
    int blockCount;
    double* time;       // 1
    double* q;          // qCount
    double* v;          // vCount, body coordinates
    double* control;    // actuatorCount
    double* activation; // activationCount
    double* force;      // vCount, body coordinates
    double* wrench;     // 6 per body: force and torque at the centre of mass, world axes
    double* asleep;     // per tree: 0 awake, 1 disabled, 2 and above a group that fell asleep
    double*
        kinematic;  // RG_KINEMATIC_NUMBERS per kinematic link: pose, velocity, mode, target, change
    double* isSet;  // per tree: 1 if its q or v were set since the last step
    double* change; // vCount, step coordinates, rates in the parent's axes: of v in the last step
    double* predictor; // vCount, step coordinates: half of the predicted change
    double* fresh;   // per tree: 1 if the last step solved for its impulses instead of taking them
    double* impulse; // per slot: warm start of rows that are no contacts
    double* rest;    // per tree, where sleep is an option: for how long it has been slow [s]
} rgState;

#define RG_KINEMATIC_NUMBERS 27

// Kinematic link in a step: poses and velocities.
typedef struct rgKinematicLink {
    rgPose pose, next;          // where the step is computed, and at its end
    rgSpatial before, velocity; // of its origin, world axes: in the last step, and in this one
    rgSpatial end;              // at the end of this one, as far as the last ones tell
} rgKinematicLink;

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
    double reach;    // rgWorld_PlaceColliders: what its box is larger by than itself [m]
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

// Source of a row of the constraint problem.
typedef struct rgRowSource {
    int kind;  // rgConstraintKind; -1: a contact
    int index; // of the constraint, or of the contact point
    int row;   // within it
    int slot;  // of the warm start; -1 for contacts
} rgRowSource;

// The constraint problem under construction.
typedef struct rgRows {
    int rowCount, rowCapacity;
    int blockCount, blockCapacity;
    int entryCount, entryCapacity;
    rgBlock* blocks;
    rgRowSource* sources; // per row
    double* gap;          // per row: violation, for reading
    double* bias;         // per row: gamma
    double* freeVelocity; // rgAssembleProblem, per row: g = J v_free + gamma
    double* drift;        // per row: speed that v has no part in (kinematic bodies, belts)
    double* compliance;   // per row: R
    double* lambda;       // per row
    double* length;       // per row: what turns its velocity into m/s
    int* rowStart;        // rowCount + 1
    int* column;          // entryCount
    double* value;        // entryCount
} rgRows;

typedef enum rgActuatorMode {
    rg_actuatorForce, // an explicit force, clamped
    rg_actuatorJoint, // gains on one degree of freedom without limits: part of M^
    rg_actuatorRow,   // gains with limits, through tendons or on several degrees of freedom: a row
} rgActuatorMode;

typedef struct rgActuator {
    rgActuatorMode mode;
    bool holds;          // there is a position
    bool varies;         // its gains depend on its input, or push on: they are those of the step
    double lower, upper; // of the force
    double stiffness;    // kp, 0 where there is no position
    double damping;      // kd
    double position;     // rgWorld_PlaceActuators
    double drift;        // rgWorld_PlaceActuators: what kinematic bodies add to its rate
    double command;      // rgWorld_PlaceActuators: force = command - stiffness l - damping l'
} rgActuator;

#define RG_TENDON_ROWS 7
static inline bool rgTendonRowIsLimit(int row) {
    return row < 2 || row == 4 || row == 5;
}

// First slot of each kind of row.
typedef struct rgSlots {
    int limit;    // 2 per joint
    int friction; // 1 per degree of freedom
    int tendon;   // RG_TENDON_ROWS per tendon: lower, upper, friction, spring, its ends, inertia
    int equality; // 6 per equality
    int actuator; // 1 per actuator
    int count;
} rgSlots;

// Kinds of parameters that can change while a world runs.
typedef enum rgChangeKind {
    rg_changeSettings,
    rg_changeBody,
    rg_changeJoint,
    rg_changeShape,
    rg_changeTendon,
    rg_changeActuator,
    rg_changeEquality,
    rg_changeKindCount,
} rgChangeKind;

// Counts bytes in use on the way to the real allocator.
typedef struct rgMeter {
    rgAllocator inner;
    atomic_size_t bytes;
} rgMeter;

// Island of trees that rows connect, with the work of its contacts; at the tree that stands for
// all.
typedef struct rgIsland {
    int parent;        // tree of the island; itself at the root
    bool limited;      // rebounds less than Newton's law says
    bool projects;     // project.c: penetration or loops
    double share;      // of the rebound, in the last pass
    double work, hits; // of contacts; what impacts bring, as a measure [J]
    double low, high;  // shares that are allowed and that are not
    double lowWork, highWork, allowed;
    double third, thirdWork; // the last share that was a bound, and its work; negative: none
    double scale;            // of work between no share and all
} rgIsland;

// Monitor of energy, depth and forces (monitor.c). No part of the state: it has no part in the
// motion.
typedef struct rgMonitor {
    bool stores;          // there are springs whose energy rgDynamics_Energy() does not count
    bool placed;          // the state was set since the last step
    bool ranAway;         // its speeds are beyond what its energy allows
    bool passive;         // nothing drives the scene; count, least and motion are known
    int count;            // steps that it is passive for
    double least;         // least energy of these steps; with stores, energy at their start [J]
    double motion;        // largest kinetic energy of these steps [J]
    rgHealth health;      // since creation
    int unconvergedCount; // steps since creation
    int regularizedCount; // steps since creation
    unsigned solveCount;  // solves since creation
} rgMonitor;

// The box that a body is for a fluid: axes in the body's frame, sides [m].
typedef struct rgFluidBox {
    rgQuat axes;
    double sides[3];
} rgFluidBox;

// Pose and box of a collider in the current state.
typedef struct rgTarget {
    rgPose pose;
    rgBox box;
} rgTarget;

// Lazily computed answers to questions about the current state and the last step.
typedef struct rgReadout {
    rgDynamics* now;   // at the current state
    rgDynamics* start; // at the start of the last step, with its accelerations
    rgDynamics* query; // at the current state, body coordinates; NULL before the first call
    bool nowValid, startValid, contactsValid, constraintsValid, sensorsValid;
    bool queryValid, targetsValid, touchesValid;
    bool evaluated; // there was a step or forward call
    bool committed; // the last of them moved on
    rgTarget* targets;
    int targetCapacity;
    struct rgTouch* touches;
    int touchCount, touchCapacity;
    rgContact* contacts;
    int contactCount, contactCapacity;
    rgConstraintForce* constraints;
    int constraintCount, constraintCapacity;
    rgSpatial* reactions;     // per body: parent on it and all below it, about the world's origin
    rgContactProblem problem; // rgWorld_Problem(), where the step has no use for M
    double* row;              // scratch of sensors, vCount
    double* sensors;
    int* sensorStarts; // sensorCount + 1
} rgReadout;

// Instance: the data of a world that last from step to step; the rest is made from the model or
// computed anew. A batch keeps one per world, and binds them one after the other to the world of a
// thread, which steps them to the bits that a world of their own would have. instance.c.
typedef struct rgInstance {
    double* block;   // of rgState
    rgMemory memory; // arrays of the batch
    rgMonitor monitor;
    bool wrenched;
    unsigned changed; // bits of rgChangeKind
    double* changes;  // their numbers; an array of the batch
    int changeCapacity;
} rgInstance;

// Memory in use, counted on the way to the allocator of the definition.
typedef struct rgHeap {
    rgMeter meter;
    rgAllocator allocator; // goes through the meter
    void** blocks;         // rgHeap_Allocate: released with the world
    int blockCount, blockCapacity;
} rgHeap;

// change.c. Parameters that a world has changed of its shared model.
typedef struct rgVariant {
    const rgModel* shared;
    rgModel own;      // the shared one, but for the arrays of the kinds that are owned
    unsigned owned;   // bits of rgChangeKind: arrays that are this world's
    unsigned changed; // bits of rgChangeKind: part of the state
    rgWorldDef firstDef;
} rgVariant;

// world.c. Settings from the definition and the options of the model.
typedef struct rgSettings {
    rgVec3 gravity;
    double dt;
    rgIntegrator integrator; // midpoint or Euler
    double restitutionThreshold;
} rgSettings;

// warmstart.c. Impulses and bristles from step to step; memory 0 is part of the state.
typedef struct rgWarmStart {
    rgMemory memories[2];
    double* nextImpulse; // per slot, of the step
    rgSlots slots;
} rgWarmStart;

// kinematics.c. Positions and velocities that a step is computed at.
typedef struct rgKinematics {
    rgDynamics* dynamics;
    double* driftTime;         // per tree: from the state to q [s]
    double* q;                 // qCount
    double* v;                 // vCount, step coordinates: at the start of the step
    double* predictor;         // vCount, step coordinates: half of the expected change of v
    double* midV;              // vCount, step coordinates: v + predictor
    rgKinematicLink* links;    // per kinematic link
    rgQuat* rotations;         // per link
    rgSpatial* linkVelocities; // rgKinematics_SetLinkVelocities, per link
    double* leverArm;          // per degree of freedom: [m] at the end of what it moves, per unit
    double* linkLeverArm;      // per link, scratch
    double* scratch;           // vCount
    bool* isFreeBody;          // per tree: one free link without armature or damping
} rgKinematics;

// contacts.c. Colliders, active pairs and contact points of a step.
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
    rgContactPoint* inactive; // active_set.c: those without rows
    int inactiveCount, inactiveCapacity;
    rgManifold* manifolds; // per active pair
    int manifoldCapacity;
    double penetration; // largest [m]
    bool mayCurve;      // some point moves along a path that may be curved
} rgContactSet;

// free.c. Forces that are no constraints, and the motion by them alone.
typedef struct rgFreeMotion {
    double* tau;          // vCount
    double* wrench;       // 6 per body: the wrenches of the step
    bool hasWrench;       // the wrenches of the step are not all zero
    bool stateHasWrench;  // the wrenches of the state are not all zero
    double* added;        // vCount: M^ - M
    double* v;            // vCount, step coordinates
    bool compensates;     // any body has weight taken off it
    bool* isLooped;       // per tree: a rigid equality or a spatial tendon acts on it
    double* dofStiffness; // vCount: of springs and gains that are part of M^
    double* dofDamping;   // vCount: of dampers and gains that are part of M^
    bool hasFluid;
    rgFluidBox* fluidBoxes; // fluid.c, per body
    double* fluidDamping;   // fluid.c, vCount: diagonal above the slope of fluid forces
} rgFreeMotion;

// fast.c. Trees that turn fast: transported link velocities instead of a bias.
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
} rgFastTrees;

// constraint_tendon.c, actuator.c. Lengths and gains of tendons and actuators in a step.
typedef struct rgTransmission {
    rgActuator* actuators;
    double* actuatorValues; // over the model's driveColumns
    double* actuatorForce;  // per actuator [N]
    double* tendonNeutral;  // per tendon: length at the neutral configuration
    double* tendonLength;   // per tendon
    double* tendonValues;   // over the model's tendonColumns
    double* tendonDrift;    // per tendon: rate by kinematic bodies
    double* triedQ;         // qCount, scratch of tendons with inertia
} rgTransmission;

// constraints.c. Rows, islands and the contact problem of a step.
typedef struct rgConstraintSet {
    rgRows rows;
    rgContactProblem problem;
    rgContactSolver* solver;
    const rgKernels* kernels;
    double* whitened; // entries of J L^-T
    int whitenedCapacity;
    int whitenedFirst, whitenedEnd; // rgAddEqualities: rows that have it already
    int* massStart;                 // vCount + 1: M^ in compressed rows
    int* massColumn;
    int* massSource; // entry of the compact mass matrix
    double* massValue;
    int* treeOfDof;      // vCount
    rgIsland* islands;   // rgConnectIslands, per tree
    int restitutionPass; // restitution.c: passes since shares are limited; 0: none is
    bool* isHeld;        // per tree: rows act on it
    bool* isOpen;        // per equality: rigid, and not closed
    rgPlace* loopPlaces; // two per equality: what it connects
    int rigidEqualityCount;
    int* entryColumns;   // vCount, scratch
    double* entryValues; // vCount, scratch
    rgStart* rest;       // per tree
    bool* fresh;         // per tree: that of the state after the step
    bool hasBelts;       // any shape has a surface velocity
} rgConstraintSet;

// position.c. The end of a step.
typedef struct rgNext {
    double* v;     // vCount, step coordinates: v+ of the rows
    double* endV;  // vCount, step coordinates: of the coordinates, then of the next state
    double* q;     // qCount; the projection moves it
    double* bodyV; // vCount, body coordinates
} rgNext;

// sleep.c
typedef struct rgSleep {
    double* asleep; // per tree, as state.asleep
    int treeCount;  // trees that may sleep; 0: sleep is no option
} rgSleep;

typedef struct rgProjection rgProjection;
typedef struct rgInverseWork rgInverseWork;

struct rgWorld {
    rgHeap heap;
    rgWorldDef def;
    const rgModel* model; // the shared one, or the variant's own
    rgVariant variant;
    rgSettings settings;
    rgState state;
    rgWarmStart warmStart;
    rgKinematics kinematics;
    rgContactSet contacts;
    rgFreeMotion free;
    rgFastTrees fast;
    rgTransmission transmission;
    rgConstraintSet constraints;
    rgNext next;
    rgProjection* projection;
    rgSleep sleep;
    rgMonitor monitor;
    rgReadout* readout;
    rgInverseWork* inverse;                // rgWorld_Inverse, NULL before the first call
    struct rgLinearization* linearization; // rgWorld_Derivatives, NULL before the first call
};

// Create and destroy the rooms, each in its file. Arrays live as long as the world
// (rgHeap_Allocate), unless they grow.
void* rgHeap_Allocate(rgHeap* heap, int count, size_t size, bool* good); // world.c, zeroed
rgResult rgKinematics_Create(rgWorld* world);                            // kinematics.c
bool rgState_Create(rgWorld* world);                                     // state.c
bool rgWarmStart_Create(rgWarmStart* warmStart, rgHeap* heap);           // warmstart.c
void rgWarmStart_Destroy(rgWarmStart* warmStart, const rgAllocator* allocator);
bool rgContactSet_Create(rgContactSet* contacts, rgHeap* heap, const rgModel* model); // contacts.c
void rgContactSet_Destroy(rgContactSet* contacts, const rgAllocator* allocator);
bool rgFreeMotion_Create(rgFreeMotion* motion, rgHeap* heap, const rgModel* model); // free.c
bool rgFastTrees_Create(rgFastTrees* fast, rgHeap* heap, const rgModel* model);     // fast.c
bool rgTransmission_Create(rgTransmission* transmission, rgHeap* heap,
                           const rgModel* model); // actuator.c
rgResult rgConstraintSet_Create(rgWorld* world);  // constraints.c
void rgConstraintSet_Destroy(rgConstraintSet* constraints, const rgAllocator* allocator);
bool rgNext_Create(rgNext* next, rgHeap* heap, const rgModel* model);         // position.c
bool rgSleep_Create(rgSleep* sleep, rgHeap* heap, const rgModel* model);      // sleep.c
rgResult rgWorld_CreateColliders(rgWorld* world, rgDiagnostics* diagnostics); // contacts.c

// Plans: derived from the model, made again where it changes.
bool rgIsFreeBody(const rgModel* model, const rgTree* tree);               // kinematics.c
rgActuator rgPlanActuator(const rgModel* model, const rgActuatorDef* def); // actuator.c
rgSlots rgPlanSlots(const rgModel* model);                                 // warmstart.c
void rgFreeMotion_PlanDofForces(rgFreeMotion* motion, rgTransmission* transmission,
                                const rgModel* model); // free.c
void rgFreeMotion_MarkLoop(rgFreeMotion* motion, const rgModel* model,
                           const rgEqualityDef* def);                                 // free.c
void rgFreeMotion_MarkTendon(rgFreeMotion* motion, const rgModel* model, int tendon); // free.c
void rgFreeMotion_MarkActuator(rgFreeMotion* motion, rgTransmission* transmission,
                               const rgModel* model, int actuator); // free.c
void rgTransmission_MeasureTendons(rgTransmission* transmission,
                                   const rgKinematics* kinematics); // constraint_tendon.c
void rgWarnEqualities(const rgModel* model,
                      rgDiagnostics* diagnostics); // constraint_equality.c

// Gap less the slop. Smaller gaps are errors within the solver's tolerance, which in hyperstatic
// assemblies would decide which contacts carry. Continuous, for heavy bodies: from zero at RG_SLOP
// to the whole gap at twice that.
static inline double rgTouchingGap(double gap) {
    double size = RG_MIN(2 * (fabs(gap) - RG_SLOP), fabs(gap));
    return size > 0 ? copysign(size, gap) : 0;
}

// Step in progress.
typedef struct rgStep {
    rgWorld* world;
    rgStepReport* report;
    rgResult result;
    int pass;           // of assembly, solve and velocity, from 0
    bool isInverse;     // rgWorld_Inverse: the state stays
    bool resumes;       // rgRevise: the next pass starts from the impulses of this one
    bool movesFreely;   // rgRevise: v_free changes in the next pass
    int iterationCount; // of all passes
    int factorizationCount;
    bool timed;
    double clock; // at the end of the last stage, if it is timed
} rgStep;

typedef rgResult rgStageFcn(rgStep* step);

// Stages, in order.
rgResult rgUpdateKinematics(rgStep* step);    // kinematics.c
rgResult rgFindContacts(rgStep* step);        // contacts.c
rgResult rgComputeFreeVelocity(rgStep* step); // free.c
rgResult rgAssembleProblem(rgStep* step);     // constraints.c
rgResult rgSolveProblem(rgStep* step);        // constraints.c
rgResult rgUpdateVelocity(rgStep* step);      // position.c
bool rgRevise(rgStep* step);                  // revise.c: true: another pass of the last three
rgResult rgStoreContactState(rgStep* step);   // position.c
rgResult rgIntegratePositions(rgStep* step);  // position.c
rgResult rgProjectPosition(rgStep* step);     // project.c
rgResult rgUpdateBodyVelocity(rgStep* step);  // position.c
bool rgAllFinite(const double* x, int count); // position.c

// restitution.c. Revise the share of the rebound of islands whose contacts do work. last: take the
// largest share that is allowed. True: some share has changed.
bool rgReviseRestitution(rgWorld* world, bool last);
// Share of the rebound of a contact.
double rgConstraintSet_RestitutionShare(const rgConstraintSet* constraints,
                                        const rgContactSet* contacts, const rgModel* model,
                                        const rgContactPoint* point);

void rgConstraintSet_NextVelocity(const rgConstraintSet* constraints,
                                  const rgKinematics* kinematics, const rgFreeMotion* motion,
                                  double* v); // position.c: from the impulses
// Turns q by the motion (step coordinates) for a time; next may be q.
void rgKinematics_Integrate(const rgKinematics* kinematics, const double* q, const double* v,
                            double time,
                            double* next); // position.c
void rgKinematics_IntegrateTree(const rgKinematics* kinematics, int tree, const double* q,
                                const double* v, double time,
                                double* next); // position.c
// Velocity carried between configurations: free bodies keep the velocity of their centre.
void rgKinematics_TransformVelocity(const rgKinematics* kinematics, const double* from,
                                    const double* to,
                                    double* v);                                   // position.c
void rgKinematics_TurnRates(const rgKinematics* kinematics, double* v, bool out); // position.c
void rgPredictChange(const double* last, const double* now, int count,
                     double* predictor);      // position.c
void rgWorld_CommitPredictor(rgWorld* world); // position.c
// project.c
rgResult rgProjection_Create(rgWorld* world);
void rgProjection_Destroy(rgProjection* projection, const rgAllocator* allocator);
void rgConstraintSet_PlaceLoops(rgConstraintSet* constraints,
                                const rgModel* model); // constraint_equality.c: plans
int rgConstraintSet_RegularizedRows(const rgConstraintSet* constraints,
                                    const rgContactSet* contacts); // constraints.c
bool rgConstraintSet_LoopIsOpen(const rgConstraintSet* constraints,
                                int row); // constraints.c: of the row of an equality

// world.c: the parts of a block of numbers.
void rgViewState(const rgSleep* sleep, const rgWarmStart* warmStart, const rgModel* model,
                 double* block, rgState* state);
// instance.c: be that world from now on, with its block as the state. Nothing is known of its last
// step. Then give back what a step changed; its arrays grow by the allocator.
rgResult rgWorld_Bind(rgWorld* world, const rgInstance* instance);
rgResult rgWorld_Unbind(rgWorld* world, rgInstance* instance, const rgAllocator* allocator);

static inline bool rgSleep_LinkSleeps(const rgSleep* sleep, const rgModel* model, int link) {
    int tree = model->links[link].tree;
    return tree >= 0 && sleep->asleep[tree] != 0;
}

static inline bool rgState_LinkIsDisabled(const rgState* state, const rgModel* model, int link) {
    int tree = model->links[link].tree;
    return tree >= 0 && state->asleep[tree] == 1;
}

static inline bool rgSleep_LinkMoves(const rgSleep* sleep, const rgModel* model, int link) {
    return model->links[link].tree >= 0 && !rgSleep_LinkSleeps(sleep, model, link);
}

// rows.c. A block of rows over the degrees of freedom that move links A and B; values are zero.
// Returns its first row, or -1 when out of memory. Columns are the same for all its rows.
int rgRows_AddPair(rgRows* rows, const rgModel* model, const rgAllocator* allocator, rgBlock block,
                   int linkA, int linkB);
// Block over the columns of a given row.
int rgRows_AddAlike(rgRows* rows, const rgAllocator* allocator, rgBlock block, int row);
// A block of one row, copied from other rows.
int rgRows_AddCopy(rgRows* rows, const rgAllocator* allocator, rgBlock block, const rgRows* from,
                   int row);
void rgRows_DropLast(rgRows* rows); // the last block
// A block of one row with given entries. Degrees of freedom above a column are stored too, as
// zeros: rgDynamics_Delassus() needs them.
int rgRows_AddRow(rgRows* rows, const rgModel* model, const rgAllocator* allocator, rgBlock block,
                  int count, const int* columns, const double* values);
void rgRows_Clear(rgRows* rows);
void rgRows_Free(rgRows* rows, const rgAllocator* allocator);
double rgRows_Dot(const rgRows* rows, int row, const double* v);
double rgRows_Speed(const rgRows* rows, int row, const double* v);       // with the drift
void rgRows_AddSpeeds(const rgRows* rows, const double* v, double* out); // of all rows
double rgRows_DriftTime(const rgConstraintSet* constraints, const rgKinematics* kinematics,
                        double dt, int row);
static inline int rgRows_Columns(const rgRows* rows, int row) {
    return rows->rowStart[row + 1] - rows->rowStart[row];
}

// Bias and compliance of a row from its violation phi (negative: violated); docs/theory/step.md.
typedef struct rgLaw {
    double bias, compliance;
} rgLaw;
rgLaw rgUnilateralLaw(double phi, double ahead); // constraints.c, rigid
// Time that a gap has to close in [s]: to where the next step is computed.
static inline double rgKinematics_TreeAhead(const rgKinematics* kinematics,
                                            const rgSettings* settings, int link) {
    int tree = kinematics->dynamics->model->links[link].tree;
    bool starts = tree >= 0 && settings->integrator == rg_integratorMidpoint &&
                  kinematics->driftTime[tree] == 0;
    return starts ? 1.5 * settings->dt : settings->dt;
}
static inline double rgKinematics_TimeAhead(const rgKinematics* kinematics,
                                            const rgSettings* settings, int linkA, int linkB) {
    double a = rgKinematics_TreeAhead(kinematics, settings, linkA),
           b = rgKinematics_TreeAhead(kinematics, settings, linkB);
    return RG_MAX(a, b);
}
// Weights of the velocities c before and c+ after a step in springs and dampers: the force is
// k (x + dt (along c + ahead (c+ - c))) + d (c + share (c+ - c)).
typedef struct rgWeights {
    double along, ahead, share;
} rgWeights;
rgWeights rgSpringWeights(double lead, double z); // free.c; z = (dt^2 k + dt d)/m
double rgRows_Mobility(const rgConstraintSet* constraints, const rgKinematics* kinematics,
                       int row); // constraints.c: 1/m of a row
// A spring and damper along a row with free length 0 at stretch: lambda = dt (command - force).
rgLaw rgSpringLaw(const rgConstraintSet* constraints, const rgKinematics* kinematics, double dt,
                  int row, rgSoftness soft, double stretch,
                  double command);                            // constraints.c
rgLaw rgBilateralLaw(double dt, double phi, rgSoftness soft); // constraints.c
// constraints.c: M + diag(added), or M, in compressed rows
void rgConstraintSet_FillMass(const rgConstraintSet* constraints, const rgKinematics* kinematics,
                              const double* added, double* values);
rgResult rgWorld_AddRows(rgWorld* world); // constraints.c: all rows, bias is gamma
rgResult
rgConstraintSet_WhitenRows(rgConstraintSet* constraints, const rgKinematics* kinematics,
                           const rgAllocator* allocator); // W of those that do not have it yet
rgResult rgConstraintSet_ReserveWhitened(
    rgConstraintSet* constraints,
    const rgAllocator* allocator);              // for the rows that there are; what is there stays
void rgWorld_ReplaceFreeBodies(rgWorld* world); // free_body.c: their free velocity
void rgKinematics_SetMidVelocity(
    rgKinematics* kinematics); // free.c: what was foreseen, for the bias
// free.c, once the rows are there: the velocity of the middle of the step where none act
rgResult rgWorld_RefineFreeVelocity(rgWorld* world);
bool rgTreeIsRefined(const rgKinematics* kinematics, const rgConstraintSet* constraints,
                     const rgSleep* sleep, int tree);
void rgWorld_PredictFree(rgWorld* world, const double* v); // middle velocity for a known v+
// Degrees of freedom that springs, dampers and gains act on, from first to before end, about q and
// v over a time dt.
typedef struct rgDofForces {
    const double *q, *v;
    double dt;
    int first, end;
    double *tau, *added;
} rgDofForces;
void rgFreeMotion_AddDofForces(const rgFreeMotion* motion, const rgKinematics* kinematics,
                               const rgTransmission* transmission,
                               const rgDofForces* forces); // free.c

// fast.c: trees that turn fast.
void rgWorld_StartFast(rgWorld* world); // once they are placed
rgResult rgFreeMotion_FactorizeTree(const rgFreeMotion* motion, rgKinematics* kinematics,
                                    const rgFastTrees* fast,
                                    int tree);                 // M^, unless M is factorized
void rgWorld_FastImpulse(rgWorld* world, int tree, double* x); // M^ (freeV - projectedV)
void rgFastTrees_CoordinateVelocity(const rgFastTrees* fast, const rgKinematics* kinematics,
                                    int tree, const double* v, double* out);
double rgConstraintSet_RowProjectionChange(const rgConstraintSet* constraints,
                                           const rgKinematics* kinematics, const rgFastTrees* fast,
                                           int row, const bool* held);
void rgWorld_AddProjectionChanges(rgWorld* world);                   // once the rows are there
bool rgWorld_BecomesFast(rgWorld* world, int tree, const double* v); // with a v+
rgResult rgWorld_TransportFast(rgWorld* world);                      // once v+ is there
rgResult rgUpdateFastVelocity(rgWorld* world);                       // once q+ is there
int rgFreeMotion_CountSubsteps(const rgFreeMotion* motion, const rgKinematics* kinematics,
                               double dt, int tree); // of a tree without rows
rgResult rgWorld_MoveInSubsteps(rgWorld* world, int tree, int count);
// A given v+; inBody: the linear velocity of a free joint is in the axes that it ends with.
typedef struct rgTargetVelocity {
    const double* v;
    bool inBody;
} rgTargetVelocity;
void rgWorld_FindFast(rgWorld* world, int tree, const rgTargetVelocity* target, double* v);
void rgWorld_FastForce(rgWorld* world, int tree, const double* v, double* force);
void rgWorld_FindSubstepForce(rgWorld* world, int tree, const rgTargetVelocity* target,
                              double* force);

bool rgLimitIsNear(double dt, double phi, double speed,
                   double freeSpeed); // constraint_joint.c
// fluid.c
bool rgWorld_HasFluid(const rgModel* model);
void rgFreeMotion_PlanFluid(rgFreeMotion* motion, const rgModel* model);
bool rgFreeMotion_FluidIsThick(const rgFreeMotion* motion, const rgKinematics* kinematics,
                               double dt, int tree);
void rgWorld_AddFluid(rgWorld* world); // to the wrenches of the step and to M^
// Rows of one kind each.
rgResult rgAddLimits(rgWorld* world);      // constraint_joint.c
rgResult rgAddDryFriction(rgWorld* world); // constraint_joint.c
rgResult rgAddEqualities(rgWorld* world);  // constraint_equality.c
rgResult rgAddActuators(rgWorld* world);   // constraint_actuator.c
rgResult rgAddTendons(rgWorld* world);     // constraint_tendon.c
rgResult rgAddContacts(rgWorld* world);    // constraint_contact.c
rgMaterial rgContactSet_Material(const rgContactSet* contacts, const rgWorldDef* def,
                                 const rgModel* model,
                                 const rgContactPoint* point); // of a pair; constraint_contact.c
int rgContactRowCount(const rgMaterial* material);             // constraint_contact.c
void rgUpdateEnergyTanks(rgWorld* world); // constraint_contact.c, once v+ is there
rgVec3 rgKinematics_PointBias(const rgKinematics* kinematics, int link,
                              rgVec3 position); // curvature.c
void rgSetCurvatureSlips(
    rgWorld* world); // curvature.c: of all points, with the velocity of the start
void rgAddCurvatureSlips(rgWorld* world); // curvature.c: to the bias of the contact rows
void rgAddBristles(rgWorld* world);       // bristle.c: tangential springs of the contact rows
void rgShareNormals(rgConstraintSet* constraints, const rgKinematics* kinematics,
                    rgContactSet* contacts); // bristle.c: normals, once the impulses are recalled
// bristle.c: elastic displacement after the step, from the impulses and the next velocity
rgVec3 rgNextBristle(const rgWorld* world, const rgContactPoint* point);

// Rows of the equality at the present kinematics: gaps and Jacobian, without bias. Returns the
// first row, -1 when out of memory, -2 when the equality takes no part.
int rgAddEqualityRows(rgWorld* world, rgRows* rows, int equality);
static inline bool rgEqualityIsLoop(const rgEqualityDef* def) {
    return def->kind == rg_equalityConnect || def->kind == rg_equalityWeld;
}
double rgCouplingSlope(const rgTransmission* transmission, const rgModel* model,
                       int equality); // of tendons, where the step is
// Compliance (constraints.16) of the last block, without the rows that nothing can move.
void rgRows_Regularize(rgRows* rows, const rgKinematics* kinematics, int first);
// Diagonal entries of G of rows that have the same columns.
void rgRows_Delassus(const rgRows* rows, const rgKinematics* kinematics, int row, int count,
                     double* G);
void rgTransmission_PlaceTendons(
    rgTransmission* transmission,
    const rgKinematics* kinematics); // constraint_tendon.c: at the present kinematics
// Rate of a tendon's length where the step is computed.
double rgTendonRate(const rgTransmission* transmission, const rgModel* model, int tendon,
                    const double* v);
// Row of a tendon's length times scale, or of an actuator's transmission: the count of entries in
// entryColumns and entryValues, merged and ascending.
int rgTendonEntries(const rgTransmission* transmission, rgConstraintSet* constraints,
                    const rgModel* model, int tendon, double scale);
int rgActuatorEntries(const rgTransmission* transmission, rgConstraintSet* constraints,
                      const rgModel* model, int actuator);
void rgInsertEntry(int* columns, double* values, int* count, int column, double value);
void rgAddEntry(rgConstraintSet* constraints, int* count, int column, double value);
void rgWorld_PlaceActuators(rgWorld* world); // actuator.c: positions, inputs and gains of the step
void rgState_CommitActivations(rgState* state, const rgModel* model, double dt); // actuator.c

// sleep.c. Asleep or disabled in this step: rgWorld.sleeps, which becomes part of the state when
// the step is taken.
typedef enum rgPairRest {
    rg_pairAwake,
    rg_pairDormant, // sleepers, or a sleeper and what stands still
    rg_pairWaking,  // a sleeper and something that moves
} rgPairRest;
void rgSleep_Start(rgSleep* sleep, const rgState* state, const rgModel* model);
rgPairRest rgSleep_PairRest(const rgSleep* sleep, const rgKinematics* kinematics,
                            const rgContactSet* contacts, int a, int b); // colliders
static inline bool rgSleep_PairIsDormant(const rgSleep* sleep, const rgKinematics* kinematics,
                                         const rgContactSet* contacts, const rgPairMemory* pair) {
    return sleep->treeCount > 0 &&
           rgSleep_PairRest(sleep, kinematics, contacts, pair->a, pair->b) == rg_pairDormant;
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
// Relative twist of the points of link B to those of link A, for given velocities of links.
typedef struct rgRelativeTwist {
    rgVec3 origin;
    rgSpatial velocity;
} rgRelativeTwist;
static inline rgRelativeTwist rgKinematics_RelativeTwist(const rgKinematics* kinematics,
                                                         const rgSpatial* velocities, int linkA,
                                                         int linkB) {
    rgVec3 originA = rgDynamics_LinkOrigin(kinematics->dynamics, linkA);
    if (linkB == 0) {
        const rgSpatial* A = &velocities[linkA];
        return (rgRelativeTwist){originA, {rgNegate(A->linear), rgNegate(A->angular)}};
    }
    rgRelativeTwist passing = {rgDynamics_LinkOrigin(kinematics->dynamics, linkB),
                               velocities[linkB]};
    if (linkA != 0) {
        const rgSpatial* A = &velocities[linkA];
        rgVec3 linear = rgAdd(A->linear, rgCross(A->angular, rgSub(passing.origin, originA)));
        passing.velocity.linear = rgSub(passing.velocity.linear, linear);
        passing.velocity.angular = rgSub(passing.velocity.angular, A->angular);
    }
    return passing;
}
static inline rgVec3 rgRelativeTwist_At(const rgRelativeTwist* passing, rgVec3 position) {
    rgVec3 arm = rgSub(position, passing->origin);
    return rgAdd(passing->velocity.linear, rgCross(passing->velocity.angular, arm));
}
bool rgWorld_WakeByContact(rgWorld* world); // true: a tree woke; contacts are to be found again
int rgWorld_DormantContacts(const rgWorld* world);
bool rgWorld_CopyDormant(rgWorld* world, rgPairMemory* pair); // false: it is none
void rgWorld_UpdateSleep(rgWorld* world);                     // commits, too
void rgSleep_WakeLink(rgSleep* sleep, rgState* state, const rgModel* model, int link);
void rgSleep_WakeDof(rgSleep* sleep, rgState* state, const rgModel* model, int dof);
void rgSleep_WakeAll(rgSleep* sleep, rgState* state, const rgModel* model);
void rgSleep_WakeLoops(rgSleep* sleep, rgState* state, const rgModel* model, int link);
// restitution.c: trees that rows connect
void rgConnectIslands(rgConstraintSet* constraints, const rgModel* model);
int rgFindIsland(rgIsland* islands, int tree);
int rgRowIsland(const rgConstraintSet* constraints, int row);

// kinematic.c
void rgState_ResetKinematic(rgState* state,
                            const rgModel* model); // where the definition says, at rest
// The start configuration with loops closed, at rest; the neutral one where loops do not close with
// joints inside their limits. A note names joints that moved. start.c
rgResult rgWorld_SetStart(rgWorld* world, rgDiagnostics* diagnostics);
void rgKinematics_MoveLinks(rgKinematics* kinematics, rgState* state,
                            const rgSettings* settings); // velocities in this step
void rgKinematics_Commit(rgKinematics* kinematics, rgState* state);
void rgKinematics_ClearHistory(rgKinematics* kinematics, rgState* state);
// Prescribe kinematic links to a workspace, for its next call with positions: at the start of the
// step with the velocity in it, at its end, or in the current state.
void rgKinematics_PlaceStart(const rgKinematics* kinematics, double dt, rgDynamics* d);
void rgKinematics_PlaceNext(const rgKinematics* kinematics, rgDynamics* d);
void rgKinematics_PlaceAhead(const rgKinematics* kinematics, double dt,
                             rgDynamics* d); // a step beyond the start
void rgState_PlaceNow(const rgState* state, const rgModel* model, rgDynamics* d);
bool rgKinematics_LinksMove(const rgKinematics* kinematics);
rgSpatial rgKinematics_Drift(const rgKinematics* kinematics, int link,
                             rgVec3 point);                                // zero for other links
bool rgWorld_SetKinematicPose(rgWorld* world, rgBodyId body, rgPose pose); // false: it is none
bool rgWorld_SetKinematicVelocity(rgWorld* world, rgBodyId body, rgSpatial velocity);
bool rgPoseIsUsable(rgPose pose); // state.c: finite, and its quaternion has a length

// active_set.c
rgResult rgWorld_DeactivateContacts(rgWorld* world); // those that the free motion leaves open
// Activate contacts that v+ would close. False: there are none.
bool rgContactSet_Activate(rgContactSet* contacts, const rgKinematics* kinematics,
                           const rgSettings* settings,
                           int round); // link velocities are those of v+
// Gap at the end of the time that a contact looks ahead, with the link velocities, straight on.
double rgContactSet_StraightGap(const rgContactSet* contacts, const rgKinematics* kinematics,
                                const rgSettings* settings, const rgContactPoint* point);
// gap.c: gaps at the end of curved paths. True: some are others than were solved with.
bool rgContactSet_PairCurves(const rgContactSet* contacts, const rgPairMemory* pair);
bool rgWorld_CorrectGaps(rgWorld* world, const double* v, int round);
// Stop the rolling of points that carry nothing. True: there are some; v_free changes.
bool rgContactSet_ReviseRolling(rgContactSet* contacts, const rgConstraintSet* constraints,
                                const rgModel* model);
void rgContactSet_StopRolling(const rgContactSet* contacts, const rgModel* model,
                              rgContactPoint* point);
void rgWorld_FindRolling(rgWorld* world); // gaps and slips at the end that is foreseen
bool rgPointBefore(const rgContactPoint* a, const rgContactPoint* b); // by pair, then by place
// Velocities of all links for any v, and of B from A at a point for them.
void rgWorld_Place(rgWorld* world); // kinematics.c: links where the step is computed
void rgKinematics_SetLinkVelocities(const rgKinematics* kinematics, const double* v);
rgVec3 rgKinematics_PointVelocity(const rgKinematics* kinematics, const rgContactSet* contacts,
                                  const rgContactPoint* point);
// lever_arm.c
void rgKinematics_SetLeverArms(rgKinematics* kinematics, const rgContactSet* contacts);
void rgConstraintSet_FillLengths(rgConstraintSet* constraints, const rgKinematics* kinematics,
                                 const rgContactSet* contacts); // of the rows, once they are there

// world.c: what follows from the definition of the world, and from parts that can change.
bool rgCheckWorldDef(const rgWorldDef* def, rgDiagnostics* diagnostics);
void rgWorld_SetConstants(rgWorld* world);
void rgWorld_Plan(rgWorld* world);
// change.c: changes as numbers: their count, written, checked and read back.
size_t rgVariant_ChangeCount(const rgVariant* variant, unsigned changed);
void rgWorld_WriteChanges(const rgWorld* world, char* bytes);
bool rgWorld_ChangesAreUsable(const rgWorld* world, unsigned changed, const char* bytes);
rgResult rgWorld_ReadChanges(rgWorld* world, unsigned changed, const char* bytes);
uint64_t rgWorld_HashChanges(const rgWorld* world, uint64_t hash);
void rgVariant_FreeChanges(rgVariant* variant, const rgAllocator* allocator);

// warmstart.c
rgResult rgWorld_MatchPairs(rgWorld* world); // active pairs of this step, with what they remember
void rgWorld_LoadImpulses(rgWorld* world);   // rows' lambda from the state
void rgWorld_StorePassImpulses(rgWorld* world); // rows' lambda for the next pass
void rgConstraintSet_LoadPassImpulses(
    rgConstraintSet* constraints, rgContactSet* contacts,
    const rgWarmStart* warmStart); // rows' lambda from the last pass
// Memory of a point in the state; NULL: it is new.
const rgContactMemory* rgWarmStart_ContactMemory(const rgWarmStart* warmStart,
                                                 const rgContactPoint* point);
rgResult rgWorld_StoreImpulses(rgWorld* world);
// Impulse of the projection at a row of the last step, and of this one.
double rgConstraintSet_ProjectionImpulse(const rgConstraintSet* constraints,
                                         const rgContactSet* contacts, int row);
void rgWarmStart_StoreProjectionImpulse(rgWarmStart* warmStart, rgConstraintSet* constraints,
                                        int row, double impulse);
void rgWarmStart_Commit(rgWarmStart* warmStart, rgState* state);
void rgWarmStart_ClearImpulses(rgWarmStart* warmStart, rgState* state);
void rgWarmStart_ClearEnergyTanks(
    rgWarmStart* warmStart); // energy tanks: setting a state pays for it

// state.c
// Write the checksum at the end of a saved state.
void rgSealState(void* bytes, size_t byteCount);

// readout.c
void rgReadout_Invalidate(rgReadout* readout);
rgResult rgReadout_Create(rgWorld* world);
void rgReadout_Destroy(rgReadout* readout, const rgAllocator* allocator);
rgDynamics* rgReadout_CurrentDynamics(rgReadout* readout, const rgState* state,
                                      const rgModel* model); // kinematics of the current state
rgDynamics* rgWorld_StartDynamics(const rgWorld* world);     // of the start of the last step
// monitor.c
void rgMonitor_Create(rgMonitor* monitor, const rgWorldDef* def, const rgModel* model);
void rgMonitor_Reset(rgMonitor* monitor); // the state was set
void rgMonitor_Change(rgMonitor* monitor, const rgWorldDef* def,
                      const rgModel* model); // parameters were: energies start anew
void rgMonitor_CheckPair(rgWorld* world, rgPairMemory* pair,
                         const rgManifold* manifold); // new against old
void rgMonitor_BeforeCommit(rgWorld* world);          // the state is that of the start of the step
void rgMonitor_AfterCommit(rgWorld* world);           // it is the new one
bool rgMonitor_IsSlow(const double* v, int count);
// reaction.c: per body, about the world's origin
const rgSpatial* rgWorld_Reactions(const rgWorld* world);
rgVec3 rgContactTorque(const rgContact* contact, double dt); // torsion and rolling, on B
// sensors.c
bool rgModel_IsBelow(const rgModel* model, int body, int top); // or the same; -1: the world

// contact_sensor.c
void rgReadContactSensor(const rgWorld* world, const rgSensorDef* def, double* out);

// Parts of a step for inverse dynamics.
void rgWorld_SumOtherForces(rgWorld* world, double* driven); // free.c: all but the user's
void rgWorld_FreeBodyForce(const rgWorld* world, const rgLink* link, const double* v,
                           const double* impulse, double* tau); // free.c
void rgWorld_FreeBodyImpulse(const rgWorld* world, const rgLink* link, const double* v,
                             double* impulse);                   // free.c
void rgWorld_StepVelocityAfter(const rgWorld* world, double* v); // position.c
void rgInverse_Destroy(rgWorld* world);                          // inverse.c
