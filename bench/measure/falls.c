// rigor bench falls: the same scenes at many time steps. Hard steps depend on chance, so one run is
// not significant: counts are sums over all runs.
#include "measure.h"
#include "simulation.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct rgFallsOptions {
    int runs;
    double spread;
    double time;
    double timeStep;
    double settle;
    int threads;
    bool json;
} rgFallsOptions;

// One simulation.
typedef struct rgFall {
    const char* path;
    double timeStep, time, settle;
    bool failed;
    int steps, unsolved, regularized, passes;
    int rows, projections; // sums over steps
    long long factorizations, projectionFactorizations;
    int worst;          // factorizations of a step
    int overBound;      // steps with more than 500
    double residual;    // worst
    double depth;       // sum over steps of the deepest penetration [m]
    double deepest;     // [m]
    double energyRise;  // [J]
    double drift;       // farthest motion of a body's origin from the settling time to the end [m]
    double energyBand;  // largest less least energy in that time [J]
    double seconds;     // in rgWorld_Step()
    rgHistogram counts; // distribution of factorizations
} rgFall;

typedef struct rgFalls {
    rgFall* falls;
} rgFalls;

enum { rg_workBound = 500 };

static void rgCountStep(rgFall* fall, const rgStepReport* report) {
    int factorizations = report->contact.factorizationCount + report->projectionFactorizations;
    fall->steps += 1;
    fall->unsolved += report->contact.status != rg_contactSolved;
    fall->regularized += report->regularizedRows > 0;
    fall->passes += report->passCount;
    fall->rows += report->rowCount;
    fall->projections += report->projectedRows > 0;
    fall->factorizations += report->contact.factorizationCount;
    fall->projectionFactorizations += report->projectionFactorizations;
    fall->worst = factorizations > fall->worst ? factorizations : fall->worst;
    fall->overBound += factorizations > rg_workBound;
    fall->residual = fmax(fall->residual, report->contact.residual.total);
    fall->depth += report->penetration;
    fall->deepest = fmax(fall->deepest, report->penetration);
    rgHistogram_Add(&fall->counts, factorizations);
}

// Origins of all bodies.
static void rgReadOrigins(const rgSimulation* simulation, rgVec3* origins) {
    for (int b = 0; b < simulation->info.bodyCount; ++b) {
        origins[b] = rgWorld_BodyPose(simulation->world, (rgBodyId){b + 1}).p;
    }
}

static double rgEnergyOf(const rgSimulation* simulation) {
    return rgWorld_KineticEnergy(simulation->world) + rgWorld_PotentialEnergy(simulation->world);
}

// Step on; from the settling time on, watch drift and energy.
static void rgRunSteps(rgFall* fall, rgSimulation* simulation) {
    int steps = (int)lround(fall->time / fall->timeStep);
    int settled = fall->settle > 0 ? (int)lround(fall->settle / fall->timeStep) : steps;
    size_t count = (size_t)simulation->info.bodyCount + 1;
    rgVec3* origins = rgCli_Grow(NULL, 2 * count, sizeof(rgVec3));
    double least = INFINITY, most = -INFINITY;
    rgStepReport report;
    for (int s = 0; s < steps && !fall->failed; ++s) {
        if (s == settled) {
            rgReadOrigins(simulation, origins);
        }
        if (s >= settled) {
            double energy = rgEnergyOf(simulation);
            least = fmin(least, energy);
            most = fmax(most, energy);
        }
        double begin = rgCli_ThreadSeconds();
        fall->failed = rgSimulation_Step(simulation, &report) != rg_ok;
        fall->seconds += rgCli_ThreadSeconds() - begin;
        if (!fall->failed) {
            rgCountStep(fall, &report);
        }
    }
    if (settled < steps) {
        rgReadOrigins(simulation, origins + count);
        for (size_t b = 0; b + 1 < count; ++b) {
            fall->drift = fmax(fall->drift, rgLength(rgSub(origins[count + b], origins[b])));
        }
        fall->energyBand = most - least;
    }
    free(origins);
}

