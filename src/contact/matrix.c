// Dense and block-sparse matrices behind one face.
#include "contact/matrix.h"

#include "contact/layout.h"

#include <string.h>

// Pairs sorted by column and then, stably, by row: each block row is ascending.
static rgResult rgMatrix_FindPattern(rgMatrix* matrix, const rgCoupling* coupling, rgArena* arena) {
    int blocks = matrix->blockCount, count = coupling->count + blocks;
    int* row = RG_TAKE(arena, int, count);
    int* column = RG_TAKE(arena, int, count);
    int* byColumn = RG_TAKE(arena, int, count);
    int* rowByColumn = RG_TAKE(arena, int, count);
    int* order = RG_TAKE(arena, int, count);
    int* place = RG_TAKE(arena, int, count);
    int* start = RG_TAKE(arena, int, blocks + 1);
    matrix->rowStart = RG_TAKE(arena, int, blocks + 1);
    if (arena->failed) {
        return rg_errorMemory;
    }
    for (int k = 0; k < count; ++k) {
        row[k] = k < blocks ? k : coupling->row[k - blocks];
        column[k] = k < blocks ? k : coupling->column[k - blocks];
    }
    rgGroup(count, column, blocks, start, byColumn, place);
    for (int k = 0; k < count; ++k) {
        rowByColumn[k] = row[byColumn[k]];
    }
    rgGroup(count, rowByColumn, blocks, start, order, place);
    matrix->column = place; // no longer needed
    int entries = 0;
    for (int i = 0; i < blocks; ++i) {
        matrix->rowStart[i] = entries;
        for (int k = start[i]; k < start[i + 1]; ++k) {
            int j = column[byColumn[order[k]]];
            if (entries == matrix->rowStart[i] || matrix->column[entries - 1] != j) {
                matrix->column[entries++] = j;
            }
        }
    }
    matrix->rowStart[blocks] = entries;
    return rg_ok;
}

static int rgMatrix_Size(const rgMatrix* matrix, int block) {
    return matrix->blockStart[block + 1] - matrix->blockStart[block];
}

static rgResult rgMatrix_AllocateValues(rgMatrix* matrix, rgArena* arena) {
    if (matrix->dense) {
        matrix->values = RG_TAKE(arena, double, (size_t)matrix->ld*(size_t)matrix->n);
        matrix->pivot = RG_TAKE(arena, int, matrix->n);
        return arena->failed ? rg_errorMemory : rg_ok;
    }
    matrix->blocks = RG_TAKE(arena, double*, matrix->rowStart[matrix->blockCount]);
    double* next = RG_TAKE(arena, double, matrix->entryCount);
    if (arena->failed) {
        return rg_errorMemory;
    }
    for (int i = 0; i < matrix->blockCount; ++i) {
        for (int k = matrix->rowStart[i]; k < matrix->rowStart[i + 1]; ++k) {
            matrix->blocks[k] = next;
            next += rgMatrix_Size(matrix, i) * rgMatrix_Size(matrix, matrix->column[k]);
        }
    }
    return rg_ok;
}

static rgResult rgMatrix_Analyse(rgMatrix* matrix) {
    for (int i = 0; i < matrix->blockCount; ++i) {
        for (int k = matrix->rowStart[i]; k < matrix->rowStart[i + 1]; ++k) {
            matrix->entryCount +=
                (size_t)(rgMatrix_Size(matrix, i) * rgMatrix_Size(matrix, matrix->column[k]));
        }
    }
    rgBlockPattern pattern = {.blockCount = matrix->blockCount,
                              .blockStart = matrix->blockStart,
                              .rowStart = matrix->rowStart,
                              .column = matrix->column};
    return rgBlockFactor_Analyse(matrix->factor, &pattern);
}

void rgMatrix_Resize(rgMatrix* matrix, int n) {
    matrix->n = n;
    matrix->ld = rgLeadingDimension(n);
    matrix->entryCount = (size_t)n * (size_t)n;
}

