// rigor identify: numbers of a robot description from recorded motions.
#include "identify.h"

#include <stdlib.h>
#include <string.h>

static const char* const losses[] = {"huber", "square", "cauchy", NULL};
static const char* const slopeKinds[] = {"auto", "steps", "differences", NULL};
static const char* const velocityKinds[] = {"instant", "backward", NULL};

static int rgParseIdentify(int argc, char** argv, rgIdentifyOptions* o, int* count) {
    rgIdentifyDef* def = &o->def;
    rgOption table[] = {
        [RG_MODEL_OPTION_COUNT] =
            {"--fit", rg_optionList, &o->fits,
             "fit a parameter between two values; after commas: log, start=X, prior=MEAN:SD",
             "NAME=LOW:HIGH", NULL, 0, 0},
        {"--plan", rg_optionText, &o->plan, "read such lines from a file; # starts a comment",
         "FILE", NULL, 0, 0},
        {"--fields", rg_optionFlag, &o->fields, "list the parameters that can be fitted, and end",
         NULL, NULL, 0, 0},
        {"--folds", rg_optionInt, &def->foldCount, "cross-validate in K parts", "K", NULL, 2, 1e6},
        {"--bootstrap", rg_optionInt, &def->bootstrapCount,
         "number of draws for the intervals; 0: none", "N", NULL, 0, 1e7},
        {"--noise", rg_optionText, &o->noise,
         "expected size of errors: position [m], rotation [rad], coordinates", "P,R,Q", NULL, 0, 0},
        {"--loss", rg_optionChoice, &o->loss, "loss of errors beyond the noise", "L", losses, 0, 0},
        {"--loss-limit", rg_optionNumber, &def->lossLimit,
         "error from which the loss applies, in noises", "X", NULL, 1e-9, 1e9},
        {"--start-noise", rg_optionText, &o->startNoise,
         "fit the start of each motion within [m], [rad], [m/s], [rad/s]", "P,R,V,W", NULL, 0, 0},
        {"--start-window", rg_optionNumber, &def->startWindow,
         "fit starts to samples before this time and before the first contact only [s]", "T", NULL,
         0, 1e9},
        {"--velocities", rg_optionChoice, &o->velocities,
         "velocities in files: of the instant, or means over the interval before it", "V",
         velocityKinds, 0, 0},
        {"--generations", rg_optionInt, &def->generations,
         "number of generations of the search; 0: refine the start", "N", NULL, 0, 1e6},
        {"--population", rg_optionInt, &def->population, "number of candidates per generation", "N",
         NULL, 4, 10000},
        {"--search-motions", rg_optionInt, &def->searchMotions,
         "number of motions in the search; 0: all", "N", NULL, 0, 1e9},
        {"--search-step", rg_optionNumber, &def->searchStep,
         "first step of the search, in widths of the bounds", "S", NULL, 1e-9, 1},
        {"--refine", rg_optionInt, &def->refinements, "limit of Gauss-Newton steps", "N", NULL, 0,
         1e6},
        {"--slopes", rg_optionChoice, &o->slopes,
         "derivatives: of steps, differences of simulations, or auto: of steps unless a motion "
         "begins a contact",
         "S", slopeKinds, 0, 0},
        {"--difference", rg_optionNumber, &def->differenceStep,
         "step of derivatives, in widths of the bounds", "S", NULL, 1e-9, 0.5},
        {"--dt", rg_optionNumber, &o->timeStep, "time step [s]", "DT", NULL, 1e-9, 10},
        {"--tol", rg_optionNumber, &o->tolerance, "residual to reach", "T", NULL, 1e-300, 1},
        {"--length", rg_optionNumber, &o->length,
         "report position errors in percent of this length [m]", "L", NULL, 1e-9, 1e9},
        {"--threads", rg_optionInt, &o->threads, "number of threads; results do not depend on it",
         "N", NULL, 1, 256},
        {"--seed", rg_optionInt, &o->seed, "seed of all random numbers", "N", NULL, 0, 2147483647},
        {"--out", rg_optionOutput, &o->out, "write the fitted model (.xml or .urdf)", "FILE", NULL,
         0, 0},
        {"--csv", rg_optionOutput, &o->motionsCsv, "write the errors of each motion", "FILE", NULL,
         0, 0},
        {"--json", rg_optionFlag, &o->json, "print the result as one JSON object", NULL, NULL, 0,
         0},
    };
    rgModelArguments_Options(&o->model, table);
    const rgCommand command = {
        .name = "rigor identify",
        .usage = "MODEL RECORDING... --fit NAME=LOW:HIGH... [OPTIONS]",
        .summary = "Fit parameters of a robot description to recorded motions: masses, friction, "
                   "sizes, damping, and all\nothers of --fields. Recordings are CSV files (time, "
                   "q:JOINT, pose:BODY.x ..., or px ... qz of the\nonly free body), or HDF5 files "
                   "of rigor simulate --record. The result has an interval for each\nparameter. "
                   "Exit code: 0 when the motions determine all parameters, 1 when not, 2 for "
                   "wrong options\nor files.\n\nExamples:\n"
                   "  rigor identify cube.xml toss_*.csv --fit 'shape/*/friction=0.1:0.4' \\\n"
                   "      --fit body/cube/com.z=-0.01:0.01 --folds 5 --out found.xml\n"
                   "  rigor identify arm.urdf run.h5 --fit joint/elbow/damping=0:2",
        .options = table,
        .optionCount = (int)(sizeof(table) / sizeof(table[0])),
        .minArguments = 0,
        .maxArguments = -1,
    };
    int code = rgParseOptions(&command, argc, argv, count);
    if (code == RG_CLI_GO && !o->fields && *count < 2) {
        rgCli_Error("rigor identify needs a model and at least one recording; see --help");
        code = rg_exitUsage;
    }
    return code;
}

