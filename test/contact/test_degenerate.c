// The edges: nothing to solve, nothing that can move, no solution, extreme friction, broken and
// good warm starts, limits.
#include "solve.h"

static const double rgIdentity[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};

static void test_no_contacts(void** state) {
    (void)state;
    for (int way = 0; way < rg_wayCount; ++way) {
        for (int kind = 0; kind < 3; ++kind) {
            rgContactSolverDef def = rgWayDef((rgWay)way, 1e-9);
            rgContactSolver* solver = NULL;
            assert_int_equal(rgCreateContactSolver(&def, &solver), rg_ok);
            int zero = 0;
            rgContactProblem empty = {.delassus = {.kind = (rgDelassusKind)kind,
                                                   .sparse = {.rowStart = &zero},
                                                   .mass = {.rowStart = &zero},
                                                   .jacobian = {.rowStart = &zero}}};
            rgContactReport report;
            assert_int_equal(rgContactSolver_Solve(solver, &empty, NULL, NULL, &report), rg_ok);
            assert_int_equal(report.status, rg_contactSolved);
            assert_int_equal(report.islandCount, 0);
            assert_true(report.residual.total == 0);
            rgDestroyContactSolver(solver);
        }
    }
}

static void test_nothing_moves(void** state) {
    (void)state;
    rgBlock block = rgContactBlock(0, 0.5);
    const double g[3] = {0, 0, 0};
    rgContactCase* made = rgMakeDenseCase(1, &block, rgIdentity, g);
    for (int way = 0; way < rg_wayCount; ++way) {
        rgContactSolverDef def = rgWayDef((rgWay)way, 1e-9);
        double lambda[3] = {1, 2, 3}; // a useless warm start
        rgContactReport report = rgSolveAndCheck(&def, &made->problem, lambda);
        assert_int_equal(report.status, rg_contactSolved);
        assert_true(rgLargestNumber(3, lambda) == 0);
        assert_int_equal(report.iterationCount, 0);
    }
    rgFreeContactCase(made);
}

// Two fixed bodies: G_ii = 0. Feasible g: no impulse. Closing g: provably infeasible, and said so.
static void test_rows_that_nothing_moves(void** state) {
    (void)state;
    rgBlock block = rgContactBlock(0, 0.5);
    const double zero[9] = {0};
    const double opening[3] = {1, 0, 0.5}, closing[3] = {0, 0, -1};
    for (int way = 0; way < rg_wayCount; ++way) {
        rgContactSolverDef def = rgWayDef((rgWay)way, 1e-9);
        double lambda[3] = {0};
        rgContactCase* made = rgMakeDenseCase(1, &block, zero, opening);
        assert_int_equal(rgSolveAndCheck(&def, &made->problem, lambda).status, rg_contactSolved);
        assert_true(rgLargestNumber(3, lambda) == 0);
        rgFreeContactCase(made);
        made = rgMakeDenseCase(1, &block, zero, closing);
        rgContactReport report = rgSolveAndCheck(&def, &made->problem, lambda);
        assert_int_equal(report.status, rg_contactInfeasible);
        assert_true(report.residual.total >= 0.5);
        assert_true(isfinite(rgLargestNumber(3, lambda)));
        rgFreeContactCase(made);
    }
    // Beside a good contact, the impossible one does not spoil it.
    rgBlock blocks[2] = {rgContactBlock(0, 0.5), rgContactBlock(3, 0.5)};
    double G[36] = {0};
    G[0] = G[7] = G[14] = 1;
    const double g[6] = {0, 0, -1, 0, 0, -1};
    rgContactCase* made = rgMakeDenseCase(2, blocks, G, g);
    double lambda[6] = {0};
    rgContactSolverDef def = rgDefaultContactSolverDef();
    assert_int_equal(rgSolveAndCheck(&def, &made->problem, lambda).status, rg_contactInfeasible);
    EXPECT_NEAR(lambda[2], 1, 1e-6);
    rgFreeContactCase(made);
}

