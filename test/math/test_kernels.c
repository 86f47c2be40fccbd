// Every kernel table against plain triple loops, on awkward inputs, and bit for bit with itself.
#include "math/kernels.h"
#include "support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { rg_tableCount = 4, rg_largest = 300 };
static const rgKernelSet rg_sets[rg_tableCount] = {rg_kernelsPlain, rg_kernelsAvx2,
                                                   rg_kernelsAvx512, rg_kernelsNeon};

// Sizes: all small ones, then some around tile edges and above the crossover to LAPACK. Where few
// cases are wanted, steps of 7 still meet every remainder of the tiles of 4, 8 and 16.
static int rgNextSize(int n) {
    static const int large[] = {81, 96, 97, 120, 129, 200, 257, rg_largest};
    if (n < 80) {
        return n < 20 || rgFewer(10) == 10 ? n + 1 : n + 7;
    }
    for (int i = 0; i < (int)(sizeof(large) / sizeof(large[0])); ++i) {
        if (large[i] > n) {
            return large[i];
        }
    }
    return -1;
}

static double* rgNew(size_t count) {
    double* x = calloc(count + 1, sizeof(double));
    assert_non_null(x);
    return x;
}

static double* rgNewRandom(size_t count, uint64_t seed) {
    rgRandom random = {seed};
    double* x = rgNew(count);
    for (size_t i = 0; i < count; ++i) {
        x[i] = rgRandom_Uniform(&random, -1, 1);
    }
    return x;
}

static double* rgCopy(const double* x, size_t count) {
    double* y = rgNew(count);
    memcpy(y, x, count * sizeof(double));
    return y;
}

static double rgLargestDifference(const double* x, const double* y, size_t count) {
    double largest = 0;
    for (size_t i = 0; i < count; ++i) {
        double d = fabs(x[i] - y[i]);
        largest = d > largest || isnan(d) ? d : largest;
    }
    return largest;
}

// Symmetric, positive definite: B B' / n + shift.
static double* rgNewPositive(int n, int lda, double shift, uint64_t seed) {
    double* B = rgNewRandom((size_t)n * (size_t)n, seed);
    double* A = rgNewRandom((size_t)lda * (size_t)n, seed + 1);
    for (int j = 0; j < n; ++j) {
        for (int i = 0; i < n; ++i) {
            double s = i == j ? shift : 0;
            for (int p = 0; p < n; ++p) {
                s += B[i + p * n] * B[j + p * n] / n;
            }
            A[i + j * lda] = s;
        }
    }
    free(B);
    return A;
}

static void test_selection(void** state) {
    (void)state;
    assert_non_null(rgSelectKernels(rg_kernelsBest));
    assert_int_equal(rgSelectKernels(rg_kernelsPlain)->set, rg_kernelsPlain);
    for (int t = 0; t < rg_tableCount; ++t) {
        const rgKernels* k = rgSelectKernels(rg_sets[t]);
        assert_true(k->set == rg_sets[t] || k->set == rg_kernelsPlain);
        assert_ptr_equal(k, rgSelectKernels(k->set));
    }
}

static void rgCheckVectors(const rgKernels* k, int n) {
    double* x = rgNewRandom((size_t)n, 1);
    double* y = rgNewRandom((size_t)n, 2);
    double* z = rgCopy(y, (size_t)n + 1);
    double dot = 0;
    z[n] = 77;
    for (int i = 0; i < n; ++i) {
        dot += x[i] * y[i];
    }
    EXPECT_NEAR(k->dot(n, x, y), dot, 1e-14 * (n + 1));
    k->axpy(n, 0.3, x, z);
    for (int i = 0; i < n; ++i) {
        EXPECT_NEAR(z[i], y[i] + 0.3 * x[i], 1e-15);
    }
    assert_true(z[n] == 77);
    free(x), free(y), free(z);
}

static void test_vectors(void** state) {
    (void)state;
    for (int t = 0; t < rg_tableCount; ++t) {
        for (int n = 0; n >= 0; n = rgNextSize(n)) {
            rgCheckVectors(rgSelectKernels(rg_sets[t]), n);
        }
    }
}

static void rgCheckMatrixVector(const rgKernels* k, int m, int n) {
    int lda = m + 3;
    double* A = rgNewRandom((size_t)lda * (size_t)n, 3);
    double* x = rgNewRandom((size_t)(m + n), 4);
    double* y = rgNewRandom((size_t)m + 1, 5);
    double* z = rgNewRandom((size_t)n + 1, 6);
    y[m] = z[n] = 77;
    k->multiply(m, n, A, lda, x, y);
    k->multiplyTransposed(m, n, A, lda, x, z);
    for (int i = 0; i < m; ++i) {
        double s = 0;
        for (int j = 0; j < n; ++j) {
            s += A[i + j * lda] * x[j];
        }
        EXPECT_NEAR(y[i], s, 1e-14 * (n + 1));
    }
    for (int j = 0; j < n; ++j) {
        double s = 0;
        for (int i = 0; i < m; ++i) {
            s += A[i + j * lda] * x[i];
        }
        EXPECT_NEAR(z[j], s, 1e-14 * (m + 1));
    }
    assert_true(y[m] == 77 && z[n] == 77);
    free(A), free(x), free(y), free(z);
}

