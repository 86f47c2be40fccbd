// Blocks, islands and parts of a contact problem. Union-find with the smaller index as root keeps
// every order fixed.
#include "contact/layout.h"

#include "contact/problem.h"

#include <string.h>

// Union-find: parent[i] = i at first.
static int rgRoot(int* parent, int i) {
    while (parent[i] != i) {
        parent[i] = parent[parent[i]];
        i = parent[i];
    }
    return i;
}

static void rgJoin(int* parent, int a, int b) {
    a = rgRoot(parent, a);
    b = rgRoot(parent, b);
    if (a < b) {
        parent[b] = a;
    } else {
        parent[a] = b;
    }
}

static int rgRowsPerBlock(const rgBlock* block) {
    return block->kind == rg_blockBox ? 1 : RG_BLOCK_ROWS;
}

static void rgLayout_SplitBlocks(rgLayout* layout, const rgContactProblem* problem) {
    int count = 0;
    for (int b = 0; b < problem->blockCount; ++b) {
        const rgBlock* block = problem->blocks + b;
        int step = rgRowsPerBlock(block);
        for (int i = 0; i < block->rowCount; i += step) {
            int rows = RG_MIN(step, block->rowCount - i);
            layout->blocks[count] = (rgLayoutBlock){b, block->firstRow + i, rows};
            for (int k = 0; k < rows; ++k) {
                layout->blockOfRow[block->firstRow + i + k] = count;
            }
            ++count;
        }
    }
    layout->blockCount = count;
}

static int rgCountBlocks(const rgContactProblem* problem) {
    int count = 0;
    for (int b = 0; b < problem->blockCount; ++b) {
        int step = rgRowsPerBlock(problem->blocks + b);
        count += (problem->blocks[b].rowCount + step - 1) / step;
    }
    return count;
}

// Number classes in the order of their first members: out[i] becomes the number of i's class.
static int rgNumberClasses(int* parent, int count, int* out) {
    int classes = 0;
    for (int i = 0; i < count; ++i) {
        int root = rgRoot(parent, i);
        out[i] = root == i ? classes++ : out[root];
    }
    return classes;
}

void rgGroup(int count, const int* classOf, int classes, int* start, int* items, int* place) {
    memset(start, 0, (size_t)(classes + 1) * sizeof(int));
    for (int i = 0; i < count; ++i) {
        place[i] = start[classOf[i] + 1]++;
    }
    for (int k = 0; k < classes; ++k) {
        start[k + 1] += start[k];
    }
    for (int i = 0; i < count; ++i) {
        items[start[classOf[i]] + place[i]] = i;
    }
}

// Velocities that the same blocks touch move together: neighbours among them become one part, so
// that a free body with a diagonal mass matrix is one part of six rather than six of one.
static rgResult rgJoinByBlocks(const rgLayout* layout, const rgSparse* J, rgArena* arena,
                               int* parent) {
    int nv = J->columnCount;
    uint64_t* signature = RG_TAKE(arena, uint64_t, nv);
    int* last = RG_TAKE(arena, int, nv);
    if (arena->failed) {
        return rg_errorMemory;
    }
    for (int v = 0; v < nv; ++v) {
        signature[v] = 0;
        last[v] = -1;
    }
    for (int i = 0; i < J->rowCount; ++i) {
        int block = layout->blockOfRow[i];
        for (int k = J->rowStart[i]; k < J->rowStart[i + 1]; ++k) {
            int v = J->column[k];
            if (last[v] != block) {
                last[v] = block;
                signature[v] = (signature[v] ^ (uint64_t)(block + 1)) * 0x9e3779b97f4a7c15u;
            }
        }
    }
    for (int v = 1; v < nv; ++v) {
        if (signature[v] == signature[v - 1] && signature[v] != 0) {
            rgJoin(parent, v, v - 1);
        }
    }
    return rg_ok;
}

