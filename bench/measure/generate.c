// rigor bench generate: collections of contact problems as FCLIB files.
#include "collection.h"
#include "measure.h"

#include <stdlib.h>
#include <string.h>

static const rgFamily* rgFindFamily(const char* name) {
    const char* names[rg_familyCount];
    for (int i = 0; i < rg_familyCount; ++i) {
        names[i] = rgFamilies[i].name;
        if (strcmp(names[i], name) == 0) {
            return &rgFamilies[i];
        }
    }
    rgCli_UnknownName(name, names, rg_familyCount, "'%s' is not a collection", name);
    return NULL;
}

int rgBench_Generate(int argc, char** argv) {
    const char* out = "fclib";
    int every = 1, count = 0;
    const rgOption table[] = {
        {"--out", rg_optionText, &out, "folder for the collections (fclib)", "DIR", NULL, 0, 0},
        {"--every", rg_optionInt, &every, "only every N-th problem", "N", NULL, 1, 1e6},
    };
    const rgCommand command = {
        .name = "rigor bench generate",
        .usage = "[BoxesStack|Chain|Capsules]... [OPTIONS]",
        .summary = "Simulate, and write contact problems as FCLIB files: 255 of stacked boxes (mu "
                   "0.7, up to\n200 contacts), 242 of chains (mu 0.3, 8 to 28), 249 of heaps of "
                   "capsules (mu 0.7, up to 200):\nthe sizes of the paper's Table II, but problems "
                   "of our own.",
        .options = table,
        .optionCount = (int)(sizeof(table) / sizeof(table[0])),
        .maxArguments = -1,
    };
    int code = rgParseOptions(&command, argc, argv, &count);
    for (int i = 1; code == RG_CLI_GO && i <= count; ++i) {
        code = rgFindFamily(argv[i]) != NULL ? code : rg_exitUsage;
    }
    for (int i = 0; code == RG_CLI_GO && i < (count > 0 ? count : rg_familyCount); ++i) {
        const rgFamily* family = count > 0 ? rgFindFamily(argv[i + 1]) : &rgFamilies[i];
        if (!rgFamily_Write(family, every, out)) {
            code = rg_exitNo;
        } else {
            printf("%s/%s: %d problems, %s\n", out, family->name,
                   (family->count + every - 1) / every, family->description);
        }
    }
    return code == RG_CLI_GO ? rg_exitDone : code;
}
