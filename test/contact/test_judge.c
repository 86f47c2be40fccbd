// The judge against hand-computed values, its own definition, and what must not change it.
#include "contact_case.h"
#include "support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static rgResidual rgAsk(const rgContactProblem* problem, rgContactModel model,
                        const double* lambda) {
    rgResidual scaled;
    assert_int_equal(rgContactProblem_Judge(problem, model, lambda, &scaled, NULL), rg_ok);
    return scaled;
}

static rgResidual rgAskSi(const rgContactProblem* problem, const double* lambda) {
    rgResidual si;
    assert_int_equal(rgContactProblem_Judge(problem, rg_modelNcp, lambda, NULL, &si), rg_ok);
    return si;
}

static rgContactCaseDef rgMixedDef(uint64_t seed) {
    return (rgContactCaseDef){.seed = seed,
                              .bodyCount = 6,
                              .contactCount = 4,
                              .torsionCount = 2,
                              .rollingCount = 2,
                              .halfLineCount = 2,
                              .boxCount = 2,
                              .freeCount = 2,
                              .mu = -1.5,
                              .massDecades = 4,
                              .compliance = seed % 2 ? 0.01 : 0,
                              .state = -1};
}

// Impulses near a solution, so that every part of the residual has something to say.
static void rgDisturb(rgRandom* random, int n, const double* lambda, double* out) {
    for (int i = 0; i < n; ++i) {
        out[i] = lambda[i] + 0.1 * rgRandom_Normal(random) * (fabs(lambda[i]) + 0.1);
    }
}

static void rgExpectSame(const rgResidual* a, const rgResidual* b, double relative) {
    double scale = fabs(b->total) * relative + 1e-14;
    EXPECT_NEAR(a->total, b->total, scale);
    EXPECT_NEAR(a->cone, b->cone, scale);
    EXPECT_NEAR(a->dual, b->dual, scale);
    EXPECT_NEAR(a->complementarity, b->complementarity, scale);
}

static void test_exact_solutions(void** state) {
    (void)state;
    for (uint64_t seed = 1; seed <= 40; ++seed) {
        rgContactCaseDef def = rgMixedDef(seed);
        rgContactCase* made = rgMakeContactCase(&def);
        for (int kind = 0; kind < 3; ++kind) {
            rgContactProblem problem = rgContactCase_UseForm(made, (rgDelassusKind)kind);
            assert_true(rgAsk(&problem, rg_modelNcp, made->lambda).total < 1e-12);
            double sigma[64];
            assert_int_equal(rgContactProblem_Velocity(&problem, made->lambda, sigma), rg_ok);
            assert_true(rgLargestDifference(problem.rowCount, sigma, made->sigma) <
                        1e-11 * rgLargestNumber(problem.rowCount, made->g));
        }
        rgFreeContactCase(made);
    }
}

static void test_forms_agree(void** state) {
    (void)state;
    rgRandom random = {1};
    for (uint64_t seed = 1; seed <= 20; ++seed) {
        rgContactCaseDef def = rgMixedDef(seed);
        rgContactCase* made = rgMakeContactCase(&def);
        double lambda[64];
        rgDisturb(&random, made->problem.rowCount, made->lambda, lambda);
        for (int model = 0; model < 2; ++model) {
            rgResidual dense = rgAsk(&made->problem, (rgContactModel)model, lambda);
            assert_true(dense.total > 1e-3);
            for (int kind = 1; kind < 3; ++kind) {
                rgContactProblem problem = rgContactCase_UseForm(made, (rgDelassusKind)kind);
                rgResidual other = rgAsk(&problem, (rgContactModel)model, lambda);
                rgExpectSame(&other, &dense, 1e-9);
            }
        }
        rgFreeContactCase(made);
    }
}

