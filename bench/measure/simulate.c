// rigor bench simulate: steps per second of whole simulations with what they cost in accuracy,
// beside MuJoCo where it was built in; and how piles grow.
#include "measure.h"
#include "peer.h"
#include "run.h"
#include "simulation.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { rg_maxPiles = 16 };

typedef struct rgBenchSimulateOptions {
    int steps;
    int repeat;
    double timeStep;
    double tolerance;
    double seconds;
    double fall; // time of fall of piles before they are measured [s]
    int solver;
    rgSolverArguments admm;
    const char* piles;
    bool noPeer;
    bool json;
} rgBenchSimulateOptions;

// One scene: results of rigor and of the peer.
typedef struct rgSceneRun {
    char* path;  // file or scene
    char* label; // last part of the path
    bool failed;
    char fault[80]; // why a repetition ended early
    double seconds; // least of all repetitions
    int steps;
    rgSimulationStats stats;
    size_t memory;
    int velocityCount;
    bool hasPeer;
    double peerSeconds;
    double peerCollision; // seconds of its collision detection
    double peerContacts;
    double peerPenetration;
} rgSceneRun;

typedef struct rgPileRun {
    int bodyCount;
    bool failed;
    bool settled; // the measured part began after the fall
    double contactsMean;
    double secondsPerStep;
    double secondsPerContact;
    double iterationsMean;
    double convergedShare;
    double realtime;
} rgPileRun;

typedef struct rgSimulateBench {
    rgBenchSimulateOptions options;
    const rgPeer* peer; // MuJoCo, or NULL
    rgSceneRun* scenes;
    int sceneCount;
    rgPileRun piles[rg_maxPiles];
    int pileCount;
} rgSimulateBench;

static int rgParseOptionsOf(int argc, char** argv, rgBenchSimulateOptions* options, int* count) {
    *options = (rgBenchSimulateOptions){
        .steps = 2000, .repeat = 5, .timeStep = 1e-3, .seconds = 30, .fall = 1};
    options->admm = rgDefaultSolverArguments();
    rgOption table[] = {
        [RG_SOLVER_OPTION_COUNT] = {"--steps", rg_optionInt, &options->steps, "steps per scene",
                                    "N", NULL, 1, 1e8},
        {"--repeat", rg_optionInt, &options->repeat, "repetitions, the least time counts", "N",
         NULL, 1, 1e6},
        {"--dt", rg_optionNumber, &options->timeStep, "time step of the scenes [s]", "DT", NULL,
         1e-9, 10},
        {"--tol", rg_optionNumber, &options->tolerance, "residual to reach", "T", NULL, 1e-300, 1},
        {"--solver", rg_optionChoice, &options->solver, "the method", "S", rgSolverNames, 0, 0},
        {"--seconds", rg_optionNumber, &options->seconds,
         "start no repetition of a scene after this time; stop piles, too", "S", NULL, 0, 1e9},
        {"--piles", rg_optionText, &options->piles,
         "numbers of bodies, separated by commas; 'none' for no piles", "LIST", NULL, 0, 0},
        {"--fall", rg_optionNumber, &options->fall,
         "simulated time that piles fall before they are measured [s]", "T", NULL, 0, 1e6},
        {"--no-peer", rg_optionFlag, &options->noPeer, "rigor alone", NULL, NULL, 0, 0},
        {"--json", rg_optionFlag, &options->json, "print one JSON object", NULL, NULL, 0, 0},
    };
    rgSolverArguments_Options(&options->admm, table);
    const rgCommand command = {
        .name = "rigor bench simulate",
        .usage = "[SCENE|FILE...] [OPTIONS]",
        .summary =
            "Measure whole simulations: one thread, first key frame, the least time of all\n"
            "repetitions, which alternate with MuJoCo's. Without arguments: the robots and walls\n"
            "below $RIGOR_DATA/robots, the built-in wall, and piles of 100 to 10000 bodies.",
        .options = table,
        .optionCount = (int)(sizeof(table) / sizeof(table[0])),
        .maxArguments = -1,
    };
    return rgParseOptions(&command, argc, argv, count);
}

