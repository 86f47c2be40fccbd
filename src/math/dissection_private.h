// Inside of the nested dissection: graphs, cuts of them, and the cost of a cut.
#pragma once
#include "math/dissection.h"

// Sides of a vertex.
enum { rg_left, rg_right, rg_between };

// A graph in the sequence of contracted ones.
typedef struct rgLevel {
    int count;
    int* start;      // count + 1
    int* neighbour;  //
    int* strength;   // number of original links of each link
    int* weight;     // scalars of each vertex
    int* coarse;     // vertex of the next level
    int* side;       //
    int heaviest;    // limit for the weight of a vertex
    int totalWeight; //
} rgLevel;

// Neither side of a cut may fall below this part of the whole by moving it.
static const double rg_leastSide = 0.33;

// Cost of a cut: its weight, more when the sides differ, much more when one hardly exists.
static inline double rgCutCost(double left, double right, double between) {
    double total = left + right + between;
    double difference = (left > right ? left - right : right - left) / total;
    double excess = difference > 0.4 ? difference - 0.4 : 0;
    return between * (1 + 0.5 * difference) + 10 * total * excess;
}

// Integers of scratch memory that rgMoveCut needs.
size_t rgFlowScratch(int vertexCount, int linkCount);

// Replace the separator of a cut by the smallest one in a band around it, found by maximum flow, if
// that makes the cut cheaper.
void rgMoveCut(const rgLevel* level, int* scratch);
