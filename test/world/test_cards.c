// Houses of two sharp cards: they stand if the floor's friction holds the thrust of the leaning
// cards, mu > (b sin t - a cos t) / (2 b cos t), with half thickness a, half height b, lean t; the
// corners that meet above need none.
#include "scene.h"

static const rgVec3 card = {0.001, 0.03, 0.05};

static double Threshold(double lean) {
    return (card.z * sin(lean) - card.x * cos(lean)) / (2 * card.z * cos(lean));
}

// The card as a box, or as the hull of its corners.
static rgBodyId AddCard(Scene* scene, const Solid* solid, bool isHull) {
    if (!isHull) {
        return SceneFree(scene, solid);
    }
    double corners[24];
    for (int k = 0; k < 8; ++k) {
        corners[3 * k] = k & 1 ? card.x : -card.x;
        corners[3 * k + 1] = k & 2 ? card.y : -card.y;
        corners[3 * k + 2] = k & 4 ? card.z : -card.z;
    }
    rgMeshData mesh = {.vertexCount = 8, .vertices = corners};
    rgBodyDef body = rgDefaultBodyDef();
    body.pose = solid->pose;
    body.inertia = rgInertiaFromShape(solid->kind, solid->size, solid->mass);
    rgBodyId id;
    assert_int_equal(rgModelDef_AddBody(scene->def, &body, &id), rg_ok);
    rgShapeDef shape = rgDefaultShapeDef();
    shape.body = id;
    shape.kind = rg_shapeHull;
    shape.mesh = &mesh;
    shape.material = solid->material;
    assert_int_equal(rgModelDef_AddShape(scene->def, &shape, NULL), rg_ok);
    SceneJoint(scene, id, rg_jointFree, rgVec(0, 0, 0), rgVec(0, 0, 1));
    return id;
}

// How far the top has come down after a second, and the friction of the corners that meet there.
static double Drop(double lean, double mu, double gap, int hulls) {
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
        ids[i] = AddCard(&scene, &solid, i < hulls);
    }
    rgWorldDef def = SceneWorldDef(1e-3, 1e-9);
    SceneMake(&scene, &def);
    SceneRun(&scene, 1000);
    double drop = up - fmin(SceneBodyPoint(&scene, ids[0]).z, SceneBodyPoint(&scene, ids[1]).z);
    SceneEnd(&scene);
    return drop;
}

static void CheckThreshold(int degrees, int hulls) {
    double lean = degrees * acos(-1) / 180, mu = Threshold(lean);
    for (int k = -1; k <= 1; ++k) {
        double held = Drop(lean, 1.03 * mu, 1e-8 * k, hulls);
        double slides = Drop(lean, 0.97 * mu, 1e-8 * k, hulls);
        if (!(fabs(held) < 1e-6) || !(slides > 1e-3)) {
            print_error("%d degrees, %d hulls, mu %g: %g and %g\n", degrees, hulls, mu, held,
                        slides);
            fail();
        }
    }
}

static void test_thresholds(void** state) {
    (void)state;
    for (int degrees = 15; degrees <= 45; degrees += 5) {
        CheckThreshold(degrees, 0);
    }
}

// Cards that are hulls, against hulls and against boxes.
static void test_hulls(void** state) {
    (void)state;
    for (int degrees = 15; degrees <= 45; degrees += 5) {
        CheckThreshold(degrees, 2);
        CheckThreshold(degrees, 1);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_thresholds),
        cmocka_unit_test(test_hulls),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
