// Nonlinear elimination in Newton's method: the contacts that a step leaves most wrong, which are
// those between sticking, slipping and opening, are solved exactly while all others respond
// linearly. newton.17-20.
#include "contact/maps.h"
#include "contact/newton.h"

#include <math.h>
#include <string.h>

typedef struct rgSubproblem {
    rgNewton* newton;
    int room; // contacts at most
    int count, n, ld;
    int* blocks;
    bool* member;     // of the system's blocks
    double* linear;   // step in which all respond linearly, and what it moves
    double* velocity; // of it
    double* best;     // step that leaves least
    double* bestMoved;
    double* rhs;
    double* X; // rows and columns of the inverse of newton.8, and (G + p) times it
    double* Y;
    double* G; // sigma = G lambda + g of the contacts, the others responding
    double* g;
    double* K;
    int *pivot, *stepPivot; // of X and K
    double *lambda, *sigma, *F, *step, *trial, *start;
    double* least; // impulses with the least |F|
    double leastNorm;
    double* A; // 9 per contact
    double* B;
    rgJacobianKind* kinds;
} rgSubproblem;

static rgResult rgSubproblem_Init(rgSubproblem* sub, rgNewton* newton) {
    rgSystem* system = newton->system;
    rgArena* arena = system->arena;
    int room = RG_MIN(RG_SUBPROBLEM_MOST_COUNT, system->blockCount), m = 3 * room;
    *sub = (rgSubproblem){.newton = newton, .room = room};
    double** vectors[] = {&sub->linear, &sub->velocity, &sub->best, &sub->bestMoved, &sub->rhs};
    for (int i = 0; i < RG_COUNT(vectors); ++i) {
        *vectors[i] = RG_TAKE(arena, double, system->n);
    }
    size_t numbers = (size_t)rgLeadingDimension(m) * (size_t)m;
    double** matrices[] = {&sub->X, &sub->Y, &sub->G, &sub->K};
    for (int i = 0; i < RG_COUNT(matrices); ++i) {
        *matrices[i] = RG_TAKE(arena, double, numbers);
    }
    double** small[] = {&sub->g,    &sub->lambda, &sub->sigma, &sub->F,
                        &sub->step, &sub->trial,  &sub->start, &sub->least};
    for (int i = 0; i < RG_COUNT(small); ++i) {
        *small[i] = RG_TAKE(arena, double, m);
    }
    sub->A = RG_TAKE(arena, double, 3 * m);
    sub->B = RG_TAKE(arena, double, 3 * m);
    sub->kinds = RG_TAKE(arena, rgJacobianKind, room);
    sub->pivot = RG_TAKE(arena, int, m);
    sub->stepPivot = RG_TAKE(arena, int, m);
    sub->blocks = RG_TAKE(arena, int, room);
    sub->member = RG_TAKE(arena, bool, system->blockCount);
    if (arena->failed) {
        return rg_errorMemory;
    }
    size_t bytes = (size_t)system->n * sizeof(double);
    memcpy(sub->linear, newton->step, bytes);
    memcpy(sub->velocity, newton->moved, bytes);
    memcpy(sub->best, newton->step, bytes);
    memcpy(sub->bestMoved, newton->moved, bytes);
    memset(sub->member, 0, (size_t)system->blockCount * sizeof(bool));
    return rg_ok;
}

// |F|^2 of a block at the trial point
static double rgSubproblem_Error(const rgSubproblem* sub, int block) {
    const rgSystemBlock* b = sub->newton->system->blocks + block;
    double sum = 0;
    for (int r = b->row; r < b->row + b->size; ++r) {
        sum += sub->newton->F2[r] * sub->newton->F2[r];
    }
    return sum;
}

// The contacts with the largest |F| at the trial point join, until the others have a tenth of the
// iterate's. False if none does.
static bool rgSubproblem_Join(rgSubproblem* sub) {
    const rgNewton* newton = sub->newton;
    const rgSystem* system = newton->system;
    double least = RG_SUBPROBLEM_REST_RATIO * newton->norm;
    double left = newton->trialNorm * newton->trialNorm;
    int before = sub->count;
    while (sub->count < sub->room && left > least * least) {
        int worst = -1;
        double most = 0;
        for (int i = 0; i < system->blockCount; ++i) {
            const rgSystemBlock* block = system->blocks + i;
            bool eligible = !sub->member[i] && block->kind == rg_blockCoulomb && block->size == 3;
            double error = eligible ? rgSubproblem_Error(sub, i) : 0;
            if (error > most) {
                most = error;
                worst = i;
            }
        }
        if (worst < 0) {
            break;
        }
        sub->member[worst] = true;
        sub->blocks[sub->count++] = worst;
        left -= most;
    }
    return sub->count > before;
}

