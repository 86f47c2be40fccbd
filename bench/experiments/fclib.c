// The paper's Fig. 7 and Tables II to IV: performance profiles on collections of contact problems,
// and the linear and the spectral rule of ADMM's penalty. Protocol of the paper: 1e-6, at most
// 20000 iterations, each problem as a whole; by islands beside it.
#include "collection.h"
#include "dense_problem.h"
#include "frozen.h"
#include "measure/solver.h"
#include "report/report.h"
#include "scratch.h"
#include "solver_peer.h"
#include "stats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct rgFclibStudy {
    rgReport* report;
    char* scratch;
    rgCaseFiles files;
    rgBench problems; // as loaded, without variants; ours first
    int ownCount;
    int doneCount, taskCount;
} rgFclibStudy;

// ---- problems

static const char* rgFamilyAt(const rgFclibStudy* study, int index) {
    return study->problems.problems[index].family;
}

static bool rgIsFirst(const rgFclibStudy* study, int index) {
    for (int i = 0; i < index; ++i) {
        if (strcmp(rgFamilyAt(study, i), rgFamilyAt(study, index)) == 0) {
            return false;
        }
    }
    return true;
}

static void rgDescribe(rgFclibStudy* study, int originals) {
    rgSheet* sheet = rgReport_Table(study->report, "problems", "Problems (paper, Table II)");
    rgSheet_Column(sheet, "collection", NULL, NULL);
    rgSheet_Column(sheet, "problems", NULL, "%.0f");
    rgSheet_Column(sheet, "contacts, least", NULL, "%.0f");
    rgSheet_Column(sheet, "median", NULL, "%.0f");
    rgSheet_Column(sheet, "most", NULL, "%.0f");
    rgSheet_Column(sheet, "friction", NULL, "%.2g");
    for (int i = 0; i < study->problems.problemCount; ++i) {
        if (!rgIsFirst(study, i)) {
            continue;
        }
        double* contacts = rgCli_Allocate((size_t)study->problems.problemCount, sizeof(double));
        int count = 0;
        for (int k = i; k < study->problems.problemCount; ++k) {
            const rgBenchProblem* problem = &study->problems.problems[k];
            if (strcmp(problem->family, rgFamilyAt(study, i)) == 0) {
                contacts[count++] = problem->contactCount;
            }
        }
        const rgContactProblem* first = &study->problems.problems[i].problem;
        rgSheet_Text(sheet, "%s", rgFamilyAt(study, i));
        rgSheet_Number(sheet, count);
        rgSheet_Number(sheet, rgQuantileOf(contacts, count, 0));
        rgSheet_Number(sheet, rgQuantileOf(contacts, count, 0.5));
        rgSheet_Number(sheet, rgQuantileOf(contacts, count, 1));
        rgSheet_Number(sheet, first->blockCount > 0 ? first->blocks[0].mu : NAN);
        free(contacts);
    }
    rgReport_Note(
        study->report,
        "The collections with a small initial (boxes, chain, capsules) are our own: states "
        "of simulations under the names of the paper's Table II, a quarter of its numbers, frozen "
        "in bench/problems. %d files are of FCLIB itself%s. The original 746 "
        "problems of the paper are not at hand: numbers here are of these problems.",
        originals, originals == 0 ? " (./setup data looks for them)" : "");
}

// The frozen ones, as anyone would read them; then those of FCLIB.
static bool rgGather(rgFclibStudy* study, int stride, int* originals) {
    const char* data = getenv("RIGOR_DATA");
    char* fclib = rgCli_Format("%s/fclib", data != NULL ? data : "../shared/data");
    bool good = rgFindFrozen(study->scratch, stride, &study->files);
    study->ownCount = study->files.count;
    for (int i = 0; i < study->ownCount; ++i) { // distinguish equal names of collections
        char* family = study->files.files[i].family;
        family[0] = (char)(family[0] - 'A' + 'a');
    }
    good = good && rgBench_Load(&study->problems, &study->files);
    rgCaseFiles others = {0};
    char* folders[1] = {fclib};
    bool quick = rgReport_Effort(study->report) == rg_effortQuick;
    bool both = access(fclib, R_OK) == 0 && !quick;
    good = good && (!both || rgFindCases(folders, 1, &others));
    *originals = others.count;
    if (good && both) {
        rgBench more = {0};
        good = rgBench_Load(&more, &others);
        size_t count = (size_t)study->problems.problemCount, added = (size_t)more.problemCount;
        study->problems.problems =
            rgCli_Grow(study->problems.problems, count + added, sizeof(rgBenchProblem));
        memcpy(study->problems.problems + count, more.problems, added * sizeof(rgBenchProblem));
        study->problems.problemCount += more.problemCount;
        free(more.problems);
    }
    rgCaseFiles_Free(&others);
    free(fclib);
    return good;
}

