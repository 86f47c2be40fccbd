// MJCF: each rule of the format on a small file, against values computed by hand.
#include "model/def.h"
#include "rigor/rigor.h"
#include "source_dir.h"
#include "support.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PI 3.14159265358979323846

typedef struct rgFixture {
    rgDiagnostics* diagnostics;
    rgModelDef* def;
} rgFixture;

static rgFixture rgParseWith(const char* text, const rgLoadDef* load) {
    rgFixture f = {0};
    assert_int_equal(rgCreateDiagnostics(NULL, &f.diagnostics), rg_ok);
    rgResult result = rgParseMjcf(text, strlen(text), RIGOR_SOURCE_DIR "/test/io/mjcf/x.xml", load,
                                  f.diagnostics, &f.def);
    int remarks = rgDiagnostics_CountOf(f.diagnostics, rg_severityWarning) +
                  rgDiagnostics_CountOf(f.diagnostics, rg_severityError);
    for (int i = 0; (result != rg_ok || remarks > 0) && i < rgDiagnostics_Count(f.diagnostics);
         ++i) {
        rgMessage message = rgDiagnostics_Message(f.diagnostics, i);
        print_error("%d: %s\n", message.line, message.text);
    }
    assert_int_equal(result, rg_ok);
    assert_int_equal(remarks, 0);
    return f;
}

static rgFixture rgParse(const char* text) {
    return rgParseWith(text, NULL);
}

static void rgClose(rgFixture* f) {
    rgDestroyModelDef(f->def);
    rgDestroyDiagnostics(f->diagnostics);
}

static void rgExpectVec(rgVec3 actual, double x, double y, double z) {
    EXPECT_NEAR(actual.x, x, 1e-14);
    EXPECT_NEAR(actual.y, y, 1e-14);
    EXPECT_NEAR(actual.z, z, 1e-14);
}

#define WORLD(text) "<mujoco><worldbody>" text "</worldbody></mujoco>"

