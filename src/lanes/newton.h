// Proximal Newton, Gauss-Seidel passes and the plan that uses them, as in docs/theory/newton.md.
#pragma once
#include "lanes/prepare.h"

// Newton iterations of the first run over all problems, and of the last try of the second.
#define RG_LANE_QUICK_ITERATIONS    10
#define RG_LANE_THOROUGH_ITERATIONS 15
#define RG_LANE_MORE_PASSES         10 // Gauss-Seidel passes before the last try

RG_LANE_CALL void rgLaneProject(const rgLaneGroup* groups, int q, const double* factor,
                                const double* lambda, double* out) {
    RG_EACH(h, q) {
        const rgLaneGroup* group = groups + h;
        double x[3];
        int row = group->row, rows = rgLaneGroup_Rows(group);
        for (int i = 0; i < rows; ++i) {
            x[i] = lambda[row + i];
        }
        rgLaneProjectGroup(group, factor[row], x);
        for (int i = 0; i < rows; ++i) {
            out[row + i] = x[i];
        }
    }
    RG_SYNC();
}

RG_LANE_CALL double rgLaneResidual(const rgLaneGroup* groups, int q, const double* factor,
                                   const double* weight, const double* mass, const double* lambda,
                                   const double* sigma) {
    double most;
    RG_LARGEST(most, h, q,
               weight[h] * rgLaneNatural(groups + h, factor[groups[h].row], mass[h],
                                         lambda + groups[h].row, sigma + groups[h].row));
    return most;
}

// Keep impulses that are better than the best so far. Their residual, and in sigma2 their velocity.
RG_LANE_FN double rgLane_Offer(rgLaneWork* work, const double* lambda) {
    rgLaneProject(work->groups, work->q, work->factor, lambda, work->lambda2);
    rgLane_Multiply(work, work->lambda2, work->g, work->sigma2);
    double residual = rgLaneResidual(work->groups, work->q, work->factor, work->scaledWeight,
                                     work->scaledMass, work->lambda2, work->sigma2);
    if (residual < work->residual) {
        work->residual = residual;
        RG_EACH(i, work->n) {
            work->best[i] = work->lambda2[i];
        }
    }
    RG_SYNC();
    return residual;
}

// newton.1-2; the sum of squares of the group
RG_LANE_FN inline double rgLaneMapGroup(const rgLaneGroup* group, double scale,
                                        const double* lambda, const double* sigma, double* F) {
    if (group->kind == rg_laneCoulomb) {
        double normal = lambda[2] - sigma[2];
        normal = normal > 0 ? normal : normal * 0;
        double x[2] = {lambda[0] - sigma[0], lambda[1] - sigma[1]};
        rgLaneProjectDisc(group->mu * normal, x);
        F[0] = lambda[0] - x[0];
        F[1] = lambda[1] - x[1];
        F[2] = lambda[2] - normal;
        return F[0] * F[0] + F[1] * F[1] + F[2] * F[2];
    }
    F[0] = group->kind == rg_laneFree
               ? sigma[0]
               : lambda[0] - rgLaneProjectRow(group, scale, lambda[0] - sigma[0]);
    return F[0] * F[0];
}

RG_LANE_CALL double rgLaneMap(const rgLaneGroup* groups, int q, const double* factor,
                              const double* lambda, const double* sigma, double* F) {
    double sum;
    RG_SUM(sum, h, q,
           rgLaneMapGroup(groups + h, factor[groups[h].row], lambda + groups[h].row,
                          sigma + groups[h].row, F + groups[h].row));
    RG_SYNC();
    return sqrt(sum);
}

RG_LANE_FN inline double rgLane_Map(const rgLaneWork* work, const double* lambda,
                                    const double* sigma) {
    return rgLaneMap(work->groups, work->q, work->factor, lambda, sigma, work->F);
}

// newton.11, and the map there
RG_LANE_FN void rgLane_Evaluate(rgLaneWork* work) {
    rgLane_Multiply(work, work->lambda, work->g, work->sigma);
    RG_EACH(i, work->n) {
        work->sigma[i] += work->proximal * (work->lambda[i] - work->centre[i]);
    }
    RG_SYNC();
    work->norm = rgLane_Map(work, work->lambda, work->sigma);
}

