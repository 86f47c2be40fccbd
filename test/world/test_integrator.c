// The step as an integrator: order, energy, momentum; what a state that was set does.
#include "scene.h"

static const char doublePendulum[] =
    "<mujoco><worldbody><body><joint axis='0 1 0'/>"
    "<inertial pos='0 0 -.5' mass='1' diaginertia='.083 .083 .001'/>"
    "<body pos='0 0 -1'><joint axis='0 1 0'/>"
    "<inertial pos='0 0 -.4' mass='.7' diaginertia='.05 .05 .001'/></body></body>"
    "</worldbody></mujoco>";

static const char floatingChain[] =
    "<mujoco><option gravity='0 0 0'/><worldbody><body pos='0 0 1'><freejoint/>"
    "<inertial pos='.05 .02 0' mass='2' diaginertia='.05 .08 .1'/>"
    "<body pos='.3 0 0'><joint axis='0 1 0'/>"
    "<inertial pos='.2 0 .03' mass='1' diaginertia='.004 .02 .02'/>"
    "<body pos='.4 0 0'><joint axis='0 0 1'/>"
    "<inertial pos='.15 .01 0' mass='.6' diaginertia='.003 .01 .01'/></body></body></body>"
    "</worldbody></mujoco>";

static const char springMass[] =
    "<mujoco><option gravity='0 0 0'/><worldbody><body><joint type='slide' axis='1 0 0' "
    "stiffness='986.96044010893586'/>" // (2 pi 5 Hz)^2
    "<inertial pos='0 0 0' mass='1' diaginertia='1 1 1'/></body></worldbody></mujoco>";

// Energy may be off by `share` of what potential and kinetic energy exchanged.
static void ExpectEnergy(Scene* scene, int steps, double share) {
    double start = SceneEnergy(scene), off = 0, most = 0;
    for (int i = 0; i < steps; ++i) {
        SceneStep(scene);
        off = fmax(off, fabs(SceneEnergy(scene) - start));
        most = fmax(most, rgWorld_KineticEnergy(scene->world));
    }
    print_message("energy off by %.2e of %.3g J\n", off, most);
    assert_true(off < share * most);
}

static void test_double_pendulum(void** state) {
    (void)state;
    rgWorldDef def = SceneWorldDef(1e-3, 1e-6);
    Scene scene = SceneText(doublePendulum, &def);
    assert_int_equal(rgWorld_SetState(scene.world, (double[]){1.5707963, 0.5}, NULL), rg_ok);
    ExpectEnergy(&scene, rgFewer(60000), 1e-3);
    SceneEnd(&scene);
}

static void test_spring_keeps_its_energy(void** state) {
    (void)state;
    rgWorldDef def = SceneWorldDef(1e-3, 1e-6);
    Scene scene = SceneText(springMass, &def);
    assert_int_equal(rgWorld_SetState(scene.world, (double[]){0.1}, NULL), rg_ok);
    ExpectEnergy(&scene, rgFewer(10000), 1e-3);
    SceneEnd(&scene);
}

// Nothing pushes: the centre of mass goes straight on.
static void test_floating_chain(void** state) {
    (void)state;
    rgWorldDef def = SceneWorldDef(1e-3, 1e-6);
    Scene scene = SceneText(floatingChain, &def);
    double q[9] = {0, 0, 1, 1, 0, 0, 0, 0.3, -0.4}, v[8] = {0, 0, 0, 1, 2, 3, 2, -3};
    assert_int_equal(rgWorld_SetState(scene.world, q, v), rg_ok);
    rgDynamicsDef dynamicsDef = rgDefaultDynamicsDef(scene.model);
    rgDynamics* d;
    assert_int_equal(rgCreateDynamics(scene.model, &dynamicsDef, &d), rg_ok);
    rgDynamics_SetState(d, q, v);
    rgVec3 start = rgDynamics_Center(d), speed = rgDynamics_CenterVelocity(d);
    ExpectEnergy(&scene, rgFewer(60000), 1e-3);
    rgDynamics_SetPositions(d, rgWorld_Positions(scene.world, NULL));
    rgVec3 expected = rgAddScaled(start, rgWorld_Time(scene.world), speed);
    assert_true(rgLength(rgSub(rgDynamics_Center(d), expected)) < 1e-3);
    rgDestroyDynamics(d);
    SceneEnd(&scene);
}

