// Velocity input of one island: the velocities that its rows touch, by part, and the rows of
// W = J L^-T over them, which the problem brings along or which come from J and M.
// docs/theory/velocity.md (1).
#include "contact/system.h"

#include <string.h>

#define RG_BODY_SIZE 6 // factors up to this size are inverted: many contacts share them

// Velocities of the island: parts in the order of the whole problem.
rgResult rgCollectParts(const rgSystemDef* def, rgSystem* system) {
    const rgLayout* layout = def->layout;
    const rgSparse* J = &def->problem->delassus.jacobian;
    int* localPart = RG_TAKE(def->arena, int, layout->partCount);
    if (localPart == NULL) {
        return rg_errorMemory;
    }
    system->localPart = localPart;
    for (int p = 0; p < layout->partCount; ++p) {
        localPart[p] = -1;
    }
    for (int i = 0; i < system->n; ++i) {
        int row = system->globalRow[i];
        if (layout->partCount == 1 && localPart[0] == 0) {
            break; // a robot alone
        }
        for (int k = J->rowStart[row]; k < J->rowStart[row + 1]; ++k) {
            localPart[layout->partOfVelocity[J->column[k]]] = 0;
        }
    }
    for (int p = 0; p < layout->partCount; ++p) {
        if (localPart[p] == 0) {
            localPart[p] = system->partCount++;
        }
    }
    system->parts = RG_TAKE(def->arena, rgVelocityPart, system->partCount);
    if (system->parts == NULL) {
        return rg_errorMemory;
    }
    for (int p = 0; p < layout->partCount; ++p) {
        if (localPart[p] >= 0) {
            int size = layout->partSize[p];
            system->parts[localPart[p]] =
                (rgVelocityPart){.size = size, .start = system->nv, .stride = size};
            system->nv += size;
        }
    }
    return rg_ok;
}

// Which parts each set touches.
static rgResult rgCollectLinks(const rgSystemDef* def, rgSystem* system) {
    const rgLayout* layout = def->layout;
    const rgSparse* J = &def->problem->delassus.jacobian;
    int* mark = RG_TAKE(def->arena, int, system->partCount);
    system->linkStart = RG_TAKE(def->arena, int, system->setCount + 1);
    int bound = 0;
    for (int i = 0; i < system->n; ++i) {
        int row = system->globalRow[i];
        bound += J->rowStart[row + 1] - J->rowStart[row];
    }
    system->links = RG_TAKE(def->arena, rgVelocityLink, RG_MAX(bound, system->setCount));
    if (def->arena->failed) {
        return rg_errorMemory;
    }
    for (int p = 0; p < system->partCount; ++p) {
        mark[p] = -1;
    }
    for (int i = 0; i < system->setCount; ++i) {
        system->linkStart[i] = system->linkCount;
        const rgSet* set = system->sets + i;
        for (int r = 0; r < set->size; ++r) {
            int row = system->globalRow[set->row + r];
            for (int k = J->rowStart[row]; k < J->rowStart[row + 1]; ++k) {
                int part = system->localPart[layout->partOfVelocity[J->column[k]]];
                if (mark[part] != i) {
                    mark[part] = i;
                    system->links[system->linkCount++] = (rgVelocityLink){.set = i, .part = part};
                }
            }
        }
    }
    system->linkStart[system->setCount] = system->linkCount;
    return rg_ok;
}

// Share of the rows that the links cover.
static double rgLinkDensity(const rgSystem* system) {
    double covered = 0;
    for (int l = 0; l < system->linkCount; ++l) {
        covered +=
            system->sets[system->links[l].set].size * system->parts[system->links[l].part].size;
    }
    return covered / ((double)system->n * system->nv);
}

// Factor of one part's mass matrix, lower triangle, column-major; the inverse of the factor for
// bodies, so that column k of it is what a unit force on velocity k becomes.
static rgResult rgFactorPart(const rgSystemDef* def, const rgSystem* system, int p,
                             double** factor) {
    const rgLayout* layout = def->layout;
    const rgSparse* M = &def->problem->delassus.mass;
    int size = layout->partSize[p];
    size_t numbers = (size_t)size * (size_t)size;
    double* L = RG_TAKE(def->arena, double, numbers);
    if (L == NULL) {
        return rg_errorMemory;
    }
    memset(L, 0, numbers * sizeof(double));
    for (int a = 0; a < size; ++a) {
        int row = layout->partVelocities[layout->partStart[p] + a];
        for (int k = M->rowStart[row]; k < M->rowStart[row + 1]; ++k) {
            L[(size_t)a * (size_t)size + (size_t)layout->placeInPart[M->column[k]]] = M->value[k];
        }
    }
    if (!system->kernels->cholesky(size, L, size)) {
        return rg_errorNumeric;
    }
    if (size <= RG_BODY_SIZE) {
        double inverse[RG_BODY_SIZE * RG_BODY_SIZE] = {0};
        for (int i = 0; i < size; ++i) {
            inverse[i * size + i] = 1;
            system->kernels->lowerSolve(size, L, size, inverse + i * size);
        }
        memcpy(L, inverse, numbers * sizeof(double));
    }
    *factor = L;
    return rg_ok;
}

// One row of J over one part becomes one row of W.
static void rgWhitenRow(const rgSystem* system, int size, const double* factor, double* row) {
    if (size > RG_BODY_SIZE) {
        system->kernels->lowerSolve(size, factor, size, row);
        return;
    }
    double own[RG_BODY_SIZE];
    memcpy(own, row, (size_t)size * sizeof(double));
    memset(row, 0, (size_t)size * sizeof(double));
    system->kernels->combineRows(size, size, own, 1, factor, row);
}

