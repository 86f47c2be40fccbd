// ADMM against a second, plain implementation of the paper's Algorithm 1; its penalty rules, its
// own stopping test, its additions, and the history it leaves.
#include "solve.h"

#include "contact/baselines/anderson.h"

// Algorithm 1 with dense matrices and a fixed or linearly adapted penalty.
typedef struct rgReference {
    int n;
    double eta, rho;
    double f[32], y[32], z[32];
    double primal, dual, complementarity;
    double L[32 * 32];
} rgReference;

static void rgReference_Factor(rgReference* reference, const rgContactCase* made) {
    int n = reference->n;
    for (int i = 0; i < n; ++i) {
        for (int j = 0; j <= i; ++j) {
            double sum = made->G[i * n + j];
            if (i == j) {
                sum += (made->R != NULL ? made->R[i] : 0) + reference->eta + reference->rho;
            }
            for (int k = 0; k < j; ++k) {
                sum -= reference->L[i * n + k] * reference->L[j * n + k];
            }
            reference->L[i * n + j] = i == j ? sqrt(sum) : sum / reference->L[j * n + j];
        }
    }
}

static void rgReference_Solve(const rgReference* reference, double* x) {
    int n = reference->n;
    for (int i = 0; i < n; ++i) {
        for (int k = 0; k < i; ++k) {
            x[i] -= reference->L[i * n + k] * x[k];
        }
        x[i] /= reference->L[i * n + i];
    }
    for (int i = n - 1; i >= 0; --i) {
        for (int k = i + 1; k < n; ++k) {
            x[i] -= reference->L[k * n + i] * x[k];
        }
        x[i] /= reference->L[i * n + i];
    }
}

static void rgReference_Iterate(rgReference* reference, const rgContactCase* made) {
    int n = reference->n;
    double eta = reference->eta, rho = reference->rho;
    double f[32] = {0}, y[32] = {0};
    for (int b = 0; b < made->problem.blockCount; ++b) {
        for (int i = 3 * b; i < 3 * b + 3; ++i) {
            const double* z = reference->z + 3 * b;
            double s = i % 3 == 2 ? made->blocks[b].mu * hypot(z[0], z[1]) : 0;
            f[i] =
                -(made->g[i] + s - eta * reference->f[i] - rho * reference->y[i] - reference->z[i]);
        }
    }
    rgReference_Solve(reference, f);
    reference->primal = reference->dual = reference->complementarity = 0;
    for (int b = 0; b < made->problem.blockCount; ++b) {
        for (int i = 3 * b; i < 3 * b + 3; ++i) {
            y[i] = f[i] - reference->z[i] / rho;
        }
        rgBlock_Project(made->blocks + b, y + 3 * b);
        double product = 0;
        for (int i = 3 * b; i < 3 * b + 3; ++i) {
            reference->z[i] -= rho * (f[i] - y[i]);
            product += f[i] * reference->z[i];
            double dual = eta * (f[i] - reference->f[i]) + rho * (y[i] - reference->y[i]);
            reference->primal = fmax(reference->primal, fabs(f[i] - y[i]));
            reference->dual = fmax(reference->dual, fabs(dual));
        }
        reference->complementarity = fmax(reference->complementarity, fabs(product));
    }
    memcpy(reference->f, f, (size_t)n * sizeof(double));
    memcpy(reference->y, y, (size_t)n * sizeof(double));
}

static rgContactCase* rgSmall(uint64_t seed) {
    return rgMakeContactCase(&(rgContactCaseDef){.seed = seed,
                                                 .bodyCount = 4,
                                                 .contactCount = 5,
                                                 .mu = 0.6,
                                                 .compliance = seed % 2 ? 0.01 : 0,
                                                 .island = 4,
                                                 .state = -1});
}

// A solver with a history, and the report of one cold solve.
static rgContactSolver* rgRecord(const rgContactSolverDef* def, const rgContactCase* made,
                                 double* lambda, rgContactReport* report) {
    rgContactSolver* solver = NULL;
    assert_int_equal(rgCreateContactSolver(def, &solver), rg_ok);
    memset(lambda, 0, (size_t)made->problem.rowCount * sizeof(double));
    assert_int_equal(rgContactSolver_Solve(solver, &made->problem, lambda, NULL, report), rg_ok);
    assert_int_equal(report->historyCount, report->iterationCount);
    return solver;
}

