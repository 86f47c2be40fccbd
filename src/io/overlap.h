// Parts of one robot that overlap where it starts.
#pragma once
#include "rigor/io.h"

// Exclude such pairs from collisions, or count those that stay, by def->selfOverlap; `byFile` is
// the meaning of rg_selfOverlapFromFile. One note gives their number. A definition that does not
// compile is left unchanged: compiling it later reports the reason.
rgResult rgExcludeSelfOverlaps(rgModelDef* model, const rgLoadDef* def, rgSelfOverlap byFile,
                               rgSource source, rgDiagnostics* diagnostics);
