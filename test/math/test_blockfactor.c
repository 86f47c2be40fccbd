// The block factorization against a dense solve on many patterns, its memory, and its refusals.
#include "math/blockfactor_private.h"
#include "support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// A matrix of blocks that owns its arrays.
typedef struct rgBlocks {
    rgBlockPattern pattern;
    int* ints;
    double* numbers;
    const double** values;
    int scalarCount;
} rgBlocks;

// Links between blocks as a dense table of flags; sizes of blocks.
typedef struct rgGraph {
    int count;
    int* size;
    bool* linked;
} rgGraph;

static rgGraph rgNewGraph(int count, int size) {
    rgGraph g = {count, calloc((size_t)count + 1, sizeof(int)),
                 calloc((size_t)(count * count) + 1, sizeof(bool))};
    assert_true(g.size != NULL && g.linked != NULL);
    for (int i = 0; i < count; ++i) {
        g.size[i] = size;
        g.linked[i * count + i] = true;
    }
    return g;
}

static void rgLink(rgGraph* g, int i, int j) {
    g->linked[i * g->count + j] = g->linked[j * g->count + i] = true;
}

static void rgFreeGraph(rgGraph* g) {
    free(g->size), free(g->linked);
}

// Random values, not symmetric.
static rgBlocks rgNewBlocks(const rgGraph* g, uint64_t seed) {
    rgBlocks b = {0};
    int n = g->count, links = 0, numbers = 0;
    for (int k = 0; k < n * n; ++k) {
        links += g->linked[k];
        numbers += g->linked[k] ? g->size[k / n] * g->size[k % n] : 0;
    }
    b.ints = calloc((size_t)(2 * (n + 1) + links), sizeof(int));
    b.numbers = calloc((size_t)numbers + 1, sizeof(double));
    b.values = calloc((size_t)links + 1, sizeof(double*));
    assert_true(b.ints != NULL && b.numbers != NULL && b.values != NULL);
    int *blockStart = b.ints, *rowStart = b.ints + n + 1, *column = rowStart + n + 1;
    int k = 0, used = 0;
    rgRandom random = {seed};
    for (int i = 0; i < n; ++i) {
        blockStart[i + 1] = blockStart[i] + g->size[i];
        for (int j = 0; j < n; ++j) {
            if (!g->linked[i * n + j]) {
                continue;
            }
            double* value = b.numbers + used;
            for (int e = 0; e < g->size[i] * g->size[j]; ++e) {
                value[e] = rgRandom_Uniform(&random, -1, 1);
            }
            b.values[k] = value;
            used += g->size[i] * g->size[j];
            column[k++] = j;
        }
        rowStart[i + 1] = k;
    }
    b.pattern = (rgBlockPattern){n, blockStart, rowStart, column};
    b.scalarCount = blockStart[n];
    return b;
}

static void rgFreeBlocks(rgBlocks* b) {
    free(b->ints), free(b->numbers), free(b->values);
}

static double* rgToDense(const rgBlocks* b) {
    const rgBlockPattern* p = &b->pattern;
    int n = b->scalarCount;
    double* A = calloc((size_t)(n * n) + 1, sizeof(double));
    assert_non_null(A);
    for (int i = 0; i < p->blockCount; ++i) {
        for (int k = p->rowStart[i]; k < p->rowStart[i + 1]; ++k) {
            int j = p->column[k], width = p->blockStart[j + 1] - p->blockStart[j];
            for (int e = 0; e < (p->blockStart[i + 1] - p->blockStart[i]) * width; ++e) {
                A[(p->blockStart[i] + e / width) + (p->blockStart[j] + e % width) * n] =
                    b->values[k][e];
            }
        }
    }
    return A;
}

// Make the blocks symmetric and dominant from the lower triangle.
static void rgMakePositive(rgBlocks* b) {
    const rgBlockPattern* p = &b->pattern;
    int n = b->scalarCount;
    double* A = rgToDense(b);
    for (int i = 0; i < n; ++i) {
        double sum = 0.1;
        for (int j = 0; j < n; ++j) {
            A[i + j * n] = i < j ? A[j + i * n] : A[i + j * n];
            sum += i == j ? 0 : fabs(A[i + j * n]);
        }
        A[i + i * n] = sum;
    }
    for (int i = 0; i < p->blockCount; ++i) {
        for (int k = p->rowStart[i]; k < p->rowStart[i + 1]; ++k) {
            int j = p->column[k], width = p->blockStart[j + 1] - p->blockStart[j];
            double* value = b->numbers + (b->values[k] - b->numbers);
            for (int e = 0; e < (p->blockStart[i + 1] - p->blockStart[i]) * width; ++e) {
                value[e] = A[(p->blockStart[i] + e / width) + (p->blockStart[j] + e % width) * n];
            }
        }
    }
    free(A);
}

