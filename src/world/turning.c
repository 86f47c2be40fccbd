// Gaps are linear in the motion, but what an impact turns by a quarter radian within the step bends
// them by more than a plate is thick. Where plates turn that fast the ends of the paths count: the
// gap between the material points of a contact at the end of the step, along the normal as either
// body carries it. docs/theory/step.md (15).
#include "world/world.h"

#define RG_TURN_FAST   0.03 // [rad] in a step, from which paths are followed
#define RG_TURN_ROUNDS 6    // of solving again
#define RG_TURN_SHARE  0.1  // of the thinner shape's thickness, from which a bend counts
#define RG_TURN_CLOSE  0.02 // of the margin: a bend that is known as well as that

// A link from the start of the step to its end.
typedef struct rgTurn {
    rgVec3 origin, nextOrigin; // of the frame
    const rgRot *now, *next;
} rgTurn;

static rgTurn rgWorld_Turn(const rgWorld* world, int link) {
    const rgDynamics *d = world->dynamics, *e = world->readout->start;
    return (rgTurn){rgAdd(rgDynamics_LinkOrigin(d, link), d->poses[link].p),
                    rgAdd(rgDynamics_LinkOrigin(e, link), e->poses[link].p), &d->poses[link].r,
                    &e->poses[link].r};
}

static rgVec3 rgTurn_Vector(const rgTurn* turn, rgVec3 x) {
    return rgRot_Apply(turn->next, rgRot_ApplyBack(turn->now, x));
}

static rgVec3 rgTurn_Point(const rgTurn* turn, rgVec3 x) {
    return rgAdd(turn->nextOrigin, rgTurn_Vector(turn, rgSub(x, turn->origin)));
}

static double rgWorld_Thickness(const rgWorld* world, const rgPoint* point) {
    return RG_MIN(world->colliders[point->colliderA].thickness,
                  world->colliders[point->colliderB].thickness);
}

// What is missing at the end of the step from the gap that straight paths would leave.
static double rgPointBend(const rgWorld* world, const rgPoint* point) {
    rgTurn A = rgWorld_Turn(world, world->colliders[point->colliderA].link);
    rgTurn B = rgWorld_Turn(world, world->colliders[point->colliderB].link);
    rgVec3 n = point->normal, half = rgScale(0.5 * point->gap, n);
    rgVec3 apart = rgSub(rgTurn_Point(&B, rgAdd(point->position, half)),
                         rgTurn_Point(&A, rgSub(point->position, half)));
    double gap = RG_MIN(rgDot(rgTurn_Vector(&A, n), apart), rgDot(rgTurn_Vector(&B, n), apart));
    double straight = point->gap + world->dt * rgDot(n, rgWorld_PointVelocity(world, point));
    double least = RG_TURN_SHARE * rgWorld_Thickness(world, point);
    return gap - straight < -least ? gap - straight : 0;
}

static bool rgPointTurns(const rgWorld* world, const rgPoint* point) {
    if (!isfinite(rgWorld_Thickness(world, point))) {
        return false;
    }
    const rgSpatial* V = world->linkVelocities;
    rgVec3 a = V[world->colliders[point->colliderA].link].angular;
    rgVec3 b = V[world->colliders[point->colliderB].link].angular;
    double limit = RG_TURN_FAST / world->dt;
    return rgLengthSquared(a) > limit * limit || rgLengthSquared(b) > limit * limit;
}

static bool rgBendSome(const rgWorld* world, int count, rgPoint* points) {
    bool changed = false;
    for (int i = 0; i < count; ++i) {
        double bend = rgPointTurns(world, &points[i]) ? rgPointBend(world, &points[i]) : 0;
        changed = changed || fabs(bend - points[i].bend) > RG_TURN_CLOSE * world->def.margin;
        points[i].bend = bend;
    }
    return changed;
}

bool rgWorld_BendGaps(rgWorld* world, int round) {
    bool any = false;
    for (int i = 0; i < world->pointCount && !any; ++i) {
        any = rgPointTurns(world, &world->points[i]);
    }
    for (int i = 0; i < world->waitingCount && !any; ++i) {
        any = rgPointTurns(world, &world->waiting[i]);
    }
    if (!any || round > RG_TURN_ROUNDS) {
        return false;
    }
    rgWorld_Move(world, world->startQ, world->nextV, world->dt, world->nextQ);
    rgWorld_PlaceNext(world, world->readout->start);
    rgDynamics_SetPositions(world->readout->start, world->nextQ); // readers come after the step
    bool bent = rgBendSome(world, world->pointCount, world->points);
    return rgBendSome(world, world->waitingCount, world->waiting) || bent;
}
