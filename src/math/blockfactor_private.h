// Inside of the block factorization: the tree of fronts that the analysis makes and the numeric
// phases walk.
#pragma once
#include "math/blockfactor.h"

// Memory that only grows.
typedef struct rgBuffer {
    void* memory;
    size_t bytes;
} rgBuffer;

rgResult rgBuffer_Reserve(rgBuffer* buffer, const rgAllocator* allocator, size_t bytes);
void rgBuffer_Free(rgBuffer* buffer, const rgAllocator* allocator);

// A front: `width` fully summed scalar columns out of `order`. Its factor is a panel of order x
// width; it passes the update matrix of the other rows and columns to its parent.
typedef struct rgFront {
    int width, order;
    int lead, updateLead; // leading dimensions of panel and update matrix
    int start;            // first scalar position of its columns
    int columnStart;      // first block position, columnCount of them
    int columnCount;      //
    int rowStart;         // first of rowCount block positions beyond its own, in rows
    int rowCount;         //
    int runStart;         // first of runCount runs that carry its update matrix to the parent
    int runCount;         //
    int entryStart;       // first of entryCount blocks of the matrix that it assembles
    int entryCount;       //
    int firstChild;       // fronts, linked by nextSibling; -1 ends
    int nextSibling;      //
    int stack;            // stack of its piece that holds its update matrix: level modulo 2
    size_t panel;         // offsets into the factor values
    size_t upper;         // offset of the width x (order - width) part U12, LU only
    size_t update;        // offset into the update matrices
} rgFront;

// Consecutive rows of a child's update matrix that are consecutive in the parent's front, and do
// not cross the end of its fully summed part.
typedef struct rgRun {
    int from, to, count;
} rgRun;

// A block at (row, column) of a front, at or below the diagonal, and its mirror image.
typedef struct rgEntry {
    int lower, upper; // pattern entries of (row, column) and (column, row)
    int row, column;  // scalar offsets in the front
    int height, width;
    bool flipped; // the original lower triangle holds (column, row)
} rgEntry;

// Fronts that one worker factorizes one after the other: a subtree, or a front above subtrees.
typedef struct rgPiece {
    int firstFront, endFront;
} rgPiece;

// Right-hand sides that rgBlockFactor_SolveMany takes at a time, one vector of the wide kernels;
// threads take several of these groups. 24 in place of 8: 1.4 % fewer instructions in a heap.
enum { rg_groupSize = 8 };

typedef enum rgFactorKind { rg_factorNone, rg_factorCholesky, rg_factorLu } rgFactorKind;

struct rgBlockFactor {
    rgAllocator allocator;
    const rgKernels* kernels;
    rgTasks tasks;
    // the analysed pattern, for comparison
    bool analysed;
    int blockCount, entryCount, scalarCount;
    int* blockStart;
    int* rowStart;
    int* column;
    // analysis
    int* order;    // block at each position
    int* position; // position of each block
    int* start;    // first scalar of each position, blockCount + 1
    int* rows;     // block positions of the rows of all fronts
    rgEntry* entries;
    rgFront* fronts; // in postorder
    rgRun* runs;
    int frontCount, runCount, rowCount;
    int largestOrder;
    size_t panelCount, upperCount; // doubles of the factor
    rgPiece* pieces;               // in postorder
    int* pieceParent;              // -1: a root
    void* pieceScratch;            // of rgTasks_RunTree()
    int pieceCount;
    size_t updateCount; // doubles of the update matrices
    double choleskyFlops, luFlops, factorEntries;
    rgBuffer patternMemory, frontMemory, rowMemory, workMemory, dissectionMemory, pieceMemory;
    // numbers
    rgFactorKind kind;
    double* values;  // panels, then U12 parts
    double* updates; // stacks of the pieces
    double* vector;  // right-hand side in elimination order
    double* part;    // rows of one front
    int* pivots;     // LU, by scalar position
    double* group;   // right-hand sides that are solved together, see blockfactor_many.c, by worker
    size_t groupCount; // numbers of one worker
    bool* reached;     // by worker and front: its part of the group is not all zero
    bool* needed;      // by front: it holds blocks that are wanted, or a child does
    rgBuffer valueMemory, updateMemory, vectorMemory, flagMemory, pivotMemory;
};

// Arrays of a front: panel (order x width), U12 (width x rest, LU), update matrix.
typedef struct rgFrontNumbers {
    const rgFront* front;
    int rest, upperLead;
    double* panel;
    double* upper;
    double* update;
} rgFrontNumbers;

static inline rgFrontNumbers rgNumbersOf(const rgBlockFactor* f, int index) {
    const rgFront* front = &f->fronts[index];
    return (rgFrontNumbers){.front = front,
                            .rest = front->order - front->width,
                            .upperLead = rgLeadingDimension(front->width),
                            .panel = f->values + front->panel,
                            .upper = f->values + f->panelCount + front->upper,
                            .update = f->updates + front->update};
}

// Operations of a Cholesky factorization: the sum of (order - j)^2 for j < width.
static inline double rgPanelFlops(double width, double order) {
    double last = order - width;
    return (order * (order + 1) * (2 * order + 1) - last * (last + 1) * (2 * last + 1)) / 6;
}

// Predicted time of a front [ns]: a fixed part, assembly and storage, arithmetic.
static inline double rgPredictedTime(double width, double order) {
    return 250 + 0.45 * order * order + 0.06 * rgPanelFlops(width, order);
}

// True if several threads work on it.
bool rgBlockFactor_IsParallel(const rgBlockFactor* factor);

// Divide the fronts into pieces, which have stacks of their own; memory for what the threads need.
rgResult rgBlockFactor_Divide(rgBlockFactor* factor);

// Order the pattern kept in the factor and build its fronts.
rgResult rgBlockFactor_BuildFronts(rgBlockFactor* factor);