// Values of the class, then of the classes around it; a childclass for those without their own.
static void test_classes(void** state) {
    (void)state;
    rgFixture f = rgParse(
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
    rgClose(&f);
}

// Two <default> sections write one class; a repeated element adds to it.
static void test_classes_merge(void** state) {
    (void)state;
    rgFixture f = rgParse("<mujoco><default><default class='a'><geom size='2'/></default></default>"
                          "<default><default class='a'><geom mass='3'/></default></default>"
                          "<worldbody><geom class='a'/></worldbody></mujoco>");
    rgExpectVec(f.def->shapes[0].size, 2, 0, 0);
    rgClose(&f);
}

static void test_include(void** state) {
    (void)state;
    rgDiagnostics* said = NULL;
    rgModelDef* def = NULL;
    assert_int_equal(rgCreateDiagnostics(NULL, &said), rg_ok);
    assert_int_equal(rgLoadModelDef(RIGOR_SOURCE_DIR "/test/io/mjcf/main.xml", NULL, said, &def),
                     rg_ok);
    assert_int_equal(rgDiagnostics_Count(said), 0);
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

// Another file's body with what belongs to it: its own angles and classes, names under the prefix,
// which this file may use; and all of a file.
static void test_attach(void** state) {
    (void)state;
    rgFixture f = rgParse(
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
    rgClose(&f);
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
    rgFixture f = rgParse(
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
    rgClose(&f);
}

static void test_fromto(void** state) {
    (void)state;
    rgFixture f = rgParse(WORLD("<geom type='capsule' size='.1' fromto='0 0 1 0 0 3'/>"
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
    rgClose(&f);
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
        rgFixture f = rgParse(text);
        rgQuat q = rgQuatIdentity();
        for (int k = 0; k < 3; ++k) {
            int axis = cases[i].axes[k];
            q = rgQuatMultiply(q, rgQuatFromAxisAngle(rgVec(axis == 0, axis == 1, axis == 2),
                                                      angles[cases[i].angle[k]] * PI / 180));
        }
        rgQuat a = f.def->bodies[0].pose.q;
        EXPECT_NEAR(fabs(a.w * q.w + a.x * q.x + a.y * q.y + a.z * q.z), 1, 1e-15);
        rgClose(&f);
    }
}

static void test_orientations(void** state) {
    (void)state;
    rgFixture f =
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
    rgClose(&f);
}

// A frame moves bodies, geoms, sites and joints inside it, and hands down its childclass.
static void test_frames(void** state) {
    (void)state;
    rgFixture f =
        rgParse("<mujoco><default><default class='c'><geom size='.3'/></default></default>"
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
    rgClose(&f);
}

// Copies go on from each other: turn by turn times the number, offset in the axes of the one
// before. Names get inner numbers first, with as many digits as the count; what names a copied part
// is copied too.
static void test_replicate(void** state) {
    (void)state;
    rgFixture f = rgParse(
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
    rgClose(&f);
}

static void test_joints(void** state) {
    (void)state;
    rgFixture f = rgParse(
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
    rgClose(&f);
}

// Densities, masses, groups; the sum of two spheres and of what <inertial> says.
static void test_inertia(void** state) {
    (void)state;
    rgFixture f =
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
    rgClose(&f);
}

static void test_gravity_compensation(void** state) {
    (void)state;
    rgFixture f = rgParse(WORLD("<body gravcomp='.5'><joint/><geom size='1'/></body><body/>"));
    EXPECT_NEAR(f.def->bodies[0].gravityCompensation, 0.5, 0);
    EXPECT_NEAR(f.def->bodies[1].gravityCompensation, 0, 0);
    rgClose(&f);
}

static void test_mocap(void** state) {
    (void)state;
    rgFixture f = rgParse(WORLD("<body name='hand' mocap='true' pos='1 2 3'><geom size='1'/></body>"
                                "<body mocap='false'><joint/><geom size='1'/></body>"));
    assert_true(f.def->bodies[0].kinematic);
    assert_false(f.def->bodies[1].kinematic);
    rgClose(&f);
}

static rgInertia rgInertiaUnder(const char* compiler, const char* body) {
    char text[1000];
    snprintf(text, sizeof(text),
             "<mujoco><compiler %s/><worldbody><body><joint/>%s</body></worldbody></mujoco>",
             compiler, body);
    rgFixture f = rgParse(text);
    rgInertia inertia = f.def->bodies[0].inertia;
    rgClose(&f);
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

// A mesh is where its vertices say, and weighs as its solid does; point meshes as their hulls.
static void test_meshes(void** state) {
    (void)state;
    rgFixture f = rgParse(
        "<mujoco><asset><mesh name='m' vertex='0 0 0 1 0 0 0 1 0 0 0 1' scale='2 3 -4' "
        "refpos='1 0 0'/><mesh name='t' vertex='0 0 0 1 0 0 0 1 0 0 0 1' "
        "face='0 2 1 0 1 3 1 2 3 0 3 2'/></asset><worldbody>"
        "<body><joint/><geom type='mesh' mesh='m' density='10' pos='0 0 5'/></body>"
        "<body><joint/><geom type='mesh' mesh='t' density='10'/></body></worldbody></mujoco>");
    const double* v = f.def->shapes[0].mesh->vertices;
    assert_int_equal(f.def->shapes[0].kind, rg_shapeHull);
    rgExpectVec(rgVec(v[0], v[1], v[2]), -2, 0, 0);
    rgExpectVec(rgVec(v[3], v[4], v[5]), 0, 0, 0);
    rgExpectVec(rgVec(v[9], v[10], v[11]), -2, 0, -4);
    const rgInertia* a = &f.def->bodies[0].inertia;
    EXPECT_NEAR(a->mass, 10 * 24.0 / 6, 1e-12);
    rgExpectVec(a->center, -1.5, 0.75, 4);
    const rgInertia* b = &f.def->bodies[1].inertia;
    EXPECT_NEAR(b->mass, 10.0 / 6, 1e-14);
    rgExpectVec(b->center, 0.25, 0.25, 0.25);
    EXPECT_NEAR(b->moment.xx, b->mass * 2 * (1.0 / 10 - 1.0 / 16), 1e-15);
    EXPECT_NEAR(b->moment.xy, -b->mass * (1.0 / 20 - 1.0 / 16), 1e-15);
    rgClose(&f);
}

// A cube as a shell.
static void test_shell(void** state) {
    (void)state;
    rgFixture f = rgParse(
        "<mujoco><asset><mesh name='m' inertia='shell' vertex='-1 -1 -1 1 -1 -1 -1 1 -1 1 1 -1 "
        "-1 -1 1 1 -1 1 -1 1 1 1 1 1' face='0 2 1 1 2 3 4 5 6 5 7 6 0 1 4 1 5 4 2 6 3 3 6 7 "
        "0 4 2 2 4 6 1 3 5 3 7 5'/></asset><worldbody><body><joint/>"
        "<geom type='mesh' mesh='m' density='10'/></body></worldbody></mujoco>");
    const rgInertia* shell = &f.def->bodies[0].inertia;
    EXPECT_NEAR(shell->mass, 10 * 24, 1e-12);
    rgExpectVec(shell->center, 0, 0, 0);
    // Two faces across x: integral of y^2 + z^2 is 4 (1/3 + 1/3); four along it: 4 (1/3 + 1).
    EXPECT_NEAR(shell->moment.xx, 10 * (2 * 4 * 2.0 / 3 + 4 * 4 * 4.0 / 3), 1e-11);
    EXPECT_NEAR(shell->moment.xy, 0, 1e-12);
    rgClose(&f);
}

// Every edge belongs to two triangles that run along it in opposite directions.
static void rgExpectClosed(const rgMeshData* mesh) {
    int edgeCount = 3 * mesh->triangleCount;
    for (int i = 0; i < edgeCount; ++i) {
        const int* t = mesh->triangles + 3 * (i / 3);
        int from = t[i % 3], to = t[(i + 1) % 3], found = 0;
        for (int k = 0; k < edgeCount; ++k) {
            const int* s = mesh->triangles + 3 * (k / 3);
            found += s[k % 3] == to && s[(k + 1) % 3] == from;
        }
        assert_int_equal(found, 1);
    }
}

typedef struct rgBuiltinCase {
    const char* kind;
    const char* params;
    int vertexCount, triangleCount;
    double volume, tolerance; // of the body that it stands for; what facets cut off
    double center;            // its height
} rgBuiltinCase;

// Counts of MuJoCo's reference, volumes of geometry books.
static void test_builtin_meshes(void** state) {
    (void)state;
    static const rgBuiltinCase cases[] = {
        {"sphere", "0", 12, 20, 2.5361507, 1e-6, 0}, // the icosahedron itself
        {"sphere", "3", 642, 1280, 4 * PI / 3, 0.04, 0},
        {"hemisphere", "0", 6, 8, 2.0 / 3, 1e-12, 0.25}, // half an octahedron
        {"hemisphere", "10", 266, 528, 2 * PI / 3, 0.03, 0.375},
        {"cone", "4 0", 6, 8, 4.0 / 3, 1e-12, -0.5},
        {"cone", "6 1", 14, 24, 3 * 1.7320508075688772, 1e-12, 0},
        {"cone", "4 0.5", 10, 16, 2.0 / 3 * 2 * (1 + 0.5 + 0.25), 1e-12, -3.0 / 14},
        {"supersphere", "16 2 2", 242, 480, 4.0 / 3, 1e-12, 0}, // an octahedron
        {"supersphere", "40 1 1", 1562, 3120, 4 * PI / 3, 0.05, 0},
        {"supertorus", "30 0.5 1 1", 900, 1800, 2 * PI * PI * 0.25, 0.08, 0},
    };
    for (int i = 0; i < (int)(sizeof(cases) / sizeof(cases[0])); ++i) {
        const rgBuiltinCase* c = &cases[i];
        char text[1000];
        snprintf(text, sizeof(text),
                 "<mujoco><asset><mesh name='m' builtin='%s' params='%s' inertia='exact'/></asset>"
                 "<worldbody><body><freejoint/><geom type='mesh' mesh='m' density='1'/></body>"
                 "</worldbody></mujoco>",
                 c->kind, c->params);
        rgFixture f = rgParse(text);
        const rgMeshData* mesh = f.def->shapes[0].mesh;
        assert_int_equal(mesh->vertexCount, c->vertexCount);
        assert_int_equal(mesh->triangleCount, c->triangleCount);
        if (mesh->triangleCount < 600) {
            rgExpectClosed(mesh);
        }
        const rgInertia* inertia = &f.def->bodies[0].inertia;
        EXPECT_NEAR(inertia->mass, c->volume, c->tolerance * c->volume);
        EXPECT_NEAR(inertia->center.z, c->center, RG_MAX(c->tolerance, 1e-9));
        rgClose(&f);
    }
}

// Mass, centre and moments of MuJoCo 3.14, whose meshes are single precision.
static void test_builtin_wedge(void** state) {
    (void)state;
    static const struct {
        const char* params;
        int vertexCount;
        double mass, center, xx, yy, zz;
    } cases[] = {
        {"3 3 60 40 0", 9, 164.81397806, -0.77734524, 9.8035888, 13.4027248, 21.8437701},
        {"3 4 60 40 0.5", 12, 124.36637529, -0.81976077, 6.43097497, 8.66329645, 14.35192668},
        {"5 3 120 30 0.25", 15, 823.85787426, -0.41517449, 76.84346477, 215.18275508, 193.59513222},
    };
    for (int i = 0; i < (int)(sizeof(cases) / sizeof(cases[0])); ++i) {
        char text[1000];
        snprintf(text, sizeof(text),
                 "<mujoco><asset><mesh name='m' builtin='wedge' params='%s' inertia='exact'/>"
                 "</asset><worldbody><body><freejoint/><geom type='mesh' mesh='m'/></body>"
                 "</worldbody></mujoco>",
                 cases[i].params);
        rgFixture f = rgParse(text);
        const rgInertia* inertia = &f.def->bodies[0].inertia;
        assert_int_equal(f.def->shapes[0].mesh->vertexCount, cases[i].vertexCount);
        EXPECT_NEAR(inertia->mass, cases[i].mass, 1e-6 * cases[i].mass);
        EXPECT_NEAR(inertia->center.z, cases[i].center, 1e-6);
        EXPECT_NEAR(inertia->moment.xx, cases[i].xx, 2e-6 * cases[i].xx);
        EXPECT_NEAR(inertia->moment.yy, cases[i].yy, 2e-6 * cases[i].yy);
        EXPECT_NEAR(inertia->moment.zz, cases[i].zz, 2e-6 * cases[i].zz);
        rgClose(&f);
    }
}

static void rgExpectField(const char* text) {
    rgFixture f = rgParse(text);
    const rgHeightFieldData* h = f.def->shapes[0].heightField;
    const double expected[6] = {2, 2, 2, 0, 0.5, 1};
    assert_int_equal(h->columnCount, 3);
    assert_int_equal(h->rowCount, 2);
    EXPECT_NEAR(h->sizeX, 4, 0);
    EXPECT_NEAR(h->sizeY, 5, 0);
    EXPECT_NEAR(h->depth, 0.5, 0);
    for (int i = 0; i < 6; ++i) {
        EXPECT_NEAR(h->heights[i], expected[i], 1e-15);
    }
    rgClose(&f);
}

// Rows are written from large y to small; heights go from 0 to the third size. An image has its top
// row first, and brightness for height.
static void test_height_field(void** state) {
    (void)state;
#define FIELD(source)                                                                              \
    "<mujoco><asset><hfield name='h' size='4 5 2 .5' " source "/></asset><worldbody>"              \
    "<geom type='hfield' hfield='h' pos='0 0 1'/></worldbody></mujoco>"
    rgExpectField(FIELD("nrow='2' ncol='3' elevation='1 2 3 5 5 5'"));
    rgExpectField(FIELD("file='grey.png'"));
}

#define BALL(name, pos)                                                                            \
    "<body name='" name "' pos='" pos "'><joint name='j" name "'/><geom name='g" name              \
    "' size='.1' friction='.4 .2 .1'/></body>"

static void test_contact(void** state) {
    (void)state;
    rgFixture f = rgParse(
        "<mujoco><worldbody><geom name='p' type='plane' size='1 1 1' contype='0' conaffinity='0' "
        "friction='.7 .01 .02' condim='4'/>" BALL("a", "0 0 0")
            BALL("b", "1 0 0") "</worldbody><contact><pair geom1='p' geom2='ga'/>"
                               "<pair geom1='ga' geom2='gb' condim='6' friction='.9 .9 .8 .6 .6'/>"
                               "<exclude body1='a' body2='b'/><exclude body1='world' "
                               "body2='b'/></contact></mujoco>");
    assert_false(f.def->shapes[0].visualOnly); // an explicit pair needs it
    assert_int_equal(f.def->pairCount, 2);
    EXPECT_NEAR(f.def->pairs[0].material.mu, 0.7, 0);
    EXPECT_NEAR(f.def->pairs[0].material.muTorsion, 0.2, 0);
    assert_int_equal(f.def->pairs[0].material.dimension, 4);
    EXPECT_NEAR(f.def->pairs[1].material.mu, 0.9, 0);
    EXPECT_NEAR(f.def->pairs[1].material.muTorsion, 0.8, 0);
    EXPECT_NEAR(f.def->pairs[1].material.muRolling, 0.6, 0);
    assert_int_equal(f.def->pairs[1].material.dimension, 6);
    assert_int_equal(f.def->excludeCount, 2);
    assert_int_equal(f.def->excludes[1].a.index1, 0);
    rgClose(&f);
}

// Under its weight a contact is as deep as in MuJoCo, (1 - d) g = (d/dmax)^2 k r with the impedance
// d = 0.9 + 0.05 y(r/1 mm) of the default solimp, and the damping ratio is solref's.
static void rgExpectSpring(const rgMaterial* material, double mass, double k, double ratio) {
    double r = mass * 9.81 / material->stiffness, x = fmin(r / 1e-3, 1);
    double d = 0.9 + 0.05 * (x < 0.5 ? 2 * x * x : 1 - 2 * (1 - x) * (1 - x));
    EXPECT_NEAR((1 - d) * 9.81, d * d / (0.95 * 0.95) * k * r, 1e-10);
    EXPECT_NEAR(material->damping / (2 * sqrt(material->stiffness * mass)), ratio, 1e-12);
}

// solref's time constant and damping ratio on the mass of the tree, only when asked for.
static void test_softness(void** state) {
    (void)state;
    const char* text = WORLD("<geom type='plane' size='1 1 1' solref='.1 1'/><body><joint/>"
                             "<geom size='.1' mass='3' solref='.1 .5'/><body><geom size='.1' "
                             "mass='1' solref='-200 -30'/></body></body><body><freejoint/>"
                             "<geom size='.1'/></body>");
    rgFixture f = rgParse(text);
    for (int i = 0; i < f.def->shapeCount; ++i) {
        EXPECT_NEAR(f.def->shapes[i].material.stiffness, 0, 0);
    }
    assert_int_equal(rgDiagnostics_CountOf(f.diagnostics, rg_severityNote), 1);
    rgClose(&f);
    rgLoadDef load = rgDefaultLoadDef();
    load.fileContact = true;
    f = rgParseWith(text, &load);
    EXPECT_NEAR(f.def->shapes[0].material.stiffness, 0, 0);
    rgExpectSpring(&f.def->shapes[1].material, 4, 1 / (0.1 * 0.1 * 0.5 * 0.5), 0.5);
    rgExpectSpring(&f.def->shapes[2].material, 4, 200, 30 / (2 * sqrt(200)));
    EXPECT_NEAR(f.def->shapes[3].material.stiffness, 0, 0); // nothing written
    assert_int_equal(rgDiagnostics_Count(f.diagnostics), 0);
    rgClose(&f);
}

// Friction as MuJoCo has it: the larger, and torsion only where a condim asks for it.
// A connect gives way as a contact of the same solref and mass does; without --contact file it is
// rigid, with a note.
static void test_soft_equality(void** state) {
    (void)state;
    const char* text =
        "<mujoco><worldbody><body name='b'><freejoint/><geom size='.1' mass='2' solref='.03 .8'/>"
        "</body></worldbody><equality><connect body1='b' anchor='0 0 0' solref='.03 "
        ".8'/></equality>"
        "</mujoco>";
    rgLoadDef load = rgDefaultLoadDef();
    load.fileContact = true;
    rgFixture f = rgParseWith(text, &load);
    const rgMaterial* contact = &f.def->shapes[0].material;
    assert_true(contact->stiffness > 0);
    EXPECT_NEAR(f.def->equalities[0].stiffness, contact->stiffness, 1e-9 * contact->stiffness);
    EXPECT_NEAR(f.def->equalities[0].damping, contact->damping, 1e-9 * contact->damping);
    rgClose(&f);
    f = rgParse(text);
    EXPECT_NEAR(f.def->equalities[0].stiffness, 0, 0);
    bool told = false;
    for (int i = 0; i < rgDiagnostics_Count(f.diagnostics); ++i) {
        const char* said = rgDiagnostics_Message(f.diagnostics, i).text;
        told = told || strstr(said, "<connect>: solref and solimp are not used") != NULL;
    }
    assert_true(told);
    rgClose(&f);
}

// What is known, changes something and is not used is named with its consequence, once per element.
static void test_ignored(void** state) {
    (void)state;
    static const char* const cases[][2] = {
        {"<option impratio='10'/>", "<option impratio> is not used: friction is exact"},
        {"<option cone='elliptic'/>", "<option cone> is not used: friction is exact"},
        {"<option solver='CG'/>", "<option solver> is not used"},
        {"<option iterations='5'/>", "<option iterations> is not used"},
        {"<option tolerance='1e-9'/>", "<option tolerance> is not used"},
        {"<option jacobian='dense'/>", "<option jacobian> is not used"},
        {"<option noslip_iterations='5'/>", "what sticks does not slip here"},
        {"<option magnetic='0 1 0'/>", "there are no magnetometers"},
        {"<option><flag multiccd='enable'/></option>", "as many points as they need"},
        {"<option><flag sensornoise='enable'/></option>", "readings have no noise"},
        {"<option><flag sleep='enable'/></option>", "as the world's def says"},
        {"<compiler discardvisual='true'/>", "what is only shown stays"},
        {"<compiler fusestatic='true'/>", "bodies without joints keep their names"},
        {"<asset><mesh name='m' vertex='0 0 0 1 0 0 0 1 0 0 0 1' maxhullvert='8'/></asset>",
         "hulls keep all their vertices"},
        {"<default><joint solreflimit='.01 1'/></default>", "limits are rigid"},
        {"<default><joint solimpfriction='.9'/></default>", "dry friction is rigid"},
        {"<equality><joint joint1='j' solref='.01 1'/></equality>", "couplings are rigid"},
        {"<contact><pair geom1='g' geom2='h' solreffriction='.1 1'/></contact>",
         "friction is rigid"},
        {"<sensor><jointpos joint='j' noise='.1'/></sensor>", "readings have no noise"},
    };
    for (int i = 0; i < (int)(sizeof(cases) / sizeof(cases[0])); ++i) {
        char text[1000];
        snprintf(text, sizeof(text),
                 "<mujoco>%s<worldbody><geom name='g' size='1'/><body><joint name='j'/><geom "
                 "name='h' size='1'/></body></worldbody></mujoco>",
                 cases[i][0]);
        rgFixture f = rgParse(text);
        int told = 0;
        for (int k = 0; k < rgDiagnostics_Count(f.diagnostics); ++k) {
            told += strstr(rgDiagnostics_Message(f.diagnostics, k).text, cases[i][1]) != NULL;
        }
        if (told != 1) {
            fail_msg("%s: '%s' is said %d times", cases[i][0], cases[i][1], told);
        }
        rgClose(&f);
    }
}

static void test_friction_of_files(void** state) {
    (void)state;
    rgFixture f = rgParse(WORLD("<geom name='a' size='1' friction='.2'/><body><freejoint/>"
                                "<geom name='b' size='1' friction='.8 .1'/></body>"));
    assert_int_equal(rgDiagnostics_CountOf(f.diagnostics, rg_severityNote), 1);
    assert_int_equal(rgDiagnostics_Count(f.diagnostics), 1);
    rgModel* model = NULL;
    assert_int_equal(rgCompileModel(f.def, NULL, f.diagnostics, &model), rg_ok);
    assert_int_equal(rgDiagnostics_Count(f.diagnostics), 1);
    rgMaterial pair = rgModel_PairMaterial(model, (rgShapeId){1}, (rgShapeId){2});
    EXPECT_NEAR(pair.mu, 0.8, 0);
    EXPECT_NEAR(pair.muTorsion, 0, 0);
    rgDestroyModel(model);
    rgClose(&f);
}

// A negative solref is a stiffness and a damping per mass: rigid contacts rebound as it would.
static void test_restitution_of_solref(void** state) {
    (void)state;
    const char* text = WORLD("<geom size='1' solref='-1000 0'/><geom size='1' solref='-100 -6'/>"
                             "<geom size='1' solref='-100 -20'/><geom size='1' solref='.02 .1'/>");
    double b = asin(0.3), e[] = {1, exp(-tan(b) * (acos(-1) - 2 * b)), 0, 0};
    rgFixture f = rgParse(text);
    for (int i = 0; i < 4; ++i) {
        EXPECT_NEAR(f.def->shapes[i].material.restitution, e[i], 1e-15);
    }
    rgClose(&f);
    rgLoadDef load = rgDefaultLoadDef();
    load.fileContact = true;
    f = rgParseWith(text, &load);
    for (int i = 0; i < 4; ++i) {
        EXPECT_NEAR(f.def->shapes[i].material.restitution, 0, 0);
    }
    rgClose(&f);
}

static void test_custom_materials(void** state) {
    (void)state;
#define CUSTOM(text)                                                                               \
    "<mujoco><custom>" text "</custom><worldbody><geom name='a' size='1'/>"                        \
    "<geom name='b:c' size='1'/></worldbody><contact><pair geom1='a' "                             \
    "geom2='b:c'/></contact></mujoco>"
    rgFixture f = rgParse(
        CUSTOM("<numeric name='rigor:restitution:b:c' data='.5'/><numeric name='other' data='1 2'/>"
               "<numeric name='rigor:restitution' data='.25'/>"
               "<numeric name='rigor:impact_friction:a' data='.1'/>"
               "<numeric name='rigor:transition_speed' data='2'/>"
               "<text name='rigor:friction_rule' data='minimum'/>"
               "<text name='rigor:friction_rule:a' data='geometric'/>"));
    assert_int_equal(rgDiagnostics_Count(f.diagnostics), 0);
    const rgMaterial *a = &f.def->shapes[0].material, *b = &f.def->shapes[1].material;
    EXPECT_NEAR(a->restitution, 0.25, 0);
    EXPECT_NEAR(b->restitution, 0.5, 0);
    EXPECT_NEAR(a->muImpact, 0.1, 0);
    EXPECT_NEAR(b->muImpact, 0, 0);
    EXPECT_NEAR(b->transitionSpeed, 2, 0);
    assert_int_equal(a->frictionRule, rg_frictionGeometric);
    assert_int_equal(b->frictionRule, rg_frictionMinimum);
    EXPECT_NEAR(f.def->pairs[0].material.restitution, 0.5, 0); // of its geoms
    rgClose(&f);
    // errors, and a warning
    const char* const bad[] = {CUSTOM("<numeric name='rigor:restitution:d' data='1'/>"),
                               CUSTOM("<numeric name='rigor:restitution' data='1 2'/>"),
                               CUSTOM("<numeric name='rigor:restitution'/>"),
                               CUSTOM("<text name='rigor:friction_rule' data='mean'/>"),
                               CUSTOM("<numeric name='rigor:bounce' data='1'/>")};
    for (int i = 0; i < 5; ++i) {
        rgDiagnostics* said = NULL;
        rgModelDef* def = NULL;
        assert_int_equal(rgCreateDiagnostics(NULL, &said), rg_ok);
        rgLoadDef load = rgDefaultLoadDef();
        assert_int_equal(rgParseMjcf(bad[i], strlen(bad[i]), "x", &load, said, &def),
                         i < 4 ? rg_errorFormat : rg_ok);
        rgSeverity severity = i < 4 ? rg_severityError : rg_severityWarning;
        assert_int_equal(rgDiagnostics_CountOf(said, severity), 1);
        rgDestroyModelDef(def);
        rgDestroyDiagnostics(said);
    }
}

// Ends of loops meet at the reference configuration.
static void test_equality(void** state) {
    (void)state;
    rgFixture f = rgParse("<mujoco><worldbody>" BALL(
        "a",
        "1 0 0") "<body name='b' pos='0 2 0' euler='0 0 90'>"
                 "<joint name='jb'/><geom size='.1'/><site name='s' pos='0 0 1'/></body><site "
                 "name='w' "
                 "pos='3 0 0'/></worldbody><equality><connect body1='a' body2='b' anchor='1 0 0'/>"
                 "<weld body1='a' body2='b'/><weld body1='a' body2='b' relpose='1 2 3 1 0 0 0' "
                 "anchor='4 5 6'/><joint joint1='ja' joint2='jb' polycoef='1 2'/>"
                 "<connect site1='s' site2='w' active='false'/><weld "
                 "body1='b'/></equality></mujoco>");
    const rgEqualityDef* e = f.def->equalities;
    assert_int_equal(f.def->equalityCount, 6);
    rgExpectVec(e[0].poseA.p, 1, 0, 0);
    rgExpectVec(e[0].poseB.p, -2, -2, 0);
    rgExpectVec(e[1].poseA.p, -1, 2, 0);
    rgExpectVec(rgRotate(e[1].poseA.q, rgVec(1, 0, 0)), 0, 1, 0);
    rgExpectVec(e[1].poseB.p, 0, 0, 0);
    rgExpectVec(e[2].poseA.p, 1, 2, 3);
    rgExpectVec(e[2].poseB.p, 4, 5, 6);
    EXPECT_NEAR(e[3].polynomial[0], 1, 0);
    EXPECT_NEAR(e[3].polynomial[1], 2, 0);
    assert_int_equal(e[3].jointB.index1, 2);
    assert_true(e[4].disabled);
    rgExpectVec(e[4].poseA.p, 0, 0, 1);
    assert_int_equal(e[4].bodyB.index1, 0);
    rgExpectVec(e[5].poseA.p, -2, 0, 0); // the world's origin in b
    rgClose(&f);
}

static void test_actuators(void** state) {
    (void)state;
    rgFixture f = rgParse(
        "<mujoco><default><position kp='5'/><general ctrlrange='-1 1'/></default><worldbody>" BALL(
            "a", "0 0 0") "</worldbody><tendon><fixed name='t' range='0 1'><joint joint='ja' "
                          "coef='2'/></fixed></tendon><actuator><motor joint='ja' gear='7'/>"
                          "<position joint='ja' kv='2'/><velocity tendon='t' kv='3'/>"
                          "<general joint='ja' gainprm='2' biastype='affine' biasprm='1 -4 -6' "
                          "forcerange='-8 9'/></actuator></mujoco>");
    const rgActuatorDef* a = f.def->actuators;
    const double expected[4][4] = {{1, 0, 0, 0}, {5, 0, 5, 2}, {3, 0, 0, 3}, {2, 1, 4, 6}};
    assert_int_equal(f.def->actuatorCount, 4);
    for (int i = 0; i < 4; ++i) {
        const double ours[4] = {a[i].gain, a[i].bias, a[i].kp, a[i].kd};
        for (int k = 0; k < 4; ++k) {
            EXPECT_NEAR(ours[k], expected[i][k], 0);
        }
        assert_true(a[i].hasControlRange);
        assert_int_equal(a[i].hasForceRange, i == 3);
    }
    EXPECT_NEAR(a[0].gear[0], 7, 0);
    EXPECT_NEAR(a[3].forceUpper, 9, 0);
    assert_int_equal(a[2].tendon.index1, 1);
    assert_true(f.def->tendons[0].hasLimits);
    rgClose(&f);
}

// kd = 2 ratio sqrt(kp m) with the diagonal m of the mass matrix, at the joint or through gear and
// tendon; a joint's spring follows from the inertia that it feels when the others are free.
static void test_damping_ratio(void** state) {
    (void)state;
    rgFixture f = rgParse(
        "<mujoco><default><position dampratio='.5'/></default><worldbody>"
        "<body><joint name='a' axis='0 1 0' armature='.25'/><inertial pos='1 0 0' mass='2' "
        "diaginertia='1 1 1'/><body pos='1 0 0'><joint name='b' axis='0 1 0' "
        "springdamper='.5 .7'/><inertial pos='1 0 0' mass='3' diaginertia='1 1 1'/></body></body>"
        "</worldbody><tendon><fixed name='t'><joint joint='a' coef='2'/></fixed></tendon><actuator>"
        "<position joint='b' kp='9' gear='2'/><position tendon='t' kp='9' dampratio='1'/>"
        "<position joint='a' kp='9' kv='3'/><general joint='b' gainprm='16' biastype='affine' "
        "biasprm='0 -16 1'/></actuator></mujoco>");
    double held = 0.25 + 1 + 2 + 1 + 3 * 4, alone = 1 + 3, mixed = 1 + 3 * 2;
    const rgActuatorDef* a = f.def->actuators;
    EXPECT_NEAR(a[0].kd, 2 * 0.5 * sqrt(9 * alone / 4), 1e-12);
    EXPECT_NEAR(a[1].kd, 2 * sqrt(9 * held / 4), 1e-12);
    EXPECT_NEAR(a[2].kd, 3, 0);
    EXPECT_NEAR(a[3].kd, 2 * sqrt(16 * alone), 1e-12);
    double felt = alone - mixed * mixed / held;
    EXPECT_NEAR(f.def->joints[1].stiffness, felt / (0.25 * 0.49), 1e-11);
    EXPECT_NEAR(f.def->joints[1].damping, 2 * felt / 0.5, 1e-11);
    rgClose(&f);
}

static void test_disabled_actuators(void** state) {
    (void)state;
    rgFixture f =
        rgParse("<mujoco><option actuatorgroupdisable='2 5'/><worldbody>" BALL("a", "0 0 0") //
                "</worldbody><actuator><motor joint='ja' group='5'/><motor joint='ja' group='1'/>"
                "</actuator></mujoco>");
    EXPECT_NEAR(f.def->actuators[0].gain, 0, 0);
    EXPECT_NEAR(f.def->actuators[1].gain, 1, 0);
    rgClose(&f);
}

#define SWITCHES(text)                                                                             \
    "<mujoco><option><flag " text "/></option><worldbody><body name='p'><joint name='j' "          \
    "range='-1 1' stiffness='2' damping='3' frictionloss='4'/><geom name='g' size='1'/>"           \
    "<body name='c'><joint/><geom name='h' size='1'/></body></body></worldbody><contact>"          \
    "<pair geom1='g' geom2='h'/></contact><equality><joint joint1='j'/></equality><actuator>"      \
    "<position joint='j' kp='5' ctrlrange='-1 1'/></actuator></mujoco>"

// What a flag switches off is not in the definition, and nothing else is missing.
static void test_flags(void** state) {
    (void)state;
    static const struct {
        const char* text;
        int limit, spring, damper, friction, contact, equality, servo, clamp;
    } cases[] = {
        {SWITCHES("contact='enable'"), 1, 1, 1, 1, 1, 1, 1, 1},
        {SWITCHES("contact='disable'"), 1, 1, 1, 1, 0, 1, 1, 1},
        {SWITCHES("constraint='disable'"), 0, 1, 1, 0, 0, 0, 1, 1},
        {SWITCHES("limit='disable'"), 0, 1, 1, 1, 1, 1, 1, 1},
        {SWITCHES("frictionloss='disable'"), 1, 1, 1, 0, 1, 1, 1, 1},
        {SWITCHES("passive='disable'"), 1, 0, 0, 1, 1, 1, 1, 1},
        {SWITCHES("spring='disable'"), 1, 0, 1, 1, 1, 1, 1, 1},
        {SWITCHES("damper='disable'"), 1, 1, 0, 1, 1, 1, 1, 1},
        {SWITCHES("equality='disable'"), 1, 1, 1, 1, 1, 0, 1, 1},
        {SWITCHES("actuation='disable'"), 1, 1, 1, 1, 1, 1, 0, 1},
        {SWITCHES("clampctrl='disable'"), 1, 1, 1, 1, 1, 1, 1, 0},
    };
    for (int i = 0; i < (int)(sizeof(cases) / sizeof(cases[0])); ++i) {
        rgFixture f = rgParse(cases[i].text);
        const rgJointDef* j = &f.def->joints[0];
        assert_int_equal(j->hasLimits, cases[i].limit);
        assert_int_equal(j->stiffness == 2, cases[i].spring);
        assert_int_equal(j->damping == 3, cases[i].damper);
        assert_int_equal(j->dryFriction == 4, cases[i].friction);
        assert_int_equal(f.def->pairCount, cases[i].contact);
        assert_int_equal(!f.def->shapes[0].visualOnly, cases[i].contact);
        assert_int_equal(!f.def->equalities[0].disabled, cases[i].equality);
        assert_int_equal(f.def->actuators[0].kp == 5, cases[i].servo);
        assert_int_equal(f.def->actuators[0].hasControlRange, cases[i].clamp);
        rgClose(&f);
    }
    rgFixture f = rgParse(WORLD("<body><joint/><geom size='1'/><body><joint/><geom size='1'/>"
                                "<body><joint/><geom size='1'/></body></body></body>") "");
    assert_int_equal(f.def->pairCount, 0);
    rgClose(&f);
    f = rgParse("<mujoco><option collision='predefined'><flag filterparent='disable'/></option>"
                "<worldbody><body><joint/><geom size='1'/><body><joint/><geom size='1'/></body>"
                "</body></worldbody></mujoco>");
    assert_int_equal(f.def->pairCount, 0);
    assert_int_equal(f.def->shapes[0].group, 0);
    rgClose(&f);
    f = rgParse("<mujoco><option><flag filterparent='disable'/></option><worldbody><body><joint/>"
                "<geom size='1'/><body><joint/><geom size='1'/><body><joint/><geom size='1'/>"
                "</body></body></body></worldbody></mujoco>");
    assert_int_equal(f.def->pairCount, 2);
    rgClose(&f);
}

// MuJoCo: a free joint's linear velocity is in world axes. Here: in the body's.
static void test_keys(void** state) {
    (void)state;
    rgFixture f = rgParse("<mujoco><worldbody><body><freejoint/><geom size='1'/></body>" BALL(
        "a", "0 0 0") "</worldbody><actuator><motor joint='ja'/></actuator><keyframe><key name='k' "
                      "time='3' "
                      "qpos='1 2 3 2 0 0 2 .5' qvel='1 2 3 4 5 6 7' "
                      "ctrl='8'/><key/></keyframe></mujoco>");
    const rgKeyDef* k = f.def->keys;
    const double half = sqrt(0.5);
    const double q[8] = {1, 2, 3, half, 0, 0, half, 0.5}, v[7] = {2, -1, 3, 4, 5, 6, 7};
    EXPECT_NEAR(k->time, 3, 0);
    for (int i = 0; i < 8; ++i) {
        EXPECT_NEAR(k->q[i], q[i], 1e-15);
    }
    for (int i = 0; i < 7; ++i) {
        EXPECT_NEAR(k->v[i], v[i], 1e-15);
    }
    EXPECT_NEAR(k->control[0], 8, 0);
    assert_null(k[1].q);
    rgClose(&f);
}

static void test_sensors(void** state) {
    (void)state;
    rgFixture f = rgParse("<mujoco><worldbody><body name='a' pos='0 0 1'><joint name='j'/>"
                          "<geom name='g' size='.1' pos='.5 0 0'/><site name='s' size='.2'/></body>"
                          "</worldbody><sensor><touch site='s'/><jointvel joint='j'/>"
                          "<framepos objtype='body' objname='a'/><framequat objtype='xbody' "
                          "objname='a'/><framelinvel objtype='geom' objname='g'/><subtreecom "
                          "body='a'/></sensor></mujoco>");
    const rgSensorDef* s = f.def->sensors;
    assert_int_equal(f.def->sensorCount, 6);
    EXPECT_NEAR(s[0].touchRadius, 0.2, 0);
    assert_int_equal(s[0].frame.index1, 1);
    assert_int_equal(s[1].joint.index1, 1);
    rgExpectVec(f.def->frames[s[2].frame.index1 - 1].pose.p, 0.5, 0, 0);
    assert_int_equal(s[3].frame.index1, 0);
    assert_int_equal(s[3].body.index1, 1);
    rgExpectVec(f.def->frames[s[4].frame.index1 - 1].pose.p, 0.5, 0, 0);
    assert_int_equal(s[5].kind, rg_sensorSubtreeCenter);
    rgClose(&f);
}

static void test_options(void** state) {
    (void)state;
    rgFixture f =
        rgParse("<mujoco model='m'><option timestep='.004' gravity='0 1 2' cone='elliptic' "
                "iterations='3'/><visual/><statistic/><size njmax='3'/><worldbody>"
                "<light/><camera/></worldbody></mujoco>");
    assert_string_equal(f.def->name, "m");
    EXPECT_NEAR(f.def->options.timeStep, 0.004, 0);
    assert_true(f.def->options.hasGravity);
    rgExpectVec(f.def->options.gravity, 0, 1, 2);
    assert_int_equal(rgDiagnostics_Count(f.diagnostics), 2); // cone and iterations are not ours
    rgClose(&f);
    f = rgParse("<mujoco><option><flag gravity='disable'/></option></mujoco>");
    assert_true(f.def->options.hasGravity);
    rgExpectVec(f.def->options.gravity, 0, 0, 0);
    EXPECT_NEAR(f.def->options.timeStep, 0, 0);
    rgClose(&f);
}

// models/ load and compile without a remark, and carry their key frames.
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
        for (int k = 0; k < rgDiagnostics_Count(said); ++k) {
            rgMessage message = rgDiagnostics_Message(said, k);
            print_error("%s:%d: %s\n", rgBuiltinModelAt(i)->name, message.line, message.text);
        }
        assert_int_equal(rgDiagnostics_Count(said), 0);
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
        cmocka_unit_test(test_meshes),
        cmocka_unit_test(test_builtin_meshes),
        cmocka_unit_test(test_builtin_wedge),
        cmocka_unit_test(test_shell),
        cmocka_unit_test(test_height_field),
        cmocka_unit_test(test_contact),
        cmocka_unit_test(test_softness),
        cmocka_unit_test(test_soft_equality),
        cmocka_unit_test(test_ignored),
        cmocka_unit_test(test_friction_of_files),
        cmocka_unit_test(test_restitution_of_solref),
        cmocka_unit_test(test_custom_materials),
        cmocka_unit_test(test_equality),
        cmocka_unit_test(test_actuators),
        cmocka_unit_test(test_damping_ratio),
        cmocka_unit_test(test_disabled_actuators),
        cmocka_unit_test(test_flags),
        cmocka_unit_test(test_keys),
        cmocka_unit_test(test_sensors),
        cmocka_unit_test(test_options),
        cmocka_unit_test(test_builtin),
        cmocka_unit_test(test_no_builtin),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
