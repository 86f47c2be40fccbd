// Compliant contact: bounces and oscillations against closed forms, its limits, and that springs
// give back no more than they took.
#include "scene.h"
#include "world/world.h"

#define PI 3.14159265358979323846

static const rgBodyId ball = {1};

// A ball of 1 kg and radius 0.05 whose lowest point is at a height, and a floor.
static Scene Ball(double height, const rgWorldDef* def) {
    Scene scene = SceneStart();
    ScenePlane(&scene, 0.5, rgQuatIdentity());
    Solid solid = SolidOf(rg_shapeSphere, rgVec(0.05, 0, 0), 1, rgVec(0, 0, 0.05 + height));
    SceneFree(&scene, &solid);
    SceneMake(&scene, def);
    return scene;
}

static double Height(const Scene* scene) {
    return SceneBodyPoint(scene, ball).z - 0.05;
}

static double VerticalSpeed(const Scene* scene) {
    return rgWorld_BodyVelocity(scene->world, ball).linear.z;
}

// ---- one bounce

typedef struct Bounce {
    double height;  // of the rebound
    double force;   // largest
    double contact; // time
} Bounce;

static Bounce BounceFrom(double height, rgWorldDef def) {
    Bounce bounce = {0};
    Scene scene = Ball(height, &def);
    bool touched = false;
    for (int i = 0; i < (int)lround(1 / def.timeStep); ++i) {
        SceneStep(&scene);
        double force = rgWorld_ContactForce(scene.world, ball).z;
        touched = touched || force > 0;
        bounce.force = fmax(bounce.force, force);
        bounce.contact += force > 0 ? def.timeStep : 0;
        if (touched && force == 0) {
            bounce.height = fmax(bounce.height, Height(&scene));
            if (VerticalSpeed(&scene) < 0) {
                break;
            }
        }
    }
    SceneEnd(&scene);
    return bounce;
}

// Falling 0.1 m on a spring of 1e4 N/m: rebound, largest force (150 N) and time of contact at
// w dt = 0.1 and 0.01, whatever the phase of the step it falls in.
static void test_bounce_on_a_spring(void** state) {
    (void)state;
    double k = 1e4, h = 0.1, w = sqrt(k), v = sqrt(2 * SCENE_G * h), errors[2][2];
    double deepest = SCENE_G / k * (1 + sqrt(1 + 2 * k * h / SCENE_G));
    double contact = 2 / w * (PI - atan(v * w / SCENE_G));
    for (int fine = 0; fine < 2; ++fine) {
        double dt = fine ? 1e-4 : 1e-3;
        rgWorldDef def = SceneWorldDef(dt, 1e-10);
        def.stiffness = k;
        errors[fine][0] = errors[fine][1] = 0;
        for (int phase = 0; phase < 10; ++phase) {
            double from = h + 0.1 * phase * v * dt;
            Bounce bounce = BounceFrom(from, def);
            errors[fine][0] = fmax(errors[fine][0], fabs(bounce.height / from - 1));
            errors[fine][1] = fmax(errors[fine][1], fabs(bounce.force / (k * deepest) - 1));
            EXPECT_NEAR(bounce.contact, contact, 2 * dt);
        }
        assert_true(errors[fine][0] < 1.2 * w * dt * w * dt);
        assert_true(errors[fine][1] < 0.07 * w * dt);
    }
    print_message("height off by %.3g, %.3g; force by %.3g, %.3g\n", errors[0][0], errors[1][0],
                  errors[0][1], errors[1][1]);
}

// A damper in parallel: e = exp(-tan(b) (pi - 2 b)) with sin(b) = d/(2 sqrt(k m)), where the force
// ends before the way does.
static void test_restitution_from_damping(void** state) {
    (void)state;
    double k = 1e4, dt = 1e-5;
    for (int i = 0; i < 4; ++i) {
        double b = asin((const double[]){0, 0.1, 0.3, 0.6}[i]);
        rgWorldDef def = SceneWorldDef(dt, 1e-10);
        def.hasGravity = true;
        def.stiffness = k;
        def.damping = 2 * sqrt(k) * sin(b);
        Scene scene = Ball(1e-3, &def);
        SceneSetVelocity(&scene, 2, 1, (double[]){-1});
        SceneRun(&scene, 5000);
        EXPECT_NEAR(VerticalSpeed(&scene), exp(-tan(b) * (PI - 2 * b)), 3e-3);
        SceneEnd(&scene);
    }
}

