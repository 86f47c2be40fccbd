// Broadphase: a tree of fat boxes, and the list of pairs that overlap in it.
// Siblings share a cache line; boxes are floats rounded outward. Leaves that move are refitted, and
// the tree is rebuilt once as many have moved as there are. The pairs depend on the fat boxes only,
// never on the tree.
#include "collision/internal.h"

#include <string.h>

#define RG_BROADPHASE_COOKIE 0x62726f64u
#define RG_STACK             256
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

typedef struct rgProxy {
    rgBox box; // as given
    rgFloatBox fat;
    int32_t leaf; // node, or -1
    bool used, moved;
    bool fresh;     // added since the last update
    bool unbounded; // meets everything; not in the tree
} rgProxy;

typedef struct rgPairList {
    rgProxyPair* pairs;
    int count, capacity;
} rgPairList;

struct rgBroadphase {
    rgBroadphaseDef def;
    rgProxy* proxies;
    int proxyCount, proxyCapacity; // proxyCount: highest used + 1
    int freeHint;                  // no free proxy below
    int leafCount, unboundedCount, movedCount;
    rgTreeNode* nodes;
    int nodeCount, nodeCapacity;
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
        .fatten = 0.005, .fattenRelative = 0.05, .cookie = RG_BROADPHASE_COOKIE};
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
    rgRelease(&allocator, bp->proxies);
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
    rgFloatBox box = bp->proxies[bp->order[first]].fat;
    for (int i = 1; i < count; ++i) {
        rgFloatBox_Grow(&box, &bp->proxies[bp->order[first + i]].fat);
    }
    return box;
}

static float rgCenterOf(const rgBroadphase* bp, int proxy, int axis) {
    const rgFloatBox* b = &bp->proxies[proxy].fat;
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
    bp->nodes[node].box = bp->proxies[proxy].fat;
    bp->nodes[node].child = -1 - proxy;
    bp->proxies[proxy].leaf = node;
}

static rgResult rgReserveNodes(rgBroadphase* bp, int nodes) {
    return rgReserve(&bp->def.allocator, (void**)&bp->nodes, &bp->nodeCapacity, bp->nodeCount,
                     nodes, sizeof(rgTreeNode));
}

