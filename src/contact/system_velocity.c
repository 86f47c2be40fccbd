// Velocity space: G = W W' + R is never formed, W = J L^-T with M = L L'. With E = A + eps I + B R,
// solves with A + eps I + B G go through
//     H = I + W' E^-1 B W,   H w = W' E^-1 b,   x = E^-1 (b - B W w)
// velocity.1-4. H has one block per pair of parts that a block couples. The
// shifted solve is the case A = shift I, B = I, where H is symmetric.
#include "contact/tuning.h"
#include "contact/whitened.h"

#include <math.h>
#include <stdatomic.h>
#include <string.h>

typedef struct rgVelocitySpace {
    rgWhitened rows; // scaled
    int* partStart;  // links of each part in partLinks, partCount + 1
    int* partLinks;  // ascending
    double* R;       // compliance, n
    rgMatrix H;
    rgJacobianKind* kinds; // of the last factorization, blockCount
    double* inverse;       // E^-1 of the last factorization, laid out like A
    double* product;       // E^-1 B likewise
    double* velocity;      // nv scratch, up to the stride
    double* impulse;       // n scratch
    double* base;          // one part: sum of w' w over rows that entry one entry of E^-1 B, like H
    unsigned* inBase;      // which those are, bits per block
    double* same;          // one part: rows w with H = I + sum of w' w, n
    double* left;          // one part: and the rest of it, sum of left' right
    double* right;         // these rows; else E^-1 B W of one link, by worker
    size_t rightCount;     // numbers of one worker
} rgVelocitySpace;

// Parts that a block couples; dense where they are few or small.
static rgResult rgFindCoupling(const rgWhitened* rows, const rgSystem* system,
                               rgCoupling* coupling) {
    int* start = RG_TAKE(system->arena, int, rows->partCount + 1);
    int bound = 0;
    for (int i = 0; i < system->blockCount; ++i) {
        int links = rows->linkStart[i + 1] - rows->linkStart[i];
        bound += links * (links - 1);
    }
    int* from = RG_TAKE(system->arena, int, bound);
    int* to = RG_TAKE(system->arena, int, bound);
    if (system->arena->failed) {
        return rg_errorMemory;
    }
    for (int p = 0; p < rows->partCount; ++p) {
        start[p] = rows->parts[p].start;
    }
    start[rows->partCount] = rows->nv;
    *coupling = (rgCoupling){rows->partCount, start, -1, from, to};
    if (rows->nv <= RG_DENSE_ROWS || rows->partCount <= 2) {
        return rg_ok;
    }
    coupling->count = 0;
    for (int i = 0; i < system->blockCount; ++i) {
        for (int l = rows->linkStart[i]; l < rows->linkStart[i + 1]; ++l) {
            for (int k = rows->linkStart[i]; k < rows->linkStart[i + 1]; ++k) {
                if (k != l) {
                    from[coupling->count] = rows->links[l].part;
                    to[coupling->count++] = rows->links[k].part;
                }
            }
        }
    }
    return rg_ok;
}

// Links by part.
static rgResult rgVelocity_ListParts(rgVelocitySpace* space, rgArena* arena) {
    const rgWhitened* rows = &space->rows;
    space->partStart = RG_TAKE(arena, int, rows->partCount + 2);
    space->partLinks = RG_TAKE(arena, int, rows->linkCount);
    if (arena->failed) {
        return rg_errorMemory;
    }
    int* fill = space->partStart + 1; // becomes the start of the next part
    memset(space->partStart, 0, ((size_t)rows->partCount + 2) * sizeof(int));
    for (int l = 0; l < rows->linkCount; ++l) {
        fill[rows->links[l].part + 1] += 1;
    }
    for (int p = 0; p < rows->partCount; ++p) {
        fill[p + 1] += fill[p];
    }
    for (int l = 0; l < rows->linkCount; ++l) {
        space->partLinks[fill[rows->links[l].part]++] = l;
    }
    return rg_ok;
}

