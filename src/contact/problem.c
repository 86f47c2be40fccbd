// Checks of a contact problem, and the velocity for given impulses.
#include "contact/problem.h"

#include <math.h>
#include <stdio.h>

// Note why the problem is refused; false, so that checks can return it.
__attribute__((format(printf, 2, 3))) static bool rgRefuse(rgDiagnostics* diagnostics,
                                                           const char* format, ...) {
    char text[256];
    va_list arguments;
    va_start(arguments, format);
    rgPrintList(text, sizeof(text), format, arguments);
    va_end(arguments);
    rgDiagnostics_Add(diagnostics, rg_severityError, NULL, 0, "%s", text);
    return false;
}

static bool rgCheckNumbers(rgDiagnostics* diagnostics, const char* what, int count,
                           const double* numbers) {
    // A sum is not finite when any term is not; only then look for the culprit. Eight sums, since
    // one would wait for itself.
    double sums[8] = {0};
    int blocks = count / 8 * 8;
    for (int i = 0; i < blocks; i += 8) {
        for (int k = 0; k < 8; ++k) {
            sums[k] += numbers[i + k] * 0;
        }
    }
    for (int i = blocks; i < count; ++i) {
        sums[i % 8] += numbers[i] * 0;
    }
    double sum = 0;
    for (int k = 0; k < 8; ++k) {
        sum += sums[k];
    }
    if (sum == 0) {
        return true;
    }
    for (int i = 0; i < count; ++i) {
        if (!isfinite(numbers[i])) {
            return rgRefuse(diagnostics, "%s[%d] is %g", what, i, numbers[i]);
        }
    }
    return true;
}

// Counted without branches: columns out of range, and descents, which only new rows may begin with.
static bool rgColumnsAreOrdered(const rgSparse* sparse) {
    const int* column = sparse->column;
    int entries = sparse->rowStart[sparse->rowCount], outside = 0, descents = 0;
    for (int k = 0; k < entries; ++k) {
        outside += (column[k] < 0) | (column[k] >= sparse->columnCount);
    }
    for (int k = 1; k < entries; ++k) {
        descents += column[k] <= column[k - 1];
    }
    for (int i = 1; i < sparse->rowCount; ++i) {
        int k = sparse->rowStart[i];
        bool begins = k > sparse->rowStart[i - 1] && k < entries; // empty rows begin nothing
        descents -= begins && column[k] <= column[k - 1];
    }
    return outside == 0 && descents == 0;
}

static bool rgRefuseColumn(rgDiagnostics* diagnostics, const char* what, const rgSparse* sparse) {
    for (int i = 0; i < sparse->rowCount; ++i) {
        int begin = sparse->rowStart[i];
        for (int k = begin; k < sparse->rowStart[i + 1]; ++k) {
            int j = sparse->column[k];
            if (j < 0 || j >= sparse->columnCount || (k > begin && j <= sparse->column[k - 1])) {
                return rgRefuse(diagnostics, "%s: row %d has column %d out of range or order", what,
                                i, j);
            }
        }
    }
    return false;
}

static bool rgCheckSparse(rgDiagnostics* diagnostics, const char* what, const rgSparse* sparse) {
    if (sparse->rowCount < 0 || sparse->columnCount < 0 || sparse->rowStart == NULL ||
        sparse->rowStart[0] != 0) {
        return rgRefuse(diagnostics, "%s has no valid row index", what);
    }
    // All of the index before any entry: only its last number says how many entries there are.
    for (int i = 0; i < sparse->rowCount; ++i) {
        if (sparse->rowStart[i + 1] < sparse->rowStart[i]) {
            return rgRefuse(diagnostics, "%s: row %d ends before it starts", what, i);
        }
    }
    if (sparse->rowStart[sparse->rowCount] > 0 &&
        (sparse->column == NULL || sparse->value == NULL)) {
        return rgRefuse(diagnostics, "%s has no columns or no values", what);
    }
    if (!rgColumnsAreOrdered(sparse)) {
        return rgRefuseColumn(diagnostics, what, sparse);
    }
    return rgCheckNumbers(diagnostics, what, sparse->rowStart[sparse->rowCount], sparse->value);
}

