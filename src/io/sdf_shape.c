// SDF collisions and visuals into shapes.
#include "io/png.h"
#include "io/sdf.h"
#include "rigor/inertia.h"

#include <math.h>
#include <string.h>

#define RG_SDF_DENSITY   1000.0 // [kg/m^3] of solids without one
#define RG_SDF_FIELD_MAX ((size_t)100000000)

// One <visual> or <collision> on its way to a shape.
typedef struct rgSdfShape {
    const rgSdfPart* link;
    const rgXmlNode* node;
    bool isVisual;
    rgShapeDef def;
    rgLinkMesh mesh;
    rgHeightFieldData field;
} rgSdfShape;

// Read a positive number, or three, of a geometry. Shapes that are only shown may be left out.
static bool rgSdf_Size(rgSdf* sdf, const rgSdfShape* shape, const rgXmlNode* node, const char* name,
                       double* values, int count) {
    const rgXmlNode* child = rgXmlReader_RequiredChild(&sdf->xml, node, name);
    if (child == NULL || rgXmlReader_TextDoubles(&sdf->xml, child, values, count, count) == 0) {
        return false;
    }
    for (int i = 0; i < count; ++i) {
        if (values[i] > 0) {
            continue;
        }
        if (shape->isVisual || values[i] == 0) { // without extent there is nothing
            rgXmlReader_Warn(&sdf->xml, child, "<%s> of <%s>: %g is not positive; it %s", name,
                             node->name, values[i],
                             shape->isVisual ? "is not shown" : "does not collide");
        } else {
            rgXmlReader_Error(&sdf->xml, child, "<%s> of <%s>: %g is not positive", name,
                              node->name, values[i]);
        }
        return false;
    }
    return true;
}

static bool rgSdf_Box(rgSdf* sdf, const rgXmlNode* node, rgSdfShape* shape) {
    double size[3];
    shape->def.kind = rg_shapeBox;
    if (!rgSdf_Size(sdf, shape, node, "size", size, 3)) {
        return false;
    }
    shape->def.size = rgVec(0.5 * size[0], 0.5 * size[1], 0.5 * size[2]);
    return true;
}

static bool rgSdf_Sphere(rgSdf* sdf, const rgXmlNode* node, rgSdfShape* shape) {
    shape->def.kind = rg_shapeSphere;
    return rgSdf_Size(sdf, shape, node, "radius", &shape->def.size.x, 1);
}

// Cylinder, or capsule, whose length is that of the part between the half spheres.
static bool rgSdf_Cylinder(rgSdf* sdf, const rgXmlNode* node, rgSdfShape* shape) {
    double length = 0;
    shape->def.kind = strcmp(node->name, "capsule") == 0 ? rg_shapeCapsule : rg_shapeCylinder;
    bool good = rgSdf_Size(sdf, shape, node, "radius", &shape->def.size.x, 1);
    good = rgSdf_Size(sdf, shape, node, "length", &length, 1) && good;
    shape->def.size.y = 0.5 * length;
    return good;
}

static bool rgSdf_Ellipsoid(rgSdf* sdf, const rgXmlNode* node, rgSdfShape* shape) {
    double radii[3];
    shape->def.kind = rg_shapeEllipsoid;
    if (!rgSdf_Size(sdf, shape, node, "radii", radii, 3)) {
        return false;
    }
    shape->def.size = rgVec(radii[0], radii[1], radii[2]);
    return true;
}

// Planes are infinite; the size is that of the drawing.
static bool rgSdf_Plane(rgSdf* sdf, const rgXmlNode* node, rgSdfShape* shape) {
    rgVec3 normal = rgVec(0, 0, 1);
    rgSdf_Vector(sdf, node, "normal", &normal);
    if (!(rgLength(normal) > 1e-12)) {
        rgXmlReader_Error(&sdf->xml, node, "<normal>: the normal is zero");
        return false;
    }
    shape->def.kind = rg_shapePlane;
    shape->def.pose.q =
        rgQuatMultiply(shape->def.pose.q, rgQuatBetween(rgVec(0, 0, 1), rgNormalize(normal)));
    return true;
}

