// Lengths and gains of tendons and actuators in a step.
#pragma once
#include "world/kinematics.h"

typedef struct rgHeap rgHeap;

typedef enum rgActuatorMode {
    rg_actuatorForce, // an explicit force, clamped
    rg_actuatorJoint, // gains on one degree of freedom without limits: part of M^
    rg_actuatorRow,   // gains with limits, through tendons or on several degrees of freedom: a row
} rgActuatorMode;

typedef struct rgActuator {
    rgActuatorMode mode;
    bool holds;          // it has a position
    bool varies;         // its gains depend on its input, or push on: they are those of the step
    double lower, upper; // of the force
    double stiffness;    // kp, 0 where there is no position
    double damping;      // kd
    double position;     // rgWorld_PlaceActuators
    double drift;        // rgWorld_PlaceActuators: rate by kinematic bodies
    double command;      // rgWorld_PlaceActuators: force = command - stiffness l - damping l'
} rgActuator;

// Lengths and gains of tendons and actuators in a step.
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

#define RG_TENDON_ROWS 7

static inline bool rgTendonRowIsLimit(int row) {
    return row < 2 || row == 4 || row == 5;
}

// ---- constraint_tendon.c
// Lengths of tendons at the neutral configuration.
void rgTransmission_MeasureTendons(rgTransmission* transmission, const rgKinematics* kinematics);
// Lengths and gradients of tendons at the present kinematics.
void rgTransmission_PlaceTendons(rgTransmission* transmission, const rgKinematics* kinematics);

// ---- actuator.c
bool rgTransmission_Create(rgTransmission* transmission, rgHeap* heap, const rgModel* model);
void rgTransmission_Plan(rgTransmission* transmission, const rgModel* model);
// Positions, inputs and gains of actuators in the step.
void rgWorld_PlaceActuators(rgWorld* world);
// Derivative of an actuator's input where the step is computed by its control, of laws that are
// linear.
double rgActuatorInputSlope(const rgState* state, const rgModel* model, const rgSettings* settings,
                            int actuator);
// Activations after the step.
void rgState_CommitActivations(rgState* state, const rgModel* model, double dt);
