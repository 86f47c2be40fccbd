// SDF: files of a corpus against the same model in URDF or MJCF, what bad ones say, damaged bytes.
#include "model/def.h"
#include "parsed.h"
#include "rigor/rigor.h"
#include "same.h"
#include "source_dir.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RG_PI     3.14159265358979323846
#define RG_FOLDER RIGOR_SOURCE_DIR "/test/io/sdf/"

static rgParsed rgParse(const char* text, const rgLoadDef* load) {
    return rgParseText(rgParseSdf, RG_FOLDER "x.sdf", text, load);
}

static rgParsed rgParseClean(const char* text, const rgLoadDef* load) {
    rgParsed f = rgParse(text, load);
    rgExpectClean(&f);
    return f;
}

// Names, limits and the like, in the same order in both.
static void rgExpectSameJoints(const rgModelDef* a, const rgModelDef* b) {
    assert_int_equal(a->jointCount, b->jointCount);
    for (int i = 0; i < a->jointCount; ++i) {
        const rgJointDef *x = &a->joints[i], *y = &b->joints[i];
        assert_int_equal(x->kind, y->kind);
        if (x->kind == rg_jointFree) {
            continue;
        }
        assert_string_equal(x->name, y->name);
        assert_int_equal(x->hasLimits, y->hasLimits);
        EXPECT_NEAR(x->hasLimits ? x->lower - y->lower : 0, 0, 1e-15);
        EXPECT_NEAR(x->hasLimits ? x->upper - y->upper : 0, 0, 1e-15);
        EXPECT_NEAR(x->damping, y->damping, 0);
        EXPECT_NEAR(x->dryFriction, y->dryFriction, 0);
        EXPECT_NEAR(x->effortLimit, y->effortLimit, 0);
        EXPECT_NEAR(x->velocityLimit, y->velocityLimit, 0);
    }
    assert_int_equal(a->equalityCount, b->equalityCount);
    for (int i = 0; i < a->equalityCount; ++i) {
        EXPECT_NEAR(a->equalities[i].polynomial[0], b->equalities[i].polynomial[0], 1e-15);
        EXPECT_NEAR(a->equalities[i].polynomial[1], b->equalities[i].polynomial[1], 1e-15);
    }
}

static void rgCompare(const char* sdf, const char* other) {
    char path[2][4096];
    snprintf(path[0], sizeof(path[0]), RG_FOLDER "%s", sdf);
    snprintf(path[1], sizeof(path[1]), RG_FOLDER "%s", other);
    rgModelDef *a = rgLoadOrFail(path[0]), *b = rgLoadOrFail(path[1]);
    rgModel *x = rgCompileOrFail(a), *y = rgCompileOrFail(b);
    rgExpectSameJoints(a, b);
    rgExpectSameRobot(x, y, 1e-12, false); // rounding of poses that are multiplied out
    rgDestroyModel(x);
    rgDestroyModel(y);
    rgDestroyModelDef(a);
    rgDestroyModelDef(b);
}

// Frames, expressed_in, rotations of every kind, inertials with poses, mimic.
static void test_arm(void** state) {
    (void)state;
    rgCompare("arm.sdf", "arm.urdf");
}

// Includes by model:// and by path, placement frames, nested models, universal and ball joints,
// masses of solids, links without gravity.
static void test_world(void** state) {
    (void)state;
    rgCompare("world.sdf", "world.xml");
    rgModelDef* def = rgLoadOrFail(RG_FOLDER "world.sdf");
    rgModelOptions options = rgModelDef_Info(def).options;
    EXPECT_NEAR(options.gravity.z, -3.7, 0);
    EXPECT_NEAR(options.timeStep, 0.002, 0);
    assert_string_equal(rgModelDef_Info(def).name, "yard");
    const rgFrameDef* mark = rgModelDef_Frame(def, rgModelDef_FindFrame(def, "mark"));
    assert_non_null(mark);
    EXPECT_NEAR(mark->pose.p.y, 2, 0);
    const rgFrameDef* top = rgModelDef_Frame(def, rgModelDef_FindFrame(def, "first::top"));
    assert_non_null(top);
    assert_int_equal(top->body.index1, rgModelDef_FindBody(def, "first::body").index1);
    EXPECT_NEAR(top->pose.p.z, 0.1, 1e-15);
    // A visual and a collision of one name are numbered.
    assert_true(rgModelDef_FindShape(def, "first::body/collision0").index1 > 0);
    assert_true(rgModelDef_FindShape(def, "first::body/visual0").index1 > 0);
    rgDestroyModelDef(def);
}

