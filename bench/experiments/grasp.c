// Creep of what is held: a cube between two fingers, and a stack of cubes in a hand, for ten
// seconds each.
#include "peer_results.h"
#include "pose_judge.h"
#include "report/report.h"
#include "scratch.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const double rgTimeStep = 1e-3;
enum { rg_settle = 1000 };          // steps before drift counts
static const double rgLetGo = 1e-3; // what drifts faster is not held [m/s]

static const struct {
    const char* peer;
    const char* variant;
} rgEngines[] = {{"rigor", ""},
                 {"rigor", "ccp"},
                 {"MuJoCo", "elliptic"},
                 {"MuJoCo", "noslip"},
                 {"MuJoCo", "elliptic near-rigid"},
                 {"MuJoCo", "pyramidal"}};

static rgVec3 rgObjectAt(rgPeerRun* run, int object, int finger) {
    rgPeerBody a = {.mass = NAN}, b = {.mass = NAN};
    run->peer->body(run->world, object, &a);
    run->peer->body(run->world, finger, &b);
    return rgRotateBack(b.pose.q, rgSub(a.pose.p, b.pose.p));
}

// ---- a stack of cubes in a hand

enum { rg_cubeCount = 3, rg_fingerJoints = 16 };
static const double rgCubeHalf = 0.02, rgPalmTop = 0.0113, rgPalmMiddle = -0.05; // [m]
static const double rgCubeMasses[rg_cubeCount] = {0.02, 0.2, 2}; // bottom first [kg]
static const double rgTilt = 0.14;                               // of the palm, 8 degrees [rad]
// Joints of a finger, root first: where they start, and where their servos want to be [rad]. The
// last four are the thumb's.
static const double rgOpen[4] = {0, 0.5, 0.5, 0.4}, rgShut[4] = {0, 1.5, 1.2, 0.8};
static const double rgThumbOpen[4] = {0.8, 0.4, 0.4, 0.4}, rgThumbShut[4] = {1.2, 0.6, 1, 0.8};

// The palm of the Allegro hand looks along x and its fingers along z; turned, it looks up.
static rgPose rgPalmPose(void) {
    rgQuat up = rgQuatFromAxisAngle(rgVec(0, 1, 0), -acos(-1) / 2);
    return (rgPose){rgVec(0, 0, 0.3),
                    rgQuatMultiply(rgQuatFromAxisAngle(rgVec(1, 0, 0), rgTilt), up)};
}

static bool rgAddCubes(rgModelDef* def, rgPose palm) {
    static const char* const names[rg_cubeCount] = {"lower", "middle", "object"};
    bool good = true;
    for (int i = 0; i < rg_cubeCount; ++i) {
        rgBodyDef body = rgDefaultBodyDef();
        rgJointDef joint = rgDefaultJointDef();
        rgShapeDef shape = rgDefaultShapeDef();
        rgVec3 at = rgVec(rgPalmTop + (2 * i + 1) * rgCubeHalf, 0, rgPalmMiddle);
        body.name = names[i];
        body.pose = rgPoseMultiply(palm, (rgPose){at, {1, 0, 0, 0}});
        shape.kind = rg_shapeBox;
        shape.size = rgVec(rgCubeHalf, rgCubeHalf, rgCubeHalf);
        shape.material.mu = 0.7;
        body.inertia = rgInertiaFromShape(shape.kind, shape.size, rgCubeMasses[i]);
        joint.kind = rg_jointFree;
        good = good && rgModelDef_AddBody(def, &body, &joint.body) == rg_ok;
        shape.body = joint.body;
        good = good && rgModelDef_AddJoint(def, &joint, NULL) == rg_ok &&
               rgModelDef_AddShape(def, &shape, NULL) == rg_ok;
    }
    return good;
}

// A key frame of the fingers, with the cubes where they were put.
static bool rgAddStart(rgModelDef* def) {
    rgModel* model = NULL;
    double control[rg_fingerJoints];
    while (rgModelDef_Info(def).keyCount > 0 &&
           rgModelDef_RemoveKey(def, (rgKeyId){1}, NULL) == rg_ok) {
    }
    if (rgCompileModel(def, NULL, NULL, &model) != rg_ok ||
        rgModel_Info(model).actuatorCount != rg_fingerJoints) {
        rgDestroyModel(model);
        return false;
    }
    int count = rgModel_Info(model).qCount;
    double* q = rgCli_Allocate((size_t)count, sizeof(double));
    rgModel_NeutralConfiguration(model, q);
    for (int i = 0; i < rg_fingerJoints; ++i) {
        q[i] = (i < 12 ? rgOpen : rgThumbOpen)[i % 4];
        control[i] = (i < 12 ? rgShut : rgThumbShut)[i % 4];
    }
    rgKeyDef key = rgDefaultKeyDef();
    key.name = "hold";
    key.qCount = count;
    key.q = q;
    key.controlCount = rg_fingerJoints;
    key.control = control;
    bool good = rgModelDef_AddKey(def, &key, NULL) == rg_ok;
    free(q);
    rgDestroyModel(model);
    return good;
}

