// Removing parts of a definition: mark them, follow the references, then close the gaps.
#include "model/def.h"

#include <stdio.h>
#include <string.h>

typedef struct rgRemoval {
    rgModelDef* def;
    rgDiagnostics* diagnostics;
    bool* gone[rg_partKindCount]; // by id; none for the null id
    int* newId[rg_partKindCount]; // by id; 0: gone, or null
    int* order;                   // joints by coordinates
    void* memory;
} rgRemoval;

static bool rgRemoval_Begin(rgRemoval* r, rgModelDef* def, rgDiagnostics* diagnostics) {
    size_t total = 0;
    for (int kind = 0; kind < rg_partKindCount; ++kind) {
        total += (size_t)*rgModelDef_Parts(def, (rgPartKind)kind).count + 1;
    }
    *r = (rgRemoval){.def = def, .diagnostics = diagnostics};
    size_t bytes = total * (sizeof(int) + sizeof(bool)) + (size_t)def->jointCount * sizeof(int);
    r->memory = rgAllocate(&def->allocator, bytes, 1);
    if (r->memory == NULL) {
        return false;
    }
    int* ids = r->memory;
    bool* marks = (bool*)(ids + total + (size_t)def->jointCount);
    for (int kind = 0; kind < rg_partKindCount; ++kind) {
        size_t count = (size_t)*rgModelDef_Parts(def, (rgPartKind)kind).count + 1;
        r->newId[kind] = ids;
        r->gone[kind] = marks;
        ids += count;
        marks += count;
    }
    r->order = ids;
    return rgModelDef_JointOrder(def, r->order) == rg_ok;
}

// A part goes because another one does.
static void rgRemoval_Follow(rgRemoval* r, rgPartKind kind, int id, bool follows) {
    if (!follows || r->gone[kind][id]) {
        return;
    }
    rgPartArray array = rgModelDef_Parts(r->def, kind);
    rgSource source = rgPartArray_Source(&array, id - 1);
    r->gone[kind][id] = true;
    rgDiagnostics_Add(r->diagnostics, rg_severityNote, source.file, source.line,
                      "%s '%s' is removed with the part that it refers to", array.kind,
                      rgPartArray_Name(&array, id - 1));
}

static void rgRemoval_FollowAll(rgRemoval* r) {
    const rgModelDef* def = r->def;
    const bool *body = r->gone[rg_partBody], *joint = r->gone[rg_partJoint];
    const bool *tendon = r->gone[rg_partTendon], *actuator = r->gone[rg_partActuator];
    const bool* frame = r->gone[rg_partFrame];
    for (int i = 0; i < def->bodyCount; ++i) { // parents come first
        rgRemoval_Follow(r, rg_partBody, i + 1, body[def->bodies[i].parent.index1]);
    }
    for (int i = 0; i < def->jointCount; ++i) {
        rgRemoval_Follow(r, rg_partJoint, i + 1, body[def->joints[i].body.index1]);
    }
    for (int i = 0; i < def->shapeCount; ++i) {
        rgRemoval_Follow(r, rg_partShape, i + 1, body[def->shapes[i].body.index1]);
    }
    for (int i = 0; i < def->frameCount; ++i) {
        rgRemoval_Follow(r, rg_partFrame, i + 1, body[def->frames[i].body.index1]);
    }
    for (int i = 0; i < def->tendonCount; ++i) {
        for (int k = 0; k < def->tendons[i].jointCount; ++k) {
            rgRemoval_Follow(r, rg_partTendon, i + 1, joint[def->tendons[i].joints[k].index1]);
        }
        for (int k = 0; k < def->tendons[i].pointCount; ++k) {
            const rgTendonPoint* point = &def->tendons[i].points[k];
            rgRemoval_Follow(r, rg_partTendon, i + 1,
                             frame[point->frame.index1] ||
                                 r->gone[rg_partShape][point->shape.index1]);
        }
    }
    for (int i = 0; i < def->actuatorCount; ++i) {
        const rgActuatorDef* a = &def->actuators[i];
        rgRemoval_Follow(r, rg_partActuator, i + 1,
                         joint[a->joint.index1] || tendon[a->tendon.index1] ||
                             frame[a->frame.index1] || frame[a->reference.index1] ||
                             frame[a->slider.index1]);
    }
    for (int i = 0; i < def->equalityCount; ++i) {
        const rgEqualityDef* e = &def->equalities[i];
        rgRemoval_Follow(r, rg_partEquality, i + 1,
                         body[e->bodyA.index1] || body[e->bodyB.index1] ||
                             joint[e->jointA.index1] || joint[e->jointB.index1] ||
                             tendon[e->tendonA.index1] || tendon[e->tendonB.index1]);
    }
    for (int i = 0; i < def->sensorCount; ++i) {
        const rgSensorDef* s = &def->sensors[i];
        rgRemoval_Follow(
            r, rg_partSensor, i + 1,
            joint[s->joint.index1] || tendon[s->tendon.index1] || actuator[s->actuator.index1] ||
                frame[s->frame.index1] || body[s->body.index1] || frame[s->reference.index1] ||
                body[s->referenceBody.index1] || r->gone[rg_partShape][s->sides[0].shape.index1] ||
                r->gone[rg_partShape][s->sides[1].shape.index1] || body[s->sides[0].body.index1] ||
                body[s->sides[1].body.index1]);
    }
}

