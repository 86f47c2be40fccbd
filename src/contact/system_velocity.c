// Velocity space: G = W W' + R is never formed, W = J L^-T with M = L L'. With E = A + eps I + B R,
// solves with A + eps I + B G go through
//     H = I + W' E^-1 B W,   H w = W' E^-1 b,   x = E^-1 (b - B W w)
// docs/theory/velocity.md (1)-(4). H has one block per pair of parts that a set couples. The
// shifted solve is the case A = shift I, B = I, where H is symmetric.
#include "contact/system.h"

#include <math.h>
#include <string.h>

// Pattern of H: parts that a set couples. Kept as block rows for the sparse factorization.
static rgResult rgBuildPartPattern(rgSystem* system) {
    int parts = system->partCount;
    rgArena* arena = system->arena;
    // Upper bound of neighbours: every set couples all pairs of its parts.
    int* count = RG_TAKE(arena, int, parts + 1);
    if (count == NULL) {
        return rg_errorMemory;
    }
    for (int p = 0; p <= parts; ++p) {
        count[p] = p < parts ? 1 : 0;
    }
    for (int i = 0; i < system->setCount; ++i) {
        int links = system->linkStart[i + 1] - system->linkStart[i];
        for (int l = system->linkStart[i]; l < system->linkStart[i + 1]; ++l) {
            count[system->links[l].part] += links - 1;
        }
    }
    int* start = RG_TAKE(arena, int, parts + 1);
    int bound = 0;
    for (int p = 0; p < parts && start != NULL; ++p) {
        start[p] = bound;
        bound += count[p];
        count[p] = 0;
    }
    int* items = RG_TAKE(arena, int, bound);
    int* mark = RG_TAKE(arena, int, parts);
    system->partRowStart = RG_TAKE(arena, int, parts + 1);
    system->partColumn = RG_TAKE(arena, int, bound);
    if (arena->failed) {
        return rg_errorMemory;
    }
    for (int p = 0; p < parts; ++p) {
        items[start[p] + count[p]++] = p;
        mark[p] = -1;
    }
    for (int i = 0; i < system->setCount; ++i) {
        for (int l = system->linkStart[i]; l < system->linkStart[i + 1]; ++l) {
            int p = system->links[l].part;
            for (int k = system->linkStart[i]; k < system->linkStart[i + 1]; ++k) {
                if (k != l) {
                    items[start[p] + count[p]++] = system->links[k].part;
                }
            }
        }
    }
    // Transposing twice sorts: visit columns in order and append each to the rows that list it.
    int entries = 0;
    for (int p = 0; p < parts; ++p) {
        system->partRowStart[p] = entries;
        for (int k = 0; k < count[p]; ++k) {
            int q = items[start[p] + k];
            if (mark[q] != p) {
                mark[q] = p;
                int e = entries++;
                for (; e > system->partRowStart[p] && system->partColumn[e - 1] > q; --e) {
                    system->partColumn[e] = system->partColumn[e - 1];
                }
                system->partColumn[e] = q;
            }
        }
    }
    system->partRowStart[parts] = entries;
    return rg_ok;
}

static rgResult rgPrepareSparseH(rgSystem* system) {
    rgArena* arena = system->arena;
    rgResult result = rgBuildPartPattern(system);
    if (result != rg_ok) {
        return result;
    }
    int parts = system->partCount;
    int entries = system->partRowStart[parts];
    int* blockStart = RG_TAKE(arena, int, parts + 1);
    system->partValues = RG_TAKE(arena, double*, entries);
    if (arena->failed) {
        return rg_errorMemory;
    }
    for (int p = 0; p < parts; ++p) {
        blockStart[p] = system->parts[p].start;
        for (int k = system->partRowStart[p]; k < system->partRowStart[p + 1]; ++k) {
            int size = system->parts[p].size * system->parts[system->partColumn[k]].size;
            system->partValues[k] = RG_TAKE(arena, double, size);
        }
    }
    blockStart[parts] = system->nv;
    if (arena->failed) {
        return rg_errorMemory;
    }
    rgBlockPattern pattern = {.blockCount = parts,
                              .blockStart = blockStart,
                              .rowStart = system->partRowStart,
                              .column = system->partColumn};
    result = rgBlockFactor_Analyse(system->factor, &pattern);
    if (result == rg_ok) {
        system->shiftFlops = rgBlockFactor_CholeskyFlops(system->factor);
        system->pairFlops = rgBlockFactor_LuFlops(system->factor);
    }
    return result;
}

