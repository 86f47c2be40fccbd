// Problems and definitions that make no sense are refused, with the index of what is wrong.
#include "contact_case.h"
#include "support.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static rgContactCase* rgSmallCase(void) {
    return rgMakeContactCase(
        &(rgContactCaseDef){.seed = 3, .bodyCount = 3, .contactCount = 3, .mu = 0.5, .state = -1});
}

// Every entry point refuses the problem; the message contains `text`.
static void rgExpectRefused(const rgContactProblem* problem, const char* text) {
    rgDiagnostics* said = NULL;
    assert_int_equal(rgCreateDiagnostics(NULL, &said), rg_ok);
    assert_int_equal(rgContactProblem_Check(problem, said), rg_errorArgument);
    assert_int_equal(rgDiagnostics_CountOf(said, rg_severityError), 1);
    const char* message = rgDiagnostics_Message(said, 0).text;
    if (strstr(message, text) == NULL) {
        fail_msg("\"%s\" is not in \"%s\"", text, message);
    }
    rgDestroyDiagnostics(said);
    double lambda[64] = {0}, sigma[64] = {0}, before[64];
    for (int i = 0; i < 64; ++i) {
        lambda[i] = sigma[i] = before[i] = i;
    }
    rgContactReport report = {.iterationCount = -7};
    rgContactSolverDef def = rgDefaultContactSolverDef();
    rgContactSolver* solver = NULL;
    assert_int_equal(rgCreateContactSolver(&def, &solver), rg_ok);
    assert_int_equal(rgContactSolver_Solve(solver, problem, lambda, sigma, &report),
                     rg_errorArgument);
    rgDestroyContactSolver(solver);
    rgResidual residual;
    assert_int_equal(rgContactProblem_Judge(problem, rg_modelNcp, lambda, &residual),
                     rg_errorArgument);
    assert_int_equal(rgContactProblem_Velocity(problem, lambda, sigma), rg_errorArgument);
    assert_true(isnan(rgContactProblem_Residual(problem, lambda)));
    // Nothing was changed.
    assert_memory_equal(lambda, before, sizeof(before));
    assert_memory_equal(sigma, before, sizeof(before));
    assert_int_equal(report.iterationCount, -7);
}

static void test_good_problem_passes(void** state) {
    (void)state;
    rgContactCase* made = rgSmallCase();
    for (int kind = 0; kind < 3; ++kind) {
        rgContactProblem problem = rgContactCase_UseForm(made, (rgDelassusKind)kind);
        assert_int_equal(rgContactProblem_Check(&problem, NULL), rg_ok);
    }
    rgFreeContactCase(made);
}

static void test_missing_parts(void** state) {
    (void)state;
    rgContactCase* made = rgSmallCase();
    rgContactProblem problem = made->problem;
    problem.freeVelocity = NULL;
    rgExpectRefused(&problem, "free velocity");
    problem = made->problem;
    problem.blocks = NULL;
    rgExpectRefused(&problem, "blocks");
    problem = made->problem;
    problem.rowCount = -1;
    rgExpectRefused(&problem, "");
    problem = made->problem;
    problem.blockCount = -1;
    rgExpectRefused(&problem, "");
    problem = made->problem;
    problem.delassus.matrix = NULL;
    rgExpectRefused(&problem, "matrix");
    rgExpectRefused(NULL, "");
    rgFreeContactCase(made);
}

static void test_blocks_must_cover_rows(void** state) {
    (void)state;
    rgContactCase* made = rgSmallCase();
    rgContactProblem problem = made->problem;
    problem.rowCount = 8;
    rgExpectRefused(&problem, "8");
    problem.rowCount = 9;
    problem.blockCount = 2;
    rgExpectRefused(&problem, "6 rows");
    problem = made->problem;
    made->blocks[1].firstRow = 4; // a gap
    rgExpectRefused(&problem, "block 1");
    made->blocks[1].firstRow = 2; // an overlap
    rgExpectRefused(&problem, "block 1");
    made->blocks[1].firstRow = 3;
    made->blocks[2].rowCount = 0;
    rgExpectRefused(&problem, "block 2");
    made->blocks[2].rowCount = -3;
    rgExpectRefused(&problem, "block 2");
    made->blocks[2].rowCount = 5;
    rgExpectRefused(&problem, "3, 4 or 6");
    made->blocks[2].rowCount = INT_MAX;
    made->blocks[2].kind = rg_blockFree;
    rgExpectRefused(&problem, "");
    made->blocks[2].rowCount = 3;
    made->blocks[2].kind = (rgBlockKind)9;
    rgExpectRefused(&problem, "kind 9");
    rgFreeContactCase(made);
}