// What newton.13-14 has for a group.
typedef enum rgLaneState {
    rg_stateKnown,  // open, or at a bound
    rg_stateActive, // its rows are unknown: sticks, or one row between its bounds
    rg_stateSlip,   // unknown across the slip and along the normal
    rg_stateSmooth, // slips almost without friction: the normal alone
} rgLaneState;

typedef enum rgLaneUnknown { rg_unknownRow, rg_unknownAcross, rg_unknownNormal } rgLaneUnknown;

// State of a group; a contact's directions; known steps into step, 1/k into lambda2.
RG_LANE_FN inline int rgLaneLinearizeGroup(rgLaneWork* work, const rgLaneGroup* group, double eps) {
    int row = group->row;
    const double *lambda = work->lambda + row, *sigma = work->sigma + row, *F = work->F + row;
    double *step = work->step + row, *tangent = work->tangent + row;
    double open = 1 / (1 + eps);
    if (group->kind != rg_laneCoulomb) {
        double x = lambda[0] - sigma[0];
        double scale = work->factor[row];
        double low = group->kind == rg_laneBox ? group->lower * scale : 0;
        double high = group->kind == rg_laneBox ? group->upper * scale : INFINITY;
        int active = group->kind == rg_laneFree || (x > low && x < high);
        step[0] = active ? 0 : -F[0] * open;
        return active ? rg_stateActive : rg_stateKnown;
    }
    double normal = lambda[2] - sigma[2];
    if (!(normal > 0)) {
        for (int i = 0; i < 3; ++i) {
            step[i] = -F[i] * open;
        }
        return rg_stateKnown;
    }
    double x = lambda[0] - sigma[0], y = lambda[1] - sigma[1];
    double length = sqrt(x * x + y * y), reach = group->mu * normal;
    step[0] = step[1] = step[2] = 0;
    if (reach > 0 && length <= reach) {
        return rg_stateActive;
    }
    double t0 = length > 0 ? x / length : 1, t1 = length > 0 ? y / length : 0;
    double k = length > 0 ? reach / length : 0;
    int slips = group->mu > RG_ZERO_RATIO && k > RG_ZERO_RATIO;
    tangent[0] = t0;
    tangent[1] = t1;
    tangent[2] = group->mu;
    double along = (-(t0 * F[0] + t1 * F[1]) + group->mu * F[2]) * open;
    double across = slips ? 0 : -(t0 * F[1] - t1 * F[0]) * open;
    step[0] = along * t0 - across * t1;
    step[1] = along * t1 + across * t0;
    work->lambda2[row] = slips ? 1 / k : 0;
    return slips ? rg_stateSlip : rg_stateSmooth;
}

RG_LANE_FN inline int rgLaneUnknownsOf(const rgLaneGroup* group, int state) {
    switch (state) {
    case rg_stateActive:
        return rgLaneGroup_Rows(group);
    case rg_stateSlip:
        return 2;
    case rg_stateSmooth:
        return 1;
    default:
        return 0;
    }
}

// States, known steps and the list of unknowns, whose shifts go into sigma2; returns their number.
RG_LANE_FN int rgLane_Linearize(rgLaneWork* work, double eps) {
    double p = work->proximal, count;
    RG_EACH(h, work->q) {
        work->state[h] = rgLaneLinearizeGroup(work, work->groups + h, eps);
    }
    RG_SYNC();
    RG_EACH(h, work->q) {
        int first = 0;
        RG_COMPACT for (int k = 0; k < h; ++k) {
            first += rgLaneUnknownsOf(work->groups + k, work->state[k]);
        }
        int row = work->groups[h].row, state = work->state[h];
        work->first[h] = first;
        if (state == rg_stateActive) {
            for (int i = 0; i < rgLaneGroup_Rows(work->groups + h); ++i) {
                work->unknown[first + i] = 4 * (row + i) + rg_unknownRow;
                work->sigma2[first + i] = p + eps;
            }
        } else if (state != rg_stateKnown) {
            if (state == rg_stateSlip) {
                double k = work->lambda2[row];
                work->unknown[first] = 4 * row + rg_unknownAcross;
                work->sigma2[first] = p + ((1 + eps) * k - 1);
                ++first;
            }
            work->unknown[first] = 4 * row + rg_unknownNormal;
            work->sigma2[first] = p + eps;
        }
    }
    RG_SUM(count, h, work->q, rgLaneUnknownsOf(work->groups + h, work->state[h]));
    RG_SYNC();
    return (int)count;
}

