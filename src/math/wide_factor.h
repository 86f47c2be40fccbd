// Cholesky and LU factorization for the wide kernels; included after wide_product.h. Both are left
// looking by block columns as wide as a vector: a tile is loaded, updated with everything to its
// left, factorized in registers and stored once.
#pragma once

#include <float.h>
#include <math.h>

// Pivots within a tile's first vector: column c of the tile has its pivot in lane c. The columns
// are kept unscaled until the end, which leaves one division per step on the critical path.
RG_INLINE void rgTile_Cholesky(rgTile* t, int vecs, int cols, double* inverseRoots,
                               rgWide* pivots) {
    rgWide one = rgFill(1), all = one;
    RG_UNROLL
    for (int c = 0; c < cols; ++c) {
        rgWide column = t->at[0][c];
        rgWide inverse = rgOver(one, rgLane(column, c));
        all = rgSelect(rgMaskAnd(rgMaskFrom(c), rgMaskFirst(c + 1)), all, column);
        rgWide scaled[RG_TILE_VECS];
        RG_UNROLL
        for (int v = 0; v < vecs; ++v) {
            scaled[v] = rgTimes(t->at[v][c], inverse);
        }
        RG_UNROLL
        for (int j = c + 1; j < cols; ++j) {
            rgWide factor = rgLane(column, j);
            RG_UNROLL
            for (int v = 0; v < vecs; ++v) {
                t->at[v][j] = rgMinusProduct(t->at[v][j], scaled[v], factor);
            }
        }
    }
    rgWide roots = rgOver(one, rgRoot(all));
    RG_UNROLL
    for (int c = 0; c < cols; ++c) {
        rgWide root = rgLane(roots, c);
        RG_UNROLL
        for (int v = 0; v < vecs; ++v) {
            t->at[v][c] = rgTimes(t->at[v][c], root);
        }
    }
    rgStore(inverseRoots, roots);
    *pivots = all;
}

RG_INLINE bool rgAllPositive(rgWide pivots) {
    double d[RG_LANES];
    rgStore(d, pivots);
    bool good = true;
    for (int i = 0; i < RG_LANES; ++i) {
        good = good && d[i] >= DBL_MIN && d[i] <= DBL_MAX;
    }
    return good;
}

RG_INLINE bool rgCholeskyTile(int vecs, int cols, const rgTileWork* w, double* inverseRoots) {
    rgTile t;
    rgWide pivots;
    rgTile_Load(&t, vecs, cols, w);
    rgTile_Accumulate(&t, vecs, cols, false, w);
    rgTile_Cholesky(&t, vecs, cols, inverseRoots, &pivots);
    rgTile_Store(&t, vecs, cols, true, w);
    return rgAllPositive(pivots);
}

// Rows below a factorized diagonal block D: X := X D^-T.
RG_INLINE void rgTile_SolveRight(rgTile* t, int vecs, int cols, const double* D, size_t ldd,
                                 const double* inverseRoots) {
    RG_UNROLL
    for (int c = 0; c < cols; ++c) {
        rgWide root = rgFill(inverseRoots[c]);
        RG_UNROLL
        for (int v = 0; v < vecs; ++v) {
            t->at[v][c] = rgTimes(t->at[v][c], root);
        }
        RG_UNROLL
        for (int j = c + 1; j < cols; ++j) {
            rgWide factor = rgFill(D[(size_t)c * ldd + (size_t)j]);
            RG_UNROLL
            for (int v = 0; v < vecs; ++v) {
                t->at[v][j] = rgMinusProduct(t->at[v][j], t->at[v][c], factor);
            }
        }
    }
}

RG_INLINE void rgBelowTile(int vecs, int cols, const rgTileWork* w, const double* D,
                           const double* inverseRoots) {
    rgTile t;
    rgTile_Load(&t, vecs, cols, w);
    rgTile_Accumulate(&t, vecs, cols, false, w);
    rgTile_SolveRight(&t, vecs, cols, D, w->ldc, inverseRoots);
    rgTile_Store(&t, vecs, cols, false, w);
}

