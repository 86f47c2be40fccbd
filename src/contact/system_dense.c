// Contact space, dense: G as one column-major matrix.
#include "contact/system.h"

#include <string.h>

static void rgGatherDense(const rgSystemDef* def, rgSystem* system) {
    const double* matrix = def->problem->delassus.matrix;
    size_t n = (size_t)def->problem->rowCount;
    for (int j = 0; j < system->n; ++j) {
        const double* row = matrix + (size_t)system->globalRow[j] * n; // symmetric: row = column
        double* column = system->G + (size_t)j * (size_t)system->ld;
        for (int i = 0; i < system->n; ++i) {
            column[i] = row[system->globalRow[i]];
        }
    }
}

static void rgGatherSparse(const rgSystemDef* def, rgSystem* system) {
    const rgSparse* G = &def->problem->delassus.sparse;
    for (int j = 0; j < system->n; ++j) {
        double* column = system->G + (size_t)j * (size_t)system->ld;
        memset(column, 0, (size_t)system->n * sizeof(double));
        int row = system->globalRow[j];
        for (int k = G->rowStart[row]; k < G->rowStart[row + 1]; ++k) {
            if (G->value[k] != 0) {
                column[def->layout->localRow[G->column[k]]] = G->value[k];
            }
        }
    }
}

// G = W W': transposed for the kernel, lower triangle, then the mirror image.
static rgResult rgGatherVelocity(rgSystem* system) {
    int n = system->n;
    memset(system->G, 0, (size_t)system->ld * (size_t)n * sizeof(double));
    if (system->nv == 0) {
        return rg_ok;
    }
    size_t stride = (size_t)system->parts[0].stride;
    rgArenaMark mark = rgArena_Mark(system->arena);
    double* columns = RG_TAKE(system->arena, double, (size_t)system->ld*(size_t)system->nv);
    if (columns == NULL) {
        return rg_errorMemory;
    }
    for (int i = 0; i < n; ++i) {
        const double* row = system->W + (size_t)i * stride;
        for (int v = 0; v < system->nv; ++v) {
            columns[(size_t)v * (size_t)system->ld + (size_t)i] = row[v];
        }
    }
    system->kernels->addSelfProduct(n, system->nv, columns, system->ld, system->G, system->ld);
    for (int j = 0; j < n; ++j) {
        for (int i = j + 1; i < n; ++i) {
            system->G[(size_t)i * (size_t)system->ld + (size_t)j] =
                system->G[(size_t)j * (size_t)system->ld + (size_t)i];
        }
    }
    rgArena_Return(system->arena, mark);
    return rg_ok;
}

rgResult rgBuildDense(const rgSystemDef* def, rgSystem* system) {
    const rgContactProblem* problem = def->problem;
    int n = system->n;
    system->ld = rgLeadingDimension(n);
    size_t entries = (size_t)system->ld * (size_t)n;
    system->G = RG_TAKE(def->arena, double, entries);
    system->K = RG_TAKE(def->arena, double, entries);
    system->pivot = RG_TAKE(def->arena, int, n);
    system->active = RG_TAKE(def->arena, int, n);
    system->impulse = RG_TAKE(def->arena, double, n);
    if (def->arena->failed) {
        return rg_errorMemory;
    }
    rgResult result = rg_ok;
    switch (problem->delassus.kind) {
    case rg_delassusDense:
        rgGatherDense(def, system);
        break;
    case rg_delassusSparse:
        rgGatherSparse(def, system);
        break;
    case rg_delassusVelocity:
        result = rgGatherVelocity(system);
        system->linkCount = 0; // from here on a contact-space system
        break;
    }
    if (result != rg_ok) {
        return result;
    }
    for (int i = 0; problem->compliance != NULL && i < n; ++i) {
        system->G[(size_t)i * (size_t)system->ld + (size_t)i] +=
            problem->compliance[system->globalRow[i]];
    }
    for (int i = 0; i < system->setCount; ++i) {
        const rgSet* set = system->sets + i;
        for (int a = 0; a < set->size; ++a) {
            for (int b = 0; b < set->size; ++b) {
                system->diagonal[set->pairStart + a * set->size + b] =
                    system->G[(size_t)(set->row + b) * (size_t)system->ld + (size_t)(set->row + a)];
            }
        }
    }
    double size = n;
    system->ops = &rgDenseOps;
    system->applyFlops = 2 * size * size;
    system->sweepFlops = 2 * size * size;
    system->shiftFlops = size * size * size / 3;
    system->pairFlops = 2 * size * size * size / 3;
    return rg_ok;
}

static void rgDense_Apply(rgSystem* system, const double* x, double* y) {
    system->kernels->multiply(system->n, system->n, system->G, system->ld, x, y);
}

