// Simulators side by side on the robots of the paper: steps per second, and accuracy.
#include "peer.h"
#include "pose_judge.h"
#include "report/report.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// Time steps of the falls: a falling robot is chaotic, and hard solves occur by chance, so every
// engine makes a few falls that differ by their time steps.
static const double rgTimeSteps[] = {1e-3, 0.99e-3, 1.01e-3, 0.98e-3, 1.02e-3}; // [s]
static const double rgSolved = 1.01e-6; // the tolerance, and rounding

typedef struct rgRobot {
    const char* label;
    const char* file; // below RIGOR_DATA/robots
    const char* own;  // scene of ours without it; NULL: left out then
    bool always;      // also in the quick pass
    bool headline;
} rgRobot;

static const rgRobot rgRobots[] = {
    {"UR5", "ur5/ur5.xml", "arm", true, true},
    {"humanoid", "humanoid/humanoid.xml", "humanoid", true, true},
    {"Cassie", "cassie/cassie_eq.xml", "biped", false, false},
    {"Cassie, strict", "cassie/cassie_eq_strict.xml", NULL, false, false},
    {"Cassie without loops", "cassie/cassie_noeq.xml", NULL, false, false},
    {"Cassie without loops, strict", "cassie/cassie_noeq_strict.xml", NULL, false, false},
    {"Talos", "talos/talos.xml", NULL, false, true},
    {"Talos, strict", "talos/talos_strict.xml", NULL, false, false},
    {"Solo12", "solo12/solo12.xml", "quadruped-fall", false, false},
    {"Solo12, strict", "solo12/solo12_strict.xml", NULL, false, false},
    {"Allegro", "allegro/allegro.xml", "hand", false, false},
};

typedef struct rgEngineDef {
    const char* peer;
    const char* variant;
    bool slow; // makes one fall only, but for the long runs
} rgEngineDef;
static const rgEngineDef rgEngines[] = {{"rigor", "", false},
                                        {"MuJoCo", "elliptic", false},
                                        {"MuJoCo", "pyramidal", false},
                                        {"MuJoCo", "elliptic near-rigid", false},
                                        {"MuJoCo", "pyramidal near-rigid", false},
                                        {"MuJoCo", "CG", false},
                                        {"Drake", "SAP", true},
                                        {"Drake", "SAP near-rigid", true},
                                        {"Drake", "TAMSI", true},
                                        {"Bullet", "50 iterations", true},
                                        {"DART", "", false},
                                        {"PhysX", "TGS", true},
                                        {"Jolt", "10 iterations", true}};
enum { rg_engineCount = sizeof(rgEngines) / sizeof(rgEngines[0]) };

typedef struct rgSimulators {
    rgReport* report;
    rgSheet *sheet, *ratios;
    rgPlot* plot;
    int steps, repeat, falls;
    int robots, ahead; // scenes, and those on which rigor is the fastest of the elliptic cones
    int pyramids;      // scenes on which an engine with pyramids is faster than rigor
    char behind[256];
    int unsolved;       // scenes with a step of ours above the tolerance
    char headline[512]; // rates of a few robots, and over MuJoCo
} rgSimulators;

static char* rgRobotPath(const rgRobot* robot) {
    const char* data = getenv("RIGOR_DATA");
    if (data != NULL) {
        char* path = rgCli_Format("%s/robots/%s", data, robot->file);
        if (access(path, R_OK) == 0) {
            return path;
        }
        free(path);
    }
    return robot->own != NULL ? rgCli_CopyText(robot->own) : NULL;
}

// One engine on all falls of one robot.
typedef struct rgFalls {
    const rgPeer* peer;
    char label[64];
    char fault[256]; // why it takes no part; empty: it does
    int made, count; // and those that stayed finite, of which all numbers are
    int steps;
    double least, median;   // seconds of all steps
    double first;           // steps per second of the first fall
    double contacts, depth; // means
    double deepest, residual;
} rgFalls;

static double rgFalls_Rate(const rgFalls* falls) {
    return falls->count > 0 ? falls->steps / falls->least : NAN;
}

