// Solves with many right-hand sides. A group of them is kept transposed, one row of rg_groupSize
// numbers for every scalar of the matrix, so that each front needs products with contiguous columns
// only. Fronts below which every right-hand side of the group is zero are passed over on the way
// forward, and fronts below which no solution is wanted on the way back.
#include "math/blockfactor_private.h"

#include <string.h>

// Columns of a triangle that are solved one by one; their updates by the others are products.
enum { rg_triangleStep = 8 };

static double* rgGroupAt(double* group, int scalar) {
    return group + (size_t)scalar * rg_groupSize;
}

// x -= a y, and x *= a, for one row of a group.
static void rgSubtractRow(int count, double a, const double* y, double* restrict x) {
    for (int i = 0; i < count; ++i) {
        x[i] -= a * y[i];
    }
}

static void rgScaleRow(int count, double a, double* x) {
    for (int i = 0; i < count; ++i) {
        x[i] *= a;
    }
}

// L X = B with the lower triangle of T, whose diagonal is one with `unit`.
static void rgSolveLower(const rgKernels* kernels, int n, const double* T, int lead, bool unit,
                         int count, double* X) {
    size_t ld = (size_t)lead;
    for (int first = 0; first < n; first += rg_triangleStep) {
        int end = RG_MIN(n, first + rg_triangleStep);
        if (first > 0) {
            kernels->subtractOuterProduct(count, end - first, first, X, rg_groupSize, T + first,
                                          lead, rgGroupAt(X, first), rg_groupSize);
        }
        for (int i = first; i < end; ++i) {
            double* x = rgGroupAt(X, i);
            for (int j = first; j < i; ++j) {
                rgSubtractRow(count, T[(size_t)j * ld + (size_t)i], rgGroupAt(X, j), x);
            }
            if (!unit) {
                rgScaleRow(count, 1 / T[(size_t)i * ld + (size_t)i], x);
            }
        }
    }
}

// L' X = B with the lower triangle of T.
static void rgSolveLowerTransposed(const rgKernels* kernels, int n, const double* T, int lead,
                                   int count, double* X) {
    size_t ld = (size_t)lead;
    for (int end = n; end > 0;) {
        int first = (end - 1) / rg_triangleStep * rg_triangleStep;
        if (end < n) {
            kernels->subtractProduct(count, end - first, n - end, rgGroupAt(X, end), rg_groupSize,
                                     T + (size_t)first * ld + end, lead, rgGroupAt(X, first),
                                     rg_groupSize);
        }
        for (int i = end - 1; i >= first; --i) {
            double* x = rgGroupAt(X, i);
            for (int j = i + 1; j < end; ++j) {
                rgSubtractRow(count, T[(size_t)i * ld + (size_t)j], rgGroupAt(X, j), x);
            }
            rgScaleRow(count, 1 / T[(size_t)i * ld + (size_t)i], x);
        }
        end = first;
    }
}

// U X = B with the upper triangle of T.
static void rgSolveUpper(const rgKernels* kernels, int n, const double* T, int lead, int count,
                         double* X) {
    size_t ld = (size_t)lead;
    for (int end = n; end > 0;) {
        int first = (end - 1) / rg_triangleStep * rg_triangleStep;
        if (end < n) {
            kernels->subtractOuterProduct(count, end - first, n - end, rgGroupAt(X, end),
                                          rg_groupSize, T + (size_t)end * ld + first, lead,
                                          rgGroupAt(X, first), rg_groupSize);
        }
        for (int i = end - 1; i >= first; --i) {
            double* x = rgGroupAt(X, i);
            for (int j = i + 1; j < end; ++j) {
                rgSubtractRow(count, T[(size_t)j * ld + (size_t)i], rgGroupAt(X, j), x);
            }
            rgScaleRow(count, 1 / T[(size_t)i * ld + (size_t)i], x);
        }
        end = first;
    }
}

