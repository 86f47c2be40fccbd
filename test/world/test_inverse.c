// Inverse dynamics with contacts: what it returns makes the step end with the velocity that was
// asked for. test_inverse_recover.c: what a step did is found again.
#include "inverse.h"

// ---- arm on the wall

static const double slide[3] = {0.05, -0.08, 0};
static const double rest[3] = {0, 0, 0};

// v_ref that moves the tool at c beside what the gap asks for.
static void WallVelocity(Scene* scene, const rgWorldDef* def, const double* c, double* v) {
    double J[3 * CONTACTS][DOFS];
    assert_int_equal(ContactJacobian(scene, J), 1);
    double gap = rgWorld_Contacts(scene->world, NULL)[0].gap;
    double wanted[3] = {c[0], c[1], c[2] - NormalBias(scene, def, gap)};
    LeastVelocity(J, 6, wanted, v);
}

// Slide, stick and press with a wanted force, over many steps: forces and velocities come true.
static void test_arm_presses(void** state) {
    (void)state;
    const double* speeds[] = {slide, rest};
    for (int s = 0; s < 2; ++s) {
        rgWorldDef def;
        Scene scene = ArmScene(&def);
        rgInverseDef inverse = rgDefaultInverseDef();
        inverse.start = rg_startForce;
        inverse.normalForce = 20;
        double mu = 0;
        for (int i = 0; i < 200; ++i) {
            double vRef[6];
            WallVelocity(&scene, &def, speeds[s], vRef);
            Trip trip = RoundTrip(&scene, &inverse, vRef);
            mu = trip.contacts[0].mu;
            assert_int_equal(trip.result.contact.status, rg_contactSolved);
            assert_true(trip.result.contact.iterationCount <= 2);
            assert_true(trip.result.contact.residual.total <= 1e-6);
            assert_int_equal(trip.result.violationCount, 0);
            EXPECT_NEAR(trip.error, 0, 1e-9);
            double t1 = trip.contacts[0].impulse[0], t2 = trip.contacts[0].impulse[1];
            EXPECT_NEAR(trip.contacts[0].impulse[2], 0.02, 1e-9);
            EXPECT_NEAR(hypot(t1, t2), s == 0 ? mu * 0.02 : 0, 1e-8);
            // one contact: the step has no choice but these forces
            EXPECT_NEAR(Farthest(trip.contacts[0].impulse, trip.forward[0].impulse, 3), 0, 1e-8);
            assert_int_equal(trip.forward[0].state, s == 0 ? rg_contactSlip : rg_contactStick);
            assert_int_equal(trip.result.openCount, s == 0 ? 1 : 3);
        }
        SceneEnd(&scene);
    }
}

// The paper's case: a start that is not on the sliding ray costs one iteration; zero stays zero.
static void test_arm_one_iteration(void** state) {
    (void)state;
    rgWorldDef def;
    Scene scene = ArmScene(&def);
    double vRef[6], start[6] = {0, 0, 0.02, 0, 0, 0};
    WallVelocity(&scene, &def, slide, vRef);
    rgInverseDef inverse = rgDefaultInverseDef();
    inverse.snap = 1e-12; // rounding of the wanted velocity is no violation
    inverse.start = rg_startGiven;
    inverse.impulses = start;
    inverse.impulseCount = 1;
    rgInverseResult result = Invert(&scene, &inverse, vRef);
    assert_int_equal(result.contact.iterationCount, 1);
    assert_int_equal(result.contact.status, rg_contactSolved);
    const rgContact* contact = rgWorld_Contacts(scene.world, NULL);
    // the nearest point of the ray: normal 1 / (1 + mu^2) of the start's
    EXPECT_NEAR(contact->impulse[2], 0.02 / (1 + contact->mu * contact->mu), 1e-7);
    inverse.start = rg_startZero;
    result = Invert(&scene, &inverse, vRef);
    assert_int_equal(result.contact.iterationCount, 0);
    EXPECT_NEAR(Largest(result.contactForce, 6), 0, 0);
    SceneEnd(&scene);
}

static void test_arm_lifts_off(void** state) {
    (void)state;
    rgWorldDef def;
    Scene scene = ArmScene(&def);
    double vRef[6], up[3] = {0.01, 0, 0.05};
    WallVelocity(&scene, &def, up, vRef);
    rgInverseDef inverse = rgDefaultInverseDef();
    double pulling[6] = {0, 0, 0.02, 0, 0, 0}; // a force that no contact can give while it opens
    inverse.start = rg_startGiven;
    inverse.impulses = pulling;
    inverse.impulseCount = 1;
    Trip trip = RoundTrip(&scene, &inverse, vRef);
    assert_int_equal(trip.result.contact.status, rg_contactSolved);
    EXPECT_NEAR(Largest(trip.contacts[0].impulse, 3), 0, 0);
    EXPECT_NEAR(trip.error, 0, 1e-9);
    assert_int_equal(trip.result.openCount, 0);
    pulling[2] = -0.02; // adhesion
    rgInverseResult result = Invert(&scene, &inverse, vRef);
    EXPECT_NEAR(Largest(result.contactForce, 6), 0, 0);
    SceneEnd(&scene);
}

