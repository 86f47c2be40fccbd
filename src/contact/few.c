// Few contacts hold up the interior point: between sticking, slipping and opening, where the
// smoothed law bends more than a linear model can follow. They are solved together exactly, while
// all others respond linearly. docs/theory/interior.md (15)-(18).
#include "contact/interior.h"
#include "contact/tuning.h"

#include <math.h>
#include <string.h>

typedef struct rgFew {
    rgInterior* point;
    double aim;
    double* rhs;    // right-hand side of the linear step
    double* linear; // its impulses on the few's rows, and velocities
    double* linearVelocity;
    double bestReach; // of the direction kept in the point's spare one
    int room;         // contacts at most
    int count;
    int* cones;
    int* blocks;
    bool* member; // of the cones
    int n, ld;
    double* X; // the few's part of the inverse of the linear system, and G times it
    double* Y;
    double* G; // how the velocities of the few depend on their impulses, g likewise
    double* g;
    double* K;
    int* pivot;     // of X
    int* stepPivot; // of K
    double* z;      // lambda - sigma, n
    double* lambda;
    double* sigma;
    double* D; // dlambda/dz, 9 per contact
    double* F;
    double* step;
    double* trial;
} rgFew;

static void rgCopyDirection(const rgInterior* point, const rgDirection* from, rgDirection* to) {
    size_t bytes = (size_t)point->system->n * sizeof(double);
    memcpy(to->lambda, from->lambda, bytes);
    memcpy(to->sigma, from->sigma, bytes);
    memcpy(to->psi, from->psi, (size_t)point->coneCount * sizeof(double));
}

static rgResult rgFew_Init(rgFew* few, rgInterior* point, double aim, double reach) {
    rgSystem* system = point->system;
    rgArena* arena = system->arena;
    int room = RG_MIN(point->few, point->coneCount);
    *few = (rgFew){.point = point, .aim = aim, .bestReach = reach, .room = room};
    int m = 3 * room;
    double** vectors[] = {&few->rhs, &few->linear, &few->linearVelocity};
    for (int i = 0; i < RG_COUNT(vectors); ++i) {
        *vectors[i] = RG_TAKE(arena, double, system->n);
    }
    size_t numbers = (size_t)rgLeadingDimension(m) * (size_t)m;
    double** matrices[] = {&few->X, &few->Y, &few->G, &few->K};
    for (int i = 0; i < RG_COUNT(matrices); ++i) {
        *matrices[i] = RG_TAKE(arena, double, numbers);
    }
    double** small[] = {&few->g, &few->z,    &few->lambda, &few->sigma,
                        &few->F, &few->step, &few->trial};
    for (int i = 0; i < RG_COUNT(small); ++i) {
        *small[i] = RG_TAKE(arena, double, m);
    }
    few->D = RG_TAKE(arena, double, 9 * room);
    few->pivot = RG_TAKE(arena, int, m);
    few->stepPivot = RG_TAKE(arena, int, m);
    few->cones = RG_TAKE(arena, int, room);
    few->blocks = RG_TAKE(arena, int, room);
    few->member = RG_TAKE(arena, bool, point->coneCount);
    if (arena->failed) {
        return rg_errorMemory;
    }
    size_t bytes = (size_t)system->n * sizeof(double);
    const rgDirection* d = &point->direction;
    memcpy(few->linear, d->lambda, bytes);
    rgCopyDirection(point, d, &point->trial);
    memcpy(few->rhs, point->rhs, bytes);
    for (int i = 0; i < point->coneCount; ++i) {
        const rgCone* cone = point->cones + i;
        for (int k = cone->block->row; k < cone->block->row + 3; ++k) {
            few->linearVelocity[k] = point->sigma[k] + d->sigma[k] - cone->proximal * d->lambda[k];
        }
    }
    memset(few->member, 0, (size_t)point->coneCount * sizeof(bool));
    return rg_ok;
}

static bool rgFew_Wants(const rgFew* few, int cone, double limit) {
    const rgCone* c = few->point->cones + cone;
    return !few->member[cone] && c->reach < limit && c->block->size == 3;
}

// Contacts that go less far than the limit join; the limit is lowered until there is room for all.
static bool rgFew_Join(rgFew* few, double limit) {
    const rgInterior* point = few->point;
    int wanted = few->room + 1;
    for (; few->count + wanted > few->room && limit > 1e-6; limit *= 0.7) {
        wanted = 0;
        for (int i = 0; i < point->coneCount; ++i) {
            wanted += rgFew_Wants(few, i, limit);
        }
        if (few->count + wanted <= few->room) {
            break;
        }
    }
    if (wanted == 0 || few->count + wanted > few->room) {
        return false;
    }
    for (int i = 0; i < point->coneCount; ++i) {
        if (rgFew_Wants(few, i, limit)) {
            few->member[i] = true;
            few->cones[few->count] = i;
            few->blocks[few->count++] = (int)(point->cones[i].block - point->system->blocks);
        }
    }
    return true;
}

