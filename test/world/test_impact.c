// Normal forces: rebound, compliance, the rigid limit, no force at a distance, energy.
#include "scene.h"

static Scene Ball(double radius, double height, const rgWorldDef* def) {
    Scene scene = SceneStart();
    ScenePlane(&scene, 0.5, rgQuatIdentity());
    Solid ball = SolidOf(rg_shapeSphere, rgVec(radius, 0, 0), 1, rgVec(0, 0, height));
    ball.material.mu = 0.5;
    SceneFree(&scene, &ball);
    SceneMake(&scene, def);
    return scene;
}

// Height after the first rebound.
static void test_rebound(void** state) {
    (void)state;
    double h = 1, dt = 1e-3;
    for (double e = 0; e <= 1; e += 0.25) {
        rgWorldDef def = SceneWorldDef(dt, 1e-10);
        def.restitution = e;
        Scene scene = Ball(0.1, 0.1 + h, &def);
        double top = 0;
        bool bounced = false;
        for (int i = 0; i < 1100 && !(bounced && rgWorld_Velocities(scene.world, NULL)[2] < 0);
             ++i) {
            SceneStep(&scene);
            bounced = bounced || rgWorld_Velocities(scene.world, NULL)[2] >= 0;
            top = bounced ? fmax(top, SceneBodyPoint(&scene, (rgBodyId){1}).z - 0.1) : 0;
        }
        EXPECT_NEAR(top, e * e * h, 2 * dt * sqrt(2 * SCENE_G * h));
        SceneEnd(&scene);
    }
}

// The materials' springs in series: half of each.
static void test_material_stiffness(void** state) {
    (void)state;
    Scene scene = SceneStart();
    rgShapeDef floor = rgDefaultShapeDef();
    floor.kind = rg_shapePlane;
    floor.material.stiffness = 2e4;
    floor.material.damping = 400;
    assert_int_equal(rgModelDef_AddShape(scene.def, &floor, NULL), rg_ok);
    Solid ball = SolidOf(rg_shapeSphere, rgVec(0.1, 0, 0), 1, rgVec(0, 0, 0.1));
    ball.material.stiffness = 2e4;
    ball.material.damping = 400;
    SceneFree(&scene, &ball);
    rgWorldDef def = SceneWorldDef(1e-3, 1e-10);
    SceneMake(&scene, &def);
    SceneRun(&scene, 2000);
    EXPECT_NEAR(0.1 - SceneBodyPoint(&scene, (rgBodyId){1}).z, SCENE_G / 1e4, 1e-8);
    SceneEnd(&scene);
}

// Stiffness to infinity at fixed d/k: the trajectory of a ball that touches goes to the rigid one,
// by the inverse of k.
static double SoftDifference(double k) {
    double dt = 1e-3, T = 10 * dt;
    rgWorldDef rigid = SceneWorldDef(dt, 1e-12), soft = rigid;
    soft.stiffness = k;
    soft.damping = k * T;
    Scene a = Ball(0.1, 0.1, &rigid), b = Ball(0.1, 0.1, &soft);
    double v[6] = {0.5, 0, 0, 0, 0, 0};
    SceneSetVelocity(&a, 0, 6, v);
    SceneSetVelocity(&b, 0, 6, v);
    SceneRun(&a, 100);
    SceneRun(&b, 100);
    double difference =
        rgLength(rgSub(SceneBodyPoint(&a, (rgBodyId){1}), SceneBodyPoint(&b, (rgBodyId){1})));
    SceneEnd(&a);
    SceneEnd(&b);
    return difference;
}

static void test_compliance_goes_to_rigid(void** state) {
    (void)state;
    double coarse = SoftDifference(1e6), fine = SoftDifference(1e8);
    assert_true(coarse < 1e-4);
    EXPECT_NEAR(coarse / fine, 100, 5);
    assert_true(SoftDifference(1e12) < 1e-10);
}

