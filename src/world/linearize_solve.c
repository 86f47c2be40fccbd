// One linear problem in the modes of the step gives the change of impulses, of v+ and of q+; its
// transpose gives gradients. docs/theory/step_derivatives.md.
#include "world/linearize.h"
#include "world/project.h"

#include <string.h>

static double* rgAt(double* matrix, int width, int row, int column) {
    return matrix + (size_t)row * (size_t)width + (size_t)column;
}

void rgAddProduct(int n, int k, int m, const double* a, const double* b, double* c) {
    for (int i = 0; i < n; ++i) {
        double* out = c + (size_t)i * (size_t)m;
        for (int j = 0; j < k; ++j) {
            double factor = a[(size_t)i * (size_t)k + (size_t)j];
            const double* row = b + (size_t)j * (size_t)m;
            for (int x = 0; x < m && factor != 0; ++x) {
                out[x] += factor * row[x];
            }
        }
    }
}

// y += a' x of a k x m matrix.
static void rgAddTransposed(int k, int m, const double* a, const double* x, double* y) {
    for (int j = 0; j < k; ++j) {
        const double* row = a + (size_t)j * (size_t)m;
        for (int i = 0; i < m && x[j] != 0; ++i) {
            y[i] += x[j] * row[i];
        }
    }
}

// ---- G and K

// columns := M^^-1 J', G := J M^^-1 J'
static void rgFillDelassus(const rgWorld* world, rgLinearization* l) {
    const rgRows* rows = &world->constraints.rows;
    int m = l->m;
    memset(l->columns, 0, (size_t)l->n * (size_t)m * sizeof(double));
    for (int r = 0; r < m; ++r) {
        for (int k = rows->rowStart[r]; k < rows->rowStart[r + 1]; ++k) {
            *rgAt(l->columns, m, rows->column[k], r) = rows->value[k];
        }
    }
    if (m > 0) {
        rgDynamics_Solve(world->kinematics.dynamics, m, l->columns);
    }
    memset(l->G, 0, (size_t)m * (size_t)m * sizeof(double));
    for (int r = 0; r < m; ++r) {
        double* out = rgAt(l->G, m, r, 0);
        for (int k = rows->rowStart[r]; k < rows->rowStart[r + 1]; ++k) {
            const double* column = rgAt(l->columns, m, rows->column[k], 0);
            for (int c = 0; c < m && rows->value[k] != 0; ++c) {
                out[c] += rows->value[k] * column[c];
            }
        }
    }
}

static void rgListActive(rgLinearization* l) {
    l->activeCount = 0;
    for (int r = 0; r < l->m; ++r) {
        l->place[r] = -1;
        if (l->modes[r] != rg_modeOpen) {
            l->place[r] = l->activeCount;
            l->active[l->activeCount++] = r;
        }
    }
}

// step_derivatives.17 Two rows at the bound of friction, of a disc of radius mu lambda_n, along the
// slip and across it. b: factor across of the velocity.
static void rgFillSlip(const rgWorld* world, rgLinearization* l, int row, int normal, double mu) {
    const rgRows* rows = &world->constraints.rows;
    const double* lambda = rows->lambda + row;
    double push = hypot(lambda[0], lambda[1]), bound = mu * rows->lambda[normal];
    double speed[2];
    for (int k = 0; k < 2; ++k) {
        speed[k] = rgRows_Speed(rows, row + k, world->next.v) + rows->bias[row + k] +
                   rows->compliance[row + k] * lambda[k];
    }
    double slip = hypot(speed[0], speed[1]);
    double s[2] = {push > 0 ? -lambda[0] / push : 1, push > 0 ? -lambda[1] / push : 0};
    double t[2] = {-s[1], s[0]};
    double mass = 0.5 * (*rgAt(l->G, l->m, row, row) + *rgAt(l->G, l->m, row + 1, row + 1));
    double ratio = bound * mass, across = slip / (slip + ratio), along = ratio / (slip + ratio);
    int m = l->activeCount, at = l->place[row], n = l->place[normal];
    for (int i = 0; i < 2; ++i) {
        for (int j = 0; j < 2; ++j) {
            *rgAt(l->K, m, at + i, at + j) += mass * (s[i] * s[j] + across * t[i] * t[j]);
            *rgAt(l->B, l->m, row + i, row + j) = along * t[i] * t[j];
        }
        *rgAt(l->K, m, at + i, n) += mass * mu * s[i];
        l->slip[row + i] = mass * s[i];
    }
}

