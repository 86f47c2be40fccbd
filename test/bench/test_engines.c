// Other engines are fed well: what has an exact answer comes out right in each of them, wherever it
// does not depend on how contacts are modelled. Without engines, rigor alone is looked at.
#include "peer.h"
#include "scene_text.h"

#include "support.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double rgStep = 1e-4;

static rgModelDef* rgCube(double mu) {
    rgModelDef* def = NULL;
    assert_int_equal(rgLoadModelDef("tossed_cube", NULL, NULL, &def), rg_ok);
    assert_int_equal(rgModelDef_SetParameter(def, "shape/*/friction", mu, NULL), rg_ok);
    assert_int_equal(rgModelDef_SetParameter(def, "shape/*/restitution", 0, NULL), rg_ok);
    assert_int_equal(rgModelDef_SetParameter(def, "body/cube/com.z", 0.006, NULL), rg_ok);
    return def;
}

// The same throw in each: a spinning cube flies as rigor's does, and the impulse of its first
// impact, on one corner, is on the cone where the engine has one, and within its pyramid where not.
static void rgThrow(const rgPeer* peer, const char* variant, int start, double excess) {
    const double mu = 0.2;
    double v[6], length = 0, quat[4];
    for (int k = 0; k < 4; ++k) {
        quat[k] = rgRandomNormal(5, (uint64_t)(16 * start + k));
        length += quat[k] * quat[k];
    }
    double q[7] = {0, 0, 0.12};
    for (int k = 0; k < 4; ++k) {
        q[3 + k] = quat[k] / sqrt(length);
    }
    for (int k = 0; k < 6; ++k) {
        v[k] = (k < 3 ? 0.8 : 3) * rgRandomNormal(6, (uint64_t)(16 * start + k));
    }
    rgPeerScene scene;
    rgPeerRun run, own;
    assert_true(rgPeerScene_Create(&scene, "throw", rgCube(mu), rgStep, q, v));
    assert_true(rgPeerRun_Begin(&own, &rgPeerRigor, NULL, &scene));
    bool taken = rgPeerRun_Begin(&run, peer, variant, &scene);
    if (!taken) {
        fail_msg("%s: %s", run.label, run.fault);
    }
    own.peer->reset(own.world);
    run.peer->reset(run.world);
    rgVec3 centre = rgModel_Body(scene.model, (rgBodyId){1})->inertia.center;
    double mass = rgModel_Body(scene.model, (rgBodyId){1})->inertia.mass;
    rgVec3 before = {0}, impulse = {0};
    int touched = -1, steps = 4000;
    for (int i = 0; i < steps && (touched < 0 || i < touched + 300); ++i) {
        rgPeerBody state, mine;
        assert_true(run.peer->step(run.world) && run.peer->body(run.world, 0, &state));
        rgVec3 arm = rgRotate(state.pose.q, centre);
        rgVec3 speed = rgAdd(state.velocity.linear, rgCross(state.velocity.angular, arm));
        rgVec3 gained = i == 0 ? (rgVec3){0} : rgSub(speed, before);
        gained = rgSub(gained, i == 0 ? (rgVec3){0} : rgScale(rgStep, scene.gravity));
        before = speed;
        if (touched < 0) {
            assert_true(own.peer->step(own.world) && own.peer->body(own.world, 0, &mine));
            double apart = rgLength(rgSub(mine.pose.p, state.pose.p));
            bool impact = i > 0 && rgLength(gained) > 1e-6;
            if (!impact) {
                // by g t h / 2 where positions move with the new velocity, and in how they turn;
                // a pose of the step before would be further off
                double fall = 0.5 * 9.81 * (i + 1) * rgStep * rgStep;
                if (apart > 1.2 * fall + 2e-5) {
                    fail_msg("%s, throw %d: %.2e m off in flight, step %d", run.label, start, apart,
                             i);
                }
            } else {
                touched = i;
            }
        }
        if (touched >= 0) {
            impulse = rgAdd(impulse, rgScale(mass, gained));
        }
    }
    assert_true(touched > 0 && impulse.z > 0);
    double ratio = hypot(impulse.x, impulse.y) / impulse.z;
    if (ratio > mu * (1 + excess)) {
        fail_msg("%s, throw %d: friction is %.3f of the normal impulse, mu %.2f", run.label, start,
                 ratio, mu);
    }
    rgPeerRun_End(&run);
    rgPeerRun_End(&own);
    rgPeerScene_Free(&scene);
}

