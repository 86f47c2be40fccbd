// M = L' D L along the tree: a row of L has the pattern of the row of M, so nothing fills in.
// Factorization (dynamics.12), solutions (dynamics.13), J M^-1 J' and its root W (dynamics.14).
#include "dynamics/dynamics.h"
#include "math/two.h"

#include <math.h>
#include <string.h>

// z -= a x + b y; the rows never overlap. Rows are short: two numbers at a time without more ado.
static inline void rgSubtractTwo(int n, double a, const double* restrict x, double b,
                                 const double* restrict y, double* restrict z) {
    int i = 0;
    for (; i + 2 <= n; i += 2) {
        rgStoreTwo(z + i, rgLoadTwo(z + i) - (a * rgLoadTwo(x + i) + b * rgLoadTwo(y + i)));
    }
    if (i < n) {
        z[i] -= a * x[i] + b * y[i];
    }
}

// Eliminate a degree of freedom from all above it that it is coupled with.
static bool rgEliminateOne(const rgDynamics* d, int i) {
    const rgModel* model = d->model;
    double *factor = d->factor, *inverseDiagonal = d->inverseDiagonal;
    const rgDof* dof = &model->dofs[i];
    const int* column = model->massColumns + dof->rowStart;
    double* row = factor + dof->rowStart;
    double inverse = 1 / row[0];
    bool positive = row[0] > 0;
    inverseDiagonal[i] = inverse;
    for (int k = 1; k < d->rowLength[i]; ++k) {
        double scaled = row[k] * inverse;
        rgAddMultiple(dof->depth - k, -scaled, row + k, factor + model->dofs[column[k]].rowStart);
        row[k] = scaled;
    }
    return positive;
}

// Eliminate i and its parent i - 1 in one pass over the rows above both. All other children of the
// parent come after i and are done.
static bool rgEliminateTwo(const rgModel* model, int i, double* factor, double* inverseDiagonal) {
    const rgDof* dof = &model->dofs[i];
    const int* column = model->massColumns + dof->rowStart;
    double* row = factor + dof->rowStart;
    double* next = factor + model->dofs[i - 1].rowStart;
    double first = row[0], inverse = 1 / first, link = row[1] * inverse;
    rgAddMultiple(dof->depth - 1, -link, row + 1, next);
    double second = next[0], inverseNext = 1 / second;
    inverseDiagonal[i] = inverse;
    inverseDiagonal[i - 1] = inverseNext;
    row[1] = link;
    for (int k = 2; k < dof->depth; ++k) {
        double a = row[k] * inverse, b = next[k - 1] * inverseNext;
        rgSubtractTwo(dof->depth - k, a, row + k, b, next + k - 1,
                      factor + model->dofs[column[k]].rowStart);
        row[k] = a;
        next[k - 1] = b;
    }
    return first > 0 && second > 0;
}

// dynamics.12: From the leaves to the root: each row is eliminated from the rows above it. The row
// of the k-th ancestor is the tail of this row from k on, hence contiguous.
static rgResult rgEliminate(const rgDynamics* d, int first, int end) {
    const rgModel* model = d->model;
    for (int i = end - 1; i >= first; --i) {
        bool two = i > first && model->dofs[i].parent == i - 1 && d->rowLength[i] > 1;
        bool positive =
            two ? rgEliminateTwo(model, i, d->factor, d->inverseDiagonal) : rgEliminateOne(d, i);
        if (!positive) {
            return rg_errorNumeric;
        }
        i -= two;
    }
    return rg_ok;
}

rgResult rgDynamics_FactorizeTree(rgDynamics* d, int tree, const double* added) {
    const rgModel* model = d->model;
    int first = model->trees[tree].firstDof, end = first + model->trees[tree].dofCount;
    if (d->isDeep[tree]) {
        return rgDynamics_Articulate(d, tree, added);
    }
    int start = model->dofs[first].rowStart; // rows of a tree follow each other
    const rgDof* last = &model->dofs[end - 1];
    memcpy(d->factor + start, d->mass + start,
           (size_t)(last->rowStart + last->depth - start) * sizeof(double));
    for (int i = first; i < end && added != NULL; ++i) {
        d->factor[model->dofs[i].rowStart] += added[i];
    }
    return rgEliminate(d, first, end);
}

rgResult rgDynamics_Factorize(rgDynamics* d, const double* added) {
    if (d == NULL) {
        return rg_errorArgument;
    }
    rgResult result = rg_ok;
    rgDynamics_NeedMass(d);
    for (int t = 0; t < d->model->treeCount && result == rg_ok; ++t) {
        result = rgDynamics_FactorizeTree(d, t, added);
    }
    return result;
}

