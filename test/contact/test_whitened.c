// Velocity input that brings W with W W' = J M^-1 J': the same answers as without it. And contacts
// that wait, because they are far from closing: they join when the others close them.
#include "solve.h"

#include "contact/run.h"

// The problem in velocity form with a full pattern, and W from a Cholesky factor of the whole M.
typedef struct rgWhitened {
    rgContactProblem problem;
    int* start;
    int* column;
    double* J;
    double* W;
} rgWhitened;

static void rgFactor(int n, double* M) {
    for (int i = 0; i < n; ++i) {
        for (int j = 0; j <= i; ++j) {
            double sum = M[i * n + j];
            for (int k = 0; k < j; ++k) {
                sum -= M[i * n + k] * M[j * n + k];
            }
            M[i * n + j] = i == j ? sqrt(sum) : sum / M[j * n + j];
        }
    }
}

static rgWhitened rgWhiten(const rgContactCase* made) {
    rgWhitened w = {.problem = rgContactCase_UseForm(made, rg_delassusVelocity)};
    rgDelassus* d = &w.problem.delassus;
    int n = w.problem.rowCount, nv = d->mass.rowCount;
    w.start = malloc((size_t)(n + 1) * sizeof(int));
    w.column = malloc((size_t)(n * nv) * sizeof(int));
    w.J = rgZeros(n * nv);
    w.W = rgZeros(n * nv);
    double* L = rgZeros(nv * nv);
    for (int i = 0; i < nv; ++i) {
        for (int k = d->mass.rowStart[i]; k < d->mass.rowStart[i + 1]; ++k) {
            L[i * nv + d->mass.column[k]] = d->mass.value[k];
        }
    }
    rgFactor(nv, L);
    for (int r = 0; r < n; ++r) {
        for (int k = d->jacobian.rowStart[r]; k < d->jacobian.rowStart[r + 1]; ++k) {
            w.J[r * nv + d->jacobian.column[k]] = d->jacobian.value[k];
        }
        for (int i = 0; i < nv; ++i) {
            double sum = w.J[r * nv + i];
            for (int k = 0; k < i; ++k) {
                sum -= L[i * nv + k] * w.W[r * nv + k];
            }
            w.W[r * nv + i] = sum / L[i * nv + i];
            w.column[r * nv + i] = i;
        }
        w.start[r] = r * nv;
    }
    w.start[n] = n * nv;
    free(L);
    d->jacobian = (rgSparse){n, nv, w.start, w.column, w.J};
    d->whitened = w.W;
    return w;
}

static void rgWhitened_Free(rgWhitened* w) {
    free(w->start);
    free(w->column);
    free(w->J);
    free(w->W);
}

static void test_same_answer(void** state) {
    (void)state;
    for (uint64_t seed = 1; seed <= 6; ++seed) {
        rgContactCaseDef caseDef = rgMixedCase(seed, 3, 4 + 6 * (int)(seed % 3));
        rgContactCase* made = rgMakeContactCase(&caseDef);
        rgWhitened w = rgWhiten(made);
        int n = w.problem.rowCount;
        static const rgWay ways[] = {rg_wayAuto, rg_wayNewton, rg_wayInterior, rg_wayFastAdmm};
        for (int k = 0; k < 4; ++k) {
            for (int form = rg_formAuto; form <= rg_formVelocity; ++form) {
                rgContactSolverDef def = rgWayDef(ways[k], 1e-10);
                def.form = (rgSystemForm)form;
                double* lambda = rgMustSolve(ways[k], &def, &w.problem, seed);
                EXPECT_NEAR(rgLargestDifference(n, lambda, made->lambda), 0,
                            2e-5 * rgLargestNumber(n, made->lambda));
                free(lambda);
            }
        }
        rgWhitened_Free(&w);
        rgFreeContactCase(made);
    }
}

// The judge sees the same residual of any impulses.
static void test_same_judgement(void** state) {
    (void)state;
    for (uint64_t seed = 1; seed <= 6; ++seed) {
        rgContactCaseDef caseDef = rgMixedCase(seed, 6, 8);
        rgContactCase* made = rgMakeContactCase(&caseDef);
        rgWhitened w = rgWhiten(made);
        rgContactProblem plain = w.problem;
        plain.delassus.whitened = NULL;
        int n = plain.rowCount;
        double* lambda = rgZeros(n);
        double *a = rgZeros(n), *b = rgZeros(n);
        for (int i = 0; i < n; ++i) {
            lambda[i] = made->lambda[i] * (1 + 0.1 * sin(i));
        }
        double left = rgContactProblem_Residual(&plain, lambda);
        EXPECT_NEAR(rgContactProblem_Residual(&w.problem, lambda), left, 1e-9 * left);
        assert_int_equal(rgContactProblem_Velocity(&plain, lambda, a), rg_ok);
        assert_int_equal(rgContactProblem_Velocity(&w.problem, lambda, b), rg_ok);
        EXPECT_NEAR(rgLargestDifference(n, a, b), 0, 1e-10 * rgLargestNumber(n, a));
        free(lambda);
        free(a);
        free(b);
        rgWhitened_Free(&w);
        rgFreeContactCase(made);
    }
}

