// Pairs of polytopes that stay deep inside each other: with a cache along a path the least depth is
// that of a search without one, the slab of the reported normal is as wide as the reported depth,
// and most calls are spared the search.
#include "collision/internal.h"
#include "scene.h"

static const int rgSolids[] = {3, 5, 6, 7, 8, 9, 10, 11}; // box and hulls
#define RG_SOLIDS 8

typedef struct rgPath {
    rgTestShape a, b;
    rgPose pa, pb;
    rgVec3 velocity, spin; // per call
    int whichA, whichB;
    double scale, shallow;
} rgPath;

static void rgPath_Make(rgPath* path, int i, int j, double size, rgRandom* random) {
    path->whichA = i;
    path->whichB = j;
    rgTestMake(&path->a, i, size, random);
    rgTestMake(&path->b, j, size, random);
    double a = rgGeometry_BoundingRadius(path->a.geometry);
    double b = rgGeometry_BoundingRadius(path->b.geometry);
    path->scale = fmax(a, b);
    // Depths of capsules are judged by their segments.
    path->shallow = 0.12 * fmin(a, b) + (i == 1 ? path->a.size.x : 0);
}

// Centers near each other, and a motion that keeps them there for a while.
static void rgPath_Start(rgPath* path, double speed, rgRandom* random) {
    double near = rgRandom_Uniform(random, 0, 0.3) * path->scale;
    path->pa = (rgPose){rgTestDirection(random), rgTestRotation(random)};
    path->pb.p = rgAddScaled(path->pa.p, near, rgTestDirection(random));
    path->pb.q = rgTestRotation(random);
    path->velocity = rgScale(speed * path->scale, rgTestDirection(random));
    path->spin = rgScale(speed, rgTestDirection(random));
}

static void rgPath_Move(rgPath* path, int k) {
    // Back and forth, and both bodies together all the time.
    double sign = k / 40 % 2 ? -1 : 1;
    rgQuat turn = rgQuatFromRotationVector(rgScale(sign, path->spin));
    path->pb.p = rgAddScaled(path->pb.p, sign, path->velocity);
    path->pb.q = rgQuatNormalize(rgQuatMultiply(turn, path->pb.q));
    rgPose common = {path->velocity, rgQuatFromRotationVector(path->spin)};
    path->pa = rgPoseMultiply(common, path->pa);
    path->pb = rgPoseMultiply(common, path->pb);
}

static void rgPath_Free(rgPath* path) {
    rgTestDestroy(&path->a);
    rgTestDestroy(&path->b);
}

static void rgCheck(const rgPath* path, double error, double tolerance, const char* what) {
    if (!(error <= tolerance * path->scale)) {
        print_error("%s - %s: %s off by %g of the size\n", rgTestName(path->whichA),
                    rgTestName(path->whichB), what, error / path->scale);
        fail();
    }
}

static rgProximity rgPath_Distance(const rgPath* path, rgPairCache* cache) {
    rgProximity p;
    assert_int_equal(rgDistance(path->a.geometry, path->pa, path->b.geometry, path->pb, cache, &p),
                     rg_ok);
    return p;
}

static void rgCheckWarm(const rgPath* path, const rgProximity* warm, const rgProximity* cold) {
    rgCheck(path, fabs(warm->distance - cold->distance), 1e-9, "depth");
    double slab = rgTestSlab(&path->a, path->pa, &path->b, path->pb, warm->normal);
    rgCheck(path, fabs(slab - warm->distance), 1e-9, "slab");
    rgVec3 between = rgSub(warm->pointB, warm->pointA);
    between = rgSub(between, rgScale(warm->distance, warm->normal));
    rgCheck(path, rgLength(between), 1e-9, "witnesses");
    rgCheck(path, rgTestOutside(&path->a, rgPose_PointBack(path->pa, warm->pointA)), 1e-5, "A");
    rgCheck(path, rgTestOutside(&path->b, rgPose_PointBack(path->pb, warm->pointB)), 1e-5, "B");
    // Two directions are as deep only by chance: then the tie is seen in the depth of either.
    if (rgLength(rgSub(warm->normal, cold->normal)) > 1e-9) {
        double other = rgTestSlab(&path->a, path->pa, &path->b, path->pb, cold->normal);
        rgCheck(path, fabs(other - warm->distance), 1e-10, "tie");
    }
}

// Deep calls, and those that one support of each shape has answered.
typedef struct rgTally {
    int deep, confirmed;
} rgTally;

