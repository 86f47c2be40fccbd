// rigor simulate: a scene or a robot description, stepped and measured. rigor demo: the same with
// the wall of cubes.
#include "simulate.h"
#include "columns.h"
#include "live.h"
#include "recording.h"
#include "run.h"
#include "runs.h"
#include "trajectory.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

typedef struct rgSimulateOptions {
    rgSimulationArguments arguments;
    double time; // 0: the scene's own, files 5 s
    int steps;   // 0: by time
    const char* runs;
    const char* control;
    const char* csv;
    const char* columns;
    const char* dump;
    const char* record;
    int recordEvery;
    char* line; // the arguments, one per line
    bool view;
    int port;
    bool answers; // search every step for others
    bool quiet;   // no summary
    bool json;
    bool realtime;
} rgSimulateOptions;

typedef struct rgSimulateJob {
    rgSimulateOptions options;
    rgSimulation simulation;
    rgControlFile control;
    FILE* csv;
    rgColumns columns;
    rgRecorder* recorder;
    rgDiagnostics* recorderSaid; // by its thread, hence for it alone
    int recordings;              // begun
    bool lostRecording;          // one that could not be written to its end
    rgAnswerCounts answers;
    int dumped;
    bool lostDump; // a problem that could not be written
    double begin;
    char fault[256]; // reason for which the run ended early
} rgSimulateJob;

static int rgParseSimulate(int argc, char** argv, rgSimulateOptions* options, int* count) {
    rgSimulationArguments* a = &options->arguments;
    rgOption table[] = {
        [RG_PHYSICS_OPTION_COUNT] = {"--time", rg_optionNumber, &options->time,
                                     "time to simulate [s]", "T", NULL, 1e-9, 1e9},
        {"--steps", rg_optionInt, &options->steps, "number of steps to simulate", "N", NULL, 1,
         2e9},
        rgHoldOption(a),
        {"--ctrl", rg_optionText, &options->control,
         "read controls from a CSV file: time, then actuators by name; -: from a pipe", "FILE",
         NULL, 0, 0},
        {"--csv", rg_optionOutput, &options->csv,
         "write every step: time, q and v, or the quantities of --columns; -: to a pipe", "FILE",
         NULL, 0, 0},
        {"--columns", rg_optionText, &options->columns,
         "quantities of --csv: q, v, tau, contact, force:BODY, sensor, pose:FRAME, twist:BODY, "
         "energy",
         "LIST", NULL, 0, 0},
        {"--runs", rg_optionText, &options->runs, "make several runs from a JSON file of options",
         "FILE", NULL, 0, 0},
        {"--name", rg_optionText, &a->label, "name of the run in the summary", "NAME", NULL, 0, 0},
        {"--dump", rg_optionText, &options->dump, "write unsolved contact problems as FCLIB files",
         "DIR", NULL, 0, 0},
        {"--answers", rg_optionFlag, &options->answers,
         "search every step for another motion that is as exact; takes tens of steps each", NULL,
         NULL, 0, 0},
        {"--record", rg_optionOutput, &options->record,
         "record the simulation for rigor view, replay and plot", "FILE.h5", NULL, 0, 0},
        {"--record-every", rg_optionInt, &options->recordEvery, "record one of every N steps", "N",
         NULL, 1, 1000000},
        {"--view", rg_optionFlag, &options->view,
         "show and change it in a browser, in real time; ends with Ctrl-C or after --time", NULL,
         NULL, 0, 0},
        {"--port", rg_optionInt, &options->port, "port of --view; any free one without it", "N",
         NULL, 0, 65535},
        {"--json", rg_optionFlag, &options->json, "print the summary as one JSON object", NULL,
         NULL, 0, 0},
        {"--realtime", rg_optionFlag, &options->realtime, "run no faster than real time", NULL,
         NULL, 0, 0},
    };
    rgSimulationArguments_PhysicsOptions(a, table);
    const rgCommand command = {
        .name = "rigor simulate",
        .usage = "[SCENE|FILE]... [OPTIONS]",
        .summary =
            "Simulate a built-in scene (wall without an argument; rigor scenes lists all), robot "
            "descriptions\n(URDF, MJCF, SDF) and mesh files (OBJ, STL, Collada) in one world, and "
            "print a summary.\nOptions of one file (--at, --rpy, --prefix, --on, --floating, "
            "--fixed, --scale, --density,\n--without-world) belong to the file before them, or to "
            "all files if they come first.\nExit code: 0 when the run is complete, 1 when a step "
            "failed, 2 for wrong options or files, 130 after\nan interrupt.\n\n"
            "Examples:\n"
            "  rigor simulate humanoid\n"
            "  rigor simulate robot.urdf --floating --ground --csv states.csv\n"
            "  rigor simulate wall --record wall.h5 && rigor view wall.h5\n"
            "  rigor simulate scene.xml --key home --view",
        .options = table,
        .optionCount = (int)(sizeof(table) / sizeof(table[0])),
        .maxArguments = -1,
    };
    return rgParseOptions(&command, argc, argv, count);
}