static void test_matrix_vector(void** state) {
    (void)state;
    for (int t = 0; t < rg_tableCount; ++t) {
        for (int m = 0; m >= 0; m = rgNextSize(m)) {
            rgCheckMatrixVector(rgSelectKernels(rg_sets[t]), m, m);
            rgCheckMatrixVector(rgSelectKernels(rg_sets[t]), m, m / 2);
            rgCheckMatrixVector(rgSelectKernels(rg_sets[t]), m / 3, m);
        }
    }
}

static void rgCheckProduct(const rgKernels* k, int m, int n, int depth) {
    int lda = m + 1, ldb = depth + 2, ldc = m + 3;
    double* A = rgNewRandom((size_t)(lda * depth), 3);
    double* B = rgNewRandom((size_t)(ldb * n), 4);
    double* C = rgNewRandom((size_t)(ldc * n), 5);
    double* D = rgCopy(C, (size_t)(ldc * n));
    k->subtractProduct(m, n, depth, A, lda, B, ldb, C, ldc);
    for (int j = 0; j < n; ++j) {
        for (int p = 0; p < depth; ++p) {
            for (int i = 0; i < m; ++i) {
                D[i + j * ldc] -= A[i + p * lda] * B[p + j * ldb];
            }
        }
    }
    EXPECT_NEAR(rgLargestDifference(C, D, (size_t)(ldc * n)), 0, 1e-14 * (depth + 1));
    free(A), free(B), free(C), free(D);
}

// C = -A B and the lower triangle of C = -A A' from C -= ...; C += A.
static void rgCheckNegativeProducts(const rgKernels* k, int m, int n, int depth) {
    int lda = m + 1, ldb = depth + 2, ldc = m + 3;
    size_t count = (size_t)(ldc * RG_MAX(m, n));
    double* A = rgNewRandom((size_t)(lda * depth), 3);
    double* B = rgNewRandom((size_t)(ldb * n), 4);
    double* C = rgNewRandom(count, 5);
    double* D = rgCopy(C, count);
    for (int j = 0; j < n; ++j) {
        for (int i = 0; i < m; ++i) {
            C[i + j * ldc] = NAN;
            D[i + j * ldc] = 0;
        }
    }
    k->negativeProduct(m, n, depth, A, lda, B, ldb, C, ldc);
    k->subtractProduct(m, n, depth, A, lda, B, ldb, D, ldc);
    EXPECT_NEAR(rgLargestDifference(C, D, count), 0, 1e-14 * (depth + 1));
    for (int j = 0; j < m; ++j) {
        for (int i = j; i < m; ++i) {
            C[i + j * ldc] = NAN;
            D[i + j * ldc] = 0;
        }
    }
    k->negativeSelfProduct(m, depth, A, lda, C, ldc);
    k->subtractSelfProduct(m, depth, A, lda, D, ldc);
    EXPECT_NEAR(rgLargestDifference(C, D, count), 0, 1e-14 * (depth + 1));
    k->addMatrix(m, depth < n ? depth : n, A, lda, C, ldc);
    for (int j = 0; j < depth && j < n; ++j) {
        for (int i = 0; i < m; ++i) {
            D[i + j * ldc] += A[i + j * lda];
        }
    }
    EXPECT_NEAR(rgLargestDifference(C, D, count), 0, 1e-14 * (depth + 1));
    free(A), free(B), free(C), free(D);
}

static void rgCheckOuterProduct(const rgKernels* k, int m, int n, int depth) {
    int lda = m + 1, ldb = n + 2, ldc = m + 3;
    double* A = rgNewRandom((size_t)(lda * depth), 3);
    double* B = rgNewRandom((size_t)(ldb * depth), 4);
    double* C = rgNewRandom((size_t)(ldc * n), 5);
    double* D = rgCopy(C, (size_t)(ldc * n));
    double* E = rgCopy(C, (size_t)(ldc * n));
    double* start = rgCopy(C, (size_t)(ldc * n));
    k->addOuterProduct(m, n, depth, A, lda, B, ldb, C, ldc);
    for (int j = 0; j < n; ++j) {
        for (int p = 0; p < depth; ++p) {
            for (int i = 0; i < m; ++i) {
                D[i + j * ldc] += A[i + p * lda] * B[j + p * ldb];
            }
        }
    }
    EXPECT_NEAR(rgLargestDifference(C, D, (size_t)(ldc * n)), 0, 1e-14 * (depth + 1));
    k->subtractOuterProduct(m, n, depth, A, lda, B, ldb, E, ldc);
    for (int i = 0; i < ldc * n; ++i) {
        E[i] = 2 * start[i] - E[i];
    }
    EXPECT_NEAR(rgLargestDifference(E, D, (size_t)(ldc * n)), 0, 1e-14 * (depth + 1));
    free(A), free(B), free(C), free(D), free(E), free(start);
}

