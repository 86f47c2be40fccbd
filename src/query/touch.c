// Touches: pairs of shapes that press on each other, compared with those of the step before, and
// their forces.
#include "query/query.h"

static bool rgMemory_HasImpulse(const rgMemory* memory, const rgPairMemory* pair) {
    for (int k = 0; k < pair->contactCount; ++k) {
        const rgContactMemory* contact = &memory->contacts[pair->firstContact + k];
        if (rgDot(contact->linear, contact->normal) > 0) {
            return true;
        }
    }
    return false;
}

static bool rgPairIsBefore(const rgPairMemory* a, const rgPairMemory* b) {
    return a->a != b->a ? a->a < b->a : a->b < b->b;
}

static rgTouch rgMakeTouch(const rgContactSet* contacts, const rgPairMemory* pair,
                           rgTouchState state) {
    const rgCollider *A = &contacts->colliders[pair->a], *B = &contacts->colliders[pair->b];
    return (rgTouch){.bodyA = {A->body + 1},
                     .bodyB = {B->body + 1},
                     .shapeA = {A->shape + 1},
                     .shapeB = {B->shape + 1},
                     .state = state};
}

static rgVec3 rgMemory_Force(const rgMemory* memory, const rgPairMemory* pair, double dt) {
    rgVec3 sum = {0, 0, 0};
    for (int k = 0; k < pair->contactCount; ++k) {
        sum = rgAddScaled(sum, 1 / dt, memory->contacts[pair->firstContact + k].linear);
    }
    return sum;
}

// Both lists are sorted by pair; those of the step before come from the memory that it left.
static void rgListTouches(const rgContactSet* contacts, rgReadout* readout, double dt,
                          const rgMemory* now, const rgMemory* last) {
    int old = 0, point = 0;
    readout->touchCount = 0;
    for (int i = 0; i <= now->pairCount; ++i) {
        const rgPairMemory* pair = i < now->pairCount ? &now->pairs[i] : NULL;
        for (; old < last->pairCount && (pair == NULL || rgPairIsBefore(&last->pairs[old], pair));
             ++old) {
            if (rgMemory_HasImpulse(last, &last->pairs[old])) {
                readout->touches[readout->touchCount++] =
                    rgMakeTouch(contacts, &last->pairs[old], rg_touchEnd);
            }
        }
        if (pair == NULL) {
            break;
        }
        bool known = old < last->pairCount && !rgPairIsBefore(pair, &last->pairs[old]);
        bool before = known && rgMemory_HasImpulse(last, &last->pairs[old]);
        bool isLoaded = rgMemory_HasImpulse(now, pair);
        old += known;
        if (isLoaded || before) {
            rgTouchState state = !isLoaded ? rg_touchEnd : before ? rg_touchPersist : rg_touchBegin;
            rgTouch touch = rgMakeTouch(contacts, pair, state);
            while (point < contacts->pointCount && contacts->points[point].pair < i) {
                point += contacts->points[point].pointCount;
            }
            if (point < contacts->pointCount && contacts->points[point].pair == i) {
                touch.firstContact = point; // the points of a pair are next to each other
                touch.contactCount = contacts->points[point].pointCount;
            }
            touch.force = rgMemory_Force(now, pair, dt);
            readout->touches[readout->touchCount++] = touch;
        }
    }
}

const rgTouch* rgWorld_Touches(const rgWorld* world, int* count) {
    if (world == NULL) {
        return rgNothing(count);
    }
    rgReadout* readout = world->readout;
    // A step swaps the memories: its own contacts are in memory 0, those before in memory 1.
    const rgMemory* now = &world->warmStart.memories[readout->committed ? 0 : 1];
    const rgMemory* last = &world->warmStart.memories[readout->committed ? 1 : 0];
    if (!readout->touchesValid) {
        int most = readout->evaluated ? now->pairCount + last->pairCount : 0;
        readout->touchCount = 0;
        if (rgReserve(&world->heap.allocator, (void**)&readout->touches, &readout->touchCapacity, 0,
                      most, sizeof(rgTouch)) == rg_ok) {
            if (readout->evaluated) {
                rgListTouches(&world->contacts, world->readout, world->settings.dt, now, last);
            }
            readout->touchesValid = true;
        }
    }
    if (count != NULL) {
        *count = readout->touchCount;
    }
    return readout->touches;
}

static rgVec3 rgWorld_StartCenter(const rgWorld* world, rgBodyId body) {
    rgPose pose = rgDynamics_BodyPose(rgWorld_StartDynamics(world), body);
    return rgPose_Point(pose, world->model->bodies[body.index1 - 1].inertia.center);
}

// Contacts on a body, all of them or those with another one.
static rgSpatial rgWorld_SumContacts(const rgWorld* world, rgBodyId body, const rgBodyId* other) {
    rgSpatial sum = {0};
    if (rgModel_Body(world->model, body) == NULL) {
        return sum;
    }
    int count;
    const rgContact* contacts = rgWorld_Contacts(world, &count);
    rgVec3 center = rgWorld_StartCenter(world, body);
    for (int i = 0; i < count; ++i) {
        const rgContact* c = &contacts[i];
        int sign = (c->bodyB.index1 == body.index1) - (c->bodyA.index1 == body.index1);
        int partner = sign > 0 ? c->bodyA.index1 : c->bodyB.index1;
        if (sign == 0 || (other != NULL && partner != other->index1)) {
            continue;
        }
        rgVec3 force = rgScale(sign, c->force);
        rgVec3 torque = rgScale(sign, rgContactTorque(c, world->settings.dt));
        sum.linear = rgAdd(sum.linear, force);
        sum.angular = rgAdd(sum.angular, rgAdd(torque, rgCross(rgSub(c->point, center), force)));
    }
    return sum;
}

rgSpatial rgWorld_ContactWrench(const rgWorld* world, rgBodyId body) {
    return world != NULL ? rgWorld_SumContacts(world, body, NULL) : (rgSpatial){0};
}

rgSpatial rgWorld_PairWrench(const rgWorld* world, rgBodyId body, rgBodyId other) {
    return world != NULL ? rgWorld_SumContacts(world, body, &other) : (rgSpatial){0};
}