// ---- keys

// Values of the joints that stay, in the order of their coordinates. NULL: out of memory.
static const double* rgRemoval_Coordinates(rgRemoval* r, const rgKeyCover* cover,
                                           const double* values, bool isVelocity, int* count) {
    bool failed = false;
    double* kept = rgKeepArray(&r->def->arena, values, (size_t)*count, sizeof(double), &failed);
    int from = 0, to = 0;
    for (int i = 0; kept != NULL && i < r->def->jointCount; ++i) {
        int joint = r->order[i];
        if (joint < cover->firstJoint || joint >= cover->firstJoint + cover->jointCount) {
            continue;
        }
        int size = rgJointSize(r->def->joints[joint].kind, isVelocity);
        for (int k = 0; k < size && from + k < *count; ++k) {
            kept[to] = values[from + k];
            to += !r->gone[rg_partJoint][joint + 1];
        }
        from += size;
    }
    *count = to;
    return kept;
}

static const double* rgRemoval_Controls(rgRemoval* r, const rgKeyCover* cover, const double* values,
                                        int* count) {
    bool failed = false;
    double* kept = rgKeepArray(&r->def->arena, values, (size_t)*count, sizeof(double), &failed);
    int to = 0;
    for (int i = 0; kept != NULL && i < *count; ++i) {
        kept[to] = values[i];
        to += !r->gone[rg_partActuator][cover->firstActuator + i + 1];
    }
    *count = to;
    return kept;
}

static void rgShiftRange(const bool* gone, int* first, int* count) {
    int before = 0, within = 0;
    for (int i = 0; i < *first + *count; ++i) {
        before += gone[i + 1] && i < *first;
        within += gone[i + 1] && i >= *first;
    }
    *first -= before;
    *count -= within;
}

// Arrays of a wrong length stay as they are; compile reports them.
static bool rgRemoval_Key(rgRemoval* r, rgKeyDef* key, rgKeyCover* cover) {
    int qCount = rgCoordinateCount(r->def, cover->firstJoint, cover->jointCount, false);
    int vCount = rgCoordinateCount(r->def, cover->firstJoint, cover->jointCount, true);
    bool good = true;
    if (key->q != NULL && key->qCount == qCount) {
        key->q = rgRemoval_Coordinates(r, cover, key->q, false, &key->qCount);
        good = key->q != NULL;
    }
    if (key->v != NULL && key->vCount == vCount) {
        key->v = rgRemoval_Coordinates(r, cover, key->v, true, &key->vCount);
        good = good && key->v != NULL;
    }
    if (key->control != NULL && key->controlCount == cover->actuatorCount) {
        key->control = rgRemoval_Controls(r, cover, key->control, &key->controlCount);
        good = good && key->control != NULL;
    }
    if (key->activation != NULL && key->activationCount == cover->actuatorCount) {
        key->activation = rgRemoval_Controls(r, cover, key->activation, &key->activationCount);
        good = good && key->activation != NULL;
    }
    rgShiftRange(r->gone[rg_partJoint], &cover->firstJoint, &cover->jointCount);
    rgShiftRange(r->gone[rg_partActuator], &cover->firstActuator, &cover->actuatorCount);
    return good;
}

// ---- closing the gaps

static void rgRemoval_Number(rgRemoval* r) {
    for (int kind = 0; kind < rg_partKindCount; ++kind) {
        int count = *rgModelDef_Parts(r->def, (rgPartKind)kind).count, next = 0;
        for (int id = 1; id <= count; ++id) {
            r->newId[kind][id] = r->gone[kind][id] ? 0 : ++next;
        }
    }
}

static void rgRemoval_Compact(rgRemoval* r) {
    rgModelDef* def = r->def;
    for (int i = 0, to = 0; i < def->keyCount; ++i) {
        def->covers[to] = def->covers[i];
        to += !r->gone[rg_partKey][i + 1];
    }
    for (int kind = 0; kind < rg_partKindCount; ++kind) {
        rgPartArray array = rgModelDef_Parts(def, (rgPartKind)kind);
        int to = 0;
        for (int i = 0; i < *array.count; ++i) {
            if (!r->gone[kind][i + 1]) {
                memmove(array.parts + (size_t)to++ * array.size,
                        array.parts + (size_t)i * array.size, array.size);
            }
        }
        *array.count = to;
    }
}

