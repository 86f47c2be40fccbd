// Contact problems in bulk: packed for the lanes, solved there, and by rgContactSolver where the
// lanes do not get through.
#include "contact/layout.h"
#include "lanes/backend.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define RG_CONTACT_BATCH_COOKIE 0x43424154u
#define RG_HOST_LANE_BYTES      (227 * 1024) // as on the largest device, so that hosts do the same

struct rgContactBatch {
    rgContactBatchDef def;
    const rgCudaTable* table; // NULL: the host
    rgCudaSolver* cuda;
    int64_t laneBytes; // most that one problem may take
    const rgContactProblem* given;
    rgLaneInput input;
    rgLaneProblem* problems;
    rgLaneGroup* groups;
    double* matrices;
    double* factors;
    double* rows; // g, R, length, start, lambda, sigma: input.rowCount each
    rgLaneOutcome* outcomes;
    rgContactLack* lacks;
    int* order;
    int* left;                 // problems for the host's solver
    int workerCount;           // of tasks
    rgContactSolver** solvers; // per worker, made when one is needed
};

rgContactBatchDef rgDefaultContactBatchDef(void) {
    return (rgContactBatchDef){.tolerance = 1e-6, .cookie = RG_CONTACT_BATCH_COOKIE};
}

static void rgContactBatch_Forget(rgContactBatch* batch) {
    const rgAllocator* allocator = &batch->def.allocator;
    rgRelease(allocator, batch->problems);
    rgRelease(allocator, batch->groups);
    rgRelease(allocator, batch->matrices);
    rgRelease(allocator, batch->factors);
    if (batch->cuda != NULL) {
        batch->table->releasePinned(batch->rows);
    } else {
        rgRelease(allocator, batch->rows);
    }
    rgRelease(allocator, batch->outcomes);
    rgRelease(allocator, batch->lacks);
    rgRelease(allocator, batch->order);
    rgRelease(allocator, batch->left);
    batch->problems = NULL;
    batch->groups = NULL;
    batch->matrices = batch->factors = batch->rows = NULL;
    batch->outcomes = NULL;
    batch->lacks = NULL;
    batch->order = batch->left = NULL;
    batch->given = NULL;
    batch->input = (rgLaneInput){0};
}

// Open the device that the def names.
static rgResult rgContactBatch_Open(rgContactBatch* batch, rgDiagnostics* diagnostics) {
    const rgContactBatchDef* def = &batch->def;
    batch->laneBytes = RG_HOST_LANE_BYTES;
    if (def->device == rg_deviceCuda) {
        char why[RG_CUDA_WHY_SIZE];
        rgDeviceInfo info;
        batch->table = rgOpenCuda(why);
        rgResult result = rg_errorUnsupported;
        if (batch->table != NULL) {
            result = batch->table->create(def->deviceIndex, &batch->cuda, why);
        }
        if (result != rg_ok ||
            (result = rgDeviceAt(def->device, def->deviceIndex, &info)) != rg_ok) {
            rgDiagnostics_Add(diagnostics, rg_severityError, NULL, 0, "cuda device %d: %s",
                              def->deviceIndex, why);
            return result;
        }
        batch->laneBytes = info.sharedMemory;
    }
    if (def->sharedMemory > 0) {
        batch->laneBytes = RG_MIN(batch->laneBytes, def->sharedMemory);
    }
    return rg_ok;
}

