// MJCF: each rule of the format on a small file, against values computed by hand.
#include "mjcf_text.h"
#include "source_dir.h"

// Values of the class, then of the classes around it; a childclass for those without their own.
static void test_classes(void** state) {
    (void)state;
    rgParsed f = rgParse(
        "<mujoco><default><geom friction='.5 .1 .2' condim='4' size='1'/>"
        "<default class='a'><geom friction='.6' contype='2'/>"
        "<default class='b'><geom conaffinity='4' condim='6'/></default></default></default>"
        "<worldbody><geom/><geom class='b'/>"
        "<body childclass='a'><geom/><geom class='main' friction='.9 .8'/>"
        "<body><geom class='b' contype='8'/></body></body></worldbody></mujoco>");
    const struct {
        double mu, torsion, rolling;
        int condim;
        uint32_t group, mask;
    } expected[] = {
        {0.5, 0.1, 0.2, 4, 1, 1}, {0.6, 0.1, 0.2, 6, 2, 4}, {0.6, 0.1, 0.2, 4, 2, 1},
        {0.9, 0.8, 0.2, 4, 1, 1}, {0.6, 0.1, 0.2, 6, 8, 4},
    };
    assert_int_equal(f.def->shapeCount, 5);
    for (int i = 0; i < 5; ++i) {
        const rgShapeDef* s = &f.def->shapes[i];
        EXPECT_NEAR(s->material.mu, expected[i].mu, 0);
        EXPECT_NEAR(s->material.muTorsion, expected[i].torsion, 0);
        EXPECT_NEAR(s->material.muRolling, expected[i].rolling, 0);
        assert_int_equal(s->material.dimension, expected[i].condim);
        assert_int_equal(s->group, expected[i].group);
        assert_int_equal(s->mask, expected[i].mask);
    }
    rgParsed_Close(&f);
}

// Two <default> sections write one class; a repeated element adds to it.
static void test_classes_merge(void** state) {
    (void)state;
    rgParsed f = rgParse("<mujoco><default><default class='a'><geom size='2'/></default></default>"
                         "<default><default class='a'><geom mass='3'/></default></default>"
                         "<worldbody><geom class='a'/></worldbody></mujoco>");
    rgExpectVec(f.def->shapes[0].size, 2, 0, 0);
    rgParsed_Close(&f);
}

static void test_include(void** state) {
    (void)state;
    rgDiagnostics* said = NULL;
    rgModelDef* def = NULL;
    assert_int_equal(rgCreateDiagnostics(NULL, &said), rg_ok);
    assert_int_equal(rgLoadModelDef(RIGOR_SOURCE_DIR "/test/io/mjcf/main.xml", NULL, said, &def),
                     rg_ok);
    assert_int_equal(rgDiagnostics_CountOf(said, rg_severityWarning), 0);
    assert_int_equal(def->jointCount, 1);
    assert_string_equal(def->joints[0].name, "included");
    assert_true(def->joints[0].hasLimits);
    EXPECT_NEAR(def->joints[0].lower, -1, 0); // radian, said in the included file
    EXPECT_NEAR(def->bodies[0].inertia.mass, 2, 1e-15);
    assert_non_null(strstr(def->joints[0].source.file, "joint.xml"));
    assert_int_equal(def->joints[0].source.line, 2);
    rgDestroyModelDef(def);
    rgDestroyDiagnostics(said);
}

// z runs from the second end to the first.
// Relative to the main file or, where there is no such file, to the one that includes.
static void test_nested_include(void** state) {
    (void)state;
    rgModelDef* def = NULL;
    assert_int_equal(rgLoadModelDef(RIGOR_SOURCE_DIR "/test/io/mjcf/nested.xml", NULL, NULL, &def),
                     rg_ok);
    assert_int_equal(def->jointCount, 1);
    assert_string_equal(def->joints[0].name, "inner");
    rgDestroyModelDef(def);
}

// A mesh is beside the main file or, where it is not there, beside the one that names it.
static void test_included_mesh(void** state) {
    (void)state;
    rgParsed f = rgParse("<mujoco><include file='deeper/meshes.xml'/><worldbody><body>"
                         "<geom type='mesh' mesh='tetra'/></body></worldbody></mujoco>");
    rgExpectClean(&f);
    assert_int_equal(f.def->shapes[0].mesh->vertexCount, 4);
    rgParsed_Close(&f);
}

