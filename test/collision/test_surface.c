// Height fields and triangle meshes: flat floors without seams, agreement with planes and boxes,
// ridges, no sinking, mesh and height field alike.
#include "scene.h"

#define RG_SIDE 21

typedef struct rgFloor {
    double heights[RG_SIDE * RG_SIDE];
    double vertices[3 * RG_SIDE * RG_SIDE];
    int triangles[6 * (RG_SIDE - 1) * (RG_SIDE - 1)];
    rgGeometry *mesh, *field;
    double half;
} rgFloor;

typedef double rgHeightFcn(double x, double y);

static double rgFlatHeight(double x, double y) {
    (void)x;
    (void)y;
    return 0.25;
}
static double rgSlopeHeight(double x, double y) {
    return 0.3 * x - 0.2 * y;
}
static double rgBumpHeight(double x, double y) {
    return 0.2 * sin(2 * x) * cos(3 * y);
}
static double rgRidgeHeight(double x, double y) {
    (void)y;
    return -0.5 * fabs(x);
}
static double rgValleyHeight(double x, double y) {
    (void)y;
    return 0.5 * fabs(x);
}

static void rgMakeFloor(rgFloor* f, double half, rgHeightFcn* height) {
    int count = 0;
    f->half = half;
    for (int i = 0; i < RG_SIDE * RG_SIDE; ++i) {
        double x = half * (2.0 * (i % RG_SIDE) / (RG_SIDE - 1) - 1);
        double y = half * (2.0 * (i / RG_SIDE) / (RG_SIDE - 1) - 1);
        f->heights[i] = f->vertices[3 * i + 2] = height(x, y);
        f->vertices[3 * i] = x;
        f->vertices[3 * i + 1] = y;
    }
    for (int j = 0; j < RG_SIDE - 1; ++j) {
        for (int i = 0; i < RG_SIDE - 1; ++i) {
            int at = j * RG_SIDE + i;
            int corners[6] = {at, at + 1, at + RG_SIDE + 1, at, at + RG_SIDE + 1, at + RG_SIDE};
            memcpy(f->triangles + 3 * count, corners, sizeof(corners));
            count += 2;
        }
    }
    rgMeshData mesh = {RG_SIDE * RG_SIDE, f->vertices, count, f->triangles};
    rgHeightFieldData field = {RG_SIDE, RG_SIDE, half, half, 1, f->heights};
    rgGeometryDef def = rgDefaultGeometryDef();
    def.mesh = &mesh;
    def.heightField = &field;
    def.kind = rg_shapeMesh;
    assert_int_equal(rgCreateGeometry(&def, NULL, &f->mesh), rg_ok);
    def.kind = rg_shapeHeightField;
    assert_int_equal(rgCreateGeometry(&def, NULL, &f->field), rg_ok);
}

static void rgFreeFloor(rgFloor* f) {
    rgDestroyGeometry(f->mesh);
    rgDestroyGeometry(f->field);
}

static double rgLeast(const rgManifold* m) {
    double least = INFINITY;
    for (int k = 0; k < m->count; ++k) {
        least = fmin(least, m->points[k].gap);
    }
    return least;
}

