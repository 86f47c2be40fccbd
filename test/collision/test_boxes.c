// Boxes against boxes: the closed forms against the general ways for convex shapes.
#include "collision/boxes.h"
#include "scene.h"

static rgConvexPair rgRandomPair(const rgGeometry* a, const rgGeometry* b, rgRandom* random) {
    rgPose pose = {rgScale(rgRandom_Uniform(random, 0, 1.5), rgTestDirection(random)),
                   rgTestRotation(random)};
    return rgMakePair(&a->convex, rgPoseIdentity(), &b->convex, pose);
}

static void rgClipGenerally(const rgConvexPair* pair, rgVec3 normal, double margin,
                            rgRawManifold* raw) {
    rgFeature a, b;
    raw->normal = normal;
    raw->count = 0;
    rgConvex_Feature(pair->a, normal, 0, &a);
    rgConvex_Feature(pair->b, rgMat3_MultiplyTransposed(&pair->r, rgNegate(normal)), 0, &b);
    b.normal = rgMat3_Multiply(&pair->r, b.normal);
    for (int k = 0; k < b.count; ++k) {
        b.points[k] = rgAdd(rgMat3_Multiply(&pair->r, b.points[k]), pair->t);
    }
    rgClipFeatures(&a, &b, 0, 0, margin, raw);
}

static int rgFindFeature(const rgRawManifold* raw, uint32_t feature) {
    for (int k = 0; k < raw->count; ++k) {
        if (raw->points[k].feature == feature) {
            return k;
        }
    }
    return -1;
}

// The faces of boxes, clipped in coordinates of their own, give the points, gaps and names that the
// general clipping gives.
static void test_clipping(void** state) {
    (void)state;
    rgRandom random = {41};
    int points = 0;
    for (int n = 0; n < 40; ++n) {
        double scale = n % 3 == 0 ? 1e-3 : n % 3 == 1 ? 1 : 100;
        rgTestShape a, b;
        rgTestMake(&a, 3, scale, &random);
        rgTestMake(&b, 3, scale, &random);
        for (int k = 0; k < 200; ++k) {
            rgConvexPair pair = rgRandomPair(a.geometry, b.geometry, &random);
            pair.t = rgScale(scale, pair.t);
            rgVec3 normal =
                k % 4 == 0 ? rgVec(0, k % 8 == 0 ? 1 : -1, 0) : rgTestDirection(&random);
            double margin = k % 2 ? INFINITY : 0.1 * scale;
            rgRawManifold own, general;
            rgClipBoxFaces(&pair, normal, margin, &own);
            rgClipGenerally(&pair, normal, margin, &general);
            assert_int_equal(own.count, general.count);
            for (int i = 0; i < own.count; ++i) {
                int j = rgFindFeature(&general, own.points[i].feature);
                assert_true(j >= 0);
                rgVec3 off = rgSub(own.points[i].position, general.points[j].position);
                EXPECT_NEAR(rgLength(off) / scale, 0, 1e-11);
                EXPECT_NEAR(own.points[i].gap / scale, general.points[j].gap / scale, 1e-11);
            }
            points += own.count;
        }
        rgTestDestroy(&a);
        rgTestDestroy(&b);
    }
    assert_true(points > 10000);
}

// The hull of a box's corners.
static void rgMakeTwin(const rgTestShape* box, rgTestShape* twin) {
    memset(twin, 0, sizeof(*twin));
    twin->kind = rg_shapeHull;
    twin->pointCount = 8;
    for (int k = 0; k < 8; ++k) {
        twin->points[3 * k] = k & 1 ? box->size.x : -box->size.x;
        twin->points[3 * k + 1] = k & 2 ? box->size.y : -box->size.y;
        twin->points[3 * k + 2] = k & 4 ? box->size.z : -box->size.z;
    }
    rgTestCreate(twin);
}

