// URDF: what good files become, what is said about bad ones, and damaged files.
#include "model/def.h"
#include "parsed.h"
#include "source_dir.h"

#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rigor/mesh.h"

#define RG_BAD_FOLDER RIGOR_SOURCE_DIR "/test/io/bad"

static rgParsed rgParse(const char* text, const rgLoadDef* load) {
    return rgParseText(rgParseUrdf, RG_BAD_FOLDER "/x.urdf", text, load);
}

static rgParsed rgParseClean(const char* text, const rgLoadDef* load) {
    rgParsed f = rgParse(text, load);
    rgExpectClean(&f);
    return f;
}

#define INERTIAL                                                                                   \
    "<inertial><mass value='2'/><inertia ixx='1' iyy='1' izz='1' ixy='0' ixz='0' iyz='0'/>"        \
    "</inertial>"
#define LINK(name)        "<link name='" name "'>" INERTIAL "</link>"
#define ENDS(parent, kid) "<parent link='" parent "'/><child link='" kid "'/>"

// Children in file order, depth first, whatever the order of links.
static void test_order(void** state) {
    (void)state;
    rgParsed f = rgParseClean(
        "<robot name='r'>" LINK("d") LINK("a") LINK("b") LINK("c")
            LINK("e") "<joint name='z' type='continuous'>" ENDS(
                "a", "c") "</joint>"
                          "<joint name='y' type='continuous'>" ENDS(
                              "a", "b") "</joint>"
                                        "<joint name='x' type='continuous'>" ENDS(
                                            "c", "d") "</joint>"
                                                      "<joint name='w' type='continuous'>" ENDS(
                                                          "c", "e") "</joint></robot>",
        NULL);
    static const char* const bodies[] = {"a", "c", "d", "e", "b"};
    static const int parents[] = {0, 1, 2, 2, 1};
    static const char* const joints[] = {"z", "x", "w", "y"};
    assert_string_equal(f.def->name, "r");
    assert_int_equal(f.def->bodyCount, 5);
    assert_int_equal(f.def->jointCount, 4);
    for (int i = 0; i < 5; ++i) {
        assert_string_equal(f.def->bodies[i].name, bodies[i]);
        assert_int_equal(f.def->bodies[i].parent.index1, parents[i]);
    }
    for (int i = 0; i < 4; ++i) {
        assert_string_equal(f.def->joints[i].name, joints[i]);
        assert_int_equal(f.def->joints[i].body.index1, i + 2);
    }
    rgParsed_Close(&f);
}

static void test_joint_kinds(void** state) {
    (void)state;
    rgParsed f = rgParseClean(
        "<robot name='r'>" LINK("a") LINK("b") LINK("c") LINK("d") LINK("e") LINK("f")
            LINK("g") "<joint name='1' type='revolute'>" ENDS(
                "a", "b") "<origin xyz='1 2 3' rpy='0 0 1.5707963267948966'/><axis xyz='0 1 0'/>"
                          "<limit lower='-1' upper='2' effort='3' velocity='4'/>"
                          "<dynamics damping='5' friction='6'/></joint>"
                          "<joint name='2' type='continuous'>" ENDS(
                              "b",
                              "c") "<limit effort='3' velocity='4'/></joint>"
                                   "<joint name='3' type='prismatic'>" ENDS(
                                       "c",
                                       "d") "<limit lower='0' upper='1'/></joint>"
                                            "<joint name='4' type='planar'>" ENDS(
                                                "d",
                                                "e") "<axis xyz='0 0 1'/></joint>"
                                                     "<joint name='5' type='floating'>" ENDS(
                                                         "a",
                                                         "f") "</joint>"
                                                              "<joint name='6' type='fixed'>" ENDS(
                                                                  "e", "g") "</joint></robot>",
        NULL);
    static const rgJointKind kinds[] = {rg_jointRevolute, rg_jointRevolute, rg_jointPrismatic,
                                        rg_jointPlanar, rg_jointFree};
    assert_int_equal(f.def->jointCount, 5);
    for (int i = 0; i < 5; ++i) {
        assert_int_equal(f.def->joints[i].kind, kinds[i]);
    }
    const rgJointDef* joint = &f.def->joints[0];
    assert_true(joint->hasLimits && joint->lower == -1 && joint->upper == 2);
    assert_true(joint->effortLimit == 3 && joint->velocityLimit == 4);
    assert_true(joint->damping == 5 && joint->dryFriction == 6);
    assert_true(joint->axis.y == 1 && joint->axis.x == 0);
    assert_false(f.def->joints[1].hasLimits);
    assert_true(f.def->joints[1].axis.x == 1); // the format's default
    // The origin: x of the child points along y of the parent.
    rgPose pose = f.def->bodies[1].pose;
    rgVec3 x = rgRotate(pose.q, rgVec(1, 0, 0));
    EXPECT_NEAR(x.y, 1, 1e-15);
    assert_true(pose.p.x == 1 && pose.p.y == 2 && pose.p.z == 3);
    rgParsed_Close(&f);
}

