// rigor solve: contact problems from files, solved, judged, and written back with their solutions.
#include "cases.h"
#include "cli.h"
#include "comm.h"
#include "run.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

typedef struct rgSolveOptions {
    int solver;
    int model;
    int matrix;
    int form;
    int repeat;
    int maxIterations; // 0: the library's default
    double tolerance;  // 0: the library's default
    rgSolverArguments admm;
    const char* history;
    const char* outFolder;
    bool json;
    bool quiet;
} rgSolveOptions;

// Results of each file for the table or the JSON object.
typedef struct rgSolved {
    int contactCount;
    char* fault; // unreadable, refused by the solver, or not written
    rgRun run;
} rgSolved;

typedef struct rgSolveJob {
    rgComm* comm;
    rgSolveOptions options;
    rgContactSolverDef def;
    rgContactSolver* solver;
    rgCaseFiles files;
    rgSolved* solved; // one per file
    rgTable history;
} rgSolveJob;

static int rgParseSolve(int argc, char** argv, rgSolveOptions* options, int* fileCount) {
    *options = (rgSolveOptions){.repeat = 1, .admm = rgDefaultSolverArguments()};
    rgOption table[] = {
        [RG_SOLVER_OPTION_COUNT] = {"--solver", rg_optionChoice, &options->solver,
                                    "method of the contact solver", "S", rgSolverNames, 0, 0},
        {"--model", rg_optionChoice, &options->model,
         "friction law: exact, convex relaxation, on a square or an octagon", "M", rgModelNames, 0,
         0},
        {"--tol", rg_optionNumber, &options->tolerance, "residual to reach", "T", NULL, 1e-300, 1},
        {"--max-iter", rg_optionInt, &options->maxIterations, "limit of iterations", "N", NULL, 1,
         1e9},
        {"--repeat", rg_optionInt, &options->repeat, "solve N times and show the least time", "N",
         NULL, 1, 1e6},
        {"--matrix", rg_optionChoice, &options->matrix,
         "form in which the file is given to the solver", "F", rgFormNames, 0, 0},
        {"--form", rg_optionChoice, &options->form, "form of the matrix during the solve", "F",
         rgFormNames, 0, 0},
        {"--history", rg_optionOutput, &options->history, "write every iteration to a CSV file",
         "FILE", NULL, 0, 0},
        {"--write", rg_optionText, &options->outFolder,
         "write copies of the files with their solution", "DIR", NULL, 0, 0},
        {"--json", rg_optionFlag, &options->json, "print one JSON object", NULL, NULL, 0, 0},
        {"--quiet", rg_optionFlag, &options->quiet, "print no warnings about the files", NULL, NULL,
         0, 0},
    };
    rgSolverArguments_Options(&options->admm, table);
    const rgCommand command = {
        .name = "rigor solve",
        .usage = "FILE|DIR... [OPTIONS]",
        .summary = "Solve contact problems in FCLIB files (.hdf5, .h5) and print the residuals of "
                   "the solutions.\nExit code: 0 when all are solved, 1 when one is not, 2 when "
                   "one cannot be read.\n\nExamples:\n  rigor solve problem.hdf5\n  rigor solve "
                   "folder/ --solver newton --json",
        .options = table,
        .optionCount = (int)(sizeof(table) / sizeof(table[0])),
        .minArguments = 1,
        .maxArguments = -1,
    };
    return rgParseOptions(&command, argc, argv, fileCount);
}

static rgContactSolverDef rgSolveDef(const rgSolveOptions* options) {
    rgContactSolverDef def = rgSolverDef(options->solver);
    def.model = (rgContactModel)options->model;
    def.form = (rgSystemForm)options->form;
    def.tolerance = options->tolerance > 0 ? options->tolerance : def.tolerance;
    def.maxIterations = options->maxIterations > 0 ? options->maxIterations : def.maxIterations;
    rgSolverArguments_Apply(&options->admm, &def);
    return def;
}

// ---- one file ----

