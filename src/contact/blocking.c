// Blocking contacts keep steps of the interior point short: between sticking, slipping and opening
// the smoothed law bends more than a linear model can follow. They are solved together exactly,
// while all others respond linearly. interior.13-16.
#include "contact/interior.h"
#include "contact/tuning.h"

#include <math.h>
#include <string.h>

typedef struct rgBlocking {
    rgInterior* point;
    double targetMu;
    double* rhs;    // right-hand side of the linear step
    double* linear; // its impulses on the blocking rows, and velocities
    double* linearVelocity;
    double bestLength; // of the direction kept in the point's spare one
    int room;          // contacts at most
    int count;
    int* cones;
    int* blocks;
    bool* member; // of the cones
    int n, ld;
    double* X; // blocking rows and columns of the inverse of the linear system, and G times it
    double* Y;
    double* G; // sigma = G lambda + g of the blocking rows, the others responding
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
} rgBlocking;

static void rgCopyDirection(const rgInterior* point, const rgDirection* from, rgDirection* to) {
    size_t bytes = (size_t)point->system->n * sizeof(double);
    memcpy(to->lambda, from->lambda, bytes);
    memcpy(to->sigma, from->sigma, bytes);
    memcpy(to->psi, from->psi, (size_t)point->coneCount * sizeof(double));
}

static rgResult rgBlocking_Init(rgBlocking* blocking, rgInterior* point, double targetMu,
                                double stepLength) {
    rgSystem* system = point->system;
    rgArena* arena = system->arena;
    int room = RG_MIN(point->blockingMost, point->coneCount);
    *blocking =
        (rgBlocking){.point = point, .targetMu = targetMu, .bestLength = stepLength, .room = room};
    int m = 3 * room;
    double** vectors[] = {&blocking->rhs, &blocking->linear, &blocking->linearVelocity};
    for (int i = 0; i < RG_COUNT(vectors); ++i) {
        *vectors[i] = RG_TAKE(arena, double, system->n);
    }
    size_t numbers = (size_t)rgLeadingDimension(m) * (size_t)m;
    double** matrices[] = {&blocking->X, &blocking->Y, &blocking->G, &blocking->K};
    for (int i = 0; i < RG_COUNT(matrices); ++i) {
        *matrices[i] = RG_TAKE(arena, double, numbers);
    }
    double** small[] = {&blocking->g, &blocking->z,    &blocking->lambda, &blocking->sigma,
                        &blocking->F, &blocking->step, &blocking->trial};
    for (int i = 0; i < RG_COUNT(small); ++i) {
        *small[i] = RG_TAKE(arena, double, m);
    }
    blocking->D = RG_TAKE(arena, double, 9 * room);
    blocking->pivot = RG_TAKE(arena, int, m);
    blocking->stepPivot = RG_TAKE(arena, int, m);
    blocking->cones = RG_TAKE(arena, int, room);
    blocking->blocks = RG_TAKE(arena, int, room);
    blocking->member = RG_TAKE(arena, bool, point->coneCount);
    if (arena->failed) {
        return rg_errorMemory;
    }
    size_t bytes = (size_t)system->n * sizeof(double);
    const rgDirection* d = &point->direction;
    memcpy(blocking->linear, d->lambda, bytes);
    rgCopyDirection(point, d, &point->trial);
    memcpy(blocking->rhs, point->rhs, bytes);
    for (int i = 0; i < point->coneCount; ++i) {
        const rgCone* cone = point->cones + i;
        for (int k = cone->block->row; k < cone->block->row + 3; ++k) {
            blocking->linearVelocity[k] =
                point->sigma[k] + d->sigma[k] - cone->proximal * d->lambda[k];
        }
    }
    memset(blocking->member, 0, (size_t)point->coneCount * sizeof(bool));
    return rg_ok;
}

