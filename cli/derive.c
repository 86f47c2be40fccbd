// rigor derive: the linear model of a step, and whether differences of whole steps agree with it.
#include "run.h"
#include "simulation.h"
#include "trajectory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct rgDeriveOptions {
    rgSimulationArguments arguments;
    rgDerivativeDef def;
    int steps, every;
    double most;
    const char* csv;
    bool check, forces, json;
} rgDeriveOptions;

// Largest differences, relative to the largest entry of a block of columns.
typedef struct rgDeriveStats {
    int states, between, touching, frozen, redundant, inconsistent, compared, kinks;
    const char* frozenWhy;
    double worst[4][3]; // by block of columns: of q+, of v+, of sensors
    double margin;
} rgDeriveStats;

typedef struct rgDeriveJob {
    rgDeriveOptions options;
    rgSimulation simulation;
    rgDeriveStats stats;
    double* matrices;
    FILE* csv;
} rgDeriveJob;

#define RG_DERIVE_LEAST 1e-6 // entries below which a block counts as zero

static const char* const rgBlockNames[4] = {"position", "velocity", "control", "force"};

static int rgParseDerive(int argc, char** argv, rgDeriveOptions* options, int* count) {
    rgSimulationArguments* a = &options->arguments;
    rgOption table[] = {
        [RG_SIMULATION_OPTION_COUNT +
         RG_CONTACT_OPTION_COUNT] = {"--steps", rg_optionInt, &options->steps,
                                     "number of steps; derivatives are computed along them", "N",
                                     NULL, 0, 1e9},
        {"--every", rg_optionInt, &options->every, "number of steps between states", "N", NULL, 1,
         1e9},
        {"--forces", rg_optionFlag, &options->forces, "add columns for generalized forces", NULL,
         NULL, 0, 0},
        {"--sensors", rg_optionFlag, &options->def.sensors,
         "add rows for the sensors after the step", NULL, NULL, 0, 0},
        {"--held-gaps", rg_optionFlag, &options->def.heldGaps,
         "touching contacts have the slope of gaps that open", NULL, NULL, 0, 0},
        {"--smoothing", rg_optionNumber, &options->def.smoothing,
         "speed over which the modes of contacts are smoothed [m/s]; 0: exact", "V", NULL, 0,
         1e300},
        {"--check", rg_optionFlag, &options->check,
         "compare with differences of steps at states without contacts between two modes", NULL,
         NULL, 0, 0},
        {"--most", rg_optionNumber, &options->most,
         "largest relative difference of v+ and sensors that passes", "X", NULL, 0, 1e300},
        {"--increment", rg_optionNumber, &options->def.increment, "increment of the differences",
         "H", NULL, 1e-300, 1e300},
        {"--csv", rg_optionOutput, &options->csv, "write the matrices of the last state", "FILE",
         NULL, 0, 0},
        {"--json", rg_optionFlag, &options->json, "print the summary as one JSON object", NULL,
         NULL, 0, 0},
    };
    rgSimulationArguments_Options(a, table);
    rgSimulationArguments_ContactOptions(a, table + RG_SIMULATION_OPTION_COUNT);
    const rgCommand command = {
        .name = "rigor derive",
        .usage = "SCENE|FILE... [OPTIONS]",
        .summary =
            "Derivatives of the new position and velocity of a step, and of sensors, by position,\n"
            "velocity and controls, through the exact contact law, at states along a simulation.\n"
            "Exit code 0, or 1 when --check finds a difference, 2 for wrong options or files.\n\n"
            "Examples:\n  rigor derive quadruped --key stand --steps 100 --check\n"
            "  rigor derive humanoid --csv AB.csv",
        .options = table,
        .optionCount = (int)(sizeof(table) / sizeof(table[0])),
        .minArguments = 1,
        .maxArguments = -1,
    };
    int code = rgParseOptions(&command, argc, argv, count);
    if (code == RG_CLI_GO && options->check && options->def.smoothing > 0) {
        rgCli_Error("--check: differences of steps are exact, without --smoothing");
        return rg_exitUsage;
    }
    options->def.by |= options->forces ? rg_byForce : 0u;
    // Tighten the tolerance: differences divide the solver's residual by their increment.
    a->tolerance = options->check && a->tolerance == 0 ? 1e-12 : a->tolerance;
    return code;
}

