// Bytes as a model definition made by a program: bodies, joints of every kind, shapes, tendons,
// actuators, equalities, sensors and keys with numbers that hurt. It is refused with a remark, or
// it compiles, moves, and what is written of it can be read.
#include "fuzz.h"

#include "rigor/inertia.h"
#include "rigor/world.h"

enum { rg_mostParts = 8 };

static rgInertia rgMakeInertia(rgInput* in, rgNumberFcn* number) {
    double density = rgInput_Byte(in) < 224 ? 1000 : number(in);
    rgInertia inertia = rgInertiaFromShape(rg_shapeBox, rgVec(0.1, 0.1, 0.2), density);
    if (rgInput_Byte(in) < 32) {
        inertia.moment.xy = number(in);
        inertia.center = rgInput_Vec(in, number);
    }
    return inertia;
}

static void rgAddBody(rgInput* in, rgModelDef* def, int index, rgNumberFcn* number) {
    rgBodyDef body = rgDefaultBodyDef();
    body.parent.index1 = rgInput_Below(in, index + 1);
    body.pose = rgInput_Pose(in, number);
    body.inertia = rgMakeInertia(in, number);
    body.kinematic = rgInput_Byte(in) < 12;
    body.gravityCompensation = rgInput_Byte(in) < 16 ? number(in) : 0;
    (void)!rgModelDef_AddBody(def, &body, NULL);
}

static void rgAddJoint(rgInput* in, rgModelDef* def, int count, rgNumberFcn* number) {
    rgJointDef joint = rgDefaultJointDef();
    joint.body.index1 = rgInput_Below(in, count + 1);
    joint.kind = (rgJointKind)rgInput_Below(in, 6);
    joint.axis = rgInput_Vec(in, number);
    joint.anchor = rgInput_Byte(in) < 64 ? rgInput_Vec(in, number) : rgVec(0, 0, 0);
    joint.hasLimits = rgInput_Byte(in) < 64;
    joint.lower = number(in);
    joint.upper = number(in);
    if (rgInput_Byte(in) < 128) {
        double* numbers[] = {&joint.reference,   &joint.damping,      &joint.dryFriction,
                             &joint.armature,    &joint.stiffness,    &joint.springReference,
                             &joint.effortLimit, &joint.velocityLimit};
        *numbers[rgInput_Below(in, 8)] = number(in);
    }
    (void)!rgModelDef_AddJoint(def, &joint, NULL);
}

static void rgAddShape(rgInput* in, rgModelDef* def, int count, rgNumberFcn* number) {
    static const double corners[] = {0.1, 0,    0, -0.1, 0, 0,   0, 0.1, 0,
                                     0,   -0.1, 0, 0,    0, 0.1, 0, 0,   -0.1};
    static const int faces[] = {0, 2, 4, 1, 4, 2, 0, 4, 3, 1, 3, 4};
    static const rgMeshData mesh = {6, corners, 4, faces};
    static const rgHeightFieldData field = {3, 2, 1, 1, 0.5, corners};
    rgShapeDef shape = rgDefaultShapeDef();
    shape.body.index1 = rgInput_Below(in, count + 1);
    shape.kind = (rgShapeKind)(1 + rgInput_Below(in, 9));
    shape.size = rgInput_Vec(in, number);
    if (rgInput_Byte(in) < 240) {
        shape.size = rgVec(fabs(shape.size.x), fabs(shape.size.y), fabs(shape.size.z));
    }
    shape.pose = rgInput_Byte(in) < 128 ? rgInput_Pose(in, number) : rgPoseIdentity();
    shape.mesh = &mesh;
    shape.heightField = &field;
    if (rgInput_Byte(in) < 64) {
        double* numbers[] = {&shape.material.mu,
                             &shape.material.muTorsion,
                             &shape.material.muRolling,
                             &shape.material.stiffness,
                             &shape.material.restitution,
                             &shape.rounding,
                             &shape.margin,
                             &shape.surfaceVelocity.x,
                             &shape.material.tangentialStiffness};
        shape.material.dimension = 6;
        *numbers[rgInput_Below(in, 9)] = number(in);
    }
    (void)!rgModelDef_AddShape(def, &shape, NULL);
}

static void rgAddTendon(rgInput* in, rgModelDef* def, rgNumberFcn* number) {
    rgTendonDef tendon = rgDefaultTendonDef();
    rgJointId joints[3];
    double coefficients[3];
    tendon.jointCount = rgInput_Below(in, 4);
    tendon.joints = joints;
    tendon.coefficients = coefficients;
    for (int i = 0; i < tendon.jointCount; ++i) {
        joints[i].index1 = rgInput_Below(in, rg_mostParts);
        coefficients[i] = number(in);
    }
    tendon.hasLimits = rgInput_Byte(in) < 128;
    tendon.lower = number(in);
    tendon.upper = number(in);
    tendon.dryFriction = fabs(number(in));
    (void)!rgModelDef_AddTendon(def, &tendon, NULL);
}

static void rgAddActuator(rgInput* in, rgModelDef* def, rgNumberFcn* number) {
    rgActuatorDef actuator = rgDefaultActuatorDef();
    actuator.joint.index1 = rgInput_Below(in, rg_mostParts);
    actuator.tendon.index1 = actuator.joint.index1 == 0 ? 1 : 0;
    actuator.kp = number(in);
    actuator.kd = number(in);
    actuator.gain = number(in);
    actuator.gear[0] = number(in);
    actuator.hasForceRange = rgInput_Byte(in) < 128;
    actuator.forceLower = number(in);
    actuator.forceUpper = number(in);
    (void)!rgModelDef_AddActuator(def, &actuator, NULL);
}

