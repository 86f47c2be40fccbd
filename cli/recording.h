// Recordings as verbs meet them: opened with care, with the names of their model.
#pragma once
#include "cli.h"

typedef struct rgOpenedRecording {
    rgRecording* recording;
    rgRecordingInfo info;
    rgModelDef* def; // from the MJCF text; NULL when there is none or it does not fit
    rgModel* model;
    rgDiagnostics* diagnostics;
} rgOpenedRecording;

// True if the file starts like HDF5.
bool rgCli_IsHdf5(const char* path);
// False after a message. Damaged files are found in a child process first.
bool rgCli_OpenRecording(const char* path, rgOpenedRecording* opened);
void rgCli_CloseRecording(rgOpenedRecording* opened);

// The names of all bodies or shapes, in the order of the world that was recorded: that of a model
// made from its MJCF text may be another. False after a message.
typedef struct rgRecordedNames {
    char** texts; // owned
    int count;
} rgRecordedNames;
bool rgRecordedNames_Read(rgRecordedNames* names, const rgOpenedRecording* opened,
                          const char* kind);
// Name by a number from 1; NULL when there is none.
const char* rgRecordedNames_At(const rgRecordedNames* names, int number);
void rgRecordedNames_Free(rgRecordedNames* names);

// The arguments of a recorded run, one per line, that decide what is simulated, without how long;
// NULL-terminated, with a first entry of the caller's and room for six more. NULL after a message
// when there are others: a file that someone sent chooses no output. Free with rgCli_FreeArguments.
char** rgCli_SplitArguments(const char* text, const char* first, int* count);
void rgCli_FreeArguments(char** arguments);
// Text of argv[0..argc), without options that name output paths.
char* rgCli_JoinArguments(int argc, char** argv);
