// What may not change a result: the form of the matrix, units, splitting into islands, the number
// of workers, repetition. And what a solve may not do: allocate, once it has seen the size.
#include "solve.h"

#include "base/base.h"

// A product |lambda . u| below 1e-10 lets both factors be 1e-5 in scaled units, and the scaled
// solution has entries of about one.
static const double rgAgreement = 2e-5;

static const rgSystemForm rgForms[] = {rg_formDense, rg_formSparse, rg_formVelocity};
static const char* const rgFormNames[] = {"dense", "sparse", "velocity"};

// Input in three forms, worked on in three forms, by every method: one answer.
static void test_forms_agree(void** state) {
    (void)state;
    for (uint64_t seed = 1; seed <= (RG_SLOW_BUILD ? 2 : 6); ++seed) {
        rgContactCaseDef caseDef = rgMixedCase(seed, 12, 6);
        rgContactCase* made = rgMakeContactCase(&caseDef);
        int n = made->problem.rowCount;
        for (int way = 0; way < rg_wayCount; ++way) {
            for (int input = 0; input < 3; ++input) {
                rgContactProblem problem = rgContactCase_UseForm(made, (rgDelassusKind)input);
                for (int form = 0; form < 3; ++form) {
                    rgContactSolverDef def = rgWayDef((rgWay)way, 1e-10);
                    def.form = rgForms[form]; // velocity falls back where there is no M, J
                    double* lambda = rgMustSolve((rgWay)way, &def, &problem, seed);
                    double error = rgLargestDifference(n, lambda, made->lambda);
                    if (!(error <= rgAgreement * rgLargestNumber(n, made->lambda))) {
                        fail_msg("%s, input %s, form %s: off by %g", rgWayNames[way],
                                 rgFormNames[input], rgFormNames[form], error);
                    }
                    free(lambda);
                }
            }
        }
        rgFreeContactCase(made);
    }
}

// Enough rows that the sparse forms use their own factorizations, with fill.
static void test_forms_agree_when_large(void** state) {
    (void)state;
    int bodies = RG_SLOW_BUILD ? 30 : 60;
    rgContactCaseDef caseDef = {.seed = 5,
                                .bodyCount = bodies,
                                .contactCount = 2 * bodies,
                                .mu = 0.3,
                                .compliance = 0.05,
                                .state = -1};
    rgContactCase* made = rgMakeContactCase(&caseDef);
    int n = made->problem.rowCount;
    static const rgWay ways[] = {rg_wayAuto, rg_wayNewton, rg_wayFastAdmm, rg_wayInterior};
    for (int k = 0; k < 4; ++k) {
        for (int form = 0; form < 3; ++form) {
            rgContactProblem problem = rgContactCase_UseForm(made, rg_delassusVelocity);
            rgContactSolverDef def = rgWayDef(ways[k], 1e-10);
            def.form = rgForms[form];
            double* lambda = rgMustSolve(ways[k], &def, &problem, 5);
            EXPECT_NEAR(rgLargestDifference(n, lambda, made->lambda), 0,
                        rgAgreement * rgLargestNumber(n, made->lambda));
            free(lambda);
        }
    }
    rgFreeContactCase(made);
}

// Compliant free rows are solved for beforehand where G is a dense matrix: among contacts, and
// alone, which takes no iteration.
static void test_free_rows_are_eliminated(void** state) {
    (void)state;
    for (uint64_t seed = 1; seed <= 8; ++seed) {
        rgContactCaseDef caseDef = {.seed = seed,
                                    .bodyCount = 6,
                                    .contactCount = seed <= 4 ? 5 : 0,
                                    .freeCount = 4,
                                    .mu = 0.4,
                                    .compliance = 0.02,
                                    .state = -1};
        rgContactCase* made = rgMakeContactCase(&caseDef);
        int n = made->problem.rowCount;
        rgContactSolverDef def = rgWayDef(rg_wayAuto, 1e-10);
        def.form = rg_formDense;
        double* lambda = rgZeros(n);
        rgContactReport report = rgSolveAndCheck(&def, &made->problem, lambda);
        assert_int_equal(report.status, rg_contactSolved);
        EXPECT_NEAR(rgLargestDifference(n, lambda, made->lambda), 0,
                    rgAgreement * rgLargestNumber(n, made->lambda));
        if (caseDef.contactCount == 0) {
            assert_int_equal(report.iterationCount, 0);
            EXPECT_NEAR(report.residual.total, 0, 1e-13);
        }
        free(lambda);
        rgFreeContactCase(made);
    }
}

