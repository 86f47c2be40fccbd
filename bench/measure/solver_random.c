// rigor bench solver --study random: solvers on a large set of random problems of which each has a
// solution, at the tolerance and at a thousandth of it, under a residual that is written here.
#include "random_case.h"
#include "solver.h"

#include <math.h>
#include <stdlib.h>

enum { rg_tightnessCount = 2, rg_groupCount = rg_randomKindCount + 1, rg_maxListed = 20 };

// Sums over the problems of one kind, or all.
typedef struct rgRandomSum {
    int count;
    int failureCount; // not reported as solved
    int falseCount;   // reported as solved, but more than twice the tolerance away, or infeasible
    double iterations, factorizations, seconds, slowest;
} rgRandomSum;

// A problem that was not solved, or falsely so.
typedef struct rgRandomMiss {
    uint64_t number;
    rgRandomTraits traits;
    int variant, tightness;
    int rowCount;
    const char* status;
    double reported, residual;
} rgRandomMiss;

typedef struct rgRandomStudy {
    const rgBench* bench;
    rgContactSolver* solvers[rg_maxVariants][rg_tightnessCount];
    double tolerance[rg_tightnessCount];
    rgRandomSum sums[rg_maxVariants][rg_tightnessCount][rg_groupCount];
    rgRandomMiss misses[2][rg_maxListed]; // not solved, false reports
    int missCount[2];                     // also those that are not listed
} rgRandomStudy;

static void rgRandomSum_Add(rgRandomSum* sum, const rgRun* run, bool isFalse) {
    sum->count += 1;
    sum->failureCount += run->result != rg_ok || run->report.status != rg_contactSolved;
    sum->falseCount += isFalse;
    sum->iterations += run->report.iterationCount;
    sum->factorizations += run->report.factorizationCount;
    sum->seconds += run->seconds;
    sum->slowest = fmax(sum->slowest, run->seconds);
}

static void rgRandomStudy_Add(rgRandomStudy* study, int v, int k, const rgRun* run,
                              rgRandomMiss miss) {
    bool solved = run->result == rg_ok && run->report.status == rg_contactSolved;
    bool infeasible = run->result == rg_ok && run->report.status == rg_contactInfeasible;
    bool isFalse = infeasible || (solved && !(miss.residual <= 2 * study->tolerance[k]));
    rgRandomSum_Add(&study->sums[v][k][miss.traits.kind], run, isFalse);
    rgRandomSum_Add(&study->sums[v][k][rg_randomKindCount], run, isFalse);
    if (solved && !isFalse) {
        return;
    }
    miss.variant = v;
    miss.tightness = k;
    miss.status = infeasible             ? "infeasible"
                  : isFalse              ? "false"
                  : run->result != rg_ok ? rgResult_Name(run->result)
                                         : rgStatusName(run->report.status);
    miss.reported = run->report.residual.total;
    if (study->missCount[isFalse] < rg_maxListed) {
        study->misses[isFalse][study->missCount[isFalse]] = miss;
    }
    study->missCount[isFalse] += 1;
}

static void rgRandomStudy_Solve(rgRandomStudy* study, uint64_t number) {
    const rgBench* bench = study->bench;
    rgRandomTraits traits;
    rgContactCase* made = rgMakeRandomCase(number, &traits);
    double* lambda = rgCli_Allocate((size_t)made->problem.rowCount, sizeof(double));
    for (int k = 0; k < rg_tightnessCount; ++k) {
        for (int v = 0; v < bench->variantCount; ++v) {
            rgRun run = {.seconds = INFINITY};
            for (int r = 0; r < bench->repeat; ++r) {
                rgRun_Repeat(&run, study->solvers[v][k], &made->problem, NULL, lambda, NULL);
            }
            rgRandomStudy_Add(study, v, k, &run,
                              (rgRandomMiss){.number = number,
                                             .traits = traits,
                                             .rowCount = made->problem.rowCount,
                                             .residual = rgNaturalResidual(made, lambda)});
        }
    }
    free(lambda);
    rgFreeContactCase(made);
}

static const char* rgGroupName(int group) {
    return group < rg_randomKindCount ? rgRandomKindNames[group] : "all";
}

static void rgPrintSums(const rgRandomStudy* study) {
    static const char* const headers[] = {"kind",      "solver", "tolerance",  "failures",
                                          "share",     "false",  "iterations", "factorizations",
                                          "mean time", "slowest"};
    rgTable table;
    rgTable_Init(&table, headers, 10);
    for (int g = 0; g < rg_groupCount; ++g) {
        for (int v = 0; v < study->bench->variantCount; ++v) {
            for (int k = 0; k < rg_tightnessCount; ++k) {
                const rgRandomSum* s = &study->sums[v][k][g];
                double n = s->count > 0 ? s->count : 1;
                char mean[16], slowest[16];
                rgTable_Add(&table, "%s", rgGroupName(g));
                rgTable_Add(&table, "%s", study->bench->variants[v].name);
                rgTable_Add(&table, "%g", study->tolerance[k]);
                rgTable_Add(&table, "%d/%d", s->failureCount, s->count);
                rgTable_Add(&table, "%.3f %%", 100 * s->failureCount / n);
                rgTable_Add(&table, "%d", s->falseCount);
                rgTable_Add(&table, "%.2f", s->iterations / n);
                rgTable_Add(&table, "%.2f", s->factorizations / n);
                rgTable_Add(&table, "%s", rgFormatSeconds(mean, s->seconds / n));
                rgTable_Add(&table, "%s", rgFormatSeconds(slowest, s->slowest));
            }
        }
    }
    rgTable_Print(&table, stdout);
    rgTable_Free(&table);
}

