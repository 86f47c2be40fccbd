// Motion over time and change of frame: energy and momentum, invariance, memory.
#include "dynamics/dynamics.h"
#include "random_model.h"

#include <string.h>

#define MAX_V 128

static rgBodyId rgAddLink(rgModelDef* def, rgBodyId parent, rgVec3 at, rgJointKind kind,
                          rgVec3 axis) {
    rgBodyDef body = rgDefaultBodyDef();
    rgJointDef joint = rgDefaultJointDef();
    rgInertia rod = rgInertiaFromShape(rg_shapeCapsule, rgVec(0.05, 0.4, 0), 1.5);
    body.parent = parent;
    body.pose.p = at;
    body.inertia = rgInertiaMove((rgPose){rgVec(0, 0, -0.5), rgQuatIdentity()}, &rod);
    assert_int_equal(rgModelDef_AddBody(def, &body, &joint.body), rg_ok);
    joint.kind = kind;
    joint.axis = axis;
    assert_int_equal(rgModelDef_AddJoint(def, &joint, NULL), rg_ok);
    return joint.body;
}

static rgModel* rgDoublePendulum(void) {
    rgModelDef* def = NULL;
    rgModel* model = NULL;
    rgCreateModelDef(NULL, &def);
    rgBodyId upper =
        rgAddLink(def, (rgBodyId){0}, rgVec(0, 0, 0), rg_jointRevolute, rgVec(0, 1, 0));
    rgAddLink(def, upper, rgVec(0, 0, -1), rg_jointRevolute, rgVec(1, 1, 0));
    assert_int_equal(rgCompileModel(def, NULL, NULL, &model), rg_ok);
    rgDestroyModelDef(def);
    return model;
}

static rgModel* rgTop(void) {
    rgModelDef* def = NULL;
    rgModel* model = NULL;
    rgCreateModelDef(NULL, &def);
    rgAddLink(def, (rgBodyId){0}, rgVec(0, 0, 0), rg_jointSpherical, rgVec(0, 0, 1));
    assert_int_equal(rgCompileModel(def, NULL, NULL, &model), rg_ok);
    rgDestroyModelDef(def);
    return model;
}

static rgDynamics* rgOpen(const rgModel* model, rgVec3 gravity, rgVelocityCoordinates coordinates) {
    rgDynamics* d = NULL;
    rgDynamicsDef def = rgDefaultDynamicsDef(model);
    def.gravity = gravity;
    def.coordinates = coordinates;
    assert_int_equal(rgCreateDynamics(model, &def, &d), rg_ok);
    return d;
}

// One step of the midpoint rule on the manifold; of order two.
static void rgMidpointStep(rgDynamics* d, double* q, double* v, double dt) {
    const rgModel* model = d->model;
    double a[MAX_V], middleQ[MAX_V], middleV[MAX_V];
    rgDynamics_SetState(d, q, v);
    assert_int_equal(rgDynamics_ForwardDynamics(d, NULL, NULL, a), rg_ok);
    rgModel_Integrate(model, q, v, dt / 2, middleQ);
    for (int i = 0; i < model->vCount; ++i) {
        middleV[i] = v[i] + dt / 2 * a[i];
    }
    rgDynamics_SetState(d, middleQ, middleV);
    assert_int_equal(rgDynamics_ForwardDynamics(d, NULL, NULL, a), rg_ok);
    rgModel_Integrate(model, q, middleV, dt, q);
    for (int i = 0; i < model->vCount; ++i) {
        v[i] += dt * a[i];
    }
}

static double rgTotalEnergy(rgDynamics* d, const double* q, const double* v) {
    rgDynamics_SetState(d, q, v);
    rgEnergy energy = rgDynamics_Energy(d);
    return energy.kinetic + energy.potential;
}

// Change of energy over one second.
static double rgEnergyDrift(rgDynamics* d, const double* q0, const double* v0, int steps) {
    double q[MAX_V], v[MAX_V];
    memcpy(q, q0, sizeof(double) * (size_t)d->model->qCount);
    memcpy(v, v0, sizeof(double) * (size_t)d->model->vCount);
    double before = rgTotalEnergy(d, q, v);
    for (int i = 0; i < steps; ++i) {
        rgMidpointStep(d, q, v, 1.0 / steps);
    }
    return fabs(rgTotalEnergy(d, q, v) - before);
}