// Merged and nested includes, a part of a mesh about its middle, limits on one side.
static void test_legs(void** state) {
    (void)state;
    rgModelDef *a = rgLoadOrFail(RG_FOLDER "legs.sdf"), *b = rgLoadOrFail(RG_FOLDER "legs.xml");
    rgModel *x = rgCompileOrFail(a), *y = rgCompileOrFail(b);
    rgExpectSameRobot(x, y, 1e-12, false);
    const rgJointDef* knee = rgModelDef_Joint(a, rgModelDef_FindJoint(a, "right::knee"));
    assert_non_null(knee);
    assert_true(knee->hasLimits && knee->lower == -2 && knee->upper == INFINITY);
    rgDestroyModel(x);
    rgDestroyModel(y);
    rgDestroyModelDef(a);
    rgDestroyModelDef(b);
}

// A parallelogram swings as a pendulum: the bar stays level, and energy stays. Version 1.4 has axes
// in the model's frame.
static void test_loop(void** state) {
    (void)state;
    rgModelDef* def = rgLoadOrFail(RG_FOLDER "linkage.sdf");
    rgModel* model = rgCompileOrFail(def);
    rgWorldDef worldDef = rgDefaultWorldDef();
    rgWorld* world = NULL;
    worldDef.timeStep = 1e-3;
    assert_int_equal(rgCreateWorld(model, &worldDef, NULL, &world), rg_ok);
    // Depth first: left with the bar below it, then right.
    const double q[3] = {0, 0, 0}, v[3] = {1, -1, 1};
    assert_int_equal(rgWorld_SetState(world, q, v), rg_ok);
    for (int i = 0; i < 500; ++i) {
        assert_int_equal(rgWorld_Step(world, NULL), rg_ok);
    }
    const double* at = rgWorld_Positions(world, NULL);
    assert_true(fabs(at[0]) > 0.05);
    EXPECT_NEAR(at[1], -at[0], 1e-4);
    EXPECT_NEAR(at[2], at[0], 1e-4);
    // (2 (I + m l^2/4) + m l^2) w'^2/2 + (2 m g l/2 + m g l)(1 - cos w), l = 1, m = 1, I = 0.1
    const double* rate = rgWorld_Velocities(world, NULL);
    double energy = 0.5 * 1.7 * rate[0] * rate[0] + 2 * 9.81 * (1 - cos(at[0]));
    EXPECT_NEAR(energy, 0.5 * 1.7, 1e-3);
    rgDestroyWorld(world);
    rgDestroyModel(model);
    rgDestroyModelDef(def);
}

#define MODEL(text)       "<sdf version='1.9'><model name='m'>" text "</model></sdf>"
#define LINK(name)        "<link name='" name "'><inertial><mass>2</mass></inertial></link>"
#define ENDS(parent, kid) "<parent>" parent "</parent><child>" kid "</child>"
#define AXIS              "<axis><xyz>0 0 1</xyz></axis>"

// A link with two parents, of which one hangs on nothing: that one hangs on the link.
static void test_turned_joint(void** state) {
    (void)state;
    rgParsed f =
        rgParseClean(MODEL(LINK("a") LINK("b") LINK("c")
                               LINK("d") "<joint name='j' type='revolute'>" ENDS("a", "b") AXIS
                           "</joint>"
                           "<joint name='k' type='revolute'>" ENDS("c", "d") AXIS
                           "</joint>"
                           "<joint name='l' type='revolute'>" ENDS("d", "b") AXIS "</joint>"),
                     NULL);
    assert_true(rgHasRemark(f.diagnostics, rg_severityNote, 1, "moves its parent"));
    assert_int_equal(f.def->equalityCount, 0);
    assert_int_equal(f.def->jointCount, 4); // one of them free
    const rgJointDef* l = rgModelDef_Joint(f.def, rgModelDef_FindJoint(f.def, "l"));
    const rgJointDef* k = rgModelDef_Joint(f.def, rgModelDef_FindJoint(f.def, "k"));
    assert_int_equal(l->body.index1, rgModelDef_FindBody(f.def, "d").index1);
    assert_int_equal(k->body.index1, rgModelDef_FindBody(f.def, "c").index1);
    EXPECT_NEAR(l->axis.z, -1, 0);
    EXPECT_NEAR(k->axis.z, -1, 0);
    rgParsed_Close(&f);
}

