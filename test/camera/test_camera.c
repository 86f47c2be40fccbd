// Images beside other code: rays of the world, the angular size of a ball, stored states, refusals.
#include "../world/scene.h"

#include "rigor/camera.h"
#include "rigor/query.h"

#include "random_model.h"

static void assert_near(double value, double expected, double tolerance) {
    if (!(fabs(value - expected) <= tolerance)) {
        fail_msg("%g is not within %g of %g", value, tolerance, expected);
    }
}

// Ball, box, capsule and cylinder on bodies of their own above a plane, a field and a box of the
// world.
static Scene Room(void) {
    static const double heights[12] = {0, 0.2, 0.1, 0, 0.1, 0.4, 0.2, 0, 0, 0.1, 0, 0.3};
    static const rgHeightFieldData hills = {4, 3, 1, 1, 0.2, heights};
    Scene scene = SceneStart();
    rgShapeDef shape = rgDefaultShapeDef();
    shape.kind = rg_shapePlane;
    assert_int_equal(rgModelDef_AddShape(scene.def, &shape, NULL), rg_ok);
    shape.kind = rg_shapeHeightField;
    shape.heightField = &hills;
    shape.pose.p = rgVec(2, 2, 0.1);
    assert_int_equal(rgModelDef_AddShape(scene.def, &shape, NULL), rg_ok);
    rgShapeKind kinds[4] = {rg_shapeSphere, rg_shapeBox, rg_shapeCapsule, rg_shapeCylinder};
    rgRandom seed = {3};
    for (int i = 0; i < 12; ++i) {
        Solid solid = SolidOf(kinds[i % 4], rgVec(0.2, 0.3, 0.25), 1,
                              rgAdd(rgRandomVec(&seed, 1.5), rgVec(0, 0, 2)));
        solid.pose.q = rgRandomPose(&seed).q;
        (void)SceneFree(&scene, &solid);
    }
    rgWorldDef def = SceneWorldDef(1e-3, 1e-6);
    SceneMake(&scene, &def);
    return scene;
}

static rgCamera* MakeCamera(const Scene* scene, rgCameraDef* def) {
    rgCamera* camera = NULL;
    assert_int_equal(rgCreateCamera(scene->model, def, NULL, &camera), rg_ok);
    return camera;
}

// Every pixel has the shape and the depth that the world's own ray through its middle has.
static void test_pixels_equal_rays_of_the_world(void** state) {
    (void)state;
    Scene scene = Room();
    rgCameraDef def = rgDefaultCameraDef();
    def.width = 61;
    def.height = 47;
    def.samples = 2;
    rgVec3 eyes[3] = {{3, -4, 3}, {0.1, 0.2, 8}, {-0.3, 0.1, 1.9}};
    int seen = 0;
    for (int n = 0; n < 3; ++n) {
        assert_int_equal(rgLookAt(eyes[n], rgVec(0, 0, 1), &def.pose), rg_ok);
        rgCamera* camera = MakeCamera(&scene, &def);
        rgImage image;
        assert_int_equal(rgCamera_Draw(camera, scene.world, &image), rg_ok);
        double slope = 2 * tan(0.5 * def.fieldOfView) / def.height;
        for (int i = 0; i < def.width * def.height; ++i) {
            rgVec3 direction = rgVec((i % def.width + 0.5 - 0.5 * def.width) * slope,
                                     (0.5 * def.height - i / def.width - 0.5) * slope, -1);
            direction = rgRotate(def.pose.q, direction);
            rgRay ray = {rgAddScaled(eyes[n], def.nearest, direction), direction, def.furthest};
            rgWorldHit hit;
            bool any = rgWorld_RayCast(scene.world, &ray, NULL, &hit);
            if (any && hit.fraction == 0) {
                continue; // the eye is inside
            }
            assert_int_equal(image.shapes[i].index1, any ? hit.shape.index1 : 0);
            if (any) {
                assert_near((double)image.depth[i], hit.fraction + def.nearest,
                            1e-6 * def.furthest);
                ++seen;
            } else {
                assert_true(isinf(image.depth[i]));
            }
        }
        rgDestroyCamera(camera);
    }
    assert_true(seen > 5000);
    SceneEnd(&scene);
}

