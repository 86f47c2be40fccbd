// What others put in place of Coulomb's law: friction on polygons, by pivots and by sweeps, and
// RaiSim's per-contact bisection. Laws are written down here independently of the judge.
#include "solve.h"

static const double rgPi = 3.14159265358979323846;

// Corner k of the regular polygon around the unit circle with one side across the first axis.
static void rgCorner(int sides, int k, double* corner) {
    double angle = 2 * rgPi * (k + 0.5) / sides;
    corner[0] = cos(angle) / cos(rgPi / sides);
    corner[1] = sin(angle) / cos(rgPi / sides);
}

// Two rows with |l| in the polygon of a radius, and no corner that brakes s more.
static void rgExpectPolygon(int sides, double radius, const double* l, const double* s,
                            double speed, double size) {
    double most = 0;
    for (int k = 0; k < sides; ++k) {
        double angle = 2 * rgPi * k / sides, corner[2];
        assert_true(cos(angle) * l[0] + sin(angle) * l[1] <= radius + 1e-12 * size);
        rgCorner(sides, k, corner);
        most = fmax(most, -radius * (corner[0] * s[0] + corner[1] * s[1]));
    }
    EXPECT_NEAR(l[0] * s[0] + l[1] * s[1], -most, 1e-6 * speed * size);
}

static void rgExpectInterval(double low, double high, double l, double s, double speed,
                             double size) {
    assert_true(l >= low - 1e-12 * size && l <= high + 1e-12 * size);
    EXPECT_NEAR(l - fmin(fmax(l - s * size / speed, low), high), 0, 1e-6 * size);
}

static void rgExpectLinearised(const rgContactCase* made, int sides, const double* lambda) {
    int n = made->problem.rowCount;
    double sigma[128];
    assert_int_equal(rgContactProblem_Velocity(&made->problem, lambda, sigma), rg_ok);
    double speed = rgLargestNumber(n, made->g), size = rgLargestNumber(n, lambda) + 1e-300;
    for (int b = 0; b < made->problem.blockCount; ++b) {
        const rgBlock* block = made->blocks + b;
        const double* l = lambda + block->firstRow;
        const double* s = sigma + block->firstRow;
        if (block->kind == rg_blockCoulomb) {
            rgExpectInterval(0, INFINITY, l[2], s[2], speed, size);
            rgExpectPolygon(sides, block->mu * l[2], l, s, speed, size);
            if (block->rowCount > 3) {
                double reach = block->muTorsion * l[2];
                rgExpectInterval(-reach, reach, l[3], s[3], speed, size);
            }
            if (block->rowCount > 4) {
                rgExpectPolygon(sides, block->muRolling * l[2], l + 4, s + 4, speed, size);
            }
            continue;
        }
        for (int i = 0; i < block->rowCount; ++i) {
            bool box = block->kind == rg_blockBox, half = block->kind == rg_blockHalfLine;
            rgExpectInterval(box    ? block->lower
                             : half ? 0
                                    : -INFINITY,
                             box ? block->upper : INFINITY, l[i], s[i], speed, size);
        }
    }
}

typedef struct rgVariant {
    rgContactModel model;
    rgContactMethod method;
    int sides;
} rgVariant;
static const rgVariant rgLinearised[] = {
    {rg_modelLcp4, rg_methodPivot, 4}, {rg_modelLcp4, rg_methodPgs, 4},
    {rg_modelLcp4, rg_methodAuto, 4},  {rg_modelLcp8, rg_methodPivot, 8},
    {rg_modelLcp8, rg_methodPgs, 8},   {rg_modelLcp8, rg_methodAuto, 8}};
enum { rg_linearisedCount = sizeof(rgLinearised) / sizeof(rgLinearised[0]) };

