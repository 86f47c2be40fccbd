// Depths from poses.
#include "pose_judge.h"

#include "cli.h"
#include "stats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double rgTouching = 1e-3;      // [m]
static const double rgOverlapsByFar = 1e-4; // [m] at the start: made so
enum { rg_pairsPerShape = 16 };

struct rgPoseJudge {
    const rgPeerScene* scene;
    int count;
    int* shapes; // shapes of the model, from 0
    rgPlacedGeometry* placed;
    rgGeometry** geometries;
    rgClosePair* pairs;
    int capacity;
    int (*overlapping)[2]; // at the start
    int overlappingCount;
    double* depths;
    int depthCount, depthCapacity;
};

static rgGeometry* rgMakeGeometry(const rgShapeDef* shape) {
    rgGeometryDef def = rgDefaultGeometryDef();
    rgGeometry* made = NULL;
    def.kind = shape->kind;
    def.size = shape->size;
    def.rounding = shape->rounding;
    def.mesh = shape->mesh;
    def.heightField = shape->heightField;
    return rgCreateGeometry(&def, NULL, &made) == rg_ok ? made : NULL;
}

void rgPoseJudge_Free(rgPoseJudge* judge) {
    for (int i = 0; judge != NULL && i < judge->count; ++i) {
        rgDestroyGeometry(judge->geometries[i]);
    }
    if (judge != NULL) {
        free(judge->shapes);
        free(judge->placed);
        free((void*)judge->geometries);
        free(judge->pairs);
        free(judge->overlapping);
        free(judge->depths);
        free(judge);
    }
}

static bool rgPoseJudge_Skips(const rgPoseJudge* judge, int a, int b) {
    for (int i = 0; i < judge->overlappingCount; ++i) {
        if (judge->overlapping[i][0] == a && judge->overlapping[i][1] == b) {
            return true;
        }
    }
    return !rgModel_ShapesMeet(judge->scene->model, (rgShapeId){judge->shapes[a] + 1},
                               (rgShapeId){judge->shapes[b] + 1});
}

static void rgPoseJudge_Place(rgPoseJudge* judge, int i, const rgPose* body) {
    const rgShapeDef* shape = rgModel_Shape(judge->scene->model, (rgShapeId){judge->shapes[i] + 1});
    judge->placed[i].pose = body != NULL ? rgPoseMultiply(*body, shape->pose) : shape->pose;
}

static int rgPoseJudge_Find(rgPoseJudge* judge) {
    int found = 0;
    bool good = rgFindClosePairs(judge->placed, judge->count, rgTouching, judge->pairs,
                                 judge->capacity, &found) == rg_ok;
    return !good ? 0 : found < judge->capacity ? found : judge->capacity;
}

static void rgPoseJudge_NoteOverlaps(rgPoseJudge* judge) {
    int found = rgPoseJudge_Find(judge);
    judge->overlapping = rgCli_Allocate((size_t)found, sizeof(*judge->overlapping));
    for (int i = 0; i < found; ++i) {
        const rgClosePair* pair = &judge->pairs[i];
        if (-pair->proximity.distance > rgOverlapsByFar) {
            judge->overlapping[judge->overlappingCount][0] = pair->a;
            judge->overlapping[judge->overlappingCount++][1] = pair->b;
        }
    }
}

rgPoseJudge* rgPoseJudge_Make(const rgPeerScene* scene) {
    rgPoseJudge* judge = rgCli_Allocate(1, sizeof(rgPoseJudge));
    size_t most = (size_t)scene->info.shapeCount;
    judge->scene = scene;
    judge->shapes = rgCli_Allocate(most, sizeof(int));
    judge->placed = rgCli_Allocate(most, sizeof(rgPlacedGeometry));
    judge->geometries = rgCli_Allocate(most, sizeof(rgGeometry*));
    judge->capacity = rg_pairsPerShape * (int)most;
    judge->pairs = rgCli_Allocate((size_t)judge->capacity, sizeof(rgClosePair));
    for (int i = 0; i < (int)most; ++i) {
        const rgShapeDef* shape = rgModel_Shape(scene->model, (rgShapeId){i + 1});
        if (shape->visualOnly) {
            continue;
        }
        rgGeometry* made = rgMakeGeometry(shape);
        if (made == NULL) {
            rgPoseJudge_Free(judge);
            return NULL;
        }
        int at = judge->count++;
        judge->shapes[at] = i;
        judge->geometries[at] = made;
        judge->placed[at].geometry = made;
        int body = shape->body.index1 - 1;
        rgPoseJudge_Place(judge, at, body >= 0 ? &scene->poses[body] : NULL);
    }
    rgPoseJudge_NoteOverlaps(judge);
    return judge;
}