// ||(A + shift) x - b|| relative to ||A|| ||x||
static double rgBackwardError(const rgBlocks* b, double shift, const double* x, const double* rhs) {
    int n = b->scalarCount;
    double* A = rgToDense(b);
    double worst = 0, size = 0, length = 0;
    for (int i = 0; i < n; ++i) {
        double s = shift * x[i] - rhs[i], row = fabs(shift);
        for (int j = 0; j < n; ++j) {
            s += A[i + j * n] * x[j];
            row += fabs(A[i + j * n]);
        }
        worst = isnan(s) ? INFINITY : fmax(worst, fabs(s));
        size = fmax(size, row);
        length = fmax(length, fabs(x[i]));
    }
    free(A);
    return n == 0 ? 0 : worst / (size * length);
}

static void rgExpectSolve(rgBlockFactor* factor, const rgBlocks* b, double shift,
                          double tolerance) {
    int n = b->scalarCount;
    double* rhs = calloc((size_t)n + 1, sizeof(double));
    double* x = calloc((size_t)n + 1, sizeof(double));
    assert_true(rhs != NULL && x != NULL);
    rgRandom random = {99};
    for (int i = 0; i < n; ++i) {
        x[i] = rhs[i] = rgRandom_Uniform(&random, -1, 1);
    }
    rgBlockFactor_Solve(factor, x);
    EXPECT_NEAR(rgBackwardError(b, shift, x, rhs), 0, tolerance);
    free(rhs), free(x);
}

// Many right-hand sides together against one at a time: full ones, ones with a single block, zero.
static void rgExpectSolveMany(rgBlockFactor* factor, const rgBlocks* b, int count,
                              double tolerance) {
    int n = b->scalarCount, ldx = n + 3;
    double* x = calloc((size_t)(ldx * count) + 1, sizeof(double));
    double* y = calloc((size_t)(ldx * count) + 1, sizeof(double));
    assert_true(x != NULL && y != NULL);
    rgRandom random = {7};
    for (int c = 0; c < count && n > 0; ++c) {
        int block = rgRandom_Index(&random, b->pattern.blockCount);
        for (int i = 0; i < ldx; ++i) {
            bool inside = i >= b->pattern.blockStart[block] && i < b->pattern.blockStart[block + 1];
            bool used = i >= n || count < 10 || c == 30 || (c % 5 != 4 && inside);
            x[c * ldx + i] = y[c * ldx + i] = used ? rgRandom_Uniform(&random, -1, 1) : 0;
        }
    }
    rgBlockFactor_SolveMany(factor, count, x, ldx);
    double largest = 0, difference = 0;
    for (int c = 0; c < count; ++c) {
        rgBlockFactor_Solve(factor, y + c * ldx);
        for (int i = 0; i < n; ++i) {
            largest = fmax(largest, fabs(y[c * ldx + i]));
            double d = fabs(x[c * ldx + i] - y[c * ldx + i]);
            difference = isnan(d) ? INFINITY : fmax(difference, d);
        }
        // What lies between the columns stays.
        assert_memory_equal(x + c * ldx + n, y + c * ldx + n, 3 * sizeof(double));
    }
    EXPECT_NEAR(difference, 0, tolerance * largest);
    free(x), free(y);
}

