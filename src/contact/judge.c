// The judge: how far are given impulses from a solution? It reads the problem and lambda, nothing
// else, and shares no code with a solver; its own small loops favour plainness over speed.
// docs/theory/ncp.md (9)-(13).
#include "contact/problem.h"

#include <math.h>
#include <string.h>

// A mass matrix splits into parts (bodies, trees) that its entries connect; each is kept as a dense
// factor.
typedef struct rgMassPart {
    int size;
    int* columns;   // velocities of this part, ascending
    double* factor; // size x size, lower Cholesky factor, row-major, diagonal inverted
} rgMassPart;

typedef struct rgJudgeWork {
    const rgContactProblem* problem;
    rgArena* arena;
    double* lambda;   // projected impulses, n
    double* sigma;    // (G + R) lambda + g, n
    double* diagonal; // of G + R, n
    int* island;      // representative block of each block's island
    double* scale;    // c of each island, kept at its representative
    int partCount;    // velocity form only
    rgMassPart* parts;
    int* partOfVelocity; // nv
    int* placeInPart;    // nv
    int* lastRow;        // last row that touched a part
    double* scratch;     // nv
} rgJudgeWork;

static int rgFind(int* parent, int i) {
    while (parent[i] != i) {
        parent[i] = parent[parent[i]];
        i = parent[i];
    }
    return i;
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

static rgResult rgFactorMass(rgJudgeWork* work) {
    const rgSparse* mass = &work->problem->delassus.mass;
    rgResult result = rgSplitMass(work);
    if (result != rg_ok || work->problem->delassus.whitened != NULL) {
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

static double rgDiagonalEntry(rgJudgeWork* work, int row) {
    const rgDelassus* delassus = &work->problem->delassus;
    if (delassus->kind == rg_delassusDense) {
        return delassus->matrix[(size_t)row * (size_t)work->problem->rowCount + (size_t)row];
    }
    if (delassus->kind == rg_delassusVelocity) {
        return delassus->whitened != NULL ? rgWhitenedDiagonal(delassus, row)
                                          : rgVelocityDiagonal(work, row);
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

// (1) sigma = (G + R) lambda + g
static rgResult rgComputeVelocity(rgJudgeWork* work, const double* lambda, double* sigma) {
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
    if (problem->delassus.whitened != NULL) {
        J.value = problem->delassus.whitened;
        rgSparseAddTransposed(&J, lambda, v);
    } else {
        rgSparseAddTransposed(&J, lambda, v);
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

// Blocks that an entry of G couples belong to one island.
static rgResult rgFindIslands(rgJudgeWork* work) {
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
    if (work->arena->failed) {
        return rg_errorMemory;
    }
    for (int p = 0; p < work->partCount; ++p) {
        firstBlock[p] = -1;
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
            }
            rgUnite(work->island, blockOf[i], firstBlock[p]);
        }
    }
    return rg_ok;
}

// Is lambda = 0 wrong for this row of a half line, box or free block?
static bool rgZeroViolates(const rgBlock* block, double g) {
    switch (block->kind) {
    case rg_blockFree:
        return g != 0;
    case rg_blockHalfLine:
        return g < 0;
    default:
        return RG_MIN(RG_MAX(-g, block->lower), block->upper) != 0;
    }
}

// s of a row: one for the three rows of a contact, one per row elsewhere. Rows that nothing moves
// keep 1.
static double rgRowScale(const rgJudgeWork* work, const rgBlock* block, int i) {
    const double* d = work->diagonal + block->firstRow;
    double mean = block->kind == rg_blockCoulomb && i < 3 ? (d[0] + d[1] + d[2]) / 3 : d[i];
    return mean > 0 ? 1 / sqrt(mean) : 1;
}

// Largest |S g| of a block over the rows that lambda = 0 does not satisfy; 0 when it satisfies all.
static double rgBlockDemand(const rgJudgeWork* work, const rgBlock* block, bool all) {
    const double* g = work->problem->freeVelocity + block->firstRow;
    double demand = 0;
    bool open = block->kind == rg_blockCoulomb && !(g[2] < 0) && !all;
    int rows = block->kind == rg_blockCoulomb ? 3 : block->rowCount;
    for (int i = 0; i < rows && !open; ++i) {
        if (all || block->kind == rg_blockCoulomb || rgZeroViolates(block, g[i])) {
            demand = fmax(demand, rgRowScale(work, block, i) * fabs(g[i]));
        }
        if (block->kind == rg_blockBox) {
            double nearest = RG_MIN(RG_MAX(0, block->lower), block->upper);
            demand = fmax(demand, fabs(nearest) / rgRowScale(work, block, i));
        }
    }
    return demand;
}

// (10) c of every island. Where lambda = 0 is the solution any scale will do: take the largest |S
// g|.
static void rgScaleIslands(rgJudgeWork* work) {
    const rgContactProblem* problem = work->problem;
    double* all = RG_TAKE(work->arena, double, problem->blockCount);
    if (all == NULL) {
        return;
    }
    for (int b = 0; b < problem->blockCount; ++b) {
        work->scale[b] = 0;
        all[b] = 0;
    }
    for (int b = 0; b < problem->blockCount; ++b) {
        int island = rgFind(work->island, b);
        const rgBlock* block = problem->blocks + b;
        work->scale[island] = fmax(work->scale[island], rgBlockDemand(work, block, false));
        all[island] = fmax(all[island], rgBlockDemand(work, block, true));
    }
    for (int b = 0; b < problem->blockCount; ++b) {
        double demand = work->scale[b] > 0 ? work->scale[b] : all[b];
        work->scale[b] = demand > 0 ? 1 / demand : 1;
    }
}

static void rgTakeMax(double* target, double value) {
    // A NaN must not vanish in a comparison.
    if (!(value <= *target)) {
        *target = value;
    }
}

// Distance of u to the dual cone mu |u_t| <= u_n, largest component.
static double rgDualDistance(double mu, const double* u) {
    double t = sqrt(u[0] * u[0] + u[1] * u[1]);
    if (mu * t <= u[2]) {
        return 0;
    }
    // Nearest point of the dual cone: the tip, or the ray (t, mu t) / (1 + mu^2).
    double along = (t + mu * u[2]) / (1 + mu * mu);
    if (along <= 0 || t == 0) {
        return fmax(fmax(fabs(u[0]), fabs(u[1])), fabs(u[2]));
    }
    double k = along / t;
    double tangential = fmax(fabs(u[0] - k * u[0]), fabs(u[1] - k * u[1]));
    return fmax(tangential, fabs(u[2] - mu * along));
}

// (11)-(13) One contact, in units given by a (for lambda) and b (for sigma).
static void rgJudgeContact(const rgBlock* block, rgContactModel model, const double* lambda,
                           const double* sigma, const double* a, const double* b,
                           rgResidual* residual) {
    double l[3] = {a[0] * lambda[0], a[0] * lambda[1], a[0] * lambda[2]};
    double u[3] = {b[0] * sigma[0], b[0] * sigma[1], b[0] * sigma[2]};
    if (model == rg_modelNcp) {
        u[2] += block->mu * sqrt(u[0] * u[0] + u[1] * u[1]);
    }
    rgTakeMax(&residual->dual, rgDualDistance(block->mu, u));
    rgTakeMax(&residual->complementarity, fabs(l[0] * u[0] + l[1] * u[1] + l[2] * u[2]));
    for (int i = 3; i < block->rowCount; ++i) {
        double bound = a[i] * (i == 3 ? block->muTorsion : block->muRolling) * lambda[2];
        double x = a[i] * lambda[i];
        double y = x - b[i] * sigma[i];
        rgTakeMax(&residual->cone, fabs(x - RG_MIN(RG_MAX(y, -bound), bound)));
    }
}

static void rgJudgeRow(const rgBlock* block, double lambda, double sigma, double a, double b,
                       rgResidual* residual) {
    double x = a * lambda;
    double y = b * sigma;
    switch (block->kind) {
    case rg_blockFree:
        rgTakeMax(&residual->cone, fabs(y));
        break;
    case rg_blockHalfLine:
        rgTakeMax(&residual->dual, y < 0 ? -y : y * 0);
        rgTakeMax(&residual->complementarity, fabs(x * y));
        break;
    default: {
        double low = a * block->lower;
        double high = a * block->upper;
        rgTakeMax(&residual->cone, fabs(x - RG_MIN(RG_MAX(x - y, low), high)));
        break;
    }
    }
}

static void rgJudgeBlock(const rgJudgeWork* work, int index, rgContactModel model, bool scaled,
                         rgResidual* residual) {
    const rgBlock* block = work->problem->blocks + index;
    const double* lambda = work->lambda + block->firstRow;
    const double* sigma = work->sigma + block->firstRow;
    double c = scaled ? work->scale[rgFind(work->island, index)] : 1;
    if (block->kind == rg_blockCoulomb) {
        double a[6], b[6];
        for (int i = 0; i < block->rowCount; ++i) {
            double s = scaled ? rgRowScale(work, block, i) : 1;
            a[i] = c / s;
            b[i] = c * s;
        }
        rgJudgeContact(block, model, lambda, sigma, a, b, residual);
        return;
    }
    for (int i = 0; i < block->rowCount; ++i) {
        double s = scaled ? rgRowScale(work, block, i) : 1;
        rgJudgeRow(block, lambda[i], sigma[i], c / s, c * s, residual);
    }
}

static void rgJudgeAll(const rgJudgeWork* work, rgContactModel model, bool scaled,
                       rgResidual* residual) {
    *residual = (rgResidual){0};
    for (int b = 0; b < work->problem->blockCount; ++b) {
        rgJudgeBlock(work, b, model, scaled, residual);
    }
    rgTakeMax(&residual->total, residual->cone);
    rgTakeMax(&residual->total, residual->dual);
    rgTakeMax(&residual->total, residual->complementarity);
}

// Nearest number of an interval; what is not a number stays so.
static double rgInto(double x, double low, double high) {
    return x < low ? low : x > high ? high : x;
}

// Put impulses into K, by the judge's own arithmetic.
static void rgPutIntoSet(const rgBlock* block, double* x) {
    if (block->kind == rg_blockCoulomb) {
        double t = sqrt(x[0] * x[0] + x[1] * x[1]);
        if (t > block->mu * x[2]) {
            double along = (block->mu * t + x[2]) / (1 + block->mu * block->mu);
            double normal = along > 0 ? along : 0;
            double k = t > 0 ? block->mu * normal / t : 0;
            x[0] *= k;
            x[1] *= k;
            x[2] = normal;
        }
        for (int i = 3; i < block->rowCount; ++i) {
            double bound = (i == 3 ? block->muTorsion : block->muRolling) * x[2];
            x[i] = rgInto(x[i], -bound, bound);
        }
        return;
    }
    for (int i = 0; i < block->rowCount; ++i) {
        if (block->kind == rg_blockHalfLine) {
            x[i] = rgInto(x[i], 0, INFINITY);
        } else if (block->kind == rg_blockBox) {
            x[i] = rgInto(x[i], block->lower, block->upper);
        }
    }
}

rgResult rgJudge(const rgContactProblem* problem, rgContactModel model, const double* lambda,
                 rgArena* arena, rgResidual* scaled, rgResidual* si) {
    int n = problem->rowCount;
    rgJudgeWork work = {.problem = problem, .arena = arena};
    work.lambda = RG_TAKE(arena, double, n);
    work.sigma = RG_TAKE(arena, double, n);
    work.diagonal = RG_TAKE(arena, double, n);
    work.scale = RG_TAKE(arena, double, problem->blockCount);
    if (arena->failed) {
        return rg_errorMemory;
    }
    if (n > 0) {
        memcpy(work.lambda, lambda, (size_t)n * sizeof(double));
    }
    for (int b = 0; b < problem->blockCount; ++b) {
        rgPutIntoSet(problem->blocks + b, work.lambda + problem->blocks[b].firstRow);
    }
    bool velocity = problem->delassus.kind == rg_delassusVelocity;
    rgResult result = velocity ? rgFactorMass(&work) : rg_ok;
    if (result == rg_ok) {
        result = rgComputeVelocity(&work, work.lambda, work.sigma);
    }
    if (result == rg_ok) {
        result = rgFindIslands(&work);
    }
    if (result != rg_ok) {
        return result;
    }
    for (int i = 0; i < n; ++i) {
        double R = problem->compliance != NULL ? problem->compliance[i] : 0;
        work.diagonal[i] = rgDiagonalEntry(&work, i) + R;
    }
    rgScaleIslands(&work);
    if (arena->failed) {
        return rg_errorMemory;
    }
    if (scaled != NULL) {
        rgJudgeAll(&work, model, true, scaled);
    }
    if (si != NULL) {
        rgJudgeAll(&work, model, false, si);
    }
    return rg_ok;
}

rgResult rgContactProblem_Judge(const rgContactProblem* problem, rgContactModel model,
                                const double* lambda, rgResidual* scaled, rgResidual* si) {
    rgResult result = rgContactProblem_Check(problem, NULL);
    if (result != rg_ok || (lambda == NULL && problem->rowCount > 0)) {
        return rg_errorArgument;
    }
    rgArena arena;
    rgArena_Init(&arena, NULL);
    result = rgJudge(problem, model, lambda, &arena, scaled, si);
    rgArena_Free(&arena);
    return result;
}

double rgContactProblem_Residual(const rgContactProblem* problem, const double* lambda) {
    rgResidual residual = {.total = NAN};
    rgResult result = rgContactProblem_Judge(problem, rg_modelNcp, lambda, &residual, NULL);
    return result == rg_ok ? residual.total : NAN;
}

rgResult rgJudgeVelocity(const rgContactProblem* problem, const double* lambda, rgArena* arena,
                         double* sigma) {
    rgJudgeWork work = {.problem = problem, .arena = arena};
    bool velocity = problem->delassus.kind == rg_delassusVelocity;
    rgResult result = velocity ? rgFactorMass(&work) : rg_ok;
    return result == rg_ok ? rgComputeVelocity(&work, lambda, sigma) : result;
}

rgResult rgContactProblem_Velocity(const rgContactProblem* problem, const double* lambda,
                                   double* sigma) {
    rgResult result = rgContactProblem_Check(problem, NULL);
    if (result != rg_ok || (problem->rowCount > 0 && (lambda == NULL || sigma == NULL))) {
        return rg_errorArgument;
    }
    rgArena arena;
    rgArena_Init(&arena, NULL);
    result = rgJudgeVelocity(problem, lambda, &arena, sigma);
    rgArena_Free(&arena);
    return result;
}
