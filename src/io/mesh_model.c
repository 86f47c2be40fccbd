// A mesh file alone as a model: one body of uniform density with the mesh as its shape.
#include "io/convex.h"
#include "io/hull_cache.h"
#include "io/load.h"
#include "io/sheet.h"
#include "model/def.h"
#include "rigor/inertia.h"
#include "rigor/mesh.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define RG_MESH_DENSITY       1000.0 // [kg/m^3]: water
#define RG_CONVEX_DEPTH_RATIO 1e-3   // fraction of the size, as for meshes of URDF files
#define RG_MESH_LARGE         20.0   // [m] beyond which the file may be in millimetres

typedef struct rgMeshModel {
    const char* path;
    const rgLoadDef* load;
    rgDiagnostics* diagnostics;
    rgArena arena;
    rgModelDef* def;
    const rgMesh* mesh;
    rgMeshData data; // scaled
    char name[64];   // name of the file, without folder and ending
} rgMeshModel;

bool rgIsMeshPath(const char* path) {
    char extension[16];
    rgPathExtension(path, extension);
    return strcmp(extension, "obj") == 0 || strcmp(extension, "stl") == 0 ||
           strcmp(extension, "dae") == 0;
}

static void rgMeshModel_Name(rgMeshModel* m) {
    const char* slash = strrchr(m->path, '/');
    const char* stem = slash != NULL ? slash + 1 : m->path;
    const char* dot = strrchr(stem, '.');
    size_t length = dot != NULL && dot > stem ? (size_t)(dot - stem) : strlen(stem);
    snprintf(m->name, sizeof(m->name), "%.*s", (int)RG_MIN(length, sizeof(m->name) - 1), stem);
}

static bool rgMeshModel_Scale(rgMeshModel* m) {
    double scale = m->load->meshScale > 0 ? m->load->meshScale : 1;
    m->data = rgMesh_Data(m->mesh);
    size_t count = 3 * (size_t)m->data.vertexCount;
    double* vertices = RG_TAKE(&m->arena, double, count);
    for (size_t i = 0; vertices != NULL && i < count; ++i) {
        vertices[i] = scale * m->data.vertices[i];
    }
    m->data.vertices = vertices;
    return vertices != NULL;
}

static double rgMeshModel_Size(const rgMeshModel* m) {
    double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY};
    double size = 0;
    for (int i = 0; i < 3 * m->data.vertexCount; ++i) {
        low[i % 3] = fmin(low[i % 3], m->data.vertices[i]);
        high[i % 3] = fmax(high[i % 3], m->data.vertices[i]);
    }
    for (int k = 0; k < 3; ++k) {
        size = fmax(size, high[k] - low[k]);
    }
    return size;
}

// Inertia of the solid; that of its hull if the surface does not close.
static rgResult rgMeshModel_Inertia(rgMeshModel* m, rgInertia* inertia) {
    double density = m->load->density > 0 ? m->load->density : RG_MESH_DENSITY;
    bool closed = false;
    rgResult result = rgMesh_IsClosed(m->mesh, &closed);
    if (result != rg_ok) {
        return result;
    }
    if (closed && rgInertiaFromMesh(&m->data, density, inertia) == rg_ok) {
        return rg_ok;
    }
    rgMeshData hull;
    if (!rgConvexTriangles(&m->data, &m->arena, &hull) ||
        rgInertiaFromMesh(&hull, density, inertia) != rg_ok) {
        rgDiagnostics_Add(m->diagnostics, rg_severityError, m->path, 0,
                          "the mesh is flat: it has no volume, so its body has no mass");
        return rg_errorFormat;
    }
    rgDiagnostics_Add(m->diagnostics, rg_severityWarning, m->path, 0,
                      "the surface does not close or faces inwards: the mass is that of its hull");
    return rg_ok;
}

