// Warm start: caches, impulses and bristles of near pairs, sorted by pair, and impulses of all
// other rows in fixed slots. Pairs of a step are those whose boxes overlap now, whatever the
// history of the broadphase.
#include "world/world.h"

#include <string.h>

static void rgContactSet_MarkColliders(rgContactSet* contacts, const rgSleep* sleep,
                                       const rgModel* model) {
    const rgShapeDef* shapes = model->shapes;
    for (int i = 0; i < contacts->colliderCount; ++i) {
        const rgCollider* collider = &contacts->colliders[i];
        int tree = model->links[collider->link].tree;
        unsigned asleep = rg_colliderStill | rg_colliderAsleep;
        unsigned rest = tree < 0 ? rg_colliderStill : sleep->asleep[tree] != 0 ? asleep : 0;
        rest |= shapes[collider->shape].disabled ? rg_colliderDisabled : 0;
        rest |= collider->plane ? rg_colliderPlane : 0;
        contacts->colliderRest[i] = (uint8_t)rest;
    }
}

// Boxes of planes are unbounded, but shapes further above one than the pair's margin have no points
// with it.
static bool rgContactSet_IsAbove(const rgContactSet* contacts, const rgWorldDef* def, int plane,
                                 int other, const rgBox* box) {
    const rgCollider *P = &contacts->colliders[plane], *O = &contacts->colliders[other];
    rgVec3 n = P->placement.axes.z;
    rgVec3 low = rgVec(n.x > 0 ? box->lower.x : box->upper.x, n.y > 0 ? box->lower.y : box->upper.y,
                       n.z > 0 ? box->lower.z : box->upper.z);
    double height = rgDot(n, rgSub(low, P->pose.p)) + O->reach;
    // Most are above by more than the margin would be if they moved against each other.
    double most = RG_MAX(P->ahead, O->ahead) * (P->speed + O->speed);
    return height > rgPairMargin(def, P, O, most) ||
           height > rgPairMargin(def, P, O, rgPairTravel(P, O));
}

// True if a pair with a collider at rest, asleep, disabled or a plane may touch.
static bool rgWorld_PairMayTouch(const rgWorld* world, rgProxyPair pair, const rgBox* boxes) {
    unsigned a = world->contacts.colliderRest[pair.a], b = world->contacts.colliderRest[pair.b];
    if (((a | b) & rg_colliderDisabled) != 0) {
        return false;
    }
    bool awake = (a & b & rg_colliderStill) == 0 && ((a | b) & rg_colliderAsleep) == 0;
    if (!awake && rgSleep_PairRest(&world->sleep, &world->kinematics, &world->contacts, pair.a,
                                   pair.b) == rg_pairAwake) {
        return false;
    }
    return !((a & rg_colliderPlane) &&
             rgContactSet_IsAbove(&world->contacts, &world->def, pair.a, pair.b, &boxes[pair.b])) &&
           !((b & rg_colliderPlane) &&
             rgContactSet_IsAbove(&world->contacts, &world->def, pair.b, pair.a, &boxes[pair.a]));
}

static inline bool rgWorld_PairIsActive(const rgWorld* world, rgProxyPair pair,
                                        const rgBox* boxes) {
    unsigned either = world->contacts.colliderRest[pair.a] | world->contacts.colliderRest[pair.b];
    return ((either & rg_colliderPlane) || rgBoxesMeet(&boxes[pair.a], &boxes[pair.b])) &&
           (either == 0 || rgWorld_PairMayTouch(world, pair, boxes));
}

static bool rgPairBefore(const rgPairMemory* memory, rgProxyPair pair) {
    return memory->a != pair.a ? memory->a < pair.a : memory->b < pair.b;
}

rgResult rgWorld_MatchPairs(rgWorld* world) {
    const rgMemory* last = &world->warmStart.memories[0];
    rgMemory* next = &world->warmStart.memories[1];
    int count = 0, old = 0;
    const rgProxyPair* pairs = rgBroadphase_Pairs(world->contacts.broadphase, &count);
    rgResult result = rgReserve(&world->heap.allocator, (void**)&next->pairs, &next->pairCapacity,
                                0, count, sizeof(rgPairMemory));
    if (result != rg_ok) {
        return result;
    }
    next->pairCount = 0;
    rgContactSet_MarkColliders(&world->contacts, &world->sleep, world->model);
    const rgBox* boxes = rgBroadphase_Boxes(world->contacts.broadphase);
    for (int i = 0; i < count; ++i) {
        if (!rgWorld_PairIsActive(world, pairs[i], boxes)) {
            continue;
        }
        while (old < last->pairCount && rgPairBefore(&last->pairs[old], pairs[i])) {
            ++old;
        }
        rgPairMemory* pair = &next->pairs[next->pairCount++];
        if (old < last->pairCount && last->pairs[old].a == pairs[i].a &&
            last->pairs[old].b == pairs[i].b) {
            // For now with the contacts of the last step; rgWorld_StoreImpulses() sets its own.
            *pair = last->pairs[old];
        } else {
            *pair = (rgPairMemory){.a = pairs[i].a, .b = pairs[i].b, .energyTank = -1};
        }
    }
    return rg_ok;
}