// Dampers of the joints instead of gains on their speed: links of 1e-6 kg m^2 with servos that damp
// explicitly burst in other engines at this time step.
static bool rgDampJoints(rgModelDef* def) {
    bool good = true;
    for (int i = rgModelDef_Info(def).jointCount; i > 0; --i) {
        rgJointDef joint = *rgModelDef_Joint(def, (rgJointId){i});
        joint.damping = 0.05; // [N m s/rad]
        good = good && (joint.kind != rg_jointRevolute ||
                        rgModelDef_SetJoint(def, (rgJointId){i}, &joint) == rg_ok);
    }
    return good;
}

// The Allegro hand of RIGOR_DATA, or the built-in hand in its place.
static bool rgMakeHand(rgModelDef** def, bool* substitute) {
    const char* data = getenv("RIGOR_DATA");
    char* path = data != NULL ? rgCli_Format("%s/robots/allegro/allegro.xml", data) : NULL;
    *substitute = path == NULL || access(path, R_OK) != 0;
    bool good = rgLoadModelDef(*substitute ? "hand" : path, NULL, NULL, def) == rg_ok;
    free(path);
    const char* palmName = *substitute ? "palm" : "palm_link";
    rgBodyId id = good ? rgModelDef_FindBody(*def, palmName) : (rgBodyId){0};
    good = id.index1 != 0;
    for (int i = good ? rgModelDef_Info(*def).bodyCount : 0; i > 0; --i) {
        const rgBodyDef* body = rgModelDef_Body(*def, (rgBodyId){i}); // the built-in one has cubes
        if (strncmp(body->name, "cube", 4) == 0) {
            good = good && rgModelDef_RemoveBody(*def, (rgBodyId){i}, NULL) == rg_ok;
        }
    }
    if (good) {
        rgBodyDef palm = *rgModelDef_Body(*def, id);
        palm.pose = rgPalmPose();
        good = rgModelDef_SetBody(*def, id, &palm) == rg_ok &&
               rgModelDef_AddServos(*def, 1, 0) == rg_ok && rgDampJoints(*def) &&
               rgAddCubes(*def, palm.pose) && rgAddStart(*def);
    }
    return good;
}

// ---- measuring

typedef struct rgHeld {
    const char *table, *title, *plot, *plotTitle;
    const char *object, *holder; // drift is that of one against the other
    double limit;                // creep of rigor that a check allows [m/s]
} rgHeld;

typedef struct rgGrasps {
    rgReport* report;
    const rgHeld* held;
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
    const rgHeld* held = all->held;
    const rgModel* model = run->scene->model;
    int object = rgModel_FindBody(model, held->object).index1 - 1;
    int holder = rgModel_FindBody(model, held->holder).index1 - 1;
    int series = rgPlot_Series(all->plot, run->label);
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
            start = rgObjectAt(run, object, holder);
        }
        moved = rgLength(rgSub(rgObjectAt(run, object, holder), start));
        if (i > rg_settle && (i + 1) % (steps / 50) == 0) {
            rgPlot_Point(all->plot, series, (i + 1) * rgTimeStep, 1e6 * moved);
            rgPoseJudge_Look(judge, run);
        }
    }
    int from = steps / 10 > rg_settle ? steps / 10 : rg_settle < steps ? rg_settle : steps / 10;
    double rate = moved / ((steps - from) * rgTimeStep);
    rgSheet_Text(all->sheet, "%s", run->label);
    rgSheet_Number(all->sheet, 1e6 * rate);
    rgSheet_Text(all->sheet, "%s", rate < rgLetGo ? "yes" : "no");
    rgSheet_Number(all->sheet, 1e3 * rgPoseJudge_Depths(judge).deepest);
    rgSheet_Number(all->sheet, steps / seconds);
    rgCompareGrasp(all, run, rate, steps / seconds);
    bool own = strcmp(run->label, "rigor") == 0;
    rgReport_Check(all->report, !own || rate < held->limit, "%s creeps at %.1e m/s in rigor",
                   held->object, rate);
    rgPoseJudge_Free(judge);
}

static void rgRunHeld(rgGrasps* all, const rgPeerScene* scene, int steps) {
    rgReport* report = all->report;
    int count = (int)(sizeof(rgEngines) / sizeof(rgEngines[0]));
    all->sheet = rgReport_Table(report, all->held->table, all->held->title);
    rgSheet_Column(all->sheet, "engine", NULL, NULL);
    rgSheet_Column(all->sheet, "drift", "um/s", "%.3g");
    rgSheet_Column(all->sheet, "stays", NULL, NULL);
    rgSheet_Column(all->sheet, "deepest", "mm", "%.3g");
    rgSheet_Column(all->sheet, "steps/s", NULL, "%.0f");
    all->plot = rgReport_Plot(report, &(rgPlotDef){.name = all->held->plot,
                                                   .title = all->held->plotTitle,
                                                   .x = "time [s]",
                                                   .y = "drift [um]",
                                                   .logY = true});
    for (int i = 0; i < count; ++i) {
        const rgPeer* peer = rgFindPeer(rgEngines[i].peer);
        rgPeerRun run = {0};
        if (peer == NULL) {
            continue;
        }
        rgReport_Progress(report, i, count, peer->name);
        if (rgPeerRun_Begin(&run, peer, rgEngines[i].variant, scene)) {
            rgWriteGrasp(all, &run, steps);
        } else {
            rgReport_Note(report, "%s: %s.", run.label, run.fault);
        }
        rgPeerRun_End(&run);
    }
}

