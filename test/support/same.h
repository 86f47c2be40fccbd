// Whether two models are the same robot: mass matrix, bias and shapes at random states.
#pragma once
#include "rigor/model.h"

// Coordinates, joints and shapes come in the same order in both, but for shapes that only the first
// has: planes, ellipsoids and height fields, when missingShapes is set. Fails the test otherwise.
// Tolerance is relative to the largest entry.
void rgExpectSameRobot(const rgModel* a, const rgModel* b, double tolerance, bool missingShapes);
// Compile, printing what is wrong.
rgModel* rgCompileOrFail(const rgModelDef* def);
// Load a file or a built-in model, printing what is wrong.
rgModelDef* rgLoadOrFail(const char* path);
