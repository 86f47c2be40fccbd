// One definition into another: under a prefix, at a pose, on a body, by a joint.
#include "model/def.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct rgAttachment {
    rgModelDef* def;
    const rgModelDef* other;
    const rgAttachDef* how;
    rgDiagnostics* diagnostics;
    rgArena arena;                // prefixed names, lists
    int offset[rg_partKindCount]; // added to the other's ids
    rgBodyId base;                // in place of the other's world
    rgPose pose;                  // of the other's world in the base
    bool failed;                  // out of memory
} rgAttachment;

static rgResult rgAttachment_Refuse(rgAttachment* a, rgSource source, const char* format, ...)
    __attribute__((format(printf, 3, 4)));

// An error for the diagnostics, which the definition remembers.
static rgResult rgAttachment_Refuse(rgAttachment* a, rgSource source, const char* format, ...) {
    char text[700];
    va_list arguments;
    va_start(arguments, format);
    rgPrintList(text, sizeof(text), format, arguments);
    va_end(arguments);
    rgDiagnostics_Add(a->diagnostics, rg_severityError, source.file, source.line, "%s", text);
    rgModelDef_StoreError(a->def, rg_errorArgument, source, text);
    return rg_errorArgument;
}

// ---- checks

static bool rgIsRootJoint(const rgModelDef* def, int joint) {
    return def->bodies[def->joints[joint].body.index1 - 1].parent.index1 == 0;
}

// A free joint of a root body that is left out.
static bool rgAttachment_DropsJoint(const rgAttachment* a, int joint) {
    bool drops = a->how->kind == rg_attachFixed || a->how->kind == rg_attachJoint;
    return drops && a->other->joints[joint].kind == rg_jointFree && rgIsRootJoint(a->other, joint);
}

static bool rgAttachment_Drops(const rgAttachment* a, rgPartKind kind, int index) {
    bool world = a->how->withoutWorld;
    return (kind == rg_partJoint && rgAttachment_DropsJoint(a, index)) ||
           (kind == rg_partShape && world && a->other->shapes[index].body.index1 == 0) ||
           (kind == rg_partFrame && world && a->other->frames[index].body.index1 == 0);
}

static bool rgIsMoving(const rgModelDef* def, int body) {
    for (; body > 0; body = def->bodies[body - 1].parent.index1) {
        if (def->bodies[body - 1].kinematic) {
            return true;
        }
        for (int j = 0; j < def->jointCount; ++j) {
            if (def->joints[j].body.index1 == body && def->joints[j].kind != rg_jointFixed) {
                return true;
            }
        }
    }
    return false;
}

static rgResult rgAttachment_CheckFree(rgAttachment* a) {
    const rgModelDef* other = a->other;
    bool moving = rgIsMoving(a->def, a->how->parent.index1);
    if (a->how->kind == rg_attachFree && moving) {
        return rgAttachment_Refuse(
            a, (rgSource){0},
            "a definition that moves freely can only be attached to a body that does not move");
    }
    for (int j = 0; j < other->jointCount; ++j) {
        const rgJointDef* joint = &other->joints[j];
        const char* name = joint->name != NULL ? joint->name : "";
        if (!rgIsRootJoint(other, j) || joint->kind == rg_jointFixed) {
            continue;
        }
        if (a->how->kind == rg_attachAsIs && joint->kind == rg_jointFree && moving) {
            return rgAttachment_Refuse(a, joint->source,
                                       "joint '%.60s' is free, and the body that it is attached to "
                                       "moves; rg_attachFixed leaves the free joint out",
                                       name);
        }
        if (a->how->kind == rg_attachFree && joint->kind != rg_jointFree) {
            return rgAttachment_Refuse(
                a, joint->source,
                "joint '%.60s' ties its body to the world, so the body cannot be free", name);
        }
    }
    return rg_ok;
}

// ---- names

static const char* rgAttachment_Name(rgAttachment* a, const char* name) {
    const char* prefix = a->how->prefix != NULL ? a->how->prefix : "";
    const char* suffix = a->how->suffix != NULL ? a->how->suffix : "";
    if (name == NULL || name[0] == '\0' || (prefix[0] == '\0' && suffix[0] == '\0')) {
        return name;
    }
    size_t bytes = strlen(prefix) + strlen(name) + strlen(suffix) + 1;
    char* made = rgArena_Take(&a->arena, bytes, 1);
    if (made == NULL) {
        a->failed = true;
        return NULL;
    }
    snprintf(made, bytes, "%s%s%s", prefix, name, suffix);
    return made;
}

