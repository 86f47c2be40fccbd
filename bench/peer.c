// Scenes for all engines, and engines in turns.
#include "peer.h"

#include "cli.h"
#include "stats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// ---- scenes

static bool rgFillScene(rgPeerScene* scene, double timeStep, const double* q, const double* v) {
    rgDiagnostics* remarks = NULL;
    rgWorld* world = NULL;
    rgWorldDef def = rgDefaultWorldDef();
    rgCreateDiagnostics(NULL, &remarks);
    bool good = rgCompileModel(scene->def, NULL, remarks, &scene->model) == rg_ok;
    def.timeStep = timeStep;
    good = good && rgCreateWorld(scene->model, &def, remarks, &world) == rg_ok;
    if (good) {
        scene->info = rgModel_Info(scene->model);
        scene->timeStep = rgWorld_TimeStep(world);
        scene->gravity = rgWorld_Settings(world).gravity;
        rgKeyId key = {scene->info.keyCount > 0};
        const rgSceneInfo* built = rgFindScene(scene->name);
        if (built != NULL && scene->file == NULL && q == NULL) {
            good = rgScene_Start(built, world) == rg_ok;
        } else {
            good = rgWorld_Reset(world, q == NULL ? key : (rgKeyId){0}) == rg_ok;
        }
        if (q != NULL || v != NULL) {
            const double* start = q != NULL ? q : rgWorld_Positions(world, NULL);
            good = good && rgWorld_SetState(world, start, v) == rg_ok;
        }
        scene->q = rgCli_Allocate((size_t)scene->info.qCount, sizeof(double));
        scene->v = rgCli_Allocate((size_t)scene->info.vCount, sizeof(double));
        scene->poses = rgCli_Allocate((size_t)scene->info.bodyCount, sizeof(rgPose));
        memcpy(scene->q, rgWorld_Positions(world, NULL),
               (size_t)scene->info.qCount * sizeof(double));
        memcpy(scene->v, rgWorld_Velocities(world, NULL),
               (size_t)scene->info.vCount * sizeof(double));
        for (int i = 0; i < scene->info.bodyCount; ++i) {
            scene->poses[i] = rgWorld_BodyPose(world, (rgBodyId){i + 1});
        }
    }
    if (!good) {
        rgCli_PrintDiagnostics(remarks, stderr, false, false);
        rgCli_Error("%s: no scene could be made of it", scene->name);
    }
    rgDestroyWorld(world);
    rgDestroyDiagnostics(remarks);
    return good;
}

bool rgPeerScene_Load(rgPeerScene* scene, const char* what, double timeStep) {
    const rgSceneInfo* built = rgFindScene(what);
    const char* slash = strrchr(what, '/');
    *scene = (rgPeerScene){.name = rgCli_CopyText(slash != NULL ? slash + 1 : what)};
    rgResult result = built != NULL ? rgBuildScene(built, NULL, NULL, &scene->def)
                                    : rgLoadModelDef(what, NULL, NULL, &scene->def);
    if (result != rg_ok) {
        rgCli_Error("%s: %s", what, rgResult_Name(result));
        return false;
    }
    if (built == NULL && rgFindBuiltinModel(what) == NULL) {
        scene->file = rgCli_CopyText(what);
    }
    return rgFillScene(scene, timeStep, NULL, NULL);
}

bool rgPeerScene_Create(rgPeerScene* scene, const char* name, rgModelDef* def, double timeStep,
                        const double* q, const double* v) {
    *scene = (rgPeerScene){.name = rgCli_CopyText(name), .def = def};
    return rgFillScene(scene, timeStep, q, v);
}

void rgPeerScene_Free(rgPeerScene* scene) {
    rgDestroyModel(scene->model);
    rgDestroyModelDef(scene->def);
    free(scene->name);
    free(scene->file);
    free(scene->q);
    free(scene->v);
    free(scene->poses);
    *scene = (rgPeerScene){0};
}

// ---- engines

const rgPeer* rgFindPeer(const char* name) {
    for (int i = 0; rgPeerAt(i) != NULL; ++i) {
        if (strcmp(rgPeerAt(i)->name, name) == 0) {
            return rgPeerAt(i);
        }
    }
    return NULL;
}

double rgPeerSetting(const char* variant, const char* name, double otherwise) {
    size_t length = strlen(name);
    for (const char* at = strchr(variant, ';'); at != NULL; at = strchr(at + 1, ';')) {
        const char* text = at + 1 + strspn(at + 1, " ");
        if (strncmp(text, name, length) == 0 && text[length] == ' ') {
            return atof(text + length);
        }
    }
    return otherwise;
}

bool rgPeerVariantIs(const char* variant, const char* name) {
    return strlen(name) == strcspn(variant, ";") && strncmp(variant, name, strlen(name)) == 0;
}