static bool rgBlocking_Joins(const rgBlocking* blocking, int cone, double limit) {
    const rgCone* c = blocking->point->cones + cone;
    return !blocking->member[cone] && c->stepLength < limit && c->block->size == 3;
}

// Contacts that go less far than the limit join; the limit is lowered until there is room for all.
static bool rgBlocking_Join(rgBlocking* blocking, double limit) {
    const rgInterior* point = blocking->point;
    int more = blocking->room + 1;
    for (; blocking->count + more > blocking->room && limit > 1e-6; limit *= 0.7) {
        more = 0;
        for (int i = 0; i < point->coneCount; ++i) {
            more += rgBlocking_Joins(blocking, i, limit);
        }
        if (blocking->count + more <= blocking->room) {
            break;
        }
    }
    if (more == 0 || blocking->count + more > blocking->room) {
        return false;
    }
    for (int i = 0; i < point->coneCount; ++i) {
        if (rgBlocking_Joins(blocking, i, limit)) {
            blocking->member[i] = true;
            blocking->cones[blocking->count] = i;
            blocking->blocks[blocking->count++] =
                (int)(point->cones[i].block - point->system->blocks);
        }
    }
    return true;
}

// Row of the whole system.
static int rgBlocking_Row(const rgBlocking* blocking, int row) {
    return blocking->point->cones[blocking->cones[row / 3]].block->row + row % 3;
}

// interior.14: G of the blocking = Y X^-1, row by row with the factors of X'; X stays factorized.
static bool rgBlocking_Matrix(rgBlocking* blocking) {
    const rgKernels* kernels = blocking->point->system->kernels;
    int m = blocking->n;
    size_t ld = (size_t)blocking->ld;
    double* row = blocking->step;
    for (int i = 0; i < m; ++i) {
        for (int j = 0; j < m; ++j) {
            blocking->K[(size_t)j * ld + (size_t)i] = blocking->X[(size_t)i * ld + (size_t)j];
        }
    }
    if (!kernels->lu(m, blocking->K, blocking->ld, blocking->stepPivot)) {
        return false;
    }
    for (int i = 0; i < m; ++i) {
        for (int j = 0; j < m; ++j) {
            row[j] = blocking->Y[(size_t)j * ld + (size_t)i];
        }
        kernels->luSolve(m, blocking->K, blocking->ld, blocking->stepPivot, row);
        for (int j = 0; j < m; ++j) {
            blocking->G[(size_t)j * ld + (size_t)i] = row[j];
        }
    }
    return kernels->lu(m, blocking->X, blocking->ld, blocking->pivot);
}

// interior.14: sigma_S = G lambda_S + g, all others responding.
static rgResult rgBlocking_Reduce(rgBlocking* blocking, bool* usable) {
    const rgInterior* point = blocking->point;
    rgSystem* system = point->system;
    blocking->n = 3 * blocking->count;
    blocking->ld = rgLeadingDimension(blocking->n);
    rgResult result = system->ops->respond(system, blocking->count, blocking->blocks, blocking->X,
                                           blocking->Y, blocking->ld);
    if (result != rg_ok) {
        return result;
    }
    *usable = rgBlocking_Matrix(blocking);
    double* end = blocking->step; // impulses after the linear step
    for (int i = 0; i < blocking->n; ++i) {
        int row = rgBlocking_Row(blocking, i);
        end[i] = point->lambda[row] + blocking->linear[row];
    }
    system->kernels->multiply(blocking->n, blocking->n, blocking->G, blocking->ld, end,
                              blocking->g);
    for (int i = 0; i < blocking->n; ++i) {
        blocking->g[i] = blocking->linearVelocity[rgBlocking_Row(blocking, i)] - blocking->g[i];
    }
    return rg_ok;
}

