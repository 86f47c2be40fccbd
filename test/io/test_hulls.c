// Moving meshes that are not convex: a mug that holds a ball, and the folder in which its parts are
// kept.
#include "io/hull_cache.h"
#include "model/def.h"
#include "rigor/rigor.h"
#include "support.h"

#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define RG_SIDES 24

// A cup of RG_SIDES sides: outer radius 4 cm, inner 3.5 cm, 10 cm high, bottom of 6 mm.
static void rgWriteCup(FILE* file) {
    const double radius[4] = {0.04, 0.04, 0.035, 0.035}, z[4] = {0, 0.1, 0.1, 0.006};
    for (int j = 0; j < 4; ++j) {
        for (int i = 0; i < RG_SIDES; ++i) {
            double a = 2 * acos(-1) * i / RG_SIDES;
            fprintf(file, "v %.17g %.17g %g\n", radius[j] * cos(a), radius[j] * sin(a), z[j]);
        }
    }
    fprintf(file, "v 0 0 0\nv 0 0 0.006\n");
    for (int i = 0; i < RG_SIDES; ++i) {
        int k = (i + 1) % RG_SIDES;
        for (int j = 0; j < 3; ++j) {
            int a = RG_SIDES * j + 1, b = RG_SIDES * (j + 1) + 1;
            fprintf(file, "f %d %d %d\nf %d %d %d\n", a + i, a + k, b + k, a + i, b + k, b + i);
        }
        int in = 3 * RG_SIDES + 1;
        fprintf(file, "f %d %d %d\nf %d %d %d\n", 4 * RG_SIDES + 1, k + 1, i + 1, 4 * RG_SIDES + 2,
                in + i, in + k);
    }
}

typedef struct rgFolder {
    char path[64], cup[96], urdf[96], cache[96];
} rgFolder;

static void rgMakeFolder(rgFolder* f) {
    snprintf(f->path, sizeof(f->path), "./hulls_%d", (int)getpid());
    snprintf(f->cup, sizeof(f->cup), "%s/cup.obj", f->path);
    snprintf(f->urdf, sizeof(f->urdf), "%s/cup.urdf", f->path);
    snprintf(f->cache, sizeof(f->cache), "%s/one/two", f->path);
    mkdir(f->path, 0777);
    FILE* file = fopen(f->cup, "w");
    assert_non_null(file);
    rgWriteCup(file);
    fclose(file);
    file = fopen(f->urdf, "w");
    assert_non_null(file);
    fprintf(file, "<robot name='cup'><link name='cup'><inertial><mass value='0.2'/>"
                  "<origin xyz='0 0 0.04'/><inertia ixx='2e-4' iyy='2e-4' izz='2e-4' ixy='0' "
                  "ixz='0' iyz='0'/></inertial><collision><geometry><mesh filename='cup.obj'/>"
                  "</geometry></collision></link></robot>");
    fclose(file);
}

// The one file in the cache; its name.
static int rgCountKept(const rgFolder* f, char name[512]) {
    DIR* folder = opendir(f->cache);
    int count = 0;
    for (struct dirent* e = folder ? readdir(folder) : NULL; e != NULL; e = readdir(folder)) {
        if (e->d_name[0] != '.') {
            snprintf(name, 512, "%s/%s", f->cache, e->d_name);
            count += 1;
        }
    }
    if (folder != NULL) {
        closedir(folder);
    }
    return count;
}

static void rgRemoveFolder(const rgFolder* f) {
    char name[512];
    while (rgCountKept(f, name) > 0) {
        remove(name);
    }
    rmdir(f->cache);
    char one[96];
    snprintf(one, sizeof(one), "%s/one", f->path);
    rmdir(one);
    remove(f->cup);
    remove(f->urdf);
    rmdir(f->path);
}

