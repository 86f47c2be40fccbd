// Mesh files: choosing the reader, collecting triangles, and final checks.
#include "io/mesh.h"

#include "io/file.h"
#include "io/number.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

rgResult rgMeshReader_Fail(rgMeshReader* reader, int line, const char* format, ...) {
    char text[600];
    va_list arguments;
    va_start(arguments, format);
    if (rgPrintList(text, sizeof(text), format, arguments) < 0) {
        text[0] = '\0';
    }
    va_end(arguments);
    rgDiagnostics_Add(reader->diagnostics, rg_severityError, reader->file, line, "%s", text);
    return rg_errorFormat;
}

static rgResult rgMeshReader_Full(rgMeshReader* reader) {
    rgMeshReader_Fail(reader, 0, "the mesh has more than %d vertices or triangles",
                      RG_MESH_MAX_COUNT);
    return rg_errorUnsupported;
}

rgResult rgMeshReader_AddVertex(rgMeshReader* reader, const double position[3]) {
    rgMesh* mesh = reader->mesh;
    if (mesh->vertexCount >= RG_MESH_MAX_COUNT) {
        return rgMeshReader_Full(reader);
    }
    rgResult result = rgReserve(&mesh->allocator, (void**)&mesh->vertices, &mesh->vertexCapacity,
                                mesh->vertexCount, mesh->vertexCount + 1, 3 * sizeof(double));
    if (result == rg_ok) {
        memcpy(mesh->vertices + 3 * (size_t)mesh->vertexCount++, position, 3 * sizeof(double));
    }
    return result;
}

rgResult rgMeshReader_AddTriangle(rgMeshReader* reader, int a, int b, int c) {
    rgMesh* mesh = reader->mesh;
    if (a == b || b == c || a == c) {
        ++reader->degenerateCount;
        return rg_ok;
    }
    if (mesh->triangleCount >= RG_MESH_MAX_COUNT) {
        return rgMeshReader_Full(reader);
    }
    rgResult result = rgReserve(&mesh->allocator, (void**)&mesh->triangles, &mesh->triangleCapacity,
                                mesh->triangleCount, mesh->triangleCount + 1, 3 * sizeof(int));
    if (result == rg_ok) {
        int* triangle = mesh->triangles + 3 * (size_t)mesh->triangleCount++;
        triangle[0] = a;
        triangle[1] = b;
        triangle[2] = c;
    }
    return result;
}

static void rgMesh_CloseParts(rgMesh* mesh) {
    if (mesh->partCount == 0) {
        return;
    }
    rgMeshPart* last = &mesh->parts[mesh->partCount - 1];
    last->triangleCount = mesh->triangleCount - last->firstTriangle;
    if (last->triangleCount == 0) {
        union {
            const char* view;
            void* memory;
        } name = {.view = last->name};
        rgRelease(&mesh->allocator, name.memory);
        --mesh->partCount;
    }
}

rgResult rgMeshReader_StartPart(rgMeshReader* reader, const char* name, size_t length) {
    rgMesh* mesh = reader->mesh;
    rgMesh_CloseParts(mesh);
    rgResult result = rgReserve(&mesh->allocator, (void**)&mesh->parts, &mesh->partCapacity,
                                mesh->partCount, mesh->partCount + 1, sizeof(rgMeshPart));
    if (result != rg_ok) {
        return result;
    }
    length = RG_MIN(length, (size_t)200);
    char* copy = rgAllocate(&mesh->allocator, length + 1, 1);
    if (copy == NULL) {
        return rg_errorMemory;
    }
    memcpy(copy, name, length);
    mesh->parts[mesh->partCount++] =
        (rgMeshPart){.name = copy, .firstTriangle = mesh->triangleCount};
    return rg_ok;
}

void rgDestroyMesh(rgMesh* mesh) {
    if (mesh == NULL) {
        return;
    }
    for (int i = 0; i < mesh->partCount; ++i) {
        union {
            const char* view;
            void* memory;
        } name = {.view = mesh->parts[i].name};
        rgRelease(&mesh->allocator, name.memory);
    }
    rgAllocator allocator = mesh->allocator;
    rgRelease(&allocator, mesh->parts);
    rgRelease(&allocator, mesh->vertices);
    rgRelease(&allocator, mesh->triangles);
    rgRelease(&allocator, mesh);
}

