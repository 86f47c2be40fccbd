// Fixed meshes with a border: from one side only, or as sheets that stop bodies on both sides.
#include "folder.h"
#include "rigor/rigor.h"
#include "support.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define RG_SEGMENTS 15
#define RG_TROUGH   0.2 // radius of its vertices [m]

// Half a tube below the x axis, of quads, whose faces look away from the axis; STL readers weld its
// corners, OBJ files keep them apart.
static void rgWriteTrough(const char* path) {
    FILE* file = fopen(path, "w");
    assert_non_null(file);
    for (int i = 0; i < RG_SEGMENTS; ++i) {
        for (int k = 0; k < 4; ++k) {
            double a = acos(-1) * (1 + (double)(i + (k == 1 || k == 2)) / RG_SEGMENTS);
            fprintf(file, "v %g %.17g %.17g\n", k < 2 ? -0.5 : 0.5, RG_TROUGH * cos(a),
                    RG_TROUGH * sin(a));
        }
        fprintf(file, "f %d %d %d %d\n", 4 * i + 1, 4 * i + 2, 4 * i + 3, 4 * i + 4);
    }
    fclose(file);
}

static void rgWritePlate(const char* path) {
    FILE* file = fopen(path, "w");
    assert_non_null(file);
    fprintf(file, "v -1 -1 0\nv 1 -1 0\nv 1 1 0\nv -1 1 0\nf 4 3 2 1\n"); // looks down
    fclose(file);
}

typedef struct rgDrop {
    rgModelDef* def;
    rgModel* model;
    rgWorld* world;
} rgDrop;

// A ball of a fixed mesh file, at a height and a speed.
static rgDrop rgStartDrop(const char* path, double thickness, double radius, double z,
                          double speed) {
    rgDrop drop = {0};
    rgLoadDef load = rgDefaultLoadDef();
    load.base = rg_baseFixed;
    load.sheetThickness = thickness;
    assert_int_equal(rgLoadModelDef(path, &load, NULL, &drop.def), rg_ok);
    rgBodyDef body = rgDefaultBodyDef();
    rgBodyId id;
    body.name = "ball";
    body.inertia = rgInertiaFromShape(rg_shapeSphere, rgVec(radius, 0, 0), 1);
    assert_int_equal(rgModelDef_AddBody(drop.def, &body, &id), rg_ok);
    rgShapeDef shape = rgDefaultShapeDef();
    shape.body = id;
    shape.kind = rg_shapeSphere;
    shape.size = rgVec(radius, 0, 0);
    assert_int_equal(rgModelDef_AddShape(drop.def, &shape, NULL), rg_ok);
    rgJointDef joint = rgDefaultJointDef();
    joint.body = id;
    joint.kind = rg_jointFree;
    assert_int_equal(rgModelDef_AddJoint(drop.def, &joint, NULL), rg_ok);
    assert_int_equal(rgCompileModel(drop.def, NULL, NULL, &drop.model), rg_ok);
    rgWorldDef def = rgDefaultWorldDef();
    assert_int_equal(rgCreateWorld(drop.model, &def, NULL, &drop.world), rg_ok);
    double q[7] = {0.013, 0, z, 1, 0, 0, 0}, v[6] = {0, 0, speed};
    assert_int_equal(rgWorld_SetState(drop.world, q, v), rg_ok);
    return drop;
}

static double rgHeightAfter(rgDrop* drop, int steps) {
    for (int i = 0; i < steps; ++i) {
        assert_int_equal(rgWorld_Step(drop->world, NULL), rg_ok);
    }
    double z = rgWorld_Positions(drop->world, NULL)[2];
    rgDestroyWorld(drop->world);
    rgDestroyModel(drop->model);
    rgDestroyModelDef(drop->def);
    return z;
}

// A ball that drops into the trough comes from behind its faces. In a sheet it rests on the facet
// at the bottom.
static void test_trough(void** state) {
    (void)state;
    char path[512];
    snprintf(path, sizeof(path), "%s", rgTestPath("trough.obj"));
    rgWriteTrough(path);
    double thickness = 0.004, radius = 0.03;
    rgDrop drop = rgStartDrop(path, 0, radius, -0.1, 0);
    assert_true(rgHeightAfter(&drop, 1000) < -1);
    drop = rgStartDrop(path, thickness, radius, -0.1, 0);
    double facet = (RG_TROUGH - 0.5 * thickness) * cos(acos(-1) / (2 * RG_SEGMENTS));
    EXPECT_NEAR(rgHeightAfter(&drop, 1000), radius - facet, 1e-8);
    remove(path);
}

// Small fast balls stop on the side that they come from.
static void test_plate(void** state) {
    (void)state;
    char path[512];
    snprintf(path, sizeof(path), "%s", rgTestPath("plate.obj"));
    rgWritePlate(path);
    for (int side = -1; side <= 1; side += 2) {
        rgDrop drop = rgStartDrop(path, 0.002, 0.005, side * 0.5, -side * 100);
        double z = rgHeightAfter(&drop, 20);
        assert_true(side * z > 0.0059);
    }
    rgDrop drop = rgStartDrop(path, 0, 0.005, 0.5, -100);
    assert_true(rgHeightAfter(&drop, 20) < -0.5);
    remove(path);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_trough), cmocka_unit_test(test_plate)};
    return cmocka_run_group_tests(tests, rgMakeTestFolder, rgRemoveTestFolder);
}
