// Common to the readers of mesh files: a mesh that grows, and complaints.
#pragma once
#include "base/base.h"
#include "rigor/mesh.h"

#include <math.h>
#include <string.h>

#define RG_MESH_MAX_BYTES      ((size_t)512 << 20)
#define RG_MESH_MAX_COUNT      50000000 // vertices, triangles
#define RG_MESH_MAX_COORDINATE 1e12     // [m], before scaling

struct rgMesh {
    rgAllocator allocator;
    double* vertices;
    int vertexCount, vertexCapacity;
    int* triangles;
    int triangleCount, triangleCapacity;
    rgMeshPart* parts; // names are owned
    int partCount, partCapacity;
};

// One reading of a file. Readers stop at the first error.
typedef struct rgMeshReader {
    rgMesh* mesh;
    const char* file;
    rgDiagnostics* diagnostics;
    const char* bytes;
    size_t byteCount;
    int degenerateCount; // triangles with a repeated vertex, left out
} rgMeshReader;

// Report an error and return its result. Line 0: none.
rgResult rgMeshReader_Fail(rgMeshReader* reader, int line, const char* format, ...)
    __attribute__((format(printf, 3, 4)));
rgResult rgMeshReader_AddVertex(rgMeshReader* reader, const double position[3]);
rgResult rgMeshReader_AddTriangle(rgMeshReader* reader, int a, int b, int c);
// Start a part; an empty one before it is dropped. The name may be cut.
rgResult rgMeshReader_StartPart(rgMeshReader* reader, const char* name, size_t length);

rgResult rgReadStl(rgMeshReader* reader); // vertices at the same place are one
rgResult rgReadObj(rgMeshReader* reader);
rgResult rgReadCollada(rgMeshReader* reader);
rgResult rgReadMsh(rgMeshReader* reader);

static inline bool rgIsCoordinate(double x) {
    return fabs(x) <= RG_MESH_MAX_COORDINATE; // false for not-a-number
}

// Numbers of binary files.
static inline uint32_t rgLittle32(const char* bytes) {
    const unsigned char* b = (const unsigned char*)bytes;
    return (uint32_t)b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
}

static inline double rgLittleFloat(const char* bytes) {
    uint32_t bits = rgLittle32(bytes);
    float value = 0;
    memcpy(&value, &bits, sizeof(value));
    return (double)value;
}

// Format by the file's name, or by its content when the name has no known extension.
rgMeshFormat rgGuessMeshFormat(const char* path, const char* bytes, size_t byteCount);
// Name of a format that is not read, by the extension of the path; NULL when it is unknown.
const char* rgForeignMeshName(const char* path);