// Two contacts without friction, each with tangential velocities of its own. The first closes at 1
// m/s; the second opens at `opening`, until the impulse of the first pulls it shut.
static void rgSolvePair(double opening, double pull, double lambda[6], rgContactReport* report) {
    enum { NV = 6 };
    int start[7], column[6 * NV], massStart[NV + 1], massColumn[NV];
    double W[6 * NV] = {0}, mass[NV];
    rgBlock blocks[2] = {{.kind = rg_blockCoulomb, .firstRow = 0, .rowCount = 3},
                         {.kind = rg_blockCoulomb, .firstRow = 3, .rowCount = 3}};
    for (int i = 0; i < 6; ++i) {
        start[i] = i * NV;
        W[i * NV + i] = 1;
        for (int j = 0; j < NV; ++j) {
            column[i * NV + j] = j;
        }
        massStart[i] = i;
        massColumn[i] = i;
        mass[i] = 1;
    }
    start[6] = 6 * NV;
    massStart[NV] = NV;
    W[5 * NV + 2] = -pull;
    double g[6] = {0, 0, -1, 0, 0, opening};
    static const int tree[NV] = {0};
    rgContactProblem problem = {.rowCount = 6,
                                .blockCount = 2,
                                .blocks = blocks,
                                .delassus = {.kind = rg_delassusVelocity,
                                             .mass = {NV, NV, massStart, massColumn, mass},
                                             .jacobian = {6, NV, start, column, W},
                                             .whitened = W,
                                             .tree = tree},
                                .freeVelocity = g};
    rgContactSolverDef def = rgDefaultContactSolverDef();
    def.tolerance = 1e-10;
    rgContactSolver* solver = NULL;
    assert_int_equal(rgCreateContactSolver(&def, &solver), rg_ok);
    static const double given[6] = {0, 0, 0, 7, -7, 0}; // friction without a normal impulse
    memcpy(lambda, given, sizeof(given));
    assert_int_equal(rgContactSolver_Solve(solver, &problem, lambda, NULL, report), rg_ok);
    EXPECT_NEAR(report->residual.total, rgContactProblem_Residual(&problem, lambda), 1e-15);
    rgDestroyContactSolver(solver);
}

static void test_waiting_contact_joins(void** state) {
    (void)state;
    double lambda[6];
    rgContactReport report;
    // Stays open: 5 - 3 > 0.
    rgSolvePair(5, 3, lambda, &report);
    assert_int_equal(report.status, rg_contactSolved);
    EXPECT_NEAR(lambda[2], 1, 1e-9);
    assert_true(lambda[3] == 0 && lambda[4] == 0 && lambda[5] == 0);
    // Is pulled shut: lambda_1 - 3 lambda_2 = 1, -3 lambda_1 + 10 lambda_2 = -2.5.
    rgSolvePair(2.5, 3, lambda, &report);
    assert_int_equal(report.status, rg_contactSolved);
    EXPECT_NEAR(lambda[2], 2.5, 1e-8);
    EXPECT_NEAR(lambda[5], 0.5, 1e-8);
}

// A few contacts near a start: Newton alone solves them, and both forms end at the same velocities.
static void rgCheckNearStart(const rgContactProblem* problem, const double* truth,
                             rgRandom* random) {
    enum { MOST = 18 };
    static const rgSystemForm forms[2] = {rg_formDense, rg_formVelocity};
    int n = problem->rowCount;
    double start[MOST], lambda[MOST], sigma[2][MOST];
    for (int i = 0; i < n; ++i) {
        start[i] = truth[i] * rgRandom_Uniform(random, 0.98, 1.02);
    }
    for (int k = 0; k < 2; ++k) {
        memcpy(lambda, start, sizeof(lambda));
        rgContactSolverDef def = rgDefaultContactSolverDef();
        def.tolerance = 1e-9;
        def.form = forms[k];
        rgContactReport report = rgSolveAndCheck(&def, problem, lambda);
        assert_int_equal(report.status, rg_contactSolved);
        assert_true(report.phaseIterations[rg_phaseInterior] == 0 && report.iterationCount <= 60);
        assert_int_equal(rgContactProblem_Velocity(problem, lambda, sigma[k]), rg_ok);
    }
    EXPECT_NEAR(rgLargestDifference(n, sigma[0], sigma[1]), 0,
                1e-6 * (0.1 + rgLargestNumber(n, sigma[0])));
}