// Attributes without a value are as good as none.
static void test_empty_attributes(void** state) {
    (void)state;
    rgParsed f =
        rgParse("<mujoco><worldbody><body name='' childclass=''><joint range='' axis=' '/>"
                "<geom size='.1' material='' rgba='' mesh=''/></body></worldbody></mujoco>");
    rgExpectClean(&f);
    assert_false(f.def->joints[0].hasLimits);
    rgParsed_Close(&f);
}

// A model without a name is called as its file says, and copies of what is attached are numbered.
static void test_attached_copies(void** state) {
    (void)state;
    rgParsed f = rgParse("<mujoco><asset><model file='named.xml'/></asset><worldbody>"
                         "<replicate count='2' sep='-' offset='5 0 0'><frame pos='0 1 0'>"
                         "<attach model='limb' body='fore' prefix='l/'/></frame></replicate>"
                         "</worldbody></mujoco>");
    rgExpectClean(&f);
    assert_int_equal(rgModelDef_FindBody(f.def, "l/fore").index1, 0);
    rgBodyId first = rgModelDef_FindBody(f.def, "l/fore-0");
    rgBodyId second = rgModelDef_FindBody(f.def, "l/fore-1");
    assert_true(first.index1 > 0 && second.index1 > 0);
    rgVec3 apart =
        rgSub(rgModelDef_Body(f.def, second)->pose.p, rgModelDef_Body(f.def, first)->pose.p);
    rgExpectVec(apart, 5, 0, 0);
    rgParsed_Close(&f);
}

// The world as the object of a frame sensor: its frame.
static void test_sensor_of_the_world(void** state) {
    (void)state;
    rgParsed f = rgParse("<mujoco><worldbody><body><joint/><geom size='1'/><site name='s'/></body>"
                         "</worldbody><sensor><framezaxis objtype='body' objname='world' "
                         "reftype='site' refname='s'/></sensor></mujoco>");
    rgExpectClean(&f);
    rgModel* model = NULL;
    assert_int_equal(rgCompileModel(f.def, NULL, NULL, &model), rg_ok);
    rgDestroyModel(model);
    rgParsed_Close(&f);
}

static void test_contact_sensors(void** state) {
    (void)state;
    rgParsed f =
        rgParse("<mujoco><worldbody><geom name='f' type='plane' size='1 1 1' "
                "surfacevel='1 2'/><body name='b'><freejoint/><geom name='g' size='1'/>"
                "</body></worldbody><sensor><contact geom1='f' subtree2='b' num='3' "
                "data='force  dist normal' reduce='mindist'/><contact/></sensor></mujoco>");
    rgExpectClean(&f);
    const rgSensorDef* s = f.def->sensors;
    assert_int_equal(s[0].sides[0].part, rg_contactPartShape);
    assert_int_equal(s[0].sides[0].shape.index1, 1);
    assert_int_equal(s[0].sides[1].part, rg_contactPartSubtree);
    assert_int_equal(s[0].sides[1].body.index1, 1);
    assert_int_equal(s[0].contactNumbers, rg_contactForces | rg_contactGap | rg_contactNormal);
    assert_int_equal(s[0].contactCount, 3);
    assert_int_equal(s[0].contactChoice, rg_contactNearest);
    assert_int_equal(s[1].contactNumbers, rg_contactFound);
    assert_int_equal(s[1].sides[0].part, rg_contactPartAny);
    rgExpectVec(f.def->shapes[0].surfaceVelocity, 1, 2, 0);
    rgParsed_Close(&f);
    static const char* const refused[][2] = {
        {"data='normal force'", "'force' is unknown or out of order"},
        {"data='found found'", "'found' is unknown or out of order"},
        {"data='weight'", "'weight' is unknown or out of order"},
        {"num='0'", "0 is not within 1 and 10000"},
        {"geom1='f' body1='world'", "side 1 is given twice"},
        {"geom1='h'", "no geom 'h'"},
    };
    for (int i = 0; i < (int)(sizeof(refused) / sizeof(refused[0])); ++i) {
        char text[500];
        snprintf(text, sizeof(text),
                 "<mujoco><worldbody><geom name='f' size='1'/></worldbody><sensor><contact %s/>"
                 "</sensor></mujoco>",
                 refused[i][0]);
        rgDiagnostics* said = NULL;
        rgModelDef* def = NULL;
        assert_int_equal(rgCreateDiagnostics(NULL, &said), rg_ok);
        assert_int_equal(rgParseMjcf(text, strlen(text), NULL, NULL, said, &def), rg_errorFormat);
        if (strstr(rgDiagnostics_Message(said, 0).text, refused[i][1]) == NULL) {
            fail_msg("%s: %s", refused[i][0], rgDiagnostics_Message(said, 0).text);
        }
        rgDestroyDiagnostics(said);
    }
}

