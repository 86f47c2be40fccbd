// The paper's Fig. 2: rigid and compliant contacts by one solver. A humanoid collapses and lies, a
// quadruped stands, on contacts of stiffness 10^3 to 10^7 N/m and rigid ones: how deep they rest
// beside weight over stiffness, and what a step costs.
#include "report/report.h"
#include "simulation.h"

#include <math.h>
#include <stdlib.h>

typedef struct rgSoftRun {
    double stiffness; // 0: rigid
    double depth;     // mean of the loaded contacts at the end [m]
    double expected;  // m g / k over their number [m]
    double iterations, iterationsMost;
    double seconds; // per step
    double residual;
    int contacts;
    bool done;
} rgSoftRun;

// Mean depth of the contacts with the floor that carry something. At rest they carry the weight:
// m g / k over their number, whatever the posture.
static void rgReadDepth(rgSoftRun* run, const rgSimulation* simulation) {
    int count = 0;
    const rgContact* contacts = rgWorld_Contacts(simulation->world, &count);
    double depth = 0, loaded = 0;
    for (int i = 0; i < count; ++i) {
        bool floor = contacts[i].bodyA.index1 == 0 || contacts[i].bodyB.index1 == 0;
        if (floor && contacts[i].impulse[2] > 0) {
            depth -= contacts[i].gap;
            loaded += 1;
        }
    }
    double g = rgLength(rgWorld_Settings(simulation->world).gravity);
    double weight = simulation->info.mass * g;
    run->contacts = (int)loaded;
    run->depth = loaded > 0 ? depth / loaded : NAN;
    run->expected = run->stiffness > 0 && loaded > 0 ? weight / (run->stiffness * loaded) : NAN;
}

static bool rgRunSoft(rgSoftRun* run, const char* what, int steps) {
    rgSimulation simulation;
    rgSimulationArguments arguments = rgDefaultSimulationArguments();
    rgStepReport report;
    arguments.what = what;
    arguments.timeStep = 1e-3;
    arguments.stiffness = run->stiffness;
    double seconds = 0;
    bool good = rgSimulation_Begin(&simulation, &arguments);
    for (int i = 0; good && i < steps; ++i) {
        double begin = rgCli_ThreadSeconds();
        good = rgSimulation_Step(&simulation, &report) == rg_ok;
        seconds += rgCli_ThreadSeconds() - begin;
    }
    if (good) {
        rgReadDepth(run, &simulation);
        run->iterations = rgHistogram_Mean(&simulation.stats.iterations);
        run->iterationsMost = rgHistogram_Quantile(&simulation.stats.iterations, 1);
        run->residual = simulation.stats.residual;
        run->seconds = seconds / steps;
    }
    run->done = good;
    rgSimulation_Free(&simulation);
    return good;
}

static rgSheet* rgAddSweepTable(rgReport* report, const char* name, const char* title) {
    rgSheet* sheet = rgReport_Table(report, name, title);
    rgSheet_Column(sheet, "stiffness", "N/m", NULL);
    rgSheet_Column(sheet, "loaded contacts", NULL, "%.0f");
    rgSheet_Column(sheet, "depth at the end", "mm", "%.4g");
    rgSheet_Column(sheet, "weight over stiffness", "mm", "%.4g");
    rgSheet_Column(sheet, "iterations", "mean", "%.2f");
    rgSheet_Column(sheet, "iterations", "most", "%.0f");
    rgSheet_Column(sheet, "worst residual", NULL, "%.0e");
    rgSheet_Column(sheet, "time", "us/step", "%.1f");
    return sheet;
}

static void rgAddSoftRow(rgSheet* sheet, const rgSoftRun* run) {
    if (run->stiffness > 0) {
        rgSheet_Text(sheet, "%.0e", run->stiffness);
    } else {
        rgSheet_Text(sheet, "rigid");
    }
    rgSheet_Number(sheet, run->contacts);
    rgSheet_Number(sheet, 1e3 * run->depth);
    rgSheet_Number(sheet, 1e3 * run->expected);
    rgSheet_Number(sheet, run->iterations);
    rgSheet_Number(sheet, run->iterationsMost);
    rgSheet_Number(sheet, run->residual);
    rgSheet_Number(sheet, 1e6 * run->seconds);
}

enum { rg_stiffnessCount = 10 };