void rgPoseJudge_Begin(rgPoseJudge* judge) {
    judge->depthCount = 0;
}

bool rgPoseJudge_Look(rgPoseJudge* judge, rgPeerRun* run) {
    for (int i = 0; i < judge->count; ++i) {
        const rgShapeDef* shape =
            rgModel_Shape(judge->scene->model, (rgShapeId){judge->shapes[i] + 1});
        rgPeerBody body;
        if (shape->body.index1 == 0) {
            continue;
        }
        if (!run->peer->body(run->world, shape->body.index1 - 1, &body) ||
            !isfinite(body.pose.p.x + body.pose.p.y + body.pose.p.z + body.pose.q.w)) {
            return false;
        }
        rgPoseJudge_Place(judge, i, &body.pose);
    }
    int found = rgPoseJudge_Find(judge);
    for (int i = 0; i < found; ++i) {
        if (rgPoseJudge_Skips(judge, judge->pairs[i].a, judge->pairs[i].b)) {
            continue;
        }
        if (judge->depthCount == judge->depthCapacity) {
            judge->depthCapacity = 2 * judge->depthCapacity + 1024;
            judge->depths = rgCli_Grow(judge->depths, (size_t)judge->depthCapacity, sizeof(double));
        }
        judge->depths[judge->depthCount++] = fmax(0, -judge->pairs[i].proximity.distance);
    }
    return true;
}

rgDepths rgPoseJudge_Depths(const rgPoseJudge* judge) {
    int count = judge->depthCount;
    return (rgDepths){.pairCount = count,
                      .mean = count > 0 ? rgMeanOf(judge->depths, count) : 0,
                      .p99 = count > 0 ? rgQuantileOf(judge->depths, count, 0.99) : 0,
                      .deepest = count > 0 ? rgQuantileOf(judge->depths, count, 1) : 0};
}

rgDepths rgPoseJudge_Run(rgPoseJudge* judge, rgPeerRun* run, int steps, int every) {
    bool good = true;
    double contacts = 0;
    int looked = 0;
    rgPoseJudge_Begin(judge);
    run->penetration = 0;
    run->peer->reset(run->world);
    for (; looked < steps && good && !run->failed; ++looked) {
        rgPeerLook look = {.residual = NAN};
        run->failed = !run->peer->step(run->world);
        run->peer->look(run->world, &look);
        contacts += look.contactCount;
        run->penetration = fmax(run->penetration, look.penetration);
        run->residual = fmax(run->residual, look.residual); // ignores NAN
        good = (looked + 1) % every != 0 || rgPoseJudge_Look(judge, run);
    }
    run->contacts = looked > 0 ? contacts / looked : NAN;
    run->failed = run->failed || !good;
    return rgPoseJudge_Depths(judge);
}

double rgPeerRun_Drift(rgPeerRun* run) {
    double most = 0;
    for (int i = 0; i < run->scene->info.bodyCount; ++i) {
        rgPeerBody body;
        if (run->peer->body(run->world, i, &body)) {
            most = fmax(most, rgLength(rgSub(body.pose.p, run->scene->poses[i].p)));
        }
    }
    return most;
}

double rgPeerRun_KineticEnergy(rgPeerRun* run) {
    double sum = 0;
    for (int i = 0; i < run->scene->info.bodyCount; ++i) {
        const rgInertia* inertia = &rgModel_Body(run->scene->model, (rgBodyId){i + 1})->inertia;
        rgPeerBody body;
        if (inertia->mass > 0 && run->peer->body(run->world, i, &body)) {
            rgVec3 arm = rgRotate(body.pose.q, inertia->center);
            rgVec3 v = rgAdd(body.velocity.linear, rgCross(body.velocity.angular, arm));
            rgVec3 w = rgRotateBack(body.pose.q, body.velocity.angular);
            sum += 0.5 *
                   (inertia->mass * rgDot(v, v) + rgDot(w, rgSym3_Multiply(&inertia->moment, w)));
        }
    }
    return sum;
}
