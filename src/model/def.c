// The editable definition: every Add checks ids and cookies, then copies. What needs the whole
// definition is checked by compile.c.
#include "model/def.h"

#include <string.h>

const char* rgKeepString(rgArena* arena, const char* text, bool* failed) {
    return text != NULL ? rgKeepArray(arena, text, strlen(text) + 1, 1, failed) : NULL;
}

void* rgKeepArray(rgArena* arena, const void* data, size_t count, size_t size, bool* failed) {
    if (data == NULL) {
        return NULL;
    }
    void* copy = rgArena_Take(arena, count, size);
    if (copy == NULL) {
        *failed = true;
        return NULL;
    }
    memcpy(copy, data, count * size);
    return copy;
}

const rgMeshData* rgKeepMesh(rgArena* arena, const rgMeshData* mesh, bool* failed) {
    rgMeshData* copy = rgKeepArray(arena, mesh, 1, sizeof(*mesh), failed);
    if (copy != NULL) {
        copy->vertices = rgKeepArray(arena, mesh->vertices, (size_t)mesh->vertexCount * 3,
                                     sizeof(double), failed);
        copy->triangles = rgKeepArray(arena, mesh->triangles, (size_t)mesh->triangleCount * 3,
                                      sizeof(int), failed);
    }
    return copy;
}

const rgHeightFieldData* rgKeepHeightField(rgArena* arena, const rgHeightFieldData* field,
                                           bool* failed) {
    rgHeightFieldData* copy = rgKeepArray(arena, field, 1, sizeof(*field), failed);
    if (copy != NULL) {
        size_t count = (size_t)field->columnCount * (size_t)field->rowCount;
        copy->heights = rgKeepArray(arena, field->heights, count, sizeof(double), failed);
    }
    return copy;
}

rgResult rgCreateModelDef(const rgAllocator* allocator, rgModelDef** def) {
    if (def == NULL) {
        return rg_errorArgument;
    }
    rgModelDef* made = rgAllocate(allocator, 1, sizeof(*made));
    if (made == NULL) {
        return rg_errorMemory;
    }
    made->allocator = rgResolveAllocator(allocator);
    made->name = "";
    rgArena_Init(&made->arena, &made->allocator);
    *def = made;
    return rg_ok;
}

static void rgReleaseFiles(rgModelDef* def) {
    for (int i = 0; i < def->fileCount; ++i) {
        union {
            const char* view;
            void* memory;
        } file = {.view = def->files[i]};
        rgRelease(&def->allocator, file.memory);
    }
    rgRelease(&def->allocator, (void*)def->files);
}

void rgDestroyModelDef(rgModelDef* def) {
    if (def == NULL) {
        return;
    }
    rgAllocator allocator = def->allocator;
    rgReleaseFiles(def);
    void* const arrays[] = {def->bodies,     def->joints,    def->shapes,  def->frames,
                            def->tendons,    def->actuators, def->sensors, def->keys,
                            def->equalities, def->excludes,  def->pairs};
    for (int i = 0; i < RG_COUNT(arrays); ++i) {
        rgRelease(&allocator, arrays[i]);
    }
    rgArena_Free(&def->arena);
    rgRelease(&allocator, def);
}

// One addition under way: where the arena stood, and whether memory ran out.
typedef struct rgAddition {
    rgModelDef* def;
    rgArenaMark mark;
    bool failed;
} rgAddition;

static rgAddition rgBeginAddition(rgModelDef* def) {
    return (rgAddition){.def = def, .mark = rgArena_Mark(&def->arena)};
}

static const char* rgAddition_String(rgAddition* add, const char* text) {
    return rgKeepString(&add->def->arena, text, &add->failed);
}

static double* rgAddition_Numbers(rgAddition* add, const double* numbers, int count) {
    return rgKeepArray(&add->def->arena, numbers, (size_t)count, sizeof(double), &add->failed);
}

// Files have few names and many parts: each name is kept once.
static rgSource rgAddition_Source(rgAddition* add, rgSource source) {
    rgModelDef* def = add->def;
    if (source.file == NULL) {
        return source;
    }
    for (int i = def->fileCount - 1; i >= 0; --i) {
        if (strcmp(def->files[i], source.file) == 0) {
            return (rgSource){.file = def->files[i], .line = source.line};
        }
    }
    char* copy = rgCopyString(&def->allocator, source.file);
    if (copy == NULL || rgReserve(&def->allocator, (void**)&def->files, &def->fileCapacity,
                                  def->fileCount, def->fileCount + 1, sizeof(char*)) != rg_ok) {
        rgRelease(&def->allocator, copy);
        add->failed = true;
        return (rgSource){0};
    }
    def->files[def->fileCount++] = copy;
    return (rgSource){.file = copy, .line = source.line};
}

