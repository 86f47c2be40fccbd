// rigor rollout: many worlds of a scene or a robot description, with parameters that differ, on all
// threads and, in rigor-mpi, on all ranks. Results go to an HDF5 file.
#include "rollout.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char* const policies[] = {"hold", "zero", "noise", "csv", NULL};
typedef enum rgPolicy { rg_policyHold, rg_policyZero, rg_policyNoise, rg_policyCsv } rgPolicy;

typedef struct rgRolloutOptions {
    rgSimulationArguments arguments;
    int worlds; // per point of the grid
    int steps;
    int every; // 0: record the end only
    const char* randomise;
    const char* grid;
    int policy;
    const char* control;
    double noise;   // negative: 0.1
    int noiseSteps; // 0: 10
    const char* out;
    int block;
    bool resume, force, json, sensors;
} rgRolloutOptions;

typedef struct rgColumn {
    rgResultsArray array;
    int size;       // numbers per row
    double* values; // block x size
} rgColumn;

enum {
    rg_outParameters,
    rg_outPositions,
    rg_outVelocities,
    rg_outSensors,
    rg_outControls,
    rg_outTimes,
    rg_outStartPositions,
    rg_outStartVelocities,
    rg_outTime,
    rg_outSteps,
    rg_outUnconverged,
    rg_outRegularized,
    rg_outAnomalies,
    rg_outContacts,
    rg_outResidual,
    rg_outPenetration,
    rg_outCount
};

// Sums over all worlds that this run made.
enum { rg_sumWorlds, rg_sumSteps, rg_sumUnconverged, rg_sumFaults, rg_sumAnomalous, rg_sumCount };

typedef struct rgRolloutJob {
    rgComm* comm;
    rgRolloutOptions options;
    rgSimulation simulation;
    rgSpreads spreads;
    int64_t worldCount;
    int recordCount, recordInterval;
    void* start; // saved state
    size_t startSize;
    double* control; // at the start
    rgControlFile file;
    rgControlFile* files; // per world of the block: how far it has read
    int64_t firstWorld;   // first world of the block
    int block;            // worlds of the batch
    rgBatch* batch;
    rgThreadPool* pool;
    rgResults* results;
    rgColumn outputs[rg_outCount];
    char* settings;
    double sums[rg_sumCount];
    double seconds;
} rgRolloutJob;