static double* rgSolveVariant(const rgVariant* variant, const rgContactProblem* problem,
                              uint64_t seed) {
    rgContactSolverDef def = rgDefaultContactSolverDef();
    def.model = variant->model;
    def.method = variant->method;
    def.tolerance = 1e-8;
    def.maxIterations = 20000;
    rgContactSolver* solver = NULL;
    assert_int_equal(rgCreateContactSolver(&def, &solver), rg_ok);
    double* lambda = rgZeros(problem->rowCount);
    rgContactReport report;
    rgResidual residual;
    assert_int_equal(rgContactSolver_Solve(solver, problem, lambda, NULL, &report), rg_ok);
    assert_int_equal(rgContactProblem_Judge(problem, def.model, lambda, &residual), rg_ok);
    assert_true(residual.total == report.residual.total);
    if (report.status != rg_contactSolved) {
        fail_msg("model %d, method %d, seed %d: status %d, %d iterations, residual %g",
                 (int)variant->model, (int)variant->method, (int)seed, (int)report.status,
                 report.iterationCount, residual.total);
    }
    rgDestroyContactSolver(solver);
    return lambda;
}

// Every kind of row; all ways find the same answer where it is unique.
static void test_linearised_law(void** state) {
    (void)state;
    for (uint64_t seed = 1; seed <= (RG_SLOW_BUILD ? 6 : 40); ++seed) {
        rgContactCaseDef caseDef = rgMixedCase(seed, 6, 5);
        rgContactCase* made = rgMakeContactCase(&caseDef);
        double* first = NULL;
        for (int k = 0; k < rg_linearisedCount; ++k) {
            double* lambda = rgSolveVariant(rgLinearised + k, &made->problem, seed);
            rgExpectLinearised(made, rgLinearised[k].sides, lambda);
            if (k % 3 == 0) {
                free(first);
                first = lambda;
            } else {
                double size = rgLargestNumber(made->problem.rowCount, first);
                EXPECT_NEAR(rgLargestDifference(made->problem.rowCount, lambda, first), 0,
                            1e-5 * size);
                free(lambda);
            }
        }
        free(first);
        rgFreeContactCase(made);
    }
}

// Rigid, more contacts than bodies can tell apart, masses over three decades, every form.
static void test_pivots_hyperstatic(void** state) {
    (void)state;
    for (uint64_t seed = 1; seed <= (RG_SLOW_BUILD ? 3 : 12); ++seed) {
        rgContactCaseDef caseDef = {.seed = seed,
                                    .bodyCount = 3,
                                    .contactCount = 10,
                                    .mu = 0.5,
                                    .massDecades = 3,
                                    .state = -1};
        rgContactCase* made = rgMakeContactCase(&caseDef);
        for (int kind = rg_delassusDense; kind <= rg_delassusVelocity; ++kind) {
            rgContactProblem problem = rgContactCase_UseForm(made, (rgDelassusKind)kind);
            for (int k = 0; k < rg_linearisedCount; k += 3) {
                double* lambda = rgSolveVariant(rgLinearised + k, &problem, seed);
                rgExpectLinearised(made, rgLinearised[k].sides, lambda);
                free(lambda);
            }
        }
        rgFreeContactCase(made);
    }
}

// One contact with unit mass that slides in a direction: the polygon is exact across its sides and
// longer by 1/cos(pi/sides) towards its corners.
static void test_polygon_is_anisotropic(void** state) {
    (void)state;
    double G[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1}, mu = 0.5;
    rgBlock block = rgContactBlock(0, mu);
    for (int k = 0; k < rg_linearisedCount; ++k) {
        int sides = rgLinearised[k].sides;
        for (int corner = 0; corner < 2 * sides; ++corner) {
            double angle = corner * rgPi / sides;
            double g[3] = {3 * cos(angle), 3 * sin(angle), -1};
            rgContactCase* made = rgMakeDenseCase(1, &block, G, g);
            double* lambda = rgSolveVariant(rgLinearised + k, &made->problem, 0);
            double expected = corner % 2 ? mu / cos(rgPi / sides) : mu;
            EXPECT_NEAR(lambda[2], 1, 1e-7);
            EXPECT_NEAR(lambda[0], -expected * cos(angle), 1e-6);
            EXPECT_NEAR(lambda[1], -expected * sin(angle), 1e-6);
            double exact = rgContactProblem_Residual(&made->problem, lambda);
            assert_true(corner % 2 ? exact > 1e-3 : exact < 1e-6); // the judge of the exact law
            free(lambda);
            rgFreeContactCase(made);
        }
    }
}