static void rgCheckSelfProduct(const rgKernels* k, int n, int depth) {
    int lda = n + 1, ldc = n + 3;
    double* A = rgNewRandom((size_t)(lda * depth), 3);
    double* C = rgNewRandom((size_t)(ldc * n), 5);
    double* D = rgCopy(C, (size_t)(ldc * n));
    double* E = rgCopy(C, (size_t)(ldc * n));
    k->addSelfProduct(n, depth, A, lda, C, ldc);
    for (int j = 0; j < n; ++j) {
        for (int p = 0; p < depth; ++p) {
            for (int i = j; i < n; ++i) {
                D[i + j * ldc] += A[i + p * lda] * A[j + p * lda];
            }
        }
    }
    // The upper triangle is left alone, so the comparison covers it.
    EXPECT_NEAR(rgLargestDifference(C, D, (size_t)(ldc * n)), 0, 1e-14 * (depth + 1));
    k->subtractSelfProduct(n, depth, A, lda, C, ldc);
    EXPECT_NEAR(rgLargestDifference(C, E, (size_t)(ldc * n)), 0, 1e-14 * (depth + 1));
    free(A), free(C), free(D), free(E);
}

static void test_products(void** state) {
    (void)state;
    for (int t = 0; t < rg_tableCount; ++t) {
        const rgKernels* k = rgSelectKernels(rg_sets[t]);
        for (int n = 0; n >= 0; n = rgNextSize(n)) {
            rgCheckProduct(k, n, n, n);
            rgCheckProduct(k, n, n / 3 + 1, 5);
            rgCheckProduct(k, 7, n, n / 2);
            rgCheckNegativeProducts(k, n, n, n);
            rgCheckNegativeProducts(k, n, n / 3 + 1, 5);
            rgCheckNegativeProducts(k, 7, n, n / 2);
            rgCheckOuterProduct(k, n, n, n);
            rgCheckOuterProduct(k, n, n / 3 + 1, 5);
            rgCheckOuterProduct(k, 7, n, n / 2);
            rgCheckOuterProduct(k, 6, n, 3);
            rgCheckSelfProduct(k, n, n);
            rgCheckSelfProduct(k, n, 3);
        }
    }
}

// Eliminate k columns and leave the Schur complement, as a front does.
static bool rgEliminate(const rgKernels* kernels, int n, int k, double* A, int lda) {
    bool good = kernels->choleskyPanel(n, k, A, lda);
    kernels->subtractSelfProduct(n - k, k, A + k, lda, A + k + k * lda, lda);
    return good;
}

static bool rgEliminateWithPivots(const rgKernels* kernels, int n, int k, double* A, int lda,
                                  int* pivot) {
    bool good = kernels->luPanel(n, k, A, lda, pivot);
    kernels->luForward(k, n - k, A, lda, pivot, A + k * lda, lda);
    kernels->subtractProduct(n - k, n - k, k, A + k, lda, A + k * lda, lda, A + k + k * lda, lda);
    return good;
}

// Rebuild the matrix from its factor; k columns were eliminated.
static void rgCheckCholesky(const rgKernels* kernels, int n, int k) {
    int lda = n + 2;
    size_t count = (size_t)(lda * n);
    double* A = rgNewPositive(n, lda, 0.1, 8 + (uint64_t)n);
    double* L = rgCopy(A, count);
    assert_true(k == n ? kernels->cholesky(n, L, lda) : rgEliminate(kernels, n, k, L, lda));
    for (int j = 0; j < n; ++j) {
        for (int i = 0; i < n; ++i) {
            if (i < j) {
                assert_true(L[i + j * lda] == A[i + j * lda]);
                continue;
            }
            double s = j < k ? 0 : L[i + j * lda];
            for (int p = 0; p < k && p <= j; ++p) {
                s += L[i + p * lda] * L[j + p * lda];
            }
            EXPECT_NEAR(s, A[i + j * lda], 1e-15 * (n + 10));
        }
        assert_memory_equal(L + j * lda + n, A + j * lda + n, 2 * sizeof(double));
    }
    free(A), free(L);
}

static void test_cholesky(void** state) {
    (void)state;
    for (int t = 0; t < rg_tableCount; ++t) {
        const rgKernels* k = rgSelectKernels(rg_sets[t]);
        for (int n = 0; n >= 0; n = rgNextSize(n)) {
            rgCheckCholesky(k, n, n);
            rgCheckCholesky(k, n, n / 2);
            rgCheckCholesky(k, n, n < 3 ? n : 3);
            rgCheckCholesky(k, n, n - n / 5);
        }
    }
}

static double rgEntryOfPermuted(const double* A, int lda, const int* order, int i, int j) {
    return A[order[i] + j * lda];
}

