// A folder for files that an experiment needs for itself.
#define _XOPEN_SOURCE 700 // nftw
#include "scratch.h"

#include "cli.h"

#include <errno.h>
#include <ftw.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

char* rgMakeScratch(void) {
    const char* root = getenv("TMPDIR");
    char* folder = rgCli_Format("%s/rigor-bench-XXXXXX", root != NULL ? root : "/tmp");
    if (mkdtemp(folder) == NULL) {
        rgCli_Error("%s: cannot be made: %s", folder, strerror(errno));
        free(folder);
        return NULL;
    }
    return folder;
}

static int rgRemoveOne(const char* path, const struct stat* info, int kind, struct FTW* place) {
    (void)info, (void)kind, (void)place;
    return remove(path);
}

void rgRemoveScratch(char* folder) {
    if (folder != NULL) {
        nftw(folder, rgRemoveOne, 16, FTW_DEPTH | FTW_PHYS);
        free(folder);
    }
}

char* rgFindProgram(void) {
    static const char* const places[] = {"rigor", "../../bin/rigor"};
    char self[4096];
    ssize_t length = readlink("/proc/self/exe", self, sizeof(self) - 1);
    self[length > 0 ? length : 0] = '\0';
    char* slash = strrchr(self, '/');
    for (int i = 0; slash != NULL && i < 2; ++i) {
        char* path = rgCli_Format("%.*s/%s", (int)(slash - self), self, places[i]);
        if (access(path, X_OK) == 0) {
            return path;
        }
        free(path);
    }
    return NULL;
}
