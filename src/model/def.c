// The editable definition: every Add checks ids and cookies, then copies. What needs the whole
// definition is checked by compile.c.
#include "model/def.h"

#include <stdarg.h>
#include <stdio.h>
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
                            def->equalities, def->excludes,  def->pairs,   def->covers};
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

// ---- refusals

// Part that is added or changed, for messages.
typedef struct rgPart {
    const char* kind;
    const char* name;
    rgSource source;
    bool isThere; // it is changed
} rgPart;

void rgModelDef_StoreError(rgModelDef* def, rgResult result, rgSource source, const char* text) {
    rgRefusal* refusal = &def->refusal;
    if (refusal->result != rg_ok) {
        return; // the first one is the cause of others
    }
    rgAddition add = {.def = def};
    snprintf(refusal->text, sizeof(refusal->text), "%s", text);
    refusal->source = rgAddition_Source(&add, source);
    refusal->result = result;
}

static void rgRefuse(rgModelDef* def, const rgPart* part, rgResult result, const char* format, ...)
    __attribute__((format(printf, 4, 5)));

static void rgRefuse(rgModelDef* def, const rgPart* part, rgResult result, const char* format,
                     ...) {
    char why[160], text[sizeof(def->refusal.text)];
    va_list arguments;
    va_start(arguments, format);
    rgPrintList(why, sizeof(why), format, arguments);
    va_end(arguments);
    bool named = part->name != NULL && part->name[0] != '\0';
    snprintf(text, sizeof(text), "%s%s%.40s%s was not %s: %s", part->kind, named ? " '" : "",
             named ? part->name : "", named ? "'" : "", part->isThere ? "changed" : "added", why);
    rgModelDef_StoreError(def, result, part->source, text);
}

// Without the cookie nothing in the definition can be trusted, its name least.
static bool rgIsMade(rgModelDef* def, const rgPart* part, uint32_t cookie, uint32_t wanted) {
    if (cookie != wanted) {
        rgPart unknown = {.kind = part->kind, .isThere = part->isThere};
        rgRefuse(def, &unknown, rg_errorArgument,
                 "its definition does not come from rgDefault...Def()");
    }
    return cookie == wanted;
}

// True if an id names a part that exists; the null id where nothing is meant as well.
static bool rgNames(rgModelDef* def, const rgPart* part, const char* what, int index1, int count) {
    bool good = index1 >= 0 && index1 <= count;
    if (!good) {
        rgRefuse(def, part, rg_errorArgument, "its %s has id %d, and there are %d", what, index1,
                 count);
    }
    return good;
}

static bool rgMustName(rgModelDef* def, const rgPart* part, const char* what, int index1,
                       int count) {
    if (index1 == 0) {
        rgRefuse(def, part, rg_errorArgument, "its %s is the null id", what);
    }
    return index1 != 0 && rgNames(def, part, what, index1, count);
}

static bool rgMustHold(rgModelDef* def, const rgPart* part, bool good, const char* why) {
    if (!good) {
        rgRefuse(def, part, rg_errorArgument, "%s", why);
    }
    return good;
}

// Put value at a place of one of the arrays, the end included, or undo the addition.
static rgResult rgAddition_End(rgAddition* add, const rgPart* part, void** array, int* count,
                               int* capacity, int at, const void* value, size_t size) {
    rgModelDef* def = add->def;
    if (add->failed ||
        rgReserve(&def->allocator, array, capacity, *count, *count + 1, size) != rg_ok) {
        rgArena_Return(&def->arena, add->mark);
        rgRefuse(def, part, rg_errorMemory, "out of memory");
        return rg_errorMemory;
    }
    memcpy((char*)*array + (size_t)at * size, value, size);
    *count += at == *count;
    return rg_ok;
}

// True if there is such a part to change.
static bool rgCanSet(rgModelDef* def, const void* value, const char* kind, int index1, int count) {
    rgPart part = {.kind = kind, .isThere = true};
    if (def == NULL || value == NULL) {
        return false;
    }
    if (index1 == 0) {
        rgRefuse(def, &part, rg_errorArgument, "the id is null; its name may not have been found");
    } else if (index1 < 0 || index1 > count) {
        rgRefuse(def, &part, rg_errorArgument, "it has id %d, and there are %d", index1, count);
    }
    return index1 >= 1 && index1 <= count;
}

