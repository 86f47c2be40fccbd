// Parameters that change while a world runs. The model is shared and constant; a world that changes
// a part reads a model of its own, which has copies of the arrays of that kind of part and shares
// all others. A changed world takes steps of the same bits as a world of a model with these
// parameters.
// Changes belong to the state.
#include "rigor/inertia.h"
#include "world/world.h"

#include <stddef.h>
#include <string.h>

typedef enum rgFieldType { rg_fieldNumber, rg_fieldInt, rg_fieldBool } rgFieldType;

// Field that can change: numbers in a row, or one integer.
typedef struct rgField {
    size_t offset;
    rgFieldType type;
    int count;
} rgField;

// Field that cannot change.
typedef struct rgFixedField {
    size_t offset, size;
    const char* name;
} rgFixedField;

#define RG_NUMBERS(type, first, count)                                                             \
    { offsetof(type, first), rg_fieldNumber, count }
#define RG_INT(type, member)                                                                       \
    { offsetof(type, member), rg_fieldInt, 1 }
#define RG_BOOL(type, member)                                                                      \
    { offsetof(type, member), rg_fieldBool, 1 }
#define RG_FIXED(type, member, name)                                                               \
    { offsetof(type, member), sizeof(((type*)0)->member), name }

static const rgField rgSettingsFields[] = {
    RG_NUMBERS(rgWorldDef, gravity, 3),
    RG_BOOL(rgWorldDef, hasGravity),
    RG_NUMBERS(rgWorldDef, stiffness, 6), // to friction
    RG_INT(rgWorldDef, frictionRule),
    RG_NUMBERS(rgWorldDef, restitution, 3), // to restitutionThreshold
    RG_BOOL(rgWorldDef, ignoreLimits),
};
static const rgField rgBodyFields[] = {RG_NUMBERS(rgBodyDef, inertia, 11)}; // and compensation
static const rgField rgJointFields[] = {
    RG_BOOL(rgJointDef, hasLimits), RG_NUMBERS(rgJointDef, lower, 9), // to velocityLimit
};
static const rgField rgShapeFields[] = {
    RG_NUMBERS(rgShapeDef, material.mu, 8), // to restitution
    RG_INT(rgShapeDef, material.dimension),          RG_INT(rgShapeDef, material.frictionRule),
    RG_NUMBERS(rgShapeDef, material.dissipation, 3), // to transitionSpeed
    RG_NUMBERS(rgShapeDef, surfaceVelocity, 6),      RG_BOOL(rgShapeDef, disabled),
};
static const rgField rgTendonFields[] = {
    RG_BOOL(rgTendonDef, hasLimits), RG_NUMBERS(rgTendonDef, lower, 8), // to armature
};
static const rgField rgActuatorFields[] = {
    RG_NUMBERS(rgActuatorDef, gear, 14), // to crankLength
    RG_BOOL(rgActuatorDef, hasControlRange),
    RG_BOOL(rgActuatorDef, hasForceRange),
    RG_BOOL(rgActuatorDef, hasActivationRange),
    RG_NUMBERS(rgActuatorDef, controlLower, 19), // to activationUpper, and the muscle
};
static const rgField rgEqualityFields[] = {
    RG_NUMBERS(rgEqualityDef, poseA, 14),     // and poseB
    RG_NUMBERS(rgEqualityDef, polynomial, 7), // to damping
    RG_BOOL(rgEqualityDef, disabled),
};

// The tables above rely on the order of members.
#define RG_SPAN(type, first, last)                                                                 \
    ((offsetof(type, last) + sizeof(((type*)0)->last) - offsetof(type, first)) / sizeof(double))