typedef struct rgNamed1 {
    const char* name;
    int index;
} rgNamed1;

static int rgCompareNamed(const void* a, const void* b) {
    const rgNamed1 *x = a, *y = b;
    int order = strcmp(x->name, y->name);
    return order != 0 ? order : (x->index > y->index) - (x->index < y->index);
}

static int rgCompareName(const void* key, const void* item) {
    return strcmp(key, ((const rgNamed1*)item)->name);
}

static void rgAttachment_ReportClash(rgAttachment* a, const rgPartArray* ours, int our,
                                     const rgPartArray* theirs, int their, const char* name) {
    rgSource first = rgPartArray_Source(ours, our);
    char where[300] = "in the definition that it is attached to";
    if (first.file != NULL && first.line > 0) {
        snprintf(where, sizeof(where), "in %.250s:%d", first.file, first.line);
    } else if (first.file != NULL) {
        snprintf(where, sizeof(where), "in %.250s", first.file);
    }
    rgAttachment_Refuse(a, rgPartArray_Source(theirs, their),
                        "%s '%.60s': the name is already used %s; a prefix makes names differ",
                        ours->kind, name, where);
}

// Number of names of a kind that both use.
static int rgAttachment_CountClashes(rgAttachment* a, rgPartKind kind) {
    rgPartArray ours = rgModelDef_Parts(a->def, kind), theirs = rgModelDef_Parts(a->other, kind);
    rgNamed1* known = RG_TAKE(&a->arena, rgNamed1, RG_MAX(*ours.count, 1));
    if (known == NULL) {
        a->failed = true;
        return 0;
    }
    int count = 0, clashes = 0;
    for (int i = 0; i < *ours.count; ++i) {
        const char* name = rgPartArray_Name(&ours, i);
        if (name[0] != '\0') {
            known[count++] = (rgNamed1){name, i};
        }
    }
    qsort(known, (size_t)count, sizeof(rgNamed1), rgCompareNamed);
    for (int i = 0; i < *theirs.count; ++i) {
        const char* name = rgAttachment_Name(a, rgPartArray_Name(&theirs, i));
        if (name == NULL || name[0] == '\0' || rgAttachment_Drops(a, kind, i)) {
            continue;
        }
        const rgNamed1* found =
            bsearch(name, known, (size_t)count, sizeof(rgNamed1), rgCompareName);
        if (found != NULL) {
            rgAttachment_ReportClash(a, &ours, found->index, &theirs, i, name);
            clashes += 1;
        }
    }
    return clashes;
}

static rgResult rgAttachment_CheckNames(rgAttachment* a) {
    int clashes = 0;
    for (int kind = 0; kind < rg_partKindCount; ++kind) {
        clashes += rgAttachment_CountClashes(a, (rgPartKind)kind);
    }
    return a->failed ? rg_errorMemory : clashes > 0 ? rg_errorArgument : rg_ok;
}

// ---- copying the parts

static int rgMoved(const rgAttachment* a, rgPartKind kind, int id) {
    return id > 0 ? id + a->offset[kind] : 0;
}

// A body of the other, or the base in place of its world; then the pose is one in its world.
static rgBodyId rgAttachment_Body(const rgAttachment* a, rgBodyId body, rgPose* pose) {
    if (body.index1 > 0) {
        return (rgBodyId){rgMoved(a, rg_partBody, body.index1)};
    }
    if (pose != NULL) {
        *pose = rgPoseMultiply(a->pose, *pose);
    }
    return a->base;
}

static void rgAttachment_Check(rgAttachment* a, rgResult result) {
    a->failed = a->failed || result != rg_ok;
}

static void rgAttachment_AddBodies(rgAttachment* a) {
    for (int i = 0; i < a->other->bodyCount; ++i) {
        rgBodyDef body = a->other->bodies[i];
        body.name = rgAttachment_Name(a, body.name);
        body.parent = rgAttachment_Body(a, body.parent, &body.pose);
        rgAttachment_Check(a, rgModelDef_AddBody(a->def, &body, NULL));
    }
    for (int i = 0; i < a->other->jointCount; ++i) {
        rgJointDef joint = a->other->joints[i];
        joint.name = rgAttachment_Name(a, joint.name);
        joint.body.index1 = rgMoved(a, rg_partBody, joint.body.index1);
        rgAttachment_Check(a, rgModelDef_AddJoint(a->def, &joint, NULL));
    }
}

