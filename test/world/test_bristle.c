// Tangential contact stiffness: anchored contacts against closed forms, and what they must not do:
// creep, wind up, gain energy, forget.
#include "scene.h"

#include "world/world.h"

typedef struct Spring {
    double k, d; // tangential
} Spring;

// Springs of each point.
static rgWorldDef AnchorDef(double dt, Spring spring) {
    rgWorldDef def = SceneWorldDef(dt, 1e-12);
    def.contact.maxIterations = 1000;
    def.tangentialStiffness = spring.k;
    def.tangentialDamping = spring.d;
    return def;
}

// The same for a face, which touches with four points.
static rgWorldDef FaceDef(double dt, Spring spring) {
    return AnchorDef(dt, (Spring){spring.k / 4, spring.d / 4});
}

// A flat block of 2 kg on the floor, gravity tilted by an angle towards a direction.
#define BLOCK_MASS 2.0
static Scene Block(double mu, double slope, double direction, rgWorldDef def) {
    Scene scene = SceneStart();
    ScenePlane(&scene, mu, rgQuatIdentity());
    Solid solid = SolidOf(rg_shapeBox, rgVec(0.1, 0.1, 0.02), BLOCK_MASS, rgVec(0, 0, 0.02));
    solid.material.mu = mu;
    SceneFree(&scene, &solid);
    double along = SCENE_G * sin(slope);
    def.hasGravity = true;
    def.gravity = rgVec(along * cos(direction), along * sin(direction), -SCENE_G * cos(slope));
    SceneMake(&scene, &def);
    return scene;
}

static const rgBodyId block = {1};

// Of all tangential springs.
static double StoredEnergy(const Scene* scene, double k) {
    int count;
    const rgContact* c = rgWorld_Contacts(scene->world, &count);
    double sum = 0;
    for (int i = 0; i < count; ++i) {
        sum += 0.5 * k * rgLengthSquared(c[i].anchor);
    }
    return sum;
}

static double Speed(const Scene* scene) {
    return rgLength(rgWorld_BodyVelocity(scene->world, block).linear);
}

// ---- statics

// Below the friction angle it goes m g sin(a)/k down the slope, and no further.
static void test_incline_settles(void** state) {
    (void)state;
    double k = 1e5, slope = 0.3;
    for (int i = 0; i < 5; ++i) {
        double direction = 0.7 + 1.3 * i, far = BLOCK_MASS * SCENE_G * sin(slope) / k;
        Scene scene = Block(0.6, slope, direction, FaceDef(1e-3, (Spring){k, 500}));
        SceneRun(&scene, 1000);
        rgVec3 p = SceneBodyPoint(&scene, block);
        // faces give way by nanometres, and the block tilts by as much
        EXPECT_NEAR(p.x, far * cos(direction), 1e-10);
        EXPECT_NEAR(p.y, far * sin(direction), 1e-10);
        assert_true(Speed(&scene) < 1e-11);
        int count;
        const rgContact* c = rgWorld_Contacts(scene.world, &count);
        assert_int_equal(count, 4);
        for (int j = 0; j < count; ++j) {
            EXPECT_NEAR(c[j].anchor.x, far * cos(direction), 1e-10);
            EXPECT_NEAR(c[j].anchor.y, far * sin(direction), 1e-10);
            EXPECT_NEAR(c[j].anchor.z, 0, 1e-15);
            EXPECT_NEAR(c[j].force.x, -k / 4 * c[j].anchor.x, 1e-7);
            assert_int_equal(c[j].state, rg_contactStick);
        }
        SceneRun(&scene, 4000);
        EXPECT_NEAR(rgLength(rgSub(SceneBodyPoint(&scene, block), p)), 0, 1e-12);
        SceneEnd(&scene);
    }
}

// A loose tolerance leaves errors in every step; they do not add up, as the anchor knows the way.
static void test_no_creep_at_loose_tolerance(void** state) {
    (void)state;
    double k = 1e5, slope = 0.3, far = BLOCK_MASS * SCENE_G * sin(slope) / k;
    rgWorldDef def = FaceDef(1e-3, (Spring){k, 500});
    def.contact.tolerance = 1e-5;
    Scene scene = Block(0.6, slope, 0.4, def);
    SceneRun(&scene, 1000);
    rgVec3 p = SceneBodyPoint(&scene, block);
    EXPECT_NEAR(hypot(p.x, p.y), far, 0.1 * far); // points may slip a little on the way
    SceneRun(&scene, 19000);
    // without springs it creeps by 7e-7
    EXPECT_NEAR(rgLength(rgSub(SceneBodyPoint(&scene, block), p)), 0, 2e-8);
    SceneEnd(&scene);
}

