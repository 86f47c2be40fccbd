// One contact problem on one group of lanes: G from M and J, proximal Newton as in
// docs/theory/newton.md, the judge of docs/theory/ncp.md. Included by solve.c and by cuda.cu.
#pragma once
#include "contact/tuning.h"
#include "lanes/lanes.h"
#include "lanes/problem.h"

#include <stddef.h>

// Newton iterations of the first run over all problems, and of each try of the second.
#define RG_LANE_QUICK_ITERATIONS    10
#define RG_LANE_THOROUGH_ITERATIONS 40
#define RG_LANE_MORE_PASSES         30 // Gauss-Seidel passes before the last tries

// Arrays of one problem, which the lanes share; in the fast memory of a multiprocessor.
typedef struct rgLaneWork {
    const rgLaneProblem* problem;
    const rgLaneBatch* batch;
    const rgLaneGroup* groups;
    int n, q;      // rows, groups
    int ld;        // of G, odd: lanes with neighbouring rows use different banks
    double *G, *K; // scaled G + R; matrix of a Newton step with its right-hand side, or W
    double* L;     // factor of M, in the place of G before that and after it
    double *lambda, *sigma, *F, *step, *moved, *lambda2, *sigma2, *centre, *best; // n
    double *g, *factor; // n: scaled free velocity; scaled over given impulses
    double* tangent;    // n: directions of slip and mu of a contact
    double* pivot;      // n: reciprocals
    double *mass, *weight, *scaledMass, *scaledWeight, *reference; // q
    double* past;                                                  // RG_NEWTON_ITERATIONS: |F|
    int* unknown;                                                  // n: 4 row + rgLaneUnknown
    int* first;                                                    // q: first unknown of a group
    int* state;                                                    // q: rgLaneState
    double norm;                                                   // |F|
    double proximal, residual, tolerance;
    int pastCount, iterations, sweeps;
} rgLaneWork;

// Numbers that the factor of M takes: its lower triangle by rows and the reciprocals of its
// diagonal.
RG_BOTH_FN inline int rgLaneFactorCount(int nv, int form) {
    return form == rg_laneMass ? nv * (nv + 1) / 2 + nv : 0;
}

// Numbers of the memory that a problem takes; with a work, its arrays in this memory. The factor of
// M is in the place of G before G is formed and for the judge; W is in the place of K and of the
// vectors, before there are any.
RG_BOTH_FN inline int rgLaneWork_Place(rgLaneWork* work, double* memory, int n, int q, int nv,
                                       int form) {
    int ld = n | 1;
    int factor = rgLaneFactorCount(nv, form);
    int square = n * ld > factor ? n * ld : factor;
    int wide = n * ((n + 1) | 1) > nv ? n * ((n + 1) | 1) : nv;
    int vectors = 13 * n + 5 * q + RG_NEWTON_ITERATIONS + (n + 2 * q + 1) / 2;
    int whitened = form == rg_laneDense ? 0 : n * (nv | 1);
    if (work != NULL) {
        double* next = memory + square;
        work->n = n;
        work->q = q;
        work->ld = ld;
        work->G = work->L = memory;
        work->K = next, next += wide;
        work->lambda = next, next += n;
        work->sigma = next, next += n;
        work->F = next, next += n;
        work->step = next, next += n;
        work->moved = next, next += n;
        work->lambda2 = next, next += n;
        work->sigma2 = next, next += n;
        work->centre = next, next += n;
        work->best = next, next += n;
        work->g = next, next += n;
        work->factor = next, next += n;
        work->tangent = next, next += n;
        work->pivot = next, next += n;
        work->mass = next, next += q;
        work->weight = next, next += q;
        work->scaledMass = next, next += q;
        work->scaledWeight = next, next += q;
        work->reference = next, next += q;
        work->past = next, next += RG_NEWTON_ITERATIONS;
        work->unknown = (int*)next;
        work->first = work->unknown + n;
        work->state = work->first + q;
    }
    return square + (wide + vectors > whitened ? wide + vectors : whitened);
}

RG_LANE_FN inline double rgLaneMost(double a, double b) {
    return a > b ? a : b;
}

RG_LANE_FN inline double rgLaneLeast(double a, double b) {
    return a < b ? a : b;
}

