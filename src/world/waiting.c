// Points that cannot close wait: they get no rows, and the velocity after the step is tried on
// them. What it would close takes part, and the step is solved again. docs/theory/step.md (15).
#include "world/world.h"

#define RG_WAITING_ROUNDS 3     // of solving again, after which all that wait take part
#define RG_WAITING_FALLS  4     // what carried may lift off by so many g dt^2 and carry again
#define RG_WAITING_NEW    0.25  // and what did not: contacts seldom press it down by more
#define RG_WAITING_CLOSED 1e-12 // [m] that a gap may be short of: rounding

void rgWorld_RateLinks(const rgWorld* world, const double* v) {
    const rgModel* model = world->model;
    const rgSpatial* axes = world->dynamics->axes;
    rgSpatial* out = world->linkVelocities;
    out[0] = (rgSpatial){0};
    for (int i = 1; i < model->linkCount; ++i) {
        const rgLink* link = &model->links[i];
        rgSpatial sum = out[link->parent];
        for (int k = link->v; k < link->v + link->vCount; ++k) {
            sum.linear = rgAddScaled(sum.linear, v[k], axes[k].linear);
            sum.angular = rgAddScaled(sum.angular, v[k], axes[k].angular);
        }
        out[i] = sum;
    }
    for (int i = model->linkCount; i < model->linkCount + model->kinematicCount; ++i) {
        out[i] = world->dynamics->velocities[i];
    }
}

static inline rgVec3 rgWorld_SideVelocity(const rgWorld* world, int collider, rgVec3 position) {
    int link = world->colliders[collider].link;
    if (link == 0) {
        return rgVec(0, 0, 0);
    }
    const rgSpatial* V = &world->linkVelocities[link];
    rgVec3 arm = rgSub(position, rgDynamics_LinkOrigin(world->dynamics, link));
    return rgAdd(V->linear, rgCross(V->angular, arm));
}

rgVec3 rgWorld_PointRate(const rgWorld* world, const rgPoint* point) {
    return rgSub(rgWorld_SideVelocity(world, point->colliderB, point->position),
                 rgWorld_SideVelocity(world, point->colliderA, point->position));
}

double rgWorld_StraightGap(const rgWorld* world, const rgPoint* point) {
    int linkA = world->colliders[point->colliderA].link;
    int linkB = world->colliders[point->colliderB].link;
    return point->gap + rgWorld_TimeAhead(world, linkA, linkB) *
                            rgDot(point->normal, rgWorld_PointRate(world, point));
}

// The pair that the last point was of.
typedef struct rgPassingPair {
    int pair;
    double ahead;
    rgPassing passing;
} rgPassingPair;

static double rgWorld_NextGap(const rgWorld* world, const rgPoint* point, rgPassingPair* of) {
    if (of->pair != point->pair) {
        int linkA = world->colliders[point->colliderA].link;
        int linkB = world->colliders[point->colliderB].link;
        *of = (rgPassingPair){point->pair, rgWorld_TimeAhead(world, linkA, linkB),
                              rgWorld_Passing(world, world->linkVelocities, linkA, linkB)};
    }
    double rate = rgDot(point->normal, rgPassing_At(&of->passing, point->position));
    return point->gap + of->ahead * rate + point->bend;
}

// Springs that it compressed when the step began count among those of its pair.
static bool rgWorld_LeavesSpring(const rgWorld* world, const rgPoint* point) {
    return world->watch.stores && rgWorld_StraightGap(world, point) > 2 * point->gap;
}

// next: the gap that the free motion leaves. A spring that was stretched while the point stuck goes
// back by the rows of that point.
static bool rgWorld_MayWait(const rgWorld* world, const rgPoint* point, double next) {
    double fall = rgLength(world->gravity) * world->dt * world->dt;
    if (point->gap <= 0 || next <= RG_WAITING_NEW * fall) {
        return false;
    }
    const rgContactMemory* last = rgWorld_Recall(world, point);
    bool carried = last != NULL && rgLengthSquared(last->linear) > 0;
    bool stretched = last != NULL && rgLengthSquared(last->anchor) > 0;
    return (!carried || next > RG_WAITING_FALLS * fall) && !stretched &&
           !rgWorld_LeavesSpring(world, point);
}

// How many points of its pair stand beside each.
static void rgCountPoints(rgWorld* world) {
    for (int i = 0; i < world->pointCount;) {
        int end = i + 1;
        while (end < world->pointCount && world->points[end].pair == world->points[i].pair) {
            ++end;
        }
        for (int count = end - i; i < end; ++i) {
            world->points[i].pointCount = count;
        }
    }
}

rgResult rgWorld_ParkPoints(rgWorld* world) {
    world->waitingCount = 0;
    rgResult result = rgReserve(&world->allocator, (void**)&world->waiting, &world->waitingCapacity,
                                0, world->pointCapacity, sizeof(rgPoint));
    if (result != rg_ok || world->pointCount == 0) {
        return result;
    }
    rgWorld_RateLinks(world, world->freeV);
    rgPassingPair of = {.pair = -1};
    int kept = 0;
    for (int i = 0; i < world->pointCount; ++i) {
        rgPoint* point = &world->points[i];
        if (rgWorld_MayWait(world, point, rgWorld_NextGap(world, point, &of))) {
            world->waiting[world->waitingCount++] = *point;
        } else if (kept++ < i) {
            world->points[kept - 1] = *point;
        }
    }
    world->pointCount = kept;
    if (world->waitingCount > 0) {
        rgCountPoints(world);
    }
    return rg_ok;
}

bool rgPointBefore(const rgPoint* a, const rgPoint* b) {
    return a->pair != b->pair ? a->pair < b->pair : a->place < b->place;
}

bool rgWorld_AdmitPoints(rgWorld* world, int round) {
    bool any = false;
    if (world->waitingCount == 0) {
        return false;
    }
    rgPassingPair of = {.pair = -1};
    for (int i = 0; i < world->waitingCount && !any; ++i) {
        any = rgWorld_NextGap(world, &world->waiting[i], &of) < -RG_WAITING_CLOSED;
    }
    int left = 0, count = world->waitingCount;
    for (int i = 0; i < count && any; ++i) {
        rgPoint point = world->waiting[i];
        if (round < RG_WAITING_ROUNDS &&
            rgWorld_NextGap(world, &point, &of) >= -RG_WAITING_CLOSED) {
            world->waiting[left++] = point;
            continue;
        }
        int at = world->pointCount++;
        for (; at > 0 && rgPointBefore(&point, &world->points[at - 1]); --at) {
            world->points[at] = world->points[at - 1];
        }
        world->points[at] = point;
    }
    if (any) {
        world->waitingCount = left;
        rgCountPoints(world);
    }
    return any;
}
