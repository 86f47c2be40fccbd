// Contact space: G as a matrix, dense or as blocks between sets with a fill-reducing order.
#include "contact/problem.h"
#include "contact/whitened.h"

#include <string.h>

typedef struct rgContactSpace {
    rgMatrix G;
    rgMatrix K;      // of the last factorization
    int* active;     // dense: rows of the island that K has
    const double* B; // of the last pair factorization, borrowed
    const bool* idle;
    double* reduced; // n scratch
} rgContactSpace;

// Row of the system that a row of the problem has become, its set beside it; -1: takes no part.
static int rgLocalRow(const rgSystemDef* def, const rgSystem* system, int row, int* set) {
    int source = def->layout->setOfRow[row];
    *set = def->layout->placeOfSet[source];
    return *set < 0 ? -1 : system->sets[*set].row + row - def->layout->sets[source].firstRow;
}

// G from contact-space input, entry by entry.
static void rgFillFromRows(const rgSystemDef* def, const rgSystem* system, rgMatrix* G) {
    rgMatrix_SetDiagonal(G, 0);
    for (int i = 0; i < system->setCount; ++i) {
        for (int r = system->setStart[i]; r < system->setStart[i + 1]; ++r) {
            rgGivenRow row = rgContactProblem_Row(def->problem, system->globalRow[r]);
            int j = -1, last = -1, rowStep = 0, columnStep = 0;
            double* block = NULL;
            for (int k = row.start; k < row.end; ++k) {
                int c = row.value[k] == 0 ? -1
                                          : rgLocalRow(def, system, rgGivenRow_Column(&row, k), &j);
                if (c >= 0) {
                    block = j == last ? block : rgMatrix_Block(G, i, j, &rowStep, &columnStep);
                    last = j;
                    block[(size_t)(r - system->setStart[i]) * (size_t)rowStep +
                          (size_t)(c - system->setStart[j]) * (size_t)columnStep] = row.value[k];
                }
            }
        }
    }
}

// G = W W': transposed for the kernel, lower triangle, then the mirror image.
static rgResult rgFillFromVelocity(const rgWhitened* rows, const rgSystem* system, rgMatrix* G) {
    int n = system->n;
    size_t ld = (size_t)G->ld;
    rgMatrix_SetDiagonal(G, 0);
    if (rows->nv == 0) {
        return rg_ok;
    }
    size_t stride = (size_t)rows->parts[0].stride;
    rgArenaMark mark = rgArena_Mark(system->arena);
    double* columns = RG_TAKE(system->arena, double, ld*(size_t)rows->nv);
    if (columns == NULL) {
        return rg_errorMemory;
    }
    for (int i = 0; i < n; ++i) {
        const double* row = rows->W + (size_t)i * stride;
        for (int v = 0; v < rows->nv; ++v) {
            columns[(size_t)v * ld + (size_t)i] = row[v];
        }
    }
    system->kernels->addSelfProduct(n, rows->nv, columns, G->ld, G->values, G->ld);
    for (int j = 0; j < n; ++j) {
        for (int i = j + 1; i < n; ++i) {
            G->values[(size_t)i * ld + (size_t)j] = G->values[(size_t)j * ld + (size_t)i];
        }
    }
    rgArena_Return(system->arena, mark);
    return rg_ok;
}

// Sets that an entry of G couples.
static rgResult rgFindCoupling(const rgSystemDef* def, const rgSystem* system,
                               rgCoupling* coupling) {
    int bound = 0;
    for (int r = 0; r < system->n; ++r) {
        rgGivenRow row = rgContactProblem_Row(def->problem, system->globalRow[r]);
        bound += row.end - row.start;
    }
    int* from = RG_TAKE(def->arena, int, bound);
    int* to = RG_TAKE(def->arena, int, bound);
    if (def->arena->failed) {
        return rg_errorMemory;
    }
    int count = 0;
    for (int i = 0; i < system->setCount; ++i) {
        for (int r = system->setStart[i]; r < system->setStart[i + 1]; ++r) {
            rgGivenRow row = rgContactProblem_Row(def->problem, system->globalRow[r]);
            int last = i, j;
            for (int k = row.start; k < row.end; ++k) {
                if (row.value[k] != 0 &&
                    rgLocalRow(def, system, rgGivenRow_Column(&row, k), &j) >= 0 && j != last) {
                    from[count] = i;
                    to[count++] = last = j;
                }
            }
        }
    }
    coupling->count = count;
    coupling->row = from;
    coupling->column = to;
    return rg_ok;
}

