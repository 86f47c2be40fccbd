// The judge: how far are given impulses from a solution? It reads the problem and lambda, nothing
// else, and shares no arithmetic with a solver; its own small loops favour plainness over speed.
// ncp.9-12.
#include "contact/judge.h"
#include "contact/tuning.h"

#include <math.h>
#include <string.h>

// Nearest number of an interval; NaN stays NaN.
static double rgInto(double x, double low, double high) {
    return x < low ? low : x > high ? high : x;
}

// Shorten a vector of two to a length.
static void rgIntoDisc(double* x, double radius) {
    double length = sqrt(x[0] * x[0] + x[1] * x[1]);
    if (length > radius) {
        x[0] *= radius / length;
        x[1] *= radius / length;
    }
}

// Sides of the polygon that a model has in place of the disc of friction; 0: the disc.
static int rgSidesOf(rgContactModel model) {
    return model == rg_modelLcp4 ? 4 : model == rg_modelLcp8 ? 8 : 0;
}

// Nearest point of the regular polygon around a disc, one side across the first axis: turned so
// that the side next to x is that one.
static void rgIntoPolygon(double* x, double radius, int sides) {
    double sector = 2 * acos(-1) / sides;
    double turn = sector * round(atan2(x[1], x[0]) / sector);
    double c = cos(turn), s = sin(turn), half = radius * tan(sector / 2);
    double along = c * x[0] + s * x[1], across = c * x[1] - s * x[0];
    if (along > radius) {
        across = rgInto(across, -half, half);
        x[0] = c * radius - s * across;
        x[1] = s * radius + c * across;
    }
}

static void rgIntoFriction(double* x, double radius, rgContactModel model) {
    if (rgSidesOf(model) > 0) {
        rgIntoPolygon(x, radius, rgSidesOf(model));
    } else {
        rgIntoDisc(x, radius);
    }
}

// Project the normal alone, then friction on the disc of that normal.
static void rgIntoSteps(double mu, rgContactModel model, double* x) {
    x[2] = x[2] < 0 ? 0 : x[2];
    rgIntoFriction(x, mu * x[2], model);
}

// Nearest point of |x_t| <= mu x_n. mu = 0: a ray.
static void rgIntoCone(double mu, double* x) {
    double t = sqrt(x[0] * x[0] + x[1] * x[1]);
    if (x[2] >= 0 && t <= mu * x[2]) {
        return;
    }
    double along = (mu * t + x[2]) / (1 + mu * mu);
    along = along < 0 ? 0 : along;
    double k = t > 0 ? mu * along / t : 0;
    x[0] *= k;
    x[1] *= k;
    x[2] = along;
}

// Put impulses into K, the rows beyond the third after the normal they depend on.
static void rgProjectBlock(const rgBlock* block, rgContactModel model, double* x) {
    switch (block->kind) {
    case rg_blockFree:
        break;
    case rg_blockHalfLine:
        for (int i = 0; i < block->rowCount; ++i) {
            x[i] = rgInto(x[i], 0, INFINITY);
        }
        break;
    case rg_blockBox:
        for (int i = 0; i < block->rowCount; ++i) {
            x[i] = rgInto(x[i], block->lower, block->upper);
        }
        break;
    case rg_blockCoulomb:
        if (rgSidesOf(model) > 0) {
            rgIntoSteps(block->mu, model, x);
        } else {
            rgIntoCone(block->mu, x);
        }
        if (block->rowCount > 3) {
            x[3] = rgInto(x[3], -block->muTorsion * x[2], block->muTorsion * x[2]);
        }
        if (block->rowCount > 4) {
            rgIntoFriction(x + 4, block->muRolling * x[2], model);
        }
        break;
    }
}

static void rgUpdateMax(double* target, double value) {
    // A NaN must not vanish in a comparison.
    if (!(value <= *target)) {
        *target = value;
    }
}

static double rgLength(int count, const double* x) {
    double sum = 0;
    for (int i = 0; i < count; ++i) {
        sum += x[i] * x[i];
    }
    return sqrt(sum);
}

static double rgDot(int count, const double* x, const double* y) {
    double sum = 0;
    for (int i = 0; i < count; ++i) {
        sum += x[i] * y[i];
    }
    return sum;
}

