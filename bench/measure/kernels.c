// Time per call of the dense kernels against LAPACK and BLAS, in one run: tables and OpenBLAS take
// turns, the minimum over rounds counts. Usage: rigor bench kernels [ROUNDS]
#include "math/kernels.h"
#include "measure.h"

#include <cblas.h>
#include <f77blas.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { rg_largest = 1000, rg_variants = 4 };

typedef struct rgCase {
    int n, lda;
    const double* A;
    double* F;
    double* x;
    int* pivot;
} rgCase;

typedef void rgOperation(const rgKernels* kernels, const rgCase* c);

static void rgRunCholesky(const rgKernels* kernels, const rgCase* c) {
    memcpy(c->F, c->A, sizeof(double) * (size_t)c->lda * (size_t)c->n);
    if (kernels != NULL) {
        kernels->cholesky(c->n, c->F, c->lda);
        return;
    }
    char lower = 'L';
    int n = c->n, lda = c->lda, info = 0;
    dpotrf_(&lower, &n, c->F, &lda, &info);
}

static void rgRunLu(const rgKernels* kernels, const rgCase* c) {
    memcpy(c->F, c->A, sizeof(double) * (size_t)c->lda * (size_t)c->n);
    if (kernels != NULL) {
        kernels->lu(c->n, c->F, c->lda, c->pivot);
        return;
    }
    int n = c->n, lda = c->lda, info = 0;
    dgetrf_(&n, &n, c->F, &lda, c->pivot, &info);
}

static void rgRunCopy(const rgKernels* kernels, const rgCase* c) {
    (void)kernels;
    memcpy(c->F, c->A, sizeof(double) * (size_t)c->lda * (size_t)c->n);
}

static void rgRunCholeskySolve(const rgKernels* kernels, const rgCase* c) {
    memcpy(c->x, c->A, sizeof(double) * (size_t)c->n);
    if (kernels != NULL) {
        kernels->choleskySolve(c->n, c->F, c->lda, c->x);
        return;
    }
    char lower = 'L';
    int n = c->n, lda = c->lda, info = 0, one = 1;
    dpotrs_(&lower, &n, &one, c->F, &lda, c->x, &n, &info);
}

static void rgRunLuSolve(const rgKernels* kernels, const rgCase* c) {
    memcpy(c->x, c->A, sizeof(double) * (size_t)c->n);
    if (kernels != NULL) {
        kernels->luSolve(c->n, c->F, c->lda, c->pivot, c->x);
        return;
    }
    char no = 'N';
    int n = c->n, lda = c->lda, info = 0, one = 1;
    dgetrs_(&no, &n, &one, c->F, &lda, c->pivot, c->x, &n, &info);
}

static void rgRunMultiply(const rgKernels* kernels, const rgCase* c) {
    if (kernels != NULL) {
        kernels->multiply(c->n, c->n, c->A, c->lda, c->A, c->x);
        return;
    }
    cblas_dgemv(CblasColMajor, CblasNoTrans, c->n, c->n, 1, c->A, c->lda, c->A, 1, 0, c->x, 1);
}

static void rgRunMultiplyTransposed(const rgKernels* kernels, const rgCase* c) {
    if (kernels != NULL) {
        kernels->multiplyTransposed(c->n, c->n, c->A, c->lda, c->A, c->x);
        return;
    }
    cblas_dgemv(CblasColMajor, CblasTrans, c->n, c->n, 1, c->A, c->lda, c->A, 1, 0, c->x, 1);
}

static void rgRunProduct(const rgKernels* kernels, const rgCase* c) {
    if (kernels != NULL) {
        kernels->subtractProduct(c->n, c->n, c->n, c->A, c->lda, c->A, c->lda, c->F, c->lda);
        return;
    }
    cblas_dgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, c->n, c->n, c->n, -1, c->A, c->lda, c->A,
                c->lda, 1, c->F, c->lda);
}

static void rgRunSelfProduct(const rgKernels* kernels, const rgCase* c) {
    if (kernels != NULL) {
        kernels->addSelfProduct(c->n, c->n, c->A, c->lda, c->F, c->lda);
        return;
    }
    cblas_dsyrk(CblasColMajor, CblasLower, CblasNoTrans, c->n, c->n, 1, c->A, c->lda, 1, c->F,
                c->lda);
}

