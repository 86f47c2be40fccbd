// Contact problems in bulk: the lanes on the host against rgContactSolver and the judge, and the
// ways out of the lanes.
#include "contact_case.h"
#include "lanes/backend.h"
#include "random_case.h"
#include "reversed.h"
#include "rigor/device.h"
#include "support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// Problems of cases, and their impulses one after the other.
typedef struct rgSet {
    int count;
    rgContactCase** cases;
    rgContactProblem* problems;
    int64_t rows;
    double *lambda, *sigma;
    rgContactOutcome* outcomes;
} rgSet;

static rgSet rgMakeSet(int count, rgContactCase* (*make)(int index)) {
    rgSet set = {.count = count};
    set.cases = calloc((size_t)count, sizeof(rgContactCase*));
    set.problems = calloc((size_t)count, sizeof(rgContactProblem));
    set.outcomes = calloc((size_t)count, sizeof(rgContactOutcome));
    for (int i = 0; i < count; ++i) {
        set.cases[i] = make(i);
        set.problems[i] = set.cases[i]->problem;
        set.rows += set.problems[i].rowCount;
    }
    set.lambda = calloc((size_t)set.rows, sizeof(double));
    set.sigma = calloc((size_t)set.rows, sizeof(double));
    return set;
}

static void rgFreeSet(rgSet* set) {
    for (int i = 0; i < set->count; ++i) {
        rgFreeContactCase(set->cases[i]);
    }
    free(set->cases);
    free(set->problems);
    free(set->outcomes);
    free(set->lambda);
    free(set->sigma);
}

static rgContactBatch* rgMakeBatch(const rgContactBatchDef* def, const rgSet* set) {
    rgContactBatch* batch = NULL;
    assert_int_equal(rgCreateContactBatch(def, NULL, &batch), rg_ok);
    assert_int_equal(rgContactBatch_Load(batch, set->problems, set->count, NULL), rg_ok);
    assert_true(rgContactBatch_RowCount(batch) == set->rows);
    return batch;
}

static rgContactBatchReport rgSolveSet(const rgContactBatchDef* def, rgSet* set) {
    rgContactBatch* batch = rgMakeBatch(def, set);
    rgContactBatchReport report;
    assert_int_equal(rgContactBatch_Solve(batch, set->lambda, set->sigma, set->rows, set->outcomes,
                                          set->count, &report),
                     rg_ok);
    rgDestroyContactBatch(batch);
    return report;
}

// What every outcome promises: the residual is the judge's, impulses lie in K, sigma belongs to
// them. Returns how many are solved.
static int rgCheckSet(const rgSet* set, double tolerance) {
    int solved = 0;
    int64_t row = 0;
    for (int i = 0; i < set->count; ++i) {
        const rgContactProblem* problem = set->problems + i;
        const rgContactOutcome* outcome = set->outcomes + i;
        double *lambda = set->lambda + row, *sigma = set->sigma + row;
        double residual = rgContactProblem_Residual(problem, lambda);
        double* velocity = calloc((size_t)problem->rowCount + 1, sizeof(double));
        if (outcome->status == rg_contactSolved) {
            ++solved;
            assert_true(outcome->residual <= tolerance);
            if (!(fabs(residual - outcome->residual) <= 1e-9 + 1e-3 * residual)) {
                fail_msg("problem %d: residual %g, said %g", i, residual, outcome->residual);
            }
            assert_int_equal(rgContactProblem_Velocity(problem, lambda, velocity), rg_ok);
            assert_true(rgLargestDifference(problem->rowCount, velocity, sigma) <=
                        1e-9 * (1 + rgLargestNumber(problem->rowCount, problem->freeVelocity)));
        }
        memcpy(velocity, lambda, (size_t)problem->rowCount * sizeof(double));
        for (int b = 0; b < problem->blockCount; ++b) {
            rgBlock_Project(problem->blocks + b, velocity + problem->blocks[b].firstRow);
        }
        assert_true(rgLargestDifference(problem->rowCount, lambda, velocity) <=
                    1e-14 * rgLargestNumber(problem->rowCount, lambda));
        free(velocity);
        row += problem->rowCount;
    }
    return solved;
}

