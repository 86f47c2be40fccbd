// The broadphase against all pairs by brute force, over a crowd that moves, comes and goes.
#include "scene.h"

#define RG_CROWD 300

typedef struct rgCrowd {
    rgBox boxes[RG_CROWD];
    bool used[RG_CROWD];
    int count;
} rgCrowd;

static bool rgMeet(const rgBox* a, const rgBox* b, double grow) {
    return a->lower.x <= b->upper.x + grow && b->lower.x <= a->upper.x + grow &&
           a->lower.y <= b->upper.y + grow && b->lower.y <= a->upper.y + grow &&
           a->lower.z <= b->upper.z + grow && b->lower.z <= a->upper.z + grow;
}

static rgBox rgRandomBox(rgRandom* random, double room) {
    rgVec3 c = rgVec(rgRandom_Uniform(random, -room, room), rgRandom_Uniform(random, -room, room),
                     rgRandom_Uniform(random, -room, room));
    rgVec3 h = rgVec(rgRandom_Uniform(random, 0.01, 0.5), rgRandom_Uniform(random, 0.01, 0.5),
                     rgRandom_Uniform(random, 0.01, 0.5));
    return (rgBox){rgSub(c, h), rgAdd(c, h)};
}

static bool rgOddFilter(int a, int b, void* context) {
    (void)context;
    return (a + b) % 3 != 0;
}

// Everything that overlaps is a pair, every pair nearly overlaps, ordered, filtered.
static void rgCheckPairs(const rgBroadphase* bp, const rgCrowd* crowd, double slack, bool filter) {
    int count;
    const rgProxyPair* pairs = rgBroadphase_Pairs(bp, &count);
    static unsigned char seen[RG_CROWD][RG_CROWD];
    memset(seen, 0, sizeof(seen));
    for (int k = 0; k < count; ++k) {
        rgProxyPair p = pairs[k];
        assert_true(p.a < p.b && p.b < RG_CROWD && crowd->used[p.a] && crowd->used[p.b]);
        assert_true(!filter || rgOddFilter(p.a, p.b, NULL));
        assert_true(rgMeet(&crowd->boxes[p.a], &crowd->boxes[p.b], slack));
        assert_int_equal(rgBroadphase_BoxesOverlap(bp, p, 0),
                         rgMeet(&crowd->boxes[p.a], &crowd->boxes[p.b], 0));
        if (k > 0) {
            assert_true(pairs[k - 1].a < p.a || (pairs[k - 1].a == p.a && pairs[k - 1].b < p.b));
        }
        seen[p.a][p.b] = 1;
    }
    for (int a = 0; a < RG_CROWD; ++a) {
        for (int b = a + 1; b < RG_CROWD; ++b) {
            if (crowd->used[a] && crowd->used[b] && !seen[a][b] &&
                (!filter || rgOddFilter(a, b, NULL))) {
                assert_false(rgMeet(&crowd->boxes[a], &crowd->boxes[b], 0));
            }
        }
    }
}

static void rgCheckChanges(const rgBroadphase* bp, const rgProxyPair* old, int oldCount) {
    int count;
    const rgProxyPair* pairs = rgBroadphase_Pairs(bp, &count);
    rgPairChanges changes = rgBroadphase_Changes(bp);
    assert_int_equal(changes.count, count);
    for (int k = 0; k < count; ++k) {
        int before = changes.previous[k];
        assert_in_range(before + 1, 0, oldCount);
        if (before >= 0) {
            assert_int_equal(old[before].a, pairs[k].a);
            assert_int_equal(old[before].b, pairs[k].b);
        }
    }
}

