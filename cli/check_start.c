// rigor check: validity of a model's start configurations, the reference and each key: joints
// outside their limits, shapes inside each other.
#include "check.h"

#include <math.h>
#include <string.h>

#define RG_START_DEPTH 1e-3 // [m] of overlap that is worth a word
#define RG_START_ANGLE 1e-6 // [rad] or [m] outside a limit that is worth a word
#define RG_START_LINES 10   // printed lines per kind; overlaps at the reference are all printed

// One pair of shapes, as deep as its deepest point.
typedef struct rgOverlapPair {
    rgShapeId a, b;
    double depth;
} rgOverlapPair;

typedef struct rgStart {
    const char* name;
    bool isReference;
    const rgModel* model;
    const double* q;
    rgOverlapPair pairs[256];
    int pairCount;
} rgStart;

static void rgStart_AddOverlap(rgStart* start, const rgContact* contact) {
    rgOverlapPair* pair = start->pairs;
    int k = 0;
    while (k < start->pairCount && (pair[k].a.index1 != contact->shapeA.index1 ||
                                    pair[k].b.index1 != contact->shapeB.index1)) {
        ++k;
    }
    if (k == (int)(sizeof(start->pairs) / sizeof(start->pairs[0]))) {
        return;
    }
    if (k == start->pairCount) {
        pair[k] = (rgOverlapPair){.a = contact->shapeA, .b = contact->shapeB};
        start->pairCount += 1;
    }
    pair[k].depth = fmax(pair[k].depth, -contact->gap);
}

static bool rgStart_Measure(rgWorld* world, rgKeyId key, rgStart* start) {
    rgStepReport report;
    const rgKeyDef* def = rgModel_Key(rgWorld_Model(world), key);
    *start = (rgStart){
        .name = "the reference", .isReference = def == NULL, .model = rgWorld_Model(world)};
    if (def != NULL) {
        start->name = def->name != NULL && def->name[0] != '\0' ? def->name : "a key";
    }
    rgResult result = rgWorld_Reset(world, key);
    if (result == rg_ok && def == NULL) {
        result = rgWorld_SetState(world, NULL, NULL); // reference configuration, outside limits too
    }
    if (result != rg_ok || rgWorld_Forward(world, &report) != rg_ok) {
        return false;
    }
    start->q = rgWorld_Positions(world, NULL);
    int count = 0;
    const rgContact* contacts = rgWorld_Contacts(world, &count);
    for (int i = 0; i < count; ++i) {
        if (contacts[i].gap < -RG_START_DEPTH) {
            rgStart_AddOverlap(start, &contacts[i]);
        }
    }
    return true;
}

// Distance of a joint from its limits; 0: inside.
static double rgStart_Outside(const rgStart* start, int joint, double* value) {
    const rgJointDef* def = rgModel_Joint(start->model, (rgJointId){joint + 1});
    bool scalar = def->kind == rg_jointRevolute || def->kind == rg_jointPrismatic;
    if (!def->hasLimits || !scalar) {
        return 0;
    }
    *value = start->q[rgModel_JointRange(start->model, (rgJointId){joint + 1}).q];
    double outside = fmax(def->lower - *value, *value - def->upper);
    return outside > RG_START_ANGLE ? outside : 0;
}

const char* rgShapeLabel(const rgModel* model, rgShapeId id, char text[80]) {
    const rgShapeDef* shape = rgModel_Shape(model, id);
    const rgBodyDef* body = rgModel_Body(model, shape->body);
    if (shape->name != NULL && shape->name[0] != '\0') {
        return shape->name;
    }
    snprintf(text, 80, "shape %d of %.50s", id.index1,
             body == NULL         ? "the world"
             : body->name != NULL ? body->name
                                  : "a body");
    return text;
}

static void rgStart_PrintLimits(const rgStart* start) {
    int found = 0;
    for (int j = 0; j < rgModel_Info(start->model).jointCount; ++j) {
        const rgJointDef* def = rgModel_Joint(start->model, (rgJointId){j + 1});
        double value = 0;
        if (rgStart_Outside(start, j, &value) > 0 && found++ < RG_START_LINES) {
            rgCli_Print(stdout, "  %-12s at %s: joint '%s' is at %.4g, outside %.4g to %.4g\n",
                        "start", start->name, def->name != NULL ? def->name : "", value, def->lower,
                        def->upper);
        }
    }
    if (found > RG_START_LINES) {
        rgCli_Print(stdout, "  %-12s at %s: %d more joints outside their limits\n", "start",
                    start->name, found - RG_START_LINES);
    }
}