// ---- hints ----

static void rgPrintHints(const rgSimulateJob* job) {
    const rgSimulation* simulation = &job->simulation;
    if (rgSimulation_HasNoFloor(simulation)) {
        rgCli_Print(stderr, "hint: '%s' has no floor below it; --ground adds one\n",
                    simulation->name);
    }
    if (simulation->scene == NULL && job->options.arguments.key == NULL &&
        job->options.arguments.q == NULL && job->options.arguments.start == rg_startFile &&
        simulation->info.keyCount > 0) {
        const char* name = rgModel_Key(simulation->loaded.model, (rgKeyId){1})->name;
        rgCli_Print(stderr, "hint: '%s' has key frames; --key %s starts from the first\n",
                    simulation->name, name != NULL && name[0] != '\0' ? name : "0");
    }
}

// ---- the loop ----

static bool rgMakeFolder(const char* path) {
    if (mkdir(path, 0777) == 0 || errno == EEXIST) {
        return true;
    }
    rgCli_Error("%s: %s", path, strerror(errno));
    return false;
}

static bool rgDumpProblem(rgSimulateJob* job, const rgStepReport* report) {
    rgFclibSolution guess = {0};
    rgSimulation* simulation = &job->simulation;
    const rgContactProblem* problem = rgWorld_Problem(simulation->world, &guess.lambda);
    if (problem == NULL || problem->rowCount == 0) {
        return true;
    }
    const char* slash = strrchr(simulation->name, '/');
    char* path =
        rgCli_Format("%s/%s_%06d.hdf5", job->options.dump,
                     slash != NULL ? slash + 1 : simulation->name, simulation->stats.steps);
    char* info = rgCli_Format("residual %.3g after %d iterations", report->contact.residual.total,
                              report->contact.iterationCount);
    rgDiagnostics_Clear(simulation->loaded.diagnostics);
    if (job->recorder != NULL) {
        // HDF5 is for one thread at a time; the next step reports write errors
        (void)!rgRecorder_Flush(job->recorder);
    }
    rgFclibContent content = {.problem = problem,
                              .title = simulation->name,
                              .description = "a step that was not solved to tolerance",
                              .mathInfo = info,
                              .guesses = &guess,
                              .guessCount = guess.lambda != NULL};
    rgResult result = rgSaveFclib(path, &content, simulation->loaded.diagnostics);
    if (result != rg_ok) {
        rgCli_PrintDiagnostics(simulation->loaded.diagnostics, stderr, false, false);
        rgCli_Error("%s: could not be written: %s; further problems are not written", path,
                    rgResult_Name(result));
    }
    job->dumped += result == rg_ok;
    free(info);
    free(path);
    return result == rg_ok;
}

static void rgWaitFor(double begin, double simulated) {
    double wait = begin + simulated - rgCli_Seconds();
    if (wait > 0) {
        struct timespec pause = {.tv_sec = (time_t)wait,
                                 .tv_nsec = (long)(1e9 * (wait - floor(wait)))};
        nanosleep(&pause, NULL);
    }
}

static void rgShowLive(rgProgress* progress, const rgSimulateJob* job, const rgStepReport* report) {
    if (!rgProgress_IsDue(progress)) {
        return;
    }
    char line[96];
    double time = rgWorld_Time(job->simulation.world);
    snprintf(line, sizeof(line), "%.2f s, %d contacts, %d iterations, residual %.0e, %.2gx", time,
             report->contactCount, report->contact.iterationCount, report->contact.residual.total,
             time / (rgCli_Seconds() - job->begin));
    rgProgress_Update(progress, job->simulation.stats.steps, line);
}

static const char* rgBodyName(const rgSimulation* simulation, rgBodyId body) {
    const rgBodyDef* def = rgModel_Body(simulation->loaded.model, body);
    bool named = body.index1 != 0 && def->name != NULL && def->name[0] != '\0';
    return body.index1 == 0 ? "the world" : named ? def->name : "a body without a name";
}