static void rgAddEquality(rgInput* in, rgModelDef* def, rgNumberFcn* number) {
    rgEqualityDef equality = rgDefaultEqualityDef();
    equality.kind = (rgEqualityKind)rgInput_Below(in, 4);
    equality.bodyA.index1 = rgInput_Below(in, rg_mostParts);
    equality.bodyB.index1 = rgInput_Below(in, rg_mostParts);
    equality.jointA.index1 = equality.bodyA.index1;
    equality.jointB.index1 = equality.bodyB.index1;
    equality.tendonA.index1 = 1;
    equality.poseA = rgInput_Pose(in, number);
    equality.polynomial[1] = number(in);
    equality.stiffness = rgInput_Byte(in) < 64 ? number(in) : 0;
    (void)!rgModelDef_AddEquality(def, &equality, NULL);
}

static void rgAddSensor(rgInput* in, rgModelDef* def) {
    rgSensorDef sensor = rgDefaultSensorDef();
    sensor.kind = (rgSensorKind)rgInput_Below(in, 27);
    sensor.joint.index1 = rgInput_Below(in, rg_mostParts);
    sensor.body.index1 = rgInput_Below(in, rg_mostParts);
    sensor.tendon.index1 = sensor.actuator.index1 = rgInput_Below(in, 3);
    (void)!rgModelDef_AddSensor(def, &sensor, NULL);
}

static void rgAddKey(rgInput* in, rgModelDef* def, rgNumberFcn* number) {
    double q[16];
    rgKeyDef key = rgDefaultKeyDef();
    key.qCount = rgInput_Below(in, 16);
    key.q = q;
    for (int i = 0; i < key.qCount; ++i) {
        q[i] = number(in);
    }
    (void)!rgModelDef_AddKey(def, &key, NULL);
}

static void rgFill(rgInput* in, rgModelDef* def, rgNumberFcn* number) {
    int bodies = 1 + rgInput_Below(in, rg_mostParts);
    for (int i = 0; i < bodies; ++i) {
        rgAddBody(in, def, i, number);
        rgAddJoint(in, def, bodies, number);
    }
    while (in->left > 4) {
        switch (rgInput_Below(in, 9)) {
        case 0:
            rgAddTendon(in, def, number);
            break;
        case 1:
            rgAddActuator(in, def, number);
            break;
        case 2:
            rgAddEquality(in, def, number);
            break;
        case 3:
            rgAddSensor(in, def);
            break;
        case 4:
            rgAddKey(in, def, number);
            break;
        case 5:
            rgAddJoint(in, def, bodies, number);
            break;
        case 6: {
            rgShapeId a = {rgInput_Below(in, 4)}, b = {rgInput_Below(in, 4)};
            (void)!rgModelDef_AddPair(def, a, b, NULL);
            break;
        }
        default:
            rgAddShape(in, def, bodies, number);
            break;
        }
    }
}

static void rgUse(const rgModel* model) {
    rgWorld* world = NULL;
    rgWorldDef def = rgDefaultWorldDef();
    rgDiagnostics* said = NULL;
    RG_PROMISE(rgCreateDiagnostics(NULL, &said) == rg_ok);
    rgResult result = rgCreateWorld(model, &def, said, &world);
    RG_PROMISE((world != NULL) == (result == rg_ok));
    RG_PROMISE(result == rg_ok || rgDiagnostics_CountOf(said, rg_severityError) > 0);
    int contacts = 0; // steps of tens of thousands take seconds
    for (int i = 0; world != NULL && i < 3 && contacts < 10000; ++i) {
        result = rgWorld_Step(world, NULL);
        RG_PROMISE(result == rg_ok || result == rg_errorNumeric);
        int nq, nv;
        const double *q = rgWorld_Positions(world, &nq), *v = rgWorld_Velocities(world, &nv);
        RG_PROMISE(rgAllFinite(q, nq) && rgAllFinite(v, nv));
        rgWorld_Sensors(world, NULL);
        rgWorld_Contacts(world, &contacts);
    }
    rgDestroyWorld(world);
    rgDestroyDiagnostics(said);
}

int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t count) {
    rgInput in = {bytes, count};
    rgModelDef* def = NULL;
    rgModel* model = NULL;
    rgDiagnostics* said = NULL;
    RG_PROMISE(rgCreateModelDef(NULL, &def) == rg_ok);
    RG_PROMISE(rgCreateDiagnostics(NULL, &said) == rg_ok);
    rgFill(&in, def, rgInput_Byte(&in) < 64 ? rgInput_Number : rgInput_Sane);
    rgResult result = rgCompileModel(def, NULL, said, &model);
    RG_PROMISE((model != NULL) == (result == rg_ok));
    RG_PROMISE(result == rg_ok || rgDiagnostics_CountOf(said, rg_severityError) > 0);
    if (model != NULL) {
        rgUse(model);
    }
    rgDestroyModel(model);
    rgDestroyDiagnostics(said);
    rgDestroyModelDef(def);
    return 0;
}