static void test_few_contacts_near_a_start(void** state) {
    (void)state;
    rgRandom random = {7};
    for (int k = 0; k < rgFewer(600); ++k) {
        static const double mu[] = {0, 0.4, 1};
        rgContactCaseDef caseDef = {.seed = (uint64_t)k + 1,
                                    .bodyCount = 1 + k / 18 % 2,
                                    .contactCount = 1 + k % 6,
                                    .mu = mu[k / 6 % 3],
                                    .compliance = k % 5 == 0 ? 0.02 : 0,
                                    .state = -1};
        rgContactCase* made = rgMakeContactCase(&caseDef);
        rgWhitened w = rgWhiten(made);
        w.problem.referenceVelocity = 0.01;
        rgCheckNearStart(&w.problem, made->lambda, &random);
        rgWhitened_Free(&w);
        rgFreeContactCase(made);
    }
}

// Islands of rows over trees, beside a search that knows nothing but who touches what: rows that
// touch nothing are alone, also where there is only one tree.
static void test_islands_of_trees(void** state) {
    (void)state;
    enum { SETS = 5, NV = 9 };
    rgRandom random = {1};
    for (int round = 0; round < 300; ++round) {
        int trees = 1 + round % 3, tree[NV], start[3 * SETS + 1] = {0}, column[3 * SETS * NV];
        bool touches[SETS][3] = {{false}};
        for (int v = 0; v < NV; ++v) {
            tree[v] = v * trees / NV;
        }
        rgBlock blocks[SETS];
        for (int s = 0; s < SETS; ++s) {
            blocks[s] = (rgBlock){.kind = rg_blockCoulomb, .firstRow = 3 * s, .rowCount = 3};
            unsigned mask = rgRandom_Bits(&random) % 4 == 0 ? 0 : (unsigned)rgRandom_Bits(&random);
            for (int r = 3 * s; r < 3 * s + 3; ++r) {
                start[r + 1] = start[r];
                for (int v = 0; v < NV; ++v) {
                    if (mask >> v & 1 && (trees == 1 || rgRandom_Bits(&random) % 4 == 0)) {
                        column[start[r + 1]++] = v;
                        touches[s][tree[v]] = true;
                    }
                }
            }
        }
        rgContactProblem problem = {.rowCount = 3 * SETS,
                                    .blockCount = SETS,
                                    .blocks = blocks,
                                    .delassus = {.kind = rg_delassusVelocity,
                                                 .mass = {.rowCount = NV, .columnCount = NV},
                                                 .jacobian = {3 * SETS, NV, start, column, NULL},
                                                 .tree = tree}};
        rgArena arena;
        rgArena_Init(&arena, NULL);
        rgLayout layout;
        assert_int_equal(rgBuildLayout(&problem, true, &arena, &layout), rg_ok);
        int island[SETS], count = 0; // spread the lowest number until nothing changes
        for (int s = 0; s < SETS; ++s) {
            island[s] = s;
        }
        for (int k = 0; k < SETS * SETS * SETS * 3; ++k) {
            int a = k / 3 % SETS, b = k / 3 / SETS % SETS, t = k % 3;
            if (touches[a][t] && touches[b][t]) {
                island[a] = island[b] = island[a] < island[b] ? island[a] : island[b];
            }
        }
        for (int s = 0; s < SETS; ++s) {
            int number = island[s] == s ? count++ : layout.islandOfBlock[island[s]];
            assert_int_equal(layout.islandOfBlock[s], number);
            assert_int_equal(layout.members[layout.islandStart[number] + layout.placeOfBlock[s]],
                             s);
        }
        assert_int_equal(layout.islandCount, count);
        assert_int_equal(layout.partCount, trees);
        for (int v = 0; v < NV; ++v) {
            int at = layout.partStart[tree[v]] + layout.placeInPart[v];
            assert_int_equal(layout.partVelocities[at], v);
        }
        rgArena_Free(&arena);
    }
}

static void test_bad_input(void** state) {
    (void)state;
    rgContactCaseDef caseDef = rgMixedCase(1, 3, 4);
    rgContactCase* made = rgMakeContactCase(&caseDef);
    rgWhitened w = rgWhiten(made);
    int nv = w.problem.delassus.mass.rowCount;
    int* tree = calloc((size_t)nv, sizeof(int));
    rgContactProblem other = w.problem;
    other.delassus.tree = tree;
    assert_int_equal(rgContactProblem_Check(&other, NULL), rg_ok);
    tree[1] = 2;
    assert_int_equal(rgContactProblem_Check(&other, NULL), rg_errorArgument);
    tree[1] = 0;
    other.delassus.whitened = NULL;
    assert_int_equal(rgContactProblem_Check(&other, NULL), rg_errorArgument);
    w.W[5] = NAN;
    assert_int_equal(rgContactProblem_Check(&w.problem, NULL), rg_errorArgument);
    free(tree);
    rgWhitened_Free(&w);
    rgFreeContactCase(made);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_same_answer),
        cmocka_unit_test(test_same_judgement),
        cmocka_unit_test(test_waiting_contact_joins),
        cmocka_unit_test(test_few_contacts_near_a_start),
        cmocka_unit_test(test_islands_of_trees),
        cmocka_unit_test(test_bad_input),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
