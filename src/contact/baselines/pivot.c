// Lemke's complementary pivots on the linear complementarity problem that polygons in place of the
// discs of friction make of a contact problem. models.4-6.
//
//     lambda = E z + lambda_0,   w = M z + q,   0 <= z ⟂ w >= 0
#include "contact/cones.h"
#include "contact/run.h"

#include <math.h>
#include <string.h>

#define RG_PIVOT_MOST   2000  // variables of one island; the table has their square
#define RG_PIVOT_TRIES  3     // with other covering vectors
#define RG_PIVOT_LEAST  1e-11 // of an entry that is pivoted on, over the largest of its column
#define RG_PIVOT_END    1e-9  // of z_0, over its first value: the rest is rounding
#define RG_PIVOT_SWEEPS 200   // that take rounding away

// One variable z: how it acts on impulses, and how it is coupled with others without them.
typedef struct rgPivotVariable {
    int row; // first of the rows it acts on; -1: a multiplier
    double along[2];
    int bound;    // multiplier of the friction or the interval it belongs to, -1: none
    int normal;   // of a multiplier: the variable that opens the bound, -1: none
    double share; // of that variable
    double reach; // constant part of the bound
} rgPivotVariable;

typedef struct rgPivots {
    rgSystem* system;
    int count;
    rgPivotVariable* z;
    double* origin; // lambda_0, n
    double* table;  // count x (count + 2): z_1 .. z_count, z_0, 1
    double* q;
    int* basic;    // variable of each row of the table: w_i is count + 1 + i, z_0 is count
    int* nonbasic; // variable of each column
} rgPivots;

static int rgPivots_Add(rgPivots* p, rgPivotVariable z) {
    if (p->z != NULL) {
        p->z[p->count] = z;
    }
    return p->count++;
}

// Friction of two rows: impulses to the corners of the polygon, all together at most share
// x_normal.
static void rgPivots_AddPolygon(rgPivots* p, int sides, int row, double share, int normal) {
    if (share == 0) {
        return;
    }
    int multiplier = p->count + sides;
    for (int k = 0; k < sides; ++k) {
        double a[2], b[2];
        rgPolygonNormal(sides, k, a);
        rgPolygonNormal(sides, (k + 1) % sides, b);
        double scale = 1 / (1 + a[0] * b[0] + a[1] * b[1]); // the corner between two sides
        rgPivots_Add(p, (rgPivotVariable){.row = row,
                                          .along = {scale * (a[0] + b[0]), scale * (a[1] + b[1])},
                                          .bound = multiplier,
                                          .normal = -1});
    }
    rgPivots_Add(p, (rgPivotVariable){.row = -1, .bound = -1, .normal = normal, .share = share});
}

static void rgPivots_AddContact(rgPivots* p, const rgSystemBlock* block) {
    int sides = rgModelSides(p->system->model);
    int normal = rgPivots_Add(
        p, (rgPivotVariable){.row = block->row + 2, .along = {1, 0}, .bound = -1, .normal = -1});
    rgPivots_AddPolygon(p, sides, block->row, block->mu, normal);
    if (block->size > 3 && block->torsion > 0) {
        int multiplier = p->count + 2;
        for (int side = 1; side >= -1; side -= 2) {
            rgPivots_Add(p, (rgPivotVariable){.row = block->row + 3,
                                              .along = {side, 0},
                                              .bound = multiplier,
                                              .normal = -1});
        }
        rgPivots_Add(p, (rgPivotVariable){
                            .row = -1, .bound = -1, .normal = normal, .share = block->torsion});
    }
    if (block->size > 4) {
        rgPivots_AddPolygon(p, sides, block->row + 4, block->rolling, normal);
    }
}

// An interval: from its lower end up, from its upper end down, or from zero either way.
static void rgPivots_AddRow(rgPivots* p, int row, double low, double high) {
    bool below = low > -INFINITY, above = high < INFINITY;
    double origin = below ? low : above ? high : 0;
    if (p->origin != NULL) {
        p->origin[row] = origin;
    }
    rgPivotVariable up = {.row = row, .along = {1, 0}, .bound = -1, .normal = -1}, down = up;
    down.along[0] = -1;
    if (below && above) {
        up.bound = p->count + 1;
        rgPivots_Add(p, up);
        rgPivots_Add(p,
                     (rgPivotVariable){.row = -1, .bound = -1, .normal = -1, .reach = high - low});
    } else {
        if (below || !above) {
            rgPivots_Add(p, up);
        }
        if (!below) {
            rgPivots_Add(p, down);
        }
    }
}

