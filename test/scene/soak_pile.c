// A long run: bodies fall into a pit, again and again from the same saved state. Every fall must
// end in the same bits, every step must be solved, and memory must not grow after the first fall.
// Use: soak_pile [FALLS [BODIES]]
#include "rigor/rigor.h"
#include "support.h"

#include <stdio.h>
#include <stdlib.h>

typedef struct rgSoak {
    const rgSceneInfo* scene;
    rgModel* model;
    rgWorld* world;
    rgCounter counter;
    void* start; // saved state
    size_t startSize;
} rgSoak;

static bool rgSoak_Begin(rgSoak* soak, int bodies) {
    rgSceneDef sceneDef = rgDefaultSceneDef();
    rgWorldDef worldDef = rgDefaultWorldDef();
    rgModelDef* def = NULL;
    sceneDef.count = bodies;
    soak->counter.failAfter = -1;
    worldDef.allocator = rgCountingAllocator(&soak->counter);
    soak->scene = rgFindScene("pile");
    bool ok = rgBuildScene(soak->scene, &sceneDef, NULL, &def) == rg_ok &&
              rgCompileModel(def, NULL, NULL, &soak->model) == rg_ok &&
              rgCreateWorld(soak->model, &worldDef, NULL, &soak->world) == rg_ok &&
              rgScene_Start(soak->scene, soak->world) == rg_ok;
    rgDestroyModelDef(def);
    if (!ok) {
        return false;
    }
    soak->startSize = rgWorld_StateSize(soak->world);
    soak->start = malloc(soak->startSize);
    return soak->start != NULL && rgWorld_Save(soak->world, soak->start, soak->startSize) == rg_ok;
}

static void rgSoak_End(rgSoak* soak) {
    rgDestroyWorld(soak->world);
    rgDestroyModel(soak->model);
    free(soak->start);
}

// One fall of the scene's own duration; the hash of its end, 0 on failure.
static uint64_t rgSoak_Fall(rgSoak* soak) {
    rgStepReport report;
    int steps = (int)(soak->scene->duration / rgWorld_TimeStep(soak->world) + 0.5);
    if (rgWorld_Restore(soak->world, soak->start, soak->startSize) != rg_ok) {
        return 0;
    }
    for (int i = 0; i < steps; ++i) {
        if (rgScene_Act(soak->scene, soak->world) != rg_ok ||
            rgWorld_Step(soak->world, &report) != rg_ok) {
            printf("step %d failed\n", i);
            return 0;
        }
    }
    return rgWorld_Hash(soak->world);
}

// What a fall leaves: where the bodies are, and what the world holds.
typedef struct rgTrace {
    uint64_t hash;
    int allocations;
    size_t memory;
} rgTrace;

static rgTrace rgSoak_Trace(rgSoak* soak, int fall) {
    rgTrace trace = {.hash = rgSoak_Fall(soak)};
    trace.allocations = soak->counter.allocations;
    trace.memory = rgWorld_MemoryUse(soak->world);
    printf("fall %d: hash %016llx, %d allocations, %zu bytes\n", fall,
           (unsigned long long)trace.hash, trace.allocations, trace.memory);
    return trace;
}

// The second and third fall may still allocate: they start from the search tree that the one before
// left.
static bool rgSoak_Run(rgSoak* soak, int falls) {
    rgTrace first = rgSoak_Trace(soak, 1), last = first;
    bool ok = first.hash != 0;
    for (int i = 2; i <= falls && ok; ++i) {
        rgTrace trace = rgSoak_Trace(soak, i);
        bool same = trace.allocations == last.allocations && trace.memory == last.memory;
        ok = trace.hash == first.hash && (i <= 3 || same);
        last = trace;
    }
    int unsolved = rgWorld_UnconvergedSteps(soak->world);
    printf("%s; steps not solved: %d\n", ok ? "no difference" : "DIFFERENT", unsolved);
    // docs/limits.md: a few steps of a collapsing pile end above the tolerance, and say so.
    return ok && unsolved <= 5 * falls;
}

int main(int argc, char** argv) {
    int falls = argc > 1 ? atoi(argv[1]) : 6;
    int bodies = argc > 2 ? atoi(argv[2]) : 60;
    rgSoak soak = {0};
    bool ok = rgSoak_Begin(&soak, bodies) && rgSoak_Run(&soak, falls);
    rgSoak_End(&soak);
    if (soak.counter.live != 0) {
        printf("%d blocks are still alive\n", soak.counter.live);
        ok = false;
    }
    return ok ? 0 : 1;
}