static void rgStart_Print(const rgStart* start) {
    rgStart_PrintLimits(start);
    int shown = start->isReference ? start->pairCount : RG_START_LINES;
    for (int i = 0; i < start->pairCount && i < shown; ++i) {
        char a[80], b[80];
        rgCli_Print(stdout, "  %-12s at %s: '%s' and '%s' overlap by %.3g mm\n", "start",
                    start->name, rgShapeLabel(start->model, start->pairs[i].a, a),
                    rgShapeLabel(start->model, start->pairs[i].b, b), 1e3 * start->pairs[i].depth);
    }
    if (start->pairCount > shown) {
        rgCli_Print(stdout, "  %-12s at %s: %d more pairs overlap\n", "start", start->name,
                    start->pairCount - shown);
    }
}

static void rgStart_Write(rgJson* json, const rgStart* start) {
    rgJson_BeginObject(json, NULL);
    rgJson_String(json, "at", start->name);
    rgJson_BeginArray(json, "outside");
    for (int j = 0; j < rgModel_Info(start->model).jointCount; ++j) {
        const rgJointDef* def = rgModel_Joint(start->model, (rgJointId){j + 1});
        double value = 0;
        if (rgStart_Outside(start, j, &value) > 0) {
            rgJson_BeginObject(json, NULL);
            rgJson_String(json, "joint", def->name);
            rgJson_Number(json, "value", value);
            rgJson_Number(json, "lower", def->lower);
            rgJson_Number(json, "upper", def->upper);
            rgJson_EndObject(json);
        }
    }
    rgJson_EndArray(json);
    rgJson_BeginArray(json, "overlaps");
    for (int i = 0; i < start->pairCount; ++i) {
        char a[80], b[80];
        rgJson_BeginObject(json, NULL);
        rgJson_String(json, "a", rgShapeLabel(start->model, start->pairs[i].a, a));
        rgJson_String(json, "b", rgShapeLabel(start->model, start->pairs[i].b, b));
        rgJson_Number(json, "depth", start->pairs[i].depth);
        rgJson_EndObject(json);
    }
    rgJson_EndArray(json);
    rgJson_EndObject(json);
}

static const char* rgBodyLabel(const rgModelDef* def, rgBodyId id) {
    const rgBodyDef* body = rgModelDef_Body(def, id);
    return body == NULL ? "world" : body->name != NULL ? body->name : "a body";
}

// Pairs of bodies that a loader excluded, with the depth.
static void rgCheckIgnored(const rgModelDef* def, rgJson* json) {
    int count = 0;
    const rgExcludedPair* pairs = rgModelDef_ExcludedPairs(def, &count);
    if (json != NULL) {
        rgJson_BeginArray(json, "ignoredOverlaps");
    }
    for (int i = 0; i < count; ++i) {
        const char* a = rgBodyLabel(def, pairs[i].a);
        const char* b = rgBodyLabel(def, pairs[i].b);
        if (!(pairs[i].overlap > 0)) {
            continue;
        }
        if (json == NULL) {
            printf("  %-12s '%s' and '%s' by %.3g mm: they do not collide\n", "overlap", a, b,
                   1e3 * pairs[i].overlap);
            continue;
        }
        rgJson_BeginObject(json, NULL);
        rgJson_String(json, "a", a);
        rgJson_String(json, "b", b);
        rgJson_Number(json, "depth", pairs[i].overlap);
        rgJson_EndObject(json);
    }
    if (json != NULL) {
        rgJson_EndArray(json);
    }
}

void rgCli_CheckStarts(const rgModelDef* def, rgWorld* world, rgJson* json) {
    rgCheckIgnored(def, json);
    if (json != NULL) {
        rgJson_BeginArray(json, "starts");
    }
    int keyCount = rgModel_Info(rgWorld_Model(world)).keyCount;
    for (int key = 0; key <= keyCount; ++key) {
        rgStart start;
        if (!rgStart_Measure(world, (rgKeyId){key}, &start)) {
            continue;
        }
        if (json != NULL) {
            rgStart_Write(json, &start);
        } else {
            rgStart_Print(&start);
        }
    }
    if (json != NULL) {
        rgJson_EndArray(json);
    }
}
