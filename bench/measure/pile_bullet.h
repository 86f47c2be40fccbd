// A pile in Bullet (double precision) behind plain C calls. Poses are position x y z, quaternion
// w x y z.
#pragma once
#ifdef __cplusplus
extern "C" {
#endif

typedef struct PeerPile PeerPile;
typedef enum PeerShape { peerBox, peerSphere, peerCapsule, peerPlane } PeerShape;

/// Sequential impulses with so many iterations a step.
PeerPile* peerCreatePile(double timeStep, int iterations);
void peerDestroyPile(PeerPile* pile);
/// Sizes as rgShapeKind has them; mass 0 stands still. moments: principal, about the pose's axes.
/// mu: of a pair of two such bodies.
void peerAddBody(PeerPile* pile, PeerShape shape, const double* size, double mass,
                 const double* moments, const double* pose, double mu);
void peerStepPile(PeerPile* pile);
void peerReadPose(const PeerPile* pile, int body, double* pose);
int peerVersion(void);

#ifdef __cplusplus
}
#endif
