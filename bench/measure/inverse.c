// rigor bench inverse: an arm slides its tool on a rigid wall with a wanted force, by inverse
// dynamics with exact friction and with the convex relaxation; and what a call costs, beside
// mj_inverse where MuJoCo was built in.
#include "inverse.h"
#include "measure.h"
#include "peers/mujoco.h"
#include "simulation.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define RG_TOOL_RADIUS 0.03

static int rgParseBenchInverse(int argc, char** argv, rgBenchInverseOptions* options) {
    *options = (rgBenchInverseOptions){.seconds = 2, .force = 20, .calls = 2000, .repeat = 5};
    int count = 0;
    const rgOption table[] = {
        {"--time", rg_optionNumber, &options->seconds, "seconds of sliding", "T", NULL, 1e-3, 1e3},
        {"--force", rg_optionNumber, &options->force, "wanted normal force [N]", "F", NULL, 0, 1e6},
        {"--calls", rg_optionInt, &options->calls, "calls per timing", "N", NULL, 10, 1e8},
        {"--repeat", rg_optionInt, &options->repeat, "timings, the least counts", "N", NULL, 1,
         1e4},
        {"--out", rg_optionText, &options->out,
         "folder for the curves: CSV, and PNG where Python has matplotlib", "DIR", NULL, 0, 0},
        {"--no-peer", rg_optionFlag, &options->noPeer, "rigor alone", NULL, NULL, 0, 0},
        {"--json", rg_optionFlag, &options->json, "print one JSON object", NULL, NULL, 0, 0},
    };
    const rgCommand command = {
        .name = "rigor bench inverse",
        .usage = "[OPTIONS]",
        .summary = "Inverse dynamics with contacts: the built-in arm, and the UR5 of $RIGOR_DATA\n"
                   "when it is there, slide on a rigid wall; and the time of a call.",
        .options = table,
        .optionCount = (int)(sizeof(table) / sizeof(table[0])),
    };
    return rgParseOptions(&command, argc, argv, &count);
}

// ---- arms

static rgResult rgMakeArm(rgWallRun* run) {
    rgWorldDef def = rgDefaultWorldDef();
    def.contact.tolerance = 1e-10;
    def.friction = 0.5; // at 0.7 a tool that slides upwards may jam or leave: the step has a choice
    rgDestroyWorld(run->world);
    rgDestroyModel(run->model);
    run->world = NULL;
    run->model = NULL;
    rgResult result = rgCompileModel(run->def, NULL, NULL, &run->model);
    return result == rg_ok ? rgCreateWorld(run->model, &def, NULL, &run->world) : result;
}

static bool rgLoadArm(rgWallRun* run) {
    run->name = "arm_wall";
    return rgLoadModelDef("arm_wall", NULL, NULL, &run->def) == rg_ok && rgMakeArm(run) == rg_ok &&
           rgWorld_Reset(run->world, (rgKeyId){1}) == rg_ok;
}

// A ball on the flange of the UR5 and a wall that it touches; the two meet nothing else.
static rgResult rgAddWall(rgWallRun* run, rgBodyId flange, const double* q) {
    rgShapeDef ball = rgDefaultShapeDef(), wall = rgDefaultShapeDef();
    ball.body = flange;
    ball.kind = rg_shapeSphere;
    ball.size = rgVec(RG_TOOL_RADIUS, 0, 0);
    ball.pose.p = rgVec(0, 0.11, 0);
    ball.group = ball.mask = 1u << 20;
    rgResult result = rgModelDef_AddShape(run->def, &ball, NULL);
    result = result == rg_ok ? rgMakeArm(run) : result;
    result = result == rg_ok ? rgWorld_SetState(run->world, q, NULL) : result;
    if (result != rg_ok) {
        return result;
    }
    rgVec3 tool = rgPose_Point(rgWorld_BodyPose(run->world, flange), ball.pose.p);
    wall.kind = rg_shapePlane;
    wall.pose.p = rgVec(tool.x + RG_TOOL_RADIUS, 0, 0);
    wall.pose.q = rgQuatFromAxisAngle(rgVec(0, 1, 0), -1.5707963267948966); // z to -x
    wall.group = wall.mask = 1u << 20;
    result = rgModelDef_AddShape(run->def, &wall, NULL);
    result = result == rg_ok ? rgMakeArm(run) : result;
    return result == rg_ok ? rgWorld_SetState(run->world, q, NULL) : result;
}

