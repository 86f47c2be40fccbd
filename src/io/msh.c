// MSH files, MuJoCo's own binary meshes: four counts, then vertices, normals and texture
// coordinates in single precision, then triangles. Written little-endian.
#include "io/mesh.h"

#define RG_MSH_HEADER 16

typedef struct rgMshCounts {
    size_t vertices, normals, textures, faces;
} rgMshCounts;

static size_t rgMshCounts_Bytes(const rgMshCounts* counts) {
    return RG_MSH_HEADER + 12 * (counts->vertices + counts->normals + counts->faces) +
           8 * counts->textures;
}

static rgResult rgReadMshCounts(rgMeshReader* reader, rgMshCounts* counts) {
    if (reader->byteCount < RG_MSH_HEADER) {
        return rgMeshReader_Fail(reader, 0, "byte %zu: the file ends before its %d bytes of counts",
                                 reader->byteCount, RG_MSH_HEADER);
    }
    const char* bytes = reader->bytes;
    *counts = (rgMshCounts){rgLittle32(bytes), rgLittle32(bytes + 4), rgLittle32(bytes + 8),
                            rgLittle32(bytes + 12)};
    size_t announced = rgMshCounts_Bytes(counts);
    if (announced != reader->byteCount) {
        return rgMeshReader_Fail(reader, 0,
                                 "byte 0: %zu vertices, %zu normals, %zu texture coordinates and "
                                 "%zu triangles take %zu bytes, the file has %zu",
                                 counts->vertices, counts->normals, counts->textures, counts->faces,
                                 announced, reader->byteCount);
    }
    return rg_ok;
}

static rgResult rgReadMshVertices(rgMeshReader* reader, size_t count) {
    rgResult result = rg_ok;
    for (size_t i = 0; i < count && result == rg_ok; ++i) {
        double position[3];
        for (size_t k = 0; k < 3; ++k) {
            size_t at = RG_MSH_HEADER + 12 * i + 4 * k;
            position[k] = rgLittleFloat(reader->bytes + at);
            if (!rgIsCoordinate(position[k])) {
                return rgMeshReader_Fail(reader, 0, "byte %zu: the coordinate %g is out of range",
                                         at, position[k]);
            }
        }
        result = rgMeshReader_AddVertex(reader, position);
    }
    return result;
}

static rgResult rgReadMshFaces(rgMeshReader* reader, const rgMshCounts* counts) {
    size_t start = reader->byteCount - 12 * counts->faces;
    rgResult result = rg_ok;
    for (size_t i = 0; i < counts->faces && result == rg_ok; ++i) {
        int corners[3];
        for (size_t k = 0; k < 3; ++k) {
            uint32_t corner = rgLittle32(reader->bytes + start + 12 * i + 4 * k);
            if (corner >= counts->vertices) {
                return rgMeshReader_Fail(reader, 0, "byte %zu: there is no vertex %u",
                                         start + 12 * i + 4 * k, corner);
            }
            corners[k] = (int)corner;
        }
        result = rgMeshReader_AddTriangle(reader, corners[0], corners[1], corners[2]);
    }
    return result;
}

rgResult rgReadMsh(rgMeshReader* reader) {
    rgMshCounts counts = {0};
    rgResult result = rgReadMshCounts(reader, &counts);
    result = result == rg_ok ? rgReadMshVertices(reader, counts.vertices) : result;
    return result == rg_ok ? rgReadMshFaces(reader, &counts) : result;
}
