// Nested dissection with multilevel bisection: the graph is made small by contracting matched pairs
// of vertices, cut there in many ways, and the best cut is improved on the way back to the original
// graph by moving vertices through the separator (Fiduccia and Mattheyses). At the end the
// separator is replaced by the smallest one in its neighbourhood.
#include "math/dissection_private.h"

#include <string.h>

enum {
    rg_levelLimit = 30,
    rg_pieceSize = 300,   // pieces of at most so many blocks are not cut
    rg_coarseSize = 60,   // contract down to about so many vertices
    rg_startCount = 8,    // cuts of the smallest graph that are tried
    rg_passLimit = 3,     // passes of improvement per level
    rg_stallSteps = 20,   // moves without gain that end a pass
    rg_leastPart = 20,    // a side of less than this fraction of a piece is no cut
    rg_stackLimit = 64,   // the larger part is pushed, so that half of 2^64 blocks would fit
    rg_scratchFactor = 3, // memory of all levels, in terms of the first one
};

// A cut of one level under improvement. Lists have the data of the last pass.
typedef struct rgCut {
    const rgLevel* level;
    int weight[3];   // weight of the sides
    int memberCount; //
    int* member;     // vertices of the separator
    int* place;      // place of each vertex in it
    int* near[2];    // weight of the neighbours of members on either side
    int* moved;      // vertices that have left the separator in this pass
    int* log;        // undo log: vertices drawn in, then vertex, side, their number
    int logCount;    //
} rgCut;

typedef struct rgDissection {
    const rgBlockPattern* pattern;
    rgLevel levels[rg_levelLimit];
    int levelCount;
    int* memory; // for levels
    size_t used, room;
    int* list;  // blocks, piece by piece
    int* local; // index of a block in the piece under work, or -1
    int* order; // scratch: order of visits, first vertex of a pair
    int* pair;  // scratch: partner, best sides
    int* flow;  // scratch of rgMoveCut
    rgCut cut;
    uint32_t random;
} rgDissection;

size_t rgDissectionScratch(int blockCount, int entryCount) {
    size_t n = (size_t)blockCount + 1, entries = (size_t)entryCount;
    size_t levels = rg_scratchFactor * (4 * n + 2 * entries);
    return levels + 15 * n + rgFlowScratch(blockCount, entryCount);
}

static void rgDissection_Init(rgDissection* d, const rgBlockPattern* pattern, int* scratch) {
    size_t n = (size_t)pattern->blockCount + 1;
    size_t entries = (size_t)pattern->rowStart[pattern->blockCount];
    *d = (rgDissection){.pattern = pattern, .memory = scratch, .random = 1};
    d->room = rg_scratchFactor * (4 * n + 2 * entries);
    int* next = scratch + d->room;
    int** arrays[] = {&d->list,       &d->local,     &d->order,       &d->pair,
                      &d->cut.member, &d->cut.place, &d->cut.near[0], &d->cut.near[1],
                      &d->cut.moved,  &d->cut.log};
    for (int i = 0; i < RG_COUNT(arrays); ++i) {
        *arrays[i] = next;
        next += n;
    }
    d->flow = next + 5 * n; // the log is longer than the others
}

static int* rgDissection_Allocate(rgDissection* d, int count) {
    int* taken = d->memory + d->used;
    d->used += (size_t)count;
    RG_ASSERT(d->used <= d->room);
    return taken;
}

// A level of `count` vertices and at most `links` links, or false when there is no room.
static bool rgDissection_AddLevel(rgDissection* d, int count, int links) {
    size_t needed = 4 * (size_t)count + 1 + 2 * (size_t)links;
    if (d->levelCount == rg_levelLimit || d->room - d->used < needed) {
        return false;
    }
    rgLevel* level = &d->levels[d->levelCount++];
    level->count = count;
    level->start = rgDissection_Allocate(d, count + 1);
    level->weight = rgDissection_Allocate(d, count);
    level->coarse = rgDissection_Allocate(d, count);
    level->side = rgDissection_Allocate(d, count);
    level->neighbour = rgDissection_Allocate(d, links);
    level->strength = rgDissection_Allocate(d, links);
    level->totalWeight = 0;
    return true;
}