static bool rgSdf_Mesh(rgSdf* sdf, const rgXmlNode* node, rgSdfShape* shape) {
    static const char* const known[] = {"uri", "scale", "submesh", "convex_decomposition", NULL};
    rgLinkMesh* mesh = &shape->mesh;
    rgVec3 scale = rgVec(1, 1, 1);
    rgSdf_CheckChildren(sdf, node, known, NULL);
    rgSdf_Vector(sdf, node, "scale", &scale);
    *mesh = (rgLinkMesh){.node = node,
                         .linkName = shape->link->fullName,
                         .uri = rgSdf_Text(node, "uri"),
                         .scale = {scale.x, scale.y, scale.z},
                         .isVisual = shape->isVisual,
                         .isScenery = shape->link->isScenery};
    const rgXmlNode* submesh = rgXmlNode_Child(node, "submesh");
    if (submesh != NULL) {
        mesh->submesh = rgSdf_Text(submesh, "name");
        rgSdf_Bool(sdf, submesh, "center", &mesh->center);
    }
    if (mesh->uri == NULL || (submesh != NULL && mesh->submesh == NULL)) {
        rgXmlReader_Error(&sdf->xml, node, "<mesh> needs an element <%s>",
                          mesh->uri == NULL ? "uri" : "name> in <submesh");
        return false;
    }
    if (!rgLinkMeshes_Read(&sdf->meshes, mesh)) {
        return false;
    }
    shape->def.kind = mesh->kind;
    shape->def.mesh = &mesh->mesh;
    return true;
}

// Brightness is height; the top row of the image is the far side.
static bool rgSdf_FillField(rgSdf* sdf, rgSdfShape* shape, const rgGreyImage* image,
                            const double size[3]) {
    size_t columns = (size_t)image->width, rows = (size_t)image->height;
    double* heights = RG_TAKE(&sdf->arena, double, columns* rows);
    if (heights == NULL) {
        sdf->result = rg_errorMemory;
        return false;
    }
    for (size_t i = 0; i < rows; ++i) {
        for (size_t j = 0; j < columns; ++j) {
            heights[i * columns + j] = size[2] * image->pixels[(rows - 1 - i) * columns + j] / 255;
        }
    }
    shape->field = (rgHeightFieldData){.columnCount = image->width,
                                       .rowCount = image->height,
                                       .sizeX = 0.5 * size[0],
                                       .sizeY = 0.5 * size[1],
                                       .depth = RG_MAX(size[2], 1),
                                       .heights = heights};
    shape->def.kind = rg_shapeHeightField;
    shape->def.heightField = &shape->field;
    return true;
}

static bool rgSdf_HeightMap(rgSdf* sdf, const rgXmlNode* node, rgSdfShape* shape) {
    double size[3] = {1, 1, 1};
    rgVec3 offset = rgVec(0, 0, 0);
    const char* uri = rgSdf_Text(node, "uri");
    if (shape->isVisual) {
        return false; // the collision is shown
    }
    if (rgXmlNode_Child(node, "size") != NULL && !rgSdf_Size(sdf, shape, node, "size", size, 3)) {
        return false;
    }
    char folder[RG_PATH_LENGTH], path[RG_PATH_LENGTH], reason[100];
    char* bytes = NULL;
    size_t count = 0;
    const char* file = node->file != NULL ? node->file : "";
    if (uri == NULL || !rgPathFolder(file, folder) ||
        rgFindResource(uri, folder, sdf->def, path) != rg_resourceFound ||
        rgReadFile(path, RG_SDF_FIELD_MAX, &sdf->def->allocator, sdf->xml.diagnostics, &bytes,
                   &count) != rg_ok) {
        rgXmlReader_Error(&sdf->xml, node, "<heightmap>: '%.200s' cannot be read",
                          uri != NULL ? uri : "");
        return false;
    }
    rgGreyImage image;
    bool good = rgReadPng(bytes, count, RG_SDF_FIELD_MAX, &sdf->def->allocator, &image, reason);
    rgRelease(&sdf->def->allocator, bytes);
    if (!good || image.width < 2 || image.height < 2) {
        rgXmlReader_Error(&sdf->xml, node, "<heightmap>: no PNG image can be read: %s",
                          good ? "it is too small" : reason);
    }
    rgSdf_Vector(sdf, node, "pos", &offset);
    shape->def.pose.p = rgAdd(shape->def.pose.p, rgRotate(shape->def.pose.q, offset));
    good =
        good && image.width >= 2 && image.height >= 2 && rgSdf_FillField(sdf, shape, &image, size);
    rgRelease(&sdf->def->allocator, image.pixels);
    return good;
}

