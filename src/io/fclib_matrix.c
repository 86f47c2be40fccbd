// Matrices of FCLIB files: compressed columns (nz = -1), compressed rows (-2), triplets (nz >= 0,
// where `i` holds rows and `p` columns).
#include "io/fclib.h"

#include <stdio.h>

void rgH5_Check(rgH5* h5, rgResult result, const char* what) {
    if (result == rg_errorNumeric) {
        rgH5_Fail(h5, result, "%s is not positive definite", what);
    } else if (result != rg_ok) {
        rgH5_Fail(h5, result, "no memory for %s", what);
    }
}

void rgWarnAsymmetry(rgH5* h5, const char* group, double asymmetry) {
    if (h5->result == rg_ok && asymmetry > 1e-12) {
        rgH5_Warn(h5,
                  "%s is not symmetric: the largest difference of mirrored entries is %.2g of "
                  "the largest entry; the symmetric part is used",
                  group, asymmetry);
    }
}

// Content of a matrix group, with names for messages.
typedef struct rgRawMatrix {
    char names[3][RG_H5_PATH]; // names of i, p, x
    int nz;
    int rowCount, columnCount;
    int entryCount; // length of i and x, or nz
    int* i;
    int* p;
    double* x;
} rgRawMatrix;

static int rgReadSize(rgH5* h5, const char* group, const char* field, int expected) {
    char name[RG_H5_PATH];
    snprintf(name, sizeof(name), "%s/%s", group, field);
    int value = rgH5_ReadInt(h5, name);
    if (value < 0) {
        rgH5_Fail(h5, rg_errorFormat, "%s is %d; a size cannot be negative", name, value);
    } else if (expected != RG_H5_ANY && value != expected) {
        rgH5_Fail(h5, rg_errorFormat, "%s is %d; it must be %d", name, value, expected);
    }
    return value;
}

static void rgReadArrays(rgH5* h5, rgRawMatrix* raw) {
    if (raw->nz >= 0) {
        raw->entryCount = raw->nz;
        raw->i = rgH5_ReadInts(h5, raw->names[0], raw->nz);
        raw->p = rgH5_ReadInts(h5, raw->names[1], raw->nz);
    } else {
        // p ends with the number of entries; i and x may have room for more.
        int64_t pointerCount = 1 + (int64_t)(raw->nz == -1 ? raw->columnCount : raw->rowCount);
        raw->entryCount = (int)rgH5_Count(h5, raw->names[0]);
        raw->i = rgH5_ReadInts(h5, raw->names[0], RG_H5_ANY);
        raw->p = rgH5_ReadInts(h5, raw->names[1], pointerCount);
    }
    raw->x = rgH5_ReadNumbers(h5, raw->names[2], RG_H5_ANY);
    int64_t valueCount = rgH5_Count(h5, raw->names[2]);
    if (valueCount < raw->entryCount) {
        rgH5_Fail(h5, rg_errorFormat, "%s has %lld numbers where %d are needed", raw->names[2],
                  (long long)valueCount, raw->entryCount);
    }
}

static void rgCheckIndex(rgH5* h5, const char* name, int at, int value, int bound) {
    if (value < 0 || value >= bound) {
        rgH5_Fail(h5, rg_errorFormat, "%s[%d] is %d, outside 0..%d", name, at, value, bound - 1);
    }
}

static void rgFastForces(rgH5* h5, rgTriplets* entries, int row, int column, double value) {
    if (h5->result == rg_ok) {
        rgH5_Check(h5, rgTriplets_Add(entries, row, column, value), "a matrix");
    }
}

static void rgUnpackTriplets(rgH5* h5, const rgRawMatrix* raw, rgTriplets* entries) {
    for (int k = 0; h5->result == rg_ok && k < raw->nz; ++k) {
        rgCheckIndex(h5, raw->names[0], k, raw->i[k], raw->rowCount);
        rgCheckIndex(h5, raw->names[1], k, raw->p[k], raw->columnCount);
        rgFastForces(h5, entries, raw->i[k], raw->p[k], raw->x[k]);
    }
}

static void rgCheckPointers(rgH5* h5, const rgRawMatrix* raw, int lineCount) {
    if (h5->result == rg_ok && raw->p[0] != 0) {
        rgH5_Fail(h5, rg_errorFormat, "%s[0] is %d; it must be 0", raw->names[1], raw->p[0]);
    }
    for (int line = 0; h5->result == rg_ok && line < lineCount; ++line) {
        if (raw->p[line + 1] < raw->p[line] || raw->p[line + 1] > raw->entryCount) {
            rgH5_Fail(h5, rg_errorFormat, "%s[%d] is %d, outside %d..%d", raw->names[1], line + 1,
                      raw->p[line + 1], raw->p[line], raw->entryCount);
        }
    }
}