static rgModelDef* rgLoadCup(const rgFolder* f, const char* cache, bool hulls) {
    rgModelDef* model = NULL;
    rgLoadDef def = rgDefaultLoadDef();
    def.base = rg_baseFloating;
    def.cacheFolder = cache;
    def.hulls = hulls;
    assert_int_equal(rgLoadUrdf(f->urdf, &def, NULL, &model), rg_ok);
    return model;
}

static void rgExpectSameParts(const rgModelDef* a, const rgModelDef* b) {
    assert_int_equal(a->shapeCount, b->shapeCount);
    for (int i = 0; i < a->shapeCount; ++i) {
        const rgMeshData *u = a->shapes[i].mesh, *v = b->shapes[i].mesh;
        assert_int_equal(u->vertexCount, v->vertexCount);
        assert_memory_equal(u->vertices, v->vertices, 3 * sizeof(double) * (size_t)u->vertexCount);
    }
}

static void test_cache(void** state) {
    (void)state;
    rgFolder f;
    char kept[512];
    rgMakeFolder(&f);
    rgModelDef* plain = rgLoadCup(&f, "", false);
    assert_int_equal(rgCountKept(&f, kept), 0);
    assert_true(plain->shapeCount > 1);
    rgModelDef* first = rgLoadCup(&f, f.cache, false);
    assert_int_equal(rgCountKept(&f, kept), 1);
    rgModelDef* second = rgLoadCup(&f, f.cache, false);
    rgExpectSameParts(plain, first);
    rgExpectSameParts(plain, second);
    // The file is what is read: with another point and the right hash it would not be the same.
    FILE* file = fopen(kept, "rb");
    static char bytes[1 << 20];
    size_t size = fread(bytes, 1, sizeof(bytes), file);
    fclose(file);
    assert_true(size > 1000);
    // Damaged anywhere, cut short or empty: computed anew, and mended.
    for (int k = 0; k < 40; ++k) {
        static char bad[1 << 20];
        memcpy(bad, bytes, size);
        size_t length = k % 8 == 4 ? size * (size_t)k / 40 : size;
        bad[(size_t)k * (size - 1) / 39] ^= (char)(k % 8 == 4 ? 0 : 1 << k % 8);
        file = fopen(kept, "wb");
        fwrite(bad, 1, length, file);
        fclose(file);
        rgModelDef* again = rgLoadCup(&f, f.cache, false);
        rgExpectSameParts(plain, again);
        rgDestroyModelDef(again);
        file = fopen(kept, "rb");
        assert_int_equal(fread(bad, 1, sizeof(bad), file), size);
        fclose(file);
        assert_memory_equal(bad, bytes, size);
        k += rgFewer(40) < 40 ? 12 : 3;
    }
    // A folder that cannot be made does no harm.
    rgModelDef* nowhere = rgLoadCup(&f, "/proc/none/such", false);
    rgExpectSameParts(plain, nowhere);
    rgDestroyModelDef(nowhere);
    rgDestroyModelDef(plain);
    rgDestroyModelDef(first);
    rgDestroyModelDef(second);
    rgRemoveFolder(&f);
}

static void rgCountSplit(void* context, int triangleCount) {
    assert_true(triangleCount > 0);
    *(int*)context += 1;
}

// What is read from the folder is used as it is; only what is not there is split, and told.
static void test_hit(void** state) {
    (void)state;
    rgFolder f;
    rgMakeFolder(&f);
    rgAllocator allocator = {0};
    int splits = 0;
    rgLoadDef load = rgDefaultLoadDef();
    load.onSplit = rgCountSplit;
    load.onSplitContext = &splits;
    rgMesh* mesh = NULL;
    assert_int_equal(rgLoadMesh(f.cup, NULL, NULL, &mesh), rg_ok);
    rgMeshData data = rgMesh_Data(mesh);
    rgArena arena;
    rgArena_Init(&arena, &allocator);
    rgHullParts parts;
    for (int k = 0; k < 3; ++k) {
        load.cacheFolder = k ? f.cache : "";
        assert_int_equal(rgFindHullParts(&data, &load, &arena, &parts), rg_ok);
        assert_int_equal(parts.cached, k == 2);
        assert_int_equal(splits, RG_MIN(k + 1, 2));
    }
    rgArena_Free(&arena);
    rgDestroyMesh(mesh);
    rgRemoveFolder(&f);
}

