// From the numbers of a problem to the dimensionless one: G from M and J, masses, references,
// scale.
#pragma once
#include "lanes/sets.h"

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
