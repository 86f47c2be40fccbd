// Private view of the editable definition: plain arrays, in the order in which parts were added.
// The compiler and the exporters read it. Part k has the id k + 1.
#pragma once
#include "base/base.h"
#include "model/kinds.h"
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
#define RG_COOKIE_ATTACH   0x72670b0au

typedef struct rgPairDef {
    rgShapeId a, b;
    bool hasMaterial;
    rgMaterial material;
} rgPairDef;

// Parts that the arrays of a key cover: these joints, in the order of their coordinates, and these
// actuators. Parts that came later or with another definition are neutral. A key whose arrays fit
// the whole definition speaks of all of it.
typedef struct rgKeyCover {
    int firstJoint, jointCount;
    int firstActuator, actuatorCount;
} rgKeyCover;

// The first addition that failed: the definition lacks the part, and compile returns its error.
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
    rgKeyCover* covers; // keyCount
    int coverCapacity;
    rgExcludedPair* excludes;
    int excludeCount, excludeCapacity;
    rgPairDef* pairs;
    int pairCount, pairCapacity;
};

// Keep an error unless there is one already; compile tells it. def.c
void rgModelDef_StoreError(rgModelDef* def, rgResult result, rgSource source, const char* text);

// One kind of parts as an array of structs that start with a name. edit.c
typedef struct rgPartArray {
    const char* kind; // "body"
    char* parts;
    int* count;
    size_t size;
    size_t sourceAt; // of the rgSource in a part
} rgPartArray;
rgPartArray rgModelDef_Parts(const rgModelDef* def, rgPartKind kind);
const char* rgPartArray_Name(const rgPartArray* array, int index); // never NULL
rgSource rgPartArray_Source(const rgPartArray* array, int index);

// Joints in the order of their coordinates: depth first. order.c
rgResult rgModelDef_JointOrder(const rgModelDef* def, int* order);
int rgJointSize(rgJointKind kind, bool isVelocity);
// Coordinates of a range of joints.
int rgCoordinateCount(const rgModelDef* def, int first, int count, bool isVelocity);
// Parts that a key covers: all, if its arrays fit the whole definition.
rgKeyCover rgModelDef_KeyCover(const rgModelDef* def, int index);
// Fix that for all keys, before the definition grows or shrinks.
void rgModelDef_FixKeyCovers(rgModelDef* def);

// Remove these parts and all that depend on them. remove.c
rgResult rgModelDef_RemoveParts(rgModelDef* def, rgPartKind kind, const int* ids, int count,
                                rgDiagnostics* diagnostics);

// rgModelDef_ExcludePair() with the reason. def.c
rgResult rgModelDef_Exclude(rgModelDef* def, const rgExcludedPair* pair);

// Material of a pair from those of its shapes. filter.c
rgMaterial rgCombineMaterials(const rgMaterial* a, const rgMaterial* b, rgFrictionRule rule);

// Copies into an arena; NULL gives NULL. On lack of memory *failed becomes true.
const char* rgKeepString(rgArena* arena, const char* text, bool* failed);
void* rgKeepArray(rgArena* arena, const void* data, size_t count, size_t size, bool* failed);
const rgMeshData* rgKeepMesh(rgArena* arena, const rgMeshData* mesh, bool* failed);
const rgHeightFieldData* rgKeepHeightField(rgArena* arena, const rgHeightFieldData* field,
                                           bool* failed);
