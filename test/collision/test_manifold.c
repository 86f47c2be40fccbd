// Manifolds: the least gap is the distance, points lie where they say, support areas and counts of
// known placements, ids that persist, symmetry under swapping and rigid motion.
#include "scene.h"

static rgGeometry* rgMake(rgShapeKind kind, double x, double y, double z) {
    rgGeometryDef def = rgDefaultGeometryDef();
    def.kind = kind;
    def.size = rgVec(x, y, z);
    rgGeometry* geometry = NULL;
    assert_int_equal(rgCreateGeometry(&def, NULL, &geometry), rg_ok);
    return geometry;
}

static double rgLeastGap(const rgManifold* m) {
    double least = INFINITY;
    for (int k = 0; k < m->count; ++k) {
        least = fmin(least, m->points[k].gap);
    }
    return least;
}

// Area of the convex hull of up to 4 points in convex position, any order.
static double rgArea(const rgManifold* m) {
    double most = 0;
    for (int i = 0; i < m->count; ++i) {
        for (int j = 0; j < m->count; ++j) {
            for (int k = 0; k < m->count; ++k) {
                for (int l = 0; l < m->count; ++l) {
                    rgVec3 p = m->points[i].position, q = m->points[j].position;
                    rgVec3 r = m->points[k].position, s = m->points[l].position;
                    most = fmax(most, 0.5 * rgLength(rgCross(rgSub(r, p), rgSub(s, q))));
                }
            }
        }
    }
    return most;
}

static rgPose rgAt(double x, double y, double z, rgQuat q) {
    return (rgPose){rgVec(x, y, z), q};
}

static void rgCheckPoints(const rgTestShape* a, rgPose pa, const rgTestShape* b, rgPose pb,
                          const rgManifold* m, bool rounded, double scale) {
    for (int k = 0; k < m->count; ++k) {
        const rgManifoldPoint* p = &m->points[k];
        assert_true(isfinite(p->gap) && isfinite(rgLengthSquared(p->position)));
        EXPECT_NEAR(rgLength(p->normal), 1, 1e-12);
        // Half the gap back along the normal is on A, forward on B.
        rgVec3 onA = rgAddScaled(p->position, -0.5 * p->gap, p->normal);
        rgVec3 onB = rgAddScaled(p->position, 0.5 * p->gap, p->normal);
        double outA = rgTestOutside(a, rgPose_PointBack(pa, onA)) / scale;
        double outB = rgTestOutside(b, rgPose_PointBack(pb, onB)) / scale;
        // Edges side by side to 0.003 rad share points that are off by as much; the deepest is not,
        // but for corners that are rounded by a hundredth.
        double tolerance = rounded || p->gap > rgLeastGap(m) + 1e-5 * scale ? 3e-3 : 1e-4;
        if (!(outA < tolerance && outB < tolerance)) {
            print_error("kinds %d and %d, point %d of %d, gap %g: off A by %g, off B by %g\n",
                        (int)a->kind, (int)b->kind, k, m->count, p->gap, outA, outB);
            fail();
        }
        for (int j = 0; j < k; ++j) {
            assert_int_not_equal(m->points[j].feature, p->feature);
        }
    }
}

