// A simulation that someone watches: the loop in real time, and the commands of the page.
#include "live.h"

#include "run.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static const double frameSeconds = 1.0 / 60;
static const double springRate = 8; // [rad/s] of the spring that drags a body

typedef struct rgLive {
    rgSimulation* simulation;
    rgViewer* viewer;
    const rgLiveOptions* options;
    rgWorldDef def;
    rgStepReport report;
    bool isPaused;
    bool isStepAsked;
    bool isFailed; // a step could not be made; reset goes on
    double speed;
    double realTime;
    double *startQ, *startV; // state that reset restores
    rgBodyId dragged;        // by a spring from the grip to the target
    rgVec3 grip, target;
    rgBodyId pushed;
    rgVec3 force, torque; // on the pushed body
    bool isWatched;       // pause at anomalies and unsolved steps
    bool isStopped;       // that paused it
    int anomalies;        // known ones, bits of rgAnomalyFlag
    int dropCount;
    int warnings; // number of warnings on stderr, which is limited
} rgLive;

enum { rg_mostWarnings = 20 };

// Limit warnings: a page may send a faulty command again and again.
static void rgLive_Warn(rgLive* live, const char* what, rgResult result) {
    rgDiagnostics* said = live->simulation->loaded.diagnostics;
    if (live->warnings < rg_mostWarnings) {
        rgCli_PrintDiagnostics(said, stderr, false, false);
        rgCli_Print(stderr, "warning: %s: %s%s\n", what, rgResult_Name(result),
                    live->warnings + 1 == rg_mostWarnings ? "; further warnings are not printed"
                                                          : "");
    }
    live->warnings += 1;
    rgDiagnostics_Clear(said);
}

// ---- the server ----

static void rgOpenBrowser(const char* address) {
    if (getenv("DISPLAY") == NULL && getenv("WAYLAND_DISPLAY") == NULL) {
        return;
    }
    pid_t child = fork();
    if (child == 0) {
        if (freopen("/dev/null", "w", stderr) != NULL) {
            execlp("xdg-open", "xdg-open", address, (char*)NULL);
        }
        _exit(1);
    }
}

rgViewer* rgCli_StartViewer(const char* title, const char* address, int port) {
    rgViewerDef def = rgDefaultViewerDef();
    rgDiagnostics* diagnostics = NULL;
    rgViewer* viewer = NULL;
    def.title = title;
    def.address = address;
    def.port = port;
    def.solvers = rgSolverNames;
    rgCreateDiagnostics(NULL, &diagnostics);
    if (rgCreateViewer(&def, diagnostics, &viewer) != rg_ok) {
        rgCli_Error("%s", rgDiagnostics_Count(diagnostics) > 0
                              ? rgDiagnostics_Message(diagnostics, 0).text
                              : "no viewer can be started");
    }
    rgDestroyDiagnostics(diagnostics);
    rgCli_CatchInterrupt();
    return viewer;
}

void rgCli_PrintAddress(const rgViewer* viewer, const rgLiveOptions* options) {
    const char* address = options->address != NULL ? options->address : "localhost";
    char* url = rgCli_Format("http://%s:%d/", address, rgViewer_Port(viewer));
    if (options->json) {
        rgJson json = {.out = stdout};
        rgJson_BeginObject(&json, NULL);
        rgJson_String(&json, "title", options->title);
        rgJson_String(&json, "address", url);
        rgJson_EndObject(&json);
    } else {
        rgCli_Print(stdout, "%s is at %s (Ctrl-C ends it)\n", options->title, url);
    }
    fflush(stdout);
    if (options->open) {
        rgOpenBrowser(url);
    }
    free(url);
}

// ---- another world in the place of the old ----

static bool rgHasMoved(const rgLive* live, rgBodyId body) {
    rgSpatial v = rgWorld_BodyVelocity(live->simulation->world, body);
    return rgLength(v.linear) + rgLength(v.angular) > 0;
}