static rgContactCase* rgRandomOf(int index) {
    return rgMakeRandomCase((uint64_t)index, NULL);
}

// The random set, whose forms, kinds of rows and masses differ: with the host's help all that
// rgContactSolver solves; alone most of what the lanes take.
static void test_random(void** state) {
    (void)state;
    rgSet set = rgMakeSet(rgFewer(1000), rgRandomOf);
    rgContactBatchDef def = rgDefaultContactBatchDef();
    def.judgeInterval = 7;
    rgContactBatchReport report = rgSolveSet(&def, &set);
    int solved = rgCheckSet(&set, def.tolerance), spins = 0;
    print_message("%d problems: first %d, second %d, host %d (%d not for lanes), solved %d\n",
                  set.count, report.firstCount, report.secondCount, report.hostCount,
                  report.lackCount, report.solvedCount);
    assert_int_equal(report.solvedCount, solved);
    assert_true(report.judgedCount >= (set.count - report.hostCount) / 10);
    assert_int_equal(report.disagreementCount, 0);
    assert_true(solved >= 0.99 * set.count);
    for (int i = 0; i < set.count; ++i) {
        spins += set.outcomes[i].lack == rg_lackSpin;
        bool mine = set.outcomes[i].lack != rg_lackNothing;
        assert_true(!mine || set.outcomes[i].source == rg_sourceHost);
    }
    assert_true(spins > 0 && spins < report.lackCount && report.lackCount < set.count / 2);
    assert_true(report.hostCount - report.lackCount <= 0.05 * set.count);
    rgFreeSet(&set);
}

// Contacts of a few bodies, all of whose impulses are determined.
static rgContactCase* rgRegularOf(int index) {
    rgContactCaseDef def = {.seed = (uint64_t)index,
                            .bodyCount = 3,
                            .contactCount = 3,
                            .halfLineCount = 1,
                            .boxCount = 1,
                            .freeCount = 1,
                            .mu = 0.2,
                            .compliance = index % 2 ? 0.02 : 0,
                            .state = -1};
    rgContactCase* made = rgMakeContactCase(&def);
    static const rgDelassusKind kinds[] = {rg_delassusDense, rg_delassusSparse,
                                           rg_delassusVelocity};
    made->problem = rgContactCase_UseForm(made, kinds[index % 3]);
    return made;
}

static void test_same_impulses(void** state) {
    (void)state;
    rgSet set = rgMakeSet(200, rgRegularOf);
    rgContactBatchDef def = rgDefaultContactBatchDef();
    def.tolerance = 1e-11;
    rgContactBatchReport report = rgSolveSet(&def, &set);
    assert_int_equal(report.solvedCount, set.count);
    assert_true(report.hostCount <= set.count / 50);
    rgContactSolverDef alone = rgDefaultContactSolverDef();
    alone.tolerance = def.tolerance;
    rgContactSolver* solver = NULL;
    assert_int_equal(rgCreateContactSolver(&alone, &solver), rg_ok);
    int64_t row = 0;
    for (int i = 0; i < set.count; ++i) {
        int n = set.problems[i].rowCount;
        double* lambda = calloc((size_t)n, sizeof(double));
        rgContactReport one;
        assert_int_equal(rgContactSolver_Solve(solver, set.problems + i, lambda, NULL, &one),
                         rg_ok);
        assert_int_equal(one.status, rg_contactSolved);
        double difference = rgLargestDifference(n, lambda, set.lambda + row);
        if (!(difference <= 1e-6 * rgLargestNumber(n, lambda))) {
            fail_msg("problem %d: impulses differ by %g", i, difference);
        }
        row += n;
        free(lambda);
    }
    rgDestroyContactSolver(solver);
    rgFreeSet(&set);
}