typedef bool rgSdfGeometryFcn(rgSdf* sdf, const rgXmlNode* node, rgSdfShape* shape);
typedef struct rgSdfGeometry {
    const char* name;
    rgSdfGeometryFcn* read;
} rgSdfGeometry;

static const rgSdfGeometry geometries[] = {
    {"box", rgSdf_Box},          {"sphere", rgSdf_Sphere},       {"cylinder", rgSdf_Cylinder},
    {"capsule", rgSdf_Cylinder}, {"ellipsoid", rgSdf_Ellipsoid}, {"plane", rgSdf_Plane},
    {"mesh", rgSdf_Mesh},        {"heightmap", rgSdf_HeightMap},
};

static bool rgSdf_ReadGeometry(rgSdf* sdf, rgSdfShape* shape) {
    const rgXmlNode* geometry = rgXmlReader_RequiredChild(&sdf->xml, shape->node, "geometry");
    const rgXmlNode* node = geometry != NULL ? geometry->firstChild : NULL;
    if (geometry == NULL) {
        return false;
    }
    if (node == NULL || strcmp(node->name, "empty") == 0) {
        return false; // an empty geometry, by SDF
    }
    for (int i = 0; i < RG_COUNT(geometries); ++i) {
        if (strcmp(node->name, geometries[i].name) == 0) {
            return geometries[i].read(sdf, node, shape);
        }
    }
    if (shape->isVisual) {
        rgXmlReader_Note(&sdf->xml, node, "<%.60s> of link '%.60s' is not shown", node->name,
                         shape->link->fullName);
    } else {
        rgXmlReader_Error(&sdf->xml, node,
                          "<%.60s> of link '%.60s' is not supported: box, sphere, cylinder, "
                          "capsule, ellipsoid, plane, mesh and heightmap are",
                          node->name, shape->link->fullName);
    }
    return false;
}

static void rgSdf_ReadColor(rgSdf* sdf, const rgXmlNode* visual, float color[4]) {
    const rgXmlNode* material = rgXmlNode_Child(visual, "material");
    const rgXmlNode* node = material != NULL ? rgXmlNode_Child(material, "diffuse") : NULL;
    if (material != NULL && node == NULL) {
        node = rgXmlNode_Child(material, "ambient");
    }
    double rgba[4] = {0, 0, 0, 1}, transparency = 0;
    if (node != NULL && rgXmlReader_TextDoubles(&sdf->xml, node, rgba, 3, 4) > 0) {
        for (int i = 0; i < 4; ++i) {
            color[i] = (float)RG_MIN(RG_MAX(rgba[i], 0.0), 1.0);
        }
    }
    if (rgSdf_Number(sdf, visual, "transparency", &transparency)) {
        color[3] *= (float)(1 - RG_MIN(RG_MAX(transparency, 0.0), 1.0));
    }
}

// Add the inertia of a collision shape as a solid, in the frame of the link.
static void rgSdf_AddSolid(rgSdf* sdf, const rgSdfShape* shape, rgInertia* sum) {
    double density = RG_SDF_DENSITY;
    rgSdf_NotNegative(sdf, rgXmlNode_Child(shape->link->node, "inertial"), "density", &density);
    rgSdf_NotNegative(sdf, shape->node, "density", &density);
    double volume = rgShapeVolume(shape->def.kind, shape->def.size);
    rgInertia solid = rgInertiaFromShape(shape->def.kind, shape->def.size, density * volume);
    bool good = volume > 0;
    if (shape->def.mesh != NULL) {
        good = rgInertiaFromMesh(shape->def.mesh, density, &solid) == rg_ok;
    }
    if (!good) {
        rgXmlReader_Error(&sdf->xml, shape->node,
                          "<inertial auto>: this collision of link '%.60s' encloses no volume",
                          shape->link->fullName);
        return;
    }
    solid = rgInertiaMove(shape->def.pose, &solid);
    *sum = rgInertiaAdd(sum, &solid);
}

