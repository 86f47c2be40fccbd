// Signed distances of all pairs of convex shapes, by certificates that need no reference: the slab
// with the reported normal is as wide as the reported distance (nothing is nearer), and the
// reported points belong to the shapes and are that far apart (nothing is farther). Penetration is
// compared with a scan over face normals, edge products and many directions.
#include "scene.h"

static double rgScaleOf(const rgTestShape* s) {
    return rgGeometry_BoundingRadius(s->geometry);
}

static bool rgIsSmooth(const rgTestShape* s) {
    return s->kind == rg_shapeCylinder || s->kind == rg_shapeEllipsoid;
}

typedef struct rgCase {
    rgTestShape a, b;
    rgPose pa, pb;
    int whichA, whichB;
    const char* how;
} rgCase;

static void rgReport(const rgCase* c, const rgProximity* p, const char* what, double error) {
    print_error("%s - %s, %s: %s off by %g (distance %.17g, %d iterations)\n",
                rgTestName(c->whichA), rgTestName(c->whichB), c->how, what, error, p->distance,
                p->iterations);
    fail();
}

static void rgCheckBelow(const rgCase* c, const rgProximity* p, double error, double tolerance,
                         const char* what) {
    if (!(error <= tolerance)) {
        rgReport(c, p, what, error);
    }
}

static void rgCertify(const rgCase* c, const rgProximity* p) {
    double scale = fmax(rgScaleOf(&c->a), rgScaleOf(&c->b));
    bool smooth = rgIsSmooth(&c->a) || rgIsSmooth(&c->b);
    // GJK ends at a relative gap of 1e-13; smooth shapes take its square root in places.
    double tolerance = (smooth ? 1e-7 : 1e-9) * scale;
    rgCheckBelow(c, p, fabs(rgLength(p->normal) - 1), 1e-12, "length of the normal");
    double slab = rgTestSlab(&c->a, c->pa, &c->b, c->pb, p->normal);
    rgCheckBelow(c, p, fabs(slab - p->distance), tolerance, "slab");
    rgVec3 between = rgSub(p->pointB, p->pointA);
    double along = rgLength(rgSub(between, rgScale(p->distance, p->normal)));
    // Deep inside round shapes the depth is flat around its minimum: the points are loose.
    bool loose = smooth && p->distance < -0.1 * scale;
    rgCheckBelow(c, p, along, loose ? 0.01 * scale : 100 * tolerance, "witnesses along the normal");
    rgVec3 xa = rgPose_PointBack(c->pa, p->pointA), xb = rgPose_PointBack(c->pb, p->pointB);
    // Faces of hulls are merged when coplanar to 5e-7 of their size; corners may be far apart.
    rgCheckBelow(c, p, rgTestOutside(&c->a, xa), 1e-5 * scale, "point of A");
    rgCheckBelow(c, p, rgTestOutside(&c->b, xb), 1e-5 * scale, "point of B");
}

// Largest slab over many directions: a lower bound of the signed distance.
static double rgScanSlabs(const rgCase* c, int count, rgRandom* random) {
    double most = -INFINITY;
    for (int i = 0; i < count; ++i) {
        rgVec3 n = rgTestDirection(random);
        most = fmax(most, rgTestSlab(&c->a, c->pa, &c->b, c->pb, n));
    }
    return most;
}

static rgVec3 rgHullVertex(const rgHullView* v, int face, int k) {
    int count = v->faceStart[face + 1] - v->faceStart[face];
    const double* c = v->vertices + 3 * v->faceVertices[v->faceStart[face] + k % count];
    return rgVec(c[0], c[1], c[2]);
}

static int rgHullNormals(const rgTestShape* s, rgQuat q, rgVec3* normals, rgVec3* edges,
                         int* edgeCount) {
    rgHullView v;
    if (!rgGeometry_Hull(s->geometry, &v)) {
        for (int i = 0; i < 3; ++i) {
            rgVec3 e = rgRotate(q, rgVec(i == 0, i == 1, i == 2));
            normals[i] = e;
            normals[i + 3] = rgNegate(e);
            edges[i] = e;
        }
        *edgeCount = 3;
        return 6;
    }
    *edgeCount = 0;
    for (int f = 0; f < v.faceCount; ++f) {
        rgVec3 p = rgHullVertex(&v, f, 0);
        rgVec3 n = rgCross(rgSub(rgHullVertex(&v, f, 1), p), rgSub(rgHullVertex(&v, f, 2), p));
        normals[f] = rgRotate(q, rgNormalize(n));
        for (int k = 0; k < v.faceStart[f + 1] - v.faceStart[f]; ++k) {
            rgVec3 e = rgSub(rgHullVertex(&v, f, k + 1), rgHullVertex(&v, f, k));
            edges[(*edgeCount)++] = rgRotate(q, e);
        }
    }
    return v.faceCount;
}