// The graph of one piece becomes the first level.
static void rgReadPiece(rgDissection* d, int first, int end) {
    const rgBlockPattern* p = d->pattern;
    int links = 0;
    for (int i = first; i < end; ++i) {
        d->local[d->list[i]] = i - first;
        links += p->rowStart[d->list[i] + 1] - p->rowStart[d->list[i]];
    }
    d->used = 0;
    d->levelCount = 0;
    rgDissection_AddLevel(d, end - first, links);
    rgLevel* level = &d->levels[0];
    int used = 0;
    for (int i = first; i < end; ++i) {
        int block = d->list[i];
        int weight = p->blockStart[block + 1] - p->blockStart[block];
        level->start[i - first] = used;
        level->weight[i - first] = weight;
        level->totalWeight += weight;
        for (int k = p->rowStart[block]; k < p->rowStart[block + 1]; ++k) {
            int other = d->local[p->column[k]];
            if (other >= 0 && other != i - first) {
                level->strength[used] = 1;
                level->neighbour[used++] = other;
            }
        }
    }
    level->start[end - first] = used;
    level->heaviest = level->totalWeight / 20;
    for (int i = first; i < end; ++i) {
        d->local[d->list[i]] = -1;
    }
}

static uint32_t rgDissection_Random(rgDissection* d) {
    d->random ^= d->random << 13;
    d->random ^= d->random >> 17;
    d->random ^= d->random << 5;
    return d->random;
}

static void rgShuffle(rgDissection* d, int count, int* order) {
    for (int i = 0; i < count; ++i) {
        order[i] = i;
    }
    for (int i = count - 1; i > 0; --i) {
        int j = (int)(rgDissection_Random(d) % (uint32_t)(i + 1));
        int t = order[i];
        order[i] = order[j];
        order[j] = t;
    }
}

// Partner of a vertex: linked most strongly for its weight. The vertex itself when there is none.
static int rgFindPartner(const rgLevel* level, const int* pair, int v) {
    int best = v;
    double bestScore = 0;
    for (int k = level->start[v]; k < level->start[v + 1]; ++k) {
        int u = level->neighbour[k];
        double score = (double)level->strength[k] / level->weight[u];
        if (pair[u] == -1 && score > bestScore &&
            level->weight[u] + level->weight[v] <= level->heaviest) {
            best = u;
            bestScore = score;
        }
    }
    return best;
}

// Match vertices in pairs and number them; returns how many the next level has.
static int rgMatch(rgDissection* d, rgLevel* level) {
    int n = level->count;
    rgShuffle(d, n, d->order);
    for (int i = 0; i < n; ++i) {
        d->pair[i] = -1;
    }
    for (int i = 0; i < n; ++i) {
        int v = d->order[i];
        if (d->pair[v] == -1) {
            int u = rgFindPartner(level, d->pair, v);
            d->pair[v] = u;
            d->pair[u] = v;
        }
    }
    int count = 0;
    for (int v = 0; v < n; ++v) {
        if (d->pair[v] >= v) {
            level->coarse[v] = level->coarse[d->pair[v]] = count;
            d->order[count++] = v;
        }
    }
    return count;
}

// Add the links of a vertex of the finer level to row c; at[] has the position of each neighbour.
static int rgContractLinks(const rgLevel* fine, int v, int c, rgLevel* level, int* at, int used) {
    for (int k = fine->start[v]; k < fine->start[v + 1]; ++k) {
        int other = fine->coarse[fine->neighbour[k]];
        if (other == c) {
            continue;
        }
        if (at[other] < level->start[c]) {
            at[other] = used;
            level->neighbour[used] = other;
            level->strength[used++] = 0;
        }
        level->strength[at[other]] += fine->strength[k];
    }
    return used;
}

