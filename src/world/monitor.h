// Monitor of energy, depth and forces. No part of the state: the motion does not depend on it.
#pragma once
#include "rigor/world.h"
#include "world/contacts.h"

typedef struct rgMonitor {
    bool stores;          // there are springs whose energy rgDynamics_Energy() does not count
    bool placed;          // the state was set since the last step
    bool ranAway;         // its kinetic energy is far above its energy balance
    bool passive;         // nothing drives the scene; count, least and motion are known
    int count;            // steps that it is passive for
    double least;         // least energy of these steps; with stores, energy at their start [J]
    double motion;        // largest kinetic energy of these steps [J]
    rgHealth health;      // since creation
    int unconvergedCount; // steps since creation
    int regularizedCount; // steps since creation
    unsigned solveCount;  // solves since creation
} rgMonitor;

void rgMonitor_Create(rgMonitor* monitor, const rgWorldDef* def, const rgModel* model);
// Restart the energy balance: the state was set.
void rgMonitor_Reset(rgMonitor* monitor);
// Restart the energy balance: parameters were changed.
void rgMonitor_Change(rgMonitor* monitor, const rgWorldDef* def, const rgModel* model);
// Depth of a new manifold against that of the last step.
void rgMonitor_CheckPair(rgWorld* world, rgPairMemory* pair, const rgManifold* manifold);
// Energy and depth with the state of the start of the step, then with the new one.
void rgMonitor_BeforeCommit(rgWorld* world, const rgStepReport* report);
void rgMonitor_AfterCommit(rgWorld* world);
// True if all speeds are finite and below RG_LIGHT_SPEED.
bool rgMonitor_IsSlow(const double* v, int count);