// Four sums, so that additions need not wait for each other.
RG_LANE_FN inline double rgLaneDot(const double* x, const double* y, int n) {
    double a = 0, b = 0, c = 0, d = 0;
    int k = 0;
    RG_COMPACT for (; k + 3 < n; k += 4) {
        a += x[k] * y[k];
        b += x[k + 1] * y[k + 1];
        c += x[k + 2] * y[k + 2];
        d += x[k + 3] * y[k + 3];
    }
    RG_COMPACT for (; k < n; ++k) {
        a += x[k] * y[k];
    }
    return (a + b) + (c + d);
}

RG_LANE_FN inline int rgLaneGroup_Rows(const rgLaneGroup* group) {
    return group->kind == rg_laneCoulomb ? 3 : 1;
}

// ---- Sets and maps ----

RG_LANE_FN inline void rgLaneProjectDisc(double radius, double* x) {
    double length = sqrt(x[0] * x[0] + x[1] * x[1]);
    if (length > radius) {
        double k = radius / length;
        x[0] *= k;
        x[1] *= k;
    }
}

RG_LANE_FN inline void rgLaneProjectCone(double mu, double* x) {
    double t = sqrt(x[0] * x[0] + x[1] * x[1]);
    if (x[2] >= 0 && t <= mu * x[2]) {
        return;
    }
    double along = (mu * t + x[2]) / (1 + mu * mu);
    along = along > 0 ? along : along * 0; // not a number stays so
    double k = t > 0 ? mu * along / t : 0;
    x[0] *= k;
    x[1] *= k;
    x[2] = along;
}

// The normal by itself, then friction within what this normal allows.
RG_LANE_FN inline void rgLaneProjectSteps(double mu, double* x) {
    x[2] = x[2] < 0 ? 0 : x[2];
    rgLaneProjectDisc(mu * x[2], x);
}

RG_LANE_FN inline double rgLaneProjectRow(const rgLaneGroup* group, double scale, double x) {
    if (group->kind == rg_laneFree) {
        return x;
    }
    double low = group->kind == rg_laneBox ? group->lower * scale : 0;
    double high = group->kind == rg_laneBox ? group->upper * scale : x;
    return x < low ? low : x > high ? high : x;
}

// P of a group's impulses; scale is that of its bounds.
RG_LANE_FN inline void rgLaneProjectGroup(const rgLaneGroup* group, double scale, double* x) {
    if (group->kind == rg_laneCoulomb) {
        rgLaneProjectCone(group->mu, x);
    } else {
        x[0] = rgLaneProjectRow(group, scale, x[0]);
    }
}

// u = sigma + Gamma(sigma); steep cones have none (ncp.md)
RG_LANE_FN inline void rgLaneShift(const rgLaneGroup* group, const double* sigma, double* u) {
    u[0] = sigma[0];
    if (group->kind == rg_laneCoulomb) {
        u[1] = sigma[1];
        u[2] = sigma[2];
        if (group->mu <= RG_STEEP_FRICTION) {
            u[2] += group->mu * sqrt(u[0] * u[0] + u[1] * u[1]);
        }
    }
}

RG_LANE_FN inline double rgLaneLength(const rgLaneGroup* group, const double* x) {
    return group->kind == rg_laneCoulomb ? sqrt(x[0] * x[0] + x[1] * x[1] + x[2] * x[2])
                                         : fabs(x[0]);
}

// ncp.9: |lambda - P(lambda - m u)|
RG_LANE_FN inline double rgLaneNatural(const rgLaneGroup* group, double scale, double mass,
                                       const double* lambda, const double* sigma) {
    double u[3], x[3];
    int rows = rgLaneGroup_Rows(group);
    rgLaneShift(group, sigma, u);
    for (int i = 0; i < rows; ++i) {
        x[i] = lambda[i] - mass * u[i];
    }
    if (rows == 3 && group->mu > RG_STEEP_FRICTION) {
        rgLaneProjectSteps(group->mu, x);
    } else {
        rgLaneProjectGroup(group, scale, x);
    }
    for (int i = 0; i < rows; ++i) {
        x[i] = lambda[i] - x[i];
    }
    return rgLaneLength(group, x);
}

// Distance of u(g) to the directions that the dual set allows.
RG_LANE_FN inline double rgLaneDual(const rgLaneGroup* group, const double* g) {
    double u[3];
    rgLaneShift(group, g, u);
    for (int i = 0; i < rgLaneGroup_Rows(group); ++i) {
        u[i] = -u[i];
    }
    if (group->kind == rg_laneCoulomb) {
        if (group->mu > RG_STEEP_FRICTION) {
            rgLaneProjectSteps(group->mu, u);
        } else {
            rgLaneProjectCone(group->mu, u);
        }
    } else if (group->kind == rg_laneHalfLine) {
        u[0] = u[0] < 0 ? 0 : u[0];
    } else if (group->kind == rg_laneBox) {
        int open = u[0] > 0 ? group->upper == INFINITY : group->lower == -INFINITY;
        u[0] = open ? u[0] : 0;
    }
    return rgLaneLength(group, u);
}