// Diagonal blocks of G from W.
static void rgFillDiagonal(rgSystem* system) {
    for (int i = 0; i < system->setCount; ++i) {
        const rgSet* set = system->sets + i;
        int m = set->size;
        double* d = system->diagonal + set->pairStart;
        memset(d, 0, (size_t)(m * m) * sizeof(double));
        for (int l = system->linkStart[i]; l < system->linkStart[i + 1]; ++l) {
            int stride = system->parts[system->links[l].part].stride;
            for (int r = 0; r < m; ++r) {
                system->kernels->dotRows(r + 1, stride, system->links[l].W,
                                         system->links[l].W + r * stride, d + r * m);
            }
        }
        for (int r = 0; r < m; ++r) {
            d[r * m + r] += system->R[set->row + r];
            for (int c = 0; c < r; ++c) {
                d[c * m + r] = d[r * m + c];
            }
        }
    }
}

static double rgAssemblyFlops(const rgSystem* system) {
    double flops = 0;
    for (int l = 0; l < system->linkCount; ++l) {
        double m = system->sets[system->links[l].set].size;
        double width = system->parts[system->links[l].part].size;
        flops += 2 * m * width * (m + 2 * width);
    }
    return flops;
}

static rgResult rgPrepareH(rgSystem* system) {
    rgArena* arena = system->arena;
    system->inverse = RG_TAKE(arena, double, system->pairCount);
    system->product = RG_TAKE(arena, double, system->pairCount);
    system->velocity = RG_TAKE(arena, double, rgLeadingDimension(system->nv));
    system->impulse = RG_TAKE(arena, double, system->n);
    if (system->W != NULL) {
        size_t numbers = (size_t)system->n * (size_t)system->parts[0].stride;
        system->rows = RG_TAKE(arena, double, 2 * numbers);
    } else {
        system->right = RG_TAKE(arena, double, RG_SET_MAX * system->nv);
    }
    if (arena->failed) {
        return rg_errorMemory;
    }
    system->denseVelocity = system->nv <= 120 || system->partCount <= 2;
    rgResult result = rg_ok;
    if (system->denseVelocity) {
        double nv = system->nv;
        size_t columns = (size_t)system->nv;
        system->hld = rgLeadingDimension(system->nv);
        system->H = RG_TAKE(arena, double, (size_t)system->hld* columns);
        system->pivot = RG_TAKE(arena, int, system->nv);
        system->shiftFlops = nv * nv * nv / 3;
        system->pairFlops = 2 * nv * nv * nv / 3;
        result = arena->failed ? rg_errorMemory : rg_ok;
    } else {
        result = rgPrepareSparseH(system);
    }
    system->shiftFlops += rgAssemblyFlops(system);
    system->pairFlops += rgAssemblyFlops(system);
    return result;
}

rgResult rgPrepareVelocity(rgSystem* system) {
    rgResult result = rgPrepareH(system);
    if (result != rg_ok) {
        return result;
    }
    rgFillDiagonal(system);
    double linkNumbers = 0;
    for (int l = 0; l < system->linkCount; ++l) {
        linkNumbers +=
            system->sets[system->links[l].set].size * system->parts[system->links[l].part].size;
    }
    system->ops = &rgVelocityOps;
    system->applyFlops = 4 * linkNumbers;
    system->sweepFlops = 4 * linkNumbers;
    return rg_ok;
}

rgResult rgBuildVelocity(const rgSystemDef* def, rgSystem* system) {
    system->R = RG_TAKE(def->arena, double, system->n);
    if (system->R == NULL) {
        return rg_errorMemory;
    }
    const double* compliance = def->problem->compliance;
    for (int i = 0; i < system->n; ++i) {
        system->R[i] = compliance != NULL ? compliance[system->globalRow[i]] : 0;
    }
    return rgPrepareVelocity(system);
}

