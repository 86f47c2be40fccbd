// Trees that turn fast: passive trees of any mass ratio gain no energy, in flight and on the floor;
// what the step does is of second order, and can be turned around.
#include "scene.h"
#include "world/world.h"

#define LIMBS 6

// A tree with the inertias that its energy is computed from.
typedef struct Tree {
    Scene scene;
    int count;
    rgInertia inertias[LIMBS + 1]; // of body k + 1, in its frame
    double dt;
    bool falls;    // it has weight
    bool rebounds; // without loss or friction
} Tree;

typedef enum Kind { flight, thrown, fall, kinds } Kind; // thrown at the floor: without weight

// ---- energy, from poses and velocities alone

typedef struct Balance {
    double kinetic;
    double weightPower; // what the weights do
} Balance;

static Balance TreeBalance(const Tree* tree) {
    Balance sum = {0};
    for (int k = 0; k < tree->count; ++k) {
        rgBodyId id = {k + 1};
        rgPose pose = rgWorld_BodyPose(tree->scene.world, id);
        rgSpatial V = rgWorld_BodyVelocity(tree->scene.world, id);
        const rgInertia* inertia = &tree->inertias[k];
        rgVec3 v = rgAdd(V.linear, rgCross(V.angular, rgRotate(pose.q, inertia->center)));
        rgVec3 w = rgRotateBack(pose.q, V.angular);
        sum.kinetic += 0.5 * inertia->mass * rgDot(v, v) +
                       0.5 * rgDot(w, rgSym3_Multiply(&inertia->moment, w));
        sum.weightPower -= tree->falls ? inertia->mass * SCENE_G * v.z : 0;
    }
    return sum;
}

typedef struct Rise {
    double most, fast; // of the energy, as a share of the largest, beside the work of weights; in
                       // one step of those that carry velocities
    int fastSteps;
} Rise;

static void Check(double* most, double value) {
    *most = value <= *most ? *most : isnan(value) ? INFINITY : value;
}

static Rise RunTree(Tree* tree, int steps) {
    Rise rise = {0};
    SceneStep(&tree->scene); // a state that was set may stay where it is at first
    Balance last = TreeBalance(tree);
    double work = 0, least = last.kinetic, largest = last.kinetic;
    for (int i = 0; i < steps; ++i) {
        SceneStep(&tree->scene);
        Balance now = TreeBalance(tree);
        double gain = 0.5 * tree->dt * (last.weightPower + now.weightPower);
        work += gain;
        largest = fmax(largest, now.kinetic);
        Check(&rise.most, (now.kinetic - work - least) / largest);
        if (tree->scene.world->fast.isFast[0]) {
            Check(&rise.fast, (now.kinetic - last.kinetic - gain) / largest);
            rise.fastSteps += 1;
        }
        least = fmin(least, now.kinetic - work);
        last = now;
    }
    return rise;
}

// ---- random trees

static double Between(rgRandom* random, double low, double high) {
    return low * pow(high / low, rgRandom_Uniform(random, 0, 1));
}

static rgVec3 Direction(rgRandom* random) {
    rgVec3 v = {rgRandom_Normal(random), 0, 0};
    v.y = rgRandom_Normal(random);
    v.z = rgRandom_Normal(random);
    return rgScale(1 / rgLength(v), v);
}

// The rotation that takes z to a direction.
static rgQuat Upright(rgVec3 d) {
    rgVec3 axis = rgCross(rgVec(0, 0, 1), d);
    double s = rgLength(axis);
    return s < 1e-9 ? rgQuatFromAxisAngle(rgVec(1, 0, 0), d.z > 0 ? 0 : acos(-1))
                    : rgQuatFromAxisAngle(rgScale(1 / s, axis), atan2(s, d.z));
}