_Static_assert(RG_SPAN(rgWorldDef, gravity, gravity) == 3, "");
_Static_assert(RG_SPAN(rgWorldDef, stiffness, friction) == 6, "");
_Static_assert(RG_SPAN(rgWorldDef, restitution, restitutionThreshold) == 3, "");
_Static_assert(RG_SPAN(rgBodyDef, inertia, gravityCompensation) == 11, "");
_Static_assert(RG_SPAN(rgJointDef, lower, velocityLimit) == 9, "");
_Static_assert(RG_SPAN(rgShapeDef, material.mu, material.restitution) == 8, "");
_Static_assert(RG_SPAN(rgShapeDef, material.dissipation, material.transitionSpeed) == 3, "");
_Static_assert(RG_SPAN(rgTendonDef, lower, armature) == 8, "");
_Static_assert(RG_SPAN(rgActuatorDef, gear, crankLength) == 14, "");
_Static_assert(RG_SPAN(rgActuatorDef, controlLower, muscle) == 19, "");
_Static_assert(RG_SPAN(rgEqualityDef, poseA, poseB) == 14, "");
_Static_assert(RG_SPAN(rgEqualityDef, polynomial, damping) == 7, "");

static const rgFixedField rgSettingsFixed[] = {
    RG_FIXED(rgWorldDef, timeStep, "time step"),
    RG_FIXED(rgWorldDef, integrator, "integrator"),
    RG_FIXED(rgWorldDef, margin, "margin"),
    RG_FIXED(rgWorldDef, sleepTime, "sleep time"),
    RG_FIXED(rgWorldDef, sleepSpeed, "sleep speed"),
    RG_FIXED(rgWorldDef, maxContactsPerPair, "number of contacts of a pair"),
    RG_FIXED(rgWorldDef, contact.tolerance, "tolerance"),
    RG_FIXED(rgWorldDef, contact.maxIterations, "number of iterations"),
};
static const rgFixedField rgBodyFixed[] = {
    RG_FIXED(rgBodyDef, parent, "parent"),
    RG_FIXED(rgBodyDef, pose, "pose"),
    RG_FIXED(rgBodyDef, kinematic, "kind of motion"),
};
static const rgFixedField rgJointFixed[] = {
    RG_FIXED(rgJointDef, body, "body"),           RG_FIXED(rgJointDef, kind, "kind"),
    RG_FIXED(rgJointDef, anchor, "anchor"),       RG_FIXED(rgJointDef, axis, "axis"),
    RG_FIXED(rgJointDef, reference, "reference"),
};
static const rgFixedField rgShapeFixed[] = {
    RG_FIXED(rgShapeDef, body, "body"),
    RG_FIXED(rgShapeDef, pose, "pose"),
    RG_FIXED(rgShapeDef, kind, "kind"),
    RG_FIXED(rgShapeDef, size, "size"),
    RG_FIXED(rgShapeDef, rounding, "rounding"),
    RG_FIXED(rgShapeDef, visualOnly, "visibility"),
    RG_FIXED(rgShapeDef, group, "group"),
    RG_FIXED(rgShapeDef, mask, "mask"),
    RG_FIXED(rgShapeDef, priority, "priority"),
    RG_FIXED(rgShapeDef, margin, "margin"),
    RG_FIXED(rgShapeDef, hidden, "visibility"),
    RG_FIXED(rgShapeDef, material.adhesion, "adhesion"),
    RG_FIXED(rgShapeDef, fluidEllipsoid, "fluid"),
    RG_FIXED(rgShapeDef, fluidCoefficients, "fluid"),
};
static const rgFixedField rgTendonFixed[] = {
    RG_FIXED(rgTendonDef, jointCount, "number of joints"),
    RG_FIXED(rgTendonDef, pointCount, "number of points"),
};
static const rgFixedField rgActuatorFixed[] = {
    RG_FIXED(rgActuatorDef, joint, "joint"),
    RG_FIXED(rgActuatorDef, tendon, "tendon"),
    RG_FIXED(rgActuatorDef, frame, "frame"),
    RG_FIXED(rgActuatorDef, reference, "reference frame"),
    RG_FIXED(rgActuatorDef, slider, "slider"),
    RG_FIXED(rgActuatorDef, inParent, "axes"),
    RG_FIXED(rgActuatorDef, isMuscle, "kind of force"),
    RG_FIXED(rgActuatorDef, isAdhesive, "kind of force"),
    RG_FIXED(rgActuatorDef, early, "time of activation"),
    RG_FIXED(rgActuatorDef, activation, "kind of activation"),
    RG_FIXED(rgActuatorDef, delay, "delay"),
    RG_FIXED(rgActuatorDef, delayIsContinuous, "delay"),
};
static const rgFixedField rgEqualityFixed[] = {
    RG_FIXED(rgEqualityDef, kind, "kind"),        RG_FIXED(rgEqualityDef, bodyA, "body A"),
    RG_FIXED(rgEqualityDef, bodyB, "body B"),     RG_FIXED(rgEqualityDef, jointA, "joint A"),
    RG_FIXED(rgEqualityDef, jointB, "joint B"),   RG_FIXED(rgEqualityDef, tendonA, "tendon A"),
    RG_FIXED(rgEqualityDef, tendonB, "tendon B"),
};