static bool rgCheckBlock(rgDiagnostics* diagnostics, const rgBlock* block, int index, int row) {
    if (block->firstRow != row || block->rowCount < 1) {
        return rgRefuse(diagnostics, "block %d starts at row %d with %d rows; expected row %d",
                        index, block->firstRow, block->rowCount, row);
    }
    switch (block->kind) {
    case rg_blockFree:
    case rg_blockHalfLine:
        return true;
    case rg_blockBox:
        if (!(block->lower <= block->upper) || block->lower == INFINITY ||
            block->upper == -INFINITY) {
            return rgRefuse(diagnostics, "block %d: bounds %g and %g are crossed or infinite",
                            index, block->lower, block->upper);
        }
        return true;
    case rg_blockCoulomb:
        if (block->rowCount != 3 && block->rowCount != 4 && block->rowCount != 6) {
            return rgRefuse(diagnostics, "block %d: a contact has 3, 4 or 6 rows, not %d", index,
                            block->rowCount);
        }
        if (!(block->mu >= 0 && block->mu < INFINITY) ||
            (block->rowCount > 3 && !(block->muTorsion >= 0 && block->muTorsion < INFINITY)) ||
            (block->rowCount > 4 && !(block->muRolling >= 0 && block->muRolling < INFINITY))) {
            return rgRefuse(diagnostics, "block %d: friction %g, %g, %g is negative or not finite",
                            index, block->mu, block->muTorsion, block->muRolling);
        }
        return true;
    }
    return rgRefuse(diagnostics, "block %d: kind %d does not exist", index, (int)block->kind);
}

static bool rgCheckVelocities(rgDiagnostics* diagnostics, const rgDelassus* delassus, int n) {
    if (delassus->jacobian.rowCount != n || delassus->mass.rowCount != delassus->mass.columnCount ||
        delassus->mass.rowCount != delassus->jacobian.columnCount) {
        return rgRefuse(diagnostics, "M is %d x %d and J %d x %d, the problem has %d rows",
                        delassus->mass.rowCount, delassus->mass.columnCount,
                        delassus->jacobian.rowCount, delassus->jacobian.columnCount, n);
    }
    bool rootOnly =
        delassus->mass.value == NULL && delassus->whitened != NULL && delassus->tree != NULL;
    if ((!rootOnly && !rgCheckSparse(diagnostics, "M", &delassus->mass)) ||
        !rgCheckSparse(diagnostics, "J", &delassus->jacobian)) {
        return false;
    }
    if (delassus->tree != NULL && delassus->whitened == NULL) {
        return rgRefuse(diagnostics, "trees come with W only");
    }
    int last = -1;
    for (int i = 0; delassus->tree != NULL && i < delassus->mass.rowCount; ++i) {
        if (delassus->tree[i] != last && delassus->tree[i] != last + 1) {
            return rgRefuse(diagnostics, "tree[%d] is %d after %d", i, delassus->tree[i], last);
        }
        last = delassus->tree[i];
    }
    return delassus->whitened == NULL ||
           rgCheckNumbers(diagnostics, "W", delassus->jacobian.rowStart[n], delassus->whitened);
}

static bool rgCheckDelassus(rgDiagnostics* diagnostics, const rgDelassus* delassus, int n) {
    switch (delassus->kind) {
    case rg_delassusDense:
        if (n > 0 && delassus->matrix == NULL) {
            return rgRefuse(diagnostics, "the Delassus matrix is missing");
        }
        return rgCheckNumbers(diagnostics, "G", n * n, delassus->matrix);
    case rg_delassusSparse:
        if (delassus->sparse.rowCount != n || delassus->sparse.columnCount != n) {
            return rgRefuse(diagnostics, "G is %d x %d, the problem has %d rows",
                            delassus->sparse.rowCount, delassus->sparse.columnCount, n);
        }
        return rgCheckSparse(diagnostics, "G", &delassus->sparse);
    case rg_delassusVelocity:
        return rgCheckVelocities(diagnostics, delassus, n);
    }
    return rgRefuse(diagnostics, "kind %d of Delassus operator does not exist",
                    (int)delassus->kind);
}