// Minimum over rounds of the mean time of a few calls [s].
static void rgMeasure(rgOperation* run, const rgCase* c, int rounds, double best[rg_variants]) {
    const rgKernels* tables[rg_variants] = {rgSelectKernels(rg_kernelsPlain),
                                            rgSelectKernels(rg_kernelsAvx2),
                                            rgSelectKernels(rg_kernelsAvx512), NULL};
    double work = 1e3 + (double)c->n * c->n * c->n;
    int calls = (int)(4e5 / work) + 1;
    for (int v = 0; v < rg_variants; ++v) {
        best[v] = 1e9;
    }
    for (int r = 0; r < rounds; ++r) {
        for (int v = 0; v < rg_variants; ++v) {
            double start = rgSeconds();
            for (int i = 0; i < calls; ++i) {
                run(tables[v], c);
            }
            double time = (rgSeconds() - start) / calls;
            best[v] = time < best[v] ? time : best[v];
        }
    }
}

static void rgReport(const char* name, rgOperation* run, rgOperation* prepare, double flops,
                     const rgCase* c, int rounds) {
    double best[rg_variants], copy[rg_variants] = {0};
    if (run == rgRunCholesky || run == rgRunLu) {
        rgMeasure(rgRunCopy, c, rounds, copy);
    }
    prepare(rgSelectKernels(rg_kernelsPlain), c);
    rgMeasure(run, c, rounds, best);
    printf("%-9s %4d", name, c->n);
    for (int v = 0; v < rg_variants; ++v) {
        printf(" %9.3f", 1e6 * (best[v] - copy[v]));
    }
    double own = best[2] - copy[2];
    printf("   %6.2f GFlop/s, OpenBLAS/ours %.2f\n", 1e-9 * flops / own, (best[3] - copy[3]) / own);
}

static void rgFillMatrix(double* A, int n, int lda) {
    uint64_t state = 1;
    for (int i = 0; i < lda * n; ++i) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        A[i] = (double)(state >> 40) / (1 << 24) - 0.5;
    }
    for (int i = 0; i < n; ++i) {
        for (int j = 0; j < i; ++j) {
            A[i + j * lda] = A[j + i * lda];
        }
        A[i + i * lda] += n * 0.25;
    }
}

static void rgReportSize(int n, int rounds, const rgCase* memory) {
    rgCase c = *memory;
    double cube = (double)n * n * n, square = (double)n * n;
    c.n = n;
    c.lda = rgLeadingDimension(n);
    double* A = c.F + (size_t)rg_largest * rg_largest;
    rgFillMatrix(A, n, c.lda);
    c.A = A;
    rgReport("cholesky", rgRunCholesky, rgRunCholesky, cube / 3, &c, rounds);
    rgReport("chsolve", rgRunCholeskySolve, rgRunCholesky, 2 * square, &c, rounds);
    rgReport("gemv", rgRunMultiply, rgRunCopy, 2 * square, &c, rounds);
    rgReport("gemvt", rgRunMultiplyTransposed, rgRunCopy, 2 * square, &c, rounds);
    rgReport("gemm", rgRunProduct, rgRunCopy, 2 * cube, &c, rounds);
    rgReport("syrk", rgRunSelfProduct, rgRunCopy, cube, &c, rounds);
    // Without a dominant diagonal, LU exchanges rows nearly always.
    for (int i = 0; i < n; ++i) {
        A[i + i * c.lda] -= n * 0.25;
        A[i + i * c.lda] += i % 2 ? 0.5 : -0.5;
    }
    rgReport("lu", rgRunLu, rgRunLu, 2 * cube / 3, &c, rounds);
    rgReport("lusolve", rgRunLuSolve, rgRunLu, 2 * square, &c, rounds);
}

int rgBench_Kernels(int argc, char** argv) {
    static const int sizes[] = {3,  6,   12,  24,  27,  36,  38,  45,  48,  60,
                                90, 120, 180, 240, 300, 400, 480, 640, 800, 1000};
    int rounds = argc > 1 ? atoi(argv[1]) : 30;
    openblas_set_num_threads(1);
    rgAllocator allocator = rgResolveAllocator(NULL);
    double* memory = rgAllocate(&allocator, 2u * rg_largest * rg_largest + rg_largest, 8);
    int* pivot = rgAllocate(&allocator, rg_largest, sizeof(int));
    if (memory == NULL || pivot == NULL) {
        return 1;
    }
    rgCase c = {.F = memory, .x = memory + 2u * rg_largest * rg_largest, .pivot = pivot};
    printf("operation    n     plain      avx2    avx512  OpenBLAS  [us per call, minima]\n");
    for (int i = 0; i < RG_COUNT(sizes); ++i) {
        rgReportSize(sizes[i], rounds, &c);
    }
    rgRelease(&allocator, memory);
    rgRelease(&allocator, pivot);
    return 0;
}