// Hunt and Crossley: with F = k x (1 + d x'), d (v + v') = ln((1 + d v)/(1 - d v')) for the speeds
// v before and v' after, whatever k and the mass. Slow impacts are elastic, e = 1 - 2 d v/3.
static double HuntCrossley(double d, double v) {
    double low = 0, high = fmin(v, 1 / d);
    for (int i = 0; i < 100; ++i) {
        double x = 0.5 * (low + high);
        *(d * (v + x) < log((1 + d * v) / (1 - d * x)) ? &high : &low) = x;
    }
    return low / v;
}

static void test_hunt_crossley(void** state) {
    (void)state;
    double d = 0.5;
    for (int i = 0; i < 12; ++i) {
        double k = i % 2 ? 1e4 : 1e6, v = 0.05 * pow(3, i / 2), dt = 2e-3 / sqrt(k);
        rgWorldDef def = SceneWorldDef(dt, 1e-10);
        def.hasGravity = true;
        def.stiffness = k;
        def.dissipation = d;
        Scene scene = Ball(1e-6, &def);
        SceneSetVelocity(&scene, 2, 1, (double[]){-v});
        SceneRun(&scene, 3000);
        EXPECT_NEAR(VerticalSpeed(&scene) / v, HuntCrossley(d, v), 5e-3);
        SceneEnd(&scene);
    }
    EXPECT_NEAR(HuntCrossley(d, 0.01), 1 - 2 * d * 0.01 / 3, 1e-4);
}

// ---- a mass that stays on its spring

// Frequency about the depth m g/k, and rest there.
static void test_mass_on_a_spring(void** state) {
    (void)state;
    for (int e = 2; e <= 8; ++e) {
        double k = pow(10, e), w = sqrt(k), dt = 0.01 / w, d = 0.04 * w, rest = SCENE_G / k;
        rgWorldDef def = SceneWorldDef(dt, 1e-12);
        def.stiffness = k;
        def.damping = d;
        Scene scene = Ball(-1.5 * rest, &def);
        double last = Height(&scene) + rest, crossings[9];
        int count = 0;
        for (int i = 0; i < 8000 && count < 9; ++i) {
            SceneStep(&scene);
            double now = Height(&scene) + rest;
            if ((last < 0) != (now < 0)) {
                crossings[count++] = (i + last / (last - now)) * dt;
            }
            last = now;
        }
        assert_int_equal(count, 9);
        EXPECT_NEAR((crossings[8] - crossings[0]) / (8 * PI / sqrt(k - d * d / 4)), 1, 1e-5);
        SceneRun(&scene, 60000);
        EXPECT_NEAR(Height(&scene) / -rest, 1, 1e-6); // depth m g/k
        SceneEnd(&scene);
    }
}

// From the first period to the fifth, amplitudes fall at the rate d/2m.
static void test_decay_on_a_spring(void** state) {
    (void)state;
    for (int e = 2; e <= 8; e += 2) {
        double k = pow(10, e), w = sqrt(k), dt = 0.01 / w, d = 0.04 * w, rest = SCENE_G / k;
        rgWorldDef def = SceneWorldDef(dt, 1e-12);
        def.stiffness = k;
        def.damping = d;
        Scene scene = Ball(-1.5 * rest, &def);
        int period = (int)lround(2 * PI / (w * dt));
        double first = 0, fifth = 0;
        for (int i = 0; i < 5 * period; ++i) {
            SceneStep(&scene);
            double away = fabs(Height(&scene) + rest);
            first = i < period ? fmax(first, away) : first;
            fifth = i >= 4 * period ? fmax(fifth, away) : fifth;
        }
        double rate = -log(fifth / first) / (4 * period * dt);
        EXPECT_NEAR(rate / (d / 2), 1, 0.01); // an implicit step would add w^2 dt/2, a quarter
        SceneEnd(&scene);
    }
}

