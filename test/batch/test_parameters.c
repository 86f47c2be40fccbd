// Worlds of a batch whose parameters differ, against models that were made so.
#include "fleet.h"

// A sled on a floor: a box with an arm that a servo moves. Parameters as factors.
typedef struct Sled {
    double mass, armMass, gain, damping, mu, restitution, stiffness;
    rgVec3 gravity;
} Sled;

static const Sled plain = {1, 1, 1, 1, NAN, NAN, 0, {0, 0, -9.81}};

static rgModelDef* SledDef(const Sled* sled) {
    rgModelDef* def = NULL;
    assert_int_equal(rgCreateModelDef(NULL, &def), rg_ok);
    rgShapeDef floor = rgDefaultShapeDef();
    floor.kind = rg_shapePlane;
    assert_int_equal(rgModelDef_AddShape(def, &floor, NULL), rg_ok);
    rgBodyDef body = rgDefaultBodyDef();
    body.name = "sled";
    body.pose.p = rgVec(0, 0, 0.2);
    body.inertia = rgInertiaFromShape(rg_shapeBox, rgVec(0.3, 0.2, 0.1), 4 * sled->mass);
    rgBodyId base, tip;
    assert_int_equal(rgModelDef_AddBody(def, &body, &base), rg_ok);
    rgShapeDef box = rgDefaultShapeDef();
    box.body = base;
    box.kind = rg_shapeBox;
    box.size = rgVec(0.3, 0.2, 0.1);
    assert_int_equal(rgModelDef_AddShape(def, &box, NULL), rg_ok);
    rgJointDef joint = rgDefaultJointDef();
    joint.body = base;
    joint.kind = rg_jointFree;
    assert_int_equal(rgModelDef_AddJoint(def, &joint, NULL), rg_ok);
    body.name = "arm";
    body.parent = base;
    body.pose.p = rgVec(0, 0, 0.3);
    body.inertia = rgInertiaFromShape(rg_shapeCapsule, rgVec(0.05, 0.15, 0), 1.5 * sled->armMass);
    assert_int_equal(rgModelDef_AddBody(def, &body, &tip), rg_ok);
    joint = rgDefaultJointDef();
    joint.body = tip;
    joint.kind = rg_jointRevolute;
    joint.axis = rgVec(0, 1, 0);
    joint.anchor = rgVec(0, 0, -0.15);
    joint.damping = 0.7 * sled->damping;
    rgJointId hinge;
    assert_int_equal(rgModelDef_AddJoint(def, &joint, &hinge), rg_ok);
    rgActuatorDef servo = rgDefaultActuatorDef();
    servo.joint = hinge;
    servo.gain = servo.kp = 60 * sled->gain;
    servo.kd = 2 * sled->gain;
    assert_int_equal(rgModelDef_AddActuator(def, &servo, NULL), rg_ok);
    return def;
}

static rgWorldDef SledSettings(const Sled* sled) {
    rgWorldDef def = rgDefaultWorldDef();
    def.friction = sled->mu;
    def.restitution = sled->restitution;
    def.stiffness = sled->stiffness;
    def.damping = sled->stiffness * 1e-2; // ten steps
    def.hasGravity = true;
    def.gravity = sled->gravity;
    return def;
}

enum { steps = 400 };

// Where it is after so many steps in a world of its own.
static void SledAlone(const Sled* sled, double* q) {
    rgModelDef* def = SledDef(sled);
    rgModel* model = NULL;
    rgWorld* world = NULL;
    rgWorldDef settings = SledSettings(sled);
    assert_int_equal(rgCompileModel(def, NULL, NULL, &model), rg_ok);
    assert_int_equal(rgCreateWorld(model, &settings, NULL, &world), rg_ok);
    double v[7] = {1.5, 0.2, 0, 0, 0, 0.3, 0}, u = 0.8;
    assert_int_equal(rgWorld_SetState(world, NULL, v), rg_ok);
    assert_int_equal(rgWorld_SetControl(world, &u), rg_ok);
    for (int s = 0; s < steps; ++s) {
        assert_int_equal(rgWorld_Step(world, NULL), rg_ok);
    }
    memcpy(q, rgWorld_Positions(world, NULL), 8 * sizeof(double));
    rgDestroyWorld(world);
    rgDestroyModel(model);
    rgDestroyModelDef(def);
}

