// Common to the parts of `rigor check`.
#pragma once
#include "model.h"
#include "run.h"

// Pairs that the loader excluded; joints outside their limits and shapes inside each other, at the
// reference and at each key:
// printed, or written when there is a JSON object.
void rgCli_CheckStarts(const rgModelDef* def, rgWorld* world, rgJson* json);
// A shape's name, or else its number and body in text.
const char* rgShapeLabel(const rgModel* model, rgShapeId id, char text[80]);
