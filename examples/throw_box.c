// A box is thrown, lands and comes to rest: body, shape and joint in code, poses in world axes.
// Should show: the time of flight that ballistics gives, and a floor that carries the weight.
#include <math.h>
#include <rigor/rigor.h>
#include <stdio.h>

int main(void) {
    rgModelDef* def = NULL;
    rgModel* model = NULL;
    rgWorld* world = NULL;
    rgShapeDef floor = rgDefaultShapeDef(), shape = rgDefaultShapeDef();
    rgBodyDef body = rgDefaultBodyDef();
    rgJointDef joint = rgDefaultJointDef();

    rgCreateModelDef(NULL, &def);
    floor.kind = rg_shapePlane;
    rgModelDef_AddShape(def, &floor, NULL);
    shape.kind = rg_shapeBox;
    shape.size = rgVec(0.1, 0.075, 0.05);
    body.inertia = rgInertiaFromShape(shape.kind, shape.size, 0.5);
    rgModelDef_AddBody(def, &body, &shape.body);
    rgModelDef_AddShape(def, &shape, NULL);
    joint.kind = rg_jointFree;
    joint.body = shape.body;
    rgModelDef_AddJoint(def, &joint, NULL);
    if (rgCompileModel(def, NULL, NULL, &model) != rg_ok ||
        rgCreateWorld(model, NULL, NULL, &world) != rg_ok) {
        return 1;
    }

    rgPose pose = {rgVec(0, 0, 1), rgQuatIdentity()};
    rgSpatial velocity = {.linear = rgVec(3, 0, 2), .angular = rgVec(0, 0, 4)};
    rgWorld_SetBodyPose(world, shape.body, pose);
    rgWorld_SetBodyVelocity(world, shape.body, velocity);
    double landed = 0;
    while (rgWorld_Time(world) < 3) {
        rgWorld_Step(world, NULL);
        if (landed == 0 && rgWorld_ContactForce(world, shape.body).z > 0) {
            landed = rgWorld_Time(world);
        }
    }

    double expected = (2 + sqrt(4 + 2 * 9.81 * 0.95)) / 9.81; // down to a height of 0.05 m
    double carried = rgWorld_ContactForce(world, shape.body).z;
    printf("lands after %.3f s, expected %.3f s; the floor carries %.3f N, expected %.3f N\n",
           landed, expected, carried, 0.5 * 9.81);
    rgDestroyWorld(world);
    rgDestroyModel(model);
    rgDestroyModelDef(def);
    return fabs(landed - expected) < 0.002 && fabs(carried - 0.5 * 9.81) < 1e-3 ? 0 : 1;
}