// Another file's body with what belongs to it: its own angles and classes, names under the prefix,
// which this file may use; and all of a file.
static void test_attach(void** state) {
    (void)state;
    rgParsed f = rgParse(
        "<mujoco><compiler angle='radian'/><default><geom density='7'/></default><asset>"
        "<model name='arm' file='arm.xml'/></asset><worldbody><body name='base' pos='0 0 1'>"
        "<joint/><geom size='1'/><frame pos='0 1 0'><attach model='arm' body='fore' prefix='l/'/>"
        "</frame></body><body name='last'><joint name='after'/><geom size='1'/></body>"
        "<attach model='arm' prefix='r/'/></worldbody>"
        "<actuator><motor name='m' joint='l/elbow'/></actuator>"
        "<sensor><jointpos name='s' joint='r/elbow'/></sensor>"
        "<keyframe><key qpos='1 2 3 4 5' ctrl='6 7 8'/></keyframe></mujoco>");
    const rgModelDef* d = f.def;
    static const char* const bodies[] = {"base", "l/fore", "last", "r/upper", "r/fore"};
    assert_int_equal(d->bodyCount, 5);
    for (int i = 0; i < 5; ++i) {
        assert_string_equal(d->bodies[i].name, bodies[i]);
    }
    assert_int_equal(d->bodies[1].parent.index1, 1);
    rgExpectVec(d->bodies[1].pose.p, 0, 1, 0.5);      // in the frame, where it was in its parent
    EXPECT_NEAR(d->joints[1].upper, PI / 2, 1e-15);   // degrees there
    EXPECT_NEAR(d->bodies[1].inertia.mass, 3, 1e-15); // by a class of that file
    EXPECT_NEAR(d->bodies[4].inertia.mass, 3, 1e-15);
    assert_int_equal(d->shapeCount, 6); // the floor came with all of the file, not with the body
    assert_int_equal(d->actuatorCount, 3);
    assert_string_equal(d->actuators[0].name, "m"); // its own first, as MuJoCo has them
    assert_string_equal(d->actuators[1].name, "l/servo");
    assert_int_equal(d->actuators[0].joint.index1, 2);
    assert_int_equal(d->sensors[0].joint.index1, 5);
    assert_int_equal(d->keyCount, 1);
    assert_int_equal(d->keys[0].qCount, 5);
    EXPECT_NEAR(d->keys[0].control[2], 8, 0);
    rgParsed_Close(&f);
}

static void rgExpectNames(const char* const* names, int count, const void* parts, size_t size) {
    for (int i = 0; i < count; ++i) {
        const char* const* name = (const void*)((const char*)parts + (size_t)i * size);
        assert_string_equal(*name, names[i]);
    }
}

