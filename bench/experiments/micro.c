// Rigid-body algorithms and collision detection by themselves, beside MuJoCo, FCL, libccd, Bullet.
#include "json_read.h"
#include "measure/dynamics.h"
#include "peer_results.h"
#include "report/report.h"
#include "scratch.h"
#include "stats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// ---- algorithms

static void rgAddFaster(rgPeerResults* faster, const char* engine, const rgAlgorithmTimes* times,
                        int algorithm, double theirs) {
    if (isfinite(theirs)) {
        char* who = rgCli_Format("%s's %s of %s", engine, times->names[algorithm], times->robot);
        rgPeerResults_Add(faster, who, 1 / times->own[algorithm], 1 / theirs, NULL);
        free(who);
    }
}

static void rgAddAlgorithms(rgReport* report, double* speedup, rgPeerResults* faster) {
    rgSheet* sheet =
        rgReport_Table(report, "dynamics", "Rigid-body algorithms (least of all rounds)");
    double ratios[rg_timedRobotCount * rg_algorithmCount];
    int ratioCount = 0;
    rgSheet_Column(sheet, "robot", NULL, NULL);
    rgSheet_Column(sheet, "velocities", NULL, "%.0f");
    rgSheet_Column(sheet, "algorithm", NULL, NULL);
    rgSheet_Column(sheet, "rigor", "us", "%.3f");
    rgSheet_Column(sheet, "MuJoCo", "us", "%.3f");
    rgSheet_Column(sheet, "MuJoCo / rigor", NULL, "%.2f");
    rgSheet_Column(sheet, "Pinocchio", "us", "%.3f");
    rgSheet_Column(sheet, "Pinocchio / rigor", NULL, "%.2f");
    for (int i = 0; i < rg_timedRobotCount; ++i) {
        rgAlgorithmTimes times;
        rgReport_Progress(report, i, rg_timedRobotCount + 1, "dynamics");
        if (!rgTimeAlgorithms(i, rgReport_Pick(report, 3, 300, 1000), &times)) {
            continue;
        }
        for (int r = 0; r < rg_algorithmCount; ++r) {
            double ratio = times.peer[r] / times.own[r];
            rgSheet_Text(sheet, "%s", times.robot);
            rgSheet_Number(sheet, times.velocityCount);
            rgSheet_Text(sheet, "%s", times.names[r]);
            rgSheet_Number(sheet, times.own[r]);
            rgSheet_Number(sheet, times.peer[r]);
            rgSheet_Number(sheet, ratio);
            rgSheet_Number(sheet, times.pinocchio[r]);
            rgSheet_Number(sheet, times.pinocchio[r] / times.own[r]);
            if (isfinite(ratio)) {
                ratios[ratioCount++] = ratio;
            }
            rgAddFaster(faster, "MuJoCo", &times, r, times.peer[r]);
            rgAddFaster(faster, "Pinocchio", &times, r, times.pinocchio[r]);
            rgReport_Check(report, times.own[r] > 0 && times.own[r] < 1e4, "%s of %s takes %g us",
                           times.names[r], times.robot, times.own[r]);
        }
    }
    *speedup = rgGeometricMeanOf(ratios, ratioCount);
}

// ---- collision, from `rigor bench collision`

static double rgNumberOf(const rgJsonValue* object, const char* key) {
    const rgJsonValue* value = rgJsonValue_Find(object, key);
    return value != NULL && value->kind == rg_jsonNumber ? atof(value->text) : NAN;
}

static void rgAddPairs(rgReport* report, const rgJsonValue* rows) {
    rgSheet* sheet = rgReport_Table(report, "manifolds", "Contact points of a pair of shapes");
    rgSheet_Column(sheet, "pair", NULL, NULL);
    rgSheet_Column(sheet, "from the step before", NULL, NULL);
    rgSheet_Column(sheet, "time", "ns", "%.0f");
    rgSheet_Column(sheet, "points", "mean", "%.2f");
    for (int i = 0; rows != NULL && i < rows->count; ++i) {
        const rgJsonValue* row = &rows->items[i];
        const rgJsonValue* pair = rgJsonValue_Find(row, "pair");
        const rgJsonValue* warm = rgJsonValue_Find(row, "warm");
        if (pair != NULL) {
            rgSheet_Text(sheet, "%s", pair->text);
            rgSheet_Text(sheet, "%s", warm != NULL && warm->flag ? "yes" : "no");
            rgSheet_Number(sheet, rgNumberOf(row, "ns"));
            rgSheet_Number(sheet, rgNumberOf(row, "points"));
        }
    }
}