// Towers of masses 1, r, r^2 ..., up to 1e12, in any order: their floor can push them out. Neither
// the large impulse nor rounding in G proves the contrary.
static void test_heavy_towers_are_feasible(void** state) {
    (void)state;
    enum { height = 5, rows = 3 * height };
    for (int k = 0; k < 45; ++k) {
        double ratio = pow(10, 1 + k % 3), G[rows * rows] = {0}, g[rows] = {0}, inverse[height];
        rgBlock blocks[height];
        for (int i = 0; i < height; ++i) {
            inverse[i] = pow(ratio, -(double)((i * (1 + k / 12)) % height));
        }
        for (int i = 0; i < height; ++i) { // contact i is below body i
            blocks[i] = rgContactBlock(3 * i, 0.5);
            for (int a = 0; a < 3; ++a) {
                int r = 3 * i + a;
                G[r * rows + r] = inverse[i] + (i > 0 ? inverse[i - 1] : 0);
                if (i > 0) {
                    G[r * rows + r - 3] = G[(r - 3) * rows + r] = -inverse[i - 1];
                }
            }
        }
        g[2] = -1e-2;
        rgContactCase* made = rgMakeDenseCase(height, blocks, G, g);
        for (int way = 0; way < rg_wayCount; ++way) {
            rgContactSolverDef def = rgWayDef((rgWay)way, 1e-9);
            double lambda[rows] = {0};
            rgContactReport report = rgSolveAndCheck(&def, &made->problem, lambda);
            assert_int_not_equal(report.status, rg_contactInfeasible);
        }
        rgFreeContactCase(made);
    }
}

// A loop with a compliance of 1e-9 holds the normal of a contact and drives it into the surface.
// The contact moves as far as the loop gives way, so its impulse balances the loop's.
static void test_contact_beside_a_loop(void** state) {
    (void)state;
    rgBlock blocks[2] = {{.kind = rg_blockFree, .firstRow = 0, .rowCount = 1},
                         rgContactBlock(1, 0.5)};
    double G[16] = {1, 0, 0, 1, 0, 1, 0, 0, 0, 0, 1, 0, 1, 0, 0, 1};
    double g[4] = {1e-3, 0, 0, 0}, R[4] = {1e-9, 0, 0, 0}, lambda[4] = {0};
    rgContactCase* made = rgMakeDenseCase(2, blocks, G, g);
    rgContactProblem problem = made->problem;
    problem.compliance = R;
    rgContactSolverDef def = rgDefaultContactSolverDef();
    def.form = rg_formDense;
    rgContactReport report = rgSolveAndCheck(&def, &problem, lambda);
    assert_int_equal(report.status, rg_contactSolved);
    EXPECT_NEAR(lambda[3], 1e-3 / R[0], 1);
    EXPECT_NEAR(lambda[0], -1e-3 / R[0], 1);
    rgFreeContactCase(made);
}

// A contact whose normal nothing can move stands in the way of nobody: it is named and left out,
// whichever of the two it is and however the matrix is given and held.
static void test_normal_that_nothing_moves(void** state) {
    (void)state;
    rgBlock blocks[2] = {rgContactBlock(0, 0.5), rgContactBlock(3, 0.5)};
    for (int k = 0; k < 8; ++k) {
        int good = 3 * (k % 2), bad = 3 - good;
        double G[36] = {0}, g[6] = {0};
        for (int i = 0; i < 6; ++i) {
            G[7 * i] = 1;
        }
        G[7 * (bad + 2)] = 1e-30; // rounding
        G[(good + 1) * 6 + bad] = G[bad * 6 + good + 1] = 0.2;
        g[good] = 0.1;
        g[good + 2] = -1;
        g[bad] = 0.3;
        g[bad + 2] = -2;
        rgContactCase* made = rgMakeDenseCase(2, blocks, G, g);
        rgContactProblem problem =
            rgContactCase_UseForm(made, k & 2 ? rg_delassusSparse : rg_delassusDense);
        double lambda[6] = {0};
        rgContactSolverDef def = rgDefaultContactSolverDef();
        def.form = k & 4 ? rg_formSparse : rg_formDense;
        rgContactReport report = rgSolveAndCheck(&def, &problem, lambda);
        assert_int_equal(report.status, rg_contactInfeasible);
        assert_int_equal(report.conflictCount, 1);
        assert_int_equal(report.residual.block, bad / 3);
        EXPECT_NEAR(lambda[good], -0.1, 1e-6);
        EXPECT_NEAR(lambda[good + 1], 0, 1e-6);
        EXPECT_NEAR(lambda[good + 2], 1, 1e-6);
        assert_true(rgLargestNumber(3, lambda + bad) == 0);
        rgFreeContactCase(made);
    }
}

