// The judge against hand-computed values, its own definition, and what must not change it.
#include "contact_case.h"
#include "support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static rgResidual rgAsk(const rgContactProblem* problem, rgContactModel model,
                        const double* lambda) {
    rgResidual residual;
    assert_int_equal(rgContactProblem_Judge(problem, model, lambda, &residual), rg_ok);
    return residual;
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
    const double pairs[][2] = {
        {a->total, b->total},         {a->velocity, b->velocity},
        {a->reference, b->reference}, {a->impulse, b->impulse},
        {a->dual, b->dual},           {a->complementarity, b->complementarity}};
    for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); ++i) {
        EXPECT_NEAR(pairs[i][0], pairs[i][1], fabs(pairs[i][1]) * relative + 1e-14);
    }
    assert_int_equal(a->block, b->block);
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

// One contact, G = 4 I, g = (0.3, 0, -1), mu = 0.5: m = 1/4.
static void test_one_contact_by_hand(void** state) {
    (void)state;
    rgBlock block = rgContactBlock(0, 0.5);
    const double G[9] = {4, 0, 0, 0, 4, 0, 0, 0, 4};
    const double g[3] = {0.3, 0, -1};
    rgContactCase* made = rgMakeDenseCase(1, &block, G, g);
    // lambda = 0: u = (0.3, 0, -1 + 0.15); -u lies in the cone, hence eps(0) = |u| = V.
    const double zero[3] = {0, 0, 0};
    double V = sqrt(0.3 * 0.3 + 0.85 * 0.85);
    rgResidual residual = rgAsk(&made->problem, rg_modelNcp, zero);
    assert_true(residual.total == 1);
    EXPECT_NEAR(residual.velocity, V, 1e-15);
    EXPECT_NEAR(residual.reference, V, 1e-15);
    EXPECT_NEAR(residual.impulse, V / 4, 1e-15);
    EXPECT_NEAR(residual.dual, V, 1e-15);
    assert_true(residual.complementarity == 0 && residual.block == 0);
    // Convex model: u = g, and -u lies in the cone.
    EXPECT_NEAR(rgAsk(&made->problem, rg_modelCcp, zero).velocity, sqrt(1.09), 1e-15);
    // lambda = (0, 0, 0.25) stops the normal: sigma = (0.3, 0, 0), u = (0.3, 0, 0.15) is on the
    // dual cone; lambda - m u = (-0.075, 0, 0.2125) is in K, hence eps = |u|.
    const double normal[3] = {0, 0, 0.25};
    residual = rgAsk(&made->problem, rg_modelNcp, normal);
    double error = sqrt(0.3 * 0.3 + 0.15 * 0.15);
    EXPECT_NEAR(residual.total, error / V, 1e-15);
    EXPECT_NEAR(residual.velocity, error, 1e-15);
    EXPECT_NEAR(residual.impulse, error / 4, 1e-15);
    EXPECT_NEAR(residual.dual, 0, 1e-15);
    EXPECT_NEAR(residual.complementarity, 0.25 * 0.15, 1e-15);
    // lambda_t = -0.075 stops the slip as well and lies inside |t| <= 0.125: solved.
    const double stick[3] = {-0.075, 0, 0.25};
    EXPECT_NEAR(rgAsk(&made->problem, rg_modelNcp, stick).total, 0, 1e-15);
    rgFreeContactCase(made);
}

