// The editable definition: copies, ids, refusals, lack of memory.
#include "model/def.h"
#include "model/model.h"
#include "rigor/inertia.h"
#include "rigor/io.h"
#include "support.h"

#include <stdio.h>
#include <string.h>

static void test_parts_are_copied(void** state) {
    (void)state;
    rgModelDef* def = NULL;
    assert_int_equal(rgCreateModelDef(NULL, &def), rg_ok);
    char name[] = "arm";
    char file[] = "a.urdf";
    rgBodyDef body = rgDefaultBodyDef();
    body.name = name;
    body.source = (rgSource){file, 7};
    rgBodyId bodyId;
    assert_int_equal(rgModelDef_AddBody(def, &body, &bodyId), rg_ok);
    double vertices[9] = {0, 0, 0, 1, 0, 0, 0, 1, 0};
    int triangle[3] = {0, 1, 2};
    rgMeshData mesh = {3, vertices, 1, triangle};
    rgShapeDef shape = rgDefaultShapeDef();
    shape.kind = rg_shapeMesh;
    shape.mesh = &mesh;
    shape.source = (rgSource){file, 9};
    assert_int_equal(rgModelDef_AddShape(def, &shape, NULL), rg_ok);
    rgJointDef joint = rgDefaultJointDef();
    rgJointId joints[1];
    joint.kind = rg_jointRevolute;
    joint.body = bodyId;
    assert_int_equal(rgModelDef_AddJoint(def, &joint, joints), rg_ok);
    double coefficient[1] = {3};
    rgTendonDef tendon = rgDefaultTendonDef();
    tendon.jointCount = 1;
    tendon.joints = joints;
    tendon.coefficients = coefficient;
    assert_int_equal(rgModelDef_AddTendon(def, &tendon, NULL), rg_ok);
    double q[2] = {1, 2};
    rgKeyDef key = rgDefaultKeyDef();
    key.q = q;
    key.qCount = 2;
    assert_int_equal(rgModelDef_AddKey(def, &key, NULL), rg_ok);
    memset(name, 'x', 3);
    memset(file, 'x', 3);
    memset(vertices, 0, sizeof(vertices));
    memset(triangle, 0, sizeof(triangle));
    q[1] = 5;
    coefficient[0] = joints[0].index1 = 7;
    assert_int_equal(bodyId.index1, 1);
    assert_string_equal(def->bodies[0].name, "arm");
    assert_string_equal(def->bodies[0].source.file, "a.urdf");
    assert_ptr_equal(def->bodies[0].source.file, def->shapes[0].source.file);
    assert_true(def->shapes[0].mesh->vertices[3] == 1);
    assert_int_equal(def->shapes[0].mesh->triangles[2], 2);
    assert_true(def->keys[0].q[1] == 2);
    assert_true(def->tendons[0].coefficients[0] == 3 && def->tendons[0].joints[0].index1 == 1);
    rgDestroyModelDef(def);
}

static void test_wrong_ids_and_cookies_are_refused(void** state) {
    (void)state;
    rgModelDef* def = NULL;
    assert_int_equal(rgCreateModelDef(NULL, &def), rg_ok);
    rgBodyDef body = rgDefaultBodyDef();
    body.parent.index1 = 1; // no such body yet
    assert_int_equal(rgModelDef_AddBody(def, &body, NULL), rg_errorArgument);
    body.parent.index1 = 0;
    body.cookie = 0;
    assert_int_equal(rgModelDef_AddBody(def, &body, NULL), rg_errorArgument);
    rgJointDef joint = rgDefaultJointDef();
    assert_int_equal(rgModelDef_AddJoint(def, &joint, NULL), rg_errorArgument); // the world
    rgShapeDef shape = rgDefaultShapeDef();
    rgMeshData mesh = {.vertexCount = 3};
    shape.mesh = &mesh;
    assert_int_equal(rgModelDef_AddShape(def, &shape, NULL), rg_errorArgument);
    rgTendonDef tendon = rgDefaultTendonDef();
    rgJointId joints[1] = {{1}};
    double coefficients[1] = {1};
    tendon.jointCount = 1;
    tendon.joints = joints;
    tendon.coefficients = coefficients;
    assert_int_equal(rgModelDef_AddTendon(def, &tendon, NULL), rg_errorArgument);
    assert_int_equal(rgModelDef_AddPair(def, (rgShapeId){1}, (rgShapeId){2}, NULL),
                     rg_errorArgument);
    assert_int_equal(rgModelDef_ExcludePair(def, (rgBodyId){0}, (rgBodyId){3}), rg_errorArgument);
    assert_int_equal(def->bodyCount + def->jointCount + def->shapeCount + def->tendonCount, 0);
    rgDestroyModelDef(def);
}

