// Large scenes: piles that fall and piles that rest, in all engines, judged by one geometry.
#include "peer_results.h"
#include "pose_judge.h"
#include "report/report.h"
#include "stats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double rgTimeStep = 2e-3;

typedef struct rgEngineDef {
    const char* peer;
    const char* variant;
    int most; // bodies; larger scenes would take minutes per step or too much memory
} rgEngineDef;
static const rgEngineDef rgEngines[] = {
    {"rigor", "", 3000},
    {"MuJoCo", "elliptic", 300},
    {"MuJoCo", "CG", 1000},
    {"MuJoCo", "elliptic near-rigid", 300},
    {"Bullet", "50 iterations", 3000},
    {"ODE", "quick 20", 3000},
    {"ODE", "direct", 30},
};
enum { rg_engineCount = sizeof(rgEngines) / sizeof(rgEngines[0]) };

typedef struct rgPileResult {
    int steps;
    double seconds; // CPU time of the steps alone
    rgDepths depths;
    double energy, drift;
    double residual;
} rgPileResult;

typedef struct rgLarge {
    rgReport* report;
    rgSheet* sheet;
    rgPlot* plot;
    double most;          // seconds of one engine on one scene
    rgPeerResults faster; // the fastest engine of each scene, where that is not ours
    double deepest;       // 99th percentile in piles at rest, ours
} rgLarge;

static bool rgBuildPileScene(rgPeerScene* scene, int bodies, const double* q) {
    const rgSceneInfo* pile = rgFindScene("pile");
    rgSceneDef def = rgDefaultSceneDef();
    rgModelDef* model = NULL;
    def.count = bodies;
    *scene = (rgPeerScene){0};
    return rgBuildScene(pile, &def, NULL, &model) == rg_ok &&
           rgPeerScene_Create(scene, "heap", model, rgTimeStep, q, NULL);
}

// Steps until there are enough or the time is up. Poses are judged from half of the steps on.
static rgPileResult rgRunPile(const rgLarge* large, rgPeerRun* run, rgPoseJudge* judge, int steps) {
    rgPileResult result = {.residual = NAN};
    rgPoseJudge_Begin(judge);
    run->peer->reset(run->world);
    while (result.steps < steps && result.seconds < large->most && !run->failed) {
        rgPeerLook look = {.residual = NAN};
        double begin = rgCli_ThreadSeconds();
        run->failed = !run->peer->step(run->world);
        result.seconds += rgCli_ThreadSeconds() - begin;
        result.steps += 1;
        run->peer->look(run->world, &look);
        result.residual = fmax(result.residual, look.residual);
        if (2 * result.steps >= steps && result.steps % 10 == 0) {
            run->failed = run->failed || !rgPoseJudge_Look(judge, run);
        }
    }
    result.depths = rgPoseJudge_Depths(judge);
    result.energy = rgPeerRun_KineticEnergy(run);
    result.drift = rgPeerRun_Drift(run);
    return result;
}

static void rgWritePile(rgLarge* large, const rgPeerRun* run, const rgPileResult* result,
                        int bodies, bool rest, int steps) {
    bool done = result->steps == steps && !run->failed;
    bool judged = result->depths.pairCount > 0;
    rgSheet_Number(large->sheet, bodies);
    rgSheet_Text(large->sheet, "%s", rest ? "at rest" : "falling");
    rgSheet_Text(large->sheet, "%s", run->label);
    rgSheet_Number(large->sheet, run->failed ? NAN : result->steps / result->seconds);
    rgSheet_Number(large->sheet, judged ? 1e3 * result->depths.mean : NAN);
    rgSheet_Number(large->sheet, judged ? 1e3 * result->depths.p99 : NAN);
    rgSheet_Number(large->sheet, rest && done ? result->energy : NAN);
    rgSheet_Number(large->sheet, rest && done ? 1e3 * result->drift : NAN);
    rgSheet_Number(large->sheet, result->residual);
    rgSheet_Text(large->sheet, "%s", run->failed ? "fails" : done ? "" : "time is up");
    if (rest && !run->failed) {
        rgPlot_Point(large->plot, rgPlot_Series(large->plot, run->label), bodies,
                     result->steps / result->seconds);
    }
}

static void rgRunEngines(rgLarge* large, const rgPeerScene* scene, int bodies, bool rest,
                         int steps) {
    rgPoseJudge* judge = rgPoseJudge_Make(scene);
    double own = NAN, best = NAN, depth = NAN;
    char who[80] = "";
    for (int i = 0; i < rg_engineCount && judge != NULL; ++i) {
        const rgPeer* peer = rgFindPeer(rgEngines[i].peer);
        rgPeerRun run;
        if (peer == NULL || bodies > rgEngines[i].most) {
            continue;
        }
        rgReport_Progress(large->report, i, rg_engineCount, rgEngines[i].peer);
        if (rgPeerRun_Begin(&run, peer, rgEngines[i].variant, scene)) {
            rgPileResult result = rgRunPile(large, &run, judge, steps);
            rgWritePile(large, &run, &result, bodies, rest, steps);
            double rate = run.failed ? NAN : result.steps / result.seconds;
            own = i == 0 ? rate : own;
            if (i > 0 && !(rate <= best) && isfinite(rate)) {
                best = rate;
                depth = result.depths.p99;
                snprintf(who, sizeof(who), "%d %s: %s", bodies, rest ? "at rest" : "falling",
                         run.label);
            }
            large->deepest =
                i == 0 && rest ? fmax(large->deepest, result.depths.p99) : large->deepest;
            rgReport_Check(large->report, i > 0 || !run.failed, "a pile of %d fails in rigor",
                           bodies);
            rgReport_Check(large->report, i > 0 || !rest || result.depths.p99 < 1e-4,
                           "a resting pile of %d penetrates by %.1e m in rigor", bodies,
                           result.depths.p99);
        } else {
            rgReport_Note(large->report, "%s takes no part in piles of %d: %s.", run.label, bodies,
                          run.fault);
        }
        rgPeerRun_End(&run);
    }
    char remark[40];
    snprintf(remark, sizeof(remark), "p99 %.2g mm", 1e3 * depth);
    rgPeerResults_Add(&large->faster, who, own, best, isfinite(depth) ? remark : NULL);
    rgPoseJudge_Free(judge);
}

