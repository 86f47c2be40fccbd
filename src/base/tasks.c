// Parallel loops: a pool of pthreads that hands out indices one at a time. Which thread runs an
// index is left to chance; the result of an index must not depend on it.
#include "base/base.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <time.h>
#include <unistd.h>

// A parallel loop. Loops are numbered, so that a worker that comes late joins none but the present.
typedef struct rgLoop {
    uint32_t number;
    int count;
    rgTaskFcn* task;
    void* taskContext;
} rgLoop;

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
    rgLoop loop;
    atomic_uint_fast64_t ticket; // number of the loop, next index below it
    atomic_int doneCount;        // indices that have ended
    atomic_bool stopping;
};

// Looks at a value of another thread before the thread sleeps: loops within a step follow each
// other within 100 us, and waking a thread takes as long.
enum { rg_looks = 2000, rg_looksPerYield = 50 };

static void rgPause(int look) {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#endif
    if (look % rg_looksPerYield == rg_looksPerYield - 1) {
        sched_yield();
    }
}

static void rgThreadPool_Drain(rgThreadPool* pool, const rgLoop* loop, int worker) {
    uint_fast64_t ticket = atomic_load(&pool->ticket);
    while ((uint32_t)(ticket >> 32) == loop->number && (int)(uint32_t)ticket < loop->count) {
        if (!atomic_compare_exchange_weak(&pool->ticket, &ticket, ticket + 1)) {
            continue;
        }
        loop->task((int)(uint32_t)ticket, worker, loop->taskContext);
        if (atomic_fetch_add(&pool->doneCount, 1) + 1 == loop->count) {
            pthread_mutex_lock(&pool->mutex);
            pthread_cond_signal(&pool->done);
            pthread_mutex_unlock(&pool->mutex);
        }
        ticket = atomic_load(&pool->ticket);
    }
}

// The next loop after the one with number `seen`; false where the pool ends.
static bool rgThreadPool_Await(rgThreadPool* pool, uint32_t seen, rgLoop* loop) {
    for (int look = 0; look < rg_looks && !atomic_load(&pool->stopping) &&
                       (uint32_t)(atomic_load(&pool->ticket) >> 32) == seen;
         ++look) {
        rgPause(look);
    }
    pthread_mutex_lock(&pool->mutex);
    while (!atomic_load(&pool->stopping) && pool->loop.number == seen) {
        pthread_cond_wait(&pool->wake, &pool->mutex);
    }
    *loop = pool->loop;
    pthread_mutex_unlock(&pool->mutex);
    return !atomic_load(&pool->stopping);
}

static void* rgWorker_Main(void* argument) {
    rgWorker* worker = argument;
    rgLoop loop = {0};
    while (rgThreadPool_Await(worker->pool, loop.number, &loop)) {
        rgThreadPool_Drain(worker->pool, &loop, worker->number);
    }
    return NULL;
}

static void rgThreadPool_Run(int count, rgTaskFcn* task, void* taskContext, void* context) {
    rgThreadPool* pool = context;
    if (count <= 0 || pool->process != getpid()) {
        for (int i = 0; i < count; ++i) {
            task(i, 0, taskContext);
        }
        return;
    }
    pthread_mutex_lock(&pool->mutex);
    rgLoop loop = {pool->loop.number + 1, count, task, taskContext};
    pool->loop = loop;
    atomic_store(&pool->doneCount, 0);
    atomic_store(&pool->ticket, (uint_fast64_t)loop.number << 32);
    pthread_cond_broadcast(&pool->wake);
    pthread_mutex_unlock(&pool->mutex);
    rgThreadPool_Drain(pool, &loop, 0);
    for (int look = 0; look < rg_looks && atomic_load(&pool->doneCount) < count; ++look) {
        rgPause(look);
    }
    pthread_mutex_lock(&pool->mutex);
    while (atomic_load(&pool->doneCount) < count) {
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
    atomic_store(&pool->stopping, true);
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

// ---- trees

// A loop over a tree. Nodes whose children have ended stand in a queue; a worker takes the next
// place of it and waits until a node stands there.
typedef struct rgTreeLoop {
    int count;
    const int* parent;
    atomic_int* pending; // children that have not ended, by node
    atomic_int* queue;   // node + 1, 0: none yet
    atomic_int first, end;
    rgTaskFcn* task;
    void* taskContext;
} rgTreeLoop;

size_t rgTaskTreeScratch(int count) {
    return 2 * (size_t)count * sizeof(atomic_int);
}

static void rgTreeLoop_Add(rgTreeLoop* loop, int node) {
    int place = atomic_fetch_add(&loop->end, 1);
    atomic_store(&loop->queue[place], node + 1);
}

static void rgTreeLoop_Drain(int index, int worker, void* context) {
    (void)index;
    rgTreeLoop* loop = context;
    for (;;) {
        int place = atomic_fetch_add(&loop->first, 1);
        if (place >= loop->count) {
            return;
        }
        int node = atomic_load(&loop->queue[place]) - 1;
        for (int look = 0; node < 0; ++look) { // others are at work on its children
            rgPause(look % rg_looksPerYield);
            node = atomic_load(&loop->queue[place]) - 1;
        }
        loop->task(node, worker, loop->taskContext);
        int up = loop->parent[node];
        if (up >= 0 && atomic_fetch_sub(&loop->pending[up], 1) == 1) {
            rgTreeLoop_Add(loop, up);
        }
    }
}

void rgTasks_RunTree(const rgTasks* tasks, int count, const int* parent, void* scratch,
                     rgTaskFcn* task, void* taskContext) {
    rgTreeLoop loop = {.count = count,
                       .parent = parent,
                       .pending = scratch,
                       .queue = (atomic_int*)scratch + count,
                       .task = task,
                       .taskContext = taskContext};
    for (int i = 0; i < count; ++i) {
        atomic_init(&loop.pending[i], 0);
        atomic_init(&loop.queue[i], 0);
    }
    for (int i = 0; i < count; ++i) {
        if (parent[i] >= 0) {
            atomic_fetch_add(&loop.pending[parent[i]], 1);
        }
    }
    for (int i = 0; i < count; ++i) {
        if (atomic_load(&loop.pending[i]) == 0) {
            rgTreeLoop_Add(&loop, i);
        }
    }
    rgTasks_Run(tasks, tasks != NULL ? RG_MAX(tasks->workerCount, 1) : 1, rgTreeLoop_Drain, &loop);
}

double rgSeconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}
