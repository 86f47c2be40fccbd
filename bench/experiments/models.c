// Contact models side by side: the same problems solved under the laws of other engines, and which
// part of contact mechanics each gives up.
#include "cases.h"
#include "peer_results.h"
#include "report/report.h"
#include "run.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct rgLawDef {
    const char* name;
    const char* engines;
    rgContactModel model;
    rgContactMethod method;
} rgLawDef;

static const rgLawDef rgLaws[] = {
    {"NCP", "rigor", rg_modelNcp, rg_methodAuto},
    {"CCP", "MuJoCo, Drake, made rigid", rg_modelCcp, rg_methodAuto},
    {"LCP, 4 sides, PGS", "ODE quick, PhysX", rg_modelLcp4, rg_methodPgs},
    {"LCP, 4 sides, pivots", "ODE, DART", rg_modelLcp4, rg_methodPivot},
    {"LCP, 8 sides, PGS", "", rg_modelLcp8, rg_methodPgs},
    {"LCP, 8 sides, pivots", "", rg_modelLcp8, rg_methodPivot},
    {"NCP, PGS", "Bullet", rg_modelNcp, rg_methodPgs},
    {"per-contact bisection", "RaiSim", rg_modelNcp, rg_methodBisection},
    {"NCP, interior point on Jordan products", "Dojo", rg_modelNcp, rg_methodDojo},
    {"NCP, staggered projections", "", rg_modelNcp, rg_methodStaggered},
};
enum { rg_lawCount = sizeof(rgLaws) / sizeof(rgLaws[0]), rg_iterationsMost = 1000 };

// Violations of the contact laws by one model, over all problems of one kind.
typedef struct rgBreach {
    int problems, solved; // by its own law
    double signorini;     // largest normal error over V of the judge
    double cone;          // friction beyond mu lambda_n, over it, largest
    double wanted, got;   // dissipation of sliding contacts: by maximum dissipation, and actual [J]
    double angle;         // largest between friction and the direction against the slip [rad]
    double work;          // work of the contacts [J]
    double residual;      // largest residual of the exact problem
    double logTime;
} rgBreach;

typedef struct rgModels {
    rgReport* report;
    rgContactSolver* solvers[rg_lawCount];
    rgBreach breaches[rg_lawCount];
    double logTimes[rg_lawCount]; // log times of all problems
    int problems;
    double *lambda, *sigma;
    int capacity;
} rgModels;

static const double rgSlides = 1e-3; // share of V: slower contacts stick, weaker ones are unloaded

static void rgBreach_AddContact(rgBreach* breach, double mu, double yield, double V,
                                const double* l, const double* s) {
    double slip = hypot(s[0], s[1]), friction = hypot(l[0], l[1]);
    double normal = fmin(s[2], l[2] * yield);
    breach->signorini = fmax(breach->signorini, fabs(normal) / V);
    if (l[2] * yield < rgSlides * V) {
        return;
    }
    breach->cone = mu > 0 ? fmax(breach->cone, friction / (mu * l[2]) - 1) : breach->cone;
    if (slip > rgSlides * V && mu > 0) {
        double brakes = -(l[0] * s[0] + l[1] * s[1]);
        breach->wanted += mu * l[2] * slip;
        breach->got += brakes;
        double cosine = friction > 0 ? brakes / (friction * slip) : 0;
        breach->angle = fmax(breach->angle, acos(fmax(-1, fmin(1, cosine))));
    }
}

// G_nn of a contact, by its response to a unit of impulse.
static double rgMeanYield(const rgContactProblem* problem, const rgBlock* block, double* unit,
                          double* response) {
    double sum = 0;
    memset(unit, 0, (size_t)problem->rowCount * sizeof(double));
    unit[block->firstRow + 2] = 1;
    rgContactProblem_Velocity(problem, unit, response);
    sum = response[block->firstRow + 2] - problem->freeVelocity[block->firstRow + 2];
    return sum;
}

