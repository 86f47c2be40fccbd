// Engines that were built in: CMake defines RIGOR_PEER_<NAME>.
#include "mujoco.h"
#include "peer.h"

#include <stddef.h>

extern const rgPeer rgPeerMujoco;
extern const rgPeer rgPeerDrake;
extern const rgPeer rgPeerBullet;
extern const rgPeer rgPeerOde;
extern const rgPeer rgPeerDart;
extern const rgPeer rgPeerPhysx;
extern const rgPeer rgPeerRapier;
extern const rgPeer rgPeerJolt;

static const rgPeer* const rgPeers[] = {
    &rgPeerRigor,
#ifdef RIGOR_PEER_MUJOCO
    &rgPeerMujoco,
#endif
#ifdef RIGOR_PEER_DRAKE
    &rgPeerDrake,
#endif
#ifdef RIGOR_PEER_BULLET
    &rgPeerBullet,
#endif
#ifdef RIGOR_PEER_ODE
    &rgPeerOde,
#endif
#ifdef RIGOR_PEER_DART
    &rgPeerDart,
#endif
#ifdef RIGOR_PEER_WASM
    &rgPeerPhysx,  &rgPeerRapier, &rgPeerJolt,
#endif
};

const rgPeer* rgPeerAt(int index) {
    int count = (int)(sizeof(rgPeers) / sizeof(rgPeers[0]));
    return index >= 0 && index < count ? rgPeers[index] : NULL;
}

#ifndef RIGOR_PEER_MUJOCO
bool rgMujoco_TimeInverse(const char* path, int calls, double shift, double* seconds,
                          int* contactCount) {
    (void)path, (void)calls, (void)shift, (void)seconds, (void)contactCount;
    return false;
}

bool rgMujoco_TimeTransition(const char* path, int states, int repeat, double* step,
                             double* transition) {
    (void)path, (void)states, (void)repeat, (void)step, (void)transition;
    return false;
}
#endif
