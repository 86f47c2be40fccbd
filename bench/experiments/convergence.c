// The paper's Fig. 4: how the errors of one contact problem fall with the iterations, for the wall
// at the first touch of the ball and for a falling humanoid; what each addition to the paper's ADMM
// is worth there; the order of the rules of the penalty on these and other robots; and iterations
// over many problems. All problems are frozen.
#include "cases.h"
#include "collection.h"
#include "frozen.h"
#include "report/report.h"
#include "run.h"
#include "scratch.h"
#include "stats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct rgMethod {
    const char* name;
    rgContactSolverDef def;
} rgMethod;

enum { rg_methodCount = 6, rg_problemCount = 2, rg_ruleCount = 3 };

static void rgMakeMethods(rgMethod methods[rg_methodCount]) {
    static const char* const names[] = {"paper's ADMM, spectral", "paper's ADMM, linear",
                                        "paper's ADMM, constant", "PGS",
                                        "accelerated ADMM",       "rigor's default"};
    static const char* const solvers[] = {"admm", "admm", "admm", "pgs", "admm-fast", "auto"};
    static const rgPenaltyRule rules[] = {rg_penaltySpectral, rg_penaltyLinear, rg_penaltyConstant};
    for (int i = 0; i < rg_methodCount; ++i) {
        methods[i] =
            (rgMethod){names[i], rgSolverDef(rgSolverIndex(solvers[i], strlen(solvers[i])))};
        methods[i].def.admm.rule = i < 3 ? rules[i] : methods[i].def.admm.rule;
        methods[i].def.splitIslands = false;
        methods[i].def.tolerance = 1e-9;
    }
}

// ---- problems

// Frozen problems, which do not change with the simulator (bench/problems/README.md).
static bool rgLoadSingle(const char* name, rgCase* loaded) {
    char* path = rgCli_Format(RIGOR_SOURCE_DIR "/bench/problems/single/%s.hdf5", name);
    bool good = rgLoadCase(path, rg_fclibMatrixAuto, loaded);
    free(path);
    return good;
}

// ---- curves

typedef struct rgErrors {
    rgContactReport report;
    rgResidual residual;
    double seconds;
} rgErrors;

static bool rgSolveWithin(const rgMethod* method, const rgContactProblem* problem, int limit,
                          rgErrors* errors) {
    rgContactSolverDef def = method->def;
    def.maxIterations = limit;
    rgContactSolver* solver = NULL;
    double* lambda = rgCli_Allocate((size_t)problem->rowCount, sizeof(double));
    rgRun run = {.seconds = INFINITY};
    bool good = rgCreateContactSolver(&def, &solver) == rg_ok;
    if (good) {
        rgRun_Repeat(&run, solver, problem, NULL, lambda, NULL);
        rgRun_Judge(&run, &def, problem, lambda);
        *errors = (rgErrors){run.report, run.residual, run.seconds};
        good = run.result == rg_ok;
    }
    rgDestroyContactSolver(solver);
    free(lambda);
    return good;
}

// Errors by the judge after 1, 2, 3, 4, 6, 8, ... iterations of a method.
static bool rgAddCurves(rgPlot* const plots[3], const rgMethod* method,
                        const rgContactProblem* problem, int most) {
    for (double at = 1; at <= most; at = fmax(at + 1, floor(at * 1.26))) {
        rgErrors errors;
        if (!rgSolveWithin(method, problem, (int)at, &errors)) {
            return false;
        }
        double values[3] = {errors.residual.dual, errors.residual.complementarity,
                            errors.residual.total};
        for (int k = 0; k < 3; ++k) {
            rgPlot_Point(plots[k], rgPlot_Series(plots[k], method->name),
                         fmin(at, errors.report.iterationCount), values[k]);
        }
        if (errors.report.status == rg_contactSolved) {
            break;
        }
    }
    return true;
}