// A capsule along its z axis that begins at a joint in its parent: a ball, three hinges or one.
static rgBodyId AddLimb(Tree* tree, rgBodyId parent, rgVec3 at, rgVec3 along, double half,
                        double mass, int joint) {
    rgVec3 size = rgVec(0.02, half, 0), center = rgVec(0, 0, half + 0.03);
    rgInertia inertia = rgInertiaFromShape(rg_shapeCapsule, size, mass);
    rgPose pose = {center, {1, 0, 0, 0}};
    rgBodyDef body = rgDefaultBodyDef();
    body.parent = parent;
    body.pose = (rgPose){at, Upright(along)};
    body.inertia = rgInertiaMove(pose, &inertia);
    rgBodyId id;
    assert_int_equal(rgModelDef_AddBody(tree->scene.def, &body, &id), rg_ok);
    rgShapeDef shape = rgDefaultShapeDef();
    shape.body = id;
    shape.kind = rg_shapeCapsule;
    shape.size = size;
    shape.pose = pose;
    assert_int_equal(rgModelDef_AddShape(tree->scene.def, &shape, NULL), rg_ok);
    tree->inertias[tree->count++] = body.inertia;
    rgVec3 o = rgVec(0, 0, 0);
    if (joint == 0) {
        SceneJoint(&tree->scene, id, rg_jointSpherical, o, rgVec(0, 0, 1));
    } else {
        SceneJoint(&tree->scene, id, rg_jointRevolute, o, rgVec(1, 0, 0));
    }
    if (joint == 1) {
        SceneJoint(&tree->scene, id, rg_jointRevolute, o, rgVec(0, 1, 0));
        SceneJoint(&tree->scene, id, rg_jointRevolute, o, rgVec(0, 0, 1));
    }
    return id;
}

static rgBodyId AddRoot(Tree* tree, double radius, double mass, double height) {
    Solid root = SolidOf(rg_shapeSphere, rgVec(radius, 0, 0), mass, rgVec(0, 0, height));
    rgBodyId id = SceneFree(&tree->scene, &root);
    tree->inertias[tree->count++] = rgInertiaFromShape(root.kind, root.size, mass);
    return id;
}

static Tree StartTree(double dt, Kind kind) {
    Tree tree = {.scene = SceneStart(), .dt = dt, .falls = kind == fall};
    if (kind != flight) {
        ScenePlane(&tree.scene, 0.7, rgQuatIdentity());
    }
    return tree;
}

static void MakeTree(Tree* tree, rgRandom* random, double drop, double rate) {
    rgWorldDef def = SceneWorldDef(tree->dt, 1e-6);
    def.hasGravity = true;
    def.gravity.z = tree->falls ? -SCENE_G : 0;
    if (tree->rebounds) {
        def.restitution = 1;
        def.friction = 0;
    }
    SceneMake(&tree->scene, &def);
    double v[6 + 3 * LIMBS];
    int nv;
    rgWorld_Velocities(tree->scene.world, &nv);
    assert_true(nv <= 6 + 3 * LIMBS);
    for (int k = 0; k < nv; ++k) {
        double most = k < 3 ? 3 : rate;
        v[k] = rgRandom_Uniform(random, -most, most);
    }
    v[2] -= drop;
    assert_int_equal(rgWorld_SetState(tree->scene.world, NULL, v), rg_ok);
}

static Tree RandomTree(rgRandom* random, Kind kind) {
    Tree tree = StartTree(Between(random, 1e-4, 5e-3), kind);
    double ratio = Between(random, 1e-4, 1e4), mass = fmin(1, 1 / ratio), half[LIMBS + 1] = {0};
    rgBodyId ids[LIMBS + 1] = {AddRoot(&tree, 0.04, mass, 0.5)};
    int count = 1 + rgRandom_Index(random, LIMBS), joints = rgRandom_Index(random, 4);
    for (int k = 1; k <= count; ++k) {
        int parent = rgRandom_Index(random, 2) == 0 ? 0 : rgRandom_Index(random, k);
        rgVec3 along = Direction(random);
        rgVec3 at = parent == 0 ? rgScale(0.07, along) : rgVec(0, 0, 2 * half[parent] + 0.06);
        half[k] = rgRandom_Uniform(random, 0.03, 0.12);
        double limb = mass * ratio * rgRandom_Uniform(random, 0.5, 2);
        ids[k] = AddLimb(&tree, ids[parent], at, along, half[k], limb,
                         joints < 3 ? joints : rgRandom_Index(random, 3));
    }
    MakeTree(&tree, random, kind == thrown ? 5 : 0, Between(random, 1, kind == flight ? 100 : 10));
    return tree;
}