static void rgExpectSecondOrder(rgDynamics* d, const double* q, const double* v) {
    double coarse = rgEnergyDrift(d, q, v, 4000), fine = rgEnergyDrift(d, q, v, 8000);
    double scale = fabs(rgTotalEnergy(d, q, v)) + 1;
    assert_true(fine < 1e-4 * scale);
    // Two or better: the leading term of the energy error may vanish.
    assert_true(coarse / fine > 3.5);
}

static void test_double_pendulum_keeps_its_energy(void** state) {
    (void)state;
    rgModel* model = rgDoublePendulum();
    rgDynamics* d = rgOpen(model, rgVec(0, 0, -9.81), rg_velocityBody);
    double q[2] = {1.2, -0.7}, v[2] = {0.5, 3};
    rgExpectSecondOrder(d, q, v);
    rgDestroyDynamics(d);
    rgDestroyModel(model);
}

static void test_spinning_top_keeps_its_energy(void** state) {
    (void)state;
    rgModel* model = rgTop();
    rgDynamics* d = rgOpen(model, rgVec(0, 0, 9.81), rg_velocityBody);
    rgQuat tilt = rgQuatFromAxisAngle(rgVec(1, 0, 0), 0.4);
    double q[4] = {tilt.w, tilt.x, tilt.y, tilt.z}, v[3] = {0.1, 0.2, 60};
    rgExpectSecondOrder(d, q, v);
    rgDestroyDynamics(d);
    rgDestroyModel(model);
}

static void test_pendulum_has_the_textbook_values(void** state) {
    (void)state;
    rgModelDef* def = NULL;
    rgModel* model = NULL;
    rgBodyDef body = rgDefaultBodyDef();
    rgJointDef joint = rgDefaultJointDef();
    rgCreateModelDef(NULL, &def);
    body.inertia = (rgInertia){
        .mass = 2, .center = {0, 0, -0.5}, .moment = {.xx = 0.1, .yy = 0.2, .zz = 0.05}};
    rgModelDef_AddBody(def, &body, &joint.body);
    joint.axis = rgVec(0, 3, 0);
    joint.armature = 0.25;
    rgModelDef_AddJoint(def, &joint, NULL);
    assert_int_equal(rgCompileModel(def, NULL, NULL, &model), rg_ok);
    rgDynamics* d = rgOpen(model, rgVec(0, 0, -10), rg_velocityBody);
    double q = 0.3, v = 2, M, b, a;
    rgDynamics_SetState(d, &q, &v);
    rgDynamics_MassMatrix(d, &M);
    rgDynamics_Bias(d, &b);
    assert_int_equal(rgDynamics_ForwardDynamics(d, NULL, NULL, &a), rg_ok);
    double inertia = 0.2 + 2 * 0.25 + 0.25;
    EXPECT_NEAR(M, inertia, 1e-15);
    EXPECT_NEAR(b, 2 * 10 * 0.5 * sin(0.3), 1e-14);
    EXPECT_NEAR(a, -10 * sin(0.3) / inertia, 1e-13);
    EXPECT_NEAR(rgDynamics_Energy(d).kinetic, 0.5 * inertia * 4, 1e-14);
    EXPECT_NEAR(rgDynamics_Energy(d).potential, -10 * cos(0.3), 1e-14);
    rgDestroyDynamics(d);
    rgDestroyModel(model);
    rgDestroyModelDef(def);
}

static rgModel* rgFlyingBox(void) {
    rgModelDef* def = NULL;
    rgModel* model = NULL;
    rgBodyDef body = rgDefaultBodyDef();
    rgJointDef joint = rgDefaultJointDef();
    rgCreateModelDef(NULL, &def);
    body.inertia = rgInertiaFromShape(rg_shapeBox, rgVec(0.1, 0.2, 0.3), 1.5);
    rgModelDef_AddBody(def, &body, &joint.body);
    joint.kind = rg_jointFree;
    rgModelDef_AddJoint(def, &joint, NULL);
    assert_int_equal(rgCompileModel(def, NULL, NULL, &model), rg_ok);
    rgDestroyModelDef(def);
    return model;
}

