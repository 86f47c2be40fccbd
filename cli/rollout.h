// Many worlds: parameters that differ between them, and outputs kept of each.
#pragma once
#include "comm.h"
#include "simulation.h"
#include "trajectory.h"

#define RG_ROLLOUT_PARAMETERS 16

// One parameter that differs from world to world.
typedef struct rgSpread {
    rgBatchParameter parameter;
    double low, high;
    int count;        // values of a grid; 0: random between the two
    bool logarithmic; // a grid in equal ratios
} rgSpread;

// All of them. A world's number gives its place in the grid, the last parameter first, and seeds
// what is random.
typedef struct rgSpreads {
    rgSpread spreads[RG_ROLLOUT_PARAMETERS];
    int count;
    int64_t gridSize;
} rgSpreads;

// "mu=0.4:1.0,mass=0.9:1.1" and "mu=0.1:0.9:17,stiffness=1e4:1e6:5:log". False after a message.
bool rgSpreads_Read(rgSpreads* spreads, const char* option, const char* text, bool grid);
double rgSpreads_Value(const rgSpreads* spreads, int index, uint64_t seed, int64_t world);