static void rgRemoval_Renumber(rgRemoval* r) {
    rgModelDef* def = r->def;
    const int *body = r->newId[rg_partBody], *joint = r->newId[rg_partJoint];
    const int *tendon = r->newId[rg_partTendon], *frame = r->newId[rg_partFrame];
    for (int i = 0; i < def->bodyCount; ++i) {
        def->bodies[i].parent.index1 = body[def->bodies[i].parent.index1];
    }
    for (int i = 0; i < def->jointCount; ++i) {
        def->joints[i].body.index1 = body[def->joints[i].body.index1];
    }
    for (int i = 0; i < def->shapeCount; ++i) {
        def->shapes[i].body.index1 = body[def->shapes[i].body.index1];
    }
    for (int i = 0; i < def->frameCount; ++i) {
        def->frames[i].body.index1 = body[def->frames[i].body.index1];
    }
    for (int i = 0; i < def->actuatorCount; ++i) {
        rgActuatorDef* a = &def->actuators[i];
        a->joint.index1 = joint[a->joint.index1];
        a->tendon.index1 = tendon[a->tendon.index1];
        a->frame.index1 = frame[a->frame.index1];
        a->reference.index1 = frame[a->reference.index1];
        a->slider.index1 = frame[a->slider.index1];
    }
    for (int i = 0; i < def->equalityCount; ++i) {
        rgEqualityDef* e = &def->equalities[i];
        e->bodyA.index1 = body[e->bodyA.index1];
        e->bodyB.index1 = body[e->bodyB.index1];
        e->jointA.index1 = joint[e->jointA.index1];
        e->jointB.index1 = joint[e->jointB.index1];
        e->tendonA.index1 = tendon[e->tendonA.index1];
        e->tendonB.index1 = tendon[e->tendonB.index1];
    }
    for (int i = 0; i < def->sensorCount; ++i) {
        rgSensorDef* s = &def->sensors[i];
        s->joint.index1 = joint[s->joint.index1];
        s->tendon.index1 = tendon[s->tendon.index1];
        s->actuator.index1 = r->newId[rg_partActuator][s->actuator.index1];
        s->frame.index1 = frame[s->frame.index1];
        s->body.index1 = body[s->body.index1];
        s->reference.index1 = frame[s->reference.index1];
        s->referenceBody.index1 = body[s->referenceBody.index1];
        for (int k = 0; k < 2; ++k) {
            s->sides[k].shape.index1 = r->newId[rg_partShape][s->sides[k].shape.index1];
            s->sides[k].body.index1 = body[s->sides[k].body.index1];
        }
    }
}

static void rgRemoval_Pairs(rgRemoval* r) {
    rgModelDef* def = r->def;
    const bool *body = r->gone[rg_partBody], *shape = r->gone[rg_partShape];
    int kept = 0;
    for (int i = 0; i < def->excludeCount; ++i) {
        rgExcludedPair e = def->excludes[i];
        if (!body[e.a.index1] && !body[e.b.index1]) {
            e.a.index1 = r->newId[rg_partBody][e.a.index1];
            e.b.index1 = r->newId[rg_partBody][e.b.index1];
            def->excludes[kept++] = e;
        }
    }
    def->excludeCount = kept;
    kept = 0;
    for (int i = 0; i < def->pairCount; ++i) {
        rgPairDef p = def->pairs[i];
        if (!shape[p.a.index1] && !shape[p.b.index1]) {
            p.a.index1 = r->newId[rg_partShape][p.a.index1];
            p.b.index1 = r->newId[rg_partShape][p.b.index1];
            def->pairs[kept++] = p;
        }
    }
    def->pairCount = kept;
}

// New arrays of the tendons' joints and points, and of the keys, before anything is changed.
static rgResult rgRemoval_Prepare(rgRemoval* r) {
    rgModelDef* def = r->def;
    bool failed = false;
    for (int i = 0; i < def->tendonCount; ++i) {
        rgTendonDef* tendon = &def->tendons[i];
        rgJointId* joints = rgKeepArray(&def->arena, tendon->joints, (size_t)tendon->jointCount,
                                        sizeof(rgJointId), &failed);
        if (failed) {
            return rg_errorMemory;
        }
        for (int k = 0; joints != NULL && k < tendon->jointCount; ++k) {
            joints[k].index1 = r->newId[rg_partJoint][joints[k].index1];
        }
        tendon->joints = joints;
        rgTendonPoint* points =
            rgKeepArray(&def->arena, tendon->points, (size_t)RG_MAX(tendon->pointCount, 0),
                        sizeof(rgTendonPoint), &failed);
        for (int k = 0; points != NULL && k < tendon->pointCount; ++k) {
            points[k].frame.index1 = r->newId[rg_partFrame][points[k].frame.index1];
            points[k].shape.index1 = r->newId[rg_partShape][points[k].shape.index1];
        }
        if (failed) {
            return rg_errorMemory;
        }
        tendon->points = points;
    }
    return rg_ok;
}