static int rgParseRollout(int argc, char** argv, rgRolloutOptions* options, int* count) {
    rgSimulationArguments* a = &options->arguments;
    rgOption table[] = {
        [RG_SIMULATION_OPTION_COUNT] = {"--worlds", rg_optionInt, &options->worlds,
                                        "number of worlds, or of worlds per point of the grid", "N",
                                        NULL, 1, 2147483647},
        {"--steps", rg_optionInt, &options->steps, "number of steps of each world", "N", NULL, 1,
         2147483647},
        {"--randomise", rg_optionText, &options->randomise,
         "draw parameters for each world: mu=0.4:1,mass=0.9:1.1", "P", NULL, 0, 0},
        {"--grid", rg_optionText, &options->grid,
         "vary parameters on a grid: mu=0.1:0.9:17,stiffness=1e4:1e6:5:log", "P", NULL, 0, 0},
        {"--policy", rg_optionChoice, &options->policy,
         "controls: those of the start, none, noise about the start, or those of --ctrl", "P",
         policies, 0, 0},
        {"--ctrl", rg_optionText, &options->control,
         "read controls from a CSV file: time, then actuators by name", "FILE", NULL, 0, 0},
        {"--noise", rg_optionNumber, &options->noise,
         "standard deviation, as a share of half the control range (of 1 without a range)", "S",
         NULL, 0, 1e9},
        {"--noise-steps", rg_optionInt, &options->noiseSteps, "number of steps with the same noise",
         "N", NULL, 1, 1e9},
        rgHoldOption(a),
        {"--out", rg_optionOutput, &options->out, "write the results to an HDF5 file", "FILE", NULL,
         0, 0},
        {"--every", rg_optionInt, &options->every,
         "write states after every N steps; only the last without it", "N", NULL, 1, 2147483647},
        {"--sensors", rg_optionFlag, &options->sensors, "write sensors beside the states", NULL,
         NULL, 0, 0},
        {"--block", rg_optionInt, &options->block,
         "number of worlds that are simulated and written together", "N", NULL, 1, 1000000},
        {"--resume", rg_optionFlag, &options->resume,
         "continue --out after its last world; begin if it does not exist", NULL, NULL, 0, 0},
        {"--force", rg_optionFlag, &options->force, "overwrite --out", NULL, NULL, 0, 0},
        {"--tol", rg_optionNumber, &a->tolerance, "residual to reach; 1e-6 without it", "T", NULL,
         1e-300, 1},
        {"--json", rg_optionFlag, &options->json, "print the summary as one JSON object", NULL,
         NULL, 0, 0},
    };
    rgSimulationArguments_Options(a, table);
    const rgCommand command = {
        .name = "rigor rollout",
        .usage = "SCENE|FILE... [OPTIONS]",
        .summary =
            "Simulate many worlds of a built-in scene or of files, composed as in rigor "
            "simulate, each with its\nown parameters, controls and seed, and write their final "
            "states. Exit code: 0 when all worlds\nran, 1 when some stopped early (their status "
            "has the reason), 2 for wrong options or files.\nSee docs/scale.md.\n\n"
            "Examples:\n"
            "  rigor rollout humanoid --worlds 1024 --randomise mu=0.4:1 --threads 2 --out h.h5\n"
            "  rigor rollout wall --grid mu=0.1:0.9:17 --steps 2000 --json",
        .options = table,
        .optionCount = (int)(sizeof(table) / sizeof(table[0])),
        .minArguments = 1,
        .maxArguments = -1,
    };
    return rgParseOptions(&command, argc, argv, count);
}

// ---- the plan ----

// True if options agree. Defaults of the noise are set.
static bool rgCheckOptions(rgRolloutOptions* options) {
    if ((options->policy == rg_policyCsv) != (options->control != NULL)) {
        rgCli_Error("--policy csv and --ctrl FILE go together");
        return false;
    }
    if ((options->noise >= 0 || options->noiseSteps > 0) && options->policy != rg_policyNoise) {
        rgCli_Error("--noise and --noise-steps need --policy noise");
        return false;
    }
    options->noise = options->noise < 0 ? 0.1 : options->noise;
    options->noiseSteps = options->noiseSteps == 0 ? 10 : options->noiseSteps;
    if (options->resume && options->force) {
        rgCli_Error("--resume and --force exclude each other");
        return false;
    }
    if (options->out == NULL && (options->resume || options->force || options->every > 0)) {
        rgCli_Error("--resume, --force and --every need --out");
        return false;
    }
    if (options->every > options->steps) {
        rgCli_Error("--every %d: there are only %d steps", options->every, options->steps);
        return false;
    }
    return true;
}

static bool rgPlanWorlds(rgRolloutJob* job) {
    const rgRolloutOptions* options = &job->options;
    job->spreads.gridSize = 1;
    if ((options->randomise != NULL &&
         !rgSpreads_Read(&job->spreads, "--randomise", options->randomise, false)) ||
        (options->grid != NULL && !rgSpreads_Read(&job->spreads, "--grid", options->grid, true))) {
        return false;
    }
    job->worldCount = job->spreads.gridSize * options->worlds;
    if (job->worldCount > INT32_MAX) {
        rgCli_Error("a grid of %lld points with %d worlds each is too large: %d worlds at most",
                    (long long)job->spreads.gridSize, options->worlds, INT32_MAX);
        return false;
    }
    return true;
}

