// The tree of a broadphase: building, inserting, removing, refitting, and the plain query.
#include "collision/tree.h"

typedef rgFloatBox rgWideBox;

static inline rgWideBox rgWidenBox(const rgFloatBox* box) {
    return *box;
}

static inline unsigned rgMeetsWide(const rgTreeNode* node, const rgWideBox* box) {
    return rgTreeNode_Meets(node, box);
}

#include "collision/tree_query.h"

int rgTreeQueryPlain(const rgTreeNode* nodes, const rgFloatBox* box, int32_t* found) {
    return rgTreeQueryWith(nodes, box, found);
}

rgTreeQueryFcn* rgSelectTreeQuery(rgKernelSet choice) {
#if defined(__x86_64__)
    if (rgSelectKernels(choice)->set != rg_kernelsPlain) {
        return rgTreeQueryAvx2;
    }
#else
    (void)choice;
#endif
    return rgTreeQueryPlain;
}

void rgTree_Free(rgTree* tree, const rgAllocator* allocator) {
    rgRelease(allocator, tree->nodes);
    rgRelease(allocator, tree->places);
    *tree = (rgTree){0};
}

rgResult rgTree_Reserve(rgTree* tree, const rgAllocator* allocator, int used, int count) {
    return rgReserve(allocator, (void**)&tree->places, &tree->placeCapacity, used, count,
                     sizeof(int32_t));
}

// ---- boxes and slots

static void rgFloatBox_Grow(rgFloatBox* a, const rgFloatBox* b) {
    for (int i = 0; i < 3; ++i) {
        a->lower[i] = RG_MIN(a->lower[i], b->lower[i]);
        a->upper[i] = RG_MAX(a->upper[i], b->upper[i]);
    }
}

static bool rgFloatBox_Holds(const rgFloatBox* a, const rgFloatBox* b) {
    return (a->lower[0] <= b->lower[0]) & (a->upper[0] >= b->upper[0]) &
           (a->lower[1] <= b->lower[1]) & (a->upper[1] >= b->upper[1]) &
           (a->lower[2] <= b->lower[2]) & (a->upper[2] >= b->upper[2]);
}

static float rgFloatBox_Cost(const rgFloatBox* a) {
    float x = a->upper[0] - a->lower[0], y = a->upper[1] - a->lower[1],
          z = a->upper[2] - a->lower[2];
    return x * y + y * z + z * x;
}

static rgFloatBox rgSlot_Box(const rgTreeNode* node, int slot) {
    return (rgFloatBox){{node->lower[0][slot], node->lower[1][slot], node->lower[2][slot]},
                        {node->upper[0][slot], node->upper[1][slot], node->upper[2][slot]}};
}

static void rgSlot_SetBox(rgTreeNode* node, int slot, const rgFloatBox* box) {
    for (int k = 0; k < 3; ++k) {
        node->lower[k][slot] = box->lower[k];
        node->upper[k][slot] = box->upper[k];
    }
}

static void rgSlot_Clear(rgTreeNode* node, int slot) {
    const rgFloatBox none = {{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}};
    uint8_t others = (uint8_t) ~(1u << slot);
    rgSlot_SetBox(node, slot, &none);
    node->inner &= others;
    node->leaves &= others;
    node->moved &= others;
}

static void rgTree_SetLeaf(rgTree* tree, int at, int slot, int proxy, const rgFloatBox* box) {
    rgTreeNode* node = &tree->nodes[at];
    rgSlot_SetBox(node, slot, box);
    node->child[slot] = proxy;
    node->leaves |= (uint8_t)(1u << slot);
    tree->places[proxy] = at * RG_TREE_WIDTH + slot;
}

// An empty node below a slot; -1: the root.
static int rgTree_AddNode(rgTree* tree, int parent, int slot) {
    int at = tree->nodeCount++;
    rgTreeNode* node = &tree->nodes[at];
    node->parent = parent;
    node->parentSlot = slot;
    for (int k = 0; k < RG_TREE_WIDTH; ++k) {
        rgSlot_Clear(node, k);
    }
    if (parent >= 0) {
        rgTreeNode* above = &tree->nodes[parent];
        above->child[slot] = at;
        above->inner |= (uint8_t)(1u << slot);
        above->leaves &= (uint8_t) ~(1u << slot);
    }
    return at;
}

