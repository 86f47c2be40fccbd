// The random set: every problem has the solution that it was built from, and auto finds one.
#include "random_case.h"
#include "solve.h"

static void test_solutions_by_construction(void** state) {
    (void)state;
    int compliant = 0, frictionless = 0, deficient = 0, turning = 0;
    int count = rgFewer(2000);
    for (int k = 0; k < count; ++k) {
        rgRandomTraits traits;
        rgContactCase* made = rgMakeRandomCase((uint64_t)k, &traits);
        assert_int_equal(rgContactProblem_Check(&made->problem, NULL), rg_ok);
        // Masses over six decades: rounding of g against the largest velocity.
        double residual = rgNaturalResidual(made, made->lambda);
        if (!(residual < 1e-9)) {
            fail_msg("problem %d (%s): residual %g", k, rgRandomKindNames[traits.kind], residual);
        }
        compliant += traits.compliant;
        frictionless += traits.mu == 0;
        deficient += made->problem.rowCount > made->nv;
        for (int b = 0; b < made->problem.blockCount; ++b) {
            if (made->blocks[b].rowCount > 3) {
                ++turning;
                break;
            }
        }
        rgFreeContactCase(made);
    }
    print_message("%d problems: %d compliant, %d frictionless, %d deficient, %d turning\n", count,
                  compliant, frictionless, deficient, turning);
    assert_true(compliant > count / 8 && frictionless > count / 20 && deficient > count / 4 &&
                turning > count / 8);
}

// The judge against the definition, which the random set writes down once more: solutions with
// every block's impulses scaled, and no impulses at all.
static void test_judge_agrees(void** state) {
    (void)state;
    for (int k = 0; k < rgFewer(1000); ++k) {
        rgContactCase* made = rgMakeRandomCase((uint64_t)k, NULL);
        rgRandom random = {(uint64_t)k};
        double* lambda = rgZeros(made->problem.rowCount);
        for (int b = 0; b < made->problem.blockCount && k % 10 > 0; ++b) {
            const rgBlock* block = made->blocks + b;
            double factor = rgRandom_Uniform(&random, 0.5, 1.5);
            for (int i = block->firstRow; i < block->firstRow + block->rowCount; ++i) {
                lambda[i] = factor * made->lambda[i];
            }
            rgBlock_Project(block, lambda + block->firstRow);
        }
        double expected = rgNaturalResidual(made, lambda);
        // Velocities of large impulses that cancel are rounded against the error.
        EXPECT_NEAR(rgContactProblem_Residual(&made->problem, lambda), expected,
                    1e-9 * expected + 1e-9);
        free(lambda);
        rgFreeContactCase(made);
    }
}

// Hardly any problem is left unsolved, and what is called solved is so by the definition.
static void test_auto_solves_them(void** state) {
    (void)state;
    int count = rgFewer(400), unsolved = 0;
    for (int k = 0; k < count; ++k) {
        rgContactCase* made = rgMakeRandomCase((uint64_t)k, NULL);
        rgContactSolverDef def = rgDefaultContactSolverDef();
        double* lambda = rgZeros(made->problem.rowCount);
        bool solved = rgSolveAndCheck(&def, &made->problem, lambda).status == rg_contactSolved;
        assert_true(!solved || rgNaturalResidual(made, lambda) <= 1.001 * def.tolerance);
        unsolved += !solved;
        free(lambda);
        rgFreeContactCase(made);
    }
    print_message("%d of %d not solved\n", unsolved, count);
    assert_true(unsolved <= count / 100);
}

// Without any part of its plan auto is Newton alone, and as honest.
static void test_parts_of_the_plan(void** state) {
    (void)state;
    int differences = 0;
    for (int k = 0; k < rgFewer(100); ++k) {
        rgContactCase* made = rgMakeRandomCase((uint64_t)k, NULL);
        rgContactSolverDef def = rgDefaultContactSolverDef();
        double* lambda = rgZeros(made->problem.rowCount);
        rgContactReport whole = rgSolveAndCheck(&def, &made->problem, lambda);
        memset(lambda, 0, (size_t)made->problem.rowCount * sizeof(double));
        def.disabled = UINT32_MAX;
        rgContactReport bare = rgSolveAndCheck(&def, &made->problem, lambda);
        for (int phase = 0; phase < rg_phaseCount; ++phase) {
            assert_true(phase == rg_phaseNewton || bare.phaseIterations[phase] == 0);
            differences += bare.phaseIterations[phase] != whole.phaseIterations[phase];
        }
        free(lambda);
        rgFreeContactCase(made);
    }
    assert_true(differences > 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_solutions_by_construction),
        cmocka_unit_test(test_judge_agrees),
        cmocka_unit_test(test_auto_solves_them),
        cmocka_unit_test(test_parts_of_the_plan),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
