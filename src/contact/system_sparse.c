// Contact space, sparse: G as dense blocks between sets, factorized with a fill-reducing order.
#include "contact/system.h"

#include <string.h>

// Insertion sort: rows are short and nearly in order.
static void rgSortShort(int* items, int count) {
    for (int a = 1; a < count; ++a) {
        int value = items[a];
        int b = a;
        for (; b > 0 && items[b - 1] > value; --b) {
            items[b] = items[b - 1];
        }
        items[b] = value;
    }
}

// Sets that a row of blocks couples with, ascending, from either input.
static int rgCollectRow(const rgSystemDef* def, const rgSystem* system, int i, int* mark,
                        int* out) {
    int count = 0;
    const rgSet* set = system->sets + i;
    mark[i] = i;
    out[count++] = i;
    if (def->problem->delassus.kind == rg_delassusDense) {
        const double* G = def->problem->delassus.matrix;
        size_t n = (size_t)def->problem->rowCount;
        for (int r = 0; r < set->size; ++r) {
            const double* row = G + (size_t)system->globalRow[set->row + r] * n;
            for (int j = 0; j < system->setCount; ++j) {
                const rgSet* other = system->sets + j;
                for (int c = 0; c < other->size && mark[j] != i; ++c) {
                    if (row[system->globalRow[other->row + c]] != 0) {
                        mark[j] = i;
                        out[count++] = j;
                    }
                }
            }
        }
    } else {
        const rgSparse* G = &def->problem->delassus.sparse;
        for (int r = 0; r < set->size; ++r) {
            int row = system->globalRow[set->row + r];
            for (int k = G->rowStart[row]; k < G->rowStart[row + 1]; ++k) {
                int j = def->layout->placeOfSet[def->layout->setOfRow[G->column[k]]];
                if (G->value[k] != 0 && mark[j] != i) {
                    mark[j] = i;
                    out[count++] = j;
                }
            }
        }
    }
    rgSortShort(out, count);
    return count;
}

// Links of one set with every set that shares a part, for velocity input.
static int rgCollectVelocityRow(const rgSystem* system, const int* partStart, const int* partSets,
                                int i, int* mark, int* out) {
    int count = 0;
    mark[i] = i;
    out[count++] = i;
    for (int l = system->linkStart[i]; l < system->linkStart[i + 1]; ++l) {
        int part = system->links[l].part;
        for (int k = partStart[part]; k < partStart[part + 1]; ++k) {
            int j = system->links[partSets[k]].set;
            if (mark[j] != i) {
                mark[j] = i;
                out[count++] = j;
            }
        }
    }
    rgSortShort(out, count);
    return count;
}

typedef struct rgPatternWork {
    int* mark;
    int* row;
    int* partStart; // velocity input: links by part
    int* partLinks;
} rgPatternWork;

static rgResult rgPreparePattern(const rgSystemDef* def, rgSystem* system, rgPatternWork* work) {
    work->mark = RG_TAKE(def->arena, int, system->setCount);
    work->row = RG_TAKE(def->arena, int, system->setCount);
    work->partStart = RG_TAKE(def->arena, int, system->partCount + 1);
    work->partLinks = RG_TAKE(def->arena, int, system->linkCount);
    if (def->arena->failed) {
        return rg_errorMemory;
    }
    for (int i = 0; i < system->setCount; ++i) {
        work->mark[i] = -1;
    }
    int* place = RG_TAKE(def->arena, int, system->linkCount);
    int* partOf = RG_TAKE(def->arena, int, system->linkCount);
    if (def->arena->failed) {
        return rg_errorMemory;
    }
    for (int l = 0; l < system->linkCount; ++l) {
        partOf[l] = system->links[l].part;
    }
    rgGroup(system->linkCount, partOf, system->partCount, work->partStart, work->partLinks, place);
    return rg_ok;
}

