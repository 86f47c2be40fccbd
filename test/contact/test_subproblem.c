// Newton's steps with the most wrong contacts solved exactly. newton.17-20.
#include "built.h"

typedef struct rgTally {
    int solved, iterations;
} rgTally;

static void rgCount(const rgContactCaseDef* caseDef, rgSystemForm form, bool eliminate,
                    rgTally* tally) {
    rgBuilt built;
    rgBuilt_Init(&built, caseDef, form);
    rgContactSolverDef def = rgDefaultContactSolverDef();
    double* zero = calloc((size_t)built.problem.rowCount, sizeof(double));
    rgRun run;
    assert_int_equal(rgRun_Init(&run, &def, &built.system, 1e-7, zero), rg_ok);
    rgNewtonOptions options = {
        .limit = 20, .regularisation = 1e-2, .proximal = 1e-4, .eliminate = eliminate};
    assert_int_equal(rgRunNewton(&run, zero, &options), rg_ok);
    tally->solved += rgRun_Solved(&run);
    tally->iterations += run.iterationCount;
    free(zero);
    rgBuilt_Free(&built);
}

// More problems are solved, in fewer iterations: of up to as many contacts as are solved exactly,
// and of many more, among rows of other kinds; in both forms of the matrix.
static void test_elimination_solves_more(void** state) {
    (void)state;
    int cases = RG_SLOW_BUILD ? 20 : 60;
    for (int kind = 0; kind < 3; ++kind) {
        rgTally plain = {0}, eliminated = {0};
        for (int k = 0; k < cases; ++k) {
            rgContactCaseDef def = {.seed = (uint64_t)(2000 + k),
                                    .bodyCount = kind == 0 ? 4 : 30,
                                    .contactCount = kind == 0 ? 15 : 120,
                                    .torsionCount = kind == 2 ? 5 : 0,
                                    .rollingCount = kind == 2 ? 5 : 0,
                                    .halfLineCount = kind == 2 ? 5 : 0,
                                    .mu = 0.8,
                                    .massDecades = 2,
                                    .state = -1};
            rgSystemForm form = k % 2 == 0 ? rg_formVelocity : rg_formDense;
            rgCount(&def, form, false, &plain);
            rgCount(&def, form, true, &eliminated);
        }
        print_message("plain: %d of %d in %d iterations, eliminated: %d in %d\n", plain.solved,
                      cases, plain.iterations, eliminated.solved, eliminated.iterations);
        assert_true(eliminated.solved > plain.solved);
        assert_true(eliminated.iterations < plain.iterations);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_elimination_solves_more),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