static void rgFalls_Add(rgFalls* falls, rgPeerRun* run, rgPoseJudge* judge, int steps) {
    falls->peer = run->peer;
    if (run->world == NULL) {
        snprintf(falls->fault, sizeof(falls->fault), "%s", run->fault);
        return;
    }
    rgDepths depths = {.mean = NAN, .deepest = NAN};
    if (judge != NULL) {
        depths = rgPoseJudge_Run(judge, run, steps, 5);
    } else {
        rgPeerRun_Look(run, steps);
    }
    falls->made += 1;
    if (run->failed) {
        return;
    }
    double share = 1.0 / ++falls->count;
    falls->first = falls->made == 1 ? run->steps / run->least : falls->first;
    falls->steps += run->steps;
    falls->least += run->least;
    falls->median += run->median;
    falls->contacts += share * (run->contacts - falls->contacts);
    falls->depth += share * (depths.mean - falls->depth);
    falls->deepest = falls->count > 1 ? fmax(falls->deepest, depths.deepest) : depths.deepest;
    falls->residual = falls->count > 1 ? fmax(falls->residual, run->residual) : run->residual;
}

// Engines that cannot take part have a row with the reason.
static void rgWriteFalls(rgSimulators* all, const rgRobot* robot, const rgFalls* falls) {
    bool any = falls->count > 0;
    rgSheet_Text(all->sheet, "%s", robot->label);
    rgSheet_Text(all->sheet, "%s", falls->label);
    rgSheet_Number(all->sheet, rgFalls_Rate(falls));
    rgSheet_Number(all->sheet, any ? falls->steps / falls->median : NAN);
    rgSheet_Text(all->sheet, "%d/%d", falls->count, falls->made);
    rgSheet_Number(all->sheet, any ? falls->contacts : NAN);
    rgSheet_Number(all->sheet, any ? 1e3 * falls->deepest : NAN);
    rgSheet_Number(all->sheet, any ? 1e3 * falls->depth : NAN);
    rgSheet_Number(all->sheet, any ? falls->residual : NAN);
    rgSheet_Text(all->sheet, "%s", falls->made == 0 ? falls->fault : "");
    if (!any) {
        return;
    }
    rgPlot_Point(all->plot, rgPlot_Series(all->plot, falls->label),
                 rgPlot_Group(all->plot, robot->label), rgFalls_Rate(falls));
    bool own = strcmp(falls->peer->name, "rigor") == 0;
    all->unsolved += own && falls->residual > rgSolved;
    rgReport_Check(all->report, !own || falls->count == falls->made, "%s: rigor fails on a step",
                   robot->label);
}

static const rgFalls* rgFallsOf(const rgFalls* falls, int count, const char* label) {
    int i = 0;
    while (i < count - 1 && strcmp(falls[i].label, label) != 0) {
        ++i;
    }
    return &falls[i];
}

// The fastest of the settings of an engine, or of all others; NULL: none takes part.
static const rgFalls* rgFastest(const rgFalls* falls, int count, const char* engine) {
    const rgFalls* best = NULL;
    for (int i = 1; i < count; ++i) {
        bool counts = engine == NULL || strncmp(falls[i].label, engine, strlen(engine)) == 0;
        if (counts && rgFalls_Rate(&falls[i]) > (best != NULL ? rgFalls_Rate(best) : 0)) {
            best = &falls[i];
        }
    }
    return best;
}

// rigor over the default, the fastest setting of MuJoCo, and whatever is the fastest.
static void rgWriteRatios(rgSimulators* all, const rgRobot* robot, const rgFalls* falls,
                          int count) {
    double own = rgFalls_Rate(&falls[0]);
    const rgFalls *mujoco = rgFastest(falls, count, "MuJoCo"), *any = rgFastest(falls, count, NULL);
    double elliptic = own / rgFalls_Rate(rgFallsOf(falls, count, "MuJoCo elliptic"));
    const rgFalls* drake = rgFallsOf(falls, count, "Drake SAP");
    double fastest = mujoco != NULL ? own / rgFalls_Rate(mujoco) : NAN;
    rgSheet_Text(all->ratios, "%s", robot->label);
    rgSheet_Number(all->ratios, own);
    rgSheet_Number(all->ratios, elliptic);
    rgSheet_Number(all->ratios, fastest);
    rgSheet_Text(all->ratios, "%s", mujoco != NULL ? mujoco->label : "");
    rgSheet_Number(all->ratios, drake->count > 0 ? falls[0].first / drake->first : NAN);
    rgSheet_Number(all->ratios, any != NULL ? own / rgFalls_Rate(any) : NAN);
    rgSheet_Text(all->ratios, "%s", any != NULL ? any->label : "");
    if (robot->headline && isfinite(elliptic)) {
        size_t used = strlen(all->headline);
        snprintf(all->headline + used, sizeof(all->headline) - used,
                 "%s%s %.3g thousand steps of 1 ms per second (%.1f times MuJoCo's rate with round "
                 "cones, "
                 "%.1f times that of its fastest setting)",
                 used > 0 ? ", " : "", robot->label, 1e-3 * own, elliptic, fastest);
    }
}