// The law at z, and F = sigma - G lambda - g; returns |F|.
static double rgBlocking_Evaluate(rgBlocking* blocking, const double* z, double k, double* F) {
    const rgInterior* point = blocking->point;
    for (int i = 0; i < blocking->count; ++i) {
        double mu = point->cones[blocking->cones[i]].block->mu;
        const rgCone* cone = point->cones + blocking->cones[i];
        double normal = point->lines[blocking->cones[i]].floor;
        double own[2] = {rgTarget(k, normal), rgTarget(k, cone->floor)};
        rgSmoothLaw(mu, own, z + 3 * i, blocking->lambda + 3 * i, blocking->sigma + 3 * i,
                    blocking->D + 9 * i);
    }
    point->system->kernels->multiply(blocking->n, blocking->n, blocking->G, blocking->ld,
                                     blocking->lambda, F);
    double sum = 0;
    for (int i = 0; i < blocking->n; ++i) {
        F[i] = blocking->sigma[i] - F[i] - blocking->g[i];
        sum += F[i] * F[i];
    }
    return sqrt(sum);
}

// interior.15: (D - I - G D) step = -F
static bool rgBlocking_Step(rgBlocking* blocking) {
    const rgKernels* kernels = blocking->point->system->kernels;
    size_t ld = (size_t)blocking->ld;
    for (int j = 0; j < blocking->n; ++j) {
        const double* D = blocking->D + 9 * (j / 3) + j % 3; // column j of its block
        const double* G = blocking->G + (size_t)(j / 3 * 3) * ld;
        double* K = blocking->K + (size_t)j * ld;
        for (int i = 0; i < blocking->n; ++i) {
            size_t r = (size_t)i;
            K[i] = -(G[r] * D[0] + G[ld + r] * D[3] + G[2 * ld + r] * D[6]);
        }
        for (int i = 0; i < 3; ++i) {
            K[j / 3 * 3 + i] += D[3 * i];
        }
        K[j] -= 1;
    }
    for (int i = 0; i < blocking->n; ++i) {
        blocking->step[i] = -blocking->F[i];
    }
    if (!kernels->lu(blocking->n, blocking->K, blocking->ld, blocking->stepPivot)) {
        return false;
    }
    kernels->luSolve(blocking->n, blocking->K, blocking->ld, blocking->stepPivot, blocking->step);
    return true;
}

// interior.15: Newton in z with a line search; z is where it got to.
static bool rgBlocking_Newton(rgBlocking* blocking, double k) {
    double error = RG_BLOCKING_TOLERANCE * sqrt(k);
    double norm = rgBlocking_Evaluate(blocking, blocking->z, k, blocking->F);
    for (int i = 0; i < RG_NEWTON_ITERATIONS && norm > error; ++i) {
        if (!rgBlocking_Step(blocking)) {
            return false;
        }
        double t = 1, next = INFINITY;
        for (; t > 1e-3; t *= 0.5) {
            for (int r = 0; r < blocking->n; ++r) {
                blocking->trial[r] = blocking->z[r] + t * blocking->step[r];
            }
            next = rgBlocking_Evaluate(blocking, blocking->trial, k, blocking->F);
            if (next < norm) {
                break;
            }
        }
        if (!(next < norm)) {
            return false;
        }
        memcpy(blocking->z, blocking->trial, (size_t)blocking->n * sizeof(double));
        norm = next;
    }
    return norm <= error;
}

// interior.15: Blocking contacts at the target mu: from the present point, from no impulses, and
// from the solution of a smoother law.
static bool rgBlocking_Solve(rgBlocking* blocking) {
    const rgInterior* point = blocking->point;
    if (!(blocking->targetMu > 0 && blocking->targetMu < INFINITY)) {
        return false; // products of absurd numbers that underflow: no smoother law is there
    }
    for (int i = 0; i < blocking->n; ++i) {
        int row = rgBlocking_Row(blocking, i);
        blocking->z[i] = point->lambda[row] - point->sigma[row];
    }
    bool solved = rgBlocking_Newton(blocking, blocking->targetMu);
    for (double k = blocking->targetMu;
         !solved && k <= 2 * RG_BLOCKING_SMOOTHING_RATIO * blocking->targetMu; k *= 100) {
        for (int i = 0; i < blocking->n; ++i) {
            blocking->z[i] = -blocking->g[i];
        }
        for (double smooth = k; smooth > 2 * blocking->targetMu; smooth *= 0.1) {
            rgBlocking_Newton(blocking, smooth);
        }
        solved = rgBlocking_Newton(blocking, blocking->targetMu);
    }
    return solved;
}