// A and B of step_derivatives.17 for a block; rows without impulse have neither.
static void rgFillBlock(const rgWorld* world, rgLinearization* l, const rgBlock* block) {
    int m = l->activeCount, first = block->firstRow;
    for (int r = first; r < first + block->rowCount; ++r) {
        switch (l->modes[r]) {
        case rg_modeActive:
            *rgAt(l->B, l->m, r, r) = 1;
            break;
        case rg_modeSlip:
            if (r == first) {
                rgFillSlip(world, l, r, first + 2, block->mu);
            }
            break;
        case rg_modeRolling:
            if (r == first + 4) {
                rgFillSlip(world, l, r, first + 2, block->muRolling);
            }
            break;
        case rg_modeSpin: {
            double mass = *rgAt(l->G, l->m, r, r), lambda = world->constraints.rows.lambda[r];
            *rgAt(l->K, m, l->place[r], l->place[r]) = mass;
            *rgAt(l->K, m, l->place[r], l->place[first + 2]) =
                -mass * copysign(block->muTorsion, lambda);
            break;
        }
        default:
            break;
        }
    }
}

// step_derivatives.17 K = A + B (G + R)
static void rgFillSystem(const rgWorld* world, rgLinearization* l) {
    const rgRows* rows = &world->constraints.rows;
    int m = l->activeCount;
    memset(l->K, 0, (size_t)m * (size_t)m * sizeof(double));
    memset(l->B, 0, (size_t)l->m * (size_t)l->m * sizeof(double));
    for (int b = 0; b < rows->blockCount; ++b) {
        rgFillBlock(world, l, &rows->blocks[b]);
    }
    for (int b = 0; b < rows->blockCount; ++b) {
        int first = rows->blocks[b].firstRow, end = first + rows->blocks[b].rowCount;
        for (int i = first; i < end; ++i) {
            for (int k = first; k < end && l->place[i] >= 0; ++k) {
                double factor = *rgAt(l->B, l->m, i, k);
                double* out = rgAt(l->K, m, l->place[i], 0);
                const double* row = rgAt(l->G, l->m, k, 0);
                for (int j = 0; j < m && factor != 0; ++j) {
                    out[j] += factor * row[l->active[j]];
                }
                if (factor != 0) {
                    out[l->place[k]] += factor * rows->compliance[k];
                }
            }
        }
    }
}

// x := inverse of a by Gauss-Jordan elimination with partial pivoting; a is lost. False: singular,
// or close to it.
static bool rgInvert(int n, double* a, double* x) {
    memset(x, 0, (size_t)n * (size_t)n * sizeof(double));
    for (int i = 0; i < n; ++i) {
        *rgAt(x, n, i, i) = 1;
    }
    for (int k = 0; k < n; ++k) {
        int best = k;
        for (int i = k + 1; i < n; ++i) {
            best = fabs(*rgAt(a, n, i, k)) > fabs(*rgAt(a, n, best, k)) ? i : best;
        }
        double pivot = *rgAt(a, n, best, k);
        if (!(fabs(pivot) > 0) || !isfinite(pivot)) {
            return false;
        }
        for (int j = 0; j < n; ++j) {
            double swap = *rgAt(a, n, k, j);
            *rgAt(a, n, k, j) = *rgAt(a, n, best, j) / pivot;
            if (best != k) {
                *rgAt(a, n, best, j) = swap;
            }
            swap = *rgAt(x, n, k, j);
            *rgAt(x, n, k, j) = *rgAt(x, n, best, j) / pivot;
            if (best != k) {
                *rgAt(x, n, best, j) = swap;
            }
        }
        for (int i = 0; i < n; ++i) {
            double factor = i == k ? 0 : *rgAt(a, n, i, k);
            for (int j = 0; j < n && factor != 0; ++j) {
                *rgAt(a, n, i, j) -= factor * *rgAt(a, n, k, j);
                *rgAt(x, n, i, j) -= factor * *rgAt(x, n, k, j);
            }
        }
    }
    double most = 0; // diagonals of K are 1
    for (int i = 0; i < n * n; ++i) {
        most = fmax(most, fabs(x[i]));
    }
    return RG_REGULAR_RATIO * most < 1;
}