static void test_tumbling(void** state) {
    (void)state;
    static const struct {
        const char *peer, *variant;
        double excess;
    } engines[] = {{"rigor", "", 1e-6},
                   {"MuJoCo", "elliptic", 0.01},
                   {"MuJoCo", "elliptic near-rigid", 0.01},
                   {"Drake", "SAP", 0.01},
                   {"Drake", "TAMSI", 0.01},
                   {"Bullet", "50 iterations", 0.01},
                   {"ODE", "direct aligned", 0.415}, // pyramids
                   {"ODE", "direct", 0.415},         // pyramids
                   {"DART", "", 0.415},
                   {"PhysX", "TGS", 0.01},
                   {"Rapier", "4 iterations", 0.01},
                   {"Jolt", "10 iterations", 0.01}};
    for (size_t i = 0; i < sizeof(engines) / sizeof(engines[0]); ++i) {
        const rgPeer* peer = rgFindPeer(engines[i].peer);
        bool there = peer != NULL && strcmp(peer->version(), "not installed") != 0;
        int throws =
            peer != NULL && peer->seconds != NULL ? 1 : 6; // a process each is slow to start
        for (int start = 0; there && start < throws; ++start) {
            rgThrow(peer, engines[i].variant, start, engines[i].excess);
        }
    }
}

// A cube of 0.2 m slides at 1 m/s with mu 0.5, along an axis and at 45 degrees: v^2 / 2 mu g, or
// half a step less where positions move with the new velocity.
static void rgSlide(const rgPeer* peer, const char* variant, double angle, double tolerance) {
    double v[6] = {cos(angle), sin(angle)};
    rgPeerScene scene;
    rgPeerRun run;
    rgPeerBody state;
    assert_true(rgPeerScene_Write(&scene, "slide", 1e-3, rgVec(0, 0, -9.81), v,
                                  "<geom type='plane' size='0 0 1'/>"
                                  "<body name='cube' pos='0 0 0.1'><freejoint/>"
                                  "<geom type='box' size='0.1 0.1 0.1' mass='1'/></body>"));
    assert_true(rgPeerRun_Begin(&run, peer, variant, &scene));
    run.peer->reset(run.world);
    for (int i = 0; i < 400; ++i) {
        assert_true(run.peer->step(run.world));
    }
    assert_true(run.peer->body(run.world, 0, &state));
    double stop = hypot(state.pose.p.x, state.pose.p.y), exact = 1 / (2 * 0.5 * 9.81);
    if (fabs(stop - exact) > 5e-4 + 1e-6 + tolerance) {
        fail_msg("%s stops after %.3f mm at %.2f rad", run.label, 1e3 * stop, angle);
    }
    rgPeerRun_End(&run);
    rgPeerScene_Free(&scene);
}

static void test_sliding(void** state) {
    (void)state;
    static const struct {
        const char *peer, *variant;
        double tolerance;
    } engines[] = {{"rigor", "", 0},
                   {"MuJoCo", "elliptic", 5e-4},
                   {"Bullet", "50 iterations", 3e-3},
                   {"ODE", "direct aligned", 0},
                   {"PhysX", "TGS", 3e-3},
                   {"Rapier", "4 iterations", 3e-3},
                   {"Jolt", "10 iterations", 1e-5}};
    for (size_t i = 0; i < sizeof(engines) / sizeof(engines[0]); ++i) {
        const rgPeer* peer = rgFindPeer(engines[i].peer);
        bool there = peer != NULL && strcmp(peer->version(), "not installed") != 0;
        for (int k = 0; there && k < 2; ++k) {
            rgSlide(peer, engines[i].variant, k * 0.7853981633974483, engines[i].tolerance);
        }
    }
}

// A tree with every kind of joint, of which the base hangs in the world or moves freely.
static void rgMakeTree(rgPeerScene* scene, const char* base, const double* v) {
    char text[2000];
    snprintf(text, sizeof(text),
             "<geom type='plane' size='0 0 1'/>"
             "<body name='base' pos='0 0 3' euler='20 10 40'>%s"
             "<geom type='box' size='0.1 0.05 0.04' mass='2'/>"
             "<body name='arm' pos='0.2 0 0' euler='0 30 0'><joint type='hinge' axis='0 0 1'/>"
             "<joint type='hinge' axis='0 1 0' pos='-0.05 0 0'/>"
             "<geom type='sphere' size='0.03' pos='0.1 0.02 0' mass='0.6'/>"
             "<geom type='box' size='0.05 0.01 0.02' pos='0.05 0 0.03' mass='0.3'/>"
             "<body name='rod' pos='0.2 0 0'><joint type='slide' axis='1 0 1'/>"
             "<geom type='box' size='0.04 0.02 0.01' pos='0.03 0 0' mass='0.4'/>"
             "<body name='ball' pos='0.12 0 0'><joint type='ball'/>"
             "<geom type='box' size='0.02 0.03 0.05' pos='0.02 0 0.05' mass='0.5'/></body>"
             "</body></body></body>",
             base);
    assert_true(rgPeerScene_Write(scene, "tree", rgStep, rgVec(0, 0, -9.81), v, text));
}

