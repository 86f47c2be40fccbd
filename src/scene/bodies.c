// Scenes of a few bodies, each with a known answer: slope, sliding, bouncing, top, grasp, chain.
#include "scene/scene.h"

#include "rigor/inertia.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>

static const double half = 0.1; // of the cubes [m]

void rgBuildIncline(rgSceneBuilder* builder) {
    rgQuat turn = rgQuatFromAxisAngle(rgVec(0, 1, 0), atan(0.98 * builder->material.mu));
    rgSceneBuilder_AddPlane(builder, "slope", (rgPose){{0, 0, 0}, turn});
    rgSceneBuilder_AddBody(builder,
                           &(rgSceneBody){.name = "cube",
                                          .kind = rg_shapeBox,
                                          .size = {half, half, half},
                                          .mass = 1,
                                          .pose = {rgRotate(turn, rgVec(0, 0, half)), turn}});
    rgSceneBuilder_AddKey(builder, NULL, 0);
}

void rgBuildSliding(rgSceneBuilder* builder) {
    rgSceneBuilder_AddFloor(builder);
    rgSceneBuilder_AddBody(builder, &(rgSceneBody){.name = "cube",
                                                   .kind = rg_shapeBox,
                                                   .size = {half, half, half},
                                                   .mass = 1,
                                                   .pose = rgAt(0, 0, half),
                                                   .velocity = {{1, 0, 0}, {0, 0, 0}}});
    rgSceneBuilder_AddKey(builder, NULL, 0);
}

void rgBuildBouncing(rgSceneBuilder* builder) {
    builder->material.restitution = 0.8;
    rgSceneBuilder_AddFloor(builder);
    rgSceneBuilder_AddBody(builder, &(rgSceneBody){.name = "ball",
                                                   .kind = rg_shapeSphere,
                                                   .size = {half, 0, 0},
                                                   .mass = 1,
                                                   .pose = rgAt(0, 0, 1 + half)});
    rgSceneBuilder_AddKey(builder, NULL, 0);
}

// ---- top ----

static const double tipRadius = 0.004; // [m]
static const double discHeight = 0.04; // above the tip's centre [m]
static const double discMass = 0.1;    // [kg]
static const rgVec3 discSize = {0.04, 0.008, 0};

static void rgAddTopShapes(rgSceneBuilder* builder, rgBodyId body) {
    rgShapeDef shape = rgDefaultShapeDef();
    shape.body = body;
    shape.name = "stem";
    shape.kind = rg_shapeCapsule;
    shape.size = rgVec(tipRadius, 0.5 * discHeight, 0);
    shape.pose = rgAt(0, 0, 0.5 * discHeight);
    rgSceneBuilder_AddShape(builder, &shape);
    shape.name = "disc";
    shape.kind = rg_shapeCylinder;
    shape.size = discSize;
    shape.pose = rgAt(0, 0, discHeight);
    rgSceneBuilder_AddShape(builder, &shape);
}

// The body frame is at the centre of the tip's sphere, z along the axis. Its mass is the disc's.
void rgBuildTop(rgSceneBuilder* builder) {
    rgInertia disc = rgInertiaFromShape(rg_shapeCylinder, discSize, discMass);
    rgQuat tilt = rgQuatFromAxisAngle(rgVec(1, 0, 0), 0.3);
    rgBodyDef body = rgDefaultBodyDef();
    body.name = "top";
    body.pose = (rgPose){{0, 0, tipRadius}, tilt};
    body.inertia = rgInertiaMove(rgAt(0, 0, discHeight), &disc);
    rgJointDef joint = rgDefaultJointDef();
    joint.name = "top";
    joint.kind = rg_jointFree;
    rgSceneBuilder_AddFloor(builder);
    rgSceneBuilder_Check(builder, rgModelDef_AddBody(builder->def, &body, &joint.body));
    rgSceneBuilder_AddJoint(builder, &joint, NULL);
    rgAddTopShapes(builder, joint.body);
    const double q[7] = {0, 0, tipRadius, tilt.w, tilt.x, tilt.y, tilt.z};
    const double v[6] = {0, 0, 0, 0, 0, 200};
    rgSceneBuilder_AddStart(builder, q, 7, v, 6);
    rgSceneBuilder_AddKey(builder, NULL, 0);
}

// ---- grasp ----

