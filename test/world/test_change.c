// Parameters that change while a world runs: a world that was changed moves to the bit as one of a
// model made so, changes are part of the state, and other worlds of the model do not see them.
#include "scene.h"

#include "world/world.h"

// A slope with a box, a pendulum with a servo and a spring, two sliders with a tendon, a weld.
typedef struct Parameters {
    double mass, mu, restitution, kp, kd, damping, dryFriction, stiffness, armature, tendon;
    double weld, gravity;
    bool disabled, loose;
} Parameters;

static const Parameters before = {.mass = 1,
                                  .mu = 0.5,
                                  .kp = 20,
                                  .kd = 1,
                                  .damping = 0.1,
                                  .dryFriction = 0.05,
                                  .stiffness = 2,
                                  .armature = 0.01,
                                  .tendon = 30,
                                  .weld = 500,
                                  .gravity = -9.81};
static const Parameters after = {.mass = 2.5,
                                 .mu = 0.2,
                                 .restitution = 0.4,
                                 .kp = 55,
                                 .kd = 3,
                                 .damping = 0.7,
                                 .dryFriction = 0.2,
                                 .stiffness = 9,
                                 .armature = 0.08,
                                 .tendon = 90,
                                 .weld = 80,
                                 .gravity = -3.7,
                                 .disabled = true,
                                 .loose = true};

typedef struct Ids {
    rgBodyId box, arm;
    rgJointId hinge;
    rgShapeId plane, shelf;
    rgTendonId tendon;
    rgActuatorId servo;
    rgEqualityId weld, chain;
} Ids;

static rgActuatorDef Servo(rgActuatorDef def, const Parameters* p) {
    def.gain = def.kp = p->kp;
    def.kd = p->kd;
    return def;
}

static rgJointDef Hinge(rgJointDef def, const Parameters* p) {
    def.damping = p->damping;
    def.dryFriction = p->dryFriction;
    def.stiffness = p->stiffness;
    def.armature = p->armature;
    return def;
}

static rgBodyDef Box(rgBodyDef def, const Parameters* p) {
    def.inertia = rgInertiaFromShape(rg_shapeBox, rgVec(0.1, 0.1, 0.1), p->mass);
    def.inertia.center = rgVec(0.01 * p->mass, 0, 0);
    def.gravityCompensation = p->loose ? 0.2 : 0;
    return def;
}

static rgShapeDef Floor(rgShapeDef def, const Parameters* p) {
    def.material.mu = p->mu;
    def.material.restitution = p->restitution;
    return def;
}

static rgTendonDef Tendon(rgTendonDef def, const Parameters* p) {
    def.stiffness = p->tendon;
    def.damping = 0.1 * p->tendon;
    return def;
}

static rgEqualityDef Weld(rgEqualityDef def, const Parameters* p) {
    def.stiffness = p->weld;
    def.damping = 0.01 * p->weld;
    return def;
}

static rgWorldDef Settings(rgWorldDef def, const Parameters* p) {
    def.hasGravity = true;
    def.gravity = rgVec(0, 0, p->gravity);
    return def;
}

