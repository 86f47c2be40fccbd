// Identities between the algorithms on random robots with every kind of joint. Tolerances are
// rounding of sums of about 100 terms, relative to the largest entry; derivatives by central
// differences are good to about 1e-8.
#include "dynamics/dynamics.h"
#include "random_model.h"

#include <string.h>

#define MAX_V 128

typedef struct rgCaseData {
    rgRandom random;
    rgModel* model;
    rgDynamics* d;
    int nq, nv;
    double q[MAX_V], v[MAX_V], a[MAX_V], tau[MAX_V];
    double M[MAX_V * MAX_V];
} rgCaseData;

static void rgOpenCase(rgCaseData* c, uint64_t seed, rgVelocityCoordinates coordinates) {
    *c = (rgCaseData){.random = {seed}};
    c->model = rgRandomModel(&c->random, 14);
    rgDynamicsDef def = rgDefaultDynamicsDef(c->model);
    def.coordinates = coordinates;
    def.gravity = rgRandomVec(&c->random, 10);
    assert_int_equal(rgCreateDynamics(c->model, &def, &c->d), rg_ok);
    c->nq = rgModel_Info(c->model).qCount;
    c->nv = rgModel_Info(c->model).vCount;
    assert_true(c->nq <= MAX_V && c->nv <= MAX_V);
    rgModel_RandomConfiguration(c->model, seed, c->q);
    rgRandomVelocity(&c->random, c->nv, c->v);
    rgRandomVelocity(&c->random, c->nv, c->a);
    rgDynamics_SetState(c->d, c->q, c->v);
}

static void rgCloseCase(rgCaseData* c) {
    rgDestroyDynamics(c->d);
    rgDestroyModel(c->model);
}

static double rgLargest(const double* x, int count) {
    double largest = 0;
    for (int i = 0; i < count; ++i) {
        largest = fmax(largest, fabs(x[i]));
    }
    return largest;
}

static void rgExpectEqual(const double* a, const double* b, int count, double tolerance) {
    double scale = fmax(rgLargest(b, count), 1e-3);
    for (int i = 0; i < count; ++i) {
        EXPECT_NEAR(a[i], b[i], tolerance * scale);
    }
}

static void rgRandomWrenches(rgCaseData* c, rgSpatial* wrenches) {
    for (int b = 0; b < rgModel_Info(c->model).bodyCount; ++b) {
        wrenches[b] = (rgSpatial){rgRandomVec(&c->random, 5), rgRandomVec(&c->random, 5)};
    }
}

static void rgForEachCase(void (*check)(rgCaseData*)) {
    for (uint64_t k = 0; k < 48; ++k) {
        rgCaseData c;
        uint64_t seed = 1 + k / 2;
        rgOpenCase(&c, seed, seed % 2 ? rg_velocityBody : rg_velocityStep);
        for (int t = 0; t < c.model->treeCount && k % 2; ++t) {
            c.d->isDeep[t] = c.d->anyDeep = true;
        }
        check(&c);
        rgCloseCase(&c);
    }
}

static void rgCheckForwardInverse(rgCaseData* c) {
    rgSpatial wrenches[32];
    double a[MAX_V];
    rgRandomWrenches(c, wrenches);
    rgDynamics_InverseDynamics(c->d, c->a, wrenches, c->tau);
    assert_int_equal(rgDynamics_ForwardDynamics(c->d, c->tau, wrenches, a), rg_ok);
    rgExpectEqual(a, c->a, c->nv, 1e-9); // condition number of M
}

static void test_forward_inverts_inverse(void** state) {
    (void)state;
    rgForEachCase(rgCheckForwardInverse);
}

static void rgCheckMassColumns(rgCaseData* c) {
    double bias[MAX_V], unit[MAX_V] = {0}, column[MAX_V];
    rgDynamics_MassMatrix(c->d, c->M);
    rgDynamics_Bias(c->d, bias);
    double scale = rgLargest(c->M, c->nv * c->nv) + rgLargest(bias, c->nv);
    for (int j = 0; j < c->nv; ++j) {
        unit[j] = 1;
        rgDynamics_InverseDynamics(c->d, unit, NULL, column);
        unit[j] = 0;
        for (int i = 0; i < c->nv; ++i) {
            EXPECT_NEAR(column[i] - bias[i], c->M[i * c->nv + j], 1e-13 * scale);
        }
    }
}

