// One linear problem in the modes of the step gives the change of impulses, of v+ and of q+; its
// transpose gives gradients. docs/theory/step_derivatives.md.
#include "contact/pairs.h"
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

// out := J_r x of a row, for x of n x width, added.
static void rgAddRowProduct(const rgWorld* world, int row, const double* x, int width,
                            double* out) {
    const rgRows* rows = &world->constraints.rows;
    int end = rows->rowStart[row + 1];
    for (int k = rows->rowStart[row], count; k < end; k += count) {
        for (count = 1; k + count < end && rows->column[k + count] == rows->column[k] + count;
             ++count) {
        }
        const double* first = x + (size_t)rows->column[k] * (size_t)width;
        world->constraints.kernels->combineRows(count, width, rows->value + k, first, out);
    }
}

// columns := M^^-1 J', G := J M^^-1 J'
static void rgFillDelassus(const rgWorld* world, rgLinearization* l) {
    const rgRows* rows = &world->constraints.rows;
    int pitch = l->pitch;
    memset(l->columns, 0, (size_t)l->n * (size_t)pitch * sizeof(double));
    for (int r = 0; r < l->m; ++r) {
        for (int k = rows->rowStart[r]; k < rows->rowStart[r + 1]; ++k) {
            *rgAt(l->columns, pitch, rows->column[k], r) = rows->value[k];
        }
    }
    if (l->m > 0) {
        rgDynamics_Solve(world->kinematics.dynamics, pitch, l->columns);
    }
    memset(l->G, 0, (size_t)l->m * (size_t)pitch * sizeof(double));
    for (int r = 0; r < l->m; ++r) {
        rgAddRowProduct(world, r, l->columns, pitch, rgAt(l->G, pitch, r, 0));
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
    double mass = 0.5 * (*rgAt(l->G, l->pitch, row, row) + *rgAt(l->G, l->pitch, row + 1, row + 1));
    double ratio = bound * mass, across = slip / (slip + ratio), along = ratio / (slip + ratio);
    int m = l->activeCount, at = l->place[row], n = l->place[normal];
    for (int i = 0; i < 2; ++i) {
        for (int j = 0; j < 2; ++j) {
            *rgAt(l->system.K, m, at + i, at + j) += mass * (s[i] * s[j] + across * t[i] * t[j]);
            *rgAt(l->B, l->pitch, row + i, row + j) = along * t[i] * t[j];
        }
        *rgAt(l->system.K, m, at + i, n) += mass * mu * s[i];
        l->slip[row + i] = mass * s[i];
    }
}

// step_derivatives.20 A = 1 - D, B = D of the smoothed law, in velocities of the normal's weight.
static void rgFillSmooth(const rgWorld* world, rgLinearization* l, const rgBlock* block) {
    const rgRows* rows = &world->constraints.rows;
    bool cone = block->kind == rg_blockCoulomb, rubs = cone && block->mu > 0;
    int first = block->firstRow, normal = first + (cone ? 2 : 0), least = rubs ? first : normal;
    double mass = *rgAt(l->G, l->pitch, normal, normal), k = l->def.smoothing * l->def.smoothing;
    double z[3], lambda[3], sigma[3], D[9] = {0};
    for (int r = least; r <= normal; ++r) {
        double speed = rgRows_Speed(rows, r, world->next.v) + rows->bias[r];
        z[r - normal + 2] = mass * rows->lambda[r] - speed - rows->compliance[r] * rows->lambda[r];
    }
    if (rubs) {
        rgSmoothLaw(block->mu, (double[2]){k, k}, z, lambda, sigma, D);
    } else {
        lambda[2] = rgSmoothHalfLine(k, z[2]);
        D[8] = lambda[2] / (lambda[2] + k / lambda[2]);
    }
    for (int i = least; i <= normal; ++i) {
        for (int j = least; j <= normal; ++j) {
            double slope = D[3 * (i - normal + 2) + j - normal + 2];
            *rgAt(l->system.K, l->activeCount, l->place[i], l->place[j]) +=
                mass * ((i == j ? 1 : 0) - slope);
            *rgAt(l->B, l->pitch, i, j) = slope;
        }
    }
    for (int i = 0; i < 2 && rubs; ++i) { // lambda is in units of velocity
        l->slip[first + i] = -D[3 * i + 2] / (block->mu * D[8]) * lambda[2];
    }
}

// A and B of step_derivatives.17 for a block; rows without impulse have neither.
static void rgFillBlock(const rgWorld* world, rgLinearization* l, const rgBlock* block) {
    int m = l->activeCount, first = block->firstRow;
    for (int r = first; r < first + block->rowCount; ++r) {
        switch (l->modes[r]) {
        case rg_modeActive:
            *rgAt(l->B, l->pitch, r, r) = 1;
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
        case rg_modeSmooth:
            if (r == first + (block->kind == rg_blockCoulomb ? 2 : 0)) {
                rgFillSmooth(world, l, block);
            }
            break;
        case rg_modeSpin: {
            double mass = *rgAt(l->G, l->pitch, r, r), lambda = world->constraints.rows.lambda[r];
            *rgAt(l->system.K, m, l->place[r], l->place[r]) = mass;
            *rgAt(l->system.K, m, l->place[r], l->place[first + 2]) =
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
    memset(l->system.K, 0, (size_t)m * (size_t)m * sizeof(double));
    memset(l->B, 0, (size_t)l->m * (size_t)l->pitch * sizeof(double));
    for (int b = 0; b < rows->blockCount; ++b) {
        rgFillBlock(world, l, &rows->blocks[b]);
    }
    for (int b = 0; b < rows->blockCount; ++b) {
        int first = rows->blocks[b].firstRow, end = first + rows->blocks[b].rowCount;
        for (int i = first; i < end; ++i) {
            for (int k = first; k < end && l->place[i] >= 0; ++k) {
                double factor = *rgAt(l->B, l->pitch, i, k);
                double* out = rgAt(l->system.K, m, l->place[i], 0);
                const double* row = rgAt(l->G, l->pitch, k, 0);
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

static rgResult rgFactorizeSystem(const rgWorld* world, rgLinearization* l) {
    rgListActive(l);
    l->system.n = l->activeCount;
    rgFillSystem(world, l);
    for (int k = 0; k < l->activeCount; ++k) {
        int r = l->active[k];
        double mass = *rgAt(l->G, l->pitch, r, r);
        l->system.units[k] = mass > 0 ? 1 / sqrt(mass) : 1;
    }
    bool finite = rgLinearSystem_Factorize(&l->system, world->constraints.kernels, l->work);
    l->redundant = l->activeCount - l->system.rank;
    return finite ? rg_ok : rg_errorNumeric;
}

// ---- changes

// out := J x (active rows x width) of x (n x width), added to what a row has.
static void rgFillRowChanges(const rgWorld* world, const rgLinearization* l, const double* x,
                             double* out) {
    size_t width = (size_t)l->width;
    for (int k = 0; k < l->activeCount; ++k) {
        double* to = out + (size_t)k * width;
        memcpy(to, l->rows + (size_t)l->active[k] * width, width * sizeof(double));
        rgAddRowProduct(world, l->active[k], x, l->width, to);
    }
}

// out (n x active) := in B; rows of a block change each other alone.
static void rgMultiplyByB(const rgWorld* world, const rgLinearization* l, int n, const double* in,
                          double* out) {
    const rgRows* rows = &world->constraints.rows;
    size_t m = (size_t)l->activeCount;
    memset(out, 0, (size_t)n * m * sizeof(double));
    for (int b = 0; b < rows->blockCount; ++b) {
        int first = rows->blocks[b].firstRow, end = first + rows->blocks[b].rowCount;
        for (int i = first; i < end; ++i) {
            for (int k = first; k < end && l->place[i] >= 0; ++k) {
                double factor = l->B[(size_t)i * (size_t)l->pitch + (size_t)k];
                const double* from = in + l->place[i];
                double* to = out + l->place[k];
                for (size_t x = 0; x < (size_t)n * m && factor != 0; x += m) {
                    to[x] += factor * from[x];
                }
            }
        }
    }
}

// packed (active x width) := c - B rows, of what rows change by with what v+ does
static void rgPackRight(const rgWorld* world, const rgLinearization* l, const double* changes,
                        double* packed) {
    const rgRows* rows = &world->constraints.rows;
    size_t width = (size_t)l->width;
    for (int b = 0; b < rows->blockCount; ++b) {
        int first = rows->blocks[b].firstRow, end = first + rows->blocks[b].rowCount;
        for (int i = first; i < end; ++i) {
            if (l->place[i] < 0) {
                continue;
            }
            double* out = packed + (size_t)l->place[i] * width;
            if (l->parameterFirst >= 0) {
                memcpy(out, l->bounds + (size_t)i * width, width * sizeof(double));
            } else {
                memset(out, 0, width * sizeof(double));
            }
            for (int k = first; k < end; ++k) {
                double factor = l->B[(size_t)i * (size_t)l->pitch + (size_t)k];
                const double* row = changes + (size_t)RG_MAX(l->place[k], 0) * width;
                for (size_t j = 0; j < width && factor != 0; ++j) {
                    out[j] -= factor * row[j];
                }
            }
        }
    }
}

// Rows whose right sides no impulses can meet: what of them is along the rows of null.
static void rgCountInconsistent(const rgWorld* world, rgLinearization* l, const double* right,
                                double* scratch) {
    const rgLinearSystem* system = &l->system;
    int m = system->n, rest = m - system->rank;
    size_t width = (size_t)l->width;
    double *largest = scratch, *left = largest + width, *factors = left + width;
    double* beyond = l->impulse; // filled later
    memset(largest, 0, width * sizeof(double));
    for (int k = 0; k < m; ++k) {
        for (size_t c = 0; c < width; ++c) {
            double size = fabs(right[(size_t)k * width + c]);
            largest[c] = size > largest[c] ? size : largest[c];
        }
    }
    memset(beyond, 0, (size_t)rest * width * sizeof(double));
    rgSubtractProduct(world->constraints.kernels, rest, m, l->width, system->null, right, beyond);
    double most = 0; // of factors
    for (int i = 0; i < m; ++i) {
        double sum = 0;
        for (int k = 0; k < rest; ++k) {
            sum += fabs(system->null[(size_t)k * (size_t)m + (size_t)i]);
        }
        sum /= system->units[i] * system->units[i];
        most = sum > most ? sum : most;
    }
    int any = 0;
    for (int k = 0; k < rest; ++k) {
        for (size_t c = 0; c < width; ++c) {
            any |= most * fabs(beyond[(size_t)k * width + c]) > RG_INCONSISTENT_RATIO * largest[c];
        }
    }
    for (int i = 0; i < m && any; ++i) {
        memset(left, 0, width * sizeof(double));
        for (int k = 0; k < rest; ++k) {
            double entry = system->null[(size_t)k * (size_t)m + (size_t)i];
            factors[k] = entry / (system->units[i] * system->units[i]);
        }
        world->constraints.kernels->combineRows(rest, l->width, factors, beyond, left);
        int bad = 0;
        for (size_t c = 0; c < width; ++c) {
            bad |= fabs(left[c]) > RG_INCONSISTENT_RATIO * largest[c];
        }
        l->inconsistent += bad;
    }
}

static bool rgNeedsImpulses(const rgLinearization* l) {
    return l->def.impulses || l->sensorCount > 0;
}

// Impulses, where they are asked for or some have no part in v+.
static void rgFindImpulses(const rgWorld* world, rgLinearization* l, const double* changes) {
    size_t width = (size_t)l->width;
    int m = l->activeCount;
    double *right = l->work, *scratch = right + (size_t)m * width;
    rgPackRight(world, l, changes, right);
    if (!l->system.isRegular) {
        rgCountInconsistent(world, l, right, scratch);
    }
    if (!rgNeedsImpulses(l)) {
        return;
    }
    memset(l->impulse, 0, (size_t)l->m * width * sizeof(double));
    const double* inverse = rgLinearSystem_Inverse(&l->system, l->inverse, scratch);
    for (int k = 0; k < m; ++k) {
        world->constraints.kernels->combineRows(m, l->width, inverse + (size_t)k * (size_t)m, right,
                                                rgAt(l->impulse, l->width, l->active[k], 0));
    }
}

// step_derivatives.19 change -= M^^-1 J' K^-1 (B rows - c)
void rgLinearize_Forward(rgWorld* world, rgLinearization* l) {
    const rgKernels* kernels = world->constraints.kernels;
    size_t width = (size_t)l->width, n = (size_t)l->n;
    int m = l->activeCount;
    memcpy(l->change, l->force, n * width * sizeof(double));
    rgLinearize_SolveFree(world, l, l->width, false, l->change);
    for (size_t i = 0; i < n * width; ++i) {
        l->change[i] += l->base[i];
    }
    if (m == 0) {
        memset(l->impulse, 0, rgNeedsImpulses(l) ? (size_t)l->m * width * sizeof(double) : 0);
        return;
    }
    rgFillRowChanges(world, l, l->change, l->packed);
    if (rgNeedsImpulses(l) || !l->system.isRegular) {
        rgFindImpulses(world, l, l->packed);
    }
    for (size_t i = 0; i < n; ++i) {
        for (int k = 0; k < m; ++k) {
            *rgAt(l->answer, m, (int)i, k) = *rgAt(l->columns, l->pitch, (int)i, l->active[k]);
        }
    }
    rgLinearSystem_SolveRight(&l->system, l->n, l->answer, l->work);
    for (int k = 0; k < m && l->parameterFirst >= 0; ++k) {
        const double* bounds = rgAt(l->bounds, l->width, l->active[k], 0);
        for (size_t i = 0; i < n; ++i) {
            for (size_t j = (size_t)l->parameterFirst; j < width; ++j) {
                l->change[i * width + j] += l->answer[i * (size_t)m + (size_t)k] * bounds[j];
            }
        }
    }
    rgMultiplyByB(world, l, l->n, l->answer, l->work);
    rgSubtractProduct(kernels, l->n, m, l->width, l->work, l->packed, l->change);
}

// step_derivatives.22 From a gradient by v+ to those by the columns, added to out.
void rgLinearize_Backward(rgWorld* world, rgLinearization* l, const double* bar, double* out) {
    const rgRows* rows = &world->constraints.rows;
    int n = l->n, m = l->activeCount;
    double *push = l->packed, *right = push + l->m, *seen = right + l->m, *total = seen + l->m;
    memset(push, 0, (size_t)(3 * l->m) * sizeof(double));
    for (int k = 0; k < m; ++k) {
        for (int i = 0; i < n; ++i) {
            push[k] += *rgAt(l->columns, l->pitch, i, l->active[k]) * bar[i];
        }
    }
    memcpy(right, push, (size_t)m * sizeof(double));
    rgLinearSystem_SolveRight(&l->system, 1, right, l->work);
    memcpy(total, bar, (size_t)n * sizeof(double));
    for (int b = 0; b < rows->blockCount; ++b) {
        int first = rows->blocks[b].firstRow, end = first + rows->blocks[b].rowCount;
        for (int i = first; i < end; ++i) {
            double x = l->place[i] >= 0 ? right[l->place[i]] : 0;
            for (int k = first; k < end && x != 0; ++k) {
                seen[k] -= *rgAt(l->B, l->pitch, i, k) * x;
            }
            for (int j = l->parameterFirst; j >= 0 && j < l->width && x != 0; ++j) {
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

// step_derivatives.21 l->pushed := M^^-1 J' (G + R)^-1 of the rows, n x count
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
    double* G = l->projection.K;
    l->projection.n = count;
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
        l->projection.units[i] = *entry > 0 ? 1 / sqrt(*entry) : 1;
    }
    if (!rgLinearSystem_Factorize(&l->projection, world->constraints.kernels, l->work)) {
        return rg_errorNumeric;
    }
    rgLinearSystem_SolveRight(&l->projection, n, l->pushed, l->work);
    return rg_ok;
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
    if (count == 0) {
        return;
    }
    rgGapChanges(world, l, l->work);
    rgSubtractProduct(world->constraints.kernels, l->n, count, l->width, l->pushed, l->work,
                      l->next);
}

void rgLinearize_PullProjection(const rgWorld* world, const rgLinearization* l, double* nextBar,
                                double* endBar, double* QBar) {
    int count = l->projectedCount;
    double* gaps = l->work;
    memset(gaps, 0, (size_t)count * sizeof(double));
    rgAddTransposed(l->n, count, l->pushed, nextBar, gaps);
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
