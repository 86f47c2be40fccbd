// Broadphase: a tree of fat boxes, and the list of pairs that overlap in it.
// Siblings share a cache line; boxes are floats rounded outward. Leaves that move are refitted, and
// the tree is rebuilt once twice as many have moved as there are. The pairs depend on the fat boxes
// only, never on the tree.
#include "collision/internal.h"

#include <string.h>

#define RG_BROADPHASE_COOKIE 0x62726f64u
#define RG_STACK             256
#define RG_PAIR_STACK        1024
#define RG_AHEAD             6   // steps
#define RG_DEPTH_LIMIT       100 // deeper and the tree is rebuilt

typedef struct rgFloatBox {
    float lower[3], upper[3];
} rgFloatBox;

// Node of the tree: 32 bytes. Children are nodes child and child + 1; siblings are 2 k, 2 k + 1.
typedef struct rgTreeNode {
    rgFloatBox box;
    int32_t child; // negative: leaf of proxy -1 - child
    int32_t parent;
} rgTreeNode;

enum {
    rg_proxyUsed = 1,
    rg_proxyMoved = 2,     // left its fat box since the last update, or is new, or gone
    rg_proxyFresh = 4,     // added since the last update
    rg_proxyUnbounded = 8, // meets everything; not in the tree
};

typedef struct rgPairList {
    rgProxyPair* pairs;
    int count, capacity;
} rgPairList;

struct rgBroadphase {
    rgBroadphaseDef def;
    int proxyCount; // highest used + 1
    rgBox* boxes;   // as given
    rgFloatBox* fats;
    int32_t* leaves; // node of the tree, or -1
    uint8_t* flags;
    int boxCapacity, fatCapacity, leafCapacity, flagCapacity;
    int freeHint; // no free proxy below
    int leafCount, unboundedCount, movedCount;
    rgTreeNode* nodes;
    int nodeCount, nodeCapacity;
    uint8_t* marked; // per node: something moved below
    int markedCapacity;
    int movesSinceBuild;
    int32_t* order; // scratch of the builder, proxyCapacity
    int orderCapacity;
    rgPairList pairs, found, next, sorted;
    int32_t* previous;
    int previousCapacity;
    int32_t* bucket;
    int bucketCapacity;
};

rgBroadphaseDef rgDefaultBroadphaseDef(void) {
    return (rgBroadphaseDef){
        .fatten = 0.002, .fattenRelative = 0.02, .cookie = RG_BROADPHASE_COOKIE};
}

rgResult rgCreateBroadphase(const rgBroadphaseDef* def, rgBroadphase** broadphase) {
    if (def == NULL || def->cookie != RG_BROADPHASE_COOKIE || broadphase == NULL ||
        !(def->fatten >= 0) || !(def->fattenRelative >= 0)) {
        return rg_errorArgument;
    }
    rgBroadphase* made = rgAllocate(&def->allocator, 1, sizeof(rgBroadphase));
    if (made == NULL) {
        return rg_errorMemory;
    }
    made->def = *def;
    made->def.allocator = rgResolveAllocator(&def->allocator);
    *broadphase = made;
    return rg_ok;
}

void rgDestroyBroadphase(rgBroadphase* bp) {
    if (bp == NULL) {
        return;
    }
    rgAllocator allocator = bp->def.allocator;
    rgRelease(&allocator, bp->boxes);
    rgRelease(&allocator, bp->fats);
    rgRelease(&allocator, bp->leaves);
    rgRelease(&allocator, bp->flags);
    rgRelease(&allocator, bp->marked);
    rgRelease(&allocator, bp->nodes);
    rgRelease(&allocator, bp->order);
    rgRelease(&allocator, bp->pairs.pairs);
    rgRelease(&allocator, bp->found.pairs);
    rgRelease(&allocator, bp->next.pairs);
    rgRelease(&allocator, bp->sorted.pairs);
    rgRelease(&allocator, bp->previous);
    rgRelease(&allocator, bp->bucket);
    rgRelease(&allocator, bp);
}

// ---- float boxes

static float rgRoundDown(double x) {
    float f = (float)x;
    return f > x ? nextafterf(f, -INFINITY) : f;
}

