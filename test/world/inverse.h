// What tests of inverse dynamics share: scenes, dense algebra, and the trip there and back.
#pragma once
#include "scene.h"

enum { DOFS = 64, CONTACTS = 64, ROWS = 128 };

static inline Scene FileScene(const char* name, const rgWorldDef* def) {
    Scene scene = {0};
    assert_int_equal(rgLoadModelDef(name, NULL, NULL, &scene.def), rg_ok);
    SceneMake(&scene, def);
    assert_int_equal(rgWorld_Reset(scene.world, (rgKeyId){1}), rg_ok);
    return scene;
}

static inline Scene ArmScene(rgWorldDef* def) {
    *def = rgDefaultWorldDef();
    def->contact.tolerance = 1e-12;
    return FileScene("arm_wall", def);
}

static inline Scene BuiltScene(const char* name, const rgWorldDef* def) {
    Scene scene = {0};
    const rgSceneInfo* info = rgFindScene(name);
    assert_non_null(info);
    assert_int_equal(rgBuildScene(info, NULL, NULL, &scene.def), rg_ok);
    SceneMake(&scene, def);
    assert_int_equal(rgScene_Start(info, scene.world), rg_ok);
    return scene;
}

static inline rgInverseResult Invert(Scene* scene, const rgInverseDef* def, const double* vRef) {
    rgInverseResult result;
    uint64_t before = rgWorld_Hash(scene->world);
    assert_int_equal(rgWorld_Inverse(scene->world, def, vRef, &result), rg_ok);
    assert_true(rgWorld_Hash(scene->world) == before); // the state is not touched
    return result;
}

// What joints without a motor lack, in newtons or newton metres.
static inline double Missing(rgInverseResult result) {
    return fmax(result.missingForce, result.missingTorque);
}

// Gaussian elimination with pivots; a is n x n, row by row.
static inline void SolveDense(double* a, double* b, int n) {
    for (int k = 0; k < n; ++k) {
        int pivot = k;
        for (int i = k + 1; i < n; ++i) {
            pivot = fabs(a[i * n + k]) > fabs(a[pivot * n + k]) ? i : pivot;
        }
        for (int j = 0; j < n; ++j) {
            double t = a[k * n + j];
            a[k * n + j] = a[pivot * n + j];
            a[pivot * n + j] = t;
        }
        double t = b[k];
        b[k] = b[pivot];
        b[pivot] = t;
        for (int i = k + 1; i < n; ++i) {
            double f = a[i * n + k] / a[k * n + k];
            for (int j = k; j < n; ++j) {
                a[i * n + j] -= f * a[k * n + j];
            }
            b[i] -= f * b[k];
        }
    }
    for (int k = n - 1; k >= 0; --k) {
        for (int j = k + 1; j < n; ++j) {
            b[k] -= a[k * n + j] * b[j];
        }
        b[k] /= a[k * n + k];
    }
}

// The contact rows of the present state, dense: 3 per contact. Returns the number of contacts.
static inline int ContactJacobian(Scene* scene, double J[][DOFS]) {
    int count;
    assert_int_equal(rgWorld_Forward(scene->world, NULL), rg_ok);
    rgWorld_Contacts(scene->world, &count);
    const rgContactProblem* problem = rgWorld_Problem(scene->world, NULL);
    const rgSparse* rows = &problem->delassus.jacobian;
    int first = problem->rowCount - 3 * count;
    memset(J, 0, sizeof(double) * DOFS * 3 * (size_t)count);
    for (int r = 0; r < 3 * count; ++r) {
        for (int k = rows->rowStart[first + r]; k < rows->rowStart[first + r + 1]; ++k) {
            J[r][rows->column[k]] = rows->value[k];
        }
    }
    return count;
}

// gamma of a contact from its gap, by the law of docs/theory/step.md, written anew.
static inline double NormalBias(const Scene* scene, const rgWorldDef* def, double gap) {
    double dt = rgWorld_TimeStep(scene->world);
    if (fabs(gap) < 1e-12) {
        return 0; // rounding of a gap of zero
    }
    if (gap > 0) {
        return gap / dt;
    }
    return def->stiffness > 0 ? gap * def->stiffness / (dt * def->stiffness + def->damping)
                              : gap / (11 * dt);
}