static int rgSubproblem_Row(const rgSubproblem* sub, int row) {
    return sub->newton->system->blocks[sub->blocks[row / 3]].row + row % 3;
}

// newton.18: G = Y X^-1 + p, row by row with the factors of X'; X stays factorized.
static bool rgSubproblem_Matrix(rgSubproblem* sub) {
    const rgKernels* kernels = sub->newton->system->kernels;
    int m = sub->n;
    size_t ld = (size_t)sub->ld;
    for (int i = 0; i < m; ++i) {
        for (int j = 0; j < m; ++j) {
            sub->K[(size_t)j * ld + (size_t)i] = sub->X[(size_t)i * ld + (size_t)j];
        }
    }
    if (!kernels->lu(m, sub->K, sub->ld, sub->stepPivot) ||
        !kernels->lu(m, sub->X, sub->ld, sub->pivot)) {
        return false;
    }
    double* row = sub->step;
    for (int i = 0; i < m; ++i) {
        for (int j = 0; j < m; ++j) {
            row[j] = sub->Y[(size_t)j * ld + (size_t)i];
        }
        kernels->luSolve(m, sub->K, sub->ld, sub->stepPivot, row);
        for (int j = 0; j < m; ++j) {
            sub->G[(size_t)j * ld + (size_t)i] = row[j];
        }
        sub->G[(size_t)i * (ld + 1)] += sub->newton->proximal;
    }
    return true;
}

// newton.18: sigma = G lambda + g, all others responding. False where that cannot be written.
static rgResult rgSubproblem_Reduce(rgSubproblem* sub, bool* usable) {
    const rgNewton* newton = sub->newton;
    rgSystem* system = newton->system;
    sub->n = 3 * sub->count;
    sub->ld = rgLeadingDimension(sub->n);
    rgResult result =
        system->ops->respond(system, sub->count, sub->blocks, sub->X, sub->Y, sub->ld);
    *usable = result == rg_ok && rgSubproblem_Matrix(sub);
    if (!*usable) {
        return result;
    }
    double* end = sub->start; // impulses after the linear step
    for (int i = 0; i < sub->n; ++i) {
        int row = rgSubproblem_Row(sub, i);
        end[i] = newton->lambda[row] + sub->linear[row];
    }
    system->kernels->multiply(sub->n, sub->n, sub->G, sub->ld, end, sub->g);
    for (int i = 0; i < sub->n; ++i) {
        int row = rgSubproblem_Row(sub, i);
        sub->g[i] = newton->sigma[row] + sub->velocity[row] - sub->g[i];
    }
    return rg_ok;
}

// |F| at impulses
static double rgSubproblem_Evaluate(rgSubproblem* sub, const double* lambda) {
    const rgSystem* system = sub->newton->system;
    system->kernels->multiply(sub->n, sub->n, sub->G, sub->ld, lambda, sub->sigma);
    double sum = 0;
    for (int i = 0; i < sub->n; ++i) {
        sub->sigma[i] += sub->g[i];
    }
    for (int i = 0; i < sub->count; ++i) {
        double* F = sub->F + 3 * i;
        rgSystem_MapBlock(system, sub->blocks[i], lambda + 3 * i, sub->sigma + 3 * i, F);
        sum += F[0] * F[0] + F[1] * F[1] + F[2] * F[2];
    }
    return sqrt(sum);
}

// y -= B_i G_ij x of two contacts
static void rgSubproblem_Subtract(const rgSubproblem* sub, int i, int j, const double* x,
                                  double* y) {
    double moved[3] = {0};
    for (int c = 0; c < 3; ++c) {
        const double* G = sub->G + (size_t)(3 * j + c) * (size_t)sub->ld + 3 * i;
        for (int r = 0; r < 3; ++r) {
            moved[r] += G[r] * x[c];
        }
    }
    const double* B = sub->B + 9 * i;
    for (int r = 0; r < 3; ++r) {
        y[r] -= B[3 * r] * moved[0] + B[3 * r + 1] * moved[1] + B[3 * r + 2] * moved[2];
    }
}

