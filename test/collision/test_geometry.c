// Geometries: what is refused and why, bounds, hulls as polytopes, memory failures.
#include "collision/support.h"
#include "scene.h"

static void rgExpectRefused(const rgGeometryDef* def, const char* word) {
    rgDiagnostics* d = NULL;
    rgGeometry* g = NULL;
    rgCreateDiagnostics(NULL, &d);
    assert_int_equal(rgCreateGeometry(def, d, &g), rg_errorArgument);
    assert_null(g);
    assert_int_equal(rgDiagnostics_CountOf(d, rg_severityError), 1);
    if (strstr(rgDiagnostics_Message(d, 0).text, word) == NULL) {
        print_error("'%s' does not mention '%s'\n", rgDiagnostics_Message(d, 0).text, word);
        fail();
    }
    assert_int_equal(rgDiagnostics_Message(d, 0).line, 17);
    rgDestroyDiagnostics(d);
}

static rgGeometryDef rgDef(rgShapeKind kind) {
    rgGeometryDef def = rgDefaultGeometryDef();
    def.kind = kind;
    def.file = "scene.xml";
    def.line = 17;
    return def;
}

static void test_bad_sizes(void** state) {
    (void)state;
    static const double bad[] = {0, -1, NAN, INFINITY};
    for (int k = 0; k < 4; ++k) {
        rgGeometryDef def = rgDef(rg_shapeSphere);
        def.size = rgVec(bad[k], 1, 1);
        rgExpectRefused(&def, "radius");
        def.kind = rg_shapeCapsule;
        rgExpectRefused(&def, "radius");
        def.size = rgVec(1, bad[k], 1);
        rgExpectRefused(&def, "half length");
        def.kind = rg_shapeCylinder;
        rgExpectRefused(&def, "half length");
        def.kind = rg_shapeBox;
        rgExpectRefused(&def, "half extent");
        def.size = rgVec(1, 1, bad[k]);
        rgExpectRefused(&def, "half extent");
        def.kind = rg_shapeEllipsoid;
        rgExpectRefused(&def, "half axis");
    }
    rgGeometryDef def = rgDef(rg_shapeNone);
    rgGeometry* g = NULL;
    assert_int_equal(rgCreateGeometry(&def, NULL, &g), rg_errorArgument);
    def = rgDef(rg_shapeSphere);
    def.size.x = 1;
    def.cookie = 0;
    assert_int_equal(rgCreateGeometry(&def, NULL, &g), rg_errorArgument);
}

static void test_bad_hulls(void** state) {
    (void)state;
    double points[30] = {0};
    rgMeshData mesh = {.vertexCount = 10, .vertices = points};
    rgGeometryDef def = rgDef(rg_shapeHull);
    rgExpectRefused(&def, "at least 4");
    def.mesh = &mesh;
    rgExpectRefused(&def, "coincide");
    for (int i = 0; i < 10; ++i) {
        points[3 * i] = i;
    }
    rgExpectRefused(&def, "one line");
    for (int i = 0; i < 10; ++i) {
        points[3 * i + 1] = i * i;
    }
    rgExpectRefused(&def, "one plane");
    points[14] = 1e-9; // still flat at this size
    rgExpectRefused(&def, "one plane");
    points[14] = NAN;
    rgExpectRefused(&def, "vertex 4");
    points[14] = INFINITY;
    rgExpectRefused(&def, "vertex 4");
    mesh.vertexCount = 3;
    rgExpectRefused(&def, "at least 4");
    // Ten points at three places: duplicates do not make a volume.
    mesh.vertexCount = 10;
    for (int i = 0; i < 30; ++i) {
        points[i] = (i / 3) % 3 == i % 3;
    }
    rgExpectRefused(&def, "one plane");
}