// Name of the fastest body, the likely place of a failed step.
static const char* rgNameFastest(const rgSimulation* simulation, char text[96]) {
    double speed;
    rgBodyId body = rgWorld_FastestBody(simulation->world, &speed);
    if (body.index1 == 0) {
        return "nothing moves";
    }
    snprintf(text, 96, "body '%.50s' is fastest, %.3g m/s or rad/s", rgBodyName(simulation, body),
             speed);
    return text;
}

// True when the step was made.
static bool rgMakeStep(rgSimulateJob* job, rgStepReport* report) {
    rgSimulation* simulation = &job->simulation;
    rgResult result = rgControlFile_Apply(&job->control, simulation->world);
    if (result != rg_ok) {
        snprintf(job->fault, sizeof(job->fault), "controls refused at %g s: %s",
                 rgWorld_Time(simulation->world), rgResult_Name(result));
        return false;
    }
    result = rgSimulation_Step(simulation, report);
    if (result != rg_ok) {
        char fastest[96];
        snprintf(job->fault, sizeof(job->fault), "step %d at %g s failed: %s; %s",
                 simulation->stats.steps + 1, rgWorld_Time(simulation->world),
                 rgResult_Name(result), rgNameFastest(simulation, fastest));
    }
    return result == rg_ok;
}

// Name contacts that a kinematic body squeezes, once: the deepest pair.
static void rgNameSqueezed(const rgSimulation* simulation) {
    int count = 0, squeezed = 0;
    const rgContact* contacts = rgWorld_Contacts(simulation->world, &count);
    const rgContact* deepest = NULL;
    for (int i = 0; i < count; ++i) {
        if (contacts[i].regularized) {
            ++squeezed;
            deepest = deepest == NULL || contacts[i].gap < deepest->gap ? &contacts[i] : deepest;
        }
    }
    if (deepest != NULL) {
        rgCli_Print(stderr,
                    "warning: at %.3f s a kinematic body squeezes others: %d of %d contact points "
                    "are regularized, the deepest, %.3g mm, between %s and %s\n",
                    rgWorld_Time(simulation->world), squeezed, count, -1e3 * deepest->gap,
                    rgBodyName(simulation, deepest->bodyA), rgBodyName(simulation, deepest->bodyB));
    }
}

// Name the contact where another motion of the step differs most, once.
static void rgNameOtherMotion(const rgSimulation* simulation, const rgAnswers* answers) {
    int count = 0;
    const rgContact* contacts = rgWorld_Contacts(simulation->world, &count);
    const rgContactProblem* problem = rgWorld_Problem(simulation->world, NULL);
    const rgContact* contact = NULL;
    for (int i = 0; i < count; ++i) {
        bool same = contacts[i].firstRow == problem->blocks[answers->block].firstRow;
        contact = same ? &contacts[i] : contact;
    }
    rgCli_Print(stderr,
                "warning: at %.4g s the motion is not unique: another one, as exact, is %.3g m/s "
                "apart%s%s%s%s\n",
                rgWorld_Time(simulation->world), answers->velocity,
                contact != NULL ? " between " : "",
                contact != NULL ? rgBodyName(simulation, contact->bodyA) : "",
                contact != NULL ? " and " : "",
                contact != NULL ? rgBodyName(simulation, contact->bodyB) : "");
}

static void rgSearchAnswers(rgSimulateJob* job) {
    rgAnswerCounts* counts = &job->answers;
    rgAnswers answers;
    if (rgWorld_FindAnswers(job->simulation.world, NULL, NULL, &answers) != rg_ok ||
        answers.count == 0) {
        return;
    }
    counts->searched += 1;
    counts->impulses += answers.impulsesDiffer;
    if (answers.motionDiffers) {
        counts->motions += 1;
        counts->velocity = fmax(counts->velocity, answers.velocity);
        if (counts->motions == 1) {
            rgNameOtherMotion(&job->simulation, &answers);
        }
    }
}

static const char* rgEqualityKindName(rgEqualityKind kind) {
    return kind == rg_equalityConnect ? "connect" : kind == rg_equalityWeld ? "weld" : "coupling";
}

