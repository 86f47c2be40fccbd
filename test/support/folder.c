#include "folder.h"

#include <stdio.h>
#include <stdlib.h>

static char rg_testFolder[] = "/tmp/rigor-test-XXXXXX";

int rgMakeTestFolder(void** state) {
    (void)state;
    return mkdtemp(rg_testFolder) != NULL ? 0 : -1;
}

int rgRemoveTestFolder(void** state) {
    (void)state;
    char command[64];
    snprintf(command, sizeof(command), "rm -rf %s", rg_testFolder);
    return system(command);
}

const char* rgTestPath(const char* name) {
    static char path[256];
    snprintf(path, sizeof(path), "%s/%s", rg_testFolder, name);
    return path;
}
