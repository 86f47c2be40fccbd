// Velocity input of one island: the velocities that its rows touch, by part, and the rows of
// W = J L^-T over them, which the problem brings along or which come from J and M.
// velocity.1.
#include "contact/whitened.h"
#include "contact/tuning.h"

#include <string.h>

// Velocities of the island: parts in the order of the whole problem.
rgResult rgWhitened_FindParts(rgWhitened* rows, const rgSystemDef* def, const rgSystem* system) {
    const rgLayout* layout = def->layout;
    const rgSparse* J = &def->problem->delassus.jacobian;
    *rows = (rgWhitened){.localPart = RG_TAKE(def->arena, int, layout->partCount)};
    if (rows->localPart == NULL) {
        return rg_errorMemory;
    }
    for (int p = 0; p < layout->partCount; ++p) {
        rows->localPart[p] = -1;
    }
    for (int i = 0; i < system->n; ++i) {
        int row = system->globalRow[i];
        if (layout->partCount == 1 && rows->localPart[0] == 0) {
            break; // a robot alone
        }
        for (int k = J->rowStart[row]; k < J->rowStart[row + 1]; ++k) {
            rows->localPart[layout->partOfVelocity[J->column[k]]] = 0;
        }
    }
    for (int p = 0; p < layout->partCount; ++p) {
        if (rows->localPart[p] == 0) {
            rows->localPart[p] = rows->partCount++;
        }
    }
    rows->parts = RG_TAKE(def->arena, rgVelocityPart, rows->partCount);
    if (rows->parts == NULL) {
        return rg_errorMemory;
    }
    for (int p = 0; p < layout->partCount; ++p) {
        if (rows->localPart[p] >= 0) {
            int size = layout->partSize[p];
            rows->parts[rows->localPart[p]] =
                (rgVelocityPart){.size = size, .start = rows->nv, .stride = size};
            rows->nv += size;
        }
    }
    return rg_ok;
}

// One link per block, to the only part there is.
static void rgWhitened_LinkAll(rgWhitened* rows, const rgSystem* system) {
    size_t stride = rows->W != NULL ? (size_t)rows->parts[0].stride : 0;
    rows->linkCount = system->blockCount;
    for (int i = 0; i < system->blockCount; ++i) {
        double* W = rows->W != NULL ? rows->W + (size_t)system->blocks[i].row * stride : NULL;
        rows->linkStart[i] = i;
        rows->links[i] = (rgVelocityLink){.block = i, .part = 0, .W = W};
    }
    rows->linkStart[system->blockCount] = system->blockCount;
}

// Link every block to the parts that it touches.
static rgResult rgWhitened_Link(rgWhitened* rows, const rgSystemDef* def, const rgSystem* system) {
    const rgSparse* J = &def->problem->delassus.jacobian;
    int bound = system->blockCount;
    for (int i = 0; i < system->n && rows->partCount > 1; ++i) {
        int row = system->globalRow[i];
        bound += J->rowStart[row + 1] - J->rowStart[row];
    }
    int* last = RG_TAKE(def->arena, int, rows->partCount); // block that linked a part last
    rows->linkStart = RG_TAKE(def->arena, int, system->blockCount + 1);
    rows->links = RG_TAKE(def->arena, rgVelocityLink, bound);
    if (def->arena->failed) {
        return rg_errorMemory;
    }
    if (rows->partCount == 1) {
        rgWhitened_LinkAll(rows, system);
        return rg_ok;
    }
    for (int p = 0; p < rows->partCount; ++p) {
        last[p] = -1;
    }
    for (int i = 0; i < system->blockCount; ++i) {
        rows->linkStart[i] = rows->linkCount;
        for (int r = system->blockStart[i]; r < system->blockStart[i + 1]; ++r) {
            int row = system->globalRow[r];
            for (int k = J->rowStart[row]; k < J->rowStart[row + 1]; ++k) {
                int part = rows->localPart[def->layout->partOfVelocity[J->column[k]]];
                if (last[part] != i) {
                    last[part] = i;
                    rows->links[rows->linkCount++] = (rgVelocityLink){.block = i, .part = part};
                }
            }
        }
    }
    rows->linkStart[system->blockCount] = rows->linkCount;
    return rg_ok;
}

