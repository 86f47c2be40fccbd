// Alart-Curnier and projection maps with their derivatives, the residual, and the projection of a
// whole vector. docs/theory/newton.md (1)-(6).
#include "contact/maps.h"

#include "contact/cones.h"

#include <math.h>
#include <string.h>

static void rgRowBounds(const rgSet* set, int k, double normal, double* low, double* high) {
    *low = -INFINITY;
    *high = INFINITY;
    if (set->kind == rg_blockHalfLine) {
        *low = 0;
    } else if (set->kind == rg_blockBox) {
        *low = set->lower;
        *high = set->upper;
    } else if (set->kind == rg_blockCoulomb) {
        *high = set->bound[k - 3] * normal;
        *low = -*high;
    }
}

// (1) normal: lambda_n - max(0, lambda_n - r sigma_n); (2) tangential: projection on the disc mu
// p_n
static double rgMapContact(const rgSet* set, double r, const double* lambda, const double* sigma,
                           double* F) {
    double normal = lambda[2] - r * sigma[2];
    normal = normal > 0 ? normal : 0;
    double x = lambda[0] - r * sigma[0];
    double y = lambda[1] - r * sigma[1];
    double reach = set->mu * normal;
    double length = sqrt(x * x + y * y);
    double k = length > reach ? reach / length : 1;
    F[0] = lambda[0] - k * x;
    F[1] = lambda[1] - k * y;
    F[2] = lambda[2] - normal;
    return normal;
}

// (5) the relaxed model: lambda - P_K(lambda - r sigma)
static double rgMapConvexContact(const rgSet* set, double r, const double* lambda,
                                 const double* sigma, double* F) {
    double x[3];
    for (int i = 0; i < 3; ++i) {
        x[i] = lambda[i] - r * sigma[i];
    }
    rgProjectCone(set->mu, x);
    for (int i = 0; i < 3; ++i) {
        F[i] = lambda[i] - x[i];
    }
    return x[2];
}

static void rgMapSet(const rgSet* set, rgContactModel model, double r, const double* lambda,
                     const double* sigma, double* F) {
    int row = 0;
    double normal = 0;
    if (set->kind == rg_blockCoulomb) {
        normal = model == rg_modelNcp ? rgMapContact(set, r, lambda, sigma, F)
                                      : rgMapConvexContact(set, r, lambda, sigma, F);
        row = 3;
    }
    for (; row < set->size; ++row) {
        double low, high;
        rgRowBounds(set, row, normal, &low, &high);
        bool open = set->kind == rg_blockFree;
        F[row] =
            open ? r * sigma[row] : lambda[row] - rgClamp(lambda[row] - r * sigma[row], low, high);
    }
}

double rgSystem_Map(const rgSystem* system, double r, const double* lambda, const double* sigma,
                    double* F) {
    for (int i = 0; i < system->setCount; ++i) {
        const rgSet* set = system->sets + i;
        rgMapSet(set, system->model, r, lambda + set->row, sigma + set->row, F + set->row);
    }
    double sum = 0;
    for (int i = 0; i < system->n; ++i) {
        sum += F[i] * F[i];
    }
    return sqrt(sum);
}

// (3), (4) open: A = I; stick: B = r I; slip along t: the disc's projection turns and grows with
// p_n
static double rgLinearizeContact(const rgSet* set, double r, const double* lambda,
                                 const double* sigma, double* A, double* B) {
    int m = set->size;
    double normal = lambda[2] - r * sigma[2];
    if (!(normal > 0)) {
        A[0] = A[m + 1] = A[2 * m + 2] = 1;
        return 0;
    }
    B[2 * m + 2] = r;
    double x = lambda[0] - r * sigma[0];
    double y = lambda[1] - r * sigma[1];
    double length = sqrt(x * x + y * y);
    double reach = set->mu * normal;
    if (reach > 0 && length <= reach) {
        B[0] = B[m + 1] = r;
        return normal;
    }
    double t[2] = {length > 0 ? x / length : 0, length > 0 ? y / length : 0};
    double k = length > 0 ? reach / length : 0;
    for (int i = 0; i < 2; ++i) {
        for (int j = 0; j < 2; ++j) {
            double P = k * ((i == j) - t[i] * t[j]);
            A[i * m + j] = (i == j) - P;
            B[i * m + j] = r * P;
        }
        A[i * m + 2] = -set->mu * t[i];
        B[i * m + 2] = r * set->mu * t[i];
    }
    return normal;
}

// (6) A = I - D, B = r D with D the derivative of the projection on the cone
static double rgLinearizeConvexContact(const rgSet* set, double r, const double* lambda,
                                       const double* sigma, double* A, double* B) {
    int m = set->size;
    double x = lambda[0] - r * sigma[0];
    double y = lambda[1] - r * sigma[1];
    double n = lambda[2] - r * sigma[2];
    double length = sqrt(x * x + y * y);
    double mu = set->mu;
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
            B[i * m + j] = r * D[3 * i + j];
        }
    }
    return a;
}