static int rgListLeaves(rgBroadphase* bp) {
    int count = 0;
    for (int p = 0; p < bp->proxyCount; ++p) {
        if (bp->proxies[p].used && !bp->proxies[p].unbounded) {
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

// Whoever points at a node is told where its content is now.
static void rgRelink(rgBroadphase* bp, int node) {
    int child = bp->nodes[node].child;
    if (child < 0) {
        bp->proxies[-1 - child].leaf = node;
    } else {
        bp->nodes[child].parent = bp->nodes[child + 1].parent = node;
    }
}

// Put a leaf where it grows boxes least. False: no room or too deep; the tree must be rebuilt.
static bool rgInsertLeaf(rgBroadphase* bp, int proxy) {
    if (bp->nodeCount == 0 || bp->nodeCount + 2 > bp->nodeCapacity) {
        return false;
    }
    rgFloatBox box = bp->proxies[proxy].fat;
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
    int leaf = bp->proxies[proxy].leaf;
    bp->proxies[proxy].leaf = -1;
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

static void rgMarkMoved(rgBroadphase* bp, rgProxy* p) {
    bp->movedCount += !p->moved;
    p->moved = true;
}

static void rgSetProxyBox(rgBroadphase* bp, rgProxy* p, const rgBox* box) {
    p->box = *box;
    p->fat = rgFloatBoxOf(box, bp->def.fatten, bp->def.fattenRelative);
    rgMarkMoved(bp, p);
}

static rgResult rgReserveProxies(rgBroadphase* bp, int count) {
    rgResult result = rgReserve(&bp->def.allocator, (void**)&bp->proxies, &bp->proxyCapacity,
                                bp->proxyCount, count, sizeof(rgProxy));
    if (result == rg_ok) {
        result = rgReserve(&bp->def.allocator, (void**)&bp->order, &bp->orderCapacity, 0, count,
                           sizeof(int32_t));
    }
    if (result == rg_ok) {
        result = rgReserve(&bp->def.allocator, (void**)&bp->bucket, &bp->bucketCapacity, 0,
                           count + 1, sizeof(int32_t));
    }
    return result;
}

rgResult rgBroadphase_Add(rgBroadphase* bp, rgBox box, int* proxy) {
    if (bp == NULL || proxy == NULL || !rgIsBoxValid(&box)) {
        return rg_errorArgument;
    }
    int at = bp->freeHint;
    while (at < bp->proxyCount && bp->proxies[at].used) {
        at += 1;
    }
    if (at == bp->proxyCount && rgReserveProxies(bp, at + 1) != rg_ok) {
        return rg_errorMemory;
    }
    bp->proxyCount = RG_MAX(bp->proxyCount, at + 1);
    bp->freeHint = at + 1;
    rgProxy* p = &bp->proxies[at];
    *p = (rgProxy){.used = true, .fresh = true, .leaf = -1, .unbounded = !rgIsBounded(&box)};
    rgSetProxyBox(bp, p, &box);
    bp->unboundedCount += p->unbounded;
    bp->leafCount += !p->unbounded;
    *proxy = at;
    return rg_ok;
}

static bool rgIsProxy(const rgBroadphase* bp, int proxy) {
    return bp != NULL && proxy >= 0 && proxy < bp->proxyCount && bp->proxies[proxy].used;
}

rgResult rgBroadphase_Remove(rgBroadphase* bp, int proxy) {
    if (!rgIsProxy(bp, proxy)) {
        return rg_errorArgument;
    }
    rgProxy* p = &bp->proxies[proxy];
    rgRemoveLeaf(bp, proxy);
    bp->unboundedCount -= p->unbounded;
    bp->leafCount -= !p->unbounded;
    p->used = false;
    rgMarkMoved(bp, p); // its pairs go at the next update
    bp->freeHint = RG_MIN(bp->freeHint, proxy);
    return rg_ok;
}

rgResult rgBroadphase_Move(rgBroadphase* bp, int proxy, rgBox box) {
    if (!rgIsProxy(bp, proxy) || !rgIsBoxValid(&box)) {
        return rg_errorArgument;
    }
    rgProxy* p = &bp->proxies[proxy];
    p->box = box;
    if (p->unbounded || rgFatHolds(&p->fat, &box)) {
        return rg_ok;
    }
    if (!rgIsBounded(&box)) {
        return rg_errorArgument;
    }
    rgSetProxyBox(bp, p, &box);
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

// Partners of a moved proxy in the tree. Of two that moved, the lower one reports.
static void rgSearchTree(rgSearch* s, int proxy) {
    const rgBroadphase* bp = s->bp;
    const rgFloatBox box = bp->proxies[proxy].fat;
    int32_t stack[RG_STACK];
    int depth = 0;
    if (bp->nodeCount == 0 || !rgFloatBoxesMeet(&bp->nodes[0].box, &box)) {
        return;
    }
    stack[depth++] = 0;
    while (depth > 0 && s->result == rg_ok) {
        int child = bp->nodes[stack[--depth]].child;
        if (child < 0) {
            int other = -1 - child;
            if (other != proxy && (!bp->proxies[other].moved || proxy < other)) {
                rgPushPair(s, proxy, other);
            }
            continue;
        }
        if (rgFloatBoxesMeet(&bp->nodes[child + 1].box, &box)) {
            stack[depth++] = child + 1;
        }
        if (rgFloatBoxesMeet(&bp->nodes[child].box, &box)) {
            stack[depth++] = child;
        }
    }
}

static void rgSearchUnbounded(rgSearch* s) {
    const rgBroadphase* bp = s->bp;
    for (int u = 0; u < bp->proxyCount && bp->unboundedCount > 0; ++u) {
        if (!bp->proxies[u].used || !bp->proxies[u].unbounded) {
            continue;
        }
        for (int p = 0; p < bp->proxyCount && s->result == rg_ok; ++p) {
            const rgProxy* other = &bp->proxies[p];
            bool twice = other->unbounded && p < u; // reported by the lower one
            if (p != u && other->used && !twice && (other->moved || bp->proxies[u].moved)) {
                rgPushPair(s, u, p);
            }
        }
    }
}

static void rgSearchMoved(rgSearch* s) {
    const rgBroadphase* bp = s->bp;
    // In the order of the tree, so that neighbours in space follow each other.
    for (int n = 0; n < bp->nodeCount && s->result == rg_ok; ++n) {
        int proxy = -1 - bp->nodes[n].child;
        if (n != 1 && proxy >= 0 && bp->proxies[proxy].leaf == n && bp->proxies[proxy].moved) {
            rgSearchTree(s, proxy);
        }
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
    return !bp->proxies[p.a].moved && !bp->proxies[p.b].moved;
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
            bool fresh = bp->proxies[pair.a].fresh || bp->proxies[pair.b].fresh;
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
    bool rebuild = bp->nodeCount == 0 || bp->movesSinceBuild > bp->leafCount;
    for (int p = 0; p < bp->proxyCount && !rebuild; ++p) {
        rgProxy* proxy = &bp->proxies[p];
        if (!proxy->moved || !proxy->used || proxy->unbounded) {
            continue;
        }
        if (proxy->leaf < 0) {
            rebuild = !rgInsertLeaf(bp, p);
        } else {
            bp->nodes[proxy->leaf].box = proxy->fat;
            rgRefitAbove(bp, proxy->leaf);
        }
    }
    return rebuild ? rgBuildTree(bp) : rg_ok;
}

static void rgClearMoved(rgBroadphase* bp) {
    for (int p = 0; p < bp->proxyCount; ++p) {
        bp->proxies[p].moved = bp->proxies[p].fresh = false;
    }
    while (bp->proxyCount > 0 && !bp->proxies[bp->proxyCount - 1].used) {
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
    rgBox a = bp->proxies[pair.a].box;
    rgVec3 grow = rgVec(margin, margin, margin);
    a.lower = rgSub(a.lower, grow);
    a.upper = rgAdd(a.upper, grow);
    return rgBoxesMeet(&a, &bp->proxies[pair.b].box);
}

// ---- queries

void rgBroadphase_Query(const rgBroadphase* bp, rgBox box, rgProxyFcn* visit, void* context) {
    rgFloatBox wide = rgFloatBoxOf(&box, 0, 0);
    for (int p = 0; p < bp->proxyCount && bp->unboundedCount > 0; ++p) {
        const rgProxy* proxy = &bp->proxies[p];
        if (proxy->used && proxy->unbounded && rgBoxesMeet(&proxy->box, &box) &&
            !visit(p, context)) {
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
        } else if (rgBoxesMeet(&bp->proxies[-1 - node->child].box, &box) &&
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
        if (bp->proxies[p].used && bp->proxies[p].unbounded && left.maxFraction > 0) {
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