// Velocities that M couples, and neighbours that the same blocks touch.
static rgResult rgLayout_JoinVelocities(const rgLayout* layout, const rgDelassus* delassus,
                                        rgArena* arena, int* parent) {
    const rgSparse* mass = &delassus->mass;
    for (int i = 0; i < mass->rowCount; ++i) {
        parent[i] = i;
    }
    for (int i = 0; i < mass->rowCount; ++i) {
        for (int k = mass->rowStart[i]; k < mass->rowStart[i + 1] && mass->column[k] < i; ++k) {
            rgJoin(parent, i, mass->column[k]);
        }
    }
    return rgJoinByBlocks(layout, &delassus->jacobian, arena, parent);
}

// Trees are numbered along the velocities.
static void rgLayout_UseTrees(rgLayout* layout, const int* tree, int nv) {
    int count = nv > 0 ? tree[nv - 1] + 1 : 0;
    layout->partOfVelocity = tree;
    layout->partCount = count;
    layout->partStart[0] = 0;
    layout->partStart[count] = nv;
    for (int i = 1; i < nv && count > 1; ++i) {
        if (tree[i] != tree[i - 1]) {
            layout->partStart[tree[i]] = i;
        }
    }
    for (int i = 0; i < nv; ++i) {
        layout->partVelocities[i] = i;
        layout->placeInPart[i] = i - layout->partStart[tree[i]];
    }
}

static rgResult rgLayout_FindParts(rgLayout* layout, const rgDelassus* delassus, rgArena* arena) {
    int nv = delassus->mass.rowCount;
    int* parent = RG_TAKE(arena, int, nv);
    int* part = RG_TAKE(arena, int, nv);
    layout->placeInPart = RG_TAKE(arena, int, nv);
    layout->partVelocities = RG_TAKE(arena, int, nv);
    layout->partStart = RG_TAKE(arena, int, nv + 1);
    layout->partSize = RG_TAKE(arena, int, nv + 1);
    if (arena->failed) {
        return rg_errorMemory;
    }
    if (delassus->tree != NULL) {
        rgLayout_UseTrees(layout, delassus->tree, nv);
    } else {
        rgResult result = rgLayout_JoinVelocities(layout, delassus, arena, parent);
        if (result != rg_ok) {
            return result;
        }
        layout->partCount = rgNumberClasses(parent, nv, part);
        layout->partOfVelocity = part;
        rgGroup(nv, part, layout->partCount, layout->partStart, layout->partVelocities,
                layout->placeInPart);
    }
    for (int p = 0; p < layout->partCount; ++p) {
        layout->partSize[p] = layout->partStart[p + 1] - layout->partStart[p];
    }
    return rg_ok;
}

// Blocks that an entry of G couples.
static void rgJoinByMatrix(const rgLayout* layout, const rgContactProblem* problem, int* parent) {
    for (int i = 0; i < problem->rowCount; ++i) {
        rgGivenRow row = rgContactProblem_Row(problem, i);
        int last = layout->blockOfRow[i]; // neighbouring columns mostly belong to one block
        for (int k = row.start; k < row.end; ++k) {
            int block = layout->blockOfRow[rgGivenRow_Column(&row, k)];
            if (row.value[k] != 0 && block != last) {
                rgJoin(parent, layout->blockOfRow[i], block);
                last = block;
            }
        }
    }
}