static rgFloatBox rgTreeNode_Bounds(const rgTreeNode* node) {
    rgFloatBox box;
    for (int k = 0; k < 3; ++k) {
        const float *low = node->lower[k], *high = node->upper[k];
        float l[4], u[4];
        for (int i = 0; i < 4; ++i) {
            l[i] = RG_MIN(low[i], low[i + 4]);
            u[i] = RG_MAX(high[i], high[i + 4]);
        }
        box.lower[k] = RG_MIN(RG_MIN(l[0], l[1]), RG_MIN(l[2], l[3]));
        box.upper[k] = RG_MAX(RG_MAX(u[0], u[1]), RG_MAX(u[2], u[3]));
    }
    return box;
}

// ---- building

typedef struct rgBuild {
    const rgFloatBox* boxes;
    int32_t* order;
} rgBuild;

typedef struct rgRange {
    int first, count;
} rgRange;

typedef struct rgBuildItem {
    int parent, slot;
    rgRange range;
} rgBuildItem;

static float rgCenterOf(const rgBuild* build, int proxy, int axis) {
    const rgFloatBox* b = &build->boxes[proxy];
    return b->lower[axis] + b->upper[axis];
}

// Axis along which the centers extend most, and its middle.
static int rgLongestAxis(const rgBuild* build, rgRange range, float* middle) {
    float low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY};
    for (int i = range.first; i < range.first + range.count; ++i) {
        for (int k = 0; k < 3; ++k) {
            float c = rgCenterOf(build, build->order[i], k);
            low[k] = RG_MIN(low[k], c);
            high[k] = RG_MAX(high[k], c);
        }
    }
    int axis = 0;
    for (int k = 1; k < 3; ++k) {
        axis = high[k] - low[k] > high[axis] - low[axis] ? k : axis;
    }
    *middle = 0.5f * low[axis] + 0.5f * high[axis];
    return axis;
}

// Split in the middle of the centers along their longest extent; in halves by number when that is
// lopsided, so that the depth stays small. Returns the number on the left.
static int rgSplit(const rgBuild* build, rgRange range) {
    float middle;
    int axis = rgLongestAxis(build, range, &middle);
    int i = range.first, j = range.first + range.count - 1;
    while (i <= j) {
        if (rgCenterOf(build, build->order[i], axis) < middle) {
            i += 1;
        } else {
            int32_t swap = build->order[i];
            build->order[i] = build->order[j];
            build->order[j--] = swap;
        }
    }
    int left = i - range.first, least = RG_MAX(RG_TREE_WIDTH / 2, range.count / 8);
    return left < least || left > range.count - least ? range.count / 2 : left;
}

// Cut the largest part again and again until there are eight, or all fit a node.
static int rgPartition(const rgBuild* build, rgRange range, rgRange parts[RG_TREE_WIDTH]) {
    int count = 1;
    parts[0] = range;
    while (count < RG_TREE_WIDTH) {
        int most = 0;
        for (int k = 1; k < count; ++k) {
            most = parts[k].count > parts[most].count ? k : most;
        }
        if (parts[most].count <= RG_TREE_WIDTH) {
            break;
        }
        int left = rgSplit(build, parts[most]);
        parts[count++] = (rgRange){parts[most].first + left, parts[most].count - left};
        parts[most].count = left;
    }
    return count;
}

static void rgTree_FillLeaves(rgTree* tree, const rgBuild* build, int at, rgRange range) {
    for (int k = 0; k < range.count; ++k) {
        int proxy = build->order[range.first + k];
        rgTree_SetLeaf(tree, at, k, proxy, &build->boxes[proxy]);
    }
}

rgResult rgTree_Build(rgTree* tree, const rgAllocator* allocator, const rgFloatBox* boxes,
                      int32_t* order, int count) {
    // Parts have four leaves or more: at most count / 2 nodes. The rest is room for insertions.
    int room = count / 2 + count / 4 + 16;
    if (rgReserve(allocator, (void**)&tree->nodes, &tree->nodeCapacity, tree->nodeCount, room,
                  sizeof(rgTreeNode)) != rg_ok) {
        return rg_errorMemory;
    }
    rgBuild build = {boxes, order};
    rgBuildItem stack[RG_TREE_STACK];
    int depth = 0;
    tree->nodeCount = 0;
    if (count > 0) {
        stack[depth++] = (rgBuildItem){RG_TREE_ROOT, 0, {0, count}};
    }
    while (depth > 0) {
        rgBuildItem item = stack[--depth];
        int at = rgTree_AddNode(tree, item.parent, item.slot);
        if (item.range.count <= RG_TREE_WIDTH) {
            rgTree_FillLeaves(tree, &build, at, item.range);
            continue;
        }
        rgRange parts[RG_TREE_WIDTH];
        int partCount = rgPartition(&build, item.range, parts);
        for (int k = partCount - 1; k >= 0; --k) {
            stack[depth++] = (rgBuildItem){at, k, parts[k]};
        }
    }
    rgTree_RefitAll(tree);
    return rg_ok;
}