static void test_arm_frictionless(void** state) {
    (void)state;
    rgWorldDef def;
    Scene scene = ArmScene(&def);
    SceneEnd(&scene);
    def.friction = 0;
    scene = FileScene("arm_wall", &def);
    rgInverseDef inverse = rgDefaultInverseDef();
    inverse.start = rg_startForce;
    inverse.normalForce = 20;
    double vRef[6];
    WallVelocity(&scene, &def, slide, vRef);
    Trip trip = RoundTrip(&scene, &inverse, vRef);
    EXPECT_NEAR(hypot(trip.contacts[0].impulse[0], trip.contacts[0].impulse[1]), 0, 0);
    EXPECT_NEAR(trip.contacts[0].impulse[2], 0.02, 1e-12);
    EXPECT_NEAR(trip.error, 0, 1e-9);
    assert_int_equal(trip.result.openCount, 1);
    SceneEnd(&scene);
}

// A compliant wall: the impulse is the law's (that of Euler's step, which is the simplest),
// whatever the start, and the step agrees.
static void test_arm_compliant(void** state) {
    (void)state;
    rgWorldDef def;
    Scene scene = ArmScene(&def);
    SceneEnd(&scene);
    def.integrator = rg_integratorEuler;
    def.stiffness = 2e4;
    def.damping = 50;
    scene = FileScene("arm_wall", &def);
    double J[3 * CONTACTS][DOFS], into[3] = {0, 0, -1e-3}, step[6], q[6];
    assert_int_equal(ContactJacobian(&scene, J), 1);
    LeastVelocity(J, 6, into, step);
    for (int i = 0; i < 6; ++i) {
        q[i] = rgWorld_Positions(scene.world, NULL)[i] + step[i];
    }
    assert_int_equal(rgWorld_SetState(scene.world, q, NULL), rg_ok);
    rgInverseDef inverse = rgDefaultInverseDef();
    double dt = rgWorld_TimeStep(scene.world), law = dt * dt * def.stiffness + dt * def.damping;
    const double speeds[3][3] = {{0.05, 0.02, -0.01}, {0, 0, 0.005}, {0, 0, 0.5}};
    for (int s = 0; s < 3; ++s) {
        double vRef[6];
        assert_int_equal(ContactJacobian(&scene, J), 1);
        double gap = rgWorld_Contacts(scene.world, NULL)[0].gap;
        LeastVelocity(J, 6, speeds[s], vRef);
        double expected = fmax(-(speeds[s][2] + NormalBias(&scene, &def, gap)) * law, 0);
        inverse.start = s == 1 ? rg_startForce : rg_startZero;
        inverse.normalForce = 500;
        Trip trip = RoundTrip(&scene, &inverse, vRef);
        assert_int_equal(trip.result.contact.status, rg_contactSolved);
        EXPECT_NEAR(trip.contacts[0].impulse[2], expected, 1e-9 * law);
        EXPECT_NEAR(Farthest(trip.contacts[0].impulse, trip.forward[0].impulse, 3), 0, 1e-8);
        EXPECT_NEAR(trip.error, 0, 1e-8);
        assert_int_equal(trip.result.openCount, s == 1 ? 2 : 0);
        assert_int_equal(rgWorld_SetState(scene.world, q, (double[6]){0}), rg_ok);
    }
    SceneEnd(&scene);
}

// Without the De Saxcé term sliding is infeasible: impulses grow without bound.
static void test_convex_diverges(void** state) {
    (void)state;
    rgWorldDef def;
    Scene scene = ArmScene(&def);
    double vRef[6], before = 0;
    WallVelocity(&scene, &def, slide, vRef);
    rgInverseDef inverse = rgDefaultInverseDef();
    inverse.start = rg_startForce;
    inverse.normalForce = 20;
    double exact = Largest(Invert(&scene, &inverse, vRef).force, 6);
    inverse.model = rg_modelCcp;
    for (int limit = 1; limit <= 4; ++limit) {
        inverse.maxIterations = limit;
        rgInverseResult result = Invert(&scene, &inverse, vRef);
        double torque = Largest(result.force, 6);
        assert_int_equal(result.contact.status, rg_contactInfeasible);
        assert_true(torque > before + 1e6 * exact); // |c| / rho more with every iteration
        before = torque;
        // the nearest velocity that the convex model allows leaves the wall
        EXPECT_NEAR(result.contacts[0].nearest[2],
                    0.7 * hypot(result.contacts[0].nearest[0], result.contacts[0].nearest[1]),
                    1e-9);
        assert_true(result.contacts[0].violation > 0.04);
    }
    SceneEnd(&scene);
}