static void rgAttachment_AddShapes(rgAttachment* a) {
    for (int i = 0; i < a->other->shapeCount; ++i) {
        rgShapeDef shape = a->other->shapes[i];
        shape.name = rgAttachment_Name(a, shape.name);
        shape.body = rgAttachment_Body(a, shape.body, &shape.pose);
        rgAttachment_Check(a, rgModelDef_AddShape(a->def, &shape, NULL));
    }
    for (int i = 0; i < a->other->frameCount; ++i) {
        rgFrameDef frame = a->other->frames[i];
        frame.name = rgAttachment_Name(a, frame.name);
        frame.body = rgAttachment_Body(a, frame.body, &frame.pose);
        rgAttachment_Check(a, rgModelDef_AddFrame(a->def, &frame, NULL));
    }
}

static void rgAttachment_AddTendons(rgAttachment* a) {
    for (int i = 0; i < a->other->tendonCount; ++i) {
        rgTendonDef tendon = a->other->tendons[i];
        rgJointId* joints = RG_TAKE(&a->arena, rgJointId, RG_MAX(tendon.jointCount, 1));
        a->failed = a->failed || joints == NULL;
        for (int k = 0; joints != NULL && k < tendon.jointCount; ++k) {
            joints[k].index1 = rgMoved(a, rg_partJoint, tendon.joints[k].index1);
        }
        tendon.name = rgAttachment_Name(a, tendon.name);
        tendon.joints = joints;
        rgTendonPoint* points = RG_TAKE(&a->arena, rgTendonPoint, RG_MAX(tendon.pointCount, 1));
        a->failed = a->failed || points == NULL;
        for (int k = 0; points != NULL && k < tendon.pointCount; ++k) {
            points[k] = tendon.points[k];
            points[k].frame.index1 = rgMoved(a, rg_partFrame, points[k].frame.index1);
            points[k].shape.index1 = rgMoved(a, rg_partShape, points[k].shape.index1);
        }
        tendon.points = points;
        rgAttachment_Check(a, rgModelDef_AddTendon(a->def, &tendon, NULL));
    }
}

