// MJCF geoms and sites: shapes with their surfaces and masses, and named frames.
#include "io/hull_cache.h"
#include "io/mjcf.h"

#include <stdio.h>
#include <string.h>

static const rgXmlWord geomTypes[] = {{"plane", rg_mjPlane},
                                      {"hfield", rg_mjHfield},
                                      {"sphere", rg_mjSphere},
                                      {"capsule", rg_mjCapsule},
                                      {"ellipsoid", rg_mjEllipsoid},
                                      {"cylinder", rg_mjCylinder},
                                      {"box", rg_mjBox},
                                      {"mesh", rg_mjMesh},
                                      {"sdf", rg_mjOther},
                                      {NULL, 0}};

static const char* const geomKnown[] = {
    "name",      "class",        "type",   "contype",    "conaffinity", "condim",
    "group",     "priority",     "size",   "material",   "rgba",        "friction",
    "mass",      "density",      "solmix", "solref",     "solimp",      "margin",
    "gap",       "fromto",       "pos",    "quat",       "axisangle",   "xyaxes",
    "zaxis",     "euler",        "hfield", "mesh",       "fitscale",    "fluidshape",
    "fluidcoef", "shellinertia", "user",   "surfacevel", "adhesion",    NULL};

static void rgMjcf_ApplySurface(rgMjcf* m, const rgXmlNode* node, rgMjGeom* g) {
    rgXmlReader* r = &m->reader;
    rgXmlReader_Int(r, node, "contype", &g->contype);
    rgXmlReader_Int(r, node, "conaffinity", &g->conaffinity);
    rgXmlReader_Int(r, node, "condim", &g->condim);
    rgXmlReader_Int(r, node, "group", &g->group);
    rgXmlReader_Int(r, node, "priority", &g->priority);
    if (rgXmlReader_Doubles(r, node, "friction", g->friction, 1, 3) > 1 && m->torsionNode == NULL) {
        m->torsionNode = node;
    }
    rgXmlReader_Doubles(r, node, "surfacevel", g->surface, 1, 6);
    rgXmlReader_Double(r, node, "margin", &g->margin);
    rgXmlReader_Double(r, node, "gap", &g->gap);
    rgMjcf_ReadSoftness(m, node, "solref", "solimp", &g->softness);
    bool colored = rgXmlReader_Doubles(r, node, "rgba", g->color, 4, 4) > 0;
    g->hasColor = g->hasColor || colored;
}

void rgMjcf_ApplyGeom(rgMjcf* m, const rgXmlNode* node, void* value) {
    static const rgXmlWord fluidShapes[] = {{"none", 0}, {"ellipsoid", 1}, {NULL, 0}};
    rgXmlReader* r = &m->reader;
    rgMjGeom* g = value;
    rgXmlReader_CheckAttributes(r, node, geomKnown);
    rgXmlReader_Double(r, node, "adhesion", &g->adhesion);
    rgXmlReader_Word(r, node, "type", geomTypes, &g->type);
    int sizes = rgXmlReader_Doubles(r, node, "size", g->size, 1, 3);
    g->sizeCount = sizes > 0 ? sizes : g->sizeCount;
    g->hasFromTo = rgXmlReader_Doubles(r, node, "fromto", g->fromTo, 6, 6) > 0 || g->hasFromTo;
    rgMjcf_ReadPlace(m, node, &g->place);
    g->hasMass = rgXmlReader_Double(r, node, "mass", &g->mass) || g->hasMass;
    rgXmlReader_Double(r, node, "density", &g->density);
    rgMjcf_Flag(m, node, "shellinertia", &g->shell);
    rgXmlReader_Word(r, node, "fluidshape", fluidShapes, &g->fluid);
    rgXmlReader_Doubles(r, node, "fluidcoef", g->fluidCoefficients, 1, 5);
    const char* mesh = rgXmlNode_Attribute(node, "mesh");
    const char* hfield = rgXmlNode_Attribute(node, "hfield");
    const char* material = rgXmlNode_Attribute(node, "material");
    g->mesh = mesh != NULL ? mesh : g->mesh;
    rgXmlReader_Double(r, node, "fitscale", &g->fitScale);
    g->hfield = hfield != NULL ? hfield : g->hfield;
    g->material = material != NULL ? material : g->material;
    rgMjcf_ApplySurface(m, node, g);
}

