// Dojo's interior point (Howell et al. 2022, Algorithm 1) on a whole island: the friction of a
// contact is a pair of second-order cones, and Newton's method works on their Jordan products
// without scaling. Half lines are pairs of numbers; other rows, which Dojo does not have, keep
// their natural map. models.10-13.
#include "contact/maps.h"
#include "contact/pairs.h"
#include "contact/run.h"
#include "contact/tuning.h"

#include <math.h>
#include <string.h>

#define RG_DOJO_BOUNDARY_RATIO 0.95 // step / way to the boundary, at least
#define RG_DOJO_HALVINGS       10   // of a step in the line search
#define RG_DOJO_LEAST_STEP     1e-8 // that still is progress

// Friction of one contact: impulses b = (mu lambda_n, lambda_t), velocities e = (eta, sigma_t).
typedef struct rgDojoCone {
    const rgSystemBlock* block;
    double b[3], e[3];
    double second[3]; // product of the predictor's steps
} rgDojoCone;

// A row with lambda >= 0 and sigma >= 0: a half line, or the normal of a contact.
typedef struct rgDojoLine {
    int row;
    int pair; // its place on the diagonals of A and B
    double second;
} rgDojoLine;

typedef struct rgDojoPoint {
    double* lambda;   // n
    double* sigma;    // n
    double* eta;      // per cone
    double* velocity; // n: G lambda + g
} rgDojoPoint;

typedef struct rgDojo {
    rgRun* run;
    rgSystem* system;
    rgDojoPoint point, next;
    double *dLambda, *dSigma, *dEta;
    double *primal, *rhs, *A, *B; // primal: velocity - sigma
    rgJacobianKind* kinds;
    int coneCount, lineCount;
    rgDojoCone* cones;
    rgDojoLine* lines;
} rgDojo;

static bool rgDojo_HasCone(const rgSystemBlock* block) {
    return block->kind == rg_blockCoulomb && block->mu > RG_ZERO_RATIO;
}

static void rgDojo_AddLine(rgDojo* dojo, const rgSystemBlock* block, int k) {
    dojo->lines[dojo->lineCount++] =
        (rgDojoLine){.row = block->row + k, .pair = block->entryStart + k * (block->size + 1)};
}

static void rgDojo_FindPairs(rgDojo* dojo) {
    const rgSystem* system = dojo->system;
    for (int i = 0; i < system->blockCount; ++i) {
        const rgSystemBlock* block = system->blocks + i;
        dojo->kinds[i] = rg_jacobianWhole;
        if (rgDojo_HasCone(block)) {
            dojo->cones[dojo->coneCount++] = (rgDojoCone){.block = block};
        }
        if (block->kind == rg_blockCoulomb) {
            rgDojo_AddLine(dojo, block, 2);
        }
        for (int k = 0; block->kind == rg_blockHalfLine && k < block->size; ++k) {
            rgDojo_AddLine(dojo, block, k);
        }
    }
}

static rgResult rgDojo_Init(rgDojo* dojo, rgRun* run) {
    rgSystem* system = run->system;
    rgArena* arena = system->arena;
    *dojo = (rgDojo){.run = run, .system = system};
    double** vectors[] = {&dojo->point.lambda, &dojo->point.sigma, &dojo->point.velocity,
                          &dojo->next.lambda,  &dojo->next.sigma,  &dojo->next.velocity,
                          &dojo->dLambda,      &dojo->dSigma,      &dojo->primal,
                          &dojo->rhs,          &dojo->point.eta,   &dojo->next.eta,
                          &dojo->dEta};
    for (int i = 0; i < RG_COUNT(vectors); ++i) {
        *vectors[i] = RG_TAKE(arena, double, system->n);
    }
    dojo->A = RG_TAKE(arena, double, system->entryCount);
    dojo->B = RG_TAKE(arena, double, system->entryCount);
    dojo->kinds = RG_TAKE(arena, rgJacobianKind, system->blockCount);
    dojo->cones = RG_TAKE(arena, rgDojoCone, system->blockCount);
    dojo->lines = RG_TAKE(arena, rgDojoLine, system->n);
    if (arena->failed) {
        return rg_errorMemory;
    }
    rgDojo_FindPairs(dojo);
    return rg_ok;
}

