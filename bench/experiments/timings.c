// Contact solvers along trajectories of robotics systems: time per problem to 1e-4.
#include "dense_problem.h"
#include "peer_results.h"
#include "report/report.h"
#include "run.h"
#include "solver_peer.h"
#include "stats.h"
#include "trot.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const double rgTolerance = 1e-4, rgTimeStep = 1e-3;
enum { rg_iterationsMost = 1000, rg_problemsMost = 400 };

typedef struct rgWayDef {
    const char* label;
    const char* solver; // solver of rigor solve, or
    rgContactModel model;
    const char *peer, *method; // program and method of a peer
} rgWayDef;
static const rgWayDef rgWays[] = {
    {"rigor", "auto", rg_modelNcp, NULL, NULL},
    {"ADMM of the paper", "admm", rg_modelNcp, NULL, NULL},
    {"PGS", "pgs", rg_modelNcp, NULL, NULL},
    {"rigor, CCP", "auto", rg_modelCcp, NULL, NULL},
    {"ADMM, CCP", "admm", rg_modelCcp, NULL, NULL},
    {"PGS, CCP", "pgs", rg_modelCcp, NULL, NULL},
    {"SCS, CCP", NULL, rg_modelCcp, "SCS", ""},
    {"Pinocchio's ADMM", NULL, rg_modelNcp, "Pinocchio", "ADMM"},
    {"Pinocchio's ADMM, rho kept", NULL, rg_modelNcp, "Pinocchio", "ADMM preconditioned, rho kept"},
    {"Pinocchio's PGS, over-relaxed", NULL, rg_modelNcp, "Pinocchio", "PGS over-relaxed"},
    {"Siconos NSGS", NULL, rg_modelNcp, "Siconos", "NSGS"},
};
enum { rg_wayCount = sizeof(rgWays) / sizeof(rgWays[0]) };

typedef struct rgTrajectory {
    const char* label;
    bool substitute; // for a robot that is not there
    int count;
    rgDenseProblem problems[rg_problemsMost];
    double contacts;
} rgTrajectory;

static void rgKeep(rgTrajectory* trajectory, const rgContactProblem* problem) {
    if (problem == NULL || problem->rowCount == 0 || trajectory->count == rg_problemsMost) {
        return;
    }
    rgDenseProblem_Copy(&trajectory->problems[trajectory->count++], problem);
    for (int b = 0; b < problem->blockCount; ++b) {
        trajectory->contacts += problem->blocks[b].kind == rg_blockCoulomb;
    }
}

static void rgTrajectory_Free(rgTrajectory* trajectory) {
    for (int i = 0; i < trajectory->count; ++i) {
        rgDenseProblem_Free(&trajectory->problems[i]);
    }
    free(trajectory);
}

// ---- trajectories

typedef struct rgSystemDef {
    const char* label;
    const char* robot; // below RIGOR_DATA/robots, when it is there
    const char* scene; // built-in scene; NULL: the trot
    double first, last;
    int samples;
} rgSystemDef;
static const rgSystemDef rgSystems[] = {
    {"wall hit by a ball", NULL, "wall", 2.05, 2.6, 20},
    {"humanoid, falling", "talos/talos.xml", "humanoid", 0.3, 2, 100},
    {"hand and cubes", NULL, "hand", 0.15, 1.2, 100},
    {"quadruped, trotting", NULL, NULL, 0.2, 3.5, 150},
};

static bool rgMakeDef(const rgSystemDef* system, const rgSceneInfo** scene, rgModelDef** def) {
    const char* data = getenv("RIGOR_DATA");
    char* path = data != NULL && system->robot != NULL
                     ? rgCli_Format("%s/robots/%s", data, system->robot)
                     : NULL;
    rgResult result;
    *scene = NULL;
    if (system->scene == NULL) {
        result = rgBuildTrot(def);
    } else if (path != NULL && access(path, R_OK) == 0) {
        result = rgLoadModelDef(path, NULL, NULL, def);
    } else {
        *scene = rgFindScene(system->scene);
        result = rgBuildScene(*scene, NULL, NULL, def);
    }
    free(path);
    return result == rg_ok;
}

