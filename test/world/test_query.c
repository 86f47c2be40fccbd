// Questions to a world beside brute force: rays and casts against every kind of shape, Jacobians
// by finite differences, momenta, and forces of pairs that add up to m a.
#include "scene.h"

#include "random_model.h"

#define ROCK 8
static const double rock[3 * ROCK] = {-0.3, -0.2, -0.2, 0.3,  -0.3, -0.1, 0.2, 0.3,
                                      -0.2, -0.2, 0.2,  -0.3, -0.2, -0.2, 0.3, 0.2,
                                      -0.1, 0.2,  0.3,  0.2,  0.3,  -0.1, 0.3, 0.2};
static const int roof[12] = {0, 1, 2, 0, 2, 3, 0, 3, 1, 1, 3, 2};
static const double roofCorners[12] = {0, 0, 0.5, 0.5, -0.4, 0, 0, 0.6, 0, -0.5, -0.4, 0};
static const double hills[12] = {0, 0.2, 0.1, 0, 0.1, 0.4, 0.2, 0, 0, 0.1, 0, 0.3};

static rgShapeDef ShapeOf(rgShapeKind kind) {
    static const rgMeshData hull = {.vertexCount = ROCK, .vertices = rock};
    static const rgMeshData mesh = {4, roofCorners, 4, roof};
    static const rgHeightFieldData field = {4, 3, 12, 10, 0.2, hills};
    rgShapeDef shape = rgDefaultShapeDef();
    shape.kind = kind;
    shape.size = rgVec(0.2, 0.3, 0.25);
    shape.mesh = kind == rg_shapeHull ? &hull : kind == rg_shapeMesh ? &mesh : NULL;
    shape.heightField = kind == rg_shapeHeightField ? &field : NULL;
    return shape;
}

#define KINDS 9
static const rgShapeKind kinds[KINDS] = {rg_shapePlane,       rg_shapeSphere, rg_shapeCapsule,
                                         rg_shapeCylinder,    rg_shapeBox,    rg_shapeEllipsoid,
                                         rg_shapeHeightField, rg_shapeHull,   rg_shapeMesh};

// One of each kind in the world, and twelve bodies.
static Scene Room(int number, rgBodyId* moving) {
    rgRandom seed = {(uint64_t)number};
    Scene scene = SceneStart();
    for (int i = 0; i < KINDS; ++i) {
        rgShapeDef shape = ShapeOf(kinds[i]);
        shape.pose = (rgPose){rgRandomVec(&seed, 2), rgRandomPose(&seed).q};
        if (shape.kind == rg_shapePlane) {
            shape.pose = (rgPose){rgVec(0, 0, -2.5), rgQuatIdentity()};
        } else if (shape.kind == rg_shapeHeightField) { // ground, which has no side to enter by
            shape.pose = (rgPose){rgVec(0, 0, -2.4), rgQuatIdentity()};
        }
        shape.group = 1u << (i % 3);
        assert_int_equal(rgModelDef_AddShape(scene.def, &shape, NULL), rg_ok);
    }
    for (int i = 0; i < 12; ++i) {
        rgShapeKind kind = kinds[1 + i % 5];
        Solid solid = SolidOf(kind, rgVec(0.2, 0.3, 0.25), 1, rgRandomVec(&seed, 2));
        solid.pose.q = rgRandomPose(&seed).q;
        rgBodyId id = SceneFree(&scene, &solid);
        *moving = i == 5 ? id : *moving;
    }
    rgWorldDef def = SceneWorldDef(1e-3, 1e-6);
    SceneMake(&scene, &def);
    return scene;
}

static rgGeometry* MakeGeometry(const rgShapeDef* shape) {
    rgGeometryDef def = rgDefaultGeometryDef();
    def.kind = shape->kind;
    def.size = shape->size;
    def.mesh = shape->mesh;
    def.heightField = shape->heightField;
    rgGeometry* geometry = NULL;
    assert_int_equal(rgCreateGeometry(&def, NULL, &geometry), rg_ok);
    return geometry;
}

#define SHAPES (KINDS + 12)

// True if both have the same bits; the end of the struct is padding.
static bool rgSameHit(const rgWorldHit* a, const rgWorldHit* b) {
    return memcmp(a, b, offsetof(rgWorldHit, part)) == 0 && a->part == b->part;
}

