// Interior point in split form: the normal and the friction of a contact are two complementarity
// pairs, with a bound on the slip speed as an unknown of its own, so that nothing has a kink. Rows
// that are no cones use their natural map. interior.1-12; the linear system
// interior.6-8 is in interior_linear.c.
#include "contact/interior.h"
#include "contact/tuning.h"

#include <math.h>
#include <string.h>

static void rgInterior_AddLine(rgInterior* point, const rgSystemBlock* block, int k) {
    point->lines[point->lineCount++] =
        (rgLine){.row = block->row + k, .pair = block->entryStart + k * (block->size + 1)};
}

static void rgInterior_FindCones(rgInterior* point) {
    const rgSystem* system = point->system;
    for (int i = 0; i < system->blockCount; ++i) {
        const rgSystemBlock* block = system->blocks + i;
        if (rgHasCone(block)) {
            point->cones[point->coneCount++] = (rgCone){.block = block};
            if (point->exact) {
                rgInterior_AddLine(point, block, 2);
            }
        }
    }
    for (int i = 0; i < system->blockCount; ++i) {
        const rgSystemBlock* block = system->blocks + i;
        if (rgIsFrictionless(block)) {
            rgInterior_AddLine(point, block, 2);
        }
        for (int k = 0; block->kind == rg_blockHalfLine && k < block->size; ++k) {
            rgInterior_AddLine(point, block, k);
        }
    }
}

static rgResult rgInterior_Init(rgInterior* point, rgRun* run, int blockingMost) {
    rgSystem* system = run->system;
    rgArena* arena = system->arena;
    *point = (rgInterior){.run = run,
                          .system = system,
                          .exact = system->model == rg_modelNcp,
                          .targetMu = 1,
                          .blockingMost = blockingMost};
    double** vectors[] = {&point->lambda,          &point->sigma,        &point->velocity,
                          &point->primal,          &point->rhs,          &point->direction.lambda,
                          &point->direction.sigma, &point->trial.lambda, &point->trial.sigma};
    for (int i = 0; i < RG_COUNT(vectors); ++i) {
        *vectors[i] = RG_TAKE(arena, double, system->n);
    }
    point->direction.psi = RG_TAKE(arena, double, system->blockCount);
    point->trial.psi = RG_TAKE(arena, double, system->blockCount);
    point->A = RG_TAKE(arena, double, system->entryCount);
    point->B = RG_TAKE(arena, double, system->entryCount);
    point->kinds = RG_TAKE(arena, rgJacobianKind, system->blockCount);
    point->cones = RG_TAKE(arena, rgCone, system->blockCount);
    point->lines = RG_TAKE(arena, rgLine, system->n);
    if (arena->failed) {
        return rg_errorMemory;
    }
    for (int i = 0; i < system->blockCount; ++i) {
        point->kinds[i] = rg_jacobianWhole;
    }
    rgInterior_FindCones(point);
    return rg_ok;
}

// A point well inside every cone.
static void rgInterior_Start(rgInterior* point) {
    rgSystem* system = point->system;
    size_t bytes = (size_t)system->n * sizeof(double);
    memset(point->lambda, 0, bytes);
    for (int i = 0; i < point->lineCount; ++i) {
        point->lambda[point->lines[i].row] = RG_POINT_IMPULSE;
    }
    for (int i = 0; i < point->coneCount; ++i) {
        const rgSystemBlock* block = point->cones[i].block;
        point->lambda[block->row + 2] = RG_POINT_IMPULSE / fmax(block->mu, 1e-3);
    }
    rgSystem_Velocity(system, point->lambda, point->velocity);
    memcpy(point->sigma, point->velocity, bytes);
    for (int i = 0; i < point->lineCount; ++i) {
        double* sigma = point->sigma + point->lines[i].row;
        *sigma = fmax(*sigma, 0) + RG_POINT_VELOCITY;
    }
    for (int i = 0; i < point->coneCount; ++i) {
        rgCone* cone = point->cones + i;
        double* sigma = point->sigma + cone->block->row;
        double slip = sqrt(sigma[0] * sigma[0] + sigma[1] * sigma[1]);
        if (!point->exact) {
            sigma[2] = fmax(sigma[2], 0) + RG_POINT_VELOCITY + cone->block->mu * slip;
        }
        cone->e[0] = slip + RG_POINT_VELOCITY;
    }
}

// interior.10: Impulses and velocities of a row that do not matter to the judge.
static double rgInterior_Smallest(const rgInterior* point, int row) {
    return RG_FLOOR_TOLERANCE_RATIO * point->run->tolerance /
           fmax(point->system->weight[row], 1e-3);
}

// interior.10: Distance of the impulse from the cone's boundary, or the slip: the other one is the
// product over it.
static double rgInterior_ConeFloor(const rgInterior* point, const rgCone* cone) {
    double tail = sqrt(cone->b[1] * cone->b[1] + cone->b[2] * cone->b[2]);
    double slip = sqrt(cone->e[1] * cone->e[1] + cone->e[2] * cone->e[2]);
    double size = fmax(cone->b[0] - tail, point->exact ? slip : cone->e[0]);
    return rgInterior_Smallest(point, cone->block->row) * size;
}

