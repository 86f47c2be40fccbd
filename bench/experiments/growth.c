// Growth of the cost of a step: piles by bodies, chains by joints; time, memory, and the exponents
// of the power laws that fit them.
#include "report/report.h"
#include "simulation.h"
#include "stats.h"

#include <math.h>
#include <stdlib.h>

typedef struct rgGrowthRun {
    int size;
    int velocityCount;
    double contacts; // mean
    double seconds;  // per step, mean
    double perContact;
    double iterations;
    double solved; // share of the steps at the tolerance
    double memory; // [bytes]
    int steps;
} rgGrowthRun;

typedef struct rgGrowthCase {
    const char* name;
    const char* what; // scene
    const char* unit; // counted objects
    double timeStep, fall;
    int sizes[8];  // ending with 0
    int counts[3]; // numbers of sizes, by effort
} rgGrowthCase;

static const rgGrowthCase rgCases[] = {
    {"piles", "pile", "bodies", 2e-3, 0.6, {10, 30, 100, 200, 300, 1000, 3000, 10000}, {2, 4, 8}},
    {"chains", "chain", "joints", 1e-3, 0.3, {10, 30, 100, 300, 1000}, {2, 5, 5}},
};
enum { rg_growthCount = 2 };

// Let the scene fall, then measure; each part ends after its limit in seconds.
static bool rgRunGrowth(const rgGrowthCase* growth, int size, double limit, rgGrowthRun* run) {
    rgSimulation simulation;
    rgSimulationArguments arguments = rgDefaultSimulationArguments();
    arguments.what = growth->what;
    arguments.bodyCount = size;
    arguments.timeStep = growth->timeStep;
    bool good = rgSimulation_Begin(&simulation, &arguments);
    rgStepReport report;
    double end = rgCli_Seconds() + limit;
    for (double t = 0; good && t < growth->fall && rgCli_Seconds() < end; t += growth->timeStep) {
        good = rgWorld_Step(simulation.world, &report) == rg_ok;
    }
    end = rgCli_Seconds() + limit;
    double seconds = 0;
    int steps = 0;
    for (; good && steps < 150 && (steps == 0 || rgCli_Seconds() < end); ++steps) {
        double begin = rgCli_ThreadSeconds();
        good = rgSimulation_Step(&simulation, &report) == rg_ok;
        seconds += rgCli_ThreadSeconds() - begin;
    }
    if (good) {
        *run = (rgGrowthRun){.size = size,
                             .velocityCount = simulation.info.vCount,
                             .contacts = rgHistogram_Mean(&simulation.stats.contacts),
                             .seconds = seconds / steps,
                             .iterations = rgHistogram_Mean(&simulation.stats.iterations),
                             .solved = 1 - (double)simulation.stats.unconverged / steps,
                             .memory = (double)rgWorld_MemoryUse(simulation.world),
                             .steps = steps};
        run->perContact = run->contacts > 0 ? run->seconds / run->contacts : NAN;
    }
    rgSimulation_Free(&simulation);
    return good;
}

static rgSheet* rgAddGrowthTable(rgReport* report, const rgGrowthCase* growth) {
    char* title = rgCli_Format("%s, time step %g ms", growth->name, 1e3 * growth->timeStep);
    rgSheet* sheet = rgReport_Table(report, growth->name, title);
    free(title);
    rgSheet_Column(sheet, growth->unit, NULL, "%.0f");
    rgSheet_Column(sheet, "velocities", NULL, "%.0f");
    rgSheet_Column(sheet, "contacts", "mean", "%.1f");
    rgSheet_Column(sheet, "time", "us/step", "%.1f");
    rgSheet_Column(sheet, "time per contact", "us", "%.3g");
    rgSheet_Column(sheet, "iterations", "mean", "%.1f");
    rgSheet_Column(sheet, "steps at 1e-6", "%", "%.1f");
    rgSheet_Column(sheet, "memory", "MB", "%.2f");
    rgSheet_Column(sheet, "steps measured", NULL, "%.0f");
    return sheet;
}