// A solid that may slide along x and z but does not turn; materials as given.
static Scene Slider(rgShapeKind kind, Spring ofFloor, Spring ofSolid, rgWorldDef def) {
    Scene scene = SceneStart();
    rgShapeDef floor = rgDefaultShapeDef();
    floor.kind = rg_shapePlane;
    floor.material.tangentialStiffness = ofFloor.k;
    floor.material.tangentialDamping = ofFloor.d;
    assert_int_equal(rgModelDef_AddShape(scene.def, &floor, NULL), rg_ok);
    Solid solid = SolidOf(kind, rgVec(0.1, 0.1, 0.1), 1, rgVec(0, 0, 0.1));
    solid.material.tangentialStiffness = ofSolid.k;
    solid.material.tangentialDamping = ofSolid.d;
    rgBodyId body = SceneBody(&scene, &solid, (rgBodyId){0});
    SceneJoint(&scene, body, rg_jointPrismatic, rgVec(0, 0, 0), rgVec(1, 0, 0));
    SceneJoint(&scene, body, rg_jointPrismatic, rgVec(0, 0, 0), rgVec(0, 0, 1));
    SceneMake(&scene, &def);
    return scene;
}

// Springs of materials are in series, and belong to points: four of them are four times as stiff.
// What the world says comes first.
static void test_materials(void** state) {
    (void)state;
    rgShapeKind kinds[] = {rg_shapeSphere, rg_shapeBox};
    for (int i = 0; i < 6; ++i) {
        Spring one = {i < 4 ? 3e4 : 0, i < 4 ? 300 : 0}, other = {6e4, 600};
        rgWorldDef def = AnchorDef(1e-3, i % 4 < 2 ? (Spring){0, 0} : (Spring){5e4, 500});
        def.stiffness = 1e6; // the joints leave open which points carry; springs share
        def.damping = 1e4;
        Scene scene = Slider(kinds[i % 2], one, other, def);
        double expected[] = {2e4, 5e4, 6e4}, k = expected[i / 2], push[2] = {3, 0};
        assert_int_equal(rgWorld_SetForce(scene.world, push), rg_ok);
        SceneRun(&scene, 2000);
        EXPECT_NEAR(SceneBodyPoint(&scene, block).x, 3 / (k * (i % 2 ? 4 : 1)), 1e-12);
        assert_true(Speed(&scene) < 1e-11);
        rgMaterial pair = rgModel_PairMaterial(scene.model, (rgShapeId){1}, (rgShapeId){2});
        EXPECT_NEAR(pair.tangentialStiffness, i < 4 ? 2e4 : 6e4, 1e-10);
        EXPECT_NEAR(pair.tangentialDamping, i < 4 ? 200 : 600, 1e-12);
        SceneEnd(&scene);
    }
}

// ---- dynamics

// Half periods of a block that was pushed, by the sign changes of its velocity.
static double Period(double k, double dt) {
    Scene scene = Block(0.9, 0, 0, FaceDef(dt, (Spring){k, 0}));
    double v[6] = {0.01, 0, 0, 0, 0, 0}, last = v[0], first = 0, turn = 0;
    SceneSetVelocity(&scene, 0, 6, v);
    int turns = 0;
    while (turns < 5) {
        SceneStep(&scene);
        double now = rgWorld_Velocities(scene.world, NULL)[0];
        if (now * last < 0) {
            turn = rgWorld_Time(scene.world) - dt * now / (now - last);
            first = turns++ == 0 ? turn : first;
        }
        last = now;
    }
    SceneEnd(&scene);
    return (turn - first) / 2; // four halves
}

static void test_period(void** state) {
    (void)state;
    double k = 1e4, exact = 2 * acos(-1) * sqrt(BLOCK_MASS / k);
    // The implicit rule turns by atan(w dt) instead of w dt: second order.
    double coarse = Period(k, exact / 200) - exact, fine = Period(k, exact / 400) - exact;
    EXPECT_NEAR(coarse / exact, pow(2 * acos(-1) / 200, 2) / 3, 1e-5);
    EXPECT_NEAR(coarse / fine, 4, 0.1);
    EXPECT_NEAR(Period(k, exact / 4000) / exact, 1, 2e-6);
}