static Fleet SledFleet(int count, int threads) {
    Fleet fleet = {0};
    fleet.def = SledDef(&plain);
    assert_int_equal(rgCompileModel(fleet.def, NULL, NULL, &fleet.model), rg_ok);
    fleet.info = rgModel_Info(fleet.model);
    rgBatchDef def = rgDefaultBatchDef();
    def.world = SledSettings(&plain);
    FleetMake(&fleet, count, threads, def);
    return fleet;
}

static void SledStart(Fleet* fleet) {
    assert_int_equal(rgBatch_Reset(fleet->batch, (rgKeyId){0}, NULL), rg_ok);
    double v[7 * 16] = {0}, u[16];
    for (int i = 0; i < fleet->count; ++i) {
        v[7 * i] = 1.5, v[7 * i + 1] = 0.2, v[7 * i + 5] = 0.3;
        u[i] = 0.8;
    }
    size_t count = (size_t)fleet->count;
    assert_int_equal(rgBatch_Write(fleet->batch, rg_batchVelocities, v, 7 * count, NULL, NULL),
                     rg_ok);
    assert_int_equal(rgBatch_Write(fleet->batch, rg_batchControls, u, count, NULL, NULL), rg_ok);
}

static void Set(Fleet* fleet, rgBatchParameter parameter, const double* values) {
    size_t count = (size_t)(fleet->count * rgBatch_ParameterSize(fleet->batch, parameter));
    assert_int_equal(rgBatch_SetParameter(fleet->batch, parameter, values, count, NULL, NULL),
                     rg_ok);
}

// Each world changes one parameter, the last one all of them: as a model made so, to rounding.
static void test_overrides_are_models_made_so(void** state) {
    (void)state;
    enum { count = 9 };
    Sled sleds[count];
    for (int i = 0; i < count; ++i) {
        sleds[i] = plain;
        sleds[i].gravity = i == 1 || i == 8 ? rgVec(0.3, 0, -8) : plain.gravity;
        sleds[i].mass = i == 2 || i == 8 ? 1.4 : 1;
        sleds[i].armMass = i == 2 || i == 8 ? 0.7 : 1;
        sleds[i].mu = i == 3 || i == 8 ? 0.25 : NAN;
        sleds[i].restitution = i == 4 ? 0.6 : NAN;
        sleds[i].stiffness = i == 5 || i == 8 ? 3e4 : 0;
        sleds[i].gain = i == 6 || i == 8 ? 0.5 : 1;
        sleds[i].damping = i == 7 || i == 8 ? 3 : 1;
    }
    for (int threads = 1; threads <= 4; threads += 3) {
        Fleet fleet = SledFleet(count, threads);
        double gravity[3 * count], mass[2 * count], mu[count], restitution[count];
        double stiffness[count], gain[count], damping[2 * count];
        for (int i = 0; i < count; ++i) {
            gravity[3 * i] = i == 1 || i == 8 ? sleds[i].gravity.x : NAN;
            gravity[3 * i + 1] = sleds[i].gravity.y;
            gravity[3 * i + 2] = sleds[i].gravity.z;
            mass[2 * i] = sleds[i].mass;
            mass[2 * i + 1] = sleds[i].armMass;
            mu[i] = sleds[i].mu;
            restitution[i] = sleds[i].restitution;
            stiffness[i] = sleds[i].stiffness > 0 ? sleds[i].stiffness : NAN;
            gain[i] = sleds[i].gain;
            damping[2 * i] = 1;
            damping[2 * i + 1] = sleds[i].damping;
        }
        Set(&fleet, rg_parameterGravity, gravity);
        Set(&fleet, rg_parameterMass, mass);
        Set(&fleet, rg_parameterFriction, mu);
        Set(&fleet, rg_parameterRestitution, restitution);
        Set(&fleet, rg_parameterStiffness, stiffness);
        Set(&fleet, rg_parameterGain, gain);
        Set(&fleet, rg_parameterDamping, damping);
        SledStart(&fleet); // parameters stay
        for (int s = 0; s < steps; s += 50) {
            assert_int_equal(rgBatch_Step(fleet.batch, 50, NULL), rg_ok);
        }
        rgBatchView view = rgBatch_View(fleet.batch, rg_batchPositions);
        double first[8];
        for (int i = 0; i < count; ++i) {
            double q[8], moved = 0;
            SledAlone(&sleds[i], q);
            memcpy(first, i == 0 ? q : first, sizeof(q));
            for (int k = 0; k < 8; ++k) {
                // Sums of a mass and its factor round in another order, over 400 steps.
                EXPECT_NEAR(view.data[i * view.stride + k], q[k], 1e-9);
                moved = fmax(moved, fabs(q[k] - first[k]));
            }
            assert_true(i == 0 || moved > 1e-4); // the parameter matters
        }
        FleetEnd(&fleet);
    }
}