// interior.16: Direction of all others, by right-hand sides that give the blocking contacts their
// impulses.
static void rgBlocking_MoveOthers(rgBlocking* blocking) {
    rgInterior* point = blocking->point;
    rgDirection* d = &point->direction;
    const rgKernels* kernels = point->system->kernels;
    double* change = blocking->step;
    for (int i = 0; i < blocking->n; ++i) {
        int row = rgBlocking_Row(blocking, i);
        change[i] = blocking->lambda[i] - point->lambda[row] - blocking->linear[row];
    }
    kernels->luSolve(blocking->n, blocking->X, blocking->ld, blocking->pivot, change);
    memcpy(point->rhs, blocking->rhs, (size_t)point->system->n * sizeof(double));
    for (int i = 0; i < blocking->n; ++i) {
        point->rhs[rgBlocking_Row(blocking, i)] += change[i];
    }
    rgInterior_SolveDirection(point, d);
    for (int i = 0; i < blocking->n; ++i) {
        int row = rgBlocking_Row(blocking, i);
        d->lambda[row] = blocking->lambda[i] - point->lambda[row];
        d->sigma[row] = blocking->sigma[i] - point->sigma[row];
    }
    for (int i = 0; i < blocking->count; ++i) {
        const rgCone* cone = point->cones + blocking->cones[i];
        d->psi[blocking->cones[i]] =
            rgSlipBound(cone->block->mu, rgTarget(blocking->targetMu, cone->floor),
                        blocking->lambda + 3 * i, blocking->sigma + 3 * i) -
            cone->e[0];
    }
}

static void rgBlocking_Keep(rgBlocking* blocking, double stepLength) {
    if (stepLength > blocking->bestLength) {
        blocking->bestLength = stepLength;
        rgCopyDirection(blocking->point, &blocking->point->direction, &blocking->point->trial);
    }
}

// One round: contacts join, are solved, the others respond. goOn: the step may still grow.
static rgResult rgBlocking_Round(rgBlocking* blocking, bool* goOn) {
    *goOn = rgBlocking_Join(blocking, RG_BOUNDARY_RATIO);
    if (!*goOn) {
        return rg_ok;
    }
    rgResult result = rgBlocking_Reduce(blocking, goOn);
    if (result == rg_ok && *goOn) {
        *goOn = rgBlocking_Solve(blocking);
    }
    if (result == rg_ok && *goOn) {
        rgBlocking_MoveOthers(blocking);
        rgBlocking_Keep(blocking,
                        rgInterior_StepLength(blocking->point, &blocking->point->direction));
        *goOn = blocking->bestLength < RG_BOUNDARY_RATIO;
    }
    return result;
}

rgResult rgInterior_ResolveBlocking(rgInterior* point, double targetMu, double* stepLength) {
    rgArena* arena = point->system->arena;
    rgArenaMark mark = rgArena_Mark(arena);
    rgBlocking blocking;
    rgResult result = rgBlocking_Init(&blocking, point, targetMu, *stepLength);
    bool goOn = true;
    while (result == rg_ok && goOn) { // each round adds a contact, or is the last
        result = rgBlocking_Round(&blocking, &goOn);
    }
    if (result == rg_ok) {
        rgCopyDirection(point, &point->trial, &point->direction);
        *stepLength = rgInterior_StepLength(point, &point->direction);
    }
    rgArena_Return(arena, mark);
    return result;
}