// ---- selection of scenes ----

static bool rgIsFile(const char* path) {
    return access(path, R_OK) == 0;
}

static void rgAddSceneRun(rgSimulateBench* bench, const char* path) {
    size_t count = (size_t)bench->sceneCount;
    bench->scenes = rgCli_Grow(bench->scenes, count + 1, sizeof(rgSceneRun));
    const char* slash = strrchr(path, '/');
    bench->scenes[count] = (rgSceneRun){.path = rgCli_CopyText(path),
                                        .label = rgCli_CopyText(slash != NULL ? slash + 1 : path),
                                        .seconds = INFINITY,
                                        .peerSeconds = INFINITY};
    bench->sceneCount += 1;
}

static void rgAddDataScenes(rgSimulateBench* bench) {
    static const char* const files[] = {
        "ur5/ur5.xml",
        "humanoid/humanoid.xml",
        "cassie/cassie_eq.xml",
        "cassie/cassie_eq_strict.xml",
        "cassie/cassie_noeq.xml",
        "cassie/cassie_noeq_strict.xml",
        "talos/talos.xml",
        "talos/talos_strict.xml",
        "solo12/solo12.xml",
        "solo12/solo12_strict.xml",
        "allegro/allegro.xml",
        "wall/wall_pyramid.xml",
        "wall/wall_3x5.xml",
    };
    const char* data = getenv("RIGOR_DATA");
    int missing = 0;
    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); ++i) {
        char* path = rgCli_Format("%s/robots/%s", data != NULL ? data : "../shared/data", files[i]);
        if (rgIsFile(path)) {
            rgAddSceneRun(bench, path);
        } else {
            missing += 1;
        }
        free(path);
    }
    if (missing > 0) {
        fprintf(stderr, "%d scenes are left out: they are not below $RIGOR_DATA/robots\n", missing);
    }
}

static bool rgReadPiles(rgSimulateBench* bench, const char* text) {
    if (strcmp(text, "none") == 0) {
        return true;
    }
    char* copy = rgCli_CopyText(text);
    bool good = true;
    for (char* word = strtok(copy, ","); good && word != NULL; word = strtok(NULL, ",")) {
        int count = 0;
        good = rgParseInt(word, &count) && count >= 1 && count <= 1000000 &&
               bench->pileCount < rg_maxPiles;
        if (good) {
            bench->piles[bench->pileCount++].bodyCount = count;
        } else {
            rgCli_Error("--piles: '%s' is not a number of bodies from 1 to 1000000, or there are "
                        "more than %d",
                        word, rg_maxPiles);
        }
    }
    free(copy);
    return good;
}

// ---- one scene ----

static rgSimulationArguments rgArgumentsOf(const rgSimulateBench* bench, const char* what) {
    rgSimulationArguments arguments = rgDefaultSimulationArguments();
    arguments.what = what;
    arguments.solver = bench->options.solver;
    arguments.admm = bench->options.admm;
    arguments.tolerance = bench->options.tolerance;
    arguments.timeStep = bench->options.timeStep;
    return arguments;
}

// Back to the start; files start from their first key frame, as the peer does.
static bool rgRestart(rgSimulation* simulation) {
    rgResult result = rg_ok;
    if (simulation->scene != NULL) {
        result = rgScene_Start(simulation->scene, simulation->world);
    } else {
        rgKeyId key = {simulation->info.keyCount > 0};
        result = rgWorld_Reset(simulation->world, key);
    }
    return result == rg_ok;
}

// All steps back to back, nothing else in between.
static void rgTimeScene(rgSceneRun* run, rgSimulation* simulation) {
    double begin = rgCli_ThreadSeconds();
    int done = 0;
    rgResult result = rg_ok;
    for (; result == rg_ok && done < run->steps; ++done) {
        if (simulation->scene != NULL) {
            rgScene_Act(simulation->scene, simulation->world);
        }
        result = rgWorld_Step(simulation->world, NULL);
    }
    double seconds = rgCli_ThreadSeconds() - begin;
    if (result != rg_ok) {
        run->failed = true;
        snprintf(run->fault, sizeof(run->fault), "step %d: %s", done, rgResult_Name(result));
    }
    run->seconds = fmin(run->seconds, seconds);
}