// One contact, G = 4 I, g = (0.3, 0, -1), mu = 0.5: s = 1/2, c = 1/(s |g|) = 2.
static void test_one_contact_by_hand(void** state) {
    (void)state;
    rgBlock block = rgContactBlock(0, 0.5);
    const double G[9] = {4, 0, 0, 0, 4, 0, 0, 0, 4};
    const double g[3] = {0.3, 0, -1};
    rgContactCase* made = rgMakeDenseCase(1, &block, G, g);
    // lambda = 0: sigma^ = c s g = g = (0.3, 0, -1), u = (0.3, 0, -1 + 0.15).
    // Dual cone 0.5 |t| <= n; along = (0.3 - 0.425)/1.25 < 0: the tip is nearest, distance 0.85.
    const double zero[3] = {0, 0, 0};
    rgResidual residual = rgAsk(&made->problem, rg_modelNcp, zero);
    EXPECT_NEAR(residual.dual, 0.85, 1e-15);
    EXPECT_NEAR(residual.complementarity, 0, 0);
    EXPECT_NEAR(residual.cone, 0, 0);
    EXPECT_NEAR(residual.total, 0.85, 1e-15);
    // Convex model: u = (0.3, 0, -1): the tip, distance 1.
    EXPECT_NEAR(rgAsk(&made->problem, rg_modelCcp, zero).dual, 1, 1e-15);
    // SI, lambda = 0: the same with factor 1: u = (0.3, 0, -0.85).
    EXPECT_NEAR(rgAskSi(&made->problem, zero).dual, 0.85, 1e-15);
    // lambda = (0, 0, 0.25) stops the normal: sigma = (0.3, 0, 0), lambda^ = c/s lambda = 4 lambda
    // = (0, 0, 1), sigma^ = sigma, u = (0.3, 0, 0.15): on the dual cone, product 0.15.
    const double normal[3] = {0, 0, 0.25};
    residual = rgAsk(&made->problem, rg_modelNcp, normal);
    EXPECT_NEAR(residual.dual, 0, 1e-15);
    EXPECT_NEAR(residual.complementarity, 0.15, 1e-15);
    EXPECT_NEAR(rgAskSi(&made->problem, normal).complementarity, 0.25 * 0.15, 1e-15);
    // lambda_t = -0.075 stops the slip as well and lies inside |t| <= 0.125: solved.
    const double stick[3] = {-0.075, 0, 0.25};
    EXPECT_NEAR(rgAsk(&made->problem, rg_modelNcp, stick).total, 0, 1e-15);
    rgFreeContactCase(made);
}

// Impulses outside K are projected before they are judged.
static void test_projects_first(void** state) {
    (void)state;
    rgRandom random = {2};
    for (uint64_t seed = 1; seed <= 10; ++seed) {
        rgContactCaseDef def = rgMixedDef(seed);
        rgContactCase* made = rgMakeContactCase(&def);
        double raw[64], inside[64];
        rgDisturb(&random, made->problem.rowCount, made->lambda, raw);
        memcpy(inside, raw, sizeof(raw));
        for (int b = 0; b < made->problem.blockCount; ++b) {
            rgBlock_Project(made->blocks + b, inside + made->blocks[b].firstRow);
        }
        rgResidual a = rgAsk(&made->problem, rg_modelNcp, raw);
        rgResidual b = rgAsk(&made->problem, rg_modelNcp, inside);
        rgExpectSame(&a, &b, 1e-12);
        rgFreeContactCase(made);
    }
}