// Every pair, near contact: least gap, points, margin, swap, rigid motion.
static void test_all_pairs(void** state) {
    (void)state;
    rgRandom random = {11};
    for (int i = 0; i < RG_TEST_SHAPES * RG_TEST_SHAPES; ++i) {
        double scale = i % 3 == 0 ? 1e-3 : i % 3 == 1 ? 1 : 100;
        rgTestShape a, b;
        rgTestMake(&a, i / RG_TEST_SHAPES, scale, &random);
        rgTestMake(&b, i % RG_TEST_SHAPES, scale, &random);
        for (int k = 0; k < 40; ++k) {
            rgPose pa = {rgScale(scale, rgTestDirection(&random)), rgTestRotation(&random)};
            double gap = scale * rgRandom_Uniform(&random, -0.02, 0.02);
            rgPose pb = rgTestPlace(&a, pa, &b, gap, &random);
            double margin = scale * (k % 2 ? 0.05 : 0.3);
            rgProximity p;
            rgManifold m, s;
            rgDistance(a.geometry, pa, b.geometry, pb, NULL, &p);
            int count = rgCollide(a.geometry, pa, b.geometry, pb, margin, NULL, &m);
            assert_int_equal(count, m.count);
            assert_int_equal(count > 0, p.distance <= margin);
            assert_in_range(count, 0, 4);
            bool rounded = count > 0 && rgLength(rgSub(m.normal, p.normal)) > 1e-6;
            if (count > 0) {
                // Reduction may drop a point that is deeper by 1e-5 of the patch; along the normal
                // of a rounded corner there is less room.
                double off = rgLeastGap(&m) - p.distance, less = rounded ? 0.01 : 3e-5;
                if (!(off <= 3e-5 * scale && off >= -less * scale)) {
                    print_error("%s - %s: least gap %g, distance %g, %d points\n",
                                rgTestName(i / RG_TEST_SHAPES), rgTestName(i % RG_TEST_SHAPES),
                                rgLeastGap(&m), p.distance, count);
                    fail();
                }
                assert_true(rgLeastGap(&m) <= margin);
            }
            rgCheckPoints(&a, pa, &b, pb, &m, rounded, scale);
            assert_int_equal(rgCollide(b.geometry, pb, a.geometry, pa, margin, NULL, &s) > 0,
                             count > 0);
            if (count > 0) {
                EXPECT_NEAR(rgLeastGap(&s) / scale, rgLeastGap(&m) / scale, 6e-5);
            }
        }
        rgTestDestroy(&a);
        rgTestDestroy(&b);
    }
}

static void test_plane_with_all(void** state) {
    (void)state;
    rgRandom random = {12};
    rgGeometry* plane = rgMake(rg_shapePlane, 0, 0, 0);
    for (int i = 0; i < RG_TEST_SHAPES; ++i) {
        rgTestShape b;
        rgTestMake(&b, i, 1, &random);
        rgPairCache cache = {0};
        for (int k = 0; k < 200; ++k) {
            rgPose pa = {rgTestDirection(&random), rgTestRotation(&random)};
            rgPose pb = {rgScale(1.2, rgTestDirection(&random)), rgTestRotation(&random)};
            rgVec3 n = rgRotate(pa.q, rgVec(0, 0, 1));
            double low = -rgTestSupport(&b, rgRotateBack(pb.q, rgNegate(n)));
            double gap = low + rgDot(n, rgSub(pb.p, pa.p));
            rgProximity p;
            assert_int_equal(rgDistance(plane, pa, b.geometry, pb, NULL, &p), rg_ok);
            EXPECT_NEAR(p.distance, gap, 1e-12);
            rgManifold m;
            int count = rgCollide(plane, pa, b.geometry, pb, 0.05, &cache, &m);
            assert_int_equal(count > 0, gap <= 0.05);
            if (count > 0) {
                EXPECT_NEAR(rgLeastGap(&m), gap, 1e-4);
                EXPECT_NEAR(rgDot(m.normal, n), 1, 1e-12);
            }
            rgManifold s;
            assert_int_equal(rgCollide(b.geometry, pb, plane, pa, 0.05, NULL, &s), count);
            if (count > 0) {
                EXPECT_NEAR(rgDot(s.normal, n), -1, 1e-12);
            }
        }
        rgTestDestroy(&b);
    }
    rgDestroyGeometry(plane);
}