typedef struct Momenta {
    double energy;
    rgVec3 angular; // about the world's origin
} Momenta;

static Momenta FloatingMomenta(const Scene* scene) {
    Momenta sum = {0};
    for (int b = 1; b <= rgModel_Info(scene->model).bodyCount; ++b) {
        rgBodyId id = {b};
        const rgInertia* inertia = &rgModel_Body(scene->model, id)->inertia;
        rgPose pose = rgWorld_BodyPose(scene->world, id);
        rgSpatial V = rgWorld_BodyVelocity(scene->world, id);
        rgVec3 c = rgPose_Point(pose, inertia->center);
        rgVec3 v = rgAdd(V.linear, rgCross(V.angular, rgSub(c, pose.p)));
        rgVec3 w = rgRotateBack(pose.q, V.angular), L = rgSym3_Multiply(&inertia->moment, w);
        rgVec3 spin = rgAdd(rgRotate(pose.q, L), rgScale(inertia->mass, rgCross(c, v)));
        sum.angular = rgAdd(sum.angular, spin);
        sum.energy += 0.5 * (inertia->mass * rgDot(v, v) + rgDot(w, L));
    }
    return sum;
}

// Without contact a floating robot moves at fourth order, and keeps what nothing changes.
static void test_floating_momenta(void** state) {
    (void)state;
    rgWorldDef def = SceneWorldDef(1e-3, 1e-6);
    Scene scene = SceneText(floatingChain, &def);
    double q[9] = {0, 0, 1, 1, 0, 0, 0, 0.3, -0.4}, v[8] = {0, 0, 0, 1, 2, 3, 2, -3};
    assert_int_equal(rgWorld_SetState(scene.world, q, v), rg_ok);
    Momenta start = FloatingMomenta(&scene);
    double turned = 0, off = 0;
    for (int i = 0; i < 10000; ++i) {
        SceneStep(&scene);
        Momenta now = FloatingMomenta(&scene);
        turned =
            fmax(turned, rgLength(rgSub(now.angular, start.angular)) / rgLength(start.angular));
        off = fmax(off, fabs(now.energy / start.energy - 1));
    }
    print_message("angular momentum off by %.1e, energy by %.1e\n", turned, off);
    assert_true(turned < 1e-8);
    assert_true(off < 1e-8);
    SceneEnd(&scene);
}

static void test_inverse_of_flight(void** state) {
    (void)state;
    rgWorldDef def = SceneWorldDef(1e-3, 1e-12);
    Scene scene = SceneText(floatingChain, &def);
    double q[9] = {0, 0, 1, 1, 0, 0, 0, 0.3, -0.4}, v[8] = {0, 0, 0, 1, 2, 3, 2, -3};
    const double force[8] = {1, -2, 3, 0.1, -0.2, 0.3, 0.5, 0.2};
    assert_int_equal(rgWorld_SetState(scene.world, q, v), rg_ok);
    for (int i = 0; i < 20; ++i) {
        size_t bytes = rgWorld_StateSize(scene.world);
        void* saved = malloc(bytes);
        assert_int_equal(rgWorld_SetForce(scene.world, force), rg_ok);
        assert_int_equal(rgWorld_Save(scene.world, saved, bytes), rg_ok);
        SceneStep(&scene);
        memcpy(v, rgWorld_Velocities(scene.world, NULL), sizeof(v));
        assert_int_equal(rgWorld_Restore(scene.world, saved, bytes), rg_ok);
        rgInverseDef inverse = rgDefaultInverseDef();
        rgInverseResult result;
        assert_int_equal(rgWorld_Inverse(scene.world, &inverse, v, &result), rg_ok);
        for (int k = 0; k < 8; ++k) {
            EXPECT_NEAR(result.force[k], force[k], 1e-7);
        }
        SceneStep(&scene);
        free(saved);
    }
    SceneEnd(&scene);
}