// ---- runs

static rgVariant* rgAddMethod(rgBench* bench, const char* name, const char* solver) {
    rgVariant* variant = &bench->variants[bench->variantCount++];
    snprintf(variant->name, sizeof(variant->name), "%s", name);
    variant->def = rgSolverDef(rgSolverIndex(solver, strlen(solver)));
    variant->def.splitIslands = false;
    return variant;
}

// Every variant on the first problems; the runs belong to the caller.
static bool rgMeasure(rgFclibStudy* study, rgBench* bench, int count, const char* what) {
    rgReport_Progress(study->report, study->doneCount++, study->taskCount, what);
    bench->study = what;
    bench->tolerance = 1e-6;
    bench->repeat = rgReport_Pick(study->report, 1, 2, 3);
    bench->problems = study->problems.problems;
    bench->problemCount = count;
    for (int v = 0; v < bench->variantCount; ++v) {
        rgContactSolverDef* def = &bench->variants[v].def;
        def->tolerance = bench->tolerance;
        def->maxIterations = rgReport_Pick(study->report, 2000, 20000, 20000);
        if (rgCreateContactSolver(def, &bench->variants[v].solver) != rg_ok) {
            return false;
        }
    }
    rgBench_MeasureAll(bench, 0.2);
    return true;
}

static void rgFreeRuns(rgBench* bench) {
    for (int v = 0; v < bench->variantCount; ++v) {
        rgDestroyContactSolver(bench->variants[v].solver);
    }
    free(bench->runs);
}

// ---- performance profiles

static const char rgOriginals[] = "FCLIB's files";

// Ours have a small initial; those of FCLIB count as one collection.
static bool rgIsOf(const rgBenchProblem* problem, const char* family) {
    return family == NULL || (family == rgOriginals ? problem->family[0] < 'a'
                                                    : strcmp(problem->family, family) == 0);
}

static double* rgFamilyCosts(const rgBench* bench, const char* family, int* count) {
    double* costs =
        rgCli_Allocate((size_t)bench->problemCount * (size_t)bench->variantCount, sizeof(double));
    *count = 0;
    for (int i = 0; i < bench->problemCount; ++i) {
        if (rgIsOf(&bench->problems[i], family)) {
            for (int v = 0; v < bench->variantCount; ++v) {
                const rgRun* run = rgBench_Run(bench, i, v);
                costs[*count * bench->variantCount + v] =
                    rgBench_IsTrue(bench, run) ? run->seconds : INFINITY;
            }
            *count += 1;
        }
    }
    return costs;
}

static void rgPlotCosts(rgReport* report, const rgBench* bench, const char* name, const char* title,
                        const double* costs, int count) {
    char* full = rgCli_Format("%s, %d problems", title, count);
    rgPlot* plot = rgReport_Plot(report, &(rgPlotDef){.name = name,
                                                      .title = full,
                                                      .x = "time over that of the fastest",
                                                      .y = "share solved to 1e-6",
                                                      .kind = rg_plotSteps,
                                                      .logX = true,
                                                      .low = 0,
                                                      .high = 1});
    double end = fmax(rgProfileEnd(costs, count, bench->variantCount), 10);
    for (int v = 0; v < bench->variantCount; ++v) {
        int series = rgPlot_Series(plot, bench->variants[v].name);
        for (int k = 0; k <= 100; ++k) {
            double factor = pow(end, k / 100.0);
            rgPlot_Point(plot, series, factor,
                         rgProfileAt(costs, count, bench->variantCount, v, factor));
        }
    }
    free(full);
}

static void rgPlotProfile(rgReport* report, const rgBench* bench, const char* family,
                          const char* title) {
    int count = 0;
    double* costs = rgFamilyCosts(bench, family, &count);
    char* name = rgCli_Format("profile_%s", family == NULL          ? "all"
                                            : family == rgOriginals ? "FCLIB"
                                                                    : family);
    rgPlotCosts(report, bench, name, title, costs, count);
    free(name);
    free(costs);
}

static void rgAddSolverRows(rgSheet* sheet, const rgBench* bench, const char* family) {
    int count = 0;
    double* costs = rgFamilyCosts(bench, family, &count);
    for (int v = 0; v < bench->variantCount; ++v) {
        double* times = rgCli_Allocate((size_t)count, sizeof(double));
        double iterations = 0;
        int solved = 0, claimed = 0, k = 0;
        for (int i = 0; i < bench->problemCount; ++i) {
            const rgRun* run = rgBench_Run(bench, i, v);
            if (rgIsOf(&bench->problems[i], family)) {
                claimed += run->report.status == rg_contactSolved;
                if (isfinite(costs[k * bench->variantCount + v])) {
                    times[solved++] = costs[k * bench->variantCount + v];
                    iterations += run->report.iterationCount;
                }
                ++k;
            }
        }
        rgSheet_Text(sheet, "%s", family != NULL ? family : "all");
        rgSheet_Text(sheet, "%s", bench->variants[v].name);
        rgSheet_Number(sheet, count);
        rgSheet_Number(sheet, claimed);
        rgSheet_Number(sheet, solved);
        rgSheet_Number(sheet, solved > 0 ? iterations / solved : NAN);
        rgSheet_Number(sheet, 1e3 * rgMeanOf(times, solved));
        rgSheet_Number(sheet, 1e3 * rgGeometricMeanOf(times, solved));
        free(times);
    }
    free(costs);
}