static void test_numbers_with_index(void** state) {
    (void)state;
    rgContactCase* made = rgSmallCase();
    const double bad[] = {NAN, INFINITY, -INFINITY};
    for (int k = 0; k < 3; ++k) {
        double keep = made->g[4];
        made->g[4] = bad[k];
        rgExpectRefused(&made->problem, "g[4]");
        made->g[4] = keep;
        keep = made->G[20];
        made->G[20] = bad[k];
        rgExpectRefused(&made->problem, "G[20]");
        made->G[20] = keep;
        rgContactProblem sparse = rgContactCase_UseForm(made, rg_delassusSparse);
        keep = made->Gvalue[5];
        made->Gvalue[5] = bad[k];
        rgExpectRefused(&sparse, "G[5]");
        made->Gvalue[5] = keep;
        rgContactProblem velocity = rgContactCase_UseForm(made, rg_delassusVelocity);
        keep = made->Jvalue[7];
        made->Jvalue[7] = bad[k];
        rgExpectRefused(&velocity, "J[7]");
        made->Jvalue[7] = keep;
        keep = made->Mvalue[8];
        made->Mvalue[8] = bad[k];
        rgExpectRefused(&velocity, "M[8]");
        made->Mvalue[8] = keep;
        double compliance[9] = {0};
        compliance[6] = bad[k];
        rgContactProblem problem = made->problem;
        problem.compliance = compliance;
        rgExpectRefused(&problem, "R[6]");
    }
    double compliance[9] = {0, 0, -1e-30};
    rgContactProblem problem = made->problem;
    problem.compliance = compliance;
    rgExpectRefused(&problem, "R[2]");
    rgFreeContactCase(made);
}

static void test_friction(void** state) {
    (void)state;
    rgContactCase* made = rgMakeContactCase(
        &(rgContactCaseDef){.seed = 4, .bodyCount = 3, .rollingCount = 2, .mu = 0.5, .state = 1});
    const double bad[] = {-1e-300, NAN, INFINITY};
    for (int k = 0; k < 3; ++k) {
        double* values[] = {&made->blocks[1].mu, &made->blocks[1].muTorsion,
                            &made->blocks[1].muRolling};
        for (int i = 0; i < 3; ++i) {
            double keep = *values[i];
            *values[i] = bad[k];
            rgExpectRefused(&made->problem, "block 1: friction");
            *values[i] = keep;
        }
    }
    assert_int_equal(rgContactProblem_Check(&made->problem, NULL), rg_ok);
    rgFreeContactCase(made);
}

static void test_bounds(void** state) {
    (void)state;
    rgContactCase* made =
        rgMakeContactCase(&(rgContactCaseDef){.seed = 5, .bodyCount = 2, .boxCount = 2});
    const double crossed[][2] = {{1, -1}, {NAN, 1}, {0, NAN}, {INFINITY, -INFINITY}};
    for (int k = 0; k < 4; ++k) {
        made->blocks[1].lower = crossed[k][0];
        made->blocks[1].upper = crossed[k][1];
        rgExpectRefused(&made->problem, "block 1");
    }
    // No number lies between two equal infinities.
    made->blocks[1].lower = INFINITY;
    made->blocks[1].upper = INFINITY;
    rgExpectRefused(&made->problem, "block 1");
    made->blocks[1].lower = -INFINITY;
    made->blocks[1].upper = -INFINITY;
    rgExpectRefused(&made->problem, "block 1");
    made->blocks[1].upper = INFINITY;
    assert_int_equal(rgContactProblem_Check(&made->problem, NULL), rg_ok);
    rgFreeContactCase(made);
}

