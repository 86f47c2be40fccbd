// Few contacts solved exactly while the others respond linearly: the response, and what it is good
// for.
#include "built.h"

#include "contact/interior.h"

// Factorize what Newton would at the solution, every contact taking part.
static void rgBuilt_Factor(rgBuilt* built) {
    rgSystem* system = &built->system;
    double* lambda = RG_TAKE(&built->arena, double, system->n);
    double* sigma = RG_TAKE(&built->arena, double, system->n);
    double* A = RG_TAKE(&built->arena, double, system->pairCount);
    double* B = RG_TAKE(&built->arena, double, system->pairCount);
    bool* idle = RG_TAKE(&built->arena, bool, system->setCount);
    rgSystem_Load(system, built->made->lambda, lambda);
    rgSystem_Velocity(system, lambda, sigma);
    rgSystem_Linearize(system, 1, lambda, sigma, A, B, idle);
    assert_int_equal(system->ops->factorPair(system, A, B, idle, 1e-3), rg_ok);
}

enum { rg_most = 8, rg_lead = 3 * rg_most };

static int rgThreeRows(const rgSystem* system, int sets[rg_most]) {
    int count = 0;
    for (int i = 0; i < system->setCount && count < rg_most; i += 2) {
        if (system->sets[i].kind == rg_blockCoulomb && system->sets[i].size == 3) {
            sets[count++] = i;
        }
    }
    return count;
}

// X and Y are rows and columns of the inverse and of G times it, in every form.
static void test_response_is_that_of_single_columns(void** state) {
    (void)state;
    static const int bodies[] = {3, 12, 40}; // one dense matrix, and blocks
    for (int k = 0; k < 3; ++k) {
        rgContactCaseDef def = rgMixedCase((uint64_t)(7 + k), bodies[k], 3 * bodies[k]);
        rgBuilt built;
        rgBuilt_Init(&built, &def, rg_formVelocity);
        rgBuilt_Factor(&built);
        int sets[rg_most];
        int count = rgThreeRows(&built.system, sets);
        assert_true(count >= 3);
        double X[rg_lead * rg_lead] = {0}, Y[rg_lead * rg_lead] = {0};
        double X2[rg_lead * rg_lead] = {0}, Y2[rg_lead * rg_lead] = {0};
        rgSystem* system = &built.system;
        assert_true(system->ops->respond != rgSystem_RespondByColumns);
        assert_int_equal(system->ops->respond(system, count, sets, X, Y, rg_lead), rg_ok);
        assert_int_equal(rgSystem_RespondByColumns(system, count, sets, X2, Y2, rg_lead), rg_ok);
        int n = rg_lead * rg_lead;
        double size = rgLargestNumber(n, X2);
        assert_true(size > 0.1);
        EXPECT_NEAR(rgLargestDifference(n, X, X2), 0, 1e-10 * size);
        EXPECT_NEAR(rgLargestDifference(n, Y, Y2), 0, 1e-10 * size);
        rgBuilt_Free(&built);
    }
}

// Iterations of the interior point, or `limit` when it does not get there.
static int rgCountIterations(const rgContactCaseDef* caseDef, int few, int limit, bool* solved) {
    rgBuilt built;
    rgBuilt_Init(&built, caseDef, rg_formVelocity);
    rgContactSolverDef def = rgDefaultContactSolverDef();
    double* zero = calloc((size_t)built.problem.rowCount, sizeof(double));
    rgRun run;
    assert_int_equal(rgRun_Init(&run, &def, &built.system, 1e-7, zero), rg_ok);
    rgInteriorOptions options = {.limit = limit, .size = 1, .slipShare = 1, .few = few};
    assert_int_equal(rgRunInterior(&run, &options), rg_ok);
    *solved = rgRun_Solved(&run);
    int count = run.iterationCount;
    free(zero);
    rgBuilt_Free(&built);
    return count;
}

// Much friction and few bodies: the slip term rules. Steps that are widened solve more, sooner.
static void test_widened_steps_solve_more(void** state) {
    (void)state;
    int solved[2] = {0, 0}, iterations[2] = {0, 0};
    int cases = RG_SLOW_BUILD ? 20 : 100;
    for (int k = 0; k < cases; ++k) {
        rgContactCaseDef def = {.seed = (uint64_t)(1000 + k),
                                .bodyCount = 8,
                                .contactCount = 40,
                                .mu = 1.5,
                                .massDecades = 2,
                                .state = -1};
        for (int way = 0; way < 2; ++way) {
            bool ended;
            iterations[way] += rgCountIterations(&def, way == 0 ? 0 : 20, 60, &ended);
            solved[way] += ended;
        }
    }
    print_message("plain: %d of %d in %d iterations, widened: %d in %d\n", solved[0], cases,
                  iterations[0], solved[1], iterations[1]);
    assert_true(solved[1] > solved[0]);
    assert_true(iterations[1] < iterations[0]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_response_is_that_of_single_columns),
        cmocka_unit_test(test_widened_steps_solve_more),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