// On a plane cut into triangles every normal is the plane's and the least gap is the plane's.
static void rgCheckLikePlane(rgHeightFcn* height, rgVec3 normal, double offset) {
    static rgFloor f;
    rgRandom random = {51};
    rgMakeFloor(&f, 2, height);
    normal = rgNormalize(normal);
    for (int i = 0; i < RG_TEST_SHAPES; ++i) {
        rgTestShape s;
        rgTestMake(&s, i, 0.2, &random);
        for (int k = 0; k < 200; ++k) {
            double margin = 0.01;
            rgPose pb = {
                rgVec(rgRandom_Uniform(&random, -1, 1), rgRandom_Uniform(&random, -1, 1), 0),
                rgTestRotation(&random)};
            // Flat faces down half of the time.
            if (k % 2) {
                pb.q = rgQuatMultiply(rgQuatBetween(rgVec(0, 0, 1), normal),
                                      rgQuatFromAxisAngle(rgVec(0, 0, 1), 0.1 * k));
            }
            double gap = rgRandom_Uniform(&random, -0.03, 0.015);
            double low = rgTestSupport(&s, rgRotateBack(pb.q, rgNegate(normal)));
            double now = rgDot(normal, pb.p) - low - offset;
            pb.p = rgAddScaled(pb.p, gap - now, normal);
            // What is all behind a mesh that has a border is not inside anything.
            double top = gap + low + rgTestSupport(&s, rgRotateBack(pb.q, normal));
            for (int which = 0; which < (top > 0 ? 2 : 1); ++which) {
                rgManifold m;
                int count = rgCollide(which ? f.mesh : f.field, rgPoseIdentity(), s.geometry, pb,
                                      margin, NULL, &m);
                if ((count > 0) != (gap <= margin)) {
                    print_error("%s %d on %d: %d points at gap %g\n", rgTestName(i), k, which,
                                count, gap);
                    fail();
                }
                for (int p = 0; p < count; ++p) {
                    if (!(rgDot(m.points[p].normal, normal) > 1 - 1e-9)) {
                        print_error("%s: normal (%g %g %g), gap %g of %g\n", rgTestName(i),
                                    m.points[p].normal.x, m.points[p].normal.y,
                                    m.points[p].normal.z, m.points[p].gap, gap);
                        fail();
                    }
                }
                if (count > 0) {
                    // Rims of cylinders are clipped as polygons of 12 corners.
                    if (!(fabs(rgLeast(&m) - gap) <= (i == 2 ? 1e-3 : 1e-6))) {
                        print_error("%s %d: %d points, least gap %g of %g\n", rgTestName(i), k,
                                    count, rgLeast(&m), gap);
                        fail();
                    }
                }
            }
        }
        rgTestDestroy(&s);
    }
    rgFreeFloor(&f);
}

static void test_flat(void** state) {
    (void)state;
    rgCheckLikePlane(rgFlatHeight, rgVec(0, 0, 1), 0.25);
}
static void test_slope(void** state) {
    (void)state;
    rgCheckLikePlane(rgSlopeHeight, rgVec(-0.3, 0.2, 1), 0);
}

// A box keeps its whole support area wherever it lies across the seams.
static void test_box_area(void** state) {
    (void)state;
    static rgFloor f;
    rgRandom random = {52};
    rgMakeFloor(&f, 2, rgFlatHeight);
    rgTestShape s;
    memset(&s, 0, sizeof(s));
    s.kind = rg_shapeBox;
    s.size = rgVec(0.33, 0.21, 0.1);
    rgTestCreate(&s);
    for (int k = 0; k < 200; ++k) {
        rgPose pb = {rgVec(rgRandom_Uniform(&random, -1, 1), rgRandom_Uniform(&random, -1, 1),
                           0.35 + 1e-4 * (k % 3 - 1)),
                     rgQuatFromAxisAngle(rgVec(0, 0, 1), 0.05 * k)};
        rgManifold m;
        int count =
            rgCollide(k % 2 ? f.mesh : f.field, rgPoseIdentity(), s.geometry, pb, 1e-3, NULL, &m);
        assert_in_range(count, 4, 8);
        for (int c = 0; c < 4; ++c) {
            rgVec3 corner = rgVec(c & 1 ? 0.33 : -0.33, c & 2 ? 0.21 : -0.21, -0.1);
            corner = rgPose_Point(pb, corner);
            double nearest = INFINITY;
            for (int p = 0; p < count; ++p) {
                nearest = fmin(nearest, rgLength(rgSub(m.points[p].position, corner)));
            }
            assert_true(nearest < 1e-3);
        }
    }
    rgTestDestroy(&s);
    rgFreeFloor(&f);
}

