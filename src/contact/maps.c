// Alart-Curnier and projection maps with their derivatives, the residual, and the projection of a
// whole vector. newton.1-6.
#include "contact/maps.h"
#include "contact/tuning.h"

#include "contact/cones.h"

#include <math.h>
#include <string.h>

void rgRowBounds(const rgSystemBlock* block, double normal, double* low, double* high) {
    *low = -INFINITY;
    *high = INFINITY;
    if (block->kind == rg_blockHalfLine) {
        *low = 0;
    } else if (block->kind == rg_blockBox) {
        *low = block->lower;
        *high = block->upper;
    } else if (block->kind == rg_blockCoulomb) {
        *high = block->torsion * normal;
        *low = -*high;
    }
}

// Rows of a block before its rolling rows, which share a disc.
static int rgSystemBlock_RowsAlone(const rgSystemBlock* block) {
    return block->kind == rg_blockCoulomb ? RG_MIN(block->size, 4) : block->size;
}

// x - P(x - r y) on a disc, or on a polygon around it
static void rgMapDisc(int sides, double radius, double r, const double* lambda, const double* sigma,
                      double* F) {
    double x[2] = {lambda[0] - r * sigma[0], lambda[1] - r * sigma[1]};
    rgProjectFriction(sides, radius, x);
    F[0] = lambda[0] - x[0];
    F[1] = lambda[1] - x[1];
}

// newton.1, normal: lambda_n - max(0, lambda_n - r sigma_n); newton.2, tangential: projection on
// the disc mu p_n
static double rgMapContact(const rgSystemBlock* block, int sides, double r, const double* lambda,
                           const double* sigma, double* F) {
    double normal = lambda[2] - r * sigma[2];
    normal = normal > 0 ? normal : 0;
    rgMapDisc(sides, block->mu * normal, r, lambda, sigma, F);
    F[2] = lambda[2] - normal;
    return normal;
}

// newton.5, the relaxed model: lambda - P_K(lambda - sigma)
static double rgMapConvexContact(const rgSystemBlock* block, const double* lambda,
                                 const double* sigma, double* F) {
    double x[3];
    for (int i = 0; i < 3; ++i) {
        x[i] = lambda[i] - sigma[i];
    }
    rgProjectCone(block->mu, x);
    for (int i = 0; i < 3; ++i) {
        F[i] = lambda[i] - x[i];
    }
    return x[2];
}

static void rgMapBlock(const rgSystemBlock* block, rgContactModel model, const double* lambda,
                       const double* sigma, double* F) {
    int row = 0;
    double normal = 0;
    if (block->kind == rg_blockCoulomb) {
        normal = model == rg_modelNcp ? rgMapContact(block, 0, 1, lambda, sigma, F)
                                      : rgMapConvexContact(block, lambda, sigma, F);
        row = 3;
    }
    for (; row < rgSystemBlock_RowsAlone(block); ++row) {
        double low, high;
        rgRowBounds(block, normal, &low, &high);
        bool open = block->kind == rg_blockFree;
        F[row] = open ? sigma[row] : lambda[row] - rgClamp(lambda[row] - sigma[row], low, high);
    }
    if (row < block->size) {
        rgMapDisc(0, block->rolling * normal, 1, lambda + row, sigma + row, F + row);
    }
}

void rgSystem_MapBlock(const rgSystem* system, int block, const double* lambda, const double* sigma,
                       double* F) {
    rgMapBlock(system->blocks + block, system->model, lambda, sigma, F);
}

// Vectors of a loop over blocks.
typedef struct rgVectors {
    const rgSystem* system;
    const double *lambda, *sigma;
    double* F;
    double *A, *B;
    rgJacobianKind* kinds;
} rgVectors;

static void rgMapRange(int first, int end, int worker, void* context) {
    (void)worker;
    const rgVectors* v = context;
    for (int i = first; i < end; ++i) {
        const rgSystemBlock* block = v->system->blocks + i;
        rgMapBlock(block, v->system->model, v->lambda + block->row, v->sigma + block->row,
                   v->F + block->row);
    }
}

double rgSystem_Map(const rgSystem* system, const double* lambda, const double* sigma, double* F) {
    rgVectors vectors = {.system = system, .lambda = lambda, .sigma = sigma, .F = F};
    rgSystem_Spread(system, system->blockCount, rgMapRange, &vectors);
    double sum = 0;
    for (int i = 0; i < system->n; ++i) {
        sum += F[i] * F[i];
    }
    return sqrt(sum);
}

