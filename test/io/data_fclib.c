// Every FCLIB file of RIGOR_DATA: read, compared with what index.csv says about it, solved by auto
// and judged.
#include "base/base.h"
#include "rigor/fclib.h"
#include "support.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static rgFclibProblem* rgLoad(const char* path) {
    rgDiagnostics* diagnostics = NULL;
    assert_int_equal(rgCreateDiagnostics(NULL, &diagnostics), rg_ok);
    rgFclibProblem* problem = NULL;
    rgResult result = rgLoadFclib(path, NULL, diagnostics, &problem);
    for (int i = 0; result != rg_ok && i < rgDiagnostics_Count(diagnostics); ++i) {
        print_error("%s: %s\n", path, rgDiagnostics_Message(diagnostics, i).text);
    }
    rgDestroyDiagnostics(diagnostics);
    assert_int_equal(result, rg_ok);
    return problem;
}

static FILE* rgOpenIndex(const char* relative) {
    const char* path = rgDataPath(relative);
    assert_non_null(path);
    FILE* file = fopen(path, "r");
    assert_non_null(file);
    return file;
}

// Largest |G_ij - G_ji|: the problem must be exactly symmetric, whatever the file was.
static double rgAsymmetry(const rgContactProblem* problem) {
    if (problem->delassus.kind != rg_delassusDense) {
        return 0;
    }
    double largest = 0;
    size_t n = (size_t)problem->rowCount;
    for (size_t i = 0; i < n; ++i) {
        for (size_t j = 0; j < i; ++j) {
            const double* G = problem->delassus.matrix;
            largest = fmax(largest, fabs(G[i * n + j] - G[j * n + i]));
        }
    }
    return largest;
}

static void rgCheckProblem(const rgFclibProblem* read, int contactCount) {
    const rgContactProblem* problem = rgFclibProblem_Problem(read);
    assert_int_equal(rgFclibProblem_Info(read).contactCount, contactCount);
    assert_int_equal(problem->rowCount, 3 * contactCount);
    assert_int_equal(problem->blockCount, contactCount);
    assert_true(rgAsymmetry(problem) == 0);
    rgDiagnostics* diagnostics = NULL;
    assert_int_equal(rgCreateDiagnostics(NULL, &diagnostics), rg_ok);
    assert_int_equal(rgContactProblem_Check(problem, diagnostics), rg_ok);
    rgDestroyDiagnostics(diagnostics);
}

// True when auto reaches its tolerance. What the solver claims must be what the judge finds.
static bool rgSolveAndJudge(rgContactSolver* solver, const rgContactSolverDef* def,
                            const rgContactProblem* problem) {
    double* lambda = calloc((size_t)problem->rowCount, sizeof(double));
    assert_non_null(lambda);
    rgContactReport report;
    assert_int_equal(rgContactSolver_Solve(solver, problem, lambda, NULL, &report), rg_ok);
    double residual = rgContactProblem_Residual(problem, lambda);
    assert_true(isfinite(residual));
    bool solved = report.status == rg_contactSolved;
    assert_int_equal(solved, residual <= def->tolerance);
    EXPECT_NEAR(report.residual.total, residual, 1e-9 * residual + 1e-15);
    free(lambda);
    return solved;
}

static rgContactSolver* rgMakeSolver(rgContactSolverDef* def) {
    rgContactSolver* solver = NULL;
    *def = rgDefaultContactSolverDef();
    assert_int_equal(rgCreateContactSolver(def, &solver), rg_ok);
    return solver;
}

static void test_fclib_files(void** state) {
    (void)state;
    FILE* index = rgOpenIndex("fclib/index.csv");
    char line[1024];
    int count = 0;
    int solvedCount = 0;
    rgContactSolverDef def;
    rgContactSolver* solver = rgMakeSolver(&def);
    assert_non_null(fgets(line, sizeof(line), index));
    while (fgets(line, sizeof(line), index) != NULL) {
        char name[256], family[64], relative[512];
        int contactCount = 0, rowCount = 0, nonzeros = 0, rank = 0;
        double condition, largest, asymmetry, speed, muLow, muHigh;
        int read = sscanf(line, "%255[^,],%63[^,],%d,%d,%d,%d,%lf,%lf,%lf,%lf,%lf,%lf", name,
                          family, &contactCount, &rowCount, &nonzeros, &rank, &condition, &largest,
                          &asymmetry, &speed, &muLow, &muHigh);
        assert_int_equal(read, 12);
        snprintf(relative, sizeof(relative), "fclib/%s/%s.hdf5", family, name);
        const char* path = rgDataPath(relative);
        assert_non_null(path);
        rgFclibProblem* loaded = rgLoad(path);
        rgCheckProblem(loaded, contactCount);
        const rgContactProblem* problem = rgFclibProblem_Problem(loaded);
        double fastest = 0, low = INFINITY, high = 0;
        for (int i = 0; i < problem->rowCount; ++i) {
            fastest = fmax(fastest, fabs(problem->freeVelocity[i]));
        }
        for (int i = 0; i < problem->blockCount; ++i) {
            low = fmin(low, problem->blocks[i].mu);
            high = fmax(high, problem->blocks[i].mu);
        }
        // The index has six digits, the asymmetry two.
        EXPECT_NEAR(fastest, speed, 1e-5 * speed);
        EXPECT_NEAR(low, muLow, 1e-5);
        EXPECT_NEAR(high, muHigh, 1e-5);
        EXPECT_NEAR(rgFclibProblem_Info(loaded).asymmetry, asymmetry, 0.1 * asymmetry + 1e-15);
        solvedCount += rgSolveAndJudge(solver, &def, problem);
        rgDestroyFclibProblem(loaded);
        count += 1;
    }
    fclose(index);
    rgDestroyContactSolver(solver);
    assert_true(count >= 29);
    assert_true(solvedCount >= count - 1); // RockPile_tob1 ends at 2.6e-4
}

static void test_robot_steps(void** state) {
    (void)state;
    FILE* index = rgOpenIndex("robot_steps/index.csv");
    char line[256];
    int count = 0;
    int solvedCount = 0;
    rgContactSolverDef def;
    rgContactSolver* solver = rgMakeSolver(&def);
    assert_non_null(fgets(line, sizeof(line), index));
    while (fgets(line, sizeof(line), index) != NULL) {
        char robot[64], relative[128];
        int step = 0, contactCount = 0;
        assert_int_equal(sscanf(line, "%63[^,],%d,%d", robot, &step, &contactCount), 3);
        snprintf(relative, sizeof(relative), "robot_steps/%s/step_%04d.hdf5", robot, step);
        const char* path = rgDataPath(relative);
        assert_non_null(path);
        rgFclibProblem* loaded = rgLoad(path);
        rgCheckProblem(loaded, contactCount);
        assert_non_null(rgFclibProblem_Keys(loaded));
        solvedCount += rgSolveAndJudge(solver, &def, rgFclibProblem_Problem(loaded));
        rgDestroyFclibProblem(loaded);
        count += 1;
    }
    fclose(index);
    rgDestroyContactSolver(solver);
    assert_true(count >= 373);
    // Single hard steps may stay unsolved, and then say so.
    assert_true(solvedCount >= 0.99 * count);
    print_message("%d of %d steps solved\n", solvedCount, count);
}

int main(void) {
    if (!rgHaveData("fclib") || !rgHaveData("robot_steps")) {
        return 77;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fclib_files),
        cmocka_unit_test(test_robot_steps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