// newton.15-16 into K, m rows with the right-hand side behind them
RG_LANE_FN void rgLane_FillSystem(rgLaneWork* work, int m, int ldk) {
    const double *G = work->G, *tangent = work->tangent, *F = work->F, *known = work->moved;
    int ld = work->ld;
    double* K = work->K;
    RG_EACH(v, m) {
        int row = work->unknown[v] / 4, kind = work->unknown[v] % 4;
        int a = kind == rg_unknownNormal ? row + 2 : row;
        int b = kind == rg_unknownRow ? row : kind == rg_unknownAcross ? row + 1 : row;
        int c = kind == rg_unknownNormal ? row + 1 : row;
        double za = 1, zb = 0, zc = 0;
        if (kind == rg_unknownAcross) {
            za = -tangent[row + 1];
            zb = tangent[row];
        } else if (kind == rg_unknownNormal) {
            zb = tangent[row + 2] * tangent[row];
            zc = tangent[row + 2] * tangent[row + 1];
        }
        RG_COMPACT for (int u = 0; u < m; ++u) {
            int other = work->unknown[u] / 4, otherKind = work->unknown[u] % 4;
            const double* entries = G + (otherKind == rg_unknownNormal ? other + 2 : other) * ld;
            double x = za * entries[a] + zb * entries[b] + zc * entries[c];
            if (otherKind == rg_unknownAcross) {
                entries += ld;
                double y = za * entries[a] + zb * entries[b] + zc * entries[c];
                x = tangent[other] * y - tangent[other + 1] * x;
            }
            K[u * ldk + v] = u == v ? x + work->sigma2[u] : x;
        }
        double right;
        if (kind == rg_unknownAcross) {
            double t0 = tangent[row], t1 = tangent[row + 1];
            right = -(t0 * F[row + 1] - t1 * F[row]) * work->lambda2[row] -
                    (t0 * known[row + 1] - t1 * known[row]);
        } else {
            right = -F[a] - known[a];
        }
        K[v * ldk + m] = right;
    }
    RG_SYNC();
}

// y -= x f in a column. Four are read before one is written, so that reads need not wait.
RG_LANE_FN inline void rgLaneSubtract(int count, double x, const double* f, double* y, int stride) {
    int i = 0;
    RG_COMPACT for (; i + 3 < count; i += 4) {
        double *y1 = y + stride, *y2 = y1 + stride, *y3 = y2 + stride;
        double a = *y - f[i] * x, b = *y1 - f[i + 1] * x;
        double c = *y2 - f[i + 2] * x, d = *y3 - f[i + 3] * x;
        *y = a;
        *y1 = b;
        *y2 = c;
        *y3 = d;
        y = y3 + stride;
    }
    RG_COMPACT for (; i < count; ++i) {
        *y -= f[i] * x;
        y += stride;
    }
}

// Gauss elimination with row pivots: the solution takes the place of the right-hand side. Each lane
// has a column; what is left of the pivot's own column is not swapped, but its reciprocal is kept.
RG_LANE_FN void rgLane_SolveSystem(rgLaneWork* work, int m, int ldk) {
    double *K = work->K, *multipliers = work->lambda2;
    RG_COMPACT for (int j = 0; j < m; ++j) {
        int best = rgLane_LargestAt(K + j, ldk, j, m);
        double inverse = 1 / K[best * ldk + j];
        RG_EACH(i, m) {
            if (i > j) {
                multipliers[i] = K[(i == best ? j : i) * ldk + j] * inverse;
            } else if (i == j) {
                work->pivot[j] = inverse;
            }
        }
        RG_SYNC();
        RG_EACH(q, m - j) {
            double* column = K + j + 1 + q;
            double x = column[best * ldk];
            column[best * ldk] = column[j * ldk];
            column[j * ldk] = x;
            rgLaneSubtract(m - j - 1, x, multipliers + j + 1, column + (j + 1) * ldk, ldk);
        }
        RG_SYNC();
    }
    RG_COMPACT for (int j = m - 1; j >= 0; --j) {
        double x = K[j * ldk + m] * work->pivot[j];
        RG_SYNC();
        RG_EACH(i, j + 1) {
            double* right = K + i * ldk + m;
            *right = i == j ? x : *right - K[i * ldk + j] * x;
        }
        RG_SYNC();
    }
}

