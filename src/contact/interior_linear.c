// The linear system of one iteration of the interior point: scaled pairs without psi, half lines,
// natural maps; and directions from it. interior.6-8.
#include "contact/interior.h"

#include <math.h>
#include <string.h>

// interior.7: N: orthonormal rows, orthogonal to W e_0, by a Householder reflection.
static void rgCone_Row(const rgCone* cone, int i, double N[3]) {
    const double* h = cone->head;
    double k = h[i] / (1 + h[0]);
    N[0] = -h[i];
    N[1] = (i == 1) - k * h[1];
    N[2] = (i == 2) - k * h[2];
}

// interior.7: The exact model: psi is eliminated from the pair. The normal is a line.
static void rgCone_LinearizeSplit(rgCone* cone, double* A, double* B) {
    int m = cone->block->size;
    const rgScaling* scaling = &cone->scaling;
    double unit[3] = {1, 0, 0}, h[3], wh[3];
    rgScaling_Apply(scaling, false, unit, h);
    rgScaling_Apply(scaling, false, h, wh);
    cone->length = sqrt(h[0] * h[0] + h[1] * h[1] + h[2] * h[2]);
    for (int k = 0; k < 3; ++k) {
        cone->head[k] = h[k] / cone->length;
    }
    cone->tail[0] = wh[1];
    cone->tail[1] = wh[2];
    for (int i = 0; i < 2; ++i) {
        double N[3], a[3], b[3];
        rgCone_Row(cone, i + 1, N);
        rgScaling_Apply(scaling, true, N, a);
        rgScaling_Apply(scaling, false, N, b);
        A[i * m] = a[1];
        A[i * m + 1] = a[2];
        A[i * m + 2] = cone->block->mu * a[0];
        B[i * m] = b[1];
        B[i * m + 1] = b[2];
        B[i * m + 2] = 0;
    }
    A[2 * m] = A[2 * m + 1] = B[2 * m] = B[2 * m + 1] = 0;
}

// The relaxed model: one pair of three; block rows tail, tail, head.
static void rgCone_LinearizeWhole(rgCone* cone, double* A, double* B) {
    int m = cone->block->size;
    double mu = cone->block->mu;
    for (int j = 0; j < 3; ++j) {
        double db[3] = {j == 2 ? mu : 0, j == 0, j == 1};
        double de[3] = {j == 2, j == 0 ? mu : 0, j == 1 ? mu : 0};
        double a[3], b[3];
        rgScaling_Apply(&cone->scaling, true, db, a);
        rgScaling_Apply(&cone->scaling, false, de, b);
        for (int i = 0; i < 3; ++i) {
            A[i * m + j] = a[(i + 1) % 3];
            B[i * m + j] = b[(i + 1) % 3];
        }
    }
}

// Natural maps of the rows that are neither cones nor half lines; then the half lines.
static void rgInterior_LinearizeRest(rgInterior* point) {
    rgSystem* system = point->system;
    for (int i = 0; i < system->blockCount; ++i) {
        const rgSystemBlock* block = system->blocks + i;
        int m = block->size;
        double* A = point->A + block->entryStart;
        double* B = point->B + block->entryStart;
        if (m == 3 && rgHasCone(block)) {
            continue; // the cone fills all of it
        }
        memset(A, 0, (size_t)(m * m) * sizeof(double));
        memset(B, 0, (size_t)(m * m) * sizeof(double));
        rgLinearizeBlock(block, system->model, point->lambda + block->row,
                         point->velocity + block->row, A, B);
        if (rgIsFrictionless(block)) {
            A[0] = A[m + 1] = 1; // no tangential impulse
            B[0] = B[m + 1] = 0;
            A[2] = A[m + 2] = B[2] = B[m + 2] = 0;
        }
    }
    for (int i = 0; i < point->lineCount; ++i) {
        const rgLine* line = point->lines + i;
        double lambda = point->lambda[line->row], sigma = point->sigma[line->row];
        point->A[line->pair] = sigma / (lambda + sigma);
        point->B[line->pair] = lambda / (lambda + sigma);
    }
}