// Tendons, equalities, actuators and sensors: the file's own, then those of the models in the order
// in which they are attached, also of models in models. The order is that of MuJoCo 3.14.
static void test_attach_order(void** state) {
    (void)state;
    rgParsed f = rgParse(
        "<mujoco><asset><model name='whole' file='attached.xml'/></asset><worldbody>"
        "<body name='first'><joint name='j1'/><geom size='.1'/><frame><attach model='whole' "
        "body='n' prefix='x/'/></frame></body><frame><attach model='whole' body='n' prefix='y/'/>"
        "</frame><body name='own'><joint name='jo'/><joint name='jp'/><geom size='.1'/></body>"
        "</worldbody><tendon><fixed name='to'><joint joint='jo' coef='1'/></fixed></tendon>"
        "<equality><tendon name='eo' tendon1='to' tendon2='x/t'/></equality><actuator>"
        "<motor name='m1' joint='j1'/><motor name='mt' tendon='to'/><position name='mo' joint='jo' "
        "timeconst='0.1'/></actuator><sensor>"
        "<actuatorfrc name='so' actuator='x/mt'/></sensor><keyframe><key ctrl='1 2 3 4 5 6 7' "
        "act='9 10 11'/></keyframe></mujoco>");
    static const char* const tendons[] = {"to", "x/t", "y/t"};
    static const char* const equalities[] = {"eo", "x/e", "y/e"};
    static const char* const actuators[] = {"m1", "mt", "mo", "x/mt", "x/p", "y/mt", "y/p"};
    static const char* const sensors[] = {"so", "x/s", "y/s"};
    const rgModelDef* d = f.def;
    assert_int_equal(d->tendonCount, 3);
    assert_int_equal(d->equalityCount, 3);
    assert_int_equal(d->actuatorCount, 7);
    assert_int_equal(d->sensorCount, 3);
    rgExpectNames(tendons, 3, d->tendons, sizeof(*d->tendons));
    rgExpectNames(equalities, 3, d->equalities, sizeof(*d->equalities));
    rgExpectNames(actuators, 7, d->actuators, sizeof(*d->actuators));
    rgExpectNames(sensors, 3, d->sensors, sizeof(*d->sensors));
    assert_int_equal(d->equalities[0].tendonA.index1, 1);
    assert_int_equal(d->equalities[0].tendonB.index1, 2);
    assert_int_equal(d->actuators[1].tendon.index1, 1);
    assert_int_equal(d->actuators[3].tendon.index1, 2);
    assert_int_equal(d->actuators[5].tendon.index1, 3);
    assert_int_equal(d->sensors[0].actuator.index1, 4);
    assert_int_equal(d->sensors[2].actuator.index1, 7);
    static const double controls[] = {1, 2, 3, 4, 5, 6, 7};
    static const double activations[] = {0, 0, 9, 0, 10, 0, 11};
    for (int i = 0; i < 7; ++i) {
        EXPECT_NEAR(d->keys[0].control[i], controls[i], 0);
        EXPECT_NEAR(d->keys[0].activation[i], activations[i], 0);
    }
    rgParsed_Close(&f);
}

static void test_fromto(void** state) {
    (void)state;
    rgParsed f = rgParse(WORLD("<geom type='capsule' size='.1' fromto='0 0 1 0 0 3'/>"
                               "<geom type='cylinder' size='.1' fromto='0 0 0 2 0 0'/>"
                               "<geom type='box' size='.1' fromto='0 1 0 0 -1 0'/>"
                               "<geom type='ellipsoid' size='.2' fromto='1 0 0 1 0 4'/>"));
    const rgShapeDef* s = f.def->shapes;
    rgExpectVec(s[0].size, 0.1, 1, 0);
    rgExpectVec(s[0].pose.p, 0, 0, 2);
    rgExpectVec(rgRotate(s[0].pose.q, rgVec(0, 0, 1)), 0, 0, -1);
    rgExpectVec(s[1].pose.p, 1, 0, 0);
    rgExpectVec(rgRotate(s[1].pose.q, rgVec(0, 0, 1)), -1, 0, 0);
    rgExpectVec(s[2].size, 0.1, 0.1, 1);
    rgExpectVec(rgRotate(s[2].pose.q, rgVec(0, 0, 1)), 0, 1, 0);
    rgExpectVec(s[3].size, 0.2, 0.2, 2);
    rgParsed_Close(&f);
}

// Small letters turn about the moved axes, capital ones about the fixed axes.
static void test_euler(void** state) {
    (void)state;
    static const struct {
        const char* sequence;
        int axes[3];  // in the order in which rotations multiply, first on the left
        int angle[3]; // which angle each takes
    } cases[] = {{"xyz", {0, 1, 2}, {0, 1, 2}},
                 {"zyx", {2, 1, 0}, {0, 1, 2}},
                 {"zxz", {2, 0, 2}, {0, 1, 2}},
                 {"XYZ", {2, 1, 0}, {2, 1, 0}},
                 {"ZXY", {1, 0, 2}, {2, 1, 0}}};
    const double angles[3] = {30, -40, 70};
    for (int i = 0; i < 5; ++i) {
        char text[300];
        snprintf(text, sizeof(text),
                 "<mujoco><compiler eulerseq='%s'/><worldbody><body euler='30 -40 70'/>"
                 "</worldbody></mujoco>",
                 cases[i].sequence);
        rgParsed f = rgParse(text);
        rgQuat q = rgQuatIdentity();
        for (int k = 0; k < 3; ++k) {
            int axis = cases[i].axes[k];
            q = rgQuatMultiply(q, rgQuatFromAxisAngle(rgVec(axis == 0, axis == 1, axis == 2),
                                                      angles[cases[i].angle[k]] * PI / 180));
        }
        rgQuat a = f.def->bodies[0].pose.q;
        EXPECT_NEAR(fabs(a.w * q.w + a.x * q.x + a.y * q.y + a.z * q.z), 1, 1e-15);
        rgParsed_Close(&f);
    }
}

