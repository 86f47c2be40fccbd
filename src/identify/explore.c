// The search over the bounds: generations of candidates, each with all motions that are looked at.
#include "identify/identify.h"
#include "identify/search.h"

#include <math.h>
#include <string.h>

void rgSolution_Choose(const rgSolution* solution, const rgFit* fit, rgSolution* some) {
    int wanted = fit->def->searchMotions;
    size_t locals = (size_t)fit->localCount;
    some->motionCount = wanted > 0 ? RG_MIN(wanted, solution->motionCount) : solution->motionCount;
    for (int i = 0; i < some->motionCount; ++i) {
        int from = (int)((int64_t)i * solution->motionCount / some->motionCount);
        some->motions[i] = solution->motions[from];
        memcpy(some->local + (size_t)i * locals, solution->local + (size_t)from * locals,
               locals * sizeof(double));
    }
}

typedef struct rgExploration {
    rgFit* fit;
    rgSearch search;
    rgSolution some; // the motions that are looked at
    rgModel** models;
    double* costs;
    double* best; // place
    double bestCost;
    size_t errorCount; // errors of all motions with one candidate
} rgExploration;

// Costs of all candidates of a generation.
static rgResult rgJudgeGeneration(rgExploration* e) {
    rgFit* fit = e->fit;
    int p = fit->parameterCount, count = e->search.population, motions = e->some.motionCount;
    rgTrialList list;
    rgResult result =
        rgTrialList_Create(&list, fit, count * motions, (size_t)count * e->errorCount);
    for (int c = 0; c < count && result == rg_ok; ++c) {
        result = rgFit_Compile(fit, e->search.candidates + (size_t)c * (size_t)p, &e->models[c]);
        for (int i = 0; i < motions && result == rg_ok; ++i) {
            rgTrialList_Add(&list, fit, e->models[c], e->some.motions[i],
                            e->some.local + (size_t)i * (size_t)fit->localCount);
        }
    }
    if (result == rg_ok) {
        result = rgTrialList_Run(&list, fit);
    }
    for (int c = 0; c < count; ++c) {
        const double* place = e->search.candidates + (size_t)c * (size_t)p;
        for (int i = 0; i < motions && result == rg_ok; ++i) {
            const rgTrial* trial = &list.trials[c * motions + i];
            e->some.costs[i] =
                rgMotionCost(fit->def, &fit->targets[trial->target], trial->errors, NULL);
        }
        e->costs[c] = rgFit_Total(fit, &e->some, place, e->some.local, e->some.costs);
        rgDestroyModel(e->models[c]);
        e->models[c] = NULL;
    }
    rgTrialList_Free(&list, fit);
    return result;
}

static void rgKeepBest(rgExploration* e) {
    int p = e->fit->parameterCount;
    for (int c = 0; c < e->search.population; ++c) {
        if (e->costs[c] < e->bestCost) {
            e->bestCost = e->costs[c];
            memcpy(e->best, e->search.candidates + (size_t)c * (size_t)p,
                   (size_t)p * sizeof(double));
        }
    }
}

static rgResult rgExplore(rgExploration* e, rgSolution* solution) {
    rgFit* fit = e->fit;
    int p = fit->parameterCount;
    rgSearch_Begin(&e->search, solution->place, fit->def->searchStep);
    rgResult result = rg_ok;
    for (int g = 0; g < fit->def->generations && result == rg_ok; ++g) {
        rgSearch_Sample(&e->search);
        if (g == 0) { // the start is a candidate of its own
            memcpy(e->search.candidates, solution->place, (size_t)p * sizeof(double));
        }
        if (g + 1 == fit->def->generations) { // and so is the mean of the search
            for (int i = 0; i < p; ++i) {
                e->search.candidates[i] = fmin(fmax(e->search.mean[i], 0), 1);
            }
        }
        result = rgJudgeGeneration(e);
        if (result == rg_ok) {
            rgKeepBest(e);
            rgSearch_Update(&e->search, e->costs);
            result =
                rgFit_Report(fit, rg_identifySearch, g + 1, fit->def->generations, e->bestCost);
        }
    }
    if (result == rg_ok && isfinite(e->bestCost)) {
        memcpy(solution->place, e->best, (size_t)p * sizeof(double));
    }
    return result;
}

rgResult rgFit_Search(rgFit* fit, rgSolution* solution) {
    const rgAllocator* allocator = &fit->allocator;
    int p = fit->parameterCount;
    int population = fit->def->population;
    if (population == 0) {
        population = 4 + (int)(3 * log(p));
        population += population % 2;
    }
    rgExploration e = {.fit = fit, .bestCost = INFINITY};
    e.models = rgAllocate(allocator, (size_t)population, sizeof(rgModel*));
    e.costs = rgAllocate(allocator, (size_t)population, sizeof(double));
    e.best = rgAllocate(allocator, (size_t)p, sizeof(double));
    bool good = e.models != NULL && e.costs != NULL && e.best != NULL;
    rgResult result =
        good ? rgSolution_Create(&e.some, fit, solution->motionCount) : rg_errorMemory;
    if (result == rg_ok) {
        result = rgSearch_Create(&e.search, allocator, p, population, fit->def->seed);
    }
    if (result == rg_ok) {
        rgSolution_Choose(solution, fit, &e.some);
        for (int i = 0; i < e.some.motionCount; ++i) {
            e.errorCount += (size_t)fit->targets[e.some.motions[i]].sizeCount;
        }
        result = rgExplore(&e, solution);
    }
    rgSearch_Free(&e.search, allocator);
    rgSolution_Free(&e.some, fit);
    rgRelease(allocator, e.models);
    rgRelease(allocator, e.costs);
    rgRelease(allocator, e.best);
    return result;
}