// Below a plane all vertices within the margin are found, once each, however many a hull has.
static void test_many_vertices(void** state) {
    (void)state;
    enum { RG_MANY = 3000 };
    static double points[3 * RG_MANY];
    rgRandom random = {13};
    rgMeshData mesh = {.vertexCount = RG_MANY, .vertices = points};
    rgGeometryDef def = rgDefaultGeometryDef();
    def.kind = rg_shapePlane;
    rgGeometry *plane = NULL, *hull = NULL;
    assert_int_equal(rgCreateGeometry(&def, NULL, &plane), rg_ok);
    for (int i = 0; i < RG_MANY; ++i) {
        rgVec3 d = rgTestDirection(&random);
        points[3 * i] = d.x;
        points[3 * i + 1] = d.y;
        points[3 * i + 2] = d.z;
    }
    def.kind = rg_shapeHull;
    def.mesh = &mesh;
    assert_int_equal(rgCreateGeometry(&def, NULL, &hull), rg_ok);
    for (int n = 0; n < 1000; ++n) {
        rgPose pose = {rgVec(0, 0, 1), rgTestRotation(&random)};
        double margin = 0.004;
        int expected = 0;
        for (int i = 0; i < RG_MANY; ++i) {
            rgVec3 p = rgVec(points[3 * i], points[3 * i + 1], points[3 * i + 2]);
            expected += rgPose_Point(pose, p).z <= margin;
        }
        rgManifold m;
        int count = rgCollideUpTo(RG_MANIFOLD_CAPACITY, plane, rgPoseIdentity(), hull, pose, margin,
                                  NULL, &m);
        assert_int_equal(count, expected < RG_MANIFOLD_CAPACITY ? expected : RG_MANIFOLD_CAPACITY);
        for (int k = 0; k < count; ++k) {
            assert_true(m.points[k].gap <= margin);
            for (int j = 0; j < k; ++j) {
                assert_int_not_equal(m.points[j].feature, m.points[k].feature);
            }
        }
    }
    rgDestroyGeometry(hull);
    rgDestroyGeometry(plane);
}

static rgGeometry* rgMakeHull(const double* points, int count) {
    rgMeshData mesh = {.vertexCount = count, .vertices = points};
    rgGeometryDef def = rgDefaultGeometryDef();
    def.kind = rg_shapeHull;
    def.mesh = &mesh;
    rgGeometry* hull = NULL;
    assert_int_equal(rgCreateGeometry(&def, NULL, &hull), rg_ok);
    return hull;
}

// A disc with more vertices on its rim than a manifold is chosen from stands on all sides of it.
static void test_dense_rim(void** state) {
    (void)state;
    enum { RG_RIM = 400 };
    static double points[6 * RG_RIM];
    for (int i = 0; i < 2 * RG_RIM; ++i) {
        double angle = 6.283185307179586 * (i / 2) / RG_RIM;
        points[3 * i] = 0.1 * cos(angle);
        points[3 * i + 1] = 0.1 * sin(angle);
        points[3 * i + 2] = i % 2 == 0 ? -0.02 : 0.02;
    }
    rgGeometry* plane = rgMake(rg_shapePlane, 0, 0, 0);
    rgGeometry* disc = rgMakeHull(points, 2 * RG_RIM);
    rgPose pose = {rgVec(0, 0, 0.02), rgQuatIdentity()};
    rgManifold m;
    assert_int_equal(rgCollide(plane, rgPoseIdentity(), disc, pose, 1e-3, NULL, &m), 4);
    for (int i = 0; i < 16; ++i) {
        rgVec3 d = rgVec(cos(6.283185307179586 * i / 16), sin(6.283185307179586 * i / 16), 0);
        double reach = -1;
        for (int k = 0; k < m.count; ++k) {
            reach = fmax(reach, rgDot(d, m.points[k].position));
        }
        assert_true(reach > 0.05);
    }
    rgDestroyGeometry(disc);
    rgDestroyGeometry(plane);
}

