// STL files, text and binary, into triangles whose equal corners are one vertex.
#include "io/mesh.h"
#include "io/number.h"

#include <math.h>
#include <string.h>

#define RG_STL_HEADER 84 // 80 bytes of text and the number of triangles
#define RG_STL_RECORD 50 // normal, three corners, two bytes of attributes

// Vertices by position: open addressing over vertex numbers plus one.
typedef struct rgVertexTable {
    int* slots;
    size_t capacity; // a power of two
} rgVertexTable;

// Numbers of vertices do not depend on it, so that it may be any quick mix of the bits.
static uint64_t rgHashPosition(const double position[3]) {
    uint64_t bits[3];
    memcpy(bits, position, sizeof(bits));
    uint64_t hash = bits[0] * UINT64_C(0x9e3779b97f4a7c15);
    hash = (hash ^ hash >> 29 ^ bits[1]) * UINT64_C(0xbf58476d1ce4e5b9);
    hash = (hash ^ hash >> 31 ^ bits[2]) * UINT64_C(0x94d049bb133111eb);
    return hash ^ hash >> 32;
}

static size_t rgVertexTable_Find(const rgVertexTable* table, const rgMesh* mesh,
                                 const double position[3]) {
    size_t mask = table->capacity - 1;
    size_t slot = (size_t)rgHashPosition(position) & mask;
    while (table->slots[slot] != 0) {
        const double* other = mesh->vertices + 3 * (size_t)(table->slots[slot] - 1);
        if (memcmp(other, position, 3 * sizeof(double)) == 0) {
            break;
        }
        slot = (slot + 1) & mask;
    }
    return slot;
}

static rgResult rgVertexTable_Grow(rgVertexTable* table, const rgMesh* mesh) {
    rgVertexTable grown = {.capacity = RG_MAX(2 * table->capacity, (size_t)256)};
    grown.slots = rgAllocate(&mesh->allocator, grown.capacity, sizeof(int));
    if (grown.slots == NULL) {
        return rg_errorMemory;
    }
    for (int i = 0; i < mesh->vertexCount; ++i) {
        grown.slots[rgVertexTable_Find(&grown, mesh, mesh->vertices + 3 * (size_t)i)] = i + 1;
    }
    rgRelease(&mesh->allocator, table->slots);
    *table = grown;
    return rg_ok;
}

// Number of the vertex at this position, which is added when it is new.
static rgResult rgVertexTable_Vertex(rgVertexTable* table, rgMeshReader* reader,
                                     const double position[3], int* vertex) {
    rgMesh* mesh = reader->mesh;
    if (2 * ((size_t)mesh->vertexCount + 1) > table->capacity) {
        rgResult result = rgVertexTable_Grow(table, mesh);
        if (result != rg_ok) {
            return result;
        }
    }
    // Adding zero makes -0 and 0 the same bits.
    const double key[3] = {position[0] + 0.0, position[1] + 0.0, position[2] + 0.0};
    size_t slot = rgVertexTable_Find(table, mesh, key);
    if (table->slots[slot] == 0) {
        rgResult result = rgMeshReader_AddVertex(reader, key);
        if (result != rg_ok) {
            return result;
        }
        table->slots[slot] = mesh->vertexCount;
    }
    *vertex = table->slots[slot] - 1;
    return rg_ok;
}

static rgResult rgAddFacet(rgVertexTable* table, rgMeshReader* reader, double corners[3][3]) {
    int vertex[3] = {0, 0, 0};
    for (int i = 0; i < 3; ++i) {
        rgResult result = rgVertexTable_Vertex(table, reader, corners[i], &vertex[i]);
        if (result != rg_ok) {
            return result;
        }
    }
    return rgMeshReader_AddTriangle(reader, vertex[0], vertex[1], vertex[2]);
}

