// Contact space: G as a matrix, dense or as blocks between sets with a fill-reducing order.
#include "contact/problem.h"
#include "contact/whitened.h"

#include <string.h>

// One unknown y of a pair system and its equation, in which rows that are idle or follow others do
// not appear: left . G x + diagonal y = side, x = right y + what is known. newton.md (13)-(16).
typedef struct rgUnknown {
    int leftRow, leftCount; // where left stands in the island; one number: 1
    int rightRow, rightCount;
    double left[RG_SET_MAX];
    double right[3];
    double diagonal;
    double scale;        // side = scale left . b
    const double* block; // of a set that is taken whole: its row of A, and side = b of the row
    int blockStart;      // unknown that the row of A begins with
} rgUnknown;

typedef struct rgContactSpace {
    rgMatrix G;
    rgMatrix K;          // of the last factorization
    rgUnknown* unknowns; // dense: those that K has
    int* rows;           // where their left sides begin
    int* combined;       // those with more than one row there
    const double* A;     // of the last pair factorization, borrowed
    const double* B;
    const rgPairKind* kinds;
    double eps;
    double* reduced; // n scratch
    double* moved;   // n scratch
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
    rgSystem_PredictCosts(system);
}

rgMatrix* rgSystem_Dense(const rgSystem* system) {
    rgContactSpace* space = system->ops == &rgContactOps ? system->form : NULL;
    return space != NULL && space->G.dense ? &space->G : NULL;
}

void rgSystem_PredictCosts(rgSystem* system) {
    const rgContactSpace* space = system->form;
    system->applyFlops = system->sweepFlops = 2 * (double)space->G.entryCount;
    system->pairFlops = space->G.luFlops;
}

