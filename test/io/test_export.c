// Writing MJCF and URDF: what is read back is the same robot, and what was lost is told by name.
#include "folder.h"
#include "model/def.h"
#include "rigor/rigor.h"
#include "same.h"
#include "source_dir.h"
#include "support.h"

#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void rgTemporary(char path[64], const char* ending) {
    snprintf(path, 64, "%s%s", rgTestPath("export"), ending);
}

static rgDiagnostics* rgSave(const rgModelDef* def, const char* path) {
    rgDiagnostics* said = NULL;
    assert_int_equal(rgCreateDiagnostics(NULL, &said), rg_ok);
    assert_int_equal(rgSaveModelDef(def, path, said), rg_ok);
    return said;
}

static bool rgSays(const rgDiagnostics* said, const char* text) {
    for (int i = 0; i < rgDiagnostics_Count(said); ++i) {
        if (strstr(rgDiagnostics_Message(said, i).text, text) != NULL) {
            return true;
        }
    }
    return false;
}

// Sites are written body by body: by name, where they have one.
static void rgExpectSameFrame(const rgModelDef* a, rgFrameId x, const rgModelDef* b, rgFrameId y) {
    assert_true((x.index1 > 0) == (y.index1 > 0));
    const char* name = x.index1 > 0 ? a->frames[x.index1 - 1].name : NULL;
    if (name != NULL && name[0] != '\0') {
        assert_string_equal(name, b->frames[y.index1 - 1].name);
    }
}