static void rgAttachment_AddOthers(rgAttachment* a) {
    for (int i = 0; i < a->other->actuatorCount; ++i) {
        rgActuatorDef actuator = a->other->actuators[i];
        actuator.name = rgAttachment_Name(a, actuator.name);
        actuator.joint.index1 = rgMoved(a, rg_partJoint, actuator.joint.index1);
        actuator.tendon.index1 = rgMoved(a, rg_partTendon, actuator.tendon.index1);
        actuator.frame.index1 = rgMoved(a, rg_partFrame, actuator.frame.index1);
        actuator.reference.index1 = rgMoved(a, rg_partFrame, actuator.reference.index1);
        actuator.slider.index1 = rgMoved(a, rg_partFrame, actuator.slider.index1);
        rgAttachment_Check(a, rgModelDef_AddActuator(a->def, &actuator, NULL));
    }
    for (int i = 0; i < a->other->equalityCount; ++i) {
        rgEqualityDef e = a->other->equalities[i];
        bool ties = e.kind == rg_equalityConnect || e.kind == rg_equalityWeld;
        e.name = rgAttachment_Name(a, e.name);
        e.bodyA = ties ? rgAttachment_Body(a, e.bodyA, &e.poseA) : e.bodyA;
        e.bodyB = ties ? rgAttachment_Body(a, e.bodyB, &e.poseB) : e.bodyB;
        e.jointA.index1 = rgMoved(a, rg_partJoint, e.jointA.index1);
        e.jointB.index1 = rgMoved(a, rg_partJoint, e.jointB.index1);
        e.tendonA.index1 = rgMoved(a, rg_partTendon, e.tendonA.index1);
        e.tendonB.index1 = rgMoved(a, rg_partTendon, e.tendonB.index1);
        rgAttachment_Check(a, rgModelDef_AddEquality(a->def, &e, NULL));
    }
    for (int i = 0; i < a->other->sensorCount; ++i) {
        rgSensorDef s = a->other->sensors[i];
        s.name = rgAttachment_Name(a, s.name);
        s.joint.index1 = rgMoved(a, rg_partJoint, s.joint.index1);
        s.tendon.index1 = rgMoved(a, rg_partTendon, s.tendon.index1);
        s.actuator.index1 = rgMoved(a, rg_partActuator, s.actuator.index1);
        s.frame.index1 = rgMoved(a, rg_partFrame, s.frame.index1);
        s.body.index1 = rgMoved(a, rg_partBody, s.body.index1);
        s.reference.index1 = rgMoved(a, rg_partFrame, s.reference.index1);
        s.referenceBody.index1 = rgMoved(a, rg_partBody, s.referenceBody.index1);
        for (int k = 0; k < 2; ++k) {
            s.sides[k].shape.index1 = rgMoved(a, rg_partShape, s.sides[k].shape.index1);
            s.sides[k].body.index1 = rgMoved(a, rg_partBody, s.sides[k].body.index1);
        }
        rgAttachment_Check(a, rgModelDef_AddSensor(a->def, &s, NULL));
    }
    for (int i = 0; i < a->other->excludeCount; ++i) {
        rgExcludedPair pair = a->other->excludes[i];
        pair.a = rgAttachment_Body(a, pair.a, NULL);
        pair.b = rgAttachment_Body(a, pair.b, NULL);
        rgAttachment_Check(a, rgModelDef_Exclude(a->def, &pair));
    }
    for (int i = 0; i < a->other->pairCount; ++i) {
        const rgPairDef* p = &a->other->pairs[i];
        rgShapeId first = {rgMoved(a, rg_partShape, p->a.index1)};
        rgShapeId second = {rgMoved(a, rg_partShape, p->b.index1)};
        rgAttachment_Check(
            a, rgModelDef_AddPair(a->def, first, second, p->hasMaterial ? &p->material : NULL));
    }
}

// Pose of the other model's world in this one at its reference configuration.
static rgPose rgAttachment_WorldPose(const rgAttachment* a) {
    rgPose pose = a->pose;
    for (int body = a->base.index1; body > 0; body = a->def->bodies[body - 1].parent.index1) {
        pose = rgPoseMultiply(a->def->bodies[body - 1].pose, pose);
    }
    return pose;
}

// Free joints of root bodies have their coordinates in the world.
static void rgAttachment_MoveKey(const rgAttachment* a, const int* order, const rgKeyCover* cover,
                                 double* q) {
    rgPose world = rgAttachment_WorldPose(a);
    for (int i = 0; i < a->other->jointCount; ++i) {
        int joint = order[i];
        if (joint < cover->firstJoint || joint >= cover->firstJoint + cover->jointCount) {
            continue;
        }
        if (a->other->joints[joint].kind == rg_jointFree) {
            rgPose pose;
            memcpy(&pose, q, sizeof(pose));
            pose = rgPoseMultiply(world, pose);
            memcpy(q, &pose, sizeof(pose));
        }
        q += rgJointSize(a->other->joints[joint].kind, false);
    }
}

static void rgAttachment_AddKeys(rgAttachment* a) {
    const rgModelDef* other = a->other;
    int* order = RG_TAKE(&a->arena, int, RG_MAX(other->jointCount, 1));
    if (order == NULL || rgModelDef_JointOrder(other, order) != rg_ok) {
        a->failed = true;
        return;
    }
    for (int i = 0; i < other->keyCount; ++i) {
        rgKeyDef key = other->keys[i];
        rgKeyCover cover = rgModelDef_KeyCover(other, i);
        double* q = rgKeepArray(&a->arena, key.q, (size_t)key.qCount, sizeof(double), &a->failed);
        int wanted = rgCoordinateCount(other, cover.firstJoint, cover.jointCount, false);
        if (q != NULL && key.qCount == wanted) {
            rgAttachment_MoveKey(a, order, &cover, q);
        }
        key.name = rgAttachment_Name(a, key.name);
        key.q = q;
        rgResult result = rgModelDef_AddKey(a->def, &key, NULL);
        rgAttachment_Check(a, result);
        if (result == rg_ok) {
            cover.firstJoint += a->offset[rg_partJoint];
            cover.firstActuator += a->offset[rg_partActuator];
            a->def->covers[a->def->keyCount - 1] = cover;
        }
    }
}

