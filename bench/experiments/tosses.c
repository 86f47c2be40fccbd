// Tosses of a real cube, and what they say about it: the body is identified, judged on tosses that
// were held out, and given to other engines. Without the reference data, tosses of a known body are
// simulated instead.
#include "peer.h"
#include "report/report.h"
#include "stats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double rgWidth = 0.1048; // of the cube [m]
static const double rgRate = 148;     // samples per second
enum { rg_parts = 4, rg_folds = 5, rg_mostTosses = 570 };

typedef struct rgTosses {
    rgModelDef* def;
    rgModel* model;
    bool real;
    int count;
    rgMotion* loaded[rg_mostTosses]; // from files
    rgMotion motions[rg_mostTosses];
    double* memory; // of those that are simulated
    rgChannel channel;
} rgTosses;

// ---- tosses

static rgModelDef* rgLoadCube(void) {
    rgModelDef* def = NULL;
    rgLoadModelDef("tossed_cube", NULL, NULL, &def);
    return def;
}

static int rgCountFiles(const char* folder) {
    int count = 0;
    for (int i = 0; i < 1000; ++i) {
        char* path = rgCli_Format("%s/toss_%03d.csv", folder, i);
        FILE* file = fopen(path, "r");
        count += file != NULL;
        if (file != NULL) {
            fclose(file);
        }
        free(path);
    }
    return count;
}

// So many of the files, at equal distances.
static void rgReadTosses(rgTosses* tosses, const char* folder, int wanted) {
    int there = rgCountFiles(folder), seen = 0;
    rgMotionDef def = rgDefaultMotionDef();
    def.backwardVelocities = true; // as the data say
    for (int i = 0; i < 1000 && there > 0; ++i) {
        char* path = rgCli_Format("%s/toss_%03d.csv", folder, i);
        FILE* file = fopen(path, "r");
        if (file != NULL) {
            fclose(file);
            bool take = (int64_t)seen * wanted / there != (int64_t)(seen + 1) * wanted / there;
            ++seen;
            if ((take || there <= wanted) && tosses->count < rg_mostTosses &&
                rgLoadMotion(path, tosses->model, &def, NULL, &tosses->loaded[tosses->count]) ==
                    rg_ok) {
                tosses->motions[tosses->count] = *tosses->loaded[tosses->count];
                ++tosses->count;
            }
        }
        free(path);
    }
    tosses->real = tosses->count > 0;
}

// What a body that is not quite the published one does.
static void rgSimulateTosses(rgTosses* tosses, int count) {
    enum { samples = 60 };
    static const char* const names[] = {"body/cube/com.z", "shape/*/friction",
                                        "body/cube/inertia.scale"};
    static const double values[] = {0.006, 0.2, 1.2};
    rgModelDef* def = rgLoadCube();
    rgModel* model = NULL;
    for (int i = 0; i < 3; ++i) {
        rgModelDef_SetParameter(def, names[i], values[i], NULL);
    }
    rgCompileModel(def, NULL, NULL, &model);
    rgWorldDef worldDef = rgDefaultWorldDef();
    worldDef.timeStep = 1 / rgRate / rg_parts;
    rgWorld* world = NULL;
    rgCreateWorld(model, &worldDef, NULL, &world);
    tosses->memory = rgCli_Allocate((size_t)count * (samples * 8 + 13), sizeof(double));
    double* at = tosses->memory;
    for (int i = 0; i < count; ++i) {
        uint64_t seed = rgRandomBits(8, (uint64_t)i);
        double *q = at, *v = q + 7, *times = v + 6, *rows = times + samples;
        at = rows + 7 * samples;
        rgQuat turn = rgQuatFromRotationVector(
            rgVec(rgRandomNormal(seed, 0), rgRandomNormal(seed, 1), rgRandomNormal(seed, 2)));
        const double start[7] = {0, 0, 0.14, turn.w, turn.x, turn.y, turn.z};
        memcpy(q, start, sizeof(start));
        for (int k = 0; k < 6; ++k) {
            v[k] = (k < 3 ? 0.6 : 3) * rgRandomNormal(seed, (uint64_t)(10 + k));
        }
        rgWorld_Reset(world, (rgKeyId){0});
        rgWorld_SetState(world, q, v);
        for (int s = 0; s < samples; ++s) {
            times[s] = s / rgRate;
            memcpy(rows + 7 * s, rgWorld_Positions(world, NULL), 7 * sizeof(double));
            for (int k = 0; k < rg_parts; ++k) {
                rgWorld_Step(world, NULL);
            }
        }
        tosses->motions[tosses->count++] = (rgMotion){.name = "simulated",
                                                      .sampleCount = samples,
                                                      .times = times,
                                                      .channelCount = 1,
                                                      .channels = &tosses->channel,
                                                      .valueCount = 7,
                                                      .values = rows,
                                                      .q = q,
                                                      .v = v};
    }
    rgDestroyWorld(world);
    rgDestroyModel(model);
    rgDestroyModelDef(def);
}

