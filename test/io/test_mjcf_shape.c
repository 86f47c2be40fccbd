// MJCF: meshes, height fields, materials and contacts of small files, against values computed by
// hand.
#include "mjcf_text.h"

// A mesh is where its vertices say, and weighs as its solid does; point meshes as their hulls.
static void test_meshes(void** state) {
    (void)state;
    rgParsed f = rgParse(
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
    rgParsed_Close(&f);
}

// A corner of a box, by the rule that counts the tetrahedra from its centre: those of the solid
// itself.
static void test_oblique_moments(void** state) {
    (void)state;
    rgParsed f =
        rgParse("<mujoco><asset><mesh name='m' vertex='0 0 0 2 0 0 0 3 0 0 0 5' inertia='legacy' "
                "face='0 2 1 0 1 3 1 2 3 0 3 2'/></asset><worldbody><body><joint/>"
                "<geom type='mesh' mesh='m' density='10'/></body></worldbody></mujoco>");
    const rgInertia* inertia = &f.def->bodies[0].inertia;
    double m = 10 * 2 * 3 * 5 / 6.0, own = m * (1.0 / 10 - 1.0 / 16),
           mixed = m * (1.0 / 20 - 1.0 / 16);
    EXPECT_NEAR(inertia->mass, m, 1e-12);
    rgExpectVec(inertia->center, 0.5, 0.75, 1.25);
    EXPECT_NEAR(inertia->moment.xx, own * (9 + 25), 1e-12);
    EXPECT_NEAR(inertia->moment.yy, own * (4 + 25), 1e-12);
    EXPECT_NEAR(inertia->moment.zz, own * (4 + 9), 1e-12);
    EXPECT_NEAR(inertia->moment.xy, -mixed * 6, 1e-12);
    EXPECT_NEAR(inertia->moment.xz, -mixed * 10, 1e-12);
    EXPECT_NEAR(inertia->moment.yz, -mixed * 15, 1e-12);
    rgParsed_Close(&f);
}

// What an option without attributes leaves: gravity and field as the format has them.
static void test_options_by_default(void** state) {
    (void)state;
    const char* const options[] = {"", "<option/>", "<option wind='1 2 3'/>"};
    for (int i = 0; i < 3; ++i) {
        char text[200];
        snprintf(text, sizeof(text), "<mujoco>%s<worldbody><geom size='1'/></worldbody></mujoco>",
                 options[i]);
        rgParsed f = rgParse(text);
        rgExpectVec(f.def->options.gravity, 0, 0, -9.81);
        rgExpectVec(f.def->options.magnetic, 0, -0.5, 0);
        rgExpectVec(f.def->options.wind, i == 2, 2 * (i == 2), 3 * (i == 2));
        rgParsed_Close(&f);
    }
}

// Friction of a pair is one number for all directions; where a file has two that differ, that is
// told.
static void test_friction_of_pairs(void** state) {
    (void)state;
    static const struct {
        const char* friction;
        int warnings;
    } cases[] = {{"1", 0},           {"2", 0},         {"1 1", 0},          {"1 2", 1},
                 {"1 1 .1", 0},      {"1 1 .1 .2", 0}, {"1 1 .1 .2 .2", 0}, {"1 1 .1 .2 .3", 1},
                 {"2 1 .1 .2 .2", 1}};
    for (int i = 0; i < RG_COUNT(cases); ++i) {
        char text[400];
        snprintf(text, sizeof(text),
                 "<mujoco><worldbody><geom name='a' size='1'/><geom name='b' size='1'/></worldbody>"
                 "<contact><pair geom1='a' geom2='b' condim='6' friction='%s'/></contact></mujoco>",
                 cases[i].friction);
        rgParsed f = rgParseText(rgParseMjcf, "x.xml", text, NULL);
        assert_int_equal(f.result, rg_ok);
        assert_int_equal(rgDiagnostics_CountOf(f.diagnostics, rg_severityWarning),
                         cases[i].warnings);
        EXPECT_NEAR(f.def->pairs[0].material.mu, cases[i].friction[0] - '0', 0);
        EXPECT_NEAR(f.def->pairs[0].material.muTorsion, i < 4 ? 0.005 : 0.1, 0);
        EXPECT_NEAR(f.def->pairs[0].material.muRolling, i < 5 ? 0.0001 : 0.2, 0);
        rgParsed_Close(&f);
    }
}

// Color of a geom, else of its material, else gray.
static void test_colors(void** state) {
    (void)state;
    rgParsed f =
        rgParse("<mujoco><asset><material name='m' rgba='.25 .5 .75 1'/></asset><worldbody>"
                "<geom size='1' material='m'/><geom size='1' rgba='1 0 .5 .25' material='m'/>"
                "<geom size='1'/></worldbody></mujoco>");
    const float expected[3][4] = {
        {0.25f, 0.5f, 0.75f, 1}, {1, 0, 0.5f, 0.25f}, {0.5f, 0.5f, 0.5f, 1}};
    for (int i = 0; i < 3; ++i) {
        assert_memory_equal(f.def->shapes[i].color, expected[i], sizeof(expected[i]));
    }
    rgParsed_Close(&f);
}

// What a sensor measures is called what it is where it is not there.
static void test_missing_objects(void** state) {
    (void)state;
    static const char* const kinds[] = {"geom", "site", "body"};
    for (int i = 0; i < RG_COUNT(kinds); ++i) {
        char text[300], message[80];
        snprintf(
            text, sizeof(text),
            WORLD("<geom size='1'/>") "<sensor><framepos objtype='%s' objname='gone'/></sensor>",
            kinds[i]);
        char* end = strstr(text, "</mujoco>"); // the sensors belong before it
        memmove(end, end + 9, strlen(end + 9) + 1);
        strcat(text, "</mujoco>");
        rgParsed f = rgParseText(rgParseMjcf, "x.xml", text, NULL);
        snprintf(message, sizeof(message), "there is no %s 'gone'", kinds[i]);
        assert_true(rgHasRemark(f.diagnostics, rg_severityError, 1, message));
        rgParsed_Close(&f);
    }
}

// A cube as a shell.
static void test_shell(void** state) {
    (void)state;
    rgParsed f = rgParse(
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
    rgParsed_Close(&f);
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
        rgParsed f = rgParse(text);
        const rgMeshData* mesh = f.def->shapes[0].mesh;
        assert_int_equal(mesh->vertexCount, c->vertexCount);
        assert_int_equal(mesh->triangleCount, c->triangleCount);
        if (mesh->triangleCount < 600) {
            rgExpectClosed(mesh);
        }
        const rgInertia* inertia = &f.def->bodies[0].inertia;
        EXPECT_NEAR(inertia->mass, c->volume, c->tolerance * c->volume);
        EXPECT_NEAR(inertia->center.z, c->center, RG_MAX(c->tolerance, 1e-9));
        rgParsed_Close(&f);
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
        rgParsed f = rgParse(text);
        const rgInertia* inertia = &f.def->bodies[0].inertia;
        assert_int_equal(f.def->shapes[0].mesh->vertexCount, cases[i].vertexCount);
        EXPECT_NEAR(inertia->mass, cases[i].mass, 1e-6 * cases[i].mass);
        EXPECT_NEAR(inertia->center.z, cases[i].center, 1e-6);
        EXPECT_NEAR(inertia->moment.xx, cases[i].xx, 2e-6 * cases[i].xx);
        EXPECT_NEAR(inertia->moment.yy, cases[i].yy, 2e-6 * cases[i].yy);
        EXPECT_NEAR(inertia->moment.zz, cases[i].zz, 2e-6 * cases[i].zz);
        rgParsed_Close(&f);
    }
}

static void rgExpectField(const char* text) {
    rgParsed f = rgParse(text);
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
    rgParsed_Close(&f);
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

// Cameras are frames with a field of view; their names do not meet those of sites and bodies.
static void test_cameras(void** state) {
    (void)state;
    rgParsed f = rgParse(
        "<mujoco><default><camera fovy='30'/></default><worldbody><camera name='a'/>"
        "<body name='b'><joint name='j'/><geom size='1'/><site name='c'/>"
        "<camera name='b' pos='1 0 0' fovy='90'/><camera name='c' focal='2 1' sensorsize='1 2'/>"
        "<camera mode='trackcom' fovy='60'/></body></worldbody><sensor><framepos "
        "objtype='camera' objname='b'/></sensor></mujoco>");
    assert_int_equal(f.def->frameCount, 5);
    const char* names[5] = {"a", "c", "b_camera", "c_camera", NULL};
    double angles[5] = {30, 0, 90, 90, 60};
    for (int i = 0; i < 5; ++i) {
        const rgFrameDef* frame = &f.def->frames[i];
        if (names[i] == NULL) {
            assert_null(frame->name);
        } else {
            assert_string_equal(frame->name, names[i]);
        }
        EXPECT_NEAR(frame->fieldOfView, angles[i] * 3.141592653589793 / 180, 1e-12);
    }
    EXPECT_NEAR(f.def->frames[2].pose.p.x, 1, 0);
    assert_int_equal(f.def->sensors[0].frame.index1, 3);
    assert_int_equal(rgDiagnostics_CountOf(f.diagnostics, rg_severityWarning), 0);
    rgParsed_Close(&f);
}

static void test_contact(void** state) {
    (void)state;
    rgParsed f = rgParse(
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
    rgParsed_Close(&f);
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
    rgParsed f = rgParse(text);
    for (int i = 0; i < f.def->shapeCount; ++i) {
        EXPECT_NEAR(f.def->shapes[i].material.stiffness, 0, 0);
    }
    assert_int_equal(rgDiagnostics_CountOf(f.diagnostics, rg_severityNote), 1);
    rgParsed_Close(&f);
    rgLoadDef load = rgDefaultLoadDef();
    load.fileContact = true;
    f = rgParseWith(text, &load);
    EXPECT_NEAR(f.def->shapes[0].material.stiffness, 0, 0);
    rgExpectSpring(&f.def->shapes[1].material, 4, 1 / (0.1 * 0.1 * 0.5 * 0.5), 0.5);
    rgExpectSpring(&f.def->shapes[2].material, 4, 200, 30 / (2 * sqrt(200)));
    EXPECT_NEAR(f.def->shapes[3].material.stiffness, 0, 0); // nothing written
    assert_int_equal(rgDiagnostics_Count(f.diagnostics), 0);
    rgParsed_Close(&f);
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
    rgParsed f = rgParseWith(text, &load);
    const rgMaterial* contact = &f.def->shapes[0].material;
    assert_true(contact->stiffness > 0);
    EXPECT_NEAR(f.def->equalities[0].stiffness, contact->stiffness, 1e-9 * contact->stiffness);
    EXPECT_NEAR(f.def->equalities[0].damping, contact->damping, 1e-9 * contact->damping);
    rgParsed_Close(&f);
    f = rgParse(text);
    EXPECT_NEAR(f.def->equalities[0].stiffness, 0, 0);
    bool told = false;
    for (int i = 0; i < rgDiagnostics_Count(f.diagnostics); ++i) {
        const char* said = rgDiagnostics_Message(f.diagnostics, i).text;
        told = told || strstr(said, "<connect>: solref and solimp are not used") != NULL;
    }
    assert_true(told);
    rgParsed_Close(&f);
}

static void test_friction_of_files(void** state) {
    (void)state;
    rgParsed f = rgParse(WORLD("<geom name='a' size='1' friction='.2'/><body><freejoint/>"
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
    rgParsed_Close(&f);
}

// A negative solref is a stiffness and a damping per mass: rigid contacts rebound as it would.
static void test_restitution_of_solref(void** state) {
    (void)state;
    const char* text = WORLD("<geom size='1' solref='-1000 0'/><geom size='1' solref='-100 -6'/>"
                             "<geom size='1' solref='-100 -20'/><geom size='1' solref='.02 .1'/>");
    double b = asin(0.3), e[] = {1, exp(-tan(b) * (acos(-1) - 2 * b)), 0, 0};
    rgParsed f = rgParse(text);
    for (int i = 0; i < 4; ++i) {
        EXPECT_NEAR(f.def->shapes[i].material.restitution, e[i], 1e-15);
    }
    rgParsed_Close(&f);
    rgLoadDef load = rgDefaultLoadDef();
    load.fileContact = true;
    f = rgParseWith(text, &load);
    for (int i = 0; i < 4; ++i) {
        EXPECT_NEAR(f.def->shapes[i].material.restitution, 0, 0);
    }
    rgParsed_Close(&f);
}

static void test_custom_materials(void** state) {
    (void)state;
#define CUSTOM(text)                                                                               \
    "<mujoco><custom>" text "</custom><worldbody><geom name='a' size='1'/>"                        \
    "<geom name='b:c' size='1'/></worldbody><contact><pair geom1='a' "                             \
    "geom2='b:c'/></contact></mujoco>"
    rgParsed f = rgParse(
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
    rgParsed_Close(&f);
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

// Sizes, places and moments of MuJoCo 4.0 for a solid of nine points.
static void test_fitted(void** state) {
    (void)state;
    static const struct {
        const char* type;
        double size[3];
        double moment; // about x
    } cases[] = {
        {"box", {0.28641995395411857, 0.3616947863707873, 0.6610984143354844}, 0.18929141},
        {"sphere", {0.4364043848867968, 0, 0}, 0.07617951},
        {"capsule", {0.32405737016245295, 0.49906972925425797, 0}, 0.20084341},
        {"cylinder", {0.32405737016245295, 0.6610984143354844, 0}, 0.171937},
        {"ellipsoid", {0.28641995395411857, 0.3616947863707873, 0.6610984143354844}, 0.11357485},
    };
    for (int i = 0; i < 5; ++i) {
        char text[1000];
        snprintf(text, sizeof(text),
                 "<mujoco><asset><mesh name='m' vertex='0 0 0 .3 0 0 0 .5 0 0 0 .9 .3 .5 0 .3 .5 "
                 ".9 .3 0 .9 0 .5 .9 .5 .2 .1'/></asset><worldbody><body><joint/><geom type='%s' "
                 "mesh='m' pos='.1 .2 .3' euler='10 20 30' mass='1' fitscale='1.5'/></body>"
                 "</worldbody></mujoco>",
                 cases[i].type);
        rgParsed f = rgParse(text);
        const rgShapeDef* shape = &f.def->shapes[0];
        EXPECT_NEAR(shape->size.x, cases[i].size[0], 1e-7);
        EXPECT_NEAR(shape->size.y, cases[i].size[1], 1e-7);
        EXPECT_NEAR(shape->size.z, cases[i].size[2], 1e-7);
        EXPECT_NEAR(shape->pose.p.x, 0.2837363843390171, 1e-7);
        EXPECT_NEAR(shape->pose.p.y, 0.434440866593295, 1e-7);
        EXPECT_NEAR(shape->pose.p.z, 0.7425082348283258, 1e-7);
        rgQuat mujoco = {0.9398423227635748, 0.13565591848171338, 0.11225382346210726,
                         0.2927335977324593};
        rgVec3 z = rgRotate(mujoco, rgVec(0, 0, 1)), ours = rgRotate(shape->pose.q, rgVec(0, 0, 1));
        EXPECT_NEAR(fabs(rgDot(z, ours)), 1, 1e-7);
        rgVec3 principal = rgSym3Eigen(&f.def->bodies[0].inertia.moment, NULL);
        EXPECT_NEAR(principal.x, cases[i].moment, 1e-7);
        rgParsed_Close(&f);
    }
}

static void test_surface_velocity(void** state) {
    (void)state;
    rgParsed f = rgParse("<mujoco><worldbody><geom type='box' size='1 1 1' "
                         "surfacevel='1 2 3 4 5 6'/></worldbody></mujoco>");
    rgExpectVec(f.def->shapes[0].surfaceVelocity, 1, 2, 3);
    rgExpectVec(f.def->shapes[0].surfaceSpin, 4, 5, 6);
    rgParsed_Close(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_meshes),
        cmocka_unit_test(test_oblique_moments),
        cmocka_unit_test(test_colors),
        cmocka_unit_test(test_missing_objects),
        cmocka_unit_test(test_friction_of_pairs),
        cmocka_unit_test(test_options_by_default),
        cmocka_unit_test(test_shell),
        cmocka_unit_test(test_builtin_meshes),
        cmocka_unit_test(test_builtin_wedge),
        cmocka_unit_test(test_height_field),
        cmocka_unit_test(test_cameras),
        cmocka_unit_test(test_contact),
        cmocka_unit_test(test_softness),
        cmocka_unit_test(test_soft_equality),
        cmocka_unit_test(test_friction_of_files),
        cmocka_unit_test(test_restitution_of_solref),
        cmocka_unit_test(test_fitted),
        cmocka_unit_test(test_custom_materials),
        cmocka_unit_test(test_surface_velocity),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