static int rgPatternRow(const rgSystemDef* def, const rgSystem* system, rgPatternWork* work,
                        int i) {
    if (def->problem->delassus.kind == rg_delassusVelocity) {
        return rgCollectVelocityRow(system, work->partStart, work->partLinks, i, work->mark,
                                    work->row);
    }
    return rgCollectRow(def, system, i, work->mark, work->row);
}

static rgResult rgBuildPattern(const rgSystemDef* def, rgSystem* system) {
    rgPatternWork work;
    rgResult result = rgPreparePattern(def, system, &work);
    system->rowStart = RG_TAKE(def->arena, int, system->setCount + 1);
    if (result != rg_ok || system->rowStart == NULL) {
        return rg_errorMemory;
    }
    system->rowStart[0] = 0;
    for (int i = 0; i < system->setCount; ++i) {
        system->rowStart[i + 1] = system->rowStart[i] + rgPatternRow(def, system, &work, i);
    }
    int entries = system->rowStart[system->setCount];
    system->column = RG_TAKE(def->arena, int, entries);
    system->values = RG_TAKE(def->arena, double*, entries);
    system->work = RG_TAKE(def->arena, double*, entries);
    if (def->arena->failed) {
        return rg_errorMemory;
    }
    size_t numbers = 0;
    for (int i = 0; i < system->setCount; ++i) {
        work.mark[i] = -1;
    }
    for (int i = 0; i < system->setCount; ++i) {
        int count = rgPatternRow(def, system, &work, i);
        memcpy(system->column + system->rowStart[i], work.row, (size_t)count * sizeof(int));
        for (int k = 0; k < count; ++k) {
            numbers += (size_t)(system->sets[i].size * system->sets[work.row[k]].size);
        }
    }
    double* values = RG_TAKE(def->arena, double, numbers);
    double* factors = RG_TAKE(def->arena, double, numbers);
    if (def->arena->failed) {
        return rg_errorMemory;
    }
    memset(values, 0, numbers * sizeof(double));
    for (int i = 0; i < system->setCount; ++i) {
        for (int k = system->rowStart[i]; k < system->rowStart[i + 1]; ++k) {
            system->values[k] = values;
            system->work[k] = factors;
            int size = system->sets[i].size * system->sets[system->column[k]].size;
            values += size;
            factors += size;
        }
    }
    system->sweepFlops = 2 * (double)numbers;
    system->applyFlops = 2 * (double)numbers;
    return rg_ok;
}