typedef struct rgKindInfo {
    const char* name;
    rgPartKind part;
    size_t size;
    const rgField* fields;
    int fieldCount;
    const rgFixedField* fixed;
    int fixedCount;
} rgKindInfo;

#define RG_KIND(name, part, type, fields, fixed)                                                   \
    { name, part, sizeof(type), fields, RG_COUNT(fields), fixed, RG_COUNT(fixed) }

static const rgKindInfo rgKinds[rg_changeKindCount] = {
    RG_KIND("world", rg_partKindCount, rgWorldDef, rgSettingsFields, rgSettingsFixed),
    RG_KIND("body", rg_partBody, rgBodyDef, rgBodyFields, rgBodyFixed),
    RG_KIND("joint", rg_partJoint, rgJointDef, rgJointFields, rgJointFixed),
    RG_KIND("shape", rg_partShape, rgShapeDef, rgShapeFields, rgShapeFixed),
    RG_KIND("tendon", rg_partTendon, rgTendonDef, rgTendonFields, rgTendonFixed),
    RG_KIND("actuator", rg_partActuator, rgActuatorDef, rgActuatorFields, rgActuatorFixed),
    RG_KIND("equality", rg_partEquality, rgEqualityDef, rgEqualityFields, rgEqualityFixed),
};

// Part of any kind.
typedef union rgAnyDef {
    rgWorldDef settings;
    rgBodyDef body;
    rgJointDef joint;
    rgShapeDef shape;
    rgTendonDef tendon;
    rgActuatorDef actuator;
    rgEqualityDef equality;
} rgAnyDef;

static int rgPartCount(const rgVariant* variant, rgChangeKind kind) {
    return kind == rg_changeSettings ? 1 : rgModel_PartCount(variant->shared, rgKinds[kind].part);
}

// Array of a model with the parts of a kind.
static void** rgPartsOf(rgModel* model, rgChangeKind kind) {
    switch (kind) {
    case rg_changeBody:
        return (void**)&model->bodies;
    case rg_changeJoint:
        return (void**)&model->joints;
    case rg_changeShape:
        return (void**)&model->shapes;
    case rg_changeTendon:
        return (void**)&model->tendons;
    case rg_changeActuator:
        return (void**)&model->actuators;
    default:
        return (void**)&model->equalities;
    }
}

static const void* rgModelPart(const rgModel* model, rgChangeKind kind, int index) {
    void** parts = rgPartsOf((rgModel*)(uintptr_t)model, kind);
    return (const char*)*parts + (size_t)index * rgKinds[kind].size;
}

static const void* rgPartOfWorld(const rgModel* model, const rgWorldDef* def, rgChangeKind kind,
                                 int index) {
    return kind == rg_changeSettings ? (const void*)def : rgModelPart(model, kind, index);
}

static const void* rgVariant_FirstPart(const rgVariant* variant, rgChangeKind kind, int index) {
    return kind == rg_changeSettings ? (const void*)&variant->firstDef
                                     : rgModelPart(variant->shared, kind, index);
}

// ---- fields as numbers

#define RG_FIELDS_MOST 40

static int rgFieldNumbers(rgChangeKind kind) {
    int sum = 0;
    for (int i = 0; i < rgKinds[kind].fieldCount; ++i) {
        sum += rgKinds[kind].fields[i].count;
    }
    RG_ASSERT(sum <= RG_FIELDS_MOST);
    return sum;
}