// Where velocities are carried, and there is no weight, energy does not rise in any step. Other
// steps are of second order, and light links between heavy ones end impacts with errors of that
// size.
static void test_trees_gain_nothing(void** state) {
    (void)state;
    rgRandom random = {21};
    double most[kinds] = {0}, fast[kinds] = {0};
    int fastSteps = 0, count = rgFewer(5000);
    for (int i = 0; i < count; ++i) {
        Kind kind = (Kind)(i % kinds);
        Tree tree = RandomTree(&random, kind);
        Rise rise = RunTree(&tree, (int)fmin(0.4 / tree.dt, 400));
        Check(&most[kind], rise.most);
        Check(&fast[kind], rise.fast);
        fastSteps += rise.fastSteps;
        SceneEnd(&tree.scene);
    }
    print_message("energy up by %.1e in flight, %.1e thrown, %.1e in a fall; in one of %d fast "
                  "steps %.1e, %.1e, %.1e\n",
                  most[flight], most[thrown], most[fall], fastSteps, fast[flight], fast[thrown],
                  fast[fall]);
    assert_true(fastSteps > 20 * count);
    assert_true(fast[flight] < 1e-10 && fast[thrown] < 1e-6); // rounding, the solver's tolerance
    for (int k = 0; k < kinds; ++k) {
        assert_true(most[k] < 0.02);
    }
}

// Figures of three limbs on ball joints or three hinges bounce on a floor without loss. An impact
// changes rates of slow trees by more than the predictor knows.
static void test_rebounding_trees(void** state) {
    (void)state;
    rgRandom random = {23};
    double most = 0, mean = 0;
    int count = rgFewer(60);
    for (int i = 0; i < count; ++i) {
        Tree tree = StartTree(5e-4, fall);
        tree.rebounds = true;
        rgBodyId root = AddRoot(&tree, 0.1, 5, 0.5);
        for (int k = 0; k < 3; ++k) {
            rgVec3 along = Direction(&random);
            rgBodyId upper = AddLimb(&tree, root, rgScale(0.12, along), along, 0.1, 2, i % 2);
            AddLimb(&tree, upper, rgVec(0, 0, 0.26), Direction(&random), 0.1, 1, 2);
        }
        MakeTree(&tree, &random, 1, 3);
        double rise = RunTree(&tree, 2000).most;
        Check(&most, rise);
        mean += rise / count;
        SceneEnd(&tree.scene);
    }
    print_message("energy up by %.1e, %.1e in the mean\n", most, mean);
    assert_true(most < 0.005);
}

// A ball of 100 g carries a limb of 1 kg on a ball joint; a star of heavy limbs on a root of 500 g.
static void test_light_roots(void** state) {
    (void)state;
    rgRandom random = {22};
    double most = 0;
    for (int i = 0; i < rgFewer(65); ++i) {
        bool star = i % 13 > 7;
        Tree tree = StartTree(1e-3, fall);
        rgBodyId root = AddRoot(&tree, star ? 0.06 : 0.04, star ? 0.5 : 0.1, 0.6);
        for (int k = 0; k < (star ? 2 + i % 4 : 1); ++k) {
            rgVec3 along = Direction(&random);
            double mass = star ? rgRandom_Uniform(&random, 0.5, 2) : 1;
            AddLimb(&tree, root, rgScale(star ? 0.09 : 0.05, along), along, 0.11, mass, 0);
        }
        MakeTree(&tree, &random, 0, 5);
        Check(&most, RunTree(&tree, 1000).most);
        SceneEnd(&tree.scene);
    }
    print_message("energy up by %.1e\n", most);
    assert_true(most < 5e-3);
}

// ---- accuracy

static const char arm[] =
    "<mujoco><option gravity='0 0 -9.81'/><worldbody><body pos='0 0 1'><joint axis='0 1 0' "
    "frictionloss='1e-9'/><inertial pos='.05 .02 -.2' mass='1' diaginertia='.02 .03 .01'/>"
    "<body pos='0 0 -.4'><joint type='ball' frictionloss='1e-9'/>"
    "<inertial pos='.01 0 -.15' mass='.5' diaginertia='.004 .004 .001'/></body></body>"
    "</worldbody></mujoco>";

