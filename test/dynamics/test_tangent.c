// Derivatives of motion on the configuration manifold, against differences and each other.
#include "difference.h"
#include "rigor/derivative.h"

#include <string.h>

#define TOLERANCE 1e-9 // of differences of fourth order

// The velocity that integrates from q0 to q1, in the case's coordinates.
static void rgMoving_Between(const rgMoving* m, const double* q0, const double* q1, double* v) {
    rgModel_Difference(m->model, q0, q1, v);
    if (m->d->stepCoordinates) {
        rgModel_StepVelocity(m->model, q0, v, v);
    }
}

static const double rg_dt = 0.4;

// Where (q, v) leads to, seen from where the case leads to.
static void rgMoveOn(rgMoving* m, const double* q, const double* v, double* out) {
    double here[rg_maxV], there[rg_maxV];
    rgMoving_Move(m, m->q, m->v, rg_dt, here);
    rgMoving_Move(m, q, v, rg_dt, there);
    rgMoving_Between(m, here, there, out);
}

static void rgCheckIntegrate(rgMoving* m) {
    static double byQ[rg_maxV * rg_maxV], byV[rg_maxV * rg_maxV], other[rg_maxV * rg_maxV];
    memset(byQ, 255, sizeof(byQ)); // NaN
    memset(byV, 255, sizeof(byV));
    rgModel_IntegrateDerivatives(m->model, m->v, rg_dt, rgMoving_Coordinates(m), byQ, byV);
    rgMoving_Differences(m, rgMoveOn, m->n, false, other);
    rgMoving_Expect(byQ, other, m->n * m->n, TOLERANCE);
    rgMoving_Differences(m, rgMoveOn, m->n, true, other);
    rgMoving_Expect(byV, other, m->n * m->n, TOLERANCE);
    rgModel_IntegrateDerivatives(m->model, m->v, rg_dt, rgMoving_Coordinates(m), NULL, NULL);
}

static void test_integration(void** state) {
    (void)state;
    rgForEachMoving(rgCheckIntegrate);
}

static double rg_other[rg_maxV];

static void rgFromOther(rgMoving* m, const double* q, const double* v, double* out) {
    (void)v;
    rgMoving_Between(m, rg_other, q, out);
}

static void rgToOther(rgMoving* m, const double* q, const double* v, double* out) {
    (void)v;
    rgMoving_Between(m, q, rg_other, out);
}

static void rgCheckDifference(rgMoving* m) {
    static double by0[rg_maxV * rg_maxV], by1[rg_maxV * rg_maxV], other[rg_maxV * rg_maxV];
    rgVelocityCoordinates coordinates = rgMoving_Coordinates(m);
    for (int far = 0; far < 2; ++far) {
        double x[rg_maxV];
        for (int i = 0; i < m->n; ++i) {
            x[i] = rgRandom_Uniform(&m->random, -1, 1) * (far ? 1.5 : 0.01);
        }
        rgMoving_Move(m, m->q, x, 1, rg_other);
        rgModel_DifferenceDerivatives(m->model, m->q, rg_other, coordinates, by0, NULL);
        rgMoving_Differences(m, rgToOther, m->n, false, other);
        rgMoving_Expect(by0, other, m->n * m->n, TOLERANCE);
        rgModel_DifferenceDerivatives(m->model, rg_other, m->q, coordinates, NULL, by1);
        rgMoving_Differences(m, rgFromOther, m->n, false, other);
        rgMoving_Expect(by1, other, m->n * m->n, TOLERANCE);
    }
}

static void test_difference(void** state) {
    (void)state;
    rgForEachMoving(rgCheckDifference);
}

// The difference of q and q (+) v is v: its derivative by v is the identity, by q it is zero.
static void rgCheckChain(rgMoving* m) {
    static double byQ[rg_maxV * rg_maxV], byV[rg_maxV * rg_maxV];
    static double by0[rg_maxV * rg_maxV], by1[rg_maxV * rg_maxV];
    int n = m->n;
    double q[rg_maxV];
    rgVelocityCoordinates coordinates = rgMoving_Coordinates(m);
    for (int i = 0; i < n; ++i) {
        m->v[i] *= 0.5; // turns by less than half a turn
    }
    rgMoving_Move(m, m->q, m->v, 1, q);
    rgModel_IntegrateDerivatives(m->model, m->v, 1, coordinates, byQ, byV);
    rgModel_DifferenceDerivatives(m->model, m->q, q, coordinates, by0, by1);
    for (int i = 0; i < n; ++i) {
        for (int j = 0; j < n; ++j) {
            double first = by0[i * n + j], second = 0;
            for (int k = 0; k < n; ++k) {
                first += by1[i * n + k] * byQ[k * n + j];
                second += by1[i * n + k] * byV[k * n + j];
            }
            EXPECT_NEAR(first, 0, 1e-13);
            EXPECT_NEAR(second, i == j, 1e-13);
        }
    }
}

static void test_difference_undoes_integration(void** state) {
    (void)state;
    rgForEachMoving(rgCheckChain);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_integration),
        cmocka_unit_test(test_difference),
        cmocka_unit_test(test_difference_undoes_integration),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