static void test_orientations(void** state) {
    (void)state;
    rgParsed f =
        rgParse(WORLD("<body axisangle='0 0 3 90'/><body xyaxes='0 2 0 -1 5 0'/>"
                      "<body zaxis='1 0 0'/><body zaxis='0 0 -2'/><body quat='2 0 0 2'/>"));
    const rgBodyDef* b = f.def->bodies;
    rgExpectVec(rgRotate(b[0].pose.q, rgVec(1, 0, 0)), 0, 1, 0);
    rgExpectVec(rgRotate(b[1].pose.q, rgVec(1, 0, 0)), 0, 1, 0);
    rgExpectVec(rgRotate(b[1].pose.q, rgVec(0, 1, 0)), -1, 0, 0);
    rgExpectVec(rgRotate(b[2].pose.q, rgVec(0, 0, 1)), 1, 0, 0);
    rgExpectVec(rgRotate(b[2].pose.q, rgVec(0, 1, 0)), 0, 1, 0);
    rgExpectVec(rgRotate(b[3].pose.q, rgVec(0, 0, 1)), 0, 0, -1);
    rgExpectVec(rgRotate(b[3].pose.q, rgVec(1, 0, 0)), 1, 0, 0);
    rgExpectVec(rgRotate(b[4].pose.q, rgVec(1, 0, 0)), 0, 1, 0);
    rgParsed_Close(&f);
}

// A frame moves bodies, geoms, sites and joints inside it, and hands down its childclass.
static void test_frames(void** state) {
    (void)state;
    rgParsed f = rgParse("<mujoco><default><default class='c'><geom size='.3'/></default></default>"
                         "<worldbody><frame pos='1 0 0' euler='0 0 90' childclass='c'>"
                         "<frame pos='1 0 0'><body pos='0 1 0'><geom/>"
                         "<frame pos='0 0 1' euler='90 0 0'><joint axis='0 0 1' pos='0 1 0'/>"
                         "<geom size='.2' pos='0 0 2'/><site name='s'/></frame></body></frame>"
                         "</frame></worldbody></mujoco>");
    rgExpectVec(f.def->bodies[0].pose.p, 0, 1, 0); // 1 + R (1, 0) + R (0, 1), R a quarter turn
    rgExpectVec(rgRotate(f.def->bodies[0].pose.q, rgVec(1, 0, 0)), 0, 1, 0);
    rgExpectVec(f.def->joints[0].axis, 0, -1, 0);
    rgExpectVec(f.def->joints[0].anchor, 0, 0, 2);
    rgExpectVec(f.def->shapes[0].size, 0.3, 0, 0);
    rgExpectVec(f.def->shapes[1].pose.p, 0, -2, 1);
    rgExpectVec(f.def->frames[0].pose.p, 0, 0, 1);
    rgParsed_Close(&f);
}

