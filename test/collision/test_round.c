// Boxes, cylinders and hulls with a ball added all around: distances, manifolds, bounds and rays
// against analytic answers, supports, and the sharp shapes.
#include "scene.h"

#define ROUNDED 4 // box, cylinder, tetrahedron, hull of 30

typedef struct rgRound {
    rgTestShape core;
    double radius;
    rgGeometry* geometry;
} rgRound;

static void rgMakeRound(rgRound* s, int which, double scale, double radius, rgRandom* random) {
    static const int kinds[ROUNDED] = {3, 2, 5, 7};
    rgTestMake(&s->core, kinds[which], scale, random);
    s->radius = radius;
    rgGeometryDef def = rgDefaultGeometryDef();
    rgMeshData mesh = {.vertexCount = s->core.pointCount, .vertices = s->core.points};
    def.kind = s->core.kind;
    def.size = s->core.size;
    def.mesh = &mesh;
    def.rounding = radius;
    assert_int_equal(rgCreateGeometry(&def, NULL, &s->geometry), rg_ok);
}

static void rgFreeRound(rgRound* s) {
    rgTestDestroy(&s->core);
    rgDestroyGeometry(s->geometry);
}

static double rgLeast(const rgManifold* m) {
    double least = INFINITY;
    for (int k = 0; k < m->count; ++k) {
        least = fmin(least, m->points[k].gap);
    }
    return least;
}

// As far apart as the sharp shapes, less both radii; manifolds agree, on planes and meshes too.
static void test_distances(void** state) {
    (void)state;
    rgRandom random = {81};
    for (int n = 0; n < rgFewer(400); ++n) {
        rgRound a, b;
        rgMakeRound(&a, n % ROUNDED, 0.5, rgRandom_Uniform(&random, 0, 0.1), &random);
        rgMakeRound(&b, n / ROUNDED % ROUNDED, 0.5, rgRandom_Uniform(&random, 0.01, 0.1), &random);
        rgPose at = rgTestPlace(&a.core, rgPoseIdentity(), &b.core,
                                rgRandom_Uniform(&random, 0.01, 0.3), &random);
        rgProximity sharp, round;
        rgDistance(a.core.geometry, rgPoseIdentity(), b.core.geometry, at, NULL, &sharp);
        rgDistance(a.geometry, rgPoseIdentity(), b.geometry, at, NULL, &round);
        EXPECT_NEAR(round.distance, sharp.distance - a.radius - b.radius, 1e-9);
        assert_true(rgDot(round.normal, sharp.normal) > 1 - 1e-6);
        rgVec3 between = rgSub(round.pointB, round.pointA);
        EXPECT_NEAR(rgDot(between, round.normal), round.distance, 1e-9);
        rgManifold m;
        double margin = round.distance + 0.01;
        assert_true(rgCollide(a.geometry, rgPoseIdentity(), b.geometry, at, margin, NULL, &m) > 0);
        EXPECT_NEAR(rgLeast(&m), round.distance, 1e-6);
        assert_int_equal(
            rgCollide(a.geometry, rgPoseIdentity(), b.geometry, at, margin - 0.02, NULL, &m), 0);
        rgFreeRound(&a);
        rgFreeRound(&b);
    }
}

static double rgRoundSupport(const rgRound* s, rgPose pose, rgVec3 n) {
    return rgDot(pose.p, n) + rgTestSupport(&s->core, rgRotateBack(pose.q, n)) + s->radius;
}