// The inertia of a tilted frame, against R I R' by hand: a quarter turn about x swaps y and z.
static void test_inertial(void** state) {
    (void)state;
    rgParsed f = rgParseClean(
        "<robot name='r'><link name='a'><inertial><origin xyz='1 2 3' rpy='1.5707963267948966 0 "
        "0'/>"
        "<mass value='2'/><inertia ixx='1' iyy='2' izz='2.5' ixy='0.1' ixz='0.2' iyz='0.3'/>"
        "</inertial></link></robot>",
        NULL);
    const rgInertia* inertia = &f.def->bodies[0].inertia;
    assert_true(inertia->mass == 2 && inertia->center.z == 3);
    EXPECT_NEAR(inertia->moment.xx, 1, 1e-15);
    EXPECT_NEAR(inertia->moment.yy, 2.5, 1e-15);
    EXPECT_NEAR(inertia->moment.zz, 2, 1e-15);
    EXPECT_NEAR(inertia->moment.xy, -0.2, 1e-15);
    EXPECT_NEAR(inertia->moment.xz, 0.1, 1e-15);
    EXPECT_NEAR(inertia->moment.yz, -0.3, 1e-15);
    rgParsed_Close(&f);
}

static void test_shapes(void** state) {
    (void)state;
    rgLoadDef def = rgDefaultLoadDef();
    def.base = rg_baseFloating;
    def.hulls = true;
    rgParsed f = rgParse(
        "<robot name='r'><material name='blue'><color rgba='0 0 1 0.5'/></material>"
        "<link name='a'>" INERTIAL
        "<visual name='skin'><origin xyz='0 0 1'/><geometry><box size='2 4 6'/></geometry>"
        "<material name='blue'/></visual>"
        "<visual><geometry><sphere radius='3'/></geometry>"
        "<material name='red'><color rgba='1 0 0 1'/></material></visual>"
        "<visual><geometry><sphere radius='3'/></geometry><material name='red'/></visual>"
        "<collision><geometry><cylinder radius='1' length='4'/></geometry></collision>"
        "<collision><geometry><capsule radius='1' length='4'/></geometry></collision>"
        "<collision><geometry><mesh filename='dented.obj' scale='1 -2 1'/></geometry></collision>"
        "<visual><geometry><mesh filename='file://" RG_BAD_FOLDER "/dented.obj'/></geometry>"
        "</visual></link></robot>",
        &def);
    assert_int_equal(f.result, rg_ok);
    assert_int_equal(rgDiagnostics_Count(f.diagnostics), 1); // not convex
    static const char* const names[] = {"a/skin",       "a/visual1",    "a/visual2", "a/collision0",
                                        "a/collision1", "a/collision2", "a/visual3"};
    static const rgShapeKind kinds[] = {rg_shapeBox,      rg_shapeSphere,  rg_shapeSphere,
                                        rg_shapeCylinder, rg_shapeCapsule, rg_shapeHull,
                                        rg_shapeMesh};
    assert_int_equal(f.def->shapeCount, 7);
    for (int i = 0; i < 7; ++i) {
        assert_string_equal(f.def->shapes[i].name, names[i]);
        assert_int_equal(f.def->shapes[i].kind, kinds[i]);
        assert_int_equal(f.def->shapes[i].visualOnly, strstr(names[i], "collision") == NULL);
        assert_int_equal(f.def->shapes[i].hidden, !f.def->shapes[i].visualOnly);
    }
    const rgShapeDef* shapes = f.def->shapes;
    assert_true(shapes[0].size.x == 1 && shapes[0].size.y == 2 && shapes[0].size.z == 3);
    assert_true(shapes[0].pose.p.z == 1);
    assert_true(shapes[0].color[2] == 1 && shapes[0].color[3] == 0.5f);
    assert_true(shapes[2].color[0] == 1 && shapes[2].color[1] == 0);
    assert_true(shapes[3].size.x == 1 && shapes[3].size.y == 2);
    // A mirrored mesh keeps its outside: the signed volume stays positive.
    for (int i = 5; i < 7; ++i) {
        const rgMeshData* mesh = shapes[i].mesh;
        double volume = 0;
        for (int t = 0; t < mesh->triangleCount; ++t) {
            rgVec3 p[3];
            for (int k = 0; k < 3; ++k) {
                const double* x = mesh->vertices + 3 * mesh->triangles[3 * t + k];
                p[k] = rgVec(x[0], x[1], x[2]);
            }
            volume += rgDot(p[0], rgCross(p[1], p[2])) / 6;
        }
        EXPECT_NEAR(volume, (i == 5 ? 2 : 1) * 0.14, 1e-14);
    }
    rgParsed_Close(&f);
}