// Into the wall: told, with the nearest velocity, and forces stay finite.
static void test_into_the_wall(void** state) {
    (void)state;
    rgWorldDef def;
    Scene scene = ArmScene(&def);
    double vRef[6], into[3] = {0.02, 0.01, -0.3};
    WallVelocity(&scene, &def, into, vRef);
    rgInverseDef inverse = rgDefaultInverseDef();
    inverse.start = rg_startForce;
    inverse.normalForce = 20;
    rgInverseResult result = Invert(&scene, &inverse, vRef);
    const rgInverseContact* contact = result.contacts;
    double gamma = NormalBias(&scene, &def, rgWorld_Contacts(scene.world, NULL)[0].gap);
    assert_int_equal(result.contact.status, rg_contactInfeasible);
    assert_int_equal(result.violationCount, 1);
    EXPECT_NEAR(result.violation, 0.3, 1e-9);
    EXPECT_NEAR(contact->violation, 0.3, 1e-9);
    assert_true(result.contact.residual.total > 0.2); // judged with what was asked
    EXPECT_NEAR(contact->reference[2], -0.3 - gamma, 1e-9);
    EXPECT_NEAR(contact->nearest[2], -gamma, 1e-9);
    EXPECT_NEAR(contact->nearest[0], 0.02, 1e-9);
    EXPECT_NEAR(contact->nearest[1], 0.01, 1e-9);
    EXPECT_NEAR(rgWorld_Contacts(scene.world, NULL)[0].impulse[2], 0.02, 1e-9);
    SceneEnd(&scene);
}

// ---- floating bases

// Put the lowest contact point on the floor.
static void Settle(Scene* scene) {
    int nq, count;
    double q[DOFS], lowest = INFINITY;
    assert_int_equal(rgWorld_Forward(scene->world, NULL), rg_ok);
    const rgContact* contacts = rgWorld_Contacts(scene->world, &count);
    assert_true(count > 0);
    for (int i = 0; i < count; ++i) {
        lowest = fmin(lowest, contacts[i].gap);
    }
    const double* now = rgWorld_Positions(scene->world, &nq);
    memcpy(q, now, (size_t)nq * sizeof(double));
    q[2] -= lowest;
    assert_int_equal(rgWorld_SetState(scene->world, q, NULL), rg_ok);
}

static void ExpectCones(const Trip* trip) {
    for (int i = 0; i < trip->contactCount; ++i) {
        const double* impulse = trip->contacts[i].impulse;
        assert_true(impulse[2] >= 0);
        assert_true(hypot(impulse[0], impulse[1]) <= trip->contacts[i].mu * impulse[2] + 1e-12);
    }
}

static double ModelMass(const char* name) {
    Scene scene = {0};
    rgWorldDef def = rgDefaultWorldDef();
    scene = FileScene(name, &def);
    double mass = 0;
    for (int i = 1; i <= rgModel_Info(scene.model).bodyCount; ++i) {
        mass += rgModel_Body(scene.model, (rgBodyId){i})->inertia.mass;
    }
    SceneEnd(&scene);
    return mass;
}

// The same world with compliant contacts, sunk until their springs carry the weight.
static void Soften(Scene* scene, rgWorldDef* def, double stiffness, double mass) {
    double q[DOFS];
    int nq, count;
    const double* now = rgWorld_Positions(scene->world, &nq);
    memcpy(q, now, (size_t)nq * sizeof(double));
    assert_int_equal(rgWorld_Forward(scene->world, NULL), rg_ok);
    rgWorld_Contacts(scene->world, &count);
    q[2] -= mass * SCENE_G / (count * stiffness);
    rgDestroyWorld(scene->world);
    def->stiffness = stiffness;
    def->damping = 0.01 * stiffness;
    SceneMake(scene, def);
    assert_int_equal(rgWorld_SetState(scene->world, q, NULL), rg_ok);
}