static rgResult rgReadRecord(rgVertexTable* table, rgMeshReader* reader, size_t offset) {
    double corners[3][3];
    for (int i = 0; i < 9; ++i) {
        size_t at = offset + 12 + 4 * (size_t)i;
        double x = rgLittleFloat(reader->bytes + at);
        if (!rgIsCoordinate(x)) {
            return rgMeshReader_Fail(reader, 0, "byte %zu: the coordinate %g is out of range", at,
                                     x);
        }
        corners[i / 3][i % 3] = x;
    }
    return rgAddFacet(table, reader, corners);
}

static rgResult rgReadBinaryStl(rgMeshReader* reader, rgVertexTable* table) {
    if (reader->byteCount < RG_STL_HEADER) {
        return rgMeshReader_Fail(reader, 0, "byte %zu: a binary STL file has at least %d bytes",
                                 reader->byteCount, RG_STL_HEADER);
    }
    size_t count = rgLittle32(reader->bytes + 80);
    size_t room = (reader->byteCount - RG_STL_HEADER) / RG_STL_RECORD;
    if (count > room) {
        return rgMeshReader_Fail(reader, 0,
                                 "byte %zu: the file ends after %zu of the %zu triangles that it "
                                 "announces at byte 80",
                                 reader->byteCount, room, count);
    }
    size_t used = RG_STL_HEADER + RG_STL_RECORD * count;
    if (used < reader->byteCount) {
        rgDiagnostics_Add(reader->diagnostics, rg_severityWarning, reader->file, 0,
                          "%zu bytes after the last triangle are ignored",
                          reader->byteCount - used);
    }
    rgResult result = rgMeshReader_StartPart(reader, "", 0);
    for (size_t i = 0; result == rg_ok && i < count; ++i) {
        result = rgReadRecord(table, reader, RG_STL_HEADER + RG_STL_RECORD * i);
    }
    return result;
}

// Words of a text file, with line numbers.
typedef struct rgWords {
    const char* at;
    const char* end;
    int line;
} rgWords;

static void rgWords_SkipBlanks(rgWords* words) {
    while (words->at < words->end && rgIsBlank(*words->at)) {
        words->line += *words->at == '\n';
        ++words->at;
    }
}

// The next word; false at the end.
static bool rgWords_Next(rgWords* words, const char** word, size_t* length) {
    rgWords_SkipBlanks(words);
    *word = words->at;
    while (words->at < words->end && !rgIsBlank(*words->at)) {
        ++words->at;
    }
    *length = (size_t)(words->at - *word);
    return *length > 0;
}

// Rest of the line, without the blanks around it.
static void rgWords_Rest(rgWords* words, const char** rest, size_t* length) {
    while (words->at < words->end && rgIsBlank(*words->at) && *words->at != '\n') {
        ++words->at;
    }
    *rest = words->at;
    while (words->at < words->end && *words->at != '\n') {
        ++words->at;
    }
    const char* last = words->at;
    while (last > *rest && rgIsBlank(last[-1])) {
        --last;
    }
    *length = (size_t)(last - *rest);
}

static bool rgWordIs(const char* word, size_t length, const char* expected) {
    if (length != strlen(expected)) {
        return false;
    }
    for (size_t i = 0; i < length; ++i) {
        char c = word[i] >= 'A' && word[i] <= 'Z' ? (char)(word[i] - 'A' + 'a') : word[i];
        if (c != expected[i]) {
            return false;
        }
    }
    return true;
}

static rgResult rgExpectWord(rgMeshReader* reader, rgWords* words, const char* expected) {
    const char* word = NULL;
    size_t length = 0;
    bool any = rgWords_Next(words, &word, &length);
    if (!any) {
        return rgMeshReader_Fail(reader, words->line, "the file ends where '%s' is expected",
                                 expected);
    }
    if (!rgWordIs(word, length, expected)) {
        return rgMeshReader_Fail(reader, words->line, "'%.*s' in place of '%s'",
                                 (int)RG_MIN(length, (size_t)40), word, expected);
    }
    return rg_ok;
}