// What compile says about a definition with one addition that failed, and more that did not.
static void rgExpectRefusal(rgModelDef* def, rgResult result, const char* text) {
    rgDiagnostics* diagnostics = NULL;
    rgModel* model = NULL;
    assert_int_equal(rgCreateDiagnostics(NULL, &diagnostics), rg_ok);
    assert_int_equal(rgCompileModel(def, NULL, diagnostics, &model), result);
    assert_null(model);
    assert_int_equal(rgDiagnostics_Count(diagnostics), 1);
    rgMessage message = rgDiagnostics_Message(diagnostics, 0);
    assert_int_equal(message.severity, rg_severityError);
    assert_string_equal(message.text, text);
    rgDestroyDiagnostics(diagnostics);
    rgDestroyModelDef(def);
}

static rgModelDef* rgGoodDef(rgBodyId* body) {
    rgModelDef* def = NULL;
    assert_int_equal(rgCreateModelDef(NULL, &def), rg_ok);
    rgBodyDef good = rgDefaultBodyDef();
    good.inertia = rgInertiaFromShape(rg_shapeSphere, rgVec(1, 0, 0), 1);
    rgJointDef joint = rgDefaultJointDef();
    joint.kind = rg_jointFree;
    assert_int_equal(rgModelDef_AddBody(def, &good, &joint.body), rg_ok);
    assert_int_equal(rgModelDef_AddJoint(def, &joint, NULL), rg_ok);
    *body = joint.body;
    return def;
}

// A part that could not be added is missed by compile, with the first cause and where it was read.
static void test_refusals_are_remembered(void** state) {
    (void)state;
    rgBodyId body;
    rgModelDef* def = rgGoodDef(&body);
    rgModel* model = NULL;
    assert_int_equal(rgCompileModel(def, NULL, NULL, &model), rg_ok); // without it, it compiles
    rgDestroyModel(model);
    rgJointDef joint = rgDefaultJointDef();
    joint.name = "hip";
    joint.body.index1 = 7;
    assert_int_equal(rgModelDef_AddJoint(def, &joint, NULL), rg_errorArgument);
    joint.name = "second";
    assert_int_equal(rgModelDef_AddJoint(def, &joint, NULL), rg_errorArgument);
    rgExpectRefusal(def, rg_errorArgument,
                    "joint 'hip' was not added: its body has id 7, and there are 1");

    def = rgGoodDef(&body);
    rgShapeDef shape; // not from its default function: garbage
    memset(&shape, 0xa5, sizeof(shape));
    assert_int_equal(rgModelDef_AddShape(def, &shape, NULL), rg_errorArgument);
    rgExpectRefusal(def, rg_errorArgument,
                    "shape was not added: its definition does not come from rgDefault...Def()");

    def = rgGoodDef(&body);
    joint.body.index1 = 0;
    assert_int_equal(rgModelDef_AddJoint(def, &joint, NULL), rg_errorArgument);
    rgExpectRefusal(def, rg_errorArgument, "joint 'second' was not added: its body is the null id");

    def = rgGoodDef(&body);
    rgTendonDef tendon = rgDefaultTendonDef();
    tendon.jointCount = 1;
    assert_int_equal(rgModelDef_AddTendon(def, &tendon, NULL), rg_errorArgument);
    rgExpectRefusal(def, rg_errorArgument,
                    "tendon was not added: joints or coefficients are missing");

    def = rgGoodDef(&body);
    assert_int_equal(rgModelDef_AddPair(def, (rgShapeId){1}, (rgShapeId){2}, NULL),
                     rg_errorArgument);
    rgExpectRefusal(def, rg_errorArgument,
                    "pair was not added: its first shape has id 1, and there are 0");
}

