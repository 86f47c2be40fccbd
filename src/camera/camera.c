// Images by ray casting: each shape is cast within the rectangle that its box projects to, the
// nearest shape first, so that a depth already found ends the rays behind it.
#include "rigor/camera.h"
#include "rigor/collision.h"
#include "rigor/dynamics.h"
#include "world/world.h"

#include <float.h>
#include <stdlib.h>
#include <string.h>

#define RG_COOKIE_CAMERA 0x63616d65u
#define RG_PIXELS_LIMIT  8192 // of a side
#define RG_SAMPLES_LIMIT 8
#define RG_CHECKER_SIZE  0.5  // side of a field of a plane's checkerboard [m]
#define RG_SHADOW_LIFT   1e-6 // start of a shadow's ray off the surface, as a share of the depth

static const rgImageChannel rg_allChannels = rg_imageColor | rg_imageDepth | rg_imageShapes;

// A shape that is drawn, at its pose in the present image.
typedef struct rgDrawn {
    rgGeometry* geometry;
    int shape;
    rgPose pose;
    rgBox box;       // of the world, for shadows
    double distance; // lower bound of its depth [m]
    bool disabled;
    int left, right, top, bottom; // pixels, right and bottom excluded
} rgDrawn;

struct rgCamera {
    rgCameraDef def;
    const rgModel* model;
    rgDynamics* dynamics; // for stored states
    rgDrawn* drawn;       // all shapes that can be seen
    int drawnCount;
    const rgDrawn** order; // those of the present image, nearest first
    int orderCount;
    rgPose pose;  // of the camera in the world
    double slope; // height of a pixel at a depth of one
    uint8_t* color;
    float* depth;
    rgShapeId* shapes;
    float* found;        // depth per ray of the present image
    const rgDrawn** hit; // shape per ray
    rgVec3* normal;      // per ray
};

rgCameraDef rgDefaultCameraDef(void) {
    return (rgCameraDef){.width = 320,
                         .height = 240,
                         .fieldOfView = 0.25 * 3.141592653589793,
                         .pose = {{0, 0, 0}, {1, 0, 0, 0}},
                         .channels = rg_imageColor | rg_imageDepth | rg_imageShapes,
                         .samples = 1,
                         .nearest = 0.01,
                         .furthest = 1000,
                         .light = {0.3, -0.5, 1},
                         .background = {0.85f, 0.9f, 0.95f},
                         .cookie = RG_COOKIE_CAMERA};
}

rgResult rgLookAt(rgVec3 eye, rgVec3 target, rgPose* pose) {
    rgVec3 back = rgSub(eye, target);
    if (pose == NULL || !(rgLength(back) > 0) || !isfinite(rgLength(back))) {
        return rg_errorArgument;
    }
    rgVec3 z = rgNormalize(back), x = rgCross(rgVec(0, 0, 1), z);
    x = rgLength(x) > 1e-9 ? rgNormalize(x) : rgVec(1, 0, 0); // straight down or up: +y is up
    rgVec3 y = rgCross(z, x);
    rgMat3 axes = {{x.x, y.x, z.x, x.y, y.y, z.y, x.z, y.z, z.z}};
    *pose = (rgPose){eye, rgQuatFromMat3(&axes)};
    return rg_ok;
}

// ---- making

