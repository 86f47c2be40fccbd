// Projections on cones, their duals and in a metric: defined by being nearest, so that is what is
// tested.
#include "contact/cones.h"
#include "contact_case.h"
#include "support.h"

#include <math.h>
#include <string.h>

static const double rgFrictions[] = {0, 1e-9, 0.05, 0.5, 1, 3, 10, 1e6};

static void rgRandomVector(rgRandom* random, double* x) {
    double size = pow(10, rgRandom_Uniform(random, -6, 6));
    for (int i = 0; i < 3; ++i) {
        x[i] = size * rgRandom_Uniform(random, -1, 1);
    }
}

// A random member of |x_t| <= mu x_n, often on its surface.
static void rgRandomMember(rgRandom* random, double mu, double size, double* x) {
    double angle = rgRandom_Uniform(random, 0, 6.2831853);
    double reach = fmin(1, rgRandom_Uniform(random, 0, 2));
    x[2] = size * rgRandom_Uniform(random, 0, 1);
    x[0] = mu * x[2] * reach * cos(angle);
    x[1] = mu * x[2] * reach * sin(angle);
}

static double rgLength(const double* x) {
    return sqrt(x[0] * x[0] + x[1] * x[1] + x[2] * x[2]);
}

static double rgDot(const double* x, const double* y) {
    return x[0] * y[0] + x[1] * y[1] + x[2] * y[2];
}

static void test_projection_lands_in_cone_and_stays(void** state) {
    (void)state;
    rgRandom random = {1};
    for (int k = 0; k < 4000; ++k) {
        rgBlock block = rgContactBlock(0, rgFrictions[k % 8]);
        double x[3], y[3], z[3];
        rgRandomVector(&random, x);
        memcpy(y, x, sizeof(x));
        rgBlock_Project(&block, y);
        memcpy(z, y, sizeof(y));
        rgBlock_Project(&block, z);
        double size = rgLength(x);
        assert_true(y[2] >= 0);
        assert_true(hypot(y[0], y[1]) <= block.mu * y[2] * (1 + 1e-14) + 1e-300);
        EXPECT_NEAR(rgLargestDifference(3, y, z), 0, 4e-16 * size);
    }
}

// x - P(x) makes an obtuse angle with every direction into the cone: exactly what nearest means.
static void test_projection_is_nearest(void** state) {
    (void)state;
    rgRandom random = {2};
    for (int k = 0; k < 2000; ++k) {
        rgBlock block = rgContactBlock(0, rgFrictions[k % 8]);
        double x[3], y[3];
        rgRandomVector(&random, x);
        memcpy(y, x, sizeof(x));
        rgBlock_Project(&block, y);
        double away[3] = {x[0] - y[0], x[1] - y[1], x[2] - y[2]};
        for (int trial = 0; trial < 20; ++trial) {
            double m[3];
            rgRandomMember(&random, block.mu, rgLength(x), m);
            double into[3] = {m[0] - y[0], m[1] - y[1], m[2] - y[2]};
            assert_true(rgDot(away, into) <= 1e-14 * rgLength(x) * (rgLength(m) + rgLength(x)));
        }
    }
}

static void test_moreau(void** state) {
    (void)state;
    rgRandom random = {3};
    for (int k = 0; k < 4000; ++k) {
        rgBlock block = rgContactBlock(0, rgFrictions[k % 8]);
        double x[3], p[3], d[3];
        rgRandomVector(&random, x);
        double size = rgLength(x);
        memcpy(p, x, sizeof(x));
        rgBlock_Project(&block, p);
        for (int i = 0; i < 3; ++i) {
            d[i] = -x[i];
        }
        rgBlock_ProjectDual(&block, d);
        // x = P_K(x) - P_K*(-x), the two orthogonal, the second in K*.
        for (int i = 0; i < 3; ++i) {
            EXPECT_NEAR(p[i] - d[i], x[i], 4e-16 * size);
        }
        EXPECT_NEAR(rgDot(p, d), 0, 1e-14 * size * size);
        assert_true(block.mu * hypot(d[0], d[1]) <= d[2] + 1e-14 * (1 + block.mu) * size);
    }
}