static rgJointId rgAddFinger(rgSceneBuilder* builder, const char* name, double x) {
    const rgVec3 size = {0.01, 0.02, 0.03};
    rgBodyDef body = rgDefaultBodyDef();
    body.name = name;
    body.pose = rgAt(x, 0, 0.5);
    body.inertia = rgInertiaFromShape(rg_shapeBox, size, 0.1);
    rgJointDef joint = rgDefaultJointDef();
    joint.name = name;
    joint.kind = rg_jointPrismatic;
    joint.axis = rgVec(1, 0, 0);
    rgShapeDef shape = rgDefaultShapeDef();
    shape.name = name;
    shape.kind = rg_shapeBox;
    shape.size = size;
    rgJointId id = {0};
    if (builder->result == rg_ok) {
        builder->result = rgModelDef_AddBody(builder->def, &body, &joint.body);
    }
    shape.body = joint.body;
    rgSceneBuilder_AddJoint(builder, &joint, &id);
    rgSceneBuilder_AddShape(builder, &shape);
    rgSceneBuilder_AddStart(builder, (double[]){0}, 1, (double[]){0}, 1);
    return id;
}

// One finger pushes with 2 N, the other holds its place with a servo that is loaded by 2 N from the
// start. The cube of 45 g needs 0.44 N of the 2 N that friction can give.
void rgBuildGrasp(rgSceneBuilder* builder) {
    const double force = 2, kp = 1e4, kd = 100;
    rgSceneBuilder_AddFloor(builder);
    rgActuatorDef push = rgDefaultActuatorDef();
    push.name = "push";
    push.joint = rgAddFinger(builder, "finger_left", -0.03);
    push.gain = 1;
    rgSceneBuilder_AddActuator(builder, &push);
    rgActuatorDef hold = rgDefaultActuatorDef();
    hold.name = "hold";
    hold.joint = rgAddFinger(builder, "finger_right", 0.03);
    hold.gain = hold.kp = kp;
    hold.kd = kd;
    rgSceneBuilder_AddActuator(builder, &hold);
    rgSceneBuilder_AddBody(builder, &(rgSceneBody){.name = "object",
                                                   .kind = rg_shapeBox,
                                                   .size = {0.02, 0.02, 0.02},
                                                   .mass = 0.045,
                                                   .pose = rgAt(0, 0, 0.5)});
    rgSceneBuilder_AddKey(builder, (double[]){force, -force / kp}, 2);
}

// ---- chain ----

static rgBodyId rgAddRod(rgSceneBuilder* builder, int number, rgBodyId parent) {
    const double pitch = 0.14; // [m]
    char name[32];
    snprintf(name, sizeof(name), "rod_%d", number);
    rgShapeDef shape = rgDefaultShapeDef();
    shape.name = name;
    shape.kind = rg_shapeCapsule;
    shape.size = rgVec(0.02, 0.05, 0);
    shape.pose = (rgPose){{0.5 * pitch, 0, 0}, rgQuatBetween(rgVec(0, 0, 1), rgVec(1, 0, 0))};
    rgInertia solid = rgInertiaFromShape(shape.kind, shape.size, 0.2);
    rgBodyDef body = rgDefaultBodyDef();
    body.name = name;
    body.parent = parent;
    body.pose = number == 1 ? rgAt(0, 0, 1.5) : rgAt(pitch, 0, 0);
    body.inertia = rgInertiaMove(shape.pose, &solid);
    rgJointDef joint = rgDefaultJointDef();
    joint.name = name;
    joint.kind = rg_jointSpherical;
    if (builder->result == rg_ok) {
        builder->result = rgModelDef_AddBody(builder->def, &body, &joint.body);
    }
    shape.body = joint.body;
    rgSceneBuilder_AddJoint(builder, &joint, NULL);
    rgSceneBuilder_AddShape(builder, &shape);
    rgSceneBuilder_AddStart(builder, (double[]){1, 0, 0, 0}, 4, (double[]){0, 0, 0}, 3);
    return joint.body;
}

// Rods with ball joints, stretched out along x at the start; the first hangs on the world.
void rgBuildChain(rgSceneBuilder* builder) {
    rgSceneBuilder_AddFloor(builder);
    rgBodyId parent = {0};
    for (int i = 0; i < builder->count && builder->result == rg_ok; ++i) {
        parent = rgAddRod(builder, i + 1, parent);
    }
    rgSceneBuilder_AddKey(builder, NULL, 0);
}