// ---- comparison

static double rgBlockDifference(const rgDeriveJob* job, const rgDerivatives* d, int first, int end,
                                const double* a, const double* b) {
    double most = 0, size = RG_DERIVE_LEAST;
    for (int i = 0; i < job->simulation.info.vCount; ++i) {
        for (int j = first; j < end; ++j) {
            int at = i * d->columnCount + j;
            most = fmax(most, fabs(a[at] - b[at]));
            size = fmax(size, fabs(b[at]));
        }
    }
    return most / size;
}

// Largest difference of rows with units of their own, each over its own size. Rows whose
// differences depend on the increment do not count.
static double rgRowsDifference(const rgDeriveJob* job, const rgDerivatives* d, int first, int end,
                               double* const x[3]) {
    double worst = 0;
    for (int i = 0; i < d->sensorCount; ++i) {
        double apart = 0, bent = 0, size = RG_DERIVE_LEAST;
        for (int j = first; j < end; ++j) {
            int at = i * d->columnCount + j;
            apart = fmax(apart, fabs(x[0][at] - x[1][at]));
            bent = fmax(bent, fabs(x[1][at] - x[2][at]));
            size = fmax(size, fabs(x[1][at]));
        }
        worst = bent > job->options.most * size ? worst : fmax(worst, apart / size);
    }
    return worst;
}

// Matrices of an answer, one after the other: of q+, of v+, of sensors.
static size_t rgMatricesSize(const rgDeriveJob* job, const rgDerivatives* d) {
    return (size_t)(2 * job->simulation.info.vCount + d->sensorCount) * (size_t)d->columnCount;
}

static void rgCopyMatrices(const rgDeriveJob* job, const rgDerivatives* d, double* out) {
    size_t count = (size_t)job->simulation.info.vCount * (size_t)d->columnCount;
    memcpy(out, d->nextQ, count * sizeof(double));
    memcpy(out + count, d->nextV, count * sizeof(double));
    if (d->sensor != NULL) {
        memcpy(out + 2 * count, d->sensor,
               (size_t)(d->sensorCount * d->columnCount) * sizeof(double));
    }
}

// Differences of whole steps, as matrices of their own.
static bool rgDeriveJob_Difference(rgDeriveJob* job, double increment, double* out) {
    rgDerivativeDef def = job->options.def;
    rgDerivatives d;
    def.differences = true;
    def.increment = increment;
    rgResult result = rgWorld_Derivatives(job->simulation.world, &def, &d);
    if (result != rg_ok) {
        rgCli_Error("differences failed: %s", rgResult_Name(result));
        return false;
    }
    rgCopyMatrices(job, &d, out);
    return true;
}

// Blocks of columns whose differences do not depend on their increment: no contact changes its mode
// within. Gaps of zero have a kink by position.
static bool rgDeriveJob_Compare(rgDeriveJob* job, const rgDerivatives* d) {
    size_t n = (size_t)job->simulation.info.vCount * (size_t)d->columnCount;
    double *x[3], h = job->options.def.increment;
    for (int k = 0; k < 3; ++k) { // that of the answer, then of both increments
        x[k] = job->matrices + (size_t)k * rgMatricesSize(job, d);
    }
    rgCopyMatrices(job, d, x[0]);
    if (!rgDeriveJob_Difference(job, h, x[1]) || !rgDeriveJob_Difference(job, 2 * h, x[2])) {
        return false;
    }
    double* const sensors[3] = {x[0] + 2 * n, x[1] + 2 * n, x[2] + 2 * n};
    int firsts[5] = {d->positionColumn, d->velocityColumn, d->controlColumn, d->forceColumn,
                     d->columnCount};
    for (int k = 3; k >= 0; --k) {
        firsts[k] = firsts[k] < 0 ? firsts[k + 1] : firsts[k];
    }
    for (int k = d->touching > 0; k < 4; ++k) {
        double* worst = job->stats.worst[k];
        if (rgBlockDifference(job, d, firsts[k], firsts[k + 1], x[1] + n, x[2] + n) >
            job->options.most) {
            job->stats.kinks += 1;
            continue;
        }
        for (int i = 0; i < 2; ++i) {
            const double *a = x[0] + (size_t)i * n, *b = x[1] + (size_t)i * n;
            worst[i] = fmax(worst[i], rgBlockDifference(job, d, firsts[k], firsts[k + 1], a, b));
        }
        // Forces of redundant rows are one of many.
        double read =
            d->redundant == 0 ? rgRowsDifference(job, d, firsts[k], firsts[k + 1], sensors) : 0;
        worst[2] = fmax(worst[2], read);
    }
    job->stats.compared += 1;
    return true;
}

