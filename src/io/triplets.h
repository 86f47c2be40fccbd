// Sparse matrices on their way from and to files, and the condensation of a global problem.
#pragma once
#include "base/base.h"
#include "rigor/contact.h"

typedef struct rgTriplet {
    int row, column;
    double value;
} rgTriplet;

// Entries in any order; those at the same place add up.
typedef struct rgTriplets {
    rgAllocator allocator;
    rgTriplet* entries;
    int count;
    int capacity;
} rgTriplets;

// An owning rgSparse.
typedef struct rgOwnedSparse {
    int rowCount;
    int columnCount;
    int* rowStart;
    int* column;
    double* value;
} rgOwnedSparse;

rgResult rgTriplets_Add(rgTriplets* triplets, int row, int column, double value);
void rgTriplets_Free(rgTriplets* triplets);

// Compressed rows with ascending columns. Zeros off the diagonal are left out.
rgResult rgTriplets_Compress(const rgTriplets* triplets, int rowCount, int columnCount,
                             rgOwnedSparse* matrix);
// Compress (A + A')/2, exactly symmetric. Gives max |A - A'| / max |A|.
rgResult rgTriplets_CompressSymmetric(const rgTriplets* triplets, int rowCount,
                                      rgOwnedSparse* matrix, double* asymmetry);

rgSparse rgOwnedSparse_View(const rgOwnedSparse* matrix);
void rgOwnedSparse_Free(const rgAllocator* allocator, rgOwnedSparse* matrix);

// Cholesky factors of a symmetric positive definite matrix, dense within each connected component.
typedef struct rgMassFactor rgMassFactor;

// rg_errorNumeric when the matrix is not positive definite.
rgResult rgCreateMassFactor(const rgSparse* mass, const rgAllocator* allocator,
                            rgMassFactor** factor);
void rgDestroyMassFactor(rgMassFactor* factor);
void rgMassFactor_Solve(const rgMassFactor* factor, double* x); // x <- M^-1 x
// Add the entries of J M^-1 J'.
rgResult rgMassFactor_Condense(const rgMassFactor* factor, const rgSparse* jacobian,
                               rgTriplets* delassus);