// A run of its own, because recording takes time.
static void rgRecordHistory(rgSolveJob* job, const rgCaseFile* file,
                            const rgContactProblem* problem) {
    rgContactSolverDef def = job->def;
    def.recordHistory = true;
    rgContactSolver* solver = NULL;
    double* lambda = rgCli_Allocate((size_t)problem->rowCount, sizeof(double));
    rgContactReport report = {0};
    if (rgCreateContactSolver(&def, &solver) == rg_ok &&
        rgContactSolver_Solve(solver, problem, lambda, NULL, &report) == rg_ok) {
        for (int i = 0; i < report.historyCount; ++i) {
            const rgContactRecord* record = &report.history[i];
            rgTable_Add(&job->history, "%s", file->relative);
            rgTable_Add(&job->history, "%d", i + 1);
            rgTable_Add(&job->history, "%s", rgPhaseName(record->phase));
            rgTable_Add(&job->history, "%.9g", record->primal);
            rgTable_Add(&job->history, "%.9g", record->dual);
            rgTable_Add(&job->history, "%.9g", record->complementarity);
            rgTable_Add(&job->history, "%.9g", record->residual);
            rgTable_Add(&job->history, "%.9g", record->penalty);
        }
    }
    rgDestroyContactSolver(solver);
    free(lambda);
}

static void rgWriteAnswer(rgSolveJob* job, const rgCaseFile* file, rgFclibSolution solution,
                          rgSolved* solved) {
    char* path = rgCli_Format("%s/%s", job->options.outFolder, file->relative);
    struct stat source, target;
    bool same = stat(file->path, &source) == 0 && stat(path, &target) == 0 &&
                source.st_dev == target.st_dev && source.st_ino == target.st_ino;
    char* fault = same ? rgCli_CopyText("is the file itself; choose another folder")
                       : rgWriteCase(file->path, path, &solution);
    if (fault != NULL) {
        solved->fault = rgCli_Format("%s: %s", path, fault);
    }
    free(fault);
    free(path);
}

// The problem's own complaint is worth more than the name of the result.
static char* rgExplainRefusal(const rgContactProblem* problem, rgResult result) {
    rgDiagnostics* diagnostics = NULL;
    char* text = NULL;
    if (rgCreateDiagnostics(NULL, &diagnostics) == rg_ok &&
        rgContactProblem_Check(problem, diagnostics) != rg_ok &&
        rgDiagnostics_Count(diagnostics) > 0) {
        text = rgCli_CopyText(rgDiagnostics_Message(diagnostics, 0).text);
    }
    rgDestroyDiagnostics(diagnostics);
    return text != NULL ? text : rgCli_Format("refused by the solver: %s", rgResult_Name(result));
}

static void rgSolveProblem(rgSolveJob* job, const rgCaseFile* file, const rgCase* loaded,
                           rgSolved* solved) {
    const rgContactProblem* problem = &loaded->problem;
    double* lambda = rgCli_Allocate(2 * (size_t)problem->rowCount, sizeof(double));
    double* sigma = lambda + problem->rowCount;
    solved->contactCount = loaded->contactCount;
    solved->run.seconds = INFINITY;
    for (int i = 0; i < job->options.repeat; ++i) {
        rgRun_Repeat(&solved->run, job->solver, problem, NULL, lambda, sigma);
    }
    rgRun_Judge(&solved->run, &job->def, problem, lambda);
    if (solved->run.result != rg_ok) {
        solved->fault = rgExplainRefusal(problem, solved->run.result);
    } else {
        if (job->options.history != NULL) {
            rgRecordHistory(job, file, problem);
        }
        if (job->options.outFolder != NULL) {
            rgWriteAnswer(job, file, (rgFclibSolution){lambda, sigma}, solved);
        }
    }
    free(lambda);
}

static void rgSolveFile(rgSolveJob* job, int index) {
    const rgCaseFile* file = &job->files.files[index];
    rgSolved* solved = &job->solved[index];
    rgCase loaded;
    if (!rgLoadCase(file->path, (rgFclibMatrix)job->options.matrix, &loaded)) {
        solved->fault = rgCli_CopyText(loaded.fault);
    } else {
        for (int i = 0; !job->options.quiet && i < loaded.warningCount; ++i) {
            rgCli_Print(stderr, "%s: warning: %s\n", file->path, loaded.warnings[i]);
        }
        rgSolveProblem(job, file, &loaded, solved);
    }
    if (solved->fault != NULL) {
        rgCli_Print(stderr, "%s: error: %s\n", file->path, solved->fault);
    }
    rgCase_Free(&loaded);
}

// ---- all files ----