// Standing still: eight points are hyperstatic. Least squares finds forces inside the cones that
// carry the weight, the base needs nothing, and the step stays at rest.
static void StandStill(const char* name, double stiffness) {
    double mass = ModelMass(name);
    rgWorldDef def = rgDefaultWorldDef();
    def.contact.tolerance = 1e-10;
    Scene scene = FileScene(name, &def);
    Settle(&scene);
    double vRef[DOFS] = {0}, weight = 0;
    int nv;
    rgWorld_Velocities(scene.world, &nv);
    if (stiffness > 0) {
        Soften(&scene, &def, stiffness, mass);
    }
    rgInverseDef inverse = rgDefaultInverseDef();
    inverse.countRank = true;
    rgInverseResult plain = Invert(&scene, &inverse, vRef);
    if (stiffness == 0) {
        EXPECT_NEAR(plain.bases[0].force.z, mass * SCENE_G, 1e-6 * mass);
    }
    assert_int_equal(plain.baseCount, 1);
    inverse.feasible = true;
    int others;
    rgWorld_Constraints(scene.world, &others);
    Trip trip = RoundTrip(&scene, &inverse, vRef);
    ExpectCones(&trip);
    assert_int_equal(trip.result.feasible.status, rg_contactSolved);
    assert_int_equal(trip.result.contact.status, rg_contactSolved);
    for (int i = 0; i < trip.contactCount; ++i) {
        weight += trip.contacts[i].force.z;
    }
    EXPECT_NEAR(weight, mass * SCENE_G, 1e-5 * mass);
    EXPECT_NEAR(trip.error, 0, 1e-8);
    EXPECT_NEAR(Farthest(trip.contactForce, trip.forwardForce, nv), 0, 1e-3);
    if (stiffness == 0) {
        EXPECT_NEAR(Missing(trip.result), 0, 1e-5);
        // Rigid points, and limits and dry friction at rest, are open. Two feet with four points
        // each have rank 12; four point feet and twelve dry joints together have rank 18.
        assert_int_equal(trip.result.openCount, 3 * trip.contactCount + others);
        assert_int_equal(trip.result.redundantCount, trip.contactCount == 8 ? 12 : 6);
    }
    SceneEnd(&scene);
}

static void test_humanoid_stands(void** state) {
    (void)state;
    StandStill("humanoid", 0);
    StandStill("humanoid", 2e5);
}

static void test_quadruped_stands(void** state) {
    (void)state;
    StandStill("quadruped", 0);
    StandStill("quadruped", 1e5);
}

// A standing leg of the quadruped undoes the base's motion at its foot, whose rows are J.
static void HoldFoot(double J[][DOFS], double bias, double* v) {
    int first = 0;
    double A[9], b[3];
    for (int leg = 0; leg < 4; ++leg) {
        int knee = 6 + 3 * leg + 2;
        first = J[0][knee] != 0 || J[2][knee] != 0 ? knee - 2 : first;
    }
    for (int r = 0; r < 3; ++r) {
        b[r] = r == 2 ? -bias : 0;
        for (int k = 0; k < 6; ++k) {
            b[r] -= J[r][k] * v[k];
        }
        for (int k = 0; k < 3; ++k) {
            A[3 * r + k] = J[r][first + k];
        }
    }
    SolveDense(A, b, 3);
    memcpy(v + first, b, sizeof(b));
}

// Least squares: the gradient lies in the dual cone of the contact and does no work.
static void ExpectOptimal(double J[][DOFS], const rgContact* contact,
                          const rgInverseResult* result) {
    double gradient[3] = {0}, dual[3], work = 0;
    rgBlock cone = {.kind = rg_blockCoulomb, .rowCount = 3, .mu = contact->mu};
    for (int r = 0; r < 3; ++r) {
        for (int k = 0; k < 6; ++k) {
            gradient[r] -= J[r][k] * result->force[k];
        }
        dual[r] = gradient[r];
        work += gradient[r] * contact->impulse[r];
    }
    rgBlock_ProjectDual(&cone, dual);
    assert_true(contact->impulse[2] > 1e-3);
    EXPECT_NEAR(Farthest(gradient, dual, 3), 0, 1e-5 * Missing(*result));
    EXPECT_NEAR(work, 0, 1e-5 * contact->impulse[2] * Missing(*result));
}