static void rgContract(const rgDissection* d, const rgLevel* fine, rgLevel* level, int* at) {
    int used = 0;
    for (int c = 0; c < level->count; ++c) {
        at[c] = -1;
    }
    for (int c = 0; c < level->count; ++c) {
        int v = d->order[c], u = d->pair[v];
        level->start[c] = used;
        level->weight[c] = fine->weight[v] + (u != v ? fine->weight[u] : 0);
        used = rgContractLinks(fine, v, c, level, at, used);
        if (u != v) {
            used = rgContractLinks(fine, u, c, level, at, used);
        }
    }
    level->start[level->count] = used;
    level->totalWeight = fine->totalWeight;
    level->heaviest = fine->heaviest;
}

static void rgCoarsen(rgDissection* d) {
    for (;;) {
        rgLevel* fine = &d->levels[d->levelCount - 1];
        if (fine->count <= rg_coarseSize) {
            return;
        }
        int count = rgMatch(d, fine);
        bool shrinks = count < fine->count - fine->count / 10;
        if (!shrinks || !rgDissection_AddLevel(d, count, fine->start[fine->count])) {
            return;
        }
        rgLevel* level = &d->levels[d->levelCount - 1];
        rgContract(d, fine, level, d->cut.member);
        // Release the entries of links that became one.
        d->used -= (size_t)(fine->start[fine->count] - level->start[count]);
    }
}

static double rgCut_Cost(const rgCut* c) {
    return rgCutCost(c->weight[rg_left], c->weight[rg_right], c->weight[rg_between]);
}

// Vertex v becomes a member of the separator.
static void rgCut_Add(rgCut* c, int v) {
    const rgLevel* level = c->level;
    level->side[v] = rg_between;
    c->weight[rg_between] += level->weight[v];
    c->place[v] = c->memberCount;
    c->member[c->memberCount++] = v;
    int near[3] = {0, 0, 0};
    for (int k = level->start[v]; k < level->start[v + 1]; ++k) {
        int u = level->neighbour[k];
        near[level->side[u]] += level->weight[u];
    }
    c->near[0][v] = near[0];
    c->near[1][v] = near[1];
}

// Vertex v leaves the separator for a side.
static void rgCut_Remove(rgCut* c, int v, int side) {
    const rgLevel* level = c->level;
    level->side[v] = side;
    c->weight[rg_between] -= level->weight[v];
    c->weight[side] += level->weight[v];
    int last = c->member[--c->memberCount];
    c->member[c->place[v]] = last;
    c->place[last] = c->place[v];
}

// Weights and members from the sides.
static void rgCut_Init(rgCut* c, const rgLevel* level) {
    c->level = level;
    c->memberCount = 0;
    c->weight[0] = c->weight[1] = c->weight[2] = 0;
    for (int v = 0; v < level->count; ++v) {
        if (level->side[v] == rg_between) {
            rgCut_Add(c, v);
        } else {
            c->weight[level->side[v]] += level->weight[v];
        }
    }
}

static void rgAddToMembers(rgCut* c, int v, int side, int weight) {
    const rgLevel* level = c->level;
    for (int k = level->start[v]; k < level->start[v + 1]; ++k) {
        c->near[side][level->neighbour[k]] += weight;
    }
}

// Move a member to a side; its neighbours on the other side are drawn into the separator. Numbers
// in near[] of vertices outside of the separator mean nothing.
static void rgCut_Move(rgCut* c, int v, int side) {
    const rgLevel* level = c->level;
    int drawn = 0;
    rgCut_Remove(c, v, side);
    rgAddToMembers(c, v, side, level->weight[v]);
    for (int k = level->start[v]; k < level->start[v + 1]; ++k) {
        int u = level->neighbour[k];
        if (level->side[u] == 1 - side) {
            c->weight[1 - side] -= level->weight[u];
            rgAddToMembers(c, u, 1 - side, -level->weight[u]);
            rgCut_Add(c, u);
            c->log[c->logCount++] = u;
            ++drawn;
        }
    }
    c->log[c->logCount++] = v;
    c->log[c->logCount++] = side;
    c->log[c->logCount++] = drawn;
}

