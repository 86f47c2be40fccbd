// The inverse problem: impulses that go with a wanted contact velocity (paper, Algorithm 2).
#include "solve.h"

static rgInverseProblem rgInverse(const rgBlock* block, const double* velocity,
                                  const double* compliance) {
    rgInverseProblem problem = rgDefaultInverseProblem();
    problem.rowCount = block->rowCount;
    problem.blockCount = 1;
    problem.blocks = block;
    problem.velocity = velocity;
    problem.compliance = compliance;
    return problem;
}

static rgContactReport rgSolveInverse(const rgInverseProblem* problem, double* lambda) {
    rgContactReport report;
    assert_int_equal(rgInverseProblem_Solve(problem, lambda, &report), rg_ok);
    assert_int_equal(report.status == rg_contactSolved,
                     report.residual.total <= problem->tolerance);
    return report;
}

// R > 0 and sliding: lambda_n = -v_n / R_n, and friction takes the rest on the cone.
static void test_compliant_closed_form(void** state) {
    (void)state;
    rgBlock block = rgContactBlock(0, 0.5);
    const double R[3] = {0, 0, 0.02};
    const double velocity[3] = {0.3, -0.4, -0.1};
    rgInverseProblem problem = rgInverse(&block, velocity, R);
    double lambda[3] = {0};
    rgContactReport report = rgSolveInverse(&problem, lambda);
    assert_int_equal(report.status, rg_contactSolved);
    EXPECT_NEAR(lambda[2], 5, 1e-4); // sigma_n = 0 while sliding
    EXPECT_NEAR(lambda[0], -1.5, 1e-4);
    EXPECT_NEAR(lambda[1], 2, 1e-4);
    // Opening: nothing acts.
    const double away[3] = {0.3, -0.4, 0.1};
    problem = rgInverse(&block, away, R);
    double none[3] = {0, 0, 1};
    assert_int_equal(rgSolveInverse(&problem, none).status, rg_contactSolved);
    EXPECT_NEAR(rgLargestNumber(3, none), 0, 1e-9);
}

// Compliance in all rows: solve sigma = R lambda + v by hand when the contact sticks.
static void test_compliant_stick(void** state) {
    (void)state;
    rgBlock block = rgContactBlock(0, 0.8);
    const double R[3] = {0.01, 0.01, 0.02};
    const double velocity[3] = {0.01, 0.02, -0.1};
    rgInverseProblem problem = rgInverse(&block, velocity, R);
    double lambda[3] = {0};
    assert_int_equal(rgSolveInverse(&problem, lambda).status, rg_contactSolved);
    EXPECT_NEAR(lambda[0], -1, 1e-3);
    EXPECT_NEAR(lambda[1], -2, 1e-3);
    EXPECT_NEAR(lambda[2], 5, 1e-3);
}

// Rigid, sliding, v_n = 0: every impulse on the ray against the slip is an answer. The wanted
// normal impulse of lambda0 on that ray is kept.
static void test_rigid_keeps_the_ray(void** state) {
    (void)state;
    rgBlock block = rgContactBlock(0, 0.5);
    const double velocity[3] = {0.6, 0.8, 0};
    rgInverseProblem problem = rgInverse(&block, velocity, NULL);
    for (double normal = 0; normal <= 8; normal += 2) {
        double lambda[3] = {-0.5 * normal * 0.6, -0.5 * normal * 0.8, normal};
        const double wanted[3] = {lambda[0], lambda[1], lambda[2]};
        rgContactReport report = rgSolveInverse(&problem, lambda);
        assert_int_equal(report.status, rg_contactSolved);
        EXPECT_NEAR(rgLargestDifference(3, lambda, wanted), 0, 1e-6 * (1 + normal));
    }
    // lambda0 = 0 gives no impulse for any velocity that contacts allow.
    const double opening[3] = {0.6, 0.8, 0.1};
    problem = rgInverse(&block, opening, NULL);
    double zero[3] = {0};
    assert_int_equal(rgSolveInverse(&problem, zero).status, rg_contactSolved);
    assert_true(rgLargestNumber(3, zero) == 0);
}

// A start off the ray is turned onto it.
static void test_rigid_start_off_the_ray(void** state) {
    (void)state;
    rgBlock block = rgContactBlock(0, 0.5);
    const double velocity[3] = {1, 0, 0};
    rgInverseProblem problem = rgInverse(&block, velocity, NULL);
    double lambda[3] = {0, 0.2, 2};
    assert_int_equal(rgSolveInverse(&problem, lambda).status, rg_contactSolved);
    assert_true(lambda[2] > 0);
    EXPECT_NEAR(lambda[0], -0.5 * lambda[2], 1e-5 * lambda[2]);
    EXPECT_NEAR(lambda[1], 0, 1e-5 * lambda[2]);
}

