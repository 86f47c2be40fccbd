// Controls from CSV files, states to CSV files.
#include "trajectory.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

// ---- reading controls ----

// The next cell of a line, without blanks around it; NULL after the last. Changes the line.
static char* rgNextCell(char** rest) {
    char* cell = *rest;
    if (cell == NULL) {
        return NULL;
    }
    char* comma = strchr(cell, ',');
    *rest = comma != NULL ? comma + 1 : NULL;
    char* end = comma != NULL ? comma : cell + strlen(cell);
    while (*cell == ' ' || *cell == '\t') {
        ++cell;
    }
    while (end > cell && strchr(" \t\r\n", end[-1]) != NULL) {
        --end;
    }
    *end = '\0';
    return cell;
}

static bool rgReadNames(rgControlFile* file, char* line, const char* path, const rgModel* model) {
    char* cell = rgNextCell(&line);
    if (strcmp(cell, "time") != 0) {
        rgCli_Error("%s:1: the first column must be called 'time', not '%s'", path, cell);
        return false;
    }
    while ((cell = rgNextCell(&line)) != NULL) {
        rgActuatorId id = rgModel_FindActuator(model, cell);
        if (id.index1 == 0) {
            rgCli_Error("%s:1: the model has no actuator '%s'", path, cell);
            return false;
        }
        for (int i = 0; i < file->columnCount; ++i) {
            if (file->actuators[i] == id.index1 - 1) {
                rgCli_Error("%s:1: two columns for actuator '%s'", path, cell);
                return false;
            }
        }
        file->actuators = rgCli_Grow(file->actuators, (size_t)file->columnCount + 1, sizeof(int));
        file->actuators[file->columnCount++] = id.index1 - 1;
    }
    return true;
}

static bool rgReadRow(rgControlFile* file, char* line, const char* path, int lineNumber) {
    size_t row = (size_t)file->rowCount, width = (size_t)file->columnCount;
    file->times = rgCli_Grow(file->times, row + 1, sizeof(double));
    file->values = rgCli_Grow(file->values, (row + 1) * width, sizeof(double));
    for (int i = 0; i <= file->columnCount; ++i) {
        double* value = i == 0 ? &file->times[row] : &file->values[row * width + (size_t)i - 1];
        char* cell = rgNextCell(&line);
        if (cell == NULL) {
            rgCli_Error("%s:%d: %d numbers, not %d", path, lineNumber, i, file->columnCount + 1);
            return false;
        }
        if (!rgParseNumber(cell, value)) {
            rgCli_Error("%s:%d: '%s' is not a number", path, lineNumber, cell);
            return false;
        }
    }
    if (line != NULL) {
        rgCli_Error("%s:%d: more than %d numbers", path, lineNumber, file->columnCount + 1);
        return false;
    }
    if (row > 0 && !(file->times[row] > file->times[row - 1])) {
        rgCli_Error("%s:%d: times must rise, and %g follows %g", path, lineNumber, file->times[row],
                    file->times[row - 1]);
        return false;
    }
    file->rowCount += 1;
    return true;
}

static bool rgIsBlank(const char* line) {
    return line[strspn(line, " \t\r\n")] == '\0';
}

bool rgControlFile_Read(rgControlFile* file, const char* path, const rgModel* model) {
    *file = (rgControlFile){0};
    FILE* in = fopen(path, "r");
    if (in == NULL) {
        rgCli_Error("%s: %s", path, strerror(errno));
        return false;
    }
    char* line = NULL;
    size_t capacity = 0;
    bool good = true;
    int lineNumber = 0;
    while (good && getline(&line, &capacity, in) >= 0) {
        lineNumber += 1;
        if (lineNumber == 1) {
            good = rgReadNames(file, line, path, model);
        } else if (!rgIsBlank(line)) {
            good = rgReadRow(file, line, path, lineNumber);
        }
    }
    if (good && (ferror(in) != 0 || lineNumber == 0)) {
        rgCli_Error("%s: %s", path, lineNumber == 0 ? "empty" : "cannot be read");
        good = false;
    }
    free(line);
    fclose(in);
    return good;
}

void rgControlFile_Free(rgControlFile* file) {
    free(file->actuators);
    free(file->times);
    free(file->values);
    *file = (rgControlFile){0};
}