void rgLinearizeSet(const rgSet* set, rgContactModel model, double r, const double* lambda,
                    const double* sigma, double* A, double* B) {
    int m = set->size;
    int row = 0;
    double normal = 0;
    if (set->kind == rg_blockCoulomb) {
        normal = model == rg_modelNcp ? rgLinearizeContact(set, r, lambda, sigma, A, B)
                                      : rgLinearizeConvexContact(set, r, lambda, sigma, A, B);
        row = 3;
    }
    for (; row < m; ++row) {
        double low, high;
        rgRowBounds(set, row, normal, &low, &high);
        double x = lambda[row] - r * sigma[row];
        if (set->kind == rg_blockFree || (x > low && x < high)) {
            B[row * m + row] = r;
            continue;
        }
        A[row * m + row] = 1;
        if (set->kind == rg_blockCoulomb && normal > 0) {
            double side = x >= high ? 1 : -1;
            A[row * m + 2] = -side * set->bound[row - 3];
            B[row * m + 2] = r * side * set->bound[row - 3];
        }
    }
}

void rgSystem_Linearize(const rgSystem* system, double r, const double* lambda, const double* sigma,
                        double* A, double* B, bool* idle) {
    memset(A, 0, (size_t)system->pairCount * sizeof(double));
    memset(B, 0, (size_t)system->pairCount * sizeof(double));
    for (int i = 0; i < system->setCount; ++i) {
        const rgSet* set = system->sets + i;
        rgLinearizeSet(set, system->model, r, lambda + set->row, sigma + set->row,
                       A + set->pairStart, B + set->pairStart);
        idle[i] = true;
        for (int k = 0; k < set->size * set->size && idle[i]; ++k) {
            idle[i] = B[set->pairStart + k] == 0;
        }
    }
}

void rgSystem_Shift(const rgSystem* system, const double* sigma, double* shifted) {
    memcpy(shifted, sigma, (size_t)system->n * sizeof(double));
    for (int i = 0; i < system->setCount && system->model == rg_modelNcp; ++i) {
        const rgSet* set = system->sets + i;
        if (set->kind == rg_blockCoulomb) {
            double* u = shifted + set->row;
            u[2] += set->mu * sqrt(u[0] * u[0] + u[1] * u[1]);
        }
    }
}

static double rgRowResidual(const rgSet* set, double lambda, double sigma, double low,
                            double high) {
    if (set->kind == rg_blockFree) {
        return fabs(sigma);
    }
    if (set->kind == rg_blockHalfLine) {
        return RG_MAX(-sigma, fabs(lambda * sigma));
    }
    return fabs(lambda - rgClamp(lambda - sigma, low, high));
}

static double rgContactResidual(const rgSet* set, rgContactModel model, const double* l,
                                const double* sigma) {
    double u[3] = {sigma[0], sigma[1], sigma[2]};
    if (model == rg_modelNcp) {
        u[2] += set->mu * sqrt(u[0] * u[0] + u[1] * u[1]);
    }
    double comp = fabs(l[0] * u[0] + l[1] * u[1] + l[2] * u[2]);
    double p[3] = {u[0], u[1], u[2]};
    rgProjectDualCone(set->mu, p);
    double dual = RG_MAX(RG_MAX(fabs(u[0] - p[0]), fabs(u[1] - p[1])), fabs(u[2] - p[2]));
    return RG_MAX(comp, dual);
}

double rgSystem_SetResidual(const rgSystem* system, int i, const double* lambda,
                            const double* sigma) {
    const rgSet* set = system->sets + i;
    double l[RG_SET_MAX], s[RG_SET_MAX];
    double a[RG_SET_MAX];
    for (int k = 0; k < set->size; ++k) {
        a[k] = system->toJudge != NULL ? system->toJudge[set->row + k] : 1;
        l[k] = a[k] * lambda[set->row + k];
        s[k] = sigma[set->row + k];
        s[k] *= system->fromJudge != NULL ? system->fromJudge[set->row + k] : 1;
    }
    int row = 0;
    double value = 0;
    if (set->kind == rg_blockCoulomb) {
        value = rgContactResidual(set, system->model, l, s);
        row = 3;
    }
    for (; row < set->size; ++row) {
        double low, high;
        rgRowBounds(set, row, lambda[set->row + (row >= 3 ? 2 : 0)], &low, &high);
        value = RG_MAX(value, rgRowResidual(set, l[row], s[row], a[row] * low, a[row] * high));
    }
    return value;
}

double rgSystem_Residual(const rgSystem* system, const double* lambda, const double* sigma) {
    double worst = 0;
    for (int i = 0; i < system->setCount; ++i) {
        double value = rgSystem_SetResidual(system, i, lambda, sigma);
        if (!(value <= worst)) {
            worst = value; // also when it is not a number
        }
    }
    return worst;
}

void rgSystem_Project(const rgSystem* system, double* lambda) {
    for (int i = 0; i < system->setCount; ++i) {
        const rgSet* set = system->sets + i;
        double* x = lambda + set->row;
        int row = 0;
        if (set->kind == rg_blockCoulomb) {
            rgProjectCone(set->mu, x);
            row = 3;
        }
        for (; row < set->size; ++row) {
            double low, high;
            rgRowBounds(set, row, row >= 3 ? x[2] : 0, &low, &high);
            x[row] = rgClamp(x[row], low, high);
        }
    }
}