static rgGroupOfRows rgRowsOfBlock(const rgJudgeWork* work, const rgBlock* block, int first) {
    const rgContactProblem* problem = work->problem;
    bool contact = block->kind == rg_blockCoulomb;
    rgGroupOfRows group = {.block = block, .first = first, .length = 1};
    group.count = contact && first == 0 ? 3 : contact && first == 4 ? 2 : 1;
    double moved = 0, sum = 0;
    for (int i = 0; i < group.count; ++i) {
        int row = block->firstRow + first + i;
        moved += work->diagonal[row];
        sum += work->diagonal[row] + (problem->compliance != NULL ? problem->compliance[row] : 0);
    }
    group.mass = sum > 0 ? group.count / sum : 0;
    group.inverseMass = moved > 0 ? moved / group.count : sum > 0 ? sum / group.count : 1;
    if (problem->rowLength != NULL) {
        group.length = problem->rowLength[block->firstRow + first];
    }
    return group;
}

// x = P(x) on the set of these rows; normal is the impulse that bounds torsion and rolling.
static void rgProjectGroup(const rgGroupOfRows* group, rgContactModel model, double normal,
                           double* x) {
    const rgBlock* block = group->block;
    if (block->kind != rg_blockCoulomb) {
        rgBlock one = *block;
        one.rowCount = group->count;
        rgProjectBlock(&one, model, x);
    } else if (group->first == 0) {
        rgIntoCone(block->mu, x);
    } else if (group->first == 3) {
        *x = rgInto(*x, -block->muTorsion * normal, block->muTorsion * normal);
    } else {
        rgIntoFriction(x, block->muRolling * normal, model);
    }
}

// Projection on the recession cone, the directions in which the set is unbounded.
static void rgProjectRecession(const rgGroupOfRows* group, rgContactModel model, double* x) {
    const rgBlock* block = group->block;
    if (block->kind == rg_blockBox) {
        bool free = *x > 0 ? block->upper == INFINITY : block->lower == -INFINITY;
        *x = free ? *x : *x * 0;
    } else {
        rgProjectGroup(group, model, 0, x);
    }
}

// Steep cones: De Saxcé's term would multiply the residual slip of a sticking contact by mu, beyond
// the digits of a double.
static bool rgGroup_IsSteep(const rgGroupOfRows* group) {
    return group->count == 3 && group->block->mu > RG_STEEP_FRICTION;
}

// Contacts judged by Alart and Curnier's map: steep ones, and those with a polygon, which has no De
// Saxcé term.
static inline bool rgGroup_InSteps(const rgGroupOfRows* group, int count, rgContactModel model) {
    return count == 3 && (rgSidesOf(model) > 0 || (model == rg_modelNcp && rgGroup_IsSteep(group)));
}

// u = sigma + Gamma(sigma) on the rows of a group.
static inline void rgShiftVelocity(const rgGroupOfRows* group, int count, rgContactModel model,
                                   const double* sigma, double* u) {
    for (int i = 0; i < count; ++i) {
        u[i] = sigma[i];
    }
    if (count == 3 && model == rg_modelNcp && !rgGroup_IsSteep(group)) {
        u[2] += group->block->mu * sqrt(u[0] * u[0] + u[1] * u[1]);
    }
}

// lambda - P(lambda - m u), the natural map, in N s; for immovable rows its limit over m, in m/s
static inline void rgNaturalMap(const rgGroupOfRows* group, int count, rgContactModel model,
                                double normal, const double* lambda, const double* u, double* map) {
    bool moves = group->mass > 0;
    for (int i = 0; i < count; ++i) {
        map[i] = moves ? lambda[i] - group->mass * u[i] : -u[i];
    }
    if (rgGroup_InSteps(group, count, model)) {
        rgIntoSteps(group->block->mu, model, map);
    } else if (moves) {
        rgProjectGroup(group, model, normal, map);
    } else {
        rgProjectRecession(group, model, map);
    }
    for (int i = 0; i < count; ++i) {
        map[i] = moves ? lambda[i] - map[i] : map[i];
    }
}

// ncp.10: eps of a group without impulses [m/s]
static inline double rgErrorOfZero(const rgGroupOfRows* group, int count, rgContactModel model,
                                   const double* g) {
    const double zero[3] = {0, 0, 0};
    double u[3] = {0}, map[3];
    rgShiftVelocity(group, count, model, g, u);
    rgNaturalMap(group, count, model, 0, zero, u, map);
    return rgLength(count, map) * group->inverseMass * group->length;
}