// velocity = W' x; up to the stride
static void rgGatherVelocity(rgSystem* system, const double* x, double* velocity) {
    if (system->W != NULL) {
        int stride = system->parts[0].stride;
        system->kernels->multiply(stride, system->n, system->W, stride, x, velocity);
        return;
    }
    memset(velocity, 0, (size_t)system->nv * sizeof(double));
    for (int l = 0; l < system->linkCount; ++l) {
        const rgVelocityLink* link = system->links + l;
        const rgSet* set = system->sets + link->set;
        const rgVelocityPart* part = system->parts + link->part;
        system->kernels->combineRows(set->size, part->size, x + set->row, 1, link->W,
                                     velocity + part->start);
    }
}

// y of one set = W velocity
static void rgSetVelocity(const rgSystem* system, int i, const double* velocity, double* y) {
    const rgSet* set = system->sets + i;
    for (int r = 0; r < set->size; ++r) {
        y[r] = 0;
    }
    for (int l = system->linkStart[i]; l < system->linkStart[i + 1]; ++l) {
        const rgVelocityLink* link = system->links + l;
        const rgVelocityPart* part = system->parts + link->part;
        system->kernels->dotRows(set->size, part->stride, link->W, velocity + part->start, y);
    }
}

// y = W velocity
static void rgRowVelocities(const rgSystem* system, const double* velocity, double* y) {
    if (system->W != NULL) {
        int stride = system->parts[0].stride;
        system->kernels->multiplyTransposed(stride, system->n, system->W, stride, velocity, y);
        return;
    }
    for (int i = 0; i < system->setCount; ++i) {
        rgSetVelocity(system, i, velocity, y + system->sets[i].row);
    }
}

static void rgVelocity_Apply(rgSystem* system, const double* x, double* y) {
    rgGatherVelocity(system, x, system->velocity);
    rgRowVelocities(system, system->velocity, y);
    for (int i = 0; i < system->n; ++i) {
        y[i] += system->R[i] * x[i];
    }
}

// The pass works on the bodies' velocities; sigma of all sets is renewed at its end.
static void rgVelocity_Sweep(rgSystem* system, double* lambda, double* sigma, double relaxation) {
    double change[RG_SET_MAX];
    double own[RG_SET_MAX];
    double* v = system->velocity;
    rgGatherVelocity(system, lambda, v);
    for (int i = 0; i < system->setCount; ++i) {
        const rgSet* set = system->sets + i;
        rgSetVelocity(system, i, v, own);
        for (int r = 0; r < set->size; ++r) {
            own[r] += system->g[set->row + r] + system->R[set->row + r] * lambda[set->row + r];
        }
        if (!rgSweepSet(set, system->diagonal + set->pairStart, system->model, relaxation,
                        lambda + set->row, own, change)) {
            continue;
        }
        for (int l = system->linkStart[i]; l < system->linkStart[i + 1]; ++l) {
            const rgVelocityLink* link = system->links + l;
            const rgVelocityPart* part = system->parts + link->part;
            system->kernels->combineRows(set->size, part->stride, change, 1, link->W,
                                         v + part->start);
        }
    }
    rgRowVelocities(system, v, sigma);
    for (int i = 0; i < system->n; ++i) {
        sigma[i] += system->g[i] + system->R[i] * lambda[i];
    }
}

// Inverse of a 3 x 3 matrix by cofactors. False when it is singular.
static bool rgInvertThree(const double* a, double* inverse) {
    double c0 = a[4] * a[8] - a[5] * a[7];
    double c1 = a[5] * a[6] - a[3] * a[8];
    double c2 = a[3] * a[7] - a[4] * a[6];
    double determinant = a[0] * c0 + a[1] * c1 + a[2] * c2;
    double d = 1 / determinant;
    inverse[0] = d * c0;
    inverse[1] = d * (a[2] * a[7] - a[1] * a[8]);
    inverse[2] = d * (a[1] * a[5] - a[2] * a[4]);
    inverse[3] = d * c1;
    inverse[4] = d * (a[0] * a[8] - a[2] * a[6]);
    inverse[5] = d * (a[2] * a[3] - a[0] * a[5]);
    inverse[6] = d * c2;
    inverse[7] = d * (a[1] * a[6] - a[0] * a[7]);
    inverse[8] = d * (a[0] * a[4] - a[1] * a[3]);
    return fabs(determinant) > 0 && isfinite(d);
}