// A solution is taken as it is; one that is off is mended in a few iterations.
static void test_warm_start(void** state) {
    (void)state;
    rgSet set = rgMakeSet(100, rgRegularOf);
    rgContactBatchDef def = rgDefaultContactBatchDef();
    int64_t row = 0;
    int cold = 0, near = 0;
    rgSolveSet(&def, &set);
    for (int i = 0; i < set.count; ++i) {
        cold += set.outcomes[i].iterationCount;
        for (int k = 0; k < set.problems[i].rowCount; ++k) {
            set.lambda[row++] = 1.02 * set.cases[i]->lambda[k];
        }
    }
    rgSolveSet(&def, &set);
    for (int i = 0; i < set.count; ++i) {
        near += set.outcomes[i].iterationCount;
    }
    rgSolveSet(&def, &set);
    for (int i = 0; i < set.count; ++i) {
        assert_int_equal(set.outcomes[i].status, rg_contactSolved);
        assert_true(set.outcomes[i].iterationCount <= 1);
    }
    assert_true(2 * near < cold);
    rgFreeSet(&set);
}

static void rgExpectSame(const rgSet* a, const rgSet* b) {
    assert_memory_equal(a->lambda, b->lambda, (size_t)a->rows * sizeof(double));
    assert_memory_equal(a->sigma, b->sigma, (size_t)a->rows * sizeof(double));
    for (int i = 0; i < a->count; ++i) {
        const rgContactOutcome *x = a->outcomes + i, *y = b->outcomes + i;
        assert_int_equal(x->status, y->status);
        assert_int_equal(x->source, y->source);
        assert_int_equal(x->iterationCount, y->iterationCount);
        assert_int_equal(x->block, y->block);
        assert_memory_equal(&x->residual, &y->residual, sizeof(double));
    }
}

static void test_any_number_of_threads(void** state) {
    (void)state;
    int count = rgFewer(300);
    rgSet alone = rgMakeSet(count, rgRandomOf), many = rgMakeSet(count, rgRandomOf);
    rgContactBatchDef def = rgDefaultContactBatchDef();
    rgThreadPool* pool = NULL;
    rgSolveSet(&def, &alone);
    assert_int_equal(rgCreateThreadPool(3, NULL, &pool), rg_ok);
    def.tasks = rgThreadPool_Tasks(pool);
    rgSolveSet(&def, &many);
    rgExpectSame(&alone, &many);
    rgDestroyThreadPool(pool);
    rgFreeSet(&alone);
    rgFreeSet(&many);
}

typedef void rgSolveFcn(const rgLaneBatch* batch, int problem, rgLaneEffort effort, double* memory);

// Memory that holds no numbers at first, as that of a device.
static void rgPlay(const rgLaneInput* input, rgSolveFcn* solve, rgLaneEffort effort,
                   rgLaneBatch* out) {
    size_t rows = (size_t)input->rowCount, problems = (size_t)input->problemCount;
    size_t bytes = (size_t)input->classBytes[input->classCount - 1];
    double* memory = malloc(bytes);
    *out = input->batch;
    out->lambda = calloc(2 * rows, sizeof(double));
    out->sigma = out->lambda + rows;
    out->outcomes = calloc(problems, sizeof(rgLaneOutcome));
    for (int i = 0; i < input->classStart[input->classCount]; ++i) {
        memset(memory, 0xff, bytes);
        solve(out, input->order[i], effort, memory);
    }
    free(memory);
}

// Lanes do not depend on each other between two waits, nor on what was in their memory.
static void test_any_order_of_lanes(void** state) {
    (void)state;
    rgSet set = rgMakeSet(rgFewer(400), rgRandomOf);
    rgContactBatchDef def = rgDefaultContactBatchDef();
    def.lanesOnly = true;
    rgContactBatch* batch = rgMakeBatch(&def, &set);
    assert_int_equal(rgContactBatch_Solve(batch, set.lambda, NULL, set.rows, NULL, set.count, NULL),
                     rg_ok);
    const rgLaneInput* input = rgContactBatch_Input(batch);
    for (int effort = rg_laneQuick; effort <= rg_laneThorough; ++effort) {
        rgLaneBatch forward, backward;
        rgPlay(input, rgLaneSolveOne, (rgLaneEffort)effort, &forward);
        rgPlay(input, rgSolveReversed, (rgLaneEffort)effort, &backward);
        assert_memory_equal(forward.lambda, backward.lambda, 2 * (size_t)set.rows * sizeof(double));
        assert_memory_equal(forward.outcomes, backward.outcomes,
                            (size_t)set.count * sizeof(rgLaneOutcome));
        free(forward.lambda);
        free(forward.outcomes);
        free(backward.lambda);
        free(backward.outcomes);
    }
    rgDestroyContactBatch(batch);
    rgFreeSet(&set);
}