// newton.8: the step; false if it is not finite.
RG_LANE_FN int rgLane_Step(rgLaneWork* work, double regularisation) {
    double load, sum;
    RG_LARGEST(load, i, work->n, fabs(work->lambda[i]));
    double eps = regularisation * rgLaneLeast(work->norm, 1) / rgLaneMost(load, 1);
    eps = rgLaneMost(eps, RG_LEAST_SHIFT);
    int m = rgLane_Linearize(work, eps), ldk = (m + 1) | 1;
    rgLane_Multiply(work, work->step, NULL, work->moved);
    rgLane_FillSystem(work, m, ldk);
    rgLane_SolveSystem(work, m, ldk);
    RG_EACH(h, work->q) {
        int row = work->groups[h].row, state = work->state[h];
        const double* y = work->K + work->first[h] * ldk + m;
        double* step = work->step + row;
        if (state == rg_stateActive) {
            for (int i = 0; i < rgLaneGroup_Rows(work->groups + h); ++i) {
                step[i] = y[i * ldk];
            }
        } else if (state != rg_stateKnown) {
            double t0 = work->tangent[row], t1 = work->tangent[row + 1];
            double across = state == rg_stateSlip ? y[0] : 0;
            double normal = state == rg_stateSlip ? y[ldk] : y[0];
            double along = work->tangent[row + 2] * normal;
            step[0] += along * t0 - across * t1;
            step[1] += along * t1 + across * t0;
            step[2] = normal;
        }
    }
    RG_SYNC();
    RG_SUM(sum, i, work->n, work->step[i] * 0);
    return sum == 0;
}

RG_LANE_FN void rgLane_Try(rgLaneWork* work, double t, double* norm) {
    RG_EACH(i, work->n) {
        work->lambda2[i] = work->lambda[i] + t * work->step[i];
        work->sigma2[i] = work->sigma[i] + t * work->moved[i];
    }
    RG_SYNC();
    *norm = rgLane_Map(work, work->lambda2, work->sigma2);
}

RG_LANE_FN void rgLane_Remember(rgLaneWork* work, double norm) {
    RG_ONE() {
        work->past[work->pastCount % RG_NEWTON_ITERATIONS] = norm;
    }
    ++work->pastCount;
    RG_SYNC();
}

// newton.9
RG_LANE_FN void rgLane_Search(rgLaneWork* work) {
    int count = work->pastCount < RG_NEWTON_ITERATIONS ? work->pastCount : RG_NEWTON_ITERATIONS;
    double reference, bestNorm = INFINITY, bestLength = 1, norm = 0;
    RG_LARGEST(reference, i, count, work->past[i]);
    reference = rgLaneMost(reference, work->norm);
    int found = 0;
    RG_COMPACT for (double t = 1; t > RG_LINE_SEARCH_LEAST_STEP && !found; t *= 0.5) {
        rgLane_Try(work, t, &norm);
        if (norm < bestNorm) {
            bestNorm = norm;
            bestLength = t;
        }
        found = norm < reference;
    }
    if (!found) {
        rgLane_Try(work, bestLength, &norm);
    }
    double* swapped = work->lambda;
    work->lambda = work->lambda2;
    work->lambda2 = swapped;
    swapped = work->sigma;
    work->sigma = work->sigma2;
    work->sigma2 = swapped;
    work->norm = norm;
    rgLane_Remember(work, work->norm);
}

