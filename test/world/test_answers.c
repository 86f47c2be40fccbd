// One answer among many, and how right it is at the default tolerance: tables, grasps at the
// friction limit, mass ratios, fast sliding, light on heavy, accuracies, jams.
#include "rigor/scene.h"
#include "scene.h"

static rgWorldDef DefaultDef(double dt) {
    rgWorldDef def = rgDefaultWorldDef();
    def.timeStep = dt;
    return def;
}

// A table of 12 kg on four legs at (+-0.5, +-0.4), with 5 kg at (0.2, 0.1): hyperstatic. Of all
// forces that would do, equal compliance of the legs chooses f = W/4 + a x + b y.
static void test_table_legs(void** state) {
    (void)state;
    Scene scene = SceneStart();
    ScenePlane(&scene, 0.5, rgQuatIdentity());
    Solid top = SolidOf(rg_shapeBox, rgVec(0.55, 0.45, 0.02), 12, rgVec(0, 0, 0.72));
    rgBodyId table = SceneFree(&scene, &top);
    for (int i = 0; i < 4; ++i) {
        rgShapeDef leg = rgDefaultShapeDef();
        leg.body = table;
        leg.kind = rg_shapeSphere;
        leg.size = rgVec(0.02, 0, 0);
        leg.pose.p = rgVec(i & 1 ? 0.5 : -0.5, i & 2 ? 0.4 : -0.4, -0.7);
        assert_int_equal(rgModelDef_AddShape(scene.def, &leg, NULL), rg_ok);
    }
    SceneCube(&scene, 0.03, 5, rgVec(0.2, 0.1, 0.77), 0.5);
    rgWorldDef def = DefaultDef(1e-3);
    SceneMake(&scene, &def);
    SceneRun(&scene, 100);
    double first[4] = {0};
    for (int step = 0; step < 2000; ++step) {
        rgStepReport report = SceneStep(&scene);
        assert_int_equal(report.contact.status, rg_contactSolved);
        int count, legs = 0;
        const rgContact* contacts = rgWorld_Contacts(scene.world, &count);
        for (int i = 0; i < count; ++i) {
            if (contacts[i].bodyA.index1 != 0 || contacts[i].gap > 1e-6) {
                continue; // the load on the table
            }
            double x = contacts[i].point.x > 0 ? 0.5 : -0.5,
                   y = contacts[i].point.y > 0 ? 0.4 : -0.4;
            double force = contacts[i].force.z;
            double expected = SCENE_G * (17. / 4 + 5 * 0.2 * x / 1 + 5 * 0.1 * y / 0.64);
            EXPECT_NEAR(force, expected, 0.01 * expected);
            int leg = (x > 0) + 2 * (y > 0);
            first[leg] = step == 0 ? force : first[leg];
            EXPECT_NEAR(force, first[leg], 1e-6 * first[leg]);
            ++legs;
        }
        assert_int_equal(legs, 4);
    }
    SceneEnd(&scene);
}

typedef struct Grasp {
    bool disc;
    double half;   // of the object
    double mass;   // of the object
    double mu;     // of all
    double margin; // friction that there is over friction that is needed
    double press;  // [N], out
} Grasp;

static Scene MakeGrasp(Grasp* grasp, rgBodyId* object) {
    Scene scene = SceneStart();
    double h = grasp->half;
    for (int i = 0; i < 2; ++i) {
        double side = i == 0 ? -1 : 1;
        Solid plate =
            SolidOf(rg_shapeBox, rgVec(0.01, 0.1, 0.1), 0.1, rgVec(side * (h + 0.01), 0, 1));
        plate.material.mu = grasp->mu;
        rgBodyId finger = SceneBody(&scene, &plate, (rgBodyId){0});
        rgJointId slider =
            SceneJoint(&scene, finger, rg_jointPrismatic, rgVec(0, 0, 0), rgVec(-side, 0, 0));
        rgActuatorDef motor = rgDefaultActuatorDef();
        motor.joint = slider;
        assert_int_equal(rgModelDef_AddActuator(scene.def, &motor, NULL), rg_ok);
    }
    Solid solid =
        SolidOf(grasp->disc ? rg_shapeCylinder : rg_shapeBox,
                grasp->disc ? rgVec(h, h, 0) : rgVec(h, h, h), grasp->mass, rgVec(0, 0, 1));
    solid.pose.q = grasp->disc ? rgQuatFromRotationVector(rgVec(0, acos(0), 0)) : solid.pose.q;
    solid.material.mu = grasp->mu;
    *object = SceneFree(&scene, &solid);
    rgWorldDef def = DefaultDef(1e-3);
    SceneMake(&scene, &def);
    grasp->press = grasp->margin * grasp->mass * SCENE_G / (2 * grasp->mu);
    double press[2] = {grasp->press, grasp->press};
    assert_int_equal(rgWorld_SetControl(scene.world, press), rg_ok);
    return scene;
}