// Inverse of a small matrix by Gauss-Jordan with row pivoting. False when it is singular.
static bool rgInvertSmall(int m, const double* matrix, double* inverse) {
    double work[RG_SET_MAX * RG_SET_MAX];
    memcpy(work, matrix, (size_t)(m * m) * sizeof(double));
    for (int i = 0; i < m * m; ++i) {
        inverse[i] = i % (m + 1) == 0;
    }
    for (int k = 0; k < m; ++k) {
        int best = k;
        for (int i = k + 1; i < m; ++i) {
            best = fabs(work[i * m + k]) > fabs(work[best * m + k]) ? i : best;
        }
        double pivot = work[best * m + k];
        if (!(fabs(pivot) > 0)) {
            return false;
        }
        for (int j = 0; j < m; ++j) {
            double a = work[k * m + j];
            work[k * m + j] = work[best * m + j] / pivot;
            work[best * m + j] = best == k ? work[k * m + j] : a;
            double b = inverse[k * m + j];
            inverse[k * m + j] = inverse[best * m + j] / pivot;
            inverse[best * m + j] = best == k ? inverse[k * m + j] : b;
        }
        for (int i = 0; i < m; ++i) {
            double f = work[i * m + k];
            if (i == k || f == 0) {
                continue;
            }
            for (int j = 0; j < m; ++j) {
                work[i * m + j] -= f * work[k * m + j];
                inverse[i * m + j] -= f * inverse[k * m + j];
            }
        }
    }
    return true;
}

// C = A B for 3 x 3 matrices
static void rgMultiplyThree(const double* A, const double* B, double* C) {
    for (int i = 0; i < 3; ++i) {
        for (int j = 0; j < 3; ++j) {
            C[3 * i + j] = A[3 * i] * B[j] + A[3 * i + 1] * B[3 + j] + A[3 * i + 2] * B[6 + j];
        }
    }
}

// C = A B for m x m matrices
static void rgMultiplySmall(int m, const double* A, const double* B, double* C) {
    for (int i = 0; i < m; ++i) {
        for (int j = 0; j < m; ++j) {
            double sum = 0;
            for (int k = 0; k < m; ++k) {
                sum += A[i * m + k] * B[k * m + j];
            }
            C[i * m + j] = sum;
        }
    }
}

// Block of H between two parts, and whether it is stored by columns (dense) or by rows (blocks).
static double* rgTargetBlock(const rgSystem* system, int p, int q, int* rowStep, int* columnStep) {
    if (system->denseVelocity) {
        *rowStep = 1;
        *columnStep = system->hld;
        return system->H + (size_t)system->parts[q].start * (size_t)system->hld +
               (size_t)system->parts[p].start;
    }
    *rowStep = system->parts[q].size;
    *columnStep = 1;
    int k = system->partRowStart[p];
    while (system->partColumn[k] != q) {
        ++k;
    }
    return system->partValues[k];
}

// H = I
static void rgClearH(rgSystem* system) {
    if (system->denseVelocity) {
        memset(system->H, 0, (size_t)system->hld * (size_t)system->nv * sizeof(double));
        for (int i = 0; i < system->nv; ++i) {
            system->H[(size_t)i * (size_t)(system->hld + 1)] = 1;
        }
        return;
    }
    for (int p = 0; p < system->partCount; ++p) {
        int size = system->parts[p].size;
        for (int k = system->partRowStart[p]; k < system->partRowStart[p + 1]; ++k) {
            int numbers = size * system->parts[system->partColumn[k]].size;
            memset(system->partValues[k], 0, (size_t)numbers * sizeof(double));
            for (int i = 0; system->partColumn[k] == p && i < size; ++i) {
                system->partValues[k][i * (size + 1)] = 1;
            }
        }
    }
}

