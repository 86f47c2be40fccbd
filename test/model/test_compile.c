// The compiler: one definition per mistake with its message, merged bodies, order, names, filters.
#include "model/def.h"
#include "model/model.h"
#include "rigor/rigor.h"
#include "support.h"

#include <string.h>

// A definition that compiles: base (fixed) - arm - hand, one shape each, and a floor.
typedef struct rgScene {
    rgModelDef* def;
    rgBodyId base, arm, hand;
    rgJointId shoulder, wrist;
    rgShapeId baseShape, armShape, handShape, floor;
    rgTendonId tendon;
} rgScene;

static rgBodyId rgScene_AddBody(rgScene* s, const char* name, rgBodyId parent, rgShapeId* shape) {
    rgBodyDef body = rgDefaultBodyDef();
    rgShapeDef box = rgDefaultShapeDef();
    rgBodyId id = {0};
    body.name = name;
    body.parent = parent;
    body.pose.p = rgVec(0, 0, 1);
    body.inertia = rgInertiaFromShape(rg_shapeBox, rgVec(0.1, 0.1, 0.3), 2);
    body.source = (rgSource){"scene.xml", 10 + s->def->bodyCount};
    assert_int_equal(rgModelDef_AddBody(s->def, &body, &id), rg_ok);
    box.body = id;
    box.kind = rg_shapeBox;
    box.size = rgVec(0.1, 0.1, 0.3);
    assert_int_equal(rgModelDef_AddShape(s->def, &box, shape), rg_ok);
    return id;
}

static rgJointId rgScene_AddJoint(rgScene* s, const char* name, rgBodyId body) {
    rgJointDef joint = rgDefaultJointDef();
    rgJointId id = {0};
    joint.name = name;
    joint.body = body;
    joint.axis = rgVec(0, 2, 0);
    joint.source = (rgSource){"scene.xml", 20 + s->def->jointCount};
    assert_int_equal(rgModelDef_AddJoint(s->def, &joint, &id), rg_ok);
    return id;
}

static rgScene rgMakeScene(void) {
    rgScene s = {0};
    rgCreateModelDef(NULL, &s.def);
    rgModelDef_SetName(s.def, "scene");
    s.base = rgScene_AddBody(&s, "base", (rgBodyId){0}, &s.baseShape);
    s.arm = rgScene_AddBody(&s, "arm", s.base, &s.armShape);
    s.hand = rgScene_AddBody(&s, "hand", s.arm, &s.handShape);
    s.shoulder = rgScene_AddJoint(&s, "shoulder", s.arm);
    s.wrist = rgScene_AddJoint(&s, "wrist", s.hand);
    rgShapeDef floor = rgDefaultShapeDef();
    floor.name = "floor";
    floor.kind = rg_shapePlane;
    assert_int_equal(rgModelDef_AddShape(s.def, &floor, &s.floor), rg_ok);
    const rgJointId joints[2] = {s.shoulder, s.wrist};
    const double coefficients[2] = {1, -1};
    rgTendonDef tendon = rgDefaultTendonDef();
    tendon.name = "cable";
    tendon.jointCount = 2;
    tendon.joints = joints;
    tendon.coefficients = coefficients;
    assert_int_equal(rgModelDef_AddTendon(s.def, &tendon, &s.tendon), rg_ok);
    return s;
}

static rgModel* rgCompileScene(rgScene* s) {
    rgModel* model = NULL;
    rgDiagnostics* said = NULL;
    rgCreateDiagnostics(NULL, &said);
    rgResult result = rgCompileModel(s->def, NULL, said, &model);
    for (int i = 0; i < rgDiagnostics_Count(said); ++i) {
        if (strstr(rgDiagnostics_Message(said, i).text, "has no effect") == NULL) {
            fail_msg("%s", rgDiagnostics_Message(said, i).text);
        }
    }
    assert_int_equal(result, rg_ok);
    rgDestroyDiagnostics(said);
    return model;
}

// Spoil the scene in one way; the message must hold the text, and the source where there is one.
typedef struct rgMistake {
    const char* name;
    void (*spoil)(rgScene* s);
    const char* message;
    int line; // 0: not checked
} rgMistake;

#define RG_SPOIL(function, statement)                                                              \
    static void function(rgScene* s) {                                                             \
        statement;                                                                                 \
    }