static bool rgCheckCamera(const rgModel* model, const rgCameraDef* def,
                          rgDiagnostics* diagnostics) {
    rgQuat q = def->pose.q;
    double size = rgLength(def->pose.p) + q.w * q.w + q.x * q.x + q.y * q.y + q.z * q.z;
    bool background = true;
    for (int i = 0; i < 3; ++i) {
        background = background && def->background[i] >= 0 && def->background[i] <= 1;
    }
    const struct {
        bool wrong;
        const char* why;
    } cases[] = {
        {def->width < 1 || def->height < 1 || def->width > RG_PIXELS_LIMIT ||
             def->height > RG_PIXELS_LIMIT,
         "width and height are from 1 to 8192 pixels"},
        {!(def->fieldOfView > 0 && def->fieldOfView < 3.141592653589793),
         "the field of view is between 0 and pi"},
        {def->body.index1 < 0 || def->body.index1 > rgModel_Info(model).bodyCount,
         "the model has no such body"},
        {def->frame.index1 < 0 || def->frame.index1 > rgModel_Info(model).frameCount,
         "the model has no such frame"},
        {!isfinite(size) || !(size - rgLength(def->pose.p) > 0), "the pose is not finite"},
        {def->channels < 1 || (def->channels & ~(int)rg_allChannels) != 0,
         "channels are bits of color, depth and shapes"},
        {def->samples < 1 || def->samples > RG_SAMPLES_LIMIT, "samples are from 1 to 8"},
        {!(def->nearest > 0 && def->nearest < def->furthest && isfinite(def->furthest)),
         "0 < nearest < furthest must hold"},
        {!(rgLength(def->light) > 0) || !isfinite(rgLength(def->light)),
         "the light has no direction"},
        {!background, "the background is three numbers from 0 to 1"},
    };
    bool good = true;
    for (int i = 0; i < RG_COUNT(cases); ++i) {
        if (cases[i].wrong) {
            rgDiagnostics_Add(diagnostics, rg_severityError, NULL, 0, "camera: %s", cases[i].why);
            good = false;
        }
    }
    return good;
}

// Hidden shapes are drawn where their body has no others, as in the viewer.
static bool rgIsDrawn(const rgCameraDef* def, const rgShapeDef* shape, const bool* shown) {
    if (shape->color[3] == 0) {
        return false;
    }
    return def->colliders ? !shape->visualOnly : !shape->hidden || !shown[shape->body.index1];
}

static rgResult rgCamera_AddShapes(rgCamera* camera, rgDiagnostics* diagnostics) {
    const rgModel* model = camera->model;
    rgModelInfo info = rgModel_Info(model);
    bool* shown = rgAllocate(&camera->def.allocator, (size_t)info.bodyCount + 1, sizeof(bool));
    if (shown == NULL) {
        return rg_errorMemory;
    }
    for (int i = 0; i < info.shapeCount; ++i) {
        const rgShapeDef* shape = rgModel_Shape(model, (rgShapeId){i + 1});
        shown[shape->body.index1] |= !shape->hidden && shape->color[3] > 0;
    }
    rgResult result = rg_ok;
    for (int i = 0; i < info.shapeCount && result == rg_ok; ++i) {
        const rgShapeDef* shape = rgModel_Shape(model, (rgShapeId){i + 1});
        if (!rgIsDrawn(&camera->def, shape, shown)) {
            continue;
        }
        rgGeometryDef def = rgDefaultGeometryDef();
        def.kind = shape->kind;
        def.size = shape->size;
        def.rounding = shape->rounding;
        def.mesh = shape->mesh;
        def.heightField = shape->heightField;
        def.file = shape->source.file;
        def.line = shape->source.line;
        def.allocator = camera->def.allocator;
        rgDrawn* drawn = &camera->drawn[camera->drawnCount];
        result = rgCreateGeometry(&def, NULL, &drawn->geometry);
        if (result == rg_errorArgument) { // a flat visual mesh: nothing that a ray could enter
            rgDiagnostics_Add(diagnostics, rg_severityWarning, def.file, def.line,
                              "camera: shape %d (%s) has no surface and is not drawn", i + 1,
                              shape->name != NULL && shape->name[0] != '\0' ? shape->name
                                                                            : "unnamed");
            result = rg_ok;
            continue;
        }
        drawn->shape = i;
        camera->drawnCount += result == rg_ok;
    }
    rgRelease(&camera->def.allocator, shown);
    return result;
}