// A ball of radius r at distance d covers the pixels within the angle asin(r/d), at depth d - r in
// the middle; its color is that of its shape, lit.
static void test_ball_has_its_angular_size(void** state) {
    (void)state;
    Scene scene = SceneStart();
    Solid solid = SolidOf(rg_shapeSphere, rgVec(0.5, 0, 0), 1, rgVec(0, 0, 0));
    rgBodyId ball = SceneFree(&scene, &solid);
    rgWorldDef world = SceneWorldDef(1e-3, 1e-6);
    SceneMake(&scene, &world);
    rgCameraDef def = rgDefaultCameraDef();
    def.width = def.height = 201;
    assert_int_equal(rgLookAt(rgVec(4, 0, 0), rgVec(0, 0, 0), &def.pose), rg_ok);
    rgCamera* camera = MakeCamera(&scene, &def);
    rgImage image;
    assert_int_equal(rgCamera_Draw(camera, scene.world, &image), rg_ok);
    int count = 0;
    for (int i = 0; i < 201 * 201; ++i) {
        count += image.shapes[i].index1 != 0;
    }
    double slope = 2 * tan(0.5 * def.fieldOfView) / def.height;
    double radius = tan(asin(0.5 / 4)) / slope;
    assert_near(count, 3.141592653589793 * radius * radius, 0.02 * count);
    assert_near((double)image.depth[100 * 201 + 100], 3.5, 1e-4);
    assert_memory_not_equal(image.color + 3 * (100 * 201 + 100), image.color, 3);
    // The camera on the body sees the same wherever the body is, but not its own inside.
    rgDestroyCamera(camera);
    def.body = ball;
    camera = MakeCamera(&scene, &def);
    rgPose away = {rgVec(7, -3, 2), rgQuatFromAxisAngle(rgVec(0, 1, 0), 1)};
    assert_int_equal(rgWorld_SetBodyPose(scene.world, ball, away), rg_ok);
    assert_int_equal(rgCamera_Draw(camera, scene.world, &image), rg_ok);
    assert_near((double)image.depth[100 * 201 + 100], 3.5, 1e-4);
    assert_int_equal(rgCamera_SetPose(camera, rgPoseIdentity()), rg_ok);
    assert_int_equal(rgCamera_Draw(camera, scene.world, &image), rg_ok);
    assert_int_equal(image.shapes[100 * 201 + 100].index1, 0);
    // What is disabled is not seen.
    assert_int_equal(rgCamera_SetPose(camera, def.pose), rg_ok);
    assert_int_equal(rgWorld_EnableBody(scene.world, ball, false), rg_ok);
    assert_int_equal(rgCamera_Draw(camera, scene.world, &image), rg_ok);
    assert_int_equal(image.shapes[100 * 201 + 100].index1, 0);
    rgDestroyCamera(camera);
    SceneEnd(&scene);
}

// Stored states give the image of a world in that state, byte for byte, with any channels.
static void test_states_equal_worlds(void** state) {
    (void)state;
    Scene scene = Room();
    rgCameraDef def = rgDefaultCameraDef();
    def.width = 40;
    def.height = 30;
    def.shadows = true;
    assert_int_equal(rgLookAt(rgVec(3, -4, 3), rgVec(0, 0, 1), &def.pose), rg_ok);
    rgCamera* camera = MakeCamera(&scene, &def);
    int nq;
    enum { PIXELS = 40 * 30, COUNT = 3 };
    double q[COUNT * 12 * 7];
    static uint8_t color[COUNT * PIXELS * 3], alone[COUNT * PIXELS * 3];
    static float depth[COUNT * PIXELS];
    static rgShapeId shapes[COUNT * PIXELS];
    static uint8_t kept[COUNT][PIXELS * 3];
    for (int n = 0; n < COUNT; ++n) {
        for (int i = 0; i < 100; ++i) {
            assert_int_equal(rgWorld_Step(scene.world, NULL), rg_ok);
        }
        const double* now = rgWorld_Positions(scene.world, &nq);
        assert_int_equal(nq, 12 * 7);
        memcpy(q + n * nq, now, sizeof(double) * (size_t)nq);
        rgImage image;
        assert_int_equal(rgCamera_Draw(camera, scene.world, &image), rg_ok);
        memcpy(kept[n], image.color, sizeof(kept[n]));
    }
    assert_int_equal(rgCamera_DrawStates(camera, q, COUNT, color, depth, shapes), rg_ok);
    assert_int_equal(rgCamera_DrawStates(camera, q, COUNT, alone, NULL, NULL), rg_ok);
    assert_memory_equal(color, kept, sizeof(color));
    assert_memory_equal(color, alone, sizeof(color));
    assert_memory_not_equal(kept[0], kept[2], sizeof(kept[0]));
    q[3] = NAN;
    assert_int_equal(rgCamera_DrawStates(camera, q, COUNT, color, depth, shapes), rg_errorArgument);
    rgDestroyCamera(camera);
    SceneEnd(&scene);
}

