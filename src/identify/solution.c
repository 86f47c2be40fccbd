// A set of motions and the map from start values to their costs and derivatives.
#include "identify/identify.h"

#include <string.h>

rgResult rgSolution_Create(rgSolution* solution, const rgFit* fit, int motionCount) {
    size_t p = (size_t)fit->parameterCount, l = (size_t)fit->localCount, m = (size_t)motionCount;
    const rgAllocator* a = &fit->allocator;
    solution->motionCount = motionCount;
    solution->motions = rgAllocate(a, m, sizeof(int));
    solution->place = rgAllocate(a, p, sizeof(double));
    solution->local = rgAllocate(a, m * l + 1, sizeof(double));
    solution->hessians = rgAllocate(a, m * p * p, sizeof(double));
    solution->gradients = rgAllocate(a, m * p, sizeof(double));
    solution->costs = rgAllocate(a, m, sizeof(double));
    bool good = solution->motions != NULL && solution->place != NULL && solution->local != NULL &&
                solution->hessians != NULL && solution->gradients != NULL &&
                solution->costs != NULL;
    return good ? rg_ok : rg_errorMemory;
}

void rgSolution_Free(rgSolution* solution, const rgFit* fit) {
    void* parts[] = {solution->motions,  solution->place,     solution->local,
                     solution->hessians, solution->gradients, solution->costs};
    for (int i = 0; i < RG_COUNT(parts); ++i) {
        rgRelease(&fit->allocator, parts[i]);
    }
}

// With a part of the motions, where there are many: most of the way at a part of the cost.
static rgResult rgRefineWithSome(rgFit* fit, rgSolution* solution) {
    rgSolution some = {0};
    size_t size = (size_t)fit->parameterCount * sizeof(double);
    rgResult result = rgSolution_Create(&some, fit, solution->motionCount);
    if (result == rg_ok) {
        rgSolution_Choose(solution, fit, &some);
        memcpy(some.place, solution->place, size);
        result = rgFit_Refine(fit, &some, fit->def->refinements, false);
    }
    if (result == rg_ok) {
        memcpy(solution->place, some.place, size);
    }
    rgSolution_Free(&some, fit);
    return result;
}

rgResult rgFit_Solve(rgFit* fit, rgSolution* solution, bool curvatures) {
    const rgIdentifyDef* def = fit->def;
    bool many = def->searchMotions > 0 && def->searchMotions < solution->motionCount;
    rgResult result = rgFit_FindStarts(fit, solution, solution->place);
    if (result == rg_ok && def->generations > 0) {
        result = rgFit_Search(fit, solution);
    }
    if (result == rg_ok && many && def->refinements > 0) {
        result = rgFit_FindStarts(fit, solution, solution->place);
        result = result == rg_ok ? rgRefineWithSome(fit, solution) : result;
    }
    // Starts that are found from a window depend on the parameters a little.
    int rounds = fit->hasWindow && !many ? 2 : 1;
    int steps = many ? (def->refinements + 2) / 3 : def->refinements;
    for (int k = 0; k < rounds && result == rg_ok; ++k) {
        result = rgFit_FindStarts(fit, solution, solution->place);
        if (result == rg_ok) {
            result = rgFit_Refine(fit, solution, steps, curvatures && k + 1 == rounds);
        }
    }
    return result == rg_ok ? rgFit_FindStarts(fit, solution, solution->place) : result;
}