static void rgPivots_AddAll(rgPivots* p) {
    p->count = 0;
    for (int i = 0; i < p->system->blockCount; ++i) {
        const rgSystemBlock* block = p->system->blocks + i;
        if (block->kind == rg_blockCoulomb) {
            rgPivots_AddContact(p, block);
            continue;
        }
        bool box = block->kind == rg_blockBox, half = block->kind == rg_blockHalfLine;
        for (int k = 0; k < block->size; ++k) {
            rgPivots_AddRow(p, block->row + k,
                            box    ? block->lower
                            : half ? 0
                                   : -INFINITY,
                            box ? block->upper : INFINITY);
        }
    }
}

static rgResult rgPivots_Init(rgPivots* p, rgSystem* system) {
    rgArena* arena = system->arena;
    *p = (rgPivots){.system = system};
    rgPivots_AddAll(p); // counts
    if (p->count > RG_PIVOT_MOST) {
        return rg_ok;
    }
    size_t count = (size_t)p->count;
    p->z = RG_TAKE(arena, rgPivotVariable, count);
    p->origin = RG_TAKE(arena, double, system->n);
    p->table = RG_TAKE(arena, double, count*(count + 2));
    p->q = RG_TAKE(arena, double, count);
    p->basic = RG_TAKE(arena, int, count);
    p->nonbasic = RG_TAKE(arena, int, count + 1);
    if (arena->failed) {
        return rg_errorMemory;
    }
    memset(p->origin, 0, (size_t)system->n * sizeof(double));
    rgPivots_AddAll(p);
    return rg_ok;
}

static double rgAlong(const rgPivotVariable* z, const double* x) {
    if (z->row < 0) {
        return 0;
    }
    return z->along[0] * x[z->row] + (z->along[1] != 0 ? z->along[1] * x[z->row + 1] : 0);
}

// The covering vector: positive, and different for every try, so that ties are rare.
static double rgCover(int i, int attempt) {
    uint32_t x = (uint32_t)i * 2654435761u + (uint32_t)attempt * 40503u;
    x ^= x >> 15;
    x *= 2246822519u;
    x ^= x >> 13;
    return 1 + (double)(x & 0xffff) / 65536;
}

// w = M z + cover z_0 + q
static void rgPivots_Fill(rgPivots* p, int attempt, double* unit, double* moved) {
    int m = p->count;
    size_t width = (size_t)m + 2;
    rgSystem_Velocity(p->system, p->origin, moved);
    for (int i = 0; i < m; ++i) {
        p->q[i] = p->z[i].row >= 0 ? rgAlong(p->z + i, moved) : p->z[i].reach;
        p->basic[i] = m + 1 + i;
        p->nonbasic[i] = i;
        p->table[(size_t)i * width + (size_t)m] = rgCover(i, attempt);
        p->table[(size_t)i * width + (size_t)m + 1] = p->q[i];
    }
    p->nonbasic[m] = m;
    memset(unit, 0, (size_t)p->system->n * sizeof(double));
    for (int j = 0; j < m; ++j) {
        const rgPivotVariable* z = p->z + j;
        if (z->row >= 0) {
            unit[z->row] = z->along[0];
            if (z->along[1] != 0) {
                unit[z->row + 1] = z->along[1];
            }
            p->system->ops->apply(p->system, unit, moved);
            unit[z->row] = 0;
            if (z->along[1] != 0) {
                unit[z->row + 1] = 0;
            }
        }
        for (int i = 0; i < m; ++i) {
            double value = z->row >= 0 ? rgAlong(p->z + i, moved) : 0;
            value += p->z[i].bound == j ? 1 : 0;
            value -= z->bound == i ? 1 : 0;
            value += p->z[i].normal == j ? p->z[i].share : 0;
            p->table[(size_t)i * width + (size_t)j] = value;
        }
    }
}

// Exchange the basic variable of a row and the nonbasic one of a column.
static void rgPivots_Exchange(rgPivots* p, int row, int column) {
    int m = p->count;
    size_t width = (size_t)m + 2;
    double* pivotRow = p->table + (size_t)row * width;
    double inverse = 1 / pivotRow[column];
    for (int j = 0; j < m + 2; ++j) {
        pivotRow[j] *= -inverse;
    }
    pivotRow[column] = inverse;
    for (int i = 0; i < m; ++i) {
        double* other = p->table + (size_t)i * width;
        double factor = other[column];
        if (i == row || factor == 0) {
            continue;
        }
        other[column] = 0;
        p->system->kernels->axpy(m + 2, factor, pivotRow, other);
    }
    int leaving = p->basic[row];
    p->basic[row] = p->nonbasic[column];
    p->nonbasic[column] = leaving;
}