static void rgModels_Measure(rgModels* all, int law, const rgContactProblem* problem,
                             const double* yields) {
    rgBreach* breach = &all->breaches[law];
    rgContactReport report = {0};
    rgResidual exact;
    memset(all->lambda, 0, (size_t)problem->rowCount * sizeof(double));
    double begin = rgCli_ThreadSeconds();
    rgContactSolver_Solve(all->solvers[law], problem, all->lambda, all->sigma, &report);
    breach->logTime += log(rgCli_ThreadSeconds() - begin + 1e-9);
    rgContactProblem_Judge(problem, rg_modelNcp, all->lambda, &exact);
    breach->problems += 1;
    breach->solved += report.status == rg_contactSolved;
    breach->residual = fmax(breach->residual, exact.total);
    double V = exact.reference > 0 ? exact.reference : report.residual.reference;
    for (int b = 0; b < problem->blockCount && V > 0; ++b) {
        const rgBlock* block = &problem->blocks[b];
        if (block->kind == rg_blockCoulomb) {
            rgBreach_AddContact(breach, block->mu, yields[b], V, all->lambda + block->firstRow,
                                all->sigma + block->firstRow);
        }
    }
    for (int i = 0; i < problem->rowCount; ++i) {
        breach->work += 0.5 * all->lambda[i] * (all->sigma[i] + problem->freeVelocity[i]);
    }
}

static void rgModels_Add(rgModels* all, const rgContactProblem* problem) {
    if (problem == NULL || problem->rowCount == 0) {
        return;
    }
    if (problem->rowCount > all->capacity) {
        all->capacity = problem->rowCount;
        all->lambda = rgCli_Grow(all->lambda, (size_t)all->capacity, sizeof(double));
        all->sigma = rgCli_Grow(all->sigma, (size_t)all->capacity, sizeof(double));
    }
    double* yields = rgCli_Allocate((size_t)problem->blockCount, sizeof(double));
    for (int b = 0; b < problem->blockCount; ++b) {
        if (problem->blocks[b].kind == rg_blockCoulomb) {
            yields[b] = rgMeanYield(problem, &problem->blocks[b], all->lambda, all->sigma);
        }
    }
    for (int law = 0; law < rg_lawCount; ++law) {
        rgModels_Measure(all, law, problem, yields);
    }
    free(yields);
}

// ---- problems

// Steps of a scene under the exact law; every so many of them is solved under all.
static void rgModels_AddScene(rgModels* all, const char* name, double first, double last,
                              int samples) {
    const rgSceneInfo* scene = rgFindScene(name);
    rgModelDef* def = NULL;
    rgModel* model = NULL;
    rgWorld* world = NULL;
    rgWorldDef worldDef = rgDefaultWorldDef();
    worldDef.timeStep = 1e-3;
    if (rgBuildScene(scene, NULL, NULL, &def) == rg_ok &&
        rgCompileModel(def, NULL, NULL, &model) == rg_ok &&
        rgCreateWorld(model, &worldDef, NULL, &world) == rg_ok &&
        rgScene_Start(scene, world) == rg_ok) {
        int begin = (int)(1000 * first), end = (int)(1000 * last);
        int every = (end - begin) / samples > 0 ? (end - begin) / samples : 1;
        for (int i = 0; i < end; ++i) {
            rgScene_Act(scene, world);
            if (rgWorld_Step(world, NULL) != rg_ok) {
                break;
            }
            if (i >= begin && (i - begin) % every == 0) {
                rgModels_Add(all, rgWorld_Problem(world, NULL));
            }
        }
    }
    rgDestroyWorld(world);
    rgDestroyModel(model);
    rgDestroyModelDef(def);
}

static void rgModels_AddFiles(rgModels* all, int contactsMost) {
    const char* data = getenv("RIGOR_DATA");
    char* folder = data != NULL ? rgCli_Format("%s/fclib", data) : NULL;
    rgCaseFiles files = {0};
    if (folder != NULL && access(folder, R_OK) == 0 && rgFindCases(&folder, 1, &files)) {
        for (int i = 0; i < files.count; ++i) {
            rgFclibProblem* loaded = NULL;
            if (rgLoadFclib(files.files[i].path, NULL, NULL, &loaded) == rg_ok) {
                const rgContactProblem* problem = rgFclibProblem_Problem(loaded);
                if (problem->blockCount <= contactsMost) {
                    rgModels_Add(all, problem);
                }
            }
            rgDestroyFclibProblem(loaded);
        }
    }
    rgCaseFiles_Free(&files);
    free(folder);
}

// ---- tables