static Scene Build(const Parameters* p, Ids* ids) {
    Scene scene = SceneStart();
    rgShapeDef plane = rgDefaultShapeDef();
    plane.kind = rg_shapePlane;
    plane.pose.q = rgQuatFromAxisAngle(rgVec(0, 1, 0), 0.3);
    plane = Floor(plane, p);
    assert_int_equal(rgModelDef_AddShape(scene.def, &plane, &ids->plane), rg_ok);
    rgShapeDef shelf = rgDefaultShapeDef();
    shelf.kind = rg_shapeBox;
    shelf.size = rgVec(0.2, 0.2, 0.02);
    shelf.pose.p = rgVec(3, 0, 2);
    shelf.disabled = p->disabled;
    assert_int_equal(rgModelDef_AddShape(scene.def, &shelf, &ids->shelf), rg_ok);

    rgBodyDef box = rgDefaultBodyDef();
    box.pose.p = rgVec(0, 0, 0.25);
    box = Box(box, p);
    assert_int_equal(rgModelDef_AddBody(scene.def, &box, &ids->box), rg_ok);
    SceneJoint(&scene, ids->box, rg_jointFree, rgVec(0, 0, 0), rgVec(0, 0, 1));
    rgShapeDef shape = rgDefaultShapeDef();
    shape.body = ids->box;
    shape.kind = rg_shapeBox;
    shape.size = rgVec(0.1, 0.1, 0.1);
    assert_int_equal(rgModelDef_AddShape(scene.def, &shape, NULL), rg_ok);
    SceneCube(&scene, 0.1, 1, rgVec(3, 0, 2.2), 0.5); // stands on the shelf

    Solid arm = SolidOf(rg_shapeCapsule, rgVec(0.03, 0.2, 0), 0.7, rgVec(0, 2, 1));
    ids->arm = SceneBody(&scene, &arm, (rgBodyId){0});
    rgJointDef hinge = rgDefaultJointDef();
    hinge.body = ids->arm;
    hinge.kind = rg_jointRevolute;
    hinge.axis = rgVec(0, 1, 0);
    hinge.anchor = rgVec(0, 0, 0.2);
    hinge = Hinge(hinge, p);
    assert_int_equal(rgModelDef_AddJoint(scene.def, &hinge, &ids->hinge), rg_ok);
    rgActuatorDef servo = rgDefaultActuatorDef();
    servo.joint = ids->hinge;
    servo = Servo(servo, p);
    assert_int_equal(rgModelDef_AddActuator(scene.def, &servo, &ids->servo), rg_ok);

    rgJointId sliders[2];
    for (int i = 0; i < 2; ++i) {
        Solid ball = SolidOf(rg_shapeSphere, rgVec(0.05, 0, 0), 0.5, rgVec(0, 4 + i, 1));
        rgBodyId id = SceneBody(&scene, &ball, (rgBodyId){0});
        sliders[i] = SceneJoint(&scene, id, rg_jointPrismatic, rgVec(0, 0, 0), rgVec(1, 0, 0.1));
    }
    const double coefficients[2] = {1, -0.5};
    rgTendonDef tendon = rgDefaultTendonDef();
    tendon.jointCount = 2;
    tendon.joints = sliders;
    tendon.coefficients = coefficients;
    tendon.springReference = 0.1;
    tendon = Tendon(tendon, p);
    assert_int_equal(rgModelDef_AddTendon(scene.def, &tendon, &ids->tendon), rg_ok);

    Solid cube = SolidOf(rg_shapeBox, rgVec(0.05, 0.05, 0.05), 0.3, rgVec(0, 7, 2));
    rgEqualityDef weld = rgDefaultEqualityDef();
    weld.kind = rg_equalityWeld;
    weld.bodyA = SceneFree(&scene, &cube);
    weld.poseB.p = rgVec(0, 7, 2);
    weld = Weld(weld, p);
    assert_int_equal(rgModelDef_AddEquality(scene.def, &weld, &ids->weld), rg_ok);
    cube.pose.p = rgVec(0, 9, 2);
    rgEqualityDef chain = rgDefaultEqualityDef();
    chain.kind = rg_equalityConnect;
    chain.bodyA = SceneFree(&scene, &cube);
    chain.poseA.p = rgVec(0, 0, 0.1);
    chain.poseB.p = rgVec(0, 9, 2.1);
    chain.disabled = p->loose;
    assert_int_equal(rgModelDef_AddEquality(scene.def, &chain, &ids->chain), rg_ok);
    rgWorldDef def = Settings(SceneWorldDef(1e-3, 1e-8), p);
    SceneMake(&scene, &def);
    return scene;
}

static void Drive(Scene* scene, int steps) {
    double control = 0.6;
    assert_int_equal(rgWorld_SetControl(scene->world, &control), rg_ok);
    SceneRun(scene, steps);
}

enum { body = 1, joint = 2, shape = 4, tendons = 8, actuator = 16, equality = 32, settings = 64 };
#define ALL 127

