// Copies of the definition's parts into the model's arena, with axes and quaternions normalised.
#include "model/def.h"
#include "model/model.h"

#include <string.h>

static void* rgCopyParts(rgCompiler* compiler, const void* parts, int count, size_t size) {
    void* copy = rgCompiler_Allocate(compiler, count, size);
    if (copy != NULL && count > 0) {
        memcpy(copy, parts, (size_t)count * size);
    }
    return copy;
}

static const char* rgCopyText(rgCompiler* compiler, const char* text) {
    return rgKeepString(&compiler->model->arena, text != NULL ? text : "", &compiler->outOfMemory);
}

// A few files name all parts: copy a name only when it differs from the part before.
static void rgCopySource(rgCompiler* compiler, rgSource* source, rgSource* last, rgSource* copy) {
    if (source->file == NULL) {
        return;
    }
    if (source->file != last->file) {
        last->file = source->file;
        copy->file = rgCopyText(compiler, source->file);
    }
    source->file = copy->file;
}

static void rgCopyBodiesAndJoints(rgCompiler* compiler, rgSource* last, rgSource* file) {
    const rgModelDef* def = compiler->def;
    rgModel* model = compiler->model;
    for (int i = 0; i < def->bodyCount; ++i) {
        rgBodyDef* body = &model->bodies[i];
        body->name = rgCopyText(compiler, body->name);
        body->pose.q = rgQuatNormalize(body->pose.q);
        rgCopySource(compiler, &body->source, last, file);
    }
    for (int i = 0; i < def->jointCount; ++i) {
        rgJointDef* joint = &model->joints[i];
        joint->name = rgCopyText(compiler, joint->name);
        joint->axis = rgNormalize(joint->axis);
        rgCopySource(compiler, &joint->source, last, file);
    }
}

static void rgCopyShapes(rgCompiler* compiler, rgSource* last, rgSource* file) {
    rgModel* model = compiler->model;
    for (int i = 0; i < compiler->def->shapeCount; ++i) {
        rgShapeDef* shape = &model->shapes[i];
        shape->name = rgCopyText(compiler, shape->name);
        shape->pose.q = rgQuatNormalize(shape->pose.q);
        shape->mesh = rgKeepMesh(&model->arena, shape->mesh, &compiler->outOfMemory);
        shape->heightField =
            rgKeepHeightField(&model->arena, shape->heightField, &compiler->outOfMemory);
        rgCopySource(compiler, &shape->source, last, file);
    }
}

// Frames of the definition, then one per body.
static void rgCopyFrames(rgCompiler* compiler, rgSource* last, rgSource* file) {
    const rgModelDef* def = compiler->def;
    rgModel* model = compiler->model;
    for (int i = 0; i < def->frameCount; ++i) {
        rgFrameDef* frame = &model->frames[i];
        *frame = def->frames[i];
        frame->name = rgCopyText(compiler, frame->name);
        frame->pose.q = rgQuatNormalize(frame->pose.q);
        rgCopySource(compiler, &frame->source, last, file);
    }
    for (int i = 0; i < def->bodyCount; ++i) {
        rgFrameDef* frame = &model->frames[def->frameCount + i];
        *frame = rgDefaultFrameDef();
        frame->name = model->bodies[i].name;
        frame->body.index1 = i + 1;
        frame->source = model->bodies[i].source;
    }
}

static void rgCopyTendons(rgCompiler* compiler, rgSource* last, rgSource* file) {
    rgModel* model = compiler->model;
    for (int i = 0; i < compiler->def->tendonCount; ++i) {
        rgTendonDef* tendon = &model->tendons[i];
        size_t count = (size_t)tendon->jointCount;
        tendon->name = rgCopyText(compiler, tendon->name);
        tendon->joints = rgKeepArray(&model->arena, tendon->joints, count, sizeof(rgJointId),
                                     &compiler->outOfMemory);
        tendon->coefficients = rgKeepArray(&model->arena, tendon->coefficients, count,
                                           sizeof(double), &compiler->outOfMemory);
        tendon->points =
            rgKeepArray(&model->arena, tendon->points, (size_t)RG_MAX(tendon->pointCount, 0),
                        sizeof(rgTendonPoint), &compiler->outOfMemory);
        rgCopySource(compiler, &tendon->source, last, file);
    }
}