static rgResult rgReadCorner(rgMeshReader* reader, rgWords* words, double corner[3]) {
    for (int i = 0; i < 3; ++i) {
        const char* word = NULL;
        size_t length = 0;
        rgWords_Next(words, &word, &length);
        bool good = length > 0 && rgScanDouble(word, word + length, &corner[i]) == word + length &&
                    rgIsCoordinate(corner[i]);
        if (!good) {
            return rgMeshReader_Fail(reader, words->line, "vertex: '%.*s' is not a coordinate",
                                     (int)RG_MIN(length, (size_t)40), word);
        }
    }
    return rg_ok;
}

// After the word `facet`. The normal is not read: the corners give it, and files have it wrong.
static rgResult rgReadFacet(rgMeshReader* reader, rgWords* words, rgVertexTable* table) {
    const char* ignored = NULL;
    size_t length = 0;
    double corners[3][3] = {{0}};
    rgResult result = rgExpectWord(reader, words, "normal");
    for (int i = 0; result == rg_ok && i < 3; ++i) {
        rgWords_Next(words, &ignored, &length);
    }
    result = result == rg_ok ? rgExpectWord(reader, words, "outer") : result;
    result = result == rg_ok ? rgExpectWord(reader, words, "loop") : result;
    for (int i = 0; result == rg_ok && i < 3; ++i) {
        result = rgExpectWord(reader, words, "vertex");
        result = result == rg_ok ? rgReadCorner(reader, words, corners[i]) : result;
    }
    result = result == rg_ok ? rgExpectWord(reader, words, "endloop") : result;
    result = result == rg_ok ? rgExpectWord(reader, words, "endfacet") : result;
    return result == rg_ok ? rgAddFacet(table, reader, corners) : result;
}

// After the word `solid`, up to and with `endsolid`.
static rgResult rgReadSolid(rgMeshReader* reader, rgWords* words, rgVertexTable* table) {
    const char* word = NULL;
    size_t length = 0;
    rgWords_Rest(words, &word, &length);
    rgResult result = rgMeshReader_StartPart(reader, word, length);
    while (result == rg_ok) {
        if (!rgWords_Next(words, &word, &length)) {
            return rgMeshReader_Fail(reader, words->line, "the file ends before 'endsolid'");
        }
        if (rgWordIs(word, length, "endsolid")) {
            rgWords_Rest(words, &word, &length);
            break;
        }
        if (!rgWordIs(word, length, "facet")) {
            return rgMeshReader_Fail(reader, words->line,
                                     "'%.*s' in place of 'facet' or 'endsolid'",
                                     (int)RG_MIN(length, (size_t)40), word);
        }
        result = rgReadFacet(reader, words, table);
    }
    return result;
}

static rgResult rgReadTextStl(rgMeshReader* reader, rgVertexTable* table) {
    rgWords words = {.at = reader->bytes, .end = reader->bytes + reader->byteCount, .line = 1};
    rgResult result = rg_ok;
    do {
        result = rgExpectWord(reader, &words, "solid");
        result = result == rg_ok ? rgReadSolid(reader, &words, table) : result;
        rgWords_SkipBlanks(&words);
    } while (result == rg_ok && words.at < words.end);
    return result;
}

// Binary files may start with "solid" too: the test is whether the size fits, then whether the
// start is text.
static bool rgIsTextStl(const char* bytes, size_t byteCount) {
    if (byteCount >= RG_STL_HEADER &&
        byteCount == RG_STL_HEADER + (size_t)RG_STL_RECORD * rgLittle32(bytes + 80)) {
        return false;
    }
    size_t start = 0;
    while (start < byteCount && rgIsBlank(bytes[start])) {
        ++start;
    }
    if (byteCount - start < 5 || !rgWordIs(bytes + start, 5, "solid")) {
        return false;
    }
    for (size_t i = start; i < RG_MIN(byteCount, (size_t)512); ++i) {
        if (bytes[i] == '\0') {
            return false;
        }
    }
    return true;
}

rgResult rgReadStl(rgMeshReader* reader) {
    rgVertexTable table = {0};
    rgResult result = rgIsTextStl(reader->bytes, reader->byteCount)
                          ? rgReadTextStl(reader, &table)
                          : rgReadBinaryStl(reader, &table);
    rgRelease(&reader->mesh->allocator, table.slots);
    return result;
}