// Those kinds at once.
static rgResult Change(rgWorld* world, const Ids* ids, const Parameters* p, int kinds) {
    const rgModel* m = rgWorld_Model(world);
    rgBodyDef box = Box(*rgModel_Body(m, ids->box), p);
    rgJointDef hinge = Hinge(*rgModel_Joint(m, ids->hinge), p);
    rgShapeDef plane = Floor(*rgModel_Shape(m, ids->plane), p);
    rgShapeDef shelf = *rgModel_Shape(m, ids->shelf);
    rgTendonDef tendon = Tendon(*rgModel_Tendon(m, ids->tendon), p);
    rgActuatorDef servo = Servo(*rgModel_Actuator(m, ids->servo), p);
    rgEqualityDef weld = Weld(*rgModel_Equality(m, ids->weld), p);
    rgEqualityDef chain = *rgModel_Equality(m, ids->chain);
    rgWorldDef def = Settings(rgWorld_Settings(world), p);
    shelf.disabled = p->disabled;
    chain.disabled = p->loose;
    rgResult results[9] = {
        kinds & body ? rgWorld_ChangeBody(world, ids->box, &box, NULL) : rg_ok,
        kinds & joint ? rgWorld_ChangeJoint(world, ids->hinge, &hinge, NULL) : rg_ok,
        kinds & shape ? rgWorld_ChangeShape(world, ids->plane, &plane, NULL) : rg_ok,
        kinds & shape ? rgWorld_ChangeShape(world, ids->shelf, &shelf, NULL) : rg_ok,
        kinds & tendons ? rgWorld_ChangeTendon(world, ids->tendon, &tendon, NULL) : rg_ok,
        kinds & actuator ? rgWorld_ChangeActuator(world, ids->servo, &servo, NULL) : rg_ok,
        kinds & equality ? rgWorld_ChangeEquality(world, ids->weld, &weld, NULL) : rg_ok,
        kinds & equality ? rgWorld_ChangeEquality(world, ids->chain, &chain, NULL) : rg_ok,
        kinds & settings ? rgWorld_ChangeSettings(world, &def, NULL) : rg_ok,
    };
    rgResult worst = rg_ok;
    for (int i = 0; i < 9; ++i) {
        worst = results[i] != rg_ok ? results[i] : worst;
    }
    return worst;
}

static void ChangeAll(rgWorld* world, const Ids* ids, const Parameters* p) {
    assert_int_equal(Change(world, ids, p, ALL), rg_ok);
}

static bool SameMotion(const rgWorld* a, const rgWorld* b) {
    int nq, nv;
    const double *qa = rgWorld_Positions(a, &nq), *qb = rgWorld_Positions(b, NULL);
    const double *va = rgWorld_Velocities(a, &nv), *vb = rgWorld_Velocities(b, NULL);
    return memcmp(qa, qb, (size_t)nq * sizeof(double)) == 0 &&
           memcmp(va, vb, (size_t)nv * sizeof(double)) == 0;
}

static void test_changed_world_is_model_made_so(void** state) {
    (void)state;
    Ids ids;
    Scene changed = Build(&before, &ids), made = Build(&after, &ids), plain = Build(&before, &ids);
    ChangeAll(changed.world, &ids, &after);
    Drive(&changed, 400);
    Drive(&made, 400);
    Drive(&plain, 400);
    assert_true(SameMotion(changed.world, made.world));
    assert_false(SameMotion(changed.world, plain.world));
    assert_true(rgWorld_KineticEnergy(changed.world) == rgWorld_KineticEnergy(made.world));
    assert_true(rgWorld_PotentialEnergy(changed.world) == rgWorld_PotentialEnergy(made.world));
    // each kind has a part in that
    for (int kind = 1; kind < ALL; kind *= 2) {
        Scene some = Build(&before, &ids);
        assert_int_equal(Change(some.world, &ids, &after, ALL - kind), rg_ok);
        Drive(&some, 400);
        assert_false(SameMotion(some.world, made.world));
        SceneEnd(&some);
    }
    SceneEnd(&made);
    SceneEnd(&changed);
    SceneEnd(&plain);
}