// x := L^-T x. Trees are ranges of degrees of freedom that the factor does not couple.
static void rgReduceRange(const rgDynamics* d, int first, int end, double* x) {
    const rgModel* model = d->model;
    for (int i = end - 1; i >= first; --i) {
        const rgDof* dof = &model->dofs[i];
        const int* column = model->massColumns + dof->rowStart;
        const double* row = d->factor + dof->rowStart;
        double xi = x[i];
        if (xi != 0) {
            for (int k = 1; k < d->rowLength[i]; ++k) {
                x[column[k]] -= row[k] * xi;
            }
        }
    }
}

// x := L^-1 S x, S a diagonal matrix.
static void rgFollowRange(const rgDynamics* d, int first, int end, const double* S, double* x) {
    const rgModel* model = d->model;
    for (int i = first; i < end; ++i) {
        const rgDof* dof = &model->dofs[i];
        const int* column = model->massColumns + dof->rowStart;
        const double* row = d->factor + dof->rowStart;
        double sum = x[i] * S[i];
        for (int k = 1; k < d->rowLength[i]; ++k) {
            sum -= row[k] * x[column[k]];
        }
        x[i] = sum;
    }
}

static int rgTreeEnd(const rgTree* tree) {
    return tree->firstDof + tree->dofCount;
}

void rgDynamics_SolveTree(const rgDynamics* d, int tree, double* x) {
    const rgTree* range = &d->model->trees[tree];
    if (d->isDeep[tree]) {
        rgDynamics_SolveArticulated(d, tree, x);
        return;
    }
    rgReduceRange(d, range->firstDof, rgTreeEnd(range), x);
    rgFollowRange(d, range->firstDof, rgTreeEnd(range), d->inverseDiagonal, x);
}

void rgDynamics_Unwhiten(const rgDynamics* d, double* x) {
    for (int t = 0; t < d->model->treeCount; ++t) {
        const rgTree* range = &d->model->trees[t];
        if (!d->isDeep[t]) {
            rgFollowRange(d, range->firstDof, rgTreeEnd(range), d->inverseRoot, x);
            continue;
        }
        for (int i = range->firstDof; i < rgTreeEnd(range); ++i) {
            x[i] *= d->inverseRoot[i];
        }
        rgDynamics_FollowArticulated(d, t, x);
    }
}

#define RG_ROW_GROUP 4 // rows with the same columns that are solved together

// Four numbers side by side: one instruction, or two where the machine is narrower.
typedef double rgFour __attribute__((vector_size(8 * RG_ROW_GROUP)));

#define RG_PANEL_FOURS 8 // at most, of columns that are solved together

// x := M^^-1 x of 4 fours neighbouring columns of a matrix, whose rows are n apart.
static inline __attribute__((always_inline)) void rgSolvePanel(const rgDynamics* d, int n,
                                                               int fours, double* x) {
    const rgModel* model = d->model;
    size_t stride = (size_t)n;
    rgFour own[RG_PANEL_FOURS], other;
    for (int i = model->vCount - 1; i >= 0; --i) {
        const int* column = model->massColumns + model->dofs[i].rowStart;
        const double* row = d->factor + model->dofs[i].rowStart;
        memcpy(own, x + (size_t)i * stride, (size_t)fours * sizeof(rgFour));
        for (int k = 1; k < d->rowLength[i]; ++k) {
            double* xk = x + (size_t)column[k] * stride;
            for (int f = 0; f < fours; ++f) {
                memcpy(&other, xk + RG_ROW_GROUP * f, sizeof(other));
                other -= row[k] * own[f];
                memcpy(xk + RG_ROW_GROUP * f, &other, sizeof(other));
            }
        }
    }
    for (int i = 0; i < model->vCount; ++i) {
        const int* column = model->massColumns + model->dofs[i].rowStart;
        const double* row = d->factor + model->dofs[i].rowStart;
        double* xi = x + (size_t)i * stride;
        memcpy(own, xi, (size_t)fours * sizeof(rgFour));
        for (int f = 0; f < fours; ++f) {
            own[f] *= d->inverseDiagonal[i];
        }
        for (int k = 1; k < d->rowLength[i]; ++k) {
            const double* xk = x + (size_t)column[k] * stride;
            for (int f = 0; f < fours; ++f) {
                memcpy(&other, xk + RG_ROW_GROUP * f, sizeof(other));
                own[f] -= row[k] * other;
            }
        }
        memcpy(xi, own, (size_t)fours * sizeof(rgFour));
    }
}