// Settings that must agree on all ranks and in a later run that continues the file.
static void rgDescribeSettings(rgRolloutJob* job) {
    const rgRolloutOptions* o = &job->options;
    const rgSimulation* simulation = &job->simulation;
    uint64_t model = rgWorld_Hash(simulation->world);
    rgWorld_Step(simulation->world, NULL);
    model = rgRandomBits(model, rgWorld_Hash(simulation->world));
    rgWorld_Restore(simulation->world, job->start, job->startSize);
    uint64_t control = 0;
    const rgControlFile* file = &job->file;
    if (file->rowCount > 0) {
        size_t rows = (size_t)file->rowCount, columns = (size_t)file->columnCount;
        control = rgHashBytes(file->times, rows * sizeof(double), 0);
        control = rgHashBytes(file->values, rows * columns * sizeof(double), control);
    }
    job->settings = rgCli_Format(
        "model %s\nstart and first step %016llx\ntime step %.17g\ntolerance %.17g\nworlds %lld\n"
        "steps %d\nevery %d\nseed %d\nrandomise %s\ngrid %s\npolicy %s\nnoise %.17g\nhold %d\n"
        "servos %s\ncontrols %016llx\nsensors %d\nblock %d\nrows with controls, times and start\n",
        simulation->name, (unsigned long long)model, rgWorld_TimeStep(simulation->world),
        simulation->def.contact.tolerance, (long long)job->worldCount, o->steps, o->every,
        o->arguments.seed, o->randomise != NULL ? o->randomise : "", o->grid != NULL ? o->grid : "",
        policies[o->policy], o->noise, o->noiseSteps,
        o->arguments.hold != NULL ? o->arguments.hold : "", (unsigned long long)control, o->sensors,
        o->block);
}

static bool rgPrepare(rgRolloutJob* job) {
    rgSimulation* simulation = &job->simulation;
    rgSimulationArguments arguments = job->options.arguments;
    arguments.threads = 1; // threads of one world; the batch has its own
    if (!rgCheckOptions(&job->options) || !rgPlanWorlds(job) ||
        !rgSimulation_Begin(simulation, &arguments)) {
        return false;
    }
    const rgModel* model = simulation->loaded.model;
    if (job->options.control != NULL &&
        !rgControlFile_Read(&job->file, job->options.control, model)) {
        return false;
    }
    if (job->options.policy == rg_policyZero) {
        double* none = rgCli_Allocate((size_t)simulation->info.actuatorCount + 1, sizeof(double));
        rgWorld_SetControl(simulation->world, none);
        free(none);
    }
    int count = 0;
    const double* control = rgWorld_Control(simulation->world, &count);
    job->control = rgCli_Allocate((size_t)count + 1, sizeof(double));
    if (count > 0) {
        memcpy(job->control, control, (size_t)count * sizeof(double));
    }
    job->startSize = rgWorld_StateSize(simulation->world);
    job->start = rgCli_Allocate(job->startSize, 1);
    rgWorld_Save(simulation->world, job->start, job->startSize);
    rgDescribeSettings(job);
    return true;
}

// ---- results ----

static void rgPlanOutputs(rgRolloutJob* job) {
    const rgModelInfo* info = &job->simulation.info;
    int sensors = 0;
    rgWorld_Sensors(job->simulation.world, &sensors);
    job->recordInterval = job->options.every > 0 ? job->options.every : job->options.steps;
    job->recordCount = job->options.steps / job->recordInterval;
    int S = job->recordCount;
    const rgResultsArray arrays[rg_outCount] = {
        [rg_outParameters] = {"parameters", {job->spreads.count, 0}, false},
        [rg_outPositions] = {"positions", {S, info->qCount}, false},
        [rg_outVelocities] = {"velocities", {S, info->vCount}, false},
        [rg_outSensors] = {"sensors", {S, job->options.sensors ? sensors : 0}, false},
        [rg_outControls] = {"controls", {S, info->actuatorCount}, false},
        [rg_outTimes] = {"times", {S, 0}, false},
        [rg_outStartPositions] = {"start_positions", {info->qCount, 0}, false},
        [rg_outStartVelocities] = {"start_velocities", {info->vCount, 0}, false},
        [rg_outTime] = {"time", {0, 0}, false},
        [rg_outSteps] = {"steps", {0, 0}, true},
        [rg_outUnconverged] = {"unconverged", {0, 0}, true},
        [rg_outRegularized] = {"regularized", {0, 0}, true},
        [rg_outAnomalies] = {"anomalies", {0, 0}, true},
        [rg_outContacts] = {"contacts", {0, 0}, true},
        [rg_outResidual] = {"residual", {0, 0}, false},
        [rg_outPenetration] = {"penetration", {0, 0}, false},
    };
    for (int i = 0; i < rg_outCount; ++i) {
        rgColumn* output = &job->outputs[i];
        const int* extent = arrays[i].extent;
        output->array = arrays[i];
        bool series = i >= rg_outPositions && i <= rg_outControls;
        output->size = series ? S * extent[1] : i >= rg_outTime ? 1 : extent[0];
        output->values =
            rgCli_Allocate((size_t)job->block * (size_t)output->size + 1, sizeof(double));
    }
}

