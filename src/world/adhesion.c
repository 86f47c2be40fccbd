// Forces that press a body on what it touches, the same at each point. actuators.5.
#include "world/world.h"

bool rgWorld_HasAdhesion(const rgModel* model) {
    bool has = false;
    for (int a = 0; a < model->info.actuatorCount; ++a) {
        has = has || model->actuators[a].isAdhesive;
    }
    return has;
}

// True where a point of the body touches, or is within the margins of its shapes.
static bool rgContactPoint_Sticks(const rgContactSet* contacts, const rgContactPoint* point,
                                  int body) {
    const rgCollider* a = &contacts->colliders[point->colliderA];
    const rgCollider* b = &contacts->colliders[point->colliderB];
    return (a->body == body || b->body == body) &&
           point->gap <= fmax(RG_ADHESION_GAP, fmax(a->margin, b->margin));
}

static void rgWorld_AddPointForce(rgWorld* world, int body, rgVec3 point, rgVec3 force) {
    if (body < 0) {
        return;
    }
    const rgModel* model = world->model;
    rgPose pose = rgDynamics_PlacePose(world->kinematics.dynamics, &model->bodyPlaces[body]);
    rgVec3 center = rgPose_Point(pose, model->bodies[body].inertia.center);
    rgVec3 torque = rgCross(rgSub(point, center), force);
    double* w = world->free.wrench + 6 * body;
    w[0] += force.x, w[1] += force.y, w[2] += force.z;
    w[3] += torque.x, w[4] += torque.y, w[5] += torque.z;
}

static void rgWorld_AddActuatorAdhesion(rgWorld* world, int actuator) {
    const rgModel* model = world->model;
    const rgContactSet* contacts = &world->contacts;
    int body = model->frames[model->actuators[actuator].frame.index1 - 1].body.index1 - 1,
        count = 0;
    for (int i = 0; i < contacts->pointCount; ++i) {
        count += rgContactPoint_Sticks(contacts, &contacts->points[i], body);
    }
    double share = world->transmission.actuatorForce[actuator] / RG_MAX(count, 1);
    for (int i = 0; i < contacts->pointCount && share != 0; ++i) {
        const rgContactPoint* point = &contacts->points[i];
        if (rgContactPoint_Sticks(contacts, point, body)) {
            rgVec3 force = rgScale(share, point->normal);
            rgWorld_AddPointForce(world, contacts->colliders[point->colliderA].body,
                                  point->position, force);
            rgWorld_AddPointForce(world, contacts->colliders[point->colliderB].body,
                                  point->position, rgNegate(force));
        }
    }
}

void rgWorld_AddAdhesion(rgWorld* world) {
    for (int a = 0; a < world->model->info.actuatorCount; ++a) {
        if (world->model->actuators[a].isAdhesive) {
            rgWorld_AddActuatorAdhesion(world, a);
        }
    }
}
