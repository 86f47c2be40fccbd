// Tiles and products for the wide kernels; included by kernels_avx2.c, kernels_avx512.c and
// kernels_neon.c after their vector primitives. A tile is up to three vectors of rows by up to
// RG_LANES columns of C, held in registers while a product is accumulated.
#pragma once

#define RG_INLINE      static inline __attribute__((always_inline))
#define RG_TILE_VECS   3
#define RG_TILE_ROWS   (RG_TILE_VECS * RG_LANES)
#define RG_STREAM_ROWS 200 // from so many rows on y = A x goes column by column

#if defined(__clang__)
#define RG_UNROLL _Pragma("clang loop unroll(full)")
#else
#define RG_UNROLL _Pragma("GCC unroll 16")
#endif

typedef struct rgTile {
    rgWide at[RG_TILE_VECS][RG_LANES];
} rgTile;

// One tile's share of C -= A B: A(i, p) = A[i + p lda], B(p, j) = B[p bRow + j bColumn].
typedef struct rgTileWork {
    int depth;
    const double* A;
    size_t lda;
    const double* B;
    size_t bRow, bColumn;
    double* C;
    size_t ldc;
    int vecs;    // vectors of rows
    rgMask tail; // rows of the last vector
} rgTileWork;

// Widest power of two not above count and RG_LANES: the columns of the next tile.
RG_INLINE int rgTileColumns(int count) {
    return count >= RG_LANES ? RG_LANES : count >= 4 ? 4 : count >= 2 ? 2 : 1;
}

// Aim a tile at the rows from `row` on; returns how many it takes.
RG_INLINE int rgSelectRows(rgTileWork* w, int count) {
    if (count >= RG_TILE_ROWS) {
        w->vecs = RG_TILE_VECS;
        w->tail = rgMaskFirst(RG_LANES);
        return RG_TILE_ROWS;
    }
    w->vecs = (count + RG_LANES - 1) / RG_LANES;
    w->tail = rgMaskFirst(count - (w->vecs - 1) * RG_LANES);
    return count;
}

RG_INLINE rgWide rgLoadRows(int v, int vecs, rgMask tail, const double* p) {
    return v == vecs - 1 ? rgLoadMasked(tail, p + v * RG_LANES) : rgLoad(p + v * RG_LANES);
}

RG_INLINE void rgStoreRows(int v, int vecs, rgMask tail, double* p, rgWide x) {
    if (v == vecs - 1) {
        rgStoreMasked(tail, p + v * RG_LANES, x);
    } else {
        rgStore(p + v * RG_LANES, x);
    }
}

RG_INLINE void rgTile_Load(rgTile* t, int vecs, int cols, const rgTileWork* w) {
    RG_UNROLL
    for (int c = 0; c < cols; ++c) {
        RG_UNROLL
        for (int v = 0; v < vecs; ++v) {
            t->at[v][c] = rgLoadRows(v, vecs, w->tail, w->C + (size_t)c * w->ldc);
        }
    }
}

// With `triangle`, rows above the diagonal of the tile are left alone.
RG_INLINE void rgTile_Store(const rgTile* t, int vecs, int cols, bool triangle,
                            const rgTileWork* w) {
    RG_UNROLL
    for (int c = 0; c < cols; ++c) {
        double* p = w->C + (size_t)c * w->ldc;
        RG_UNROLL
        for (int v = 0; v < vecs; ++v) {
            if (triangle && v == 0) {
                rgMask below = rgMaskFrom(c);
                rgStoreMasked(vecs == 1 ? rgMaskAnd(below, w->tail) : below, p, t->at[0][c]);
            } else {
                rgStoreRows(v, vecs, w->tail, p, t->at[v][c]);
            }
        }
    }
}

// Accumulate A B with sign +1 or -1.
RG_INLINE void rgTile_Accumulate(rgTile* t, int vecs, int cols, bool add, const rgTileWork* w) {
    const double* A = w->A;
    const double* B = w->B;
    size_t lda = w->lda, bRow = w->bRow, bColumn = w->bColumn;
    rgMask tail = w->tail;
    for (int p = w->depth; p > 0; --p) {
        rgWide a[RG_TILE_VECS];
        RG_UNROLL
        for (int v = 0; v < vecs; ++v) {
            a[v] = rgLoadRows(v, vecs, tail, A);
        }
        RG_UNROLL
        for (int c = 0; c < cols; ++c) {
            rgWide b = rgFill(B[(size_t)c * bColumn]);
            RG_UNROLL
            for (int v = 0; v < vecs; ++v) {
                t->at[v][c] = add ? rgPlusProduct(t->at[v][c], a[v], b)
                                  : rgMinusProduct(t->at[v][c], a[v], b);
            }
        }
        A += lda;
        B += bRow;
    }
}