// ---- parts

static rgResult rgPutBody(rgModelDef* def, const rgBodyDef* body, int at) {
    rgPart part = {"body", body->name, body->source, at < def->bodyCount};
    if (!rgIsMade(def, &part, body->cookie, RG_COOKIE_BODY) ||
        !rgNames(def, &part, "parent", body->parent.index1, def->bodyCount) ||
        !rgMustHold(def, &part, body->parent.index1 <= at, "its parent comes after it")) {
        return rg_errorArgument;
    }
    rgAddition add = rgBeginAddition(def);
    rgBodyDef copy = *body;
    copy.name = rgAddition_String(&add, body->name);
    copy.source = rgAddition_Source(&add, body->source);
    return rgAddition_End(&add, &part, (void**)&def->bodies, &def->bodyCount, &def->bodyCapacity,
                          at, &copy, sizeof(copy));
}

rgResult rgModelDef_AddBody(rgModelDef* def, const rgBodyDef* body, rgBodyId* id) {
    if (def == NULL || body == NULL) {
        return rg_errorArgument;
    }
    rgResult result = rgPutBody(def, body, def->bodyCount);
    if (result == rg_ok && id != NULL) {
        id->index1 = def->bodyCount;
    }
    return result;
}

rgResult rgModelDef_SetBody(rgModelDef* def, rgBodyId id, const rgBodyDef* body) {
    return rgCanSet(def, body, "body", id.index1, def != NULL ? def->bodyCount : 0)
               ? rgPutBody(def, body, id.index1 - 1)
               : rg_errorArgument;
}

static rgResult rgPutJoint(rgModelDef* def, const rgJointDef* joint, int at) {
    rgPart part = {"joint", joint->name, joint->source, at < def->jointCount};
    if (!rgIsMade(def, &part, joint->cookie, RG_COOKIE_JOINT) ||
        !rgMustName(def, &part, "body", joint->body.index1, def->bodyCount)) {
        return rg_errorArgument;
    }
    rgAddition add = rgBeginAddition(def);
    rgJointDef copy = *joint;
    copy.name = rgAddition_String(&add, joint->name);
    copy.source = rgAddition_Source(&add, joint->source);
    return rgAddition_End(&add, &part, (void**)&def->joints, &def->jointCount, &def->jointCapacity,
                          at, &copy, sizeof(copy));
}

rgResult rgModelDef_AddJoint(rgModelDef* def, const rgJointDef* joint, rgJointId* id) {
    if (def == NULL || joint == NULL) {
        return rg_errorArgument;
    }
    rgResult result = rgPutJoint(def, joint, def->jointCount);
    if (result == rg_ok && id != NULL) {
        id->index1 = def->jointCount;
    }
    return result;
}