static void test_dual_is_nearest(void** state) {
    (void)state;
    rgRandom random = {4};
    for (int k = 0; k < 1000; ++k) {
        double mu = rgFrictions[k % 8];
        rgBlock block = rgContactBlock(0, mu);
        double x[3], y[3];
        rgRandomVector(&random, x);
        memcpy(y, x, sizeof(x));
        rgBlock_ProjectDual(&block, y);
        double away[3] = {x[0] - y[0], x[1] - y[1], x[2] - y[2]};
        for (int trial = 0; trial < 20; ++trial) {
            // Members of K*: x_n >= mu |x_t|.
            double angle = rgRandom_Uniform(&random, 0, 6.2831853);
            double t = rgLength(x) * rgRandom_Uniform(&random, 0, 1);
            double m[3] = {t * cos(angle), t * sin(angle),
                           mu * t + rgLength(x) * fmax(0, rgRandom_Uniform(&random, -1, 1))};
            double into[3] = {m[0] - y[0], m[1] - y[1], m[2] - y[2]};
            assert_true(rgDot(away, into) <= 1e-13 * rgLength(x) * (rgLength(m) + rgLength(x)));
        }
    }
}

static void test_frictionless_is_a_ray(void** state) {
    (void)state;
    rgBlock block = rgContactBlock(0, 0);
    double a[3] = {3, -4, 2};
    rgBlock_Project(&block, a);
    assert_true(a[0] == 0 && a[1] == 0 && a[2] == 2);
    double b[3] = {3, -4, -2};
    rgBlock_Project(&block, b);
    assert_true(b[0] == 0 && b[1] == 0 && b[2] == 0);
    double c[3] = {3, -4, -2}; // the dual is a half space
    rgBlock_ProjectDual(&block, c);
    assert_true(c[0] == 3 && c[1] == -4 && c[2] == 0);
}

static void test_known_values(void** state) {
    (void)state;
    // mu = 1, x = (2, 0, 0): half way down the surface.
    rgBlock block = rgContactBlock(0, 1);
    double a[3] = {2, 0, 0};
    rgBlock_Project(&block, a);
    EXPECT_NEAR(a[0], 1, 1e-15);
    EXPECT_NEAR(a[2], 1, 1e-15);
    // mu = 0.75, t = 5, n = 1: a = (3.75 + 1)/1.5625 = 3.04, tangent 0.75 a = 2.28
    block.mu = 0.75;
    double b[3] = {3, 4, 1};
    rgBlock_Project(&block, b);
    EXPECT_NEAR(b[0], 2.28 * 0.6, 1e-14);
    EXPECT_NEAR(b[1], 2.28 * 0.8, 1e-14);
    EXPECT_NEAR(b[2], 3.04, 1e-14);
}

static void test_rows_beyond_the_cone(void** state) {
    (void)state;
    rgBlock block = rgContactBlock(0, 0.5);
    block.rowCount = 6;
    block.muTorsion = 0.1;
    block.muRolling = 0.02;
    double x[6] = {0, 0, 10, 5, -3, 4};
    rgBlock_Project(&block, x);
    EXPECT_NEAR(x[3], 1, 1e-15);
    EXPECT_NEAR(x[4], -0.12, 1e-15); // a disc of radius 0.2
    EXPECT_NEAR(x[5], 0.16, 1e-15);
}

