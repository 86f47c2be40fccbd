// What the judge reads off a problem by its own arithmetic: (G + R) lambda + g, the diagonal of
// G, and which blocks G couples. In velocity form from M and J; W, a solver's convenience, is
// believed only where M is not given.
#include "contact/judge.h"

#include <math.h>
#include <string.h>

static int rgFind(int* parent, int i) {
    while (parent[i] != i) {
        parent[i] = parent[parent[i]];
        i = parent[i];
    }
    return i;
}

int rgJudge_Island(rgJudgeWork* work, int block) {
    return rgFind(work->island, block);
}

static void rgUnite(int* parent, int a, int b) {
    a = rgFind(parent, a);
    b = rgFind(parent, b);
    parent[RG_MAX(a, b)] = RG_MIN(a, b);
}

// L L' = M on one part; false when M is not positive definite.
static bool rgFactorPart(rgMassPart* part) {
    int n = part->size;
    double* L = part->factor;
    for (int i = 0; i < n; ++i) {
        for (int j = 0; j <= i; ++j) {
            double sum = L[i * n + j];
            for (int k = 0; k < j; ++k) {
                sum -= L[i * n + k] * L[j * n + k];
            }
            if (i == j) {
                if (!(sum > 0)) {
                    return false;
                }
                L[i * n + i] = 1 / sqrt(sum);
            } else {
                L[i * n + j] = sum * L[j * n + j];
            }
        }
    }
    return true;
}

static void rgSolveLower(const rgMassPart* part, double* x) {
    int n = part->size;
    const double* L = part->factor;
    for (int i = 0; i < n; ++i) {
        double sum = x[i];
        for (int k = 0; k < i; ++k) {
            sum -= L[i * n + k] * x[k];
        }
        x[i] = sum * L[i * n + i];
    }
}

static void rgSolvePart(const rgMassPart* part, double* x) {
    int n = part->size;
    const double* L = part->factor;
    rgSolveLower(part, x);
    for (int i = n - 1; i >= 0; --i) {
        for (int k = i + 1; k < n; ++k) {
            x[i] -= L[k * n + i] * x[k];
        }
        x[i] *= L[i * n + i];
    }
}

static rgResult rgSplitMass(rgJudgeWork* work) {
    const rgSparse* mass = &work->problem->delassus.mass;
    int nv = mass->rowCount;
    int* parent = RG_TAKE(work->arena, int, nv);
    work->partOfVelocity = RG_TAKE(work->arena, int, nv);
    work->placeInPart = RG_TAKE(work->arena, int, nv);
    work->parts = RG_TAKE(work->arena, rgMassPart, nv);
    work->scratch = RG_TAKE(work->arena, double, nv);
    work->lastRow = RG_TAKE(work->arena, int, nv);
    if (work->arena->failed) {
        return rg_errorMemory;
    }
    for (int i = 0; i < nv; ++i) {
        parent[i] = i;
    }
    const int* tree = work->problem->delassus.tree;
    for (int i = 1; tree != NULL && i < nv; ++i) {
        parent[i] = tree[i] == tree[i - 1] ? parent[i - 1] : i;
    }
    for (int i = 0; tree == NULL && i < nv; ++i) {
        for (int k = mass->rowStart[i]; k < mass->rowStart[i + 1] && mass->column[k] < i; ++k) {
            rgUnite(parent, i, mass->column[k]);
        }
    }
    for (int i = 0; i < nv; ++i) {
        if (rgFind(parent, i) == i) {
            work->partOfVelocity[i] = work->partCount;
            work->lastRow[work->partCount] = -1;
            work->parts[work->partCount++] = (rgMassPart){0};
        }
        int part = work->partOfVelocity[rgFind(parent, i)];
        work->partOfVelocity[i] = part;
        work->placeInPart[i] = work->parts[part].size++;
    }
    return rg_ok;
}