// A ball dropped over the cup: stays in it above the bottom, or lies on top of the hull's lid.
static double rgBallHeight(bool hulls, double* away) {
    rgFolder f;
    rgMakeFolder(&f);
    rgModelDef* def = rgLoadCup(&f, "", hulls);
    rgShapeDef floor = rgDefaultShapeDef();
    floor.kind = rg_shapePlane;
    assert_int_equal(rgModelDef_AddShape(def, &floor, NULL), rg_ok);
    rgBodyDef body = rgDefaultBodyDef();
    rgBodyId ball;
    body.name = "ball";
    body.pose.p = rgVec(0.01, 0.005, 0.15);
    body.inertia = rgInertiaFromShape(rg_shapeSphere, rgVec(0.015, 0, 0), 0.02);
    assert_int_equal(rgModelDef_AddBody(def, &body, &ball), rg_ok);
    rgShapeDef shape = rgDefaultShapeDef();
    shape.body = ball;
    shape.kind = rg_shapeSphere;
    shape.size = rgVec(0.015, 0, 0);
    assert_int_equal(rgModelDef_AddShape(def, &shape, NULL), rg_ok);
    rgJointDef joint = rgDefaultJointDef();
    joint.body = ball;
    joint.kind = rg_jointFree;
    assert_int_equal(rgModelDef_AddJoint(def, &joint, NULL), rg_ok);
    rgModel* model = NULL;
    assert_int_equal(rgCompileModel(def, NULL, NULL, &model), rg_ok);
    rgWorldDef worldDef = rgDefaultWorldDef();
    rgWorld* world = NULL;
    assert_int_equal(rgCreateWorld(model, &worldDef, NULL, &world), rg_ok);
    for (int k = 0; k < 1500; ++k) {
        assert_int_equal(rgWorld_Step(world, NULL), rg_ok);
    }
    rgVec3 p = rgWorld_BodyPose(world, ball).p, cup = rgWorld_BodyPose(world, (rgBodyId){1}).p;
    *away = sqrt((p.x - cup.x) * (p.x - cup.x) + (p.y - cup.y) * (p.y - cup.y));
    rgDestroyWorld(world);
    rgDestroyModel(model);
    rgDestroyModelDef(def);
    rgRemoveFolder(&f);
    return p.z;
}

static void test_cup_holds_ball(void** state) {
    (void)state;
    double away = 0;
    EXPECT_NEAR(rgBallHeight(false, &away), 0.006 + 0.015, 1e-4);
    assert_true(away < 0.021);
    double lid = rgBallHeight(true, &away);
    assert_true(lid > 0.1 || away > 0.04);
}