static float rgRoundUp(double x) {
    float f = (float)x;
    return f < x ? nextafterf(f, INFINITY) : f;
}

static rgFloatBox rgFloatBoxOf(const rgBox* box, double grow, double relative) {
    rgVec3 size = rgSub(box->upper, box->lower);
    double g = grow + relative * RG_MAX(size.x, RG_MAX(size.y, size.z));
    return (rgFloatBox){
        {rgRoundDown(box->lower.x - g), rgRoundDown(box->lower.y - g),
         rgRoundDown(box->lower.z - g)},
        {rgRoundUp(box->upper.x + g), rgRoundUp(box->upper.y + g), rgRoundUp(box->upper.z + g)}};
}

static inline bool rgFloatBoxesMeet(const rgFloatBox* a, const rgFloatBox* b) {
    return (a->lower[0] <= b->upper[0]) & (b->lower[0] <= a->upper[0]) &
           (a->lower[1] <= b->upper[1]) & (b->lower[1] <= a->upper[1]) &
           (a->lower[2] <= b->upper[2]) & (b->lower[2] <= a->upper[2]);
}

static bool rgFloatBoxHolds(const rgFloatBox* a, const rgFloatBox* b) {
    return (a->lower[0] <= b->lower[0]) & (a->upper[0] >= b->upper[0]) &
           (a->lower[1] <= b->lower[1]) & (a->upper[1] >= b->upper[1]) &
           (a->lower[2] <= b->lower[2]) & (a->upper[2] >= b->upper[2]);
}

static bool rgFatHolds(const rgFloatBox* fat, const rgBox* box) {
    return fat->lower[0] <= box->lower.x && fat->upper[0] >= box->upper.x &&
           fat->lower[1] <= box->lower.y && fat->upper[1] >= box->upper.y &&
           fat->lower[2] <= box->lower.z && fat->upper[2] >= box->upper.z;
}

static void rgFloatBox_Grow(rgFloatBox* a, const rgFloatBox* b) {
    for (int i = 0; i < 3; ++i) {
        a->lower[i] = RG_MIN(a->lower[i], b->lower[i]);
        a->upper[i] = RG_MAX(a->upper[i], b->upper[i]);
    }
}

static float rgFloatBox_Cost(const rgFloatBox* a) {
    float x = a->upper[0] - a->lower[0], y = a->upper[1] - a->lower[1],
          z = a->upper[2] - a->lower[2];
    return x * y + y * z + z * x;
}

// ---- building

typedef struct rgBuildItem {
    int node, first, count;
} rgBuildItem;

static rgFloatBox rgBoundsOf(const rgBroadphase* bp, int first, int count) {
    rgFloatBox box = bp->fats[bp->order[first]];
    for (int i = 1; i < count; ++i) {
        rgFloatBox_Grow(&box, &bp->fats[bp->order[first + i]]);
    }
    return box;
}

static float rgCenterOf(const rgBroadphase* bp, int proxy, int axis) {
    const rgFloatBox* b = &bp->fats[proxy];
    return b->lower[axis] + b->upper[axis];
}

// Split in the middle of the centers along their longest extent; in halves by number when that is
// lopsided, so that the depth stays small.
static int rgSplit(rgBroadphase* bp, int first, int count) {
    float low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY};
    for (int i = first; i < first + count; ++i) {
        for (int k = 0; k < 3; ++k) {
            float c = rgCenterOf(bp, bp->order[i], k);
            low[k] = RG_MIN(low[k], c);
            high[k] = RG_MAX(high[k], c);
        }
    }
    int axis = 0;
    for (int k = 1; k < 3; ++k) {
        axis = high[k] - low[k] > high[axis] - low[axis] ? k : axis;
    }
    float middle = 0.5f * low[axis] + 0.5f * high[axis];
    int i = first, j = first + count - 1;
    while (i <= j) {
        if (rgCenterOf(bp, bp->order[i], axis) < middle) {
            i += 1;
        } else {
            int32_t swap = bp->order[i];
            bp->order[i] = bp->order[j];
            bp->order[j--] = swap;
        }
    }
    int left = i - first;
    return left < count / 8 || left > count - count / 8 || left == 0 || left == count ? count / 2
                                                                                      : left;
}