static void test_other_worlds_do_not_see_it(void** state) {
    (void)state;
    Ids ids;
    Scene scene = Build(&before, &ids), plain = Build(&before, &ids);
    rgWorld* other = NULL;
    rgWorldDef def = Settings(SceneWorldDef(1e-3, 1e-8), &before);
    assert_int_equal(rgCreateWorld(scene.model, &def, NULL, &other), rg_ok);
    ChangeAll(scene.world, &ids, &after);
    assert_true(rgWorld_Model(other) == scene.model);
    assert_true(rgModel_Body(scene.model, ids.box)->inertia.mass == before.mass);
    assert_true(rgModel_Body(rgWorld_Model(scene.world), ids.box)->inertia.mass == after.mass);
    EXPECT_NEAR(rgModel_Info(rgWorld_Model(scene.world)).mass - rgModel_Info(scene.model).mass,
                after.mass - before.mass, 1e-14);
    double control = 0.6;
    assert_int_equal(rgWorld_SetControl(other, &control), rg_ok);
    for (int i = 0; i < 100; ++i) {
        assert_int_equal(rgWorld_Step(other, NULL), rg_ok);
    }
    Drive(&plain, 100);
    assert_true(SameMotion(other, plain.world));
    assert_true(rgWorld_Hash(other) == rgWorld_Hash(plain.world));
    rgDestroyWorld(other);
    SceneEnd(&plain);
    SceneEnd(&scene);
}

static void test_changes_are_state(void** state) {
    (void)state;
    Ids ids;
    Scene scene = Build(&before, &ids), other = Build(&before, &ids);
    Drive(&scene, 50);
    size_t plainSize = rgWorld_StateSize(scene.world);
    void* plain = malloc(plainSize);
    assert_int_equal(rgWorld_Save(scene.world, plain, plainSize), rg_ok);
    uint64_t plainHash = rgWorld_Hash(scene.world);
    ChangeAll(scene.world, &ids, &after);
    assert_false(rgWorld_Hash(scene.world) == plainHash);
    size_t size = rgWorld_StateSize(scene.world);
    void* saved = malloc(size);
    assert_int_equal(rgWorld_Save(scene.world, saved, size), rg_ok);
    uint64_t savedHash = rgWorld_Hash(scene.world);
    SceneRun(&scene, 200);

    // into a world that knows of no change
    assert_int_equal(rgWorld_Restore(other.world, saved, size), rg_ok);
    assert_true(rgWorld_Hash(other.world) == savedHash);
    SceneRun(&other, 200);
    assert_true(rgWorld_Hash(other.world) == rgWorld_Hash(scene.world));
    assert_true(SameMotion(other.world, scene.world));

    // and back to before the changes: they are undone
    assert_int_equal(rgWorld_Restore(other.world, plain, plainSize), rg_ok);
    assert_true(rgWorld_Hash(other.world) == plainHash);
    assert_true(rgWorld_StateSize(other.world) == plainSize);
    Scene fresh = Build(&before, &ids);
    Drive(&fresh, 150);
    SceneRun(&other, 100);
    assert_true(rgWorld_Hash(other.world) == rgWorld_Hash(fresh.world));

    // numbers that are none, masses below zero: refused, and nothing changes
    uint64_t hash = rgWorld_Hash(scene.world);
    double bad = -1;
    int refused = 0;
    size_t end = size - sizeof(uint64_t); // the checksum
    for (size_t at = plainSize - sizeof(uint64_t); at + sizeof(bad) <= end; at += sizeof(bad)) {
        char* copy = malloc(size);
        bad = at % 16 == 0 ? NAN : -1;
        memcpy(copy, saved, size);
        memcpy(copy + at, &bad, sizeof(bad));
        rgSealState(copy, size);
        refused += rgWorld_Restore(scene.world, copy, size) != rg_ok;
        assert_int_equal(rgWorld_Restore(scene.world, saved, size), rg_ok);
        free(copy);
    }
    assert_true(refused > 40);
    assert_false(hash == rgWorld_Hash(scene.world));
    assert_true(savedHash == rgWorld_Hash(scene.world));
    assert_int_not_equal(rgWorld_Restore(scene.world, saved, size - 8), rg_ok);
    free(plain);
    free(saved);
    SceneEnd(&fresh);
    SceneEnd(&other);
    SceneEnd(&scene);
}

static void ExpectRefused(rgDiagnostics* said, rgResult result, rgResult expected,
                          const char* text) {
    assert_int_equal(result, expected);
    int count = rgDiagnostics_Count(said);
    assert_true(count > 0);
    const char* last = rgDiagnostics_Message(said, count - 1).text;
    if (strstr(last, text) == NULL) {
        print_message("'%s' lacks '%s'\n", last, text);
    }
    assert_non_null(strstr(last, text));
}

