// Triplets to compressed rows, by two stable counting sorts.
#include "io/triplets.h"

#include <math.h>
#include <string.h>

rgResult rgTriplets_Add(rgTriplets* triplets, int row, int column, double value) {
    rgResult result =
        rgReserve(&triplets->allocator, (void**)&triplets->entries, &triplets->capacity,
                  triplets->count, triplets->count + 1, sizeof(rgTriplet));
    if (result == rg_ok) {
        triplets->entries[triplets->count++] =
            (rgTriplet){.row = row, .column = column, .value = value};
    }
    return result;
}

void rgTriplets_Free(rgTriplets* triplets) {
    rgRelease(&triplets->allocator, triplets->entries);
    triplets->entries = NULL;
    triplets->count = triplets->capacity = 0;
}

static int rgTriplet_Key(const rgTriplet* entry, bool byRow) {
    return byRow ? entry->row : entry->column;
}

// Stable: entries with the same key keep their order. start has keyCount + 1 zeros.
static void rgSortBy(const rgTriplet* from, rgTriplet* to, int count, int* start, int keyCount,
                     bool byRow) {
    for (int i = 0; i < count; ++i) {
        start[rgTriplet_Key(&from[i], byRow) + 1] += 1;
    }
    for (int i = 0; i < keyCount; ++i) {
        start[i + 1] += start[i];
    }
    for (int i = 0; i < count; ++i) {
        to[start[rgTriplet_Key(&from[i], byRow)]++] = from[i];
    }
}

// Copy sorted entries into the matrix, adding up those at the same place.
static void rgOwnedSparse_Fill(rgOwnedSparse* matrix, const rgTriplet* sorted, int count) {
    int used = 0;
    for (int i = 0; i < count;) {
        rgTriplet entry = sorted[i++];
        while (i < count && sorted[i].row == entry.row && sorted[i].column == entry.column) {
            entry.value += sorted[i++].value;
        }
        if (entry.value != 0 || entry.row == entry.column) {
            matrix->column[used] = entry.column;
            matrix->value[used++] = entry.value;
            matrix->rowStart[entry.row + 1] += 1;
        }
    }
    for (int i = 0; i < matrix->rowCount; ++i) {
        matrix->rowStart[i + 1] += matrix->rowStart[i];
    }
}

rgResult rgTriplets_Compress(const rgTriplets* triplets, int rowCount, int columnCount,
                             rgOwnedSparse* matrix) {
    const rgAllocator* allocator = &triplets->allocator;
    size_t count = (size_t)triplets->count;
    rgOwnedSparse made = {.rowCount = rowCount, .columnCount = columnCount};
    made.rowStart = rgAllocate(allocator, (size_t)rowCount + 1, sizeof(int));
    made.column = rgAllocate(allocator, count, sizeof(int));
    made.value = rgAllocate(allocator, count, sizeof(double));
    rgTriplet* sorted = rgAllocate(allocator, 2 * count, sizeof(rgTriplet));
    int keyCount = RG_MAX(rowCount, columnCount);
    int* start = rgAllocate(allocator, 2 * ((size_t)keyCount + 1), sizeof(int));
    bool failed = made.rowStart == NULL || made.column == NULL || made.value == NULL ||
                  sorted == NULL || start == NULL;
    if (failed) {
        rgOwnedSparse_Free(allocator, &made);
    } else {
        rgSortBy(triplets->entries, sorted, (int)count, start, keyCount, false);
        rgSortBy(sorted, sorted + count, (int)count, start + keyCount + 1, keyCount, true);
        rgOwnedSparse_Fill(&made, sorted + count, (int)count);
        *matrix = made;
    }
    rgRelease(allocator, sorted);
    rgRelease(allocator, start);
    return failed ? rg_errorMemory : rg_ok;
}

static double rgOwnedSparse_Largest(const rgOwnedSparse* matrix) {
    double largest = 0;
    for (int i = 0; i < matrix->rowStart[matrix->rowCount]; ++i) {
        largest = fmax(largest, fabs(matrix->value[i]));
    }
    return largest;
}

// Entries of a A + b A'. Both images of an entry are added at the same time, so that mirrored
// places sum the same numbers in the same order and come out identical.
static rgResult rgAddMirrored(const rgTriplets* from, double a, double b, rgTriplets* to) {
    rgResult result = rg_ok;
    for (int i = 0; result == rg_ok && i < from->count; ++i) {
        rgTriplet entry = from->entries[i];
        result = rgTriplets_Add(to, entry.row, entry.column, a * entry.value);
        if (result == rg_ok) {
            result = rgTriplets_Add(to, entry.column, entry.row, b * entry.value);
        }
    }
    return result;
}

static rgResult rgCompressMirrored(const rgTriplets* triplets, double a, double b, int rowCount,
                                   rgOwnedSparse* matrix) {
    rgTriplets mirrored = {.allocator = triplets->allocator};
    rgResult result = rgAddMirrored(triplets, a, b, &mirrored);
    if (result == rg_ok) {
        result = rgTriplets_Compress(&mirrored, rowCount, rowCount, matrix);
    }
    rgTriplets_Free(&mirrored);
    return result;
}

rgResult rgTriplets_CompressSymmetric(const rgTriplets* triplets, int rowCount,
                                      rgOwnedSparse* matrix, double* asymmetry) {
    rgOwnedSparse difference = {0};
    rgOwnedSparse plain = {0};
    rgResult result = rgCompressMirrored(triplets, 1, -1, rowCount, &difference);
    if (result == rg_ok) {
        result = rgTriplets_Compress(triplets, rowCount, rowCount, &plain);
    }
    if (result == rg_ok) {
        double size = rgOwnedSparse_Largest(&plain);
        *asymmetry = size > 0 ? rgOwnedSparse_Largest(&difference) / size : 0;
        result = rgCompressMirrored(triplets, 0.5, 0.5, rowCount, matrix);
    }
    rgOwnedSparse_Free(&triplets->allocator, &difference);
    rgOwnedSparse_Free(&triplets->allocator, &plain);
    return result;
}

rgSparse rgOwnedSparse_View(const rgOwnedSparse* matrix) {
    return (rgSparse){.rowCount = matrix->rowCount,
                      .columnCount = matrix->columnCount,
                      .rowStart = matrix->rowStart,
                      .column = matrix->column,
                      .value = matrix->value};
}

void rgOwnedSparse_Free(const rgAllocator* allocator, rgOwnedSparse* matrix) {
    rgRelease(allocator, matrix->rowStart);
    rgRelease(allocator, matrix->column);
    rgRelease(allocator, matrix->value);
    *matrix = (rgOwnedSparse){0};
}