static rgResult rgMakeContactSpace(const rgSystemDef* def, const rgSystem* system,
                                   const rgCoupling* coupling, rgContactSpace** space) {
    *space = RG_TAKE(def->arena, rgContactSpace, 1);
    if (*space == NULL) {
        return rg_errorMemory;
    }
    bool dense = coupling->count < 0;
    **space = (rgContactSpace){.unknowns = RG_TAKE(def->arena, rgUnknown, dense ? system->n : 0),
                               .rows = RG_TAKE(def->arena, int, dense ? system->n : 0),
                               .combined = RG_TAKE(def->arena, int, dense ? system->n : 0),
                               .reduced = RG_TAKE(def->arena, double, system->n),
                               .moved = RG_TAKE(def->arena, double, system->n)};
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
            if (space->kinds[i] == rg_pairIdle) {
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

// (13) Rows that are equations of their own, divided by B.
static int rgListRows(const rgSet* set, const double* A, const double* B, double eps,
                      rgUnknown* unknowns) {
    int count = 0;
    for (int r = 0, at = 0; r < set->size; ++r, at += set->size + 1) {
        if (B[at] != 0) { // most are of this kind: left, right and blockStart stay as they are
            rgUnknown* unknown = unknowns + count++;
            unknown->leftRow = unknown->rightRow = set->row + r;
            unknown->leftCount = unknown->rightCount = 1;
            unknown->diagonal = (A[at] + eps) / B[at];
            unknown->scale = 1 / B[at];
            unknown->block = NULL;
        }
    }
    return count;
}

// (14) Slip: across t, and the normal, which takes the impulse along t with it.
static int rgListSlip(const rgSet* set, const double* A, const double* B, double eps,
                      rgUnknown* unknowns) {
    rgSlip slip = rgSlip_Of(set, A, B);
    const double* t = slip.t;
    unknowns[0] = (rgUnknown){.leftRow = set->row,
                              .leftCount = 2,
                              .left = {-t[1], t[0]},
                              .rightRow = set->row,
                              .rightCount = 2,
                              .right = {-t[1], t[0]},
                              .diagonal = (slip.A + eps) / slip.B,
                              .scale = 1 / slip.B};
    unknowns[1] = (rgUnknown){.leftRow = set->row + 2,
                              .leftCount = 1,
                              .rightRow = set->row,
                              .rightCount = 3,
                              .right = {set->mu * t[0], set->mu * t[1], 1},
                              .diagonal = (A[8] + eps) / B[8],
                              .scale = 1 / B[8]};
    return 2;
}

// Any other set as it is.
static int rgListWhole(const rgSet* set, const double* A, const double* B, double eps, int first,
                       rgUnknown* unknowns) {
    int m = set->size;
    for (int r = 0; r < m; ++r) {
        unknowns[r] = (rgUnknown){.leftRow = set->row,
                                  .leftCount = m,
                                  .rightRow = set->row + r,
                                  .rightCount = 1,
                                  .diagonal = eps,
                                  .block = A + r * m,
                                  .blockStart = first};
        memcpy(unknowns[r].left, B + r * m, (size_t)m * sizeof(double));
    }
    return m;
}

// Unknowns of the sets that are not idle; true when left and right are the same.
static bool rgListUnknowns(const rgSystem* system, rgContactSpace* space, const double* A,
                           double eps) {
    int count = 0;
    bool symmetric = true;
    for (int i = 0; i < system->setCount; ++i) {
        const rgSet* set = system->sets + i;
        const double *a = A + set->pairStart, *b = space->B + set->pairStart;
        rgUnknown* next = space->unknowns + count;
        rgPairKind kind = space->kinds[i];
        count += kind == rg_pairIdle   ? 0
                 : kind == rg_pairRows ? rgListRows(set, a, b, eps, next)
                 : kind == rg_pairSlip ? rgListSlip(set, a, b, eps, next)
                                       : rgListWhole(set, a, b, eps, count, next);
        symmetric = symmetric && (kind == rg_pairIdle || kind == rg_pairRows);
    }
    rgMatrix_Resize(&space->K, count);
    return symmetric;
}

// G times the right side of an unknown; scratch is used where that is not a column.
static const double* rgUnknownColumn(const rgContactSpace* space, const rgUnknown* unknown,
                                     double* scratch) {
    size_t ld = (size_t)space->G.ld;
    const double* G = space->G.values + (size_t)unknown->rightRow * ld;
    if (unknown->rightCount == 1) {
        return G;
    }
    const double *x = unknown->right, *G1 = G + ld, *G2 = G1 + ld;
    for (int i = 0; i < space->G.n && unknown->rightCount == 2; ++i) {
        scratch[i] = x[0] * G[i] + x[1] * G1[i];
    }
    for (int i = 0; i < space->G.n && unknown->rightCount == 3; ++i) {
        scratch[i] = x[0] * G[i] + x[1] * G1[i] + x[2] * G2[i];
    }
    return scratch;
}

static inline double rgUnknown_Left(const rgUnknown* unknown, const double* x) {
    x += unknown->leftRow;
    if (unknown->leftCount == 1) {
        return *x;
    }
    double sum = unknown->left[0] * x[0];
    for (int k = 1; k < unknown->leftCount; ++k) {
        sum += unknown->left[k] * x[k];
    }
    return sum;
}

// (15) The lower triangle alone when it is symmetric.
static void rgFillDensePair(rgContactSpace* space, bool symmetric) {
    size_t ld = (size_t)space->K.ld;
    int combined = 0;
    for (int i = 0; i < space->K.n; ++i) {
        space->rows[i] = space->unknowns[i].leftRow;
        if (space->unknowns[i].leftCount > 1) {
            space->combined[combined++] = i;
        }
    }
    for (int j = 0; j < space->K.n; ++j) {
        const double* G = rgUnknownColumn(space, space->unknowns + j, space->reduced);
        double* K = space->K.values + (size_t)j * ld;
        for (int i = symmetric ? j : 0; i < space->K.n; ++i) {
            K[i] = G[space->rows[i]];
        }
        for (int c = 0; c < combined; ++c) {
            K[space->combined[c]] = rgUnknown_Left(space->unknowns + space->combined[c], G);
        }
        K[j] += space->unknowns[j].diagonal;
    }
    for (int i = 0; i < space->K.n && !symmetric; ++i) {
        const rgUnknown* unknown = space->unknowns + i;
        for (int k = 0; k < unknown->leftCount && unknown->block != NULL; ++k) {
            space->K.values[(size_t)(unknown->blockStart + k) * ld + (size_t)i] +=
                unknown->block[k];
        }
    }
}

static rgResult rgContact_FactorPair(rgSystem* system, const double* A, const double* B,
                                     const rgPairKind* kinds, double eps) {
    rgContactSpace* space = system->form;
    system->factorizationCount += 1;
    space->A = A;
    space->B = B;
    space->kinds = kinds;
    space->eps = eps;
    if (!space->G.dense) {
        rgFillSparsePair(system, space, A);
        return rgMatrix_Lu(&space->K, eps);
    }
    bool symmetric = rgListUnknowns(system, space, A, eps);
    rgFillDensePair(space, symmetric);
    return symmetric ? rgMatrix_Cholesky(&space->K, 0) : rgMatrix_Lu(&space->K, 0);
}

// (14) What is known before anything is solved: idle rows, and of slip the impulse along t beyond
// mu times the normal one. True when there is any.
static bool rgTakeKnown(const rgSystem* system, const rgContactSpace* space, const double* rhs,
                        double* x) {
    bool any = false;
    double share = 1 / (1 + space->eps);
    for (int i = 0; i < system->setCount; ++i) {
        const rgSet* set = system->sets + i;
        const double *B = space->B + set->pairStart, *b = rhs + set->row;
        double* own = x + set->row;
        for (int r = 0; r < set->size; ++r) {
            bool known = space->kinds[i] == rg_pairIdle ||
                         (space->kinds[i] == rg_pairRows && B[r * (set->size + 1)] == 0);
            own[r] = known ? share * b[r] : 0;
            any = any || own[r] != 0;
        }
        if (space->kinds[i] == rg_pairSlip) {
            rgSlip slip = rgSlip_Of(set, space->A + set->pairStart, B);
            double along = share * (slip.t[0] * b[0] + slip.t[1] * b[1] - set->mu * b[2]);
            own[0] = along * slip.t[0];
            own[1] = along * slip.t[1];
            any = any || along != 0;
        }
    }
    return any;
}

// (16) The others follow what is known.
static void rgSolveDensePair(const rgSystem* system, rgContactSpace* space, const double* rhs,
                             double* x) {
    double *moved = space->moved, *y = space->reduced;
    bool any = rgTakeKnown(system, space, rhs, x);
    if (any) {
        rgMatrix_Apply(&space->G, x, moved);
    }
    for (int j = 0; j < space->K.n; ++j) {
        const rgUnknown* unknown = space->unknowns + j;
        double side = unknown->block != NULL ? rhs[unknown->rightRow]
                                             : unknown->scale * rgUnknown_Left(unknown, rhs);
        y[j] = side - (any ? rgUnknown_Left(unknown, moved) : 0);
    }
    rgMatrix_Solve(&space->K, y);
    for (int j = 0; j < space->K.n; ++j) {
        const rgUnknown* unknown = space->unknowns + j;
        double* own = x + unknown->rightRow;
        for (int k = 0; k < unknown->rightCount; ++k) {
            own[k] += (unknown->rightCount > 1 ? unknown->right[k] : 1) * y[j];
        }
    }
}

static void rgContact_SolvePair(rgSystem* system, const double* rhs, double* x, double* moved) {
    rgContactSpace* space = system->form;
    if (!space->G.dense) {
        memcpy(x, rhs, (size_t)system->n * sizeof(double));
        rgMatrix_Solve(&space->K, x);
    } else {
        rgSolveDensePair(system, space, rhs, x);
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
