// Derivatives by differences of fourth order, for comparison: the error is about 1e-10 of the
// largest value where everything is of size 1.
#pragma once
#include "dynamics/dynamics.h"
#include "random_model.h"

enum { rg_maxV = 128 };

// A random robot in motion.
typedef struct rgMoving {
    rgRandom random;
    rgModel* model;
    rgDynamics* d;
    int n;
    double q[rg_maxV], v[rg_maxV], a[rg_maxV];
    rgSpatial wrenches[32];
    rgFrameId frame;
    rgReference reference;
} rgMoving;

// What is differentiated: count numbers at positions q and velocity v.
typedef void rgMovingFcn(rgMoving* m, const double* q, const double* v, double* out);

static inline void rgOpenMoving(rgMoving* m, uint64_t seed, rgVelocityCoordinates coordinates) {
    *m = (rgMoving){.random = {seed}};
    m->model = rgRandomModel(&m->random, 14);
    rgDynamicsDef def = rgDefaultDynamicsDef(m->model);
    def.coordinates = coordinates;
    def.gravity = rgRandomVec(&m->random, 10);
    assert_int_equal(rgCreateDynamics(m->model, &def, &m->d), rg_ok);
    m->n = m->model->vCount;
    assert_true(m->model->qCount <= rg_maxV);
    rgModel_RandomConfiguration(m->model, seed, m->q);
    rgRandomVelocity(&m->random, m->n, m->v);
    rgRandomVelocity(&m->random, m->n, m->a);
    for (int b = 0; b < m->model->info.bodyCount; ++b) {
        m->wrenches[b] = (rgSpatial){rgRandomVec(&m->random, 5), rgRandomVec(&m->random, 5)};
    }
    m->frame = (rgFrameId){1 + rgRandom_Index(&m->random, m->model->info.frameCount)};
    rgDynamics_SetState(m->d, m->q, m->v);
}

static inline void rgCloseMoving(rgMoving* m) {
    rgDestroyDynamics(m->d);
    rgDestroyModel(m->model);
}

static inline void rgForEachMoving(void (*check)(rgMoving*)) {
    int count = rgFewer(40);
    for (int k = 0; k < count; ++k) {
        rgMoving m;
        uint64_t seed = 1 + (uint64_t)k;
        rgOpenMoving(&m, seed, seed % 2 ? rg_velocityBody : rg_velocityStep);
        check(&m);
        rgCloseMoving(&m);
    }
}

static inline rgVelocityCoordinates rgMoving_Coordinates(const rgMoving* m) {
    return m->d->stepCoordinates ? rg_velocityStep : rg_velocityBody;
}

// q moved by x, in the case's coordinates.
static inline void rgMoving_Move(const rgMoving* m, const double* q, const double* x, double dt,
                                 double* result) {
    double body[rg_maxV];
    if (m->d->stepCoordinates) {
        rgModel_BodyVelocity(m->model, q, x, body);
        x = body;
    }
    rgModel_Integrate(m->model, q, x, dt, result);
}

// count x n; by v, or by q.
static inline void rgMoving_Differences(rgMoving* m, rgMovingFcn* fcn, int count, bool byV,
                                        double* matrix) {
    static const double steps[4] = {2, 1, -1, -2}, weights[4] = {-1, 8, -8, 1};
    const double h = 2e-3;
    static double out[rg_maxV * 16];
    assert_true(count <= rg_maxV * 16);
    for (int j = 0; j < m->n; ++j) {
        for (int i = 0; i < count; ++i) {
            matrix[i * m->n + j] = 0;
        }
        for (int s = 0; s < 4; ++s) {
            double x[rg_maxV] = {0}, q[rg_maxV], v[rg_maxV];
            x[j] = h * steps[s];
            rgMoving_Move(m, m->q, x, byV ? 0 : 1, q);
            for (int i = 0; i < m->n; ++i) {
                v[i] = m->v[i] + (byV ? x[i] : 0);
            }
            fcn(m, q, v, out);
            for (int i = 0; i < count; ++i) {
                matrix[i * m->n + j] += weights[s] / (12 * h) * out[i];
            }
        }
    }
    rgDynamics_SetState(m->d, m->q, m->v);
}

static inline double rgMoving_Largest(const double* x, int count) {
    double largest = 1e-3;
    for (int i = 0; i < count; ++i) {
        largest = fmax(largest, fabs(x[i]));
    }
    return largest;
}

static inline void rgMoving_Expect(const double* actual, const double* expected, int count,
                                   double tolerance) {
    double scale = rgMoving_Largest(expected, count);
    for (int i = 0; i < count; ++i) {
        EXPECT_NEAR(actual[i], expected[i], tolerance * scale);
    }
}