static bool rgTosses_Open(rgTosses* tosses, int wanted) {
    const char* data = getenv("RIGOR_DATA");
    tosses->def = rgLoadCube();
    tosses->channel = (rgChannel){rg_channelPose, {1}, 0};
    if (tosses->def == NULL || rgCompileModel(tosses->def, NULL, NULL, &tosses->model) != rg_ok) {
        return false;
    }
    if (data != NULL) {
        char* folder = rgCli_Format("%s/cube_toss", data);
        rgReadTosses(tosses, folder, wanted);
        free(folder);
    }
    if (!tosses->real) {
        rgSimulateTosses(tosses, wanted < 20 ? wanted : 20);
    }
    return true;
}

static void rgTosses_Close(rgTosses* tosses) {
    for (int i = 0; i < tosses->count; ++i) {
        rgDestroyMotion(tosses->loaded[i]);
    }
    rgDestroyModel(tosses->model);
    rgDestroyModelDef(tosses->def);
    free(tosses->memory);
    free(tosses);
}

// ---- fits

typedef struct rgFitted {
    const char* name;
    double lower, upper, start;
    bool logarithmic;
    bool rigid, compliant; // which models have it
    bool body;             // a matter of the body, which every engine can be given
} rgFitted;

static const rgFitted rgParameters[] = {
    {"shape/*/friction", 0.1, 0.3, 0.18, false, true, true, false},
    {"shape/*/impact_friction", 0.1, 0.3, 0.18, false, true, true, false},
    {"shape/*/transition_speed", 0.02, 1, 0.3, false, true, true, false},
    {"shape/*/restitution", 0, 0.5, 0.125, false, true, false, false},
    {"shape/*/stiffness", 8e3, 2e5, 6e4, true, false, true, false},
    {"shape/*/damping", 0, 100, 40, false, false, true, false},
    {"shape/*/dissipation", 0, 4, 0.5, false, false, true, false},
    {"body/cube/com.x", -0.01, 0.01, 0, false, true, true, true},
    {"body/cube/com.y", -0.01, 0.01, 0, false, true, true, true},
    {"body/cube/com.z", -0.01, 0.012, 0, false, true, true, true},
    {"body/cube/inertia.scale", 0.7, 1.8, 1, false, true, true, true},
    {"shape/cube/size.scale", 0.96, 1.03, 1, false, true, true, true},
    {"shape/cube/corner", 0, 0.01, 0.001, false, true, true, false},
    {"gravity", 9.3, 9.9, 9.81, false, true, true, true},
};
enum { rg_parameterTableSize = sizeof(rgParameters) / sizeof(rgParameters[0]) };

typedef enum rgFitKind { rg_fitSurface, rg_fitRigid, rg_fitCompliant } rgFitKind;

static bool rgBelongs(const rgFitted* parameter, rgFitKind kind) {
    bool surface = strcmp(parameter->name, "shape/*/friction") == 0 ||
                   strcmp(parameter->name, "shape/*/restitution") == 0;
    return kind == rg_fitSurface ? surface
           : kind == rg_fitRigid ? parameter->rigid
                                 : parameter->compliant;
}

static rgIdentification* rgFitTosses(rgReport* report, const rgTosses* tosses, rgFitKind kind,
                                     bool window) {
    rgParameterDef parameters[rg_parameterTableSize];
    int count = 0;
    for (int i = 0; i < rg_parameterTableSize; ++i) {
        const rgFitted* p = &rgParameters[i];
        if (rgBelongs(p, kind)) {
            parameters[count] = rgDefaultParameterDef();
            parameters[count].name = p->name;
            parameters[count].lower = p->lower;
            parameters[count].upper = p->upper;
            parameters[count].start = p->start;
            parameters[count++].logarithmic = p->logarithmic;
        }
    }
    rgIdentifyDef def = rgDefaultIdentifyDef();
    def.parameters = parameters;
    def.parameterCount = count;
    def.motions = tosses->motions;
    def.motionCount = tosses->count;
    def.world.timeStep = 1 / rgRate / rg_parts;
    def.generations = 0;
    def.refinements = rgReport_Pick(report, 1, 4, 8);
    def.foldCount = rgReport_Pick(report, 2, rg_folds, rg_folds);
    if (window) {
        def.startWindow = 1;
        def.startPosition = 0.002;
        def.startRotation = 0.03;
        def.startVelocity = 0.3;
        def.startRate = 2;
    }
    rgIdentification* answer = NULL;
    rgIdentify(tosses->def, &def, NULL, &answer);
    return answer;
}

