// Kinematic bodies: they go on at a velocity, or reach a pose by the end of the next step. They
// have no coordinates; their velocity in a step is known before it, and enters contacts and loops
// as a drift beside J v. step.2, step.3.
#include "world/world.h"

#include <string.h>

// Mode of a kinematic link in the state.
typedef enum rgGuideMode {
    rg_kinematicGoOn,  // at the velocity that it has
    rg_kinematicReach, // the target, by the end of the step
    rg_kinematicStop,
} rgGuideMode;

enum {
    rg_kinematicPose = 0,
    rg_kinematicVelocity = 7,
    rg_kinematicMode = 13,
    rg_kinematicTarget = 14,
    rg_kinematicChange = 21 // of the velocity in the last step
};
_Static_assert(rg_kinematicChange + 6 == RG_KINEMATIC_NUMBERS,
               "pose, velocity, mode, target, change");

static double* rgState_KinematicNumbers(const rgState* state, int link) {
    return state->kinematic + RG_KINEMATIC_NUMBERS * link;
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

void rgState_ResetKinematic(rgState* state, const rgModel* model) {
    memset(state->kinematic, 0,
           (size_t)(RG_KINEMATIC_NUMBERS * model->kinematicCount) * sizeof(double));
    for (int i = 0; i < model->kinematicCount; ++i) {
        rgStorePose(model->kinematicPoses[i],
                    rgState_KinematicNumbers(state, i) + rg_kinematicPose);
        rgStorePose(model->kinematicPoses[i],
                    rgState_KinematicNumbers(state, i) + rg_kinematicTarget);
    }
}

// ---- a step

static rgPose rgMovePose(rgPose pose, rgSpatial velocity, double time) {
    rgQuat turn = rgQuatFromRotationVector(rgScale(time, velocity.angular));
    return (rgPose){rgAddScaled(pose.p, time, velocity.linear),
                    rgQuatNormalize(rgQuatMultiply(turn, pose.q))};
}

// step.2, step.1
static rgKinematicLink rgMakeKinematicLink(const double* x, double dt, double driftTime) {
    rgPose pose = rgLoadPose(x + rg_kinematicPose);
    rgSpatial before = rgLoadSpatial(x + rg_kinematicVelocity), velocity = before;
    rgPose next = pose;
    double mode = x[rg_kinematicMode];
    if (mode == rg_kinematicStop) {
        velocity = (rgSpatial){0};
    } else if (mode == rg_kinematicReach) {
        next = rgLoadPose(x + rg_kinematicTarget);
        rgVec3 turn = rgRotationVectorFromQuat(rgQuatMultiply(next.q, rgQuatConjugate(pose.q)));
        velocity = (rgSpatial){rgScale(1 / dt, rgSub(next.p, pose.p)), rgScale(1 / dt, turn)};
    } else {
        next = rgMovePose(pose, velocity, dt);
    }
    rgKinematicLink link = {pose, next, before, velocity, velocity};
    if (driftTime > 0) {
        double change[6], predictor[6];
        rgStoreSpatial(rgSpatialAddScaled(velocity, -1, before), change);
        rgPredictChange(x + rg_kinematicChange, change, 3, predictor);
        rgPredictChange(x + rg_kinematicChange + 3, change + 3, 3, predictor + 3);
        link.pose = rgMovePose(pose, velocity, driftTime);
        link.end = rgSpatialAdd(velocity, rgLoadSpatial(predictor));
    }
    return link;
}

void rgKinematics_MoveLinks(rgKinematics* kinematics, rgState* state, const rgSettings* settings) {
    double driftTime = settings->integrator == rg_integratorMidpoint ? 0.5 * settings->dt : 0;
    for (int i = 0; i < kinematics->dynamics->model->kinematicCount; ++i) {
        kinematics->links[i] =
            rgMakeKinematicLink(rgState_KinematicNumbers(state, i), settings->dt, driftTime);
    }
    rgKinematics_PlaceStart(kinematics, settings->dt, kinematics->dynamics);
}

// Kinematic links as before a first step: without acceleration.
void rgKinematics_ClearHistory(rgKinematics* kinematics, rgState* state) {
    for (int i = 0; i < kinematics->dynamics->model->kinematicCount; ++i) {
        const double* x = rgState_KinematicNumbers(state, i);
        rgPose pose = rgLoadPose(x + rg_kinematicPose);
        rgSpatial velocity = rgLoadSpatial(x + rg_kinematicVelocity);
        kinematics->links[i] = (rgKinematicLink){pose, pose, velocity, velocity, velocity};
    }
}

void rgKinematics_Commit(rgKinematics* kinematics, rgState* state) {
    for (int i = 0; i < kinematics->dynamics->model->kinematicCount; ++i) {
        double* x = rgState_KinematicNumbers(state, i);
        const rgKinematicLink* g = &kinematics->links[i];
        rgStorePose(g->next, x + rg_kinematicPose);
        rgStoreSpatial(g->velocity, x + rg_kinematicVelocity);
        rgStoreSpatial(rgSpatialAddScaled(g->velocity, -1, g->before), x + rg_kinematicChange);
        x[rg_kinematicMode] =
            x[rg_kinematicMode] == rg_kinematicReach ? rg_kinematicStop : rg_kinematicGoOn;
    }
}

void rgKinematics_PlaceStart(const rgKinematics* kinematics, double dt, rgDynamics* d) {
    for (int i = 0; i < kinematics->dynamics->model->kinematicCount; ++i) {
        const rgKinematicLink* g = &kinematics->links[i];
        rgSpatial change = rgSpatialAddScaled(g->velocity, -1, g->before);
        rgSpatial rate = {rgScale(1 / dt, change.linear), rgScale(1 / dt, change.angular)};
        d->prescribed[i] = (rgPrescribed){g->pose, g->end, rate};
    }
}

void rgKinematics_PlaceNext(const rgKinematics* kinematics, rgDynamics* d) {
    for (int i = 0; i < kinematics->dynamics->model->kinematicCount; ++i) {
        d->prescribed[i] = (rgPrescribed){.pose = kinematics->links[i].next};
    }
}

void rgKinematics_PlaceAhead(const rgKinematics* kinematics, double dt, rgDynamics* d) {
    for (int i = 0; i < kinematics->dynamics->model->kinematicCount; ++i) {
        const rgKinematicLink* g = &kinematics->links[i];
        d->prescribed[i] =
            (rgPrescribed){.pose = rgMovePose(g->pose, g->end, dt), .velocity = g->end};
    }
}

void rgState_PlaceNow(const rgState* state, const rgModel* model, rgDynamics* d) {
    for (int i = 0; i < model->kinematicCount; ++i) {
        const double* x = rgState_KinematicNumbers(state, i);
        d->prescribed[i] = (rgPrescribed){.pose = rgLoadPose(x + rg_kinematicPose),
                                          .velocity = rgLoadSpatial(x + rg_kinematicVelocity)};
    }
}

bool rgKinematics_LinksMove(const rgKinematics* kinematics) {
    bool moves = false;
    for (int i = 0; i < kinematics->dynamics->model->kinematicCount; ++i) {
        const rgSpatial* v = &kinematics->links[i].velocity;
        moves = moves || rgDot(v->linear, v->linear) + rgDot(v->angular, v->angular) > 0;
    }
    return moves;
}

// step.3
rgSpatial rgKinematics_Drift(const rgKinematics* kinematics, int link, rgVec3 point) {
    if (!rgModel_IsKinematic(kinematics->dynamics->model, link)) {
        return (rgSpatial){0};
    }
    const rgSpatial* V = &kinematics->dynamics->velocities[link];
    return (rgSpatial){rgAdd(V->linear, rgCross(V->angular, point)), V->angular};
}

// ---- commands

// Numbers of the kinematic link of a body; NULL: it has none.
static double* rgState_FindKinematic(const rgState* state, const rgModel* model, rgBodyId body) {
    int link = model->bodyPlaces[body.index1 - 1].link;
    return rgModel_IsKinematic(model, link)
               ? rgState_KinematicNumbers(state, link - model->linkCount)
               : NULL;
}

static void rgStoreMotion(const rgModel* model, rgBodyId body, rgPrescribed motion, double* x) {
    rgPrescribed link = rgPrescribe(&model->bodyPlaces[body.index1 - 1], motion);
    rgStorePose(link.pose, x + rg_kinematicPose);
    rgStoreSpatial(link.velocity, x + rg_kinematicVelocity);
    rgStoreSpatial((rgSpatial){0}, x + rg_kinematicChange);
    x[rg_kinematicMode] = rg_kinematicGoOn;
}

bool rgWorld_SetKinematicPose(rgWorld* world, rgBodyId body, rgPose pose) {
    double* x = rgState_FindKinematic(&world->state, world->model, body);
    if (x == NULL) {
        return false;
    }
    rgStoreMotion(world->model, body,
                  (rgPrescribed){.pose = pose, .velocity = rgWorld_BodyVelocity(world, body)}, x);
    rgSleep_WakeAll(&world->sleep, &world->state, world->model); // it may have carried anything
    rgReadout_Invalidate(world->readout);
    rgMonitor_Reset(&world->monitor);
    return true;
}

bool rgWorld_SetKinematicVelocity(rgWorld* world, rgBodyId body, rgSpatial velocity) {
    double* x = rgState_FindKinematic(&world->state, world->model, body);
    if (x == NULL) {
        return false;
    }
    rgPose pose = rgWorld_BodyPose(world, body);
    double kept[7];
    memcpy(kept, x + rg_kinematicPose, sizeof(kept));
    rgStoreMotion(world->model, body, (rgPrescribed){.pose = pose, .velocity = velocity}, x);
    memcpy(x + rg_kinematicPose, kept, sizeof(kept)); // not moved by rounding
    rgSleep_WakeLoops(&world->sleep, &world->state, world->model,
                      world->model->bodyPlaces[body.index1 - 1].link);
    rgReadout_Invalidate(world->readout);
    return true;
}

rgResult rgWorld_MoveBody(rgWorld* world, rgBodyId body, rgPose pose) {
    if (world == NULL || rgModel_Body(world->model, body) == NULL || !rgPoseIsUsable(pose)) {
        return rg_errorArgument;
    }
    double* x = rgState_FindKinematic(&world->state, world->model, body);
    if (x == NULL) {
        return rg_errorUnsupported;
    }
    pose.q = rgQuatNormalize(pose.q);
    const rgPlace* place = &world->model->bodyPlaces[body.index1 - 1];
    rgStorePose(rgPrescribe(place, (rgPrescribed){.pose = pose}).pose, x + rg_kinematicTarget);
    x[rg_kinematicMode] = rg_kinematicReach;
    rgSleep_WakeLoops(&world->sleep, &world->state, world->model, place->link);
    return rg_ok;
}
