#include "io/hull_cache.h"

#include "base/system.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RG_CACHE_LIMIT   ((size_t)256 << 20)
#define RG_CACHE_VERSION 2 // version of the file and of the algorithm

// Head of a file; then the numbers of points, the points, and the hash of all that.
typedef struct rgCacheHead {
    char magic[8];
    uint32_t version, hullCount;
    uint64_t pointCount;
    uint64_t key[2];
    double hollow;
} rgCacheHead;

bool rgCacheFolder(const char* folder, bool ignoreEnvironment, char out[RG_PATH_LENGTH]) {
    if (folder != NULL) {
        return folder[0] != '\0' && snprintf(out, RG_PATH_LENGTH, "%s", folder) < RG_PATH_LENGTH;
    }
    const char* cache = ignoreEnvironment ? NULL : getenv("XDG_CACHE_HOME");
    const char* home = ignoreEnvironment ? NULL : getenv("HOME");
    if (cache != NULL && cache[0] == '/') {
        return snprintf(out, RG_PATH_LENGTH, "%s/rigor", cache) < RG_PATH_LENGTH;
    }
    return home != NULL && home[0] == '/' &&
           snprintf(out, RG_PATH_LENGTH, "%s/.cache/rigor", home) < RG_PATH_LENGTH;
}

static void rgCacheKey(const rgMeshData* mesh, const rgDecomposeDef* def, uint64_t key[2]) {
    for (int k = 0; k < 2; ++k) {
        const double how[2] = {def->tolerance, def->maxHulls};
        uint64_t h = RG_CACHE_VERSION + 0x9e3779b97f4a7c15u * (uint64_t)(k + 1);
        h = rgHashBytes(mesh->vertices, 3 * sizeof(double) * (size_t)mesh->vertexCount, h);
        h = rgHashBytes(mesh->triangles, 3 * sizeof(int) * (size_t)mesh->triangleCount, h);
        key[k] = rgHashBytes(how, sizeof(how), h);
    }
}

static bool rgCachePath(const char* folder, const uint64_t key[2], char out[RG_PATH_LENGTH]) {
    return snprintf(out, RG_PATH_LENGTH, "%s/%016llx%016llx.hulls", folder,
                    (unsigned long long)key[0], (unsigned long long)key[1]) < RG_PATH_LENGTH;
}

static bool rgAllocateParts(rgArena* arena, int count, rgHullParts* parts) {
    parts->count = count;
    parts->hulls = RG_TAKE(arena, rgMeshData, count);
    return parts->hulls != NULL;
}

// Check the whole file: sizes, key, hash, numbers.
static bool rgCheckHead(const char* bytes, size_t size, const uint64_t key[2], rgCacheHead* head) {
    uint64_t hash = 0;
    if (size < sizeof(rgCacheHead) + sizeof(hash)) {
        return false;
    }
    memcpy(head, bytes, sizeof(*head));
    memcpy(&hash, bytes + size - sizeof(hash), sizeof(hash));
    size_t expected = sizeof(*head) + head->hullCount * sizeof(uint32_t) +
                      3 * sizeof(double) * (size_t)head->pointCount + sizeof(hash);
    return memcmp(head->magic, "rigorhul", 8) == 0 && head->version == RG_CACHE_VERSION &&
           head->hullCount >= 1 && head->hullCount <= RG_DECOMPOSE_LIMIT &&
           head->pointCount <= RG_CACHE_LIMIT / 24 && head->key[0] == key[0] &&
           head->key[1] == key[1] && size == expected && isfinite(head->hollow) &&
           hash == rgHashBytes(bytes, size - sizeof(hash), RG_CACHE_VERSION);
}

static bool rgReadParts(const char* bytes, const rgCacheHead* head, rgArena* arena,
                        rgHullParts* parts) {
    double* points = RG_TAKE(arena, double, 3 * (size_t)head->pointCount);
    if (points == NULL || !rgAllocateParts(arena, (int)head->hullCount, parts)) {
        return false;
    }
    const char* counts = bytes + sizeof(*head);
    size_t at = 0;
    memcpy(points, counts + head->hullCount * sizeof(uint32_t),
           3 * sizeof(double) * (size_t)head->pointCount);
    for (int i = 0; i < parts->count; ++i) {
        uint32_t count;
        memcpy(&count, counts + (size_t)i * sizeof(count), sizeof(count));
        if (count < 4 || count > head->pointCount - at) {
            return false;
        }
        parts->hulls[i] = (rgMeshData){.vertexCount = (int)count, .vertices = points + 3 * at};
        at += count;
    }
    parts->hollow = head->hollow;
    return at == head->pointCount;
}

static bool rgLoadParts(const char* path, const uint64_t key[2], rgArena* arena,
                        const rgAllocator* allocator, rgHullParts* parts) {
    char* bytes = NULL;
    size_t size = 0;
    if (!rgFileExists(path) ||
        rgReadFile(path, RG_CACHE_LIMIT, allocator, NULL, &bytes, &size) != rg_ok) {
        return false;
    }
    rgCacheHead head;
    rgArenaMark mark = rgArena_Mark(arena);
    bool good = rgCheckHead(bytes, size, key, &head) && rgReadParts(bytes, &head, arena, parts);
    if (!good) {
        rgArena_Return(arena, mark);
    }
    rgRelease(allocator, bytes);
    return good;
}

