// Meshes with a border as sheets.
#pragma once
#include "base/base.h"
#include "rigor/shape.h"

// A mesh with a border becomes a closed sheet of this thickness, in the arena; others stay as they
// are.
rgResult rgMakeSheet(rgArena* arena, double thickness, rgMeshData* mesh);