static void test_plane_and_floor(void** state) {
    (void)state;
    rgRandom random = {82};
    double vertices[12] = {-9, -9, 0, 9, -9, 0, 9, 9, 0, -9, 9, 0};
    int triangles[6] = {0, 1, 2, 0, 2, 3};
    rgMeshData mesh = {4, vertices, 2, triangles};
    rgGeometryDef def = rgDefaultGeometryDef();
    rgGeometry* grounds[2];
    def.kind = rg_shapePlane;
    assert_int_equal(rgCreateGeometry(&def, NULL, &grounds[0]), rg_ok);
    def.kind = rg_shapeMesh;
    def.mesh = &mesh;
    assert_int_equal(rgCreateGeometry(&def, NULL, &grounds[1]), rg_ok);
    for (int n = 0; n < rgFewer(400); ++n) {
        rgRound s;
        rgMakeRound(&s, n % ROUNDED, 0.5, rgRandom_Uniform(&random, 0.01, 0.1), &random);
        rgPose at = {rgVec(0.3, 0.2, 0), n % 3 ? rgTestRotation(&random) : rgPoseIdentity().q};
        double gap = rgRandom_Uniform(&random, -0.005, 0.009);
        at.p.z = gap + rgRoundSupport(&s, at, rgVec(0, 0, -1));
        for (int g = 0; g < 2; ++g) {
            rgManifold m;
            rgCollide(grounds[g], rgPoseIdentity(), s.geometry, at, 0.01, NULL, &m);
            assert_true(m.count > 0);
            // Rims of cylinders on meshes are clipped as polygons of 12 corners.
            EXPECT_NEAR(rgLeast(&m), gap, g == 1 && n % ROUNDED == 1 ? 1e-3 : 1e-8);
            EXPECT_NEAR(m.normal.z, 1, 1e-9);
            for (int k = 0; k < m.count; ++k) {
                EXPECT_NEAR(m.points[k].position.z, 0.5 * m.points[k].gap, 1e-9);
            }
        }
        rgFreeRound(&s);
    }
    rgDestroyGeometry(grounds[0]);
    rgDestroyGeometry(grounds[1]);
}

// A ball at the corner, at an edge and at a face of a rounded box, and a box of a capsule's shape.
static void test_analytic(void** state) {
    (void)state;
    rgGeometryDef def = rgDefaultGeometryDef();
    rgGeometry *box, *ball, *rod;
    def.kind = rg_shapeBox;
    def.size = rgVec(0.1, 0.2, 0.3);
    def.rounding = 0.02;
    assert_int_equal(rgCreateGeometry(&def, NULL, &box), rg_ok);
    def.kind = rg_shapeHull;
    double line[24];
    for (int i = 0; i < 8; ++i) {
        line[3 * i] = i & 1 ? 1e-6 : -1e-6;
        line[3 * i + 1] = i & 2 ? 1e-6 : -1e-6;
        line[3 * i + 2] = i & 4 ? 0.2 : -0.2;
    }
    rgMeshData mesh = {.vertexCount = 8, .vertices = line};
    def.mesh = &mesh;
    def.rounding = 0.05;
    assert_int_equal(rgCreateGeometry(&def, NULL, &rod), rg_ok);
    def.kind = rg_shapeSphere;
    def.size = rgVec(0.05, 0, 0);
    def.rounding = 0;
    assert_int_equal(rgCreateGeometry(&def, NULL, &ball), rg_ok);
    const rgVec3 offsets[3] = {{0.03, 0.04, 0.12}, {0.06, 0.08, -0.1}, {0.15, -0.1, -0.1}};
    const double lengths[3] = {0.13, 0.1, 0.15};
    for (int k = 0; k < 3; ++k) {
        rgPose at = {rgAdd(rgVec(0.1, 0.2, 0.3), offsets[k]), rgPoseIdentity().q};
        rgManifold m;
        rgProximity p;
        assert_int_equal(rgCollide(box, rgPoseIdentity(), ball, at, 1, NULL, &m), 1);
        EXPECT_NEAR(m.points[0].gap, lengths[k] - 0.07, 1e-12);
        rgDistance(ball, at, box, rgPoseIdentity(), NULL, &p);
        EXPECT_NEAR(p.distance, lengths[k] - 0.07, 1e-12);
        // The rod is a capsule of radius 0.05 and half length 0.2.
        at.p = rgAdd(rgVec(0, 0, 0.2), rgVec(0.03, 0.04, 0.12));
        rgDistance(rod, rgPoseIdentity(), ball, at, NULL, &p);
        EXPECT_NEAR(p.distance, 0.13 - 0.1, 2e-6);
    }
    rgDestroyGeometry(box);
    rgDestroyGeometry(ball);
    rgDestroyGeometry(rod);
}

