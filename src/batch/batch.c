// Many worlds of one model: state of each, and queries.
#include "batch/batch.h"

#include <string.h>

#define RG_COOKIE_BATCH 0x62746368u

rgBatchDef rgDefaultBatchDef(void) {
    return (rgBatchDef){.worldCount = 1, .world = rgDefaultWorldDef(), .cookie = RG_COOKIE_BATCH};
}

// ---- making

static bool rgCheckBatchDef(const rgBatchDef* def, rgDiagnostics* diagnostics) {
    const struct {
        bool wrong;
        const char* why;
    } cases[] = {
        {def->worldCount < 1, "it needs at least one world"},
        {def->world.tasks.run != NULL || def->world.contact.tasks.run != NULL,
         "its worlds are stepped by one thread each; tasks belong to the batch"},
        {def->world.beforeStep != NULL || def->world.afterStep != NULL,
         "its worlds have no hooks; rgRolloutDef has callbacks"},
        {def->firstWorld < 0, "the number of the first world is negative"},
        {def->tasks.workerCount < 0 || def->tasks.workerCount > 1024,
         "tasks can have 1 to 1024 workers"},
    };
    bool good = true;
    for (int i = 0; i < RG_COUNT(cases); ++i) {
        if (cases[i].wrong) {
            rgDiagnostics_Add(diagnostics, rg_severityError, NULL, 0, "batch: %s", cases[i].why);
            good = false;
        }
    }
    return good;
}

static rgResult rgBatch_CreateLanes(rgBatch* batch, rgDiagnostics* diagnostics) {
    rgWorldDef def = batch->def.world;
    def.allocator = batch->allocator;
    def.untimed = true;
    for (int i = 0; i < batch->laneCount; ++i) {
        rgLane* lane = &batch->lanes[i];
        rgResult result =
            rgCreateWorld(batch->model, &def, i == 0 ? diagnostics : NULL, &lane->world);
        if (result != rg_ok) {
            return result;
        }
        lane->home = lane->world->state;
        lane->saved = rgAllocate(&batch->allocator, (size_t)batch->model->qCount, sizeof(double));
        if (lane->saved == NULL) {
            return rg_errorMemory;
        }
    }
    return rg_ok;
}

static bool rgBatch_CreateArrays(rgBatch* batch) {
    const rgAllocator* allocator = &batch->allocator;
    const rgWorld* world = batch->lanes[0].world;
    size_t count = (size_t)batch->worldCount;
    int line = RG_ALIGNMENT / (int)sizeof(double);
    batch->stride = (world->state.blockCount + line - 1) / line * line;
    batch->sensorSize = world->readout->sensorStarts[batch->model->info.sensorCount];
    batch->blocks = rgAllocate(allocator, count, (size_t)batch->stride * sizeof(double));
    batch->instances = rgAllocate(allocator, count, sizeof(rgInstance));
    batch->status = rgAllocate(allocator, count, sizeof(rgWorldStatus));
    batch->chosen = rgAllocate(allocator, count, sizeof(int));
    bool good = batch->blocks != NULL && batch->instances != NULL && batch->status != NULL &&
                batch->chosen != NULL;
    if (good && batch->def.keepSensors) {
        batch->sensors = rgAllocate(allocator, count, (size_t)batch->sensorSize * sizeof(double));
        good = batch->sensors != NULL;
    }
    if (good && batch->def.keepContacts) {
        batch->contacts = rgAllocate(allocator, count, sizeof(rgContactList));
        good = batch->contacts != NULL;
    }
    return good;
}

// Reset all instances to the state of a world that was just made.
static void rgBatch_Begin(rgBatch* batch) {
    const rgWorld* world = batch->lanes[0].world;
    for (int i = 0; i < batch->worldCount; ++i) {
        rgInstance* instance = &batch->instances[i];
        instance->block = batch->blocks + (size_t)i * (size_t)batch->stride;
        instance->monitor = world->monitor;
        instance->monitor.solveCount = 0; // count solves of this world alone
        memcpy(instance->block, world->state.block,
               (size_t)world->state.blockCount * sizeof(double));
    }
}

