// Structure of a contact problem: its rows as small blocks, the islands that couple them, and in
// velocity form the parts of the mass matrix. Computed once per solve; numbers do not matter except
// for being zero.
#pragma once
#include "base/base.h"
#include "rigor/contact.h"

// Rows that share one set K: a contact, one box row, or up to RG_BLOCK_ROWS half lines or free
// rows.
#define RG_BLOCK_ROWS 6
typedef struct rgLayoutBlock {
    int given; // block of the problem
    int firstRow;
    int rowCount;
} rgLayoutBlock;

typedef struct rgLayout {
    int blockCount;
    rgLayoutBlock* blocks;
    int* blockOfRow; // n

    int islandCount;
    int* islandOfBlock;
    int* islandStart;  // islandCount + 1, into members
    int* members;      // blocks by island, ascending within each
    int* placeOfBlock; // place of a block among those that are being solved; -1: left out

    int partCount;             // velocity form: velocities that move together
    const int* partOfVelocity; // nv
    int* placeInPart;          // nv
    int* partSize;             // partCount
    int* partStart;            // partCount + 1, into partVelocities
    int* partVelocities;       // velocities by part, ascending
    int* blockOfPart;          // a block that touches the part; -1: none. NULL: all are one island
} rgLayout;

// split false: one island.
rgResult rgBuildLayout(const rgContactProblem* problem, bool split, rgArena* arena,
                       rgLayout* layout);

// Stable counting sort of 0..count-1 by class: items of class k are items[start[k]] ..
// items[start[k + 1]], and place[i] is where item i stands within its class.
void rgGroup(int count, const int* classOf, int classes, int* start, int* items, int* place);