// Everything but shapes and inertias, number by number.
static void rgCompareParts(const rgModelDef* a, const rgModelDef* b) {
    assert_int_equal(a->bodyCount, b->bodyCount);
    assert_int_equal(a->jointCount, b->jointCount);
    assert_int_equal(a->tendonCount, b->tendonCount);
    assert_int_equal(a->actuatorCount, b->actuatorCount);
    assert_int_equal(a->equalityCount, b->equalityCount);
    assert_int_equal(a->sensorCount, b->sensorCount);
    assert_int_equal(a->keyCount, b->keyCount);
    assert_int_equal(a->excludeCount, b->excludeCount);
    assert_int_equal(a->pairCount, b->pairCount);
    EXPECT_NEAR(b->options.density, a->options.density, 0);
    EXPECT_NEAR(b->options.viscosity, a->options.viscosity, 0);
    EXPECT_NEAR(rgLength(rgSub(b->options.wind, a->options.wind)), 0, 0);
    EXPECT_NEAR(rgLength(rgSub(b->options.magnetic, a->options.magnetic)), 0, 0);
    for (int i = 0; i < a->jointCount; ++i) {
        const rgJointDef *x = &a->joints[i], *y = &b->joints[i];
        assert_int_equal(x->hasLimits, y->hasLimits);
        EXPECT_NEAR(y->lower, x->lower, 0);
        EXPECT_NEAR(y->damping, x->damping, 0);
        EXPECT_NEAR(y->stiffness, x->stiffness, 0);
        EXPECT_NEAR(y->springReference, x->springReference, 0);
        EXPECT_NEAR(y->dryFriction, x->dryFriction, 0);
        EXPECT_NEAR(y->effortLimit, x->effortLimit, 0);
    }
    for (int i = 0; i < a->actuatorCount; ++i) {
        const rgActuatorDef *x = &a->actuators[i], *y = &b->actuators[i];
        EXPECT_NEAR(y->gain, x->gain, 0);
        EXPECT_NEAR(y->kp, x->kp, 0);
        EXPECT_NEAR(y->kd, x->kd, 0);
        EXPECT_NEAR(y->gear[0], x->gear[0], 0);
        assert_int_equal(x->hasControlRange, y->hasControlRange);
        assert_int_equal(x->joint.index1, y->joint.index1);
        assert_int_equal(x->tendon.index1, y->tendon.index1);
        rgExpectSameFrame(a, x->frame, b, y->frame);
        rgExpectSameFrame(a, x->reference, b, y->reference);
        rgExpectSameFrame(a, x->slider, b, y->slider);
        assert_int_equal(x->activation, y->activation);
        assert_true(x->inParent == y->inParent && x->isMuscle == y->isMuscle &&
                    x->early == y->early && x->hasActivationRange == y->hasActivationRange);
        EXPECT_NEAR(y->crankLength, x->crankLength, 0);
        EXPECT_NEAR(y->timeConstant, x->timeConstant, 0);
        EXPECT_NEAR(y->activationUpper, x->activationUpper, 0);
        EXPECT_NEAR(y->gainPosition, x->gainPosition, 0);
        EXPECT_NEAR(y->gainVelocity, x->gainVelocity, 0);
        if (x->isMuscle) {
            assert_memory_equal(&x->muscle, &y->muscle, sizeof(rgMuscle));
        }
    }
    for (int i = 0; i < a->tendonCount; ++i) {
        const rgTendonDef *x = &a->tendons[i], *y = &b->tendons[i];
        assert_int_equal(x->jointCount, y->jointCount);
        assert_int_equal(x->pointCount, y->pointCount);
        assert_memory_equal(&x->lower, &y->lower, 8 * sizeof(double)); // to armature
        for (int k = 0; k < x->pointCount; ++k) {
            assert_int_equal(x->points[k].kind, y->points[k].kind);
            rgExpectSameFrame(a, x->points[k].frame, b, y->points[k].frame);
            assert_int_equal(x->points[k].shape.index1, y->points[k].shape.index1);
            EXPECT_NEAR(y->points[k].divisor, x->points[k].divisor, 0);
        }
    }
    for (int i = 0; i < a->equalityCount; ++i) {
        const rgEqualityDef *x = &a->equalities[i], *y = &b->equalities[i];
        assert_int_equal(x->kind, y->kind);
        EXPECT_NEAR(rgLength(rgSub(x->poseA.p, y->poseA.p)), 0, 1e-12);
        EXPECT_NEAR(rgLength(rgSub(x->poseB.p, y->poseB.p)), 0, 1e-9);
        EXPECT_NEAR(y->polynomial[1], x->polynomial[1], 0);
    }
    for (int i = 0; i < a->sensorCount; ++i) {
        assert_int_equal(a->sensors[i].kind, b->sensors[i].kind);
        EXPECT_NEAR(b->sensors[i].touchRadius, a->sensors[i].touchRadius, 0);
        EXPECT_NEAR(b->sensors[i].cutoff, a->sensors[i].cutoff, 0);
        rgExpectSameFrame(a, a->sensors[i].reference, b, b->sensors[i].reference);
        assert_int_equal(a->sensors[i].referenceBody.index1, b->sensors[i].referenceBody.index1);
    }
    for (int i = 0; i < a->keyCount; ++i) {
        const rgKeyDef *x = &a->keys[i], *y = &b->keys[i];
        assert_int_equal(x->qCount, y->qCount);
        assert_int_equal(x->vCount, y->vCount);
        for (int k = 0; k < x->qCount; ++k) {
            EXPECT_NEAR(y->q[k], x->q[k], 1e-15);
        }
        for (int k = 0; k < x->vCount; ++k) {
            EXPECT_NEAR(y->v[k], x->v[k], 1e-14);
        }
        assert_int_equal(x->activationCount, y->activationCount);
        for (int k = 0; k < x->activationCount; ++k) {
            EXPECT_NEAR(y->activation[k], x->activation[k], 0);
        }
    }
    for (int i = 0; i < a->shapeCount; ++i) {
        const rgShapeDef *x = &a->shapes[i], *y = &b->shapes[i];
        EXPECT_NEAR(y->material.mu, x->material.mu, 0);
        assert_int_equal(x->material.frictionRule, y->material.frictionRule);
        assert_int_equal(x->material.dimension, y->material.dimension);
        assert_int_equal(x->group, y->group);
        assert_int_equal(x->visualOnly, y->visualOnly);
        assert_int_equal(x->hidden, y->hidden);
    }
}