// The row that limits the growth of a column's variable; of several, z_0's or the largest pivot.
// -1: nothing does.
static int rgPivots_Limit(const rgPivots* p, int column) {
    int m = p->count;
    size_t width = (size_t)m + 2;
    double largest = 0, least = INFINITY;
    for (int i = 0; i < m; ++i) {
        largest = RG_MAX(largest, fabs(p->table[(size_t)i * width + (size_t)column]));
    }
    for (int i = 0; i < m; ++i) {
        double entry = p->table[(size_t)i * width + (size_t)column];
        double value = RG_MAX(p->table[(size_t)i * width + (size_t)m + 1], 0);
        if (entry < -RG_PIVOT_LEAST * largest) {
            least = RG_MIN(least, value / -entry);
        }
    }
    int row = -1;
    double best = 0;
    for (int i = 0; i < m && least < INFINITY; ++i) {
        double entry = p->table[(size_t)i * width + (size_t)column];
        double value = RG_MAX(p->table[(size_t)i * width + (size_t)m + 1], 0);
        bool ties =
            entry < -RG_PIVOT_LEAST * largest && value / -entry <= least * (1 + 1e-9) + 1e-14;
        if (ties && (p->basic[i] == m || -entry > best)) {
            row = i;
            best = p->basic[i] == m ? INFINITY : -entry;
        }
    }
    return row;
}

// Lemke's path, from a z_0 that makes all w positive to z_0 = 0. False when it ends on a ray or
// does not end.
static bool rgPivots_Follow(rgPivots* p) {
    int m = p->count;
    size_t width = (size_t)m + 2;
    int row = -1;
    double worst = 0;
    for (int i = 0; i < m; ++i) {
        double cover = p->table[(size_t)i * width + (size_t)m];
        if (p->q[i] / cover < worst) {
            worst = p->q[i] / cover;
            row = i;
        }
    }
    int column = m, place = row; // of z_0
    for (int k = 0; row >= 0 && k < 50 * m + 100; ++k) {
        int leaving = p->basic[row];
        rgPivots_Exchange(p, row, column);
        if (leaving == m ||
            p->table[(size_t)place * width + (size_t)m + 1] < -RG_PIVOT_END * worst) {
            return true;
        }
        int entering = leaving > m ? leaving - m - 1 : leaving + m + 1; // its complement
        for (column = 0; column <= m && p->nonbasic[column] != entering; ++column) {
        }
        row = rgPivots_Limit(p, column);
    }
    return row < 0 && worst == 0; // q >= 0: z = 0
}

static void rgPivots_Read(const rgPivots* p, double* lambda) {
    int m = p->count;
    memcpy(lambda, p->origin, (size_t)p->system->n * sizeof(double));
    for (int i = 0; i < m; ++i) {
        if (p->basic[i] >= m || p->z[p->basic[i]].row < 0) {
            continue;
        }
        const rgPivotVariable* z = p->z + p->basic[i];
        double value = p->table[(size_t)i * ((size_t)m + 2) + (size_t)m + 1];
        lambda[z->row] += z->along[0] * value;
        if (z->along[1] != 0) {
            lambda[z->row + 1] += z->along[1] * value;
        }
    }
}

rgResult rgRunPivots(rgRun* run) {
    rgSystem* system = run->system;
    rgArenaMark mark = rgArena_Mark(system->arena);
    double* lambda = RG_TAKE(system->arena, double, system->n);
    double* moved = RG_TAKE(system->arena, double, system->n);
    rgPivots pivots;
    rgResult result = rgPivots_Init(&pivots, system);
    if (result != rg_ok || system->arena->failed) {
        return rg_errorMemory;
    }
    for (int attempt = 0; pivots.count <= RG_PIVOT_MOST && attempt < RG_PIVOT_TRIES &&
                          !rgRun_Solved(run) && rgRun_Count(run, rg_phasePivot);
         ++attempt) {
        rgPivots_Fill(&pivots, attempt, lambda, moved);
        if (rgPivots_Follow(&pivots)) {
            rgPivots_Read(&pivots, lambda);
            rgRun_UpdateBest(run, lambda, NULL);
            result = rgRun_Solved(run) ? rg_ok : rgRunGaussSeidel(run, lambda, RG_PIVOT_SWEEPS, 1);
        }
        rgRun_Record(run, &(rgContactRecord){.phase = rg_phasePivot,
                                             .primal = NAN,
                                             .dual = NAN,
                                             .complementarity = NAN,
                                             .residual = run->bestResidual,
                                             .penalty = NAN});
    }
    rgArena_Return(system->arena, mark);
    return result;
}
