// rigor bench: starts the program rigor-bench, which measures beside other engines and is therefore
// linked with more than this one.
#include "cli.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// Beside this program, or where it was installed: PREFIX/libexec/rigor.
static char* rgFindBench(void) {
    static const char* const places[] = {"", "/../libexec/rigor"};
    char self[4096];
    ssize_t length = readlink("/proc/self/exe", self, sizeof(self) - 1);
    self[length > 0 ? length : 0] = '\0';
    char* slash = strrchr(self, '/');
    for (int i = 0; slash != NULL && i < 2; ++i) {
        *slash = '\0';
        char* path = rgCli_Format("%s%s/rigor-bench", self, places[i]);
        if (access(path, X_OK) == 0) {
            return path;
        }
        free(path);
    }
    return NULL;
}

int rgCli_Bench(int argc, char** argv) {
    (void)argc;
    char* path = rgFindBench();
    if (path == NULL) {
        rgCli_Error("the program rigor-bench is not beside rigor nor in ../libexec/rigor; it is "
                    "built with -DRIGOR_BENCH=ON");
        return rg_exitUsage;
    }
    fflush(NULL);
    execv(path, argv);
    rgCli_Error("%s: %s", path, strerror(errno));
    free(path);
    return rg_exitUsage;
}