// Some blocks only: every third one, against full solves.
static void rgExpectSolveSome(rgBlockFactor* factor, const rgBlocks* b, int count,
                              double tolerance) {
    int n = b->scalarCount, blocks = b->pattern.blockCount;
    bool* chosen = calloc((size_t)blocks + 1, sizeof(bool));
    double* x = calloc((size_t)(n * count) + 1, sizeof(double));
    double* y = calloc((size_t)(n * count) + 1, sizeof(double));
    assert_true(chosen != NULL && x != NULL && y != NULL);
    rgRandom random = {8};
    for (int i = 0; i < blocks; ++i) {
        chosen[i] = i % 3 == 1;
        for (int k = b->pattern.blockStart[i] * count; k < b->pattern.blockStart[i + 1] * count;
             ++k) {
            int at = k / count + k % count * n;
            x[at] = y[at] = chosen[i] ? rgRandom_Uniform(&random, -1, 1) : 0;
            x[at] = chosen[i] ? x[at] : 77;
        }
    }
    rgBlockFactor_SolveSome(factor, chosen, count, x, n);
    double largest = 0, difference = 0;
    for (int c = 0; c < count; ++c) {
        rgBlockFactor_Solve(factor, y + c * n);
        for (int i = 0; i < blocks; ++i) {
            for (int k = b->pattern.blockStart[i]; k < b->pattern.blockStart[i + 1]; ++k) {
                double d = fabs(x[c * n + k] - (chosen[i] ? y[c * n + k] : 77));
                largest = fmax(largest, fabs(y[c * n + k]));
                difference = isnan(d) ? INFINITY : fmax(difference, d);
            }
        }
    }
    EXPECT_NEAR(difference, 0, tolerance * largest);
    free(chosen), free(x), free(y);
}

static void rgExpectSolves(rgBlockFactor* factor, const rgBlocks* b, double shift,
                           double tolerance) {
    rgExpectSolve(factor, b, shift, tolerance);
    rgExpectSolveMany(factor, b, 1, 100 * tolerance);
    rgExpectSolveMany(factor, b, 50, 100 * tolerance);
    rgExpectSolveSome(factor, b, 26, 100 * tolerance);
}

// Both factorizations of a graph with random values, in every kernel table.
static void rgCheckGraph(const rgGraph* g, uint64_t seed) {
    static const rgKernelSet sets[] = {rg_kernelsPlain, rg_kernelsAvx2, rg_kernelsAvx512,
                                       rg_kernelsNeon};
    rgBlocks positive = rgNewBlocks(g, seed);
    rgMakePositive(&positive);
    rgBlocks general = rgNewBlocks(g, seed + 1);
    for (int t = 0; t < 3; ++t) {
        rgBlockFactor* factor = NULL;
        assert_int_equal(rgCreateBlockFactor(NULL, rgSelectKernels(sets[t]), &factor), rg_ok);
        assert_int_equal(rgBlockFactor_Analyse(factor, &positive.pattern), rg_ok);
        assert_int_equal(rgBlockFactor_Cholesky(factor, positive.values, 0.25), rg_ok);
        rgExpectSolves(factor, &positive, 0.25, 1e-14);
        assert_int_equal(rgBlockFactor_Lu(factor, positive.values, 0.25), rg_ok);
        rgExpectSolves(factor, &positive, 0.25, 1e-14);
        // Not symmetric, with a diagonal large enough for pivots inside fronts.
        assert_int_equal(rgBlockFactor_Lu(factor, general.values, 10), rg_ok);
        rgExpectSolves(factor, &general, 10, 1e-12);
        rgDestroyBlockFactor(factor);
    }
    rgFreeBlocks(&positive), rgFreeBlocks(&general);
}

static void test_random_patterns(void** state) {
    (void)state;
    rgRandom random = {5};
    for (int round = 0; round < 60; ++round) {
        rgGraph g = rgNewGraph(1 + rgRandom_Index(&random, 40), 3);
        for (int i = 0; i < g.count; ++i) {
            g.size[i] = round % 3 == 0   ? 3
                        : round % 3 == 1 ? 1 + rgRandom_Index(&random, 7)
                                         : (i % 9 == 0 ? 30 : 6);
        }
        int links = rgRandom_Index(&random, 3 * g.count);
        for (int k = 0; k < links; ++k) {
            rgLink(&g, rgRandom_Index(&random, g.count), rgRandom_Index(&random, g.count));
        }
        rgCheckGraph(&g, 10 + (uint64_t)round);
        rgFreeGraph(&g);
    }
}