static void test_mass_is_inverse_of_unit_accelerations(void** state) {
    (void)state;
    rgForEachCase(rgCheckMassColumns);
}

static void rgCheckSparseMass(rgCaseData* c) {
    double added[MAX_V];
    int n = c->nv;
    rgRandomVelocity(&c->random, n, added);
    rgDynamics_MassMatrix(c->d, c->M);
    rgSparse sparse = rgDynamics_SparseMassMatrix(c->d, added);
    assert_int_equal(sparse.rowCount, n);
    for (int i = 0; i < n; ++i) {
        c->M[i * n + i] += added[i];
        for (int t = sparse.rowStart[i]; t < sparse.rowStart[i + 1]; ++t) {
            assert_true(t == sparse.rowStart[i] || sparse.column[t] > sparse.column[t - 1]);
            EXPECT_NEAR(sparse.value[t], c->M[i * n + sparse.column[t]], 0);
            c->M[i * n + sparse.column[t]] = 0;
        }
    }
    EXPECT_NEAR(rgLargest(c->M, n * n), 0, 0); // nothing is missing
}

static void test_sparse_mass_is_the_dense_one(void** state) {
    (void)state;
    rgForEachCase(rgCheckSparseMass);
}

static void rgCheckSolve(rgCaseData* c) {
    int n = c->nv, columns = 5;
    double added[MAX_V], x[MAX_V * 5], one[MAX_V], product[MAX_V];
    for (int i = 0; i < n; ++i) {
        added[i] = rgRandom_Uniform(&c->random, 0, 0.5);
    }
    rgDynamics_MassMatrix(c->d, c->M);
    assert_int_equal(rgDynamics_Factorize(c->d, added), rg_ok);
    rgRandomVelocity(&c->random, n * columns, x);
    for (int k = 0; k < columns; ++k) {
        double b[MAX_V];
        for (int i = 0; i < n; ++i) {
            one[i] = b[i] = x[i * columns + k];
        }
        rgDynamics_Solve(c->d, 1, one);
        for (int i = 0; i < n; ++i) {
            product[i] = added[i] * one[i];
            for (int j = 0; j < n; ++j) {
                product[i] += c->M[i * n + j] * one[j];
            }
        }
        rgExpectEqual(product, b, n, 1e-10);
    }
    double many[MAX_V * 5];
    memcpy(many, x, sizeof(double) * (size_t)(n * columns));
    rgDynamics_Solve(c->d, columns, many);
    for (int i = 0; i < n; ++i) {
        one[i] = x[i * columns + 2];
    }
    rgDynamics_Solve(c->d, 1, one);
    for (int i = 0; i < n; ++i) {
        EXPECT_NEAR(many[i * columns + 2], one[i], 1e-12 * (1 + fabs(one[i])));
    }
}

static void test_solutions_satisfy_the_system(void** state) {
    (void)state;
    rgForEachCase(rgCheckSolve);
}

