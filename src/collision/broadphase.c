// Broadphase: a tree of fat boxes, and the list of pairs that overlap in it.
// Leaves that move are refitted and looked up in the tree; it is rebuilt once twice as many have
// moved as there are. The pairs depend on the fat boxes only, never on the tree.
#include "collision/tree.h"

#include <string.h>

#define RG_BROADPHASE_COOKIE 0x62726f64u
#define RG_AHEAD             12 // steps

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
    uint8_t* flags;
    int boxCapacity, fatCapacity, flagCapacity;
    int freeHint; // no free proxy below
    bool quiet;   // nothing moved before the last update, hence pairs are as they were
    int leafCount, unboundedCount, movedCount;
    rgTree tree;
    rgTreeQueryFcn* query;
    int movesSinceBuild;
    int32_t* order; // scratch of the builder and of the search, one per proxy
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
    rgBroadphaseDef usual = rgDefaultBroadphaseDef();
    def = def != NULL ? def : &usual;
    if (def->cookie != RG_BROADPHASE_COOKIE || broadphase == NULL || !(def->fatten >= 0) ||
        !(def->fattenRelative >= 0) || (int)def->kernels < 0 || def->kernels > rg_kernelsNeon) {
        return rg_errorArgument;
    }
    rgBroadphase* made = rgAllocate(&def->allocator, 1, sizeof(rgBroadphase));
    if (made == NULL) {
        return rg_errorMemory;
    }
    made->def = *def;
    made->def.allocator = rgResolveAllocator(&def->allocator);
    made->query = rgSelectTreeQuery(def->kernels);
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
    rgRelease(&allocator, bp->flags);
    rgTree_Free(&bp->tree, &allocator);
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

// The next float away from zero (away) or toward it. Zeros have the sign of the number before.
static inline float rgStep(float f, bool step, bool away) {
    int32_t bits;
    memcpy(&bits, &f, sizeof(bits));
    bits += step ? (away ? 1 : -1) : 0;
    memcpy(&f, &bits, sizeof(bits));
    return f;
}

static inline float rgRoundDown(double x) {
    float f = (float)x;
    return rgStep(f, f > x, x < 0);
}

static inline float rgRoundUp(double x) {
    float f = (float)x;
    return rgStep(f, f<x, x> 0);
}

static rgFloatBox rgFloatBoxOf(const rgBox* box, double grow, double relative) {
    rgVec3 size = rgSub(box->upper, box->lower);
    double g = grow + relative * RG_MAX(size.x, RG_MAX(size.y, size.z));
    return (rgFloatBox){
        {rgRoundDown(box->lower.x - g), rgRoundDown(box->lower.y - g),
         rgRoundDown(box->lower.z - g)},
        {rgRoundUp(box->upper.x + g), rgRoundUp(box->upper.y + g), rgRoundUp(box->upper.z + g)}};
}

static bool rgFatHolds(const rgFloatBox* fat, const rgBox* box) {
    rgTwo lowerXy = {fat->lower[0], fat->lower[1]}, upperXy = {fat->upper[0], fat->upper[1]};
    rgTwoInts xy = (lowerXy <= rgLoadTwo(&box->lower.x)) & (upperXy >= rgLoadTwo(&box->upper.x));
    return rgAllOf(xy) & (fat->lower[2] <= box->lower.z) & (fat->upper[2] >= box->upper.z);
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

// ---- proxies

static bool rgIsBoxValid(const rgBox* b) {
    return rgAllOf(rgLoadTwo(&b->lower.x) <= rgLoadTwo(&b->upper.x)) & (b->lower.z <= b->upper.z);
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
        {(void**)&bp->flags, &bp->flagCapacity, bp->proxyCount, count, 1},
        {(void**)&bp->order, &bp->orderCapacity, 0, count, sizeof(int32_t)},
        {(void**)&bp->bucket, &bp->bucketCapacity, 0, count + 1, sizeof(int32_t)},
    };
    rgResult result = rgTree_Reserve(&bp->tree, &bp->def.allocator, bp->proxyCount, count);
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
    bp->tree.places[at] = -1;
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
    rgTree_Remove(&bp->tree, proxy);
    bp->unboundedCount -= unbounded;
    bp->leafCount -= !unbounded;
    bp->flags[proxy] &= (uint8_t)~rg_proxyUsed;
    rgMarkMoved(bp, proxy); // its pairs go at the next update
    bp->freeHint = RG_MIN(bp->freeHint, proxy);
    return rg_ok;
}

