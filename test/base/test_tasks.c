// The task runner: every index once, for every worker count, many times over.
#include "base/base.h"
#include "support.h"

#include <stdlib.h>
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

// A tree, as it runs: how often each node did, and whether a child was late.
typedef struct rgTreeVisits {
    const int* parent;
    int visits[200];
    int childrenLeft[200];
    int early;
} rgTreeVisits;

static void rgVisitNode(int node, int worker, void* context) {
    (void)worker;
    rgTreeVisits* tree = context;
    tree->visits[node] += 1;
    __atomic_add_fetch(&tree->early, tree->childrenLeft[node] != 0, __ATOMIC_RELAXED);
    if (tree->parent[node] >= 0) {
        __atomic_sub_fetch(&tree->childrenLeft[tree->parent[node]], 1, __ATOMIC_RELAXED);
    }
}

// A scheduler of a user: one thread, the last index first.
static void rgRunBackwards(int count, rgTaskFcn* task, void* taskContext, void* context) {
    (void)context;
    for (int i = count - 1; i >= 0; --i) {
        task(i, 0, taskContext);
    }
}

// Chains, stars, forests and random trees: every node once, after its children.
static void test_nodes_of_a_tree_run_after_their_children(void** state) {
    (void)state;
    enum { rg_nodes = 200 };
    rgRandom random = {3};
    void* scratch = malloc(rgTaskTreeScratch(rg_nodes));
    assert_non_null(scratch);
    for (int workers = 0; workers <= 8; workers += 2) {
        rgThreadPool* pool = NULL;
        if (workers > 0) {
            assert_int_equal(rgCreateThreadPool(workers, NULL, &pool), rg_ok);
        }
        rgTasks tasks = workers > 0 ? rgThreadPool_Tasks(pool)
                                    : (rgTasks){.run = rgRunBackwards, .workerCount = 3};
        for (int round = 0; round < 40; ++round) {
            int parent[rg_nodes], count = 1 + rgRandom_Index(&random, rg_nodes);
            rgTreeVisits tree = {.parent = parent};
            for (int i = 0; i < count; ++i) {
                int above = count - 1 - i; // nodes that come later
                parent[i] = above == 0 || round % 4 == 3 ? -1
                            : round % 4 == 0             ? i + 1
                            : round % 4 == 1             ? count - 1
                                                         : i + 1 + rgRandom_Index(&random, above);
                tree.childrenLeft[parent[i] < 0 ? rg_nodes - 1 : parent[i]] += parent[i] >= 0;
            }
            rgTasks_RunTree(&tasks, count, parent, scratch, rgVisitNode, &tree);
            assert_int_equal(tree.early, 0);
            for (int i = 0; i < rg_nodes; ++i) {
                assert_int_equal(tree.visits[i], i < count);
            }
        }
        rgDestroyThreadPool(pool);
    }
    free(scratch);
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
        cmocka_unit_test(test_nodes_of_a_tree_run_after_their_children),
        cmocka_unit_test(test_serial_without_tasks),
        cmocka_unit_test(test_bad_worker_count),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
