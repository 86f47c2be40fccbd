// Definitions with random faults either compile or are refused with a message; what compiles can be
// computed with. Run under the sanitizers this also looks for undefined behaviour.
#include "model/def.h"
#include "random_model.h"
#include "rigor/rigor.h"

static double rgStrangeNumber(rgRandom* random) {
    static const double strange[] = {0,         -1,  1e-300, 1e300, -1e300, INFINITY,
                                     -INFINITY, NAN, 1e-9,   7,     1e6,    -0.0};
    return strange[rgRandom_Index(random, RG_COUNT(strange))];
}

static void rgAddRobot(rgRandom* random, rgModelDef* def) {
    for (int i = 0; i < 6; ++i) {
        rgBodyDef body = rgDefaultBodyDef();
        body.parent.index1 = rgRandom_Index(random, i + 1);
        body.pose = rgRandomPose(random);
        body.inertia = rgRandomInertia(random);
        rgModelDef_AddBody(def, &body, NULL);
        rgJointDef joint = rgDefaultJointDef();
        joint.body.index1 = i + 1;
        joint.kind = (rgJointKind)rgRandom_Index(random, 6);
        joint.hasLimits = rgRandom_Index(random, 2);
        joint.lower = -1;
        joint.upper = 1;
        rgModelDef_AddJoint(def, &joint, NULL);
        rgShapeDef shape = rgDefaultShapeDef();
        shape.body.index1 = rgRandom_Index(random, i + 2);
        shape.kind = (rgShapeKind)rgRandom_Index(random, 10);
        shape.size = rgVec(0.1, 0.2, 0.3);
        rgModelDef_AddShape(def, &shape, NULL);
    }
}

static void rgAddExtras(rgRandom* random, rgModelDef* def) {
    rgActuatorDef actuator = rgDefaultActuatorDef();
    actuator.joint.index1 = rgRandom_Index(random, 7);
    rgModelDef_AddActuator(def, &actuator, NULL);
    rgEqualityDef equality = rgDefaultEqualityDef();
    equality.kind = (rgEqualityKind)rgRandom_Index(random, 5);
    equality.bodyA.index1 = rgRandom_Index(random, 7);
    equality.bodyB.index1 = rgRandom_Index(random, 7);
    equality.jointA.index1 = rgRandom_Index(random, 7);
    rgModelDef_AddEquality(def, &equality, NULL);
    rgSensorDef sensor = rgDefaultSensorDef();
    sensor.kind = (rgSensorKind)rgRandom_Index(random, 30);
    sensor.joint.index1 = rgRandom_Index(random, 7);
    sensor.body.index1 = rgRandom_Index(random, 7);
    rgModelDef_AddSensor(def, &sensor, NULL);
}

static void rgSpoilBody(rgRandom* random, rgBodyDef* body) {
    double* numbers[] = {&body->pose.p.x,         &body->pose.q.w,         &body->pose.q.z,
                         &body->inertia.mass,     &body->inertia.center.y, &body->inertia.moment.xx,
                         &body->inertia.moment.yz};
    *numbers[rgRandom_Index(random, RG_COUNT(numbers))] = rgStrangeNumber(random);
}

static void rgSpoilJoint(rgRandom* random, rgJointDef* joint) {
    double* numbers[] = {&joint->axis.x,    &joint->axis.z,      &joint->anchor.y,
                         &joint->reference, &joint->lower,       &joint->upper,
                         &joint->damping,   &joint->dryFriction, &joint->armature,
                         &joint->stiffness, &joint->effortLimit};
    *numbers[rgRandom_Index(random, RG_COUNT(numbers))] = rgStrangeNumber(random);
}

static void rgSpoilShape(rgRandom* random, rgShapeDef* shape) {
    double* numbers[] = {&shape->size.x,      &shape->size.z, &shape->pose.p.y,
                         &shape->material.mu, &shape->margin, &shape->material.restitution};
    *numbers[rgRandom_Index(random, RG_COUNT(numbers))] = rgStrangeNumber(random);
}

static void rgSpoilSomething(rgRandom* random, rgModelDef* def) {
    int index = rgRandom_Index(random, 6);
    switch (rgRandom_Index(random, 4)) {
    case 0:
        rgSpoilBody(random, &def->bodies[index]);
        break;
    case 1:
        rgSpoilJoint(random, &def->joints[index]);
        break;
    case 2:
        rgSpoilShape(random, &def->shapes[index]);
        break;
    default:
        def->joints[index].kind = (rgJointKind)(rgRandom_Index(random, 9) - 1);
        break;
    }
}

static void rgUseModel(const rgModel* model) {
    rgDynamics* d = NULL;
    rgModelInfo info = rgModel_Info(model);
    rgDynamicsDef def = rgDefaultDynamicsDef(model);
    double q[64], v[64], a[64];
    rgRandom random = {1};
    assert_int_equal(rgCreateDynamics(model, &def, &d), rg_ok);
    rgModel_RandomConfiguration(model, 5, q);
    rgRandomVelocity(&random, info.vCount, v);
    rgDynamics_SetState(d, q, v);
    rgResult result = rgDynamics_ForwardDynamics(d, v, NULL, a);
    assert_true(result == rg_ok || result == rg_errorNumeric);
    result = rgDynamics_Factorize(d, NULL);
    assert_true(result == rg_ok || result == rg_errorNumeric);
    for (int s = 1; s <= info.shapeCount; ++s) {
        rgModel_ShapesMeet(model, (rgShapeId){s}, (rgShapeId){1});
        rgDynamics_ShapePose(d, (rgShapeId){s});
    }
    rgDestroyDynamics(d);
}

static void test_spoilt_definitions(void** state) {
    (void)state;
    rgRandom random = {77};
    int compiled = 0, refused = 0;
    for (int round = 0; round < 4000; ++round) {
        rgModelDef* def = NULL;
        rgModel* model = NULL;
        rgDiagnostics* said = NULL;
        rgCreateModelDef(NULL, &def);
        rgCreateDiagnostics(NULL, &said);
        rgAddRobot(&random, def);
        // Shapes that need data, and second free joints, are refused anyway: keep half without.
        for (int i = 0; round % 2 && i < 6; ++i) {
            def->shapes[i].kind = rg_shapeBox;
            def->joints[i].kind = (rgJointKind)(i % 4);
        }
        if (round % 4 == 0) {
            rgAddExtras(&random, def);
        }
        rgSpoilSomething(&random, def);
        rgResult result = rgCompileModel(def, NULL, said, &model);
        int errors = rgDiagnostics_CountOf(said, rg_severityError);
        if (result == rg_ok) {
            assert_int_equal(errors, 0);
            rgUseModel(model);
            compiled += 1;
        } else {
            assert_int_equal(result, rg_errorArgument);
            assert_true(errors > 0);
            refused += 1;
        }
        rgDestroyModel(model);
        rgDestroyDiagnostics(said);
        rgDestroyModelDef(def);
    }
    assert_true(compiled > 400 && refused > 400);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_spoilt_definitions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