static void rgSetLeaf(rgBroadphase* bp, int node, int proxy) {
    bp->nodes[node].box = bp->fats[proxy];
    bp->nodes[node].child = -1 - proxy;
    bp->leaves[proxy] = node;
}

static rgResult rgReserveNodes(rgBroadphase* bp, int nodes) {
    return rgReserve(&bp->def.allocator, (void**)&bp->nodes, &bp->nodeCapacity, bp->nodeCount,
                     nodes, sizeof(rgTreeNode));
}

static bool rgIsLeaf(const rgBroadphase* bp, int proxy) {
    return (bp->flags[proxy] & (rg_proxyUsed | rg_proxyUnbounded)) == rg_proxyUsed;
}

static bool rgIsUnbounded(const rgBroadphase* bp, int proxy) {
    int both = rg_proxyUsed | rg_proxyUnbounded;
    return (bp->flags[proxy] & both) == both;
}

static int rgListLeaves(rgBroadphase* bp) {
    int count = 0;
    for (int p = 0; p < bp->proxyCount; ++p) {
        if (rgIsLeaf(bp, p)) {
            bp->order[count++] = p;
        }
    }
    return count;
}

static rgResult rgBuildTree(rgBroadphase* bp) {
    // Room to insert some leaves before the next build.
    if (rgReserveNodes(bp, 2 * bp->leafCount + bp->leafCount / 2 + 16) != rg_ok) {
        return rg_errorMemory;
    }
    bp->nodeCount = 0;
    bp->movesSinceBuild = 0;
    int count = rgListLeaves(bp);
    if (count == 0) {
        return rg_ok;
    }
    rgBuildItem stack[RG_STACK];
    int depth = 0;
    bp->nodeCount = 2; // the root is node 0, node 1 is not used
    bp->nodes[0].parent = -1;
    stack[depth++] = (rgBuildItem){0, 0, count};
    while (depth > 0) {
        rgBuildItem item = stack[--depth];
        if (item.count == 1) {
            rgSetLeaf(bp, item.node, bp->order[item.first]);
            continue;
        }
        int left = rgSplit(bp, item.first, item.count);
        int child = bp->nodeCount;
        bp->nodeCount += 2;
        bp->nodes[item.node].box = rgBoundsOf(bp, item.first, item.count);
        bp->nodes[item.node].child = child;
        bp->nodes[child].parent = bp->nodes[child + 1].parent = item.node;
        stack[depth++] = (rgBuildItem){child + 1, item.first + left, item.count - left};
        stack[depth++] = (rgBuildItem){child, item.first, left};
    }
    return rg_ok;
}

// ---- changing the tree

static void rgRefitAbove(rgBroadphase* bp, int node) {
    const rgFloatBox box = bp->nodes[node].box;
    for (int at = bp->nodes[node].parent; at >= 0; at = bp->nodes[at].parent) {
        if (rgFloatBoxHolds(&bp->nodes[at].box, &box)) {
            return;
        }
        rgFloatBox_Grow(&bp->nodes[at].box, &box);
    }
}

// Every inner box from its children. Children come after their parents in the array.
static void rgRefitAll(rgBroadphase* bp) {
    for (int n = bp->nodeCount - 1; n >= 0; --n) {
        int child = bp->nodes[n].child;
        if (child >= 0 && n != 1) {
            bp->nodes[n].box = bp->nodes[child].box;
            rgFloatBox_Grow(&bp->nodes[n].box, &bp->nodes[child + 1].box);
        }
    }
}

// Whoever points at a node is told where its content is now.
static void rgRelink(rgBroadphase* bp, int node) {
    int child = bp->nodes[node].child;
    if (child < 0) {
        bp->leaves[-1 - child] = node;
    } else {
        bp->nodes[child].parent = bp->nodes[child + 1].parent = node;
    }
}