static rgResult rgBatch_Build(rgBatch* batch, rgDiagnostics* diagnostics) {
    size_t lanes = (size_t)batch->laneCount;
    batch->lanes = rgAllocate(&batch->allocator, lanes, sizeof(rgLane));
    batch->queues = rgAllocate(&batch->allocator, lanes, sizeof(rgQueue));
    if (batch->lanes == NULL || batch->queues == NULL) {
        return rg_errorMemory;
    }
    rgResult result = rgBatch_CreateLanes(batch, diagnostics);
    if (result != rg_ok) {
        return result;
    }
    if (!rgBatch_CreateArrays(batch)) {
        rgDiagnostics_Add(diagnostics, rg_severityError, NULL, 0,
                          "batch: no memory for %d worlds of %zu bytes", batch->worldCount,
                          (size_t)batch->stride * sizeof(double) + sizeof(rgInstance));
        return rg_errorMemory;
    }
    rgBatch_Begin(batch);
    return rg_ok;
}

rgResult rgCreateBatch(const rgModel* model, const rgBatchDef* def, rgDiagnostics* diagnostics,
                       rgBatch** batch) {
    rgBatchDef settings = def != NULL ? *def : rgDefaultBatchDef();
    if (model == NULL || batch == NULL || settings.cookie != RG_COOKIE_BATCH ||
        !rgCheckBatchDef(&settings, diagnostics)) {
        return rg_errorArgument;
    }
    rgAllocator allocator = rgResolveAllocator(&settings.allocator);
    rgBatch* made = rgAllocate(&allocator, 1, sizeof(rgBatch));
    if (made == NULL) {
        return rg_errorMemory;
    }
    made->allocator = allocator;
    made->def = settings;
    made->model = model;
    made->worldCount = settings.worldCount;
    made->laneCount = settings.tasks.run != NULL ? RG_MAX(settings.tasks.workerCount, 1) : 1;
    rgResult result = rgBatch_Build(made, diagnostics);
    if (result != rg_ok) {
        rgDestroyBatch(made);
        return result;
    }
    *batch = made;
    return rg_ok;
}

static void rgBatch_FreeWorlds(rgBatch* batch) {
    const rgAllocator* allocator = &batch->allocator;
    for (int i = 0; batch->instances != NULL && i < batch->worldCount; ++i) {
        rgRelease(allocator, batch->instances[i].memory.pairs);
        rgRelease(allocator, batch->instances[i].memory.contacts);
        rgRelease(allocator, batch->instances[i].changes);
    }
    for (int i = 0; batch->contacts != NULL && i < batch->worldCount; ++i) {
        rgRelease(allocator, batch->contacts[i].contacts);
    }
}

static void rgBatch_FreeLanes(rgBatch* batch) {
    for (int i = 0; batch->lanes != NULL && i < batch->laneCount; ++i) {
        rgLane* lane = &batch->lanes[i];
        if (lane->world != NULL) {
            lane->world->state = lane->home;
        }
        rgDestroyWorld(lane->world);
        rgRelease(&batch->allocator, lane->saved);
    }
}

void rgDestroyBatch(rgBatch* batch) {
    if (batch == NULL) {
        return;
    }
    rgBatch_FreeWorlds(batch);
    rgBatch_FreeLanes(batch);
    rgAllocator allocator = batch->allocator;
    void* arrays[] = {batch->lanes,  batch->queues, batch->blocks,  batch->instances,
                      batch->status, batch->chosen, batch->sensors, batch->contacts};
    for (int i = 0; i < RG_COUNT(arrays); ++i) {
        rgRelease(&allocator, arrays[i]);
    }
    rgRelease(&allocator, batch);
}

// ---- reading

int rgBatch_WorldCount(const rgBatch* batch) {
    return batch != NULL ? batch->worldCount : 0;
}

const rgModel* rgBatch_Model(const rgBatch* batch) {
    return batch != NULL ? batch->model : NULL;
}

double rgBatch_TimeStep(const rgBatch* batch) {
    return batch != NULL ? rgWorld_TimeStep(batch->lanes[0].world) : 0;
}

const rgWorldStatus* rgBatch_Status(const rgBatch* batch) {
    return batch != NULL ? batch->status : NULL;
}

