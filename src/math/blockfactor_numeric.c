// Numeric factorization front by front in postorder, and the solves. Nothing here depends on
// anything but the values and the analysis: results are the same bits every time.
#include "math/blockfactor_private.h"

#include <stdatomic.h>
#include <string.h>

static rgResult rgReserveNumbers(rgBlockFactor* f, rgFactorKind kind) {
    size_t count = f->panelCount + (kind == rg_factorLu ? f->upperCount : 0);
    size_t updates = f->updateCount + 1; // one front needs none
    size_t vectors = (size_t)f->scalarCount + 2 * (size_t)f->largestOrder;
    size_t workers = rgBlockFactor_IsParallel(f) ? (size_t)f->tasks.workerCount : 1;
    f->groupCount = ((size_t)f->scalarCount + (size_t)f->largestOrder) * rg_groupSize;
    const rgAllocator* allocator = &f->allocator;
    rgResult result = rgBuffer_Reserve(&f->valueMemory, allocator, count * sizeof(double));
    if (result == rg_ok) {
        result = rgBuffer_Reserve(&f->updateMemory, allocator, updates * sizeof(double));
    }
    if (result == rg_ok) {
        size_t bytes = (vectors + workers * f->groupCount) * sizeof(double);
        result = rgBuffer_Reserve(&f->vectorMemory, allocator, bytes);
    }
    if (result == rg_ok) {
        size_t bytes = (1 + workers) * (size_t)f->frontCount * sizeof(bool);
        result = rgBuffer_Reserve(&f->flagMemory, allocator, bytes);
    }
    if (result == rg_ok && kind == rg_factorLu) {
        result = rgBuffer_Reserve(&f->pivotMemory, allocator, (size_t)f->scalarCount * sizeof(int));
    }
    f->values = f->valueMemory.memory;
    f->updates = f->updateMemory.memory;
    f->vector = f->vectorMemory.memory;
    f->part = f->vector != NULL ? f->vector + f->scalarCount : NULL;
    f->group = f->vector != NULL ? f->vector + vectors : NULL;
    f->needed = f->flagMemory.memory;
    f->reached = f->needed != NULL ? f->needed + f->frontCount : NULL;
    f->pivots = f->pivotMemory.memory;
    return result;
}

// target(r, c) = block(r, c), block row-major height x width, target column-major.
static void rgCopyBlock(int height, int width, const double* block, double* target, size_t lead) {
    for (int r = 0; r < height; ++r) {
        for (int c = 0; c < width; ++c) {
            target[(size_t)c * lead + (size_t)r] = block[r * width + c];
        }
    }
}

// target(r, c) = block(c, r), block row-major width x height.
static void rgCopyTransposed(int height, int width, const double* block, double* target,
                             size_t lead) {
    for (int c = 0; c < width; ++c) {
        for (int r = 0; r < height; ++r) {
            target[(size_t)c * lead + (size_t)r] = block[c * height + r];
        }
    }
}

static void rgShiftDiagonal(int count, double shift, double* block, size_t lead) {
    for (int i = 0; i < count; ++i) {
        block[(size_t)i * lead + (size_t)i] += shift;
    }
}

static void rgClear(double* values, size_t count) {
    if (count > 0) {
        memset(values, 0, count * sizeof(double));
    }
}

// Have the blocks of an entry some places ahead brought near.
static void rgFetchAhead(const rgBlockFactor* f, int entry, const double* const* values) {
    enum { rg_ahead = 6 };
    if (entry + rg_ahead < (f->entryCount + f->blockCount) / 2) {
        const rgEntry* e = &f->entries[entry + rg_ahead];
        for (int i = 0; i < e->width * e->height; i += 8) {
            __builtin_prefetch(values[e->lower] + i);
            __builtin_prefetch(values[e->upper] + i);
        }
    }
}

