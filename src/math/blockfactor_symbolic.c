// Analysis of a block pattern: AMD order, elimination tree, fronts merged where that is predicted
// to save time, rows of each front, and the maps along which numbers travel.
#include "math/blockfactor_private.h"
#include "math/dissection.h"

#include <string.h>
#include <suitesparse/amd.h>
#include <suitesparse/camd.h>

// Scratch of the analysis, one array of blockCount integers each by default.
typedef struct rgAnalysis {
    rgBlockFactor* f;
    int n;
    int* mirror;   // entryCount: index of (j, i) for entry (i, j)
    int* first;    // AMD's order: block at each place
    int* place;    // its inverse
    int* parent;   // elimination tree over places
    int* mark;     //
    int* width;    // scalar columns of a node, by its last place
    int* order;    // scalar order of its front
    int* child;    // first child node
    int* sibling;  // next child of the same parent
    int* head;     // first column of a node, linked by next
    int* tail;     //
    int* next;     //
    int* front;    // front of each final position
    int* link;     // general purpose
    int* graph;    // AMD's copy of the graph
    int graphSize; //
} rgAnalysis;

enum { rg_analysisArrays = 14 };

// Least number of floating-point operations from which nested dissection is tried.
static const double rg_dissectionFlops = 80e6;

static int rgBlockSize(const rgBlockFactor* f, int block) {
    return f->blockStart[block + 1] - f->blockStart[block];
}

static rgResult rgAnalysis_Init(rgAnalysis* a, rgBlockFactor* f) {
    int n = f->blockCount;
    *a = (rgAnalysis){.f = f, .n = n, .graphSize = f->entryCount + f->entryCount / 5 + n + 1};
    size_t count =
        (size_t)rg_analysisArrays * ((size_t)n + 1) + (size_t)f->entryCount + (size_t)a->graphSize;
    rgResult result = rgBuffer_Reserve(&f->workMemory, &f->allocator, count * sizeof(int));
    if (result != rg_ok) {
        return result;
    }
    int* next = f->workMemory.memory;
    int** arrays[rg_analysisArrays] = {&a->first, &a->place, &a->parent,  &a->mark,  &a->width,
                                       &a->order, &a->child, &a->sibling, &a->head,  &a->tail,
                                       &a->next,  &a->front, &a->link,    &a->mirror};
    for (int i = 0; i < rg_analysisArrays; ++i) {
        *arrays[i] = next;
        next += n + 1;
    }
    next += f->entryCount; // the mirror is longer than the others
    a->graph = next;
    return rg_ok;
}

// Fails unless the pattern is symmetric. Rows are visited in ascending order, so that the entries
// (j, i) of each row j are met in their order too.
static rgResult rgFindMirrors(rgAnalysis* a) {
    const rgBlockFactor* f = a->f;
    memcpy(a->link, f->rowStart, (size_t)a->n * sizeof(int));
    for (int i = 0; i < a->n; ++i) {
        for (int k = f->rowStart[i]; k < f->rowStart[i + 1]; ++k) {
            int j = f->column[k];
            int m = a->link[j]++;
            if (m >= f->rowStart[j + 1] || f->column[m] != i) {
                return rg_errorArgument;
            }
            a->mirror[k] = m;
        }
    }
    return rg_ok;
}

// The graph of blocks without its diagonal, as AMD wants it: rows at parent[], lengths in width[].
static int rgCopyGraph(const rgAnalysis* a) {
    const rgBlockFactor* f = a->f;
    int used = 0;
    for (int i = 0; i < a->n; ++i) {
        a->parent[i] = used;
        for (int k = f->rowStart[i]; k < f->rowStart[i + 1]; ++k) {
            if (f->column[k] != i) {
                a->graph[used++] = f->column[k];
            }
        }
        a->width[i] = used - a->parent[i];
    }
    return used;
}

static void rgInvertOrder(rgAnalysis* a) {
    for (int i = 0; i < a->n; ++i) {
        a->place[a->first[i]] = i;
    }
}

