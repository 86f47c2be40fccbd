// Tables, performance profiles and JSON of the solver benchmarks.
#include "solver.h"
#include "stats.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

rgRun* rgBench_Run(const rgBench* bench, int problem, int variant) {
    return &bench->runs[(size_t)problem * (size_t)bench->variantCount + (size_t)variant];
}

bool rgBench_IsTrue(const rgBench* bench, const rgRun* run) {
    return run->result == rg_ok && run->residual.total <= bench->tolerance;
}

// Mean, spread and more over the runs of one variant in one family.
typedef struct rgSummary {
    int count;
    int solvedCount; // by the solver's own test
    int trueCount;   // by the judge
    double iterations, iterationsSquared;
    double factorizations, factorizationsSquared;
    double newtonIterations;
    double seconds, logSeconds;
} rgSummary;

// Iterations that factorize a Jacobian: Newton and interior point.
static int rgNewtonIterations(const rgRun* run) {
    return run->report.phaseIterations[rg_phaseNewton] +
           run->report.phaseIterations[rg_phaseInterior];
}

static void rgSummary_Add(rgSummary* summary, const rgBench* bench, const rgRun* run) {
    summary->count += 1;
    summary->trueCount += rgBench_IsTrue(bench, run);
    if (!run->solved) {
        return;
    }
    double iterations = run->report.iterationCount;
    double factorizations = run->report.factorizationCount;
    summary->solvedCount += 1;
    summary->iterations += iterations;
    summary->iterationsSquared += iterations * iterations;
    summary->factorizations += factorizations;
    summary->factorizationsSquared += factorizations * factorizations;
    summary->newtonIterations += rgNewtonIterations(run);
    summary->seconds += run->seconds;
    summary->logSeconds += log(run->seconds);
}

static double rgMean(double sum, int count) {
    return count > 0 ? sum / count : NAN;
}

static double rgSpread(double sum, double squares, int count) {
    double mean = rgMean(sum, count);
    return count > 0 ? sqrt(fmax(0, squares / count - mean * mean)) : NAN;
}

// NULL family: all problems. The warm study counts the steps that had one before.
static rgSummary rgSummarise(const rgBench* bench, const char* family, int variant) {
    rgSummary summary = {0};
    for (int i = 0; i < bench->problemCount; ++i) {
        bool counts = !bench->warm || bench->problems[i].previous >= 0;
        if (counts && (family == NULL || strcmp(bench->problems[i].family, family) == 0)) {
            rgSummary_Add(&summary, bench, rgBench_Run(bench, i, variant));
        }
    }
    return summary;
}

static void rgAddSummaryRow(rgTable* table, const rgBench* bench, const char* family, int variant) {
    rgSummary s = rgSummarise(bench, family, variant);
    int n = s.solvedCount;
    char mean[16], geometric[16];
    rgTable_Add(table, "%s", family != NULL ? family : "all");
    rgTable_Add(table, "%s", bench->variants[variant].name);
    rgTable_Add(table, "%d/%d", n, s.count);
    rgTable_Add(table, "%d/%d", s.trueCount, s.count);
    if (n == 0) {
        for (int i = 0; i < 5; ++i) {
            rgTable_Add(table, "-");
        }
        return;
    }
    rgTable_Add(table, "%.1f ± %.1f", rgMean(s.iterations, n),
                rgSpread(s.iterations, s.iterationsSquared, n));
    rgTable_Add(table, "%.2f", rgMean(s.newtonIterations, n));
    rgTable_Add(table, "%.1f ± %.1f", rgMean(s.factorizations, n),
                rgSpread(s.factorizations, s.factorizationsSquared, n));
    rgTable_Add(table, "%s", rgFormatSeconds(mean, rgMean(s.seconds, n)));
    rgTable_Add(table, "%s", rgFormatSeconds(geometric, exp(rgMean(s.logSeconds, n))));
}

static bool rgIsFirstOfFamily(const rgBench* bench, int problem) {
    for (int i = 0; i < problem; ++i) {
        if (strcmp(bench->problems[i].family, bench->problems[problem].family) == 0) {
            return false;
        }
    }
    return true;
}

void rgBench_PrintFamilies(const rgBench* bench) {
    static const char* const headers[] = {"family",         "solver",     "solved",
                                          "true",           "iterations", "newton",
                                          "factorizations", "mean time",  "geometric"};
    rgTable table;
    rgTable_Init(&table, headers, 9);
    int familyCount = 0;
    for (int i = 0; i < bench->problemCount; ++i) {
        if (!rgIsFirstOfFamily(bench, i)) {
            continue;
        }
        familyCount += 1;
        for (int v = 0; v < bench->variantCount; ++v) {
            rgAddSummaryRow(&table, bench, bench->problems[i].family, v);
        }
    }
    for (int v = 0; familyCount > 1 && v < bench->variantCount; ++v) {
        rgAddSummaryRow(&table, bench, NULL, v);
    }
    printf("study %s, tolerance %g; solved: by the solver's own test, true: by the judge;\n"
           "means over the solved ones\n\n",
           bench->study, bench->tolerance);
    rgTable_Print(&table, stdout);
    rgTable_Free(&table);
}

