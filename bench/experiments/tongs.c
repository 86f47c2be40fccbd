// A load between two levers: the least friction that holds it, which statics knows, by every
// engine. Weights on the levers press, so that no engine needs a servo.
#include "report/report.h"
#include "scene_text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double rgTimeStep = 1e-3, rgGravity = 9.81;
// Load: mass [kg] and half width [m]. Levers: distance of the hinge above the contact, and of the
// weight beside it [m]; weight, arm and pad [kg]; radius of the pad [m].
static const double rgLoad = 1, rgHalf = 0.03, rgHeight = 0.2, rgReach = 0.15;
static const double rgWeight = 2, rgPad = 0.1, rgRadius = 0.01;
static const double rgLeast = 0.6, rgMost = 2.4; // friction that is tried, over the exact one
static const double rgDropped = 0.01;            // it was let go [m]

typedef struct rgEngineDef {
    const char* peer;
    const char* variant;
    bool slow; // not in the quick pass
} rgEngineDef;
static const rgEngineDef rgEngines[] = {
    {"rigor", "", false},
    {"MuJoCo", "elliptic", false},
    {"MuJoCo", "pyramidal", false},
    {"MuJoCo", "elliptic near-rigid", false},
    {"MuJoCo", "pyramidal near-rigid", false},
    {"MuJoCo", "noslip", false},
    {"Drake", "SAP", true},
    {"Drake", "SAP near-rigid", true},
    {"Drake", "TAMSI", true},
    {"Bullet", "50 iterations", false},
    {"ODE", "direct", false},
    {"ODE", "direct aligned", false},
    {"DART", "", false},
    {"PhysX", "TGS", true},
    {"PhysX", "TGS 50 iterations", true},
    {"Rapier", "4 iterations", true},
    {"Rapier", "50 iterations", true},
    {"Jolt", "10 iterations", true},
    {"Jolt", "50 iterations", true},
};
enum { rg_engineCount = sizeof(rgEngines) / sizeof(rgEngines[0]) };

// Friction at which both pads together just carry the load: mu N 2 = m g, with N from the moments
// of weight and pad about the hinge. A vertical force at the contact has none. Gravity that is
// turned about the line of the contacts presses with its vertical part alone.
static double rgExactFriction(double turn) {
    double moment = (rgWeight * rgReach + rgPad * rgRadius) * rgGravity * cos(turn);
    return rgLoad * rgGravity * rgHeight / (2 * moment);
}

static bool rgMakeTongs(rgPeerScene* scene, double turn, double mu) {
    char* lever[2];
    for (int i = 0; i < 2; ++i) {
        double s = i == 0 ? -1 : 1;
        lever[i] = rgCli_Format(
            "<body name='lever_%d' pos='%.17g 0 %.17g'><joint type='hinge' axis='0 1 0'/>"
            "<geom type='sphere' size='%.17g' pos='%.17g 0 %.17g' mass='%.17g' "
            "friction='%.17g 0 0'/><geom type='sphere' size='0.02' pos='%.17g 0 0' mass='%.17g' "
            "contype='0' conaffinity='0'/></body>",
            i, s * rgHalf, rgHeight, rgRadius, s * rgRadius, -rgHeight, rgPad, mu, s * rgReach,
            rgWeight);
    }
    // Long along the pull, so that it does not leave the pads while it is watched.
    char* text = rgCli_Format("%s%s<body name='load'><freejoint/><geom type='box' size='%.17g 0.1 "
                              "0.1' mass='%.17g' friction='%.17g 0 0'/></body>",
                              lever[0], lever[1], rgHalf, rgLoad, mu);
    rgVec3 gravity = rgVec(0, -rgGravity * sin(turn), -rgGravity * cos(turn));
    bool good = rgPeerScene_Write(scene, "tongs", rgTimeStep, gravity, NULL, text);
    free(lever[0]);
    free(lever[1]);
    free(text);
    return good;
}