// newton.3, newton.4: Two rows on a disc of radius mu p_n: stick, B = I, or slip along t, where the
// projection turns and grows with p_n. row is the first of them within the block.
static rgJacobianKind rgLinearizeDisc(const rgSystemBlock* block, int row, double mu, double normal,
                                      const double* lambda, const double* sigma, double* A,
                                      double* B) {
    int m = block->size;
    double x = lambda[row] - sigma[row];
    double y = lambda[row + 1] - sigma[row + 1];
    double length = sqrt(x * x + y * y);
    double reach = mu * normal;
    A += row * m;
    B += row * m;
    if (reach > 0 && length <= reach) {
        B[row] = B[m + row + 1] = 1;
        return rg_jacobianRows;
    }
    double t[2] = {length > 0 ? x / length : 0, length > 0 ? y / length : 0};
    double k = length > 0 ? reach / length : 0;
    for (int i = 0; i < 2; ++i) {
        for (int j = 0; j < 2; ++j) {
            double P = k * ((i == j) - t[i] * t[j]);
            A[i * m + row + j] = (i == j) - P;
            B[i * m + row + j] = P;
        }
        A[i * m + 2] = normal > 0 ? -mu * t[i] : 0;
        B[i * m + 2] = normal > 0 ? mu * t[i] : 0;
    }
    bool slips = mu > RG_ZERO_RATIO && k > RG_ZERO_RATIO;
    return mu == 0 ? rg_jacobianRows : slips ? rg_jacobianSlip : rg_jacobianWhole;
}

// newton.3, open: A = I
static double rgLinearizeContact(const rgSystemBlock* block, const double* lambda,
                                 const double* sigma, double* A, double* B, rgJacobianKind* kind) {
    int m = block->size;
    double normal = lambda[2] - sigma[2];
    if (!(normal > 0)) {
        A[0] = A[m + 1] = A[2 * m + 2] = 1;
        *kind = rg_jacobianIdle;
        return 0;
    }
    B[2 * m + 2] = 1;
    *kind = rgLinearizeDisc(block, 0, block->mu, normal, lambda, sigma, A, B);
    return normal;
}

// newton.6: A = I - D, B = D with D the derivative of the projection on the cone
static double rgLinearizeConvexContact(const rgSystemBlock* block, const double* lambda,
                                       const double* sigma, double* A, double* B) {
    int m = block->size;
    double x = lambda[0] - sigma[0];
    double y = lambda[1] - sigma[1];
    double n = lambda[2] - sigma[2];
    double length = sqrt(x * x + y * y);
    double mu = block->mu;
    bool inside = length <= mu * n && n > 0;
    bool tip = mu * length <= -n && !inside;
    double a = inside ? n : tip ? 0 : (mu * length + n) / (1 + mu * mu);
    double D[9] = {inside, 0, 0, 0, inside, 0, 0, 0, inside};
    if (!inside && !tip) {
        double t[2] = {length > 0 ? x / length : 0, length > 0 ? y / length : 0};
        double q[3] = {mu * t[0], mu * t[1], 1};
        double k = length > 0 ? mu * a / length : 0;
        for (int i = 0; i < 3; ++i) {
            for (int j = 0; j < 3; ++j) {
                D[3 * i + j] = q[i] * q[j] / (1 + mu * mu);
                if (i < 2 && j < 2) {
                    D[3 * i + j] += k * ((i == j) - t[i] * t[j]);
                }
            }
        }
    }
    for (int i = 0; i < 3; ++i) {
        for (int j = 0; j < 3; ++j) {
            A[i * m + j] = (i == j) - D[3 * i + j];
            B[i * m + j] = D[3 * i + j];
        }
    }
    return a;
}

// Structure of Jacobian blocks that were linearized row by row.
static rgJacobianKind rgJacobianKindOf(int m, const double* A, const double* B) {
    bool idle = true, rows = true;
    for (int i = 0; i < m; ++i) {
        for (int j = 0; j < m; ++j) {
            idle = idle && B[i * m + j] == 0;
            rows = rows && (i == j || (A[i * m + j] == 0 && B[i * m + j] == 0));
        }
        rows = rows && (B[i * m + i] != 0 || A[i * m + i] == 1);
    }
    return !rows ? rg_jacobianWhole : idle ? rg_jacobianIdle : rg_jacobianRows;
}