// Flat faces that friction can hold are held, however little friction there is to spare.
static void test_grasps_at_the_limit(void** state) {
    (void)state;
    static const double margins[] = {1.01, 1.05, 1.1, 1.2, 1.5};
    rgRandom random = {11};
    int slipped = 0;
    for (int k = 0; k < rgFewer(250); ++k) {
        Grasp grasp = {.disc = k % 2,
                       .half = rgRandom_Uniform(&random, 0.01, 0.04),
                       .mass = pow(10, rgRandom_Uniform(&random, -2, 0.5)),
                       .mu = rgRandom_Uniform(&random, 0.2, 1),
                       .margin = margins[k / 2 % 5]};
        rgBodyId object;
        Scene scene = MakeGrasp(&grasp, &object);
        SceneRun(&scene, 300);
        slipped += !(fabs(SceneBodyPoint(&scene, object).z - 1) < 1e-6);
        SceneEnd(&scene);
    }
    assert_int_equal(slipped, 0);
}

// The forces of a held object stay what they are.
static void test_grasp_forces_are_steady(void** state) {
    (void)state;
    Grasp grasp = {.half = 0.02, .mass = 0.05, .mu = 0.6, .margin = 3};
    rgBodyId object;
    Scene scene = MakeGrasp(&grasp, &object);
    SceneRun(&scene, 200);
    double first[16];
    for (int step = 0; step < rgFewer(60000); ++step) {
        SceneStep(&scene);
        int count;
        const rgContact* contacts = rgWorld_Contacts(scene.world, &count);
        assert_int_equal(count, 8);
        for (int i = 0; i < count; ++i) {
            double force = rgLength(contacts[i].force);
            first[i] = step == 0 ? force : first[i];
            EXPECT_NEAR(force, first[i], 0.01 * first[i]);
        }
    }
    EXPECT_NEAR(SceneBodyPoint(&scene, object).z, 1, 1e-7);
    SceneEnd(&scene);
}

// 1 kg under 10^4 to 10^8 kg stands, every step is solved, and the forces are right.
static void test_mass_ratios(void** state) {
    (void)state;
    for (double heavy = 1e4; heavy <= 1e8; heavy *= 10) {
        Scene scene = SceneStart();
        ScenePlane(&scene, 0.9, rgQuatIdentity());
        SceneCube(&scene, 0.1, 1, rgVec(0, 0, 0.1), 0.9);
        SceneCube(&scene, 0.1, heavy, rgVec(0, 0, 0.3), 0.9);
        rgWorldDef def = DefaultDef(1e-3);
        SceneMake(&scene, &def);
        SceneRun(&scene, 1000);
        assert_int_equal(rgWorld_UnconvergedSteps(scene.world), 0);
        assert_int_equal(rgWorld_RegularizedSteps(scene.world), 0);
        EXPECT_NEAR(SceneBodyPoint(&scene, (rgBodyId){1}).z, 0.1, 1e-7);
        EXPECT_NEAR(SceneBodyPoint(&scene, (rgBodyId){2}).z, 0.3, 1e-7);
        EXPECT_NEAR(rgWorld_ContactForce(scene.world, (rgBodyId){2}).z, heavy * SCENE_G,
                    1e-3 * heavy * SCENE_G);
        SceneEnd(&scene);
    }
}

// A gram on ten tonnes on a slope: the residual of the light one counts as much.
static void test_light_on_heavy_does_not_creep(void** state) {
    (void)state;
    double slope = 0.3;
    rgQuat tilt = rgQuatFromRotationVector(rgVec(0, slope, 0));
    rgVec3 up = rgRotate(tilt, rgVec(0, 0, 1));
    Scene scene = SceneStart();
    ScenePlane(&scene, 0.6, tilt);
    Solid block = SolidOf(rg_shapeBox, rgVec(1, 1, 0.5), 1e4, rgScale(0.5, up));
    block.pose.q = tilt;
    block.material.mu = 0.6;
    SceneFree(&scene, &block);
    Solid gram = SolidOf(rg_shapeBox, rgVec(0.01, 0.01, 0.01), 1e-3, rgScale(1.01, up));
    gram.pose.q = tilt;
    gram.material.mu = 0.6;
    rgBodyId light = SceneFree(&scene, &gram);
    rgWorldDef def = DefaultDef(1e-3);
    SceneMake(&scene, &def);
    SceneRun(&scene, 100);
    rgVec3 start = SceneBodyPoint(&scene, light);
    SceneRun(&scene, 2000);
    EXPECT_NEAR(rgLength(rgSub(SceneBodyPoint(&scene, light), start)), 0, 2e-6);
    assert_int_equal(rgWorld_UnconvergedSteps(scene.world), 0);
    SceneEnd(&scene);
}