// ---- Products and factors ----

RG_LANE_FN inline int rgLaneTriangle(int row, int column) {
    return row * (row + 1) / 2 + column;
}

// Row of entry e of a lower triangle that is stored by rows.
RG_LANE_FN inline int rgLaneTriangleRow(int e) {
    int row = (int)(0.5f * (sqrtf(8.0f * (float)e + 1.0f) - 1.0f));
    while (rgLaneTriangle(row, 0) > e) {
        --row;
    }
    while (rgLaneTriangle(row + 1, 0) <= e) {
        ++row;
    }
    return row;
}

// M = L L', kept for the judge, too. False when a pivot is not positive.
RG_LANE_FN int rgLane_FactorMass(rgLaneWork* work, const double* M) {
    int nv = work->problem->velocities, count = rgLaneTriangle(nv, 0);
    double* kept = work->batch->factors + work->problem->factor;
    double *L = work->L, *inverses = L + count;
    RG_EACH(e, count) {
        L[e] = M[e];
    }
    RG_SYNC();
    RG_COMPACT for (int j = 0; j < nv; ++j) {
        double* pivot = L + rgLaneTriangle(j, 0);
        RG_EACH(i, nv - j) {
            double* row = L + rgLaneTriangle(j + i, 0);
            row[j] -= rgLaneDot(row, pivot, j);
        }
        RG_SYNC();
        if (!(pivot[j] > 0 && pivot[j] < INFINITY)) {
            return 0;
        }
        double inverse = 1 / sqrt(pivot[j]);
        RG_EACH(i, nv - j) {
            if (i == 0) {
                inverses[j] = inverse;
            } else {
                L[rgLaneTriangle(j + i, j)] *= inverse;
            }
        }
        RG_SYNC();
    }
    RG_EACH(e, count + nv) {
        kept[e] = L[e];
    }
    return 1;
}

// W = J L^-T, in the place of K, or as it is given; returns its odd leading dimension.
RG_LANE_FN int rgLane_Whiten(rgLaneWork* work, const double* J) {
    int nv = work->problem->velocities, n = work->n;
    int ld = nv | 1, given = work->problem->form == rg_laneWhitened;
    const double *L = work->L, *inverses = L + rgLaneTriangle(nv, 0);
    RG_COMPACT for (int i = 0; i < n; ++i) {
        RG_EACH(k, nv) {
            work->K[i * ld + k] = J[i * nv + k];
        }
    }
    RG_SYNC();
    RG_EACH(i, given ? 0 : n) {
        double* row = work->K + i * ld;
        RG_COMPACT for (int k = 0; k < nv; ++k) {
            row[k] = (row[k] - rgLaneDot(L + rgLaneTriangle(k, 0), row, k)) * inverses[k];
        }
    }
    RG_SYNC();
    return ld;
}

RG_LANE_FN int rgLane_FormMatrix(rgLaneWork* work, const double* matrix) {
    int n = work->n, ld = work->ld, nv = work->problem->velocities;
    double* G = work->G;
    if (work->problem->form == rg_laneDense) {
        RG_EACH(e, rgLaneTriangle(n, 0)) {
            int i = rgLaneTriangleRow(e), j = e - rgLaneTriangle(i, 0);
            G[i * ld + j] = matrix[e];
            G[j * ld + i] = matrix[e];
        }
        RG_SYNC();
        return 1;
    }
    const double* J = matrix;
    if (work->problem->form == rg_laneMass) {
        if (!rgLane_FactorMass(work, matrix)) {
            return 0;
        }
        J += rgLaneTriangle(nv, 0);
    }
    int ldw = rgLane_Whiten(work, J);
    RG_EACH(e, rgLaneTriangle(n, 0)) {
        int i = rgLaneTriangleRow(e), j = e - rgLaneTriangle(i, 0);
        double x = rgLaneDot(work->K + i * ldw, work->K + j * ldw, nv);
        G[i * ld + j] = x;
        G[j * ld + i] = x;
    }
    RG_SYNC();
    return 1;
}

