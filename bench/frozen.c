// Frozen problems, unpacked by tar.
#include "frozen.h"

#include "cli.h"

#include <stdlib.h>

static void rgDropFile(rgCaseFile* file) {
    free(file->path);
    free(file->relative);
    free(file->family);
}

bool rgFindFrozen(const char* folder, int stride, rgCaseFiles* files) {
    static const char archive[] = RIGOR_SOURCE_DIR "/bench/problems/collections.tar.xz";
    char* command = rgCli_Format("tar -xJf '%s' -C '%s'", archive, folder);
    bool good = system(command) == 0; // NOLINT: both paths are ours
    free(command);
    if (!good) {
        rgCli_Error("%s: tar (with xz-utils) cannot unpack it", archive);
        return false;
    }
    char* folders[1] = {rgCli_CopyText(folder)};
    good = rgFindCases(folders, 1, files);
    free(folders[0]);
    int kept = 0;
    for (int i = 0; i < files->count; ++i) {
        if (i % stride == 0) {
            files->files[kept++] = files->files[i];
        } else {
            rgDropFile(&files->files[i]);
        }
    }
    files->count = kept;
    return good;
}