static void test_special_patterns(void** state) {
    (void)state;
    enum { rg_empty, rg_one, rg_chain, rg_apart, rg_star, rg_dense, rg_grid, rg_kinds };
    static const int counts[rg_kinds] = {0, 1, 60, 20, 50, 15, 64};
    for (int kind = 0; kind < rg_kinds; ++kind) {
        rgGraph g = rgNewGraph(counts[kind], kind == rg_star ? 3 : 4);
        for (int i = 0; i < g.count; ++i) {
            for (int j = 0; j < i; ++j) {
                bool near = j / 8 == i / 8 ? i - j == 1 : i - j == 8;
                if (kind == rg_dense || (kind == rg_chain && i - j == 1) ||
                    (kind == rg_star && j == 0) || (kind == rg_grid && near) ||
                    (kind == rg_apart && i / 5 == j / 5 && i - j < 3)) {
                    rgLink(&g, i, j);
                }
            }
        }
        rgCheckGraph(&g, 30);
        rgFreeGraph(&g);
    }
}

// A grid of bodies, as a pile has it.
static rgGraph rgNewGrid(int side, int size) {
    rgGraph g = rgNewGraph(side * side, size);
    for (int i = 0; i < side * side; ++i) {
        if (i % side > 0) {
            rgLink(&g, i, i - 1);
        }
        if (i >= side) {
            rgLink(&g, i, i - side);
        }
    }
    return g;
}

static void test_chain_has_no_fill(void** state) {
    (void)state;
    rgGraph g = rgNewGraph(100, 6);
    for (int i = 1; i < g.count; ++i) {
        rgLink(&g, i, i - 1);
    }
    rgBlocks b = rgNewBlocks(&g, 1);
    rgBlockFactor* factor = NULL;
    assert_int_equal(rgCreateBlockFactor(NULL, NULL, &factor), rg_ok);
    assert_int_equal(rgBlockFactor_Analyse(factor, &b.pattern), rg_ok);
    // Without fill: 100 triangles of 6 and 99 full blocks. Merged fronts add some zeros.
    double least = 100 * 21 + 99 * 36;
    assert_true(rgBlockFactor_Entries(factor) >= least);
    assert_true(rgBlockFactor_Entries(factor) <= 4 * least);
    assert_true(rgBlockFactor_LuFlops(factor) == 2 * rgBlockFactor_CholeskyFlops(factor));
    rgDestroyBlockFactor(factor);
    rgFreeBlocks(&b), rgFreeGraph(&g);
}

static void test_memory_settles(void** state) {
    (void)state;
    rgCounter counter = {.failAfter = -1};
    rgAllocator allocator = rgCountingAllocator(&counter);
    rgGraph large = rgNewGrid(9, 3), small = rgNewGrid(5, 3);
    rgBlocks b = rgNewBlocks(&large, 1), c = rgNewBlocks(&small, 2);
    rgMakePositive(&b), rgMakePositive(&c);
    rgBlockFactor* factor = NULL;
    assert_int_equal(rgCreateBlockFactor(&allocator, NULL, &factor), rg_ok);
    int settled = 0;
    for (int round = 0; round < 4; ++round) {
        const rgBlocks* used = round % 2 ? &c : &b;
        assert_int_equal(rgBlockFactor_Analyse(factor, &used->pattern), rg_ok);
        assert_int_equal(rgBlockFactor_Cholesky(factor, used->values, 0), rg_ok);
        rgExpectSolves(factor, used, 0, 1e-14);
        assert_int_equal(rgBlockFactor_Lu(factor, used->values, 0), rg_ok);
        rgExpectSolves(factor, used, 0, 1e-14);
        if (round == 0) {
            settled = counter.allocations;
        }
        assert_int_equal(counter.allocations, settled);
    }
    rgDestroyBlockFactor(factor);
    assert_int_equal(counter.live, 0);
    rgFreeBlocks(&b), rgFreeBlocks(&c), rgFreeGraph(&large), rgFreeGraph(&small);
}

