// Statistics of measurements on data whose answers are known.
#include "peer_results.h"
#include "stats.h"
#include "support.h"

#include <math.h>
#include <string.h>

static void test_moments(void** state) {
    (void)state;
    const double values[] = {2, 4, 4, 4, 5, 5, 7, 9};
    EXPECT_NEAR(rgMeanOf(values, 8), 5, 1e-15);
    EXPECT_NEAR(rgDeviationOf(values, 8), 2, 1e-15);
    const double powers[] = {1, 10, 100, 1000};
    EXPECT_NEAR(rgGeometricMeanOf(powers, 4), pow(10, 1.5), 1e-12);
    assert_true(isnan(rgMeanOf(values, 0)) && isnan(rgDeviationOf(values, 0)) &&
                isnan(rgGeometricMeanOf(values, 0)) && isnan(rgQuantileOf(values, 0, 0.5)));
}

static void test_quantiles(void** state) {
    (void)state;
    double values[] = {9, 1, 5, 3};
    EXPECT_NEAR(rgQuantileOf(values, 4, 0), 1, 0);
    EXPECT_NEAR(rgQuantileOf(values, 4, 1), 9, 0);
    EXPECT_NEAR(rgQuantileOf(values, 4, 0.5), 4, 1e-15);
    EXPECT_NEAR(rgQuantileOf(values, 3, 0.5), 5, 0);
    EXPECT_NEAR(values[0], 9, 0); // their order stays
    values[0] = INFINITY;
    EXPECT_NEAR(rgQuantileOf(values, 4, 0.5), 4, 1e-15); // not 0 times infinity
}

static void test_power_law(void** state) {
    (void)state;
    double x[6], y[6];
    for (int i = 0; i < 6; ++i) {
        x[i] = pow(3, i);
        y[i] = 0.7 * pow(x[i], 1.4);
    }
    rgPowerLaw law;
    assert_true(rgFitPowerLaw(x, y, 6, &law));
    EXPECT_NEAR(law.exponent, 1.4, 1e-12);
    EXPECT_NEAR(law.factor, 0.7, 1e-12);
    // Errors that cancel about a line leave it where it is: log y = log x, +d -2d +d.
    const double x3[] = {1, exp(1), exp(2)}, y3[] = {exp(0.1), exp(1 - 0.2), exp(2 + 0.1)};
    assert_true(rgFitPowerLaw(x3, y3, 3, &law));
    EXPECT_NEAR(law.exponent, 1, 1e-12);
    EXPECT_NEAR(law.factor, 1, 1e-12);
    assert_false(rgFitPowerLaw(x, y, 1, &law));
    const double same[] = {7, 7, 7};
    assert_false(rgFitPowerLaw(same, y, 3, &law));
}

// Two solvers, four problems: one each, one that only the second solves, one that none does.
static void test_profiles(void** state) {
    (void)state;
    const double costs[] = {1, 2, 30, 10, INFINITY, 5, INFINITY, INFINITY};
    EXPECT_NEAR(rgProfileAt(costs, 4, 2, 0, 1), 0.25, 0);
    EXPECT_NEAR(rgProfileAt(costs, 4, 2, 1, 1), 0.5, 0);
    EXPECT_NEAR(rgProfileAt(costs, 4, 2, 1, 1.99), 0.5, 0);
    EXPECT_NEAR(rgProfileAt(costs, 4, 2, 1, 2), 0.75, 0);
    EXPECT_NEAR(rgProfileAt(costs, 4, 2, 0, 3), 0.5, 0);
    EXPECT_NEAR(rgProfileAt(costs, 4, 2, 0, 1e9), 0.5, 0); // what it does not solve
    EXPECT_NEAR(rgProfileAt(costs, 4, 2, 1, 1e9), 0.75, 0);
    EXPECT_NEAR(rgProfileEnd(costs, 4, 2), 3, 1e-15);
    EXPECT_NEAR(rgProfileEnd(costs + 6, 1, 2), 1, 0);
}

// Who is ahead: only what is faster is named, and what has no number does not count.
static void test_rivals(void** state) {
    (void)state;
    rgPeerResults rivals = {0};
    assert_string_equal(rgPeerResults_Text(&rivals), "none");
    rgPeerResults_Add(&rivals, "slow", 10, 9, "x");
    rgPeerResults_Add(&rivals, "gone", 10, NAN, NULL);
    rgPeerResults_Add(&rivals, "endless", 10, INFINITY, NULL);
    assert_string_equal(rgPeerResults_Text(&rivals), "none");
    assert_int_equal(rivals.total, 1);
    rgPeerResults_Add(&rivals, "a", 10, 12.5, NULL);
    rgPeerResults_Add(&rivals, "b", 10, 42, "falls");
    assert_string_equal(rgPeerResults_Text(&rivals),
                        "a (1.25 times as fast), b (4.2 times as fast, falls)");
    for (int i = 0; i < 100; ++i) { // a long list ends where the text does
        rgPeerResults_Add(&rivals, "somebody with a long name", 1, 2, NULL);
    }
    assert_true(rivals.count == 102 && strlen(rivals.text) < sizeof(rivals.text));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_moments),   cmocka_unit_test(test_quantiles),
        cmocka_unit_test(test_power_law), cmocka_unit_test(test_profiles),
        cmocka_unit_test(test_rivals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
