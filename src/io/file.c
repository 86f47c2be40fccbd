// Files as bytes, and the names of files.
#include "io/file.h"

#include "base/system.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

bool rgFileExists(const char* path) {
    struct stat info;
    return stat(path, &info) == 0 && S_ISREG(info.st_mode);
}

static bool rgIsRegularOrNone(const char* path) {
    struct stat found;
    return lstat(path, &found) != 0 || S_ISREG(found.st_mode);
}

// To a file or to nothing; links to devices and pipes are none of these.
static bool rgIsLinkToFile(const char* path) {
    struct stat found;
    return lstat(path, &found) == 0 && S_ISLNK(found.st_mode) &&
           (stat(path, &found) != 0 || S_ISREG(found.st_mode));
}

bool rgIsPlaceForFile(const char* path, rgDiagnostics* diagnostics) {
    bool good = rgIsRegularOrNone(path);
    if (!good) {
        rgDiagnostics_Add(diagnostics, rg_severityError, path, 0,
                          "cannot be written: it exists and is not a regular file");
    }
    return good;
}

static rgResult rgNewFile_Fail(const rgNewFile* made, rgDiagnostics* diagnostics) {
    rgDiagnostics_Add(diagnostics, rg_severityError, made->path, 0, "cannot be written: %s",
                      strerror(errno));
    return rg_errorFile;
}

rgResult rgNewFile_Open(rgNewFile* made, const char* path, rgDiagnostics* diagnostics) {
    *made = (rgNewFile){.path = path, .allocator = rgResolveAllocator(NULL)};
    if (rgIsLinkToFile(path)) {
        rgDiagnostics_Add(diagnostics, rg_severityError, path, 0,
                          "is a link; files are not written through links");
        return rg_errorFile;
    }
    if (rgIsRegularOrNone(path)) {
        size_t bytes = strlen(path) + 32;
        made->temporary = rgAllocate(&made->allocator, bytes, 1);
        if (made->temporary == NULL) {
            return rg_errorMemory;
        }
        snprintf(made->temporary, bytes, "%s.%ld.part", path, (long)getpid());
    }
    if (made->temporary != NULL) {
        remove(made->temporary); // of a program with the same number that was killed
    }
    made->file = made->temporary != NULL ? fopen(made->temporary, "wbx") : fopen(path, "wb");
    if (made->file == NULL) {
        rgRelease(&made->allocator, made->temporary);
        return rgNewFile_Fail(made, diagnostics);
    }
    return rg_ok;
}

rgResult rgNewFile_Close(rgNewFile* made, bool good, rgDiagnostics* diagnostics) {
    good = fclose(made->file) == 0 && good;
    if (made->temporary != NULL) {
        good = good && rename(made->temporary, made->path) == 0;
        if (!good) {
            int reason = errno;
            remove(made->temporary);
            errno = reason;
        }
        rgRelease(&made->allocator, made->temporary);
    }
    return good ? rg_ok : rgNewFile_Fail(made, diagnostics);
}

// Size of a regular file within the limit, or a remark.
static rgResult rgCheckFile(const char* path, size_t limit, rgDiagnostics* diagnostics,
                            size_t* size) {
    struct stat info;
    if (stat(path, &info) != 0) {
        rgDiagnostics_Add(diagnostics, rg_severityError, path, 0, "cannot open the file: %s",
                          errno == ENOENT ? "it does not exist" : "it cannot be reached");
        return rg_errorFile;
    }
    if (!S_ISREG(info.st_mode)) {
        rgDiagnostics_Add(diagnostics, rg_severityError, path, 0, "is not a regular file");
        return rg_errorFile;
    }
    if (info.st_size < 0 || (uintmax_t)info.st_size > limit) {
        rgDiagnostics_Add(diagnostics, rg_severityError, path, 0,
                          "the file has %jd bytes; at most %zu are read", (intmax_t)info.st_size,
                          limit);
        return rg_errorUnsupported;
    }
    *size = (size_t)info.st_size;
    return rg_ok;
}

// Up to size bytes; the file may have shrunk since its size was taken.
static rgResult rgReadBytes(const char* path, char* bytes, size_t size, size_t* count) {
    FILE* file = fopen(path, "rb");
    if (file == NULL) {
        return rg_errorFile;
    }
    *count = fread(bytes, 1, size, file);
    bool failed = ferror(file) != 0;
    fclose(file);
    return failed ? rg_errorFile : rg_ok;
}

rgResult rgReadFile(const char* path, size_t limit, const rgAllocator* allocator,
                    rgDiagnostics* diagnostics, char** bytes, size_t* count) {
    size_t size = 0;
    rgResult result = rgCheckFile(path, limit, diagnostics, &size);
    if (result != rg_ok) {
        return result;
    }
    char* memory = rgAllocate(allocator, size + 1, 1);
    if (memory == NULL) {
        return rg_errorMemory;
    }
    result = rgReadBytes(path, memory, size, count);
    if (result != rg_ok) {
        rgDiagnostics_Add(diagnostics, rg_severityError, path, 0, "cannot read the file");
        rgRelease(allocator, memory);
        return result;
    }
    *bytes = memory;
    return rg_ok;
}

bool rgIsAbsolutePath(const char* path) {
#ifdef _WIN32 // C:/folder
    return path[0] == '/' || (path[0] != '\0' && path[1] == ':');
#else
    return path[0] == '/';
#endif
}

bool rgPathFolder(const char* path, char out[RG_PATH_LENGTH]) {
    const char* slash = strrchr(path, '/');
    if (slash == NULL) {
        strcpy(out, ".");
        return true;
    }
    size_t length = slash == path ? 1 : (size_t)(slash - path);
    if (length >= RG_PATH_LENGTH) {
        return false;
    }
    memcpy(out, path, length);
    out[length] = '\0';
    return true;
}

bool rgJoinPath(const char* folder, const char* name, char out[RG_PATH_LENGTH]) {
    bool alone = rgIsAbsolutePath(name) || strcmp(folder, ".") == 0 || folder[0] == '\0';
    int length = alone ? snprintf(out, RG_PATH_LENGTH, "%s", name)
                       : snprintf(out, RG_PATH_LENGTH, "%s/%s", folder, name);
    return length >= 0 && length < RG_PATH_LENGTH;
}

void rgPathExtension(const char* path, char out[16]) {
    const char* slash = strrchr(path, '/');
    const char* dot = strrchr(slash != NULL ? slash : path, '.');
    int length = 0;
    for (const char* at = dot != NULL ? dot + 1 : ""; *at != '\0' && length < 15; ++at) {
        out[length++] = (char)(*at >= 'A' && *at <= 'Z' ? *at - 'A' + 'a' : *at);
    }
    out[length] = '\0';
}
