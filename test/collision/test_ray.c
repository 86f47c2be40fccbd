// Ray casts: the hit is on the surface, nothing before it is inside, misses miss; triangles against
// every triangle by brute force.
#include "collision/internal.h"
#include "scene.h"

static double rgOutsideOf(const rgTestShape* s, rgPose pose, const rgRay* ray, double t) {
    rgVec3 x = rgAddScaled(ray->origin, t, ray->direction);
    return rgTestOutside(s, rgPose_PointBack(pose, x));
}

static void rgCheckRay(const rgTestShape* s, rgPose pose, const rgRay* ray, double scale) {
    rgRayHit hit;
    bool met = rgRayCast(s->geometry, pose, ray, &hit);
    double end = met ? hit.fraction : ray->maxFraction;
    assert_true(end >= 0 && end <= ray->maxFraction);
    if (met) {
        assert_true(rgOutsideOf(s, pose, ray, hit.fraction) < 1e-5 * scale);
        EXPECT_NEAR(rgLength(hit.normal), 1, 1e-9);
        assert_true(rgDot(hit.normal, ray->direction) <= 1e-9);
        rgVec3 x = rgAddScaled(ray->origin, hit.fraction, ray->direction);
        EXPECT_NEAR(rgLength(rgSub(x, hit.position)), 0, 1e-9 * scale);
        // The plane of the normal supports a convex shape.
        if (hit.fraction > 0) {
            rgVec3 n = rgRotateBack(pose.q, hit.normal);
            double high = rgTestSupport(s, n);
            EXPECT_NEAR(rgDot(n, rgPose_PointBack(pose, hit.position)) / scale, high / scale, 1e-5);
        }
    }
    for (int k = 0; k < 40; ++k) {
        double t = end * (k + 0.5) / 40;
        // Merged faces of hulls are planes to 5e-7; a grazing point may count as inside.
        assert_false(end - t > 1e-3 * scale && rgOutsideOf(s, pose, ray, t) <= 0 &&
                     rgOutsideOf(s, pose, ray, t + 1e-4 * scale) <= 0 &&
                     rgOutsideOf(s, pose, ray, t - 1e-4 * scale) <= 0);
    }
}

static void test_convex(void** state) {
    (void)state;
    rgRandom random = {41};
    for (int i = 0; i < RG_TEST_SHAPES; ++i) {
        rgTestShape s;
        double scale = i % 2 ? 1 : 0.01;
        rgTestMake(&s, i, scale, &random);
        int hits = 0, rays = rgFewer(200);
        for (int k = 0; k < rays; ++k) {
            rgPose pose = {rgScale(scale, rgTestDirection(&random)), rgTestRotation(&random)};
            rgVec3 from = rgAddScaled(pose.p, 3 * scale, rgTestDirection(&random));
            rgVec3 to = rgAddScaled(pose.p, scale * rgRandom_Uniform(&random, 0, 1.2),
                                    rgTestDirection(&random));
            rgRay ray = {from, rgNormalize(rgSub(to, from)), 8 * scale};
            rgRayHit hit;
            hits += rgRayCast(s.geometry, pose, &ray, &hit);
            rgCheckRay(&s, pose, &ray, scale);
        }
        // Along the axes of the shape: parallel to faces and sides.
        for (int k = 0; k < 18; ++k) {
            rgVec3 d = rgVec(k % 3 == 0, k % 3 == 1, k % 3 == 2);
            rgVec3 from =
                rgAddScaled(rgScale(0.1 * scale * (k / 3), rgVec(1, 1, 1)), -4 * scale, d);
            rgRay ray = {from, d, 8 * scale};
            rgCheckRay(&s, rgPoseIdentity(), &ray, scale);
        }
        // From inside: at once. Away from it: never. Too short: not.
        rgRay ray = {rgVec(0, 0, 0), rgTestDirection(&random), 1};
        rgRayHit hit;
        assert_true(rgTestOutside(&s, ray.origin) > 0 ||
                    (rgRayCast(s.geometry, rgPoseIdentity(), &ray, &hit) && hit.fraction == 0));
        ray.origin = rgScale(3 * scale, ray.direction);
        assert_false(rgRayCast(s.geometry, rgPoseIdentity(), &ray, &hit));
        ray.direction = rgNegate(ray.direction);
        ray.maxFraction = 1.9 * scale;
        assert_true(hits > rays / 15 || i == 9 || i == 10);
        rgTestDestroy(&s);
    }
}

static void test_plane(void** state) {
    (void)state;
    rgGeometryDef def = rgDefaultGeometryDef();
    def.kind = rg_shapePlane;
    rgGeometry* plane = NULL;
    rgCreateGeometry(&def, NULL, &plane);
    rgRay ray = {rgVec(1, 2, 3), rgVec(0, 0.5, -2), 10};
    rgRayHit hit;
    assert_true(rgRayCast(plane, rgPoseIdentity(), &ray, &hit));
    EXPECT_NEAR(hit.fraction, 1.5, 1e-12);
    EXPECT_NEAR(hit.normal.z, 1, 1e-12);
    ray.maxFraction = 1;
    assert_false(rgRayCast(plane, rgPoseIdentity(), &ray, &hit));
    ray.direction = rgVec(1, 0, 0);
    assert_false(rgRayCast(plane, rgPoseIdentity(), &ray, &hit));
    ray.direction = rgVec(0, 0, 0);
    assert_false(rgRayCast(plane, rgPoseIdentity(), &ray, &hit));
    ray.direction = rgVec(NAN, 0, 0);
    assert_false(rgRayCast(plane, rgPoseIdentity(), &ray, &hit));
    rgDestroyGeometry(plane);
}