// Ten short links whip at hundreds of radians per second.
static void test_ten_links(void** state) {
    (void)state;
    char text[4096] = "<mujoco><worldbody>";
    for (int i = 0; i < 10; ++i) {
        strcat(text, i == 0 ? "<body pos='0 0 2'>" : "<body pos='.05 0 0'>");
        strcat(text, "<joint axis='0 1 0'/><inertial pos='.025 0 0' mass='.1' "
                     "diaginertia='1e-6 2.0933333333e-5 2.0933333333e-5'/>");
    }
    for (int i = 0; i < 10; ++i) {
        strcat(text, "</body>");
    }
    strcat(text, "</worldbody></mujoco>");
    rgWorldDef def = SceneWorldDef(1e-3, 1e-6);
    Scene scene = SceneText(text, &def);
    ExpectEnergy(&scene, rgFewer(60000), 1e-2);
    SceneEnd(&scene);
}

// A body without forces: momentum and energy, whatever it turns about.
static void test_tumbling_body(void** state) {
    (void)state;
    Scene scene = SceneStart();
    Solid brick = SolidOf(rg_shapeBox, rgVec(0.3, 0.1, 0.2), 2, rgVec(0, 0, 3));
    SceneFree(&scene, &brick);
    rgWorldDef def = SceneWorldDef(1e-3, 1e-6);
    def.hasGravity = true;
    SceneMake(&scene, &def);
    double v[6] = {1, -2, 3, 0.1, 8, 0.1};
    assert_int_equal(rgWorld_SetState(scene.world, NULL, v), rg_ok);
    rgSym3 I = rgInertiaFromShape(brick.kind, brick.size, brick.mass).moment;
    double energy = rgWorld_KineticEnergy(scene.world), off = 0, turned = 0;
    rgVec3 L = rgVec(0, 0, 0), start = rgVec(1, -2, 3);
    for (int i = 0; i < rgFewer(60000); ++i) {
        SceneStep(&scene);
        rgSpatial V = rgWorld_BodyVelocity(scene.world, (rgBodyId){1});
        rgQuat q = rgWorld_BodyPose(scene.world, (rgBodyId){1}).q;
        rgVec3 now = rgRotate(q, rgSym3_Multiply(&I, rgRotateBack(q, V.angular)));
        L = i == 0 ? now : L; // the first step after a state was set is Euler's
        turned = fmax(turned, rgLength(rgSub(now, L)) / rgLength(L));
        off = fmax(off, fabs(rgWorld_KineticEnergy(scene.world) / energy - 1));
        assert_true(rgLength(rgSub(V.linear, start)) < 1e-10);
    }
    print_message("angular momentum off by %.1e, energy by %.1e\n", turned, off);
    assert_true(turned < 1e-10);
    assert_true(off < 1e-4);
    SceneEnd(&scene);
}

// ---- order

static rgVec3 EndOf(const char* text, const double* q, const double* v, double dt,
                    rgIntegrator integrator) {
    rgWorldDef def = SceneWorldDef(dt, 1e-12);
    def.integrator = integrator;
    Scene scene = SceneText(text, &def);
    assert_int_equal(rgWorld_SetState(scene.world, q, v), rg_ok);
    SceneRun(&scene, (int)lround(0.5 / dt));
    rgModelInfo info = rgModel_Info(scene.model);
    rgVec3 p = rgWorld_BodyPose(scene.world, (rgBodyId){info.bodyCount}).p;
    p = rgAdd(p, rgWorld_BodyVelocity(scene.world, (rgBodyId){info.bodyCount}).linear);
    p = rgAdd(
        p, rgRotate(rgWorld_BodyPose(scene.world, (rgBodyId){info.bodyCount}).q, rgVec(1, 2, 3)));
    SceneEnd(&scene);
    return p;
}