static char* rgParameterNames(const rgRolloutJob* job) {
    char* names = rgCli_CopyText("");
    for (int i = 0; i < job->spreads.count; ++i) {
        char* longer = rgCli_Format("%s%s%s", names, i > 0 ? "," : "",
                                    rgBatchParameter_Name(job->spreads.spreads[i].parameter));
        free(names);
        names = longer;
    }
    return names;
}

static bool rgSaid(const rgRolloutJob* job, rgResult result, rgDiagnostics* said) {
    if (result != rg_ok) {
        rgCli_PrintDiagnostics(said, stderr, false, true);
        if (rgDiagnostics_Count(said) == 0) {
            rgCli_Error("%s: %s", job->options.out, rgResult_Name(result));
        }
    }
    rgDiagnostics_Clear(said);
    return result == rg_ok;
}

// Rank 0, for all.
static bool rgMakeResults(rgRolloutJob* job, bool overwrite) {
    rgDiagnostics* said = job->simulation.loaded.diagnostics;
    rgResultsArray arrays[rg_outCount];
    char* names = rgParameterNames(job);
    const rgResultsText texts[] = {{"settings", job->settings}, {"parameters", names}};
    rgResultsDef def = rgDefaultResultsDef();
    def.rowCount = job->worldCount;
    def.partCount = job->comm->size < job->worldCount ? job->comm->size : (int)job->worldCount;
    def.arrays = arrays;
    for (int i = 0; i < rg_outCount; ++i) {
        if (job->outputs[i].size > 0) {
            arrays[def.arrayCount++] = job->outputs[i].array;
        }
    }
    def.texts = texts;
    def.textCount = 2;
    def.overwrite = overwrite;
    bool good = rgSaid(job, rgCreateResults(job->options.out, &def, said, &job->results), said);
    free(names);
    return good;
}

// The first line in which two texts differ.
static void rgPrintDifference(const char* path, const char* there, const char* here) {
    size_t start = 0, i = 0;
    for (; there[i] == here[i]; ++i) {
        start = here[i] == '\n' ? i + 1 : start;
    }
    rgCli_Error("%s: has other settings: '%.*s' there, '%.*s' here", path,
                (int)strcspn(there + start, "\n"), there + start, (int)strcspn(here + start, "\n"),
                here + start);
}

static bool rgOpenForAll(rgRolloutJob* job) {
    rgDiagnostics* said = job->simulation.loaded.diagnostics;
    if (job->results == NULL &&
        !rgSaid(job, rgOpenResults(job->options.out, true, said, &job->results), said)) {
        return false;
    }
    const char* settings = rgResults_Text(job->results, "settings");
    if (settings == NULL || strcmp(settings, job->settings) != 0) {
        rgPrintDifference(job->options.out, settings != NULL ? settings : "", job->settings);
        return false;
    }
    return true;
}

static bool rgBeginResults(rgRolloutJob* job) {
    const rgRolloutOptions* options = &job->options;
    if (options->out == NULL) {
        return true;
    }
    bool good = true;
    if (job->comm->rank == 0) {
        bool there = access(options->out, F_OK) == 0;
        if (!(options->resume && there)) {
            good = rgMakeResults(job, options->force || options->resume);
        }
    }
    return job->comm->agree(job->comm, good) && rgOpenForAll(job);
}

// ---- the worlds ----