// A contact of a mass point with the floor.
static rgBlock rg_block;
static double rg_masses[9], rg_free[3];
static int rg_rows[] = {0, 1, 2, 3}, rg_columns[] = {0, 1, 2};
static double rg_unit[] = {1, 1, 1};

static rgContactProblem rgPoint(double mass) {
    rgSparse J = {3, 3, rg_rows, rg_columns, rg_unit};
    rgSparse M = {3, 3, rg_rows, rg_columns, rg_masses};
    rg_block = rgContactBlock(0, 0.5);
    rg_free[0] = 1;
    rg_free[1] = 0;
    rg_free[2] = -1;
    rg_masses[0] = rg_masses[1] = rg_masses[2] = mass;
    return (rgContactProblem){
        .rowCount = 3,
        .blockCount = 1,
        .blocks = &rg_block,
        .delassus = {.kind = rg_delassusVelocity, .mass = M, .jacobian = J},
        .freeVelocity = rg_free,
    };
}

static void test_point(void** state) {
    (void)state;
    rgContactProblem problem = rgPoint(2);
    rgContactBatch* batch = NULL;
    rgContactOutcome outcome;
    rgContactBatchReport report;
    double lambda[3] = {0}, sigma[3];
    assert_int_equal(rgCreateContactBatch(NULL, NULL, &batch), rg_ok);
    assert_int_equal(rgContactBatch_Load(batch, &problem, 1, NULL), rg_ok);
    assert_int_equal(rgContactBatch_Solve(batch, lambda, sigma, 3, &outcome, 1, &report), rg_ok);
    assert_int_equal(outcome.source, rg_sourceFirst);
    EXPECT_NEAR(lambda[2], 2, 1e-5);
    EXPECT_NEAR(lambda[0], -1, 1e-5);
    EXPECT_NEAR(lambda[1], 0, 1e-5);
    EXPECT_NEAR(sigma[0], 0.5, 1e-5);
    assert_int_equal(report.worstProblem, 0);
    // it flies off: no impulses
    rg_free[2] = 1;
    assert_int_equal(rgContactBatch_Load(batch, &problem, 1, NULL), rg_ok);
    assert_int_equal(rgContactBatch_Solve(batch, lambda, sigma, 3, &outcome, 1, NULL), rg_ok);
    assert_true(lambda[0] == 0 && lambda[1] == 0 && lambda[2] == 0 && sigma[2] == 1);
    assert_true(outcome.residual == 0 && outcome.block == -1);
    rgDestroyContactBatch(batch);
}