// Way of the load in the second part of the run, after `settle` steps; NAN: the engine takes no
// part or fails.
static double rgMeasureSlip(const rgEngineDef* engine, double turn, double mu, int steps,
                            char* fault, size_t faultSize) {
    rgPeerScene scene;
    rgPeerRun run = {0};
    double slip = NAN;
    if (rgMakeTongs(&scene, turn, mu)) {
        int settle = steps / 4, load = rgModel_FindBody(scene.model, "load").index1 - 1;
        rgPeerBody before = {.mass = NAN}, after = before;
        if (rgPeerRun_Begin(&run, rgFindPeer(engine->peer), engine->variant, &scene)) {
            run.peer->reset(run.world);
            for (int i = 0; i < steps && !run.failed; ++i) {
                run.failed = !run.peer->step(run.world);
                if (i + 1 == settle) {
                    run.failed = run.failed || !run.peer->body(run.world, load, &before);
                }
            }
            if (!run.failed && run.peer->body(run.world, load, &after)) {
                slip = rgLength(rgSub(after.pose.p, before.pose.p));
            }
        } else {
            snprintf(fault, faultSize, "%s", run.fault);
        }
    }
    rgPeerRun_End(&run);
    rgPeerScene_Free(&scene);
    return slip;
}

typedef struct rgHold {
    double least; // friction that holds over the exact one; NAN: none up to rgMost does
    double creep; // with 1.25 times the exact friction [m/s]
} rgHold;

static rgHold rgMeasureHold(const rgEngineDef* engine, double turn, int steps, int halvings,
                            char* fault, size_t faultSize) {
    double exact = rgExactFriction(turn), low = rgLeast, high = rgMost;
    rgHold hold = {.least = NAN, .creep = NAN};
    double slip = rgMeasureSlip(engine, turn, 1.25 * exact, steps, fault, faultSize);
    if (fault[0] != '\0') {
        return hold;
    }
    hold.creep = slip < rgDropped ? slip / (0.75 * steps * rgTimeStep) : INFINITY;
    if (!(slip < rgDropped)) {
        slip = rgMeasureSlip(engine, turn, rgMost * exact, steps, fault, faultSize);
        low = 1.25;
        if (!(slip < rgDropped)) {
            return hold;
        }
    } else {
        high = 1.25;
    }
    for (int i = 0; i < halvings; ++i) {
        double middle = 0.5 * (low + high);
        slip = rgMeasureSlip(engine, turn, middle * exact, steps, fault, faultSize);
        low = slip < rgDropped ? low : middle;
        high = slip < rgDropped ? middle : high;
    }
    hold.least = high;
    return hold;
}

static void rgWriteHold(rgSheet* sheet, const rgHold* hold, bool measured) {
    if (!measured) {
        rgSheet_Text(sheet, "%s", "");
        rgSheet_Text(sheet, "%s", "");
        return;
    }
    if (isfinite(hold->least)) {
        rgSheet_Text(sheet, "%.2f", hold->least);
    } else {
        rgSheet_Text(sheet, "more than %.1f", rgMost);
    }
    if (isfinite(hold->creep)) {
        rgSheet_Text(sheet, "%.2g", 1e3 * hold->creep);
    } else {
        rgSheet_Text(sheet, "falls");
    }
}