// Means are over the problems that a method itself solved; the profile is the fair comparison.
static rgSheet* rgAddSolverTable(rgReport* report, const char* name, const char* title) {
    rgSheet* sheet = rgReport_Table(report, name, title);
    rgSheet_Column(sheet, "collection", NULL, NULL);
    rgSheet_Column(sheet, "method", NULL, NULL);
    rgSheet_Column(sheet, "problems", NULL, "%.0f");
    rgSheet_Column(sheet, "says solved", NULL, "%.0f");
    rgSheet_Column(sheet, "truly 1e-6", NULL, "%.0f");
    rgSheet_Column(sheet, "iterations", "mean", "%.1f");
    rgSheet_Column(sheet, "time", "ms, mean", "%.3g");
    rgSheet_Column(sheet, "time", "ms, geometric", "%.3g");
    return sheet;
}

static bool rgProfiles(rgFclibStudy* study, char* conclusion, size_t size) {
    rgBench bench = {0};
    rgAddMethod(&bench, "rigor (auto)", "auto");
    rgAddMethod(&bench, "accelerated ADMM", "admm-fast");
    rgAddMethod(&bench, "paper's ADMM, spectral", "admm");
    rgAddMethod(&bench, "paper's ADMM, linear", "admm")->def.admm.rule = rg_penaltyLinear;
    rgAddMethod(&bench, "PGS", "pgs");
    rgAddMethod(&bench, "rigor (auto), by islands", "auto")->def.splitIslands = true;
    bool good = rgMeasure(study, &bench, study->problems.problemCount, "profiles");
    if (good) {
        rgSheet* sheet =
            rgAddSolverTable(study->report, "solvers", "Methods, each problem as a whole");
        for (int i = 0; i < bench.problemCount; ++i) {
            const char* family = rgFamilyAt(study, i);
            if (rgIsFirst(study, i) && family[0] >= 'a') {
                rgPlotProfile(study->report, &bench, family, family);
                rgAddSolverRows(sheet, &bench, family);
            }
        }
        if (study->ownCount < bench.problemCount) {
            rgPlotProfile(study->report, &bench, rgOriginals, rgOriginals);
            rgAddSolverRows(sheet, &bench, rgOriginals);
        }
        rgPlotProfile(study->report, &bench, NULL, "all");
        rgAddSolverRows(sheet, &bench, NULL);
        enum { methods = 6 };
        int count = 0, solved[methods] = {0};
        double* costs = rgFamilyCosts(&bench, NULL, &count);
        for (int i = 0; i < count; ++i) {
            for (int v = 0; v < methods; ++v) {
                solved[v] += isfinite(costs[methods * i + v]);
            }
        }
        snprintf(
            conclusion, size,
            "rigor's default solves %d of %d problems to a true 1e-6 by islands and %d as a "
            "whole; the paper's ADMM solves %d (linear rule %d), PGS %d. Within twice the time "
            "of the fastest it has %.0f %%, the paper's ADMM %.0f %%, PGS %.0f %%.",
            solved[5], count, solved[0], solved[2], solved[3], solved[4],
            100 * rgProfileAt(costs, count, methods, 0, 2),
            100 * rgProfileAt(costs, count, methods, 2, 2),
            100 * rgProfileAt(costs, count, methods, 4, 2));
        rgReport_Check(study->report, solved[5] >= (int)(0.98 * count),
                       "the default solves %d of %d", solved[5], count);
        free(costs);
    }
    rgFreeRuns(&bench);
    return good;
}

// ---- the paper's own test, and other programs

// Some problems of the bench, as dense matrices.
typedef struct rgChosen {
    int count;
    int* index; // in the bench
    rgDenseProblem* dense;
    const rgContactProblem** problems;
} rgChosen;

// Every so many of the collections, and all of FCLIB's files.
static rgChosen rgChoose(const rgBench* bench, int stride) {
    size_t most = (size_t)bench->problemCount + 1;
    rgChosen chosen = {0, rgCli_Allocate(most, sizeof(int)),
                       rgCli_Allocate(most, sizeof(rgDenseProblem)),
                       rgCli_Allocate(most, sizeof(rgContactProblem*))};
    for (int i = 0; i < bench->problemCount; ++i) {
        if (i % stride == 0 || rgIsOf(&bench->problems[i], rgOriginals)) {
            int k = chosen.count++;
            chosen.index[k] = i;
            rgDenseProblem_Copy(&chosen.dense[k], &bench->problems[i].problem);
            chosen.problems[k] = &chosen.dense[k].problem;
        }
    }
    return chosen;
}

