// The rows of the constraint problem: blocks, sources and the Jacobian in compressed rows, in
// arrays that grow and stay.
#include "math/triple.h"
#include "world/constraints.h"

#include <string.h>

void rgRows_Clear(rgRows* rows) {
    rows->rowCount = rows->blockCount = rows->entryCount = 0;
    if (rows->rowStart != NULL) {
        rows->rowStart[0] = 0;
    }
}

void rgRows_Free(rgRows* rows, const rgAllocator* allocator) {
    void* arrays[] = {rows->blocks,     rows->sources,  rows->gap,          rows->bias,
                      rows->compliance, rows->drift,    rows->freeVelocity, rows->lambda,
                      rows->length,     rows->rowStart, rows->column,       rows->value};
    for (int i = 0; i < RG_COUNT(arrays); ++i) {
        rgRelease(allocator, arrays[i]);
    }
}

// All arrays per row grow together.
static rgResult rgRows_GrowRows(rgRows* rows, const rgAllocator* allocator, int needed) {
    struct {
        void** array;
        size_t size;
        int extra;
    } list[] = {{(void**)&rows->sources, sizeof(rgRowSource), 0},
                {(void**)&rows->gap, sizeof(double), 0},
                {(void**)&rows->bias, sizeof(double), 0},
                {(void**)&rows->drift, sizeof(double), 0},
                {(void**)&rows->freeVelocity, sizeof(double), 0},
                {(void**)&rows->compliance, sizeof(double), 0},
                {(void**)&rows->lambda, sizeof(double), 0},
                {(void**)&rows->length, sizeof(double), 0},
                {(void**)&rows->rowStart, sizeof(int), 1}};
    int target = RG_MAX(RG_MAX(needed, 2 * rows->rowCapacity), 64);
    for (int i = 0; i < RG_COUNT(list); ++i) {
        int capacity = rows->rowCapacity; // forces growth to the same target
        int used = rows->rowCapacity > 0 ? rows->rowCount + list[i].extra : 0;
        rgResult result = rgReserve(allocator, list[i].array, &capacity, used,
                                    target + list[i].extra, list[i].size);
        if (result != rg_ok) {
            return result;
        }
    }
    if (rows->rowCapacity == 0) {
        rows->rowStart[0] = 0;
    }
    rows->rowCapacity = target;
    return rg_ok;
}

static rgResult rgRows_GrowEntries(rgRows* rows, const rgAllocator* allocator, int needed) {
    int columns = rows->entryCapacity, values = rows->entryCapacity;
    rgResult result = rgReserve(allocator, (void**)&rows->column, &columns, rows->entryCount,
                                needed, sizeof(int));
    if (result == rg_ok) {
        result = rgReserve(allocator, (void**)&rows->value, &values, rows->entryCount, needed,
                           sizeof(double));
    }
    rows->entryCapacity = result == rg_ok ? values : rows->entryCapacity;
    return result;
}

void rgRows_DropLast(rgRows* rows) {
    rows->rowCount -= rows->blocks[--rows->blockCount].rowCount;
    rows->entryCount = rows->rowStart[rows->rowCount];
}

static rgResult rgRows_Reserve(rgRows* rows, const rgAllocator* allocator, int rowCount,
                               int entryCount) {
    rgResult result = rg_ok;
    if (rows->blockCount + 1 > rows->blockCapacity) {
        result = rgReserve(allocator, (void**)&rows->blocks, &rows->blockCapacity, rows->blockCount,
                           rows->blockCount + 1, sizeof(rgBlock));
    }
    if (result == rg_ok && rows->rowCount + rowCount > rows->rowCapacity) {
        result = rgRows_GrowRows(rows, allocator, rows->rowCount + rowCount);
    }
    if (result == rg_ok && rows->entryCount + entryCount > rows->entryCapacity) {
        result = rgRows_GrowEntries(rows, allocator, rows->entryCount + entryCount);
    }
    return result;
}

static int rgRows_Open(rgRows* rows, rgBlock block) {
    int first = rows->rowCount;
    block.firstRow = first;
    rows->blocks[rows->blockCount++] = block;
    for (int k = 0; k < block.rowCount; ++k) {
        rows->sources[first + k] = (rgRowSource){.kind = -1, .slot = -1};
        rows->gap[first + k] = 0;
        rows->bias[first + k] = 0;
        rows->drift[first + k] = 0;
        rows->compliance[first + k] = 0;
        rows->lambda[first + k] = 0;
    }
    rows->rowCount += block.rowCount;
    return first;
}

static int rgLinkDepth(const rgModel* model, int link) {
    const rgLink* l = &model->links[link];
    return l->vCount > 0 ? model->dofs[l->v + l->vCount - 1].depth : 0;
}

// A block of rows over `count` columns that stand where its first row begins.
static int rgRows_OpenOver(rgRows* rows, rgBlock block, int count) {
    int* columns = rows->column + rows->entryCount;
    int first = rgRows_Open(rows, block);
    for (int k = 0; k < block.rowCount; ++k) {
        if (k > 0) {
            memcpy(columns + k * count, columns, (size_t)count * sizeof(int));
        }
        rows->entryCount += count;
        rows->rowStart[first + k + 1] = rows->entryCount;
    }
    return first;
}