static void rgCheckMjcf(const char* name) {
    char path[64];
    rgTemporary(path, ".xml");
    rgModelDef* def = rgLoadOrFail(name);
    rgDiagnostics* said = rgSave(def, path);
    rgModelDef* back = rgLoadOrFail(path);
    rgModel *a = rgCompileOrFail(def), *b = rgCompileOrFail(back);
    assert_int_equal(rgDiagnostics_Count(said), 0);
    rgExpectSameRobot(a, b, 1e-12, false);
    rgCompareParts(def, back);
    rgDestroyModel(a);
    rgDestroyModel(b);
    rgDestroyModelDef(def);
    rgDestroyModelDef(back);
    rgDestroyDiagnostics(said);
    remove(path);
}

static void test_body_numbers(void** state) {
    (void)state;
    char path[64];
    rgTemporary(path, ".xml");
    rgModelDef* def = rgLoadOrFail("humanoid");
    def->bodies[1].gravityCompensation = 0.75;
    rgDestroyDiagnostics(rgSave(def, path));
    rgModelDef* back = rgLoadOrFail(path);
    EXPECT_NEAR(back->bodies[0].gravityCompensation, 0, 0);
    EXPECT_NEAR(back->bodies[1].gravityCompensation, 0.75, 0);
    rgDestroyModelDef(def);
    rgDestroyModelDef(back);
    remove(path);
}

static void test_kinematic(void** state) {
    (void)state;
    char path[64];
    rgModelDef* def = NULL;
    assert_int_equal(rgCreateModelDef(NULL, &def), rg_ok);
    rgBodyDef body = rgDefaultBodyDef();
    body.name = "hand";
    body.kinematic = true;
    body.pose.p = rgVec(1, 2, 3);
    rgShapeDef shape = rgDefaultShapeDef();
    shape.name = "palm";
    shape.kind = rg_shapeBox;
    shape.size = rgVec(1, 1, 1);
    shape.surfaceVelocity = rgVec(1, 0, 0);
    shape.surfaceSpin = rgVec(0, 0, 2);
    shape.disabled = true;
    assert_int_equal(rgModelDef_AddBody(def, &body, &shape.body), rg_ok);
    assert_int_equal(rgModelDef_AddShape(def, &shape, NULL), rg_ok);
    const char* kinds[2] = {".xml", ".urdf"};
    for (int i = 0; i < 2; ++i) {
        rgTemporary(path, kinds[i]);
        rgDiagnostics* said = rgSave(def, path);
        bool belts = false, disabled = false, fixed = false;
        for (int k = 0; k < rgDiagnostics_Count(said); ++k) {
            const char* text = rgDiagnostics_Message(said, k).text;
            belts =
                belts || strcmp(text, "surface velocities cannot be written; left out: palm") == 0;
            disabled = disabled || strstr(text, "written as enabled: palm") != NULL;
            fixed = fixed || strstr(text, "written as fixed: hand") != NULL;
        }
        assert_true(belts == (i == 1) && disabled && fixed == (i == 1));
        rgModelDef* back = rgLoadOrFail(path);
        assert_true(back->bodies[0].kinematic == (i == 0));
        assert_true(back->shapes[0].surfaceVelocity.x == (i == 0));
        assert_true(back->shapes[0].surfaceSpin.z == (i == 0 ? 2 : 0));
        rgDestroyDiagnostics(said);
        rgDestroyModelDef(back);
        remove(path);
    }
    rgDestroyModelDef(def);
}