// Names of the file are kept where they are good, and every shape has one of its own.
static void test_shape_names(void** state) {
    (void)state;
#define SPHERE(kind, name)                                                                         \
    "<" kind " name='" name "'><geometry><sphere radius='1'/></geometry></" kind ">"
    rgParsed f =
        rgParseClean("<robot name='r'><link name='a'>" SPHERE("visual", "x")
                         SPHERE("collision", "x") SPHERE("collision", "y")
                             SPHERE("visual", "visual0") SPHERE("visual", "") "</link></robot>",
                     NULL);
#undef SPHERE
    static const char* const names[] = {"a/visual0", "a/collision0", "a/y", "a/visual1",
                                        "a/visual2"};
    assert_int_equal(f.def->shapeCount, 5);
    for (int i = 0; i < 5; ++i) {
        assert_string_equal(f.def->shapes[i].name, names[i]);
    }
    rgParsed_Close(&f);
}

static void test_static_mesh_keeps_its_triangles(void** state) {
    (void)state;
    const char* text = "<robot name='r'><link name='a'><collision><geometry>"
                       "<mesh filename='dented.obj'/></geometry></collision></link></robot>";
    rgParsed f = rgParseClean(text, NULL);
    assert_int_equal(f.def->shapes[0].kind, rg_shapeMesh);
    assert_false(f.def->shapes[0].visualOnly);
    rgParsed_Close(&f);
}

// The base of a robot, which has a mass and joints that move, is made of hulls as all its links
// are; a room with a door stays open.
static void test_mesh_of_a_base(void** state) {
    (void)state;
#define DENTED(more)                                                                               \
    "<robot name='r'><link name='a'>" more "<collision><geometry><mesh filename='dented.obj'/>"    \
    "</geometry></collision></link>" LINK("b")
#define DOOR(type) "<joint name='j' type='" type "'>" ENDS("a", "b") "</joint></robot>"
    const struct {
        const char* text;
        rgShapeKind kind;
    } cases[] = {{DENTED(INERTIAL) DOOR("continuous"), rg_shapeHull},
                 {DENTED("") DOOR("continuous"), rg_shapeMesh},
                 {DENTED(INERTIAL) DOOR("fixed"), rg_shapeMesh}};
    rgLoadDef load = rgDefaultLoadDef();
    load.hulls = true;
    for (int i = 0; i < RG_COUNT(cases); ++i) {
        rgParsed f = rgParse(cases[i].text, &load);
        assert_int_equal(f.result, rg_ok);
        assert_int_equal(f.def->shapes[0].kind, cases[i].kind);
        assert_int_equal(rgDiagnostics_CountOf(f.diagnostics, rg_severityWarning),
                         cases[i].kind == rg_shapeHull);
        rgParsed_Close(&f);
    }
#undef DENTED
#undef DOOR
}

static void test_bullet_contact(void** state) {
    (void)state;
    rgParsed f = rgParseClean("<robot name='r'><link name='a'><contact>"
                              "<lateral_friction value='0.9'/><restitution value='0.25'/></contact>"
                              "<collision><geometry><sphere radius='1'/></geometry></collision>"
                              "</link></robot>",
                              NULL);
    assert_true(f.def->shapes[0].material.mu == 0.9);
    assert_true(f.def->shapes[0].material.restitution == 0.25);
    rgParsed_Close(&f);
}

// Gazebo's restitution, by itself or where SDF has it; text may come in pieces.
static void test_gazebo_restitution(void** state) {
    (void)state;
#define BALL_LINK(name)                                                                            \
    "<link name='" name "'><collision><geometry><sphere "                                          \
    "radius='1'/></geometry></collision></link>"
    const char* const tags[] = {
        "<restitution_coefficient>0.25</restitution_coefficient>",
        "<collision><surface><bounce>\n <restitution_coefficient>\n 0&#46;25 \n"
        "</restitution_coefficient></bounce></surface></collision>"};
    for (int i = 0; i < 2; ++i) {
        char text[1000];
        snprintf(text, sizeof(text),
                 "<robot name='r'>" BALL_LINK("a") BALL_LINK(
                     "b") "<joint name='j' type='fixed'>"
                          "<parent link='a'/><child link='b'/></joint>"
                          "<gazebo "
                          "reference='b'>%s</gazebo><gazebo><static>true</static></gazebo></robot>",
                 tags[i]);
        rgParsed f = rgParseClean(text, NULL);
        assert_int_equal(f.def->shapeCount, 2);
        assert_true(f.def->shapes[0].material.restitution == 0);
        assert_true(f.def->shapes[1].material.restitution == 0.25);
        rgParsed_Close(&f);
    }
    const char* const bad[] = {"1.5", "-1", "x", "", "0.1 0.2", "nan"};
    for (int i = 0; i < 6; ++i) {
        char text[1000];
        snprintf(text, sizeof(text),
                 "<robot name='r'>" BALL_LINK("a") "<gazebo reference='a'><restitution_coefficient>"
                                                   "%s</restitution_coefficient></gazebo></robot>",
                 bad[i]);
        rgParsed f = rgParse(text, NULL);
        assert_int_equal(f.result, rg_errorFormat);
        assert_int_equal(rgDiagnostics_CountOf(f.diagnostics, rg_severityError), 1);
        rgParsed_Close(&f);
    }
}