static bool rgSweep(rgReport* report, const char* name, const char* title, const char* what,
                    rgSoftRun runs[rg_stiffnessCount], int steps) {
    rgSheet* sheet = rgAddSweepTable(report, name, title);
    for (int i = 0; i < rg_stiffnessCount; ++i) {
        runs[i] = (rgSoftRun){.stiffness = i + 1 < rg_stiffnessCount ? pow(10, 3 + 0.5 * i) : 0};
        rgReport_Progress(report, i, rg_stiffnessCount, title);
        if (!rgRunSoft(&runs[i], what, steps)) {
            return false;
        }
        rgAddSoftRow(sheet, &runs[i]);
    }
    return true;
}

static void rgPlotSweep(rgReport* report, const char* name, const char* title,
                        const rgSoftRun* runs) {
    char* depthName = rgCli_Format("%s_depth", name);
    char* costName = rgCli_Format("%s_cost", name);
    char* depthTitle = rgCli_Format("%s: depth at the end", title);
    char* costTitle = rgCli_Format("%s: cost of a step", title);
    rgPlot* depth = rgReport_Plot(report, &(rgPlotDef){.name = depthName,
                                                       .title = depthTitle,
                                                       .x = "stiffness [N/m]",
                                                       .y = "depth [mm]",
                                                       .logX = true,
                                                       .logY = true});
    rgPlot* cost = rgReport_Plot(report, &(rgPlotDef){.name = costName,
                                                      .title = costTitle,
                                                      .x = "stiffness [N/m]",
                                                      .y = "us per step; iterations",
                                                      .logX = true,
                                                      .logY = true});
    int measured = rgPlot_Series(depth, "measured"), law = rgPlot_Series(depth, "m g / (n k)");
    int time = rgPlot_Series(cost, "us per step"), count = rgPlot_Series(cost, "iterations, mean");
    int rigid = rgPlot_Series(cost, "us per step, rigid");
    for (int i = 0; i + 1 < rg_stiffnessCount; ++i) {
        rgPlot_Point(depth, measured, runs[i].stiffness, 1e3 * runs[i].depth);
        rgPlot_Point(depth, law, runs[i].stiffness, 1e3 * runs[i].expected);
        rgPlot_Point(cost, time, runs[i].stiffness, 1e6 * runs[i].seconds);
        rgPlot_Point(cost, count, runs[i].stiffness, runs[i].iterations);
        rgPlot_Point(cost, rigid, runs[i].stiffness, 1e6 * runs[rg_stiffnessCount - 1].seconds);
    }
    free(depthName);
    free(costName);
    free(depthTitle);
    free(costTitle);
}

static bool rgRunCompliance(rgReport* report) {
    rgSoftRun standing[rg_stiffnessCount], falling[rg_stiffnessCount];
    int steps = rgReport_Pick(report, 300, 3000, 6000);
    if (!rgSweep(report, "humanoid", "A humanoid collapses", "humanoid", falling, steps) ||
        !rgSweep(report, "quadruped", "A quadruped stands", "quadruped", standing, steps)) {
        return rgReport_Fail(report, "a simulation failed");
    }
    rgPlotSweep(report, "humanoid", "Humanoid", falling);
    rgPlotSweep(report, "quadruped", "Quadruped", standing);
    double worst = 0, least = INFINITY, most = 0;
    for (int i = 0; i + 1 < rg_stiffnessCount; ++i) {
        worst = fmax(worst, fabs(standing[i].depth / standing[i].expected - 1));
        least = fmin(least, falling[i].seconds);
        most = fmax(most, falling[i].seconds);
    }
    const rgSoftRun* rigid = &falling[rg_stiffnessCount - 1];
    rgReport_Conclude(
        report,
        "The quadruped stands at the depth of weight over stiffness to %.1g %%; over four decades "
        "of stiffness a step of the collapsing humanoid takes %.0f to %.0f us, rigid %.0f us: one "
        "solver for both.",
        100 * worst, 1e6 * least, 1e6 * most, 1e6 * rigid->seconds);
    rgReport_Check(report, rgReport_Effort(report) == rg_effortQuick || worst < 0.05,
                   "the depth at rest differs by %.2g from weight over stiffness", worst);
    rgReport_Check(report, isfinite(worst), "the humanoid touches the floor");
    return true;
}

const rgExperiment rgExperimentCompliance = {"compliance", "Compliant and rigid contacts",
                                             "Do robots rest at the depth that stiffness and "
                                             "weight give, at the same cost from soft to "
                                             "rigid?",
                                             "paper, Fig. 2", rgRunCompliance};
