// The program `rigor-bench`, which `rigor bench` starts: experiments that make the report, and
// measurements with options of their own. It alone is linked with other engines.
#include "measure/measure.h"
#include "peer.h"
#include "report/parts.h"

#include "cases.h"

#include <cblas.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static int rgBench_List(int argc, char** argv);
static int rgBench_Report(int argc, char** argv);

static const rgVerb rgMeasurements[] = {
    {"batch", "many worlds at once, beside MuJoCo with one mjData per thread", rgBench_Batch},
    {"collision", "pairs, distances, broadphase, beside FCL, libccd and Bullet", rgBench_Collision},
    {"derivatives", "derivatives of steps beside steps and differences", rgBench_Derivatives},
    {"dynamics", "rigid-body algorithms, beside MuJoCo", rgBench_Dynamics},
#ifdef RIGOR_HAVE_CHOLMOD
    {"factor", "sparse factorizations, beside CHOLMOD", rgBench_Factor},
#endif
    {"falls", "scenes at many time steps: unsolved steps, factorizations, depth", rgBench_Falls},
    {"generate", "collections of contact problems, as FCLIB files", rgBench_Generate},
    {"inverse", "inverse dynamics with contacts: an arm that slides on a wall", rgBench_Inverse},
    {"kernels", "dense kernels, beside OpenBLAS", rgBench_Kernels},
    {"lanes", "contact problems in bulk, on one core and on GPUs", rgBench_Lanes},
    {"worlds", "worlds that step on a device, on one core and on GPUs", rgBench_Worlds},
    {"physics", "experiments with known answers", rgBench_Physics},
    {"pile", "a falling pile, beside Bullet", rgBench_Pile},
    {"simulate", "steps per second of whole simulations, beside MuJoCo", rgBench_Simulate},
    {"solver", "contact solvers on FCLIB problems", rgBench_Solver},
};
enum { rg_measurementCount = sizeof(rgMeasurements) / sizeof(rgMeasurements[0]) };

static const rgVerb rgOwnVerbs[] = {
    {"list", "the experiments of the report, and the engines that were built in", rgBench_List},
    {"report", "make all experiments, or those named, and write a page", rgBench_Report},
};
enum { rg_ownCount = sizeof(rgOwnVerbs) / sizeof(rgOwnVerbs[0]) };

// ---- one experiment

typedef struct rgBenchArguments {
    bool quick, full;
    const char* out;
    int limit; // [s]
} rgBenchArguments;

enum { rg_argumentCount = 4 };

static void rgBenchOptions(rgBenchArguments* arguments, rgOption* table) {
    const rgOption options[rg_argumentCount] = {
        {"--quick", rg_optionFlag, &arguments->quick, "seconds: that it runs, not how fast", NULL,
         NULL, 0, 0},
        {"--full", rg_optionFlag, &arguments->full, "the long runs", NULL, NULL, 0, 0},
        {"--out", rg_optionText, &arguments->out, "folder for the page, JSON and CSV", "DIR", NULL,
         0, 0},
        {"--limit", rg_optionInt, &arguments->limit, "give up an experiment after so many seconds",
         "S", NULL, 1, 1e6},
    };
    memcpy(table, options, sizeof(options));
}

static rgEffort rgEffortOf(const rgBenchArguments* arguments) {
    return arguments->quick ? rg_effortQuick : arguments->full ? rg_effortFull : rg_effortNormal;
}

static bool rgHolds(const rgReport* report) {
    bool holds = report->fault == NULL;
    for (int i = 0; i < report->verdictCount; ++i) {
        holds = holds && report->verdicts[i].holds;
    }
    return holds;
}

static bool rgMakeFolders(const char* folder) {
    char* inside = rgCli_Format("%s/sections/x", folder);
    bool made = rgMakeParents(inside);
    if (!made) {
        rgCli_Error("%s: cannot be made: %s", folder, strerror(errno));
    }
    free(inside);
    return made;
}

static bool rgWriteAll(const rgReport* report, const char* folder) {
    return rgReport_WriteFiles(report, folder) && rgReport_WriteSection(report, folder);
}

// Run an experiment and write its results; returns its exit code.
static int rgMakeExperiment(const rgExperiment* experiment, rgEffort effort, const char* folder,
                            FILE* print) {
    rgReport* report = rgCreateReport(experiment, effort, folder);
    double begin = rgCli_Seconds();
    if (!experiment->run(report) && report->fault == NULL) {
        rgReport_Fail(report, "no reason was given");
    }
    report->seconds = rgCli_Seconds() - begin;
    if (report->inProgress) {
        rgProgress_End(&report->progress);
    }
    bool good = rgHolds(report);
    if (print != NULL) {
        rgReport_Print(report, print);
    }
    bool written = folder == NULL || rgWriteAll(report, folder);
    rgDestroyReport(report);
    return !written ? rg_exitUsage : good ? rg_exitDone : rg_exitNo;
}

