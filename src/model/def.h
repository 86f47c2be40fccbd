// Private view of the editable definition: plain arrays, in the order in which parts were added.
// The compiler and the exporters read it. Part k has the id k + 1.
#pragma once
#include "base/base.h"
#include "rigor/model.h"

#define RG_COOKIE_BODY     0x72670b01u
#define RG_COOKIE_JOINT    0x72670b02u
#define RG_COOKIE_SHAPE    0x72670b03u
#define RG_COOKIE_FRAME    0x72670b04u
#define RG_COOKIE_TENDON   0x72670b05u
#define RG_COOKIE_ACTUATOR 0x72670b06u
#define RG_COOKIE_EQUALITY 0x72670b07u
#define RG_COOKIE_SENSOR   0x72670b08u
#define RG_COOKIE_KEY      0x72670b09u

typedef struct rgExcludeDef {
    rgBodyId a, b;
} rgExcludeDef;

typedef struct rgPairDef {
    rgShapeId a, b;
    bool hasMaterial;
    rgMaterial material;
} rgPairDef;

// The first addition that failed: what was meant is not in the definition, and compile says so.
typedef struct rgRefusal {
    rgResult result; // rg_ok: none
    rgSource source;
    char text[240];
} rgRefusal;

// Strings, meshes and other arrays that the parts point to live in the arena.
struct rgModelDef {
    rgAllocator allocator;
    rgArena arena;
    rgRefusal refusal;
    const char* name; // never NULL
    rgModelOptions options;
    const char** files; // names of source files, each kept once
    int fileCount, fileCapacity;
    rgBodyDef* bodies;
    int bodyCount, bodyCapacity;
    rgJointDef* joints;
    int jointCount, jointCapacity;
    rgShapeDef* shapes;
    int shapeCount, shapeCapacity;
    rgFrameDef* frames;
    int frameCount, frameCapacity;
    rgTendonDef* tendons;
    int tendonCount, tendonCapacity;
    rgActuatorDef* actuators;
    int actuatorCount, actuatorCapacity;
    rgEqualityDef* equalities;
    int equalityCount, equalityCapacity;
    rgSensorDef* sensors;
    int sensorCount, sensorCapacity;
    rgKeyDef* keys;
    int keyCount, keyCapacity;
    rgExcludeDef* excludes;
    int excludeCount, excludeCapacity;
    rgPairDef* pairs;
    int pairCount, pairCapacity;
};

// What two materials make of a pair. filter.c
rgMaterial rgCombineMaterials(const rgMaterial* a, const rgMaterial* b, rgFrictionRule rule);

// Copies into an arena; NULL gives NULL. On lack of memory *failed becomes true.
const char* rgKeepString(rgArena* arena, const char* text, bool* failed);
void* rgKeepArray(rgArena* arena, const void* data, size_t count, size_t size, bool* failed);
const rgMeshData* rgKeepMesh(rgArena* arena, const rgMeshData* mesh, bool* failed);
const rgHeightFieldData* rgKeepHeightField(rgArena* arena, const rgHeightFieldData* field,
                                           bool* failed);