static rgMjGeom rgMjcf_GeomSettings(rgMjcf* m, const rgXmlNode* node, int class) {
    static const char* const names[] = {"geom", NULL};
    rgMjGeom geom = {.type = rg_mjSphere,
                     .fitScale = 1,
                     .place = rgMjcf_NoPlace(),
                     .density = 1000,
                     .friction = {1, 0.005, 0.0001},
                     .condim = 3,
                     .contype = 1,
                     .conaffinity = 1,
                     .fluidCoefficients = {0.5, 0.25, 1.5, 1, 1},
                     .softness = rgMjcf_NoSoftness(),
                     .color = {0.5, 0.5, 0.5, 1}};
    rgMjcf_ApplyClass(m, rgMjcf_Class(m, node, "class", class), names, rgMjcf_ApplyGeom, &geom);
    rgMjcf_ApplyGeom(m, node, &geom);
    geom.name = rgXmlNode_Attribute(node, "name");
    return geom;
}

// Pose of a geom from its two ends: middle, direction (z runs from the second to the first) and
// half length.
static rgPose rgMjcf_FromTo(rgMjcf* m, const rgXmlNode* node, const double* ends, int type,
                            double* size) {
    rgVec3 a = rgVec(ends[0], ends[1], ends[2]), b = rgVec(ends[3], ends[4], ends[5]);
    rgVec3 along = rgSub(a, b);
    double half = rgLength(along) / 2;
    if (!(half > 1e-14)) {
        rgXmlReader_Error(&m->reader, node, "<%s fromto>: both ends are the same point",
                          node->name);
    }
    if (type == rg_mjCapsule || type == rg_mjCylinder) {
        size[1] = half;
    } else if (type == rg_mjBox || type == rg_mjEllipsoid) {
        size[1] = size[0];
        size[2] = half;
    } else {
        rgXmlReader_Error(&m->reader, node,
                          "<%s fromto>: is for capsules, cylinders, boxes and ellipsoids",
                          node->name);
    }
    return (rgPose){.p = rgScale(0.5, rgAdd(a, b)), .q = rgMjcf_TurnZ(along)};
}

// Number of sizes that a type needs.
static int rgMjcf_SizesNeeded(int type) {
    static const int counts[] = {[rg_mjPlane] = 0,   [rg_mjHfield] = 0,    [rg_mjSphere] = 1,
                                 [rg_mjCapsule] = 2, [rg_mjEllipsoid] = 3, [rg_mjCylinder] = 2,
                                 [rg_mjBox] = 3,     [rg_mjMesh] = 0,      [rg_mjOther] = 0};
    return counts[type];
}

static void rgMjcf_CheckSizes(rgMjcf* m, const rgXmlNode* node, const rgMjGeom* g) {
    static const char* const words[] = {"plane",    "hfield", "sphere", "capsule", "ellipsoid",
                                        "cylinder", "box",    "mesh",   "sdf"};
    int needed = rgMjcf_SizesNeeded(g->type);
    for (int i = 0; i < needed; ++i) {
        if (!(g->size[i] > 0)) {
            rgXmlReader_Error(&m->reader, node,
                              "<geom size>: a %s needs %d positive size%s, number %d is %g",
                              words[g->type], needed, needed == 1 ? "" : "s", i + 1, g->size[i]);
            return;
        }
    }
}

static void rgMjcf_CheckSurface(rgMjcf* m, const rgXmlNode* node, const rgMjGeom* g) {
    if (g->condim != 1 && g->condim != 3 && g->condim != 4 && g->condim != 6) {
        rgXmlReader_Error(&m->reader, node, "<geom condim>: %d is not 1, 3, 4 or 6", g->condim);
    }
    for (int i = 0; i < 3; ++i) {
        if (g->friction[i] < 0) {
            rgXmlReader_Error(&m->reader, node, "<geom friction>: %g is negative", g->friction[i]);
        }
    }
    if (g->hasMass && g->mass < 0) {
        rgXmlReader_Error(&m->reader, node, "<geom mass>: %g is negative", g->mass);
    }
    if (g->density < 0) {
        rgXmlReader_Error(&m->reader, node, "<geom density>: %g is negative", g->density);
    }
    if (g->gap != 0) {
        rgXmlReader_Warn(&m->reader, node, "<geom gap>: is not supported; it is ignored");
    }
}

