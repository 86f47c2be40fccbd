// A large island that is nearly solved is wrong in few places. There, groups of neighbouring bodies
// are solved alone, all else standing still; what the whole island is left with is to pass the
// change of load on. docs/theory/regions.md.
#include "contact/run.h"

#include <math.h>
#include <string.h>

#define RG_REGION_PULL 1e-4 // (2)
#define RG_REGION_LOAD 1e-6 // impulse from which a set presses
#define RG_REGION_MOST 0.5  // share of the bodies beyond which the island is solved as one

typedef struct rgRegions {
    rgRun* run;
    rgSystem* whole;
    double* lambda; // of the whole, improved region by region
    double* sigma;  // of the whole, at the start
    bool* wrong;    // parts that wrong sets act on
    bool* awake;    // parts that may move
    int* newPart;   // number of a part within its region
    int* start;     // sets by region; the last class is those that touch no such part
    int* items;
} rgRegions;

static void rgRegions_WakeParts(rgRegions* regions, int set) {
    const rgSystem* whole = regions->whole;
    for (int l = whole->linkStart[set]; l < whole->linkStart[set + 1]; ++l) {
        regions->awake[whole->links[l].part] = true;
    }
}

static bool rgRegions_Loaded(const rgRegions* regions, int set) {
    const rgSet* own = regions->whole->sets + set;
    double load = 0;
    for (int k = 0; k < own->size; ++k) {
        load = fmax(load, fabs(regions->lambda[own->row + k]));
    }
    return load > RG_REGION_LOAD;
}

// (1) parts that wrong sets act on, and those that press on them. Returns how many there are.
static int rgRegions_Wake(rgRegions* regions) {
    const rgSystem* whole = regions->whole;
    memset(regions->awake, 0, (size_t)whole->partCount * sizeof(bool));
    for (int i = 0; i < whole->setCount; ++i) {
        double residual = rgSystem_SetResidual(whole, i, regions->lambda, regions->sigma);
        if (residual > regions->run->tolerance) {
            rgRegions_WakeParts(regions, i);
        }
    }
    memcpy(regions->wrong, regions->awake, (size_t)whole->partCount * sizeof(bool));
    for (int i = 0; i < whole->setCount; ++i) {
        bool touches = false;
        for (int l = whole->linkStart[i]; l < whole->linkStart[i + 1]; ++l) {
            touches = touches || regions->wrong[whole->links[l].part];
        }
        if (touches && rgRegions_Loaded(regions, i)) {
            rgRegions_WakeParts(regions, i);
        }
    }
    int count = 0;
    for (int p = 0; p < whole->partCount; ++p) {
        count += regions->awake[p];
    }
    return count;
}

// The first awake part of a set, or -1.
static int rgRegions_PartOfSet(const rgRegions* regions, int set) {
    const rgSystem* whole = regions->whole;
    for (int l = whole->linkStart[set]; l < whole->linkStart[set + 1]; ++l) {
        if (regions->awake[whole->links[l].part]) {
            return whole->links[l].part;
        }
    }
    return -1;
}

// Awake parts that sets connect form a region. Returns how many there are, or -1.
static int rgRegions_Split(rgRegions* regions) {
    const rgSystem* whole = regions->whole;
    rgArena* arena = whole->arena;
    int* parent = RG_TAKE(arena, int, whole->partCount);
    int* classOfPart = RG_TAKE(arena, int, whole->partCount);
    int* classOfSet = RG_TAKE(arena, int, whole->setCount);
    int* place = RG_TAKE(arena, int, whole->setCount);
    regions->start = RG_TAKE(arena, int, whole->partCount + 2);
    if (arena->failed) {
        return -1;
    }
    for (int p = 0; p < whole->partCount; ++p) {
        parent[p] = p;
    }
    for (int i = 0; i < whole->setCount; ++i) {
        int first = rgRegions_PartOfSet(regions, i);
        for (int l = whole->linkStart[i]; l < whole->linkStart[i + 1]; ++l) {
            if (regions->awake[whole->links[l].part]) {
                rgJoin(parent, first, whole->links[l].part);
            }
        }
    }
    int classes = rgNumberClasses(parent, whole->partCount, classOfPart);
    for (int i = 0; i < whole->setCount; ++i) {
        int first = rgRegions_PartOfSet(regions, i);
        classOfSet[i] = first >= 0 ? classOfPart[first] : classes;
    }
    rgGroup(whole->setCount, classOfSet, classes + 1, regions->start, regions->items, place);
    return classes;
}