// Each point of a face has the stiffness: four of them sink a quarter as deep as one.
static void test_depth_of_point_and_face(void** state) {
    (void)state;
    double k = 1e4, m = 2;
    for (int box = 0; box < 2; ++box) {
        Scene scene = SceneStart();
        ScenePlane(&scene, 0.5, rgQuatIdentity());
        Solid solid =
            SolidOf(box ? rg_shapeBox : rg_shapeSphere, rgVec(0.1, 0.1, 0.1), m, rgVec(0, 0, 0.1));
        SceneFree(&scene, &solid);
        rgWorldDef def = SceneWorldDef(1e-3, 1e-9);
        def.stiffness = k;
        def.damping = 200;
        SceneMake(&scene, &def);
        SceneRun(&scene, 2000);
        double depth = 0.1 - SceneBodyPoint(&scene, (rgBodyId){1}).z;
        EXPECT_NEAR(depth, m * SCENE_G / (k * (box ? 4 : 1)), 1e-8);
        SceneEnd(&scene);
    }
}

// ---- from soft to rigid

// A thrown box, spinning, after its landing.
static rgVec3 ThrowBox(double stiffness) {
    double dt = 1e-3;
    rgWorldDef def = SceneWorldDef(dt, 1e-11);
    def.stiffness = stiffness;
    def.damping = stiffness * 10 * dt;
    Scene scene = SceneStart();
    ScenePlane(&scene, 0.5, rgQuatIdentity());
    SceneCube(&scene, 0.1, 1, rgVec(0, 0, 0.25), 0.5);
    SceneMake(&scene, &def);
    SceneSetVelocity(&scene, 0, 6, (double[]){0.6, 0.1, 0, 0.7, 1.1, 0.3});
    SceneRun(&scene, 250);
    rgVec3 p = SceneBodyPoint(&scene, (rgBodyId){1});
    SceneEnd(&scene);
    return p;
}

static void test_from_soft_to_rigid(void** state) {
    (void)state;
    rgVec3 rigid = ThrowBox(0);
    double last = INFINITY;
    for (int e = 2; e <= 14; e += 2) {
        double k = pow(10, e);
        rgVec3 p = ThrowBox(k);
        // no jump on the way
        assert_true(rgLength(rgSub(p, ThrowBox(k * 1.0001))) < 1e-3);
        double off = rgLength(rgSub(p, rigid));
        print_message("k 1e%d: %.2e from rigid\n", e, off);
        // in the end it lands on a face, and rounding says which corner comes first
        assert_true(e < 6 || off < 0.2 * last + 1e-6);
        last = off;
    }
    assert_true(last < 1e-6);
}

// A foot on a leg that a servo turns compresses its spring.
static void test_turning_foot_compresses(void** state) {
    (void)state;
    Scene scene = SceneStart();
    ScenePlane(&scene, 0, rgQuatIdentity());
    Solid foot = SolidOf(rg_shapeSphere, rgVec(0.02, 0, 0), 5, rgVec(0, 0, 0.3));
    foot.material.mu = 0;
    rgBodyId body = SceneBody(&scene, &foot, (rgBodyId){0});
    SceneJoint(&scene, body, rg_jointPrismatic, rgVec(0, 0, 0), rgVec(0, 0, 1));
    rgJointId hinge = SceneJoint(&scene, body, rg_jointRevolute, rgVec(0, 0, 0.3), rgVec(0, 1, 0));
    rgActuatorDef servo = rgDefaultActuatorDef();
    servo.joint = hinge;
    servo.gain = servo.kd = 1e5;
    assert_int_equal(rgModelDef_AddActuator(scene.def, &servo, NULL), rg_ok);
    rgWorldDef def = SceneWorldDef(1e-4, 1e-10);
    def.hasGravity = true;
    def.stiffness = 1e4;
    SceneMake(&scene, &def);
    // an arc about a hinge that is free to rise
    double q[2] = {-0.283, -0.3}, v[2] = {0, 2};
    assert_int_equal(rgWorld_SetState(scene.world, q, v), rg_ok);
    assert_int_equal(rgWorld_SetControl(scene.world, (double[]){2}), rg_ok);
    double deepest = 0, highest = 0;
    for (int i = 0; i < 3000; ++i) {
        rgStepReport report = SceneStep(&scene);
        deepest = fmax(deepest, report.penetration);
        highest = fmax(highest, rgWorld_ContactForce(scene.world, body).z);
    }
    // nothing but the floor pushes along z: depth v/w for the speed v at which the foot comes
    EXPECT_NEAR(deepest, 0.6 * sin(0.3) / sqrt(1e4 / 5), 1e-2 * deepest);
    EXPECT_NEAR(highest, 1e4 * deepest, 0.02 * 1e4 * deepest);
    SceneEnd(&scene);
}