static void rgCopyOthers(rgCompiler* compiler, rgSource* last, rgSource* file) {
    const rgModelDef* def = compiler->def;
    rgModel* model = compiler->model;
    for (int i = 0; i < def->actuatorCount; ++i) {
        model->actuators[i].name = rgCopyText(compiler, model->actuators[i].name);
        rgCopySource(compiler, &model->actuators[i].source, last, file);
    }
    for (int i = 0; i < def->equalityCount; ++i) {
        rgEqualityDef* equality = &model->equalities[i];
        equality->name = rgCopyText(compiler, equality->name);
        equality->poseA.q = rgQuatNormalize(equality->poseA.q);
        equality->poseB.q = rgQuatNormalize(equality->poseB.q);
        rgCopySource(compiler, &equality->source, last, file);
    }
    for (int i = 0; i < def->sensorCount; ++i) {
        model->sensors[i].name = rgCopyText(compiler, model->sensors[i].name);
        rgCopySource(compiler, &model->sensors[i].source, last, file);
    }
    for (int i = 0; i < def->keyCount; ++i) {
        model->keys[i].name = rgCopyText(compiler, model->keys[i].name);
        rgCopySource(compiler, &model->keys[i].source, last, file);
    }
}

static void rgFillInfo(rgCompiler* compiler) {
    const rgModelDef* def = compiler->def;
    rgModelInfo* info = &compiler->model->info;
    info->name = rgCopyText(compiler, def->name);
    info->options = def->options;
    if (def->options.source.file != NULL) {
        info->options.source.file = rgCopyText(compiler, def->options.source.file);
    }
    info->bodyCount = def->bodyCount;
    info->jointCount = def->jointCount;
    info->shapeCount = def->shapeCount;
    info->frameCount = def->frameCount + def->bodyCount;
    info->tendonCount = def->tendonCount;
    info->actuatorCount = def->actuatorCount;
    for (int i = 0; i < def->actuatorCount; ++i) {
        bool has = def->actuators[i].activation != rg_activationNone;
        info->activationCount = has ? def->actuatorCount : info->activationCount;
    }
    info->equalityCount = def->equalityCount;
    info->sensorCount = def->sensorCount;
    info->keyCount = def->keyCount;
}

bool rgBuildParts(rgCompiler* compiler) {
    const rgModelDef* def = compiler->def;
    rgModel* model = compiler->model;
    model->bodies = rgCopyParts(compiler, def->bodies, def->bodyCount, sizeof(rgBodyDef));
    model->joints = rgCopyParts(compiler, def->joints, def->jointCount, sizeof(rgJointDef));
    model->shapes = rgCopyParts(compiler, def->shapes, def->shapeCount, sizeof(rgShapeDef));
    model->frames =
        rgCompiler_Allocate(compiler, def->frameCount + def->bodyCount, sizeof(rgFrameDef));
    model->tendons = rgCopyParts(compiler, def->tendons, def->tendonCount, sizeof(rgTendonDef));
    model->actuators =
        rgCopyParts(compiler, def->actuators, def->actuatorCount, sizeof(rgActuatorDef));
    model->equalities =
        rgCopyParts(compiler, def->equalities, def->equalityCount, sizeof(rgEqualityDef));
    model->sensors = rgCopyParts(compiler, def->sensors, def->sensorCount, sizeof(rgSensorDef));
    model->keys = rgCopyParts(compiler, def->keys, def->keyCount, sizeof(rgKeyDef));
    if (compiler->outOfMemory) {
        return false;
    }
    rgSource last = {0}, file = {0};
    rgFillInfo(compiler);
    rgCopyBodiesAndJoints(compiler, &last, &file);
    rgCopyShapes(compiler, &last, &file);
    rgCopyFrames(compiler, &last, &file);
    rgCopyTendons(compiler, &last, &file);
    rgCopyOthers(compiler, &last, &file);
    return !compiler->outOfMemory;
}

// The count that an array of a key must have: that of the model, or of the parts that it covers.
static void rgCheckKeySize(rgCompiler* compiler, int index, const char* what, bool given, int count,
                           int expected, int covered) {
    char buffer[32];
    const rgKeyDef* key = &compiler->model->keys[index];
    if (given && count != expected && count != covered) {
        rgCompiler_Error(compiler, key->source, "key '%s': %d values for %s, the model has %d",
                         rgPartName(key->name, index, buffer), count, what, expected);
    }
}

