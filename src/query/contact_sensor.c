// Sensors of contacts: the points of the last step between two sides, some of them or their sum.
#include "query/query.h"

#include <string.h>

bool rgModel_IsBelow(const rgModel* model, int body, int top) {
    while (body >= 0 && body != top) {
        body = model->bodies[body].parent.index1 - 1;
    }
    return body == top;
}

static bool rgIsOnSide(const rgModel* model, const rgContactSide* side, rgShapeId shape) {
    int body = model->shapes[shape.index1 - 1].body.index1 - 1;
    switch (side->part) {
    case rg_contactPartShape:
        return shape.index1 == side->shape.index1;
    case rg_contactPartBody:
        return body == side->body.index1 - 1;
    case rg_contactPartSubtree:
        return rgModel_IsBelow(model, body, side->body.index1 - 1);
    default:
        return true;
    }
}

// Sign of the contact's own direction, from A to B, in that from side 0 to side 1; 0: it does not
// touch or is not between them.
static double rgMatchContact(const rgModel* model, const rgSensorDef* def,
                             const rgContact* contact) {
    const rgContactSide* sides = def->sides;
    if (!(contact->gap <= 0) && !(contact->impulse[2] > 0)) {
        return 0;
    }
    if (rgIsOnSide(model, &sides[0], contact->shapeA) &&
        rgIsOnSide(model, &sides[1], contact->shapeB)) {
        return 1;
    }
    bool turned = rgIsOnSide(model, &sides[0], contact->shapeB) &&
                  rgIsOnSide(model, &sides[1], contact->shapeA);
    return turned ? -1 : 0;
}

// A contact as a sensor gives it: axes from side 0 to side 1, forces on side 1.
typedef struct rgSensed {
    double forces[3], torques[3], gap; // along normal, tangent 1, tangent 2
    rgVec3 point, normal, tangent;
} rgSensed;

// The normal and the first tangent turn with the direction, and the second one stays.
static rgSensed rgSenseContact(const rgContact* contact, double sign, double dt) {
    const double* impulse = contact->impulse;
    return (rgSensed){
        .forces = {impulse[2] / dt, impulse[0] / dt, sign * impulse[1] / dt},
        .torques = {impulse[3] / dt, impulse[4] / dt, sign * impulse[5] / dt},
        .gap = contact->gap,
        .point = contact->point,
        .normal = rgScale(sign, contact->normal),
        .tangent = rgScale(sign, contact->tangent1),
    };
}

// Wrench of all contacts that match, at the mean of their points weighted by their forces.
static rgSensed rgSenseSum(const rgWorld* world, const rgSensorDef* def) {
    int count;
    const rgContact* contacts = rgWorld_Contacts(world, &count);
    rgVec3 force = {0, 0, 0}, torque = {0, 0, 0}, point = {0, 0, 0};
    double weight = 0, dt = world->settings.dt;
    for (int i = 0; i < count; ++i) {
        const rgContact* c = &contacts[i];
        double sign = rgMatchContact(world->model, def, c), size = rgLength(c->force);
        force = rgAddScaled(force, sign, c->force);
        torque = rgAddScaled(torque, sign, rgContactTorque(c, dt));
        torque = rgAddScaled(torque, sign, rgCross(c->point, c->force));
        point = rgAddScaled(point, sign * sign * size, c->point);
        weight += sign * sign * size;
    }
    point = rgScale(weight > 0 ? 1 / weight : 0, point);
    torque = rgSub(torque, rgCross(point, force));
    return (rgSensed){.forces = {force.x, force.y, force.z},
                      .torques = {torque.x, torque.y, torque.z},
                      .point = point,
                      .normal = {1, 0, 0},
                      .tangent = {0, 1, 0}};
}

// Number by which contacts are chosen, the smallest first.
static double rgContactRank(const rgContact* contact, rgContactChoice choice) {
    return choice == rg_contactNearest   ? contact->gap
           : choice == rg_contactHardest ? -rgLength(contact->force)
                                         : 0;
}

// The matching contact that comes after `last` by rank, then by number; -1: none.
static int rgNextContact(const rgWorld* world, const rgSensorDef* def, int last) {
    int count, best = -1;
    const rgContact* contacts = rgWorld_Contacts(world, &count);
    double least = INFINITY;
    double passed = last >= 0 ? rgContactRank(&contacts[last], def->contactChoice) : -INFINITY;
    for (int i = 0; i < count; ++i) {
        double rank = rgContactRank(&contacts[i], def->contactChoice);
        bool after = rank > passed || (rank == passed && i > last);
        if (after && rank < least && rgMatchContact(world->model, def, &contacts[i]) != 0) {
            best = i;
            least = rank;
        }
    }
    return best;
}

static void rgPutSensed(const rgSensorDef* def, const rgSensed* sensed, int found, double* out) {
    const double one = found;
    const double* const values[] = {&one,
                                    sensed->forces,
                                    sensed->torques,
                                    &sensed->gap,
                                    &sensed->point.x,
                                    &sensed->normal.x,
                                    &sensed->tangent.x};
    for (int i = 0; i < RG_CONTACT_NUMBER_KINDS; ++i) {
        if ((def->contactNumbers & (1 << i)) != 0) {
            memcpy(out, values[i], (size_t)rgContactNumberSizes[i] * sizeof(double));
            out += rgContactNumberSizes[i];
        }
    }
}

void rgReadContactSensor(const rgWorld* world, const rgSensorDef* def, double* out) {
    int count, found = 0, slots = RG_MAX(def->contactCount, 1), size = rgSensorDef_Size(def);
    const rgContact* contacts = rgWorld_Contacts(world, &count);
    for (int i = 0; i < count; ++i) {
        found += rgMatchContact(world->model, def, &contacts[i]) != 0;
    }
    memset(out, 0, (size_t)size * sizeof(double));
    if (def->contactChoice == rg_contactSum && found > 0) {
        rgSensed sum = rgSenseSum(world, def);
        rgPutSensed(def, &sum, found, out);
        return;
    }
    for (int k = 0, at = -1; k < RG_MIN(slots, found); ++k) {
        at = rgNextContact(world, def, at);
        double sign = rgMatchContact(world->model, def, &contacts[at]);
        rgSensed sensed = rgSenseContact(&contacts[at], sign, world->settings.dt);
        rgPutSensed(def, &sensed, found, out + k * (size / slots));
    }
}
