// What all engines are judged and built by: depths from poses, energies, bodies with what is fixed
// to them; and the quadruped that trots.
#include "peers/links.h"
#include "pose_judge.h"
#include "scene_text.h"
#include "trot.h"

#include "support.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

const rgPeer* rgPeerAt(int index) {
    return index == 0 ? &rgPeerRigor : NULL;
}

static double rgLowered; // body 1, by so much

static bool rgMovedBody(void* world, int body, rgPeerBody* state) {
    bool known = rgPeerRigor.body(world, body, state);
    state->pose.p.z -= body == 1 ? rgLowered : 0;
    return known;
}

static const char rgTwoBalls[] =
    "<geom type='plane' size='0 0 1'/>"
    "<body name='a' pos='0 0 0.1'><freejoint/><geom type='sphere' size='0.1' mass='1'/></body>"
    "<body name='b' pos='0 0 0.3005'><freejoint/><geom type='sphere' size='0.1' mass='2'/></body>";

// Balls 0.5 mm apart, then 3 mm into each other; and what overlaps from the start is left out.
static void test_depths(void** state) {
    (void)state;
    rgPeerScene scene;
    rgPeerRun run;
    rgPeer moved = rgPeerRigor;
    rgVec3 down = rgVec(0, 0, -9.81);
    moved.body = rgMovedBody;
    assert_true(rgPeerScene_Write(&scene, "balls", 1e-3, down, NULL, rgTwoBalls));
    rgLowered = 0;
    assert_true(rgPeerRun_Begin(&run, &moved, NULL, &scene));
    rgPoseJudge* judge = rgPoseJudge_Make(&scene);
    rgPoseJudge_Begin(judge);
    assert_true(rgPoseJudge_Look(judge, &run));
    rgDepths depths = rgPoseJudge_Depths(judge);
    assert_int_equal(depths.pairCount, 2); // floor and ball, ball and ball
    EXPECT_NEAR(depths.deepest, 0, 1e-12);
    rgLowered = 0.0035;
    assert_true(rgPoseJudge_Look(judge, &run));
    depths = rgPoseJudge_Depths(judge);
    assert_int_equal(depths.pairCount, 4);
    EXPECT_NEAR(depths.deepest, 0.003, 1e-9);
    EXPECT_NEAR(depths.mean, 0.003 / 4, 1e-9);
    EXPECT_NEAR(rgPeerRun_Drift(&run), 0.0035, 1e-9);
    rgPoseJudge_Free(judge);
    rgPeerRun_End(&run);
    rgPeerScene_Free(&scene);
    rgLowered = 0;
    char inside[512];
    snprintf(inside, sizeof(inside), "%s<geom type='sphere' size='0.05' pos='0 0 0.1'/>",
             rgTwoBalls);
    assert_true(rgPeerScene_Write(&scene, "inside", 1e-3, down, NULL, inside));
    assert_true(rgPeerRun_Begin(&run, &rgPeerRigor, NULL, &scene));
    judge = rgPoseJudge_Make(&scene);
    rgPoseJudge_Begin(judge);
    assert_true(rgPoseJudge_Look(judge, &run));
    assert_int_equal(rgPoseJudge_Depths(judge).pairCount, 2);
    rgPoseJudge_Free(judge);
    rgPeerRun_End(&run);
    rgPeerScene_Free(&scene);
}

static void test_energy(void** state) {
    (void)state;
    rgPeerScene scene;
    rgPeerRun run;
    const double v[12] = {3, 0, 0, 0, 0, 0, 0, 0, 1, 0, 10, 0};
    assert_true(rgPeerScene_Write(&scene, "balls", 1e-3, rgVec(0, 0, 0), v, rgTwoBalls));
    assert_true(rgPeerRun_Begin(&run, &rgPeerRigor, NULL, &scene));
    double spin = 0.5 * 0.4 * 2 * 0.1 * 0.1 * 100; // of a solid ball
    EXPECT_NEAR(rgPeerRun_KineticEnergy(&run), 0.5 * 9 + 0.5 * 2 + spin, 1e-9);
    rgPeerRun_End(&run);
    rgPeerScene_Free(&scene);
}

// A hammer: head and handle are one link; the pose of the head follows from the link's centre.
static void test_links(void** state) {
    (void)state;
    rgPeerScene scene;
    rgPeerLinks links;
    assert_true(rgPeerScene_Write(
        &scene, "hammer", 1e-3, rgVec(0, 0, 0), NULL,
        "<body name='handle' pos='1 2 3'><freejoint/><geom type='box' size='0.3 0.02 0.02' "
        "mass='1'/><body name='head' pos='0.3 0 0' euler='0 0 90'><geom name='head' type='box' "
        "size='0.1 0.04 0.04' mass='3'/></body><body name='tail' pos='-0.3 0 0'><joint name='j' "
        "axis='0 1 0' pos='0 0 0'/><geom type='sphere' size='0.02' mass='0.5'/></body></body>"));
    assert_true(rgPeerLinks_Init(&links, &scene));
    assert_int_equal(links.count, 2);
    assert_int_equal(links.links[1].parent, 0);
    assert_false(rgPeerLinks_IsLoose(&links, &scene, 0));
    EXPECT_NEAR(links.links[0].inertia.mass, 4, 1e-12);
    EXPECT_NEAR(links.links[0].centre.p.x, 0.3 * 3 / 4, 1e-12);
    rgPose centre = rgPoseMultiply(scene.poses[0], links.links[0].centre);
    for (int i = 0; i < 2; ++i) {
        rgPose pose = rgPeerLinks_BodyPose(&links, &scene, i, centre);
        EXPECT_NEAR(rgLength(rgSub(pose.p, scene.poses[i].p)), 0, 1e-12);
        EXPECT_NEAR(fabs(pose.q.w * scene.poses[i].q.w + pose.q.z * scene.poses[i].q.z), 1, 1e-12);
    }
    int link;
    int shape = rgModel_FindShape(scene.model, "head").index1 - 1;
    rgPose at = rgPoseMultiply(centre, rgPeerLinks_ShapePose(&links, &scene, shape, &link));
    assert_int_equal(link, 0);
    EXPECT_NEAR(rgLength(rgSub(at.p, rgVec(1.3, 2, 3))), 0, 1e-12);
    rgPeerLinks_Free(&links);
    rgPeerScene_Free(&scene);
}

// It goes up the slope on its feet for two seconds.
static void test_trot(void** state) {
    (void)state;
    rgModelDef* def = NULL;
    rgModel* model = NULL;
    rgWorld* world = NULL;
    rgTrot trot;
    assert_int_equal(rgBuildTrot(&def), rg_ok);
    assert_int_equal(rgCompileModel(def, NULL, NULL, &model), rg_ok);
    assert_int_equal(rgCreateWorld(model, NULL, NULL, &world), rg_ok);
    assert_true(rgTrot_Init(&trot, model));
    assert_int_equal(rgWorld_Reset(world, (rgKeyId){1}), rg_ok);
    for (int i = 0; i < rgFewer(2000); ++i) {
        rgTrot_Control(&trot, world);
        assert_int_equal(rgWorld_Step(world, NULL), rg_ok);
        rgVec3 up = rgRotate(rgWorld_BodyPose(world, trot.trunk).q, rgVec(0, 0, 1));
        assert_true(up.z > 0.7);
    }
    rgDestroyWorld(world);
    rgDestroyModel(model);
    rgDestroyModelDef(def);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_depths),
        cmocka_unit_test(test_energy),
        cmocka_unit_test(test_links),
        cmocka_unit_test(test_trot),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