static bool rgLoadUr5(rgWallRun* run) {
    // The pose of our arm's key frame; this file counts two joints from another zero.
    const double quarter = 1.5707963267948966;
    const double q[rg_armDofs] = {
        0, 0.6 - quarter, 0.632932615071625, -1.23293261507163 - quarter, -quarter, 0};
    const char* data = getenv("RIGOR_DATA");
    char* path = rgCli_Format("%s/robots/ur5/ur5.xml", data != NULL ? data : "../shared/data");
    run->name = "ur5";
    bool good = access(path, R_OK) == 0 && rgLoadModelDef(path, NULL, NULL, &run->def) == rg_ok &&
                rgMakeArm(run) == rg_ok;
    if (good) {
        rgBodyId flange = rgModel_FindBody(run->model, "wrist_3_link");
        good = flange.index1 != 0 && rgModel_Info(run->model).qCount == rg_armDofs &&
               rgAddWall(run, flange, q) == rg_ok;
    }
    free(path);
    return good;
}

static void rgWallRun_Free(rgWallRun* run) {
    rgDestroyWorld(run->world);
    rgDestroyModel(run->model);
    rgDestroyModelDef(run->def);
}

// ---- the reference

typedef struct rgWallContact {
    double J[3][rg_armDofs];
    double bias; // gamma of the normal row
} rgWallContact;

// The one contact of the present state.
static bool rgReadWall(const rgWallRun* run, rgWallContact* wall) {
    int count = 0;
    if (rgWorld_Forward(run->world, NULL) != rg_ok) {
        return false;
    }
    const rgContact* contacts = rgWorld_Contacts(run->world, &count);
    const rgContactProblem* problem = rgWorld_Problem(run->world, NULL);
    const rgSparse* J = &problem->delassus.jacobian;
    if (count != 1 || problem->delassus.kind != rg_delassusVelocity) {
        return false;
    }
    *wall = (rgWallContact){0};
    int first = problem->rowCount - 3;
    for (int r = 0; r < 3; ++r) {
        for (int k = J->rowStart[first + r]; k < J->rowStart[first + r + 1]; ++k) {
            wall->J[r][J->column[k]] = J->value[k];
        }
    }
    double dt = rgWorld_TimeStep(run->world), gap = contacts[0].gap;
    wall->bias = gap > 0 ? gap / dt : gap / (11 * dt);
    return true;
}

static double rgDot6(const double* a, const double* b) {
    double sum = 0;
    for (int i = 0; i < rg_armDofs; ++i) {
        sum += a[i] * b[i];
    }
    return sum;
}

// The smallest v with J v = c: rows made orthogonal one after the other, refined once.
static void rgLeastVelocity(const rgWallContact* wall, const double* c, double* v) {
    double Q[3][rg_armDofs], L[3][3] = {{0}}, y[3];
    for (int r = 0; r < 3; ++r) {
        memcpy(Q[r], wall->J[r], sizeof(Q[r]));
        for (int s = 0; s < r; ++s) {
            L[r][s] = rgDot6(Q[r], Q[s]);
            for (int i = 0; i < rg_armDofs; ++i) {
                Q[r][i] -= L[r][s] * Q[s][i];
            }
        }
        L[r][r] = sqrt(rgDot6(Q[r], Q[r]));
        for (int i = 0; i < rg_armDofs; ++i) {
            Q[r][i] /= L[r][r];
        }
    }
    memset(v, 0, rg_armDofs * sizeof(double));
    for (int pass = 0; pass < 2; ++pass) {
        for (int r = 0; r < 3; ++r) {
            y[r] = c[r] - rgDot6(wall->J[r], v);
            for (int s = 0; s < r; ++s) {
                y[r] -= L[r][s] * y[s];
            }
            y[r] /= L[r][r];
        }
        for (int i = 0; i < rg_armDofs; ++i) {
            v[i] += Q[0][i] * y[0] + Q[1][i] * y[1] + Q[2][i] * y[2];
        }
    }
}