// Append value to one of the arrays, or undo the addition.
static rgResult rgAddition_End(rgAddition* add, void** array, int* count, int* capacity,
                               const void* value, size_t size) {
    rgModelDef* def = add->def;
    if (add->failed ||
        rgReserve(&def->allocator, array, capacity, *count, *count + 1, size) != rg_ok) {
        rgArena_Return(&def->arena, add->mark);
        return rg_errorMemory;
    }
    memcpy((char*)*array + (size_t)*count * size, value, size);
    *count += 1;
    return rg_ok;
}

// Null ids are allowed here; rgIsPart also refuses them.
static bool rgIsNullOrPart(int index1, int count) {
    return index1 >= 0 && index1 <= count;
}

static bool rgIsPart(int index1, int count) {
    return index1 >= 1 && index1 <= count;
}

rgResult rgModelDef_AddBody(rgModelDef* def, const rgBodyDef* body, rgBodyId* id) {
    if (def == NULL || body == NULL || body->cookie != RG_COOKIE_BODY ||
        !rgIsNullOrPart(body->parent.index1, def->bodyCount)) {
        return rg_errorArgument;
    }
    rgAddition add = rgBeginAddition(def);
    rgBodyDef copy = *body;
    copy.name = rgAddition_String(&add, body->name);
    copy.source = rgAddition_Source(&add, body->source);
    rgResult result = rgAddition_End(&add, (void**)&def->bodies, &def->bodyCount,
                                     &def->bodyCapacity, &copy, sizeof(copy));
    if (result == rg_ok && id != NULL) {
        id->index1 = def->bodyCount;
    }
    return result;
}

rgResult rgModelDef_AddJoint(rgModelDef* def, const rgJointDef* joint, rgJointId* id) {
    if (def == NULL || joint == NULL || joint->cookie != RG_COOKIE_JOINT ||
        !rgIsPart(joint->body.index1, def->bodyCount)) {
        return rg_errorArgument;
    }
    rgAddition add = rgBeginAddition(def);
    rgJointDef copy = *joint;
    copy.name = rgAddition_String(&add, joint->name);
    copy.source = rgAddition_Source(&add, joint->source);
    rgResult result = rgAddition_End(&add, (void**)&def->joints, &def->jointCount,
                                     &def->jointCapacity, &copy, sizeof(copy));
    if (result == rg_ok && id != NULL) {
        id->index1 = def->jointCount;
    }
    return result;
}

static bool rgMeshIsUsable(const rgMeshData* mesh) {
    return mesh == NULL ||
           (mesh->vertexCount >= 0 && mesh->triangleCount >= 0 &&
            mesh->vertexCount <= INT32_MAX / 3 && mesh->triangleCount <= INT32_MAX / 3 &&
            (mesh->vertexCount == 0 || mesh->vertices != NULL) &&
            (mesh->triangleCount == 0 || mesh->triangles != NULL));
}

static bool rgHeightFieldIsUsable(const rgHeightFieldData* field) {
    return field == NULL ||
           (field->columnCount >= 0 && field->rowCount >= 0 &&
            (field->rowCount == 0 || field->columnCount <= INT32_MAX / field->rowCount) &&
            (field->columnCount == 0 || field->rowCount == 0 || field->heights != NULL));
}

rgResult rgModelDef_AddShape(rgModelDef* def, const rgShapeDef* shape, rgShapeId* id) {
    if (def == NULL || shape == NULL || shape->cookie != RG_COOKIE_SHAPE ||
        !rgIsNullOrPart(shape->body.index1, def->bodyCount) || !rgMeshIsUsable(shape->mesh) ||
        !rgHeightFieldIsUsable(shape->heightField)) {
        return rg_errorArgument;
    }
    rgAddition add = rgBeginAddition(def);
    rgShapeDef copy = *shape;
    copy.name = rgAddition_String(&add, shape->name);
    copy.source = rgAddition_Source(&add, shape->source);
    copy.mesh = rgKeepMesh(&def->arena, shape->mesh, &add.failed);
    copy.heightField = rgKeepHeightField(&def->arena, shape->heightField, &add.failed);
    rgResult result = rgAddition_End(&add, (void**)&def->shapes, &def->shapeCount,
                                     &def->shapeCapacity, &copy, sizeof(copy));
    if (result == rg_ok && id != NULL) {
        id->index1 = def->shapeCount;
    }
    return result;
}