// Steps of h, h/2 and h/4: errors go down by 2^order.
static void ExpectOrder(const char* text, const double* q, const double* v, double h, double order,
                        rgIntegrator integrator) {
    rgVec3 a = EndOf(text, q, v, h, integrator), b = EndOf(text, q, v, 0.5 * h, integrator);
    rgVec3 c = EndOf(text, q, v, 0.25 * h, integrator);
    double found = log2(rgLength(rgSub(a, b)) / rgLength(rgSub(b, c)));
    print_message("order %.3f of %.1e\n", found, rgLength(rgSub(a, b)));
    EXPECT_NEAR(found, order, 0.2);
}

// A sphere hangs by a loop closure and swings in a cone-like way: constraint forces bend its path.
static const char hanging[] =
    "<mujoco><worldbody><body name='b' pos='0 0 0'><freejoint/>"
    "<inertial pos='.05 0 -.3' mass='1' diaginertia='.02 .03 .01'/></body></worldbody>"
    "<equality><connect body1='b' anchor='0 0 0'/></equality></mujoco>";

static void test_order(void** state) {
    (void)state;
    double spring[] = {0.1}, pendulum[] = {1.5, 0.5};
    double q[9] = {0, 0, 1, 1, 0, 0, 0, 0.3, -0.4}, v[8] = {0, 0, 0, 1, 2, 3, 2, -3};
    double tilted[7] = {0, 0, 0, cos(0.4), sin(0.4), 0, 0}, turning[6] = {0, 0, 0, 1, 2, 6};
    ExpectOrder(springMass, spring, NULL, 2e-3, 2, rg_integratorMidpoint);
    ExpectOrder(doublePendulum, pendulum, NULL, 2e-3, 2, rg_integratorMidpoint);
    ExpectOrder(floatingChain, q, v, 5e-3, 4, rg_integratorMidpoint);
    ExpectOrder(hanging, tilted, turning, 2e-3, 2, rg_integratorMidpoint);
    ExpectOrder(doublePendulum, pendulum, NULL, 2e-3, 1, rg_integratorEuler);
}

// ---- what was set, and files

// Euler's disc: rolls on its rim with its centre at rest, W^2 sin(a) = 4 g/r. The point of contact
// runs around by 0.05 rad in a step of 1 ms. By how much energy rises in a second.
static double EulersDisc(double dt) {
    double tilt = 0.3, r = 0.05, half = 1e-4, rise = 0;
    double rate = sqrt(4 * SCENE_G / (r * sin(tilt))) * sin(tilt);
    Scene scene = SceneStart();
    ScenePlane(&scene, 1, rgQuatIdentity());
    Solid solid = SolidOf(rg_shapeCylinder, rgVec(r, half, 0), 0.4,
                          rgVec(0, 0, r * sin(tilt) + half * cos(tilt)));
    solid.pose.q = rgQuatFromAxisAngle(rgVec(0, 1, 0), tilt);
    solid.material.mu = 1;
    SceneFree(&scene, &solid);
    rgWorldDef def = SceneWorldDef(dt, 1e-10);
    SceneMake(&scene, &def);
    SceneSetVelocity(&scene, 3, 1, &rate);
    double start = SceneEnergy(&scene);
    for (int i = 0; i < (int)lround(1 / dt); ++i) {
        SceneStep(&scene);
        rise = fmax(rise, SceneEnergy(&scene) / start - 1);
    }
    SceneEnd(&scene);
    return rise;
}

static void test_eulers_disc(void** state) {
    (void)state;
    double coarse = EulersDisc(1e-3), fine = EulersDisc(5e-4);
    print_message("energy up by %.2e, %.2e\n", coarse, fine);
    assert_true(coarse < 1e-3 && fine <= coarse / 3);
}

