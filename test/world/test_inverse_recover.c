// Inverse dynamics with contacts: what a step did is found again, with rigid and compliant
// contacts, tangential springs and loops.
#include "inverse.h"

// Random forces on a scene: every step, given back its own impulses, gives back its forces.
// Snap: what traces of compliance in the step leave of the speed at a rigid contact.
static void Recover(Scene* scene, int steps, double size, double snap, double tolerance) {
    rgRandom random = {7};
    int nv, count, rowCount;
    rgWorld_Velocities(scene->world, &nv);
    assert_true(nv <= DOFS);
    size_t bytes = 1 << 20;
    void* saved = malloc(bytes);
    for (int i = 0; i < steps; ++i) {
        double force[DOFS], v[DOFS], impulses[6 * CONTACTS];
        rgConstraintForce rows[ROWS];
        for (int k = 0; k < nv; ++k) {
            force[k] = size * rgRandom_Normal(&random);
        }
        assert_int_equal(rgWorld_SetForce(scene->world, force), rg_ok);
        size_t need = rgWorld_StateSize(scene->world);
        assert_true(need <= bytes);
        assert_int_equal(rgWorld_Save(scene->world, saved, need), rg_ok);
        SceneStep(scene);
        memcpy(v, rgWorld_Velocities(scene->world, NULL), (size_t)nv * sizeof(double));
        const rgContact* contacts = rgWorld_Contacts(scene->world, &count);
        assert_true(count <= CONTACTS);
        for (int k = 0; k < count; ++k) {
            memcpy(impulses + 6 * k, contacts[k].impulse, sizeof(contacts[k].impulse));
        }
        const rgConstraintForce* others = rgWorld_Constraints(scene->world, &rowCount);
        assert_true(rowCount <= ROWS);
        for (int k = 0; k < rowCount; ++k) {
            rows[k] = others[k];
        }
        uint64_t after = rgWorld_Hash(scene->world);
        assert_int_equal(rgWorld_Restore(scene->world, saved, need), rg_ok);
        rgInverseDef inverse = rgDefaultInverseDef();
        inverse.start = rg_startGiven;
        inverse.snap = snap;
        inverse.impulses = impulses;
        inverse.impulseCount = count;
        inverse.constraints = rows;
        inverse.constraintCount = rowCount;
        rgInverseResult result = Invert(scene, &inverse, v);
        if (result.contact.status != rg_contactSolved) {
            print_message("step %d: status %d, violation %g\n", i, (int)result.contact.status,
                          result.violation);
        }
        assert_int_equal(result.contact.status, rg_contactSolved);
        EXPECT_NEAR(Farthest(result.force, force, nv), 0, tolerance);
        SceneStep(scene); // an inverse call in between changes nothing
        assert_true(rgWorld_Hash(scene->world) == after);
    }
    free(saved);
}

static void RecoverWith(const char* name, double stiffness, double tangential, double size,
                        double snap, double tolerance) {
    rgWorldDef def = rgDefaultWorldDef();
    def.tangentialStiffness = tangential;
    def.tangentialDamping = 1e-3 * tangential;
    def.contact.tolerance = 1e-12;
    def.contact.maxIterations = 1000;
    def.stiffness = stiffness;
    def.damping = 1e-3 * stiffness;
    Scene scene = BuiltScene(name, &def);
    Recover(&scene, 300, size, snap, tolerance);
    SceneEnd(&scene);
}

static void RecoverSprings(const char* name, double stiffness, double tangential, double size,
                           double tolerance) {
    RecoverWith(name, stiffness, tangential, size, 1e-5, tolerance);
}

static void RecoverScene(const char* name, double stiffness, double size, double tolerance) {
    RecoverWith(name, stiffness, 0, size, 1e-6, tolerance);
}

static void test_recover_robots(void** state) {
    (void)state;
    RecoverScene("quadruped", 0, 0.5, 1e-4);      // servos with limits: rows of their own
    RecoverScene("quadruped-fall", 0, 0.5, 1e-4); // floating base that turns
    RecoverScene("arm", 0, 1, 1e-4);
    RecoverScene("hand", 0, 0.01, 1e-4); // free bodies
}

static void test_recover_compliant(void** state) {
    (void)state;
    RecoverScene("quadruped", 1e5, 0.5, 1e-4);
    RecoverScene("quadruped-fall", 1e5, 0.5, 1e-4);
}