// AMD on the graph of blocks, with our own memory.
static void rgOrderByMinimumDegree(rgAnalysis* a) {
    double control[AMD_CONTROL], info[AMD_INFO];
    amd_defaults(control);
    int used = rgCopyGraph(a);
    amd_2(a->n, a->parent, a->graph, a->width, a->graphSize, used, a->order, a->place, a->first,
          a->head, a->tail, a->next, a->mark, control, info);
    rgInvertOrder(a);
}

// Order one set of a nested dissection after the other.
static void rgOrderSets(rgAnalysis* a, const int* set) {
    double control[CAMD_CONTROL], info[CAMD_INFO];
    camd_defaults(control);
    int used = rgCopyGraph(a);
    camd_2(a->n, a->parent, a->graph, a->width, a->graphSize, used, a->order, a->place, a->first,
           a->head, a->tail, a->next, a->mark, control, info, set, a->link);
    rgInvertOrder(a);
}

// Liu's algorithm, with path compression in link.
static void rgBuildTree(rgAnalysis* a) {
    const rgBlockFactor* f = a->f;
    for (int i = 0; i < a->n; ++i) {
        int block = a->first[i];
        a->parent[i] = a->link[i] = -1;
        for (int k = f->rowStart[block]; k < f->rowStart[block + 1]; ++k) {
            int j = a->place[f->column[k]];
            while (j < i && j != -1) {
                int up = a->link[j];
                a->link[j] = i;
                if (up == -1) {
                    a->parent[j] = i;
                }
                j = up == -1 || up == i ? i : up;
            }
        }
    }
}

// Scalar order of the front of every single column: row i reaches the columns on the paths from its
// entries up to i.
static void rgCountRows(rgAnalysis* a) {
    const rgBlockFactor* f = a->f;
    for (int i = 0; i < a->n; ++i) {
        int block = a->first[i];
        int size = rgBlockSize(f, block);
        a->mark[i] = i;
        a->width[i] = a->order[i] = size;
        for (int k = f->rowStart[block]; k < f->rowStart[block + 1]; ++k) {
            for (int j = a->place[f->column[k]]; j < i && a->mark[j] != i; j = a->parent[j]) {
                a->mark[j] = i;
                a->order[j] += size;
            }
        }
    }
}

// Tree and row counts of an order; returns its arithmetic [flops of a Cholesky factorization].
static double rgEvaluateOrder(rgAnalysis* a) {
    rgBuildTree(a);
    rgCountRows(a);
    double flops = 0;
    for (int i = 0; i < a->n; ++i) {
        flops += rgPanelFlops(a->width[i], a->order[i]);
    }
    return flops;
}

// Minimum degree; where that leaves much arithmetic, nested dissection as well, and the better one.
static rgResult rgChooseOrder(rgAnalysis* a) {
    rgBlockFactor* f = a->f;
    rgOrderByMinimumDegree(a);
    double flops = rgEvaluateOrder(a);
    if (flops < rg_dissectionFlops) {
        return rg_ok;
    }
    size_t scratch = rgDissectionScratch(a->n, f->entryCount);
    rgResult result = rgBuffer_Reserve(&f->dissectionMemory, &f->allocator, scratch * sizeof(int));
    if (result != rg_ok) {
        return result;
    }
    rgBlockPattern pattern = {a->n, f->blockStart, f->rowStart, f->column};
    int* set = a->sibling;
    int* kept = a->child;
    rgDissect(&pattern, f->dissectionMemory.memory, set);
    memcpy(kept, a->first, (size_t)a->n * sizeof(int));
    rgOrderSets(a, set);
    if (rgEvaluateOrder(a) >= flops) {
        memcpy(a->first, kept, (size_t)a->n * sizeof(int));
        rgInvertOrder(a);
        rgEvaluateOrder(a);
    }
    return rg_ok;
}

// True if column nodes c and its parent p are faster as one front.
static bool rgMergeIsFaster(const rgAnalysis* a, int c, int p) {
    double apart =
        rgPredictedTime(a->width[c], a->order[c]) + rgPredictedTime(a->width[p], a->order[p]);
    return rgPredictedTime(a->width[c] + a->width[p], a->width[c] + a->order[p]) <= apart;
}

// Node c becomes part of its parent p; its children become p's.
static void rgMerge(rgAnalysis* a, int c, int p) {
    a->width[p] += a->width[c];
    a->order[p] += a->width[c];
    a->next[a->tail[c]] = a->head[p];
    a->head[p] = a->head[c];
}