// block += W_a' (C W_b): along columns where H is dense, along rows where it is made of blocks
static void rgAddCoupling(const rgSystem* system, const rgVelocityLink* a, const rgVelocityLink* b,
                          const double* right) {
    int m = system->sets[a->set].size;
    int rows = system->parts[a->part].size;
    int columns = system->parts[b->part].size;
    int rowStep, columnStep;
    double* block = rgTargetBlock(system, a->part, b->part, &rowStep, &columnStep);
    if (rowStep == 1) {
        for (int j = 0; j < columns; ++j) {
            system->kernels->combineRows(m, rows, right + j, columns, a->W,
                                         block + (size_t)j * (size_t)columnStep);
        }
    } else {
        for (int i = 0; i < rows; ++i) {
            system->kernels->combineRows(m, columns, a->W + i, rows, right,
                                         block + (size_t)i * (size_t)rowStep);
        }
    }
}

// H += W' (E^-1 B) W over all rows at once. Rows whose sets are idle are left out.
static void rgAddAllRows(rgSystem* system, const bool* idle) {
    int stride = system->parts[0].stride, count = 0;
    size_t width = (size_t)stride;
    double* left = system->rows;
    double* right = system->rows + (size_t)system->n * width;
    for (int i = 0; i < system->setCount; ++i) {
        if (idle != NULL && idle[i]) {
            continue;
        }
        const rgSet* set = system->sets + i;
        const double* rows = system->links[i].W;
        size_t at = (size_t)count * width;
        memcpy(left + at, rows, (size_t)set->size * width * sizeof(double));
        system->kernels->transformRows(set->size, stride, system->product + set->pairStart, rows,
                                       right + at);
        count += set->size;
    }
    system->kernels->addOuterProduct(system->nv, system->nv, count, left, stride, right, stride,
                                     system->H, system->hld);
}

// H = I + sum of W' (E^-1 B) W; blocks above the diagonal are left out when H is symmetric.
static void rgAssembleH(rgSystem* system, const bool* idle, bool symmetric) {
    rgClearH(system);
    if (system->W != NULL) {
        rgAddAllRows(system, idle);
        return;
    }
    for (int i = 0; i < system->setCount; ++i) {
        if (idle != NULL && idle[i]) {
            continue;
        }
        const rgSet* set = system->sets + i;
        const double* C = system->product + set->pairStart;
        for (int k = system->linkStart[i]; k < system->linkStart[i + 1]; ++k) {
            const rgVelocityLink* link = system->links + k;
            system->kernels->transformRows(set->size, system->parts[link->part].size, C, link->W,
                                           system->right);
            for (int l = system->linkStart[i]; l < system->linkStart[i + 1]; ++l) {
                if (!symmetric || system->links[l].part >= link->part) {
                    rgAddCoupling(system, system->links + l, link, system->right);
                }
            }
        }
    }
}

static rgResult rgVelocity_FactorShift(rgSystem* system, double shift) {
    system->factorizationCount += 1;
    for (int i = 0; i < system->setCount; ++i) {
        const rgSet* set = system->sets + i;
        for (int k = 0; k < set->size * set->size; ++k) {
            int row = set->row + k / set->size;
            bool onDiagonal = k % (set->size + 1) == 0;
            system->inverse[set->pairStart + k] = onDiagonal ? 1 / (shift + system->R[row]) : 0;
            system->product[set->pairStart + k] = system->inverse[set->pairStart + k];
        }
    }
    rgAssembleH(system, NULL, true);
    if (system->denseVelocity) {
        return system->kernels->cholesky(system->nv, system->H, system->hld) ? rg_ok
                                                                             : rg_errorNumeric;
    }
    return rgBlockFactor_Cholesky(system->factor, (const double* const*)system->partValues, 0);
}

// y = A x, m x m
static inline void rgMultiplySet(int m, const double* A, const double* x, double* y) {
    if (m == 3) {
        y[0] = A[0] * x[0] + A[1] * x[1] + A[2] * x[2];
        y[1] = A[3] * x[0] + A[4] * x[1] + A[5] * x[2];
        y[2] = A[6] * x[0] + A[7] * x[1] + A[8] * x[2];
        return;
    }
    for (int r = 0; r < m; ++r) {
        y[r] = 0;
        for (int k = 0; k < m; ++k) {
            y[r] += A[r * m + k] * x[k];
        }
    }
}