static void rgUnpackCompressed(rgH5* h5, const rgRawMatrix* raw, rgTriplets* entries) {
    bool byColumn = raw->nz == -1;
    int lineCount = byColumn ? raw->columnCount : raw->rowCount;
    int bound = byColumn ? raw->rowCount : raw->columnCount;
    rgCheckPointers(h5, raw, lineCount);
    for (int line = 0; h5->result == rg_ok && line < lineCount; ++line) {
        for (int k = raw->p[line]; h5->result == rg_ok && k < raw->p[line + 1]; ++k) {
            rgCheckIndex(h5, raw->names[0], k, raw->i[k], bound);
            rgFastForces(h5, entries, byColumn ? raw->i[k] : line, byColumn ? line : raw->i[k],
                         raw->x[k]);
        }
    }
}

void rgReadFclibMatrix(rgH5* h5, const char* group, int* rowCount, int* columnCount,
                       rgTriplets* entries) {
    rgRawMatrix raw = {0};
    static const char* const fields[] = {"i", "p", "x"};
    for (int k = 0; k < 3; ++k) {
        snprintf(raw.names[k], RG_H5_PATH, "%s/%s", group, fields[k]);
    }
    if (h5->result == rg_ok && !rgH5_Has(h5, group)) {
        rgH5_Fail(h5, rg_errorFormat, "%s is missing", group);
    }
    raw.rowCount = *rowCount = rgReadSize(h5, group, "m", *rowCount);
    raw.columnCount = *columnCount = rgReadSize(h5, group, "n", *columnCount);
    char name[RG_H5_PATH];
    snprintf(name, sizeof(name), "%s/nz", group);
    raw.nz = rgH5_ReadInt(h5, name);
    if (h5->result == rg_ok && raw.nz < -2) {
        rgH5_Fail(h5, rg_errorFormat, "%s is %d; it must be -1, -2 or a count", name, raw.nz);
    }
    if (h5->result == rg_ok) {
        rgReadArrays(h5, &raw);
    }
    if (h5->result == rg_ok) {
        int used = raw.nz >= 0 ? raw.nz : raw.p[raw.nz == -1 ? raw.columnCount : raw.rowCount];
        used = RG_MIN(RG_MAX(used, 0), raw.entryCount);
        rgH5_CheckFinite(h5, raw.names[2], raw.x, used);
    }
    if (h5->result == rg_ok && raw.nz >= 0) {
        rgUnpackTriplets(h5, &raw, entries);
    } else if (h5->result == rg_ok) {
        rgUnpackCompressed(h5, &raw, entries);
    }
    rgRelease(&h5->allocator, raw.i);
    rgRelease(&h5->allocator, raw.p);
    rgRelease(&h5->allocator, raw.x);
}

// Compressed rows of the transpose are compressed columns.
static rgResult rgCompressColumns(const rgTriplets* entries, int rowCount, int columnCount,
                                  rgOwnedSparse* columns) {
    rgTriplets transposed = {.allocator = entries->allocator};
    rgResult result = rg_ok;
    for (int k = 0; result == rg_ok && k < entries->count; ++k) {
        const rgTriplet* entry = &entries->entries[k];
        result = rgTriplets_Add(&transposed, entry->column, entry->row, entry->value);
    }
    if (result == rg_ok) {
        result = rgTriplets_Compress(&transposed, columnCount, rowCount, columns);
    }
    rgTriplets_Free(&transposed);
    return result;
}

void rgWriteFclibMatrix(rgH5* h5, const char* group, const rgTriplets* entries, int rowCount,
                        int columnCount) {
    if (h5->result != rg_ok) {
        return;
    }
    rgOwnedSparse columns = {0};
    rgH5_Check(h5, rgCompressColumns(entries, rowCount, columnCount, &columns), group);
    if (h5->result == rg_ok) {
        char name[RG_H5_PATH];
        int used = columns.rowStart[columnCount];
        const struct {
            const char* field;
            int value;
        } sizes[] = {{"nzmax", used}, {"m", rowCount}, {"n", columnCount}, {"nz", -1}};
        rgH5_MakeGroup(h5, group);
        for (int k = 0; k < RG_COUNT(sizes); ++k) {
            snprintf(name, sizeof(name), "%s/%s", group, sizes[k].field);
            rgH5_WriteInt(h5, name, sizes[k].value);
        }
        snprintf(name, sizeof(name), "%s/p", group);
        rgH5_WriteInts(h5, name, columns.rowStart, columnCount + 1);
        snprintf(name, sizeof(name), "%s/i", group);
        rgH5_WriteInts(h5, name, columns.column, used);
        snprintf(name, sizeof(name), "%s/x", group);
        rgH5_WriteNumbers(h5, name, columns.value, used);
    }
    rgOwnedSparse_Free(&h5->allocator, &columns);
}