// A chain so deep that its inertias are articulated, with a branch in its midst: inverse dynamics
// of M^-1 tau is tau.
static void test_deep_chains_are_factorized(void** state) {
    (void)state;
    enum { count = 700, branch = 401 };
    rgModelDef* def = NULL;
    rgModel* model = NULL;
    rgDynamics* d = NULL;
    assert_int_equal(rgCreateModelDef(NULL, &def), rg_ok);
    rgBodyId bodies[count + 1] = {0};
    for (int i = 1; i <= count; ++i) {
        rgBodyDef body = rgDefaultBodyDef();
        body.parent = bodies[i == count ? branch : i - 1];
        body.pose.p = (rgVec3){0, 0, -0.1};
        body.inertia = (rgInertia){
            .mass = 0.1, .center = {0, 0, -0.05}, .moment = {.xx = 1, .yy = 1, .zz = 1}};
        assert_int_equal(rgModelDef_AddBody(def, &body, &bodies[i]), rg_ok);
        rgJointDef joint = rgDefaultJointDef();
        joint.body = bodies[i];
        joint.kind = rg_jointRevolute;
        joint.axis = i % 2 == 0 ? (rgVec3){0, 1, 0} : (rgVec3){1, 0, 0};
        assert_int_equal(rgModelDef_AddJoint(def, &joint, NULL), rg_ok);
    }
    assert_int_equal(rgCompileModel(def, NULL, NULL, &model), rg_ok);
    rgDynamicsDef dynamics = rgDefaultDynamicsDef(model);
    dynamics.gravity = (rgVec3){0};
    assert_int_equal(rgCreateDynamics(model, &dynamics, &d), rg_ok);
    static double q[count], v[count], tau[count], a[count], back[count];
    rgRandom random = {7};
    for (int i = 0; i < count; ++i) {
        q[i] = rgRandom_Uniform(&random, -1, 1);
        a[i] = tau[i] = rgRandom_Uniform(&random, -1, 1);
    }
    rgDynamics_SetState(d, q, v);
    assert_int_equal(rgDynamics_Factorize(d, NULL), rg_ok);
    rgDynamics_Solve(d, 1, a);
    rgDynamics_InverseDynamics(d, a, NULL, back);
    rgExpectEqual(back, tau, count, 1e-9);
    rgDestroyDynamics(d);
    rgDestroyModel(model);
    rgDestroyModelDef(def);
}

// J' w does to tau what the wrench w on the frame's body does.
static void rgCheckJacobianTransposed(rgCaseData* c) {
    static double J[6 * MAX_V];
    rgSpatial wrenches[32] = {0};
    double with[MAX_V], without[MAX_V];
    int bodyCount = rgModel_Info(c->model).bodyCount;
    int body = rgRandom_Index(&c->random, bodyCount);
    rgSpatial w = {rgRandomVec(&c->random, 5), rgRandomVec(&c->random, 5)};
    double f[6] = {w.linear.x, w.linear.y, w.linear.z, w.angular.x, w.angular.y, w.angular.z};
    wrenches[body] = w;
    rgDynamics_InverseDynamics(c->d, c->a, wrenches, with);
    rgDynamics_InverseDynamics(c->d, c->a, NULL, without);
    rgFrameId frame = rgModel_BodyFrame(c->model, (rgBodyId){body + 1});
    rgDynamics_FrameJacobian(c->d, frame, rg_referenceAligned, J);
    double scale = rgLargest(without, c->nv) + 10;
    for (int i = 0; i < c->nv; ++i) {
        double moved = 0;
        for (int k = 0; k < 6; ++k) {
            moved += J[k * c->nv + i] * f[k];
        }
        EXPECT_NEAR(without[i] - with[i], moved, 1e-12 * scale);
    }
}

static void test_wrenches_act_through_the_jacobian(void** state) {
    (void)state;
    rgForEachCase(rgCheckJacobianTransposed);
}

static rgFrameId rgRandomFrame(rgCaseData* c) {
    return (rgFrameId){1 + rgRandom_Index(&c->random, rgModel_Info(c->model).frameCount)};
}

static void rgCheckFrameVelocity(rgCaseData* c) {
    static double J[6 * MAX_V];
    rgFrameId frame = rgRandomFrame(c);
    for (int reference = 0; reference < 3; ++reference) {
        rgSpatial moved = rgDynamics_FrameVelocity(c->d, frame, (rgReference)reference);
        double actual[6], expected[6] = {0};
        memcpy(actual, &moved, sizeof(actual));
        rgDynamics_FrameJacobian(c->d, frame, (rgReference)reference, J);
        for (int k = 0; k < 6; ++k) {
            for (int i = 0; i < c->nv; ++i) {
                expected[k] += J[k * c->nv + i] * c->v[i];
            }
        }
        rgExpectEqual(actual, expected, 6, 1e-13);
    }
}