const rgContactMemory* rgWarmStart_ContactMemory(const rgWarmStart* warmStart,
                                                 const rgContactPoint* point) {
    const rgMemory* last = &warmStart->memories[0];
    const rgPairMemory* pair = &warmStart->memories[1].pairs[point->pair];
    for (int k = 0; k < pair->contactCount; ++k) {
        const rgContactMemory* contact = &last->contacts[pair->firstContact + k];
        if (contact->feature == point->feature) {
            return contact;
        }
    }
    return NULL;
}

static void rgLoadContactImpulse(const rgContactPoint* point, const rgContactMemory* contact,
                                 double* lambda) {
    lambda[0] = rgDot(contact->linear, point->tangent1);
    lambda[1] = rgDot(contact->linear, point->tangent2);
    lambda[2] = rgDot(contact->linear, point->normal);
    if (point->rowCount > 3) {
        lambda[3] = rgDot(contact->angular, point->normal);
    }
    if (point->rowCount > 4) {
        lambda[4] = rgDot(contact->angular, point->tangent1);
        lambda[5] = rgDot(contact->angular, point->tangent2);
    }
}

void rgWorld_LoadImpulses(rgWorld* world) {
    rgRows* rows = &world->constraints.rows;
    for (int r = 0; r < rows->rowCount; ++r) {
        int slot = rows->sources[r].slot;
        rows->lambda[r] = slot >= 0 ? world->state.impulse[slot] : 0;
    }
    for (int i = 0; i < world->contacts.pointCount; ++i) {
        rgContactPoint* point = &world->contacts.points[i];
        const rgContactMemory* contact = rgWarmStart_ContactMemory(&world->warmStart, point);
        point->projection = contact != NULL ? contact->projection : 0;
        if (contact != NULL) {
            rgLoadContactImpulse(point, contact, rows->lambda + point->firstRow);
        }
    }
}

void rgWorld_StorePassImpulses(rgWorld* world) {
    const rgRows* rows = &world->constraints.rows;
    for (int i = 0; i < world->contacts.pointCount; ++i) {
        rgContactPoint* point = &world->contacts.points[i];
        point->hasImpulse = true;
        memcpy(point->impulse, rows->lambda + point->firstRow,
               (size_t)point->rowCount * sizeof(double));
    }
    memcpy(world->warmStart.nextImpulse, world->state.impulse,
           (size_t)world->warmStart.slots.count * sizeof(double));
    for (int r = 0; r < rows->rowCount; ++r) {
        if (rows->sources[r].slot >= 0) {
            world->warmStart.nextImpulse[rows->sources[r].slot] = rows->lambda[r];
        }
    }
}

void rgConstraintSet_LoadPassImpulses(rgConstraintSet* constraints, rgContactSet* contacts,
                                      const rgWarmStart* warmStart) {
    rgRows* rows = &constraints->rows;
    for (int i = 0; i < contacts->pointCount; ++i) {
        const rgContactPoint* point = &contacts->points[i];
        if (point->hasImpulse) {
            memcpy(rows->lambda + point->firstRow, point->impulse,
                   (size_t)point->rowCount * sizeof(double));
        }
    }
    for (int r = 0; r < rows->rowCount; ++r) {
        if (rows->sources[r].slot >= 0) {
            rows->lambda[r] = warmStart->nextImpulse[rows->sources[r].slot];
        }
    }
}

static rgContactMemory rgPointMemory(const rgContactPoint* point, const double* lambda) {
    rgContactMemory memory = {
        .feature = point->feature, .rowCount = point->rowCount, .normal = point->normal};
    rgVec3 t1 = point->tangent1, t2 = point->tangent2, n = point->normal;
    memory.linear = rgAddScaled(rgAddScaled(rgScale(lambda[0], t1), lambda[1], t2), lambda[2], n);
    if (point->rowCount > 3) {
        memory.angular = rgScale(lambda[3], n);
    }
    if (point->rowCount > 4) {
        memory.angular = rgAddScaled(rgAddScaled(memory.angular, lambda[4], t1), lambda[5], t2);
    }
    return memory;
}

