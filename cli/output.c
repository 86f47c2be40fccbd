// Files that the program writes: whole or not at all. Regular files are written beside their place
// and moved there; devices and pipes are written to as they are; "-" is the standard output.
#define _XOPEN_SOURCE 700 // realpath
#include "cli.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

bool rgOutput_Open(rgOutput* output, const char* path) {
    struct stat found;
    *output = (rgOutput){.path = path};
    if (strcmp(path, "-") == 0) {
        output->file = stdout;
        return true;
    }
    bool there = stat(path, &found) == 0;
    if (there && !S_ISREG(found.st_mode)) {
        errno = EISDIR;
        output->file = S_ISDIR(found.st_mode) ? NULL : fopen(path, "w");
    } else {
        // A link stays one: what it leads to is written.
        output->target = there ? realpath(path, NULL) : rgCli_CopyText(path);
        output->part = output->target != NULL
                           ? rgCli_Format("%s.%ld.part", output->target, (long)getpid())
                           : NULL;
        output->file = output->part != NULL ? fopen(output->part, "w") : NULL;
    }
    if (output->file == NULL) {
        rgCli_Error("%s: cannot be written: %s", path, strerror(errno));
        free(output->part);
        free(output->target);
        *output = (rgOutput){0};
        return false;
    }
    return true;
}

bool rgOutput_Close(rgOutput* output, bool wanted) {
    if (output->file == NULL) {
        return false;
    }
    errno = 0;
    bool good = ferror(output->file) == 0;
    good = (output->file == stdout ? fflush(stdout) : fclose(output->file)) == 0 && good;
    if (output->part != NULL && good && wanted) {
        good = rename(output->part, output->target) == 0;
    }
    if (!good) {
        rgCli_Error("%s: cannot be written: %s", output->path,
                    errno != 0 ? strerror(errno) : "write error");
    }
    if (output->part != NULL && !(good && wanted)) {
        remove(output->part);
    }
    free(output->part);
    free(output->target);
    *output = (rgOutput){0};
    return good;
}
