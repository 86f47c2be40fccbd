// Shared functions of verbs with robot descriptions: options, loading, composing, lists of numbers.
#pragma once
#include "cli.h"

// Placed lists belong to the file before them.
typedef struct rgModelArguments {
    rgTextList packageDirs;
    rgPlacedList floating, fixed;
    bool strict;
    bool noMeshes;
    bool hull;       // one convex hull for a moving mesh
    bool decompose;  // parts for a moving mesh of an MJCF file
    double sheet;    // thickness of fixed meshes with a border
    int contact;     // rigid, file
    int selfOverlap; // rgSelfOverlap
    const char* bound;
    rgPlacedList at, rpy, prefix, on, scale, density, withoutWorld;
} rgModelArguments;

#define RG_MODEL_OPTION_COUNT 18
// Write the options of a robot description to the start of a verb's table.
void rgModelArguments_Options(rgModelArguments* arguments, rgOption* table);

typedef struct rgLoadedModel {
    rgDiagnostics* diagnostics;
    rgModelDef* def;
    rgModel* model; // NULL when it could not be read or compiled
} rgLoadedModel;

// Load and compile files as one model. True when there is a model; remarks are in the diagnostics
// either way.
bool rgCli_LoadModel(char* const* paths, int count, const rgModelArguments* arguments,
                     rgLoadedModel* loaded);
void rgCli_FreeModel(rgLoadedModel* loaded);
// The two halves. A definition that is there already, such as a scene's, counts as the first
// argument; the paths come after it.
bool rgCli_LoadDef(char* const* paths, int count, const rgModelArguments* arguments,
                   rgLoadedModel* loaded);
bool rgCli_CompileDef(const rgModelArguments* arguments, rgLoadedModel* loaded);

// Fill `count` numbers from a text with commas or blanks between them; false after a message.
bool rgCli_ReadNumbers(const char* option, const char* text, double* numbers, int count);