// Configuration of a pile after `steps` steps at accuracy 1e-2: every engine rests there.
static double* rgSettle(const rgPeerScene* scene, int steps) {
    rgWorldDef def = rgDefaultWorldDef();
    rgWorld* world = NULL;
    double* q = NULL;
    def.timeStep = rgTimeStep;
    def.contact.accuracy = 1e-2;
    if (rgCreateWorld(scene->model, &def, NULL, &world) == rg_ok &&
        rgWorld_SetState(world, scene->q, scene->v) == rg_ok) {
        for (int i = 0; i < steps && rgWorld_Step(world, NULL) == rg_ok; ++i) {
        }
        size_t bytes = (size_t)scene->info.qCount * sizeof(double);
        q = rgCli_Allocate((size_t)scene->info.qCount, sizeof(double));
        memcpy(q, rgWorld_Positions(world, NULL), bytes);
    }
    rgDestroyWorld(world);
    return q;
}

static bool rgRunSize(rgLarge* large, int bodies) {
    rgPeerScene falling, resting;
    int steps = rgReport_Pick(large->report, 60, 500, 500);
    if (!rgBuildPileScene(&falling, bodies, NULL)) {
        rgPeerScene_Free(&falling);
        return rgReport_Fail(large->report, "no pile of %d bodies", bodies);
    }
    rgRunEngines(large, &falling, bodies, false, steps);
    double* q = rgSettle(&falling, rgReport_Pick(large->report, 300, 1500, 1500));
    bool good = q != NULL && rgBuildPileScene(&resting, bodies, q);
    if (good) {
        rgRunEngines(large, &resting, bodies, true, steps / 2);
        rgPeerScene_Free(&resting);
    }
    free(q);
    rgPeerScene_Free(&falling);
    return good;
}

static bool rgRunLarge(rgReport* report) {
    static const int sizes[] = {30, 100, 300, 1000, 3000};
    rgLarge large = {.report = report, .most = rgReport_Pick(report, 1, 6, 120)};
    large.sheet = rgReport_Table(report, "piles", "Boxes, balls and rods in a pit, steps of 2 ms");
    rgSheet_Column(large.sheet, "bodies", NULL, "%.0f");
    rgSheet_Column(large.sheet, "", NULL, NULL);
    rgSheet_Column(large.sheet, "engine", NULL, NULL);
    rgSheet_Column(large.sheet, "steps/s", NULL, "%.0f");
    rgSheet_Column(large.sheet, "mean depth", "mm", "%.3g");
    rgSheet_Column(large.sheet, "p99", "mm", "%.3g");
    rgSheet_Column(large.sheet, "kinetic energy", "J", "%.1e");
    rgSheet_Column(large.sheet, "drift", "mm", "%.3g");
    rgSheet_Column(large.sheet, "worst residual", NULL, "%.1e");
    rgSheet_Column(large.sheet, " ", NULL, NULL);
    large.plot = rgReport_Plot(report, &(rgPlotDef){.name = "rest",
                                                    .title = "Piles at rest",
                                                    .x = "bodies",
                                                    .y = "steps/s",
                                                    .logX = true,
                                                    .logY = true});
    bool good = true;
    for (int i = 0; i < rgReport_Pick(report, 1, 3, 5) && good; ++i) {
        good = rgRunSize(&large, sizes[i]);
    }
    rgReport_Note(report,
                  "Falling: the first second of the scene; depths are those of its second half. At "
                  "rest: half a second from where the pile lies after three, the same state for "
                  "all engines; drift is the farthest that any body goes from there. An engine "
                  "stops when it has used %.0f s on a scene. CPU time of one thread; depths by one "
                  "judge from the poses. Engines take part up to a number of bodies beyond which "
                  "a step takes them seconds. The wall is in wall-cube.",
                  large.most);
    rgReport_Conclude(report,
                      "Piles that rest in rigor do so without penetration (99th percentile %.1g "
                      "mm). Fastest engine where that is not rigor: %s. They sweep a fixed number "
                      "of times, or let bodies sink before they push, where rigor factors and "
                      "solves to 1e-6, and pay with penetration and motion that does not end.",
                      1e3 * large.deepest, rgPeerResults_Text(&large.faster));
    return good;
}

const rgExperiment rgExperimentLarge = {
    "large", "Large scenes", "What do piles of many bodies cost, and do they come to rest?",
    "past the paper", rgRunLarge};