// Share of the rows that the links cover.
static double rgWhitened_Density(const rgWhitened* rows, const rgSystem* system) {
    double covered = 0;
    for (int l = 0; l < rows->linkCount; ++l) {
        const rgVelocityLink* link = rows->links + l;
        covered += system->blocks[link->block].size * rows->parts[link->part].size;
    }
    return covered / ((double)system->n * rows->nv);
}

// Factor of one part's mass matrix, lower triangle, column-major.
static rgResult rgFactorPart(const rgSystemDef* def, int p, double** factor) {
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
    *factor = L;
    return def->kernels->cholesky(size, L, size) ? rg_ok : rg_errorNumeric;
}

// Entries of a part in row r of a block.
static double* rgWhitened_Find(const rgWhitened* rows, const rgSystem* system, int block, int part,
                               int r) {
    if (rows->W != NULL) {
        size_t stride = (size_t)rgLeadingDimension(rows->nv);
        return rows->W + (size_t)(system->blocks[block].row + r) * stride + rows->parts[part].start;
    }
    for (int l = rows->linkStart[block];; ++l) {
        if (rows->links[l].part == part) {
            return rows->links[l].W + r * rows->parts[part].stride;
        }
    }
}

// Values of J, or of W where it is given, at their places.
static void rgWhitened_Scatter(const rgWhitened* rows, const rgSystemDef* def,
                               const rgSystem* system) {
    const rgLayout* layout = def->layout;
    const rgDelassus* delassus = &def->problem->delassus;
    const rgSparse* J = &delassus->jacobian;
    const double* value = delassus->whitened != NULL ? delassus->whitened : J->value;
    for (int i = 0; i < system->blockCount; ++i) {
        for (int r = 0; r < system->blocks[i].size; ++r) {
            int row = system->globalRow[system->blocks[i].row + r];
            int last = -1;
            double* target = NULL;
            for (int k = J->rowStart[row]; k < J->rowStart[row + 1]; ++k) {
                int part = rows->localPart[layout->partOfVelocity[J->column[k]]];
                if (part != last) {
                    target = rgWhitened_Find(rows, system, i, part, r);
                    last = part;
                }
                target[layout->placeInPart[J->column[k]]] = value[k];
            }
        }
    }
}

// W = J L^-T where the problem brings no W; L is a factor of M, part by part.
static rgResult rgWhitened_Whiten(const rgWhitened* rows, const rgSystemDef* def,
                                  const rgSystem* system) {
    rgArenaMark mark = rgArena_Mark(def->arena);
    double** factors = RG_TAKE(def->arena, double*, rows->partCount);
    rgResult result = factors != NULL ? rg_ok : rg_errorMemory;
    for (int p = 0; result == rg_ok && p < def->layout->partCount; ++p) {
        if (rows->localPart[p] >= 0) {
            result = rgFactorPart(def, p, factors + rows->localPart[p]);
        }
    }
    for (int l = 0; result == rg_ok && l < rows->linkCount; ++l) {
        const rgVelocityLink* link = rows->links + l;
        int size = rows->parts[link->part].size;
        for (int r = 0; r < system->blocks[link->block].size; ++r) {
            def->kernels->lowerSolve(size, factors[link->part], size,
                                     rgWhitened_Find(rows, system, link->block, link->part, r));
        }
    }
    rgArena_Return(def->arena, mark);
    return result;
}

