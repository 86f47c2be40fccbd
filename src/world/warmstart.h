// Warm start: memory of pairs, contact points and other rows from step to step.
#pragma once
#include "collision/collide.h"
#include "rigor/world.h"
#include "world/heap.h"

typedef struct rgConstraintSet rgConstraintSet;
typedef struct rgContactPoint rgContactPoint;
typedef struct rgContactSet rgContactSet;
typedef struct rgState rgState;

// Memory of a pair of shapes from step to step. No padding: states are compared by bytes.
typedef struct rgPairMemory {
    int32_t a, b; // proxies, a < b
    rgPairCache cache;
    int32_t firstContact, contactCount; // in rgMemory.contacts
    int32_t overlap;   // 1: parts of one tree that overlapped when they were first seen
    int32_t age;       // steps since it was found, at most 1
    double energyTank; // energy that its normal springs may give back [J]; negative: not known
    double gap;        // of its deepest point, when it was last computed [m]; 0: none
} rgPairMemory;

// Impulse and anchor of one contact point, in world axes so that they outlive the choice of
// tangents.
typedef struct rgContactMemory {
    uint32_t feature;
    int32_t rowCount;
    rgVec3 linear, angular;
    rgVec3 anchor;     // elastic tangential displacement of B from A [m]
    rgVec3 normal;     // at which the anchor was stored
    double projection; // impulse of the projection along the normal [kg m]
} rgContactMemory;

// Warm start of contacts, sorted by pair. Two of them: that of the state, and the next one.
typedef struct rgMemory {
    rgPairMemory* pairs;
    int pairCount, pairCapacity;
    rgContactMemory* contacts;
    int contactCount, contactCapacity;
} rgMemory;

// First slot of each kind of row.
typedef struct rgSlots {
    int limit;    // 2 per joint
    int friction; // 1 per degree of freedom
    int tendon;   // RG_TENDON_ROWS per tendon: lower, upper, friction, spring, its ends, inertia
    int equality; // 6 per equality
    int actuator; // 1 per actuator
    int count;
} rgSlots;

// Impulses and bristles from step to step; memory 0 is part of the state.
typedef struct rgWarmStart {
    rgMemory memories[2];
    double* nextImpulse; // per slot, of the step
    rgSlots slots;
} rgWarmStart;

bool rgWarmStart_Create(rgWarmStart* warmStart, rgHeap* heap);
void rgWarmStart_Destroy(rgWarmStart* warmStart, const rgAllocator* allocator);
void rgWarmStart_Plan(rgWarmStart* warmStart, const rgModel* model);
// Active pairs of this step, with their memory of the last one.
rgResult rgWorld_MatchPairs(rgWorld* world);
// Start lambda of all rows from the state.
void rgWorld_LoadImpulses(rgWorld* world);
// Store lambda of this pass for the next one.
void rgWorld_StorePassImpulses(rgWorld* world);
// Start lambda of all rows from the last pass.
void rgConstraintSet_LoadPassImpulses(rgConstraintSet* constraints, rgContactSet* contacts,
                                      const rgWarmStart* warmStart);
// Memory of a point in the state; NULL: it is new.
const rgContactMemory* rgWarmStart_ContactMemory(const rgWarmStart* warmStart,
                                                 const rgContactPoint* point);
// Impulses and bristles of the step, into the next memory.
rgResult rgWorld_StoreImpulses(rgWorld* world);
// Impulse of the projection at a row: that of the last step, and of this one.
double rgConstraintSet_ProjectionImpulse(const rgConstraintSet* constraints,
                                         const rgContactSet* contacts, int row);
void rgWarmStart_StoreProjectionImpulse(rgWarmStart* warmStart, rgConstraintSet* constraints,
                                        int row, double impulse);
// Make the next memory that of the state.
void rgWarmStart_Commit(rgWarmStart* warmStart, rgState* state);
void rgWarmStart_ClearImpulses(rgWarmStart* warmStart, rgState* state);
// True if the points are those whose impulses the state holds: of a step, with nothing since.
bool rgWarmStart_HoldsPoints(const rgWarmStart* warmStart, const rgContactSet* contacts);
// Set the impulse of a point in the state.
void rgWarmStart_SetImpulse(rgWarmStart* warmStart, const rgContactSet* contacts, int point,
                            const double impulse[6]);
// Mark all energy tanks as unknown: a state that was set may hold compressed springs.
void rgWarmStart_ClearEnergyTanks(rgWarmStart* warmStart);