static void test_screw(void** state) {
    (void)state;
    static const char* const pitch[] = {"<screw_thread_pitch>0.01</screw_thread_pitch>",
                                        "<thread_pitch>-628.3185307179587</thread_pitch>"};
    for (int i = 0; i < 2; ++i) {
        char text[1000];
        snprintf(
            text, sizeof(text),
            MODEL(LINK("a") "<joint name='j' type='screw'>" ENDS("world", "a") AXIS "%s</joint>"),
            pitch[i]);
        rgParsed f = rgParseClean(text, NULL);
        assert_int_equal(f.def->jointCount, 2);
        assert_int_equal(f.def->joints[1].kind, rg_jointPrismatic);
        EXPECT_NEAR(f.def->equalities[0].polynomial[1], 0.01 / (2 * RG_PI), 1e-15);
        rgParsed_Close(&f);
    }
}

#define COLLISION(surface)                                                                         \
    MODEL("<link name='a'><inertial><mass>1</mass></inertial><collision name='c'><geometry>"       \
          "<sphere><radius>0.1</radius></sphere></geometry><surface>" surface                      \
          "</surface></collision></link>")

static void test_surface(void** state) {
    (void)state;
    rgLoadDef load = rgDefaultLoadDef();
    load.fileContact = true;
    rgParsed f = rgParseClean(
        COLLISION("<friction><ode><mu>0.3</mu></ode><torsional><coefficient>0.5</coefficient>"
                  "<patch_radius>0.02</patch_radius></torsional></friction>"
                  "<bounce><restitution_coefficient>0.4</restitution_coefficient></bounce>"
                  "<contact><collide_bitmask>0x0c</collide_bitmask>"
                  "<ode><kp>1e6</kp><kd>30</kd></ode></contact>"),
        &load);
    const rgShapeDef* shape = &f.def->shapes[0];
    EXPECT_NEAR(shape->material.mu, 0.3, 0);
    assert_int_equal(shape->material.frictionRule, rg_frictionMinimum);
    EXPECT_NEAR(shape->material.muTorsion, 3 * RG_PI / 16 * 0.01, 1e-15);
    assert_int_equal(shape->material.dimension, 4);
    EXPECT_NEAR(shape->material.restitution, 0.4, 0);
    EXPECT_NEAR(shape->material.stiffness, 1e6, 0);
    EXPECT_NEAR(shape->material.damping, 30, 0);
    assert_int_equal(shape->mask, 12);
    assert_int_equal(shape->group, 12);
    rgParsed_Close(&f);
    f = rgParseClean(COLLISION(""), NULL);
    EXPECT_NEAR(f.def->shapes[0].material.mu, 1, 0); // as the format says
    rgParsed_Close(&f);
}

// Parts of one model meet only where it says so.
static void test_self_collide(void** state) {
    (void)state;
    for (int collide = 0; collide < 2; ++collide) {
        char text[2000];
        snprintf(
            text, sizeof(text),
            MODEL("<self_collide>%s</self_collide>"
                  "<link name='a'><inertial><mass>1</mass></inertial><collision name='c'>"
                  "<geometry><sphere><radius>0.1</radius></sphere></geometry></collision></link>"
                  "<link name='b'><inertial><mass>1</mass></inertial><collision name='c'>"
                  "<geometry><sphere><radius>0.1</radius></sphere></geometry></collision></link>"),
            collide ? "1" : "false");
        rgParsed f = rgParseClean(text, NULL);
        rgModel* model = rgCompileOrFail(f.def);
        assert_int_equal(rgModel_ShapesMeet(model, (rgShapeId){1}, (rgShapeId){2}), collide);
        rgDestroyModel(model);
        rgParsed_Close(&f);
    }
}

// What no joint holds is free, unless asked otherwise.
static void test_base(void** state) {
    (void)state;
    static const int freeCounts[] = {1, 0, 2};
    for (int base = 0; base < 3; ++base) {
        rgLoadDef load = rgDefaultLoadDef();
        load.base = (rgBaseKind)base;
        rgParsed f = rgParseClean(MODEL(LINK("a") LINK("b") "<joint name='j' type='fixed'>" ENDS(
                                      "world", "b") "</joint>"),
                                  &load);
        assert_int_equal(f.def->jointCount, freeCounts[base]);
        rgParsed_Close(&f);
    }
}