// A sole with many vertices along its edges and a rim around it that is higher, within the margin:
// it stands on the corners of the flat part, however it is turned.
static void test_rimmed_sole(void** state) {
    (void)state;
    enum { RG_EDGE = 20, RG_RINGS = 3, RG_SOLE = 4 * RG_EDGE * RG_RINGS };
    static double points[3 * RG_SOLE];
    rgRandom random = {31};
    rgGeometry* plane = rgMake(rg_shapePlane, 0, 0, 0);
    for (int n = 0; n < 200; ++n) {
        double length = rgRandom_Uniform(&random, 0.03, 0.12), width = 0.03;
        for (int ring = 0; ring < RG_RINGS; ++ring) {
            double wide = ring == 1 ? 3e-3 : 0, high = ring == 0 ? 0 : ring == 1 ? 2e-3 : 0.04;
            for (int i = 0; i < 4 * RG_EDGE; ++i) {
                double s = 2.0 * (i % RG_EDGE) / RG_EDGE - 1, bulge = ring == 1 ? 1e-4 : 1e-7;
                double x = i / RG_EDGE % 2 == 0 ? s : 1, y = i / RG_EDGE % 2 == 0 ? -1 : s;
                double sign = i / RG_EDGE < 2 ? 1 : -1;
                double* p = points + 3 * (4 * RG_EDGE * ring + i);
                // Edges bulge a little, so that what is between corners belongs to the hull.
                double out = bulge * (1 - s * s);
                p[0] = sign * (x * (length + wide) + (i / RG_EDGE % 2 == 0 ? 0 : out));
                p[1] = sign * (y * (width + wide) - (i / RG_EDGE % 2 == 0 ? out : 0));
                p[2] = high;
            }
        }
        rgGeometry* sole = rgMakeHull(points, RG_SOLE);
        double angle = rgRandom_Uniform(&random, -3, 3);
        rgPose pose = {rgVec(0.1, 0.2, 1e-4), rgQuatFromAxisAngle(rgVec(0, 0, 1), angle)};
        rgManifold m;
        assert_int_equal(rgCollide(plane, rgPoseIdentity(), sole, pose, 5e-3, NULL, &m), 4);
        for (int k = 0; k < m.count; ++k) {
            EXPECT_NEAR(m.points[k].gap, 1e-4, 1e-15);
        }
        EXPECT_NEAR(rgArea(&m), 4 * length * width, 1e-6);
        rgDestroyGeometry(sole);
    }
    rgDestroyGeometry(plane);
}

// Points that are kept from call to call are where the vertices are now, and none is much deeper.
static void test_points_are_kept(void** state) {
    (void)state;
    enum { RG_SOLE = 300 };
    static double points[3 * RG_SOLE];
    rgRandom random = {29};
    rgGeometry* plane = rgMake(rg_shapePlane, 0, 0, 0);
    rgPairCache cache = {0};
    int same = 0, steps = 0;
    for (int n = 0; n < 20; ++n) {
        int count = n % 2 == 0 ? RG_SOLE : 40; // the cache is of another pair at first
        for (int i = 0; i < count; ++i) {
            rgVec3 d = rgTestDirection(&random);
            points[3 * i] = 0.1 * d.x;
            points[3 * i + 1] = 0.05 * d.y;
            points[3 * i + 2] = 0.01 * d.z;
        }
        rgGeometry* sole = rgMakeHull(points, count);
        rgPose pose = {rgVec(0, 0, 0.01), rgQuatIdentity()};
        uint32_t last = UINT32_MAX;
        for (int step = 0; step < 100; ++step, ++steps) {
            rgVec3 turn = rgScale(rgRandom_Uniform(&random, 0, 3e-4), rgTestDirection(&random));
            pose.q = rgQuatMultiply(rgQuatFromRotationVector(turn), pose.q);
            pose.p.z += rgRandom_Uniform(&random, -1e-5, 1e-5);
            double least = INFINITY, found = INFINITY;
            for (int i = 0; i < count; ++i) {
                rgVec3 p = rgVec(points[3 * i], points[3 * i + 1], points[3 * i + 2]);
                least = fmin(least, rgPose_Point(pose, p).z);
            }
            rgManifold m;
            assert_true(rgCollide(plane, rgPoseIdentity(), sole, pose, 4e-3, &cache, &m) > 0);
            for (int k = 0; k < m.count; ++k) {
                found = fmin(found, m.points[k].gap);
                assert_true(fabs(m.points[k].position.z - 0.5 * m.points[k].gap) < 1e-15);
                assert_true(m.points[k].gap <= 4e-3);
            }
            assert_true(found >= least - 1e-15 && found <= least + 1e-5 * 0.2);
            same += m.points[0].feature == last;
            last = m.points[0].feature;
        }
        rgDestroyGeometry(sole);
    }
    assert_true(same > steps / 2);
    rgDestroyGeometry(plane);
}