// Operation of a product on C.
typedef enum rgProductMode { rg_productSubtract, rg_productAdd, rg_productNegative } rgProductMode;

RG_INLINE void rgTile_Clear(rgTile* t, int vecs, int cols) {
    RG_UNROLL
    for (int c = 0; c < cols; ++c) {
        RG_UNROLL
        for (int v = 0; v < vecs; ++v) {
            t->at[v][c] = rgZero();
        }
    }
}

RG_INLINE void rgProductTile(int vecs, int cols, rgProductMode mode, bool triangle,
                             const rgTileWork* w) {
    rgTile t;
    if (mode == rg_productNegative) {
        rgTile_Clear(&t, vecs, cols);
    } else {
        rgTile_Load(&t, vecs, cols, w);
    }
    rgTile_Accumulate(&t, vecs, cols, mode == rg_productAdd, w);
    rgTile_Store(&t, vecs, cols, triangle, w);
}

RG_INLINE void rgProductTileOf(int cols, rgProductMode mode, bool triangle, const rgTileWork* w) {
    if (w->vecs == 3) {
        rgProductTile(3, cols, mode, triangle, w);
    } else if (w->vecs == 2) {
        rgProductTile(2, cols, mode, triangle, w);
    } else {
        rgProductTile(1, cols, mode, triangle, w);
    }
}

// Tiles down one block column of `cols` columns, `rows` rows. The first one may be cut by the
// diagonal.
RG_INLINE void rgProductColumnsOf(int rows, int cols, rgProductMode mode, bool triangle,
                                  rgTileWork w) {
    int done = 0;
    while (done < rows) {
        int taken = rgSelectRows(&w, rows - done);
        if (triangle && done == 0) {
            rgProductTileOf(cols, mode, true, &w);
        } else {
            rgProductTileOf(cols, mode, false, &w);
        }
        done += taken;
        w.A += taken;
        w.C += taken;
    }
}

RG_INLINE void rgProductColumns(int rows, int cols, rgProductMode mode, bool triangle,
                                rgTileWork w) {
    if (cols == RG_LANES) {
        rgProductColumnsOf(rows, RG_LANES, mode, triangle, w);
    } else if (cols == RG_LANES / 2) {
        rgProductColumnsOf(rows, RG_LANES / 2, mode, triangle, w);
    } else if (cols == 2) {
        rgProductColumnsOf(rows, 2, mode, triangle, w);
    } else {
        rgProductColumnsOf(rows, 1, mode, triangle, w);
    }
}

static void rgSubtractColumns(int rows, int cols, const rgTileWork* w) {
    rgProductColumns(rows, cols, rg_productSubtract, false, *w);
}

static void rgAddColumns(int rows, int cols, const rgTileWork* w) {
    rgProductColumns(rows, cols, rg_productAdd, false, *w);
}

static void rgNegativeColumns(int rows, int cols, const rgTileWork* w) {
    rgProductColumns(rows, cols, rg_productNegative, false, *w);
}

static void rgSubtractTriangleColumns(int rows, int cols, const rgTileWork* w) {
    rgProductColumns(rows, cols, rg_productSubtract, true, *w);
}

static void rgAddTriangleColumns(int rows, int cols, const rgTileWork* w) {
    rgProductColumns(rows, cols, rg_productAdd, true, *w);
}

static void rgNegativeTriangleColumns(int rows, int cols, const rgTileWork* w) {
    rgProductColumns(rows, cols, rg_productNegative, true, *w);
}

// Block columns of C one after the other; B moves along by its column step.
static void rgWideProduct(int m, int n, rgProductMode mode, rgTileWork w) {
    for (int j = 0; j < n;) {
        int cols = rgTileColumns(n - j);
        if (mode == rg_productAdd) {
            rgAddColumns(m, cols, &w);
        } else if (mode == rg_productSubtract) {
            rgSubtractColumns(m, cols, &w);
        } else {
            rgNegativeColumns(m, cols, &w);
        }
        w.B += (size_t)cols * w.bColumn;
        w.C += (size_t)cols * w.ldc;
        j += cols;
    }
}

