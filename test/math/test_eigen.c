// Extreme eigenvalues against matrices built from known ones.
#include "math/eigen.h"
#include "support.h"

#include <math.h>
#include <string.h>

enum { rg_size = 40, rg_steps = 40, rg_scratch = 3 * rg_size + 2 * rg_steps };

// Q diag(values) Q' with Q a product of reflections; the inverse has inverted values.
typedef struct rgKnown {
    int n;
    double values[rg_size];
    double reflections[3][rg_size];
} rgKnown;

static void rgReflect(int n, const double* u, double* x) {
    double s = 0;
    for (int i = 0; i < n; ++i) {
        s += u[i] * x[i];
    }
    for (int i = 0; i < n; ++i) {
        x[i] -= 2 * s * u[i];
    }
}

static void rgApplyPower(const rgKnown* k, const double* x, double* y, bool inverse) {
    memcpy(y, x, (size_t)k->n * sizeof(double));
    for (int r = 0; r < 3; ++r) {
        rgReflect(k->n, k->reflections[r], y);
    }
    for (int i = 0; i < k->n; ++i) {
        y[i] *= inverse ? 1 / k->values[i] : k->values[i];
    }
    for (int r = 2; r >= 0; --r) {
        rgReflect(k->n, k->reflections[r], y);
    }
}

static void rgApplyKnown(const double* x, double* y, void* context) {
    rgApplyPower(context, x, y, false);
}

static void rgApplyInverse(const double* x, double* y, void* context) {
    rgApplyPower(context, x, y, true);
}

static rgKnown rgNewKnown(int n, uint64_t seed) {
    rgRandom random = {seed};
    rgKnown k = {.n = n};
    for (int r = 0; r < 3; ++r) {
        double squares = 0;
        for (int i = 0; i < n; ++i) {
            k.reflections[r][i] = rgRandom_Normal(&random);
            squares += k.reflections[r][i] * k.reflections[r][i];
        }
        for (int i = 0; i < n; ++i) {
            k.reflections[r][i] /= sqrt(squares);
        }
    }
    return k;
}

static void test_full_run_finds_both_ends(void** state) {
    (void)state;
    double scratch[rg_scratch];
    for (int n = 1; n <= 12; ++n) {
        rgKnown k = rgNewKnown(n, (uint64_t)n);
        for (int i = 0; i < n; ++i) {
            k.values[i] = 0.5 + i;
        }
        rgOperator A = {n, rgApplyKnown, &k};
        rgSpectrum s =
            rgEstimateSpectrum(rgSelectKernels(rg_kernelsBest), &A, rg_steps, 1e-12, scratch);
        EXPECT_NEAR(s.smallest, 0.5, 1e-9);
        EXPECT_NEAR(s.largest, n - 0.5, 1e-9);
        assert_true(s.steps <= n);
    }
}

// Few steps: bounds hold, and the largest is already good.
static void test_few_steps_bound(void** state) {
    (void)state;
    double scratch[rg_scratch];
    rgKnown k = rgNewKnown(rg_size, 3);
    for (int i = 0; i < rg_size; ++i) {
        k.values[i] = pow(10, -6.0 * i / rg_size);
    }
    rgOperator A = {rg_size, rgApplyKnown, &k};
    double previous = 0;
    for (int steps = 1; steps <= 20; ++steps) {
        rgSpectrum s =
            rgEstimateSpectrum(rgSelectKernels(rg_kernelsPlain), &A, steps, 1e-12, scratch);
        assert_int_equal(s.steps, steps);
        assert_true(s.largest <= 1 + 1e-12 && s.largest >= previous - 1e-12);
        assert_true(s.smallest >= k.values[rg_size - 1] * (1 - 1e-6));
        previous = s.largest;
    }
    EXPECT_NEAR(previous, 1, 1e-6);
}

static void test_smallest_through_inverse(void** state) {
    (void)state;
    double scratch[rg_scratch];
    rgKnown k = rgNewKnown(rg_size, 4);
    for (int i = 0; i < rg_size; ++i) {
        k.values[i] = pow(10, -8.0 * i / rg_size);
    }
    double true_smallest = k.values[rg_size - 1];
    rgOperator inverse = {rg_size, rgApplyInverse, &k};
    double found =
        rgEstimateSmallestEigenvalue(rgSelectKernels(rg_kernelsBest), &inverse, 12, 1e-9, scratch);
    EXPECT_NEAR(found / true_smallest, 1, 1e-4);
}

static void test_degenerate_operators(void** state) {
    (void)state;
    double scratch[rg_scratch];
    const rgKernels* kernels = rgSelectKernels(rg_kernelsBest);
    rgKnown k = rgNewKnown(rg_size, 5);
    rgOperator A = {rg_size, rgApplyKnown, &k};
    // Zero
    rgSpectrum s = rgEstimateSpectrum(kernels, &A, 10, 1e-6, scratch);
    assert_true(s.smallest == 0 && s.largest == 0 && s.steps == 1);
    // A multiple of the identity: one step
    for (int i = 0; i < rg_size; ++i) {
        k.values[i] = 3;
    }
    s = rgEstimateSpectrum(kernels, &A, 10, 1e-12, scratch);
    EXPECT_NEAR(s.largest, 3, 1e-12);
    EXPECT_NEAR(s.smallest, 3, 1e-12);
    // Rank two: smallest zero, largest exact after three steps
    memset(k.values, 0, sizeof(k.values));
    k.values[3] = 5;
    k.values[7] = 2;
    s = rgEstimateSpectrum(kernels, &A, 10, 1e-12, scratch);
    EXPECT_NEAR(s.largest, 5, 1e-9);
    EXPECT_NEAR(s.smallest, 0, 1e-9);
    // Empty, and not a number
    rgOperator empty = {0, rgApplyKnown, &k};
    s = rgEstimateSpectrum(kernels, &empty, 10, 1e-6, scratch);
    assert_int_equal(s.steps, 0);
    k.values[0] = NAN;
    s = rgEstimateSpectrum(kernels, &A, 10, 1e-6, scratch);
    assert_true(isnan(s.largest));
    assert_true(rgEstimateSmallestEigenvalue(kernels, &A, 10, 1e-6, scratch) == 0);
}

static void test_repeats_exactly(void** state) {
    (void)state;
    double scratch[rg_scratch];
    rgKnown k = rgNewKnown(rg_size, 6);
    for (int i = 0; i < rg_size; ++i) {
        k.values[i] = 1 + i * i;
    }
    rgOperator A = {rg_size, rgApplyKnown, &k};
    const rgKernels* kernels = rgSelectKernels(rg_kernelsBest);
    rgSpectrum a = rgEstimateSpectrum(kernels, &A, 9, 1e-3, scratch);
    memset(scratch, 1, sizeof(scratch));
    rgSpectrum b = rgEstimateSpectrum(kernels, &A, 9, 1e-3, scratch);
    assert_true(a.smallest == b.smallest && a.largest == b.largest);
    assert_true(rgSpectrumScratch(rg_size, rg_steps) <= rg_scratch);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_full_run_finds_both_ends),
        cmocka_unit_test(test_few_steps_bound),
        cmocka_unit_test(test_smallest_through_inverse),
        cmocka_unit_test(test_degenerate_operators),
        cmocka_unit_test(test_repeats_exactly),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