static void test_bounds(void** state) {
    (void)state;
    rgRandom random = {83};
    for (int n = 0; n < 200; ++n) {
        rgRound s;
        rgMakeRound(&s, n % ROUNDED, 1, 0.2, &random);
        rgPose at = {rgTestDirection(&random), rgTestRotation(&random)};
        rgBox box = rgGeometry_Box(s.geometry, at);
        rgVec3 high =
            rgVec(rgRoundSupport(&s, at, rgVec(1, 0, 0)), rgRoundSupport(&s, at, rgVec(0, 1, 0)),
                  rgRoundSupport(&s, at, rgVec(0, 0, 1)));
        // Boxes and cylinders exactly, hulls by the box around them.
        double slack = n % ROUNDED < 2 ? 1e-12 : 2;
        assert_true(box.upper.x > high.x - 1e-12 && box.upper.x < high.x + slack);
        assert_true(box.upper.y > high.y - 1e-12 && box.upper.y < high.y + slack);
        assert_true(box.upper.z > high.z - 1e-12 && box.upper.z < high.z + slack);
        rgFreeRound(&s);
    }
}

// Where a ray meets the shape the core is one radius away, and nothing of the shape is before it.
static void test_rays(void** state) {
    (void)state;
    rgRandom random = {84};
    int hits = 0, misses = 0;
    for (int n = 0; n < rgFewer(2000); ++n) {
        rgRound s;
        rgMakeRound(&s, n % ROUNDED, 0.5, 0.1, &random);
        rgRay ray = {rgScale(2, rgTestDirection(&random)), {0, 0, 0}, 3};
        ray.direction = rgSub(rgScale(0.5, rgTestDirection(&random)), ray.origin);
        rgRayHit hit;
        bool found = rgRayCast(s.geometry, rgPoseIdentity(), &ray, &hit);
        rgGeometryDef def = rgDefaultGeometryDef();
        rgGeometry* point;
        def.kind = rg_shapeSphere;
        def.size.x = 1e-9;
        assert_int_equal(rgCreateGeometry(&def, NULL, &point), rg_ok);
        double least = INFINITY;
        for (int k = 0; k <= 60; ++k) {
            double end = found ? hit.fraction : 3;
            rgPose at = {rgAddScaled(ray.origin, end * k / 60, ray.direction), {1, 0, 0, 0}};
            rgProximity p;
            rgDistance(s.core.geometry, rgPoseIdentity(), point, at, NULL, &p);
            least = fmin(least, p.distance + 1e-9 - s.radius);
            if (found && k == 60) {
                EXPECT_NEAR(p.distance + 1e-9, s.radius, 1e-7);
                assert_true(rgDot(p.normal, hit.normal) > 1 - 1e-6);
            }
        }
        assert_true(least > -1e-7);
        hits += found;
        misses += !found;
        rgDestroyGeometry(point);
        rgFreeRound(&s);
    }
    assert_true(hits > misses / 4 && misses > hits / 20);
    // From inside, and along a face.
    rgRound s;
    rgMakeRound(&s, 0, 0.5, 0.1, &random);
    rgRay ray = {rgVec(0, 0, 0), rgVec(1, 0, 0), 3};
    rgRayHit hit;
    assert_true(rgRayCast(s.geometry, rgPoseIdentity(), &ray, &hit));
    EXPECT_NEAR(hit.fraction, 0, 0);
    rgFreeRound(&s);
}

static void test_refusals(void** state) {
    (void)state;
    rgGeometryDef def = rgDefaultGeometryDef();
    rgGeometry* g = NULL;
    def.kind = rg_shapeBox;
    def.size = rgVec(1, 1, 1);
    const double bad[3] = {-1, NAN, INFINITY};
    for (int k = 0; k < 3; ++k) {
        def.rounding = bad[k];
        assert_int_equal(rgCreateGeometry(&def, NULL, &g), rg_errorArgument);
    }
    def.kind = rg_shapeSphere;
    def.rounding = 0.1;
    assert_int_equal(rgCreateGeometry(&def, NULL, &g), rg_errorArgument);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_distances), cmocka_unit_test(test_plane_and_floor),
        cmocka_unit_test(test_analytic),  cmocka_unit_test(test_bounds),
        cmocka_unit_test(test_rays),      cmocka_unit_test(test_refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