static void test_bad_surfaces(void** state) {
    (void)state;
    double points[9] = {0, 0, 0, 1, 0, 0, 0, 1, 0};
    int triangles[6] = {0, 1, 2, 0, 1, 3};
    rgMeshData mesh = {3, points, 2, triangles};
    rgGeometryDef def = rgDef(rg_shapeMesh);
    rgExpectRefused(&def, "at least one triangle");
    def.mesh = &mesh;
    rgExpectRefused(&def, "triangle 1 refers to vertex 3");
    triangles[5] = -1;
    rgExpectRefused(&def, "triangle 1 refers to vertex -1");
    triangles[5] = 2;
    points[4] = NAN;
    rgExpectRefused(&def, "vertex 1");
    points[4] = 0;
    points[6] = 5, points[7] = 0;
    rgExpectRefused(&def, "area");

    double heights[4] = {0, 0, 0, 0};
    rgHeightFieldData field = {2, 2, 1, 1, 0, heights};
    def = rgDef(rg_shapeHeightField);
    rgExpectRefused(&def, "heights");
    def.heightField = &field;
    field.columnCount = 1;
    rgExpectRefused(&def, "1 x 2");
    field.columnCount = 2;
    field.sizeX = 0;
    rgExpectRefused(&def, "half extents");
    field.sizeX = 1;
    field.depth = -1;
    rgExpectRefused(&def, "depth");
    field.depth = 0;
    heights[3] = NAN;
    rgExpectRefused(&def, "column 1, row 1");
}

// Boxes hold the shape and touch it.
static void test_bounds(void** state) {
    (void)state;
    rgRandom random = {21};
    for (int i = 0; i < RG_TEST_SHAPES; ++i) {
        rgTestShape s;
        rgTestMake(&s, i, 1, &random);
        double reach = 0, width = INFINITY;
        for (int k = 0; k < 50; ++k) {
            rgPose pose = {rgTestDirection(&random), rgTestRotation(&random)};
            rgBox box = rgGeometry_Box(s.geometry, pose);
            for (int axis = 0; axis < 3; ++axis) {
                rgVec3 n = rgVec(axis == 0, axis == 1, axis == 2);
                double high = rgDot(n, pose.p) + rgTestSupport(&s, rgRotateBack(pose.q, n));
                double upper = rgVec3_At(box.upper, axis);
                assert_true(upper >= high - 1e-12);
                if (s.kind != rg_shapeHull) {
                    EXPECT_NEAR(upper, high, 1e-12);
                }
            }
            rgVec3 d = rgTestDirection(&random);
            reach = fmax(reach, rgTestSupport(&s, d));
        }
        for (int k = 0; k < 3000; ++k) {
            rgVec3 d = k < 3 ? rgVec(k == 0, k == 1, k == 2) : rgTestDirection(&random);
            width = fmin(width, rgTestSupport(&s, d) + rgTestSupport(&s, rgNegate(d)));
        }
        // Across edges of hulls it may be less than across faces, but not by much.
        double least = rgGeometry_Width(s.geometry), slack = s.kind == rg_shapeHull ? 0.2 : 1e-12;
        assert_true(least > 0 && least <= width * (1 + slack));
        if (s.kind != rg_shapeHull) {
            EXPECT_NEAR(least, width, 1e-12);
        }
        assert_true(rgGeometry_BoundingRadius(s.geometry) >= reach - 1e-12);
        rgTestDestroy(&s);
    }
}

static void rgCheckPolytope(const rgTestShape* s, double scale) {
    rgHullView v;
    assert_true(rgGeometry_Hull(s->geometry, &v));
    int edges = v.faceStart[v.faceCount];
    assert_int_equal(edges % 2, 0);
    // Euler: no vertex of these hulls is inside a merged face.
    assert_int_equal(v.vertexCount - edges / 2 + v.faceCount, 2);
    const rgHull* hull = &s->geometry->hull;
    for (int f = 0; f < v.faceCount; ++f) {
        for (int i = 0; i < s->pointCount; ++i) {
            double out = rgDot(hull->faceNormal[f], rgTestPoint(s, i)) - hull->faceOffset[f];
            assert_true(out <= 2e-6 * scale);
        }
        EXPECT_NEAR(rgLength(hull->faceNormal[f]), 1, 1e-12);
    }
}

