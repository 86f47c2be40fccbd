// Scenes in the making: a builder that collects bodies and their start state, and the table
// entry of a scene.
#pragma once
#include "rigor/scene.h"

// Collects a definition and a start state. The first failure stays in result, and later calls do
// nothing.
typedef struct rgSceneBuilder {
    rgModelDef* def;
    rgAllocator allocator;
    rgDiagnostics* diagnostics;
    rgMaterial material; // of shapes added from now on
    int count;           // of bodies, for scenes that come in sizes
    uint64_t random;     // state of the generator
    bool fileContact;
    double* start; // q entries from the front, v entries from the back half
    int qCount, vCount, startCapacity;
    rgResult result;
} rgSceneBuilder;

typedef struct rgSceneEntry {
    rgSceneInfo info;
    const char* model;                      // built-in model that the scene starts from, or NULL
    const char* key;                        // key frame to start from
    void (*build)(rgSceneBuilder* builder); // may be NULL when there is a model
    const char* waiting;                    // body that sleeps until its launch, or NULL
    double launchTime;                      // [s]
    rgVec3 launchVelocity;                  // [m/s]
} rgSceneEntry;

// A free body of one shape. Its name is the format with the number. velocity is linear and angular,
// in world axes.
typedef struct rgSceneBody {
    const char* name;
    int number; // 0: the name alone
    rgShapeKind kind;
    rgVec3 size;
    double mass;
    rgPose pose;
    rgSpatial velocity;
} rgSceneBody;

rgBodyId rgSceneBuilder_AddBody(rgSceneBuilder* builder, const rgSceneBody* body);
void rgSceneBuilder_AddPlane(rgSceneBuilder* builder, const char* name, rgPose pose);
// A floor at z = 0.
void rgSceneBuilder_AddFloor(rgSceneBuilder* builder);
void rgSceneBuilder_AddJoint(rgSceneBuilder* builder, const rgJointDef* joint, rgJointId* id);
void rgSceneBuilder_AddShape(rgSceneBuilder* builder, const rgShapeDef* shape);
void rgSceneBuilder_AddActuator(rgSceneBuilder* builder, const rgActuatorDef* actuator);
// Coordinates of a joint that was added by hand, in the order of the model.
void rgSceneBuilder_AddStart(rgSceneBuilder* builder, const double* q, int qCount, const double* v,
                             int vCount);
// The key frame "start" from the collected poses, with controls (may be NULL).
void rgSceneBuilder_AddKey(rgSceneBuilder* builder, const double* control, int controlCount);
// Keep the first failure.
void rgSceneBuilder_Check(rgSceneBuilder* builder, rgResult result);
// Uniform in low..high.
double rgSceneBuilder_Random(rgSceneBuilder* builder, double low, double high);

static inline rgPose rgAt(double x, double y, double z) {
    rgPose pose = {{x, y, z}, {1, 0, 0, 0}};
    return pose;
}

// stacks.c
void rgBuildWall(rgSceneBuilder* builder);
void rgBuildStraightWall(rgSceneBuilder* builder);
void rgBuildTower(rgSceneBuilder* builder);
void rgBuildDomino(rgSceneBuilder* builder);
void rgBuildMassRatio(rgSceneBuilder* builder);
void rgBuildPile(rgSceneBuilder* builder);
// bodies.c
void rgBuildIncline(rgSceneBuilder* builder);
void rgBuildSliding(rgSceneBuilder* builder);
void rgBuildBouncing(rgSceneBuilder* builder);
void rgBuildTop(rgSceneBuilder* builder);
void rgBuildGrasp(rgSceneBuilder* builder);
void rgBuildChain(rgSceneBuilder* builder);
// robots.c; builder->def holds the robot already
void rgHoldQuadruped(rgSceneBuilder* builder);
void rgDropQuadruped(rgSceneBuilder* builder);