// Copies go on from each other: turn by turn times the number, offset in the axes of the one
// before. Names get inner numbers first, with as many digits as the count; what names a copied part
// is copied too.
static void test_replicate(void** state) {
    (void)state;
    rgParsed f = rgParse(
        "<mujoco><worldbody><replicate count='2' offset='0 1 0' euler='90 0 0'>"
        "<replicate count='2' sep='-' offset='1 0 0' euler='0 90 0'><geom name='Alice' size='.1'/>"
        "</replicate></replicate>"
        "<replicate count='10' sep='_' offset='0 0 1'><body name='b'><joint name='j'/>"
        "<frame pos='0 2 0'><geom size='.5' density='1'/></frame></body></replicate></worldbody>"
        "<tendon><fixed name='t'><joint joint='j' coef='2'/></fixed></tendon>"
        "<actuator><motor name='m' joint='j'/></actuator>"
        "<sensor><actuatorfrc name='s' actuator='m'/><tendonpos name='p' tendon='t'/></sensor>"
        "</mujoco>");
    static const char* const names[] = {"Alice-00", "Alice-10", "Alice-01", "Alice-11"};
    const rgShapeDef* shapes = f.def->shapes;
    for (int i = 0; i < 4; ++i) {
        assert_string_equal(shapes[i].name, names[i]);
    }
    rgExpectVec(shapes[1].pose.p, 1, 0, 0);
    rgExpectVec(shapes[2].pose.p, 0, 1, 0);
    rgExpectVec(shapes[3].pose.p, 1, 1, 0);
    // 90 degrees about x, then about the new y: z becomes x, which x leaves alone.
    rgExpectVec(rgRotate(shapes[3].pose.q, rgVec(0, 0, 1)), 1, 0, 0);
    assert_int_equal(f.def->bodyCount, 10);
    assert_string_equal(f.def->bodies[9].name, "b_09");
    rgExpectVec(f.def->bodies[9].pose.p, 0, 0, 9);
    rgExpectVec(f.def->bodies[9].inertia.center, 0, 2, 0);
    assert_int_equal(f.def->tendonCount, 10);
    assert_string_equal(f.def->actuators[3].name, "m_03");
    assert_int_equal(f.def->actuators[3].joint.index1, 4);
    assert_int_equal(f.def->sensorCount, 20);
    assert_int_equal(f.def->sensors[13].tendon.index1, 4);
    rgParsed_Close(&f);
}

static void test_joints(void** state) {
    (void)state;
    rgParsed f = rgParse(
        WORLD("<body><joint name='h' range='-90 45' ref='30' springref='60' stiffness='2' "
              "damping='3' armature='4' frictionloss='5' actuatorfrcrange='-6 6' pos='1 2 3' "
              "axis='0 2 0'/><joint type='slide' range='-1 2' ref='.5'/>"
              "<joint type='ball' range='0 60'/><joint limited='false' range='1 2'/>"
              "<geom size='1'/></body><body><freejoint name='f'/><geom size='1'/></body>"));
    const rgJointDef* j = f.def->joints;
    assert_int_equal(j[0].kind, rg_jointRevolute);
    assert_true(j[0].hasLimits);
    EXPECT_NEAR(j[0].lower, -PI / 2, 1e-15);
    EXPECT_NEAR(j[0].upper, PI / 4, 1e-15);
    EXPECT_NEAR(j[0].reference, PI / 6, 1e-15);
    EXPECT_NEAR(j[0].springReference, PI / 3, 1e-15);
    EXPECT_NEAR(j[0].effortLimit, 6, 0);
    rgExpectVec(j[0].axis, 0, 1, 0);
    rgExpectVec(j[0].anchor, 1, 2, 3);
    const double numbers[] = {j[0].stiffness, j[0].damping, j[0].armature, j[0].dryFriction};
    for (int i = 0; i < 4; ++i) {
        EXPECT_NEAR(numbers[i], i + 2, 0);
    }
    assert_int_equal(j[1].kind, rg_jointPrismatic);
    EXPECT_NEAR(j[1].lower, -1, 0);
    EXPECT_NEAR(j[1].reference, 0.5, 0);
    EXPECT_NEAR(j[2].upper, PI / 3, 1e-15);
    assert_false(j[3].hasLimits);
    assert_int_equal(j[4].kind, rg_jointFree);
    rgParsed_Close(&f);
}

