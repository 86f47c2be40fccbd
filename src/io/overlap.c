// Parts of one robot that overlap at its start: planners disable such pairs, since a permanent
// collision carries no information and locks the joints between the parts.
#include "io/overlap.h"

#include "base/base.h"
#include "model/def.h"
#include "model/model.h"
#include "rigor/collision.h"
#include "rigor/dynamics.h"

#include <stdlib.h>
#include <string.h>

// Share of the smaller shape's radius. Parts that are drawn to touch overlap by 1e-5 of it at most,
// in meshes of single precision and poses of five digits.
#define RG_OVERLAP_SHARE 1e-4

typedef struct rgOverlapSearch {
    rgArena arena;
    const rgModel* model;
    rgDynamics* poses;
    rgBroadphase* broadphase;
    rgGeometry** geometries; // geometry of each proxy; NULL: not needed yet
    int* shapes;             // index of each proxy's shape
    int* robots;             // id of the topmost body of each proxy
    int proxyCount;
    rgExcludedPair* pairs; // bodies, each pair once
    int pairCount;
} rgOverlapSearch;

static int rgTopmostBody(const rgModel* model, rgBodyId body) {
    int top = body.index1;
    while (top > 0 && model->bodies[top - 1].parent.index1 > 0) {
        top = model->bodies[top - 1].parent.index1;
    }
    return top;
}

static bool rgTakesPart(const rgShapeDef* shape) {
    return !shape->visualOnly && !shape->disabled && shape->body.index1 != 0;
}

// Mark the topmost bodies of robots: two of their bodies have shapes.
static void rgMarkRobots(const rgModel* model, int* firstBody, bool* isRobot) {
    for (int i = 0; i < model->info.shapeCount; ++i) {
        const rgShapeDef* shape = &model->shapes[i];
        if (rgTakesPart(shape)) {
            int top = rgTopmostBody(model, shape->body);
            isRobot[top] =
                isRobot[top] || (firstBody[top] != 0 && firstBody[top] != shape->body.index1);
            firstBody[top] = shape->body.index1;
        }
    }
}

// Geometries are made of shapes whose boxes meet: hulls take most of the time.
static rgResult rgOverlapSearch_Need(rgOverlapSearch* s, int proxy) {
    const rgShapeDef* def = &s->model->shapes[s->shapes[proxy]];
    rgGeometryDef geometry = rgDefaultGeometryDef();
    geometry.kind = def->kind;
    geometry.size = def->size;
    geometry.rounding = def->rounding;
    geometry.mesh = def->mesh;
    geometry.heightField = def->heightField;
    geometry.allocator = s->model->allocator;
    return s->geometries[proxy] != NULL ? rg_ok
                                        : rgCreateGeometry(&geometry, NULL, &s->geometries[proxy]);
}

static rgPose rgOverlapSearch_Pose(const rgOverlapSearch* s, int proxy) {
    return rgDynamics_ShapePose(s->poses, (rgShapeId){s->shapes[proxy] + 1});
}

// Box of the vertices of a mesh, without its hull.
static rgBox rgMeshBox(const rgMeshData* mesh, rgPose pose, double rounding) {
    rgVec3 first =
        rgPose_Point(pose, rgVec(mesh->vertices[0], mesh->vertices[1], mesh->vertices[2]));
    rgBox box = {first, first};
    for (int i = 1; i < mesh->vertexCount; ++i) {
        const double* v = mesh->vertices + 3 * (size_t)i;
        rgVec3 p = rgPose_Point(pose, rgVec(v[0], v[1], v[2]));
        box.lower =
            rgVec(RG_MIN(box.lower.x, p.x), RG_MIN(box.lower.y, p.y), RG_MIN(box.lower.z, p.z));
        box.upper =
            rgVec(RG_MAX(box.upper.x, p.x), RG_MAX(box.upper.y, p.y), RG_MAX(box.upper.z, p.z));
    }
    rgVec3 round = rgVec(rounding, rounding, rounding);
    return (rgBox){rgSub(box.lower, round), rgAdd(box.upper, round)};
}

static rgResult rgOverlapSearch_Add(rgOverlapSearch* s, int shape, int robot) {
    const rgShapeDef* def = &s->model->shapes[shape];
    int proxy = s->proxyCount++;
    s->shapes[proxy] = shape;
    s->robots[proxy] = robot;
    s->geometries[proxy] = NULL;
    rgPose pose = rgOverlapSearch_Pose(s, proxy);
    if (def->mesh != NULL && def->mesh->vertexCount > 0) {
        return rgBroadphase_Add(s->broadphase, rgMeshBox(def->mesh, pose, def->rounding), &proxy);
    }
    rgResult result = rgOverlapSearch_Need(s, proxy);
    return result == rg_ok
               ? rgBroadphase_Add(s->broadphase, rgGeometry_Box(s->geometries[proxy], pose), &proxy)
               : result;
}