static void rgExpectClose(double actual, double expected, double scale) {
    EXPECT_NEAR(actual, expected, 1e-9 * fabs(expected) + 1e-12 * scale);
}

static void rgCompareWithReference(rgPenaltyRule rule, rgContactModel model) {
    for (uint64_t seed = 1; seed <= 6; ++seed) {
        rgContactCase* made = rgSmall(seed);
        if (model == rg_modelCcp) {
            for (int b = 0; b < made->problem.blockCount; ++b) {
                made->blocks[b].mu = 0; // both models are the same without friction
            }
        }
        rgContactSolverDef def = rgWayDef(rg_wayAdmm, 1e-30);
        def.model = model;
        def.maxIterations = 150;
        def.recordHistory = true;
        def.splitIslands = false;
        def.admm.rule = rule;
        def.admm.penalty = 0.3;
        def.admm.factor = 3;
        double lambda[32];
        rgContactReport report;
        rgContactSolver* solver = rgRecord(&def, made, lambda, &report);
        assert_int_equal(report.historyCount, 150);
        rgReference reference = {.n = made->problem.rowCount, .eta = 1e-6, .rho = 0.3};
        rgReference_Factor(&reference, made);
        for (int k = 0; k < report.historyCount; ++k) {
            const rgContactRecord* record = report.history + k;
            rgReference_Iterate(&reference, made);
            assert_int_equal(record->phase, rg_phaseAdmm);
            rgExpectClose(record->penalty, reference.rho, 0);
            rgExpectClose(record->primal, reference.primal, 1);
            rgExpectClose(record->dual, reference.dual, 1);
            rgExpectClose(record->complementarity, reference.complementarity, 1);
            // Once the residuals are rounding errors, the rule follows noise.
            if (fmin(reference.primal, reference.dual) < 1e-10) {
                break;
            }
            double before = reference.rho;
            if (rule == rg_penaltyLinear) {
                reference.rho *= reference.primal >= 10 * reference.dual   ? 3
                                 : reference.dual >= 10 * reference.primal ? 1.0 / 3
                                                                           : 1;
            }
            if (reference.rho != before) {
                rgReference_Factor(&reference, made);
            }
        }
        rgDestroyContactSolver(solver);
        rgFreeContactCase(made);
    }
}

static void test_iterates_are_those_of_algorithm_1(void** state) {
    (void)state;
    rgCompareWithReference(rg_penaltyConstant, rg_modelNcp);
    rgCompareWithReference(rg_penaltyConstant, rg_modelCcp);
}

static void test_linear_rule(void** state) {
    (void)state;
    rgCompareWithReference(rg_penaltyLinear, rg_modelNcp);
}

// rho moves by kappa^0.05, up when the primal residual is ten times the dual, down in the other
// case, else not at all; each move costs one factorization.
static void test_spectral_rule(void** state) {
    (void)state;
    int moves = 0;
    for (uint64_t seed = 1; seed <= 6; ++seed) {
        rgContactCase* made = rgSmall(seed);
        rgContactSolverDef def = rgWayDef(rg_wayAdmm, 1e-9);
        def.recordHistory = true;
        def.splitIslands = false;
        def.admm.exponent = seed % 2 ? 0.6 : -0.4; // a bad start, so that it has to move
        double lambda[32];
        rgContactReport report;
        rgContactSolver* solver = rgRecord(&def, made, lambda, &report);
        double step = 0;
        int own = 0;
        for (int k = 0; k + 1 < report.historyCount; ++k) {
            const rgContactRecord* record = report.history + k;
            double change = log(record[1].penalty / record[0].penalty);
            int direction = record->primal >= 10 * record->dual   ? 1
                            : record->dual >= 10 * record->primal ? -1
                                                                  : 0;
            assert_true(direction * change >= 0 && (direction != 0) == (change != 0));
            if (change != 0) {
                step = step > 0 ? step : fabs(change);
                EXPECT_NEAR(fabs(change), step, 1e-9 * step);
                own += 1;
            }
        }
        // One factorization for the spectrum, one for the first rho, one per move.
        assert_int_equal(report.factorizationCount, 2 + own);
        assert_int_equal(report.status, rg_contactSolved);
        moves += own;
        rgDestroyContactSolver(solver);
        rgFreeContactCase(made);
    }
    assert_true(moves > 6);
}