// Steps under the exact law, every so many of them kept.
static rgTrajectory* rgRecord(const rgSystemDef* system, int samples) {
    rgTrajectory* trajectory = rgCli_Allocate(1, sizeof(rgTrajectory));
    const rgSceneInfo* scene;
    rgModelDef* def = NULL;
    rgModel* model = NULL;
    rgWorld* world = NULL;
    rgWorldDef worldDef = rgDefaultWorldDef();
    rgTrot trot;
    worldDef.timeStep = rgTimeStep;
    trajectory->label = system->label;
    bool good = rgMakeDef(system, &scene, &def) &&
                rgCompileModel(def, NULL, NULL, &model) == rg_ok &&
                rgCreateWorld(model, &worldDef, NULL, &world) == rg_ok;
    trajectory->substitute = scene != NULL && system->robot != NULL;
    if (good && system->robot != NULL) {
        trajectory->label = scene == NULL ? "Talos, falling" : "humanoid, falling (substitute)";
    }
    if (good && scene != NULL) {
        good = rgScene_Start(scene, world) == rg_ok;
    } else if (good) {
        good = rgWorld_Reset(world, (rgKeyId){1}) == rg_ok;
    }
    good = good && (system->scene != NULL || rgTrot_Init(&trot, model));
    int begin = (int)(system->first / rgTimeStep), end = (int)(system->last / rgTimeStep);
    int every = (end - begin) / samples > 0 ? (end - begin) / samples : 1;
    for (int i = 0; i < end && good; ++i) {
        if (scene != NULL) {
            rgScene_Act(scene, world);
        } else if (system->scene == NULL) {
            rgTrot_Control(&trot, world);
        }
        good = rgWorld_Step(world, NULL) == rg_ok;
        if (good && i >= begin && (i - begin) % every == 0) {
            rgKeep(trajectory, rgWorld_Problem(world, NULL));
        }
    }
    rgDestroyWorld(world);
    rgDestroyModel(model);
    rgDestroyModelDef(def);
    return trajectory;
}

// ---- measuring

typedef struct rgTimes {
    double* seconds;
    double* residuals; // residuals of the exact problem
    double iterations;
    int solved; // 1e-4 of its own problem by the judge
    int count;
} rgTimes;

static void rgTimes_Add(rgTimes* times, const rgContactProblem* problem, rgContactModel model,
                        const double* lambda, double seconds, int iterations) {
    rgResidual own = {.total = INFINITY}, exact = own;
    rgContactProblem_Judge(problem, model, lambda, &own);
    rgContactProblem_Judge(problem, rg_modelNcp, lambda, &exact);
    times->seconds[times->count] = seconds;
    times->residuals[times->count++] = exact.total;
    times->iterations += iterations;
    times->solved += own.total <= rgTolerance;
}

static void rgTimeSolver(const rgWayDef* way, const rgTrajectory* trajectory, int repeat,
                         rgTimes* times) {
    rgContactSolverDef def = rgSolverDef(rgSolverIndex(way->solver, strlen(way->solver)));
    rgContactSolver* solver = NULL;
    def.model = way->model;
    def.tolerance = rgTolerance;
    def.maxIterations = rg_iterationsMost;
    if (rgCreateContactSolver(&def, &solver) != rg_ok) {
        return;
    }
    for (int i = 0; i < trajectory->count; ++i) {
        const rgContactProblem* problem = &trajectory->problems[i].problem;
        double* lambda = rgCli_Allocate((size_t)problem->rowCount, sizeof(double));
        rgRun run = {.seconds = INFINITY};
        for (int k = 0; k < repeat; ++k) {
            rgRun_Repeat(&run, solver, problem, NULL, lambda, NULL);
        }
        rgTimes_Add(times, problem, way->model, lambda, run.seconds, run.report.iterationCount);
        free(lambda);
    }
    rgDestroyContactSolver(solver);
}