RG_INLINE bool rgCholeskyTileOf(int cols, const rgTileWork* w, double* inverseRoots) {
    return w->vecs == 3   ? rgCholeskyTile(3, cols, w, inverseRoots)
           : w->vecs == 2 ? rgCholeskyTile(2, cols, w, inverseRoots)
                          : rgCholeskyTile(1, cols, w, inverseRoots);
}

RG_INLINE void rgBelowTileOf(int cols, const rgTileWork* w, const double* D,
                             const double* inverseRoots) {
    if (w->vecs == 3) {
        rgBelowTile(3, cols, w, D, inverseRoots);
    } else if (w->vecs == 2) {
        rgBelowTile(2, cols, w, D, inverseRoots);
    } else {
        rgBelowTile(1, cols, w, D, inverseRoots);
    }
}

RG_INLINE bool rgCholeskyColumnsOf(int rows, int cols, rgTileWork w) {
    double inverseRoots[RG_LANES];
    const double* D = w.C;
    int done = rgSelectRows(&w, rows);
    if (!rgCholeskyTileOf(cols, &w, inverseRoots)) {
        return false;
    }
    w.A += done;
    w.C += done;
    while (done < rows) {
        int taken = rgSelectRows(&w, rows - done);
        rgBelowTileOf(cols, &w, D, inverseRoots);
        done += taken;
        w.A += taken;
        w.C += taken;
    }
    return true;
}

static bool rgCholeskyColumns(int rows, int cols, const rgTileWork* w) {
    return cols == RG_LANES       ? rgCholeskyColumnsOf(rows, RG_LANES, *w)
           : cols == RG_LANES / 2 ? rgCholeskyColumnsOf(rows, RG_LANES / 2, *w)
           : cols == 2            ? rgCholeskyColumnsOf(rows, 2, *w)
                                  : rgCholeskyColumnsOf(rows, 1, *w);
}

static bool rgWideCholeskyPanel(int m, int n, double* A, int lda) {
    if (n > RG_WIDE_CHOLESKY_LIMIT) {
        return rgLargeCholeskyPanel(m, n, A, lda);
    }
    size_t ld = (size_t)lda;
    rgTileWork w = {.lda = ld, .bRow = ld, .bColumn = 1, .ldc = ld};
    for (int j = 0; j < n;) {
        int cols = rgTileColumns(n - j);
        w.depth = j;
        w.A = w.B = A + j;
        w.C = A + (size_t)j * ld + j;
        if (!rgCholeskyColumns(m - j, cols, &w)) {
            return false;
        }
        j += cols;
    }
    return true;
}

// Below a vector's width plain code has the shorter start-up.
static bool rgWideCholesky(int n, double* A, int lda) {
    if (n <= 4) {
        return rg_plainKernels.cholesky(n, A, lda);
    }
    return rgWideCholeskyPanel(n, n, A, lda);
}

static void rgApplyPivots(int k, const int* pivot, double* x) {
    for (int i = 0; i < k; ++i) {
        double t = x[i];
        x[i] = x[pivot[i]];
        x[pivot[i]] = t;
    }
}

static void rgApplyPivotsToColumns(int count, const int* pivot, int columns, double* X,
                                   size_t ldx) {
    for (int j = 0; j < columns; ++j) {
        rgApplyPivots(count, pivot, X + (size_t)j * ldx);
    }
}

// Row exchanges of one panel, combined: x[to] = x[from].
typedef struct rgMoves {
    int count;
    int to[2 * RG_LANES], from[2 * RG_LANES];
} rgMoves;

RG_INLINE void rgMoves_Add(rgMoves* m, int to, int from) {
    m->to[m->count] = to;
    m->from[m->count] = from;
    m->count += to != from;
}