rgResult rgMatrix_Init(rgMatrix* matrix, const rgCoupling* coupling, const rgKernels* kernels,
                       rgBlockFactor* factor, rgArena* arena) {
    int n = coupling->blockStart[coupling->blockCount];
    *matrix = (rgMatrix){.kernels = kernels,
                         .n = n,
                         .blockCount = coupling->blockCount,
                         .blockStart = coupling->blockStart,
                         .dense = coupling->count < 0,
                         .factor = factor};
    if (matrix->dense) {
        rgMatrix_Resize(matrix, n);
        return rgMatrix_AllocateValues(matrix, arena);
    }
    rgResult result = rgMatrix_FindPattern(matrix, coupling, arena);
    if (result == rg_ok) {
        result = rgMatrix_Analyse(matrix);
    }
    return result == rg_ok ? rgMatrix_AllocateValues(matrix, arena) : result;
}

rgResult rgMatrix_InitLike(rgMatrix* matrix, const rgMatrix* other, rgArena* arena) {
    *matrix = *other;
    return rgMatrix_AllocateValues(matrix, arena);
}

void rgMatrix_SetDiagonal(rgMatrix* matrix, double value) {
    size_t ld = (size_t)matrix->ld, n = (size_t)matrix->n;
    if (matrix->dense) {
        memset(matrix->values, 0, ld * n * sizeof(double));
        for (size_t i = 0; i < n && value != 0; ++i) {
            matrix->values[i * (ld + 1)] = value;
        }
        return;
    }
    if (matrix->entryCount > 0) {
        memset(matrix->blocks[0], 0, matrix->entryCount * sizeof(double));
    }
    for (int b = 0; b < matrix->blockCount && value != 0; ++b) {
        int rowStep, columnStep;
        double* block = rgMatrix_Block(matrix, b, b, &rowStep, &columnStep);
        for (int i = 0; i < rgMatrix_Size(matrix, b); ++i) {
            block[i * (rowStep + 1)] = value;
        }
    }
}

