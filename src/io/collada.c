// Collada files (.dae) into triangles: the geometries of the visual scene, where its nodes put
// them, in metres. The up axis is not applied, as ROS tools read these files: coordinates are those
// of the link. Materials, cameras, skins and animations are left out.
#include "io/mesh.h"
#include "io/number.h"
#include "io/polygon.h"
#include "io/xml.h"
#include "rigor/math.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define RG_COLLADA_MAX_DEPTH 200     // depth of nodes, including instances
#define RG_COLLADA_MAX_NODES 1000000 // placed

// Rows of a transformation, without the last.
typedef struct rgAffine {
    double m[3][4];
} rgAffine;

typedef struct rgColladaId {
    const char* id;
    const rgXmlNode* node;
} rgColladaId;

typedef struct rgCollada {
    rgMeshReader* reader;
    rgXmlTree* tree;
    rgXmlNode* root;
    rgColladaId* ids; // sorted
    int idCount, idCapacity;
    double* numbers; // numbers of the list that was read last
    int numberCapacity;
    int* indices; // indices of the list that was read last
    int indexCapacity;
    int* counts;
    int countCapacity;
    int* corners; // corners of one polygon
    int cornerCapacity;
    const rgXmlNode* vertices; // vertices of the last group, which others of its geometry share
    int base, vertexCount;     // position of these in the mesh
    int nodeCount;             // placed so far
    int* triangles;
    int triangleCapacity;
} rgCollada;

// Inputs of a list of polygons: stride of a corner and offset of the positions among the indices.
typedef struct rgColladaInputs {
    int stride; // indices of a corner
    int offset; // offset of the position
    const rgXmlNode* vertices;
} rgColladaInputs;

static const rgAffine identity = {{{1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}}};

static rgAffine rgAffineMultiply(const rgAffine* a, const rgAffine* b) {
    rgAffine c;
    for (int i = 0; i < 3; ++i) {
        for (int j = 0; j < 4; ++j) {
            c.m[i][j] = a->m[i][0] * b->m[0][j] + a->m[i][1] * b->m[1][j] +
                        a->m[i][2] * b->m[2][j] + (j == 3 ? a->m[i][3] : 0);
        }
    }
    return c;
}

static double rgAffineDeterminant(const rgAffine* a) {
    rgVec3 x = rgVec(a->m[0][0], a->m[1][0], a->m[2][0]);
    rgVec3 y = rgVec(a->m[0][1], a->m[1][1], a->m[2][1]);
    rgVec3 z = rgVec(a->m[0][2], a->m[1][2], a->m[2][2]);
    return rgDot(x, rgCross(y, z));
}

static bool rgIs(const rgXmlNode* node, const char* name) {
    return strcmp(node->name, name) == 0;
}

static rgResult rgCollada_Bad(rgCollada* dae, const rgXmlNode* node, const char* what) {
    return rgMeshReader_Fail(dae->reader, node->line, "<%.40s>: %s", node->name, what);
}

// ---- ids

static int rgCompareIds(const void* a, const void* b) {
    return strcmp(((const rgColladaId*)a)->id, ((const rgColladaId*)b)->id);
}

static rgResult rgCollada_CollectIds(rgCollada* dae, const rgXmlNode* node) {
    const char* id = rgXmlNode_Attribute(node, "id");
    rgResult result = rg_ok;
    if (id != NULL) {
        result = rgReserve(&dae->reader->mesh->allocator, (void**)&dae->ids, &dae->idCapacity,
                           dae->idCount, dae->idCount + 1, sizeof(rgColladaId));
        if (result == rg_ok) {
            dae->ids[dae->idCount++] = (rgColladaId){id, node};
        }
    }
    for (const rgXmlNode* child = node->firstChild; child != NULL && result == rg_ok;
         child = child->next) {
        result = rgCollada_CollectIds(dae, child);
    }
    return result;
}

// The element that an attribute such as source="#positions" names; NULL when there is none.
static const rgXmlNode* rgCollada_Follow(const rgCollada* dae, const rgXmlNode* node,
                                         const char* attribute) {
    const char* link = rgXmlNode_Attribute(node, attribute);
    if (link == NULL || link[0] != '#') {
        return NULL;
    }
    rgColladaId key = {.id = link + 1};
    const rgColladaId* found =
        dae->idCount > 0 ? bsearch(&key, dae->ids, (size_t)dae->idCount, sizeof(key), rgCompareIds)
                         : NULL;
    return found != NULL ? found->node : NULL;
}

// ---- lists of numbers