// Pushed less than friction can hold: out by F/k, and back when the push ends.
static void test_returns_when_unloaded(void** state) {
    (void)state;
    double k = 1e5, mu = 0.5;
    Scene scene = Block(mu, 0, 0, FaceDef(1e-3, (Spring){k, 1000}));
    rgVec3 push = rgVec(3, -5, 0);
    assert_int_equal(rgWorld_ApplyWrench(scene.world, block, push, rgVec(0, 0, 0)), rg_ok);
    SceneRun(&scene, 1000);
    rgVec3 p = SceneBodyPoint(&scene, block);
    EXPECT_NEAR(p.x, push.x / k, 1e-10);
    EXPECT_NEAR(p.y, push.y / k, 1e-10);
    rgWorld_ClearWrenches(scene.world);
    SceneRun(&scene, 1000);
    p = SceneBodyPoint(&scene, block);
    EXPECT_NEAR(p.x, 0, 1e-10);
    EXPECT_NEAR(p.y, 0, 1e-10);
    SceneEnd(&scene);
}

// Pushed more: it slides with mu, the anchor is dragged along at the length that friction holds,
// and after the end it springs back by as much.
static void test_slips_at_overload(void** state) {
    (void)state;
    double k = 1e4, mu = 0.4, dt = 1e-3, weight = BLOCK_MASS * SCENE_G, push = 1.5 * mu * weight;
    for (int damped = 0; damped < 2; ++damped) {
        Scene scene = Block(mu, 0, 0, FaceDef(dt, (Spring){k, damped * 400.0}));
        assert_int_equal(rgWorld_ApplyWrench(scene.world, block, rgVec(push, 0, 0), rgVec(0, 0, 0)),
                         rg_ok);
        SceneRun(&scene, 400);
        double before = Speed(&scene);
        SceneRun(&scene, 200);
        EXPECT_NEAR((Speed(&scene) - before) / (200 * dt), push / BLOCK_MASS - mu * SCENE_G, 1e-8);
        int count;
        const rgContact* c = rgWorld_Contacts(scene.world, &count);
        double friction = 0;
        for (int i = 0; i < count; ++i) {
            assert_int_equal(c[i].state, rg_contactSlip);
            EXPECT_NEAR(c[i].anchor.x, 4 * mu * c[i].impulse[2] / dt / k, 1e-9);
            friction -= c[i].force.x;
        }
        EXPECT_NEAR(friction, mu * weight, 1e-8);
        // stop it dead and let go: what is stored moves it back
        rgWorld_ClearWrenches(scene.world);
        double rest[6] = {0};
        SceneSetVelocity(&scene, 0, 6, rest);
        double at = SceneBodyPoint(&scene, block).x;
        SceneRun(&scene, 20000);
        double back = at - SceneBodyPoint(&scene, block).x, whole = mu * weight / k;
        EXPECT_NEAR(back, whole, damped ? 1e-9 : whole); // undamped it swings beyond, and slips
        assert_true(back > 0 && Speed(&scene) < 1e-9);
        SceneEnd(&scene);
    }
}

// A sliding cube stops, springs back and rests: k to infinity leads to the rigid way.
static double StoppingPlace(double k) {
    rgWorldDef def = FaceDef(1e-3, (Spring){k, 0.01 * k});
    Scene scene = Block(0.5, 0, 0, def);
    double v[6] = {0.6, 0.8, 0, 0, 0, 0};
    SceneSetVelocity(&scene, 0, 6, v);
    SceneRun(&scene, 1500);
    rgVec3 p = SceneBodyPoint(&scene, block);
    SceneEnd(&scene);
    return hypot(p.x, p.y);
}

static void test_stiff_goes_to_rigid(void** state) {
    (void)state;
    double rigid = StoppingPlace(0);
    EXPECT_NEAR(rigid, 0.101937, 1e-6);
    double coarse = fabs(StoppingPlace(1e6) - rigid), fine = fabs(StoppingPlace(1e8) - rigid);
    assert_true(coarse < 1e-3);
    EXPECT_NEAR(coarse / fine, 100, 20);
    EXPECT_NEAR(StoppingPlace(1e12), rigid, 1e-8);
}

// ---- energy