// Parts that are there are changed, or not changed.
static void test_refused_changes_are_remembered(void** state) {
    (void)state;
    rgBodyDef bodyDef = rgDefaultBodyDef();
    rgJointDef jointDef = rgDefaultJointDef();
    rgShapeDef shapeDef = rgDefaultShapeDef();
    rgEqualityDef equalityDef = rgDefaultEqualityDef();
    static const char* const kinds[] = {"body", "joint", "shape", "equality"};
    for (int change = 0; change < 2; ++change) {
        for (int kind = 0; kind < 4; ++kind) {
            rgBodyId body;
            rgShapeId shape;
            rgEqualityId equality;
            rgModelDef* def = rgGoodDef(&body);
            bodyDef.parent.index1 = jointDef.body.index1 = shapeDef.body.index1 = 0;
            equalityDef.bodyA = body;
            shapeDef.kind = rg_shapeSphere;
            shapeDef.size.x = 1;
            assert_int_equal(rgModelDef_AddShape(def, &shapeDef, &shape), rg_ok);
            assert_int_equal(rgModelDef_AddEquality(def, &equalityDef, &equality), rg_ok);
            bodyDef.parent.index1 = jointDef.body.index1 = shapeDef.body.index1 = 9;
            equalityDef.bodyA.index1 = 9;
            rgResult result = rg_ok;
            if (kind == 0) {
                result = change ? rgModelDef_SetBody(def, body, &bodyDef)
                                : rgModelDef_AddBody(def, &bodyDef, NULL);
            } else if (kind == 1) {
                result = change ? rgModelDef_SetJoint(def, (rgJointId){1}, &jointDef)
                                : rgModelDef_AddJoint(def, &jointDef, NULL);
            } else if (kind == 2) {
                result = change ? rgModelDef_SetShape(def, shape, &shapeDef)
                                : rgModelDef_AddShape(def, &shapeDef, NULL);
            } else {
                result = change ? rgModelDef_SetEquality(def, equality, &equalityDef)
                                : rgModelDef_AddEquality(def, &equalityDef, NULL);
            }
            assert_int_equal(result, rg_errorArgument);
            char text[100];
            snprintf(text, sizeof(text), "%s was not %s: its %s has id 9, and there are 1",
                     kinds[kind], change ? "changed" : "added",
                     kind == 0   ? "parent"
                     : kind == 3 ? "body A"
                                 : "body");
            rgExpectRefusal(def, rg_errorArgument, text);
        }
    }
}

static void test_lack_of_memory_is_remembered(void** state) {
    (void)state;
    rgCounter counter = {.failAfter = -1};
    rgAllocator allocator = rgCountingAllocator(&counter);
    rgModelDef* def = NULL;
    assert_int_equal(rgCreateModelDef(&allocator, &def), rg_ok);
    rgBodyDef body = rgDefaultBodyDef();
    body.name = "base";
    counter.failAfter = counter.allocations;
    assert_int_equal(rgModelDef_AddBody(def, &body, NULL), rg_errorMemory);
    counter.failAfter = -1;
    rgExpectRefusal(def, rg_errorMemory, "body 'base' was not added: out of memory");
    assert_int_equal(counter.live, 0);
}

static void rgFill(rgModelDef* def, bool* refused) {
    for (int i = 0; i < 40; ++i) {
        rgBodyDef body = rgDefaultBodyDef();
        body.name = "a rather long name of a body";
        body.source = (rgSource){"file.xml", i};
        rgJointDef joint = rgDefaultJointDef();
        joint.body.index1 = 1;
        rgResult first = rgModelDef_AddBody(def, &body, NULL);
        rgResult second = first == rg_ok ? rgModelDef_AddJoint(def, &joint, NULL) : first;
        *refused = *refused || first == rg_errorMemory || second == rg_errorMemory;
    }
}