rgJacobianKind rgLinearizeBlock(const rgSystemBlock* block, rgContactModel model,
                                const double* lambda, const double* sigma, double* A, double* B) {
    int m = block->size;
    int row = 0;
    double normal = 0;
    if (block->kind == rg_blockCoulomb) {
        rgJacobianKind kind = rg_jacobianWhole;
        normal = model == rg_modelNcp ? rgLinearizeContact(block, lambda, sigma, A, B, &kind)
                                      : rgLinearizeConvexContact(block, lambda, sigma, A, B);
        row = 3;
        if (m == 3 && model == rg_modelNcp) {
            return kind;
        }
    }
    for (; row < rgSystemBlock_RowsAlone(block); ++row) {
        double low, high;
        rgRowBounds(block, normal, &low, &high);
        double x = lambda[row] - sigma[row];
        if (block->kind == rg_blockFree || (x > low && x < high)) {
            B[row * m + row] = 1;
            continue;
        }
        A[row * m + row] = 1;
        if (block->kind == rg_blockCoulomb && normal > 0) {
            double side = x >= high ? 1 : -1;
            A[row * m + 2] = -side * block->torsion;
            B[row * m + 2] = side * block->torsion;
        }
    }
    if (row < m) {
        rgLinearizeDisc(block, row, block->rolling, normal, lambda, sigma, A, B);
    }
    return rgJacobianKindOf(m, A, B);
}

static void rgLinearizeRange(int first, int end, int worker, void* context) {
    (void)worker;
    const rgVectors* v = context;
    for (int i = first; i < end; ++i) {
        const rgSystemBlock* block = v->system->blocks + i;
        size_t bytes = (size_t)(block->size * block->size) * sizeof(double);
        memset(v->A + block->entryStart, 0, bytes);
        memset(v->B + block->entryStart, 0, bytes);
        v->kinds[i] =
            rgLinearizeBlock(block, v->system->model, v->lambda + block->row, v->sigma + block->row,
                             v->A + block->entryStart, v->B + block->entryStart);
    }
}

void rgSystem_Linearize(const rgSystem* system, const double* lambda, const double* sigma,
                        double* A, double* B, rgJacobianKind* kinds) {
    rgVectors vectors = {
        .system = system, .lambda = lambda, .sigma = sigma, .A = A, .B = B, .kinds = kinds};
    rgSystem_Spread(system, system->blockCount, rgLinearizeRange, &vectors);
}

void rgSystem_Shift(const rgSystem* system, const double* sigma, double* shifted) {
    memcpy(shifted, sigma, (size_t)system->n * sizeof(double));
    for (int i = 0; i < system->blockCount && system->model == rg_modelNcp; ++i) {
        const rgSystemBlock* block = system->blocks + i;
        if (block->kind == rg_blockCoulomb) {
            double* u = shifted + block->row;
            u[2] += block->mu * sqrt(u[0] * u[0] + u[1] * u[1]);
        }
    }
}

// Length of lambda - P(lambda - m u), or for rows that nothing moves (m = 0) of its limit over m,
// in which bounds do not matter.
static double rgContactError(const rgSystemBlock* block, rgContactModel model, double mass,
                             const double* l, const double* sigma) {
    int sides = rgModelSides(model);
    if (sides > 0 || (model == rg_modelNcp && block->mu > RG_STEEP_FRICTION)) {
        static const double zero[3] = {0, 0, 0};
        double F[3];
        rgMapContact(block, sides, mass > 0 ? mass : 1, mass > 0 ? l : zero, sigma, F);
        return sqrt(F[0] * F[0] + F[1] * F[1] + F[2] * F[2]);
    }
    double u[3] = {sigma[0], sigma[1], sigma[2]};
    if (model == rg_modelNcp) {
        u[2] += block->mu * sqrt(u[0] * u[0] + u[1] * u[1]);
    }
    double kept = mass > 0, x[3];
    for (int i = 0; i < 3; ++i) {
        x[i] = mass > 0 ? l[i] - mass * u[i] : -u[i];
    }
    rgProjectCone(block->mu, x);
    double a = kept * l[0] - x[0], b = kept * l[1] - x[1], c = kept * l[2] - x[2];
    return sqrt(a * a + b * b + c * c);
}