// The pixels of the image are 0, 51, 102, 255 from the far left.
static void test_height_map(void** state) {
    (void)state;
    rgParsed f = rgParseClean(
        MODEL("<static>1</static><link name='a'><collision name='c'><geometry><heightmap>"
              "<uri>file://hill.png</uri><size>4 2 10</size><pos>0 0 1</pos></heightmap></geometry>"
              "</collision></link>"),
        NULL);
    const rgShapeDef* shape = &f.def->shapes[0];
    assert_int_equal(shape->kind, rg_shapeHeightField);
    assert_int_equal(shape->heightField->columnCount, 2);
    EXPECT_NEAR(shape->heightField->sizeX, 2, 0);
    EXPECT_NEAR(shape->heightField->heights[0], 4, 1e-12);
    EXPECT_NEAR(shape->heightField->heights[1], 10, 1e-12);
    EXPECT_NEAR(shape->heightField->heights[2], 0, 1e-12);
    EXPECT_NEAR(shape->heightField->heights[3], 2, 1e-12);
    EXPECT_NEAR(shape->pose.p.z, 1, 0);
    rgParsed_Close(&f);
}

// Worlds of Gazebo stand on its ground plane, which is here even where its models are not.
static void test_ground_plane(void** state) {
    (void)state;
    rgLoadDef load = rgDefaultLoadDef();
    load.ignoreEnvironment = true;
    rgParsed f = rgParseClean("<sdf version='1.9'><world name='w'><include><uri>model://sun</uri>"
                              "</include><include><uri>model://ground_plane</uri></include>"
                              "</world></sdf>",
                              &load);
    assert_int_equal(f.def->shapeCount, 1);
    assert_int_equal(f.def->shapes[0].kind, rg_shapePlane);
    assert_string_equal(f.def->bodies[0].name, "ground_plane::link");
    assert_int_equal(f.def->jointCount, 0);
    rgParsed_Close(&f);
}

typedef struct rgSaying {
    rgSeverity severity;
    const char* text; // of the file
    const char* said;
} rgSaying;

#define JOINT(type, rest)                                                                          \
    MODEL(LINK("a") LINK("b") "<joint name='j' type='" type "'>" ENDS("a", "b") rest "</joint>")
#define SHAPE(kind, geometry)                                                                      \
    MODEL("<link name='a'><inertial><mass>1</mass></inertial><" kind                               \
          " name='c'><geometry>" geometry "</geometry></" kind "></link>")
#define WORLD(text) "<sdf version='1.9'><world name='w'>" text "</world></sdf>"