// Friction and softness of Gazebo's tags; the smaller coefficient of two surfaces holds.
static void test_gazebo_surface(void** state) {
    (void)state;
    const char* text = "<robot name='r'>" BALL_LINK(
        "a") "<gazebo reference='a'><mu1>0.3</mu1>"
             "<mu2 value='0.3'/><kp>2000.0</kp><kd value='10'/></gazebo></robot>";
    rgParsed f = rgParseClean(text, NULL);
    const rgMaterial* material = &f.def->shapes[0].material;
    EXPECT_NEAR(material->mu, 0.3, 0);
    EXPECT_NEAR(material->stiffness, 0, 0);
    EXPECT_NEAR(material->damping, 0, 0);
    assert_int_equal(material->frictionRule, rg_frictionMinimum);
    rgParsed_Close(&f);
    rgLoadDef soft = rgDefaultLoadDef();
    soft.fileContact = true;
    f = rgParseClean(text, &soft);
    EXPECT_NEAR(f.def->shapes[0].material.stiffness, 2000, 0);
    EXPECT_NEAR(f.def->shapes[0].material.damping, 10, 0);
    rgParsed_Close(&f);
}

// A parent 'world' that is no link is the world itself.
static void test_implied_world(void** state) {
    (void)state;
    rgParsed f =
        rgParseClean("<robot name='r'>" BALL_LINK(
                         "a") "<joint name='j' type='fixed'>"
                              "<parent link='world'/><child link='a'/><origin xyz='1 2 3'/>"
                              "</joint></robot>",
                     NULL);
    assert_int_equal(f.def->bodyCount, 1);
    assert_int_equal(f.def->bodies[0].parent.index1, 0);
    EXPECT_NEAR(f.def->bodies[0].pose.p.z, 3, 0);
    assert_non_null(strstr(rgDiagnostics_Message(f.diagnostics, 0).text, "not declared"));
    rgParsed_Close(&f);
}

static void test_friction_rule(void** state) {
    (void)state;
    rgParsed f = rgParseClean(
        "<robot name='r'>" BALL_LINK("a") "<rigor friction_rule='average'/></robot>", NULL);
    assert_int_equal(f.def->shapes[0].material.frictionRule, rg_frictionAverage);
    rgParsed_Close(&f);
    f = rgParse("<robot name='r'>" BALL_LINK("a") "<rigor friction_rule='mean'/></robot>", NULL);
    assert_int_equal(f.result, rg_errorFormat);
    rgParsed_Close(&f);
}

static void test_mimic(void** state) {
    (void)state;
    rgParsed f = rgParseClean(
        "<robot name='r'>" LINK("a") LINK("b") LINK("c") "<joint name='m' type='continuous'>" ENDS(
            "a", "b") "<mimic joint='l' multiplier='-2' offset='0.5'/></joint>"
                      "<joint name='l' type='continuous'>" ENDS("a", "c") "</joint></robot>",
        NULL);
    assert_int_equal(f.def->equalityCount, 1);
    const rgEqualityDef* equality = &f.def->equalities[0];
    assert_int_equal(equality->kind, rg_equalityJoint);
    assert_int_equal(equality->jointA.index1, 1);
    assert_int_equal(equality->jointB.index1, 2);
    assert_true(equality->polynomial[0] == 0.5 && equality->polynomial[1] == -2);
    rgParsed_Close(&f);
}