// The stack after its ten seconds, if a browser is installed.
static void rgTakeStackPicture(rgReport* report, const rgPeerScene* scene) {
    char* scratch = rgMakeScratch();
    char* rigor = rgFindProgram();
    if (scratch != NULL && rigor != NULL) {
        char* picture = rgCli_Format("%s/hand.png", scratch);
        char* file = rgCli_Format("%s/hand.xml", scratch);
        char* command = rgCli_Format(
            "'%s' simulate '%s' --start key --dt 1e-3 --time 10 --record '%s/hand.h5' "
            "--record-every 100 >/dev/null 2>&1 && '%s' render '%s/hand.h5' '%s' --size 560x380 "
            "--show shadows --camera 0.25,-0.33,0.5,0.03,0,0.35 >/dev/null 2>&1",
            rigor, file, scratch, rigor, scratch, picture);
        if (rgSaveMjcf(scene->def, file, NULL) == rg_ok && system(command) == 0) {
            rgReport_Picture(report, picture, "The hand holds the stack after ten seconds, rigor");
        }
        free(command);
        free(file);
        free(picture);
    }
    free(rigor);
    rgRemoveScratch(scratch);
}

static bool rgRunGrasp(rgReport* report) {
    static const rgHeld helds[2] = {
        {"creep", "A cube of 45 g, held with 2 N at mu 1", "drift",
         "Way of the object past a finger", "object", "finger_right", 1e-8},
        {"stack", "Cubes of 20 g, 200 g and 2 kg on a palm that leans by 8 degrees", "stack_drift",
         "Way of the upper cube past the lower one", "object", "lower", 1e-8},
    };
    int steps = rgReport_Pick(report, 1500, 10000, 10000);
    rgGrasps all[2] = {{0}};
    bool substitute = true;
    for (int i = 0; i < 2; ++i) {
        rgPeerScene scene = {0};
        rgModelDef* def = NULL;
        all[i] = (rgGrasps){.report = report, .held = &helds[i], .least = NAN};
        bool good =
            i == 0 ? rgPeerScene_Load(&scene, "grasp", rgTimeStep)
                   : rgMakeHand(&def, &substitute) &&
                         rgPeerScene_Create(&scene, "hand and stack", def, rgTimeStep, NULL, NULL);
        if (good) {
            rgRunHeld(&all[i], &scene, steps);
        }
        if (good && i == 1 && rgReport_Effort(report) != rg_effortQuick) {
            rgTakeStackPicture(report, &scene);
        }
        rgPeerScene_Free(&scene);
        if (!good) {
            return rgReport_Fail(report, "the scene '%s' cannot be made", helds[i].table);
        }
    }
    rgReport_Note(report,
                  "Two fingers: friction can carry 4.5 times the weight. Stack: the fingers of %s "
                  "close around it by servos; heavy cubes lie on light ones. Drift is that of "
                  "the object against a finger, and of the upper cube against the lower one, after "
                  "the first %s; what drifts by less than 1 mm/s stays. noslip: MuJoCo with the "
                  "elliptic cone, impratio 10 and ten noslip iterations, as recommended against "
                  "creep. Bullet, ODE, DART and Drake take no part: they are given no servos here.",
                  substitute ? "the built-in hand (substitute: ./setup data)" : "the Allegro hand",
                  steps < 10000 ? "part of the run" : "second");
    if (all[0].who[0] == '\0') {
        rgReport_Conclude(report,
                          "The object drifts by %.0e um/s, the stack by %.0e; no other engine was "
                          "built in.",
                          1e6 * all[0].drift, 1e6 * all[1].drift);
        return true;
    }
    rgReport_Conclude(
        report,
        "What is held stays in rigor: a cube between two fingers drifts by %.0e um/s, "
        "the upper cube of a stack in a hand by %.0e um/s. Soft contacts creep without "
        "end, by %.2g um/s in the best other engine (%s), in the stack by %.2g um/s "
        "(%s). Faster than rigor: %s; on the stack: %s.",
        1e6 * all[0].drift, 1e6 * all[1].drift, 1e6 * all[0].least, all[0].who, 1e6 * all[1].least,
        all[1].who, rgPeerResults_Text(&all[0].faster), rgPeerResults_Text(&all[1].faster));
    return true;
}

const rgExperiment rgExperimentGrasp = {"grasp-creep", "Creep of what is held",
                                        "Do a cube between fingers and a stack in a hand stay "
                                        "where they are?",
                                        "past the paper; hand: Fig. 3", rgRunGrasp};