int rgRows_AddPair(rgRows* rows, const rgModel* model, const rgAllocator* allocator, rgBlock block,
                   int linkA, int linkB) {
    int bound = rgLinkDepth(model, linkA) + rgLinkDepth(model, linkB);
    if (rgRows_Reserve(rows, allocator, block.rowCount, bound * block.rowCount) != rg_ok) {
        return -1;
    }
    int count = rgModel_PairColumns(model, linkA, linkB, rows->column + rows->entryCount);
    return rgRows_OpenOver(rows, block, count);
}

int rgRows_AddAlike(rgRows* rows, const rgAllocator* allocator, rgBlock block, int row) {
    int count = rgRows_Columns(rows, row);
    if (rgRows_Reserve(rows, allocator, block.rowCount, count * block.rowCount) != rg_ok) {
        return -1;
    }
    memcpy(rows->column + rows->entryCount, rows->column + rows->rowStart[row],
           (size_t)count * sizeof(int));
    return rgRows_OpenOver(rows, block, count);
}

// Insert an entry among `count` sorted ones; entries of one column add up.
void rgInsertEntry(int* columns, double* values, int* count, int column, double value) {
    int at = *count;
    while (at > 0 && columns[at - 1] > column) {
        --at;
    }
    if (at > 0 && columns[at - 1] == column) {
        values[at - 1] += value;
        return;
    }
    size_t tail = (size_t)(*count - at);
    memmove(columns + at + 1, columns + at, tail * sizeof(int));
    memmove(values + at + 1, values + at, tail * sizeof(double));
    columns[at] = column;
    values[at] = value;
    *count += 1;
}

int rgRows_AddRow(rgRows* rows, const rgModel* model, const rgAllocator* allocator, rgBlock block,
                  int count, const int* columns, const double* values) {
    const rgDof* dofs = model->dofs;
    int bound = 0, stored = 0;
    block.rowCount = 1;
    for (int k = 0; k < count; ++k) {
        bound += dofs[columns[k]].depth;
    }
    if (rgRows_Reserve(rows, allocator, 1, bound) != rg_ok) {
        return -1;
    }
    int* ownColumns = rows->column + rows->entryCount;
    double* ownValues = rows->value + rows->entryCount;
    for (int k = 0; k < count; ++k) {
        rgInsertEntry(ownColumns, ownValues, &stored, columns[k], values[k]);
        for (int i = dofs[columns[k]].parent; i >= 0; i = dofs[i].parent) {
            rgInsertEntry(ownColumns, ownValues, &stored, i, 0);
        }
    }
    int first = rgRows_Open(rows, block);
    rows->entryCount += stored;
    rows->rowStart[first + 1] = rows->entryCount;
    return first;
}

int rgRows_AddCopy(rgRows* rows, const rgAllocator* allocator, rgBlock block, const rgRows* from,
                   int row) {
    int count = rgRows_Columns(from, row), begin = from->rowStart[row];
    block.rowCount = 1;
    if (rgRows_Reserve(rows, allocator, 1, count) != rg_ok) {
        return -1;
    }
    memcpy(rows->column + rows->entryCount, from->column + begin, (size_t)count * sizeof(int));
    memcpy(rows->value + rows->entryCount, from->value + begin, (size_t)count * sizeof(double));
    return rgRows_OpenOver(rows, block, count);
}

// Shortest drift time of the trees of a row.
double rgRows_DriftTime(const rgConstraintSet* constraints, const rgKinematics* kinematics,
                        double dt, int row) {
    const rgRows* rows = &constraints->rows;
    double least = dt;
    for (int k = rows->rowStart[row]; row < rows->rowCount && k < rows->rowStart[row + 1]; ++k) {
        least = fmin(least, kinematics->driftTime[constraints->treeOfDof[rows->column[k]]]);
    }
    return least;
}

double rgRows_Dot(const rgRows* rows, int row, const double* v) {
    double sum = 0;
    for (int k = rows->rowStart[row]; k < rows->rowStart[row + 1]; ++k) {
        sum += rows->value[k] * v[rows->column[k]];
    }
    return sum;
}

double rgRows_Speed(const rgRows* rows, int row, const double* v) {
    return rgRows_Dot(rows, row, v) + rows->drift[row];
}

void rgRows_AddSpeeds(const rgRows* rows, const double* v, double* out) {
    for (int b = 0; b < rows->blockCount; ++b) {
        int r = rows->blocks[b].firstRow, end = r + rows->blocks[b].rowCount;
        if (rows->blocks[b].kind == rg_blockCoulomb) { // its rows have the same columns
            int begin = rows->rowStart[r];
            double speed[3];
            rgDotTriple(rgRows_Columns(rows, r), rows->column + begin, rows->value + begin, v,
                        speed);
            for (int k = 0; k < 3; ++k, ++r) {
                out[r] += speed[k] + rows->drift[r];
            }
        }
        for (; r < end; ++r) {
            out[r] += rgRows_Speed(rows, r, v);
        }
    }
}