// Without Gamma a sliding velocity with v_n = 0 lies outside K*: forces grow without bound.
static void test_relaxed_model_diverges(void** state) {
    (void)state;
    rgBlock block = rgContactBlock(0, 0.5);
    const double velocity[3] = {1, 0, 0};
    double last = 0;
    for (int limit = 1; limit <= 10; limit += 3) {
        rgInverseProblem problem = rgInverse(&block, velocity, NULL);
        problem.model = rg_modelCcp;
        problem.maxIterations = limit;
        double lambda[3] = {0};
        rgContactReport report = rgSolveInverse(&problem, lambda);
        assert_int_not_equal(report.status, rg_contactSolved);
        assert_true(lambda[2] > last + 1e6); // about velocity / rho per iteration
        last = lambda[2];
    }
    // The exact model solves the same velocity.
    rgInverseProblem exact = rgInverse(&block, velocity, NULL);
    double lambda[3] = {0};
    assert_int_equal(rgSolveInverse(&exact, lambda).status, rg_contactSolved);
}

static void test_impossible_velocity_stalls(void** state) {
    (void)state;
    rgBlock block = rgContactBlock(0, 0.5);
    const double into[3] = {0.1, 0, -1};
    rgInverseProblem problem = rgInverse(&block, into, NULL);
    double lambda[3] = {0};
    rgContactReport report = rgSolveInverse(&problem, lambda);
    assert_int_equal(report.status, rg_contactStalled);
    assert_true(report.iterationCount < problem.maxIterations);
    assert_true(report.residual.dual > 0.5);
}

static void test_other_sets(void** state) {
    (void)state;
    rgBlock blocks[3] = {
        {.kind = rg_blockHalfLine, .firstRow = 0, .rowCount = 8},
        {.kind = rg_blockBox, .firstRow = 8, .rowCount = 2, .lower = -1, .upper = 2},
        {.kind = rg_blockFree, .firstRow = 10, .rowCount = 1}};
    double velocity[11], R[11], lambda[11] = {0};
    for (int i = 0; i < 11; ++i) {
        velocity[i] = i % 2 ? 0.5 : -0.1 * (i + 1);
        R[i] = 0.1;
    }
    velocity[9] = 0.05;
    rgInverseProblem problem = rgDefaultInverseProblem();
    problem.rowCount = 11;
    problem.blockCount = 3;
    problem.blocks = blocks;
    problem.velocity = velocity;
    problem.compliance = R;
    assert_int_equal(rgSolveInverse(&problem, lambda).status, rg_contactSolved);
    for (int i = 0; i < 8; ++i) {
        EXPECT_NEAR(lambda[i], fmax(0, -velocity[i] / R[i]), 1e-4);
    }
    EXPECT_NEAR(lambda[8], 2, 1e-6);    // wants 9
    EXPECT_NEAR(lambda[9], -0.5, 1e-4); // inside
    EXPECT_NEAR(lambda[10], 1.1 / 0.1, 1e-3);
}

