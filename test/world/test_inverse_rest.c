// Inverse dynamics of a ball at rest that torsional and rolling friction hold: what is open, what
// the step found is found again, what the cones forbid is cut, and least squares use these rows
// too.
#include "inverse.h"
#include "model/def.h"

#define TORSION 0.05
#define ROLLING 0.03

// Gravity pulls along the surface in both directions, a torque twists about the normal.
static Scene HeldBall(double stiffness) {
    Scene scene = SceneStart();
    Solid ball = SolidOf(rg_shapeSphere, rgVec(0.1, 0, 0), 1, rgVec(0, 0, 0.1));
    ball.material.dimension = 6;
    ball.material.mu = 1;
    ball.material.muTorsion = TORSION;
    ball.material.muRolling = ROLLING;
    rgShapeDef floor = rgDefaultShapeDef();
    floor.kind = rg_shapePlane;
    floor.material = ball.material;
    assert_int_equal(rgModelDef_AddShape(scene.def, &floor, NULL), rg_ok);
    rgBodyId id = SceneFree(&scene, &ball);
    rgWorldDef def = SceneWorldDef(1e-3, 1e-12);
    def.stiffness = stiffness;
    def.damping = 0.02 * stiffness;
    def.hasGravity = true;
    def.gravity = rgVec(1.6, 1.2, -9.7);
    SceneMake(&scene, &def);
    assert_int_equal(rgWorld_ApplyWrench(scene.world, id, rgVec(0, 0, 0), rgVec(0, 0, 0.2)), rg_ok);
    SceneRun(&scene, stiffness > 0 ? 3000 : 3);
    assert_true(Largest(rgWorld_Velocities(scene.world, NULL), 6) < 1e-8);
    return scene;
}

// The impulses of the step at rest come back, and nothing more is needed.
static void test_step_is_recovered(void** state) {
    (void)state;
    for (int soft = 0; soft < 2; ++soft) {
        Scene scene = HeldBall(soft ? 1e5 : 0);
        SceneStep(&scene);
        rgContact held = rgWorld_Contacts(scene.world, NULL)[0];
        for (int k = 3; k < 6; ++k) {
            assert_true(fabs(held.impulse[k]) > 1e-5);
        }
        double still[6] = {0};
        rgInverseDef inverse = rgDefaultInverseDef();
        inverse.start = rg_startGiven;
        inverse.impulses = held.impulse;
        inverse.impulseCount = 1;
        rgInverseResult result = Invert(&scene, &inverse, still);
        assert_int_equal(result.contact.status, rg_contactSolved);
        assert_int_equal(result.openCount, soft ? 5 : 6);
        EXPECT_NEAR(Largest(result.force, 6), 0, 1e-5);
        const rgContact* found = rgWorld_Contacts(scene.world, NULL);
        EXPECT_NEAR(Farthest(found->impulse, held.impulse, 6), 0, 1e-8);
        SceneEnd(&scene);
    }
}

// More than the normal impulse allows is cut to what it allows, each row on its own terms.
static void test_excess_is_cut(void** state) {
    (void)state;
    for (int soft = 0; soft < 2; ++soft) {
        Scene scene = HeldBall(soft ? 1e5 : 0);
        SceneStep(&scene);
        double start[6], still[6] = {0};
        memcpy(start, rgWorld_Contacts(scene.world, NULL)[0].impulse, sizeof(start));
        start[3] = -2 * TORSION * start[2];
        start[4] = 2 * ROLLING * start[2];
        start[5] = 0;
        rgInverseDef inverse = rgDefaultInverseDef();
        inverse.start = rg_startGiven;
        inverse.impulses = start;
        inverse.impulseCount = 1;
        Invert(&scene, &inverse, still);
        const double* impulse = rgWorld_Contacts(scene.world, NULL)[0].impulse;
        // the proximal step of a rigid contact trades normal for friction; a soft normal is given
        if (soft) {
            EXPECT_NEAR(impulse[2], start[2], 1e-8);
        }
        EXPECT_NEAR(impulse[3] / impulse[2], -TORSION, 1e-6);
        EXPECT_NEAR(impulse[4] / impulse[2], ROLLING, 1e-6);
        EXPECT_NEAR(impulse[5] / impulse[2], 0, 1e-6);
        SceneEnd(&scene);
    }
}

// From no impulses at all, least squares find those that hold the ball: torque about the normal is
// had from torsion alone, and the moment of gravity about the point from rolling friction.
static void test_feasible_holds(void** state) {
    (void)state;
    for (int soft = 0; soft < 2; ++soft) {
        Scene scene = HeldBall(soft ? 1e5 : 0);
        double still[6] = {0}, dt = rgWorld_TimeStep(scene.world);
        rgInverseDef inverse = rgDefaultInverseDef();
        inverse.feasible = true;
        rgInverseResult result = Invert(&scene, &inverse, still);
        EXPECT_NEAR(Missing(result), 0, 1e-4);
        const rgContact* contact = rgWorld_Contacts(scene.world, NULL);
        rgVec3 turn = rgAddScaled(rgScale(contact->impulse[4], contact->tangent1),
                                  contact->impulse[5], contact->tangent2);
        EXPECT_NEAR(contact->impulse[3], -dt * 0.2, 1e-6);
        EXPECT_NEAR(turn.x, dt * 0.1 * 1.2, 1e-6);
        EXPECT_NEAR(turn.y, -dt * 0.1 * 1.6, 1e-6);
        SceneEnd(&scene);
    }
}