RG_SPOIL(rgSpoilName, s->def->bodies[2].name = "arm")
RG_SPOIL(rgSpoilJointName, s->def->joints[1].name = "shoulder")
RG_SPOIL(rgSpoilMass, s->def->bodies[1].inertia.mass = -3)
RG_SPOIL(rgSpoilNan, s->def->bodies[1].inertia.center.y = NAN)
RG_SPOIL(rgSpoilMoment, s->def->bodies[1].inertia.moment.xx = -1)
RG_SPOIL(rgSpoilNoMass, s->def->bodies[2].inertia = (rgInertia){0})
RG_SPOIL(rgSpoilMassless, s->def->bodies[2].inertia.mass = 0)
RG_SPOIL(rgSpoilQuat, s->def->bodies[1].pose.q.w = 2)
RG_SPOIL(rgSpoilPosition, s->def->bodies[1].pose.p.x = INFINITY)
RG_SPOIL(rgSpoilAxis, s->def->joints[0].axis = rgVec(0, 0, 0))
RG_SPOIL(rgSpoilAnchor, s->def->joints[0].anchor.x = NAN)
RG_SPOIL(rgSpoilKind, s->def->joints[0].kind = (rgJointKind)99)
RG_SPOIL(rgSpoilDamping, s->def->joints[1].damping = -0.5)
RG_SPOIL(rgSpoilArmature, s->def->joints[1].armature = NAN)
RG_SPOIL(rgSpoilFree, s->def->joints[1].kind = rg_jointFree)
RG_SPOIL(rgSpoilTwoFree, s->def->joints[1].body = s->arm; s->def->joints[0].kind = rg_jointFree)
RG_SPOIL(rgSpoilSize, s->def->shapes[0].size.y = 0)
RG_SPOIL(rgSpoilShape, s->def->shapes[0].kind = rg_shapeNone)
RG_SPOIL(rgSpoilHull, s->def->shapes[0].kind = rg_shapeHull)
RG_SPOIL(rgSpoilField, s->def->shapes[0].kind = rg_shapeHeightField)
RG_SPOIL(rgSpoilFriction, s->def->shapes[0].material.mu = -1)
RG_SPOIL(rgSpoilShear, s->def->shapes[0].material.tangentialStiffness = -2)
RG_SPOIL(rgSpoilShearDamping, s->def->shapes[0].material.tangentialDamping = NAN)
RG_SPOIL(rgSpoilDissipation, s->def->shapes[0].material.dissipation = -3)
RG_SPOIL(rgSpoilRule, s->def->shapes[0].material.frictionRule = (rgFrictionRule)9)
RG_SPOIL(rgSpoilImpact, s->def->shapes[0].material.muImpact = -1)
RG_SPOIL(rgSpoilTransition, s->def->shapes[0].material.transitionSpeed = INFINITY)
RG_SPOIL(rgSpoilBounce, s->def->shapes[0].material.restitution = 1.5)
RG_SPOIL(rgSpoilDimension, s->def->shapes[0].material.dimension = 2)
RG_SPOIL(rgSpoilTimeStep, s->def->options.timeStep = -1)
RG_SPOIL(rgSpoilTendon, s->def->joints[0].kind = rg_jointSpherical)

static void rgSpoilLimits(rgScene* s) {
    s->def->joints[0].hasLimits = true;
    s->def->joints[0].lower = 1;
    s->def->joints[0].upper = -1;
}

static void rgSpoilMesh(rgScene* s) {
    double vertices[12] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1};
    int triangles[3] = {0, 1, 4};
    rgMeshData mesh = {4, vertices, 1, triangles};
    rgShapeDef shape = rgDefaultShapeDef();
    shape.name = "rock";
    shape.kind = rg_shapeMesh;
    shape.mesh = &mesh;
    assert_int_equal(rgModelDef_AddShape(s->def, &shape, NULL), rg_ok);
}

static void rgSpoilActuator(rgScene* s) {
    rgActuatorDef actuator = rgDefaultActuatorDef();
    actuator.name = "motor";
    assert_int_equal(rgModelDef_AddActuator(s->def, &actuator, NULL), rg_ok);
}

static void rgSpoilForceRange(rgScene* s) {
    rgActuatorDef actuator = rgDefaultActuatorDef();
    actuator.name = "motor";
    actuator.joint = s->wrist;
    actuator.hasForceRange = true;
    actuator.forceLower = 2;
    assert_int_equal(rgModelDef_AddActuator(s->def, &actuator, NULL), rg_ok);
}

static void rgSpoilEquality(rgScene* s) {
    rgEqualityDef equality = rgDefaultEqualityDef();
    equality.name = "loop";
    equality.bodyA = equality.bodyB = s->hand;
    assert_int_equal(rgModelDef_AddEquality(s->def, &equality, NULL), rg_ok);
}

static void rgSpoilSensor(rgScene* s) {
    rgSensorDef sensor = rgDefaultSensorDef();
    sensor.name = "imu";
    sensor.kind = rg_sensorGyro;
    assert_int_equal(rgModelDef_AddSensor(s->def, &sensor, NULL), rg_ok);
}

static void rgSpoilKey(rgScene* s) {
    double q[3] = {0};
    rgKeyDef key = rgDefaultKeyDef();
    key.name = "home";
    key.q = q;
    key.qCount = 3;
    assert_int_equal(rgModelDef_AddKey(s->def, &key, NULL), rg_ok);
}

