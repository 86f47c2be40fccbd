// Triangular solves for the wide kernels; included after wide_product.h. Vectors do the rectangular
// part of a block of RG_LANES rows, scalars its triangle, whose chain of operations is shortest so.
#pragma once

// x(rows of one vector) -= A x2
RG_INLINE void rgSubtractRows(int rows, int n, const double* A, size_t lda, const double* x2,
                              double* x) {
    rgWide sum[RG_TILE_VECS];
    rgMask tail = rgMaskFirst(rows);
    rgRowsTimes(1, n, A, lda, x2, tail, sum);
    rgStoreMasked(tail, x, rgMinusProduct(rgLoadMasked(tail, x), sum[0], rgFill(1)));
}

// Inverses of a block's diagonal.
RG_INLINE void rgInvertDiagonal(int count, const double* A, size_t lda, double* inverse) {
    for (int i = 0; i < count; ++i) {
        inverse[i] = 1 / A[(size_t)i * lda + (size_t)i];
    }
}

RG_INLINE void rgLowerBlockSolve(int count, const double* L, size_t lda, bool unit, double* x) {
    double inverse[RG_LANES];
    if (!unit) {
        rgInvertDiagonal(count, L, lda, inverse);
    }
    for (int j = 0; j < count; ++j) {
        const double* c = L + (size_t)j * lda;
        double s = unit ? x[j] : x[j] * inverse[j];
        x[j] = s;
        for (int i = j + 1; i < count; ++i) {
            x[i] -= c[i] * s;
        }
    }
}

// y(m rows) -= A x for one block of columns
static void rgSubtractColumnsTimes(int m, int count, const double* A, size_t lda, const double* x,
                                   double* y) {
    double negative[RG_LANES];
    for (int c = 0; c < count; ++c) {
        negative[c] = -x[c];
    }
    for (int c = 0; c < count;) {
        int cols = rgTileColumns(count - c);
        rgStreamColumnsOf(m, cols, A + (size_t)c * lda, lda, negative + c, y);
        c += cols;
    }
}

// The same solve through memory in its order, for large matrices.
static void rgStreamLowerSolve(int n, const double* L, size_t lda, bool unit, double* x) {
    for (int i = 0; i < n; i += RG_LANES) {
        int count = RG_MIN(RG_LANES, n - i), end = i + count;
        const double* block = L + (size_t)i * lda;
        rgLowerBlockSolve(count, block + i, lda, unit, x + i);
        rgSubtractColumnsTimes(n - end, count, block + end, lda, x + i, x + end);
    }
}

RG_INLINE void rgLowerSolveOf(int n, const double* L, int lda, bool unit, double* x) {
    size_t ld = (size_t)lda;
    if (n >= RG_STREAM_ROWS) {
        rgStreamLowerSolve(n, L, ld, unit, x);
        return;
    }
    for (int i = 0; i < n; i += RG_LANES) {
        int count = RG_MIN(RG_LANES, n - i);
        if (i > 0) {
            rgSubtractRows(count, i, L + i, ld, x, x + i);
        }
        const double* block = L + (size_t)i * ld + i;
        if (count == RG_LANES) {
            rgLowerBlockSolve(RG_LANES, block, ld, unit, x + i);
        } else {
            rgLowerBlockSolve(count, block, ld, unit, x + i);
        }
    }
}

static void rgWideLowerSolve(int n, const double* L, int lda, double* x) {
    rgLowerSolveOf(n, L, lda, false, x);
}

RG_INLINE void rgTransposedBlockSolve(int count, const double* L, size_t lda, double* x) {
    double inverse[RG_LANES];
    rgInvertDiagonal(count, L, lda, inverse);
    for (int i = count - 1; i >= 0; --i) {
        double s = x[i] * inverse[i];
        x[i] = s;
        for (int j = 0; j < i; ++j) {
            x[j] -= L[(size_t)j * lda + (size_t)i] * s;
        }
    }
}

