// librigor_cuda.so: the lanes on a GPU of NVIDIA, one warp per problem. Opened by device.c; gives a
// table of calls. CUDA's runtime is linked in and opens the driver by itself, so that this library
// loads where there is none and says so.
extern "C" {
#include "lanes/backend.h"
}
#include "lanes/solve.h"

#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Blocks of a thorough run, each of which takes problems as long as there are some.
#define RG_SECOND_BLOCKS 2048

// Thread 0 of a warp keeps what the lanes agree on.
static __device__ void rgKeep(const rgLaneBatch* batch, int problem, const rgLaneOutcome* outcome) {
    RG_ONE() {
        batch->outcomes[problem] = *outcome;
    }
}

// One block per problem of a class; those that stay unsolved go on the class's list. Their order
// there depends on the device; what becomes of them does not.
static __global__ void __launch_bounds__(RG_LANE_COUNT, 12)
    rgRunFirst(rgLaneBatch batch, const int* order, int* rest, int* restCount) {
    extern __shared__ double memory[];
    int problem = order[blockIdx.x];
    rgLaneOutcome outcome;
    rgLaneSolve(&batch, problem, rg_laneQuick, memory, &outcome);
    rgKeep(&batch, problem, &outcome);
    RG_ONE() {
        if (outcome.status == rg_laneUnsolved) {
            rest[atomicAdd(restCount, 1)] = problem;
        }
    }
}

static __global__ void __launch_bounds__(RG_LANE_COUNT, 12)
    rgRunSecond(rgLaneBatch batch, const int* rest, const int* restCount) {
    extern __shared__ double memory[];
    for (int k = (int)blockIdx.x; k < *restCount; k += (int)gridDim.x) {
        int problem = rest[k];
        int before = batch.outcomes[problem].iterations;
        rgLaneOutcome outcome;
        __syncwarp();
        rgLaneSolve(&batch, problem, rg_laneThorough, memory, &outcome);
        outcome.iterations += before;
        outcome.second = 1;
        rgKeep(&batch, problem, &outcome);
        __syncwarp();
    }
}

struct rgCudaSolver {
    int device;
    rgLaneBatch batch; // pointers to the device's memory
    int* order;
    int* rest;
    int* restCount; // per class
    cudaStream_t streams[RG_LANE_CLASSES];
    cudaEvent_t begin, end, ready[RG_LANE_CLASSES];
};

// True if the call went well; else the reason.
static bool rgDone(cudaError_t error, const char* call, char why[RG_CUDA_WHY_SIZE]) {
    if (error != cudaSuccess) {
        snprintf(why, RG_CUDA_WHY_SIZE, "%s: %s", call, cudaGetErrorString(error));
        (void)cudaGetLastError(); // so that the next call does not say it again
    }
    return error == cudaSuccess;
}
#define RG_DONE(call) rgDone((call), #call, why)

static int rgCuda_Count(char why[RG_CUDA_WHY_SIZE]) {
    int count = 0, driver = 0;
    cudaError_t error = cudaGetDeviceCount(&count);
    if (cudaDriverGetVersion(&driver) != cudaSuccess || driver == 0) {
        snprintf(why, RG_CUDA_WHY_SIZE, "there is no driver (libcuda.so.1)");
        count = 0;
    } else if (error == cudaErrorInsufficientDriver) {
        snprintf(why, RG_CUDA_WHY_SIZE, "the driver serves CUDA %d.%d, and %d.%d is needed",
                 driver / 1000, driver % 1000 / 10, CUDART_VERSION / 1000,
                 CUDART_VERSION % 1000 / 10);
        count = 0;
    } else if (error != cudaSuccess || count == 0) {
        snprintf(why, RG_CUDA_WHY_SIZE, "there is a driver and no device: %s",
                 cudaGetErrorString(error));
        count = 0;
    }
    (void)cudaGetLastError(); // so that the next call does not say it again
    return count;
}

static rgResult rgCuda_Info(int index, rgDeviceInfo* info) {
    char why[RG_CUDA_WHY_SIZE];
    cudaDeviceProp properties;
    int shared = 0, driver = 0;
    if (!RG_DONE(cudaGetDeviceProperties(&properties, index)) ||
        !RG_DONE(cudaDeviceGetAttribute(&shared, cudaDevAttrMaxSharedMemoryPerBlockOptin, index)) ||
        !RG_DONE(cudaDriverGetVersion(&driver))) {
        return rg_errorUnsupported;
    }
    info->kind = rg_deviceCuda;
    info->index = index;
    snprintf(info->name, sizeof(info->name), "%s", properties.name);
    info->major = properties.major;
    info->minor = properties.minor;
    info->processorCount = properties.multiProcessorCount;
    info->sharedMemory = shared;
    info->driver = driver;
    info->memory = properties.totalGlobalMem;
    return rg_ok;
}

