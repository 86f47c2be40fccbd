// Meshes of one description: each file is read once.
#include "io/mesh_cache.h"

#include <string.h>

void rgMeshCache_Init(rgMeshCache* cache, const rgAllocator* allocator) {
    *cache = (rgMeshCache){.allocator = rgResolveAllocator(allocator)};
}

void rgMeshCache_Free(rgMeshCache* cache) {
    for (int i = 0; i < cache->count; ++i) {
        rgRelease(&cache->allocator, cache->entries[i].path);
        rgDestroyMesh(cache->entries[i].mesh);
        rgDestroyDiagnostics(cache->entries[i].remarks);
    }
    rgRelease(&cache->allocator, cache->entries);
    *cache = (rgMeshCache){.allocator = cache->allocator};
}

const rgCachedMesh* rgMeshCache_Load(rgMeshCache* cache, const char* path, bool* isNew) {
    *isNew = false;
    for (int i = 0; i < cache->count; ++i) {
        if (strcmp(cache->entries[i].path, path) == 0) {
            return &cache->entries[i];
        }
    }
    if (rgReserve(&cache->allocator, (void**)&cache->entries, &cache->capacity, cache->count,
                  cache->count + 1, sizeof(rgCachedMesh)) != rg_ok) {
        return NULL;
    }
    rgCachedMesh entry = {.path = rgCopyString(&cache->allocator, path)};
    if (entry.path == NULL || rgCreateDiagnostics(&cache->allocator, &entry.remarks) != rg_ok) {
        rgRelease(&cache->allocator, entry.path);
        return NULL;
    }
    entry.result = rgLoadMesh(path, &cache->allocator, entry.remarks, &entry.mesh);
    cache->entries[cache->count] = entry;
    *isNew = true;
    return &cache->entries[cache->count++];
}
