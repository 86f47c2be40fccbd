// Files that the program writes: whole or not at all. Regular files are written beside their place
// and moved there; devices and pipes are written to as they are; "-" is the standard output.
#define _XOPEN_SOURCE 700 // realpath
#include "cli.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

bool rgCli_WouldReplace(const char* out, const char* in) {
    struct stat a, b;
    bool same = out != NULL && strcmp(out, "-") != 0 && stat(out, &a) == 0 && S_ISREG(a.st_mode) &&
                stat(in, &b) == 0 && a.st_dev == b.st_dev && a.st_ino == b.st_ino;
    if (same) {
        rgCli_Error("%s: the output would replace an input file", out);
    }
    return same;
}

FILE* rgCli_OpenToWrite(const char* path) {
    struct stat found;
    bool isLink = lstat(path, &found) == 0 && S_ISLNK(found.st_mode);
    if (isLink && (stat(path, &found) != 0 || S_ISREG(found.st_mode))) {
        rgCli_Error("%s: is a link; files are not written through links", path);
        return NULL;
    }
    int file =
        open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | (isLink ? 0 : O_NOFOLLOW), 0666);
    FILE* opened = file >= 0 ? fdopen(file, "w") : NULL;
    if (opened == NULL) {
        rgCli_Error("%s: %s", path, strerror(errno));
    }
    return opened;
}

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