// Householder's reflection that makes entries below one of a column zero; the column keeps it.
// Columns are stride apart. Returns its factor.
static double rgReflect(int count, double* x, size_t stride) {
    double sum = 0;
    for (int i = 1; i < count; ++i) {
        sum += x[(size_t)i * stride] * x[(size_t)i * stride];
    }
    double norm = sqrt(x[0] * x[0] + sum);
    if (!(sum > 0)) {
        return 0;
    }
    double first = x[0] > 0 ? -norm : norm, pivot = x[0] - first;
    for (int i = 1; i < count; ++i) {
        x[(size_t)i * stride] /= pivot;
    }
    x[0] = first;
    return -pivot / first; // of 1 - factor u u', u_0 = 1
}

// Rows first to end of a matrix of columns := (1 - factor u u') of them, u below its one.
static void rgApplyReflection(int count, const double* u, size_t stride, double factor, int width,
                              double* a, size_t rowStride) {
    for (int j = 0; j < width && factor != 0; ++j) {
        double sum = a[j];
        for (int i = 1; i < count; ++i) {
            sum += u[(size_t)i * stride] * a[(size_t)i * rowStride + (size_t)j];
        }
        sum *= factor;
        a[j] -= sum;
        for (int i = 1; i < count; ++i) {
            a[(size_t)i * rowStride + (size_t)j] -= sum * u[(size_t)i * stride];
        }
    }
}

static void rgSwapColumns(int n, double* a, int i, int j) {
    for (int k = 0; k < n && i != j; ++k) {
        double swap = *rgAt(a, n, k, i);
        *rgAt(a, n, k, i) = *rgAt(a, n, k, j);
        *rgAt(a, n, k, j) = swap;
    }
}

// a P = Q R with column pivoting; q gets Q'. Returns the rank.
static int rgPivotedQr(int n, double* a, double* q, int* order) {
    size_t stride = (size_t)n;
    double largest = 0;
    memset(q, 0, stride * stride * sizeof(double));
    for (int i = 0; i < n; ++i) {
        *rgAt(q, n, i, i) = 1;
        order[i] = i;
    }
    for (int k = 0; k < n; ++k) {
        int best = k;
        double most = -1;
        for (int j = k; j < n; ++j) {
            double sum = 0;
            for (int i = k; i < n; ++i) {
                sum += *rgAt(a, n, i, j) * *rgAt(a, n, i, j);
            }
            best = sum > most ? j : best;
            most = fmax(sum, most);
        }
        largest = k == 0 ? sqrt(most) : largest;
        if (!(sqrt(most) > RG_RANK_RATIO * largest)) {
            return k;
        }
        rgSwapColumns(n, a, k, best);
        int swap = order[k];
        order[k] = order[best], order[best] = swap;
        double* u = rgAt(a, n, k, k);
        double factor = rgReflect(n - k, u, stride);
        rgApplyReflection(n - k, u, stride, factor, n - k - 1, u + 1, stride);
        rgApplyReflection(n - k, u, stride, factor, n, rgAt(q, n, k, 0), stride);
    }
    return n;
}