// Unit impulses along normals and half lines, unit velocities, nothing along the tangents.
static void rgDojo_Start(rgDojo* dojo) {
    rgDojoPoint* point = &dojo->point;
    memset(point->lambda, 0, (size_t)dojo->system->n * sizeof(double));
    for (int i = 0; i < dojo->lineCount; ++i) {
        point->lambda[dojo->lines[i].row] = 1;
    }
    rgSystem_Velocity(dojo->system, point->lambda, point->velocity);
    memcpy(point->sigma, point->velocity, (size_t)dojo->system->n * sizeof(double));
    for (int i = 0; i < dojo->lineCount; ++i) {
        point->sigma[dojo->lines[i].row] = 1;
    }
    for (int i = 0; i < dojo->coneCount; ++i) {
        double* sigma = point->sigma + dojo->cones[i].block->row;
        sigma[0] = sigma[1] = 0;
        point->eta[i] = 1;
    }
}

// Cones of a point.
static void rgDojo_Load(rgDojo* dojo, const rgDojoPoint* point) {
    for (int i = 0; i < dojo->coneCount; ++i) {
        rgDojoCone* cone = dojo->cones + i;
        const double* lambda = point->lambda + cone->block->row;
        const double* sigma = point->sigma + cone->block->row;
        cone->b[0] = cone->block->mu * lambda[2];
        cone->b[1] = lambda[0];
        cone->b[2] = lambda[1];
        cone->e[0] = point->eta[i];
        cone->e[1] = sigma[0];
        cone->e[2] = sigma[1];
    }
}

// Rows of a block without a pair: their natural map at the present point. Tangents without
// friction have no impulse.
static void rgDojo_LinearizeRest(rgDojo* dojo) {
    const rgSystem* system = dojo->system;
    const rgDojoPoint* point = &dojo->point;
    memset(dojo->A, 0, (size_t)system->entryCount * sizeof(double));
    memset(dojo->B, 0, (size_t)system->entryCount * sizeof(double));
    rgSystem_Map(system, point->lambda, point->velocity, dojo->rhs);
    for (int i = 0; i < system->n; ++i) {
        dojo->rhs[i] = -dojo->rhs[i];
    }
    for (int i = 0; i < system->blockCount; ++i) {
        const rgSystemBlock* block = system->blocks + i;
        double *A = dojo->A + block->entryStart, *B = dojo->B + block->entryStart;
        int m = block->size;
        rgLinearizeBlock(block, system->model, point->lambda + block->row,
                         point->velocity + block->row, A, B);
        if (block->kind == rg_blockCoulomb) {
            memset(A, 0, (size_t)(3 * m) * sizeof(double));
            memset(B, 0, (size_t)(3 * m) * sizeof(double));
            A[0] = A[m + 1] = 1;
            dojo->rhs[block->row] = -point->lambda[block->row];
            dojo->rhs[block->row + 1] = -point->lambda[block->row + 1];
        }
    }
}

// models.12: Jacobians of the products, eta eliminated; rows over their size.
static void rgDojo_Linearize(rgDojo* dojo) {
    const rgDojoPoint* point = &dojo->point;
    rgDojo_LinearizeRest(dojo);
    for (int i = 0; i < dojo->lineCount; ++i) {
        const rgDojoLine* line = dojo->lines + i;
        double lambda = point->lambda[line->row], sigma = point->sigma[line->row];
        dojo->A[line->pair] = sigma / (lambda + sigma);
        dojo->B[line->pair] = lambda / (lambda + sigma);
    }
    for (int i = 0; i < dojo->coneCount; ++i) {
        const rgDojoCone* cone = dojo->cones + i;
        const double *b = cone->b, *e = cone->e;
        double mu = cone->block->mu, scale = 1 / (b[0] + e[0]);
        int m = cone->block->size;
        double *A = dojo->A + cone->block->entryStart, *B = dojo->B + cone->block->entryStart;
        for (int r = 0; r < 2; ++r) {
            for (int k = 0; k < 2; ++k) {
                A[r * m + k] = scale * ((r == k) * e[0] - b[1 + r] * e[1 + k] / b[0]);
                B[r * m + k] = scale * ((r == k) * b[0] - b[1 + r] * b[1 + k] / b[0]);
            }
            A[r * m + 2] = scale * mu * (e[1 + r] - b[1 + r] * e[0] / b[0]);
        }
    }
}

// Residual of the products for a target mu: of a cone and of a line.
static void rgDojo_ConeError(const rgDojoCone* cone, double targetMu, double error[3]) {
    rgJordan(cone->b, cone->e, error);
    for (int k = 0; k < 3; ++k) {
        error[k] = (k == 0) * targetMu - error[k] - cone->second[k];
    }
}

