// Derivatives of inverse and forward dynamics on random robots: against differences of fourth order
// (relative 1e-8), identities (rounding), and the reverse passes against the matrices.
#include "difference.h"
#include "rigor/derivative.h"

#include <string.h>

#define TOLERANCE 1e-8
enum { rg_square = rg_maxV * rg_maxV };

static void rgInverse(rgMoving* m, const double* q, const double* v, double* out) {
    rgDynamics_SetState(m->d, q, v);
    rgDynamics_InverseDynamics(m->d, m->a, m->wrenches, out);
}

static void rgCheckInverse(rgMoving* m) {
    static double byQ[rg_square], byV[rg_square], other[rg_square];
    int count = m->n * m->n;
    memset(byQ, 255, sizeof(byQ)); // NaN
    memset(byV, 255, sizeof(byV));
    assert_int_equal(rgDynamics_InverseDynamicsDerivatives(m->d, m->a, m->wrenches, byQ, byV),
                     rg_ok);
    rgMoving_Differences(m, rgInverse, m->n, false, other);
    rgMoving_Expect(byQ, other, count, TOLERANCE);
    rgMoving_Differences(m, rgInverse, m->n, true, other);
    rgMoving_Expect(byV, other, count, TOLERANCE);
    // One of the two alone has the same bits.
    assert_int_equal(rgDynamics_InverseDynamicsDerivatives(m->d, m->a, m->wrenches, NULL, other),
                     rg_ok);
    assert_memory_equal(byV, other, sizeof(double) * (size_t)count);
}

static void test_inverse_dynamics(void** state) {
    (void)state;
    rgForEachMoving(rgCheckInverse);
}

static void rgForward(rgMoving* m, const double* q, const double* v, double* out) {
    rgDynamics_SetState(m->d, q, v);
    assert_int_equal(rgDynamics_ForwardDynamics(m->d, m->a, m->wrenches, out), rg_ok);
}

// The tolerance has room for the condition number of M.
static void rgCheckForward(rgMoving* m) {
    static double byQ[rg_square], byV[rg_square], byTau[rg_square], other[rg_square];
    int n = m->n;
    for (int t = 0; t < m->model->treeCount; ++t) { // one robot in two by articulated inertias
        m->d->isDeep[t] = m->d->anyDeep = n % 2;
    }
    assert_int_equal(
        rgDynamics_ForwardDynamicsDerivatives(m->d, m->a, m->wrenches, byQ, byV, byTau), rg_ok);
    rgMoving_Differences(m, rgForward, n, false, other);
    rgMoving_Expect(byQ, other, n * n, 1e-6);
    rgMoving_Differences(m, rgForward, n, true, other);
    rgMoving_Expect(byV, other, n * n, 1e-6);
    rgDynamics_MassMatrix(m->d, other);
    for (int i = 0; i < n * n; ++i) {
        double sum = 0;
        for (int k = 0; k < n; ++k) {
            sum += other[i / n * n + k] * byTau[k * n + i % n];
        }
        EXPECT_NEAR(sum, i % (n + 1) == 0, 1e-9);
    }
}

static void test_forward_dynamics(void** state) {
    (void)state;
    rgForEachMoving(rgCheckForward);
}

static void rgMassTimes(rgMoving* m, const double* q, const double* v, double* out) {
    double M[rg_square];
    (void)v;
    rgDynamics_SetPositions(m->d, q);
    rgDynamics_MassMatrix(m->d, M);
    for (int i = 0; i < m->n; ++i) {
        out[i] = 0;
        for (int j = 0; j < m->n; ++j) {
            out[i] += M[i * m->n + j] * m->a[j];
        }
    }
}

static void rgCheckMass(rgMoving* m) {
    static double byQ[rg_square], other[rg_square], before[rg_maxV], after[rg_maxV];
    rgDynamics_InverseDynamics(m->d, m->a, m->wrenches, before);
    assert_int_equal(rgDynamics_MassDerivative(m->d, m->a, byQ), rg_ok);
    rgDynamics_InverseDynamics(m->d, m->a, m->wrenches, after);
    assert_memory_equal(before, after, sizeof(double) * (size_t)m->n); // the state is as it was
    rgMoving_Differences(m, rgMassTimes, m->n, false, other);
    rgMoving_Expect(byQ, other, m->n * m->n, TOLERANCE);
}