rgMeshData rgMesh_Data(const rgMesh* mesh) {
    if (mesh == NULL) {
        return (rgMeshData){0};
    }
    return (rgMeshData){.vertexCount = mesh->vertexCount,
                        .vertices = mesh->vertices,
                        .triangleCount = mesh->triangleCount,
                        .triangles = mesh->triangles};
}

int rgMesh_PartCount(const rgMesh* mesh) {
    return mesh != NULL ? mesh->partCount : 0;
}

rgMeshPart rgMesh_Part(const rgMesh* mesh, int index) {
    if (mesh == NULL || index < 0 || index >= mesh->partCount) {
        return (rgMeshPart){.name = ""};
    }
    return mesh->parts[index];
}

const char* rgForeignMeshName(const char* path) {
    static const char* const names[][2] = {
        {"ply", "PLY"},        {"gltf", "glTF"},     {"glb", "glTF"}, {"fbx", "FBX"},
        {"3ds", "3D Studio"},  {"off", "OFF"},       {"wrl", "VRML"}, {"usd", "USD"},
        {"mesh", "Ogre mesh"}, {"blend", "Blender"},
    };
    char extension[16];
    rgPathExtension(path, extension);
    for (int i = 0; i < RG_COUNT(names); ++i) {
        if (strcmp(extension, names[i][0]) == 0) {
            return names[i][1];
        }
    }
    return NULL;
}

// A word at the start of a line, within the first kilobytes.
static bool rgHasLine(const char* bytes, size_t byteCount, const char* word) {
    size_t length = strlen(word);
    bool atStart = true;
    for (size_t i = 0; i + length < RG_MIN(byteCount, (size_t)8192); ++i) {
        if (atStart && memcmp(bytes + i, word, length) == 0 && rgIsBlank(bytes[i + length])) {
            return true;
        }
        atStart = bytes[i] == '\n' || (atStart && rgIsBlank(bytes[i]));
    }
    return false;
}

rgMeshFormat rgGuessMeshFormat(const char* path, const char* bytes, size_t byteCount) {
    char extension[16] = "";
    if (path != NULL) {
        rgPathExtension(path, extension);
    }
    if (strcmp(extension, "stl") == 0 || strcmp(extension, "stlb") == 0) {
        return rg_meshStl;
    }
    if (strcmp(extension, "obj") == 0) {
        return rg_meshObj;
    }
    if (strcmp(extension, "dae") == 0) {
        return rg_meshCollada;
    }
    if (strcmp(extension, "msh") == 0) {
        return rg_meshMsh;
    }
    if (path != NULL && rgForeignMeshName(path) != NULL) {
        return rg_meshUnknown;
    }
    if (rgHasLine(bytes, byteCount, "facet")) {
        return rg_meshStl;
    }
    return rgHasLine(bytes, byteCount, "v") ? rg_meshObj : rg_meshUnknown;
}

static rgResult rgMeshReader_Refuse(rgMeshReader* reader) {
    const char* path = reader->file != NULL ? reader->file : "";
    const char* name = rgForeignMeshName(path);
    const char* dot = strrchr(path, '.');
    if (name != NULL && dot != NULL) {
        int stem = (int)RG_MIN(dot - path, 200);
        rgMeshReader_Fail(
            reader, 0,
            "%s files are not read, only STL, OBJ, Collada and MSH; convert with: assimp export "
            "%.*s%s %.*s.obj",
            name, stem, path, dot, stem, path);
    } else {
        rgMeshReader_Fail(reader, 0, "is not an STL, OBJ, Collada or MSH file");
    }
    return rg_errorUnsupported;
}