// ---- joints of our own

static int rgFirstRoot(const rgModelDef* def, int* count) {
    int first = -1;
    *count = 0;
    for (int i = def->bodyCount - 1; i >= 0; --i) {
        if (def->bodies[i].parent.index1 == 0) {
            first = i;
            *count += 1;
        }
    }
    return first;
}

static bool rgUsesWorld(const rgAttachment* a) {
    const rgModelDef* other = a->other;
    bool uses = false;
    for (int i = 0; i < other->shapeCount && !a->how->withoutWorld; ++i) {
        uses = uses || other->shapes[i].body.index1 == 0;
    }
    for (int i = 0; i < other->frameCount && !a->how->withoutWorld; ++i) {
        uses = uses || other->frames[i].body.index1 == 0;
    }
    for (int i = 0; i < other->equalityCount; ++i) {
        const rgEqualityDef* e = &other->equalities[i];
        bool ties = e->kind == rg_equalityConnect || e->kind == rg_equalityWeld;
        uses = uses || (ties && (e->bodyA.index1 == 0 || e->bodyB.index1 == 0));
    }
    for (int j = 0; j < other->jointCount; ++j) {
        uses = uses || (rgIsRootJoint(other, j) && !rgAttachment_DropsJoint(a, j));
    }
    return uses;
}

// rg_attachJoint: which body gets the joint. A carrier is added first, so that it is a parent.
static int rgAttachment_JointBody(rgAttachment* a) {
    int roots = 0;
    rgFirstRoot(a->other, &roots);
    if (roots == 1 && !rgUsesWorld(a)) {
        return 0;
    }
    rgBodyDef jointBody = rgDefaultBodyDef();
    jointBody.name = a->how->prefix != NULL ? a->how->prefix : a->other->name;
    jointBody.parent = a->base;
    jointBody.pose = a->pose;
    rgAttachment_Check(a, rgModelDef_AddBody(a->def, &jointBody, &a->base));
    a->pose = rgPoseIdentity();
    a->offset[rg_partBody] += 1;
    return a->base.index1;
}

static void rgAttachment_AddJoint(rgAttachment* a, int jointBody) {
    int roots = 0;
    int first = rgFirstRoot(a->other, &roots);
    rgJointDef joint = a->how->joint;
    joint.body.index1 = jointBody > 0 ? jointBody : rgMoved(a, rg_partBody, first + 1);
    rgAttachment_Check(a, rgModelDef_AddJoint(a->def, &joint, NULL));
}

static bool rgHasJoint(const rgModelDef* def, int body) {
    for (int j = 0; j < def->jointCount; ++j) {
        if (def->joints[j].body.index1 == body) {
            return true;
        }
    }
    return false;
}

static void rgAttachment_FreeRoots(rgAttachment* a) {
    for (int i = 0; i < a->other->bodyCount; ++i) {
        const rgBodyDef* body = &a->other->bodies[i];
        if (body->parent.index1 != 0 || rgHasJoint(a->other, i + 1)) {
            continue;
        }
        rgJointDef joint = rgDefaultJointDef();
        joint.kind = rg_jointFree;
        joint.body.index1 = rgMoved(a, rg_partBody, i + 1);
        joint.name = a->def->bodies[joint.body.index1 - 1].name;
        joint.source = body->source;
        rgAttachment_Check(a, rgModelDef_AddJoint(a->def, &joint, NULL));
    }
}

// ---- parts that are left out, and options

static void rgAttachment_Drop(rgAttachment* a, rgPartKind kind) {
    int count = *rgModelDef_Parts(a->other, kind).count, dropped = 0;
    int* ids = RG_TAKE(&a->arena, int, RG_MAX(count, 1));
    a->failed = a->failed || ids == NULL;
    for (int i = 0; ids != NULL && i < count; ++i) {
        if (rgAttachment_Drops(a, kind, i)) {
            ids[dropped++] = rgMoved(a, kind, i + 1);
        }
    }
    if (!a->failed && dropped > 0) {
        rgAttachment_Check(a, rgModelDef_RemoveParts(a->def, kind, ids, dropped, a->diagnostics));
    }
}