// Put a leaf where it grows boxes least. False: no room or too deep; the tree must be rebuilt.
static bool rgInsertLeaf(rgBroadphase* bp, int proxy) {
    if (bp->nodeCount == 0 || bp->nodeCount + 2 > bp->nodeCapacity) {
        return false;
    }
    rgFloatBox box = bp->fats[proxy];
    int at = 0, depth = 0;
    while (bp->nodes[at].child >= 0) {
        rgFloatBox_Grow(&bp->nodes[at].box, &box);
        int child = bp->nodes[at].child;
        rgFloatBox a = bp->nodes[child].box, b = bp->nodes[child + 1].box;
        float costA = -rgFloatBox_Cost(&a), costB = -rgFloatBox_Cost(&b);
        rgFloatBox_Grow(&a, &box);
        rgFloatBox_Grow(&b, &box);
        at = costA + rgFloatBox_Cost(&a) <= costB + rgFloatBox_Cost(&b) ? child : child + 1;
        depth += 1;
    }
    if (depth > RG_DEPTH_LIMIT) {
        return false;
    }
    int child = bp->nodeCount;
    bp->nodeCount += 2;
    bp->nodes[child] = bp->nodes[at];
    bp->nodes[child].parent = bp->nodes[child + 1].parent = at;
    rgRelink(bp, child);
    rgSetLeaf(bp, child + 1, proxy);
    bp->nodes[at].child = child;
    rgFloatBox_Grow(&bp->nodes[at].box, &box);
    return true;
}

static void rgRemoveLeaf(rgBroadphase* bp, int proxy) {
    int leaf = bp->leaves[proxy];
    bp->leaves[proxy] = -1;
    if (leaf < 0) {
        return;
    }
    if (leaf == 0) {
        bp->nodeCount = 0;
        return;
    }
    int parent = bp->nodes[leaf].parent, above = bp->nodes[parent].parent;
    bp->nodes[parent] = bp->nodes[leaf ^ 1];
    bp->nodes[parent].parent = above;
    rgRelink(bp, parent);
}

// ---- proxies

static bool rgIsBoxValid(const rgBox* b) {
    return b->lower.x <= b->upper.x && b->lower.y <= b->upper.y && b->lower.z <= b->upper.z;
}

static bool rgIsBounded(const rgBox* b) {
    return rgLengthSquared(b->lower) < 1e70 && rgLengthSquared(b->upper) < 1e70;
}

static void rgMarkMoved(rgBroadphase* bp, int proxy) {
    bp->movedCount += !(bp->flags[proxy] & rg_proxyMoved);
    bp->flags[proxy] |= rg_proxyMoved;
}

static void rgSetProxyBox(rgBroadphase* bp, int proxy, const rgBox* box) {
    bp->boxes[proxy] = *box;
    bp->fats[proxy] = rgFloatBoxOf(box, bp->def.fatten, bp->def.fattenRelative);
    rgMarkMoved(bp, proxy);
}

// Room for some more steps like the last one, at most the size of the box.
static rgVec3 rgAhead(const rgBox* box, const rgBox* last) {
    rgVec3 size = rgSub(box->upper, box->lower);
    double limit = RG_MAX(size.x, RG_MAX(size.y, size.z));
    rgVec3 ahead = rgScale(RG_AHEAD, rgSub(box->lower, last->lower));
    double length = rgLength(ahead);
    return length > limit ? rgScale(limit / length, ahead) : ahead;
}

static void rgMoveProxyBox(rgBroadphase* bp, int proxy, const rgBox* box) {
    rgVec3 ahead = rgAhead(box, &bp->boxes[proxy]), none = rgVec(0, 0, 0);
    rgBox swept = {rgAdd(box->lower, rgMin3(ahead, none)), rgAdd(box->upper, rgMax3(ahead, none))};
    rgSetProxyBox(bp, proxy, &swept);
    bp->boxes[proxy] = *box;
}

static rgResult rgReserveProxies(rgBroadphase* bp, int count) {
    struct {
        void** array;
        int* capacity;
        int used, needed;
        size_t size;
    } const arrays[] = {
        {(void**)&bp->boxes, &bp->boxCapacity, bp->proxyCount, count, sizeof(rgBox)},
        {(void**)&bp->fats, &bp->fatCapacity, bp->proxyCount, count, sizeof(rgFloatBox)},
        {(void**)&bp->leaves, &bp->leafCapacity, bp->proxyCount, count, sizeof(int32_t)},
        {(void**)&bp->flags, &bp->flagCapacity, bp->proxyCount, count, 1},
        {(void**)&bp->order, &bp->orderCapacity, 0, count, sizeof(int32_t)},
        {(void**)&bp->bucket, &bp->bucketCapacity, 0, count + 1, sizeof(int32_t)},
    };
    rgResult result = rg_ok;
    for (int k = 0; k < RG_COUNT(arrays) && result == rg_ok; ++k) {
        result = rgReserve(&bp->def.allocator, arrays[k].array, arrays[k].capacity, arrays[k].used,
                           arrays[k].needed, arrays[k].size);
    }
    return result;
}