static void rgAssembleLower(const rgBlockFactor* f, const rgFrontNumbers* n,
                            const double* const* values, double shift) {
    const rgFront* front = n->front;
    size_t lead = (size_t)front->lead;
    rgClear(n->panel, lead * (size_t)front->width);
    for (int k = 0; k < front->entryCount; ++k) {
        const rgEntry* e = &f->entries[front->entryStart + k];
        double* target = n->panel + (size_t)e->column * lead + e->row;
        if (e->flipped) {
            rgCopyTransposed(e->height, e->width, values[e->upper], target, lead);
        } else {
            rgCopyBlock(e->height, e->width, values[e->lower], target, lead);
        }
        if (e->lower == e->upper) {
            rgShiftDiagonal(e->width, shift, target, lead);
        }
    }
}

static void rgAssembleBoth(const rgBlockFactor* f, const rgFrontNumbers* n,
                           const double* const* values, double shift) {
    const rgFront* front = n->front;
    size_t lead = (size_t)front->lead, upperLead = (size_t)n->upperLead;
    rgClear(n->panel, lead * (size_t)front->width);
    rgClear(n->upper, upperLead * (size_t)n->rest);
    for (int k = 0; k < front->entryCount; ++k) {
        const rgEntry* e = &f->entries[front->entryStart + k];
        rgFetchAhead(f, front->entryStart + k, values);
        double* target = n->panel + (size_t)e->column * lead + e->row;
        rgCopyBlock(e->height, e->width, values[e->lower], target, lead);
        if (e->lower == e->upper) {
            rgShiftDiagonal(e->width, shift, target, lead);
        } else if (e->row < front->width) {
            target = n->panel + (size_t)e->row * lead + e->column;
            rgCopyBlock(e->width, e->height, values[e->upper], target, lead);
        } else {
            target = n->upper + (size_t)(e->row - front->width) * upperLead + e->column;
            rgCopyBlock(e->width, e->height, values[e->upper], target, upperLead);
        }
    }
}

// Place of (row, column) of a front for runs that start there.
static double* rgFrontAt(const rgFrontNumbers* n, int row, int column, int* lead) {
    int width = n->front->width;
    if (column < width) {
        *lead = n->front->lead;
        return n->panel + (size_t)column * (size_t)*lead + row;
    }
    if (row < width) {
        *lead = n->upperLead;
        return n->upper + (size_t)(column - width) * (size_t)*lead + row;
    }
    *lead = n->front->updateLead;
    return n->update + (size_t)(column - width) * (size_t)*lead + (row - width);
}

// Add the part of a child's update matrix with these runs as rows and columns.
static void rgAddRuns(const rgBlockFactor* f, const rgFrontNumbers* n, const rgFrontNumbers* child,
                      const rgRun* row, const rgRun* column) {
    int lead, from = child->front->updateLead;
    double* target = rgFrontAt(n, row->to, column->to, &lead);
    const double* source = child->update + (size_t)column->from * (size_t)from + row->from;
    f->kernels->addMatrix(row->count, column->count, source, from, target, lead);
}

// Add the lower triangle of one run.
static void rgAddTriangle(const rgFrontNumbers* n, const rgFrontNumbers* child, const rgRun* run) {
    int lead, from = child->front->updateLead;
    double* target = rgFrontAt(n, run->to, run->to, &lead);
    const double* source = child->update + (size_t)run->from * (size_t)from + run->from;
    for (int c = 0; c < run->count; ++c) {
        for (int r = c; r < run->count; ++r) {
            target[r] += source[r];
        }
        target += lead;
        source += from;
    }
}

// Add columns first .. end - 1 of a child's runs, from the rows of run `top` on; the lower triangle
// only, or both.
static void rgAddColumnRuns(const rgBlockFactor* f, const rgFrontNumbers* n,
                            const rgFrontNumbers* child, int first, int end, int top, bool both) {
    const rgRun* runs = f->runs + child->front->runStart;
    int count = child->front->runCount;
    for (int c = first; c < end; ++c) {
        if (!both) {
            rgAddTriangle(n, child, &runs[c]);
        }
        for (int r = both ? top : c + 1; r < count; ++r) {
            rgAddRuns(f, n, child, &runs[r], &runs[c]);
        }
    }
}

// The first of a child's runs beyond the fully summed rows of the front.
static int rgFirstRest(const rgBlockFactor* f, const rgFrontNumbers* n, const rgFront* child) {
    const rgRun* runs = f->runs + child->runStart;
    int c = 0;
    while (c < child->runCount && runs[c].to < n->front->width) {
        ++c;
    }
    return c;
}