// x = E^-1 (b - B W w), H w = W' E^-1 b; w = W' x, hence G x = W w + R x
static void rgSolveThroughH(rgSystem* system, const double* rhs, bool symmetric, double* x,
                            double* moved) {
    double* scaled = system->impulse;
    for (int i = 0; i < system->setCount; ++i) {
        const rgSet* set = system->sets + i;
        rgMultiplySet(set->size, system->inverse + set->pairStart, rhs + set->row,
                      scaled + set->row);
    }
    double* w = system->velocity;
    rgGatherVelocity(system, scaled, w);
    if (!system->denseVelocity) {
        rgBlockFactor_Solve(system->factor, w);
    } else if (symmetric) {
        system->kernels->choleskySolve(system->nv, system->H, system->hld, w);
    } else {
        system->kernels->luSolve(system->nv, system->H, system->hld, system->pivot, w);
    }
    rgRowVelocities(system, w, x);
    for (int i = 0; i < system->setCount; ++i) {
        const rgSet* set = system->sets + i;
        double y[RG_SET_MAX];
        rgMultiplySet(set->size, system->product + set->pairStart, x + set->row, y);
        for (int r = 0; r < set->size; ++r) {
            int row = set->row + r;
            double own = scaled[row] - y[r];
            if (moved != NULL) {
                moved[row] = x[row] + system->R[row] * own;
            }
            x[row] = own;
        }
    }
}

static void rgVelocity_SolveShift(rgSystem* system, double* x) {
    rgSolveThroughH(system, x, true, x, NULL);
}

// (3) E^-1 and E^-1 B of one set; false when E is singular.
static bool rgInvertSet(const rgSystem* system, const rgSet* set, const double* A, const double* B,
                        double eps) {
    const double* R = system->R + set->row;
    double* inverse = system->inverse + set->pairStart;
    double* product = system->product + set->pairStart;
    int m = set->size;
    double E[RG_SET_MAX * RG_SET_MAX];
    for (int r = 0; r < m; ++r) {
        for (int c = 0; c < m; ++c) {
            E[r * m + c] = A[r * m + c] + B[r * m + c] * R[c];
        }
        E[r * m + r] += eps;
    }
    bool regular = m == 3 ? rgInvertThree(E, inverse) : rgInvertSmall(m, E, inverse);
    if (m == 3) {
        rgMultiplyThree(inverse, B, product);
    } else if (regular) {
        rgMultiplySmall(m, inverse, B, product);
    }
    return regular;
}

// The same for A = I, B = 0.
static void rgInvertIdle(const rgSystem* system, const rgSet* set, double eps) {
    size_t bytes = (size_t)(set->size * set->size) * sizeof(double);
    memset(system->inverse + set->pairStart, 0, bytes);
    memset(system->product + set->pairStart, 0, bytes);
    for (int r = 0; r < set->size; ++r) {
        system->inverse[set->pairStart + r * (set->size + 1)] = 1 / (1 + eps);
    }
}

static rgResult rgVelocity_FactorPair(rgSystem* system, const double* A, const double* B,
                                      const bool* idle, double eps) {
    system->factorizationCount += 1;
    for (int i = 0; i < system->setCount; ++i) {
        const rgSet* set = system->sets + i;
        if (idle[i]) {
            rgInvertIdle(system, set, eps);
        } else if (!rgInvertSet(system, set, A + set->pairStart, B + set->pairStart, eps)) {
            return rg_errorNumeric;
        }
    }
    rgAssembleH(system, idle, false);
    if (system->denseVelocity) {
        bool done = system->kernels->lu(system->nv, system->H, system->hld, system->pivot);
        return done ? rg_ok : rg_errorNumeric;
    }
    return rgBlockFactor_Lu(system->factor, (const double* const*)system->partValues, 0);
}

static void rgVelocity_SolvePair(rgSystem* system, const double* rhs, double* x, double* moved) {
    rgSolveThroughH(system, rhs, false, x, moved);
}