static void test_base(void** state) {
    (void)state;
    const char* plain = "<robot name='r'>" LINK("a") "</robot>";
    const char* world = "<robot name='r'><link name='world'/>" LINK(
        "a") "<joint name='j' type='fixed'>" ENDS("world", "a") "</joint></robot>";
    const char* floating = "<robot name='r'><link name='world'/>" LINK(
        "a") "<joint name='j' type='floating'>" ENDS("world", "a") "</joint></robot>";
    const char* taken = "<robot name='r'>" LINK("a")
        LINK("b") "<joint name='root_joint' type='continuous'>" ENDS("a", "b") "</joint></robot>";
    const struct {
        const char* text;
        rgBaseKind base;
        int bodyCount, jointCount;
        const char* name;
    } cases[] = {
        {plain, rg_baseFromFile, 1, 0, ""},
        {plain, rg_baseFixed, 1, 0, ""},
        {plain, rg_baseFloating, 1, 1, "root_joint"},
        {world, rg_baseFromFile, 1, 0, ""},
        {world, rg_baseFloating, 1, 1, "j"},
        {floating, rg_baseFromFile, 1, 1, "j"},
        {floating, rg_baseFixed, 1, 0, ""},
        {floating, rg_baseFloating, 1, 1, "j"},
        {taken, rg_baseFloating, 2, 2, "root_joint_1"},
    };
    for (int i = 0; i < RG_COUNT(cases); ++i) {
        rgLoadDef def = rgDefaultLoadDef();
        def.base = cases[i].base;
        rgParsed f = rgParseClean(cases[i].text, &def);
        assert_int_equal(f.def->bodyCount, cases[i].bodyCount);
        assert_int_equal(f.def->jointCount, cases[i].jointCount);
        assert_int_equal(f.def->bodies[0].parent.index1, 0);
        if (cases[i].jointCount > 0) {
            assert_int_equal(f.def->joints[0].kind, rg_jointFree);
            assert_string_equal(f.def->joints[0].name, cases[i].name);
        }
        rgParsed_Close(&f);
    }
}

// A file of this name in package://bad, found in the ways that the manual lists.
static void test_packages(void** state) {
    (void)state;
    const char* text = "<robot name='r'><link name='a'><visual><geometry>"
                       "<mesh filename='package://bad/dented.obj'/></geometry></visual></link>"
                       "</robot>";
    const char* const parent[] = {RIGOR_SOURCE_DIR "/test/io"};
    const char* const itself[] = {"/nowhere", RIGOR_SOURCE_DIR "/test/io/bad/"};
    for (int i = 0; i < 5; ++i) {
        rgDiagnostics* diagnostics = NULL;
        rgModelDef* model = NULL;
        assert_int_equal(rgCreateDiagnostics(NULL, &diagnostics), rg_ok);
        rgLoadDef def = rgDefaultLoadDef();
        def.strict = true;
        def.packageDirs = i == 0 ? parent : itself;
        def.packageDirCount = i == 0 ? 1 : i == 1 ? 2 : 0;
        def.ignoreEnvironment = i == 4;
        setenv("ROS_PACKAGE_PATH", "/nowhere:" RIGOR_SOURCE_DIR "/test/io", 1);
        // 3: the description lies in the package. 4: nothing helps.
        const char* path = i == 3 ? RG_BAD_FOLDER "/x.urdf" : "/x.urdf";
        if (i == 3) {
            unsetenv("ROS_PACKAGE_PATH");
        }
        rgResult result = rgParseUrdf(text, strlen(text), path, &def, diagnostics, &model);
        assert_int_equal(result, i == 4 ? rg_errorFormat : rg_ok);
        rgDestroyModelDef(model);
        rgDestroyDiagnostics(diagnostics);
    }
    unsetenv("ROS_PACKAGE_PATH");
}

static void test_mesh_use(void** state) {
    (void)state;
    const char* text = "<robot name='r'><link name='a'>"
                       "<visual><geometry><mesh filename='nowhere.obj'/></geometry></visual>"
                       "<collision><geometry><mesh filename='nowhere.obj'/></geometry></collision>"
                       "<collision><geometry><sphere radius='1'/></geometry></collision>"
                       "</link></robot>";
    rgLoadDef def = rgDefaultLoadDef();
    def.meshes = rg_meshesNone;
    def.strict = true;
    rgParsed f = rgParseClean(text, &def);
    assert_int_equal(f.def->shapeCount, 1);
    assert_int_equal(rgDiagnostics_CountOf(f.diagnostics, rg_severityNote), 1);
    rgParsed_Close(&f);
    def.meshes = rg_meshesCollision;
    f = rgParse(text, &def);
    assert_int_equal(f.result, rg_errorFormat);
    assert_int_equal(rgDiagnostics_CountOf(f.diagnostics, rg_severityError), 1);
    rgParsed_Close(&f);
}

static void test_extensions_are_noted_once(void** state) {
    (void)state;
    rgParsed f = rgParseClean(
        "<robot name='r'>" LINK("a") "<gazebo><x>1</x></gazebo>"
                                     "<gazebo reference='a'/><transmission name='t'/></robot>",
        NULL);
    assert_int_equal(rgDiagnostics_Count(f.diagnostics), 2);
    assert_string_equal(rgDiagnostics_Message(f.diagnostics, 1).text,
                        "<gazebo> is skipped but for surfaces of links (2 in the file)");
    rgParsed_Close(&f);
}