static rgResult rgCollada_ReadNumbers(rgCollada* dae, const rgXmlNode* node, int* count) {
    const char* at = node->text != NULL ? node->text : "";
    const char* end = at + strlen(at);
    rgResult result = rg_ok;
    for (*count = 0; at < end && result == rg_ok;) {
        double value = 0;
        const char* next = rgScanDouble(at, end, &value);
        if (next == NULL || !(fabs(value) <= RG_MESH_MAX_COORDINATE)) {
            return rgCollada_Bad(dae, node, "contains text that is not a coordinate");
        }
        if (*count >= 3 * RG_MESH_MAX_COUNT) {
            return rgCollada_Bad(dae, node, "is too long");
        }
        result = rgReserve(&dae->reader->mesh->allocator, (void**)&dae->numbers,
                           &dae->numberCapacity, *count, *count + 1, sizeof(double));
        if (result == rg_ok) {
            dae->numbers[(*count)++] = value;
        }
        for (at = next; at < end && rgIsBlank(*at); ++at) {
        }
    }
    return result;
}

static rgResult rgCollada_ReadIntegers(rgCollada* dae, const rgXmlNode* node, int** values,
                                       int* capacity, int* count) {
    const char* at = node->text != NULL ? node->text : "";
    const char* end = at + strlen(at);
    rgResult result = rg_ok;
    for (*count = 0; at < end && result == rg_ok;) {
        int value = 0;
        const char* next = rgScanInt(at, end, &value);
        if (next == NULL || value < 0 || *count >= 8 * RG_MESH_MAX_COUNT) {
            return rgCollada_Bad(dae, node,
                                 "contains text that is not an index, or too many indices");
        }
        result = rgReserve(&dae->reader->mesh->allocator, (void**)values, capacity, *count,
                           *count + 1, sizeof(int));
        if (result == rg_ok) {
            (*values)[(*count)++] = value;
        }
        for (at = next; at < end && rgIsBlank(*at); ++at) {
        }
    }
    return result;
}

// ---- geometry

// An attribute that is a number from 0; `missing` when it is not there, -1 when it is no number.
static int rgCollada_Count(const rgXmlNode* node, const char* name, int missing) {
    const char* text = rgXmlNode_Attribute(node, name);
    int value = 0;
    if (text == NULL) {
        return missing;
    }
    const char* end = text + strlen(text);
    return rgScanInt(text, end, &value) == end && value >= 0 && value <= RG_MESH_MAX_COUNT ? value
                                                                                           : -1;
}

// Adds the positions of <vertices>, transformed. The first is number mesh->vertexCount before.
static rgResult rgCollada_AddPositions(rgCollada* dae, const rgXmlNode* vertices,
                                       const rgAffine* place, int* added) {
    const rgXmlNode* input = rgXmlNode_Child(vertices, "input");
    while (input != NULL) {
        const char* semantic = rgXmlNode_Attribute(input, "semantic");
        if (semantic != NULL && strcmp(semantic, "POSITION") == 0) {
            break;
        }
        input = rgXmlNode_Next(input, "input");
    }
    const rgXmlNode* source = input != NULL ? rgCollada_Follow(dae, input, "source") : NULL;
    const rgXmlNode* list = source != NULL ? rgXmlNode_Child(source, "float_array") : NULL;
    const rgXmlNode* accessor =
        rgXmlNode_Child(rgXmlNode_Child(source, "technique_common"), "accessor");
    if (list == NULL) {
        return rgCollada_Bad(dae, vertices, "has no positions");
    }
    int stride = accessor != NULL ? rgCollada_Count(accessor, "stride", 1) : 3;
    int offset = accessor != NULL ? rgCollada_Count(accessor, "offset", 0) : 0;
    int count = 0;
    rgResult result = rgCollada_ReadNumbers(dae, list, &count);
    if (result == rg_ok && (stride < 3 || offset < 0)) {
        return rgCollada_Bad(dae, accessor, "positions need three numbers each");
    }
    *added = 0;
    for (int i = offset; result == rg_ok && i + 3 <= count; i += stride) {
        const double* x = dae->numbers + i;
        double moved[3];
        for (int k = 0; k < 3; ++k) {
            const double* m = place->m[k];
            moved[k] = m[0] * x[0] + m[1] * x[1] + m[2] * x[2] + m[3];
        }
        if (!(fabs(moved[0]) + fabs(moved[1]) + fabs(moved[2]) <= RG_MESH_MAX_COORDINATE)) {
            return rgCollada_Bad(dae, list, "a vertex is placed too far away");
        }
        result = rgMeshReader_AddVertex(dae->reader, moved);
        *added += 1;
    }
    return result;
}