// In step coordinates a body that spins fast without forces keeps its momentum to rounding.
static void test_step_coordinates_keep_linear_momentum(void** state) {
    (void)state;
    rgModel* model = rgFlyingBox();
    rgDynamics* d = rgOpen(model, rgVec(0, 0, 0), rg_velocityStep);
    double q[7], v[6] = {1, -2, 3, 30, 20, -40}, body[6], a[6], dt = 1e-3;
    rgModel_NeutralConfiguration(model, q);
    for (int i = 0; i < 1000; ++i) {
        rgDynamics_SetState(d, q, v);
        assert_int_equal(rgDynamics_ForwardDynamics(d, NULL, NULL, a), rg_ok);
        for (int k = 0; k < 6; ++k) {
            v[k] += dt * a[k];
        }
        rgModel_BodyVelocity(model, q, v, body);
        rgModel_Integrate(model, q, body, dt, q);
    }
    EXPECT_NEAR(v[0], 1, 1e-12);
    EXPECT_NEAR(v[1], -2, 1e-12);
    EXPECT_NEAR(v[2], 3, 1e-12);
    EXPECT_NEAR(q[0], 1, 1e-11);
    EXPECT_NEAR(q[2], 3, 1e-11);
    rgDestroyDynamics(d);
    rgDestroyModel(model);
}

// Internal torques change neither linear nor angular momentum of what flies.
static void test_internal_torques_keep_momentum(void** state) {
    (void)state;
    rgModelDef* def = NULL;
    rgModel* model = NULL;
    rgCreateModelDef(NULL, &def);
    rgBodyId base = rgAddLink(def, (rgBodyId){0}, rgVec(0, 0, 0), rg_jointFree, rgVec(0, 0, 1));
    rgBodyId arm = rgAddLink(def, base, rgVec(0.2, 0, 0), rg_jointRevolute, rgVec(1, 2, 0));
    rgAddLink(def, arm, rgVec(0, 0.3, -1), rg_jointSpherical, rgVec(0, 0, 1));
    rgAddLink(def, base, rgVec(0, -0.2, 0.1), rg_jointPrismatic, rgVec(0, 1, 0));
    assert_int_equal(rgCompileModel(def, NULL, NULL, &model), rg_ok);
    rgDynamics* d = rgOpen(model, rgVec(0, 0, 0), rg_velocityBody);
    double q[MAX_V], moved[MAX_V], v[MAX_V], a[MAX_V], fast[MAX_V], tau[MAX_V] = {0}, h = 1e-5;
    rgRandom random = {4};
    rgModel_RandomConfiguration(model, 4, q);
    rgRandomVelocity(&random, model->vCount, v);
    rgRandomVelocity(&random, model->vCount - 6, tau + 6);
    rgDynamics_SetState(d, q, v);
    assert_int_equal(rgDynamics_ForwardDynamics(d, tau, NULL, a), rg_ok);
    rgSpatial seen[2];
    for (int side = 0; side < 2; ++side) {
        double t = side ? h : -h;
        rgModel_Integrate(model, q, v, t, moved);
        for (int i = 0; i < model->vCount; ++i) {
            fast[i] = v[i] + t * a[i];
        }
        rgDynamics_SetState(d, moved, fast);
        seen[side] = rgDynamics_Momentum(d);
    }
    EXPECT_NEAR(rgLength(rgSub(seen[1].linear, seen[0].linear)) / (2 * h), 0, 1e-6);
    EXPECT_NEAR(rgLength(rgSub(seen[1].angular, seen[0].angular)) / (2 * h), 0, 1e-6);
    assert_true(rgLength(seen[0].angular) > 0.1);
    rgDestroyDynamics(d);
    rgDestroyModel(model);
    rgDestroyModelDef(def);
}

// Free bodies of the second model stand where base puts those of the first.
static void rgMoveFreeBodies(const rgModel* model, rgPose base, double* q) {
    for (int i = 1; i < model->linkCount; ++i) {
        if (model->links[i].kind == rg_linkFree) {
            double* at = q + model->links[i].q;
            rgPose pose;
            memcpy(&pose, at, sizeof(pose));
            pose = rgPoseMultiply(base, pose);
            memcpy(at, &pose, sizeof(pose));
        }
    }
}