// On a floor that keeps its height, nothing but springs, dampers and friction: never up.
static void test_energy_never_grows(void** state) {
    (void)state;
    rgRandom random = {11};
    for (int trial = 0; trial < 6; ++trial) {
        double k = pow(10, rgRandom_Uniform(&random, 3, 6)), d = trial % 2 ? 0.001 * k : 0;
        Scene scene = Block(0.3 + 0.1 * trial, 0, 0, AnchorDef(1e-3, (Spring){k, d}));
        double v[6] = {rgRandom_Normal(&random),    rgRandom_Normal(&random), 0, 0, 0,
                       5 * rgRandom_Normal(&random)};
        SceneSetVelocity(&scene, 0, 6, v);
        double last = INFINITY, start = 0;
        for (int i = 0; i < 1000; ++i) {
            SceneStep(&scene);
            double energy = SceneEnergy(&scene) + StoredEnergy(&scene, k);
            // a nanometre counts as touching: what it is worth may come back
            assert_true(energy <= last + 1e-9 * BLOCK_MASS * SCENE_G);
            last = energy;
            start = i == 0 ? energy : start;
        }
        assert_true(last < start);
        SceneEnd(&scene);
    }
}

// Points come and go: boxes, capsules and balls that fall on each other and roll over their edges.
static void Drop(Scene* scene) {
    ScenePlane(scene, 0.6, rgQuatIdentity());
    rgShapeKind kinds[] = {rg_shapeBox, rg_shapeCapsule, rg_shapeSphere};
    for (int i = 0; i < 6; ++i) {
        Solid solid = SolidOf(kinds[i % 3], rgVec(0.1, 0.08, 0.06), 1 + i,
                              rgVec(0.1 * (i % 2), 0, 0.3 + 0.25 * i));
        solid.pose.q = rgQuatFromRotationVector(rgVec(0.3 * i, 0.2, 0.1 * i));
        SceneFree(scene, &solid);
    }
}

// What springs store comes from the bodies, in every step: never more than they lost to them,
// and less by what friction and dampers took.
static void test_tumble_gains_nothing(void** state) {
    (void)state;
    for (int damped = 0; damped < 2; ++damped) {
        Spring spring = {2e4, damped * 40.0};
        Scene scene = SceneStart();
        Drop(&scene);
        rgWorldDef def = AnchorDef(1e-3, spring);
        SceneMake(&scene, &def);
        double before = 0, most = 0;
        for (int i = 0; i < 2000; ++i) {
            SceneStep(&scene);
            int count;
            const rgContact* c = rgWorld_Contacts(scene.world, &count);
            double work = 0, after = StoredEnergy(&scene, spring.k);
            for (int k = 0; k < count; ++k) { // done by contacts on bodies
                work += c[k].impulse[0] * c[k].slip[0] + c[k].impulse[1] * c[k].slip[1];
            }
            assert_true(after - before + work < 1e-9);
            before = after;
            most = fmax(most, after);
        }
        assert_true(most > 1e-3);
        SceneEnd(&scene);
    }
}

// ---- impacts

// A rigid contact transmits an impact in no time; springs along the surface have none to give way.
// A block that comes in sliding loses mu (1 + e) v_n, or sticks, as it does without springs.
static void test_impact_keeps_its_friction(void** state) {
    (void)state;
    double mu = 0.2, v[6] = {2, 0, -1, 0, 0, 0};
    for (int i = 0; i < 6; ++i) {
        double dt = pow(10, -3 - i % 3), e = i < 3 ? 0 : 0.5;
        rgWorldDef def = AnchorDef(dt, (Spring){1e4, 0});
        def.hasGravity = true;
        def.restitution = e;
        Scene scene = SceneStart();
        ScenePlane(&scene, mu, rgQuatIdentity());
        Solid solid = SolidOf(rg_shapeBox, rgVec(0.1, 0.1, 0.02), BLOCK_MASS, rgVec(0, 0, 0.0203));
        solid.material.mu = mu;
        rgBodyId body = SceneBody(&scene, &solid, (rgBodyId){0});
        SceneJoint(&scene, body, rg_jointPrismatic, rgVec(0, 0, 0), rgVec(1, 0, 0));
        SceneJoint(&scene, body, rg_jointPrismatic, rgVec(0, 0, 0), rgVec(0, 0, 1));
        SceneMake(&scene, &def);
        SceneSetVelocity(&scene, 0, 2, (double[]){v[0], v[2]});
        SceneRun(&scene, (int)ceil(4e-4 / dt) + 2);
        const double* after = rgWorld_Velocities(scene.world, NULL);
        EXPECT_NEAR(after[1], e, 2e-7); // sharing of normals, proximal in the step after
        EXPECT_NEAR((v[0] - after[0]) / (after[1] - v[2]), mu, 1e-9); // Jt/Jn
        SceneEnd(&scene);
    }
}