static void rgWriteMatrices(const rgDeriveJob* job, const rgDerivatives* d) {
    static const char* const names[3] = {"q", "v", "sensor"};
    const double* matrices[3] = {d->nextQ, d->nextV, d->sensor};
    int n = job->simulation.info.vCount, counts[3] = {n, n, d->sensorCount};
    for (int m = 0; m < 3; ++m) {
        const double* x = matrices[m];
        for (int i = 0; i < counts[m]; ++i) {
            fprintf(job->csv, "%s,%d", names[m], i);
            for (int j = 0; j < d->columnCount; ++j) {
                fprintf(job->csv, ",%.17g", x[i * d->columnCount + j]);
            }
            fputc('\n', job->csv);
        }
    }
}

static void rgWriteHeader(const rgDeriveJob* job, const rgDerivatives* d) {
    fputs("of,row", job->csv);
    int firsts[4] = {d->positionColumn, d->velocityColumn, d->controlColumn, d->forceColumn};
    int block = 0, first = 0;
    for (int j = 0; j < d->columnCount; ++j) {
        for (int k = 0; k < 4; ++k) {
            if (firsts[k] == j) {
                block = k, first = j;
            }
        }
        fprintf(job->csv, ",%s %d", rgBlockNames[block], j - first);
    }
    fputc('\n', job->csv);
}

static bool rgDeriveJob_Progress(rgDeriveJob* job, bool last) {
    rgDerivatives d;
    rgDeriveStats* stats = &job->stats;
    rgResult result = rgWorld_Derivatives(job->simulation.world, &job->options.def, &d);
    if (result != rg_ok) {
        rgCli_Error("step %d: no derivatives: %s", stats->states, rgResult_Name(result));
        return false;
    }
    if (job->matrices == NULL) {
        job->matrices = malloc((3 * rgMatricesSize(job, &d) + 1) * sizeof(double));
        if (job->matrices == NULL) {
            rgCli_Error("out of memory");
            return false;
        }
    }
    stats->states += 1;
    stats->between += d.betweenModes > 0;
    stats->touching += d.touching > 0;
    stats->redundant += d.redundant > 0;
    stats->inconsistent += d.inconsistent > 0;
    stats->frozen += d.frozen > 0;
    stats->frozenWhy = d.frozen > 0 ? d.frozenWhy : stats->frozenWhy;
    stats->margin = fmin(stats->margin, d.margin);
    if (last && job->csv != NULL) {
        rgWriteHeader(job, &d);
        rgWriteMatrices(job, &d);
    }
    bool smooth = d.betweenModes + d.frozen + d.inconsistent == 0 && d.margin > 0.01;
    return !job->options.check || !smooth || rgDeriveJob_Compare(job, &d);
}

static bool rgDeriveJob_Run(rgDeriveJob* job) {
    const rgDeriveOptions* options = &job->options;
    for (int i = 0; i <= options->steps; ++i) {
        bool last = i == options->steps;
        if ((last || i % options->every == 0) && !rgDeriveJob_Progress(job, last)) {
            return false;
        }
        rgResult result = last ? rg_ok : rgWorld_Step(job->simulation.world, NULL);
        if (result != rg_ok) {
            rgCli_Error("step %d failed: %s", i, rgResult_Name(result));
            return false;
        }
    }
    return true;
}