// Distance of u to the dual set, for cones; boxes have none of their own.
static inline double rgDualDistance(const rgGroupOfRows* group, int count, rgContactModel model,
                                    const double* u) {
    double x[3];
    for (int i = 0; i < count; ++i) {
        x[i] = -u[i];
    }
    if (rgGroup_InSteps(group, count, model)) {
        rgIntoSteps(group->block->mu, model, x);
    } else {
        rgProjectRecession(group, model, x);
    }
    return rgLength(count, x);
}

static int rgIslandOf(const rgJudgeWork* work, const rgBlock* block) {
    return work->layout->islandOfBlock[work->layout->blockOfRow[block->firstRow]];
}

static inline void rgJudgeGroup(const rgJudgeWork* work, const rgGroupOfRows* group, int count,
                                rgContactModel model, rgResidual* residual) {
    int row = group->block->firstRow + group->first;
    const double* lambda = work->lambda + row;
    double normal = group->first > 0 ? work->lambda[group->block->firstRow + 2] : 0;
    int island = rgIslandOf(work, group->block);
    double reference = work->reference[island];
    double u[3] = {0}, map[3];
    rgShiftVelocity(group, count, model, work->sigma + row, u);
    rgNaturalMap(group, count, model, normal, lambda, u, map);
    double size = rgLength(count, map), error = size * group->inverseMass * group->length;
    double share = error > 0 ? error / reference : error;
    if (work->residuals != NULL) {
        rgUpdateMax(&work->residuals[island], share);
    }
    if (!(share <= residual->total)) {
        residual->total = share;
        residual->velocity = error;
        residual->reference = reference;
        residual->block = (int)(group->block - work->problem->blocks);
    }
    if (group->mass > 0) {
        rgUpdateMax(&residual->impulse, size);
    }
    if (group->block->kind != rg_blockBox && group->first == 0) {
        rgUpdateMax(&residual->dual, rgDualDistance(group, count, model, u));
        bool normalOnly = rgSidesOf(model) > 0 && count == 3; // friction works by its own law
        rgUpdateMax(&residual->complementarity,
                    normalOnly ? fabs(lambda[2] * u[2]) : fabs(rgDot(count, lambda, u)));
    }
}

// ncp.11: V of every island: residual of zero impulses, at least the quiet threshold.
static rgResult rgFindReferences(rgJudgeWork* work, rgContactModel model) {
    const rgContactProblem* problem = work->problem;
    int islands = work->layout->islandCount;
    work->reference = RG_TAKE(work->arena, double, islands);
    if (work->reference == NULL) {
        return rg_errorMemory;
    }
    double whole = 0;
    memset(work->reference, 0, (size_t)islands * sizeof(double));
    for (int i = 0; i < work->groupCount; ++i) {
        const rgGroupOfRows* group = work->groups + i;
        double* reference = work->reference + rgIslandOf(work, group->block);
        const double* g = problem->freeVelocity + group->block->firstRow + group->first;
        double error = group->count == 3 ? rgErrorOfZero(group, 3, model, g)
                                         : rgErrorOfZero(group, group->count, model, g);
        *reference = error > *reference ? error : *reference;
        if (problem->referenceVelocity == 0) {
            double u[3] = {0};
            rgShiftVelocity(group, group->count, model, g, u);
            whole = fmax(whole, rgDualDistance(group, group->count, model, u) * group->length);
        }
    }
    double least =
        problem->referenceVelocity > 0 ? problem->referenceVelocity : RG_REFERENCE_RATIO * whole;
    for (int i = 0; i < islands; ++i) {
        double* reference = work->reference + i;
        *reference = fmax(*reference, least);
        *reference = *reference > 0 ? *reference : 1;
    }
    return rg_ok;
}

static void rgListGroups(rgJudgeWork* work) {
    const rgContactProblem* problem = work->problem;
    for (int b = 0; b < problem->blockCount; ++b) {
        const rgBlock* block = problem->blocks + b;
        for (int i = 0; i < block->rowCount;) {
            rgGroupOfRows group = rgRowsOfBlock(work, block, i);
            work->groups[work->groupCount++] = group;
            i += group.count;
        }
    }
}

