// What the verbs that take a robot description share: options, loading, lists of numbers.
#pragma once
#include "cli.h"

typedef struct rgModelArguments {
    rgTextList packageDirs;
    bool floating, fixed;
    bool strict;
    bool noMeshes;
    bool hull;   // one convex hull for a moving mesh
    int contact; // rigid, file
} rgModelArguments;

#define RG_MODEL_OPTION_COUNT 7
// Write the options of a robot description to the start of a verb's table.
void rgModelArguments_Options(rgModelArguments* arguments, rgOption* table);

typedef struct rgLoadedModel {
    rgDiagnostics* diagnostics;
    rgModelDef* def;
    rgModel* model; // NULL when it could not be read or compiled
} rgLoadedModel;

// Load and compile a file. True when there is a model; remarks are in the diagnostics either way.
bool rgCli_LoadModel(const char* path, const rgModelArguments* arguments, rgLoadedModel* loaded);
void rgCli_FreeModel(rgLoadedModel* loaded);

// Fill `count` numbers from a text with commas or blanks between them; false after a message.
bool rgCli_ReadNumbers(const char* option, const char* text, double* numbers, int count);
