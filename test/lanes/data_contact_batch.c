// Recorded steps of robots in bulk: by the lanes alone and with the host.
#include "rigor/device.h"
#include "rigor/fclib.h"
#include "support.h"

#include <stdio.h>
#include <stdlib.h>

enum { rg_most = 1000 };

typedef struct rgSteps {
    int count;
    rgFclibProblem* loaded[rg_most];
    rgContactProblem problems[rg_most];
    rgContactOutcome outcomes[rg_most];
    int64_t rows;
} rgSteps;

// One of so many steps of the index.
static void rgLoadSteps(rgSteps* steps, int every) {
    FILE* index = fopen(rgDataPath("robot_steps/index.csv"), "r");
    assert_non_null(index);
    char line[256], robot[32], relative[128];
    int step, number = 0;
    assert_non_null(fgets(line, sizeof(line), index));
    while (fgets(line, sizeof(line), index) != NULL) {
        assert_int_equal(sscanf(line, "%31[^,],%d", robot, &step), 2);
        if (number++ % every == 0) {
            assert_true(steps->count < rg_most);
            snprintf(relative, sizeof(relative), "robot_steps/%.31s/step_%04d.hdf5", robot, step);
            rgFclibProblem** loaded = steps->loaded + steps->count;
            assert_int_equal(rgLoadFclib(rgDataPath(relative), NULL, NULL, loaded), rg_ok);
            steps->problems[steps->count] = *rgFclibProblem_Problem(*loaded);
            steps->rows += steps->problems[steps->count++].rowCount;
        }
    }
    fclose(index);
}

static rgContactBatchReport rgSolveSteps(rgSteps* steps, bool lanesOnly) {
    rgContactBatchDef def = rgDefaultContactBatchDef();
    rgContactBatch* batch = NULL;
    rgContactBatchReport report;
    double* lambda = calloc((size_t)steps->rows, sizeof(double));
    def.lanesOnly = lanesOnly;
    def.judgeInterval = 3;
    assert_int_equal(rgCreateContactBatch(&def, NULL, &batch), rg_ok);
    assert_int_equal(rgContactBatch_Load(batch, steps->problems, steps->count, NULL), rg_ok);
    assert_int_equal(rgContactBatch_Solve(batch, lambda, NULL, steps->rows, steps->outcomes,
                                          steps->count, &report),
                     rg_ok);
    double* own = lambda;
    for (int i = 0; i < steps->count; ++i) {
        if (steps->outcomes[i].status == rg_contactSolved) {
            assert_true(rgContactProblem_Residual(steps->problems + i, own) <= 1.001e-6);
        }
        own += steps->problems[i].rowCount;
    }
    rgDestroyContactBatch(batch);
    free(lambda);
    return report;
}

static void test_robot_steps(void** state) {
    (void)state;
    static rgSteps steps;
    rgLoadSteps(&steps, rgFewer(10) == 10 ? 1 : 10);
    rgContactBatchReport alone = rgSolveSteps(&steps, true);
    rgContactBatchReport report = rgSolveSteps(&steps, false);
    print_message("%d steps, cold: lanes %d and %d; host %d (%d not for lanes); solved %d\n",
                  steps.count, report.firstCount, report.secondCount, report.hostCount,
                  report.lackCount, report.solvedCount);
    assert_int_equal(alone.solvedCount, report.firstCount + report.secondCount);
    assert_int_equal(report.disagreementCount, 0);
    assert_true(10 * alone.solvedCount >= 7 * steps.count);
    assert_true(100 * report.solvedCount >= 99 * steps.count);
    for (int i = 0; i < steps.count; ++i) {
        rgDestroyFclibProblem(steps.loaded[i]);
    }
}

int main(void) {
    if (!rgHaveData("robot_steps")) {
        return 77;
    }
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_robot_steps)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