static void test_mass_matrix(void** state) {
    (void)state;
    rgForEachMoving(rgCheckMass);
}

static double rgBilinear(int n, const double* x, const double* A, const double* y) {
    double sum = 0;
    for (int i = 0; i < n * n; ++i) {
        sum += x[i / n] * A[i] * y[i % n];
    }
    return sum;
}

// Forces of motion c are quadratic in v: (dc/dv) v = 2 c. They do no work beyond what changes the
// kinetic energy: v' c = 0.5 v' (dM/dt) v.
static void rgCheckCoriolis(rgMoving* m) {
    static double byV[rg_square], byQ[rg_square];
    double bias[rg_maxV], gravity[rg_maxV], power = 0, scale = 0;
    int n = m->n;
    rgDynamics_Bias(m->d, bias);
    rgDynamics_GravityTorque(m->d, gravity);
    assert_int_equal(rgDynamics_InverseDynamicsDerivatives(m->d, NULL, NULL, NULL, byV), rg_ok);
    double largest = rgMoving_Largest(bias, n) + rgMoving_Largest(gravity, n);
    for (int i = 0; i < n; ++i) {
        double sum = 0;
        for (int j = 0; j < n; ++j) {
            sum += byV[i * n + j] * m->v[j];
        }
        EXPECT_NEAR(sum, 2 * (bias[i] - gravity[i]), 1e-12 * largest);
        power += m->v[i] * (bias[i] - gravity[i]);
        scale += fabs(m->v[i] * bias[i]);
    }
    assert_int_equal(rgDynamics_MassDerivative(m->d, m->v, byQ), rg_ok);
    EXPECT_NEAR(0.5 * rgBilinear(n, m->v, byQ, m->v), power, 1e-12 * (scale + largest));
}

static void test_forces_of_motion(void** state) {
    (void)state;
    rgForEachMoving(rgCheckCoriolis);
}

// Where all joints have one coordinate, gravity torques are a gradient: their derivative is
// symmetric.
static void rgCheckGravity(rgMoving* m) {
    static double byQ[rg_square];
    int n = m->n;
    rgDynamics_SetPositions(m->d, m->q);
    assert_int_equal(rgDynamics_InverseDynamicsDerivatives(m->d, NULL, NULL, byQ, NULL), rg_ok);
    double scale = rgMoving_Largest(byQ, n * n);
    for (int i = 0; i < n * n; ++i) {
        int a = m->model->dofs[i / n].link, b = m->model->dofs[i % n].link;
        if (m->model->links[a].vCount == 1 && m->model->links[b].vCount == 1) {
            EXPECT_NEAR(byQ[i], byQ[i % n * n + i / n], 1e-13 * scale);
        }
    }
}

static void test_gravity_is_a_gradient(void** state) {
    (void)state;
    rgForEachMoving(rgCheckGravity);
}

// x' A and what the reverse pass says.
static void rgExpectProduct(int n, int columns, const double* x, const double* A, double sign,
                            const double* actual, double tolerance) {
    for (int j = 0; j < columns; ++j) {
        double sum = 0, scale = 1e-3;
        for (int i = 0; i < n; ++i) {
            sum += sign * x[i] * A[i * columns + j];
            scale += fabs(x[i] * A[i * columns + j]);
        }
        EXPECT_NEAR(actual[j], sum, tolerance * scale);
    }
}

typedef struct rgBars {
    double q[rg_maxV], v[rg_maxV], a[rg_maxV], tau[rg_maxV], inertias[RG_INERTIA_PARAMETERS * 32];
    rgSpatial wrenches[32];
} rgBars;

static rgDynamicsGradient rgBars_All(rgBars* b) {
    return (rgDynamicsGradient){b->q, b->v, b->a, b->tau, b->wrenches, b->inertias};
}

// Wrenches act through Jacobians: inverse dynamics subtracts them.
static void rgCheckWrenchBars(rgMoving* m, double sign, const double* x, const rgBars* bars,
                              double tolerance) {
    static double J[6 * rg_maxV];
    for (int b = 0; b < m->model->info.bodyCount; ++b) {
        rgFrameId frame = rgModel_BodyFrame(m->model, (rgBodyId){b + 1});
        rgDynamics_FrameJacobian(m->d, frame, rg_referenceAligned, J);
        double bar[6];
        memcpy(bar, &bars->wrenches[b], sizeof(bar));
        for (int k = 0; k < 6; ++k) {
            double sum = 0, scale = 1e-3;
            for (int j = 0; j < m->n; ++j) {
                sum += sign * J[k * m->n + j] * x[j];
                scale += fabs(J[k * m->n + j] * x[j]);
            }
            EXPECT_NEAR(bar[k], sum, tolerance * scale);
        }
    }
}