// Before the elimination: add children to the fully summed columns, and rows with `both`.
static void rgAddChildren(const rgBlockFactor* f, const rgFrontNumbers* n, bool both) {
    for (int c = n->front->firstChild; c != -1; c = f->fronts[c].nextSibling) {
        rgFrontNumbers child = rgNumbersOf(f, c);
        const rgRun* runs = f->runs + child.front->runStart;
        int rest = rgFirstRest(f, n, child.front);
        rgAddColumnRuns(f, n, &child, 0, rest, 0, both);
        for (int k = rest; both && k < child.front->runCount; ++k) {
            for (int r = 0; r < rest; ++r) {
                rgAddRuns(f, n, &child, &runs[r], &runs[k]);
            }
        }
    }
}

// After the elimination, which sets the update matrix: add children to it.
static void rgPassChildrenOn(const rgBlockFactor* f, const rgFrontNumbers* n, bool both) {
    for (int c = n->front->firstChild; c != -1; c = f->fronts[c].nextSibling) {
        rgFrontNumbers child = rgNumbersOf(f, c);
        int rest = rgFirstRest(f, n, child.front);
        rgAddColumnRuns(f, n, &child, rest, child.front->runCount, rest, both);
    }
}

static bool rgEliminateCholesky(const rgBlockFactor* f, const rgFrontNumbers* n) {
    const rgFront* front = n->front;
    if (!f->kernels->choleskyPanel(front->order, front->width, n->panel, front->lead)) {
        return false;
    }
    if (n->rest > 0) {
        f->kernels->negativeSelfProduct(n->rest, front->width, n->panel + front->width, front->lead,
                                        n->update, front->updateLead);
        rgPassChildrenOn(f, n, false);
    }
    return true;
}

static bool rgEliminateLu(const rgBlockFactor* f, const rgFrontNumbers* n) {
    const rgFront* front = n->front;
    int* pivots = f->pivots + front->start;
    if (!f->kernels->luPanel(front->order, front->width, n->panel, front->lead, pivots)) {
        return false;
    }
    if (n->rest > 0) {
        f->kernels->luForward(front->width, n->rest, n->panel, front->lead, pivots, n->upper,
                              n->upperLead);
        f->kernels->negativeProduct(n->rest, n->rest, front->width, n->panel + front->width,
                                    front->lead, n->upper, n->upperLead, n->update,
                                    front->updateLead);
        rgPassChildrenOn(f, n, true);
    }
    return true;
}

// A factorization in progress.
typedef struct rgFactorization {
    rgBlockFactor* f;
    const double* const* values;
    double shift;
    rgFactorKind kind;
    atomic_bool failed;
} rgFactorization;

static bool rgFactorFront(const rgFactorization* run, int index) {
    const rgBlockFactor* f = run->f;
    rgFrontNumbers n = rgNumbersOf(f, index);
    bool lu = run->kind == rg_factorLu;
    if (lu) {
        rgAssembleBoth(f, &n, run->values, run->shift);
    } else {
        rgAssembleLower(f, &n, run->values, run->shift);
    }
    rgAddChildren(f, &n, lu);
    return lu ? rgEliminateLu(f, &n) : rgEliminateCholesky(f, &n);
}

static void rgFactorPiece(int index, int worker, void* context) {
    (void)worker;
    rgFactorization* run = context;
    const rgPiece* piece = &run->f->pieces[index];
    for (int s = piece->firstFront; s < piece->endFront && !atomic_load(&run->failed); ++s) {
        if (!rgFactorFront(run, s)) {
            atomic_store(&run->failed, true);
        }
    }
}