static double* rgFindBlock(const rgSystem* system, int i, int j) {
    int low = system->rowStart[i];
    int high = system->rowStart[i + 1] - 1;
    while (low < high) {
        int middle = (low + high) / 2;
        if (system->column[middle] < j) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return system->values[low];
}

static void rgFillFromDense(const rgSystemDef* def, rgSystem* system) {
    const double* G = def->problem->delassus.matrix;
    size_t n = (size_t)def->problem->rowCount;
    for (int i = 0; i < system->setCount; ++i) {
        const rgSet* a = system->sets + i;
        for (int k = system->rowStart[i]; k < system->rowStart[i + 1]; ++k) {
            const rgSet* b = system->sets + system->column[k];
            for (int r = 0; r < a->size; ++r) {
                for (int c = 0; c < b->size; ++c) {
                    system->values[k][r * b->size + c] =
                        G[(size_t)system->globalRow[a->row + r] * n +
                          (size_t)system->globalRow[b->row + c]];
                }
            }
        }
    }
}

static void rgFillFromSparse(const rgSystemDef* def, rgSystem* system) {
    const rgSparse* G = &def->problem->delassus.sparse;
    for (int i = 0; i < system->setCount; ++i) {
        const rgSet* a = system->sets + i;
        for (int r = 0; r < a->size; ++r) {
            int row = system->globalRow[a->row + r];
            for (int k = G->rowStart[row]; k < G->rowStart[row + 1]; ++k) {
                if (G->value[k] == 0) {
                    continue;
                }
                int j = def->layout->placeOfSet[def->layout->setOfRow[G->column[k]]];
                const rgSet* b = system->sets + j;
                int c = def->layout->localRow[G->column[k]] - b->row;
                rgFindBlock(system, i, j)[r * b->size + c] = G->value[k];
            }
        }
    }
}

static void rgFillFromVelocity(rgSystem* system) {
    for (int i = 0; i < system->setCount; ++i) {
        int rows = system->sets[i].size;
        for (int e = system->rowStart[i]; e < system->rowStart[i + 1]; ++e) {
            int j = system->column[e];
            int columns = system->sets[j].size;
            for (int l = system->linkStart[i]; l < system->linkStart[i + 1]; ++l) {
                for (int k = system->linkStart[j]; k < system->linkStart[j + 1]; ++k) {
                    const rgVelocityLink* a = system->links + l;
                    const rgVelocityLink* b = system->links + k;
                    if (a->part != b->part) {
                        continue;
                    }
                    int stride = system->parts[a->part].stride;
                    for (int r = 0; r < rows; ++r) {
                        for (int c = 0; c < columns; ++c) {
                            system->values[e][r * columns + c] +=
                                system->kernels->dot(stride, a->W + r * stride, b->W + c * stride);
                        }
                    }
                }
            }
        }
    }
}

static rgResult rgAnalyseSets(const rgSystemDef* def, rgSystem* system) {
    int* blockStart = RG_TAKE(def->arena, int, system->setCount + 1);
    if (blockStart == NULL) {
        return rg_errorMemory;
    }
    for (int i = 0; i < system->setCount; ++i) {
        blockStart[i] = system->sets[i].row;
    }
    blockStart[system->setCount] = system->n;
    rgBlockPattern pattern = {.blockCount = system->setCount,
                              .blockStart = blockStart,
                              .rowStart = system->rowStart,
                              .column = system->column};
    rgResult result = rgBlockFactor_Analyse(system->factor, &pattern);
    if (result == rg_ok) {
        system->shiftFlops = rgBlockFactor_CholeskyFlops(system->factor);
        system->pairFlops = rgBlockFactor_LuFlops(system->factor);
    }
    return result;
}

rgResult rgBuildSparse(const rgSystemDef* def, rgSystem* system) {
    const rgContactProblem* problem = def->problem;
    rgResult result = rgBuildPattern(def, system);
    if (result == rg_ok) {
        result = rgAnalyseSets(def, system);
    }
    if (result != rg_ok) {
        return result;
    }
    if (problem->delassus.kind == rg_delassusDense) {
        rgFillFromDense(def, system);
    } else if (problem->delassus.kind == rg_delassusSparse) {
        rgFillFromSparse(def, system);
    } else {
        rgFillFromVelocity(system);
        system->linkCount = 0; // from here on a contact-space system
        system->R = NULL;
    }
    for (int i = 0; i < system->setCount; ++i) {
        const rgSet* set = system->sets + i;
        double* block = rgFindBlock(system, i, i);
        for (int r = 0; r < set->size && problem->compliance != NULL; ++r) {
            block[r * set->size + r] += problem->compliance[system->globalRow[set->row + r]];
        }
        memcpy(system->diagonal + set->pairStart, block,
               (size_t)(set->size * set->size) * sizeof(double));
    }
    system->ops = &rgSparseOps;
    return rg_ok;
}

static void rgSparse_Apply(rgSystem* system, const double* x, double* y) {
    for (int i = 0; i < system->setCount; ++i) {
        const rgSet* a = system->sets + i;
        double sum[RG_SET_MAX] = {0};
        for (int k = system->rowStart[i]; k < system->rowStart[i + 1]; ++k) {
            const rgSet* b = system->sets + system->column[k];
            const double* block = system->values[k];
            const double* xb = x + b->row;
            if (a->size == 3 && b->size == 3) {
                sum[0] += block[0] * xb[0] + block[1] * xb[1] + block[2] * xb[2];
                sum[1] += block[3] * xb[0] + block[4] * xb[1] + block[5] * xb[2];
                sum[2] += block[6] * xb[0] + block[7] * xb[1] + block[8] * xb[2];
                continue;
            }
            for (int r = 0; r < a->size; ++r) {
                for (int c = 0; c < b->size; ++c) {
                    sum[r] += block[r * b->size + c] * xb[c];
                }
            }
        }
        memcpy(y + a->row, sum, (size_t)a->size * sizeof(double));
    }
}

static void rgSparse_Sweep(rgSystem* system, double* lambda, double* sigma, double relaxation) {
    double own[RG_SET_MAX];
    double change[RG_SET_MAX];
    for (int i = 0; i < system->setCount; ++i) {
        const rgSet* set = system->sets + i;
        memcpy(own, sigma + set->row, (size_t)set->size * sizeof(double));
        if (!rgSweepSet(set, system->diagonal + set->pairStart, system->model, relaxation,
                        lambda + set->row, own, change)) {
            continue;
        }
        // Column i of blocks is row i transposed.
        for (int k = system->rowStart[i]; k < system->rowStart[i + 1]; ++k) {
            const rgSet* b = system->sets + system->column[k];
            const double* block = system->values[k];
            double* target = sigma + b->row;
            for (int r = 0; r < set->size; ++r) {
                for (int c = 0; c < b->size; ++c) {
                    target[c] += block[r * b->size + c] * change[r];
                }
            }
        }
    }
}

static rgResult rgSparse_FactorShift(rgSystem* system, double shift) {
    system->factorizationCount += 1;
    return rgBlockFactor_Cholesky(system->factor, (const double* const*)system->values, shift);
}

static void rgSparse_SolveShift(rgSystem* system, double* x) {
    rgBlockFactor_Solve(system->factor, x);
}

static void rgFillPairBlock(const rgSystem* system, int i, int k, const double* B, bool idle) {
    int rows = system->sets[i].size;
    int columns = system->sets[system->column[k]].size;
    const double* b = B + system->sets[i].pairStart;
    const double* source = system->values[k];
    double* target = system->work[k];
    if (idle) {
        memset(target, 0, (size_t)(rows * columns) * sizeof(double));
        return;
    }
    for (int r = 0; r < rows; ++r) {
        for (int c = 0; c < columns; ++c) {
            double sum = 0;
            for (int m = 0; m < rows; ++m) {
                sum += b[r * rows + m] * source[m * columns + c];
            }
            target[r * columns + c] = sum;
        }
    }
}

static rgResult rgSparse_FactorPair(rgSystem* system, const double* A, const double* B,
                                    const bool* idle, double eps) {
    system->factorizationCount += 1;
    for (int i = 0; i < system->setCount; ++i) {
        const rgSet* set = system->sets + i;
        for (int k = system->rowStart[i]; k < system->rowStart[i + 1]; ++k) {
            rgFillPairBlock(system, i, k, B, idle[i]);
            for (int e = 0; e < set->size * set->size && system->column[k] == i; ++e) {
                system->work[k][e] += A[set->pairStart + e];
            }
        }
    }
    return rgBlockFactor_Lu(system->factor, (const double* const*)system->work, eps);
}

static void rgSparse_SolvePair(rgSystem* system, const double* rhs, double* x, double* moved) {
    memcpy(x, rhs, (size_t)system->n * sizeof(double));
    rgBlockFactor_Solve(system->factor, x);
    if (moved != NULL) {
        rgSparse_Apply(system, x, moved);
    }
}

const rgSystemOps rgSparseOps = {
    .apply = rgSparse_Apply,
    .sweep = rgSparse_Sweep,
    .factorShift = rgSparse_FactorShift,
    .solveShift = rgSparse_SolveShift,
    .factorPair = rgSparse_FactorPair,
    .solvePair = rgSparse_SolvePair,
    .respond = rgSystem_RespondByColumns,
};