static void rgSdf_CheckShape(rgSdf* sdf, const rgSdfShape* shape) {
    static const char* const knownAttributes[] = {"name", NULL};
    static const char* const known[] = {
        "pose",         "geometry", "surface",          "material",
        "transparency", "density",  "max_contacts",     "cast_shadows",
        "laser_retro",  "meta",     "visibility_flags", "auto_inertia_params",
        "frame",        NULL};
    static const char* const skipped[] = {"plugin", "its parts stay passive", NULL};
    rgXmlReader_CheckAttributes(&sdf->xml, shape->node, knownAttributes);
    rgSdf_CheckChildren(sdf, shape->node, known, skipped);
}

// The pose of a shape may be relative to any frame of the model.
static rgPose rgSdf_ShapePose(rgSdf* sdf, const rgSdfShape* shape) {
    const rgXmlNode* node = rgXmlNode_Child(shape->node, "pose");
    const char* name = node != NULL ? rgXmlNode_Attribute(node, "relative_to") : NULL;
    rgPose pose = rgSdf_ReadPose(sdf, node);
    if (name == NULL || name[0] == '\0') {
        return pose;
    }
    int found = rgSdf_Find(sdf, shape->link, name);
    if (found < 0) {
        rgXmlReader_Error(&sdf->xml, node, "<pose relative_to>: there is no frame '%.60s'", name);
        return pose;
    }
    rgPose relative = rgPoseMultiply(rgPoseInvert(shape->link->world), sdf->parts[found].world);
    return rgPoseMultiply(relative, pose);
}

static void rgSdf_AddShape(rgSdf* sdf, rgSdfShape* shape, const char* name, rgInertia* sum) {
    shape->def = rgDefaultShapeDef();
    shape->def.name = name;
    shape->def.body = shape->link->body;
    shape->def.visualOnly = shape->isVisual;
    shape->def.hidden = !shape->isVisual;
    shape->def.source = (rgSource){.file = shape->node->file, .line = shape->node->line};
    rgSdf_CheckShape(sdf, shape);
    shape->def.pose = rgSdf_ShapePose(sdf, shape);
    if (!shape->isVisual) {
        rgSdf_ReadSurface(sdf, shape->node, &shape->def);
    }
    bool good = rgSdf_ReadGeometry(sdf, shape);
    if (good && shape->isVisual) {
        rgSdf_ReadColor(sdf, shape->node, shape->def.color);
    }
    sdf->result = sdf->meshes.result != rg_ok ? sdf->meshes.result : sdf->result;
    if (good && sdf->result == rg_ok) {
        sdf->result = rgAddShapeParts(sdf->model, &sdf->arena, &shape->def, &shape->mesh.parts);
        if (!shape->isVisual && sum != NULL) {
            rgSdf_AddSolid(sdf, shape, sum);
        }
    }
}

void rgSdf_AddShapes(rgSdf* sdf, rgSdfPart* link, rgInertia* sum) {
    rgArenaMark linkMark = rgArena_Mark(&sdf->arena);
    int nameCount = 0, numbers[2] = {0, 0};
    rgIndexedName* names = rgShapeNames(&sdf->arena, link->node, &nameCount);
    sdf->result = names != NULL ? sdf->result : rg_errorMemory;
    for (const rgXmlNode* node = link->node->firstChild; node != NULL && sdf->result == rg_ok;
         node = node->next) {
        if (!rgIsShapeNode(node)) {
            continue;
        }
        rgArenaMark mark = rgArena_Mark(&sdf->arena);
        rgSdfShape shape = {
            .link = link, .node = node, .isVisual = strcmp(node->name, "visual") == 0};
        int number = numbers[shape.isVisual]++;
        const char* name = rgShapeName(&sdf->arena, node, link->fullName, number, names, nameCount);
        sdf->result = name != NULL ? sdf->result : rg_errorMemory;
        if (sdf->result == rg_ok) {
            rgSdf_AddShape(sdf, &shape, name, sum);
        }
        link->collides = link->collides || !shape.isVisual;
        rgArena_Return(&sdf->arena, mark);
    }
    rgArena_Return(&sdf->arena, linkMark);
}
