// rigor convert: a robot description in the other format.
#include "model.h"

static int rgConvert(char* const* from, int count, const char* to,
                     const rgModelArguments* arguments, bool isJson) {
    rgLoadedModel loaded;
    bool good = rgCli_LoadModel(from, count, arguments, &loaded);
    if (loaded.diagnostics == NULL) {
        return rg_exitUsage;
    }
    if (good) {
        good = rgSaveModelDef(loaded.def, to, loaded.diagnostics) == rg_ok;
    }
    if (isJson) {
        rgJson json = {.out = stdout};
        rgJson_BeginObject(&json, NULL);
        rgJson_String(&json, "file", to);
        rgJson_Bool(&json, "ok", good);
        rgCli_WriteDiagnostics(&json, loaded.diagnostics);
        rgJson_EndObject(&json);
    } else {
        rgCli_PrintDiagnostics(loaded.diagnostics, stderr, false, false);
    }
    rgCli_FreeModel(&loaded);
    return good ? rg_exitDone : rg_exitNo;
}

int rgCli_Convert(int argc, char** argv) {
    rgModelArguments arguments = {0};
    bool isJson = false;
    rgOption table[RG_MODEL_OPTION_COUNT + 1] = {
        [RG_MODEL_OPTION_COUNT] = {"--json", rg_optionFlag, &isJson,
                                   "print the parts that were left out as one JSON object", NULL,
                                   NULL, 0, 0},
    };
    rgModelArguments_Options(&arguments, table);
    const rgCommand command = {
        .name = "rigor convert",
        .usage = "FROM... TO [OPTIONS]",
        .summary =
            "Read a robot description (URDF, MJCF, SDF, a mesh, or the name of a built-in model), "
            "or several\nas one scene, and write it as URDF (.urdf) or MJCF (.xml). Parts that the "
            "format cannot\nexpress are listed by name on stderr. Meshes of a URDF become OBJ "
            "files beside it. Options of a file\nstand behind it; those behind TO hold for all."
            "\n\nExamples:\n  "
            "rigor convert robot.urdf robot.xml\n  rigor convert quadruped quadruped.urdf",
        .options = table,
        .optionCount = RG_MODEL_OPTION_COUNT + 1,
        .minArguments = 2,
        .maxArguments = -1,
        .output = -1,
    };
    int count = 0;
    int code = rgParseOptions(&command, argc, argv, &count);
    return code != RG_CLI_GO ? code
                             : rgConvert(argv + 1, count - 1, argv[count], &arguments, isJson);
}