// Diagonal blocks of G from W.
static void rgFillDiagonal(rgSystem* system, const rgVelocitySpace* space) {
    const rgWhitened* rows = &space->rows;
    for (int i = 0; i < system->blockCount; ++i) {
        const rgSystemBlock* block = system->blocks + i;
        int m = block->size;
        double* d = system->diagonal + block->entryStart;
        memset(d, 0, (size_t)(m * m) * sizeof(double));
        for (int l = rows->linkStart[i]; l < rows->linkStart[i + 1]; ++l) {
            int stride = rows->parts[rows->links[l].part].stride;
            for (int r = 0; r < m; ++r) {
                system->kernels->dotRows(r + 1, stride, rows->links[l].W,
                                         rows->links[l].W + r * stride, d + r * m);
            }
        }
        for (int r = 0; r < m; ++r) {
            d[r * m + r] += space->R[block->row + r];
            for (int c = 0; c < r; ++c) {
                d[c * m + r] = d[r * m + c];
            }
        }
    }
}

rgResult rgMakeVelocity(const rgSystemDef* def, const rgWhitened* rows, rgSystem* system) {
    rgArena* arena = def->arena;
    const double* compliance = def->problem->compliance;
    rgVelocitySpace* space = RG_TAKE(arena, rgVelocitySpace, 1);
    rgCoupling coupling;
    rgResult result = space != NULL ? rgFindCoupling(rows, system, &coupling) : rg_errorMemory;
    if (result != rg_ok) {
        return result;
    }
    size_t width = (size_t)rgLeadingDimension(rows->nv), n = (size_t)system->n;
    *space = (rgVelocitySpace){.rows = *rows,
                               .R = RG_TAKE(arena, double, n),
                               .kinds = RG_TAKE(arena, rgJacobianKind, system->blockCount),
                               .inverse = RG_TAKE(arena, double, system->entryCount),
                               .product = RG_TAKE(arena, double, system->entryCount),
                               .velocity = RG_TAKE(arena, double, width),
                               .impulse = RG_TAKE(arena, double, n),
                               .same = RG_TAKE(arena, double, rows->W != NULL ? n * width : 0),
                               .left = RG_TAKE(arena, double, rows->W != NULL ? n * width : 0)};
    size_t workers = (size_t)RG_MAX(system->tasks.workerCount, 1);
    space->rightCount = (rows->W != NULL ? n : RG_BLOCK_ROWS) * width;
    space->right = RG_TAKE(arena, double, workers * space->rightCount);
    size_t numbers = rows->W != NULL ? width * (size_t)rows->nv : 0;
    space->base = RG_TAKE(arena, double, numbers);
    space->inBase = RG_TAKE(arena, unsigned, system->blockCount);
    result = rgMatrix_Init(&space->H, &coupling, system->kernels, def->factor, arena);
    if (result != rg_ok || arena->failed) {
        return arena->failed ? rg_errorMemory : result;
    }
    memset(space->base, 0, numbers * sizeof(double));
    memset(space->inBase, 0, (size_t)system->blockCount * sizeof(unsigned));
    for (int i = 0; i < system->n; ++i) {
        space->R[i] = compliance != NULL ? compliance[system->globalRow[i]] : 0;
    }
    result = rgVelocity_ListParts(space, arena);
    if (result != rg_ok) {
        return result;
    }
    rgFillDiagonal(system, space);
    system->form = space;
    system->ops = &rgVelocityOps;
    return rg_ok;
}

static void rgVelocity_Scale(rgSystem* system) {
    rgVelocitySpace* space = system->form;
    const double* s = system->rowScale;
    double unit = system->massUnit, root = sqrt(unit); // an even power of two
    for (int l = 0; l < space->rows.linkCount; ++l) {
        rgVelocityLink* link = space->rows.links + l;
        const rgSystemBlock* block = system->blocks + link->block;
        const rgVelocityPart* part = space->rows.parts + link->part;
        for (int r = 0; r < block->size; ++r) {
            for (int c = 0; c < part->size; ++c) {
                link->W[r * part->stride + c] *= root * s[block->row + r];
            }
        }
    }
    for (int i = 0; i < system->n; ++i) {
        space->R[i] *= unit * s[i] * s[i];
    }
}

// y = W x or W' x, in progress.
typedef struct rgProduct {
    const rgSystem* system;
    const double* x;
    double* y;
} rgProduct;

static void rgGatherRange(int first, int end, int worker, void* context) {
    (void)worker;
    const rgProduct* product = context;
    const rgSystem* system = product->system;
    const rgVelocitySpace* space = system->form;
    for (int p = first; p < end; ++p) {
        const rgVelocityPart* part = space->rows.parts + p;
        double* y = product->y + part->start;
        memset(y, 0, (size_t)part->size * sizeof(double));
        for (int k = space->partStart[p]; k < space->partStart[p + 1]; ++k) {
            const rgVelocityLink* link = space->rows.links + space->partLinks[k];
            const rgSystemBlock* block = system->blocks + link->block;
            system->kernels->combineRows(block->size, part->size, product->x + block->row, link->W,
                                         y);
        }
    }
}