static void rgForget(rgCudaSolver* solver) {
    const void* all[] = {solver->batch.problems, solver->batch.matrices, solver->batch.groups,
                         solver->batch.velocity, solver->batch.outcomes, solver->batch.factors,
                         solver->order,          solver->rest,           solver->restCount};
    for (const void* memory : all) {
        cudaFree(const_cast<void*>(memory));
    }
    solver->batch = rgLaneBatch();
    solver->order = solver->rest = solver->restCount = NULL;
}

static void rgCuda_Destroy(rgCudaSolver* solver) {
    cudaSetDevice(solver->device);
    rgForget(solver);
    for (int i = 0; i < RG_LANE_CLASSES; ++i) {
        if (solver->streams[i] != NULL) {
            cudaStreamDestroy(solver->streams[i]);
        }
        if (solver->ready[i] != NULL) {
            cudaEventDestroy(solver->ready[i]);
        }
    }
    if (solver->begin != NULL) {
        cudaEventDestroy(solver->begin);
    }
    if (solver->end != NULL) {
        cudaEventDestroy(solver->end);
    }
    free(solver);
}

static rgResult rgCuda_Create(int index, rgCudaSolver** made, char why[RG_CUDA_WHY_SIZE]) {
    int count = rgCuda_Count(why);
    if (index >= count) {
        if (count > 0) {
            snprintf(why, RG_CUDA_WHY_SIZE, "there are %d", count);
        }
        return rg_errorUnsupported;
    }
    rgCudaSolver* solver = (rgCudaSolver*)calloc(1, sizeof(rgCudaSolver));
    if (solver == NULL) {
        return rg_errorMemory;
    }
    solver->device = index;
    int shared = 0;
    bool done =
        RG_DONE(cudaSetDevice(index)) && RG_DONE(cudaEventCreate(&solver->begin)) &&
        RG_DONE(cudaEventCreate(&solver->end)) &&
        RG_DONE(cudaDeviceGetAttribute(&shared, cudaDevAttrMaxSharedMemoryPerBlockOptin, index)) &&
        RG_DONE(cudaFuncSetAttribute(rgRunFirst, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                     shared)) &&
        RG_DONE(
            cudaFuncSetAttribute(rgRunSecond, cudaFuncAttributeMaxDynamicSharedMemorySize, shared));
    for (int i = 0; done && i < RG_LANE_CLASSES; ++i) {
        done = RG_DONE(cudaStreamCreateWithFlags(&solver->streams[i], cudaStreamNonBlocking)) &&
               RG_DONE(cudaEventCreateWithFlags(&solver->ready[i], cudaEventDisableTiming));
    }
    if (!done) {
        rgCuda_Destroy(solver);
        return rg_errorUnsupported;
    }
    *made = solver;
    return rg_ok;
}

static void* rgCuda_AllocatePinned(rgCudaSolver* solver, size_t bytes) {
    char why[RG_CUDA_WHY_SIZE];
    void* memory = NULL;
    if (!RG_DONE(cudaSetDevice(solver->device)) || !RG_DONE(cudaMallocHost(&memory, bytes))) {
        return NULL;
    }
    memset(memory, 0, bytes);
    return memory;
}

static void rgCuda_ReleasePinned(void* memory) {
    cudaFreeHost(memory);
}

// Memory of the device, with a copy of what is given.
template <typename T>
static bool rgBring(const T* from, int64_t count, const T** out, char why[RG_CUDA_WHY_SIZE]) {
    void* memory = NULL;
    size_t bytes = (size_t)(count > 0 ? count : 1) * sizeof(T);
    if (!RG_DONE(cudaMalloc(&memory, bytes))) {
        return false;
    }
    *out = (const T*)memory;
    return from == NULL || count == 0 ||
           RG_DONE(cudaMemcpy(memory, from, (size_t)count * sizeof(T), cudaMemcpyHostToDevice));
}

static rgResult rgCuda_Load(rgCudaSolver* solver, const rgLaneInput* input,
                            char why[RG_CUDA_WHY_SIZE]) {
    const rgLaneBatch* from = &input->batch;
    rgLaneBatch* to = &solver->batch;
    int ordered = input->classStart[input->classCount];
    const double *rows = NULL, *factors = NULL;
    const rgLaneOutcome* outcomes = NULL;
    const int *order = NULL, *rest = NULL, *restCount = NULL;
    bool done = RG_DONE(cudaSetDevice(solver->device));
    rgForget(solver);
    done = done && rgBring(from->problems, input->problemCount, &to->problems, why) &&
           rgBring(from->matrices, input->matrixCount, &to->matrices, why) &&
           rgBring(from->groups, input->groupCount, &to->groups, why) &&
           rgBring(from->velocity, 6 * input->rowCount, &rows, why);
    to->velocity = rows;
    done = done && rgBring((const rgLaneOutcome*)NULL, input->problemCount, &outcomes, why);
    to->outcomes = const_cast<rgLaneOutcome*>(outcomes);
    done = done && rgBring((const double*)NULL, input->factorCount, &factors, why);
    to->factors = const_cast<double*>(factors);
    done = done && rgBring(input->order, ordered, &order, why);
    solver->order = const_cast<int*>(order);
    done = done && rgBring((const int*)NULL, ordered, &rest, why);
    solver->rest = const_cast<int*>(rest);
    done = done && rgBring((const int*)NULL, RG_LANE_CLASSES, &restCount, why);
    solver->restCount = const_cast<int*>(restCount);
    if (!done) {
        rgForget(solver);
        return rg_errorMemory;
    }
    double* own = const_cast<double*>(rows);
    int64_t n = input->rowCount;
    to->compliance = own + n;
    to->length = own + 2 * n;
    to->start = own + 3 * n;
    to->lambda = own + 4 * n;
    to->sigma = own + 5 * n;
    to->tolerance = from->tolerance;
    return rg_ok;
}