// A top in steady precession, W with I1 cos(a) W^2 - I3 w W + m g l = 0 about its point, held by a
// loop: its rate is off by at most 0.06 (w dt)^2, at second order.
static double TopOnAConnect(double dt) {
    rgWorldDef def = SceneWorldDef(dt, 1e-12);
    Scene scene =
        SceneText("<mujoco><worldbody><body name='t'><freejoint/><inertial pos='0 0 0.1' mass='1' "
                  "diaginertia='0.002 0.002 0.0035'/></body></worldbody><equality>"
                  "<connect body1='t' anchor='0 0 0'/></equality></mujoco>",
                  &def);
    double tilt = 0.3, spin = 100, I1 = 0.012 * cos(tilt), L = 0.0035 * spin, turned = 0, last = 0;
    double rate = (L - sqrt(L * L - 4 * I1 * SCENE_G * 0.1)) / (2 * I1);
    rgQuat q = rgQuatFromAxisAngle(rgVec(0, 1, 0), tilt);
    rgVec3 w = rgScale(rate, rgRotateBack(q, rgVec(0, 0, 1)));
    double at[7] = {0, 0, 0, q.w, q.x, q.y, q.z}, v[6] = {0, 0, 0, w.x, w.y, spin};
    assert_int_equal(rgWorld_SetState(scene.world, at, v), rg_ok);
    for (int i = 0; i < (int)lround(1 / dt); ++i) {
        SceneStep(&scene);
        rgVec3 axis = rgRotate(rgWorld_BodyPose(scene.world, (rgBodyId){1}).q, rgVec(0, 0, 1));
        double angle = atan2(axis.y, axis.x);
        turned += remainder(angle - last, 2 * acos(-1));
        last = angle;
    }
    SceneEnd(&scene);
    return turned / rate - 1;
}

static void test_top_on_a_connect(void** state) {
    (void)state;
    double coarse = TopOnAConnect(2e-3), middle = TopOnAConnect(1e-3), fine = TopOnAConnect(5e-4);
    print_message("precession off by %.2e, %.2e, %.2e\n", coarse, middle, fine);
    assert_true(fabs(coarse) < 0.06 * 0.04 && fabs(middle) < 0.06 * 0.01);
    assert_true(fabs(fine) < fabs(middle) / 3);
}

// A state that was set touching the floor on its way down stops there.
static void test_set_into_the_floor(void** state) {
    (void)state;
    Scene scene = SceneStart();
    ScenePlane(&scene, 0.5, rgQuatIdentity());
    Solid ball = SolidOf(rg_shapeSphere, rgVec(0.1, 0, 0), 1, rgVec(0, 0, 0.1));
    rgBodyId id = SceneFree(&scene, &ball);
    rgWorldDef def = SceneWorldDef(1e-3, 1e-9);
    SceneMake(&scene, &def);
    assert_int_equal(rgWorld_SetState(scene.world, NULL, (double[6]){0, 0, -5}), rg_ok);
    for (int i = 0; i < 20; ++i) {
        SceneStep(&scene);
        EXPECT_NEAR(SceneBodyPoint(&scene, id).z, 0.1, 1e-9);
    }
    SceneEnd(&scene);
}

// Whoever sets what is there changes nothing; whoever resets starts anew.
static void test_set_what_is_there(void** state) {
    (void)state;
    rgWorldDef def = SceneWorldDef(1e-3, 1e-6);
    Scene scene = SceneText(floatingChain, &def);
    double v[8] = {0, 0, 0, 1, 2, 3, 2, -3}, q[9];
    uint64_t first = 0;
    assert_int_equal(rgWorld_SetState(scene.world, NULL, v), rg_ok);
    SceneRun(&scene, 100);
    first = rgWorld_Hash(scene.world);
    rgKeyId none = {0};
    assert_int_equal(rgWorld_Reset(scene.world, none), rg_ok);
    assert_int_equal(rgWorld_SetState(scene.world, NULL, v), rg_ok);
    for (int i = 0; i < 100; ++i) {
        SceneStep(&scene);
        memcpy(q, rgWorld_Positions(scene.world, NULL), sizeof(q));
        memcpy(v, rgWorld_Velocities(scene.world, NULL), sizeof(v));
        assert_int_equal(rgWorld_SetState(scene.world, q, v), rg_ok);
    }
    assert_true(rgWorld_Hash(scene.world) == first);
    SceneEnd(&scene);
}