static double rgRowError(const rgSystemBlock* block, double mass, double normal, double lambda,
                         double sigma) {
    if (block->kind == rg_blockFree) {
        return fabs(sigma) * (mass > 0 ? mass : 1);
    }
    double low, high;
    rgRowBounds(block, normal, &low, &high);
    if (mass > 0) {
        return fabs(lambda - rgClamp(lambda - mass * sigma, low, high));
    }
    bool free = sigma < 0 ? high == INFINITY : low == -INFINITY;
    return free ? fabs(sigma) : 0;
}

static double rgDiscError(int sides, double radius, double mass, const double* lambda,
                          const double* sigma) {
    double F[2];
    rgMapDisc(sides, radius, mass, lambda, sigma, F);
    return sqrt(F[0] * F[0] + F[1] * F[1]);
}

static double rgSystem_BlockResidual(const rgSystem* system, int i, const double* lambda,
                                     const double* sigma) {
    const rgSystemBlock* block = system->blocks + i;
    const double* l = lambda + block->row;
    const double* s = sigma + block->row;
    const double* mass = system->mass + block->row;
    const double* weight = system->weight + block->row;
    bool contact = block->kind == rg_blockCoulomb;
    int row = contact ? 3 : 0;
    double normal = contact ? l[2] : 0;
    double value = contact ? weight[0] * rgContactError(block, system->model, mass[0], l, s) : 0;
    for (; row < rgSystemBlock_RowsAlone(block); ++row) {
        value = RG_MAX(value, weight[row] * rgRowError(block, mass[row], normal, l[row], s[row]));
    }
    if (row < block->size) {
        double error = rgDiscError(rgModelSides(system->model), block->rolling * normal, mass[row],
                                   l + row, s + row);
        value = RG_MAX(value, weight[row] * error);
    }
    return value;
}

// Residuals of blocks, the largest of each range in F at its first block.
static void rgResidualRange(int first, int end, int worker, void* context) {
    (void)worker;
    const rgVectors* v = context;
    double worst = 0;
    for (int i = first; i < end; ++i) {
        double value = rgSystem_BlockResidual(v->system, i, v->lambda, v->sigma);
        if (!(value <= worst)) {
            worst = value; // also when it is not a number
        }
    }
    v->F[first / RG_BLOCKS_PER_TASK] = worst;
}

double rgSystem_Residual(const rgSystem* system, const double* lambda, const double* sigma) {
    double worst = 0;
    rgVectors vectors = {
        .system = system, .lambda = lambda, .sigma = sigma, .F = system->rangeResidual};
    if (system->tasks.run == NULL) {
        vectors.F = &worst;
    }
    rgSystem_Spread(system, system->blockCount, rgResidualRange, &vectors);
    for (int i = 0; system->tasks.run != NULL && i * RG_BLOCKS_PER_TASK < system->blockCount; ++i) {
        if (!(system->rangeResidual[i] <= worst)) {
            worst = system->rangeResidual[i];
        }
    }
    return worst;
}

// The three rows of a contact: the cone, or under a polygon the normal first.
static void rgProjectContact(const rgSystemBlock* block, int sides, double* x) {
    if (sides == 0) {
        rgProjectCone(block->mu, x);
    } else {
        x[2] = x[2] > 0 ? x[2] : 0;
        rgProjectFriction(sides, block->mu * x[2], x);
    }
}

void rgSystem_Project(const rgSystem* system, double* lambda) {
    int sides = rgModelSides(system->model);
    for (int i = 0; i < system->blockCount; ++i) {
        const rgSystemBlock* block = system->blocks + i;
        double* x = lambda + block->row;
        int row = 0;
        if (block->kind == rg_blockCoulomb) {
            rgProjectContact(block, sides, x);
            row = 3;
        }
        for (; row < rgSystemBlock_RowsAlone(block); ++row) {
            double low, high;
            rgRowBounds(block, row >= 3 ? x[2] : 0, &low, &high);
            x[row] = rgClamp(x[row], low, high);
        }
        if (row < block->size) {
            rgProjectFriction(sides, block->rolling * x[2], x + row);
        }
    }
}
