// Few contacts hold up the interior point: between sticking, slipping and opening, where the slip
// term makes the linear model useless. They are solved together exactly, by an interior point of
// their own, while all others respond linearly. docs/theory/interior.md (9)-(12).
#include "contact/interior.h"

#include <math.h>
#include <string.h>

#define RG_FEW_SHARE     16    // one contact in so many at most,
#define RG_FEW_LEAST     6     // or so many
#define RG_FEW_LARGE     200   // in large islands one in so many at least
#define RG_ROUNDS        3     // of contacts that join
#define RG_REACH_FIRST   0.5   // contacts that would end the step sooner are the first,
#define RG_REACH_NEXT    0.9   // and those that the others then drive out of their cones join
#define RG_REACH_ENOUGH  0.8   // a step that needs no more contacts
#define RG_INNER_LIMIT   60    // iterations of the few
#define RG_INNER_GAP     0.003 // their gap, over the square root of the product
#define RG_INNER_PRODUCT 1.5   // their product, over what is aimed at

typedef struct rgBottleneck {
    rgInterior* point;
    double aim;
    double* linear;      // dLambda of the linear step, n
    double* linearMoved; // G times it
    double* rhs;         // its right-hand side
    double* bestLambda;  // the direction that reached farthest so far
    double* bestU;
    double bestReach;
    int room; // contacts at most
    int count;
    int* cones;
    int* sets;
    bool* member; // of the cones
    rgSystem few; // G and g: how the velocities of the few depend on their impulses
    double* X;    // the few's part of the inverse of the linear system, and G times it
    double* Y;
    int* pivot;
    double* scratch; // of the few's size
    rgInterior inner;
} rgBottleneck;

static rgResult rgBottleneck_Init(rgBottleneck* b, rgInterior* point, double aim, double reach) {
    rgSystem* system = point->system;
    rgArena* arena = system->arena;
    int room = RG_MAX(point->coneCount / RG_FEW_SHARE, RG_FEW_LEAST);
    room = RG_MIN(room, RG_MAX(point->few, point->coneCount / RG_FEW_LARGE));
    *b = (rgBottleneck){.point = point, .aim = aim, .bestReach = reach, .room = room};
    double** vectors[] = {&b->linear, &b->linearMoved, &b->rhs, &b->bestLambda, &b->bestU};
    for (int i = 0; i < RG_COUNT(vectors); ++i) {
        *vectors[i] = RG_TAKE(arena, double, system->n);
    }
    int m = 3 * room;
    size_t numbers = (size_t)rgLeadingDimension(m) * (size_t)m;
    double** matrices[] = {&b->X, &b->Y, &b->few.G, &b->few.K};
    for (int i = 0; i < RG_COUNT(matrices); ++i) {
        *matrices[i] = RG_TAKE(arena, double, numbers);
    }
    b->pivot = RG_TAKE(arena, int, m);
    b->cones = RG_TAKE(arena, int, room);
    b->sets = RG_TAKE(arena, int, room);
    b->scratch = RG_TAKE(arena, double, m);
    b->member = RG_TAKE(arena, bool, point->coneCount);
    b->few.sets = RG_TAKE(arena, rgSet, room);
    b->few.g = RG_TAKE(arena, double, m);
    b->few.impulse = RG_TAKE(arena, double, m);
    b->few.pivot = RG_TAKE(arena, int, m);
    b->few.active = RG_TAKE(arena, int, m);
    if (arena->failed) {
        return rg_errorMemory;
    }
    b->few.model = system->model;
    b->few.ops = &rgDenseOps;
    b->few.kernels = system->kernels;
    b->few.arena = arena;
    size_t bytes = (size_t)system->n * sizeof(double);
    memcpy(b->linear, point->dLambda, bytes);
    memcpy(b->linearMoved, point->moved, bytes);
    memcpy(b->rhs, point->rhs, bytes);
    memcpy(b->bestLambda, point->dLambda, bytes);
    memcpy(b->bestU, point->dU, bytes);
    memset(b->member, 0, (size_t)point->coneCount * sizeof(bool));
    return rg_ok;
}