static void test_rays(void** state) {
    (void)state;
    rgBodyId moving = {0};
    Scene scene = Room(3, &moving);
    SceneRun(&scene, 50); // boxes of the broadphase are those of the step
    rgGeometry* geometries[SHAPES];
    for (int i = 0; i < SHAPES; ++i) {
        geometries[i] = MakeGeometry(rgModel_Shape(scene.model, (rgShapeId){i + 1}));
    }
    rgRandom seed = {11};
    int hits[SHAPES] = {0}, misses = 0;
    for (int n = 0; n < 4000; ++n) {
        rgRay ray = {rgRandomVec(&seed, 3), rgRandomVec(&seed, 1), rgRandom_Uniform(&seed, 0.5, 8)};
        rgQueryFilter filter = {.groups = n % 4 == 1 ? 3 : 0};
        filter.ignore = n % 4 == 2 ? moving : (rgBodyId){0};
        rgWorldHit hit;
        const rgQueryFilter* used = n % 4 == 0 ? NULL : &filter;
        bool found = rgWorld_RayCast(scene.world, &ray, used, &hit);
        rgRay pair[2] = {ray, {rgVec(0, 0, 1e9), rgVec(0, 0, 1), 1}};
        rgWorldHit both[2];
        assert_int_equal(rgWorld_CastRays(scene.world, pair, 2, used, both), found);
        assert_true(found ? rgSameHit(&both[0], &hit) : isinf(both[0].distance));
        assert_true(isinf(both[1].distance) && both[1].shape.index1 == 0);
        int best = -1;
        rgRayHit nearest = {.fraction = INFINITY}, one;
        for (int i = 0; i < SHAPES; ++i) {
            const rgShapeDef* shape = rgModel_Shape(scene.model, (rgShapeId){i + 1});
            bool passed = (filter.groups != 0 && (filter.groups & shape->group) == 0) ||
                          (filter.ignore.index1 > 0 && shape->body.index1 == moving.index1);
            if (!passed &&
                rgRayCast(geometries[i], rgWorld_ShapePose(scene.world, (rgShapeId){i + 1}), &ray,
                          &one) &&
                one.fraction < nearest.fraction) {
                nearest = one;
                best = i;
            }
        }
        assert_int_equal(found, best >= 0);
        if (found) {
            EXPECT_NEAR(hit.fraction, nearest.fraction, 0);
            EXPECT_NEAR(hit.distance, nearest.fraction * rgLength(ray.direction), 1e-14);
            EXPECT_NEAR(rgLength(rgSub(hit.point, nearest.position)), 0, 0);
            EXPECT_NEAR(rgLength(rgSub(hit.normal, nearest.normal)), 0, 0);
            const rgShapeDef* shape = rgModel_Shape(scene.model, hit.shape);
            assert_int_equal(hit.body.index1, shape->body.index1);
            hits[hit.shape.index1 - 1] += 1;
        }
        misses += !found;
    }
    for (int i = 0; i < SHAPES; ++i) {
        assert_true(hits[i] > 0);
        rgDestroyGeometry(geometries[i]);
    }
    assert_true(misses > 100);
    SceneEnd(&scene);
}

// Many rays by the tree give the bits of each alone, also where shapes are in the same place.
static void test_many_rays(void** state) {
    (void)state;
    enum { bodies = 300, rays = 1000 };
    rgRandom seed = {23};
    Scene scene = SceneStart();
    ScenePlane(&scene, 0.5, rgQuatIdentity());
    for (int i = 0; i < bodies; ++i) {
        rgVec3 place = rgRandomVec(&seed, 6);
        Solid solid = SolidOf(kinds[1 + i % 5], rgVec(0.2, 0.3, 0.25), 1, place);
        SceneFree(&scene, &solid);
        if (i % 10 == 0) {
            SceneFree(&scene, &solid); // a twin
        }
    }
    rgWorldDef def = SceneWorldDef(1e-3, 1e-6);
    SceneMake(&scene, &def);
    static rgRay ray[rays];
    static rgWorldHit many[rays];
    int met = 0;
    for (int i = 0; i < rays; ++i) {
        ray[i] = (rgRay){rgRandomVec(&seed, 6), rgRandomVec(&seed, 1), 20};
    }
    int found = rgWorld_CastRays(scene.world, ray, rays, NULL, many);
    for (int i = 0; i < rays; ++i) {
        rgWorldHit one;
        bool any = rgWorld_RayCast(scene.world, &ray[i], NULL, &one);
        assert_true(any == isfinite(many[i].distance));
        assert_true(!any || rgSameHit(&one, &many[i]));
        met += any;
    }
    assert_int_equal(met, found);
    assert_in_range(met, 300, 999);
    SceneEnd(&scene);
}