static void rgOrderOfPivots(int n, int k, const int* pivot, int* order) {
    for (int i = 0; i < n; ++i) {
        order[i] = i;
    }
    for (int i = 0; i < k; ++i) {
        assert_true(pivot[i] >= i && pivot[i] < k);
        int t = order[i];
        order[i] = order[pivot[i]];
        order[pivot[i]] = t;
    }
}

static void rgCheckLu(const rgKernels* kernels, int n, int k) {
    int lda = n + 2, pivot[rg_largest], order[rg_largest];
    size_t count = (size_t)(lda * n);
    double* A = rgNewRandom(count, 8 + (uint64_t)n);
    double* F = rgCopy(A, count);
    assert_true(k == n ? kernels->lu(n, F, lda, pivot)
                       : rgEliminateWithPivots(kernels, n, k, F, lda, pivot));
    rgOrderOfPivots(n, k, pivot, order);
    // Growth of the factor when pivots come from part of the rows only.
    double growth = 1;
    for (size_t i = 0; i < count; ++i) {
        growth = fmax(growth, fabs(F[i]));
    }
    growth = k == n ? growth : growth * growth;
    for (int j = 0; j < n; ++j) {
        for (int i = 0; i < n; ++i) {
            double s = i < k || j < k ? 0 : F[i + j * lda];
            for (int p = 0; p < k && p <= i && p <= j; ++p) {
                s += (p == i ? 1 : F[i + p * lda]) * F[p + j * lda];
            }
            if (k == n && i > j) {
                assert_true(fabs(F[i + j * lda]) <= 1);
            }
            EXPECT_NEAR(s, rgEntryOfPermuted(A, lda, order, i, j), 1e-15 * (n + 10) * growth);
        }
        assert_memory_equal(F + j * lda + n, A + j * lda + n, 2 * sizeof(double));
    }
    free(A), free(F);
}

static void test_lu(void** state) {
    (void)state;
    for (int t = 0; t < rg_tableCount; ++t) {
        const rgKernels* k = rgSelectKernels(rg_sets[t]);
        for (int n = 0; n >= 0; n = rgNextSize(n)) {
            rgCheckLu(k, n, n);
            rgCheckLu(k, n, n / 2);
            rgCheckLu(k, n, n < 3 ? n : 3);
            rgCheckLu(k, n, n - n / 5);
        }
    }
}

// ||A x - b|| relative to ||A|| ||x||, for a matrix of which the whole or the lower part is used.
static double rgBackwardError(int n, const double* A, int lda, const double* x, const double* b) {
    double worst = 0, size = 0, length = 0;
    for (int i = 0; i < n; ++i) {
        double s = -b[i], row = 0;
        for (int j = 0; j < n; ++j) {
            s += A[i + j * lda] * x[j];
            row += fabs(A[i + j * lda]);
        }
        worst = fmax(worst, fabs(s));
        size = fmax(size, row);
        length = fmax(length, fabs(x[i]));
    }
    return n == 0 ? 0 : worst / (size * length);
}

static void rgCheckSolves(const rgKernels* k, int n, double shift) {
    int lda = n + 1, pivot[rg_largest];
    double* A = rgNewPositive(n, lda, shift, 20 + (uint64_t)n);
    double* F = rgCopy(A, (size_t)(lda * n));
    double* b = rgNewRandom((size_t)n, 30);
    double* x = rgCopy(b, (size_t)n);
    assert_true(k->cholesky(n, F, lda));
    k->choleskySolve(n, F, lda, x);
    EXPECT_NEAR(rgBackwardError(n, A, lda, x, b), 0, 1e-15 * (n + 10));
    // The two halves make the whole.
    double* y = rgCopy(b, (size_t)n);
    k->lowerSolve(n, F, lda, y);
    k->lowerTransposedSolve(n, F, lda, y);
    assert_memory_equal(x, y, (size_t)n * sizeof(double));
    memcpy(F, A, (size_t)(lda * n) * sizeof(double));
    memcpy(x, b, (size_t)n * sizeof(double));
    assert_true(k->lu(n, F, lda, pivot));
    k->luSolve(n, F, lda, pivot, x);
    EXPECT_NEAR(rgBackwardError(n, A, lda, x, b), 0, 1e-15 * (n + 10));
    free(A), free(F), free(b), free(x), free(y);
}

static void test_solves(void** state) {
    (void)state;
    for (int t = 0; t < rg_tableCount; ++t) {
        const rgKernels* k = rgSelectKernels(rg_sets[t]);
        for (int n = 0; n >= 0; n = rgNextSize(n)) {
            rgCheckSolves(k, n, 0.1);
            rgCheckSolves(k, n, 1e-9); // condition of the order of 1e9
        }
    }
}