// Residual of ADMM's own stopping test over iterations, from its history.
static void rgAddOwnCurves(rgPlot* plot, const rgMethod* method, const rgContactProblem* problem,
                           int most) {
    rgContactSolverDef def = method->def;
    def.maxIterations = most;
    def.recordHistory = true;
    rgContactSolver* solver = NULL;
    rgContactReport report = {0};
    double* lambda = rgCli_Allocate((size_t)problem->rowCount, sizeof(double));
    if (rgCreateContactSolver(&def, &solver) == rg_ok &&
        rgContactSolver_Solve(solver, problem, lambda, NULL, &report) == rg_ok) {
        static const char* const names[] = {"dual", "complementarity"};
        for (int k = 0; k < 2; ++k) {
            char name[64];
            snprintf(name, sizeof(name), "%s, %s", strrchr(method->name, ' ') + 1, names[k]);
            int series = rgPlot_Series(plot, name);
            // Every one of the first fifty, then every fiftieth part of a decade or so.
            for (int i = 0; i < report.historyCount; i += 1 + i / 50) {
                const rgContactRecord* record = &report.history[i];
                rgPlot_Point(plot, series, i + 1, k == 0 ? record->dual : record->complementarity);
            }
        }
    }
    rgDestroyContactSolver(solver);
    free(lambda);
}

// ---- tables

static void rgAddMethodRows(rgSheet* sheet, const char* problemName, const rgMethod* method,
                            const rgContactProblem* problem, int most, double needed[2]) {
    static const double tolerances[2] = {1e-6, 1e-9};
    rgSheet_Text(sheet, "%s", problemName);
    rgSheet_Text(sheet, "%s", method->name);
    for (int k = 0; k < 2; ++k) {
        rgMethod limited = *method;
        rgErrors best = {0};
        limited.def.tolerance = tolerances[k];
        bool solved = false;
        for (int r = 0; r < 3; ++r) {
            rgErrors errors;
            if (rgSolveWithin(&limited, problem, most, &errors)) {
                solved = errors.residual.total <= tolerances[k];
                best = r == 0 || errors.seconds < best.seconds ? errors : best;
            }
        }
        needed[k] = solved ? best.report.iterationCount : NAN;
        rgSheet_Number(sheet, needed[k]);
        rgSheet_Number(sheet, solved ? best.report.factorizationCount : NAN);
        rgSheet_Number(sheet, solved ? 1e6 * best.seconds : NAN);
    }
}

static rgSheet* rgAddTable(rgReport* report, const char* name, const char* title) {
    rgSheet* sheet = rgReport_Table(report, name, title);
    rgSheet_Column(sheet, "problem", NULL, NULL);
    rgSheet_Column(sheet, "method", NULL, NULL);
    for (int k = 0; k < 2; ++k) {
        const char* to = k == 0 ? "to 1e-6" : "to 1e-9";
        char* iterations = rgCli_Format("iterations %s", to);
        char* factors = rgCli_Format("factorizations %s", to);
        char* time = rgCli_Format("time %s", to);
        rgSheet_Column(sheet, iterations, NULL, "%.0f");
        rgSheet_Column(sheet, factors, NULL, "%.0f");
        rgSheet_Column(sheet, time, "us", "%.0f");
        free(iterations);
        free(factors);
        free(time);
    }
    return sheet;
}

// Iterations at which the paper's stopping test ends, and the judge's residual there.
static void rgAddOwnTest(rgSheet* sheet, const char* problemName, const rgMethod* method,
                         const rgContactProblem* problem, int most) {
    rgMethod own = *method;
    rgErrors errors;
    own.def.stop = rg_stopPaper;
    if (rgSolveWithin(&own, problem, most, &errors)) {
        bool ended = errors.report.status == rg_contactSolved;
        rgSheet_Text(sheet, "%s", problemName);
        rgSheet_Text(sheet, "%s", method->name);
        rgSheet_Number(sheet, ended ? errors.report.iterationCount : NAN);
        rgSheet_Number(sheet, ended ? errors.report.factorizationCount : NAN);
        rgSheet_Number(sheet, errors.residual.total);
        rgSheet_Number(sheet, errors.residual.velocity);
    }
}

static rgSheet* rgAddOwnTable(rgReport* report) {
    rgSheet* sheet = rgReport_Table(report, "own_test",
                                    "The paper's own stopping test at 1e-9, and the judge there");
    rgSheet_Column(sheet, "problem", NULL, NULL);
    rgSheet_Column(sheet, "method", NULL, NULL);
    rgSheet_Column(sheet, "iterations", NULL, "%.0f");
    rgSheet_Column(sheet, "factorizations", NULL, "%.0f");
    rgSheet_Column(sheet, "residual", NULL, "%.1e");
    rgSheet_Column(sheet, "velocity error", "m/s", "%.1e");
    return sheet;
}

