// The group `rigor`: problems with blocks that FCLIB does not know (half lines, boxes, torsion and
// rolling), in the row order of rigor.
#include "io/fclib.h"

#include <math.h>

enum { rg_parameterCount = 5 }; // mu, muTorsion, muRolling, lower, upper

static void rgCheckBlock(rgH5* h5, const rgBlock* block, int index) {
    bool coulomb = block->kind == rg_blockCoulomb;
    bool rows = coulomb ? block->rowCount == 3 || block->rowCount == 4 || block->rowCount == 6
                        : block->rowCount > 0;
    if (block->kind < rg_blockFree || block->kind > rg_blockCoulomb || !rows) {
        rgH5_Fail(h5, rg_errorFormat, "rigor/block_kind[%d] is %d with %d rows", index,
                  (int)block->kind, block->rowCount);
    } else if (coulomb && !(block->mu >= 0 && block->muTorsion >= 0 && block->muRolling >= 0 &&
                            isfinite(block->mu + block->muTorsion + block->muRolling))) {
        rgH5_Fail(h5, rg_errorFormat,
                  "rigor/block_parameters: block %d has friction %g, %g, %g; friction is finite "
                  "and cannot be negative",
                  index, block->mu, block->muTorsion, block->muRolling);
    } else if (block->kind == rg_blockBox && !(block->lower <= block->upper)) {
        rgH5_Fail(h5, rg_errorFormat, "rigor/block_parameters: block %d has bounds %g > %g", index,
                  block->lower, block->upper);
    }
}

static void rgReadBlocks(rgH5* h5, rgFclibProblem* problem) {
    int64_t count = rgH5_Count(h5, "rigor/block_kind");
    int* kinds = rgH5_ReadInts(h5, "rigor/block_kind", RG_H5_ANY);
    int* rows = rgH5_ReadInts(h5, "rigor/block_rows", count);
    double* parameters = rgH5_ReadNumbers(h5, "rigor/block_parameters", rg_parameterCount * count);
    if (h5->result == rg_ok) {
        problem->problem.blockCount = (int)count;
        problem->blocks = rgAllocate(&h5->allocator, (size_t)count, sizeof(rgBlock));
        rgH5_Check(h5, problem->blocks != NULL ? rg_ok : rg_errorMemory, "the blocks");
    }
    int64_t firstRow = 0;
    for (int i = 0; h5->result == rg_ok && i < count; ++i) {
        const double* p = parameters + (size_t)i * rg_parameterCount;
        problem->blocks[i] = (rgBlock){.kind = (rgBlockKind)kinds[i],
                                       .firstRow = (int)firstRow,
                                       .rowCount = rows[i],
                                       .mu = p[0],
                                       .muTorsion = p[1],
                                       .muRolling = p[2],
                                       .lower = p[3],
                                       .upper = p[4]};
        rgCheckBlock(h5, &problem->blocks[i], i);
        problem->info.contactCount += kinds[i] == rg_blockCoulomb;
        firstRow += rows[i];
        if (firstRow > INT32_MAX / 2) {
            rgH5_Fail(h5, rg_errorFormat, "rigor/block_rows add up to too many rows");
        }
    }
    problem->problem.rowCount = (int)firstRow;
    rgRelease(&h5->allocator, kinds);
    rgRelease(&h5->allocator, rows);
    rgRelease(&h5->allocator, parameters);
}

static void rgReadSymmetric(rgH5* h5, rgFclibProblem* problem, const char* group, int size,
                            rgOwnedSparse* matrix) {
    rgTriplets entries = {.allocator = h5->allocator};
    int rows = size;
    int columns = size;
    rgReadFclibMatrix(h5, group, &rows, &columns, &entries);
    if (rows != columns) {
        rgH5_Fail(h5, rg_errorFormat, "%s is %d x %d, not square", group, rows, columns);
    }
    if (h5->result == rg_ok) {
        double* asymmetry = &problem->info.asymmetry;
        rgH5_Check(h5, rgTriplets_CompressSymmetric(&entries, rows, matrix, asymmetry), group);
        rgWarnAsymmetry(h5, group, *asymmetry);
    }
    rgTriplets_Free(&entries);
}

static void rgReadOperator(rgH5* h5, rgFclibProblem* problem) {
    int rowCount = problem->problem.rowCount;
    if (!rgH5_Has(h5, "rigor/M")) {
        rgReadSymmetric(h5, problem, "rigor/G", rowCount, &problem->sparse);
        return;
    }
    rgReadSymmetric(h5, problem, "rigor/M", RG_H5_ANY, &problem->mass);
    int nv = problem->mass.rowCount;
    problem->info.velocityCount = nv;
    rgTriplets entries = {.allocator = h5->allocator};
    rgReadFclibMatrix(h5, "rigor/J", &rowCount, &nv, &entries);
    if (h5->result == rg_ok) {
        rgH5_Check(h5, rgTriplets_Compress(&entries, rowCount, nv, &problem->jacobian), "rigor/J");
    }
    rgTriplets_Free(&entries);
}