// lambda_n = 0 whenever the gap stays open: phi + dt c_n > 0, rigid and compliant.
static void test_no_force_at_a_distance(void** state) {
    (void)state;
    for (int soft = 0; soft < 2; ++soft) {
        rgWorldDef def = SceneWorldDef(1e-3, 1e-10);
        def.stiffness = soft ? 1e5 : 0;
        def.damping = soft ? 100 : 0;
        Scene scene = SceneStart();
        ScenePlane(&scene, 0.5, rgQuatIdentity());
        SceneCube(&scene, 0.1, 1, rgVec(0, 0, 0.25), 0.5);
        SceneMake(&scene, &def);
        SceneSetVelocity(&scene, 0, 6, (double[]){0.3, 0, 0, 2, 1, 0.5});
        int seen = 0;
        for (int i = 0; i < 600; ++i) {
            SceneStep(&scene);
            int count;
            const rgContactProblem* problem = rgWorld_Problem(scene.world, NULL);
            const rgContact* contacts = rgWorld_Contacts(scene.world, &count);
            const double* lambda;
            rgWorld_Problem(scene.world, &lambda);
            double sigma[64];
            assert_true(problem->rowCount <= 64);
            if (problem->rowCount == 0) {
                continue;
            }
            assert_int_equal(rgContactProblem_Velocity(problem, lambda, sigma), rg_ok);
            for (int c = 0; c < count; ++c) {
                if (contacts[c].gap > 0) {
                    // Here sigma_n = c_n + phi/dt.
                    int first = contacts[c].firstRow;
                    assert_true(contacts[c].impulse[2] == 0 || sigma[first + 2] < 1e-7);
                    assert_true(first < 0 || sigma[first + 2] > -1e-7);
                    seen += contacts[c].impulse[2] == 0;
                }
            }
        }
        assert_true(seen > 50);
        SceneEnd(&scene);
    }
}

// Contacts take energy away: lambda . J (v+ + v)/2 <= 0 where the gap is not negative and e = 0.
static void test_contact_work_is_negative(void** state) {
    (void)state;
    rgWorldDef def = SceneWorldDef(1e-3, 1e-10);
    Scene scene = SceneStart();
    ScenePlane(&scene, 0.5, rgQuatIdentity());
    SceneCube(&scene, 0.1, 1, rgVec(0, 0, 0.3), 0.5);
    SceneMake(&scene, &def);
    SceneSetVelocity(&scene, 0, 6, (double[]){1, 0.3, -1, 3, -2, 4});
    for (int i = 0; i < 1500; ++i) {
        double before[6];
        rgModel_StepVelocity(scene.model, rgWorld_Positions(scene.world, NULL),
                             rgWorld_Velocities(scene.world, NULL), before);
        double q[7];
        memcpy(q, rgWorld_Positions(scene.world, NULL), sizeof(q));
        SceneStep(&scene);
        const double* lambda;
        const rgContactProblem* problem = rgWorld_Problem(scene.world, &lambda);
        int count;
        const rgContact* contacts = rgWorld_Contacts(scene.world, &count);
        double work = 0;
        bool open = true;
        const rgSparse* J = &problem->delassus.jacobian;
        double jl[6] = {0};
        for (int c = 0; c < count; ++c) {
            open = open && contacts[c].gap >= 0;
        }
        for (int r = 0; r < problem->rowCount; ++r) {
            for (int k = J->rowStart[r]; k < J->rowStart[r + 1]; ++k) {
                jl[J->column[k]] += J->value[k] * lambda[r];
            }
        }
        // v+ in the coordinates of the step: the state's, turned back by the new rotation.
        double after[6];
        rgModel_StepVelocity(scene.model, rgWorld_Positions(scene.world, NULL),
                             rgWorld_Velocities(scene.world, NULL), after);
        for (int k = 0; k < 6; ++k) {
            work += 0.5 * jl[k] * (before[k] + after[k]);
        }
        assert_true(!open || work <= 1e-9);
    }
    SceneEnd(&scene);
}

static double EnergyGain(double dt) {
    rgWorldDef def = SceneWorldDef(dt, 1e-9);
    Scene scene = SceneStart();
    ScenePlane(&scene, 0.5, rgQuatIdentity());
    SceneCube(&scene, 0.1, 1, rgVec(0, 0, 0.2), 0.5);
    SceneMake(&scene, &def);
    SceneSetVelocity(&scene, 0, 6, (double[]){1, 0.3, 0, 3, -2, 4});
    double least = SceneEnergy(&scene), gain = 0;
    for (int i = 0; i < (int)lround(1.0 / dt); ++i) {
        SceneStep(&scene);
        double energy = SceneEnergy(&scene);
        gain = fmax(gain, energy - least);
        least = fmin(least, energy);
    }
    SceneEnd(&scene);
    return gain;
}

