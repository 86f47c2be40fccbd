// Ablation of the default solver: auto in full, and auto without one phase at a time.
#include "measure/solver.h"
#include "report/report.h"

#include <math.h>
#include <stdlib.h>

static double rgMeanTime(const rgPlanSum* sum) {
    return sum->count > 0 ? sum->seconds / sum->count : NAN;
}

static void rgAddSolved(rgReport* report, const rgPlanStudy* study) {
    rgSheet* solved = rgReport_Table(report, "solved", "Problems solved to a true 1e-6");
    rgSheet* time = rgReport_Table(report, "time", "Mean time over that of the whole plan");
    rgSheet* work = rgReport_Table(report, "work", "Mean iterations, factorizations");
    rgSheet* tables[3] = {solved, time, work};
    for (int t = 0; t < 3; ++t) {
        rgSheet_Column(tables[t], "without", NULL, NULL);
        for (int g = 0; g < study->groupCount; ++g) {
            rgSheet_Column(tables[t], study->groups[g].name, NULL,
                           t == 0   ? "%.0f"
                           : t == 1 ? "%.2f"
                                    : NULL);
        }
    }
    for (int v = 0; v < study->bench->variantCount; ++v) {
        for (int t = 0; t < 3; ++t) {
            rgSheet_Text(tables[t], "%s", v == 0 ? "(nothing)" : study->bench->variants[v].name);
        }
        for (int g = 0; g < study->groupCount; ++g) {
            const rgPlanSum* base = &study->groups[g].sums[0];
            const rgPlanSum* sum = &study->groups[g].sums[v];
            double ratio = rgMeanTime(sum) / rgMeanTime(base);
            rgSheet_Number(solved, sum->solvedCount);
            rgSheet_Number(time, ratio);
            rgSheet_Text(work, "%.1f, %.1f", sum->iterations / fmax(sum->count, 1),
                         sum->factorizations / fmax(sum->count, 1));
            if (sum->solvedCount < base->solvedCount) {
                rgSheet_Mark(solved);
            }
            if (ratio > 1.1) {
                rgSheet_Mark(time);
            }
        }
    }
}

static void rgAddGroups(rgReport* report, const rgPlanStudy* study) {
    rgSheet* sheet = rgReport_Table(report, "groups", "The whole plan");
    rgSheet_Column(sheet, "problems", NULL, NULL);
    rgSheet_Column(sheet, "count", NULL, "%.0f");
    rgSheet_Column(sheet, "solved", NULL, "%.0f");
    rgSheet_Column(sheet, "iterations", "mean", "%.2f");
    rgSheet_Column(sheet, "factorizations", "mean", "%.2f");
    rgSheet_Column(sheet, "time", "us, mean", "%.1f");
    for (int g = 0; g < study->groupCount; ++g) {
        const rgPlanSum* sum = &study->groups[g].sums[0];
        rgSheet_Text(sheet, "%s", study->groups[g].name);
        rgSheet_Number(sheet, sum->count);
        rgSheet_Number(sheet, sum->solvedCount);
        rgSheet_Number(sheet, sum->iterations / fmax(sum->count, 1));
        rgSheet_Number(sheet, sum->factorizations / fmax(sum->count, 1));
        rgSheet_Number(sheet, 1e6 * rgMeanTime(sum));
    }
}

// Problems that are lost, and the largest factor in time, without a part.
static void rgConcludePlan(rgReport* report, const rgPlanStudy* study) {
    int solved = 0, count = 0, lost = 0, worstPart = 0;
    double worst = 0;
    for (int v = 0; v < study->bench->variantCount; ++v) {
        for (int g = 0; g < study->groupCount; ++g) {
            const rgPlanSum* base = &study->groups[g].sums[0];
            const rgPlanSum* sum = &study->groups[g].sums[v];
            solved += v == 0 ? sum->solvedCount : 0;
            count += v == 0 ? sum->count : 0;
            lost += base->solvedCount - sum->solvedCount;
            double ratio = rgMeanTime(sum) / rgMeanTime(base);
            worstPart = ratio > worst ? v : worstPart;
            worst = fmax(worst, ratio);
        }
    }
    rgReport_Conclude(report,
                      "The whole plan solves %d of %d problems; leaving out one part at a time "
                      "loses %d in all, and costs up to %.1f times the time (%s).",
                      solved, count, lost, worst, study->bench->variants[worstPart].name);
    rgReport_Check(report, solved >= (int)(0.98 * count), "the whole plan solves %d of %d", solved,
                   count);
}

static bool rgRunAblation(rgReport* report) {
    rgBench bench = {.study = "plan",
                     .tolerance = 1e-6,
                     .repeat = rgReport_Pick(report, 1, 2, 5),
                     .arguments = rgDefaultSolverArguments()};
    rgPlanStudy* study = rgCli_Allocate(1, sizeof(rgPlanStudy));
    bool quick = rgReport_Effort(report) == rg_effortQuick;
    study->bench = &bench;
    study->quick = rgReport_Effort(report) != rg_effortFull;
    study->files = study->states = !quick;
    study->randomCount = rgReport_Pick(report, 20, 200, 2000);
    bool good = rgBench_AddPlans(&bench, NULL);
    for (int v = 0; good && v < bench.variantCount; ++v) {
        bench.variants[v].def.tolerance = bench.tolerance;
        good = rgCreateContactSolver(&bench.variants[v].def, &bench.variants[v].solver) == rg_ok;
    }
    good = good && rgPlanStudy_Run(study);
    if (good) {
        rgAddGroups(report, study);
        rgAddSolved(report, study);
        rgConcludePlan(report, study);
        rgReport_Note(
            report, "fclib: the files of FCLIB; robots: recorded steps of robots, cold; windows: "
                    "the same in sequence, from the impulses of the step before; scenes and piles: "
                    "states of simulations, time of a whole step; random: built from a known "
                    "solution. The parts are those of docs/theory/auto.md.");
    }
    for (int v = 0; v < bench.variantCount; ++v) {
        rgDestroyContactSolver(bench.variants[v].solver);
    }
    free(study);
    return good || rgReport_Fail(report, "a simulation failed");
}

const rgExperiment rgExperimentAblation = {"ablation", "Parts of the default solver",
                                           "What is each part of the plan worth?", "past the paper",
                                           rgRunAblation};
