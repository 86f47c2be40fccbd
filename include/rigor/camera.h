// Cameras: color, depth and segmentation images of a world or of stored states, by ray casting on
// the processor. No graphics driver or display is needed.
#pragma once
#include "rigor/world.h"

/// Channels of an image, as bits.
typedef enum rgImageChannel {
    rg_imageColor = 1,
    rg_imageDepth = 2,
    rg_imageShapes = 4,
} rgImageChannel;

/// Start from rgDefaultCameraDef(). A camera looks along -z of its frame, with x to the right and y
/// up, as in MJCF.
typedef struct rgCameraDef {
    int width, height;  ///< [pixels]
    double fieldOfView; ///< vertical, between 0 and pi [rad]
    rgFrameId frame;    ///< the camera is this frame of the model, with its field of view if it has
                        ///< one (camera of MJCF); null: body and pose say where it is
    rgBodyId body;      ///< the camera moves with this body; null: it stands in the world
    rgPose pose;        ///< in the body frame
    int channels;       ///< bits of rgImageChannel; the others are not computed
    int samples;        ///< color rays per pixel and axis: samples^2 are averaged
    bool colliders;     ///< draw the shapes that collide, and no others
    bool shadows;       ///< cast a second ray towards the light
    double nearest;     ///< surfaces nearer than this are not seen [m], along the viewing direction
    double furthest;    ///< surfaces further than this are not seen [m]
    rgVec3 light;       ///< direction towards the light, world axes
    float background[3];   ///< red, green, blue from 0 to 1
    rgAllocator allocator; ///< zero means the C runtime
    uint32_t cookie;
} rgCameraDef;

/// A view that lives until the next image of the same camera. Rows start at the top.
typedef struct rgImage {
    int width, height;
    const uint8_t* color;    ///< 3 per pixel: red, green, blue; NULL if the channel is off
    const float* depth;      ///< distance along the viewing direction [m]; infinity: no surface
    const rgShapeId* shapes; ///< shape that is seen; null: none
} rgImage;

/// Workspace of one thread for one model, which must outlive it.
typedef struct rgCamera rgCamera;

RG_API rgCameraDef rgDefaultCameraDef(void);
/// Visual shapes whose mesh has no surface are left out with a warning.
RG_API rgResult rgCreateCamera(const rgModel* model, const rgCameraDef* def,
                               rgDiagnostics* diagnostics, rgCamera** camera);
RG_API void rgDestroyCamera(rgCamera* camera);

/// Move the camera in the frame of its body.
RG_API rgResult rgCamera_SetPose(rgCamera* camera, rgPose pose);
/// Pose of a camera at `eye` that looks at `target`, with +z up. rg_errorArgument if both coincide.
RG_API rgResult rgLookAt(rgVec3 eye, rgVec3 target, rgPose* pose);

/// Draw the current state of a world of the same model. Disabled shapes and bodies are not seen.
RG_API rgResult rgCamera_Draw(rgCamera* camera, const rgWorld* world, rgImage* image);
/// Draw `count` configurations, one after the other, into dense arrays with the last index fastest:
/// color count x height x width x 3, depth and shapes count x height x width. NULL arrays are not
/// drawn. Kinematic bodies are where the model has them.
RG_API rgResult rgCamera_DrawStates(rgCamera* camera, const double* q, int count, uint8_t* color,
                                    float* depth, rgShapeId* shapes);
