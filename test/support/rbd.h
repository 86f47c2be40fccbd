// Robots of RIGOR_DATA/rbd: the tree that the reference values belong to, as a definition.
#pragma once
#include "json.h"

#include "rigor/model.h"

// Bodies are named after their joints, frames after the file's body frames. NULL on failure.
rgModel* rgModelFromRbd(const rgJson* root);
// From the file's q (quaternions x y z w) to ours.
void rgConvertRbdPositions(const rgModel* model, const double* theirs, double* q);