static void rgCheckInverseBars(rgMoving* m) {
    static double byQ[rg_square], byV[rg_square], M[rg_square];
    static double Y[rg_maxV * RG_INERTIA_PARAMETERS];
    rgBars bars;
    double x[rg_maxV];
    rgRandomVelocity(&m->random, m->n, x);
    rgDynamicsGradient out = rgBars_All(&bars);
    assert_int_equal(rgDynamics_InverseDynamicsGradient(m->d, m->a, m->wrenches, x, &out), rg_ok);
    assert_int_equal(rgDynamics_InverseDynamicsDerivatives(m->d, m->a, m->wrenches, byQ, byV),
                     rg_ok);
    rgDynamics_MassMatrix(m->d, M);
    rgExpectProduct(m->n, m->n, x, byQ, 1, bars.q, 1e-12);
    rgExpectProduct(m->n, m->n, x, byV, 1, bars.v, 1e-12);
    rgExpectProduct(m->n, m->n, x, M, 1, bars.a, 1e-12);
    rgCheckWrenchBars(m, -1, x, &bars, 1e-12);
    for (int b = 0; b < m->model->info.bodyCount; ++b) {
        assert_int_equal(rgDynamics_InverseDynamicsByInertia(m->d, m->a, (rgBodyId){b + 1}, Y),
                         rg_ok);
        rgExpectProduct(m->n, RG_INERTIA_PARAMETERS, x, Y, 1,
                        bars.inertias + RG_INERTIA_PARAMETERS * b, 1e-12);
    }
}

static void test_reverse_pass_of_inverse_dynamics(void** state) {
    (void)state;
    rgForEachMoving(rgCheckInverseBars);
}

// Rounding grows with the condition number of M.
static void rgCheckForwardBars(rgMoving* m) {
    static double byQ[rg_square], byV[rg_square], byTau[rg_square];
    static double Y[rg_maxV * RG_INERTIA_PARAMETERS];
    rgBars bars;
    double x[rg_maxV], a[rg_maxV], xWrench[rg_maxV];
    rgRandomVelocity(&m->random, m->n, x);
    rgDynamicsGradient out = rgBars_All(&bars);
    assert_int_equal(rgDynamics_ForwardDynamicsGradient(m->d, m->a, m->wrenches, x, &out), rg_ok);
    assert_int_equal(
        rgDynamics_ForwardDynamicsDerivatives(m->d, m->a, m->wrenches, byQ, byV, byTau), rg_ok);
    rgExpectProduct(m->n, m->n, x, byQ, 1, bars.q, 1e-9);
    rgExpectProduct(m->n, m->n, x, byV, 1, bars.v, 1e-9);
    rgExpectProduct(m->n, m->n, x, byTau, 1, bars.tau, 1e-9);
    memcpy(xWrench, x, sizeof(x));
    rgDynamics_Solve(m->d, 1, xWrench);
    rgCheckWrenchBars(m, 1, xWrench, &bars, 1e-9);
    assert_int_equal(rgDynamics_ForwardDynamics(m->d, m->a, m->wrenches, a), rg_ok);
    for (int b = 0; b < m->model->info.bodyCount; ++b) {
        assert_int_equal(rgDynamics_ForwardDynamicsByInertia(m->d, a, (rgBodyId){b + 1}, Y), rg_ok);
        rgExpectProduct(m->n, RG_INERTIA_PARAMETERS, x, Y, 1,
                        bars.inertias + RG_INERTIA_PARAMETERS * b, 1e-9);
    }
}

static void test_reverse_pass_of_forward_dynamics(void** state) {
    (void)state;
    rgForEachMoving(rgCheckForwardBars);
}

