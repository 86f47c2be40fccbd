// Convex parts of a mesh, computed once: they are kept in a folder of the user's, under the hash of
// the mesh and of how it was decomposed.
#pragma once
#include "io/file.h"
#include "rigor/collision.h"
#include "rigor/io.h"

// Hulls of a mesh: points of each hull, in the arena.
typedef struct rgHullParts {
    int count;
    rgMeshData* hulls;
    double hollow; // share of the size
    bool cached;   // read from the folder
} rgHullParts;

// Folder of cached parts: `folder` itself, or $XDG_CACHE_HOME/rigor, or ~/.cache/rigor. False: no
// cache.
bool rgCacheFolder(const char* folder, bool ignoreEnvironment, char out[RG_PATH_LENGTH]);
// Convex parts of a mesh, cached in the folder of the load def. Damaged files are computed anew;
// files that cannot be written are skipped.
rgResult rgFindHullParts(const rgMeshData* mesh, const rgLoadDef* load, rgArena* arena,
                         rgHullParts* parts);
