// Two boxes: declarations shared by the test of axes and the clipping of faces.
#pragma once
#include "collision/internal.h"

// Points at most margin apart where the faces that the normal (A to B, unit) names overlap.
void rgClipBoxFaces(const rgConvexPair* pair, rgVec3 normal, double margin, rgRawManifold* raw);