// Those that are left over.
static void rgSolveFewColumns(const rgDynamics* d, int n, int count, double* x) {
    const rgModel* model = d->model;
    size_t stride = (size_t)n;
    for (int i = model->vCount - 1; i >= 0; --i) {
        const int* column = model->massColumns + model->dofs[i].rowStart;
        const double* row = d->factor + model->dofs[i].rowStart;
        const double* xi = x + (size_t)i * stride;
        for (int k = 1; k < d->rowLength[i]; ++k) {
            for (int t = 0; t < count; ++t) {
                x[(size_t)column[k] * stride + (size_t)t] -= row[k] * xi[t];
            }
        }
    }
    for (int i = 0; i < model->vCount; ++i) {
        const int* column = model->massColumns + model->dofs[i].rowStart;
        const double* row = d->factor + model->dofs[i].rowStart;
        double* xi = x + (size_t)i * stride;
        for (int t = 0; t < count; ++t) {
            xi[t] *= d->inverseDiagonal[i];
            for (int k = 1; k < d->rowLength[i]; ++k) {
                xi[t] -= row[k] * x[(size_t)column[k] * stride + (size_t)t];
            }
        }
    }
}

static inline __attribute__((always_inline)) void rgSolveColumns(const rgDynamics* d, int n,
                                                                 double* x) {
    int first = 0;
    for (; n - first >= RG_ROW_GROUP * RG_PANEL_FOURS; first += RG_ROW_GROUP * RG_PANEL_FOURS) {
        rgSolvePanel(d, n, RG_PANEL_FOURS, x + first);
    }
    for (; n - first >= 2 * RG_ROW_GROUP; first += 2 * RG_ROW_GROUP) {
        rgSolvePanel(d, n, 2, x + first);
    }
    for (; n - first >= RG_ROW_GROUP; first += RG_ROW_GROUP) {
        rgSolvePanel(d, n, 1, x + first);
    }
    if (first < n) {
        rgSolveFewColumns(d, n, n - first, x + first);
    }
}

#if defined(__x86_64__)
// Four numbers at a time: the same operations in the same order, hence the same bits.
__attribute__((target("avx2"))) static void rgSolveColumnsWide(const rgDynamics* d, int n,
                                                               double* x) {
    rgSolveColumns(d, n, x);
}
#endif

static void rgSolveColumnsBest(const rgDynamics* d, int n, double* x) {
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx2")) {
        rgSolveColumnsWide(d, n, x);
        return;
    }
#endif
    rgSolveColumns(d, n, x);
}

// Solve columns one by one: their paths are longer than there are columns.
static void rgSolveDeepColumns(const rgDynamics* d, int n, double* x) {
    double* y = d->scratch;
    for (int c = 0; c < n; ++c) {
        for (int i = 0; i < d->model->vCount; ++i) {
            y[i] = x[(size_t)i * (size_t)n + (size_t)c];
        }
        rgDynamics_Solve(d, 1, y);
        for (int i = 0; i < d->model->vCount; ++i) {
            x[(size_t)i * (size_t)n + (size_t)c] = y[i];
        }
    }
}

// dynamics.13
void rgDynamics_Solve(const rgDynamics* d, int columnCount, double* x) {
    if (d == NULL || x == NULL) {
        return;
    }
    if (columnCount == 1) {
        for (int t = 0; t < d->model->treeCount; ++t) {
            rgDynamics_SolveTree(d, t, x);
        }
    } else if (columnCount > 1 && d->anyDeep) {
        rgSolveDeepColumns(d, columnCount, x);
    } else if (columnCount > 1) {
        rgSolveColumnsBest(d, columnCount, x);
    }
}

// Subtract one degree of freedom, x, times its row of the factor from all its ancestors.
static inline __attribute__((always_inline)) void
rgSubtractOne(const rgDynamics* d, const rgDof* dof, const double* x, double* dense) {
    const int* column = d->model->massColumns + dof->rowStart;
    const double* row = d->factor + dof->rowStart;
    rgFour a, y;
    memcpy(&a, x, sizeof(a));
    for (int k = 1; k < dof->depth; ++k) {
        double* place = dense + (size_t)RG_ROW_GROUP * (size_t)column[k];
        memcpy(&y, place, sizeof(y));
        y -= row[k] * a;
        memcpy(place, &y, sizeof(y));
    }
}