static void rgChosen_Free(rgChosen* chosen) {
    for (int i = 0; i < chosen->count; ++i) {
        rgDenseProblem_Free(&chosen->dense[i]);
    }
    free(chosen->index);
    free(chosen->dense);
    free((void*)chosen->problems);
}

// Iterations at most of other people's programs.
static int rgProgramIterations(const rgFclibStudy* study) {
    return rgReport_Pick(study->report, 200, 1000, 20000);
}

// Times of a method of the authors' own program, by its own test; a variant of the bench by name
// alone.
static void rgAddOwnTestOf(rgFclibStudy* study, rgBench* bench, const char* method, double* costs,
                           int stride) {
    const rgSolverPeer* peer = rgFindSolverPeer("Pinocchio", method);
    int count = bench->problemCount;
    rgSolverAnswer* answers = rgCli_Allocate((size_t)count, sizeof(rgSolverAnswer));
    rgChosen chosen = rgChoose(bench, 1);
    char fault[256], name[32];
    bool good = rgSolverPeer_Solve(peer, chosen.problems, count, bench->tolerance,
                                   rgProgramIterations(study), answers, fault, sizeof(fault));
    for (int i = 0; i < count; ++i) {
        bool ended = good && answers[i].lambda != NULL && answers[i].claimed;
        costs[i * stride] = ended ? answers[i].seconds : INFINITY;
    }
    snprintf(name, sizeof(name), good ? "Pinocchio's %s, own test" : "%s: not installed", method);
    rgAddMethod(bench, name, "pgs");
    rgSolverAnswers_Free(answers, count);
    free(answers);
    rgChosen_Free(&chosen);
}

// Profiles by the criterion of the paper's Fig. 7: a problem counts as solved if it ends by the
// method's own test.
static bool rgOwnTest(rgFclibStudy* study) {
    rgBench bench = {0};
    rgAddMethod(&bench, "rigor (auto), true 1e-6", "auto")->def.splitIslands = true;
    rgAddMethod(&bench, "ADMM, spectral, own test", "admm")->def.stop = rg_stopPaper;
    rgVariant* linear = rgAddMethod(&bench, "ADMM, linear, own test", "admm");
    linear->def.stop = rg_stopPaper;
    linear->def.admm.rule = rg_penaltyLinear;
    bool good = rgMeasure(study, &bench, study->problems.problemCount, "own test");
    if (good) {
        enum { own = 3, programs = 2, methods = own + programs };
        static const char* const names[programs] = {"ADMM", "PGS"};
        int count = bench.problemCount;
        double* costs = rgCli_Allocate((size_t)count * methods, sizeof(double));
        for (int i = 0; i < count * own; ++i) {
            const rgRun* run = rgBench_Run(&bench, i / own, i % own);
            costs[i / own * methods + i % own] =
                run->report.status == rg_contactSolved ? run->seconds : INFINITY;
        }
        for (int k = 0; k < programs; ++k) {
            rgAddOwnTestOf(study, &bench, names[k], costs + own + k, methods);
        }
        rgPlotCosts(study->report, &bench, "profile_own_test", "all, by the paper's own test",
                    costs, count);
        free(costs);
    }
    rgFreeRuns(&bench);
    return good;
}

// Another program beside rigor's default on the same problems, cold.
typedef struct rgProgramSum {
    int taken, claimed, first, truly;
    double* seconds; // CPU time of the truly solved problems
    double* ratios;  // over the time of rigor's default, where that is solved as well
    int ratioCount;
    double iterations;
} rgProgramSum;

static void rgWriteProgram(rgSheet* sheet, const rgSolverPeer* peer, const rgProgramSum* sum,
                           const char* fault) {
    rgSheet_Text(sheet, "%s%s%s", peer->name, peer->method[0] != '\0' ? " " : "", peer->method);
    rgSheet_Number(sheet, sum->taken);
    rgSheet_Number(sheet, sum->claimed);
    rgSheet_Number(sheet, sum->first);
    rgSheet_Number(sheet, sum->truly);
    rgSheet_Number(sheet, sum->truly > 0 ? sum->iterations / sum->truly : NAN);
    rgSheet_Number(sheet, sum->truly > 0 ? 1e3 * rgGeometricMeanOf(sum->seconds, sum->truly) : NAN);
    rgSheet_Number(sheet,
                   sum->ratioCount > 0 ? rgGeometricMeanOf(sum->ratios, sum->ratioCount) : NAN);
    rgSheet_Text(sheet, "%s", fault);
}