static void rgAttachment_ReportOption(rgAttachment* a, const char* what, const char* ours,
                                      const char* theirs) {
    rgSource first = a->def->options.source, second = a->other->options.source;
    char where[300] = "";
    if (first.file != NULL) {
        snprintf(where, sizeof(where), " of %.250s:%d", first.file, first.line);
    }
    rgDiagnostics_Add(
        a->diagnostics, rg_severityWarning, second.file, second.line,
        "the %s is %s here and %s in the definition that it is attached to; that%s is used", what,
        theirs, ours, where);
}

static bool rgGivesTimeStep(const rgModelOptions* options) {
    return options->timeStep > 0 && !options->impliedTimeStep;
}

static void rgAttachment_MergeOptions(rgAttachment* a) {
    rgModelOptions* ours = &a->def->options;
    rgModelOptions theirs = a->other->options;
    char x[80], y[80];
    if (ours->hasGravity && theirs.hasGravity &&
        rgLengthSquared(rgSub(ours->gravity, theirs.gravity)) > 0) {
        rgPrint(x, sizeof(x), "(%g, %g, %g)", ours->gravity.x, ours->gravity.y, ours->gravity.z);
        rgPrint(y, sizeof(y), "(%g, %g, %g)", theirs.gravity.x, theirs.gravity.y, theirs.gravity.z);
        rgAttachment_ReportOption(a, "gravity", x, y);
    }
    bool bothSay = rgGivesTimeStep(ours) && rgGivesTimeStep(&theirs);
    if (bothSay && ours->timeStep != theirs.timeStep) {
        rgPrint(x, sizeof(x), "%g s", ours->timeStep);
        rgPrint(y, sizeof(y), "%g s", theirs.timeStep);
        rgAttachment_ReportOption(a, "time step", x, y);
    }
    rgModelOptions merged = *ours;
    if (!ours->hasGravity && theirs.hasGravity) {
        merged.gravity = theirs.gravity;
        merged.hasGravity = true;
    }
    if (ours->density == 0 && ours->viscosity == 0) {
        merged.density = theirs.density;
        merged.viscosity = theirs.viscosity;
        merged.wind = theirs.wind;
    }
    merged.magnetic = rgLengthSquared(ours->magnetic) > 0 ? ours->magnetic : theirs.magnetic;
    if (!rgGivesTimeStep(ours) && (rgGivesTimeStep(&theirs) || ours->timeStep == 0)) {
        merged.timeStep = theirs.timeStep;
        merged.impliedTimeStep = theirs.impliedTimeStep;
    }
    merged.source = ours->source.file != NULL ? ours->source : theirs.source;
    rgModelDef_SetOptions(a->def, &merged);
    if (a->def->name[0] == '\0') {
        rgModelDef_SetName(a->def, a->other->name);
    }
}

// A plane fixed to the world, by its normal and a point.
static bool rgIsWorldPlane(const rgShapeDef* shape, rgVec3* normal) {
    *normal = rgRotate(shape->pose.q, rgVec(0, 0, 1));
    return shape->kind == rg_shapePlane && shape->body.index1 == 0 && !shape->visualOnly;
}

// Two floors at one place would make every contact twice.
static void rgAttachment_ReportFloors(rgAttachment* a, int shapesBefore) {
    const rgShapeDef* shapes = a->def->shapes;
    rgVec3 n, m;
    for (int i = shapesBefore; i < a->def->shapeCount; ++i) {
        for (int k = 0; k < shapesBefore && rgIsWorldPlane(&shapes[i], &n); ++k) {
            rgVec3 between = rgSub(shapes[i].pose.p, shapes[k].pose.p);
            if (!rgIsWorldPlane(&shapes[k], &m) || rgDot(n, m) < 1 - 1e-9 ||
                fabs(rgDot(n, between)) > 1e-6) {
                continue;
            }
            rgSource first = shapes[k].source, second = shapes[i].source;
            rgDiagnostics_Add(a->diagnostics, rg_severityWarning, second.file, second.line,
                              "the floor '%.60s' lies in the floor '%.60s' of %.250s:%d: each "
                              "contact counts twice, unless the world of one is left out",
                              shapes[i].name != NULL ? shapes[i].name : "",
                              shapes[k].name != NULL ? shapes[k].name : "",
                              first.file != NULL ? first.file : "the program", first.line);
            return;
        }
    }
}