rgResult rgModelDef_AddFrame(rgModelDef* def, const rgFrameDef* frame, rgFrameId* id) {
    if (def == NULL || frame == NULL || frame->cookie != RG_COOKIE_FRAME ||
        !rgIsNullOrPart(frame->body.index1, def->bodyCount)) {
        return rg_errorArgument;
    }
    rgAddition add = rgBeginAddition(def);
    rgFrameDef copy = *frame;
    copy.name = rgAddition_String(&add, frame->name);
    copy.source = rgAddition_Source(&add, frame->source);
    rgResult result = rgAddition_End(&add, (void**)&def->frames, &def->frameCount,
                                     &def->frameCapacity, &copy, sizeof(copy));
    if (result == rg_ok && id != NULL) {
        id->index1 = def->frameCount;
    }
    return result;
}

static bool rgTendonIsUsable(const rgModelDef* def, const rgTendonDef* tendon) {
    if (tendon->jointCount < 0 ||
        (tendon->jointCount > 0 && (tendon->joints == NULL || tendon->coefficients == NULL))) {
        return false;
    }
    for (int i = 0; i < tendon->jointCount; ++i) {
        if (!rgIsPart(tendon->joints[i].index1, def->jointCount)) {
            return false;
        }
    }
    return true;
}

rgResult rgModelDef_AddTendon(rgModelDef* def, const rgTendonDef* tendon, rgTendonId* id) {
    if (def == NULL || tendon == NULL || tendon->cookie != RG_COOKIE_TENDON ||
        !rgTendonIsUsable(def, tendon)) {
        return rg_errorArgument;
    }
    rgAddition add = rgBeginAddition(def);
    rgTendonDef copy = *tendon;
    copy.name = rgAddition_String(&add, tendon->name);
    copy.source = rgAddition_Source(&add, tendon->source);
    copy.joints = rgKeepArray(&def->arena, tendon->joints, (size_t)tendon->jointCount,
                              sizeof(rgJointId), &add.failed);
    copy.coefficients = rgAddition_Numbers(&add, tendon->coefficients, tendon->jointCount);
    rgResult result = rgAddition_End(&add, (void**)&def->tendons, &def->tendonCount,
                                     &def->tendonCapacity, &copy, sizeof(copy));
    if (result == rg_ok && id != NULL) {
        id->index1 = def->tendonCount;
    }
    return result;
}

rgResult rgModelDef_AddActuator(rgModelDef* def, const rgActuatorDef* actuator, rgActuatorId* id) {
    if (def == NULL || actuator == NULL || actuator->cookie != RG_COOKIE_ACTUATOR ||
        !rgIsNullOrPart(actuator->joint.index1, def->jointCount) ||
        !rgIsNullOrPart(actuator->tendon.index1, def->tendonCount)) {
        return rg_errorArgument;
    }
    rgAddition add = rgBeginAddition(def);
    rgActuatorDef copy = *actuator;
    copy.name = rgAddition_String(&add, actuator->name);
    copy.source = rgAddition_Source(&add, actuator->source);
    rgResult result = rgAddition_End(&add, (void**)&def->actuators, &def->actuatorCount,
                                     &def->actuatorCapacity, &copy, sizeof(copy));
    if (result == rg_ok && id != NULL) {
        id->index1 = def->actuatorCount;
    }
    return result;
}

rgResult rgModelDef_AddEquality(rgModelDef* def, const rgEqualityDef* equality, rgEqualityId* id) {
    if (def == NULL || equality == NULL || equality->cookie != RG_COOKIE_EQUALITY ||
        !rgIsNullOrPart(equality->bodyA.index1, def->bodyCount) ||
        !rgIsNullOrPart(equality->bodyB.index1, def->bodyCount) ||
        !rgIsNullOrPart(equality->jointA.index1, def->jointCount) ||
        !rgIsNullOrPart(equality->jointB.index1, def->jointCount) ||
        !rgIsNullOrPart(equality->tendonA.index1, def->tendonCount) ||
        !rgIsNullOrPart(equality->tendonB.index1, def->tendonCount)) {
        return rg_errorArgument;
    }
    rgAddition add = rgBeginAddition(def);
    rgEqualityDef copy = *equality;
    copy.name = rgAddition_String(&add, equality->name);
    copy.source = rgAddition_Source(&add, equality->source);
    rgResult result = rgAddition_End(&add, (void**)&def->equalities, &def->equalityCount,
                                     &def->equalityCapacity, &copy, sizeof(copy));
    if (result == rg_ok && id != NULL) {
        id->index1 = def->equalityCount;
    }
    return result;
}