// Start a new world at the state of the old one. New coordinates keep their values of `q`.
static rgResult rgTransferState(rgLive* live, const rgModel* model, rgWorld* world, double* q,
                                double* v) {
    rgSimulation* s = live->simulation;
    rgResult result = s->scene != NULL ? rgScene_Start(s->scene, world) : rg_ok;
    int nq = 0, nv = 0, nu = 0;
    const double* oldQ = rgWorld_Positions(s->world, &nq);
    const double* oldV = rgWorld_Velocities(s->world, &nv);
    const double* control = rgWorld_Control(s->world, &nu);
    memcpy(q, oldQ, (size_t)nq * sizeof(double));
    memcpy(v, oldV, (size_t)nv * sizeof(double));
    result = result == rg_ok ? rgWorld_SetState(world, q, v) : result;
    result = result == rg_ok && nu > 0 ? rgWorld_SetControl(world, control) : result;
    result = result == rg_ok ? rgWorld_SetTime(world, rgWorld_Time(s->world)) : result;
    for (int i = 1; result == rg_ok && s->scene != NULL && i <= s->info.bodyCount; ++i) {
        rgBodyId body = {i};
        if (rgScene_Moves(s->scene, model, body) && rgHasMoved(live, body)) {
            result = rgWorld_EnableBody(world, body, true);
        }
    }
    return result;
}

// A world of this model and def; the old one stays where that fails.
static bool rgReplaceWorld(rgLive* live, rgModel* model, const rgWorldDef* def, double* q,
                           double* v) {
    rgSimulation* s = live->simulation;
    rgWorld* world = NULL;
    rgDiagnostics_Clear(s->loaded.diagnostics);
    rgResult result = rgCreateWorld(model, def, s->loaded.diagnostics, &world);
    result = result == rg_ok ? rgTransferState(live, model, world, q, v) : result;
    if (result != rg_ok) {
        rgLive_Warn(live, "the change is refused", result);
        rgDestroyWorld(world);
        return false;
    }
    rgDestroyWorld(s->world);
    s->world = world;
    live->def = *def;
    return true;
}

static void rgChangeDef(rgLive* live, const rgWorldDef* def) {
    rgModelInfo info = live->simulation->info;
    double* q = rgCli_Allocate((size_t)info.qCount + 1, sizeof(double));
    double* v = rgCli_Allocate((size_t)info.vCount + 1, sizeof(double));
    rgReplaceWorld(live, live->simulation->loaded.model, def, q, v);
    free(q);
    free(v);
}

// ---- dragging ----

static double rgTreeMass(const rgModel* model, rgBodyId body) {
    int root = body.index1;
    while (rgModel_Body(model, (rgBodyId){root})->parent.index1 != 0) {
        root = rgModel_Body(model, (rgBodyId){root})->parent.index1;
    }
    double mass = 0;
    for (int i = 1; i <= rgModel_Info(model).bodyCount; ++i) {
        int up = i;
        while (rgModel_Body(model, (rgBodyId){up})->parent.index1 != 0) {
            up = rgModel_Body(model, (rgBodyId){up})->parent.index1;
        }
        mass += up == root ? rgModel_Body(model, (rgBodyId){i})->inertia.mass : 0;
    }
    return mass;
}

// A spring as stiff as the whole robot needs, damped as the body needs.
static void rgPullDragged(rgLive* live) {
    rgWorld* world = live->simulation->world;
    if (live->dragged.index1 == 0) {
        return;
    }
    const rgModel* model = rgWorld_Model(world);
    const rgBodyDef* body = rgModel_Body(model, live->dragged);
    double mass = rgTreeMass(model, live->dragged);
    double stiffness = mass * springRate * springRate;
    double damping = 2 * sqrt(stiffness * fmin(fmax(body->inertia.mass, 0.01 * mass), mass));
    rgPose pose = rgWorld_BodyPose(world, live->dragged);
    rgSpatial v = rgWorld_BodyVelocity(world, live->dragged);
    rgVec3 grip = rgPose_Point(pose, live->grip);
    rgVec3 rate = rgAdd(v.linear, rgCross(v.angular, rgSub(grip, pose.p)));
    rgVec3 force = rgSub(rgScale(stiffness, rgSub(live->target, grip)), rgScale(damping, rate));
    rgWorld_ApplyForceAt(world, live->dragged, force, grip);
}

// Forces of the page, anew for each step. Wrenches of others stay where it has none.
static void rgPush(rgLive* live) {
    if (live->dragged.index1 > 0 || live->pushed.index1 > 0) {
        rgWorld_ClearWrenches(live->simulation->world);
        rgPullDragged(live);
    }
    if (live->pushed.index1 > 0) {
        rgWorld_ApplyWrench(live->simulation->world, live->pushed, live->force, live->torque);
    }
}

static void rgRelease(rgLive* live) {
    live->dragged = live->pushed = (rgBodyId){0};
    rgWorld_ClearWrenches(live->simulation->world);
}

