// The code of src/collision for convex shapes, and what it needs, as code of a device. Included by
// worlds.cu alone, within extern "C" and with `static` for both host and device. Functions that are
// declared for both keep that where they are defined.
#pragma once

#define restrict __restrict__
#define RG_BOTH __host__ __device__ __noinline__ // called from few places, and large

static inline int rgLowestBit(unsigned bits) {
#if defined(__CUDA_ARCH__)
    return __ffs((int)bits) - 1;
#else
    return __builtin_ctz(bits);
#endif
}
#define __builtin_ctz rgLowestBit

#include "rigor/math.h"
RG_BOTH rgQuat rgQuatFromMat3(const rgMat3* m);
RG_BOTH void rgTangentBasis(rgVec3 normal, rgVec3* t1, rgVec3* t2);
#include "math/basis.c"

#include "collision/boxes.h"
#include "collision/sole.h"
#include "collision/support.h"

RG_BOTH void rgGjk(const rgConvexPair* pair, const rgGjkInput* input, rgGjkResult* result);
RG_BOTH void rgSimplex_Witnesses(const rgSimplex* simplex, rgVec3* a, rgVec3* b);
RG_BOTH bool rgEpa(const rgConvexPair* pair, const rgSimplex* simplex, bool survey,
                   rgEpaResult* result);
RG_BOTH void rgRoundCorners(const rgConvexPair* pair, const rgPairCache* cache, rgSigned* s);
RG_BOTH void rgDeep_Store(const rgConvexPair* pair, const rgEpaResult* epa, rgPairCache* cache);
RG_BOTH bool rgDeep_IsLeast(const rgConvexPair* pair, const rgPairCache* cache, const rgVec3 w[3],
                            const double weight[3], double depth);
RG_BOTH void rgApart_Store(const rgConvexPair* pair, double distance, rgPairCache* cache);
RG_BOTH bool rgStaysApart(const rgCollideInput* input, const rgPlacement* a, const rgPlacement* b);
RG_BOTH bool rgWarmDistance(const rgConvexPair* pair, const rgPairCache* cache,
                            const rgWarmLimits* limits, rgSigned* out);
RG_BOTH bool rgWarmSmooth(const rgConvexPair* pair, const rgPairCache* cache, double shallow,
                          rgSigned* out);
RG_BOTH void rgSmooth_Keep(const rgConvexPair* pair, const rgSimplex* simplex, rgSigned* out);
RG_BOTH void rgSignedDistance(const rgConvexPair* pair, double cutoff, rgPairCache* cache,
                              rgSigned* out);
RG_BOTH void rgTrack(const rgConvexPair* pair, rgVec3 normal, const rgSimplex* warm, rgSigned* out);
RG_BOTH bool rgClosedDistance(const rgConvexPair* pair, rgSigned* out);
RG_BOTH void rgConvex_Feature(const rgConvex* convex, rgVec3 direction, int32_t hint,
                              rgFeature* feature);
RG_BOTH uint32_t rgFeatureId(int kind, int32_t a0, int32_t a1, int32_t b0, int32_t b1);
RG_BOTH void rgClipFeatures(const rgFeature* a, const rgFeature* b, double radiusA, double radiusB,
                            double margin, rgRawManifold* raw);
RG_BOTH void rgPatchBasis(rgVec3 normal, rgVec3* t1, rgVec3* t2);
RG_BOTH void rgReduce(rgRawManifold* raw, int limit);
RG_BOTH void rgEmit(const rgRawManifold* raw, rgPose poseA, rgManifold* manifold);
RG_BOTH void rgRawManifold_Add(rgRawManifold* raw, rgVec3 position, double gap, uint32_t feature);
RG_BOTH void rgBuildManifold(const rgConvexPair* pair, const rgSigned* signedDistance,
                             double margin, rgRawManifold* raw);
RG_BOTH void rgFinishManifold(const rgConvexPair* pair, const rgSigned* signedDistance,
                              rgRawManifold* raw);
RG_BOTH void rgClipBoxFaces(const rgConvexPair* pair, rgVec3 normal, double margin,
                            rgRawManifold* raw);
RG_BOTH void rgCollideConvex(const rgCollideInput* input, rgManifold* manifold);
RG_BOTH void rgCollidePlane(const rgCollideInput* input, rgManifold* manifold);
RG_BOTH void rgCollideSpheres(const rgCollideInput* input, rgManifold* manifold);
RG_BOTH void rgCollideSphereCapsule(const rgCollideInput* input, rgManifold* manifold);
RG_BOTH void rgCollideCapsules(const rgCollideInput* input, rgManifold* manifold);
RG_BOTH void rgCollideSphereBox(const rgCollideInput* input, rgManifold* manifold);
RG_BOTH void rgCollideBoxes(const rgCollideInput* input, rgManifold* manifold);
RG_BOTH void rgPlaneDistance(const rgConvex* b, rgPose poseA, rgPose poseB, rgProximity* proximity);
RG_BOTH int rgHull_ClimbAlong(const rgHull* hull, double x, double y, double z, int start);
RG_BOTH int rgHull_ScanAlong(const rgHull* hull, double x, double y, double z);
RG_BOTH void rgFindSole(const rgHull* hull, const rgSolePlane* plane, rgSole* sole);

#include "collision/boxclip.c"
#include "collision/boxes.c"
#include "collision/climb.c"
#include "collision/clip.c"
#include "collision/corners.c"
#include "collision/deep.c"
#include "collision/distance.c"
#include "collision/epa.c"
#include "collision/feature.c"
#include "collision/gjk.c"
#include "collision/manifold.c"
#include "collision/plane.c"
#include "collision/round.c"
#include "collision/smooth.c"
#include "collision/sole.c"
#include "collision/warm.c"

#undef __builtin_ctz
#undef restrict
#undef RG_BOTH