static void test_refusals(void** state) {
    (void)state;
    Ids ids;
    Scene scene = Build(&before, &ids);
    rgWorld* world = scene.world;
    rgDiagnostics* said = NULL;
    assert_int_equal(rgCreateDiagnostics(NULL, &said), rg_ok);
    uint64_t hash = rgWorld_Hash(world);
    const rgModel* m = rgWorld_Model(world);
    rgBodyDef box = *rgModel_Body(m, ids.box);
    box.inertia.mass = -1;
    ExpectRefused(said, rgWorld_ChangeBody(world, ids.box, &box, said), rg_errorArgument, "mass");
    box.inertia = (rgInertia){0};
    ExpectRefused(said, rgWorld_ChangeBody(world, ids.box, &box, said), rg_errorArgument,
                  "positive");
    box = *rgModel_Body(m, ids.box);
    box.pose.p.x += 1;
    ExpectRefused(said, rgWorld_ChangeBody(world, ids.box, &box, said), rg_errorUnsupported,
                  "its pose cannot change");
    rgShapeDef floor = *rgModel_Shape(m, ids.plane);
    floor.material.restitution = 2;
    ExpectRefused(said, rgWorld_ChangeShape(world, ids.plane, &floor, said), rg_errorArgument,
                  "restitution 2");
    floor = *rgModel_Shape(m, ids.shelf);
    floor.size.x = 1;
    ExpectRefused(said, rgWorld_ChangeShape(world, ids.shelf, &floor, said), rg_errorUnsupported,
                  "its size cannot change");
    rgJointDef hinge = *rgModel_Joint(m, ids.hinge);
    hinge.damping = NAN;
    ExpectRefused(said, rgWorld_ChangeJoint(world, ids.hinge, &hinge, said), rg_errorArgument,
                  "damping");
    rgActuatorDef servo = *rgModel_Actuator(m, ids.servo);
    servo.kp = NAN;
    ExpectRefused(said, rgWorld_ChangeActuator(world, ids.servo, &servo, said), rg_errorArgument,
                  "kp");
    rgWorldDef def = rgWorld_Settings(world);
    def.timeStep *= 2;
    ExpectRefused(said, rgWorld_ChangeSettings(world, &def, said), rg_errorUnsupported,
                  "time step");
    def = rgWorld_Settings(world);
    def.gravity.x = INFINITY;
    ExpectRefused(said, rgWorld_ChangeSettings(world, &def, said), rg_errorArgument, "gravity");
    assert_int_equal(rgWorld_ChangeBody(world, (rgBodyId){99}, &box, said), rg_errorArgument);
    assert_int_equal(rgWorld_ChangeBody(world, ids.box, NULL, said), rg_errorArgument);
    assert_int_equal(rgWorld_ChangeBody(NULL, ids.box, &box, said), rg_errorArgument);
    assert_true(rgWorld_Hash(world) == hash);
    assert_true(rgWorld_Model(world) == scene.model);
    rgDestroyDiagnostics(said);
    SceneEnd(&scene);
}

// Memory is taken by the first change of a kind; what it cannot have, it says, and all stays
// usable.
static void test_memory(void** state) {
    (void)state;
    Ids ids;
    Scene scene = Build(&before, &ids), made = Build(&after, &ids);
    rgCounter counter = {.failAfter = -1};
    rgWorldDef def = Settings(SceneWorldDef(1e-3, 1e-8), &before);
    def.allocator = rgCountingAllocator(&counter);
    rgDestroyWorld(scene.world);
    SceneMake(&scene, &def);
    int failures = 0;
    rgResult result;
    do {
        counter.failAfter = counter.allocations + failures;
        result = Change(scene.world, &ids, &after, ALL);
        failures += result == rg_errorMemory;
    } while (result == rg_errorMemory);
    assert_int_equal(result, rg_ok);
    assert_true(failures >= 3);
    counter.failAfter = -1;
    Drive(&scene, 200);
    Drive(&made, 200);
    assert_true(SameMotion(scene.world, made.world));
    int allocations = counter.allocations;
    ChangeAll(scene.world, &ids, &before);
    ChangeAll(scene.world, &ids, &after);
    SceneRun(&scene, 20);
    assert_int_equal(counter.allocations, allocations);
    SceneEnd(&scene);
    SceneEnd(&made);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_changed_world_is_model_made_so),
        cmocka_unit_test(test_other_worlds_do_not_see_it),
        cmocka_unit_test(test_changes_are_state),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