static void rgFollow(rgPath* path, int count, rgTally* tally) {
    rgPairCache cache = {0};
    double last = NAN, speed = rgLength(path->velocity) + 3 * path->scale * rgLength(path->spin);
    for (int k = 0; k < count; ++k) {
        rgProximity warm = rgPath_Distance(path, &cache), cold = rgPath_Distance(path, NULL);
        bool deep = cold.distance < -path->shallow && last < -path->shallow;
        if (deep) {
            rgCheckWarm(path, &warm, &cold);
            assert_true(fabs(warm.distance - last) <= speed + 1e-9);
            tally->deep += 1;
            tally->confirmed += warm.iterations <= 1;
        }
        last = warm.distance;
        rgPath_Move(path, k);
    }
}

static void rgFollowAll(double size, double speed, int count, rgRandom* random, rgTally* tally) {
    for (int i = 0; i < RG_SOLIDS; ++i) {
        for (int j = 0; j < RG_SOLIDS; ++j) {
            rgPath path;
            rgPath_Make(&path, rgSolids[i], rgSolids[j], size, random);
            for (int k = 0; k < 2; ++k) {
                rgPath_Start(&path, speed, random);
                rgFollow(&path, count, tally);
            }
            rgPath_Free(&path);
        }
    }
}

static void test_slow(void** state) {
    (void)state;
    rgRandom random = {1};
    rgTally tally = {0};
    rgFollowAll(1, 2e-4, 100, &random, &tally);
    assert_true(tally.deep > 5000);
    assert_true(tally.confirmed > 0.8 * tally.deep);
}

static void test_fast(void** state) {
    (void)state;
    rgRandom random = {2};
    static const double speeds[] = {1e-3, 3e-3, 1e-2, 0.04};
    rgTally tally = {0};
    for (int k = 0; k < 4; ++k) {
        rgFollowAll(1, speeds[k], 60, &random, &tally);
    }
    assert_true(tally.deep > 10000);
    assert_true(tally.confirmed > 0.2 * tally.deep);
}

static void test_sizes(void** state) {
    (void)state;
    rgRandom random = {3};
    rgTally tally = {0};
    rgFollowAll(1e-3, 1e-3, 60, &random, &tally);
    rgFollowAll(100, 1e-3, 60, &random, &tally);
    assert_true(tally.deep > 5000);
}

// Capsules and cylinders are deep too; nothing is kept of them that could be wrong later.
static void test_others(void** state) {
    (void)state;
    rgRandom random = {4};
    rgTally tally = {0};
    for (int j = 0; j < RG_SOLIDS; ++j) {
        rgPath path;
        rgPath_Make(&path, 1, rgSolids[j], 1, &random);
        for (int k = 0; k < 8; ++k) {
            rgPath_Start(&path, k % 2 ? 1e-3 : 1e-2, &random);
            rgFollow(&path, 80, &tally);
        }
        rgPath_Free(&path);
    }
    assert_true(tally.deep > 1000);
}

// The deepest point of a manifold is as deep with a cache as without.
static void test_manifolds(void** state) {
    (void)state;
    rgRandom random = {5};
    for (int i = 0; i < RG_SOLIDS * RG_SOLIDS; ++i) {
        rgPath path;
        rgPairCache cache = {0};
        rgPath_Make(&path, rgSolids[i % RG_SOLIDS], rgSolids[i / RG_SOLIDS], 1, &random);
        rgPath_Start(&path, 2e-3, &random);
        for (int k = 0; k < 80; ++k) {
            rgManifold warm, cold;
            rgCollide(path.a.geometry, path.pa, path.b.geometry, path.pb, 0.01, &cache, &warm);
            rgCollide(path.a.geometry, path.pa, path.b.geometry, path.pb, 0.01, NULL, &cold);
            double least[2] = {INFINITY, INFINITY};
            for (int n = 0; n < warm.count; ++n) {
                least[0] = fmin(least[0], warm.points[n].gap);
            }
            for (int n = 0; n < cold.count; ++n) {
                least[1] = fmin(least[1], cold.points[n].gap);
            }
            assert_true(warm.count > 0 || least[1] > -path.shallow);
            if (k > 0 && least[1] < -path.shallow) {
                rgCheck(&path, fabs(least[0] - least[1]), 1e-8, "deepest point");
            }
            rgPath_Move(&path, k);
        }
        rgPath_Free(&path);
    }
}