static int rgRunExperiment(const rgExperiment* experiment, int argc, char** argv) {
    rgBenchArguments arguments = {0};
    rgOption table[rg_argumentCount];
    char* name = rgCli_Format("rigor bench %s", experiment->name);
    char* summary =
        rgCli_Format("%s (%s).\n%s", experiment->title, experiment->source, experiment->question);
    rgBenchOptions(&arguments, table);
    const rgCommand command = {.name = name,
                               .usage = "[OPTIONS]",
                               .summary = summary,
                               .options = table,
                               .optionCount = rg_argumentCount};
    int count = 0, code = rgParseOptions(&command, argc, argv, &count);
    if (code == RG_CLI_GO && arguments.out != NULL && !rgMakeFolders(arguments.out)) {
        code = rg_exitUsage;
    }
    if (code == RG_CLI_GO) {
        rgEffort effort = rgEffortOf(&arguments);
        alarm((unsigned)arguments.limit);
        code = rgMakeExperiment(experiment, effort, arguments.out, stdout);
        alarm(0);
        if (arguments.out != NULL && !rgWritePage(arguments.out, effort)) {
            code = rg_exitUsage;
        }
    }
    free(name);
    free(summary);
    return code;
}

// ---- the list

static int rgBench_List(int argc, char** argv) {
    const rgCommand command = {.name = "rigor bench list",
                               .usage = "",
                               .summary = "Name the experiments of the report and the engines."};
    int count = 0, code = rgParseOptions(&command, argc, argv, &count);
    if (code != RG_CLI_GO) {
        return code;
    }
    printf("experiments (rigor bench NAME [--quick|--full] [--out DIR])\n");
    for (int i = 0; i < rgExperimentCount; ++i) {
        printf("  %-18s %s (%s)\n", rgExperiments[i]->name, rgExperiments[i]->question,
               rgExperiments[i]->source);
    }
    printf("measurements (rigor bench NAME --help)\n");
    for (int i = 0; i < rg_measurementCount; ++i) {
        printf("  %-18s %s\n", rgMeasurements[i].name, rgMeasurements[i].summary);
    }
    printf("engines\n");
    for (int i = 0; rgPeerAt(i) != NULL; ++i) {
        const rgPeer* peer = rgPeerAt(i);
        printf("  %-18s %s", peer->name, peer->version());
        for (int k = 0; peer->variants[k] != NULL; ++k) {
            printf("%s%s", k == 0 ? ": " : ", ",
                   peer->variants[k][0] != '\0' ? peer->variants[k] : "(default)");
        }
        printf("\n");
    }
    return rg_exitDone;
}

// ---- the report

// An experiment that ended without a report of its own.
static void rgReportDeath(const rgExperiment* experiment, rgEffort effort, const char* folder,
                          int status, int limit) {
    rgReport* report = rgCreateReport(experiment, effort, folder);
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM) {
        rgReport_Fail(report, "it did not end within %d s", limit);
    } else if (WIFSIGNALED(status)) {
        rgReport_Fail(report, "it ended with signal %d", WTERMSIG(status));
    } else {
        rgReport_Fail(report, "it ended with code %d", WEXITSTATUS(status));
    }
    rgWriteAll(report, folder);
    rgDestroyReport(report);
}

// Run in a process of its own: its failure does not end the others.
static int rgRunApart(const rgExperiment* experiment, const rgBenchArguments* arguments) {
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        alarm((unsigned)arguments->limit);
        int code = rgMakeExperiment(experiment, rgEffortOf(arguments), arguments->out, NULL);
        fflush(NULL);
        _exit(code);
    }
    int status = 0;
    while (child < 0 || waitpid(child, &status, 0) < 0) {
        if (child < 0 || errno != EINTR) {
            rgCli_Error("no process: %s", strerror(errno));
            return rg_exitUsage;
        }
    }
    if (!WIFEXITED(status) || WEXITSTATUS(status) == rg_exitUsage) {
        rgReportDeath(experiment, rgEffortOf(arguments), arguments->out, status, arguments->limit);
        return rg_exitNo;
    }
    return WEXITSTATUS(status);
}

