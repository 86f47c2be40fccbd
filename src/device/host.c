// Worlds of a device on the host: one thread does all of a step.
#include "device/backend.h"

#include "device/finish.h"

#include <string.h>

static size_t rgRound(size_t bytes) {
    return (bytes + RG_ALIGNMENT - 1) / RG_ALIGNMENT * RG_ALIGNMENT;
}

// Memory behind what was taken; NULL where only the size is counted.
static void* rgTakeBytes(char* memory, size_t* taken, size_t bytes) {
    size_t at = *taken;
    *taken = at + rgRound(bytes);
    return memory != NULL ? memory + at : NULL;
}

// A world's memory: where its parts are.
typedef struct rgRoom {
    double *work, *matrix, *factor, *velocity, *compliance, *length, *start, *lambda, *sigma,
        *lanes;
    int* workInt;
    rgLaneProblem* problem;
    rgLaneOutcome* outcome;
    rgLaneGroup* groups;
    size_t bytes;
} rgRoom;

static rgRoom rgRoomIn(const rgManySizes* sizes, char* memory) {
    size_t taken = 0;
    size_t rows = (size_t)sizes->rowCapacity, n = rows * sizeof(double);
    rgRoom room;
    room.work = rgTakeBytes(memory, &taken, (size_t)sizes->workCount * sizeof(double));
    room.workInt = rgTakeBytes(memory, &taken, (size_t)sizes->workIntCount * sizeof(int));
    room.problem = rgTakeBytes(memory, &taken, sizeof(rgLaneProblem));
    room.outcome = rgTakeBytes(memory, &taken, sizeof(rgLaneOutcome));
    room.groups = rgTakeBytes(memory, &taken, rows * sizeof(rgLaneGroup));
    room.matrix = rgTakeBytes(memory, &taken, (size_t)sizes->matrixCount * sizeof(double));
    room.factor = rgTakeBytes(memory, &taken, (size_t)sizes->factorCount * sizeof(double));
    room.velocity = rgTakeBytes(memory, &taken, n);
    room.compliance = rgTakeBytes(memory, &taken, n);
    room.length = rgTakeBytes(memory, &taken, n);
    room.start = rgTakeBytes(memory, &taken, n);
    room.lambda = rgTakeBytes(memory, &taken, n);
    room.sigma = rgTakeBytes(memory, &taken, n);
    room.lanes = rgTakeBytes(memory, &taken, (size_t)sizes->laneBytes);
    room.bytes = taken;
    return room;
}

size_t rgManyHostBytes(const rgManySizes* sizes) {
    return rgRoomIn(sizes, NULL).bytes;
}

const double* rgManyHostImpulses(const rgManySizes* sizes, void* memory) {
    return rgRoomIn(sizes, memory).lambda;
}

// Both runs on the problem of a world.
static void rgSolveOne(const rgLaneBatch* batch, double* memory) {
    rgLaneSolveOne(batch, 0, rg_laneQuick, memory);
    if (batch->outcomes->status == rg_laneUnsolved) {
        rgLaneSolveOne(batch, 0, rg_laneThorough, memory);
    }
}

void rgManyHostStep(const rgManyModel* plan, const rgManySizes* sizes, double* state, int* stateInt,
                    void* memory) {
    rgRoom room = rgRoomIn(sizes, memory);
    *room.problem = (rgLaneProblem){0};
    rgMany world = {
        .m = plan,
        .state = state,
        .stateInt = stateInt,
        .work = room.work,
        .workInt = room.workInt,
        .stride = (size_t)sizes->stride,
        .step = 1,
        .problem = room.problem,
        .groups = room.groups,
        .mass = room.matrix,
        .J = room.matrix + (size_t)plan->vCount * ((size_t)plan->vCount + 1) / 2,
        .velocity = room.velocity,
        .compliance = room.compliance,
        .length = room.length,
        .start = room.start,
        .lambda = room.lambda,
        .outcome = room.outcome,
    };
    rgLaneBatch batch = {.problems = room.problem,
                         .matrices = room.matrix,
                         .groups = room.groups,
                         .velocity = room.velocity,
                         .compliance = room.compliance,
                         .length = room.length,
                         .start = room.start,
                         .lambda = room.lambda,
                         .sigma = room.sigma,
                         .factors = room.factor,
                         .outcomes = room.outcome,
                         .tolerance = sizes->tolerance};
    rgManyBegin(&world);
    for (int round = 0; round < RG_MANY_ROUNDS; ++round) {
        rgManyAssemble(&world);
        if (rgManySolves(&world)) {
            rgSolveOne(&batch, room.lanes);
        }
        rgManyRevise(&world);
    }
    rgManyEnd(&world);
    RG_SI(&world, reason, 0) = RG_WI(&world, reason, 0);
}