static rgResult rgOverlapSearch_AddRobots(rgOverlapSearch* s) {
    const rgModel* model = s->model;
    size_t bodies = (size_t)model->info.bodyCount + 1, shapes = (size_t)model->info.shapeCount + 1;
    int* firstBody = rgArena_Take(&s->arena, bodies, sizeof(int));
    bool* isRobot = rgArena_Take(&s->arena, bodies, sizeof(bool));
    s->geometries = rgArena_Take(&s->arena, shapes, sizeof(rgGeometry*));
    s->shapes = rgArena_Take(&s->arena, shapes, sizeof(int));
    s->robots = rgArena_Take(&s->arena, shapes, sizeof(int));
    if (s->arena.failed) {
        return rg_errorMemory;
    }
    memset(firstBody, 0, bodies * sizeof(int));
    memset(isRobot, 0, bodies * sizeof(bool));
    rgMarkRobots(model, firstBody, isRobot);
    rgResult result = rg_ok;
    for (int i = 0; i < model->info.shapeCount && result == rg_ok; ++i) {
        int robot =
            rgTakesPart(&model->shapes[i]) ? rgTopmostBody(model, model->shapes[i].body) : 0;
        result = isRobot[robot] ? rgOverlapSearch_Add(s, i, robot) : rg_ok;
    }
    return result;
}

static bool rgMayOverlap(int proxyA, int proxyB, void* context) {
    const rgOverlapSearch* s = context;
    return s->robots[proxyA] == s->robots[proxyB] &&
           rgModel_ShapesMeet(s->model, (rgShapeId){s->shapes[proxyA] + 1},
                              (rgShapeId){s->shapes[proxyB] + 1});
}

// Penetration of two shapes [m]; 0: none. Planes and meshes do not meet.
static double rgOverlapSearch_Depth(const rgOverlapSearch* s, rgProxyPair pair) {
    rgProximity proximity;
    const rgGeometry *a = s->geometries[pair.a], *b = s->geometries[pair.b];
    if (rgDistance(a, rgOverlapSearch_Pose(s, pair.a), b, rgOverlapSearch_Pose(s, pair.b), NULL,
                   &proximity) != rg_ok) {
        return 0;
    }
    double size = RG_MIN(rgGeometry_BoundingRadius(a), rgGeometry_BoundingRadius(b));
    return proximity.distance < -RG_OVERLAP_SHARE * size ? -proximity.distance : 0;
}

static int rgCompareExcludedPairs(const void* left, const void* right) {
    const rgExcludedPair *p = left, *q = right;
    int a = p->a.index1 - q->a.index1;
    return a != 0 ? a : p->b.index1 - q->b.index1;
}

// Each pair of bodies once, with the depth of its deepest shapes.
static void rgOverlapSearch_Merge(rgOverlapSearch* s) {
    qsort(s->pairs, (size_t)s->pairCount, sizeof(rgExcludedPair), rgCompareExcludedPairs);
    int kept = 0;
    for (int i = 0; i < s->pairCount; ++i) {
        rgExcludedPair* last = kept > 0 ? &s->pairs[kept - 1] : NULL;
        if (last != NULL && rgCompareExcludedPairs(last, &s->pairs[i]) == 0) {
            last->overlap = RG_MAX(last->overlap, s->pairs[i].overlap);
        } else {
            s->pairs[kept++] = s->pairs[i];
        }
    }
    s->pairCount = kept;
}

static rgResult rgOverlapSearch_Measure(rgOverlapSearch* s) {
    int count = 0;
    const rgProxyPair* pairs = rgBroadphase_Pairs(s->broadphase, &count);
    s->pairs = rgArena_Take(&s->arena, (size_t)count + 1, sizeof(rgExcludedPair));
    if (s->pairs == NULL) {
        return rg_errorMemory;
    }
    for (int k = 0; k < count; ++k) {
        rgResult result = rgOverlapSearch_Need(s, pairs[k].a);
        result = result == rg_ok ? rgOverlapSearch_Need(s, pairs[k].b) : result;
        if (result == rg_errorMemory) {
            return result;
        }
        if (result != rg_ok) {
            continue; // such as a flat hull, which is reported when a world is made
        }
        double depth = rgOverlapSearch_Depth(s, pairs[k]);
        rgBodyId a = s->model->shapes[s->shapes[pairs[k].a]].body;
        rgBodyId b = s->model->shapes[s->shapes[pairs[k].b]].body;
        if (depth > 0) {
            s->pairs[s->pairCount++] = (rgExcludedPair){.a = a.index1 < b.index1 ? a : b,
                                                        .b = a.index1 < b.index1 ? b : a,
                                                        .overlap = depth};
        }
    }
    rgOverlapSearch_Merge(s);
    return rg_ok;
}

