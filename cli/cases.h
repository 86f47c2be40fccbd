// Contact problems from files: found, read in child processes, held.
#pragma once
#include "guard.h"
#include "rigor/fclib.h"

// A file to work on.
typedef struct rgCaseFile {
    char* path;
    char* relative; // below the folder that the user named, or the file's name
    char* family;   // name of the folder that holds it
} rgCaseFile;

typedef struct rgCaseFiles {
    rgCaseFile* files;
    int count;
    int capacity;
} rgCaseFiles;

// Files as named, and all .hdf5 and .h5 files below folders, sorted by name within each argument.
// Neither links to folders nor other file systems are entered. False after a message when an
// argument does not exist or a folder holds no such file, or too much else.
bool rgFindCases(char** arguments, int count, rgCaseFiles* files);
void rgCaseFiles_Free(rgCaseFiles* files);

// A problem in memory.
typedef struct rgCase {
    rgContactProblem problem;
    int contactCount;
    const int* keys;     // NULL when the file has none
    const double* guess; // impulses of the first guess, or NULL
    const char** warnings;
    int warningCount;
    char* fault; // why there is no problem; NULL when there is one
    rgByteBuffer bytes;
} rgCase;

// Read a file in a child process. True when there is a problem; the case is freed in any event.
bool rgLoadCase(const char* path, rgFclibMatrix matrix, rgCase* loaded);
void rgCase_Free(rgCase* loaded);

// Copy source to path with a solution, in a child process. Returns NULL, or an error message to
// free.
char* rgWriteCase(const char* source, const char* path, const rgFclibSolution* solution);
// Make the folder of a path and those above it.
bool rgMakeParents(const char* path);