// A servo of 1e6 N/m on 1 kg is as fast as the step: it goes there and is quiet.
static void test_stiff_servo_is_quiet(void** state) {
    (void)state;
    const char* forms[2] = {"", "forcerange='-1e9 1e9' "};
    for (int k = 0; k < 2; ++k) {
        char text[512];
        snprintf(text, sizeof(text),
                 "<mujoco><option gravity='0 0 0'/><worldbody><body><joint name='j' type='slide' "
                 "axis='1 0 0'/><inertial pos='0 0 0' mass='1' diaginertia='1 1 1'/></body>"
                 "</worldbody><actuator><position joint='j' kp='1e6' %s/></actuator></mujoco>",
                 forms[k]);
        rgWorldDef def = SceneWorldDef(1e-3, 1e-9);
        Scene scene = SceneText(text, &def);
        double target = 0.3;
        assert_int_equal(rgWorld_SetControl(scene.world, &target), rg_ok);
        SceneRun(&scene, 30);
        EXPECT_NEAR(rgWorld_Positions(scene.world, NULL)[0], 0.3, 1e-3);
        SceneRun(&scene, 170);
        EXPECT_NEAR(rgWorld_Positions(scene.world, NULL)[0], 0.3, 1e-12);
        EXPECT_NEAR(rgWorld_Velocities(scene.world, NULL)[0], 0, 1e-9);
        SceneEnd(&scene);
    }
}

// A servo with a stiff damper, as those of robots, moves from rest to its target as part of M^ and
// as a row: dt d/m = 0.9. Implicit Euler is off by dt k/(2 d) = 5e-3.
static void test_servo_with_stiff_damper(void** state) {
    (void)state;
    const char* forms[2] = {"", "forcerange='-1e9 1e9' "};
    const double m = 0.5, k = 4500, d = 450, dt = 1e-3, root = sqrt(d * d - 4 * m * k);
    const double slow = (d - root) / (2 * m), fast = (d + root) / (2 * m);
    for (int f = 0; f < 2; ++f) {
        char text[512];
        snprintf(
            text, sizeof(text),
            "<mujoco><option gravity='0 0 0'/><worldbody><body><joint name='j' type='slide' "
            "axis='1 0 0'/><inertial pos='0 0 0' mass='%g' diaginertia='1 1 1'/></body>"
            "</worldbody><actuator><position joint='j' kp='%g' kv='%g' %s/></actuator></mujoco>",
            m, k, d, forms[f]);
        double q = 1, v = 0;
        rgWorldDef def = SceneWorldDef(dt, 1e-12);
        Scene scene = SceneText(text, &def);
        assert_int_equal(rgWorld_SetState(scene.world, &q, &v), rg_ok);
        SceneStep(&scene); // by Euler's rule, since the state was set
        q = rgWorld_Positions(scene.world, NULL)[0], v = rgWorld_Velocities(scene.world, NULL)[0];
        double a = (fast * q + v) / (fast - slow), b = q - a;
        for (int i = 1; i <= 200; ++i) {
            SceneStep(&scene);
            double exact = a * exp(-slow * i * dt) + b * exp(-fast * i * dt);
            EXPECT_NEAR(rgWorld_Positions(scene.world, NULL)[0], exact, 1.5e-4);
        }
        SceneEnd(&scene);
    }
}