// Half line, box and free rows alone, G = diag(1, 4): s = (1, 1/2).
static void test_rows_by_hand(void** state) {
    (void)state;
    const double G[4] = {1, 0.5, 0.5, 4};
    const double g[2] = {-2, 1};
    const double zero[2] = {0, 0};
    rgBlock half = {.kind = rg_blockHalfLine, .rowCount = 2};
    rgContactCase* made = rgMakeDenseCase(1, &half, G, g);
    // Only row 0 is wrong: c = 1/2. sigma^ = (-1, 0.25).
    rgResidual residual = rgAsk(&made->problem, rg_modelNcp, zero);
    EXPECT_NEAR(residual.dual, 1, 1e-15);
    const double two[2] = {2, 0.5}; // sigma = (0.25, 4), lambda^ = (1, 0.5), sigma^ = (0.125, 1)
    residual = rgAsk(&made->problem, rg_modelNcp, two);
    EXPECT_NEAR(residual.complementarity, 0.5, 1e-15);
    EXPECT_NEAR(residual.dual, 0, 0);
    rgFreeContactCase(made);

    rgBlock open = {.kind = rg_blockFree, .rowCount = 2};
    made = rgMakeDenseCase(1, &open, G, g);
    // c = 1/max(2, 0.5): sigma^ = (-1, 0.25)
    residual = rgAsk(&made->problem, rg_modelNcp, zero);
    EXPECT_NEAR(residual.cone, 1, 1e-15);
    EXPECT_NEAR(residual.dual, 0, 0);
    rgFreeContactCase(made);

    rgBlock box = {.kind = rg_blockBox, .rowCount = 2, .lower = -0.1, .upper = 0.3};
    made = rgMakeDenseCase(1, &box, G, g);
    // lambda = 0: row 0 wants 1 but may have c/s 0.3 = 0.15; row 1 wants -0.25, may have -0.1.
    residual = rgAsk(&made->problem, rg_modelNcp, zero);
    EXPECT_NEAR(residual.cone, 0.15, 1e-15);
    const double bounds[2] = {0.3, -0.1};
    residual = rgAsk(&made->problem, rg_modelNcp, bounds); // sigma = (-1.75, 0.75): both saturated
    EXPECT_NEAR(residual.total, 0, 1e-15);
    rgFreeContactCase(made);
}

// Torsion is judged by its natural map with the bound mu_k lambda_n, in row units of its own.
static void test_torsion_by_hand(void** state) {
    (void)state;
    rgBlock block = rgContactBlock(0, 0.5);
    block.rowCount = 4;
    block.muTorsion = 0.2;
    double G[16] = {0};
    G[0] = G[5] = G[10] = 1;
    G[15] = 4;
    const double g[4] = {0, 0, -1, 10};
    rgContactCase* made = rgMakeDenseCase(1, &block, G, g);
    // c = 1 (torsion does not set it). lambda = (0, 0, 1, 0): sigma = (0, 0, 0, 10), s_3 = 1/2,
    // lambda^ = 0, sigma^ = 5, bound = (c/s) 0.2 = 0.4: |0 - clip(-5)| = 0.4.
    const double normal[4] = {0, 0, 1, 0};
    EXPECT_NEAR(rgAsk(&made->problem, rg_modelNcp, normal).cone, 0.4, 1e-15);
    const double full[4] = {0, 0, 1, -0.2};
    EXPECT_NEAR(rgAsk(&made->problem, rg_modelNcp, full).total, 0, 1e-15);
    rgFreeContactCase(made);
}

// Lengths and masses in other units: lambda in kg m/s, sigma in m/s.
static void test_units_do_not_matter(void** state) {
    (void)state;
    rgRandom random = {3};
    for (uint64_t seed = 1; seed <= 20; ++seed) {
        rgContactCaseDef def = rgMixedDef(seed);
        rgContactCase* made = rgMakeContactCase(&def);
        int n = made->problem.rowCount;
        double lambda[64];
        rgDisturb(&random, n, made->lambda, lambda);
        rgResidual before = rgAsk(&made->problem, rg_modelNcp, lambda);
        double length = pow(10, rgRandom_Uniform(&random, -3, 3));
        double mass = pow(10, rgRandom_Uniform(&random, -3, 3));
        for (int i = 0; i < n; ++i) {
            made->g[i] *= length;
            lambda[i] *= mass * length;
            for (int j = 0; j < n; ++j) {
                made->G[i * n + j] /= mass;
            }
            if (made->R != NULL) {
                made->R[i] /= mass;
            }
        }
        for (int b = 0; b < made->problem.blockCount; ++b) {
            made->blocks[b].lower *= mass * length;
            made->blocks[b].upper *= mass * length;
        }
        rgResidual after = rgAsk(&made->problem, rg_modelNcp, lambda);
        rgExpectSame(&after, &before, 1e-10);
        rgFreeContactCase(made);
    }
}