// Two equalities that contradict each other, a contact squeezed between two moving walls: no
// solution. Every method ends by itself or by the limit, with finite impulses.
// A contact that nothing moves along its normal is left out; those behind it keep their places, in
// every form. Found by fuzzing: sparse input read and wrote beyond the matrix of the others.
static void test_others_than_the_immovable(void** state) {
    (void)state;
    enum { rg_rows = 9 };
    double G[rg_rows * rg_rows] = {0};
    const double g[rg_rows] = {0, 0, -1, 0.3, 0, -1, 0, 0.2, -1};
    int rowStart[rg_rows + 1], column[rg_rows * rg_rows];
    rgBlock blocks[3] = {rgContactBlock(0, 0.5), rgContactBlock(3, 0.5), rgContactBlock(6, 0.5)};
    for (int i = 0; i < rg_rows; ++i) {
        for (int j = 0; j < rg_rows; ++j) {
            G[i * rg_rows + j] = (i == j ? 2 : 0) + (i % 3 == j % 3 ? 1 : 0);
            G[i * rg_rows + j] *= i != 2 && j != 2; // the first normal
            column[i * rg_rows + j] = j;
        }
        rowStart[i] = i * rg_rows;
    }
    rowStart[rg_rows] = rg_rows * rg_rows;
    rgContactProblem problem = {
        .rowCount = rg_rows, .blockCount = 3, .blocks = blocks, .freeVelocity = g};
    problem.delassus = (rgDelassus){.kind = rg_delassusDense, .matrix = G};
    double answers[3][rg_rows] = {{0}};
    for (int way = 0; way < 3; ++way) { // dense input, then sparse input in either form
        rgContactSolverDef def = rgDefaultContactSolverDef();
        rgContactReport report;
        rgContactSolver* solver = NULL;
        def.form = way == 2 ? rg_formSparse : rg_formDense;
        if (way > 0) {
            problem.delassus.kind = rg_delassusSparse;
            problem.delassus.sparse = (rgSparse){rg_rows, rg_rows, rowStart, column, G};
        }
        assert_int_equal(rgCreateContactSolver(&def, &solver), rg_ok);
        assert_int_equal(rgContactSolver_Solve(solver, &problem, answers[way], NULL, &report),
                         rg_ok);
        assert_int_equal(report.status, rg_contactInfeasible);
        assert_int_equal(report.conflictCount, 1);
        assert_int_equal(report.conflict[0], 0);
        assert_true(rgLargestNumber(3, answers[way]) == 0);
        rgDestroyContactSolver(solver);
        for (int i = 0; i < rg_rows; ++i) { // 1e-6, the tolerance, times impulses of order 1
            EXPECT_NEAR(answers[way][i], answers[0][i], 1e-5);
        }
    }
    assert_true(answers[0][5] > 0.1 && answers[0][8] > 0.1);
}

static void rgExpectNoSolution(const rgContactCase* made) {
    int n = made->problem.rowCount;
    for (int way = 0; way < rg_wayCount; ++way) {
        rgContactSolverDef def = rgWayDef((rgWay)way, 1e-9);
        def.maxIterations = 2000;
        double* lambda = rgZeros(n);
        rgContactReport report = rgSolveAndCheck(&def, &made->problem, lambda);
        assert_true(report.status == rg_contactStalled || report.status == rg_contactLimit ||
                    report.status == rg_contactInfeasible);
        assert_true(report.iterationCount <= 2000);
        assert_true(report.residual.total > 1e-3);
        assert_true(isfinite(rgLargestNumber(n, lambda)));
        double* nothing = rgZeros(n);
        double idle = rgContactProblem_Residual(&made->problem, nothing);
        assert_true(idle == 1);
        if (way == rg_wayAuto) {
            // Proven, soon, with every block named, and with impulses that press but stay bounded.
            assert_int_equal(report.status, rg_contactInfeasible);
            assert_int_equal(report.conflictCount, made->problem.blockCount);
            assert_true(report.iterationCount < 250);
            double largest = rgLargestNumber(n, lambda);
            assert_true(largest > 1e2 && largest < 1e5);
        } else {
            // The best iterate: not worse than doing nothing.
            assert_true(report.residual.total <= idle * (1 + 1e-12));
        }
        free(nothing);
        free(lambda);
    }
}