// ---- the experiment

typedef struct rgWallForces {
    double torque[rg_armDofs];
    double norm; // norm of the torque
    double normal, tangential;
    int iterations;
    rgInverseResult result;
} rgWallForces;

static bool rgAskWall(const rgWallRun* run, const rgInverseDef* def, const double* v,
                      rgWallForces* forces) {
    if (rgWorld_Inverse(run->world, def, v, &forces->result) != rg_ok) {
        return false;
    }
    memcpy(forces->torque, forces->result.force, sizeof(forces->torque));
    const double* impulse = rgWorld_Contacts(run->world, NULL)[0].impulse;
    double dt = rgWorld_TimeStep(run->world);
    forces->norm = sqrt(rgDot6(forces->torque, forces->torque));
    forces->normal = impulse[2] / dt;
    forces->tangential = hypot(impulse[0], impulse[1]) / dt;
    forces->iterations = forces->result.contact.iterationCount;
    return true;
}

static void rgWriteWallHeader(FILE* csv) {
    fputs("time", csv);
    for (int i = 0; i < rg_armDofs; ++i) {
        fprintf(csv, ",tau%d", i + 1);
    }
    fputs(",tau,normal,tangential,forward_normal,forward_tangential,iterations,residual,"
          "velocity_error,convex_tau,convex_normal,convex_iterations\n",
          csv);
}

static void rgWriteWallStep(FILE* csv, double time, const rgWallForces* exact,
                            const rgWallForces* convex, const double* forward, double error) {
    fprintf(csv, "%.9g", time);
    for (int i = 0; i < rg_armDofs; ++i) {
        fprintf(csv, ",%.9g", exact->torque[i]);
    }
    fprintf(csv, ",%.9g,%.9g,%.9g,%.9g,%.9g,%d,%.3g,%.3g,%.9g,%.9g,%d\n", exact->norm,
            exact->normal, exact->tangential, forward[0], forward[1], exact->iterations,
            exact->result.contact.residual.total, error, convex->norm, convex->normal,
            convex->iterations);
}

static int rgMost(int a, int b) {
    return a > b ? a : b;
}

static void rgWallRun_Add(rgWallRun* run, const rgWallForces* exact, const rgWallForces* normal,
                          const rgWallForces* convex) {
    run->steps += 1;
    run->iterationsMost = rgMost(run->iterationsMost, exact->iterations);
    run->iterationsNormal = rgMost(run->iterationsNormal, normal->iterations);
    run->unsolved += exact->result.contact.status != rg_contactSolved ||
                     normal->result.contact.status != rg_contactSolved;
    run->residual = fmax(run->residual, fmax(exact->result.contact.residual.total,
                                             normal->result.contact.residual.total));
    run->torqueMost = fmax(run->torqueMost, exact->norm);
    run->convexTorqueMost = fmax(run->convexTorqueMost, convex->norm);
    run->convexIterations += convex->iterations;
    run->convexUnsolved += convex->result.contact.status != rg_contactSolved;
}