// models.12: Direction towards products of targetMu.
static void rgDojo_Direct(rgDojo* dojo, double targetMu) {
    rgSystem* system = dojo->system;
    const rgDojoPoint* point = &dojo->point;
    for (int i = 0; i < dojo->lineCount; ++i) {
        const rgDojoLine* line = dojo->lines + i;
        double lambda = point->lambda[line->row], sigma = point->sigma[line->row];
        dojo->rhs[line->row] =
            (targetMu - lambda * (sigma + dojo->primal[line->row]) - line->second) /
            (lambda + sigma);
    }
    for (int i = 0; i < dojo->coneCount; ++i) {
        const rgDojoCone* cone = dojo->cones + i;
        const rgSystemBlock* block = cone->block;
        const double* B = dojo->B + block->entryStart;
        const double* primal = dojo->primal + block->row;
        double error[3], scale = 1 / (cone->b[0] + cone->e[0]);
        rgDojo_ConeError(cone, targetMu, error);
        for (int r = 0; r < 2; ++r) {
            dojo->rhs[block->row + r] =
                scale * (error[1 + r] - cone->b[1 + r] * error[0] / cone->b[0]) -
                B[r * block->size] * primal[0] - B[r * block->size + 1] * primal[1];
        }
    }
    system->ops->solveNewton(system, dojo->rhs, dojo->dLambda, dojo->dSigma);
    for (int i = 0; i < system->n; ++i) {
        dojo->dSigma[i] += dojo->primal[i];
    }
    for (int i = 0; i < dojo->coneCount; ++i) {
        const rgDojoCone* cone = dojo->cones + i;
        const double *b = cone->b, *e = cone->e;
        const double *dl = dojo->dLambda + cone->block->row, *ds = dojo->dSigma + cone->block->row;
        double error[3];
        rgDojo_ConeError(cone, targetMu, error);
        dojo->dEta[i] = (error[0] - e[0] * cone->block->mu * dl[2] - e[1] * dl[0] - e[2] * dl[1] -
                         b[1] * ds[0] - b[2] * ds[1]) /
                        b[0];
    }
}

static void rgDojo_ConeMoves(const rgDojo* dojo, int i, double db[3], double de[3]) {
    const rgSystemBlock* block = dojo->cones[i].block;
    const double *dl = dojo->dLambda + block->row, *ds = dojo->dSigma + block->row;
    db[0] = block->mu * dl[2];
    db[1] = dl[0];
    db[2] = dl[1];
    de[0] = dojo->dEta[i];
    de[1] = ds[0];
    de[2] = ds[1];
}

// Longest step that stays inside, of the given share of the way.
static double rgDojo_StepLength(const rgDojo* dojo, double share) {
    double most = INFINITY;
    for (int i = 0; i < dojo->lineCount; ++i) {
        int row = dojo->lines[i].row;
        double dl = dojo->dLambda[row], ds = dojo->dSigma[row];
        most = dl < 0 ? fmin(most, -dojo->point.lambda[row] / dl) : most;
        most = ds < 0 ? fmin(most, -dojo->point.sigma[row] / ds) : most;
    }
    for (int i = 0; i < dojo->coneCount; ++i) {
        double db[3], de[3];
        rgDojo_ConeMoves(dojo, i, db, de);
        most = fmin(most, fmin(rgConeStep(dojo->cones[i].b, db), rgConeStep(dojo->cones[i].e, de)));
    }
    return fmin(1, share * most);
}

static void rgDojo_MovePoint(const rgDojo* dojo, double length, rgDojoPoint* next) {
    const rgDojoPoint* point = &dojo->point;
    for (int i = 0; i < dojo->system->n; ++i) {
        next->lambda[i] = point->lambda[i] + length * dojo->dLambda[i];
        next->sigma[i] = point->sigma[i] + length * dojo->dSigma[i];
    }
    for (int i = 0; i < dojo->coneCount; ++i) {
        next->eta[i] = point->eta[i] + length * dojo->dEta[i];
    }
    rgSystem_Velocity(dojo->system, next->lambda, next->velocity);
}

// Largest errors of a point: of the linear rows with pairs, and of products. Returns the mean
// product. Loads the cones of the point.
static double rgDojo_Measure(rgDojo* dojo, const rgDojoPoint* point, double violation[2]) {
    int count = dojo->lineCount + dojo->coneCount;
    double sum = 0;
    violation[0] = violation[1] = 0;
    rgDojo_Load(dojo, point);
    for (int i = 0; i < dojo->lineCount; ++i) {
        int row = dojo->lines[i].row;
        double product = point->lambda[row] * point->sigma[row];
        violation[0] = fmax(violation[0], fabs(point->velocity[row] - point->sigma[row]));
        violation[1] = fmax(violation[1], product);
        sum += product;
    }
    for (int i = 0; i < dojo->coneCount; ++i) {
        const rgDojoCone* cone = dojo->cones + i;
        double product[3];
        rgJordan(cone->b, cone->e, product);
        sum += product[0];
        for (int k = 0; k < 3; ++k) {
            violation[1] = fmax(violation[1], fabs(product[k]));
        }
        for (int k = 0; k < 2; ++k) {
            int row = cone->block->row + k;
            violation[0] = fmax(violation[0], fabs(point->velocity[row] - point->sigma[row]));
        }
    }
    return count > 0 ? sum / count : 0;
}