static rgVec3 EndOfArm(double dt) {
    rgWorldDef def = SceneWorldDef(dt, 1e-12);
    Scene scene = SceneText(arm, &def);
    double v[4] = {20, 40, -60, 180};
    assert_int_equal(rgWorld_SetState(scene.world, NULL, v), rg_ok);
    for (int i = 0; i < (int)lround(0.05 / dt); ++i) {
        SceneStep(&scene);
        assert_true(scene.world->fast.isFast[0] && scene.world->constraints.isHeld[0]);
    }
    rgPose pose = rgWorld_BodyPose(scene.world, (rgBodyId){2});
    rgVec3 p = rgAdd(rgRotate(pose.q, rgVec(1, 2, 3)), pose.p);
    p = rgAdd(p, rgScale(0.1, rgWorld_BodyVelocity(scene.world, (rgBodyId){2}).angular));
    SceneEnd(&scene);
    return p;
}

// Rows act on it, so that it moves in whole steps: halving them quarters the error.
static void test_held_trees_are_of_second_order(void** state) {
    (void)state;
    rgVec3 a = EndOfArm(1e-3), b = EndOfArm(5e-4), c = EndOfArm(2.5e-4);
    double order = log2(rgLength(rgSub(a, b)) / rgLength(rgSub(b, c)));
    print_message("order %.3f\n", order);
    EXPECT_NEAR(order, 2, 0.15);
}

// A gripper in space tumbles with a box between its fingers, by 0.04 rad in a step. The box creeps
// by a share of the square of that angle.
static const char gripper[] =
    "<mujoco><option gravity='0 0 0'/><worldbody><body><freejoint/><geom type='box' size='.1 .1 "
    ".1' mass='5' contype='0' conaffinity='0'/><body pos='-.03 0 .3'><joint name='l' type='slide' "
    "axis='1 0 0'/><geom type='box' size='.01 .05 .05' mass='.2'/></body><body pos='.03 0 .3'>"
    "<joint name='r' type='slide' axis='-1 0 0'/><geom type='box' size='.01 .05 .05' mass='.2'/>"
    "</body></body><body pos='0 0 .3'><freejoint/><geom type='box' size='.02 .02 .02' mass='1'/>"
    "</body></worldbody><actuator><position joint='l' kp='1e5' kv='1e2'/><motor joint='r'/>"
    "</actuator></mujoco>";

static void test_gripper_holds_on(void** state) {
    (void)state;
    rgWorldDef def = SceneWorldDef(1e-3, 1e-9);
    Scene scene = SceneText(gripper, &def);
    double w[3] = {36, 18, 12}, u[2] = {0.02, 2000};
    double v[14] = {0, 0, 0, w[0], w[1], w[2], 0, 0, 0.3 * w[1], -0.3 * w[0], 0, w[0], w[1], w[2]};
    assert_int_equal(rgWorld_SetControl(scene.world, u), rg_ok);
    SceneRun(&scene, 200);
    SceneSetVelocity(&scene, 0, 14, v);
    SceneStep(&scene);
    double energy = rgWorld_KineticEnergy(scene.world), moved = 0;
    rgVec3 start = {0};
    for (int i = 0; i < 500; ++i) {
        SceneStep(&scene);
        assert_true(scene.world->fast.isFast[0]);
        rgPose base = rgWorld_BodyPose(scene.world, (rgBodyId){1});
        rgPose box = rgWorld_BodyPose(scene.world, (rgBodyId){4});
        rgVec3 at = rgRotateBack(base.q, rgSub(box.p, base.p));
        start = i == 0 ? at : start;
        moved = fmax(moved, rgLength(rgSub(at, start)));
    }
    double lost = 1 - rgWorld_KineticEnergy(scene.world) / energy;
    print_message("the box moved by %.1e m, energy down by %.1e\n", moved, lost);
    assert_true(moved < 1e-3 && fabs(lost) < 2e-3);
    SceneEnd(&scene);
}