static void test_sparse_structure(void** state) {
    (void)state;
    rgContactCase* made = rgSmallCase();
    rgContactProblem problem = rgContactCase_UseForm(made, rg_delassusSparse);
    int keep = made->Gcolumn[2];
    made->Gcolumn[2] = 9;
    rgExpectRefused(&problem, "row 0");
    made->Gcolumn[2] = -1;
    rgExpectRefused(&problem, "row 0");
    made->Gcolumn[2] = made->Gcolumn[1]; // twice the same
    rgExpectRefused(&problem, "row 0");
    made->Gcolumn[2] = keep;
    keep = made->Gstart[3];
    made->Gstart[3] = -1;
    rgExpectRefused(&problem, "row 2");
    made->Gstart[3] = 1 << 20; // beyond all entries: nothing there may be read
    rgExpectRefused(&problem, "row 3");
    made->Gstart[3] = keep;
    made->Gstart[0] = 1;
    rgExpectRefused(&problem, "G");
    made->Gstart[0] = 0;
    rgContactProblem other = problem;
    other.delassus.sparse.rowStart = NULL;
    rgExpectRefused(&other, "G");
    other = problem;
    other.delassus.sparse.column = NULL;
    rgExpectRefused(&other, "G");
    other = problem;
    other.delassus.sparse.value = NULL;
    rgExpectRefused(&other, "G");
    other = problem;
    other.delassus.sparse.rowCount = 8;
    rgExpectRefused(&other, "8 x 9");
    other = problem;
    other.delassus.kind = (rgDelassusKind)5;
    rgExpectRefused(&other, "kind 5");
    rgFreeContactCase(made);
}

static void test_velocity_structure(void** state) {
    (void)state;
    rgContactCase* made = rgSmallCase();
    rgContactProblem problem = rgContactCase_UseForm(made, rg_delassusVelocity);
    rgContactProblem other = problem;
    other.delassus.jacobian.rowCount = 8;
    rgExpectRefused(&other, "J 8 x 18");
    other = problem;
    other.delassus.jacobian.columnCount = 19;
    rgExpectRefused(&other, "J 9 x 19");
    other = problem;
    other.delassus.mass.columnCount = 17;
    rgExpectRefused(&other, "M is 18 x 17");
    made->Jcolumn[0] = 40;
    rgExpectRefused(&problem, "J: row 0");
    rgFreeContactCase(made);
}

// A mass matrix that is not positive definite is a numeric error, not a crash.
static void test_indefinite_mass(void** state) {
    (void)state;
    rgContactCase* made = rgSmallCase();
    rgContactProblem problem = rgContactCase_UseForm(made, rg_delassusVelocity);
    made->Mvalue[7] = -1;
    double lambda[9] = {0}, sigma[9];
    rgResidual residual;
    assert_int_equal(rgContactProblem_Judge(&problem, rg_modelNcp, lambda, &residual),
                     rg_errorNumeric);
    assert_int_equal(rgContactProblem_Velocity(&problem, lambda, sigma), rg_errorNumeric);
    assert_true(isnan(rgContactProblem_Residual(&problem, lambda)));
    rgContactSolverDef def = rgDefaultContactSolverDef();
    rgContactSolver* solver = NULL;
    assert_int_equal(rgCreateContactSolver(&def, &solver), rg_ok);
    assert_int_equal(rgContactSolver_Solve(solver, &problem, lambda, sigma, NULL), rg_errorNumeric);
    assert_true(rgLargestNumber(9, lambda) == 0);
    rgDestroyContactSolver(solver);
    rgFreeContactCase(made);
}

static void test_solver_arguments(void** state) {
    (void)state;
    rgContactCase* made = rgSmallCase();
    rgContactSolverDef def = rgDefaultContactSolverDef();
    rgContactSolver* solver = NULL;
    assert_int_equal(rgCreateContactSolver(&def, &solver), rg_ok);
    double lambda[9] = {0};
    assert_int_equal(rgContactSolver_Solve(NULL, &made->problem, lambda, NULL, NULL),
                     rg_errorArgument);
    assert_int_equal(rgContactSolver_Solve(solver, &made->problem, NULL, NULL, NULL),
                     rg_errorArgument);
    assert_int_equal(rgContactSolver_Solve(solver, &made->problem, lambda, NULL, NULL), rg_ok);
    rgDestroyContactSolver(solver);
    rgDestroyContactSolver(NULL);
    assert_int_equal(rgCreateContactSolver(NULL, &solver), rg_ok);
    rgDestroyContactSolver(solver);
    assert_int_equal(rgCreateContactSolver(&def, NULL), rg_errorArgument);
    rgFreeContactCase(made);
}

