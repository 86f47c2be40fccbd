// Nested dissection: what the sets separate, and graphs that are hard to cut.
#include "math/dissection.h"
#include "support.h"

#include <stdlib.h>
#include <string.h>

typedef bool rgLinkedFcn(int i, int j, int side);

typedef struct rgNet {
    int count;
    int *blockStart, *rowStart, *column, *set;
} rgNet;

static rgBlockPattern rgPatternOf(const rgNet* g) {
    return (rgBlockPattern){g->count, g->blockStart, g->rowStart, g->column};
}

static rgNet rgNewNet(int count, int side, rgLinkedFcn* linked) {
    size_t n = (size_t)count;
    rgNet g = {count, calloc(n + 1, sizeof(int)), calloc(n + 1, sizeof(int)),
               calloc(n * n + 1, sizeof(int)), calloc(n + 1, sizeof(int))};
    assert_true(g.blockStart != NULL && g.rowStart != NULL && g.column != NULL && g.set != NULL);
    int used = 0;
    for (int i = 0; i < count; ++i) {
        g.blockStart[i + 1] = g.blockStart[i] + 6;
        for (int j = 0; j < count; ++j) {
            if (i == j || linked(i, j, side)) {
                g.column[used++] = j;
            }
        }
        g.rowStart[i + 1] = used;
    }
    return g;
}

static void rgFreeNet(rgNet* g) {
    free(g->blockStart), free(g->rowStart), free(g->column), free(g->set);
}

static void rgDissectNet(const rgNet* g, int* set) {
    rgBlockPattern pattern = rgPatternOf(g);
    size_t count = rgDissectionScratch(g->count, g->rowStart[g->count]);
    int* scratch = malloc(count * sizeof(int));
    assert_non_null(scratch);
    memset(scratch, 0x55, count * sizeof(int));
    rgDissect(&pattern, scratch, set);
    free(scratch);
}

// Blocks of the component of a block in the graph of the sets below `limit`; they are marked.
static int rgCountComponent(const rgNet* g, int start, int limit, bool* seen, int* queue) {
    int tail = 0;
    queue[tail++] = start;
    seen[start] = true;
    for (int head = 0; head < tail; ++head) {
        int i = queue[head];
        for (int k = g->rowStart[i]; k < g->rowStart[i + 1]; ++k) {
            int j = g->column[k];
            if (!seen[j] && g->set[j] < limit) {
                seen[j] = true;
                queue[tail++] = j;
            }
        }
    }
    return tail;
}

// The largest component without the sets from `limit` on.
static int rgLargestComponent(const rgNet* g, int limit) {
    bool* seen = calloc((size_t)g->count + 1, sizeof(bool));
    int* queue = calloc((size_t)g->count + 1, sizeof(int));
    assert_true(seen != NULL && queue != NULL);
    int largest = 0;
    for (int i = 0; i < g->count; ++i) {
        if (!seen[i] && g->set[i] < limit) {
            int size = rgCountComponent(g, i, limit, seen, queue);
            largest = size > largest ? size : largest;
        }
    }
    free(seen), free(queue);
    return largest;
}

static int rgSetSize(const rgNet* g, int number) {
    int count = 0;
    for (int i = 0; i < g->count; ++i) {
        count += g->set[i] == number;
    }
    return count;
}

static bool rgInGrid(int i, int j, int side) {
    int dx = abs(i % side - j % side), dy = abs(i / side - j / side);
    return dx + dy == 1;
}

static bool rgInTwoGrids(int i, int j, int side) {
    return i / (side * side) == j / (side * side) && rgInGrid(i, j, side);
}

static bool rgInStar(int i, int j, int side) {
    (void)side;
    return i == 0 || j == 0;
}

static bool rgInClique(int i, int j, int side) {
    (void)i, (void)j, (void)side;
    return true;
}

static bool rgNowhere(int i, int j, int side) {
    (void)i, (void)j, (void)side;
    return false;
}

static bool rgInChain(int i, int j, int side) {
    (void)side;
    return abs(i - j) == 1;
}

// A square grid cannot be cut in the middle with less than a row, and need not be with more.
static void test_grid(void** state) {
    (void)state;
    enum { rg_side = 30 };
    rgNet g = rgNewNet(rg_side * rg_side, rg_side, rgInGrid);
    rgDissectNet(&g, g.set);
    int top = g.count - 1;
    assert_in_range(rgSetSize(&g, top), rg_side * 2 / 3, rg_side);
    int largest = rgLargestComponent(&g, top);
    assert_in_range(largest, 1, g.count * 7 / 10);
    rgFreeNet(&g);
}

// A cut chain falls into pieces of at most 300 with single blocks between them.
static void test_chain(void** state) {
    (void)state;
    rgNet g = rgNewNet(1500, 0, rgInChain);
    rgDissectNet(&g, g.set);
    int separators = 0, largest = 0;
    for (int number = 0; number < g.count; ++number) {
        int size = rgSetSize(&g, number);
        separators += size == 1;
        largest = size > largest ? size : largest;
    }
    assert_in_range(separators, 7, 20);
    assert_in_range(largest, 50, 300);
    assert_int_equal(rgSetSize(&g, g.count - 1), 1);
    rgFreeNet(&g);
}

// Every block gets a set, whatever the graph.
static void test_strange_graphs(void** state) {
    (void)state;
    static rgLinkedFcn* const kinds[] = {rgInStar, rgInClique, rgNowhere, rgInTwoGrids, rgInChain};
    static const int counts[] = {0, 1, 2, 300, 301, 650};
    for (int kind = 0; kind < RG_COUNT(kinds); ++kind) {
        for (int c = 0; c < RG_COUNT(counts); ++c) {
            rgNet g = rgNewNet(counts[c], 15, kinds[kind]);
            memset(g.set, 0x7f, (size_t)g.count * sizeof(int));
            rgDissectNet(&g, g.set);
            for (int i = 0; i < g.count; ++i) {
                assert_in_range(g.set[i], 0, g.count - 1);
            }
            rgFreeNet(&g);
        }
    }
}

// Two grids that do not touch need no separator between them.
static void test_parts(void** state) {
    (void)state;
    rgNet g = rgNewNet(2 * 18 * 18, 18, rgInTwoGrids);
    rgDissectNet(&g, g.set);
    assert_in_range(rgLargestComponent(&g, g.count - 1), 1, 18 * 18);
    assert_in_range(rgSetSize(&g, g.count - 1), 1, 18);
    rgFreeNet(&g);
}

static void test_repeats(void** state) {
    (void)state;
    rgNet g = rgNewNet(900, 30, rgInGrid), h = rgNewNet(900, 30, rgInGrid);
    rgDissectNet(&g, g.set);
    rgDissectNet(&h, h.set);
    assert_memory_equal(g.set, h.set, 900 * sizeof(int));
    rgFreeNet(&g), rgFreeNet(&h);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_grid),    cmocka_unit_test(test_chain),
        cmocka_unit_test(test_parts),   cmocka_unit_test(test_strange_graphs),
        cmocka_unit_test(test_repeats),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
