// Contact problems in bulk: steps of robots that fall and lie, recorded with their warm starts, and
// solved by rgContactSolver on one core, by the lanes on one core, and on every GPU there is.
//     rigor bench lanes [WORLDS STEPS REPEAT FILE.xml BATCH...]
// The least time of all repetitions, in the same run. On a GPU the recorded problems are repeated
// to fill a batch; its bytes are compared with those of the host, and with themselves. Times are
// those of the lanes; "call" has copies and rgContactSolver on all cores, too.
#include "measure.h"
#include "rigor/rigor.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { rg_recordEvery = 3, rg_mostPoints = 400 };

// Contact point that an impulse acts at.
typedef struct rgPointKey {
    int32_t shapeA, shapeB;
    uint32_t feature;
    double impulse[3];
} rgPointKey;

typedef struct rgRecord {
    int count, capacity;
    rgContactProblem* problems;
    double** starts;
    int64_t rows;
    int mostRows;
} rgRecord;

static double rgNow(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void* rgCopyOf(const void* from, size_t count, size_t size) {
    void* made = malloc(count * size + 1);
    if (from == NULL) {
        free(made);
        return NULL;
    }
    memcpy(made, from, count * size);
    return made;
}

static rgSparse rgCopySparse(const rgSparse* from) {
    size_t rows = (size_t)from->rowCount, entries = (size_t)from->rowStart[rows];
    rgSparse made = *from;
    made.rowStart = rgCopyOf(from->rowStart, rows + 1, sizeof(int));
    made.column = rgCopyOf(from->column, entries, sizeof(int));
    made.value = rgCopyOf(from->value, entries, sizeof(double));
    return made;
}

// M and J; whoever solves it factorizes M.
static rgContactProblem rgCopyProblem(const rgContactProblem* from) {
    size_t rows = (size_t)from->rowCount;
    rgContactProblem made = *from;
    made.blocks = rgCopyOf(from->blocks, (size_t)from->blockCount, sizeof(rgBlock));
    made.delassus = (rgDelassus){.kind = rg_delassusVelocity,
                                 .mass = rgCopySparse(&from->delassus.mass),
                                 .jacobian = rgCopySparse(&from->delassus.jacobian)};
    made.freeVelocity = rgCopyOf(from->freeVelocity, rows, sizeof(double));
    made.compliance = rgCopyOf(from->compliance, rows, sizeof(double));
    made.rowLength = rgCopyOf(from->rowLength, rows, sizeof(double));
    return made;
}

static int rgListPoints(const rgWorld* world, rgPointKey* points) {
    int count = 0;
    const rgContact* contacts = rgWorld_Contacts(world, &count);
    count = count < rg_mostPoints ? count : rg_mostPoints;
    for (int i = 0; i < count; ++i) {
        points[i] = (rgPointKey){
            contacts[i].shapeA.index1, contacts[i].shapeB.index1, contacts[i].feature, {0}};
        memcpy(points[i].impulse, contacts[i].impulse, sizeof(points[i].impulse));
    }
    return count;
}

// Impulses of the same points in the step before; 0 where there are none.
static double* rgStartOf(const rgWorld* world, int rows, const rgPointKey* before,
                         int beforeCount) {
    double* start = calloc((size_t)rows + 1, sizeof(double));
    int count = 0;
    const rgContact* contacts = rgWorld_Contacts(world, &count);
    for (int i = 0; i < count; ++i) {
        for (int k = 0; k < beforeCount && contacts[i].firstRow >= 0; ++k) {
            if (before[k].shapeA == contacts[i].shapeA.index1 &&
                before[k].shapeB == contacts[i].shapeB.index1 &&
                before[k].feature == contacts[i].feature) {
                memcpy(start + contacts[i].firstRow, before[k].impulse, sizeof(before[k].impulse));
            }
        }
    }
    return start;
}

static void rgKeepProblem(rgRecord* record, const rgContactProblem* problem, double* start) {
    if (record->count == record->capacity) {
        record->capacity = 2 * record->capacity + 64;
        size_t size = (size_t)record->capacity;
        record->problems = realloc(record->problems, size * sizeof(rgContactProblem));
        record->starts = realloc(record->starts, size * sizeof(double*));
    }
    record->problems[record->count] = rgCopyProblem(problem);
    record->starts[record->count++] = start;
    record->rows += problem->rowCount;
    record->mostRows = problem->rowCount > record->mostRows ? problem->rowCount : record->mostRows;
}

// One world that falls. Returns the time of its steps.
static double rgRecordWorld(rgRecord* record, const rgModel* model, int index, int steps) {
    static rgPointKey points[rg_mostPoints];
    rgWorldDef def = rgDefaultWorldDef();
    def.timeStep = 1e-3;
    rgWorld* world = NULL;
    rgModelInfo info = rgModel_Info(model);
    if (rgCreateWorld(model, &def, NULL, &world) != rg_ok) {
        return 0;
    }
    double* v = malloc(((size_t)info.vCount + 1) * sizeof(double));
    for (int k = 0; k < info.vCount; ++k) {
        v[k] = 2 * (rgRandomUnit((uint64_t)index, (uint64_t)k) - 0.5);
    }
    rgWorld_Reset(world, (rgKeyId){info.keyCount > 0 ? 1 : 0});
    rgWorld_SetState(world, rgWorld_Positions(world, NULL), v);
    double seconds = 0;
    for (int s = 0; s < steps; ++s) {
        int before = rgListPoints(world, points);
        double begin = rgNow();
        rgWorld_Step(world, NULL);
        seconds += rgNow() - begin;
        const rgContactProblem* problem = rgWorld_Problem(world, NULL);
        if (s % rg_recordEvery == index % rg_recordEvery && problem->rowCount > 0) {
            rgKeepProblem(record, problem, rgStartOf(world, problem->rowCount, points, before));
        }
    }
    free(v);
    rgDestroyWorld(world);
    return seconds;
}

// ---- Residuals and counts

static int rgCompareNumbers(const void* a, const void* b) {
    double x = *(const double*)a, y = *(const double*)b;
    return x < y ? -1 : x > y;
}

static void rgPrintResiduals(const char* name, double* residuals, int count) {
    static const double shares[] = {0.5, 0.9, 0.99, 0.999, 1};
    qsort(residuals, (size_t)count, sizeof(double), rgCompareNumbers);
    printf("  %s: residual", name);
    for (int i = 0; i < 5; ++i) {
        int at = (int)(shares[i] * (count - 1));
        printf("  %g %%: %.1e", 100 * shares[i], residuals[at]);
    }
    printf("\n");
}

// ---- Who solves

static double rgSolveAlone(const rgRecord* record, double* lambda) {
    rgContactSolver* solver = NULL;
    rgCreateContactSolver(NULL, &solver);
    double* residuals = malloc((size_t)record->count * sizeof(double));
    double* out = lambda;
    int solved = 0;
    double begin = rgNow();
    for (int i = 0; i < record->count; ++i) {
        int rows = record->problems[i].rowCount;
        rgContactReport report;
        memcpy(out, record->starts[i], (size_t)rows * sizeof(double));
        rgContactSolver_Solve(solver, record->problems + i, out, NULL, &report);
        residuals[i] = report.residual.total;
        solved += report.status == rg_contactSolved;
        out += rows;
    }
    double seconds = rgNow() - begin;
    printf("rgContactSolver, one core: %.0f problems/s, solved %d of %d\n", record->count / seconds,
           solved, record->count);
    rgPrintResiduals("its", residuals, record->count);
    free(residuals);
    rgDestroyContactSolver(solver);
    return seconds;
}

typedef struct rgAnswer {
    double *lambda, *sigma;
    rgContactOutcome* outcomes;
    rgContactBatchReport report;
    double seconds; // of the lanes, least
    double whole;   // of the calls, least
} rgAnswer;

static void rgFreeAnswer(rgAnswer* answer) {
    free(answer->lambda);
    free(answer->sigma);
    free(answer->outcomes);
}

// The recorded problems, repeated to a batch; repeat times. Whether all repetitions had the same
// bytes is said.
static rgAnswer rgSolveMany(const rgRecord* record, const rgContactBatchDef* def, int batch,
                            int repeat, bool* same) {
    rgAnswer answer = {.seconds = INFINITY, .whole = INFINITY};
    rgContactProblem* problems = malloc((size_t)batch * sizeof(rgContactProblem));
    int64_t rows = 0;
    for (int i = 0; i < batch; ++i) {
        problems[i] = record->problems[i % record->count];
        rows += problems[i].rowCount;
    }
    rgDiagnostics* diagnostics = NULL;
    rgContactBatch* made = NULL;
    size_t bytes = (size_t)rows * sizeof(double);
    rgCreateDiagnostics(NULL, &diagnostics);
    answer.lambda = malloc(bytes);
    answer.sigma = malloc(bytes);
    answer.outcomes = calloc((size_t)batch, sizeof(rgContactOutcome));
    double* first = malloc(2 * bytes);
    *same = true;
    rgResult result = rgCreateContactBatch(def, diagnostics, &made);
    result = result == rg_ok ? rgContactBatch_Load(made, problems, batch, diagnostics) : result;
    for (int r = 0; result == rg_ok && r < repeat; ++r) {
        double* out = answer.lambda;
        for (int i = 0; i < batch; ++i) {
            size_t own = (size_t)problems[i].rowCount;
            memcpy(out, record->starts[i % record->count], own * sizeof(double));
            out += own;
        }
        double begin = rgNow();
        result = rgContactBatch_Solve(made, answer.lambda, answer.sigma, rows, answer.outcomes,
                                      batch, &answer.report);
        answer.whole = fmin(answer.whole, rgNow() - begin);
        answer.seconds = fmin(answer.seconds, answer.report.laneTime);
        *same = *same && (r == 0 || (memcmp(first, answer.lambda, bytes) == 0 &&
                                     memcmp(first + rows, answer.sigma, bytes) == 0));
        memcpy(first, answer.lambda, bytes);
        memcpy(first + rows, answer.sigma, bytes);
    }
    if (result != rg_ok) {
        const char* text = rgDiagnostics_Count(diagnostics) > 0
                               ? rgDiagnostics_Message(diagnostics, 0).text
                               : rgResult_Name(result);
        printf("  fails: %s\n", text);
    }
    rgDestroyContactBatch(made);
    rgDestroyDiagnostics(diagnostics);
    free(first);
    free(problems);
    return answer;
}

static int rgCompareInts(const void* a, const void* b) {
    return *(const int*)a - *(const int*)b;
}

// Distribution over the problems that the lanes solved.
static void rgPrintIterations(const rgAnswer* answer, int batch) {
    static const double shares[] = {0.5, 0.9, 0.99, 0.999, 0.9999, 1};
    int count = 0, *iterations = malloc(((size_t)batch + 1) * sizeof(int));
    for (int i = 0; i < batch; ++i) {
        if (answer->outcomes[i].source != rg_sourceHost) {
            iterations[count++] = answer->outcomes[i].iterationCount;
        }
    }
    qsort(iterations, (size_t)count, sizeof(int), rgCompareInts);
    printf("  lanes: iterations");
    for (int i = 0; i < 6 && count > 0; ++i) {
        printf("  %g %%: %d", 100 * shares[i], iterations[(int)(shares[i] * (count - 1))]);
    }
    printf("\n");
    free(iterations);
}

static void rgPrintAnswer(const rgAnswer* answer, int batch) {
    const rgContactBatchReport* report = &answer->report;
    double* residuals = malloc((size_t)batch * sizeof(double));
    long iterations = 0;
    int count = 0;
    for (int i = 0; i < batch; ++i) {
        if (answer->outcomes[i].source != rg_sourceHost) {
            residuals[count++] = answer->outcomes[i].residual;
            iterations += answer->outcomes[i].iterationCount;
        }
    }
    printf("  %d problems in %.3f ms (call: %.3f ms): %.0f problems/s; first %.3f %%, second %.3f "
           "%%, host %.3f %%"
           " (%d not for lanes); worst residual of all %.1e; iterations %.2f\n",
           batch, 1e3 * answer->seconds, 1e3 * answer->whole, batch / answer->seconds,
           100.0 * report->firstCount / batch, 100.0 * report->secondCount / batch,
           100.0 * report->hostCount / batch, report->lackCount, report->worstResidual,
           (double)iterations / (count > 0 ? count : 1));
    if (count > 0) {
        rgPrintResiduals("lanes", residuals, count);
        rgPrintIterations(answer, batch);
    }
    free(residuals);
}

// Bytes of problems that both have, of a batch that repeats the other.
static int rgCountDifferences(const rgRecord* record, const rgAnswer* host, const rgAnswer* device,
                              int batch) {
    int different = 0;
    const double *a = host->lambda, *b = device->lambda;
    const double *as = host->sigma, *bs = device->sigma;
    for (int i = 0; i < batch; ++i) {
        int k = i % record->count;
        if (k == 0) {
            a = host->lambda;
            as = host->sigma;
        }
        size_t rows = (size_t)record->problems[k].rowCount;
        const rgContactOutcome *x = host->outcomes + k, *y = device->outcomes + i;
        different += memcmp(a, b, rows * sizeof(double)) != 0 ||
                     memcmp(as, bs, rows * sizeof(double)) != 0 ||
                     memcmp(&x->residual, &y->residual, sizeof(double)) != 0 ||
                     x->iterationCount != y->iterationCount || x->source != y->source;
        a += rows;
        as += rows;
        b += rows;
        bs += rows;
    }
    return different;
}

static int rgMeasureDevices(const rgRecord* record, const rgAnswer* host, const int* batches,
                            int batchCount, int repeat) {
    rgDiagnostics* diagnostics = NULL;
    rgCreateDiagnostics(NULL, &diagnostics);
    int count = rgDeviceCount(rg_deviceCuda, diagnostics), wrong = 0;
    if (count == 0) {
        printf("no GPU: %s\n", rgDiagnostics_Message(diagnostics, 0).text);
    }
    rgDestroyDiagnostics(diagnostics);
    rgDeviceInfo here;
    rgThreadPool* pool = NULL;
    rgDeviceAt(rg_deviceHost, 0, &here);
    rgCreateThreadPool(here.processorCount, NULL, &pool);
    for (int d = 0; d < count; ++d) {
        rgDeviceInfo info;
        rgDeviceAt(rg_deviceCuda, d, &info);
        printf("%s\n", info.name);
        for (int b = 0; b < batchCount; ++b) {
            rgContactBatchDef def = rgDefaultContactBatchDef();
            def.tasks = rgThreadPool_Tasks(pool);
            def.device = rg_deviceCuda;
            def.deviceIndex = d;
            bool same;
            rgAnswer answer = rgSolveMany(record, &def, batches[b], repeat, &same);
            if (answer.seconds < INFINITY) {
                int different = rgCountDifferences(record, host, &answer, batches[b]);
                rgPrintAnswer(&answer, batches[b]);
                printf("  problems whose bytes differ from the host's: %d; runs have the same "
                       "bytes: %s\n",
                       different, same ? "yes" : "no");
                wrong += different > 0 || !same;
            } else {
                ++wrong;
            }
            rgFreeAnswer(&answer);
        }
    }
    rgDestroyThreadPool(pool);
    return wrong;
}

static int rgMeasureAll(const rgRecord* record, int repeat, const int* batches, int batchCount) {
    double* lambda = malloc((size_t)record->rows * sizeof(double) + 1);
    rgSolveAlone(record, lambda);
    rgSolveAlone(record, lambda);
    free(lambda);
    rgContactBatchDef def = rgDefaultContactBatchDef();
    bool same;
    printf("lanes, one core\n");
    rgAnswer host = rgSolveMany(record, &def, record->count, 2, &same);
    rgPrintAnswer(&host, record->count);
    int wrong = rgMeasureDevices(record, &host, batches, batchCount, repeat);
    rgFreeAnswer(&host);
    return wrong;
}

static void rgFreeRecord(rgRecord* record) {
    for (int i = 0; i < record->count; ++i) {
        rgContactProblem* problem = record->problems + i;
        const void* all[] = {problem->blocks,
                             problem->delassus.mass.rowStart,
                             problem->delassus.mass.column,
                             problem->delassus.mass.value,
                             problem->delassus.jacobian.rowStart,
                             problem->delassus.jacobian.column,
                             problem->delassus.jacobian.value,
                             problem->freeVelocity,
                             problem->compliance,
                             problem->rowLength};
        for (size_t k = 0; k < sizeof(all) / sizeof(all[0]); ++k) {
            void* memory;
            memcpy(&memory, &all[k], sizeof(memory));
            free(memory);
        }
        free(record->starts[i]);
    }
    free(record->problems);
    free(record->starts);
}

int rgBench_Lanes(int argc, char** argv) {
    int worlds = argc > 1 ? atoi(argv[1]) : 12, steps = argc > 2 ? atoi(argv[2]) : 1000;
    int repeat = argc > 3 ? atoi(argv[3]) : 5;
    const char* path = argc > 4 ? argv[4] : RIGOR_SOURCE_DIR "/models/humanoid.xml";
    int batches[16] = {8192, 65536}, batchCount = 2;
    for (int i = 5; i < argc && i < 5 + 16; ++i) {
        batches[i - 5] = atoi(argv[i]);
        batchCount = i - 4;
    }
    rgModelDef* def = NULL;
    rgModel* model = NULL;
    if (worlds < 1 || steps < 1 || repeat < 1 || rgLoadModelDef(path, NULL, NULL, &def) != rg_ok ||
        rgCompileModel(def, NULL, NULL, &model) != rg_ok) {
        fprintf(stderr, "usage: rigor bench lanes [WORLDS STEPS REPEAT FILE.xml BATCH...]\n");
        return 2;
    }
    rgRecord record = {0};
    double seconds = 0;
    for (int i = 0; i < worlds; ++i) {
        seconds += rgRecordWorld(&record, model, i, steps);
    }
    printf("%s: nv %d, %d problems of %.1f rows in the mean, %d at most; whole steps, one core: "
           "%.0f/s\n",
           path, rgModel_Info(model).vCount, record.count,
           (double)record.rows / (record.count > 0 ? record.count : 1), record.mostRows,
           worlds * steps / seconds);
    int wrong = record.count > 0 ? rgMeasureAll(&record, repeat, batches, batchCount) : 0;
    rgFreeRecord(&record);
    rgDestroyModel(model);
    rgDestroyModelDef(def);
    return wrong > 0;
}