rgResult rgBroadphase_MoveTo(rgBroadphase* bp, int proxy, const rgBox* box) {
    if (!rgIsBoxValid(box)) {
        return rg_errorArgument;
    }
    if (rgFatHolds(&bp->fats[proxy], box) || rgIsUnbounded(bp, proxy)) {
        bp->boxes[proxy] = *box;
        return rg_ok;
    }
    if (!rgIsBounded(box)) {
        return rg_errorArgument;
    }
    rgMoveProxyBox(bp, proxy, box);
    return rg_ok;
}

rgResult rgBroadphase_Move(rgBroadphase* bp, int proxy, rgBox box) {
    return rgIsProxy(bp, proxy) ? rgBroadphase_MoveTo(bp, proxy, &box) : rg_errorArgument;
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

static void rgMarkTree(rgBroadphase* bp) {
    for (int p = 0; p < bp->proxyCount; ++p) {
        if (bp->flags[p] & rg_proxyMoved && rgIsLeaf(bp, p)) {
            rgTree_MarkMoved(&bp->tree, p);
        }
    }
}

// Pairs of one proxy that moved. If both moved, the lower one finds the pair.
static void rgSearchProxy(rgSearch* s, int proxy) {
    const rgBroadphase* bp = s->bp;
    int count = bp->query(bp->tree.nodes, &bp->fats[proxy], bp->order);
    for (int k = 0; k < count && s->result == rg_ok; ++k) {
        int other = bp->order[k];
        if (other > proxy || !(bp->flags[other] & rg_proxyMoved)) {
            rgPushPair(s, proxy, other);
        }
    }
}

// Every moved leaf, node by node: neighbours in space look at the same nodes.
static void rgSearchTree(rgSearch* s) {
    rgTree* tree = &s->bp->tree;
    for (int n = 0; n < tree->nodeCount; ++n) {
        rgTreeNode* node = &tree->nodes[n];
        for (unsigned moved = node->moved; moved != 0; moved &= moved - 1) {
            rgSearchProxy(s, node->child[rgLowestBit(moved)]);
        }
        node->moved = 0;
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
    rgMarkTree(s->bp);
    rgSearchTree(s);
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

static inline uint64_t rgPairOrder(rgProxyPair p) {
    return (uint64_t)(uint32_t)p.a << 32 | (uint32_t)p.b;
}

// Merge old pairs of which neither moved with the pairs found; both lists are sorted.
static void rgMergePairs(rgBroadphase* bp) {
    const rgProxyPair *old = bp->pairs.pairs, *found = bp->found.pairs;
    const int oldCount = bp->pairs.count, foundCount = bp->found.count;
    const uint8_t* flags = bp->flags;
    rgProxyPair* out = bp->next.pairs;
    int32_t* previous = bp->previous;
    int i = 0, count = 0;
    for (int j = 0; j <= foundCount; ++j) {
        uint64_t end = j < foundCount ? rgPairOrder(found[j]) : UINT64_MAX;
        for (; i < oldCount && rgPairOrder(old[i]) < end; ++i) {
            out[count] = old[i];
            previous[count] = i;
            count += !((flags[old[i].a] | flags[old[i].b]) & rg_proxyMoved);
        }
        if (j == foundCount) {
            break;
        }
        bool same = i < oldCount && rgPairOrder(old[i]) == end;
        bool fresh = (flags[found[j].a] | flags[found[j].b]) & rg_proxyFresh;
        out[count] = found[j];
        previous[count++] = same && !fresh ? i : -1;
        i += same;
    }
    bp->next.count = count;
    rgPairList swap = bp->pairs;
    bp->pairs = bp->next;
    bp->next = swap;
}

static rgResult rgRefreshTree(rgBroadphase* bp) {
    rgTree* tree = &bp->tree;
    bp->movesSinceBuild += bp->movedCount;
    bool rebuild = tree->nodeCount == 0 || bp->movesSinceBuild > 2 * bp->leafCount;
    bool many = bp->movedCount > bp->leafCount / 16;
    for (int p = 0; p < bp->proxyCount && !rebuild; ++p) {
        if (!(bp->flags[p] & rg_proxyMoved) || !rgIsLeaf(bp, p)) {
            continue;
        }
        if (tree->places[p] < 0) {
            rebuild = !rgTree_Insert(tree, p, &bp->fats[p]);
        } else {
            rgTree_SetBox(tree, p, &bp->fats[p]);
            if (!many) {
                rgTree_GrowAbove(tree, p);
            }
        }
    }
    if (rebuild) {
        bp->movesSinceBuild = 0;
        return rgTree_Build(tree, &bp->def.allocator, bp->fats, bp->order, rgListLeaves(bp));
    }
    if (many) {
        rgTree_RefitAll(tree);
    }
    return rg_ok;
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
    if (bp->movedCount == 0 && bp->quiet) {
        return rg_ok;
    }
    bp->quiet = false;
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
    bp->quiet = bp->movedCount == 0;
    rgMergePairs(bp);
    rgClearMoved(bp);
    return rg_ok;
}

const rgProxyPair* rgBroadphase_Pairs(const rgBroadphase* bp, int* count) {
    if (bp == NULL) {
        return rgNothing(count);
    }
    if (count != NULL) {
        *count = bp->pairs.count;
    }
    return bp->pairs.pairs;
}

rgPairChanges rgBroadphase_Changes(const rgBroadphase* bp) {
    return bp != NULL ? (rgPairChanges){bp->pairs.count, bp->previous} : (rgPairChanges){0};
}

bool rgBroadphase_BoxesOverlap(const rgBroadphase* bp, rgProxyPair pair, double margin) {
    if (bp == NULL) {
        return false;
    }
    const rgBox *a = &bp->boxes[pair.a], *b = &bp->boxes[pair.b];
    return (a->lower.x - margin <= b->upper.x) & (b->lower.x <= a->upper.x + margin) &
           (a->lower.y - margin <= b->upper.y) & (b->lower.y <= a->upper.y + margin) &
           (a->lower.z - margin <= b->upper.z) & (b->lower.z <= a->upper.z + margin);
}

const rgBox* rgBroadphase_Boxes(const rgBroadphase* bp) {
    return bp->boxes;
}

// ---- queries

void rgBroadphase_Query(const rgBroadphase* bp, rgBox box, rgProxyFcn* visit, void* context) {
    if (bp == NULL) {
        return;
    }
    rgFloatBox wide = rgFloatBoxOf(&box, 0, 0);
    for (int p = 0; p < bp->proxyCount && bp->unboundedCount > 0; ++p) {
        if (rgIsUnbounded(bp, p) && rgBoxesMeet(&bp->boxes[p], &box) && !visit(p, context)) {
            return;
        }
    }
    int32_t stack[RG_TREE_STACK];
    int depth = 0;
    stack[depth++] = 0;
    while (depth > 0 && bp->tree.nodeCount > 0) {
        const rgTreeNode* node = &bp->tree.nodes[stack[--depth]];
        unsigned hit = rgTreeNode_Meets(node, &wide);
        for (unsigned inner = hit & node->inner; inner != 0; inner &= inner - 1) {
            stack[depth++] = node->child[rgLowestBit(inner)];
        }
        for (unsigned leaves = hit & node->leaves; leaves != 0; leaves &= leaves - 1) {
            int proxy = node->child[rgLowestBit(leaves)];
            if (rgBoxesMeet(&bp->boxes[proxy], &box) && !visit(proxy, context)) {
                return;
            }
        }
    }
}

// True if a ray meets the box of a slot before its end.
static bool rgRayMeets(const rgRay* ray, const rgTreeNode* node, int slot) {
    double enter = 0, exit = ray->maxFraction;
    for (int i = 0; i < 3; ++i) {
        double o = rgVec3_At(ray->origin, i), d = rgVec3_At(ray->direction, i);
        double lower = node->lower[i][slot], upper = node->upper[i][slot];
        if (d == 0) {
            if (o < lower || o > upper) {
                return false;
            }
            continue;
        }
        double t1 = (lower - o) / d, t2 = (upper - o) / d;
        enter = RG_MAX(enter, RG_MIN(t1, t2));
        exit = RG_MIN(exit, RG_MAX(t1, t2));
    }
    return enter <= exit * (1 + 1e-12);
}

static void rgVisitRay(int proxy, rgRay* left, rgProxyRayFcn* visit, void* context) {
    double shorter = visit(proxy, left, context);
    left->maxFraction = RG_MIN(left->maxFraction, shorter);
}

void rgBroadphase_RayCast(const rgBroadphase* bp, const rgRay* ray, rgProxyRayFcn* visit,
                          void* context) {
    if (bp == NULL || ray == NULL) {
        return;
    }
    rgRay left = *ray;
    for (int p = 0; p < bp->proxyCount && bp->unboundedCount > 0; ++p) {
        if (rgIsUnbounded(bp, p) && left.maxFraction > 0) {
            rgVisitRay(p, &left, visit, context);
        }
    }
    int32_t stack[RG_TREE_STACK];
    int depth = 0;
    stack[depth++] = 0;
    while (depth > 0 && bp->tree.nodeCount > 0) {
        const rgTreeNode* node = &bp->tree.nodes[stack[--depth]];
        unsigned used = (unsigned)node->inner | node->leaves;
        for (; used != 0 && left.maxFraction > 0; used &= used - 1) {
            int slot = rgLowestBit(used);
            if (!rgRayMeets(&left, node, slot)) {
                continue;
            }
            if (node->inner >> slot & 1) {
                stack[depth++] = node->child[slot];
            } else {
                rgVisitRay(node->child[slot], &left, visit, context);
            }
        }
    }
}