// Trot: two diagonal feet hold while the base moves on; the other two are in the air.
static void test_quadruped_trots(void** state) {
    (void)state;
    for (int phase = 0; phase < 2; ++phase) {
        rgWorldDef def = rgDefaultWorldDef();
        def.contact.tolerance = 1e-12;
        def.friction = 0.7; // so that both feet carry
        Scene scene = FileScene("quadruped", &def);
        double q[DOFS], vRef[DOFS] = {0.3, 0.05, -0.02, 0.1, 0.2, -0.3};
        memcpy(q, rgWorld_Positions(scene.world, NULL), 19 * sizeof(double));
        for (int leg = 0; leg < 4; ++leg) {
            bool swings = (leg == 0 || leg == 3) == (phase == 0);
            q[7 + 3 * leg + 1] += swings ? -0.3 : 0;
            q[7 + 3 * leg + 2] += swings ? 0.6 : 0;
        }
        assert_int_equal(rgWorld_SetState(scene.world, q, NULL), rg_ok);
        Settle(&scene);
        double J[3 * CONTACTS][DOFS];
        assert_int_equal(ContactJacobian(&scene, J), 2);
        for (int i = 6; i < 18; ++i) {
            vRef[i] = 0.2 * sin(i); // swinging legs
        }
        for (int c = 0; c < 2; ++c) {
            double gap = rgWorld_Contacts(scene.world, NULL)[c].gap;
            HoldFoot(J + 3 * c, NormalBias(&scene, &def, gap), vRef);
        }
        rgInverseDef inverse = rgDefaultInverseDef();
        inverse.coordinates = rg_velocityStep;
        double plain = Missing(Invert(&scene, &inverse, vRef));
        inverse.feasible = true;
        rgInverseResult result = Invert(&scene, &inverse, vRef);
        assert_int_equal(result.contact.status, rg_contactSolved);
        assert_int_equal(result.violationCount, 0);
        assert_true(Missing(result) < plain);
        assert_true(Missing(result) > 1e-3); // two points cannot hold it about their line
        for (int c = 0; c < 2; ++c) {
            ExpectOptimal(J + 3 * c, &rgWorld_Contacts(scene.world, NULL)[c], &result);
        }
        // the base wrench, at the body's origin and in world axes, is that of the first six rows
        rgQuat turn = rgWorld_BodyPose(scene.world, result.bases[0].body).q;
        rgVec3 force = rgRotateBack(turn, result.bases[0].force);
        EXPECT_NEAR(force.x, result.force[0], 1e-9);
        EXPECT_NEAR(force.z, result.force[2], 1e-9);
        // applied with the rest, the step does as it was told; the reference in body coordinates
        double after[DOFS];
        memcpy(after, vRef, sizeof(after));
        rgVec3 w = rgScale(1e-3, rgVec(vRef[3], vRef[4], vRef[5]));
        rgVec3 linear = rgRotateBack(rgQuatMultiply(turn, rgQuatFromRotationVector(w)),
                                     rgVec(vRef[0], vRef[1], vRef[2]));
        after[0] = linear.x, after[1] = linear.y, after[2] = linear.z;
        inverse.coordinates = rg_velocityBody;
        Trip trip = RoundTrip(&scene, &inverse, after);
        ExpectCones(&trip);
        EXPECT_NEAR(trip.error, 0, 1e-8);
        SceneEnd(&scene);
    }
}

// Knees driven through rods: only motors may push, so loops and feet must carry the rest.
static void test_biped_stands(void** state) {
    (void)state;
    rgWorldDef def = rgDefaultWorldDef();
    def.contact.tolerance = 1e-10;
    Scene scene = FileScene("biped", &def);
    Settle(&scene);
    rgModelInfo info = rgModel_Info(scene.model);
    bool actuated[DOFS] = {false};
    double vRef[DOFS] = {0};
    for (int a = 1; a <= info.actuatorCount; ++a) {
        const rgActuatorDef* motor = rgModel_Actuator(scene.model, (rgActuatorId){a});
        actuated[rgModel_JointRange(scene.model, motor->joint).v] = true;
    }
    rgInverseDef inverse = rgDefaultInverseDef();
    inverse.actuated = actuated;
    double held = Missing(Invert(&scene, &inverse, vRef));
    inverse.feasible = true;
    Trip trip = RoundTrip(&scene, &inverse, vRef);
    ExpectCones(&trip);
    assert_true(held > 50);
    EXPECT_NEAR(Missing(trip.result), 0, 1e-5);
    EXPECT_NEAR(trip.error, 0, 1e-8);
    SceneEnd(&scene);
}

// A jump down faster than gravity would take adhesion: no forces, and the base wrench tells.
static void test_adhesion_is_reported(void** state) {
    (void)state;
    rgWorldDef def = rgDefaultWorldDef();
    Scene scene = FileScene("quadruped", &def);
    Settle(&scene);
    double v[DOFS] = {0, 0, 1}, vRef[DOFS] = {0, 0, 0.5}; // braked by 500 m/s^2 on the way up
    assert_int_equal(rgWorld_SetState(scene.world, NULL, v), rg_ok);
    rgInverseDef inverse = rgDefaultInverseDef();
    inverse.feasible = true;
    rgInverseResult result = Invert(&scene, &inverse, vRef);
    EXPECT_NEAR(Largest(result.contactForce, 18), 0, 0);
    double lack = ModelMass("quadruped") * (500 - SCENE_G);
    EXPECT_NEAR(result.bases[0].force.z, -lack, 1e-6 * lack);
    assert_int_equal(result.contact.status, rg_contactSolved); // contacts allow it
    assert_int_equal(result.status, rg_inverseUnheld);         // nothing makes it
    EXPECT_NEAR(result.missingForce, lack, 1e-6 * lack);
    SceneEnd(&scene);
}

