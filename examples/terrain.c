// Boxes on a height field: a slope of 20 degrees, rough and smooth.
// Should show: at mu = 0.5 the box stays, at mu = 0.2 it slides as Coulomb says.
#include <math.h>
#include <rigor/rigor.h>
#include <stdio.h>

enum { samples = 41 };

static double slide(double mu, double slope, double time) {
    static double heights[samples * samples];
    for (int i = 0; i < samples * samples; ++i) {
        heights[i] = tan(slope) * (4 - 8.0 * (i % samples) / (samples - 1)); // falls along x
    }
    rgHeightFieldData field = {samples, samples, 4, 4, 1, heights};
    rgModelDef* def = NULL;
    rgModel* model = NULL;
    rgWorld* world = NULL;
    rgShapeDef ground = rgDefaultShapeDef(), shape = rgDefaultShapeDef();
    rgBodyDef body = rgDefaultBodyDef();
    rgJointDef joint = rgDefaultJointDef();
    rgCreateModelDef(NULL, &def);
    ground.kind = rg_shapeHeightField;
    ground.heightField = &field;
    rgModelDef_AddShape(def, &ground, NULL);
    shape.kind = rg_shapeBox;
    shape.size = rgVec(0.2, 0.2, 0.1);
    body.inertia = rgInertiaFromShape(shape.kind, shape.size, 2);
    body.pose = (rgPose){rgVec(0.1 * sin(slope), 0, 0.1 * cos(slope)),
                         rgQuatFromAxisAngle(rgVec(0, 1, 0), slope)};
    rgModelDef_AddBody(def, &body, &shape.body);
    rgModelDef_AddShape(def, &shape, NULL);
    joint.kind = rg_jointFree;
    joint.body = shape.body;
    rgModelDef_AddJoint(def, &joint, NULL);
    rgWorldDef settings = rgDefaultWorldDef();
    settings.friction = mu; // of every pair
    if (rgCompileModel(def, NULL, NULL, &model) != rg_ok ||
        rgCreateWorld(model, &settings, NULL, &world) != rg_ok) {
        return NAN;
    }
    while (rgWorld_Time(world) < time - 1e-9) {
        rgWorld_Step(world, NULL);
    }
    double distance = rgLength(rgSub(rgWorld_BodyPose(world, shape.body).p, body.pose.p));
    rgDestroyWorld(world);
    rgDestroyModel(model);
    rgDestroyModelDef(def);
    return distance;
}

int main(void) {
    double slope = 20 * acos(-1) / 180;
    double stays = slide(0.5, slope, 1), slides = slide(0.2, slope, 1);
    double expected = 0.5 * 9.81 * (sin(slope) - 0.2 * cos(slope));
    printf("mu 0.5: %.1e m; mu 0.2: %.4f m in 1 s, expected %.4f m\n", stays, slides, expected);
    return stays < 1e-4 && fabs(slides - expected) < 5e-3 ? 0 : 1;
}
