// Calls of the operating system for POSIX.
#ifndef _WIN32
#define _GNU_SOURCE // dladdr
#include "base/system.h"

#include "base/base.h"

#include <dlfcn.h>
#include <errno.h>

int rgFillDisk(int file, off_t size) {
#ifdef __APPLE__
    return ftruncate(file, size) == 0 ? 0 : errno;
#else
    return posix_fallocate(file, 0, size);
#endif
}

void* rgOpenLibrary(const char* path, char why[256]) {
    void* library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    const char* reason = library == NULL ? dlerror() : "";
    rgPrint(why, 256, "%s", reason != NULL ? reason : path);
    return library;
}

void* rgLibrarySymbol(void* library, const char* name) {
    return dlsym(library, name);
}

void rgPathOfCode(const void* address, char* path, size_t size) {
    Dl_info info;
    path[0] = '\0';
    if (address == NULL) {
        ssize_t length = readlink("/proc/self/exe", path, size - 1);
        path[length > 0 ? length : 0] = '\0';
    } else if (dladdr(address, &info) != 0 && info.dli_fname != NULL) {
        rgPrint(path, size, "%s", info.dli_fname);
    }
}

int rgCoreCount(void) {
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    return cores > 0 ? (int)cores : 1;
}

uint64_t rgMemorySize(void) {
    long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
    return pages > 0 && page > 0 ? (uint64_t)pages * (uint64_t)page : 0;
}
#else
typedef int rgNotPosix; // a file of C has a declaration
#endif
