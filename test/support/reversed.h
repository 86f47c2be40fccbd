// The lanes played from the last to the first: an answer that depends on their order is one that a
// device would not give twice.
#pragma once
#include "lanes/problem.h"

void rgSolveReversed(const rgLaneBatch* batch, int problem, rgLaneEffort effort, double* memory);