// It moves as in rigor, far from the floor.
static void rgCompareTree(const rgPeerScene* scene, int steps) {
    static const struct {
        const char *name, *variant;
        double share; // of the tolerances, for iterations in maximal coordinates
    } engines[] = {{"MuJoCo", NULL, 1},         {"Drake", NULL, 1}, {"Bullet", NULL, 1},
                   {"DART", NULL, 1},           {"PhysX", NULL, 1}, {"Rapier", "50 iterations", 2},
                   {"Jolt", "50 iterations", 1}};
    int count = (int)(sizeof(engines) / sizeof(engines[0]));
    rgPeerRun own;
    assert_true(rgPeerRun_Begin(&own, &rgPeerRigor, NULL, scene));
    own.peer->reset(own.world);
    for (int i = 0; i < steps; ++i) {
        assert_true(own.peer->step(own.world));
    }
    for (int e = 0; e < count; ++e) {
        const rgPeer* peer = rgFindPeer(engines[e].name);
        if (peer == NULL || strcmp(peer->version(), "not installed") == 0) {
            continue;
        }
        rgPeerRun run;
        if (!rgPeerRun_Begin(&run, peer, engines[e].variant, scene)) {
            fail_msg("%s: %s", run.label, run.fault);
        }
        run.peer->reset(run.world);
        for (int i = 0; i < steps; ++i) {
            assert_true(run.peer->step(run.world));
        }
        for (int b = 0; b < scene->info.bodyCount; ++b) {
            rgPeerBody mine, theirs;
            assert_true(own.peer->body(own.world, b, &mine));
            assert_true(run.peer->body(run.world, b, &theirs));
            double apart = rgLength(rgSub(mine.pose.p, theirs.pose.p));
            double turned = rgLength(rgRotationVectorFromQuat(
                rgQuatMultiply(mine.pose.q, rgQuatConjugate(theirs.pose.q))));
            if (apart > 5e-4 * engines[e].share ||
                turned > 5e-3 * engines[e].share) { // of first order in the step
                fail_msg("%s, body %d: %.1e m and %.1e rad off", run.label, b, apart, turned);
            }
        }
        rgPeerBody last;
        assert_true(run.peer->body(run.world, scene->info.bodyCount - 1, &last));
        assert_true(rgLength(rgSub(last.pose.p, scene->poses[scene->info.bodyCount - 1].p)) > 0.05);
        rgPeerRun_End(&run);
    }
    rgPeerRun_End(&own);
}

static void test_tree(void** state) {
    (void)state;
    double v[6 + 2 + 1 + 3];
    for (int i = 0; i < 12; ++i) {
        v[i] = (i < 3 ? 0.5 : 2) * rgRandomNormal(9, (uint64_t)i);
    }
    rgPeerScene scene;
    rgMakeTree(&scene, "<freejoint/>", v);
    assert_int_equal(scene.info.vCount, 12);
    rgCompareTree(&scene, 1000);
    rgPeerScene_Free(&scene);
    rgMakeTree(&scene, "", NULL); // falls from rest
    assert_int_equal(scene.info.vCount, 6);
    rgCompareTree(&scene, 2000);
    rgPeerScene_Free(&scene);
}

// Engines in processes of their own end one by one, while others still run.
static void test_processes(void** state) {
    (void)state;
    const rgPeer* peer = rgFindPeer("Drake");
    if (peer == NULL || strcmp(peer->version(), "not installed") == 0) {
        skip();
    }
    rgPeerScene scene;
    rgPeerRun runs[2];
    assert_true(rgPeerScene_Write(&scene, "ball", 1e-3, rgVec(0, 0, -9.81), NULL,
                                  "<body name='ball' pos='0 0 1'><freejoint/>"
                                  "<geom type='sphere' size='0.1' mass='1'/></body>"));
    for (int i = 0; i < 2; ++i) {
        assert_true(rgPeerRun_Begin(&runs[i], peer, NULL, &scene));
    }
    rgPeerRun_End(&runs[0]);
    rgPeerBody body;
    runs[1].peer->reset(runs[1].world);
    for (int i = 0; i < 10; ++i) {
        assert_true(runs[1].peer->step(runs[1].world));
    }
    assert_true(runs[1].peer->body(runs[1].world, 0, &body));
    EXPECT_NEAR(body.pose.p.z, 1 - 9.81 * 1e-6 * 55, 1e-12); // the new velocity moves it
    assert_true(runs[1].peer->seconds(runs[1].world) > 0);
    rgPeerRun_End(&runs[1]);
    rgPeerScene_Free(&scene);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tumbling),
        cmocka_unit_test(test_sliding),
        cmocka_unit_test(test_tree),
        cmocka_unit_test(test_processes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