// A ball whose centre of mass is beside its middle, in a groove of two soft planes: each normal
// force, which the gap gives, pushes along the other plane, and friction makes up for all of it.
static void test_feasible_in_a_groove(void** state) {
    (void)state;
    Scene scene = SceneStart();
    for (int side = -1; side <= 1; side += 2) {
        ScenePlane(&scene, 1, rgQuatFromAxisAngle(rgVec(0, 1, 0), side * atan2(0.6, 0.8)));
    }
    Solid ball = SolidOf(rg_shapeSphere, rgVec(0.1, 0, 0), 1, rgVec(0, 0, 0.125));
    ball.material.mu = 1;
    rgBodyId id = SceneFree(&scene, &ball);
    scene.def->bodies[id.index1 - 1].inertia.center = rgVec(0.01, 0, -0.04);
    rgWorldDef def = SceneWorldDef(1e-3, 1e-12);
    def.stiffness = 1e5;
    def.damping = 2e3;
    SceneMake(&scene, &def);
    SceneRun(&scene, 3000);
    assert_true(Largest(rgWorld_Velocities(scene.world, NULL), 6) < 1e-8);
    double still[6] = {0};
    rgInverseDef inverse = rgDefaultInverseDef();
    inverse.feasible = true;
    rgInverseResult result = Invert(&scene, &inverse, still);
    EXPECT_NEAR(Missing(result), 0, 1e-4);
    SceneEnd(&scene);
}

// A ball of three moments about a centre beside its middle rolls: the step that it makes takes no
// force beside those of the contact.
static void test_feasible_while_rolling(void** state) {
    (void)state;
    Scene scene = SceneStart();
    ScenePlane(&scene, 1, rgQuatIdentity());
    Solid ball = SolidOf(rg_shapeSphere, rgVec(0.1, 0, 0), 1, rgVec(0, 0, 0.1));
    ball.material.mu = 1;
    rgBodyId id = SceneFree(&scene, &ball);
    rgInertia* inertia = &scene.def->bodies[id.index1 - 1].inertia;
    inertia->center = rgVec(0.02, -0.01, 0.03);
    inertia->moment = (rgSym3){.xx = 0.004, .yy = 0.006, .zz = 0.009};
    rgWorldDef def = SceneWorldDef(1e-3, 1e-12);
    SceneMake(&scene, &def);
    double rolling[6] = {-0.5, -0.3, 0, 3, -5, 20}, next[6];
    SceneSetVelocity(&scene, 0, 6, rolling);
    SceneRun(&scene, 3);
    size_t bytes = rgWorld_StateSize(scene.world);
    void* saved = malloc(bytes);
    assert_int_equal(rgWorld_Save(scene.world, saved, bytes), rg_ok);
    SceneStep(&scene);
    memcpy(next, rgWorld_Velocities(scene.world, NULL), sizeof(next));
    assert_int_equal(rgWorld_Restore(scene.world, saved, bytes), rg_ok);
    free(saved);
    rgInverseDef inverse = rgDefaultInverseDef();
    inverse.feasible = true;
    rgInverseResult result = Invert(&scene, &inverse, next);
    EXPECT_NEAR(Missing(result), 0, 1e-4);
    SceneEnd(&scene);
}

// Spinning about the normal and at rest otherwise: torsion follows the spin, rolling stays open.
static void test_spin_takes_torsion(void** state) {
    (void)state;
    Scene scene = HeldBall(0);
    double spin[6] = {0, 0, 0, 0, 0, 3};
    SceneSetVelocity(&scene, 0, 6, spin);
    rgInverseDef inverse = rgDefaultInverseDef();
    inverse.start = rg_startForce;
    inverse.normalForce = 9.7;
    rgInverseResult result = Invert(&scene, &inverse, spin);
    assert_int_equal(result.contact.status, rg_contactSolved);
    assert_int_equal(result.openCount, 5);
    const double* impulse = rgWorld_Contacts(scene.world, NULL)[0].impulse;
    EXPECT_NEAR(impulse[3], -TORSION * impulse[2], 1e-9);
    EXPECT_NEAR(impulse[4], 0, 1e-9);
    SceneEnd(&scene);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_step_is_recovered),      cmocka_unit_test(test_excess_is_cut),
        cmocka_unit_test(test_feasible_holds),         cmocka_unit_test(test_feasible_in_a_groove),
        cmocka_unit_test(test_feasible_while_rolling), cmocka_unit_test(test_spin_takes_torsion),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
