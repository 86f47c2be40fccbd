// One contact problem on one group of lanes: prepared, solved, and judged. Included by solve.c and
// by cuda.cu.
#pragma once
#include "lanes/newton.h"

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
    if (!(most < 1e150)) { // squares of larger velocities are no numbers
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