static rgMaterial rgMjGeom_Material(const rgMjcf* m, const rgMjGeom* g) {
    bool rigid = !m->load->fileContact;
    return (rgMaterial){.mu = g->friction[0],
                        .muTorsion = g->friction[1],
                        .muRolling = g->friction[2],
                        .dimension = g->condim,
                        .restitution = rigid ? rgMjcf_Restitution(&g->softness) : 0,
                        .frictionRule = rg_frictionMaximum};
}

// Report a missing asset that a geom names.
static void rgMjcf_NoSuch(rgMjcf* m, const rgMjNames* names, const rgXmlNode* node,
                          const char* kind, const char* name) {
    char suggestion[100];
    name = name != NULL ? name : "";
    rgMjcf_Suggest(m, names, name, suggestion);
    rgXmlReader_Error(&m->reader, node, "<geom %s>: there is no %s '%.60s'%s", kind, kind, name,
                      suggestion);
}

static void rgMjcf_SetColor(rgMjcf* m, const rgXmlNode* node, const rgMjGeom* g,
                            rgShapeDef* shape) {
    const double* color = g->color;
    if (g->material != NULL) {
        int material = rgMjNames_Find(&m->materialNames, g->material);
        if (material < 0) {
            rgMjcf_NoSuch(m, &m->materialNames, node, "material", g->material);
            return;
        }
        color = g->hasColor ? color : m->colors[material];
    }
    for (int i = 0; i < 4; ++i) {
        shape->color[i] = (float)color[i];
    }
}

// Read size, mesh or heights. False: the geom is left out, after a message.
static bool rgMjcf_SetShape(rgMjcf* m, const rgXmlNode* node, const rgMjGeom* g,
                            rgShapeDef* shape) {
    static const rgShapeKind kinds[] = {rg_shapePlane,   rg_shapeHeightField, rg_shapeSphere,
                                        rg_shapeCapsule, rg_shapeEllipsoid,   rg_shapeCylinder,
                                        rg_shapeBox,     rg_shapeHull,        rg_shapeNone};
    shape->kind = kinds[g->type];
    shape->size = rgVec(g->size[0], g->size[1], g->size[2]);
    if (g->type == rg_mjCapsule || g->type == rg_mjCylinder) {
        shape->size.z = 0;
    } else if (g->type == rg_mjSphere) {
        shape->size = rgVec(g->size[0], 0, 0);
    } else if (g->type == rg_mjPlane || g->type == rg_mjMesh || g->type == rg_mjHfield) {
        shape->size = rgVec(0, 0, 0);
    }
    if (g->type == rg_mjHfield) {
        int field = rgMjNames_Find(&m->fieldNames, g->hfield);
        if (field < 0) {
            rgMjcf_NoSuch(m, &m->fieldNames, node, "hfield", g->hfield);
            return false;
        }
        shape->heightField = &m->fields[field].data;
    }
    return true;
}

// True if the geom adds to the mass of its body.
static bool rgMjcf_AddsMass(const rgMjcf* m, const rgMjGeom* g, const rgXmlNode* node) {
    const rgXmlNode* body = node->parent;
    while (body != NULL && rgMjcf_IsFrame(body)) {
        body = body->parent;
    }
    bool hasInertial = body != NULL && rgMjcf_HasInertial(body);
    bool world = body != NULL && strcmp(body->name, "worldbody") == 0;
    int rule = m->compiler.inertiaFromGeom;
    bool asked = rule == rg_mjInertiaTrue || (rule == rg_mjInertiaAuto && !hasInertial);
    bool massless = g->hasMass ? g->mass == 0 : g->density == 0;
    bool counts = g->group >= m->compiler.groupRange[0] && g->group <= m->compiler.groupRange[1];
    return asked && !world && !massless && counts;
}