static rgResult rgFactor(rgBlockFactor* f, const double* const* values, double shift,
                         rgFactorKind kind) {
    f->kind = rg_factorNone;
    if (!f->analysed) {
        return rg_errorArgument;
    }
    rgResult result = rgReserveNumbers(f, kind);
    if (result != rg_ok) {
        return result;
    }
    rgFactorization run = {f, values, shift, kind, false};
    if (rgBlockFactor_IsParallel(f)) {
        rgTasks_RunTree(&f->tasks, f->pieceCount, f->pieceParent, f->pieceScratch, rgFactorPiece,
                        &run);
    } else if (f->pieceCount > 0) {
        rgFactorPiece(0, 0, &run);
    }
    if (atomic_load(&run.failed)) {
        return rg_errorNumeric;
    }
    f->kind = kind;
    return rg_ok;
}

rgResult rgBlockFactor_Cholesky(rgBlockFactor* f, const double* const* values, double shift) {
    return rgFactor(f, values, shift, rg_factorCholesky);
}

rgResult rgBlockFactor_Lu(rgBlockFactor* f, const double* const* values, double shift) {
    return rgFactor(f, values, shift, rg_factorLu);
}

// Rows of a front beyond its own columns: take them from the vector, or subtract from it.
static void rgGatherRows(const rgBlockFactor* f, const rgFront* front, double* part) {
    for (int r = 0; r < front->rowCount; ++r) {
        int at = f->rows[front->rowStart + r];
        for (int i = f->start[at]; i < f->start[at + 1]; ++i) {
            *part++ = f->vector[i];
        }
    }
}

static void rgSubtractFromRows(const rgBlockFactor* f, const rgFront* front, const double* part) {
    for (int r = 0; r < front->rowCount; ++r) {
        int at = f->rows[front->rowStart + r];
        for (int i = f->start[at]; i < f->start[at + 1]; ++i) {
            f->vector[i] -= *part++;
        }
    }
}

static void rgSubtract(int n, const double* y, double* x) {
    for (int i = 0; i < n; ++i) {
        x[i] -= y[i];
    }
}

static void rgForward(const rgBlockFactor* f, int index) {
    rgFrontNumbers n = rgNumbersOf(f, index);
    const rgFront* front = n.front;
    double* x = f->vector + front->start;
    if (f->kind == rg_factorCholesky) {
        f->kernels->lowerSolve(front->width, n.panel, front->lead, x);
    } else {
        f->kernels->luForward(front->width, 1, n.panel, front->lead, f->pivots + front->start, x,
                              front->width);
    }
    if (n.rest > 0) {
        f->kernels->multiply(n.rest, front->width, n.panel + front->width, front->lead, x, f->part);
        rgSubtractFromRows(f, front, f->part);
    }
}

static void rgBackward(const rgBlockFactor* f, int index) {
    rgFrontNumbers n = rgNumbersOf(f, index);
    const rgFront* front = n.front;
    double* x = f->vector + front->start;
    double* product = f->part + f->largestOrder;
    bool lu = f->kind == rg_factorLu;
    if (n.rest > 0) {
        rgGatherRows(f, front, f->part);
        if (lu) {
            f->kernels->multiply(front->width, n.rest, n.upper, n.upperLead, f->part, product);
        } else {
            f->kernels->multiplyTransposed(n.rest, front->width, n.panel + front->width,
                                           front->lead, f->part, product);
        }
        rgSubtract(front->width, product, x);
    }
    if (lu) {
        f->kernels->upperSolve(front->width, n.panel, front->lead, x);
    } else {
        f->kernels->lowerTransposedSolve(front->width, n.panel, front->lead, x);
    }
}

static void rgPermute(const rgBlockFactor* f, double* x, bool in) {
    for (int at = 0; at < f->blockCount; ++at) {
        double* outside = x + f->blockStart[f->order[at]];
        double* inside = f->vector + f->start[at];
        size_t bytes = (size_t)(f->start[at + 1] - f->start[at]) * sizeof(double);
        memcpy(in ? inside : outside, in ? outside : inside, bytes);
    }
}

void rgBlockFactor_Solve(rgBlockFactor* f, double* x) {
    RG_ASSERT(f->kind != rg_factorNone);
    if (f->kind == rg_factorNone) {
        return;
    }
    rgPermute(f, x, true);
    for (int s = 0; s < f->frontCount; ++s) {
        rgForward(f, s);
    }
    for (int s = f->frontCount - 1; s >= 0; --s) {
        rgBackward(f, s);
    }
    rgPermute(f, x, false);
}