// Where rho starts: sqrt(m L) kappa^p. G = diag(1/100, 1) has its spectrum in plain sight.
static void test_first_penalty(void** state) {
    (void)state;
    rgBlock blocks[2] = {{.kind = rg_blockHalfLine, .firstRow = 0, .rowCount = 1},
                         {.kind = rg_blockHalfLine, .firstRow = 1, .rowCount = 1}};
    const double G[4] = {0.01, 0, 0, 1};
    const double g[2] = {-1, -1};
    rgContactCase* made = rgMakeDenseCase(2, blocks, G, g);
    rgContactSolverDef def = rgWayDef(rg_wayAdmm, 1e-9);
    def.recordHistory = true;
    def.splitIslands = false;
    double lambda[2];
    rgContactReport report;
    rgContactSolver* solver = rgRecord(&def, made, lambda, &report);
    EXPECT_NEAR(report.history[0].penalty, 0.1 * pow(100, 0.2), 0.01);
    rgDestroyContactSolver(solver);
    rgFreeContactCase(made);
}

// The paper's test looks at ADMM's own residuals, absolute or relative to the iterates' sizes.
static void test_paper_stop(void** state) {
    (void)state;
    for (uint64_t seed = 1; seed <= 6; ++seed) {
        rgContactCase* made = rgSmall(seed);
        rgContactSolverDef def = rgWayDef(rg_wayAdmm, 1e-6);
        def.stop = rg_stopPaper;
        def.recordHistory = true;
        def.splitIslands = false;
        double lambda[32];
        rgContactReport absolute, relative;
        rgContactSolver* solver = rgRecord(&def, made, lambda, &absolute);
        for (int k = 0; k < absolute.historyCount; ++k) {
            const rgContactRecord* record = absolute.history + k;
            bool met =
                record->primal <= 1e-6 && record->dual <= 1e-6 && record->complementarity <= 1e-6;
            assert_int_equal(met, k + 1 == absolute.historyCount);
        }
        assert_true(absolute.residual.total < 1e-2);
        rgDestroyContactSolver(solver);
        def.relativeTolerance = 1e-2;
        solver = rgRecord(&def, made, lambda, &relative);
        assert_true(relative.iterationCount < absolute.iterationCount);
        rgDestroyContactSolver(solver);
        rgFreeContactCase(made);
    }
}

// A problem whose impulses are tiny meets the absolute test long before it is solved, and the
// report says so.
static void test_paper_stop_depends_on_units(void** state) {
    (void)state;
    rgContactCaseDef caseDef = {
        .seed = 2, .bodyCount = 4, .contactCount = 5, .mu = 0.6, .state = -1, .impulseScale = 1e-5};
    rgContactCase* made = rgMakeContactCase(&caseDef);
    rgContactSolverDef def = rgWayDef(rg_wayAdmm, 1e-6);
    def.stop = rg_stopPaper;
    double* lambda = rgZeros(made->problem.rowCount);
    rgContactReport report = rgSolveAndCheck(&def, &made->problem, lambda);
    assert_true(report.residual.total > 1e-5);
    assert_true(report.residual.total < 1e-1);
    free(lambda);
    rgFreeContactCase(made);
}

