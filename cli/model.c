// Shared functions of verbs with robot descriptions: options, loading, composing, lists of numbers.
#include "model.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char* const contacts[] = {"rigid", "file", NULL};
static const char* const selfOverlaps[] = {"file", "keep", "ignore", NULL}; // rgSelfOverlap

void rgModelArguments_Options(rgModelArguments* arguments, rgOption* table) {
    const rgOption options[RG_MODEL_OPTION_COUNT] = {
        {"--at", rg_optionPlaced, &arguments->at, "position of the file [m]", "X,Y,Z", NULL, 0, 0},
        {"--rpy", rg_optionPlaced, &arguments->rpy,
         "orientation of the file: roll, pitch, yaw [rad]", "R,P,Y", NULL, 0, 0},
        {"--prefix", rg_optionPlaced, &arguments->prefix, "prefix of all names in the file", "TEXT",
         NULL, 0, 0},
        {"--on", rg_optionPlaced, &arguments->on,
         "fix the file to a body of an earlier file; --at and --rpy are relative to that body",
         "BODY", NULL, 0, 0},
        {"--floating", rg_optionPlacedFlag, &arguments->floating,
         "let the root of the file move freely (URDF, SDF, mesh)", NULL, NULL, 0, 0},
        {"--fixed", rg_optionPlacedFlag, &arguments->fixed,
         "fix the root of the file to the world (URDF, SDF, mesh)", NULL, NULL, 0, 0},
        {"--scale", rg_optionPlaced, &arguments->scale,
         "scale of the mesh file; 0.001 for millimetres", "S", NULL, 0, 0},
        {"--density", rg_optionPlaced, &arguments->density,
         "density of the mesh file [kg/m^3]; 1000 without it", "D", NULL, 0, 0},
        {"--without-world", rg_optionPlacedFlag, &arguments->withoutWorld,
         "leave out the parts that the file fixes to the world, such as its floor", NULL, NULL, 0,
         0},
        {"--package-dir", rg_optionList, &arguments->packageDirs,
         "folder of package://NAME: DIR/NAME, or DIR called NAME; may be repeated", "DIR", NULL, 0,
         0},
        {"--strict", rg_optionFlag, &arguments->strict, "treat warnings as errors", NULL, NULL, 0,
         0},
        {"--no-meshes", rg_optionFlag, &arguments->noMeshes,
         "open no mesh file, and leave out shapes that need one", NULL, NULL, 0, 0},
        {"--hull", rg_optionFlag, &arguments->hull,
         "replace a moving mesh that is not convex by one hull, not by several parts", NULL, NULL,
         0, 0},
        {"--sheet", rg_optionNumber, &arguments->sheet,
         "thickness of fixed meshes with a border, which then stop bodies on both sides [m]", "T",
         NULL, 0, 1e3},
        {"--decompose", rg_optionFlag, &arguments->decompose,
         "split a moving mesh of an MJCF file that is not convex into parts", NULL, NULL, 0, 0},
        {"--contact", rg_optionChoice, &arguments->contact,
         "contacts of an MJCF file: rigid, or as soft as its solref", "C", contacts, 0, 0},
        {"--self-overlap", rg_optionChoice, &arguments->selfOverlap,
         "overlapping parts of one robot: as in the file (URDF, SDF: ignore), collide, or do not",
         "S", selfOverlaps, 0, 0},
        {"--bound", rg_optionText, &arguments->bound,
         "least mass and moment of inertia of bodies with a joint [kg, kg m^2]", "M,I", NULL, 0, 0},
    };
    memcpy(table, options, sizeof(options));
}

// ---- one file ----

// A positive number of a placed option; false after a message.
static bool rgReadPositive(const char* option, const char* text, double* value) {
    if (text != NULL && (!rgParseNumber(text, value) || !(*value > 0))) {
        rgCli_Error("%s needs a positive number, not '%s'", option, text);
        return false;
    }
    return true;
}

// Progress on a terminal: the task that takes seconds, and the share that is done.
typedef struct rgSplitting {
    int count;
    bool terminal;
} rgSplitting;

static void rgReportSplit(void* context, int triangleCount) {
    rgSplitting* splitting = context;
    splitting->count += 1;
    if (splitting->terminal) {
        fprintf(stderr,
                "\r\033[Ksplitting mesh %d, of %d triangles, into convex parts, which are "
                "kept for the next time (--hull: one hull) ...",
                splitting->count, triangleCount);
        fflush(stderr);
    }
}