static void rgDojo_SetSecondOrder(rgDojo* dojo) {
    for (int i = 0; i < dojo->lineCount; ++i) {
        int row = dojo->lines[i].row;
        dojo->lines[i].second = dojo->dLambda[row] * dojo->dSigma[row];
    }
    for (int i = 0; i < dojo->coneCount; ++i) {
        double db[3], de[3];
        rgDojo_ConeMoves(dojo, i, db, de);
        rgJordan(db, de, dojo->cones[i].second);
    }
}

static void rgDojo_ClearSecondOrder(rgDojo* dojo) {
    for (int i = 0; i < dojo->lineCount; ++i) {
        dojo->lines[i].second = 0;
    }
    for (int i = 0; i < dojo->coneCount; ++i) {
        memset(dojo->cones[i].second, 0, sizeof(dojo->cones[i].second));
    }
}

// models.13: Mean product that the predictor would leave.
static double rgDojo_PredictedMu(rgDojo* dojo, double length) {
    double violation[2];
    rgDojo_MovePoint(dojo, length, &dojo->next);
    double predicted = rgDojo_Measure(dojo, &dojo->next, violation);
    rgDojo_Load(dojo, &dojo->point);
    return predicted;
}

// Predictor, corrector, line search. False when the linear system or the step fails.
static bool rgDojo_Advance(rgDojo* dojo) {
    rgSystem* system = dojo->system;
    double violation[2], next[2], mu = rgDojo_Measure(dojo, &dojo->point, violation);
    for (int i = 0; i < system->n; ++i) {
        dojo->primal[i] = dojo->point.velocity[i] - dojo->point.sigma[i];
    }
    rgDojo_Linearize(dojo);
    if (system->ops->factorNewton(system, dojo->A, dojo->B, dojo->kinds, RG_LEAST_SHIFT) != rg_ok) {
        return false;
    }
    rgDojo_ClearSecondOrder(dojo);
    rgDojo_Direct(dojo, 0);
    double ratio = rgDojo_PredictedMu(dojo, rgDojo_StepLength(dojo, RG_DOJO_BOUNDARY_RATIO)) / mu;
    double centring = mu > 0 ? fmin(ratio * ratio * ratio, 1) : 0;
    rgDojo_SetSecondOrder(dojo);
    // Contacts that graze have an error like the root of their product.
    rgDojo_Direct(dojo, fmax(centring * mu, dojo->run->tolerance * dojo->run->tolerance));
    double worst = fmax(violation[0], violation[1]);
    double length =
        rgDojo_StepLength(dojo, fmax(RG_DOJO_BOUNDARY_RATIO, 1 - fmin(worst * worst, 1)));
    for (int k = 0; k <= RG_DOJO_HALVINGS; ++k) {
        rgDojo_MovePoint(dojo, length, &dojo->next);
        rgDojo_Measure(dojo, &dojo->next, next);
        if (next[0] <= violation[0] || next[1] <= violation[1]) {
            break;
        }
        length *= 0.5;
    }
    rgDojoPoint moved = dojo->next;
    dojo->next = dojo->point;
    dojo->point = moved;
    return length > RG_DOJO_LEAST_STEP && isfinite(next[0]) && isfinite(next[1]);
}

rgResult rgRunDojo(rgRun* run, int limit) {
    rgArenaMark mark = rgArena_Mark(run->system->arena);
    rgDojo dojo;
    rgResult result = rgDojo_Init(&dojo, run);
    if (result != rg_ok) {
        return result;
    }
    rgDojo_Start(&dojo);
    for (int k = 0; k < limit && !rgRun_Solved(run) && rgRun_Count(run, rg_phaseInterior); ++k) {
        if (!rgDojo_Advance(&dojo)) {
            break;
        }
        double residual = rgRun_UpdateBest(run, dojo.point.lambda, NULL);
        rgRun_RecordResidual(run, rg_phaseInterior, residual);
    }
    rgArena_Return(run->system->arena, mark);
    return rg_ok;
}