// Without friction K is a ray: a contact that pulls is outside of it, and what is put into K for it
// is zero.
static void test_no_friction_means_no_pulling(void** state) {
    (void)state;
    const double G[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
    const double frictions[] = {0, 1e-320, 1e-30, 1e-9, 0.5};
    for (int i = 0; i < 5; ++i) {
        rgBlock block = rgContactBlock(0, frictions[i]);
        const double opening[3] = {0, 0, 1}, pull[3] = {0, 0, -1};
        rgContactCase* made = rgMakeDenseCase(1, &block, G, opening);
        // The pull would stop the opening, sigma = 0. As zero it is the solution.
        rgResidual residual = rgAsk(&made->problem, rg_modelNcp, pull);
        assert_true(residual.total == 0 && residual.complementarity == 0);
        double x[3] = {0, 0, -1}, y[3] = {0, 0, 2};
        rgBlock_Project(&block, x);
        assert_true(x[0] == 0 && x[1] == 0 && x[2] == 0);
        rgBlock_ProjectDual(&block, y);
        assert_true(y[0] == 0 && y[1] == 0 && y[2] == 2);
        rgFreeContactCase(made);
        // A closing contact is not solved by pulling.
        const double closing[3] = {0, 0, -1};
        made = rgMakeDenseCase(1, &block, G, closing);
        assert_true(rgAsk(&made->problem, rg_modelNcp, pull).total == 1);
        rgFreeContactCase(made);
    }
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

// Half line, box and free rows alone, G = diag(1, 4): m = (1, 1/4).
static void test_rows_by_hand(void** state) {
    (void)state;
    const double G[4] = {1, 0.5, 0.5, 4};
    const double g[2] = {-2, 1};
    const double zero[2] = {0, 0};
    rgBlock half = {.kind = rg_blockHalfLine, .rowCount = 2};
    rgContactCase* made = rgMakeDenseCase(1, &half, G, g);
    // Only row 0 is wrong: V = 2.
    rgResidual residual = rgAsk(&made->problem, rg_modelNcp, zero);
    assert_true(residual.total == 1 && residual.reference == 2 && residual.dual == 2);
    // sigma = (0.25, 4): row 0 is off by 0.25, row 1 by its impulse 0.5 over m.
    const double two[2] = {2, 0.5};
    residual = rgAsk(&made->problem, rg_modelNcp, two);
    EXPECT_NEAR(residual.velocity, 2, 1e-15);
    EXPECT_NEAR(residual.impulse, 0.5, 1e-15);
    EXPECT_NEAR(residual.complementarity, 0.5, 1e-15); // of the block's first row
    EXPECT_NEAR(residual.dual, 0, 0);
    rgFreeContactCase(made);

    rgBlock open = {.kind = rg_blockFree, .rowCount = 2};
    made = rgMakeDenseCase(1, &open, G, g);
    residual = rgAsk(&made->problem, rg_modelNcp, zero);
    assert_true(residual.total == 1 && residual.velocity == 2);
    rgFreeContactCase(made);

    rgBlock box = {.kind = rg_blockBox, .rowCount = 2, .lower = -0.1, .upper = 0.3};
    made = rgMakeDenseCase(1, &box, G, g);
    // lambda = 0: row 0 wants 2 and may have 0.3; row 1 wants -0.25 and may have -0.1, over m 0.4.
    residual = rgAsk(&made->problem, rg_modelNcp, zero);
    EXPECT_NEAR(residual.velocity, 0.4, 1e-15);
    assert_true(residual.total == 1);
    const double bounds[2] = {0.3, -0.1};
    residual = rgAsk(&made->problem, rg_modelNcp, bounds); // sigma = (-1.75, 0.75): both saturated
    EXPECT_NEAR(residual.total, 0, 1e-15);
    rgFreeContactCase(made);
}

// Torsion and rolling are judged by their natural maps with the bound mu_k lambda_n: an interval
// and a disc. They do not set the scale.
static void test_spin_by_hand(void** state) {
    (void)state;
    rgBlock block = rgContactBlock(0, 0.5);
    block.rowCount = 6;
    block.muTorsion = 0.2;
    block.muRolling = 0.1;
    double G[36] = {0};
    G[0] = G[7] = G[14] = 1;
    G[21] = G[28] = G[35] = 4;
    const double g[6] = {0, 0, -1, 10, 3, 4};
    rgContactCase* made = rgMakeDenseCase(1, &block, G, g);
    // V = 1. lambda = (0, 0, 1, 0, 0, 0): torsion may have 0.2 and has none, over m = 1/4: 0.8.
    const double normal[6] = {0, 0, 1, 0, 0, 0};
    EXPECT_NEAR(rgAsk(&made->problem, rg_modelNcp, normal).total, 0.8, 1e-15);
    // Rolling: 0.1 against (3, 4)/5. A corner of the square around the disc is put into it first.
    const double torsion[6] = {0, 0, 1, -0.2, 0, 0};
    EXPECT_NEAR(rgAsk(&made->problem, rg_modelNcp, torsion).total, 0.4, 1e-15);
    const double full[6] = {0, 0, 1, -0.2, -0.06, -0.08};
    EXPECT_NEAR(rgAsk(&made->problem, rg_modelNcp, full).total, 0, 1e-15);
    double corner[6] = {0, 0, 1, -0.2, -0.1, -0.1};
    rgBlock_Project(&block, corner);
    EXPECT_NEAR(corner[4], -0.1 / sqrt(2), 1e-15);
    rgFreeContactCase(made);
}

static void rgChangeUnits(rgContactCase* made, double length, double mass, double* lambda) {
    int n = made->problem.rowCount;
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
        rgChangeUnits(made, length, mass, lambda);
        rgResidual after = rgAsk(&made->problem, rg_modelNcp, lambda);
        EXPECT_NEAR(after.total, before.total, 1e-10 * before.total);
        EXPECT_NEAR(after.velocity, length * before.velocity, 1e-10 * after.velocity);
        EXPECT_NEAR(after.impulse, mass * length * before.impulse, 1e-10 * after.impulse);
        rgFreeContactCase(made);
    }
}

// Powers of two as units change not a bit.
static void test_powers_of_two_are_exact(void** state) {
    (void)state;
    rgRandom random = {6};
    for (uint64_t seed = 1; seed <= 20; ++seed) {
        rgContactCaseDef def = rgMixedDef(seed);
        rgContactCase* made = rgMakeContactCase(&def);
        int n = made->problem.rowCount;
        double lambda[64];
        rgDisturb(&random, n, made->lambda, lambda);
        double before = rgAsk(&made->problem, rg_modelNcp, lambda).total;
        double length = ldexp(1, rgRandom_Index(&random, 60) - 30);
        double mass = ldexp(1, rgRandom_Index(&random, 60) - 30);
        rgChangeUnits(made, length, mass, lambda);
        assert_true(rgAsk(&made->problem, rg_modelNcp, lambda).total == before);
        rgFreeContactCase(made);
    }
}

// Rows of one contact times any factor (its own unit of length), and the factor taken back by the
// rows' lengths, leave the residual alone.
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
        double lengths[64];
        made->problem.rowLength = lengths;
        for (int i = 0; i < n; ++i) {
            made->g[i] *= factor[i];
            lambda[i] /= factor[i];
            lengths[i] = 1 / factor[i];
            for (int j = 0; j < n; ++j) {
                made->G[i * n + j] *= factor[i] * factor[j];
            }
            if (made->R != NULL) {
                made->R[i] *= factor[i] * factor[i];
            }
        }
        EXPECT_NEAR(rgAsk(&made->problem, rg_modelNcp, lambda).total, before.total,
                    1e-9 * before.total);
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
    made->problem.referenceVelocity = 1e-9;
    EXPECT_NEAR(rgAsk(&made->problem, rg_modelNcp, lambda).total, 1, 1e-12);
    EXPECT_NEAR(rgAsk(&made->problem, rg_modelNcp, lambda).velocity, 1e-3, 1e-15);
    // Compared with what matters in the whole problem, 1e-3 of 1e6 m/s, it is quiet.
    made->problem.referenceVelocity = 0;
    EXPECT_NEAR(rgAsk(&made->problem, rg_modelNcp, lambda).total, 1e-6, 1e-15);
    made->problem.referenceVelocity = 1e-9;
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
    assert_int_equal(rgContactProblem_Judge(&empty, rg_modelNcp, NULL, &residual), rg_ok);
    assert_true(residual.total == 0 && residual.block == -1);
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
    assert_int_equal(rgContactProblem_Judge(&made->problem, rg_modelNcp, NULL, &residual),
                     rg_errorArgument);
    assert_int_equal(rgContactProblem_Judge(&made->problem, rg_modelNcp, made->lambda, NULL),
                     rg_errorArgument);
    made->problem.referenceVelocity = NAN;
    assert_int_equal(rgContactProblem_Judge(&made->problem, rg_modelNcp, made->lambda, &residual),
                     rg_errorArgument);
    rgFreeContactCase(made);
}