// On both sides of every crossover to LAPACK.
static void rgCheckLargeSolves(const rgKernels* k, int n) {
    size_t count = (size_t)n * (size_t)n;
    double* A = rgNewRandom(count, 90);
    double* b = rgNewRandom((size_t)n, 91);
    double* x = rgCopy(b, (size_t)n);
    int* pivot = calloc((size_t)n, sizeof(int));
    assert_non_null(pivot);
    double* F = rgCopy(A, count);
    assert_true(k->lu(n, F, n, pivot));
    k->luSolve(n, F, n, pivot, x);
    EXPECT_NEAR(rgBackwardError(n, A, n, x, b), 0, 1e-15 * n);
    for (int j = 0; j < n; ++j) {
        for (int i = 0; i < j; ++i) {
            A[i + j * n] = A[j + i * n];
        }
        A[j + j * n] += n;
    }
    memcpy(F, A, count * sizeof(double));
    memcpy(x, b, (size_t)n * sizeof(double));
    assert_true(k->cholesky(n, F, n));
    k->choleskySolve(n, F, n, x);
    EXPECT_NEAR(rgBackwardError(n, A, n, x, b), 0, 1e-15 * n);
    free(A), free(b), free(x), free(pivot), free(F);
}

static void test_large_solves(void** state) {
    (void)state;
    static const int sizes[] = {256, 257, 400, 401, 480, 481, 1000, 1001};
    for (int t = 0; t < rg_tableCount; ++t) {
        for (int s = 0; s < 8; ++s) {
            rgCheckLargeSolves(rgSelectKernels(rg_sets[t]), sizes[s]);
        }
    }
}

// Graded rows and columns over 200 orders of magnitude: pivots stay usable.
static void test_graded_matrices(void** state) {
    (void)state;
    for (int t = 0; t < rg_tableCount; ++t) {
        const rgKernels* k = rgSelectKernels(rg_sets[t]);
        for (int n = 1; n < 60; n += 7) {
            double* A = rgNewPositive(n, n, 0.1, 40);
            double* b = rgNewRandom((size_t)n, 41);
            for (int j = 0; j < n; ++j) {
                for (int i = 0; i < n; ++i) {
                    A[i + j * n] *= pow(10, -100 + 100.0 * (i + j) / n);
                }
            }
            double* F = rgCopy(A, (size_t)(n * n));
            assert_true(k->cholesky(n, F, n));
            for (int i = 0; i < n; ++i) {
                double s = 0;
                for (int p = 0; p <= i; ++p) {
                    s += F[i + p * n] * F[i + p * n];
                }
                EXPECT_NEAR(s / A[i + i * n], 1, 1e-14 * n);
            }
            int pivot[60];
            memcpy(F, A, (size_t)(n * n) * sizeof(double));
            assert_true(k->lu(n, F, n, pivot));
            free(A), free(F), free(b);
        }
    }
}

static void rgExpectRefusal(const rgKernels* k, int n, const double* A) {
    int pivot[rg_largest];
    double* F = rgCopy(A, (size_t)(n * n));
    assert_false(k->cholesky(n, F, n));
    memcpy(F, A, (size_t)(n * n) * sizeof(double));
    assert_false(k->lu(n, F, n, pivot));
    free(F);
}

// Row and column `place` of a copy of A are zero but for the diagonal.
static void rgExpectRefusalsAt(const rgKernels* k, int n, int place, const double* A) {
    static const double pivots[] = {0, NAN, INFINITY, 1e-320};
    double* B = rgCopy(A, (size_t)(n * n));
    for (int i = 0; i < n; ++i) {
        B[i + place * n] = B[place + i * n] = 0;
    }
    for (int i = 0; i < 4; ++i) {
        B[place + place * n] = pivots[i];
        rgExpectRefusal(k, n, B);
    }
    free(B);
}

static void test_singular_is_reported(void** state) {
    (void)state;
    static const int sizes[] = {1, 2, 5, 8, 12, 24, 45, 60, rg_largest};
    for (int s = 0; s < 9; ++s) {
        int n = sizes[s];
        double* A = rgNewPositive(n, n, 1, 50);
        for (int t = 0; t < rg_tableCount; ++t) {
            for (int place = 0; place<n; place += n> 60 ? 149 : 1) {
                rgExpectRefusalsAt(rgSelectKernels(rg_sets[t]), n, place, A);
            }
        }
        free(A);
    }
}

static void test_indefinite_is_reported(void** state) {
    (void)state;
    for (int t = 0; t < rg_tableCount; ++t) {
        const rgKernels* k = rgSelectKernels(rg_sets[t]);
        for (int n = 1; n <= 60; ++n) {
            double* A = rgNewPositive(n, n, 0.1, 60);
            int place = n / 2;
            A[place + place * n] -= 100;
            assert_false(k->cholesky(n, A, n));
            free(A);
        }
    }
}

// Numbers of every size and none at all in matrices that are otherwise harmless: what the kernel
// sets accept and refuse.
typedef enum rgOddity { rg_oddNan, rg_oddInfinity, rg_oddHuge, rg_oddTiny, rg_oddZero } rgOddity;
enum { rg_oddityCount = rg_oddZero + 1, rg_oddLargest = 60 };