static void rgPrintSolveTable(const rgSolveJob* job) {
    static const char* const headers[] = {
        "problem",  "contacts", "status", "iterations", "factorizations",
        "residual", "m/s",      "N s",    "J",          "time"};
    rgTable table;
    rgTable_Init(&table, headers, 10);
    char time[16];
    for (int i = 0; i < job->files.count; ++i) {
        const rgSolved* solved = &job->solved[i];
        const rgRun* run = &solved->run;
        if (solved->fault != NULL) {
            continue;
        }
        rgTable_Add(&table, "%s", job->files.files[i].relative);
        rgTable_Add(&table, "%d", solved->contactCount);
        rgTable_Add(&table, "%s", rgStatusName(run->report.status));
        rgTable_Add(&table, "%d", run->report.iterationCount);
        rgTable_Add(&table, "%d", run->report.factorizationCount);
        rgTable_Add(&table, "%.1e", run->residual.total);
        rgTable_Add(&table, "%.1e", run->residual.velocity);
        rgTable_Add(&table, "%.1e", run->residual.impulse);
        rgTable_Add(&table, "%.1e", run->residual.complementarity);
        rgTable_Add(&table, "%s", rgFormatSeconds(time, run->seconds));
    }
    rgTable_Print(&table, stdout);
    rgTable_Free(&table);
}

static void rgJsonRun(rgJson* json, const rgRun* run) {
    rgJson_String(json, "status", rgStatusName(run->report.status));
    rgJson_Int(json, "iterations", run->report.iterationCount);
    rgJson_BeginObject(json, "phases");
    for (int i = 0; i < rg_phaseCount; ++i) {
        rgJson_Int(json, rgPhaseName((rgContactPhase)i), run->report.phaseIterations[i]);
    }
    rgJson_EndObject(json);
    rgJson_Int(json, "factorizations", run->report.factorizationCount);
    rgJson_Number(json, "residual", run->residual.total);
    rgJson_Number(json, "residual_velocity", run->residual.velocity);
    rgJson_Number(json, "residual_impulse", run->residual.impulse);
    rgJson_Number(json, "residual_dual", run->residual.dual);
    rgJson_Number(json, "residual_complementarity", run->residual.complementarity);
    rgJson_Number(json, "seconds", run->seconds);
}

static void rgPrintSolveJson(const rgSolveJob* job) {
    rgJson json = {.out = stdout};
    rgJson_BeginObject(&json, NULL);
    rgJson_String(&json, "solver", rgSolverNames[job->options.solver]);
    rgJson_String(&json, "model", rgModelNames[job->options.model]);
    rgJson_Number(&json, "tolerance", job->def.tolerance);
    rgJson_BeginArray(&json, "problems");
    for (int i = 0; i < job->files.count; ++i) {
        rgJson_BeginObject(&json, NULL);
        rgJson_String(&json, "file", job->files.files[i].path);
        if (job->solved[i].fault != NULL) {
            rgJson_String(&json, "status", "error");
            rgJson_String(&json, "error", job->solved[i].fault);
        } else {
            rgJson_Int(&json, "contacts", job->solved[i].contactCount);
            rgJsonRun(&json, &job->solved[i].run);
        }
        rgJson_EndObject(&json);
    }
    rgJson_EndArray(&json);
    rgJson_EndObject(&json);
}

static bool rgWriteHistory(const rgSolveJob* job) {
    rgOutput output;
    if (!rgOutput_Open(&output, job->options.history)) {
        return false;
    }
    rgTable_PrintCsv(&job->history, output.file);
    return rgOutput_Close(&output, true);
}

static int rgCompareTexts(const void* a, const void* b) {
    return strcmp(*(const char* const*)a, *(const char* const*)b);
}

// Two files must not end up as one.
static bool rgCheckOutputs(const rgCaseFiles* files) {
    const char** names = rgCli_Allocate((size_t)files->count, sizeof(char*));
    for (int i = 0; i < files->count; ++i) {
        names[i] = files->files[i].relative;
    }
    qsort(names, (size_t)files->count, sizeof(char*), rgCompareTexts);
    bool distinct = true;
    for (int i = 1; distinct && i < files->count; ++i) {
        if (strcmp(names[i], names[i - 1]) == 0) {
            rgCli_Error("--write: two files would become %s", names[i]);
            distinct = false;
        }
    }
    free(names);
    return distinct;
}

static int rgSummarise(const rgSolveJob* job) {
    int solvedCount = 0;
    int faultCount = 0;
    for (int i = 0; i < job->files.count; ++i) {
        faultCount += job->solved[i].fault != NULL;
        solvedCount += job->solved[i].fault == NULL && job->solved[i].run.solved;
    }
    if (!job->options.json) {
        printf("%d of %d solved to %g", solvedCount, job->files.count, job->def.tolerance);
        printf(faultCount > 0 ? ", %d with errors\n" : "\n", faultCount);
    }
    return faultCount > 0 ? rg_exitUsage : solvedCount < job->files.count ? rg_exitNo : rg_exitDone;
}