static void test_arguments(void** state) {
    (void)state;
    rgModelDef* model = NULL;
    rgLoadDef def = {0};
    assert_int_equal(rgParseUrdf("<robot/>", 8, "x", &def, NULL, &model), rg_errorArgument);
    assert_int_equal(rgParseUrdf(NULL, 0, "x", NULL, NULL, &model), rg_errorArgument);
    assert_int_equal(rgParseUrdf("<robot/>", 8, "x", NULL, NULL, NULL), rg_errorArgument);
    assert_int_equal(rgLoadUrdf(NULL, NULL, NULL, &model), rg_errorArgument);
    assert_int_equal(rgLoadUrdf("no/such.urdf", NULL, NULL, &model), rg_errorFile);
    assert_int_equal(rgParseUrdf("<mujoco/>", 9, NULL, NULL, NULL, &model), rg_errorFormat);
    assert_null(model);
}

static rgResult rgLoadAny(const char* path, bool strict, rgDiagnostics* diagnostics) {
    rgResult result = rg_ok;
    if (strstr(path, ".urdf") != NULL) {
        rgModelDef* model = NULL;
        rgLoadDef def = rgDefaultLoadDef();
        def.strict = strict;
        result = rgLoadModelDef(path, &def, diagnostics, &model);
        assert_true((result == rg_ok) == (model != NULL));
        if (result == rg_ok) {
            // Some remarks are left to the compiler, which has the file and line too.
            rgModel* compiled = NULL;
            rgCompileModel(model, NULL, diagnostics, &compiled);
            rgDestroyModel(compiled);
        }
        rgDestroyModelDef(model);
    } else {
        rgMesh* mesh = NULL;
        result = rgLoadMesh(path, NULL, diagnostics, &mesh);
        rgDestroyMesh(mesh);
    }
    return result;
}

// Warnings become errors under strict.
static void rgCheckBadFile(const rgBadFile* file) {
    bool isMesh = strstr(file->path, ".urdf") == NULL;
    for (int strict = 0; strict < 2; ++strict) {
        rgDiagnostics* diagnostics = NULL;
        assert_int_equal(rgCreateDiagnostics(NULL, &diagnostics), rg_ok);
        rgResult result = rgLoadAny(file->path, strict, diagnostics);
        rgExpectRemark(file, diagnostics, file->isError || (strict && !isMesh), result != rg_ok);
        rgDestroyDiagnostics(diagnostics);
    }
}

static void test_bad_files(void** state) {
    (void)state;
    assert_true(rgForEachBadFile(RG_BAD_FOLDER, rgCheckBadFile) >= 70);
}

static const char* const whole =
    "<robot name='r'>\n<material name='blue'><color rgba='0 0 1 0.5'/></material>\n"
    "<link name='a'>" INERTIAL "<visual><origin rpy='0 1 0'/><geometry><box size='2 4 6'/>"
    "</geometry><material name='blue'/></visual></link>\n" LINK("b") LINK("c")
        LINK("d") "<joint name='1' type='revolute'>" ENDS(
            "a", "b") "<axis xyz='0 1 0'/>"
                      "<limit lower='-1' upper='2' effort='3' velocity='4'/></joint>\n"
                      "<joint name='2' type='continuous'>" ENDS(
                          "b", "c") "<mimic joint='1'/></joint>\n"
                                    "<joint name='3' type='floating'>" ENDS("a",
                                                                            "d") "</joint></robot>";

// Whatever happens to the text: a model, or at least one error.
static void test_damaged_files(void** state) {
    (void)state;
    rgRandom random = {17};
    size_t length = strlen(whole);
    char* text = malloc(length);
    for (int i = 0; i < 6000; ++i) {
        memcpy(text, whole, length);
        for (int change = rgRandom_Index(&random, 4); change >= 0; --change) {
            int at = rgRandom_Index(&random, (int)length - 8);
            switch (rgRandom_Index(&random, 3)) {
            case 0:
                text[at] = (char)rgRandom_Index(&random, 256);
                break;
            case 1: // names and numbers move about
                memmove(text + at, text + rgRandom_Index(&random, (int)length - 8), 3);
                break;
            default:
                text[at] = "0123456789abcd<>/='"[rgRandom_Index(&random, 19)];
                break;
            }
        }
        rgLoadDef def = rgDefaultLoadDef();
        def.strict = i % 2;
        def.base = (rgBaseKind)(i % 3);
        rgDiagnostics* diagnostics = NULL;
        rgModelDef* model = NULL;
        assert_int_equal(rgCreateDiagnostics(NULL, &diagnostics), rg_ok);
        rgResult result = rgParseUrdf(text, length, NULL, &def, diagnostics, &model);
        assert_true((result == rg_ok) == (model != NULL));
        assert_true((result == rg_ok) ==
                    (rgDiagnostics_CountOf(diagnostics, rg_severityError) == 0));
        rgDestroyModelDef(model);
        rgDestroyDiagnostics(diagnostics);
    }
    free(text);
}