static const rgMistake mistakes[] = {
    {"name", rgSpoilName, "body 'arm': the name is already used in line 11", 12},
    {"joint name", rgSpoilJointName, "joint 'shoulder': the name is already used in line 20", 21},
    {"mass", rgSpoilMass, "body 'arm': mass -3 is negative", 11},
    {"nan", rgSpoilNan, "body 'arm': inertia has a value that is not a number: mass 2", 11},
    {"moment", rgSpoilMoment, "one is negative", 11},
    {"no mass", rgSpoilNoMass, "body 'hand': mass 0 and moment of inertia (0, 0, 0)", 12},
    {"massless", rgSpoilMassless, "without a mass", 12},
    {"quaternion", rgSpoilQuat, "quaternion of the body is (2, 0, 0, 0), of length 2", 11},
    {"position", rgSpoilPosition, "body 'arm': position of the body is (inf, 0, 1)", 11},
    {"axis", rgSpoilAxis, "joint 'shoulder': axis (0, 0, 0) has no direction", 20},
    {"anchor", rgSpoilAnchor, "joint 'shoulder': the anchor is not a number", 20},
    {"kind", rgSpoilKind, "joint 'shoulder': unknown kind", 20},
    {"damping", rgSpoilDamping, "joint 'wrist': damping is -0.5; it must not be negative", 21},
    {"armature", rgSpoilArmature, "joint 'wrist': armature is nan", 21},
    {"free", rgSpoilFree, "joint 'wrist': a free joint on a body whose parent moves", 21},
    {"two free", rgSpoilTwoFree, "joint 'shoulder': a free joint must be the only joint", 20},
    {"limits", rgSpoilLimits, "joint 'shoulder': the limits are crossed: lower 1, upper -1", 20},
    {"size", rgSpoilSize, "shape '#1': size along y is 0; it must be positive", 0},
    {"shape", rgSpoilShape, "shape '#1': unknown kind of shape", 0},
    {"hull", rgSpoilHull, "shape '#1': mesh has 0 vertices and 0 triangles", 0},
    {"field", rgSpoilField, "shape '#1': a height field needs at least 2 by 2 samples", 0},
    {"mesh", rgSpoilMesh, "shape 'rock': triangle 0 names vertex 4 of 4", 0},
    {"friction", rgSpoilFriction, "friction is -1", 0},
    {"tangential stiffness", rgSpoilShear, "tangential contact stiffness is -2", 0},
    {"tangential damping", rgSpoilShearDamping, "tangential contact damping is nan", 0},
    {"dissipation", rgSpoilDissipation, "contact dissipation is -3", 0},
    {"friction rule", rgSpoilRule, "friction rule 9 does not exist", 0},
    {"impact friction", rgSpoilImpact, "friction in impacts is -1", 0},
    {"transition speed", rgSpoilTransition, "transition speed is inf", 0},
    {"restitution", rgSpoilBounce, "restitution 1.5 is not between 0 and 1", 0},
    {"dimension", rgSpoilDimension, "contact dimension 2 is not 1, 3, 4 or 6", 0},
    {"time step", rgSpoilTimeStep, "model 'scene': time step is -1", 0},
    {"tendon", rgSpoilTendon, "tendon 'cable': its joints must be revolute or prismatic", 0},
    {"actuator", rgSpoilActuator, "actuator 'motor': it must act on a joint, a tendon or a frame",
     0},
    {"force range", rgSpoilForceRange, "the force limits are crossed: lower 2, upper 0", 0},
    {"equality", rgSpoilEquality, "equality 'loop': it ties a body to itself", 0},
    {"sensor", rgSpoilSensor, "sensor 'imu': it needs a frame or a body", 0},
    {"key", rgSpoilKey, "key 'home': 3 values for q, the model has 2", 0},
};

static void rgCheckMistake(const rgMistake* mistake) {
    rgScene s = rgMakeScene();
    rgDiagnostics* said = NULL;
    rgModel* model = NULL;
    bool found = false;
    rgCreateDiagnostics(NULL, &said);
    mistake->spoil(&s);
    if (rgCompileModel(s.def, NULL, said, &model) != rg_errorArgument || model != NULL) {
        fail_msg("%s: compiled", mistake->name);
    }
    for (int i = 0; i < rgDiagnostics_Count(said); ++i) {
        rgMessage message = rgDiagnostics_Message(said, i);
        bool here = mistake->line == 0 ||
                    (message.line == mistake->line && strcmp(message.file, "scene.xml") == 0);
        found = found || (here && message.severity == rg_severityError &&
                          strstr(message.text, mistake->message) != NULL);
    }
    if (!found) {
        fail_msg("%s: said '%s'", mistake->name, rgDiagnostics_Message(said, 0).text);
    }
    rgDestroyDiagnostics(said);
    rgDestroyModelDef(s.def);
}

static void test_every_mistake_has_its_message(void** state) {
    (void)state;
    for (int i = 0; i < RG_COUNT(mistakes); ++i) {
        rgCheckMistake(&mistakes[i]);
    }
}