// A camera stays one, also where a sensor is on it; one that a motor needs becomes a site.
static void test_cameras(void** state) {
    (void)state;
    static const char text[] =
        "<mujoco><worldbody><body name='b'><freejoint/><geom size='1'/><camera name='eye' "
        "fovy='70' pos='1 2 3'/><camera name='tip' fovy='50'/><camera fovy='20'/></body>"
        "</worldbody><sensor><framepos objtype='camera' "
        "objname='eye' reftype='camera' refname='eye'/></sensor></mujoco>";
    char path[64];
    rgTemporary(path, ".xml");
    rgModelDef *def = NULL, *back = NULL;
    assert_int_equal(rgParseMjcf(text, strlen(text), NULL, NULL, NULL, &def), rg_ok);
    rgActuatorDef force = rgDefaultActuatorDef();
    force.frame = rgModelDef_FindFrame(def, "tip");
    force.gear[0] = 1;
    assert_int_equal(rgModelDef_AddActuator(def, &force, NULL), rg_ok);
    rgDestroyDiagnostics(rgSave(def, path));
    back = rgLoadOrFail(path);
    assert_int_equal(back->frameCount, 3);
    const rgFrameDef* eye = rgModelDef_Frame(back, rgModelDef_FindFrame(back, "eye"));
    EXPECT_NEAR(eye->fieldOfView, 70 * 3.141592653589793 / 180, 1e-12);
    EXPECT_NEAR(eye->pose.p.y, 2, 0);
    rgFrameId id = rgModelDef_FindFrame(back, "eye");
    assert_int_equal(back->sensors[0].frame.index1, id.index1);
    assert_int_equal(back->sensors[0].reference.index1, id.index1);
    id = rgModelDef_FindFrame(back, "tip");
    assert_int_equal(back->actuators[0].frame.index1, id.index1);
    rgDestroyModelDef(def);
    rgDestroyModelDef(back);
    remove(path);
}

static void test_mjcf_to_mjcf(void** state) {
    (void)state;
    for (int i = 0; i < rgBuiltinModelCount(); ++i) {
        const char* name = rgBuiltinModelAt(i)->name;
        if (strstr(name, ".urdf") == NULL) {
            rgCheckMjcf(name);
        }
    }
    rgCheckMjcf(RIGOR_SOURCE_DIR "/test/io/mjcf/classes.xml");
    rgCheckMjcf(RIGOR_SOURCE_DIR "/test/io/mjcf/inertia.xml");
    rgCheckMjcf(RIGOR_SOURCE_DIR "/test/io/mjcf/loops.xml");
    rgCheckMjcf(RIGOR_SOURCE_DIR "/test/io/mjcf/motion/tendon_wrap.xml");
    rgCheckMjcf(RIGOR_SOURCE_DIR "/test/io/mjcf/motion/actuators.xml");
    rgCheckMjcf(RIGOR_SOURCE_DIR "/test/io/mjcf/motion/muscles.xml");
    rgCheckMjcf(RIGOR_SOURCE_DIR "/test/io/mjcf/motion/sensors.xml");
    rgCheckMjcf(RIGOR_SOURCE_DIR "/test/io/mjcf/motion/fluid.xml");
    rgCheckMjcf(RIGOR_SOURCE_DIR "/test/io/mjcf/motion/fluid_ellipsoid.xml");
}

static void rgRemoveMeshes(int count) {
    for (int i = 1; i <= count; ++i) {
        char path[64], ending[32];
        snprintf(ending, sizeof(ending), "_mesh_%d.obj", i);
        rgTemporary(path, ending);
        remove(path);
    }
}

// What URDF has no word for is taken out of both.
static void rgStrip(rgModelDef* def) {
    for (int i = 0; i < def->jointCount; ++i) {
        def->joints[i].armature = 0;
    }
}

static void rgCheckUrdf(const char* name) {
    char urdf[64], mjcf[64];
    rgTemporary(urdf, ".urdf");
    rgTemporary(mjcf, ".xml");
    rgModelDef* def = rgLoadOrFail(name);
    rgStrip(def);
    rgDiagnostics* said = rgSave(def, urdf);
    rgModelDef* back = rgLoadOrFail(urdf);
    rgDiagnostics* again = rgSave(back, mjcf);
    rgModelDef* third = rgLoadOrFail(mjcf);
    rgModel *a = rgCompileOrFail(def), *b = rgCompileOrFail(back), *c = rgCompileOrFail(third);
    rgExpectSameRobot(a, b, 1e-12, true);
    rgExpectSameRobot(b, c, 1e-12, false);
    rgDestroyModel(a);
    rgDestroyModel(b);
    rgDestroyModel(c);
    rgDestroyModelDef(def);
    rgDestroyModelDef(back);
    rgDestroyModelDef(third);
    rgDestroyDiagnostics(said);
    rgDestroyDiagnostics(again);
    remove(urdf);
    remove(mjcf);
    rgRemoveMeshes(4);
}

