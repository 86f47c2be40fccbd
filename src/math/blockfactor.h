// Sparse factorization of a matrix of dense blocks with a symmetric pattern: multifrontal Cholesky,
// or LU for matrices that are not symmetric, with AMD ordering. The symbolic analysis is kept while
// the pattern stays.
#pragma once
#include "math/kernels.h"

// Pattern: block rows, both triangles, diagonal included, columns ascending. Sizes of blocks may
// differ.
typedef struct rgBlockPattern {
    int blockCount;
    const int* blockStart; // first scalar row of each block, blockCount + 1
    const int* rowStart;   // blockCount + 1
    const int* column;     // rowStart[blockCount]
} rgBlockPattern;

typedef struct rgBlockFactor rgBlockFactor;

rgResult rgCreateBlockFactor(const rgAllocator* allocator, const rgKernels* kernels,
                             rgBlockFactor** factor);
void rgDestroyBlockFactor(rgBlockFactor* factor);

// Order and analyse a pattern. Returns at once when the pattern equals the last one. Allocates only
// when the sizes grow beyond all earlier ones.
rgResult rgBlockFactor_Analyse(rgBlockFactor* factor, const rgBlockPattern* pattern);

// Spread the numeric work over threads, with the same bits. Zero tasks: the calling thread does
// all.
rgResult rgBlockFactor_SetTasks(rgBlockFactor* factor, const rgTasks* tasks);

// Predicted work of one numeric factorization [flops] and entries of the factor, after Analyse.
double rgBlockFactor_CholeskyFlops(const rgBlockFactor* factor);
double rgBlockFactor_LuFlops(const rgBlockFactor* factor);
double rgBlockFactor_Entries(const rgBlockFactor* factor);

// Numeric factorization. values[k] points to the dense block of pattern entry k, row-major (rows of
// block row i, columns of block column j, leading dimension = size of block j). Cholesky reads the
// lower triangle of blocks. Diagonal shift is added to every diagonal entry. rg_errorNumeric when a
// pivot fails (Cholesky: not positive; LU: pivoting happens inside the fully summed rows of a
// front; fails when none is usable).
rgResult rgBlockFactor_Cholesky(rgBlockFactor* factor, const double* const* values, double shift);
rgResult rgBlockFactor_Lu(rgBlockFactor* factor, const double* const* values, double shift);

// Solve in place with the last factorization (scalar vector in the original order). No allocation.
void rgBlockFactor_Solve(rgBlockFactor* factor, double* x);

// Solve for `count` vectors, the columns of x (leading dimension ldx): several at a time, which is
// several times as fast per vector. Vectors that are zero in most blocks are faster still when
// neighbours among them are not zero in the same part of the graph. Equal to Solve up to rounding.
void rgBlockFactor_SolveMany(rgBlockFactor* factor, int count, double* x, int ldx);

// Solve for right-hand sides that are zero outside of some blocks, when the solutions are needed in
// these blocks only: chosen[i] for each block i. The other blocks of x are neither read nor
// written.
void rgBlockFactor_SolveSome(rgBlockFactor* factor, const bool* chosen, int count, double* x,
                             int ldx);
