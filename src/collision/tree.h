// Tree of boxes with up to eight children per node, so that one comparison of eight lanes meets all
// of them. Boxes are floats rounded outward. Leaves are the proxies of a broadphase.
#pragma once
#include "collision/internal.h"
#include "math/kernels.h"

#define RG_TREE_WIDTH 8
#define RG_TREE_DEPTH 32 // deeper and the tree is rebuilt
#define RG_TREE_STACK 256

typedef struct rgFloatBox {
    float lower[3], upper[3];
} rgFloatBox;

// 256 bytes. The box of a node is in its parent's slot. Children come after their parents.
typedef struct rgTreeNode {
    float lower[3][RG_TREE_WIDTH], upper[3][RG_TREE_WIDTH]; // empty slots: inverted, meet nothing
    int32_t child[RG_TREE_WIDTH];                           // a node, or a proxy
    int32_t parent;                                         // RG_TREE_ROOT, RG_TREE_DEAD
    int32_t parentSlot;
    uint8_t inner;  // slots that hold nodes
    uint8_t leaves; // slots that hold proxies
    uint8_t moved;  // leaf slots whose proxies moved since the last update
    uint8_t padding[21];
} rgTreeNode;

#define RG_TREE_ROOT (-1)
#define RG_TREE_DEAD (-2) // its last child went

// Proxies whose boxes meet the given one; found has room for all leaves. Their number.
typedef int rgTreeQueryFcn(const rgTreeNode* nodes, const rgFloatBox* box, int32_t* found);
rgTreeQueryFcn* rgSelectTreeQuery(rgKernelSet choice);
int rgTreeQueryPlain(const rgTreeNode* nodes, const rgFloatBox* box, int32_t* found);
int rgTreeQueryAvx2(const rgTreeNode* nodes, const rgFloatBox* box, int32_t* found); // x86-64

typedef struct rgTree {
    rgTreeNode* nodes; // the root is the first
    int nodeCount, nodeCapacity;
    int32_t* places; // by proxy: node * RG_TREE_WIDTH + slot, or -1
    int placeCapacity;
} rgTree;

void rgTree_Free(rgTree* tree, const rgAllocator* allocator);
// Room for proxies up to count.
rgResult rgTree_Reserve(rgTree* tree, const rgAllocator* allocator, int used, int count);
// Anew, of the proxies in order (which is permuted), with the boxes of all proxies.
rgResult rgTree_Build(rgTree* tree, const rgAllocator* allocator, const rgFloatBox* boxes,
                      int32_t* order, int count);
// False: no room or too deep; the tree must be rebuilt.
bool rgTree_Insert(rgTree* tree, int proxy, const rgFloatBox* box);
void rgTree_Remove(rgTree* tree, int proxy);
// New box of a leaf; boxes above stay, until one of the two below.
void rgTree_SetBox(rgTree* tree, int proxy, const rgFloatBox* box);
void rgTree_GrowAbove(rgTree* tree, int proxy);
void rgTree_RefitAll(rgTree* tree);
void rgTree_MarkMoved(rgTree* tree, int proxy);

// Slots of a node whose boxes meet the given one.
static inline unsigned rgTreeNode_Meets(const rgTreeNode* n, const rgFloatBox* b) {
    unsigned hit = 0;
    for (unsigned k = 0; k < RG_TREE_WIDTH; ++k) {
        unsigned meets = (n->lower[0][k] <= b->upper[0]) & (b->lower[0] <= n->upper[0][k]) &
                         (n->lower[1][k] <= b->upper[1]) & (b->lower[1] <= n->upper[1][k]) &
                         (n->lower[2][k] <= b->upper[2]) & (b->lower[2] <= n->upper[2][k]);
        hit |= meets << k;
    }
    return hit;
}

// Number of the lowest set bit.
static inline int rgLowestBit(unsigned bits) {
    return __builtin_ctz(bits);
}
