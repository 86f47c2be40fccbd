// Devices, and the library that knows those of NVIDIA.
#include "base/system.h"
#include "lanes/backend.h"

#include <string.h>

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
    static const char here;
    char file[4096];
    for (int i = 0; i < 2; ++i) {
        rgPathOfCode(i == 0 ? &here : NULL, file, sizeof(file));
        if (rgPathIn(file, "", path, size) || rgPathIn(file, "../lib/", path, size)) {
            return true;
        }
    }
    return false;
}

// The table of an opened library, or NULL with the reason.
static const rgCudaTable* rgTableOf(void* library, const char* path, char why[RG_CUDA_WHY_SIZE]) {
    rgCudaTableFcn* table = NULL;
    void* symbol = rgLibrarySymbol(library, RG_CUDA_TABLE_SYMBOL);
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
    char reason[256];
    why[0] = '\0';
    void* library = rgOpenLibrary(path, reason); // the next call finds it open
    if (library == NULL) {
        rgPrint(why, RG_CUDA_WHY_SIZE, "no " RG_CUDA_LIBRARY ": %s", reason);
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
        rgPrint(info->name, sizeof(info->name), "this machine");
        info->processorCount = rgCoreCount();
        info->memory = rgMemorySize();
        return rg_ok;
    }
    return rgOpenCuda(why)->info(index, info);
}

const char* rgDeviceKind_Name(rgDeviceKind kind) {
    static const char* const names[] = {"host", "cuda"};
    return (int)kind >= 0 && (int)kind < RG_COUNT(names) ? names[kind] : "unknown";
}
