// Shapes of links as URDF and SDF have them: their names, and mesh files.
#include "io/link_shape.h"

#include "io/mesh.h"
#include "io/sheet.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RG_CONVEX_DEPTH_RATIO                                                                      \
    1e-3 // least depth of a dent that gives a warning, per size of the mesh

static int rgCompareNames(const void* a, const void* b) {
    const rgIndexedName* x = a;
    const rgIndexedName* y = b;
    int order = strcmp(x->name, y->name);
    return order != 0 ? order : (x->index > y->index) - (x->index < y->index);
}

void rgSortNames(rgIndexedName* names, int count) {
    qsort(names, (size_t)count, sizeof(rgIndexedName), rgCompareNames);
}

int rgFirstName(const rgIndexedName* names, int count, const char* name) {
    int low = 0, high = count;
    while (low < high) {
        int middle = low + (high - low) / 2;
        if (strcmp(names[middle].name, name) < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

int rgCountName(const rgIndexedName* names, int count, const char* name) {
    int found = 0;
    for (int i = rgFirstName(names, count, name); i < count && found < 2; ++i) {
        if (strcmp(names[i].name, name) != 0) {
            break;
        }
        ++found;
    }
    return found;
}

int rgFindName(const rgIndexedName* names, int count, const char* name) {
    int place = rgFirstName(names, count, name);
    return place < count && strcmp(names[place].name, name) == 0 ? names[place].index : -1;
}

void rgLinkMeshes_Init(rgLinkMeshes* meshes, rgXmlReader* xml, const rgLoadDef* def,
                       rgArena* arena) {
    *meshes = (rgLinkMeshes){.xml = xml, .def = def, .arena = arena};
    rgMeshCache_Init(&meshes->cache, &def->allocator);
}

void rgLinkMeshes_Free(rgLinkMeshes* meshes) {
    rgMeshCache_Free(&meshes->cache);
}

// Why a mesh's file name leads nowhere.
static void rgLinkMeshes_Missing(rgLinkMeshes* meshes, const rgLinkMesh* mesh, const char* reason) {
    if (!mesh->isVisual) {
        rgXmlReader_Error(meshes->xml, mesh->node, "collision mesh '%.200s' of link '%.60s': %s",
                          mesh->uri, mesh->linkName, reason);
    } else if (!meshes->warnedVisual) {
        meshes->warnedVisual = true;
        rgXmlReader_Warn(meshes->xml, mesh->node,
                         "visual mesh '%.200s' of link '%.60s' is left out, as are all others that "
                         "cannot be read: %s",
                         mesh->uri, mesh->linkName, reason);
    }
}

static bool rgLinkMeshes_Find(rgLinkMeshes* meshes, const rgLinkMesh* mesh,
                              char path[RG_PATH_LENGTH]) {
    char reason[RG_PATH_LENGTH + 64] = "";
    char folder[RG_PATH_LENGTH];
    const char* file = mesh->node->file != NULL ? mesh->node->file : "";
    rgResourceStatus status = rgPathFolder(file, folder)
                                  ? rgFindResource(mesh->uri, folder, meshes->def, path)
                                  : rg_resourceTooLong;
    switch (status) {
    case rg_resourceFound:
        return true;
    case rg_resourceMissing:
        snprintf(reason, sizeof(reason), "there is no file '%.300s'", path);
        break;
    case rg_resourceNoPackage:
        snprintf(reason, sizeof(reason),
                 "it is in none of the package folders; name the folder that holds the package "
                 "with --package-dir or in ROS_PACKAGE_PATH");
        break;
    case rg_resourceRemote:
        snprintf(reason, sizeof(reason), "only package:// and file:// are followed");
        break;
    case rg_resourceTooLong:
        snprintf(reason, sizeof(reason), "the path is too long");
        break;
    }
    rgLinkMeshes_Missing(meshes, mesh, reason);
    return false;
}

// Report a mesh reader's remarks about its file. Remarks about a visual mesh are left out.
static void rgLinkMeshes_Report(rgLinkMeshes* meshes, const rgLinkMesh* mesh,
                                const rgCachedMesh* entry, bool isNew) {
    if (mesh->isVisual) {
        if (entry->mesh == NULL) {
            rgLinkMeshes_Missing(meshes, mesh, rgDiagnostics_Message(entry->remarks, 0).text);
        }
        return;
    }
    for (int i = 0; isNew && i < rgDiagnostics_Count(entry->remarks); ++i) {
        rgMessage message = rgDiagnostics_Message(entry->remarks, i);
        rgXmlNode place = {.file = message.file, .line = message.line};
        if (message.severity == rg_severityWarning) {
            rgXmlReader_Warn(meshes->xml, &place, "%s", message.text);
        } else if (message.severity == rg_severityNote) {
            rgXmlReader_Note(meshes->xml, &place, "%s", message.text);
        } else {
            rgXmlReader_Error(meshes->xml, &place, "%s", message.text);
        }
    }
    if (entry->mesh == NULL) {
        rgLinkMeshes_Missing(meshes, mesh, rgDiagnostics_Message(entry->remarks, 0).text);
    }
}

// Bounds of the vertices; the largest side.
static double rgMeshBounds(const rgMeshData* mesh, double low[3], double high[3]) {
    double size = 0;
    for (int axis = 0; axis < 3; ++axis) {
        low[axis] = INFINITY;
        high[axis] = -INFINITY;
        for (int i = 0; i < mesh->vertexCount; ++i) {
            low[axis] = RG_MIN(low[axis], mesh->vertices[3 * (size_t)i + (size_t)axis]);
            high[axis] = RG_MAX(high[axis], mesh->vertices[3 * (size_t)i + (size_t)axis]);
        }
        size = RG_MAX(size, high[axis] - low[axis]);
    }
    return size;
}

// The triangles of all parts of that name; of none when there is no such part.
static int rgCopyPart(const rgMesh* mesh, const char* name, int* triangles) {
    rgMeshData data = rgMesh_Data(mesh);
    int count = 0;
    for (int i = 0; i < rgMesh_PartCount(mesh); ++i) {
        rgMeshPart part = rgMesh_Part(mesh, i);
        if (strcmp(part.name, name) == 0) {
            memcpy(triangles + 3 * (size_t)count, data.triangles + 3 * (size_t)part.firstTriangle,
                   3 * (size_t)part.triangleCount * sizeof(int));
            count += part.triangleCount;
        }
    }
    return count;
}

// Keep the vertices that the triangles use, in their order.
static void rgDropUnusedVertices(rgMesh* mesh, int* places) {
    for (int i = 0; i < mesh->vertexCount; ++i) {
        places[i] = -1;
    }
    for (size_t i = 0; i < 3 * (size_t)mesh->triangleCount; ++i) {
        places[mesh->triangles[i]] = 0;
    }
    int count = 0;
    for (int i = 0; i < mesh->vertexCount; ++i) {
        if (places[i] == 0) {
            memmove(mesh->vertices + 3 * (size_t)count, mesh->vertices + 3 * (size_t)i,
                    3 * sizeof(double));
            places[i] = count++;
        }
    }
    for (size_t i = 0; i < 3 * (size_t)mesh->triangleCount; ++i) {
        mesh->triangles[i] = places[mesh->triangles[i]];
    }
    mesh->vertexCount = count;
}

// One part of a file as a mesh of its own, in the arena.
static bool rgLinkMeshes_Submesh(rgLinkMeshes* meshes, const rgLinkMesh* mesh, const rgMesh* whole,
                                 rgMesh* part) {
    rgMeshData data = rgMesh_Data(whole);
    *part = (rgMesh){.vertexCount = data.vertexCount};
    part->vertices = RG_TAKE(meshes->arena, double, 3 * (size_t)data.vertexCount);
    part->triangles = RG_TAKE(meshes->arena, int, 3 * (size_t)RG_MAX(data.triangleCount, 1));
    int* places = RG_TAKE(meshes->arena, int, data.vertexCount);
    if (part->vertices == NULL || part->triangles == NULL || places == NULL) {
        meshes->result = rg_errorMemory;
        return false;
    }
    memcpy(part->vertices, data.vertices, 3 * (size_t)data.vertexCount * sizeof(double));
    part->triangleCount = rgCopyPart(whole, mesh->submesh, part->triangles);
    if (part->triangleCount == 0) {
        rgXmlReader_Error(meshes->xml, mesh->node, "the mesh '%.200s' has no part '%.60s'",
                          mesh->uri, mesh->submesh);
        return false;
    }
    rgDropUnusedVertices(part, places);
    if (mesh->center) {
        double low[3], high[3];
        rgMeshData kept = rgMesh_Data(part);
        rgMeshBounds(&kept, low, high);
        for (size_t i = 0; i < 3 * (size_t)part->vertexCount; ++i) {
            part->vertices[i] -= 0.5 * (low[i % 3] + high[i % 3]);
        }
    }
    return true;
}

// Vertices times scale; a mirrored mesh turns its triangles round.
static bool rgLinkMeshes_Scale(rgLinkMeshes* meshes, const rgMesh* mesh, const double scale[3],
                               rgMeshData* out) {
    *out = rgMesh_Data(mesh);
    bool mirrored = scale[0] * scale[1] * scale[2] < 0;
    if (scale[0] == 1 && scale[1] == 1 && scale[2] == 1) {
        return true;
    }
    double* vertices = RG_TAKE(meshes->arena, double, 3 * (size_t)out->vertexCount);
    int* triangles = RG_TAKE(meshes->arena, int, 3 * (size_t)out->triangleCount);
    if (vertices == NULL || triangles == NULL) {
        meshes->result = rg_errorMemory;
        return false;
    }
    for (size_t i = 0; i < 3 * (size_t)out->vertexCount; ++i) {
        vertices[i] = scale[i % 3] * out->vertices[i];
    }
    for (size_t i = 0; i < 3 * (size_t)out->triangleCount; ++i) {
        size_t corner = i % 3;
        triangles[i] = out->triangles[mirrored ? i - corner + (3 - corner) % 3 : i];
    }
    out->vertices = vertices;
    out->triangles = triangles;
    return true;
}

// Parts that leave the hollows of a moving mesh open. False: its hull it is.
static bool rgLinkMeshes_FindParts(rgLinkMeshes* meshes, rgLinkMesh* mesh) {
    rgResult result = rgFindHullParts(&mesh->mesh, meshes->def, meshes->arena, &mesh->parts);
    meshes->result = result == rg_errorMemory ? result : meshes->result;
    if (result != rg_ok || mesh->parts.count < 2) {
        return false;
    }
    rgXmlReader_Note(meshes->xml, mesh->node,
                     "collision mesh of link '%.60s' is not convex: %d convex parts are used, "
                     "which fill hollows up to %.1f %% of its size",
                     mesh->linkName, mesh->parts.count, 100 * mesh->parts.hollow);
    return true;
}

// Shape of a collision mesh: its hull, or its triangles on bodies that allow them.
static rgShapeKind rgLinkMeshes_CollisionKind(rgLinkMeshes* meshes, rgLinkMesh* mesh,
                                              const rgMesh* source) {
    double low[3], high[3];
    rgMeshData data = rgMesh_Data(source);
    bool convex = data.triangleCount == 0;
    if (!convex) {
        double size = rgMeshBounds(&data, low, high);
        rgResult result = rgMesh_IsConvex(source, RG_CONVEX_DEPTH_RATIO * size, &convex);
        meshes->result = result != rg_ok ? result : meshes->result;
    }
    if (convex) {
        return rg_shapeHull;
    }
    if (mesh->isScenery) {
        rgXmlReader_Note(meshes->xml, mesh->node,
                         "collision mesh of link '%.60s' is not convex: its triangles are used, "
                         "because the link is fixed to the world and is not the base of a robot",
                         mesh->linkName);
        if (meshes->def->sheetThickness > 0 && meshes->result == rg_ok) {
            meshes->result = rgMakeSheet(meshes->arena, meshes->def->sheetThickness, &mesh->mesh);
        }
        return rg_shapeMesh;
    }
    if (!meshes->def->hulls && rgLinkMeshes_FindParts(meshes, mesh)) {
        return rg_shapeHull;
    }
    rgXmlReader_Warn(meshes->xml, mesh->node,
                     "collision mesh of link '%.60s' is not convex: its convex hull is used",
                     mesh->linkName);
    return rg_shapeHull;
}

static bool rgLinkMeshes_Skips(rgLinkMeshes* meshes, const rgLinkMesh* mesh) {
    rgMeshUse use = meshes->def->meshes;
    bool skip = use == rg_meshesNone || (use == rg_meshesCollision && mesh->isVisual);
    if (skip && !meshes->notedSkipped) {
        meshes->notedSkipped = true;
        rgXmlReader_Note(meshes->xml, mesh->node, "%s meshes are left out, as requested",
                         use == rg_meshesNone ? "all" : "visual");
    }
    return skip;
}

bool rgLinkMeshes_Read(rgLinkMeshes* meshes, rgLinkMesh* mesh) {
    char path[RG_PATH_LENGTH];
    if (mesh->scale[0] == 0 || mesh->scale[1] == 0 || mesh->scale[2] == 0) {
        rgXmlReader_Error(meshes->xml, mesh->node, "<mesh scale>: a scale of 0 flattens the mesh");
        return false;
    }
    if (rgLinkMeshes_Skips(meshes, mesh) || !rgLinkMeshes_Find(meshes, mesh, path)) {
        return false;
    }
    bool isNew = false;
    const rgCachedMesh* entry = rgMeshCache_Load(&meshes->cache, path, &isNew);
    if (entry == NULL || entry->result == rg_errorMemory) {
        meshes->result = rg_errorMemory;
        return false;
    }
    rgLinkMeshes_Report(meshes, mesh, entry, isNew);
    rgMesh part;
    const rgMesh* source = entry->mesh;
    if (source != NULL && mesh->submesh != NULL) {
        source = rgLinkMeshes_Submesh(meshes, mesh, source, &part) ? &part : NULL;
    }
    if (source == NULL || !rgLinkMeshes_Scale(meshes, source, mesh->scale, &mesh->mesh)) {
        return false;
    }
    if (mesh->isVisual) {
        mesh->kind = mesh->mesh.triangleCount > 0 ? rg_shapeMesh : rg_shapeHull;
    } else {
        mesh->kind = rgLinkMeshes_CollisionKind(meshes, mesh, source);
    }
    return true;
}

bool rgIsShapeNode(const rgXmlNode* node) {
    return strcmp(node->name, "visual") == 0 || strcmp(node->name, "collision") == 0;
}

rgIndexedName* rgShapeNames(rgArena* arena, const rgXmlNode* link, int* count) {
    *count = 0;
    for (const rgXmlNode* node = link->firstChild; node != NULL; node = node->next) {
        *count += rgIsShapeNode(node) && rgXmlNode_Attribute(node, "name") != NULL;
    }
    rgIndexedName* names = RG_TAKE(arena, rgIndexedName, RG_MAX(*count, 1));
    if (names == NULL) {
        return NULL;
    }
    int i = 0;
    for (const rgXmlNode* node = link->firstChild; node != NULL; node = node->next) {
        if (rgIsShapeNode(node) && rgXmlNode_Attribute(node, "name") != NULL) {
            names[i] = (rgIndexedName){.name = rgXmlNode_Attribute(node, "name"), .index = i};
            ++i;
        }
    }
    rgSortNames(names, *count);
    return names;
}

// True if a shape's name looks like those that are made here.
static bool rgIsNumberedName(const char* name) {
    static const char* const stems[] = {"collision", "visual"};
    for (int i = 0; i < 2; ++i) {
        size_t length = strlen(stems[i]);
        if (strncmp(name, stems[i], length) == 0 && name[length] >= '0' && name[length] <= '9') {
            return true;
        }
    }
    return false;
}

const char* rgShapeName(rgArena* arena, const rgXmlNode* node, const char* linkName, int number,
                        const rgIndexedName* names, int nameCount) {
    const char* given = rgXmlNode_Attribute(node, "name");
    bool named = given != NULL && given[0] != '\0' && !rgIsNumberedName(given) &&
                 rgCountName(names, nameCount, given) == 1;
    size_t capacity = strlen(linkName) + (named ? strlen(given) : 0) + 32;
    char* name = rgArena_Take(arena, capacity, 1);
    if (name != NULL && named) {
        snprintf(name, capacity, "%s/%s", linkName, given);
    } else if (name != NULL) {
        snprintf(name, capacity, "%s/%s%d", linkName, node->name, number);
    }
    return name;
}

rgResult rgAddShapeParts(rgModelDef* model, rgArena* arena, const rgShapeDef* def,
                         const rgHullParts* parts) {
    if (parts->count < 2) {
        return rgModelDef_AddShape(model, def, NULL);
    }
    size_t capacity = strlen(def->name) + 16;
    char* name = rgArena_Take(arena, capacity, 1);
    rgResult result = name != NULL ? rg_ok : rg_errorMemory;
    rgShapeDef part = *def;
    part.name = name;
    for (int i = 0; i < parts->count && result == rg_ok; ++i) {
        snprintf(name, capacity, "%s.%d", def->name, i);
        part.mesh = &parts->hulls[i];
        result = rgModelDef_AddShape(model, &part, NULL);
    }
    return result;
}