// The status is that of the whole motion, and says in newtons and newton metres what is missing.
static void test_status(void** state) {
    (void)state;
    rgWorldDef def = rgDefaultWorldDef();
    def.contact.tolerance = 1e-10;
    Scene scene = FileScene("quadruped", &def);
    Settle(&scene);
    double vRef[DOFS] = {0}, weight = SCENE_G * ModelMass("quadruped");
    rgInverseDef inverse = rgDefaultInverseDef();
    rgInverseResult result = Invert(&scene, &inverse, vRef); // no contact forces: the base hangs
    assert_int_equal(result.status, rg_inverseUnheld);
    EXPECT_NEAR(result.missingForce, weight, 1e-6 * weight);
    inverse.feasible = true;
    result = Invert(&scene, &inverse, vRef); // the ground carries it
    assert_int_equal(result.status, rg_inverseSolved);
    EXPECT_NEAR(Missing(result), 0, 0);
    vRef[5] = 1000 * rgWorld_TimeStep(scene.world); // turn about z: friction gives some of it
    result = Invert(&scene, &inverse, vRef);
    assert_int_equal(result.status, rg_inverseUnheld);
    assert_true(result.missingTorque > 1);
    vRef[2] = -0.1;
    result = Invert(&scene, &inverse, vRef); // into the floor
    assert_int_equal(result.status, rg_inverseForbidden);
    SceneEnd(&scene);
    rgJointDef joint = rgDefaultJointDef();
    joint.effortLimit = 2;
    scene = SceneStart();
    Solid rod = SolidOf(rg_shapeBox, rgVec(0.5, 0.1, 0.1), 1, rgVec(0, 0, 1));
    joint.body = SceneBody(&scene, &rod, (rgBodyId){0});
    assert_int_equal(rgModelDef_AddJoint(scene.def, &joint, NULL), rg_ok);
    SceneMake(&scene, &def);
    double inertia = (1 + 0.04) / 12, rate = 1e-3 * 3 / inertia; // 3 N m
    rgInverseDef plain = rgDefaultInverseDef();
    result = Invert(&scene, &plain, &rate);
    assert_int_equal(result.status, rg_inverseOverload);
    EXPECT_NEAR(result.effortExcess, 1, 1e-9);
    const bool none = false;
    plain.actuated = &none;
    result = Invert(&scene, &plain, &rate); // a hinge without a motor lacks a torque
    assert_int_equal(result.status, rg_inverseUnheld);
    EXPECT_NEAR(result.missingTorque, 3, 1e-9);
    EXPECT_NEAR(result.missingForce, 0, 0);
    SceneEnd(&scene);
}

// ---- forces that are no contacts

// Force of a spring k about r and a damper d, at the weights of free.2 for soft dampers.
static double Pull(double k, double d, double r, double y, bool euler) {
    const double dt = 1e-3, q0 = 0.3, v0 = 2, vRef = 1.5;
    double w = euler ? 1 : y * y / (1 + y * y), share = 0.5 * (1 + w);
    double q = (euler ? q0 : q0 + 0.5 * dt * v0) + dt * (w * v0 + share * share * (vRef - v0));
    return k * (r - q) - d * (v0 + share * (vRef - v0));
}

// One hinge with everything a joint can have; the answer by hand.
static void test_joint_terms(void** state) {
    (void)state;
    const double dt = 1e-3, q0 = 0.3, v0 = 2, vRef = 1.5;
    for (int i = 0; i < 6; ++i) { // gains without limits, with wide ones, saturated
        int mode = i % 3;
        bool euler = i < 3;
        Scene scene = SceneStart();
        Solid rod = SolidOf(rg_shapeSphere, rgVec(0.1, 0, 0), 2, rgVec(0, 0, 0));
        rgBodyId body = SceneBody(&scene, &rod, (rgBodyId){0});
        rgJointDef joint = rgDefaultJointDef();
        joint.body = body;
        joint.kind = rg_jointRevolute;
        joint.axis = rgVec(0, 0, 1);
        joint.damping = 0.7;
        joint.stiffness = 30;
        joint.springReference = 0.1;
        joint.armature = 0.05;
        joint.dryFriction = 0.4;
        rgJointId id;
        assert_int_equal(rgModelDef_AddJoint(scene.def, &joint, &id), rg_ok);
        rgActuatorDef servo = rgDefaultActuatorDef();
        servo.joint = id;
        servo.gain = servo.kp = 80;
        servo.kd = 3;
        servo.hasForceRange = mode > 0;
        servo.forceLower = mode == 2 ? -1 : -1000;
        servo.forceUpper = mode == 2 ? 1 : 1000;
        assert_int_equal(rgModelDef_AddActuator(scene.def, &servo, NULL), rg_ok);
        rgWorldDef def = SceneWorldDef(dt, 1e-12);
        def.integrator = euler ? rg_integratorEuler : rg_integratorMidpoint;
        SceneMake(&scene, &def);
        double control = 0.8, inertia = 0.4 * 2 * 0.01 + 0.05;
        assert_int_equal(rgWorld_SetState(scene.world, &q0, &v0), rg_ok);
        assert_int_equal(rgWorld_SetControl(scene.world, &control), rg_ok);
        rgInverseDef inverse = rgDefaultInverseDef();
        rgInverseResult result = Invert(&scene, &inverse, &vRef);
        double K = dt * dt * 30 / inertia, D = dt * 0.7 / inertia;
        double servoK = dt * dt * 80 / inertia, servoD = dt * 3 / inertia;
        if (mode == 0) { // gains without limits are one with the joint's
            servoK = K += servoK;
            servoD = D += servoD;
        }
        double own = 4 * K / (1 + 4 * D), servos = 4 * servoK / (1 + 4 * servoD);
        double drive = Pull(80, 3, control, servos, euler);
        drive = mode == 2 ? fmin(fmax(drive, -1), 1) : drive;
        double expected =
            inertia * (vRef - v0) / dt - Pull(30, 0.7, 0.1, own, euler) - drive + 0.4; // friction
        EXPECT_NEAR(result.force[0], expected, 1e-8);
        Trip trip = RoundTrip(&scene, &inverse, &vRef);
        EXPECT_NEAR(trip.error, 0, 1e-10);
        SceneEnd(&scene);
    }
}