static void test_other_sets(void** state) {
    (void)state;
    rgBlock half = {.kind = rg_blockHalfLine, .rowCount = 2};
    double a[2] = {-1, 2};
    rgBlock_Project(&half, a);
    assert_true(a[0] == 0 && a[1] == 2);
    double d[2] = {-1, 2};
    rgBlock_ProjectDual(&half, d);
    assert_true(d[0] == 0 && d[1] == 2);
    rgBlock box = {.kind = rg_blockBox, .rowCount = 3, .lower = -1, .upper = INFINITY};
    double b[3] = {-5, 0.5, 1e300};
    rgBlock_Project(&box, b);
    assert_true(b[0] == -1 && b[1] == 0.5 && b[2] == 1e300);
    rgBlock open = {.kind = rg_blockFree, .rowCount = 2};
    double c[2] = {-1, 2};
    rgBlock_Project(&open, c);
    assert_true(c[0] == -1 && c[1] == 2);
    rgBlock_ProjectDual(&open, c);
    assert_true(c[0] == 0 && c[1] == 0);
}

static double rgMetricDistance(const double* D, const double* a, const double* b) {
    double sum = 0;
    for (int i = 0; i < 3; ++i) {
        sum += D[i] * (a[i] - b[i]) * (a[i] - b[i]);
    }
    return sum;
}

// Against a search over the cone's surface: by symmetry the nearest point has the direction of x_t.
static void test_metric_projection_by_search(void** state) {
    (void)state;
    rgRandom random = {5};
    for (int k = 0; k < 300; ++k) {
        rgBlock block = rgContactBlock(0, rgFrictions[k % 7]);
        double metric[3];
        metric[0] = metric[1] = pow(10, rgRandom_Uniform(&random, -3, 3));
        metric[2] = pow(10, rgRandom_Uniform(&random, -3, 3));
        double x[3], y[3];
        for (int i = 0; i < 3; ++i) {
            x[i] = rgRandom_Uniform(&random, -1, 1);
        }
        memcpy(y, x, sizeof(x));
        rgBlock_ProjectMetric(&block, metric, y);
        assert_true(hypot(y[0], y[1]) <= block.mu * y[2] * (1 + 1e-13) + 1e-15);
        double found = rgMetricDistance(metric, x, y);
        double t = hypot(x[0], x[1]);
        double high = 2 + 2 * block.mu * sqrt(metric[0] / metric[2]) + 2 * t;
        for (int i = 0; i <= 4000; ++i) {
            double n = high * i / 4000;
            double reach = fmin(t, block.mu * n);
            double m[3] = {x[0] / t * reach, x[1] / t * reach, n};
            assert_true(found <= rgMetricDistance(metric, x, m) * (1 + 1e-12) + 1e-13);
        }
        for (int i = 0; i < 50; ++i) {
            double m[3];
            rgRandomMember(&random, block.mu, 2, m);
            assert_true(found <= rgMetricDistance(metric, x, m) * (1 + 1e-12) + 1e-13);
        }
    }
}

static void test_metric_of_ones_is_euclidean(void** state) {
    (void)state;
    rgRandom random = {6};
    const double ones[3] = {1, 1, 1};
    for (int k = 0; k < 500; ++k) {
        rgBlock block = rgContactBlock(0, rgFrictions[k % 8]);
        double x[3], y[3];
        rgRandomVector(&random, x);
        memcpy(y, x, sizeof(x));
        rgBlock_Project(&block, x);
        rgBlock_ProjectMetric(&block, ones, y);
        EXPECT_NEAR(rgLargestDifference(3, x, y), 0, 1e-15 * rgLength(x));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_projection_lands_in_cone_and_stays),
        cmocka_unit_test(test_projection_is_nearest),
        cmocka_unit_test(test_moreau),
        cmocka_unit_test(test_dual_is_nearest),
        cmocka_unit_test(test_frictionless_is_a_ray),
        cmocka_unit_test(test_known_values),
        cmocka_unit_test(test_rows_beyond_the_cone),
        cmocka_unit_test(test_other_sets),
        cmocka_unit_test(test_metric_projection_by_search),
        cmocka_unit_test(test_metric_of_ones_is_euclidean),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