static void rgLookAtScene(rgSceneRun* run, rgSimulation* simulation) {
    rgStepReport report;
    rgResult result = rg_ok;
    for (int i = 0; result == rg_ok && i < run->steps; ++i) {
        result = rgSimulation_Step(simulation, &report);
    }
    run->stats = simulation->stats;
    simulation->stats = (rgSimulationStats){0}; // the histograms belong to the run now
    run->memory = rgWorld_MemoryUse(simulation->world);
    run->velocityCount = simulation->info.vCount;
    if (result != rg_ok) {
        run->failed = true;
        snprintf(run->fault, sizeof(run->fault), "step %d: %s", run->stats.steps + 1,
                 rgResult_Name(result));
    }
}

// Results of MuJoCo, taken once all repetitions are made.
static void rgTakePeer(rgSceneRun* run, rgPeerRun* peer) {
    run->hasPeer = peer->repeatCount > 0 && !peer->failed;
    if (run->hasPeer) {
        rgPeerRun_Look(peer, run->steps);
        run->peerSeconds = peer->least;
        run->peerContacts = peer->contacts;
        run->peerPenetration = peer->penetration;
        run->peerCollision = peer->collision;
    } else if (peer->fault[0] != '\0') {
        fprintf(stderr, "%s: without MuJoCo: %s\n", run->label, peer->fault);
    }
}

static void rgRepeatScene(rgSimulateBench* bench, rgSceneRun* run, rgSimulation* simulation,
                          rgPeerRun* peer) {
    double begin = rgCli_Seconds();
    for (int i = 0; i < bench->options.repeat && !run->failed; ++i) {
        if (i > 0 && rgCli_Seconds() - begin > bench->options.seconds) {
            break;
        }
        run->failed = !rgRestart(simulation);
        rgTimeScene(run, simulation);
        rgPeerRuns_Time(peer, 1, run->steps, 1, 0);
    }
}

static void rgRunScene(rgSimulateBench* bench, rgSceneRun* run) {
    rgSimulation simulation;
    rgPeerScene scene = {0};
    rgPeerRun peer = {0};
    rgSimulationArguments arguments = rgArgumentsOf(bench, run->path);
    run->steps = bench->options.steps;
    bool good = rgSimulation_Begin(&simulation, &arguments);
    run->failed = !good;
    if (good) {
        if (bench->peer != NULL && simulation.scene == NULL &&
            rgPeerScene_Load(&scene, run->path, bench->options.timeStep)) {
            rgPeerRun_Begin(&peer, bench->peer, NULL, &scene);
        }
        rgRepeatScene(bench, run, &simulation, &peer);
        rgTakePeer(run, &peer);
        run->failed = !rgRestart(&simulation) || run->failed;
        rgLookAtScene(run, &simulation);
    } else {
        snprintf(run->fault, sizeof(run->fault), "not loaded");
    }
    rgPeerRun_End(&peer);
    rgPeerScene_Free(&scene);
    rgSimulation_Free(&simulation);
}

// ---- piles ----

// Let the pile fall, then measure half a second. If that takes too long, each half ends after
// --seconds.
static void rgRunPile(rgSimulateBench* bench, rgPileRun* run) {
    enum { measure = 250 };
    int settle = (int)lround(bench->options.fall / 2e-3);
    rgSimulation simulation;
    rgSimulationArguments arguments = rgArgumentsOf(bench, "pile");
    arguments.bodyCount = run->bodyCount;
    arguments.timeStep = 2e-3;
    rgResult result = rgSimulation_Begin(&simulation, &arguments) ? rg_ok : rg_errorArgument;
    rgStepReport report;
    double end = rgCli_Seconds() + bench->options.seconds;
    run->settled = settle == 0;
    for (int i = 0; result == rg_ok && i < settle && rgCli_Seconds() < end; ++i) {
        result = rgWorld_Step(simulation.world, &report);
        run->settled = i + 1 == settle;
    }
    end = rgCli_Seconds() + bench->options.seconds;
    for (int i = 0; result == rg_ok && i < measure && (i == 0 || rgCli_Seconds() < end); ++i) {
        result = rgSimulation_Step(&simulation, &report);
    }
    const rgSimulationStats* stats = &simulation.stats;
    run->failed = result != rg_ok;
    if (!run->failed) {
        run->contactsMean = rgHistogram_Mean(&stats->contacts);
        run->secondsPerStep = stats->seconds / stats->steps;
        run->secondsPerContact = stats->seconds / fmax(stats->contacts.sum, 1);
        run->iterationsMean = rgHistogram_Mean(&stats->iterations);
        run->convergedShare = 1 - (double)stats->unconverged / stats->steps;
        run->realtime = 2e-3 / run->secondsPerStep;
    }
    rgSimulation_Free(&simulation);
}