// Ten links with dampers: those of the first joints act on much less than what the joints carry.
// Their velocities settle, and do not ring from step to step.
static void test_dampers_of_a_chain(void** state) {
    (void)state;
    char text[4096] = "<mujoco><option><flag contact='disable'/></option><worldbody>",
         actuators[1024] = "";
    for (int i = 0; i < 10; ++i) {
        char part[256];
        snprintf(part, sizeof(part),
                 "<body pos='%g 0 0'><joint name='j%d' axis='0 1 0'/><geom type='capsule' "
                 "size='.02' fromto='0 0 0 .1 0 0' mass='.2'/>",
                 i > 0 ? 0.1 : 0, i);
        strcat(text, part);
        snprintf(part, sizeof(part), "<position joint='j%d' kp='500' kv='50'/>", i);
        strcat(actuators, part);
    }
    for (int i = 0; i < 10; ++i) {
        strcat(text, "</body>");
    }
    strcat(text, "</worldbody><actuator>");
    strcat(strcat(text, actuators), "</actuator></mujoco>");
    rgWorldDef def = SceneWorldDef(2e-3, 1e-9);
    Scene scene = SceneText(text, &def);
    double control[10], before[2][10] = {{0}};
    for (int i = 0; i < 10; ++i) {
        control[i] = i % 2 == 0 ? -0.2 : 0.2;
    }
    assert_int_equal(rgWorld_SetControl(scene.world, control), rg_ok);
    double most = 0;
    for (int k = 0; k < 52; ++k) {
        SceneStep(&scene);
        const double* v = rgWorld_Velocities(scene.world, NULL);
        for (int i = 0; i < 10; ++i) {
            double ring = fabs(v[i] - 2 * before[0][i] + before[1][i]);
            most = k >= 50 ? fmax(most, ring) : 0;
            before[1][i] = before[0][i];
            before[0][i] = v[i];
        }
    }
    EXPECT_NEAR(most, 0, 0.01);
    SceneEnd(&scene);
}

// Inverse dynamics of a tree that is so fast that it moves in parts of a step.
static void test_inverse_of_fast_tree(void** state) {
    (void)state;
    rgWorldDef def = SceneWorldDef(1e-3, 1e-9);
    Scene scene = SceneText(doublePendulum, &def);
    double v[2] = {40, -90}, force[2] = {3, -2}, wanted[2];
    assert_int_equal(rgWorld_SetState(scene.world, (double[]){1, 2}, v), rg_ok);
    for (int i = 0; i < 20; ++i) {
        size_t bytes = rgWorld_StateSize(scene.world);
        void* saved = malloc(bytes);
        assert_int_equal(rgWorld_SetForce(scene.world, force), rg_ok);
        assert_int_equal(rgWorld_Save(scene.world, saved, bytes), rg_ok);
        SceneStep(&scene);
        memcpy(wanted, rgWorld_Velocities(scene.world, NULL), sizeof(wanted));
        uint64_t after = rgWorld_Hash(scene.world);
        assert_int_equal(rgWorld_Restore(scene.world, saved, bytes), rg_ok);
        rgInverseDef inverse = rgDefaultInverseDef();
        rgInverseResult result;
        assert_int_equal(rgWorld_Inverse(scene.world, &inverse, wanted, &result), rg_ok);
        EXPECT_NEAR(result.force[0], force[0], 1e-7);
        EXPECT_NEAR(result.force[1], force[1], 1e-7);
        SceneStep(&scene);
        assert_true(rgWorld_Hash(scene.world) == after);
        free(saved);
    }
    SceneEnd(&scene);
}