static double rgNoise(const rgRolloutJob* job, int actuator, uint64_t seed, int step) {
    const rgModel* model = job->simulation.loaded.model;
    const rgActuatorDef* def = rgModel_Actuator(model, (rgActuatorId){actuator + 1});
    double half = def->hasControlRange ? 0.5 * (def->controlUpper - def->controlLower) : 1;
    uint64_t index =
        (uint64_t)(step / job->options.noiseSteps) * (uint64_t)job->simulation.info.actuatorCount +
        (uint64_t)actuator;
    return job->options.noise * half * rgRandomNormal(seed, index);
}

static rgResult rgSetNoise(const rgRolloutJob* job, rgWorld* world, int index, int step) {
    int count = job->simulation.info.actuatorCount;
    if (step % job->options.noiseSteps != 0 || count == 0) {
        return rg_ok;
    }
    double few[64];
    double* control = count <= 64 ? few : rgCli_Allocate((size_t)count, sizeof(double));
    uint64_t seed = rgRandomBits((uint64_t)job->options.arguments.seed + 1,
                                 (uint64_t)(job->firstWorld + index));
    for (int a = 0; a < count; ++a) {
        control[a] = job->control[a] + rgNoise(job, a, seed, step);
    }
    rgResult result = rgWorld_SetControl(world, control);
    if (control != few) {
        free(control);
    }
    return result;
}

static rgResult rgAct(rgWorld* world, int index, int step, void* context) {
    rgRolloutJob* job = context;
    rgResult result = rg_ok;
    if (job->simulation.scene != NULL) {
        result = rgScene_Act(job->simulation.scene, world);
    }
    if (result == rg_ok && job->options.policy == rg_policyNoise) {
        result = rgSetNoise(job, world, index, step);
    }
    if (result == rg_ok && job->options.policy == rg_policyCsv) {
        result = rgControlFile_Apply(&job->files[index], world);
    }
    return result;
}

// A number for all columns of a parameter; gravity keeps its direction.
static void rgSpreadRow(const rgRolloutJob* job, rgBatchParameter parameter, double value,
                        int columns, double* row) {
    rgModelOptions options = job->simulation.info.options;
    rgVec3 g = options.hasGravity ? options.gravity : rgVec(0, 0, -9.81);
    double length = rgLength(g);
    rgVec3 along = length > 0 ? rgScale(1 / length, g) : rgVec(0, 0, -1);
    const double direction[3] = {along.x, along.y, along.z};
    for (int k = 0; k < columns; ++k) {
        row[k] = parameter == rg_parameterGravity ? value * direction[k] : value;
    }
}

static bool rgSetParameters(rgRolloutJob* job, int count) {
    rgDiagnostics* said = job->simulation.loaded.diagnostics;
    rgResult result = rg_ok;
    for (int p = 0; p < job->spreads.count && result == rg_ok; ++p) {
        rgBatchParameter parameter = job->spreads.spreads[p].parameter;
        int columns = rgBatch_ParameterSize(job->batch, parameter);
        size_t total = (size_t)job->block * (size_t)columns;
        double* values = rgCli_Allocate(total + 1, sizeof(double));
        for (int i = 0; i < job->block; ++i) {
            int64_t world = job->firstWorld + (i < count ? i : 0);
            double value =
                rgSpreads_Value(&job->spreads, p, (uint64_t)job->options.arguments.seed, world);
            rgSpreadRow(job, parameter, value, columns, values + (size_t)i * (size_t)columns);
            if (i < count) {
                job->outputs[rg_outParameters].values[i * job->spreads.count + p] = value;
            }
        }
        result = rgBatch_SetParameter(job->batch, parameter, values, total, NULL, said);
        free(values);
    }
    return rgSaid(job, result, said);
}