// A matrix that has no factor, a start that is no number, and numbers that overflow: named, given
// to the host, and never called solved.
static void test_numbers(void** state) {
    (void)state;
    rgContactProblem problem = rgPoint(-1);
    rgContactBatch* batch = NULL;
    rgContactOutcome outcome;
    double lambda[3] = {0, 0, 1};
    assert_int_equal(rgCreateContactBatch(NULL, NULL, &batch), rg_ok);
    assert_int_equal(rgContactBatch_Load(batch, &problem, 1, NULL), rg_ok);
    assert_int_equal(rgContactBatch_Solve(batch, lambda, NULL, 3, &outcome, 1, NULL), rg_ok);
    assert_int_equal(outcome.lack, rg_lackNumbers);
    assert_int_equal(outcome.source, rg_sourceHost);
    assert_int_equal(outcome.status, rg_contactUnsolved);
    assert_true(outcome.residual == INFINITY && lambda[2] == 1);
    rgPoint(1);
    lambda[0] = NAN;
    assert_int_equal(rgContactBatch_Load(batch, &problem, 1, NULL), rg_ok);
    assert_int_equal(rgContactBatch_Solve(batch, lambda, NULL, 3, &outcome, 1, NULL), rg_ok);
    assert_int_equal(outcome.status, rg_contactSolved);
    EXPECT_NEAR(lambda[2], 1, 1e-5);
    rg_free[2] = -1e200;
    rg_masses[2] = 1e-200;
    assert_int_equal(rgContactBatch_Load(batch, &problem, 1, NULL), rg_ok);
    assert_int_equal(rgContactBatch_Solve(batch, lambda, NULL, 3, &outcome, 1, NULL), rg_ok);
    assert_true(outcome.status != rg_contactSolved || outcome.residual <= 1e-6);
    rgDestroyContactBatch(batch);
}

// Where there is no room for the lanes, or nobody helps them.
static void test_ways_out(void** state) {
    (void)state;
    rgSet set = rgMakeSet(30, rgRegularOf);
    rgContactBatchDef def = rgDefaultContactBatchDef();
    def.sharedMemory = 1000;
    rgContactBatchReport report = rgSolveSet(&def, &set);
    assert_int_equal(report.hostCount, set.count);
    assert_int_equal(report.lackCount, set.count);
    assert_int_equal(report.solvedCount, set.count);
    assert_int_equal(rgCheckSet(&set, def.tolerance), set.count);
    for (int i = 0; i < set.count; ++i) {
        assert_int_equal(set.outcomes[i].lack, rg_lackRoom);
    }
    memset(set.lambda, 0, (size_t)set.rows * sizeof(double));
    def.lanesOnly = true;
    report = rgSolveSet(&def, &set);
    assert_int_equal(report.solvedCount, 0);
    for (int i = 0; i < set.count; ++i) {
        assert_int_equal(set.outcomes[i].status, rg_contactUnsolved);
        assert_true(set.outcomes[i].residual == INFINITY);
    }
    rgFreeSet(&set);
}

static void test_misuse(void** state) {
    (void)state;
    rgContactBatchDef def = rgDefaultContactBatchDef();
    rgContactBatch* batch = NULL;
    double lambda[3] = {0};
    rgContactProblem problem = rgPoint(1);
    assert_int_equal(rgCreateContactBatch(&def, NULL, NULL), rg_errorArgument);
    def.tolerance = 0;
    assert_int_equal(rgCreateContactBatch(&def, NULL, &batch), rg_errorArgument);
    def = rgDefaultContactBatchDef();
    def.deviceIndex = 1;
    assert_int_equal(rgCreateContactBatch(&def, NULL, &batch), rg_errorArgument);
    def = (rgContactBatchDef){.tolerance = 1e-6};
    assert_int_equal(rgCreateContactBatch(&def, NULL, &batch), rg_errorArgument);
    assert_int_equal(rgCreateContactBatch(NULL, NULL, &batch), rg_ok);
    assert_int_equal(rgContactBatch_Solve(batch, NULL, NULL, 0, NULL, 0, NULL), rg_ok);
    assert_int_equal(rgContactBatch_Load(batch, &problem, -1, NULL), rg_errorArgument);
    assert_int_equal(rgContactBatch_Load(batch, NULL, 1, NULL), rg_errorArgument);
    assert_int_equal(rgContactBatch_Load(batch, &problem, 1, NULL), rg_ok);
    rgContactProblem wrong = problem;
    rgDiagnostics* diagnostics = NULL;
    assert_int_equal(rgCreateDiagnostics(NULL, &diagnostics), rg_ok);
    wrong.freeVelocity = NULL;
    assert_true(rgContactBatch_Load(batch, &wrong, 1, diagnostics) != rg_ok);
    assert_true(rgDiagnostics_Count(diagnostics) >= 2);
    rgDestroyDiagnostics(diagnostics);
    // the problem of before is still there
    assert_int_equal(rgContactBatch_Solve(batch, lambda, NULL, 2, NULL, 1, NULL), rg_errorArgument);
    assert_int_equal(rgContactBatch_Solve(batch, NULL, NULL, 3, NULL, 1, NULL), rg_errorArgument);
    assert_int_equal(rgContactBatch_Solve(batch, lambda, NULL, 3, NULL, 2, NULL), rg_errorArgument);
    assert_int_equal(rgContactBatch_Solve(batch, lambda, NULL, 3, NULL, 1, NULL), rg_ok);
    EXPECT_NEAR(lambda[2], 1, 1e-5);
    rgDestroyContactBatch(batch);
    rgDestroyContactBatch(NULL);
}