// ---- turning frames

// A ball that rolls does not stretch its anchor, for ever.
static void test_rolling_ball(void** state) {
    (void)state;
    Scene scene = SceneStart();
    ScenePlane(&scene, 0.5, rgQuatIdentity());
    Solid ball = SolidOf(rg_shapeSphere, rgVec(0.1, 0, 0), 1, rgVec(0, 0, 0.1));
    SceneFree(&scene, &ball);
    rgWorldDef def = AnchorDef(1e-3, (Spring){1e5, 100});
    SceneMake(&scene, &def);
    double roll[6] = {1, 0.5, 0, -5, 10, 0}; // v = w x r
    SceneSetVelocity(&scene, 0, 6, roll);
    for (int i = 0; i < 5000; ++i) {
        SceneStep(&scene);
        int count;
        const rgContact* c = rgWorld_Contacts(scene.world, &count);
        assert_int_equal(count, 1);
        assert_true(rgLength(c->anchor) < 1e-9);
    }
    EXPECT_NEAR(Speed(&scene), hypot(1, 0.5), 1e-9);
    // one that starts without turning ends with 5/7 of its speed
    double slide[6] = {1, 0, 0, 0, 0, 0};
    assert_int_equal(rgWorld_Reset(scene.world, (rgKeyId){0}), rg_ok);
    SceneSetVelocity(&scene, 0, 6, slide);
    SceneRun(&scene, 3000);
    EXPECT_NEAR(Speed(&scene), 5.0 / 7, 1e-9);
    SceneEnd(&scene);
}

// Rolling down a sphere, the normal turns: the same way as without springs, up to their yield.
static rgVec3 RollDown(double k, rgVec3* anchor, double* friction) {
    Scene scene = SceneStart();
    rgShapeDef hill = rgDefaultShapeDef();
    hill.kind = rg_shapeSphere;
    hill.size = rgVec(1, 0, 0);
    hill.pose.p = rgVec(0, 0, -1);
    assert_int_equal(rgModelDef_AddShape(scene.def, &hill, NULL), rg_ok);
    Solid ball =
        SolidOf(rg_shapeSphere, rgVec(0.1, 0, 0), 1, rgVec(1.1 * sin(0.2), 0, 1.1 * cos(0.2) - 1));
    SceneFree(&scene, &ball);
    rgWorldDef def = AnchorDef(1e-3, (Spring){k, 1e-3 * k});
    SceneMake(&scene, &def);
    double v[6] = {0, 0.3, 0, -3, 0, 0};
    SceneSetVelocity(&scene, 0, 6, v);
    SceneRun(&scene, 700);
    int count;
    const rgContact* c = rgWorld_Contacts(scene.world, &count);
    assert_int_equal(count, 1);
    EXPECT_NEAR(rgDot(c->anchor, c->normal), 0, 1e-15);
    *anchor = c->anchor;
    *friction = hypot(c->impulse[0], c->impulse[1]) / 1e-3;
    rgVec3 p = SceneBodyPoint(&scene, block);
    SceneEnd(&scene);
    return p;
}

static void test_rolling_over_a_hill(void** state) {
    (void)state;
    double friction, k = 1e6;
    rgVec3 anchor, rigid = RollDown(0, &anchor, &friction);
    assert_true(rigid.x > 0.4 && rigid.y > 0.1);
    EXPECT_NEAR(rgLength(anchor), 0, 0);
    rgVec3 soft = RollDown(k, &anchor, &friction);
    assert_true(rgLength(rgSub(rigid, soft)) < 1e-4);
    EXPECT_NEAR(rgLength(anchor), friction / k, 0.02 * friction / k);
}

