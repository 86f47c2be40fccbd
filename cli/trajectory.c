// Controls from CSV files, states to CSV files.
#include "trajectory.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

// ---- reading controls ----

char* rgCsv_NextCell(char** rest) {
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

static void rgReportUnknownActuator(const rgControlFile* file, const char* name) {
    int count = rgModel_Info(file->model).actuatorCount;
    const char** names = rgCli_Allocate((size_t)count, sizeof(char*));
    for (int i = 0; i < count; ++i) {
        names[i] = rgModel_Actuator(file->model, (rgActuatorId){i + 1})->name;
    }
    rgCli_UnknownName(name, names, count, "%s:1: the model has no actuator '%s'", file->path, name);
    free((void*)names);
}

static bool rgReadNames(rgControlFile* file, char* line) {
    char* cell = rgCsv_NextCell(&line);
    if (strcmp(cell, "time") != 0) {
        rgCli_Error("%s:1: the first column must be 'time', not '%s'", file->path, cell);
        return false;
    }
    while ((cell = rgCsv_NextCell(&line)) != NULL) {
        rgActuatorId id = rgModel_FindActuator(file->model, cell);
        if (id.index1 == 0) {
            rgReportUnknownActuator(file, cell);
            return false;
        }
        for (int i = 0; i < file->columnCount; ++i) {
            if (file->actuators[i] == id.index1 - 1) {
                rgCli_Error("%s:1: two columns for actuator '%s'", file->path, cell);
                return false;
            }
        }
        file->actuators = rgCli_Grow(file->actuators, (size_t)file->columnCount + 1, sizeof(int));
        file->actuators[file->columnCount++] = id.index1 - 1;
    }
    return true;
}

static bool rgReadRow(rgControlFile* file, char* line) {
    const char* path = file->path;
    int lineNumber = file->lineNumber;
    size_t row = (size_t)file->rowCount, width = (size_t)file->columnCount;
    file->times = rgCli_Grow(file->times, row + 1, sizeof(double));
    file->values = rgCli_Grow(file->values, (row + 1) * width, sizeof(double));
    for (int i = 0; i <= file->columnCount; ++i) {
        double* value = i == 0 ? &file->times[row] : &file->values[row * width + (size_t)i - 1];
        char* cell = rgCsv_NextCell(&line);
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
        rgCli_Error("%s:%d: times must increase, but %g follows %g", path, lineNumber,
                    file->times[row], file->times[row - 1]);
        return false;
    }
    file->rowCount += 1;
    return true;
}

static bool rgIsBlank(const char* line) {
    return line[strspn(line, " \t\r\n")] == '\0';
}

// Read the next line that is not blank; false at the end, or after a message.
static bool rgControlFile_ReadLine(rgControlFile* file, FILE* in, bool* good) {
    while (*good && rgCli_ReadLine(&file->line, &file->capacity, in)) {
        file->lineNumber += 1;
        if (file->lineNumber == 1) {
            *good = rgReadNames(file, file->line);
            return *good;
        }
        if (!rgIsBlank(file->line)) {
            *good = rgReadRow(file, file->line);
            return *good;
        }
    }
    if (*good && (ferror(in) != 0 || file->lineNumber == 0)) {
        rgCli_Error("%s: %s", file->path, file->lineNumber == 0 ? "empty" : "cannot be read");
        *good = false;
    }
    return false;
}

bool rgControlFile_Read(rgControlFile* file, const char* path, const rgModel* model) {
    bool isStream = strcmp(path, "-") == 0, good = true;
    *file = (rgControlFile){.path = isStream ? "standard input" : path, .model = model};
    FILE* in = isStream ? stdin : fopen(path, "r");
    if (in == NULL) {
        rgCli_Error("%s: %s", path, strerror(errno));
        return false;
    }
    if (isStream) {
        file->stream = in;
        rgControlFile_ReadLine(file, in, &good); // the names
        return good;
    }
    while (rgControlFile_ReadLine(file, in, &good)) {
    }
    fclose(in);
    if (good && file->rowCount == 0) {
        rgCli_Error("%s: names of columns and no row", path);
    }
    return good && file->rowCount > 0;
}

void rgControlFile_Free(rgControlFile* file) {
    free(file->actuators);
    free(file->times);
    free(file->values);
    free(file->line);
    *file = (rgControlFile){0};
}

// Read rows of a stream until one is due later, or exactly now.
static bool rgControlFile_ReadUntil(rgControlFile* file, double now) {
    bool good = true;
    while (file->stream != NULL && (file->rowCount == 0 || file->times[file->rowCount - 1] < now)) {
        if (!rgControlFile_ReadLine(file, file->stream, &good)) {
            file->stream = NULL;
        }
    }
    return good;
}

rgResult rgControlFile_Apply(rgControlFile* file, rgWorld* world) {
    double time = rgWorld_Time(world), tolerance = 1e-6 * rgWorld_TimeStep(world);
    if (!rgControlFile_ReadUntil(file, time - tolerance)) {
        return rg_errorFormat;
    }
    int row = file->next;
    while (row < file->rowCount && file->times[row] <= time + tolerance) {
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

void rgCsv_WriteCoordinateNames(FILE* file, const rgModel* model, bool isVelocity) {
    int qCount = rgModel_Info(model).qCount;
    for (int q = 0; q < qCount;) {
        rgJointId id = {rgJointAt(model, q)};
        rgWriteNames(file, model, id, isVelocity);
        q += rgModel_JointRange(model, id).qCount;
    }
}

void rgCsv_WriteHeader(FILE* file, const rgModel* model) {
    fputs("time", file);
    rgCsv_WriteCoordinateNames(file, model, false);
    rgCsv_WriteCoordinateNames(file, model, true);
    fputc('\n', file);
}

FILE* rgCsv_Open(const char* path) {
    return strcmp(path, "-") == 0 ? stdout : rgCli_OpenToWrite(path);
}

bool rgCsv_Close(FILE* file, const char* path) {
    bool failed = ferror(file) != 0;
    failed = (file == stdout ? fflush(file) : fclose(file)) != 0 || failed;
    if (failed) {
        rgCli_Error("%s: could not be written: %s", path, strerror(errno));
    }
    return !failed;
}