static double Nearest(const Scene* scene, const rgGeometry* geometry, rgPose pose,
                      rgGeometry* const* geometries) {
    double least = INFINITY;
    for (int i = 0; i < SHAPES; ++i) {
        rgProximity p;
        assert_int_equal(rgDistance(geometry, pose, geometries[i],
                                    rgWorld_ShapePose(scene->world, (rgShapeId){i + 1}), NULL, &p),
                         rg_ok);
        least = fmin(least, p.distance);
    }
    return least;
}

// Free on the way, touching at the end; and the shapes that overlap are those at no distance.
static void test_casts_and_overlaps(void** state) {
    (void)state;
    rgBodyId moving = {0};
    Scene scene = Room(5, &moving);
    rgGeometry *geometries[SHAPES], *movers[6];
    for (int i = 0; i < SHAPES; ++i) {
        geometries[i] = MakeGeometry(rgModel_Shape(scene.model, (rgShapeId){i + 1}));
    }
    for (int i = 0; i < 6; ++i) {
        rgShapeDef shape = ShapeOf(i < 5 ? kinds[1 + i] : rg_shapeHull);
        movers[i] = MakeGeometry(&shape);
    }
    rgRandom seed = {21};
    int hits = 0, misses = 0, inside = 0, casts = rgFewer(600);
    for (int n = 0; n < casts; ++n) {
        const rgGeometry* mover = movers[n % 6];
        rgPose pose = {rgRandomVec(&seed, 2.5), rgRandomPose(&seed).q};
        pose.p.z = fabs(pose.p.z) - 1.5;
        rgVec3 direction = rgRandomVec(&seed, 1);
        double most = rgRandom_Uniform(&seed, 0.5, 4);
        rgWorldHit hit;
        bool found = rgWorld_ShapeCast(scene.world, mover, pose, direction, most, NULL, &hit);
        double end = found ? hit.fraction : most;
        rgPose at = pose;
        for (int k = 0; k < 20; ++k) {
            at.p = rgAddScaled(pose.p, end * k / 20, direction);
            double gap = Nearest(&scene, mover, at, geometries);
            if (end > 0) {
                assert_true(gap > -1e-9);
            }
        }
        if (found) {
            at.p = rgAddScaled(pose.p, end, direction);
            double gap = Nearest(&scene, mover, at, geometries);
            assert_true(gap <= 2e-6);
            assert_true(end == 0 || gap >= -1e-9);
            if (end > 0) {
                EXPECT_NEAR(rgLength(hit.normal), 1, 1e-9);
                assert_true(rgDot(hit.normal, direction) < 1e-3 * rgLength(direction));
            }
        }
        hits += found && end > 0;
        inside += found && end == 0;
        misses += !found;

        rgShapeId shapes[SHAPES];
        int count = rgWorld_Overlaps(scene.world, mover, pose, NULL, shapes, SHAPES), next = 0;
        for (int i = 0; i < SHAPES; ++i) {
            bool overlaps = rgOverlap(mover, pose, geometries[i],
                                      rgWorld_ShapePose(scene.world, (rgShapeId){i + 1}));
            if (overlaps) {
                assert_true(next < count);
                assert_int_equal(shapes[next++].index1, i + 1);
            }
        }
        assert_int_equal(next, count);
        assert_int_equal(rgWorld_Overlaps(scene.world, mover, pose, NULL, NULL, 0), count);
    }
    assert_true(hits > casts / 30 && misses >= casts / 200 && inside > casts / 30);

    // a ball of 0.2 m dropped on the plane from z = 3: it stops at 0.2 above -2.5
    rgWorldHit hit;
    rgPose high = {rgVec(40, 0, 3), rgQuatIdentity()};
    assert_true(rgWorld_ShapeCast(scene.world, movers[0], high, rgVec(0, 0, -1), 10, NULL, &hit));
    EXPECT_NEAR(hit.distance, 5.3, 2e-6);
    EXPECT_NEAR(hit.normal.z, 1, 1e-12);
    EXPECT_NEAR(hit.point.z, -2.5, 1e-12);
    assert_false(rgWorld_ShapeCast(scene.world, movers[0], high, rgVec(0, 0, 1), 10, NULL, &hit));
    assert_false(rgWorld_ShapeCast(scene.world, movers[0], high, rgVec(NAN, 0, 1), 1, NULL, &hit));

    // what is disabled is passed by, and so is what is told to be
    rgRay ray = {rgWorld_BodyPose(scene.world, moving).p, rgVec(0, 0, -1), 1};
    assert_true(rgWorld_RayCast(scene.world, &ray, NULL, &hit));
    EXPECT_NEAR(hit.distance, 0, 0);
    assert_int_equal(rgWorld_EnableBody(scene.world, moving, false), rg_ok);
    bool found = rgWorld_RayCast(scene.world, &ray, NULL, &hit);
    assert_true(!found || hit.body.index1 != moving.index1);
    for (int i = 0; i < SHAPES; ++i) {
        rgDestroyGeometry(geometries[i]);
    }
    for (int i = 0; i < 6; ++i) {
        rgDestroyGeometry(movers[i]);
    }
    SceneEnd(&scene);
}

