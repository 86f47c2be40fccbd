// Motions for inverse dynamics, from CSV files.
#pragma once
#include "cli.h"

// Columns are named as in the files of rigor simulate --csv: time, q:JOINT, v:JOINT. With every q
// the rows are the states of a motion; without any q they are velocities to follow, and joints that
// the file leaves out stay at rest. Times rise by the world's time step.
typedef struct rgMotionFile {
    int rowCount;
    bool hasPositions;
    int qCount, vCount;
    double* times;
    double* q; // rowCount x qCount, with positions
    double* v; // rowCount x vCount
} rgMotionFile;

// False after a message with file and line; free it either way.
bool rgMotionFile_Read(rgMotionFile* reference, const char* path, const rgModel* model);
void rgMotionFile_Free(rgMotionFile* reference);
// True if the times fit the step; false after a message.
bool rgMotionFile_Fits(const rgMotionFile* reference, const char* path, double timeStep);