static int rgMakeReport(const rgExperiment* const* chosen, int count,
                        const rgBenchArguments* arguments) {
    int failed = 0;
    double begin = rgCli_Seconds();
    for (int i = 0; i < count; ++i) {
        double start = rgCli_Seconds();
        fprintf(stderr, "[%2d/%d] %-18s ", i + 1, count, chosen[i]->name);
        fflush(stderr);
        bool good = rgRunApart(chosen[i], arguments) == rg_exitDone;
        failed += !good;
        fprintf(stderr, "%7.1f s%s\n", rgCli_Seconds() - start, good ? "" : "  FAILED");
        if (!rgWritePage(arguments->out, rgEffortOf(arguments))) {
            return rg_exitUsage;
        }
    }
    fprintf(stderr, "%d of %d experiments in %.0f s: %s/index.html\n", count - failed, count,
            rgCli_Seconds() - begin, arguments->out);
    return failed == 0 ? rg_exitDone : rg_exitNo;
}

static int rgBench_Report(int argc, char** argv) {
    rgBenchArguments arguments = {.out = "build/bench/report"};
    rgOption table[rg_argumentCount];
    rgBenchOptions(&arguments, table);
    const rgCommand command = {
        .name = "rigor bench report",
        .usage = "[NAME...] [OPTIONS]",
        .summary = "Make the experiments, all or those named, one after the other, each in a\n"
                   "process of its own, and write DIR/index.html (build/bench/report) with JSON\n"
                   "and CSV beside it. Sections of earlier runs in that folder stay.",
        .options = table,
        .optionCount = rg_argumentCount,
        .maxArguments = -1};
    int count = 0, code = rgParseOptions(&command, argc, argv, &count);
    if (code != RG_CLI_GO) {
        return code;
    }
    arguments.limit = arguments.limit > 0 ? arguments.limit : arguments.full ? 3600 : 900;
    const rgExperiment** chosen =
        rgCli_Allocate((size_t)(count > 0 ? count : rgExperimentCount), sizeof(*chosen));
    for (int i = 0; code == RG_CLI_GO && i < count; ++i) {
        chosen[i] = rgFindExperiment(argv[i + 1]);
        if (chosen[i] == NULL) {
            rgCli_Error("'%s' is not an experiment (rigor bench list names them)", argv[i + 1]);
            code = rg_exitUsage;
        }
    }
    if (count == 0) {
        memcpy((void*)chosen, (const void*)rgExperiments,
               (size_t)rgExperimentCount * sizeof(*chosen));
        count = rgExperimentCount;
    }
    if (code == RG_CLI_GO) {
        code =
            rgMakeFolders(arguments.out) ? rgMakeReport(chosen, count, &arguments) : rg_exitUsage;
    }
    free((void*)chosen);
    return code;
}

// ---- main

const rgExperiment* rgFindExperiment(const char* name) {
    for (int i = 0; i < rgExperimentCount; ++i) {
        if (strcmp(rgExperiments[i]->name, name) == 0) {
            return rgExperiments[i];
        }
    }
    return NULL;
}

// Names of all experiments, for help and for misspelt names.
static int rgFillVerbs(rgVerb* verbs) {
    int count = 0;
    for (int i = 0; i < rg_ownCount; ++i) {
        verbs[count++] = rgOwnVerbs[i];
    }
    for (int i = 0; i < rg_measurementCount; ++i) {
        verbs[count++] = rgMeasurements[i];
    }
    return count;
}

// Peers start OpenMP threads of their own; one thread each is the fair comparison, and OpenMP reads
// its limit at start-up.
static void rgRestartWithOneThread(char** argv) {
    if (getenv("OMP_THREAD_LIMIT") == NULL) {
        setenv("OMP_THREAD_LIMIT", "1", 1);
        execv("/proc/self/exe", argv);
    }
}

int main(int argc, char** argv) {
    rgVerb verbs[rg_ownCount + rg_measurementCount];
    rgRestartWithOneThread(argv);
    openblas_set_num_threads(1);
    const rgExperiment* experiment = argc >= 2 ? rgFindExperiment(argv[1]) : NULL;
    int code = experiment != NULL ? rgRunExperiment(experiment, argc - 1, argv + 1)
                                  : rgRunVerb("rigor bench", verbs, rgFillVerbs(verbs), argc, argv);
    if (fflush(stdout) != 0 || ferror(stdout) != 0) {
        rgCli_Error("the standard output cannot be written");
        return rg_exitUsage;
    }
    return code;
}