// Pause after a step that was not solved, or with an anomaly that was not known.
static void rgWatch(rgLive* live) {
    int anomalies = rgWorld_Health(live->simulation->world).anomalies;
    const rgStepReport* report = &live->report;
    bool unsolved = report->rowCount > 0 && report->contact.status != rg_contactSolved;
    if (live->isWatched && (unsolved || (anomalies & ~live->anomalies) != 0)) {
        live->isPaused = live->isStopped = true;
    }
    live->anomalies = anomalies;
}

// ---- dropping ----

static rgResult rgAddDropped(rgLive* live, const rgViewerCommand* command, rgBodyId* added) {
    bool isBall = strcmp(command->text, "ball") == 0;
    double r = command->number;
    double volume = isBall ? 4.0 / 3 * 3.14159265358979 * r * r * r : 8 * r * r * r;
    double mass = 500 * volume;
    double moment = isBall ? 0.4 * mass * r * r : 2.0 / 3 * mass * r * r;
    char* name = rgCli_Format("dropped_%d", ++live->dropCount);
    rgBodyDef body = rgDefaultBodyDef();
    body.name = name;
    body.pose.p = command->point;
    body.inertia = (rgInertia){.mass = mass, .moment = {.xx = moment, .yy = moment, .zz = moment}};
    rgBodyId id = {0};
    rgModelDef* def = live->simulation->loaded.def;
    rgResult result = rgModelDef_AddBody(def, &body, &id);
    *added = id;
    rgJointDef joint = rgDefaultJointDef();
    joint.name = name;
    joint.body = id;
    joint.kind = rg_jointFree;
    rgShapeDef shape = rgDefaultShapeDef();
    shape.body = id;
    shape.kind = isBall ? rg_shapeSphere : rg_shapeBox;
    shape.size = rgVec(r, r, r);
    result = result == rg_ok ? rgModelDef_AddJoint(def, &joint, NULL) : result;
    result = result == rg_ok ? rgModelDef_AddShape(def, &shape, NULL) : result;
    free(name);
    return result;
}

// Room for seven more positions and six more velocities.
static double* rgExtend(const double* old, int count, int more) {
    double* grown = rgCli_Allocate((size_t)count + (size_t)more, sizeof(double));
    memcpy(grown, old, (size_t)count * sizeof(double));
    return grown;
}

// A body that could not be dropped does not stay in the definition, where the next would fail on
// it.
static void rgRemoveFailedBody(rgLive* live, rgBodyId body) {
    live->dropCount -= 1;
    if (body.index1 > 0) {
        (void)!rgModelDef_RemoveBody(live->simulation->loaded.def, body, NULL);
    }
}

static void rgDrop(rgLive* live, const rgViewerCommand* command) {
    rgSimulation* s = live->simulation;
    bool isKnown = strcmp(command->text, "ball") == 0 || strcmp(command->text, "box") == 0;
    if (!isKnown || live->dropCount >= 1000) {
        return;
    }
    rgModel* model = NULL;
    rgDiagnostics_Clear(s->loaded.diagnostics);
    rgBodyId body = {0};
    rgResult result = rgAddDropped(live, command, &body);
    if (result == rg_ok) {
        result = rgCompileModel(s->loaded.def, NULL, s->loaded.diagnostics, &model);
    }
    if (result != rg_ok) {
        rgLive_Warn(live, "nothing is dropped", result);
        rgRemoveFailedBody(live, body);
        return;
    }
    int nq = s->info.qCount, nv = s->info.vCount;
    double* q = rgExtend(live->startQ, nq, 7);
    double* v = rgExtend(live->startV, nv, 6);
    const double place[7] = {command->point.x, command->point.y, command->point.z, 1};
    memcpy(q + nq, place, sizeof(place));
    double* startQ = rgExtend(q, nq + 7, 0);
    double* startV = rgExtend(v, nv + 6, 0);
    if (rgReplaceWorld(live, model, &live->def, q, v)) {
        if (live->options->end != NULL) { // it still reads the old model
            live->options->end(live->options->context);
        }
        rgDestroyModel(s->loaded.model);
        s->loaded.model = model;
        s->info = rgModel_Info(model);
        free(live->startQ);
        free(live->startV);
        live->startQ = startQ;
        live->startV = startV;
        rgRelease(live);
        rgViewer_ShowWorld(live->viewer, s->world);
    } else {
        rgRemoveFailedBody(live, body);
        rgDestroyModel(model);
        free(startQ);
        free(startV);
    }
    free(q);
    free(v);
}

