// Own sine and cosine against the C library's.
#include "math/sincos.h"
#include "support.h"

#include <math.h>

static void rgCheckAngles(rgRandom* random, double size) {
    enum { N = 1001 };
    static double x[N], s[N], c[N];
    for (int i = 0; i < N; ++i) {
        x[i] = rgRandom_Uniform(random, -size, size);
    }
    rgSinCos(N, x, s, c);
    for (int i = 0; i < N; ++i) {
        EXPECT_NEAR(s[i], sin(x[i]), 2.5e-16);
        EXPECT_NEAR(c[i], cos(x[i]), 2.5e-16);
        EXPECT_NEAR(s[i] * s[i] + c[i] * c[i], 1, 6e-16);
    }
}

static void test_matches_the_c_library(void** state) {
    (void)state;
    rgRandom random = {1};
    for (double size = 1e-9; size < 1e9; size *= 3) {
        rgCheckAngles(&random, size);
    }
}

static void test_special_angles(void** state) {
    (void)state;
    double x[] = {
        0,   -0.0,    1.5707963267948966, -1.5707963267948966, 3.141592653589793, 1e5, 1e300,
        NAN, INFINITY};
    double s[9], c[9];
    rgSinCos(9, x, s, c);
    EXPECT_NEAR(s[0], 0, 0);
    EXPECT_NEAR(c[0], 1, 0);
    EXPECT_NEAR(s[1], 0, 0);
    for (int i = 2; i < 7; ++i) {
        EXPECT_NEAR(s[i], sin(x[i]), 2.5e-16);
        EXPECT_NEAR(c[i], cos(x[i]), 2.5e-16);
    }
    assert_true(isnan(s[7]) && isnan(c[7]) && isnan(s[8]) && isnan(c[8]));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_matches_the_c_library),
        cmocka_unit_test(test_special_angles),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
