// Wavefront OBJ files into triangles: vertices, faces, objects and groups.
#include "io/mesh.h"
#include "io/number.h"
#include "io/polygon.h"

#include <math.h>
#include <string.h>

typedef struct rgObjReader {
    rgMeshReader* reader;
    const char* at;  // in the current line
    const char* end; // end of the current line
    int line;
    bool warnedUnknown;
    int* corners; // corners of the current face
    int cornerCount, cornerCapacity;
    int* triangles; // triangles of the current face
    int triangleCapacity;
} rgObjReader;

static void rgObj_SkipBlanks(rgObjReader* obj) {
    // A backslash before the end of a line continues it.
    while (obj->at < obj->end &&
           (rgIsBlank(*obj->at) || (*obj->at == '\\' && obj->at + 1 < obj->end &&
                                    (obj->at[1] == '\n' || obj->at[1] == '\r')))) {
        ++obj->at;
    }
}

static size_t rgObj_Word(rgObjReader* obj, const char** word) {
    rgObj_SkipBlanks(obj);
    *word = obj->at;
    while (obj->at < obj->end && !rgIsBlank(*obj->at)) {
        ++obj->at;
    }
    return (size_t)(obj->at - *word);
}

static rgResult rgObj_Vertex(rgObjReader* obj) {
    double position[3];
    for (int i = 0; i < 3; ++i) {
        const char* word = NULL;
        size_t length = rgObj_Word(obj, &word);
        if (length == 0) {
            return rgMeshReader_Fail(obj->reader, obj->line, "v: needs 3 numbers, has %d", i);
        }
        bool good = rgScanDouble(word, word + length, &position[i]) == word + length &&
                    fabs(position[i]) <= RG_MESH_MAX_COORDINATE;
        if (!good) {
            return rgMeshReader_Fail(obj->reader, obj->line, "v: '%.*s' is not a coordinate",
                                     (int)RG_MIN(length, (size_t)40), word);
        }
    }
    return rgMeshReader_AddVertex(obj->reader, position);
}

// i, i/j, i//k, i/j/k with numbers from 1, or negative ones that count back from the last vertex.
static rgResult rgObj_Corner(rgObjReader* obj, const char* word, size_t length, int* vertex) {
    const char* end = word + length;
    int index = 0;
    int ignored = 0;
    const char* at = rgScanInt(word, end, &index);
    for (int slash = 0; at != NULL && at < end && slash < 2; ++slash) {
        at = *at == '/' ? at + 1 : NULL;
        if (at != NULL && at < end && *at != '/') {
            at = rgScanInt(at, end, &ignored);
        }
    }
    if (at != end) {
        return rgMeshReader_Fail(obj->reader, obj->line, "f: '%.*s' is not a corner of a face",
                                 (int)RG_MIN(length, (size_t)40), word);
    }
    int count = obj->reader->mesh->vertexCount;
    if (index == 0 || index > count || index < -count) {
        return rgMeshReader_Fail(obj->reader, obj->line,
                                 "f: vertex %d is out of range, the file has %d so far", index,
                                 count);
    }
    *vertex = index > 0 ? index - 1 : count + index;
    return rg_ok;
}

static rgResult rgObj_ReadCorners(rgObjReader* obj) {
    const rgAllocator* allocator = &obj->reader->mesh->allocator;
    const char* word = NULL;
    obj->cornerCount = 0;
    for (size_t length = rgObj_Word(obj, &word); length > 0; length = rgObj_Word(obj, &word)) {
        int vertex = 0;
        rgResult result = rgObj_Corner(obj, word, length, &vertex);
        if (result == rg_ok) {
            result = rgReserve(allocator, (void**)&obj->corners, &obj->cornerCapacity,
                               obj->cornerCount, obj->cornerCount + 1, sizeof(int));
        }
        if (result != rg_ok) {
            return result;
        }
        obj->corners[obj->cornerCount++] = vertex;
    }
    if (obj->cornerCount < 3) {
        return rgMeshReader_Fail(obj->reader, obj->line, "f: needs 3 corners, has %d",
                                 obj->cornerCount);
    }
    return rg_ok;
}

