// Motions from recordings of ours: times, q, v and controls of every kept step.
#include "identify/motion.h"
#include "rigor/record.h"

#include <string.h>

// Free bodies are measured by their poses, all else by its coordinates.
static int rgFillRoles(rgMotionTable* table) {
    rgModelInfo info = rgModel_Info(table->model);
    rgRole* roles = table->roles;
    roles[0].kind = rg_roleTime;
    for (int k = 0; k < info.qCount; ++k) {
        roles[1 + k] = (rgRole){rg_roleQ, k, 0};
    }
    for (int j = 1; j <= info.jointCount; ++j) {
        const rgJointDef* joint = rgModel_Joint(table->model, (rgJointId){j});
        rgJointRange range = rgModel_JointRange(table->model, (rgJointId){j});
        for (int k = 0; k < range.qCount; ++k) {
            rgRole* role = &roles[1 + range.q + k];
            if (joint->kind == rg_jointFree) {
                *role = (rgRole){rg_rolePose, joint->body.index1, k};
            } else if (range.qCount != range.vCount) {
                *role = (rgRole){0}; // a quaternion is no coordinate
            }
        }
    }
    rgRole* next = roles + 1 + info.qCount;
    for (int k = 0; k < info.vCount; ++k) {
        *next++ = (rgRole){rg_roleV, k, 0};
    }
    for (int k = 0; k < info.actuatorCount; ++k) {
        *next++ = (rgRole){rg_roleControl, k, 0};
    }
    return (int)(next - roles);
}

static rgResult rgFillRows(rgMotionTable* table, rgRecording* recording, int64_t frames) {
    rgModelInfo info = rgModel_Info(table->model);
    rgResult result = rg_ok;
    for (int64_t i = 0; i < frames && result == rg_ok; ++i) {
        rgRecordedFrame frame;
        result = rgRecording_Frame(recording, i, &frame);
        if (result != rg_ok) {
            break;
        }
        double* row = table->rows + (size_t)i * (size_t)table->columnCount;
        row[0] = frame.time;
        memcpy(row + 1, frame.q, (size_t)info.qCount * sizeof(double));
        memcpy(row + 1 + info.qCount, frame.v, (size_t)info.vCount * sizeof(double));
        if (info.actuatorCount > 0) {
            memcpy(row + 1 + info.qCount + info.vCount, frame.control,
                   (size_t)info.actuatorCount * sizeof(double));
        }
    }
    // A frame's controls are those of the step that led to it; a motion's hold from its sample on.
    for (int64_t i = 0; i + 1 < frames; ++i) {
        double* row = table->rows + (size_t)i * (size_t)table->columnCount;
        size_t at = 1 + (size_t)info.qCount + (size_t)info.vCount;
        memcpy(row + at, row + (size_t)table->columnCount + at,
               (size_t)info.actuatorCount * sizeof(double));
    }
    return result;
}

rgResult rgMotionTable_ReadRecording(rgMotionTable* table) {
    rgRecording* recording = NULL;
    rgResult result =
        rgLoadRecording(table->path, &table->allocator, table->diagnostics, &recording);
    if (result != rg_ok) {
        return result;
    }
    rgRecordingInfo held = rgRecording_Info(recording);
    rgModelInfo info = rgModel_Info(table->model);
    size_t columns = 1 + (size_t)info.qCount + (size_t)info.vCount + (size_t)info.actuatorCount;
    if (held.qCount != info.qCount || held.vCount != info.vCount ||
        held.controlCount != info.actuatorCount) {
        rgDiagnostics_Add(table->diagnostics, rg_severityError, table->path, 0,
                          "a recording of another model: it has %d positions, %d velocities and %d "
                          "controls, the model %d, %d and %d",
                          held.qCount, held.vCount, held.controlCount, info.qCount, info.vCount,
                          info.actuatorCount);
        result = rg_errorFormat;
    } else if ((size_t)held.frameCount > (size_t)INT32_MAX / columns) {
        result = rg_errorUnsupported;
    } else {
        table->roles = rgAllocate(&table->allocator, columns, sizeof(rgRole));
        table->rows =
            rgAllocate(&table->allocator, (size_t)held.frameCount * columns + 1, sizeof(double));
        result = table->roles != NULL && table->rows != NULL ? rg_ok : rg_errorMemory;
    }
    if (result == rg_ok) {
        table->columnCount = rgFillRoles(table);
        table->rowCount = (int)held.frameCount;
        result = rgFillRows(table, recording, held.frameCount);
    }
    rgDestroyRecording(recording);
    return result;
}