// One step: exact, from the paper's start, convex; then the step that the exact forces drive.
static bool rgSlideStep(rgWallRun* run, const rgBenchInverseOptions* options) {
    rgWallContact wall;
    rgWallForces exact, normal, convex;
    double time = rgWorld_Time(run->world), dt = rgWorld_TimeStep(run->world), v[rg_armDofs];
    double angle = 6.283185307179586 * time / options->seconds;
    double speed = 0.1 * pow(sin(1.5707963267948966 * fmin(time / 0.1, 1)), 2) + 1e-4; // from rest
    double pressing[6] = {0, 0, dt * options->force, 0, 0, 0};
    if (!rgReadWall(run, &wall)) {
        rgCli_Error("%s: the tool has lost the wall at %g s", run->name, time);
        return false;
    }
    double c[3] = {speed * cos(angle), speed * sin(angle), -wall.bias};
    rgLeastVelocity(&wall, c, v);
    rgInverseDef def = rgDefaultInverseDef();
    def.start = rg_startForce;
    def.normalForce = options->force;
    rgInverseDef paper = def, relaxed = def;
    paper.snap = 0;
    paper.start = rg_startGiven;
    paper.impulses = pressing;
    paper.impulseCount = 1;
    relaxed.model = rg_modelCcp;
    if (!rgAskWall(run, &relaxed, v, &convex) || !rgAskWall(run, &paper, v, &normal) ||
        !rgAskWall(run, &def, v, &exact) || rgWorld_SetForce(run->world, exact.torque) != rg_ok ||
        rgWorld_Step(run->world, NULL) != rg_ok) {
        rgCli_Error("%s: a call failed at %g s", run->name, time);
        return false;
    }
    const double *after = rgWorld_Velocities(run->world, NULL),
                 *impulse = rgWorld_Contacts(run->world, NULL)[0].impulse;
    double forward[2] = {impulse[2] / dt, hypot(impulse[0], impulse[1]) / dt}, error = 0;
    for (int i = 0; i < rg_armDofs; ++i) {
        error = fmax(error, fabs(after[i] - v[i]));
    }
    rgWallRun_Add(run, &exact, &normal, &convex);
    run->velocityError = fmax(run->velocityError, error);
    run->forceError = fmax(run->forceError, fmax(fabs(forward[0] - exact.normal),
                                                 fabs(forward[1] - exact.tangential)));
    if (run->csv != NULL) {
        rgWriteWallStep(run->csv, time, &exact, &convex, forward, error);
    }
    return true;
}

static bool rgSlide(rgWallRun* run, const rgBenchInverseOptions* options) {
    char* path = NULL;
    if (options->out != NULL) {
        path = rgCli_Format("%s/inverse_%s.csv", options->out, run->name);
        run->csv = fopen(path, "w");
        if (run->csv == NULL) {
            rgCli_Error("%s: %s", path, strerror(errno));
            free(path);
            return false;
        }
        rgWriteWallHeader(run->csv);
    }
    bool good = true;
    double end = options->seconds - 0.5 * rgWorld_TimeStep(run->world);
    while (good && rgWorld_Time(run->world) < end) {
        good = rgSlideStep(run, options);
    }
    if (run->csv != NULL && fclose(run->csv) != 0) {
        rgCli_Error("%s: could not be written: %s", path, strerror(errno));
        good = false;
    }
    free(path);
    return good;
}

// ---- the plot

static const char plotScript[] =
    "import csv, sys\n"
    "import matplotlib\n"
    "matplotlib.use('Agg')\n"
    "import matplotlib.pyplot as plt\n"
    "rows = list(csv.DictReader(open(sys.argv[1])))\n"
    "get = lambda name: [float(r[name]) for r in rows]\n"
    "t = get('time')\n"
    "fig, ax = plt.subplots(2, 2, figsize=(9, 6), constrained_layout=True)\n"
    "for i in range(1, 7):\n"
    "    ax[0][0].plot(t, get(f'tau{i}'), label=f'joint {i}')\n"
    "ax[0][0].set(title='joint torques, NCP', ylabel='N m'); ax[0][0].legend(ncol=2, fontsize=7)\n"
    "ax[0][1].semilogy(t, get('tau'), label='NCP')\n"
    "ax[0][1].semilogy(t, get('convex_tau'), label='CCP')\n"
    "ax[0][1].set(title='norm of the torques', ylabel='N m'); ax[0][1].legend()\n"
    "for k, (a, b, n) in enumerate([('normal', 'forward_normal', 'normal'),\n"
    "                               ('tangential', 'forward_tangential', 'tangential')]):\n"
    "    ax[1][k].plot(t, get(a), label='inverse')\n"
    "    ax[1][k].plot(t, get(b), '--', label='forward')\n"
    "    top = 1.5 * max(get(a) + get(b) + [1e-9])\n"
    "    ax[1][k].set(title=n + ' contact force', xlabel='s', ylabel='N', ylim=(0, top))\n"
    "    ax[1][k].legend()\n"
    "fig.savefig(sys.argv[2], dpi=120)\n";