rgResult rgBroadphase_Add(rgBroadphase* bp, rgBox box, int* proxy) {
    if (bp == NULL || proxy == NULL || !rgIsBoxValid(&box)) {
        return rg_errorArgument;
    }
    int at = bp->freeHint;
    while (at < bp->proxyCount && bp->flags[at] & rg_proxyUsed) {
        at += 1;
    }
    if (at == bp->proxyCount && rgReserveProxies(bp, at + 1) != rg_ok) {
        return rg_errorMemory;
    }
    bp->proxyCount = RG_MAX(bp->proxyCount, at + 1);
    bp->freeHint = at + 1;
    bool unbounded = !rgIsBounded(&box);
    bp->flags[at] = (uint8_t)(rg_proxyUsed | rg_proxyFresh | (unbounded ? rg_proxyUnbounded : 0));
    bp->leaves[at] = -1;
    rgSetProxyBox(bp, at, &box);
    bp->unboundedCount += unbounded;
    bp->leafCount += !unbounded;
    *proxy = at;
    return rg_ok;
}

static bool rgIsProxy(const rgBroadphase* bp, int proxy) {
    return bp != NULL && proxy >= 0 && proxy < bp->proxyCount && bp->flags[proxy] & rg_proxyUsed;
}

rgResult rgBroadphase_Remove(rgBroadphase* bp, int proxy) {
    if (!rgIsProxy(bp, proxy)) {
        return rg_errorArgument;
    }
    bool unbounded = rgIsUnbounded(bp, proxy);
    rgRemoveLeaf(bp, proxy);
    bp->unboundedCount -= unbounded;
    bp->leafCount -= !unbounded;
    bp->flags[proxy] &= (uint8_t)~rg_proxyUsed;
    rgMarkMoved(bp, proxy); // its pairs go at the next update
    bp->freeHint = RG_MIN(bp->freeHint, proxy);
    return rg_ok;
}

rgResult rgBroadphase_Move(rgBroadphase* bp, int proxy, rgBox box) {
    if (!rgIsProxy(bp, proxy) || !rgIsBoxValid(&box)) {
        return rg_errorArgument;
    }
    if (rgIsUnbounded(bp, proxy) || rgFatHolds(&bp->fats[proxy], &box)) {
        bp->boxes[proxy] = box;
        return rg_ok;
    }
    if (!rgIsBounded(&box)) {
        return rg_errorArgument;
    }
    rgMoveProxyBox(bp, proxy, &box);
    return rg_ok;
}

// ---- pairs

typedef struct rgSearch {
    rgBroadphase* bp;
    rgPairFilterFcn* filter;
    void* context;
    rgResult result;
} rgSearch;

static void rgPushPair(rgSearch* s, int a, int b) {
    rgPairList* list = &s->bp->found;
    int low = RG_MIN(a, b), high = RG_MAX(a, b);
    if (s->filter != NULL && !s->filter(low, high, s->context)) {
        return;
    }
    if (list->count == list->capacity) {
        s->result = rgReserve(&s->bp->def.allocator, (void**)&list->pairs, &list->capacity,
                              list->count, list->count + 1, sizeof(rgProxyPair));
        if (s->result != rg_ok) {
            return;
        }
    }
    list->pairs[list->count++] = (rgProxyPair){low, high};
}

// Two nodes whose boxes overlap, with something below that moved; a == b: a node with itself.
typedef struct rgNodePair {
    int32_t a, b;
} rgNodePair;

static void rgMarkAbove(rgBroadphase* bp, int proxy) {
    for (int n = bp->leaves[proxy]; n >= 0 && !bp->marked[n]; n = bp->nodes[n].parent) {
        bp->marked[n] = 1;
    }
}