static double rgLeast(const rgManifold* m) {
    double least = INFINITY;
    for (int k = 0; k < m->count; ++k) {
        least = fmin(least, m->points[k].gap);
    }
    return least;
}

// Moves B along the line between the nearest points, which from afar are mostly corners.
static rgPose rgApproach(const rgTestShape* a, const rgTestShape* b, double gap, rgRandom* random,
                         double scale) {
    rgPose pose = {rgScale(8 * scale, rgTestDirection(random)), rgTestRotation(random)};
    for (int k = 0; k < 4; ++k) {
        rgProximity p;
        rgDistance(a->geometry, rgPoseIdentity(), b->geometry, pose, NULL, &p);
        pose.p = rgAddScaled(pose.p, gap - p.distance, p.normal);
    }
    return pose;
}

// Apart, boxes and the hulls of their corners have the same distance and normal: corners, edges and
// faces nearest, whatever method found them.
static void test_twins(void** state) {
    (void)state;
    rgRandom random = {42};
    for (int n = 0; n < 60; ++n) {
        double scale = n % 3 == 0 ? 1e-3 : n % 3 == 1 ? 1 : 100;
        rgTestShape a, b, twin;
        rgTestMake(&a, 3, scale, &random);
        rgTestMake(&b, 3, scale, &random);
        rgMakeTwin(&b, &twin);
        for (int k = 0; k < 60; ++k) {
            double gap = scale * rgRandom_Uniform(&random, 1e-4, 0.05);
            rgPose at = k % 2 ? rgApproach(&a, &b, gap, &random, scale)
                              : rgTestPlace(&a, rgPoseIdentity(), &b, gap, &random);
            rgPairCache cache = {0};
            rgManifold m, s;
            rgCollide(a.geometry, rgPoseIdentity(), b.geometry, at, 0.1 * scale,
                      k % 4 < 2 ? &cache : NULL, &m);
            rgCollide(a.geometry, rgPoseIdentity(), twin.geometry, at, 0.1 * scale, NULL, &s);
            assert_int_equal(m.count > 0, s.count > 0);
            // Corners closer than this have rounded normals, along which boxes are less apart.
            rgVec3 u = a.size, v = b.size;
            double thin = fmin(fmin(u.x, fmin(u.y, u.z)), fmin(v.x, fmin(v.y, v.z)));
            if (m.count > 0 && rgLeast(&s) < 0.02 * thin) {
                assert_true(rgLeast(&m) < rgLeast(&s) + 3e-5 * scale);
                assert_true(rgLeast(&m) > 0.5 * rgLeast(&s) - 3e-5 * scale);
            } else if (m.count > 0) {
                EXPECT_NEAR(rgLeast(&m) / scale, rgLeast(&s) / scale, 3e-5);
                EXPECT_NEAR(rgLeast(&m) / scale, k % 2 ? gap / scale : rgLeast(&s) / scale, 3e-5);
                assert_true(rgDot(m.normal, s.normal) > 1 - 1e-6);
            }
        }
        rgTestDestroy(&a);
        rgTestDestroy(&b);
        rgTestDestroy(&twin);
    }
}

static void rgCheckLeaning(const rgTestShape* first, const rgTestShape* second, double deepest) {
    for (int degrees = 10; degrees <= 80; degrees += 5) {
        double lean = degrees * acos(-1) / 180;
        // From the middle of a card to its inner upper edge.
        double over = 0.05 * sin(lean) + 0.001 * cos(lean);
        for (int k = -20; k <= 20; ++k) {
            double gap = 0.05 * deepest * k;
            rgPose left = {rgVec(-over - 0.5 * gap, 0, 0),
                           rgQuatFromAxisAngle(rgVec(0, 1, 0), lean)};
            rgPose right = {rgVec(over + 0.5 * gap, 0, 0),
                            rgQuatFromAxisAngle(rgVec(0, 1, 0), -lean)};
            rgManifold m;
            int count = rgCollide(first->geometry, left, second->geometry, right, 1e-4, NULL, &m);
            assert_int_equal(count, 2);
            EXPECT_NEAR(m.normal.x, 1, 1e-9);
            for (int p = 0; p < 2; ++p) {
                EXPECT_NEAR(m.points[p].gap, gap, 1e-10);
                EXPECT_NEAR(m.points[p].position.x, 0, 1e-6);
                EXPECT_NEAR(fabs(m.points[p].position.y), 0.03, 1e-9);
            }
            assert_true(m.points[0].position.y * m.points[1].position.y < 0);
        }
    }
}