static void rgExchangeRows(int n, const int* pivots, double* X) {
    double kept[rg_groupSize];
    for (int i = 0; i < n; ++i) {
        if (pivots[i] != i) {
            memcpy(kept, rgGroupAt(X, i), sizeof(kept));
            memcpy(rgGroupAt(X, i), rgGroupAt(X, pivots[i]), sizeof(kept));
            memcpy(rgGroupAt(X, pivots[i]), kept, sizeof(kept));
        }
    }
}

// Rows of a front beyond its own columns, from the group to `part` or back.
static void rgMoveRows(const rgBlockFactor* f, const rgFront* front, double* part, bool back) {
    for (int r = 0; r < front->rowCount; ++r) {
        int at = f->rows[front->rowStart + r];
        size_t size = (size_t)(f->start[at + 1] - f->start[at]) * rg_groupSize;
        double* inside = rgGroupAt(f->group, f->start[at]);
        memcpy(back ? inside : part, back ? part : inside, size * sizeof(double));
        part += size;
    }
}

static double* rgGroupPart(const rgBlockFactor* f) {
    return rgGroupAt(f->group, f->scalarCount);
}

static void rgForwardGroup(const rgBlockFactor* f, int index, int count) {
    rgFrontNumbers n = rgNumbersOf(f, index);
    const rgFront* front = n.front;
    double* X = rgGroupAt(f->group, front->start);
    bool lu = f->kind == rg_factorLu;
    if (lu) {
        rgExchangeRows(front->width, f->pivots + front->start, X);
    }
    rgSolveLower(f->kernels, front->width, n.panel, front->lead, lu, count, X);
    if (n.rest > 0) {
        double* part = rgGroupPart(f);
        rgMoveRows(f, front, part, false);
        f->kernels->subtractOuterProduct(count, n.rest, front->width, X, rg_groupSize,
                                         n.panel + front->width, front->lead, part, rg_groupSize);
        rgMoveRows(f, front, part, true);
    }
}

static void rgBackwardGroup(const rgBlockFactor* f, int index, int count) {
    rgFrontNumbers n = rgNumbersOf(f, index);
    const rgFront* front = n.front;
    double* X = rgGroupAt(f->group, front->start);
    double* part = rgGroupPart(f);
    bool lu = f->kind == rg_factorLu;
    rgMoveRows(f, front, part, false);
    if (lu) {
        f->kernels->subtractOuterProduct(count, front->width, n.rest, part, rg_groupSize, n.upper,
                                         n.upperLead, X, rg_groupSize);
        rgSolveUpper(f->kernels, front->width, n.panel, front->lead, count, X);
    } else {
        f->kernels->subtractProduct(count, front->width, n.rest, part, rg_groupSize,
                                    n.panel + front->width, front->lead, X, rg_groupSize);
        rgSolveLowerTransposed(f->kernels, front->width, n.panel, front->lead, count, X);
    }
}

// Right-hand sides under work, and which blocks of them count; NULL means all.
typedef struct rgColumns {
    int count;
    double* x;
    size_t ldx;
    const bool* chosen; // by block
} rgColumns;

static bool rgIsChosen(const rgColumns* c, int block) {
    return c->chosen == NULL || c->chosen[block];
}

// One block from the columns to the group. Unused places of its rows are zero.
static void rgReadBlock(const rgBlockFactor* f, const rgColumns* c, int at) {
    const double* outside = c->x + f->blockStart[f->order[at]];
    int size = f->start[at + 1] - f->start[at];
    double* row = rgGroupAt(f->group, f->start[at]);
    if (c->count < rg_groupSize || !rgIsChosen(c, f->order[at])) {
        memset(row, 0, (size_t)size * rg_groupSize * sizeof(double));
    }
    if (!rgIsChosen(c, f->order[at])) {
        return;
    }
    for (int i = 0; i < size; ++i, row += rg_groupSize) {
        for (int k = 0; k < c->count; ++k) {
            row[k] = outside[(size_t)k * c->ldx + (size_t)i];
        }
    }
}

static void rgWriteBlock(const rgBlockFactor* f, const rgColumns* c, int at) {
    if (!rgIsChosen(c, f->order[at])) {
        return;
    }
    double* outside = c->x + f->blockStart[f->order[at]];
    int size = f->start[at + 1] - f->start[at];
    const double* row = rgGroupAt(f->group, f->start[at]);
    for (int i = 0; i < size; ++i, row += rg_groupSize) {
        for (int k = 0; k < c->count; ++k) {
            outside[(size_t)k * c->ldx + (size_t)i] = row[k];
        }
    }
}

