// Operator of the judge, by arithmetic of its own: (G + R) lambda + g and the diagonal of
// G. In velocity form from M and J; W, a solver's convenience, is believed only where M is not
// given.
#include "contact/judge.h"
#include "math/triple.h"

#include <math.h>
#include <string.h>

// L L' = M on one part; false when M is not positive definite.
static bool rgFactorPart(int n, double* L) {
    for (int i = 0; i < n; ++i) {
        for (int j = 0; j <= i; ++j) {
            double sum = L[i * n + j];
            for (int k = 0; k < j; ++k) {
                sum -= L[i * n + k] * L[j * n + k];
            }
            if (i == j) {
                if (!(sum > 0)) {
                    return false;
                }
                L[i * n + i] = 1 / sqrt(sum);
            } else {
                L[i * n + j] = sum * L[j * n + j];
            }
        }
    }
    return true;
}

static void rgSolveLower(int n, const double* L, double* x) {
    for (int i = 0; i < n; ++i) {
        double sum = x[i];
        for (int k = 0; k < i; ++k) {
            sum -= L[i * n + k] * x[k];
        }
        x[i] = sum * L[i * n + i];
    }
}

// Forward substitution of three vectors at once, interleaved with a zero behind each triple.
static void rgSolveLowerThree(int n, const double* L, double* x) {
    for (int i = 0; i < n; ++i) {
        double* own = x + 4 * i;
        rgTwo a = rgLoadTwo(own), b = rgLoadTwo(own + 2);
        for (int k = 0; k < i; ++k) {
            a -= L[i * n + k] * rgLoadTwo(x + 4 * k);
            b -= L[i * n + k] * rgLoadTwo(x + 4 * k + 2);
        }
        rgStoreTwo(own, L[i * n + i] * a);
        rgStoreTwo(own + 2, L[i * n + i] * b);
    }
}

static void rgSolvePart(int n, const double* L, double* x) {
    rgSolveLower(n, L, x);
    for (int i = n - 1; i >= 0; --i) {
        for (int k = i + 1; k < n; ++k) {
            x[i] -= L[k * n + i] * x[k];
        }
        x[i] *= L[i * n + i];
    }
}

rgResult rgJudge_Prepare(rgJudgeWork* work) {
    const rgSparse* M = &work->problem->delassus.mass;
    const rgLayout* layout = work->layout;
    if (work->problem->delassus.kind != rg_delassusVelocity || M->value == NULL) {
        return rg_ok;
    }
    work->factors = RG_TAKE(work->arena, double*, layout->partCount);
    work->lastRow = RG_TAKE(work->arena, int, layout->partCount);
    work->scratch = RG_TAKE(work->arena, double, 4 * (size_t)M->rowCount);
    if (work->arena->failed) {
        return rg_errorMemory;
    }
    for (int p = 0; p < layout->partCount; ++p) {
        int size = layout->partSize[p];
        size_t numbers = (size_t)size * (size_t)size;
        double* L = RG_TAKE(work->arena, double, numbers);
        if (L == NULL) {
            return rg_errorMemory;
        }
        memset(L, 0, numbers * sizeof(double));
        for (int a = 0; a < size; ++a) {
            int row = layout->partVelocities[layout->partStart[p] + a];
            for (int k = M->rowStart[row]; k < M->rowStart[row + 1]; ++k) {
                L[a * size + layout->placeInPart[M->column[k]]] = M->value[k];
            }
        }
        work->factors[p] = L;
        work->lastRow[p] = -1;
        if (!rgFactorPart(size, L)) {
            return rg_errorNumeric;
        }
    }
    return rg_ok;
}

// x = M^-1 x for the full velocity vector.
static void rgSolveMass(rgJudgeWork* work, double* x) {
    const rgLayout* layout = work->layout;
    for (int p = 0; p < layout->partCount; ++p) {
        const int* columns = layout->partVelocities + layout->partStart[p];
        for (int i = 0; i < layout->partSize[p]; ++i) {
            work->scratch[i] = x[columns[i]];
        }
        rgSolvePart(layout->partSize[p], work->factors[p], work->scratch);
        for (int i = 0; i < layout->partSize[p]; ++i) {
            x[columns[i]] = work->scratch[i];
        }
    }
}

// J_k M^-1 J_k' = |L^-1 J_k'|^2 for `count` rows over the same columns, one or three: half a small
// solve per part that they touch.
static void rgVelocityDiagonal(rgJudgeWork* work, int row, int count, double* diagonal) {
    const rgLayout* layout = work->layout;
    const rgSparse* J = &work->problem->delassus.jacobian;
    int begin = J->rowStart[row], end = J->rowStart[row + 1], width = count == 3 ? 4 : 1;
    memset(diagonal, 0, (size_t)count * sizeof(double));
    for (int k = begin; k < end; ++k) {
        int p = layout->partOfVelocity[J->column[k]], size = layout->partSize[p];
        if (work->lastRow[p] == row) {
            continue; // this part was done with an earlier entry
        }
        work->lastRow[p] = row;
        memset(work->scratch, 0, (size_t)(width * size) * sizeof(double));
        for (int j = k; j < end; ++j) {
            double* own = work->scratch + width * layout->placeInPart[J->column[j]];
            for (int r = 0; r < count && layout->partOfVelocity[J->column[j]] == p; ++r) {
                own[r] = J->value[r * (end - begin) + j];
            }
        }
        if (count == 3) {
            rgSolveLowerThree(size, work->factors[p], work->scratch);
        } else {
            rgSolveLower(size, work->factors[p], work->scratch);
        }
        for (int j = 0; j < size; ++j) {
            const double* own = work->scratch + width * j;
            for (int r = 0; r < count; ++r) {
                diagonal[r] += own[r] * own[r];
            }
        }
    }
}