static bool rgReadNoises(rgIdentifyOptions* o) {
    rgIdentifyDef* def = &o->def;
    double noise[3] = {def->positionNoise, def->rotationNoise, def->coordinateNoise},
           start[4] = {0};
    bool good = o->noise == NULL || rgCli_ReadNumbers("--noise", o->noise, noise, 3);
    good = good &&
           (o->startNoise == NULL || rgCli_ReadNumbers("--start-noise", o->startNoise, start, 4));
    def->positionNoise = noise[0];
    def->rotationNoise = noise[1];
    def->coordinateNoise = noise[2];
    def->startPosition = start[0];
    def->startRotation = start[1];
    def->startVelocity = start[2];
    def->startRate = start[3];
    return good;
}

static bool rgLoadMotions(rgIdentifyJob* job, char* const* paths, int count) {
    rgMotionDef def = rgDefaultMotionDef();
    def.backwardVelocities = job->options.velocities == 1;
    job->loadedMotions = rgCli_Allocate((size_t)count, sizeof(rgMotion*));
    job->motions = rgCli_Allocate((size_t)count, sizeof(rgMotion));
    for (int i = 0; i < count; ++i) {
        if (rgLoadMotion(paths[i], job->loaded.model, &def, job->loaded.diagnostics,
                         &job->loadedMotions[i]) != rg_ok) {
            return false;
        }
        job->motions[job->motionCount++] = *job->loadedMotions[i];
    }
    return true;
}

static bool rgShowProgress(rgIdentifyStage stage, int done, int total, double cost, void* context) {
    static const char* const names[] = {"search", "refine", "folds"};
    rgIdentifyJob* job = context;
    if (stage != job->stage || done == 1) {
        rgProgress_End(&job->progress);
        rgProgress_Begin(&job->progress, names[stage], total);
        job->stage = stage;
    }
    char what[40];
    snprintf(what, sizeof(what), "cost %.4g", cost);
    rgProgress_Update(&job->progress, done, what);
    return true;
}

static bool rgRun(rgIdentifyJob* job) {
    rgIdentifyOptions* o = &job->options;
    rgIdentifyDef* def = &o->def;
    if (o->threads > 1) {
        if (rgCreateThreadPool(o->threads, NULL, &job->pool) != rg_ok) {
            rgCli_Error("--threads: %d threads could not be started", o->threads);
            return false;
        }
        def->tasks = rgThreadPool_Tasks(job->pool);
    }
    def->parameters = job->parameters;
    def->parameterCount = job->parameterCount;
    def->motions = job->motions;
    def->motionCount = job->motionCount;
    def->loss = (rgLoss)o->loss;
    def->slopes = (rgIdentifySlopes)o->slopes;
    def->seed = (uint64_t)o->seed;
    def->world.timeStep = o->timeStep;
    if (o->tolerance > 0) {
        def->world.contact.tolerance = o->tolerance;
    }
    def->progress = rgShowProgress;
    def->context = job;
    rgProgress_Begin(&job->progress, "search", 1);
    rgResult result = rgIdentify(job->loaded.def, def, job->loaded.diagnostics, &job->answer);
    rgProgress_End(&job->progress);
    if (result == rg_errorMemory) {
        rgCli_Error("out of memory");
    }
    return result == rg_ok;
}

static bool rgWriteModel(rgIdentifyJob* job) {
    return rgIdentification_Apply(job->answer, job->loaded.def) == rg_ok &&
           rgSaveModelDef(job->loaded.def, job->options.out, job->loaded.diagnostics) == rg_ok;
}

static int rgIdentifyAll(rgIdentifyJob* job, char* const* arguments, int count) {
    rgIdentifyOptions* o = &job->options;
    if (!rgReadNoises(o) || !rgIdentifyJob_ReadPlan(job)) {
        return rg_exitUsage;
    }
    bool good = rgCli_LoadModel(arguments, 1, &o->model, &job->loaded) &&
                rgLoadMotions(job, arguments + 1, count - 1) && rgRun(job);
    if (good && o->out != NULL) {
        good = rgWriteModel(job);
    }
    if (job->loaded.diagnostics != NULL) {
        rgCli_PrintDiagnostics(job->loaded.diagnostics, stderr, false, false);
    }
    if (good && o->motionsCsv != NULL) {
        good = rgIdentifyJob_WriteMotions(job);
    }
    if (!good) {
        return rg_exitUsage;
    }
    if (o->json) {
        rgIdentifyJob_PrintJson(job);
    } else {
        rgIdentifyJob_Print(job);
    }
    return rgIdentifyJob_IsDetermined(job) ? rg_exitDone : rg_exitNo;
}

int rgCli_Identify(int argc, char** argv) {
    rgIdentifyJob job = {.options = {.threads = 1, .def = rgDefaultIdentifyDef()}};
    int count = 0;
    int code = rgParseIdentify(argc, argv, &job.options, &count);
    if (code != RG_CLI_GO) {
        return code;
    }
    if (job.options.fields) {
        rgPrintParameterFields();
        return rg_exitDone;
    }
    code = rgIdentifyAll(&job, argv + 1, count);
    rgDestroyIdentification(job.answer);
    rgDestroyThreadPool(job.pool);
    for (int i = 0; i < job.motionCount; ++i) {
        rgDestroyMotion(job.loadedMotions[i]);
    }
    free(job.loadedMotions);
    free(job.motions);
    rgIdentifyJob_FreePlan(&job);
    rgCli_FreeModel(&job.loaded);
    return code;
}