static void test_no_solution(void** state) {
    (void)state;
    rgBlock free2 = {.kind = rg_blockFree, .rowCount = 2};
    const double ones[4] = {1, 1, 1, 1};
    const double apart[2] = {1, -1};
    rgContactCase* made = rgMakeDenseCase(1, &free2, ones, apart);
    rgExpectNoSolution(made);
    rgFreeContactCase(made);
    rgBlock half2 = {.kind = rg_blockHalfLine, .rowCount = 2};
    const double opposed[4] = {1, -1, -1, 1};
    const double closing[2] = {-1, -1};
    made = rgMakeDenseCase(1, &half2, opposed, closing);
    rgExpectNoSolution(made);
    rgFreeContactCase(made);
    // One body between two walls that approach each other: normals opposed, friction in the way.
    rgBlock walls[2] = {rgContactBlock(0, 0.3), rgContactBlock(3, 0.3)};
    double G[36];
    static const double direction[6] = {1, 1, 1, 1, -1, -1};
    for (int i = 0; i < 6; ++i) {
        for (int j = 0; j < 6; ++j) {
            G[6 * i + j] = i % 3 == j % 3 ? direction[i] * direction[j] : 0;
        }
    }
    const double g[6] = {0.1, 0, -1, 0.1, 0, -1};
    made = rgMakeDenseCase(2, walls, G, g);
    rgExpectNoSolution(made);
    rgFreeContactCase(made);
}

// Two islands that fail in different ways: no progress says more than the limit, whichever comes
// first. Alone, the interior point stalls on a squeeze and runs on with a contradiction.
static void test_stalled_is_worse_than_limit(void** state) {
    (void)state;
    const double squeeze[4] = {1, -1, -1, 1}, contradiction[4] = {1, 1, 1, 1};
    const double closing[2] = {-1, -1}, apart[2] = {1, -1};
    const rgBlock half = {.kind = rg_blockHalfLine, .rowCount = 2};
    const rgBlock equal = {.kind = rg_blockFree, .rowCount = 2};
    rgContactSolverDef def = rgWayDef(rg_wayInterior, 1e-9);
    def.maxIterations = 100;
    double lambda[4] = {0};
    rgContactCase* made = rgMakeDenseCase(1, &half, squeeze, closing);
    assert_int_equal(rgSolveAndCheck(&def, &made->problem, lambda).status, rg_contactStalled);
    rgFreeContactCase(made);
    memset(lambda, 0, sizeof(lambda));
    made = rgMakeDenseCase(1, &equal, contradiction, apart);
    assert_int_equal(rgSolveAndCheck(&def, &made->problem, lambda).status, rg_contactLimit);
    rgFreeContactCase(made);
    for (int first = 0; first < 2; ++first) {
        rgBlock blocks[2] = {first == 0 ? half : equal, first == 0 ? equal : half};
        double G[16] = {0}, g[4];
        blocks[1].firstRow = 2;
        for (int k = 0; k < 4; ++k) {
            const double* from = (k < 2) == (first == 0) ? squeeze : contradiction;
            const double* free = (k < 2) == (first == 0) ? closing : apart;
            G[4 * k + 2 * (k / 2)] = from[2 * (k % 2)];
            G[4 * k + 2 * (k / 2) + 1] = from[2 * (k % 2) + 1];
            g[k] = free[k % 2];
        }
        made = rgMakeDenseCase(2, blocks, G, g);
        memset(lambda, 0, sizeof(lambda));
        rgContactReport report = rgSolveAndCheck(&def, &made->problem, lambda);
        assert_int_equal(report.islandCount, 2);
        assert_int_equal(report.status, rg_contactStalled);
        rgFreeContactCase(made);
    }
}

// Solvable although the matrix is far from what mechanics gives: huge, tiny and zero friction.
static void test_extreme_friction(void** state) {
    (void)state;
    static const double mu[] = {0, 1e-12, 1e-6, 100, 1e4, 1e8};
    for (int k = 0; k < 6; ++k) {
        for (uint64_t seed = 1; seed <= 5; ++seed) {
            rgContactCaseDef caseDef = {
                .seed = seed, .bodyCount = 4, .contactCount = 4, .mu = 0.5, .state = 1};
            rgContactCase* made = rgMakeContactCase(&caseDef);
            for (int b = 0; b < 4; ++b) {
                made->blocks[b].mu = mu[k];
            }
            // The constructed sticking solution holds for every mu >= 0.5.
            rgContactSolverDef def = rgWayDef(rg_wayAuto, 1e-6);
            free(rgMustSolve(rg_wayAuto, &def, &made->problem, seed));
            rgFreeContactCase(made);
        }
    }
}