// Append a list of nodes to p's children; link[p] is the last of them.
static void rgAppendChildren(rgAnalysis* a, int p, int first, int last) {
    if (first == -1) {
        return;
    }
    if (a->child[p] == -1) {
        a->child[p] = first;
    } else {
        a->sibling[a->link[p]] = first;
    }
    a->link[p] = last;
    a->sibling[last] = -1;
}

// A child whose rows are exactly p's front costs nothing to merge; it comes first.
static int rgFindExactChild(const rgAnalysis* a, int p) {
    int c = a->child[p];
    while (c != -1 && a->order[c] - a->width[c] != a->order[p]) {
        c = a->sibling[c];
    }
    return c;
}

// Go once through p's children and merge those that pay; children of merged ones become p's.
static void rgMergeChildren(rgAnalysis* a, int p) {
    int exact = rgFindExactChild(a, p);
    if (exact != -1) {
        rgMerge(a, exact, p);
    }
    int c = a->child[p];
    a->child[p] = a->link[p] = -1;
    while (c != -1) {
        int following = a->sibling[c];
        bool merged = c == exact;
        if (!merged && rgMergeIsFaster(a, c, p)) {
            rgMerge(a, c, p);
            merged = true;
        }
        if (merged) {
            rgAppendChildren(a, p, a->child[c], a->link[c]);
        } else {
            rgAppendChildren(a, p, c, c);
        }
        c = following;
    }
}

static void rgFormNodes(rgAnalysis* a) {
    for (int i = 0; i < a->n; ++i) {
        a->child[i] = a->sibling[i] = a->next[i] = -1;
        a->head[i] = a->tail[i] = i;
    }
    // Downwards, so that lists of children ascend.
    for (int i = a->n - 1; i >= 0; --i) {
        int p = a->parent[i];
        if (p != -1) {
            a->sibling[i] = a->child[p];
            a->child[p] = i;
        }
    }
    for (int p = 0; p < a->n; ++p) {
        rgMergeChildren(a, p);
    }
}

static void rgPlaceColumns(rgAnalysis* a, int node, int index, int* position) {
    rgBlockFactor* f = a->f;
    rgFront* front = &f->fronts[index];
    front->columnStart = *position;
    front->start = f->start[*position];
    for (int c = a->head[node]; c != -1; c = a->next[c]) {
        int block = a->first[c];
        int at = (*position)++;
        f->order[at] = block;
        f->position[block] = at;
        f->start[at + 1] = f->start[at] + rgBlockSize(f, block);
        a->front[at] = index;
    }
    front->columnCount = *position - front->columnStart;
    front->width = a->width[node];
    front->order = a->order[node];
}

// Number the nodes below a root in postorder and make them fronts. `link` holds the way back up and
// `mark` the front's number.
static int rgNumberTree(rgAnalysis* a, int root, int count, int* position) {
    int node = root;
    a->link[root] = -1;
    while (node != -1) {
        if (a->child[node] != -1) {
            // Down, taking the child off the list.
            int c = a->child[node];
            a->child[node] = a->sibling[c];
            a->link[c] = node;
            node = c;
            continue;
        }
        rgPlaceColumns(a, node, count, position);
        a->mark[node] = count++;
        node = a->link[node];
    }
    return count;
}

// Links between fronts from the rows: the parent holds the first row beyond the own columns.
static void rgLinkFronts(rgBlockFactor* f, const int* frontOf) {
    for (int s = 0; s < f->frontCount; ++s) {
        f->fronts[s].firstChild = f->fronts[s].nextSibling = -1;
    }
    for (int s = f->frontCount - 1; s >= 0; --s) {
        rgFront* front = &f->fronts[s];
        front->stack = 0;
        if (front->rowCount > 0) {
            rgFront* parent = &f->fronts[frontOf[f->rows[front->rowStart]]];
            front->nextSibling = parent->firstChild;
            parent->firstChild = s;
            front->stack = 1 - parent->stack;
        }
    }
}

