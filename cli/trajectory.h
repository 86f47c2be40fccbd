// Files beside a simulation: controls that are read, states that are written.
#pragma once
#include "cli.h"

// Controls over time, from a CSV file: a line of names (time, then actuators), then numbers with
// rising times. A row holds until the next; actuators that the file leaves out keep their value.
// The name "-" is the standard input, of which a row is read only when the one before has passed,
// so that another program can answer to states as they are written.
typedef struct rgControlFile {
    const char* path;
    const rgModel* model;
    FILE* stream; // stream of "-" while it lasts
    char* line;
    size_t capacity;
    int lineNumber;
    int rowCount;
    int columnCount; // number of actuators
    int* actuators;  // from 0, by column
    double* times;   // by row
    double* values;  // rowCount x columnCount
    int next;        // row whose time has not come
} rgControlFile;

// False after a message with file and line; free it either way.
bool rgControlFile_Read(rgControlFile* file, const char* path, const rgModel* model);
void rgControlFile_Free(rgControlFile* file);
// Give the world the controls of its time; rg_errorFormat after a message.
rgResult rgControlFile_Apply(rgControlFile* file, rgWorld* world);

// A CSV file of time, q and v. The first line names the columns: time, q:JOINT, v:JOINT, with the
// part of joints that have several (q:base.x, q:base.qw, v:base.wx).
void rgCsv_WriteHeader(FILE* file, const rgModel* model);
void rgCsv_WriteCoordinateNames(FILE* file, const rgModel* model, bool isVelocity);
FILE* rgCsv_Open(const char* path);             // "-": the standard output; NULL after a message
bool rgCsv_Close(FILE* file, const char* path); // false after a message
// The next cell of a line, without blanks around it; NULL after the last. Changes the line.
char* rgCsv_NextCell(char** rest);