// Both bodies and all forces turned at once: everything is as before, only turned.
static void test_frame_turns_with_both(void** state) {
    (void)state;
    double k = 1e4;
    Scene scene = SceneStart();
    Solid table = SolidOf(rg_shapeBox, rgVec(1, 1, 0.5), 1e9, rgVec(0, 0, -0.5));
    SceneFree(&scene, &table);
    Solid load = SolidOf(rg_shapeBox, rgVec(0.1, 0.1, 0.02), 1, rgVec(0.3, 0.1, 0.02));
    rgBodyId body = SceneFree(&scene, &load);
    rgWorldDef def = FaceDef(1e-3, (Spring){k, 200});
    def.hasGravity = true;
    SceneMake(&scene, &def);
    rgVec3 push = rgVec(2, 4, -20), none = rgVec(0, 0, 0);
    rgWorld_ApplyWrench(scene.world, body, push, none);
    SceneRun(&scene, 1000);
    rgQuat turn = rgQuatFromRotationVector(rgVec(0.6, -0.9, 0)); // about an axis in the surface
    double q[14];
    rgVec3 places[2];
    for (int i = 0; i < 2; ++i) {
        rgPose pose = rgWorld_BodyPose(scene.world, (rgBodyId){i + 1});
        places[i] = rgRotate(turn, pose.p);
        rgQuat r = rgQuatMultiply(turn, pose.q);
        memcpy(q + 7 * i, &places[i], sizeof(places[i]));
        memcpy(q + 7 * i + 3, &r, sizeof(r));
    }
    assert_int_equal(rgWorld_SetState(scene.world, q, NULL), rg_ok);
    rgWorld_ClearWrenches(scene.world);
    rgWorld_ApplyWrench(scene.world, body, rgRotate(turn, push), none);
    SceneRun(&scene, 200);
    EXPECT_NEAR(rgLength(rgSub(SceneBodyPoint(&scene, body), places[1])), 0, 1e-8);
    int count;
    const rgContact* c = rgWorld_Contacts(scene.world, &count);
    assert_int_equal(count, 4);
    rgVec3 expected = rgRotate(turn, rgVec(push.x / k, push.y / k, 0));
    for (int i = 0; i < count; ++i) {
        EXPECT_NEAR(rgLength(rgSub(c[i].anchor, expected)), 0, 1e-8);
    }
    SceneEnd(&scene);
}

// A block on a turntable: how far out it is after more than two turns.
static double Turntable(double k, double turning, rgVec3* radial, rgVec3* anchor) {
    double r = 0.4;
    Scene scene = SceneStart();
    Solid table = SolidOf(rg_shapeBox, rgVec(1, 1, 0.05), 1e6, rgVec(0, 0, -0.05));
    rgBodyId disc = SceneBody(&scene, &table, (rgBodyId){0});
    SceneJoint(&scene, disc, rg_jointRevolute, rgVec(0, 0, 0), rgVec(0, 0, 1));
    Solid load = SolidOf(rg_shapeBox, rgVec(0.05, 0.05, 0.02), 1, rgVec(r, 0, 0.02));
    rgBodyId body = SceneFree(&scene, &load);
    rgWorldDef def = FaceDef(1e-3, (Spring){k, 0.01 * k});
    SceneMake(&scene, &def);
    double v[7] = {turning, 0, r * turning, 0, 0, 0, turning};
    SceneSetVelocity(&scene, 0, 7, v);
    SceneRun(&scene, 8000);
    rgVec3 p = SceneBodyPoint(&scene, body);
    rgVec3 onTable = rgRotateBack(rgWorld_BodyPose(scene.world, disc).q, p);
    EXPECT_NEAR(onTable.y, 0, 1e-4); // has kept its place
    int count;
    const rgContact* c = rgWorld_Contacts(scene.world, &count);
    *anchor = rgVec(0, 0, 0);
    for (int i = 0; i < count; ++i) {
        *anchor = rgAddScaled(*anchor, 1.0 / count, c[i].anchor);
    }
    p.z = 0;
    *radial = rgScale(1 / rgLength(p), p);
    SceneEnd(&scene);
    return rgLength(p);
}

// The anchor turns with the bodies: it stays radial, at the length that the centripetal force asks
// for, and the block stays that much further out than on a rigid contact. (That one goes out too,
// by (w dt)^2 r/2 per step: the step moves along tangents.)
static void test_turntable(void** state) {
    (void)state;
    double k = 2e4, w = 2;
    rgVec3 radial, anchor;
    double rigid = Turntable(0, w, &radial, &anchor), soft = Turntable(k, w, &radial, &anchor);
    double expected = rigid * w * w / k;
    EXPECT_NEAR(soft - rigid, expected, 0.02 * expected);
    EXPECT_NEAR(rgDot(anchor, radial), expected, 0.02 * expected);
    EXPECT_NEAR(rgLength(anchor), expected, 0.02 * expected);
}

// ---- state