static void test_recover_anchored(void** state) {
    (void)state;
    RecoverSprings("quadruped", 0, 1e5, 0.5, 1e-4);
    RecoverSprings("quadruped-fall", 0, 1e5, 0.5, 1e-4);
    RecoverSprings("hand", 0, 1e4, 0.01, 1e-4);
    RecoverSprings("quadruped", 1e5, 1e5, 0.5, 1e-4);
    RecoverSprings("quadruped-fall", 1e5, 1e5, 0.5, 1e-4);
}

// A block that hangs in its tangential springs, to be moved on within the cone and beyond: friction
// is the springs', and the step agrees.
static void MoveAnchored(double stiffness, double speed) {
    double dt = 1e-3, k = 1e4, d = 20, mu = 0.5, weight = 2 * SCENE_G;
    rgWorldDef def = SceneWorldDef(dt, 1e-12);
    def.contact.maxIterations = 1000;
    def.stiffness = stiffness;
    def.damping = 0.01 * stiffness;
    def.tangentialStiffness = k / 4; // of each corner
    def.tangentialDamping = d / 4;
    Scene scene = SceneStart();
    ScenePlane(&scene, mu, rgQuatIdentity());
    Solid solid = SolidOf(rg_shapeBox, rgVec(0.1, 0.1, 0.02), 2, rgVec(0, 0, 0.02));
    solid.material.mu = mu;
    SceneFree(&scene, &solid);
    SceneMake(&scene, &def);
    double load[6] = {3, 0, 0, 0, 0, 0}, vRef[6] = {speed, 0, 0, 0, 0, 0};
    assert_int_equal(rgWorld_SetForce(scene.world, load), rg_ok);
    SceneRun(&scene, 3000);
    const rgContact* contacts = rgWorld_Contacts(scene.world, NULL);
    double s = 0;
    for (int i = 0; i < 4; ++i) {
        s += contacts[i].anchor.x / 4;
    }
    EXPECT_NEAR(s, 3 / k, 1e-9);
    rgInverseDef inverse = rgDefaultInverseDef();
    inverse.start = rg_startForce;
    inverse.normalForce = weight;
    inverse.countRank = true;
    rgInverseResult result = Invert(&scene, &inverse, vRef);
    assert_int_equal(result.contact.status, rg_contactSolved);
    double spring = k * (s + dt * speed) + d * speed,
           friction = fmin(spring, mu * result.contactForce[2]);
    // in body axes, which a compliant floor tilts by 6e-6
    EXPECT_NEAR(result.contactForce[0], -friction, 1e-3);
    EXPECT_NEAR(result.force[0], friction + 2 * speed / dt, 1e-3);
    assert_int_equal(result.openCount, stiffness > 0 ? 0 : 4); // normals
    double force[6];
    memcpy(force, result.force, sizeof(force));
    inverse.feasible = true;
    assert_int_equal(rgWorld_Inverse(scene.world, &inverse, vRef, &result),
                     stiffness > 0 ? rg_ok : rg_errorUnsupported);
    assert_int_equal(rgWorld_SetForce(scene.world, force), rg_ok);
    SceneStep(&scene);
    EXPECT_NEAR(rgWorld_Velocities(scene.world, NULL)[0], speed, 1e-6);
    SceneEnd(&scene);
}

static void test_move_anchored(void** state) {
    (void)state;
    double speeds[] = {0, 0.01, -0.02, 2};
    for (int i = 0; i < 4; ++i) {
        MoveAnchored(0, speeds[i]);
        MoveAnchored(1e6, speeds[i]);
    }
}

static void test_recover_loops(void** state) {
    (void)state;
    // positions are put back on the loops after the step
    RecoverWith("biped", 0, 0, 0.5, 1e-5, 3e-2);
}