static void test_shape_distance(void** state) {
    (void)state;
    Scene scene = SceneStart();
    Solid a = SolidOf(rg_shapeSphere, rgVec(0.3, 0, 0), 1, rgVec(0, 0, 0));
    Solid b = SolidOf(rg_shapeSphere, rgVec(0.2, 0, 0), 1, rgVec(3, 4, 0));
    SceneFree(&scene, &a);
    rgBodyId second = SceneFree(&scene, &b);
    rgShapeDef shown = rgDefaultShapeDef();
    shown.kind = rg_shapeSphere;
    shown.size.x = 1;
    shown.visualOnly = true;
    assert_int_equal(rgModelDef_AddShape(scene.def, &shown, NULL), rg_ok);
    rgWorldDef def = SceneWorldDef(1e-3, 1e-6);
    SceneMake(&scene, &def);
    rgProximity p;
    rgShapeId one = {1}, two = {2}, three = {3};
    assert_int_equal(rgWorld_ShapeDistance(scene.world, one, two, &p), rg_ok);
    EXPECT_NEAR(p.distance, 4.5, 1e-14);
    EXPECT_NEAR(p.normal.x, 0.6, 1e-14);
    rgPose near = {rgVec(0, 0, 0.4), rgQuatIdentity()};
    assert_int_equal(rgWorld_SetBodyPose(scene.world, second, near), rg_ok);
    assert_int_equal(rgWorld_ShapeDistance(scene.world, two, one, &p), rg_ok);
    EXPECT_NEAR(p.distance, -0.1, 1e-14);
    EXPECT_NEAR(p.normal.z, -1, 1e-14);
    assert_int_equal(rgWorld_ShapeDistance(scene.world, one, three, &p), rg_errorUnsupported);
    assert_int_equal(rgWorld_ShapeDistance(scene.world, one, (rgShapeId){9}, &p), rg_errorArgument);
    SceneEnd(&scene);
}

// ---- rigid-body quantities

