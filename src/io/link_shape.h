// Shapes of links as URDF and SDF have them: their names, and mesh files.
#pragma once
#include "io/hull_cache.h"
#include "io/load.h"
#include "io/mesh_cache.h"
#include "io/resource.h"

// Name and the index of its owner; sorted for look-up.
typedef struct rgIndexedName {
    const char* name;
    int index;
} rgIndexedName;

void rgSortNames(rgIndexedName* names, int count);
// The first place in a sorted list whose name is not less.
int rgFirstName(const rgIndexedName* names, int count, const char* name);
// Number of occurrences of a name in a sorted list: 0, 1, or 2 for more.
int rgCountName(const rgIndexedName* names, int count, const char* name);
// Index of a name in a sorted list (the least), -1 when it is not there.
int rgFindName(const rgIndexedName* names, int count, const char* name);

// Meshes of one reading of a file.
typedef struct rgLinkMeshes {
    rgXmlReader* xml;
    const rgLoadDef* def;
    rgArena* arena;
    rgMeshCache cache;
    bool warnedVisual; // about a visual mesh that could not be read
    bool notedSkipped; // about meshes that the def leaves out
    rgResult result;   // rg_errorMemory, or rg_ok
} rgLinkMeshes;

// One mesh of a link, and the shape made from it.
typedef struct rgLinkMesh {
    const rgXmlNode* node; // node that remarks refer to
    const char* linkName;
    const char* uri;
    double scale[3];
    const char* submesh; // NULL: all of the file
    bool center;         // the submesh, about the middle of its bounds
    bool isVisual;
    bool isScenery; // the link is fixed to the world, and no base of moving links
    rgShapeKind kind;
    rgMeshData mesh;   // in the arena, or the cache's
    rgHullParts parts; // more than one: they replace the mesh
} rgLinkMesh;

void rgLinkMeshes_Init(rgLinkMeshes* meshes, rgXmlReader* xml, const rgLoadDef* def,
                       rgArena* arena);
void rgLinkMeshes_Free(rgLinkMeshes* meshes);
// Fill kind, mesh and parts. False: left out, after a message.
bool rgLinkMeshes_Read(rgLinkMeshes* meshes, rgLinkMesh* mesh);

// True if an element is <visual> or <collision>.
bool rgIsShapeNode(const rgXmlNode* node);
// Names that the shapes of a link have in the file, sorted. NULL: out of memory.
rgIndexedName* rgShapeNames(rgArena* arena, const rgXmlNode* link, int* count);
// "link/name" when the link has no other shape of that name, otherwise "link/collision0" and so on.
// NULL: out of memory.
const char* rgShapeName(rgArena* arena, const rgXmlNode* node, const char* linkName, int number,
                        const rgIndexedName* names, int nameCount);
// Add the shape, or its parts as "name.0" and so on.
rgResult rgAddShapeParts(rgModelDef* model, rgArena* arena, const rgShapeDef* def,
                         const rgHullParts* parts);