static void rgMeasureProgram(rgFclibStudy* study, rgSheet* sheet, const rgSolverPeer* peer,
                             const rgBench* own, const rgChosen* chosen) {
    int count = chosen->count;
    const rgContactProblem** problems = chosen->problems;
    rgSolverAnswer* answers = rgCli_Allocate((size_t)count, sizeof(rgSolverAnswer));
    bool* first = rgCli_Allocate((size_t)count, sizeof(bool));
    rgProgramSum sum = {.seconds = rgCli_Allocate((size_t)count, sizeof(double)),
                        .ratios = rgCli_Allocate((size_t)count, sizeof(double))};
    char fault[256] = "";
    bool good =
        rgSolverPeer_SolveTruly(peer, problems, count, own->tolerance, rgProgramIterations(study),
                                answers, first, fault, sizeof(fault));
    for (int i = 0; i < count && good; ++i) {
        rgResidual residual = {.total = INFINITY};
        const rgRun* run = rgBench_Run(own, chosen->index[i], 0);
        if (answers[i].lambda != NULL) {
            rgContactProblem_Judge(problems[i], peer->model, answers[i].lambda, &residual);
            sum.taken += 1;
            sum.claimed += answers[i].claimed;
            sum.first += first[i];
        }
        if (residual.total <= own->tolerance) {
            sum.iterations += answers[i].iterations;
            sum.seconds[sum.truly++] = answers[i].seconds;
            if (rgBench_IsTrue(own, run)) {
                sum.ratios[sum.ratioCount++] = answers[i].seconds / run->seconds;
            }
        }
    }
    rgWriteProgram(sheet, peer, &sum, fault);
    rgSolverAnswers_Free(answers, count);
    free(answers);
    free(first);
    free(sum.seconds);
    free(sum.ratios);
}

static bool rgPrograms(rgFclibStudy* study) {
    rgSheet* sheet = rgReport_Table(study->report, "programs", "Other people's programs");
    rgSheet_Column(sheet, "program", NULL, NULL);
    rgSheet_Column(sheet, "problems", NULL, "%.0f");
    rgSheet_Column(sheet, "says solved", NULL, "%.0f");
    rgSheet_Column(sheet, "truly 1e-6", NULL, "%.0f");
    rgSheet_Column(sheet, "with less tolerance", NULL, "%.0f");
    rgSheet_Column(sheet, "iterations", "mean", "%.1f");
    rgSheet_Column(sheet, "time", "ms, geometric", "%.3g");
    rgSheet_Column(sheet, "time over rigor's", NULL, "%.2f");
    rgSheet_Column(sheet, "takes no part", NULL, NULL);
    rgBench own = {0};
    rgAddMethod(&own, "rigor (auto)", "auto")->def.splitIslands = true;
    bool good = rgMeasure(study, &own, study->problems.problemCount, "programs");
    rgChosen chosen = {0};
    if (good) {
        chosen = rgChoose(&own, rgReport_Pick(study->report, 1, 3, 1));
    }
    for (int p = 0; p < rgSolverPeerCount && good; ++p) {
        rgReport_Progress(study->report, study->doneCount, study->taskCount, rgSolverPeers[p].name);
        if (strstr(rgSolverPeers[p].method, "kept") != NULL) {
            continue; // no trajectory: the problems do not follow each other
        }
        rgMeasureProgram(study, sheet, &rgSolverPeers[p], &own, &chosen);
    }
    rgChosen_Free(&chosen);
    rgFreeRuns(&own);
    rgReport_Note(
        study->report,
        "Other programs get every third problem of the collections (with --full all) and all "
        "of FCLIB's files, as dense matrices, made dimensionless for those "
        "whose tolerances are absolute, and at most %d iterations. They stop by tests of "
        "their own: \"says solved\" and \"truly 1e-6\" are with a tolerance of 1e-6, "
        "\"with less tolerance\" with the largest of 1e-6, 1e-7, ... that the judge "
        "accepts, of which iterations and times are. \"Time over rigor's\" is the "
        "geometric mean over the problems that both solve, with rigor's default by "
        "islands. SCS solves the convex relaxation, and is judged by that.",
        rgProgramIterations(study));
    return good;
}

// ---- the rules of the penalty

enum { rg_ruleCount = 7 };
static const double rgFactors[] = {2, 4, 8, 16}, rgSteps[] = {0.01, 0.05, 0.08};

static void rgAddRules(rgBench* bench, rgStopTest stop, double linearStart, bool islands) {
    for (int i = 0; i < rg_ruleCount; ++i) {
        char name[32];
        bool linear = i < 4;
        snprintf(name, sizeof(name), linear ? "linear, tau %g" : "spectral, p %g",
                 linear ? rgFactors[i] : rgSteps[i - 4]);
        rgContactSolverDef* def = &rgAddMethod(bench, name, "admm")->def;
        def->stop = stop;
        def->splitIslands = islands;
        def->admm.rule = linear ? rg_penaltyLinear : rg_penaltySpectral;
        def->admm.factor = linear ? rgFactors[i] : def->admm.factor;
        def->admm.exponentStep = linear ? def->admm.exponentStep : rgSteps[i - 4];
        def->admm.penalty = linear ? linearStart : 0;
    }
}

