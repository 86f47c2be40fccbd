// Worlds on a GPU of NVIDIA: one thread per world but for its contact problem, which a warp solves
// as src/lanes does. Part of librigor_cuda.so.
#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

extern "C" {
#include "base/base.h"
// Static functions of these serve host and device; others are declared for both first.
#define static static __host__ __device__
#include "device/backend.h"
#include "device/collision.h"
#undef static
}
#include "device/finish.h"
#include "lanes/solve.h"

#include <algorithm>
#include <cuda_runtime.h>
#include <stdio.h>

#define RG_MANY_CLASSES 8  // problems by rows: the memory of a launch is that of its largest
#define RG_MANY_THREADS 32 // of a block, one world each

// All numbers of the worlds on the device.
typedef struct rgManyArrays {
    const rgManyModel* plan;
    rgManySizes sizes;
    double *state, *work;
    int *stateInt, *workInt;
    rgLaneProblem* problems;
    rgLaneGroup* groups;
    rgLaneOutcome* outcomes;
    double *matrices, *factors, *rows; // rows: velocity, compliance, length, start, lambda, sigma
    int* lists;                        // RG_MANY_CLASSES lists of worlds, then as many again
    int* counts;                       // lengths of the lists, then what was taken of them
    int* left;                         // worlds for the host
    int* signals;                      // worlds with another pass, worlds for the host, most rows
    double* worst;                     // scratch of a report
    int classRows[RG_MANY_CLASSES];
} rgManyArrays;

static __device__ rgMany rgManyOf(const rgManyArrays* a, int world) {
    size_t n = (size_t)a->sizes.stride * (size_t)a->sizes.rowCapacity;
    size_t row = (size_t)world * (size_t)a->sizes.rowCapacity, nv = (size_t)a->plan->vCount;
    rgMany w;
    w.m = a->plan;
    w.state = a->state + world;
    w.stateInt = a->stateInt + world;
    w.work = a->work + world;
    w.workInt = a->workInt + world;
    w.stride = w.step = (size_t)a->sizes.stride;
    w.problem = a->problems + world;
    w.groups = a->groups + row;
    w.mass = a->matrices + (size_t)world * (size_t)a->sizes.matrixCount;
    w.J = w.mass + nv * (nv + 1) / 2;
    w.velocity = a->rows + row;
    w.compliance = w.velocity + n;
    w.length = w.compliance + n;
    w.start = w.length + n;
    w.lambda = w.start + n;
    w.outcome = a->outcomes + world;
    return w;
}

static __device__ int rgManyThread(void) {
    return (int)(blockIdx.x * blockDim.x + threadIdx.x);
}

static __global__ void rgRunBegin(rgManyArrays a) {
    int i = rgManyThread();
    if (i >= a.sizes.worldCount) {
        return;
    }
    rgMany w = rgManyOf(&a, i);
    if (RG_SI(&w, halted, 0)) {
        RG_WI(&w, reason, 0) = rg_manyNumbers;
        RG_WI(&w, again, 0) = 0;
        return;
    }
    rgManyBegin(&w);
}

// Rows of a pass, and its problem on the list of its size. The order there depends on the device;
// what becomes of a problem does not.
static __global__ void rgRunAssemble(rgManyArrays a) {
    int i = rgManyThread();
    if (i >= a.sizes.worldCount) {
        return;
    }
    rgMany w = rgManyOf(&a, i);
    rgManyAssemble(&w);
    if (rgManySolves(&w)) {
        int size = 0;
        while (w.problem->rows > a.classRows[size]) {
            ++size;
        }
        a.lists[(size_t)size * (size_t)a.sizes.stride + (size_t)atomicAdd(a.counts + size, 1)] = i;
    }
}

// Problems of a list, each by a warp, as long as there are some. The first run puts what it does
// not solve on the list of the second.
static __global__ void __launch_bounds__(RG_LANE_COUNT, 12)
    rgRunSolve(rgManyArrays a, rgLaneBatch batch, int size, rgLaneEffort effort) {
    extern __shared__ double memory[];
    int list = effort == rg_laneQuick ? size : RG_MANY_CLASSES + size;
    const int* worlds = a.lists + (size_t)list * (size_t)a.sizes.stride;
    for (;;) {
        int at = 0;
        RG_ONE() {
            at = atomicAdd(a.counts + 2 * RG_MANY_CLASSES + list, 1);
        }
        at = __shfl_sync(0xffffffffu, at, 0);
        if (at >= a.counts[list]) {
            return;
        }
        int world = worlds[at];
        rgLaneOutcome outcome;
        __syncwarp();
        rgLaneSolve(&batch, world, effort, memory, &outcome);
        RG_ONE() {
            batch.outcomes[world] = outcome;
            if (effort == rg_laneQuick && outcome.status == rg_laneUnsolved) {
                int next = RG_MANY_CLASSES + size;
                a.lists[(size_t)next * (size_t)a.sizes.stride +
                        (size_t)atomicAdd(a.counts + next, 1)] = world;
            }
        }
        __syncwarp();
    }
}