// Row of the whole system.
static int rgFew_Row(const rgFew* few, int row) {
    return few->point->cones[few->cones[row / 3]].block->row + row % 3;
}

// (16) G of the few = Y X^-1, row by row with the factors of X'; X stays factorized.
static bool rgFew_Matrix(rgFew* few) {
    const rgKernels* kernels = few->point->system->kernels;
    int m = few->n;
    size_t ld = (size_t)few->ld;
    double* row = few->step;
    for (int i = 0; i < m; ++i) {
        for (int j = 0; j < m; ++j) {
            few->K[(size_t)j * ld + (size_t)i] = few->X[(size_t)i * ld + (size_t)j];
        }
    }
    if (!kernels->lu(m, few->K, few->ld, few->stepPivot)) {
        return false;
    }
    for (int i = 0; i < m; ++i) {
        for (int j = 0; j < m; ++j) {
            row[j] = few->Y[(size_t)j * ld + (size_t)i];
        }
        kernels->luSolve(m, few->K, few->ld, few->stepPivot, row);
        for (int j = 0; j < m; ++j) {
            few->G[(size_t)j * ld + (size_t)i] = row[j];
        }
    }
    return kernels->lu(m, few->X, few->ld, few->pivot);
}

// (16) sigma_S = G lambda_S + g, all others responding.
static rgResult rgFew_Reduce(rgFew* few, bool* usable) {
    const rgInterior* point = few->point;
    rgSystem* system = point->system;
    few->n = 3 * few->count;
    few->ld = rgLeadingDimension(few->n);
    rgResult result =
        system->ops->respond(system, few->count, few->blocks, few->X, few->Y, few->ld);
    if (result != rg_ok) {
        return result;
    }
    *usable = rgFew_Matrix(few);
    double* end = few->step; // impulses after the linear step
    for (int i = 0; i < few->n; ++i) {
        int row = rgFew_Row(few, i);
        end[i] = point->lambda[row] + few->linear[row];
    }
    system->kernels->multiply(few->n, few->n, few->G, few->ld, end, few->g);
    for (int i = 0; i < few->n; ++i) {
        few->g[i] = few->linearVelocity[rgFew_Row(few, i)] - few->g[i];
    }
    return rg_ok;
}

// The law at z, and F = sigma - G lambda - g; returns |F|.
static double rgFew_Evaluate(rgFew* few, const double* z, double k, double* F) {
    const rgInterior* point = few->point;
    for (int i = 0; i < few->count; ++i) {
        double mu = point->cones[few->cones[i]].block->mu;
        const rgCone* cone = point->cones + few->cones[i];
        double normal = point->lines[few->cones[i]].floor;
        double own[2] = {rgTarget(k, normal), rgTarget(k, cone->floor)};
        rgSmoothLaw(mu, own, z + 3 * i, few->lambda + 3 * i, few->sigma + 3 * i, few->D + 9 * i);
    }
    point->system->kernels->multiply(few->n, few->n, few->G, few->ld, few->lambda, F);
    double sum = 0;
    for (int i = 0; i < few->n; ++i) {
        F[i] = few->sigma[i] - F[i] - few->g[i];
        sum += F[i] * F[i];
    }
    return sqrt(sum);
}

// (17) (D - I - G D) step = -F
static bool rgFew_Step(rgFew* few) {
    const rgKernels* kernels = few->point->system->kernels;
    size_t ld = (size_t)few->ld;
    for (int j = 0; j < few->n; ++j) {
        const double* D = few->D + 9 * (j / 3) + j % 3; // column j of its block
        const double* G = few->G + (size_t)(j / 3 * 3) * ld;
        double* K = few->K + (size_t)j * ld;
        for (int i = 0; i < few->n; ++i) {
            size_t r = (size_t)i;
            K[i] = -(G[r] * D[0] + G[ld + r] * D[3] + G[2 * ld + r] * D[6]);
        }
        for (int i = 0; i < 3; ++i) {
            K[j / 3 * 3 + i] += D[3 * i];
        }
        K[j] -= 1;
    }
    for (int i = 0; i < few->n; ++i) {
        few->step[i] = -few->F[i];
    }
    if (!kernels->lu(few->n, few->K, few->ld, few->stepPivot)) {
        return false;
    }
    kernels->luSolve(few->n, few->K, few->ld, few->stepPivot, few->step);
    return true;
}