// A foot that stands on its heel and sinks onto its toe: while the points of the heel are kept,
// what comes within half of the margin is seen.
static void test_toe_is_seen(void** state) {
    (void)state;
    enum { RG_RIM = 40 };
    static double points[12 * RG_RIM];
    rgRandom random = {37};
    rgGeometry* plane = rgMake(rg_shapePlane, 0, 0, 0);
    int kept = 0, seen = 0;
    for (int n = 0; n < 50; ++n) {
        double half = rgRandom_Uniform(&random, 0.05, 0.2), margin = 4e-3;
        double step = rgRandom_Uniform(&random, 2e-5, 2e-4);
        for (int i = 0; i < 4 * RG_RIM; ++i) {
            double angle = 6.283185307179586 * (i / 4) / RG_RIM;
            points[3 * i] = (i % 2 == 0 ? -half : half) + 0.02 * cos(angle);
            points[3 * i + 1] = 0.02 * sin(angle);
            points[3 * i + 2] = i % 4 < 2 ? 0 : 0.03;
        }
        rgGeometry* foot = rgMakeHull(points, 4 * RG_RIM);
        rgPairCache cache = {0};
        for (double pitch = 0.08; pitch > 0; pitch -= step) {
            rgPose pose = {.q = rgQuatFromAxisAngle(rgVec(0, 1, 0), -pitch)};
            pose.p.z = (half + 0.02) * sin(pitch); // the end of the heel is on the ground
            double toe = INFINITY, reach = -INFINITY;
            for (int i = 0; i < 4 * RG_RIM; ++i) {
                rgVec3 p = rgVec(points[3 * i], points[3 * i + 1], points[3 * i + 2]);
                toe = p.x > 0 ? fmin(toe, rgPose_Point(pose, p).z) : toe;
            }
            rgManifold m;
            rgVec3 before = cache.axis;
            assert_true(rgCollide(plane, rgPoseIdentity(), foot, pose, margin, &cache, &m) > 0);
            for (int k = 0; k < m.count; ++k) {
                reach = fmax(reach, m.points[k].position.x);
            }
            assert_true(toe > 0.5 * margin || reach > 0);
            kept += rgLength(rgSub(before, cache.axis)) == 0;
            seen += reach > 0;
        }
        rgDestroyGeometry(foot);
    }
    assert_true(kept > 10000 && seen > 1000);
    rgDestroyGeometry(plane);
}

