// Body of the query of a tree, for each instruction set; rgMeetsWide compares one node.
#pragma once
#include "collision/tree.h"

static inline int rgTreeQueryWith(const rgTreeNode* nodes, const rgFloatBox* box, int32_t* found) {
    int32_t stack[RG_TREE_STACK];
    int depth = 0, count = 0;
    stack[depth++] = 0;
    rgWideBox wide = rgWidenBox(box);
    while (depth > 0) {
        const rgTreeNode* node = &nodes[stack[--depth]];
        unsigned hit = rgMeetsWide(node, &wide);
        for (unsigned inner = hit & node->inner; inner != 0; inner &= inner - 1) {
            stack[depth++] = node->child[rgLowestBit(inner)];
        }
        for (unsigned leaves = hit & node->leaves; leaves != 0; leaves &= leaves - 1) {
            found[count++] = node->child[rgLowestBit(leaves)];
        }
    }
    return count;
}