static void test_energy_gain_shrinks_with_the_step(void** state) {
    (void)state;
    double coarse = EnergyGain(2e-3), fine = EnergyGain(1e-3), finest = EnergyGain(5e-4);
    print_message("energy gain %.3e %.3e %.3e\n", coarse, fine, finest);
    assert_true(fine < 0.75 * coarse + 1e-9);
    assert_true(finest < 0.75 * fine + 1e-9);
    assert_true(coarse < 5e-2);
}

// Five balls in a row with gaps: one in, one out; momentum to tolerance, energy with e = 1.
static void test_cradle(void** state) {
    (void)state;
    Scene scene = SceneStart();
    double r = 0.05, gap = 3e-3; // more than a step's way, so that impacts come one after the other
    for (int i = 0; i < 5; ++i) {
        Solid ball = SolidOf(rg_shapeSphere, rgVec(r, 0, 0), 1, rgVec(i * (2 * r + gap), 0, 0));
        SceneFree(&scene, &ball);
    }
    rgWorldDef def = SceneWorldDef(1e-3, 1e-12);
    def.hasGravity = true;
    def.restitution = 1;
    def.friction = 0;
    SceneMake(&scene, &def);
    SceneSetVelocity(&scene, 0, 1, (double[]){1});
    SceneRun(&scene, 50);
    for (int i = 0; i < 5; ++i) {
        double v = rgWorld_BodyVelocity(scene.world, (rgBodyId){i + 1}).linear.x;
        EXPECT_NEAR(v, i == 4 ? 1 : 0, 1e-9);
    }
    EXPECT_NEAR(rgWorld_KineticEnergy(scene.world), 0.5, 1e-9);
    SceneEnd(&scene);
}

// Touching balls take the impact at once: with e = 1, five of them leave with -0.6 and 0.4.
static void test_touching_cradle(void** state) {
    (void)state;
    Scene scene = SceneStart();
    for (int i = 0; i < 5; ++i) {
        double x = 0.1 * i - (i == 0 ? 0.0005 : 0);
        Solid ball = SolidOf(rg_shapeSphere, rgVec(0.05, 0, 0), 1, rgVec(x, 0, 0));
        SceneFree(&scene, &ball);
    }
    rgWorldDef def = SceneWorldDef(1e-3, 1e-12);
    def.hasGravity = true;
    def.restitution = 1;
    def.friction = 0;
    SceneMake(&scene, &def);
    SceneSetVelocity(&scene, 0, 1, (double[]){1});
    SceneRun(&scene, 3);
    for (int i = 0; i < 5; ++i) {
        double v = rgWorld_BodyVelocity(scene.world, (rgBodyId){i + 1}).linear.x;
        EXPECT_NEAR(v, i == 0 ? -0.6 : 0.4, 1e-9);
    }
    SceneEnd(&scene);
}

// Balls nearer to each other than a step's way: an impact passes several on, and keeps energy and
// momentum all the same.
static void test_narrow_cradle(void** state) {
    (void)state;
    const double gaps[] = {1e-5, 1e-4, 3e-4};
    for (int k = 0; k < 3; ++k) {
        Scene scene = SceneStart();
        for (int i = 0; i < 5; ++i) {
            double x = i * (0.1 + gaps[k]) - (i == 0 ? 0.0205 : 0);
            Solid ball = SolidOf(rg_shapeSphere, rgVec(0.05, 0, 0), 1, rgVec(x, 0, 0));
            SceneFree(&scene, &ball);
        }
        rgWorldDef def = SceneWorldDef(1e-3, 1e-12);
        def.hasGravity = true;
        def.restitution = 1;
        def.friction = 0;
        SceneMake(&scene, &def);
        SceneSetVelocity(&scene, 0, 1, (double[]){1});
        SceneRun(&scene, 100);
        double momentum = 0;
        for (int i = 0; i < 5; ++i) {
            momentum += rgWorld_BodyVelocity(scene.world, (rgBodyId){i + 1}).linear.x;
        }
        double energy = rgWorld_KineticEnergy(scene.world);
        print_message("gaps of %g m: energy %.5f\n", gaps[k], energy);
        EXPECT_NEAR(momentum, 1, 1e-9);
        assert_true(energy < 0.5 + 1e-9 && energy > 0.499);
        SceneEnd(&scene);
    }
}