static bool rgCamera_Allocate(rgCamera* camera) {
    const rgAllocator* a = &camera->def.allocator;
    const rgCameraDef* def = &camera->def;
    size_t pixels = (size_t)def->width * (size_t)def->height;
    size_t rays = pixels * (size_t)(def->samples * def->samples);
    size_t shapes = (size_t)rgModel_Info(camera->model).shapeCount + 1;
    camera->drawn = rgAllocate(a, shapes, sizeof(rgDrawn));
    camera->order = rgAllocate(a, shapes, sizeof(*camera->order));
    camera->color = rgAllocate(a, 3 * pixels, 1);
    camera->depth = rgAllocate(a, pixels, sizeof(float));
    camera->shapes = rgAllocate(a, pixels, sizeof(rgShapeId));
    camera->found = rgAllocate(a, rays, sizeof(float));
    camera->hit = rgAllocate(a, rays, sizeof(*camera->hit));
    camera->normal = rgAllocate(a, rays, sizeof(rgVec3));
    return camera->drawn != NULL && camera->order != NULL && camera->color != NULL &&
           camera->depth != NULL && camera->shapes != NULL && camera->found != NULL &&
           camera->hit != NULL && camera->normal != NULL;
}

rgResult rgCreateCamera(const rgModel* model, const rgCameraDef* def, rgDiagnostics* diagnostics,
                        rgCamera** camera) {
    if (camera == NULL) {
        return rg_errorArgument;
    }
    *camera = NULL;
    if (model == NULL || def == NULL || def->cookie != RG_COOKIE_CAMERA) {
        rgDiagnostics_Add(diagnostics, rg_severityError, NULL, 0,
                          "camera: a model and rgDefaultCameraDef() are needed");
        return rg_errorArgument;
    }
    if (!rgCheckCamera(model, def, diagnostics)) {
        return rg_errorArgument;
    }
    rgAllocator allocator = rgResolveAllocator(&def->allocator);
    rgCamera* c = rgAllocate(&allocator, 1, sizeof(rgCamera));
    if (c == NULL) {
        return rg_errorMemory;
    }
    c->def = *def;
    if (def->frame.index1 > 0) {
        const rgFrameDef* frame = rgModel_Frame(model, def->frame);
        c->def.body = frame->body;
        c->def.pose = frame->pose;
        c->def.fieldOfView = frame->fieldOfView > 0 ? frame->fieldOfView : def->fieldOfView;
    }
    c->def.allocator = allocator;
    c->def.light = rgNormalize(def->light);
    c->def.pose.q = rgQuatNormalize(c->def.pose.q);
    c->model = model;
    c->slope = 2 * tan(0.5 * c->def.fieldOfView) / def->height;
    rgDynamicsDef dynamics = rgDefaultDynamicsDef(model);
    dynamics.allocator = allocator;
    rgResult result = rgCamera_Allocate(c) ? rg_ok : rg_errorMemory;
    if (result == rg_ok) {
        result = rgCreateDynamics(model, &dynamics, &c->dynamics);
    }
    if (result == rg_ok) {
        result = rgCamera_AddShapes(c, diagnostics);
    }
    if (result != rg_ok) {
        rgDestroyCamera(c);
        return result;
    }
    *camera = c;
    return rg_ok;
}

void rgDestroyCamera(rgCamera* camera) {
    if (camera == NULL) {
        return;
    }
    rgAllocator allocator = camera->def.allocator;
    for (int i = 0; i < camera->drawnCount; ++i) {
        rgDestroyGeometry(camera->drawn[i].geometry);
    }
    rgDestroyDynamics(camera->dynamics);
    void* arrays[] = {camera->drawn,  camera->order, camera->color, camera->depth,
                      camera->shapes, camera->found, camera->hit,   camera->normal};
    for (int i = 0; i < RG_COUNT(arrays); ++i) {
        rgRelease(&allocator, arrays[i]);
    }
    rgRelease(&allocator, camera);
}