// step_derivatives.18 x := the pseudoinverse of K; a and q are lost. K = Q R P', R' = Z (S 0)', x =
// P Z S^-T Q'. Returns the rank.
static int rgPseudoinvert(int n, double* a, double* q, double* x, int* order) {
    int rank = rgPivotedQr(n, a, q, order);
    size_t stride = (size_t)n;
    double* factors = q + stride * stride; // beside it
    // Rows of R are columns of R': reflections of what is beyond the triangle, from the last row
    // on, make it a triangle of rank rows.
    for (int k = rank - 1; k >= 0 && rank < n; --k) {
        // Acts on entry k and those from rank on.
        double* row = rgAt(a, n, k, 0);
        double sum = 0;
        for (int j = rank; j < n; ++j) {
            sum += row[j] * row[j];
        }
        double norm = sqrt(row[k] * row[k] + sum), first = row[k] > 0 ? -norm : norm;
        double pivot = row[k] - first;
        factors[k] = sum > 0 ? -pivot / first : 0;
        for (int j = rank; j < n && sum > 0; ++j) {
            row[j] /= pivot;
        }
        row[k] = sum > 0 ? first : row[k];
        for (int i = 0; i < k && factors[k] != 0; ++i) {
            double* other = rgAt(a, n, i, 0);
            double along = other[k];
            for (int j = rank; j < n; ++j) {
                along += other[j] * row[j];
            }
            along *= factors[k];
            other[k] -= along;
            for (int j = rank; j < n; ++j) {
                other[j] -= along * row[j];
            }
        }
    }
    // x := P Z (T^-1 0)' Q'
    for (int i = rank - 1; i >= 0; --i) {
        double* row = rgAt(q, n, i, 0);
        for (int k = i + 1; k < rank; ++k) {
            double factor = *rgAt(a, n, i, k);
            for (int j = 0; j < n && factor != 0; ++j) {
                row[j] -= factor * *rgAt(q, n, k, j);
            }
        }
        double inverse = 1 / *rgAt(a, n, i, i);
        for (int j = 0; j < n; ++j) {
            row[j] *= inverse;
        }
    }
    for (int i = rank; i < n; ++i) {
        memset(rgAt(q, n, i, 0), 0, stride * sizeof(double));
    }
    for (int k = 0; k < rank && rank < n; ++k) {
        const double* u = rgAt(a, n, k, 0);
        for (int j = 0; j < n && factors[k] != 0; ++j) {
            double sum = *rgAt(q, n, k, j);
            for (int i = rank; i < n; ++i) {
                sum += u[i] * *rgAt(q, n, i, j);
            }
            sum *= factors[k];
            *rgAt(q, n, k, j) -= sum;
            for (int i = rank; i < n; ++i) {
                *rgAt(q, n, i, j) -= sum * u[i];
            }
        }
    }
    for (int i = 0; i < n; ++i) {
        memcpy(rgAt(x, n, order[i], 0), rgAt(q, n, i, 0), stride * sizeof(double));
    }
    return rank;
}

// K of the active rows in units in which all weigh alike, and back.
static void rgScaleSystem(int n, const double* units, double* a) {
    for (int i = 0; i < n; ++i) {
        for (int j = 0; j < n; ++j) {
            *rgAt(a, n, i, j) *= units[i] * units[j];
        }
    }
}

// step_derivatives.18 x := inverse of K, its pseudoinverse where it is singular; rest gets 1 - K x.
// units: what impulses are measured in. Returns the rank; negative: not finite.
static int rgInvertRegular(int n, const double* K, const double* units, double* x, double* rest,
                           double* scratch, int* order) {
    size_t bytes = (size_t)n * (size_t)n * sizeof(double);
    memcpy(scratch, K, bytes);
    rgScaleSystem(n, units, scratch);
    memset(rest, 0, bytes);
    if (!rgInvert(n, scratch, x)) {
        memcpy(scratch, K, bytes);
        rgScaleSystem(n, units, scratch);
        int rank = rgPseudoinvert(n, scratch, rest, x, order);
        rgScaleSystem(n, units, x);
        memset(rest, 0, bytes);
        rgAddProduct(n, n, n, K, x, rest);
        for (int i = 0; i < n * n; ++i) {
            rest[i] = (i % (n + 1) == 0) - rest[i];
        }
        return rgAllFinite(x, n * n) ? rank : -1;
    }
    rgScaleSystem(n, units, x);
    return rgAllFinite(x, n * n) ? n : -1;
}

static rgResult rgFactorizeSystem(const rgWorld* world, rgLinearization* l) {
    rgListActive(l);
    rgFillSystem(world, l);
    for (int k = 0; k < l->activeCount; ++k) {
        int r = l->active[k];
        double mass = *rgAt(l->G, l->m, r, r);
        l->regular[k] = mass > 0 ? 1 / sqrt(mass) : 1;
    }
    int rank =
        rgInvertRegular(l->activeCount, l->K, l->regular, l->inverse, l->rest, l->work, l->order);
    l->redundant = l->activeCount - rank;
    return rank >= 0 ? rg_ok : rg_errorNumeric;
}

// ---- changes

// out := J x (m x width) of x (n x width), added.
static void rgAddRowProducts(const rgWorld* world, const rgLinearization* l, const double* x,
                             double* out) {
    const rgRows* rows = &world->constraints.rows;
    size_t width = (size_t)l->width;
    for (int r = 0; r < l->m; ++r) {
        for (int k = rows->rowStart[r]; k < rows->rowStart[r + 1] && l->place[r] >= 0; ++k) {
            const double* row = x + (size_t)rows->column[k] * width;
            double* to = out + (size_t)r * width;
            for (size_t j = 0; j < width && rows->value[k] != 0; ++j) {
                to[j] += rows->value[k] * row[j];
            }
        }
    }
}