// x(columns of one block) -= A' below
RG_INLINE void rgSubtractDots(int m, int count, const double* A, size_t lda, const double* below,
                              double* x) {
    double dots[RG_LANES];
    rgWideMultiplyTransposed(m, count, A, (int)lda, below, dots);
    for (int c = 0; c < count; ++c) {
        x[c] -= dots[c];
    }
}

static void rgWideLowerTransposedSolve(int n, const double* L, int lda, double* x) {
    size_t ld = (size_t)lda;
    for (int start = (n - 1) / RG_LANES * RG_LANES; start >= 0 && n > 0; start -= RG_LANES) {
        int count = RG_MIN(RG_LANES, n - start);
        int end = start + count;
        const double* block = L + (size_t)start * ld;
        if (end < n) {
            rgSubtractDots(n - end, count, block + end, ld, x + end, x + start);
        }
        if (count == RG_LANES) {
            rgTransposedBlockSolve(RG_LANES, block + start, ld, x + start);
        } else {
            rgTransposedBlockSolve(count, block + start, ld, x + start);
        }
    }
}

static void rgWideCholeskySolve(int n, const double* L, int lda, double* x) {
    rgWideLowerSolve(n, L, lda, x);
    rgWideLowerTransposedSolve(n, L, lda, x);
}

RG_INLINE void rgUpperBlockSolve(int count, const double* U, size_t lda, double* x) {
    double inverse[RG_LANES];
    rgInvertDiagonal(count, U, lda, inverse);
    for (int j = count - 1; j >= 0; --j) {
        const double* c = U + (size_t)j * lda;
        double s = x[j] * inverse[j];
        x[j] = s;
        for (int i = 0; i < j; ++i) {
            x[i] -= c[i] * s;
        }
    }
}

static void rgStreamUpperSolve(int n, const double* U, size_t lda, double* x) {
    for (int end = n; end > 0;) {
        int start = (end - 1) / RG_LANES * RG_LANES;
        const double* block = U + (size_t)start * lda;
        rgUpperBlockSolve(end - start, block + start, lda, x + start);
        rgSubtractColumnsTimes(start, end - start, block, lda, x + start, x);
        end = start;
    }
}

static void rgWideUpperSolve(int n, const double* U, int lda, double* x) {
    size_t ld = (size_t)lda;
    if (n >= RG_STREAM_ROWS) {
        rgStreamUpperSolve(n, U, ld, x);
        return;
    }
    for (int start = (n - 1) / RG_LANES * RG_LANES; start >= 0 && n > 0; start -= RG_LANES) {
        int count = RG_MIN(RG_LANES, n - start);
        int end = start + count;
        if (end < n) {
            rgSubtractRows(count, n - end, U + (size_t)end * ld + start, ld, x + end, x + start);
        }
        const double* block = U + (size_t)start * ld + start;
        if (count == RG_LANES) {
            rgUpperBlockSolve(RG_LANES, block, ld, x + start);
        } else {
            rgUpperBlockSolve(count, block, ld, x + start);
        }
    }
}

static void rgWideLuForward(int n, int columns, const double* LU, int lda, const int* pivot,
                            double* X, int ldx) {
    if (columns == 1 && n >= RG_STREAM_ROWS) {
        rgApplyPivots(n, pivot, X);
        rgLowerSolveOf(n, LU, lda, true, X);
        return;
    }
    size_t ld = (size_t)ldx;
    rgApplyPivotsToColumns(n, pivot, columns, X, ld);
    for (int j = 0; j < columns;) {
        int cols = rgTileColumns(columns - j);
        double* C = X + (size_t)j * ld;
        rgTileWork w = {.lda = (size_t)lda, .B = C, .bRow = 1, .bColumn = ld, .C = C, .ldc = ld};
        rgUnitSolve(n, cols, LU, &w);
        j += cols;
    }
}

static void rgWideLuSolve(int n, const double* LU, int lda, const int* pivot, double* x) {
    rgApplyPivots(n, pivot, x);
    rgLowerSolveOf(n, LU, lda, true, x);
    rgWideUpperSolve(n, LU, lda, x);
}
