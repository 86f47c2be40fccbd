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

// Path of a file that is not there yet, by that of its folder; NULL: there is none.
static char* rgResolvePath(const char* path) {
    const char* name = strrchr(path, '/');
    char* folder =
        name == NULL ? rgCli_CopyText(".") : rgCli_Format("%.*s/", (int)(name - path), path);
    char* found = realpath(folder, NULL);
    char* resolved =
        found != NULL ? rgCli_Format("%s/%s", found, name == NULL ? path : name + 1) : NULL;
    free(found);
    free(folder);
    return resolved;
}

bool rgCli_IsSameFile(const char* a, const char* b) {
    struct stat first, second;
    bool isFirst = stat(a, &first) == 0, isSecond = stat(b, &second) == 0;
    if (isFirst || isSecond) {
        return isFirst && isSecond && S_ISREG(first.st_mode) && first.st_dev == second.st_dev &&
               first.st_ino == second.st_ino;
    }
    char* one = rgResolvePath(a);
    char* other = rgResolvePath(b);
    bool same = one != NULL && other != NULL && strcmp(one, other) == 0;
    free(one);
    free(other);
    return same;
}

// Links to devices and pipes lead somewhere; a link to a file, or to none, is refused with a
// message.
static bool rgRefusesLink(const char* path, bool* isLink) {
    struct stat found;
    *isLink = lstat(path, &found) == 0 && S_ISLNK(found.st_mode);
    bool refused = *isLink && (stat(path, &found) != 0 || S_ISREG(found.st_mode));
    if (refused) {
        rgCli_Error("%s: is a link; files are not written through links", path);
    }
    return refused;
}

FILE* rgCli_OpenToWrite(const char* path) {
    bool isLink;
    if (rgRefusesLink(path, &isLink)) {
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
    bool isLink;
    if (rgRefusesLink(path, &isLink)) {
        *output = (rgOutput){0};
        return false;
    }
    if (stat(path, &found) == 0 && !S_ISREG(found.st_mode)) {
        errno = EISDIR;
        output->file = S_ISDIR(found.st_mode) ? NULL : fopen(path, "w");
    } else {
        output->part = rgCli_Format("%s.%ld.part", path, (long)getpid());
        remove(output->part); // of a program with the same number that was killed
        output->file = fopen(output->part, "wx");
    }
    if (output->file == NULL) {
        rgCli_Error("%s: cannot be written: %s", path, strerror(errno));
        free(output->part);
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
        good = rename(output->part, output->path) == 0;
    }
    if (!good) {
        rgCli_Error("%s: cannot be written: %s", output->path,
                    errno != 0 ? strerror(errno) : "write error");
    }
    if (output->part != NULL && !(good && wanted)) {
        remove(output->part);
    }
    free(output->part);
    *output = (rgOutput){0};
    return good;
}