// packed (active x width) := c - B rows
static void rgPackRight(const rgWorld* world, const rgLinearization* l, double* packed) {
    const rgRows* rows = &world->constraints.rows;
    size_t width = (size_t)l->width;
    for (int b = 0; b < rows->blockCount; ++b) {
        int first = rows->blocks[b].firstRow, end = first + rows->blocks[b].rowCount;
        for (int i = first; i < end; ++i) {
            if (l->place[i] < 0) {
                continue;
            }
            double* out = packed + (size_t)l->place[i] * width;
            memcpy(out, l->bounds + (size_t)i * width, width * sizeof(double));
            for (int k = first; k < end; ++k) {
                double factor = l->B[(size_t)i * (size_t)l->m + (size_t)k];
                const double* row = l->rows + (size_t)k * width;
                for (size_t j = 0; j < width && factor != 0; ++j) {
                    out[j] -= factor * row[j];
                }
            }
        }
    }
}

// Rows whose right sides no impulses can meet.
static void rgCountInconsistent(rgLinearization* l, const double* packed) {
    int m = l->activeCount;
    double most = 0;
    for (int i = 0; i < m * m; ++i) {
        most = fmax(most, fabs(l->rest[i]));
    }
    for (int i = 0; i < m && most > 1e-3 * RG_INCONSISTENT_RATIO; ++i) {
        bool bad = false;
        for (int c = 0; c < l->width && !bad; ++c) {
            double left = 0, largest = 0;
            for (int k = 0; k < m; ++k) {
                double right = packed[(size_t)k * (size_t)l->width + (size_t)c];
                left += l->rest[(size_t)i * (size_t)m + (size_t)k] * right;
                largest = fmax(largest, fabs(right));
            }
            bad = fabs(left) > RG_INCONSISTENT_RATIO * largest;
        }
        l->inconsistent += bad;
    }
}

// step_derivatives.19
void rgLinearize_Forward(rgWorld* world, rgLinearization* l) {
    size_t width = (size_t)l->width, n = (size_t)l->n;
    int m = l->activeCount;
    memcpy(l->change, l->force, n * width * sizeof(double));
    rgLinearize_SolveFree(world, l, l->width, false, l->change);
    for (size_t i = 0; i < n * width; ++i) {
        l->change[i] += l->base[i];
    }
    rgAddRowProducts(world, l, l->change, l->rows);
    rgPackRight(world, l, l->work);
    rgCountInconsistent(l, l->work);
    memset(l->impulse, 0, (size_t)l->m * width * sizeof(double));
    memset(l->packed, 0, (size_t)m * width * sizeof(double));
    rgAddProduct(m, m, l->width, l->inverse, l->work, l->packed);
    for (int k = 0; k < m; ++k) {
        memcpy(l->impulse + (size_t)l->active[k] * width, l->packed + (size_t)k * width,
               width * sizeof(double));
    }
    for (size_t i = 0; i < n; ++i) {
        for (int k = 0; k < m; ++k) {
            double factor = l->columns[i * (size_t)l->m + (size_t)l->active[k]];
            const double* row = l->packed + (size_t)k * width;
            for (size_t j = 0; j < width && factor != 0; ++j) {
                l->change[i * width + j] += factor * row[j];
            }
        }
    }
}