// Both runs, classes beside each other; large problems first, since they take longest.
static bool rgLaunch(rgCudaSolver* solver, const rgLaneInput* input, char why[RG_CUDA_WHY_SIZE]) {
    cudaStream_t main = solver->streams[RG_LANE_CLASSES - 1];
    bool done =
        RG_DONE(cudaMemsetAsync(solver->restCount, 0, RG_LANE_CLASSES * sizeof(int), main)) &&
        RG_DONE(cudaEventRecord(solver->begin, main));
    for (int i = input->classCount - 1; done && i >= 0; --i) {
        cudaStream_t stream = solver->streams[i];
        int first = input->classStart[i], count = input->classStart[i + 1] - first;
        size_t bytes = (size_t)input->classBytes[i];
        int blocks = count < RG_SECOND_BLOCKS ? count : RG_SECOND_BLOCKS;
        done = RG_DONE(cudaStreamWaitEvent(stream, solver->begin, 0));
        rgRunFirst<<<(unsigned)count, RG_LANE_COUNT, bytes, stream>>>(
            solver->batch, solver->order + first, solver->rest + first, solver->restCount + i);
        done = done && RG_DONE(cudaGetLastError());
        rgRunSecond<<<(unsigned)blocks, RG_LANE_COUNT, bytes, stream>>>(
            solver->batch, solver->rest + first, solver->restCount + i);
        done = done && RG_DONE(cudaGetLastError()) &&
               RG_DONE(cudaEventRecord(solver->ready[i], stream)) &&
               RG_DONE(cudaStreamWaitEvent(main, solver->ready[i], 0));
    }
    return done && RG_DONE(cudaEventRecord(solver->end, main)) &&
           RG_DONE(cudaStreamSynchronize(main));
}

static rgResult rgCuda_Solve(rgCudaSolver* solver, const rgLaneInput* input, double* seconds,
                             char why[RG_CUDA_WHY_SIZE]) {
    int64_t n = input->rowCount;
    size_t bytes = (size_t)n * sizeof(double);
    float milliseconds = 0;
    *seconds = 0;
    if (input->classCount == 0) {
        return rg_ok;
    }
    bool done = RG_DONE(cudaSetDevice(solver->device)) &&
                RG_DONE(cudaMemcpy(const_cast<double*>(solver->batch.start), input->batch.start,
                                   bytes, cudaMemcpyHostToDevice)) &&
                RG_DONE(cudaMemcpy(solver->batch.outcomes, input->batch.outcomes,
                                   (size_t)input->problemCount * sizeof(rgLaneOutcome),
                                   cudaMemcpyHostToDevice)) &&
                rgLaunch(solver, input, why) &&
                RG_DONE(cudaEventElapsedTime(&milliseconds, solver->begin, solver->end)) &&
                RG_DONE(cudaMemcpy(input->batch.lambda, solver->batch.lambda, 2 * bytes,
                                   cudaMemcpyDeviceToHost)) &&
                RG_DONE(cudaMemcpy(input->batch.outcomes, solver->batch.outcomes,
                                   (size_t)input->problemCount * sizeof(rgLaneOutcome),
                                   cudaMemcpyDeviceToHost));
    *seconds = milliseconds * 1e-3;
    return done ? rg_ok : rg_errorUnsupported;
}

extern "C" const struct rgManyTable* rgCudaWorlds(void); // device/worlds.cu

extern "C" __attribute__((visibility("default"))) const rgCudaTable* rgCudaTableOf(void) {
    static const rgCudaTable table = {RG_CUDA_TABLE_VERSION,
                                      rgCuda_Count,
                                      rgCuda_Info,
                                      rgCuda_Create,
                                      rgCuda_Destroy,
                                      rgCuda_AllocatePinned,
                                      rgCuda_ReleasePinned,
                                      rgCuda_Load,
                                      rgCuda_Solve,
                                      rgCudaWorlds()};
    return &table;
}