static bool rgLoadFileDef(const char* path, const rgModelArguments* arguments, int argument,
                          rgDiagnostics* diagnostics, rgModelDef** made) {
    bool floating = rgPlacedList_At(&arguments->floating, argument) != NULL;
    bool fixed = rgPlacedList_At(&arguments->fixed, argument) != NULL;
    rgLoadDef def = rgDefaultLoadDef();
    if (!rgReadPositive("--scale", rgPlacedList_At(&arguments->scale, argument), &def.meshScale) ||
        !rgReadPositive("--density", rgPlacedList_At(&arguments->density, argument),
                        &def.density)) {
        return false;
    }
    double bound[2] = {0, 0};
    if (arguments->bound != NULL && !rgCli_ReadNumbers("--bound", arguments->bound, bound, 2)) {
        return false;
    }
    if (!(bound[0] >= 0 && bound[1] >= 0)) {
        rgCli_Error("--bound needs numbers that are not negative, not '%s'", arguments->bound);
        return false;
    }
    def.boundMass = bound[0];
    def.boundInertia = bound[1];
    def.packageDirCount = arguments->packageDirs.count;
    def.packageDirs = arguments->packageDirs.texts;
    def.strict = arguments->strict;
    def.hulls = arguments->hull;
    def.decompose = arguments->decompose;
    def.sheetThickness = arguments->sheet;
    def.fileContact = arguments->contact == 1;
    def.selfOverlap = (rgSelfOverlap)arguments->selfOverlap;
    def.meshes = arguments->noMeshes ? rg_meshesNone : rg_meshesAll;
    def.base = floating ? rg_baseFloating : fixed ? rg_baseFixed : rg_baseFromFile;
    rgSplitting splitting = {.terminal = isatty(STDERR_FILENO) == 1};
    def.onSplit = rgReportSplit;
    def.onSplitContext = &splitting;
    rgResult result = rgLoadModelDef(path, &def, diagnostics, made);
    if (splitting.terminal && splitting.count > 0) {
        fprintf(stderr, "\r\033[K");
    }
    if (result == rg_errorMemory) {
        rgCli_Error("%s: out of memory", path);
    }
    return result == rg_ok;
}

// ---- several ----

static bool rgReadVector(const char* option, const char* text, double numbers[3]) {
    return text == NULL || rgCli_ReadNumbers(option, text, numbers, 3);
}

// Roll, pitch, yaw about fixed axes, as in URDF.
static rgQuat rgQuatFromRpy(const double rpy[3]) {
    rgQuat x = rgQuatFromAxisAngle(rgVec(1, 0, 0), rpy[0]);
    rgQuat y = rgQuatFromAxisAngle(rgVec(0, 1, 0), rpy[1]);
    rgQuat z = rgQuatFromAxisAngle(rgVec(0, 0, 1), rpy[2]);
    return rgQuatMultiply(z, rgQuatMultiply(y, x));
}

static bool rgFindParent(const rgModelDef* def, const char* name, rgBodyId* parent) {
    *parent = rgModelDef_FindBody(def, name);
    if (parent->index1 != 0) {
        return true;
    }
    int count = rgModelDef_Info(def).bodyCount;
    const char** names = rgCli_Allocate((size_t)count, sizeof(char*));
    for (int i = 0; i < count; ++i) {
        names[i] = rgModelDef_Body(def, (rgBodyId){i + 1})->name;
    }
    rgCli_UnknownName(name, names, count, "--on: no earlier file has a body '%s'", name);
    free((void*)names);
    return false;
}

static bool rgReadPlacement(const rgModelArguments* arguments, int argument, const rgModelDef* onto,
                            rgAttachDef* how) {
    double at[3] = {0}, rpy[3] = {0};
    const char* on = rgPlacedList_At(&arguments->on, argument);
    *how = rgDefaultAttachDef();
    if (!rgReadVector("--at", rgPlacedList_At(&arguments->at, argument), at) ||
        !rgReadVector("--rpy", rgPlacedList_At(&arguments->rpy, argument), rpy) ||
        (on != NULL && !rgFindParent(onto, on, &how->parent))) {
        return false;
    }
    how->kind = on != NULL ? rg_attachFixed : rg_attachAsIs;
    how->prefix = rgPlacedList_At(&arguments->prefix, argument);
    how->pose = (rgPose){rgVec(at[0], at[1], at[2]), rgQuatFromRpy(rpy)};
    how->withoutWorld = rgPlacedList_At(&arguments->withoutWorld, argument) != NULL;
    return true;
}

static bool rgIsPlaced(const rgModelArguments* arguments, int argument) {
    const rgPlacedList* const lists[] = {&arguments->at, &arguments->rpy, &arguments->prefix,
                                         &arguments->on, &arguments->withoutWorld};
    for (int i = 0; i < 5; ++i) {
        if (rgPlacedList_At(lists[i], argument) != NULL) {
            return true;
        }
    }
    return false;
}

static bool rgAttachFile(const char* path, const rgModelArguments* arguments, int argument,
                         rgLoadedModel* loaded) {
    rgModelDef* file = NULL;
    rgAttachDef how;
    bool good = rgReadPlacement(arguments, argument, loaded->def, &how) &&
                rgLoadFileDef(path, arguments, argument, loaded->diagnostics, &file) &&
                rgModelDef_Attach(loaded->def, file, &how, loaded->diagnostics, NULL) == rg_ok;
    rgDestroyModelDef(file);
    return good;
}