rgResult rgModelDef_AddSensor(rgModelDef* def, const rgSensorDef* sensor, rgSensorId* id) {
    if (def == NULL || sensor == NULL || sensor->cookie != RG_COOKIE_SENSOR ||
        !rgIsNullOrPart(sensor->joint.index1, def->jointCount) ||
        !rgIsNullOrPart(sensor->tendon.index1, def->tendonCount) ||
        !rgIsNullOrPart(sensor->actuator.index1, def->actuatorCount) ||
        !rgIsNullOrPart(sensor->frame.index1, def->frameCount) ||
        !rgIsNullOrPart(sensor->body.index1, def->bodyCount)) {
        return rg_errorArgument;
    }
    rgAddition add = rgBeginAddition(def);
    rgSensorDef copy = *sensor;
    copy.name = rgAddition_String(&add, sensor->name);
    copy.source = rgAddition_Source(&add, sensor->source);
    rgResult result = rgAddition_End(&add, (void**)&def->sensors, &def->sensorCount,
                                     &def->sensorCapacity, &copy, sizeof(copy));
    if (result == rg_ok && id != NULL) {
        id->index1 = def->sensorCount;
    }
    return result;
}

rgResult rgModelDef_AddKey(rgModelDef* def, const rgKeyDef* key, rgKeyId* id) {
    if (def == NULL || key == NULL || key->cookie != RG_COOKIE_KEY || key->qCount < 0 ||
        key->vCount < 0 || key->controlCount < 0) {
        return rg_errorArgument;
    }
    rgAddition add = rgBeginAddition(def);
    rgKeyDef copy = *key;
    copy.name = rgAddition_String(&add, key->name);
    copy.source = rgAddition_Source(&add, key->source);
    copy.q = rgAddition_Numbers(&add, key->q, key->qCount);
    copy.v = rgAddition_Numbers(&add, key->v, key->vCount);
    copy.control = rgAddition_Numbers(&add, key->control, key->controlCount);
    rgResult result = rgAddition_End(&add, (void**)&def->keys, &def->keyCount, &def->keyCapacity,
                                     &copy, sizeof(copy));
    if (result == rg_ok && id != NULL) {
        id->index1 = def->keyCount;
    }
    return result;
}

rgResult rgModelDef_ExcludePair(rgModelDef* def, rgBodyId a, rgBodyId b) {
    if (def == NULL || !rgIsNullOrPart(a.index1, def->bodyCount) ||
        !rgIsNullOrPart(b.index1, def->bodyCount)) {
        return rg_errorArgument;
    }
    rgAddition add = rgBeginAddition(def);
    rgExcludeDef exclude = {.a = a, .b = b};
    return rgAddition_End(&add, (void**)&def->excludes, &def->excludeCount, &def->excludeCapacity,
                          &exclude, sizeof(exclude));
}

rgResult rgModelDef_AddPair(rgModelDef* def, rgShapeId a, rgShapeId b, const rgMaterial* material) {
    if (def == NULL || !rgIsPart(a.index1, def->shapeCount) ||
        !rgIsPart(b.index1, def->shapeCount) || a.index1 == b.index1) {
        return rg_errorArgument;
    }
    rgAddition add = rgBeginAddition(def);
    rgPairDef pair = {.a = a, .b = b, .hasMaterial = material != NULL};
    pair.material = material != NULL ? *material : rgDefaultMaterial();
    return rgAddition_End(&add, (void**)&def->pairs, &def->pairCount, &def->pairCapacity, &pair,
                          sizeof(pair));
}

void rgModelDef_SetName(rgModelDef* def, const char* name) {
    bool failed = false;
    const char* copy = def != NULL ? rgKeepString(&def->arena, name, &failed) : NULL;
    if (copy != NULL) {
        def->name = copy;
    }
}

void rgModelDef_SetOptions(rgModelDef* def, const rgModelOptions* options) {
    if (def != NULL && options != NULL) {
        def->options = *options;
    }
}