static void rgRunCrowd(double fatten, double slack, bool filter, double speed) {
    rgRandom random = {31};
    rgBroadphaseDef def = rgDefaultBroadphaseDef();
    def.fatten = fatten;
    def.fattenRelative = 0;
    rgBroadphase* bp = NULL;
    assert_int_equal(rgCreateBroadphase(&def, &bp), rg_ok);
    static rgCrowd crowd;
    static rgProxyPair old[RG_CROWD * RG_CROWD];
    memset(&crowd, 0, sizeof(crowd));
    for (int step = 0; step < 150; ++step) {
        int oldCount;
        const rgProxyPair* view = rgBroadphase_Pairs(bp, &oldCount);
        if (oldCount > 0) {
            memcpy(old, view, (size_t)oldCount * sizeof(rgProxyPair));
        }
        for (int p = 0; p < RG_CROWD; ++p) {
            if (!crowd.used[p]) {
                continue;
            }
            rgVec3 move = rgScale(speed, rgTestDirection(&random));
            if (rgRandom_Index(&random, 4) == 0) {
                continue;
            }
            crowd.boxes[p].lower = rgAdd(crowd.boxes[p].lower, move);
            crowd.boxes[p].upper = rgAdd(crowd.boxes[p].upper, move);
            assert_int_equal(rgBroadphase_Move(bp, p, crowd.boxes[p]), rg_ok);
        }
        for (int n = 0; n < (step == 0 ? 200 : 5); ++n) {
            int p = rgRandom_Index(&random, RG_CROWD);
            if (crowd.used[p] && step > 0) {
                assert_int_equal(rgBroadphase_Remove(bp, p), rg_ok);
                assert_int_equal(rgBroadphase_Remove(bp, p), rg_errorArgument);
                crowd.used[p] = false;
            }
        }
        for (int n = 0; n < (step == 0 ? 200 : 5); ++n) {
            rgBox box = rgRandomBox(&random, 4);
            int p = -1;
            assert_int_equal(rgBroadphase_Add(bp, box, &p), rg_ok);
            assert_in_range(p, 0, RG_CROWD - 1);
            assert_false(crowd.used[p]);
            crowd.used[p] = true;
            crowd.boxes[p] = box;
        }
        assert_int_equal(rgBroadphase_Update(bp, filter ? rgOddFilter : NULL, NULL), rg_ok);
        rgCheckPairs(bp, &crowd, slack, filter);
        rgCheckChanges(bp, old, oldCount);
    }
    rgDestroyBroadphase(bp);
}

static void test_exact(void** state) {
    (void)state;
    rgRunCrowd(0, 2.7, false, 0.1); // steps ahead: 12 of 0.1 each
}
static void test_fat(void** state) {
    (void)state;
    rgRunCrowd(0.05, 0.75, false, 0.02);
}
static void test_filtered(void** state) {
    (void)state;
    rgRunCrowd(0.05, 1.5, true, 0.05);
}

// A plane meets everything; two planes meet once.
static void test_unbounded(void** state) {
    (void)state;
    rgRandom random = {32};
    rgBroadphaseDef def = rgDefaultBroadphaseDef();
    rgBroadphase* bp = NULL;
    rgCreateBroadphase(&def, &bp);
    rgVec3 far = rgVec(INFINITY, INFINITY, INFINITY);
    int p, count;
    for (int k = 0; k < 20; ++k) {
        rgBox box = k == 3 || k == 7 ? (rgBox){rgNegate(far), far} : rgRandomBox(&random, 100);
        assert_int_equal(rgBroadphase_Add(bp, box, &p), rg_ok);
        assert_int_equal(p, k);
    }
    for (int repeat = 0; repeat < 3; ++repeat) {
        assert_int_equal(rgBroadphase_Update(bp, NULL, NULL), rg_ok);
        const rgProxyPair* pairs = rgBroadphase_Pairs(bp, &count);
        int withPlane = 0;
        for (int k = 0; k < count; ++k) {
            withPlane += pairs[k].a == 3 || pairs[k].b == 3 || pairs[k].a == 7 || pairs[k].b == 7;
        }
        assert_int_equal(withPlane, 18 * 2 + 1);
        rgBroadphase_Move(bp, 5, rgRandomBox(&random, 100));
    }
    rgBox bad = {rgVec(1, 0, 0), rgVec(0, 1, 1)};
    assert_int_equal(rgBroadphase_Add(bp, bad, &p), rg_errorArgument);
    bad.lower.x = NAN;
    assert_int_equal(rgBroadphase_Move(bp, 5, bad), rg_errorArgument);
    rgDestroyBroadphase(bp);
}

static void test_no_allocation(void** state) {
    (void)state;
    rgRandom random = {33};
    rgCounter counter = {.failAfter = -1};
    rgBroadphaseDef def = rgDefaultBroadphaseDef();
    def.allocator = rgCountingAllocator(&counter);
    rgBroadphase* bp = NULL;
    rgCreateBroadphase(&def, &bp);
    rgBox boxes[200];
    for (int k = 0; k < 200; ++k) {
        int p;
        boxes[k] = rgRandomBox(&random, 2);
        rgBroadphase_Add(bp, boxes[k], &p);
    }
    int after = 0;
    for (int step = 0; step < 200; ++step) {
        for (int k = 0; k < 200; ++k) {
            // The same few places over and over.
            double shift = 0.2 * ((step + k) % 5);
            rgBox box = {rgAdd(boxes[k].lower, rgVec(shift, 0, 0)),
                         rgAdd(boxes[k].upper, rgVec(shift, 0, 0))};
            rgBroadphase_Move(bp, k, box);
        }
        rgBroadphase_Update(bp, NULL, NULL);
        if (step == 100) {
            after = counter.allocations;
        }
    }
    assert_int_equal(counter.allocations, after);
    rgDestroyBroadphase(bp);
    assert_int_equal(counter.live, 0);
}