static void rgGather(rgChangeKind kind, const void* part, double* numbers) {
    for (int i = 0; i < rgKinds[kind].fieldCount; ++i) {
        const rgField* field = &rgKinds[kind].fields[i];
        const char* from = (const char*)part + field->offset;
        if (field->type == rg_fieldNumber) {
            memcpy(numbers, from, (size_t)field->count * sizeof(double));
        } else if (field->type == rg_fieldInt) {
            numbers[0] = *(const int*)(const void*)from;
        } else {
            numbers[0] = *(const bool*)(const void*)from;
        }
        numbers += field->count;
    }
}

static void rgScatter(rgChangeKind kind, const double* numbers, void* part) {
    for (int i = 0; i < rgKinds[kind].fieldCount; ++i) {
        const rgField* field = &rgKinds[kind].fields[i];
        char* to = (char*)part + field->offset;
        if (field->type == rg_fieldNumber) {
            memcpy(to, numbers, (size_t)field->count * sizeof(double));
        } else if (field->type == rg_fieldInt) {
            *(int*)(void*)to = numbers[0] > -100 && numbers[0] < 100 ? (int)numbers[0] : -1;
        } else {
            *(bool*)(void*)to = numbers[0] != 0;
        }
        numbers += field->count;
    }
}

// ---- checks

static const char* rgNameOf(const rgVariant* variant, rgChangeKind kind, int index,
                            char buffer[32]) {
    return kind == rg_changeSettings
               ? ""
               : rgPartName(rgModel_PartName(variant->shared, rgKinds[kind].part, index), index,
                            buffer);
}

static bool rgVariant_SameFixed(const rgVariant* variant, const rgWorldDef* def,
                                const rgModel* model, rgChangeKind kind, int index,
                                const void* part, rgDiagnostics* diagnostics) {
    const char* now = rgPartOfWorld(model, def, kind, index);
    for (int i = 0; i < rgKinds[kind].fixedCount; ++i) {
        const rgFixedField* field = &rgKinds[kind].fixed[i];
        if (memcmp(now + field->offset, (const char*)part + field->offset, field->size) != 0) {
            char buffer[32];
            rgDiagnostics_Add(diagnostics, rg_severityError, NULL, 0,
                              "%s '%s': its %s cannot change while a world runs",
                              rgKinds[kind].name, rgNameOf(variant, kind, index, buffer),
                              field->name);
            return false;
        }
    }
    return true;
}

static double rgLeastMoment(const rgInertia* inertia) {
    return rgSym3Eigen(&inertia->moment, NULL).z;
}

// Moving bodies need inertia: a body that has mass or moments in the model keeps some.
static bool rgInertiaStays(const rgInertia* first, const rgBodyDef* body, const char* name,
                           rgDiagnostics* diagnostics) {
    if (first->mass > 0 && !(body->inertia.mass > 0)) {
        rgDiagnostics_Add(diagnostics, rg_severityError, NULL, 0,
                          "body '%s': mass %g; it must be positive", name, body->inertia.mass);
        return false;
    }
    if (rgLeastMoment(first) > 0 && !(rgLeastMoment(&body->inertia) > 0)) {
        rgDiagnostics_Add(diagnostics, rg_severityError, NULL, 0,
                          "body '%s': the least moment of inertia is %g; it must be positive", name,
                          rgLeastMoment(&body->inertia));
        return false;
    }
    return true;
}

static bool rgVariant_PartIsUsable(const rgVariant* variant, rgChangeKind kind, int index,
                                   const rgAnyDef* part, rgDiagnostics* diagnostics) {
    char buffer[32];
    if (kind == rg_changeSettings) {
        return rgCheckWorldDef(&part->settings, diagnostics);
    }
    if (!rgCheckChange(rgKinds[kind].part, index, part, diagnostics)) {
        return false;
    }
    return kind != rg_changeBody ||
           rgInertiaStays(&variant->shared->bodies[index].inertia, &part->body,
                          rgNameOf(variant, kind, index, buffer), diagnostics);
}

// ---- own copies

static rgResult rgCopyArray(const rgAllocator* allocator, void** array, int count, size_t size) {
    void* copy = rgAllocate(allocator, (size_t)RG_MAX(count, 1), size);
    if (copy == NULL) {
        return rg_errorMemory;
    }
    memcpy(copy, *array, (size_t)count * size);
    *array = copy;
    return rg_ok;
}