// Compose row exchanges; at[i] = i on entry and exit.
static void rgMoves_Init(rgMoves* m, int count, const int* pivot, int* at) {
    for (int c = 0; c < count; ++c) {
        int t = at[c];
        at[c] = at[pivot[c]];
        at[pivot[c]] = t;
    }
    m->count = 0;
    for (int c = 0; c < count; ++c) {
        if (pivot[c] >= count) {
            rgMoves_Add(m, pivot[c], at[pivot[c]]);
            at[pivot[c]] = pivot[c];
        }
    }
    for (int c = 0; c < count; ++c) {
        rgMoves_Add(m, c, at[c]);
        at[c] = c;
    }
}

RG_INLINE void rgMoves_ApplyOf(const rgMoves* m, int count, int columns, double* A, size_t lda) {
    for (int j = 0; j < columns; ++j) {
        double* x = A + (size_t)j * lda;
        double moved[2 * RG_LANES];
        RG_UNROLL
        for (int i = 0; i < count; ++i) {
            moved[i] = x[m->from[i]];
        }
        RG_UNROLL
        for (int i = 0; i < count; ++i) {
            x[m->to[i]] = moved[i];
        }
    }
}

// In `columns` columns; a list that is not full is filled up with repetitions.
static void rgMoves_Apply(rgMoves* m, int columns, double* A, size_t lda) {
    if (m->count == 0) {
        return;
    }
    int full = m->count > RG_LANES ? 2 * RG_LANES : RG_LANES;
    for (int i = m->count; i < full; ++i) {
        m->to[i] = m->to[0];
        m->from[i] = m->from[0];
    }
    if (full > RG_LANES) {
        rgMoves_ApplyOf(m, 2 * RG_LANES, columns, A, lda);
    } else {
        rgMoves_ApplyOf(m, RG_LANES, columns, A, lda);
    }
}

// One vector of rows: subtract products of the rows above and left, then steps of the unit lower
// solve with the columns L of these rows.
RG_INLINE void rgUnitSolveTile(int cols, int steps, const double* L, const rgTileWork* w) {
    rgTile t;
    rgTile_Load(&t, 1, cols, w);
    rgTile_Accumulate(&t, 1, cols, false, w);
    RG_UNROLL
    for (int i = 0; i < RG_LANES; ++i) {
        if (i >= steps) {
            break;
        }
        rgMask below = rgMaskAnd(rgMaskFrom(i + 1), w->tail);
        rgWide l = rgLoadMasked(below, L + (size_t)i * w->lda);
        RG_UNROLL
        for (int c = 0; c < cols; ++c) {
            t.at[0][c] = rgMinusProduct(t.at[0][c], l, rgLane(t.at[0][c], i));
        }
    }
    rgTile_Store(&t, 1, cols, false, w);
}

// X := L^-1 X, L unit lower k x k.
RG_INLINE void rgUnitSolveOf(int k, int cols, const double* L, rgTileWork w) {
    for (int i = 0; i < k; i += RG_LANES) {
        int rows = RG_MIN(RG_LANES, k - i);
        w.depth = i;
        w.tail = rgMaskFirst(rows);
        w.A = L + i;
        rgUnitSolveTile(cols, rows, L + (size_t)i * w.lda + i, &w);
        w.C += RG_LANES;
    }
}

static void rgUnitSolve(int k, int cols, const double* L, const rgTileWork* w) {
    if (cols == RG_LANES) {
        rgUnitSolveOf(k, RG_LANES, L, *w);
    } else if (cols == RG_LANES / 2) {
        rgUnitSolveOf(k, RG_LANES / 2, L, *w);
    } else if (cols == 2) {
        rgUnitSolveOf(k, 2, L, *w);
    } else {
        rgUnitSolveOf(k, 1, L, *w);
    }
}

// Original row at each place of a panel while pivots are chosen without moving rows. Only the first
// RG_LANES places are ever given to other rows.
typedef struct rgPlaces {
    int place[RG_LANES];    // places of the original rows 0 .. RG_LANES - 1
    int occupant[RG_LANES]; // original row at the first places
} rgPlaces;

RG_INLINE int rgPlaces_Exchange(rgPlaces* p, int step, int row) {
    int place = row < RG_LANES ? p->place[row] : row;
    int displaced = p->occupant[step];
    p->place[displaced] = place;
    if (place < RG_LANES) {
        p->occupant[place] = displaced;
    }
    return place;
}

