// STL, OBJ and Collada: the same cube in every form, mistakes with their places, and damaged files.
#include "base/base.h"
#include "rigor/math.h"
#include "rigor/mesh.h"
#include "support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct rgText {
    char bytes[16384];
    size_t count;
} rgText;

static void rgText_Print(rgText* text, const char* format, ...) {
    va_list arguments;
    va_start(arguments, format);
    int written =
        vsnprintf(text->bytes + text->count, sizeof(text->bytes) - text->count, format, arguments);
    va_end(arguments);
    text->count += (size_t)written;
}

// Corners of a 1 x 2 x 3 box at the origin: bit i of the number is the side along axis i.
static const int boxQuads[6][4] = {{0, 2, 3, 1}, {4, 5, 7, 6}, {0, 1, 5, 4},
                                   {2, 6, 7, 3}, {0, 4, 6, 2}, {1, 3, 7, 5}};

static double rgCorner(int corner, int axis) {
    return (corner >> axis & 1) * (axis + 1.0);
}

static rgText rgBoxObj(void) {
    rgText text = {.count = 0};
    rgText_Print(&text, "# box\r\nmtllib x.mtl\no box one\n");
    for (int i = 0; i < 8; ++i) {
        rgText_Print(&text, "v %g %g %g\n", rgCorner(i, 0), rgCorner(i, 1), rgCorner(i, 2));
    }
    rgText_Print(&text, "vn 0 0 1\nvt 0 0\ns off\nusemtl red\n");
    static const char* const forms[] = {"%d", "%d/1", "%d//1", "%d/1/1"};
    for (int i = 0; i < 6; ++i) {
        rgText_Print(&text, i == 3 ? "g second\nf" : "f");
        for (int k = 0; k < 4; ++k) {
            int index = i % 2 ? boxQuads[i][k] - 8 : boxQuads[i][k] + 1;
            char corner[32];
            snprintf(corner, sizeof(corner), forms[i % 4], index);
            rgText_Print(&text, " %s", corner);
        }
        rgText_Print(&text, i == 5 ? "" : "\n");
    }
    return text;
}

static rgText rgBoxTextStl(void) {
    rgText text = {.count = 0};
    rgText_Print(&text, "solid my box\n");
    for (int i = 0; i < 12; ++i) {
        const int* quad = boxQuads[i / 2];
        int corners[3] = {quad[0], quad[i % 2 + 1], quad[i % 2 + 2]};
        rgText_Print(&text, " facet normal nan 0 0\n  OUTER LOOP\n");
        for (int k = 0; k < 3; ++k) {
            rgText_Print(&text, "   vertex %g %g %e\n", rgCorner(corners[k], 0),
                         rgCorner(corners[k], 1), rgCorner(corners[k], 2));
        }
        rgText_Print(&text, "  endloop\n endfacet\n");
    }
    rgText_Print(&text, "endsolid my box\n");
    return text;
}

static rgText rgBoxBinaryStl(const char* header) {
    rgText text = {.count = 84};
    strcpy(text.bytes, header);
    text.bytes[80] = 12;
    for (int i = 0; i < 12; ++i) {
        const int* quad = boxQuads[i / 2];
        int corners[3] = {quad[0], quad[i % 2 + 1], quad[i % 2 + 2]};
        for (int k = 0; k < 9; ++k) {
            float x = (float)rgCorner(corners[k / 3], k % 3);
            x = x == 0 && i % 2 ? -0.0f : x; // both zeros are the same place
            memcpy(text.bytes + text.count + 12 + 4 * k, &x, 4);
        }
        text.count += 50;
    }
    return text;
}

