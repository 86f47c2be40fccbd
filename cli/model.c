// What the verbs that take a robot description share: options, loading, lists of numbers.
#include "model.h"

#include <stdlib.h>
#include <string.h>

static const char* const contacts[] = {"rigid", "file", NULL};

void rgModelArguments_Options(rgModelArguments* arguments, rgOption* table) {
    const rgOption options[RG_MODEL_OPTION_COUNT] = {
        {"--package-dir", rg_optionList, &arguments->packageDirs,
         "where package://NAME is: DIR/NAME, or DIR called NAME; may be repeated", "DIR", NULL, 0,
         0},
        {"--floating", rg_optionFlag, &arguments->floating, "the root of a URDF moves freely", NULL,
         NULL, 0, 0},
        {"--fixed", rg_optionFlag, &arguments->fixed, "the root of a URDF is fixed to the world",
         NULL, NULL, 0, 0},
        {"--strict", rg_optionFlag, &arguments->strict, "warnings are errors", NULL, NULL, 0, 0},
        {"--no-meshes", rg_optionFlag, &arguments->noMeshes,
         "open no mesh file; shapes that need one are left out", NULL, NULL, 0, 0},
        {"--hull", rg_optionFlag, &arguments->hull,
         "a mesh of a moving URDF link that is not convex becomes one hull, not several parts",
         NULL, NULL, 0, 0},
        {"--contact", rg_optionChoice, &arguments->contact,
         "contacts of an MJCF file: rigid, or as soft as its solref says", "C", contacts, 0, 0},
    };
    memcpy(table, options, sizeof(options));
}

static rgResult rgLoadAndCompile(const char* path, const rgLoadDef* def, rgLoadedModel* loaded) {
    rgResult result = rgLoadModelDef(path, def, loaded->diagnostics, &loaded->def);
    if (result == rg_ok) {
        result = rgCompileModel(loaded->def, NULL, loaded->diagnostics, &loaded->model);
    }
    bool warned = rgDiagnostics_CountOf(loaded->diagnostics, rg_severityWarning) > 0;
    if (result == rg_ok && def->strict && warned) {
        rgDestroyModel(loaded->model);
        loaded->model = NULL;
        return rg_errorFormat;
    }
    return result;
}

bool rgCli_LoadModel(const char* path, const rgModelArguments* arguments, rgLoadedModel* loaded) {
    *loaded = (rgLoadedModel){0};
    if (arguments->floating && arguments->fixed) {
        rgCli_Error("--floating and --fixed exclude each other");
        return false;
    }
    if (rgCreateDiagnostics(NULL, &loaded->diagnostics) != rg_ok) {
        rgCli_Error("out of memory");
        return false;
    }
    rgLoadDef def = rgDefaultLoadDef();
    def.packageDirCount = arguments->packageDirs.count;
    def.packageDirs = arguments->packageDirs.texts;
    def.strict = arguments->strict;
    def.hulls = arguments->hull;
    def.fileContact = arguments->contact == 1;
    def.meshes = arguments->noMeshes ? rg_meshesNone : rg_meshesAll;
    def.base = arguments->floating ? rg_baseFloating
               : arguments->fixed  ? rg_baseFixed
                                   : rg_baseFromFile;
    rgResult result = rgLoadAndCompile(path, &def, loaded);
    if (result == rg_errorMemory) {
        rgCli_Error("%s: out of memory", path);
    }
    return result == rg_ok;
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
        rgCli_Error("%s: the model needs %d numbers, not %d", option, count, found);
    }
    return good && found == count;
}