// ---- changing

void rgTree_RefitAll(rgTree* tree) {
    for (int n = tree->nodeCount - 1; n > 0; --n) {
        const rgTreeNode* node = &tree->nodes[n];
        if (node->parent >= 0) {
            rgFloatBox box = rgTreeNode_Bounds(node);
            rgSlot_SetBox(&tree->nodes[node->parent], node->parentSlot, &box);
        }
    }
}

// Let the boxes above a node hold the given one.
static void rgTree_Grow(rgTree* tree, int at, const rgFloatBox* box) {
    while (tree->nodes[at].parent >= 0) {
        int slot = tree->nodes[at].parentSlot;
        at = tree->nodes[at].parent;
        rgFloatBox above = rgSlot_Box(&tree->nodes[at], slot);
        if (rgFloatBox_Holds(&above, box)) {
            return;
        }
        rgFloatBox_Grow(&above, box);
        rgSlot_SetBox(&tree->nodes[at], slot, &above);
    }
}

void rgTree_GrowAbove(rgTree* tree, int proxy) {
    int at = tree->places[proxy] / RG_TREE_WIDTH, slot = tree->places[proxy] % RG_TREE_WIDTH;
    rgFloatBox box = rgSlot_Box(&tree->nodes[at], slot);
    rgTree_Grow(tree, at, &box);
}

void rgTree_SetBox(rgTree* tree, int proxy, const rgFloatBox* box) {
    int place = tree->places[proxy];
    rgSlot_SetBox(&tree->nodes[place / RG_TREE_WIDTH], place % RG_TREE_WIDTH, box);
}

void rgTree_MarkMoved(rgTree* tree, int proxy) {
    int place = tree->places[proxy];
    tree->nodes[place / RG_TREE_WIDTH].moved |= (uint8_t)(1u << place % RG_TREE_WIDTH);
}

// Slot among the given ones that grows least.
static int rgCheapestSlot(const rgTreeNode* node, unsigned slots, const rgFloatBox* box) {
    int best = -1;
    float least = INFINITY;
    for (; slots != 0; slots &= slots - 1) {
        int slot = rgLowestBit(slots);
        rgFloatBox grown = rgSlot_Box(node, slot);
        float before = rgFloatBox_Cost(&grown);
        rgFloatBox_Grow(&grown, box);
        float more = rgFloatBox_Cost(&grown) - before;
        if (best < 0 || more < least) {
            least = more;
            best = slot;
        }
    }
    return best;
}

bool rgTree_Insert(rgTree* tree, int proxy, const rgFloatBox* box) {
    if (tree->nodeCount == 0 || tree->nodeCount == tree->nodeCapacity) {
        return false;
    }
    const unsigned all = (1u << RG_TREE_WIDTH) - 1;
    int at = 0, depth = 0, slot;
    for (;;) {
        rgTreeNode* node = &tree->nodes[at];
        unsigned empty = all & ~(unsigned)(node->inner | node->leaves);
        if (empty != 0) {
            slot = rgLowestBit(empty);
            break;
        }
        slot = rgCheapestSlot(node, node->inner ? node->inner : node->leaves, box);
        if (++depth > RG_TREE_DEPTH) {
            return false;
        }
        if (node->inner) {
            at = node->child[slot];
            continue;
        }
        // A full node of leaves: one of them and the new one share a node below.
        int other = node->child[slot];
        rgFloatBox otherBox = rgSlot_Box(node, slot);
        at = rgTree_AddNode(tree, at, slot);
        rgTree_SetLeaf(tree, at, 0, other, &otherBox);
        slot = 1;
        break;
    }
    rgTree_SetLeaf(tree, at, slot, proxy, box);
    rgTree_Grow(tree, at, box);
    return true;
}

void rgTree_Remove(rgTree* tree, int proxy) {
    int place = tree->places[proxy];
    tree->places[proxy] = -1;
    if (place < 0) {
        return;
    }
    int at = place / RG_TREE_WIDTH;
    rgTreeNode* node = &tree->nodes[at];
    rgSlot_Clear(node, place % RG_TREE_WIDTH);
    while (node->inner == 0 && node->leaves == 0 && node->parent >= 0) {
        rgTreeNode* above = &tree->nodes[node->parent];
        rgSlot_Clear(above, node->parentSlot);
        node->parent = RG_TREE_DEAD;
        node = above;
    }
}