static void test_jacobian_times_velocity(void** state) {
    (void)state;
    rgForEachCase(rgCheckFrameVelocity);
}

// Move the case's configuration along its velocity for time t.
static void rgMoveAlong(rgCaseData* c, const double* v, double t, double* q) {
    double body[MAX_V];
    if (c->d->stepCoordinates) {
        rgModel_BodyVelocity(c->model, c->q, v, body);
    } else {
        memcpy(body, v, sizeof(double) * (size_t)c->nv);
    }
    rgModel_Integrate(c->model, c->q, body, t, q);
}

static void rgCheckPoseDerivative(rgCaseData* c) {
    double q[MAX_V], h = 1e-5;
    rgFrameId frame = rgRandomFrame(c);
    rgSpatial velocity = rgDynamics_FrameVelocity(c->d, frame, rg_referenceAligned);
    rgMoveAlong(c, c->v, h, q);
    rgDynamics_SetPositions(c->d, q);
    rgPose after = rgDynamics_FramePose(c->d, frame);
    rgMoveAlong(c, c->v, -h, q);
    rgDynamics_SetPositions(c->d, q);
    rgPose before = rgDynamics_FramePose(c->d, frame);
    rgVec3 linear = rgScale(0.5 / h, rgSub(after.p, before.p));
    rgVec3 angular = rgScale(
        0.5 / h, rgRotationVectorFromQuat(rgQuatMultiply(after.q, rgQuatConjugate(before.q))));
    EXPECT_NEAR(rgLength(rgSub(linear, velocity.linear)), 0, 1e-7);
    EXPECT_NEAR(rgLength(rgSub(angular, velocity.angular)), 0, 1e-7);
}

static void test_velocity_is_the_derivative_of_the_pose(void** state) {
    (void)state;
    rgForEachCase(rgCheckPoseDerivative);
}

// Bias and acceleration are derivatives of the frame's velocity along the motion v + t a.
static void rgCheckRate(rgCaseData* c, rgFrameId frame, rgReference reference, const double* a,
                        rgSpatial expected) {
    double q[MAX_V], v[MAX_V], h = 1e-5;
    rgSpatial seen[2];
    for (int side = 0; side < 2; ++side) {
        double t = side ? h : -h;
        rgMoveAlong(c, c->v, t, q);
        for (int i = 0; i < c->nv; ++i) {
            v[i] = c->v[i] + t * a[i];
        }
        rgDynamics_SetState(c->d, q, v);
        seen[side] = rgDynamics_FrameVelocity(c->d, frame, reference);
    }
    rgVec3 linear = rgScale(0.5 / h, rgSub(seen[1].linear, seen[0].linear));
    rgVec3 angular = rgScale(0.5 / h, rgSub(seen[1].angular, seen[0].angular));
    double scale = 1 + rgLength(expected.linear) + rgLength(expected.angular);
    EXPECT_NEAR(rgLength(rgSub(linear, expected.linear)), 0, 1e-7 * scale);
    EXPECT_NEAR(rgLength(rgSub(angular, expected.angular)), 0, 1e-7 * scale);
}

static void rgCheckFrameRates(rgCaseData* c) {
    static const double zero[MAX_V] = {0};
    rgFrameId frame = rgRandomFrame(c);
    for (int k = 0; k < 3; ++k) {
        rgReference reference = (rgReference)k;
        rgDynamics_SetState(c->d, c->q, c->v);
        rgSpatial bias = rgDynamics_FrameBias(c->d, frame, reference);
        rgCheckRate(c, frame, reference, zero, bias);
        rgDynamics_SetState(c->d, c->q, c->v);
        rgDynamics_SetAccelerations(c->d, c->a);
        rgSpatial rate = rgDynamics_FrameAcceleration(c->d, frame, reference);
        rgCheckRate(c, frame, reference, c->a, rate);
    }
}