// Rows of the panel that may give a pivot, and those that are still to be eliminated.
typedef struct rgPanelRows {
    rgMask candidate[RG_TILE_VECS];
    rgMask active[RG_TILE_VECS];
    unsigned candidateBits; // the candidates once more, one bit for each row
} rgPanelRows;

// Index of the largest candidate in column c, the first one among equals; -1 when NaN leaves none.
// Where some are NaN the maximum may differ from lane to lane, so that a row beyond the candidates
// can equal it; a candidate is then chosen or none. NaN stays in its row or column and fails the
// pivot there, at the latest the last one.
RG_INLINE int rgTile_FindPivot(const rgTile* t, int vecs, int c, const rgPanelRows* rows,
                               rgWide* pivotSize) {
    rgWide size[RG_TILE_VECS];
    rgWide largest = rgZero();
    RG_UNROLL
    for (int v = 0; v < vecs; ++v) {
        // -1 can never be the largest
        size[v] = rgSelect(rows->candidate[v], rgFill(-1), rgSize(t->at[v][c]));
        largest = v == 0 ? size[v] : rgLarger(largest, size[v]);
    }
    largest = rgLargestLane(largest);
    *pivotSize = largest;
    unsigned bits = 0;
    RG_UNROLL
    for (int v = 0; v < vecs; ++v) {
        bits |= rgEqualLanes(size[v], largest) << (v * RG_LANES);
    }
    bits &= rows->candidateBits;
    return bits == 0 ? -1 : __builtin_ctz(bits);
}

// Value of a row in one column, in all lanes.
RG_INLINE rgWide rgTile_Row(const rgTile* t, int vecs, int c, int row) {
    rgWide x = t->at[0][c];
    RG_UNROLL
    for (int v = 1; v < vecs; ++v) {
        x = rgSelect(rgMaskIf(row / RG_LANES == v), x, t->at[v][c]);
    }
    return rgLane(x, row % RG_LANES);
}

// The division needs the pivot's size only and runs while the pivot's row is still looked for.
RG_INLINE void rgTile_Eliminate(rgTile* t, int vecs, int cols, int c, int row, rgWide pivotSize,
                                rgPanelRows* rows) {
    rgWide inverse = rgWithSign(rgOver(rgFill(1), pivotSize), rgTile_Row(t, vecs, c, row));
    rgWide l[RG_TILE_VECS];
    rows->candidateBits &= ~(1u << row);
    RG_UNROLL
    for (int v = 0; v < vecs; ++v) {
        int lane = row / RG_LANES == v ? row % RG_LANES : RG_LANES;
        rows->active[v] = rgMaskWithout(rows->active[v], lane);
        rows->candidate[v] = rgMaskAnd(rows->candidate[v], rows->active[v]);
        rgWide scaled = rgTimes(t->at[v][c], inverse);
        l[v] = rgKeep(rows->active[v], scaled);
        t->at[v][c] = rgSelect(rows->active[v], t->at[v][c], scaled);
    }
    RG_UNROLL
    for (int j = c + 1; j < cols; ++j) {
        rgWide u = rgTile_Row(t, vecs, j, row);
        RG_UNROLL
        for (int v = 0; v < vecs; ++v) {
            t->at[v][j] = rgMinusProduct(t->at[v][j], l[v], u);
        }
    }
}

RG_INLINE bool rgIsUsable(double pivot) {
    return fabs(pivot) >= DBL_MIN && fabs(pivot) <= DBL_MAX;
}