// A ball of 0.3 m inside a box of 0.4 m that is hidden, and another such box alone: the ball and
// the second box are seen, and with `colliders` both boxes.
static void test_hidden_shapes(void** state) {
    (void)state;
    Scene scene = SceneStart();
    Solid box = SolidOf(rg_shapeBox, rgVec(0.4, 0.4, 0.4), 1, rgVec(0, 0, 0));
    rgShapeDef shape = rgDefaultShapeDef();
    shape.body = SceneFree(&scene, &box);
    shape.kind = rg_shapeSphere;
    shape.size.x = 0.3;
    shape.visualOnly = true;
    assert_int_equal(rgModelDef_AddShape(scene.def, &shape, NULL), rg_ok);
    box.pose.p = rgVec(0, 2, 0);
    (void)SceneFree(&scene, &box);
    for (int i = 1; i <= 3; i += 2) {
        rgShapeDef hidden = *rgModelDef_Shape(scene.def, (rgShapeId){i});
        hidden.hidden = true;
        assert_int_equal(rgModelDef_SetShape(scene.def, (rgShapeId){i}, &hidden), rg_ok);
    }
    rgWorldDef world = SceneWorldDef(1e-3, 1e-6);
    SceneMake(&scene, &world);
    rgCameraDef def = rgDefaultCameraDef();
    for (int colliders = 0; colliders <= 1; ++colliders) {
        for (int side = 0; side <= 1; ++side) {
            def.colliders = colliders;
            assert_int_equal(rgLookAt(rgVec(5, 2 * side, 0), rgVec(0, 2 * side, 0), &def.pose),
                             rg_ok);
            rgCamera* camera = MakeCamera(&scene, &def);
            rgImage image;
            assert_int_equal(rgCamera_Draw(camera, scene.world, &image), rg_ok);
            int seen = image.shapes[120 * 320 + 160].index1;
            assert_int_equal(seen, side ? 3 : colliders ? 1 : 2);
            rgDestroyCamera(camera);
        }
    }
    SceneEnd(&scene);
}

// A box above the floor takes the light from the floor below it, and from nothing else.
static void test_shadow_lies_below(void** state) {
    (void)state;
    Scene scene = SceneStart();
    rgShapeDef shape = rgDefaultShapeDef();
    shape.kind = rg_shapePlane;
    assert_int_equal(rgModelDef_AddShape(scene.def, &shape, NULL), rg_ok);
    Solid solid = SolidOf(rg_shapeBox, rgVec(0.3, 0.3, 0.1), 1, rgVec(0, 0, 1));
    (void)SceneFree(&scene, &solid);
    rgWorldDef world = SceneWorldDef(1e-3, 1e-6);
    SceneMake(&scene, &world);
    rgCameraDef def = rgDefaultCameraDef();
    def.width = def.height = 101;
    def.light = rgVec(0, 0, 1);
    assert_int_equal(rgLookAt(rgVec(0, -2, 0.5), rgVec(0, 0, 0.5), &def.pose), rg_ok);
    rgCamera* bright = MakeCamera(&scene, &def);
    def.shadows = true;
    rgCamera* dark = MakeCamera(&scene, &def);
    rgImage a, b;
    assert_int_equal(rgCamera_Draw(bright, scene.world, &a), rg_ok);
    assert_int_equal(rgCamera_Draw(dark, scene.world, &b), rg_ok);
    double slope = 2 * tan(0.5 * def.fieldOfView) / def.height;
    int shadowed = 0;
    for (int i = 0; i < 101 * 101; ++i) {
        rgVec3 direction = rgVec((i % 101 - 50) * slope, 1, (50 - i / 101) * slope);
        rgVec3 x = rgAddScaled(rgVec(0, -2, 0.5), (double)b.depth[i], direction);
        bool below = b.shapes[i].index1 == 1 && fabs(x.x) < 0.29 && fabs(x.y) < 0.29;
        bool outside = b.shapes[i].index1 != 2 && (fabs(x.x) > 0.31 || fabs(x.y) > 0.31);
        if (below) {
            assert_true(b.color[3 * i] < a.color[3 * i]);
            ++shadowed;
        } else if (outside) {
            assert_memory_equal(a.color + 3 * i, b.color + 3 * i, 3);
        }
    }
    assert_true(shadowed > 20);
    rgDestroyCamera(bright);
    rgDestroyCamera(dark);
    SceneEnd(&scene);
}