static __global__ void rgRunRevise(rgManyArrays a) {
    int i = rgManyThread();
    if (i >= a.sizes.worldCount) {
        return;
    }
    rgMany w = rgManyOf(&a, i);
    rgManyRevise(&w);
    if (RG_WI(&w, again, 0) && RG_WI(&w, reason, 0) == rg_manyDone) {
        atomicAdd(a.signals, 1);
    }
}

static __global__ void rgRunEnd(rgManyArrays a) {
    int i = rgManyThread();
    if (i >= a.sizes.worldCount) {
        return;
    }
    rgMany w = rgManyOf(&a, i);
    rgManyEnd(&w);
    RG_SI(&w, reason, 0) = RG_WI(&w, reason, 0);
    if (!RG_SI(&w, halted, 0) && RG_WI(&w, reason, 0) != rg_manyDone) {
        a.left[atomicAdd(a.signals + 1, 1)] = i;
    }
}

// Numbers of listed worlds, dense by world, from the state or back.
template <typename T>
static __global__ void rgRunMove(T* state, int stride, T* dense, const int* list, int count,
                                 int columns, int back) {
    for (long long k = (long long)blockIdx.x * blockDim.x + threadIdx.x;
         k < (long long)count * columns; k += (long long)gridDim.x * blockDim.x) {
        int world = list != NULL ? list[k / columns] : (int)(k / columns);
        T* there = state + (size_t)(k % columns) * (size_t)stride + (size_t)world;
        if (back) {
            *there = dense[k];
        } else {
            dense[k] = *there;
        }
    }
}

static __global__ void rgRunMost(rgManyArrays a) {
    int rows = 0;
    double worst = 0;
    for (int i = (int)threadIdx.x; i < a.sizes.worldCount; i += RG_LANE_COUNT) {
        rgMany w = rgManyOf(&a, i);
        int own = RG_SI(&w, mostRows, 0);
        double residual = RG_S(&w, residual, 0);
        rows = rows > own ? rows : own;
        worst = worst > residual ? worst : residual;
    }
    rows = __reduce_max_sync(0xffffffffu, rows);
    worst = rgLane_LargestOfAll(worst);
    if (threadIdx.x == 0) {
        a.signals[2] = rows;
        *a.worst = worst;
    }
}

struct rgManyDevice {
    int index;
    rgManyArrays arrays;
    rgLaneBatch batch;
    void* memory[20];
    int memoryCount;
    int classBytes[RG_MANY_CLASSES], classBlocks[RG_MANY_CLASSES];
    cudaStream_t stream, beside[RG_MANY_CLASSES];
    cudaEvent_t begin, end, fork, ready[RG_MANY_CLASSES];
    int* pinned; // signals
    double* dense;
    int* denseInt;
    int* denseList;
    int denseCapacity;
};

static bool rgDone(cudaError_t error, const char* call, char why[RG_CUDA_WHY_SIZE]) {
    if (error != cudaSuccess) {
        snprintf(why, RG_CUDA_WHY_SIZE, "%s: %s", call, cudaGetErrorString(error));
        (void)cudaGetLastError();
    }
    return error == cudaSuccess;
}
#define RG_DONE(call) rgDone((call), #call, why)

// Memory of the device that is released with it; zero.
template <typename T>
static bool rgTake(rgManyDevice* d, T** out, size_t count, char why[RG_CUDA_WHY_SIZE]) {
    void* memory = NULL;
    size_t bytes = (count > 0 ? count : 1) * sizeof(T);
    if (!RG_DONE(cudaMalloc(&memory, bytes))) {
        return false;
    }
    d->memory[d->memoryCount++] = memory;
    *out = (T*)memory;
    return RG_DONE(cudaMemset(memory, 0, bytes));
}