// Parts and links of a region: those of its sets that act on awake parts.
static rgResult rgRegions_Link(rgRegions* regions, int count, const int* sets, rgSystem* system) {
    const rgSystem* whole = regions->whole;
    int bound = 0;
    for (int i = 0; i < count; ++i) {
        bound += whole->linkStart[sets[i] + 1] - whole->linkStart[sets[i]];
    }
    system->linkStart = RG_TAKE(system->arena, int, count + 1);
    system->links = RG_TAKE(system->arena, rgVelocityLink, bound);
    system->parts = RG_TAKE(system->arena, rgVelocityPart, bound);
    if (system->arena->failed) {
        return rg_errorMemory;
    }
    for (int i = 0; i < count; ++i) {
        system->linkStart[i] = system->linkCount;
        for (int l = whole->linkStart[sets[i]]; l < whole->linkStart[sets[i] + 1]; ++l) {
            const rgVelocityLink* link = whole->links + l;
            if (!regions->awake[link->part]) {
                continue;
            }
            int* part = regions->newPart + link->part;
            if (*part < 0) {
                int size = whole->parts[link->part].size;
                *part = system->partCount++;
                system->parts[*part] =
                    (rgVelocityPart){.size = size, .start = system->nv, .stride = size};
                system->nv += size;
            }
            system->links[system->linkCount++] =
                (rgVelocityLink){.set = i, .part = *part, .W = link->W};
        }
    }
    system->linkStart[count] = system->linkCount;
    return rg_ok;
}

// Sets, rows and compliance of a region, in the units of the whole.
static rgResult rgRegions_TakeSets(rgRegions* regions, int count, const int* sets,
                                   rgSystem* system) {
    const rgSystem* whole = regions->whole;
    system->setCount = count;
    system->sets = RG_TAKE(system->arena, rgSet, count);
    if (system->sets == NULL) {
        return rg_errorMemory;
    }
    for (int i = 0; i < count; ++i) {
        rgSet* set = system->sets + i;
        *set = whole->sets[sets[i]];
        set->row = system->n;
        set->pairStart = system->pairCount;
        system->n += set->size;
        system->pairCount += set->size * set->size;
    }
    system->g = RG_TAKE(system->arena, double, system->n);
    system->R = RG_TAKE(system->arena, double, system->n);
    system->rowScale = RG_TAKE(system->arena, double, system->n);
    system->globalRow = RG_TAKE(system->arena, int, system->n);
    system->diagonal = RG_TAKE(system->arena, double, system->pairCount);
    if (system->arena->failed) {
        return rg_errorMemory;
    }
    system->unit = 1;
    for (int i = 0; i < count; ++i) {
        for (int k = 0; k < system->sets[i].size; ++k) {
            int row = system->sets[i].row + k;
            system->globalRow[row] = whole->sets[sets[i]].row + k;
            system->rowScale[row] = 1;
            system->R[row] = whole->R[system->globalRow[row]] + RG_REGION_PULL;
        }
    }
    return rg_ok;
}