static double rgMatrixDiagonal(const rgContactProblem* problem, int row) {
    rgGivenRow given = rgContactProblem_Row(problem, row);
    for (int k = given.column == NULL ? given.start + row : given.start; k < given.end; ++k) {
        if (rgGivenRow_Column(&given, k) == row) {
            return given.value[k];
        }
    }
    return 0;
}

// sigma += G lambda for G in contact space
static void rgAddMatrix(const rgContactProblem* problem, const double* lambda, double* sigma) {
    for (int i = 0; i < problem->rowCount; ++i) {
        rgGivenRow row = rgContactProblem_Row(problem, i);
        double sum = 0;
        for (int k = row.start; k < row.end; ++k) {
            sum += row.value[k] * lambda[rgGivenRow_Column(&row, k)];
        }
        sigma[i] += sum;
    }
}

// v = J' lambda, or W' lambda. alike: rows that begin three over the same columns.
static void rgPushVelocities(const rgSparse* J, const double* value, const double* lambda,
                             double* v, bool* alike) {
    memset(v, 0, (size_t)J->columnCount * sizeof(double));
    for (int i = 0; i < J->rowCount; ++i) {
        int begin = J->rowStart[i], end = J->rowStart[i + 1];
        alike[i] = rgRowsAreAlike(J, i);
        if (alike[i]) {
            rgPushTriple(end - begin, J->column + begin, value + begin, lambda + i, v);
            i += 2;
            continue;
        }
        for (int k = begin; k < end; ++k) {
            v[J->column[k]] += value[k] * lambda[i];
        }
    }
}

// sigma += J v, or W v
static void rgReadVelocities(const rgSparse* J, const double* value, const double* v,
                             const bool* alike, double* sigma) {
    for (int i = 0; i < J->rowCount; ++i) {
        int begin = J->rowStart[i], end = J->rowStart[i + 1];
        double sum[3] = {0};
        if (alike[i]) {
            rgDotTriple(end - begin, J->column + begin, value + begin, v, sum);
            sigma[i] += sum[0], sigma[i + 1] += sum[1], sigma[i + 2] += sum[2];
            i += 2;
            continue;
        }
        for (int k = begin; k < end; ++k) {
            sum[0] += value[k] * v[J->column[k]];
        }
        sigma[i] += sum[0];
    }
}

// sigma += J M^-1 J' lambda, or W W' lambda
static rgResult rgAddVelocities(rgJudgeWork* work, const double* lambda, double* sigma,
                                double* diagonal) {
    const rgDelassus* delassus = &work->problem->delassus;
    const rgSparse* J = &delassus->jacobian;
    bool byMass = work->factors != NULL;
    const double* value = byMass ? J->value : delassus->whitened;
    double* v = RG_TAKE(work->arena, double, J->columnCount);
    bool* alike = RG_TAKE(work->arena, bool, J->rowCount);
    if (work->arena->failed) {
        return rg_errorMemory;
    }
    rgPushVelocities(J, value, lambda, v, alike);
    if (byMass) {
        rgSolveMass(work, v);
    }
    rgReadVelocities(J, value, v, alike, sigma);
    for (int i = 0, count = 0; diagonal != NULL && i < J->rowCount; i += count) {
        int begin = J->rowStart[i], columns = J->rowStart[i + 1] - begin;
        count = alike[i] ? 3 : 1;
        if (byMass) {
            rgVelocityDiagonal(work, i, count, diagonal + i);
        } else if (alike[i]) {
            rgSquareTriple(columns, value + begin, diagonal + i);
        } else {
            diagonal[i] = rgSquareOf(columns, value + begin);
        }
    }
    return rg_ok;
}

rgResult rgJudge_Velocity(rgJudgeWork* work, const double* lambda, double* sigma,
                          double* diagonal) {
    const rgContactProblem* problem = work->problem;
    for (int i = 0; i < problem->rowCount; ++i) {
        double R = problem->compliance != NULL ? problem->compliance[i] : 0;
        sigma[i] = problem->freeVelocity[i] + R * lambda[i];
    }
    if (problem->delassus.kind == rg_delassusVelocity) {
        return rgAddVelocities(work, lambda, sigma, diagonal);
    }
    rgAddMatrix(problem, lambda, sigma);
    for (int i = 0; diagonal != NULL && i < problem->rowCount; ++i) {
        diagonal[i] = rgMatrixDiagonal(problem, i);
    }
    return rg_ok;
}