static void rgWorlds_Destroy(rgManyDevice* d) {
    cudaSetDevice(d->index);
    for (int i = 0; i < d->memoryCount; ++i) {
        cudaFree(d->memory[i]);
    }
    cudaFree(d->dense);
    cudaFree(d->denseInt);
    cudaFree(d->denseList);
    cudaFreeHost(d->pinned);
    cudaEvent_t events[] = {d->begin, d->end, d->fork};
    for (cudaEvent_t event : events) {
        if (event != NULL) {
            cudaEventDestroy(event);
        }
    }
    for (int i = 0; i < RG_MANY_CLASSES; ++i) {
        if (d->ready[i] != NULL) {
            cudaEventDestroy(d->ready[i]);
        }
        if (d->beside[i] != NULL) {
            cudaStreamDestroy(d->beside[i]);
        }
    }
    if (d->stream != NULL) {
        cudaStreamDestroy(d->stream);
    }
    free(d);
}

// The plan with its arrays, whose pointers move with the block.
static bool rgBringPlan(rgManyDevice* d, const rgManyModel* plan, const char* block,
                        char why[RG_CUDA_WHY_SIZE]) {
    rgManyModel moved = *plan;
    char* there = NULL;
    rgManyModel* on = NULL;
    if (!rgTake(d, &there, d->arrays.sizes.blockBytes, why) || !rgTake(d, &on, 1, why)) {
        return false;
    }
#define RG_MOVE(T, field) moved.field = (const T*)(there + ((const char*)plan->field - block))
    RG_MOVE(rgManyLink, links);
    RG_MOVE(rgManyDof, dofs);
    RG_MOVE(rgManyTree, trees);
    RG_MOVE(rgManyLimit, limits);
    RG_MOVE(rgManyDrive, drives);
    RG_MOVE(rgManyCollider, colliders);
    RG_MOVE(rgGeometry, geometries);
    RG_MOVE(rgManyPair, pairs);
    RG_MOVE(int, massColumns);
#undef RG_MOVE
    d->arrays.plan = on;
    return RG_DONE(cudaMemcpy(there, block, d->arrays.sizes.blockBytes, cudaMemcpyHostToDevice)) &&
           RG_DONE(cudaMemcpy(on, &moved, sizeof(moved), cudaMemcpyHostToDevice));
}

static bool rgTakeWorlds(rgManyDevice* d, char why[RG_CUDA_WHY_SIZE]) {
    rgManyArrays* a = &d->arrays;
    size_t n = (size_t)a->sizes.stride, rows = n * (size_t)a->sizes.rowCapacity;
    return rgTake(d, &a->state, n * (size_t)a->sizes.stateCount, why) &&
           rgTake(d, &a->stateInt, n * (size_t)a->sizes.stateIntCount, why) &&
           rgTake(d, &a->work, n * (size_t)a->sizes.workCount, why) &&
           rgTake(d, &a->workInt, n * (size_t)a->sizes.workIntCount, why) &&
           rgTake(d, &a->problems, n, why) && rgTake(d, &a->groups, rows, why) &&
           rgTake(d, &a->outcomes, n, why) &&
           rgTake(d, &a->matrices, n * (size_t)a->sizes.matrixCount, why) &&
           rgTake(d, &a->factors, n * (size_t)a->sizes.factorCount, why) &&
           rgTake(d, &a->rows, 6 * rows, why) &&
           rgTake(d, &a->lists, 2 * RG_MANY_CLASSES * n, why) &&
           rgTake(d, &a->counts, 4 * RG_MANY_CLASSES, why) && rgTake(d, &a->left, n, why) &&
           rgTake(d, &a->signals, 4, why) && rgTake(d, &a->worst, 1, why);
}

// Each world's problem is at its own place.
static bool rgPlaceProblems(rgManyDevice* d, char why[RG_CUDA_WHY_SIZE]) {
    rgManyArrays* a = &d->arrays;
    int64_t n = a->sizes.stride, rows = n * a->sizes.rowCapacity;
    rgLaneProblem* problems = (rgLaneProblem*)calloc((size_t)n, sizeof(rgLaneProblem));
    if (problems == NULL) {
        return false;
    }
    for (int64_t i = 0; i < n; ++i) {
        problems[i].matrix = i * a->sizes.matrixCount;
        problems[i].factor = i * a->sizes.factorCount;
        problems[i].group = problems[i].row = i * a->sizes.rowCapacity;
    }
    bool done = RG_DONE(cudaMemcpy(a->problems, problems, (size_t)n * sizeof(rgLaneProblem),
                                   cudaMemcpyHostToDevice));
    free(problems);
    d->batch = rgLaneBatch();
    d->batch.problems = a->problems;
    d->batch.matrices = a->matrices;
    d->batch.groups = a->groups;
    d->batch.velocity = a->rows;
    d->batch.compliance = a->rows + rows;
    d->batch.length = a->rows + 2 * rows;
    d->batch.start = a->rows + 3 * rows;
    d->batch.lambda = a->rows + 4 * rows;
    d->batch.sigma = a->rows + 5 * rows;
    d->batch.factors = a->factors;
    d->batch.outcomes = a->outcomes;
    d->batch.tolerance = a->sizes.tolerance;
    return done;
}