static bool rgPlot(const rgWallRun* run, const char* folder) {
    char* script = rgCli_Format("%s/inverse_plot.py", folder);
    FILE* file = fopen(script, "w");
    bool good = file != NULL && fputs(plotScript, file) >= 0;
    good = file != NULL && fclose(file) == 0 && good;
    for (int i = 0; good && i < 2; ++i) {
        char* command = rgCli_Format("%s '%s' '%s/inverse_%s.csv' '%s/inverse_%s.png' 2>/dev/null",
                                     i == 0 ? "python3" : "/usr/bin/python3", script, folder,
                                     run->name, folder, run->name);
        good = system(command) != 0;
        free(command);
    }
    bool plotted = file != NULL && !good;
    remove(script);
    free(script);
    return plotted;
}

// ---- cost of a call

static int rgCompareTimes(const void* a, const void* b) {
    double x = *(const double*)a, y = *(const double*)b;
    return (x > y) - (x < y);
}

static void rgTimeCalls(const rgBenchInverseOptions* options, rgWorld* world,
                        const rgInverseDef* def, const double* v, rgCallTime* time) {
    double* seconds = rgCli_Allocate((size_t)options->calls, sizeof(double));
    rgInverseResult result = {0};
    for (int repeat = 0; repeat < options->repeat; ++repeat) {
        for (int i = 0; i < options->calls; ++i) {
            if (rgWorld_Inverse(world, def, v, &result) != rg_ok) {
                free(seconds);
                return;
            }
            seconds[i] = result.seconds;
        }
        qsort(seconds, (size_t)options->calls, sizeof(double), rgCompareTimes);
        double median = seconds[options->calls / 2];
        time->least = repeat == 0 ? seconds[0] : fmin(time->least, seconds[0]);
        time->median = repeat == 0 ? median : fmin(time->median, median);
    }
    time->contactCount = result.contactCount;
    time->iterationCount = result.contact.iterationCount;
    free(seconds);
}

static void rgTimeWall(rgInverseBench* bench, rgWallRun* run) {
    rgWallContact wall;
    double v[rg_armDofs], pressing[6] = {0, 0, 0.02, 0, 0, 0}, c[3] = {0.1, 0, 0};
    if (!rgReadWall(run, &wall)) {
        return;
    }
    c[2] = -wall.bias;
    rgLeastVelocity(&wall, c, v);
    rgInverseDef def = rgDefaultInverseDef();
    def.start = rg_startGiven;
    def.impulses = pressing;
    def.impulseCount = 1;
    rgCallTime* time = &bench->times[bench->timeCount++];
    time->name = run->name;
    rgTimeCalls(&bench->options, run->world, &def, v, time);
}

// The humanoid, feet one millimetre in the floor so that MuJoCo sees its contacts too. All points
// slide, and start from their normal impulse alone: the proximal iteration has work to do.
static bool rgTimeHumanoid(rgInverseBench* bench) {
    rgWorldDef def = rgDefaultWorldDef();
    def.timeStep = 1e-3;
    rgModelDef* modelDef = NULL;
    rgModel* model = NULL;
    rgWorld* world = NULL;
    bool good = rgLoadModelDef("humanoid", NULL, NULL, &modelDef) == rg_ok &&
                rgCompileModel(modelDef, NULL, NULL, &model) == rg_ok &&
                rgCreateWorld(model, &def, NULL, &world) == rg_ok &&
                rgWorld_Reset(world, (rgKeyId){1}) == rg_ok;
    int nq = 0, count = 0;
    double q[rg_bodyDofs], v[rg_bodyDofs] = {0.1}, start[6 * rg_bodyDofs] = {0};
    if (good) {
        memcpy(q, rgWorld_Positions(world, &nq), (size_t)rgModel_Info(model).qCount * sizeof(q[0]));
        q[2] -= 1e-3;
        good = rgWorld_SetState(world, q, NULL) == rg_ok && rgWorld_Forward(world, NULL) == rg_ok;
    }
    if (good) {
        const rgContact* contacts = rgWorld_Contacts(world, &count);
        for (int i = 0; i < count && i < rg_bodyDofs; ++i) {
            start[6 * i + 2] = 0.1;
            v[2] = fmax(v[2], -contacts[i].gap / (11 * def.timeStep));
        }
        rgInverseDef inverse = rgDefaultInverseDef();
        inverse.start = rg_startGiven;
        inverse.impulses = start;
        inverse.impulseCount = count;
        rgCallTime* time = &bench->times[bench->timeCount++];
        time->name = "humanoid";
        rgTimeCalls(&bench->options, world, &inverse, v, time);
    }
    rgDestroyWorld(world);
    rgDestroyModel(model);
    rgDestroyModelDef(modelDef);
    return good;
}

