// URDF visual and collision elements into shapes.
#include "io/hull_cache.h"
#include "io/urdf.h"

#include <stdio.h>
#include <string.h>

#define RG_CONVEX_DENT 1e-3 // of the mesh's size: dents below this are not worth a warning

// One <visual> or <collision> on its way to a shape.
typedef struct rgUrdfShape {
    const rgUrdfLink* link;
    const rgXmlNode* node;
    bool isVisual;
    int number; // among its kind in the link
    rgMaterial material;
    const rgUrdfName* names; // of all shapes of the link, sorted
    int nameCount;
    rgShapeDef def;
    rgMeshData mesh;
    rgHullParts parts; // more than one: what the mesh becomes
} rgUrdfShape;

// What is only shown may be left out, what collides may not.
static void rgUrdf_RefuseSize(rgUrdf* urdf, const rgUrdfShape* shape, const rgXmlNode* node,
                              const char* name) {
    const char* value = rgXmlNode_Attribute(node, name);
    if (shape->isVisual) {
        rgXmlReader_Warn(&urdf->xml, node, "<%s %s>: '%.60s' is not positive; it is not shown",
                         node->name, name, value);
    } else {
        rgXmlReader_Error(&urdf->xml, node, "<%s %s>: '%.60s' is not positive", node->name, name,
                          value);
    }
}

static bool rgUrdf_Positive(rgUrdf* urdf, const rgUrdfShape* shape, const rgXmlNode* node,
                            const char* name, double* value) {
    if (rgXmlReader_Required(&urdf->xml, node, name) == NULL ||
        !rgXmlReader_Double(&urdf->xml, node, name, value)) {
        return false;
    }
    if (*value <= 0) {
        rgUrdf_RefuseSize(urdf, shape, node, name);
        return false;
    }
    return true;
}

static bool rgUrdf_Box(rgUrdf* urdf, const rgXmlNode* node, rgUrdfShape* shape) {
    static const char* const known[] = {"size", NULL};
    double size[3] = {0};
    rgXmlReader_CheckAttributes(&urdf->xml, node, known);
    if (rgXmlReader_Required(&urdf->xml, node, "size") == NULL ||
        rgXmlReader_Doubles(&urdf->xml, node, "size", size, 3, 3) != 3) {
        return false;
    }
    if (!(size[0] > 0 && size[1] > 0 && size[2] > 0)) {
        rgUrdf_RefuseSize(urdf, shape, node, "size");
        return false;
    }
    shape->def.kind = rg_shapeBox;
    shape->def.size = rgVec(0.5 * size[0], 0.5 * size[1], 0.5 * size[2]);
    return true;
}

static bool rgUrdf_Sphere(rgUrdf* urdf, const rgXmlNode* node, rgUrdfShape* shape) {
    static const char* const known[] = {"radius", NULL};
    rgXmlReader_CheckAttributes(&urdf->xml, node, known);
    shape->def.kind = rg_shapeSphere;
    return rgUrdf_Positive(urdf, shape, node, "radius", &shape->def.size.x);
}

// Cylinder, or capsule, whose length is that of the part between the half spheres.
static bool rgUrdf_Cylinder(rgUrdf* urdf, const rgXmlNode* node, rgUrdfShape* shape) {
    static const char* const known[] = {"radius", "length", NULL};
    double length = 0;
    rgXmlReader_CheckAttributes(&urdf->xml, node, known);
    shape->def.kind = strcmp(node->name, "capsule") == 0 ? rg_shapeCapsule : rg_shapeCylinder;
    bool good = rgUrdf_Positive(urdf, shape, node, "radius", &shape->def.size.x);
    good = rgUrdf_Positive(urdf, shape, node, "length", &length) && good;
    shape->def.size.y = 0.5 * length;
    return good;
}

