// A world is made of a model: geometries, broadphase, plans for actuators and rows, and one block
// of state.
#include "world/world.h"

#include <string.h>

#define RG_COOKIE_WORLD 0x77726c64u

rgWorldDef rgDefaultWorldDef(void) {
    rgWorldDef def = {.contact = rgDefaultContactSolverDef(),
                      .friction = NAN,
                      .restitution = NAN,
                      .pushOutSpeed = 1,
                      .sleepSpeed = 1e-3,
                      .margin = 4e-3,
                      .maxContactsPerPair = 4,
                      .judgeInterval = 16,
                      .cookie = RG_COOKIE_WORLD};
    return def;
}

// ---- memory

#define RG_METER_HEADER ((size_t)RG_ALIGNMENT)

static void* rgMeter_Allocate(size_t bytes, size_t alignment, void* context) {
    rgMeter* meter = context;
    char* memory = meter->inner.allocate(bytes + RG_METER_HEADER, alignment, meter->inner.context);
    if (memory == NULL) {
        return NULL;
    }
    memcpy(memory, &bytes, sizeof(bytes));
    atomic_fetch_add(&meter->bytes, bytes + RG_METER_HEADER);
    return memory + RG_METER_HEADER;
}

static void rgMeter_Release(void* memory, void* context) {
    rgMeter* meter = context;
    if (memory == NULL) {
        return;
    }
    size_t bytes;
    char* start = (char*)memory - RG_METER_HEADER;
    memcpy(&bytes, start, sizeof(bytes));
    atomic_fetch_sub(&meter->bytes, bytes + RG_METER_HEADER);
    meter->inner.release(start, meter->inner.context);
}

size_t rgWorld_MemoryUse(const rgWorld* world) {
    return world != NULL ? atomic_load(&world->heap.meter.bytes) + sizeof(rgWorld) : 0;
}

// Zeroed memory for the life of the world. *good: false where there is none.
void* rgHeap_Allocate(rgHeap* heap, int count, size_t size, bool* good) {
    rgResult result = rgReserve(&heap->allocator, (void**)&heap->blocks, &heap->blockCapacity,
                                heap->blockCount, heap->blockCount + 1, sizeof(void*));
    void* memory = result == rg_ok ? rgAllocate(&heap->allocator, (size_t)count, size) : NULL;
    *good = *good && memory != NULL;
    if (memory != NULL) {
        heap->blocks[heap->blockCount++] = memory;
    }
    return memory;
}

static void rgHeap_Release(rgHeap* heap) {
    for (int i = 0; i < heap->blockCount; ++i) {
        rgRelease(&heap->allocator, heap->blocks[i]);
    }
    rgRelease(&heap->allocator, heap->blocks);
}

// ---- checks

static bool rgRefuse(rgDiagnostics* diagnostics, const char* what, double value) {
    rgDiagnostics_Add(diagnostics, rg_severityError, NULL, 0, "world: %s is %g", what, value);
    return false;
}

_Static_assert(rg_stageCount <= RG_STAGE_CAPACITY, "reports have room for every stage");

bool rgCheckWorldDef(const rgWorldDef* def, rgDiagnostics* diagnostics) {
    struct {
        const char* name;
        double value, least;
    } numbers[] = {{"the time step", def->timeStep, 0},
                   {"the stiffness", def->stiffness, 0},
                   {"the damping", def->damping, 0},
                   {"the dissipation", def->dissipation, 0},
                   {"the tangential stiffness", def->tangentialStiffness, 0},
                   {"the tangential damping", def->tangentialDamping, 0},
                   {"the push-out speed", def->pushOutSpeed, 0},
                   {"the restitution threshold", def->restitutionThreshold, 0},
                   {"the margin", def->margin, 0},
                   {"the sleep time", def->sleepTime, 0},
                   {"the sleep speed", def->sleepSpeed, 0},
                   {"the friction", isnan(def->friction) ? 0 : def->friction, 0},
                   {"the restitution", isnan(def->restitution) ? 0 : def->restitution, 0},
                   {"gravity", def->gravity.x + def->gravity.y + def->gravity.z, -HUGE_VAL}};
    bool good = true;
    for (int i = 0; i < RG_COUNT(numbers); ++i) {
        if (!isfinite(numbers[i].value) || numbers[i].value < numbers[i].least) {
            good = rgRefuse(diagnostics, numbers[i].name, numbers[i].value);
        }
    }
    if (def->judgeInterval < 1) {
        good = rgRefuse(diagnostics, "the judge's interval", def->judgeInterval);
    }
    if (def->restitution > 1) {
        good = rgRefuse(diagnostics, "the restitution", def->restitution);
    }
    if ((int)def->frictionRule < rg_frictionUnset || def->frictionRule > rg_frictionMaximum) {
        good = rgRefuse(diagnostics, "the friction rule", def->frictionRule);
    }
    if (def->maxContactsPerPair < 1 || def->maxContactsPerPair > RG_MANIFOLD_CAPACITY) {
        good = rgRefuse(diagnostics, "the number of contacts of a pair", def->maxContactsPerPair);
    }
    return good;
}

static void rgWarnWorldDef(const rgWorldDef* def, rgDiagnostics* diagnostics) {
    const struct {
        bool hasNoEffect;
        const char* what;
    } cases[] = {
        {def->restitution > 0 && def->stiffness > 0,
         "the restitution has no effect with a stiffness"},
        {def->damping > 0 && def->stiffness == 0, "the damping has no effect without a stiffness"},
        {def->dissipation > 0 && def->stiffness == 0,
         "the dissipation has no effect without a stiffness"},
        {def->tangentialDamping > 0 && def->tangentialStiffness == 0,
         "the tangential damping has no effect without a tangential stiffness"},
        {def->frictionRule != rg_frictionUnset && def->friction >= 0,
         "the friction rule has no effect with one friction for all pairs"},
    };
    for (int i = 0; i < RG_COUNT(cases); ++i) {
        if (cases[i].hasNoEffect) {
            rgDiagnostics_Add(diagnostics, rg_severityWarning, NULL, 0, "world: %s", cases[i].what);
        }
    }
}