// However fast it slides, a block weighs what it weighs and brakes by mu times that.
static void test_fast_sliding(void** state) {
    (void)state;
    for (double speed = 1; speed <= 100; speed *= 10) {
        Scene scene = SceneStart();
        ScenePlane(&scene, 0.3, rgQuatIdentity());
        SceneCube(&scene, 0.1, 2, rgVec(0, 0, 0.1), 0.3);
        rgWorldDef def = DefaultDef(1e-3);
        SceneMake(&scene, &def);
        SceneSetVelocity(&scene, 0, 1, &speed);
        for (int i = 0; i < 200; ++i) {
            SceneStep(&scene);
            rgVec3 force = rgWorld_ContactForce(scene.world, (rgBodyId){1});
            EXPECT_NEAR(force.z, 2 * SCENE_G, 1e-3 * 2 * SCENE_G);
            EXPECT_NEAR(force.x, -0.3 * 2 * SCENE_G, 1e-3 * 2 * SCENE_G);
        }
        SceneEnd(&scene);
    }
}

// ---- an accuracy above the tolerance ----

static rgWorld* SceneWorld(const char* name, int count, const rgWorldDef* def, rgModel** model) {
    const rgSceneInfo* info = rgFindScene(name);
    rgSceneDef scene = rgDefaultSceneDef();
    scene.count = count;
    rgModelDef* made = NULL;
    rgWorld* world = NULL;
    assert_int_equal(rgBuildScene(info, &scene, NULL, &made), rg_ok);
    assert_int_equal(rgCompileModel(made, NULL, NULL, model), rg_ok);
    rgDestroyModelDef(made);
    assert_int_equal(rgCreateWorld(*model, def, NULL, &world), rg_ok);
    assert_int_equal(rgScene_Start(info, world), rg_ok);
    return world;
}

static double WorldEnergy(const rgWorld* world) {
    return rgWorld_KineticEnergy(world) + rgWorld_PotentialEnergy(world);
}

// What the world carries, from the last step's contacts [N].
static double WorldLoad(rgWorld* world) {
    int count;
    double sum = 0;
    const rgContact* contacts = rgWorld_Contacts(world, &count);
    for (int i = 0; i < count; ++i) {
        sum += contacts[i].bodyA.index1 == 0 ? contacts[i].force.z : 0;
    }
    return sum;
}

// A heap falls and comes to rest. Every step has the accuracy, and says so; energy rises by no more
// than with exact solutions (1.6e-6 J in a step, of what rolls); at rest nothing sinks, and the
// floor carries the weight.
static void test_accuracy_of_a_heap(void** state) {
    (void)state;
    for (int k = 0; k < 2; ++k) {
        rgModel* model;
        rgWorldDef def = DefaultDef(2e-3);
        def.contact.accuracy = k == 0 ? 1e-2 : 1e-3;
        rgWorld* world = SceneWorld("pile", 30, &def, &model);
        double energy = WorldEnergy(world), weight = 0, load = 0, deepest = 0;
        int rough = 0;
        for (int i = 0; i < 1500; ++i) {
            rgStepReport report;
            assert_int_equal(rgWorld_Step(world, &report), rg_ok);
            assert_int_equal(report.contact.status, rg_contactSolved);
            assert_true(report.contact.residual.total <= def.contact.accuracy);
            rough += report.contact.residual.total > 1e-6;
            double now = WorldEnergy(world);
            assert_true(now <= energy + report.projectionWork + 1e-5); // as to 1e-6
            energy = now;
            load += i >= 1250 ? WorldLoad(world) / 250 : 0;
            deepest = i >= 1250 ? fmax(deepest, report.penetration) : 0;
            weight = 9.81 * rgModel_Info(model).mass;
        }
        assert_true(rough > 100);
        assert_true(deepest < 1e-6);
        EXPECT_NEAR(load, weight, 1e-4 * weight);
        assert_int_equal(rgWorld_UnconvergedSteps(world), 0);
        rgDestroyWorld(world);
        rgDestroyModel(model);
    }
}

// 10^4 kg on 1 kg, which a compliance of that accuracy around zero impulses would let fall: the
// wall stands, because the proximal term becomes smaller where the residual does not fall.
static void test_accuracy_of_a_wall(void** state) {
    (void)state;
    rgModel* model;
    rgWorldDef def = DefaultDef(1e-3);
    def.contact.accuracy = 1e-2;
    rgWorld* world = SceneWorld("wall3x5", 0, &def, &model);
    double height = rgWorld_BodyPose(world, (rgBodyId){14}).p.z;
    double residual = 0;
    for (int i = 0; i < 1000; ++i) {
        rgStepReport report;
        assert_int_equal(rgWorld_Step(world, &report), rg_ok);
        residual = fmax(residual, report.contact.residual.total);
    }
    assert_true(residual <= 1e-2);
    EXPECT_NEAR(rgWorld_BodyPose(world, (rgBodyId){14}).p.z, height, 1e-6);
    rgDestroyWorld(world);
    rgDestroyModel(model);
}