// rigor against the exact cones of others; pyramids solve less.
static void rgCompareRates(rgSimulators* all, const rgRobot* robot, const rgFalls* falls,
                           int count) {
    double best = 0, own = rgFalls_Rate(&falls[0]);
    const char* who = NULL;
    bool pyramid = false;
    for (int i = 1; i < count; ++i) {
        bool cone =
            strstr(falls[i].label, "pyramidal") == NULL && strncmp(falls[i].label, "DART", 4) != 0;
        double rate = rgFalls_Rate(&falls[i]);
        pyramid = pyramid || (!cone && rate > own);
        if (cone && rate > best) {
            best = rate;
            who = falls[i].label;
        }
    }
    all->pyramids += pyramid;
    all->robots += who != NULL;
    all->ahead += who != NULL && own >= best;
    if (who != NULL && own < best) {
        size_t used = strlen(all->behind);
        snprintf(all->behind + used, sizeof(all->behind) - used, "%s%s (%.2f of %s)",
                 used > 0 ? ", " : "", robot->label, own / best, who);
    }
}

static bool rgFallOnce(rgSimulators* all, const char* path, int fall,
                       rgFalls falls[rg_engineCount]) {
    bool full = rgReport_Effort(all->report) == rg_effortFull;
    rgPeerScene scene;
    rgPeerRun runs[rg_engineCount] = {0};
    if (!rgPeerScene_Load(&scene, path, rgTimeSteps[fall])) {
        rgPeerScene_Free(&scene);
        return rgReport_Fail(all->report, "%s cannot be loaded", path);
    }
    for (int i = 0; i < rg_engineCount; ++i) {
        const rgPeer* peer = rgFindPeer(rgEngines[i].peer);
        if (peer != NULL && (fall == 0 || full || !rgEngines[i].slow)) {
            rgPeerRun_Begin(&runs[i], peer, rgEngines[i].variant, &scene);
        }
    }
    rgPeerRuns_Time(runs, rg_engineCount, all->steps, all->repeat, 5);
    rgPoseJudge* judge = rgPoseJudge_Make(&scene);
    for (int i = 0; i < rg_engineCount; ++i) {
        if (runs[i].peer != NULL) {
            rgFalls_Add(&falls[i], &runs[i], judge, all->steps);
            rgPeerRun_End(&runs[i]);
        }
    }
    rgPoseJudge_Free(judge);
    rgPeerScene_Free(&scene);
    return true;
}

static bool rgRunRobot(rgSimulators* all, const rgRobot* robot, const char* path) {
    rgFalls falls[rg_engineCount] = {0};
    for (int i = 0; i < rg_engineCount; ++i) {
        snprintf(falls[i].label, sizeof(falls[i].label), "%s%s%s", rgEngines[i].peer,
                 rgEngines[i].variant[0] != '\0' ? " " : "", rgEngines[i].variant);
        snprintf(falls[i].fault, sizeof(falls[i].fault), "not installed: ./setup bench");
    }
    for (int i = 0; i < all->falls; ++i) {
        if (!rgFallOnce(all, path, i, falls)) {
            return false;
        }
    }
    for (int i = 0; i < rg_engineCount; ++i) {
        rgWriteFalls(all, robot, &falls[i]);
    }
    rgWriteRatios(all, robot, falls, rg_engineCount);
    rgCompareRates(all, robot, falls, rg_engineCount);
    return true;
}