// The smallest v with J v = c, for the three rows of one contact.
static inline void LeastVelocity(double J[][DOFS], int nv, const double* c, double* v) {
    double G[9], y[3] = {c[0], c[1], c[2]};
    for (int i = 0; i < 3; ++i) {
        for (int j = 0; j < 3; ++j) {
            G[3 * i + j] = 0;
            for (int k = 0; k < nv; ++k) {
                G[3 * i + j] += J[i][k] * J[j][k];
            }
        }
    }
    SolveDense(G, y, 3);
    for (int k = 0; k < nv; ++k) {
        v[k] = J[0][k] * y[0] + J[1][k] * y[1] + J[2][k] * y[2];
    }
}

static inline double Largest(const double* x, int n) {
    double most = 0;
    for (int i = 0; i < n; ++i) {
        most = fmax(most, fabs(x[i]));
    }
    return most;
}

static inline double Farthest(const double* x, const double* y, int n) {
    double most = 0;
    for (int i = 0; i < n; ++i) {
        most = fmax(most, fabs(x[i] - y[i]));
    }
    return most;
}

// Invert, drive the step with it, and see that it ends with vRef. Returns the inverse's contacts.
typedef struct Trip {
    rgInverseResult result;
    int contactCount;
    rgContact contacts[CONTACTS]; // of the inverse
    rgContact forward[CONTACTS];  // of the step
    double contactForce[DOFS];
    double forwardForce[DOFS]; // J' lambda / dt of the step, step coordinates
    double force[DOFS];
    double error; // largest difference of v+ and v_ref
} Trip;

static inline Trip RoundTrip(Scene* scene, const rgInverseDef* def, const double* vRef) {
    Trip trip = {.result = Invert(scene, def, vRef)};
    int nv, count;
    rgWorld_Velocities(scene->world, &nv);
    const rgContact* contacts = rgWorld_Contacts(scene->world, &trip.contactCount);
    assert_true(trip.contactCount <= CONTACTS && nv <= DOFS);
    for (int i = 0; i < trip.contactCount; ++i) {
        trip.contacts[i] = contacts[i];
    }
    memcpy(trip.force, trip.result.force, (size_t)nv * sizeof(double));
    memcpy(trip.contactForce, trip.result.contactForce, (size_t)nv * sizeof(double));
    assert_int_equal(rgWorld_SetForce(scene->world, trip.force), rg_ok);
    rgStepReport report = SceneStep(scene);
    assert_int_equal(report.contact.status, rg_contactSolved);
    contacts = rgWorld_Contacts(scene->world, &count);
    assert_int_equal(count, trip.contactCount);
    for (int i = 0; i < count; ++i) {
        trip.forward[i] = contacts[i];
    }
    const double* lambda;
    const rgContactProblem* problem = rgWorld_Problem(scene->world, &lambda);
    const rgSparse* J = &problem->delassus.jacobian;
    for (int r = 0; r < problem->rowCount; ++r) {
        for (int k = J->rowStart[r]; k < J->rowStart[r + 1]; ++k) {
            trip.forwardForce[J->column[k]] +=
                J->value[k] * lambda[r] / rgWorld_TimeStep(scene->world);
        }
    }
    trip.error = Farthest(rgWorld_Velocities(scene->world, NULL), vRef, nv);
    return trip;
}

// Steps to random velocities near those of the last: what inverse dynamics asks for leads there.
static inline void RoundTrips(Scene* scene, unsigned seed, int count) {
    rgInverseDef inverse = rgDefaultInverseDef();
    rgRandom random = {.state = seed};
    int nv;
    rgWorld_Velocities(scene->world, &nv);
    for (int n = 0; n < count; ++n) {
        double vRef[DOFS];
        const double* v = rgWorld_Velocities(scene->world, NULL);
        for (int i = 0; i < nv; ++i) {
            vRef[i] = v[i] + rgRandom_Uniform(&random, -0.02, 0.02);
        }
        EXPECT_NEAR(RoundTrip(scene, &inverse, vRef).error, 0, 1e-8);
    }
}

// A saved state goes on to the same bits.
static inline void ExpectSameAfterRestore(Scene* scene, int steps) {
    size_t bytes = rgWorld_StateSize(scene->world);
    void* saved = malloc(bytes);
    assert_int_equal(rgWorld_Save(scene->world, saved, bytes), rg_ok);
    SceneRun(scene, steps);
    uint64_t hash = rgWorld_Hash(scene->world);
    assert_int_equal(rgWorld_Restore(scene->world, saved, bytes), rg_ok);
    SceneRun(scene, steps);
    assert_true(rgWorld_Hash(scene->world) == hash);
    free(saved);
}