// newton.12
RG_LANE_FN void rgLane_MoveCentre(rgLaneWork* work) {
    double sum;
    RG_SUM(sum, i, work->n,
           work->proximal * (work->lambda[i] - work->centre[i]) * work->proximal *
               (work->lambda[i] - work->centre[i]));
    if (work->norm > RG_CENTRE_MAP_RATIO * sqrt(sum)) {
        return;
    }
    RG_EACH(i, work->n) {
        work->centre[i] = work->lambda[i];
    }
    RG_SYNC();
    work->proximal /= RG_PROXIMAL_GROWTH_RATIO;
    rgLane_Evaluate(work);
    work->pastCount = 0;
    rgLane_Remember(work, RG_CENTRE_GROWTH_RATIO * work->norm);
}

// True if |F| is that of an earlier iteration.
RG_LANE_FN int rgLane_Cycles(const rgLaneWork* work) {
    int found = 0;
    int count = work->pastCount < RG_NEWTON_ITERATIONS ? work->pastCount : RG_NEWTON_ITERATIONS;
    RG_COMPACT for (int back = 2; back < count; ++back) {
        double past = work->past[(work->pastCount - 1 - back) % RG_NEWTON_ITERATIONS];
        found = found || fabs(past - work->norm) <= RG_CYCLE_MAP_RATIO * work->norm;
    }
    return found;
}

// Newton from lambda around the centre, until the best impulses are good enough.
RG_LANE_FN void rgLane_Newton(rgLaneWork* work, int limit, double regularisation, double proximal,
                              int cycles) {
    work->proximal = proximal;
    work->pastCount = 0;
    rgLane_Evaluate(work);
    rgLane_Remember(work, work->norm);
    RG_COMPACT for (int k = 0; k < limit && work->residual > work->tolerance; ++k) {
        ++work->iterations;
        if (!rgLane_Step(work, regularisation)) {
            break;
        }
        rgLane_Multiply(work, work->step, NULL, work->moved);
        RG_EACH(i, work->n) {
            work->moved[i] += work->proximal * work->step[i];
        }
        RG_SYNC();
        rgLane_Search(work);
        rgLane_Offer(work, work->lambda);
        if (!(work->norm < INFINITY) || (!cycles && rgLane_Cycles(work))) {
            break;
        }
        if (work->proximal > 0) {
            rgLane_MoveCentre(work);
        }
    }
}

// pgs.2-4: one group's new impulses, with its own velocities following
RG_LANE_FN inline void rgLaneSweepGroup(const rgLaneWork* work, const rgLaneGroup* group,
                                        double* change) {
    int row = group->row, ld = work->ld;
    const double* D = work->G + row * ld + row;
    const double *lambda = work->lambda + row, *sigma = work->sigma + row;
    if (group->kind != rg_laneCoulomb) {
        change[0] =
            rgLaneProjectRow(group, work->factor[row], lambda[0] - sigma[0] / D[0]) - lambda[0];
        return;
    }
    double dn = D[2 * ld + 2];
    double normal = dn > 0 ? lambda[2] - sigma[2] / dn : lambda[2];
    normal = normal > 0 ? normal : 0;
    change[2] = normal - lambda[2];
    double a = D[0], b = D[1], c = D[ld + 1];
    double largest = 0.5 * (a + c) + sqrt(0.25 * (a - c) * (a - c) + b * b);
    double length = largest > 0 ? 1 / largest : 0;
    double x[2];
    for (int i = 0; i < 2; ++i) {
        x[i] = lambda[i] - length * (sigma[i] + D[i * ld + 2] * change[2]);
    }
    rgLaneProjectDisc(group->mu * normal, x);
    change[0] = x[0] - lambda[0];
    change[1] = x[1] - lambda[1];
}

// Projected Gauss-Seidel passes from lambda.
RG_LANE_FN void rgLane_Sweep(rgLaneWork* work, int passes) {
    int n = work->n, ld = work->ld;
    rgLane_Multiply(work, work->lambda, work->g, work->sigma);
    RG_COMPACT for (int k = 0; k < passes; ++k, ++work->sweeps) {
        RG_COMPACT for (int h = 0; h < work->q; ++h) {
            const rgLaneGroup* group = work->groups + h;
            int row = group->row, rows = rgLaneGroup_Rows(group);
            double change[3] = {0, 0, 0};
            rgLaneSweepGroup(work, group, change);
            RG_SYNC();
            RG_EACH(i, n) {
                const double* entries = work->G + i * ld + row;
                double x = entries[0] * change[0];
                if (rows == 3) {
                    x = (x + entries[1] * change[1]) + entries[2] * change[2];
                }
                work->sigma[i] += x;
                if (i >= row && i < row + rows) {
                    work->lambda[i] += i == row ? change[0] : i == row + 1 ? change[1] : change[2];
                }
            }
            RG_SYNC();
        }
    }
}