void rgBench_PrintUnsolved(const rgBench* bench) {
    static const char* const headers[] = {"not within tolerance", "solver",   "status",
                                          "iterations",           "residual", "time"};
    rgTable table;
    rgTable_Init(&table, headers, 6);
    char time[16];
    for (int i = 0; i < bench->problemCount; ++i) {
        for (int v = 0; v < bench->variantCount; ++v) {
            const rgRun* run = rgBench_Run(bench, i, v);
            if (rgBench_IsTrue(bench, run)) {
                continue;
            }
            rgTable_Add(&table, "%s", bench->problems[i].name);
            rgTable_Add(&table, "%s", bench->variants[v].name);
            rgTable_Add(&table, "%s",
                        run->result == rg_ok ? rgStatusName(run->report.status)
                                             : rgResult_Name(run->result));
            rgTable_Add(&table, "%d", run->report.iterationCount);
            rgTable_Add(&table, "%.1e", run->residual.total);
            rgTable_Add(&table, "%s", rgFormatSeconds(time, run->seconds));
        }
    }
    if (table.cellCount > 6) {
        printf("\n");
        rgTable_Print(&table, stdout);
    }
    rgTable_Free(&table);
}

// ---- auto against the others ----

static int rgFindVariant(const rgBench* bench, const char* name) {
    for (int v = 0; v < bench->variantCount; ++v) {
        if (strcmp(bench->variants[v].name, name) == 0) {
            return v;
        }
    }
    return -1;
}

// Time to a true residual within the tolerance; INFINITY when it was not reached.
static double rgTrueTime(const rgBench* bench, int problem, int variant) {
    const rgRun* run = rgBench_Run(bench, problem, variant);
    return rgBench_IsTrue(bench, run) ? run->seconds : INFINITY;
}

typedef struct rgRatios {
    int bothCount;     // problems that auto and admm both solved
    double speedup;    // geometric mean of admm / auto over those
    int comparedCount; // problems that admm or pgs solved
    int slowCount;     // number of runs in which auto takes more than 1.2 x the better one + 2 us
    double worst;      // largest auto / better
    const char* worstName;
} rgRatios;

static bool rgBench_Ratios(const rgBench* bench, rgRatios* ratios) {
    int own = rgFindVariant(bench, "auto");
    int admm = rgFindVariant(bench, "admm");
    int pgs = rgFindVariant(bench, "pgs");
    *ratios = (rgRatios){.worstName = ""};
    double logSum = 0;
    for (int i = 0; own >= 0 && admm >= 0 && pgs >= 0 && i < bench->problemCount; ++i) {
        double time = rgTrueTime(bench, i, own);
        double other = rgTrueTime(bench, i, admm);
        double better = fmin(other, rgTrueTime(bench, i, pgs));
        if (isfinite(time) && isfinite(other)) {
            ratios->bothCount += 1;
            logSum += log(other / time);
        }
        if (isfinite(better)) {
            ratios->comparedCount += 1;
            ratios->slowCount += time > 1.2 * better + 2e-6;
            if (time / better > ratios->worst) {
                ratios->worst = time / better;
                ratios->worstName = bench->problems[i].name;
            }
        }
    }
    ratios->speedup = ratios->bothCount > 0 ? exp(logSum / ratios->bothCount) : NAN;
    return ratios->comparedCount > 0;
}

void rgBench_PrintRatios(const rgBench* bench) {
    rgRatios ratios;
    if (!rgBench_Ratios(bench, &ratios)) {
        return;
    }
    printf("\nto a true residual of %g: auto is %.2f x as fast as admm (geometric mean of %d "
           "problems);\non %d of %d problems it takes more than 1.2 x the better of admm and pgs "
           "+ 2 us; worst %.2f x (%s)\n",
           bench->tolerance, ratios.speedup, ratios.bothCount, ratios.slowCount,
           ratios.comparedCount, ratios.worst, ratios.worstName);
}

static void rgJsonRatios(rgJson* json, const rgBench* bench) {
    rgRatios ratios;
    if (!rgBench_Ratios(bench, &ratios)) {
        return;
    }
    rgJson_BeginObject(json, "auto");
    rgJson_Number(json, "speedup_over_admm", ratios.speedup);
    rgJson_Int(json, "both_solved", ratios.bothCount);
    rgJson_Int(json, "slower_than_better", ratios.slowCount);
    rgJson_Int(json, "compared", ratios.comparedCount);
    rgJson_Number(json, "worst_ratio", ratios.worst);
    rgJson_String(json, "worst_file", ratios.worstName);
    rgJson_EndObject(json);
}

// ---- performance profiles ----

// Times of all runs, INFINITY where the true residual is not within the tolerance.
static double* rgCosts(const rgBench* bench) {
    size_t count = (size_t)bench->problemCount * (size_t)bench->variantCount;
    double* costs = rgCli_Allocate(count, sizeof(double));
    for (size_t i = 0; i < count; ++i) {
        costs[i] = rgBench_IsTrue(bench, &bench->runs[i]) ? bench->runs[i].seconds : INFINITY;
    }
    return costs;
}