// All directions that can be extreme for two polytopes.
static double rgScanAxes(const rgCase* c) {
    static rgVec3 na[600], nb[600], ea[1800], eb[1800];
    int ma, mb;
    int fa = rgHullNormals(&c->a, c->pa.q, na, ea, &ma);
    int fb = rgHullNormals(&c->b, c->pb.q, nb, eb, &mb);
    double most = -INFINITY;
    for (int i = 0; i < fa; ++i) {
        most = fmax(most, rgTestSlab(&c->a, c->pa, &c->b, c->pb, na[i]));
    }
    for (int i = 0; i < fb; ++i) {
        most = fmax(most, rgTestSlab(&c->a, c->pa, &c->b, c->pb, rgNegate(nb[i])));
    }
    for (int i = 0; i < ma; ++i) {
        for (int j = 0; j < mb; ++j) {
            rgVec3 n = rgCross(ea[i], eb[j]);
            if (rgLength(n) > 1e-9 * rgLength(ea[i]) * rgLength(eb[j])) {
                n = rgNormalize(n);
                most = fmax(most, rgTestSlab(&c->a, c->pa, &c->b, c->pb, n));
                most = fmax(most, rgTestSlab(&c->a, c->pa, &c->b, c->pb, rgNegate(n)));
            }
        }
    }
    return most;
}

static bool rgIsPolytope(int which) {
    return which == 3 || (which >= 5 && which != 8);
}

static rgProximity rgMeasure(const rgCase* c) {
    rgProximity p;
    assert_int_equal(rgDistance(c->a.geometry, c->pa, c->b.geometry, c->pb, NULL, &p), rg_ok);
    assert_true(isfinite(p.distance) && isfinite(rgDot(p.normal, rgAdd(p.pointA, p.pointB))));
    assert_in_range(p.iterations, 0, 3000);
    return p;
}

static void rgRunCase(rgCase* c, rgRandom* random, bool thorough) {
    rgProximity p = rgMeasure(c);
    double scale = fmax(rgScaleOf(&c->a), rgScaleOf(&c->b));
    rgCertify(c, &p);
    if (p.distance <= 0) {
        double scan = rgScanSlabs(c, 200, random);
        // Smooth shapes: the expanding polytope may settle on a neighbouring minimum.
        bool smooth = rgIsSmooth(&c->a) || rgIsSmooth(&c->b);
        rgCheckBelow(c, &p, scan - p.distance, (smooth ? 1e-3 : 1e-9) * scale, "scanned depth");
    }
    if (p.distance <= 0 && thorough && rgIsPolytope(c->whichA) && rgIsPolytope(c->whichB)) {
        rgCheckBelow(c, &p, rgScanAxes(c) - p.distance, 1e-8 * scale, "depth over all axes");
    }
    // The other way around.
    rgProximity q;
    rgDistance(c->b.geometry, c->pb, c->a.geometry, c->pa, NULL, &q);
    bool smooth = rgIsSmooth(&c->a) || rgIsSmooth(&c->b);
    double tolerance = p.distance > 0 ? (smooth ? 1e-7 : 1e-9) : (smooth ? 1e-3 : 1e-9);
    rgCheckBelow(c, &p, fabs(p.distance - q.distance), tolerance * scale, "swapped distance");
}

static void rgAllPairs(double scale, int repeats, uint64_t seed) {
    static const struct {
        const char* how;
        double low, high;
    } kinds[] = {{"far", 1, 5},
                 {"near", 1e-3, 0.1},
                 {"touching", -1e-9, 1e-9},
                 {"shallow", -1e-2, -1e-6},
                 {"deep", -1, -0.1}};
    rgRandom random = {seed};
    for (int i = 0; i < RG_TEST_SHAPES; ++i) {
        for (int j = 0; j < RG_TEST_SHAPES; ++j) {
            rgCase c = {.whichA = i, .whichB = j};
            rgTestMake(&c.a, i, scale, &random);
            rgTestMake(&c.b, j, scale, &random);
            for (int k = 0; k < 5 * repeats; ++k) {
                c.how = kinds[k % 5].how;
                c.pa =
                    (rgPose){rgScale(3 * scale, rgTestDirection(&random)), rgTestRotation(&random)};
                double gap = scale * rgRandom_Uniform(&random, kinds[k % 5].low, kinds[k % 5].high);
                c.pb = rgTestPlace(&c.a, c.pa, &c.b, gap, &random);
                rgRunCase(&c, &random, k < 5);
            }
            rgTestDestroy(&c.a);
            rgTestDestroy(&c.b);
        }
    }
}