// A row per collection: "mean ± deviation (median)" of updates or milliseconds.
static void rgAddRuleRow(rgSheet* sheet, const rgBench* bench, const char* family, bool time,
                         double* means) {
    double* values = rgCli_Allocate((size_t)bench->problemCount, sizeof(double));
    double mean[rg_ruleCount], spread[rg_ruleCount], median[rg_ruleCount];
    int best = 0;
    for (int v = 0; v < rg_ruleCount; ++v) {
        int count = 0;
        for (int i = 0; i < bench->problemCount; ++i) {
            if (strcmp(bench->problems[i].family, family) == 0) {
                const rgRun* run = rgBench_Run(bench, i, v);
                // Leave out two factorizations: that of the spectrum and that of the first penalty.
                values[count++] =
                    time ? 1e3 * run->seconds : fmax(run->report.factorizationCount - 2, 0);
            }
        }
        mean[v] = rgMeanOf(values, count);
        spread[v] = rgDeviationOf(values, count);
        median[v] = rgQuantileOf(values, count, 0.5);
        best = mean[v] < mean[best] ? v : best;
        means[v] = mean[v];
    }
    rgSheet_Text(sheet, "%s", family);
    for (int v = 0; v < rg_ruleCount; ++v) {
        rgSheet_Text(sheet, time ? "%.3g ± %.2g (%.3g)" : "%.2f ± %.2f (%.0f)", mean[v], spread[v],
                     median[v]);
        if (v == best) {
            rgSheet_Mark(sheet);
        }
    }
    free(values);
}

static void rgAddRuleTable(rgFclibStudy* study, const rgBench* bench, const char* name,
                           const char* title, bool time, double means[][rg_ruleCount]) {
    rgSheet* sheet = rgReport_Table(study->report, name, title);
    rgSheet_Column(sheet, "collection", NULL, NULL);
    for (int v = 0; v < rg_ruleCount; ++v) {
        rgSheet_Column(sheet, bench->variants[v].name, NULL, NULL);
    }
    int row = 0;
    for (int i = 0; i < bench->problemCount; ++i) {
        const char* family = bench->problems[i].family;
        if (rgIsFirst(study, i) && family[0] >= 'a' && row < rg_familyCount) {
            rgAddRuleRow(sheet, bench, family, time, means[row++]);
        }
    }
}

// Number of problems that each stopping rule ends, and number of true solutions among them.
static void rgAddTruth(rgSheet* sheet, const char* what, const rgBench* bench) {
    for (int k = 0; k < 2; ++k) {
        rgSheet_Text(sheet, "%s%s", what, k == 0 ? ", ended by its test" : ", truly 1e-6");
        for (int v = 0; v < rg_ruleCount; ++v) {
            int count = 0;
            for (int i = 0; i < bench->problemCount; ++i) {
                const rgRun* run = rgBench_Run(bench, i, v);
                count +=
                    k == 0 ? run->report.status == rg_contactSolved : rgBench_IsTrue(bench, run);
            }
            rgSheet_Number(sheet, count);
        }
    }
}

// Copy of the mechanics with masses in another unit: G and R times a factor, impulses divided by
// it.
static void rgChangeUnit(rgBench* bench, double** scaled) {
    for (int i = 0; i < bench->problemCount; ++i) {
        rgContactProblem* problem = &bench->problems[i].problem;
        double factor = pow(10, i % 9 - 4);
        const rgSparse* part = problem->delassus.kind == rg_delassusVelocity
                                   ? &problem->delassus.mass
                                   : &problem->delassus.sparse;
        bool dense = problem->delassus.kind == rg_delassusDense;
        size_t count = dense ? (size_t)problem->rowCount * (size_t)problem->rowCount
                             : (size_t)part->rowStart[part->rowCount];
        const double* values = dense ? problem->delassus.matrix : part->value;
        factor = problem->delassus.kind == rg_delassusVelocity ? 1 / factor : factor;
        scaled[i] = rgCli_Allocate(count, sizeof(double));
        for (size_t k = 0; k < count; ++k) {
            scaled[i][k] = factor * values[k];
        }
        problem->delassus.matrix = dense ? scaled[i] : problem->delassus.matrix;
        problem->delassus.mass.value = problem->delassus.kind == rg_delassusVelocity
                                           ? scaled[i]
                                           : problem->delassus.mass.value;
        problem->delassus.sparse.value = problem->delassus.kind == rg_delassusSparse
                                             ? scaled[i]
                                             : problem->delassus.sparse.value;
    }
}

