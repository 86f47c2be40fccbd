// Between a batch of worlds and who runs it: the host, or librigor_cuda.so.
#pragma once
#include "base/base.h"
#include "device/plan.h"
#include "lanes/backend.h"

// Sizes of a batch's arrays, per world unless something else is said.
typedef struct rgManySizes {
    int worldCount, stride; // of all worlds: their number, and what they are apart in the state
    int stateCount, stateIntCount, workCount, workIntCount;
    int rowCapacity, matrixCount, factorCount;
    int64_t laneBytes; // of a problem with all rows
    size_t blockBytes; // of the plan's arrays
    double tolerance;
} rgManySizes;

// ---- librigor_cuda.so

typedef struct rgManyDevice rgManyDevice;

// Calls for worlds; results other than rg_ok come with a reason where there is room for one.
typedef struct rgManyTable {
    rgResult (*create)(int index, const rgManyModel* plan, const char* block,
                       const rgManySizes* sizes, rgManyDevice** device, char why[RG_CUDA_WHY_SIZE]);
    void (*destroy)(rgManyDevice* device);
    // One step of all worlds that do not stand still. Those that are left to the host come in
    // ascending order.
    rgResult (*step)(rgManyDevice* device, int* left, int* leftCount, double* seconds,
                     char why[RG_CUDA_WHY_SIZE]);
    // All numbers of the listed worlds, dense by world, from the device or back to it.
    rgResult (*move)(rgManyDevice* device, const int* list, int count, double* state, int* stateInt,
                     bool back);
    // Numbers from first on of all worlds, dense by world.
    rgResult (*get)(const rgManyDevice* device, int first, int count, double* out);
    double* (*state)(const rgManyDevice* device);
    void (*most)(const rgManyDevice* device, int* rows, double* residual);
} rgManyTable;

// One world on the host: its memory, and all of its step.
size_t rgManyHostBytes(const rgManySizes* sizes);
void rgManyHostStep(const rgManyModel* plan, const rgManySizes* sizes, double* state, int* stateInt,
                    void* memory);
// Impulses of the last problem in that memory, in the order of its rows.
const double* rgManyHostImpulses(const rgManySizes* sizes, void* memory);