static void rgAddGrowthRow(rgSheet* sheet, const rgGrowthRun* run) {
    rgSheet_Number(sheet, run->size);
    rgSheet_Number(sheet, run->velocityCount);
    rgSheet_Number(sheet, run->contacts);
    rgSheet_Number(sheet, 1e6 * run->seconds);
    rgSheet_Number(sheet, 1e6 * run->perContact);
    rgSheet_Number(sheet, run->iterations);
    rgSheet_Number(sheet, 100 * run->solved);
    rgSheet_Number(sheet, run->memory / 1e6);
    rgSheet_Number(sheet, run->steps);
}

static bool rgMeasureGrowth(rgReport* report, const rgGrowthCase* growth, rgPowerLaw laws[2]) {
    static const double limits[] = {1, 8, 120};
    rgGrowthRun runs[8];
    double x[8], y[2][8];
    int count = growth->counts[rgReport_Effort(report)];
    rgSheet* sheet = rgAddGrowthTable(report, growth);
    char* title = rgCli_Format("%s: time and memory", growth->name);
    char* name = rgCli_Format("%s_growth", growth->name);
    rgPlot* plot = rgReport_Plot(report, &(rgPlotDef){.name = name,
                                                      .title = title,
                                                      .x = growth->unit,
                                                      .y = "us per step; kB",
                                                      .logX = true,
                                                      .logY = true});
    free(title);
    free(name);
    bool good = true;
    for (int i = 0; good && i < count; ++i) {
        rgReport_Progress(report, i, count, growth->name);
        good = rgRunGrowth(growth, growth->sizes[i], limits[rgReport_Effort(report)], &runs[i]);
        if (good) {
            rgAddGrowthRow(sheet, &runs[i]);
            x[i] = runs[i].size;
            y[0][i] = runs[i].seconds;
            y[1][i] = runs[i].memory;
            rgPlot_Point(plot, rgPlot_Series(plot, "time [us/step]"), x[i], 1e6 * y[0][i]);
            rgPlot_Point(plot, rgPlot_Series(plot, "memory [kB]"), x[i], 1e-3 * y[1][i]);
        }
    }
    for (int k = 0; good && k < 2; ++k) {
        good = rgFitPowerLaw(x, y[k], count, &laws[k]);
        char fit[64];
        snprintf(fit, sizeof(fit), "fit: %s ~ n^%.2f", k == 0 ? "time" : "memory",
                 laws[k].exponent);
        int series = good ? rgPlot_Series(plot, fit) : 0;
        for (int i = 0; good && i < count; i += count - 1) {
            rgPlot_Point(plot, series, x[i],
                         (k == 0 ? 1e6 : 1e-3) * laws[k].factor * pow(x[i], laws[k].exponent));
        }
    }
    return good;
}

static bool rgRunAllGrowth(rgReport* report) {
    rgPowerLaw laws[rg_growthCount][2];
    for (int i = 0; i < rg_growthCount; ++i) {
        if (!rgMeasureGrowth(report, &rgCases[i], laws[i])) {
            return rgReport_Fail(report, "%s: a simulation failed", rgCases[i].name);
        }
    }
    rgReport_Conclude(report,
                      "The time of a step grows with the power %.2f of the bodies of a moving pile "
                      "and %.2f of the joints of a chain; memory with %.2f and %.2f.",
                      laws[0][0].exponent, laws[1][0].exponent, laws[0][1].exponent,
                      laws[1][1].exponent);
    rgReport_Note(report,
                  "Piles are measured while they still move, after 0.6 s of falling, the hardest "
                  "part of their life: more bodies are then in one island, and it takes more "
                  "iterations. Large piles that did not get that far within the time of the "
                  "experiment are measured earlier; bench-full goes up to 10000 bodies.");
    rgReport_Check(report, isfinite(laws[0][0].exponent) && laws[0][0].exponent < 4,
                   "the exponent of piles is %.2f", laws[0][0].exponent);
    return true;
}

const rgExperiment rgExperimentGrowth = {"growth", "Growth of cost",
                                         "How do time and memory grow with bodies and joints?",
                                         "past the paper", rgRunAllGrowth};
