// Motions from CSV files: names of columns, then numbers.
#include "motion.h"
#include "trajectory.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct rgReader {
    const char* path;
    int line;
    char** names; // names of the model's columns: time, q..., v...
    int nameCount;
    int* columns; // columns of the file: index into names
    int columnCount;
} rgReader;

// The names that rigor simulate --csv would write.
static bool rgReader_NameModel(rgReader* reader, const rgModel* model) {
    char* text = NULL;
    size_t size = 0;
    FILE* memory = open_memstream(&text, &size);
    if (memory == NULL) {
        rgCli_Error("out of memory");
        return false;
    }
    rgCsv_WriteHeader(memory, model);
    fclose(memory);
    char *rest = text, *cell;
    while ((cell = rgCsv_NextCell(&rest)) != NULL) {
        reader->names =
            rgCli_Grow(reader->names, (size_t)reader->nameCount + 1, sizeof(*reader->names));
        reader->names[reader->nameCount++] = rgCli_CopyText(cell);
    }
    free(text);
    return true;
}

static bool rgReader_AddColumn(rgReader* reader, const char* cell) {
    int found = -1;
    for (int i = 0; i < reader->nameCount && found < 0; ++i) {
        found = strcmp(reader->names[i], cell) == 0 ? i : -1;
    }
    if (found < 0) {
        rgCli_UnknownName(cell, (const char* const*)reader->names, reader->nameCount,
                          "%s:1: the model has no column '%s'", reader->path, cell);
        return false;
    }
    for (int i = 0; i < reader->columnCount; ++i) {
        if (reader->columns[i] == found) {
            rgCli_Error("%s:1: two columns '%s'", reader->path, cell);
            return false;
        }
    }
    reader->columns = rgCli_Grow(reader->columns, (size_t)reader->columnCount + 1, sizeof(int));
    reader->columns[reader->columnCount++] = found;
    return true;
}

static bool rgReader_ReadNames(rgReader* reader, char* line, rgMotionFile* reference) {
    char* cell;
    int positions = 0;
    while ((cell = rgCsv_NextCell(&line)) != NULL) {
        if (!rgReader_AddColumn(reader, cell)) {
            return false;
        }
        int last = reader->columns[reader->columnCount - 1];
        positions += last > 0 && last <= reference->qCount;
    }
    if (reader->columnCount == 0 || reader->columns[0] != 0) {
        rgCli_Error("%s:1: the first column must be 'time'", reader->path);
        return false;
    }
    if (positions != 0 && positions != reference->qCount) {
        rgCli_Error("%s:1: %d of %d positions; give all or none", reader->path, positions,
                    reference->qCount);
        return false;
    }
    reference->hasPositions = positions > 0;
    if (reader->columnCount == 1 + positions) {
        rgCli_Error("%s:1: there is no velocity (v:JOINT)", reader->path);
        return false;
    }
    return true;
}

static void rgMotionFile_Grow(rgMotionFile* reference) {
    size_t row = (size_t)reference->rowCount, nq = (size_t)reference->qCount;
    size_t nv = (size_t)reference->vCount;
    reference->times = rgCli_Grow(reference->times, row + 1, sizeof(double));
    reference->q = rgCli_Grow(reference->q, (row + 1) * nq, sizeof(double));
    reference->v = rgCli_Grow(reference->v, (row + 1) * nv, sizeof(double));
    memset(reference->v + row * nv, 0, nv * sizeof(double));
    reference->rowCount += 1;
}

static bool rgReader_ReadRow(rgReader* reader, char* line, rgMotionFile* reference) {
    rgMotionFile_Grow(reference);
    size_t row = (size_t)reference->rowCount - 1;
    int nq = reference->qCount;
    for (int i = 0; i < reader->columnCount; ++i) {
        char* cell = rgCsv_NextCell(&line);
        int name = reader->columns[i];
        double* value =
            name == 0    ? &reference->times[row]
            : name <= nq ? &reference->q[row * (size_t)nq + (size_t)name - 1]
                         : &reference->v[row * (size_t)reference->vCount + (size_t)(name - nq) - 1];
        if (cell == NULL) {
            rgCli_Error("%s:%d: %d numbers, not %d", reader->path, reader->line, i,
                        reader->columnCount);
            return false;
        }
        if (!rgParseNumber(cell, value) || !isfinite(*value)) {
            rgCli_Error("%s:%d: '%s' is not a number", reader->path, reader->line, cell);
            return false;
        }
    }
    if (line != NULL) {
        rgCli_Error("%s:%d: more than %d numbers", reader->path, reader->line, reader->columnCount);
    }
    return line == NULL;
}

static bool rgReader_ReadLines(rgReader* reader, FILE* in, rgMotionFile* reference) {
    char* line = NULL;
    size_t capacity = 0;
    bool good = true;
    while (good && rgCli_ReadLine(&line, &capacity, in)) {
        reader->line += 1;
        if (reader->line == 1) {
            good = rgReader_ReadNames(reader, line, reference);
        } else if (line[strspn(line, " \t\r\n")] != '\0') {
            good = rgReader_ReadRow(reader, line, reference);
        }
    }
    free(line);
    int least = reference->hasPositions ? 2 : 1;
    if (good && reference->rowCount < least) {
        rgCli_Error("%s: %d rows of numbers; at least %d are needed", reader->path,
                    reference->rowCount, least);
        good = false;
    }
    return good;
}

bool rgMotionFile_Read(rgMotionFile* reference, const char* path, const rgModel* model) {
    rgModelInfo info = rgModel_Info(model);
    *reference = (rgMotionFile){.qCount = info.qCount, .vCount = info.vCount};
    rgReader reader = {.path = path};
    FILE* in = fopen(path, "r");
    if (in == NULL) {
        rgCli_Error("%s: %s", path, strerror(errno));
        return false;
    }
    bool good = rgReader_NameModel(&reader, model) && rgReader_ReadLines(&reader, in, reference);
    fclose(in);
    for (int i = 0; i < reader.nameCount; ++i) {
        free(reader.names[i]);
    }
    free(reader.names);
    free(reader.columns);
    return good;
}

void rgMotionFile_Free(rgMotionFile* reference) {
    free(reference->times);
    free(reference->q);
    free(reference->v);
    *reference = (rgMotionFile){0};
}

bool rgMotionFile_Fits(const rgMotionFile* reference, const char* path, double timeStep) {
    for (int i = 1; i < reference->rowCount; ++i) {
        double step = reference->times[i] - reference->times[i - 1];
        if (fabs(step - timeStep) > 1e-3 * timeStep) {
            rgCli_Error("%s: rows %d and %d are %g s apart, and the time step is %g s; see --dt",
                        path, i, i + 1, step, timeStep);
            return false;
        }
    }
    return true;
}
