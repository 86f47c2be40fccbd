// Parts of one robot that overlap where it starts: found, told, left out or kept.
#include "parsed.h"
#include "rigor/rigor.h"

#include <stdio.h>
#include <string.h>

#define INERTIAL                                                                                   \
    "<inertial><mass value='1'/><inertia ixx='1' iyy='1' izz='1' ixy='0' ixz='0' "                 \
    "iyz='0'/></inertial>"
#define LINK(name, z)                                                                              \
    "<link name='" name "'>" INERTIAL "<collision><origin xyz='0 0 " z                             \
    "'/><geometry><box size='1 1 1'/></geometry></collision></link>"
#define JOINT(name, parent, child, z, limits)                                                      \
    "<joint name='" name "' type='" limits "<parent link='" parent "'/><child link='" child        \
    "'/><origin xyz='0 0 " z "'/><axis xyz='0 0 1'/></joint>"
#define FREE_TURN "continuous'>"

// Boxes of 1 m on top of each other: neighbours a, b and b, c overlap by 0.6 m, a and c by 0.2 m;
// d touches c's neighbour b from above and no more.
static const char* const tower = "<robot name='r'>" LINK("a", "0") LINK("b", "0") LINK("c", "0")
    LINK("d", "0") JOINT("1", "a", "b", "0.4", FREE_TURN) JOINT("2", "b", "c", "0.4", FREE_TURN)
        JOINT("3", "c", "d", "0.6", FREE_TURN) "</robot>";

static rgParsed rgRead(rgParseFcn* parse, const char* text, rgSelfOverlap use) {
    rgLoadDef load = rgDefaultLoadDef();
    load.selfOverlap = use;
    rgParsed f = rgParseText(parse, "x.xml", text, &load);
    rgExpectClean(&f);
    return f;
}

static int rgCountIgnored(const rgModelDef* def, double* depth) {
    int count = 0, ignored = 0;
    const rgExcludedPair* pairs = rgModelDef_ExcludedPairs(def, &count);
    for (int i = 0; i < count; ++i) {
        ignored += pairs[i].overlap > 0;
        *depth = pairs[i].overlap > 0 ? pairs[i].overlap : *depth;
    }
    return ignored;
}

static bool rgShapesMeet(const rgModelDef* def, int a, int b) {
    rgModel* model = NULL;
    assert_int_equal(rgCompileModel(def, NULL, NULL, &model), rg_ok);
    bool meet = rgModel_ShapesMeet(model, (rgShapeId){a}, (rgShapeId){b});
    rgDestroyModel(model);
    return meet;
}

// Neighbours never meet, and touching is not overlapping: one pair is left, and it is left out.
static void test_urdf(void** state) {
    (void)state;
    rgParsed f = rgRead(rgParseUrdf, tower, rg_selfOverlapFromFile);
    double depth = 0;
    assert_int_equal(rgCountIgnored(f.def, &depth), 1);
    EXPECT_NEAR(depth, 0.2, 1e-9);
    assert_true(rgHasRemark(f.diagnostics, rg_severityNote, 1,
                            "1 pair of parts of a robot overlaps at the start and does not "
                            "collide; with self-overlap 'keep' it collides"));
    assert_false(rgShapesMeet(f.def, 1, 3));
    assert_true(rgShapesMeet(f.def, 2, 4)); // they touch
    assert_true(rgShapesMeet(f.def, 1, 4));
    rgParsed_Close(&f);
}

static void test_urdf_keep(void** state) {
    (void)state;
    rgParsed f = rgRead(rgParseUrdf, tower, rg_selfOverlapKeep);
    double depth = 0;
    assert_int_equal(rgCountIgnored(f.def, &depth), 0);
    assert_true(rgShapesMeet(f.def, 1, 3));
    assert_true(rgHasRemark(f.diagnostics, rg_severityNote, 1,
                            "1 pair of parts of a robot overlaps at the start and collides"));
    rgParsed_Close(&f);
}

// The world starts with the slide at its limit, where a and c overlap, not where it is drawn.
static void test_start_inside_limits(void** state) {
    (void)state;
    static const char text[] = "<robot name='r'>" LINK("a", "0") LINK("b", "0") LINK("c", "0")
        JOINT("1", "a", "b", "2", FREE_TURN)
            JOINT("2", "b", "c", "2",
                  "prismatic'><limit lower='-4' upper='-3.5' effort='1' "
                  "velocity='1'/>") "</robot>";
    rgParsed f = rgRead(rgParseUrdf, text, rg_selfOverlapFromFile);
    double depth = 0;
    assert_int_equal(rgCountIgnored(f.def, &depth), 1);
    EXPECT_NEAR(depth, 0.5, 1e-9); // c is at 2 + 2 - 3.5 above a
    rgParsed_Close(&f);
}

