// The tree of the broadphase: queries against all boxes by brute force, in plain C and with AVX2,
// while leaves come, go and move; and broadphases that use either.
#include "collision/tree.h"
#include "scene.h"

#define RG_LEAVES 600

typedef struct rgForest {
    rgTree tree;
    rgFloatBox boxes[RG_LEAVES];
    bool used[RG_LEAVES];
    int32_t order[RG_LEAVES];
} rgForest;

// On a grid every other time, so that boxes touch exactly.
static rgFloatBox rgRandomFloatBox(rgRandom* random, double room) {
    rgFloatBox box;
    bool grid = rgRandom_Index(random, 2);
    for (int k = 0; k < 3; ++k) {
        float c = (float)rgRandom_Uniform(random, -room, room);
        float h = (float)rgRandom_Uniform(random, 0, 0.5);
        c = grid ? rintf(2 * c) / 2 : c;
        h = grid ? 0.25f : h;
        box.lower[k] = c - h;
        box.upper[k] = c + h;
    }
    return box;
}

static bool rgFloatBoxesMeet(const rgFloatBox* a, const rgFloatBox* b) {
    bool meet = true;
    for (int k = 0; k < 3; ++k) {
        meet = meet && a->lower[k] <= b->upper[k] && b->lower[k] <= a->upper[k];
    }
    return meet;
}

static void rgRebuild(rgForest* f) {
    int count = 0;
    for (int p = 0; p < RG_LEAVES; ++p) {
        if (f->used[p]) {
            f->order[count++] = p;
        }
    }
    assert_int_equal(rgTree_Build(&f->tree, NULL, f->boxes, f->order, count), rg_ok);
}

static int rgCompareInts(const void* left, const void* right) {
    const int32_t *p = left, *q = right;
    return *p < *q ? -1 : *p > *q;
}

static void rgCheckQuery(const rgForest* f, rgTreeQueryFcn* query, const rgFloatBox* box) {
    int32_t found[RG_LEAVES];
    int count = query(f->tree.nodes, box, found), at = 0;
    qsort(found, (size_t)count, sizeof(int32_t), rgCompareInts);
    for (int p = 0; p < RG_LEAVES; ++p) {
        if (f->used[p] && rgFloatBoxesMeet(&f->boxes[p], box)) {
            assert_true(at < count);
            assert_int_equal(found[at++], p);
        }
    }
    assert_int_equal(at, count);
}

// Children after parents, boxes inside those above, places that lead back.
static void rgCheckTree(const rgForest* f) {
    const rgTree* tree = &f->tree;
    for (int p = 0; p < RG_LEAVES; ++p) {
        int place = tree->places[p];
        assert_int_equal(place >= 0, f->used[p]);
        if (!f->used[p]) {
            continue;
        }
        int at = place / RG_TREE_WIDTH, slot = place % RG_TREE_WIDTH;
        assert_int_equal(tree->nodes[at].child[slot], p);
        assert_true(tree->nodes[at].leaves >> slot & 1);
        while (tree->nodes[at].parent >= 0) {
            const rgTreeNode* node = &tree->nodes[at];
            const rgTreeNode* above = &tree->nodes[node->parent];
            assert_true(node->parent < at && above->inner >> node->parentSlot & 1);
            assert_int_equal(above->child[node->parentSlot], at);
            for (int k = 0; k < 3; ++k) {
                assert_true(above->lower[k][node->parentSlot] <= f->boxes[p].lower[k]);
                assert_true(above->upper[k][node->parentSlot] >= f->boxes[p].upper[k]);
            }
            at = node->parent;
        }
        assert_int_equal(at, 0);
    }
}

static void rgChangeLeaf(rgForest* f, int p, double room, bool refitAll, rgRandom* random) {
    if (!f->used[p]) {
        f->boxes[p] = rgRandomFloatBox(random, room);
        f->used[p] = true;
        if (!rgTree_Insert(&f->tree, p, &f->boxes[p])) {
            rgRebuild(f);
        }
    } else if (rgRandom_Index(random, 3) == 0) {
        f->used[p] = false;
        rgTree_Remove(&f->tree, p);
    } else {
        f->boxes[p] = rgRandomFloatBox(random, room);
        rgTree_SetBox(&f->tree, p, &f->boxes[p]);
        if (!refitAll) {
            rgTree_GrowAbove(&f->tree, p);
        }
    }
}