rgResult rgCheckBlocks(int rowCount, int blockCount, const rgBlock* blocks,
                       rgDiagnostics* diagnostics) {
    if (rowCount < 0 || blockCount < 0 || (blockCount > 0 && blocks == NULL)) {
        rgRefuse(diagnostics, "the problem lacks blocks");
        return rg_errorArgument;
    }
    int row = 0;
    for (int i = 0; i < blockCount; ++i) {
        const rgBlock* block = blocks + i;
        if (!rgCheckBlock(diagnostics, block, i, row)) {
            return rg_errorArgument;
        }
        if (block->rowCount > rowCount - row) {
            rgRefuse(diagnostics, "block %d ends at row %lld, the problem has %d rows", i,
                     (long long)row + block->rowCount, rowCount);
            return rg_errorArgument;
        }
        row += block->rowCount;
    }
    if (row != rowCount) {
        rgRefuse(diagnostics, "blocks cover %d rows, the problem has %d", row, rowCount);
        return rg_errorArgument;
    }
    return rg_ok;
}

rgResult rgContactProblem_Check(const rgContactProblem* problem, rgDiagnostics* diagnostics) {
    if (problem == NULL || (problem->rowCount > 0 && problem->freeVelocity == NULL)) {
        rgRefuse(diagnostics, "the problem lacks a free velocity");
        return rg_errorArgument;
    }
    int n = problem->rowCount;
    rgResult result = rgCheckBlocks(n, problem->blockCount, problem->blocks, diagnostics);
    if (result != rg_ok) {
        return result;
    }
    if (n > 46340 && problem->delassus.kind == rg_delassusDense) {
        rgRefuse(diagnostics, "%d rows are too many for a dense matrix", n);
        return rg_errorArgument;
    }
    if (!rgCheckNumbers(diagnostics, "g", n, problem->freeVelocity) ||
        !rgCheckDelassus(diagnostics, &problem->delassus, n)) {
        return rg_errorArgument;
    }
    if (!(problem->referenceVelocity >= 0 && problem->referenceVelocity < INFINITY)) {
        rgRefuse(diagnostics, "the reference velocity is %g", problem->referenceVelocity);
        return rg_errorArgument;
    }
    for (int i = 0; problem->rowLength != NULL && i < n; ++i) {
        if (!(problem->rowLength[i] > 0 && problem->rowLength[i] < INFINITY)) {
            rgRefuse(diagnostics, "the length of row %d is %g; it must be positive", i,
                     problem->rowLength[i]);
            return rg_errorArgument;
        }
    }
    for (int i = 0; problem->compliance != NULL && i < n; ++i) {
        if (!(problem->compliance[i] >= 0 && problem->compliance[i] < INFINITY)) {
            rgRefuse(diagnostics, "R[%d] is %g; compliance is finite and not negative", i,
                     problem->compliance[i]);
            return rg_errorArgument;
        }
    }
    return rg_ok;
}

bool rgContactProblem_IsBuilt(const rgContactProblem* problem) {
#ifdef NDEBUG
    const rgDelassus* G = &problem->delassus;
    int n = problem->rowCount;
    return rgCheckNumbers(NULL, "g", n, problem->freeVelocity) &&
           rgCheckNumbers(NULL, "R", n, problem->compliance) &&
           rgCheckNumbers(NULL, "W", G->jacobian.rowStart[n], G->whitened) &&
           (G->mass.value == NULL ||
            rgCheckNumbers(NULL, "M", G->mass.rowStart[G->mass.rowCount], G->mass.value));
#else
    return rgContactProblem_Check(problem, NULL) == rg_ok;
#endif
}