// interior.7 with the proximal terms: A + B p
void rgInterior_Linearize(rgInterior* point) {
    double leastProximal = fmax(point->pathProximal, RG_LEAST_SHIFT);
    rgInterior_LinearizeRest(point);
    for (int i = 0; i < point->coneCount; ++i) {
        rgCone* cone = point->cones + i;
        const rgSystemBlock* block = cone->block;
        double* A = point->A + block->entryStart;
        double* B = point->B + block->entryStart;
        rgScaling_Init(&cone->scaling, cone->b, cone->e);
        if (point->exact) {
            rgCone_LinearizeSplit(cone, A, B);
        } else {
            rgCone_LinearizeWhole(cone, A, B);
        }
        cone->proximal = fmax(cone->proximal, leastProximal);
        for (int r = 0; r < 3; ++r) {
            for (int k = 0; k < 3; ++k) {
                A[r * block->size + k] += cone->proximal * B[r * block->size + k];
            }
        }
    }
}

// interior.7: Rows of the pair, given c.
static void rgInterior_ConeSide(rgInterior* point, const rgCone* cone) {
    const double* primal = point->primal + cone->block->row;
    const double* B = point->B + cone->block->entryStart;
    const double *c = cone->c, *h = cone->head;
    double* rhs = point->rhs + cone->block->row;
    int m = cone->block->size;
    if (point->exact) {
        double dot = (h[0] * c[0] + h[1] * c[1] + h[2] * c[2] + c[0]) / (1 + h[0]);
        rhs[0] = c[1] - h[1] * dot - B[0] * primal[0] - B[1] * primal[1];
        rhs[1] = c[2] - h[2] * dot - B[m] * primal[0] - B[m + 1] * primal[1];
        return;
    }
    for (int i = 0; i < 3; ++i) {
        double moved = B[i * m] * primal[0] + B[i * m + 1] * primal[1] + B[i * m + 2] * primal[2];
        rhs[i] = c[(i + 1) % 3] - moved;
    }
}

// interior.7: right-hand side for a wanted product
void rgInterior_RightSide(rgInterior* point, double targetMu) {
    rgSystem* system = point->system;
    rgSystem_Map(system, point->lambda, point->velocity, point->rhs);
    for (int i = 0; i < system->n; ++i) {
        point->rhs[i] = -point->rhs[i];
    }
    for (int i = 0; i < system->blockCount; ++i) {
        const rgSystemBlock* block = system->blocks + i;
        if (rgIsFrictionless(block)) {
            point->rhs[block->row] = -point->lambda[block->row];
            point->rhs[block->row + 1] = -point->lambda[block->row + 1];
        }
    }
    for (int i = 0; i < point->lineCount; ++i) {
        const rgLine* line = point->lines + i;
        double lambda = point->lambda[line->row], sigma = point->sigma[line->row];
        double target =
            rgTarget(targetMu, line->floor) - lambda * (sigma + point->primal[line->row]);
        point->rhs[line->row] = (target - line->second) / (lambda + sigma);
    }
    for (int i = 0; i < point->coneCount; ++i) {
        rgCone* cone = point->cones + i;
        const double *v = cone->scaling.v, *second = cone->second;
        double p[3];
        rgJordan(v, v, p);
        double r[3] = {rgTarget(targetMu, cone->floor) - p[0] - second[0], -p[1] - second[1],
                       -p[2] - second[2]};
        rgJordanSolve(v, r, cone->c);
        rgInterior_ConeSide(point, cone);
    }
}

void rgInterior_SolveDirection(rgInterior* point, rgDirection* direction) {
    rgSystem* system = point->system;
    system->ops->solveNewton(system, point->rhs, direction->lambda, direction->sigma);
    for (int i = 0; i < system->n; ++i) {
        direction->sigma[i] += point->primal[i];
    }
    for (int i = 0; i < point->coneCount; ++i) {
        const rgCone* cone = point->cones + i;
        const double* dl = direction->lambda + cone->block->row;
        double* ds = direction->sigma + cone->block->row;
        for (int k = 0; k < 3; ++k) {
            ds[k] += cone->proximal * dl[k];
        }
        if (point->exact) {
            const double *h = cone->head, *c = cone->c;
            double along = cone->length * (c[0] * h[0] + c[1] * h[1] + c[2] * h[2]);
            double moved = cone->block->mu * dl[2] + cone->tail[0] * ds[0] + cone->tail[1] * ds[1];
            direction->psi[i] = (along - moved) / (cone->length * cone->length);
        }
    }
}