static bool rgBottleneck_Wants(const rgBottleneck* b, int cone, double limit) {
    const rgCone* c = b->point->cones + cone;
    return !b->member[cone] && c->reach < limit && c->set->size == 3;
}

// Contacts that go less far than the limit join; the limit is lowered until there is room for all.
static bool rgBottleneck_Join(rgBottleneck* b, double limit) {
    const rgInterior* point = b->point;
    int wanted = b->room + 1;
    for (; b->count + wanted > b->room && limit > 1e-6; limit *= 0.7) {
        wanted = 0;
        for (int i = 0; i < point->coneCount; ++i) {
            wanted += rgBottleneck_Wants(b, i, limit);
        }
        if (b->count + wanted <= b->room) {
            break;
        }
    }
    if (wanted == 0 || b->count + wanted > b->room) {
        return false;
    }
    for (int i = 0; i < point->coneCount; ++i) {
        if (rgBottleneck_Wants(b, i, limit)) {
            b->member[i] = true;
            b->cones[b->count] = i;
            b->sets[b->count++] = (int)(point->cones[i].set - point->system->sets);
        }
    }
    return true;
}

// Row of the whole system.
static int rgBottleneck_Row(const rgBottleneck* b, int row) {
    return b->point->cones[b->cones[row / 3]].set->row + row % 3;
}

// (10) G of the few = Y X^-1, row by row with the factors of X'; X stays factorized.
static bool rgBottleneck_Matrix(rgBottleneck* b) {
    const rgKernels* kernels = b->few.kernels;
    int m = b->few.n, ld = b->few.ld;
    double* row = b->scratch;
    for (int i = 0; i < m; ++i) {
        for (int j = 0; j < m; ++j) {
            b->few.K[(size_t)j * (size_t)ld + (size_t)i] = b->X[(size_t)i * (size_t)ld + (size_t)j];
        }
    }
    if (!kernels->lu(m, b->few.K, ld, b->pivot)) {
        return false;
    }
    for (int i = 0; i < m; ++i) {
        for (int j = 0; j < m; ++j) {
            row[j] = b->Y[(size_t)j * (size_t)ld + (size_t)i];
        }
        kernels->luSolve(m, b->few.K, ld, b->pivot, row);
        for (int j = 0; j < m; ++j) {
            b->few.G[(size_t)j * (size_t)ld + (size_t)i] = row[j];
        }
    }
    return kernels->lu(m, b->X, ld, b->pivot);
}

// (10) The contact problem of the few, all others responding.
static rgResult rgBottleneck_Reduce(rgBottleneck* b, bool* usable) {
    const rgInterior* point = b->point;
    rgSystem* few = &b->few;
    few->n = 3 * b->count;
    few->ld = rgLeadingDimension(few->n);
    few->setCount = b->count;
    few->pairCount = 9 * b->count;
    rgResult result =
        point->system->ops->respond(point->system, b->count, b->sets, b->X, b->Y, few->ld);
    if (result != rg_ok) {
        return result;
    }
    *usable = rgBottleneck_Matrix(b);
    for (int i = 0; i < b->count; ++i) {
        few->sets[i] = *point->cones[b->cones[i]].set;
        few->sets[i].row = 3 * i;
        few->sets[i].pairStart = 9 * i;
    }
    double* end = b->scratch; // impulses after the linear step
    for (int i = 0; i < few->n; ++i) {
        int row = rgBottleneck_Row(b, i);
        end[i] = point->lambda[row] + b->linear[row];
    }
    few->ops->apply(few, end, few->g);
    for (int i = 0; i < few->n; ++i) {
        int row = rgBottleneck_Row(b, i);
        few->g[i] = point->sigma[row] + b->linearMoved[row] - few->g[i];
    }
    return rg_ok;
}

static bool rgBottleneck_IsCentral(const rgBottleneck* b) {
    double gap = 0;
    for (int i = 0; i < b->few.n; ++i) {
        gap = fmax(gap, fabs(b->inner.gap[i]));
    }
    return b->inner.product < RG_INNER_PRODUCT * b->aim && gap < RG_INNER_GAP * sqrt(b->aim);
}