static void test_acceleration_is_the_derivative_of_velocity(void** state) {
    (void)state;
    rgForEachCase(rgCheckFrameRates);
}

static void rgCheckEnergyAndMomentum(rgCaseData* c) {
    static double J[3 * MAX_V];
    double kinetic = 0;
    rgDynamics_MassMatrix(c->d, c->M);
    for (int i = 0; i < c->nv; ++i) {
        for (int j = 0; j < c->nv; ++j) {
            kinetic += 0.5 * c->v[i] * c->M[i * c->nv + j] * c->v[j];
        }
    }
    rgEnergy energy = rgDynamics_Energy(c->d);
    EXPECT_NEAR(energy.kinetic, kinetic, 1e-12 * kinetic);
    // Gravity torque is the gradient of the potential, and acts on the centre of mass alone.
    double torque[MAX_V], mass = rgModel_Info(c->model).mass;
    rgDynamics_GravityTorque(c->d, torque);
    rgDynamics_CenterJacobian(c->d, J);
    rgVec3 g = c->d->gravity, velocity = {0, 0, 0};
    double scale = rgLargest(torque, c->nv);
    for (int i = 0; i < c->nv; ++i) {
        rgVec3 column = rgVec(J[i], J[c->nv + i], J[2 * c->nv + i]);
        EXPECT_NEAR(torque[i], -mass * rgDot(g, column), 1e-12 * scale);
        velocity = rgAddScaled(velocity, c->v[i], column);
    }
    rgVec3 center = rgDynamics_CenterVelocity(c->d);
    rgSpatial momentum = rgDynamics_Momentum(c->d);
    EXPECT_NEAR(rgLength(rgSub(center, velocity)), 0, 1e-12 * (1 + rgLength(center)));
    EXPECT_NEAR(rgLength(rgSub(momentum.linear, rgScale(mass, center))), 0, 1e-11 * mass);
    EXPECT_NEAR(energy.potential, -mass * rgDot(g, rgDynamics_Center(c->d)), 1e-10 * mass);
}

static void test_energy_momentum_and_center(void** state) {
    (void)state;
    rgForEachCase(rgCheckEnergyAndMomentum);
}

// Trees are solved one by one, and M^-1 J' comes from W', too. x: M^-1 J', by columns.
static void rgCheckParts(rgCaseData* c, const rgSparse* J, const double* x) {
    static double W[12 * MAX_V], y[MAX_V], z[MAX_V];
    int n = c->nv;
    rgDynamics_Whiten(c->d, J, W);
    for (int r = 0; r < J->rowCount; ++r) {
        memset(y, 0, sizeof(y));
        memset(z, 0, sizeof(z));
        for (int k = J->rowStart[r]; k < J->rowStart[r + 1]; ++k) {
            y[J->column[k]] = J->value[k];
            z[J->column[k]] = W[k];
        }
        for (int t = 0; t < c->model->treeCount; ++t) {
            rgDynamics_SolveTree(c->d, t, y);
        }
        rgDynamics_Unwhiten(c->d, z);
        double scale = fmax(rgLargest(y, n), 1e-3);
        for (int i = 0; i < n; ++i) {
            EXPECT_NEAR(y[i], x[i * J->rowCount + r], 1e-10 * scale);
            EXPECT_NEAR(z[i], x[i * J->rowCount + r], 1e-10 * scale);
        }
    }
}