rgResult rgJudge_Prepare(rgJudgeWork* work) {
    const rgSparse* mass = &work->problem->delassus.mass;
    if (work->problem->delassus.kind != rg_delassusVelocity) {
        return rg_ok;
    }
    rgResult result = rgSplitMass(work);
    work->byMass = mass->value != NULL;
    if (result != rg_ok || !work->byMass) {
        return result;
    }
    for (int p = 0; p < work->partCount; ++p) {
        size_t size = (size_t)work->parts[p].size;
        work->parts[p].columns = RG_TAKE(work->arena, int, size);
        work->parts[p].factor = RG_TAKE(work->arena, double, size* size);
        if (work->arena->failed) {
            return rg_errorMemory;
        }
        memset(work->parts[p].factor, 0, size * size * sizeof(double));
    }
    for (int i = 0; i < mass->rowCount; ++i) {
        rgMassPart* part = work->parts + work->partOfVelocity[i];
        int row = work->placeInPart[i];
        part->columns[row] = i;
        for (int k = mass->rowStart[i]; k < mass->rowStart[i + 1]; ++k) {
            part->factor[row * part->size + work->placeInPart[mass->column[k]]] = mass->value[k];
        }
    }
    for (int p = 0; p < work->partCount; ++p) {
        if (!rgFactorPart(work->parts + p)) {
            return rg_errorNumeric;
        }
    }
    return rg_ok;
}

// x = M^-1 x for the full velocity vector.
static void rgSolveMass(rgJudgeWork* work, double* x) {
    for (int p = 0; p < work->partCount; ++p) {
        const rgMassPart* part = work->parts + p;
        for (int i = 0; i < part->size; ++i) {
            work->scratch[i] = x[part->columns[i]];
        }
        rgSolvePart(part, work->scratch);
        for (int i = 0; i < part->size; ++i) {
            x[part->columns[i]] = work->scratch[i];
        }
    }
}

// |W_k|^2 for row k
static double rgWhitenedDiagonal(const rgDelassus* delassus, int row) {
    const rgSparse* J = &delassus->jacobian;
    double sum = 0;
    for (int k = J->rowStart[row]; k < J->rowStart[row + 1]; ++k) {
        sum += delassus->whitened[k] * delassus->whitened[k];
    }
    return sum;
}

// J_k M^-1 J_k' = |L^-1 J_k'|^2 for row k: half a small solve per part that the row touches.
static double rgVelocityDiagonal(rgJudgeWork* work, int row) {
    const rgSparse* J = &work->problem->delassus.jacobian;
    int end = J->rowStart[row + 1];
    double sum = 0;
    for (int k = J->rowStart[row]; k < end; ++k) {
        int p = work->partOfVelocity[J->column[k]];
        if (work->lastRow[p] == row) {
            continue; // this part was done with an earlier entry
        }
        work->lastRow[p] = row;
        const rgMassPart* part = work->parts + p;
        memset(work->scratch, 0, (size_t)part->size * sizeof(double));
        for (int j = k; j < end; ++j) {
            if (work->partOfVelocity[J->column[j]] == p) {
                work->scratch[work->placeInPart[J->column[j]]] = J->value[j];
            }
        }
        rgSolveLower(part, work->scratch);
        for (int j = 0; j < part->size; ++j) {
            sum += work->scratch[j] * work->scratch[j];
        }
    }
    return sum;
}

double rgJudge_Diagonal(rgJudgeWork* work, int row) {
    const rgDelassus* delassus = &work->problem->delassus;
    if (delassus->kind == rg_delassusDense) {
        return delassus->matrix[(size_t)row * (size_t)work->problem->rowCount + (size_t)row];
    }
    if (delassus->kind == rg_delassusVelocity) {
        return work->byMass ? rgVelocityDiagonal(work, row) : rgWhitenedDiagonal(delassus, row);
    }
    const rgSparse* G = &delassus->sparse;
    for (int k = G->rowStart[row]; k < G->rowStart[row + 1]; ++k) {
        if (G->column[k] == row) {
            return G->value[k];
        }
    }
    return 0;
}

// y += A x and y += A' x
static void rgSparseAdd(const rgSparse* A, const double* x, double* y) {
    for (int i = 0; i < A->rowCount; ++i) {
        for (int k = A->rowStart[i]; k < A->rowStart[i + 1]; ++k) {
            y[i] += A->value[k] * x[A->column[k]];
        }
    }
}

static void rgSparseAddTransposed(const rgSparse* A, const double* x, double* y) {
    for (int i = 0; i < A->rowCount; ++i) {
        for (int k = A->rowStart[i]; k < A->rowStart[i + 1]; ++k) {
            y[A->column[k]] += A->value[k] * x[i];
        }
    }
}