rgResult rgCamera_SetPose(rgCamera* camera, rgPose pose) {
    rgQuat q = pose.q;
    double size = q.w * q.w + q.x * q.x + q.y * q.y + q.z * q.z;
    if (camera == NULL || !isfinite(rgLength(pose.p)) || !isfinite(size) || !(size > 0)) {
        return rg_errorArgument;
    }
    camera->def.pose = (rgPose){pose.p, rgQuatNormalize(q)};
    return rg_ok;
}

// ---- rays

// Pixels (with parts) at which a point of the camera's frame is seen, from the upper left corner.
static void rgProject(const rgCamera* camera, rgVec3 x, double* column, double* row) {
    *column = 0.5 * camera->def.width - x.x / (x.z * camera->slope);
    *row = 0.5 * camera->def.height + x.y / (x.z * camera->slope);
}

// Rectangle and nearest depth of a shape from the corners of its box; false: it is not in view. A
// box that reaches behind the nearest distance projects to the whole image.
static bool rgCamera_Frame(const rgCamera* camera, rgDrawn* drawn) {
    const rgCameraDef* def = &camera->def;
    drawn->left = drawn->top = 0;
    drawn->right = def->width;
    drawn->bottom = def->height;
    drawn->distance = 0;
    rgBox box = rgGeometry_LocalBox(drawn->geometry);
    if (!isfinite(rgLength(box.lower)) || !isfinite(rgLength(box.upper))) {
        return true;
    }
    double low[2] = {INFINITY, INFINITY}, high[2] = {-INFINITY, -INFINITY};
    double near = INFINITY, far = -INFINITY;
    for (int k = 0; k < 8; ++k) {
        rgVec3 corner = rgVec(k & 1 ? box.lower.x : box.upper.x, k & 2 ? box.lower.y : box.upper.y,
                              k & 4 ? box.lower.z : box.upper.z);
        rgVec3 x = rgPose_PointBack(camera->pose, rgPose_Point(drawn->pose, corner));
        double column, row;
        rgProject(camera, x, &column, &row);
        low[0] = RG_MIN(low[0], column), high[0] = RG_MAX(high[0], column);
        low[1] = RG_MIN(low[1], row), high[1] = RG_MAX(high[1], row);
        near = RG_MIN(near, -x.z), far = RG_MAX(far, -x.z);
    }
    if (far < def->nearest || near > def->furthest) {
        return false;
    }
    if (near < def->nearest) {
        return true;
    }
    drawn->distance = near;
    drawn->left = (int)RG_MAX(0, RG_MIN(def->width, floor(low[0])));
    drawn->right = (int)RG_MAX(0, RG_MIN(def->width, ceil(high[0])));
    drawn->top = (int)RG_MAX(0, RG_MIN(def->height, floor(low[1])));
    drawn->bottom = (int)RG_MAX(0, RG_MIN(def->height, ceil(high[1])));
    return drawn->left < drawn->right && drawn->top < drawn->bottom;
}

static int rgCompareDistance(const void* a, const void* b) {
    const rgDrawn *x = *(const rgDrawn*const*)a, *y = *(const rgDrawn*const*)b;
    int planes = (rgGeometry_Kind(x->geometry) == rg_shapePlane) -
                 (rgGeometry_Kind(y->geometry) == rg_shapePlane);
    if (planes != 0) { // they reach everywhere, and are cheap where the depth is known
        return planes;
    }
    if (x->distance != y->distance) {
        return x->distance < y->distance ? -1 : 1;
    }
    return (x->shape > y->shape) - (x->shape < y->shape);
}

// Direction of a ray; its component along the viewing direction is one, so that fractions are
// depths.
static rgVec3 rgRayDirection(const rgCamera* camera, double column, double row) {
    return rgVec((column - 0.5 * camera->def.width) * camera->slope,
                 (0.5 * camera->def.height - row) * camera->slope, -1);
}