static void rgCollect(rgRolloutJob* job, int count, int32_t* codes) {
    const rgWorldStatus* status = rgBatch_Status(job->batch);
    rgBatchView time = rgBatch_View(job->batch, rg_batchTime);
    rgColumn* out = job->outputs;
    for (int i = 0; i < count; ++i) {
        out[rg_outTime].values[i] = time.data[i * time.stride];
        out[rg_outSteps].values[i] = status[i].stepCount;
        out[rg_outUnconverged].values[i] = status[i].unconvergedCount;
        out[rg_outRegularized].values[i] = status[i].regularizedCount;
        out[rg_outAnomalies].values[i] = status[i].anomalies;
        out[rg_outContacts].values[i] = status[i].contactCount;
        out[rg_outResidual].values[i] = status[i].residual;
        out[rg_outPenetration].values[i] = status[i].penetration;
        codes[i] = 1 + (int32_t)status[i].fault;
        job->sums[rg_sumWorlds] += 1;
        job->sums[rg_sumSteps] += status[i].stepCount;
        job->sums[rg_sumUnconverged] += status[i].unconvergedCount;
        job->sums[rg_sumFaults] += status[i].fault != rg_faultNone;
        job->sums[rg_sumAnomalous] += status[i].anomalies != 0;
    }
}

static bool rgStore(rgRolloutJob* job, int count, const int32_t* codes) {
    if (job->results == NULL) {
        return true;
    }
    rgDiagnostics* said = job->simulation.loaded.diagnostics;
    rgResult result = rg_ok;
    for (int i = 0, a = 0; i < rg_outCount && result == rg_ok; ++i) {
        if (job->outputs[i].size > 0) {
            result = rgResults_Write(job->results, a++, job->firstWorld, count,
                                     job->outputs[i].values, said);
        }
    }
    if (result == rg_ok) {
        result = rgResults_Commit(job->results, job->firstWorld, count, codes, said);
    }
    return rgSaid(job, result, said);
}

static rgResult rgReadStarts(rgRolloutJob* job) {
    const rgBatchArray arrays[] = {rg_batchPositions, rg_batchVelocities};
    rgResult result = rg_ok;
    for (int k = 0; k < 2 && result == rg_ok; ++k) {
        const rgColumn* output = &job->outputs[rg_outStartPositions + k];
        result = rgBatch_Read(job->batch, arrays[k], output->values,
                              (size_t)job->block * (size_t)output->size);
    }
    return result;
}

// Worlds first to first + count - 1, from start to file.
static bool rgRunBlock(rgRolloutJob* job, int64_t first, int count) {
    rgDiagnostics* said = job->simulation.loaded.diagnostics;
    uint8_t* on = rgCli_Allocate((size_t)job->block, 1);
    memset(on, 1, (size_t)count);
    rgWorldMask mask = {on, job->block};
    job->firstWorld = first;
    for (int i = 0; i < job->block; ++i) {
        job->files[i] = job->file;
    }
    rgResult result = rgBatch_Restore(job->batch, job->start, job->startSize, NULL);
    bool good = rgSaid(job, result, said) && rgSetParameters(job, count) &&
                rgSaid(job, rgReadStarts(job), said);
    if (good) {
        rgRolloutDef def = rgDefaultRolloutDef();
        def.stepCount = job->options.steps;
        bool acts = job->simulation.scene != NULL || job->options.policy >= rg_policyNoise;
        def.each = acts ? rgAct : NULL;
        def.context = job;
        def.recordInterval = job->recordInterval;
        double** arrays[] = {&def.positions, &def.velocities, &def.sensors, &def.inputs,
                             &def.times};
        size_t* counts[] = {&def.positionCount, &def.velocityCount, &def.sensorCount,
                            &def.inputCount, &def.timeCount};
        for (int k = 0; k < (int)(sizeof(arrays) / sizeof(arrays[0])); ++k) {
            const rgColumn* output = &job->outputs[rg_outPositions + k];
            *arrays[k] = output->size > 0 ? output->values : NULL;
            *counts[k] = (size_t)job->block * (size_t)output->size;
        }
        good = rgSaid(job, rgBatch_Rollout(job->batch, &def, &mask, said), said);
    }
    int32_t* codes = rgCli_Allocate((size_t)job->block, sizeof(int32_t));
    if (good) {
        rgCollect(job, count, codes);
        good = rgStore(job, count, codes);
    }
    free(codes);
    free(on);
    return good;
}

