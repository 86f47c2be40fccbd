// Copies of the definition's parts into the model's arena, with axes and quaternions normalised.
#include "model/def.h"
#include "model/model.h"

#include <string.h>

static void* rgCopyParts(rgCompiler* compiler, const void* parts, int count, size_t size) {
    void* copy = rgCompiler_Take(compiler, count, size);
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
    info->bodyCount = def->bodyCount;
    info->jointCount = def->jointCount;
    info->shapeCount = def->shapeCount;
    info->frameCount = def->frameCount + def->bodyCount;
    info->tendonCount = def->tendonCount;
    info->actuatorCount = def->actuatorCount;
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
    model->frames = rgCompiler_Take(compiler, def->frameCount + def->bodyCount, sizeof(rgFrameDef));
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

// A copy of the given numbers, or zeros.
static const double* rgCompleteArray(rgCompiler* compiler, const double* given, int count) {
    double* copy = rgCompiler_Take(compiler, count, sizeof(double));
    if (copy != NULL && given != NULL && count > 0) {
        memcpy(copy, given, (size_t)count * sizeof(double));
    }
    return copy;
}

static void rgCheckKeySize(rgCompiler* compiler, int index, const char* what, bool given, int count,
                           int expected) {
    char buffer[32];
    const rgKeyDef* key = &compiler->model->keys[index];
    if (given && count != expected) {
        rgCompiler_Error(compiler, key->source, "key '%s': %d values for %s, the model has %d",
                         rgPartName(key->name, index, buffer), count, what, expected);
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

bool rgBuildKeys(rgCompiler* compiler) {
    rgModel* model = compiler->model;
    for (int i = 0; i < model->info.keyCount; ++i) {
        rgKeyDef* key = &model->keys[i];
        rgCheckKeySize(compiler, i, "q", key->q != NULL, key->qCount, model->qCount);
        rgCheckKeySize(compiler, i, "v", key->v != NULL, key->vCount, model->vCount);
        rgCheckKeySize(compiler, i, "control", key->control != NULL, key->controlCount,
                       model->info.actuatorCount);
    }
    if (compiler->errorCount > 0) {
        return false;
    }
    for (int i = 0; i < model->info.keyCount; ++i) {
        rgKeyDef* key = &model->keys[i];
        double* q = rgCompiler_Take(compiler, model->qCount, sizeof(double));
        if (q == NULL) {
            return false;
        }
        memcpy(q, key->q != NULL ? key->q : model->neutral, (size_t)model->qCount * sizeof(double));
        rgNormalizeKey(model, q);
        key->q = q;
        key->v = rgCompleteArray(compiler, key->v, model->vCount);
        key->control = rgCompleteArray(compiler, key->control, model->info.actuatorCount);
        key->qCount = model->qCount;
        key->vCount = model->vCount;
        key->controlCount = model->info.actuatorCount;
    }
    return !compiler->outOfMemory;
}