// Sizes of problems that run together, from few rows to all.
static bool rgPlanClasses(rgManyDevice* d, int nv, char why[RG_CUDA_WHY_SIZE]) {
    rgManyArrays* a = &d->arrays;
    cudaDeviceProp properties;
    int shared = 0, most = a->sizes.rowCapacity;
    static const double shares[RG_MANY_CLASSES] = {0.08, 0.16, 0.24, 0.32, 0.42, 0.54, 0.75, 1};
    bool done = RG_DONE(cudaGetDeviceProperties(&properties, d->index)) &&
                RG_DONE(cudaDeviceGetAttribute(&shared, cudaDevAttrMaxSharedMemoryPerBlockOptin,
                                               d->index)) &&
                RG_DONE(cudaFuncSetAttribute(rgRunSolve,
                                             cudaFuncAttributeMaxDynamicSharedMemorySize, shared));
    for (int i = 0; done && i < RG_MANY_CLASSES; ++i) {
        int rows = std::max((int)(shares[i] * most), std::min(3, most)), blocks = 0;
        rows = i + 1 == RG_MANY_CLASSES ? most : rows;
        a->classRows[i] = rows;
        d->classBytes[i] =
            (int)sizeof(double) * rgLaneWork_Place(NULL, NULL, rows, rows, nv, rg_laneMass);
        done = RG_DONE(cudaOccupancyMaxActiveBlocksPerMultiprocessor(
            &blocks, rgRunSolve, RG_LANE_COUNT, (size_t)d->classBytes[i]));
        d->classBlocks[i] =
            std::min(std::max(blocks, 1) * properties.multiProcessorCount, a->sizes.worldCount);
    }
    return done;
}

static rgResult rgWorlds_Create(int index, const rgManyModel* plan, const char* block,
                                const rgManySizes* sizes, rgManyDevice** device,
                                char why[RG_CUDA_WHY_SIZE]) {
    rgManyDevice* d = (rgManyDevice*)calloc(1, sizeof(rgManyDevice));
    if (d == NULL) {
        return rg_errorMemory;
    }
    d->index = index;
    d->arrays.sizes = *sizes;
    bool done = RG_DONE(cudaSetDevice(index)) &&
                RG_DONE(cudaStreamCreateWithFlags(&d->stream, cudaStreamNonBlocking)) &&
                RG_DONE(cudaEventCreate(&d->begin)) && RG_DONE(cudaEventCreate(&d->end)) &&
                RG_DONE(cudaEventCreateWithFlags(&d->fork, cudaEventDisableTiming)) &&
                RG_DONE(cudaMallocHost((void**)&d->pinned, 4 * sizeof(int)));
    for (int i = 0; done && i < RG_MANY_CLASSES; ++i) {
        done = RG_DONE(cudaStreamCreateWithFlags(&d->beside[i], cudaStreamNonBlocking)) &&
               RG_DONE(cudaEventCreateWithFlags(&d->ready[i], cudaEventDisableTiming));
    }
    done = done && rgPlanClasses(d, plan->vCount, why) && rgTakeWorlds(d, why) &&
           rgBringPlan(d, plan, block, why) && rgPlaceProblems(d, why);
    if (!done) {
        rgWorlds_Destroy(d);
        return rg_errorMemory;
    }
    *device = d;
    return rg_ok;
}