static rgResult rgMarkTree(rgBroadphase* bp) {
    rgResult result = rgReserve(&bp->def.allocator, (void**)&bp->marked, &bp->markedCapacity, 0,
                                bp->nodeCapacity, 1);
    if (result == rg_ok && bp->nodeCount > 0) {
        memset(bp->marked, 0, (size_t)bp->nodeCount);
    }
    for (int p = 0; p < bp->proxyCount && result == rg_ok; ++p) {
        if (bp->flags[p] & rg_proxyMoved && rgIsLeaf(bp, p)) {
            rgMarkAbove(bp, p);
        }
    }
    return result;
}

static inline bool rgNodesMeet(const rgBroadphase* bp, int a, int b) {
    return (bp->marked[a] | bp->marked[b]) &&
           rgFloatBoxesMeet(&bp->nodes[a].box, &bp->nodes[b].box);
}

static int rgOpenSelf(const rgBroadphase* bp, int child, rgNodePair* stack, int depth) {
    if (rgNodesMeet(bp, child, child + 1)) {
        stack[depth++] = (rgNodePair){child, child + 1};
    }
    for (int k = child; k < child + 2; ++k) {
        if (bp->marked[k] && bp->nodes[k].child >= 0) {
            stack[depth++] = (rgNodePair){k, k};
        }
    }
    return depth;
}

// Pairs of leaves that overlap where one of them moved: the tree against itself.
static void rgSearchTree(rgSearch* s) {
    const rgBroadphase* bp = s->bp;
    rgNodePair stack[RG_PAIR_STACK];
    int depth = 0;
    if (bp->nodeCount > 0 && bp->marked[0] && bp->nodes[0].child >= 0) {
        stack[depth++] = (rgNodePair){0, 0};
    }
    while (depth > 0 && s->result == rg_ok) {
        rgNodePair pair = stack[--depth];
        int ca = bp->nodes[pair.a].child, cb = bp->nodes[pair.b].child;
        if (pair.a == pair.b) {
            depth = rgOpenSelf(bp, ca, stack, depth);
            continue;
        }
        if (ca < 0 && cb < 0) {
            rgPushPair(s, -1 - ca, -1 - cb);
            continue;
        }
        int a0 = ca < 0 ? pair.a : ca, a1 = ca < 0 ? pair.a : ca + 1;
        int b0 = cb < 0 ? pair.b : cb, b1 = cb < 0 ? pair.b : cb + 1;
        for (int a = a0; a <= a1; ++a) {
            for (int b = b0; b <= b1; ++b) {
                if (rgNodesMeet(bp, a, b)) {
                    stack[depth++] = (rgNodePair){a, b};
                }
            }
        }
    }
}

static void rgSearchUnbounded(rgSearch* s) {
    const rgBroadphase* bp = s->bp;
    for (int u = 0; u < bp->proxyCount && bp->unboundedCount > 0; ++u) {
        if (!rgIsUnbounded(bp, u)) {
            continue;
        }
        for (int p = 0; p < bp->proxyCount && s->result == rg_ok; ++p) {
            bool used = bp->flags[p] & rg_proxyUsed;
            bool moved = (bp->flags[p] | bp->flags[u]) & rg_proxyMoved;
            bool twice = rgIsUnbounded(bp, p) && p < u; // reported by the lower one
            if (p != u && used && moved && !twice) {
                rgPushPair(s, u, p);
            }
        }
    }
}

static void rgSearchMoved(rgSearch* s) {
    s->result = rgMarkTree(s->bp);
    if (s->result == rg_ok) {
        rgSearchTree(s);
    }
    rgSearchUnbounded(s);
}

static void rgCountingPass(rgBroadphase* bp, const rgPairList* from, rgPairList* to, bool byA) {
    memset(bp->bucket, 0, (size_t)(bp->proxyCount + 1) * sizeof(int32_t));
    for (int i = 0; i < from->count; ++i) {
        bp->bucket[(byA ? from->pairs[i].a : from->pairs[i].b) + 1] += 1;
    }
    for (int k = 0; k < bp->proxyCount; ++k) {
        bp->bucket[k + 1] += bp->bucket[k];
    }
    for (int i = 0; i < from->count; ++i) {
        int key = byA ? from->pairs[i].a : from->pairs[i].b;
        to->pairs[bp->bucket[key]++] = from->pairs[i];
    }
    to->count = from->count;
}