// The least of libccd's time over ours.
static double rgAddDistances(rgReport* report, const rgJsonValue* rows, rgPeerResults* faster) {
    static const char* const keys[] = {"ns", "ccd_ns", "fcl_ns", "bullet_ns"};
    static const char* const names[] = {"rigor", "libccd", "FCL", "Bullet"};
    rgSheet* sheet = rgReport_Table(report, "distances", "Distance of two hulls");
    rgPlot* plot = rgReport_Plot(report, &(rgPlotDef){.name = "distance",
                                                      .title = "Distance of two hulls, cold",
                                                      .x = "vertices",
                                                      .y = "time [ns]",
                                                      .logX = true,
                                                      .logY = true});
    double least = NAN;
    rgSheet_Column(sheet, "vertices", NULL, "%.0f");
    rgSheet_Column(sheet, "along a path", NULL, NULL);
    for (int k = 0; k < 4; ++k) {
        rgSheet_Column(sheet, names[k], "ns", "%.0f");
    }
    rgSheet_Column(sheet, "largest error", "m", "%.0e");
    for (int i = 0; rows != NULL && i < rows->count; ++i) {
        const rgJsonValue* row = &rows->items[i];
        const rgJsonValue* warm = rgJsonValue_Find(row, "warm");
        if (warm == NULL) {
            continue;
        }
        double vertices = rgNumberOf(row, "vertices");
        rgSheet_Number(sheet, vertices);
        rgSheet_Text(sheet, "%s", warm->flag ? "yes" : "no");
        for (int k = 0; k < 4; ++k) {
            double time = rgNumberOf(row, keys[k]);
            rgSheet_Number(sheet, time);
            char* who =
                rgCli_Format("%s's distance of hulls with %.0f vertices", names[k], vertices);
            if (k > 0) {
                rgPeerResults_Add(faster, who, 1 / rgNumberOf(row, "ns"), 1 / time, NULL);
            }
            free(who);
            if (!warm->flag && isfinite(time)) {
                rgPlot_Point(plot, rgPlot_Series(plot, names[k]), vertices, time);
            }
        }
        rgSheet_Number(sheet, rgNumberOf(row, "error"));
        double ratio = rgNumberOf(row, "ccd_ns") / rgNumberOf(row, "ns");
        least = fmin(least, ratio);
    }
    return least;
}

static void rgAddBroadphase(rgReport* report, const rgJsonValue* rows) {
    rgSheet* sheet = rgReport_Table(report, "broadphase", "Broadphase, moving boxes");
    rgSheet_Column(sheet, "bodies", NULL, "%.0f");
    rgSheet_Column(sheet, "pairs", NULL, "%.0f");
    rgSheet_Column(sheet, "rigor", "ms", "%.3f");
    rgSheet_Column(sheet, "FCL's dynamic tree", "ms", "%.3f");
    for (int i = 0; rows != NULL && i < rows->count; ++i) {
        const rgJsonValue* row = &rows->items[i];
        if (rgJsonValue_Find(row, "bodies") != NULL) {
            rgSheet_Number(sheet, rgNumberOf(row, "bodies"));
            rgSheet_Number(sheet, rgNumberOf(row, "pairs"));
            rgSheet_Number(sheet, rgNumberOf(row, "ms"));
            rgSheet_Number(sheet, rgNumberOf(row, "fcl_ms"));
        }
    }
}

static bool rgAddCollision(rgReport* report, double* least, rgPeerResults* faster) {
    char* scratch = rgMakeScratch();
    if (scratch == NULL) {
        return false;
    }
    bool quick = rgReport_Effort(report) == rg_effortQuick;
    char* path = rgCli_Format("%s/collision.json", scratch);
    char* command = rgCli_Format("\"/proc/%ld/exe\" collision %s >'%s'", (long)getpid(),
                                 quick ? "manifolds" : "", path);
    rgJsonValue root = {0};
    rgReport_Progress(report, rg_timedRobotCount, rg_timedRobotCount + 1, "collision");
    bool good = system(command) == 0 && rgReadJson(path, &root);
    if (good) {
        rgAddPairs(report, rgJsonValue_Find(&root, "manifolds"));
        if (!quick) {
            *least = rgAddDistances(report, rgJsonValue_Find(&root, "distances"), faster);
            rgAddBroadphase(report, rgJsonValue_Find(&root, "broadphase"));
        }
    }
    rgFreeJson(&root);
    rgRemoveScratch(scratch);
    free(command);
    free(path);
    return good;
}

static bool rgRunMicro(rgReport* report) {
    double speedup = NAN, least = NAN;
    rgPeerResults faster = {0};
    rgAddAlgorithms(report, &speedup, &faster);
    if (!rgAddCollision(report, &least, &faster)) {
        return rgReport_Fail(report, "rigor bench collision failed");
    }
    if (!isfinite(speedup)) {
        rgReport_Conclude(report, "Times of our own; no other library was built in.");
        return true;
    }
    char distances[100] = "";
    if (isfinite(least)) {
        snprintf(distances, sizeof(distances),
                 "; distances of hulls take at least %.1f times less than libccd's", least);
    }
    rgReport_Conclude(report,
                      "Rigid-body algorithms take %.1f times less than MuJoCo's in the mean%s. "
                      "Faster than rigor, of %d comparisons: %s.",
                      speedup, distances, faster.total, rgPeerResults_Text(&faster));
    return true;
}

const rgExperiment rgExperimentMicro = {"micro", "Rigid-body algorithms and collision detection",
                                        "What do the parts of a step cost by themselves?",
                                        "past the paper", rgRunMicro};