static void test_allocation_failure(void** state) {
    (void)state;
    rgGraph g = rgNewGrid(4, 3);
    rgBlocks b = rgNewBlocks(&g, 1);
    rgMakePositive(&b);
    bool succeeded = false;
    for (int failAfter = 0; !succeeded; ++failAfter) {
        rgCounter counter = {.failAfter = failAfter};
        rgAllocator allocator = rgCountingAllocator(&counter);
        rgBlockFactor* factor = NULL;
        rgResult result = rgCreateBlockFactor(&allocator, NULL, &factor);
        result = result == rg_ok ? rgBlockFactor_Analyse(factor, &b.pattern) : result;
        result = result == rg_ok ? rgBlockFactor_Cholesky(factor, b.values, 0) : result;
        result = result == rg_ok ? rgBlockFactor_Lu(factor, b.values, 0) : result;
        assert_true(result == rg_ok || result == rg_errorMemory);
        succeeded = result == rg_ok;
        // After a failure the object works again.
        counter.failAfter = -1;
        if (factor != NULL) {
            assert_int_equal(rgBlockFactor_Analyse(factor, &b.pattern), rg_ok);
            assert_int_equal(rgBlockFactor_Cholesky(factor, b.values, 0), rg_ok);
            rgExpectSolve(factor, &b, 0, 1e-14);
        }
        rgDestroyBlockFactor(factor);
        assert_int_equal(counter.live, 0);
    }
    rgFreeBlocks(&b), rgFreeGraph(&g);
}

// The same values give the same bits, with a kept analysis, a new one, and a new object.
static void test_repeats_exactly(void** state) {
    (void)state;
    rgGraph g = rgNewGrid(8, 3), other = rgNewGrid(3, 3);
    rgBlocks b = rgNewBlocks(&g, 1), c = rgNewBlocks(&other, 1);
    rgMakePositive(&b);
    size_t bytes = (size_t)b.scalarCount * sizeof(double);
    double *x = malloc(bytes), *y = malloc(bytes);
    rgBlockFactor* factor = NULL;
    assert_int_equal(rgCreateBlockFactor(NULL, NULL, &factor), rg_ok);
    for (int round = 0; round < 6; ++round) {
        if (round == 3) {
            assert_int_equal(rgBlockFactor_Analyse(factor, &c.pattern), rg_ok);
        }
        if (round == 4) {
            rgDestroyBlockFactor(factor);
            assert_int_equal(rgCreateBlockFactor(NULL, NULL, &factor), rg_ok);
        }
        assert_int_equal(rgBlockFactor_Analyse(factor, &b.pattern), rg_ok);
        assert_int_equal(rgBlockFactor_Cholesky(factor, b.values, 0), rg_ok);
        for (int i = 0; i < b.scalarCount; ++i) {
            y[i] = i;
        }
        rgBlockFactor_Solve(factor, y);
        if (round == 0) {
            memcpy(x, y, bytes);
        }
        assert_memory_equal(x, y, bytes);
    }
    rgDestroyBlockFactor(factor);
    free(x), free(y);
    rgFreeBlocks(&b), rgFreeBlocks(&c), rgFreeGraph(&g), rgFreeGraph(&other);
}

static void rgFactorAndSolve(rgBlockFactor* factor, const rgBlocks* b, bool lu, int count,
                             double* x) {
    int n = b->scalarCount;
    rgResult result =
        lu ? rgBlockFactor_Lu(factor, b->values, 30) : rgBlockFactor_Cholesky(factor, b->values, 0);
    assert_int_equal(result, rg_ok);
    for (int i = 0; i < n * count; ++i) {
        x[i] = sin(i);
    }
    rgBlockFactor_Solve(factor, x);
    rgBlockFactor_SolveMany(factor, count - 1, x + n, n);
}

// A factorization that several threads share has the bits of one; a matrix that cannot be
// factorized is refused by both, and work of another number of threads may follow.
static void test_threads_give_the_same_bits(void** state) {
    (void)state;
    enum { rg_columns = 31 };
    rgGraph g = rgNewGrid(16, 6);
    rgBlocks positive = rgNewBlocks(&g, 3), general = rgNewBlocks(&g, 4);
    rgMakePositive(&positive);
    size_t bytes = (size_t)positive.scalarCount * rg_columns * sizeof(double);
    double *alone = malloc(bytes), *shared = malloc(bytes);
    assert_true(alone != NULL && shared != NULL);
    rgBlockFactor* factor = NULL;
    assert_int_equal(rgCreateBlockFactor(NULL, NULL, &factor), rg_ok);
    assert_int_equal(rgBlockFactor_Analyse(factor, &positive.pattern), rg_ok);
    for (int workers = 2; workers <= 8; workers *= 2) {
        rgThreadPool* pool = NULL;
        assert_int_equal(rgCreateThreadPool(workers, NULL, &pool), rg_ok);
        rgTasks tasks = rgThreadPool_Tasks(pool), none = {0};
        for (int lu = 0; lu < 2; ++lu) {
            const rgBlocks* b = lu ? &general : &positive;
            assert_int_equal(rgBlockFactor_SetTasks(factor, &none), rg_ok);
            assert_false(rgBlockFactor_IsParallel(factor));
            rgFactorAndSolve(factor, b, lu, rg_columns, alone);
            assert_int_equal(rgBlockFactor_SetTasks(factor, &tasks), rg_ok);
            assert_true(rgBlockFactor_IsParallel(factor));
            for (int round = 0; round < 20; ++round) {
                rgFactorAndSolve(factor, b, lu, rg_columns, shared);
                assert_memory_equal(alone, shared, bytes);
            }
        }
        assert_int_equal(rgBlockFactor_Cholesky(factor, general.values, 0), rg_errorNumeric);
        rgDestroyThreadPool(pool);
    }
    rgDestroyBlockFactor(factor);
    free(alone), free(shared);
    rgFreeBlocks(&positive), rgFreeBlocks(&general), rgFreeGraph(&g);
}