// A ball rolling over a ridge sees normals that turn from one face to the other, never beyond; in
// a valley it sees both faces.
static void test_ridge(void** state) {
    (void)state;
    static rgFloor f;
    rgTestShape ball;
    memset(&ball, 0, sizeof(ball));
    ball.kind = rg_shapeSphere;
    ball.size.x = 0.1;
    rgTestCreate(&ball);
    double steep = 0.5 / sqrt(1.25) + 1e-9;
    for (int which = 0; which < 4; ++which) {
        rgMakeFloor(&f, 2, which < 2 ? rgRidgeHeight : rgValleyHeight);
        const rgGeometry* floor = which % 2 ? f.mesh : f.field;
        for (int k = -50; k <= 50; ++k) {
            rgPose pb = rgPoseIdentity();
            double x = 0.004 * k + 1e-4;
            // Touching: at distance 0.1 from the surface.
            double up = which < 2 ? -0.5 * fabs(x) : 0.5 * fabs(x);
            pb.p = rgVec(x, 0.03, up + 0.1 * sqrt(1.25));
            rgProximity p;
            assert_int_equal(rgDistance(floor, rgPoseIdentity(), ball.geometry, pb, NULL, &p),
                             rg_ok);
            rgManifold m;
            rgCollide(floor, rgPoseIdentity(), ball.geometry, pb, 0.02, NULL, &m);
            assert_true(m.count >= 1);
            for (int n = 0; n < m.count; ++n) {
                assert_true(fabs(m.points[n].normal.x) <= steep);
                EXPECT_NEAR(m.points[n].normal.y, 0, 1e-9);
            }
            EXPECT_NEAR(rgLeast(&m), p.distance, 1e-9);
            if (which >= 2 && abs(k) < 5) {
                assert_int_equal(m.count, 2);
            }
        }
        rgFreeFloor(&f);
    }
    rgTestDestroy(&ball);
}

// Below the surface, small or not: pushed up.
static void test_no_sinking(void** state) {
    (void)state;
    static rgFloor f;
    rgRandom random = {53};
    rgMakeFloor(&f, 10, rgBumpHeight);
    for (int i = 0; i < RG_TEST_SHAPES; ++i) {
        rgTestShape s;
        rgTestMake(&s, i, 2e-3, &random);
        for (int k = 0; k < 50; ++k) {
            double x = rgRandom_Uniform(&random, -9, 9), y = rgRandom_Uniform(&random, -9, 9);
            rgRay ray = {rgVec(x, y, 5), rgVec(0, 0, -1), 10};
            rgRayHit hit;
            assert_true(rgRayCast(f.field, rgPoseIdentity(), &ray, &hit));
            double depth = rgRandom_Uniform(&random, 0, 0.1);
            rgPose pb = {rgAddScaled(hit.position, -depth, rgVec(0, 0, 1)),
                         rgTestRotation(&random)};
            rgManifold m;
            int count = rgCollide(f.field, rgPoseIdentity(), s.geometry, pb, 1e-3, NULL, &m);
            assert_true(count >= 1);
            assert_true(rgDot(m.normal, hit.normal) > 0.1);
            if (depth > 5e-3) {
                assert_true(rgLeast(&m) <= -0.5 * depth * hit.normal.z);
            }
            // Open meshes hold what they meet.
            pb.p = rgAddScaled(hit.position, -1e-4, hit.normal);
            count = rgCollide(f.mesh, rgPoseIdentity(), s.geometry, pb, 1e-3, NULL, &m);
            if (rgTestOutside(&s, rgPose_PointBack(pb, hit.position)) == 0) {
                assert_true(count >= 1 && rgLeast(&m) < 0);
            }
        }
        rgTestDestroy(&s);
    }
    rgFreeFloor(&f);
}