rgResult rgControlFile_Apply(rgControlFile* file, rgWorld* world) {
    double now = rgWorld_Time(world) + 1e-6 * rgWorld_TimeStep(world);
    int row = file->next;
    while (row < file->rowCount && file->times[row] <= now) {
        ++row;
    }
    if (row == file->next) {
        return rg_ok;
    }
    file->next = row;
    int count = 0;
    const double* old = rgWorld_Control(world, &count);
    double* control = rgCli_Allocate((size_t)count, sizeof(double));
    memcpy(control, old, (size_t)count * sizeof(double));
    const double* values = file->values + (size_t)(row - 1) * (size_t)file->columnCount;
    for (int i = 0; i < file->columnCount; ++i) {
        control[file->actuators[i]] = values[i];
    }
    rgResult result = rgWorld_SetControl(world, control);
    free(control);
    return result;
}

// ---- writing states ----

// Parts of a joint's coordinates, in order; NULL for joints with one.
static const char* const* rgPartNames(rgJointKind kind, bool isVelocity) {
    static const char* const free6[] = {"vx", "vy", "vz", "wx", "wy", "wz"};
    static const char* const free7[] = {"x", "y", "z", "qw", "qx", "qy", "qz"};
    static const char* const planar[] = {"x", "y", "angle"};
    switch (kind) {
    case rg_jointFree:
        return isVelocity ? free6 : free7;
    case rg_jointSpherical:
        return isVelocity ? free6 + 3 : free7 + 3;
    case rg_jointPlanar:
        return planar;
    default:
        return NULL;
    }
}

static void rgWriteNames(FILE* file, const rgModel* model, rgJointId id, bool isVelocity) {
    const rgJointDef* joint = rgModel_Joint(model, id);
    rgJointRange range = rgModel_JointRange(model, id);
    const char* const* parts = rgPartNames(joint->kind, isVelocity);
    for (int i = 0; i < (isVelocity ? range.vCount : range.qCount); ++i) {
        fprintf(file, ",%c:", isVelocity ? 'v' : 'q');
        if (joint->name != NULL && joint->name[0] != '\0') {
            fputs(joint->name, file);
        } else {
            fprintf(file, "joint%d", id.index1);
        }
        if (parts != NULL) {
            fprintf(file, ".%s", parts[i]);
        }
    }
}

// Joints by where their coordinates are, which is not always the order in which they were added.
static int rgJointAt(const rgModel* model, int q) {
    for (int i = 1; i <= rgModel_Info(model).jointCount; ++i) {
        rgJointRange range = rgModel_JointRange(model, (rgJointId){i});
        if (range.q == q && range.qCount > 0) {
            return i;
        }
    }
    return 0;
}

void rgCsv_WriteHeader(FILE* file, const rgModel* model) {
    int qCount = rgModel_Info(model).qCount;
    fputs("time", file);
    for (int isVelocity = 0; isVelocity < 2; ++isVelocity) {
        for (int q = 0; q < qCount;) {
            rgJointId id = {rgJointAt(model, q)};
            rgWriteNames(file, model, id, isVelocity == 1);
            q += rgModel_JointRange(model, id).qCount;
        }
    }
    fputc('\n', file);
}

FILE* rgCsv_Open(const char* path, const rgModel* model) {
    FILE* file = fopen(path, "w");
    if (file == NULL) {
        rgCli_Error("%s: %s", path, strerror(errno));
        return NULL;
    }
    rgCsv_WriteHeader(file, model);
    return file;
}

void rgCsv_Write(FILE* file, const rgWorld* world) {
    int qCount = 0, vCount = 0;
    const double* q = rgWorld_Positions(world, &qCount);
    const double* v = rgWorld_Velocities(world, &vCount);
    fprintf(file, "%.9g", rgWorld_Time(world));
    for (int i = 0; i < qCount; ++i) {
        fprintf(file, ",%.17g", q[i]);
    }
    for (int i = 0; i < vCount; ++i) {
        fprintf(file, ",%.17g", v[i]);
    }
    fputc('\n', file);
}

bool rgCsv_Close(FILE* file, const char* path) {
    bool failed = ferror(file) != 0;
    failed = fclose(file) != 0 || failed;
    if (failed) {
        rgCli_Error("%s: could not be written: %s", path, strerror(errno));
    }
    return !failed;
}