// Copy the parts of a kind and the arrays derived from them. A failure leaves both shared.
static rgResult rgVariant_CopyKind(rgVariant* variant, const rgAllocator* allocator,
                                   rgChangeKind kind) {
    rgModel* own = &variant->own;
    void** parts = rgPartsOf(own, kind);
    rgResult result = rgCopyArray(allocator, parts, rgPartCount(variant, kind), rgKinds[kind].size);
    if (result == rg_ok && kind == rg_changeBody) {
        result = rgCopyArray(allocator, (void**)&own->links, rgModel_AllLinks(own), sizeof(rgLink));
    } else if (result == rg_ok && kind == rg_changeJoint) {
        result = rgCopyArray(allocator, (void**)&own->dofs, own->vCount, sizeof(rgDof));
    }
    void* shared = (void*)(uintptr_t)rgModelPart(variant->shared, kind, 0);
    if (result != rg_ok && *parts != shared) {
        rgRelease(allocator, *parts);
        *parts = shared;
    }
    return result;
}

static rgResult rgWorld_OwnKind(rgWorld* world, rgChangeKind kind) {
    if (kind == rg_changeSettings || (world->variant.owned >> kind & 1) != 0) {
        return rg_ok;
    }
    if (world->model != &world->variant.own) {
        world->variant.own = *world->variant.shared;
        world->model = &world->variant.own;
        world->kinematics.dynamics->model = world->model;
        world->readout->now->model = world->model;
        world->readout->start->model = world->model;
    }
    rgResult result = rgVariant_CopyKind(&world->variant, &world->heap.allocator, kind);
    world->variant.owned |= result == rg_ok ? 1u << kind : 0;
    return result;
}

void rgVariant_FreeChanges(rgVariant* variant, const rgAllocator* allocator) {
    for (int kind = rg_changeBody; kind < rg_changeKindCount; ++kind) {
        if ((variant->owned >> kind & 1) != 0) {
            rgRelease(allocator, *rgPartsOf(&variant->own, (rgChangeKind)kind));
        }
    }
    rgRelease(allocator, (variant->owned >> rg_changeBody & 1) != 0 ? variant->own.links : NULL);
    rgRelease(allocator, (variant->owned >> rg_changeJoint & 1) != 0 ? variant->own.dofs : NULL);
}

// ---- consequences of a change

static void rgDynamics_Change(rgDynamics* d, rgVec3 gravity) {
    d->gravity = gravity;
    d->valid = 0;
}

static void rgWorld_Refresh(rgWorld* world, unsigned kinds) {
    if ((kinds >> rg_changeSettings & 1) != 0) {
        rgWorld_SetConstants(world);
    }
    if ((kinds >> rg_changeBody & 1) != 0) {
        rgModel_SumInertias(&world->variant.own);
        rgKinematics_SetLeverArms(&world->kinematics, &world->contacts);
    }
    if ((kinds >> rg_changeJoint & 1) != 0) {
        rgModel_SetDofs(&world->variant.own);
    }
    rgWorld_Plan(world);
    rgDynamics_Change(world->kinematics.dynamics, world->settings.gravity);
    rgDynamics_Change(world->readout->now, world->settings.gravity);
    rgDynamics_Change(world->readout->start, world->settings.gravity);
    rgReadout_Invalidate(world->readout);
    rgMonitor_Change(&world->monitor, &world->def, world->model);
}

static void rgVariant_StorePart(rgVariant* variant, const rgWorldDef* def, const rgModel* model,
                                rgChangeKind kind, int index, const double* numbers) {
    rgScatter(kind, numbers, (void*)(uintptr_t)rgPartOfWorld(model, def, kind, index));
    if (kind == rg_changeEquality) {
        rgEqualityDef* equality = &variant->own.equalities[index];
        equality->poseA.q = rgQuatNormalize(equality->poseA.q);
        equality->poseB.q = rgQuatNormalize(equality->poseB.q);
    }
}

