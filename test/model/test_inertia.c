// Inertias against formulas, sums against their parts, meshes against the shapes they describe.
#include "random_model.h"

static void rgExpectInertia(const rgInertia* a, const rgInertia* b, double tolerance) {
    EXPECT_NEAR(a->mass, b->mass, tolerance);
    EXPECT_NEAR(rgLength(rgSub(a->center, b->center)), 0, tolerance);
    EXPECT_NEAR(a->moment.xx, b->moment.xx, tolerance);
    EXPECT_NEAR(a->moment.yy, b->moment.yy, tolerance);
    EXPECT_NEAR(a->moment.zz, b->moment.zz, tolerance);
    EXPECT_NEAR(a->moment.xy, b->moment.xy, tolerance);
    EXPECT_NEAR(a->moment.xz, b->moment.xz, tolerance);
    EXPECT_NEAR(a->moment.yz, b->moment.yz, tolerance);
}

static bool rgIsInside(rgShapeKind kind, rgVec3 size, rgVec3 x) {
    double across = sqrt(x.x * x.x + x.y * x.y);
    double beyond = fmax(fabs(x.z) - size.y, 0);
    switch (kind) {
    case rg_shapeSphere:
        return rgLength(x) <= size.x;
    case rg_shapeCapsule:
        return across * across + beyond * beyond <= size.x * size.x;
    case rg_shapeCylinder:
        return across <= size.x && beyond == 0;
    case rg_shapeBox:
        return fabs(x.x) <= size.x && fabs(x.y) <= size.y && fabs(x.z) <= size.z;
    default:
        return rgLength(rgVec(x.x / size.x, x.y / size.y, x.z / size.z)) <= 1;
    }
}

// Every shape against a sum over a fine grid of cells; the surface cells make the error.
static void test_shapes_match_sums_over_cells(void** state) {
    (void)state;
    const rgShapeKind kinds[] = {rg_shapeSphere, rg_shapeCapsule, rg_shapeCylinder, rg_shapeBox,
                                 rg_shapeEllipsoid};
    rgVec3 size = rgVec(0.3, 0.5, 0.4);
    enum { N = 157 };
    double h = 2.0 / N;
    for (int k = 0; k < 5; ++k) {
        double volume = 0, xx = 0, yy = 0, zz = 0;
        for (int i = 0; i < N * N * N; ++i) {
            rgVec3 x = rgVec(-1 + h * (i % N + 0.5), -1 + h * (i / N % N + 0.5),
                             -1 + h * (i / N / N + 0.5));
            if (rgIsInside(kinds[k], size, x)) {
                volume += h * h * h;
                xx += h * h * h * (x.y * x.y + x.z * x.z);
                yy += h * h * h * (x.x * x.x + x.z * x.z);
                zz += h * h * h * (x.x * x.x + x.y * x.y);
            }
        }
        rgInertia inertia = rgInertiaFromShape(kinds[k], size, rgShapeVolume(kinds[k], size));
        EXPECT_NEAR(rgShapeVolume(kinds[k], size), volume, 0.015 * volume);
        EXPECT_NEAR(inertia.moment.xx, xx, 0.025 * xx);
        EXPECT_NEAR(inertia.moment.yy, yy, 0.025 * yy);
        EXPECT_NEAR(inertia.moment.zz, zz, 0.025 * zz);
        assert_int_equal(rgInertia_Check(&inertia), rg_inertiaFine);
    }
}

static void rgBoxMesh(rgPose pose, rgVec3 size, double vertices[24], rgMeshData* mesh) {
    static const int triangles[36] = {0, 2, 1, 1, 2, 3, 4, 5, 6, 5, 7, 6, 0, 1, 4, 1, 5, 4,
                                      2, 6, 3, 3, 6, 7, 0, 4, 2, 2, 4, 6, 1, 3, 5, 3, 7, 5};
    for (int i = 0; i < 8; ++i) {
        rgVec3 corner =
            rgVec(i & 1 ? size.x : -size.x, i & 2 ? size.y : -size.y, i & 4 ? size.z : -size.z);
        rgVec3 x = rgPose_Point(pose, corner);
        vertices[3 * i] = x.x, vertices[3 * i + 1] = x.y, vertices[3 * i + 2] = x.z;
    }
    *mesh = (rgMeshData){8, vertices, 12, triangles};
}

static void test_mesh_of_a_box_is_a_box(void** state) {
    (void)state;
    rgRandom random = {5};
    for (int i = 0; i < 20; ++i) {
        rgPose pose = rgRandomPose(&random);
        rgVec3 size = rgVec(0.1, 0.25, 0.4);
        double vertices[24];
        rgMeshData mesh;
        rgInertia actual;
        rgBoxMesh(pose, size, vertices, &mesh);
        assert_int_equal(rgInertiaFromMesh(&mesh, 700, &actual), rg_ok);
        rgInertia box = rgInertiaFromShape(rg_shapeBox, size, 700 * 8 * 0.01);
        rgInertia expected = rgInertiaMove(pose, &box);
        rgExpectInertia(&actual, &expected, 1e-11);
    }
}

