// Names: hash tables per kind of part, look-up, and the check for names used twice.
#include "model/model.h"

#include <string.h>

int rgModel_PartCount(const rgModel* model, rgPartKind kind) {
    const rgModelInfo* info = &model->info;
    const int counts[rg_partKindCount] = {
        info->bodyCount,     info->jointCount,  info->shapeCount,
        info->frameCount,    info->tendonCount, info->actuatorCount,
        info->equalityCount, info->sensorCount, info->keyCount};
    return counts[kind];
}

const char* rgModel_PartName(const rgModel* model, rgPartKind kind, int index) {
    switch (kind) {
    case rg_partBody:
        return model->bodies[index].name;
    case rg_partJoint:
        return model->joints[index].name;
    case rg_partShape:
        return model->shapes[index].name;
    case rg_partFrame:
        return model->frames[index].name;
    case rg_partTendon:
        return model->tendons[index].name;
    case rg_partActuator:
        return model->actuators[index].name;
    case rg_partEquality:
        return model->equalities[index].name;
    case rg_partSensor:
        return model->sensors[index].name;
    case rg_partKey:
        return model->keys[index].name;
    default:
        return "";
    }
}

static rgSource rgModel_PartSource(const rgModel* model, rgPartKind kind, int index) {
    switch (kind) {
    case rg_partBody:
        return model->bodies[index].source;
    case rg_partJoint:
        return model->joints[index].source;
    case rg_partShape:
        return model->shapes[index].source;
    case rg_partFrame:
        return model->frames[index].source;
    case rg_partTendon:
        return model->tendons[index].source;
    case rg_partActuator:
        return model->actuators[index].source;
    case rg_partEquality:
        return model->equalities[index].source;
    case rg_partSensor:
        return model->sensors[index].source;
    default:
        return model->keys[index].source;
    }
}

// The slot that holds the name, or the empty one where it belongs.
static int rgFindSlot(const rgModel* model, rgPartKind kind, const char* name) {
    const rgNameTable* table = &model->names[kind];
    uint64_t hash = rgHashBytes(name, strlen(name), (uint64_t)kind);
    int slot = (int)(hash & (uint64_t)(table->slotCount - 1));
    while (table->slots[slot] != 0 &&
           strcmp(rgModel_PartName(model, kind, table->slots[slot] - 1), name) != 0) {
        slot = (slot + 1) & (table->slotCount - 1);
    }
    return slot;
}

static void rgReportDuplicate(rgCompiler* compiler, rgPartKind kind, int first, int second) {
    static const char* const kinds[rg_partKindCount] = {
        "body", "joint", "shape", "frame", "tendon", "actuator", "equality", "sensor", "key"};
    const rgModel* model = compiler->model;
    rgSource before = rgModel_PartSource(model, kind, first);
    rgSource source = rgModel_PartSource(model, kind, second);
    const char* name = rgModel_PartName(model, kind, second);
    bool elsewhere = before.file != NULL && source.file != NULL && before.line > 0 &&
                     strcmp(before.file, source.file) != 0;
    if (elsewhere) {
        rgCompiler_Error(compiler, source, "%s '%s': the name is already used in %.250s:%d",
                         kinds[kind], name, before.file, before.line);
    } else if (before.line > 0) {
        rgCompiler_Error(compiler, source, "%s '%s': the name is already used in line %d",
                         kinds[kind], name, before.line);
    } else {
        rgCompiler_Error(compiler, source, "%s '%s': the name is already used", kinds[kind], name);
    }
}

static bool rgBuildTable(rgCompiler* compiler, rgPartKind kind) {
    rgModel* model = compiler->model;
    rgNameTable* table = &model->names[kind];
    int count = rgModel_PartCount(model, kind);
    int ownFrames = model->info.frameCount - model->info.bodyCount;
    table->slotCount = 4;
    while (table->slotCount < 2 * count) {
        table->slotCount *= 2;
    }
    table->slots = rgCompiler_Allocate(compiler, table->slotCount, sizeof(int32_t));
    if (table->slots == NULL) {
        return false;
    }
    for (int i = 0; i < count; ++i) {
        const char* name = rgModel_PartName(model, kind, i);
        int slot = name[0] != '\0' ? rgFindSlot(model, kind, name) : -1;
        if (slot >= 0 && table->slots[slot] == 0) {
            table->slots[slot] = i + 1;
        } else if (slot >= 0 && !(kind == rg_partFrame && i >= ownFrames)) {
            // A body's frame gives way silently to a frame of the definition.
            rgReportDuplicate(compiler, kind, table->slots[slot] - 1, i);
        }
    }
    return true;
}

bool rgBuildNames(rgCompiler* compiler) {
    for (int kind = 0; kind < rg_partKindCount; ++kind) {
        if (!rgBuildTable(compiler, (rgPartKind)kind)) {
            return false;
        }
    }
    return true;
}

int rgModel_FindPart(const rgModel* model, rgPartKind kind, const char* name) {
    if (model == NULL || name == NULL || name[0] == '\0') {
        return -1;
    }
    return model->names[kind].slots[rgFindSlot(model, kind, name)] - 1;
}