static rgResult rgOverlapSearch_Place(rgOverlapSearch* s) {
    rgDynamicsDef def = rgDefaultDynamicsDef(s->model);
    rgBroadphaseDef boxes = rgDefaultBroadphaseDef();
    boxes.fatten = boxes.fattenRelative = 0;
    boxes.allocator = def.allocator = s->model->allocator;
    double* q = rgArena_Take(&s->arena, (size_t)s->model->qCount + 1, sizeof(double));
    rgResult result = q != NULL ? rgCreateDynamics(s->model, &def, &s->poses) : rg_errorMemory;
    if (result != rg_ok) {
        return result;
    }
    rgModel_StartConfiguration(s->model, q);
    rgDynamics_SetPositions(s->poses, q);
    return rgCreateBroadphase(&boxes, &s->broadphase);
}

static rgResult rgOverlapSearch_Run(rgOverlapSearch* s) {
    rgResult result = rgOverlapSearch_Place(s);
    result = result == rg_ok ? rgOverlapSearch_AddRobots(s) : result;
    result = result == rg_ok ? rgBroadphase_Update(s->broadphase, rgMayOverlap, s) : result;
    return result == rg_ok ? rgOverlapSearch_Measure(s) : result;
}

static void rgOverlapSearch_Free(rgOverlapSearch* s) {
    for (int i = 0; i < s->proxyCount; ++i) {
        rgDestroyGeometry(s->geometries[i]);
    }
    rgDestroyBroadphase(s->broadphase);
    rgDestroyDynamics(s->poses);
    rgArena_Free(&s->arena);
}

static rgResult rgIgnorePairs(rgModelDef* model, const rgOverlapSearch* s) {
    rgResult result = rg_ok;
    for (int i = 0; i < s->pairCount && result == rg_ok; ++i) {
        result = rgModelDef_Exclude(model, &s->pairs[i]);
    }
    return result;
}

static void rgReportPairs(rgDiagnostics* diagnostics, rgSource source, int count, bool ignored) {
    const char* few = ignored ? "1 pair of parts of a robot overlaps at the start and does not "
                                "collide; with self-overlap 'keep' it collides"
                              : "1 pair of parts of a robot overlaps at the start and collides; "
                                "with self-overlap 'ignore' it does not";
    const char* many = ignored ? "pairs of parts of a robot overlap at the start and do not "
                                 "collide; with self-overlap 'keep' they collide"
                               : "pairs of parts of a robot overlap at the start and collide; with "
                                 "self-overlap 'ignore' they do not";
    if (count == 1) {
        rgDiagnostics_Add(diagnostics, rg_severityNote, source.file, source.line, "%s", few);
    } else {
        rgDiagnostics_Add(diagnostics, rg_severityNote, source.file, source.line, "%d %s", count,
                          many);
    }
}

rgResult rgExcludeSelfOverlaps(rgModelDef* model, const rgLoadDef* def, rgSelfOverlap byFile,
                               rgSource source, rgDiagnostics* diagnostics) {
    rgModel* compiled = NULL;
    rgResult result = rgCompileModel(model, &def->allocator, NULL, &compiled);
    if (result != rg_ok) {
        return result == rg_errorMemory ? result : rg_ok;
    }
    rgSelfOverlap use = def->selfOverlap != rg_selfOverlapFromFile ? def->selfOverlap : byFile;
    rgOverlapSearch s = {.model = compiled};
    rgArena_Init(&s.arena, &def->allocator);
    result = rgOverlapSearch_Run(&s);
    if (result == rg_ok && s.pairCount > 0) {
        rgReportPairs(diagnostics, source, s.pairCount, use == rg_selfOverlapIgnore);
        result = use == rg_selfOverlapIgnore ? rgIgnorePairs(model, &s) : rg_ok;
    }
    rgOverlapSearch_Free(&s);
    rgDestroyModel(compiled);
    return result == rg_errorMemory ? result : rg_ok;
}