static void test_integrator_of_a_file(void** state) {
    (void)state;
    const char* names[] = {"Euler", "implicit", "implicitfast", "RK4"};
    for (int i = 0; i < 4; ++i) {
        char text[128];
        snprintf(text, sizeof(text), "<mujoco><option integrator='%s'/><worldbody/></mujoco>",
                 names[i]);
        rgModelDef* def;
        rgModel* model;
        assert_int_equal(rgParseModelDef(text, strlen(text), NULL, NULL, NULL, &def), rg_ok);
        assert_int_equal(rgCompileModel(def, NULL, NULL, &model), rg_ok);
        assert_int_equal(rgModel_Info(model).options.integrator,
                         i == 0 ? rg_integratorEuler : rg_integratorMidpoint);
        const char* path = "test_integrator.xml";
        rgModelDef* again;
        assert_int_equal(rgSaveMjcf(def, path, NULL), rg_ok);
        assert_int_equal(rgLoadMjcf(path, NULL, NULL, &again), rg_ok);
        remove(path);
        rgDestroyModel(model);
        assert_int_equal(rgCompileModel(again, NULL, NULL, &model), rg_ok);
        assert_int_equal(rgModel_Info(model).options.integrator,
                         i == 0 ? rg_integratorEuler : rg_integratorMidpoint);
        rgDestroyModelDef(again);
        rgDestroyModel(model);
        rgDestroyModelDef(def);
    }
    const char* wrong = "<mujoco><option integrator='magic'/><worldbody/></mujoco>";
    rgModelDef* def = NULL;
    assert_int_not_equal(rgParseModelDef(wrong, strlen(wrong), NULL, NULL, NULL, &def), rg_ok);
}

// A floating arm whose servos have effort limits, hence are rows: of second order, as with gains in
// M^. Halving the step quarters the error.
static void test_floating_servos(void** state) {
    (void)state;
    const char* text =
        "<mujoco><worldbody><body pos='0 0 1'><freejoint/><geom type='box' size='.2 .1 .05' "
        "mass='3'/><body pos='.2 0 0'><joint name='a' axis='0 1 0'/><geom type='capsule' "
        "size='.03' fromto='0 0 0 .3 0 0' mass='1'/><body pos='.3 0 0'><joint name='b' "
        "axis='0 0 1'/><geom type='capsule' size='.03' fromto='0 0 0 0 .3 0' mass='.7'/></body>"
        "</body></body></worldbody><actuator><position joint='a' kp='60' kv='1' "
        "forcerange='-1e6 1e6'/><position joint='b' kp='40' kv='.6' forcerange='-1e6 1e6'/>"
        "</actuator></mujoco>";
    const double q[9] = {0, 0, 1, 1, 0, 0, 0, 0.4, -0.3}, u[2] = {0.8, -0.7};
    const double v[8] = {0.1, 0.2, 0.3, 3, 2, -4, 1, -2};
    double end[4][9], error[3] = {0};
    for (int k = 0; k < 4; ++k) {
        int steps = k == 3 ? 25600 : 400 << k;
        rgWorldDef def = SceneWorldDef(0.2 / steps, 1e-12);
        Scene scene = SceneText(text, &def);
        assert_int_equal(rgWorld_SetState(scene.world, q, v), rg_ok);
        assert_int_equal(rgWorld_SetControl(scene.world, u), rg_ok);
        SceneRun(&scene, steps);
        memcpy(end[k], rgWorld_Positions(scene.world, NULL), sizeof(end[k]));
        SceneEnd(&scene);
    }
    for (int k = 0; k < 3; ++k) {
        for (int i = 0; i < 9; ++i) {
            error[k] = fmax(error[k], fabs(end[k][i] - end[3][i]));
        }
    }
    assert_true(error[1] < error[0] / 3 && error[2] < error[1] / 3);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_double_pendulum),      cmocka_unit_test(test_spring_keeps_its_energy),
        cmocka_unit_test(test_floating_chain),       cmocka_unit_test(test_floating_momenta),
        cmocka_unit_test(test_inverse_of_flight),    cmocka_unit_test(test_ten_links),
        cmocka_unit_test(test_tumbling_body),        cmocka_unit_test(test_order),
        cmocka_unit_test(test_top_on_a_connect),     cmocka_unit_test(test_eulers_disc),
        cmocka_unit_test(test_set_into_the_floor),   cmocka_unit_test(test_set_what_is_there),
        cmocka_unit_test(test_stiff_servo_is_quiet), cmocka_unit_test(test_servo_with_stiff_damper),
        cmocka_unit_test(test_dampers_of_a_chain),   cmocka_unit_test(test_inverse_of_fast_tree),
        cmocka_unit_test(test_floating_servos),      cmocka_unit_test(test_integrator_of_a_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