// Vertices that no triangle uses would only blow up hulls and bounds.
static rgResult rgMesh_DropUnused(rgMesh* mesh) {
    int* newIndex = rgAllocate(&mesh->allocator, (size_t)mesh->vertexCount, sizeof(int));
    if (newIndex == NULL) {
        return rg_errorMemory;
    }
    size_t cornerCount = 3 * (size_t)mesh->triangleCount;
    for (size_t i = 0; i < cornerCount; ++i) {
        newIndex[mesh->triangles[i]] = 1;
    }
    int kept = 0;
    for (int i = 0; i < mesh->vertexCount; ++i) {
        if (newIndex[i] != 0) {
            memmove(mesh->vertices + 3 * (size_t)kept, mesh->vertices + 3 * (size_t)i,
                    3 * sizeof(double));
            newIndex[i] = kept++;
        }
    }
    for (size_t i = 0; i < cornerCount; ++i) {
        mesh->triangles[i] = newIndex[mesh->triangles[i]];
    }
    mesh->vertexCount = kept;
    rgRelease(&mesh->allocator, newIndex);
    return rg_ok;
}

static rgResult rgMeshReader_Finish(rgMeshReader* reader) {
    rgMesh* mesh = reader->mesh;
    rgMesh_CloseParts(mesh);
    if (reader->degenerateCount > 0) {
        rgDiagnostics_Add(reader->diagnostics, rg_severityNote, reader->file, 0,
                          "%d triangles with a repeated vertex were left out",
                          reader->degenerateCount);
    }
    if (mesh->vertexCount == 0) {
        return rgMeshReader_Fail(reader, 0, "the mesh is empty");
    }
    if (mesh->triangleCount == 0) {
        rgDiagnostics_Add(reader->diagnostics, rg_severityNote, reader->file, 0,
                          "the mesh has points and no triangles");
        return rg_ok;
    }
    return rgMesh_DropUnused(mesh);
}

static rgResult rgMeshReader_Run(rgMeshReader* reader, rgMeshFormat format) {
    if (reader->byteCount > RG_MESH_MAX_BYTES) {
        rgMeshReader_Fail(reader, 0, "more than %zu bytes", RG_MESH_MAX_BYTES);
        return rg_errorUnsupported;
    }
    if (format == rg_meshUnknown) {
        format = rgGuessMeshFormat(reader->file, reader->bytes, reader->byteCount);
    }
    rgResult result = format == rg_meshStl       ? rgReadStl(reader)
                      : format == rg_meshObj     ? rgReadObj(reader)
                      : format == rg_meshCollada ? rgReadCollada(reader)
                      : format == rg_meshMsh     ? rgReadMsh(reader)
                                                 : rgMeshReader_Refuse(reader);
    return result == rg_ok ? rgMeshReader_Finish(reader) : result;
}

rgResult rgParseMesh(const void* bytes, size_t byteCount, rgMeshFormat format, const char* path,
                     const rgAllocator* allocator, rgDiagnostics* diagnostics, rgMesh** mesh) {
    if (mesh == NULL || (bytes == NULL && byteCount > 0)) {
        return rg_errorArgument;
    }
    rgMesh* made = rgAllocate(allocator, 1, sizeof(rgMesh));
    if (made == NULL) {
        return rg_errorMemory;
    }
    made->allocator = rgResolveAllocator(allocator);
    rgMeshReader reader = {.mesh = made,
                           .file = path,
                           .diagnostics = diagnostics,
                           .bytes = bytes != NULL ? bytes : "",
                           .byteCount = byteCount};
    rgResult result = rgMeshReader_Run(&reader, format);
    if (result != rg_ok) {
        rgDestroyMesh(made);
        return result;
    }
    *mesh = made;
    return rg_ok;
}

rgResult rgLoadMesh(const char* path, const rgAllocator* allocator, rgDiagnostics* diagnostics,
                    rgMesh** mesh) {
    if (path == NULL || mesh == NULL) {
        return rg_errorArgument;
    }
    char* bytes = NULL;
    size_t count = 0;
    rgResult result = rgReadFile(path, RG_MESH_MAX_BYTES, allocator, diagnostics, &bytes, &count);
    if (result == rg_ok) {
        result = rgParseMesh(bytes, count, rg_meshUnknown, path, allocator, diagnostics, mesh);
        rgRelease(allocator, bytes);
    }
    return result;
}