// The regressor times the parameters of all bodies, and armature, is inverse dynamics.
static void rgCheckRegressor(rgMoving* m) {
    static double Y[rg_maxV * RG_INERTIA_PARAMETERS];
    double sum[rg_maxV], tau[rg_maxV], p[RG_INERTIA_PARAMETERS];
    for (int i = 0; i < m->n; ++i) {
        sum[i] = m->model->dofs[i].armature * m->a[i];
    }
    for (int b = 0; b < m->model->info.bodyCount; ++b) {
        rgInertia_Parameters(&m->model->bodies[b].inertia, p);
        assert_int_equal(rgDynamics_InverseDynamicsByInertia(m->d, m->a, (rgBodyId){b + 1}, Y),
                         rg_ok);
        for (int i = 0; i < m->n * RG_INERTIA_PARAMETERS; ++i) {
            sum[i / RG_INERTIA_PARAMETERS] += Y[i] * p[i % RG_INERTIA_PARAMETERS];
        }
    }
    rgDynamics_InverseDynamics(m->d, m->a, NULL, tau);
    rgMoving_Expect(sum, tau, m->n, 1e-12);
}

static void test_regressor(void** state) {
    (void)state;
    rgForEachMoving(rgCheckRegressor);
}

static void test_inertial_parameters(void** state) {
    (void)state;
    rgRandom random = {4};
    for (int k = 0; k < 20; ++k) {
        rgInertia inertia = rgRandomInertia(&random), back;
        double p[RG_INERTIA_PARAMETERS];
        rgInertia_Parameters(&inertia, p);
        rgSym3 moment = rgMomentAbout(&inertia, rgNegate(inertia.center)); // about the origin
        EXPECT_NEAR(p[4], moment.xx, 1e-14);
        EXPECT_NEAR(p[9], moment.yz, 1e-14);
        back = rgInertiaFromParameters(p);
        rgMoving_Expect(&back.mass, &inertia.mass, sizeof(back) / sizeof(double), 1e-14);
    }
}

// A robot whose memory is counted, or refused.
static void test_memory_is_taken_once(void** state) {
    (void)state;
    rgRandom random = {3};
    rgCounter counter = {.failAfter = -1};
    rgModel* model = rgRandomModel(&random, 10);
    rgDynamics* d = NULL;
    rgDynamicsDef def = rgDefaultDynamicsDef(model);
    def.allocator = rgCountingAllocator(&counter);
    assert_int_equal(rgCreateDynamics(model, &def, &d), rg_ok);
    static double A[rg_square], x[rg_maxV];
    rgBars bars;
    rgDynamicsGradient out = rgBars_All(&bars);
    counter.failAfter = counter.allocations;
    assert_int_equal(rgDynamics_InverseDynamicsDerivatives(d, x, NULL, A, A), rg_errorMemory);
    assert_int_equal(rgDynamics_MassDerivative(d, x, A), rg_errorMemory);
    assert_int_equal(rgDynamics_ForwardDynamicsGradient(d, x, NULL, x, &out), rg_errorMemory);
    counter.failAfter = -1;
    assert_int_equal(rgDynamics_InverseDynamicsDerivatives(d, x, NULL, A, A), rg_ok);
    int before = counter.allocations;
    assert_int_equal(rgDynamics_InverseDynamicsDerivatives(d, x, NULL, A, A), rg_ok);
    assert_int_equal(rgDynamics_ForwardDynamicsDerivatives(d, x, NULL, A, A, A), rg_ok);
    assert_int_equal(rgDynamics_MassDerivative(d, x, A), rg_ok);
    assert_int_equal(rgDynamics_InverseDynamicsGradient(d, x, NULL, x, &out), rg_ok);
    assert_int_equal(rgDynamics_ForwardDynamicsGradient(d, x, NULL, x, &out), rg_ok);
    assert_int_equal(rgDynamics_ForwardDynamicsByInertia(d, x, (rgBodyId){1}, A), rg_ok);
    assert_int_equal(counter.allocations, before);
    rgDestroyDynamics(d);
    assert_int_equal(counter.live, 0);
    rgDestroyModel(model);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_inverse_dynamics),
        cmocka_unit_test(test_forward_dynamics),
        cmocka_unit_test(test_mass_matrix),
        cmocka_unit_test(test_forces_of_motion),
        cmocka_unit_test(test_gravity_is_a_gradient),
        cmocka_unit_test(test_reverse_pass_of_inverse_dynamics),
        cmocka_unit_test(test_reverse_pass_of_forward_dynamics),
        cmocka_unit_test(test_regressor),
        cmocka_unit_test(test_inertial_parameters),
        cmocka_unit_test(test_memory_is_taken_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