// (11) The few, down to the product that is aimed at; a second try takes the slip term in slowly.
static rgResult rgBottleneck_SolveFew(rgBottleneck* b, bool* solved) {
    static const rgInteriorOptions tries[] = {{.size = 1, .slipShare = 1},
                                              {.size = 0.1, .slipShare = 0.25}};
    rgRun run = {.system = &b->few};
    *solved = false;
    for (int i = 0; i < RG_COUNT(tries) && !*solved; ++i) {
        rgResult result = rgInterior_Init(&b->inner, &run, tries + i);
        if (result != rg_ok) {
            return result;
        }
        b->inner.floor = b->aim;
        rgInterior_Start(&b->inner, tries[i].size);
        rgInterior_Measure(&b->inner);
        *solved = rgBottleneck_IsCentral(b);
        for (int k = 0; k < RG_INNER_LIMIT && !*solved && rgInterior_Advance(&b->inner); ++k) {
            rgInterior_Measure(&b->inner);
            *solved = rgBottleneck_IsCentral(b);
        }
    }
    return rg_ok;
}

// (12) The others follow: the right-hand sides of the few that lead them where they are to go.
static void rgBottleneck_Follow(rgBottleneck* b) {
    rgInterior* point = b->point;
    double* change = b->scratch;
    for (int i = 0; i < b->few.n; ++i) {
        int row = rgBottleneck_Row(b, i);
        change[i] = b->inner.lambda[i] - point->lambda[row] - b->linear[row];
    }
    b->few.kernels->luSolve(b->few.n, b->X, b->few.ld, b->pivot, change);
    memcpy(point->rhs, b->rhs, (size_t)point->system->n * sizeof(double));
    for (int i = 0; i < b->few.n; ++i) {
        point->rhs[rgBottleneck_Row(b, i)] += change[i];
    }
    rgInterior_Follow(point);
    for (int i = 0; i < b->few.n; ++i) {
        int row = rgBottleneck_Row(b, i);
        point->dLambda[row] = b->inner.lambda[i] - point->lambda[row];
        point->dU[row] = b->inner.u[i] - point->u[row];
    }
}

static void rgBottleneck_Keep(rgBottleneck* b, double reach) {
    size_t bytes = (size_t)b->point->system->n * sizeof(double);
    if (reach > b->bestReach) {
        b->bestReach = reach;
        memcpy(b->bestLambda, b->point->dLambda, bytes);
        memcpy(b->bestU, b->point->dU, bytes);
    }
}

// One round: some join, the few are solved, the others follow. goOn: there may be more to gain.
static rgResult rgBottleneck_Round(rgBottleneck* b, double limit, bool* goOn) {
    *goOn = rgBottleneck_Join(b, limit);
    if (!*goOn) {
        return rg_ok;
    }
    rgResult result = rgBottleneck_Reduce(b, goOn);
    if (result == rg_ok && *goOn) {
        result = rgBottleneck_SolveFew(b, goOn);
    }
    if (result == rg_ok && *goOn) {
        rgBottleneck_Follow(b);
        rgBottleneck_Keep(b, rgInterior_Reach(b->point));
        *goOn = b->bestReach < RG_REACH_ENOUGH;
    }
    return result;
}

rgResult rgInterior_Widen(rgInterior* point, double aim, double* reach) {
    rgArena* arena = point->system->arena;
    rgArenaMark mark = rgArena_Mark(arena);
    rgBottleneck b;
    rgResult result = rgBottleneck_Init(&b, point, aim, *reach);
    bool goOn = true;
    for (int k = 0; k < RG_ROUNDS && result == rg_ok && goOn; ++k) {
        result = rgBottleneck_Round(&b, k == 0 ? RG_REACH_FIRST : RG_REACH_NEXT, &goOn);
    }
    if (result == rg_ok) {
        size_t bytes = (size_t)point->system->n * sizeof(double);
        memcpy(point->dLambda, b.bestLambda, bytes);
        memcpy(point->dU, b.bestU, bytes);
        *reach = rgInterior_Reach(point);
    }
    rgArena_Return(arena, mark);
    return result;
}