rgResult rgCreateContactBatch(const rgContactBatchDef* def, rgDiagnostics* diagnostics,
                              rgContactBatch** batch) {
    rgContactBatchDef usual = rgDefaultContactBatchDef();
    def = def != NULL ? def : &usual;
    if (batch == NULL || def->cookie != RG_CONTACT_BATCH_COOKIE || !(def->tolerance > 0) ||
        (int)def->device < 0 || def->device >= rg_deviceKindCount || def->deviceIndex < 0 ||
        (def->device == rg_deviceHost && def->deviceIndex > 0) || def->judgeInterval < 0 ||
        def->sharedMemory < 0) {
        return rg_errorArgument;
    }
    rgContactBatch* made = rgAllocate(&def->allocator, 1, sizeof(rgContactBatch));
    if (made == NULL) {
        return rg_errorMemory;
    }
    made->def = *def;
    made->def.allocator = rgResolveAllocator(&def->allocator);
    made->workerCount = RG_MAX(def->tasks.workerCount, 1);
    made->solvers =
        rgAllocate(&made->def.allocator, (size_t)made->workerCount, sizeof(rgContactSolver*));
    rgResult result =
        made->solvers != NULL ? rgContactBatch_Open(made, diagnostics) : rg_errorMemory;
    if (result != rg_ok) {
        rgDestroyContactBatch(made);
        return result;
    }
    *batch = made;
    return rg_ok;
}

void rgDestroyContactBatch(rgContactBatch* batch) {
    if (batch == NULL) {
        return;
    }
    if (batch->cuda != NULL) {
        batch->table->destroy(batch->cuda);
    }
    for (int i = 0; batch->solvers != NULL && i < batch->workerCount; ++i) {
        rgDestroyContactSolver(batch->solvers[i]);
    }
    rgContactBatch_Forget(batch);
    rgAllocator allocator = batch->def.allocator;
    rgRelease(&allocator, batch->solvers);
    rgRelease(&allocator, batch);
}

// ---- Loading ----

static rgLaneForm rgLaneFormOf(const rgDelassus* G) {
    return G->kind != rg_delassusVelocity ? rg_laneDense
           : G->mass.value != NULL        ? rg_laneMass
                                          : rg_laneWhitened;
}

// Sizes of a problem, and why lanes cannot have it.
static rgContactLack rgMeasure(const rgContactBatch* batch, const rgContactProblem* given,
                               rgLaneProblem* problem) {
    bool spins = false;
    problem->rows = given->rowCount;
    problem->form = rgLaneFormOf(&given->delassus);
    problem->velocities = problem->form == rg_laneDense ? 0 : given->delassus.jacobian.columnCount;
    problem->reference = given->referenceVelocity;
    for (int b = 0; b < given->blockCount; ++b) {
        const rgBlock* block = given->blocks + b;
        bool contact = block->kind == rg_blockCoulomb;
        problem->groups += contact ? 1 : block->rowCount;
        spins = spins || (contact && block->rowCount > 3);
    }
    int64_t bytes = rgLaneBytes(problem->rows, problem->groups, problem->velocities, problem->form);
    return spins ? rg_lackSpin : bytes > batch->laneBytes ? rg_lackRoom : rg_lackNothing;
}

static int64_t rgLaneProblem_MatrixCount(const rgLaneProblem* problem) {
    int64_t n = problem->rows, nv = problem->velocities;
    return problem->form == rg_laneDense  ? n * (n + 1) / 2
           : problem->form == rg_laneMass ? nv * (nv + 1) / 2 + n * nv
                                          : n * nv;
}

// x at (i, j) of a lower triangle by rows, of symmetric numbers of which both halves come
static void rgAddHalf(double* lower, int64_t i, int64_t j, double x) {
    if (i == j) {
        lower[i * (i + 1) / 2 + i] += x;
    } else {
        int64_t row = RG_MAX(i, j), column = RG_MIN(i, j);
        lower[row * (row + 1) / 2 + column] += 0.5 * x;
    }
}

static void rgPackSymmetric(const rgSparse* given, double* lower) {
    for (int i = 0; i < given->rowCount; ++i) {
        for (int k = given->rowStart[i]; k < given->rowStart[i + 1]; ++k) {
            rgAddHalf(lower, i, given->column[k], given->value[k]);
        }
    }
}

static void rgPackRows(const rgSparse* pattern, const double* value, int columns, double* rows) {
    for (int i = 0; i < pattern->rowCount; ++i) {
        for (int k = pattern->rowStart[i]; k < pattern->rowStart[i + 1]; ++k) {
            rows[(int64_t)i * columns + pattern->column[k]] = value[k];
        }
    }
}