// step_derivatives.21 From a gradient by v+ to those by the columns, added to out.
void rgLinearize_Backward(rgWorld* world, rgLinearization* l, const double* bar, double* out) {
    const rgRows* rows = &world->constraints.rows;
    int n = l->n, m = l->activeCount;
    double *push = l->packed, *right = push + l->m, *seen = right + l->m, *total = seen + l->m;
    memset(push, 0, (size_t)(3 * l->m) * sizeof(double));
    for (int k = 0; k < m; ++k) {
        for (int i = 0; i < n; ++i) {
            push[k] += *rgAt(l->columns, l->m, i, l->active[k]) * bar[i];
        }
    }
    rgAddTransposed(m, m, l->inverse, push, right);
    memcpy(total, bar, (size_t)n * sizeof(double));
    for (int b = 0; b < rows->blockCount; ++b) {
        int first = rows->blocks[b].firstRow, end = first + rows->blocks[b].rowCount;
        for (int i = first; i < end; ++i) {
            double x = l->place[i] >= 0 ? right[l->place[i]] : 0;
            for (int k = first; k < end && x != 0; ++k) {
                seen[k] -= *rgAt(l->B, l->m, i, k) * x;
            }
            for (int j = 0; j < l->width && x != 0; ++j) {
                out[j] += *rgAt(l->bounds, l->width, i, j) * x;
            }
        }
    }
    for (int r = 0; r < l->m; ++r) {
        for (int k = rows->rowStart[r]; k < rows->rowStart[r + 1] && seen[r] != 0; ++k) {
            total[rows->column[k]] += rows->value[k] * seen[r];
        }
    }
    rgAddTransposed(l->m, l->width, l->rows, seen, out);
    rgAddTransposed(n, l->width, l->base, total, out);
    rgLinearize_SolveFree(world, l, 1, true, total);
    rgAddTransposed(n, l->width, l->force, total, out);
}

rgResult rgLinearize_Solve(rgWorld* world, rgLinearization* l) {
    rgFillDelassus(world, l);
    rgLinearize_Modes(world, l);
    rgLinearize_FindPoints(world, l);
    rgLinearize_Rows(world, l);
    return rgFactorizeSystem(world, l);
}

// ---- the projection of positions

// Share of a change of the gap that the projection undoes.
static double rgProjectedShare(const rgWorld* world, double end) {
    double most = world->def.pushOutSpeed * world->settings.dt;
    return end > 0 ? 1 : RG_PROJECT_SHARE * end > -most ? RG_PROJECT_SHARE : 0;
}

static void rgOpenProjected(rgLinearization* l, int row, double share, double ahead, double slope,
                            double compliance) {
    l->projected[l->projectedCount++] = (rgProjectedRow){row, share, ahead, slope, compliance};
}

// Half lines that the projection has pushed, then loops: their rows, l->projection, n wide.
static void rgListProjected(const rgWorld* world, rgLinearization* l) {
    const rgProjection* p = world->projection;
    const rgRows* rows = &world->constraints.rows;
    l->projectedCount = 0;
    for (int i = 0; i < p->halfLineCount && l->projectedCount < l->projectedCapacity; ++i) {
        const rgHalfLine* line = &p->halfLines[i];
        if (!(line->impulse > 0)) {
            continue;
        }
        const rgRowSource* source = &rows->sources[line->row];
        int link = world->model->dofs[rows->column[rows->rowStart[line->row]]].link;
        double ahead = rgKinematics_TimeAhead(&world->kinematics, &world->settings, link, link),
               gap = rows->gap[line->row];
        if (source->kind < 0) {
            const rgContactPoint* point = &world->contacts.points[source->index];
            ahead = rgKinematics_TimeAhead(&world->kinematics, &world->settings,
                                           world->contacts.colliders[point->colliderA].link,
                                           world->contacts.colliders[point->colliderB].link);
        }
        double slope = fabs(gap) < 2 * RG_SLOP ? 0 : 1;
        rgOpenProjected(l, line->row, rgProjectedShare(world, line->end), ahead, slope,
                        RG_PROJECT_COMPLIANCE_RATIO);
    }
    for (int r = 0; r < p->loopRowCount && l->projectedCount < l->projectedCapacity; ++r) {
        rgOpenProjected(l, -1 - r, 1, 0, 0, p->rows.compliance[r]);
    }
}

static const rgRows* rgProjectedRows(const rgWorld* world, const rgProjectedRow* of, int* row) {
    *row = of->row >= 0 ? of->row : -1 - of->row;
    return of->row >= 0 ? &world->constraints.rows : &world->projection->rows;
}