static void test_memory_failure(void** state) {
    (void)state;
    rgResult result = rg_errorMemory;
    for (int failAfter = 0; result != rg_ok; ++failAfter) {
        rgCounter counter = {.failAfter = failAfter};
        rgLoadDef def = rgDefaultLoadDef();
        def.allocator = rgCountingAllocator(&counter);
        rgModelDef* model = NULL;
        result = rgParseUrdf(whole, strlen(whole), NULL, &def, NULL, &model);
        assert_true(result == rg_ok || result == rg_errorMemory);
        rgDestroyModelDef(model);
        assert_int_equal(counter.live, 0);
    }
}

// An attribute that no element has, in every element of a file with all of them.
static void test_unknown_attributes(void** state) {
    (void)state;
    char bytes[5000], copy[5100];
    FILE* file = fopen(RIGOR_SOURCE_DIR "/test/io/urdf/every_element.urdf", "rb");
    assert_non_null(file);
    size_t count = fread(bytes, 1, sizeof(bytes) - 1, file);
    fclose(file);
    bytes[count] = '\0';
    for (size_t i = 0; i < count; ++i) {
        if (bytes[i] != '<' || bytes[i + 1] < 'a' || bytes[i + 1] > 'z') {
            continue;
        }
        size_t end = i + strcspn(bytes + i, " >/");
        memcpy(copy, bytes, end);
        memcpy(copy + end, " zzz='1'", 8);
        memcpy(copy + end + 8, bytes + end, count - end + 1);
        rgParsed f = rgParse(copy, NULL);
        bool told = false;
        for (int k = 0; k < rgDiagnostics_Count(f.diagnostics); ++k) {
            rgMessage message = rgDiagnostics_Message(f.diagnostics, k);
            told = told || strstr(message.text, "unknown attribute 'zzz'") != NULL;
        }
        if (!told) {
            fail_msg("%.*s zzz='1': nothing is said", (int)(end - i), bytes + i);
        }
        rgParsed_Close(&f);
    }
    rgParsed f = rgParse(bytes, NULL);
    assert_true(rgHasRemark(f.diagnostics, rg_severityNote, 25, "only <limit> is used"));
    rgParsed_Close(&f);
}

// Bodies without mass can move when the least of it is asked for.
static void test_bound(void** state) {
    (void)state;
    const char* text = "<robot name='r'><link name='a'/><link name='b'/><joint name='j' "
                       "type='continuous'><parent link='a'/><child link='b'/></joint></robot>";
    rgLoadDef load = rgDefaultLoadDef();
    load.boundMass = 0.1;
    load.boundInertia = 1e-3;
    rgParsed f = rgParse(text, &load);
    assert_int_equal(f.result, rg_ok);
    const rgInertia* inertia = &f.def->bodies[1].inertia;
    EXPECT_NEAR(inertia->mass, 0.1, 0);
    EXPECT_NEAR(inertia->moment.xx, 1e-3, 1e-18);
    EXPECT_NEAR(f.def->bodies[0].inertia.mass, 0, 0); // it has no joint
    assert_true(rgHasRemark(f.diagnostics, rg_severityNote, 1, "as requested (1 changed)"));
    rgModel* model = NULL;
    assert_int_equal(rgCompileModel(f.def, NULL, f.diagnostics, &model), rg_ok);
    rgDestroyModel(model);
    rgParsed_Close(&f);
    f = rgParse(text, NULL);
    assert_int_equal(rgCompileModel(f.def, NULL, f.diagnostics, &model), rg_ok);
    assert_int_equal(rgModel_Info(model).qCount, 0);
    assert_true(rgHasRemark(f.diagnostics, rg_severityWarning, 1, "it is fixed; give link 'b'"));
    rgDestroyModel(model);
    rgParsed_Close(&f);
    load.boundMass = -1;
    load.meshScale = 1e300;
    rgDiagnostics* said = NULL;
    assert_int_equal(rgCreateDiagnostics(NULL, &said), rg_ok);
    assert_int_equal(rgParseUrdf(text, strlen(text), "a.urdf", &load, said, &f.def),
                     rg_errorArgument);
    assert_true(rgHasRemark(said, rg_severityError, 0, "least mass is -1"));
    assert_true(rgHasRemark(said, rg_severityError, 0, "scale of meshes is 1e+300"));
    rgDestroyDiagnostics(said);
}