typedef struct rgFound {
    bool seen[RG_CROWD];
    int limit;
    int count;
} rgFound;

static bool rgSee(int proxy, void* context) {
    rgFound* found = context;
    assert_false(found->seen[proxy]);
    found->seen[proxy] = true;
    found->count += 1;
    return found->count < found->limit;
}

static double rgSeeRay(int proxy, const rgRay* ray, void* context) {
    rgSee(proxy, context);
    return ray->maxFraction;
}

static void test_queries(void** state) {
    (void)state;
    rgRandom random = {34};
    rgBroadphaseDef def = rgDefaultBroadphaseDef();
    rgBroadphase* bp = NULL;
    rgCreateBroadphase(&def, &bp);
    rgBox boxes[200];
    rgGeometryDef boxDef = rgDefaultGeometryDef();
    for (int k = 0; k < 200; ++k) {
        int p;
        boxes[k] = rgRandomBox(&random, 4);
        rgBroadphase_Add(bp, boxes[k], &p);
    }
    rgBroadphase_Update(bp, NULL, NULL);
    for (int n = 0; n < 100; ++n) {
        rgBox box = rgRandomBox(&random, 4);
        rgFound found = {.limit = RG_CROWD};
        rgBroadphase_Query(bp, box, rgSee, &found);
        for (int k = 0; k < 200; ++k) {
            assert_int_equal(found.seen[k], rgMeet(&box, &boxes[k], 0));
        }
        rgFound one = {.limit = 1};
        rgBroadphase_Query(bp, box, rgSee, &one);
        assert_int_equal(one.count, found.count > 0);
        rgRay ray = {rgScale(5, rgTestDirection(&random)), rgTestDirection(&random), 6};
        rgFound hit = {.limit = RG_CROWD};
        rgBroadphase_RayCast(bp, &ray, rgSeeRay, &hit);
        for (int k = 0; k < 200; ++k) {
            rgGeometry* g = NULL;
            boxDef.kind = rg_shapeBox;
            boxDef.size = rgScale(0.5, rgSub(boxes[k].upper, boxes[k].lower));
            rgCreateGeometry(&boxDef, NULL, &g);
            rgPose pose = rgPoseIdentity();
            pose.p = rgScale(0.5, rgAdd(boxes[k].upper, boxes[k].lower));
            rgRayHit at;
            assert_true(hit.seen[k] || !rgRayCast(g, pose, &ray, &at));
            rgDestroyGeometry(g);
        }
    }
    rgDestroyBroadphase(bp);
}

// Close pairs of placed shapes against all pairs.
static void test_close_pairs(void** state) {
    (void)state;
    rgRandom random = {35};
    rgTestShape shapes[36];
    rgPlacedGeometry placed[36];
    for (int i = 0; i < 36; ++i) {
        rgTestMake(&shapes[i], i % RG_TEST_SHAPES, 0.5, &random);
        rgPose pose = {rgScale(3, rgTestDirection(&random)), rgTestRotation(&random)};
        placed[i] = (rgPlacedGeometry){shapes[i].geometry, pose};
    }
    rgClosePair pairs[630];
    int found, expected = 0;
    assert_int_equal(rgFindClosePairs(placed, 36, 0.5, pairs, 630, &found), rg_ok);
    for (int i = 0; i < 36; ++i) {
        for (int j = i + 1; j < 36; ++j) {
            rgProximity p;
            rgDistance(placed[i].geometry, placed[i].pose, placed[j].geometry, placed[j].pose, NULL,
                       &p);
            expected += p.distance <= 0.5;
        }
    }
    assert_int_equal(found, expected);
    assert_true(found > 10);
    for (int k = 1; k < found; ++k) {
        assert_true(pairs[k - 1].proximity.distance <= pairs[k].proximity.distance);
    }
    int again;
    assert_int_equal(rgFindClosePairs(placed, 36, 0.5, pairs, 3, &again), rg_ok);
    assert_int_equal(again, expected);
    assert_int_equal(rgFindClosePairs(NULL, 2, 0.5, pairs, 3, &again), rg_errorArgument);
    for (int i = 0; i < 36; ++i) {
        rgTestDestroy(&shapes[i]);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_exact),       cmocka_unit_test(test_fat),
        cmocka_unit_test(test_filtered),    cmocka_unit_test(test_unbounded),
        cmocka_unit_test(test_queries),     cmocka_unit_test(test_no_allocation),
        cmocka_unit_test(test_close_pairs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