static void test_mjcf_to_urdf_and_back(void** state) {
    (void)state;
    static const char* const names[] = {"humanoid", "quadruped", "arm",
                                        "arm_wall", "biped",     "hand"};
    for (int i = 0; i < 6; ++i) {
        rgCheckUrdf(names[i]);
    }
    rgCheckUrdf(RIGOR_SOURCE_DIR "/test/io/mjcf/classes.xml");
    rgCheckUrdf(RIGOR_SOURCE_DIR "/test/io/mjcf/inertia.xml");
    rgCheckUrdf(RIGOR_SOURCE_DIR "/test/io/mjcf/loops.xml");
}

// The files of models/: the URDF robots are those of MJCF.
static void test_models_agree(void** state) {
    (void)state;
    static const char* const names[] = {"humanoid", "quadruped", "arm", "hand"};
    for (int i = 0; i < 4; ++i) {
        char urdf[64];
        snprintf(urdf, sizeof(urdf), "%s.urdf", names[i]);
        rgModelDef *def = rgLoadOrFail(names[i]), *other = rgLoadOrFail(urdf);
        rgStrip(def);
        rgModel *a = rgCompileOrFail(def), *b = rgCompileOrFail(other);
        rgExpectSameRobot(a, b, 1e-12, true);
        rgDestroyModel(a);
        rgDestroyModel(b);
        rgDestroyModelDef(def);
        rgDestroyModelDef(other);
    }
}

static void test_losses_are_told(void** state) {
    (void)state;
    char path[64];
    rgTemporary(path, ".urdf");
    rgModelDef* def = rgLoadOrFail("biped");
    rgDiagnostics* said = rgSave(def, path);
    assert_true(rgSays(said, "knee_loop_left, ankle_loop_left, knee_loop_right"));
    assert_true(rgSays(said, "URDF has no actuators; left out: hip_roll_left, hip_yaw_left"));
    assert_true(rgSays(said, "URDF has no key frames; left out: stand"));
    assert_true(rgSays(said, "URDF has no armature; left out for joints: hip_roll_left"));
    assert_true(
        rgSays(said, "URDF has no planes, ellipsoids and height fields; left out: floor, pelvis"));
    assert_true(rgSays(said, "pelvis/thigh_left"));
    rgDestroyModelDef(def);
    rgDestroyDiagnostics(said);
    remove(path);
}

static void rgExpectVecNear(rgVec3 actual, rgVec3 expected) {
    EXPECT_NEAR(rgLength(rgSub(actual, expected)), 0, 1e-12);
}

