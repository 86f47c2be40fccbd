// Contact space: G as a matrix, dense or of blocks, with a fill-reducing order.
#include "contact/problem.h"
#include "contact/tuning.h"
#include "contact/whitened.h"
#include "math/two.h"

#include <string.h>

// A block, or one row of it, that has unknowns in a Newton system; rows that are idle or follow
// others do not appear. newton.13-16.
typedef struct rgActive {
    rgJacobianKind kind; // rows: y is x of the rows; slip: y is x across t, and that of the normal
    int row;             // of the island
    int size;            // rows
    int first;           // unknown
    double t[2];         // slip
    double mu;
    const double* A; // of a block that is taken whole
    const double* B;
} rgActive;

typedef struct rgContactSpace {
    rgMatrix G;
    rgMatrix K;        // of the last factorization
    rgActive* actives; // dense: active parts of blocks in K
    int activeCount;
    const double** columns; // of G Z, by unknown
    double* slipColumns;    // those that are not columns of G
    double* diagonal;       // beside G, by unknown
    double* scale;          // of the right-hand side, by unknown
    const double* A;        // of the last pair factorization, borrowed
    const double* B;
    const rgJacobianKind* kinds;
    double eps;
    double* reduced; // 2 n scratch
    double* moved;   // n scratch
} rgContactSpace;

// Row of the system that a row of the problem has become, its block beside it; -1: takes no part.
static int rgLocalRow(const rgSystemDef* def, const rgSystem* system, int row, int* block) {
    int source = def->layout->blockOfRow[row];
    *block = def->layout->placeOfBlock[source];
    return *block < 0 ? -1
                      : system->blocks[*block].row + row - def->layout->blocks[source].firstRow;
}

// G from contact-space input, entry by entry.
static void rgFillFromRows(const rgSystemDef* def, const rgSystem* system, rgMatrix* G) {
    rgMatrix_SetDiagonal(G, 0);
    for (int i = 0; i < system->blockCount; ++i) {
        for (int r = system->blockStart[i]; r < system->blockStart[i + 1]; ++r) {
            rgGivenRow row = rgContactProblem_Row(def->problem, system->globalRow[r]);
            int j = -1, last = -1, rowStep = 0, columnStep = 0;
            double* entries = NULL;
            for (int k = row.start; k < row.end; ++k) {
                int c = row.value[k] == 0 ? -1
                                          : rgLocalRow(def, system, rgGivenRow_Column(&row, k), &j);
                if (c >= 0) {
                    entries = j == last ? entries : rgMatrix_Block(G, i, j, &rowStep, &columnStep);
                    last = j;
                    entries[(size_t)(r - system->blockStart[i]) * (size_t)rowStep +
                            (size_t)(c - system->blockStart[j]) * (size_t)columnStep] =
                        row.value[k];
                }
            }
        }
    }
}

// G = W W': the lower triangle, and the blocks on the diagonal. rgMatrix_Scale() makes the rest.
static void rgFillFromVelocity(const rgWhitened* rows, const rgSystem* system, rgMatrix* G) {
    rgMatrix_SetDiagonal(G, 0);
    system->kernels->addSelfProduct(system->n, rows->nv, rows->columns, rows->lead, G->values,
                                    G->ld);
    for (int i = 0; i < system->blockCount; ++i) {
        rgMatrix_Mirror(G, system->blockStart[i], system->blockStart[i + 1]);
    }
}