// The paper's ADMM with one addition at a time, and all of them without one.
static void rgAddAblation(rgReport* report, const rgContactProblem* problems,
                          const char* const* names, int most) {
    static const char* const parts[] = {"scaling", "over-relaxation", "Anderson acceleration",
                                        "cooldown of rho"};
    rgSheet* sheet = rgAddTable(report, "additions", "Additions to the paper's ADMM, one by one");
    rgAdmmDef paper = rgDefaultAdmmDef(), fast = rgAcceleratedAdmmDef();
    for (int p = 0; p < rg_problemCount; ++p) {
        for (int i = 0; i < 10; ++i) {
            int part = i % 5 - 1;
            bool plus = i < 5;
            rgAdmmDef from = plus ? fast : paper, admm = plus ? paper : fast;
            char name[64];
            double needed[2];
            snprintf(name, sizeof(name), "%s%s%s", plus ? "paper's" : "all additions",
                     part < 0 ? ""
                     : plus   ? " + "
                              : " - ",
                     part < 0 ? "" : parts[part]);
            admm.scaling = part == 0 ? from.scaling : admm.scaling;
            admm.relaxation = part == 1 ? from.relaxation : admm.relaxation;
            admm.andersonMemory = part == 2 ? from.andersonMemory : admm.andersonMemory;
            admm.cooldown = part == 3 ? from.cooldown : admm.cooldown;
            rgMethod method = {name, rgSolverDef(rgSolverIndex("admm", 4))};
            method.def.admm = admm;
            method.def.splitIslands = false;
            rgAddMethodRows(sheet, names[p], &method, &problems[p], most, needed);
        }
    }
}

// ---- the experiment

static void rgAddProblem(rgReport* report, rgSheet* sheet, rgSheet* tests, const char* name,
                         const rgContactProblem* problem, int most, double needed[][2]) {
    static const char* const what[] = {"dual", "complementarity", "residual"};
    static const char* const labels[] = {"dual error [m/s]", "complementarity error [J]",
                                         "residual of the judge [-]"};
    rgMethod methods[rg_methodCount];
    rgPlot* plots[3];
    rgMakeMethods(methods);
    for (int k = 0; k < 3; ++k) {
        char* file = rgCli_Format("%s_%s", name, what[k]);
        char* title = rgCli_Format("%s: %s by the judge", name, what[k]);
        plots[k] = rgReport_Plot(report, &(rgPlotDef){.name = file,
                                                      .title = title,
                                                      .x = "iterations",
                                                      .y = labels[k],
                                                      .logX = true,
                                                      .logY = true});
        free(file);
        free(title);
    }
    char* file = rgCli_Format("%s_own", name);
    char* title = rgCli_Format("%s: what ADMM itself tests, by rule", name);
    rgPlot* own = rgReport_Plot(report, &(rgPlotDef){.name = file,
                                                     .title = title,
                                                     .x = "iterations",
                                                     .y = "r_dual, r_comp (SI)",
                                                     .logX = true,
                                                     .logY = true});
    free(file);
    free(title);
    for (int m = 0; m < rg_methodCount; ++m) {
        rgReport_Check(report, rgAddCurves(plots, &methods[m], problem, most), "%s solves %s",
                       methods[m].name, name);
        rgAddMethodRows(sheet, name, &methods[m], problem, most, needed[m]);
        if (m < 3) {
            rgAddOwnCurves(own, &methods[m], problem, most);
            rgAddOwnTest(tests, name, &methods[m], problem, most);
        }
    }
}

// "12 iterations", or that they were not enough.
static const char* rgCountText(char buffer[32], double count, int most) {
    if (isfinite(count)) {
        snprintf(buffer, 32, "%.0f", count);
    } else {
        snprintf(buffer, 32, "more than %d", most);
    }
    return buffer;
}

static void rgConclude(rgReport* report, const char* humanoid, int most,
                       double needed[rg_problemCount][rg_methodCount][2]) {
    char text[rg_methodCount][rg_problemCount][32];
    for (int m = 0; m < rg_methodCount; ++m) {
        for (int p = 0; p < rg_problemCount; ++p) {
            rgCountText(text[m][p], needed[p][m][1], most);
        }
    }
    rgReport_Conclude(report,
                      "To a true 1e-9 on the wall and on %s, rigor's default needs %s and %s "
                      "iterations; the paper's ADMM %s and %s with the spectral rule, %s and %s "
                      "with the linear one, %s and %s with a constant penalty; PGS %s and %s.",
                      humanoid, text[5][0], text[5][1], text[0][0], text[0][1], text[1][0],
                      text[1][1], text[2][0], text[2][1], text[3][0], text[3][1]);
}

// ---- the order of the rules