// Matrices are zero before.
static void rgPackMatrix(const rgContactProblem* given, const rgLaneProblem* problem,
                         double* matrix) {
    const rgDelassus* G = &given->delassus;
    int64_t nv = problem->velocities;
    if (problem->form == rg_laneMass) {
        rgPackSymmetric(&G->mass, matrix);
        rgPackRows(&G->jacobian, G->jacobian.value, (int)nv, matrix + nv * (nv + 1) / 2);
    } else if (problem->form == rg_laneWhitened) {
        rgPackRows(&G->jacobian, G->whitened, (int)nv, matrix);
    } else if (G->kind == rg_delassusSparse) {
        rgPackSymmetric(&G->sparse, matrix);
    } else {
        int n = problem->rows;
        for (int i = 0; i < n; ++i) {
            for (int j = 0; j < n; ++j) {
                rgAddHalf(matrix, i, j, G->matrix[(int64_t)i * n + j]);
            }
        }
    }
}

static rgResult rgPackGroups(const rgContactProblem* given, rgLaneGroup* groups, rgArena* arena) {
    rgLayout layout;
    rgArena_Reset(arena);
    rgResult result = rgBuildLayout(given, true, arena, &layout);
    for (int b = 0; result == rg_ok && b < given->blockCount; ++b) {
        const rgBlock* block = given->blocks + b;
        bool contact = block->kind == rg_blockCoulomb;
        for (int i = 0; i < (contact ? 1 : block->rowCount); ++i) {
            int row = block->firstRow + i;
            *groups++ = (rgLaneGroup){
                .kind = (int)block->kind,
                .row = row,
                .island = layout.islandOfBlock[layout.blockOfRow[row]],
                .block = b,
                .mu = contact ? block->mu : 0,
                .lower = block->kind == rg_blockBox ? block->lower : 0,
                .upper = block->kind == rg_blockBox ? block->upper : 0,
            };
        }
    }
    return result;
}

// One problem's numbers into the arrays of the batch.
static rgResult rgContactBatch_Pack(rgContactBatch* batch, int index, rgArena* arena) {
    const rgContactProblem* given = batch->given + index;
    const rgLaneProblem* problem = batch->problems + index;
    int64_t rows = batch->input.rowCount;
    double* g = batch->rows + problem->row;
    for (int i = 0; i < problem->rows; ++i) {
        g[i] = given->freeVelocity[i];
        g[rows + i] = given->compliance != NULL ? given->compliance[i] : 0;
        g[2 * rows + i] = given->rowLength != NULL ? given->rowLength[i] : 1;
    }
    if (batch->lacks[index] != rg_lackNothing || problem->rows == 0) {
        return rg_ok;
    }
    rgPackMatrix(given, problem, batch->matrices + problem->matrix);
    return rgPackGroups(given, batch->groups + problem->group, arena);
}

static int rgLaneProblem_Bytes(const rgLaneProblem* problem) {
    return (int)rgLaneBytes(problem->rows, problem->groups, problem->velocities, problem->form);
}

typedef struct rgSized {
    int bytes, index;
} rgSized;

static int rgCompareSized(const void* a, const void* b) {
    const rgSized *x = a, *y = b;
    return x->bytes != y->bytes ? x->bytes - y->bytes : x->index - y->index;
}

