// The rows of W = J L^-T (M = L L') that an island has, by block and part. velocity.1.
#pragma once
#include "contact/system.h"

// Velocities that move together: a body, a tree, or all of the island where most rows touch most of
// them anyway.
typedef struct rgVelocityPart {
    int size;
    int start;  // first velocity in the island's own order
    int stride; // numbers per row of the links: size, or more, then zeros follow
} rgVelocityPart;

// Rows of one block times one part.
typedef struct rgVelocityLink {
    int block;
    int part;
    double* W; // block size x stride, row-major
} rgVelocityLink;

typedef struct rgWhitened {
    int nv;
    int partCount;
    rgVelocityPart* parts;
    int* localPart; // the island's part of each part of the layout, or -1
    int linkCount;
    int* linkStart; // links of each block, blockCount + 1
    rgVelocityLink* links;
    double* W;       // one part: the rows of all links, n x stride; else NULL
    double* columns; // in place of links and W: W column by column, nv of them
    int lead;        // numbers from one to the next
} rgWhitened;

// The parts that the island's rows touch, then the rows. merge: as one part in any case.
rgResult rgWhitened_FindParts(rgWhitened* rows, const rgSystemDef* def, const rgSystem* system);
rgResult rgWhitened_Fill(rgWhitened* rows, const rgSystemDef* def, const rgSystem* system,
                         bool merge);
// Columns for a matrix product.
rgResult rgWhitened_FillColumns(rgWhitened* rows, const rgSystemDef* def, const rgSystem* system);