// ---- tables ----

static double rgRate(int steps, double seconds) {
    return seconds > 0 && isfinite(seconds) ? steps / seconds : 0;
}

static double rgShare(int part, int whole) {
    return whole > 0 ? 100.0 * part / whole : 0;
}

static void rgAddPeerCells(rgTable* table, const rgSceneRun* run) {
    if (!run->hasPeer) {
        for (int i = 0; i < 5; ++i) {
            rgTable_Add(table, "-");
        }
        return;
    }
    rgTable_Add(table, "%.0f", rgRate(run->steps, run->peerSeconds));
    rgTable_Add(table, "%.2f", run->peerSeconds / run->seconds);
    rgTable_Add(table, "%.1f", run->peerContacts);
    rgTable_Add(table, "%.2g", 1e3 * run->peerPenetration);
    rgTable_Add(table, "%.1f", 1e6 * run->peerCollision / run->steps);
}

static void rgPrintScenes(const rgSimulateBench* bench) {
    static const char* const headers[] = {
        "scene", "nv", "contacts", "steps/s",  "iter",  "p95",      "1e-6 %", "1e-5 %", "worst",
        "mm",    "kB", "coll us",  "mujoco/s", "ratio", "contacts", "mm",     "coll us"};
    rgTable table;
    rgTable_Init(&table, headers, (int)(sizeof(headers) / sizeof(headers[0])));
    for (int i = 0; i < bench->sceneCount; ++i) {
        const rgSceneRun* run = &bench->scenes[i];
        const rgSimulationStats* stats = &run->stats;
        rgTable_Add(&table, "%s", run->label);
        rgTable_Add(&table, "%d", run->velocityCount);
        rgTable_Add(&table, "%.1f", rgHistogram_Mean(&stats->contacts));
        rgTable_Add(&table, "%.0f", rgRate(run->steps, run->failed ? INFINITY : run->seconds));
        rgTable_Add(&table, "%.2f", rgHistogram_Mean(&stats->iterations));
        rgTable_Add(&table, "%d", rgHistogram_Quantile(&stats->iterations, 0.95));
        rgTable_Add(&table, "%.2f", rgShare(stats->within6, stats->steps));
        rgTable_Add(&table, "%.2f", rgShare(stats->within5, stats->steps));
        rgTable_Add(&table, "%.0e", stats->residual);
        rgTable_Add(&table, "%.2g", 1e3 * stats->penetration);
        rgTable_Add(&table, "%.0f", (double)run->memory / 1024);
        rgTable_Add(&table, "%.1f",
                    1e6 * stats->stageSeconds[rg_stageCollide] / fmax(stats->steps, 1));
        rgAddPeerCells(&table, run);
    }
    rgTable_Print(&table, stdout);
    rgTable_Free(&table);
    for (int i = 0; i < bench->sceneCount; ++i) {
        if (bench->scenes[i].failed) {
            printf("%s failed: %s\n", bench->scenes[i].label, bench->scenes[i].fault);
        }
    }
}

