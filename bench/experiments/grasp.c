// Creep of a grasped object: ten seconds between two fingers.
#include "peer_results.h"
#include "pose_judge.h"
#include "report/report.h"
#include "scene_text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double rgTimeStep = 1e-3;
enum { rg_settle = 1000 }; // steps before drift counts

static const struct {
    const char* peer;
    const char* variant;
} rgEngines[] = {{"rigor", ""},
                 {"rigor", "ccp"},
                 {"MuJoCo", "elliptic"},
                 {"MuJoCo", "noslip"},
                 {"MuJoCo", "elliptic near-rigid"},
                 {"MuJoCo", "pyramidal"},
                 {"Bullet", "50 iterations"},
                 {"ODE", "direct"}};

static rgVec3 rgObjectAt(rgPeerRun* run, int object, int finger) {
    rgPeerBody a = {.mass = NAN}, b = {.mass = NAN};
    run->peer->body(run->world, object, &a);
    run->peer->body(run->world, finger, &b);
    return rgRotateBack(b.pose.q, rgSub(a.pose.p, b.pose.p));
}

typedef struct rgGrasps {
    rgReport* report;
    rgSheet* sheet;
    rgPlot* plot;
    double drift, rate; // drift and rate of rigor
    double least;       // drift of the others
    char who[64];       // name of that engine
    rgPeerResults faster;
} rgGrasps;

static void rgCompareGrasp(rgGrasps* all, const rgPeerRun* run, double drift, double rate) {
    if (strcmp(run->label, "rigor") == 0) {
        all->drift = drift;
        all->rate = rate;
    } else if (strcmp(run->peer->name, "rigor") != 0) {
        char remark[40];
        snprintf(remark, sizeof(remark), "drift %.2g um/s", 1e6 * drift);
        rgPeerResults_Add(&all->faster, run->label, all->rate, rate, remark);
        if (!(drift >= all->least)) {
            all->least = drift;
            snprintf(all->who, sizeof(all->who), "%s", run->label);
        }
    }
}

static void rgWriteGrasp(rgGrasps* all, rgPeerRun* run, int steps) {
    rgReport* report = all->report;
    rgSheet* sheet = all->sheet;
    rgPlot* plot = all->plot;
    const rgModel* model = run->scene->model;
    int object = rgModel_FindBody(model, "object").index1 - 1;
    int finger = rgModel_FindBody(model, "finger_right").index1 - 1;
    int series = rgPlot_Series(plot, run->label);
    rgPoseJudge* judge = rgPoseJudge_Make(run->scene);
    rgVec3 start = {0};
    double moved = NAN, seconds = 0;
    rgPoseJudge_Begin(judge);
    run->peer->reset(run->world);
    run->peer->control(run->world, rgModel_Key(model, (rgKeyId){1})->control);
    for (int i = 0; i < steps && !run->failed; ++i) {
        double begin = rgCli_ThreadSeconds();
        run->failed = !run->peer->step(run->world);
        seconds += rgCli_ThreadSeconds() - begin;
        if (i + 1 == rg_settle || i + 1 == steps / 10) {
            start = rgObjectAt(run, object, finger);
        }
        moved = rgLength(rgSub(rgObjectAt(run, object, finger), start));
        if (i > rg_settle && (i + 1) % (steps / 50) == 0) {
            rgPlot_Point(plot, series, (i + 1) * rgTimeStep, 1e6 * moved);
            rgPoseJudge_Look(judge, run);
        }
    }
    int from = steps / 10 > rg_settle ? steps / 10 : rg_settle < steps ? rg_settle : steps / 10;
    double rate = moved / ((steps - from) * rgTimeStep);
    rgSheet_Text(sheet, "%s", run->label);
    rgSheet_Number(sheet, 1e6 * rate);
    rgSheet_Number(sheet, 1e3 * rgPoseJudge_Depths(judge).deepest);
    rgSheet_Number(sheet, steps / seconds);
    rgCompareGrasp(all, run, rate, steps / seconds);
    bool own = strcmp(run->label, "rigor") == 0;
    rgReport_Check(report, !own || rate < 1e-8, "the object creeps at %.1e m/s in rigor", rate);
    rgPoseJudge_Free(judge);
}

static bool rgRunGrasp(rgReport* report) {
    rgPeerScene scene;
    if (!rgPeerScene_Load(&scene, "grasp", rgTimeStep)) {
        rgPeerScene_Free(&scene);
        return rgReport_Fail(report, "no grasp");
    }
    int steps = rgReport_Pick(report, 1500, 10000, 10000);
    rgSheet* sheet = rgReport_Table(report, "creep", "A cube of 45 g, held with 2 N at mu 1");
    rgSheet_Column(sheet, "engine", NULL, NULL);
    rgSheet_Column(sheet, "drift", "um/s", "%.3g");
    rgSheet_Column(sheet, "deepest", "mm", "%.3g");
    rgSheet_Column(sheet, "steps/s", NULL, "%.0f");
    rgPlot* plot = rgReport_Plot(report, &(rgPlotDef){.name = "drift",
                                                      .title = "Way of the object past a finger",
                                                      .x = "time [s]",
                                                      .y = "drift [um]",
                                                      .logY = true});
    rgGrasps all = {.report = report, .sheet = sheet, .plot = plot, .least = NAN};
    for (int i = 0; i < (int)(sizeof(rgEngines) / sizeof(rgEngines[0])); ++i) {
        const rgPeer* peer = rgFindPeer(rgEngines[i].peer);
        rgPeerRun run = {0};
        if (peer == NULL) {
            continue;
        }
        rgReport_Progress(report, i, (int)(sizeof(rgEngines) / sizeof(rgEngines[0])), peer->name);
        if (peer->control == NULL) {
            rgReport_Note(report, "%s takes no part: its fingers have no servos here.", peer->name);
        } else if (rgPeerRun_Begin(&run, peer, rgEngines[i].variant, &scene)) {
            rgWriteGrasp(&all, &run, steps);
        } else {
            rgReport_Note(report, "%s: %s.", run.label, run.fault);
        }
        rgPeerRun_End(&run);
    }
    rgPeerScene_Free(&scene);
    rgReport_Note(report,
                  "Friction can carry 4.5 times the weight. Drift is that of the object "
                  "against a finger, after the first %s. noslip: MuJoCo with the elliptic "
                  "cone, impratio 10 and ten noslip iterations, as recommended against "
                  "creep.",
                  steps < 10000 ? "part of the run" : "second");
    if (all.who[0] == '\0') {
        rgReport_Conclude(report, "The object drifts by %.0e um/s; no other engine was built in.",
                          1e6 * all.drift);
        return true;
    }
    rgReport_Conclude(report,
                      "A static grasp stays static in rigor (%.0e um/s); with soft contacts the "
                      "object creeps without end, by %.2g um/s in the best other engine (%s). "
                      "Faster than rigor: %s.",
                      1e6 * all.drift, 1e6 * all.least, all.who, rgPeerResults_Text(&all.faster));
    return true;
}

const rgExperiment rgExperimentGrasp = {"grasp-creep", "Creep of a grasp",
                                        "Does an object that is held stay where it is?",
                                        "past the paper", rgRunGrasp};