static void test_unphysical_moment_is_a_warning(void** state) {
    (void)state;
    rgScene s = rgMakeScene();
    rgDiagnostics* said = NULL;
    rgModel* model = NULL;
    rgCreateDiagnostics(NULL, &said);
    s.def->bodies[1].inertia.moment = (rgSym3){.xx = 1, .yy = 1, .zz = 5};
    assert_int_equal(rgCompileModel(s.def, NULL, said, &model), rg_ok);
    assert_int_equal(rgDiagnostics_CountOf(said, rg_severityWarning), 1);
    rgMessage message = rgDiagnostics_Message(said, 0);
    assert_non_null(strstr(message.text, "body 'arm': principal moments of inertia (5, 1, 1)"));
    assert_int_equal(message.line, 11);
    rgDestroyModel(model);
    rgDestroyDiagnostics(said);
    rgDestroyModelDef(s.def);
}

static void test_sizes_names_and_views(void** state) {
    (void)state;
    rgScene s = rgMakeScene();
    rgModel* model = rgCompileScene(&s);
    rgDestroyModelDef(s.def); // the model keeps nothing of it
    rgModelInfo info = rgModel_Info(model);
    assert_string_equal(info.name, "scene");
    assert_int_equal(info.qCount, 2);
    assert_int_equal(info.vCount, 2);
    assert_int_equal(info.linkCount, 2);
    assert_int_equal(info.treeCount, 1);
    assert_int_equal(info.frameCount, 3);
    EXPECT_NEAR(info.mass, 4, 0);
    EXPECT_NEAR(info.staticMass, 2, 0);
    assert_int_equal(rgModel_FindBody(model, "hand").index1, s.hand.index1);
    assert_int_equal(rgModel_FindBody(model, "nobody").index1, 0);
    assert_int_equal(rgModel_FindJoint(model, "wrist").index1, s.wrist.index1);
    assert_int_equal(rgModel_FindShape(model, "floor").index1, s.floor.index1);
    assert_int_equal(rgModel_FindTendon(model, "cable").index1, 1);
    assert_int_equal(rgModel_FindFrame(model, "base").index1,
                     rgModel_BodyFrame(model, s.base).index1);
    assert_int_equal(rgModel_FindActuator(model, "x").index1, 0);
    assert_int_equal(rgModel_FindEquality(model, NULL).index1, 0);
    assert_int_equal(rgModel_FindSensor(model, "").index1, 0);
    assert_int_equal(rgModel_FindKey(model, "x").index1, 0);
    assert_string_equal(rgModel_Body(model, s.arm)->name, "arm");
    assert_string_equal(rgModel_Body(model, s.arm)->source.file, "scene.xml");
    EXPECT_NEAR(rgModel_Joint(model, s.wrist)->axis.y, 1, 0);
    assert_null(rgModel_Body(model, (rgBodyId){4}));
    assert_null(rgModel_Joint(model, (rgJointId){0}));
    assert_int_equal(rgModel_JointRange(model, s.wrist).v, 1);
    assert_int_equal(rgModel_Tendon(model, s.tendon)->joints[1].index1, s.wrist.index1);
    rgDestroyModel(model);
}

// A body fixed to the hand becomes part of it, and stays addressable.
static void test_fixed_bodies_are_merged(void** state) {
    (void)state;
    rgScene s = rgMakeScene();
    rgShapeId shape;
    rgBodyId tool = rgScene_AddBody(&s, "tool", s.hand, &shape);
    rgModel* model = rgCompileScene(&s);
    assert_int_equal(model->linkCount, 3);
    EXPECT_NEAR(model->links[2].mass, 4, 0);
    EXPECT_NEAR(model->links[2].center.z, 0.5, 1e-15);
    rgBodyLink link = rgModel_BodyLink(model, tool);
    assert_int_equal(link.moving.index1, s.hand.index1);
    EXPECT_NEAR(link.pose.p.z, 1, 1e-15);
    link = rgModel_BodyLink(model, s.base);
    assert_int_equal(link.moving.index1, 0);
    EXPECT_NEAR(link.pose.p.z, 1, 1e-15);
    assert_int_equal(model->shapePlaces[shape.index1 - 1].link, 2);
    EXPECT_NEAR(model->shapePlaces[shape.index1 - 1].pose.p.z, 1, 1e-15);
    rgDynamics* d = NULL;
    rgDynamicsDef def = rgDefaultDynamicsDef(model);
    assert_int_equal(rgCreateDynamics(model, &def, &d), rg_ok);
    double q[2] = {0.5, 0.25};
    rgDynamics_SetPositions(d, q);
    rgPose pose = rgDynamics_BodyPose(d, tool);
    EXPECT_NEAR(pose.p.x, sin(0.5) + sin(0.75), 1e-15);
    EXPECT_NEAR(pose.p.z, 2 + cos(0.5) + cos(0.75), 1e-15);
    rgDestroyDynamics(d);
    rgDestroyModel(model);
    rgDestroyModelDef(s.def);
}