// Name the loop that is farthest from closed, once.
static void rgNameOpen(const rgSimulation* simulation) {
    int count = 0;
    const rgConstraintForce* rows = rgWorld_Constraints(simulation->world, &count);
    const rgConstraintForce* worst = NULL;
    for (int i = 0; i < count; ++i) {
        bool more = worst == NULL || fabs(rows[i].gap) > fabs(worst->gap);
        worst = rows[i].regularized && more ? &rows[i] : worst;
    }
    if (worst == NULL) {
        return;
    }
    const rgEqualityDef* def =
        rgModel_Equality(simulation->loaded.model, (rgEqualityId){worst->index + 1});
    bool named = def->name != NULL && def->name[0] != '\0', bodies = def->bodyA.index1 > 0;
    rgCli_Print(
        stderr,
        "warning: at %.3f s the %s%s%s%s%s%s%s%s is open by %.3g mm or mrad: it closes at the "
        "push-out speed as far as reach, limits, contacts and other loops allow\n",
        rgWorld_Time(simulation->world), rgEqualityKindName(def->kind), named ? " '" : "",
        named ? def->name : "", named ? "'" : "", bodies ? " of " : "",
        bodies ? rgBodyName(simulation, def->bodyA) : "", bodies ? " and " : "",
        bodies ? rgBodyName(simulation, def->bodyB) : "", 1e3 * fabs(worst->gap));
}

// A pipe gets each state at once, for a program that answers.
static void rgWriteState(rgSimulateJob* job) {
    rgColumns_Write(&job->columns, job->csv, &job->simulation);
    if (job->csv == stdout) {
        fflush(job->csv);
    }
}

static bool rgRecordStep(rgSimulateJob* job, const rgStepReport* report) {
    rgResult result = rgRecorder_Add(job->recorder, job->simulation.world, report);
    if (result != rg_ok) {
        snprintf(job->fault, sizeof(job->fault), "%.100s cannot be written: %s",
                 job->options.record, rgResult_Name(result));
    }
    return result == rg_ok;
}

static bool rgRunSteps(rgSimulateJob* job, int steps) {
    rgSimulation* simulation = &job->simulation;
    rgProgress progress;
    rgProgress_Begin(&progress, "simulate", steps);
    job->begin = rgCli_Seconds();
    bool good = true;
    rgCli_CatchInterrupt();
    for (int i = 0; good && i < steps; ++i) {
        if (rgCli_IsInterrupted()) {
            snprintf(job->fault, sizeof(job->fault), "interrupted at %g s",
                     rgWorld_Time(simulation->world));
            break;
        }
        rgStepReport report;
        int unconverged = simulation->stats.unconverged;
        good = rgMakeStep(job, &report);
        if (good && report.regularizedRows > 0 && simulation->stats.regularized == 1) {
            rgNameSqueezed(simulation);
            rgNameOpen(simulation);
        }
        if (good && job->options.answers) {
            rgSearchAnswers(job);
        }
        if (good && job->options.dump != NULL && !job->lostDump &&
            simulation->stats.unconverged > unconverged) {
            job->lostDump = !rgDumpProblem(job, &report) || job->lostDump;
        }
        if (good && job->csv != NULL) {
            rgWriteState(job);
        }
        if (good && job->recorder != NULL) {
            good = rgRecordStep(job, &report);
        }
        if (good && job->options.realtime) {
            rgWaitFor(job->begin, rgWorld_TimeStep(simulation->world) * (i + 1));
        }
        rgShowLive(&progress, job, &report);
    }
    rgProgress_End(&progress);
    if (job->fault[0] != '\0') {
        rgCli_Error("%s: %s", simulation->name, job->fault);
    }
    return good;
}

// ---- the job ----

static double rgRunTime(const rgSimulateOptions* options, const rgSimulation* simulation) {
    if (options->time > 0) {
        return options->time;
    }
    return simulation->scene != NULL ? simulation->scene->duration : 5;
}

static bool rgOpenFiles(rgSimulateJob* job) {
    const rgSimulateOptions* options = &job->options;
    const rgModel* model = job->simulation.loaded.model;
    if (options->control != NULL && !rgControlFile_Read(&job->control, options->control, model)) {
        return false;
    }
    if (options->dump != NULL && !rgMakeFolder(options->dump)) {
        return false;
    }
    if (!rgColumns_Read(&job->columns, options->columns, model)) {
        return false;
    }
    if (options->csv != NULL) {
        job->csv = rgCsv_Open(options->csv);
        if (job->csv == NULL) {
            return false;
        }
        rgColumns_WriteNames(&job->columns, job->csv, &job->simulation);
        rgWriteState(job);
    }
    return true;
}