static void rgModels_Write(rgModels* all, rgSheet* sheet, const char* problems) {
    const rgBreach* exact = &all->breaches[0];
    for (int law = 0; law < rg_lawCount && exact->problems > 0; ++law) {
        const rgBreach* breach = &all->breaches[law];
        rgSheet_Text(sheet, "%s", problems);
        rgSheet_Text(sheet, "%s", rgLaws[law].name);
        rgSheet_Text(sheet, "%d/%d", breach->solved, breach->problems);
        rgSheet_Number(sheet, 100 * breach->signorini);
        rgSheet_Number(sheet, 100 * breach->cone);
        rgSheet_Number(sheet, breach->wanted > 0 ? 100 * (1 - breach->got / breach->wanted) : NAN);
        rgSheet_Number(sheet, breach->wanted > 0 ? breach->angle * 180 / acos(-1) : NAN);
        rgSheet_Number(sheet, 100 * (breach->work / exact->work - 1));
        rgSheet_Number(sheet, breach->residual);
        rgSheet_Number(sheet, 1e6 * exp(breach->logTime / breach->problems));
        all->logTimes[law] += breach->logTime;
    }
    all->problems += exact->problems;
    rgReport_Check(all->report,
                   exact->problems == 0 ||
                       (exact->solved == exact->problems && exact->signorini < 1e-5 &&
                        exact->cone < 1e-5 && exact->residual <= 1e-6),
                   "%s: the exact law holds in all problems", problems);
    memset(all->breaches, 0, sizeof(all->breaches));
}

typedef struct rgSlide {
    double distance, rise;
} rgSlide;

// A cube of 0.2 m and 1 kg, mu 0.5, at 1 m/s along an angle.
static rgSlide rgSlideUnder(const rgLawDef* law, double angle) {
    static const char text[] =
        "<mujoco><worldbody><geom type='plane' size='0 0 1' friction='0.5 0 0'/><body name='cube' "
        "pos='0 0 0.1'><freejoint/><geom type='box' size='0.1 0.1 0.1' mass='1' friction='0.5 0 "
        "0'/></body></worldbody></mujoco>";
    rgSlide slide = {NAN, NAN};
    rgModelDef* def = NULL;
    rgModel* model = NULL;
    rgWorld* world = NULL;
    rgWorldDef worldDef = rgDefaultWorldDef();
    worldDef.timeStep = 1e-3;
    worldDef.contact.model = law->model;
    worldDef.contact.method = law->method;
    if (rgParseMjcf(text, sizeof(text) - 1, "cube", NULL, NULL, &def) == rg_ok &&
        rgCompileModel(def, NULL, NULL, &model) == rg_ok &&
        rgCreateWorld(model, &worldDef, NULL, &world) == rg_ok) {
        double v[6] = {cos(angle), sin(angle), 0, 0, 0, 0};
        rgWorld_SetState(world, rgWorld_Positions(world, NULL), v);
        slide.rise = 0;
        for (int i = 0; i < 500; ++i) {
            rgWorld_Step(world, NULL);
            rgVec3 p = rgWorld_BodyPose(world, (rgBodyId){1}).p;
            slide.rise = fmax(slide.rise, p.z - 0.1);
            slide.distance = hypot(p.x, p.y);
        }
    }
    rgDestroyWorld(world);
    rgDestroyModel(model);
    rgDestroyModelDef(def);
    return slide;
}

static void rgWriteSlides(rgReport* report) {
    rgSheet* sheet = rgReport_Table(
        report, "slides", "A cube slides from 1 m/s to rest under each law (exact: 101.937 mm)");
    rgSheet_Column(sheet, "law", NULL, NULL);
    rgSheet_Column(sheet, "engines", NULL, NULL);
    rgSheet_Column(sheet, "along an axis", "mm", "%.3f");
    rgSheet_Column(sheet, "at 22.5 degrees", "mm", "%.3f");
    rgSheet_Column(sheet, "at 45 degrees", "mm", "%.3f");
    rgSheet_Column(sheet, "largest lift", "mm", "%.2g");
    for (int law = 0; law < rg_lawCount; ++law) {
        double rise = 0;
        rgSheet_Text(sheet, "%s", rgLaws[law].name);
        rgSheet_Text(sheet, "%s", rgLaws[law].engines);
        for (int k = 0; k < 3; ++k) {
            rgSlide slide = rgSlideUnder(&rgLaws[law], k * acos(-1) / 8);
            rgSheet_Number(sheet, 1e3 * slide.distance);
            rise = fmax(rise, slide.rise);
            rgReport_Check(report, law > 0 || fabs(slide.distance - 0.101937) < 2e-6,
                           "the exact law stops the cube after %.4f mm", 1e3 * slide.distance);
        }
        rgSheet_Number(sheet, 1e3 * rise);
    }
}