// step_derivatives.20 l->pushed := M^^-1 J' of the rows, n x count; l->projection := inverse of G +
// R.
rgResult rgLinearize_Project(rgWorld* world, rgLinearization* l) {
    rgListProjected(world, l);
    int count = l->projectedCount, n = l->n;
    if (count == 0) {
        return rg_ok;
    }
    memset(l->pushed, 0, (size_t)n * (size_t)count * sizeof(double));
    for (int i = 0; i < count; ++i) {
        int r;
        const rgRows* rows = rgProjectedRows(world, &l->projected[i], &r);
        for (int k = rows->rowStart[r]; k < rows->rowStart[r + 1]; ++k) {
            *rgAt(l->pushed, count, rows->column[k], i) = rows->value[k];
        }
    }
    rgDynamics_Solve(world->kinematics.dynamics, count, l->pushed);
    double* G = l->K2;
    memset(G, 0, (size_t)count * (size_t)count * sizeof(double));
    for (int i = 0; i < count; ++i) {
        int r;
        const rgRows* rows = rgProjectedRows(world, &l->projected[i], &r);
        for (int k = rows->rowStart[r]; k < rows->rowStart[r + 1]; ++k) {
            for (int j = 0; j < count; ++j) {
                *rgAt(G, count, i, j) +=
                    rows->value[k] * *rgAt(l->pushed, count, rows->column[k], j);
            }
        }
    }
    for (int i = 0; i < count; ++i) {
        double* entry = rgAt(G, count, i, i);
        *entry += l->projected[i].row >= 0 ? l->projected[i].compliance * *entry
                                           : l->projected[i].compliance;
        l->regular2[i] = *entry > 0 ? 1 / sqrt(*entry) : 1;
    }
    int rank = rgInvertRegular(count, G, l->regular2, l->projection, l->rest2, l->work, l->order);
    return rank >= 0 ? rg_ok : rg_errorNumeric;
}

// Changes of the gaps that the projection looks at, count x width.
static void rgGapChanges(const rgWorld* world, const rgLinearization* l, double* out) {
    size_t width = (size_t)l->width;
    memset(out, 0, (size_t)l->projectedCount * width * sizeof(double));
    for (int i = 0; i < l->projectedCount; ++i) {
        const rgProjectedRow* of = &l->projected[i];
        double* to = out + (size_t)i * width;
        int r;
        const rgRows* rows = rgProjectedRows(world, of, &r);
        for (int k = rows->rowStart[r]; k < rows->rowStart[r + 1]; ++k) {
            size_t at = (size_t)rows->column[k];
            const double* row = (of->row >= 0 ? l->change : l->next) + at * width;
            double factor = rows->value[k] * (of->row >= 0 ? of->share * of->ahead : 1);
            for (size_t j = 0; j < width && factor != 0; ++j) {
                to[j] += factor * row[j];
            }
            to[at] += of->row >= 0 ? of->share * of->slope * rows->value[k] : 0;
        }
        for (int j = 0; j < l->n && of->row >= 0; ++j) {
            to[j] += of->share * of->ahead * l->turning[(size_t)r * (size_t)l->n + (size_t)j];
        }
    }
}

void rgLinearize_PushProjection(rgWorld* world, rgLinearization* l) {
    int count = l->projectedCount;
    size_t width = (size_t)l->width;
    if (count == 0) {
        return;
    }
    double *gaps = l->work, *push = gaps + (size_t)count * width;
    rgGapChanges(world, l, gaps);
    memset(push, 0, (size_t)count * width * sizeof(double));
    rgAddProduct(count, count, l->width, l->projection, gaps, push);
    for (size_t i = 0; i < (size_t)count * width; ++i) {
        push[i] = -push[i];
    }
    rgAddProduct(l->n, count, l->width, l->pushed, push, l->next);
}

void rgLinearize_PullProjection(const rgWorld* world, const rgLinearization* l, double* nextBar,
                                double* endBar, double* QBar) {
    int count = l->projectedCount;
    double *push = l->work, *gaps = push + count;
    memset(push, 0, (size_t)(2 * count) * sizeof(double));
    rgAddTransposed(l->n, count, l->pushed, nextBar, push);
    rgAddTransposed(count, count, l->projection, push, gaps);
    for (int i = 0; i < count; ++i) {
        const rgProjectedRow* of = &l->projected[i];
        double x = -gaps[i];
        int r;
        const rgRows* rows = rgProjectedRows(world, of, &r);
        for (int k = rows->rowStart[r]; k < rows->rowStart[r + 1]; ++k) {
            int at = rows->column[k];
            double value = rows->value[k] * x;
            if (of->row >= 0) {
                endBar[at] += of->share * of->ahead * value;
                QBar[at] += of->share * of->slope * value;
            } else {
                nextBar[at] += value;
            }
        }
        for (int j = 0; j < l->n && of->row >= 0; ++j) {
            QBar[j] += x * of->share * of->ahead * l->turning[(size_t)r * (size_t)l->n + (size_t)j];
        }
    }
}