// A parameter of one world, back again, leaves no trace; a bad one stops its world only.
static void test_back_and_forth(void** state) {
    (void)state;
    enum { count = 4 };
    Fleet fleet = SledFleet(count, 2);
    SledStart(&fleet);
    assert_int_equal(rgBatch_Step(fleet.batch, 100, NULL), rg_ok);
    rgBatchView view = rgBatch_View(fleet.batch, rg_batchPositions);
    double expected[8];
    memcpy(expected, view.data + view.stride, sizeof(expected));
    double mass[2 * count] = {1, 1, 2, 3, 1, 1, 1, -1};
    Set(&fleet, rg_parameterMass, mass);
    const rgWorldStatus* status = rgBatch_Status(fleet.batch);
    assert_int_equal(status[3].fault, rg_faultParameter);
    assert_string_equal(rgWorldFault_Name(status[3].fault), "parameter");
    assert_int_equal(status[1].fault, rg_faultNone);
    SledStart(&fleet);
    assert_int_equal(rgBatch_Step(fleet.batch, 100, NULL), rg_ok);
    assert_memory_not_equal(view.data + view.stride, expected, sizeof(expected));
    assert_memory_equal(view.data, expected, sizeof(expected));
    for (int i = 0; i < 2 * count; ++i) {
        mass[i] = NAN;
    }
    Set(&fleet, rg_parameterMass, mass);
    SledStart(&fleet);
    assert_int_equal(rgBatch_Step(fleet.batch, 100, NULL), rg_ok);
    for (int i = 0; i < count; ++i) {
        assert_memory_equal(view.data + i * view.stride, expected, sizeof(expected));
    }
    rgDiagnostics* said = NULL;
    assert_int_equal(rgCreateDiagnostics(NULL, &said), rg_ok);
    assert_int_equal(rgBatch_SetParameter(fleet.batch, rg_parameterMass, mass, count, NULL, said),
                     rg_errorArgument);
    assert_non_null(strstr(rgDiagnostics_Message(said, 0).text, "mass of 4 worlds: 4 x 2 = 8"));
    assert_int_equal(rgBatch_SetParameter(fleet.batch, rg_parameterCount, mass, 0, NULL, said),
                     rg_errorArgument);
    rgDestroyDiagnostics(said);
    FleetEnd(&fleet);
}

// Anything else by a callback: the mu of one shape.
static rgResult Slippery(rgWorld* world, int index, int step, void* context) {
    (void)step;
    const double* mu = context;
    rgShapeDef shape = *rgModel_Shape(rgWorld_Model(world), (rgShapeId){2});
    shape.material.mu = mu[index];
    return rgWorld_ChangeShape(world, (rgShapeId){2}, &shape, NULL);
}

static void test_each_changes_its_world(void** state) {
    (void)state;
    Fleet fleet = SledFleet(3, 2);
    SledStart(&fleet);
    double mu[3] = {0.05, 0.3, 0.9};
    assert_int_equal(rgBatch_Each(fleet.batch, Slippery, mu, NULL), rg_ok);
    assert_int_equal(rgBatch_Step(fleet.batch, 500, NULL), rg_ok);
    rgBatchView q = rgBatch_View(fleet.batch, rg_batchPositions);
    assert_true(q.data[0] > q.data[q.stride] + 0.01);
    assert_true(q.data[q.stride] > q.data[2 * q.stride] + 0.01);
    FleetEnd(&fleet);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_overrides_are_models_made_so),
        cmocka_unit_test(test_back_and_forth),
        cmocka_unit_test(test_each_changes_its_world),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
