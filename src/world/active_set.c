// Active set of the contacts. Points that the free motion leaves open are inactive: they have no
// rows, and v+ is tried on them. Points that v+ would close become active, and the step is solved
// again. step.5.
#include "world/world.h"

// Relative twist of the pair of the last point.
typedef struct rgPassingPair {
    int pair;
    double ahead;
    rgRelativeTwist twist;
} rgPassingPair;

static double rgContactSet_NextGap(const rgContactSet* contacts, const rgKinematics* kinematics,
                                   const rgSettings* settings, const rgContactPoint* point,
                                   rgPassingPair* of) {
    if (of->pair != point->pair) {
        int linkA = contacts->colliders[point->colliderA].link;
        int linkB = contacts->colliders[point->colliderB].link;
        *of = (rgPassingPair){
            point->pair, rgKinematics_TimeAhead(kinematics, settings, linkA, linkB),
            rgKinematics_RelativeTwist(kinematics, kinematics->linkVelocities, linkA, linkB)};
    }
    double rate = rgDot(point->normal, rgRelativeTwist_At(&of->twist, point->position));
    return point->gap + of->ahead * rate + point->gapCorrection;
}

// Springs that a point compressed at the start of the step belong to the energy of its pair.
static bool rgWorld_LeavesSpring(const rgWorld* world, const rgContactPoint* point) {
    return world->monitor.stores &&
           rgContactSet_StraightGap(&world->contacts, &world->kinematics, &world->settings, point) >
               2 * point->gap;
}

// Test by the gap `next` that the free motion leaves. A bristle that was stretched relaxes through
// the rows of its point, which stays active.
static bool rgWorld_MayBeInactive(const rgWorld* world, const rgContactPoint* point, double next) {
    double fall = rgLength(world->settings.gravity) * world->settings.dt * world->settings.dt;
    if (point->gap <= 0 || point->rolls || next <= fall || world->contacts.keepsOpen) {
        return false;
    }
    const rgContactMemory* last = rgWarmStart_ContactMemory(&world->warmStart, point);
    bool stretched = last != NULL && rgLengthSquared(last->anchor) > 0;
    return !stretched && !rgWorld_LeavesSpring(world, point);
}

// Number of active points of each pair.
static void rgCountPoints(rgContactSet* contacts) {
    for (int i = 0; i < contacts->pointCount;) {
        int end = i + 1;
        while (end < contacts->pointCount &&
               contacts->points[end].pair == contacts->points[i].pair) {
            ++end;
        }
        for (int count = end - i; i < end; ++i) {
            contacts->points[i].pointCount = count;
        }
    }
}

rgResult rgWorld_DeactivateContacts(rgWorld* world) {
    world->contacts.inactiveCount = 0;
    rgResult result = rgReserve(&world->heap.allocator, (void**)&world->contacts.inactive,
                                &world->contacts.inactiveCapacity, 0, world->contacts.pointCapacity,
                                sizeof(rgContactPoint));
    if (result != rg_ok || world->contacts.pointCount == 0) {
        return result;
    }
    rgKinematics_SetLinkVelocities(&world->kinematics, world->free.v);
    rgPassingPair of = {.pair = -1};
    int kept = 0;
    for (int i = 0; i < world->contacts.pointCount; ++i) {
        rgContactPoint* point = &world->contacts.points[i];
        if (rgWorld_MayBeInactive(world, point,
                                  rgContactSet_NextGap(&world->contacts, &world->kinematics,
                                                       &world->settings, point, &of))) {
            world->contacts.inactive[world->contacts.inactiveCount++] = *point;
        } else if (kept++ < i) {
            world->contacts.points[kept - 1] = *point;
        }
    }
    world->contacts.pointCount = kept;
    if (world->contacts.inactiveCount > 0) {
        rgCountPoints(&world->contacts);
    }
    return rg_ok;
}

bool rgPointBefore(const rgContactPoint* a, const rgContactPoint* b) {
    return a->pair != b->pair ? a->pair < b->pair : a->place < b->place;
}

bool rgContactSet_Activate(rgContactSet* contacts, const rgKinematics* kinematics,
                           const rgSettings* settings, int round) {
    bool any = false;
    if (contacts->inactiveCount == 0) {
        return false;
    }
    rgPassingPair of = {.pair = -1};
    for (int i = 0; i < contacts->inactiveCount && !any; ++i) {
        any = rgContactSet_NextGap(contacts, kinematics, settings, &contacts->inactive[i], &of) <
              -RG_ROUNDING;
    }
    int left = 0, count = contacts->inactiveCount;
    for (int i = 0; i < count && any; ++i) {
        rgContactPoint point = contacts->inactive[i];
        if (round < RG_REVISE_PASSES &&
            rgContactSet_NextGap(contacts, kinematics, settings, &point, &of) >= -RG_ROUNDING) {
            contacts->inactive[left++] = point;
            continue;
        }
        point.hitSpeed = RG_MIN(
            rgDot(point.normal, rgKinematics_PointVelocity(kinematics, contacts, &point)), 0);
        int at = contacts->pointCount++;
        for (; at > 0 && rgPointBefore(&point, &contacts->points[at - 1]); --at) {
            contacts->points[at] = contacts->points[at - 1];
        }
        contacts->points[at] = point;
    }
    if (any) {
        contacts->inactiveCount = left;
        rgCountPoints(contacts);
    }
    return any;
}
