// Meshes of one description: each file is read once, however many shapes use it.
#pragma once
#include "io/mesh.h"

typedef struct rgCachedMesh {
    char* path;
    rgMesh* mesh; // NULL when it could not be read
    rgResult result;
    rgDiagnostics* remarks; // messages of the reader
} rgCachedMesh;

typedef struct rgMeshCache {
    rgAllocator allocator;
    rgCachedMesh* entries;
    int count, capacity;
} rgMeshCache;

void rgMeshCache_Init(rgMeshCache* cache, const rgAllocator* allocator);
void rgMeshCache_Free(rgMeshCache* cache);
// The entry of this file, read if it is new (*isNew). NULL: out of memory.
const rgCachedMesh* rgMeshCache_Load(rgMeshCache* cache, const char* path, bool* isNew);
