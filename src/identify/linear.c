// Jacobi's eigenvalue method and Cholesky's factorization.
#include "identify/linear.h"

#include <math.h>
#include <stddef.h>

// ---- eigenvalues

static void rgMix(double* a, double* b, double c, double s) {
    double x = *a, y = *b;
    *a = c * x - s * y;
    *b = s * x + c * y;
}

// Rotate p and q so that A_pq vanishes.
static void rgRotatePair(int n, double* A, double* V, int p, int q) {
    double theta = (A[q * n + q] - A[p * n + p]) / (2 * A[p * n + q]);
    double t = (theta >= 0 ? 1 : -1) / (fabs(theta) + sqrt(1 + theta * theta));
    double c = 1 / sqrt(1 + t * t), s = t * c;
    for (int k = 0; k < n; ++k) {
        rgMix(&A[k * n + p], &A[k * n + q], c, s);
        rgMix(&V[k * n + p], &V[k * n + q], c, s);
    }
    for (int k = 0; k < n; ++k) {
        rgMix(&A[p * n + k], &A[q * n + k], c, s);
    }
}

static double rgOffDiagonal(int n, const double* A) {
    double sum = 0;
    for (int p = 0; p < n; ++p) {
        for (int q = 0; q < p; ++q) {
            sum += A[p * n + q] * A[p * n + q];
        }
    }
    return sum;
}

static void rgSortColumns(int n, double* values, double* V) {
    for (int j = 0; j < n; ++j) {
        int best = j;
        for (int k = j + 1; k < n; ++k) {
            best = values[k] > values[best] ? k : best;
        }
        double value = values[j];
        values[j] = values[best];
        values[best] = value;
        for (int k = 0; k < n && best != j; ++k) {
            rgMix(&V[k * n + j], &V[k * n + best], 0, -1);
        }
    }
}

void rgSymmetricEigen(int n, double* A, double* values, double* V) {
    double trace = 0;
    for (int i = 0; i < n; ++i) {
        trace += fabs(A[i * n + i]);
        for (int j = 0; j < n; ++j) {
            V[i * n + j] = i == j;
        }
    }
    for (int sweep = 0; sweep < 60 && rgOffDiagonal(n, A) > 1e-32 * trace * trace; ++sweep) {
        for (int p = 0; p < n; ++p) {
            for (int q = p + 1; q < n; ++q) {
                if (A[p * n + q] != 0) {
                    rgRotatePair(n, A, V, p, q);
                }
            }
        }
    }
    for (int i = 0; i < n; ++i) {
        values[i] = A[i * n + i];
    }
    rgSortColumns(n, values, V);
}

// ---- Cholesky

bool rgCholesky(int n, double* A) {
    for (int j = 0; j < n; ++j) {
        for (int i = j; i < n; ++i) {
            double sum = A[i * n + j];
            for (int k = 0; k < j; ++k) {
                sum -= A[i * n + k] * A[j * n + k];
            }
            if (i == j && !(sum > 0)) {
                return false;
            }
            A[i * n + j] = i == j ? sqrt(sum) : sum / A[j * n + j];
        }
    }
    return true;
}

void rgCholeskySolve(int n, const double* L, double* x) {
    for (int i = 0; i < n; ++i) {
        for (int k = 0; k < i; ++k) {
            x[i] -= L[i * n + k] * x[k];
        }
        x[i] /= L[i * n + i];
    }
    for (int i = n - 1; i >= 0; --i) {
        for (int k = i + 1; k < n; ++k) {
            x[i] -= L[k * n + i] * x[k];
        }
        x[i] /= L[i * n + i];
    }
}

// ---- least squares

static double rgWeightedDot(int size, int per, const double* weights, const double* x,
                            const double* y) {
    double sum = 0;
    for (int j = 0; j < size; ++j) {
        sum += (weights != NULL ? weights[j / per] : 1) * x[j] * y[j];
    }
    return sum;
}

void rgNormalEquations(int n, int size, int per, const double* columns, const double* weights,
                       const double* errors, double* full, double* half) {
    for (int a = 0; a < n; ++a) {
        const double* x = columns + (size_t)a * (size_t)size;
        for (int b = 0; b <= a; ++b) {
            const double* y = columns + (size_t)b * (size_t)size;
            full[a * n + b] = full[b * n + a] = rgWeightedDot(size, per, weights, x, y);
        }
        half[a] = rgWeightedDot(size, per, weights, x, errors);
    }
}