// Both runs over the problems of a pass, sizes beside each other.
static bool rgSolveAll(rgManyDevice* d, char why[RG_CUDA_WHY_SIZE]) {
    bool done = RG_DONE(cudaEventRecord(d->fork, d->stream));
    for (int i = RG_MANY_CLASSES - 1; done && i >= 0; --i) {
        cudaStream_t stream = d->beside[i];
        unsigned blocks = (unsigned)d->classBlocks[i];
        size_t bytes = (size_t)d->classBytes[i];
        done = RG_DONE(cudaStreamWaitEvent(stream, d->fork, 0));
        rgRunSolve<<<blocks, RG_LANE_COUNT, bytes, stream>>>(d->arrays, d->batch, i, rg_laneQuick);
        done = done && RG_DONE(cudaGetLastError());
        rgRunSolve<<<blocks, RG_LANE_COUNT, bytes, stream>>>(d->arrays, d->batch, i,
                                                             rg_laneThorough);
        done = done && RG_DONE(cudaGetLastError()) &&
               RG_DONE(cudaEventRecord(d->ready[i], stream)) &&
               RG_DONE(cudaStreamWaitEvent(d->stream, d->ready[i], 0));
    }
    return done;
}

// The signals, once all before is done.
static bool rgReadSignals(rgManyDevice* d, char why[RG_CUDA_WHY_SIZE]) {
    return RG_DONE(cudaMemcpyAsync(d->pinned, d->arrays.signals, 4 * sizeof(int),
                                   cudaMemcpyDeviceToHost, d->stream)) &&
           RG_DONE(cudaStreamSynchronize(d->stream));
}

static rgResult rgWorlds_Step(rgManyDevice* d, int* left, int* leftCount, double* seconds,
                              char why[RG_CUDA_WHY_SIZE]) {
    rgManyArrays a = d->arrays;
    unsigned blocks = (unsigned)(a.sizes.stride + RG_MANY_THREADS - 1) / RG_MANY_THREADS;
    float milliseconds = 0;
    bool again = true;
    *leftCount = 0;
    // what others have written into views is done
    bool done = RG_DONE(cudaSetDevice(d->index)) && RG_DONE(cudaDeviceSynchronize()) &&
                RG_DONE(cudaEventRecord(d->begin, d->stream)) &&
                RG_DONE(cudaMemsetAsync(a.signals, 0, 4 * sizeof(int), d->stream));
    rgRunBegin<<<blocks, RG_MANY_THREADS, 0, d->stream>>>(a);
    done = done && RG_DONE(cudaGetLastError());
    for (int round = 0; done && again && round < RG_MANY_ROUNDS; ++round) {
        done =
            RG_DONE(cudaMemsetAsync(a.counts, 0, 4 * RG_MANY_CLASSES * sizeof(int), d->stream)) &&
            RG_DONE(cudaMemsetAsync(a.signals, 0, sizeof(int), d->stream));
        rgRunAssemble<<<blocks, RG_MANY_THREADS, 0, d->stream>>>(a);
        done = done && RG_DONE(cudaGetLastError()) && rgSolveAll(d, why);
        rgRunRevise<<<blocks, RG_MANY_THREADS, 0, d->stream>>>(a);
        done = done && RG_DONE(cudaGetLastError()) && rgReadSignals(d, why);
        again = d->pinned[0] > 0;
    }
    rgRunEnd<<<blocks, RG_MANY_THREADS, 0, d->stream>>>(a);
    done = done && RG_DONE(cudaGetLastError()) && RG_DONE(cudaEventRecord(d->end, d->stream)) &&
           rgReadSignals(d, why) && RG_DONE(cudaEventElapsedTime(&milliseconds, d->begin, d->end));
    int count = done ? d->pinned[1] : 0;
    done = done && (count == 0 || RG_DONE(cudaMemcpy(left, a.left, (size_t)count * sizeof(int),
                                                     cudaMemcpyDeviceToHost)));
    std::sort(left, left + count);
    *leftCount = count;
    *seconds = milliseconds * 1e-3;
    return done ? rg_ok : rg_errorUnsupported;
}

static bool rgReserveDense(rgManyDevice* d, int count) {
    char why[RG_CUDA_WHY_SIZE];
    if (count <= d->denseCapacity) {
        return true;
    }
    cudaFree(d->dense);
    cudaFree(d->denseInt);
    cudaFree(d->denseList);
    d->dense = NULL;
    d->denseInt = d->denseList = NULL;
    d->denseCapacity = 0;
    size_t n = (size_t)count;
    bool done = RG_DONE(cudaMalloc((void**)&d->dense,
                                   n * (size_t)d->arrays.sizes.stateCount * sizeof(double))) &&
                RG_DONE(cudaMalloc((void**)&d->denseInt,
                                   n * (size_t)d->arrays.sizes.stateIntCount * sizeof(int))) &&
                RG_DONE(cudaMalloc((void**)&d->denseList, n * sizeof(int)));
    d->denseCapacity = done ? count : 0;
    return done;
}