static double rgOddNumber(rgRandom* random, rgOddity oddity) {
    double x = rgRandom_Uniform(random, -1, 1);
    return oddity == rg_oddNan        ? copysign(NAN, x)
           : oddity == rg_oddInfinity ? copysign(INFINITY, x)
           : oddity == rg_oddHuge     ? x * 1e307
           : oddity == rg_oddTiny     ? x * 1e-310
                                      : 0;
}

// In some places, in part of a row, or in part of a column.
static void rgSpoil(rgRandom* random, rgOddity oddity, int m, int n, double* A, int lda) {
    int way = rgRandom_Index(random, 3);
    int row = rgRandom_Index(random, m), column = rgRandom_Index(random, n);
    int count = 1 + rgRandom_Index(random, way == 0 ? 3 : m + n);
    for (int i = 0; i < count; ++i) {
        A[row + column * lda] = rgOddNumber(random, oddity);
        row = way == 1 ? row : rgRandom_Index(random, m);
        column = way == 2 ? column : rgRandom_Index(random, n);
    }
}

// A panel m x n for LU or Cholesky with odd numbers. What no kernel may read, the rows that fill
// up the leading dimension and the upper triangle for Cholesky, is NaN.
typedef struct rgOddPanel {
    bool cholesky;
    int m, n, lda;
    double* A;
} rgOddPanel;

static rgOddPanel rgNewOddPanel(rgRandom* random, bool cholesky) {
    int n = 1 + rgRandom_Index(random, rgRandom_Index(random, 2) == 0 ? 12 : rg_oddLargest);
    int m = rgRandom_Index(random, 2) == 0 ? n : n + rgRandom_Index(random, 30);
    rgOddPanel p = {cholesky, m, n, m + rgRandom_Index(random, 10), NULL};
    p.A = rgNewRandom((size_t)(p.lda * n), rgRandom_Bits(random));
    for (int j = 0; j < n && cholesky; ++j) {
        p.A[j + j * p.lda] = n;
    }
    for (int k = rgRandom_Index(random, 3); k > 0; --k) {
        rgOddity oddity = (rgOddity)rgRandom_Index(random, rg_oddityCount);
        rgSpoil(random, oddity, m, n, p.A, p.lda);
    }
    for (int j = 0; j < n; ++j) {
        for (int i = 0; i < p.lda; ++i) {
            p.A[i + j * p.lda] = i >= m || (cholesky && i < j) ? NAN : p.A[i + j * p.lda];
        }
    }
    return p;
}

// Of the rows that give pivots; below them, numbers that are not finite concern the caller.
static bool rgOddPanel_IsFinite(const rgOddPanel* p) {
    bool finite = true;
    for (int j = 0; j < p->n; ++j) {
        for (int i = p->cholesky ? j : 0; i < p->n; ++i) {
            finite = finite && isfinite(p->A[i + j * p->lda]);
        }
    }
    return finite;
}

// Factorize a copy with entries changed by the given share of themselves; *least is the smallest
// pivot relative to the largest entry of its column.
static bool rgOddPanel_Accepts(const rgOddPanel* p, const rgKernels* k, double change,
                               double* least) {
    int pivot[rg_oddLargest];
    rgRandom random = {99};
    double* F = rgNew((size_t)(p->lda * p->n));
    for (int i = 0; i < p->lda * p->n; ++i) {
        F[i] = p->A[i] * (1 + change * rgRandom_Uniform(&random, -1, 1));
    }
    memset(pivot, 0x7f, sizeof(pivot));
    bool square = p->m == p->n && rgRandom_Index(&random, 2) == 0;
    bool good = p->cholesky ? square ? k->cholesky(p->n, F, p->lda)
                                     : k->choleskyPanel(p->m, p->n, F, p->lda)
                : square ? k->lu(p->n, F, p->lda, pivot)
                            : k->luPanel(p->m, p->n, F, p->lda, pivot);
    *least = 1;
    for (int j = 0; j < p->n && good; ++j) {
        double size = 0, d = fabs(F[j + j * p->lda]);
        assert_true(isfinite(d));
        assert_true(p->cholesky || (pivot[j] >= j && pivot[j] < p->n));
        for (int i = p->cholesky ? j : 0; i < p->n; ++i) {
            size = fmax(size, fabs(p->A[i + j * p->lda]));
        }
        *least = fmin(*least, (p->cholesky ? d * d : d) / size);
    }
    free(F);
    return good;
}

// Rounding decides where a change of 1e-9 does, and where pivots nearly cancel.
static bool rgOddPanel_IsClear(const rgOddPanel* p, bool expected) {
    const rgKernels* plain = rgSelectKernels(rg_kernelsPlain);
    double least;
    return rgOddPanel_Accepts(p, plain, 1e-9, &least) == expected && least > 1e-10 &&
           rgOddPanel_Accepts(p, plain, 0, &least) == expected && least > 1e-10;
}