// Coordinates of the joints that the key speaks of into an array of the whole model.
static void rgSpreadKey(const rgModel* model, const rgKeyCover* cover, const double* given,
                        bool isVelocity, double* all) {
    int last = cover->firstJoint + cover->jointCount;
    // Joints come in the order of their links.
    for (int i = 1; i < model->linkCount; ++i) {
        int joint = model->links[i].joint;
        bool isFirst = model->links[i - 1].joint != joint || i == 1;
        if (!isFirst || joint < cover->firstJoint || joint >= last) {
            continue;
        }
        rgJointRange range = model->jointRanges[joint];
        int start = isVelocity ? range.v : range.q;
        int count = isVelocity ? range.vCount : range.qCount;
        memcpy(all + start, given, (size_t)count * sizeof(double));
        given += count;
    }
}

// Quaternions in a key come from files with few digits: give them unit length.
static void rgNormalizeKey(const rgModel* model, double* q) {
    for (int i = 1; i < model->linkCount; ++i) {
        const rgLink* link = &model->links[i];
        if (link->kind == rg_linkSpherical || link->kind == rg_linkFree) {
            double* c = q + link->q + (link->kind == rg_linkFree ? 3 : 0);
            rgQuat unit = rgQuatNormalize((rgQuat){c[0], c[1], c[2], c[3]});
            memcpy(c, &unit, sizeof(unit));
        }
    }
}

static void rgCheckKeySizes(rgCompiler* compiler, int index) {
    const rgModelDef* def = compiler->def;
    const rgModel* model = compiler->model;
    const rgKeyDef* key = &model->keys[index];
    const rgKeyCover* cover = &def->covers[index];
    rgCheckKeySize(compiler, index, "q", key->q != NULL, key->qCount, model->qCount,
                   rgCoordinateCount(def, cover->firstJoint, cover->jointCount, false));
    rgCheckKeySize(compiler, index, "v", key->v != NULL, key->vCount, model->vCount,
                   rgCoordinateCount(def, cover->firstJoint, cover->jointCount, true));
    rgCheckKeySize(compiler, index, "control", key->control != NULL, key->controlCount,
                   model->info.actuatorCount, cover->actuatorCount);
    rgCheckKeySize(compiler, index, "activation", key->activation != NULL, key->activationCount,
                   model->info.actuatorCount, cover->actuatorCount);
}

static bool rgCompleteKey(rgCompiler* compiler, int index) {
    rgModel* model = compiler->model;
    rgKeyDef* key = &model->keys[index];
    const rgKeyCover* cover = &compiler->def->covers[index];
    int controlCount = model->info.actuatorCount;
    double* q = rgCompiler_Allocate(compiler, model->qCount, sizeof(double));
    double* v = rgCompiler_Allocate(compiler, model->vCount, sizeof(double));
    double* control = rgCompiler_Allocate(compiler, controlCount, sizeof(double));
    double* activation = rgCompiler_Allocate(compiler, controlCount, sizeof(double));
    if (compiler->outOfMemory) {
        return false;
    }
    memcpy(q, model->neutral, (size_t)model->qCount * sizeof(double));
    if (key->q != NULL && key->qCount == model->qCount) {
        memcpy(q, key->q, (size_t)model->qCount * sizeof(double));
    } else if (key->q != NULL) {
        rgSpreadKey(model, cover, key->q, false, q);
    }
    if (key->v != NULL && key->vCount == model->vCount) {
        memcpy(v, key->v, (size_t)model->vCount * sizeof(double));
    } else if (key->v != NULL) {
        rgSpreadKey(model, cover, key->v, true, v);
    }
    if (key->control != NULL) {
        int first = key->controlCount == controlCount ? 0 : cover->firstActuator;
        memcpy(control + first, key->control, (size_t)key->controlCount * sizeof(double));
    }
    if (key->activation != NULL) {
        int first = key->activationCount == controlCount ? 0 : cover->firstActuator;
        memcpy(activation + first, key->activation, (size_t)key->activationCount * sizeof(double));
    }
    rgNormalizeKey(model, q);
    key->q = q;
    key->v = v;
    key->control = control;
    key->qCount = model->qCount;
    key->vCount = model->vCount;
    key->controlCount = controlCount;
    key->activation = activation;
    key->activationCount = controlCount;
    return true;
}

bool rgBuildKeys(rgCompiler* compiler) {
    int count = compiler->model->info.keyCount;
    for (int i = 0; i < count; ++i) {
        rgCheckKeySizes(compiler, i);
    }
    for (int i = 0; compiler->errorCount == 0 && i < count; ++i) {
        if (!rgCompleteKey(compiler, i)) {
            return false;
        }
    }
    return compiler->errorCount == 0;
}
