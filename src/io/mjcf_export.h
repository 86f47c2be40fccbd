// Writing MJCF, shared by mjcf_export.c and mjcf_export_parts.c.
#pragma once
#include "io/export.h"
#include "io/mjcf.h"

#include <stdio.h>

typedef struct rgMjWriter {
    const rgModelDef* def;
    rgDiagnostics* diagnostics;
    rgText text;
    rgArena arena;
    int *firstJoint, *nextJoint; // by body (0: the world), -1 ends
    int *firstShape, *nextShape;
    int *firstChild, *nextChild; // 0 ends
    rgPose* world;               // by body, at the reference configuration
    rgOmissions speeds, split;
} rgMjWriter;

const char* rgMjWriter_FrameElement(const rgMjWriter* w, rgFrameId id); // "site" or "camera"
const char* rgMjWriter_Body(const rgMjWriter* w, rgBodyId id, rgPartName* made);
void rgMjWriter_Pose(rgMjWriter* w, rgPose pose);

// Sites that loops and sensors need and the definition has not.
void rgMjWriter_HelperSites(rgMjWriter* w, int body, int depth);
// Contact, tendon, equality, actuator, sensor, keyframe.
void rgMjWriter_Parts(rgMjWriter* w);
