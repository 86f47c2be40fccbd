// The wall of cubes, and the physics of one cube, in all engines.
#include "peer_results.h"
#include "pose_judge.h"
#include "report/report.h"
#include "scene_text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double rgTimeStep = 1e-3, rgGravity = 9.81, rgMu = 0.5;

typedef struct rgEngineDef {
    const char* peer;
    const char* variant;
    bool slow; // not in the quick pass
} rgEngineDef;
static const rgEngineDef rgEngines[] = {
    {"rigor", "", false},
    {"MuJoCo", "elliptic", false},
    {"MuJoCo", "elliptic near-rigid", false},
    {"MuJoCo", "pyramidal", false},
    {"Bullet", "10 iterations", false},
    {"Bullet", "50 iterations", false},
    {"Bullet", "1000 iterations", true},
    {"ODE", "direct", true},
    {"ODE", "direct aligned", true},
    {"ODE", "quick 20", false},
    {"ODE", "quick 200", true},
    {"DART", "", true},
    {"Drake", "SAP", true},
    {"PhysX", "TGS", true},
    {"PhysX", "TGS 50 iterations", true},
    {"Rapier", "4 iterations", true},
    {"Rapier", "50 iterations", true},
    {"Jolt", "10 iterations", true},
    {"Jolt", "50 iterations", true},
};
enum { rg_engineCount = sizeof(rgEngines) / sizeof(rgEngines[0]) };

static const char rgCube[] =
    "<geom type='plane' size='0 0 1'/><body name='cube' pos='0 0 0.1'><freejoint/>"
    "<geom type='box' size='0.1 0.1 0.1' mass='1'/></body>";
static const char rgTwoCubes[] =
    "<geom type='plane' size='0 0 1'/><body name='light' pos='0 0 0.1'><freejoint/>"
    "<geom type='box' size='0.1 0.1 0.1' mass='1'/></body><body name='heavy' pos='0 0 0.3'>"
    "<freejoint/><geom type='box' size='0.1 0.1 0.1' mass='10000'/></body>";

static rgVec3 rgTilted(double angle) {
    return rgVec(rgGravity * sin(angle), 0, -rgGravity * cos(angle));
}

static bool rgTakesPart(const rgReport* report, const rgEngineDef* engine) {
    return rgFindPeer(engine->peer) != NULL &&
           !(engine->slow && rgReport_Effort(report) == rg_effortQuick);
}

static rgVec3 rgPositionOf(rgPeerRun* run, int body) {
    rgPeerBody state = {.pose.p = {NAN, NAN, NAN}};
    run->peer->body(run->world, body, &state);
    return state.pose.p;
}

static bool rgSteps(rgPeerRun* run, int steps) {
    for (int i = 0; i < steps && !run->failed; ++i) {
        run->failed = !run->peer->step(run->world);
    }
    return !run->failed;
}

// ---- the wall

typedef struct rgVerdicts {
    rgPeerResults faster[2];      // on the pyramid, and on the straight wall
    bool stands[rg_engineCount];  // both of them
    bool coulomb[rg_engineCount]; // the cube stops where it should in both directions
    double drift;                 // drift of rigor
} rgVerdicts;

static bool rgRunWall(rgReport* report, bool pyramid, rgVerdicts* verdicts) {
    const char* name = pyramid ? "pyramid of 5, 4, 3, 2, 1" : "straight, 3 x 5";
    char* text = rgWriteWall(pyramid);
    rgPeerScene scene;
    bool good = rgPeerScene_Write(&scene, "standing wall", rgTimeStep, rgTilted(0), NULL, text);
    free(text);
    if (!good) {
        rgPeerScene_Free(&scene);
        return rgReport_Fail(report, "the wall cannot be built");
    }
    rgPoseJudge* judge = rgPoseJudge_Make(&scene);
    int steps = rgReport_Pick(report, 50, 2000, 2000);
    rgSheet* sheet = rgReport_Table(report, pyramid ? "wall" : "straight_wall", name);
    rgSheet_Column(sheet, "engine", NULL, NULL);
    rgSheet_Column(sheet, "steps/s", NULL, "%.0f");
    rgSheet_Column(sheet, "deepest", "mm", "%.3g");
    rgSheet_Column(sheet, "largest drift", "mm", "%.3g");
    rgSheet_Column(sheet, "stands", NULL, NULL);
    double own = NAN;
    for (int i = 0; i < rg_engineCount && judge != NULL; ++i) {
        rgPeerRun run;
        if (!rgTakesPart(report, &rgEngines[i])) {
            continue;
        }
        rgReport_Progress(report, i, rg_engineCount, rgEngines[i].peer);
        if (rgPeerRun_Begin(&run, rgFindPeer(rgEngines[i].peer), rgEngines[i].variant, &scene)) {
            bool slow = rgEngines[i].slow; // milliseconds per step
            rgPeerRuns_Time(&run, 1, slow ? steps / 10 : steps, slow ? 1 : 3, 2);
            rgDepths depths = rgPoseJudge_Run(judge, &run, slow ? steps / 4 : steps, 10);
            double drift = rgPeerRun_Drift(&run);
            bool stands = !run.failed && drift < 0.01;
            rgSheet_Text(sheet, "%s", run.label);
            rgSheet_Number(sheet, run.steps / run.least);
            rgSheet_Number(sheet, 1e3 * depths.deepest);
            rgSheet_Number(sheet, 1e3 * drift);
            rgSheet_Text(sheet, "%s", stands ? "yes" : "no");
            own = i == 0 ? run.steps / run.least : own;
            rgPeerResults_Add(&verdicts->faster[!pyramid], run.label, own, run.steps / run.least,
                              stands ? NULL : "and it falls");
            verdicts->stands[i] = stands && (pyramid || verdicts->stands[i]);
            verdicts->drift = i == 0 ? fmax(verdicts->drift, drift) : verdicts->drift;
            rgReport_Check(report, i > 0 || (drift < 1e-6 && depths.deepest < 1e-6),
                           "the wall (%s) stands in rigor: drift %.1e m, depth %.1e m", name, drift,
                           depths.deepest);
        } else {
            rgReport_Note(report, "%s: %s.", run.label, run.fault);
        }
        rgPeerRun_End(&run);
    }
    rgPoseJudge_Free(judge);
    rgPeerScene_Free(&scene);
    return true;
}