// The order of sizes, cut into classes: each holds what takes at most a fourth more memory than its
// smallest.
static rgResult rgContactBatch_Sort(rgContactBatch* batch) {
    rgLaneInput* input = &batch->input;
    const rgAllocator* allocator = &batch->def.allocator;
    rgSized* sized = rgAllocate(allocator, (size_t)RG_MAX(input->problemCount, 1), sizeof(rgSized));
    if (sized == NULL) {
        return rg_errorMemory;
    }
    int count = 0;
    for (int i = 0; i < input->problemCount; ++i) {
        if (batch->lacks[i] == rg_lackNothing && batch->problems[i].rows > 0) {
            sized[count++] = (rgSized){rgLaneProblem_Bytes(batch->problems + i), i};
        }
    }
    if (count > 0) {
        qsort(sized, (size_t)count, sizeof(rgSized), rgCompareSized);
    }
    int first = 0;
    for (int i = 0; i < count; ++i) {
        batch->order[i] = sized[i].index;
        bool last = i + 1 == count;
        bool wide = !last && 4 * (int64_t)sized[i + 1].bytes > 5 * (int64_t)sized[first].bytes;
        if (last || (wide && input->classCount + 1 < RG_LANE_CLASSES)) {
            input->classBytes[input->classCount++] = sized[i].bytes;
            input->classStart[input->classCount] = first = i + 1;
        }
    }
    rgRelease(allocator, sized);
    input->order = batch->order;
    return rg_ok;
}

static rgResult rgContactBatch_Allocate(rgContactBatch* batch) {
    const rgAllocator* allocator = &batch->def.allocator;
    rgLaneInput* input = &batch->input;
    size_t count = (size_t)RG_MAX(input->problemCount, 1);
    batch->groups =
        rgAllocate(allocator, (size_t)RG_MAX(input->groupCount, 1), sizeof(rgLaneGroup));
    batch->matrices = rgAllocate(allocator, (size_t)RG_MAX(input->matrixCount, 1), sizeof(double));
    // on a device they are there
    size_t factors = batch->cuda != NULL ? 1 : (size_t)RG_MAX(input->factorCount, 1);
    batch->factors = rgAllocate(allocator, factors, sizeof(double));
    size_t rowBytes = (size_t)RG_MAX(input->rowCount, 1) * 6 * sizeof(double);
    batch->rows = batch->cuda != NULL ? batch->table->allocatePinned(batch->cuda, rowBytes)
                                      : rgAllocate(allocator, rowBytes, 1);
    batch->outcomes = rgAllocate(allocator, count, sizeof(rgLaneOutcome));
    batch->order = rgAllocate(allocator, count, sizeof(int));
    batch->left = rgAllocate(allocator, count, sizeof(int));
    bool done = batch->groups != NULL && batch->matrices != NULL && batch->factors != NULL &&
                batch->rows != NULL && batch->outcomes != NULL && batch->order != NULL &&
                batch->left != NULL;
    int64_t rows = input->rowCount;
    input->batch = (rgLaneBatch){
        .problems = batch->problems,
        .matrices = batch->matrices,
        .groups = batch->groups,
        .velocity = batch->rows,
        .compliance = batch->rows + rows,
        .length = batch->rows + 2 * rows,
        .start = batch->rows + 3 * rows,
        .lambda = batch->rows + 4 * rows,
        .sigma = batch->rows + 5 * rows,
        .factors = batch->factors,
        .outcomes = batch->outcomes,
        .tolerance = batch->def.tolerance,
    };
    return done ? rg_ok : rg_errorMemory;
}

static rgResult rgContactBatch_Measure(rgContactBatch* batch, int count) {
    const rgAllocator* allocator = &batch->def.allocator;
    rgLaneInput* input = &batch->input;
    batch->problems = rgAllocate(allocator, (size_t)RG_MAX(count, 1), sizeof(rgLaneProblem));
    batch->lacks = rgAllocate(allocator, (size_t)RG_MAX(count, 1), sizeof(rgContactLack));
    if (batch->problems == NULL || batch->lacks == NULL) {
        return rg_errorMemory;
    }
    input->problemCount = count;
    for (int i = 0; i < count; ++i) {
        rgLaneProblem* problem = batch->problems + i;
        batch->lacks[i] = rgMeasure(batch, batch->given + i, problem);
        problem->matrix = input->matrixCount;
        problem->group = input->groupCount;
        problem->row = input->rowCount;
        problem->factor = input->factorCount;
        input->rowCount += problem->rows;
        if (batch->lacks[i] == rg_lackNothing) {
            input->matrixCount += rgLaneProblem_MatrixCount(problem);
            input->groupCount += problem->groups;
            input->factorCount += rgLaneFactors(problem->velocities, problem->form);
        }
    }
    return rg_ok;
}