static rgResult rgMeshModel_AddHulls(rgMeshModel* m, rgShapeDef* shape, bool isConvex) {
    char name[96];
    rgHullParts parts = {0};
    if (!isConvex && !m->load->hulls) {
        rgResult found = rgFindHullParts(&m->data, m->load, &m->arena, &parts);
        if (found == rg_errorMemory) {
            return found;
        }
    }
    shape->kind = rg_shapeHull;
    if (parts.count < 2) {
        if (!isConvex) {
            rgDiagnostics_Add(m->diagnostics, rg_severityWarning, m->path, 0,
                              "the mesh is not convex: its convex hull is used");
        }
        return rgModelDef_AddShape(m->def, shape, NULL);
    }
    rgDiagnostics_Add(m->diagnostics, rg_severityNote, m->path, 0,
                      "the mesh is not convex: %d convex parts are used, which fill hollows up to "
                      "%.1f %% of its size",
                      parts.count, 100 * parts.hollow);
    rgResult result = rg_ok;
    rgShapeDef part = *shape;
    part.name = name;
    for (int i = 0; i < parts.count && result == rg_ok; ++i) {
        snprintf(name, sizeof(name), "%s.%d", m->name, i);
        part.mesh = &parts.hulls[i];
        result = rgModelDef_AddShape(m->def, &part, NULL);
    }
    return result;
}

static rgResult rgMeshModel_AddBody(rgMeshModel* m, rgBodyId* body) {
    rgBodyDef def = rgDefaultBodyDef();
    rgJointDef joint = rgDefaultJointDef();
    def.name = m->name;
    def.source = (rgSource){.file = m->path};
    joint.name = m->name;
    joint.kind = rg_jointFree;
    joint.source = def.source;
    rgResult result = rg_ok;
    if (m->load->base != rg_baseFixed) {
        result = rgMeshModel_Inertia(m, &def.inertia);
    }
    if (result == rg_ok) {
        result = rgModelDef_AddBody(m->def, &def, body);
    }
    joint.body = *body;
    if (result == rg_ok && m->load->base != rg_baseFixed) {
        result = rgModelDef_AddJoint(m->def, &joint, NULL);
    }
    return result;
}

static rgResult rgMeshModel_Build(rgMeshModel* m) {
    rgShapeDef shape = rgDefaultShapeDef();
    bool isConvex = m->data.triangleCount == 0;
    double size = rgMeshModel_Size(m);
    if (size > RG_MESH_LARGE) {
        rgDiagnostics_Add(
            m->diagnostics, rg_severityWarning, m->path, 0,
            "the mesh is %.3g m large; if the file is in millimetres, use a scale of 0.001", size);
    }
    rgModelDef_SetName(m->def, m->name);
    rgResult result = rgMeshModel_AddBody(m, &shape.body);
    if (result == rg_ok && !isConvex) {
        double scale = m->load->meshScale > 0 ? m->load->meshScale : 1;
        result = rgMesh_IsConvex(m->mesh, RG_CONVEX_DEPTH_RATIO * size / scale, &isConvex);
    }
    shape.name = m->name;
    shape.mesh = &m->data;
    shape.source = (rgSource){.file = m->path};
    if (result == rg_ok && !isConvex && m->load->base == rg_baseFixed) {
        shape.kind = rg_shapeMesh; // its triangles can stay
        if (m->load->sheetThickness > 0) {
            result = rgMakeSheet(&m->arena, m->load->sheetThickness, &m->data);
        }
        return result == rg_ok ? rgModelDef_AddShape(m->def, &shape, NULL) : result;
    }
    return result == rg_ok ? rgMeshModel_AddHulls(m, &shape, isConvex) : result;
}

rgResult rgLoadMeshModel(const char* path, const rgLoadDef* load, rgDiagnostics* diagnostics,
                         rgModelDef** model) {
    rgMeshModel m = {.path = path, .load = load, .diagnostics = diagnostics};
    rgMesh* mesh = NULL;
    rgResult result = rgLoadMesh(path, &load->allocator, diagnostics, &mesh);
    if (result != rg_ok) {
        return result;
    }
    m.mesh = mesh;
    rgArena_Init(&m.arena, &load->allocator);
    rgMeshModel_Name(&m);
    result = rgCreateModelDef(&load->allocator, &m.def);
    if (result == rg_ok) {
        result = rgMeshModel_Scale(&m) ? rgMeshModel_Build(&m) : rg_errorMemory;
    }
    if (result == rg_ok && load->strict &&
        rgDiagnostics_CountOf(diagnostics, rg_severityWarning) > 0) {
        result = rg_errorFormat;
    }
    if (result == rg_ok) {
        *model = m.def;
    } else {
        rgDestroyModelDef(m.def);
    }
    rgArena_Free(&m.arena);
    rgDestroyMesh(mesh);
    return result;
}