// A panel that fits into registers: pivots come from its first `candidates` rows. Rows are not
// moved here; pivot[] gets the exchanges that the caller then makes.
RG_INLINE bool rgLuTile(int vecs, int cols, int candidates, const rgTileWork* w, int* pivot) {
    rgTile t;
    rgPanelRows rows;
    rgPlaces places;
    RG_UNROLL
    for (int v = 0; v < vecs; ++v) {
        int count = RG_MAX(0, RG_MIN(RG_LANES, candidates - v * RG_LANES));
        rows.candidate[v] = rgMaskFirst(count);
        rows.active[v] = rgMaskFirst(RG_LANES);
    }
    rows.candidateBits = (1u << candidates) - 1; // at most RG_TILE_ROWS bits
    for (int i = 0; i < RG_LANES; ++i) {
        places.place[i] = places.occupant[i] = i;
    }
    rgTile_Load(&t, vecs, cols, w);
    rgTile_Accumulate(&t, vecs, cols, false, w);
    bool good = true;
    RG_UNROLL
    for (int c = 0; c < cols; ++c) {
        rgWide size;
        int row = rgTile_FindPivot(&t, vecs, c, &rows, &size);
        good = good && row >= 0 && rgFirst(size) > 0 && rgIsUsable(rgFirst(size));
        row = RG_MAX(row, 0);
        pivot[c] = rgPlaces_Exchange(&places, c, row);
        rgTile_Eliminate(&t, vecs, cols, c, row, size, &rows);
    }
    rgTile_Store(&t, vecs, cols, false, w);
    return good;
}

RG_INLINE bool rgLuTileOf(int cols, int candidates, const rgTileWork* w, int* pivot) {
    return w->vecs == 3   ? rgLuTile(3, cols, candidates, w, pivot)
           : w->vecs == 2 ? rgLuTile(2, cols, candidates, w, pivot)
                          : rgLuTile(1, cols, candidates, w, pivot);
}

static bool rgLuShortPanel(int cols, int candidates, const rgTileWork* w, int* pivot) {
    return cols == RG_LANES       ? rgLuTileOf(RG_LANES, candidates, w, pivot)
           : cols == RG_LANES / 2 ? rgLuTileOf(RG_LANES / 2, candidates, w, pivot)
           : cols == 2            ? rgLuTileOf(2, candidates, w, pivot)
                                  : rgLuTileOf(1, candidates, w, pivot);
}

// Row of the largest entry among first .. end - 1.
static int rgFindPivot(int first, int end, const double* c) {
    rgWide largest = rgFill(-1);
    int i = first;
    for (; i + RG_LANES <= end; i += RG_LANES) {
        largest = rgLarger(rgSize(rgLoad(c + i)), largest);
    }
    if (i < end) {
        rgMask tail = rgMaskFirst(end - i);
        largest = rgLarger(rgSelect(tail, largest, rgSize(rgLoadMasked(tail, c + i))), largest);
    }
    largest = rgLargestLane(largest);
    double size = rgFirst(largest);
    for (i = first; i + RG_LANES <= end; i += RG_LANES) {
        unsigned bits = rgEqualLanes(rgSize(rgLoad(c + i)), largest);
        if (bits != 0) {
            return i + __builtin_ctz(bits);
        }
    }
    for (; i < end; ++i) {
        if (fabs(c[i]) == size) {
            return i;
        }
    }
    return first;
}

// One elimination step in memory: row c has been exchanged; rows c + 1 .. rows - 1 follow.
RG_INLINE void rgPanelStep(int rows, int cols, int c, double* P, size_t ldp) {
    double* l = P + (size_t)c * ldp;
    rgWide inverse = rgFill(1 / l[c]);
    rgWide u[RG_LANES];
    RG_UNROLL
    for (int j = 0; j < cols; ++j) {
        u[j] = rgFill(P[(size_t)j * ldp + (size_t)c]);
    }
    for (int i = 0; i < rows; i += RG_LANES) {
        rgMask mask = rgMaskFirst(RG_MIN(RG_LANES, rows - i));
        mask = i == 0 ? rgMaskAnd(mask, rgMaskFrom(c + 1)) : mask;
        rgWide x = rgTimes(rgLoadMasked(mask, l + i), inverse);
        rgStoreMasked(mask, l + i, x);
        RG_UNROLL
        for (int j = c + 1; j < cols; ++j) {
            double* p = P + (size_t)j * ldp + i;
            rgStoreMasked(mask, p, rgMinusProduct(rgLoadMasked(mask, p), x, u[j]));
        }
    }
}