static void rgExpectDefRefused(const rgContactSolverDef* def) {
    rgContactSolver* solver = NULL;
    assert_int_equal(rgCreateContactSolver(def, &solver), rg_errorArgument);
    assert_null(solver);
}

static void test_absurd_definitions(void** state) {
    (void)state;
    rgContactSolverDef zero = {0};
    rgExpectDefRefused(&zero);
    const rgContactSolverDef good = rgDefaultContactSolverDef();
    rgContactSolverDef def = good;
    def.cookie ^= 1;
    rgExpectDefRefused(&def);
#define REFUSE(field, value)                                                                       \
    def = good;                                                                                    \
    def.field = value;                                                                             \
    rgExpectDefRefused(&def)
    REFUSE(tolerance, 0);
    REFUSE(tolerance, -1);
    REFUSE(tolerance, NAN);
    REFUSE(relativeTolerance, -1);
    REFUSE(relativeTolerance, NAN);
    REFUSE(maxIterations, -1);
    REFUSE(overRelaxation, 0);
    REFUSE(overRelaxation, 2);
    REFUSE(overRelaxation, NAN);
    REFUSE(method, (rgContactMethod)99);
    REFUSE(model, (rgContactModel)4);
    REFUSE(stop, (rgStopTest)2);
    REFUSE(form, (rgSystemForm)4);
    REFUSE(kernels, (rgKernelSet)(rg_kernelsNeon + 1));
    REFUSE(kernels, -1);
    REFUSE(admm.rule, (rgPenaltyRule)3);
    REFUSE(admm.proximal, 0);
    REFUSE(admm.proximal, NAN);
    REFUSE(admm.exponent, NAN);
    REFUSE(admm.exponentStep, 0);
    REFUSE(admm.factor, 1);
    REFUSE(admm.ratio, 0.5);
    REFUSE(admm.penalty, -1);
    REFUSE(admm.penalty, INFINITY);
    REFUSE(admm.relaxation, 0);
    REFUSE(admm.relaxation, 2);
    REFUSE(admm.andersonMemory, -1);
    REFUSE(admm.andersonMemory, 101);
    REFUSE(admm.cooldown, 0);
#undef REFUSE
}

// Running out of memory at any moment is an error, leaks nothing, and leaves lambda alone.
static void test_out_of_memory(void** state) {
    (void)state;
    rgContactCase* made = rgMakeContactCase(&(rgContactCaseDef){
        .seed = 6, .bodyCount = 4, .contactCount = 5, .halfLineCount = 2, .mu = 0.6, .state = -1});
    int n = made->problem.rowCount;
    double lambda[64];
    bool solved = false;
    for (int limit = 0; !solved; ++limit) {
        assert_true(limit < 1000);
        rgCounter counter = {.failAfter = limit};
        rgContactSolverDef def = rgDefaultContactSolverDef();
        def.allocator = rgCountingAllocator(&counter);
        def.recordHistory = true;
        rgContactSolver* solver = NULL;
        rgResult result = rgCreateContactSolver(&def, &solver);
        memset(lambda, 0, sizeof(lambda));
        if (result == rg_ok) {
            result = rgContactSolver_Solve(solver, &made->problem, lambda, NULL, NULL);
            solved = result == rg_ok;
            assert_true(solved || rgLargestNumber(n, lambda) == 0);
        }
        assert_true(solved || result == rg_errorMemory);
        rgDestroyContactSolver(solver);
        assert_int_equal(counter.live, 0);
    }
    assert_true(rgContactProblem_Residual(&made->problem, lambda) <= 1e-6);
    rgFreeContactCase(made);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_good_problem_passes),
        cmocka_unit_test(test_missing_parts),
        cmocka_unit_test(test_blocks_must_cover_rows),
        cmocka_unit_test(test_numbers_with_index),
        cmocka_unit_test(test_friction),
        cmocka_unit_test(test_bounds),
        cmocka_unit_test(test_sparse_structure),
        cmocka_unit_test(test_velocity_structure),
        cmocka_unit_test(test_indefinite_mass),
        cmocka_unit_test(test_solver_arguments),
        cmocka_unit_test(test_absurd_definitions),
        cmocka_unit_test(test_out_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