static void test_metre(void** state) {
    (void)state;
    rgAllPairs(1, 10, 1);
}
static void test_millimetre(void** state) {
    (void)state;
    rgAllPairs(1e-3, 3, 2);
}
static void test_hundred_metres(void** state) {
    (void)state;
    rgAllPairs(100, 3, 3);
}

// A small shape at a large one.
static void test_mixed_scales(void** state) {
    (void)state;
    rgRandom random = {4};
    for (int i = 0; i < RG_TEST_SHAPES; ++i) {
        for (int j = 0; j < RG_TEST_SHAPES; ++j) {
            rgCase c = {.whichA = i, .whichB = j, .how = "mixed scales"};
            rgTestMake(&c.a, i, 100, &random);
            rgTestMake(&c.b, j, 0.05, &random);
            for (int k = 0; k < 10; ++k) {
                c.pa = (rgPose){rgTestDirection(&random), rgTestRotation(&random)};
                double gap = rgRandom_Uniform(&random, -0.02, 0.02);
                c.pb = rgTestPlace(&c.a, c.pa, &c.b, gap, &random);
                rgProximity p = rgMeasure(&c);
                rgCertify(&c, &p);
            }
            rgTestDestroy(&c.a);
            rgTestDestroy(&c.b);
        }
    }
}

// Parallel edges, coplanar faces, coincident centres.
static void test_degenerate(void** state) {
    (void)state;
    rgRandom random = {5};
    for (int i = 0; i < RG_TEST_SHAPES; ++i) {
        for (int j = 0; j < RG_TEST_SHAPES; ++j) {
            rgCase c = {.whichA = i, .whichB = j};
            rgTestMake(&c.a, i, 1, &random);
            rgTestMake(&c.b, j, 1, &random);
            for (int k = 0; k < 12; ++k) {
                c.how = k < 2 ? "coincident" : "aligned";
                c.pa = c.pb = rgPoseIdentity();
                rgVec3 n = rgVec(k % 3 == 0, k % 3 == 1, k % 3 == 2);
                double gap = k < 2 ? 0 : k < 6 ? 0.1 : k < 9 ? 0 : -0.05;
                if (k >= 2) {
                    c.pb.p = rgScale(gap - rgTestSlab(&c.a, c.pa, &c.b, c.pb, n), n);
                }
                rgProximity p = rgMeasure(&c);
                rgCertify(&c, &p);
                if (k >= 2 && gap > 0 && i == 3 && j == 3) {
                    EXPECT_NEAR(p.distance, gap, 1e-12);
                }
            }
            rgTestDestroy(&c.a);
            rgTestDestroy(&c.b);
        }
    }
}

// With a cache along a path: certified, continuous, and apart the same distances as without.
static void rgSweep(rgCase* c, double gap, double speed, rgRandom* random) {
    c->pa = (rgPose){rgTestDirection(random), rgTestRotation(random)};
    c->pb = rgTestPlace(&c->a, c->pa, &c->b, gap, random);
    rgPairCache cache = {0};
    rgVec3 velocity = rgScale(speed, rgTestDirection(random));
    rgQuat turn = rgQuatFromRotationVector(rgScale(speed, rgTestDirection(random)));
    double last = NAN;
    for (int k = 0; k < 60; ++k) {
        rgProximity p;
        rgDistance(c->a.geometry, c->pa, c->b.geometry, c->pb, &cache, &p);
        rgCertify(c, &p);
        if (k > 0) {
            rgCheckBelow(c, &p, fabs(p.distance - last), 3.1 * speed, "jump");
        }
        rgProximity cold = rgMeasure(c);
        if (cold.distance > 0) {
            rgCheckBelow(c, &p, fabs(p.distance - cold.distance), 1e-7, "unlike cold");
        }
        last = p.distance;
        c->pb.p = rgAdd(c->pb.p, velocity);
        c->pb.q = rgQuatNormalize(rgQuatMultiply(turn, c->pb.q));
    }
}