static void rgRunFall(int index, int worker, void* context) {
    (void)worker;
    rgFall* fall = &((rgFalls*)context)->falls[index];
    rgSimulationArguments arguments = rgDefaultSimulationArguments();
    arguments.what = fall->path;
    arguments.timeStep = fall->timeStep;
    rgSimulation simulation;
    if (!rgSimulation_Begin(&simulation, &arguments)) {
        fall->failed = true;
        rgSimulation_Free(&simulation);
        return;
    }
    if (simulation.scene == NULL && simulation.info.keyCount > 0) {
        rgWorld_Reset(simulation.world, (rgKeyId){1});
    }
    rgRunSteps(fall, &simulation);
    fall->energyRise = rgWorld_Health(simulation.world).energy.amount;
    rgSimulation_Free(&simulation);
}

// ---- report ----

static rgFall rgSumFalls(const rgFall* falls, int count) {
    rgFall sum = {.path = falls[0].path};
    for (int i = 0; i < count; ++i) {
        const rgFall* fall = &falls[i];
        sum.steps += fall->steps;
        sum.unsolved += fall->unsolved;
        sum.regularized += fall->regularized;
        sum.passes += fall->passes;
        sum.rows += fall->rows;
        sum.projections += fall->projections;
        sum.factorizations += fall->factorizations;
        sum.projectionFactorizations += fall->projectionFactorizations;
        sum.worst = fall->worst > sum.worst ? fall->worst : sum.worst;
        sum.overBound += fall->overBound;
        sum.residual = fmax(sum.residual, fall->residual);
        sum.depth += fall->depth;
        sum.deepest = fmax(sum.deepest, fall->deepest);
        sum.drift = fmax(sum.drift, fall->drift);
        sum.energyBand = fmax(sum.energyBand, fall->energyBand);
        sum.energyRise = fmax(sum.energyRise, fall->energyRise);
        sum.seconds += fall->seconds;
        for (int value = 0; value < fall->counts.size; ++value) {
            for (long long k = 0; k < fall->counts.counts[value]; ++k) {
                rgHistogram_Add(&sum.counts, value);
            }
        }
    }
    return sum;
}

static int rgCountFailures(const rgFall* falls, int count) {
    int failures = 0;
    for (int i = 0; i < count; ++i) {
        failures += falls[i].failed;
    }
    return failures;
}

static void rgPrintFalls(const rgFall* falls, int count, bool json, bool first) {
    rgFall sum = rgSumFalls(falls, count);
    double steps = sum.steps > 0 ? sum.steps : 1;
    const char* slash = strrchr(sum.path, '/');
    const char* name = slash != NULL ? slash + 1 : sum.path;
    int p99 = rgHistogram_Quantile(&sum.counts, 0.99);
    int failures = rgCountFailures(falls, count);
    if (json) {
        printf("%s\n  {\"scene\": \"%s\", \"runs\": %d, \"failed_runs\": %d, \"steps\": %d, "
               "\"unsolved_steps\": %d, \"residual_max\": %.3g, \"regularized_steps\": %d, "
               "\"passes_mean\": %.4f, \"projected_share\": %.4f, "
               "\"factorizations_mean\": %.4f, \"projection_factorizations_mean\": %.4f, "
               "\"factorizations_p99\": %d, \"factorizations_max\": %d, \"steps_over_500\": %d, "
               "\"deepest_mean_um\": %.4g, \"deepest_max_um\": %.4g, \"energy_rise_max\": %.4g, "
               "\"drift_max_um\": %.4g, \"energy_band_max\": %.4g, "
               "\"us_per_step\": %.4g}",
               first ? "" : ",", name, count, failures, sum.steps, sum.unsolved, sum.residual,
               sum.regularized, sum.passes / steps, sum.projections / steps,
               (double)sum.factorizations / steps, (double)sum.projectionFactorizations / steps,
               p99, sum.worst, sum.overBound, 1e6 * sum.depth / steps, 1e6 * sum.deepest,
               sum.energyRise, 1e6 * sum.drift, sum.energyBand, 1e6 * sum.seconds / steps);
    } else {
        printf("%-24s %3d %8d %8d %9.2g %8.2f %6.2f %5d %6d %9.3g %9.3g %9.2g %9.3g %9.2g %8.4g\n",
               name, count - failures, sum.steps, sum.unsolved, sum.residual,
               (double)sum.factorizations / steps, (double)sum.projectionFactorizations / steps,
               p99, sum.worst, 1e6 * sum.depth / steps, 1e6 * sum.deepest, sum.energyRise,
               1e6 * sum.drift, sum.energyBand, 1e6 * sum.seconds / steps);
    }
    rgHistogram_Free(&sum.counts);
}