double* rgMatrix_Block(const rgMatrix* matrix, int i, int j, int* rowStep, int* columnStep) {
    if (matrix->dense) {
        *rowStep = 1;
        *columnStep = matrix->ld;
        return matrix->values + (size_t)matrix->blockStart[j] * (size_t)matrix->ld +
               (size_t)matrix->blockStart[i];
    }
    *rowStep = rgMatrix_Size(matrix, j);
    *columnStep = 1;
    int low = matrix->rowStart[i], high = matrix->rowStart[i + 1] - 1;
    while (low < high) {
        int middle = (low + high) / 2;
        if (matrix->column[middle] < j) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return matrix->blocks[low];
}

// y = A x of one block row
static void rgMatrix_ApplyRow(const rgMatrix* matrix, int i, const double* x, double* y) {
    int rows = rgMatrix_Size(matrix, i);
    memset(y, 0, (size_t)rows * sizeof(double));
    for (int k = matrix->rowStart[i]; k < matrix->rowStart[i + 1]; ++k) {
        int columns = rgMatrix_Size(matrix, matrix->column[k]);
        const double* block = matrix->blocks[k];
        const double* own = x + matrix->blockStart[matrix->column[k]];
        if (rows == 3 && columns == 3) {
            y[0] += block[0] * own[0] + block[1] * own[1] + block[2] * own[2];
            y[1] += block[3] * own[0] + block[4] * own[1] + block[5] * own[2];
            y[2] += block[6] * own[0] + block[7] * own[1] + block[8] * own[2];
        } else {
            matrix->kernels->dotRows(rows, columns, block, own, y);
        }
    }
}

void rgMatrix_Apply(const rgMatrix* matrix, const double* x, double* y) {
    if (matrix->dense) {
        matrix->kernels->multiply(matrix->n, matrix->n, matrix->values, matrix->ld, x, y);
        return;
    }
    for (int i = 0; i < matrix->blockCount; ++i) {
        rgMatrix_ApplyRow(matrix, i, x, y + matrix->blockStart[i]);
    }
}

void rgMatrix_AddColumns(const rgMatrix* matrix, int i, const double* x, double* y) {
    int size = rgMatrix_Size(matrix, i);
    if (matrix->dense) {
        for (int k = 0; k < size; ++k) {
            size_t column = (size_t)matrix->blockStart[i] + (size_t)k;
            matrix->kernels->axpy(matrix->n, x[k], matrix->values + column * (size_t)matrix->ld, y);
        }
        return;
    }
    for (int k = matrix->rowStart[i]; k < matrix->rowStart[i + 1]; ++k) { // row i, transposed
        int j = matrix->column[k];
        matrix->kernels->combineRows(size, rgMatrix_Size(matrix, j), x, matrix->blocks[k],
                                     y + matrix->blockStart[j]);
    }
}

void rgMatrix_Mirror(rgMatrix* matrix, int first, int end) {
    size_t ld = (size_t)matrix->ld;
    for (int j = first; j < end; ++j) {
        for (int i = j + 1; i < end; ++i) {
            matrix->values[(size_t)i * ld + (size_t)j] = matrix->values[(size_t)j * ld + (size_t)i];
        }
    }
}

static void rgMatrix_ScaleDense(rgMatrix* matrix, const double* s, double factor) {
    size_t ld = (size_t)matrix->ld;
    for (int j = 0; j < matrix->n; ++j) {
        double *column = matrix->values + (size_t)j * ld, *row = matrix->values + j;
        double own = factor * s[j];
        column[j] *= own * s[j];
        for (int i = j + 1; i < matrix->n; ++i) {
            double value = column[i] * (own * s[i]);
            column[i] = value;
            row[(size_t)i * ld] = value;
        }
    }
}

void rgMatrix_Scale(rgMatrix* matrix, const double* s, double factor) {
    if (matrix->dense) {
        rgMatrix_ScaleDense(matrix, s, factor);
        return;
    }
    for (int i = 0; i < matrix->blockCount; ++i) {
        const double* row = s + matrix->blockStart[i];
        for (int k = matrix->rowStart[i]; k < matrix->rowStart[i + 1]; ++k) {
            const double* column = s + matrix->blockStart[matrix->column[k]];
            int columns = rgMatrix_Size(matrix, matrix->column[k]);
            for (int r = 0; r < rgMatrix_Size(matrix, i); ++r) {
                for (int c = 0; c < columns; ++c) {
                    matrix->blocks[k][r * columns + c] *= factor * row[r] * column[c];
                }
            }
        }
    }
}

static void rgMatrix_Shift(rgMatrix* matrix, double shift) {
    for (int i = 0; i < matrix->n && shift != 0; ++i) {
        matrix->values[(size_t)i * (size_t)(matrix->ld + 1)] += shift;
    }
}

rgResult rgMatrix_Cholesky(rgMatrix* matrix, double shift) {
    matrix->symmetric = true;
    if (!matrix->dense) {
        return rgBlockFactor_Cholesky(matrix->factor, (const double* const*)matrix->blocks, shift);
    }
    rgMatrix_Shift(matrix, shift);
    bool done = matrix->kernels->cholesky(matrix->n, matrix->values, matrix->ld);
    return done ? rg_ok : rg_errorNumeric;
}

rgResult rgMatrix_Lu(rgMatrix* matrix, double shift) {
    matrix->symmetric = false;
    if (!matrix->dense) {
        return rgBlockFactor_Lu(matrix->factor, (const double* const*)matrix->blocks, shift);
    }
    rgMatrix_Shift(matrix, shift);
    bool done = matrix->kernels->lu(matrix->n, matrix->values, matrix->ld, matrix->pivot);
    return done ? rg_ok : rg_errorNumeric;
}

void rgMatrix_Solve(const rgMatrix* matrix, double* x) {
    const rgKernels* kernels = matrix->kernels;
    if (!matrix->dense) {
        rgBlockFactor_Solve(matrix->factor, x);
    } else if (matrix->symmetric) {
        kernels->choleskySolve(matrix->n, matrix->values, matrix->ld, x);
    } else {
        kernels->luSolve(matrix->n, matrix->values, matrix->ld, matrix->pivot, x);
    }
}

void rgMatrix_SolveSome(const rgMatrix* matrix, const bool* chosen, int count, double* x, int ldx) {
    if (!matrix->dense) {
        rgBlockFactor_SolveSome(matrix->factor, chosen, count, x, ldx);
        return;
    }
    for (int k = 0; k < count; ++k) {
        rgMatrix_Solve(matrix, x + (size_t)k * (size_t)ldx);
    }
}