// C -= A B or C = -A B
static void rgMinusProductOf(int m, int n, int k, rgProductMode mode, const double* A, int lda,
                             const double* B, int ldb, double* C, int ldc) {
    if ((double)m * n * k > RG_WIDE_PRODUCT_LIMIT) {
        double keep = mode == rg_productSubtract ? 1 : 0;
        rgLargeSubtractProduct(m, n, k, A, lda, B, ldb, keep, C, ldc);
        return;
    }
    rgWideProduct(m, n, mode,
                  (rgTileWork){.depth = k,
                               .A = A,
                               .lda = (size_t)lda,
                               .B = B,
                               .bRow = 1,
                               .bColumn = (size_t)ldb,
                               .C = C,
                               .ldc = (size_t)ldc});
}

static void rgWideSubtractProduct(int m, int n, int k, const double* A, int lda, const double* B,
                                  int ldb, double* C, int ldc) {
    rgMinusProductOf(m, n, k, rg_productSubtract, A, lda, B, ldb, C, ldc);
}

static void rgWideNegativeProduct(int m, int n, int k, const double* A, int lda, const double* B,
                                  int ldb, double* C, int ldc) {
    rgMinusProductOf(m, n, k, rg_productNegative, A, lda, B, ldb, C, ldc);
}

// C += A
static void rgWideAddMatrix(int m, int n, const double* A, int lda, double* C, int ldc) {
    rgMask tail = rgMaskFirst((m - 1) % RG_LANES + 1);
    for (int j = 0; j < n; ++j) {
        const double* a = A + (size_t)j * (size_t)lda;
        double* c = C + (size_t)j * (size_t)ldc;
        int i = 0;
        for (; i + RG_LANES < m; i += RG_LANES) {
            rgStore(c + i, rgPlus(rgLoad(c + i), rgLoad(a + i)));
        }
        if (i < m) {
            rgWide sum = rgPlus(rgLoadMasked(tail, c + i), rgLoadMasked(tail, a + i));
            rgStoreMasked(tail, c + i, sum);
        }
    }
}

static void rgOuterProduct(int m, int n, int k, bool add, const double* A, int lda, const double* B,
                           int ldb, double* C, int ldc) {
    if ((double)m * n * k > RG_WIDE_PRODUCT_LIMIT) {
        rgLargeAddOuterProduct(m, n, k, add ? 1 : -1, A, lda, B, ldb, C, ldc);
        return;
    }
    rgWideProduct(m, n, add ? rg_productAdd : rg_productSubtract,
                  (rgTileWork){.depth = k,
                               .A = A,
                               .lda = (size_t)lda,
                               .B = B,
                               .bRow = (size_t)ldb,
                               .bColumn = 1,
                               .C = C,
                               .ldc = (size_t)ldc});
}

#if defined(__x86_64__)
// Six rows and three terms, a free body and a contact: four and two. No masks: sums are loaded
// again soon, and a masked store is not forwarded to the load that follows it.
static void rgAddSixByThree(int n, const double* A, int lda, const double* B, int ldb, double* C,
                            int ldc) {
    __m256d low[3];
    __m128d high[3];
    for (int r = 0; r < 3; ++r) {
        low[r] = _mm256_loadu_pd(A + r * lda);
        high[r] = _mm_loadu_pd(A + r * lda + 4);
    }
    for (int j = 0; j < n; ++j, C += ldc) {
        __m256d sum = _mm256_loadu_pd(C);
        __m128d rest = _mm_loadu_pd(C + 4);
        for (int r = 0; r < 3; ++r) {
            __m256d factor = _mm256_set1_pd(B[r * ldb + j]);
            sum = _mm256_fmadd_pd(factor, low[r], sum);
            rest = _mm_fmadd_pd(_mm256_castpd256_pd128(factor), high[r], rest);
        }
        _mm256_storeu_pd(C, sum);
        _mm_storeu_pd(C + 4, rest);
    }
}

#endif

static void rgWideAddOuterProduct(int m, int n, int k, const double* A, int lda, const double* B,
                                  int ldb, double* C, int ldc) {
#if defined(__x86_64__)
    if (m == 6 && k == 3) {
        rgAddSixByThree(n, A, lda, B, ldb, C, ldc);
        return;
    }
#endif
    rgOuterProduct(m, n, k, true, A, lda, B, ldb, C, ldc);
}

static void rgWideSubtractOuterProduct(int m, int n, int k, const double* A, int lda,
                                       const double* B, int ldb, double* C, int ldc) {
    rgOuterProduct(m, n, k, false, A, lda, B, ldb, C, ldc);
}