// J v is the velocity of the point, and both follow from positions a moment apart.
static void test_jacobians(void** state) {
    (void)state;
    for (int seed = 1; seed <= rgFewer(30); ++seed) {
        rgRandom random = {(uint64_t)seed};
        rgModel* model = rgRandomModel(&random, 3 + seed % 8);
        rgModelInfo info = rgModel_Info(model);
        size_t nv = (size_t)info.vCount, nq = (size_t)info.qCount;
        double *q = calloc(nq, 8), *v = calloc(nv, 8), *next = calloc(nq, 8),
               *J = calloc(6 * nv, 8);
        rgWorld* world = NULL;
        assert_int_equal(rgCreateWorld(model, NULL, NULL, &world), rg_ok);
        rgModel_RandomConfiguration(model, (uint64_t)seed, q);
        rgRandomVelocity(&random, info.vCount, v);
        assert_int_equal(rgWorld_SetState(world, q, v), rg_ok);
        rgDynamics* d = rgWorld_Dynamics(world);
        rgBodyId body = {1 + seed % info.bodyCount};
        rgVec3 local = rgRandomVec(&random, 0.5);
        rgVec3 point = rgPose_Point(rgWorld_BodyPose(world, body), local);
        rgDynamics_PointJacobian(d, body, point, J);
        double speed[6] = {0};
        for (size_t r = 0; r < 6; ++r) {
            for (size_t i = 0; i < nv; ++i) {
                speed[r] += J[r * nv + i] * v[i];
            }
        }
        rgSpatial V = rgDynamics_PointVelocity(d, body, point);
        EXPECT_NEAR(rgLength(rgSub(V.linear, rgVec(speed[0], speed[1], speed[2]))), 0, 1e-12);
        EXPECT_NEAR(rgLength(rgSub(V.angular, rgVec(speed[3], speed[4], speed[5]))), 0, 1e-12);
        // centre of mass, momentum
        double *C = calloc(3 * nv, 8), *A = calloc(6 * nv, 8), moved[3] = {0}, h[6] = {0};
        rgDynamics_CenterJacobian(d, C);
        rgDynamics_MomentumMatrix(d, A);
        for (size_t i = 0; i < nv; ++i) {
            for (size_t r = 0; r < 6; ++r) {
                h[r] += A[r * nv + i] * v[i];
                moved[r % 3] += r < 3 ? C[r * nv + i] * v[i] : 0;
            }
        }
        rgSpatial momentum = rgDynamics_Momentum(d);
        double scale = 1 + rgLength(momentum.linear) + rgLength(momentum.angular);
        EXPECT_NEAR(rgLength(rgSub(momentum.linear, rgVec(h[0], h[1], h[2]))), 0, 1e-11 * scale);
        EXPECT_NEAR(rgLength(rgSub(momentum.angular, rgVec(h[3], h[4], h[5]))), 0, 1e-11 * scale);
        EXPECT_NEAR(rgLength(rgSub(rgScale(info.mass, rgVec(moved[0], moved[1], moved[2])),
                                   momentum.linear)),
                    0, 1e-11 * scale);
        // a moment later
        double step = 1e-7;
        rgVec3 center = rgDynamics_Center(d);
        rgModel_Integrate(model, q, v, step, next);
        assert_int_equal(rgWorld_SetState(world, next, v), rg_ok);
        rgVec3 later = rgPose_Point(rgWorld_BodyPose(world, body), local);
        EXPECT_NEAR(rgLength(rgSub(rgScale(1 / step, rgSub(later, point)), V.linear)), 0, 1e-5);
        rgVec3 drift = rgSub(rgDynamics_Center(rgWorld_Dynamics(world)), center);
        EXPECT_NEAR(rgLength(rgSub(rgScale(1 / step, drift), rgVec(moved[0], moved[1], moved[2]))),
                    0, 1e-5);
        rgDestroyWorld(world);
        rgDestroyModel(model);
        free(q), free(v), free(next), free(J), free(C), free(A);
    }
}