// Compliance, diagonal blocks, work space and costs, once G is there.
static void rgFinish(const rgSystemDef* def, rgSystem* system, rgContactSpace* space) {
    const double* R = def->problem->compliance;
    for (int i = 0; i < system->setCount; ++i) {
        const rgSet* set = system->sets + i;
        int rowStep, columnStep;
        double* block = rgMatrix_Block(&space->G, i, i, &rowStep, &columnStep);
        for (int a = 0; a < set->size; ++a) {
            block[(size_t)a * (size_t)(rowStep + columnStep)] +=
                R != NULL ? R[system->globalRow[set->row + a]] : 0;
            for (int b = 0; b < set->size; ++b) {
                system->diagonal[set->pairStart + a * set->size + b] =
                    block[(size_t)a * (size_t)rowStep + (size_t)b * (size_t)columnStep];
            }
        }
    }
    system->form = space;
    system->ops = &rgContactOps;
    system->applyFlops = system->sweepFlops = 2 * (double)space->G.entryCount;
    system->pairFlops = space->G.luFlops;
}

static rgResult rgMakeContactSpace(const rgSystemDef* def, const rgSystem* system,
                                   const rgCoupling* coupling, rgContactSpace** space) {
    *space = RG_TAKE(def->arena, rgContactSpace, 1);
    if (*space == NULL) {
        return rg_errorMemory;
    }
    **space = (rgContactSpace){.active = RG_TAKE(def->arena, int, system->n),
                               .reduced = RG_TAKE(def->arena, double, system->n)};
    rgResult result =
        rgMatrix_Init(&(*space)->G, coupling, system->kernels, def->factor, def->arena);
    result = result == rg_ok ? rgMatrix_InitLike(&(*space)->K, &(*space)->G, def->arena) : result;
    return def->arena->failed ? rg_errorMemory : result;
}

rgResult rgMakeDense(const rgSystemDef* def, const rgWhitened* rows, rgSystem* system) {
    rgContactSpace* space;
    rgCoupling all = {system->setCount, system->setStart, -1, NULL, NULL};
    rgResult result = rgMakeContactSpace(def, system, &all, &space);
    if (result == rg_ok && rows != NULL) {
        result = rgFillFromVelocity(rows, system, &space->G);
    } else if (result == rg_ok) {
        rgFillFromRows(def, system, &space->G);
    }
    if (result == rg_ok) {
        rgFinish(def, system, space);
    }
    return result;
}

rgResult rgMakeSparse(const rgSystemDef* def, rgSystem* system) {
    rgContactSpace* space;
    rgCoupling coupling = {system->setCount, system->setStart, 0, NULL, NULL};
    rgResult result = rgFindCoupling(def, system, &coupling);
    result = result == rg_ok ? rgMakeContactSpace(def, system, &coupling, &space) : result;
    if (result == rg_ok) {
        rgFillFromRows(def, system, &space->G);
        rgFinish(def, system, space);
    }
    return result;
}

static void rgContact_Scale(rgSystem* system) {
    rgContactSpace* space = system->form;
    rgMatrix_Scale(&space->G, system->rowScale, system->massUnit);
}

static void rgContact_Apply(rgSystem* system, const double* x, double* y) {
    const rgContactSpace* space = system->form;
    rgMatrix_Apply(&space->G, x, y);
}

static void rgContact_Sweep(rgSystem* system, double* lambda, double* sigma, double relaxation) {
    const rgContactSpace* space = system->form;
    double own[RG_SET_MAX], change[RG_SET_MAX];
    for (int i = 0; i < system->setCount; ++i) {
        const rgSet* set = system->sets + i;
        memcpy(own, sigma + set->row, (size_t)set->size * sizeof(double));
        if (rgSweepSet(system, set, relaxation, lambda + set->row, own, change)) {
            rgMatrix_AddColumns(&space->G, i, change, sigma);
        }
    }
}

static rgResult rgContact_FactorShift(rgSystem* system, double shift) {
    rgContactSpace* space = system->form;
    system->factorizationCount += 1;
    if (!space->G.dense) {
        return rgMatrix_Cholesky(&space->G, shift);
    }
    rgMatrix_Resize(&space->K, system->n);
    memcpy(space->K.values, space->G.values,
           (size_t)space->G.ld * (size_t)system->n * sizeof(double));
    return rgMatrix_Cholesky(&space->K, shift);
}

static void rgContact_SolveShift(rgSystem* system, double* x) {
    const rgContactSpace* space = system->form;
    rgMatrix_Solve(!space->G.dense ? &space->G : &space->K, x);
}

// K = A + B G, row by row of blocks. An idle row has B = 0.
static void rgFillSparsePair(const rgSystem* system, rgContactSpace* space, const double* A) {
    for (int i = 0; i < system->setCount; ++i) {
        const rgSet* set = system->sets + i;
        for (int k = space->K.rowStart[i]; k < space->K.rowStart[i + 1]; ++k) {
            int j = space->K.column[k], columns = system->sets[j].size;
            double* target = space->K.blocks[k];
            if (space->idle[i]) {
                memset(target, 0, (size_t)(set->size * columns) * sizeof(double));
            } else {
                system->kernels->transformRows(set->size, columns, space->B + set->pairStart,
                                               space->G.blocks[k], target);
            }
            for (int e = 0; e < set->size * set->size && j == i; ++e) {
                target[e] += A[set->pairStart + e];
            }
        }
    }
}