// The same row twice, with a compliance that rounding hides: nothing to divide by.
static void test_redundant_free_rows(void** state) {
    (void)state;
    for (double compliance = 1e-3; compliance > 1e-25; compliance *= 1e-3) {
        double G[] = {2, 2, 0.5, 2, 2, 0.5, 0.5, 0.5, 1}, g[] = {-1, -1, -1};
        double R[] = {compliance, compliance, 0};
        rgBlock blocks[] = {{.kind = rg_blockFree, .firstRow = 0, .rowCount = 2},
                            {.kind = rg_blockHalfLine, .firstRow = 2, .rowCount = 1}};
        rgContactProblem problem = {.rowCount = 3,
                                    .blockCount = 2,
                                    .blocks = blocks,
                                    .delassus = {.kind = rg_delassusDense, .matrix = G},
                                    .freeVelocity = g,
                                    .compliance = R};
        rgContactSolverDef def = rgWayDef(rg_wayAuto, 1e-10);
        double lambda[3] = {0};
        assert_int_equal(rgSolveAndCheck(&def, &problem, lambda).status, rg_contactSolved);
        // By hand: (4 + R) a + l/2 = 1 for both a, a + l = 1 for the half line.
        double a = 0.5 / (3.5 + compliance);
        EXPECT_NEAR(lambda[0], a, 1e-6);
        EXPECT_NEAR(lambda[1], a, 1e-6);
        EXPECT_NEAR(lambda[2], 1 - a, 1e-6);
    }
}

// Wide and plain kernels round differently, no more.
static void test_kernels_agree(void** state) {
    (void)state;
    rgContactCaseDef caseDef = rgMixedCase(7, 12, 6);
    rgContactCase* made = rgMakeContactCase(&caseDef);
    int n = made->problem.rowCount;
    for (int kernels = 0; kernels <= 3; ++kernels) {
        rgContactSolverDef def = rgWayDef(rg_wayAuto, 1e-10);
        def.kernels = kernels; // one that the processor lacks becomes the best it has
        double* lambda = rgMustSolve(rg_wayAuto, &def, &made->problem, 7);
        EXPECT_NEAR(rgLargestDifference(n, lambda, made->lambda), 0,
                    rgAgreement * rgLargestNumber(n, made->lambda));
        free(lambda);
    }
    rgFreeContactCase(made);
}

static void rgChangeUnits(rgContactCase* made, double mass, double length) {
    int n = made->problem.rowCount;
    for (int i = 0; i < n; ++i) {
        made->g[i] *= length;
        made->R[i] /= mass;
        for (int j = 0; j < n; ++j) {
            made->G[i * n + j] /= mass;
        }
    }
    for (int e = 0; e < made->Mstart[made->nv]; ++e) {
        made->Mvalue[e] *= mass;
    }
    for (int b = 0; b < made->problem.blockCount; ++b) {
        made->blocks[b].lower *= mass * length;
        made->blocks[b].upper *= mass * length;
    }
}

// Powers of two as unit of length and powers of four as unit of mass (square roots of masses) scale
// every number exactly: the iterations are the same, and the impulses the same bits times the unit.
static void test_units_change_nothing(void** state) {
    (void)state;
    static const double masses[] = {1024, 1.0 / 4096};
    for (int k = 0; k < 4 * 2 * rg_wayCount; ++k) {
        int seed = 1 + k % 4, way = k / 8, velocity = k / 4 % 2;
        if (way == rg_wayAdmm) {
            continue; // the paper's mode works in the caller's units by definition
        }
        rgContactCaseDef caseDef = rgMixedCase((uint64_t)seed, 12, 6);
        rgContactCase* made = rgMakeContactCase(&caseDef);
        int n = made->problem.rowCount;
        rgContactProblem problem =
            velocity ? rgContactCase_UseForm(made, rg_delassusVelocity) : made->problem;
        rgContactSolverDef def = rgWayDef((rgWay)way, 1e-9);
        double *before = rgZeros(n), *after = rgZeros(n);
        rgContactReport first = rgSolveAndCheck(&def, &problem, before);
        double mass = masses[seed % 2], length = 1.0 / 512;
        rgChangeUnits(made, mass, length);
        rgContactReport second = rgSolveAndCheck(&def, &problem, after);
        assert_int_equal(first.status, second.status);
        assert_int_equal(first.iterationCount, second.iterationCount);
        for (int i = 0; i < n; ++i) {
            if (!(after[i] == mass * length * before[i])) {
                fail_msg("%s, %s, mass %g: %a is not %a", rgWayNames[way],
                         velocity ? "M and J" : "G", mass, after[i], mass * length * before[i]);
            }
        }
        free(before), free(after);
        rgFreeContactCase(made);
    }
}