// ---- one cube

typedef struct rgCubeRow {
    double stop[2]; // along an axis, at 45 degrees [m]
    double lift;
    double creep[2]; // at half and at 0.98 of the friction angle [m/s]
    double sink;     // 1 kg under 10^4 kg [m]
} rgCubeRow;

static bool rgBeginOn(rgPeerRun* run, rgPeerScene* scene, const rgEngineDef* engine,
                      const char* text, double tilt, const double* v) {
    *run = (rgPeerRun){0};
    return rgPeerScene_Write(scene, "cube", rgTimeStep, rgTilted(tilt), v, text) &&
           rgPeerRun_Begin(run, rgFindPeer(engine->peer), engine->variant, scene);
}

static void rgMeasureSlide(const rgEngineDef* engine, double angle, double* stop, double* lift) {
    rgPeerScene scene;
    rgPeerRun run;
    double v[6] = {cos(angle), sin(angle), 0, 0, 0, 0};
    *stop = NAN;
    if (rgBeginOn(&run, &scene, engine, rgCube, 0, v)) {
        run.peer->reset(run.world);
        for (int i = 0; i < 500 && rgSteps(&run, 1); ++i) {
            *lift = fmax(*lift, rgPositionOf(&run, 0).z - 0.1);
        }
        rgVec3 p = rgPositionOf(&run, 0);
        *stop = hypot(p.x, p.y);
    }
    rgPeerRun_End(&run);
    rgPeerScene_Free(&scene);
}

static double rgMeasureCreep(const rgEngineDef* engine, double share, int settle, int steps) {
    rgPeerScene scene;
    rgPeerRun run;
    double creep = NAN;
    if (rgBeginOn(&run, &scene, engine, rgCube, share * atan(rgMu), NULL)) {
        run.peer->reset(run.world);
        rgSteps(&run, settle);
        rgVec3 before = rgPositionOf(&run, 0);
        if (rgSteps(&run, steps)) {
            creep = rgLength(rgSub(rgPositionOf(&run, 0), before)) / (steps * rgTimeStep);
        }
    }
    rgPeerRun_End(&run);
    rgPeerScene_Free(&scene);
    return creep;
}

static double rgMeasureSink(const rgEngineDef* engine, int steps) {
    rgPeerScene scene;
    rgPeerRun run;
    double sink = NAN;
    if (rgBeginOn(&run, &scene, engine, rgTwoCubes, 0, NULL)) {
        rgPoseJudge* judge = rgPoseJudge_Make(&scene);
        sink = rgPoseJudge_Run(judge, &run, steps, 10).deepest;
        rgPoseJudge_Free(judge);
    }
    rgPeerRun_End(&run);
    rgPeerScene_Free(&scene);
    return sink;
}

