// Parts of one robot that overlap where it starts.
#pragma once
#include "rigor/io.h"

// Leave such pairs out of collisions, or count those that stay, as def->selfOverlap says; `byFile`
// is what rg_selfOverlapFromFile means. One note tells their number. A definition that does not
// compile is left as it is: whoever compiles it is told why.
rgResult rgTreatSelfOverlaps(rgModelDef* model, const rgLoadDef* def, rgSelfOverlap byFile,
                             rgSource source, rgDiagnostics* diagnostics);