// Undo moves down to a length of the log; only sides, the rest is counted anew.
static void rgCut_Undo(rgCut* c, int length) {
    const rgLevel* level = c->level;
    while (c->logCount > length) {
        int drawn = c->log[--c->logCount];
        int side = c->log[--c->logCount];
        level->side[c->log[--c->logCount]] = rg_between;
        for (int i = 0; i < drawn; ++i) {
            level->side[c->log[--c->logCount]] = 1 - side;
        }
    }
}

// The cheapest move of a member that has not moved yet; -1 when there is none.
static int rgCut_FindMove(const rgCut* c, int* side) {
    int best = -1;
    double bestCost = 0;
    for (int i = 0; i < c->memberCount; ++i) {
        int v = c->member[i];
        if (c->moved[v]) {
            continue;
        }
        double weight = c->level->weight[v];
        for (int s = 0; s < 2; ++s) {
            double drawn = c->near[1 - s][v];
            double cost = rgCutCost(c->weight[s] + weight, c->weight[1 - s] - drawn,
                                    c->weight[rg_between] - weight + drawn);
            if (best == -1 || cost < bestCost) {
                best = v;
                bestCost = cost;
                *side = s;
            }
        }
    }
    return best;
}

// One pass: the best moves, also such that lose, and back to the best cut on the way. Returns
// whether it gained.
static bool rgCut_Pass(rgCut* c) {
    double start = rgCut_Cost(c), best = start;
    int bestLength = 0, waited = 0;
    memset(c->moved, 0, (size_t)c->level->count * sizeof(int));
    c->logCount = 0;
    while (waited < rg_stallSteps) {
        int side = 0;
        int v = rgCut_FindMove(c, &side);
        if (v == -1) {
            break;
        }
        rgCut_Move(c, v, side);
        c->moved[v] = 1;
        double cost = rgCut_Cost(c);
        ++waited;
        if (cost < best) {
            best = cost;
            bestLength = c->logCount;
            waited = 0;
        }
    }
    rgCut_Undo(c, bestLength);
    rgCut_Init(c, c->level);
    return best < start;
}

static double rgCut_Improve(rgCut* c, const rgLevel* level) {
    rgCut_Init(c, level);
    for (int pass = 0; pass < rg_passLimit && rgCut_Pass(c); ++pass) {
    }
    return rgCut_Cost(c);
}

// Vertex v joins the left side; its neighbours are drawn into the separator and the queue.
static int rgGrowBy(const rgLevel* level, int v, int* queue, int tail) {
    level->side[v] = rg_left;
    for (int k = level->start[v]; k < level->start[v + 1]; ++k) {
        int u = level->neighbour[k];
        if (level->side[u] == rg_right) {
            level->side[u] = rg_between;
            queue[tail++] = u;
        }
    }
    return tail;
}

// Grow the left side around a vertex to half of the weight; the vertices that it touches are the
// separator. A graph of several parts goes on with the next part.
static void rgGrow(const rgLevel* level, int seed, int* queue) {
    int head = 0, tail = 0, weight = 0, next = 0;
    for (int v = 0; v < level->count; ++v) {
        level->side[v] = rg_right;
    }
    queue[tail++] = seed;
    while (2 * weight < level->totalWeight) {
        while (head == tail && next < level->count) {
            if (level->side[next] == rg_right) {
                queue[tail++] = next;
            }
            ++next;
        }
        if (head == tail) {
            return;
        }
        weight += level->weight[queue[head]];
        tail = rgGrowBy(level, queue[head++], queue, tail);
    }
}

