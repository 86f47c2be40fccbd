// The smallest separator in a band around a given one: maximum flow (Dinic) through the vertices of
// the band, each of which lets through as much as it weighs.
#include "math/dissection_private.h"

#include <limits.h>
#include <string.h>

// Each vertex b of the band is two nodes, in = 2 b and out = 2 b + 1. Arcs come in pairs, a and its
// reverse a ^ 1.
typedef struct rgFlow {
    const rgLevel* level;
    int count;       // vertices of the band
    int* vertex;     // vertex of the graph
    int* index;      // in the band, of each vertex of the graph; -1 outside
    int* isSource;   // links to the left side beyond the band
    int* isSink;     // links to the right side beyond the band
    int arcCount;    //
    int *to, *room;  // head and residual capacity of arcs
    int* nextArc;    //
    int* firstArc;   // first arc of each node
    int* currentArc; //
    int* distance;   // from the sources; -1 unreached
    int* queue;      //
    int* path;       // arcs
    int weight[3];   // weight of the cut
} rgFlow;

size_t rgFlowScratch(int vertexCount, int linkCount) {
    size_t n = (size_t)vertexCount + 1, arcs = 2 * (n + (size_t)linkCount);
    return 4 * n + 5 * 2 * n + 3 * arcs;
}

static void rgFlow_Init(rgFlow* f, const rgLevel* level, int* scratch) {
    size_t n = (size_t)level->count + 1, arcs = 2 * (n + (size_t)level->start[level->count]);
    *f = (rgFlow){.level = level};
    int** single[] = {&f->vertex, &f->index, &f->isSource, &f->isSink};
    int** twice[] = {&f->firstArc, &f->currentArc, &f->distance, &f->queue, &f->path};
    int** perArc[] = {&f->to, &f->room, &f->nextArc};
    for (int i = 0; i < RG_COUNT(single); ++i, scratch += n) {
        *single[i] = scratch;
    }
    for (int i = 0; i < RG_COUNT(twice); ++i, scratch += 2 * n) {
        *twice[i] = scratch;
    }
    for (int i = 0; i < RG_COUNT(perArc); ++i, scratch += arcs) {
        *perArc[i] = scratch;
    }
    for (int v = 0; v < level->count; ++v) {
        f->index[v] = -1;
        f->weight[level->side[v]] += level->weight[v];
    }
}

static void rgFlow_AddVertex(rgFlow* f, int v) {
    f->index[v] = f->count;
    f->vertex[f->count++] = v;
}

// Add the neighbours of a vertex of the band on one side, up to a weight. False when that is full.
static bool rgFlow_AddNeighbours(rgFlow* f, int v, int side, double* limit) {
    const rgLevel* level = f->level;
    for (int k = level->start[v]; k < level->start[v + 1]; ++k) {
        int u = level->neighbour[k];
        if (f->index[u] == -1 && level->side[u] == side) {
            *limit -= level->weight[u];
            if (*limit < 0) {
                return false;
            }
            rgFlow_AddVertex(f, u);
        }
    }
    return true;
}

// Add vertices of one side, nearest to the separator first.
static void rgFlow_GrowBand(rgFlow* f, int side, double limit) {
    bool space = true;
    // Vertices of the other side that are in the list have no neighbours here.
    for (int b = 0; b < f->count && space; ++b) {
        space = rgFlow_AddNeighbours(f, f->vertex[b], side, &limit);
    }
}

static void rgFlow_MakeBand(rgFlow* f) {
    const rgLevel* level = f->level;
    for (int v = 0; v < level->count; ++v) {
        if (level->side[v] == rg_between) {
            rgFlow_AddVertex(f, v);
        }
    }
    for (int side = 0; side < 2; ++side) {
        rgFlow_GrowBand(f, side, f->weight[side] - rg_leastSide * level->totalWeight);
    }
}

static void rgFlow_AddArc(rgFlow* f, int from, int to, int room) {
    const int ends[2] = {from, to};
    for (int i = 0; i < 2; ++i) {
        int a = f->arcCount++;
        f->to[a] = ends[1 - i];
        f->room[a] = i == 0 ? room : 0;
        f->nextArc[a] = f->firstArc[ends[i]];
        f->firstArc[ends[i]] = a;
    }
}

static void rgFlow_MakeArcs(rgFlow* f) {
    const rgLevel* level = f->level;
    for (int b = 0; b < f->count; ++b) {
        f->firstArc[2 * b] = f->firstArc[2 * b + 1] = -1;
        f->isSource[b] = f->isSink[b] = 0;
    }
    for (int b = 0; b < f->count; ++b) {
        int v = f->vertex[b];
        for (int k = level->start[v]; k < level->start[v + 1]; ++k) {
            int u = level->neighbour[k];
            if (f->index[u] != -1) {
                rgFlow_AddArc(f, 2 * b + 1, 2 * f->index[u], INT_MAX / 2);
            } else {
                f->isSource[b] |= level->side[u] == rg_left;
                f->isSink[b] |= level->side[u] == rg_right;
            }
        }
        rgFlow_AddArc(f, 2 * b, 2 * b + 1, level->weight[v]);
    }
}