// Rows of one contact times any factor (its own unit of length) leave the scaled residual alone.
static void test_contact_units_do_not_matter(void** state) {
    (void)state;
    rgRandom random = {4};
    for (uint64_t seed = 1; seed <= 20; ++seed) {
        rgContactCaseDef def = rgMixedDef(seed);
        rgContactCase* made = rgMakeContactCase(&def);
        int n = made->problem.rowCount;
        double lambda[64], factor[64];
        rgDisturb(&random, n, made->lambda, lambda);
        rgResidual before = rgAsk(&made->problem, rg_modelNcp, lambda);
        for (int b = 0; b < made->problem.blockCount; ++b) {
            rgBlock* block = made->blocks + b;
            double own = pow(10, rgRandom_Uniform(&random, -3, 3));
            for (int i = 0; i < block->rowCount; ++i) {
                factor[block->firstRow + i] = own;
            }
            block->lower /= own;
            block->upper /= own;
        }
        for (int i = 0; i < n; ++i) {
            made->g[i] *= factor[i];
            lambda[i] /= factor[i];
            for (int j = 0; j < n; ++j) {
                made->G[i * n + j] *= factor[i] * factor[j];
            }
            if (made->R != NULL) {
                made->R[i] *= factor[i] * factor[i];
            }
        }
        rgResidual after = rgAsk(&made->problem, rg_modelNcp, lambda);
        rgExpectSame(&after, &before, 1e-9);
        rgFreeContactCase(made);
    }
}

// Two islands in one problem are each judged in their own scale: a slow island is not forgiven
// because another is fast.
static void test_islands_are_scaled_apart(void** state) {
    (void)state;
    rgBlock blocks[2] = {rgContactBlock(0, 0.5), rgContactBlock(3, 0.5)};
    double G[36] = {0};
    for (int i = 0; i < 6; ++i) {
        G[7 * i] = 1;
    }
    const double g[6] = {0, 0, -1e6, 0, 0, -1e-3};
    rgContactCase* made = rgMakeDenseCase(2, blocks, G, g);
    const double lambda[6] = {0, 0, 1e6, 0, 0, 0}; // the slow one is not solved at all
    EXPECT_NEAR(rgAsk(&made->problem, rg_modelNcp, lambda).total, 1, 1e-12);
    EXPECT_NEAR(rgAskSi(&made->problem, lambda).total, 1e-3, 1e-15);
    // Coupled, however weakly, they share the scale of the fast one.
    made->G[2 * 6 + 5] = made->G[5 * 6 + 2] = 1e-20;
    assert_true(rgAsk(&made->problem, rg_modelNcp, lambda).total < 1e-8);
    rgFreeContactCase(made);
}

// A contact that opens at high speed must not make its neighbour's error look small.
static void test_open_contacts_do_not_set_the_scale(void** state) {
    (void)state;
    rgBlock blocks[2] = {rgContactBlock(0, 0.5), rgContactBlock(3, 0.5)};
    double G[36] = {0};
    for (int i = 0; i < 6; ++i) {
        G[7 * i] = 1;
    }
    G[2 * 6 + 5] = G[5 * 6 + 2] = 0.1;
    const double g[6] = {0, 0, -1, 30, 0, 1e6};
    const double zero[6] = {0};
    rgContactCase* made = rgMakeDenseCase(2, blocks, G, g);
    EXPECT_NEAR(rgAsk(&made->problem, rg_modelNcp, zero).total, 1, 1e-12);
    rgFreeContactCase(made);
}