static void test_limits(void** state) {
    (void)state;
    Scene scene = SceneStart();
    Solid rod = SolidOf(rg_shapeSphere, rgVec(0.1, 0, 0), 2, rgVec(0, 0, 0));
    rgBodyId body = SceneBody(&scene, &rod, (rgBodyId){0});
    rgJointDef joint = rgDefaultJointDef();
    joint.body = body;
    joint.kind = rg_jointPrismatic;
    joint.axis = rgVec(1, 0, 0);
    joint.hasLimits = true;
    joint.lower = -1;
    joint.upper = 1;
    assert_int_equal(rgModelDef_AddJoint(scene.def, &joint, NULL), rg_ok);
    rgWorldDef def = SceneWorldDef(1e-3, 1e-12);
    SceneMake(&scene, &def);
    double q = 1, v = 0.5, still = 0, through = 0.2;
    assert_int_equal(rgWorld_SetState(scene.world, &q, &v), rg_ok);
    rgInverseDef inverse = rgDefaultInverseDef();
    // stopped by force alone, or by the limit: both are answers, the start chooses
    EXPECT_NEAR(Invert(&scene, &inverse, &still).force[0], -1000, 1e-9);
    rgConstraintForce held = {.kind = rg_constraintLimit, .index = 0, .row = 1, .impulse = 1};
    inverse.start = rg_startGiven;
    inverse.constraints = &held;
    inverse.constraintCount = 1;
    rgInverseResult result = Invert(&scene, &inverse, &still);
    EXPECT_NEAR(result.force[0], 0, 1e-9);
    assert_int_equal(result.openCount, 1);
    Trip trip = RoundTrip(&scene, &inverse, &still);
    EXPECT_NEAR(trip.error, 0, 1e-10);
    assert_int_equal(rgWorld_SetState(scene.world, &q, &v), rg_ok);
    result = Invert(&scene, &inverse, &through);
    assert_int_equal(result.contact.status, rg_contactInfeasible);
    EXPECT_NEAR(result.violation, 0.2, 1e-12);
    SceneEnd(&scene);
}

// A rebound: the start's impulse says that the ball hits, and the step bounces as told.
static void test_rebound(void** state) {
    (void)state;
    Scene scene = SceneStart();
    ScenePlane(&scene, 0.5, rgQuatIdentity());
    Solid ball = SolidOf(rg_shapeSphere, rgVec(0.1, 0, 0), 2, rgVec(0, 0, 0.1));
    SceneFree(&scene, &ball);
    rgWorldDef def = SceneWorldDef(1e-3, 1e-12);
    def.restitution = 0.5;
    SceneMake(&scene, &def);
    double v[6] = {0, 0, -3}, vRef[6] = {0, 0, 1.5}, impulses[6] = {0, 0, 9};
    assert_int_equal(rgWorld_SetState(scene.world, NULL, v), rg_ok);
    rgInverseDef inverse = rgDefaultInverseDef();
    inverse.start = rg_startGiven;
    inverse.impulses = impulses;
    inverse.impulseCount = 1;
    Trip trip = RoundTrip(&scene, &inverse, vRef);
    EXPECT_NEAR(trip.contacts[0].impulse[2], 9, 1e-12);
    EXPECT_NEAR(trip.force[2], 2 * SCENE_G, 1e-9);
    EXPECT_NEAR(trip.error, 0, 1e-10);
    SceneEnd(&scene);
}

// ---- the call