// (2) the region's own problem: what stands still moves as it does now, and impulses are pulled to
// where they are.
static rgResult rgRegions_Build(rgRegions* regions, int count, const int* sets, rgSystem* system) {
    const rgSystem* whole = regions->whole;
    *system = (rgSystem){.model = whole->model,
                         .kernels = whole->kernels,
                         .arena = whole->arena,
                         .factor = whole->spare};
    rgResult result = rgRegions_TakeSets(regions, count, sets, system);
    if (result == rg_ok) {
        result = rgRegions_Link(regions, count, sets, system);
    }
    if (result == rg_ok) {
        result = rgPrepareVelocity(system);
    }
    double* own = RG_TAKE(system->arena, double, system->n);
    if (result != rg_ok || own == NULL) {
        return result != rg_ok ? result : rg_errorMemory;
    }
    rgSystem_Load(system, regions->lambda, own);
    system->ops->apply(system, own, system->g);
    for (int i = 0; i < system->n; ++i) {
        system->g[i] = regions->sigma[system->globalRow[i]] - system->g[i];
    }
    return rg_ok;
}

// Newton on the region's system; what it solves goes to the whole.
static rgResult rgRegions_Improve(rgRegions* regions, rgSystem* system) {
    static const rgNewtonOptions newton = {.limit = 40, .weight = 1, .regularisation = 1e-3};
    rgContactSolverDef def = *regions->run->def;
    def.recordHistory = false;
    rgRun own;
    rgResult result = rgRun_Init(&own, &def, system, regions->run->tolerance, regions->lambda);
    if (result != rg_ok) {
        return result;
    }
    if (!rgRun_Solved(&own)) {
        result = rgRunNewton(&own, own.start, &newton);
    }
    if (result == rg_ok && rgRun_Solved(&own)) {
        rgSystem_Store(system, own.best, regions->lambda);
    }
    regions->whole->factorizationCount += system->factorizationCount;
    return result;
}

static rgResult rgRegions_Solve(rgRegions* regions, int count, const int* sets) {
    rgArena* arena = regions->whole->arena;
    rgArenaMark mark = rgArena_Mark(arena);
    rgSystem system;
    rgResult result = rgRegions_Build(regions, count, sets, &system);
    if (result == rg_ok) {
        result = rgRegions_Improve(regions, &system);
    }
    rgArena_Return(arena, mark);
    return result;
}

static rgResult rgRegions_Init(rgRegions* regions, rgRun* run, double* lambda) {
    rgSystem* whole = run->system;
    rgArena* arena = whole->arena;
    *regions = (rgRegions){.run = run, .whole = whole, .lambda = lambda};
    regions->sigma = RG_TAKE(arena, double, whole->n);
    regions->wrong = RG_TAKE(arena, bool, whole->partCount);
    regions->awake = RG_TAKE(arena, bool, whole->partCount);
    regions->newPart = RG_TAKE(arena, int, whole->partCount);
    regions->items = RG_TAKE(arena, int, whole->setCount);
    if (arena->failed) {
        return rg_errorMemory;
    }
    rgSystem_Velocity(whole, lambda, regions->sigma);
    for (int p = 0; p < whole->partCount; ++p) {
        regions->newPart[p] = -1;
    }
    return rg_ok;
}

rgResult rgRunRegions(rgRun* run, double* lambda) {
    rgSystem* whole = run->system;
    if (whole->ops != &rgVelocityOps || whole->W != NULL || whole->denseVelocity) {
        return rg_ok; // no bodies to tell apart
    }
    rgArenaMark mark = rgArena_Mark(whole->arena);
    rgRegions regions;
    rgResult result = rgRegions_Init(&regions, run, lambda);
    if (result == rg_ok && rgRegions_Wake(&regions) <= RG_REGION_MOST * whole->partCount) {
        int count = rgRegions_Split(&regions);
        result = count >= 0 ? rg_ok : rg_errorMemory;
        for (int i = 0; result == rg_ok && i < count; ++i) {
            int first = regions.start[i];
            if (regions.start[i + 1] > first) {
                result =
                    rgRegions_Solve(&regions, regions.start[i + 1] - first, regions.items + first);
            }
        }
    }
    rgArena_Return(whole->arena, mark);
    return result;
}
