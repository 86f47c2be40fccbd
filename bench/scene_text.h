// Scenes for all engines, written as MJCF.
#pragma once
#include "peer.h"

// Bodies and geoms between <worldbody> and </worldbody>; friction is 0.5 unless they set another. v
// as in rgPeerScene_Create(). False after a message; free it either way.
bool rgPeerScene_Write(rgPeerScene* scene, const char* name, double timeStep, rgVec3 gravity,
                       const double* v, const char* bodies);

// 15 cubes of 0.2 m on a floor; row r has 10^r kg per cube. Pyramid: rows of 5, 4, 3, 2, 1 with 1
// cm between neighbours; else 3 x 5. The caller frees it.
char* rgWriteWall(bool pyramid);