static bool rgDeriveJob_Passes(const rgDeriveJob* job) {
    double worst = 0;
    for (int k = 0; k < 4; ++k) {
        worst = fmax(worst, fmax(job->stats.worst[k][1], job->stats.worst[k][2]));
    }
    return !job->options.check || worst <= job->options.most;
}

static void rgPrintDerive(const rgDeriveJob* job) {
    const rgDeriveStats* stats = &job->stats;
    printf("%d states: %d with contacts between two modes, %d with gaps of zero, %d with redundant "
           "rows, %d with inconsistent ones\n",
           stats->states, stats->between, stats->touching, stats->redundant, stats->inconsistent);
    if (stats->frozen > 0) {
        printf("%d states have frozen terms: %s\n", stats->frozen, stats->frozenWhy);
    }
    if (!job->options.check) {
        return;
    }
    printf("%d smooth states compared with differences of %g (%d blocks of columns left out, whose "
           "differences depend on the increment):\n",
           stats->compared, job->options.def.increment, stats->kinks);
    for (int k = 0; k < (job->options.forces ? 4 : 3); ++k) {
        printf("  by %-8s  q+ %.2g  v+ %.2g", rgBlockNames[k], stats->worst[k][0],
               stats->worst[k][1]);
        if (job->options.def.sensors) {
            printf("  sensors %.2g", stats->worst[k][2]);
        }
        putchar('\n');
    }
    printf("%s: v+%s within %g\n", rgDeriveJob_Passes(job) ? "agrees" : "DIFFERS",
           job->options.def.sensors ? " and sensors" : "", job->options.most);
}

static void rgPrintDeriveJson(const rgDeriveJob* job) {
    const rgDeriveStats* stats = &job->stats;
    rgJson json = {.out = stdout};
    rgJson_BeginObject(&json, NULL);
    rgJson_String(&json, "scene", job->simulation.name);
    rgJson_Int(&json, "states", stats->states);
    rgJson_Int(&json, "between_modes", stats->between);
    rgJson_Int(&json, "touching", stats->touching);
    rgJson_Int(&json, "redundant", stats->redundant);
    rgJson_Int(&json, "inconsistent", stats->inconsistent);
    rgJson_Int(&json, "frozen", stats->frozen);
    rgJson_Int(&json, "compared", stats->compared);
    for (int k = 0; k < 4 && job->options.check; ++k) {
        char name[32];
        snprintf(name, sizeof(name), "by_%s_q", rgBlockNames[k]);
        rgJson_Number(&json, name, stats->worst[k][0]);
        snprintf(name, sizeof(name), "by_%s_v", rgBlockNames[k]);
        rgJson_Number(&json, name, stats->worst[k][1]);
        snprintf(name, sizeof(name), "by_%s_sensors", rgBlockNames[k]);
        if (job->options.def.sensors) {
            rgJson_Number(&json, name, stats->worst[k][2]);
        }
    }
    rgJson_EndObject(&json);
}

int rgCli_Derive(int argc, char** argv) {
    rgDeriveJob job = {.options = {.arguments = rgDefaultSimulationArguments(),
                                   .def = rgDefaultDerivativeDef(),
                                   .every = 10,
                                   .most = 1e-4},
                       .stats.margin = 1};
    int count = 0, code = rgParseDerive(argc, argv, &job.options, &count);
    if (code != RG_CLI_GO) {
        return code;
    }
    job.options.arguments.what = argv[1];
    job.options.arguments.more = argv + 2;
    job.options.arguments.moreCount = count - 1;
    bool good = rgSimulation_Begin(&job.simulation, &job.options.arguments);
    if (good && job.options.csv != NULL) {
        job.csv = rgCli_OpenToWrite(job.options.csv);
        good = job.csv != NULL;
    }
    good = good && rgDeriveJob_Run(&job);
    good = (job.csv == NULL || rgCsv_Close(job.csv, job.options.csv)) && good;
    if (good && job.options.json) {
        rgPrintDeriveJson(&job);
    } else if (good) {
        rgPrintDerive(&job);
    }
    bool passes = rgDeriveJob_Passes(&job);
    free(job.matrices);
    rgSimulation_Free(&job.simulation);
    return !good ? rg_exitUsage : passes ? rg_exitDone : rg_exitNo;
}