// Cone of the present point; its product over its target.
static double rgInterior_MeasureCone(rgInterior* point, rgCone* cone) {
    const double* lambda = point->lambda + cone->block->row;
    const double* sigma = point->sigma + cone->block->row;
    double mu = cone->block->mu;
    cone->b[0] = mu * lambda[2];
    cone->b[1] = lambda[0];
    cone->b[2] = lambda[1];
    cone->e[0] = point->exact ? cone->e[0] : sigma[2];
    cone->e[1] = point->exact ? sigma[0] : mu * sigma[0];
    cone->e[2] = point->exact ? sigma[1] : mu * sigma[1];
    cone->floor = rgInterior_ConeFloor(point, cone);
    double dot = cone->b[0] * cone->e[0] + cone->b[1] * cone->e[1] + cone->b[2] * cone->e[2];
    return dot / rgTarget(point->targetMu, cone->floor);
}

// Duality measure (interior.9): products over their targets, times the last target mu; rho.
static void rgInterior_MeasurePairs(rgInterior* point) {
    double sum = 0;
    for (int i = 0; i < point->lineCount; ++i) {
        rgLine* line = point->lines + i;
        double lambda = point->lambda[line->row], sigma = point->sigma[line->row];
        line->floor = rgInterior_Smallest(point, line->row) * fmax(lambda, sigma);
        sum += lambda * sigma / rgTarget(point->targetMu, line->floor);
    }
    for (int i = 0; i < point->coneCount; ++i) {
        rgCone* cone = point->cones + i;
        sum += rgInterior_MeasureCone(point, cone);
    }
    int count = point->coneCount + point->lineCount;
    point->dualityMeasure = count > 0 ? point->targetMu * sum / count : 0;
    point->pathProximal = RG_LEAST_SHIFT * point->dualityMeasure;
}

// Duality measure, velocity and primal residual (interior.4) of the present point.
static void rgInterior_Measure(rgInterior* point) {
    rgSystem* system = point->system;
    rgInterior_MeasurePairs(point);
    rgSystem_Velocity(system, point->lambda, point->velocity);
    for (int i = 0; i < system->n; ++i) {
        point->primal[i] = point->velocity[i] - point->sigma[i];
    }
    for (int i = 0; i < point->coneCount; ++i) {
        int row = point->cones[i].block->row;
        for (int k = row; k < row + 3; ++k) {
            point->primal[k] += point->pathProximal * point->lambda[k];
        }
    }
}

// db and de of one cone
static void rgInterior_Moves(const rgInterior* point, const rgDirection* direction, int i,
                             double db[3], double de[3]) {
    const rgCone* cone = point->cones + i;
    const double* dl = direction->lambda + cone->block->row;
    const double* ds = direction->sigma + cone->block->row;
    double mu = cone->block->mu;
    db[0] = mu * dl[2];
    db[1] = dl[0];
    db[2] = dl[1];
    de[0] = point->exact ? direction->psi[i] : ds[2];
    de[1] = point->exact ? ds[0] : mu * ds[0];
    de[2] = point->exact ? ds[1] : mu * ds[1];
}

double rgInterior_StepLength(rgInterior* point, const rgDirection* direction) {
    double most = INFINITY;
    for (int i = 0; i < point->lineCount; ++i) {
        rgLine* line = point->lines + i;
        double dl = direction->lambda[line->row], ds = direction->sigma[line->row];
        double impulse = dl < 0 ? -point->lambda[line->row] / dl : INFINITY;
        double velocity = ds < 0 ? -point->sigma[line->row] / ds : INFINITY;
        line->stepLength = fmin(impulse, velocity);
        most = fmin(most, line->stepLength);
    }
    for (int i = 0; i < point->coneCount; ++i) {
        rgCone* cone = point->cones + i;
        double db[3], de[3];
        rgInterior_Moves(point, direction, i, db, de);
        cone->stepLength = fmin(rgConeStep(cone->b, db), rgConeStep(cone->e, de));
        if (point->exact) {
            cone->stepLength = fmin(cone->stepLength, point->lines[i].stepLength);
        }
        most = fmin(most, cone->stepLength);
    }
    return fmin(1, point->fractionToBoundary * most);
}

// Scaled moves W^-1 db and W de of one cone.
static void rgInterior_ScaledMoves(const rgInterior* point, int i, double b[3], double e[3]) {
    double db[3], de[3];
    rgInterior_Moves(point, &point->direction, i, db, de);
    rgScaling_Apply(&point->cones[i].scaling, true, db, b);
    rgScaling_Apply(&point->cones[i].scaling, false, de, e);
}

// The product of the predictor's steps, which the corrector takes away.
static void rgInterior_SecondOrder(rgInterior* point) {
    const rgDirection* d = &point->direction;
    for (int i = 0; i < point->lineCount; ++i) {
        int row = point->lines[i].row;
        point->lines[i].second = d->lambda[row] * d->sigma[row];
    }
    for (int i = 0; i < point->coneCount; ++i) {
        double b[3], e[3];
        rgInterior_ScaledMoves(point, i, b, e);
        rgJordan(b, e, point->cones[i].second);
    }
}

