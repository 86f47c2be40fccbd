// Contact problems handed to SCS's library: what comes back solves the convex problem, by the
// judge.
#include "rigor/rigor.h"
#include "scs_peer.h"

#include "support.h"

#include <math.h>
#include <stdlib.h>

static void test_native(void** state) {
    (void)state;
    enum { n = 8 };
    const rgBlock blocks[] = {
        {.kind = rg_blockCoulomb, .firstRow = 0, .rowCount = 3, .mu = 0.5},
        {.kind = rg_blockHalfLine, .firstRow = 3, .rowCount = 1},
        {.kind = rg_blockCoulomb, .firstRow = 4, .rowCount = 3, .mu = 0.9},
        {.kind = rg_blockBox, .firstRow = 7, .rowCount = 1, .lower = -0.2, .upper = 0.1},
    };
    for (int trial = 0; trial < 20; ++trial) {
        double root[n * n], G[n * n], g[n], R[n];
        for (int i = 0; i < n * n; ++i) {
            root[i] = rgRandomNormal((uint64_t)trial, (uint64_t)i);
        }
        for (int i = 0; i < n; ++i) {
            g[i] = rgRandomNormal((uint64_t)trial, (uint64_t)(100 + i));
            R[i] = 0.1 * i;
            for (int j = 0; j < n; ++j) {
                G[i * n + j] = i == j ? 0.5 : 0;
                for (int k = 0; k < n; ++k) {
                    G[i * n + j] += root[i * n + k] * root[j * n + k] / n;
                }
            }
        }
        rgContactProblem problem = {.rowCount = n,
                                    .blockCount = 4,
                                    .blocks = blocks,
                                    .delassus = {.kind = rg_delassusDense, .matrix = G},
                                    .freeVelocity = g,
                                    .compliance = R};
        const rgContactProblem* problems[] = {&problem, &problem};
        rgScsAnswer answers[2];
        assert_string_equal(rgScs_Label(), "SCS (native)");
        assert_true(rgScs_Solve(problems, 2, 1e-10, 20000, answers));
        for (int k = 0; k < 2; ++k) {
            rgResidual residual;
            assert_int_equal(
                rgContactProblem_Judge(&problem, rg_modelCcp, answers[k].lambda, &residual), rg_ok);
            assert_true(residual.total < 1e-6);
            assert_true(answers[k].iterations > 1);
            EXPECT_NEAR(answers[k].seconds, 3e-3, 1e-12);
            free(answers[k].lambda);
        }
    }
    // torsion: a set that it does not have
    double G[16] = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1}, g[4] = {0, 0, -1, 0};
    rgBlock torsion = {.kind = rg_blockCoulomb, .rowCount = 4, .mu = 0.5, .muTorsion = 0.1};
    rgContactProblem problem = {.rowCount = 4,
                                .blockCount = 1,
                                .blocks = &torsion,
                                .delassus = {.kind = rg_delassusDense, .matrix = G},
                                .freeVelocity = g};
    const rgContactProblem* one = &problem;
    rgScsAnswer answer;
    assert_false(rgScs_Solve(&one, 1, 1e-6, 10, &answer));
    free(answer.lambda);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_native)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