// The box in decimetres, twice as large and mirrored along x, which the node undoes; polygons of
// two kinds, each with an index of something else beside that of the vertex.
static rgText rgBoxCollada(void) {
    rgText text = {.count = 0};
    rgText_Print(&text, "<COLLADA><asset><unit meter='0.1'/><up_axis>Y_UP</up_axis></asset>"
                        "<library_geometries><geometry id='g' name='box'><mesh><source id='s'>"
                        "<float_array id='f' count='24'>");
    for (int i = 0; i < 8; ++i) {
        rgText_Print(&text, "%g %g\n%g ", -20 * rgCorner(i, 0), 20 * rgCorner(i, 1),
                     20 * rgCorner(i, 2));
    }
    rgText_Print(&text, "</float_array><technique_common><accessor source='#f' count='8' "
                        "stride='3'/></technique_common></source><vertices id='v'>"
                        "<input semantic='POSITION' source='#s'/></vertices>"
                        "<polylist count='4'><input semantic='NORMAL' source='#s' offset='0'/>"
                        "<input semantic='VERTEX' source='#v' offset='1'/>"
                        "<vcount>4 4 4 4</vcount><p>");
    for (int i = 0; i < 16; ++i) {
        rgText_Print(&text, "7 %d ", boxQuads[i / 4][3 - i % 4]); // mirrored: the other way round
    }
    rgText_Print(&text, "</p></polylist><triangles count='4'><input semantic='VERTEX' "
                        "source='#v' offset='0'/><p>");
    for (int i = 8; i < 12; ++i) {
        const int* quad = boxQuads[i / 2];
        rgText_Print(&text, "%d %d %d ", quad[0], quad[i % 2 + 2], quad[i % 2 + 1]);
    }
    rgText_Print(&text, "</p></triangles></mesh></geometry></library_geometries>"
                        "<library_nodes><node id='n'><scale>.5 .5 .5</scale>"
                        "<instance_geometry url='#g'/></node></library_nodes>"
                        "<library_visual_scenes><visual_scene id='v0'><node>"
                        "<translate>10 0 0</translate><rotate>0 0 1 90</rotate><node>"
                        "<matrix>0 1 0 0  1 0 0 10  0 0 1 0  0 0 0 1</matrix>"
                        "<instance_node url='#n'/></node></node></visual_scene>"
                        "</library_visual_scenes><scene><instance_visual_scene url='#v0'/></scene>"
                        "</COLLADA>");
    return text;
}

static void rgText_Binary(rgText* text, const void* data, size_t size) {
    memcpy(text->bytes + text->count, data, size);
    text->count += size;
}

// With a normal and a texture coordinate that are not read.
static rgText rgBoxMsh(void) {
    rgText text = {.count = 0};
    const int32_t counts[] = {8, 1, 1, 12};
    const float skipped[5] = {0};
    rgText_Binary(&text, counts, sizeof(counts));
    for (int i = 0; i < 24; ++i) {
        float x = (float)rgCorner(i / 3, i % 3);
        rgText_Binary(&text, &x, sizeof(x));
    }
    rgText_Binary(&text, skipped, sizeof(skipped));
    for (int i = 0; i < 12; ++i) {
        const int* quad = boxQuads[i / 2];
        const int32_t corners[3] = {quad[0], quad[i % 2 + 1], quad[i % 2 + 2]};
        rgText_Binary(&text, corners, sizeof(corners));
    }
    return text;
}

static double rgVolume(const rgMeshData* mesh) {
    double volume = 0;
    for (int t = 0; t < mesh->triangleCount; ++t) {
        rgVec3 p[3];
        for (int k = 0; k < 3; ++k) {
            const double* x = mesh->vertices + 3 * mesh->triangles[3 * t + k];
            p[k] = rgVec(x[0], x[1], x[2]);
        }
        volume += rgDot(p[0], rgCross(p[1], p[2])) / 6;
    }
    return volume;
}

static rgMesh* rgParse(const rgText* text, rgMeshFormat format) {
    rgMesh* mesh = NULL;
    rgDiagnostics* diagnostics = NULL;
    assert_int_equal(rgCreateDiagnostics(NULL, &diagnostics), rg_ok);
    rgResult result =
        rgParseMesh(text->bytes, text->count, format, "box", NULL, diagnostics, &mesh);
    if (result != rg_ok) {
        print_error("%s\n", rgDiagnostics_Message(diagnostics, 0).text);
    }
    assert_int_equal(result, rg_ok);
    assert_int_equal(rgDiagnostics_Count(diagnostics), 0);
    rgDestroyDiagnostics(diagnostics);
    return mesh;
}