// True if the mesh is needed: to collide, or for the mass of its body.
static bool rgMjcf_MeshIsNeeded(const rgMjcf* m, const rgMjGeom* g, const rgXmlNode* node) {
    bool collides = g->contype != 0 || g->conaffinity != 0;
    return (collides && m->load->meshes != rg_meshesNone) || rgMjcf_AddsMass(m, g, node);
}

static const rgMjMesh* rgMjcf_GeomMesh(rgMjcf* m, const rgXmlNode* node, const rgMjGeom* g) {
    int mesh = rgMjNames_Find(&m->meshNames, g->mesh);
    if (g->mesh == NULL || mesh < 0) {
        rgMjcf_NoSuch(m, &m->meshNames, node, "mesh", g->mesh);
        return NULL;
    }
    bool matters = rgMjcf_MeshIsNeeded(m, g, node);
    if (!matters && m->load->meshes != rg_meshesAll) {
        if (!m->meshesTold) {
            rgXmlReader_Note(&m->reader, node,
                             "meshes are not read; shapes that need them are left out");
        }
        m->meshesTold = true;
        return NULL;
    }
    return rgMjcf_UseMesh(m, mesh, node, matters);
}

static rgInertia rgMjcf_GeomInertia(rgMjcf* m, const rgXmlNode* node, const rgMjGeom* g,
                                    const rgShapeDef* shape, const rgMjMesh* mesh) {
    rgInertia inertia = {0};
    if (!rgMjcf_AddsMass(m, g, node)) {
        return inertia;
    }
    if (mesh != NULL) {
        if (!rgMjMesh_Inertia(mesh, g->shell, &m->load->allocator, &inertia)) {
            rgXmlReader_Error(&m->reader, node,
                              "<geom mesh>: '%.60s' has no volume to take a mass from", g->mesh);
            return inertia;
        }
        double mass = g->hasMass ? g->mass : g->density * inertia.mass;
        inertia = rgInertiaWithMass(&inertia, mass);
    } else {
        double volume = rgShapeVolume(shape->kind, shape->size);
        double mass = volume > 0 ? g->hasMass ? g->mass : g->density * volume : 0;
        inertia = rgInertiaFromShape(shape->kind, shape->size, mass);
    }
    if (g->shell && mesh == NULL) {
        rgXmlReader_Warn(&m->reader, node,
                         "<geom shellinertia>: is not supported; the shape is solid");
    }
    return rgInertiaMove(shape->pose, &inertia);
}

static rgShapeDef rgMjcf_ShapeDef(rgMjcf* m, const rgXmlNode* node, const rgMjGeom* g,
                                  rgBodyId body) {
    rgShapeDef shape = rgDefaultShapeDef();
    shape.name = g->name;
    shape.body = body;
    shape.material = rgMjGeom_Material(m, g);
    shape.group = (uint32_t)g->contype;
    shape.mask = (uint32_t)g->conaffinity;
    shape.visualOnly = g->contype == 0 && g->conaffinity == 0;
    shape.hidden = g->group > 2; // MuJoCo shows groups 0 to 2
    shape.priority = g->priority;
    shape.margin = g->margin;
    shape.surfaceVelocity = rgVec(g->surface[0], g->surface[1], g->surface[2]);
    shape.surfaceSpin = rgVec(g->surface[3], g->surface[4], g->surface[5]);
    if (g->type == rg_mjMesh && rgShapeDef_HasBelt(&shape)) {
        rgXmlReader_Warn(&m->reader, node,
                         "<geom surfacevel>: the axes and the origin of a mesh geom are taken as "
                         "written, not as MuJoCo centres it");
    }
    shape.material.adhesion = g->adhesion;
    shape.fluidEllipsoid = g->fluid == 1;
    if (shape.fluidEllipsoid &&
        (g->type == rg_mjMesh || g->type == rg_mjPlane || g->type == rg_mjHfield)) {
        rgXmlReader_Warn(&m->reader, node,
                         "<geom fluidshape>: is not supported for this type; the fluid acts on the "
                         "box of the body's inertia");
        shape.fluidEllipsoid = false;
    }
    memcpy(shape.fluidCoefficients, g->fluidCoefficients, sizeof(shape.fluidCoefficients));
    shape.source = rgMjcf_Source(node);
    rgMjcf_SetColor(m, node, g, &shape);
    return shape;
}