static rgResult rgMakeFronts(rgAnalysis* a) {
    rgBlockFactor* f = a->f;
    size_t n = (size_t)a->n;
    size_t entries = (size_t)(f->entryCount + a->n) / 2;
    rgResult result = rgBuffer_Reserve(&f->frontMemory, &f->allocator,
                                       (n + 1) * sizeof(rgFront) + entries * sizeof(rgEntry) +
                                           3 * (n + 1) * sizeof(int));
    if (result != rg_ok) {
        return result;
    }
    f->fronts = f->frontMemory.memory;
    f->entries = (rgEntry*)(f->fronts + n + 1);
    f->order = (int*)(f->entries + entries);
    f->position = f->order + n + 1;
    f->start = f->position + n + 1;
    f->start[0] = 0;
    f->frontCount = 0;
    // Roots are nodes whose columns end a tree.
    int position = 0;
    for (int i = 0; i < a->n; ++i) {
        if (a->parent[i] == -1) {
            f->frontCount = rgNumberTree(a, i, f->frontCount, &position);
        }
    }
    RG_ASSERT(position == a->n);
    return rg_ok;
}

// Visit, for each position in ascending order, the fronts in which it is a row; either count or
// write. `up` holds the parent of each front as far as known: it is found while counting.
static void rgCountFrontRows(rgAnalysis* a, int* up) {
    rgBlockFactor* f = a->f;
    for (int s = 0; s < f->frontCount; ++s) {
        f->fronts[s].rowCount = 0;
        up[s] = -1;
        a->mark[s] = -1;
    }
    for (int i = 0; i < a->n; ++i) {
        int block = f->order[i];
        int own = a->front[i];
        for (int k = f->rowStart[block]; k < f->rowStart[block + 1]; ++k) {
            int j = f->position[f->column[k]];
            if (j >= i) {
                continue;
            }
            for (int s = a->front[j]; s != own && a->mark[s] != i; s = up[s]) {
                a->mark[s] = i;
                f->fronts[s].rowCount++;
                up[s] = up[s] == -1 ? own : up[s];
            }
        }
    }
}

static void rgWriteFrontRows(rgAnalysis* a, const int* up) {
    rgBlockFactor* f = a->f;
    for (int s = 0; s < f->frontCount; ++s) {
        a->mark[s] = -1;
        f->fronts[s].rowCount = 0;
    }
    for (int i = 0; i < a->n; ++i) {
        int block = f->order[i];
        int own = a->front[i];
        for (int k = f->rowStart[block]; k < f->rowStart[block + 1]; ++k) {
            int j = f->position[f->column[k]];
            if (j >= i) {
                continue;
            }
            for (int s = a->front[j]; s != own && a->mark[s] != i; s = up[s]) {
                rgFront* front = &f->fronts[s];
                a->mark[s] = i;
                f->rows[front->rowStart + front->rowCount++] = i;
            }
        }
    }
}

// Rows of all fronts; leaves room for as many runs, which split at most once per front.
static rgResult rgFindFrontRows(rgAnalysis* a) {
    rgBlockFactor* f = a->f;
    rgCountFrontRows(a, a->link);
    int count = 0;
    for (int s = 0; s < f->frontCount; ++s) {
        f->fronts[s].rowStart = count;
        count += f->fronts[s].rowCount;
    }
    f->rowCount = count;
    size_t runs = (size_t)count + (size_t)f->frontCount;
    rgResult result = rgBuffer_Reserve(&f->rowMemory, &f->allocator,
                                       runs * sizeof(rgRun) + (size_t)count * sizeof(int));
    if (result != rg_ok) {
        return result;
    }
    f->runs = f->rowMemory.memory;
    f->rows = (int*)(f->runs + runs);
    rgWriteFrontRows(a, a->link);
    rgLinkFronts(f, a->front);
    return rg_ok;
}

// Scalar offset of every block of a front, written to offset[position].
static void rgSetOffsets(const rgBlockFactor* f, const rgFront* front, int* offset) {
    for (int c = 0; c < front->columnCount; ++c) {
        int at = front->columnStart + c;
        offset[at] = f->start[at] - front->start;
    }
    int sum = front->width;
    for (int r = 0; r < front->rowCount; ++r) {
        int at = f->rows[front->rowStart + r];
        offset[at] = sum;
        sum += f->start[at + 1] - f->start[at];
    }
    RG_ASSERT(sum == front->order);
}

