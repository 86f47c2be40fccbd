// Nested dissection of the graph of a block pattern: separators that cut it into small pieces.
#pragma once
#include "math/blockfactor.h"

// Integers of scratch memory that rgDissect needs.
size_t rgDissectionScratch(int blockCount, int entryCount);

// Give every block the number of its set: a piece or a separator. A separator has a higher number
// than everything that it separates, so that eliminating the sets in ascending order is a nested
// dissection. The same pattern gives the same sets every time.
void rgDissect(const rgBlockPattern* pattern, int* scratch, int* set);