// Blocks that an entry of G couples.
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
    for (int i = 0; i < system->blockCount; ++i) {
        for (int r = system->blockStart[i]; r < system->blockStart[i + 1]; ++r) {
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
    for (int i = 0; i < system->blockCount; ++i) {
        const rgSystemBlock* block = system->blocks + i;
        int rowStep, columnStep;
        double* entries = rgMatrix_Block(&space->G, i, i, &rowStep, &columnStep);
        double* diagonal = system->diagonal + block->entryStart;
        for (int a = 0; a < block->size; ++a, entries += rowStep) {
            entries[(ptrdiff_t)a * columnStep] +=
                R != NULL ? R[system->globalRow[block->row + a]] : 0;
            for (int b = 0; b < block->size; ++b) {
                *diagonal++ = entries[(ptrdiff_t)b * columnStep];
            }
        }
    }
    system->form = space;
    system->ops = &rgContactOps;
}

rgMatrix* rgSystem_Dense(const rgSystem* system) {
    rgContactSpace* space = system->ops == &rgContactOps ? system->form : NULL;
    return space != NULL && space->G.dense ? &space->G : NULL;
}

static rgResult rgMakeContactSpace(const rgSystemDef* def, const rgSystem* system,
                                   const rgCoupling* coupling, rgContactSpace** space) {
    *space = RG_TAKE(def->arena, rgContactSpace, 1);
    if (*space == NULL) {
        return rg_errorMemory;
    }
    bool dense = coupling->count < 0;
    size_t n = (size_t)system->n, slips = 2 * (size_t)system->blockCount;
    **space = (rgContactSpace){.actives = RG_TAKE(def->arena, rgActive, dense ? n : 0),
                               .columns = RG_TAKE(def->arena, const double*, dense ? n : 0),
                               .slipColumns = RG_TAKE(def->arena, double, dense ? slips* n : 0),
                               .diagonal = RG_TAKE(def->arena, double, dense ? n : 0),
                               .scale = RG_TAKE(def->arena, double, dense ? n : 0),
                               .reduced = RG_TAKE(def->arena, double, 2 * n),
                               .moved = RG_TAKE(def->arena, double, n)};
    rgResult result =
        rgMatrix_Init(&(*space)->G, coupling, system->kernels, def->factor, def->arena);
    if (result == rg_ok) {
        result = rgMatrix_InitLike(&(*space)->K, &(*space)->G, def->arena);
    }
    return def->arena->failed ? rg_errorMemory : result;
}

rgResult rgMakeDense(const rgSystemDef* def, const rgWhitened* rows, rgSystem* system) {
    rgContactSpace* space;
    rgCoupling all = {system->blockCount, system->blockStart, -1, NULL, NULL};
    rgResult result = rgMakeContactSpace(def, system, &all, &space);
    if (result == rg_ok && rows != NULL) {
        rgFillFromVelocity(rows, system, &space->G);
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
    rgCoupling coupling = {system->blockCount, system->blockStart, 0, NULL, NULL};
    rgResult result = rgFindCoupling(def, system, &coupling);
    if (result == rg_ok) {
        result = rgMakeContactSpace(def, system, &coupling, &space);
    }
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

static void rgContact_GaussSeidel(rgSystem* system, double* lambda, double* sigma,
                                  double relaxation) {
    const rgContactSpace* space = system->form;
    double own[RG_BLOCK_ROWS], change[RG_BLOCK_ROWS];
    for (int i = 0; i < system->blockCount; ++i) {
        const rgSystemBlock* block = system->blocks + i;
        memcpy(own, sigma + block->row, (size_t)block->size * sizeof(double));
        if (rgGaussSeidelBlock(system, block, relaxation, lambda + block->row, own, change)) {
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
static void rgFillSparseNewton(const rgSystem* system, rgContactSpace* space, const double* A) {
    for (int i = 0; i < system->blockCount; ++i) {
        const rgSystemBlock* block = system->blocks + i;
        for (int k = space->K.rowStart[i]; k < space->K.rowStart[i + 1]; ++k) {
            int j = space->K.column[k], columns = system->blocks[j].size;
            double* target = space->K.blocks[k];
            if (space->kinds[i] == rg_jacobianIdle) {
                memset(target, 0, (size_t)(block->size * columns) * sizeof(double));
            } else {
                system->kernels->transformRows(block->size, columns, space->B + block->entryStart,
                                               space->G.blocks[k], target);
            }
            for (int e = 0; e < block->size * block->size && j == i; ++e) {
                target[e] += A[block->entryStart + e];
            }
        }
    }
}

// newton.13: Rows that are equations of their own, divided by B: all of a block, or one by one.
static int rgListRows(rgContactSpace* space, const rgSystemBlock* block, const double* A,
                      const double* B, int first, double eps) {
    int count = 0, actives = space->activeCount;
    for (int r = 0, at = 0; r < block->size; ++r, at += block->size + 1) {
        if (B[at] != 0) {
            space->actives[actives + count] = (rgActive){
                .kind = rg_jacobianRows, .row = block->row + r, .size = 1, .first = first + count};
            space->diagonal[first + count] = (A[at] + eps) / B[at];
            space->scale[first + count] = 1 / B[at];
            count += 1;
        }
    }
    bool all = count == block->size;
    space->actives[actives].size = all ? count : 1;
    space->activeCount += all ? 1 : count;
    return count;
}

// newton.14: Slip: across t, and the normal, which takes the impulse along t with it.
static int rgListSlip(rgContactSpace* space, const rgSystemBlock* block, const double* A,
                      const double* B, int first, double eps) {
    rgSlip slip = rgSlip_Of(block, A, B);
    space->actives[space->activeCount++] = (rgActive){.kind = rg_jacobianSlip,
                                                      .row = block->row,
                                                      .size = 3,
                                                      .first = first,
                                                      .t = {slip.t[0], slip.t[1]},
                                                      .mu = block->mu};
    space->diagonal[first] = (slip.A + eps) / slip.B;
    space->scale[first] = 1 / slip.B;
    space->diagonal[first + 1] = (A[8] + eps) / B[8];
    space->scale[first + 1] = 1 / B[8];
    return 2;
}

// Any other block as it is.
static int rgListWhole(rgContactSpace* space, const rgSystemBlock* block, const double* A,
                       const double* B, int first, double eps) {
    space->actives[space->activeCount++] = (rgActive){.kind = rg_jacobianWhole,
                                                      .row = block->row,
                                                      .size = block->size,
                                                      .first = first,
                                                      .A = A,
                                                      .B = B};
    for (int r = 0; r < block->size; ++r) {
        space->diagonal[first + r] = eps;
    }
    return block->size;
}

// Unknowns of the blocks that are not idle; true when K will be symmetric.
static bool rgListUnknowns(const rgSystem* system, rgContactSpace* space, const double* A,
                           double eps) {
    int count = 0;
    bool symmetric = true;
    space->activeCount = 0;
    for (int i = 0; i < system->blockCount; ++i) {
        const rgSystemBlock* block = system->blocks + i;
        const double *a = A + block->entryStart, *b = space->B + block->entryStart;
        rgJacobianKind kind = space->kinds[i];
        count += kind == rg_jacobianIdle   ? 0
                 : kind == rg_jacobianRows ? rgListRows(space, block, a, b, count, eps)
                 : kind == rg_jacobianSlip ? rgListSlip(space, block, a, b, count, eps)
                                           : rgListWhole(space, block, a, b, count, eps);
        symmetric = symmetric && (kind == rg_jacobianIdle || kind == rg_jacobianRows);
    }
    rgMatrix_Resize(&space->K, count);
    return symmetric;
}

// Rows B x of a block with general Jacobians.
static void rgActive_Transform(const rgActive* active, int count, const double* const* columns,
                               double* y, size_t ld) {
    const double* B = active->B;
    int m = active->size;
    if (m == 3) {
        rgTwo first = {B[0], B[3]}, second = {B[1], B[4]}, third = {B[2], B[5]};
        for (int c = 0; c < count; ++c, y += ld) {
            const double* own = columns[c] + active->row;
            rgStoreTwo(y, first * own[0] + second * own[1] + third * own[2]);
            y[2] = B[6] * own[0] + B[7] * own[1] + B[8] * own[2];
        }
        return;
    }
    for (int c = 0; c < count; ++c, y += ld) {
        const double* own = columns[c] + active->row;
        for (int r = 0; r < m; ++r) {
            double sum = B[r * m] * own[0];
            for (int k = 1; k < m; ++k) {
                sum += B[r * m + k] * own[k];
            }
            y[r] = sum;
        }
    }
}

// Rows of L X of newton.15 that belong to an active block.
static void rgActive_Reduce(const rgActive* active, int count, const double* const* columns,
                            double* y, size_t ld) {
    int row = active->row;
    y += active->first;
    if (active->kind == rg_jacobianWhole) {
        rgActive_Transform(active, count, columns, y, ld);
    } else if (active->kind == rg_jacobianSlip) {
        double t0 = active->t[0], t1 = active->t[1];
        for (int c = 0; c < count; ++c, y += ld) {
            const double* own = columns[c] + row;
            y[0] = t0 * own[1] - t1 * own[0];
            y[1] = own[2];
        }
    } else if (active->size == 3) {
        for (int c = 0; c < count; ++c, y += ld) {
            const double* own = columns[c] + row;
            rgStoreTwo(y, rgLoadTwo(own));
            y[2] = own[2];
        }
    } else {
        for (int c = 0; c < count; ++c, y += ld) {
            memcpy(y, columns[c] + row, (size_t)active->size * sizeof(double));
        }
    }
}

// G times the two columns of Z that a slipping contact has.
static void rgSlipColumns(const rgMatrix* G, const rgActive* active, double* restrict across,
                          double* restrict normal) {
    size_t ld = (size_t)G->ld;
    const double *x = G->values + (size_t)active->row * ld, *y = x + ld, *z = y + ld;
    double t0 = active->t[0], t1 = active->t[1], mu = active->mu;
    for (int i = 0; i < G->n; ++i) {
        across[i] = t0 * y[i] - t1 * x[i];
        normal[i] = mu * (t0 * x[i] + t1 * y[i]) + z[i];
    }
}

// G Z of newton.15
static void rgFindColumns(rgContactSpace* space) {
    size_t stride = (size_t)space->G.ld, n = (size_t)space->G.n;
    double* own = space->slipColumns;
    for (int i = 0; i < space->activeCount; ++i) {
        const rgActive* active = space->actives + i;
        const double** columns = space->columns + active->first;
        if (active->kind == rg_jacobianSlip) {
            rgSlipColumns(&space->G, active, own, own + n);
            columns[0] = own;
            columns[1] = own + n;
            own += 2 * n;
            continue;
        }
        for (int r = 0; r < active->size; ++r) {
            columns[r] = space->G.values + (size_t)(active->row + r) * stride;
        }
    }
}

// newton.15: Where K is symmetric, the lower triangle alone, and the blocks on the diagonal.
static void rgFillDenseNewton(rgContactSpace* space, bool symmetric) {
    size_t ld = (size_t)space->K.ld;
    double* K = space->K.values;
    rgFindColumns(space);
    for (int i = 0; i < space->activeCount; ++i) {
        const rgActive* active = space->actives + i;
        int first = active->first, m = active->size;
        rgActive_Reduce(active, symmetric ? first + m : space->K.n, space->columns, K, ld);
        for (int e = 0; e < m * m && active->kind == rg_jacobianWhole; ++e) {
            K[(size_t)(first + e % m) * ld + (size_t)(first + e / m)] += active->A[e];
        }
    }
    for (int j = 0; j < space->K.n; ++j) {
        K[(size_t)j * (ld + 1)] += space->diagonal[j];
    }
}

static rgResult rgContact_FactorNewton(rgSystem* system, const double* A, const double* B,
                                       const rgJacobianKind* kinds, double eps) {
    rgContactSpace* space = system->form;
    system->factorizationCount += 1;
    space->A = A;
    space->B = B;
    space->kinds = kinds;
    space->eps = eps;
    if (!space->G.dense) {
        rgFillSparseNewton(system, space, A);
        return rgMatrix_Lu(&space->K, eps);
    }
    bool symmetric = rgListUnknowns(system, space, A, eps);
    rgFillDenseNewton(space, symmetric);
    return symmetric ? rgMatrix_Cholesky(&space->K, 0) : rgMatrix_Lu(&space->K, 0);
}

// newton.14: Known parts of the solution: idle rows, and of slip the impulse along t beyond mu
// times the normal one. True when there is any.
static bool rgFindKnownSlip(const rgSystem* system, const rgContactSpace* space, const double* rhs,
                            double* x) {
    bool any = false;
    double share = 1 / (1 + space->eps);
    for (int i = 0; i < system->blockCount; ++i) {
        const rgSystemBlock* block = system->blocks + i;
        const double *B = space->B + block->entryStart, *b = rhs + block->row;
        double* own = x + block->row;
        for (int r = 0; r < block->size; ++r) {
            bool known = space->kinds[i] == rg_jacobianIdle ||
                         (space->kinds[i] == rg_jacobianRows && B[r * (block->size + 1)] == 0);
            own[r] = known ? share * b[r] : 0;
            any = any || own[r] != 0;
        }
        if (space->kinds[i] == rg_jacobianSlip) {
            rgSlip slip = rgSlip_Of(block, space->A + block->entryStart, B);
            double along = share * (slip.t[0] * b[0] + slip.t[1] * b[1] - block->mu * b[2]);
            own[0] = along * slip.t[0];
            own[1] = along * slip.t[1];
            any = any || along != 0;
        }
    }
    return any;
}

// b' of newton.16: the right-hand sides of the unknowns, without the known parts.
static void rgReduceSide(const rgContactSpace* space, const double* rhs, double* y) {
    for (int i = 0; i < space->activeCount; ++i) {
        const rgActive* active = space->actives + i;
        const double *b = rhs + active->row, *scale = space->scale + active->first;
        double* to = y + active->first;
        if (active->kind == rg_jacobianSlip) {
            to[0] = scale[0] * (active->t[0] * b[1] - active->t[1] * b[0]);
            to[1] = scale[1] * b[2];
        } else {
            for (int r = 0; r < active->size; ++r) {
                to[r] = active->kind == rg_jacobianWhole ? b[r] : scale[r] * b[r];
            }
        }
    }
}

// x += Z y of newton.16
static void rgExpandSolution(const rgContactSpace* space, const double* y, double* x) {
    for (int i = 0; i < space->activeCount; ++i) {
        const rgActive* active = space->actives + i;
        const double* own = y + active->first;
        double* to = x + active->row;
        if (active->kind == rg_jacobianSlip) {
            double along = active->mu * own[1];
            to[0] += along * active->t[0] - active->t[1] * own[0];
            to[1] += along * active->t[1] + active->t[0] * own[0];
            to[2] += own[1];
        } else {
            for (int r = 0; r < active->size; ++r) {
                to[r] += own[r];
            }
        }
    }
}

// newton.16: Rows that follow from the known parts.
static void rgSolveDenseNewton(const rgSystem* system, rgContactSpace* space, const double* rhs,
                               double* x) {
    double *moved = space->moved, *y = space->reduced, *left = y + system->n;
    bool any = rgFindKnownSlip(system, space, rhs, x);
    rgReduceSide(space, rhs, y);
    if (any) {
        rgMatrix_Apply(&space->G, x, moved);
    }
    for (int i = 0; i < space->activeCount && any; ++i) {
        rgActive_Reduce(space->actives + i, 1, &(const double*){moved}, left, 0);
    }
    for (int j = 0; j < space->K.n && any; ++j) {
        y[j] -= left[j];
    }
    rgMatrix_Solve(&space->K, y);
    rgExpandSolution(space, y, x);
}

static void rgContact_SolveNewton(rgSystem* system, const double* rhs, double* x, double* moved) {
    rgContactSpace* space = system->form;
    if (!space->G.dense) {
        memcpy(x, rhs, (size_t)system->n * sizeof(double));
        rgMatrix_Solve(&space->K, x);
    } else {
        rgSolveDenseNewton(system, space, rhs, x);
    }
    if (moved != NULL) {
        rgMatrix_Apply(&space->G, x, moved);
    }
}

const rgSystemOps rgContactOps = {
    .scale = rgContact_Scale,
    .apply = rgContact_Apply,
    .gaussSeidel = rgContact_GaussSeidel,
    .factorShift = rgContact_FactorShift,
    .solveShift = rgContact_SolveShift,
    .factorNewton = rgContact_FactorNewton,
    .solveNewton = rgContact_SolveNewton,
    .respond = rgSystem_RespondByColumns,
};