static bool rgRunModels(rgReport* report) {
    rgModels all = {.report = report};
    for (int law = 0; law < rg_lawCount; ++law) {
        rgContactSolverDef def = rgDefaultContactSolverDef();
        def.model = rgLaws[law].model;
        def.method = rgLaws[law].method;
        def.maxIterations = rg_iterationsMost;
        if (rgCreateContactSolver(&def, &all.solvers[law]) != rg_ok) {
            return rgReport_Fail(report, "no solver for %s", rgLaws[law].name);
        }
    }
    rgWriteSlides(report);
    rgSheet* sheet =
        rgReport_Table(report, "breaches", "The same problems, cold, tolerance 1e-6 of each law");
    rgSheet_Column(sheet, "problems", NULL, NULL);
    rgSheet_Column(sheet, "law", NULL, NULL);
    rgSheet_Column(sheet, "solved", NULL, NULL);
    rgSheet_Column(sheet, "Signorini", "%", "%.2g");
    rgSheet_Column(sheet, "cone", "%", "%.2g");
    rgSheet_Column(sheet, "dissipation lost", "%", "%.2g");
    rgSheet_Column(sheet, "friction turned", "deg", "%.2g");
    rgSheet_Column(sheet, "work of contacts", "%", "%+.2g");
    rgSheet_Column(sheet, "exact residual", NULL, "%.1e");
    rgSheet_Column(sheet, "time", "us", "%.4g");
    static const struct {
        const char *scene, *label;
        double first, last;
        int quick, samples;
    } scenes[] = {{"sliding", "sliding cube", 0.001, 0.15, 5, 50},
                  {"wall", "wall hit by a ball", 2.09, 2.35, 1, 12},
                  {"grasp", "grasp", 0.01, 0.2, 3, 20},
                  {"humanoid", "humanoid", 0.8, 2.2, 3, 60}};
    int count = (int)(sizeof(scenes) / sizeof(scenes[0]));
    for (int i = 0; i < count; ++i) {
        int samples = rgReport_Pick(report, scenes[i].quick, scenes[i].samples, 100);
        rgReport_Progress(report, i, count + 1, scenes[i].label);
        rgModels_AddScene(&all, scenes[i].scene, scenes[i].first, scenes[i].last, samples);
        rgModels_Write(&all, sheet, scenes[i].label);
    }
    int most = rgReport_Pick(report, 30, 110, 600);
    rgReport_Progress(report, count, count + 1, "FCLIB");
    rgModels_AddFiles(&all, most);
    rgModels_Write(&all, sheet, "FCLIB");
    rgReport_Note(
        report,
        "Signorini: largest normal velocity or impulse that the law forbids, as a share "
        "of what the contacts have to stop. Cone: friction beyond mu times the normal "
        "force. Dissipation lost: of sliding contacts, against the most that their normal "
        "forces allow; negative where the cone is exceeded. Friction turned: largest angle "
        "between friction and the direction against the slip. Work: of all contacts, "
        "against the exact law's. FCLIB files: those with at most %d contacts. A method "
        "ends after %d iterations; what it has then is judged.",
        most, (int)rg_iterationsMost);
    rgPeerResults faster = {0};
    for (int law = 1; law < rg_lawCount; ++law) {
        rgPeerResults_Add(&faster, rgLaws[law].name, exp(-all.logTimes[0] / all.problems),
                          exp(-all.logTimes[law] / all.problems), NULL);
    }
    rgReport_Conclude(report,
                      "Each relaxation breaks the law it is known for: the convex one lifts what "
                      "slides, polygons brake too hard towards their corners and turn the slip, "
                      "bisection turns the friction where normal and tangent couple. The exact "
                      "problem takes %.0f us in the geometric mean over all problems; of the other "
                      "%d laws and methods, faster than that: %s.",
                      1e6 * exp(all.logTimes[0] / all.problems), faster.total,
                      rgPeerResults_Text(&faster));
    for (int law = 0; law < rg_lawCount; ++law) {
        rgDestroyContactSolver(all.solvers[law]);
    }
    free(all.lambda);
    free(all.sigma);
    return true;
}

const rgExperiment rgExperimentModels = {
    "models", "Contact models side by side",
    "Which law of contact does each model of other engines break, and by how much?",
    "paper, Table I", rgRunModels};