// Slightly indefinite G, as rounding makes it.
static void test_rounding_makes_indefinite(void** state) {
    (void)state;
    for (uint64_t seed = 1; seed <= 5; ++seed) {
        rgContactCaseDef caseDef = {
            .seed = seed, .bodyCount = 3, .contactCount = 10, .mu = 0.5, .state = -1};
        rgContactCase* made = rgMakeContactCase(&caseDef);
        int n = made->problem.rowCount;
        for (int i = 0; i < n; ++i) {
            made->G[i * n + i] -= 1e-9;
        }
        rgContactSolverDef def = rgWayDef(rg_wayAuto, 1e-6);
        free(rgMustSolve(rg_wayAuto, &def, &made->problem, seed));
        rgFreeContactCase(made);
    }
}

static void test_box_without_zero(void** state) {
    (void)state;
    // A motor that must push by at least 1 against a stop: g = 0, and still something happens.
    rgBlock blocks[2] = {
        {.kind = rg_blockBox, .firstRow = 0, .rowCount = 1, .lower = 1, .upper = 2},
        {.kind = rg_blockHalfLine, .firstRow = 1, .rowCount = 1}};
    const double G[4] = {1, -0.5, -0.5, 1};
    const double g[2] = {0, 0};
    rgContactCase* made = rgMakeDenseCase(2, blocks, G, g);
    for (int way = 0; way < rg_wayCount; ++way) {
        rgContactSolverDef def = rgWayDef((rgWay)way, 1e-9);
        double* lambda = rgMustSolve((rgWay)way, &def, &made->problem, 0);
        EXPECT_NEAR(lambda[0], 1, 1e-6);
        EXPECT_NEAR(lambda[1], 0.5, 1e-6);
        free(lambda);
    }
    rgFreeContactCase(made);
}

static void test_bounds_that_fix(void** state) {
    (void)state;
    rgBlock blocks[2] = {
        {.kind = rg_blockBox, .firstRow = 0, .rowCount = 1, .lower = 0.5, .upper = 0.5},
        {.kind = rg_blockBox, .firstRow = 1, .rowCount = 1, .lower = -INFINITY, .upper = INFINITY}};
    const double G[4] = {1, 0.5, 0.5, 1};
    const double g[2] = {-3, 1};
    rgContactCase* made = rgMakeDenseCase(2, blocks, G, g);
    for (int way = 0; way < rg_wayCount; ++way) {
        rgContactSolverDef def = rgWayDef((rgWay)way, 1e-9);
        double* lambda = rgMustSolve((rgWay)way, &def, &made->problem, 0);
        EXPECT_NEAR(lambda[0], 0.5, 1e-8);
        EXPECT_NEAR(lambda[1], -1.25, 1e-6);
        free(lambda);
    }
    rgFreeContactCase(made);
}

// One contact on a plane, all three regimes, known in closed form.
static void test_one_contact_in_closed_form(void** state) {
    (void)state;
    rgBlock block = rgContactBlock(0, 0.5);
    const double m = 4; // G = I / m
    double G[9] = {1 / m, 0, 0, 0, 1 / m, 0, 0, 0, 1 / m};
    for (int way = 0; way < rg_wayCount; ++way) {
        rgContactSolverDef def = rgWayDef((rgWay)way, 1e-9);
        const double slow[3] = {0.3, 0.4, -2}, fast[3] = {3, 4, -2}, away[3] = {3, 4, 2};
        rgContactCase* made = rgMakeDenseCase(1, &block, G, slow);
        double* lambda = rgMustSolve((rgWay)way, &def, &made->problem, 0);
        EXPECT_NEAR(lambda[0], -1.2, 1e-6); // sticks
        EXPECT_NEAR(lambda[1], -1.6, 1e-6);
        EXPECT_NEAR(lambda[2], 8, 1e-6);
        free(lambda);
        rgFreeContactCase(made);
        made = rgMakeDenseCase(1, &block, G, fast);
        lambda = rgMustSolve((rgWay)way, &def, &made->problem, 0);
        EXPECT_NEAR(lambda[0], -2.4, 1e-6); // slides: 0.5 * 8 against (0.6, 0.8)
        EXPECT_NEAR(lambda[1], -3.2, 1e-6);
        EXPECT_NEAR(lambda[2], 8, 1e-6);
        free(lambda);
        rgFreeContactCase(made);
        made = rgMakeDenseCase(1, &block, G, away);
        lambda = rgMustSolve((rgWay)way, &def, &made->problem, 0);
        assert_true(rgLargestNumber(3, lambda) == 0);
        free(lambda);
        rgFreeContactCase(made);
    }
}

