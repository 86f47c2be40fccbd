// Memory of one contact problem on one group of lanes, and what all that works on it needs.
#pragma once
#include "contact/tuning.h"
#include "lanes/lanes.h"
#include "lanes/problem.h"

#include <stddef.h>

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
        work->unknown = (int*)(void*)next;
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