// Rays of one shape within its rectangle.
static void rgCamera_Cast(rgCamera* camera, const rgDrawn* drawn, int samples) {
    const rgCameraDef* def = &camera->def;
    rgMat3 turn = rgMat3FromQuat(camera->pose.q);
    int stride = def->width * samples;
    for (int row = drawn->top * samples; row < drawn->bottom * samples; ++row) {
        for (int column = drawn->left * samples; column < drawn->right * samples; ++column) {
            int i = row * stride + column;
            if (drawn->distance > (double)camera->found[i]) {
                continue;
            }
            rgVec3 direction =
                rgRayDirection(camera, (column + 0.5) / samples, (row + 0.5) / samples);
            direction = rgMat3_Multiply(&turn, direction);
            double far = RG_MIN((double)camera->found[i], def->furthest) - def->nearest;
            rgRay ray = {rgAddScaled(camera->pose.p, def->nearest, direction), direction, far};
            rgRayHit hit;
            // A ray that starts inside a solid sees nothing of it: cameras sit in robots' heads.
            if (far > 0 && rgRayCast(drawn->geometry, drawn->pose, &ray, &hit) &&
                hit.fraction > 0) {
                camera->found[i] = (float)(hit.fraction + def->nearest);
                camera->hit[i] = drawn;
                camera->normal[i] = hit.normal;
            }
        }
    }
}

// ---- colors

static bool rgRayMeetsAxisBox(const rgBox* box, rgVec3 origin, rgVec3 direction) {
    double near = 0, far = INFINITY;
    for (int k = 0; k < 3; ++k) {
        double o = rgVec3_At(origin, k), d = rgVec3_At(direction, k);
        double low = rgVec3_At(box->lower, k) - o, high = rgVec3_At(box->upper, k) - o;
        if (d == 0) {
            if (low > 0 || high < 0) {
                return false;
            }
            continue;
        }
        near = RG_MAX(near, RG_MIN(low / d, high / d));
        far = RG_MIN(far, RG_MAX(low / d, high / d));
    }
    return near <= far;
}

static bool rgCamera_IsShadowed(const rgCamera* camera, rgVec3 point, rgVec3 normal, double lift) {
    const rgCameraDef* def = &camera->def;
    rgRay ray = {rgAddScaled(point, lift, normal), def->light, def->furthest};
    for (int i = 0; i < camera->drawnCount; ++i) {
        const rgDrawn* drawn = &camera->drawn[i];
        rgRayHit hit;
        if (!drawn->disabled && rgRayMeetsAxisBox(&drawn->box, ray.origin, def->light) &&
            rgRayCast(drawn->geometry, drawn->pose, &ray, &hit) && hit.fraction > 0) {
            return true;
        }
    }
    return false;
}

// A plane shows a checkerboard, which fades to its mean where a pixel sees more than a field.
static double rgCheckerShade(rgPose pose, rgVec3 point, double footprint) {
    rgVec3 x = rgPose_PointBack(pose, point);
    double odd = fmod(floor(x.x / RG_CHECKER_SIZE) + floor(x.y / RG_CHECKER_SIZE), 2);
    double fade = RG_MAX(0, 1 - footprint / RG_CHECKER_SIZE);
    return 1 + (odd != 0 ? 0.12 : -0.12) * fade;
}

// Shapes of the default color take one per body, as in the viewer; those fixed to the world are
// light.
static const float* rgCamera_ShapeColor(const rgCamera* camera, int shape) {
    static const float palette[][3] = {
        {0.30f, 0.45f, 0.70f}, {0.80f, 0.40f, 0.28f}, {0.38f, 0.62f, 0.45f}, {0.88f, 0.70f, 0.33f},
        {0.55f, 0.42f, 0.65f}, {0.35f, 0.62f, 0.68f}, {0.72f, 0.50f, 0.55f}, {0.55f, 0.57f, 0.38f}};
    static const float fixed[3] = {0.82f, 0.82f, 0.80f};
    const rgShapeDef* def = rgModel_Shape(camera->model, (rgShapeId){shape + 1});
    const float* c = def->color;
    bool grey = c[0] == c[1] && c[1] == c[2] && (c[0] == 0.5f || c[0] == 0.6f); // MJCF's and ours
    if (!grey) {
        return c;
    }
    bool moves = rgModel_BodyLink(camera->model, def->body).moving.index1 > 0;
    return moves ? palette[(def->body.index1 - 1) % RG_COUNT(palette)] : fixed;
}

