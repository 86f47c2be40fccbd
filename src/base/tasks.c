// Parallel loops: a pool of pthreads that hands out indices one at a time. Which thread runs an
// index is left to chance; the result of an index must not depend on it.
#include "base/base.h"

#include <pthread.h>
#include <stdatomic.h>
#include <time.h>
#include <unistd.h>

typedef struct rgWorker {
    rgThreadPool* pool;
    pthread_t thread;
    int number;
} rgWorker;

struct rgThreadPool {
    rgAllocator allocator;
    rgWorker* workers; // [workerCount - 1]; the caller is worker 0
    int startedCount;
    int workerCount;
    pid_t process; // that has the threads: after fork() the child has the caller alone
    pthread_mutex_t mutex;
    pthread_cond_t wake;
    pthread_cond_t done;
    uint64_t generation; // counts loops, so that a worker joins each at most once
    int busyCount;
    bool stopping;
    rgTaskFcn* task;
    void* taskContext;
    int count;
    atomic_int next;
};

static void rgThreadPool_Drain(rgThreadPool* pool, int worker) {
    for (;;) {
        int index = atomic_fetch_add_explicit(&pool->next, 1, memory_order_relaxed);
        if (index >= pool->count) {
            return;
        }
        pool->task(index, worker, pool->taskContext);
    }
}

static void* rgWorker_Main(void* argument) {
    rgWorker* worker = argument;
    rgThreadPool* pool = worker->pool;
    uint64_t seen = 0;
    pthread_mutex_lock(&pool->mutex);
    for (;;) {
        while (!pool->stopping && pool->generation == seen) {
            pthread_cond_wait(&pool->wake, &pool->mutex);
        }
        if (pool->stopping) {
            break;
        }
        seen = pool->generation;
        pthread_mutex_unlock(&pool->mutex);
        rgThreadPool_Drain(pool, worker->number);
        pthread_mutex_lock(&pool->mutex);
        if (--pool->busyCount == 0) {
            pthread_cond_signal(&pool->done);
        }
    }
    pthread_mutex_unlock(&pool->mutex);
    return NULL;
}

static void rgThreadPool_Run(int count, rgTaskFcn* task, void* taskContext, void* context) {
    rgThreadPool* pool = context;
    if (pool->process != getpid()) {
        for (int i = 0; i < count; ++i) {
            task(i, 0, taskContext);
        }
        return;
    }
    pthread_mutex_lock(&pool->mutex);
    pool->task = task;
    pool->taskContext = taskContext;
    pool->count = count;
    atomic_store_explicit(&pool->next, 0, memory_order_relaxed);
    pool->busyCount = pool->startedCount;
    pool->generation += 1;
    pthread_cond_broadcast(&pool->wake);
    pthread_mutex_unlock(&pool->mutex);
    rgThreadPool_Drain(pool, 0);
    pthread_mutex_lock(&pool->mutex);
    while (pool->busyCount > 0) {
        pthread_cond_wait(&pool->done, &pool->mutex);
    }
    pthread_mutex_unlock(&pool->mutex);
}

rgResult rgCreateThreadPool(int workerCount, const rgAllocator* allocator, rgThreadPool** pool) {
    if (pool == NULL || workerCount < 1 || workerCount > 1024) {
        return rg_errorArgument;
    }
    rgThreadPool* made = rgAllocate(allocator, 1, sizeof(rgThreadPool));
    rgWorker* workers = rgAllocate(allocator, (size_t)workerCount, sizeof(rgWorker));
    if (made == NULL || workers == NULL) {
        rgRelease(allocator, made);
        rgRelease(allocator, workers);
        return rg_errorMemory;
    }
    made->allocator = rgResolveAllocator(allocator);
    made->workers = workers;
    made->workerCount = workerCount;
    made->process = getpid();
    pthread_mutex_init(&made->mutex, NULL);
    pthread_cond_init(&made->wake, NULL);
    pthread_cond_init(&made->done, NULL);
    for (int i = 1; i < workerCount; ++i) {
        rgWorker* worker = workers + i - 1;
        *worker = (rgWorker){.pool = made, .number = i};
        if (pthread_create(&worker->thread, NULL, rgWorker_Main, worker) != 0) {
            rgDestroyThreadPool(made);
            return rg_errorMemory;
        }
        made->startedCount = i;
    }
    *pool = made;
    return rg_ok;
}

static void rgThreadPool_Stop(rgThreadPool* pool) {
    pthread_mutex_lock(&pool->mutex);
    pool->stopping = true;
    pthread_cond_broadcast(&pool->wake);
    pthread_mutex_unlock(&pool->mutex);
    for (int i = 0; i < pool->startedCount; ++i) {
        pthread_join(pool->workers[i].thread, NULL);
    }
    pthread_cond_destroy(&pool->done);
    pthread_cond_destroy(&pool->wake);
    pthread_mutex_destroy(&pool->mutex);
}

void rgDestroyThreadPool(rgThreadPool* pool) {
    if (pool == NULL) {
        return;
    }
    if (pool->process == getpid()) {
        rgThreadPool_Stop(pool);
    }
    rgAllocator allocator = pool->allocator;
    rgRelease(&allocator, pool->workers);
    rgRelease(&allocator, pool);
}

rgTasks rgThreadPool_Tasks(rgThreadPool* pool) {
    return pool != NULL ? (rgTasks){.run = rgThreadPool_Run,
                                    .workerCount = pool->workerCount,
                                    .context = pool}
                        : (rgTasks){0};
}

void rgTasks_Run(const rgTasks* tasks, int count, rgTaskFcn* task, void* taskContext) {
    if (count > 1 && tasks != NULL && tasks->run != NULL) {
        tasks->run(count, task, taskContext, tasks->context);
        return;
    }
    for (int i = 0; i < count; ++i) {
        task(i, 0, taskContext);
    }
}

double rgSeconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}
