// A square matrix that is filled and factorized over and over: dense, or dense blocks over a sparse
// pattern with a fill-reducing order. Rows belong to blocks in either case.
#pragma once
#include "math/blockfactor.h"
#include "math/kernels.h"

typedef struct rgMatrix {
    const rgKernels* kernels;
    int n;
    int blockCount;
    const int* blockStart; // first row of each block, blockCount + 1; borrowed
    bool dense;
    double* values; // dense: column-major
    int ld;
    int* pivot;
    int* rowStart; // blocks, by block rows, columns ascending, diagonal included
    int* column;
    double** blocks; // row-major
    size_t entryCount;
    rgBlockFactor* factor; // borrowed; holds the last factorization
    bool symmetric;        // that was Cholesky's
} rgMatrix;

// Blocks of rows, and which pairs of them are coupled: each pair in either order, repetitions and
// the diagonal allowed. count < 0: the matrix is dense.
typedef struct rgCoupling {
    int blockCount;
    const int* blockStart;
    int count;
    const int* row;
    const int* column;
} rgCoupling;

rgResult rgMatrix_Init(rgMatrix* matrix, const rgCoupling* coupling, const rgKernels* kernels,
                       rgBlockFactor* factor, rgArena* arena);
// Another matrix of the same sizes and pattern.
rgResult rgMatrix_InitLike(rgMatrix* matrix, const rgMatrix* other, rgArena* arena);
// Dense only: fewer rows, for a while.
void rgMatrix_Resize(rgMatrix* matrix, int n);

// All zero but for the diagonal.
void rgMatrix_SetDiagonal(rgMatrix* matrix, double value);

// Block (i, j), which must be in the pattern, and the steps between its rows and columns.
double* rgMatrix_Block(const rgMatrix* matrix, int i, int j, int* rowStep, int* columnStep);

// Dense only: the upper triangle of the rows and columns from first to end becomes the mirror image
// of the lower one.
void rgMatrix_Mirror(rgMatrix* matrix, int first, int end);

// y = A x, y += A(:, i) x for the columns of one block, and A = S A S with S diagonal, times a
// factor, of a symmetric A; a dense one needs its lower triangle only, and then is whole
void rgMatrix_Apply(const rgMatrix* matrix, const double* x, double* y);
void rgMatrix_AddColumns(const rgMatrix* matrix, int i, const double* x, double* y); // symmetric A
void rgMatrix_Scale(rgMatrix* matrix, const double* s, double factor);

// Factorize A + shift I; a dense matrix is overwritten. Then solve in place.
rgResult rgMatrix_Cholesky(rgMatrix* matrix, double shift);
rgResult rgMatrix_Lu(rgMatrix* matrix, double shift);
void rgMatrix_Solve(const rgMatrix* matrix, double* x);
// The same for many right-hand sides that are zero outside of chosen blocks, wanted there only.
void rgMatrix_SolveSome(const rgMatrix* matrix, const bool* chosen, int count, double* x, int ldx);