// A mug of 0.11 kg with a square ring for a handle, and a gripper: one finger stands in the ring,
// the other outside.
static const char* const mugText =
    "<mujoco><option timestep='0.001'/><asset><mesh name='ring' vertex='"
    "-.03 -.005 -.03 .03 -.005 -.03 .03 -.005 .03 -.03 -.005 .03 "
    "-.02 -.005 -.02 .02 -.005 -.02 .02 -.005 .02 -.02 -.005 .02 "
    "-.03 .005 -.03 .03 .005 -.03 .03 .005 .03 -.03 .005 .03 "
    "-.02 .005 -.02 .02 .005 -.02 .02 .005 .02 -.02 .005 .02' face='"
    "0 1 5 0 5 4 1 2 6 1 6 5 2 3 7 2 7 6 3 0 4 3 4 7 "
    "8 13 9 8 12 13 9 14 10 9 13 14 10 15 11 10 14 15 11 12 8 11 15 12 "
    "0 9 1 0 8 9 1 10 2 1 9 10 2 11 3 2 10 11 3 8 0 3 11 8 "
    "4 5 13 4 13 12 5 6 14 5 14 13 6 7 15 6 15 14 7 4 12 7 12 15'/></asset>"
    "<worldbody><geom type='plane' size='1 1 1'/>"
    "<body name='mug' pos='0 0 .05'><freejoint/>"
    "<geom type='box' size='.03 .03 .05' density='300'/>"
    "<geom name='handle' type='mesh' mesh='ring' pos='.06 0 0' density='300'/></body>"
    "<body name='hand' pos='0 0 .05'><joint name='lift' type='slide' axis='0 0 1'/>"
    "<geom type='box' size='.01 .01 .01' mass='.5' contype='0' conaffinity='0'/>"
    "<body pos='.066 0 0'><joint name='in' type='slide' axis='1 0 0'/>"
    "<geom type='box' size='.004 .01 .008' mass='.05'/></body>"
    "<body pos='.104 0 0'><joint name='out' type='slide' axis='-1 0 0'/>"
    "<geom type='box' size='.004 .01 .008' mass='.05'/></body></body></worldbody>"
    "<actuator><motor joint='in'/><motor joint='out'/>"
    "<position joint='lift' kp='5000' kv='200'/></actuator></mujoco>";

static rgWorld* rgMakeMug(bool decompose, rgModel** model) {
    rgLoadDef load = rgDefaultLoadDef();
    load.decompose = decompose;
    load.cacheFolder = "";
    rgModelDef* def = NULL;
    assert_int_equal(rgParseModelDef(mugText, strlen(mugText), NULL, &load, NULL, &def), rg_ok);
    assert_int_equal(rgCompileModel(def, NULL, NULL, model), rg_ok);
    rgDestroyModelDef(def);
    rgWorld* world = NULL;
    assert_int_equal(rgCreateWorld(*model, NULL, NULL, &world), rg_ok);
    return world;
}

// Closed on the bar of the handle and raised by 0.1 m in a second, the gripper takes the mug along.
// The handle's hull is in the way of the finger that should be within.
static void test_gripper_takes_handle(void** state) {
    (void)state;
    rgModel* model;
    rgWorld* world = rgMakeMug(false, &model);
    rgStepReport report;
    assert_int_equal(rgWorld_Step(world, &report), rg_ok);
    assert_true(report.penetration > 5e-3);
    rgDestroyWorld(world);
    rgDestroyModel(model);

    world = rgMakeMug(true, &model);
    rgBodyId mug = rgModel_FindBody(model, "mug");
    double control[3] = {10, 10, 0}, deepest = 0;
    rgPose before = {0};
    for (int i = 0; i < 1600; ++i) {
        control[2] = 0.1 * fmin(fmax(1e-3 * (i - 300), 0), 1);
        assert_int_equal(rgWorld_SetControl(world, control), rg_ok);
        assert_int_equal(rgWorld_Step(world, &report), rg_ok);
        deepest = fmax(deepest, report.penetration);
        before = i == 299 ? rgWorld_BodyPose(world, mug) : before;
    }
    rgPose after = rgWorld_BodyPose(world, mug);
    assert_true(deepest < 1e-4);
    assert_true(fabs(after.p.z - before.p.z - 0.1) < 2e-3);
    // Nothing but the fingers' slides holds it along x.
    assert_true(fabs(after.p.x - before.p.x) < 0.02 && fabs(after.p.y - before.p.y) < 1e-6);
    rgDestroyWorld(world);
    rgDestroyModel(model);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cache),
        cmocka_unit_test(test_hit),
        cmocka_unit_test(test_cup_holds_ball),
        cmocka_unit_test(test_gripper_takes_handle),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
