// Motions from CSV files: a line of names, then numbers. Empty cells and "nan" were not measured.
#include "identify/motion.h"
#include "io/file.h"
#include "io/number.h"

#include <math.h>
#include <string.h>

enum { rg_longestFile = 1 << 30, rg_longestName = 256 };

// A cell from *at to the next comma or the end of the line, without blanks around it.
static const char* rgNextCell(const char** at, const char* end, size_t* length) {
    const char* first = *at;
    const char* comma = memchr(first, ',', (size_t)(end - first));
    const char* last = comma != NULL ? comma : end;
    *at = comma != NULL ? comma + 1 : NULL;
    while (first < last && rgIsBlank(*first)) {
        ++first;
    }
    while (last > first && rgIsBlank(last[-1])) {
        --last;
    }
    *length = (size_t)(last - first);
    return first;
}

static rgResult rgReadNames(rgMotionTable* table, const char* line, const char* end) {
    int capacity = 0;
    for (const char* at = line; at != NULL;) {
        size_t length = 0;
        const char* cell = rgNextCell(&at, end, &length);
        char name[rg_longestName];
        length = RG_MIN(length, sizeof(name) - 1);
        memcpy(name, cell, length);
        name[length] = '\0';
        if (rgReserve(&table->allocator, (void**)&table->roles, &capacity, table->columnCount,
                      table->columnCount + 1, sizeof(rgRole)) != rg_ok) {
            return rg_errorMemory;
        }
        rgRole role = rgFindRole(table->model, name);
        if (role.kind == rg_roleNone) {
            rgDiagnostics_Add(table->diagnostics, rg_severityWarning, table->path, 1,
                              "the model has no column '%s'; it is not used", name);
        }
        for (int c = 0; c < table->columnCount && role.kind != rg_roleNone; ++c) {
            const rgRole* other = &table->roles[c];
            if (other->kind == role.kind && other->index == role.index &&
                other->part == role.part) {
                rgDiagnostics_Add(table->diagnostics, rg_severityError, table->path, 1,
                                  "column '%s' means the same as column %d", name, c + 1);
                return rg_errorFormat;
            }
        }
        table->roles[table->columnCount++] = role;
    }
    return rg_ok;
}

static rgResult rgReadRow(rgMotionTable* table, const char* line, const char* end, int number) {
    int used = table->rowCount * table->columnCount, column = 0;
    if (rgReserve(&table->allocator, (void**)&table->rows, &table->rowCapacity, used,
                  used + table->columnCount, sizeof(double)) != rg_ok) {
        return rg_errorMemory;
    }
    for (const char* at = line; at != NULL; ++column) {
        size_t length = 0;
        const char* cell = rgNextCell(&at, end, &length);
        if (column == table->columnCount) {
            break;
        }
        double value = NAN;
        bool missing = length == 0 || (length == 3 && strncmp(cell, "nan", 3) == 0);
        if (!missing && rgScanDouble(cell, cell + length, &value) != cell + length) {
            rgDiagnostics_Add(table->diagnostics, rg_severityError, table->path, number,
                              "'%.*s' is not a number", (int)RG_MIN(length, 40), cell);
            return rg_errorFormat;
        }
        table->rows[used + column] = value;
    }
    if (column != table->columnCount) {
        rgDiagnostics_Add(table->diagnostics, rg_severityError, table->path, number,
                          "%d numbers for %d column names", column, table->columnCount);
        return rg_errorFormat;
    }
    ++table->rowCount;
    return rg_ok;
}

rgResult rgMotionTable_ReadCsv(rgMotionTable* table) {
    char* bytes = NULL;
    size_t count = 0;
    rgResult result = rgReadFile(table->path, rg_longestFile, &table->allocator, table->diagnostics,
                                 &bytes, &count);
    int number = 0;
    for (const char *at = bytes, *end = bytes + count; result == rg_ok && at < end;) {
        const char* stop = memchr(at, '\n', (size_t)(end - at));
        stop = stop != NULL ? stop : end;
        bool blank = true;
        for (const char* c = at; c < stop; ++c) {
            blank = blank && rgIsBlank(*c);
        }
        ++number;
        if (number == 1) {
            result = rgReadNames(table, at, stop);
        } else if (!blank) {
            result = rgReadRow(table, at, stop, number);
        }
        at = stop + 1;
    }
    rgRelease(&table->allocator, bytes);
    return result;
}