static rgContactCaseDef rgIslands(uint64_t seed, int count) {
    return (rgContactCaseDef){.seed = seed,
                              .bodyCount = 3 * count,
                              .contactCount = 3 * count,
                              .halfLineCount = count,
                              .mu = 0.4,
                              .massDecades = 1,
                              .compliance = 0.02,
                              .island = 3,
                              .state = -1};
}

static void test_islands_equal_monolithic(void** state) {
    (void)state;
    for (uint64_t seed = 1; seed <= 3; ++seed) {
        rgContactCaseDef caseDef = rgIslands(seed, 8);
        rgContactCase* made = rgMakeContactCase(&caseDef);
        int n = made->problem.rowCount;
        for (int way = 0; way < rg_wayCount; ++way) {
            for (int kind = 0; kind < 3; ++kind) {
                rgContactProblem problem = rgContactCase_UseForm(made, (rgDelassusKind)kind);
                for (int split = 0; split < 2; ++split) {
                    rgContactSolverDef def = rgWayDef((rgWay)way, 1e-10);
                    def.splitIslands = split;
                    double* lambda = rgZeros(n);
                    rgContactReport report = rgSolveAndCheck(&def, &problem, lambda);
                    assert_int_equal(report.islandCount >= 8, split);
                    assert_int_equal(report.islandCount == 1, !split);
                    // In one piece the islands share one scale, so that the judge, who scales them
                    // apart, finds the slower ones less well solved.
                    if (report.residual.total > (split ? 1e-10 : 1e-8)) {
                        fail_msg("%s, %s, split %d, seed %d: residual %g", rgWayNames[way],
                                 rgFormNames[kind], split, (int)seed, report.residual.total);
                    }
                    EXPECT_NEAR(rgLargestDifference(n, lambda, made->lambda), 0,
                                rgAgreement * rgLargestNumber(n, made->lambda));
                    free(lambda);
                }
            }
        }
        rgFreeContactCase(made);
    }
}

// Workers take islands as they come; the bits may not depend on who took what.
static void test_workers_and_repetition_give_the_same_bits(void** state) {
    (void)state;
    rgContactCaseDef caseDef = rgIslands(9, 24);
    rgContactCase* made = rgMakeContactCase(&caseDef);
    int n = made->problem.rowCount;
    for (int way = 0; way < rg_wayCount; ++way) {
        for (int kind = 0; kind < 3; ++kind) {
            rgContactProblem problem = rgContactCase_UseForm(made, (rgDelassusKind)kind);
            uint64_t expected = 0;
            int iterations = -1;
            for (int workers = 1; workers <= 8; ++workers) {
                rgThreadPool* pool = NULL;
                assert_int_equal(rgCreateThreadPool(workers, NULL, &pool), rg_ok);
                rgContactSolverDef def = rgWayDef((rgWay)way, 1e-8);
                def.tasks = rgThreadPool_Tasks(pool);
                rgContactSolver* solver = NULL;
                assert_int_equal(rgCreateContactSolver(&def, &solver), rg_ok);
                for (int repeat = 0; repeat < 2; ++repeat) {
                    double* lambda = rgZeros(n);
                    rgContactReport report;
                    assert_int_equal(rgContactSolver_Solve(solver, &problem, lambda, NULL, &report),
                                     rg_ok);
                    uint64_t hash = rgHashBytes(lambda, (size_t)n * sizeof(double), 1);
                    if (iterations < 0) {
                        expected = hash;
                        iterations = report.iterationCount;
                    }
                    assert_true(hash == expected);
                    assert_int_equal(report.iterationCount, iterations);
                    free(lambda);
                }
                rgDestroyContactSolver(solver);
                rgDestroyThreadPool(pool);
            }
        }
    }
    rgFreeContactCase(made);
}