// What is fixed to a kinematic body moves with it, not with the world nor with another body.
static void test_kinematic_bodies_move(void** state) {
    (void)state;
    rgScene s = rgMakeScene();
    rgShapeId cartShape, rackShape;
    rgBodyId cart = rgScene_AddBody(&s, "cart", (rgBodyId){0}, &cartShape);
    s.def->bodies[cart.index1 - 1].kinematic = true;
    rgBodyId rack = rgScene_AddBody(&s, "rack", cart, &rackShape);
    rgModel* model = rgCompileScene(&s);
    assert_int_equal(rgModel_BodyLink(model, cart).moving.index1, cart.index1);
    assert_int_equal(rgModel_BodyLink(model, rack).moving.index1, cart.index1);
    EXPECT_NEAR(rgModel_BodyLink(model, cart).pose.p.z, 0, 1e-15);
    EXPECT_NEAR(rgModel_BodyLink(model, rack).pose.p.z, 1, 1e-15);
    assert_true(rgModel_ShapesMeet(model, rackShape, s.armShape));
    assert_false(rgModel_ShapesMeet(model, rackShape, cartShape));
    rgDestroyModel(model);
    rgDestroyModelDef(s.def);
}

// Coordinates follow the tree, not the order of addition across branches.
static void test_order_is_depth_first(void** state) {
    (void)state;
    rgScene s = rgMakeScene();
    rgShapeId shape;
    rgBodyId other = rgScene_AddBody(&s, "other", (rgBodyId){0}, &shape);
    rgJointId lone = rgScene_AddJoint(&s, "lone", other);
    rgBodyId finger = rgScene_AddBody(&s, "finger", s.hand, &shape);
    rgJointId last = rgScene_AddJoint(&s, "last", finger);
    rgModel* model = rgCompileScene(&s);
    assert_int_equal(rgModel_JointRange(model, s.wrist).v, 1);
    assert_int_equal(rgModel_JointRange(model, last).v, 2);
    assert_int_equal(rgModel_JointRange(model, lone).v, 3);
    assert_int_equal(model->treeCount, 2);
    assert_int_equal(model->trees[0].dofCount, 3);
    assert_int_equal(model->trees[1].firstDof, 3);
    rgDestroyModel(model);
    rgDestroyModelDef(s.def);
}

static void test_filters(void** state) {
    (void)state;
    rgScene s = rgMakeScene();
    rgShapeId toolShape, ghost, pillarShape;
    rgScene_AddBody(&s, "tool", s.hand, &toolShape);
    rgScene_AddBody(&s, "pillar", (rgBodyId){0}, &pillarShape);
    rgShapeDef shape = rgDefaultShapeDef();
    shape.kind = rg_shapeSphere;
    shape.size.x = 0.1;
    shape.visualOnly = true;
    shape.body = s.hand;
    assert_int_equal(rgModelDef_AddShape(s.def, &shape, &ghost), rg_ok);
    rgModel* model = rgCompileScene(&s);
    assert_true(rgModel_ShapesMeet(model, s.handShape, s.floor));
    assert_true(rgModel_ShapesMeet(model, s.armShape, s.floor));
    assert_true(rgModel_ShapesMeet(model, s.handShape, s.baseShape));
    assert_true(rgModel_ShapesMeet(model, s.armShape, pillarShape));
    assert_false(rgModel_ShapesMeet(model, s.armShape, s.baseShape));  // carried by it
    assert_false(rgModel_ShapesMeet(model, s.handShape, s.armShape));  // parent and child
    assert_false(rgModel_ShapesMeet(model, toolShape, s.armShape));    // welded to the child
    assert_false(rgModel_ShapesMeet(model, toolShape, s.handShape));   // one rigid body
    assert_false(rgModel_ShapesMeet(model, s.baseShape, s.floor));     // both static
    assert_false(rgModel_ShapesMeet(model, pillarShape, s.baseShape)); // both static
    assert_false(rgModel_ShapesMeet(model, ghost, s.floor));           // only to look at
    assert_false(rgModel_ShapesMeet(model, s.floor, s.floor));
    assert_false(rgModel_ShapesMeet(model, s.floor, (rgShapeId){99}));
    rgDestroyModel(model);
    rgDestroyModelDef(s.def);
}

