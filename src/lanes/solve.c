// The lanes on the host: one thread plays all of them.
#include "lanes/backend.h"

#include "lanes/solve.h"

int64_t rgLaneBytes(int rows, int groups, int velocities, int form) {
    // far above what any device has, and far below what an int holds
    if (rows > 4096 || velocities > 4096) {
        return INT64_MAX;
    }
    return (int64_t)sizeof(double) * rgLaneWork_Place(NULL, NULL, rows, groups, velocities, form);
}

int64_t rgLaneFactors(int velocities, int form) {
    return rgLaneFactorCount(velocities, form);
}

void rgLaneSolveOne(const rgLaneBatch* batch, int problem, rgLaneEffort effort, double* memory) {
    rgLaneSolve(batch, problem, effort, memory, batch->outcomes + problem);
}

typedef struct rgHostRun {
    const rgLaneInput* input;
    rgLaneEffort effort;
    double** memory; // per worker
} rgHostRun;

static void rgRunPiece(int index, int worker, void* context) {
    rgHostRun* run = context;
    const rgLaneInput* input = run->input;
    int problem = input->order[index];
    rgLaneOutcome* outcome = input->batch.outcomes + problem;
    if (run->effort == rg_laneQuick || outcome->status == rg_laneUnsolved) {
        int iterations = run->effort == rg_laneQuick ? 0 : outcome->iterations;
        rgLaneSolveOne(&input->batch, problem, run->effort, run->memory[worker]);
        outcome->iterations += iterations;
        outcome->second = run->effort == rg_laneThorough;
    }
}

rgResult rgLaneRunHost(const rgLaneInput* input, const rgTasks* tasks,
                       const rgAllocator* allocator) {
    int workers = RG_MAX(tasks->workerCount, 1), count = input->classStart[input->classCount];
    if (count == 0) {
        return rg_ok;
    }
    double** memory = rgAllocate(allocator, (size_t)workers, sizeof(double*));
    bool failed = memory == NULL;
    for (int i = 0; !failed && i < workers; ++i) {
        memory[i] = rgAllocate(allocator, (size_t)input->classBytes[input->classCount - 1], 1);
        failed = memory[i] == NULL;
    }
    for (int effort = rg_laneQuick; !failed && effort <= rg_laneThorough; ++effort) {
        rgHostRun run = {.input = input, .effort = (rgLaneEffort)effort, .memory = memory};
        rgTasks_Run(tasks, count, rgRunPiece, &run);
    }
    for (int i = 0; memory != NULL && i < workers; ++i) {
        rgRelease(allocator, memory[i]);
    }
    rgRelease(allocator, memory);
    return failed ? rg_errorMemory : rg_ok;
}
