// The builder: free bodies of one shape, planes, and the start state as a key frame.
#include "scene/scene.h"

#include "base/base.h"
#include "rigor/inertia.h"

#include <stdio.h>
#include <string.h>

void rgSceneBuilder_Check(rgSceneBuilder* builder, rgResult result) {
    builder->result = builder->result == rg_ok ? result : builder->result;
}

// splitmix64
double rgSceneBuilder_Random(rgSceneBuilder* builder, double low, double high) {
    uint64_t z = (builder->random += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return low + (high - low) * (double)((z ^ (z >> 31)) >> 11) * 0x1p-53;
}

// Both halves of the array grow together: q in the first, v in the second.
static bool rgReserveStart(rgSceneBuilder* builder, int needed) {
    int old = builder->startCapacity;
    if (needed <= old) {
        return true;
    }
    int capacity = RG_MAX(2 * old, needed + 64);
    double* grown = rgAllocate(&builder->allocator, 2 * (size_t)capacity, sizeof(double));
    if (grown == NULL) {
        rgSceneBuilder_Check(builder, rg_errorMemory);
        return false;
    }
    if (old > 0) {
        memcpy(grown, builder->start, (size_t)old * sizeof(double));
        memcpy(grown + capacity, builder->start + old, (size_t)old * sizeof(double));
    }
    rgRelease(&builder->allocator, builder->start);
    builder->start = grown;
    builder->startCapacity = capacity;
    return true;
}

void rgSceneBuilder_AddStart(rgSceneBuilder* builder, const double* q, int qCount, const double* v,
                             int vCount) {
    if (builder->result != rg_ok ||
        !rgReserveStart(builder, RG_MAX(builder->qCount + qCount, builder->vCount + vCount))) {
        return;
    }
    double* allV = builder->start + builder->startCapacity;
    memcpy(builder->start + builder->qCount, q, (size_t)qCount * sizeof(double));
    memcpy(allV + builder->vCount, v, (size_t)vCount * sizeof(double));
    builder->qCount += qCount;
    builder->vCount += vCount;
}

void rgSceneBuilder_AddKey(rgSceneBuilder* builder, const double* control, int controlCount) {
    if (builder->result != rg_ok) {
        return;
    }
    rgKeyDef key = rgDefaultKeyDef();
    key.name = "start";
    key.q = builder->start;
    key.v = builder->start != NULL ? builder->start + builder->startCapacity : NULL;
    key.qCount = builder->qCount;
    key.vCount = builder->vCount;
    key.control = control;
    key.controlCount = controlCount;
    builder->result = rgModelDef_AddKey(builder->def, &key, NULL);
}

void rgSceneBuilder_AddJoint(rgSceneBuilder* builder, const rgJointDef* joint, rgJointId* id) {
    if (builder->result == rg_ok) {
        builder->result = rgModelDef_AddJoint(builder->def, joint, id);
    }
}

void rgSceneBuilder_AddActuator(rgSceneBuilder* builder, const rgActuatorDef* actuator) {
    if (builder->result == rg_ok) {
        builder->result = rgModelDef_AddActuator(builder->def, actuator, NULL);
    }
}

// Everything takes the builder's material.
void rgSceneBuilder_AddShape(rgSceneBuilder* builder, const rgShapeDef* shape) {
    if (builder->result == rg_ok) {
        rgShapeDef copy = *shape;
        copy.material = builder->material;
        builder->result = rgModelDef_AddShape(builder->def, &copy, NULL);
    }
}

void rgSceneBuilder_AddPlane(rgSceneBuilder* builder, const char* name, rgPose pose) {
    rgShapeDef plane = rgDefaultShapeDef();
    plane.name = name;
    plane.kind = rg_shapePlane;
    plane.pose = pose;
    rgSceneBuilder_AddShape(builder, &plane);
}

void rgSceneBuilder_AddFloor(rgSceneBuilder* builder) {
    rgSceneBuilder_AddPlane(builder, "floor", rgPoseIdentity());
}

static void rgAddFreeStart(rgSceneBuilder* builder, const rgSceneBody* body) {
    rgVec3 linear = rgRotateBack(body->pose.q, body->velocity.linear);
    rgVec3 angular = rgRotateBack(body->pose.q, body->velocity.angular);
    const double q[7] = {body->pose.p.x, body->pose.p.y, body->pose.p.z, body->pose.q.w,
                         body->pose.q.x, body->pose.q.y, body->pose.q.z};
    const double v[6] = {linear.x, linear.y, linear.z, angular.x, angular.y, angular.z};
    rgSceneBuilder_AddStart(builder, q, 7, v, 6);
}

static void rgNameBody(char* name, size_t size, const rgSceneBody* body) {
    if (body->number > 0) {
        snprintf(name, size, "%s_%d", body->name, body->number);
    } else {
        snprintf(name, size, "%s", body->name);
    }
}

rgBodyId rgSceneBuilder_AddBody(rgSceneBuilder* builder, const rgSceneBody* body) {
    char name[48];
    rgNameBody(name, sizeof(name), body);
    rgBodyDef def = rgDefaultBodyDef();
    def.name = name;
    def.pose = body->pose;
    def.inertia = rgInertiaFromShape(body->kind, body->size, body->mass);
    rgJointDef joint = rgDefaultJointDef();
    joint.name = name;
    joint.kind = rg_jointFree;
    rgShapeDef shape = rgDefaultShapeDef();
    shape.name = name;
    shape.kind = body->kind;
    shape.size = body->size;
    if (builder->result == rg_ok) {
        builder->result = rgModelDef_AddBody(builder->def, &def, &joint.body);
    }
    shape.body = joint.body;
    rgSceneBuilder_AddJoint(builder, &joint, NULL);
    rgSceneBuilder_AddShape(builder, &shape);
    rgAddFreeStart(builder, body);
    return joint.body;
}