// Several starts on the smallest graph; the best cut stays.
static void rgCutSmallest(rgDissection* d, const rgLevel* level) {
    double best = 0;
    size_t bytes = (size_t)level->count * sizeof(int);
    int starts = RG_MIN((int)rg_startCount, level->count);
    for (int i = 0; i < starts; ++i) {
        rgGrow(level, (int)((int64_t)i * level->count / starts), d->order);
        double cost = rgCut_Improve(&d->cut, level);
        if (i == 0 || cost < best) {
            best = cost;
            memcpy(d->pair, level->side, bytes);
        }
    }
    memcpy(level->side, d->pair, bytes);
}

// Cut the first level.
static void rgBisect(rgDissection* d) {
    d->levelCount = 1;
    rgCoarsen(d);
    rgCutSmallest(d, &d->levels[d->levelCount - 1]);
    for (int i = d->levelCount - 2; i >= 0; --i) {
        const rgLevel* level = &d->levels[i];
        for (int v = 0; v < level->count; ++v) {
            level->side[v] = level[1].side[level->coarse[v]];
        }
        rgCut_Improve(&d->cut, level);
    }
    rgMoveCut(&d->levels[0], d->flow);
}

// Sort a piece of the list: left, right, separator. Gives the first of right and of separator.
static void rgSortPiece(rgDissection* d, int first, int end, int middle[2]) {
    const int* side = d->levels[0].side;
    int count = 0;
    for (int s = 0; s < 3; ++s) {
        if (s > 0) {
            middle[s - 1] = first + count;
        }
        for (int i = first; i < end; ++i) {
            if (side[i - first] == s) {
                d->order[count++] = d->list[i];
            }
        }
    }
    memcpy(d->list + first, d->order, (size_t)count * sizeof(int));
}

static void rgAssignSet(const rgDissection* d, int first, int end, int number, int* set) {
    for (int i = first; i < end; ++i) {
        set[d->list[i]] = number;
    }
}

// Stack of uncut pieces. The smaller part is cut first, which bounds the stack.
typedef struct rgPieces {
    int first[rg_stackLimit], end[rg_stackLimit];
    int count;
} rgPieces;

static void rgPieces_Push(rgPieces* p, int first, int end) {
    RG_ASSERT(p->count < rg_stackLimit);
    if (first < end) {
        p->first[p->count] = first;
        p->end[p->count++] = end;
    }
}

static void rgPieces_PushBoth(rgPieces* p, int first, const int middle[2]) {
    bool leftIsLarger = middle[0] - first > middle[1] - middle[0];
    rgPieces_Push(p, leftIsLarger ? first : middle[0], leftIsLarger ? middle[0] : middle[1]);
    rgPieces_Push(p, leftIsLarger ? middle[0] : first, leftIsLarger ? middle[1] : middle[0]);
}

// Cut a piece; false when it is too small or does not fall into two parts of some size.
static bool rgCutPiece(rgDissection* d, int first, int end, int middle[2]) {
    if (end - first <= rg_pieceSize) {
        return false;
    }
    rgReadPiece(d, first, end);
    rgBisect(d);
    rgSortPiece(d, first, end, middle);
    int smaller = RG_MIN(middle[0] - first, middle[1] - middle[0]);
    return smaller > (end - first) / rg_leastPart;
}

void rgDissect(const rgBlockPattern* pattern, int* scratch, int* set) {
    rgDissection d;
    rgDissection_Init(&d, pattern, scratch);
    int n = pattern->blockCount;
    for (int i = 0; i < n; ++i) {
        d.list[i] = i;
        d.local[i] = -1;
    }
    rgPieces pieces = {.count = 0};
    rgPieces_Push(&pieces, 0, n);
    // Numbers descend: a separator is met before its parts.
    int number = n;
    while (pieces.count > 0) {
        int first = pieces.first[--pieces.count], end = pieces.end[pieces.count];
        int middle[2] = {first, first};
        int rest = first;
        if (rgCutPiece(&d, first, end, middle)) {
            rgPieces_PushBoth(&pieces, first, middle);
            rest = middle[1];
        }
        if (rest < end) {
            rgAssignSet(&d, rest, end, --number, set);
        }
    }
}