rgResult rgWorld_StoreImpulses(rgWorld* world) {
    rgMemory* next = &world->warmStart.memories[1];
    const rgRows* rows = &world->constraints.rows;
    rgResult result = rgReserve(
        &world->heap.allocator, (void**)&next->contacts, &next->contactCapacity, 0,
        world->contacts.pointCount + rgWorld_DormantContacts(world), sizeof(rgContactMemory));
    if (result != rg_ok) {
        return result;
    }
    next->contactCount = world->contacts.pointCount;
    for (int i = 0; i < next->pairCount; ++i) {
        if (world->sleep.treeCount == 0 || !rgWorld_CopyDormant(world, &next->pairs[i])) {
            next->pairs[i].firstContact = next->pairs[i].contactCount = 0;
        }
    }
    for (int i = 0; i < world->contacts.pointCount; ++i) {
        const rgContactPoint* point = &world->contacts.points[i];
        rgPairMemory* pair = &next->pairs[point->pair];
        pair->firstContact = pair->contactCount == 0 ? i : pair->firstContact;
        pair->contactCount += 1;
        next->contacts[i] = rgPointMemory(point, rows->lambda + point->firstRow);
        next->contacts[i].anchor = rgNextBristle(world, point);
    }
    for (int i = 0; i < next->pairCount; ++i) {
        if (next->pairs[i].contactCount == 0) {
            next->pairs[i].energyTank = 0; // its springs start without energy
        }
    }
    rgUpdateEnergyTanks(world);
    memset(world->warmStart.nextImpulse, 0, (size_t)world->warmStart.slots.count * sizeof(double));
    for (int r = 0; r < rows->rowCount; ++r) {
        if (rows->sources[r].slot >= 0) {
            world->warmStart.nextImpulse[rows->sources[r].slot] = rows->lambda[r];
        }
    }
    return rg_ok;
}

double rgConstraintSet_ProjectionImpulse(const rgConstraintSet* constraints,
                                         const rgContactSet* contacts, int row) {
    const rgRowSource* source = &constraints->rows.sources[row];
    return source->kind == -1 ? contacts->points[source->index].projection : 0;
}

void rgWarmStart_StoreProjectionImpulse(rgWarmStart* warmStart, rgConstraintSet* constraints,
                                        int row, double impulse) {
    const rgRowSource* source = &constraints->rows.sources[row];
    if (source->kind == -1) { // contacts are kept in the order of points
        warmStart->memories[1].contacts[source->index].projection = impulse;
    }
}

void rgWarmStart_Commit(rgWarmStart* warmStart, rgState* state) {
    rgMemory last = warmStart->memories[0];
    warmStart->memories[0] = warmStart->memories[1];
    warmStart->memories[1] = last;
    memcpy(state->impulse, warmStart->nextImpulse, (size_t)warmStart->slots.count * sizeof(double));
}

void rgWarmStart_ClearImpulses(rgWarmStart* warmStart, rgState* state) {
    warmStart->memories[0].pairCount = warmStart->memories[0].contactCount = 0;
    memset(state->impulse, 0, (size_t)warmStart->slots.count * sizeof(double));
}

bool rgWarmStart_HoldsPoints(const rgWarmStart* warmStart, const rgContactSet* contacts) {
    const rgMemory* memory = &warmStart->memories[0];
    bool holds = memory->contactCount >= contacts->pointCount;
    for (int i = 0; i < contacts->pointCount && holds; ++i) {
        holds = memory->contacts[i].feature == contacts->points[i].feature;
    }
    return holds;
}

void rgWarmStart_SetImpulse(rgWarmStart* warmStart, const rgContactSet* contacts, int point,
                            const double impulse[6]) {
    rgContactMemory* memory = &warmStart->memories[0].contacts[point];
    rgContactMemory made = rgPointMemory(&contacts->points[point], impulse);
    memory->linear = made.linear;
    memory->angular = made.angular;
}

void rgWarmStart_ClearEnergyTanks(rgWarmStart* warmStart) {
    for (int i = 0; i < warmStart->memories[0].pairCount; ++i) {
        warmStart->memories[0].pairs[i].energyTank = -1;
    }
}

void rgWarmStart_Plan(rgWarmStart* warmStart, const rgModel* model) {
    rgSlots slots = {.limit = 0};
    slots.friction = slots.limit + 2 * model->info.jointCount;
    slots.tendon = slots.friction + model->vCount;
    slots.equality = slots.tendon + RG_TENDON_ROWS * model->info.tendonCount;
    slots.actuator = slots.equality + 6 * model->info.equalityCount;
    slots.count = slots.actuator + model->info.actuatorCount;
    warmStart->slots = slots;
}

bool rgWarmStart_Create(rgWarmStart* warm, rgHeap* heap) {
    bool good = true;
    warm->nextImpulse = rgHeap_Allocate(heap, warm->slots.count, sizeof(double), &good);
    return good;
}

void rgWarmStart_Destroy(rgWarmStart* warmStart, const rgAllocator* allocator) {
    for (int i = 0; i < 2; ++i) {
        rgRelease(allocator, warmStart->memories[i].pairs);
        rgRelease(allocator, warmStart->memories[i].contacts);
    }
}