static void test_odd_numbers_in_factors(void** state) {
    (void)state;
    rgRandom random = {17};
    int count = rgFewer(20000), refused = 0, clear = 0;
    for (int c = 0; c < count; ++c) {
        rgOddPanel p = rgNewOddPanel(&random, c % 2 == 0);
        double least;
        bool finite = rgOddPanel_IsFinite(&p);
        bool expected = rgOddPanel_Accepts(&p, rgSelectKernels(rg_kernelsPlain), 0, &least);
        bool isClear = !finite || rgOddPanel_IsClear(&p, expected);
        assert_true(finite || !expected);
        for (int t = 0; t < rg_tableCount; ++t) {
            bool good = rgOddPanel_Accepts(&p, rgSelectKernels(rg_sets[t]), 0, &least);
            if (isClear && good != expected) {
                fail_msg("%s of %d x %d, case %d: %s says %d", p.cholesky ? "Cholesky" : "LU", p.m,
                         p.n, c, rgSelectKernels(rg_sets[t])->name, good);
            }
        }
        refused += !expected;
        clear += isClear;
        free(p.A);
    }
    // All kinds are met, and few cases are left to rounding.
    assert_true(refused > count / 4 && refused < 3 * count / 4 && clear > 9 * count / 10);
}

// The same at sizes that LAPACK handles.
static void test_odd_numbers_in_large_factors(void** state) {
    (void)state;
    static const int sizes[] = {257, 401, 481, 1001};
    static const double odd[] = {NAN, INFINITY, -INFINITY};
    rgRandom random = {18};
    for (int c = 0; c < 12; ++c) {
        int n = sizes[c % 4], *pivot = calloc((size_t)n, sizeof(int));
        assert_non_null(pivot);
        for (int t = 0; t < rg_tableCount; ++t) {
            double* A = rgNewRandom((size_t)n * (size_t)n, 19);
            int i = rgRandom_Index(&random, n), j = rgRandom_Index(&random, i + 1);
            A[i + j * n] = odd[c % 3];
            for (int d = 0; d < n; ++d) {
                A[d + d * n] += n;
            }
            double* F = rgCopy(A, (size_t)n * (size_t)n);
            assert_false(rgSelectKernels(rg_sets[t])->lu(n, F, n, pivot));
            assert_false(rgSelectKernels(rg_sets[t])->cholesky(n, A, n));
            free(A), free(F);
        }
        free(pivot);
    }
}

// A solve has nothing to refuse with: what is not finite in a right-hand side shows in its solution
// and in no other one.
static void rgCheckOddSolves(const rgKernels* k, int n, int place, double odd) {
    enum { columns = 5, spoilt = 3 };
    int pivot[rg_oddLargest], lda = n + 1;
    double* A = rgNewPositive(n, lda, 0.1, 20);
    double* F = rgCopy(A, (size_t)(lda * n));
    double* X = rgNewRandom((size_t)(lda * columns), 21);
    assert_true(k->cholesky(n, A, lda) && k->lu(n, F, lda, pivot));
    X[spoilt * lda + place] = odd;
    double* x = rgCopy(X + spoilt * lda, (size_t)n);
    double* y = rgCopy(x, (size_t)n);
    double* Y = rgCopy(X, (size_t)(lda * columns));
    k->choleskySolve(n, A, lda, x);
    k->luSolve(n, F, lda, pivot, y);
    k->luForward(n, columns, F, lda, pivot, Y, lda);
    bool finite[3] = {true, true, true};
    for (int i = 0; i < n; ++i) {
        finite[0] = finite[0] && isfinite(x[i]);
        finite[1] = finite[1] && isfinite(y[i]);
        finite[2] = finite[2] && isfinite(Y[spoilt * lda + i]);
        for (int j = 0; j < columns; ++j) {
            assert_true(j == spoilt || isfinite(Y[j * lda + i]));
        }
    }
    assert_false(finite[0] || finite[1] || finite[2]);
    free(A), free(F), free(X), free(x), free(y), free(Y);
}

static void test_odd_numbers_in_solves(void** state) {
    (void)state;
    for (int t = 0; t < rg_tableCount; ++t) {
        for (int n = 1; n < 30; ++n) {
            for (int place = 0; place < n; ++place) {
                rgCheckOddSolves(rgSelectKernels(rg_sets[t]), n, place, NAN);
                rgCheckOddSolves(rgSelectKernels(rg_sets[t]), n, place, -INFINITY);
            }
        }
    }
}

