// Each phase of auto's plan is needed: random problems that the whole plan solves are not solved
// without it, or only by a later phase that costs more.
#include "base/base.h"
#include "random_case.h"
#include "solve.h"

typedef struct Outcome {
    int unsolved;
    int iterations[rg_phaseCount]; // sums
    int interior;                  // problems that reach the interior point
} Outcome;

static Outcome Solve(const int* numbers, int count, uint32_t disabled) {
    Outcome outcome = {0};
    for (int k = 0; k < count; ++k) {
        rgContactCase* made = rgMakeRandomCase((uint64_t)(numbers != NULL ? numbers[k] : k), NULL);
        rgContactSolverDef def = rgDefaultContactSolverDef();
        def.disabled = disabled;
        double* lambda = rgZeros(made->problem.rowCount);
        rgContactReport report = rgSolveAndCheck(&def, &made->problem, lambda);
        outcome.unsolved += report.status != rg_contactSolved;
        for (int phase = 0; phase < rg_phaseCount; ++phase) {
            outcome.iterations[phase] += report.phaseIterations[phase];
        }
        outcome.interior += report.phaseIterations[rg_phaseInterior] > 0;
        free(lambda);
        rgFreeContactCase(made);
    }
    return outcome;
}

// Problems that auto solves with a phase and not without it. Rounding of another CPU may change
// one.
static void ExpectNeeded(const int* numbers, int count, uint32_t part) {
    int with = Solve(numbers, count, 0).unsolved, without = Solve(numbers, count, part).unsolved;
    assert_true(with <= 1);
    assert_true(without >= with + 2);
}

static void test_interior_point(void** state) {
    (void)state;
    const int numbers[] = {82, 91, 133, 288, 777, 1210};
    ExpectNeeded(numbers, RG_COUNT(numbers), rg_planInterior);
}

static void test_blocking_contacts(void** state) {
    (void)state;
    const int numbers[] = {288, 1079, 1190, 2173, 2669};
    ExpectNeeded(numbers, RG_COUNT(numbers), rg_planFew);
}

static void test_damped_newton(void** state) {
    (void)state;
    const int numbers[] = {14, 190, 394, 654, 827, 1286, 1602};
    ExpectNeeded(numbers, RG_COUNT(numbers), rg_planDamped);
}

// Newton from the start solves most problems; then the interior point is not reached.
static void test_newton_from_the_start(void** state) {
    (void)state;
    int count = 60;
    assert_int_equal(Solve(NULL, count, rg_planStart).interior, count);
    assert_true(Solve(NULL, count, 0).interior < count / 3);
}

// Newton near the end of the central path saves iterations of the interior point.
static void test_polish(void** state) {
    (void)state;
    int count = 60;
    int with = Solve(NULL, count, rg_planStart).iterations[rg_phaseInterior];
    int without = Solve(NULL, count, rg_planStart | rg_planPolish).iterations[rg_phaseInterior];
    assert_true(with < without);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_interior_point), cmocka_unit_test(test_blocking_contacts),
        cmocka_unit_test(test_damped_newton),  cmocka_unit_test(test_newton_from_the_start),
        cmocka_unit_test(test_polish),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
