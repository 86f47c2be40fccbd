// The paper's Fig. 8: forces that slide the tool of an arm along a rigid wall, by inverse dynamics
// with exact friction and with the convex relaxation, and the forward step that they drive.
#include "measure/inverse.h"
#include "report/report.h"
#include "scratch.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { rg_columnLimit = 32 };

// Curves of a file that the measurement wrote: one series per name, x from `time`.
static void rgPlotColumns(rgPlot* plot, const char* path, const char* const* columns,
                          const char* const* names, int count) {
    char line[4096];
    int places[rg_columnLimit] = {0}, timePlace = 0, row = 0;
    FILE* file = fopen(path, "r");
    while (file != NULL && fgets(line, sizeof(line), file) != NULL) {
        double values[rg_columnLimit] = {0};
        int place = 0;
        for (char* word = strtok(line, ",\n"); word != NULL && place < rg_columnLimit;
             word = strtok(NULL, ",\n"), ++place) {
            values[place] = atof(word);
            timePlace = row == 0 && strcmp(word, "time") == 0 ? place : timePlace;
            for (int k = 0; row == 0 && k < count; ++k) {
                places[k] = strcmp(word, columns[k]) == 0 ? place : places[k];
            }
        }
        for (int k = 0; row > 0 && row % 8 == 1 && k < count; ++k) {
            rgPlot_Point(plot, rgPlot_Series(plot, names[k]), values[timePlace], values[places[k]]);
        }
        row += 1;
    }
    if (file != NULL) {
        fclose(file);
    }
}

static void rgPlotRun(rgReport* report, const rgWallRun* run, const char* folder) {
    static const char* const columns[2][4] = {
        {"tau", "convex_tau"}, {"normal", "forward_normal", "tangential", "forward_tangential"}};
    static const char* const names[2][4] = {{"exact friction (NCP)", "convex relaxation (CCP)"},
                                            {"normal, inverse", "normal, forward step",
                                             "tangential, inverse", "tangential, forward step"}};
    static const char* const titles[2] = {"norm of the joint torques", "contact force"};
    static const char* const units[2] = {"N m", "N"};
    static const int counts[2] = {2, 4};
    char* path = rgCli_Format("%s/inverse_%s.csv", folder, run->name);
    for (int k = 0; k < 2; ++k) {
        char* name = rgCli_Format("%s_%s", run->name, k == 0 ? "torque" : "force");
        char* title = rgCli_Format("%s: %s", run->name, titles[k]);
        char* unit = rgCli_Format("%s [%s]", titles[k], units[k]);
        rgPlot* plot = rgReport_Plot(
            report,
            &(rgPlotDef){.name = name, .title = title, .x = "time [s]", .y = unit, .logY = k == 0});
        rgPlotColumns(plot, path, columns[k], names[k], counts[k]);
        free(name);
        free(title);
        free(unit);
    }
    free(path);
}

static void rgAddRun(rgSheet* sheet, const rgWallRun* run) {
    rgSheet_Text(sheet, "%s", run->name);
    rgSheet_Number(sheet, run->steps);
    rgSheet_Number(sheet, run->iterationsMost);
    rgSheet_Number(sheet, run->iterationsNormal);
    rgSheet_Number(sheet, run->residual);
    rgSheet_Number(sheet, run->velocityError);
    rgSheet_Number(sheet, run->forceError);
    rgSheet_Number(sheet, run->torqueMost);
    rgSheet_Number(sheet, run->convexTorqueMost);
    rgSheet_Number(sheet, run->convexUnsolved);
}

