// Rows of the constraint problem under construction: blocks, Jacobian, right-hand sides.
#pragma once
#include "contact/problem.h"
#include "model/model.h"

// Source of a row of the constraint problem.
typedef struct rgRowSource {
    int kind;  // rgConstraintKind; -1: a contact
    int index; // of the constraint, or of the contact point
    int row;   // within it
    int slot;  // of the warm start; -1 for contacts
} rgRowSource;

// The constraint problem under construction.
typedef struct rgRows {
    int rowCount, rowCapacity;
    int blockCount, blockCapacity;
    int entryCount, entryCapacity;
    rgBlock* blocks;
    rgRowSource* sources; // per row
    double* gap;          // per row: violation, for reading
    double* bias;         // per row: gamma
    double* freeVelocity; // rgAssembleProblem, per row: g = J v_free + gamma
    double* drift;        // per row: speed by kinematic bodies and belts
    double* compliance;   // per row: R
    double* lambda;       // per row
    double* length;       // per row: its velocity times this is in m/s
    int* rowStart;        // rowCount + 1
    int* column;          // entryCount
    double* value;        // entryCount
} rgRows;

static inline int rgRows_Columns(const rgRows* rows, int row) {
    return rows->rowStart[row + 1] - rows->rowStart[row];
}

// A block of rows over the degrees of freedom that move links A and B; values are zero.
// Returns its first row, or -1 when out of memory. Columns are the same for all its rows.
int rgRows_AddPair(rgRows* rows, const rgModel* model, const rgAllocator* allocator, rgBlock block,
                   int linkA, int linkB);
// Block over the columns of a given row.
int rgRows_AddAlike(rgRows* rows, const rgAllocator* allocator, rgBlock block, int row);
// A block of one row, copied from other rows.
int rgRows_AddCopy(rgRows* rows, const rgAllocator* allocator, rgBlock block, const rgRows* from,
                   int row);
// The last block.
void rgRows_DropLast(rgRows* rows);
// A block of one row with given entries. Degrees of freedom above a column are stored too, as
// zeros: rgDynamics_Delassus() needs them.
int rgRows_AddRow(rgRows* rows, const rgModel* model, const rgAllocator* allocator, rgBlock block,
                  int count, const int* columns, const double* values);
void rgRows_Clear(rgRows* rows);
void rgRows_Free(rgRows* rows, const rgAllocator* allocator);
double rgRows_Dot(const rgRows* rows, int row, const double* v);
// With the drift.
double rgRows_Speed(const rgRows* rows, int row, const double* v);
// Of all rows.
void rgRows_AddSpeeds(const rgRows* rows, const double* v, double* out);
void rgInsertEntry(int* columns, double* values, int* count, int column, double value);
