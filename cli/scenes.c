// rigor scenes: scenes that rigor simulate can run without a file.
#include "cli.h"

static void rgPrintScenes(void) {
    for (int i = 0; i < rgSceneCount(); ++i) {
        const rgSceneInfo* scene = rgSceneAt(i);
        printf("%-15s %s", scene->name, scene->description);
        if (scene->defaultCount > 0) {
            printf(" (%d bodies; --bodies N)", scene->defaultCount);
        }
        printf("\n");
    }
    printf("\nrigor simulate SCENE runs one.\n");
}

static void rgWriteScenes(void) {
    rgJson json = {.out = stdout};
    rgJson_BeginArray(&json, NULL);
    for (int i = 0; i < rgSceneCount(); ++i) {
        const rgSceneInfo* scene = rgSceneAt(i);
        rgJson_BeginObject(&json, NULL);
        rgJson_String(&json, "name", scene->name);
        rgJson_String(&json, "description", scene->description);
        rgJson_Number(&json, "duration", scene->duration);
        rgJson_Int(&json, "bodies", scene->defaultCount);
        rgJson_EndObject(&json);
    }
    rgJson_EndArray(&json);
}

int rgCli_Scenes(int argc, char** argv) {
    bool isJson = false;
    const rgOption table[] = {
        {"--json", rg_optionFlag, &isJson, "print one JSON array", NULL, NULL, 0, 0},
    };
    const rgCommand command = {.name = "rigor scenes",
                               .usage = "[--json]",
                               .summary =
                                   "List the built-in scenes.\n\nExamples:\n"
                                   "  rigor scenes\n  rigor simulate domino --bodies 30 --view",
                               .options = table,
                               .optionCount = 1};
    int count = 0;
    int code = rgParseOptions(&command, argc, argv, &count);
    if (code != RG_CLI_GO) {
        return code;
    }
    if (isJson) {
        rgWriteScenes();
    } else {
        rgPrintScenes();
    }
    return rg_exitDone;
}
