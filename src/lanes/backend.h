// Between librigor and those who run the lanes: the host, or librigor_cuda.so, which is opened at
// run time and gives a table of calls.
#pragma once
#include "base/base.h"
#include "lanes/problem.h"
#include "rigor/device.h"

// Problems of similar size run together: the memory of one launch is that of its largest problem.
#define RG_LANE_CLASSES 16

// Problems of a batch on the host, in the order of their sizes.
typedef struct rgLaneInput {
    rgLaneBatch batch; // pointers to the host's memory
    int problemCount;
    int64_t matrixCount, groupCount, rowCount, factorCount;
    int classCount;
    int classBytes[RG_LANE_CLASSES];
    int classStart[RG_LANE_CLASSES + 1]; // into order
    const int* order;                    // problems by class
} rgLaneInput;

// What a batch has loaded, with the start of its last solve.
const rgLaneInput* rgContactBatch_Input(const rgContactBatch* batch);

// Bytes that the lanes of one problem use, and numbers of its factor of M.
int64_t rgLaneFactors(int velocities, int form);
int64_t rgLaneBytes(int rows, int groups, int velocities, int form);

// Solve on the host: quick over the given problems, then thorough over what is left.
rgResult rgLaneRunHost(const rgLaneInput* input, const rgTasks* tasks,
                       const rgAllocator* allocator);
// One problem, in memory of rgLaneBytes().
void rgLaneSolveOne(const rgLaneBatch* batch, int problem, rgLaneEffort effort, double* memory);

// ---- librigor_cuda.so ----

#define RG_CUDA_TABLE_VERSION 2
#define RG_CUDA_TABLE_SYMBOL  "rgCudaTableOf"
#define RG_CUDA_WHY_SIZE      200

typedef struct rgCudaSolver rgCudaSolver;
typedef struct rgCudaTable {
    int version;
    // Devices; 0 with the reason where there are none.
    int (*count)(char why[RG_CUDA_WHY_SIZE]);
    rgResult (*info)(int index, rgDeviceInfo* info);
    rgResult (*create)(int index, rgCudaSolver** solver, char why[RG_CUDA_WHY_SIZE]);
    void (*destroy)(rgCudaSolver* solver);
    // Zeroed memory of the host that the device reads and writes without a copy between; NULL when
    // there is none.
    void* (*allocatePinned)(rgCudaSolver* solver, size_t bytes);
    void (*releasePinned)(void* memory);
    rgResult (*load)(rgCudaSolver* solver, const rgLaneInput* input, char why[RG_CUDA_WHY_SIZE]);
    // Both runs; lambda, sigma and outcomes come back into the host's memory of the input.
    rgResult (*solve)(rgCudaSolver* solver, const rgLaneInput* input, double* seconds,
                      char why[RG_CUDA_WHY_SIZE]);
    const struct rgManyTable* worlds; // device/backend.h
} rgCudaTable;

typedef const rgCudaTable* rgCudaTableFcn(void);

// NULL with the reason where it cannot be opened. It stays open.
const rgCudaTable* rgOpenCuda(char why[RG_CUDA_WHY_SIZE]);