rgResult rgModelDef_SetJoint(rgModelDef* def, rgJointId id, const rgJointDef* joint) {
    return rgCanSet(def, joint, "joint", id.index1, def != NULL ? def->jointCount : 0)
               ? rgPutJoint(def, joint, id.index1 - 1)
               : rg_errorArgument;
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

static rgResult rgPutShape(rgModelDef* def, const rgShapeDef* shape, int at) {
    rgPart part = {"shape", shape->name, shape->source, at < def->shapeCount};
    if (!rgIsMade(def, &part, shape->cookie, RG_COOKIE_SHAPE) ||
        !rgNames(def, &part, "body", shape->body.index1, def->bodyCount) ||
        !rgMustHold(def, &part, rgMeshIsUsable(shape->mesh),
                    "its mesh has a wrong count, or counts without arrays") ||
        !rgMustHold(def, &part, rgHeightFieldIsUsable(shape->heightField),
                    "its height field has a wrong count, or counts without heights")) {
        return rg_errorArgument;
    }
    rgAddition add = rgBeginAddition(def);
    rgShapeDef copy = *shape;
    copy.name = rgAddition_String(&add, shape->name);
    copy.source = rgAddition_Source(&add, shape->source);
    copy.mesh = rgKeepMesh(&def->arena, shape->mesh, &add.failed);
    copy.heightField = rgKeepHeightField(&def->arena, shape->heightField, &add.failed);
    return rgAddition_End(&add, &part, (void**)&def->shapes, &def->shapeCount, &def->shapeCapacity,
                          at, &copy, sizeof(copy));
}

rgResult rgModelDef_AddShape(rgModelDef* def, const rgShapeDef* shape, rgShapeId* id) {
    if (def == NULL || shape == NULL) {
        return rg_errorArgument;
    }
    rgResult result = rgPutShape(def, shape, def->shapeCount);
    if (result == rg_ok && id != NULL) {
        id->index1 = def->shapeCount;
    }
    return result;
}

rgResult rgModelDef_SetShape(rgModelDef* def, rgShapeId id, const rgShapeDef* shape) {
    return rgCanSet(def, shape, "shape", id.index1, def != NULL ? def->shapeCount : 0)
               ? rgPutShape(def, shape, id.index1 - 1)
               : rg_errorArgument;
}

static rgResult rgPutFrame(rgModelDef* def, const rgFrameDef* frame, int at) {
    rgPart part = {"frame", frame->name, frame->source, at < def->frameCount};
    if (!rgIsMade(def, &part, frame->cookie, RG_COOKIE_FRAME) ||
        !rgNames(def, &part, "body", frame->body.index1, def->bodyCount)) {
        return rg_errorArgument;
    }
    rgAddition add = rgBeginAddition(def);
    rgFrameDef copy = *frame;
    copy.name = rgAddition_String(&add, frame->name);
    copy.source = rgAddition_Source(&add, frame->source);
    return rgAddition_End(&add, &part, (void**)&def->frames, &def->frameCount, &def->frameCapacity,
                          at, &copy, sizeof(copy));
}

rgResult rgModelDef_AddFrame(rgModelDef* def, const rgFrameDef* frame, rgFrameId* id) {
    if (def == NULL || frame == NULL) {
        return rg_errorArgument;
    }
    rgResult result = rgPutFrame(def, frame, def->frameCount);
    if (result == rg_ok && id != NULL) {
        id->index1 = def->frameCount;
    }
    return result;
}

rgResult rgModelDef_SetFrame(rgModelDef* def, rgFrameId id, const rgFrameDef* frame) {
    return rgCanSet(def, frame, "frame", id.index1, def != NULL ? def->frameCount : 0)
               ? rgPutFrame(def, frame, id.index1 - 1)
               : rg_errorArgument;
}

static bool rgTendonIsUsable(rgModelDef* def, const rgPart* part, const rgTendonDef* tendon) {
    bool complete = tendon->jointCount == 0 || (tendon->jointCount > 0 && tendon->joints != NULL &&
                                                tendon->coefficients != NULL);
    if (!rgMustHold(def, part, complete, "joints or coefficients are missing")) {
        return false;
    }
    for (int i = 0; i < tendon->jointCount; ++i) {
        if (!rgMustName(def, part, "joint", tendon->joints[i].index1, def->jointCount)) {
            return false;
        }
    }
    if (!rgMustHold(def, part, tendon->pointCount <= 0 || tendon->points != NULL,
                    "points are missing")) {
        return false;
    }
    for (int i = 0; i < tendon->pointCount; ++i) {
        const rgTendonPoint* point = &tendon->points[i];
        if (!rgNames(def, part, "frame", point->frame.index1, def->frameCount) ||
            !rgNames(def, part, "shape", point->shape.index1, def->shapeCount)) {
            return false;
        }
    }
    return true;
}

static rgResult rgPutTendon(rgModelDef* def, const rgTendonDef* tendon, int at) {
    rgPart part = {"tendon", tendon->name, tendon->source, at < def->tendonCount};
    if (!rgIsMade(def, &part, tendon->cookie, RG_COOKIE_TENDON) ||
        !rgTendonIsUsable(def, &part, tendon)) {
        return rg_errorArgument;
    }
    rgAddition add = rgBeginAddition(def);
    rgTendonDef copy = *tendon;
    copy.name = rgAddition_String(&add, tendon->name);
    copy.source = rgAddition_Source(&add, tendon->source);
    copy.joints = rgKeepArray(&def->arena, tendon->joints, (size_t)tendon->jointCount,
                              sizeof(rgJointId), &add.failed);
    copy.coefficients = rgAddition_Numbers(&add, tendon->coefficients, tendon->jointCount);
    copy.points = rgKeepArray(&def->arena, tendon->points, (size_t)RG_MAX(tendon->pointCount, 0),
                              sizeof(rgTendonPoint), &add.failed);
    return rgAddition_End(&add, &part, (void**)&def->tendons, &def->tendonCount,
                          &def->tendonCapacity, at, &copy, sizeof(copy));
}

rgResult rgModelDef_AddTendon(rgModelDef* def, const rgTendonDef* tendon, rgTendonId* id) {
    if (def == NULL || tendon == NULL) {
        return rg_errorArgument;
    }
    rgResult result = rgPutTendon(def, tendon, def->tendonCount);
    if (result == rg_ok && id != NULL) {
        id->index1 = def->tendonCount;
    }
    return result;
}

rgResult rgModelDef_SetTendon(rgModelDef* def, rgTendonId id, const rgTendonDef* tendon) {
    return rgCanSet(def, tendon, "tendon", id.index1, def != NULL ? def->tendonCount : 0)
               ? rgPutTendon(def, tendon, id.index1 - 1)
               : rg_errorArgument;
}

static rgResult rgPutActuator(rgModelDef* def, const rgActuatorDef* actuator, int at) {
    rgPart part = {"actuator", actuator->name, actuator->source, at < def->actuatorCount};
    if (!rgIsMade(def, &part, actuator->cookie, RG_COOKIE_ACTUATOR) ||
        !rgNames(def, &part, "joint", actuator->joint.index1, def->jointCount) ||
        !rgNames(def, &part, "tendon", actuator->tendon.index1, def->tendonCount) ||
        !rgNames(def, &part, "frame", actuator->frame.index1, def->frameCount) ||
        !rgNames(def, &part, "reference frame", actuator->reference.index1, def->frameCount) ||
        !rgNames(def, &part, "slider frame", actuator->slider.index1, def->frameCount)) {
        return rg_errorArgument;
    }
    rgAddition add = rgBeginAddition(def);
    rgActuatorDef copy = *actuator;
    copy.name = rgAddition_String(&add, actuator->name);
    copy.source = rgAddition_Source(&add, actuator->source);
    return rgAddition_End(&add, &part, (void**)&def->actuators, &def->actuatorCount,
                          &def->actuatorCapacity, at, &copy, sizeof(copy));
}

rgResult rgModelDef_AddActuator(rgModelDef* def, const rgActuatorDef* actuator, rgActuatorId* id) {
    if (def == NULL || actuator == NULL) {
        return rg_errorArgument;
    }
    rgResult result = rgPutActuator(def, actuator, def->actuatorCount);
    if (result == rg_ok && id != NULL) {
        id->index1 = def->actuatorCount;
    }
    return result;
}

rgResult rgModelDef_SetActuator(rgModelDef* def, rgActuatorId id, const rgActuatorDef* actuator) {
    return rgCanSet(def, actuator, "actuator", id.index1, def != NULL ? def->actuatorCount : 0)
               ? rgPutActuator(def, actuator, id.index1 - 1)
               : rg_errorArgument;
}

static rgResult rgPutEquality(rgModelDef* def, const rgEqualityDef* equality, int at) {
    rgPart part = {"equality", equality->name, equality->source, at < def->equalityCount};
    if (!rgIsMade(def, &part, equality->cookie, RG_COOKIE_EQUALITY) ||
        !rgNames(def, &part, "body A", equality->bodyA.index1, def->bodyCount) ||
        !rgNames(def, &part, "body B", equality->bodyB.index1, def->bodyCount) ||
        !rgNames(def, &part, "joint A", equality->jointA.index1, def->jointCount) ||
        !rgNames(def, &part, "joint B", equality->jointB.index1, def->jointCount) ||
        !rgNames(def, &part, "tendon A", equality->tendonA.index1, def->tendonCount) ||
        !rgNames(def, &part, "tendon B", equality->tendonB.index1, def->tendonCount)) {
        return rg_errorArgument;
    }
    rgAddition add = rgBeginAddition(def);
    rgEqualityDef copy = *equality;
    copy.name = rgAddition_String(&add, equality->name);
    copy.source = rgAddition_Source(&add, equality->source);
    return rgAddition_End(&add, &part, (void**)&def->equalities, &def->equalityCount,
                          &def->equalityCapacity, at, &copy, sizeof(copy));
}

rgResult rgModelDef_AddEquality(rgModelDef* def, const rgEqualityDef* equality, rgEqualityId* id) {
    if (def == NULL || equality == NULL) {
        return rg_errorArgument;
    }
    rgResult result = rgPutEquality(def, equality, def->equalityCount);
    if (result == rg_ok && id != NULL) {
        id->index1 = def->equalityCount;
    }
    return result;
}

rgResult rgModelDef_SetEquality(rgModelDef* def, rgEqualityId id, const rgEqualityDef* equality) {
    return rgCanSet(def, equality, "equality", id.index1, def != NULL ? def->equalityCount : 0)
               ? rgPutEquality(def, equality, id.index1 - 1)
               : rg_errorArgument;
}

static bool rgNamesSide(rgModelDef* def, const rgPart* part, const rgContactSide* side) {
    return rgNames(def, part, "shape of a side", side->shape.index1, def->shapeCount) &&
           rgNames(def, part, "body of a side", side->body.index1, def->bodyCount);
}

static rgResult rgPutSensor(rgModelDef* def, const rgSensorDef* sensor, int at) {
    rgPart part = {"sensor", sensor->name, sensor->source, at < def->sensorCount};
    if (!rgIsMade(def, &part, sensor->cookie, RG_COOKIE_SENSOR) ||
        !rgNames(def, &part, "joint", sensor->joint.index1, def->jointCount) ||
        !rgNames(def, &part, "reference frame", sensor->reference.index1, def->frameCount) ||
        !rgNames(def, &part, "reference body", sensor->referenceBody.index1, def->bodyCount) ||
        !rgNames(def, &part, "tendon", sensor->tendon.index1, def->tendonCount) ||
        !rgNames(def, &part, "actuator", sensor->actuator.index1, def->actuatorCount) ||
        !rgNames(def, &part, "frame", sensor->frame.index1, def->frameCount) ||
        !rgNames(def, &part, "body", sensor->body.index1, def->bodyCount) ||
        !rgNamesSide(def, &part, &sensor->sides[0]) ||
        !rgNamesSide(def, &part, &sensor->sides[1])) {
        return rg_errorArgument;
    }
    rgAddition add = rgBeginAddition(def);
    rgSensorDef copy = *sensor;
    copy.name = rgAddition_String(&add, sensor->name);
    copy.source = rgAddition_Source(&add, sensor->source);
    return rgAddition_End(&add, &part, (void**)&def->sensors, &def->sensorCount,
                          &def->sensorCapacity, at, &copy, sizeof(copy));
}

rgResult rgModelDef_AddSensor(rgModelDef* def, const rgSensorDef* sensor, rgSensorId* id) {
    if (def == NULL || sensor == NULL) {
        return rg_errorArgument;
    }
    rgResult result = rgPutSensor(def, sensor, def->sensorCount);
    if (result == rg_ok && id != NULL) {
        id->index1 = def->sensorCount;
    }
    return result;
}

rgResult rgModelDef_SetSensor(rgModelDef* def, rgSensorId id, const rgSensorDef* sensor) {
    return rgCanSet(def, sensor, "sensor", id.index1, def != NULL ? def->sensorCount : 0)
               ? rgPutSensor(def, sensor, id.index1 - 1)
               : rg_errorArgument;
}

static rgResult rgPutKey(rgModelDef* def, const rgKeyDef* key, int at) {
    rgPart part = {"key", key->name, key->source, at < def->keyCount};
    bool counts =
        key->qCount >= 0 && key->vCount >= 0 && key->controlCount >= 0 && key->activationCount >= 0;
    if (!rgIsMade(def, &part, key->cookie, RG_COOKIE_KEY) ||
        !rgMustHold(def, &part, counts, "a count is negative")) {
        return rg_errorArgument;
    }
    rgAddition add = rgBeginAddition(def);
    rgKeyDef copy = *key;
    copy.name = rgAddition_String(&add, key->name);
    copy.source = rgAddition_Source(&add, key->source);
    copy.q = rgAddition_Numbers(&add, key->q, key->qCount);
    copy.v = rgAddition_Numbers(&add, key->v, key->vCount);
    copy.control = rgAddition_Numbers(&add, key->control, key->controlCount);
    copy.activation = rgAddition_Numbers(&add, key->activation, key->activationCount);
    add.failed = rgReserve(&def->allocator, (void**)&def->covers, &def->coverCapacity,
                           def->keyCount, def->keyCount + 1, sizeof(rgKeyCover)) != rg_ok ||
                 add.failed;
    rgResult result = rgAddition_End(&add, &part, (void**)&def->keys, &def->keyCount,
                                     &def->keyCapacity, at, &copy, sizeof(copy));
    if (result == rg_ok) {
        def->covers[at] =
            (rgKeyCover){.jointCount = def->jointCount, .actuatorCount = def->actuatorCount};
    }
    return result;
}

rgResult rgModelDef_AddKey(rgModelDef* def, const rgKeyDef* key, rgKeyId* id) {
    if (def == NULL || key == NULL) {
        return rg_errorArgument;
    }
    rgResult result = rgPutKey(def, key, def->keyCount);
    if (result == rg_ok && id != NULL) {
        id->index1 = def->keyCount;
    }
    return result;
}

rgResult rgModelDef_SetKey(rgModelDef* def, rgKeyId id, const rgKeyDef* key) {
    return rgCanSet(def, key, "key", id.index1, def != NULL ? def->keyCount : 0)
               ? rgPutKey(def, key, id.index1 - 1)
               : rg_errorArgument;
}

rgResult rgModelDef_Exclude(rgModelDef* def, const rgExcludedPair* pair) {
    rgPart part = {.kind = "excluded pair"};
    if (!rgNames(def, &part, "first body", pair->a.index1, def->bodyCount) ||
        !rgNames(def, &part, "second body", pair->b.index1, def->bodyCount)) {
        return rg_errorArgument;
    }
    rgAddition add = rgBeginAddition(def);
    return rgAddition_End(&add, &part, (void**)&def->excludes, &def->excludeCount,
                          &def->excludeCapacity, def->excludeCount, pair, sizeof(*pair));
}

rgResult rgModelDef_ExcludePair(rgModelDef* def, rgBodyId a, rgBodyId b) {
    rgExcludedPair pair = {.a = a, .b = b};
    return def != NULL ? rgModelDef_Exclude(def, &pair) : rg_errorArgument;
}

const rgExcludedPair* rgModelDef_ExcludedPairs(const rgModelDef* def, int* count) {
    if (def == NULL) {
        return rgNothing(count);
    }
    if (count != NULL) {
        *count = def->excludeCount;
    }
    return def->excludes;
}

rgResult rgModelDef_AddPair(rgModelDef* def, rgShapeId a, rgShapeId b, const rgMaterial* material) {
    rgPart part = {.kind = "pair"};
    if (def == NULL || !rgMustName(def, &part, "first shape", a.index1, def->shapeCount) ||
        !rgMustName(def, &part, "second shape", b.index1, def->shapeCount) ||
        !rgMustHold(def, &part, a.index1 != b.index1, "it is one shape with itself")) {
        return rg_errorArgument;
    }
    rgAddition add = rgBeginAddition(def);
    rgPairDef pair = {.a = a, .b = b, .hasMaterial = material != NULL};
    pair.material = material != NULL ? *material : rgDefaultMaterial();
    return rgAddition_End(&add, &part, (void**)&def->pairs, &def->pairCount, &def->pairCapacity,
                          def->pairCount, &pair, sizeof(pair));
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
        rgAddition add = {.def = def};
        def->options = *options;
        def->options.source = rgAddition_Source(&add, options->source);
    }
}
