// The task runner: every index once, for every worker count, many times over.
#include "base/base.h"
#include "support.h"

#include <sys/wait.h>
#include <unistd.h>

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

// A child has the thread that forked alone: the pool works there, and ends, to the same numbers.
static void test_fork(void** state) {
    (void)state;
    rgThreadPool* pool = NULL;
    assert_int_equal(rgCreateThreadPool(4, NULL, &pool), rg_ok);
    rgTasks tasks = rgThreadPool_Tasks(pool);
    rgLoop loop = {0};
    rgTasks_Run(&tasks, 257, rgVisit, &loop);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        alarm(60); // a hang ends by a signal
        rgTasks_Run(&tasks, 257, rgVisit, &loop);
        int wrong = 0;
        for (int i = 0; i < 257; ++i) {
            wrong += loop.visits[i] != 2;
        }
        rgDestroyThreadPool(pool);
        _exit(wrong);
    }
    int status = -1;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    rgTasks_Run(&tasks, 257, rgVisit, &loop);
    assert_int_equal(loop.visits[256], 2);
    rgDestroyThreadPool(pool);
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
        cmocka_unit_test(test_fork),
        cmocka_unit_test(test_serial_without_tasks),
        cmocka_unit_test(test_bad_worker_count),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