// velocity = W' x; up to the stride
static void rgGatherVelocity(const rgSystem* system, const double* x, double* velocity) {
    const rgVelocitySpace* space = system->form;
    const rgWhitened* rows = &space->rows;
    if (rows->W != NULL) {
        int stride = rows->parts[0].stride;
        system->kernels->multiply(stride, system->n, rows->W, stride, x, velocity);
        return;
    }
    rgProduct product = {system, x, velocity};
    rgSystem_Spread(system, rows->partCount, rgGatherRange, &product);
}

// y of one block = W velocity
static void rgBlockVelocity(const rgSystem* system, int i, const double* velocity, double* y) {
    const rgVelocitySpace* space = system->form;
    const rgWhitened* rows = &space->rows;
    int m = system->blocks[i].size;
    for (int r = 0; r < m; ++r) {
        y[r] = 0;
    }
    for (int l = rows->linkStart[i]; l < rows->linkStart[i + 1]; ++l) {
        const rgVelocityLink* link = rows->links + l;
        const rgVelocityPart* part = rows->parts + link->part;
        system->kernels->dotRows(m, part->stride, link->W, velocity + part->start, y);
    }
}

static void rgRowVelocityRange(int first, int end, int worker, void* context) {
    (void)worker;
    const rgProduct* product = context;
    for (int i = first; i < end; ++i) {
        rgBlockVelocity(product->system, i, product->x,
                        product->y + product->system->blocks[i].row);
    }
}

// y = W velocity
static void rgRowVelocities(const rgSystem* system, const double* velocity, double* y) {
    const rgVelocitySpace* space = system->form;
    if (space->rows.W != NULL) {
        int stride = space->rows.parts[0].stride;
        system->kernels->multiplyTransposed(stride, system->n, space->rows.W, stride, velocity, y);
        return;
    }
    rgProduct product = {system, velocity, y};
    rgSystem_Spread(system, system->blockCount, rgRowVelocityRange, &product);
}

static void rgVelocity_Apply(rgSystem* system, const double* x, double* y) {
    const rgVelocitySpace* space = system->form;
    rgGatherVelocity(system, x, space->velocity);
    rgRowVelocities(system, space->velocity, y);
    for (int i = 0; i < system->n; ++i) {
        y[i] += space->R[i] * x[i];
    }
}

