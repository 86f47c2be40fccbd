// MJCF <asset>: meshes, height fields, colours of materials. Mesh files are read on first use.
#include "io/mjcf.h"
#include "io/png.h"
#include "rigor/mesh.h"

#include <string.h>

#define RG_HFIELD_MAX_BYTES ((size_t)1 << 30)
#define RG_HFIELD_MAX_COUNT (1 << 24)

// Attributes of a mesh that a class may give.
typedef struct rgMjMeshSettings {
    double scale[3];
    int inertia;
} rgMjMeshSettings;

void rgMjcf_ApplyMesh(rgMjcf* m, const rgXmlNode* node, void* value) {
    static const rgXmlWord kinds[] = {{"legacy", rg_mjMeshLegacy},
                                      {"exact", rg_mjMeshExact},
                                      {"convex", rg_mjMeshConvex},
                                      {"shell", rg_mjMeshShell},
                                      {NULL, 0}};
    rgMjMeshSettings* s = value;
    rgXmlReader_Doubles(&m->reader, node, "scale", s->scale, 3, 3);
    rgXmlReader_Word(&m->reader, node, "inertia", kinds, &s->inertia);
}

static rgMjMeshSettings rgMjcf_MeshSettings(rgMjcf* m, const rgXmlNode* node) {
    static const char* const names[] = {"mesh", NULL};
    rgMjMeshSettings settings = {.scale = {1, 1, 1}};
    rgMjcf_ApplyClass(m, rgMjcf_Class(m, node, "class", 0), names, rgMjcf_ApplyMesh, &settings);
    rgMjcf_ApplyMesh(m, node, &settings);
    return settings;
}

const char* rgMjcf_FileStem(rgMjcf* m, const char* file) {
    if (file == NULL) {
        return NULL;
    }
    const char* slash = strrchr(file, '/');
    const char* base = slash != NULL ? slash + 1 : file;
    const char* dot = strrchr(base, '.');
    size_t length = dot != NULL ? (size_t)(dot - base) : strlen(base);
    char* stem = RG_TAKE(&m->arena, char, length + 1);
    if (stem != NULL) {
        memcpy(stem, base, length);
        stem[length] = '\0';
    }
    return stem;
}

// Name of the built-in shape of a mesh; NULL: none.
static const char* rgMjcf_BuiltinKind(const rgXmlNode* node) {
    const char* kind = rgXmlNode_Attribute(node, "builtin");
    return kind != NULL && strcmp(kind, "none") != 0 ? kind : NULL;
}

static void rgMjcf_AddMesh(rgMjcf* m, const rgXmlNode* node) {
    static const char* const known[] = {
        "name",        "class",   "content_type", "file",    "vertex",   "normal",
        "texcoord",    "face",    "refpos",       "refquat", "scale",    "smoothnormal",
        "maxhullvert", "inertia", "builtin",      "params",  "material", NULL};
    rgXmlReader_CheckAttributes(&m->reader, node, known);
    rgMjMesh* mesh =
        rgMjcf_Grow(m, (void**)&m->meshes, &m->meshCapacity, m->meshCount, sizeof(*mesh));
    if (mesh == NULL) {
        return;
    }
    const char* name = rgXmlNode_Attribute(node, "name");
    const char* file = rgXmlNode_Attribute(node, "file");
    name = name != NULL ? name : rgMjcf_FileStem(m, file);
    *mesh = (rgMjMesh){.name = name, .node = node};
    int sources = (file != NULL) + (rgXmlNode_Attribute(node, "vertex") != NULL) +
                  (rgMjcf_BuiltinKind(node) != NULL);
    if (sources != 1) {
        rgXmlReader_Error(&m->reader, node, "<mesh>: '%.60s' has %s of file, vertex and builtin",
                          name != NULL ? name : "", sources == 0 ? "none" : "more than one");
    }
    rgMjNames_Add(m, &m->meshNames, node, name, m->meshCount);
    m->meshCount += 1;
}

static bool rgMjcf_AssetIn(const rgMjcf* m, const char* base, const char* file,
                           char path[RG_PATH_LENGTH]) {
    char folder[RG_PATH_LENGTH];
    if (m->compiler.meshDir != NULL && !rgIsAbsolutePath(file)) {
        return rgJoinPath(base, m->compiler.meshDir, folder) && rgJoinPath(folder, file, path);
    }
    return rgJoinPath(base, file, path);
}