static const rgSaying sayings[] = {
    {rg_severityError, "<sdf><model name='m'/></sdf>", "needs the attribute 'version'"},
    {rg_severityError, "<sdf version='2.0'><model name='m'/></sdf>", "'2.0' is not known"},
    {rg_severityError, "<sdf version='1.9'/>", "neither a <world> nor a <model>"},
    {rg_severityWarning, WORLD(""), NULL},
    {rg_severityWarning, "<sdf version='1.9'><world name='w'/><world name='v'/></sdf>",
     "only the first <world> is read"},
    {rg_severityWarning, "<sdf version='1.9'><world name='w'/><model name='v'/></sdf>",
     "a <model> beside the <world> is left out"},
    {rg_severityWarning, WORLD("<modle name='x'/>"),
     "unknown element <modle> in <world> is ignored; did you mean 'model'?"},
    {rg_severityWarning, WORLD("<actor name='x'/>"), "<actor> of <world> is not supported"},
    {rg_severityWarning,
     WORLD("<model name='m'><link name='a'/><joint name='j' type='fixed'><parent>world</parent>"
           "<child>a</child><axes/></joint></model>"),
     "unknown element <axes> in <joint> is ignored; did you mean 'axis'?"},
    {rg_severityWarning, WORLD("<population name='x'/>"), "its models are not there"},
    {rg_severityWarning, WORLD("<wind/>"), "there is no wind"},
    {rg_severityWarning, WORLD("<state world_name='w'/>"), "models stand where <model> puts them"},
    {rg_severityNote, WORLD("<plugin name='p'/>"), "its parts stay passive"},
    {rg_severityNote, WORLD("<gz:thing/>"), "belongs to another program"},
    {rg_severityNote, WORLD("<physics name='p' type='ode'><ode/></physics>"),
     "it sets up Gazebo's solver"},
    {rg_severityError, WORLD("<include/>"), "needs an element <uri>"},
    {rg_severityError, WORLD("<include><uri>https://fuel/x</uri></include>"),
     "nothing is fetched from a network"},
    {rg_severityError, WORLD("<include><uri>model://nowhere</uri></include>"),
     "no folder of that name with a model.config"},
    {rg_severityError, WORLD("<include><uri>nowhere</uri></include>"),
     "there is no such file, nor a folder"},
    {rg_severityNote, WORLD("<include><uri>model://sun</uri></include>"),
     "the sun is a light and is left out"},
    {rg_severityNote,
     WORLD("<include><uri>https://fuel.gazebosim.org/1.0/a/models/Ground Plane</uri></include>"),
     "the ground plane is the one that comes with this reader"},
    {rg_severityError, WORLD("<include><uri>model://broken</uri></include>"),
     "names no <sdf> file that exists"},
    {rg_severityError, WORLD("<include><uri>arm.urdf</uri></include>"),
     "is no SDF file with a <model>"},
    {rg_severityError, WORLD("<include><uri>models/endless.sdf</uri></include>"),
     "more than 8 files deep"},
    {rg_severityError, MODEL("<link name='__a__'/>"), "the name '__a__' of <link> is reserved"},
    {rg_severityError, MODEL("<link name='a'/><link name='a'/>"),
     "the link name 'a' is already used on line 1"},
    {rg_severityError, MODEL("<link/>"), "needs the attribute 'name'"},
    {rg_severityError, MODEL("<static>perhaps</static><link name='a'/>"),
     "'perhaps' is neither true nor false"},
    {rg_severityError, MODEL("<link name='a'><pose>1 2 3</pose></link>"),
     "<pose>: needs 6 numbers, has 3"},
    {rg_severityError, MODEL("<link name='a'><pose>1 2 3 0 x 0</pose></link>"),
     "<pose>: 'x' is not a finite number"},
    {rg_severityError,
     MODEL("<link name='a'><pose rotation_format='quat_xyzw'>1 2 3 0 0 0 0</pose></link>"),
     "the quaternion has length 0"},
    {rg_severityError, MODEL("<link name='a'><pose relative_to='b'>0 0 0 0 0 0</pose></link>"),
     "<pose relative_to>: there is no frame 'b'"},
    {rg_severityError,
     MODEL("<link name='a'><pose relative_to='b'/></link><link name='b'><pose relative_to='a'/>"
           "</link>"),
     "is relative to itself, through others"},
    {rg_severityError,
     MODEL("<link name='a'/><frame name='f' attached_to='g'/><frame name='g' attached_to='f'/>"),
     "through others"},
    {rg_severityError, MODEL("<link name='a'/><frame name='f' attached_to='g'/>"),
     "<frame attached_to>: there is no frame 'g'"},
    {rg_severityWarning, MODEL("<link name='a'><pose frame='b'>0 0 0 0 0 0</pose></link>"),
     "SDF 1.7 replaced it by 'relative_to'"},
    {rg_severityError,
     "<sdf version='1.9'><model name='m' placement_frame='f'><link name='a'/></model></sdf>",
     "<model placement_frame>: there is no frame 'f'"},
    {rg_severityError,
     "<sdf version='1.9'><model name='m' canonical_link='f'><link name='a'/></model></sdf>",
     "<model canonical_link>: there is no frame 'f'"},
    {rg_severityError,
     "<sdf version='1.9'><model name='m' placement_frame='world'><link name='a'/></model></sdf>",
     "is not placed within the model"},
    {rg_severityNote, MODEL("<link name='a'/>"), "1 kg and 1 kg m^2 are used, as SDF specifies"},
    {rg_severityWarning, MODEL("<link name='a'><inertial><mass>0</mass></inertial></link>"),
     "link 'a' has mass 0 and no parent: it is fixed to the world"},
    {rg_severityWarning,
     JOINT("revolute", AXIS "</joint><link name='c'><inertial><mass>0</mass></inertial></link>"
                            "<joint name='k' type='fixed'>" ENDS("b", "c")),
     "link 'c': the mass is 0"},
    {rg_severityError, MODEL("<link name='a'><inertial><mass>-1</mass></inertial></link>"),
     "the mass -1 is negative"},
    {rg_severityWarning,
     MODEL("<link name='world'/><link name='a'/><joint name='j' type='fixed'>" ENDS(
         "world", "a") "</joint>"),
     "a link may not be called 'world': it is the world itself"},
    {rg_severityWarning,
     MODEL("<link name='world'><inertial><mass>1</mass></inertial></link><link name='a'/>"
           "<joint name='j' type='fixed'>" ENDS("world", "a") "</joint>"),
     "here it is a separate link"},
    {rg_severityError,
     MODEL("<link name='a'><inertial><mass>1</mass><inertia><ixx>-1</ixx></inertia></inertial>"
           "</link>"),
     "a principal moment of inertia is negative"},
    {rg_severityError,
     MODEL("<link name='a'><inertial auto='true'/><collision name='c'><geometry>"
           "<plane/></geometry></collision></link>"),
     "encloses no volume"},
    {rg_severityWarning, MODEL("<link name='a'><kinematic>true</kinematic></link>"),
     "the link moves as forces make it"},
    {rg_severityWarning, MODEL("<link name='a'><velocity_decay/></link>"),
     "nothing slows the link"},
    {rg_severityNote, MODEL("<link name='a'><sensor name='s' type='imu'/></link>"),
     "<sensor> of <link> is skipped"},
    {rg_severityError, MODEL(LINK("a") "<joint name='j' type='fixed'>" ENDS("a", "x") "</joint>"),
     "there is no link or frame 'x'"},
    {rg_severityError,
     MODEL(LINK("a") "<joint name='j' type='fixed'>" ENDS("a", "world") "</joint>"),
     "exchange parent and child"},
    {rg_severityError, MODEL(LINK("a") "<joint name='j' type='fixed'>" ENDS("a", "a") "</joint>"),
     "joins a link to itself"},
    {rg_severityError, JOINT("hinge", AXIS), "<joint type>: 'hinge' is none of"},
    {rg_severityWarning, JOINT("gearbox", AXIS), "its links turn independently"},
    {rg_severityWarning, JOINT("revolute", ""), "has no <axis>: 0 0 1 is taken"},
    {rg_severityError, JOINT("revolute", "<axis><xyz>0 0 0</xyz></axis>"), "the axis is zero"},
    {rg_severityError, JOINT("revolute", "<axis><xyz expressed_in='q'>0 0 1</xyz></axis>"),
     "<xyz expressed_in>: there is no frame 'q'"},
    {rg_severityError,
     JOINT("revolute", "<axis><limit><lower>2</lower><upper>1</upper></limit></axis>"),
     "the lower limit 2 is above the upper 1"},
    {rg_severityWarning,
     JOINT("revolute", "<axis><limit><lower>0</lower><upper>0</upper></limit></axis>"),
     "it is locked"},
    {rg_severityError, JOINT("revolute", "<axis><dynamics><damping>-1</damping></dynamics></axis>"),
     "<damping>: -1 is negative"},
    {rg_severityWarning, JOINT("revolute", "<axis><initial_position>1</initial_position></axis>"),
     "the joint starts where its links are"},
    {rg_severityNote, JOINT("revolute", AXIS "<physics/>"), "it sets up Gazebo's solvers"},
    {rg_severityWarning, JOINT("screw", AXIS), "1 rad/m is used, as SDF specifies"},
    {rg_severityError, JOINT("revolute", "<axis><mimic joint='k'/></axis>"),
     "which is no joint with that axis"},
    {rg_severityError, JOINT("revolute", "<axis><mimic joint='j'/></axis>"), "mimics itself"},
    {rg_severityError,
     JOINT("prismatic", AXIS "</joint><joint name='k' type='prismatic'>" ENDS("a", "b") AXIS),
     "closes a loop, which only fixed"},
    {rg_severityWarning,
     JOINT("revolute", AXIS "</joint><joint name='k' type='revolute'>" ENDS(
                           "a", "b") "<axis><dynamics><damping>1</damping></dynamics></axis>"),
     "are left out"},
    {rg_severityWarning, SHAPE("collision", "<box><size>1 0 1</size></box>"), "does not collide"},
    {rg_severityError, SHAPE("collision", "<box><size>1 -1 1</size></box>"), "-1 is not positive"},
    {rg_severityWarning, SHAPE("visual", "<box><size>1 0 1</size></box>"), "it is not shown"},
    {rg_severityError, SHAPE("collision", "<polyline/>"),
     "<polyline> of link 'a' is not supported"},
    {rg_severityNote, SHAPE("visual", "<polyline/>"), "<polyline> of link 'a' is not shown"},
    {rg_severityError, SHAPE("collision", "<mesh/>"), "<mesh> needs an element <uri>"},
    {rg_severityError, SHAPE("collision", "<mesh><uri>no.obj</uri></mesh>"), "there is no file"},
    {rg_severityError,
     SHAPE("collision", "<mesh><uri>model://leg/meshes/two.obj</uri><submesh><name>x</name>"
                        "</submesh></mesh>"),
     "has no part 'x'"},
    {rg_severityError, SHAPE("collision", "<plane><normal>0 0 0</normal></plane>"),
     "the normal is zero"},
    {rg_severityError, SHAPE("collision", "<heightmap><uri>no.png</uri></heightmap>"),
     "'no.png' cannot be read"},
    {rg_severityError, SHAPE("collision", "<heightmap><uri>arm.sdf</uri></heightmap>"),
     "no PNG image can be read"},
    {rg_severityWarning, COLLISION("<friction><ode><mu>1</mu><mu2>2</mu2></ode></friction>"),
     "friction is taken as the same in all directions, 1"},
    {rg_severityWarning, COLLISION("<friction><ode><slip1>1</slip1></ode></friction>"),
     "friction does not depend on speed"},
    {rg_severityWarning,
     COLLISION(
         "<friction><torsional><use_patch_radius>0</use_patch_radius></torsional></friction>"),
     "<surface_radius> is not supported"},
    {rg_severityError,
     COLLISION("<bounce><restitution_coefficient>2</restitution_coefficient></bounce>"),
     "2 is above 1"},
    {rg_severityNote, COLLISION("<contact><ode><kp>1</kp></ode></contact>"),
     "contacts are rigid; --contact file uses them"},
    {rg_severityError, COLLISION("<contact><collide_bitmask>x</collide_bitmask></contact>"),
     "'x' is no bit mask"},
    {rg_severityNote,
     COLLISION("<contact><collide_without_contact>1</collide_without_contact></contact>"),
     "the shape is shown and does not collide"},
    {rg_severityWarning, COLLISION("<soft_contact/>"), "bodies are rigid"},
};

