// Random robots with every kind of joint, for tests of identities.
#pragma once
#include "rigor/rigor.h"
#include "support.h"

rgVec3 rgRandomVec(rgRandom* random, double size);
rgPose rgRandomPose(rgRandom* random);
rgInertia rgRandomInertia(rgRandom* random); // physical, centre off the origin

// bodyCount bodies in random trees: free, fixed and jointed ones, some with several joints, axes
// along coordinates and oblique, anchors off the origin, armature, references. One frame per body,
// named "f0", "f1", ...
rgModel* rgRandomModel(rgRandom* random, int bodyCount);
// The same robots with the world's children moved by base.
rgModel* rgRandomModelAt(rgRandom* random, int bodyCount, rgPose base);
void rgRandomVelocity(rgRandom* random, int count, double* v);