// The least tolerance of its own that the judge accepts; a time without an answer does not count.
static bool rgTimePeer(const rgSolverPeer* peer, const rgTrajectory* trajectory, rgTimes* times,
                       char* fault, size_t faultSize) {
    const rgContactProblem** problems =
        rgCli_Allocate((size_t)trajectory->count, sizeof(rgContactProblem*));
    rgSolverAnswer* answers = rgCli_Allocate((size_t)trajectory->count, sizeof(rgSolverAnswer));
    for (int i = 0; i < trajectory->count; ++i) {
        problems[i] = &trajectory->problems[i].problem;
    }
    bool good = rgSolverPeer_SolveTruly(peer, problems, trajectory->count, rgTolerance,
                                        rg_iterationsMost, answers, NULL, fault, faultSize);
    for (int i = 0; i < trajectory->count; ++i) {
        if (good && answers[i].lambda != NULL) {
            rgTimes_Add(times, problems[i], peer->model, answers[i].lambda, answers[i].seconds,
                        answers[i].iterations);
        }
    }
    rgSolverAnswers_Free(answers, trajectory->count);
    free((void*)problems);
    free(answers);
    if (good && times->count == 0) {
        snprintf(fault, faultSize, "it takes none of these problems");
    }
    return times->count > 0;
}

static double rgWriteTimes(rgSheet* sheet, rgPlot* plot, const rgTrajectory* trajectory,
                           const rgWayDef* way, const rgTimes* times) {
    double mean = rgMeanOf(times->seconds, times->count);
    rgSheet_Text(sheet, "%s", trajectory->label);
    rgSheet_Number(sheet, trajectory->contacts / trajectory->count);
    rgSheet_Text(sheet, "%s", way->label);
    rgSheet_Number(sheet, 1e6 * mean);
    rgSheet_Number(sheet, 1e6 * rgQuantileOf(times->seconds, times->count, 0.5));
    rgSheet_Number(sheet, times->iterations / times->count);
    rgSheet_Text(sheet, "%d/%d", times->solved, times->count);
    rgSheet_Number(sheet, rgQuantileOf(times->residuals, times->count, 0.5));
    rgSheet_Number(sheet, rgQuantileOf(times->residuals, times->count, 1));
    char place[16];
    snprintf(place, sizeof(place), "%.*s", (int)strcspn(trajectory->label, " ,"),
             trajectory->label); // the first word
    rgPlot_Point(plot, rgPlot_Series(plot, way->label), rgPlot_Group(plot, place), 1e6 * mean);
    rgSheet_Text(sheet, "%s", "");
    return mean;
}

static void rgWriteFault(rgSheet* sheet, const rgTrajectory* trajectory, const char* label,
                         const char* fault) {
    rgSheet_Text(sheet, "%s", trajectory->label);
    rgSheet_Number(sheet, trajectory->contacts / trajectory->count);
    rgSheet_Text(sheet, "%s", label);
    for (int i = 0; i < 3; ++i) {
        rgSheet_Number(sheet, NAN);
    }
    rgSheet_Text(sheet, "-");
    rgSheet_Number(sheet, NAN);
    rgSheet_Number(sheet, NAN);
    rgSheet_Text(sheet, "%s", fault);
}