// out = G x, and g where it is given. Called, not copied to its places, as the others below that
// take what they need one by one.
RG_LANE_CALL void rgLaneMultiply(const double* G, int ld, int n, const double* x, const double* g,
                                 double* out) {
    RG_EACH(i, n) {
        double product = rgLaneDot(G + i * ld, x, n);
        out[i] = g != NULL ? product + g[i] : product;
    }
    RG_SYNC();
}

RG_LANE_FN inline void rgLane_Multiply(const rgLaneWork* work, const double* x, const double* g,
                                       double* out) {
    rgLaneMultiply(work->G, work->ld, work->n, x, g, out);
}

// ---- Preparation ----

// Mass, weight and scale of every group, from the diagonal; 0 if something cannot move.
RG_LANE_FN int rgLane_FindMasses(rgLaneWork* work) {
    const double* compliance = work->batch->compliance + work->problem->row;
    const double* length = work->batch->length + work->problem->row;
    double wrong;
    RG_EACH(h, work->q) {
        const rgLaneGroup* group = work->groups + h;
        int rows = rgLaneGroup_Rows(group);
        double moved = 0, sum = 0;
        for (int i = 0; i < rows; ++i) {
            int row = group->row + i;
            double own = work->G[row * work->ld + row];
            moved += own;
            sum += own + compliance[row];
        }
        work->mass[h] = rows / sum;
        work->weight[h] = moved / rows * length[group->row];
        for (int i = 0; i < rows; ++i) {
            work->factor[group->row + i] = rgLane_PowerBelow(sqrt(work->mass[h])); // s
        }
    }
    RG_SYNC();
    RG_SUM(wrong, h, work->q,
           work->mass[h] > 1e-300 && work->mass[h] < 1e300 && work->weight[h] > 0 ? 0 : 1);
    return wrong == 0;
}

// ncp.10-11: eps of zero impulses, and V of every group. Returns the largest s eps.
RG_LANE_FN double rgLane_FindReferences(rgLaneWork* work) {
    const double* g = work->batch->velocity + work->problem->row;
    const double* length = work->batch->length + work->problem->row;
    double* error = work->scaledMass; // scratch
    double least = work->problem->reference, most;
    RG_EACH(h, work->q) {
        const rgLaneGroup* group = work->groups + h;
        double zero[3] = {0, 0, 0};
        error[h] = work->weight[h] * rgLaneNatural(group, 1, work->mass[h], zero, g + group->row);
    }
    if (least == 0) {
        RG_LARGEST(least, h, work->q,
                   rgLaneDual(work->groups + h, g + work->groups[h].row) *
                       length[work->groups[h].row]);
        least *= RG_REFERENCE_RATIO;
    }
    RG_SYNC();
    RG_EACH(h, work->q) {
        double value = least;
        RG_COMPACT for (int k = 0; k < work->q; ++k) {
            if (work->groups[k].island == work->groups[h].island) {
                value = rgLaneMost(value, error[k]);
            }
        }
        work->reference[h] = value > 0 ? value : 1;
    }
    RG_LARGEST(most, h, work->q,
               error[h] / length[work->groups[h].row] * work->factor[work->groups[h].row]);
    RG_SYNC();
    return most;
}

// ncp.13-14: the dimensionless problem. c is that of impulses.
RG_LANE_FN void rgLane_Scale(rgLaneWork* work, double c) {
    int n = work->n, ld = work->ld;
    const double* compliance = work->batch->compliance + work->problem->row;
    const double* g = work->batch->velocity + work->problem->row;
    double* s = work->factor;
    RG_EACH(i, n) {
        double* row = work->G + i * ld;
        RG_COMPACT for (int j = 0; j < n; ++j) {
            row[j] *= s[i] * s[j];
        }
        row[i] += compliance[i] * s[i] * s[i];
        work->g[i] = g[i] * (c * s[i]);
    }
    RG_EACH(h, work->q) {
        double own = s[work->groups[h].row];
        work->scaledMass[h] = work->mass[h] / (own * own);
        work->scaledWeight[h] = work->weight[h] * (own / c) / work->reference[h];
    }
    RG_SYNC();
    RG_EACH(i, n) {
        s[i] = c / s[i];
    }
    RG_SYNC();
}