// ---- commands ----

static void rgResetLive(rgLive* live, int key) {
    rgSimulation* s = live->simulation;
    rgWorld_Reset(s->world, (rgKeyId){key >= 0 && key < s->info.keyCount ? key + 1 : 0});
    if (key < 0) {
        if (s->scene != NULL) {
            rgScene_Start(s->scene, s->world);
        }
        rgWorld_SetState(s->world, live->startQ, live->startV);
    }
    rgWorld_SetTime(s->world, 0);
    rgRelease(live);
    live->report = (rgStepReport){0};
    live->isFailed = false;
}

static void rgChangeSettings(rgLive* live, const rgViewerCommand* command) {
    rgWorldDef def = live->def;
    if (command->kind == rg_commandGravity) {
        def.hasGravity = true;
        def.gravity = command->point;
    } else if (command->kind == rg_commandFriction) {
        def.friction = command->number;
    } else {
        def.stiffness = command->number;
        def.damping = 10 * rgWorld_TimeStep(live->simulation->world) * command->number;
    }
    rgResult result =
        rgWorld_ChangeSettings(live->simulation->world, &def, live->simulation->loaded.diagnostics);
    if (result == rg_ok) {
        live->def = def;
    } else {
        rgLive_Warn(live, "the change is refused", result);
    }
}

static void rgChangeSolver(rgLive* live, const char* name) {
    int solver = rgSolverIndex(name, strlen(name));
    if (solver >= 0) {
        rgWorldDef def = live->def;
        rgContactSolverDef contact = rgSolverDef(solver);
        contact.maxIterations = def.contact.maxIterations;
        contact.tolerance = def.contact.tolerance;
        contact.splitIslands = def.contact.splitIslands;
        contact.tasks = def.contact.tasks;
        def.contact = contact;
        rgChangeDef(live, &def);
    }
}

static void rgChangeTimeStep(rgLive* live, double timeStep) {
    if (timeStep >= 1e-6 && timeStep <= 0.1) {
        rgWorldDef def = live->def;
        def.timeStep = timeStep;
        rgChangeDef(live, &def);
    }
}

static void rgPoseJoint(rgLive* live, int index, double value) {
    rgSimulation* s = live->simulation;
    if (index >= s->info.qCount) {
        return;
    }
    double* q = rgExtend(rgWorld_Positions(s->world, NULL), s->info.qCount, 0);
    q[index] = value;
    rgWorld_SetState(s->world, q, NULL);
    live->isPaused = true;
    free(q);
}

static void rgRunCommand(rgLive* live, const rgViewerCommand* command) {
    switch (command->kind) {
    case rg_commandPause:
    case rg_commandPlay:
        live->isPaused = command->kind == rg_commandPause;
        live->isStopped = false;
        break;
    case rg_commandStep:
        live->isPaused = live->isStepAsked = true;
        break;
    case rg_commandReset:
        rgResetLive(live, (int)command->number);
        break;
    case rg_commandGravity:
    case rg_commandFriction:
    case rg_commandStiffness:
        rgChangeSettings(live, command);
        break;
    case rg_commandTimeStep:
        rgChangeTimeStep(live, command->number);
        break;
    case rg_commandSpeed:
        live->speed = fmin(fmax(command->number, 1e-3), 1e3);
        break;
    case rg_commandSolver:
        rgChangeSolver(live, command->text);
        break;
    case rg_commandDrag:
        if (command->body.index1 <= live->simulation->info.bodyCount) {
            live->dragged = command->body;
            live->grip = command->point;
            live->target = command->target;
        }
        break;
    case rg_commandRelease:
        rgRelease(live);
        break;
    case rg_commandWrench:
        if (command->body.index1 <= live->simulation->info.bodyCount) {
            live->pushed = command->body;
            live->force = command->point;
            live->torque = command->target;
        }
        break;
    case rg_commandWatch:
        live->isWatched = command->number > 0;
        break;
    case rg_commandDrop:
        rgDrop(live, command);
        break;
    case rg_commandPose:
        rgPoseJoint(live, command->index, command->number);
        break;
    case rg_commandControl:
        rgWorld_SetActuatorControl(live->simulation->world, (rgActuatorId){command->index + 1},
                                   command->number);
        break;
    case rg_commandNone:
        break;
    }
}