static void rgSelfProduct(int n, int k, rgProductMode mode, const double* A, int lda, double* C,
                          int ldc) {
    if ((double)n * n * k > RG_WIDE_PRODUCT_LIMIT) {
        rgLargeAddSelfProduct(n, k, mode == rg_productAdd ? 1 : -1, A, lda,
                              mode == rg_productNegative ? 0 : 1, C, ldc);
        return;
    }
    rgTileWork w = {
        .depth = k, .lda = (size_t)lda, .bRow = (size_t)lda, .bColumn = 1, .ldc = (size_t)ldc};
    for (int j = 0; j < n;) {
        int cols = rgTileColumns(n - j);
        w.A = w.B = A + j;
        w.C = C + (size_t)j * (size_t)ldc + j;
        if (mode == rg_productAdd) {
            rgAddTriangleColumns(n - j, cols, &w);
        } else if (mode == rg_productSubtract) {
            rgSubtractTriangleColumns(n - j, cols, &w);
        } else {
            rgNegativeTriangleColumns(n - j, cols, &w);
        }
        j += cols;
    }
}

static void rgWideAddSelfProduct(int n, int k, const double* A, int lda, double* C, int ldc) {
    rgSelfProduct(n, k, rg_productAdd, A, lda, C, ldc);
}

static void rgWideSubtractSelfProduct(int n, int k, const double* A, int lda, double* C, int ldc) {
    rgSelfProduct(n, k, rg_productSubtract, A, lda, C, ldc);
}

static void rgWideNegativeSelfProduct(int n, int k, const double* A, int lda, double* C, int ldc) {
    rgSelfProduct(n, k, rg_productNegative, A, lda, C, ldc);
}

static double rgWideDot(int n, const double* x, const double* y) {
    rgWide s[4] = {rgZero(), rgZero(), rgZero(), rgZero()};
    int i = 0;
    for (; i + 4 * RG_LANES <= n; i += 4 * RG_LANES) {
        RG_UNROLL
        for (int v = 0; v < 4; ++v) {
            const int at = i + v * RG_LANES;
            s[v] = rgPlusProduct(s[v], rgLoad(x + at), rgLoad(y + at));
        }
    }
    for (; i + RG_LANES <= n; i += RG_LANES) {
        s[0] = rgPlusProduct(s[0], rgLoad(x + i), rgLoad(y + i));
    }
    rgMask tail = rgMaskFirst(n - i);
    s[1] = rgPlusProduct(s[1], rgLoadMasked(tail, x + i), rgLoadMasked(tail, y + i));
    return rgSum(rgPlus(rgPlus(s[0], s[1]), rgPlus(s[2], s[3])));
}

static void rgWideAxpy(int n, double a, const double* x, double* y) {
    rgWide s = rgFill(a);
    int i = 0;
    for (; i + RG_LANES <= n; i += RG_LANES) {
        rgStore(y + i, rgPlusProduct(rgLoad(y + i), s, rgLoad(x + i)));
    }
    if (i < n) {
        rgMask tail = rgMaskFirst(n - i);
        rgWide sum = rgPlusProduct(rgLoadMasked(tail, y + i), s, rgLoadMasked(tail, x + i));
        rgStoreMasked(tail, y + i, sum);
    }
}

// Sum over columns of A(rows) x for a chunk of vecs vectors, even and odd columns apart.
RG_INLINE void rgRowsTimes(int vecs, int n, const double* A, size_t lda, const double* x,
                           rgMask tail, rgWide sum[RG_TILE_VECS]) {
    rgWide odd[RG_TILE_VECS];
    RG_UNROLL
    for (int v = 0; v < vecs; ++v) {
        sum[v] = odd[v] = rgZero();
    }
    int j = 0;
    for (; j + 2 <= n; j += 2, A += 2 * lda) {
        rgWide x0 = rgFill(x[j]), x1 = rgFill(x[j + 1]);
        RG_UNROLL
        for (int v = 0; v < vecs; ++v) {
            sum[v] = rgPlusProduct(sum[v], rgLoadRows(v, vecs, tail, A), x0);
            odd[v] = rgPlusProduct(odd[v], rgLoadRows(v, vecs, tail, A + lda), x1);
        }
    }
    RG_UNROLL
    for (int v = 0; v < vecs; ++v) {
        if (j < n) {
            sum[v] = rgPlusProduct(sum[v], rgLoadRows(v, vecs, tail, A), rgFill(x[j]));
        }
        sum[v] = rgPlus(sum[v], odd[v]);
    }
}

RG_INLINE void rgMultiplyRows(int vecs, int n, const double* A, size_t lda, const double* x,
                              rgMask tail, double* y) {
    rgWide sum[RG_TILE_VECS];
    rgRowsTimes(vecs, n, A, lda, x, tail, sum);
    RG_UNROLL
    for (int v = 0; v < vecs; ++v) {
        rgStoreRows(v, vecs, tail, y, sum[v]);
    }
}

