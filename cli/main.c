// The program `rigor`: finds the verb and runs it.
#include "cli.h"

#include <stdio.h>
#include <string.h>

static const rgVerb verbs[] = {
    {"demo", "run the built-in demonstration", rgCli_Demo},
};

static int rgCli_Help(FILE* out) {
    fprintf(out, "usage: rigor VERB [ARGUMENTS]\n\n");
    for (size_t i = 0; i < sizeof(verbs) / sizeof(verbs[0]); ++i) {
        fprintf(out, "  %-10s %s\n", verbs[i].name, verbs[i].summary);
    }
    fprintf(out, "\nrigor VERB --help tells more. rigor --version tells the version.\n");
    return out == stdout ? 0 : 2;
}

int main(int argc, char** argv) {
    if (rgCheckVersion(RG_VERSION) != rg_ok) {
        fprintf(stderr, "rigor: the program was built for another version of the library\n");
        return 2;
    }
    if (argc < 2) {
        return rgCli_Help(stderr);
    }
    if (strcmp(argv[1], "--version") == 0) {
        printf("rigor %d.%d.%d\n", RG_VERSION_MAJOR, RG_VERSION_MINOR, RG_VERSION_PATCH);
        return 0;
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) {
        return rgCli_Help(stdout);
    }
    for (size_t i = 0; i < sizeof(verbs) / sizeof(verbs[0]); ++i) {
        if (strcmp(argv[1], verbs[i].name) == 0) {
            return verbs[i].run(argc - 1, argv + 1);
        }
    }
    fprintf(stderr, "rigor: unknown verb '%s'\n", argv[1]);
    return rgCli_Help(stderr);
}
