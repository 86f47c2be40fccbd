// Engines behind one interface: what is compared before timing, and what is measured.
#include "peer.h"

#include "support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const rgPeer* rgOther;

const rgPeer* rgPeerAt(int index) {
    return index == 0 ? &rgPeerRigor : index == 1 ? rgOther : NULL;
}

// rigor, but one body is where it should not be, or too heavy.
static double rgShift, rgExtra;

static bool rgWrongBody(void* world, int body, rgPeerBody* state) {
    bool known = rgPeerRigor.body(world, body, state);
    state->pose.p.x += body == 1 ? rgShift : 0;
    state->mass *= body == 1 ? 1 + rgExtra : 1;
    return known;
}

static void test_same(void** state) {
    (void)state;
    rgPeerScene scene;
    rgPeerRun run;
    double mass = 1, pose = 1;
    assert_true(rgPeerScene_Load(&scene, "massratio", 1e-3));
    assert_true(rgPeerRun_Begin(&run, &rgPeerRigor, NULL, &scene));
    assert_true(rgPeerRun_Compare(&run, &mass, &pose));
    assert_true(mass == 0 && pose == 0);
    rgPeerRuns_Time(&run, 1, 20, 3, 60);
    assert_int_equal(run.repeatCount, 3);
    assert_true(run.least > 0 && run.least <= run.median);
    rgPeerRun_Look(&run, 20);
    assert_true(run.contacts > 1 && run.residual <= 1e-6 && run.penetration < 1e-6);
    rgPeerRun_End(&run);
    rgPeerScene_Free(&scene);
}

static void test_other(void** state) {
    (void)state;
    rgPeer wrong = rgPeerRigor;
    wrong.body = rgWrongBody;
    wrong.name = "wrong";
    rgOther = &wrong;
    assert_ptr_equal(rgFindPeer("wrong"), &wrong);
    assert_null(rgFindPeer("nobody"));
    rgPeerScene scene;
    rgPeerRun run;
    assert_true(rgPeerScene_Load(&scene, "massratio", 1e-3));
    for (int i = 0; i < 3; ++i) {
        rgShift = i == 1 ? 1e-3 : 0;
        rgExtra = i == 2 ? 1e-3 : 0;
        assert_int_equal(rgPeerRun_Begin(&run, &wrong, NULL, &scene), i == 0);
        assert_int_equal(strstr(run.fault, "something else") != NULL, i > 0);
        rgPeerRuns_Time(&run, 1, 5, 1, 60);
        assert_int_equal(run.repeatCount, i == 0 ? 1 : 0);
        rgPeerRun_End(&run);
    }
    assert_false(rgPeerRun_Begin(&run, &rgPeerRigor, "magic", &scene));
    assert_non_null(strstr(run.fault, "magic"));
    rgPeerRun_End(&run);
    rgPeerScene_Free(&scene);
}

// A start with velocities is that of every repetition.
static void test_start(void** state) {
    (void)state;
    rgPeerScene first, scene;
    rgPeerRun run;
    rgModelDef* def = NULL;
    assert_true(rgPeerScene_Load(&first, "sliding", 1e-3));
    assert_int_equal(rgBuildScene(rgFindScene("sliding"), NULL, NULL, &def), rg_ok);
    double* v = calloc((size_t)first.info.vCount, sizeof(double));
    v[0] = 0.5;
    assert_true(rgPeerScene_Create(&scene, "thrown", def, 1e-3, first.q, v));
    assert_true(rgPeerRun_Begin(&run, &rgPeerRigor, NULL, &scene));
    rgPeerBody after[2];
    for (int i = 0; i < 2; ++i) {
        rgPeerRuns_Time(&run, 1, 10, 1, 60);
        assert_true(rgPeerRigor.body(run.world, 0, &after[i]));
    }
    assert_memory_equal(&after[0], &after[1], sizeof(after[0]));
    assert_true(after[0].velocity.linear.x > 0.3 && after[0].velocity.linear.x < 0.5);
    rgPeerRun_End(&run);
    rgPeerScene_Free(&scene);
    rgPeerScene_Free(&first);
    free(v);
}

// Numbers behind the name of a variant.
static void test_settings(void** state) {
    (void)state;
    const char* variant = "elliptic near-rigid; timeconst 0.01; dampratio 5e-1";
    EXPECT_NEAR(rgPeerSetting(variant, "timeconst", 7), 0.01, 0);
    EXPECT_NEAR(rgPeerSetting(variant, "dampratio", 7), 0.5, 0);
    EXPECT_NEAR(rgPeerSetting(variant, "damp", 7), 7, 0);
    EXPECT_NEAR(rgPeerSetting("timeconst 3", "timeconst", 7), 7, 0); // that is a name
    assert_true(rgPeerVariantIs(variant, "elliptic near-rigid"));
    assert_false(rgPeerVariantIs(variant, "elliptic"));
    assert_true(rgPeerVariantIs("CG", "CG") && !rgPeerVariantIs("CG", "C"));
    assert_true(rgPeerVariantIs("", "") && rgPeerVariantIs("; restitution 1", ""));
}

// Steps that are made elsewhere have their own clock.
static double rgElsewhere(void* world) {
    (void)world;
    return 12.5;
}

static void test_seconds(void** state) {
    (void)state;
    rgPeer other = rgPeerRigor;
    other.seconds = rgElsewhere;
    rgPeerScene scene;
    rgPeerRun run;
    assert_true(rgPeerScene_Load(&scene, "sliding", 1e-3));
    assert_true(rgPeerRun_Begin(&run, &other, NULL, &scene));
    rgPeerRuns_Time(&run, 1, 5, 2, 60);
    EXPECT_NEAR(run.least, 12.5, 0);
    EXPECT_NEAR(run.median, 12.5, 0);
    rgPeerRun_End(&run);
    rgPeerScene_Free(&scene);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_same),    cmocka_unit_test(test_other),
        cmocka_unit_test(test_start),   cmocka_unit_test(test_settings),
        cmocka_unit_test(test_seconds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