static void rgRunForest(int count, double room, uint64_t seed) {
    static rgForest f;
    memset(&f, 0, sizeof(f));
    rgRandom random = {seed};
    assert_int_equal(rgTree_Reserve(&f.tree, NULL, 0, RG_LEAVES), rg_ok);
    for (int p = 0; p < RG_LEAVES; ++p) {
        f.tree.places[p] = -1;
        f.used[p] = p < count;
        f.boxes[p] = rgRandomFloatBox(&random, room);
    }
    rgRebuild(&f);
    for (int step = 0; step < 40; ++step) {
        bool refitAll = step % 2;
        for (int n = 0; n < 20 && step > 0; ++n) {
            rgChangeLeaf(&f, rgRandom_Index(&random, RG_LEAVES), room, refitAll, &random);
        }
        if (refitAll) {
            rgTree_RefitAll(&f.tree);
        }
        rgCheckTree(&f);
        for (int n = 0; n < 20; ++n) {
            rgFloatBox box = rgRandomFloatBox(&random, 1.2 * room);
            rgCheckQuery(&f, rgTreeQueryPlain, &box);
            rgCheckQuery(&f, rgSelectTreeQuery(rg_kernelsBest), &box);
        }
    }
    rgTree_Free(&f.tree, NULL);
}

static void test_queries(void** state) {
    (void)state;
    static const int counts[] = {1, 7, 8, 9, 17, 64, 65, 500};
    for (int k = 0; k < RG_COUNT(counts); ++k) {
        rgRunForest(counts[k], k % 2 ? 3 : 0, 50 + (uint64_t)k); // room 0: all in one place
    }
}

#define RG_CROWD 400

static rgBox rgCrowdBox(const rgVec3* at, int i) {
    rgVec3 half = rgVec(0.3, 0.2 + 1e-3 * i, 0.4);
    return (rgBox){rgSub(at[i], half), rgAdd(at[i], half)};
}

// Either way the pairs and what is known of them are the same, step by step.
static void test_kernels(void** state) {
    (void)state;
    rgRandom random = {61};
    rgBroadphase* both[2];
    rgVec3 at[RG_CROWD];
    rgBroadphaseDef def = rgDefaultBroadphaseDef();
    for (int k = 0; k < 2; ++k) {
        def.kernels = k == 0 ? 1 : 0;
        assert_int_equal(rgCreateBroadphase(&def, &both[k]), rg_ok);
    }
    for (int i = 0; i < RG_CROWD; ++i) {
        at[i] = rgScale(rgRandom_Uniform(&random, 0, 4), rgTestDirection(&random));
        for (int k = 0; k < 2; ++k) {
            int proxy;
            assert_int_equal(rgBroadphase_Add(both[k], rgCrowdBox(at, i), &proxy), rg_ok);
        }
    }
    for (int step = 0; step < 100; ++step) {
        int counts[2];
        const rgProxyPair* pairs[2];
        for (int i = 0; i < RG_CROWD; ++i) {
            double speed = step % 10 == 0 ? 0.3 : i % 3 ? 0.003 : 0;
            at[i] = rgAddScaled(at[i], speed, rgTestDirection(&random));
            rgBroadphase_Move(both[0], i, rgCrowdBox(at, i));
            rgBroadphase_Move(both[1], i, rgCrowdBox(at, i));
        }
        for (int k = 0; k < 2; ++k) {
            assert_int_equal(rgBroadphase_Update(both[k], NULL, NULL), rg_ok);
            pairs[k] = rgBroadphase_Pairs(both[k], &counts[k]);
        }
        assert_true(counts[0] > 100);
        assert_int_equal(counts[0], counts[1]);
        assert_memory_equal(pairs[0], pairs[1], (size_t)counts[0] * sizeof(rgProxyPair));
        rgPairChanges changes[2] = {rgBroadphase_Changes(both[0]), rgBroadphase_Changes(both[1])};
        assert_memory_equal(changes[0].previous, changes[1].previous,
                            (size_t)counts[0] * sizeof(int32_t));
    }
    rgDestroyBroadphase(both[0]);
    rgDestroyBroadphase(both[1]);
    rgBroadphase* none = NULL;
    def.kernels = (rgKernelSet)(rg_kernelsNeon + 1);
    assert_int_equal(rgCreateBroadphase(&def, &none), rg_errorArgument);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_queries),
        cmocka_unit_test(test_kernels),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