// Report wrong usage before any file is read.
static bool rgCheckPlacements(char* const* paths, int count, const rgModelArguments* arguments,
                              int before) {
    bool good = true;
    for (int i = 0; good && i < count; ++i) {
        int argument = before + i + 1;
        double numbers[3];
        good = rgReadVector("--at", rgPlacedList_At(&arguments->at, argument), numbers) &&
               rgReadVector("--rpy", rgPlacedList_At(&arguments->rpy, argument), numbers) &&
               rgReadPositive("--scale", rgPlacedList_At(&arguments->scale, argument), numbers) &&
               rgReadPositive("--density", rgPlacedList_At(&arguments->density, argument), numbers);
        if (good && rgPlacedList_At(&arguments->floating, argument) != NULL &&
            rgPlacedList_At(&arguments->fixed, argument) != NULL) {
            rgCli_Error("%s: --floating and --fixed exclude each other", paths[i]);
            good = false;
        }
    }
    return good;
}

// Options behind the last model, after an output or recordings, hold for all models.
static rgModelArguments rgSpreadPlacements(const rgModelArguments* arguments, int last) {
    rgModelArguments out = *arguments;
    rgPlacedList* const lists[] = {&out.at,    &out.rpy,      &out.prefix,
                                   &out.on,    &out.floating, &out.fixed,
                                   &out.scale, &out.density,  &out.withoutWorld};
    for (int i = 0; i < (int)(sizeof(lists) / sizeof(lists[0])); ++i) {
        for (int k = 0; k < lists[i]->count; ++k) {
            lists[i]->arguments[k] *= lists[i]->arguments[k] <= last;
        }
    }
    return out;
}

bool rgCli_LoadDef(char* const* paths, int count, const rgModelArguments* given,
                   rgLoadedModel* loaded) {
    int before = loaded->def != NULL;
    rgModelArguments spread = rgSpreadPlacements(given, before + count);
    const rgModelArguments* arguments = &spread;
    if (!rgCheckPlacements(paths, count, arguments, before)) {
        return false;
    }
    if (loaded->diagnostics == NULL && rgCreateDiagnostics(NULL, &loaded->diagnostics) != rg_ok) {
        rgCli_Error("out of memory");
        return false;
    }
    int first = 0;
    if (before == 0 && count > 0 && !rgIsPlaced(arguments, 1)) {
        first = 1;
        if (!rgLoadFileDef(paths[0], arguments, 1, loaded->diagnostics, &loaded->def)) {
            return false;
        }
    } else if (before == 0 && rgCreateModelDef(NULL, &loaded->def) != rg_ok) {
        rgCli_Error("out of memory");
        return false;
    }
    for (int i = first; i < count; ++i) {
        if (!rgAttachFile(paths[i], arguments, before + i + 1, loaded)) {
            return false;
        }
    }
    return true;
}

bool rgCli_CompileDef(const rgModelArguments* arguments, rgLoadedModel* loaded) {
    rgResult result = rgCompileModel(loaded->def, NULL, loaded->diagnostics, &loaded->model);
    bool warned = rgDiagnostics_CountOf(loaded->diagnostics, rg_severityWarning) > 0;
    if (result == rg_ok && arguments->strict && warned) {
        rgDestroyModel(loaded->model);
        loaded->model = NULL;
        return false;
    }
    if (result == rg_errorMemory) {
        rgCli_Error("out of memory");
    }
    return result == rg_ok;
}

bool rgCli_LoadModel(char* const* paths, int count, const rgModelArguments* arguments,
                     rgLoadedModel* loaded) {
    *loaded = (rgLoadedModel){0};
    return rgCli_LoadDef(paths, count, arguments, loaded) && rgCli_CompileDef(arguments, loaded);
}

void rgCli_FreeModel(rgLoadedModel* loaded) {
    rgDestroyModel(loaded->model);
    rgDestroyModelDef(loaded->def);
    rgDestroyDiagnostics(loaded->diagnostics);
    *loaded = (rgLoadedModel){0};
}

bool rgCli_ReadNumbers(const char* option, const char* text, double* numbers, int count) {
    char* copy = rgCli_CopyText(text);
    int found = 0;
    bool good = true;
    for (char* word = strtok(copy, ", \t\n"); good && word != NULL; word = strtok(NULL, ", \t\n")) {
        double value = 0;
        good = rgParseNumber(word, &value);
        if (!good) {
            rgCli_Error("%s: '%s' is not a number", option, word);
        } else if (found < count) {
            numbers[found] = value;
        }
        found += good;
    }
    free(copy);
    if (good && found != count) {
        rgCli_Error("%s needs %d numbers, not %d", option, count, found);
    }
    return good && found == count;
}