static void test_sayings(void** state) {
    (void)state;
    for (int i = 0; i < (int)(sizeof(sayings) / sizeof(sayings[0])); ++i) {
        const rgSaying* saying = &sayings[i];
        for (int strict = 0; strict < 2; ++strict) {
            rgLoadDef load = rgDefaultLoadDef();
            load.strict = strict != 0;
            load.ignoreEnvironment = true;
            rgParsed f = rgParse(saying->text, &load);
            bool isWarning = saying->severity == rg_severityWarning;
            bool fails = saying->severity == rg_severityError ||
                         (strict && isWarning && saying->said != NULL);
            rgSeverity severity = strict && isWarning ? rg_severityError : saying->severity;
            bool good = (f.result != rg_ok) == fails;
            if (saying->said != NULL && good) {
                bool found = false;
                for (int k = 0; k < rgDiagnostics_Count(f.diagnostics); ++k) {
                    rgMessage message = rgDiagnostics_Message(f.diagnostics, k);
                    found = found || (message.severity == severity && message.file != NULL &&
                                      strstr(message.text, saying->said) != NULL);
                }
                good = found;
            }
            if (!good) {
                rgPrintRemarks(f.diagnostics);
                fail_msg("%s: expected '%s'", saying->text,
                         saying->said != NULL ? saying->said : "nothing");
            }
            rgParsed_Close(&f);
        }
    }
}