static void test_box_on_box(void** state) {
    (void)state;
    rgGeometry* a = rgMake(rg_shapeBox, 1, 1, 0.5);
    rgGeometry* b = rgMake(rg_shapeBox, 0.4, 0.3, 0.2);
    rgManifold m;
    // Apart, touching and inside by a little: the whole face of the smaller.
    for (int k = -1; k <= 1; ++k) {
        rgPose pb = rgAt(0.1, 0.1, 0.7 + 1e-4 * k, rgQuatIdentity());
        assert_int_equal(rgCollide(a, rgPoseIdentity(), b, pb, 1e-3, NULL, &m), 4);
        EXPECT_NEAR(rgArea(&m), 0.48, 1e-9);
        EXPECT_NEAR(m.normal.z, 1, 1e-12);
        EXPECT_NEAR(rgLeastGap(&m), 1e-4 * k, 1e-12);
    }
    // Half over the edge.
    rgPose edge = rgAt(1, 0, 0.7, rgQuatIdentity());
    assert_int_equal(rgCollide(a, rgPoseIdentity(), b, edge, 1e-3, NULL, &m), 4);
    EXPECT_NEAR(rgArea(&m), 0.24, 1e-6);
    // Turned by 45 degrees on an equal one: an octagon, eight points on request.
    rgGeometry* c = rgMake(rg_shapeBox, 1, 1, 0.5);
    rgPose turned = rgAt(0, 0, 1, rgQuatFromAxisAngle(rgVec(0, 0, 1), 0.7853981633974483));
    assert_int_equal(rgCollideUpTo(8, a, rgPoseIdentity(), c, turned, 1e-3, NULL, &m), 8);
    assert_int_equal(rgCollide(a, rgPoseIdentity(), c, turned, 1e-3, NULL, &m), 4);
    assert_true(rgArea(&m) > 2); // the octagon has 3.31, the best four points 2.34
    // On an edge: two points. On a corner: one.
    rgPose onEdge = rgAt(0, 0, 0.5 + 0.35, rgQuatFromAxisAngle(rgVec(1, 0, 0), 0.6));
    onEdge.p.z = 0.5 + 0.3 * sin(0.6) + 0.2 * cos(0.6);
    assert_int_equal(rgCollide(a, rgPoseIdentity(), b, onEdge, 1e-3, NULL, &m), 2);
    EXPECT_NEAR(rgLength(rgSub(m.points[0].position, m.points[1].position)), 0.8, 1e-6);
    rgDestroyGeometry(a);
    rgDestroyGeometry(b);
    rgDestroyGeometry(c);
}

static void test_cylinder_on_plane(void** state) {
    (void)state;
    rgGeometry* plane = rgMake(rg_shapePlane, 0, 0, 0);
    rgGeometry* c = rgMake(rg_shapeCylinder, 0.5, 1, 0);
    rgManifold m;
    rgPose standing = rgAt(0, 0, 1, rgQuatIdentity());
    assert_int_equal(rgCollide(plane, rgPoseIdentity(), c, standing, 1e-3, NULL, &m), 4);
    EXPECT_NEAR(rgArea(&m), 0.5, 1e-9); // the square in the circle
    rgPose lying = rgAt(0, 0, 0.5, rgQuatFromAxisAngle(rgVec(0, 1, 0), 1.5707963267948966));
    assert_int_equal(rgCollide(plane, rgPoseIdentity(), c, lying, 1e-3, NULL, &m), 2);
    EXPECT_NEAR(rgLength(rgSub(m.points[0].position, m.points[1].position)), 2, 1e-9);
    rgPose tilted = rgAt(0, 0, cos(0.3) + 0.5 * sin(0.3), rgQuatFromAxisAngle(rgVec(0, 1, 0), 0.3));
    assert_int_equal(rgCollide(plane, rgPoseIdentity(), c, tilted, 1e-3, NULL, &m), 1);
    EXPECT_NEAR(m.points[0].gap, 0, 1e-12);
    // The same on a box, by clipping.
    rgGeometry* box = rgMake(rg_shapeBox, 2, 2, 0.5);
    standing.p.z += 0.5;
    assert_int_equal(rgCollide(box, rgPoseIdentity(), c, standing, 1e-3, NULL, &m), 4);
    assert_true(rgArea(&m) > 0.45);
    lying.p.z += 0.5;
    assert_int_equal(rgCollide(box, rgPoseIdentity(), c, lying, 1e-3, NULL, &m), 2);
    tilted.p.z += 0.5;
    assert_int_equal(rgCollide(box, rgPoseIdentity(), c, tilted, 1e-3, NULL, &m), 1);
    rgDestroyGeometry(plane);
    rgDestroyGeometry(c);
    rgDestroyGeometry(box);
}

