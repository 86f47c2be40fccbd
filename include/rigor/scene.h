// Scenes that come with the library: a model, its start, and a script.
#pragma once
#include "rigor/world.h"

/// Description of a scene, before it is built.
typedef struct rgSceneInfo {
    const char* name;        ///< "wall"
    const char* description; ///< one line
    double duration;         ///< [s] worth watching
    int defaultCount;        ///< bodies when rgSceneDef.count is 0; 0: the scene has one size only
} rgSceneInfo;

/// Start from rgDefaultSceneDef(), then set members.
typedef struct rgSceneDef {
    int count;        ///< bodies of a scene that comes in sizes, at most 1000000; 0: its own number
    uint64_t seed;    ///< of scenes with random parts
    bool fileContact; ///< robots: contact softness as their files say, where they say it
    rgAllocator allocator;
    uint32_t cookie;
} rgSceneDef;

RG_API rgSceneDef rgDefaultSceneDef(void);

RG_API int rgSceneCount(void);
RG_API const rgSceneInfo* rgSceneAt(int index);          ///< NULL when there is none
RG_API const rgSceneInfo* rgFindScene(const char* name); ///< NULL when there is none

/// The definition of a scene's model. The caller may add to it, compiles and destroys it. The def
/// may be NULL. A count is refused where the scene has one size only.
RG_API rgResult rgBuildScene(const rgSceneInfo* scene, const rgSceneDef* def,
                             rgDiagnostics* diagnostics, rgModelDef** model);

/// Put a world of the scene's model into its start: state, controls, disabled bodies.
RG_API rgResult rgScene_Start(const rgSceneInfo* scene, rgWorld* world);
/// Actions of the scene's script at the world's time. Call it before every step. It has no state
/// of its own, so save and restore are complete without it.
RG_API rgResult rgScene_Act(const rgSceneInfo* scene, rgWorld* world);
/// True if the script, not mechanics alone, moves this body.
RG_API bool rgScene_Moves(const rgSceneInfo* scene, const rgModel* model, rgBodyId body);