void rgReadExtended(rgH5* h5, rgFclibProblem* problem) {
    rgReadBlocks(h5, problem);
    int rowCount = problem->problem.rowCount;
    problem->freeVelocity = rgH5_ReadNumbers(h5, "rigor/g", rowCount);
    rgH5_CheckFinite(h5, "rigor/g", problem->freeVelocity, rowCount);
    if (rgH5_Has(h5, "rigor/compliance")) {
        problem->compliance = rgH5_ReadNumbers(h5, "rigor/compliance", rowCount);
        rgH5_CheckFinite(h5, "rigor/compliance", problem->compliance, rowCount);
    }
    for (int i = 0; h5->result == rg_ok && problem->compliance != NULL && i < rowCount; ++i) {
        if (problem->compliance[i] < 0) {
            rgH5_Fail(h5, rg_errorFormat, "rigor/compliance[%d] is %g; it cannot be negative", i,
                      problem->compliance[i]);
        }
    }
    if (h5->result == rg_ok) {
        rgReadOperator(h5, problem);
    }
}

static void rgWriteBlocks(rgH5* h5, const rgContactProblem* problem) {
    size_t count = (size_t)problem->blockCount;
    int* numbers = rgAllocate(&h5->allocator, 2 * count, sizeof(int));
    double* parameters = rgAllocate(&h5->allocator, count * rg_parameterCount, sizeof(double));
    rgH5_Check(h5, numbers != NULL && parameters != NULL ? rg_ok : rg_errorMemory, "the blocks");
    for (size_t i = 0; h5->result == rg_ok && i < count; ++i) {
        const rgBlock* block = &problem->blocks[i];
        numbers[i] = (int)block->kind;
        numbers[count + i] = block->rowCount;
        const double values[rg_parameterCount] = {block->mu, block->muTorsion, block->muRolling,
                                                  block->lower, block->upper};
        for (size_t k = 0; k < rg_parameterCount; ++k) {
            parameters[i * rg_parameterCount + k] = values[k];
        }
    }
    rgH5_WriteInts(h5, "rigor/block_kind", numbers, problem->blockCount);
    rgH5_WriteInts(h5, "rigor/block_rows", numbers != NULL ? numbers + count : NULL,
                   problem->blockCount);
    rgH5_WriteNumbers(h5, "rigor/block_parameters", parameters,
                      rg_parameterCount * (int64_t)problem->blockCount);
    rgRelease(&h5->allocator, numbers);
    rgRelease(&h5->allocator, parameters);
}

static void rgWriteSparse(rgH5* h5, const char* group, const rgSparse* matrix) {
    rgTriplets entries = {.allocator = h5->allocator};
    for (int i = 0; h5->result == rg_ok && i < matrix->rowCount; ++i) {
        for (int k = matrix->rowStart[i]; h5->result == rg_ok && k < matrix->rowStart[i + 1]; ++k) {
            rgH5_Check(h5, rgTriplets_Add(&entries, i, matrix->column[k], matrix->value[k]), group);
        }
    }
    rgWriteFclibMatrix(h5, group, &entries, matrix->rowCount, matrix->columnCount);
    rgTriplets_Free(&entries);
}

static void rgWriteDense(rgH5* h5, const char* group, const double* matrix, int n) {
    rgTriplets entries = {.allocator = h5->allocator};
    for (int i = 0; h5->result == rg_ok && i < n; ++i) {
        for (int j = 0; h5->result == rg_ok && j < n; ++j) {
            double value = matrix[(size_t)i * (size_t)n + (size_t)j];
            if (value != 0) {
                rgH5_Check(h5, rgTriplets_Add(&entries, i, j, value), group);
            }
        }
    }
    rgWriteFclibMatrix(h5, group, &entries, n, n);
    rgTriplets_Free(&entries);
}

void rgWriteExtended(rgH5* h5, const rgContactProblem* problem) {
    rgH5_MakeGroup(h5, "rigor");
    rgWriteBlocks(h5, problem);
    rgH5_WriteNumbers(h5, "rigor/g", problem->freeVelocity, problem->rowCount);
    if (problem->compliance != NULL) {
        rgH5_WriteNumbers(h5, "rigor/compliance", problem->compliance, problem->rowCount);
    }
    const rgDelassus* delassus = &problem->delassus;
    switch (delassus->kind) {
    case rg_delassusDense:
        rgWriteDense(h5, "rigor/G", delassus->matrix, problem->rowCount);
        break;
    case rg_delassusSparse:
        rgWriteSparse(h5, "rigor/G", &delassus->sparse);
        break;
    case rg_delassusVelocity:
        rgWriteSparse(h5, "rigor/M", &delassus->mass);
        rgWriteSparse(h5, "rigor/J", &delassus->jacobian);
        break;
    }
}