// Densities, masses, groups; the sum of two spheres and of what <inertial> says.
static void test_inertia(void** state) {
    (void)state;
    rgParsed f =
        rgParse(WORLD("<body><joint/><geom size='.1' pos='1 0 0' mass='2'/>"
                      "<geom size='.2' pos='-1 0 0' mass='2'/></body>"
                      "<body><joint/><geom type='box' size='.1 .2 .3' density='500'/></body>"
                      "<body><joint/><inertial pos='1 2 3' mass='4' diaginertia='1 2 3' "
                      "euler='0 0 90'/><geom size='1'/></body>"
                      "<body><joint/><inertial pos='0 0 0' mass='1' fullinertia='2 2 3 .1 .2 .3'/>"
                      "</body>"));
    const rgInertia* a = &f.def->bodies[0].inertia;
    EXPECT_NEAR(a->mass, 4, 0);
    rgExpectVec(a->center, 0, 0, 0);
    double spheres = 0.4 * 2 * (0.01 + 0.04);
    EXPECT_NEAR(a->moment.xx, spheres, 1e-15);
    EXPECT_NEAR(a->moment.yy, spheres + 4, 1e-14);
    const rgInertia* b = &f.def->bodies[1].inertia;
    EXPECT_NEAR(b->mass, 500 * 8 * 0.006, 1e-13);
    EXPECT_NEAR(b->moment.xx, b->mass / 3 * (0.04 + 0.09), 1e-13);
    const rgInertia* c = &f.def->bodies[2].inertia;
    EXPECT_NEAR(c->mass, 4, 0);
    rgExpectVec(c->center, 1, 2, 3);
    EXPECT_NEAR(c->moment.xx, 2, 1e-15); // turned
    EXPECT_NEAR(c->moment.yy, 1, 1e-15);
    const rgInertia* d = &f.def->bodies[3].inertia;
    EXPECT_NEAR(d->moment.xy, 0.1, 0);
    EXPECT_NEAR(d->moment.xz, 0.2, 0);
    EXPECT_NEAR(d->moment.yz, 0.3, 0);
    rgParsed_Close(&f);
}

static void test_gravity_compensation(void** state) {
    (void)state;
    rgParsed f = rgParse(WORLD("<body gravcomp='.5'><joint/><geom size='1'/></body><body/>"));
    EXPECT_NEAR(f.def->bodies[0].gravityCompensation, 0.5, 0);
    EXPECT_NEAR(f.def->bodies[1].gravityCompensation, 0, 0);
    rgParsed_Close(&f);
}

static void test_mocap(void** state) {
    (void)state;
    rgParsed f = rgParse(WORLD("<body name='hand' mocap='true' pos='1 2 3'><geom size='1'/></body>"
                               "<body mocap='false'><joint/><geom size='1'/></body>"));
    assert_true(f.def->bodies[0].kinematic);
    assert_false(f.def->bodies[1].kinematic);
    rgParsed_Close(&f);
}

static rgInertia rgInertiaUnder(const char* compiler, const char* body) {
    char text[1000];
    snprintf(text, sizeof(text),
             "<mujoco><compiler %s/><worldbody><body><joint/>%s</body></worldbody></mujoco>",
             compiler, body);
    rgParsed f = rgParse(text);
    rgInertia inertia = f.def->bodies[0].inertia;
    rgParsed_Close(&f);
    return inertia;
}

static void test_compiler_inertia(void** state) {
    (void)state;
    const char* both = "<inertial pos='0 0 0' mass='1' diaginertia='1 1 1'/><geom size='1' "
                       "mass='2'/><geom size='1' mass='4' group='3'/>";
    EXPECT_NEAR(rgInertiaUnder("", both).mass, 1, 0);
    EXPECT_NEAR(rgInertiaUnder("inertiafromgeom='true'", both).mass, 6, 0);
    EXPECT_NEAR(rgInertiaUnder("inertiafromgeom='true' inertiagrouprange='1 5'", both).mass, 4, 0);
    EXPECT_NEAR(rgInertiaUnder("inertiafromgeom='false'", both).mass, 1, 0);
    EXPECT_NEAR(rgInertiaUnder("inertiafromgeom='false'", "<geom size='1'/>").mass, 0, 0);
    EXPECT_NEAR(rgInertiaUnder("boundmass='7'", both).mass, 7, 0);
    EXPECT_NEAR(rgInertiaUnder("boundinertia='2'", both).moment.yy, 2, 1e-15);
    EXPECT_NEAR(rgInertiaUnder("settotalmass='5'", both).mass, 5, 1e-15);
    EXPECT_NEAR(rgInertiaUnder("settotalmass='5'", both).moment.zz, 5, 1e-15);
    const char* thin = "<inertial pos='0 0 0' mass='1' diaginertia='1 2 6'/>";
    EXPECT_NEAR(rgInertiaUnder("balanceinertia='true'", thin).moment.xx, 3, 1e-14);
    EXPECT_NEAR(rgInertiaUnder("balanceinertia='true'", thin).moment.zz, 3, 1e-14);
}