// Every allocation fails once; nothing leaks, and the next try succeeds.
static void test_memory(void** state) {
    (void)state;
    rgSet set = rgMakeSet(4, rgRegularOf);
    int failures = 0;
    for (int limit = 0;; ++limit) {
        rgCounter counter = {.failAfter = limit};
        rgContactBatchDef def = rgDefaultContactBatchDef();
        def.allocator = rgCountingAllocator(&counter);
        def.sharedMemory = 3000; // some go to the host
        rgContactBatch* batch = NULL;
        rgResult result = rgCreateContactBatch(&def, NULL, &batch);
        if (result == rg_ok) {
            result = rgContactBatch_Load(batch, set.problems, set.count, NULL);
        }
        if (result == rg_ok) {
            result = rgContactBatch_Solve(batch, set.lambda, NULL, set.rows, NULL, set.count, NULL);
        }
        rgDestroyContactBatch(batch);
        assert_int_equal(counter.live, 0);
        if (result == rg_ok) {
            break;
        }
        assert_int_equal(result, rg_errorMemory);
        ++failures;
    }
    assert_true(failures >= 10);
    rgFreeSet(&set);
}

// There is a host, and a reason where there is nothing else.
static void test_devices(void** state) {
    (void)state;
    rgDeviceInfo info;
    rgDiagnostics* diagnostics = NULL;
    assert_int_equal(rgCreateDiagnostics(NULL, &diagnostics), rg_ok);
    assert_int_equal(rgDeviceCount(rg_deviceHost, diagnostics), 1);
    assert_int_equal(rgDeviceAt(rg_deviceHost, 0, &info), rg_ok);
    assert_true(info.processorCount >= 1 && info.memory > 0 && info.name[0] != '\0');
    assert_int_equal(rgDeviceAt(rg_deviceHost, 1, &info), rg_errorArgument);
    assert_int_equal(rgDiagnostics_Count(diagnostics), 0);
    assert_string_equal(rgDeviceKind_Name(rg_deviceCuda), "cuda");
    assert_string_equal(rgDeviceKind_Name((rgDeviceKind)9), "unknown");
    int count = rgDeviceCount(rg_deviceCuda, diagnostics);
    assert_int_equal(rgDiagnostics_Count(diagnostics), count == 0);
    rgContactBatchDef def = rgDefaultContactBatchDef();
    rgContactBatch* batch = NULL;
    def.device = rg_deviceCuda;
    def.deviceIndex = count;
    rgDiagnostics_Clear(diagnostics);
    assert_int_equal(rgCreateContactBatch(&def, diagnostics, &batch), rg_errorUnsupported);
    assert_int_equal(rgDiagnostics_Count(diagnostics), 1);
    assert_null(batch);
    rgDestroyDiagnostics(diagnostics);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random),
        cmocka_unit_test(test_same_impulses),
        cmocka_unit_test(test_warm_start),
        cmocka_unit_test(test_any_number_of_threads),
        cmocka_unit_test(test_any_order_of_lanes),
        cmocka_unit_test(test_point),
        cmocka_unit_test(test_numbers),
        cmocka_unit_test(test_ways_out),
        cmocka_unit_test(test_misuse),
        cmocka_unit_test(test_memory),
        cmocka_unit_test(test_devices),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