// Without friction all models are one, and the velocity is unique.
static void test_frictionless_models_agree(void** state) {
    (void)state;
    static const rgVariant variants[] = {
        {rg_modelNcp, rg_methodAuto, 0},   {rg_modelCcp, rg_methodAuto, 0},
        {rg_modelLcp4, rg_methodPivot, 4}, {rg_modelLcp8, rg_methodPivot, 8},
        {rg_modelLcp4, rg_methodPgs, 4},   {rg_modelNcp, rg_methodBisection, 0},
        {rg_modelNcp, rg_methodNewton, 0}, {rg_modelNcp, rg_methodDojo, 0}};
    for (uint64_t seed = 1; seed <= (RG_SLOW_BUILD ? 3 : 12); ++seed) {
        rgContactCaseDef caseDef = {
            .seed = seed, .bodyCount = 4, .contactCount = 8, .mu = 0, .state = -1};
        rgContactCase* made = rgMakeContactCase(&caseDef);
        int n = made->problem.rowCount;
        double sigma[64];
        for (int k = 0; k < (int)(sizeof(variants) / sizeof(variants[0])); ++k) {
            double* lambda = rgSolveVariant(variants + k, &made->problem, seed);
            assert_int_equal(rgContactProblem_Velocity(&made->problem, lambda, sigma), rg_ok);
            EXPECT_NEAR(rgLargestDifference(n, sigma, made->sigma), 0,
                        1e-5 * rgLargestNumber(n, made->g));
            free(lambda);
        }
        rgFreeContactCase(made);
    }
}

static rgContactReport rgBisect(const rgContactCase* made, double* lambda) {
    rgContactSolverDef def = rgDefaultContactSolverDef();
    def.method = rg_methodBisection;
    def.tolerance = 1e-9;
    return rgSolveAndCheck(&def, &made->problem, lambda);
}

// A random contact of one body: a mass for each direction, or a full block.
static rgContactCase* rgOneContact(rgRandom* random, double mu, bool coupled) {
    double A[9], G[9] = {0}, g[3];
    for (int i = 0; i < 9; ++i) {
        A[i] = rgRandom_Normal(random);
    }
    for (int i = 0; i < 3; ++i) {
        for (int j = 0; j < 3; ++j) {
            for (int k = 0; k < 3 && coupled; ++k) {
                G[3 * i + j] += 0.3 * A[3 * i + k] * A[3 * j + k];
            }
        }
        G[4 * i] += coupled ? 1 : i < 2 ? 0.7 : 1.9;
        g[i] = rgRandom_Normal(random);
    }
    rgBlock block = rgContactBlock(0, mu);
    return rgMakeDenseCase(1, &block, G, g);
}

// Dojo's interior point and staggered projections solve the exact law: every kind of contact that a
// constructed solution has, with equal masses. The judge decides, and compliance makes the impulses
// unique.
static void test_exact_baselines(void** state) {
    (void)state;
    static const rgVariant variants[] = {{rg_modelNcp, rg_methodDojo, 0},
                                         {rg_modelNcp, rg_methodStaggered, 0}};
    for (uint64_t seed = 1; seed <= (RG_SLOW_BUILD ? 6 : 40); ++seed) {
        rgContactCaseDef caseDef = {.seed = seed,
                                    .bodyCount = 6,
                                    .contactCount = 5,
                                    .halfLineCount = 2,
                                    .mu = 0.4,
                                    .compliance = 0.2,
                                    .state = -1};
        rgContactCase* made = rgMakeContactCase(&caseDef);
        for (int k = 0; k < 2; ++k) {
            double* lambda = rgSolveVariant(variants + k, &made->problem, seed);
            EXPECT_NEAR(rgLargestDifference(made->problem.rowCount, lambda, made->lambda), 0,
                        1e-5 * rgLargestNumber(made->problem.rowCount, made->lambda));
            free(lambda);
        }
        rgFreeContactCase(made);
    }
}