static void rgDense_Sweep(rgSystem* system, double* lambda, double* sigma, double relaxation) {
    double own[RG_SET_MAX];
    double change[RG_SET_MAX];
    for (int i = 0; i < system->setCount; ++i) {
        const rgSet* set = system->sets + i;
        memcpy(own, sigma + set->row, (size_t)set->size * sizeof(double));
        if (!rgSweepSet(set, system->diagonal + set->pairStart, system->model, relaxation,
                        lambda + set->row, own, change)) {
            continue;
        }
        for (int k = 0; k < set->size; ++k) {
            if (change[k] != 0) {
                system->kernels->axpy(system->n, change[k],
                                      system->G + (size_t)(set->row + k) * (size_t)system->ld,
                                      sigma);
            }
        }
    }
}

static rgResult rgDense_FactorShift(rgSystem* system, double shift) {
    int n = system->n;
    system->factorizationCount += 1;
    memcpy(system->K, system->G, (size_t)system->ld * (size_t)n * sizeof(double));
    for (int i = 0; i < n; ++i) {
        system->K[(size_t)i * (size_t)system->ld + (size_t)i] += shift;
    }
    return system->kernels->cholesky(n, system->K, system->ld) ? rg_ok : rg_errorNumeric;
}

static void rgDense_SolveShift(rgSystem* system, double* x) {
    system->kernels->choleskySolve(system->n, system->K, system->ld, x);
}

// Rows of K = A + eps I + B G for the sets that are not idle.
static void rgDense_FillPair(rgSystem* system, const double* A, const double* B, double eps) {
    int lda = rgLeadingDimension(system->activeCount);
    int r = 0;
    for (int i = 0; i < system->setCount; ++i) {
        const rgSet* set = system->sets + i;
        if (system->pairIdle[i]) {
            continue;
        }
        int m = set->size;
        const double* b = B + set->pairStart;
        for (int j = 0; j < system->activeCount; ++j) {
            const double* source =
                system->G + (size_t)system->active[j] * (size_t)system->ld + set->row;
            double* target = system->K + (size_t)j * (size_t)lda + r;
            for (int a = 0; a < m; ++a) {
                double sum = 0;
                for (int k = 0; k < m; ++k) {
                    sum += b[a * m + k] * source[k];
                }
                target[a] = sum;
            }
        }
        for (int a = 0; a < m; ++a) {
            for (int k = 0; k < m; ++k) {
                system->K[(size_t)(r + k) * (size_t)lda + (size_t)(r + a)] +=
                    A[set->pairStart + a * m + k] + (a == k ? eps : 0);
            }
        }
        r += m;
    }
}

static rgResult rgDense_FactorPair(rgSystem* system, const double* A, const double* B,
                                   const bool* idle, double eps) {
    system->factorizationCount += 1;
    system->pairB = B;
    system->pairIdle = idle;
    system->activeCount = 0;
    for (int i = 0; i < system->setCount; ++i) {
        for (int k = 0; k < system->sets[i].size && !idle[i]; ++k) {
            system->active[system->activeCount++] = system->sets[i].row + k;
        }
    }
    rgDense_FillPair(system, A, B, eps);
    bool done = system->kernels->lu(system->activeCount, system->K,
                                    rgLeadingDimension(system->activeCount), system->pivot);
    return done ? rg_ok : rg_errorNumeric;
}

// Idle rows are known at once; what they do to the others moves to the right-hand side.
static void rgDense_SolvePair(rgSystem* system, const double* rhs, double* x, double* moved) {
    double* reduced = system->impulse;
    bool any = false;
    for (int i = 0; i < system->setCount; ++i) {
        const rgSet* set = system->sets + i;
        for (int k = 0; k < set->size; ++k) {
            x[set->row + k] = system->pairIdle[i] ? rhs[set->row + k] : 0;
            any = any || x[set->row + k] != 0;
        }
    }
    double* known = reduced; // what the idle rows do
    if (any) {
        rgDense_Apply(system, x, known);
    } else {
        memset(known, 0, (size_t)system->n * sizeof(double));
    }
    int r = 0;
    for (int i = 0; i < system->setCount; ++i) {
        const rgSet* set = system->sets + i;
        if (system->pairIdle[i]) {
            continue;
        }
        int m = set->size;
        const double* b = system->pairB + set->pairStart;
        double value[RG_SET_MAX];
        for (int a = 0; a < m; ++a) {
            double sum = rhs[set->row + a];
            for (int k = 0; k < m; ++k) {
                sum -= b[a * m + k] * known[set->row + k];
            }
            value[a] = sum;
        }
        memcpy(reduced + r, value,
               (size_t)m * sizeof(double)); // r <= set->row: read before written
        r += m;
    }
    system->kernels->luSolve(system->activeCount, system->K,
                             rgLeadingDimension(system->activeCount), system->pivot, reduced);
    for (int j = 0; j < system->activeCount; ++j) {
        x[system->active[j]] = reduced[j];
    }
    if (moved != NULL) {
        rgDense_Apply(system, x, moved);
    }
}

const rgSystemOps rgDenseOps = {
    .apply = rgDense_Apply,
    .sweep = rgDense_Sweep,
    .factorShift = rgDense_FactorShift,
    .solveShift = rgDense_SolveShift,
    .factorPair = rgDense_FactorPair,
    .solvePair = rgDense_SolvePair,
    .respond = rgSystem_RespondByColumns,
};