// y = A x, or y += A x, for `cols` columns of A, row after row.
RG_INLINE void rgStreamColumns(int m, int cols, bool add, const double* A, size_t lda,
                               const double* x, double* y) {
    rgWide b[RG_LANES];
    RG_UNROLL
    for (int c = 0; c < cols; ++c) {
        b[c] = rgFill(x[c]);
    }
    for (int i = 0; i < m; i += RG_LANES) {
        rgMask tail = rgMaskFirst(RG_MIN(RG_LANES, m - i));
        rgWide even = add ? rgLoadMasked(tail, y + i) : rgZero(), odd = rgZero();
        RG_UNROLL
        for (int c = 0; c < cols; c += 2) {
            even = rgPlusProduct(even, rgLoadMasked(tail, A + (size_t)c * lda + i), b[c]);
            odd = c + 1 < cols
                      ? rgPlusProduct(odd, rgLoadMasked(tail, A + (size_t)(c + 1) * lda + i),
                                      b[c + 1])
                      : odd;
        }
        rgStoreMasked(tail, y + i, rgPlus(even, odd));
    }
}

static void rgStreamColumnsOf(int m, int cols, const double* A, size_t lda, const double* x,
                              double* y) {
    if (cols == RG_LANES) {
        rgStreamColumns(m, RG_LANES, true, A, lda, x, y);
    } else if (cols == RG_LANES / 2) {
        rgStreamColumns(m, RG_LANES / 2, true, A, lda, x, y);
    } else if (cols == 2) {
        rgStreamColumns(m, 2, true, A, lda, x, y);
    } else {
        rgStreamColumns(m, 1, true, A, lda, x, y);
    }
}

// Through memory in its order, for matrices that come from far.
static void rgStreamMultiply(int m, int n, const double* A, size_t lda, const double* x,
                             double* y) {
    rgStreamColumns(m, RG_LANES, false, A, lda, x, y);
    for (int j = RG_LANES; j < n;) {
        int cols = rgTileColumns(n - j);
        rgStreamColumnsOf(m, cols, A + (size_t)j * lda, lda, x + j, y);
        j += cols;
    }
}

static void rgWideMultiply(int m, int n, const double* A, int lda, const double* x, double* y) {
    if (n >= RG_LANES && m >= RG_STREAM_ROWS) {
        rgStreamMultiply(m, n, A, (size_t)lda, x, y);
        return;
    }
    rgTileWork w;
    for (int i = 0; i < m;) {
        int taken = rgSelectRows(&w, m - i);
        if (w.vecs == 3) {
            rgMultiplyRows(3, n, A + i, (size_t)lda, x, w.tail, y + i);
        } else if (w.vecs == 2) {
            rgMultiplyRows(2, n, A + i, (size_t)lda, x, w.tail, y + i);
        } else {
            rgMultiplyRows(1, n, A + i, (size_t)lda, x, w.tail, y + i);
        }
        i += taken;
    }
}

// y = A' x for `cols` columns.
RG_INLINE void rgColumnsDot(int m, int cols, const double* A, size_t lda, const double* x,
                            double* y) {
    rgWide sum[4] = {rgZero(), rgZero(), rgZero(), rgZero()};
    int i = 0;
    for (; i + RG_LANES <= m; i += RG_LANES) {
        rgWide b = rgLoad(x + i);
        RG_UNROLL
        for (int c = 0; c < cols; ++c) {
            sum[c] = rgPlusProduct(sum[c], rgLoad(A + (size_t)c * lda + i), b);
        }
    }
    rgMask tail = rgMaskFirst(m - i);
    rgWide b = rgLoadMasked(tail, x + i);
    RG_UNROLL
    for (int c = 0; c < cols; ++c) {
        sum[c] = rgPlusProduct(sum[c], rgLoadMasked(tail, A + (size_t)c * lda + i), b);
        y[c] = rgSum(sum[c]);
    }
}

static void rgWideMultiplyTransposed(int m, int n, const double* A, int lda, const double* x,
                                     double* y) {
    int j = 0;
    for (; j + 4 <= n; j += 4) {
        rgColumnsDot(m, 4, A + (size_t)j * (size_t)lda, (size_t)lda, x, y + j);
    }
    for (; j < n; ++j) {
        rgColumnsDot(m, 1, A + (size_t)j * (size_t)lda, (size_t)lda, x, y + j);
    }
}