static bool rgRunTimings(rgReport* report) {
    rgSheet* sheet = rgReport_Table(report, "times", "Time per contact problem, cold, to 1e-4");
    rgSheet_Column(sheet, "system", NULL, NULL);
    rgSheet_Column(sheet, "contacts", NULL, "%.1f");
    rgSheet_Column(sheet, "solver", NULL, NULL);
    rgSheet_Column(sheet, "mean", "us", "%.1f");
    rgSheet_Column(sheet, "median", "us", "%.1f");
    rgSheet_Column(sheet, "iterations", NULL, "%.1f");
    rgSheet_Column(sheet, "solved", NULL, NULL);
    rgSheet_Column(sheet, "exact residual, median", NULL, "%.1e");
    rgSheet_Column(sheet, "largest", NULL, "%.1e");
    rgSheet_Column(sheet, "takes no part", NULL, NULL);
    rgPlot* plot = rgReport_Plot(report, &(rgPlotDef){.name = "means",
                                                      .title = "Mean time per contact problem",
                                                      .x = "",
                                                      .y = "time [us]",
                                                      .kind = rg_plotBars,
                                                      .logY = true});
    int systems = (int)(sizeof(rgSystems) / sizeof(rgSystems[0])), ahead = 0, compared = 0;
    bool substitutes = false;
    rgPeerResults faster = {0};
    for (int s = 0; s < systems; ++s) {
        int samples = rgReport_Pick(report, 4, rgSystems[s].samples, rg_problemsMost);
        rgReport_Progress(report, s, systems, rgSystems[s].label);
        rgTrajectory* trajectory = rgRecord(&rgSystems[s], samples);
        double own = NAN;
        rgReport_Check(report, trajectory->count > 0, "%s has contacts", rgSystems[s].label);
        for (int w = 0; w < rg_wayCount && trajectory->count > 0; ++w) {
            rgTimes times = {.seconds = rgCli_Allocate((size_t)trajectory->count, sizeof(double)),
                             .residuals =
                                 rgCli_Allocate((size_t)trajectory->count, sizeof(double))};
            char fault[256] = "";
            if (rgWays[w].solver == NULL) {
                const rgSolverPeer* peer = rgFindSolverPeer(rgWays[w].peer, rgWays[w].method);
                if (!rgTimePeer(peer, trajectory, &times, fault, sizeof(fault))) {
                    rgWriteFault(sheet, trajectory, rgWays[w].label, fault);
                }
            } else {
                rgTimeSolver(&rgWays[w], trajectory, rgReport_Pick(report, 1, 3, 5), &times);
            }
            if (times.count > 0) {
                double mean = rgWriteTimes(sheet, plot, trajectory, &rgWays[w], &times);
                own = w == 0 ? mean : own;
                compared += w == 1 || w == 2;
                ahead += (w == 1 || w == 2) && own <= mean;
                char who[120];
                snprintf(who, sizeof(who), "%s on %s", rgWays[w].label, trajectory->label);
                if (w > 0 && times.solved == times.count) {
                    rgPeerResults_Add(&faster, who, 1 / own, 1 / mean, NULL);
                }
                rgReport_Check(report, w > 0 || times.solved == times.count,
                               "%s: rigor solves %d of %d", trajectory->label, times.solved,
                               times.count);
            }
            free(times.seconds);
            free(times.residuals);
        }
        substitutes = substitutes || trajectory->substitute;
        rgTrajectory_Free(trajectory);
    }
    rgReport_Note(
        report,
        "Problems of every nth step of a trajectory under the exact law, as dense "
        "matrices, solved cold until the judge's residual of the solver's own problem "
        "(exact, or the convex relaxation) is 1e-4, or %d iterations are done. SCS, Pinocchio "
        "and Siconos run as native programs and stop by tests of their own, with the "
        "largest tolerance of 1e-4, 1e-5, ... that the judge accepts; their times are "
        "set-up and solve. \"rho kept\": with a preconditioner, from the penalty that the problem "
        "before ended with, as the authors' simulator does it. One definition of each solver for "
        "all systems. The quadruped's controller is a reactive trot on servos, where "
        "the paper has model-predictive control, on bumps on a slope of 20 degrees.%s",
        (int)rg_iterationsMost,
        substitutes ? " Measured on substitutes: there is no Talos (./setup data)." : "");
    rgReport_Conclude(
        report,
        "rigor solves every exact problem and is faster than the paper's ADMM and "
        "than PGS in %d of %d comparisons. Faster than it on the exact problem: %s%s.",
        ahead, compared, rgPeerResults_Text(&faster),
        strstr(faster.text, "CCP") != NULL ? " (CCP is the convex relaxation, another problem)"
                                           : "");
    return true;
}

const rgExperiment rgExperimentTimings = {
    "timings", "Timings on robotics systems",
    "How long does a contact problem take along trajectories of robots?", "paper, Fig. 5",
    rgRunTimings};