// Beside the main file, or else beside the included one that names it.
static bool rgMjcf_AssetPath(rgMjcf* m, const rgXmlNode* node, const char* file,
                             char path[RG_PATH_LENGTH]) {
    if (m->compiler.stripPath) {
        const char* slash = strrchr(file, '/');
        file = slash != NULL ? slash + 1 : file;
    }
    bool fits = rgMjcf_AssetIn(m, m->folder, file, path);
    char folder[RG_PATH_LENGTH], beside[RG_PATH_LENGTH];
    if ((!fits || !rgFileExists(path)) && node->file != NULL && rgPathFolder(node->file, folder) &&
        rgMjcf_AssetIn(m, folder, file, beside) && rgFileExists(beside)) {
        memcpy(path, beside, sizeof(beside));
        return true;
    }
    return fits;
}

// Copy into the arena so that it can be scaled.
static bool rgMjMesh_Copy(rgMjcf* m, rgMjMesh* mesh, const rgMeshData* data) {
    bool failed = false;
    double* vertices = rgKeepArray(&m->arena, data->vertices, 3 * (size_t)data->vertexCount,
                                   sizeof(double), &failed);
    int* triangles = rgKeepArray(&m->arena, data->triangles, 3 * (size_t)data->triangleCount,
                                 sizeof(int), &failed);
    if (failed) {
        rgMjcf_Check(m, rg_errorMemory);
        return false;
    }
    mesh->data = (rgMeshData){.vertexCount = data->vertexCount,
                              .vertices = vertices,
                              .triangleCount = data->triangleCount,
                              .triangles = triangles};
    return true;
}

static bool rgMjMesh_ReadFile(rgMjcf* m, rgMjMesh* mesh, const char* file, const rgXmlNode* user,
                              bool matters) {
    char path[RG_PATH_LENGTH];
    bool there = rgMjcf_AssetPath(m, mesh->node, file, path) && rgFileExists(path);
    if (!there && !matters) {
        if (!m->missingTold) {
            rgXmlReader_Warn(&m->reader, mesh->node,
                             "<mesh file>: '%.200s' does not exist; shapes that show it or other "
                             "missing files are left out",
                             file);
        }
        m->missingTold = true;
        return false;
    }
    if (!there) {
        rgXmlReader_Error(&m->reader, mesh->node,
                          "<mesh file>: '%.200s' does not exist (used in line %d)", file,
                          user->line);
        return false;
    }
    rgMesh* read = NULL;
    rgResult result = rgLoadMesh(path, &m->load->allocator, m->reader.diagnostics, &read);
    if (result != rg_ok) {
        rgXmlReader_Error(&m->reader, mesh->node, "<mesh file>: '%.200s' cannot be read", file);
        return false;
    }
    rgMeshData data = rgMesh_Data(read);
    bool good = rgMjMesh_Copy(m, mesh, &data);
    rgDestroyMesh(read);
    return good;
}

static bool rgMjMesh_CheckFaces(rgMjcf* m, const rgXmlNode* node, const int* faces, int count,
                                int vertexCount) {
    for (int i = 0; i < count; ++i) {
        if (faces[i] < 0 || faces[i] >= vertexCount) {
            rgXmlReader_Error(&m->reader, node, "<mesh face>: there is no vertex %d", faces[i]);
            return false;
        }
    }
    return true;
}

static bool rgMjMesh_ReadInline(rgMjcf* m, rgMjMesh* mesh) {
    const rgXmlNode* node = mesh->node;
    int numberCount = rgXmlNode_WordCount(node, "vertex");
    int indexCount = rgXmlNode_WordCount(node, "face");
    if (numberCount % 3 != 0 || numberCount < 12) {
        rgXmlReader_Error(
            &m->reader, node,
            "<mesh vertex>: %d numbers; at least 4 vertices of three numbers each are needed",
            numberCount);
        return false;
    }
    if (indexCount % 3 != 0) {
        rgXmlReader_Error(&m->reader, node, "<mesh face>: %d numbers; each face needs three",
                          indexCount);
        return false;
    }
    double* vertices = RG_TAKE(&m->arena, double, numberCount);
    int* faces = RG_TAKE(&m->arena, int, RG_MAX(indexCount, 1));
    if (vertices == NULL || faces == NULL) {
        rgMjcf_Check(m, rg_errorMemory);
        return false;
    }
    if (rgXmlReader_Doubles(&m->reader, node, "vertex", vertices, numberCount, numberCount) == 0 ||
        (indexCount > 0 &&
         (rgXmlReader_Ints(&m->reader, node, "face", faces, indexCount, indexCount) == 0 ||
          !rgMjMesh_CheckFaces(m, node, faces, indexCount, numberCount / 3)))) {
        return false;
    }
    mesh->data = (rgMeshData){.vertexCount = numberCount / 3,
                              .vertices = vertices,
                              .triangleCount = indexCount / 3,
                              .triangles = indexCount > 0 ? faces : NULL};
    return true;
}

