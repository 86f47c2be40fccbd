// Forces that press bodies on what they touch: of actuators, the same at each point of a body
// (actuators.5), and of materials.
#include "world/world.h"

bool rgWorld_HasAdhesion(const rgModel* model) {
    bool has = false;
    for (int a = 0; a < model->info.actuatorCount; ++a) {
        has = has || model->actuators[a].isAdhesive;
    }
    for (int s = 0; s < model->info.shapeCount; ++s) {
        has = has || model->shapes[s].material.adhesion > 0;
    }
    for (int p = 0; p < model->pairCount; ++p) {
        has = has || (model->pairHasMaterial[p] && model->pairMaterials[p].adhesion > 0);
    }
    return has;
}

// True where a point touches, or is within the margins of its shapes.
static bool rgContactPoint_Touches(const rgContactSet* contacts, const rgContactPoint* point) {
    const rgCollider* a = &contacts->colliders[point->colliderA];
    const rgCollider* b = &contacts->colliders[point->colliderB];
    return point->gap <= fmax(RG_ADHESION_GAP, fmax(a->margin, b->margin));
}

static bool rgContactPoint_Sticks(const rgContactSet* contacts, const rgContactPoint* point,
                                  int body) {
    const rgCollider* a = &contacts->colliders[point->colliderA];
    const rgCollider* b = &contacts->colliders[point->colliderB];
    return (a->body == body || b->body == body) && rgContactPoint_Touches(contacts, point);
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

// Press both sides of a point on each other.
static void rgWorld_PressPoint(rgWorld* world, const rgContactPoint* point, double size) {
    const rgContactSet* contacts = &world->contacts;
    rgVec3 force = rgScale(size, point->normal);
    rgWorld_AddPointForce(world, contacts->colliders[point->colliderA].body, point->position,
                          force);
    rgWorld_AddPointForce(world, contacts->colliders[point->colliderB].body, point->position,
                          rgNegate(force));
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
        if (rgContactPoint_Sticks(contacts, &contacts->points[i], body)) {
            rgWorld_PressPoint(world, &contacts->points[i], share);
        }
    }
}

static void rgWorld_AddMaterialAdhesion(rgWorld* world) {
    const rgContactSet* contacts = &world->contacts;
    for (int i = 0; i < contacts->pointCount; ++i) {
        const rgContactPoint* point = &contacts->points[i];
        if (rgContactPoint_Touches(contacts, point)) {
            rgMaterial material = rgContactSet_Material(contacts, &world->def, world->model, point);
            rgWorld_PressPoint(world, point, material.adhesion);
        }
    }
}

void rgWorld_AddAdhesion(rgWorld* world) {
    for (int a = 0; a < world->model->info.actuatorCount; ++a) {
        if (world->model->actuators[a].isAdhesive) {
            rgWorld_AddActuatorAdhesion(world, a);
        }
    }
    rgWorld_AddMaterialAdhesion(world);
}
