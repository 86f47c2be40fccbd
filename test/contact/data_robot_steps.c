// Contact problems of robots falling and walking: cold, and in consecutive windows warm-started by
// contact key.
#include "rigor/fclib.h"
#include "solve.h"

#include <stdio.h>

#define RG_STEP_LIMIT 2000

typedef struct rgStepName {
    char robot[32];
    int step;
    int contacts;
    bool window;
} rgStepName;

typedef struct rgTally {
    int count;
    int solved;
    int near;       // within 1e-5
    int iterations; // Newton-type, of those solved
    int few;        // solved within 3 of them
} rgTally;

static int rgReadIndex(rgStepName* names, int most) {
    FILE* index = fopen(rgDataPath("robot_steps/index.csv"), "r");
    assert_non_null(index);
    char line[256], kind[64];
    int count = 0;
    assert_non_null(fgets(line, sizeof(line), index));
    while (fgets(line, sizeof(line), index) != NULL) {
        assert_true(count < most);
        rgStepName* name = names + count++;
        assert_int_equal(
            sscanf(line, "%31[^,],%d,%d,%63s", name->robot, &name->step, &name->contacts, kind), 4);
        name->window = strstr(kind, "window") != NULL;
    }
    fclose(index);
    return count;
}

static rgFclibProblem* rgLoadStep(const rgStepName* name) {
    char relative[128];
    snprintf(relative, sizeof(relative), "robot_steps/%.31s/step_%04d.hdf5", name->robot,
             name->step);
    const char* path = rgDataPath(relative);
    assert_non_null(path);
    rgFclibProblem* problem = NULL;
    assert_int_equal(rgLoadFclib(path, NULL, NULL, &problem), rg_ok);
    return problem;
}

static void rgSolveStep(const rgStepName* name, const rgContactProblem* problem, double* lambda,
                        rgTally* tally) {
    rgContactSolverDef def = rgDefaultContactSolverDef();
    def.maxIterations = RG_STEP_LIMIT;
    rgContactReport report = rgSolveAndCheck(&def, problem, lambda);
    double residual = rgContactProblem_Residual(problem, lambda);
    tally->count += 1;
    tally->near += residual <= 1e-5;
    if (residual <= 1e-6) {
        tally->solved += 1;
        int iterations =
            report.phaseIterations[rg_phaseNewton] + report.phaseIterations[rg_phaseInterior];
        tally->iterations += iterations;
        tally->few += iterations <= 3;
    } else {
        print_message("%s %d: residual %g after %d iterations\n", name->robot, name->step, residual,
                      report.iterationCount);
    }
}

static void test_cold(void** state) {
    (void)state;
    static rgStepName names[1000];
    int count = rgReadIndex(names, 1000);
    assert_true(count >= 373);
    rgTally tally = {0};
    for (int i = 0; i < count; i += RG_SLOW_BUILD ? 4 : 1) {
        rgFclibProblem* loaded = rgLoadStep(names + i);
        const rgContactProblem* problem = rgFclibProblem_Problem(loaded);
        double* lambda = rgZeros(problem->rowCount);
        rgSolveStep(names + i, problem, lambda, &tally);
        free(lambda);
        rgDestroyFclibProblem(loaded);
    }
    print_message("cold: %d of %d at 1e-6, %.2f Newton-type iterations\n", tally.solved,
                  tally.count, (double)tally.iterations / tally.solved);
    assert_true(100 * tally.solved >= 99 * tally.count);
}

// Impulses of the last step, by key: shape, shape, point.
typedef struct rgMemory {
    int count;
    int keys[3 * 256];
    double lambda[3 * 256];
} rgMemory;

static void rgMemory_Recall(const rgMemory* memory, int contacts, const int* keys, double* lambda) {
    for (int i = 0; i < contacts; ++i) {
        for (int j = 0; j < memory->count; ++j) {
            if (memcmp(keys + 3 * i, memory->keys + 3 * j, 3 * sizeof(int)) == 0) {
                memcpy(lambda + 3 * i, memory->lambda + 3 * j, 3 * sizeof(double));
            }
        }
    }
}

static void rgMemory_Keep(rgMemory* memory, int contacts, const int* keys, const double* lambda) {
    assert_true(contacts <= 256);
    memory->count = contacts;
    memcpy(memory->keys, keys, (size_t)(3 * contacts) * sizeof(int));
    memcpy(memory->lambda, lambda, (size_t)(3 * contacts) * sizeof(double));
}

static void test_windows_warm(void** state) {
    (void)state;
    static rgStepName names[1000];
    static rgMemory memory;
    int count = rgReadIndex(names, 1000);
    rgTally tally = {0};
    const rgStepName* last = NULL;
    for (int i = 0; i < count; ++i) {
        const rgStepName* name = names + i;
        if (!name->window) {
            continue;
        }
        rgFclibProblem* loaded = rgLoadStep(name);
        const rgContactProblem* problem = rgFclibProblem_Problem(loaded);
        const int* keys = rgFclibProblem_Keys(loaded);
        assert_non_null(keys);
        double* lambda = rgZeros(problem->rowCount);
        if (last != NULL && strcmp(last->robot, name->robot) == 0 && name->step == last->step + 1) {
            rgMemory_Recall(&memory, name->contacts, keys, lambda);
            rgSolveStep(name, problem, lambda, &tally);
        } else {
            rgTally start = {0}; // the first of a window has nothing to start from
            rgSolveStep(name, problem, lambda, &start);
        }
        rgMemory_Keep(&memory, name->contacts, keys, lambda);
        last = name;
        free(lambda);
        rgDestroyFclibProblem(loaded);
    }
    print_message("warm: %d of %d at 1e-6, %.2f Newton-type iterations, %d with at most 3\n",
                  tally.solved, tally.count, (double)tally.iterations / tally.solved, tally.few);
    assert_true(tally.count >= 100);
    assert_true(100 * tally.solved >= 99 * tally.count);
    assert_int_equal(tally.near, tally.count);
    // Hard steps take tens of iterations and make the mean; the typical step takes few.
    assert_true(10 * tally.few >= 3 * tally.count);
    assert_true(tally.iterations <= 15 * tally.solved);
}

int main(void) {
    if (!rgHaveData("robot_steps")) {
        return 77;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cold),
        cmocka_unit_test(test_windows_warm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