// ---- Newton (docs/theory/newton.md) ----

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
    int slips = group->mu > RG_SLIP_LEAST_RATIO && k > RG_SLIP_LEAST_RATIO;
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
            for (int i = j + 1; i < m; ++i) {
                column[i * ldk] -= multipliers[i] * x;
            }
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
    eps = rgLaneMost(eps, RG_CONTACT_LEAST_SHIFT);
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
    if (work->pastCount % RG_VELOCITY_REFRESH_ITERATIONS == 0) {
        rgLane_Evaluate(work);
    }
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
    work->proximal *= RG_CENTRE_PROXIMAL_RATIO;
    rgLane_Evaluate(work);
    work->pastCount = 0;
    rgLane_Remember(work, RG_CENTRE_GROWTH_RATIO * work->norm);
}

// True if |F| is that of a few iterations ago.
RG_LANE_FN int rgLane_Cycles(const rgLaneWork* work) {
    int found = 0;
    RG_COMPACT for (int back = 2; back <= RG_CYCLE_ITERATIONS && back < work->pastCount; ++back) {
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

// Tries 0 and 1 are those of auto, around the start. Later ones are around the best impulses.
RG_LANE_FN inline rgLaneTry rgLaneTryOf(int number, int far) {
    rgLaneTry one;
    one.passes = number > 1 ? RG_LANE_MORE_PASSES : number == 1 || far ? RG_GAUSS_SEIDEL_PASSES : 0;
    one.limit = number > 1    ? RG_LANE_THOROUGH_ITERATIONS
                : number == 1 ? RG_NEWTON_ITERATIONS
                              : RG_LANE_QUICK_ITERATIONS;
    one.cycles = number > 1;
    one.regularisation = number == 0   ? RG_NEWTON_SHIFT_RATIO
                         : number == 2 ? RG_DAMPED_SHIFT_RATIO
                                       : RG_AGAIN_SHIFT_RATIO;
    return one;
}

// The plan, as auto's where it is nearest: Newton around the given start. The thorough run goes on
// from the best impulses of the quick one, with more and more regularization, at last from zero.
RG_LANE_FN void rgLane_Solve(rgLaneWork* work, rgLaneEffort effort, const double* given,
                             const double* found) {
    double warm;
    rgLane_Start(work, given);
    rgLane_Copy(work->n, work->best, work->centre);
    rgLane_Copy(work->n, work->best, work->lambda);
    RG_LARGEST(warm, i, work->n, fabs(work->lambda[i]));
    int first = effort == rg_laneQuick ? 0 : 1, last = effort == rg_laneQuick ? 0 : 3;
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
                work->lambda[i] = k < 3 ? work->best[i] : 0;
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

// ---- The judge ----

// sigma = J M^-1 J' lambda + R lambda + g from M and J, or W, or G as they are given.
RG_LANE_FN void rgLane_JudgeVelocity(rgLaneWork* work, const double* lambda, double* sigma) {
    const rgLaneProblem* problem = work->problem;
    const double* matrix = work->batch->matrices + problem->matrix;
    const double* compliance = work->batch->compliance + problem->row;
    const double* g = work->batch->velocity + problem->row;
    int n = work->n, nv = problem->velocities;
    if (problem->form == rg_laneDense) {
        RG_EACH(i, n) {
            double sum = 0;
            for (int j = 0; j < n; ++j) {
                sum += matrix[i > j ? rgLaneTriangle(i, j) : rgLaneTriangle(j, i)] * lambda[j];
            }
            sigma[i] = (sum + compliance[i] * lambda[i]) + g[i];
        }
        RG_SYNC();
        return;
    }
    const double* J = matrix + (problem->form == rg_laneMass ? rgLaneTriangle(nv, 0) : 0);
    double *L = work->L, *y = work->K;
    const double *inverses = L + rgLaneTriangle(nv, 0),
                 *kept = work->batch->factors + problem->factor;
    RG_EACH(e, rgLaneFactorCount(nv, problem->form)) {
        L[e] = kept[e];
    }
    RG_EACH(k, nv) {
        double sum = 0;
        for (int i = 0; i < n; ++i) {
            sum += J[i * nv + k] * lambda[i];
        }
        y[k] = sum;
    }
    RG_SYNC();
    RG_COMPACT for (int j = 0; j < (problem->form == rg_laneMass ? nv : 0); ++j) {
        double x = y[j] * inverses[j];
        RG_SYNC();
        RG_EACH(i, nv - j) {
            y[j + i] = i == 0 ? x : y[j + i] - L[rgLaneTriangle(j + i, j)] * x;
        }
        RG_SYNC();
    }
    RG_COMPACT for (int j = problem->form == rg_laneMass ? nv - 1 : -1; j >= 0; --j) {
        double x = y[j] * inverses[j];
        RG_SYNC();
        RG_EACH(i, j + 1) {
            y[i] = i == j ? x : y[i] - L[rgLaneTriangle(j, i)] * x;
        }
        RG_SYNC();
    }
    RG_EACH(i, n) {
        double sum = rgLaneDot(J + i * nv, y, nv);
        sigma[i] = (sum + compliance[i] * lambda[i]) + g[i];
    }
    RG_SYNC();
}

// ncp.12 of impulses that were given back, in the units of the problem.
RG_LANE_FN void rgLane_Judge(rgLaneWork* work, const double* lambda, const double* sigma,
                             rgLaneOutcome* outcome) {
    double* share = work->step;
    double sum;
    RG_EACH(h, work->q) {
        int row = work->groups[h].row;
        share[h] = work->weight[h] *
                   rgLaneNatural(work->groups + h, 1, work->mass[h], lambda + row, sigma + row) /
                   work->reference[h];
    }
    RG_SYNC();
    RG_SUM(sum, h, work->q, share[h] * 0);
    int worst = rgLane_LargestAt(share, 1, 0, work->q);
    int finite = sum == 0;
    outcome->residual = finite ? share[worst] : INFINITY;
    outcome->velocity = finite ? share[worst] * work->reference[worst] : INFINITY;
    outcome->block = !finite || share[worst] > 0 ? work->groups[worst].block : -1;
    outcome->second = 0;
    outcome->iterations = work->iterations;
    outcome->sweeps = work->sweeps;
    outcome->status = !finite                                       ? rg_laneRefused
                      : outcome->residual <= work->batch->tolerance ? rg_laneSolved
                                                                    : rg_laneUnsolved;
}

// Impulses and velocities of a problem that is left to others.
RG_LANE_FN void rgLane_Refuse(const rgLaneWork* work, rgLaneOutcome* outcome) {
    const rgLaneBatch* batch = work->batch;
    int64_t first = work->problem->row;
    RG_EACH(i, work->n) {
        batch->lambda[first + i] = batch->start[first + i];
        batch->sigma[first + i] = 0;
    }
    outcome->status = rg_laneRefused;
    outcome->second = 0;
    outcome->iterations = 0;
    outcome->sweeps = 0;
    outcome->block = -1;
    outcome->residual = INFINITY;
    outcome->velocity = INFINITY;
}

// Solve problem `index` of a batch in the given memory, and judge what came out.
RG_LANE_FN void rgLaneSolve(const rgLaneBatch* batch, int index, rgLaneEffort effort,
                            double* memory, rgLaneOutcome* outcome) {
    const rgLaneProblem* problem = batch->problems + index;
    rgLaneWork work;
    work.problem = problem;
    work.batch = batch;
    work.groups = batch->groups + problem->group;
    work.iterations = 0;
    work.sweeps = 0;
    work.tolerance = RG_RUN_TOLERANCE_RATIO * batch->tolerance;
    work.residual = INFINITY;
    rgLaneWork_Place(&work, memory, problem->rows, problem->groups, problem->velocities,
                     problem->form);
    if (!rgLane_FormMatrix(&work, batch->matrices + problem->matrix) || !rgLane_FindMasses(&work)) {
        rgLane_Refuse(&work, outcome);
        return;
    }
    double most = rgLane_FindReferences(&work);
    if (!(most < 1e300)) {
        rgLane_Refuse(&work, outcome);
        return;
    }
    double* lambda = batch->lambda + problem->row;
    double* sigma = batch->sigma + problem->row;
    if (most < 1e-300) { // zero impulses solve it
        rgLane_Scale(&work, 1);
        RG_EACH(i, work.n) {
            work.best[i] = 0;
        }
        RG_SYNC();
    } else {
        rgLane_Scale(&work, rgLane_PowerBelow(1 / most));
        rgLane_Solve(&work, effort, batch->start + problem->row, lambda);
    }
    RG_EACH(i, work.n) {
        work.lambda[i] = work.best[i] / work.factor[i];
    }
    RG_SYNC();
    rgLane_JudgeVelocity(&work, work.lambda, work.sigma);
    rgLane_Judge(&work, work.lambda, work.sigma, outcome);
    if (outcome->status == rg_laneRefused) {
        rgLane_Refuse(&work, outcome);
        return;
    }
    RG_EACH(i, work.n) {
        lambda[i] = work.lambda[i];
        sigma[i] = work.sigma[i];
    }
    RG_SYNC();
}