#define RG_SIDE 13

// Möller and Trumbore's test, apart from the library's.
static double rgBruteRay(const rgRay* ray, const double* vertices, const int* triangles,
                         int count) {
    double nearest = INFINITY;
    for (int t = 0; t < count; ++t) {
        rgVec3 p[3];
        for (int k = 0; k < 3; ++k) {
            const double* v = vertices + 3 * triangles[3 * t + k];
            p[k] = rgVec(v[0], v[1], v[2]);
        }
        rgVec3 e1 = rgSub(p[1], p[0]), e2 = rgSub(p[2], p[0]);
        rgVec3 q = rgCross(ray->direction, e2);
        double det = rgDot(e1, q);
        rgVec3 s = rgSub(ray->origin, p[0]);
        double u = rgDot(s, q) / det;
        rgVec3 r = rgCross(s, e1);
        double v = rgDot(ray->direction, r) / det, at = rgDot(e2, r) / det;
        if (u >= 0 && v >= 0 && u + v <= 1 && at >= 0 && at <= ray->maxFraction) {
            nearest = fmin(nearest, at);
        }
    }
    return nearest;
}

// The same triangles as a mesh and as a height field.
static void test_surfaces(void** state) {
    (void)state;
    rgRandom random = {42};
    double heights[RG_SIDE * RG_SIDE], vertices[3 * RG_SIDE * RG_SIDE];
    int triangles[6 * (RG_SIDE - 1) * (RG_SIDE - 1)];
    for (int i = 0; i < RG_SIDE * RG_SIDE; ++i) {
        heights[i] = rgRandom_Uniform(&random, -0.3, 0.3);
        vertices[3 * i] = -3 + 6.0 * (i % RG_SIDE) / (RG_SIDE - 1);
        vertices[3 * i + 1] = -2 + 4.0 * (i / RG_SIDE) / (RG_SIDE - 1);
        vertices[3 * i + 2] = heights[i];
    }
    int count = 0;
    for (int j = 0; j < RG_SIDE - 1; ++j) {
        for (int i = 0; i < RG_SIDE - 1; ++i) {
            int at = j * RG_SIDE + i;
            int corners[6] = {at, at + 1, at + RG_SIDE + 1, at, at + RG_SIDE + 1, at + RG_SIDE};
            memcpy(triangles + 3 * count, corners, sizeof(corners));
            count += 2;
        }
    }
    rgMeshData mesh = {RG_SIDE * RG_SIDE, vertices, count, triangles};
    rgHeightFieldData field = {RG_SIDE, RG_SIDE, 3, 2, 1, heights};
    rgGeometryDef def = rgDefaultGeometryDef();
    def.mesh = &mesh;
    def.heightField = &field;
    rgGeometry *m = NULL, *h = NULL;
    def.kind = rg_shapeMesh;
    assert_int_equal(rgCreateGeometry(&def, NULL, &m), rg_ok);
    def.kind = rg_shapeHeightField;
    assert_int_equal(rgCreateGeometry(&def, NULL, &h), rg_ok);
    int hits = 0;
    for (int k = 0; k < 2000; ++k) {
        rgVec3 from = rgScale(4, rgTestDirection(&random));
        rgVec3 to = rgScale(rgRandom_Uniform(&random, 0, 3), rgTestDirection(&random));
        to.z *= 0.2;
        rgRay ray = {from, rgSub(to, from), 2};
        if (k % 7 == 0) {
            ray.direction = rgVec(0, 0, k % 2 ? 1 : -1);
        }
        if (k % 11 == 0) {
            ray.direction = rgVec(k % 2 ? 1 : -1, 0, -0.01);
            ray.origin.z = 0.3;
        }
        double expected = rgBruteRay(&ray, vertices, triangles, count);
        rgRayHit a, b;
        bool metMesh = rgRayCast(m, rgPoseIdentity(), &ray, &a);
        bool metField = rgRayCast(h, rgPoseIdentity(), &ray, &b);
        assert_int_equal(metMesh, isfinite(expected));
        assert_int_equal(metField, isfinite(expected));
        assert_int_equal(rgRayMeetsMesh(&m->triangles, &ray), isfinite(expected));
        if (metMesh) {
            EXPECT_NEAR(a.fraction, expected, 1e-9);
            EXPECT_NEAR(b.fraction, expected, 1e-9);
            assert_int_equal(a.part, b.part);
            hits += 1;
        }
    }
    assert_true(hits > 300);
    rgDestroyGeometry(m);
    rgDestroyGeometry(h);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_convex),
        cmocka_unit_test(test_plane),
        cmocka_unit_test(test_surfaces),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
