// Inverse dynamics of arms that slide on a wall, shared by rigor bench inverse and the report.
#pragma once
#include "peer.h"

#include <stdio.h>

enum { rg_armDofs = 6, rg_bodyDofs = 64 };

typedef struct rgBenchInverseOptions {
    double seconds;
    double force;
    int calls;
    int repeat;
    const char* out;
    bool noPlot; // no PNG beside the CSV
    bool noPeer;
    bool json;
} rgBenchInverseOptions;

// An arm at its wall.
typedef struct rgWallRun {
    const char* name;
    bool present;
    rgModelDef* def;
    rgModel* model;
    rgWorld* world;
    FILE* csv;
    int steps;
    int iterationsMost;   // from a start on the sliding ray
    int iterationsNormal; // from a normal impulse alone
    int unsolved;
    double residual;         // worst, SI
    double velocityError;    // error of the step driven by the forces [rad/s]
    double forceError;       // contact force of the step beside the inverse's [N]
    double torqueMost;       // exact model [N m]
    double convexTorqueMost; // convex model, after as many iterations as it wants
    int convexIterations;    // mean
    int convexUnsolved;
} rgWallRun;

typedef struct rgCallTime {
    const char* name;
    int contactCount;
    int iterationCount;
    double least, median; // [s]
} rgCallTime;

typedef struct rgInverseBench {
    rgBenchInverseOptions options;
    rgWallRun runs[2];
    rgCallTime times[3];
    int timeCount;
    const rgPeer* peer; // MuJoCo, or NULL
    double peerSeconds, peerContacts;
    bool plotted;
} rgInverseBench;

// Run the arms and time the calls, by the options. With a folder, each step is a row of
// inverse_NAME.csv there. False after a message; free it either way.
bool rgInverseBench_Measure(rgInverseBench* bench);
void rgInverseBench_Free(rgInverseBench* bench);