// Sparse J of random pairs of links against dense solves.
static void rgCheckDelassus(rgCaseData* c) {
    enum { PAIRS = 4, ROWS = 3 * PAIRS };
    int column[ROWS * MAX_V], start[ROWS + 1] = {0};
    double value[ROWS * MAX_V], work[ROWS * MAX_V], G[ROWS * ROWS];
    static double dense[ROWS * MAX_V], x[ROWS * MAX_V];
    static const rgVec3 axes[3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    int n = c->nv, count = 0;
    memset(dense, 0, sizeof(dense));
    for (int pair = 0; pair < PAIRS; ++pair) {
        int a = rgRandom_Index(&c->random, c->model->linkCount);
        int b = 1 + rgRandom_Index(&c->random, c->model->linkCount - 1);
        int columns[MAX_V];
        double rows[3 * MAX_V];
        int used = rgModel_PairColumns(c->model, a, b, columns);
        rgDynamics_PairRows(c->d, a, b, rgRandomVec(&c->random, 1), axes, columns, used, rows);
        for (int k = 0; k < 3; ++k) {
            for (int t = 0; t < used; ++t) {
                assert_true(t == 0 || columns[t] > columns[t - 1]);
                column[count] = columns[t];
                value[count++] = rows[k * used + t];
                dense[(3 * pair + k) * n + columns[t]] = rows[k * used + t];
            }
            start[3 * pair + k + 1] = count;
        }
    }
    rgSparse J = {ROWS, n, start, column, value};
    assert_int_equal(rgDynamics_Factorize(c->d, NULL), rg_ok);
    rgDynamics_Delassus(c->d, &J, work, G);
    for (int r = 0; r < ROWS; ++r) {
        for (int i = 0; i < n; ++i) {
            x[i * ROWS + r] = dense[r * n + i];
        }
    }
    rgDynamics_Solve(c->d, ROWS, x);
    double scale = fmax(rgLargest(G, ROWS * ROWS), 1e-3);
    for (int r = 0; r < ROWS; ++r) {
        for (int s = 0; s < ROWS; ++s) {
            double sum = 0;
            for (int i = 0; i < n; ++i) {
                sum += dense[r * n + i] * x[i * ROWS + s];
            }
            EXPECT_NEAR(G[r * ROWS + s], sum, 1e-10 * scale);
        }
    }
    rgCheckParts(c, &J, x);
}

static void test_delassus_matches_dense_solves(void** state) {
    (void)state;
    rgForEachCase(rgCheckDelassus);
}

// Rows of a pair give the relative velocity of the two links at the point.
static void rgCheckPairRows(rgCaseData* c) {
    int bodyCount = rgModel_Info(c->model).bodyCount;
    int columns[MAX_V];
    double rows[3 * MAX_V], turning[3 * MAX_V];
    static const rgVec3 axes[3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    int a = rgRandom_Index(&c->random, bodyCount), b = rgRandom_Index(&c->random, bodyCount);
    int linkA = c->model->bodyPlaces[a].link, linkB = c->model->bodyPlaces[b].link;
    rgVec3 point = rgRandomVec(&c->random, 1);
    rgVec3 expected = {0, 0, 0}, expectedTurn = {0, 0, 0};
    for (int side = 0; side < 2; ++side) {
        rgFrameId frame = rgModel_BodyFrame(c->model, (rgBodyId){(side ? b : a) + 1});
        rgSpatial v = rgDynamics_FrameVelocity(c->d, frame, rg_referenceWorld);
        rgVec3 at = rgAdd(v.linear, rgCross(v.angular, point));
        expected = rgAddScaled(expected, side ? 1 : -1, at);
        expectedTurn = rgAddScaled(expectedTurn, side ? 1 : -1, v.angular);
    }
    int used = rgModel_PairColumns(c->model, linkA, linkB, columns);
    rgDynamics_PairRows(c->d, linkA, linkB, point, axes, columns, used, rows);
    rgDynamics_PairAngularRows(c->d, linkA, linkB, axes, 3, used, turning);
    for (int k = 0; k < 3; ++k) {
        double sum = 0, turn = 0;
        for (int t = 0; t < used; ++t) {
            sum += rows[k * used + t] * c->v[columns[t]];
            turn += turning[k * used + t] * c->v[columns[t]];
        }
        EXPECT_NEAR(sum, rgVec3_At(expected, k), 1e-11);
        EXPECT_NEAR(turn, rgVec3_At(expectedTurn, k), 1e-11);
    }
}

static void test_pair_rows_give_relative_velocity(void** state) {
    (void)state;
    rgForEachCase(rgCheckPairRows);
}

// Step coordinates are body coordinates with the free joints' linear part turned: v_s = T v_b.
static void rgTurnVector(const rgModel* model, const double* q, const double* x, bool back,
                         double* out) {
    if (back) {
        rgModel_BodyVelocity(model, q, x, out);
    } else {
        rgModel_StepVelocity(model, q, x, out);
    }
}

static void test_step_coordinates_are_a_change_of_basis(void** state) {
    (void)state;
    for (uint64_t seed = 1; seed <= 12; ++seed) {
        rgCaseData c;
        rgDynamics* step = NULL;
        double vs[MAX_V], tau[MAX_V], tauStep[MAX_V], accel[MAX_V], accelStep[MAX_V], back[MAX_V];
        rgOpenCase(&c, seed, rg_velocityBody);
        rgDynamicsDef def = rgDefaultDynamicsDef(c.model);
        def.gravity = c.d->gravity;
        def.coordinates = rg_velocityStep;
        assert_int_equal(rgCreateDynamics(c.model, &def, &step), rg_ok);
        rgModel_StepVelocity(c.model, c.q, c.v, vs);
        rgDynamics_SetState(step, c.q, vs);
        // The same forces, seen from both, cause the same motion: d/dt (T v) = T dv + w x (T v).
        rgRandomVelocity(&c.random, c.nv, tau);
        rgTurnVector(c.model, c.q, tau, false, tauStep);
        assert_int_equal(rgDynamics_ForwardDynamics(c.d, tau, NULL, accel), rg_ok);
        assert_int_equal(rgDynamics_ForwardDynamics(step, tauStep, NULL, accelStep), rg_ok);
        rgTurnVector(c.model, c.q, accelStep, true, back);
        for (int t = 0; t < c.model->treeCount; ++t) {
            const rgLink* link = &c.model->links[c.model->trees[t].firstLink];
            if (link->kind == rg_linkFree) {
                const double* v = c.v + link->v;
                rgVec3 wv = rgCross(rgVec(v[3], v[4], v[5]), rgVec(v[0], v[1], v[2]));
                back[link->v] -= wv.x, back[link->v + 1] -= wv.y, back[link->v + 2] -= wv.z;
            }
        }
        rgExpectEqual(back, accel, c.nv, 1e-9);
        EXPECT_NEAR(rgDynamics_Energy(step).kinetic, rgDynamics_Energy(c.d).kinetic, 1e-10);
        // M turns like a bilinear form.
        double x[MAX_V], xs[MAX_V], y = 0, ys = 0;
        static double Ms[MAX_V * MAX_V];
        rgRandomVelocity(&c.random, c.nv, x);
        rgTurnVector(c.model, c.q, x, false, xs);
        rgDynamics_MassMatrix(c.d, c.M);
        rgDynamics_MassMatrix(step, Ms);
        for (int i = 0; i < c.nv * c.nv; ++i) {
            y += x[i / c.nv] * c.M[i] * c.v[i % c.nv];
            ys += xs[i / c.nv] * Ms[i] * vs[i % c.nv];
        }
        EXPECT_NEAR(ys, y, 1e-11 * (1 + fabs(y)));
        rgDestroyDynamics(step);
        rgCloseCase(&c);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_forward_inverts_inverse),
        cmocka_unit_test(test_mass_is_inverse_of_unit_accelerations),
        cmocka_unit_test(test_sparse_mass_is_the_dense_one),
        cmocka_unit_test(test_solutions_satisfy_the_system),
        cmocka_unit_test(test_deep_chains_are_factorized),
        cmocka_unit_test(test_wrenches_act_through_the_jacobian),
        cmocka_unit_test(test_jacobian_times_velocity),
        cmocka_unit_test(test_velocity_is_the_derivative_of_the_pose),
        cmocka_unit_test(test_acceleration_is_the_derivative_of_velocity),
        cmocka_unit_test(test_energy_momentum_and_center),
        cmocka_unit_test(test_delassus_matches_dense_solves),
        cmocka_unit_test(test_pair_rows_give_relative_velocity),
        cmocka_unit_test(test_step_coordinates_are_a_change_of_basis),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