// Lambert's law with one light, and a quarter of the light from the camera.
static void rgCamera_Shade(const rgCamera* camera, int ray, int samples, double rgb[3]) {
    const rgCameraDef* def = &camera->def;
    const rgDrawn* drawn = camera->hit[ray];
    if (drawn == NULL) {
        for (int k = 0; k < 3; ++k) {
            rgb[k] += (double)def->background[k];
        }
        return;
    }
    int stride = def->width * samples;
    double depth = (double)camera->found[ray];
    rgVec3 direction =
        rgRotate(camera->pose.q, rgRayDirection(camera, (ray % stride + 0.5) / samples,
                                                ((double)(ray / stride) + 0.5) / samples));
    rgVec3 point = rgAddScaled(camera->pose.p, depth, direction);
    rgVec3 normal = camera->normal[ray];
    double facing = -rgDot(normal, rgNormalize(direction));
    if (facing < 0) { // the back of an open mesh
        normal = rgNegate(normal);
        facing = -facing;
    }
    double lit = RG_MAX(0, rgDot(normal, def->light));
    if (lit > 0 && def->shadows &&
        rgCamera_IsShadowed(camera, point, normal, RG_SHADOW_LIFT * depth)) {
        lit = 0;
    }
    double shade = 0.3 + 0.5 * lit + 0.25 * facing;
    if (rgGeometry_Kind(drawn->geometry) == rg_shapePlane) {
        double footprint = depth * camera->slope / RG_MAX(facing, 1e-6);
        shade *= rgCheckerShade(drawn->pose, point, footprint);
    }
    const float* color = rgCamera_ShapeColor(camera, drawn->shape);
    for (int k = 0; k < 3; ++k) {
        rgb[k] += RG_MIN(1, (double)color[k] * shade);
    }
}

static void rgCamera_Color(const rgCamera* camera, int samples, uint8_t* color) {
    const rgCameraDef* def = &camera->def;
    double share = 255.0 / (samples * samples);
    for (int row = 0; row < def->height; ++row) {
        for (int column = 0; column < def->width; ++column) {
            double rgb[3] = {0, 0, 0};
            for (int k = 0; k < samples * samples; ++k) {
                int ray = (row * samples + k / samples) * def->width * samples + column * samples +
                          k % samples;
                rgCamera_Shade(camera, ray, samples, rgb);
            }
            for (int k = 0; k < 3; ++k) {
                *color++ = (uint8_t)(share * rgb[k] + 0.5);
            }
        }
    }
}

// ---- images

// Cast all shapes with so many rays per pixel and axis.
static void rgCamera_CastAll(rgCamera* camera, int samples) {
    const rgCameraDef* def = &camera->def;
    size_t rays = (size_t)def->width * (size_t)def->height * (size_t)(samples * samples);
    for (size_t i = 0; i < rays; ++i) {
        camera->found[i] = INFINITY;
        camera->hit[i] = NULL;
    }
    for (int i = 0; i < camera->orderCount; ++i) {
        rgCamera_Cast(camera, camera->order[i], samples);
    }
}

// Shapes in view, with their poses set.
static void rgCamera_Order(rgCamera* camera) {
    camera->orderCount = 0;
    for (int i = 0; i < camera->drawnCount; ++i) {
        rgDrawn* drawn = &camera->drawn[i];
        if (drawn->disabled) {
            continue;
        }
        drawn->box = rgGeometry_Box(drawn->geometry, drawn->pose);
        if (rgCamera_Frame(camera, drawn)) {
            camera->order[camera->orderCount++] = drawn;
        }
    }
    if (camera->orderCount > 0) {
        qsort(camera->order, (size_t)camera->orderCount, sizeof(*camera->order), rgCompareDistance);
    }
}