// Rows of K = A + B G for one set, from row r of K on.
static void rgFillDenseRows(const rgContactSpace* space, const rgSet* set, const double* A, int r) {
    int m = set->size, count = space->K.n;
    const double* B = space->B + set->pairStart;
    const double* G = space->G.values + set->row;
    double* K = space->K.values + r;
    size_t lead = (size_t)space->G.ld, ld = (size_t)space->K.ld;
    for (int j = 0; j < count; ++j) {
        const double* source = G + (size_t)space->active[j] * lead;
        double* target = K + (size_t)j * ld;
        for (int a = 0; a < m; ++a) {
            double sum = 0;
            for (int k = 0; k < m; ++k) {
                sum += B[a * m + k] * source[k];
            }
            target[a] = sum;
        }
    }
    for (int a = 0; a < m; ++a) {
        for (int k = 0; k < m; ++k) {
            K[(size_t)(r + k) * ld + (size_t)a] += A[set->pairStart + a * m + k];
        }
    }
}

// K = A + B G for the sets that are not idle.
static void rgFillDensePair(const rgSystem* system, rgContactSpace* space, const double* A) {
    int count = 0, r = 0;
    for (int i = 0; i < system->setCount; ++i) {
        for (int k = 0; k < system->sets[i].size && !space->idle[i]; ++k) {
            space->active[count++] = system->sets[i].row + k;
        }
    }
    rgMatrix_Resize(&space->K, count);
    for (int i = 0; i < system->setCount; ++i) {
        if (!space->idle[i]) {
            rgFillDenseRows(space, system->sets + i, A, r);
            r += system->sets[i].size;
        }
    }
}

static rgResult rgContact_FactorPair(rgSystem* system, const double* A, const double* B,
                                     const bool* idle, double eps) {
    rgContactSpace* space = system->form;
    system->factorizationCount += 1;
    space->B = B;
    space->idle = idle;
    if (!space->G.dense) {
        rgFillSparsePair(system, space, A);
    } else {
        rgFillDensePair(system, space, A);
    }
    return rgMatrix_Lu(&space->K, eps);
}

// Idle rows are known at once; what they do to the others moves to the right-hand side.
static void rgReduceSide(const rgSystem* system, rgContactSpace* space, const double* rhs,
                         double* x) {
    double* known = space->reduced; // what the idle rows do
    bool any = false;
    for (int i = 0; i < system->setCount; ++i) {
        for (int row = system->setStart[i]; row < system->setStart[i + 1]; ++row) {
            x[row] = space->idle[i] ? rhs[row] : 0;
            any = any || x[row] != 0;
        }
    }
    if (any) {
        rgMatrix_Apply(&space->G, x, known);
    } else {
        memset(known, 0, (size_t)system->n * sizeof(double));
    }
    int r = 0;
    for (int i = 0; i < system->setCount; ++i) {
        const rgSet* set = system->sets + i;
        if (space->idle[i]) {
            continue;
        }
        int m = set->size;
        double moved[RG_SET_MAX];
        memcpy(moved, known + set->row, (size_t)m * sizeof(double)); // r <= set->row
        for (int a = 0; a < m; ++a, ++r) {
            double sum = rhs[set->row + a];
            for (int k = 0; k < m; ++k) {
                sum -= space->B[set->pairStart + a * m + k] * moved[k];
            }
            space->reduced[r] = sum;
        }
    }
}

static void rgContact_SolvePair(rgSystem* system, const double* rhs, double* x, double* moved) {
    rgContactSpace* space = system->form;
    if (!space->G.dense) {
        memcpy(x, rhs, (size_t)system->n * sizeof(double));
        rgMatrix_Solve(&space->K, x);
    } else {
        rgReduceSide(system, space, rhs, x);
        rgMatrix_Solve(&space->K, space->reduced);
        for (int j = 0; j < space->K.n; ++j) {
            x[space->active[j]] = space->reduced[j];
        }
    }
    if (moved != NULL) {
        rgMatrix_Apply(&space->G, x, moved);
    }
}

const rgSystemOps rgContactOps = {
    .scale = rgContact_Scale,
    .apply = rgContact_Apply,
    .sweep = rgContact_Sweep,
    .factorShift = rgContact_FactorShift,
    .solveShift = rgContact_SolveShift,
    .factorPair = rgContact_FactorPair,
    .solvePair = rgContact_SolvePair,
    .respond = rgSystem_RespondByColumns,
    .leastShift = 1e-10,
};
