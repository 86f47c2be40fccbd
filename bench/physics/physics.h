// Experiments with known answers: each builds a small world, runs it, and measures one number
// beside the one that mechanics gives. Uses public headers only.
#pragma once
#include "rigor/rigor.h"

#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RG_GRAVITY 9.81
#define RG_PI      3.141592653589793

typedef struct rgOutcome {
    double expected, measured; // NAN: the experiment could not be made
} rgOutcome;

typedef rgOutcome rgPhysicsFcn(void);

typedef struct rgPhysicsTest {
    const char* name;
    const char* unit;
    double tolerance; // on |measured - expected|
    rgPhysicsFcn* run;
    bool slow;           // left out by --quick
    const char* because; // why it misses, where it is known to
} rgPhysicsTest;

typedef struct rgSubject {
    const char* name;
    const rgPhysicsTest* experiments;
    int count;
} rgSubject;

extern const rgSubject rgPhysicsFriction, rgPhysicsMotion, rgPhysicsRolling, rgPhysicsImpact,
    rgPhysicsMachines, rgPhysicsStructures, rgPhysicsRobots;

// ---- lab.c

typedef struct rgLab {
    rgModelDef* def;
    rgModel* model;
    rgWorld* world; // NULL: something is wrong, and everything else does nothing
} rgLab;

// A world from MJCF, written as for printf; the text goes between <mujoco> and </mujoco>.
rgLab rgLab_Open(const rgWorldDef* def, const char* format, ...)
    __attribute__((format(printf, 2, 3)));
rgLab rgLab_OpenDef(const rgWorldDef* def, rgModelDef* model);
void rgLab_Close(rgLab* lab);
bool rgLab_Run(rgLab* lab, double seconds); // false: a step failed
rgBodyId rgLab_Body(const rgLab* lab, const char* name);
rgVec3 rgLab_At(const rgLab* lab, const char* name);
rgSpatial rgLab_Motion(const rgLab* lab, const char* name);
void rgLab_Throw(rgLab* lab, const char* name, rgVec3 linear, rgVec3 angular);
double rgLab_Energy(const rgLab* lab);

rgWorldDef rgLab_Def(void);            // tolerance 1e-10
rgWorldDef rgLab_Tilted(double angle); // gravity turned about y: downhill is +x
rgOutcome rgLab_Fail(void);            // could not be made
rgOutcome rgLab_Result(double expected, double measured);

// The value between low (where holds() is true) and high (where it is not) at which it changes.
typedef bool rgHoldsFcn(double value);
double rgBisect(rgHoldsFcn* holds, double low, double high, int steps);

// Energy as it goes: how far it rises above the least so far, and how far it is from the start.
typedef struct rgEnergyLog {
    double start, least, rise, drift, most;
} rgEnergyLog;
rgEnergyLog rgEnergyLog_Begin(const rgLab* lab);
void rgEnergyLog_Add(rgEnergyLog* log, const rgLab* lab);