static void test_all_forms_give_the_box(void** state) {
    (void)state;
    rgText texts[] = {rgBoxObj(),
                      rgBoxTextStl(),
                      rgBoxBinaryStl("made by a program"),
                      rgBoxBinaryStl("solid as binary files often start\n facet "),
                      rgBoxCollada(),
                      rgBoxMsh()};
    rgMeshFormat formats[] = {rg_meshObj, rg_meshStl,     rg_meshStl,
                              rg_meshStl, rg_meshCollada, rg_meshMsh};
    for (int i = 0; i < RG_COUNT(formats); ++i) {
        rgMesh* mesh = rgParse(&texts[i], formats[i]);
        rgMeshData data = rgMesh_Data(mesh);
        assert_int_equal(data.vertexCount, 8);
        assert_int_equal(data.triangleCount, 12);
        EXPECT_NEAR(rgVolume(&data), 6, 1e-14);
        bool closed = false, convex = false;
        assert_int_equal(rgMesh_IsClosed(mesh, &closed), rg_ok);
        assert_int_equal(rgMesh_IsConvex(mesh, 1e-12, &convex), rg_ok);
        assert_true(closed && convex);
        rgDestroyMesh(mesh);
    }
}

// A pyramid as a fan around its tip and a strip below: a strip turns every second triangle, and
// both are turned again where the node mirrors them.
static void test_fans_and_strips(void** state) {
    (void)state;
    for (int mirror = 0; mirror < 2; ++mirror) {
        rgText text = {.count = 0};
        rgText_Print(&text,
                     "<COLLADA><asset><up_axis>Z_UP</up_axis></asset><library_geometries>"
                     "<geometry id='g'><mesh><source id='s'><float_array id='f' count='15'>"
                     "-1 -1 0 1 -1 0 1 1 0 -1 1 0 0 0 3</float_array><technique_common>"
                     "<accessor source='#f' count='5' stride='3'/></technique_common></source>"
                     "<vertices id='v'><input semantic='POSITION' source='#s'/></vertices>"
                     "<trifans count='1'><input semantic='VERTEX' source='#v' offset='0'/>"
                     "<p>4 0 1 2 3 0</p></trifans><tristrips count='1'>"
                     "<input semantic='VERTEX' source='#v' offset='0'/><p>1 0 2 3</p></tristrips>"
                     "</mesh></geometry></library_geometries><library_visual_scenes>"
                     "<visual_scene id='w'><node><scale>%d 1 1</scale>"
                     "<instance_geometry url='#g'/></node></visual_scene></library_visual_scenes>"
                     "<scene><instance_visual_scene url='#w'/></scene></COLLADA>",
                     mirror ? -1 : 1);
        rgMesh* mesh = rgParse(&text, rg_meshCollada);
        rgMeshData data = rgMesh_Data(mesh);
        assert_int_equal(data.triangleCount, 6);
        EXPECT_NEAR(rgVolume(&data), 4, 1e-14);
        bool closed = false;
        assert_int_equal(rgMesh_IsClosed(mesh, &closed), rg_ok);
        assert_true(closed);
        rgDestroyMesh(mesh);
    }
}

static void test_format_by_content(void** state) {
    (void)state;
    rgText obj = rgBoxObj(), stl = rgBoxTextStl();
    rgMesh* a = rgParse(&obj, rg_meshUnknown);
    rgMesh* b = rgParse(&stl, rg_meshUnknown);
    assert_int_equal(rgMesh_Data(a).triangleCount, rgMesh_Data(b).triangleCount);
    rgDestroyMesh(a);
    rgDestroyMesh(b);
}

static void test_parts(void** state) {
    (void)state;
    rgText text = rgBoxObj();
    rgMesh* mesh = rgParse(&text, rg_meshObj);
    assert_int_equal(rgMesh_PartCount(mesh), 2);
    assert_string_equal(rgMesh_Part(mesh, 0).name, "box one");
    assert_int_equal(rgMesh_Part(mesh, 0).triangleCount, 6);
    assert_string_equal(rgMesh_Part(mesh, 1).name, "second");
    assert_int_equal(rgMesh_Part(mesh, 1).firstTriangle, 6);
    assert_string_equal(rgMesh_Part(mesh, 2).name, "");
    rgDestroyMesh(mesh);
    text = rgBoxTextStl();
    mesh = rgParse(&text, rg_meshStl);
    assert_int_equal(rgMesh_PartCount(mesh), 1);
    assert_string_equal(rgMesh_Part(mesh, 0).name, "my box");
    rgDestroyMesh(mesh);
}

