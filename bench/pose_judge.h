// One geometric judge for all engines: the penetration of shapes, computed from nothing but the
// poses that an engine reports.
#pragma once
#include "peer.h"

typedef struct rgPoseJudge rgPoseJudge;

// NULL when a shape of the scene has no geometry here. Pairs that overlap by more than 0.1 mm where
// the scene starts are left out.
rgPoseJudge* rgPoseJudge_Make(const rgPeerScene* scene);
void rgPoseJudge_Free(rgPoseJudge* judge);

// Reset the judge; then evaluate the present poses, any number of times.
void rgPoseJudge_Begin(rgPoseJudge* judge);
bool rgPoseJudge_Look(rgPoseJudge* judge, rgPeerRun* run);

typedef struct rgDepths {
    int pairCount;             // looked at, all looks together; pairs within 1 mm of touching
    double mean, p99, deepest; // [m]
} rgDepths;
rgDepths rgPoseJudge_Depths(const rgPoseJudge* judge);

// Run `steps` steps from the start, judging every `every`th; includes the results of
// rgPeerRun_Look().
rgDepths rgPoseJudge_Run(rgPoseJudge* judge, rgPeerRun* run, int steps, int every);

// Largest distance that any of the bodies has gone from its start [m], kinetic energy of all bodies
// as the engine reports velocities [J].
double rgPeerRun_Drift(rgPeerRun* run);
double rgPeerRun_KineticEnergy(rgPeerRun* run);