// Bodies fixed to each other and to the world are one assembly, however deep: what the topmost
// carries meets none of its parts, and what another assembly carries meets all.
static void test_nested_static_assemblies(void** state) {
    (void)state;
    rgScene s = rgMakeScene();
    rgShapeId columnShape, topShape, crownShape, liftShape, pillarShape, capShape;
    rgBodyId column = rgScene_AddBody(&s, "column", s.base, &columnShape);
    rgBodyId top = rgScene_AddBody(&s, "top", column, &topShape);
    rgBodyId pillar = rgScene_AddBody(&s, "pillar", (rgBodyId){0}, &pillarShape);
    rgScene_AddBody(&s, "cap", pillar, &capShape);
    rgBodyId lift = rgScene_AddBody(&s, "lift", top, &liftShape);
    rgScene_AddBody(&s, "crown", top, &crownShape);
    rgScene_AddJoint(&s, "slide", lift);
    rgModel* model = rgCompileScene(&s);
    const rgShapeId assembly[] = {s.baseShape, columnShape, topShape, crownShape};
    for (int i = 0; i < 4; ++i) {
        assert_false(rgModel_ShapesMeet(model, liftShape, assembly[i])); // carried by it
        assert_false(rgModel_ShapesMeet(model, assembly[i], s.armShape));
        assert_false(rgModel_ShapesMeet(model, assembly[i], capShape)); // both static
        assert_true(rgModel_ShapesMeet(model, assembly[i], s.handShape));
    }
    assert_true(rgModel_ShapesMeet(model, liftShape, pillarShape));
    assert_true(rgModel_ShapesMeet(model, liftShape, capShape));
    assert_true(rgModel_ShapesMeet(model, liftShape, s.floor));
    EXPECT_NEAR(rgModel_BodyLink(model, top).pose.p.z, 3, 1e-15);
    EXPECT_NEAR(rgModel_Info(model).staticMass, 2 * 6, 1e-12);
    rgDestroyModel(model);
    rgDestroyModelDef(s.def);
}

static void test_masks_excludes_and_pairs(void** state) {
    (void)state;
    rgScene s = rgMakeScene();
    rgMaterial ice = {.mu = 0.01, .dimension = 3};
    s.def->shapes[s.handShape.index1 - 1].group = 2;
    s.def->shapes[s.handShape.index1 - 1].mask = 0;
    assert_int_equal(rgModelDef_ExcludePair(s.def, (rgBodyId){0}, s.arm), rg_ok);
    assert_int_equal(rgModelDef_AddPair(s.def, s.armShape, s.handShape, &ice), rg_ok);
    rgModel* model = rgCompileScene(&s);
    assert_false(rgModel_ShapesMeet(model, s.handShape, s.floor)); // no bit in common
    assert_false(rgModel_ShapesMeet(model, s.floor, s.armShape));  // excluded
    assert_true(rgModel_ShapesMeet(model, s.handShape, s.armShape));
    EXPECT_NEAR(rgModel_PairMaterial(model, s.handShape, s.armShape).mu, 0.01, 0);
    rgDestroyModel(model);
    s.def->shapes[s.floor.index1 - 1].mask = 2; // the floor now looks for the hand's group
    model = rgCompileScene(&s);
    assert_true(rgModel_ShapesMeet(model, s.handShape, s.floor));
    rgDestroyModel(model);
    rgDestroyModelDef(s.def);
}

static void test_materials_combine(void** state) {
    (void)state;
    rgScene s = rgMakeScene();
    s.def->shapes[s.handShape.index1 - 1].material = (rgMaterial){.mu = 0.4,
                                                                  .restitution = 0.2,
                                                                  .stiffness = 100,
                                                                  .tangentialStiffness = 50,
                                                                  .tangentialDamping = 3,
                                                                  .dimension = 3};
    s.def->shapes[s.floor.index1 - 1].material = (rgMaterial){.mu = 0.9,
                                                              .restitution = 0.5,
                                                              .stiffness = 300,
                                                              .tangentialStiffness = 200,
                                                              .dimension = 4};
    rgModel* model = rgCompileScene(&s);
    rgMaterial both = rgModel_PairMaterial(model, s.handShape, s.floor);
    EXPECT_NEAR(both.mu, 0.6, 1e-15);
    EXPECT_NEAR(both.restitution, 0.5, 0);
    EXPECT_NEAR(both.stiffness, 75, 1e-13);
    EXPECT_NEAR(both.tangentialStiffness, 40, 1e-13);
    EXPECT_NEAR(both.tangentialDamping, 3, 0);
    assert_int_equal(both.dimension, 4);
    rgDestroyModel(model);
    s.def->shapes[s.handShape.index1 - 1].priority = 1;
    model = rgCompileScene(&s);
    EXPECT_NEAR(rgModel_PairMaterial(model, s.floor, s.handShape).mu, 0.4, 0);
    rgDestroyModel(model);
    rgDestroyModelDef(s.def);
}

static void test_friction_rules(void** state) {
    (void)state;
    const struct {
        rgFrictionRule hand, floor;
        double mu, muRolling, muImpact;
    } cases[] = {{rg_frictionUnset, rg_frictionUnset, 0.6, 0, 0.3},
                 {rg_frictionGeometric, rg_frictionUnset, 0.6, 0, 0.3},
                 {rg_frictionAverage, rg_frictionGeometric, 0.65, 0.005, 0.5},
                 {rg_frictionAverage, rg_frictionMinimum, 0.4, 0, 0.1},
                 {rg_frictionMaximum, rg_frictionMinimum, 0.9, 0.01, 0.9}};
    for (int i = 0; i < RG_COUNT(cases); ++i) {
        rgScene s = rgMakeScene();
        s.def->shapes[s.handShape.index1 - 1].material =
            (rgMaterial){.mu = 0.4,
                         .dimension = 6,
                         .muImpact = 0.1,
                         .transitionSpeed = 0.2,
                         .frictionRule = cases[i].hand};
        s.def->shapes[s.floor.index1 - 1].material = (rgMaterial){
            .mu = 0.9, .muRolling = 0.01, .dimension = 3, .frictionRule = cases[i].floor};
        rgModel* model = rgCompileScene(&s);
        rgMaterial both = rgModel_PairMaterial(model, s.handShape, s.floor);
        EXPECT_NEAR(both.mu, cases[i].mu, 1e-15);
        EXPECT_NEAR(both.muRolling, cases[i].muRolling, 1e-15);
        EXPECT_NEAR(both.muImpact, cases[i].muImpact, 1e-15); // 0.9 of the floor at any speed
        EXPECT_NEAR(both.transitionSpeed, 0.2, 0);
        rgDestroyModel(model);
        rgDestroyModelDef(s.def);
    }
}