// A hand without masses: what has collision shapes weighs as water does, what has none is fixed,
// and a link between heavy ones stays as it is. Couplings to a fixed joint go.
static void test_lent_inertia(void** state) {
    (void)state;
    rgParsed f = rgParse(
        "<robot name='r'>" LINK(
            "a") "<link name='b'><collision><origin xyz='0 0 1'/><geometry>"
                 "<box size='.1 .2 "
                 ".3'/></geometry></collision><visual><geometry><sphere radius='9'/>"
                 "</geometry></visual></link><link name='tip'/><link "
                 "name='cross'/>" LINK("c") "<joint name='1' type='continuous'>" ENDS(
                     "a",
                     "b") "</joint>"
                          "<joint name='2' type='continuous'>" ENDS(
                              "b",
                              "tip") "</joint>"
                                     "<joint name='3' type='continuous'>" ENDS(
                                         "a",
                                         "cross") "</joint>"
                                                  "<joint name='4' "
                                                  "type='continuous'>" ENDS(
                                                      "cross",
                                                      "c") "<mimic "
                                                           "joint='2'/></"
                                                           "joint><link "
                                                           "name='flange'><collision><geometry><"
                                                           "sphere "
                                                           "radius='1'/></geometry></collision></"
                                                           "link>"
                                                           "<joint name='0' type='fixed'>" ENDS(
                                                               "c", "flange") "</joint></robot>",
        NULL);
    assert_int_equal(f.result, rg_ok);
    const rgInertia* b = &rgModelDef_Body(f.def, rgModelDef_FindBody(f.def, "b"))->inertia;
    EXPECT_NEAR(b->mass, 6, 1e-12);
    EXPECT_NEAR(b->center.z, 1, 1e-15);
    EXPECT_NEAR(b->moment.zz, 6 * (0.01 + 0.04) / 12, 1e-12);
    EXPECT_NEAR(rgModelDef_Body(f.def, rgModelDef_FindBody(f.def, "cross"))->inertia.mass, 0, 0);
    EXPECT_NEAR(rgModelDef_Body(f.def, rgModelDef_FindBody(f.def, "flange"))->inertia.mass, 0, 0);
    static const rgJointKind kinds[] = {rg_jointRevolute, rg_jointFixed, rg_jointRevolute,
                                        rg_jointRevolute};
    for (int i = 0; i < 4; ++i) {
        const char name[] = {(char)('1' + i), '\0'};
        assert_int_equal(rgModelDef_Joint(f.def, rgModelDef_FindJoint(f.def, name))->kind,
                         kinds[i]);
    }
    assert_int_equal(f.def->equalityCount, 0);
    assert_int_equal(rgDiagnostics_CountOf(f.diagnostics, rg_severityWarning), 3);
    assert_true(rgHasRemark(f.diagnostics, rg_severityWarning, 1,
                            "link 'cross' moves, but neither it nor a link fixed"));
    rgModel* model = NULL;
    assert_int_equal(rgCompileModel(f.def, NULL, NULL, &model), rg_ok);
    rgDestroyModel(model);
    rgParsed_Close(&f);
}

// Moments that no body has: the negative one is 0, the others stay.
static void test_negative_moment(void** state) {
    (void)state;
    rgParsed f = rgParse("<robot name='r'><link name='a'><inertial><mass value='1'/>"
                         "<inertia ixx='1' iyy='1' izz='2' ixy='1.5' ixz='0' iyz='0'/></inertial>"
                         "</link></robot>",
                         NULL);
    assert_int_equal(f.result, rg_ok);
    const rgSym3* moment = &f.def->bodies[0].inertia.moment; // 2.5, 2, -0.5
    EXPECT_NEAR(moment->xx, 1.25, 1e-12);
    EXPECT_NEAR(moment->xy, 1.25, 1e-12);
    EXPECT_NEAR(moment->zz, 2, 1e-12);
    rgParsed_Close(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_order),
        cmocka_unit_test(test_unknown_attributes),
        cmocka_unit_test(test_bound),
        cmocka_unit_test(test_lent_inertia),
        cmocka_unit_test(test_negative_moment),
        cmocka_unit_test(test_joint_kinds),
        cmocka_unit_test(test_inertial),
        cmocka_unit_test(test_shapes),
        cmocka_unit_test(test_shape_names),
        cmocka_unit_test(test_static_mesh_keeps_its_triangles),
        cmocka_unit_test(test_mesh_of_a_base),
        cmocka_unit_test(test_bullet_contact),
        cmocka_unit_test(test_gazebo_restitution),
        cmocka_unit_test(test_gazebo_surface),
        cmocka_unit_test(test_implied_world),
        cmocka_unit_test(test_friction_rule),
        cmocka_unit_test(test_mimic),
        cmocka_unit_test(test_base),
        cmocka_unit_test(test_packages),
        cmocka_unit_test(test_mesh_use),
        cmocka_unit_test(test_extensions_are_noted_once),
        cmocka_unit_test(test_arguments),
        cmocka_unit_test(test_bad_files),
        cmocka_unit_test(test_damaged_files),
        cmocka_unit_test(test_memory_failure),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