// The folder and the one above it.
static void rgMakeFolders(const char* folder) {
    char above[RG_PATH_LENGTH];
    if (rgPathFolder(folder, above)) {
        mkdir(above, 0777);
    }
    mkdir(folder, 0777);
}

// Under another name first: a reader never sees half a file.
static void rgStoreParts(const char* folder, const char* path, const uint64_t key[2],
                         const rgAllocator* allocator, const rgHullParts* parts) {
    rgCacheHead head = {.magic = {'r', 'i', 'g', 'o', 'r', 'h', 'u', 'l'},
                        .version = RG_CACHE_VERSION,
                        .hullCount = (uint32_t)parts->count,
                        .key = {key[0], key[1]},
                        .hollow = parts->hollow};
    for (int i = 0; i < parts->count; ++i) {
        head.pointCount += (uint64_t)parts->hulls[i].vertexCount;
    }
    size_t size = sizeof(head) + head.hullCount * sizeof(uint32_t) +
                  3 * sizeof(double) * (size_t)head.pointCount;
    char* bytes = rgAllocate(allocator, size + sizeof(uint64_t), 1);
    char temporary[RG_PATH_LENGTH];
    if (bytes == NULL ||
        snprintf(temporary, RG_PATH_LENGTH, "%s.%ld", path, (long)getpid()) >= RG_PATH_LENGTH) {
        rgRelease(allocator, bytes);
        return;
    }
    char* to = bytes;
    memcpy(to, &head, sizeof(head));
    to += sizeof(head);
    for (int i = 0; i < parts->count; ++i) {
        uint32_t count = (uint32_t)parts->hulls[i].vertexCount;
        memcpy(to, &count, sizeof(count));
        to += sizeof(count);
    }
    for (int i = 0; i < parts->count; ++i) {
        size_t part = 3 * sizeof(double) * (size_t)parts->hulls[i].vertexCount;
        memcpy(to, parts->hulls[i].vertices, part);
        to += part;
    }
    uint64_t hash = rgHashBytes(bytes, size, RG_CACHE_VERSION);
    memcpy(to, &hash, sizeof(hash));
    rgMakeFolders(folder);
    FILE* file = fopen(temporary, "wb");
    bool written =
        file != NULL && fwrite(bytes, 1, size + sizeof(hash), file) == size + sizeof(hash);
    written = file != NULL && fclose(file) == 0 && written;
    if (file != NULL && (!written || rename(temporary, path) != 0)) {
        remove(temporary);
    }
    rgRelease(allocator, bytes);
}

static rgResult rgCopyParts(const rgDecomposition* d, rgArena* arena, rgHullParts* parts) {
    if (!rgAllocateParts(arena, rgDecomposition_Count(d), parts)) {
        return rg_errorMemory;
    }
    parts->hollow = rgDecomposition_Hollow(d);
    for (int i = 0; i < parts->count; ++i) {
        rgHullView view = rgDecomposition_Hull(d, i);
        double* points = RG_TAKE(arena, double, 3 * (size_t)view.vertexCount);
        if (points == NULL) {
            return rg_errorMemory;
        }
        memcpy(points, view.vertices, 3 * sizeof(double) * (size_t)view.vertexCount);
        parts->hulls[i] = (rgMeshData){.vertexCount = view.vertexCount, .vertices = points};
    }
    return rg_ok;
}

rgResult rgFindHullParts(const rgMeshData* mesh, const rgLoadDef* load, rgArena* arena,
                         rgHullParts* parts) {
    rgDecomposeDef def = rgDefaultDecomposeDef();
    const rgAllocator* allocator = &load->allocator;
    def.allocator = *allocator;
    uint64_t key[2];
    char path[RG_PATH_LENGTH], folder[RG_PATH_LENGTH];
    rgCacheKey(mesh, &def, key);
    *parts = (rgHullParts){0};
    bool kept = rgCacheFolder(load->cacheFolder, load->ignoreEnvironment, folder) &&
                rgCachePath(folder, key, path);
    if (kept && rgLoadParts(path, key, arena, allocator, parts)) {
        parts->cached = true;
        return rg_ok;
    }
    if (load->onSplit != NULL) {
        load->onSplit(load->onSplitContext, mesh->triangleCount);
    }
    rgDecomposition* d = NULL;
    rgResult result = rgDecomposeMesh(mesh, &def, NULL, &d);
    if (result == rg_ok) {
        result = rgCopyParts(d, arena, parts);
    }
    // One hull of a mesh that is no solid is found again at once, with its warning.
    if (result == rg_ok && kept && parts->count > 1) {
        rgStoreParts(folder, path, key, allocator, parts);
    }
    rgDestroyDecomposition(d);
    return result;
}
