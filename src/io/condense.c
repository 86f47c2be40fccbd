// Delassus matrix J M^-1 J' from M, J. M falls apart into connected components (one per rigid body,
// or one for a mesh of finite elements); each gets a dense Cholesky factor.
#include "io/triplets.h"

#include <cblas.h>
#include <string.h>

void dpotrf_(const char* uplo, const int* n, double* a, const int* lda, int* info);

struct rgMassFactor {
    rgAllocator allocator;
    int size;
    int componentCount;
    int* component;   // component of each row of M
    int* member;      // rows sorted by component
    int* memberStart; // componentCount + 1
    int* local;       // place of each row within its component
    double** factors; // lower triangles, column by column
    double* scratch;  // size
};

static int rgFindRoot(int* parent, int i) {
    while (parent[i] != i) {
        parent[i] = parent[parent[i]];
        i = parent[i];
    }
    return i;
}

// The smallest row of each connected component becomes its root.
static void rgConnectRows(const rgSparse* mass, int* parent) {
    for (int i = 0; i < mass->rowCount; ++i) {
        parent[i] = i;
    }
    for (int i = 0; i < mass->rowCount; ++i) {
        for (int k = mass->rowStart[i]; k < mass->rowStart[i + 1]; ++k) {
            int a = rgFindRoot(parent, i);
            int b = rgFindRoot(parent, mass->column[k]);
            parent[RG_MAX(a, b)] = RG_MIN(a, b);
        }
    }
}

// Number the components in the order of their roots, and sort the rows by component.
static void rgMassFactor_Number(rgMassFactor* factor) {
    int* parent = factor->component;
    for (int i = 0; i < factor->size; ++i) {
        // Roots come before their members, so that the number of a root is already known.
        int root = rgFindRoot(parent, i);
        factor->local[i] = root == i ? factor->componentCount++ : factor->local[root];
    }
    memcpy(factor->component, factor->local, (size_t)factor->size * sizeof(int));
    for (int i = 0; i < factor->size; ++i) {
        factor->memberStart[factor->component[i] + 1] += 1;
    }
    for (int i = 0; i < factor->componentCount; ++i) {
        factor->memberStart[i + 1] += factor->memberStart[i];
    }
    for (int i = factor->size - 1; i >= 0; --i) {
        factor->member[--factor->memberStart[factor->component[i] + 1]] = i;
    }
    // Filling from the back left every start one place early.
    memmove(factor->memberStart, factor->memberStart + 1,
            (size_t)factor->componentCount * sizeof(int));
    factor->memberStart[factor->componentCount] = factor->size;
    for (int i = 0; i < factor->size; ++i) {
        factor->local[factor->member[i]] =
            i - factor->memberStart[factor->component[factor->member[i]]];
    }
}

static int rgMassFactor_ComponentSize(const rgMassFactor* factor, int c) {
    return factor->memberStart[c + 1] - factor->memberStart[c];
}

static rgResult rgMassFactor_Factorize(rgMassFactor* factor, const rgSparse* mass, int c) {
    int size = rgMassFactor_ComponentSize(factor, c);
    double* a = rgAllocate(&factor->allocator, (size_t)size * (size_t)size, sizeof(double));
    if (a == NULL) {
        return rg_errorMemory;
    }
    factor->factors[c] = a;
    for (int j = 0; j < size; ++j) {
        int row = factor->member[factor->memberStart[c] + j];
        for (int k = mass->rowStart[row]; k < mass->rowStart[row + 1]; ++k) {
            a[(size_t)j * (size_t)size + (size_t)factor->local[mass->column[k]]] = mass->value[k];
        }
    }
    int info = 0;
    dpotrf_("L", &size, a, &size, &info);
    return info == 0 ? rg_ok : rg_errorNumeric;
}

static rgResult rgMassFactor_Allocate(rgMassFactor* factor) {
    size_t size = (size_t)factor->size;
    factor->component = rgAllocate(&factor->allocator, size, sizeof(int));
    factor->member = rgAllocate(&factor->allocator, size, sizeof(int));
    factor->memberStart = rgAllocate(&factor->allocator, size + 2, sizeof(int));
    factor->local = rgAllocate(&factor->allocator, size, sizeof(int));
    factor->factors = rgAllocate(&factor->allocator, size, sizeof(double*));
    factor->scratch = rgAllocate(&factor->allocator, size, sizeof(double));
    bool failed = factor->component == NULL || factor->member == NULL ||
                  factor->memberStart == NULL || factor->local == NULL || factor->factors == NULL ||
                  factor->scratch == NULL;
    return failed ? rg_errorMemory : rg_ok;
}

rgResult rgCreateMassFactor(const rgSparse* mass, const rgAllocator* allocator,
                            rgMassFactor** factor) {
    rgMassFactor* made = rgAllocate(allocator, 1, sizeof(rgMassFactor));
    if (made == NULL) {
        return rg_errorMemory;
    }
    made->allocator = rgResolveAllocator(allocator);
    made->size = mass->rowCount;
    rgResult result = rgMassFactor_Allocate(made);
    if (result == rg_ok) {
        rgConnectRows(mass, made->component);
        rgMassFactor_Number(made);
    }
    for (int c = 0; result == rg_ok && c < made->componentCount; ++c) {
        result = rgMassFactor_Factorize(made, mass, c);
    }
    if (result != rg_ok) {
        rgDestroyMassFactor(made);
        return result;
    }
    *factor = made;
    return rg_ok;
}