static void test_capsules(void** state) {
    (void)state;
    rgGeometry* c = rgMake(rg_shapeCapsule, 0.1, 0.5, 0);
    rgGeometry* box = rgMake(rg_shapeBox, 1, 1, 0.5);
    rgManifold m;
    rgPose beside = rgAt(0.2, 0, 0.3, rgQuatIdentity());
    assert_int_equal(rgCollide(c, rgPoseIdentity(), c, beside, 1e-3, NULL, &m), 2);
    EXPECT_NEAR(rgLength(rgSub(m.points[0].position, m.points[1].position)), 0.7, 1e-9);
    EXPECT_NEAR(m.normal.x, 1, 1e-12);
    rgPose crossed = rgAt(0.2, 0, 0, rgQuatFromAxisAngle(rgVec(1, 0, 0), 1));
    assert_int_equal(rgCollide(c, rgPoseIdentity(), c, crossed, 1e-3, NULL, &m), 1);
    rgPose lying = rgAt(0, 0, 0.6, rgQuatFromAxisAngle(rgVec(0, 1, 0), 1.5707963267948966));
    assert_int_equal(rgCollide(box, rgPoseIdentity(), c, lying, 1e-3, NULL, &m), 2);
    EXPECT_NEAR(rgLength(rgSub(m.points[0].position, m.points[1].position)), 1, 1e-9);
    rgDestroyGeometry(c);
    rgDestroyGeometry(box);
}

// Hull cubes behave like boxes.
static void test_hull_on_hull(void** state) {
    (void)state;
    rgTestShape h;
    memset(&h, 0, sizeof(h));
    h.kind = rg_shapeHull;
    h.pointCount = 27;
    for (int i = 0; i < 27; ++i) {
        h.points[3 * i] = 0.1 * (i % 3 - 1);
        h.points[3 * i + 1] = 0.1 * (i / 3 % 3 - 1);
        h.points[3 * i + 2] = 0.1 * (i / 9 - 1);
    }
    rgTestCreate(&h);
    rgHullView view;
    assert_true(rgGeometry_Hull(h.geometry, &view));
    assert_int_equal(view.faceCount, 6);
    assert_int_equal(view.vertexCount, 8);
    rgManifold m;
    for (int k = -1; k <= 1; ++k) {
        rgPose pb = rgAt(0.05, 0, 0.2 + 1e-5 * k, rgQuatIdentity());
        assert_int_equal(rgCollide(h.geometry, rgPoseIdentity(), h.geometry, pb, 1e-3, NULL, &m),
                         4);
        EXPECT_NEAR(rgArea(&m), 0.03, 1e-6);
        EXPECT_NEAR(rgLeastGap(&m), 1e-5 * k, 1e-12);
    }
    rgTestDestroy(&h);
}

// The other way around the normal points down; the choice of points is as steady.
static void rgCheckTurned(const rgGeometry* a, const rgGeometry* b, rgPose before, rgPose after) {
    rgManifold m, n;
    rgCollide(b, before, a, rgPoseIdentity(), 1e-3, NULL, &m);
    rgCollide(b, after, a, rgPoseIdentity(), 1e-3, NULL, &n);
    assert_int_equal(m.count, n.count);
    for (int p = 0; p < m.count; ++p) {
        int matches = 0;
        for (int q = 0; q < n.count; ++q) {
            matches += m.points[p].feature == n.points[q].feature;
        }
        assert_int_equal(matches, 1);
    }
}