static void test_additions_one_by_one(void** state) {
    (void)state;
    int plain = 0, all = 0;
    for (uint64_t seed = 1; seed <= 6; ++seed) {
        rgContactCase* made = rgSmall(seed);
        for (int additions = 0; additions < 16; ++additions) {
            rgContactSolverDef def = rgWayDef(rg_wayAdmm, 1e-8);
            def.admm.scaling = additions & 1;
            def.admm.relaxation = additions & 2 ? 1.6 : 1;
            def.admm.andersonMemory = additions & 4 ? 10 : 0;
            def.admm.cooldown = additions & 8 ? 5 : 1;
            double* lambda = rgZeros(made->problem.rowCount);
            rgContactReport report = rgSolveAndCheck(&def, &made->problem, lambda);
            if (report.status != rg_contactSolved) {
                fail_msg("additions %d, seed %d: residual %g", additions, (int)seed,
                         report.residual.total);
            }
            plain += additions == 0 ? report.iterationCount : 0;
            all += additions == 15 ? report.iterationCount : 0;
            free(lambda);
        }
        rgFreeContactCase(made);
    }
    print_message("plain %d iterations, all additions %d\n", plain, all);
    assert_true(all < plain);
}

// Type II Anderson on x -> A x + b with A of size 6 ends after about 7 steps; the plain iteration
// contracts by 0.97 only.
static void test_anderson_on_a_linear_map(void** state) {
    (void)state;
    rgArena arena;
    rgArena_Init(&arena, NULL);
    rgAnderson anderson;
    assert_int_equal(rgAnderson_Init(&anderson, 6, 10, rgSelectKernels(rg_kernelsPlain), &arena),
                     rg_ok);
    double x[6] = {0}, image[6];
    static const double diagonal[6] = {0.97, 0.9, -0.5, 0.2, 0.7, 0.95};
    for (int k = 0; k < 14; ++k) {
        for (int i = 0; i < 6; ++i) {
            image[i] = diagonal[i] * x[i] + 0.01 * x[(i + 1) % 6] + 1;
        }
        rgAnderson_Accelerate(&anderson, image);
        memcpy(x, image, sizeof(x));
    }
    double error = 0;
    for (int i = 0; i < 6; ++i) {
        error = fmax(error, fabs(diagonal[i] * x[i] + 0.01 * x[(i + 1) % 6] + 1 - x[i]));
    }
    assert_true(error < 1e-5);
    rgArena_Free(&arena);
}

// Other phases have no penalty; every record carries the judge's residual, the best of which is
// what the report says.
static void test_history_of_auto(void** state) {
    (void)state;
    rgContactCase* made = rgSmall(2);
    for (int way = 0; way < rg_wayCount; ++way) {
        rgContactSolverDef def = rgWayDef((rgWay)way, 1e-9);
        def.recordHistory = true;
        def.splitIslands = false;
        double lambda[32];
        rgContactReport report;
        rgContactSolver* solver = rgRecord(&def, made, lambda, &report);
        assert_true(report.historyCount > 0);
        double best = INFINITY;
        int phases[rg_phaseCount] = {0};
        for (int k = 0; k < report.historyCount; ++k) {
            const rgContactRecord* record = report.history + k;
            bool admm = record->phase == rg_phaseAdmm;
            assert_int_equal(!isnan(record->penalty), admm);
            assert_int_equal(!isnan(record->primal), admm);
            best = fmin(best, record->residual);
            phases[record->phase] += 1;
        }
        for (int p = 0; p < rg_phaseCount; ++p) {
            assert_int_equal(phases[p], report.phaseIterations[p]);
        }
        // The record may stand for the iterate before its projection; rounding and that are all.
        EXPECT_NEAR(report.residual.total, best, 1e-9);
        rgDestroyContactSolver(solver);
    }
    // Without the switch there is no history.
    rgContactSolverDef def = rgWayDef(rg_wayAuto, 1e-9);
    double* lambda = rgZeros(made->problem.rowCount);
    rgContactReport report = rgSolveAndCheck(&def, &made->problem, lambda);
    assert_null(report.history);
    assert_int_equal(report.historyCount, 0);
    free(lambda);
    rgFreeContactCase(made);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_iterates_are_those_of_algorithm_1),
        cmocka_unit_test(test_linear_rule),
        cmocka_unit_test(test_spectral_rule),
        cmocka_unit_test(test_first_penalty),
        cmocka_unit_test(test_paper_stop),
        cmocka_unit_test(test_paper_stop_depends_on_units),
        cmocka_unit_test(test_additions_one_by_one),
        cmocka_unit_test(test_anderson_on_a_linear_map),
        cmocka_unit_test(test_history_of_auto),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