// Products: a row or column that is not finite does not reach the others.
static void rgCheckOddProducts(const rgKernels* k, int m, int n, int depth, int place) {
    double* A = rgNewRandom((size_t)(m * depth), 22);
    double* B = rgNewRandom((size_t)(depth * n), 23);
    double* C = rgNewRandom((size_t)(m * n), 24);
    double* S = rgNewRandom((size_t)(m * m), 25);
    A[place % m + place % depth * m] = NAN;
    B[place % depth + place % n * depth] = INFINITY;
    k->subtractProduct(m, n, depth, A, m, B, depth, C, m);
    k->addSelfProduct(m, depth, A, m, S, m);
    for (int j = 0; j < n; ++j) {
        for (int i = 0; i < m; ++i) {
            assert_true(isfinite(C[i + j * m]) == (i != place % m && j != place % n));
        }
    }
    for (int j = 0; j < m; ++j) {
        for (int i = j; i < m; ++i) {
            assert_true(isfinite(S[i + j * m]) == (i != place % m && j != place % m));
        }
    }
    free(A), free(B), free(C), free(S);
}

static void test_odd_numbers_in_products(void** state) {
    (void)state;
    for (int t = 0; t < rg_tableCount; ++t) {
        for (int place = 0; place < 400; ++place) {
            rgCheckOddProducts(rgSelectKernels(rg_sets[t]), 1 + place * 7 % 31, 1 + place * 5 % 19,
                               1 + place * 3 % 13, place);
        }
    }
}

// Factorizations with pivots of every kind give the same bits in every repetition and thread, also
// at sizes that LAPACK handles.
typedef struct rgRepeat {
    const rgKernels* kernels;
    const double* A;
    int n;
    uint64_t hash[16];
} rgRepeat;

static void rgRepeatTask(int index, int worker, void* context) {
    (void)worker;
    rgRepeat* repeat = context;
    int n = repeat->n, pivot[rg_largest];
    size_t bytes = (size_t)(n * n) * sizeof(double);
    double* F = malloc(bytes);
    uint64_t hash = 0;
    for (int round = 0; F != NULL && round < (n < 200 ? 10 : 2); ++round) {
        memcpy(F, repeat->A, bytes);
        hash += repeat->kernels->cholesky(n, F, n);
        hash = rgHashBytes(F, bytes, hash);
        memcpy(F, repeat->A, bytes);
        hash += repeat->kernels->lu(n, F, n, pivot);
        hash = rgHashBytes(F, bytes, hash);
    }
    free(F);
    repeat->hash[index] = hash;
}

static void test_threads_give_the_same_bits(void** state) {
    (void)state;
    static const int sizes[] = {12, 45, 60, 120, 240, rg_largest};
    rgThreadPool* pool = NULL;
    assert_int_equal(rgCreateThreadPool(4, NULL, &pool), rg_ok);
    rgTasks tasks = rgThreadPool_Tasks(pool);
    for (int t = 0; t < rg_tableCount; ++t) {
        for (int s = 0; s < 6; ++s) {
            int n = sizes[s];
            double* A = rgNewPositive(n, n, 0.1, 70);
            rgRepeat repeat = {.kernels = rgSelectKernels(rg_sets[t]), .A = A, .n = n};
            tasks.run(16, rgRepeatTask, &repeat, tasks.context);
            for (int i = 1; i < 16; ++i) {
                assert_true(repeat.hash[i] == repeat.hash[0]);
            }
            free(A);
        }
    }
    rgDestroyThreadPool(pool);
}

// Plain kernels give these bits with every compiler and on every machine.
static void test_plain_bits(void** state) {
    (void)state;
    enum { n = 45 };
    const rgKernels* k = rgSelectKernels(rg_kernelsPlain);
    int pivot[n];
    double* A = rgNewPositive(n, n, 0.1, 80);
    double* F = rgCopy(A, n * n);
    double* x = rgNewRandom(n, 81);
    assert_true(k->cholesky(n, F, n));
    k->choleskySolve(n, F, n, x);
    uint64_t hash = rgHashBytes(F, n * n * sizeof(double), 0);
    assert_true(k->lu(n, A, n, pivot));
    k->luSolve(n, A, n, pivot, x);
    hash = rgHashBytes(A, n * n * sizeof(double), hash);
    hash = rgHashBytes(x, n * sizeof(double), hash);
    if (hash != 0x1bd878409a06da06u) {
        print_error("hash of the plain kernels is 0x%016llx\n", (unsigned long long)hash);
        fail();
    }
    free(A), free(F), free(x);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_selection),
        cmocka_unit_test(test_vectors),
        cmocka_unit_test(test_matrix_vector),
        cmocka_unit_test(test_products),
        cmocka_unit_test(test_cholesky),
        cmocka_unit_test(test_lu),
        cmocka_unit_test(test_solves),
        cmocka_unit_test(test_large_solves),
        cmocka_unit_test(test_graded_matrices),
        cmocka_unit_test(test_singular_is_reported),
        cmocka_unit_test(test_indefinite_is_reported),
        cmocka_unit_test(test_odd_numbers_in_factors),
        cmocka_unit_test(test_odd_numbers_in_large_factors),
        cmocka_unit_test(test_odd_numbers_in_solves),
        cmocka_unit_test(test_odd_numbers_in_products),
        cmocka_unit_test(test_threads_give_the_same_bits),
        cmocka_unit_test(test_plain_bits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