// Blocks of the matrix in the front's own columns, at or below the diagonal.
static int rgListEntries(const rgAnalysis* a, const rgFront* front, const int* offset, int count) {
    const rgBlockFactor* f = a->f;
    for (int c = 0; c < front->columnCount; ++c) {
        int at = front->columnStart + c;
        int block = f->order[at];
        for (int k = f->rowStart[block]; k < f->rowStart[block + 1]; ++k) {
            int row = f->position[f->column[k]];
            if (row < at) {
                continue;
            }
            f->entries[count++] = (rgEntry){.lower = a->mirror[k],
                                            .upper = k,
                                            .row = offset[row],
                                            .column = offset[at],
                                            .height = rgBlockSize(f, f->column[k]),
                                            .width = rgBlockSize(f, block),
                                            .flipped = f->column[k] < block};
        }
    }
    return count;
}

// Runs of a child's rows within its parent, whose offsets are set.
static int rgListRuns(const rgBlockFactor* f, const rgFront* child, const rgFront* parent,
                      const int* offset, int count) {
    int from = 0;
    int first = count;
    for (int r = 0; r < child->rowCount; ++r) {
        int at = f->rows[child->rowStart + r];
        int size = f->start[at + 1] - f->start[at];
        rgRun* last = count > first ? &f->runs[count - 1] : NULL;
        bool joins =
            last != NULL && last->to + last->count == offset[at] && offset[at] != parent->width;
        if (joins) {
            last->count += size;
        } else {
            f->runs[count++] = (rgRun){.from = from, .to = offset[at], .count = size};
        }
        from += size;
    }
    return count;
}

static void rgMapFronts(rgAnalysis* a) {
    rgBlockFactor* f = a->f;
    int* offset = a->link;
    int entries = 0, runs = 0;
    for (int s = 0; s < f->frontCount; ++s) {
        rgFront* front = &f->fronts[s];
        rgSetOffsets(f, front, offset);
        front->entryStart = entries;
        entries = rgListEntries(a, front, offset, entries);
        front->entryCount = entries - front->entryStart;
        for (int c = front->firstChild; c != -1; c = f->fronts[c].nextSibling) {
            rgFront* child = &f->fronts[c];
            child->runStart = runs;
            runs = rgListRuns(f, child, front, offset, runs);
            child->runCount = runs - child->runStart;
        }
    }
    f->runCount = runs;
}

// Offsets of panels, and costs.
static void rgPlaceNumbers(rgBlockFactor* f) {
    f->panelCount = f->upperCount = 0;
    f->choleskyFlops = f->luFlops = f->factorEntries = 0;
    f->largestOrder = 0;
    for (int s = 0; s < f->frontCount; ++s) {
        rgFront* front = &f->fronts[s];
        int rest = front->order - front->width;
        front->lead = rgLeadingDimension(front->order);
        front->updateLead = rgLeadingDimension(rest);
        front->panel = f->panelCount;
        f->panelCount += (size_t)front->lead * (size_t)front->width;
        front->upper = f->upperCount;
        f->upperCount += (size_t)rgLeadingDimension(front->width) * (size_t)rest;
        double flops = rgPanelFlops(front->width, front->order);
        f->choleskyFlops += flops;
        f->luFlops += 2 * flops;
        f->factorEntries +=
            (double)front->width * front->order - 0.5 * (double)front->width * (front->width - 1);
        f->largestOrder = RG_MAX(f->largestOrder, front->order);
    }
}

rgResult rgBlockFactor_BuildFronts(rgBlockFactor* f) {
    rgAnalysis a;
    rgResult result = rgAnalysis_Init(&a, f);
    if (result == rg_ok) {
        result = rgFindMirrors(&a);
    }
    if (result != rg_ok) {
        return result;
    }
    if (a.n > 0) {
        result = rgChooseOrder(&a);
    }
    if (result == rg_ok) {
        rgFormNodes(&a);
        result = rgMakeFronts(&a);
    }
    if (result == rg_ok) {
        result = rgFindFrontRows(&a);
    }
    if (result == rg_ok) {
        rgMapFronts(&a);
        rgPlaceNumbers(f);
        result = rgBlockFactor_Divide(f);
    }
    return result;
}