static void test_hulls(void** state) {
    (void)state;
    rgRandom random = {22};
    for (int i = 5; i < RG_TEST_SHAPES; ++i) {
        for (int k = 0; k < 9; ++k) {
            double scale = k % 3 == 0 ? 1e-3 : k % 3 == 1 ? 1 : 100;
            rgTestShape s;
            rgTestMake(&s, i, scale, &random);
            rgCheckPolytope(&s, scale);
            // Climbing from anywhere ends at the farthest vertex.
            const rgHull* hull = &s.geometry->hull;
            for (int n = 0; n < 200; ++n) {
                rgVec3 d = rgTestDirection(&random);
                int start = rgRandom_Index(&random, hull->vertexCount + 2) - 1;
                int at = rgHull_Climb(hull, d, start);
                EXPECT_NEAR(rgDot(d, rgHull_Vertex(hull, at)) / scale, rgTestSupport(&s, d) / scale,
                            1e-12);
            }
            rgTestDestroy(&s);
        }
    }
}

// Corners that rounding moved out of a plane, here by up to 1e-7 of the size, still bound one face.
static void test_faces_are_merged(void** state) {
    (void)state;
    rgRandom random = {23};
    for (int n = 0; n < 30; ++n) {
        double scale = n % 3 == 0 ? 1e-3 : n % 3 == 1 ? 1 : 100;
        rgTestShape s = {.kind = rg_shapeHull, .pointCount = 8};
        for (int i = 0; i < 24; ++i) {
            double corner = (i / 3 >> i % 3) & 1 ? 1 : -1;
            s.points[i] = scale * (corner + rgRandom_Uniform(&random, -1e-7, 1e-7));
        }
        rgTestCreate(&s);
        rgHullView v;
        assert_true(rgGeometry_Hull(s.geometry, &v));
        assert_int_equal(v.faceCount, 6);
        rgTestDestroy(&s);
    }
}

// Every allocation may fail; nothing leaks and nothing crashes.
static void test_memory(void** state) {
    (void)state;
    rgRandom random = {23};
    rgTestShape s;
    memset(&s, 0, sizeof(s));
    rgTestHull(&s, &random, 100, rgVec(1, 1, 1));
    int triangles[60];
    for (int i = 0; i < 60; ++i) {
        triangles[i] = i;
    }
    double heights[64] = {0};
    rgMeshData mesh = {100, s.points, 20, triangles};
    rgHeightFieldData field = {8, 8, 1, 1, 0, heights};
    static const rgShapeKind kinds[] = {rg_shapeBox, rg_shapeHull, rg_shapeMesh,
                                        rg_shapeHeightField};
    for (int k = 0; k < 4; ++k) {
        rgResult result = rg_errorMemory;
        for (int after = 0; result != rg_ok; ++after) {
            assert_true(after < 100);
            rgCounter counter = {.failAfter = after};
            rgGeometryDef def = rgDef(kinds[k]);
            def.size = rgVec(1, 1, 1);
            def.mesh = &mesh;
            def.heightField = &field;
            def.allocator = rgCountingAllocator(&counter);
            rgGeometry* g = NULL;
            result = rgCreateGeometry(&def, NULL, &g);
            assert_true(result == rg_ok || result == rg_errorMemory);
            rgDestroyGeometry(g);
            assert_int_equal(counter.live, 0);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bad_sizes),    cmocka_unit_test(test_bad_hulls),
        cmocka_unit_test(test_bad_surfaces), cmocka_unit_test(test_bounds),
        cmocka_unit_test(test_hulls),        cmocka_unit_test(test_faces_are_merged),
        cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