// Parts that only a program can make: loose ends, planar joints, height fields, mimic.
static void test_program_made(void** state) {
    (void)state;
    char path[64];
    rgModelDef* def = NULL;
    rgBodyId a = {0}, b = {0};
    rgJointId ja = {0}, jb = {0};
    assert_int_equal(rgCreateModelDef(NULL, &def), rg_ok);
    rgBodyDef body = rgDefaultBodyDef();
    body.inertia = (rgInertia){.mass = 2, .center = {0.1, 0, 0}, .moment = {1, 1, 1, 0, 0, 0}};
    assert_int_equal(rgModelDef_AddBody(def, &body, &a), rg_ok);
    body.parent = a;
    body.name = "a<b\"&";
    body.pose.p = rgVec(1, 2, 3);
    assert_int_equal(rgModelDef_AddBody(def, &body, &b), rg_ok);
    rgJointDef joint = rgDefaultJointDef();
    joint.body = a;
    joint.kind = rg_jointPlanar;
    joint.axis = rgVec(0, 1, 1);
    assert_int_equal(rgModelDef_AddJoint(def, &joint, NULL), rg_ok);
    joint.kind = rg_jointRevolute;
    joint.anchor = rgVec(0, 0.2, 0);
    joint.body = b;
    joint.reference = 0.5;
    assert_int_equal(rgModelDef_AddJoint(def, &joint, &ja), rg_ok);
    joint.kind = rg_jointPrismatic;
    joint.reference = 0.2;
    assert_int_equal(rgModelDef_AddJoint(def, &joint, &jb), rg_ok);
    rgEqualityDef equality = rgDefaultEqualityDef();
    equality.kind = rg_equalityConnect;
    equality.bodyA = b;
    equality.poseA.p = rgVec(7, 8, 9);
    assert_int_equal(rgModelDef_AddEquality(def, &equality, NULL), rg_ok);
    equality = rgDefaultEqualityDef();
    equality.kind = rg_equalityJoint;
    equality.jointA = ja;
    equality.jointB = jb;
    equality.polynomial[0] = 0.3;
    equality.polynomial[1] = 2;
    assert_int_equal(rgModelDef_AddEquality(def, &equality, NULL), rg_ok);
    const double heights[6] = {1, 2, 3, 4, 5, 7};
    rgHeightFieldData field = {
        .columnCount = 3, .rowCount = 2, .sizeX = 1, .sizeY = 2, .depth = 0.5, .heights = heights};
    rgShapeDef shape = rgDefaultShapeDef();
    shape.kind = rg_shapeHeightField;
    shape.heightField = &field;
    assert_int_equal(rgModelDef_AddShape(def, &shape, NULL), rg_ok);
    rgModel* model = rgCompileOrFail(def);

    rgTemporary(path, ".xml");
    rgDiagnostics* said = rgSave(def, path);
    rgModelDef* back = rgLoadOrFail(path);
    rgModel* other = rgCompileOrFail(back);
    assert_true(rgSays(said, "planar joints were written as three joints each"));
    const rgShapeDef* grid = &back->shapes[0];
    for (int i = 0; i < 6; ++i) {
        EXPECT_NEAR(grid->heightField->heights[i] + grid->pose.p.z, heights[i], 1e-15);
    }
    assert_string_equal(back->bodies[1].name, "a<b\"&");
    rgExpectVecNear(back->equalities[0].poseA.p, rgVec(7, 8, 9));
    rgExpectVecNear(back->equalities[0].poseB.p, rgVec(0, 0, 0));
    rgDestroyModel(other);
    rgDestroyModelDef(back);
    rgDestroyDiagnostics(said);
    remove(path);

    rgTemporary(path, ".urdf");
    said = rgSave(def, path);
    back = rgLoadOrFail(path);
    other = rgCompileOrFail(back);
    rgExpectSameRobot(model, other, 1e-12, true);
    assert_int_equal(back->equalityCount, 1);
    EXPECT_NEAR(back->equalities[0].polynomial[0], 0.3 + 0.5 - 2 * 0.2, 1e-15);
    EXPECT_NEAR(back->equalities[0].polynomial[1], 2, 0);
    rgDestroyModel(other);
    rgDestroyModelDef(back);
    rgDestroyDiagnostics(said);
    remove(path);
    rgDestroyModel(model);
    rgDestroyModelDef(def);
}

