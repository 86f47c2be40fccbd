// Bristles: elastic tangential displacements of sticking points. They move with the contact frame,
// give bias and compliance of the tangential rows, and are dragged along by slip.
// constraints.19-22.
#include "math/sincos.h"
#include "world/world.h"

static bool rgHasBristle(const rgContactPoint* point) {
    return point->tangential.stiffness > 0 && point->mu > 0;
}

// constraints.19: The smallest rotation from one normal to the next, then half the turn of either
// body about it. Lengths stay.
static rgVec3 rgTurnBristle(const rgContactSet* contacts, const rgKinematics* kinematics, double dt,
                            const rgContactPoint* point, const rgContactMemory* from) {
    rgVec3 s = from->anchor, n = point->normal;
    double together = 1 + rgDot(from->normal, n);
    if (!(together > RG_ROUNDING)) {
        return rgVec(0, 0, 0); // turned over
    }
    s = rgAddScaled(s, -rgDot(s, n) / together, rgAdd(from->normal, n));
    const rgSpatial* velocities = kinematics->dynamics->velocities;
    int linkA = contacts->colliders[point->colliderA].link;
    int linkB = contacts->colliders[point->colliderB].link;
    rgVec3 turning = rgAdd(velocities[linkA].angular, velocities[linkB].angular);
    double angle = 0.5 * dt * rgDot(turning, n), sine, cosine;
    rgSinCos(1, &angle, &sine, &cosine);
    return rgAddScaled(rgScale(cosine, s), sine, rgCross(n, s));
}

// constraints.21: The law of the normal row, along both tangents.
static void rgSetBristleLaw(rgConstraintSet* constraints, double dt, const rgContactPoint* point) {
    rgVec3 tangents[2] = {point->tangent1, point->tangent2};
    for (int k = 0; k < 2; ++k) {
        rgLaw law = rgBilateralLaw(dt, rgDot(point->anchor, tangents[k]), point->tangential);
        constraints->rows.bias[point->firstRow + k] = law.bias;
        constraints->rows.compliance[point->firstRow + k] = law.compliance;
    }
}

void rgAddBristles(rgWorld* world) {
    for (int i = 0; i < world->contacts.pointCount; ++i) {
        rgContactPoint* point = &world->contacts.points[i];
        const rgContactMemory* memory =
            rgHasBristle(point) ? rgWarmStart_ContactMemory(&world->warmStart, point) : NULL;
        if (memory != NULL) {
            point->anchor = rgTurnBristle(&world->contacts, &world->kinematics, world->settings.dt,
                                          point, memory);
        }
        if (rgHasBristle(point)) {
            rgSetBristleLaw(&world->constraints, world->settings.dt, point);
        }
    }
}

// constraints.22: A sticking point moves elastically. The bristle of a sliding point transmits,
// with its damper, the friction force, which is zero without a normal force.
rgVec3 rgNextBristle(const rgWorld* world, const rgContactPoint* point) {
    const double* lambda = world->constraints.rows.lambda + point->firstRow;
    if (!rgHasBristle(point)) {
        return rgVec(0, 0, 0);
    }
    double dt = world->settings.dt, d = point->tangential.damping;
    double gain = dt * point->tangential.stiffness + d;
    double ahead = rgKinematics_TimeAhead(&world->kinematics, &world->settings,
                                          world->contacts.colliders[point->colliderA].link,
                                          world->contacts.colliders[point->colliderB].link);
    double s[2] = {rgDot(point->anchor, point->tangent1), rgDot(point->anchor, point->tangent2)};
    double arc[2] = {rgDot(point->curvatureSlip, point->tangent1),
                     rgDot(point->curvatureSlip, point->tangent2)};
    double next[2], sticking[2];
    for (int k = 0; k < 2; ++k) {
        double slip =
            rgRows_Speed(&world->constraints.rows, point->firstRow + k, world->next.v) + arc[k];
        next[k] = s[k] + ahead * slip;
        sticking[k] = d * s[k] - gain * next[k];
    }
    double length = hypot(sticking[0], sticking[1]), bound = point->mu * RG_MAX(lambda[2], 0);
    for (int k = 0; k < 2 && length > bound; ++k) {
        next[k] = (d * s[k] - sticking[k] * (bound / length)) / gain;
    }
    return rgAddScaled(rgScale(next[0], point->tangent1), next[1], point->tangent2);
}