// Subtract a degree of freedom and its parent, in one pass over those above both.
static inline __attribute__((always_inline)) void
rgSubtractPair(const rgDynamics* d, const rgDof* dof, const double* x, double* dense) {
    const int* column = d->model->massColumns + dof->rowStart;
    const double* row = d->factor + dof->rowStart;
    const double* next = d->factor + d->model->dofs[dof->parent].rowStart - 1;
    double* parent = dense + RG_ROW_GROUP * dof->parent;
    rgFour a, b, y;
    memcpy(&a, x, sizeof(a));
    memcpy(&b, parent, sizeof(b));
    b -= row[1] * a;
    memcpy(parent, &b, sizeof(b));
    for (int k = 2; k < dof->depth; ++k) {
        double* place = dense + (size_t)RG_ROW_GROUP * (size_t)column[k];
        memcpy(&y, place, sizeof(y));
        y -= row[k] * a + next[k] * b;
        memcpy(place, &y, sizeof(y));
    }
}

static inline __attribute__((always_inline)) void
rgReduceColumns(const rgDynamics* d, const int* columns, int count, double* dense) {
    const rgModel* model = d->model;
    for (int t = count - 1; t >= 0; --t) {
        const rgDof* dof = &model->dofs[columns[t]];
        if (d->rowLength[columns[t]] == 1 ||
            (d->anyDeep && d->isDeep[model->links[dof->link].tree])) {
            continue;
        }
        bool two = t > 0 && dof->parent == columns[t - 1];
        if (two) {
            rgSubtractPair(d, dof, dense + RG_ROW_GROUP * columns[t], dense);
        } else {
            rgSubtractOne(d, dof, dense + RG_ROW_GROUP * columns[t], dense);
        }
        t -= two;
    }
}

#if defined(__x86_64__)
// Four numbers at a time: the same operations in the same order, hence the same bits.
__attribute__((target("avx2"))) static void
rgReduceColumnsWide(const rgDynamics* d, const int* columns, int count, double* dense) {
    rgReduceColumns(d, columns, count, dense);
}
#endif

static void rgReduceColumnsBest(const rgDynamics* d, const int* columns, int count, double* dense) {
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx2")) {
        rgReduceColumnsWide(d, columns, count, dense);
        return;
    }
#endif
    rgReduceColumns(d, columns, count, dense);
}

// L^-T w of up to RG_ROW_GROUP rows over the same columns, which are closed upwards, in dense. In
// the place of rows that are not there stands the first one.
static void rgReduceRows(const rgDynamics* d, const int* columns, int count, int rows,
                         const double* w, double* dense) {
    const double* second = rows > 1 ? w + count : w;
    const double* third = rows > 2 ? w + 2 * count : w;
    const double* fourth = rows > 3 ? w + 3 * count : w;
    for (int t = 0; t < count; ++t) {
        rgFour x = {w[t], second[t], third[t], fourth[t]};
        memcpy(dense + RG_ROW_GROUP * columns[t], &x, sizeof(x));
    }
    for (int r = 0; r < rows && d->anyDeep; ++r) {
        rgDynamics_ReduceDeep(d, columns, count, RG_ROW_GROUP, dense + r);
    }
    rgReduceColumnsBest(d, columns, count, dense);
}

static bool rgIsDecoupled(const rgDynamics* d, const int* columns, int count) {
    int longest = 1;
    for (int t = 0; t < count; ++t) {
        longest = RG_MAX(longest, d->rowLength[columns[t]]);
    }
    return longest == 1;
}

// w := D^-1/2 L^-T w
static void rgSolveRows(const rgDynamics* d, const int* columns, int count, int rows, double* w,
                        double* dense) {
    if (rgIsDecoupled(d, columns, count)) {
        for (int t = 0; t < count; ++t) {
            for (int r = 0; r < rows; ++r) {
                w[r * count + t] *= d->inverseRoot[columns[t]];
            }
        }
        return;
    }
    rgReduceRows(d, columns, count, rows, w, dense);
    for (int t = 0; t < count; ++t) {
        double scale = d->inverseRoot[columns[t]];
        const double* x = dense + RG_ROW_GROUP * columns[t];
        if (rows == 3) { // a contact
            w[t] = scale * x[0], w[count + t] = scale * x[1], w[2 * count + t] = scale * x[2];
            continue;
        }
        for (int r = 0; r < rows; ++r) {
            w[r * count + t] = scale * x[r];
        }
    }
}