// ---- springs give back no more than they took

// Work of all contact rows on the bodies in the last step.
static double ContactWork(const rgWorld* world) {
    const rgRows* rows = &world->constraints.rows;
    double work = 0;
    for (int r = 0; r < rows->rowCount; ++r) {
        if (rows->sources[r].kind == -1) {
            work += 0.5 * rows->lambda[r] *
                    (rgRows_Dot(rows, r, world->kinematics.v) + rgRows_Dot(rows, r, world->next.v));
        }
    }
    return work;
}

// Of the energy at the start.
typedef struct Fall {
    double rise;   // of the bodies' energy, at most
    double beside; // largest part of it that is not the work of contacts
} Fall;

// Whatever falls: springs never have given more than they took.
static Fall Drop(Scene* scene) {
    double start = SceneEnergy(scene), work = 0;
    int steps = (int)(0.6 / rgWorld_TimeStep(scene->world));
    Fall fall = {0};
    for (int i = 0; i < steps; ++i) {
        SceneStep(scene);
        work += ContactWork(scene->world);
        assert_true(work <= 1e-9);
        double rise = SceneEnergy(scene) - start;
        fall.rise = fmax(fall.rise, rise / start);
        fall.beside = fmax(fall.beside, (rise - work) / start);
    }
    return fall;
}

static void RandomPlaces(Scene* scene, rgRandom* random, double apart) {
    int nq, nv;
    double q[64], v[64];
    const double* at = rgWorld_Positions(scene->world, &nq);
    memcpy(q, at, sizeof(q[0]) * (size_t)nq);
    rgWorld_Velocities(scene->world, &nv);
    assert_true(nq <= 64 && nq / 7 == nv / 6);
    for (int b = 0; b < nq / 7; ++b) {
        q[7 * b + 2] = 0.25 + apart * b;
        for (int k = 3; k < 7; ++k) {
            q[7 * b + k] = rgRandom_Normal(random);
        }
        for (int k = 0; k < 6; ++k) {
            v[6 * b + k] = rgRandom_Uniform(random, -1, 1) * (k < 3 ? 1 : 6);
        }
    }
    assert_int_equal(rgWorld_SetState(scene->world, q, v), rg_ok);
}

static rgWorldDef SpringDef(rgRandom* random) {
    rgWorldDef def = SceneWorldDef(pow(10, rgRandom_Uniform(random, -3.7, -2.7)), 1e-9);
    def.stiffness = pow(10, rgRandom_Uniform(random, 3, 6));
    def.friction = rgRandom_Index(random, 2) * rgRandom_Uniform(random, 0, 1);
    def.tangentialStiffness = rgRandom_Index(random, 2) * def.stiffness;
    return def;
}

static double RandomLength(rgRandom* random) {
    return rgRandom_Uniform(random, 0.03, 0.1);
}

// One or two boxes, cylinders or ellipsoids on a floor and on each other.
static void test_solids_gain_nothing(void** state) {
    (void)state;
    rgRandom random = {11};
    rgShapeKind kinds[] = {rg_shapeBox, rg_shapeCylinder, rg_shapeEllipsoid};
    for (int i = 0; i < rgFewer(500); ++i) {
        Scene scene = SceneStart();
        ScenePlane(&scene, 0, rgQuatIdentity());
        int count = 1 + rgRandom_Index(&random, 2);
        for (int b = 0; b < count; ++b) {
            rgVec3 size;
            size.x = RandomLength(&random);
            size.y = RandomLength(&random);
            size.z = RandomLength(&random);
            rgShapeKind kind = kinds[rgRandom_Index(&random, 3)];
            Solid solid = SolidOf(kind, size, 1, rgVec(0, 0, 0));
            SceneFree(&scene, &solid);
        }
        rgWorldDef def = SpringDef(&random);
        SceneMake(&scene, &def);
        RandomPlaces(&scene, &random, 0.4);
        assert_true(Drop(&scene).rise < 1e-7);
        SceneEnd(&scene);
    }
}