// ---- MuJoCo

static void rgAskPeer(rgInverseBench* bench) {
    char path[] = "/tmp/rigor_humanoid_XXXXXX";
    const rgBuiltinModel* model = rgFindBuiltinModel("humanoid");
    int file = model != NULL ? mkstemp(path) : -1;
    if (file < 0) {
        return;
    }
    bool written = write(file, model->text, model->byteCount) == (ssize_t)model->byteCount;
    close(file);
    double seconds = 0;
    int contacts = 0;
    if (written && rgMujoco_TimeInverse(path, bench->options.calls, -0.001, &seconds, &contacts)) {
        bool first = bench->peerSeconds == 0;
        bench->peerSeconds = first ? seconds : fmin(bench->peerSeconds, seconds);
        bench->peerContacts = contacts;
    }
    remove(path);
}

// ---- results

static void rgPrintWall(const rgInverseBench* bench) {
    for (int i = 0; i < 2; ++i) {
        const rgWallRun* run = &bench->runs[i];
        if (!run->present) {
            continue;
        }
        printf("%s: %d steps on the wall with %g N\n", run->name, run->steps, bench->options.force);
        printf("  exact friction: at most %d iterations from the sliding ray, %d from a normal "
               "impulse; residual %.1e, %d unsolved; torque at most %.1f N m\n",
               run->iterationsMost, run->iterationsNormal, run->residual, run->unsolved,
               run->torqueMost);
        printf("  the step driven by it: velocity differs by %.1e rad/s, contact force by %.1e N\n",
               run->velocityError, run->forceError);
        printf("  convex relaxation: %d of %d steps infeasible, %.1f iterations, torque up to "
               "%.1e N m\n",
               run->convexUnsolved, run->steps, (double)run->convexIterations / run->steps,
               run->convexTorqueMost);
    }
}

static const rgCallTime* rgHumanoidTime(const rgInverseBench* bench) {
    const rgCallTime* last = &bench->times[bench->timeCount - 1];
    return bench->timeCount > 0 && strcmp(last->name, "humanoid") == 0 ? last : NULL;
}

static double rgPeerRatio(const rgInverseBench* bench) {
    const rgCallTime* own = rgHumanoidTime(bench);
    return own != NULL && bench->peerSeconds > 0 ? bench->peerSeconds / own->least : NAN;
}

static void rgPrintTimes(const rgInverseBench* bench) {
    static const char* const headers[] = {"call", "contacts", "iterations", "least", "median"};
    char text[16];
    rgTable table;
    rgTable_Init(&table, headers, 5);
    for (int i = 0; i < bench->timeCount; ++i) {
        const rgCallTime* time = &bench->times[i];
        rgTable_Add(&table, "%s", time->name);
        rgTable_Add(&table, "%d", time->contactCount);
        rgTable_Add(&table, "%d", time->iterationCount);
        rgTable_Add(&table, "%s", rgFormatSeconds(text, time->least));
        rgTable_Add(&table, "%s", rgFormatSeconds(text, time->median));
    }
    rgTable_Print(&table, stdout);
    rgTable_Free(&table);
    if (bench->peerSeconds > 0) {
        printf("mj_inverse (MuJoCo %s) on the same humanoid: %.0f contacts, least %s; ratio %.2f\n",
               bench->peer->version(), bench->peerContacts,
               rgFormatSeconds(text, bench->peerSeconds), rgPeerRatio(bench));
    }
    if (bench->options.out != NULL && !bench->plotted) {
        printf("no plot: Python with matplotlib was not found; the curves are in the CSV files\n");
    }
}

