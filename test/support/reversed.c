// The lanes once more, played in reverse order.
#define RG_LANES_REVERSED
#include "reversed.h"

#include "lanes/solve.h"

void rgSolveReversed(const rgLaneBatch* batch, int problem, rgLaneEffort effort, double* memory) {
    rgLaneSolve(batch, problem, effort, memory, batch->outcomes + problem);
}
