// The convex relaxation: results satisfy the optimality conditions of the conic quadratic program,
// written down independently of the judge.
#include "solve.h"

// f(lambda) = 1/2 lambda' (G + R) lambda + g' lambda
static double rgObjective(const rgContactCase* made, const double* lambda) {
    int n = made->problem.rowCount;
    double sum = 0;
    for (int i = 0; i < n; ++i) {
        double row = made->R != NULL ? made->R[i] * lambda[i] : 0;
        for (int j = 0; j < n; ++j) {
            row += made->G[i * n + j] * lambda[j];
        }
        sum += lambda[i] * (0.5 * row + made->g[i]);
    }
    return sum;
}

// A random member of the product of blocks, of a given size.
static void rgRandomImpulses(const rgContactCase* made, rgRandom* random, double size, double* x) {
    for (int b = 0; b < made->problem.blockCount; ++b) {
        const rgBlock* block = made->blocks + b;
        for (int i = 0; i < block->rowCount; ++i) {
            x[block->firstRow + i] = size * rgRandom_Normal(random);
        }
        rgBlock_Project(block, x + block->firstRow);
    }
}

// First order: sigma' (x - lambda) >= 0 for every x in K; and no member of K has a lower value.
static void rgExpectOptimal(const rgContactCase* made, const double* lambda) {
    int n = made->problem.rowCount;
    rgRandom random = {99};
    double x[128], sigma[128];
    assert_int_equal(rgContactProblem_Velocity(&made->problem, lambda, sigma), rg_ok);
    double size = rgLargestNumber(n, lambda) + 1e-3;
    double value = rgObjective(made, lambda);
    double slack = 1e-6 * n * size * rgLargestNumber(n, made->g);
    for (int trial = 0; trial < 200; ++trial) {
        rgRandomImpulses(made, &random, trial % 2 ? size : 0.01 * size, x);
        if (trial % 4 >= 2) {
            for (int i = 0; i < n; ++i) {
                x[i] = lambda[i] + 1e-2 * x[i]; // K is convex, and a cone where this leaves it not
            }
            for (int b = 0; b < made->problem.blockCount; ++b) {
                rgBlock_Project(made->blocks + b, x + made->blocks[b].firstRow);
            }
        }
        double descent = 0;
        for (int i = 0; i < n; ++i) {
            descent += sigma[i] * (x[i] - lambda[i]);
        }
        assert_true(descent >= -slack);
        assert_true(rgObjective(made, x) >= value - slack);
    }
}

// KKT of the second-order cone program: lambda in K, sigma in K*, orthogonal, block by block.
static void rgExpectConic(const rgContactCase* made, const double* lambda) {
    double sigma[128];
    int n = made->problem.rowCount;
    assert_int_equal(rgContactProblem_Velocity(&made->problem, lambda, sigma), rg_ok);
    double speed = rgLargestNumber(n, made->g), size = rgLargestNumber(n, lambda);
    for (int b = 0; b < made->problem.blockCount; ++b) {
        const rgBlock* block = made->blocks + b;
        const double* l = lambda + block->firstRow;
        const double* s = sigma + block->firstRow;
        if (block->kind == rg_blockCoulomb) {
            assert_true(hypot(l[0], l[1]) <= block->mu * l[2] * (1 + 1e-12) + 1e-300);
            assert_true(block->mu * hypot(s[0], s[1]) <= s[2] + 1e-6 * (1 + block->mu) * speed);
            EXPECT_NEAR(l[0] * s[0] + l[1] * s[1] + l[2] * s[2], 0, 1e-6 * speed * size);
        }
    }
}

static const unsigned rgConvexWays = 1u << rg_wayAuto | 1u << rg_wayNewton | 1u << rg_wayAdmm |
                                     1u << rg_wayFastAdmm | 1u << rg_wayPgs | 1u << rg_wayInterior;

static void test_conic_optimality(void** state) {
    (void)state;
    for (uint64_t seed = 1; seed <= (RG_SLOW_BUILD ? 4 : 12); ++seed) {
        rgContactCaseDef caseDef = {.seed = seed,
                                    .bodyCount = 8,
                                    .contactCount = 6,
                                    .halfLineCount = 1,
                                    .boxCount = 1,
                                    .freeCount = seed % 2,
                                    .mu = -1,
                                    .compliance = seed % 3 ? 0.02 : 0,
                                    .state = -1};
        rgContactCase* made = rgMakeContactCase(&caseDef);
        for (int way = 0; way < rg_wayCount; ++way) {
            if (!(rgConvexWays >> way & 1)) {
                continue;
            }
            rgContactSolverDef def = rgWayDef((rgWay)way, 1e-8);
            def.model = rg_modelCcp;
            double* lambda = rgMustSolve((rgWay)way, &def, &made->problem, seed);
            rgExpectConic(made, lambda);
            rgExpectOptimal(made, lambda);
            free(lambda);
        }
        rgFreeContactCase(made);
    }
}

// Rank-deficient: impulses differ, the value of the program and the velocity do not.
static void test_value_is_unique(void** state) {
    (void)state;
    for (uint64_t seed = 1; seed <= 6; ++seed) {
        rgContactCaseDef caseDef = {
            .seed = seed, .bodyCount = 3, .contactCount = 10, .mu = 0.5, .state = -1};
        rgContactCase* made = rgMakeContactCase(&caseDef);
        int n = made->problem.rowCount;
        double value = NAN, first[64], sigma[64];
        static const rgWay ways[] = {rg_wayAuto, rg_wayNewton, rg_wayFastAdmm, rg_wayInterior};
        for (int k = 0; k < 4; ++k) {
            rgContactSolverDef def = rgWayDef(ways[k], 1e-9);
            def.model = rg_modelCcp;
            double* lambda = rgMustSolve(ways[k], &def, &made->problem, seed);
            rgExpectConic(made, lambda);
            assert_int_equal(rgContactProblem_Velocity(&made->problem, lambda, sigma), rg_ok);
            double own = rgObjective(made, lambda);
            if (k == 0) {
                value = own;
                memcpy(first, sigma, sizeof(sigma));
            }
            EXPECT_NEAR(own, value, 1e-6 * (fabs(value) + 1e-3));
            EXPECT_NEAR(rgLargestDifference(n, sigma, first), 0,
                        3e-4 * rgLargestNumber(n, made->g));
            free(lambda);
        }
        rgFreeContactCase(made);
    }
}