static void rgMjcf_AddShape(rgMjcf* m, const rgXmlNode* node, const rgMjGeom* g,
                            const rgShapeDef* shape) {
    int number = m->def->shapeCount;
    rgMjGeom* slot = rgMjcf_Grow(m, (void**)&m->geoms, &m->geomCapacity, number, sizeof(*slot));
    if (slot == NULL) {
        return;
    }
    *slot = *g;
    rgMjNames_Add(m, &m->geomNames, node, g->name, number);
    rgMjcf_Check(m, rgModelDef_AddShape(m->def, shape, NULL));
    if (m->softNode == NULL && g->softness.isSet && !shape->visualOnly) {
        m->softNode = node;
    }
}

// Convex parts that leave the hollows of a mesh open, if requested. None: its hull is used.
static rgHullParts rgMjcf_FindParts(rgMjcf* m, const rgXmlNode* node, const rgShapeDef* shape) {
    rgHullParts parts = {0};
    if (!m->load->decompose || shape->mesh == NULL || shape->visualOnly ||
        shape->body.index1 == 0) {
        return parts;
    }
    rgResult result = rgFindHullParts(shape->mesh, m->load, &m->arena, &parts);
    if (result == rg_errorMemory) {
        rgMjcf_Check(m, result);
    }
    parts.count = result == rg_ok && parts.count > 1 ? parts.count : 0;
    if (parts.count > 0) {
        rgXmlReader_Note(&m->reader, node,
                         "<geom mesh>: is not convex: %d convex parts are used, which fill hollows "
                         "up to %.1f %% of its size",
                         parts.count, 100 * parts.hollow);
    }
    return parts;
}

// The geom, or its parts: the first has its name, the others are "name.1" and so on.
static void rgMjcf_AddShapes(rgMjcf* m, const rgXmlNode* node, const rgMjGeom* g,
                             const rgShapeDef* shape) {
    rgHullParts parts = rgMjcf_FindParts(m, node, shape);
    if (parts.count == 0) {
        rgMjcf_AddShape(m, node, g, shape);
    }
    for (int i = 0; i < parts.count && !rgMjcf_Failed(m); ++i) {
        rgMjGeom geom = *g;
        rgShapeDef part = *shape;
        part.mesh = &parts.hulls[i];
        if (i > 0 && g->name != NULL) {
            size_t capacity = strlen(g->name) + 16;
            char* name = rgArena_Take(&m->arena, capacity, 1);
            rgMjcf_Check(m, name != NULL ? rg_ok : rg_errorMemory);
            if (name != NULL) {
                snprintf(name, capacity, "%s.%d", g->name, i);
            }
            geom.name = part.name = name;
        }
        rgMjcf_AddShape(m, node, &geom, &part);
    }
}

rgInertia rgMjcf_ReadGeom(rgMjcf* m, const rgXmlNode* node, rgBodyId body, int class,
                          rgPose frame) {
    rgInertia nothing = {0};
    rgMjGeom g = rgMjcf_GeomSettings(m, node, class);
    bool fits = g.mesh != NULL && g.type >= rg_mjSphere && g.type <= rg_mjBox;
    if (g.type == rg_mjOther || (fits && m->compiler.fitsBounds)) {
        rgXmlReader_Warn(&m->reader, node,
                         g.type == rg_mjOther
                             ? "<geom type>: 'sdf' is not supported; it is left out"
                             : "<geom mesh>: fitting a primitive to the bounds of a mesh "
                               "(fitaabb) is not supported; the geom is left out");
        rgMjNames_Add(m, &m->leftGeoms, node, g.name, 0);
        return nothing;
    }
    const rgMjMesh* mesh = fits || g.type == rg_mjMesh ? rgMjcf_GeomMesh(m, node, &g) : NULL;
    rgPose pose = g.hasFromTo ? rgMjcf_FromTo(m, node, g.fromTo, g.type, g.size)
                              : rgMjcf_Pose(m, node, &g.place);
    if (fits && mesh != NULL) {
        mesh = rgMjcf_Fit(m, node, &g, mesh, &pose) ? NULL : mesh;
    }
    bool lacksMesh = mesh == NULL && g.mesh != NULL && (fits || g.type == rg_mjMesh);
    if (!lacksMesh) {
        rgMjcf_CheckSizes(m, node, &g);
        rgMjcf_CheckSurface(m, node, &g);
    }
    rgShapeDef shape = rgMjcf_ShapeDef(m, node, &g, body);
    shape.pose = rgPoseMultiply(frame, pose);
    if (rgMjcf_Failed(m) || lacksMesh || (g.type == rg_mjMesh && mesh == NULL) ||
        !rgMjcf_SetShape(m, node, &g, &shape)) {
        rgMjNames_Add(m, &m->leftGeoms, node, g.name, 0);
        return nothing;
    }
    shape.mesh = mesh != NULL ? &mesh->data : NULL;
    rgInertia inertia = rgMjcf_GeomInertia(m, node, &g, &shape, mesh);
    rgMjcf_AddShapes(m, node, &g, &shape);
    return inertia;
}