// Parts that a few sets act on.
static void rgMarkParts(const rgSystem* system, int count, const int* sets, bool* touched) {
    memset(touched, 0, (size_t)system->partCount * sizeof(bool));
    for (int i = 0; i < count; ++i) {
        for (int l = system->linkStart[sets[i]]; l < system->linkStart[sets[i] + 1]; ++l) {
            touched[system->links[l].part] = true;
        }
    }
}

// Columns of H^-1 W' for the rows of a few sets, in the parts that these sets act on and zero
// elsewhere (products with padded rows read beyond a part, so no place may be left as it was).
static void rgSolveRows(rgSystem* system, int count, const int* sets, const bool* touched,
                        double* columns, size_t lead) {
    memset(columns, 0, 3 * (size_t)count * lead * sizeof(double));
    for (int j = 0; j < 3 * count; ++j) {
        double* column = columns + (size_t)j * lead;
        for (int l = system->linkStart[sets[j / 3]]; l < system->linkStart[sets[j / 3] + 1]; ++l) {
            const rgVelocityLink* link = system->links + l;
            const rgVelocityPart* part = system->parts + link->part;
            memcpy(column + part->start, link->W + j % 3 * part->stride,
                   (size_t)part->size * sizeof(double));
        }
        if (system->denseVelocity) {
            system->kernels->luSolve(system->nv, system->H, system->hld, system->pivot, column);
        }
    }
    if (!system->denseVelocity) {
        rgBlockFactor_SolveSome(system->factor, touched, 3 * count, columns, (int)lead);
    }
}

// C = W H^-1 W', X = E^-1 (I - B C E^-1), Y = C E^-1 + R X: the block of one pair of sets, from the
// three columns of the second. X and Y point to the block.
static void rgRespondPair(const rgSystem* system, int i, int j, const double* columns, size_t lead,
                          double* X, double* Y, int ld) {
    const rgSet* row = system->sets + i;
    const double* inverse = system->inverse + system->sets[j].pairStart;
    double C[9], CE[9], BCE[9];
    for (int k = 0; k < 3; ++k) {
        double own[RG_SET_MAX];
        rgSetVelocity(system, i, columns + (size_t)k * lead, own);
        for (int r = 0; r < 3; ++r) {
            C[3 * r + k] = own[r];
        }
    }
    rgMultiplyThree(C, inverse, CE);
    rgMultiplyThree(system->product + row->pairStart, CE, BCE);
    for (int k = 0; k < 9; ++k) {
        int r = k / 3;
        int at = k % 3 * ld + r;
        X[at] = (i == j ? inverse[k] : 0) - BCE[k];
        Y[at] = CE[k] + system->R[row->row + r] * X[at];
    }
}

static rgResult rgVelocity_Respond(rgSystem* system, int count, const int* sets, double* X,
                                   double* Y, int ld) {
    rgArenaMark mark = rgArena_Mark(system->arena);
    const rgVelocityPart* last = system->parts + system->partCount - 1;
    size_t lead = (size_t)last->start + (size_t)last->stride;
    double* columns = RG_TAKE(system->arena, double, 3 * (size_t)count * lead);
    bool* touched = RG_TAKE(system->arena, bool, system->partCount);
    if (columns == NULL || touched == NULL) {
        return rg_errorMemory;
    }
    rgMarkParts(system, count, sets, touched);
    rgSolveRows(system, count, sets, touched, columns, lead);
    for (int j = 0; j < count; ++j) {
        for (int i = 0; i < count; ++i) {
            size_t at = 3 * ((size_t)j * (size_t)ld + (size_t)i);
            rgRespondPair(system, sets[i], sets[j], columns + 3 * (size_t)j * lead, lead, X + at,
                          Y + at, ld);
        }
    }
    rgArena_Return(system->arena, mark);
    return rg_ok;
}

const rgSystemOps rgVelocityOps = {
    .apply = rgVelocity_Apply,
    .sweep = rgVelocity_Sweep,
    .factorShift = rgVelocity_FactorShift,
    .solveShift = rgVelocity_SolveShift,
    .factorPair = rgVelocity_FactorPair,
    .solvePair = rgVelocity_SolvePair,
    .respond = rgVelocity_Respond,
};