// Mesh and height field of the same triangles agree, and with the distance.
static void test_alike(void** state) {
    (void)state;
    static rgFloor f;
    rgRandom random = {54};
    rgMakeFloor(&f, 2, rgBumpHeight);
    for (int i = 0; i < RG_TEST_SHAPES; ++i) {
        rgTestShape s;
        rgTestMake(&s, i, 0.3, &random);
        for (int k = 0; k < 60; ++k) {
            rgPose pa = {rgTestDirection(&random), rgTestRotation(&random)};
            rgPose local = {rgVec(rgRandom_Uniform(&random, -1, 1),
                                  rgRandom_Uniform(&random, -1, 1),
                                  rgRandom_Uniform(&random, 0.3, 0.8)),
                            rgTestRotation(&random)};
            rgPose pb = rgPoseMultiply(pa, local);
            rgProximity p, q;
            assert_int_equal(rgDistance(f.mesh, pa, s.geometry, pb, NULL, &p), rg_ok);
            assert_int_equal(rgDistance(s.geometry, pb, f.field, pa, NULL, &q), rg_ok);
            // Inside, a mesh pushes out the nearest way and a height field up.
            assert_int_equal(p.distance > 0, q.distance > 0);
            if (p.distance > 0) {
                EXPECT_NEAR(p.distance, q.distance, 1e-6);
            }
            assert_int_equal(rgOverlap(f.mesh, pa, s.geometry, pb), p.distance <= 0);
            rgManifold m, n;
            rgCollide(f.mesh, pa, s.geometry, pb, 0.05, NULL, &m);
            rgCollide(s.geometry, pb, f.field, pa, 0.05, NULL, &n);
            assert_int_equal(m.count > 0, n.count > 0);
            assert_int_equal(m.count > 0, p.distance <= 0.05);
            if (p.distance > 1e-6) {
                double along = rgLength(rgSub(p.pointB, p.pointA));
                EXPECT_NEAR(along, p.distance, 1e-6);
                if (m.count > 0) {
                    EXPECT_NEAR(rgLeast(&m), p.distance, i == 2 ? 2e-3 : 1e-5);
                }
            }
        }
        rgTestDestroy(&s);
    }
    rgFreeFloor(&f);
}

// A cube of twelve triangles and a box: the same distance to anything apart.
static void test_cube(void** state) {
    (void)state;
    double v[24];
    static const int t[36] = {0, 2, 3, 0, 3, 1, 4, 5, 7, 4, 7, 6, 0, 1, 5, 0, 5, 4,
                              2, 6, 7, 2, 7, 3, 0, 4, 6, 0, 6, 2, 1, 3, 7, 1, 7, 5};
    for (int i = 0; i < 8; ++i) {
        v[3 * i] = i & 1 ? 0.5 : -0.5;
        v[3 * i + 1] = i & 2 ? 0.4 : -0.4;
        v[3 * i + 2] = i & 4 ? 0.3 : -0.3;
    }
    rgMeshData mesh = {8, v, 12, t};
    rgGeometryDef def = rgDefaultGeometryDef();
    def.kind = rg_shapeMesh;
    def.mesh = &mesh;
    rgGeometry* cube = NULL;
    assert_int_equal(rgCreateGeometry(&def, NULL, &cube), rg_ok);
    rgTestShape box;
    memset(&box, 0, sizeof(box));
    box.kind = rg_shapeBox;
    box.size = rgVec(0.5, 0.4, 0.3);
    rgTestCreate(&box);
    rgRandom random = {55};
    for (int i = 0; i < RG_TEST_SHAPES; ++i) {
        rgTestShape s;
        rgTestMake(&s, i, 0.3, &random);
        for (int k = 0; k < 60; ++k) {
            rgPose pb = rgTestPlace(&box, rgPoseIdentity(), &s,
                                    rgRandom_Uniform(&random, 0.001, k % 2 ? 0.03 : 20), &random);
            rgProximity p, q;
            rgDistance(box.geometry, rgPoseIdentity(), s.geometry, pb, NULL, &p);
            rgDistance(cube, rgPoseIdentity(), s.geometry, pb, NULL, &q);
            EXPECT_NEAR(q.distance, p.distance, 1e-6);
            assert_true(rgLength(rgSub(p.normal, q.normal)) < 1e-3);
            rgManifold m;
            rgCollide(cube, rgPoseIdentity(), s.geometry, pb, 0.05, NULL, &m);
            assert_int_equal(m.count > 0, p.distance <= 0.05);
            if (m.count > 0) {
                EXPECT_NEAR(rgLeast(&m), p.distance, i == 2 ? 2e-3 : 1e-5);
            }
        }
        rgTestDestroy(&s);
    }
    rgTestDestroy(&box);
    rgDestroyGeometry(cube);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_flat),       cmocka_unit_test(test_slope),
        cmocka_unit_test(test_box_area),   cmocka_unit_test(test_ridge),
        cmocka_unit_test(test_no_sinking), cmocka_unit_test(test_alike),
        cmocka_unit_test(test_cube),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