// Along the velocities that the step makes of one force, stiffer and stiffer contacts lead to the
// rigid one: the force is found everywhere, and the impulses converge.
static void test_stiff_to_rigid(void** state) {
    (void)state;
    double rigid[6] = {0}, last = INFINITY;
    for (int e = 6; e <= 10; ++e) { // 6: rigid
        rgWorldDef def;
        Scene scene = ArmScene(&def);
        SceneEnd(&scene);
        def.stiffness = e == 6 ? 0 : pow(10, e);
        def.damping = def.stiffness > 0 ? 0.01 * def.stiffness : 0; // T = 10 dt, as rigid ones have
        scene = FileScene("arm_wall", &def);
        double gravity[6], J[3 * CONTACTS][DOFS], v[6], impulses[6] = {0};
        rgDynamicsDef dynamicsDef = rgDefaultDynamicsDef(scene.model);
        rgDynamics* dynamics;
        assert_int_equal(rgCreateDynamics(scene.model, &dynamicsDef, &dynamics), rg_ok);
        rgDynamics_SetPositions(dynamics, rgWorld_Positions(scene.world, NULL));
        rgDynamics_GravityTorque(dynamics, gravity);
        rgDestroyDynamics(dynamics);
        // sink a little, so that the compliant law holds, then push with 20 N
        assert_int_equal(ContactJacobian(&scene, J), 1);
        double q[6], step[6], into[3] = {0, 0, def.stiffness > 0 ? -20 / def.stiffness : 0};
        LeastVelocity(J, 6, into, step);
        for (int i = 0; i < 6; ++i) {
            q[i] = rgWorld_Positions(scene.world, NULL)[i] + step[i];
            gravity[i] -= 20 * J[2][i] + 5 * J[0][i];
        }
        assert_int_equal(rgWorld_SetState(scene.world, q, NULL), rg_ok);
        assert_int_equal(rgWorld_SetForce(scene.world, gravity), rg_ok);
        SceneStep(&scene);
        memcpy(v, rgWorld_Velocities(scene.world, NULL), sizeof(v));
        memcpy(impulses, rgWorld_Contacts(scene.world, NULL)[0].impulse, sizeof(impulses));
        assert_int_equal(rgWorld_SetState(scene.world, q, (double[6]){0}), rg_ok);
        rgInverseDef inverse = rgDefaultInverseDef();
        inverse.start = rg_startGiven;
        inverse.impulses = impulses;
        inverse.impulseCount = 1;
        rgInverseResult result = Invert(&scene, &inverse, v);
        assert_int_equal(result.contact.status, rg_contactSolved);
        EXPECT_NEAR(Farthest(result.force, gravity, 6), 0, 1e-4);
        double found[3];
        memcpy(found, rgWorld_Contacts(scene.world, NULL)[0].impulse, sizeof(found));
        if (e == 6) {
            memcpy(rigid, found, sizeof(found));
        } else {
            double distance = Farthest(found, rigid, 3);
            assert_true(distance < 0.2 * last + 1e-9);
            last = distance;
        }
        SceneEnd(&scene);
    }
    assert_true(last < 1e-4 * rigid[2]);
}

// A body that tumbles about an axis off its centre: its own step is turned around exactly.
static void test_tumbling_body(void** state) {
    (void)state;
    Scene scene = SceneStart();
    Solid brick = SolidOf(rg_shapeBox, rgVec(0.3, 0.1, 0.2), 2, rgVec(0, 0, 3));
    rgBodyDef body = rgDefaultBodyDef();
    body.pose = brick.pose;
    body.inertia = rgInertiaFromShape(brick.kind, brick.size, brick.mass);
    body.inertia.center = rgVec(0.1, -0.2, 0.05);
    rgBodyId id;
    assert_int_equal(rgModelDef_AddBody(scene.def, &body, &id), rg_ok);
    SceneJoint(&scene, id, rg_jointFree, rgVec(0, 0, 0), rgVec(0, 0, 1));
    rgWorldDef def = SceneWorldDef(1e-2, 1e-12);
    SceneMake(&scene, &def);
    double v[6] = {1, -2, 3, 20, -15, 5};
    assert_int_equal(rgWorld_SetState(scene.world, NULL, v), rg_ok);
    rgWorld_ApplyWrench(scene.world, id, rgVec(1, 2, 3), rgVec(0.1, 0.2, 0.3));
    Recover(&scene, 50, 3, 1e-6, 1e-9);
    rgInverseDef inverse = rgDefaultInverseDef();
    double vRef[6] = {0.5, 1, -2, 10, 8, -12};
    EXPECT_NEAR(RoundTrip(&scene, &inverse, vRef).error, 0, 1e-11);
    SceneEnd(&scene);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tumbling_body),     cmocka_unit_test(test_recover_robots),
        cmocka_unit_test(test_recover_compliant), cmocka_unit_test(test_recover_anchored),
        cmocka_unit_test(test_move_anchored),     cmocka_unit_test(test_recover_loops),
        cmocka_unit_test(test_stiff_to_rigid),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