static rgResult rgObj_Face(rgObjReader* obj) {
    rgMesh* mesh = obj->reader->mesh;
    rgResult result = rgObj_ReadCorners(obj);
    if (result == rg_ok) {
        result = rgReserve(&mesh->allocator, (void**)&obj->triangles, &obj->triangleCapacity, 0,
                           obj->cornerCount - 2, 3 * sizeof(int));
    }
    if (result != rg_ok) {
        return result;
    }
    rgTriangulatePolygon(mesh->vertices, obj->corners, obj->cornerCount, obj->triangles);
    for (int i = 0; i + 2 < obj->cornerCount && result == rg_ok; ++i) {
        const int* t = obj->triangles + 3 * (size_t)i;
        result = rgMeshReader_AddTriangle(obj->reader, t[0], t[1], t[2]);
    }
    return result;
}

static rgResult rgObj_Part(rgObjReader* obj) {
    rgObj_SkipBlanks(obj);
    const char* last = obj->end;
    while (last > obj->at && rgIsBlank(last[-1])) {
        --last;
    }
    return rgMeshReader_StartPart(obj->reader, obj->at, (size_t)(last - obj->at));
}

// Keywords without effect on the surface's shape.
static bool rgObj_IsIgnorable(const char* word, size_t length) {
    static const char* const ignorable[] = {"vt", "vn", "vp", "s",      "usemtl", "mtllib",
                                            "l",  "p",  "mg", "usemap", "maplib", "lod"};
    for (int i = 0; i < RG_COUNT(ignorable); ++i) {
        if (strlen(ignorable[i]) == length && memcmp(ignorable[i], word, length) == 0) {
            return true;
        }
    }
    return false;
}

static rgResult rgObj_Line(rgObjReader* obj) {
    const char* word = NULL;
    size_t length = rgObj_Word(obj, &word);
    if (length == 0 || word[0] == '#' || rgObj_IsIgnorable(word, length)) {
        return rg_ok;
    }
    if (length == 1) {
        switch (word[0]) {
        case 'v':
            return rgObj_Vertex(obj);
        case 'f':
            return rgObj_Face(obj);
        case 'o':
        case 'g':
            return rgObj_Part(obj);
        default:
            break;
        }
    }
    if (memchr(word, '\0', length) != NULL) {
        return rgMeshReader_Fail(obj->reader, obj->line, "binary data in an OBJ file");
    }
    if (!obj->warnedUnknown) {
        obj->warnedUnknown = true;
        rgDiagnostics_Add(obj->reader->diagnostics, rg_severityWarning, obj->reader->file,
                          obj->line, "'%.*s' is not a known statement; it and others are ignored",
                          (int)RG_MIN(length, (size_t)40), word);
    }
    return rg_ok;
}

// End of the line that starts at `start`, continued lines included; counts further lines.
static const char* rgObj_LineEnd(const char* start, const char* end, int* further) {
    for (const char* at = start; at < end; ++at) {
        if (*at != '\n') {
            continue;
        }
        const char* last = at > start && at[-1] == '\r' ? at - 1 : at;
        if (last == start || last[-1] != '\\') {
            return at;
        }
        ++*further;
    }
    return end;
}

rgResult rgReadObj(rgMeshReader* reader) {
    const char* at = reader->bytes;
    const char* end = reader->bytes + reader->byteCount;
    rgObjReader obj = {.reader = reader, .line = 1};
    rgResult result = rgMeshReader_StartPart(reader, "", 0);
    while (result == rg_ok && at < end) {
        int further = 0;
        obj.at = at;
        obj.end = rgObj_LineEnd(at, end, &further);
        result = rgObj_Line(&obj);
        obj.line += further + 1;
        at = obj.end + 1;
    }
    rgRelease(&reader->mesh->allocator, obj.corners);
    rgRelease(&reader->mesh->allocator, obj.triangles);
    return result;
}