typedef struct rgMjSite {
    int type;
    double size[3];
    bool hasFromTo;
    double fromTo[6];
    rgMjPlace place;
} rgMjSite;

void rgMjcf_ApplySite(rgMjcf* m, const rgXmlNode* node, void* value) {
    static const char* const known[] = {
        "name",   "class",     "type",   "group", "pos",   "quat", "material", "size",
        "fromto", "axisangle", "xyaxes", "zaxis", "euler", "rgba", "user",     NULL};
    rgMjSite* s = value;
    rgXmlReader_CheckAttributes(&m->reader, node, known);
    rgXmlReader_Word(&m->reader, node, "type", geomTypes, &s->type);
    rgXmlReader_Doubles(&m->reader, node, "size", s->size, 1, 3);
    s->hasFromTo =
        rgXmlReader_Doubles(&m->reader, node, "fromto", s->fromTo, 6, 6) > 0 || s->hasFromTo;
    rgMjcf_ReadPlace(m, node, &s->place);
}

// Radius of the ball around a site, for touch sensors.
static double rgMjSite_Radius(const rgMjSite* s) {
    switch (s->type) {
    case rg_mjCapsule:
        return s->size[0] + s->size[1];
    case rg_mjCylinder:
        return hypot(s->size[0], s->size[1]);
    case rg_mjBox:
        return rgLength(rgVec(s->size[0], s->size[1], s->size[2]));
    case rg_mjEllipsoid:
        return RG_MAX(s->size[0], RG_MAX(s->size[1], s->size[2]));
    default:
        return s->size[0];
    }
}

void rgMjcf_ReadSite(rgMjcf* m, const rgXmlNode* node, rgBodyId body, int class, rgPose frame) {
    static const char* const names[] = {"site", NULL};
    rgMjSite site = {.type = rg_mjSphere, .size = {0.005, 0.005, 0.005}, .place = rgMjcf_NoPlace()};
    rgMjcf_ApplyClass(m, rgMjcf_Class(m, node, "class", class), names, rgMjcf_ApplySite, &site);
    rgMjcf_ApplySite(m, node, &site);
    rgPose pose = site.hasFromTo ? rgMjcf_FromTo(m, node, site.fromTo, site.type, site.size)
                                 : rgMjcf_Pose(m, node, &site.place);
    rgFrameDef def = rgDefaultFrameDef();
    def.name = rgXmlNode_Attribute(node, "name");
    def.body = body;
    def.pose = rgPoseMultiply(frame, pose);
    def.source = rgMjcf_Source(node);
    int number = m->def->frameCount;
    double* radius =
        rgMjcf_Grow(m, (void**)&m->siteSizes, &m->siteCapacity, number, sizeof(*radius));
    if (radius != NULL) {
        *radius = rgMjSite_Radius(&site);
        rgMjNames_Add(m, &m->siteNames, node, def.name, number);
        rgMjcf_Check(m, rgModelDef_AddFrame(m->def, &def, NULL));
    }
}