// An ellipsoid that spins fast on a soft spring: its path is bent for hundreds of steps.
static double SpinOnSpring(double dt) {
    Scene scene = SceneStart();
    ScenePlane(&scene, 0, rgQuatIdentity());
    Solid egg = SolidOf(rg_shapeEllipsoid, rgVec(0.04, 0.06, 0.1), 1, rgVec(0, 0, 0));
    SceneFree(&scene, &egg);
    rgWorldDef def = SceneWorldDef(dt, 1e-10);
    def.stiffness = 2e3;
    def.friction = 0;
    SceneMake(&scene, &def);
    double q[7] = {0, 0, 0.15, 0.8, 0.6, 0, 0}, v[6] = {0, 0, -1, 25, 30, 5};
    assert_int_equal(rgWorld_SetState(scene.world, q, v), rg_ok);
    double start = SceneEnergy(&scene), work = 0;
    for (double t = 0; t < 0.3; t += dt) {
        SceneStep(&scene);
        work += ContactWork(scene.world);
    }
    double off = fabs(SceneEnergy(&scene) - start - work) / start;
    SceneEnd(&scene);
    return off;
}

static void test_spins_on_springs(void** state) {
    (void)state;
    double coarse = SpinOnSpring(4e-4), fine = SpinOnSpring(2e-4);
    print_message("energy beside the work of the spring: %.2e, %.2e\n", coarse, fine);
    assert_true(coarse < 1e-4 && fine < coarse / 3.5);
}

// Hulls of many corners: which of them are points of the manifold changes all the time.
static void test_hulls_gain_nothing(void** state) {
    (void)state;
    rgRandom random = {12};
    for (int i = 0; i < rgFewer(400); ++i) {
        Scene scene = SceneStart();
        ScenePlane(&scene, 0, rgQuatIdentity());
        rgBodyDef body = rgDefaultBodyDef();
        body.inertia = rgInertiaFromShape(rg_shapeSphere, rgVec(0.1, 0, 0), 1);
        rgBodyId id;
        assert_int_equal(rgModelDef_AddBody(scene.def, &body, &id), rg_ok);
        SceneJoint(&scene, id, rg_jointFree, rgVec(0, 0, 0), rgVec(0, 0, 1));
        double corners[3 * 48];
        int count = 8 + rgRandom_Index(&random, 40);
        bool prism = rgRandom_Index(&random, 2) == 0;
        for (int c = 0; c < count; ++c) {
            double a = 2 * PI * c / count, up = c % 2 ? 0.05 : -0.05;
            rgVec3 p;
            p.x = rgRandom_Normal(&random);
            p.y = rgRandom_Normal(&random);
            p.z = rgRandom_Normal(&random);
            p = prism ? rgVec(0.1 * cos(a), 0.1 * sin(a), up) : rgScale(0.1 / rgLength(p), p);
            memcpy(corners + 3 * c, &p, sizeof(p));
        }
        rgMeshData mesh = {.vertexCount = count, .vertices = corners};
        rgShapeDef shape = rgDefaultShapeDef();
        shape.body = id;
        shape.kind = rg_shapeHull;
        shape.mesh = &mesh;
        assert_int_equal(rgModelDef_AddShape(scene.def, &shape, NULL), rg_ok);
        rgWorldDef def = SpringDef(&random);
        SceneMake(&scene, &def);
        RandomPlaces(&scene, &random, 0.4);
        assert_true(Drop(&scene).rise < 1e-6);
        SceneEnd(&scene);
    }
}

// A robot that falls limp: a trunk with four legs of two links each.
static void AddLeg(Scene* scene, rgBodyId trunk, double x, double y) {
    Solid upper = SolidOf(rg_shapeCapsule, rgVec(0.02, 0.06, 0), 0.3, rgVec(x, y, -0.1));
    rgBodyId thigh = SceneBody(scene, &upper, trunk);
    SceneJoint(scene, thigh, rg_jointSpherical, rgVec(0, 0, 0.08), rgVec(0, 1, 0));
    Solid lower = SolidOf(rg_shapeBox, rgVec(0.015, 0.02, 0.06), 0.2, rgVec(0, 0, -0.16));
    rgBodyId shank = SceneBody(scene, &lower, thigh);
    SceneJoint(scene, shank, rg_jointRevolute, rgVec(0, 0, 0.08), rgVec(0, 1, 0));
}