static rgResult rgWorld_Change(rgWorld* world, rgChangeKind kind, int index, const void* part,
                               rgDiagnostics* diagnostics) {
    if (world == NULL || part == NULL || index < 0 || index >= rgPartCount(&world->variant, kind)) {
        return rg_errorArgument;
    }
    rgAnyDef next;
    double numbers[RG_FIELDS_MOST];
    memcpy(&next, part, rgKinds[kind].size);
    if (!rgVariant_PartIsUsable(&world->variant, kind, index, &next, diagnostics)) {
        return rg_errorArgument;
    }
    if (!rgVariant_SameFixed(&world->variant, &world->def, world->model, kind, index, part,
                             diagnostics)) {
        return rg_errorUnsupported;
    }
    rgResult result = rgWorld_OwnKind(world, kind);
    if (result != rg_ok) {
        return result;
    }
    rgGather(kind, part, numbers);
    rgVariant_StorePart(&world->variant, &world->def, world->model, kind, index, numbers);
    world->variant.changed |= 1u << kind;
    rgWorld_Refresh(world, 1u << kind);
    rgSleep_WakeAll(&world->sleep, &world->state, world->model);
    return rg_ok;
}

rgResult rgWorld_ChangeBody(rgWorld* world, rgBodyId id, const rgBodyDef* body,
                            rgDiagnostics* diagnostics) {
    return rgWorld_Change(world, rg_changeBody, id.index1 - 1, body, diagnostics);
}

rgResult rgWorld_ChangeJoint(rgWorld* world, rgJointId id, const rgJointDef* joint,
                             rgDiagnostics* diagnostics) {
    return rgWorld_Change(world, rg_changeJoint, id.index1 - 1, joint, diagnostics);
}

rgResult rgWorld_ChangeShape(rgWorld* world, rgShapeId id, const rgShapeDef* shape,
                             rgDiagnostics* diagnostics) {
    return rgWorld_Change(world, rg_changeShape, id.index1 - 1, shape, diagnostics);
}

rgResult rgWorld_ChangeTendon(rgWorld* world, rgTendonId id, const rgTendonDef* tendon,
                              rgDiagnostics* diagnostics) {
    return rgWorld_Change(world, rg_changeTendon, id.index1 - 1, tendon, diagnostics);
}

rgResult rgWorld_ChangeActuator(rgWorld* world, rgActuatorId id, const rgActuatorDef* actuator,
                                rgDiagnostics* diagnostics) {
    return rgWorld_Change(world, rg_changeActuator, id.index1 - 1, actuator, diagnostics);
}

rgResult rgWorld_ChangeEquality(rgWorld* world, rgEqualityId id, const rgEqualityDef* equality,
                                rgDiagnostics* diagnostics) {
    return rgWorld_Change(world, rg_changeEquality, id.index1 - 1, equality, diagnostics);
}

rgResult rgWorld_ChangeSettings(rgWorld* world, const rgWorldDef* def, rgDiagnostics* diagnostics) {
    if (def == NULL || world == NULL || def->cookie != world->def.cookie) {
        return rg_errorArgument;
    }
    return rgWorld_Change(world, rg_changeSettings, 0, def, diagnostics);
}

rgWorldDef rgWorld_Settings(const rgWorld* world) {
    if (world == NULL) {
        return (rgWorldDef){0};
    }
    rgWorldDef def = world->def;
    def.hasGravity = true;
    def.gravity = world->settings.gravity;
    return def;
}

// ---- as part of the state

size_t rgVariant_ChangeCount(const rgVariant* variant, unsigned changed) {
    size_t count = 0;
    for (int kind = 0; kind < rg_changeKindCount; ++kind) {
        if ((changed >> kind & 1) != 0) {
            count += (size_t)rgPartCount(variant, (rgChangeKind)kind) *
                     (size_t)rgFieldNumbers((rgChangeKind)kind);
        }
    }
    return count;
}

// Visits the numbers of every part of the kinds that are changed.
typedef void rgPartFcn(rgWorld* world, rgChangeKind kind, int index, void* context);

