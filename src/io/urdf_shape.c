// URDF visual and collision elements into shapes.
#include "io/urdf.h"

#include <stdio.h>
#include <string.h>

// One <visual> or <collision> on its way to a shape.
typedef struct rgUrdfShape {
    const rgUrdfLink* link;
    const rgXmlNode* node;
    bool isVisual;
    int number; // among its kind in the link
    rgMaterial material;
    const rgIndexedName* names; // names of all shapes of the link, sorted
    int nameCount;
    rgShapeDef def;
    rgLinkMesh mesh;
} rgUrdfShape;

// A shape without extent is left out, as other readers have nothing there either. A negative size
// is a mistake, unless it is only shown.
static void rgUrdf_RefuseSize(rgUrdf* urdf, const rgUrdfShape* shape, const rgXmlNode* node,
                              const char* name, bool negative) {
    const char* value = rgXmlNode_Attribute(node, name);
    if (negative && !shape->isVisual) {
        rgXmlReader_Error(&urdf->xml, node, "<%s %s>: '%.60s' is not positive", node->name, name,
                          value);
    } else {
        rgXmlReader_Warn(&urdf->xml, node, "<%s %s>: '%.60s' is not positive; it %s", node->name,
                         name, value, shape->isVisual ? "is not shown" : "does not collide");
    }
}

static bool rgUrdf_Positive(rgUrdf* urdf, const rgUrdfShape* shape, const rgXmlNode* node,
                            const char* name, double* value) {
    if (rgXmlReader_Required(&urdf->xml, node, name) == NULL ||
        !rgXmlReader_Double(&urdf->xml, node, name, value)) {
        return false;
    }
    if (*value <= 0) {
        rgUrdf_RefuseSize(urdf, shape, node, name, *value < 0);
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
        rgUrdf_RefuseSize(urdf, shape, node, "size", size[0] < 0 || size[1] < 0 || size[2] < 0);
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

static bool rgUrdf_Mesh(rgUrdf* urdf, const rgXmlNode* node, rgUrdfShape* shape) {
    static const char* const known[] = {"filename", "scale", NULL};
    rgLinkMesh* mesh = &shape->mesh;
    *mesh = (rgLinkMesh){.node = node,
                         .linkName = shape->link->name,
                         .scale = {1, 1, 1},
                         .isVisual = shape->isVisual,
                         .isScenery = shape->link->isScenery};
    rgXmlReader_CheckAttributes(&urdf->xml, node, known);
    rgXmlReader_Doubles(&urdf->xml, node, "scale", mesh->scale, 3, 3);
    mesh->uri = rgXmlReader_Required(&urdf->xml, node, "filename");
    if (mesh->uri == NULL || !rgLinkMeshes_Read(&urdf->meshes, mesh)) {
        return false;
    }
    shape->def.kind = mesh->kind;
    shape->def.mesh = &mesh->mesh;
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
    int index = anonymous ? -1 : rgFindName(urdf->materialNames, urdf->materialCount, name);
    if (index >= 0) {
        rgXmlReader quiet = {0}; // the definition is judged where it stands
        rgReadUrdfColor(&quiet, urdf->materials[index], shape->def.color);
    } else if (!anonymous && rgXmlNode_Child(node, "texture") == NULL) {
        rgXmlReader_Warn(&urdf->xml, node, "the material '%.60s' is defined nowhere: grey is used",
                         name);
    }
}

static void rgUrdf_AddShape(rgUrdf* urdf, rgUrdfShape* shape) {
    static const char* const knownAttributes[] = {"name", NULL};
    static const char* const known[] = {"origin", "geometry", "material", NULL};
    shape->def = rgDefaultShapeDef();
    shape->def.body = shape->link->body;
    shape->def.visualOnly = shape->isVisual;
    shape->def.hidden = !shape->isVisual;
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
    shape->def.name = rgShapeName(&urdf->arena, shape->node, shape->link->name, shape->number,
                                  shape->names, shape->nameCount);
    urdf->result = shape->def.name != NULL ? urdf->result : rg_errorMemory;
    urdf->result = urdf->meshes.result != rg_ok ? urdf->meshes.result : urdf->result;
    if (good && urdf->result == rg_ok) {
        urdf->result = rgAddShapeParts(urdf->model, &urdf->arena, &shape->def, &shape->mesh.parts);
    }
}

void rgUrdf_AddShapes(rgUrdf* urdf, const rgUrdfLink* link) {
    rgArenaMark linkMark = rgArena_Mark(&urdf->arena);
    rgUrdfShape common = {.link = link, .material = rgUrdf_ContactMaterial(urdf, link)};
    common.names = rgShapeNames(&urdf->arena, link->node, &common.nameCount);
    urdf->result = common.names != NULL ? urdf->result : rg_errorMemory;
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