// K of the contacts that are not open: A + B G.
static void rgSubproblem_Assemble(rgSubproblem* sub, int count, const int* active) {
    size_t ld = (size_t)sub->ld;
    for (int j = 0; j < 3 * count; ++j) {
        const double* G = sub->G + (size_t)(3 * active[j / 3] + j % 3) * ld;
        double* K = sub->K + (size_t)j * ld;
        for (int i = 0; i < count; ++i) {
            const double *B = sub->B + 9 * active[i], *own = G + 3 * active[i];
            for (int r = 0; r < 3; ++r) {
                K[3 * i + r] = B[3 * r] * own[0] + B[3 * r + 1] * own[1] + B[3 * r + 2] * own[2];
            }
        }
        for (int r = 0; r < 3; ++r) {
            K[j / 3 * 3 + r] += sub->A[9 * active[j / 3] + 3 * r + j % 3];
        }
    }
}

// (A + B G) step = -F at sub->lambda, where open contacts are known. False where it is singular.
static bool rgSubproblem_Step(rgSubproblem* sub) {
    const rgSystem* system = sub->newton->system;
    int active[RG_SUBPROBLEM_MOST_COUNT], count = 0;
    memset(sub->A, 0, 3 * (size_t)sub->n * sizeof(double));
    memset(sub->B, 0, 3 * (size_t)sub->n * sizeof(double));
    memset(sub->step, 0, (size_t)sub->n * sizeof(double));
    for (int i = 0; i < sub->count; ++i) {
        sub->kinds[i] =
            rgLinearizeBlock(system->blocks + sub->blocks[i], system->model, sub->lambda + 3 * i,
                             sub->sigma + 3 * i, sub->A + 9 * i, sub->B + 9 * i);
        for (int r = 3 * i; r < 3 * i + 3 && sub->kinds[i] == rg_jacobianIdle; ++r) {
            sub->step[r] = -sub->F[r];
        }
        if (sub->kinds[i] != rg_jacobianIdle) {
            active[count++] = i;
        }
    }
    rgSubproblem_Assemble(sub, count, active);
    double rhs[3 * RG_SUBPROBLEM_MOST_COUNT];
    for (int i = 0; i < count; ++i) {
        for (int r = 0; r < 3; ++r) {
            rhs[3 * i + r] = -sub->F[3 * active[i] + r];
        }
        for (int j = 0; j < sub->count; ++j) {
            if (sub->kinds[j] == rg_jacobianIdle) {
                rgSubproblem_Subtract(sub, active[i], j, sub->step + 3 * j, rhs + 3 * i);
            }
        }
    }
    if (!system->kernels->lu(3 * count, sub->K, sub->ld, sub->stepPivot)) {
        return false;
    }
    system->kernels->luSolve(3 * count, sub->K, sub->ld, sub->stepPivot, rhs);
    for (int i = 0; i < 3 * count; ++i) {
        sub->step[3 * active[i / 3] + i % 3] = rhs[i];
    }
    return true;
}

static void rgSubproblem_Keep(rgSubproblem* sub, const double* lambda, double norm) {
    if (norm < sub->leastNorm) {
        sub->leastNorm = norm;
        memcpy(sub->least, lambda, (size_t)sub->n * sizeof(double));
    }
}

// newton.9: first of 1, 1/2, ... below the reference, else the least; returns |F|.
static double rgSubproblem_Search(rgSubproblem* sub, double reference) {
    double norm, leastNorm = INFINITY, length = 1, t = 1;
    for (; t > RG_LINE_SEARCH_LEAST_STEP; t *= 0.5) {
        for (int r = 0; r < sub->n; ++r) {
            sub->trial[r] = sub->lambda[r] + t * sub->step[r];
        }
        norm = rgSubproblem_Evaluate(sub, sub->trial);
        if (norm < leastNorm) {
            leastNorm = norm;
            length = t;
        }
        if (norm < reference) {
            return norm;
        }
    }
    for (int r = 0; r < sub->n; ++r) {
        sub->trial[r] = sub->lambda[r] + length * sub->step[r];
    }
    return rgSubproblem_Evaluate(sub, sub->trial);
}