static void rgJsonWall(rgJson* json, const rgWallRun* run) {
    rgJson_BeginObject(json, NULL);
    rgJson_String(json, "name", run->name);
    rgJson_Int(json, "steps", run->steps);
    rgJson_Int(json, "iterations_max", run->iterationsMost);
    rgJson_Int(json, "iterations_max_from_normal", run->iterationsNormal);
    rgJson_Int(json, "unsolved", run->unsolved);
    rgJson_Number(json, "residual_max", run->residual);
    rgJson_Number(json, "torque_max", run->torqueMost);
    rgJson_Number(json, "velocity_error_max", run->velocityError);
    rgJson_Number(json, "contact_force_error_max", run->forceError);
    rgJson_Int(json, "convex_unsolved", run->convexUnsolved);
    rgJson_Number(json, "convex_torque_max", run->convexTorqueMost);
    rgJson_EndObject(json);
}

static void rgPrintInverseBenchJson(const rgInverseBench* bench) {
    rgJson json = {.out = stdout};
    rgJson_BeginObject(&json, NULL);
    rgJson_String(&json, "benchmark", "inverse");
    rgJson_Build(&json);
    rgJson_BeginArray(&json, "wall");
    for (int i = 0; i < 2; ++i) {
        if (bench->runs[i].present) {
            rgJsonWall(&json, &bench->runs[i]);
        }
    }
    rgJson_EndArray(&json);
    rgJson_BeginArray(&json, "calls");
    for (int i = 0; i < bench->timeCount; ++i) {
        const rgCallTime* time = &bench->times[i];
        rgJson_BeginObject(&json, NULL);
        rgJson_String(&json, "name", time->name);
        rgJson_Int(&json, "contacts", time->contactCount);
        rgJson_Int(&json, "iterations", time->iterationCount);
        rgJson_Number(&json, "seconds_min", time->least);
        rgJson_Number(&json, "seconds_median", time->median);
        rgJson_EndObject(&json);
    }
    rgJson_EndArray(&json);
    rgJson_String(&json, "mujoco", bench->peer != NULL ? bench->peer->version() : NULL);
    rgJson_Number(&json, "mujoco_seconds_min", bench->peerSeconds > 0 ? bench->peerSeconds : NAN);
    rgJson_Number(&json, "mujoco_contacts", bench->peerSeconds > 0 ? bench->peerContacts : NAN);
    rgJson_Number(&json, "ratio", rgPeerRatio(bench));
    rgJson_EndObject(&json);
}

bool rgInverseBench_Measure(rgInverseBench* bench) {
    const rgBenchInverseOptions* options = &bench->options;
    if (options->out != NULL && mkdir(options->out, 0777) != 0 && errno != EEXIST) {
        rgCli_Error("%s: %s", options->out, strerror(errno));
        return false;
    }
    bench->runs[0].present = rgLoadArm(&bench->runs[0]);
    bench->runs[1].present = rgLoadUr5(&bench->runs[1]);
    bool good = bench->runs[0].present;
    for (int i = 0; good && i < 2; ++i) {
        rgWallRun* run = &bench->runs[i];
        good = !run->present || rgSlide(run, options);
        if (good && run->present && options->out != NULL && !options->noPlot) {
            bench->plotted = rgPlot(run, options->out);
        }
        if (good && run->present) {
            rgTimeWall(bench, run);
        }
    }
    bench->peer = options->noPeer ? NULL : rgFindPeer("MuJoCo");
    // before and after ours, so that a busy moment does not decide
    for (int i = 0; good && bench->peer != NULL && i < options->repeat; ++i) {
        rgAskPeer(bench);
    }
    good = good && rgTimeHumanoid(bench);
    if (good && bench->peer != NULL) {
        rgAskPeer(bench);
    }
    return good;
}

void rgInverseBench_Free(rgInverseBench* bench) {
    for (int i = 0; i < 2; ++i) {
        rgWallRun_Free(&bench->runs[i]);
    }
}

int rgBench_Inverse(int argc, char** argv) {
    rgInverseBench bench = {0};
    int code = rgParseBenchInverse(argc, argv, &bench.options);
    if (code != RG_CLI_GO) {
        return code;
    }
    bool good = rgInverseBench_Measure(&bench);
    if (good && bench.options.json) {
        rgPrintInverseBenchJson(&bench);
    } else if (good) {
        rgPrintWall(&bench);
        rgPrintTimes(&bench);
    }
    rgInverseBench_Free(&bench);
    return good ? rg_exitDone : rg_exitNo;
}