static double rgAngleBetween(rgQuat a, rgQuat b) {
    double cosine = fabs(a.w * b.w + a.x * b.x + a.y * b.y + a.z * b.z);
    return 2 * acos(fmin(cosine, 1));
}

bool rgPeerRun_Compare(rgPeerRun* run, double* mass, double* pose) {
    const rgPeerScene* scene = run->scene;
    int compared = 0;
    *mass = 0;
    *pose = 0;
    run->peer->reset(run->world);
    for (int i = 0; i < scene->info.bodyCount; ++i) {
        rgPeerBody body = {.mass = NAN};
        rgBodyId id = {i + 1};
        if (run->peer->body(run->world, i, &body)) {
            double own = rgModel_Body(scene->model, id)->inertia.mass;
            const rgPose* expected = &scene->poses[i];
            *mass = isnan(body.mass) ? *mass : fmax(*mass, fabs(body.mass - own) / fmax(own, 1e-9));
            *pose = fmax(*pose, rgLength(rgSub(body.pose.p, expected->p)));
            *pose = fmax(*pose, rgAngleBetween(body.pose.q, expected->q));
            compared += 1;
        }
    }
    return compared > 0;
}

// Relative tolerances of masses and poses: file formats have 6 digits and single precision.
static const double rgSameMass = 1e-4, rgSamePose = 1e-4;

bool rgPeerRun_Begin(rgPeerRun* run, const rgPeer* peer, const char* variant,
                     const rgPeerScene* scene) {
    *run = (rgPeerRun){.peer = peer,
                       .variant = variant != NULL ? variant : peer->variants[0],
                       .scene = scene,
                       .least = NAN,
                       .median = NAN,
                       .contacts = NAN,
                       .penetration = NAN,
                       .residual = NAN,
                       .collision = NAN};
    double mass = 0, pose = 0;
    snprintf(run->label, sizeof(run->label), "%s%s%s", peer->name,
             run->variant[0] != '\0' ? " " : "", run->variant);
    run->world = peer->create(scene, run->variant, run->fault, sizeof(run->fault));
    if (run->world == NULL) {
        return false;
    }
    bool same = rgPeerRun_Compare(run, &mass, &pose) && mass < rgSameMass && pose < rgSamePose;
    if (!same) {
        snprintf(run->fault, sizeof(run->fault),
                 "it simulates something else: masses differ by up to %.1g of themselves, poses "
                 "by up to %.1g m or rad",
                 mass, pose);
        peer->destroy(run->world);
        run->world = NULL;
    }
    return same;
}

void rgPeerRun_End(rgPeerRun* run) {
    if (run->world != NULL) {
        run->peer->destroy(run->world);
    }
    free(run->seconds);
    run->world = NULL;
    run->seconds = NULL;
}

static void rgTimeOnce(rgPeerRun* run, int steps) {
    run->peer->reset(run->world);
    double begin = rgCli_ThreadSeconds();
    for (int i = 0; i < steps && !run->failed; ++i) {
        run->failed = !run->peer->step(run->world);
    }
    double seconds =
        run->peer->seconds != NULL ? run->peer->seconds(run->world) : rgCli_ThreadSeconds() - begin;
    run->steps = steps;
    run->seconds = rgCli_Grow(run->seconds, (size_t)run->repeatCount + 1, sizeof(double));
    run->seconds[run->repeatCount++] = seconds;
    run->least = isnan(run->least) ? seconds : fmin(run->least, seconds);
    run->median = rgQuantileOf(run->seconds, run->repeatCount, 0.5);
}

void rgPeerRuns_Time(rgPeerRun* runs, int runCount, int steps, int repeat, double seconds) {
    double end = rgCli_Seconds() + seconds;
    for (int r = 0; r < repeat && (r == 0 || rgCli_Seconds() < end); ++r) {
        for (int i = 0; i < runCount; ++i) {
            if (runs[i].world != NULL && !runs[i].failed) {
                rgTimeOnce(&runs[i], steps);
            }
        }
    }
}

void rgPeerRun_Look(rgPeerRun* run, int steps) {
    double contacts = 0, collision = NAN;
    int looked = 0;
    run->penetration = 0;
    run->peer->reset(run->world);
    for (; looked < steps && !run->failed; ++looked) {
        rgPeerLook look = {.residual = NAN, .collision = NAN};
        run->failed = !run->peer->step(run->world);
        run->peer->look(run->world, &look);
        contacts += look.contactCount;
        run->penetration = fmax(run->penetration, look.penetration);
        run->residual = isnan(look.residual) ? run->residual : fmax(run->residual, look.residual);
        collision = look.collision;
    }
    run->contacts = looked > 0 ? contacts / looked : NAN;
    run->collision = isnan(run->collision) ? collision : fmin(run->collision, collision);
}