// Materials with everything that they can have, each shape another.
static rgModelDef* rgMakeSurfaces(void) {
    rgModelDef* def = NULL;
    assert_int_equal(rgCreateModelDef(NULL, &def), rg_ok);
    rgFrictionRule rules[] = {rg_frictionGeometric, rg_frictionMaximum, rg_frictionAverage,
                              rg_frictionMinimum};
    for (int i = 0; i < 4; ++i) {
        rgShapeDef shape = rgDefaultShapeDef();
        shape.name = i % 2 ? "a:b" : NULL;
        shape.name = i == 3 ? "other" : shape.name;
        shape.kind = rg_shapeSphere;
        shape.size = rgVec(0.1 + i, 0, 0);
        shape.pose.p = rgVec(i, 0, 0);
        shape.material = (rgMaterial){.mu = 0.3 + 0.1 * i,
                                      .stiffness = 1e4 * i,
                                      .damping = 10 * i,
                                      .dissipation = 0.1 * i,
                                      .tangentialStiffness = 2e3 * i,
                                      .tangentialDamping = 3 * i,
                                      .restitution = i == 0 ? 0.7 : 0,
                                      .muImpact = 0.15 * i,
                                      .transitionSpeed = 0.2 * i,
                                      .frictionRule = rules[i],
                                      .dimension = 3};
        assert_int_equal(rgModelDef_AddShape(def, &shape, NULL), rg_ok);
    }
    return def;
}

static void test_surfaces_to_mjcf(void** state) {
    (void)state;
    char path[64];
    rgTemporary(path, ".xml");
    rgModelDef* def = rgMakeSurfaces();
    rgDiagnostics* said = rgSave(def, path);
    assert_int_equal(rgDiagnostics_Count(said), 0);
    rgModelDef* back = rgLoadOrFail(path);
    assert_int_equal(back->shapeCount, 4);
    for (int i = 0; i < 4; ++i) {
        rgMaterial x = def->shapes[i].material, y = back->shapes[i].material;
        assert_memory_equal(&x, &y, sizeof(x));
    }
    rgDestroyModelDef(def);
    rgDestroyModelDef(back);
    rgDestroyDiagnostics(said);
    remove(path);
}

// URDF has one friction and restitution per link, and one rule; the rest is told.
static void test_surfaces_to_urdf(void** state) {
    (void)state;
    char path[64];
    rgTemporary(path, ".urdf");
    for (int several = 0; several < 2; ++several) {
        rgModelDef* def = rgMakeSurfaces();
        def->shapes[0].material.frictionRule = rg_frictionMinimum;
        def->shapeCount = several ? 4 : 1;
        if (!several) { // what is only seen says nothing of friction
            def->shapes[def->shapeCount++] = def->shapes[0];
            def->shapes[0].visualOnly = true;
            def->shapes[0].material.mu = 0.9;
        }
        rgDiagnostics* said = rgSave(def, path);
        assert_int_equal(rgDiagnostics_Count(said), several);
        rgModelDef* back = rgLoadOrFail(path);
        for (int i = several ? 0 : 1; i < def->shapeCount; ++i) {
            EXPECT_NEAR(back->shapes[i].material.mu, 0.3, 0);
            EXPECT_NEAR(back->shapes[i].material.restitution, 0.7, 0);
            assert_int_equal(back->shapes[i].material.frictionRule, rg_frictionMinimum);
        }
        rgDestroyModelDef(def);
        rgDestroyModelDef(back);
        rgDestroyDiagnostics(said);
    }
    remove(path);
}

static void test_refusals(void** state) {
    (void)state;
    rgModelDef* def = rgLoadOrFail("arm");
    rgDiagnostics* said = NULL;
    assert_int_equal(rgCreateDiagnostics(NULL, &said), rg_ok);
    assert_int_equal(rgSaveModelDef(def, "x.stl", said), rg_errorUnsupported);
    assert_int_equal(rgSaveModelDef(def, "./no/such/folder/x.xml", said), rg_errorFile);
    assert_int_equal(rgDiagnostics_CountOf(said, rg_severityError), 2);
    assert_int_equal(rgSaveModelDef(NULL, "x.xml", said), rg_errorArgument);
    rgDestroyDiagnostics(said);
    rgDestroyModelDef(def);
}