// Ids survive motions of a micrometre for resting pairs, with and without a cache.
static void test_ids_persist(void** state) {
    (void)state;
    rgRandom random = {13};
    static const int kinds[][2] = {{3, 3}, {3, 2}, {3, 1}, {11, 11}, {3, 11}, {11, 1}};
    for (int i = 0; i < (int)(sizeof(kinds) / sizeof(kinds[0])); ++i) {
        rgTestShape a, b;
        rgTestMake(&a, kinds[i][0], 1, &random);
        rgTestMake(&b, kinds[i][1], 0.5, &random);
        rgPose pb = rgAt(0.03, 0.02, 0, rgQuatFromAxisAngle(rgVec(0, 0, 1), 0.2));
        if (kinds[i][1] == 1) {
            pb.q = rgQuatMultiply(pb.q, rgQuatFromAxisAngle(rgVec(0, 1, 0), 1.5707963267948966));
        }
        pb.p.z = -rgTestSlab(&a, rgPoseIdentity(), &b, pb, rgVec(0, 0, 1));
        rgPairCache cache = {0};
        rgManifold first, m;
        rgCollide(a.geometry, rgPoseIdentity(), b.geometry, pb, 1e-3, &cache, &first);
        assert_true(first.count >= 2);
        for (int k = 0; k < 50; ++k) {
            rgPose moved = pb;
            moved.p = rgAddScaled(moved.p, 1e-6, rgTestDirection(&random));
            rgVec3 turn = rgScale(1e-7, rgTestDirection(&random));
            moved.q = rgQuatMultiply(rgQuatFromRotationVector(turn), moved.q);
            rgCollide(a.geometry, rgPoseIdentity(), b.geometry, moved, 1e-3, k % 2 ? &cache : NULL,
                      &m);
            rgCheckTurned(a.geometry, b.geometry, pb, moved);
            assert_int_equal(m.count, first.count);
            for (int p = 0; p < m.count; ++p) {
                int matches = 0;
                for (int q = 0; q < m.count; ++q) {
                    bool same = first.points[q].feature == m.points[p].feature;
                    matches += same;
                    if (same) {
                        double apart =
                            rgLength(rgSub(first.points[q].position, m.points[p].position));
                        assert_true(apart < 1e-4);
                    }
                }
                assert_int_equal(matches, 1);
            }
        }
        rgTestDestroy(&a);
        rgTestDestroy(&b);
    }
}

// Moving both shapes together moves the points with them.
static void test_rigid_motion(void** state) {
    (void)state;
    rgRandom random = {14};
    for (int i = 0; i < 144; ++i) {
        rgTestShape a, b;
        rgTestMake(&a, i / 12, 1, &random);
        rgTestMake(&b, i % 12, 1, &random);
        rgPose pa = rgPoseIdentity(), pb = rgTestPlace(&a, pa, &b, 1e-3, &random);
        rgPose move = {rgScale(50, rgTestDirection(&random)), rgTestRotation(&random)};
        rgManifold m, s;
        rgCollide(a.geometry, pa, b.geometry, pb, 0.01, NULL, &m);
        rgCollide(a.geometry, rgPoseMultiply(move, pa), b.geometry, rgPoseMultiply(move, pb), 0.01,
                  NULL, &s);
        assert_int_equal(m.count > 0, s.count > 0);
        if (m.count > 0) {
            EXPECT_NEAR(rgLeastGap(&m), rgLeastGap(&s), 1e-6);
        }
        rgTestDestroy(&a);
        rgTestDestroy(&b);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_pairs),         cmocka_unit_test(test_plane_with_all),
        cmocka_unit_test(test_many_vertices),     cmocka_unit_test(test_dense_rim),
        cmocka_unit_test(test_rimmed_sole),       cmocka_unit_test(test_points_are_kept),
        cmocka_unit_test(test_toe_is_seen),       cmocka_unit_test(test_box_on_box),
        cmocka_unit_test(test_cylinder_on_plane), cmocka_unit_test(test_capsules),
        cmocka_unit_test(test_hull_on_hull),      cmocka_unit_test(test_ids_persist),
        cmocka_unit_test(test_rigid_motion),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
