// Curvature of the paths of contact points. Velocities continue along straight lines, but turning
// bodies move their points on arcs: two points that turn together would come apart by half the
// square of the angle. constraints.23, constraints.24.
#include "world/world.h"

// One side of a contact.
typedef struct rgSide {
    int link;
    rgVec3 arm;      // from the reference point of the tree
    rgVec3 velocity; // of the material point
    rgVec3 spin;
} rgSide;

static rgSide rgKinematics_Side(const rgKinematics* kinematics, int link, rgVec3 position) {
    const rgDynamics* d = kinematics->dynamics;
    const rgSpatial* V = &d->velocities[link];
    rgVec3 arm = rgSub(position, rgDynamics_LinkOrigin(d, link));
    return (rgSide){link, arm, rgAdd(V->linear, rgCross(V->angular, arm)), V->angular};
}

// Acceleration of a point of a link without forces: v is constant, and a free body moves with its
// centre.
rgVec3 rgKinematics_PointBias(const rgKinematics* kinematics, int link, rgVec3 position) {
    if (link == 0) {
        return rgVec(0, 0, 0);
    }
    const rgDynamics* d = kinematics->dynamics;
    const rgSpatial *V = &d->velocities[link], *B = &d->biases[link];
    rgVec3 arm = rgSub(position, rgDynamics_LinkOrigin(d, link));
    int tree = kinematics->dynamics->model->links[link].tree;
    if (tree >= 0 && kinematics->isFreeBody[tree]) {
        rgVec3 center =
            rgRot_Apply(&d->poses[link].r, kinematics->dynamics->model->links[link].center);
        return rgCross(V->angular, rgCross(V->angular, rgSub(arm, center)));
    }
    rgVec3 velocity = rgAdd(V->linear, rgCross(V->angular, arm));
    return rgAdd(rgAdd(B->linear, rgCross(B->angular, arm)), rgCross(V->angular, velocity));
}

// constraints.23 to all orders: the point after a step with v, less the end of a straight line,
// over the step.
static rgVec3 rgSide_CurvatureSlip(const rgKinematics* kinematics, const rgReadout* readout,
                                   double dt, const rgSide* side) {
    if (side->link == 0) {
        return rgVec(0, 0, 0);
    }
    const rgDynamics *now = kinematics->dynamics, *next = readout->start;
    const rgLinkPose *from = &now->poses[side->link], *to = &next->poses[side->link];
    rgVec3 local = rgRot_ApplyBack(&from->r, rgSub(side->arm, from->p));
    rgVec3 origin =
        rgSub(rgDynamics_LinkOrigin(next, side->link), rgDynamics_LinkOrigin(now, side->link));
    rgVec3 moved = rgAdd(origin, rgSub(rgAdd(to->p, rgRot_Apply(&to->r, local)), side->arm));
    return rgSub(rgScale(1 / dt, moved), side->velocity);
}

// constraints.24: Share of rolling: the point of contact of rolling bodies moves over their
// surfaces and has no curvature slip; points that touch for an instant have it.
static double rgContactSet_RollingShare(const rgContactSet* contacts,
                                        const rgKinematics* kinematics,
                                        const rgContactPoint* point) {
    int A = contacts->colliders[point->colliderA].link,
        B = contacts->colliders[point->colliderB].link;
    if (kinematics->dynamics->model->links[A].tree == kinematics->dynamics->model->links[B].tree) {
        return 0; // joints may rule out the slip: with friction such a contact has no solution
    }
    const rgSpatial* velocities = kinematics->dynamics->velocities;
    rgVec3 a = velocities[contacts->colliders[point->colliderA].link].angular;
    rgVec3 b = velocities[contacts->colliders[point->colliderB].link].angular;
    double apart = rgLength(rgSub(b, a)), both = rgLength(a) + rgLength(b);
    return both > 0 ? RG_MAX(1 - RG_TOGETHER_FACTOR * apart / both, 0) : 1;
}

static rgVec3 rgWorld_PointCurvatureSlip(const rgWorld* world, const rgContactPoint* point,
                                         double together, bool exact) {
    rgSide A = rgKinematics_Side(&world->kinematics,
                                 world->contacts.colliders[point->colliderA].link, point->position);
    rgSide B = rgKinematics_Side(&world->kinematics,
                                 world->contacts.colliders[point->colliderB].link, point->position);
    rgVec3 arc =
        exact
            ? rgSub(
                  rgSide_CurvatureSlip(&world->kinematics, world->readout, world->settings.dt, &B),
                  rgSide_CurvatureSlip(&world->kinematics, world->readout, world->settings.dt, &A))
            : rgSub(rgKinematics_PointBias(&world->kinematics, B.link, point->position),
                    rgKinematics_PointBias(&world->kinematics, A.link, point->position));
    arc = exact ? arc : rgScale(0.5 * world->settings.dt, arc); // constraints.23
    rgVec3 slip = rgSub(rgSub(B.velocity, A.velocity), arc);
    slip = rgAddScaled(slip, -rgDot(slip, point->normal), point->normal);
    arc = rgAddScaled(arc, -0.25 * world->settings.dt, rgCross(rgAdd(A.spin, B.spin), slip));
    arc = rgScale(together, arc);
    return rgLength(arc) > RG_ROUNDING ? arc : rgVec(0, 0, 0);
}