static void rgPrintPiles(const rgSimulateBench* bench) {
    static const char* const headers[] = {"bodies", "contacts",    "ms/step", "us/step/contact",
                                          "growth", "real time x", "iter",    "converged %"};
    rgTable table;
    rgTable_Init(&table, headers, 8);
    for (int i = 0; i < bench->pileCount; ++i) {
        const rgPileRun* run = &bench->piles[i];
        rgTable_Add(&table, "%d", run->bodyCount);
        rgTable_Add(&table, "%.0f", run->contactsMean);
        rgTable_Add(&table, "%.3g", 1e3 * run->secondsPerStep);
        rgTable_Add(&table, "%.3g", 1e6 * run->secondsPerContact);
        rgTable_Add(&table, "%.2f", run->secondsPerContact / bench->piles[0].secondsPerContact);
        rgTable_Add(&table, "%.2f", run->realtime);
        rgTable_Add(&table, "%.2f", run->iterationsMean);
        rgTable_Add(&table, "%.2f%s", 100 * run->convergedShare,
                    run->failed    ? " failed"
                    : run->settled ? ""
                                   : " still falling");
    }
    if (bench->pileCount > 0) {
        printf("\npiles, time step 2 ms, after %g s of falling\n", bench->options.fall);
        rgTable_Print(&table, stdout);
    }
    rgTable_Free(&table);
}

static void rgPrintTables(const rgSimulateBench* bench) {
    if (bench->sceneCount > 0) {
        printf("%d steps of %g s, one thread, least time of up to %d repetitions; 1e-6 and 1e-5: "
               "share of steps with that residual\n",
               bench->options.steps, bench->options.timeStep, bench->options.repeat);
        printf("right of kB: MuJoCo %s, elliptic cone\n\n",
               bench->peer != NULL ? bench->peer->version() : "(left out)");
        rgPrintScenes(bench);
    }
    rgPrintPiles(bench);
}

// ---- JSON ----

static void rgWriteScene(rgJson* json, const rgSceneRun* run) {
    const rgSimulationStats* stats = &run->stats;
    rgJson_BeginObject(json, NULL);
    rgJson_String(json, "scene", run->label);
    rgJson_String(json, "error", run->failed ? run->fault : NULL);
    rgJson_Int(json, "nv", run->velocityCount);
    rgJson_Int(json, "steps", run->steps);
    rgJson_Number(json, "seconds", run->seconds);
    rgJson_Number(json, "steps_per_second", rgRate(run->steps, run->seconds));
    rgJson_Number(json, "contacts_mean", rgHistogram_Mean(&stats->contacts));
    rgJson_Number(json, "iterations_mean", rgHistogram_Mean(&stats->iterations));
    rgJson_Int(json, "iterations_p95", rgHistogram_Quantile(&stats->iterations, 0.95));
    rgJson_Number(json, "share_1e-6", rgShare(stats->within6, stats->steps) / 100);
    rgJson_Number(json, "share_1e-5", rgShare(stats->within5, stats->steps) / 100);
    rgJson_Int(json, "unconverged_steps", stats->unconverged);
    rgJson_Number(json, "residual_max", stats->residual);
    rgJson_Number(json, "penetration_max", stats->penetration);
    rgJson_Int(json, "memory", (long long)run->memory);
    rgJson_BeginObject(json, "stages");
    for (int i = 0; i < rg_stageCount; ++i) {
        rgJson_Number(json, rgStageNames[i], stats->stageSeconds[i]);
    }
    rgJson_EndObject(json);
    rgJson_Number(json, "mujoco_steps_per_second",
                  run->hasPeer ? rgRate(run->steps, run->peerSeconds) : NAN);
    rgJson_Number(json, "mujoco_contacts_mean", run->hasPeer ? run->peerContacts : NAN);
    rgJson_Number(json, "mujoco_collision_seconds", run->hasPeer ? run->peerCollision : NAN);
    rgJson_Number(json, "mujoco_penetration_max", run->hasPeer ? run->peerPenetration : NAN);
    rgJson_Number(json, "ratio", run->hasPeer ? run->peerSeconds / run->seconds : NAN);
    rgJson_EndObject(json);
}

