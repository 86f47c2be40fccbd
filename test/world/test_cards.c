// Houses of two sharp cards: they stand if the floor's friction holds the thrust of the leaning
// cards, mu > (b sin t - a cos t) / (2 b cos t), with half thickness a, half height b, lean t; the
// corners that meet above need none.
#include "scene.h"

static const rgVec3 card = {0.001, 0.03, 0.05};

static double Threshold(double lean) {
    return (card.z * sin(lean) - card.x * cos(lean)) / (2 * card.z * cos(lean));
}

// How far the top has come down after a second, and the friction of the corners that meet there.
static double Drop(double lean, double mu, double gap) {
    Scene scene = SceneStart();
    ScenePlane(&scene, mu, rgPoseIdentity().q);
    double over = card.z * sin(lean) + card.x * cos(lean);
    double up = card.z * cos(lean) + card.x * sin(lean);
    rgBodyId ids[2];
    for (int i = 0; i < 2; ++i) {
        double side = i ? 1 : -1;
        Solid solid = SolidOf(rg_shapeBox, card, 0.01, rgVec(side * (over + 0.5 * gap), 0, up));
        solid.pose.q = rgQuatFromAxisAngle(rgVec(0, 1, 0), -side * lean);
        solid.material.mu = mu;
        ids[i] = SceneFree(&scene, &solid);
    }
    rgWorldDef def = SceneWorldDef(1e-3, 1e-9);
    SceneMake(&scene, &def);
    SceneRun(&scene, 1000);
    double drop = up - fmin(SceneBodyPoint(&scene, ids[0]).z, SceneBodyPoint(&scene, ids[1]).z);
    SceneEnd(&scene);
    return drop;
}

static void TestThresholds(void** state) {
    (void)state;
    for (int degrees = 15; degrees <= 45; degrees += 5) {
        double lean = degrees * acos(-1) / 180, mu = Threshold(lean);
        for (int k = -1; k <= 1; ++k) {
            double held = Drop(lean, 1.03 * mu, 1e-8 * k);
            double slides = Drop(lean, 0.97 * mu, 1e-8 * k);
            if (!(fabs(held) < 1e-6) || !(slides > 1e-3)) {
                print_error("%d degrees, mu %g: %g and %g\n", degrees, mu, held, slides);
                fail();
            }
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(TestThresholds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