static void test_bad_meshes_are_refused(void** state) {
    (void)state;
    double vertices[24];
    rgMeshData mesh;
    rgInertia inertia;
    rgBoxMesh(rgPoseIdentity(), rgVec(1, 1, 1), vertices, &mesh);
    int inside[36];
    for (int i = 0; i < 36; i += 3) {
        inside[i] = mesh.triangles[i];
        inside[i + 1] = mesh.triangles[i + 2];
        inside[i + 2] = mesh.triangles[i + 1];
    }
    mesh.triangles = inside;
    assert_int_equal(rgInertiaFromMesh(&mesh, 1, &inertia), rg_errorNumeric);
    inside[7] = 8;
    assert_int_equal(rgInertiaFromMesh(&mesh, 1, &inertia), rg_errorArgument);
    assert_int_equal(rgInertiaFromMesh(NULL, 1, &inertia), rg_errorArgument);
}

// Two halves of a box, added, are the box; in any frame.
static void test_sum_and_motion(void** state) {
    (void)state;
    rgRandom random = {9};
    rgInertia half = rgInertiaFromShape(rg_shapeBox, rgVec(0.1, 0.2, 0.15), 1);
    rgInertia whole = rgInertiaFromShape(rg_shapeBox, rgVec(0.1, 0.2, 0.3), 2);
    for (int i = 0; i < 20; ++i) {
        rgPose pose = rgRandomPose(&random);
        rgPose up = rgPoseMultiply(pose, (rgPose){rgVec(0, 0, 0.15), rgQuatIdentity()});
        rgPose down = rgPoseMultiply(pose, (rgPose){rgVec(0, 0, -0.15), rgQuatIdentity()});
        rgInertia a = rgInertiaMove(up, &half), b = rgInertiaMove(down, &half);
        rgInertia sum = rgInertiaAdd(&a, &b), expected = rgInertiaMove(pose, &whole);
        rgExpectInertia(&sum, &expected, 1e-14);
        rgInertia back = rgInertiaMove(rgPoseInvert(pose), &sum);
        rgExpectInertia(&back, &whole, 1e-14);
    }
}

static void test_eigenvalues(void** state) {
    (void)state;
    rgRandom random = {2};
    for (int i = 0; i < 50; ++i) {
        rgSym3 diagonal = {.xx = 3, .yy = i % 3 ? 2 : 3, .zz = 1e-3};
        rgQuat turn = rgRandomPose(&random).q, axes;
        rgSym3 s = rgSym3Rotate(turn, &diagonal);
        rgVec3 e = rgSym3Eigen(&s, &axes);
        EXPECT_NEAR(e.x, 3, 1e-13);
        EXPECT_NEAR(e.y, diagonal.yy, 1e-13);
        EXPECT_NEAR(e.z, 1e-3, 1e-13);
        rgSym3 sorted = {.xx = e.x, .yy = e.y, .zz = e.z};
        rgSym3 again = rgSym3Rotate(axes, &sorted);
        EXPECT_NEAR(again.xy, s.xy, 1e-12);
        EXPECT_NEAR(again.yz, s.yz, 1e-12);
        EXPECT_NEAR(again.zz, s.zz, 1e-12);
    }
}

static void test_unphysical_inertias_are_named(void** state) {
    (void)state;
    rgInertia fine = {.mass = 1, .moment = {.xx = 1, .yy = 1, .zz = 2}}; // a flat disc
    rgInertia point = {.mass = 1};
    rgInertia nan = {.mass = NAN};
    rgInertia negative = {.mass = -1};
    rgInertia massless = {.moment = {.xx = 1, .yy = 1, .zz = 1}};
    rgInertia indefinite = {.mass = 1, .moment = {.xx = 1, .yy = 1, .zz = 1, .xy = 1.5}};
    rgInertia triangle = {.mass = 1, .moment = {.xx = 1, .yy = 1, .zz = 2.1}};
    assert_int_equal(rgInertia_Check(&fine), rg_inertiaFine);
    assert_int_equal(rgInertia_Check(&point), rg_inertiaFine);
    assert_int_equal(rgInertia_Check(&nan), rg_inertiaNotFinite);
    assert_int_equal(rgInertia_Check(&negative), rg_inertiaNegativeMass);
    assert_int_equal(rgInertia_Check(&massless), rg_inertiaMassless);
    assert_int_equal(rgInertia_Check(&indefinite), rg_inertiaIndefinite);
    assert_int_equal(rgInertia_Check(&triangle), rg_inertiaTriangle);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_shapes_match_sums_over_cells),
        cmocka_unit_test(test_mesh_of_a_box_is_a_box),
        cmocka_unit_test(test_bad_meshes_are_refused),
        cmocka_unit_test(test_sum_and_motion),
        cmocka_unit_test(test_eigenvalues),
        cmocka_unit_test(test_unphysical_inertias_are_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