static void test_nothing_to_do(void** state) {
    (void)state;
    // No rows at all.
    rgContactProblem empty = {0};
    rgResidual residual = {.total = 5};
    assert_int_equal(rgContactProblem_Judge(&empty, rg_modelNcp, NULL, &residual, &residual),
                     rg_ok);
    assert_true(residual.total == 0);
    assert_true(rgContactProblem_Residual(&empty, NULL) == 0);
    // g = 0, and all contacts opening: zero is exact, anything else is not.
    rgBlock block = rgContactBlock(0, 0.5);
    const double G[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
    const double still[3] = {0, 0, 0}, opening[3] = {1, 0, 0.1};
    const double some[3] = {0, 0, 0.5};
    rgContactCase* made = rgMakeDenseCase(1, &block, G, still);
    assert_true(rgAsk(&made->problem, rg_modelNcp, still).total == 0);
    assert_true(rgAsk(&made->problem, rg_modelNcp, some).total > 0.1);
    rgFreeContactCase(made);
    made = rgMakeDenseCase(1, &block, G, opening);
    assert_true(rgAsk(&made->problem, rg_modelNcp, still).total == 0);
    assert_true(rgAsk(&made->problem, rg_modelNcp, some).total > 0.1);
    // The convex model asks more: a fast tangent must be braked although the contact opens.
    assert_true(rgAsk(&made->problem, rg_modelCcp, still).total > 0.1);
    rgFreeContactCase(made);
}

static void test_nan_is_never_a_solution(void** state) {
    (void)state;
    for (uint64_t seed = 1; seed <= 6; ++seed) {
        rgContactCaseDef def = rgMixedDef(seed);
        rgContactCase* made = rgMakeContactCase(&def);
        for (int i = 0; i < made->problem.rowCount; ++i) {
            double keep = made->lambda[i];
            made->lambda[i] = NAN;
            double total = rgContactProblem_Residual(&made->problem, made->lambda);
            assert_false(total <= 1e10);
            made->lambda[i] = keep;
        }
        rgFreeContactCase(made);
    }
    rgContactCaseDef def = rgMixedDef(1);
    rgContactCase* made = rgMakeContactCase(&def);
    rgResidual residual;
    assert_int_equal(rgContactProblem_Judge(&made->problem, rg_modelNcp, NULL, &residual, NULL),
                     rg_errorArgument);
    rgFreeContactCase(made);
}

static void test_total_is_the_largest_part(void** state) {
    (void)state;
    rgRandom random = {5};
    for (uint64_t seed = 1; seed <= 20; ++seed) {
        rgContactCaseDef def = rgMixedDef(seed);
        rgContactCase* made = rgMakeContactCase(&def);
        double lambda[64];
        rgDisturb(&random, made->problem.rowCount, made->lambda, lambda);
        rgResidual r = rgAsk(&made->problem, rg_modelNcp, lambda);
        assert_true(r.total == fmax(r.cone, fmax(r.dual, r.complementarity)));
        assert_true(r.total == rgContactProblem_Residual(&made->problem, lambda));
        rgFreeContactCase(made);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_exact_solutions),
        cmocka_unit_test(test_forms_agree),
        cmocka_unit_test(test_one_contact_by_hand),
        cmocka_unit_test(test_projects_first),
        cmocka_unit_test(test_rows_by_hand),
        cmocka_unit_test(test_torsion_by_hand),
        cmocka_unit_test(test_units_do_not_matter),
        cmocka_unit_test(test_contact_units_do_not_matter),
        cmocka_unit_test(test_islands_are_scaled_apart),
        cmocka_unit_test(test_open_contacts_do_not_set_the_scale),
        cmocka_unit_test(test_nothing_to_do),
        cmocka_unit_test(test_nan_is_never_a_solution),
        cmocka_unit_test(test_total_is_the_largest_part),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