// ---- the loop ----

static bool rgStepLive(rgLive* live) {
    rgSimulation* s = live->simulation;
    rgResult result = s->scene != NULL ? rgScene_Act(s->scene, s->world) : rg_ok;
    rgPush(live);
    if (live->options->begin != NULL) {
        live->options->begin(live->options->context);
    }
    result = result == rg_ok ? rgWorld_Step(s->world, &live->report) : result;
    if (result != rg_ok) {
        char what[80];
        snprintf(what, sizeof(what), "the step at %g s failed; reset goes on",
                 rgWorld_Time(s->world));
        rgLive_Warn(live, what, result);
        live->isFailed = live->isPaused = true;
        return false;
    }
    if (live->options->keep != NULL) {
        live->options->keep(live->options->context, &live->report);
    }
    rgWatch(live);
    return true;
}

// Steps until the simulation is as far as the clock, or a frame's time is over.
static void rgStepUntil(rgLive* live, double begin, double due) {
    rgWorld* world = live->simulation->world;
    while (!live->isPaused && rgWorld_Time(world) < due &&
           rgCli_Seconds() - begin < 0.8 * frameSeconds) {
        if (!rgStepLive(live)) {
            return;
        }
        world = live->simulation->world;
    }
}

static void rgSleepUntil(double when) {
    double wait = when - rgCli_Seconds();
    if (wait > 0) {
        struct timespec pause = {.tv_nsec = (long)(1e9 * fmin(wait, 0.9))};
        nanosleep(&pause, NULL);
    }
}

static void rgRunLoop(rgLive* live) {
    double next = rgCli_Seconds();
    double wallMark = next, timeMark = rgWorld_Time(live->simulation->world);
    double lastWall = next;
    double due = timeMark;
    double lastSent = 0;
    while (!rgCli_IsInterrupted() &&
           (live->options->time == 0 ||
            rgWorld_Time(live->simulation->world) < live->options->time - 1e-9)) {
        double now = rgCli_Seconds();
        rgViewerCommand command;
        bool changed = false;
        while (rgViewer_NextCommand(live->viewer, &command)) {
            rgRunCommand(live, &command);
            changed = true;
        }
        double time = rgWorld_Time(live->simulation->world);
        // Never run after lost time: a tenth of a second at most is caught up.
        due = live->isPaused ? time
                             : fmin(due + live->speed * (now - lastWall), time + 0.1 * live->speed);
        due = fmax(due, time);
        lastWall = now;
        rgStepUntil(live, now, due);
        if (live->isStepAsked) {
            live->isStepAsked = false;
            changed = !live->isFailed && rgStepLive(live);
        }
        double wall = now - wallMark;
        double later = rgWorld_Time(live->simulation->world);
        if (wall > 0.5 || later < timeMark) {
            live->realTime = fmax(later - timeMark, 0) / fmax(wall, 1e-9);
            wallMark = now;
            timeMark = later;
        }
        if (!live->isPaused || changed || now - lastSent > 1) {
            rgViewerState state = {.realTime = live->realTime,
                                   .isPaused = live->isPaused,
                                   .isStopped = live->isStopped};
            if (rgViewer_ClientCount(live->viewer) > 0) {
                rgViewer_Update(live->viewer, live->simulation->world, &live->report, &state);
            }
            lastSent = now;
        }
        next = fmax(next + frameSeconds, rgCli_Seconds());
        rgSleepUntil(next);
    }
}

int rgCli_RunLive(rgSimulation* simulation, const rgLiveOptions* options) {
    rgLive live = {
        .simulation = simulation, .options = options, .def = simulation->def, .speed = 1};
    live.viewer = rgCli_StartViewer(options->title, options->address, options->port);
    if (live.viewer == NULL || rgViewer_ShowWorld(live.viewer, simulation->world) != rg_ok) {
        rgDestroyViewer(live.viewer);
        return rg_exitUsage;
    }
    live.startQ = rgExtend(rgWorld_Positions(simulation->world, NULL), simulation->info.qCount, 0);
    live.startV = rgExtend(rgWorld_Velocities(simulation->world, NULL), simulation->info.vCount, 0);
    rgCli_PrintAddress(live.viewer, options);
    rgRunLoop(&live);
    rgDestroyViewer(live.viewer);
    free(live.startQ);
    free(live.startV);
    return rg_exitDone;
}