// In series, each side dissipates by its own share of the way: the softer one counts more.
static void test_dissipations_combine(void** state) {
    (void)state;
    const double springs[][3] = {{100, 300, 0.75 * 2 + 0.25 * 5}, {100, 0, 2}, {0, 300, 5}};
    for (int i = 0; i < RG_COUNT(springs); ++i) {
        rgScene s = rgMakeScene();
        rgMaterial* hand = &s.def->shapes[s.handShape.index1 - 1].material;
        rgMaterial* floor = &s.def->shapes[s.floor.index1 - 1].material;
        hand->stiffness = springs[i][0];
        hand->dissipation = 2;
        floor->stiffness = springs[i][1];
        floor->dissipation = 5;
        rgModel* model = rgCompileScene(&s);
        rgMaterial both = rgModel_PairMaterial(model, s.handShape, s.floor);
        EXPECT_NEAR(both.dissipation, springs[i][2], 1e-14);
        rgDestroyModel(model);
        rgDestroyModelDef(s.def);
    }
}

static int rgCountWarnings(const rgScene* s, const char* text) {
    rgDiagnostics* said = NULL;
    rgModel* model = NULL;
    int count = 0;
    rgCreateDiagnostics(NULL, &said);
    assert_int_equal(rgCompileModel(s->def, NULL, said, &model), rg_ok);
    for (int i = 0; i < rgDiagnostics_Count(said); ++i) {
        count += strstr(rgDiagnostics_Message(said, i).text, text) != NULL;
    }
    rgDestroyModel(model);
    rgDestroyDiagnostics(said);
    return count;
}

// What has no effect is said, once for each reason.
static void test_vain_materials_warn(void** state) {
    (void)state;
    const struct {
        rgMaterial material;
        const char* text;
    } cases[] = {
        {{.stiffness = 1e4, .restitution = 0.5, .dimension = 3}, "restitution has no effect"},
        {{.damping = 10, .dimension = 3}, "contact damping has no effect"},
        {{.dissipation = 1, .dimension = 3}, "contact dissipation has no effect"},
        {{.tangentialDamping = 1, .dimension = 3}, "tangential contact damping has no effect"},
        {{.muTorsion = 0.1, .dimension = 3}, "torsional friction has no effect"},
        {{.muRolling = 0.1, .dimension = 4}, "rolling friction has no effect"},
        {{.muImpact = 0.1, .dimension = 3}, "friction in impacts has no effect"},
    };
    rgScene s = rgMakeScene();
    rgMaterial* hand = &s.def->shapes[s.handShape.index1 - 1].material;
    rgMaterial* floor = &s.def->shapes[s.floor.index1 - 1].material;
    rgMaterial plain = *hand;
    assert_int_equal(rgCountWarnings(&s, "no effect"), 0);
    for (int i = 0; i < RG_COUNT(cases); ++i) {
        *hand = cases[i].material;
        assert_int_equal(rgCountWarnings(&s, cases[i].text), 1);
        assert_int_equal(rgCountWarnings(&s, "no effect"), 1);
        *floor = *hand;
        assert_int_equal(rgCountWarnings(&s, cases[i].text), 1);
        assert_int_equal(rgCountWarnings(&s, "' and 1 more: "), 1);
        *floor = plain;
        floor->dimension = 6; // torsion and rolling now act between the two
        assert_int_equal(rgCountWarnings(&s, "no effect"), i == 4 || i == 5 ? 0 : 1);
        *floor = plain;
    }
    rgDestroyModelDef(s.def);
}

static void test_keys_are_completed(void** state) {
    (void)state;
    rgScene s = rgMakeScene();
    s.def->joints[1].reference = 0.3;
    rgKeyDef key = rgDefaultKeyDef();
    rgKeyId id;
    double v[2] = {1, 2};
    key.name = "start";
    key.v = v;
    key.vCount = 2;
    assert_int_equal(rgModelDef_AddKey(s.def, &key, &id), rg_ok);
    rgModel* model = rgCompileScene(&s);
    const rgKeyDef* made = rgModel_Key(model, rgModel_FindKey(model, "start"));
    assert_int_equal(made->qCount, 2);
    EXPECT_NEAR(made->q[0], 0, 0);
    EXPECT_NEAR(made->q[1], 0.3, 0);
    EXPECT_NEAR(made->v[1], 2, 0);
    rgDestroyModel(model);
    rgDestroyModelDef(s.def);
}