// Move by refpos, turn back by refquat, then scale; mirrored faces are turned round.
static void rgMjMesh_Place(rgMjcf* m, rgMjMesh* mesh, const rgMjMeshSettings* settings) {
    double pos[3] = {0, 0, 0}, quat[4] = {1, 0, 0, 0};
    rgXmlReader_Doubles(&m->reader, mesh->node, "refpos", pos, 3, 3);
    rgXmlReader_Doubles(&m->reader, mesh->node, "refquat", quat, 4, 4);
    rgQuat turn = rgQuatNormalize((rgQuat){quat[0], quat[1], quat[2], quat[3]});
    bool still = turn.w == 1;
    const double* s = settings->scale;
    double* vertices = (double*)(uintptr_t)mesh->data.vertices; // ours, in the arena
    for (int i = 0; i < mesh->data.vertexCount; ++i) {
        double* v = vertices + 3 * i;
        rgVec3 x = rgVec(v[0] - pos[0], v[1] - pos[1], v[2] - pos[2]);
        x = still ? x : rgRotateBack(turn, x);
        v[0] = s[0] * x.x, v[1] = s[1] * x.y, v[2] = s[2] * x.z;
    }
    int* faces = (int*)(uintptr_t)mesh->data.triangles;
    for (int i = 0; s[0] * s[1] * s[2] < 0 && i < mesh->data.triangleCount; ++i) {
        int swap = faces[3 * i + 1];
        faces[3 * i + 1] = faces[3 * i + 2];
        faces[3 * i + 2] = swap;
    }
}

const rgMjMesh* rgMjcf_UseMesh(rgMjcf* m, int number, const rgXmlNode* user, bool matters) {
    rgMjMesh* mesh = &m->meshes[number];
    if (!mesh->isLoaded && !mesh->isBroken) {
        const char* file = rgXmlNode_Attribute(mesh->node, "file");
        rgMjMeshSettings settings = rgMjcf_MeshSettings(m, mesh->node);
        mesh->inertia = settings.inertia;
        const char* builtin = rgMjcf_BuiltinKind(mesh->node);
        mesh->isLoaded = file != NULL      ? rgMjMesh_ReadFile(m, mesh, file, user, matters)
                         : builtin != NULL ? rgMjMesh_MakeBuiltin(m, mesh, builtin)
                                           : rgMjMesh_ReadInline(m, mesh);
        mesh->isBroken = !mesh->isLoaded;
        if (mesh->isLoaded) {
            rgMjMesh_Place(m, mesh, &settings);
        }
    }
    if (mesh->isBroken && matters && m->reader.errorCount == 0) {
        rgXmlReader_Error(&m->reader, user, "<%s mesh>: '%.60s' could not be read", user->name,
                          mesh->name != NULL ? mesh->name : "");
    }
    return mesh->isLoaded ? mesh : NULL;
}

static void rgMjField_Fill(rgMjField* field, double* heights, const double size[4]) {
    int count = field->data.columnCount * field->data.rowCount;
    double low = heights[0], high = heights[0];
    for (int i = 0; i < count; ++i) {
        low = RG_MIN(low, heights[i]);
        high = RG_MAX(high, heights[i]);
    }
    double scale = high > low ? size[2] / (high - low) : 0;
    for (int i = 0; i < count; ++i) {
        heights[i] = (heights[i] - low) * scale;
    }
    field->data.sizeX = size[0];
    field->data.sizeY = size[1];
    field->data.depth = size[3];
    field->data.heights = heights;
}