static rgResult rgReservePairs(rgBroadphase* bp, rgPairList* list, int count) {
    return rgReserve(&bp->def.allocator, (void**)&list->pairs, &list->capacity, 0, count,
                     sizeof(rgProxyPair));
}

static bool rgPairLess(rgProxyPair p, rgProxyPair q) {
    return p.a != q.a ? p.a < q.a : p.b < q.b;
}

static bool rgIsKept(const rgBroadphase* bp, rgProxyPair p) {
    return !((bp->flags[p.a] | bp->flags[p.b]) & rg_proxyMoved);
}

// Old pairs of which neither moved, merged with what was found; both lists are sorted.
static void rgMergePairs(rgBroadphase* bp) {
    const rgPairList *old = &bp->pairs, *found = &bp->found;
    rgPairList* out = &bp->next;
    int i = 0, j = 0;
    out->count = 0;
    while (i < old->count || j < found->count) {
        bool same = i < old->count && j < found->count && old->pairs[i].a == found->pairs[j].a &&
                    old->pairs[i].b == found->pairs[j].b;
        bool fromOld = same || j == found->count ||
                       (i < old->count && rgPairLess(old->pairs[i], found->pairs[j]));
        rgProxyPair pair = fromOld ? old->pairs[i] : found->pairs[j];
        if (!fromOld || same || rgIsKept(bp, pair)) {
            bool fresh = (bp->flags[pair.a] | bp->flags[pair.b]) & rg_proxyFresh;
            bp->previous[out->count] = fromOld && !fresh ? i : -1;
            out->pairs[out->count++] = pair;
        }
        i += fromOld;
        j += same || !fromOld;
    }
    rgPairList swap = bp->pairs;
    bp->pairs = *out;
    *out = swap;
}

static rgResult rgRefreshTree(rgBroadphase* bp) {
    bp->movesSinceBuild += bp->movedCount;
    bool rebuild = bp->nodeCount == 0 || bp->movesSinceBuild > 2 * bp->leafCount;
    bool many = bp->movedCount > bp->leafCount / 16;
    for (int p = 0; p < bp->proxyCount && !rebuild; ++p) {
        if (!(bp->flags[p] & rg_proxyMoved) || !rgIsLeaf(bp, p)) {
            continue;
        }
        if (bp->leaves[p] < 0) {
            rebuild = !rgInsertLeaf(bp, p);
        } else {
            bp->nodes[bp->leaves[p]].box = bp->fats[p];
            if (!many) {
                rgRefitAbove(bp, bp->leaves[p]);
            }
        }
    }
    if (many && !rebuild) {
        rgRefitAll(bp);
    }
    return rebuild ? rgBuildTree(bp) : rg_ok;
}

static void rgClearMoved(rgBroadphase* bp) {
    for (int p = 0; p < bp->proxyCount; ++p) {
        bp->flags[p] &= (uint8_t) ~(rg_proxyMoved | rg_proxyFresh);
    }
    while (bp->proxyCount > 0 && !(bp->flags[bp->proxyCount - 1] & rg_proxyUsed)) {
        bp->proxyCount -= 1;
    }
    bp->freeHint = RG_MIN(bp->freeHint, bp->proxyCount);
    bp->movedCount = 0;
}

rgResult rgBroadphase_Update(rgBroadphase* bp, rgPairFilterFcn* filter, void* context) {
    if (bp == NULL) {
        return rg_errorArgument;
    }
    rgSearch search = {.bp = bp, .filter = filter, .context = context};
    bp->found.count = 0;
    if (bp->movedCount > 0) {
        search.result = rgRefreshTree(bp);
    }
    if (bp->movedCount > 0 && search.result == rg_ok) {
        rgSearchMoved(&search);
    }
    int total = bp->pairs.count + bp->found.count;
    rgPairList* lists[] = {&bp->next, &bp->sorted};
    for (int k = 0; k < 2 && search.result == rg_ok; ++k) {
        search.result = rgReservePairs(bp, lists[k], total);
    }
    if (search.result == rg_ok) {
        search.result = rgReserve(&bp->def.allocator, (void**)&bp->previous, &bp->previousCapacity,
                                  0, total, sizeof(int32_t));
    }
    if (search.result != rg_ok) {
        return search.result;
    }
    if (bp->found.count > 1) {
        rgCountingPass(bp, &bp->found, &bp->sorted, false);
        rgCountingPass(bp, &bp->sorted, &bp->found, true);
    }
    rgMergePairs(bp);
    rgClearMoved(bp);
    return rg_ok;
}

