// Velocity input of one island: the parts of the mass matrix that its rows touch, the rows of J by
// part, and T = M^-1 J' where the velocity form needs it. docs/theory/velocity.md (1).
#include "contact/system.h"

#include <string.h>

#define RG_BODY_SIZE 6 // parts up to this size are inverted rather than factorized

// Velocities of the island: parts in the order of the whole problem.
static rgResult rgCollectParts(const rgSystemDef* def, rgSystem* system, int* localPart) {
    const rgLayout* layout = def->layout;
    const rgSparse* J = &def->problem->delassus.jacobian;
    for (int p = 0; p < layout->partCount; ++p) {
        localPart[p] = -1;
    }
    for (int i = 0; i < system->n; ++i) {
        int row = system->globalRow[i];
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
            rgVelocityPart* part = system->parts + localPart[p];
            *part = (rgVelocityPart){.size = size, .start = system->nv};
            part->mass = RG_TAKE(def->arena, double, (size_t)size*(size_t)size);
            system->nv += size;
        }
    }
    return def->arena->failed ? rg_errorMemory : rg_ok;
}

static void rgGatherMass(const rgSystemDef* def, const rgSystem* system, const int* localPart) {
    const rgLayout* layout = def->layout;
    const rgSparse* M = &def->problem->delassus.mass;
    for (int p = 0; p < layout->partCount; ++p) {
        if (localPart[p] < 0) {
            continue;
        }
        rgVelocityPart* part = system->parts + localPart[p];
        size_t size = (size_t)part->size;
        memset(part->mass, 0, size * size * sizeof(double));
        for (int a = 0; a < part->size; ++a) {
            int row = layout->partVelocities[layout->partStart[p] + a];
            for (int k = M->rowStart[row]; k < M->rowStart[row + 1]; ++k) {
                part->mass[(size_t)a * size + (size_t)layout->placeInPart[M->column[k]]] =
                    M->value[k];
            }
        }
    }
}

// Which parts each set touches.
static rgResult rgCollectLinks(const rgSystemDef* def, rgSystem* system, const int* localPart) {
    const rgLayout* layout = def->layout;
    const rgSparse* J = &def->problem->delassus.jacobian;
    int* mark = RG_TAKE(def->arena, int, system->partCount);
    system->linkStart = RG_TAKE(def->arena, int, system->setCount + 1);
    int bound = 0;
    for (int i = 0; i < system->n; ++i) {
        int row = system->globalRow[i];
        bound += J->rowStart[row + 1] - J->rowStart[row];
    }
    system->links = RG_TAKE(def->arena, rgVelocityLink, bound);
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
                int part = localPart[layout->partOfVelocity[J->column[k]]];
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

// J of every link, then T = M^-1 J' row by row.
static rgResult rgFillLinks(const rgSystemDef* def, rgSystem* system, const int* localPart) {
    const rgLayout* layout = def->layout;
    const rgSparse* J = &def->problem->delassus.jacobian;
    for (int l = 0; l < system->linkCount; ++l) {
        rgVelocityLink* link = system->links + l;
        const rgSet* set = system->sets + link->set;
        size_t width = (size_t)system->parts[link->part].size;
        size_t numbers = (size_t)set->size * width;
        link->J = RG_TAKE(def->arena, double, numbers);
        if (def->problem->delassus.kind == rg_delassusVelocity) {
            link->T = RG_TAKE(def->arena, double, numbers);
        }
        if (def->arena->failed) {
            return rg_errorMemory;
        }
        memset(link->J, 0, numbers * sizeof(double));
        for (int r = 0; r < set->size; ++r) {
            int row = system->globalRow[set->row + r];
            for (int k = J->rowStart[row]; k < J->rowStart[row + 1]; ++k) {
                if (localPart[layout->partOfVelocity[J->column[k]]] == link->part) {
                    link->J[(size_t)r * width + (size_t)layout->placeInPart[J->column[k]]] =
                        J->value[k];
                }
            }
        }
        if (link->T != NULL) {
            memcpy(link->T, link->J, numbers * sizeof(double));
        }
    }
    return rg_ok;
}

// Replace the factor of a single body's mass matrix by the inverse: many contacts share it.
static void rgInvertFactor(const rgKernels* kernels, int n, double* factor) {
    double inverse[RG_BODY_SIZE * RG_BODY_SIZE] = {0};
    for (int i = 0; i < n; ++i) {
        inverse[i * n + i] = 1;
        kernels->choleskySolve(n, factor, n, inverse + i * n);
    }
    memcpy(factor, inverse, (size_t)(n * n) * sizeof(double));
}

static rgResult rgSolveLinks(rgSystem* system) {
    rgArenaMark mark = rgArena_Mark(system->arena);
    double** factors = RG_TAKE(system->arena, double*, system->partCount);
    if (factors == NULL) {
        return rg_errorMemory;
    }
    for (int p = 0; p < system->partCount; ++p) {
        size_t size = (size_t)system->parts[p].size;
        factors[p] = RG_TAKE(system->arena, double, size* size);
        if (factors[p] == NULL) {
            return rg_errorMemory;
        }
        memcpy(factors[p], system->parts[p].mass, size * size * sizeof(double));
        if (!system->kernels->cholesky((int)size, factors[p], (int)size)) {
            return rg_errorNumeric;
        }
        if (size <= RG_BODY_SIZE) {
            rgInvertFactor(system->kernels, (int)size, factors[p]);
        }
    }
    for (int l = 0; l < system->linkCount; ++l) {
        const rgVelocityLink* link = system->links + l;
        int width = system->parts[link->part].size;
        for (int r = 0; r < system->sets[link->set].size; ++r) {
            double* row = link->T + r * width;
            if (width <= RG_BODY_SIZE) {
                memset(row, 0, (size_t)width * sizeof(double));
                system->kernels->combineRows(width, width, link->J + r * width, 1,
                                             factors[link->part], row);
            } else {
                system->kernels->choleskySolve(width, factors[link->part], width, row);
            }
        }
    }
    rgArena_Return(system->arena, mark);
    return rg_ok;
}

rgResult rgBuildVelocityLinks(const rgSystemDef* def, rgSystem* system) {
    int* localPart = RG_TAKE(def->arena, int, def->layout->partCount);
    if (localPart == NULL) {
        return rg_errorMemory;
    }
    rgResult result = rgCollectParts(def, system, localPart);
    if (result == rg_ok) {
        rgGatherMass(def, system, localPart);
        result = rgCollectLinks(def, system, localPart);
    }
    if (result == rg_ok) {
        result = rgFillLinks(def, system, localPart);
    }
    bool needed = def->problem->delassus.kind == rg_delassusVelocity;
    return result == rg_ok && needed ? rgSolveLinks(system) : result;
}