// The world may be turned, and stand far away, without any effect on M, b and forward dynamics.
static void test_frame_change_changes_nothing(void** state) {
    (void)state;
    for (uint64_t seed = 1; seed <= 10; ++seed) {
        rgRandom first = {seed}, second = {seed}, other = {seed + 1000};
        rgPose base = rgRandomPose(&other);
        base.p = rgRandomVec(&other, seed % 2 ? 1 : 1e6);
        rgModel* here = rgRandomModel(&first, 10);
        rgModel* there = rgRandomModelAt(&second, 10, base);
        rgVec3 gravity = rgVec(1, 2, -9);
        rgDynamics* a = rgOpen(here, gravity, rg_velocityBody);
        rgDynamics* b = rgOpen(there, rgRotate(base.q, gravity), rg_velocityBody);
        double q[MAX_V], v[MAX_V], x[MAX_V], y[MAX_V];
        static double M[MAX_V * MAX_V], N[MAX_V * MAX_V];
        int nv = here->vCount;
        rgModel_RandomConfiguration(here, seed, q);
        rgRandomVelocity(&other, nv, v);
        rgDynamics_SetState(a, q, v);
        rgMoveFreeBodies(there, base, q);
        rgDynamics_SetState(b, q, v);
        rgDynamics_MassMatrix(a, M);
        rgDynamics_MassMatrix(b, N);
        for (int i = 0; i < nv * nv; ++i) {
            EXPECT_NEAR(N[i], M[i], 1e-12 * (1 + fabs(M[0])));
        }
        rgDynamics_Bias(a, x);
        rgDynamics_Bias(b, y);
        for (int i = 0; i < nv; ++i) {
            EXPECT_NEAR(y[i], x[i], 1e-10);
        }
        assert_int_equal(rgDynamics_ForwardDynamics(a, v, NULL, x), rg_ok);
        assert_int_equal(rgDynamics_ForwardDynamics(b, v, NULL, y), rg_ok);
        for (int i = 0; i < nv; ++i) {
            EXPECT_NEAR(y[i], x[i], 1e-8 * (1 + fabs(x[i])));
        }
        rgDestroyDynamics(a);
        rgDestroyDynamics(b);
        rgDestroyModel(here);
        rgDestroyModel(there);
    }
}

static void test_calls_do_not_allocate(void** state) {
    (void)state;
    rgRandom random = {3};
    rgModel* model = rgRandomModel(&random, 10);
    rgCounter counter = {.failAfter = -1};
    rgDynamics* d = NULL;
    rgDynamicsDef def = rgDefaultDynamicsDef(model);
    def.allocator = rgCountingAllocator(&counter);
    assert_int_equal(rgCreateDynamics(model, &def, &d), rg_ok);
    assert_int_equal(counter.allocations, 1);
    static double q[MAX_V], v[MAX_V], x[MAX_V], M[MAX_V * MAX_V], J[6 * MAX_V];
    rgModel_RandomConfiguration(model, 1, q);
    rgRandomVelocity(&random, model->vCount, v);
    rgDynamics_SetPositions(d, q);
    rgDynamics_SetState(d, q, v);
    rgDynamics_SetAccelerations(d, v);
    rgDynamics_InverseDynamics(d, v, NULL, x);
    rgDynamics_GravityTorque(d, x);
    rgDynamics_MassMatrix(d, M);
    assert_int_equal(rgDynamics_Factorize(d, NULL), rg_ok);
    rgDynamics_Solve(d, 1, x);
    assert_int_equal(rgDynamics_ForwardDynamics(d, x, NULL, v), rg_ok);
    rgDynamics_FrameJacobian(d, (rgFrameId){1}, rg_referenceLocal, J);
    rgDynamics_CenterJacobian(d, J);
    rgDynamics_Momentum(d);
    rgDynamics_Energy(d);
    assert_int_equal(counter.allocations, 1);
    rgDestroyDynamics(d);
    assert_int_equal(counter.live, 0);
    counter = (rgCounter){.failAfter = 0};
    assert_int_equal(rgCreateDynamics(model, &def, &d), rg_errorMemory);
    def.cookie = 0;
    assert_int_equal(rgCreateDynamics(model, &def, &d), rg_errorArgument);
    rgDestroyModel(model);
}