bool rgBench_WriteProfile(const rgBench* bench, const char* path) {
    const char* headers[rg_maxVariants + 1] = {"factor"};
    for (int v = 0; v < bench->variantCount; ++v) {
        headers[v + 1] = bench->variants[v].name;
    }
    rgTable table;
    double* costs = rgCosts(bench);
    rgTable_Init(&table, headers, bench->variantCount + 1);
    for (int k = 0; k <= 80; ++k) {
        double factor = pow(10, 0.05 * k); // 1 to 10^4
        rgTable_Add(&table, "%.6g", factor);
        for (int v = 0; v < bench->variantCount; ++v) {
            rgTable_Add(&table, "%.6g",
                        rgProfileAt(costs, bench->problemCount, bench->variantCount, v, factor));
        }
    }
    free(costs);
    FILE* out = fopen(path, "w");
    bool done = out != NULL;
    if (done) {
        rgTable_PrintCsv(&table, out);
        done = ferror(out) == 0;
        done = fclose(out) == 0 && done;
    }
    if (!done) {
        rgCli_Error("%s: cannot be written: %s", path, strerror(errno));
    }
    rgTable_Free(&table);
    return done;
}

// ---- JSON ----

static void rgJsonSummary(rgJson* json, const rgBench* bench, const char* family, int variant) {
    rgSummary s = rgSummarise(bench, family, variant);
    int n = s.solvedCount;
    rgJson_BeginObject(json, NULL);
    rgJson_String(json, "family", family);
    rgJson_String(json, "solver", bench->variants[variant].name);
    rgJson_Int(json, "problems", s.count);
    rgJson_Int(json, "solved", n);
    rgJson_Int(json, "true", s.trueCount);
    rgJson_Number(json, "iterations_mean", rgMean(s.iterations, n));
    rgJson_Number(json, "iterations_std", rgSpread(s.iterations, s.iterationsSquared, n));
    rgJson_Number(json, "newton_mean", rgMean(s.newtonIterations, n));
    rgJson_Number(json, "factorizations_mean", rgMean(s.factorizations, n));
    rgJson_Number(json, "factorizations_std",
                  rgSpread(s.factorizations, s.factorizationsSquared, n));
    rgJson_Number(json, "seconds_mean", rgMean(s.seconds, n));
    rgJson_Number(json, "seconds_geometric", n > 0 ? exp(rgMean(s.logSeconds, n)) : NAN);
    rgJson_EndObject(json);
}

static void rgJsonProblem(rgJson* json, const rgBench* bench, int index) {
    const rgBenchProblem* problem = &bench->problems[index];
    rgJson_BeginObject(json, NULL);
    rgJson_String(json, "file", problem->name);
    rgJson_String(json, "family", problem->family);
    rgJson_Int(json, "contacts", problem->contactCount);
    rgJson_Bool(json, "warm", bench->warm && problem->previous >= 0);
    rgJson_BeginArray(json, "runs");
    for (int v = 0; v < bench->variantCount; ++v) {
        const rgRun* run = rgBench_Run(bench, index, v);
        rgJson_BeginObject(json, NULL);
        rgJson_String(json, "solver", bench->variants[v].name);
        rgJson_String(json, "status",
                      run->result == rg_ok ? rgStatusName(run->report.status)
                                           : rgResult_Name(run->result));
        rgJson_Int(json, "iterations", run->report.iterationCount);
        rgJson_Int(json, "newton", rgNewtonIterations(run));
        rgJson_Int(json, "factorizations", run->report.factorizationCount);
        rgJson_Number(json, "residual", run->residual.total);
        rgJson_Number(json, "seconds", run->seconds);
        rgJson_EndObject(json);
    }
    rgJson_EndArray(json);
    rgJson_EndObject(json);
}

void rgBench_PrintJson(const rgBench* bench) {
    rgJson json = {.out = stdout};
    rgJson_BeginObject(&json, NULL);
    rgJson_String(&json, "study", bench->study);
    rgJson_Number(&json, "tolerance", bench->tolerance);
    rgJson_Int(&json, "repeat", bench->repeat);
    rgJson_Build(&json);
    rgJsonRatios(&json, bench);
    rgJson_BeginArray(&json, "families");
    for (int i = 0; i < bench->problemCount; ++i) {
        for (int v = 0; rgIsFirstOfFamily(bench, i) && v < bench->variantCount; ++v) {
            rgJsonSummary(&json, bench, bench->problems[i].family, v);
        }
    }
    for (int v = 0; v < bench->variantCount; ++v) {
        rgJsonSummary(&json, bench, NULL, v);
    }
    rgJson_EndArray(&json);
    rgJson_BeginArray(&json, "problems");
    for (int i = 0; i < bench->problemCount; ++i) {
        rgJsonProblem(&json, bench, i);
    }
    rgJson_EndArray(&json);
    rgJson_EndObject(&json);
}