// r = (A + shift) x - b
static void rgResidual(const rgBlocks* b, double shift, const double* x, const double* rhs,
                       double* r) {
    const rgBlockPattern* p = &b->pattern;
    for (int i = 0; i < b->scalarCount; ++i) {
        r[i] = shift * x[i] - rhs[i];
    }
    for (int i = 0; i < p->blockCount; ++i) {
        for (int k = p->rowStart[i]; k < p->rowStart[i + 1]; ++k) {
            int j = p->column[k], width = p->blockStart[j + 1] - p->blockStart[j];
            for (int e = 0; e < (p->blockStart[i + 1] - p->blockStart[i]) * width; ++e) {
                r[p->blockStart[i] + e / width] +=
                    b->values[k][e] * x[p->blockStart[j] + e % width];
            }
        }
    }
}

// Three layers of bodies, enough work for a nested dissection; the diagonal dominates.
static void test_large_pattern(void** state) {
    (void)state;
    enum { rg_side = 22, rg_layer = rg_side * rg_side };
    rgGraph g = rgNewGraph(3 * rg_layer, 6);
    for (int i = 0; i < g.count; ++i) {
        if (i % rg_side > 0) {
            rgLink(&g, i, i - 1);
        }
        if (i % rg_layer >= rg_side) {
            rgLink(&g, i, i - rg_side);
        }
        if (i >= rg_layer) {
            rgLink(&g, i, i - rg_layer);
        }
    }
    rgBlocks b = rgNewBlocks(&g, 3);
    size_t n = (size_t)b.scalarCount;
    double *x = calloc(n, sizeof(double)), *rhs = calloc(n, sizeof(double)),
           *r = calloc(n, sizeof(double));
    assert_true(x != NULL && rhs != NULL && r != NULL);
    for (size_t i = 0; i < n; ++i) {
        x[i] = rhs[i] = 1 + (double)(i % 7);
    }
    rgBlockFactor* factor = NULL;
    assert_int_equal(rgCreateBlockFactor(NULL, NULL, &factor), rg_ok);
    assert_int_equal(rgBlockFactor_Analyse(factor, &b.pattern), rg_ok);
    assert_true(rgBlockFactor_CholeskyFlops(factor) > 100e6);
    assert_int_equal(rgBlockFactor_Lu(factor, b.values, 50), rg_ok);
    rgBlockFactor_Solve(factor, x);
    rgResidual(&b, 50, x, rhs, r);
    for (size_t i = 0; i < n; ++i) {
        EXPECT_NEAR(r[i], 0, 1e-12);
    }
    rgExpectSolveMany(factor, &b, 3, 1e-13);
    rgDestroyBlockFactor(factor);
    free(x), free(rhs), free(r);
    rgFreeBlocks(&b), rgFreeGraph(&g);
}