// ---- tables

typedef struct rgErrors {
    double position, rotation;             // means over the tosses [%], [deg]
    double medianPosition, medianRotation; // likewise
} rgErrors;

static rgErrors rgSummarizeErrors(const rgMotionError* errors, int count) {
    double* x = rgCli_Allocate(2 * (size_t)count, sizeof(double));
    rgErrors e = {0};
    for (int i = 0; i < count; ++i) {
        x[i] = 100 * errors[i].position / rgWidth;
        x[count + i] = 57.29577951308232 * errors[i].rotation;
        e.position += x[i] / count;
        e.rotation += x[count + i] / count;
    }
    e.medianPosition = rgQuantileOf(x, count, 0.5);
    e.medianRotation = rgQuantileOf(x + count, count, 0.5);
    free(x);
    return e;
}

static rgErrors rgHeldOut(const rgIdentification* answer, int count, bool before) {
    rgMotionError* errors = rgCli_Allocate((size_t)count, sizeof(rgMotionError));
    for (int i = 0; i < count; ++i) {
        rgMotionEstimate motion = rgIdentification_Motion(answer, i);
        errors[i] = before ? motion.before : motion.heldOut;
    }
    rgErrors e = rgSummarizeErrors(errors, count);
    free(errors);
    return e;
}

static void rgAddErrors(rgSheet* sheet, const char* what, int parameters, const char* start,
                        const rgErrors* e) {
    rgSheet_Text(sheet, "%s", what);
    rgSheet_Number(sheet, parameters > 0 ? parameters : NAN);
    rgSheet_Text(sheet, "%s", start);
    rgSheet_Number(sheet, e->position);
    rgSheet_Number(sheet, e->medianPosition);
    rgSheet_Number(sheet, e->rotation);
    rgSheet_Number(sheet, e->medianRotation);
}

static rgSheet* rgErrorSheet(rgReport* report, const char* name, const char* title,
                             const char* what) {
    rgSheet* sheet = rgReport_Table(report, name, title);
    rgSheet_Column(sheet, what, NULL, NULL);
    rgSheet_Column(sheet, "parameters", NULL, "%.0f");
    rgSheet_Column(sheet, "start", NULL, NULL);
    rgSheet_Column(sheet, "position mean", "% of the width", "%.2f");
    rgSheet_Column(sheet, "median", "%", "%.2f");
    rgSheet_Column(sheet, "rotation mean", "deg", "%.2f");
    rgSheet_Column(sheet, "median", "deg", "%.2f");
    return sheet;
}

static void rgAddBody(rgReport* report, const rgIdentification* answer) {
    rgSheet* sheet = rgReport_Table(report, "body", "What was found (compliant contacts)");
    rgSheet_Column(sheet, "parameter", NULL, NULL);
    rgSheet_Column(sheet, "unit", NULL, NULL);
    rgSheet_Column(sheet, "start", NULL, "%.4g");
    rgSheet_Column(sheet, "found", NULL, "%.4g");
    rgSheet_Column(sheet, "+- (bootstrap)", NULL, "%.2g");
    rgSheet_Column(sheet, "least of the folds", NULL, "%.4g");
    rgSheet_Column(sheet, "largest", NULL, "%.4g");
    rgSheet_Column(sheet, "determined", "%", "%.0f");
    rgIdentificationInfo info = rgIdentification_Info(answer);
    for (int i = 0; i < info.parameterCount; ++i) {
        rgParameterEstimate p = rgIdentification_Parameter(answer, i);
        double least = INFINITY, most = -INFINITY;
        for (int f = 0; f < info.foldCount; ++f) {
            double value = rgIdentification_FoldValue(answer, f, i);
            least = fmin(least, value);
            most = fmax(most, value);
        }
        rgSheet_Text(sheet, "%s", p.name);
        rgSheet_Text(sheet, "%s", p.unit);
        rgSheet_Number(sheet, p.start);
        rgSheet_Number(sheet, p.value);
        rgSheet_Number(sheet, p.deviation);
        rgSheet_Number(sheet, least);
        rgSheet_Number(sheet, most);
        rgSheet_Number(sheet, 100 * p.determined);
        rgReport_Check(report, isfinite(p.value) && p.determined >= 0 && p.determined <= 1,
                       "%s is a number, and how far it is determined a share", p.name);
    }
}

