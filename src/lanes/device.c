// Devices, and the library that knows those of NVIDIA.
#define _GNU_SOURCE // dladdr
#include "lanes/backend.h"

#include <dlfcn.h>
#include <string.h>
#include <unistd.h>

#define RG_CUDA_LIBRARY "librigor_cuda.so"

// Path of the library in a folder, or in one seen from there; false if there is none.
static bool rgPathIn(const char* file, const char* step, char* path, size_t size) {
    const char* end = strrchr(file, '/');
    int folder = end != NULL ? (int)(end - file) + 1 : 0;
    int length = rgPrint(path, size, "%.*s%s%s", folder, file, step, RG_CUDA_LIBRARY);
    return folder > 0 && length > 0 && (size_t)length < size && access(path, R_OK) == 0;
}

// Path of the library beside the library or program that this code is part of, or in the lib beside
// its folder.
static bool rgPathBeside(char* path, size_t size) {
    Dl_info info;
    static const char here;
    char program[4096];
    ssize_t length = readlink("/proc/self/exe", program, sizeof(program) - 1);
    program[length > 0 ? length : 0] = '\0';
    const char* files[] = {dladdr(&here, &info) != 0 ? info.dli_fname : NULL, program};
    for (int i = 0; i < RG_COUNT(files); ++i) {
        if (files[i] != NULL &&
            (rgPathIn(files[i], "", path, size) || rgPathIn(files[i], "../lib/", path, size))) {
            return true;
        }
    }
    return false;
}

// The table of an opened library, or NULL with the reason.
static const rgCudaTable* rgTableOf(void* library, const char* path, char why[RG_CUDA_WHY_SIZE]) {
    rgCudaTableFcn* table = NULL;
    void* symbol = dlsym(library, RG_CUDA_TABLE_SYMBOL);
    memcpy(&table, &symbol, sizeof(table));
    if (table == NULL || table()->version != RG_CUDA_TABLE_VERSION) {
        rgPrint(why, RG_CUDA_WHY_SIZE, "%s is of another version", path);
        return NULL;
    }
    return table();
}

const rgCudaTable* rgOpenCuda(char why[RG_CUDA_WHY_SIZE]) {
    char beside[4096];
    const char* path = rgPathBeside(beside, sizeof(beside)) ? beside : RG_CUDA_LIBRARY;
    why[0] = '\0';
    void* library = dlopen(path, RTLD_NOW | RTLD_LOCAL); // stays open; the next call finds it so
    if (library == NULL) {
        const char* reason = dlerror();
        rgPrint(why, RG_CUDA_WHY_SIZE, "no " RG_CUDA_LIBRARY ": %s",
                reason != NULL ? reason : path);
        return NULL;
    }
    return rgTableOf(library, path, why);
}

int rgDeviceCount(rgDeviceKind kind, rgDiagnostics* diagnostics) {
    char why[RG_CUDA_WHY_SIZE];
    if (kind == rg_deviceHost) {
        return 1;
    }
    if (kind != rg_deviceCuda) {
        return 0;
    }
    const rgCudaTable* table = rgOpenCuda(why);
    int count = table != NULL ? table->count(why) : 0;
    if (count == 0) {
        rgDiagnostics_Add(diagnostics, rg_severityNote, NULL, 0, "%s", why);
    }
    return count;
}

rgResult rgDeviceAt(rgDeviceKind kind, int index, rgDeviceInfo* info) {
    char why[RG_CUDA_WHY_SIZE];
    if (info == NULL || index < 0 || index >= rgDeviceCount(kind, NULL)) {
        return rg_errorArgument;
    }
    *info = (rgDeviceInfo){.kind = kind, .index = index};
    if (kind == rg_deviceHost) {
        long cores = sysconf(_SC_NPROCESSORS_ONLN);
        long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
        rgPrint(info->name, sizeof(info->name), "this machine");
        info->processorCount = cores > 0 ? (int)cores : 1;
        info->memory = pages > 0 && page > 0 ? (uint64_t)pages * (uint64_t)page : 0;
        return rg_ok;
    }
    return rgOpenCuda(why)->info(index, info);
}

const char* rgDeviceKind_Name(rgDeviceKind kind) {
    static const char* const names[] = {"host", "cuda"};
    return (int)kind >= 0 && (int)kind < RG_COUNT(names) ? names[kind] : "unknown";
}