static void rgRunCube(rgReport* report, rgVerdicts* verdicts) {
    double pi = acos(-1);
    int second = rgReport_Pick(report, 100, 1000, 1000);
    rgSheet* sheet = rgReport_Table(report, "cube", "One cube: 0.2 m, 1 kg, mu 0.5, steps of 1 ms");
    rgSheet_Column(sheet, "engine", NULL, NULL);
    rgSheet_Column(sheet, "stops after", "mm", "%.3f");
    rgSheet_Column(sheet, "at 45 degrees", "mm", "%.3f");
    rgSheet_Column(sheet, "lifts", "mm", "%.3g");
    rgSheet_Column(sheet, "creep, half of its friction", "mm/s", "%.3g");
    rgSheet_Column(sheet, "creep, 0.98", "mm/s", "%.3g");
    rgSheet_Column(sheet, "1 kg under 10^4 kg, deepest", "mm", "%.3g");
    rgSheet_Text(sheet, "exact");
    for (int k = 0; k < 6; ++k) {
        rgSheet_Number(sheet, k < 2 ? 1e3 / (2 * rgMu * rgGravity) : 0);
    }
    for (int i = 0; i < rg_engineCount; ++i) {
        const rgEngineDef* engine = &rgEngines[i];
        if (!rgTakesPart(report, engine)) {
            continue;
        }
        rgCubeRow row = {0};
        rgReport_Progress(report, i, rg_engineCount, engine->peer);
        for (int k = 0; k < 2; ++k) {
            rgMeasureSlide(engine, k * pi / 4, &row.stop[k], &row.lift);
            row.creep[k] = rgMeasureCreep(engine, k == 0 ? 0.5 : 0.98, second, second);
        }
        row.sink = rgMeasureSink(engine, 2 * second);
        rgSheet_Text(sheet, "%s%s%s", engine->peer, engine->variant[0] != '\0' ? " " : "",
                     engine->variant);
        rgSheet_Number(sheet, 1e3 * row.stop[0]);
        rgSheet_Number(sheet, 1e3 * row.stop[1]);
        rgSheet_Number(sheet, 1e3 * row.lift);
        rgSheet_Number(sheet, 1e3 * row.creep[0]);
        rgSheet_Number(sheet, 1e3 * row.creep[1]);
        rgSheet_Number(sheet, 1e3 * row.sink);
        double expected = 0.5 / (rgMu * rgGravity);
        verdicts->coulomb[i] = fabs(row.stop[0] / expected - 1) < 0.01 &&
                               fabs(row.stop[1] / expected - 1) < 0.01 && row.lift < 1e-4;
        bool exact = fabs(row.stop[0] - 0.5 / (rgMu * rgGravity)) < 2e-6 &&
                     fabs(row.stop[1] - row.stop[0]) < 1e-6 && row.lift < 1e-7 &&
                     row.creep[1] < 1e-6 && row.sink < 1e-6;
        rgReport_Check(report, i > 0 || exact, "one cube in rigor does as it should");
    }
}

static bool rgRunWallCube(rgReport* report) {
    rgVerdicts verdicts = {0};
    bool good = rgRunWall(report, true, &verdicts) && rgRunWall(report, false, &verdicts);
    if (good) {
        rgRunCube(report, &verdicts);
    }
    rgReport_Note(report,
                  "Walls: 15 cubes, 1 kg below to 10^4 kg on top, two seconds (half a second for "
                  "Bullet with 1000 iterations, ODE direct and quick 200, DART, Drake, PhysX, "
                  "Rapier and Jolt); a wall stands "
                  "if no cube has gone further than 10 mm. "
                  "Penetration is computed from poses by one judge. Engines that step positions "
                  "with the new velocity stop after 101.437 mm in discrete time, half a step "
                  "early. The card house and Painleve's rod, for rigor alone, are rows of "
                  "physics-table.%s",
                  rgFindPeer("DART") != NULL ? "" : " DART is not built in.");
    if (rgPeerAt(1) == NULL) {
        rgReport_Conclude(report, "In rigor both walls stand and the cube obeys Coulomb in all "
                                  "directions; no other engine was built in.");
        return good;
    }
    int others = 0, stand = 0, coulomb = 0, both = 0;
    for (int i = 1; i < rg_engineCount; ++i) {
        others += rgTakesPart(report, &rgEngines[i]);
        stand += verdicts.stands[i];
        coulomb += verdicts.coulomb[i];
        both += verdicts.stands[i] && verdicts.coulomb[i];
    }
    rgReport_Conclude(
        report,
        "In rigor both walls stand (no cube moves by more than %.1g mm) and the cube obeys Coulomb "
        "in all directions. Of %d other settings of engines both walls stand in %d; in %d the cube "
        "stops within 1 %% in both directions without lifting off; both in %d. Faster than rigor "
        "on the pyramid: %s; on the straight wall: %s: a fixed number of sweeps, or contacts that "
        "yield, cost less than solving.",
        1e3 * verdicts.drift, others, stand, coulomb, both, rgPeerResults_Text(&verdicts.faster[0]),
        rgPeerResults_Text(&verdicts.faster[1]));
    return good;
}

const rgExperiment rgExperimentWallCube = {
    "wall-cube", "The wall, and one cube",
    "Do stacks with large mass ratios stand, and does one cube slide, stick and rest as it should?",
    "paper, Fig. 1, and past it", rgRunWallCube};