static double* rgMjcf_AllocateHeights(rgMjcf* m, const rgXmlNode* node, rgMjField* field, int rows,
                                      int columns) {
    if (rows < 2 || columns < 2 || (int64_t)rows * columns > RG_HFIELD_MAX_COUNT) {
        rgXmlReader_Error(&m->reader, node,
                          "<hfield>: a grid of %d by %d is too small or too large", rows, columns);
        return NULL;
    }
    field->data.rowCount = rows;
    field->data.columnCount = columns;
    double* heights = RG_TAKE(&m->arena, double, (size_t)rows*(size_t)columns);
    if (heights == NULL) {
        rgMjcf_Check(m, rg_errorMemory);
    }
    return heights;
}

// Rows are written from the far side (largest y) down.
static double* rgMjcf_InlineHeights(rgMjcf* m, const rgXmlNode* node, rgMjField* field) {
    int rows = 0, columns = 0;
    rgXmlReader_Int(&m->reader, node, "nrow", &rows);
    rgXmlReader_Int(&m->reader, node, "ncol", &columns);
    double* heights = rgMjcf_AllocateHeights(m, node, field, rows, columns);
    if (heights == NULL) {
        return NULL;
    }
    size_t count = (size_t)rows * (size_t)columns;
    memset(heights, 0, count * sizeof(double));
    if (rgXmlNode_Attribute(node, "elevation") == NULL) {
        return heights;
    }
    if (rgXmlReader_Doubles(&m->reader, node, "elevation", heights, (int)count, (int)count) == 0) {
        return NULL;
    }
    for (int i = 0; i < rows / 2; ++i) {
        for (int j = 0; j < columns; ++j) {
            double* a = &heights[(size_t)i * (size_t)columns + (size_t)j];
            double* b = &heights[(size_t)(rows - 1 - i) * (size_t)columns + (size_t)j];
            double swap = *a;
            *a = *b;
            *b = swap;
        }
    }
    return heights;
}

// Brightness is height; the top row of the image is the far side.
static double* rgMjcf_PngHeights(rgMjcf* m, const rgXmlNode* node, rgMjField* field,
                                 const char* bytes, size_t count) {
    rgGreyImage image;
    char reason[100];
    if (!rgReadPng(bytes, count, RG_HFIELD_MAX_COUNT, &m->load->allocator, &image, reason)) {
        rgXmlReader_Error(&m->reader, node, "<hfield file>: no PNG image can be read: %s", reason);
        return NULL;
    }
    double* heights = rgMjcf_AllocateHeights(m, node, field, image.height, image.width);
    for (int i = 0; heights != NULL && i < image.height; ++i) {
        const uint8_t* row = image.pixels + (size_t)(image.height - 1 - i) * (size_t)image.width;
        for (int j = 0; j < image.width; ++j) {
            heights[(size_t)i * (size_t)image.width + (size_t)j] = row[j];
        }
    }
    rgRelease(&m->load->allocator, image.pixels);
    return heights;
}

// MuJoCo's own format: two 32-bit integers, then rows of 32-bit floats.
static double* rgMjcf_BinaryHeights(rgMjcf* m, const rgXmlNode* node, rgMjField* field,
                                    const char* file, const char* bytes, size_t count) {
    int32_t sizes[2] = {0, 0};
    memcpy(sizes, bytes, RG_MIN(count, sizeof(sizes)));
    bool fits = sizes[0] > 0 && sizes[1] > 0 &&
                8 + 4 * (uint64_t)sizes[0] * (uint64_t)sizes[1] == (uint64_t)count;
    double* heights = NULL;
    if (!fits) {
        rgXmlReader_Error(&m->reader, node, "<hfield file>: '%.200s' has the wrong length", file);
    } else {
        heights = rgMjcf_AllocateHeights(m, node, field, sizes[0], sizes[1]);
    }
    for (int i = 0; heights != NULL && i < sizes[0] * sizes[1]; ++i) {
        float height;
        memcpy(&height, bytes + 8 + 4 * (size_t)i, 4);
        heights[i] = isfinite(height) ? height : 0;
    }
    return heights;
}