static rgResult rgContactBatch_Take(rgContactBatch* batch, int count, rgDiagnostics* diagnostics) {
    rgResult result = rgContactBatch_Measure(batch, count);
    result = result == rg_ok ? rgContactBatch_Allocate(batch) : result;
    rgArena arena;
    rgArena_Init(&arena, &batch->def.allocator);
    for (int i = 0; result == rg_ok && i < count; ++i) {
        result = rgContactBatch_Pack(batch, i, &arena);
    }
    rgArena_Free(&arena);
    result = result == rg_ok ? rgContactBatch_Sort(batch) : result;
    if (result == rg_ok && batch->cuda != NULL) {
        char why[RG_CUDA_WHY_SIZE] = "";
        result = batch->table->load(batch->cuda, &batch->input, why);
        if (result != rg_ok) {
            rgDiagnostics_Add(diagnostics, rg_severityError, NULL, 0, "cuda device %d: %s",
                              batch->def.deviceIndex, why);
        }
    }
    return result;
}

rgResult rgContactBatch_Load(rgContactBatch* batch, const rgContactProblem* problems, int count,
                             rgDiagnostics* diagnostics) {
    if (batch == NULL || count < 0 || (problems == NULL && count > 0)) {
        return rg_errorArgument;
    }
    for (int i = 0; i < count; ++i) {
        rgResult result = rgContactProblem_Check(problems + i, diagnostics);
        if (result != rg_ok) {
            rgDiagnostics_Add(diagnostics, rg_severityError, NULL, 0, "that is problem %d", i);
            return result;
        }
    }
    rgContactBatch_Forget(batch);
    batch->given = problems;
    rgResult result = rgContactBatch_Take(batch, count, diagnostics);
    if (result != rg_ok) {
        rgContactBatch_Forget(batch);
    }
    return result;
}

int64_t rgContactBatch_RowCount(const rgContactBatch* batch) {
    return batch != NULL ? batch->input.rowCount : 0;
}

const rgLaneInput* rgContactBatch_Input(const rgContactBatch* batch) {
    return &batch->input;
}

// ---- Solving ----

static double* rgContactBatch_Lambda(const rgContactBatch* batch, int problem) {
    return batch->input.batch.lambda + batch->problems[problem].row;
}

// What no lanes had: a problem without rows is solved, and another waits for the host.
static void rgContactBatch_Begin(rgContactBatch* batch, const double* lambda) {
    const rgLaneInput* input = &batch->input;
    size_t bytes = (size_t)input->rowCount * sizeof(double);
    if (bytes > 0) {
        memcpy(batch->rows + 3 * input->rowCount, lambda, bytes);
    }
    for (int i = 0; i < input->problemCount; ++i) {
        bool solved = batch->problems[i].rows == 0;
        batch->outcomes[i] = (rgLaneOutcome){
            .status = solved ? rg_laneSolved : rg_laneUnsolved,
            .block = -1,
            .residual = solved ? 0 : INFINITY,
            .velocity = solved ? 0 : INFINITY,
        };
    }
}

// Impulses of a problem that the lanes did not have: the start.
static void rgContactBatch_Return(rgContactBatch* batch, int problem) {
    const rgLaneBatch* rows = &batch->input.batch;
    int64_t first = batch->problems[problem].row;
    size_t bytes = (size_t)batch->problems[problem].rows * sizeof(double);
    memcpy(rows->lambda + first, rows->start + first, bytes);
    memset(rows->sigma + first, 0, bytes);
}