static void rgAddMiss(rgTable* table, const rgRandomStudy* study, const rgRandomMiss* miss) {
    rgTable_Add(table, "%llu", (unsigned long long)miss->number);
    rgTable_Add(table, "%s", rgRandomKindNames[miss->traits.kind]);
    rgTable_Add(table, "%.1f", miss->traits.massDecades);
    rgTable_Add(table, "%.2f", miss->traits.mu);
    rgTable_Add(table, "%d", miss->rowCount);
    rgTable_Add(table, "%s", study->bench->variants[miss->variant].name);
    rgTable_Add(table, "%g", study->tolerance[miss->tightness]);
    rgTable_Add(table, "%s", miss->status);
    rgTable_Add(table, "%.1e", miss->reported);
    rgTable_Add(table, "%.1e", miss->residual);
}

static void rgPrintMisses(const rgRandomStudy* study) {
    static const char* const headers[] = {"problem",  "kind",    "mass decades", "mu",
                                          "rows",     "solver",  "tolerance",    "status",
                                          "reported", "residual"};
    for (int isFalse = 0; isFalse < 2; ++isFalse) {
        int count = study->missCount[isFalse];
        rgTable table;
        rgTable_Init(&table, headers, 10);
        for (int i = 0; i < count && i < rg_maxListed; ++i) {
            rgAddMiss(&table, study, &study->misses[isFalse][i]);
        }
        printf("\n%d %s%s\n", count, isFalse ? "false reports" : "not solved",
               count > rg_maxListed ? "; the first of them:" : "");
        if (count > 0) {
            rgTable_Print(&table, stdout);
        }
        rgTable_Free(&table);
    }
}

static void rgJsonSum(rgJson* json, const rgRandomStudy* study, int v, int k, int g) {
    const rgRandomSum* s = &study->sums[v][k][g];
    double n = s->count > 0 ? s->count : 1;
    rgJson_BeginObject(json, NULL);
    rgJson_String(json, "kind", rgGroupName(g));
    rgJson_String(json, "solver", study->bench->variants[v].name);
    rgJson_Number(json, "tolerance", study->tolerance[k]);
    rgJson_Int(json, "problems", s->count);
    rgJson_Int(json, "failures", s->failureCount);
    rgJson_Int(json, "false", s->falseCount);
    rgJson_Number(json, "iterations_mean", s->iterations / n);
    rgJson_Number(json, "factorizations_mean", s->factorizations / n);
    rgJson_Number(json, "seconds_mean", s->seconds / n);
    rgJson_Number(json, "seconds_slowest", s->slowest);
    rgJson_EndObject(json);
}

static void rgPrintRandomJson(const rgRandomStudy* study, int count) {
    rgJson json = {.out = stdout};
    rgJson_BeginObject(&json, NULL);
    rgJson_String(&json, "study", study->bench->study);
    rgJson_Int(&json, "count", count);
    rgJson_Int(&json, "repeat", study->bench->repeat);
    rgJson_Build(&json);
    rgJson_BeginArray(&json, "groups");
    for (int g = 0; g < rg_groupCount; ++g) {
        for (int v = 0; v < study->bench->variantCount; ++v) {
            for (int k = 0; k < rg_tightnessCount; ++k) {
                rgJsonSum(&json, study, v, k, g);
            }
        }
    }
    rgJson_EndArray(&json);
    rgJson_EndObject(&json);
}

static bool rgMakeSolvers(rgRandomStudy* study) {
    for (int v = 0; v < study->bench->variantCount; ++v) {
        for (int k = 0; k < rg_tightnessCount; ++k) {
            rgContactSolverDef def = study->bench->variants[v].def;
            def.tolerance = study->tolerance[k];
            rgResult result = rgCreateContactSolver(&def, &study->solvers[v][k]);
            if (result != rg_ok) {
                rgCli_Error("solver %s cannot be made: %s", study->bench->variants[v].name,
                            rgResult_Name(result));
                return false;
            }
        }
    }
    return true;
}

int rgBench_Random(const rgBench* bench, int first, int count, bool json) {
    rgRandomStudy* study = rgCli_Allocate(1, sizeof(rgRandomStudy));
    study->bench = bench;
    study->tolerance[0] = bench->tolerance;
    study->tolerance[1] = 1e-3 * bench->tolerance;
    bool made = rgMakeSolvers(study);
    rgProgress progress;
    rgProgress_Begin(&progress, "solving", count);
    for (int i = 0; made && i < count; ++i) {
        if (rgProgress_IsDue(&progress)) {
            rgProgress_Update(&progress, i, "random problems");
        }
        rgRandomStudy_Solve(study, (uint64_t)first + (uint64_t)i);
    }
    rgProgress_End(&progress);
    if (made && json) {
        rgPrintRandomJson(study, count);
    } else if (made) {
        printf(
            "%d random problems with a solution each, from number %d on; failures: not reported "
            "as solved;\nfalse: reported as solved with a residual above twice the tolerance\n\n",
            count, first);
        rgPrintSums(study);
        rgPrintMisses(study);
    }
    for (int v = 0; v < bench->variantCount; ++v) {
        for (int k = 0; k < rg_tightnessCount; ++k) {
            rgDestroyContactSolver(study->solvers[v][k]);
        }
    }
    free(study);
    return made ? rg_exitDone : rg_exitUsage;
}