static void test_warm_start(void** state) {
    (void)state;
    for (int way = 0; way < rg_wayCount; ++way) {
        int cold = 0, warm = 0;
        for (uint64_t seed = 1; seed <= 5; ++seed) {
            rgContactCaseDef caseDef = {
                .seed = seed, .bodyCount = 8, .contactCount = 8, .mu = 0.5, .state = -1};
            rgContactCase* made = rgMakeContactCase(&caseDef);
            int n = made->problem.rowCount;
            rgContactSolverDef def = rgWayDef((rgWay)way, 1e-8);
            double* lambda = rgZeros(n);
            cold += rgSolveAndCheck(&def, &made->problem, lambda).iterationCount;
            // The answer itself is recognised at once.
            rgContactReport again = rgSolveAndCheck(&def, &made->problem, lambda);
            assert_int_equal(again.status, rg_contactSolved);
            assert_int_equal(again.iterationCount, 0);
            // A little later: the free velocity has moved by a thousandth.
            rgRandom random = {seed};
            for (int i = 0; i < n; ++i) {
                made->g[i] *= 1 + 1e-3 * rgRandom_Normal(&random);
            }
            rgContactReport report = rgSolveAndCheck(&def, &made->problem, lambda);
            assert_int_equal(report.status, rg_contactSolved);
            warm += report.iterationCount;
            free(lambda);
            rgFreeContactCase(made);
        }
        print_message("%s: %d iterations cold, %d warm\n", rgWayNames[way], cold, warm);
        if (way != rg_wayInterior) { // it starts inside the cones whatever it is given
            assert_true(warm < cold);
        }
    }
}

// A point between two walls that brace it, one of them a little steeper than when the impulses were
// found: of 10 000 times its weight on either side, what is left after a few steps is what friction
// needs and not much more.
static void test_braced_start_fades(void** state) {
    (void)state;
    rgBlock blocks[2] = {rgContactBlock(0, 0.5), rgContactBlock(3, 0.5)};
    double lean = 1e-3, weight = 0.01;
    const double J[6][3] = {{0, 1, 0},
                            {0, 0, 1},
                            {1, 0, 0},
                            {0, 1, 0},
                            {sin(lean), 0, cos(lean)},
                            {-cos(lean), 0, sin(lean)}};
    double G[36], g[6], lambda[6] = {0, 0, 1e4 * weight, 0, 0, 1e4 * weight};
    for (int i = 0; i < 36; ++i) {
        const double *a = J[i / 6], *b = J[i % 6];
        G[i] = a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
        g[i / 6] = -weight * a[2];
    }
    rgContactCase* made = rgMakeDenseCase(2, blocks, G, g);
    rgContactSolverDef def = rgDefaultContactSolverDef();
    for (int step = 0; step < 5; ++step) {
        assert_int_equal(rgSolveAndCheck(&def, &made->problem, lambda).status, rg_contactSolved);
    }
    print_message("braced with %.3g times the weight\n", rgLargestNumber(6, lambda) / weight);
    assert_true(rgLargestNumber(6, lambda) < 100 * weight);
    rgFreeContactCase(made);
}

