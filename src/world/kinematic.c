// Kinematic bodies move as they are told: on at a velocity, or to a pose by the end of the next
// step. They have no coordinates; their velocity in a step is known before it, and enters contacts
// and loops as a drift beside J v. docs/theory/step.md (19), (20).
#include "world/world.h"

#include <string.h>

// What the state says of a kinematic link.
typedef enum rgGuideMode {
    rg_guideGoOn,  // at the velocity that it has
    rg_guideReach, // the target, by the end of the step
    rg_guideStop,
} rgGuideMode;

enum {
    rg_guidePose = 0,
    rg_guideVelocity = 7,
    rg_guideMode = 13,
    rg_guideTarget = 14,
    rg_guideChange = 21 // of the velocity in the last step
};
_Static_assert(rg_guideChange + 6 == RG_GUIDE_NUMBERS, "pose, velocity, mode, target, change");

static double* rgWorld_GuideNumbers(const rgWorld* world, int guide) {
    return world->state.kinematic + RG_GUIDE_NUMBERS * guide;
}

static rgPose rgLoadPose(const double* x) {
    return (rgPose){rgVec(x[0], x[1], x[2]), rgQuatNormalize((rgQuat){x[3], x[4], x[5], x[6]})};
}

static void rgStorePose(rgPose pose, double* x) {
    x[0] = pose.p.x, x[1] = pose.p.y, x[2] = pose.p.z;
    x[3] = pose.q.w, x[4] = pose.q.x, x[5] = pose.q.y, x[6] = pose.q.z;
}

static rgSpatial rgLoadSpatial(const double* x) {
    return (rgSpatial){rgVec(x[0], x[1], x[2]), rgVec(x[3], x[4], x[5])};
}

static void rgStoreSpatial(rgSpatial s, double* x) {
    x[0] = s.linear.x, x[1] = s.linear.y, x[2] = s.linear.z;
    x[3] = s.angular.x, x[4] = s.angular.y, x[5] = s.angular.z;
}

void rgWorld_ResetKinematic(rgWorld* world) {
    const rgModel* model = world->model;
    memset(world->state.kinematic, 0,
           (size_t)(RG_GUIDE_NUMBERS * model->kinematicCount) * sizeof(double));
    for (int i = 0; i < model->kinematicCount; ++i) {
        rgStorePose(model->kinematicPoses[i], rgWorld_GuideNumbers(world, i) + rg_guidePose);
        rgStorePose(model->kinematicPoses[i], rgWorld_GuideNumbers(world, i) + rg_guideTarget);
    }
}

// ---- a step

static rgPose rgMovePose(rgPose pose, rgSpatial velocity, double time) {
    rgQuat turn = rgQuatFromRotationVector(rgScale(time, velocity.angular));
    return (rgPose){rgAddScaled(pose.p, time, velocity.linear),
                    rgQuatNormalize(rgQuatMultiply(turn, pose.q))};
}

// (19), (26)
static rgGuide rgMakeGuide(const double* x, double dt, double lead) {
    rgPose pose = rgLoadPose(x + rg_guidePose);
    rgSpatial before = rgLoadSpatial(x + rg_guideVelocity), velocity = before;
    rgPose next = pose;
    double mode = x[rg_guideMode];
    if (mode == rg_guideStop) {
        velocity = (rgSpatial){0};
    } else if (mode == rg_guideReach) {
        next = rgLoadPose(x + rg_guideTarget);
        rgVec3 turn = rgRotationVectorFromQuat(rgQuatMultiply(next.q, rgQuatConjugate(pose.q)));
        velocity = (rgSpatial){rgScale(1 / dt, rgSub(next.p, pose.p)), rgScale(1 / dt, turn)};
    } else {
        next = rgMovePose(pose, velocity, dt);
    }
    rgGuide guide = {pose, next, before, velocity, velocity};
    if (lead > 0) {
        double change[6], trend[6];
        rgStoreSpatial(rgSpatialAddScaled(velocity, -1, before), change);
        rgTrend(x + rg_guideChange, change, 3, trend);
        rgTrend(x + rg_guideChange + 3, change + 3, 3, trend + 3);
        guide.pose = rgMovePose(pose, velocity, lead);
        guide.end = rgSpatialAdd(velocity, rgLoadSpatial(trend));
    }
    return guide;
}

void rgWorld_Guide(rgWorld* world) {
    double lead = world->integrator == rg_integratorMidpoint ? 0.5 * world->dt : 0;
    for (int i = 0; i < world->model->kinematicCount; ++i) {
        world->guides[i] = rgMakeGuide(rgWorld_GuideNumbers(world, i), world->dt, lead);
    }
    rgWorld_PlaceStart(world, world->dynamics);
}

// As before a first step: nothing accelerates.
void rgWorld_ForgetGuides(rgWorld* world) {
    for (int i = 0; i < world->model->kinematicCount; ++i) {
        const double* x = rgWorld_GuideNumbers(world, i);
        rgPose pose = rgLoadPose(x + rg_guidePose);
        rgSpatial velocity = rgLoadSpatial(x + rg_guideVelocity);
        world->guides[i] = (rgGuide){pose, pose, velocity, velocity, velocity};
    }
}