static rgText rgFromString(const char* string) {
    rgText text = {.count = strlen(string)};
    memcpy(text.bytes, string, text.count);
    return text;
}

static bool rgIsConvexObj(const char* string, double tolerance) {
    rgText text = rgFromString(string);
    rgMesh* mesh = rgParse(&text, rg_meshObj);
    bool convex = false;
    assert_int_equal(rgMesh_IsConvex(mesh, tolerance, &convex), rg_ok);
    rgDestroyMesh(mesh);
    return convex;
}

static void test_convexity(void** state) {
    (void)state;
    const char* tetrahedron = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\n"
                              "f 1 3 2\nf 1 2 4\nf 2 3 4\nf 1 4 3\n";
    const char* open = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 2 3 4\n";
    const char* inverted = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\n"
                           "f 1 2 3\nf 1 4 2\nf 2 4 3\nf 1 3 4\n";
    // The face 2 3 4 pushed in at its middle by 0.1.
    const char* dented = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nv 0.28 0.28 0.28\n"
                         "f 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 5\nf 3 4 5\nf 4 2 5\n";
    assert_true(rgIsConvexObj(tetrahedron, 1e-12));
    assert_false(rgIsConvexObj(open, 1e-12));
    assert_false(rgIsConvexObj(inverted, 1e-12));
    assert_false(rgIsConvexObj(dented, 1e-3));
    assert_true(rgIsConvexObj(dented, 1));
    rgText two = rgFromString(tetrahedron);
    rgText_Print(&two, "v 5 0 0\nv 6 0 0\nv 5 1 0\nv 5 0 1\nf -4 -2 -3\nf -4 -3 -1\nf -3 -2 -1\n"
                       "f -4 -1 -2\n");
    assert_false(rgIsConvexObj(two.bytes, 1e-12));
}

static void test_obj_details(void** state) {
    (void)state;
    // A continued line, a colour after the vertex, an unused vertex, a face with a repeated corner.
    rgText text = rgFromString("v 9 9 9\nv 0 0 0 1 0 0\nv 1 0 0\nv 0 1 0\nf 2 \\\n 3 4\nf 2 2 3\n");
    rgMesh* mesh = NULL;
    rgDiagnostics* diagnostics = NULL;
    assert_int_equal(rgCreateDiagnostics(NULL, &diagnostics), rg_ok);
    assert_int_equal(
        rgParseMesh(text.bytes, text.count, rg_meshObj, "x.obj", NULL, diagnostics, &mesh), rg_ok);
    assert_int_equal(rgMesh_Data(mesh).vertexCount, 3);
    assert_int_equal(rgMesh_Data(mesh).triangleCount, 1);
    assert_int_equal(rgDiagnostics_Count(diagnostics), 1);
    assert_string_equal(rgDiagnostics_Message(diagnostics, 0).text,
                        "1 triangles with a repeated vertex were left out");
    rgDestroyMesh(mesh);
    rgDestroyDiagnostics(diagnostics);
}

static double rgArea(const rgMeshData* mesh) {
    double area = 0;
    for (int t = 0; t < mesh->triangleCount; ++t) {
        rgVec3 p[3];
        for (int k = 0; k < 3; ++k) {
            const double* x = mesh->vertices + 3 * mesh->triangles[3 * t + k];
            p[k] = rgVec(x[0], x[1], x[2]);
        }
        rgVec3 cross = rgCross(rgSub(p[1], p[0]), rgSub(p[2], p[0]));
        assert_true(cross.z >= 0); // none is turned over
        area += 0.5 * rgLength(cross);
    }
    return area;
}

