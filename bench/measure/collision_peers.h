// FCL (with its own solver and with libccd) and Bullet behind plain C calls.
#pragma once
#ifdef __cplusplus
extern "C" {
#endif

typedef struct PeerHull PeerHull; ///< one hull in the terms of both libraries

/// Polygons: count of vertices, then their numbers, face after face, as FCL wants them.
PeerHull* peerCreateHull(int vertexCount, const double* vertices, int faceCount,
                         const int* polygons, int polygonSize);
void peerDestroyHull(PeerHull* hull);

/// Distance of two hulls; pose is position x y z, quaternion w x y z.
double peerFclDistance(PeerHull* a, const double* poseA, PeerHull* b, const double* poseB);
double peerCcdDistance(PeerHull* a, const double* poseA, PeerHull* b, const double* poseB);
double peerBulletDistance(PeerHull* a, const double* poseA, PeerHull* b, const double* poseB);

typedef struct PeerCrowd PeerCrowd; ///< FCL's dynamic tree over unit boxes
PeerCrowd* peerCreateCrowd(int count, const double* centers, double half);
void peerDestroyCrowd(PeerCrowd* crowd);
/// Move every box, update the manager, count the pairs whose boxes overlap.
int peerStepCrowd(PeerCrowd* crowd, const double* centers);

#ifdef __cplusplus
}
#endif