// A solver that has solved other problems gives the bits of a fresh one.
static void test_no_memory_of_earlier_problems(void** state) {
    (void)state;
    rgContactSolverDef def = rgWayDef(rg_wayAuto, 1e-8);
    rgContactSolver* used = NULL;
    assert_int_equal(rgCreateContactSolver(&def, &used), rg_ok);
    for (uint64_t seed = 1; seed <= 12; ++seed) {
        rgContactCaseDef caseDef = seed % 2 ? rgMixedCase(seed, 12, 6) : rgIslands(seed, (int)seed);
        rgContactCase* made = rgMakeContactCase(&caseDef);
        rgContactProblem problem = rgContactCase_UseForm(made, (rgDelassusKind)(seed % 3));
        int n = problem.rowCount;
        double* a = rgZeros(n);
        double* b = rgZeros(n);
        assert_int_equal(rgContactSolver_Solve(used, &problem, a, NULL, NULL), rg_ok);
        rgSolveAndCheck(&def, &problem, b);
        assert_memory_equal(a, b, (size_t)n * sizeof(double));
        free(a);
        free(b);
        rgFreeContactCase(made);
    }
    rgDestroyContactSolver(used);
}

// After the first solve of a size, none of the methods calls the allocator, in any form.
static void test_no_allocation_after_the_first_solve(void** state) {
    (void)state;
    rgContactCaseDef caseDef = rgMixedCase(3, 12, 6);
    caseDef.bodyCount = 24;
    caseDef.contactCount = 24;
    rgContactCase* made = rgMakeContactCase(&caseDef);
    int n = made->problem.rowCount;
    double* lambda = rgZeros(n);
    double* sigma = rgZeros(n);
    for (int way = 0; way < rg_wayCount; ++way) {
        for (int k = 0; k < 5; ++k) {
            rgDelassusKind input = k < 3 ? (rgDelassusKind)k : rg_delassusVelocity;
            rgContactProblem problem = rgContactCase_UseForm(made, input);
            rgCounter counter = {.failAfter = -1};
            rgContactSolverDef def = rgWayDef((rgWay)way, 1e-9);
            def.allocator = rgCountingAllocator(&counter);
            def.form = k < 3 ? rgForms[k] : k == 3 ? rg_formDense : rg_formSparse;
            def.recordHistory = k == 0;
            rgContactSolver* solver = NULL;
            assert_int_equal(rgCreateContactSolver(&def, &solver), rg_ok);
            int first = 0;
            for (int repeat = 0; repeat < 4; ++repeat) {
                // The second solve may merge what the first one took in pieces.
                if (repeat == 2) {
                    first = counter.allocations;
                }
                memset(lambda, 0, (size_t)n * sizeof(double));
                assert_int_equal(rgContactSolver_Solve(solver, &problem, lambda, sigma, NULL),
                                 rg_ok);
            }
            if (counter.allocations != first) {
                fail_msg("%s, case %d: %d allocations", rgWayNames[way], k,
                         counter.allocations - first);
            }
            rgDestroyContactSolver(solver);
            assert_int_equal(counter.live, 0);
        }
    }
    free(lambda);
    free(sigma);
    rgFreeContactCase(made);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_forms_agree),
        cmocka_unit_test(test_forms_agree_when_large),
        cmocka_unit_test(test_free_rows_are_eliminated),
        cmocka_unit_test(test_redundant_free_rows),
        cmocka_unit_test(test_kernels_agree),
        cmocka_unit_test(test_units_change_nothing),
        cmocka_unit_test(test_islands_equal_monolithic),
        cmocka_unit_test(test_workers_and_repetition_give_the_same_bits),
        cmocka_unit_test(test_no_memory_of_earlier_problems),
        cmocka_unit_test(test_no_allocation_after_the_first_solve),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