// Random star-shaped polygons, rarely convex: triangles that face one way and cover the area once.
static void test_polygons(void** state) {
    (void)state;
    rgRandom random = {23};
    for (int i = 0; i < 300; ++i) {
        rgText text = {.count = 0};
        int count = 4 + rgRandom_Index(&random, 40);
        double expected = 0, lastX = 0, lastY = 0, firstX = 0, firstY = 0;
        for (int k = 0; k < count; ++k) {
            double angle = 2 * 3.14159265358979 * k / count;
            double radius = rgRandom_Uniform(&random, 0.2, 1);
            double x = radius * cos(angle), y = radius * sin(angle);
            rgText_Print(&text, "v %.17g %.17g 0.5\n", x, y);
            expected += k > 0 ? 0.5 * (lastX * y - lastY * x) : 0;
            firstX = k == 0 ? x : firstX;
            firstY = k == 0 ? y : firstY;
            lastX = x;
            lastY = y;
        }
        expected += 0.5 * (lastX * firstY - lastY * firstX);
        rgText_Print(&text, "f");
        for (int k = 1; k <= count; ++k) {
            rgText_Print(&text, " %d", k);
        }
        rgMesh* mesh = rgParse(&text, rg_meshObj);
        rgMeshData data = rgMesh_Data(mesh);
        assert_int_equal(data.triangleCount, count - 2);
        EXPECT_NEAR(rgArea(&data), expected, 1e-12);
        rgDestroyMesh(mesh);
    }
}

static void test_mistakes(void** state) {
    (void)state;
    rgText nanStl = rgBoxBinaryStl("x"), shortStl = rgBoxBinaryStl("x");
    memcpy(nanStl.bytes + 84 + 50 + 12, "\0\0\xc0\x7f", 4);
    shortStl.count -= 60;
    const struct {
        rgText text;
        rgMeshFormat format;
        rgResult result;
        int line;
        const char* reason;
    } cases[] = {
        {rgFromString(""), rg_meshObj, rg_errorFormat, 0, "the mesh is empty"},
        {rgFromString("v 1 2\n"), rg_meshObj, rg_errorFormat, 1, "v: needs 3 numbers, has 2"},
        {rgFromString("\nv 1 nan 3\n"), rg_meshObj, rg_errorFormat, 2,
         "v: 'nan' is not a coordinate"},
        {rgFromString("v 1 1e300 3\n"), rg_meshObj, rg_errorFormat, 1,
         "v: '1e300' is not a coordinate"},
        {rgFromString("v 1 2 3\nf 1 2 3\n"), rg_meshObj, rg_errorFormat, 2,
         "f: vertex 2 is out of range, the file has 1 so far"},
        {rgFromString("v 1 2 3\nf 1 -2 1\n"), rg_meshObj, rg_errorFormat, 2,
         "f: vertex -2 is out of range, the file has 1 so far"},
        {rgFromString("v 1 2 3\nf 0 1 1\n"), rg_meshObj, rg_errorFormat, 2,
         "f: vertex 0 is out of range, the file has 1 so far"},
        {rgFromString("v 1 2 3\nf 1 1\n"), rg_meshObj, rg_errorFormat, 2,
         "f: needs 3 corners, has 2"},
        {rgFromString("v 1 2 3\nf 1/x 1 1\n"), rg_meshObj, rg_errorFormat, 2,
         "f: '1/x' is not a corner of a face"},
        {rgFromString("v 1 2 3\nf 1/1/1/1 1 1\n"), rg_meshObj, rg_errorFormat, 2,
         "f: '1/1/1/1' is not a corner of a face"},
        {rgFromString("solid\nfacet normal 0 0 1\nouter loop\nvertex 0 0 x"), rg_meshStl,
         rg_errorFormat, 4, "vertex: 'x' is not a coordinate"},
        {rgFromString("solid\nfacet normal 0 0 1\nouter loop\nendloop"), rg_meshStl, rg_errorFormat,
         4, "'endloop' in place of 'vertex'"},
        {rgFromString("solid\nfacet"), rg_meshStl, rg_errorFormat, 2,
         "the file ends where 'normal' is expected"},
        {rgFromString("solid a\n"), rg_meshStl, rg_errorFormat, 2,
         "the file ends before 'endsolid'"},
        {rgFromString("too short"), rg_meshStl, rg_errorFormat, 0,
         "byte 9: a binary STL file has at least 84 bytes"},
        {nanStl, rg_meshStl, rg_errorFormat, 0, "byte 146: the coordinate nan is out of range"},
        {shortStl, rg_meshStl, rg_errorFormat, 0,
         "byte 624: the file ends after 10 of the 12 triangles that it announces at byte 80"},
        {rgFromString("<X/>"), rg_meshCollada, rg_errorFormat, 1,
         "<X>: is not the root of a Collada file"},
        {rgFromString("<COLLADA><library_nodes><node id='a'>\n<instance_node url='#a'/></node>"
                      "</library_nodes><library_visual_scenes><visual_scene><node>"
                      "<instance_node url='#a'/></node></visual_scene></library_visual_scenes>"
                      "</COLLADA>"),
         rg_meshCollada, rg_errorFormat, 1,
         "<node>: nodes refer to each other in a cycle, or too deeply or too often"},
        {rgFromString("<COLLADA><library_geometries><geometry><mesh><triangles><p>0 1 2</p>"
                      "</triangles></mesh></geometry></library_geometries></COLLADA>"),
         rg_meshCollada, rg_errorFormat, 1, "<triangles>: has no vertices"},
        {rgFromString("ply\nformat ascii 1.0\n"), rg_meshUnknown, rg_errorUnsupported, 0,
         "is not an STL, OBJ, Collada or MSH file"},
    };
    for (int i = 0; i < RG_COUNT(cases); ++i) {
        rgDiagnostics* diagnostics = NULL;
        rgMesh* mesh = NULL;
        assert_int_equal(rgCreateDiagnostics(NULL, &diagnostics), rg_ok);
        assert_int_equal(rgParseMesh(cases[i].text.bytes, cases[i].text.count, cases[i].format, "x",
                                     NULL, diagnostics, &mesh),
                         cases[i].result);
        assert_null(mesh);
        rgMessage message = rgDiagnostics_Message(diagnostics, 0);
        assert_string_equal(message.text, cases[i].reason);
        assert_int_equal(message.line, cases[i].line);
        assert_int_equal(message.severity, rg_severityError);
        rgDestroyDiagnostics(diagnostics);
    }
}