static rgColladaInputs rgCollada_Inputs(const rgCollada* dae, const rgXmlNode* group) {
    rgColladaInputs inputs = {.stride = 0, .offset = -1};
    for (const rgXmlNode* input = rgXmlNode_Child(group, "input"); input != NULL;
         input = rgXmlNode_Next(input, "input")) {
        const char* semantic = rgXmlNode_Attribute(input, "semantic");
        int offset = rgCollada_Count(input, "offset", 0);
        inputs.stride = RG_MAX(inputs.stride, offset + 1);
        if (semantic != NULL && strcmp(semantic, "VERTEX") == 0) {
            inputs.offset = offset;
            inputs.vertices = rgCollada_Follow(dae, input, "source");
        }
    }
    return inputs;
}

// The polygon of dae->corners; mirrored ones run the other way round.
static rgResult rgCollada_AddPolygon(rgCollada* dae, int count, bool mirrored) {
    rgMesh* mesh = dae->reader->mesh;
    if (count < 3) {
        return rg_ok; // points and lines have no surface
    }
    rgResult result = rgReserve(&mesh->allocator, (void**)&dae->triangles, &dae->triangleCapacity,
                                0, count - 2, 3 * sizeof(int));
    if (result != rg_ok) {
        return result;
    }
    rgTriangulatePolygon(mesh->vertices, dae->corners, count, dae->triangles);
    for (int i = 0; i + 2 < count && result == rg_ok; ++i) {
        const int* t = dae->triangles + 3 * (size_t)i;
        result =
            rgMeshReader_AddTriangle(dae->reader, t[0], t[mirrored ? 2 : 1], t[mirrored ? 1 : 2]);
    }
    return result;
}

// Corners of `indices`, counts[k] of polygon k; no counts: three each, or all in one (-1).
static rgResult rgCollada_AddPolygons(rgCollada* dae, const rgXmlNode* node,
                                      const rgColladaInputs* inputs, int indexCount, int polygons,
                                      bool mirrored) {
    rgMesh* mesh = dae->reader->mesh;
    int total = indexCount / inputs->stride, at = 0;
    rgResult result = rg_ok;
    for (int k = 0; result == rg_ok && at < total && (polygons <= 0 || k < polygons); ++k) {
        int count = polygons < 0 ? total : polygons == 0 ? 3 : dae->counts[k];
        if (count > total - at) {
            return rgCollada_Bad(dae, node, "has fewer indices than its polygons need");
        }
        result = rgReserve(&mesh->allocator, (void**)&dae->corners, &dae->cornerCapacity, 0,
                           RG_MAX(count, 1), sizeof(int));
        for (int i = 0; result == rg_ok && i < count; ++i) {
            int index =
                dae->indices[(size_t)(at + i) * (size_t)inputs->stride + (size_t)inputs->offset];
            if (index >= dae->vertexCount) {
                return rgCollada_Bad(dae, node, "refers to a vertex that does not exist");
            }
            dae->corners[i] = dae->base + index;
        }
        result = result == rg_ok ? rgCollada_AddPolygon(dae, count, mirrored) : result;
        at += count;
    }
    return result;
}

// Triangles of a strip or a fan, one after the other.
static rgResult rgCollada_AddStrip(rgCollada* dae, const rgXmlNode* node,
                                   const rgColladaInputs* inputs, int indexCount, bool mirrored) {
    bool fan = rgIs(node->parent, "trifans");
    int total = indexCount / inputs->stride;
    rgResult result = rg_ok;
    for (int i = 0; i + 2 < total && result == rg_ok; ++i) {
        const int at[3] = {fan ? 0 : i, i + 1, i + 2};
        int corner[3];
        for (int k = 0; k < 3; ++k) {
            corner[k] =
                dae->indices[(size_t)at[k] * (size_t)inputs->stride + (size_t)inputs->offset];
            if (corner[k] >= dae->vertexCount) {
                return rgCollada_Bad(dae, node, "refers to a vertex that does not exist");
            }
        }
        bool turned = mirrored != (!fan && i % 2 == 1);
        result = rgMeshReader_AddTriangle(dae->reader, dae->base + corner[0],
                                          dae->base + corner[turned ? 2 : 1],
                                          dae->base + corner[turned ? 1 : 2]);
    }
    return result;
}

static rgResult rgCollada_UsePositions(rgCollada* dae, const rgXmlNode* vertices,
                                       const rgAffine* place) {
    if (vertices == dae->vertices) {
        return rg_ok;
    }
    dae->vertices = vertices;
    dae->base = dae->reader->mesh->vertexCount;
    return rgCollada_AddPositions(dae, vertices, place, &dae->vertexCount);
}