static void test_refusals(void** state) {
    (void)state;
    rgWorldDef def;
    Scene scene = ArmScene(&def);
    rgInverseDef good = rgDefaultInverseDef();
    double vRef[6] = {0};
    rgInverseResult result;
    rgInverseDef bad[8] = {good, good, good, good, good, good, good, good};
    bad[0].cookie = 0;
    bad[1].penalty = 0;
    bad[2].tolerance = NAN;
    bad[3].snap = -1;
    bad[4].start = rg_startGiven;
    bad[4].impulseCount = 5; // there is one contact
    bad[5].start = (rgInverseStart)9;
    bad[6].feasible = true;
    bad[6].model = rg_modelCcp;
    bad[7].compliance = -1;
    for (int i = 0; i < 8; ++i) {
        assert_int_equal(rgWorld_Inverse(scene.world, &bad[i], vRef, &result), rg_errorArgument);
        rgWorld_Contacts(scene.world, NULL); // reading is harmless
        rgWorld_Constraints(scene.world, NULL);
    }
    assert_int_equal(rgWorld_Inverse(NULL, &good, vRef, &result), rg_errorArgument);
    assert_int_equal(rgWorld_Inverse(scene.world, NULL, vRef, &result), rg_ok);
    assert_int_equal(rgWorld_Inverse(scene.world, &good, NULL, &result), rg_errorArgument);
    vRef[2] = INFINITY;
    assert_int_equal(rgWorld_Inverse(scene.world, &good, vRef, &result), rg_errorArgument);
    SceneEnd(&scene);
}

// Nothing moves: there is nothing to ask, and that is no error.
static void test_nothing(void** state) {
    (void)state;
    Scene scene = SceneStart();
    ScenePlane(&scene, 0.5, rgQuatIdentity());
    rgWorldDef def = SceneWorldDef(1e-3, 1e-10);
    SceneMake(&scene, &def);
    rgInverseDef inverse = rgDefaultInverseDef();
    inverse.feasible = inverse.countRank = true;
    rgInverseResult result = Invert(&scene, &inverse, NULL);
    assert_int_equal(result.contact.status, rg_contactSolved);
    assert_int_equal(result.rowCount, 0);
    SceneEnd(&scene);
}

static void test_sleeping(void** state) {
    (void)state;
    Scene scene = SceneStart();
    ScenePlane(&scene, 0.5, rgQuatIdentity());
    rgBodyId cube = SceneCube(&scene, 0.1, 1, rgVec(0, 0, 0.1), 0.5);
    rgWorldDef def = SceneWorldDef(1e-3, 1e-10);
    SceneMake(&scene, &def);
    assert_int_equal(rgWorld_EnableBody(scene.world, cube, false), rg_ok);
    double vRef[6] = {0};
    rgInverseDef inverse = rgDefaultInverseDef();
    EXPECT_NEAR(Largest(Invert(&scene, &inverse, vRef).force, 6), 0, 0);
    vRef[0] = 1;
    rgInverseResult result;
    assert_int_equal(rgWorld_Inverse(scene.world, &inverse, vRef, &result), rg_errorArgument);
    SceneEnd(&scene);
}

static void test_memory(void** state) {
    (void)state;
    rgCounter counter = {.failAfter = -1};
    rgWorldDef def = rgDefaultWorldDef();
    def.allocator = rgCountingAllocator(&counter);
    Scene scene = FileScene("humanoid", &def);
    Settle(&scene);
    double vRef[DOFS] = {0};
    rgInverseDef inverse = rgDefaultInverseDef();
    inverse.feasible = inverse.countRank = true;
    for (int i = 0; i < 2; ++i) {
        Invert(&scene, &inverse, vRef);
    }
    int before = counter.allocations;
    for (int i = 0; i < 5; ++i) {
        Invert(&scene, &inverse, vRef);
    }
    assert_int_equal(counter.allocations, before);
    // every failure of the allocator is told, and leaves a world that works
    rgDestroyWorld(scene.world);
    for (int fail = 0, done = 0; fail < 100 && !done; ++fail) {
        counter.failAfter = -1;
        SceneMake(&scene, &def);
        assert_int_equal(rgWorld_Reset(scene.world, (rgKeyId){1}), rg_ok);
        Settle(&scene);
        counter.failAfter = counter.allocations + fail;
        rgInverseResult result;
        rgResult first = rgWorld_Inverse(scene.world, &inverse, vRef, &result);
        assert_true(first == rg_ok || first == rg_errorMemory);
        done = first == rg_ok;
        counter.failAfter = -1;
        Invert(&scene, &inverse, vRef);
        if (!done) {
            rgDestroyWorld(scene.world);
        }
    }
    SceneEnd(&scene);
    assert_int_equal(counter.live, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_arm_presses),      cmocka_unit_test(test_arm_one_iteration),
        cmocka_unit_test(test_arm_lifts_off),    cmocka_unit_test(test_arm_frictionless),
        cmocka_unit_test(test_arm_compliant),    cmocka_unit_test(test_convex_diverges),
        cmocka_unit_test(test_into_the_wall),    cmocka_unit_test(test_humanoid_stands),
        cmocka_unit_test(test_quadruped_stands), cmocka_unit_test(test_quadruped_trots),
        cmocka_unit_test(test_biped_stands),     cmocka_unit_test(test_adhesion_is_reported),
        cmocka_unit_test(test_status),           cmocka_unit_test(test_joint_terms),
        cmocka_unit_test(test_limits),           cmocka_unit_test(test_rebound),
        cmocka_unit_test(test_refusals),         cmocka_unit_test(test_sleeping),
        cmocka_unit_test(test_nothing),          cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