// Counts that the bytes do not hold, and corners without a vertex.
static void test_msh_mistakes(void** state) {
    (void)state;
    static const struct {
        size_t at; // of the number that is changed
        int32_t value;
        size_t count; // of bytes; 0: all
        const char* reason;
    } cases[] = {
        {0, 8, 15, "byte 15: the file ends before its 16 bytes of counts"},
        {0, 9, 0,
         "byte 0: 9 vertices, 1 normals, 1 texture coordinates and 12 triangles take 288 bytes, "
         "the file has 276"},
        {12, -1, 0,
         "byte 0: 8 vertices, 1 normals, 1 texture coordinates and 4294967295 triangles take "
         "51539607672 bytes, the file has 276"},
        {16, 0x7f800000, 0, "byte 16: the coordinate inf is out of range"},
        {144, 8, 0, "byte 144: there is no vertex 8"},
        {144, -1, 0, "byte 144: there is no vertex 4294967295"},
    };
    for (int i = 0; i < RG_COUNT(cases); ++i) {
        rgText text = rgBoxMsh();
        rgDiagnostics* diagnostics = NULL;
        rgMesh* mesh = NULL;
        memcpy(text.bytes + cases[i].at, &cases[i].value, 4);
        size_t count = cases[i].count > 0 ? cases[i].count : text.count;
        assert_int_equal(rgCreateDiagnostics(NULL, &diagnostics), rg_ok);
        assert_int_equal(
            rgParseMesh(text.bytes, count, rg_meshUnknown, "x.msh", NULL, diagnostics, &mesh),
            rg_errorFormat);
        assert_string_equal(rgDiagnostics_Message(diagnostics, 0).text, cases[i].reason);
        rgDestroyDiagnostics(diagnostics);
    }
}

static void test_foreign_formats(void** state) {
    (void)state;
    rgDiagnostics* diagnostics = NULL;
    rgMesh* mesh = NULL;
    assert_int_equal(rgCreateDiagnostics(NULL, &diagnostics), rg_ok);
    assert_int_equal(rgParseMesh("<x/>", 4, rg_meshUnknown, "a/b.PLY", NULL, diagnostics, &mesh),
                     rg_errorUnsupported);
    assert_string_equal(
        rgDiagnostics_Message(diagnostics, 0).text,
        "PLY files are not read, only STL, OBJ, Collada and MSH; convert with: assimp "
        "export a/b.PLY a/b.obj");
    assert_int_equal(rgLoadMesh("no/such.stl", NULL, diagnostics, &mesh), rg_errorFile);
    rgDestroyDiagnostics(diagnostics);
}

