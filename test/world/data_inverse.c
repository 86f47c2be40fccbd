// The paper's experiment on inverse dynamics: the UR5 slides its end effector on a rigid wall.
#include "scene.h"

#define RADIUS 0.03

static Scene LoadUr5(const rgWorldDef* def, const double* q) {
    Scene scene = {0};
    assert_int_equal(rgLoadModelDef(rgDataPath("robots/ur5/ur5.xml"), NULL, NULL, &scene.def),
                     rg_ok);
    SceneMake(&scene, def);
    rgShapeDef ball = rgDefaultShapeDef(), wall = rgDefaultShapeDef();
    ball.body = rgModel_FindBody(scene.model, "wrist_3_link");
    ball.kind = rg_shapeSphere;
    ball.size = rgVec(RADIUS, 0, 0);
    ball.pose.p = rgVec(0, 0.11, 0);
    ball.group = ball.mask = wall.group = wall.mask = 1u << 20;
    assert_int_equal(rgWorld_SetState(scene.world, q, NULL), rg_ok);
    rgVec3 tool = rgPose_Point(rgWorld_BodyPose(scene.world, ball.body), ball.pose.p);
    wall.kind = rg_shapePlane;
    wall.pose.p = rgVec(tool.x + RADIUS, 0, 0);
    wall.pose.q = rgQuatFromAxisAngle(rgVec(0, 1, 0), -1.5707963267948966);
    assert_int_equal(rgModelDef_AddShape(scene.def, &ball, NULL), rg_ok);
    assert_int_equal(rgModelDef_AddShape(scene.def, &wall, NULL), rg_ok);
    rgDestroyWorld(scene.world);
    rgDestroyModel(scene.model);
    scene.model = NULL;
    SceneMake(&scene, def);
    assert_int_equal(rgWorld_SetState(scene.world, q, NULL), rg_ok);
    return scene;
}

// v with J v = c for the one contact, by Kaczmarz sweeps: slow, short and independent.
static void Reach(const rgWorld* world, const double* c, double* v) {
    const rgContactProblem* problem = rgWorld_Problem(world, NULL);
    const rgSparse* J = &problem->delassus.jacobian;
    int first = problem->rowCount - 3;
    memset(v, 0, 6 * sizeof(double));
    for (int sweep = 0; sweep < 2000; ++sweep) {
        int r = first + sweep % 3;
        double error = c[sweep % 3], norm = 0;
        for (int k = J->rowStart[r]; k < J->rowStart[r + 1]; ++k) {
            error -= J->value[k] * v[J->column[k]];
            norm += J->value[k] * J->value[k];
        }
        for (int k = J->rowStart[r]; k < J->rowStart[r + 1]; ++k) {
            v[J->column[k]] += error / norm * J->value[k];
        }
    }
}

static void test_ur5_slides(void** state) {
    (void)state;
    const double quarter = 1.5707963267948966;
    const double q[6] = {0, 0.6 - quarter, 0.633, -1.233 - quarter, -quarter, 0};
    rgWorldDef def = SceneWorldDef(1e-3, 1e-10);
    def.friction = 0.5;
    Scene scene = LoadUr5(&def, q);
    for (int i = 0; i < 500; ++i) {
        int count;
        double v[6], pressing[6] = {0, 0, 0.02}, angle = 0.0126 * i;
        assert_int_equal(rgWorld_Forward(scene.world, NULL), rg_ok);
        const rgContact* contact = rgWorld_Contacts(scene.world, &count);
        assert_int_equal(count, 1);
        double gap = contact->gap;
        double speed = 0.1 * fmin(1, (i + 1) / 100.0);
        double c[3] = {speed * cos(angle), speed * sin(angle), -gap / (gap > 0 ? 1e-3 : 11e-3)};
        Reach(scene.world, c, v);
        rgInverseDef inverse = rgDefaultInverseDef();
        rgInverseResult result;
        inverse.start = rg_startGiven; // the paper's: a normal impulse
        inverse.impulses = pressing;
        inverse.impulseCount = 1;
        assert_int_equal(rgWorld_Inverse(scene.world, &inverse, v, &result), rg_ok);
        assert_int_equal(result.contact.status, rg_contactSolved);
        assert_int_equal(result.contact.iterationCount, 1);
        inverse.start = rg_startForce; // the wanted force
        inverse.normalForce = 20;
        inverse.model = rg_modelCcp;
        assert_int_equal(rgWorld_Inverse(scene.world, &inverse, v, &result), rg_ok);
        assert_int_equal(result.contact.status, rg_contactInfeasible);
        assert_true(fabs(result.force[1]) > 1e6); // the convex model diverges
        inverse.model = rg_modelNcp;
        assert_int_equal(rgWorld_Inverse(scene.world, &inverse, v, &result), rg_ok);
        assert_int_equal(result.contact.status, rg_contactSolved);
        assert_true(result.contact.iterationCount <= 2);
        assert_int_equal(rgWorld_SetForce(scene.world, result.force), rg_ok);
        SceneStep(&scene);
        contact = rgWorld_Contacts(scene.world, NULL);
        EXPECT_NEAR(contact->impulse[2], 0.02, 1e-7);
        EXPECT_NEAR(hypot(contact->impulse[0], contact->impulse[1]), 0.01, 1e-7);
        for (int k = 0; k < 6; ++k) {
            EXPECT_NEAR(rgWorld_Velocities(scene.world, NULL)[k], v[k], 1e-8);
        }
    }
    SceneEnd(&scene);
}

int main(void) {
    if (!rgHaveData("robots/ur5/ur5.xml")) {
        return 77;
    }
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_ur5_slides)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