// MJCF: a and c of the tower, and not the floor, another robot, masks or what the file excludes.
static const char* const scene =
    "<mujoco><worldbody><geom type='plane' size='1 1 1'/>"
    "<body name='a'><freejoint/><geom type='box' size='.5 .5 .5'/>"
    " <body name='b' pos='0 0 .4'><joint/><geom type='box' size='.5 .5 .5'/>"
    "  <body name='c' pos='0 0 .4'><joint/><geom type='box' size='.5 .5 .5'/>"
    "   <body name='d' pos='0 0 .4'><joint/><geom type='box' size='.5 .5 .5' contype='0' "
    "    conaffinity='0'/>"
    "    <body name='e' pos='0 0 -.4'><joint/><geom type='box' size='.5 .5 .5'/></body>"
    "   </body>"
    "  </body>"
    " </body>"
    "</body>"
    "<body name='other'><freejoint/><geom type='box' size='.5 .5 .5'/></body>"
    "</worldbody><contact><exclude body1='a' body2='e'/><exclude body1='b' body2='e'/>"
    "<exclude body1='c' body2='e'/></contact></mujoco>";

static void test_mjcf(void** state) {
    (void)state;
    rgParsed f = rgRead(rgParseMjcf, scene, rg_selfOverlapFromFile);
    double depth = 0;
    assert_int_equal(rgCountIgnored(f.def, &depth), 0);
    assert_true(rgShapesMeet(f.def, 2, 4));
    assert_true(rgHasRemark(f.diagnostics, rg_severityNote, 1,
                            "1 pair of parts of a robot overlaps at the start and collides; with "
                            "self-overlap 'ignore' it does not"));
    rgParsed_Close(&f);
    f = rgRead(rgParseMjcf, scene, rg_selfOverlapIgnore);
    assert_int_equal(rgCountIgnored(f.def, &depth), 1);
    assert_false(rgShapesMeet(f.def, 2, 4));
    assert_true(rgShapesMeet(f.def, 2, 7)); // the other robot
    assert_true(rgShapesMeet(f.def, 1, 2)); // the floor
    rgParsed_Close(&f);
}

// Parts that do not overlap are not worth a word.
static void test_no_remark(void** state) {
    (void)state;
    rgParsed f = rgRead(rgParseMjcf,
                        "<mujoco><worldbody><body><freejoint/><geom size='.1'/><body pos='0 0 .5'>"
                        "<joint/><geom size='.1'/></body></body></worldbody></mujoco>",
                        rg_selfOverlapFromFile);
    assert_int_equal(rgDiagnostics_Count(f.diagnostics), 0);
    rgParsed_Close(&f);
}

static const char* const sdf =
    "<sdf version='1.9'><model name='r'><self_collide>1</self_collide>"
    "<link name='a'><collision name='x'><geometry><sphere><radius>1</radius></sphere></geometry>"
    "</collision></link>"
    "<link name='b'><pose>0 0 5 0 0 0</pose></link>"
    "<link name='c'><pose>0 0 1.5 0 0 0</pose><collision name='x'><geometry><sphere>"
    "<radius>1</radius></sphere></geometry></collision></link>"
    "<joint name='1' type='revolute'><parent>a</parent><child>b</child><axis><xyz>0 0 "
    "1</xyz></axis>"
    "</joint>"
    "<joint name='2' type='revolute'><parent>b</parent><child>c</child><axis><xyz>0 0 "
    "1</xyz></axis>"
    "</joint></model></sdf>";

static void test_sdf(void** state) {
    (void)state;
    rgParsed f = rgRead(rgParseSdf, sdf, rg_selfOverlapFromFile);
    double depth = 0;
    assert_int_equal(rgCountIgnored(f.def, &depth), 1);
    EXPECT_NEAR(depth, 0.5, 1e-9);
    rgParsed_Close(&f);
}

// The reason goes along into scenes, and with the numbers of bodies.
static void test_attached(void** state) {
    (void)state;
    rgParsed f = rgRead(rgParseUrdf, tower, rg_selfOverlapFromFile);
    rgModelDef* all = NULL;
    rgBodyDef first = rgDefaultBodyDef();
    rgBodyId id;
    first.name = "first";
    assert_int_equal(rgCreateModelDef(NULL, &all), rg_ok);
    assert_int_equal(rgModelDef_AddBody(all, &first, &id), rg_ok);
    assert_int_equal(rgModelDef_Attach(all, f.def, NULL, NULL, NULL), rg_ok);
    assert_int_equal(rgModelDef_RemoveBody(all, id, NULL), rg_ok);
    int count = 0;
    const rgExcludedPair* pairs = rgModelDef_ExcludedPairs(all, &count);
    assert_int_equal(count, 1);
    assert_int_equal(pairs[0].a.index1, 1);
    assert_int_equal(pairs[0].b.index1, 3);
    EXPECT_NEAR(pairs[0].overlap, 0.2, 1e-9);
    rgDestroyModelDef(all);
    rgParsed_Close(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_urdf),
        cmocka_unit_test(test_urdf_keep),
        cmocka_unit_test(test_start_inside_limits),
        cmocka_unit_test(test_mjcf),
        cmocka_unit_test(test_no_remark),
        cmocka_unit_test(test_sdf),
        cmocka_unit_test(test_attached),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