// (17) Newton in z with a line search; z is where it got to.
static bool rgFew_Newton(rgFew* few, double k) {
    double error = RG_BLOCKING_TOLERANCE * sqrt(k);
    double norm = rgFew_Evaluate(few, few->z, k, few->F);
    for (int i = 0; i < RG_BLOCKING_ITERATIONS && norm > error; ++i) {
        if (!rgFew_Step(few)) {
            return false;
        }
        double t = 1, next = INFINITY;
        for (; t > 1e-3; t *= 0.5) {
            for (int r = 0; r < few->n; ++r) {
                few->trial[r] = few->z[r] + t * few->step[r];
            }
            next = rgFew_Evaluate(few, few->trial, k, few->F);
            if (next < (1 - 1e-4 * t) * norm) {
                break;
            }
        }
        if (!(next < norm)) {
            return false;
        }
        memcpy(few->z, few->trial, (size_t)few->n * sizeof(double));
        norm = next;
    }
    return norm <= error;
}

// (17) The few at the product that is aimed at: from the present point, from no impulses, and from
// the solution of a smoother law.
static bool rgFew_Solve(rgFew* few) {
    const rgInterior* point = few->point;
    if (!(few->aim > 0 && few->aim < INFINITY)) {
        return false; // products of absurd numbers that underflow: no smoother law is there
    }
    for (int i = 0; i < few->n; ++i) {
        int row = rgFew_Row(few, i);
        few->z[i] = point->lambda[row] - point->sigma[row];
    }
    bool solved = rgFew_Newton(few, few->aim);
    for (double k = few->aim; !solved && k <= 2 * RG_BLOCKING_SMOOTHING_RATIO * few->aim;
         k *= 100) {
        for (int i = 0; i < few->n; ++i) {
            few->z[i] = -few->g[i];
        }
        for (double smooth = k; smooth > 2 * few->aim; smooth *= 0.1) {
            rgFew_Newton(few, smooth);
        }
        solved = rgFew_Newton(few, few->aim);
    }
    return solved;
}

// (18) The others follow: the right-hand sides of the few that lead them where they are to go.
static void rgFew_Follow(rgFew* few) {
    rgInterior* point = few->point;
    rgDirection* d = &point->direction;
    const rgKernels* kernels = point->system->kernels;
    double* change = few->step;
    for (int i = 0; i < few->n; ++i) {
        int row = rgFew_Row(few, i);
        change[i] = few->lambda[i] - point->lambda[row] - few->linear[row];
    }
    kernels->luSolve(few->n, few->X, few->ld, few->pivot, change);
    memcpy(point->rhs, few->rhs, (size_t)point->system->n * sizeof(double));
    for (int i = 0; i < few->n; ++i) {
        point->rhs[rgFew_Row(few, i)] += change[i];
    }
    rgInterior_Follow(point, d);
    for (int i = 0; i < few->n; ++i) {
        int row = rgFew_Row(few, i);
        d->lambda[row] = few->lambda[i] - point->lambda[row];
        d->sigma[row] = few->sigma[i] - point->sigma[row];
    }
    for (int i = 0; i < few->count; ++i) {
        const rgCone* cone = point->cones + few->cones[i];
        d->psi[few->cones[i]] = rgSlipBound(cone->block->mu, rgTarget(few->aim, cone->floor),
                                            few->lambda + 3 * i, few->sigma + 3 * i) -
                                cone->e[0];
    }
}

static void rgFew_Keep(rgFew* few, double reach) {
    if (reach > few->bestReach) {
        few->bestReach = reach;
        rgCopyDirection(few->point, &few->point->direction, &few->point->trial);
    }
}

// One round: some join, the few are solved, the others follow. goOn: there may be more to gain.
static rgResult rgFew_Round(rgFew* few, double limit, bool* goOn) {
    *goOn = rgFew_Join(few, limit);
    if (!*goOn) {
        return rg_ok;
    }
    rgResult result = rgFew_Reduce(few, goOn);
    if (result == rg_ok && *goOn) {
        *goOn = rgFew_Solve(few);
    }
    if (result == rg_ok && *goOn) {
        rgFew_Follow(few);
        rgFew_Keep(few, rgInterior_Reach(few->point, &few->point->direction));
        *goOn = few->bestReach < RG_BLOCKING_ENOUGH_STEP;
    }
    return result;
}

rgResult rgInterior_Widen(rgInterior* point, double aim, double* reach) {
    rgArena* arena = point->system->arena;
    rgArenaMark mark = rgArena_Mark(arena);
    rgFew few;
    rgResult result = rgFew_Init(&few, point, aim, *reach);
    bool goOn = true;
    for (int k = 0; k < RG_BLOCKING_ROUNDS && result == rg_ok && goOn; ++k) {
        result = rgFew_Round(&few, k == 0 ? RG_BLOCKING_FIRST_STEP : RG_BLOCKING_NEXT_STEP, &goOn);
    }
    if (result == rg_ok) {
        rgCopyDirection(point, &point->trial, &point->direction);
        *reach = rgInterior_Reach(point, &point->direction);
    }
    rgArena_Return(arena, mark);
    return result;
}