// A ball that spins in a fluid has the general step, with a diagonal mass matrix, and its weight.
static void test_ball_falls(void** state) {
    (void)state;
    rgWorldDef def = SceneWorldDef(1e-3, 1e-9);
    def.hasGravity = true;
    def.gravity.z = -SCENE_G;
    Scene scene = SceneText("<mujoco><option density='1e-12'/><worldbody><body><freejoint/><geom "
                            "size='.1' mass='2'/></body></worldbody></mujoco>",
                            &def);
    double v[6] = {1, 0, 0, 60, 0, 0};
    SceneSetVelocity(&scene, 0, 6, v);
    SceneRun(&scene, 200);
    assert_true(scene.world->fast.isFast[0] && !scene.world->kinematics.isFreeBody[0]);
    rgVec3 p = rgWorld_BodyPose(scene.world, (rgBodyId){1}).p;
    EXPECT_NEAR(p.x, 0.2, 1e-9);
    EXPECT_NEAR(p.z, -0.5 * SCENE_G * 0.04, 1e-3 * SCENE_G);
    SceneEnd(&scene);
}

// ---- turned around

// A floating arm that moves in parts, and one that a row holds: the velocities of a free joint are
// in the axes that the step ends with.
static void test_inverse(void** state) {
    (void)state;
    for (int held = 0; held < 2; ++held) {
        char text[1024];
        snprintf(text, sizeof(text),
                 "<mujoco><worldbody><body pos='0 0 1'><freejoint/><geom type='box' size='.2 .1 "
                 ".05' mass='3'/><body pos='.2 0 0'><joint axis='0 1 0' frictionloss='%g'/><geom "
                 "type='capsule' size='.03' fromto='0 0 0 .3 0 0' mass='1'/><body pos='.3 0 0'>"
                 "<joint type='ball'/><geom type='capsule' size='.03' fromto='0 0 0 0 .3 0' "
                 "mass='.7'/></body></body></body></worldbody></mujoco>",
                 held ? 1e-3 : 0.0);
        rgWorldDef def = SceneWorldDef(1e-3, 1e-12);
        Scene scene = SceneText(text, &def);
        double v[10] = {0.1, 0.2, 0.3, 30, 20, -40, 50, 20, -60, 30};
        double force[10] = {1, -2, 3, 0.1, -0.2, 0.3, 0.5, 0.2, -0.1, 0.3};
        assert_int_equal(rgWorld_SetState(scene.world, NULL, v), rg_ok);
        SceneStep(&scene);
        for (int i = 0; i < 20; ++i) {
            size_t bytes = rgWorld_StateSize(scene.world);
            void* saved = malloc(bytes);
            assert_int_equal(rgWorld_SetForce(scene.world, force), rg_ok);
            assert_int_equal(rgWorld_Save(scene.world, saved, bytes), rg_ok);
            SceneStep(&scene);
            assert_true(scene.world->fast.isFast[0] &&
                        (scene.world->fast.substeps[0] == 1) == held);
            memcpy(v, rgWorld_Velocities(scene.world, NULL), sizeof(v));
            int count;
            rgConstraintForce rows[4];
            const rgConstraintForce* all = rgWorld_Constraints(scene.world, &count);
            assert_true(count <= 4);
            for (int k = 0; k < count; ++k) {
                rows[k] = all[k];
            }
            assert_int_equal(rgWorld_Restore(scene.world, saved, bytes), rg_ok);
            rgInverseDef inverse = rgDefaultInverseDef();
            inverse.start = rg_startGiven;
            inverse.constraints = rows;
            inverse.constraintCount = count;
            rgInverseResult result;
            assert_int_equal(rgWorld_Inverse(scene.world, &inverse, v, &result), rg_ok);
            for (int k = 0; k < 10; ++k) {
                EXPECT_NEAR(result.force[k], force[k], 1e-6);
            }
            SceneStep(&scene);
            free(saved);
        }
        SceneEnd(&scene);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_trees_gain_nothing),
        cmocka_unit_test(test_rebounding_trees),
        cmocka_unit_test(test_light_roots),
        cmocka_unit_test(test_held_trees_are_of_second_order),
        cmocka_unit_test(test_gripper_holds_on),
        cmocka_unit_test(test_ball_falls),
        cmocka_unit_test(test_inverse),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