const char* rgWorldFault_Name(rgWorldFault fault) {
    static const char* const names[] = {"none",     "state",     "control", "diverged",
                                        "callback", "parameter", "memory"};
    return (int)fault >= 0 && (int)fault < RG_COUNT(names) ? names[fault] : "unknown";
}

const rgContact* rgBatch_Contacts(const rgBatch* batch, int world, int* count) {
    if (batch == NULL) {
        return rgNothing(count);
    }
    bool kept = batch->contacts != NULL && world >= 0 && world < batch->worldCount;
    if (count != NULL) {
        *count = kept ? batch->contacts[world].count : 0;
    }
    return kept ? batch->contacts[world].contacts : NULL;
}

// One world for queries: its stored state, in the lane of the calling thread.
static rgWorld* rgBatch_World(const rgBatch* batch, int world) {
    bool exists = world >= 0 && world < batch->worldCount;
    rgWorld* lane = batch->lanes[0].world;
    return exists && rgWorld_Bind(lane, &batch->instances[world]) == rg_ok ? lane : NULL;
}

uint64_t rgBatch_Hash(const rgBatch* batch, int world) {
    if (batch == NULL) {
        return 0;
    }
    const rgWorld* seen = rgBatch_World(batch, world);
    return seen != NULL ? rgWorld_Hash(seen) : 0;
}

size_t rgBatch_StateSize(const rgBatch* batch, int world) {
    if (batch == NULL) {
        return 0;
    }
    const rgWorld* seen = rgBatch_World(batch, world);
    return seen != NULL ? rgWorld_StateSize(seen) : 0;
}

rgResult rgBatch_Save(const rgBatch* batch, int world, void* bytes, size_t byteCount) {
    const rgWorld* seen = batch != NULL ? rgBatch_World(batch, world) : NULL;
    return seen != NULL ? rgWorld_Save(seen, bytes, byteCount) : rg_errorArgument;
}

uint64_t rgBatch_Seed(const rgBatch* batch, int world) {
    return batch != NULL ? rgRandomBits(batch->def.seed, (uint64_t)(batch->def.firstWorld + world))
                         : 0;
}

rgBatchMemory rgBatch_MemoryUse(const rgBatch* batch) {
    if (batch == NULL) {
        return (rgBatchMemory){0};
    }
    size_t own = (size_t)batch->stride * sizeof(double) + sizeof(rgInstance) +
                 sizeof(rgWorldStatus) + sizeof(int);
    own += batch->sensors != NULL ? (size_t)batch->sensorSize * sizeof(double) : 0;
    own += batch->contacts != NULL ? sizeof(rgContactList) : 0;
    double sum = 0;
    for (int i = 0; i < batch->worldCount; ++i) {
        const rgMemory* memory = &batch->instances[i].memory;
        sum += (double)memory->pairCapacity * sizeof(rgPairMemory) +
               (double)memory->contactCapacity * sizeof(rgContactMemory) +
               (double)batch->instances[i].changeCapacity * sizeof(double);
        sum +=
            batch->contacts != NULL ? (double)batch->contacts[i].capacity * sizeof(rgContact) : 0;
    }
    rgBatchMemory use = {.shared = sizeof(rgBatch) +
                                   (size_t)batch->laneCount * (sizeof(rgLane) + sizeof(rgQueue)),
                         .perWorld = own + (size_t)(sum / batch->worldCount)};
    for (int i = 0; i < batch->laneCount; ++i) {
        use.perThread = RG_MAX(use.perThread, rgWorld_MemoryUse(batch->lanes[i].world));
    }
    return use;
}

// ---- random numbers

uint64_t rgRandomBits(uint64_t seed, uint64_t index) {
    uint64_t pair[2] = {seed, index};
    return rgHashBytes(pair, sizeof(pair), 0);
}

double rgRandomUnit(uint64_t seed, uint64_t index) {
    return (double)(rgRandomBits(seed, index) >> 11) * 0x1p-53;
}

// Box and Muller; the logarithm of a number in (0, 1].
double rgRandomNormal(uint64_t seed, uint64_t index) {
    double length = sqrt(-2 * log(1 - rgRandomUnit(seed, 2 * index)));
    return length * cos(6.283185307179586 * rgRandomUnit(seed, 2 * index + 1));
}