static bool rgRunSimulators(rgReport* report) {
    rgSimulators all = {.report = report,
                        .steps = rgReport_Pick(report, 100, 2000, 2000),
                        .repeat = rgReport_Pick(report, 1, 2, 10),
                        .falls = rgReport_Pick(report, 1, 5, 5)};
    all.sheet = rgReport_Table(report, "engines", "Falls of 2000 steps of about 1 ms");
    rgSheet_Column(all.sheet, "robot", NULL, NULL);
    rgSheet_Column(all.sheet, "engine", NULL, NULL);
    rgSheet_Column(all.sheet, "steps/s, best", NULL, "%.0f");
    rgSheet_Column(all.sheet, "median", NULL, "%.0f");
    rgSheet_Column(all.sheet, "falls", NULL, NULL);
    rgSheet_Column(all.sheet, "contacts", NULL, "%.1f");
    rgSheet_Column(all.sheet, "deepest", "mm", "%.3g");
    rgSheet_Column(all.sheet, "mean depth", "mm", "%.3g");
    rgSheet_Column(all.sheet, "worst residual", NULL, "%.1e");
    rgSheet_Column(all.sheet, "takes no part", NULL, NULL);
    all.ratios = rgReport_Table(report, "ratios", "Rate of rigor over that of others");
    rgSheet_Column(all.ratios, "robot", NULL, NULL);
    rgSheet_Column(all.ratios, "rigor", "steps/s", "%.0f");
    rgSheet_Column(all.ratios, "over MuJoCo elliptic", NULL, "%.2f");
    rgSheet_Column(all.ratios, "over MuJoCo's fastest setting", NULL, "%.2f");
    rgSheet_Column(all.ratios, "which is", NULL, NULL);
    rgSheet_Column(all.ratios, "over Drake SAP", NULL, "%.2f");
    rgSheet_Column(all.ratios, "over the fastest of all", NULL, "%.2f");
    rgSheet_Column(all.ratios, "which is", NULL, NULL);
    rgSheet* versions = rgReport_Table(report, "versions", "Engines");
    rgSheet_Column(versions, "engine", NULL, NULL);
    rgSheet_Column(versions, "version", NULL, NULL);
    for (int i = 0; i < rg_engineCount; ++i) {
        if (i == 0 || strcmp(rgEngines[i].peer, rgEngines[i - 1].peer) != 0) {
            const rgPeer* peer = rgFindPeer(rgEngines[i].peer);
            rgSheet_Text(versions, "%s", rgEngines[i].peer);
            rgSheet_Text(versions, "%s", peer != NULL ? peer->version() : "not installed");
        }
    }
    all.plot = rgReport_Plot(report, &(rgPlotDef){.name = "rates",
                                                  .title = "Steps per second, one thread",
                                                  .x = "",
                                                  .y = "steps/s",
                                                  .kind = rg_plotBars,
                                                  .logY = true});
    int count = (int)(sizeof(rgRobots) / sizeof(rgRobots[0]));
    bool good = true, own = false;
    for (int i = 0; i < count && good; ++i) {
        char* path = rgRobotPath(&rgRobots[i]);
        if (path != NULL && (rgRobots[i].always || rgReport_Effort(report) != rg_effortQuick)) {
            rgReport_Progress(report, i, count, rgRobots[i].label);
            rgRobot robot = rgRobots[i];
            char* substitute = rgCli_Format("%s (substitute)", path);
            if (strchr(path, '/') == NULL) {
                own = true;
                robot.label = substitute;
            }
            good = rgRunRobot(&all, &robot, path);
            free(substitute);
        }
        free(path);
    }
    rgReport_Note(report,
                  "Each number is of all falls of a robot, which differ by their time steps "
                  "(1 ms, and 1 and 2 %% more and less): which falls are hard is chance. "
                  "No actuation, damping or limits in the files of RIGOR_DATA. Contacts "
                  "are each engine's own count. "
                  "Depths are computed from the poses of every fifth step by one judge; "
                  "pairs that overlap at the start by design are left out of them. The "
                  "residual is that of the exact problem; the others solve relaxed ones "
                  "and have none. Falls in which an engine's numbers became infinite are left "
                  "out of its row. Strict files let parts collide that overlap.");
    rgReport_Note(report,
                  "Drake has one contact point for each pair of shapes (point contact), and its "
                  "time is CPU time of its own process, in one call for all steps; so it is for "
                  "PhysX and Jolt, which run as WebAssembly: slower than compiled for the machine, "
                  "in single precision, and without a count of contacts. These and Bullet make the "
                  "first fall only, but for the long runs; rates over Drake's are "
                  "of that fall. DART has no "
                  "convex hulls, and takes part where shapes are simple. %s.",
                  own ? "Measured on substitutes: scenes of ours, which have joint limits and "
                        "dampers, stand in where there are no robots (./setup data)"
                      : "Robots are those of RIGOR_DATA");
    if (all.robots > 0) {
        const rgPeer* mujoco = rgFindPeer("MuJoCo");
        rgReport_Conclude(
            report,
            "On one thread: %s; MuJoCo is %s. rigor solves the exact problem to 1e-6 (scenes with "
            "a step above that: %d) and is the fastest of the engines with round cones on %d of "
            "%d%s%s. Engines with pyramids are faster than it on %d.",
            all.headline, mujoco != NULL ? mujoco->version() : "not installed", all.unsolved,
            all.ahead, all.robots, all.behind[0] != '\0' ? "; behind on " : "", all.behind,
            all.pyramids);
    } else {
        rgReport_Conclude(report, "No other engine was built in.");
    }
    return good;
}

const rgExperiment rgExperimentSimulators = {
    "simulators", "Simulators", "How fast are whole simulations of robots, and how accurate?",
    "paper, Fig. 6", rgRunSimulators};