// M of a chain has half the square of its joints; the count must not overflow on the way.
static void test_too_deep_a_chain_is_refused(void** state) {
    (void)state;
    rgModelDef* def = NULL;
    rgModel* model = NULL;
    rgDiagnostics* said = NULL;
    rgCreateModelDef(NULL, &def);
    rgCreateDiagnostics(NULL, &said);
    rgBodyId last = {0};
    for (int i = 0; i < 66000; ++i) {
        rgBodyDef body = rgDefaultBodyDef();
        body.parent = last;
        body.inertia = (rgInertia){.mass = 1, .moment = {.xx = 1, .yy = 1, .zz = 1}};
        assert_int_equal(rgModelDef_AddBody(def, &body, &last), rg_ok);
        rgJointDef joint = rgDefaultJointDef();
        joint.body = last;
        joint.kind = rg_jointRevolute;
        joint.axis = (rgVec3){0, 1, 0};
        assert_int_equal(rgModelDef_AddJoint(def, &joint, NULL), rg_ok);
    }
    assert_int_equal(rgCompileModel(def, NULL, said, &model), rg_errorArgument);
    assert_non_null(strstr(rgDiagnostics_Message(said, 0).text, "the trees are too deep"));
    rgDestroyDiagnostics(said);
    rgDestroyModelDef(def);
}

// Changes of parts are checked as the kind that they are.
static void test_changes_are_checked(void** state) {
    (void)state;
    rgBodyDef body = rgDefaultBodyDef();
    rgJointDef joint = rgDefaultJointDef();
    rgShapeDef shape = rgDefaultShapeDef();
    rgTendonDef tendon = rgDefaultTendonDef();
    rgActuatorDef actuator = rgDefaultActuatorDef();
    rgEqualityDef equality = rgDefaultEqualityDef();
    body.inertia = rgInertiaFromShape(rg_shapeSphere, rgVec(1, 0, 0), 1);
    joint.kind = rg_jointRevolute;
    joint.damping = actuator.kp = tendon.damping = shape.material.mu = -1;
    body.gravityCompensation = equality.stiffness = NAN;
    const struct {
        rgPartKind kind;
        const void* part;
        const char* text;
    } bad[] = {{rg_partBody, &body, "body"},        {rg_partJoint, &joint, "joint"},
               {rg_partShape, &shape, "shape"},     {rg_partTendon, &tendon, "tendon"},
               {rg_partActuator, &actuator, "act"}, {rg_partEquality, &equality, "equality"}};
    for (int i = 0; i < 6; ++i) {
        rgDiagnostics* said = NULL;
        assert_int_equal(rgCreateDiagnostics(NULL, &said), rg_ok);
        assert_false(rgCheckChange(bad[i].kind, 1, bad[i].part, said));
        assert_int_equal(
            strncmp(rgDiagnostics_Message(said, 0).text, bad[i].text, strlen(bad[i].text)), 0);
        rgDestroyDiagnostics(said);
    }
}

static void test_lack_of_memory_is_reported(void** state) {
    (void)state;
    rgScene s = rgMakeScene();
    rgCounter counter = {.failAfter = -1};
    rgAllocator allocator = rgCountingAllocator(&counter);
    rgModel* model = NULL;
    assert_int_equal(rgCompileModel(s.def, &allocator, NULL, &model), rg_ok);
    rgDestroyModel(model);
    int needed = counter.allocations;
    for (int i = 0; i < needed; ++i) {
        counter = (rgCounter){.failAfter = i};
        assert_int_equal(rgCompileModel(s.def, &allocator, NULL, &model), rg_errorMemory);
        assert_int_equal(counter.live, 0);
    }
    rgDestroyModelDef(s.def);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_mistake_has_its_message),
        cmocka_unit_test(test_unphysical_moment_is_a_warning),
        cmocka_unit_test(test_sizes_names_and_views),
        cmocka_unit_test(test_fixed_bodies_are_merged),
        cmocka_unit_test(test_kinematic_bodies_move),
        cmocka_unit_test(test_order_is_depth_first),
        cmocka_unit_test(test_filters),
        cmocka_unit_test(test_nested_static_assemblies),
        cmocka_unit_test(test_masks_excludes_and_pairs),
        cmocka_unit_test(test_materials_combine),
        cmocka_unit_test(test_friction_rules),
        cmocka_unit_test(test_dissipations_combine),
        cmocka_unit_test(test_vain_materials_warn),
        cmocka_unit_test(test_keys_are_completed),
        cmocka_unit_test(test_too_deep_a_chain_is_refused),
        cmocka_unit_test(test_changes_are_checked),
        cmocka_unit_test(test_lack_of_memory_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