// A rounded box goes to MJCF and back; to URDF it is the sharp box of its size, and that is told.
static void test_rounded(void** state) {
    (void)state;
    for (int format = 0; format < 2; ++format) {
        rgModelDef *def = NULL, *back = NULL;
        assert_int_equal(rgCreateModelDef(NULL, &def), rg_ok);
        rgBodyDef body = rgDefaultBodyDef();
        rgBodyId id;
        body.name = "b";
        body.inertia = rgInertiaFromShape(rg_shapeBox, rgVec(0.1, 0.1, 0.1), 1);
        assert_int_equal(rgModelDef_AddBody(def, &body, &id), rg_ok);
        rgShapeDef shape = rgDefaultShapeDef();
        shape.name = "cube";
        shape.body = id;
        shape.kind = rg_shapeBox;
        shape.size = rgVec(0.1, 0.2, 0.3);
        shape.rounding = 0.01;
        assert_int_equal(rgModelDef_AddShape(def, &shape, NULL), rg_ok);
        char path[64];
        rgTemporary(path, format ? ".urdf" : ".xml");
        rgDiagnostics* said = rgSave(def, path);
        assert_int_equal(rgSays(said, "without rounding"), format == 1);
        rgDestroyDiagnostics(said);
        back = rgLoadOrFail(path);
        remove(path);
        assert_int_equal(back->shapes[0].kind, rg_shapeBox);
        EXPECT_NEAR(back->shapes[0].rounding, format ? 0 : 0.01, 1e-12);
        EXPECT_NEAR(back->shapes[0].size.x, format ? 0.11 : 0.1, 1e-12);
        EXPECT_NEAR(back->shapes[0].size.z, format ? 0.31 : 0.3, 1e-12);
        rgDestroyModelDef(back);
        rgDestroyModelDef(def);
    }
}

// Where numbers are written with a comma, files have points all the same. The locale is made here;
// without localedef there is nothing to test.
static void test_decimal_comma(void** state) {
    (void)state;
    char folder[] = "/tmp/rigor-locale-XXXXXX", command[200], path[64];
    if (mkdtemp(folder) == NULL) {
        skip();
    }
    snprintf(command, sizeof(command), "localedef -i de_DE -f UTF-8 %s/comma >%s/said 2>&1", folder,
             folder);
    int made = system(command);
    setenv("LOCPATH", folder, 1);
    if (made == -1 || setlocale(LC_NUMERIC, "comma") == NULL) {
        skip();
    }
    rgModelDef* def = NULL;
    assert_int_equal(rgCreateModelDef(NULL, &def), rg_ok);
    const double heights[4] = {0, 0.25, 0.5, 1.5};
    const rgHeightFieldData field = {
        .columnCount = 2, .rowCount = 2, .sizeX = 1, .sizeY = 2, .depth = 0.5, .heights = heights};
    rgShapeDef shape = rgDefaultShapeDef();
    shape.kind = rg_shapeHeightField;
    shape.heightField = &field;
    assert_int_equal(rgModelDef_AddShape(def, &shape, NULL), rg_ok);
    rgTemporary(path, ".xml");
    rgDiagnostics* said = rgSave(def, path);
    rgModelDef* back = rgLoadOrFail(path);
    setlocale(LC_NUMERIC, "C");
    for (int i = 0; i < 4; ++i) {
        EXPECT_NEAR(back->shapes[0].heightField->heights[i], heights[i], 1e-15);
    }
    rgDestroyModelDef(back);
    rgDestroyModelDef(def);
    rgDestroyDiagnostics(said);
    remove(path);
    snprintf(command, sizeof(command), "rm -r %s", folder);
    assert_int_equal(system(command), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rounded),          cmocka_unit_test(test_body_numbers),
        cmocka_unit_test(test_kinematic),        cmocka_unit_test(test_cameras),
        cmocka_unit_test(test_mjcf_to_mjcf),     cmocka_unit_test(test_mjcf_to_urdf_and_back),
        cmocka_unit_test(test_models_agree),     cmocka_unit_test(test_losses_are_told),
        cmocka_unit_test(test_program_made),     cmocka_unit_test(test_decimal_comma),
        cmocka_unit_test(test_refusals),         cmocka_unit_test(test_surfaces_to_mjcf),
        cmocka_unit_test(test_surfaces_to_urdf),
    };
    return cmocka_run_group_tests(tests, rgMakeTestFolder, rgRemoveTestFolder);
}