// Two cards that lean against each other, corner at corner: across the line of symmetry, whether
// they are just apart, touch or overlap a little, with both ends of the common edge. Boxes and
// hulls alike.
static void test_leaning_cards(void** state) {
    (void)state;
    rgTestShape card = {.kind = rg_shapeBox, .size = {0.001, 0.03, 0.05}}, twin;
    rgTestCreate(&card);
    rgMakeTwin(&card, &twin);
    rgCheckLeaning(&card, &card, 8e-6);
    rgCheckLeaning(&card, &twin, 1.6e-6);
    rgCheckLeaning(&twin, &twin, 1.6e-6);
    rgTestDestroy(&card);
    rgTestDestroy(&twin);
}

// The normal of corners that pass each other turns little by little.
static void rgCheckPassing(const rgTestShape* first, const rgTestShape* second) {
    rgRandom random = {43};
    for (int n = 0; n < rgFewer(50); ++n) {
        rgPose a = {rgVec(0, 0, 0),
                    rgQuatFromAxisAngle(rgVec(0, 1, 0), rgRandom_Uniform(&random, 0.1, 0.7))};
        rgPose b = {rgVec(0, 0, 0),
                    rgQuatFromAxisAngle(rgVec(0, 1, 0), rgRandom_Uniform(&random, -0.7, -0.1))};
        // The corner of B right of that of A, and moved along the diagonal by steps.
        rgVec3 ca = rgPose_Point(a, rgVec(0.05, 0, 0.06)),
               cb = rgPose_Point(b, rgVec(-0.05, 0, 0.06));
        rgManifold before = {.count = 0};
        double overlap = rgRandom_Uniform(&random, -5e-5, 5e-5);
        for (int k = -400; k <= 400; ++k) {
            rgVec3 to = rgVec(1e-6 * k - overlap, 0, 1e-6 * k);
            b.p = rgAdd(rgSub(ca, cb), to);
            rgManifold m;
            rgCollide(first->geometry, a, second->geometry, b, 1e-3, NULL, &m);
            assert_true(m.count > 0);
            if (before.count > 0 && !(rgLength(rgSub(m.normal, before.normal)) < 0.05)) {
                print_error("%d and %d, case %d step %d: normal from %g %g %g to %g %g %g\n",
                            first->kind, second->kind, n, k, before.normal.x, before.normal.y,
                            before.normal.z, m.normal.x, m.normal.y, m.normal.z);
                fail();
            }
            before = m;
        }
    }
}

static void test_passing_corners(void** state) {
    (void)state;
    rgTestShape box = {.kind = rg_shapeBox, .size = {0.05, 0.04, 0.06}}, twin;
    rgTestShape cylinder = {.kind = rg_shapeCylinder, .size = {0.05, 0.06, 0}};
    rgTestCreate(&box);
    rgTestCreate(&cylinder);
    rgMakeTwin(&box, &twin);
    const rgTestShape* shapes[3] = {&box, &twin, &cylinder};
    for (int i = 0; i < 3; ++i) {
        for (int j = 0; j < 3; ++j) {
            rgCheckPassing(shapes[i], shapes[j]);
        }
    }
    rgTestDestroy(&box);
    rgTestDestroy(&cylinder);
    rgTestDestroy(&twin);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_leaning_cards),
        cmocka_unit_test(test_passing_corners),
        cmocka_unit_test(test_clipping),
        cmocka_unit_test(test_twins),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