// Forward: impulses and velocities. Inverse of those velocities with compliance: the same impulses.
static void test_round_trip(void** state) {
    (void)state;
    for (uint64_t seed = 1; seed <= 10; ++seed) {
        rgContactCaseDef caseDef = {.seed = seed,
                                    .bodyCount = 5,
                                    .contactCount = 8,
                                    .mu = -0.8,
                                    .compliance = 0.2,
                                    .state = -1};
        rgContactCase* made = rgMakeContactCase(&caseDef);
        int n = made->problem.rowCount;
        rgContactSolverDef def = rgWayDef(rg_wayAuto, 1e-12);
        double* forward = rgMustSolve(rg_wayAuto, &def, &made->problem, seed);
        // c_ref + gamma = G lambda + g: what the impulses make of the velocities, without R.
        double velocity[64], back[64] = {0};
        assert_int_equal(rgContactProblem_Velocity(&made->problem, forward, velocity), rg_ok);
        for (int i = 0; i < n; ++i) {
            velocity[i] -= made->R[i] * forward[i];
        }
        rgInverseProblem problem = rgDefaultInverseProblem();
        problem.rowCount = n;
        problem.blockCount = made->problem.blockCount;
        problem.blocks = made->blocks;
        problem.velocity = velocity;
        problem.compliance = made->R;
        problem.tolerance = 1e-10;
        assert_int_equal(rgSolveInverse(&problem, back).status, rg_contactSolved);
        EXPECT_NEAR(rgLargestDifference(n, forward, back), 0, 1e-5 * rgLargestNumber(n, forward));
        // Rigid, started at the forward impulses: they are an answer already.
        free(forward);
        rgFreeContactCase(made);
    }
    rgContactCaseDef caseDef = {
        .seed = 4, .bodyCount = 5, .contactCount = 5, .mu = 0.5, .state = -1};
    rgContactCase* rigid = rgMakeContactCase(&caseDef);
    rgInverseProblem problem = rgDefaultInverseProblem();
    problem.rowCount = rigid->problem.rowCount;
    problem.blockCount = rigid->problem.blockCount;
    problem.blocks = rigid->blocks;
    problem.velocity = rigid->sigma;
    double lambda[32];
    memcpy(lambda, rigid->lambda, (size_t)problem.rowCount * sizeof(double));
    rgContactReport report = rgSolveInverse(&problem, lambda);
    assert_int_equal(report.status, rg_contactSolved);
    assert_int_equal(report.iterationCount, 0);
    assert_true(rgLargestDifference(problem.rowCount, lambda, rigid->lambda) < 1e-12);
    rgFreeContactCase(rigid);
}

static void test_refusals(void** state) {
    (void)state;
    rgBlock block = rgContactBlock(0, 0.5);
    const double velocity[3] = {0, 0, 0}, broken[3] = {0, NAN, 0}, negative[3] = {0, 0, -1};
    const rgInverseProblem good = rgInverse(&block, velocity, NULL);
    double lambda[3] = {0}, bad[3] = {0, 0, INFINITY};
    assert_int_equal(rgInverseProblem_Solve(&good, lambda, NULL), rg_ok);
    assert_int_equal(rgInverseProblem_Solve(NULL, lambda, NULL), rg_errorArgument);
    assert_int_equal(rgInverseProblem_Solve(&good, NULL, NULL), rg_errorArgument);
    assert_int_equal(rgInverseProblem_Solve(&good, bad, NULL), rg_errorArgument);
#define REFUSE(field, value)                                                                       \
    do {                                                                                           \
        rgInverseProblem problem = good;                                                           \
        problem.field = value;                                                                     \
        assert_int_equal(rgInverseProblem_Solve(&problem, lambda, NULL), rg_errorArgument);        \
    } while (0)
    REFUSE(velocity, NULL);
    REFUSE(velocity, broken);
    REFUSE(compliance, broken);
    REFUSE(compliance, negative);
    REFUSE(penalty, 0);
    REFUSE(penalty, NAN);
    REFUSE(tolerance, 0);
    REFUSE(tolerance, NAN);
    REFUSE(maxIterations, -1);
    REFUSE(rowCount, 4);
    REFUSE(rowCount, -1);
    REFUSE(blockCount, -1);
    REFUSE(blocks, NULL);
    REFUSE(model, (rgContactModel)7);
#undef REFUSE
    static const double friction[] = {-1, NAN, INFINITY};
    for (int k = 0; k < 3; ++k) {
        rgBlock wrong = rgContactBlock(0, friction[k]);
        rgInverseProblem problem = rgInverse(&wrong, velocity, NULL);
        assert_int_equal(rgInverseProblem_Solve(&problem, lambda, NULL), rg_errorArgument);
    }
    rgBlock rows = rgContactBlock(0, 0.5);
    rows.kind = (rgBlockKind)8;
    rgInverseProblem problem = rgInverse(&rows, velocity, NULL);
    assert_int_equal(rgInverseProblem_Solve(&problem, lambda, NULL), rg_errorArgument);
    rgInverseProblem empty = rgDefaultInverseProblem();
    assert_int_equal(rgInverseProblem_Solve(&empty, NULL, NULL), rg_ok);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_compliant_closed_form),
        cmocka_unit_test(test_compliant_stick),
        cmocka_unit_test(test_rigid_keeps_the_ray),
        cmocka_unit_test(test_rigid_start_off_the_ray),
        cmocka_unit_test(test_relaxed_model_diverges),
        cmocka_unit_test(test_impossible_velocity_stalls),
        cmocka_unit_test(test_other_sets),
        cmocka_unit_test(test_round_trip),
        cmocka_unit_test(test_refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