// Why a mesh's file name leads nowhere.
static void rgUrdf_MissingMesh(rgUrdf* urdf, const rgUrdfShape* shape, const rgXmlNode* node,
                               const char* reason) {
    const char* filename = rgXmlNode_Attribute(node, "filename");
    if (!shape->isVisual) {
        rgXmlReader_Error(&urdf->xml, node, "collision mesh '%.200s' of link '%.60s': %s", filename,
                          shape->link->name, reason);
    } else if (!urdf->warnedVisual) {
        urdf->warnedVisual = true;
        rgXmlReader_Warn(&urdf->xml, node,
                         "visual mesh '%.200s' of link '%.60s' is left out, as are all others that "
                         "cannot be read: %s",
                         filename, shape->link->name, reason);
    }
}

static bool rgUrdf_FindMesh(rgUrdf* urdf, const rgUrdfShape* shape, const rgXmlNode* node,
                            char path[RG_PATH_LENGTH]) {
    const char* filename = rgXmlReader_Required(&urdf->xml, node, "filename");
    if (filename == NULL) {
        return false;
    }
    char reason[RG_PATH_LENGTH + 64] = "";
    switch (rgFindResource(filename, urdf->folder, urdf->def, path)) {
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
    rgUrdf_MissingMesh(urdf, shape, node, reason);
    return false;
}

// Say about a mesh file what its reader said. Remarks about a visual mesh are not passed on.
static void rgUrdf_TellMesh(rgUrdf* urdf, const rgUrdfShape* shape, const rgXmlNode* node,
                            const rgCachedMesh* entry, bool isNew) {
    if (shape->isVisual) {
        if (entry->mesh == NULL) {
            rgUrdf_MissingMesh(urdf, shape, node, rgDiagnostics_Message(entry->remarks, 0).text);
        }
        return;
    }
    for (int i = 0; isNew && i < rgDiagnostics_Count(entry->remarks); ++i) {
        rgMessage message = rgDiagnostics_Message(entry->remarks, i);
        rgXmlNode place = {.file = message.file, .line = message.line};
        if (message.severity == rg_severityWarning) {
            rgXmlReader_Warn(&urdf->xml, &place, "%s", message.text);
        } else if (message.severity == rg_severityNote) {
            rgXmlReader_Note(&urdf->xml, &place, "%s", message.text);
        } else {
            rgXmlReader_Error(&urdf->xml, &place, "%s", message.text);
        }
    }
    if (entry->mesh == NULL) {
        const char* why = rgDiagnostics_Message(entry->remarks, 0).text;
        rgUrdf_MissingMesh(urdf, shape, node, why);
    }
}

// Vertices times scale; a mirrored mesh turns its triangles round.
static bool rgUrdf_ScaleMesh(rgUrdf* urdf, const rgMesh* mesh, const double scale[3],
                             rgMeshData* out) {
    *out = rgMesh_Data(mesh);
    bool mirrored = scale[0] * scale[1] * scale[2] < 0;
    if (scale[0] == 1 && scale[1] == 1 && scale[2] == 1) {
        return true;
    }
    double* vertices = RG_TAKE(&urdf->arena, double, 3 * (size_t)out->vertexCount);
    int* triangles = RG_TAKE(&urdf->arena, int, 3 * (size_t)out->triangleCount);
    if (vertices == NULL || triangles == NULL) {
        urdf->result = rg_errorMemory;
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

static double rgMesh_Size(const rgMeshData* mesh) {
    double size = 0;
    for (int axis = 0; axis < 3; ++axis) {
        double low = INFINITY, high = -INFINITY;
        for (int i = 0; i < mesh->vertexCount; ++i) {
            low = RG_MIN(low, mesh->vertices[3 * (size_t)i + (size_t)axis]);
            high = RG_MAX(high, mesh->vertices[3 * (size_t)i + (size_t)axis]);
        }
        size = RG_MAX(size, high - low);
    }
    return size;
}

// Parts that leave the hollows of a moving mesh open. False: its hull it is.
static bool rgUrdf_FindParts(rgUrdf* urdf, rgUrdfShape* shape, const rgXmlNode* node) {
    char folder[RG_PATH_LENGTH];
    bool kept = rgCacheFolder(urdf->def->cacheFolder, urdf->def->ignoreEnvironment, folder);
    rgResult result = rgFindHullParts(&shape->mesh, kept ? folder : NULL, &urdf->arena,
                                      &urdf->def->allocator, NULL, &shape->parts);
    urdf->result = result == rg_errorMemory ? result : urdf->result;
    if (result != rg_ok || shape->parts.count < 2) {
        return false;
    }
    rgXmlReader_Note(&urdf->xml, node,
                     "collision mesh of link '%.60s' is not convex: %d convex parts stand for it, "
                     "which fill hollows up to %.1f %% of its size",
                     shape->link->name, shape->parts.count, 100 * shape->parts.hollow);
    return true;
}

// What a collision mesh becomes: its hull, or its triangles where they can stay.
static rgShapeKind rgUrdf_CollisionKind(rgUrdf* urdf, rgUrdfShape* shape, const rgXmlNode* node,
                                        const rgMesh* mesh) {
    rgMeshData data = rgMesh_Data(mesh);
    bool convex = data.triangleCount == 0;
    if (!convex) {
        rgResult result = rgMesh_IsConvex(mesh, RG_CONVEX_DENT * rgMesh_Size(&data), &convex);
        urdf->result = result != rg_ok ? result : urdf->result;
    }
    if (convex) {
        return rg_shapeHull;
    }
    if (shape->link->isStatic) {
        rgXmlReader_Note(&urdf->xml, node,
                         "collision mesh of link '%.60s' is not convex: its triangles are used, "
                         "as the link is fixed to the world",
                         shape->link->name);
        return rg_shapeMesh;
    }
    if (!urdf->def->hulls && rgUrdf_FindParts(urdf, shape, node)) {
        return rg_shapeHull;
    }
    rgXmlReader_Warn(&urdf->xml, node,
                     "collision mesh of link '%.60s' is not convex: its convex hull is used",
                     shape->link->name);
    return rg_shapeHull;
}

static bool rgUrdf_SkipsMesh(rgUrdf* urdf, const rgUrdfShape* shape, const rgXmlNode* node) {
    rgMeshUse use = urdf->def->meshes;
    bool skip = use == rg_meshesNone || (use == rg_meshesCollision && shape->isVisual);
    if (skip && !urdf->notedSkippedMesh) {
        urdf->notedSkippedMesh = true;
        rgXmlReader_Note(&urdf->xml, node, "%s meshes are left out, as asked",
                         use == rg_meshesNone ? "all" : "visual");
    }
    return skip;
}

static bool rgUrdf_Mesh(rgUrdf* urdf, const rgXmlNode* node, rgUrdfShape* shape) {
    static const char* const known[] = {"filename", "scale", NULL};
    char path[RG_PATH_LENGTH];
    double scale[3] = {1, 1, 1};
    rgXmlReader_CheckAttributes(&urdf->xml, node, known);
    rgXmlReader_Doubles(&urdf->xml, node, "scale", scale, 3, 3);
    if (scale[0] == 0 || scale[1] == 0 || scale[2] == 0) {
        rgXmlReader_Error(&urdf->xml, node, "<mesh scale>: a scale of 0 flattens the mesh");
        return false;
    }
    if (rgUrdf_SkipsMesh(urdf, shape, node) || !rgUrdf_FindMesh(urdf, shape, node, path)) {
        return false;
    }
    bool isNew = false;
    const rgCachedMesh* entry = rgMeshCache_Load(&urdf->meshes, path, &isNew);
    if (entry == NULL || entry->result == rg_errorMemory) {
        urdf->result = rg_errorMemory;
        return false;
    }
    rgUrdf_TellMesh(urdf, shape, node, entry, isNew);
    if (entry->mesh == NULL || !rgUrdf_ScaleMesh(urdf, entry->mesh, scale, &shape->mesh)) {
        return false;
    }
    if (shape->isVisual) {
        shape->def.kind = shape->mesh.triangleCount > 0 ? rg_shapeMesh : rg_shapeHull;
    } else {
        shape->def.kind = rgUrdf_CollisionKind(urdf, shape, node, entry->mesh);
    }
    shape->def.mesh = &shape->mesh;
    return true;
}

typedef bool rgUrdfGeometryFcn(rgUrdf* urdf, const rgXmlNode* node, rgUrdfShape* shape);
typedef struct rgUrdfGeometry {
    const char* name;
    rgUrdfGeometryFcn* read;
} rgUrdfGeometry;

static const rgUrdfGeometry geometries[] = {
    {"box", rgUrdf_Box},          {"sphere", rgUrdf_Sphere}, {"cylinder", rgUrdf_Cylinder},
    {"capsule", rgUrdf_Cylinder}, {"mesh", rgUrdf_Mesh},
};

static bool rgUrdf_ReadGeometry(rgUrdf* urdf, rgUrdfShape* shape) {
    static const char* const known[] = {"box", "sphere", "cylinder", "capsule", "mesh", NULL};
    const rgXmlNode* geometry = rgXmlReader_RequiredChild(&urdf->xml, shape->node, "geometry");
    if (geometry == NULL) {
        return false;
    }
    rgXmlReader_CheckAttributes(&urdf->xml, geometry, NULL);
    rgXmlReader_CheckChildren(&urdf->xml, geometry, known);
    const rgXmlNode* found = NULL;
    const rgUrdfGeometry* kind = NULL;
    for (const rgXmlNode* child = geometry->firstChild; child != NULL; child = child->next) {
        for (int i = 0; i < RG_COUNT(geometries); ++i) {
            if (strcmp(child->name, geometries[i].name) != 0) {
                continue;
            }
            if (found != NULL) {
                rgXmlReader_Error(&urdf->xml, child,
                                  "<geometry> holds <%s> and <%s>; one is allowed", found->name,
                                  child->name);
                return false;
            }
            found = child;
            kind = &geometries[i];
        }
    }
    if (found == NULL) {
        rgXmlReader_Error(&urdf->xml, geometry,
                          "<geometry> of link '%.60s' holds none of: box, sphere, cylinder, "
                          "capsule, mesh",
                          shape->link->name);
        return false;
    }
    return kind->read(urdf, found, shape);
}

static void rgUrdf_ReadMaterial(rgUrdf* urdf, rgUrdfShape* shape) {
    const rgXmlNode* node = rgXmlNode_Child(shape->node, "material");
    if (node == NULL || rgReadUrdfColor(&urdf->xml, node, shape->def.color)) {
        return;
    }
    const char* name = rgXmlNode_Attribute(node, "name");
    bool anonymous = name == NULL || name[0] == '\0';
    int index = anonymous ? -1 : rgUrdf_Find(urdf->materialNames, urdf->materialCount, name);
    if (index >= 0) {
        rgXmlReader quiet = {0}; // the definition is judged where it stands
        rgReadUrdfColor(&quiet, urdf->materials[index], shape->def.color);
    } else if (!anonymous && rgXmlNode_Child(node, "texture") == NULL) {
        rgXmlReader_Warn(&urdf->xml, node, "the material '%.60s' is defined nowhere: grey is used",
                         name);
    }
}

// Whether a shape's name looks like those that are made here.
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

// "link/name" when the link has no other shape of that name, otherwise "link/collision0" and so on.
// In the arena.
static const char* rgUrdf_ShapeName(rgUrdf* urdf, const rgUrdfShape* shape) {
    const char* given = rgXmlNode_Attribute(shape->node, "name");
    bool named = given != NULL && given[0] != '\0' && !rgIsNumberedName(given) &&
                 rgUrdf_CountName(shape->names, shape->nameCount, given) == 1;
    size_t capacity = strlen(shape->link->name) + (named ? strlen(given) : 0) + 32;
    char* name = rgArena_Take(&urdf->arena, capacity, 1);
    if (name == NULL) {
        urdf->result = rg_errorMemory;
    } else if (named) {
        snprintf(name, capacity, "%s/%s", shape->link->name, given);
    } else {
        snprintf(name, capacity, "%s/%s%d", shape->link->name, shape->node->name, shape->number);
    }
    return name;
}

// The shape, or its parts as "name.0" and so on.
static void rgUrdf_AddParts(rgUrdf* urdf, rgUrdfShape* shape) {
    if (shape->parts.count < 2) {
        urdf->result = rgModelDef_AddShape(urdf->model, &shape->def, NULL);
        return;
    }
    size_t capacity = strlen(shape->def.name) + 16;
    char* name = rgArena_Take(&urdf->arena, capacity, 1);
    urdf->result = name != NULL ? urdf->result : rg_errorMemory;
    rgShapeDef part = shape->def;
    part.name = name;
    for (int i = 0; i < shape->parts.count && urdf->result == rg_ok; ++i) {
        snprintf(name, capacity, "%s.%d", shape->def.name, i);
        part.mesh = &shape->parts.hulls[i];
        urdf->result = rgModelDef_AddShape(urdf->model, &part, NULL);
    }
}

static void rgUrdf_AddShape(rgUrdf* urdf, rgUrdfShape* shape) {
    static const char* const knownAttributes[] = {"name", NULL};
    static const char* const known[] = {"origin", "geometry", "material", NULL};
    shape->def = rgDefaultShapeDef();
    shape->def.body = shape->link->body;
    shape->def.visualOnly = shape->isVisual;
    shape->def.material = shape->material;
    shape->def.source = (rgSource){.file = shape->node->file, .line = shape->node->line};
    rgXmlReader_CheckAttributes(&urdf->xml, shape->node, knownAttributes);
    rgXmlReader_CheckChildren(&urdf->xml, shape->node, known);
    rgCheckUrdfSingle(&urdf->xml, shape->node, known);
    shape->def.pose = rgUrdf_Origin(urdf, shape->node);
    bool good = rgUrdf_ReadGeometry(urdf, shape);
    if (shape->isVisual) {
        rgUrdf_ReadMaterial(urdf, shape);
    }
    shape->def.name = rgUrdf_ShapeName(urdf, shape);
    if (good && urdf->result == rg_ok) {
        rgUrdf_AddParts(urdf, shape);
    }
}

static bool rgIsShapeNode(const rgXmlNode* node) {
    return strcmp(node->name, "visual") == 0 || strcmp(node->name, "collision") == 0;
}

// Names that the shapes of a link have in the file, sorted. NULL: out of memory.
static rgUrdfName* rgUrdf_ShapeNames(rgUrdf* urdf, const rgUrdfLink* link, int* count) {
    *count = 0;
    for (const rgXmlNode* node = link->node->firstChild; node != NULL; node = node->next) {
        *count += rgIsShapeNode(node) && rgXmlNode_Attribute(node, "name") != NULL;
    }
    rgUrdfName* names = RG_TAKE(&urdf->arena, rgUrdfName, RG_MAX(*count, 1));
    if (names == NULL) {
        urdf->result = rg_errorMemory;
        return NULL;
    }
    int i = 0;
    for (const rgXmlNode* node = link->node->firstChild; node != NULL; node = node->next) {
        if (rgIsShapeNode(node) && rgXmlNode_Attribute(node, "name") != NULL) {
            names[i] = (rgUrdfName){.name = rgXmlNode_Attribute(node, "name"), .index = i};
            ++i;
        }
    }
    rgUrdf_SortNames(names, *count);
    return names;
}

void rgUrdf_AddShapes(rgUrdf* urdf, const rgUrdfLink* link) {
    rgArenaMark linkMark = rgArena_Mark(&urdf->arena);
    rgUrdfShape common = {.link = link, .material = rgUrdf_ContactMaterial(urdf, link)};
    common.names = rgUrdf_ShapeNames(urdf, link, &common.nameCount);
    int numbers[2] = {0, 0};
    for (const rgXmlNode* node = link->node->firstChild; node != NULL && urdf->result == rg_ok;
         node = node->next) {
        if (rgIsShapeNode(node)) {
            rgArenaMark mark = rgArena_Mark(&urdf->arena);
            rgUrdfShape shape = common;
            shape.node = node;
            shape.isVisual = strcmp(node->name, "visual") == 0;
            shape.number = numbers[shape.isVisual]++;
            rgUrdf_AddShape(urdf, &shape);
            rgArena_Return(&urdf->arena, mark);
        }
    }
    rgArena_Return(&urdf->arena, linkMark);
}
