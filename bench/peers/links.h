// Moving bodies of a scene, with the bodies fixed to them: for engines that cannot merge bodies.
#pragma once
#include "peer.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { rg_linkJointsMost = 8 };

typedef struct rgPeerLink {
    int body;    // body of the scene
    int parent;  // link, -1: the world
    rgPose pose; // pose of the body in the frame of the parent link's body, joints at reference
    rgInertia inertia; // in the body's frame, with all that is fixed to it
    rgPose centre;     // centre of mass and principal axes in the body's frame
    rgVec3 moments;    // about those
    int jointCount;
    int joints[rg_linkJointsMost]; // joints of the model, from 0, in order
} rgPeerLink;

typedef struct rgPeerLinks {
    int count;
    rgPeerLink* links; // parents first
    int* linkOfBody;   // by body of the scene; -1: static
    int bodyCount;
} rgPeerLinks;

// False when a body has more joints than there is room for. Free it either way.
bool rgPeerLinks_Init(rgPeerLinks* links, const rgPeerScene* scene);
void rgPeerLinks_Free(rgPeerLinks* links);

// Joints that do nothing but move: no limits, dampers, springs or servos, which those engines are
// not given.
bool rgPeerScene_IsPlain(const rgPeerScene* scene);

// True if a link is a single body that moves freely.
bool rgPeerLinks_IsLoose(const rgPeerLinks* links, const rgPeerScene* scene, int link);

// Pose of shape i (from 0) in the frame of its link's centre; of static ones in the world. link -1:
// static.
rgPose rgPeerLinks_ShapePose(const rgPeerLinks* links, const rgPeerScene* scene, int shape,
                             int* link);
// Pose of a body, given the pose of its link's centre in the world.
rgPose rgPeerLinks_BodyPose(const rgPeerLinks* links, const rgPeerScene* scene, int body,
                            rgPose centre);
// Pose and velocity of a body, and its mass where nothing is fixed to it, from the centre's.
void rgPeerLinks_Read(const rgPeerLinks* links, const rgPeerScene* scene, int body, rgPose centre,
                      rgSpatial velocity, double mass, rgPeerBody* state);

#ifdef __cplusplus
}
#endif