// The inertia that is felt at the task: unit accelerations of it need the forces in its columns.
static void test_operational_inertia(void** state) {
    (void)state;
    rgModelDef* def = NULL;
    rgModel* model = NULL;
    rgWorld* world = NULL;
    assert_int_equal(rgLoadModelDef("arm", NULL, NULL, &def), rg_ok);
    assert_int_equal(rgCompileModel(def, NULL, NULL, &model), rg_ok);
    assert_int_equal(rgCreateWorld(model, NULL, NULL, &world), rg_ok);
    rgModelInfo info = rgModel_Info(model);
    size_t nv = (size_t)info.vCount;
    double *q = calloc((size_t)info.qCount, 8), *J = calloc(6 * nv, 8), *M = calloc(nv * nv, 8);
    rgModel_RandomConfiguration(model, 5, q);
    assert_int_equal(rgWorld_SetState(world, q, NULL), rg_ok);
    rgDynamics* d = rgWorld_Dynamics(world);
    rgBodyId last = {info.bodyCount};
    rgDynamics_PointJacobian(d, last, rgWorld_BodyPose(world, last).p, J);
    double L[9], acceleration[9] = {0};
    assert_int_equal(rgDynamics_OperationalInertia(d, 3, J, L), rg_ok);
    rgDynamics_MassMatrix(d, M);
    for (int k = 0; k < 3; ++k) { // M^-1 J' L e_k accelerates the task by e_k
        double* a = calloc(nv, 8);
        for (size_t i = 0; i < nv; ++i) {
            for (size_t r = 0; r < 3; ++r) {
                a[i] += J[r * nv + i] * L[3 * r + (size_t)k];
            }
        }
        assert_int_equal(rgDynamics_Factorize(d, NULL), rg_ok);
        rgDynamics_Solve(d, 1, a);
        for (size_t r = 0; r < 3; ++r) {
            for (size_t i = 0; i < nv; ++i) {
                acceleration[3 * r + (size_t)k] += J[r * nv + i] * a[i];
            }
        }
        free(a);
    }
    for (int r = 0; r < 9; ++r) {
        EXPECT_NEAR(acceleration[r], r % 4 == 0, 1e-9);
    }
    memcpy(J + nv, J, nv * sizeof(double)); // the same direction twice
    assert_int_equal(rgDynamics_OperationalInertia(d, 2, J, L), rg_errorNumeric);
    free(q), free(J), free(M);
    rgDestroyWorld(world);
    rgDestroyModel(model);
    rgDestroyModelDef(def);
}

// ---- touching

static const rgTouch* FindTouch(const rgWorld* world, rgBodyId a, rgBodyId b) {
    int count;
    const rgTouch* touches = rgWorld_Touches(world, &count);
    for (int i = 0; i < count; ++i) {
        int p = touches[i].bodyA.index1, q = touches[i].bodyB.index1;
        if ((p == a.index1 && q == b.index1) || (p == b.index1 && q == a.index1)) {
            return &touches[i];
        }
    }
    return NULL;
}

static void test_touches(void** state) {
    (void)state;
    Scene scene = SceneStart();
    ScenePlane(&scene, 0.5, rgQuatIdentity());
    rgBodyId below = SceneCube(&scene, 0.1, 2, rgVec(0, 0, 0.1), 0.5);
    rgBodyId above = SceneCube(&scene, 0.1, 1, rgVec(0.03, 0, 0.35), 0.5); // falls 5 cm
    rgBodyId world = {0};
    rgWorldDef def = SceneWorldDef(1e-3, 1e-9);
    SceneMake(&scene, &def);
    int begins = 0, count;
    rgWorld_Touches(scene.world, &count);
    assert_int_equal(count, 0);
    for (int i = 0; i < 400; ++i) {
        rgVec3 before = rgWorld_BodyVelocity(scene.world, above).linear;
        SceneStep(&scene);
        const rgTouch* floor = FindTouch(scene.world, world, below);
        const rgTouch* stack = FindTouch(scene.world, below, above);
        assert_non_null(floor);
        assert_int_equal(floor->state, i == 0 ? rg_touchBegin : rg_touchPersist);
        begins += stack != NULL && stack->state == rg_touchBegin;
        assert_true(stack == NULL || begins == 1);
        // what acts on a free body is m a
        rgVec3 after = rgWorld_BodyVelocity(scene.world, above).linear;
        rgVec3 force = rgScale(1 / 1e-3, rgSub(after, before));
        force.z += SCENE_G;
        rgSpatial pair = rgWorld_PairWrench(scene.world, above, below);
        EXPECT_NEAR(rgLength(rgSub(pair.linear, force)), 0, 1e-7 * (1 + rgLength(force)));
        EXPECT_NEAR(rgLength(rgSub(pair.linear, rgWorld_ContactWrench(scene.world, above).linear)),
                    0, 1e-12);
        rgVec3 back = rgWorld_PairWrench(scene.world, below, above).linear;
        EXPECT_NEAR(rgLength(rgAdd(back, pair.linear)), 0, 1e-12);
    }
    assert_int_equal(begins, 1);
    const rgTouch* floor = FindTouch(scene.world, world, below);
    EXPECT_NEAR(floor->force.z * (floor->bodyB.index1 == below.index1 ? 1 : -1), 3 * SCENE_G, 1e-4);
    assert_int_equal(floor->contactCount, 4);
    // at rest nothing turns
    rgSpatial held = rgWorld_ContactWrench(scene.world, below);
    EXPECT_NEAR(held.linear.z, 2 * SCENE_G, 1e-4);
    EXPECT_NEAR(rgLength(held.angular), 0, 1e-4);
    EXPECT_NEAR(rgWorld_PairWrench(scene.world, below, world).linear.z, 3 * SCENE_G, 1e-4);
    // a forward call sees the same pairs
    assert_int_equal(rgWorld_Forward(scene.world, NULL), rg_ok);
    assert_int_equal(FindTouch(scene.world, below, above)->state, rg_touchPersist);
    // and it ends
    rgPose away = {rgVec(3, 0, 1), rgQuatIdentity()};
    assert_int_equal(rgWorld_SetBodyPose(scene.world, above, away), rg_ok);
    SceneStep(&scene);
    assert_int_equal(FindTouch(scene.world, below, above)->state, rg_touchEnd);
    assert_int_equal(FindTouch(scene.world, below, above)->contactCount, 0);
    assert_int_equal(FindTouch(scene.world, world, below)->state, rg_touchPersist);
    SceneStep(&scene);
    assert_null(FindTouch(scene.world, below, above));
    // restored states know what touched
    size_t size = rgWorld_StateSize(scene.world);
    void* saved = malloc(size);
    assert_int_equal(rgWorld_Save(scene.world, saved, size), rg_ok);
    assert_int_equal(rgWorld_Restore(scene.world, saved, size), rg_ok);
    SceneStep(&scene);
    assert_int_equal(FindTouch(scene.world, world, below)->state, rg_touchPersist);
    free(saved);
    SceneEnd(&scene);
}