static rgResult rgRemoval_Run(rgRemoval* r) {
    rgModelDef* def = r->def;
    rgModelDef_FixKeyCovers(def);
    rgRemoval_FollowAll(r);
    rgRemoval_Number(r);
    bool good = rgRemoval_Prepare(r) == rg_ok;
    for (int i = 0; good && i < def->keyCount; ++i) {
        good = rgRemoval_Key(r, &def->keys[i], &def->covers[i]);
    }
    if (!good) {
        return rg_errorMemory;
    }
    rgRemoval_Compact(r);
    rgRemoval_Renumber(r);
    rgRemoval_Pairs(r);
    return rg_ok;
}

rgResult rgModelDef_RemoveParts(rgModelDef* def, rgPartKind kind, const int* ids, int count,
                                rgDiagnostics* diagnostics) {
    rgRemoval removal;
    rgResult result = rg_errorMemory;
    if (rgRemoval_Begin(&removal, def, diagnostics)) {
        for (int i = 0; i < count; ++i) {
            removal.gone[kind][ids[i]] = true;
        }
        result = rgRemoval_Run(&removal);
    }
    rgRelease(&def->allocator, removal.memory);
    if (result != rg_ok) { // half done, so that nothing should come of it
        rgModelDef_StoreError(def, result, (rgSource){0}, "parts were not removed: out of memory");
    }
    return result;
}

static rgResult rgRemoveOne(rgModelDef* def, rgPartKind kind, int id, rgDiagnostics* diagnostics) {
    if (def == NULL) {
        return rg_errorArgument;
    }
    rgPartArray array = rgModelDef_Parts(def, kind);
    if (id < 1 || id > *array.count) {
        char text[120];
        snprintf(text, sizeof(text), "%s was not removed: it has id %d, and there are %d%s",
                 array.kind, id, *array.count, id == 0 ? "; its name may not have been found" : "");
        rgModelDef_StoreError(def, rg_errorArgument, (rgSource){0}, text);
        return rg_errorArgument;
    }
    return rgModelDef_RemoveParts(def, kind, &id, 1, diagnostics);
}

rgResult rgModelDef_RemoveBody(rgModelDef* def, rgBodyId id, rgDiagnostics* diagnostics) {
    return rgRemoveOne(def, rg_partBody, id.index1, diagnostics);
}

rgResult rgModelDef_RemoveJoint(rgModelDef* def, rgJointId id, rgDiagnostics* diagnostics) {
    return rgRemoveOne(def, rg_partJoint, id.index1, diagnostics);
}

rgResult rgModelDef_RemoveShape(rgModelDef* def, rgShapeId id, rgDiagnostics* diagnostics) {
    return rgRemoveOne(def, rg_partShape, id.index1, diagnostics);
}

rgResult rgModelDef_RemoveFrame(rgModelDef* def, rgFrameId id, rgDiagnostics* diagnostics) {
    return rgRemoveOne(def, rg_partFrame, id.index1, diagnostics);
}

rgResult rgModelDef_RemoveTendon(rgModelDef* def, rgTendonId id, rgDiagnostics* diagnostics) {
    return rgRemoveOne(def, rg_partTendon, id.index1, diagnostics);
}

rgResult rgModelDef_RemoveActuator(rgModelDef* def, rgActuatorId id, rgDiagnostics* diagnostics) {
    return rgRemoveOne(def, rg_partActuator, id.index1, diagnostics);
}

rgResult rgModelDef_RemoveEquality(rgModelDef* def, rgEqualityId id, rgDiagnostics* diagnostics) {
    return rgRemoveOne(def, rg_partEquality, id.index1, diagnostics);
}

rgResult rgModelDef_RemoveSensor(rgModelDef* def, rgSensorId id, rgDiagnostics* diagnostics) {
    return rgRemoveOne(def, rg_partSensor, id.index1, diagnostics);
}

rgResult rgModelDef_RemoveKey(rgModelDef* def, rgKeyId id, rgDiagnostics* diagnostics) {
    return rgRemoveOne(def, rg_partKey, id.index1, diagnostics);
}