RG_LANE_FN void rgLane_Copy(int n, const double* from, double* to) {
    RG_EACH(i, n) {
        to[i] = from[i];
    }
    RG_SYNC();
}

// The start, projected, in best and lambda; zero where it is not finite, and shortened where it is
// far off.
RG_LANE_FN void rgLane_Start(rgLaneWork* work, const double* given) {
    double sum;
    RG_EACH(i, work->n) {
        work->best[i] = 0;
        work->lambda[i] = given[i] * work->factor[i];
    }
    RG_SYNC();
    RG_SUM(sum, i, work->n, work->lambda[i] * 0);
    work->residual = INFINITY;
    double residual = 1;
    if (sum == 0) {
        residual = rgLane_Offer(work, work->lambda);
    }
    if (sum != 0 || !(residual <= RG_START_MOST_RESIDUAL)) {
        double share = sum == 0 && residual < INFINITY ? RG_START_MOST_RESIDUAL / residual : 0;
        work->residual = INFINITY;
        RG_EACH(i, work->n) {
            work->lambda[i] = share > 0 ? share * work->lambda2[i] : 0;
        }
        RG_SYNC();
        rgLane_Offer(work, work->lambda);
    }
}

// What a try begins with and how far it goes.
typedef struct rgLaneTry {
    int passes, limit, cycles;
    double regularisation;
} rgLaneTry;

// Tries 0 and 1 are those of auto, around the start. The last is around the best impulses, with
// much regularization.
RG_LANE_FN inline rgLaneTry rgLaneTryOf(int number, int far) {
    rgLaneTry one;
    one.passes = number > 1 ? RG_LANE_MORE_PASSES : number == 1 || far ? RG_GAUSS_SEIDEL_PASSES : 0;
    one.limit = number > 1    ? RG_LANE_THOROUGH_ITERATIONS
                : number == 1 ? RG_NEWTON_ITERATIONS
                              : RG_LANE_QUICK_ITERATIONS;
    one.cycles = number > 1;
    one.regularisation = number > 1 ? RG_DAMPED_SHIFT_RATIO : RG_NEWTON_SHIFT_RATIO;
    return one;
}

// The plan, as auto's where it is nearest: Newton around the given start. The thorough run goes on
// from the best impulses of the quick one.
RG_LANE_FN void rgLane_Solve(rgLaneWork* work, rgLaneEffort effort, const double* given,
                             const double* found) {
    double warm;
    rgLane_Start(work, given);
    rgLane_Copy(work->n, work->best, work->centre);
    rgLane_Copy(work->n, work->best, work->lambda);
    RG_LARGEST(warm, i, work->n, fabs(work->lambda[i]));
    int first = effort == rg_laneQuick ? 0 : 1, last = effort == rg_laneQuick ? 0 : 2;
    int far = warm > 0 && work->residual > RG_START_FAR_RESIDUAL;
    if (first > 0) {
        RG_EACH(i, work->n) {
            work->lambda[i] = found[i] * work->factor[i];
        }
        RG_SYNC();
        rgLane_Offer(work, work->lambda);
    }
    RG_COMPACT for (int k = first; k <= last && work->residual > work->tolerance; ++k) {
        rgLaneTry one = rgLaneTryOf(k, far);
        if (k > 0) {
            RG_EACH(i, work->n) {
                work->lambda[i] = work->best[i];
            }
            RG_SYNC();
        }
        if (one.passes > 0) {
            rgLane_Sweep(work, one.passes);
        }
        if (k > 0) {
            rgLane_Offer(work, work->lambda);
        }
        if (k > 1) {
            rgLane_Copy(work->n, work->best, work->centre);
        }
        rgLane_Newton(work, one.limit, one.regularisation, RG_NEWTON_PROXIMAL_RATIO, one.cycles);
    }
}