// Friction in an impact and in sliding: Jt/Jn by the closing speed, the line up to the transition.
static void test_friction_of_impact_and_sliding(void** state) {
    (void)state;
    const double speeds[] = {0.05, 0.1, 0.2, 0.4, 2}, v = 0.2;
    for (int i = 0; i < 5; ++i) {
        rgWorldDef def = SceneWorldDef(1e-3, 1e-12);
        Scene scene = SceneStart();
        rgShapeDef floor = rgDefaultShapeDef();
        floor.kind = rg_shapePlane;
        floor.material =
            (rgMaterial){.mu = 0.2, .muImpact = 0.6, .transitionSpeed = v, .dimension = 3};
        assert_int_equal(rgModelDef_AddShape(scene.def, &floor, NULL), rg_ok);
        Solid solid = SolidOf(rg_shapeBox, rgVec(0.1, 0.1, 0.05), 1, rgVec(0, 0, 0.0501));
        solid.material = floor.material;
        rgBodyId body = SceneBody(&scene, &solid, (rgBodyId){0});
        SceneJoint(&scene, body, rg_jointPrismatic, rgVec(0, 0, 0), rgVec(1, 0, 0));
        SceneJoint(&scene, body, rg_jointPrismatic, rgVec(0, 0, 0), rgVec(0, 0, 1));
        SceneMake(&scene, &def);
        SceneSetVelocity(&scene, 0, 2, (double[]){5, -speeds[i]});
        double ratio = 0;
        for (int k = 0; k < 20 && ratio == 0; ++k) {
            double before = rgWorld_Velocities(scene.world, NULL)[1];
            SceneStep(&scene);
            rgVec3 f = rgWorld_ContactForce(scene.world, body);
            if (f.z > 0) {
                double share = fmin(-before / v, 1);
                ratio = -f.x / f.z;
                EXPECT_NEAR(ratio, 0.2 + 0.4 * share, 1e-9);
            }
        }
        assert_true(ratio > 0);
        SceneRun(&scene, 100); // and then it slides
        rgVec3 f = rgWorld_ContactForce(scene.world, body);
        EXPECT_NEAR(-f.x / f.z, 0.2, 1e-6);
        SceneEnd(&scene);
    }
}

// One to three solids, thrown, that turn and hit a floor and each other without gravity.
static Scene RandomImpact(rgRandom* random, double e) {
    rgShapeKind kinds[] = {rg_shapeBox, rg_shapeCapsule, rg_shapeSphere, rg_shapeCylinder};
    Scene scene = SceneStart();
    rgWorldDef def = SceneWorldDef(1e-3, 1e-10);
    def.hasGravity = true;
    def.restitution = e;
    def.friction = rgRandom_Uniform(random, 0, 1.5);
    ScenePlane(&scene, 0, rgQuatIdentity());
    int count = 1 + rgRandom_Index(random, 3), nq, nv;
    for (int i = 0; i < count; ++i) {
        rgVec3 size =
            rgVec(rgRandom_Uniform(random, 0.01, 0.1), rgRandom_Uniform(random, 0.02, 0.2),
                  rgRandom_Uniform(random, 0.01, 0.1));
        Solid solid = SolidOf(kinds[rgRandom_Index(random, 4)], size,
                              pow(10, rgRandom_Uniform(random, -1, 1)), rgVec(0, 0, 0));
        SceneFree(&scene, &solid);
    }
    SceneMake(&scene, &def);
    double q[21], v[18];
    rgWorld_Positions(scene.world, &nq);
    rgWorld_Velocities(scene.world, &nv);
    assert_true(nq == 7 * count && nv == 6 * count);
    for (int i = 0; i < count; ++i) {
        q[7 * i] = rgRandom_Uniform(random, -0.05, 0.05);
        q[7 * i + 1] = 0;
        q[7 * i + 2] = 0.3 + 0.6 * i;
        for (int k = 3; k < 7; ++k) {
            q[7 * i + k] = rgRandom_Normal(random);
        }
    }
    assert_int_equal(rgWorld_SetState(scene.world, q, NULL), rg_ok);
    for (int i = 0; i < count; ++i) { // downwards in world axes, upper ones faster
        rgVec3 down = rgVec(rgRandom_Uniform(random, -2, 2), 0, -2.0 - 2 * i);
        down = rgRotateBack(rgWorld_BodyPose(scene.world, (rgBodyId){i + 1}).q, down);
        memcpy(v + 6 * i, &down, sizeof(down));
        for (int k = 3; k < 6; ++k) {
            v[6 * i + k] = rgRandom_Uniform(random, -10, 10);
        }
    }
    assert_int_equal(rgWorld_SetState(scene.world, q, v), rg_ok);
    return scene;
}