static double* rgMjcf_FileHeights(rgMjcf* m, const rgXmlNode* node, rgMjField* field,
                                  const char* file) {
    char path[RG_PATH_LENGTH], extension[16];
    char* bytes = NULL;
    size_t count = 0;
    if (!rgMjcf_AssetPath(m, node, file, path) ||
        rgReadFile(path, RG_HFIELD_MAX_BYTES, &m->load->allocator, m->reader.diagnostics, &bytes,
                   &count) != rg_ok) {
        rgXmlReader_Error(&m->reader, node, "<hfield file>: '%.200s' cannot be read", file);
        return NULL;
    }
    rgPathExtension(file, extension);
    double* heights = strcmp(extension, "png") == 0
                          ? rgMjcf_PngHeights(m, node, field, bytes, count)
                          : rgMjcf_BinaryHeights(m, node, field, file, bytes, count);
    rgRelease(&m->load->allocator, bytes);
    return heights;
}

static void rgMjcf_AddField(rgMjcf* m, const rgXmlNode* node) {
    static const char* const known[] = {"name", "content_type", "file",      "nrow",
                                        "ncol", "size",         "elevation", NULL};
    rgXmlReader_CheckAttributes(&m->reader, node, known);
    rgMjField* field =
        rgMjcf_Grow(m, (void**)&m->fields, &m->fieldCapacity, m->fieldCount, sizeof(*field));
    if (field == NULL) {
        return;
    }
    const char* file = rgXmlNode_Attribute(node, "file");
    const char* name = rgXmlNode_Attribute(node, "name");
    *field = (rgMjField){.name = name != NULL ? name : rgMjcf_FileStem(m, file)};
    double size[4] = {0, 0, 0, 0};
    rgXmlReader_Required(&m->reader, node, "size");
    rgXmlReader_Doubles(&m->reader, node, "size", size, 4, 4);
    double* heights = file != NULL ? rgMjcf_FileHeights(m, node, field, file)
                                   : rgMjcf_InlineHeights(m, node, field);
    if (heights != NULL && !(size[0] > 0 && size[1] > 0 && size[2] > 0 && size[3] > 0)) {
        rgXmlReader_Error(&m->reader, node, "<hfield size>: all four must be positive");
    } else if (heights != NULL) {
        rgMjField_Fill(field, heights, size);
    }
    rgMjNames_Add(m, &m->fieldNames, node, field->name, m->fieldCount);
    m->fieldCount += 1;
}

static void rgMjcf_ApplyMaterial(rgMjcf* m, const rgXmlNode* node, void* value) {
    rgXmlReader_Doubles(&m->reader, node, "rgba", value, 4, 4);
}

static void rgMjcf_AddMaterial(rgMjcf* m, const rgXmlNode* node) {
    static const char* const names[] = {"material", NULL};
    double color[4] = {1, 1, 1, 1};
    rgMjcf_ApplyClass(m, rgMjcf_Class(m, node, "class", 0), names, rgMjcf_ApplyMaterial, color);
    rgMjcf_ApplyMaterial(m, node, color);
    double(*slot)[4] =
        rgMjcf_Grow(m, (void**)&m->colors, &m->colorCapacity, m->colorCount, sizeof(*slot));
    if (slot != NULL) {
        memcpy(*slot, color, sizeof(color));
        rgMjNames_Add(m, &m->materialNames, node, rgXmlNode_Attribute(node, "name"), m->colorCount);
        m->colorCount += 1;
    }
}

static void rgMjcf_ReadAsset(rgMjcf* m, const rgXmlNode* node) {
    if (strcmp(node->name, "mesh") == 0) {
        rgMjcf_AddMesh(m, node);
    } else if (strcmp(node->name, "hfield") == 0) {
        rgMjcf_AddField(m, node);
    } else if (strcmp(node->name, "material") == 0) {
        rgMjcf_AddMaterial(m, node);
    } else if (strcmp(node->name, "model") == 0) {
        rgMjcf_AddModel(m, node);
    }
}

void rgMjcf_ReadAssets(rgMjcf* m, const rgXmlNode* root) {
    static const char* const known[] = {"mesh",     "hfield", "skin", "texture",
                                        "material", "model",  NULL};
    for (const rgXmlNode* section = rgXmlNode_Child(root, "asset"); section != NULL;
         section = rgXmlNode_Next(section, "asset")) {
        rgXmlReader_CheckChildren(&m->reader, section, known);
        for (const rgXmlNode* node = rgXmlNode_Child(section, NULL); node != NULL;
             node = rgXmlNode_Next(node, NULL)) {
            rgMjcf_ReadAsset(m, node);
        }
    }
}