// True if a child of a front is marked.
static bool rgHasMarkedChild(const rgBlockFactor* f, const rgFront* front, const bool* marked) {
    for (int c = front->firstChild; c != -1; c = f->fronts[c].nextSibling) {
        if (marked[c]) {
            return true;
        }
    }
    return false;
}

// Fronts with chosen blocks and all above them.
static void rgMarkNeeded(const rgBlockFactor* f, const rgColumns* columns) {
    for (int s = 0; s < f->frontCount; ++s) {
        const rgFront* front = &f->fronts[s];
        bool needed = rgHasMarkedChild(f, front, f->needed);
        for (int c = 0; c < front->columnCount && !needed; ++c) {
            needed = rgIsChosen(columns, f->order[front->columnStart + c]);
        }
        f->needed[s] = needed;
    }
}

// True if a front has a right-hand side: of its own, or from the children.
static bool rgIsReached(const rgBlockFactor* f, const rgFront* front) {
    if (rgHasMarkedChild(f, front, f->reached)) {
        return true;
    }
    const double* x = rgGroupAt(f->group, front->start);
    for (int i = 0; i < front->width * rg_groupSize; ++i) {
        if (x[i] != 0) {
            return true;
        }
    }
    return false;
}

static void rgReadGroup(const rgBlockFactor* f, const rgColumns* columns) {
    for (int s = 0; s < f->frontCount; ++s) {
        const rgFront* front = &f->fronts[s];
        for (int c = 0; c < front->columnCount && f->needed[s]; ++c) {
            rgReadBlock(f, columns, front->columnStart + c);
        }
    }
}

static void rgSolveGroup(const rgBlockFactor* f, const rgColumns* columns) {
    rgReadGroup(f, columns);
    for (int s = 0; s < f->frontCount; ++s) {
        f->reached[s] = f->needed[s] && rgIsReached(f, &f->fronts[s]);
        if (f->reached[s]) {
            rgForwardGroup(f, s, columns->count);
        }
    }
    for (int s = f->frontCount - 1; s >= 0; --s) {
        if (f->needed[s]) {
            rgBackwardGroup(f, s, columns->count);
        }
    }
    for (int at = 0; at < f->blockCount; ++at) {
        rgWriteBlock(f, columns, at);
    }
}

// Groups of a solve, which threads take at the same time.
typedef struct rgGroups {
    const rgBlockFactor* f;
    const rgColumns* columns; // of all groups
} rgGroups;

static void rgSolveGroupOf(int index, int worker, void* context) {
    const rgGroups* groups = context;
    rgBlockFactor own = *groups->f;
    rgColumns columns = *groups->columns;
    int first = index * rg_groupSize;
    own.group += (size_t)worker * own.groupCount;
    own.reached += (size_t)worker * (size_t)own.frontCount;
    columns.count = RG_MIN(rg_groupSize, columns.count - first);
    columns.x += (size_t)first * columns.ldx;
    rgSolveGroup(&own, &columns);
}

void rgBlockFactor_SolveSome(rgBlockFactor* f, const bool* chosen, int count, double* x, int ldx) {
    RG_ASSERT(f->kind != rg_factorNone);
    if (f->kind == rg_factorNone) {
        return;
    }
    const rgTasks serial = {0};
    rgColumns columns = {.count = count, .x = x, .ldx = (size_t)ldx, .chosen = chosen};
    rgGroups groups = {f, &columns};
    rgMarkNeeded(f, &columns);
    rgTasks_Run(rgBlockFactor_IsParallel(f) ? &f->tasks : &serial,
                (count + rg_groupSize - 1) / rg_groupSize, rgSolveGroupOf, &groups);
}

void rgBlockFactor_SolveMany(rgBlockFactor* f, int count, double* x, int ldx) {
    rgBlockFactor_SolveSome(f, NULL, count, x, ldx);
}