// ---- the call

static rgResult rgAttachment_Precheck(rgAttachment* a) {
    const rgAttachDef* how = a->how;
    if (how->cookie != RG_COOKIE_ATTACH || how->kind > rg_attachJoint || how->parent.index1 < 0 ||
        how->parent.index1 > a->def->bodyCount) {
        return rgAttachment_Refuse(a, (rgSource){0}, "a definition was not attached: %s",
                                   how->cookie != RG_COOKIE_ATTACH
                                       ? "how does not come from rgDefaultAttachDef()"
                                       : "its kind or its parent's id is wrong");
    }
    if (a->other->refusal.result != rg_ok) {
        return rgAttachment_Refuse(a, a->other->refusal.source, "%s", a->other->refusal.text);
    }
    int roots = 0;
    rgFirstRoot(a->other, &roots);
    if (how->kind == rg_attachJoint && roots == 0) {
        return rgAttachment_Refuse(a, (rgSource){0},
                                   "a definition was not attached: it has no body for the joint");
    }
    rgResult result = rgAttachment_CheckFree(a);
    return result == rg_ok ? rgAttachment_CheckNames(a) : result;
}

static void rgAttachment_Run(rgAttachment* a) {
    int jointBody = a->how->kind == rg_attachJoint ? rgAttachment_JointBody(a) : 0;
    rgAttachment_AddBodies(a);
    rgAttachment_AddShapes(a);
    rgAttachment_AddTendons(a);
    rgAttachment_AddOthers(a);
    rgAttachment_AddKeys(a);
    if (!a->failed && a->how->kind == rg_attachJoint) {
        rgAttachment_AddJoint(a, jointBody);
    } else if (!a->failed && a->how->kind == rg_attachFree) {
        rgAttachment_FreeRoots(a);
    }
    if (!a->failed) {
        rgAttachment_Drop(a, rg_partJoint);
        rgAttachment_Drop(a, rg_partShape);
        rgAttachment_Drop(a, rg_partFrame);
        rgAttachment_MergeOptions(a);
    }
}

// Numbers of parts, to go back to.
typedef struct rgCounts {
    int parts[rg_partKindCount];
    int excludes, pairs;
} rgCounts;

static void rgModelDef_CutBack(rgModelDef* def, const rgCounts* counts) {
    for (int kind = 0; kind < rg_partKindCount; ++kind) {
        *rgModelDef_Parts(def, (rgPartKind)kind).count = counts->parts[kind];
    }
    def->excludeCount = counts->excludes;
    def->pairCount = counts->pairs;
}

rgResult rgModelDef_Attach(rgModelDef* def, const rgModelDef* other, const rgAttachDef* attach,
                           rgDiagnostics* diagnostics, rgBodyId* root) {
    if (def == NULL || other == NULL || def == other) {
        return rg_errorArgument;
    }
    rgAttachDef how = attach != NULL ? *attach : rgDefaultAttachDef();
    rgAttachment a = {.def = def,
                      .other = other,
                      .how = &how,
                      .diagnostics = diagnostics,
                      .base = how.parent,
                      .pose = how.pose};
    rgArena_Init(&a.arena, &def->allocator);
    rgCounts counts = {.excludes = def->excludeCount, .pairs = def->pairCount};
    for (int kind = 0; kind < rg_partKindCount; ++kind) {
        counts.parts[kind] = a.offset[kind] = *rgModelDef_Parts(def, (rgPartKind)kind).count;
    }
    rgResult result = rgAttachment_Precheck(&a);
    if (result == rg_ok) {
        rgModelDef_FixKeyCovers(def);
        rgAttachment_Run(&a);
        result = a.failed ? rg_errorMemory : rg_ok;
    }
    if (result == rg_errorMemory) {
        rgModelDef_CutBack(def, &counts);
        rgModelDef_StoreError(def, result, (rgSource){0},
                              "a definition was not attached: out of memory");
    }
    if (result == rg_ok) {
        rgAttachment_ReportFloors(&a, counts.parts[rg_partShape]);
    }
    if (result == rg_ok && root != NULL) {
        root->index1 = other->bodyCount > 0 ? counts.parts[rg_partBody] + 1 : 0;
    }
    rgArena_Free(&a.arena);
    return result;
}
