// A crate is put on a conveyor belt: a shape whose surface moves.
// Should show: friction brings it to the speed of the belt in v / (mu g), over v^2 / (2 mu g).
#include <math.h>
#include <rigor/rigor.h>
#include <stdio.h>

int main(void) {
    const double speed = 1, mu = 0.4;
    rgModelDef* def = NULL;
    rgModel* model = NULL;
    rgWorld* world = NULL;
    rgShapeDef belt = rgDefaultShapeDef(), shape = rgDefaultShapeDef();
    rgBodyDef body = rgDefaultBodyDef();
    rgJointDef joint = rgDefaultJointDef();
    rgCreateModelDef(NULL, &def);
    belt.kind = rg_shapeBox;
    belt.size = rgVec(3, 0.4, 0.1);
    belt.pose.p.z = -0.1;
    belt.surfaceVelocity = rgVec(speed, 0, 0);
    rgModelDef_AddShape(def, &belt, NULL);
    shape.kind = rg_shapeBox;
    shape.size = rgVec(0.1, 0.1, 0.1);
    body.inertia = rgInertiaFromShape(shape.kind, shape.size, 5);
    body.pose.p = rgVec(-2, 0, 0.1);
    rgModelDef_AddBody(def, &body, &shape.body);
    rgModelDef_AddShape(def, &shape, NULL);
    joint.kind = rg_jointFree;
    joint.body = shape.body;
    rgModelDef_AddJoint(def, &joint, NULL);
    rgWorldDef settings = rgDefaultWorldDef();
    settings.friction = mu;
    if (rgCompileModel(def, NULL, NULL, &model) != rg_ok ||
        rgCreateWorld(model, &settings, NULL, &world) != rg_ok) {
        return 1;
    }
    double caught = 0;
    while (rgWorld_Time(world) < 2) {
        rgWorld_Step(world, NULL);
        if (caught == 0 && rgWorld_BodyVelocity(world, shape.body).linear.x > speed - 1e-6) {
            caught = rgWorld_Time(world);
        }
    }
    double way = rgWorld_BodyPose(world, shape.body).p.x + 2;
    double expected = speed / (mu * 9.81), lag = speed * speed / (2 * mu * 9.81);
    printf("as fast as the belt after %.3f s, expected %.3f s; carried %.3f m, expected %.3f m\n",
           caught, expected, way, 2 * speed - lag);
    rgDestroyWorld(world);
    rgDestroyModel(model);
    rgDestroyModelDef(def);
    return fabs(caught - expected) < 0.003 && fabs(way - (2 * speed - lag)) < 0.003 ? 0 : 1;
}
