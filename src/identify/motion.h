// Private view of motions that are read from files: the meaning of each number of a row, and how
// the first rows become a start.
#pragma once
#include "identify/identify.h"
#include "rigor/world.h"

typedef enum rgRoleKind {
    rg_roleNone,
    rg_roleTime,
    rg_rolePose,     // part 0 to 6 of a body's pose
    rg_roleTwist,    // part 0 to 5 of a body's velocity, world axes
    rg_roleBodyRate, // part 3 to 5 of a body's velocity, in the body's axes
    rg_roleQ,        // a coordinate
    rg_roleV,        // a generalized velocity
    rg_roleControl,
} rgRoleKind;

// Role of a column: body (from 1), coordinate, velocity or actuator (from 0), and which part.
typedef struct rgRole {
    rgRoleKind kind;
    int index;
    int part;
} rgRole;

// The meaning of a column's name; rg_roleNone when the model has none.
rgRole rgFindRole(const rgModel* model, const char* name);

// A motion with the memory that it stands on.
typedef struct rgLoadedMotion {
    rgMotion motion; // first: the caller's view
    rgAllocator allocator;
    char* name;
    double* times;
    rgChannel* channels;
    double* values;
    double *q, *v;
    double* controls;
} rgLoadedMotion;

// Rows of numbers and their meaning, from any file.
typedef struct rgMotionTable {
    const char* path;
    const rgModel* model;
    rgAllocator allocator;
    rgDiagnostics* diagnostics;
    int columnCount, rowCount;
    rgRole* roles;
    double* rows;    // rowCount x columnCount
    int rowCapacity; // in numbers
    bool backward;   // velocities are means of the interval before
} rgMotionTable;

// motion_csv.c and motion_record.c
rgResult rgMotionTable_ReadCsv(rgMotionTable* table);
rgResult rgMotionTable_ReadRecording(rgMotionTable* table);
