#include "same.h"

#include "rigor/rigor.h"
#include "support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void rgPrint(const rgDiagnostics* said) {
    for (int i = 0; i < rgDiagnostics_Count(said); ++i) {
        rgMessage message = rgDiagnostics_Message(said, i);
        print_error("%s:%d: %s\n", message.file != NULL ? message.file : "", message.line,
                    message.text);
    }
}

rgModel* rgCompileOrFail(const rgModelDef* def) {
    rgDiagnostics* said = NULL;
    rgModel* model = NULL;
    assert_int_equal(rgCreateDiagnostics(NULL, &said), rg_ok);
    rgResult result = rgCompileModel(def, NULL, said, &model);
    if (result != rg_ok) {
        rgPrint(said);
    }
    rgDestroyDiagnostics(said);
    assert_int_equal(result, rg_ok);
    return model;
}

rgModelDef* rgLoadOrFail(const char* path) {
    rgDiagnostics* said = NULL;
    rgModelDef* def = NULL;
    assert_non_null(path);
    assert_int_equal(rgCreateDiagnostics(NULL, &said), rg_ok);
    rgResult result = rgLoadModelDef(path, NULL, said, &def);
    if (result != rg_ok) {
        rgPrint(said);
    }
    rgDestroyDiagnostics(said);
    assert_int_equal(result, rg_ok);
    return def;
}

static void rgCompareArrays(const char* what, const double* a, const double* b, int count,
                            double tolerance) {
    double largest = 1e-6, error = 0;
    for (int i = 0; i < count; ++i) {
        largest = fmax(largest, fabs(a[i]));
        error = fmax(error, fabs(a[i] - b[i]));
    }
    if (!(error <= tolerance * largest)) {
        fail_msg("%s: error %g, largest entry %g", what, error, largest);
    }
}

static bool rgMayMiss(rgShapeKind kind) {
    return kind == rg_shapePlane || kind == rg_shapeEllipsoid || kind == rg_shapeHeightField;
}

// Poses up to the symmetry of the shape: ends of the axis, or for hulls the vertices.
static void rgComparePlaces(const rgShapeDef* s, rgPose a, rgPose b, const rgShapeDef* t) {
    double tolerance = 1e-9;
    if (s->kind == rg_shapeHull) {
        assert_int_equal(s->mesh->vertexCount, t->mesh->vertexCount);
        for (int i = 0; i < s->mesh->vertexCount; ++i) {
            const double* v = s->mesh->vertices + 3 * i;
            const double* w = t->mesh->vertices + 3 * i;
            rgVec3 x = rgPose_Point(a, rgVec(v[0], v[1], v[2]));
            rgVec3 y = rgPose_Point(b, rgVec(w[0], w[1], w[2]));
            EXPECT_NEAR(rgLength(rgSub(x, y)), 0, tolerance);
        }
        return;
    }
    EXPECT_NEAR(rgLength(rgSub(a.p, b.p)), 0, tolerance);
    EXPECT_NEAR(rgLength(rgSub(s->size, t->size)), 0, 1e-12);
    rgQuat q = rgQuatMultiply(rgQuatConjugate(a.q), b.q);
    EXPECT_NEAR(fabs(q.w), 1, s->kind == rg_shapeSphere ? 1 : tolerance);
}

static void rgCompareShapes(const rgModel* a, const rgModel* b, const rgDynamics* da,
                            const rgDynamics* db, bool missing) {
    int countA = rgModel_Info(a).shapeCount, countB = rgModel_Info(b).shapeCount, j = 0;
    for (int i = 1; i <= countA; ++i) {
        const rgShapeDef* s = rgModel_Shape(a, (rgShapeId){i});
        if (missing && (rgMayMiss(s->kind) || s->visualOnly)) {
            continue;
        }
        do {
            ++j;
        } while (missing && j <= countB && rgModel_Shape(b, (rgShapeId){j})->visualOnly);
        assert_true(j <= countB);
        const rgShapeDef* t = rgModel_Shape(b, (rgShapeId){j});
        assert_int_equal(s->kind, t->kind);
        rgComparePlaces(s, rgDynamics_ShapePose(da, (rgShapeId){i}),
                        rgDynamics_ShapePose(db, (rgShapeId){j}), t);
    }
    assert_true(missing || j == countB);
}

static rgDynamics* rgOpenDynamics(const rgModel* model) {
    rgDynamics* dynamics = NULL;
    rgDynamicsDef def = rgDefaultDynamicsDef(model);
    def.gravity = rgVec(1, 2, -9);
    assert_int_equal(rgCreateDynamics(model, &def, &dynamics), rg_ok);
    return dynamics;
}

void rgExpectSameRobot(const rgModel* a, const rgModel* b, double tolerance, bool missingShapes) {
    int nq = rgModel_Info(a).qCount, nv = rgModel_Info(a).vCount;
    assert_int_equal(rgModel_Info(b).qCount, nq);
    assert_int_equal(rgModel_Info(b).vCount, nv);
    rgDynamics *da = rgOpenDynamics(a), *db = rgOpenDynamics(b);
    double* q = calloc((size_t)(nq + nv), sizeof(double));
    double* x = calloc((size_t)(2 * nv * nv), sizeof(double));
    double *v = q + nq, *y = x + nv * nv;
    rgRandom random = {.state = 3};
    for (int k = 0; k < 4; ++k) {
        rgModel_RandomConfiguration(a, (uint64_t)k + 5, q);
        for (int i = 0; i < nv; ++i) {
            v[i] = rgRandom_Uniform(&random, -2, 2);
        }
        rgDynamics_SetState(da, q, v);
        rgDynamics_SetState(db, q, v);
        rgDynamics_MassMatrix(da, x);
        rgDynamics_MassMatrix(db, y);
        rgCompareArrays("M", x, y, nv * nv, tolerance);
        rgDynamics_Bias(da, x);
        rgDynamics_Bias(db, y);
        rgCompareArrays("bias", x, y, nv, tolerance);
        rgCompareShapes(a, b, da, db, missingShapes);
    }
    free(q);
    free(x);
    rgDestroyDynamics(da);
    rgDestroyDynamics(db);
}