static char* rgReadText(const char* name, size_t* count) {
    char path[4096];
    snprintf(path, sizeof(path), RG_FOLDER "%s", name);
    FILE* file = fopen(path, "rb");
    char* bytes = calloc(1, 100000);
    assert_non_null(file);
    *count = fread(bytes, 1, 99999, file);
    fclose(file);
    return bytes;
}

// A model or an error that is told; nothing else, and no memory is left.
static void rgLoadBytes(const char* bytes, size_t count, int failAfter) {
    rgCounter counter = {.failAfter = failAfter};
    rgDiagnostics* diagnostics = NULL;
    rgModelDef* model = NULL;
    rgLoadDef def = rgDefaultLoadDef();
    def.allocator = rgCountingAllocator(&counter);
    def.ignoreEnvironment = true;
    assert_int_equal(rgCreateDiagnostics(NULL, &diagnostics), rg_ok);
    rgResult result = rgParseSdf(bytes, count, RG_FOLDER "x.sdf", &def, diagnostics, &model);
    assert_true((model != NULL) == (result == rg_ok));
    assert_true(result == rg_ok || result == rg_errorMemory ||
                rgDiagnostics_CountOf(diagnostics, rg_severityError) > 0);
    rgDestroyModelDef(model);
    assert_int_equal(counter.live, 0);
    rgDestroyDiagnostics(diagnostics);
}