// Path of the next recording of one run: run.h5, then run-2.h5 and so on, the first that is free.
static char* rgRecordingPath(const char* path, int* number) {
    const char* slash = strrchr(path, '/');
    const char* dot = strrchr(path, '.');
    bool ends = dot != NULL && (slash == NULL || dot > slash + 1);
    int stem = ends ? (int)(dot - path) : (int)strlen(path);
    char* made = rgCli_CopyText(path);
    struct stat found;
    for (*number += 1; *number > 1; *number += 1) {
        free(made);
        made = rgCli_Format("%.*s-%d%s", stem, path, *number, path + stem);
        if (lstat(made, &found) != 0) {
            break;
        }
    }
    return made;
}

static bool rgOpenRecorder(rgSimulateJob* job) {
    rgSimulation* simulation = &job->simulation;
    if (job->options.record == NULL) {
        return true;
    }
    rgRecorderDef def = rgDefaultRecorderDef();
    char* path = rgRecordingPath(job->options.record, &job->recordings);
    def.path = path;
    const char* slash = strrchr(simulation->name, '/');
    def.title = slash != NULL ? slash + 1 : simulation->name;
    def.arguments = job->recordings == 1 ? job->options.line : NULL; // no run makes the others
    def.def = simulation->loaded.def;
    def.interval = job->options.recordEvery > 0 ? job->options.recordEvery : 1;
    if (job->recorderSaid == NULL) {
        rgCreateDiagnostics(NULL, &job->recorderSaid);
    }
    rgDiagnostics_Clear(job->recorderSaid);
    rgResult result = rgCreateRecorder(&def, simulation->world, job->recorderSaid, &job->recorder);
    if (result == rg_ok) {
        result = rgRecorder_Add(job->recorder, simulation->world, NULL);
    }
    if (result != rg_ok) {
        rgCli_PrintDiagnostics(job->recorderSaid, stderr, false, false);
        if (rgDiagnostics_Count(job->recorderSaid) == 0) {
            rgCli_Error("%s: no recording can be written: %s", path, rgResult_Name(result));
        }
    }
    if (result == rg_ok && job->recordings > 1) {
        rgCli_Print(stderr, "hint: the model has changed; the recording goes on in %s\n", path);
    }
    free(path);
    return result == rg_ok;
}

static bool rgCloseRecorder(rgSimulateJob* job) {
    if (job->recorder == NULL || rgRecorder_Finish(job->recorder) == rg_ok) {
        return true;
    }
    rgCli_PrintDiagnostics(job->recorderSaid, stderr, false, false);
    return false;
}

// ---- recordings of live simulations ----

static void rgAbandonRecording(rgSimulateJob* job) {
    job->lostRecording = true;
    rgDestroyRecorder(job->recorder);
    job->recorder = NULL;
    fprintf(stderr, "warning: the recording ends here\n");
}

// A model that changed has a recording of its own, from the state that it starts with.
static void rgBeginRecording(void* context) {
    rgSimulateJob* job = context;
    if (job->options.record == NULL || job->recorder != NULL || job->lostRecording) {
        return;
    }
    if (!rgOpenRecorder(job)) {
        rgAbandonRecording(job);
    }
}

static void rgKeepRecording(void* context, const rgStepReport* report) {
    rgSimulateJob* job = context;
    if (job->recorder != NULL && !rgRecordStep(job, report)) {
        if (rgCloseRecorder(job)) { // else it names its own file and the reason
            rgCli_Error("%s", job->fault);
        }
        rgAbandonRecording(job);
    }
}

static void rgEndRecording(void* context) {
    rgSimulateJob* job = context;
    if (!rgCloseRecorder(job)) {
        rgAbandonRecording(job);
    }
    rgDestroyRecorder(job->recorder);
    job->recorder = NULL;
}

static int rgWatchJob(rgSimulateJob* job) {
    rgLiveOptions live = {.title = job->simulation.name,
                          .port = job->options.port,
                          .json = job->options.json,
                          .time = job->options.time,
                          .begin = rgBeginRecording,
                          .keep = rgKeepRecording,
                          .end = rgEndRecording,
                          .context = job};
    int code = rgCli_RunLive(&job->simulation, &live);
    return rgCloseRecorder(job) && !job->lostRecording ? code : rg_exitUsage;
}