static void rgAddTimes(rgReport* report, const rgInverseBench* bench) {
    rgSheet* sheet = rgReport_Table(report, "calls", "Time of a call");
    rgSheet_Column(sheet, "", NULL, NULL);
    rgSheet_Column(sheet, "contacts", NULL, "%.0f");
    rgSheet_Column(sheet, "iterations", NULL, "%.0f");
    rgSheet_Column(sheet, "least", "us", "%.2f");
    rgSheet_Column(sheet, "median", "us", "%.2f");
    for (int i = 0; i < bench->timeCount; ++i) {
        const rgCallTime* time = &bench->times[i];
        rgSheet_Text(sheet, "rigor, %s", time->name);
        rgSheet_Number(sheet, time->contactCount);
        rgSheet_Number(sheet, time->iterationCount);
        rgSheet_Number(sheet, 1e6 * time->least);
        rgSheet_Number(sheet, 1e6 * time->median);
    }
    if (bench->peerSeconds > 0) {
        rgSheet_Text(sheet, "MuJoCo %s, mj_inverse, humanoid", bench->peer->version());
        rgSheet_Number(sheet, bench->peerContacts);
        rgSheet_Number(sheet, NAN);
        rgSheet_Number(sheet, 1e6 * bench->peerSeconds);
        rgSheet_Number(sheet, NAN);
    }
}

static bool rgRunInverse(rgReport* report) {
    char* scratch = rgMakeScratch();
    rgInverseBench bench = {.options = {.seconds = rgReport_Pick(report, 1, 20, 20) / 10.0,
                                        .force = 20,
                                        .calls = rgReport_Pick(report, 20, 2000, 5000),
                                        .repeat = rgReport_Pick(report, 1, 5, 10),
                                        .out = scratch,
                                        .noPlot = true}};
    bool good = scratch != NULL && rgInverseBench_Measure(&bench);
    if (good) {
        rgSheet* sheet = rgReport_Table(report, "walls", "An arm slides with 20 N along a circle");
        static const char* const columns[][3] = {
            {"arm", NULL, NULL},
            {"steps", NULL, "%.0f"},
            {"iterations, most", "from the sliding ray", "%.0f"},
            {"iterations, most", "from a normal impulse", "%.0f"},
            {"residual, worst", "SI", "%.1e"},
            {"velocity error", "rad/s, forward", "%.1e"},
            {"force error", "N, forward", "%.1e"},
            {"torque", "N m, most", "%.3g"},
            {"torque, convex", "N m, most", "%.2g"},
            {"infeasible, convex", "steps", "%.0f"}};
        for (int i = 0; i < 10; ++i) {
            rgSheet_Column(sheet, columns[i][0], columns[i][1], columns[i][2]);
        }
        for (int i = 0; i < 2; ++i) {
            if (bench.runs[i].present) {
                rgAddRun(sheet, &bench.runs[i]);
                rgPlotRun(report, &bench.runs[i], scratch);
                rgReport_Check(report,
                               bench.runs[i].unsolved == 0 && bench.runs[i].forceError < 1e-3,
                               "%s: every step is solved and the forward step confirms it",
                               bench.runs[i].name);
            }
        }
        rgAddTimes(report, &bench);
        char calls[120] = "";
        const rgCallTime* last = bench.timeCount > 0 ? &bench.times[bench.timeCount - 1] : NULL;
        if (last != NULL && bench.peerSeconds > 0) {
            snprintf(calls, sizeof(calls), " A call takes %.1f us (%s), mj_inverse %.1f us.",
                     1e6 * last->least, last->name, 1e6 * bench.peerSeconds);
        }
        const rgWallRun* arm = &bench.runs[bench.runs[1].present];
        rgReport_Conclude(
            report,
            "With exact friction every step takes at most %d iteration%s from a normal "
            "impulse, %d from the sliding ray, and the forward step gives the same contact force "
            "to %.0e N; under the convex "
            "relaxation %d of %d steps have no solution and torques reach %.0e N m.%s",
            arm->iterationsNormal, arm->iterationsNormal == 1 ? "" : "s", arm->iterationsMost,
            arm->forceError, arm->convexUnsolved, arm->steps, arm->convexTorqueMost, calls);
    }
    rgInverseBench_Free(&bench);
    rgRemoveScratch(scratch);
    return good || rgReport_Fail(report, "an arm lost its wall, or could not be made");
}

const rgExperiment rgExperimentInverse = {
    "inverse-dynamics", "Inverse dynamics on a wall",
    "Which torques slide the tool of an arm along a rigid wall, and does the forward step agree?",
    "paper, Fig. 8", rgRunInverse};