// The pass works on the bodies' velocities; sigma of all blocks is renewed at its end.
static void rgVelocity_GaussSeidel(rgSystem* system, double* lambda, double* sigma,
                                   double relaxation) {
    const rgVelocitySpace* space = system->form;
    const rgWhitened* rows = &space->rows;
    double change[RG_BLOCK_ROWS], own[RG_BLOCK_ROWS];
    double* v = space->velocity;
    rgGatherVelocity(system, lambda, v);
    for (int i = 0; i < system->blockCount; ++i) {
        const rgSystemBlock* block = system->blocks + i;
        rgBlockVelocity(system, i, v, own);
        for (int r = 0; r < block->size; ++r) {
            own[r] += system->g[block->row + r] + space->R[block->row + r] * lambda[block->row + r];
        }
        if (!rgGaussSeidelBlock(system, block, relaxation, lambda + block->row, own, change)) {
            continue;
        }
        for (int l = rows->linkStart[i]; l < rows->linkStart[i + 1]; ++l) {
            const rgVelocityLink* link = rows->links + l;
            const rgVelocityPart* part = rows->parts + link->part;
            system->kernels->combineRows(block->size, part->stride, change, link->W,
                                         v + part->start);
        }
    }
    rgRowVelocities(system, v, sigma);
    for (int i = 0; i < system->n; ++i) {
        sigma[i] += system->g[i] + space->R[i] * lambda[i];
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

// Inverse of a small matrix, row by row: rows of E^-1 solve with E transposed, which E is by
// columns. False when it is singular.
static bool rgInvertSmall(const rgKernels* kernels, int m, double* E, double* inverse) {
    int pivot[RG_BLOCK_ROWS];
    if (!kernels->lu(m, E, m, pivot)) {
        return false;
    }
    memset(inverse, 0, (size_t)(m * m) * sizeof(double));
    for (int r = 0; r < m; ++r) {
        inverse[r * (m + 1)] = 1;
        kernels->luSolve(m, E, m, pivot, inverse + r * m);
    }
    return true;
}

// C = A B, m x m times m x columns
static inline void rgMultiplyBlock(int m, int columns, const double* A, const double* B,
                                   double* C) {
    for (int i = 0; i < m; ++i) {
        for (int j = 0; j < columns; ++j) {
            double sum = A[i * m] * B[j];
            for (int k = 1; k < m; ++k) {
                sum += A[i * m + k] * B[k * columns + j];
            }
            C[i * columns + j] = sum;
        }
    }
}

// y = A x of one block; contacts are worth a loop of their own
static inline void rgApplyBlock(int m, const double* A, const double* x, double* y) {
    if (m == 3) {
        rgMultiplyBlock(3, 1, A, x, y);
    } else {
        rgMultiplyBlock(m, 1, A, x, y);
    }
}

// block += W_a' (C W_b), by columns where H is dense, by rows where it is made of blocks
static void rgAddCoupling(const rgSystem* system, const rgVelocityLink* a, const rgVelocityLink* b,
                          const double* right) {
    const rgVelocitySpace* space = system->form;
    int m = system->blocks[a->block].size;
    int rows = space->rows.parts[a->part].size, columns = space->rows.parts[b->part].size;
    int rowStep, columnStep;
    double* block = rgMatrix_Block(&space->H, a->part, b->part, &rowStep, &columnStep);
    if (rowStep == 1) {
        system->kernels->addOuterProduct(rows, columns, m, a->W, rows, right, columns, block,
                                         columnStep);
    } else {
        system->kernels->addOuterProduct(columns, rows, m, right, columns, a->W, rows, block,
                                         rowStep);
    }
}

// y = a x + b z
static inline void rgCombineTwo(int n, double a, const double* x, double b, const double* z,
                                double* y) {
    for (int i = 0; i < n; ++i) {
        y[i] = a * x[i] + b * z[i];
    }
}

// Entry of E^-1 B that rigid sticking rows and normals of rigid slipping contacts share; 0: there
// are none.
static double rgCommonEntry(const rgSystem* system, const rgJacobianKind* kinds) {
    const rgVelocitySpace* space = system->form;
    for (int i = 0; i < system->blockCount; ++i) {
        const rgSystemBlock* block = system->blocks + i;
        rgJacobianKind kind = kinds != NULL ? kinds[i] : rg_jacobianRows;
        for (int r = kind == rg_jacobianSlip ? 2 : 0; r < block->size && kind >= rg_jacobianRows;
             ++r) {
            double entry = space->product[block->entryStart + r * (block->size + 1)];
            if (entry != 0 && space->R[block->row + r] == 0) {
                return entry;
            }
        }
    }
    return 0;
}

// Rows of a block that have it, as bits.
static unsigned rgCommonRows(const rgSystem* system, int i, rgJacobianKind kind, double entry) {
    const rgVelocitySpace* space = system->form;
    const rgSystemBlock* block = system->blocks + i;
    unsigned rows = 0;
    for (int r = kind == rg_jacobianSlip ? 2 : 0; r < block->size && kind >= rg_jacobianRows; ++r) {
        bool common = space->product[block->entryStart + r * (block->size + 1)] == entry;
        rows |= common && entry != 0 ? 1u << r : 0;
    }
    return rows;
}

// velocity.6: Sum of w' w over the common rows: those that have come since the last time are added,
// those that have gone subtracted.
static void rgUpdateBase(const rgSystem* system, const rgJacobianKind* kinds, double entry) {
    rgVelocitySpace* space = system->form;
    int stride = space->rows.parts[0].stride, come = 0, gone = 0;
    size_t step = (size_t)stride, bytes = step * sizeof(double);
    for (int i = 0; i < system->blockCount; ++i) {
        unsigned rows = rgCommonRows(system, i, kinds != NULL ? kinds[i] : rg_jacobianRows, entry);
        unsigned changed = rows ^ space->inBase[i];
        const double* W = space->rows.links[i].W;
        for (int r = 0; r < system->blocks[i].size && changed != 0; ++r, W += step) {
            if ((changed & rows & 1u << r) != 0) {
                memcpy(space->same + (size_t)come++ * step, W, bytes);
            } else if ((changed & 1u << r) != 0) {
                memcpy(space->left + (size_t)gone++ * step, W, bytes);
            }
        }
        space->inBase[i] = rows;
    }
    const rgMatrix* H = &space->H;
    system->kernels->addSelfProduct(H->n, come, space->same, stride, space->base, H->ld);
    system->kernels->subtractSelfProduct(H->n, gone, space->left, stride, space->base, H->ld);
}

// Rows of one block that are not common; where they end up is returned in rows.
typedef struct rgRowLists {
    double *same, *left, *right;
} rgRowLists;

static void rgListOtherRows(const rgSystem* system, int i, rgJacobianKind kind, rgRowLists* lists) {
    const rgVelocitySpace* space = system->form;
    const rgSystemBlock* block = system->blocks + i;
    const double *W = space->rows.links[i].W, *C = space->product + block->entryStart;
    int m = block->size, stride = space->rows.parts[0].stride;
    size_t step = (size_t)stride;
    unsigned common = space->inBase[i];
    for (int r = kind == rg_jacobianSlip ? 2 : 0; r < m && kind >= rg_jacobianRows; ++r) {
        double entry = C[r * (m + 1)];
        if ((common & 1u << r) == 0 && entry != 0) {
            rgCombineTwo(stride, sqrt(entry), W + (size_t)r * step, 0, W, lists->same);
            lists->same += step;
        }
    }
    if (kind == rg_jacobianSlip) {
        double x = C[2], y = C[5]; // mu t, times the entry of the normal
        double across = sqrt((C[0] + C[4]) / (x * x + y * y)); // its entries are symmetric
        rgCombineTwo(stride, -across * y, W, across * x, W + step, lists->same);
        rgCombineTwo(stride, x, W, y, W + step, lists->left);
        memcpy(lists->right, W + 2 * step, step * sizeof(double));
        lists->same += step;
        lists->left += step;
        lists->right += step;
    } else if (kind == rg_jacobianWhole) {
        memcpy(lists->left, W, (size_t)m * step * sizeof(double));
        system->kernels->transformRows(m, stride, C, W, lists->right);
        lists->left += (size_t)m * step;
        lists->right += (size_t)m * step;
    }
}

// velocity.5: H = I + W' (E^-1 B) W over all rows at once: a symmetric product, and beside it the
// columns of the normal in slips, and whole blocks. True when the rest is empty.
static bool rgAddAllRows(const rgSystem* system, const rgJacobianKind* kinds) {
    const rgVelocitySpace* space = system->form;
    const rgMatrix* H = &space->H;
    int stride = space->rows.parts[0].stride;
    double entry = rgCommonEntry(system, kinds);
    rgUpdateBase(system, kinds, entry);
    rgRowLists lists = {space->same, space->left, space->right};
    for (int i = 0; i < system->blockCount; ++i) {
        rgListOtherRows(system, i, kinds != NULL ? kinds[i] : rg_jacobianRows, &lists);
    }
    size_t ld = (size_t)H->ld;
    for (size_t j = 0; j < (size_t)H->n; ++j) {
        for (size_t i = j; i < (size_t)H->n; ++i) {
            H->values[j * ld + i] = entry * space->base[j * ld + i];
        }
        H->values[j * (ld + 1)] += 1;
    }
    int count = (int)((lists.same - space->same) / stride);
    int rest = (int)((lists.left - space->left) / stride);
    system->kernels->addSelfProduct(H->n, count, space->same, stride, H->values, H->ld);
    if (rest == 0) {
        return true;
    }
    for (size_t j = 0; j < (size_t)H->n; ++j) {
        for (size_t i = j + 1; i < (size_t)H->n; ++i) {
            H->values[i * ld + j] = H->values[j * ld + i];
        }
    }
    system->kernels->addOuterProduct(H->n, H->n, rest, space->left, stride, space->right, stride,
                                     H->values, H->ld);
    return false;
}

// H in progress; its upper triangle is left out when it is symmetric.
typedef struct rgAssembly {
    const rgSystem* system;
    const rgJacobianKind* kinds;
    bool symmetric;
} rgAssembly;

// Columns of H that belong to some parts. Blocks come in their order, for every number of threads.
static void rgAssembleRange(int first, int end, int worker, void* context) {
    const rgAssembly* assembly = context;
    const rgSystem* system = assembly->system;
    const rgJacobianKind* kinds = assembly->kinds;
    const rgVelocitySpace* space = system->form;
    const rgWhitened* rows = &space->rows;
    double* right = space->right + (size_t)worker * space->rightCount;
    for (int k = space->partStart[first]; k < space->partStart[end]; ++k) {
        const rgVelocityLink* link = rows->links + space->partLinks[k];
        int i = link->block;
        if (kinds != NULL && kinds[i] == rg_jacobianIdle) {
            continue;
        }
        const rgSystemBlock* block = system->blocks + i;
        system->kernels->transformRows(block->size, rows->parts[link->part].size,
                                       space->product + block->entryStart, link->W, right);
        for (int l = rows->linkStart[i]; l < rows->linkStart[i + 1]; ++l) {
            if (!assembly->symmetric || rows->links[l].part >= link->part) {
                rgAddCoupling(system, rows->links + l, link, right);
            }
        }
    }
}

// H = I + sum of W' (E^-1 B) W; its upper triangle is left out when H is symmetric, which is
// returned. kinds NULL: E^-1 B is diagonal.
static bool rgAssembleH(const rgSystem* system, const rgJacobianKind* kinds) {
    rgVelocitySpace* space = system->form;
    const rgWhitened* rows = &space->rows;
    if (rows->W != NULL) {
        return rgAddAllRows(system, kinds);
    }
    rgMatrix_SetDiagonal(&space->H, 1);
    bool symmetric = true;
    for (int i = 0; i < system->blockCount && kinds != NULL; ++i) {
        symmetric = symmetric && (kinds[i] == rg_jacobianIdle || kinds[i] == rg_jacobianRows);
    }
    rgAssembly assembly = {system, kinds, symmetric};
    rgSystem_Spread(system, rows->partCount, rgAssembleRange, &assembly);
    return symmetric;
}

static rgResult rgVelocity_FactorShift(rgSystem* system, double shift) {
    rgVelocitySpace* space = system->form;
    system->factorizationCount += 1;
    memset(space->inverse, 0, (size_t)system->entryCount * sizeof(double));
    for (int i = 0; i < system->blockCount; ++i) {
        const rgSystemBlock* block = system->blocks + i;
        for (int r = 0; r < block->size; ++r) {
            space->inverse[block->entryStart + r * (block->size + 1)] =
                1 / (shift + space->R[block->row + r]);
        }
    }
    memcpy(space->product, space->inverse, (size_t)system->entryCount * sizeof(double));
    rgAssembleH(system, NULL);
    return rgMatrix_Cholesky(&space->H, 0);
}

// x = E^-1 (b - B W w), H w = W' E^-1 b; w = W' x, hence G x = W w + R x
static void rgVelocity_SolveNewton(rgSystem* system, const double* rhs, double* x, double* moved) {
    const rgVelocitySpace* space = system->form;
    double* scaled = space->impulse;
    for (int i = 0; i < system->blockCount; ++i) {
        const rgSystemBlock* block = system->blocks + i;
        rgApplyBlock(block->size, space->inverse + block->entryStart, rhs + block->row,
                     scaled + block->row);
    }
    double* w = space->velocity;
    rgGatherVelocity(system, scaled, w);
    rgMatrix_Solve(&space->H, w);
    rgRowVelocities(system, w, x);
    for (int i = 0; i < system->blockCount; ++i) {
        const rgSystemBlock* block = system->blocks + i;
        double y[RG_BLOCK_ROWS];
        rgApplyBlock(block->size, space->product + block->entryStart, x + block->row, y);
        for (int r = 0; r < block->size; ++r) {
            int row = block->row + r;
            double own = scaled[row] - y[r];
            if (moved != NULL) {
                moved[row] = x[row] + space->R[row] * own;
            }
            x[row] = own;
        }
    }
}

static void rgVelocity_SolveShift(rgSystem* system, double* x) {
    rgVelocity_SolveNewton(system, x, x, NULL);
}

// velocity.3: E^-1 and E^-1 B of one block; false when E is singular.
static bool rgInvertBlock(const rgSystem* system, const rgSystemBlock* block, const double* A,
                          const double* B, double eps) {
    const rgVelocitySpace* space = system->form;
    const double* R = space->R + block->row;
    double* inverse = space->inverse + block->entryStart;
    double* product = space->product + block->entryStart;
    int m = block->size;
    double E[RG_BLOCK_ROWS * RG_BLOCK_ROWS];
    for (int r = 0; r < m; ++r) {
        for (int c = 0; c < m; ++c) {
            E[r * m + c] = A[r * m + c] + B[r * m + c] * R[c];
        }
        E[r * m + r] += eps;
    }
    bool regular =
        m == 3 ? rgInvertThree(E, inverse) : rgInvertSmall(system->kernels, m, E, inverse);
    if (m == 3) {
        rgMultiplyBlock(3, 3, inverse, B, product);
    } else if (regular) {
        rgMultiplyBlock(m, m, inverse, B, product);
    }
    return regular;
}

// The same row by row. False when a row has no inverse.
static bool rgInvertRows(const rgVelocitySpace* space, const rgSystemBlock* block, const double* A,
                         const double* B, double eps) {
    size_t bytes = (size_t)(block->size * block->size) * sizeof(double);
    memset(space->inverse + block->entryStart, 0, bytes);
    memset(space->product + block->entryStart, 0, bytes);
    bool regular = true;
    for (int r = 0, at = 0; r < block->size; ++r, at += block->size + 1) {
        double E = A[at] + B[at] * space->R[block->row + r] + eps;
        space->inverse[block->entryStart + at] = 1 / E;
        space->product[block->entryStart + at] = B[at] / E;
        regular = regular && E > 0;
    }
    return regular;
}

// Slip with the same compliance along both tangents: across t, the normal, and the share of the
// normal along t.
static void rgInvertSlip(const rgVelocitySpace* space, const rgSystemBlock* block, const double* A,
                         const double* B, double eps) {
    rgSlip slip = rgSlip_Of(block, A, B);
    const double *R = space->R + block->row, *t = slip.t;
    double across = 1 / (slip.A + slip.B * R[0] + eps), normal = 1 / (A[8] + B[8] * R[2] + eps);
    double along = 1 / (1 + eps), mu = block->mu;
    double* inverse = space->inverse + block->entryStart;
    double* product = space->product + block->entryStart;
    double xx = t[0] * t[0], xy = t[0] * t[1], yy = t[1] * t[1];
    inverse[0] = across * yy + along * xx;
    inverse[1] = inverse[3] = (along - across) * xy;
    inverse[4] = across * xx + along * yy;
    inverse[2] = mu * t[0] * (normal - along);
    inverse[5] = mu * t[1] * (normal - along);
    inverse[6] = inverse[7] = product[6] = product[7] = 0;
    inverse[8] = normal;
    across *= slip.B;
    normal *= B[8];
    product[0] = across * yy;
    product[1] = product[3] = -across * xy;
    product[4] = across * xx;
    product[2] = mu * t[0] * normal;
    product[5] = mu * t[1] * normal;
    product[8] = normal;
}

static bool rgInvertKind(const rgSystem* system, int i, const double* A, const double* B,
                         rgJacobianKind kind, double eps) {
    const rgVelocitySpace* space = system->form;
    const rgSystemBlock* block = system->blocks + i;
    A += block->entryStart;
    B += block->entryStart;
    if (kind == rg_jacobianSlip) {
        rgInvertSlip(space, block, A, B, eps);
        return true;
    }
    return kind == rg_jacobianWhole ? rgInvertBlock(system, block, A, B, eps)
                                    : rgInvertRows(space, block, A, B, eps);
}

// E of all blocks, in progress.
typedef struct rgInversion {
    const rgSystem* system;
    const double *A, *B;
    const rgJacobianKind* kinds;
    double eps;
    atomic_bool singular;
} rgInversion;

static void rgInvertRange(int first, int end, int worker, void* context) {
    (void)worker;
    rgInversion* run = context;
    const rgVelocitySpace* space = run->system->form;
    for (int i = first; i < end; ++i) {
        const double* R = space->R + run->system->blocks[i].row;
        bool whole = run->kinds[i] == rg_jacobianSlip && R[0] != R[1];
        space->kinds[i] = whole ? rg_jacobianWhole : run->kinds[i];
        if (!rgInvertKind(run->system, i, run->A, run->B, space->kinds[i], run->eps)) {
            atomic_store(&run->singular, true);
        }
    }
}

static rgResult rgVelocity_FactorNewton(rgSystem* system, const double* A, const double* B,
                                        const rgJacobianKind* kinds, double eps) {
    rgVelocitySpace* space = system->form;
    system->factorizationCount += 1;
    rgInversion run = {system, A, B, kinds, eps, false};
    rgSystem_Spread(system, system->blockCount, rgInvertRange, &run);
    if (atomic_load(&run.singular)) {
        return rg_errorNumeric;
    }
    bool symmetric = rgAssembleH(system, space->kinds);
    return symmetric ? rgMatrix_Cholesky(&space->H, 0) : rgMatrix_Lu(&space->H, 0);
}

// Columns of H^-1 W' for the rows of a few blocks, in the parts that these blocks act on and zero
// elsewhere: products with padded rows read beyond a part.
static void rgSolveRows(const rgVelocitySpace* space, int count, const int* blocks, bool* touched,
                        double* columns, size_t lead) {
    const rgWhitened* rows = &space->rows;
    memset(touched, 0, (size_t)rows->partCount * sizeof(bool));
    memset(columns, 0, 3 * (size_t)count * lead * sizeof(double));
    for (int i = 0; i < count; ++i) {
        for (int l = rows->linkStart[blocks[i]]; l < rows->linkStart[blocks[i] + 1]; ++l) {
            const rgVelocityLink* link = rows->links + l;
            const rgVelocityPart* part = rows->parts + link->part;
            touched[link->part] = true;
            for (int r = 0; r < 3; ++r) {
                memcpy(columns + (size_t)(3 * i + r) * lead + part->start,
                       link->W + r * part->stride, (size_t)part->size * sizeof(double));
            }
        }
    }
    rgMatrix_SolveSome(&space->H, touched, 3 * count, columns, (int)lead);
}

// C = W H^-1 W', X = E^-1 (I - B C E^-1), Y = C E^-1 + R X: the block of one pair of blocks, from
// the three columns of the second. X and Y point to the block.
static void rgRespondBlock(const rgSystem* system, int i, int j, const double* columns, size_t lead,
                           double* X, double* Y, int ld) {
    const rgVelocitySpace* space = system->form;
    const rgSystemBlock* row = system->blocks + i;
    const double* inverse = space->inverse + system->blocks[j].entryStart;
    double C[9], CE[9], BCE[9];
    for (int k = 0; k < 3; ++k) {
        double own[RG_BLOCK_ROWS];
        rgBlockVelocity(system, i, columns + (size_t)k * lead, own);
        for (int r = 0; r < 3; ++r) {
            C[3 * r + k] = own[r];
        }
    }
    rgMultiplyBlock(3, 3, C, inverse, CE);
    rgMultiplyBlock(3, 3, space->product + row->entryStart, CE, BCE);
    for (int k = 0; k < 9; ++k) {
        int r = k / 3;
        int at = k % 3 * ld + r;
        X[at] = (i == j ? inverse[k] : 0) - BCE[k];
        Y[at] = CE[k] + space->R[row->row + r] * X[at];
    }
}

static rgResult rgVelocity_Respond(rgSystem* system, int count, const int* blocks, double* X,
                                   double* Y, int ld) {
    const rgVelocitySpace* space = system->form;
    rgArenaMark mark = rgArena_Mark(system->arena);
    const rgVelocityPart* last = space->rows.parts + space->rows.partCount - 1;
    size_t lead = (size_t)last->start + (size_t)last->stride;
    double* columns = RG_TAKE(system->arena, double, 3 * (size_t)count * lead);
    bool* touched = RG_TAKE(system->arena, bool, space->rows.partCount);
    if (columns == NULL || touched == NULL) {
        return rg_errorMemory;
    }
    rgSolveRows(space, count, blocks, touched, columns, lead);
    for (int j = 0; j < count; ++j) {
        for (int i = 0; i < count; ++i) {
            size_t at = 3 * ((size_t)j * (size_t)ld + (size_t)i);
            rgRespondBlock(system, blocks[i], blocks[j], columns + 3 * (size_t)j * lead, lead,
                           X + at, Y + at, ld);
        }
    }
    rgArena_Return(system->arena, mark);
    return rg_ok;
}

const rgSystemOps rgVelocityOps = {
    .scale = rgVelocity_Scale,
    .apply = rgVelocity_Apply,
    .gaussSeidel = rgVelocity_GaussSeidel,
    .factorShift = rgVelocity_FactorShift,
    .solveShift = rgVelocity_SolveShift,
    .factorNewton = rgVelocity_FactorNewton,
    .solveNewton = rgVelocity_SolveNewton,
    .respond = rgVelocity_Respond,
};
