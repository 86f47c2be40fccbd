// Engines that run in a process of their own, fed from a description of the scene.
//
// The command gets two more arguments, a file and a variant. The file is JSON: "step" [s],
// "gravity", "links", "shapes", "apart" (pairs of shapes that never meet) and "loops" (pairs of
// points that coincide), as rgPeerProcess_Describe writes them; poses are position and quaternion
// (w first), all lengths [m]. Links are in the frames of their centres of mass with principal axes.
//
// The process writes a line "ok VERSION" or "fault REASON", then the mass of each link, a line
// each. Then it reads commands: 'r' goes back to the start; 's' with an int32 makes so many steps;
// 'q' is answered with doubles: whether a step failed (0 or 1), CPU seconds in steps since the
// reset, contacts, the deepest of them [m], and of each link 3 + 4 numbers of its pose and 3 + 3 of
// its linear and angular velocity.
#pragma once
#include "peer.h"

#include <stdio.h>

void* rgPeerProcess_Create(const rgPeerScene* scene, const char* const* command,
                           const char* variant, char* fault, size_t faultSize);
void rgPeerProcess_Destroy(void* world);
void rgPeerProcess_Reset(void* world);
bool rgPeerProcess_Step(void* world);
void rgPeerProcess_Look(void* world, rgPeerLook* look);
bool rgPeerProcess_Body(void* world, int body, rgPeerBody* state);
double rgPeerProcess_Seconds(void* world);

// The Python of `./setup bench`, or NULL when there is none. The caller frees it.
char* rgPeerPython(void);
// The version of a package there: "1.2.3", or "not installed".
const char* rgPeerPackage(const char* name, char* buffer, size_t size);