// Time steps lie evenly within the spread about the middle one; of one run, it is the middle one.
static double rgTimeStepOf(const rgFallsOptions* options, int run) {
    double place = options->runs > 1 ? 2.0 * run / (options->runs - 1) - 1 : 0;
    return options->timeStep * (1 + options->spread * place);
}

static void rgFallAll(const rgFallsOptions* options, char** paths, int pathCount) {
    size_t count = (size_t)pathCount * (size_t)options->runs;
    rgFalls falls = {.falls = rgCli_Grow(NULL, count, sizeof(rgFall))};
    for (size_t i = 0; i < count; ++i) {
        int scene = (int)i / options->runs, run = (int)i % options->runs;
        falls.falls[i] = (rgFall){.path = paths[scene],
                                  .timeStep = rgTimeStepOf(options, run),
                                  .time = options->time,
                                  .settle = options->settle};
    }
    rgThreadPool* pool = NULL;
    if (options->threads > 1 && rgCreateThreadPool(options->threads, NULL, &pool) == rg_ok) {
        rgTasks tasks = rgThreadPool_Tasks(pool);
        tasks.run((int)count, rgRunFall, &falls, tasks.context);
    } else {
        for (int i = 0; i < (int)count; ++i) {
            rgRunFall(i, 0, &falls);
        }
    }
    rgDestroyThreadPool(pool);
    if (options->json) {
        printf("[");
    } else {
        printf("%-24s %3s %8s %8s %9s %8s %6s %5s %6s %9s %9s %9s %9s %9s %8s\n", "scene", "ran",
               "steps", "unsolved", "residual", "fact", "proj", "p99", "max", "deep um", "max um",
               "rise J", "drift um", "band J", "us/step");
    }
    for (int s = 0; s < pathCount; ++s) {
        rgPrintFalls(&falls.falls[(size_t)s * (size_t)options->runs], options->runs, options->json,
                     s == 0);
    }
    if (options->json) {
        printf("\n]\n");
    }
    for (size_t i = 0; i < count; ++i) {
        rgHistogram_Free(&falls.falls[i].counts);
    }
    free(falls.falls);
}

int rgBench_Falls(int argc, char** argv) {
    rgFallsOptions options = {
        .runs = 36, .spread = 0.04, .time = 2, .timeStep = 1e-3, .threads = 1};
    const rgOption table[] = {
        {"--runs", rg_optionInt, &options.runs, "time steps per scene", "N", NULL, 1, 1e5},
        {"--spread", rg_optionNumber, &options.spread, "they differ by so much from DT", "S", NULL,
         0, 0.9},
        {"--dt", rg_optionNumber, &options.timeStep, "the middle one [s]", "DT", NULL, 1e-9, 1},
        {"--time", rg_optionNumber, &options.time, "simulated in each run [s]", "T", NULL, 1e-9,
         1e6},
        {"--settle", rg_optionNumber, &options.settle,
         "measure drift and energy from this time on [s]", "T", NULL, 0, 1e6},
        {"--threads", rg_optionInt, &options.threads, "runs at once", "N", NULL, 1, 1024},
        {"--json", rg_optionFlag, &options.json, "print a JSON array", NULL, NULL, 0, 0},
    };
    const rgCommand command = {
        .name = "rigor bench falls",
        .usage = "SCENE|FILE... [OPTIONS]",
        .summary =
            "Simulate each scene at many time steps, from its first key frame, and sum up:\n"
            "steps that are not solved to 1e-6 and the worst residual, factorizations per step\n"
            "of velocities and of the projection with their 99th percentile and maximum, the\n"
            "deepest penetration (mean over steps, maximum), the largest rise of energy.\n"
            "With --settle: how far a body moves and how much the energy varies from then on.",
        .options = table,
        .optionCount = (int)(sizeof(table) / sizeof(table[0])),
        .maxArguments = -1,
    };
    int count = 0;
    int code = rgParseOptions(&command, argc, argv, &count);
    if (code != RG_CLI_GO) {
        return code;
    }
    if (count == 0) {
        rgCli_Error("no scene: try 'rigor bench falls wall humanoid'");
        return rg_exitUsage;
    }
    rgFallAll(&options, argv + 1, count);
    return rg_exitDone;
}