static void rgCamera_Fill(rgCamera* camera, uint8_t* color, float* depth, rgShapeId* shapes) {
    const rgCameraDef* def = &camera->def;
    int samples = def->samples;
    rgCamera_Order(camera);
    if (color != NULL) {
        rgCamera_CastAll(camera, samples);
        rgCamera_Color(camera, samples, color);
    }
    if (depth == NULL && shapes == NULL) {
        return;
    }
    if (color == NULL || samples > 1) { // depth and shape belong to the ray through the middle
        rgCamera_CastAll(camera, 1);
    }
    for (int i = 0; i < def->width * def->height; ++i) {
        if (depth != NULL) {
            depth[i] = camera->found[i];
        }
        if (shapes != NULL) {
            shapes[i].index1 = camera->hit[i] != NULL ? camera->hit[i]->shape + 1 : 0;
        }
    }
}

rgResult rgCamera_Draw(rgCamera* camera, const rgWorld* world, rgImage* image) {
    if (camera == NULL || world == NULL || image == NULL || rgWorld_Model(world) != camera->model) {
        return rg_errorArgument;
    }
    const rgCameraDef* def = &camera->def;
    rgPose body = def->body.index1 > 0 ? rgWorld_BodyPose(world, def->body) : rgPoseIdentity();
    camera->pose = rgPoseMultiply(body, def->pose);
    for (int i = 0; i < camera->drawnCount; ++i) {
        rgDrawn* drawn = &camera->drawn[i];
        drawn->disabled = world->model->shapes[drawn->shape].disabled ||
                          rgState_LinkIsDisabled(&world->state, world->model,
                                                 camera->model->shapePlaces[drawn->shape].link);
        drawn->pose = rgWorld_ShapePose(world, (rgShapeId){drawn->shape + 1});
    }
    bool color = def->channels & rg_imageColor, depth = def->channels & rg_imageDepth;
    bool shapes = def->channels & rg_imageShapes;
    rgCamera_Fill(camera, color ? camera->color : NULL, depth ? camera->depth : NULL,
                  shapes ? camera->shapes : NULL);
    *image = (rgImage){.width = def->width,
                       .height = def->height,
                       .color = color ? camera->color : NULL,
                       .depth = depth ? camera->depth : NULL,
                       .shapes = shapes ? camera->shapes : NULL};
    return rg_ok;
}

rgResult rgCamera_DrawStates(rgCamera* camera, const double* q, int count, uint8_t* color,
                             float* depth, rgShapeId* shapes) {
    if (camera == NULL || count < 0 || (q == NULL && count > 0)) {
        return rg_errorArgument;
    }
    const rgCameraDef* def = &camera->def;
    int qCount = rgModel_Info(camera->model).qCount;
    size_t pixels = (size_t)def->width * (size_t)def->height;
    for (int n = 0; n < count; ++n) {
        const double* state = q + (size_t)n * (size_t)qCount;
        for (int k = 0; k < qCount; ++k) {
            if (!isfinite(state[k])) {
                return rg_errorArgument;
            }
        }
        rgDynamics_SetPositions(camera->dynamics, state);
        rgPose body = def->body.index1 > 0 ? rgDynamics_BodyPose(camera->dynamics, def->body)
                                           : rgPoseIdentity();
        camera->pose = rgPoseMultiply(body, def->pose);
        for (int i = 0; i < camera->drawnCount; ++i) {
            rgShapeId shape = {camera->drawn[i].shape + 1};
            camera->drawn[i].disabled = rgModel_Shape(camera->model, shape)->disabled;
            camera->drawn[i].pose = rgDynamics_ShapePose(camera->dynamics, shape);
        }
        rgCamera_Fill(camera, color != NULL ? color + 3 * pixels * (size_t)n : NULL,
                      depth != NULL ? depth + pixels * (size_t)n : NULL,
                      shapes != NULL ? shapes + pixels * (size_t)n : NULL);
    }
    return rg_ok;
}