// Points of one pair that all stick can share one arc alone. Returns the largest arc of them
// before.
static double rgWorld_SetPairCurvatureSlips(const rgWorld* world, rgContactPoint* points, int count,
                                            bool exact) {
    double together = rgContactSet_RollingShare(&world->contacts, &world->kinematics, points),
           most = 0;
    rgVec3 sum = rgVec(0, 0, 0);
    for (int k = 0; k < count; ++k) {
        rgVec3 arc = together > 0 ? rgWorld_PointCurvatureSlip(world, &points[k], together, exact)
                                  : rgVec(0, 0, 0);
        points[k].curvatureSlip = arc;
        points[k].rollingShare = together;
        sum = rgAdd(sum, arc);
        most = RG_MAX(most, rgLengthSquared(arc));
    }
    for (int k = 0; k < count && count > 1 && most > 0; ++k) {
        points[k].curvatureSlip = rgScale(1.0 / count, sum);
    }
    return sqrt(most);
}

// Bound: the acceleration of a point of a chain is at most twice the sum of its rates times the sum
// of its speeds. Paths are straight where it is small.
static bool rgKinematics_IsStraight(const rgKinematics* kinematics, double dt) {
    double rates = 0, speeds = 0;
    for (int i = 0; i < kinematics->dynamics->model->vCount; ++i) {
        rates += fabs(kinematics->v[i]);
        speeds += fabs(kinematics->v[i]) * RG_MAX(kinematics->leverArm[i], 1);
    }
    return 2 * dt * rates * speeds < RG_ROUNDING;
}

void rgSetCurvatureSlips(rgWorld* world) {
    rgContactPoint* points = world->contacts.points;
    bool curved = false;
    if (rgKinematics_IsStraight(&world->kinematics, world->settings.dt)) {
        for (int i = 0; i < world->contacts.pointCount; ++i) {
            points[i].curvatureSlip = rgVec(0, 0, 0);
            points[i].rollingShare = 0;
        }
        return;
    }
    for (int i = 0; i < world->contacts.pointCount && !curved; i += points[i].pointCount) {
        double most = rgWorld_SetPairCurvatureSlips(world, &points[i], points[i].pointCount, false);
        curved = most > RG_CREEP_SPEED;
    }
    if (!curved) {
        return;
    }
    rgKinematics_Integrate(&world->kinematics, world->kinematics.q, world->kinematics.v,
                           world->settings.dt, world->next.q);
    rgKinematics_PlaceAhead(&world->kinematics, world->settings.dt, world->readout->start);
    rgDynamics_SetPositions(world->readout->start, world->next.q); // readers come after the step
    for (int i = 0; i < world->contacts.pointCount; i += points[i].pointCount) {
        rgWorld_SetPairCurvatureSlips(world, &points[i], points[i].pointCount, true);
    }
}

// Normal part of constraints.23 of a contact that does not roll.
double rgContactPoint_NormalArc(const rgContactPoint* point) {
    return point->isSoft || point->rolls ? 0 : rgDot(point->curvatureSlip, point->normal);
}

// A row whose bias opens the contact gives way as one that a kinematic body closes
// (projection.10): bodies that cannot get away have no rigid solution.
static void rgConstraintSet_AddNormalArc(rgConstraintSet* constraints,
                                         const rgKinematics* kinematics, int row, double arc) {
    rgRows* rows = &constraints->rows;
    rows->bias[row] += arc;
    if (arc < 0 && rows->bias[row] < 0) {
        double G;
        rgRows_Delassus(rows, kinematics, row, 1, &G);
        rows->compliance[row] = RG_SQUEEZE_COMPLIANCE_RATIO * G;
    }
}

void rgAddCurvatureSlips(rgWorld* world) {
    double* bias = world->constraints.rows.bias;
    for (int i = 0; i < world->contacts.pointCount; ++i) {
        const rgContactPoint* point = &world->contacts.points[i];
        int r = point->firstRow;
        bias[r] += rgDot(point->curvatureSlip, point->tangent1);
        bias[r + 1] += rgDot(point->curvatureSlip, point->tangent2);
        rgConstraintSet_AddNormalArc(&world->constraints, &world->kinematics, r + 2,
                                     rgContactPoint_NormalArc(point));
        for (int k = r; k < r + 2 && point->rollingShare > 0; ++k) {
            bias[k] += point->rollingShare *
                       rgConstraintSet_RowProjectionChange(&world->constraints, &world->kinematics,
                                                           &world->fast, k,
                                                           NULL); // fast trees: free.12
        }
    }
}
