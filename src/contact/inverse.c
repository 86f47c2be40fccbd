// Inverse problem: the proximal iteration of the paper's Algorithm 2. inverse.1-4.
#include "contact/cones.h"
#include "contact/problem.h"

#include <math.h>
#include <string.h>

rgInverseProblem rgDefaultInverseProblem(void) {
    return (rgInverseProblem){.penalty = 1e-8, .tolerance = 1e-6, .maxIterations = 1000};
}

static double rgInverse_Compliance(const rgInverseProblem* problem, int row) {
    return problem->compliance != NULL ? problem->compliance[row] : 0;
}

// inverse.1: sigma = R lambda + c_ref + gamma
static void rgInverse_Velocity(const rgInverseProblem* problem, const rgBlock* block,
                               const double* lambda, double* sigma) {
    for (int i = 0; i < block->rowCount; ++i) {
        int row = block->firstRow + i;
        sigma[i] = rgInverse_Compliance(problem, row) * lambda[row] + problem->velocity[row];
    }
}

static bool rgInverse_HasTerm(const rgInverseProblem* problem, const rgBlock* block) {
    return block->kind == rg_blockCoulomb && problem->model == rg_modelNcp;
}

// inverse.2: s = Gamma(sigma), inverse.3: lambda = P_K^{R + rho}(-(R + rho)^-1 (c_ref + gamma + s -
// rho lambda))
static void rgInverse_Step(const rgInverseProblem* problem, const rgBlock* block, double* lambda) {
    for (int first = 0; first < block->rowCount; first += 6) {
        // Rows beyond six exist only where they do not interact: half lines, boxes, free rows.
        rgBlock part = *block;
        part.firstRow = block->firstRow + first;
        part.rowCount = RG_MIN(6, block->rowCount - first);
        double sigma[6], metric[6];
        rgInverse_Velocity(problem, &part, lambda, sigma);
        double term = 0;
        if (rgInverse_HasTerm(problem, &part)) {
            term = part.mu * sqrt(sigma[0] * sigma[0] + sigma[1] * sigma[1]);
        }
        double* own = lambda + part.firstRow;
        for (int i = 0; i < part.rowCount; ++i) {
            int row = part.firstRow + i;
            metric[i] = rgInverse_Compliance(problem, row) + problem->penalty;
            double shifted = problem->velocity[row] + (i == 2 ? term : 0);
            own[i] = -(shifted - problem->penalty * own[i]) / metric[i];
        }
        rgBlock_ProjectMetric(&part, metric, own);
    }
}

static void rgRaise(double* target, double value) {
    if (!(value <= *target)) {
        *target = value;
    }
}

static void rgInverse_JudgeRolling(const rgInverseProblem* problem, const rgBlock* block,
                                   const double* lambda, rgResidual* residual) {
    const double* l = lambda + block->firstRow;
    double u[6];
    rgInverse_Velocity(problem, block, lambda, u);
    double x[2] = {l[4] - u[4], l[5] - u[5]};
    rgProjectDisc(block->muRolling * l[2], x);
    rgRaise(&residual->impulse, hypot(l[4] - x[0], l[5] - x[1]));
}

// inverse.4: residual in N s, m/s and J
static void rgInverse_Judge(const rgInverseProblem* problem, const double* lambda,
                            rgResidual* residual) {
    *residual = (rgResidual){0};
    for (int b = 0; b < problem->blockCount; ++b) {
        const rgBlock* block = problem->blocks + b;
        for (int i = 0; i < block->rowCount; ++i) {
            int row = block->firstRow + i;
            double x = lambda[row];
            double s = rgInverse_Compliance(problem, row) * x + problem->velocity[row];
            if (block->kind == rg_blockFree) {
                rgRaise(&residual->impulse, fabs(s));
            } else if (block->kind == rg_blockHalfLine) {
                rgRaise(&residual->dual, fmax(-s, 0));
                rgRaise(&residual->complementarity, fabs(x * s));
            } else if (block->kind == rg_blockBox) {
                double y = RG_MIN(RG_MAX(x - s, block->lower), block->upper);
                rgRaise(&residual->impulse, fabs(x - y));
            } else if (i == 3) {
                double bound = block->muTorsion * lambda[block->firstRow + 2];
                rgRaise(&residual->impulse, fabs(x - RG_MIN(RG_MAX(x - s, -bound), bound)));
            }
        }
        if (block->kind == rg_blockCoulomb && block->rowCount == 6) {
            rgInverse_JudgeRolling(problem, block, lambda, residual);
        }
        if (block->kind == rg_blockCoulomb) {
            double u[6], p[3];
            rgInverse_Velocity(problem, block, lambda, u);
            const double* l = lambda + block->firstRow;
            if (problem->model == rg_modelNcp) {
                u[2] += block->mu * sqrt(u[0] * u[0] + u[1] * u[1]);
            }
            memcpy(p, u, sizeof(p));
            rgProjectDualCone(block->mu, p);
            for (int i = 0; i < 3; ++i) {
                rgRaise(&residual->dual, fabs(u[i] - p[i]));
            }
            rgRaise(&residual->complementarity, fabs(l[0] * u[0] + l[1] * u[1] + l[2] * u[2]));
        }
    }
    rgRaise(&residual->total, residual->impulse);
    rgRaise(&residual->total, residual->dual);
    rgRaise(&residual->total, residual->complementarity);
}

static bool rgInverse_IsValid(const rgInverseProblem* problem, const double* lambda) {
    if (problem == NULL ||
        rgCheckBlocks(problem->rowCount, problem->blockCount, problem->blocks, NULL) != rg_ok ||
        (problem->rowCount > 0 && (problem->velocity == NULL || lambda == NULL)) ||
        !(problem->penalty > 0 && problem->penalty < INFINITY) || !(problem->tolerance > 0) ||
        problem->maxIterations < 0 || (int)problem->model < 0 || problem->model > rg_modelCcp) {
        return false;
    }
    for (int i = 0; i < problem->rowCount; ++i) {
        double R = rgInverse_Compliance(problem, i);
        if (!isfinite(problem->velocity[i]) || !isfinite(lambda[i]) || !(R >= 0 && R < INFINITY)) {
            return false;
        }
    }
    return true;
}

rgResult rgInverseProblem_Solve(const rgInverseProblem* problem, double* lambda,
                                rgContactReport* report) {
    if (!rgInverse_IsValid(problem, lambda)) {
        return rg_errorArgument;
    }
    rgContactReport own = {.status = rg_contactLimit, .islandCount = 1};
    double best = INFINITY;
    int sinceProgress = 0;
    for (int b = 0; b < problem->blockCount; ++b) {
        rgBlock_Project(problem->blocks + b, lambda + problem->blocks[b].firstRow);
    }
    rgInverse_Judge(problem, lambda, &own.residual);
    while (own.residual.total > problem->tolerance && own.iterationCount < problem->maxIterations) {
        for (int b = 0; b < problem->blockCount; ++b) {
            rgInverse_Step(problem, problem->blocks + b, lambda);
        }
        own.iterationCount += 1;
        rgInverse_Judge(problem, lambda, &own.residual);
        sinceProgress = own.residual.total < 0.999 * best ? 0 : sinceProgress + 1;
        best = fmin(best, own.residual.total);
        if (sinceProgress > 20) {
            own.status = rg_contactStalled;
            break;
        }
    }
    if (own.residual.total <= problem->tolerance) {
        own.status = rg_contactSolved;
    }
    if (report != NULL) {
        *report = own;
    }
    return rg_ok;
}