static void test_sweep(void** state) {
    (void)state;
    rgRandom random = {6};
    static const double gaps[] = {0.05, 1, 1e-3, -0.02};
    for (int i = 0; i < RG_TEST_SHAPES; ++i) {
        for (int j = 0; j < RG_TEST_SHAPES; ++j) {
            rgCase c = {.whichA = i, .whichB = j, .how = "sweep"};
            rgTestMake(&c.a, i, 1, &random);
            rgTestMake(&c.b, j, 1, &random);
            rgSweep(&c, gaps[0], 1e-3, &random);
            rgSweep(&c, gaps[1 + (i + j) % 3], 1e-3, &random);
            rgTestDestroy(&c.a);
            rgTestDestroy(&c.b);
        }
    }
}

// Garbage in a cache changes nothing but speed.
static void test_dirty_cache(void** state) {
    (void)state;
    rgRandom random = {7};
    for (int i = 0; i < RG_TEST_SHAPES; ++i) {
        rgCase c = {.whichA = i, .whichB = 8, .how = "dirty cache"};
        rgTestMake(&c.a, i, 1, &random);
        rgTestMake(&c.b, 8, 1, &random);
        for (int k = 0; k < 50; ++k) {
            c.pa = rgPoseIdentity();
            c.pb = rgTestPlace(&c.a, c.pa, &c.b, rgRandom_Uniform(&random, -0.1, 0.3), &random);
            rgPairCache cache;
            unsigned char* bytes = (unsigned char*)&cache;
            for (size_t n = 0; n < sizeof(cache); ++n) {
                bytes[n] = (unsigned char)rgRandom_Bits(&random);
            }
            cache.axis = rgTestDirection(&random);
            cache.simplexCount = k % 5;
            for (int n = 0; n < 3; ++n) {
                cache.simplexA[n] = rgRandom_Index(&random, 12) - 2;
                cache.simplexB[n] = rgRandom_Index(&random, 240) - 2;
            }
            cache.touching = 0;
            rgProximity p, q = rgMeasure(&c);
            rgDistance(c.a.geometry, c.pa, c.b.geometry, c.pb, &cache, &p);
            rgCertify(&c, &p);
            if (q.distance > 0) {
                EXPECT_NEAR(p.distance, q.distance, 1e-7);
            }
        }
        rgTestDestroy(&c.a);
        rgTestDestroy(&c.b);
    }
}

static double* rgPart(rgPose* pose, int k) {
    double* parts[7] = {&pose->p.x, &pose->p.y, &pose->p.z, &pose->q.w,
                        &pose->q.x, &pose->q.y, &pose->q.z};
    return parts[k];
}

// Whatever the poses are made of, no result is.
static void test_not_numbers(void** state) {
    (void)state;
    rgRandom random = {9};
    rgGeometryDef def = rgDefaultGeometryDef();
    def.kind = rg_shapePlane;
    rgTestShape shapes[RG_TEST_SHAPES + 1];
    for (int i = 0; i < RG_TEST_SHAPES; ++i) {
        rgTestMake(&shapes[i], i, 1, &random);
    }
    rgCreateGeometry(&def, NULL, &shapes[RG_TEST_SHAPES].geometry);
    for (int i = 0; i < (RG_TEST_SHAPES + 1) * RG_TEST_SHAPES * 14; ++i) {
        const rgGeometry* a = shapes[i / 14 / RG_TEST_SHAPES].geometry;
        const rgGeometry* b = shapes[i / 14 % RG_TEST_SHAPES].geometry;
        rgPose pa = rgPoseIdentity(), pb = rgPoseIdentity();
        pb.p.z = 0.5;
        *rgPart(i % 14 < 7 ? &pa : &pb, i % 7) = i % 3 == 0 ? NAN : i % 3 == 1 ? INFINITY : -NAN;
        rgManifold m;
        rgProximity p;
        rgPairCache cache = {0};
        rgCollide(a, pa, b, pb, 0.1, &cache, &m);
        for (int k = 0; k < m.count; ++k) {
            assert_true(isfinite(m.points[k].gap));
            assert_true(isfinite(rgDot(m.points[k].normal, m.points[k].position)));
        }
        rgResult result = rgDistance(a, pa, b, pb, NULL, &p);
        assert_true(result == rg_errorNumeric || isfinite(p.distance));
        assert_int_equal(rgCollide(a, rgPoseIdentity(), b, rgPoseIdentity(), NAN, NULL, &m), 0);
    }
    for (int i = 0; i <= RG_TEST_SHAPES; ++i) {
        rgTestDestroy(&shapes[i]);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_metre),          cmocka_unit_test(test_millimetre),
        cmocka_unit_test(test_hundred_metres), cmocka_unit_test(test_mixed_scales),
        cmocka_unit_test(test_degenerate),     cmocka_unit_test(test_sweep),
        cmocka_unit_test(test_dirty_cache),    cmocka_unit_test(test_not_numbers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