// ---- engines with the same body

static const struct {
    const char *peer, *variant;
} rgEngines[] = {{"rigor", ""},
                 {"MuJoCo", "elliptic"},
                 {"MuJoCo", "elliptic near-rigid"},
                 {"Bullet", "50 iterations"}};
enum { rg_engineCount = sizeof(rgEngines) / sizeof(rgEngines[0]), rg_frictionCount = 7 };
static const double rgFrictions[rg_frictionCount] = {0.12, 0.14, 0.16, 0.18, 0.2, 0.22, 0.25};

// One toss in one engine. False: it takes no part.
static bool rgTossInEngine(int engine, const rgIdentification* answer, const rgMotion* motion,
                           int index, double friction, rgMotionError* error) {
    const rgPeer* peer = rgFindPeer(rgEngines[engine].peer);
    rgModelDef* def = rgLoadCube();
    for (int i = 0; i < rgIdentification_Info(answer).parameterCount; ++i) {
        rgParameterEstimate p = rgIdentification_Parameter(answer, i);
        for (int k = 0; k < rg_parameterTableSize; ++k) {
            if (rgParameters[k].body && strcmp(rgParameters[k].name, p.name) == 0) {
                rgModelDef_SetParameter(def, p.name, p.value, NULL);
            }
        }
    }
    rgModelDef_SetParameter(def, "shape/*/friction", friction, NULL);
    rgMotionEstimate start = rgIdentification_Motion(answer, index);
    rgPeerScene scene = {0};
    rgPeerRun run = {0};
    bool good = peer != NULL &&
                rgPeerScene_Take(&scene, "toss", def, 1 / rgRate / rg_parts, start.q, start.v);
    good = good && rgPeerRun_Begin(&run, peer, rgEngines[engine].variant, &scene);
    *error = (rgMotionError){0};
    if (good) {
        run.peer->reset(run.world);
    }
    for (int s = 1; s < motion->sampleCount && good; ++s) {
        for (int k = 0; k < rg_parts && good; ++k) {
            good = run.peer->step(run.world);
        }
        rgPeerBody state;
        good = good && run.peer->body(run.world, 0, &state);
        const double* row = motion->values + (size_t)s * 7;
        rgQuat seen = {row[3], row[4], row[5], row[6]};
        rgVec3 turn = rgRotationVectorFromQuat(rgQuatMultiply(state.pose.q, rgQuatConjugate(seen)));
        double share = 1.0 / (motion->sampleCount - 1);
        error->position += share * rgLength(rgSub(state.pose.p, rgVec(row[0], row[1], row[2])));
        error->rotation += share * rgLength(turn);
    }
    rgPeerRun_End(&run);
    rgPeerScene_Free(&scene);
    if (peer == NULL) {
        rgDestroyModelDef(def);
    }
    return good;
}

static double rgScore(const rgMotionError* e) {
    return 100 * e->position / rgWidth + 57.29577951308232 * e->rotation;
}

// Each toss with the friction that is best for the tosses of the other folds.
static bool rgSearchFriction(rgReport* report, int engine, const rgTosses* tosses,
                             const rgIdentification* answer, rgErrors* errors) {
    int folds = rgIdentification_Info(answer).foldCount, count = tosses->count;
    rgMotionError* all =
        rgCli_Allocate((size_t)count * (rg_frictionCount + 1), sizeof(rgMotionError));
    rgMotionError* chosen = all + (size_t)count * rg_frictionCount;
    bool good = true;
    for (int i = 0; i < count && good; ++i) {
        rgReport_Progress(report, i, count, rgEngines[engine].peer);
        for (int k = 0; k < rg_frictionCount && good; ++k) {
            good = rgTossInEngine(engine, answer, &tosses->motions[i], i, rgFrictions[k],
                                  &all[k * count + i]);
        }
    }
    for (int fold = 0; fold < folds && good; ++fold) {
        int best = 0;
        double least = INFINITY;
        for (int k = 0; k < rg_frictionCount; ++k) {
            double sum = 0;
            for (int i = 0; i < count; ++i) {
                sum += i % folds != fold ? rgScore(&all[k * count + i]) : 0;
            }
            best = sum < least ? k : best;
            least = fmin(sum, least);
        }
        for (int i = fold; i < count; i += folds) {
            chosen[i] = all[best * count + i];
        }
    }
    if (good) {
        *errors = rgSummarizeErrors(chosen, count);
    }
    free(all);
    return good;
}