static void rgInterior_ClearSecondOrder(rgInterior* point) {
    for (int i = 0; i < point->lineCount; ++i) {
        point->lines[i].second = 0;
    }
    for (int i = 0; i < point->coneCount; ++i) {
        memset(point->cones[i].second, 0, sizeof(point->cones[i].second));
    }
}

// interior.12: Proximal weights of the contacts whose own step is short grow, others decay.
static void rgInterior_AdaptProximal(rgInterior* point) {
    for (int i = 0; i < point->coneCount; ++i) {
        rgCone* cone = point->cones + i;
        if (cone->stepLength < RG_BLOCKED_STEP) {
            cone->proximal =
                fmax(RG_PROXIMAL_GROWTH_RATIO * cone->proximal, RG_STRONG_PROXIMAL_RATIO);
        } else {
            cone->proximal /= RG_PROXIMAL_GROWTH_RATIO;
        }
    }
}

// interior.9: Target mu of the step: the farther the predictor goes, the smaller.
static double rgInterior_TargetMu(const rgInterior* point, double predicted) {
    double rest = 1 - predicted;
    return fmax(rest * rest * rest, RG_CENTRING_LEAST_RATIO) * point->dualityMeasure;
}

static bool rgInterior_Move(rgInterior* point, double stepLength) {
    const rgDirection* d = &point->direction;
    double sum = 0;
    for (int i = 0; i < point->system->n; ++i) {
        point->lambda[i] += stepLength * d->lambda[i];
        point->sigma[i] += stepLength * d->sigma[i];
        sum += (point->lambda[i] + point->sigma[i]) * 0;
    }
    for (int i = 0; i < point->coneCount && point->exact; ++i) {
        point->cones[i].e[0] += stepLength * d->psi[i];
    }
    return sum == 0;
}

// Predictor, corrector, blocking contacts; then the step. False when the
// linear system or the step fails.
static bool rgInterior_Advance(rgInterior* point) {
    rgSystem* system = point->system;
    rgInterior_Linearize(point);
    if (system->ops->factorNewton(system, point->A, point->B, point->kinds, RG_LEAST_SHIFT) !=
        rg_ok) {
        return false;
    }
    point->fractionToBoundary = RG_BOUNDARY_RATIO;
    rgInterior_ClearSecondOrder(point);
    rgInterior_RightSide(point, 0);
    rgInterior_SolveDirection(point, &point->direction);
    double predicted = rgInterior_StepLength(point, &point->direction);
    if (predicted > RG_SECOND_ORDER_STEP) {
        rgInterior_SecondOrder(point);
    }
    point->targetMu = rgInterior_TargetMu(point, predicted);
    point->fractionToBoundary =
        fmax(RG_BOUNDARY_RATIO, 1 - 0.5 * point->targetMu / point->dualityMeasure);
    rgInterior_RightSide(point, point->targetMu);
    rgInterior_SolveDirection(point, &point->direction);
    double stepLength = rgInterior_StepLength(point, &point->direction);
    if (point->blockingMost > 0 && point->exact && stepLength < RG_BLOCKED_STEP &&
        rgInterior_ResolveBlocking(point, point->targetMu, &stepLength) != rg_ok) {
        return false;
    }
    bool finite = rgInterior_Move(point, stepLength);
    rgInterior_AdaptProximal(point);
    return finite && stepLength > RG_STALL_STEP;
}

rgResult rgRunInterior(rgRun* run, const rgInteriorOptions* options) {
    const rgNewtonOptions newton = {.limit = RG_NEWTON_ITERATIONS,
                                    .regularisation = RG_NEWTON_SHIFT_RATIO,
                                    .proximal = RG_STRONG_PROXIMAL_RATIO};
    rgArenaMark mark = rgArena_Mark(run->system->arena);
    rgInterior point;
    rgResult result = rgInterior_Init(&point, run, options->blockingMost);
    if (result != rg_ok) {
        return result;
    }
    rgInterior_Start(&point);
    rgInterior_Measure(&point);
    bool polish = options->polish;
    for (int k = 0; k < options->limit && result == rg_ok && !rgRun_Solved(run); ++k) {
        if (!rgRun_Count(run, rg_phaseInterior) || !rgInterior_Advance(&point)) {
            break;
        }
        rgInterior_Measure(&point);
        double residual = rgRun_UpdateBest(run, point.lambda, point.velocity);
        rgRun_RecordResidual(run, rg_phaseInterior, residual);
        // Near the solution Newton is faster; where it is not, the path goes on.
        if (polish && residual < RG_POLISH_RESIDUAL && !rgRun_Solved(run)) {
            polish = false;
            result = rgRunNewton(run, point.lambda, &newton);
        }
    }
    rgArena_Return(run->system->arena, mark);
    return result;
}