static void test_options(void** state) {
    (void)state;
    rgParsed f =
        rgParse("<mujoco model='m'><option timestep='.004' gravity='0 1 2' cone='elliptic' "
                "iterations='3'/><visual/><statistic/><size njmax='3'/><worldbody>"
                "<light/><camera/></worldbody></mujoco>");
    assert_string_equal(f.def->name, "m");
    EXPECT_NEAR(f.def->options.timeStep, 0.004, 0);
    assert_true(f.def->options.hasGravity);
    rgExpectVec(f.def->options.gravity, 0, 1, 2);
    assert_int_equal(rgDiagnostics_Count(f.diagnostics), 2); // cone and iterations are not ours
    rgParsed_Close(&f);
    f = rgParse("<mujoco><option><flag gravity='disable'/></option></mujoco>");
    assert_true(f.def->options.hasGravity);
    rgExpectVec(f.def->options.gravity, 0, 0, 0);
    EXPECT_NEAR(f.def->options.timeStep, 0.002, 0); // what MJCF means
    assert_true(f.def->options.impliedTimeStep);
    rgParsed_Close(&f);
}

// models/ load and compile without a remark but notes, and carry their key frames.
static void test_builtin(void** state) {
    (void)state;
    int count = rgBuiltinModelCount();
    assert_true(count >= 6);
    assert_null(rgBuiltinModelAt(count));
    assert_null(rgFindBuiltinModel("nothing"));
    for (int i = 0; i < count; ++i) {
        rgDiagnostics* said = NULL;
        rgModelDef* def = NULL;
        rgModel* model = NULL;
        assert_int_equal(rgCreateDiagnostics(NULL, &said), rg_ok);
        assert_int_equal(rgLoadModelDef(rgBuiltinModelAt(i)->name, NULL, said, &def), rg_ok);
        assert_int_equal(rgCompileModel(def, NULL, said, &model), rg_ok);
        rgPrintRemarks(said);
        assert_int_equal(rgDiagnostics_CountOf(said, rg_severityWarning), 0);
        rgDestroyModel(model);
        rgDestroyModelDef(def);
        rgDestroyDiagnostics(said);
    }
}

static void test_no_builtin(void** state) {
    (void)state;
    rgDiagnostics* said = NULL;
    rgModelDef* def = NULL;
    assert_int_equal(rgCreateDiagnostics(NULL, &said), rg_ok);
    assert_int_equal(rgLoadModelDef("quadrupd", NULL, said, &def), rg_errorFile);
    assert_int_equal(rgLoadModelDef("zzz", NULL, said, &def), rg_errorFile);
    assert_int_equal(rgDiagnostics_Count(said), 2);
    assert_string_equal(rgDiagnostics_Message(said, 0).text,
                        "is neither a file nor a built-in model; did you mean 'quadruped'?");
    assert_string_equal(rgDiagnostics_Message(said, 1).text,
                        "is neither a file nor a built-in model");
    rgDestroyDiagnostics(said);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_classes),
        cmocka_unit_test(test_classes_merge),
        cmocka_unit_test(test_include),
        cmocka_unit_test(test_nested_include),
        cmocka_unit_test(test_attach),
        cmocka_unit_test(test_attach_order),
        cmocka_unit_test(test_included_mesh),
        cmocka_unit_test(test_empty_attributes),
        cmocka_unit_test(test_attached_copies),
        cmocka_unit_test(test_sensor_of_the_world),
        cmocka_unit_test(test_contact_sensors),
        cmocka_unit_test(test_fromto),
        cmocka_unit_test(test_euler),
        cmocka_unit_test(test_orientations),
        cmocka_unit_test(test_frames),
        cmocka_unit_test(test_replicate),
        cmocka_unit_test(test_joints),
        cmocka_unit_test(test_inertia),
        cmocka_unit_test(test_gravity_compensation),
        cmocka_unit_test(test_mocap),
        cmocka_unit_test(test_compiler_inertia),
        cmocka_unit_test(test_options),
        cmocka_unit_test(test_builtin),
        cmocka_unit_test(test_no_builtin),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