static void test_state_holds_anchors(void** state) {
    (void)state;
    Scene scene = SceneStart();
    Drop(&scene);
    rgWorldDef def = AnchorDef(1e-3, (Spring){2e4, 10});
    def.contact.tolerance = 1e-6;
    SceneMake(&scene, &def);
    SceneRun(&scene, 900);
    assert_true(StoredEnergy(&scene, 2e4) > 0);
    size_t size = rgWorld_StateSize(scene.world);
    void* saved = malloc(size);
    assert_int_equal(rgWorld_Save(scene.world, saved, size), rg_ok);
    SceneRun(&scene, 200);
    uint64_t after = rgWorld_Hash(scene.world);
    Scene other = scene;
    assert_int_equal(rgCreateWorld(scene.model, &def, NULL, &other.world), rg_ok);
    assert_int_equal(rgWorld_Restore(other.world, saved, size), rg_ok);
    SceneRun(&other, 200);
    assert_true(rgWorld_Hash(other.world) == after);
    rgDestroyWorld(other.world);
    // an anchor that is no number is refused
    double nan = NAN;
    char* spoiled = malloc(size);
    memcpy(spoiled, saved, size);
    memcpy(spoiled + size - 5 * sizeof(double), &nan, sizeof(nan)); // of the last contact
    rgSealState(spoiled, size);
    assert_int_equal(rgWorld_Restore(scene.world, spoiled, size), rg_errorArgument);
    assert_true(rgWorld_Hash(scene.world) == after);
    free(spoiled);
    // forward and reading change nothing
    assert_int_equal(rgWorld_Restore(scene.world, saved, size), rg_ok);
    for (int i = 0; i < 200; ++i) {
        assert_int_equal(rgWorld_Forward(scene.world, NULL), rg_ok);
        int count;
        rgWorld_Contacts(scene.world, &count);
        SceneStep(&scene);
    }
    assert_true(rgWorld_Hash(scene.world) == after);
    free(saved);
    SceneEnd(&scene);
}

static void test_threads_give_the_same_bits(void** state) {
    (void)state;
    uint64_t hashes[2];
    for (int i = 0; i < 2; ++i) {
        rgThreadPool* pool = NULL;
        Scene scene = SceneStart();
        Drop(&scene);
        rgWorldDef def = AnchorDef(1e-3, (Spring){2e4, 10});
        def.contact.tolerance = 1e-6;
        if (i == 1) {
            assert_int_equal(rgCreateThreadPool(3, NULL, &pool), rg_ok);
            def.tasks = def.contact.tasks = rgThreadPool_Tasks(pool);
        }
        SceneMake(&scene, &def);
        SceneRun(&scene, 800);
        hashes[i] = rgWorld_Hash(scene.world);
        SceneEnd(&scene);
        rgDestroyThreadPool(pool);
    }
    assert_true(hashes[0] == hashes[1]);
}

static void test_reset_forgets_anchors(void** state) {
    (void)state;
    Scene scene = Block(0.6, 0.3, 0, AnchorDef(1e-3, (Spring){1e4, 0}));
    SceneStep(&scene);
    rgVec3 first = SceneBodyPoint(&scene, block);
    SceneRun(&scene, 50);
    assert_true(StoredEnergy(&scene, 1e4) > 0);
    assert_int_equal(rgWorld_Reset(scene.world, (rgKeyId){0}), rg_ok);
    SceneStep(&scene);
    EXPECT_NEAR(rgLength(rgSub(SceneBodyPoint(&scene, block), first)), 0, 0);
    SceneEnd(&scene);
}

// Nothing holds the spring of a point that lifts off: it goes back as fast as its damper lets it.
static void test_lifted_springs_relax(void** state) {
    (void)state;
    for (int damped = 0; damped < 2; ++damped) {
        Spring spring = {1e4, damped * 100.0};
        Scene scene = Block(0.6, 0.3, 0, FaceDef(1e-3, spring));
        SceneRun(&scene, 2000);
        int count;
        double start = rgLength(rgWorld_Contacts(scene.world, &count)->anchor);
        assert_true(start > 1e-4);
        rgVec3 lift = rgVec(0, 0, 2 * BLOCK_MASS * SCENE_G);
        rgWorld_ApplyWrench(scene.world, block, lift, rgVec(0, 0, 0));
        SceneRun(&scene, 5);
        const rgContact* c = rgWorld_Contacts(scene.world, &count);
        assert_int_equal(count, 4);
        for (int i = 0; i < count; ++i) {
            EXPECT_NEAR(rgLength(c[i].anchor), damped * start * pow(100 / 110.0, 5), 1e-7);
            assert_int_equal(c[i].state, rg_contactOpen);
        }
        SceneEnd(&scene);
    }
}