// Newton's law alone adds energy to some impacts with friction, by several percent.
static void test_impacts_add_no_energy(void** state) {
    (void)state;
    rgRandom random = {5};
    double most = 0, drift = 0;
    int hits = 0;
    for (int i = 0; i < rgFewer(1000); ++i) {
        Scene scene = RandomImpact(&random, rgRandom_Uniform(&random, 0, 1));
        double start = rgWorld_KineticEnergy(scene.world), last = start;
        for (int k = 0; k < 300; ++k) {
            rgStepReport report = SceneStep(&scene);
            double now = rgWorld_KineticEnergy(scene.world);
            double up = (now - last) / start;
            if (report.contactCount == 0) {
                drift = fmax(drift, up);          // of bodies that turn
            } else if (report.penetration == 0) { // what leaves a penetration is pushed
                most = fmax(most, up);
                hits += up < -1e-3;
            }
            last = now;
        }
        SceneEnd(&scene);
    }
    print_message("%d impacts, energy up by %.1e at most, without contact by %.1e\n", hits, most,
                  drift);
    assert_true(hits > rgFewer(1000));
    assert_true(most < 2 * drift + 1e-8);
}

// Fast and thin: the speculative margin lets nothing through.
static void test_nothing_tunnels(void** state) {
    (void)state;
    Scene scene = SceneStart();
    rgShapeDef wall = rgDefaultShapeDef();
    wall.kind = rg_shapeBox;
    wall.size = rgVec(0.005, 1, 1);
    assert_int_equal(rgModelDef_AddShape(scene.def, &wall, NULL), rg_ok);
    Solid ball = SolidOf(rg_shapeSphere, rgVec(0.02, 0, 0), 1, rgVec(-1, 0, 0));
    SceneFree(&scene, &ball);
    rgWorldDef def = SceneWorldDef(1e-3, 1e-9);
    def.hasGravity = true;
    SceneMake(&scene, &def);
    SceneSetVelocity(&scene, 0, 1, (double[]){300});
    SceneRun(&scene, 20);
    EXPECT_NEAR(SceneBodyPoint(&scene, (rgBodyId){1}).x, -0.025, 1e-9);
    SceneEnd(&scene);
}

// A ball on a rail that dips into the floor: where friction holds more than the normal force pushes
// back, no impulse makes it rebound as Newton's law says. It stops; one with less friction
// rebounds.
static void test_rebound_without_a_solution(void** state) {
    (void)state;
    const double mus[] = {0.8, 0.3};
    for (int k = 0; k < 2; ++k) {
        rgWorldDef def = SceneWorldDef(1e-3, 1e-10);
        def.hasGravity = true;
        def.restitution = 1;
        Scene scene = SceneStart();
        ScenePlane(&scene, mus[k], rgQuatIdentity());
        Solid ball = SolidOf(rg_shapeSphere, rgVec(0.1, 0, 0), 1, rgVec(0, 0, 0.15));
        ball.material.mu = mus[k];
        rgBodyId body = SceneBody(&scene, &ball, (rgBodyId){0});
        SceneJoint(&scene, body, rg_jointPrismatic, rgVec(0, 0, 0),
                   rgVec(2 / sqrt(5), 0, -1 / sqrt(5)));
        SceneMake(&scene, &def);
        SceneSetVelocity(&scene, 0, 1, (double[]){1});
        SceneRun(&scene, 150);
        assert_int_equal(rgWorld_UnconvergedSteps(scene.world), 0);
        EXPECT_NEAR(rgWorld_Velocities(scene.world, NULL)[0], k == 0 ? 0 : -1, 1e-9);
        SceneEnd(&scene);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rebound),
        cmocka_unit_test(test_material_stiffness),
        cmocka_unit_test(test_compliance_goes_to_rigid),
        cmocka_unit_test(test_no_force_at_a_distance),
        cmocka_unit_test(test_contact_work_is_negative),
        cmocka_unit_test(test_energy_gain_shrinks_with_the_step),
        cmocka_unit_test(test_cradle),
        cmocka_unit_test(test_touching_cradle),
        cmocka_unit_test(test_narrow_cradle),
        cmocka_unit_test(test_friction_of_impact_and_sliding),
        cmocka_unit_test(test_impacts_add_no_energy),
        cmocka_unit_test(test_rebound_without_a_solution),
        cmocka_unit_test(test_nothing_tunnels),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