// Newton from sub->lambda. True if |F| <= least.
static bool rgSubproblem_Iterate(rgSubproblem* sub, double least) {
    double norm = rgSubproblem_Evaluate(sub, sub->lambda), past[RG_SUBPROBLEM_ITERATIONS];
    rgSubproblem_Keep(sub, sub->lambda, norm);
    for (int k = 0; k < RG_SUBPROBLEM_ITERATIONS && norm > least; ++k) {
        past[k] = norm;
        if (!rgSubproblem_Step(sub)) {
            return false;
        }
        double reference = norm;
        for (int i = 0; i < k + 1; ++i) {
            reference = fmax(reference, past[i]);
        }
        norm = rgSubproblem_Search(sub, reference);
        memcpy(sub->lambda, sub->trial, (size_t)sub->n * sizeof(double));
        rgSubproblem_Keep(sub, sub->lambda, norm);
    }
    return norm <= least;
}

// newton.19: from the trial point, from the iterate, and from no impulses
static void rgSubproblem_Solve(rgSubproblem* sub) {
    size_t bytes = (size_t)sub->n * sizeof(double);
    double least = RG_SUBPROBLEM_TOLERANCE_RATIO * sub->newton->norm;
    sub->leastNorm = INFINITY;
    for (int i = 0; i < sub->n; ++i) {
        sub->lambda[i] = sub->newton->lambda2[rgSubproblem_Row(sub, i)];
    }
    bool solved = rgSubproblem_Iterate(sub, least);
    for (int i = 0; i < sub->n && !solved; ++i) {
        sub->lambda[i] = sub->newton->lambda[rgSubproblem_Row(sub, i)];
    }
    if (!solved && !rgSubproblem_Iterate(sub, least)) {
        memset(sub->lambda, 0, bytes);
        rgSubproblem_Iterate(sub, least);
    }
    memcpy(sub->lambda, sub->least, bytes);
}

// newton.20: The others follow: the right-hand side that gives the contacts their impulses.
static void rgSubproblem_MoveOthers(rgSubproblem* sub) {
    rgNewton* newton = sub->newton;
    double* change = sub->step;
    for (int i = 0; i < newton->system->n; ++i) {
        sub->rhs[i] = -newton->F[i];
    }
    for (int i = 0; i < sub->n; ++i) {
        int row = rgSubproblem_Row(sub, i);
        change[i] = sub->lambda[i] - newton->lambda[row] - sub->linear[row];
    }
    newton->system->kernels->luSolve(sub->n, sub->X, sub->ld, sub->pivot, change);
    for (int i = 0; i < sub->n; ++i) {
        sub->rhs[rgSubproblem_Row(sub, i)] += change[i];
    }
    rgNewton_SolveStep(newton, sub->rhs);
    rgNewton_Try(newton, 1);
}

rgResult rgNewton_SolveSubproblem(rgNewton* newton) {
    rgNewton_Try(newton, 1);
    double least = newton->trialNorm, enough = RG_SLOW_RESIDUAL_RATIO * newton->norm;
    if (least <= enough || !isfinite(least)) {
        return rg_ok;
    }
    rgArenaMark mark = rgArena_Mark(newton->system->arena);
    size_t bytes = (size_t)newton->system->n * sizeof(double);
    rgSubproblem sub;
    rgResult result = rgSubproblem_Init(&sub, newton);
    for (int k = 0; k < RG_SUBPROBLEM_ROUNDS && result == rg_ok && least > enough; ++k) {
        bool usable = rgSubproblem_Join(&sub);
        result = usable ? rgSubproblem_Reduce(&sub, &usable) : rg_ok;
        if (result != rg_ok || !usable) {
            break;
        }
        rgSubproblem_Solve(&sub);
        rgSubproblem_MoveOthers(&sub);
        if (newton->trialNorm < least) {
            least = newton->trialNorm;
            memcpy(sub.best, newton->step, bytes);
            memcpy(sub.bestMoved, newton->moved, bytes);
        }
    }
    if (result == rg_ok) {
        memcpy(newton->step, sub.best, bytes);
        memcpy(newton->moved, sub.bestMoved, bytes);
    }
    rgArena_Return(newton->system->arena, mark);
    return result;
}