static rgResult rgJudge_Read(rgJudgeWork* work, rgContactModel model, const double* lambda) {
    const rgContactProblem* problem = work->problem;
    int n = problem->rowCount;
    work->lambda = RG_TAKE(work->arena, double, n);
    work->sigma = RG_TAKE(work->arena, double, n);
    work->diagonal = RG_TAKE(work->arena, double, n);
    work->groups = RG_TAKE(work->arena, rgGroupOfRows, n);
    if (work->arena->failed) {
        return rg_errorMemory;
    }
    if (n > 0) {
        memcpy(work->lambda, lambda, (size_t)n * sizeof(double));
    }
    for (int b = 0; b < problem->blockCount; ++b) {
        rgProjectBlock(problem->blocks + b, model, work->lambda + problem->blocks[b].firstRow);
    }
    rgResult result = rgJudge_Prepare(work);
    if (result == rg_ok) {
        result = rgJudge_Velocity(work, work->lambda, work->sigma, work->diagonal);
    }
    if (result == rg_ok) {
        rgListGroups(work);
    }
    return result;
}

rgResult rgJudge(const rgContactProblem* problem, const rgLayout* layout, rgContactModel model,
                 const double* lambda, rgArena* arena, rgResidual* residual, double* islands) {
    rgJudgeWork work = {.problem = problem, .layout = layout, .arena = arena, .residuals = islands};
    rgResult result = rgJudge_Read(&work, model, lambda);
    if (result == rg_ok) {
        result = rgFindReferences(&work, model);
    }
    if (result != rg_ok) {
        return result;
    }
    *residual = (rgResidual){.block = -1};
    for (int i = 0; islands != NULL && i < layout->islandCount; ++i) {
        islands[i] = 0;
    }
    for (int i = 0; i < work.groupCount; ++i) {
        const rgGroupOfRows* group = work.groups + i;
        if (group->count == 3) { // loops of a known length
            rgJudgeGroup(&work, group, 3, model, residual);
        } else {
            rgJudgeGroup(&work, group, group->count, model, residual);
        }
    }
    return rg_ok;
}

rgResult rgContactProblem_Judge(const rgContactProblem* problem, rgContactModel model,
                                const double* lambda, rgResidual* residual) {
    rgResult result = rgContactProblem_Check(problem, NULL);
    if (result != rg_ok || residual == NULL || (lambda == NULL && problem->rowCount > 0)) {
        return rg_errorArgument;
    }
    rgArena arena;
    rgArena_Init(&arena, NULL);
    rgLayout layout;
    result = rgBuildLayout(problem, true, &arena, &layout);
    result =
        result == rg_ok ? rgJudge(problem, &layout, model, lambda, &arena, residual, NULL) : result;
    rgArena_Free(&arena);
    return result;
}

double rgContactProblem_Residual(const rgContactProblem* problem, const double* lambda) {
    rgResidual residual;
    rgResult result = rgContactProblem_Judge(problem, rg_modelNcp, lambda, &residual);
    return result == rg_ok ? residual.total : NAN;
}

rgResult rgJudgeVelocity(const rgContactProblem* problem, const rgLayout* layout,
                         const double* lambda, rgArena* arena, double* sigma) {
    rgJudgeWork work = {.problem = problem, .layout = layout, .arena = arena};
    rgResult result = rgJudge_Prepare(&work);
    return result == rg_ok ? rgJudge_Velocity(&work, lambda, sigma, NULL) : result;
}

rgResult rgJudgeDiagonal(const rgContactProblem* problem, const rgLayout* layout, rgArena* arena,
                         double* diagonal) {
    rgJudgeWork work = {.problem = problem, .layout = layout, .arena = arena};
    rgArenaMark mark = rgArena_Mark(arena);
    double* zero = RG_TAKE(arena, double, problem->rowCount);
    double* sigma = RG_TAKE(arena, double, problem->rowCount);
    rgResult result = arena->failed ? rg_errorMemory : rgJudge_Prepare(&work);
    if (result == rg_ok) {
        memset(zero, 0, (size_t)problem->rowCount * sizeof(double));
        result = rgJudge_Velocity(&work, zero, sigma, diagonal);
    }
    rgArena_Return(arena, mark);
    return result;
}

rgResult rgContactProblem_Velocity(const rgContactProblem* problem, const double* lambda,
                                   double* sigma) {
    rgResult result = rgContactProblem_Check(problem, NULL);
    if (result != rg_ok || (problem->rowCount > 0 && (lambda == NULL || sigma == NULL))) {
        return rg_errorArgument;
    }
    rgArena arena;
    rgArena_Init(&arena, NULL);
    rgLayout layout;
    result = rgBuildLayout(problem, true, &arena, &layout);
    if (result == rg_ok) {
        result = rgJudgeVelocity(problem, &layout, lambda, &arena, sigma);
    }
    rgArena_Free(&arena);
    return result;
}
