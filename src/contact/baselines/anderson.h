// Anderson acceleration (type II) of a fixed-point iteration, with a safeguard. admm.11-12.
#pragma once
#include "math/kernels.h"

typedef struct rgAnderson {
    const rgKernels* kernels;
    int n;
    int memory;
    int count;         // differences stored
    int next;          // where the next difference goes
    bool primed;       // a previous point exists
    double lastStep;   // |T(x) - x| of the previous point
    double* point;     // x: the last point returned, n
    double* image;     // T(x) of the previous call, n
    double* residual;  // T(x) - x of the previous call, n
    double* residuals; // differences of residuals, memory x n
    double* images;    // differences of images, memory x n
    double* normal;    // memory x memory
    double* weights;   // memory
} rgAnderson;

// memory 0 needs no space and does nothing.
rgResult rgAnderson_Init(rgAnderson* anderson, int n, int memory, const rgKernels* kernels,
                         rgArena* arena);

// Given image = T(last returned point), replace it by the accelerated next point.
void rgAnderson_Accelerate(rgAnderson* anderson, double* image);

// Forget everything: the map T has changed.
void rgAnderson_Restart(rgAnderson* anderson);
