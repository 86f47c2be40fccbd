// How far from straight the points of a contact move in a step. Velocities are carried along
// straight lines, but what turns goes round: two points that turn together would come apart by half
// the square of the angle. docs/theory/constraints.md (22), (23).
#include "world/world.h"

#define RG_ARC_SMALL   1e-12 // [m/s], below which all is straight
#define RG_ARC_ROLLING 1e-6  // [rad/s], above which bodies roll or pivot on each other
#define RG_ARC_LINEAR  1e-7  // [m/s], up to which the second derivative is enough

// One side of a contact.
typedef struct rgSide {
    int link;
    rgVec3 arm;      // from the reference point of the tree
    rgVec3 velocity; // of the material point
    rgVec3 spin;
} rgSide;

static rgSide rgWorld_Side(const rgWorld* world, int link, rgVec3 position) {
    const rgDynamics* d = world->dynamics;
    const rgSpatial* V = &d->velocities[link];
    rgVec3 arm = rgSub(position, rgDynamics_LinkOrigin(d, link));
    return (rgSide){link, arm, rgAdd(V->linear, rgCross(V->angular, arm)), V->angular};
}

// Acceleration of a point of a link while nothing pushes: v stays as it is, and a free body moves
// with its centre.
rgVec3 rgWorld_PointBias(const rgWorld* world, int link, rgVec3 position) {
    const rgDynamics* d = world->dynamics;
    const rgSpatial *V = &d->velocities[link], *B = &d->biases[link];
    rgVec3 arm = rgSub(position, rgDynamics_LinkOrigin(d, link));
    int tree = world->model->links[link].tree;
    if (tree >= 0 && world->isFreeBody[tree]) {
        rgVec3 center = rgRot_Apply(&d->poses[link].r, world->model->links[link].center);
        return rgCross(V->angular, rgCross(V->angular, rgSub(arm, center)));
    }
    rgVec3 velocity = rgAdd(V->linear, rgCross(V->angular, arm));
    return rgAdd(rgAdd(B->linear, rgCross(B->angular, arm)), rgCross(V->angular, velocity));
}

// (22) The same to all orders: where the point is after a step with v, less where it would be on a
// straight line, over the step.
static rgVec3 rgSide_Arc(const rgWorld* world, const rgSide* side) {
    const rgDynamics *now = world->dynamics, *next = world->readout->start;
    const rgLinkPose *from = &now->poses[side->link], *to = &next->poses[side->link];
    rgVec3 local = rgRot_ApplyBack(&from->r, rgSub(side->arm, from->p));
    rgVec3 origin =
        rgSub(rgDynamics_LinkOrigin(next, side->link), rgDynamics_LinkOrigin(now, side->link));
    rgVec3 moved = rgAdd(origin, rgSub(rgAdd(to->p, rgRot_Apply(&to->r, local)), side->arm));
    return rgSub(rgScale(1 / world->dt, moved), side->velocity);
}

// ---- (23) contacts that move over the surfaces of bodies that roll

static rgShapeKind rgWorld_ShapeKind(const rgWorld* world, int collider) {
    return world->model->shapes[world->colliders[collider].shape].kind;
}

// Of shapes whose points keep a distance from something fixed in the body; 0 for others.
static double rgWorld_Roundness(const rgWorld* world, int collider) {
    rgShapeKind kind = rgWorld_ShapeKind(world, collider);
    bool round = kind == rg_shapeSphere || kind == rg_shapeCapsule;
    return round ? world->model->shapes[world->colliders[collider].shape].size.x : 0;
}

static rgVec3 rgSide_VelocityAt(const rgSide* side, double offset, rgVec3 normal) {
    return rgAddScaled(side->velocity, offset, rgCross(side->spin, normal));
}

// The centre of a round side stays in its body, the normal turns with a flat side or with the line
// between two centres.
static rgVec3 rgWorld_RollingVelocity(const rgPoint* point, const rgSide* A, const rgSide* B,
                                      double radiusA, double radiusB) {
    rgVec3 n = point->normal;
    rgVec3 centerA = rgSide_VelocityAt(A, -radiusA, n), centerB = rgSide_VelocityAt(B, radiusB, n);
    if (radiusA > 0 && radiusB > 0) {
        rgVec3 turn = rgScale(1 / (radiusA + radiusB), rgSub(centerB, centerA));
        turn = rgAddScaled(turn, -rgDot(turn, n), n);
        return rgAddScaled(centerB, -radiusB, turn);
    }
    return radiusB > 0 ? rgAddScaled(centerB, -radiusB, rgCross(A->spin, n))
                       : rgAddScaled(centerA, radiusA, rgCross(B->spin, n));
}

