// Answers to questions about the current state and the last step, computed when asked for.
#pragma once
#include "dynamics/dynamics.h"
#include "rigor/query.h"
#include "world/state.h"

// Pose and box of a collider in the current state.
typedef struct rgTarget {
    rgPose pose;
    rgBox box;
} rgTarget;

// Part of a tree over the boxes of colliders: a leaf, or two children.
typedef struct rgTargetNode {
    rgBox box;
    int first, count; // leaf: its part of the order; else count is 0
    int left, right;
} rgTargetNode;

// Lazily computed answers to questions about the current state and the last step.
typedef struct rgReadout {
    rgDynamics* now;   // at the current state
    rgDynamics* start; // at the start of the last step, with its accelerations
    rgDynamics* query; // at the current state, body coordinates; NULL before the first call
    bool nowValid, startValid, contactsValid, constraintsValid, sensorsValid;
    bool queryValid, targetsValid, treeValid, touchesValid;
    bool evaluated; // there was a step or forward call
    bool committed; // the last of them moved on
    rgTarget* targets;
    int targetCapacity;
    rgTargetNode* nodes; // of the tree for many rays; the root is the first
    int* order;          // colliders as the leaves have them; before those the ones without bounds
    int nodeCount, nodeCapacity, orderCapacity, unboundedCount;
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

rgResult rgReadout_Create(rgWorld* world);
void rgReadout_Destroy(rgReadout* readout, const rgAllocator* allocator);
void rgReadout_Invalidate(rgReadout* readout);
// Kinematics of the current state.
rgDynamics* rgReadout_CurrentDynamics(rgReadout* readout, const rgState* state,
                                      const rgModel* model);
// Kinematics and accelerations of the start of the last step.
rgDynamics* rgWorld_StartDynamics(const rgWorld* world);