// ---- plans

void rgWorld_Plan(rgWorld* world) {
    rgKinematics_Plan(&world->kinematics);
    rgTransmission_Plan(&world->transmission, world->model);
    rgFreeMotion_Plan(&world->free, &world->transmission, world->model);
    rgConstraintSet_Plan(&world->constraints, world->model);
}

// ---- parts

static rgSettings rgPlanSettings(const rgWorldDef* def, const rgModelOptions* options) {
    rgSettings settings = {
        .gravity = def->hasGravity       ? def->gravity
                   : options->hasGravity ? options->gravity
                                         : rgVec(0, 0, -9.81),
        .dt = def->timeStep > 0       ? def->timeStep
              : options->timeStep > 0 ? options->timeStep
                                      : 1e-3,
        .integrator = def->integrator != rg_integratorAny       ? def->integrator
                      : options->integrator != rg_integratorAny ? options->integrator
                                                                : rg_integratorMidpoint,
        .restitutionThreshold = def->restitutionThreshold,
    };
    if (!(settings.restitutionThreshold > 0)) {
        settings.restitutionThreshold =
            fmax(RG_CREEP_SPEED, 2 * rgLength(settings.gravity) * settings.dt);
    }
    return settings;
}

void rgWorld_SetConstants(rgWorld* world) {
    world->settings = rgPlanSettings(&world->def, &world->model->info.options);
    rgWarmStart_Plan(&world->warmStart, world->model);
    rgSleep_Plan(&world->sleep, &world->def, world->model);
}

static rgResult rgWorld_Build(rgWorld* world, rgDiagnostics* diagnostics) {
    rgWorld_SetConstants(world);
    rgResult result = rgKinematics_Create(world);
    if (result != rg_ok) {
        return result;
    }
    bool good = rgState_Create(world) && rgWarmStart_Create(&world->warmStart, &world->heap) &&
                rgContactSet_Create(&world->contacts, &world->heap, world->model) &&
                rgFreeMotion_Create(&world->free, &world->heap, world->model) &&
                rgFastTrees_Create(&world->fast, &world->heap, world->model) &&
                rgTransmission_Create(&world->transmission, &world->heap, world->model) &&
                rgNext_Create(&world->next, &world->heap, world->model) &&
                rgSleep_Create(&world->sleep, &world->heap, world->model);
    result = good ? rgConstraintSet_Create(world) : rg_errorMemory;
    if (result != rg_ok) {
        return result;
    }
    rgKinematics_ClearHistory(&world->kinematics, &world->state);
    rgTransmission_MeasureTendons(&world->transmission, &world->kinematics);
    rgWorld_Plan(world);
    rgKinematics_FindCoupling(&world->kinematics);
    rgWarnEqualities(world->model, diagnostics);
    result = rgWorld_CreateColliders(world, diagnostics);
    if (result != rg_ok) {
        return result;
    }
    rgKinematics_SetLeverArms(&world->kinematics, &world->contacts);
    result = rgProjection_Create(world);
    if (result != rg_ok) {
        return result;
    }
    return rgReadout_Create(world);
}

rgResult rgCreateWorld(const rgModel* model, const rgWorldDef* def, rgDiagnostics* diagnostics,
                       rgWorld** world) {
    rgWorldDef usual = rgDefaultWorldDef();
    def = def != NULL ? def : &usual;
    if (model == NULL || world == NULL || def->cookie != RG_COOKIE_WORLD ||
        !rgCheckWorldDef(def, diagnostics)) {
        return rg_errorArgument;
    }
    rgWarnWorldDef(def, diagnostics);
    rgAllocator allocator = rgResolveAllocator(&def->allocator);
    rgWorld* made = rgAllocate(&allocator, 1, sizeof(rgWorld));
    if (made == NULL) {
        return rg_errorMemory;
    }
    made->heap.meter.inner = allocator;
    made->heap.allocator = (rgAllocator){rgMeter_Allocate, rgMeter_Release, &made->heap.meter};
    made->def = *def;
    made->variant.firstDef = *def;
    made->model = made->variant.shared = model;
    rgResult result = rgWorld_Build(made, diagnostics);
    if (result != rg_ok) {
        rgDestroyWorld(made);
        return result;
    }
    rgMonitor_Create(&made->monitor, &made->def, made->model);
    result = rgWorld_SetStart(made, diagnostics);
    if (result != rg_ok) {
        rgDestroyWorld(made);
        return result;
    }
    *world = made;
    return rg_ok;
}

void rgDestroyWorld(rgWorld* world) {
    if (world == NULL) {
        return;
    }
    rgReadout_Destroy(world->readout, &world->heap.allocator);
    rgInverse_Destroy(world);
    rgLinearization_Destroy(world);
    rgProjection_Destroy(world->projection, &world->heap.allocator);
    rgConstraintSet_Destroy(&world->constraints, &world->heap.allocator);
    rgContactSet_Destroy(&world->contacts, &world->heap.allocator);
    rgWarmStart_Destroy(&world->warmStart, &world->heap.allocator);
    rgKinematics_Destroy(&world->kinematics);
    rgVariant_FreeChanges(&world->variant, &world->heap.allocator);
    rgHeap_Release(&world->heap);
    rgAllocator inner = world->heap.meter.inner;
    rgRelease(&inner, world);
}