void rgWorld_CommitGuides(rgWorld* world) {
    for (int i = 0; i < world->model->kinematicCount; ++i) {
        double* x = rgWorld_GuideNumbers(world, i);
        const rgGuide* g = &world->guides[i];
        rgStorePose(g->next, x + rg_guidePose);
        rgStoreSpatial(g->velocity, x + rg_guideVelocity);
        rgStoreSpatial(rgSpatialAddScaled(g->velocity, -1, g->before), x + rg_guideChange);
        x[rg_guideMode] = x[rg_guideMode] == rg_guideReach ? rg_guideStop : rg_guideGoOn;
    }
}

void rgWorld_PlaceStart(const rgWorld* world, rgDynamics* d) {
    for (int i = 0; i < world->model->kinematicCount; ++i) {
        const rgGuide* g = &world->guides[i];
        rgSpatial change = rgSpatialAddScaled(g->velocity, -1, g->before);
        rgSpatial rate = {rgScale(1 / world->dt, change.linear),
                          rgScale(1 / world->dt, change.angular)};
        d->prescribed[i] = (rgPrescribed){g->pose, g->end, rate};
    }
}

void rgWorld_PlaceNext(const rgWorld* world, rgDynamics* d) {
    for (int i = 0; i < world->model->kinematicCount; ++i) {
        d->prescribed[i] = (rgPrescribed){.pose = world->guides[i].next};
    }
}

void rgWorld_PlaceAhead(const rgWorld* world, rgDynamics* d) {
    for (int i = 0; i < world->model->kinematicCount; ++i) {
        const rgGuide* g = &world->guides[i];
        d->prescribed[i] = (rgPrescribed){.pose = rgMovePose(g->pose, g->end, world->dt)};
    }
}

void rgWorld_PlaceNow(const rgWorld* world, rgDynamics* d) {
    for (int i = 0; i < world->model->kinematicCount; ++i) {
        const double* x = rgWorld_GuideNumbers(world, i);
        d->prescribed[i] = (rgPrescribed){.pose = rgLoadPose(x + rg_guidePose),
                                          .velocity = rgLoadSpatial(x + rg_guideVelocity)};
    }
}

bool rgWorld_GuidesMove(const rgWorld* world) {
    bool moves = false;
    for (int i = 0; i < world->model->kinematicCount; ++i) {
        const rgSpatial* v = &world->guides[i].velocity;
        moves = moves || rgDot(v->linear, v->linear) + rgDot(v->angular, v->angular) > 0;
    }
    return moves;
}

// (20)
rgSpatial rgWorld_Drift(const rgWorld* world, int link, rgVec3 point) {
    if (!rgModel_IsKinematic(world->model, link)) {
        return (rgSpatial){0};
    }
    const rgSpatial* V = &world->dynamics->velocities[link];
    return (rgSpatial){rgAdd(V->linear, rgCross(V->angular, point)), V->angular};
}

// ---- told

// The numbers of the kinematic link that carries a body; NULL: none does.
static double* rgWorld_FindGuide(const rgWorld* world, rgBodyId body) {
    int link = world->model->bodyPlaces[body.index1 - 1].link;
    return rgModel_IsKinematic(world->model, link)
               ? rgWorld_GuideNumbers(world, link - world->model->linkCount)
               : NULL;
}

static void rgStoreMotion(const rgWorld* world, rgBodyId body, rgPrescribed motion, double* x) {
    rgPrescribed link = rgPrescribe(&world->model->bodyPlaces[body.index1 - 1], motion);
    rgStorePose(link.pose, x + rg_guidePose);
    rgStoreSpatial(link.velocity, x + rg_guideVelocity);
    rgStoreSpatial((rgSpatial){0}, x + rg_guideChange);
    x[rg_guideMode] = rg_guideGoOn;
}

bool rgWorld_SetKinematicPose(rgWorld* world, rgBodyId body, rgPose pose) {
    double* x = rgWorld_FindGuide(world, body);
    if (x == NULL) {
        return false;
    }
    rgStoreMotion(world, body,
                  (rgPrescribed){.pose = pose, .velocity = rgWorld_BodyVelocity(world, body)}, x);
    rgWorld_WakeAll(world); // who knows what it carried
    rgReadout_Invalidate(world->readout);
    rgWatch_Disturb(world);
    return true;
}

bool rgWorld_SetKinematicVelocity(rgWorld* world, rgBodyId body, rgSpatial velocity) {
    double* x = rgWorld_FindGuide(world, body);
    if (x == NULL) {
        return false;
    }
    rgPose pose = rgWorld_BodyPose(world, body);
    double kept[7];
    memcpy(kept, x + rg_guidePose, sizeof(kept));
    rgStoreMotion(world, body, (rgPrescribed){.pose = pose, .velocity = velocity}, x);
    memcpy(x + rg_guidePose, kept, sizeof(kept)); // not moved by rounding
    rgWorld_WakeTied(world, world->model->bodyPlaces[body.index1 - 1].link);
    rgReadout_Invalidate(world->readout);
    return true;
}

rgResult rgWorld_MoveBody(rgWorld* world, rgBodyId body, rgPose pose) {
    if (world == NULL || rgModel_Body(world->model, body) == NULL || !rgPoseIsUsable(pose)) {
        return rg_errorArgument;
    }
    double* x = rgWorld_FindGuide(world, body);
    if (x == NULL) {
        return rg_errorUnsupported;
    }
    pose.q = rgQuatNormalize(pose.q);
    const rgPlace* place = &world->model->bodyPlaces[body.index1 - 1];
    rgStorePose(rgPrescribe(place, (rgPrescribed){.pose = pose}).pose, x + rg_guideTarget);
    x[rg_guideMode] = rg_guideReach;
    rgWorld_WakeTied(world, place->link);
    return rg_ok;
}