// One setting of the study: updates, and time if requested.
static bool rgStudyRules(rgFclibStudy* study, const char* name, const char* title, rgStopTest stop,
                         double start, bool islands, bool time, rgSheet* truth,
                         double means[][rg_ruleCount]) {
    rgBench bench = {0};
    double other[rg_familyCount][rg_ruleCount];
    rgAddRules(&bench, stop, start, islands);
    bool good = rgMeasure(study, &bench, study->ownCount, title);
    if (good) {
        rgAddRuleTable(study, &bench, name, title, false, means);
        if (time) {
            rgAddRuleTable(study, &bench, "rules_time", "The same: mean time, ms (Table IV)", true,
                           other);
        }
        rgAddTruth(truth, title, &bench);
    }
    rgFreeRuns(&bench);
    return good;
}

// Largest eigenvalue by power iteration through rgContactProblem_Velocity.
static double rgLargestEigenvalue(const rgContactProblem* problem) {
    size_t n = (size_t)problem->rowCount;
    rgContactProblem homogeneous = *problem;
    double* zero = rgCli_Allocate(n, sizeof(double));
    double* x = rgCli_Allocate(n, sizeof(double));
    double* y = rgCli_Allocate(n, sizeof(double));
    homogeneous.freeVelocity = zero;
    double norm = 0;
    for (size_t i = 0; i < n; ++i) {
        x[i] = 1 + 0.1 * rgRandomUnit(7, i);
    }
    for (int k = 0; k < 20; ++k) {
        double sum = 0;
        for (size_t i = 0; i < n; ++i) {
            sum += x[i] * x[i];
        }
        norm = sqrt(sum);
        for (size_t i = 0; i < n; ++i) {
            x[i] /= norm;
        }
        rgContactProblem_Velocity(&homogeneous, x, y);
        memcpy(x, y, n * sizeof(double));
    }
    free(zero);
    free(x);
    free(y);
    return norm;
}

// Factor of rho in one step of the spectral rule: kappa^p, where kappa = L / eta since the matrices
// are rank deficient.
static void rgAddEquivalents(rgFclibStudy* study) {
    rgSheet* sheet =
        rgReport_Table(study->report, "equivalents",
                       "What a step of the spectral rule multiplies rho by: (L/eta)^p");
    rgSheet_Column(sheet, "collection", NULL, NULL);
    rgSheet_Column(sheet, "L, 10 %", "1/kg", "%.3g");
    rgSheet_Column(sheet, "L, 90 %", "1/kg", "%.3g");
    for (int k = 0; k < 3; ++k) {
        char* name = rgCli_Format("p %g", rgSteps[k]);
        rgSheet_Column(sheet, name, "10 to 90 %", NULL);
        free(name);
    }
    for (int i = 0; i < study->problems.problemCount; ++i) {
        if (!rgIsFirst(study, i) || rgFamilyAt(study, i)[0] < 'a') {
            continue;
        }
        double* L = rgCli_Allocate((size_t)study->problems.problemCount, sizeof(double));
        int count = 0;
        for (int k = i; k < study->problems.problemCount; ++k) {
            if (strcmp(rgFamilyAt(study, k), rgFamilyAt(study, i)) == 0) {
                L[count++] = rgLargestEigenvalue(&study->problems.problems[k].problem);
            }
        }
        double eta = rgDefaultAdmmDef().proximal;
        double low = rgQuantileOf(L, count, 0.1), high = rgQuantileOf(L, count, 0.9);
        rgSheet_Text(sheet, "%s", rgFamilyAt(study, i));
        rgSheet_Number(sheet, low);
        rgSheet_Number(sheet, high);
        for (int k = 0; k < 3; ++k) {
            rgSheet_Text(sheet, "%.2f to %.2f", pow(low / eta, rgSteps[k]),
                         pow(high / eta, rgSteps[k]));
        }
        free(L);
    }
}

// The rule of a kind whose largest mean over the collections is least, and that mean.
static int rgSteadiest(double means[][rg_ruleCount], int first, int count, double* worst) {
    int best = first;
    *worst = INFINITY;
    for (int v = first; v < first + count; ++v) {
        double most = 0;
        for (int f = 0; f < rg_familyCount; ++f) {
            most = fmax(most, means[f][v]);
        }
        best = most < *worst ? v : best;
        *worst = fmin(*worst, most);
    }
    return best;
}