// A cube that exactly fits between two walls has two answers: it falls, or the walls press on it
// and friction holds it. Where the search starts decides.
static void test_start_of_the_search(void** state) {
    (void)state;
    const double half = 0.1, dt = 1e-3;
    Scene scene = SceneStart();
    for (int i = 0; i < 2; ++i) {
        Solid wall = SolidOf(rg_shapeBox, rgVec(half, half, half), 1,
                             rgVec(i == 0 ? -2 * half : 2 * half, 0, 1));
        wall.material.mu = 0.5;
        SceneBody(&scene, &wall, (rgBodyId){0});
    }
    rgBodyId cube = SceneCube(&scene, half, 1, rgVec(0, 0, 1), 0.5);
    rgWorldDef def = DefaultDef(dt);
    SceneMake(&scene, &def);
    double start[7];
    memcpy(start, rgWorld_Positions(scene.world, NULL), sizeof(start));
    SceneStep(&scene);
    EXPECT_NEAR(rgWorld_BodyVelocity(scene.world, cube).linear.z, -SCENE_G * dt, 1e-9);

    int count;
    const rgContact* contacts = rgWorld_Contacts(scene.world, &count);
    assert_int_equal(count, 8); // four on each side
    double impulses[8 * 6] = {0};
    for (int i = 0; i < count; ++i) {
        rgVec3 hold = rgVec(0, 0, (contacts[i].bodyB.index1 == cube.index1 ? 1 : -1) / 8.0);
        impulses[6 * i] = SCENE_G * dt * rgDot(hold, contacts[i].tangent1);
        impulses[6 * i + 1] = SCENE_G * dt * rgDot(hold, contacts[i].tangent2);
        impulses[6 * i + 2] = SCENE_G * dt;
    }
    assert_int_equal(rgWorld_SetState(scene.world, start, NULL), rg_ok);
    assert_int_equal(rgWorld_SetImpulses(scene.world, impulses, count), rg_ok);
    rgStepReport report = SceneStep(&scene);
    assert_int_equal(report.contact.status, rg_contactSolved);
    EXPECT_NEAR(rgWorld_BodyVelocity(scene.world, cube).linear.z, 0, 1e-6);

    // The search finds either answer from the other one, and changes nothing.
    for (int held = 1; held >= 0; --held) {
        rgAnswers answers;
        double found[8 * 6];
        uint64_t hash = rgWorld_Hash(scene.world);
        assert_int_equal(rgWorld_FindAnswers(scene.world, NULL, found, &answers), rg_ok);
        assert_true(answers.motionDiffers && answers.block >= 0);
        EXPECT_NEAR(answers.velocity, SCENE_G * dt, 1e-8);
        assert_true(rgWorld_Hash(scene.world) == hash);
        assert_int_equal(rgWorld_SetState(scene.world, start, NULL), rg_ok);
        assert_int_equal(rgWorld_SetImpulses(scene.world, found, count), rg_ok);
        SceneStep(&scene);
        EXPECT_NEAR(rgWorld_BodyVelocity(scene.world, cube).linear.z, held ? -SCENE_G * dt : 0,
                    1e-6);
    }
    assert_int_equal(rgWorld_FindAnswers(scene.world, NULL, NULL, NULL), rg_errorArgument);

    // All contacts of a step, and numbers.
    assert_int_equal(rgWorld_SetImpulses(scene.world, impulses, count - 1), rg_errorArgument);
    impulses[3] = NAN;
    assert_int_equal(rgWorld_SetImpulses(scene.world, impulses, count), rg_errorArgument);
    assert_int_equal(rgWorld_SetImpulses(scene.world, NULL, count), rg_errorArgument);
    assert_int_equal(rgWorld_Reset(scene.world, (rgKeyId){0}), rg_ok);
    impulses[3] = 0;
    assert_int_equal(rgWorld_SetImpulses(scene.world, impulses, count), rg_errorArgument);
    SceneEnd(&scene);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_start_of_the_search),
        cmocka_unit_test(test_table_legs),
        cmocka_unit_test(test_grasps_at_the_limit),
        cmocka_unit_test(test_grasp_forces_are_steady),
        cmocka_unit_test(test_mass_ratios),
        cmocka_unit_test(test_light_on_heavy_does_not_creep),
        cmocka_unit_test(test_fast_sliding),
        cmocka_unit_test(test_accuracy_of_a_heap),
        cmocka_unit_test(test_accuracy_of_a_wall),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