// Room for the rows, as zeros: one array, or one piece per link.
static rgResult rgWhitened_Allocate(rgWhitened* rows, const rgSystemDef* def,
                                    const rgSystem* system, bool merge) {
    size_t numbers = merge ? (size_t)system->n * (size_t)rgLeadingDimension(rows->nv) : 0;
    for (int l = 0; l < rows->linkCount && !merge; ++l) {
        const rgVelocityLink* link = rows->links + l;
        numbers += (size_t)(system->blocks[link->block].size * rows->parts[link->part].stride);
    }
    double* W = RG_TAKE(def->arena, double, numbers);
    if (W == NULL) {
        return rg_errorMemory;
    }
    memset(W, 0, numbers * sizeof(double));
    rows->W = merge ? W : NULL;
    for (int l = 0; l < rows->linkCount && !merge; ++l) {
        rgVelocityLink* link = rows->links + l;
        link->W = W;
        W += system->blocks[link->block].size * rows->parts[link->part].stride;
    }
    return rg_ok;
}

rgResult rgWhitened_Fill(rgWhitened* rows, const rgSystemDef* def, const rgSystem* system,
                         bool merge) {
    rgResult result = rgWhitened_Link(rows, def, system);
    merge = rows->nv > 0 &&
            (merge || rows->partCount == 1 ||
             (result == rg_ok && rgWhitened_Density(rows, system) > RG_DENSE_FILL_RATIO));
    if (result == rg_ok) {
        result = rgWhitened_Allocate(rows, def, system, merge);
    }
    if (result != rg_ok) {
        return result;
    }
    rgWhitened_Scatter(rows, def, system);
    if (def->problem->delassus.whitened == NULL) {
        result = rgWhitened_Whiten(rows, def, system);
    }
    if (result == rg_ok && merge) {
        rows->parts[0] =
            (rgVelocityPart){.size = rows->nv, .start = 0, .stride = rgLeadingDimension(rows->nv)};
        rows->partCount = 1;
        rgWhitened_LinkAll(rows, system);
    }
    return result;
}

// The rows that the problem brings along, transposed.
static rgResult rgWhitened_ScatterColumns(rgWhitened* rows, const rgSystemDef* def,
                                          const rgSystem* system) {
    const rgLayout* layout = def->layout;
    const rgSparse* J = &def->problem->delassus.jacobian;
    const double* value = def->problem->delassus.whitened;
    size_t lead = (size_t)rows->lead;
    size_t* place = RG_TAKE(def->arena, size_t, J->columnCount);
    if (place == NULL) {
        return rg_errorMemory;
    }
    memset(rows->columns, 0, lead * (size_t)rows->nv * sizeof(double));
    for (int p = 0; p < layout->partCount; ++p) {
        const int* velocities = layout->partVelocities + layout->partStart[p];
        int part = rows->localPart[p];
        for (int a = 0; part >= 0 && a < layout->partSize[p]; ++a) {
            place[velocities[a]] = lead * (size_t)(rows->parts[part].start + a);
        }
    }
    for (int i = 0; i < system->n; ++i) {
        int row = system->globalRow[i];
        double* own = rows->columns + i;
        for (int k = J->rowStart[row]; k < J->rowStart[row + 1]; ++k) {
            own[place[J->column[k]]] = value[k];
        }
    }
    return rg_ok;
}

rgResult rgWhitened_FillColumns(rgWhitened* rows, const rgSystemDef* def, const rgSystem* system) {
    rows->lead = rgLeadingDimension(system->n);
    rows->columns = RG_TAKE(def->arena, double, (size_t)rows->lead*(size_t)rows->nv);
    if (rows->columns == NULL) {
        return rg_errorMemory;
    }
    if (def->problem->delassus.whitened != NULL) {
        return rgWhitened_ScatterColumns(rows, def, system);
    }
    rgResult result = rgWhitened_Fill(rows, def, system, true);
    size_t stride = result == rg_ok && rows->nv > 0 ? (size_t)rows->parts[0].stride : 0;
    for (int i = 0; i < system->n && stride > 0; ++i) {
        for (int v = 0; v < rows->nv; ++v) {
            rows->columns[(size_t)v * (size_t)rows->lead + (size_t)i] =
                rows->W[(size_t)i * stride + (size_t)v];
        }
    }
    return result;
}