static bool rgRunTongs(rgReport* report) {
    static const double turns[2] = {0, 0.78539816339744831};
    bool quick = rgReport_Effort(report) == rg_effortQuick;
    int steps = rgReport_Pick(report, 400, 2000, 2000), halvings = rgReport_Pick(report, 2, 6, 9);
    rgSheet* sheet = rgReport_Table(report, "friction", "Least friction that holds a load of 1 kg");
    rgSheet_Column(sheet, "engine", NULL, NULL);
    rgSheet_Column(sheet, "least friction over the exact one", NULL, NULL);
    rgSheet_Column(sheet, "creep at 1.25 of it", "mm/s", NULL);
    rgSheet_Column(sheet, "pulled at 45 degrees: least friction", NULL, NULL);
    rgSheet_Column(sheet, "creep", "mm/s", NULL);
    rgSheet_Column(sheet, "takes no part", NULL, NULL);
    int others = 0, right = 0, unsafe = 0, weak = 0;
    rgHold own[2] = {{0}};
    for (int i = 0; i < rg_engineCount; ++i) {
        const rgEngineDef* engine = &rgEngines[i];
        char fault[256] = "";
        rgHold holds[2] = {{0}};
        rgReport_Progress(report, i, rg_engineCount, engine->peer);
        if (quick && engine->slow) {
            continue;
        }
        bool there = rgFindPeer(engine->peer) != NULL;
        if (!there) {
            snprintf(fault, sizeof(fault), "not installed: ./setup bench");
        }
        for (int k = 0; k < 2 && fault[0] == '\0'; ++k) {
            holds[k] = rgMeasureHold(engine, turns[k], steps, halvings, fault, sizeof(fault));
        }
        rgSheet_Text(sheet, "%s%s%s", engine->peer, engine->variant[0] != '\0' ? " " : "",
                     engine->variant);
        bool takesPart = fault[0] == '\0';
        for (int k = 0; k < 2; ++k) {
            rgWriteHold(sheet, &holds[k], takesPart);
        }
        rgSheet_Text(sheet, "%s", fault);
        if (i == 0) {
            memcpy(own, holds, sizeof(own));
        } else if (takesPart) {
            bool within = true, below = false, above = false;
            for (int k = 0; k < 2; ++k) {
                within = within && fabs(holds[k].least - 1) < 0.05 && holds[k].creep < 1e-4;
                below = below || holds[k].least < 0.95;
                above = above || !(holds[k].creep < 1e-4);
            }
            others += 1;
            right += within;
            unsafe += below;
            weak += above;
        }
    }
    double finest = (rgMost - rgLeast) / pow(2, halvings);
    for (int k = 0; k < 2; ++k) {
        rgReport_Check(
            report,
            quick || (own[k].least > 0.995 && own[k].least < 1.005 + finest && own[k].creep < 1e-8),
            "rigor holds from %.3f times the exact friction on, and creeps by %.1e m/s",
            own[k].least, own[k].creep);
    }
    rgReport_Note(report,
                  "Two levers with weights press spherical pads on a block; statics says which "
                  "friction just holds it: %.4f, and %.4f where gravity is turned by 45 degrees "
                  "about the line through the pads, so that the load pulls between the axes of "
                  "the contact frame. The least friction is found by halving between %.1f and %.1f "
                  "times the exact one; a load is held if it moves less than %.0f mm in the last "
                  "three quarters of %.3g s. Friction is the only thing that differs between runs; "
                  "settings are those of the other experiments.",
                  rgExactFriction(0), rgExactFriction(turns[1]), rgLeast, rgMost, 1e3 * rgDropped,
                  steps * rgTimeStep);
    if (others == 0) {
        rgReport_Conclude(report, "No other engine was built in.");
        return true;
    }
    rgReport_Conclude(
        report,
        "Which friction does a gripper need? rigor's answer is that of statics, to the %.0f %% of "
        "the search, along the axes of the contact frame and between them, and what is held stays. "
        "Of %d other settings of engines %d come within 5 %% without creep above 0.1 mm/s; %d hold "
        "what would fall, and %d let it fall or creep with a quarter more friction than needed.",
        100 * fmax(own[0].least - 1, own[1].least - 1), others, right, unsafe, weak);
    return true;
}

const rgExperiment rgExperimentTongs = {
    "tongs", "The least friction that holds",
    "Does a task come out right: which friction does a gripper need?", "past the paper",
    rgRunTongs};