// Where the numbers of part p in a row of a set stand.
static double* rgRowOfPart(const rgSystem* system, int set, int part, int r) {
    if (system->W != NULL) {
        size_t stride = (size_t)rgLeadingDimension(system->nv);
        return system->W + (size_t)(system->sets[set].row + r) * stride + system->parts[part].start;
    }
    for (int l = system->linkStart[set];; ++l) {
        if (system->links[l].part == part) {
            return system->links[l].W + r * system->parts[part].stride;
        }
    }
}

// Values of J, or of W where it is given, at their places.
static void rgScatterRows(const rgSystemDef* def, rgSystem* system) {
    const rgLayout* layout = def->layout;
    const rgDelassus* delassus = &def->problem->delassus;
    const rgSparse* J = &delassus->jacobian;
    const double* value = delassus->whitened != NULL ? delassus->whitened : J->value;
    for (int i = 0; i < system->setCount; ++i) {
        const rgSet* set = system->sets + i;
        for (int r = 0; r < set->size; ++r) {
            int row = system->globalRow[set->row + r];
            int last = -1;
            double* target = NULL;
            for (int k = J->rowStart[row]; k < J->rowStart[row + 1]; ++k) {
                int part = system->localPart[layout->partOfVelocity[J->column[k]]];
                if (part != last) {
                    target = rgRowOfPart(system, i, part, r);
                    last = part;
                }
                target[layout->placeInPart[J->column[k]]] = value[k];
            }
        }
    }
}

// W = J L^-T where the problem brings no W; L is a factor of M, part by part.
static rgResult rgWhitenRows(const rgSystemDef* def, rgSystem* system) {
    rgArenaMark mark = rgArena_Mark(system->arena);
    double** factors = RG_TAKE(system->arena, double*, system->partCount);
    rgResult result = factors != NULL ? rg_ok : rg_errorMemory;
    for (int p = 0; result == rg_ok && p < def->layout->partCount; ++p) {
        if (system->localPart[p] >= 0) {
            result = rgFactorPart(def, system, p, factors + system->localPart[p]);
        }
    }
    if (result != rg_ok) {
        return result;
    }
    for (int l = 0; l < system->linkCount; ++l) {
        const rgVelocityLink* link = system->links + l;
        for (int r = 0; r < system->sets[link->set].size; ++r) {
            rgWhitenRow(system, system->parts[link->part].size, factors[link->part],
                        rgRowOfPart(system, link->set, link->part, r));
        }
    }
    rgArena_Return(system->arena, mark);
    return rg_ok;
}

// Room for the rows, as zeros: one array, or one piece per link.
static rgResult rgTakeRows(const rgSystemDef* def, rgSystem* system, bool merge) {
    if (merge) {
        size_t numbers = (size_t)system->n * (size_t)rgLeadingDimension(system->nv);
        system->W = RG_TAKE(def->arena, double, numbers);
        if (system->W != NULL) {
            memset(system->W, 0, numbers * sizeof(double));
        }
        return system->W != NULL ? rg_ok : rg_errorMemory;
    }
    for (int l = 0; l < system->linkCount; ++l) {
        rgVelocityLink* link = system->links + l;
        size_t numbers =
            (size_t)system->sets[link->set].size * (size_t)system->parts[link->part].stride;
        link->W = RG_TAKE(def->arena, double, numbers);
        if (link->W == NULL) {
            return rg_errorMemory;
        }
        memset(link->W, 0, numbers * sizeof(double));
    }
    return rg_ok;
}

// One part of all velocities, one link per set.
static void rgMergeParts(rgSystem* system) {
    int stride = rgLeadingDimension(system->nv);
    system->parts[0] = (rgVelocityPart){.size = system->nv, .start = 0, .stride = stride};
    system->partCount = 1;
    system->linkCount = system->setCount;
    for (int i = 0; i < system->setCount; ++i) {
        system->linkStart[i] = i;
        system->links[i] = (rgVelocityLink){
            .set = i, .part = 0, .W = system->W + (size_t)system->sets[i].row * (size_t)stride};
    }
    system->linkStart[system->setCount] = system->setCount;
}

// One link per set, to the only part there is.
static rgResult rgTakeSingleLinks(const rgSystemDef* def, rgSystem* system) {
    system->linkStart = RG_TAKE(def->arena, int, system->setCount + 1);
    system->links = RG_TAKE(def->arena, rgVelocityLink, system->setCount);
    if (def->arena->failed) {
        return rg_errorMemory;
    }
    system->linkCount = system->setCount;
    for (int i = 0; i <= system->setCount; ++i) {
        system->linkStart[i] = i;
    }
    for (int i = 0; i < system->setCount; ++i) {
        system->links[i] = (rgVelocityLink){.set = i, .part = 0};
    }
    return rg_ok;
}

rgResult rgBuildVelocityLinks(const rgSystemDef* def, rgSystem* system, bool merge) {
    bool single = system->partCount == 1;
    rgResult result = single ? rgTakeSingleLinks(def, system) : rgCollectLinks(def, system);
    if (result != rg_ok) {
        return result;
    }
    merge = system->nv > 0 && (merge || single || rgLinkDensity(system) > 0.4);
    result = rgTakeRows(def, system, merge);
    if (result != rg_ok) {
        return result;
    }
    rgScatterRows(def, system);
    if (def->problem->delassus.whitened == NULL) {
        result = rgWhitenRows(def, system);
    }
    if (result == rg_ok && merge) {
        rgMergeParts(system);
    }
    return result;
}