static bool rgMakeBatch(rgRolloutJob* job) {
    rgDiagnostics* said = job->simulation.loaded.diagnostics;
    rgBatchDef def = rgDefaultBatchDef();
    def.worldCount = job->block;
    def.world = job->simulation.def;
    def.seed = (uint64_t)job->options.arguments.seed;
    int threads = job->options.arguments.threads;
    if (threads > 1) {
        if (rgCreateThreadPool(threads, NULL, &job->pool) != rg_ok) {
            rgCli_Error("--threads: %d threads could not be started", threads);
            return false;
        }
        def.tasks = rgThreadPool_Tasks(job->pool);
    }
    rgResult result = rgCreateBatch(job->simulation.loaded.model, &def, said, &job->batch);
    return rgSaid(job, result, said);
}

// True if rows of a block are not there yet.
static bool rgFindMissing(rgRolloutJob* job, int64_t first, int count, bool* missing) {
    rgDiagnostics* said = job->simulation.loaded.diagnostics;
    int32_t* status = rgCli_Allocate((size_t)count, sizeof(int32_t));
    rgResult result = rg_ok;
    if (job->results != NULL) {
        result = rgResults_ReadStatus(job->results, first, count, status, said);
    }
    *missing = false;
    for (int i = 0; i < count; ++i) {
        *missing = *missing || status[i] == 0;
    }
    free(status);
    return rgSaid(job, result, said);
}

static void rgPartRange(const rgRolloutJob* job, int part, int64_t* first, int64_t* count) {
    int size = job->comm->size;
    if (job->results != NULL) {
        rgResults_PartRows(job->results, part, first, count);
    } else {
        *first = job->worldCount * part / size;
        *count = job->worldCount * (part + 1) / size - *first;
    }
}

static bool rgRunPart(rgRolloutJob* job, int part, rgProgress* progress) {
    int64_t first, count;
    rgPartRange(job, part, &first, &count);
    bool good = true;
    for (int64_t at = first; good && at < first + count; at += job->block) {
        int64_t left = first + count - at;
        int size = left < job->block ? (int)left : job->block;
        bool missing = true;
        good = rgFindMissing(job, at, size, &missing);
        if (good && missing) {
            good = rgRunBlock(job, at, size);
        }
        int64_t done = job->comm->report(job->comm, size);
        if (job->comm->rank == 0) {
            rgProgress_Update(progress, (int)done, "worlds");
        }
    }
    return good;
}

static bool rgRunWorlds(rgRolloutJob* job) {
    rgComm* comm = job->comm;
    int parts = job->results != NULL ? rgResults_PartCount(job->results) : comm->size;
    rgProgress progress;
    rgProgress_Begin(&progress, "rollout", (int)job->worldCount);
    double begin = rgCli_Seconds();
    bool good = true;
    for (int part = comm->rank; good && part < parts; part += comm->size) {
        good = rgRunPart(job, part, &progress);
    }
    good = comm->agree(comm, good);
    job->seconds = rgCli_Seconds() - begin;
    rgProgress_End(&progress);
    comm->sum(comm, job->sums, rg_sumCount);
    comm->most(comm, &job->seconds, 1);
    return good;
}

// ---- the job ----