static Scene LimpRobot(bool floor, const rgWorldDef* def, rgRandom* random, double speed) {
    Scene scene = SceneStart();
    if (floor) {
        ScenePlane(&scene, 0, rgQuatIdentity());
    }
    Solid trunk = SolidOf(rg_shapeBox, rgVec(0.2, 0.1, 0.05), 5, rgVec(0, 0, 0.5));
    rgBodyId id = SceneFree(&scene, &trunk);
    for (int leg = 0; leg < 4; ++leg) {
        AddLeg(&scene, id, leg / 2 ? 0.18 : -0.18, leg % 2 ? 0.14 : -0.14);
    }
    SceneMake(&scene, def);
    int nq, nv;
    double q[64], v[64];
    const double* at = rgWorld_Positions(scene.world, &nq);
    memcpy(q, at, sizeof(q[0]) * (size_t)nq);
    rgWorld_Velocities(scene.world, &nv);
    assert_true(nq <= 64 && nv <= 64);
    for (int k = 0; k < nv; ++k) {
        v[k] = rgRandom_Uniform(random, -speed, speed);
    }
    assert_int_equal(rgWorld_SetState(scene.world, q, v), rg_ok);
    return scene;
}

// Legs whirl by up to a third of a radian in a step. Beside the work of contacts energy should not
// change at all.
static void test_robots_gain_nothing(void** state) {
    (void)state;
    rgRandom random = {13};
    int count = rgFewer(100);
    Fall sum = {0};
    for (int i = 0; i < count; ++i) {
        rgWorldDef def = SpringDef(&random);
        Scene scene = LimpRobot(true, &def, &random, 1);
        Fall fall = Drop(&scene);
        assert_true(fall.rise < 1e-6);
        sum.beside += fall.beside;
        SceneEnd(&scene);
    }
    print_message("energy beside the work of springs: %.1e\n", sum.beside / count);
    assert_true(sum.beside / count < 2e-3);
}

// Thrown: in flight, parts of less than 0.015 rad leave some 1e-6.
static void test_thrown_robots_gain_nothing(void** state) {
    (void)state;
    rgRandom random = {103};
    for (int i = 0; i < rgFewer(40); ++i) {
        rgWorldDef def = SpringDef(&random);
        Scene scene = LimpRobot(true, &def, &random, 5);
        assert_true(Drop(&scene).rise < 1e-5);
        SceneEnd(&scene);
    }
}

static void test_robots_fly_freely(void** state) {
    (void)state;
    rgRandom random = {15};
    for (int i = 0; i < rgFewer(20); ++i) {
        rgWorldDef def = SpringDef(&random);
        double speed = i % 2 ? 5 : 1;
        Scene scene = LimpRobot(false, &def, &random, speed);
        assert_true(Drop(&scene).rise < (i % 2 ? 1e-5 : 1e-6));
        SceneEnd(&scene);
    }
}

// The middle of the step follows its end: the inverse of a step that nobody drove needs no force.
static void test_inverse_of_whirling(void** state) {
    (void)state;
    rgRandom random = {16};
    rgWorldDef def = SceneWorldDef(1e-3, 1e-12);
    def.stiffness = 2e3;
    def.friction = 0;
    Scene scene = LimpRobot(true, &def, &random, 1);
    rgInverseDef inverse = rgDefaultInverseDef();
    int whirls = 0, nv;
    rgWorld_Velocities(scene.world, &nv);
    for (int i = 0; i < 600; ++i) {
        size_t bytes = rgWorld_StateSize(scene.world);
        void* saved = malloc(bytes);
        double v[64];
        assert_int_equal(rgWorld_Save(scene.world, saved, bytes), rg_ok);
        SceneStep(&scene);
        memcpy(v, rgWorld_Velocities(scene.world, NULL), sizeof(double) * (size_t)nv);
        if (scene.world->fast.isFast[0]) {
            rgInverseResult result;
            assert_int_equal(rgWorld_Restore(scene.world, saved, bytes), rg_ok);
            assert_int_equal(rgWorld_Inverse(scene.world, &inverse, v, &result), rg_ok);
            assert_true(scene.world->fast.isFast[0]);
            whirls += 1;
            for (int k = 0; k < nv; ++k) {
                EXPECT_NEAR(result.force[k], 0, 1e-4); // of thousands that turn the legs
            }
            SceneStep(&scene);
        }
        free(saved);
    }
    assert_true(whirls > 50);
    SceneEnd(&scene);
}

