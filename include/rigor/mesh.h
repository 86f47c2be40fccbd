// Mesh files: STL (text and binary), OBJ and Collada into triangles.
#pragma once
#include "rigor/shape.h"

/// Triangles read from a file, checked: indices in range, coordinates finite.
typedef struct rgMesh rgMesh;

/// A solid of an STL file, an object or a group of an OBJ file, a geometry of a Collada file.
typedef struct rgMeshPart {
    const char* name; ///< "" when the file gives none
    int firstTriangle;
    int triangleCount;
} rgMeshPart;

typedef enum rgMeshFormat {
    rg_meshUnknown, ///< by file name, then by content
    rg_meshStl,
    rg_meshObj,
    rg_meshCollada,
    rg_meshMsh, ///< MuJoCo's binary .msh
} rgMeshFormat;

/// Read a mesh file. Remarks name the line, or the byte of a binary file. Other formats come back
/// as rg_errorUnsupported with the command that converts them. A NULL allocator is the C runtime.
RG_API rgResult rgLoadMesh(const char* path, const rgAllocator* allocator,
                           rgDiagnostics* diagnostics, rgMesh** mesh);
/// The same from memory; the path may be NULL and only names the bytes in remarks.
RG_API rgResult rgParseMesh(const void* bytes, size_t byteCount, rgMeshFormat format,
                            const char* path, const rgAllocator* allocator,
                            rgDiagnostics* diagnostics, rgMesh** mesh);
RG_API void rgDestroyMesh(rgMesh* mesh);

/// Views that live as long as the mesh.
RG_API rgMeshData rgMesh_Data(const rgMesh* mesh);
RG_API int rgMesh_PartCount(const rgMesh* mesh);
RG_API rgMeshPart rgMesh_Part(const rgMesh* mesh, int index);

/// True if every edge belongs to two triangles that run along it in opposite directions.
RG_API rgResult rgMesh_IsClosed(const rgMesh* mesh, bool* closed);
/// True if the triangles are the whole surface of one convex body, up to dents of depth
/// `tolerance` [m]. Open meshes and several bodies in one file are not convex.
RG_API rgResult rgMesh_IsConvex(const rgMesh* mesh, double tolerance, bool* convex);