// In velocity form M and J are judged: a wrong W deceives solvers, not the judge.
static void test_judges_mass_and_jacobian(void** state) {
    (void)state;
    rgContactCaseDef def = rgMixedDef(3);
    rgContactCase* made = rgMakeContactCase(&def);
    rgContactProblem problem = rgContactCase_UseForm(made, rg_delassusVelocity);
    rgResidual truth = rgAsk(&problem, rg_modelNcp, made->lambda);
    problem.delassus.whitened = made->Jvalue; // as if M were one
    rgResidual same = rgAsk(&problem, rg_modelNcp, made->lambda);
    rgExpectSame(&same, &truth, 0);
    int tree[64];
    for (int i = 0; i < made->nv; ++i) {
        tree[i] = i / 6;
    }
    problem.delassus.tree = tree;
    problem.delassus.mass.value = NULL; // nothing but W to go by
    assert_true(rgAsk(&problem, rg_modelNcp, made->lambda).total > 1e-3);
    rgFreeContactCase(made);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_exact_solutions),
        cmocka_unit_test(test_forms_agree),
        cmocka_unit_test(test_one_contact_by_hand),
        cmocka_unit_test(test_no_friction_means_no_pulling),
        cmocka_unit_test(test_projects_first),
        cmocka_unit_test(test_rows_by_hand),
        cmocka_unit_test(test_spin_by_hand),
        cmocka_unit_test(test_units_do_not_matter),
        cmocka_unit_test(test_contact_units_do_not_matter),
        cmocka_unit_test(test_powers_of_two_are_exact),
        cmocka_unit_test(test_islands_are_scaled_apart),
        cmocka_unit_test(test_open_contacts_do_not_set_the_scale),
        cmocka_unit_test(test_nothing_to_do),
        cmocka_unit_test(test_nan_is_never_a_solution),
        cmocka_unit_test(test_judges_mass_and_jacobian),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