static void test_refusals(void** state) {
    (void)state;
    rgGraph g = rgNewGrid(4, 3);
    rgBlocks b = rgNewBlocks(&g, 1);
    rgMakePositive(&b);
    rgBlockFactor* factor = NULL;
    assert_int_equal(rgCreateBlockFactor(NULL, NULL, &factor), rg_ok);
    assert_int_equal(rgBlockFactor_Cholesky(factor, b.values, 0), rg_errorArgument);
    assert_int_equal(rgBlockFactor_Analyse(factor, &b.pattern), rg_ok);
    // Indefinite, singular, not a number.
    assert_int_equal(rgBlockFactor_Cholesky(factor, b.values, -1e3), rg_errorNumeric);
    assert_int_equal(rgBlockFactor_Cholesky(factor, b.values, NAN), rg_errorNumeric);
    for (int k = 0; k < b.pattern.rowStart[g.count]; ++k) {
        memset(b.numbers + (b.values[k] - b.numbers), 0, 9 * sizeof(double));
    }
    assert_int_equal(rgBlockFactor_Cholesky(factor, b.values, 0), rg_errorNumeric);
    assert_int_equal(rgBlockFactor_Lu(factor, b.values, 0), rg_errorNumeric);
    assert_int_equal(rgBlockFactor_Lu(factor, b.values, 1), rg_ok);
    // Patterns: no diagonal, not symmetric, not ascending, out of range.
    const int start[] = {0, 3, 6}, rows[] = {0, 1, 2}, three[] = {0, 2, 3};
    const int missing[] = {1, 0}, oneSided[] = {0, 1, 1}, descending[] = {1, 0, 1},
              far[] = {0, 2, 1};
    const rgBlockPattern bad[] = {{2, start, rows, missing},
                                  {2, start, three, oneSided},
                                  {2, start, three, descending},
                                  {2, start, three, far}};
    for (int i = 0; i < 4; ++i) {
        assert_int_equal(rgBlockFactor_Analyse(factor, &bad[i]), rg_errorArgument);
    }
    rgDestroyBlockFactor(factor);
    rgDestroyBlockFactor(NULL);
    rgFreeBlocks(&b), rgFreeGraph(&g);
}

// One entry that is not finite, anywhere: every kernel set refuses, in both factorizations.
static void test_odd_numbers(void** state) {
    (void)state;
    static const rgKernelSet sets[] = {rg_kernelsPlain, rg_kernelsAvx2, rg_kernelsAvx512,
                                       rg_kernelsNeon};
    static const double odd[] = {NAN, INFINITY, -INFINITY};
    rgRandom random = {5};
    for (int c = 0; c < rgFewer(600); ++c) {
        rgGraph g = rgNewGraph(2 + rgRandom_Index(&random, 20), 1 + rgRandom_Index(&random, 8));
        for (int k = rgRandom_Index(&random, 2 * g.count); k > 0; --k) {
            rgLink(&g, rgRandom_Index(&random, g.count), rgRandom_Index(&random, g.count));
        }
        rgBlocks b = rgNewBlocks(&g, 6);
        rgMakePositive(&b);
        int row = rgRandom_Index(&random, g.count), first = b.pattern.rowStart[row];
        int entry = first + rgRandom_Index(&random, b.pattern.rowStart[row + 1] - first);
        int i = rgRandom_Index(&random, g.size[0]), j = rgRandom_Index(&random, g.size[0]);
        // Cholesky reads the lower triangle only.
        bool lower = b.pattern.column[entry] < row || (b.pattern.column[entry] == row && j <= i);
        rgBlockFactor* factor = NULL;
        assert_int_equal(rgCreateBlockFactor(NULL, rgSelectKernels(sets[c % 3]), &factor), rg_ok);
        assert_int_equal(rgBlockFactor_Analyse(factor, &b.pattern), rg_ok);
        assert_int_equal(rgBlockFactor_Lu(factor, b.values, 0), rg_ok);
        b.numbers[b.values[entry] - b.numbers + i * g.size[0] + j] = odd[c / 3 % 3];
        assert_int_equal(rgBlockFactor_Lu(factor, b.values, 0), rg_errorNumeric);
        if (lower) {
            assert_int_equal(rgBlockFactor_Cholesky(factor, b.values, 0), rg_errorNumeric);
        }
        rgDestroyBlockFactor(factor);
        rgFreeBlocks(&b), rgFreeGraph(&g);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_threads_give_the_same_bits),
        cmocka_unit_test(test_random_patterns),
        cmocka_unit_test(test_special_patterns),
        cmocka_unit_test(test_chain_has_no_fill),
        cmocka_unit_test(test_memory_settles),
        cmocka_unit_test(test_allocation_failure),
        cmocka_unit_test(test_repeats_exactly),
        cmocka_unit_test(test_large_pattern),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_odd_numbers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