static rgContactOutcome rgContactBatch_OutcomeOf(const rgContactBatch* batch, int problem) {
    const rgLaneOutcome* lanes = batch->outcomes + problem;
    rgContactLack lack = batch->lacks[problem];
    lack = lack == rg_lackNothing && lanes->status == rg_laneRefused ? rg_lackNumbers : lack;
    return (rgContactOutcome){
        .status = lanes->status == rg_laneSolved ? rg_contactSolved
                  : lack != rg_lackNothing       ? rg_contactUnsolved
                                                 : rg_contactLimit,
        .source = lanes->second ? rg_sourceSecond : rg_sourceFirst,
        .lack = lack,
        .iterationCount = lanes->iterations,
        .block = lanes->block,
        .residual = lanes->residual,
        .velocity = lanes->velocity,
    };
}

// One call's answers.
typedef struct rgBatchSolve {
    rgContactBatch* batch;
    rgContactOutcome* outcomes; // per problem
    rgResult* results;          // of the host, per entry of left
} rgBatchSolve;

static void rgSolveLeft(int index, int worker, void* context) {
    rgBatchSolve* solve = context;
    rgContactBatch* batch = solve->batch;
    int problem = batch->left[index];
    rgContactOutcome* outcome = solve->outcomes + problem;
    const rgLaneProblem* lanes = batch->problems + problem;
    double* lambda = rgContactBatch_Lambda(batch, problem);
    size_t bytes = (size_t)lanes->rows * sizeof(double);
    if (batch->solvers[worker] == NULL) {
        rgContactSolverDef def = rgDefaultContactSolverDef();
        def.tolerance = batch->def.tolerance;
        def.allocator = batch->def.allocator;
        solve->results[index] = rgCreateContactSolver(&def, &batch->solvers[worker]);
        if (solve->results[index] != rg_ok) {
            return;
        }
    }
    memcpy(lambda, batch->input.batch.start + lanes->row, bytes);
    rgContactReport report;
    rgResult result = rgContactSolver_Solve(batch->solvers[worker], batch->given + problem, lambda,
                                            batch->input.batch.sigma + lanes->row, &report);
    outcome->source = rg_sourceHost;
    if (result == rg_ok) {
        outcome->status = report.status;
        outcome->iterationCount = report.iterationCount;
        outcome->block = report.residual.block;
        outcome->residual = report.residual.total;
        outcome->velocity = report.residual.velocity;
    } else {
        outcome->status = rg_contactUnsolved;
        outcome->residual = outcome->velocity = INFINITY;
    }
    solve->results[index] = result == rg_errorMemory ? result : rg_ok;
}

// The host's judge on one of so many.
static rgResult rgContactBatch_Sample(rgContactBatch* batch, rgContactOutcome* outcomes,
                                      rgContactBatchReport* report) {
    int interval = batch->def.judgeInterval;
    for (int i = 0; interval > 0 && i < batch->input.problemCount; i += interval) {
        rgResidual residual;
        if (outcomes[i].status != rg_contactSolved) {
            continue;
        }
        rgResult result = rgContactProblem_Judge(batch->given + i, rg_modelNcp,
                                                 rgContactBatch_Lambda(batch, i), &residual);
        if (result == rg_errorMemory) {
            return result;
        }
        ++report->judgedCount;
        if (result != rg_ok || !(residual.total <= batch->def.tolerance)) {
            ++report->disagreementCount;
            outcomes[i].status = rg_contactUnsolved;
            outcomes[i].residual = result == rg_ok ? residual.total : INFINITY;
        }
    }
    return rg_ok;
}

static rgResult rgContactBatch_SolveLeft(rgContactBatch* batch, rgContactOutcome* outcomes,
                                         rgContactBatchReport* report) {
    const rgAllocator* allocator = &batch->def.allocator;
    int count = 0;
    for (int i = 0; i < batch->input.problemCount; ++i) {
        if (outcomes[i].status != rg_contactSolved) {
            batch->left[count++] = i;
            report->lackCount += outcomes[i].lack != rg_lackNothing;
        }
    }
    report->hostCount = count;
    if (count == 0) {
        return rg_ok;
    }
    rgBatchSolve solve = {.batch = batch, .outcomes = outcomes};
    solve.results = rgAllocate(allocator, (size_t)count, sizeof(rgResult));
    if (solve.results == NULL) {
        return rg_errorMemory;
    }
    rgTasks_Run(&batch->def.tasks, count, rgSolveLeft, &solve);
    rgResult result = rg_ok;
    for (int i = 0; i < count; ++i) {
        result = result == rg_ok ? solve.results[i] : result;
    }
    rgRelease(allocator, solve.results);
    return result;
}