// Results of a rank, sent to rank 0: files go round among the ranks.
static void rgUnpackSolved(int rank, const void* bytes, size_t count, void* context) {
    rgSolveJob* job = context;
    rgByteBuffer buffer = {.data = rgCli_Allocate(count + 1, 1), .size = count};
    memcpy(buffer.data, bytes, count);
    for (int i = rank; rank > 0 && i < job->files.count; i += job->comm->size) {
        const rgSolved* solved = rgByteBuffer_Read(&buffer, NULL);
        const char* fault = rgByteBuffer_Read(&buffer, NULL);
        job->solved[i] = *solved;
        job->solved[i].fault = fault != NULL ? rgCli_CopyText(fault) : NULL;
    }
    rgByteBuffer_Free(&buffer);
}

static void rgGatherSolved(rgSolveJob* job) {
    rgByteBuffer buffer = {0};
    for (int i = job->comm->rank; i < job->files.count; i += job->comm->size) {
        const char* fault = job->solved[i].fault;
        rgByteBuffer_Put(&buffer, &job->solved[i], sizeof(rgSolved));
        rgByteBuffer_Put(&buffer, fault, fault != NULL ? strlen(fault) + 1 : 0);
    }
    job->comm->gather(job->comm, buffer.data, buffer.size, rgUnpackSolved, job);
    rgByteBuffer_Free(&buffer);
}

static int rgSolveAll(rgSolveJob* job) {
    rgProgress progress;
    rgProgress_Begin(&progress, "solving", job->files.count);
    for (int i = job->comm->rank; i < job->files.count; i += job->comm->size) {
        rgSolveFile(job, i);
        int64_t done = job->comm->report(job->comm, 1);
        if (job->comm->rank == 0) {
            rgProgress_Update(&progress, (int)done, job->files.files[i].relative);
        }
    }
    rgProgress_End(&progress);
    rgGatherSolved(job);
    if (job->comm->rank > 0) {
        return rg_exitDone;
    }
    if (job->options.json) {
        rgPrintSolveJson(job);
    } else {
        rgPrintSolveTable(job);
    }
    if (job->options.history != NULL && !rgWriteHistory(job)) {
        return rg_exitUsage;
    }
    return rgSummarise(job);
}

static bool rgAllRanksAgree(const rgSolveJob* job, bool found) {
    uint64_t names = 0;
    for (int i = 0; found && i < job->files.count; ++i) {
        const char* name = job->files.files[i].relative;
        names = rgHashBytes(name, strlen(name), names);
    }
    bool same = job->comm->same(job->comm, names);
    if (found && !same && job->comm->rank == 0) {
        rgCli_Error("not all ranks see the same files");
    }
    return found && same;
}

int rgSolve(rgComm* comm, int argc, char** argv) {
    static const char* const columns[] = {"file", "iteration",       "phase",    "primal",
                                          "dual", "complementarity", "residual", "penalty"};
    rgSolveJob job = {.comm = comm};
    int fileCount = 0;
    comm->mute(comm, true);
    int code = rgParseSolve(argc, argv, &job.options, &fileCount);
    if (code == RG_CLI_GO && comm->size > 1 && job.options.history != NULL) {
        rgCli_Error("--history is for one process");
        code = rg_exitUsage;
    }
    if (code == RG_CLI_GO && !rgSolverSupports(job.options.solver, job.options.model)) {
        code = rg_exitUsage;
    }
    if (code != RG_CLI_GO) {
        return code;
    }
    job.def = rgSolveDef(&job.options);
    if (!rgSolverArguments_Check(&job.options.admm, &job.def)) {
        return rg_exitUsage;
    }
    rgResult result = rgCreateContactSolver(&job.def, &job.solver);
    if (result != rg_ok) {
        rgCli_Error("the solver refuses these options: %s", rgResult_Name(result));
        return rg_exitUsage;
    }
    code = rg_exitUsage;
    bool found = rgFindCases(argv + 1, fileCount, &job.files) &&
                 (job.options.outFolder == NULL || rgCheckOutputs(&job.files));
    comm->mute(comm, false);
    if (rgAllRanksAgree(&job, found)) {
        job.solved = rgCli_Allocate((size_t)job.files.count, sizeof(rgSolved));
        rgTable_Init(&job.history, columns, 8);
        code = rgSolveAll(&job);
        for (int i = 0; i < job.files.count; ++i) {
            free(job.solved[i].fault);
        }
        free(job.solved);
        rgTable_Free(&job.history);
    }
    rgCaseFiles_Free(&job.files);
    rgDestroyContactSolver(job.solver);
    return code;
}

int rgCli_Solve(int argc, char** argv) {
    rgComm comm = rgCommAlone();
    return rgSolve(&comm, argc, argv);
}