// "linear, spectral; not: constant": the fewest iterations first, then those that did not end.
static void rgWriteOrder(char* text, size_t size, const double needed[rg_ruleCount]) {
    static const char* const names[rg_ruleCount] = {"spectral", "linear", "constant"};
    int order[rg_ruleCount] = {0, 1, 2};
    for (int i = 0; i < rg_ruleCount; ++i) {
        for (int j = i + 1; j < rg_ruleCount; ++j) {
            double a = needed[order[i]], b = needed[order[j]];
            if (isnan(a) ? !isnan(b) : b < a) {
                int other = order[i];
                order[i] = order[j];
                order[j] = other;
            }
        }
    }
    size_t used = 0;
    text[0] = '\0';
    for (int i = 0; i < rg_ruleCount && used < size; ++i) {
        double own = needed[order[i]], before = i > 0 ? needed[order[i - 1]] : NAN;
        const char* sign = i == 0                        ? isnan(own) ? "none of: " : ""
                           : isnan(own) && isnan(before) ? ", "
                           : isnan(own)                  ? "; not: "
                           : own > before                ? " < "
                                                         : " = ";
        used += (size_t)snprintf(text + used, size - used, "%s%s", sign, names[order[i]]);
    }
}

static double rgIterationsOf(const rgMethod* method, const rgContactProblem* problem, int most,
                             double tolerance) {
    rgMethod limited = *method;
    rgErrors errors;
    limited.def.tolerance = tolerance;
    bool solved =
        rgSolveWithin(&limited, problem, most, &errors) && errors.residual.total <= tolerance;
    return solved ? errors.report.iterationCount : NAN;
}

static bool rgAddOrders(rgReport* report, int most) {
    static const char* const names[] = {"wall", "Talos", "humanoid", "Solo12", "Cassie"};
    rgMethod methods[rg_methodCount];
    rgMakeMethods(methods);
    rgSheet* sheet = rgReport_Table(report, "orders", "Order of the rules of ADMM's penalty");
    rgSheet_Column(sheet, "problem", NULL, NULL);
    rgSheet_Column(sheet, "contacts", NULL, "%.0f");
    for (int m = 0; m < rg_ruleCount; ++m) {
        rgSheet_Column(sheet, methods[m].name, "iterations to 1e-6", "%.0f");
    }
    rgSheet_Column(sheet, "fewest iterations first", NULL, NULL);
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); ++i) {
        rgCase one = {0};
        double needed[rg_ruleCount];
        char order[96];
        if (!rgLoadSingle(names[i], &one)) {
            rgCase_Free(&one);
            return false;
        }
        rgSheet_Text(sheet, "%s", names[i]);
        rgSheet_Number(sheet, one.contactCount);
        for (int m = 0; m < rg_ruleCount; ++m) {
            needed[m] = rgIterationsOf(&methods[m], &one.problem, most, 1e-6);
            rgSheet_Number(sheet, needed[m]);
        }
        rgWriteOrder(order, sizeof(order), needed);
        rgSheet_Text(sheet, "%s", order);
        rgCase_Free(&one);
    }
    return true;
}

// ---- many problems

// Quantile over all problems; unsolved ones count as last.
static double rgQuantileOfAll(double* needed, int count, double share) {
    double* sorted = rgCli_Allocate((size_t)count, sizeof(double));
    for (int i = 0; i < count; ++i) {
        sorted[i] = isnan(needed[i]) ? 1e9 : needed[i];
    }
    double value = rgQuantileOf(sorted, count, share);
    free(sorted);
    return value < 1e8 ? value : NAN;
}