static int rgRunJob(rgSimulateJob* job) {
    rgSimulation* simulation = &job->simulation;
    if (!rgSimulation_Begin(simulation, &job->options.arguments) || !rgOpenFiles(job) ||
        !rgOpenRecorder(job)) {
        return rg_exitUsage;
    }
    double steps =
        job->options.steps > 0
            ? job->options.steps
            : rint(rgRunTime(&job->options, simulation) / rgWorld_TimeStep(simulation->world));
    if (!(steps >= 1 && steps <= 2e9)) {
        rgCli_Error("--time and --dt give %g steps; 1 to 2e9 are possible", steps);
        return rg_exitUsage;
    }
    rgPrintHints(job);
    if (job->options.view) {
        return rgWatchJob(job);
    }
    bool good = rgRunSteps(job, (int)steps);
    bool toPipe = job->csv == stdout;
    bool written = job->csv == NULL || rgCsv_Close(job->csv, job->options.csv);
    job->csv = NULL;
    written = rgCloseRecorder(job) && written && !job->lostDump;
    int code = !good                   ? rg_exitNo
               : rgCli_IsInterrupted() ? rg_exitInterrupted
               : written               ? rg_exitDone
                                       : rg_exitUsage;
    rgSimulateSummary summary = {.simulation = simulation,
                                 .arguments = &job->options.arguments,
                                 .fault = job->fault[0] != '\0' ? job->fault : NULL,
                                 .dumped = job->options.dump != NULL ? job->dumped : -1,
                                 .answers = job->options.answers ? &job->answers : NULL,
                                 .out = toPipe ? stderr : stdout};
    rgSimulateSummary_PrintAnomalies(&summary);
    if (job->options.quiet) {
        return code;
    }
    if (job->options.json) {
        rgSimulateSummary_PrintJson(&summary);
    } else {
        rgSimulateSummary_Print(&summary);
    }
    return code;
}

static int rgSimulate(const rgSimulateOptions* options) {
    rgSimulateJob* job = rgCli_Allocate(1, sizeof(rgSimulateJob));
    job->options = *options;
    int code = rgRunJob(job);
    if (job->csv != NULL && job->csv != stdout) {
        fclose(job->csv);
    }
    rgColumns_Free(&job->columns);
    rgDestroyRecorder(job->recorder);
    rgDestroyDiagnostics(job->recorderSaid);
    rgControlFile_Free(&job->control);
    rgSimulation_Free(&job->simulation);
    free(job);
    return code;
}

static bool rgSimulateOptions_Agree(const rgSimulateOptions* options) {
    if (options->steps > 0 && options->time > 0) {
        rgCli_Error("--steps and --time exclude each other");
        return false;
    }
    if (options->columns != NULL && options->csv == NULL) {
        rgCli_Error("--columns needs --csv");
        return false;
    }
    if (options->recordEvery > 0 && options->record == NULL) {
        rgCli_Error("--record-every needs --record");
        return false;
    }
    if (options->answers && options->view) {
        rgCli_Error("--answers and --view exclude each other");
        return false;
    }
    if (options->port > 0 && !options->view) {
        rgCli_Error("--port needs --view");
        return false;
    }
    return true;
}

int rgCli_Simulate(int argc, char** argv) {
    rgSimulateOptions options = {.arguments = rgDefaultSimulationArguments()};
    int count = 0;
    char** typed = rgCli_Allocate((size_t)argc + 1, sizeof(char*)); // parsing moves the arguments
    memcpy((void*)typed, argv, (size_t)argc * sizeof(char*));
    options.line = rgCli_JoinArguments(argc, argv);
    int code = rgParseSimulate(argc, argv, &options, &count);
    if (code != RG_CLI_GO) {
        free((void*)typed);
        free(options.line);
        return code;
    }
    if (options.runs != NULL) {
        int done = rgRunAll(options.runs, argc, typed, options.json, rgCli_Simulate);
        free((void*)typed);
        free(options.line);
        return done;
    }
    free((void*)typed);
    if (!rgSimulateOptions_Agree(&options) ||
        !rgSolverSupports(options.arguments.solver, options.arguments.contactModel)) {
        free(options.line);
        return rg_exitUsage;
    }
    options.arguments.what = count > 0 ? argv[1] : options.arguments.what;
    options.arguments.more = argv + 2;
    options.arguments.moreCount = count > 1 ? count - 1 : 0;
    options.arguments.watchTorques = rgColumns_WantTorques(options.columns);
    code = rgSimulate(&options);
    free(options.line);
    return code;
}

int rgCli_RecordSimulation(const rgSimulationArguments* arguments, double time, const char* path,
                           bool quiet) {
    rgSimulateOptions options = {
        .arguments = *arguments, .time = time, .record = path, .quiet = quiet};
    return rgSimulate(&options);
}
