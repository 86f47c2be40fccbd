// The task runner: every index once, for every worker count, many times over.
#include "base/base.h"
#include "support.h"

typedef struct rgLoop {
    int visits[257];
    int worker[257];
} rgLoop;

static void rgVisit(int index, int worker, void* context) {
    rgLoop* loop = context;
    loop->visits[index] += 1;
    loop->worker[index] = worker;
}

static void test_every_index_runs_once(void** state) {
    (void)state;
    for (int workers = 1; workers <= 8; ++workers) {
        rgThreadPool* pool = NULL;
        assert_int_equal(rgCreateThreadPool(workers, NULL, &pool), rg_ok);
        rgTasks tasks = rgThreadPool_Tasks(pool);
        for (int round = 0; round < 50; ++round) {
            rgLoop loop = {0};
            int count = round * 257 / 49;
            rgTasks_Run(&tasks, count, rgVisit, &loop);
            for (int i = 0; i < 257; ++i) {
                assert_int_equal(loop.visits[i], i < count);
                assert_in_range(loop.worker[i], 0, workers - 1);
            }
        }
        rgDestroyThreadPool(pool);
    }
}

static void test_serial_without_tasks(void** state) {
    (void)state;
    rgLoop loop = {0};
    rgTasks_Run(NULL, 10, rgVisit, &loop);
    rgTasks zero = {0};
    rgTasks_Run(&zero, 10, rgVisit, &loop);
    assert_int_equal(loop.visits[9], 2);
}

static void test_bad_worker_count(void** state) {
    (void)state;
    rgThreadPool* pool = NULL;
    assert_int_equal(rgCreateThreadPool(0, NULL, &pool), rg_errorArgument);
    assert_int_equal(rgCreateThreadPool(2, NULL, NULL), rg_errorArgument);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_index_runs_once),
        cmocka_unit_test(test_serial_without_tasks),
        cmocka_unit_test(test_bad_worker_count),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