// Choose the pivot of column c, exchange the rows and eliminate.
RG_INLINE bool rgTallStep(int rows, int cols, int candidates, int c, double* P, size_t ldp,
                          int* pivot) {
    int row = rgFindPivot(c, candidates, P + (size_t)c * ldp);
    *pivot = row;
    for (int j = 0; j < cols; ++j) {
        double* x = P + (size_t)j * ldp;
        double t = x[c];
        x[c] = x[row];
        x[row] = t;
    }
    bool good = rgIsUsable(P[(size_t)c * ldp + (size_t)c]);
    if (good) {
        rgPanelStep(rows, cols, c, P, ldp);
    }
    return good;
}

RG_INLINE bool rgLuTallPanelOf(int rows, int cols, int candidates, double* P, size_t ldp,
                               int* pivot) {
    bool good = true;
    RG_UNROLL
    for (int c = 0; c < cols; ++c) {
        good = good && rgTallStep(rows, cols, candidates, c, P, ldp, pivot + c);
    }
    return good;
}

static bool rgLuTallPanel(int rows, int cols, int candidates, double* P, size_t ldp, int* pivot) {
    return cols == RG_LANES       ? rgLuTallPanelOf(rows, RG_LANES, candidates, P, ldp, pivot)
           : cols == RG_LANES / 2 ? rgLuTallPanelOf(rows, RG_LANES / 2, candidates, P, ldp, pivot)
           : cols == 2            ? rgLuTallPanelOf(rows, 2, candidates, P, ldp, pivot)
                                  : rgLuTallPanelOf(rows, 1, candidates, P, ldp, pivot);
}

// Factorize columns j .. j + cols - 1 from row j on; w is aimed at them with depth j. The
// pivots are counted from row j here; their exchanges are made in all other columns.
static bool rgLuColumns(int m, int n, int j, int cols, rgTileWork* w, double* A, int* local,
                        int* at) {
    int rows = m - j;
    size_t ld = w->ldc;
    bool shortPanel = rows <= RG_TILE_ROWS;
    bool good;
    if (shortPanel) {
        rgSelectRows(w, rows);
        good = rgLuShortPanel(cols, n - j, w, local);
    } else {
        rgSubtractColumns(rows, cols, w);
        good = rgLuTallPanel(rows, cols, n - j, w->C, ld, local);
    }
    if (!good) {
        return false;
    }
    rgMoves moves;
    rgMoves_Init(&moves, cols, local, at);
    // A tall panel has exchanged its own rows already.
    int end = j + cols;
    rgMoves_Apply(&moves, shortPanel ? end : j, A + j, ld);
    rgMoves_Apply(&moves, n - end, A + (size_t)end * ld + j, ld);
    return true;
}

static bool rgWideLuPanel(int m, int n, double* A, int lda, int* pivot) {
    if (n > RG_WIDE_LU_LIMIT) {
        return rgLargeLuPanel(m, n, A, lda, pivot);
    }
    size_t ld = (size_t)lda;
    int at[RG_WIDE_LU_LIMIT];
    for (int i = 0; i < n; ++i) {
        at[i] = i;
    }
    for (int j = 0; j < n;) {
        int cols = rgTileColumns(n - j);
        double* C = A + (size_t)j * ld;
        rgTileWork w = {.lda = ld, .B = C, .bRow = 1, .bColumn = ld, .C = C, .ldc = ld};
        rgUnitSolve(j, cols, A, &w);
        w.depth = j;
        w.A = A + j;
        w.C = C + j;
        if (!rgLuColumns(m, n, j, cols, &w, A, pivot + j, at)) {
            return false;
        }
        for (int c = 0; c < cols; ++c) {
            pivot[j + c] += j;
        }
        j += cols;
    }
    return true;
}

static bool rgWideLu(int n, double* A, int lda, int* pivot) {
    if (n <= 12) {
        return rg_plainKernels.lu(n, A, lda, pivot);
    }
    return rgWideLuPanel(n, n, A, lda, pivot);
}