// At the default tolerance a grasp stays where its springs have let it sink to: m g over eight k.
static void test_grasp_holds(void** state) {
    (void)state;
    for (int i = 0; i < 3; ++i) {
        double k = pow(10, 5 + i), sink = 0.045 * SCENE_G / (8 * k);
        rgWorldDef def = rgDefaultWorldDef();
        def.tangentialStiffness = k;
        def.tangentialDamping = 0.01 * k;
        Scene scene = SceneStart();
        rgDestroyModelDef(scene.def);
        const rgSceneInfo* grasp = rgFindScene("grasp");
        assert_int_equal(rgBuildScene(grasp, NULL, NULL, &scene.def), rg_ok);
        SceneMake(&scene, &def);
        assert_int_equal(rgScene_Start(grasp, scene.world), rg_ok);
        double start = SceneBodyPoint(&scene, (rgBodyId){3}).z;
        SceneRun(&scene, rgFewer(5000));
        EXPECT_NEAR(start - SceneBodyPoint(&scene, (rgBodyId){3}).z, sink, 1e-9 + 1e-3 * sink);
        SceneEnd(&scene);
    }
}

static void test_no_allocation_after_warm_up(void** state) {
    (void)state;
    rgCounter counter = {.failAfter = -1};
    Scene scene = SceneStart();
    Drop(&scene);
    rgWorldDef def = AnchorDef(1e-3, (Spring){2e4, 10});
    def.contact.tolerance = 1e-6;
    def.allocator = rgCountingAllocator(&counter);
    SceneMake(&scene, &def);
    SceneRun(&scene, 1500);
    int before = counter.allocations;
    SceneRun(&scene, 300);
    assert_int_equal(counter.allocations, before);
    SceneEnd(&scene);
}

// ---- bad values

static bool IsRefused(const rgModel* model, rgWorldDef def, const char* name) {
    rgDiagnostics* diagnostics;
    rgWorld* world = NULL;
    assert_int_equal(rgCreateDiagnostics(NULL, &diagnostics), rg_ok);
    bool refused = rgCreateWorld(model, &def, diagnostics, &world) == rg_errorArgument;
    refused = refused && rgDiagnostics_Count(diagnostics) == 1 &&
              strstr(rgDiagnostics_Message(diagnostics, 0).text, name) != NULL;
    rgDestroyDiagnostics(diagnostics);
    rgDestroyWorld(world);
    return refused;
}

static void test_bad_values_are_refused(void** state) {
    (void)state;
    Scene scene = Block(0.5, 0, 0, AnchorDef(1e-3, (Spring){0, 0}));
    double bad[] = {-1, NAN, INFINITY};
    for (int i = 0; i < 3; ++i) {
        rgWorldDef stiffness = AnchorDef(1e-3, (Spring){bad[i], 0});
        rgWorldDef damping = AnchorDef(1e-3, (Spring){1e4, bad[i]});
        assert_true(IsRefused(scene.model, stiffness, "tangential stiffness"));
        assert_true(IsRefused(scene.model, damping, "tangential damping"));
    }
    SceneEnd(&scene);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_incline_settles),
        cmocka_unit_test(test_no_creep_at_loose_tolerance),
        cmocka_unit_test(test_materials),
        cmocka_unit_test(test_period),
        cmocka_unit_test(test_returns_when_unloaded),
        cmocka_unit_test(test_slips_at_overload),
        cmocka_unit_test(test_stiff_goes_to_rigid),
        cmocka_unit_test(test_energy_never_grows),
        cmocka_unit_test(test_tumble_gains_nothing),
        cmocka_unit_test(test_impact_keeps_its_friction),
        cmocka_unit_test(test_rolling_ball),
        cmocka_unit_test(test_rolling_over_a_hill),
        cmocka_unit_test(test_frame_turns_with_both),
        cmocka_unit_test(test_turntable),
        cmocka_unit_test(test_state_holds_anchors),
        cmocka_unit_test(test_threads_give_the_same_bits),
        cmocka_unit_test(test_reset_forgets_anchors),
        cmocka_unit_test(test_lifted_springs_relax),
        cmocka_unit_test(test_grasp_holds),
        cmocka_unit_test(test_no_allocation_after_warm_up),
        cmocka_unit_test(test_bad_values_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