static void test_damage(void** state) {
    (void)state;
    static const char* const names[] = {"arm.sdf", "world.sdf", "legs.sdf", "linkage.sdf"};
    static const char letters[] = "0123456789-.eE \"<>/=abxyz:_";
    rgRandom random = {.state = 17};
    for (int n = 0; n < 4; ++n) {
        size_t count = 0;
        char* bytes = rgReadText(names[n], &count);
        char* copy = malloc(count);
        for (int k = 0; k < rgFewer(400); ++k) {
            size_t size = count;
            memcpy(copy, bytes, count);
            for (int j = rgRandom_Index(&random, 4); j >= 0; --j) {
                int at = rgRandom_Index(&random, (int)size - 20);
                int length = rgRandom_Index(&random, 20);
                if (rgRandom_Index(&random, 2) == 0) {
                    copy[at] = letters[rgRandom_Index(&random, (int)sizeof(letters) - 1)];
                } else {
                    memmove(copy + at, copy + at + length, size - (size_t)(at + length));
                    size -= (size_t)length;
                }
            }
            rgLoadBytes(copy, size, -1);
        }
        for (int k = 0; k < 150; ++k) {
            rgLoadBytes(bytes, count, k);
        }
        free(copy);
        free(bytes);
    }
}

// An attribute that no element has, in every element of the corpus.
static void test_unknown_attributes(void** state) {
    (void)state;
    static const char* const names[] = {"arm.sdf", "world.sdf", "legs.sdf", "linkage.sdf"};
    for (int n = 0; n < 4; ++n) {
        size_t count = 0;
        char* bytes = rgReadText(names[n], &count);
        char* copy = calloc(1, count + 20);
        for (size_t i = 0; i < count; ++i) {
            if (bytes[i] != '<' || bytes[i + 1] < 'a' || bytes[i + 1] > 'z') {
                continue;
            }
            size_t end = i + strcspn(bytes + i, " >/");
            if (strncmp(bytes + i, "<physics", 8) == 0) {
                i = (size_t)(strstr(bytes + i, "</physics>") - bytes);
                continue; // settings of other solvers
            }
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
                fail_msg("%s: %.*s zzz='1': nothing is said", names[n], (int)(end - i), bytes + i);
            }
            rgParsed_Close(&f);
        }
        free(copy);
        free(bytes);
    }
}

// The base of a robot is made of hulls as all its links are; what is static, has no mass, or
// carries nothing that moves keeps its triangles.
static void test_mesh_of_a_base(void** state) {
    (void)state;
#define BASE(inertial, type, more)                                                                 \
    "<sdf version='1.9'><model name='m'>" more "<link name='a'>" inertial                          \
    "<collision name='c'><geometry><mesh><uri>../bad/dented.obj</uri></mesh></geometry>"           \
    "</collision></link><link name='b'/><joint name='w' type='fixed'><parent>world</parent>"       \
    "<child>a</child></joint><joint name='j' type='" type "'><parent>a</parent><child>b</child>"   \
    "<axis><xyz>0 0 1</xyz></axis></joint></model></sdf>"
#define MASS "<inertial><mass>3</mass></inertial>"
    const struct {
        const char* text;
        rgShapeKind kind;
    } cases[] = {{BASE(MASS, "revolute", ""), rg_shapeHull},
                 {BASE("", "revolute", ""), rg_shapeMesh},
                 {BASE(MASS, "fixed", ""), rg_shapeMesh},
                 {BASE(MASS, "revolute", "<static>true</static>"), rg_shapeMesh}};
    rgLoadDef load = rgDefaultLoadDef();
    load.hulls = true;
    for (int i = 0; i < RG_COUNT(cases); ++i) {
        rgParsed f = rgParse(cases[i].text, &load);
        if (f.result != rg_ok) {
            rgPrintRemarks(f.diagnostics);
        }
        assert_int_equal(f.result, rg_ok);
        assert_int_equal(f.def->shapes[0].kind, cases[i].kind);
        rgParsed_Close(&f);
    }
#undef BASE
#undef MASS
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_arm),
        cmocka_unit_test(test_world),
        cmocka_unit_test(test_legs),
        cmocka_unit_test(test_loop),
        cmocka_unit_test(test_turned_joint),
        cmocka_unit_test(test_screw),
        cmocka_unit_test(test_surface),
        cmocka_unit_test(test_self_collide),
        cmocka_unit_test(test_base),
        cmocka_unit_test(test_height_map),
        cmocka_unit_test(test_sayings),
        cmocka_unit_test(test_ground_plane),
        cmocka_unit_test(test_damage),
        cmocka_unit_test(test_mesh_of_a_base),
        cmocka_unit_test(test_unknown_attributes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
