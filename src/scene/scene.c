// The table of scenes, and their functions.
#include "scene/scene.h"

#include "base/base.h"
#include "rigor/dynamics.h"
#include "rigor/io.h"

#include <string.h>

enum { rg_sceneCookie = 0x53434e45, rg_sceneMaxCount = 1000000 };

static const rgSceneEntry rgScenes[] = {
    {.info = {"wall", "pyramid of 15 cubes, 1 kg below to 10^4 kg on top; a ball hits it at 2 s", 4,
              0},
     .build = rgBuildWall,
     .waiting = "ball",
     .launchTime = 2,
     .launchVelocity = {0, 10, 0}},
    {.info = {"wall3x5",
              "straight wall of 3 x 5 cubes, 1 kg below to 10^4 kg on top; a ball hits "
              "it at 2 s",
              4, 0},
     .build = rgBuildStraightWall,
     .waiting = "ball",
     .launchTime = 2,
     .launchVelocity = {0, 10, 0}},
    {.info = {"humanoid", "an adult of 75 kg collapses", 3, 0},
     .model = "humanoid",
     .key = "stand"},
    {.info = {"quadruped", "a quadruped stands, its joints held by servos", 3, 0},
     .model = "quadruped",
     .build = rgHoldQuadruped},
    {.info = {"quadruped-fall", "a limp quadruped falls, tilted", 3, 0},
     .model = "quadruped",
     .build = rgDropQuadruped},
    {.info = {"hand", "three cubes fall into a hand", 3, 0}, .model = "hand", .key = "open"},
    {.info = {"arm", "a limp arm of six axes falls on its table", 3, 0},
     .model = "arm",
     .key = "home"},
    {.info = {"biped", "a biped with four closed loops collapses", 3, 0},
     .model = "biped",
     .key = "stand"},
    {.info = {"chain", "a chain of rods swings down on the floor", 5, 20}, .build = rgBuildChain},
    {.info = {"tower", "boxes on top of each other", 5, 30}, .build = rgBuildTower},
    {.info = {"domino", "a row of dominoes falls", 5, 20}, .build = rgBuildDomino},
    {.info = {"pile", "boxes, balls and rods fall into a pit", 3, 200}, .build = rgBuildPile},
    {.info = {"incline", "a cube on a slope, at 0.98 of its friction", 5, 0},
     .build = rgBuildIncline},
    {.info = {"sliding", "a cube slides from 1 m/s to rest", 1, 0}, .build = rgBuildSliding},
    {.info = {"bouncing", "a ball falls from 1 m and bounces, restitution 0.8", 5, 0},
     .build = rgBuildBouncing},
    {.info = {"top", "a spinning top", 3, 0}, .build = rgBuildTop},
    {.info = {"grasp", "two fingers hold a cube in the air", 10, 0}, .build = rgBuildGrasp},
    {.info = {"massratio", "1 kg under 10^4 kg", 2, 0}, .build = rgBuildMassRatio},
};

rgSceneDef rgDefaultSceneDef(void) {
    return (rgSceneDef){.cookie = rg_sceneCookie};
}

int rgSceneCount(void) {
    return RG_COUNT(rgScenes);
}

const rgSceneInfo* rgSceneAt(int index) {
    return index >= 0 && index < RG_COUNT(rgScenes) ? &rgScenes[index].info : NULL;
}

const rgSceneInfo* rgFindScene(const char* name) {
    for (int i = 0; name != NULL && i < RG_COUNT(rgScenes); ++i) {
        if (strcmp(rgScenes[i].info.name, name) == 0) {
            return &rgScenes[i].info;
        }
    }
    return NULL;
}

static const rgSceneEntry* rgScene_Entry(const rgSceneInfo* scene) {
    for (int i = 0; i < RG_COUNT(rgScenes); ++i) {
        if (scene == &rgScenes[i].info) {
            return &rgScenes[i];
        }
    }
    return NULL;
}

// ---- building ----

static void rgLoadSceneModel(rgSceneBuilder* builder, const char* name) {
    const rgBuiltinModel* file = rgFindBuiltinModel(name);
    if (file == NULL) {
        rgDiagnostics_Add(builder->diagnostics, rg_severityError, NULL, 0,
                          "the library was built without the model '%s'", name);
        builder->result = rg_errorUnsupported;
        return;
    }
    rgLoadDef load = rgDefaultLoadDef();
    load.allocator = builder->allocator;
    load.fileContact = builder->fileContact;
    builder->result = rgParseModelDef(file->text, file->byteCount, name, &load,
                                      builder->diagnostics, &builder->def);
}

static void rgBeginScene(rgSceneBuilder* builder, const rgSceneEntry* entry) {
    if (entry->model != NULL) {
        rgLoadSceneModel(builder, entry->model);
        return;
    }
    builder->result = rgCreateModelDef(&builder->allocator, &builder->def);
    if (builder->result == rg_ok) {
        rgModelOptions options = {.gravity = {0, 0, -9.81}, .timeStep = 1e-3, .hasGravity = true};
        rgModelDef_SetName(builder->def, entry->info.name);
        rgModelDef_SetOptions(builder->def, &options);
    }
}