// A contact that opens while it slides fast: the exact model leaves it alone, the relaxed one acts.
static void test_opening_slide(void** state) {
    (void)state;
    rgBlock block = rgContactBlock(0, 1);
    const double G[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
    const double g[3] = {1, 0, 0.5};
    rgContactCase* made = rgMakeDenseCase(1, &block, G, g);
    double lambda[3] = {0};
    rgContactSolverDef def = rgDefaultContactSolverDef();
    assert_int_equal(rgSolveAndCheck(&def, &made->problem, lambda).status, rg_contactSolved);
    assert_true(rgLargestNumber(3, lambda) == 0);
    for (int way = 0; way < rg_wayCount; ++way) {
        def = rgWayDef((rgWay)way, 1e-9);
        def.model = rg_modelCcp;
        double* relaxed = rgMustSolve((rgWay)way, &def, &made->problem, 0);
        // lambda = a (-1, 0, 1) with sigma' lambda = 0: (1 - a)(-1) + (0.5 + a) = 0, a = 0.25
        EXPECT_NEAR(relaxed[0], -0.25, 1e-8);
        EXPECT_NEAR(relaxed[1], 0, 1e-8);
        EXPECT_NEAR(relaxed[2], 0.25, 1e-8);
        free(relaxed);
    }
    rgFreeContactCase(made);
}

// A body that slides between two walls it touches: nothing to do for the exact model, while the
// relaxed one wants it to leave both walls at once. Whoever tries must end, and say so.
static void test_relaxation_without_solution(void** state) {
    (void)state;
    rgBlock walls[2] = {rgContactBlock(0, 0.3), rgContactBlock(3, 0.3)};
    static const double side[6] = {1, 1, 1, 1, -1, -1};
    double G[36];
    for (int i = 0; i < 6; ++i) {
        for (int j = 0; j < 6; ++j) {
            G[6 * i + j] = i % 3 == j % 3 ? side[i] * side[j] : 0;
        }
    }
    const double g[6] = {1, 0, 0, 1, 0, 0};
    rgContactCase* made = rgMakeDenseCase(2, walls, G, g);
    for (int way = 0; way < rg_wayCount; ++way) {
        rgContactSolverDef def = rgWayDef((rgWay)way, 1e-8);
        def.maxIterations = 2000;
        double lambda[6] = {0};
        assert_int_equal(rgSolveAndCheck(&def, &made->problem, lambda).status, rg_contactSolved);
        assert_true(rgLargestNumber(6, lambda) == 0);
        // The relaxed model brakes the slip with growing squeeze: its value falls to a limit that
        // no impulse attains, or is attained by stopping; either way the report is honest.
        def.model = rg_modelCcp;
        rgContactReport report = rgSolveAndCheck(&def, &made->problem, lambda);
        assert_true(isfinite(rgLargestNumber(6, lambda)));
        if (report.status == rg_contactSolved) {
            rgExpectConic(made, lambda);
        }
    }
    rgFreeContactCase(made);
    // Many walls around bodies: here K has a direction d with G d = 0 and g . d < 0 (found by a
    // projected gradient, |G d| = 5e-10 |G|), so that the relaxed program is unbounded below. The
    // exact problem has the constructed solution.
    rgContactCaseDef caseDef = {
        .seed = 1024, .bodyCount = 6, .contactCount = 24, .mu = 0.5, .state = -1};
    made = rgMakeContactCase(&caseDef);
    rgContactSolverDef def = rgDefaultContactSolverDef();
    double* lambda = rgMustSolve(rg_wayAuto, &def, &made->problem, 1024);
    def.model = rg_modelCcp;
    memset(lambda, 0, (size_t)made->problem.rowCount * sizeof(double));
    rgContactReport report = rgSolveAndCheck(&def, &made->problem, lambda);
    assert_true(report.status == rg_contactStalled || report.status == rg_contactLimit ||
                report.status == rg_contactInfeasible);
    assert_true(report.iterationCount <= def.maxIterations);
    free(lambda);
    rgFreeContactCase(made);
}

// Without friction both models are the same problem.
static void test_frictionless_models_agree(void** state) {
    (void)state;
    for (uint64_t seed = 1; seed <= 6; ++seed) {
        rgContactCaseDef caseDef = {.seed = seed, .bodyCount = 6, .contactCount = 6, .state = -1};
        rgContactCase* made = rgMakeContactCase(&caseDef);
        rgContactSolverDef def = rgWayDef(rg_wayAuto, 1e-10);
        def.model = rg_modelCcp;
        double* lambda = rgMustSolve(rg_wayAuto, &def, &made->problem, seed);
        EXPECT_NEAR(rgLargestDifference(18, lambda, made->lambda), 0, 1e-6);
        free(lambda);
        rgFreeContactCase(made);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_conic_optimality),
        cmocka_unit_test(test_value_is_unique),
        cmocka_unit_test(test_opening_slide),
        cmocka_unit_test(test_relaxation_without_solution),
        cmocka_unit_test(test_frictionless_models_agree),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