static void rgPrintRollout(const rgRolloutJob* job) {
    const double* sums = job->sums;
    double rate = sums[rg_sumSteps] / fmax(job->seconds, 1e-9);
    if (job->options.json) {
        rgJson json = {.out = stdout};
        rgJson_BeginObject(&json, NULL);
        rgJson_String(&json, "scene", job->simulation.name);
        rgJson_Int(&json, "worlds", job->worldCount);
        rgJson_Int(&json, "worlds_run", (long long)sums[rg_sumWorlds]);
        rgJson_Int(&json, "steps", (long long)sums[rg_sumSteps]);
        rgJson_Int(&json, "ranks", job->comm->size);
        rgJson_Int(&json, "threads", job->options.arguments.threads);
        rgJson_Number(&json, "seconds", job->seconds);
        rgJson_Number(&json, "steps_per_second", rate);
        rgJson_Int(&json, "stopped", (long long)sums[rg_sumFaults]);
        rgJson_Int(&json, "anomalous", (long long)sums[rg_sumAnomalous]);
        rgJson_Int(&json, "unconverged_steps", (long long)sums[rg_sumUnconverged]);
        rgJson_String(&json, "out", job->options.out);
        rgJson_EndObject(&json);
        return;
    }
    char time[16];
    rgCli_Print(stdout, "%s: %lld worlds", job->simulation.name, (long long)job->worldCount);
    if ((int64_t)sums[rg_sumWorlds] != job->worldCount) {
        printf(", %lld of them in this run", (long long)sums[rg_sumWorlds]);
    }
    printf(", %.0f steps in %s: %.0f steps per second\n", sums[rg_sumSteps],
           rgFormatSeconds(time, job->seconds), rate);
    printf("%.0f stopped early, %.0f with anomalies, %.0f steps not solved to tolerance\n",
           sums[rg_sumFaults], sums[rg_sumAnomalous], sums[rg_sumUnconverged]);
    if (job->options.out != NULL) {
        printf("written to %s\n", job->options.out);
    }
}

static bool rgAgree(rgRolloutJob* job, bool good) {
    rgComm* comm = job->comm;
    comm->mute(comm, false);
    bool all = comm->agree(comm, good);
    if (good && !all && comm->rank == 0) {
        rgCli_Error(
            "another rank failed where rank 0 did not; check that all ranks see the same files");
    }
    return all;
}

static int rgRunRollout(rgRolloutJob* job) {
    rgComm* comm = job->comm;
    comm->mute(comm, true);
    if (!rgAgree(job, rgPrepare(job))) {
        return rg_exitUsage;
    }
    if (!comm->same(comm, rgHashBytes(job->settings, strlen(job->settings), 0))) {
        if (comm->rank == 0) {
            rgCli_Error("%s: not all ranks see the same model or controls", job->simulation.name);
        }
        return rg_exitUsage;
    }
    job->block = job->options.block < job->worldCount ? job->options.block : (int)job->worldCount;
    job->files = rgCli_Allocate((size_t)job->block, sizeof(rgControlFile));
    rgPlanOutputs(job);
    comm->mute(comm, true);
    if (!rgAgree(job, rgBeginResults(job) && rgMakeBatch(job))) {
        return rg_exitUsage;
    }
    if (!rgRunWorlds(job)) {
        return rg_exitUsage;
    }
    if (comm->rank == 0) {
        rgPrintRollout(job);
    }
    return job->sums[rg_sumFaults] > 0 ? rg_exitNo : rg_exitDone;
}

int rgRollout(rgComm* comm, int argc, char** argv) {
    rgRolloutJob* job = rgCli_Allocate(1, sizeof(rgRolloutJob));
    job->comm = comm;
    job->options = (rgRolloutOptions){.arguments = rgDefaultSimulationArguments(),
                                      .worlds = 1,
                                      .steps = 1000,
                                      .noise = -1,
                                      .block = 256};
    int count = 0;
    comm->mute(comm, true);
    int code = rgParseRollout(argc, argv, &job->options, &count);
    comm->mute(comm, false);
    if (code == RG_CLI_GO) {
        job->options.arguments.what = argv[1];
        job->options.arguments.more = argv + 2;
        job->options.arguments.moreCount = count - 1;
        code = rgRunRollout(job);
    }
    rgDestroyResults(job->results);
    rgDestroyBatch(job->batch);
    rgDestroyThreadPool(job->pool);
    for (int i = 0; i < rg_outCount; ++i) {
        free(job->outputs[i].values);
    }
    free(job->files);
    rgControlFile_Free(&job->file);
    free(job->start);
    free(job->control);
    free(job->settings);
    rgSimulation_Free(&job->simulation);
    free(job);
    return code;
}

int rgCli_Rollout(int argc, char** argv) {
    rgComm comm = rgCommAlone();
    return rgRollout(&comm, argc, argv);
}
