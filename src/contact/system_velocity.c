// Velocity space: G = J M^-1 J' + R is never formed. With E = A + eps I + B R, solves with A + eps
// I + B G go through
//     H = M + J' E^-1 B J,   H w = J' E^-1 b,   x = E^-1 (b - B J w) docs/theory/velocity.md
//     (1)-(4)
// H has one block per part of the mass matrix. The shifted solve is the case A = shift I, B = I,
// where H is symmetric.
#include "contact/system.h"

#include <math.h>
#include <string.h>

// Pattern of H: parts that a set couples. Kept as block rows for the sparse factorization.
static rgResult rgBuildPartPattern(const rgSystemDef* def, rgSystem* system) {
    int parts = system->partCount;
    rgArena* arena = def->arena;
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

static rgResult rgPrepareSparseH(const rgSystemDef* def, rgSystem* system) {
    rgResult result = rgBuildPartPattern(def, system);
    if (result != rg_ok) {
        return result;
    }
    int parts = system->partCount;
    int entries = system->partRowStart[parts];
    int* blockStart = RG_TAKE(def->arena, int, parts + 1);
    system->partValues = RG_TAKE(def->arena, double*, entries);
    if (def->arena->failed) {
        return rg_errorMemory;
    }
    for (int p = 0; p < parts; ++p) {
        blockStart[p] = system->parts[p].start;
        for (int k = system->partRowStart[p]; k < system->partRowStart[p + 1]; ++k) {
            int size = system->parts[p].size * system->parts[system->partColumn[k]].size;
            system->partValues[k] = RG_TAKE(def->arena, double, size);
        }
    }
    blockStart[parts] = system->nv;
    if (def->arena->failed) {
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

// Diagonal blocks of G from J and T.
static void rgFillDiagonal(rgSystem* system) {
    for (int i = 0; i < system->setCount; ++i) {
        const rgSet* set = system->sets + i;
        int m = set->size;
        double* d = system->diagonal + set->pairStart;
        for (int k = 0; k < m * m; ++k) {
            d[k] = k % (m + 1) == 0 ? system->R[set->row + k / m] : 0;
            for (int l = system->linkStart[i]; l < system->linkStart[i + 1]; ++l) {
                int width = system->parts[system->links[l].part].size;
                d[k] += system->kernels->dot(width, system->links[l].J + k / m * width,
                                             system->links[l].T + k % m * width);
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

rgResult rgPrepareVelocity(const rgSystemDef* def, rgSystem* system) {
    rgArena* arena = def->arena;
    system->R = RG_TAKE(arena, double, system->n);
    system->inverse = RG_TAKE(arena, double, system->pairCount);
    system->product = RG_TAKE(arena, double, system->pairCount);
    system->velocity = RG_TAKE(arena, double, system->nv);
    system->right = RG_TAKE(arena, double, RG_SET_MAX * system->nv);
    system->impulse = RG_TAKE(arena, double, system->n);
    if (arena->failed) {
        return rg_errorMemory;
    }
    const double* compliance = def->problem->compliance;
    for (int i = 0; i < system->n; ++i) {
        system->R[i] = compliance != NULL ? compliance[system->globalRow[i]] : 0;
    }
    system->denseVelocity = system->nv <= 120 || system->partCount <= 2;
    rgResult result = rg_ok;
    if (system->denseVelocity) {
        double nv = system->nv;
        size_t columns = (size_t)system->nv;
        system->hld = rgLeadingDimension(system->nv);
        system->H = RG_TAKE(arena, double, (size_t)system->hld* columns);
        system->pivot = RG_TAKE(arena, int, RG_MAX(system->n, system->nv));
        system->shiftFlops = nv * nv * nv / 3;
        system->pairFlops = 2 * nv * nv * nv / 3;
        result = arena->failed ? rg_errorMemory : rg_ok;
    } else {
        result = rgPrepareSparseH(def, system);
    }
    system->shiftFlops += rgAssemblyFlops(system);
    system->pairFlops += rgAssemblyFlops(system);
    return result;
}

rgResult rgBuildVelocity(const rgSystemDef* def, rgSystem* system) {
    rgResult result = rgPrepareVelocity(def, system);
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

// velocity = sum over links of X' x, X = J or T
static void rgGatherVelocity(rgSystem* system, const double* x, bool inverseMass,
                             double* velocity) {
    memset(velocity, 0, (size_t)system->nv * sizeof(double));
    for (int l = 0; l < system->linkCount; ++l) {
        const rgVelocityLink* link = system->links + l;
        const rgSet* set = system->sets + link->set;
        const rgVelocityPart* part = system->parts + link->part;
        const double* rows = inverseMass ? link->T : link->J;
        system->kernels->combineRows(set->size, part->size, x + set->row, 1, rows,
                                     velocity + part->start);
    }
}

// y of one set = J velocity
static void rgSetVelocity(const rgSystem* system, int i, const double* velocity, double* y) {
    const rgSet* set = system->sets + i;
    for (int r = 0; r < set->size; ++r) {
        y[r] = 0;
    }
    for (int l = system->linkStart[i]; l < system->linkStart[i + 1]; ++l) {
        const rgVelocityLink* link = system->links + l;
        const rgVelocityPart* part = system->parts + link->part;
        system->kernels->dotRows(set->size, part->size, link->J, velocity + part->start, y);
    }
}

static void rgVelocity_Apply(rgSystem* system, const double* x, double* y) {
    rgGatherVelocity(system, x, true, system->velocity);
    for (int i = 0; i < system->setCount; ++i) {
        const rgSet* set = system->sets + i;
        rgSetVelocity(system, i, system->velocity, y + set->row);
        for (int r = 0; r < set->size; ++r) {
            y[set->row + r] += system->R[set->row + r] * x[set->row + r];
        }
    }
}

// The pass works on the bodies' velocities; sigma of all sets is renewed at its end.
static void rgVelocity_Sweep(rgSystem* system, double* lambda, double* sigma, double relaxation) {
    double change[RG_SET_MAX];
    double own[RG_SET_MAX];
    double* v = system->velocity;
    rgGatherVelocity(system, lambda, true, v);
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
            system->kernels->combineRows(set->size, part->size, change, 1, link->T,
                                         v + part->start);
        }
    }
    for (int i = 0; i < system->setCount; ++i) {
        const rgSet* set = system->sets + i;
        rgSetVelocity(system, i, v, sigma + set->row);
        for (int r = 0; r < set->size; ++r) {
            sigma[set->row + r] +=
                system->g[set->row + r] + system->R[set->row + r] * lambda[set->row + r];
        }
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

static void rgClearH(rgSystem* system) {
    if (system->denseVelocity) {
        memset(system->H, 0, (size_t)system->hld * (size_t)system->nv * sizeof(double));
    }
    for (int p = 0; p < system->partCount; ++p) {
        for (int k = system->denseVelocity ? 0 : system->partRowStart[p];
             !system->denseVelocity && k < system->partRowStart[p + 1]; ++k) {
            int size = system->parts[p].size * system->parts[system->partColumn[k]].size;
            memset(system->partValues[k], 0, (size_t)size * sizeof(double));
        }
        int rowStep, columnStep;
        double* block = rgTargetBlock(system, p, p, &rowStep, &columnStep);
        int size = system->parts[p].size;
        for (int i = 0; i < size; ++i) {
            for (int j = 0; j < size; ++j) {
                block[i * rowStep + j * columnStep] = system->parts[p].mass[i * size + j];
            }
        }
    }
}

// right = C J of one link, m x width
static void rgMultiplyLink(const rgSystem* system, const rgVelocityLink* link, const double* C,
                           double* right) {
    int m = system->sets[link->set].size;
    int width = system->parts[link->part].size;
    for (int r = 0; r < m; ++r) {
        double* row = right + r * width;
        memset(row, 0, (size_t)width * sizeof(double));
        system->kernels->combineRows(m, width, C + r * m, 1, link->J, row);
    }
}

// block += J_a' (C J_b): along columns where H is dense, along rows where it is made of blocks
static void rgAddCoupling(const rgSystem* system, const rgVelocityLink* a, const rgVelocityLink* b,
                          const double* right) {
    int m = system->sets[a->set].size;
    int rows = system->parts[a->part].size;
    int columns = system->parts[b->part].size;
    int rowStep, columnStep;
    double* block = rgTargetBlock(system, a->part, b->part, &rowStep, &columnStep);
    if (rowStep == 1) {
        for (int j = 0; j < columns; ++j) {
            system->kernels->combineRows(m, rows, right + j, columns, a->J,
                                         block + (size_t)j * (size_t)columnStep);
        }
    } else {
        for (int i = 0; i < rows; ++i) {
            system->kernels->combineRows(m, columns, a->J + i, rows, right,
                                         block + (size_t)i * (size_t)rowStep);
        }
    }
}

// H = M + sum of J' (E^-1 B) J; blocks above the diagonal are left out when H is symmetric.
static void rgAssembleH(rgSystem* system, const bool* idle, bool symmetric) {
    rgClearH(system);
    for (int i = 0; i < system->setCount; ++i) {
        if (idle != NULL && idle[i]) {
            continue;
        }
        const double* C = system->product + system->sets[i].pairStart;
        for (int k = system->linkStart[i]; k < system->linkStart[i + 1]; ++k) {
            rgMultiplyLink(system, system->links + k, C, system->right);
            for (int l = system->linkStart[i]; l < system->linkStart[i + 1]; ++l) {
                if (!symmetric || system->links[l].part >= system->links[k].part) {
                    rgAddCoupling(system, system->links + l, system->links + k, system->right);
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

// x = E^-1 (b - B J w), H w = J' E^-1 b, with B = NULL for the identity
static void rgSolveThroughH(rgSystem* system, const double* rhs, bool symmetric, double* x) {
    double* scaled = system->impulse;
    for (int i = 0; i < system->setCount; ++i) {
        const rgSet* set = system->sets + i;
        const double* inverse = system->inverse + set->pairStart;
        for (int r = 0; r < set->size; ++r) {
            double sum = 0;
            for (int k = 0; k < set->size; ++k) {
                sum += inverse[r * set->size + k] * rhs[set->row + k];
            }
            scaled[set->row + r] = sum;
        }
    }
    double* w = system->velocity;
    rgGatherVelocity(system, scaled, false, w);
    if (!system->denseVelocity) {
        rgBlockFactor_Solve(system->factor, w);
    } else if (symmetric) {
        system->kernels->choleskySolve(system->nv, system->H, system->hld, w);
    } else {
        system->kernels->luSolve(system->nv, system->H, system->hld, system->pivot, w);
    }
    for (int i = 0; i < system->setCount; ++i) {
        const rgSet* set = system->sets + i;
        const double* product = system->product + set->pairStart;
        double y[RG_SET_MAX];
        rgSetVelocity(system, i, w, y);
        for (int r = 0; r < set->size; ++r) {
            double sum = scaled[set->row + r];
            for (int k = 0; k < set->size; ++k) {
                sum -= product[r * set->size + k] * y[k];
            }
            x[set->row + r] = sum;
        }
    }
}

static void rgVelocity_SolveShift(rgSystem* system, double* x) {
    rgSolveThroughH(system, x, true, x);
}

static rgResult rgVelocity_FactorPair(rgSystem* system, const double* A, const double* B,
                                      const bool* idle, double eps) {
    system->factorizationCount += 1;
    for (int i = 0; i < system->setCount; ++i) {
        const rgSet* set = system->sets + i;
        int m = set->size;
        double E[RG_SET_MAX * RG_SET_MAX];
        for (int k = 0; k < m * m; ++k) {
            double R = system->R[set->row + k % m];
            E[k] = A[set->pairStart + k] + B[set->pairStart + k] * R + (k % (m + 1) == 0 ? eps : 0);
        }
        double* inverse = system->inverse + set->pairStart;
        if (!(m == 3 ? rgInvertThree(E, inverse) : rgInvertSmall(m, E, inverse))) {
            return rg_errorNumeric;
        }
        rgMultiplySmall(m, inverse, B + set->pairStart, system->product + set->pairStart);
    }
    rgAssembleH(system, idle, false);
    if (system->denseVelocity) {
        bool done = system->kernels->lu(system->nv, system->H, system->hld, system->pivot);
        return done ? rg_ok : rg_errorNumeric;
    }
    return rgBlockFactor_Lu(system->factor, (const double* const*)system->partValues, 0);
}

static void rgVelocity_SolvePair(rgSystem* system, const double* rhs, double* x) {
    rgSolveThroughH(system, rhs, false, x);
}

const rgSystemOps rgVelocityOps = {
    .apply = rgVelocity_Apply,
    .sweep = rgVelocity_Sweep,
    .factorShift = rgVelocity_FactorShift,
    .solveShift = rgVelocity_SolveShift,
    .factorPair = rgVelocity_FactorPair,
    .solvePair = rgVelocity_SolvePair,
};
