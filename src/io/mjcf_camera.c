// MJCF <camera>: a frame with a field of view.
#include "io/mjcf.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct rgMjCamera {
    double fieldOfView; // vertical [degrees, whatever the file's angles are]
    double focal[2];    // [m]
    double sensor[2];   // [m]
    rgMjPlace place;
} rgMjCamera;

static void rgMjcf_ApplyCamera(rgMjcf* m, const rgXmlNode* node, void* value) {
    static const char* const skipped[] = {"mode",           "target",     "orthographic",
                                          "projection",     "ipd",        "principal",
                                          "principalpixel", "focalpixel", NULL};
    rgMjCamera* c = value;
    rgXmlReader_Double(&m->reader, node, "fovy", &c->fieldOfView);
    rgXmlReader_Doubles(&m->reader, node, "focal", c->focal, 2, 2);
    rgXmlReader_Doubles(&m->reader, node, "sensorsize", c->sensor, 2, 2);
    for (int i = 0; skipped[i] != NULL; ++i) {
        const char* text = rgXmlNode_Attribute(node, skipped[i]);
        if (text != NULL && strcmp(text, "fixed") != 0) {
            rgXmlReader_Note(&m->reader, node,
                             "<camera %s>: the camera is fixed to its body, with a symmetric "
                             "perspective view",
                             skipped[i]);
        }
    }
    rgMjcf_ReadPlace(m, node, &c->place);
}

void rgMjcf_ReadCamera(rgMjcf* m, const rgXmlNode* node, rgBodyId body, int class, rgPose frame) {
    static const char* const names[] = {"camera", NULL};
    rgMjCamera camera = {.fieldOfView = 45, .place = rgMjcf_NoPlace()};
    rgMjcf_ApplyClass(m, rgMjcf_Class(m, node, "class", class), names, rgMjcf_ApplyCamera, &camera);
    rgMjcf_ApplyCamera(m, node, &camera);
    double angle = camera.fieldOfView * 3.141592653589793 / 180;
    if (camera.focal[1] > 0 && camera.sensor[1] > 0) {
        angle = 2 * atan(0.5 * camera.sensor[1] / camera.focal[1]);
    }
    if (!(angle > 0 && angle < 3.141592653589793)) {
        rgXmlReader_Error(&m->reader, node, "<camera fovy>: it is between 0 and 180 degrees");
        return;
    }
    int number = m->def->frameCount;
    rgFrameId id = rgMjcf_AddOwnFrame(m, node, body,
                                      rgPoseMultiply(frame, rgMjcf_Pose(m, node, &camera.place)));
    if (id.index1 > 0) {
        m->def->frames[number].fieldOfView = angle;
        rgMjNames_Add(m, &m->cameraNames, node, rgXmlNode_Attribute(node, "name"), number);
    }
}

// MJCF's cameras have names of their own. Where a site or a body has the same, "_camera" is added.
void rgMjcf_NameCameras(rgMjcf* m, const rgXmlNode* root) {
    (void)root;
    for (int i = 0; i < m->def->frameCount && m->result == rg_ok; ++i) {
        const char* name = rgMjNames_Of(&m->cameraNames, i);
        rgFrameDef frame = m->def->frames[i];
        if (name == NULL || frame.name != NULL) {
            continue;
        }
        char longer[256];
        if (rgMjNames_Find(&m->siteNames, name) >= 0 || rgMjNames_Find(&m->bodyNames, name) >= 0) {
            snprintf(longer, sizeof(longer), "%.240s_camera", name);
            name = longer;
        }
        if (rgMjNames_Find(&m->siteNames, name) < 0 && rgMjNames_Find(&m->bodyNames, name) < 0) {
            frame.name = name;
            rgMjcf_Check(m, rgModelDef_SetFrame(m->def, (rgFrameId){i + 1}, &frame));
        }
    }
}