const rgProxyPair* rgBroadphase_Pairs(const rgBroadphase* bp, int* count) {
    *count = bp->pairs.count;
    return bp->pairs.pairs;
}

rgPairChanges rgBroadphase_Changes(const rgBroadphase* bp) {
    return (rgPairChanges){bp->pairs.count, bp->previous};
}

bool rgBroadphase_BoxesOverlap(const rgBroadphase* bp, rgProxyPair pair, double margin) {
    rgBox a = bp->boxes[pair.a];
    rgVec3 grow = rgVec(margin, margin, margin);
    a.lower = rgSub(a.lower, grow);
    a.upper = rgAdd(a.upper, grow);
    return rgBoxesMeet(&a, &bp->boxes[pair.b]);
}

// ---- queries

void rgBroadphase_Query(const rgBroadphase* bp, rgBox box, rgProxyFcn* visit, void* context) {
    rgFloatBox wide = rgFloatBoxOf(&box, 0, 0);
    for (int p = 0; p < bp->proxyCount && bp->unboundedCount > 0; ++p) {
        if (rgIsUnbounded(bp, p) && rgBoxesMeet(&bp->boxes[p], &box) && !visit(p, context)) {
            return;
        }
    }
    int32_t stack[RG_STACK];
    int depth = 0;
    stack[depth++] = 0;
    while (depth > 0 && bp->nodeCount > 0) {
        const rgTreeNode* node = &bp->nodes[stack[--depth]];
        if (!rgFloatBoxesMeet(&node->box, &wide)) {
            continue;
        }
        if (node->child >= 0) {
            stack[depth++] = node->child + 1;
            stack[depth++] = node->child;
        } else if (rgBoxesMeet(&bp->boxes[-1 - node->child], &box) &&
                   !visit(-1 - node->child, context)) {
            return;
        }
    }
}

// Whether a ray meets a box before limit.
static bool rgRayMeets(const rgRay* ray, const rgFloatBox* box, double limit) {
    double enter = 0, exit = limit;
    for (int i = 0; i < 3; ++i) {
        double o = rgVec3_At(ray->origin, i), d = rgVec3_At(ray->direction, i);
        if (d == 0) {
            if (o < box->lower[i] || o > box->upper[i]) {
                return false;
            }
            continue;
        }
        double t1 = (box->lower[i] - o) / d, t2 = (box->upper[i] - o) / d;
        enter = RG_MAX(enter, RG_MIN(t1, t2));
        exit = RG_MIN(exit, RG_MAX(t1, t2));
    }
    return enter <= exit * (1 + 1e-12);
}

void rgBroadphase_RayCast(const rgBroadphase* bp, const rgRay* ray, rgProxyRayFcn* visit,
                          void* context) {
    rgRay left = *ray;
    for (int p = 0; p < bp->proxyCount && bp->unboundedCount > 0; ++p) {
        if (rgIsUnbounded(bp, p) && left.maxFraction > 0) {
            double shorter = visit(p, &left, context);
            left.maxFraction = RG_MIN(left.maxFraction, shorter);
        }
    }
    int32_t stack[RG_STACK];
    int depth = 0;
    stack[depth++] = 0;
    while (depth > 0 && bp->nodeCount > 0 && left.maxFraction > 0) {
        const rgTreeNode* node = &bp->nodes[stack[--depth]];
        if (!rgRayMeets(&left, &node->box, left.maxFraction)) {
            continue;
        }
        if (node->child >= 0) {
            stack[depth++] = node->child + 1;
            stack[depth++] = node->child;
        } else {
            double shorter = visit(-1 - node->child, &left, context);
            left.maxFraction = RG_MIN(left.maxFraction, shorter);
        }
    }
}