// ---- state

// Whoever puts a body deep into another pays for it: the force is that of the depth, whatever was
// before.
static void test_placed_depth_pushes(void** state) {
    (void)state;
    rgWorldDef def = SceneWorldDef(1e-3, 1e-10);
    def.hasGravity = true;
    def.stiffness = 1e4;
    Scene scene = Ball(1e-3, &def);
    SceneRun(&scene, 3); // known as a pair, and open
    double q[7] = {0, 0, 0.05 - 2e-3, 1, 0, 0, 0};
    assert_int_equal(rgWorld_SetState(scene.world, q, NULL), rg_ok);
    assert_int_equal(rgWorld_Forward(scene.world, NULL), rg_ok);
    // free.1 with z = w^2 dt^2
    double z = 1e4 * 1e-6, w = 16 * z * z / (1 + 16 * z * z), s = 0.5 * (1 + w);
    EXPECT_NEAR(rgWorld_ContactForce(scene.world, ball).z, 20 / (1 + s * s * z), 1e-6);
    SceneEnd(&scene);
}

// What springs took is part of the state: a world restored in the middle of a contact repeats the
// bits, and bytes that say a number that is none are refused.
static void test_state_holds_what_springs_took(void** state) {
    (void)state;
    rgRandom random = {14};
    Scene scene = SceneStart();
    ScenePlane(&scene, 0, rgQuatIdentity());
    Solid solid = SolidOf(rg_shapeCylinder, rgVec(0.1, 0.05, 0), 1, rgVec(0, 0, 0));
    SceneFree(&scene, &solid);
    rgWorldDef def = SceneWorldDef(1e-3, 1e-9);
    def.stiffness = 1e4;
    SceneMake(&scene, &def);
    RandomPlaces(&scene, &random, 0);
    while (SceneStep(&scene).penetration < 1e-3) {
    }
    assert_true(scene.world->warmStart.memories[0].pairs[0].energyTank > 0);
    size_t size = rgWorld_StateSize(scene.world);
    char* saved = malloc(size);
    assert_int_equal(rgWorld_Save(scene.world, saved, size), rg_ok);
    SceneRun(&scene, 300);
    uint64_t after = rgWorld_Hash(scene.world);
    rgWorld* other = NULL;
    assert_int_equal(rgCreateWorld(scene.model, &def, NULL, &other), rg_ok);
    assert_int_equal(rgWorld_Restore(other, saved, size), rg_ok);
    for (int i = 0; i < 300; ++i) {
        assert_int_equal(rgWorld_Step(other, NULL), rg_ok);
    }
    assert_true(rgWorld_Hash(other) == after);
    double nan = NAN;
    assert_int_equal(rgWorld_Restore(other, saved, size), rg_ok);
    size_t contacts = (size_t)other->warmStart.memories[0].contactCount * sizeof(rgContactMemory);
    size_t pair = size - sizeof(uint64_t) - contacts - sizeof(rgPairMemory); // before the checksum
    memcpy(saved + pair + offsetof(rgPairMemory, energyTank), &nan, sizeof(nan));
    rgSealState(saved, size);
    assert_int_equal(rgWorld_Restore(other, saved, size), rg_errorArgument);
    free(saved);
    rgDestroyWorld(other);
    SceneEnd(&scene);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bounce_on_a_spring),
        cmocka_unit_test(test_restitution_from_damping),
        cmocka_unit_test(test_hunt_crossley),
        cmocka_unit_test(test_mass_on_a_spring),
        cmocka_unit_test(test_decay_on_a_spring),
        cmocka_unit_test(test_depth_of_point_and_face),
        cmocka_unit_test(test_from_soft_to_rigid),
        cmocka_unit_test(test_turning_foot_compresses),
        cmocka_unit_test(test_solids_gain_nothing),
        cmocka_unit_test(test_spins_on_springs),
        cmocka_unit_test(test_hulls_gain_nothing),
        cmocka_unit_test(test_robots_gain_nothing),
        cmocka_unit_test(test_thrown_robots_gain_nothing),
        cmocka_unit_test(test_robots_fly_freely),
        cmocka_unit_test(test_inverse_of_whirling),
        cmocka_unit_test(test_placed_depth_pushes),
        cmocka_unit_test(test_state_holds_what_springs_took),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