static void rgContactBatch_Count(const rgContactBatch* batch, const rgContactOutcome* outcomes,
                                 rgContactBatchReport* report) {
    report->worstProblem = -1;
    for (int i = 0; i < batch->input.problemCount; ++i) {
        bool solved = outcomes[i].status == rg_contactSolved;
        report->solvedCount += solved;
        report->firstCount += solved && outcomes[i].source == rg_sourceFirst;
        report->secondCount += solved && outcomes[i].source == rg_sourceSecond;
        if (report->worstProblem < 0 || !(outcomes[i].residual <= report->worstResidual)) {
            report->worstResidual = outcomes[i].residual;
            report->worstProblem = i;
        }
    }
}

static rgResult rgContactBatch_RunLanes(rgContactBatch* batch, double* seconds) {
    char why[RG_CUDA_WHY_SIZE] = "";
    if (batch->cuda != NULL) {
        return batch->table->solve(batch->cuda, &batch->input, seconds, why);
    }
    double start = rgSeconds();
    rgResult result = rgLaneRunHost(&batch->input, &batch->def.tasks, &batch->def.allocator);
    *seconds = rgSeconds() - start;
    return result;
}

static rgResult rgContactBatch_Run(rgContactBatch* batch, const double* lambda,
                                   rgContactOutcome* outcomes, rgContactBatchReport* report) {
    rgContactBatch_Begin(batch, lambda);
    rgResult result = rgContactBatch_RunLanes(batch, &report->laneTime);
    for (int i = 0; result == rg_ok && i < batch->input.problemCount; ++i) {
        outcomes[i] = rgContactBatch_OutcomeOf(batch, i);
        if (batch->lacks[i] != rg_lackNothing) {
            rgContactBatch_Return(batch, i);
        }
    }
    result = result == rg_ok ? rgContactBatch_Sample(batch, outcomes, report) : result;
    if (result == rg_ok && !batch->def.lanesOnly) {
        result = rgContactBatch_SolveLeft(batch, outcomes, report);
    }
    if (result == rg_ok) {
        rgContactBatch_Count(batch, outcomes, report);
    }
    return result;
}

rgResult rgContactBatch_Solve(rgContactBatch* batch, double* lambda, double* sigma,
                              int64_t rowCount, rgContactOutcome* outcomes, int problemCount,
                              rgContactBatchReport* report) {
    if (batch == NULL || rowCount != batch->input.rowCount || (lambda == NULL && rowCount > 0) ||
        problemCount != batch->input.problemCount) {
        return rg_errorArgument;
    }
    const rgAllocator* allocator = &batch->def.allocator;
    rgContactOutcome* own = outcomes;
    if (own == NULL) {
        own = rgAllocate(allocator, (size_t)RG_MAX(problemCount, 1), sizeof(rgContactOutcome));
        if (own == NULL) {
            return rg_errorMemory;
        }
    }
    rgContactBatchReport unread = {0};
    report = report != NULL ? report : &unread;
    *report = (rgContactBatchReport){.worstProblem = -1};
    rgResult result = rgContactBatch_Run(batch, lambda, own, report);
    size_t bytes = (size_t)rowCount * sizeof(double);
    if (result == rg_ok && bytes > 0) {
        memcpy(lambda, batch->input.batch.lambda, bytes);
        if (sigma != NULL) {
            memcpy(sigma, batch->input.batch.sigma, bytes);
        }
    }
    if (own != outcomes) {
        rgRelease(allocator, own);
    }
    return result;
}