// A mesh that loads has indices in range and finite coordinates, whatever the bytes were.
static void rgTry(const char* bytes, size_t count, rgMeshFormat format) {
    rgMesh* mesh = NULL;
    rgDiagnostics* diagnostics = NULL;
    assert_int_equal(rgCreateDiagnostics(NULL, &diagnostics), rg_ok);
    // A block of the exact size lets the address sanitizer see every byte read too far.
    char* exact = malloc(count > 0 ? count : 1);
    memcpy(exact, bytes, count);
    rgResult result = rgParseMesh(exact, count, format, "fuzz", NULL, diagnostics, &mesh);
    free(exact);
    if (result != rg_ok) {
        assert_null(mesh);
        assert_int_equal(rgDiagnostics_CountOf(diagnostics, rg_severityError), 1);
    } else {
        rgMeshData data = rgMesh_Data(mesh);
        for (int i = 0; i < 3 * data.triangleCount; ++i) {
            assert_in_range(data.triangles[i], 0, data.vertexCount - 1);
        }
        for (int i = 0; i < 3 * data.vertexCount; ++i) {
            assert_true(isfinite(data.vertices[i]));
        }
        bool convex = false;
        assert_int_equal(rgMesh_IsConvex(mesh, 0, &convex), rg_ok);
    }
    rgDestroyMesh(mesh);
    rgDestroyDiagnostics(diagnostics);
}

static void test_damaged_files(void** state) {
    (void)state;
    const rgText texts[] = {rgBoxObj(), rgBoxTextStl(), rgBoxBinaryStl("solid"), rgBoxCollada(),
                            rgBoxMsh()};
    const rgMeshFormat formats[] = {rg_meshObj, rg_meshStl, rg_meshStl, rg_meshCollada, rg_meshMsh};
    rgRandom random = {3};
    for (int k = 0; k < RG_COUNT(formats); ++k) {
        for (size_t count = 0; count < texts[k].count; ++count) {
            rgTry(texts[k].bytes, count, formats[k]);
        }
        for (int i = 0; i < 3000; ++i) {
            rgText text = texts[k];
            for (int change = rgRandom_Index(&random, 5); change >= 0; --change) {
                int at = rgRandom_Index(&random, (int)text.count);
                text.bytes[at] = rgRandom_Index(&random, 2)
                                     ? (char)rgRandom_Index(&random, 256)
                                     : "\n\\/-09e. "[rgRandom_Index(&random, 9)];
            }
            rgTry(text.bytes, text.count, i % 3 ? formats[k] : rg_meshUnknown);
        }
    }
}

static void test_memory_failure(void** state) {
    (void)state;
    const rgText texts[] = {rgBoxObj(), rgBoxTextStl(), rgBoxCollada(), rgBoxMsh()};
    const rgMeshFormat formats[] = {rg_meshObj, rg_meshStl, rg_meshCollada, rg_meshMsh};
    for (int k = 0; k < RG_COUNT(formats); ++k) {
        rgResult result = rg_errorMemory;
        for (int failAfter = 0; result != rg_ok; ++failAfter) {
            rgCounter counter = {.failAfter = failAfter};
            rgAllocator allocator = rgCountingAllocator(&counter);
            rgMesh* mesh = NULL;
            result = rgParseMesh(texts[k].bytes, texts[k].count, formats[k], "x", &allocator, NULL,
                                 &mesh);
            assert_true(result == rg_ok || result == rg_errorMemory);
            rgDestroyMesh(mesh);
            assert_int_equal(counter.live, 0);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_forms_give_the_box),
        cmocka_unit_test(test_fans_and_strips),
        cmocka_unit_test(test_format_by_content),
        cmocka_unit_test(test_parts),
        cmocka_unit_test(test_convexity),
        cmocka_unit_test(test_obj_details),
        cmocka_unit_test(test_polygons),
        cmocka_unit_test(test_mistakes),
        cmocka_unit_test(test_msh_mistakes),
        cmocka_unit_test(test_foreign_formats),
        cmocka_unit_test(test_damaged_files),
        cmocka_unit_test(test_memory_failure),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