// Blocks that touch the same part. Rows of a block mostly touch the same parts, with all velocities
// of each, which stand side by side where trees number them.
static rgResult rgJoinByParts(rgLayout* layout, const rgDelassus* delassus, rgArena* arena,
                              int* parent) {
    const rgSparse* J = &delassus->jacobian;
    int* last = RG_TAKE(arena, int, layout->partCount); // block that touched a part last
    if (last == NULL) {
        return rg_errorMemory;
    }
    for (int p = 0; p < layout->partCount; ++p) {
        last[p] = -1;
    }
    for (int i = 0; i < J->rowCount; ++i) {
        int block = layout->blockOfRow[i], end = J->rowStart[i + 1];
        for (int k = J->rowStart[i]; k < end; ++k) {
            int p = layout->partOfVelocity[J->column[k]];
            if (last[p] != block && last[p] >= 0) {
                rgJoin(parent, block, last[p]);
            }
            last[p] = block;
            int final = k + layout->partSize[p] - 1;
            bool whole = delassus->tree != NULL && final < end &&
                         layout->partOfVelocity[J->column[final]] == p;
            k = whole ? final : k;
        }
    }
    layout->blockOfPart = last;
    return rg_ok;
}

// True if every block moves the only part, that of a single robot.
static bool rgLayout_IsWhole(const rgLayout* layout, const rgDelassus* delassus) {
    const int* rowStart = delassus->jacobian.rowStart;
    bool whole = delassus->kind == rg_delassusVelocity && layout->partCount == 1;
    for (int i = 0; i < layout->blockCount && whole; ++i) {
        int first = layout->blocks[i].firstRow;
        whole = rowStart[first + layout->blocks[i].rowCount] > rowStart[first];
    }
    return whole && layout->blockCount > 0;
}

// All blocks together.
static void rgLayout_MakeOne(rgLayout* layout) {
    layout->islandCount = 1;
    layout->islandStart[0] = 0;
    layout->islandStart[1] = layout->blockCount;
    for (int i = 0; i < layout->blockCount; ++i) {
        layout->islandOfBlock[i] = 0;
        layout->members[i] = layout->placeOfBlock[i] = i;
    }
}

static rgResult rgLayout_FindIslands(rgLayout* layout, const rgContactProblem* problem, bool split,
                                     rgArena* arena) {
    int count = layout->blockCount;
    int* parent = RG_TAKE(arena, int, count);
    layout->islandOfBlock = RG_TAKE(arena, int, count);
    layout->islandStart = RG_TAKE(arena, int, count + 1);
    layout->members = RG_TAKE(arena, int, count);
    layout->placeOfBlock = RG_TAKE(arena, int, count);
    if (arena->failed) {
        return rg_errorMemory;
    }
    if (rgLayout_IsWhole(layout, &problem->delassus)) {
        rgLayout_MakeOne(layout);
        parent[0] = 0;
        layout->blockOfPart = parent;
        return rg_ok;
    }
    for (int i = 0; i < count; ++i) {
        bool joined = i > 0 && (!split || layout->blocks[i].given == layout->blocks[i - 1].given);
        parent[i] = joined ? rgRoot(parent, i - 1) : i;
    }
    rgResult result = rg_ok;
    if (split && problem->delassus.kind == rg_delassusVelocity) {
        result = rgJoinByParts(layout, &problem->delassus, arena, parent);
    } else if (split) {
        rgJoinByMatrix(layout, problem, parent);
    }
    layout->islandCount = rgNumberClasses(parent, count, layout->islandOfBlock);
    rgGroup(count, layout->islandOfBlock, layout->islandCount, layout->islandStart, layout->members,
            layout->placeOfBlock);
    return result;
}

rgResult rgBuildLayout(const rgContactProblem* problem, bool split, rgArena* arena,
                       rgLayout* layout) {
    *layout = (rgLayout){0};
    layout->blocks = RG_TAKE(arena, rgLayoutBlock, rgCountBlocks(problem));
    layout->blockOfRow = RG_TAKE(arena, int, problem->rowCount);
    if (arena->failed) {
        return rg_errorMemory;
    }
    rgLayout_SplitBlocks(layout, problem);
    if (problem->delassus.kind == rg_delassusVelocity) {
        rgResult result = rgLayout_FindParts(layout, &problem->delassus, arena);
        if (result != rg_ok) {
            return result;
        }
    }
    return rgLayout_FindIslands(layout, problem, split, arena);
}