// A force at a point is the force at the centre and the torque of its arm; and the acceleration of
// a frame there is that of the body.
static void test_force_at_point(void** state) {
    (void)state;
    Scene scene = SceneStart();
    Solid solid = SolidOf(rg_shapeBox, rgVec(0.1, 0.2, 0.3), 2, rgVec(1, 2, 3));
    solid.pose.q = rgQuatFromRotationVector(rgVec(0.3, -0.5, 0.8));
    rgBodyId body = SceneFree(&scene, &solid);
    rgFrameDef frame = rgDefaultFrameDef();
    frame.body = body;
    frame.pose.p = rgVec(0.1, 0.2, 0.3);
    rgFrameId corner;
    assert_int_equal(rgModelDef_AddFrame(scene.def, &frame, &corner), rg_ok);
    rgWorldDef def = SceneWorldDef(1e-3, 1e-9);
    SceneMake(&scene, &def);
    rgVec3 point = rgWorld_FramePose(scene.world, corner).p, force = rgVec(1, -2, 3);
    assert_int_equal(rgWorld_ApplyForceAt(scene.world, body, force, point), rg_ok);
    rgVec3 torque = rgCross(rgSub(point, solid.pose.p), force);
    SceneStep(&scene);
    rgInertia inertia = rgModel_Body(scene.model, body)->inertia;
    rgSym3 I = rgSym3Rotate(solid.pose.q, &inertia.moment);
    rgSpatial A = rgWorld_FrameAcceleration(scene.world, corner);
    rgVec3 turn = rgSym3_Multiply(&I, A.angular);
    // the rate at the middle of the step is half of the new one, and gyroscopic
    EXPECT_NEAR(rgLength(rgSub(turn, torque)), 0, 1e-5);
    rgVec3 expected = rgAddScaled(rgVec(0, 0, -SCENE_G), 1 / inertia.mass, force);
    expected = rgAdd(expected, rgCross(A.angular, rgSub(point, solid.pose.p)));
    EXPECT_NEAR(rgLength(rgSub(A.linear, expected)), 0, 1e-9);
    assert_int_equal(rgWorld_ApplyForceAt(scene.world, (rgBodyId){7}, force, point),
                     rg_errorArgument);
    SceneEnd(&scene);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rays),
        cmocka_unit_test(test_many_rays),
        cmocka_unit_test(test_casts_and_overlaps),
        cmocka_unit_test(test_shape_distance),
        cmocka_unit_test(test_jacobians),
        cmocka_unit_test(test_operational_inertia),
        cmocka_unit_test(test_touches),
        cmocka_unit_test(test_force_at_point),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
