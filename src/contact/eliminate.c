// Eliminate rows that are always active, before any iteration: their impulses follow from the
// others. ncp.15-16.
#include "contact/system.h"
#include "contact/tuning.h"

#include <string.h>

static bool rgIsCompliantFree(const rgSystem* system, const rgSystemDef* def, int i) {
    const rgSystemBlock* block = system->blocks + i;
    const double* R = def->problem->compliance;
    bool compliant = R != NULL && block->kind == rg_blockFree;
    for (int r = 0; compliant && r < block->size; ++r) {
        compliant = R[system->globalRow[block->row + r]] > 0;
    }
    return compliant;
}

int rgSystem_RowsLeft(const rgSystem* system, const rgSystemDef* def) {
    int n = system->n;
    for (int i = 0; i < system->blockCount && def->eliminate; ++i) {
        n -= rgIsCompliantFree(system, def, i) ? system->blocks[i].size : 0;
    }
    return n;
}

// An entry of G, of which the lower triangle is there.
static inline double rgLowerEntry(const rgMatrix* G, int i, int j) {
    int row = RG_MAX(i, j), column = RG_MIN(i, j);
    return G->values[(size_t)column * (size_t)G->ld + (size_t)row];
}

// ncp.15: L and C from the columns of G that belong to the rows `out`. False when rows are
// redundant.
static bool rgFactorRows(const rgSystem* system, const rgMatrix* G, const int* out, const int* kept,
                         int keptCount, rgEliminated* eliminated) {
    int count = eliminated->count;
    for (int j = 0; j < count; ++j) {
        const double* from = G->values + (size_t)out[j] * (size_t)G->ld;
        double* to = eliminated->L + (size_t)j * (size_t)eliminated->lead;
        for (int i = j; i < count; ++i) {
            to[i] = from[out[i]];
        }
        int below = 0; // rows that stay ascend
        for (; below < keptCount && kept[below] < out[j]; ++below) {
            to[count + below] = rgLowerEntry(G, kept[below], out[j]);
        }
        for (int i = below; i < keptCount; ++i) {
            to[count + i] = from[kept[i]];
        }
    }
    bool regular =
        system->kernels->choleskyPanel(count + keptCount, count, eliminated->L, eliminated->lead);
    for (int j = 0; regular && j < count; ++j) {
        double root = eliminated->L[(size_t)j * (size_t)(eliminated->lead + 1)];
        double own = G->values[(size_t)out[j] * (size_t)(G->ld + 1)];
        regular = root * root > RG_ZERO_RATIO * own;
    }
    return regular;
}

// ncp.16: G - C C' of the rows that stay, in their own order; its lower triangle.
static void rgReduceMatrix(const rgSystem* system, rgMatrix* G, const int* kept, int keptCount,
                           const rgEliminated* eliminated) {
    size_t from = (size_t)G->ld, to = (size_t)rgLeadingDimension(keptCount);
    for (int j = 0; j < keptCount; ++j) { // columns move towards the front, none over a later one
        const double* old = G->values + (size_t)kept[j] * from;
        double* column = G->values + (size_t)j * to;
        for (int i = j; i < keptCount; ++i) {
            column[i] = old[kept[i]];
        }
        memset(column + keptCount, 0, (to - (size_t)keptCount) * sizeof(double));
    }
    rgMatrix_Resize(G, keptCount);
    system->kernels->subtractSelfProduct(keptCount, eliminated->count, eliminated->C,
                                         eliminated->lead, G->values, G->ld);
}

// The blocks and rows that stay, one after the other, with the diagonal blocks of the new G.
static void rgKeepBlocks(rgSystem* system, const rgMatrix* G, const bool* leaves) {
    int blocks = 0, row = 0, pair = 0;
    for (int i = 0; i < system->blockCount; ++i) {
        rgSystemBlock block = system->blocks[i];
        for (int r = block.row; r < block.row + block.size && !leaves[i]; ++r, ++row) {
            system->g[row] = system->g[r];
            system->mass[row] = system->mass[r];
            system->weight[row] = system->weight[r];
            system->globalRow[row] = system->globalRow[r];
        }
        if (!leaves[i]) {
            block.row = row - block.size;
            block.entryStart = pair;
            system->blockStart[blocks] = block.row;
            system->blocks[blocks++] = block;
            for (int e = 0; e < block.size * block.size; ++e) {
                system->diagonal[pair++] =
                    rgLowerEntry(G, block.row + e / block.size, block.row + e % block.size);
            }
        }
    }
    system->blockStart[blocks] = row;
    system->blockCount = blocks;
    system->n = row;
    system->entryCount = pair;
}

rgResult rgSystem_Eliminate(rgSystem* system, const rgSystemDef* def, rgMatrix* G) {
    rgEliminated made = {0};
    int n = system->n, keptCount = 0;
    if (rgSystem_RowsLeft(system, def) == n) {
        return rg_ok;
    }
    bool* leaves = RG_TAKE(system->arena, bool, system->blockCount);
    int* kept = RG_TAKE(system->arena, int, n);
    int* out = RG_TAKE(system->arena, int, n);
    made.globalRow = RG_TAKE(system->arena, int, n);
    made.y = RG_TAKE(system->arena, double, n);
    if (system->arena->failed) {
        return rg_errorMemory;
    }
    for (int i = 0; i < system->blockCount; ++i) {
        leaves[i] = rgIsCompliantFree(system, def, i);
        for (int r = system->blockStart[i]; r < system->blockStart[i + 1]; ++r) {
            if (leaves[i]) {
                made.globalRow[made.count] = system->globalRow[r];
                made.y[made.count] = system->g[r];
                out[made.count++] = r;
            } else {
                kept[keptCount++] = r;
            }
        }
    }
    made.lead = rgLeadingDimension(n);
    made.L = RG_TAKE(system->arena, double, (size_t)made.lead*(size_t)made.count);
    if (made.L == NULL) {
        return rg_errorMemory;
    }
    made.C = made.L + made.count;
    if (!rgFactorRows(system, G, out, kept, keptCount, &made)) {
        return rg_ok;
    }
    rgReduceMatrix(system, G, kept, keptCount, &made);
    rgKeepBlocks(system, G, leaves);
    system->kernels->lowerSolve(made.count, made.L, made.lead, made.y);
    for (int j = 0; j < made.count; ++j) {
        system->kernels->axpy(keptCount, -made.y[j], made.C + (size_t)j * (size_t)made.lead,
                              system->g);
    }
    system->eliminated = made;
    return rg_ok;
}

rgResult rgSystem_Restore(const rgSystem* system, double* lambda) {
    const rgEliminated* eliminated = &system->eliminated;
    int count = eliminated->count;
    double* own = RG_TAKE(system->arena, double, system->n);
    double* x = RG_TAKE(system->arena, double, count);
    if (system->arena->failed) {
        return rg_errorMemory;
    }
    for (int i = 0; i < system->n; ++i) {
        own[i] = lambda[system->globalRow[i]];
    }
    system->kernels->multiplyTransposed(system->n, count, eliminated->C, eliminated->lead, own, x);
    for (int i = 0; i < count; ++i) {
        x[i] = -eliminated->y[i] - x[i];
    }
    system->kernels->lowerTransposedSolve(count, eliminated->L, eliminated->lead, x);
    for (int i = 0; i < count; ++i) {
        lambda[eliminated->globalRow[i]] = x[i];
    }
    return rg_ok;
}