// Other smooth shapes: from where the contact was in the last step. False for one that is new or
// has jumped.
static bool rgWorld_SeenVelocity(const rgWorld* world, const rgPoint* point, const rgSide* A,
                                 const rgSide* B, rgVec3* velocity) {
    const rgContactMemory* memory = rgWorld_Recall(world, point);
    if (memory == NULL) {
        return false;
    }
    double reach = RG_MIN(world->colliders[point->colliderA].radius,
                          world->colliders[point->colliderB].radius);
    double rolling = rgLength(rgSub(B->spin, A->spin)) * reach;
    double most = RG_MAX(rgLength(A->velocity), rgLength(B->velocity)) + rolling;
    *velocity = rgScale(1 / world->dt, rgSub(point->position, memory->point));
    return rgLength(*velocity) <= 2 * most;
}

static bool rgWorld_IsCurved(const rgWorld* world, int collider) {
    rgShapeKind kind = rgWorld_ShapeKind(world, collider);
    return kind == rg_shapeCylinder || kind == rg_shapeEllipsoid;
}

// What the motion of the contact over the surfaces adds. False where it is not known.
static bool rgWorld_AddRolling(const rgWorld* world, const rgPoint* point, const rgSide* A,
                               const rgSide* B, rgVec3* arc) {
    double radiusA = rgWorld_Roundness(world, point->colliderA);
    double radiusB = rgWorld_Roundness(world, point->colliderB);
    bool curved =
        rgWorld_IsCurved(world, point->colliderA) || rgWorld_IsCurved(world, point->colliderB);
    rgVec3 mean = rgScale(0.5, rgAdd(A->velocity, B->velocity)), contact = mean;
    bool known = true;
    if (curved) {
        known = rgWorld_SeenVelocity(world, point, A, B, &contact);
    } else if (radiusA > 0 || radiusB > 0) {
        contact = rgWorld_RollingVelocity(point, A, B, radiusA, radiusB);
    }
    rgVec3 over = rgCross(rgSub(B->spin, A->spin), rgSub(contact, mean));
    *arc = rgAddScaled(*arc, 0.5 * world->dt, over);
    return known;
}

static rgVec3 rgWorld_PointArc(const rgWorld* world, const rgPoint* point, bool exact) {
    rgSide A = rgWorld_Side(world, world->colliders[point->colliderA].link, point->position);
    rgSide B = rgWorld_Side(world, world->colliders[point->colliderB].link, point->position);
    rgVec3 arc = exact ? rgSub(rgSide_Arc(world, &B), rgSide_Arc(world, &A))
                       : rgSub(rgWorld_PointBias(world, B.link, point->position),
                               rgWorld_PointBias(world, A.link, point->position));
    arc = exact ? arc : rgScale(0.5 * world->dt, arc); // (22)
    if (rgLength(rgSub(B.spin, A.spin)) > RG_ARC_ROLLING &&
        !rgWorld_AddRolling(world, point, &A, &B, &arc)) {
        return rgVec(0, 0, 0);
    }
    rgVec3 slip = rgSub(rgSub(B.velocity, A.velocity), arc);
    slip = rgAddScaled(slip, -rgDot(slip, point->normal), point->normal);
    arc = rgAddScaled(arc, -0.25 * world->dt, rgCross(rgAdd(A.spin, B.spin), slip));
    return rgLength(arc) > RG_ARC_SMALL ? arc : rgVec(0, 0, 0);
}

void rgSetArcs(rgWorld* world) {
    double most = 0;
    for (int i = 0; i < world->pointCount; ++i) {
        rgPoint* point = &world->points[i];
        point->arc = rgWorld_PointArc(world, point, false);
        most = RG_MAX(most, rgLength(point->arc));
    }
    if (!(most > RG_ARC_LINEAR)) {
        return;
    }
    rgWorld_Move(world, world->startQ, world->startV, world->dt, world->nextQ);
    rgDynamics_SetPositions(world->readout->start, world->nextQ); // readers come after the step
    for (int i = 0; i < world->pointCount; ++i) {
        world->points[i].arc = rgWorld_PointArc(world, &world->points[i], true);
    }
}

void rgAddArcs(rgWorld* world) {
    for (int i = 0; i < world->pointCount; ++i) {
        const rgPoint* point = &world->points[i];
        world->rows.bias[point->firstRow] += rgDot(point->arc, point->tangent1);
        world->rows.bias[point->firstRow + 1] += rgDot(point->arc, point->tangent2);
    }
}