static bool rgCheckSceneDef(const rgSceneInfo* scene, const rgSceneDef* def,
                            rgDiagnostics* diagnostics) {
    if (def->cookie != rg_sceneCookie) {
        rgDiagnostics_Add(diagnostics, rg_severityError, NULL, 0,
                          "the scene def does not come from rgDefaultSceneDef()");
        return false;
    }
    if (def->count != 0 && scene->defaultCount == 0) {
        rgDiagnostics_Add(diagnostics, rg_severityError, NULL, 0,
                          "scene '%s' has one size only; it takes no count of bodies", scene->name);
        return false;
    }
    if (def->count < 0 || def->count > rg_sceneMaxCount) {
        rgDiagnostics_Add(diagnostics, rg_severityError, NULL, 0,
                          "a scene can have 1 to %d bodies, not %d", rg_sceneMaxCount, def->count);
        return false;
    }
    return true;
}

rgResult rgBuildScene(const rgSceneInfo* scene, const rgSceneDef* def, rgDiagnostics* diagnostics,
                      rgModelDef** model) {
    const rgSceneEntry* entry = scene != NULL ? rgScene_Entry(scene) : NULL;
    rgSceneDef settings = def != NULL ? *def : rgDefaultSceneDef();
    if (entry == NULL || model == NULL || !rgCheckSceneDef(scene, &settings, diagnostics)) {
        return rg_errorArgument;
    }
    rgSceneBuilder builder = {.allocator = rgResolveAllocator(&settings.allocator),
                              .diagnostics = diagnostics,
                              .material = rgDefaultMaterial(),
                              .count = settings.count > 0 ? settings.count : scene->defaultCount,
                              .random = settings.seed,
                              .fileContact = settings.fileContact};
    builder.material.mu = 0.5;
    rgBeginScene(&builder, entry);
    if (builder.result == rg_ok && entry->build != NULL) {
        entry->build(&builder);
    }
    rgRelease(&builder.allocator, builder.start);
    if (builder.result != rg_ok) {
        rgDestroyModelDef(builder.def);
        return builder.result;
    }
    *model = builder.def;
    return rg_ok;
}

// ---- running ----

static rgResult rgLaunch(const rgSceneEntry* entry, rgWorld* world, rgBodyId body) {
    const rgModel* model = rgWorld_Model(world);
    rgAllocator allocator = rgResolveAllocator(&(rgAllocator){0});
    int qCount = 0, vCount = 0;
    const double* q = rgWorld_Positions(world, &qCount);
    const double* now = rgWorld_Velocities(world, &vCount);
    size_t count = (size_t)qCount + (size_t)vCount;
    double* copy = rgAllocate(&allocator, count, sizeof(double));
    if (copy == NULL) {
        return rg_errorMemory;
    }
    double* v = copy + qCount;
    memcpy(copy, q, (size_t)qCount * sizeof(double));
    memcpy(v, now, (size_t)vCount * sizeof(double));
    // The body waits with the axes of the world, so that its frame is the world's.
    for (int i = 1; i <= rgModel_Info(model).jointCount; ++i) {
        if (rgModel_Joint(model, (rgJointId){i})->body.index1 == body.index1) {
            double* own = v + rgModel_JointRange(model, (rgJointId){i}).v;
            own[0] = entry->launchVelocity.x;
            own[1] = entry->launchVelocity.y;
            own[2] = entry->launchVelocity.z;
        }
    }
    rgResult result = rgWorld_EnableBody(world, body, true);
    result = result == rg_ok ? rgWorld_SetState(world, copy, v) : result;
    rgRelease(&allocator, copy);
    return result;
}

rgResult rgScene_Start(const rgSceneInfo* scene, rgWorld* world) {
    const rgSceneEntry* entry = scene != NULL ? rgScene_Entry(scene) : NULL;
    if (entry == NULL || world == NULL) {
        return rg_errorArgument;
    }
    const rgModel* model = rgWorld_Model(world);
    const char* key = entry->key != NULL ? entry->key : "start";
    rgResult result = rgWorld_Reset(world, rgModel_FindKey(model, key));
    if (result == rg_ok && entry->waiting != NULL) {
        result = rgWorld_EnableBody(world, rgModel_FindBody(model, entry->waiting), false);
    }
    return result;
}

rgResult rgScene_Act(const rgSceneInfo* scene, rgWorld* world) {
    const rgSceneEntry* entry = scene != NULL ? rgScene_Entry(scene) : NULL;
    if (entry == NULL || world == NULL) {
        return rg_errorArgument;
    }
    double half = 0.5 * rgWorld_TimeStep(world);
    double after = rgWorld_Time(world) - entry->launchTime;
    if (entry->waiting == NULL || after < -half || after >= half) {
        return rg_ok;
    }
    return rgLaunch(entry, world, rgModel_FindBody(rgWorld_Model(world), entry->waiting));
}

bool rgScene_Moves(const rgSceneInfo* scene, const rgModel* model, rgBodyId body) {
    const rgSceneEntry* entry = scene != NULL ? rgScene_Entry(scene) : NULL;
    return entry != NULL && entry->waiting != NULL && model != NULL && body.index1 != 0 &&
           rgModel_FindBody(model, entry->waiting).index1 == body.index1;
}