static bool rgAddQuantiles(rgReport* report, int most) {
    static const double shares[] = {0.1, 0.25, 0.5, 0.75, 0.9};
    rgMethod methods[rg_methodCount];
    rgCaseFiles files = {0};
    char* scratch = rgMakeScratch();
    rgMakeMethods(methods);
    bool good = scratch != NULL && rgFindFrozen(scratch, rgReport_Pick(report, 16, 1, 1), &files);
    int count = files.count;
    double* needed[rg_methodCount];
    for (int m = 0; m < rg_methodCount; ++m) {
        needed[m] = rgCli_Allocate((size_t)count + 1, sizeof(double));
    }
    for (int i = 0; i < count && good; ++i) {
        rgCase one = {0};
        good = rgLoadCase(files.files[i].path, rg_fclibMatrixAuto, &one);
        for (int m = 0; m < rg_methodCount && good; ++m) {
            needed[m][i] = rgIterationsOf(&methods[m], &one.problem, most, 1e-6);
        }
        rgCase_Free(&one);
    }
    char* title = rgCli_Format("Iterations to a true 1e-6 on %d problems", count);
    rgSheet* sheet = rgReport_Table(report, "quantiles", title);
    rgSheet_Column(sheet, "method", NULL, NULL);
    rgSheet_Column(sheet, "problems", NULL, "%.0f");
    rgSheet_Column(sheet, "solved", NULL, "%.0f");
    for (size_t k = 0; k < sizeof(shares) / sizeof(shares[0]); ++k) {
        char* name = rgCli_Format("%.0f %%", 100 * shares[k]);
        rgSheet_Column(sheet, name, NULL, "%.0f");
        free(name);
    }
    rgPlot* plot = rgReport_Plot(report, &(rgPlotDef){.name = "share",
                                                      .title = title,
                                                      .x = "iterations",
                                                      .y = "share solved to a true 1e-6",
                                                      .kind = rg_plotSteps,
                                                      .logX = true,
                                                      .low = 0,
                                                      .high = 1});
    for (int m = 0; m < rg_methodCount && good; ++m) {
        int series = rgPlot_Series(plot, methods[m].name);
        double solved = 0;
        for (double at = 1; at <= most; at = fmax(at + 1, floor(at * 1.15))) {
            solved = 0;
            for (int i = 0; i < count; ++i) {
                solved += needed[m][i] <= at;
            }
            rgPlot_Point(plot, series, at, solved / count);
        }
        rgSheet_Text(sheet, "%s", methods[m].name);
        rgSheet_Number(sheet, count);
        solved = 0;
        for (int i = 0; i < count; ++i) {
            solved += !isnan(needed[m][i]);
        }
        rgSheet_Number(sheet, solved);
        for (size_t k = 0; k < sizeof(shares) / sizeof(shares[0]); ++k) {
            rgSheet_Number(sheet, rgQuantileOfAll(needed[m], count, shares[k]));
        }
    }
    for (int m = 0; m < rg_methodCount; ++m) {
        free(needed[m]);
    }
    free(title);
    rgCaseFiles_Free(&files);
    rgRemoveScratch(scratch);
    return good;
}

static bool rgRunConvergence(rgReport* report) {
    static const char* const names[rg_problemCount] = {"wall", "Talos"};
    int most = rgReport_Pick(report, 1000, 8000, 20000);
    rgCase cases[rg_problemCount] = {0};
    rgContactProblem problems[rg_problemCount];
    double needed[rg_problemCount][rg_methodCount][2];
    bool good = true;
    rgSheet* sheet = rgAddTable(report, "methods", "What it takes to a residual of the judge");
    rgSheet* tests = rgAddOwnTable(report);
    for (int p = 0; good && p < rg_problemCount; ++p) {
        rgReport_Progress(report, p, 5, names[p]);
        good = rgLoadSingle(names[p], &cases[p]);
        if (good) {
            problems[p] = cases[p].problem;
            rgReport_Note(report, "%s: %d contacts, %d rows in all (bench/problems/single).",
                          names[p], rgCountContacts(&problems[p], NULL), problems[p].rowCount);
            rgAddProblem(report, sheet, tests, names[p], &problems[p], most, needed[p]);
        }
    }
    if (good) {
        rgReport_Progress(report, 2, 5, "additions");
        rgAddAblation(report, problems, names, most);
        for (int p = 0; p < rg_problemCount; ++p) {
            rgReport_Check(report, isfinite(needed[p][5][1]), "the default reaches 1e-9 on %s",
                           names[p]);
        }
        rgReport_Progress(report, 3, 5, "rules");
        good = rgAddOrders(report, most);
        rgReport_Progress(report, 4, 5, "many problems");
        good = good && rgAddQuantiles(report, rgReport_Pick(report, 500, 2000, 20000));
        rgConclude(report, names[1], most, needed);
    }
    for (int p = 0; p < rg_problemCount; ++p) {
        rgCase_Free(&cases[p]);
    }
    return good || rgReport_Fail(report, "a frozen contact problem could not be read");
}

const rgExperiment rgExperimentConvergence = {
    "convergence", "Convergence on single problems",
    "How do the errors fall with the iterations, on a wall of cubes of 1 to 10^4 kg hit by a ball "
    "of 10^3 kg and on a falling humanoid?",
    "paper, Fig. 4", rgRunConvergence};