static void rgAddEngines(rgReport* report, const rgTosses* tosses, const rgIdentification* answer) {
    rgSheet* sheet = rgErrorSheet(report, "engines",
                                  "The identified body in each engine, its friction found by the "
                                  "same search",
                                  "engine");
    for (int e = 0; e < rg_engineCount; ++e) {
        rgErrors errors;
        if (rgSearchFriction(report, e, tosses, answer, &errors)) {
            char* label = rgCli_Format("%s %s", rgEngines[e].peer, rgEngines[e].variant);
            rgAddErrors(sheet, label, 1, "flight", &errors);
            free(label);
        } else {
            rgReport_Note(report, "%s takes no part: it is not built in.", rgEngines[e].peer);
        }
    }
}

// ---- the experiment

static bool rgRunTosses(rgReport* report) {
    static const struct {
        const char* name;
        rgFitKind kind;
        bool window;
    } fits[] = {{"friction and restitution", rg_fitSurface, false},
                {"friction and restitution", rg_fitSurface, true},
                {"body, rigid contacts", rg_fitRigid, true},
                {"body, compliant contacts", rg_fitCompliant, true}};
    rgTosses* tosses = rgCli_Allocate(1, sizeof(rgTosses));
    if (!rgTosses_Open(tosses, rgReport_Pick(report, 4, 30, rg_mostTosses))) {
        rgTosses_Close(tosses);
        return rgReport_Fail(report, "the model of the cube cannot be made");
    }
    rgSheet* sheet = rgErrorSheet(report, "fits", "Tosses that were held out", "found by the fit");
    rgErrors last = {0}, nominal = {0};
    rgIdentification* answer = NULL;
    for (int k = 0; k < 4; ++k) {
        rgReport_Progress(report, k, 4, fits[k].name);
        rgDestroyIdentification(answer);
        answer = rgFitTosses(report, tosses, fits[k].kind, fits[k].window);
        if (answer == NULL) {
            rgTosses_Close(tosses);
            return rgReport_Fail(report, "%s: the fit failed", fits[k].name);
        }
        const char* start = fits[k].window ? "flight" : "recorded";
        if (fits[k].kind == rg_fitSurface) {
            nominal = rgHeldOut(answer, tosses->count, true);
            rgAddErrors(sheet, "nothing: as published", 0, start, &nominal);
        }
        last = rgHeldOut(answer, tosses->count, false);
        rgAddErrors(sheet, fits[k].name, rgIdentification_Info(answer).parameterCount, start,
                    &last);
        rgReport_Check(report, isfinite(last.position) && isfinite(last.rotation),
                       "%s: all held-out tosses can be simulated", fits[k].name);
    }
    rgAddBody(report, answer);
    rgAddEngines(report, tosses, answer);
    rgReport_Note(report,
                  "%d %s, step 1/%g s, errors at every sample in %% of the cube's width and as "
                  "angles, averaged over a toss, then over tosses. Held out: predicted with what "
                  "the other folds gave. Start: \"recorded\" is the first row (velocity corrected "
                  "by g dt/2, init1 of the protocol); \"flight\" is found from the samples before "
                  "the first contact, which is as init2 and not comparable with papers.",
                  tosses->count,
                  tosses->real ? "recorded tosses of RIGOR_DATA"
                               : "simulated tosses of a known body, as RIGOR_DATA is not there",
                  rgRate * rg_parts);
    rgReport_Note(report, "Engines in the last table have the centre of mass, inertia, size and "
                          "gravity of the compliant fit to all tosses, sharp corners, and a "
                          "friction from a grid of seven, chosen on the other folds.");
    rgReport_Conclude(report,
                      "On held-out tosses the identified body is off by %.1f %% of its width and "
                      "%.1f degrees (means), the published one by %.1f %% and %.1f degrees from "
                      "the same starts.",
                      last.position, last.rotation, nominal.position, nominal.rotation);
    rgDestroyIdentification(answer);
    rgTosses_Close(tosses);
    return true;
}

const rgExperiment rgExperimentTosses = {
    "tosses", "Real cube tosses, and identification",
    "Is it the engine or the body that keeps simulations from meeting recordings?",
    "past the paper", rgRunTosses};