static void rgWorld_VisitChanges(const rgWorld* world, unsigned changed, rgPartFcn* visit,
                                 void* context) {
    for (int kind = 0; kind < rg_changeKindCount; ++kind) {
        int count =
            (changed >> kind & 1) != 0 ? rgPartCount(&world->variant, (rgChangeKind)kind) : 0;
        for (int i = 0; i < count; ++i) {
            visit((rgWorld*)(uintptr_t)world, (rgChangeKind)kind, i, context);
        }
    }
}

static void rgWritePart(rgWorld* world, rgChangeKind kind, int index, void* context) {
    char** cursor = context;
    double numbers[RG_FIELDS_MOST];
    size_t bytes = (size_t)rgFieldNumbers(kind) * sizeof(double);
    rgGather(kind, rgPartOfWorld(world->model, &world->def, kind, index), numbers);
    memcpy(*cursor, numbers, bytes);
    *cursor += bytes;
}

void rgWorld_WriteChanges(const rgWorld* world, char* bytes) {
    rgWorld_VisitChanges(world, world->variant.changed, rgWritePart, &bytes);
}

static void rgHashPart(rgWorld* world, rgChangeKind kind, int index, void* context) {
    uint64_t* hash = context;
    double numbers[RG_FIELDS_MOST];
    rgGather(kind, rgPartOfWorld(world->model, &world->def, kind, index), numbers);
    *hash = rgHashBytes(numbers, (size_t)rgFieldNumbers(kind) * sizeof(double), *hash);
}

uint64_t rgWorld_HashChanges(const rgWorld* world, uint64_t hash) {
    rgWorld_VisitChanges(world, world->variant.changed, rgHashPart, &hash);
    return hash;
}

typedef struct rgReading {
    const char* cursor;
    bool good;
} rgReading;

static void rgReadNumbers(rgReading* reading, rgChangeKind kind, double* numbers) {
    size_t bytes = (size_t)rgFieldNumbers(kind) * sizeof(double);
    memcpy(numbers, reading->cursor, bytes);
    reading->cursor += bytes;
}

static void rgJudgePart(rgWorld* world, rgChangeKind kind, int index, void* context) {
    rgReading* reading = context;
    double numbers[RG_FIELDS_MOST];
    rgAnyDef part;
    rgReadNumbers(reading, kind, numbers);
    memcpy(&part, rgVariant_FirstPart(&world->variant, kind, index), rgKinds[kind].size);
    rgScatter(kind, numbers, &part);
    reading->good =
        reading->good && rgVariant_PartIsUsable(&world->variant, kind, index, &part, NULL);
}

bool rgWorld_ChangesAreUsable(const rgWorld* world, unsigned changed, const char* bytes) {
    rgReading reading = {bytes, true};
    rgWorld_VisitChanges(world, changed, rgJudgePart, &reading);
    return reading.good;
}

static void rgReadPart(rgWorld* world, rgChangeKind kind, int index, void* context) {
    double numbers[RG_FIELDS_MOST];
    rgReadNumbers(context, kind, numbers);
    rgVariant_StorePart(&world->variant, &world->def, world->model, kind, index, numbers);
}

static void rgUndoPart(rgWorld* world, rgChangeKind kind, int index, void* context) {
    (void)context;
    double numbers[RG_FIELDS_MOST];
    rgGather(kind, rgVariant_FirstPart(&world->variant, kind, index), numbers);
    rgScatter(kind, numbers,
              (void*)(uintptr_t)rgPartOfWorld(world->model, &world->def, kind, index));
}

rgResult rgWorld_ReadChanges(rgWorld* world, unsigned changed, const char* bytes) {
    rgReading reading = {bytes, true};
    unsigned touched = changed | world->variant.changed;
    if (touched == 0) {
        return rg_ok;
    }
    for (int kind = 0; kind < rg_changeKindCount; ++kind) {
        rgResult result =
            (changed >> kind & 1) != 0 ? rgWorld_OwnKind(world, (rgChangeKind)kind) : rg_ok;
        if (result != rg_ok) {
            return result;
        }
    }
    rgWorld_VisitChanges(world, touched & ~changed, rgUndoPart, NULL);
    rgWorld_VisitChanges(world, changed, rgReadPart, &reading);
    world->variant.changed = changed;
    rgWorld_Refresh(world, touched);
    return rg_ok;
}