// Visual meshes without a surface are named and left out; others are seen.
static void test_meshes_without_surface(void** state) {
    (void)state;
    static const double solid[] = {-1, -1, -1, 1, -1, -1, 0, 1, -1, 0, 0, 1};
    static const double line[] = {0, 0, 0, 1, 0, 0, 2, 0, 0, 3, 0, 0};
    static const int faces[] = {0, 2, 1, 0, 1, 3, 1, 2, 3, 2, 0, 3};
    static const char* const names[] = {"solid", "line", NULL};
    Scene scene = SceneStart();
    for (int i = 0; i < 3; ++i) {
        const rgMeshData mesh = {4, i == 0 ? solid : line, 4, faces};
        rgShapeDef shape = rgDefaultShapeDef();
        shape.kind = rg_shapeMesh;
        shape.mesh = &mesh;
        shape.visualOnly = true;
        shape.name = names[i];
        assert_int_equal(rgModelDef_AddShape(scene.def, &shape, NULL), rg_ok);
    }
    Solid ball = SolidOf(rg_shapeSphere, rgVec(0.1, 0, 0), 1, rgVec(0, 0, 9));
    (void)SceneFree(&scene, &ball);
    rgWorldDef world = SceneWorldDef(1e-3, 1e-6);
    SceneMake(&scene, &world);
    rgCameraDef def = rgDefaultCameraDef();
    def.width = def.height = 9;
    assert_int_equal(rgLookAt(rgVec(0, -9, 0), rgVec(0, 0, 0), &def.pose), rg_ok);
    rgDiagnostics* said = NULL;
    rgCamera* camera = NULL;
    assert_int_equal(rgCreateDiagnostics(NULL, &said), rg_ok);
    assert_int_equal(rgCreateCamera(scene.model, &def, said, &camera), rg_ok);
    assert_int_equal(rgDiagnostics_Count(said), 2);
    assert_string_equal(rgDiagnostics_Message(said, 0).text,
                        "camera: shape 2 (line) has no surface and is not drawn");
    assert_string_equal(rgDiagnostics_Message(said, 1).text,
                        "camera: shape 3 (unnamed) has no surface and is not drawn");
    rgImage image;
    assert_int_equal(rgCamera_Draw(camera, scene.world, &image), rg_ok);
    assert_int_equal(image.shapes[4 * 9 + 4].index1, 1);
    rgDestroyCamera(camera);
    rgDestroyDiagnostics(said);
    SceneEnd(&scene);
}

static void test_refusals(void** state) {
    (void)state;
    Scene scene = Room();
    rgCameraDef good = rgDefaultCameraDef();
    rgCameraDef bad[10];
    for (int i = 0; i < 10; ++i) {
        bad[i] = good;
    }
    bad[0].width = 0;
    bad[1].height = 100000;
    bad[2].fieldOfView = 4;
    bad[3].body.index1 = 99;
    bad[4].pose.p.x = NAN;
    bad[5].channels = 0;
    bad[6].samples = 0;
    bad[7].nearest = 2000;
    bad[8].light = rgVec(0, 0, 0);
    bad[9].cookie = 0;
    for (int i = 0; i < 10; ++i) {
        rgDiagnostics* diagnostics = NULL;
        rgCamera* camera = (rgCamera*)&scene;
        assert_int_equal(rgCreateDiagnostics(NULL, &diagnostics), rg_ok);
        assert_int_equal(rgCreateCamera(scene.model, &bad[i], diagnostics, &camera),
                         rg_errorArgument);
        assert_null(camera);
        assert_int_equal(rgDiagnostics_CountOf(diagnostics, rg_severityError), 1);
        rgDestroyDiagnostics(diagnostics);
    }
    rgPose pose;
    assert_int_equal(rgLookAt(rgVec(1, 2, 3), rgVec(1, 2, 3), &pose), rg_errorArgument);
    Scene other = Room();
    rgCamera* camera = MakeCamera(&scene, &good);
    rgImage image;
    assert_int_equal(rgCamera_Draw(camera, other.world, &image), rg_errorArgument);
    assert_int_equal(rgCamera_SetPose(camera, (rgPose){{0, 0, 0}, {0, 0, 0, 0}}), rg_errorArgument);
    rgDestroyCamera(camera);
    SceneEnd(&other);
    SceneEnd(&scene);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pixels_equal_rays_of_the_world),
        cmocka_unit_test(test_ball_has_its_angular_size),
        cmocka_unit_test(test_states_equal_worlds),
        cmocka_unit_test(test_hidden_shapes),
        cmocka_unit_test(test_shadow_lies_below),
        cmocka_unit_test(test_meshes_without_surface),
        cmocka_unit_test(test_refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