static rgModelDef* rgParse(const char* text) {
    rgModelDef* def = NULL;
    assert_int_equal(rgParseMjcf(text, strlen(text), "x.xml", NULL, NULL, &def), rg_ok);
    return def;
}

static const char motors[] =
    "<mujoco><worldbody><body><joint name='a'/><joint name='b' axis='0 1 0'/>"
    "<geom size='1' mass='1'/></body></worldbody><actuator><motor name='one' joint='a'/>"
    "<motor name='two' joint='b'/><motor name='three' joint='a'/></actuator>"
    "<keyframe><key name='k' ctrl='1 2 3'/></keyframe></mujoco>";

// Each motor has the velocity of its joint.
static void test_velocities_of_motors(void** state) {
    (void)state;
    rgModelDef* def = rgParse(motors);
    rgModel* model = NULL;
    assert_int_equal(rgCompileModel(def, NULL, NULL, &model), rg_ok);
    for (int i = 0; i <= 3; ++i) {
        assert_int_equal(model->driveStart[i], i);
        assert_true(i == 3 || model->driveColumns[i] == i % 2);
    }
    rgDestroyModel(model);
    rgDestroyModelDef(def);
}

// The controls of a key stay with their actuators.
static void test_keys_of_removed_actuators(void** state) {
    (void)state;
    for (int i = 1; i <= 3; ++i) {
        rgModelDef* def = rgParse(motors);
        assert_int_equal(rgModelDef_RemoveActuator(def, (rgActuatorId){i}, NULL), rg_ok);
        assert_int_equal(def->keys[0].controlCount, 2);
        assert_true(def->keys[0].control[0] == (i == 1 ? 2 : 1));
        assert_true(def->keys[0].control[1] == (i == 3 ? 2 : 3));
        rgDestroyModelDef(def);
    }
}

// Absent references stay absent after a model was attached.
static void test_attached_motors_have_no_tendon(void** state) {
    (void)state;
    rgModelDef* def = rgParse("<mujoco><worldbody><body><joint name='c'/><geom size='1' mass='1'/>"
                              "</body></worldbody><tendon><fixed name='t'><joint joint='c' "
                              "coef='1'/></fixed></tendon></mujoco>");
    rgModelDef* other = rgParse(motors);
    rgAttachDef how = rgDefaultAttachDef();
    assert_int_equal(rgModelDef_Attach(def, other, &how, NULL, NULL), rg_ok);
    assert_int_equal(def->actuatorCount, 3);
    for (int i = 0; i < 3; ++i) {
        assert_int_equal(def->actuators[i].tendon.index1, 0);
        assert_int_equal(def->actuators[i].slider.index1, 0);
        assert_int_equal(def->actuators[i].joint.index1, i == 1 ? 3 : 2);
    }
    rgDestroyModelDef(def);
    rgDestroyModelDef(other);
}

static void test_lack_of_memory_leaves_no_leak(void** state) {
    (void)state;
    for (int failAfter = 0; failAfter < 12; ++failAfter) {
        rgCounter counter = {.failAfter = failAfter};
        rgAllocator allocator = rgCountingAllocator(&counter);
        rgModelDef* def = NULL;
        bool refused = rgCreateModelDef(&allocator, &def) != rg_ok;
        if (!refused) {
            rgFill(def, &refused);
            rgDestroyModelDef(def);
        }
        assert_int_equal(counter.live, 0);
        assert_true(refused || failAfter > 8);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_parts_are_copied),
        cmocka_unit_test(test_wrong_ids_and_cookies_are_refused),
        cmocka_unit_test(test_refusals_are_remembered),
        cmocka_unit_test(test_refused_changes_are_remembered),
        cmocka_unit_test(test_lack_of_memory_is_remembered),
        cmocka_unit_test(test_velocities_of_motors),
        cmocka_unit_test(test_keys_of_removed_actuators),
        cmocka_unit_test(test_attached_motors_have_no_tendon),
        cmocka_unit_test(test_lack_of_memory_leaves_no_leak),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