static rgResult rgWorlds_Move(rgManyDevice* d, const int* list, int count, double* state,
                              int* stateInt, bool back) {
    char why[RG_CUDA_WHY_SIZE];
    const rgManyArrays* a = &d->arrays;
    size_t n = (size_t)count, bytes = n * (size_t)a->sizes.stateCount * sizeof(double),
           intBytes = n * (size_t)a->sizes.stateIntCount * sizeof(int);
    if (!RG_DONE(cudaSetDevice(d->index)) || !RG_DONE(cudaDeviceSynchronize()) ||
        !rgReserveDense(d, count)) {
        return rg_errorMemory;
    }
    bool done = RG_DONE(
        cudaMemcpyAsync(d->denseList, list, n * sizeof(int), cudaMemcpyHostToDevice, d->stream));
    if (back) {
        done =
            done &&
            RG_DONE(cudaMemcpyAsync(d->dense, state, bytes, cudaMemcpyHostToDevice, d->stream)) &&
            RG_DONE(cudaMemcpyAsync(d->denseInt, stateInt, intBytes, cudaMemcpyHostToDevice,
                                    d->stream));
    }
    rgRunMove<<<1024, 128, 0, d->stream>>>(a->state, a->sizes.stride, d->dense, d->denseList, count,
                                           a->sizes.stateCount, (int)back);
    rgRunMove<<<1024, 128, 0, d->stream>>>(a->stateInt, a->sizes.stride, d->denseInt, d->denseList,
                                           count, a->sizes.stateIntCount, (int)back);
    done = done && RG_DONE(cudaGetLastError());
    if (!back) {
        done =
            done &&
            RG_DONE(cudaMemcpyAsync(state, d->dense, bytes, cudaMemcpyDeviceToHost, d->stream)) &&
            RG_DONE(cudaMemcpyAsync(stateInt, d->denseInt, intBytes, cudaMemcpyDeviceToHost,
                                    d->stream));
    }
    done = done && RG_DONE(cudaStreamSynchronize(d->stream));
    return done ? rg_ok : rg_errorUnsupported;
}

static rgResult rgWorlds_Get(const rgManyDevice* d, int first, int columns, double* out) {
    char why[RG_CUDA_WHY_SIZE];
    const rgManyArrays* a = &d->arrays;
    size_t bytes = (size_t)a->sizes.worldCount * (size_t)columns * sizeof(double);
    double* dense = NULL;
    if (!RG_DONE(cudaSetDevice(d->index)) || !RG_DONE(cudaDeviceSynchronize()) ||
        !RG_DONE(cudaMalloc((void**)&dense, bytes))) {
        return rg_errorMemory;
    }
    rgRunMove<<<1024, 128, 0, d->stream>>>(a->state + (size_t)first * (size_t)a->sizes.stride,
                                           a->sizes.stride, dense, (const int*)NULL,
                                           a->sizes.worldCount, columns, 0);
    bool done = RG_DONE(cudaGetLastError()) && RG_DONE(cudaStreamSynchronize(d->stream)) &&
                RG_DONE(cudaMemcpy(out, dense, bytes, cudaMemcpyDeviceToHost));
    cudaFree(dense);
    return done ? rg_ok : rg_errorUnsupported;
}

static double* rgWorlds_State(const rgManyDevice* d) {
    return d->arrays.state;
}

static void rgWorlds_Most(const rgManyDevice* d, int* rows, double* residual) {
    char why[RG_CUDA_WHY_SIZE];
    cudaSetDevice(d->index);
    rgRunMost<<<1, RG_LANE_COUNT, 0, d->stream>>>(d->arrays);
    if (RG_DONE(cudaStreamSynchronize(d->stream))) {
        cudaMemcpy(rows, d->arrays.signals + 2, sizeof(int), cudaMemcpyDeviceToHost);
        cudaMemcpy(residual, d->arrays.worst, sizeof(double), cudaMemcpyDeviceToHost);
    }
}

static const rgManyTable rg_worlds = {rgWorlds_Create, rgWorlds_Destroy, rgWorlds_Step,
                                      rgWorlds_Move,   rgWorlds_Get,     rgWorlds_State,
                                      rgWorlds_Most};

extern "C" const rgManyTable* rgCudaWorlds(void) {
    return &rg_worlds;
}