rgResult rgJudge_Velocity(rgJudgeWork* work, const double* lambda, double* sigma) {
    const rgContactProblem* problem = work->problem;
    int n = problem->rowCount;
    for (int i = 0; i < n; ++i) {
        double R = problem->compliance != NULL ? problem->compliance[i] : 0;
        sigma[i] = problem->freeVelocity[i] + R * lambda[i];
    }
    switch (problem->delassus.kind) {
    case rg_delassusDense:
        for (int i = 0; i < n; ++i) {
            const double* row = problem->delassus.matrix + (size_t)i * (size_t)n;
            double sum = 0;
            for (int j = 0; j < n; ++j) {
                sum += row[j] * lambda[j];
            }
            sigma[i] += sum;
        }
        return rg_ok;
    case rg_delassusSparse:
        rgSparseAdd(&problem->delassus.sparse, lambda, sigma);
        return rg_ok;
    case rg_delassusVelocity:
        break;
    }
    rgSparse J = problem->delassus.jacobian;
    double* v = RG_TAKE(work->arena, double, J.columnCount);
    if (v == NULL) {
        return rg_errorMemory;
    }
    memset(v, 0, (size_t)J.columnCount * sizeof(double));
    if (!work->byMass) {
        J.value = problem->delassus.whitened;
    }
    rgSparseAddTransposed(&J, lambda, v);
    if (work->byMass) {
        rgSolveMass(work, v);
    }
    rgSparseAdd(&J, v, sigma);
    return rg_ok;
}

// Whether two blocks are coupled by an entry of the dense matrix.
static bool rgCoupled(const rgContactProblem* problem, const rgBlock* a, const rgBlock* b) {
    const double* G = problem->delassus.matrix;
    size_t n = (size_t)problem->rowCount;
    for (int i = a->firstRow; i < a->firstRow + a->rowCount; ++i) {
        for (int j = b->firstRow; j < b->firstRow + b->rowCount; ++j) {
            if (G[(size_t)i * n + (size_t)j] != 0) {
                return true;
            }
        }
    }
    return false;
}

static void rgUniteByMatrix(rgJudgeWork* work) {
    const rgContactProblem* problem = work->problem;
    for (int i = 0; i < problem->blockCount; ++i) {
        for (int j = 0; j < i; ++j) {
            if (rgFind(work->island, i) != rgFind(work->island, j) &&
                rgCoupled(problem, problem->blocks + i, problem->blocks + j)) {
                rgUnite(work->island, i, j);
            }
        }
    }
}

rgResult rgJudge_FindIslands(rgJudgeWork* work) {
    const rgContactProblem* problem = work->problem;
    int n = problem->rowCount;
    int* blockOf = RG_TAKE(work->arena, int, n);
    work->island = RG_TAKE(work->arena, int, problem->blockCount);
    if (work->arena->failed) {
        return rg_errorMemory;
    }
    for (int b = 0; b < problem->blockCount; ++b) {
        work->island[b] = b;
        for (int i = 0; i < problem->blocks[b].rowCount; ++i) {
            blockOf[problem->blocks[b].firstRow + i] = b;
        }
    }
    if (problem->delassus.kind == rg_delassusDense) {
        rgUniteByMatrix(work);
        return rg_ok;
    }
    if (problem->delassus.kind == rg_delassusSparse) {
        const rgSparse* G = &problem->delassus.sparse;
        for (int i = 0; i < n; ++i) {
            for (int k = G->rowStart[i]; k < G->rowStart[i + 1]; ++k) {
                if (G->value[k] != 0) {
                    rgUnite(work->island, blockOf[i], blockOf[G->column[k]]);
                }
            }
        }
        return rg_ok;
    }
    // Velocity form: rows that touch one part of the mass matrix are coupled.
    int* firstBlock = RG_TAKE(work->arena, int, work->partCount);
    int* lastBlock = RG_TAKE(work->arena, int, work->partCount);
    if (work->arena->failed) {
        return rg_errorMemory;
    }
    for (int p = 0; p < work->partCount; ++p) {
        firstBlock[p] = lastBlock[p] = -1;
    }
    const rgSparse* J = &problem->delassus.jacobian;
    for (int i = 0; i < n; ++i) {
        int last = -1; // neighbouring columns mostly belong to one part
        for (int k = J->rowStart[i]; k < J->rowStart[i + 1]; ++k) {
            int p = work->partOfVelocity[J->column[k]];
            if (p == last) {
                continue;
            }
            last = p;
            if (firstBlock[p] < 0) {
                firstBlock[p] = blockOf[i];
            } else if (lastBlock[p] != blockOf[i]) {
                rgUnite(work->island, blockOf[i], firstBlock[p]);
            }
            lastBlock[p] = blockOf[i];
        }
    }
    return rg_ok;
}