// The same path twice, and from a copy of the cache half way: the same bits.
static void test_repeat(void** state) {
    (void)state;
    rgRandom random = {6};
    for (int i = 0; i < RG_SOLIDS * RG_SOLIDS; ++i) {
        rgPath path;
        rgPairCache cache = {0}, half = {0};
        rgPath_Make(&path, rgSolids[i % RG_SOLIDS], rgSolids[i / RG_SOLIDS], 1, &random);
        rgPath_Start(&path, 2e-3, &random);
        rgPath again = path;
        double ends[2];
        for (int k = 0; k < 60; ++k) {
            if (k == 30) {
                half = cache;
                again = path;
            }
            ends[0] = rgPath_Distance(&path, &cache).distance;
            rgPath_Move(&path, k);
        }
        for (int k = 30; k < 60; ++k) {
            ends[1] = rgPath_Distance(&again, &half).distance;
            rgPath_Move(&again, k);
        }
        assert_memory_equal(&ends[0], &ends[1], sizeof(double));
        assert_memory_equal(&cache, &half, sizeof(cache));
        rgPath_Free(&path);
    }
}

// The angle within which directions may have become less deep, against bisection: a face is taken
// only if its border is farther from the origin's foot than that.
static void test_reach(void** state) {
    (void)state;
    rgRandom random = {7};
    for (int k = 0; k < 200; ++k) {
        double depth = rgRandom_Uniform(&random, 0.5, 1.5), motion = 0.02;
        double old = depth - rgRandom_Uniform(&random, -0.01, 0.01);
        double reach = rgRandom_Uniform(&random, 0.5, 2), s = depth + motion;
        double low = 0, high = atan(reach / old);
        for (int i = 0; i < 60; ++i) {
            double middle = 0.5 * (low + high);
            bool below = old * cos(middle) + reach * sin(middle) < s;
            low = below ? middle : low;
            high = below ? high : middle;
        }
        rgConvex a = {.scale = 1e-9}, b = {.scale = 1e-9};
        rgConvexPair pair = {.a = &a, .b = &b, .q = {1, 0, 0, 0}};
        pair.r = rgMat3FromQuat(pair.q);
        rgPairCache cache = {.offset = {(float)motion}, .turn = {1}, .depth = (float)old};
        cache.reach = (float)reach;
        cache.rest = (float)hypot(old, reach);
        for (int wide = 0; wide < 2; ++wide) {
            double border = depth * tan(low) * (wide ? 1.001 : 0.999);
            rgVec3 w[3] = {{-border, -9, depth}, {-border, 9, depth}, {18 - border, 0, depth}};
            double share = border / 18, weight[3] = {0.5 - share / 2, 0.5 - share / 2, share};
            assert_int_equal(rgDeep_IsLeast(&pair, &cache, w, weight, depth), wide);
        }
    }
}

// Pairs that come and go, turning: what the distance of a call before spares is never a contact,
// and most of what is apart is spared.
static void test_apart(void** state) {
    (void)state;
    rgRandom random = {8};
    int spared = 0, apart = 0, met = 0;
    for (int i = 0; i < RG_SOLIDS * RG_SOLIDS; ++i) {
        rgPath path;
        rgPairCache cache = {0};
        rgPath_Make(&path, rgSolids[i % RG_SOLIDS], rgSolids[i / RG_SOLIDS], 1, &random);
        rgPath_Start(&path, rgRandom_Uniform(&random, 1e-3, 0.05), &random);
        path.pb.p = rgAddScaled(path.pb.p, 1.5 * path.scale, rgTestDirection(&random));
        for (int k = 0; k < 200; ++k) {
            rgManifold warm, cold;
            rgCollideInput in = {path.a.geometry, path.b.geometry, &path.pa, &path.pb, 0.02, 4,
                                 &cache,          false,           NULL,     NULL};
            rgPlacement a, b;
            rgBox box;
            rgPlaceGeometry(in.a, in.poseA, 0, &a, &box);
            rgPlaceGeometry(in.b, in.poseB, 0, &b, &box);
            bool stays = cache.depth < 0 && rgStaysApart(&in, &a, &b);
            rgCollide(path.a.geometry, path.pa, path.b.geometry, path.pb, 0.02, &cache, &warm);
            rgCollide(path.a.geometry, path.pa, path.b.geometry, path.pb, 0.02, NULL, &cold);
            assert_int_equal(warm.count > 0, cold.count > 0);
            assert_true(!stays || cold.count == 0);
            spared += stays;
            apart += cold.count == 0;
            met += cold.count > 0;
            rgPath_Move(&path, k);
        }
        rgPath_Free(&path);
    }
    assert_true(met > 1000 && apart > 1000 && 2 * spared > apart);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_slow),      cmocka_unit_test(test_fast),
        cmocka_unit_test(test_sizes),     cmocka_unit_test(test_others),
        cmocka_unit_test(test_manifolds), cmocka_unit_test(test_repeat),
        cmocka_unit_test(test_reach),     cmocka_unit_test(test_apart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