// Where normal and tangent do not couple, least energy is Coulomb's law.
static void test_bisection_is_exact_without_coupling(void** state) {
    (void)state;
    rgRandom random = {5};
    for (int trial = 0; trial < rgFewer(200); ++trial) {
        rgContactCase* made = rgOneContact(&random, 0.2 + 0.01 * (trial % 100), false);
        double lambda[3] = {0, 0, 0};
        rgContactReport report = rgBisect(made, lambda);
        assert_int_equal(report.status, rg_contactSolved);
        rgFreeContactCase(made);
    }
}

// Where they couple: the answer is that of a search over all directions, keeps Signorini's law, and
// is not always Coulomb's.
static void test_bisection_of_coupled_contacts(void** state) {
    (void)state;
    rgRandom random = {6};
    int sliding = 0, wrong = 0;
    for (int trial = 0; trial < 60; ++trial) {
        double mu = 0.3;
        rgContactCase* made = rgOneContact(&random, mu, true);
        const double *G = made->G, *g = made->g;
        double lambda[3] = {0, 0, 0}, sigma[3];
        rgContactReport report = rgBisect(made, lambda);
        assert_int_equal(rgContactProblem_Velocity(&made->problem, lambda, sigma), rg_ok);
        EXPECT_NEAR(fmin(sigma[2], 0), 0, 1e-7);
        EXPECT_NEAR(lambda[2] * sigma[2], 0, 1e-7);
        bool slides = lambda[2] > 0 && hypot(sigma[0], sigma[1]) > 1e-6;
        double least = INFINITY, best[3] = {0, 0, 0};
        for (int k = 0; k < 4000 && slides; ++k) {
            double e[2] = {cos(2 * rgPi * k / 4000), sin(2 * rgPi * k / 4000)};
            double x[3], energy = 0;
            x[2] = -g[2] / (G[8] + mu * (G[6] * e[0] + G[7] * e[1]));
            x[0] = mu * x[2] * e[0];
            x[1] = mu * x[2] * e[1];
            for (int i = 0; i < 3; ++i) {
                double half = 0;
                for (int j = 0; j < 3; ++j) {
                    half += 0.5 * G[3 * i + j] * x[j];
                }
                energy += x[i] * (half + g[i]);
            }
            if (energy < least) {
                least = energy;
                memcpy(best, x, sizeof(best));
            }
        }
        if (slides) {
            ++sliding;
            EXPECT_NEAR(rgLargestDifference(3, lambda, best), 0, 3e-3 * lambda[2]);
            wrong += report.residual.total > 1e-3;
        }
        rgFreeContactCase(made);
    }
    assert_true(sliding > 5 && wrong > sliding / 2);
}

static void test_combinations(void** state) {
    (void)state;
    static const bool suits[][4] = {
        [rg_methodAuto] = {1, 1, 1, 1},      [rg_methodNewton] = {1, 1, 0, 0},
        [rg_methodAdmm] = {1, 1, 0, 0},      [rg_methodPgs] = {1, 1, 1, 1},
        [rg_methodInterior] = {1, 1, 0, 0},  [rg_methodPivot] = {0, 0, 1, 1},
        [rg_methodBisection] = {1, 0, 0, 0}, [rg_methodDojo] = {1, 0, 0, 0},
        [rg_methodStaggered] = {1, 0, 0, 0}};
    for (int method = 0; method <= rg_methodStaggered; ++method) {
        for (int model = 0; model <= rg_modelLcp8; ++model) {
            rgContactSolverDef def = rgDefaultContactSolverDef();
            def.method = (rgContactMethod)method;
            def.model = (rgContactModel)model;
            rgContactSolver* solver = NULL;
            assert_int_equal(rgCreateContactSolver(&def, &solver),
                             suits[method][model] ? rg_ok : rg_errorArgument);
            rgDestroyContactSolver(solver);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_linearised_law),
        cmocka_unit_test(test_pivots_hyperstatic),
        cmocka_unit_test(test_polygon_is_anisotropic),
        cmocka_unit_test(test_frictionless_models_agree),
        cmocka_unit_test(test_exact_baselines),
        cmocka_unit_test(test_bisection_is_exact_without_coupling),
        cmocka_unit_test(test_bisection_of_coupled_contacts),
        cmocka_unit_test(test_combinations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