// Rows from r on that have the columns of row r, at most RG_ROW_GROUP.
static int rgAlikeRows(const rgSparse* A, int r) {
    const int* start = A->rowStart;
    int count = start[r + 1] - start[r], alike = 1;
    size_t bytes = (size_t)count * sizeof(int);
    while (alike < RG_ROW_GROUP && r + alike < A->rowCount &&
           start[r + alike + 1] - start[r + alike] == count &&
           memcmp(A->column + start[r], A->column + start[r + alike], bytes) == 0) {
        ++alike;
    }
    return alike;
}

void rgDynamics_FindRoots(const rgDynamics* d) {
    for (int i = 0; i < d->model->vCount; ++i) {
        d->inverseRoot[i] = sqrt(d->inverseDiagonal[i]);
    }
}

// dynamics.14: W = J L^-1 D^-1/2, so that J M^-1 J' = W W'
void rgDynamics_Whiten(const rgDynamics* d, const rgSparse* jacobian, double* W) {
    if (d == NULL || jacobian == NULL || W == NULL) {
        return;
    }
    rgDynamics_FindRoots(d);
    rgDynamics_WhitenFrom(d, jacobian, 0, W);
}

void rgDynamics_WhitenFrom(const rgDynamics* d, const rgSparse* jacobian, int first, double* W) {
    const int* start = jacobian->rowStart;
    int n = jacobian->rowCount;
    if (first >= n) {
        return;
    }
    memcpy(W + start[first], jacobian->value + start[first],
           (size_t)(start[n] - start[first]) * sizeof(double));
    for (int r = first; r < n;) {
        int rows = rgAlikeRows(jacobian, r);
        rgSolveRows(d, jacobian->column + start[r], start[r + 1] - start[r], rows, W + start[r],
                    d->scratch);
        r += rows;
    }
}

void rgDynamics_RowsDelassus(const rgDynamics* d, int rowCount, int count, const int* columns,
                             const double* values, double* G) {
    double* dense = d->scratch;
    for (int first = 0; first < rowCount; first += RG_ROW_GROUP) {
        int rows = RG_MIN(rowCount - first, RG_ROW_GROUP);
        rgReduceRows(d, columns, count, rows, values + first * count, dense);
        double sum[RG_ROW_GROUP] = {0};
        for (int t = 0; t < count; ++t) {
            const double* x = dense + RG_ROW_GROUP * columns[t];
            for (int r = 0; r < RG_ROW_GROUP; ++r) {
                sum[r] += x[r] * x[r] * d->inverseDiagonal[columns[t]];
            }
        }
        memcpy(G + first, sum, (size_t)rows * sizeof(double));
    }
}

// Up to RG_ROW_GROUP rows of W W' and their mirror images. dense: zeros, before and after.
static void rgFillDelassusRows(const rgSparse* A, const double* W, int first, int rows,
                               double* dense, double* G) {
    const int *start = A->rowStart, *column = A->column;
    size_t n = (size_t)A->rowCount;
    for (int r = 0; r < rows; ++r) {
        for (int t = start[first + r]; t < start[first + r + 1]; ++t) {
            dense[RG_ROW_GROUP * column[t] + r] = W[t];
        }
    }
    for (int s = 0; s < first + rows; ++s) {
        rgFour sum = {0};
        for (int t = start[s]; t < start[s + 1]; ++t) {
            rgFour x;
            memcpy(&x, dense + RG_ROW_GROUP * column[t], sizeof(x));
            sum += x * W[t];
        }
        for (int r = 0; r < rows; ++r) {
            G[(size_t)(first + r) * n + (size_t)s] = G[(size_t)s * n + (size_t)(first + r)] =
                sum[r];
        }
    }
    for (int r = 0; r < rows; ++r) {
        for (int t = start[first + r]; t < start[first + r + 1]; ++t) {
            dense[RG_ROW_GROUP * column[t] + r] = 0;
        }
    }
}

void rgDynamics_Delassus(const rgDynamics* d, const rgSparse* jacobian, double* work, double* G) {
    if (d == NULL || jacobian == NULL || work == NULL || G == NULL) {
        return;
    }
    rgDynamics_Whiten(d, jacobian, work);
    memset(d->scratch, 0, (size_t)(RG_ROW_GROUP * d->model->vCount) * sizeof(double));
    for (int r = 0; r < jacobian->rowCount; r += RG_ROW_GROUP) {
        rgFillDelassusRows(jacobian, work, r, RG_MIN(jacobian->rowCount - r, RG_ROW_GROUP),
                           d->scratch, G);
    }
}