static rgResult rgCollada_AddGroup(rgCollada* dae, const rgXmlNode* group, const rgAffine* place) {
    rgColladaInputs inputs = rgCollada_Inputs(dae, group);
    bool mirrored = rgAffineDeterminant(place) < 0;
    int polygons = 0;
    if (inputs.vertices == NULL || inputs.offset < 0) {
        return rgCollada_Bad(dae, group, "has no vertices");
    }
    rgResult result = rgCollada_UsePositions(dae, inputs.vertices, place);
    const rgXmlNode* counts = rgXmlNode_Child(group, "vcount");
    if (result == rg_ok && rgIs(group, "polylist") && counts != NULL) {
        result = rgCollada_ReadIntegers(dae, counts, &dae->counts, &dae->countCapacity, &polygons);
    }
    if (rgIs(group, "polygons")) {
        polygons = -1;
    } else if (rgIs(group, "polylist") && polygons == 0) {
        return result;
    }
    bool strip = rgIs(group, "tristrips") || rgIs(group, "trifans");
    for (const rgXmlNode* list = rgXmlNode_Child(group, "p"); list != NULL && result == rg_ok;
         list = rgXmlNode_Next(list, "p")) {
        int count = 0;
        result = rgCollada_ReadIntegers(dae, list, &dae->indices, &dae->indexCapacity, &count);
        if (result == rg_ok && strip) {
            result = rgCollada_AddStrip(dae, list, &inputs, count, mirrored);
        } else if (result == rg_ok) {
            result = rgCollada_AddPolygons(dae, list, &inputs, count, polygons, mirrored);
        }
    }
    return result;
}

static rgResult rgCollada_AddGeometry(rgCollada* dae, const rgXmlNode* geometry,
                                      const rgAffine* place) {
    static const char* const kinds[] = {"triangles", "polylist", "polygons", "tristrips",
                                        "trifans"};
    const rgXmlNode* mesh = rgXmlNode_Child(geometry, "mesh");
    const char* name = rgXmlNode_Attribute(geometry, "name");
    name = name != NULL ? name : "";
    dae->vertices = NULL;
    rgResult result = rgMeshReader_StartPart(dae->reader, name, strlen(name));
    for (const rgXmlNode* group = rgXmlNode_Child(mesh, NULL); group != NULL && result == rg_ok;
         group = group->next) {
        for (int i = 0; i < RG_COUNT(kinds); ++i) {
            if (result == rg_ok && rgIs(group, kinds[i])) {
                result = rgCollada_AddGroup(dae, group, place);
            }
        }
    }
    return result;
}

// ---- nodes

// <matrix>, <translate>, <rotate> or <scale>.
static rgResult rgCollada_Transform(rgCollada* dae, const rgXmlNode* node, rgAffine* place) {
    int count = 0;
    rgResult result = rgCollada_ReadNumbers(dae, node, &count);
    int needed = rgIs(node, "matrix") ? 16 : rgIs(node, "rotate") ? 4 : 3;
    if (result != rg_ok) {
        return result;
    }
    if (count != needed) {
        return rgCollada_Bad(dae, node, "has the wrong count of numbers");
    }
    const double* x = dae->numbers;
    rgAffine own = identity;
    for (int i = 0; i < 3; ++i) {
        if (needed == 16) {
            memcpy(own.m[i], x + 4 * i, sizeof(own.m[i]));
        } else if (rgIs(node, "scale")) {
            own.m[i][i] = x[i];
        } else if (needed == 3) {
            own.m[i][3] = x[i];
        }
    }
    rgVec3 axis = rgVec(x[0], x[1], x[2]);
    if (needed == 4 && rgLength(axis) > 0) {
        rgQuat q = rgQuatFromAxisAngle(rgNormalize(axis), x[3] * 3.14159265358979323846 / 180);
        for (int j = 0; j < 3; ++j) {
            rgVec3 column = rgRotate(q, rgVec(j == 0, j == 1, j == 2));
            own.m[0][j] = column.x, own.m[1][j] = column.y, own.m[2][j] = column.z;
        }
    }
    *place = rgAffineMultiply(place, &own);
    return rg_ok;
}