static void rgWritePile(rgJson* json, const rgPileRun* run) {
    rgJson_BeginObject(json, NULL);
    rgJson_Int(json, "bodies", run->bodyCount);
    rgJson_Bool(json, "failed", run->failed);
    rgJson_Bool(json, "settled", run->settled);
    rgJson_Number(json, "contacts_mean", run->contactsMean);
    rgJson_Number(json, "seconds_per_step", run->secondsPerStep);
    rgJson_Number(json, "seconds_per_contact", run->secondsPerContact);
    rgJson_Number(json, "realtime_factor", run->realtime);
    rgJson_Number(json, "iterations_mean", run->iterationsMean);
    rgJson_Number(json, "converged_share", run->convergedShare);
    rgJson_EndObject(json);
}

static void rgPrintBenchJson(const rgSimulateBench* bench) {
    rgJson json = {.out = stdout};
    rgJson_BeginObject(&json, NULL);
    rgJson_String(&json, "solver", rgSolverNames[bench->options.solver]);
    rgJson_Number(&json, "dt", bench->options.timeStep);
    rgJson_Int(&json, "repeat", bench->options.repeat);
    rgJson_String(&json, "mujoco", bench->peer != NULL ? bench->peer->version() : NULL);
    rgJson_Build(&json);
    rgJson_BeginArray(&json, "scenes");
    for (int i = 0; i < bench->sceneCount; ++i) {
        rgWriteScene(&json, &bench->scenes[i]);
    }
    rgJson_EndArray(&json);
    rgJson_Number(&json, "fall", bench->options.fall);
    rgJson_BeginArray(&json, "piles");
    for (int i = 0; i < bench->pileCount; ++i) {
        rgWritePile(&json, &bench->piles[i]);
    }
    rgJson_EndArray(&json);
    rgJson_EndObject(&json);
}

// ---- the verb ----

static void rgRunBench(rgSimulateBench* bench) {
    rgProgress progress;
    rgProgress_Begin(&progress, "bench", bench->sceneCount + bench->pileCount);
    for (int i = 0; i < bench->sceneCount; ++i) {
        rgProgress_Update(&progress, i, bench->scenes[i].label);
        rgRunScene(bench, &bench->scenes[i]);
    }
    for (int i = 0; i < bench->pileCount; ++i) {
        rgProgress_Update(&progress, bench->sceneCount + i, "pile");
        rgRunPile(bench, &bench->piles[i]);
    }
    rgProgress_End(&progress);
}

static bool rgAnyFailed(const rgSimulateBench* bench) {
    for (int i = 0; i < bench->sceneCount; ++i) {
        if (bench->scenes[i].failed) {
            return true;
        }
    }
    return false;
}

static void rgFreeBench(rgSimulateBench* bench) {
    for (int i = 0; i < bench->sceneCount; ++i) {
        free(bench->scenes[i].path);
        free(bench->scenes[i].label);
        rgHistogram_Free(&bench->scenes[i].stats.contacts);
        rgHistogram_Free(&bench->scenes[i].stats.iterations);
    }
    free(bench->scenes);
}

int rgBench_Simulate(int argc, char** argv) {
    rgSimulateBench bench = {0};
    int count = 0;
    int code = rgParseOptionsOf(argc, argv, &bench.options, &count);
    if (code != RG_CLI_GO) {
        return code;
    }
    for (int i = 1; i <= count; ++i) {
        rgAddSceneRun(&bench, argv[i]);
    }
    if (count == 0) {
        rgAddDataScenes(&bench);
        rgAddSceneRun(&bench, "wall");
    }
    const char* piles = count == 0 ? "100,300,1000,3000,10000" : "none";
    if (!rgReadPiles(&bench, bench.options.piles != NULL ? bench.options.piles : piles)) {
        rgFreeBench(&bench);
        return rg_exitUsage;
    }
    bench.peer = bench.options.noPeer ? NULL : rgFindPeer("MuJoCo");
    rgRunBench(&bench);
    if (bench.options.json) {
        rgPrintBenchJson(&bench);
    } else {
        rgPrintTables(&bench);
    }
    code = rgAnyFailed(&bench) ? rg_exitNo : rg_exitDone;
    rgFreeBench(&bench);
    return code;
}