static void test_a_model_without_joints_is_fine(void** state) {
    (void)state;
    rgModelDef* def = NULL;
    rgModel* model = NULL;
    rgBodyDef body = rgDefaultBodyDef();
    rgBodyId id;
    rgCreateModelDef(NULL, &def);
    assert_int_equal(rgCompileModel(def, NULL, NULL, &model), rg_ok);
    rgDestroyModel(model);
    body.pose.p.x = 2;
    rgModelDef_AddBody(def, &body, &id);
    assert_int_equal(rgCompileModel(def, NULL, NULL, &model), rg_ok);
    rgDynamics* d = rgOpen(model, rgVec(0, 0, -9.81), rg_velocityStep);
    rgDynamics_SetState(d, NULL, NULL);
    rgDynamics_MassMatrix(d, NULL);
    rgDynamics_Bias(d, NULL);
    rgModel_NeutralConfiguration(model, NULL);
    rgModel_StepVelocity(model, NULL, NULL, NULL);
    assert_int_equal(rgDynamics_Factorize(d, NULL), rg_ok);
    assert_int_equal(rgDynamics_ForwardDynamics(d, NULL, NULL, NULL), rg_ok);
    EXPECT_NEAR(rgDynamics_BodyPose(d, id).p.x, 2, 0);
    EXPECT_NEAR(rgDynamics_Energy(d).kinetic, 0, 0);
    EXPECT_NEAR(rgDynamics_BodyPose(d, (rgBodyId){7}).p.x, 0, 0);
    rgDestroyDynamics(d);
    rgDestroyModel(model);
    rgDestroyModelDef(def);
}

static void test_singular_mass_is_reported(void** state) {
    (void)state;
    // A point mass on the axis of a joint above another joint: singular only when stretched out.
    rgModelDef* def = NULL;
    rgModel* model = NULL;
    rgBodyDef body = rgDefaultBodyDef();
    rgJointDef joint = rgDefaultJointDef();
    rgCreateModelDef(NULL, &def);
    rgModelDef_AddBody(def, &body, &joint.body);
    rgModelDef_AddJoint(def, &joint, NULL);
    body.parent = joint.body;
    body.inertia = (rgInertia){.mass = 1, .center = {0, 0, 1}};
    rgModelDef_AddBody(def, &body, &joint.body);
    joint.axis = rgVec(1, 0, 0);
    rgModelDef_AddJoint(def, &joint, NULL);
    assert_int_equal(rgCompileModel(def, NULL, NULL, &model), rg_ok);
    rgDynamics* d = rgOpen(model, rgVec(0, 0, -9.81), rg_velocityBody);
    double q[2] = {0, 0}, a[2], added[2] = {1, 1};
    rgDynamics_SetPositions(d, q);
    assert_int_equal(rgDynamics_Factorize(d, NULL), rg_errorNumeric);
    assert_int_equal(rgDynamics_Factorize(d, added), rg_ok);
    assert_int_equal(rgDynamics_ForwardDynamics(d, NULL, NULL, a), rg_errorNumeric);
    q[1] = 1;
    rgDynamics_SetPositions(d, q);
    assert_int_equal(rgDynamics_Factorize(d, NULL), rg_ok);
    rgDestroyDynamics(d);
    rgDestroyModel(model);
    rgDestroyModelDef(def);
}

// Motions are given to kinematic bodies alone.
static void test_refused_motions(void** state) {
    (void)state;
    rgModel* model = rgDoublePendulum();
    rgDynamics* d = NULL;
    assert_int_equal(rgCreateDynamics(model, NULL, &d), rg_ok);
    const rgPose here = rgPoseIdentity();
    const rgSpatial rest = {0};
    const rgBodyId none = {0}, link = {1}, beyond = {99};
    assert_int_equal(rgDynamics_SetBodyMotion(NULL, link, here, rest, rest), rg_errorArgument);
    assert_int_equal(rgDynamics_SetBodyMotion(d, none, here, rest, rest), rg_errorArgument);
    assert_int_equal(rgDynamics_SetBodyMotion(d, beyond, here, rest, rest), rg_errorArgument);
    assert_int_equal(rgDynamics_SetBodyMotion(d, link, here, rest, rest), rg_errorUnsupported);
    rgDestroyDynamics(d);
    rgDestroyModel(model);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_double_pendulum_keeps_its_energy),
        cmocka_unit_test(test_spinning_top_keeps_its_energy),
        cmocka_unit_test(test_pendulum_has_the_textbook_values),
        cmocka_unit_test(test_step_coordinates_keep_linear_momentum),
        cmocka_unit_test(test_internal_torques_keep_momentum),
        cmocka_unit_test(test_frame_change_changes_nothing),
        cmocka_unit_test(test_calls_do_not_allocate),
        cmocka_unit_test(test_a_model_without_joints_is_fine),
        cmocka_unit_test(test_singular_mass_is_reported),
        cmocka_unit_test(test_refused_motions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