void rgDestroyMassFactor(rgMassFactor* factor) {
    if (factor == NULL) {
        return;
    }
    rgAllocator allocator = factor->allocator;
    for (int c = 0; factor->factors != NULL && c < factor->componentCount; ++c) {
        rgRelease(&allocator, factor->factors[c]);
    }
    rgRelease(&allocator, factor->component);
    rgRelease(&allocator, factor->member);
    rgRelease(&allocator, factor->memberStart);
    rgRelease(&allocator, factor->local);
    rgRelease(&allocator, factor->factors);
    rgRelease(&allocator, factor->scratch);
    rgRelease(&allocator, factor);
}

void rgMassFactor_Solve(const rgMassFactor* factor, double* x) {
    for (int c = 0; c < factor->componentCount; ++c) {
        int size = rgMassFactor_ComponentSize(factor, c);
        const int* member = factor->member + factor->memberStart[c];
        for (int i = 0; i < size; ++i) {
            factor->scratch[i] = x[member[i]];
        }
        const double* L = factor->factors[c];
        cblas_dtrsv(CblasColMajor, CblasLower, CblasNoTrans, CblasNonUnit, size, L, size,
                    factor->scratch, 1);
        cblas_dtrsv(CblasColMajor, CblasLower, CblasTrans, CblasNonUnit, size, L, size,
                    factor->scratch, 1);
        for (int i = 0; i < size; ++i) {
            x[member[i]] = factor->scratch[i];
        }
    }
}

// The part of J in one component: its entries in the order of rows.
typedef struct rgJacobianPart {
    const rgTriplet* entries; // row of J, column of M
    int count;
    int rowCount; // distinct rows
} rgJacobianPart;

static int rgCountRows(const rgTriplet* entries, int count) {
    int rows = 0;
    for (int i = 0; i < count; ++i) {
        rows += i == 0 || entries[i].row != entries[i - 1].row;
    }
    return rows;
}

// J_c M_c^-1 J_c' = X' X with X = L^-1 J_c'.
static rgResult rgMassFactor_CondensePart(const rgMassFactor* factor, int c,
                                          const rgJacobianPart* part, rgTriplets* delassus) {
    int size = rgMassFactor_ComponentSize(factor, c);
    size_t rows = (size_t)part->rowCount;
    double* X = rgAllocate(&factor->allocator, rows * (size_t)size, sizeof(double));
    double* product = rgAllocate(&factor->allocator, rows * rows, sizeof(double));
    int* row = rgAllocate(&factor->allocator, rows, sizeof(int));
    rgResult result = X == NULL || product == NULL || row == NULL ? rg_errorMemory : rg_ok;
    int at = -1;
    for (int i = 0; result == rg_ok && i < part->count; ++i) {
        const rgTriplet* entry = &part->entries[i];
        at += i == 0 || entry->row != part->entries[i - 1].row;
        row[at] = entry->row;
        X[(size_t)at * (size_t)size + (size_t)factor->local[entry->column]] = entry->value;
    }
    if (result == rg_ok) {
        cblas_dtrsm(CblasColMajor, CblasLeft, CblasLower, CblasNoTrans, CblasNonUnit, size,
                    part->rowCount, 1, factor->factors[c], size, X, size);
        cblas_dsyrk(CblasColMajor, CblasUpper, CblasTrans, part->rowCount, size, 1, X, size, 0,
                    product, part->rowCount);
    }
    for (int i = 0; result == rg_ok && i < part->rowCount; ++i) {
        for (int j = 0; result == rg_ok && j < part->rowCount; ++j) {
            size_t upper = (size_t)RG_MAX(i, j) * rows + (size_t)RG_MIN(i, j);
            result = rgTriplets_Add(delassus, row[i], row[j], product[upper]);
        }
    }
    rgRelease(&factor->allocator, X);
    rgRelease(&factor->allocator, product);
    rgRelease(&factor->allocator, row);
    return result;
}

// Entries of J sorted by component of their column; within one, in the order of rows.
static void rgSortJacobian(const rgMassFactor* factor, const rgSparse* jacobian, rgTriplet* entries,
                           int* start) {
    for (int k = 0; k < jacobian->rowStart[jacobian->rowCount]; ++k) {
        start[factor->component[jacobian->column[k]] + 1] += 1;
    }
    for (int c = 0; c < factor->componentCount; ++c) {
        start[c + 1] += start[c];
    }
    for (int i = 0; i < jacobian->rowCount; ++i) {
        for (int k = jacobian->rowStart[i]; k < jacobian->rowStart[i + 1]; ++k) {
            int c = factor->component[jacobian->column[k]];
            entries[start[c]++] =
                (rgTriplet){.row = i, .column = jacobian->column[k], .value = jacobian->value[k]};
        }
    }
}

rgResult rgMassFactor_Condense(const rgMassFactor* factor, const rgSparse* jacobian,
                               rgTriplets* delassus) {
    size_t count = (size_t)jacobian->rowStart[jacobian->rowCount];
    rgTriplet* entries = rgAllocate(&factor->allocator, count, sizeof(rgTriplet));
    int* end = rgAllocate(&factor->allocator, (size_t)factor->componentCount + 1, sizeof(int));
    rgResult result = entries == NULL || end == NULL ? rg_errorMemory : rg_ok;
    if (result == rg_ok) {
        rgSortJacobian(factor, jacobian, entries, end); // leaves the end of each component
    }
    for (int c = 0; result == rg_ok && c < factor->componentCount; ++c) {
        int first = c > 0 ? end[c - 1] : 0;
        rgJacobianPart part = {.entries = entries + first, .count = end[c] - first};
        part.rowCount = rgCountRows(part.entries, part.count);
        if (part.count > 0) {
            result = rgMassFactor_CondensePart(factor, c, &part, delassus);
        }
    }
    rgRelease(&factor->allocator, entries);
    rgRelease(&factor->allocator, end);
    return result;
}