static void test_broken_warm_start(void** state) {
    (void)state;
    rgContactCaseDef caseDef = {
        .seed = 3, .bodyCount = 6, .contactCount = 6, .mu = 0.5, .state = -1};
    rgContactCase* made = rgMakeContactCase(&caseDef);
    int n = made->problem.rowCount;
    static const double bad[] = {NAN, INFINITY, -INFINITY, 1e300};
    for (int way = 0; way < rg_wayCount; ++way) {
        for (int k = 0; k < 4; ++k) {
            rgContactSolverDef def = rgWayDef((rgWay)way, 1e-9);
            double* lambda = rgZeros(n);
            lambda[1] = lambda[5] = bad[k];
            if (k == 3) {
                lambda[1] = lambda[5] = 100; // far from the answer, and outside the cone
            }
            rgContactReport report = rgSolveAndCheck(&def, &made->problem, lambda);
            if (report.status != rg_contactSolved) {
                fail_msg("%s, start with %g: residual %g", rgWayNames[way], bad[k],
                         report.residual.total);
            }
            free(lambda);
        }
    }
    rgFreeContactCase(made);
}

static void test_iteration_limit(void** state) {
    (void)state;
    rgContactCaseDef caseDef = {
        .seed = 3, .bodyCount = 6, .contactCount = 12, .mu = 0.8, .state = -1};
    rgContactCase* made = rgMakeContactCase(&caseDef);
    int n = made->problem.rowCount;
    for (int way = 0; way < rg_wayCount; ++way) {
        double last = INFINITY;
        for (int limit = 0; limit <= 4; ++limit) {
            rgContactSolverDef def = rgWayDef((rgWay)way, 1e-13);
            def.maxIterations = limit;
            double* lambda = rgZeros(n);
            rgContactReport report = rgSolveAndCheck(&def, &made->problem, lambda);
            assert_true(report.iterationCount <= limit);
            int sum = 0;
            for (int p = 0; p < rg_phaseCount; ++p) {
                sum += report.phaseIterations[p];
            }
            for (int p = rg_phaseCount; p < RG_PHASE_CAPACITY; ++p) {
                assert_int_equal(report.phaseIterations[p], 0); // room that nothing fills
            }
            assert_int_equal(sum, report.iterationCount);
            if (report.status != rg_contactSolved) {
                assert_int_equal(report.status, rg_contactLimit);
            }
            // The best is kept: more iterations never return something worse.
            assert_true(report.residual.total <= last * (1 + 1e-9));
            last = report.residual.total;
            free(lambda);
        }
    }
    rgFreeContactCase(made);
}

// The status says whether the tolerance holds, however the method ended.
static void test_status_at_the_edge(void** state) {
    (void)state;
    rgContactCaseDef caseDef = {
        .seed = 5, .bodyCount = 6, .contactCount = 6, .mu = 0.5, .state = -1};
    rgContactCase* made = rgMakeContactCase(&caseDef);
    double* lambda = rgZeros(made->problem.rowCount);
    rgContactSolverDef def = rgWayDef(rg_wayPgs, 1e-12);
    def.maxIterations = 7;
    double reached = rgSolveAndCheck(&def, &made->problem, lambda).residual.total;
    for (double share = 0.825; share < 1.15; share += 0.05) {
        def.tolerance = reached * share;
        memset(lambda, 0, (size_t)made->problem.rowCount * sizeof(double));
        rgContactReport report = rgSolveAndCheck(&def, &made->problem, lambda);
        assert_int_equal(report.status, share > 1 ? rg_contactSolved : rg_contactLimit);
    }
    free(lambda);
    rgFreeContactCase(made);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_no_contacts),
        cmocka_unit_test(test_nothing_moves),
        cmocka_unit_test(test_rows_that_nothing_moves),
        cmocka_unit_test(test_heavy_towers_are_feasible),
        cmocka_unit_test(test_contact_beside_a_loop),
        cmocka_unit_test(test_normal_that_nothing_moves),
        cmocka_unit_test(test_others_than_the_immovable),
        cmocka_unit_test(test_no_solution),
        cmocka_unit_test(test_stalled_is_worse_than_limit),
        cmocka_unit_test(test_extreme_friction),
        cmocka_unit_test(test_rounding_makes_indefinite),
        cmocka_unit_test(test_box_without_zero),
        cmocka_unit_test(test_bounds_that_fix),
        cmocka_unit_test(test_one_contact_in_closed_form),
        cmocka_unit_test(test_warm_start),
        cmocka_unit_test(test_braced_start_fades),
        cmocka_unit_test(test_broken_warm_start),
        cmocka_unit_test(test_iteration_limit),
        cmocka_unit_test(test_status_at_the_edge),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