static int rgFlow_PushSources(rgFlow* f) {
    int tail = 0;
    for (int node = 0; node < 2 * f->count; ++node) {
        f->distance[node] = -1;
        if (node % 2 == 0 && f->isSource[node / 2]) {
            f->distance[node] = 0;
            f->queue[tail++] = node;
        }
    }
    return tail;
}

// Distances from the sources along arcs with room. Returns whether a sink is reached.
static bool rgFlow_FindDistances(rgFlow* f) {
    int tail = rgFlow_PushSources(f);
    bool reached = false;
    for (int head = 0; head < tail; ++head) {
        int node = f->queue[head];
        reached = reached || (node % 2 == 1 && f->isSink[node / 2]);
        for (int a = f->firstArc[node]; a != -1; a = f->nextArc[a]) {
            if (f->room[a] > 0 && f->distance[f->to[a]] == -1) {
                f->distance[f->to[a]] = f->distance[node] + 1;
                f->queue[tail++] = f->to[a];
            }
        }
    }
    return reached;
}

static void rgFlow_Augment(rgFlow* f, int length) {
    int amount = INT_MAX;
    for (int i = 0; i < length; ++i) {
        amount = RG_MIN(amount, f->room[f->path[i]]);
    }
    for (int i = 0; i < length; ++i) {
        f->room[f->path[i]] -= amount;
        f->room[f->path[i] ^ 1] += amount;
    }
}

// The next arc from a node that leads one step further, or -1.
static int rgFlow_Advance(rgFlow* f, int node) {
    int a = f->currentArc[node];
    while (a != -1 && (f->room[a] == 0 || f->distance[f->to[a]] != f->distance[node] + 1)) {
        a = f->nextArc[a];
    }
    f->currentArc[node] = a;
    return a;
}

// All shortest paths from one source, with depth-first search.
static void rgFlow_Push(rgFlow* f, int source) {
    int length = 0, node = source;
    for (;;) {
        if (node % 2 == 1 && f->isSink[node / 2]) {
            rgFlow_Augment(f, length);
            length = 0;
            node = source;
        }
        int a = rgFlow_Advance(f, node);
        if (a != -1) {
            f->path[length++] = a;
            node = f->to[a];
        } else if (length > 0) {
            // A dead end: nobody comes here again.
            f->distance[node] = -1;
            node = f->to[f->path[--length] ^ 1];
        } else {
            return;
        }
    }
}

static void rgFlow_Maximise(rgFlow* f) {
    while (rgFlow_FindDistances(f)) {
        memcpy(f->currentArc, f->firstArc, 2 * (size_t)f->count * sizeof(int));
        for (int b = 0; b < f->count; ++b) {
            if (f->isSource[b]) {
                rgFlow_Push(f, 2 * b);
            }
        }
    }
}

// Mark, in distance, the nodes from which a sink can still be reached.
static void rgFlow_MarkSinks(rgFlow* f) {
    int tail = 0;
    for (int node = 0; node < 2 * f->count; ++node) {
        f->distance[node] = -1;
        if (node % 2 == 1 && f->isSink[node / 2]) {
            f->distance[node] = 0;
            f->queue[tail++] = node;
        }
    }
    for (int head = 0; head < tail; ++head) {
        for (int a = f->firstArc[f->queue[head]]; a != -1; a = f->nextArc[a]) {
            if (f->room[a ^ 1] > 0 && f->distance[f->to[a]] == -1) {
                f->distance[f->to[a]] = 0;
                f->queue[tail++] = f->to[a];
            }
        }
    }
}

// Side of a vertex of the band: reached by the sources, or reaching the sinks.
static int rgFlow_Side(const rgFlow* f, int b, bool fromSinks) {
    bool in = f->distance[2 * b] != -1, out = f->distance[2 * b + 1] != -1;
    if (fromSinks) {
        return in ? rg_right : out ? rg_between : rg_left;
    }
    return out ? rg_left : in ? rg_between : rg_right;
}

// Set the sides of the band if the new cut is cheaper than the old one.
static void rgFlow_ApplyCut(rgFlow* f, bool fromSinks) {
    const rgLevel* level = f->level;
    int weight[3] = {f->weight[0], f->weight[1], f->weight[2]};
    for (int b = 0; b < f->count; ++b) {
        int v = f->vertex[b];
        weight[level->side[v]] -= level->weight[v];
        weight[rgFlow_Side(f, b, fromSinks)] += level->weight[v];
    }
    if (rgCutCost(weight[0], weight[1], weight[2]) >=
        rgCutCost(f->weight[0], f->weight[1], f->weight[2])) {
        return;
    }
    memcpy(f->weight, weight, sizeof(weight));
    for (int b = 0; b < f->count; ++b) {
        level->side[f->vertex[b]] = rgFlow_Side(f, b, fromSinks);
    }
}

void rgMoveCut(const rgLevel* level, int* scratch) {
    rgFlow f;
    rgFlow_Init(&f, level, scratch);
    rgFlow_MakeBand(&f);
    rgFlow_MakeArcs(&f);
    rgFlow_Maximise(&f);
    rgFlow_ApplyCut(&f, false);
    rgFlow_MarkSinks(&f);
    rgFlow_ApplyCut(&f, true);
}