static void rgConcludeRules(rgReport* report, const char* before, double paper[][rg_ruleCount],
                            double fixed[][rg_ruleCount]) {
    double linear = 0, spectral = 0, other = 0;
    int best = rgSteadiest(paper, 0, 4, &linear);
    int step = rgSteadiest(paper, 4, 3, &spectral);
    int start = rgSteadiest(fixed, 0, 4, &other);
    rgReport_Conclude(report,
                      "%s Cholesky updates by the paper's test, mean of the worst collection: %.1f "
                      "with the spectral rule (p = %g); %.1f with the best linear rule (tau = %g) "
                      "from the same start, %.1f (tau = %g) from rho = 1.",
                      before, spectral, rgSteps[step - 4], linear, rgFactors[best], other,
                      rgFactors[start]);
    rgReport_Note(
        report,
        "The two rules: contact matrices have no full rank, so that m = eta, and a step of the "
        "spectral rule multiplies rho by (L/eta)^p, which within a collection is nearly one number "
        "(the table of equivalents): p = 0.05 is a tau of about 2.2, p = 0.08 about 3.5, p = 0.01 "
        "about 1.17. From the same start the spectral rule is a linear rule with that tau, and the "
        "medians agree. Means and deviations of some linear rules are large for another reason: "
        "with "
        "large steps rho swings between two or three values without end on a few problems, each "
        "swing a "
        "factorization. That is what the paper's Table III shows, too (Chain, tau = 8: 34 +- "
        "213).");
    rgReport_Note(report,
                  "The paper's test looks at ADMM's own iterates, and ends where the judge mostly "
                  "sees more than 1e-6: compare the rows of the table of truth.");
}

static bool rgRules(rgFclibStudy* study, const char* before) {
    double paper[rg_familyCount][rg_ruleCount], judge[rg_familyCount][rg_ruleCount];
    double islands[rg_familyCount][rg_ruleCount], fixed[rg_familyCount][rg_ruleCount];
    double units[rg_familyCount][rg_ruleCount];
    double** scaled = rgCli_Allocate((size_t)study->problems.problemCount, sizeof(double*));
    rgContactProblem* kept =
        rgCli_Allocate((size_t)study->problems.problemCount, sizeof(rgContactProblem));
    rgSheet* truth = rgReport_Table(study->report, "rules_truth",
                                    "Problems ended by the test, and true at 1e-6, of all");
    rgSheet_Column(truth, "setting", NULL, NULL);
    for (int v = 0; v < rg_ruleCount; ++v) {
        char* name = v < 4 ? rgCli_Format("linear, tau %g", rgFactors[v])
                           : rgCli_Format("spectral, p %g", rgSteps[v - 4]);
        rgSheet_Column(truth, name, NULL, "%.0f");
        free(name);
    }
    rgAddEquivalents(study);
    bool good = rgStudyRules(study, "rules", "Cholesky updates (Table III): the paper's test",
                             rg_stopPaper, 0, false, true, truth, paper) &&
                rgStudyRules(study, "rules_judge", "Cholesky updates until a true 1e-6",
                             rg_stopJudge, 0, false, false, truth, judge) &&
                rgStudyRules(study, "rules_islands", "Cholesky updates by islands, all added up",
                             rg_stopPaper, 0, true, false, truth, islands) &&
                rgStudyRules(study, "rules_fixed", "Cholesky updates, linear from rho = 1 1/kg",
                             rg_stopPaper, 1, false, false, truth, fixed);
    for (int i = 0; i < study->problems.problemCount; ++i) {
        kept[i] = study->problems.problems[i].problem;
    }
    if (good) {
        rgChangeUnit(&study->problems, scaled);
        good =
            rgStudyRules(study, "rules_units",
                         "Cholesky updates with masses in units of 1e-4 to 1e4 kg, linear from 1",
                         rg_stopPaper, 1, false, false, truth, units);
    }
    for (int i = 0; i < study->problems.problemCount; ++i) {
        study->problems.problems[i].problem = kept[i];
        free(scaled[i]);
    }
    if (good) {
        rgConcludeRules(study->report, before, paper, fixed);
    }
    free(scaled);
    free(kept);
    return good;
}

// ---- the experiment

static bool rgRunFclib(rgReport* report) {
    rgFclibStudy study = {.report = report, .scratch = rgMakeScratch(), .taskCount = 12};
    char before[600] = "";
    int originals = 0;
    bool good =
        study.scratch != NULL && rgGather(&study, rgReport_Pick(report, 8, 1, 1), &originals);
    if (good) {
        rgDescribe(&study, originals);
        good = rgProfiles(&study, before, sizeof(before)) && rgOwnTest(&study) &&
               rgPrograms(&study) && rgRules(&study, before);
    }
    rgBench_FreeProblems(&study.problems);
    rgCaseFiles_Free(&study.files);
    rgRemoveScratch(study.scratch);
    return good || rgReport_Fail(report, "problems could not be made or read");
}

const rgExperiment rgExperimentFclib = {
    "fclib", "Collections of contact problems",
    "Which share of the problems does a method solve, how fast, and does the spectral rule save "
    "factorizations?",
    "paper, Fig. 7, Tables II to IV", rgRunFclib};