static rgResult rgCollada_AddNode(rgCollada* dae, const rgXmlNode* node, rgAffine place,
                                  int depth) {
    static const char* const transforms[] = {"matrix", "translate", "rotate", "scale"};
    rgResult result = rg_ok;
    if (depth > RG_COLLADA_MAX_DEPTH || ++dae->nodeCount > RG_COLLADA_MAX_NODES) {
        return rgCollada_Bad(dae, node,
                             "nodes refer to each other in a cycle, or too deeply or too often");
    }
    for (const rgXmlNode* child = node->firstChild; child != NULL && result == rg_ok;
         child = child->next) {
        for (int i = 0; i < RG_COUNT(transforms); ++i) {
            if (rgIs(child, transforms[i])) {
                result = rgCollada_Transform(dae, child, &place);
            }
        }
        if (result != rg_ok) {
            break;
        }
        const rgXmlNode* other = rgCollada_Follow(dae, child, "url");
        if (rgIs(child, "node")) {
            result = rgCollada_AddNode(dae, child, place, depth + 1);
        } else if (rgIs(child, "instance_geometry") && other != NULL) {
            result = rgCollada_AddGeometry(dae, other, &place);
        } else if (rgIs(child, "instance_node") && other != NULL) {
            result = rgCollada_AddNode(dae, other, place, depth + 1);
        }
    }
    return result;
}

static rgResult rgCollada_Unit(rgCollada* dae, double* unit) {
    const rgXmlNode* node = rgXmlNode_Child(rgXmlNode_Child(dae->root, "asset"), "unit");
    const char* text = node != NULL ? rgXmlNode_Attribute(node, "meter") : NULL;
    *unit = 1;
    if (text == NULL) {
        return rg_ok;
    }
    const char* end = text + strlen(text);
    if (rgScanDouble(text, end, unit) != end || !(*unit > 0) || !(*unit <= 1e6)) {
        return rgCollada_Bad(dae, node, "'meter' is not a usable length");
    }
    return rg_ok;
}

// The scene that <scene> names, else the first; a file without scenes: its geometries as they are.
static rgResult rgCollada_AddScene(rgCollada* dae, const rgAffine* place) {
    const rgXmlNode* link =
        rgXmlNode_Child(rgXmlNode_Child(dae->root, "scene"), "instance_visual_scene");
    const rgXmlNode* scene = link != NULL ? rgCollada_Follow(dae, link, "url") : NULL;
    if (scene == NULL) {
        scene =
            rgXmlNode_Child(rgXmlNode_Child(dae->root, "library_visual_scenes"), "visual_scene");
    }
    if (scene != NULL) {
        return rgCollada_AddNode(dae, scene, *place, 0);
    }
    rgResult result = rg_ok;
    const rgXmlNode* library = rgXmlNode_Child(dae->root, "library_geometries");
    for (const rgXmlNode* at = rgXmlNode_Child(library, "geometry"); at != NULL && result == rg_ok;
         at = rgXmlNode_Next(at, "geometry")) {
        result = rgCollada_AddGeometry(dae, at, place);
    }
    return result;
}

static rgResult rgCollada_Run(rgCollada* dae) {
    rgMeshReader* reader = dae->reader;
    rgXmlTree_KeepText(dae->tree);
    rgResult result = rgXmlTree_Parse(dae->tree, reader->bytes, reader->byteCount, reader->file,
                                      reader->diagnostics, &dae->root);
    if (result != rg_ok) {
        return result;
    }
    if (!rgIs(dae->root, "COLLADA")) {
        return rgCollada_Bad(dae, dae->root, "is not the root of a Collada file");
    }
    double unit = 1;
    result = rgCollada_Unit(dae, &unit);
    result = result == rg_ok ? rgCollada_CollectIds(dae, dae->root) : result;
    if (result != rg_ok) {
        return result;
    }
    if (dae->idCount > 0) {
        qsort(dae->ids, (size_t)dae->idCount, sizeof(dae->ids[0]), rgCompareIds);
    }
    rgAffine place = identity;
    for (int i = 0; i < 3; ++i) {
        place.m[i][i] = unit;
    }
    return rgCollada_AddScene(dae, &place);
}

rgResult rgReadCollada(rgMeshReader* reader) {
    rgCollada dae = {.reader = reader};
    const rgAllocator* allocator = &reader->mesh->allocator;
    rgResult result = rgCreateXmlTree(allocator, &dae.tree);
    if (result == rg_ok) {
        result = rgCollada_Run(&dae);
    }
    void* const arrays[] = {dae.ids,    dae.numbers, dae.indices,
                            dae.counts, dae.corners, dae.triangles};
    for (int i = 0; i < RG_COUNT(arrays); ++i) {
        rgRelease(allocator, arrays[i]);
    }
    rgDestroyXmlTree(dae.tree);
    return result;
}
