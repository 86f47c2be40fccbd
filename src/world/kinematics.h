// Positions and velocities that a step is computed at, and kinematic links.
#pragma once
#include "dynamics/dynamics.h"
#include "world/state.h"
#include "world/variant.h"

typedef struct rgContactSet rgContactSet;

#define RG_KINEMATIC_NUMBERS 27 // pose, velocity, mode, target, change

// Kinematic link in a step: poses and velocities.
typedef struct rgKinematicLink {
    rgPose pose, next;          // where the step is computed, and at its end
    rgSpatial before, velocity; // of its origin, world axes: in the last step, and in this one
    rgSpatial end;              // at the end of this one, predicted
} rgKinematicLink;

// Positions and velocities that a step is computed at.
typedef struct rgKinematics {
    rgDynamics* dynamics;
    double* driftTime;         // per tree: from the state to q [s]
    double* q;                 // qCount
    double* v;                 // vCount, step coordinates: at the start of the step
    double* predictor;         // vCount, step coordinates: half of the expected change of v
    double* midV;              // vCount, step coordinates: v + predictor
    rgKinematicLink* links;    // per kinematic link
    rgQuat* rotations;         // per link
    rgSpatial* linkVelocities; // rgKinematics_SetLinkVelocities, per link
    double* leverArm;          // per degree of freedom: largest displacement per unit [m]
    double* linkLeverArm;      // per link, scratch
    double* scratch;           // vCount
    bool* isFreeBody;          // per tree: one free link without armature or damping
    double* coupling;          // free.3, per degree of freedom
    bool isCoupled;            // coupling is that of the present masses
} rgKinematics;

// Relative twist of the points of link B to those of link A, for given velocities of links.
typedef struct rgRelativeTwist {
    rgVec3 origin;
    rgSpatial velocity;
} rgRelativeTwist;

// Time that a gap has to close in [s]: to where the next step is computed.
static inline double rgKinematics_TreeAhead(const rgKinematics* kinematics,
                                            const rgSettings* settings, int link) {
    int tree = kinematics->dynamics->model->links[link].tree;
    bool starts = tree >= 0 && settings->integrator == rg_integratorMidpoint &&
                  kinematics->driftTime[tree] == 0;
    return starts ? 1.5 * settings->dt : settings->dt;
}

static inline double rgKinematics_TimeAhead(const rgKinematics* kinematics,
                                            const rgSettings* settings, int linkA, int linkB) {
    double a = rgKinematics_TreeAhead(kinematics, settings, linkA),
           b = rgKinematics_TreeAhead(kinematics, settings, linkB);
    return RG_MAX(a, b);
}

// 1/m of free.3
static inline double rgKinematics_DofMobility(const rgKinematics* kinematics, int dof) {
    const rgDynamics* dynamics = kinematics->dynamics;
    return kinematics->coupling[dof] / dynamics->mass[dynamics->model->dofs[dof].rowStart];
}

static inline rgRelativeTwist rgKinematics_RelativeTwist(const rgKinematics* kinematics,
                                                         const rgSpatial* velocities, int linkA,
                                                         int linkB) {
    rgVec3 originA = rgDynamics_LinkOrigin(kinematics->dynamics, linkA);
    if (linkB == 0) {
        const rgSpatial* A = &velocities[linkA];
        return (rgRelativeTwist){originA, {rgNegate(A->linear), rgNegate(A->angular)}};
    }
    rgRelativeTwist twist = {rgDynamics_LinkOrigin(kinematics->dynamics, linkB), velocities[linkB]};
    if (linkA != 0) {
        const rgSpatial* A = &velocities[linkA];
        rgVec3 linear = rgAdd(A->linear, rgCross(A->angular, rgSub(twist.origin, originA)));
        twist.velocity.linear = rgSub(twist.velocity.linear, linear);
        twist.velocity.angular = rgSub(twist.velocity.angular, A->angular);
    }
    return twist;
}

static inline rgVec3 rgRelativeTwist_At(const rgRelativeTwist* twist, rgVec3 position) {
    rgVec3 arm = rgSub(position, twist->origin);
    return rgAdd(twist->velocity.linear, rgCross(twist->velocity.angular, arm));
}

rgResult rgKinematics_Create(rgWorld* world);
void rgKinematics_Destroy(rgKinematics* kinematics);
// From the model; again after it changes, as the other plans of rooms.
void rgKinematics_Plan(rgKinematics* kinematics);
// free.3; trees are placed at the reference.
void rgKinematics_FindCoupling(rgKinematics* kinematics);
// Place all links where the step is computed.
void rgWorld_Place(rgWorld* world);
// Velocities of all links for a given v.
void rgKinematics_SetLinkVelocities(const rgKinematics* kinematics, const double* v);

// ---- kinematic.c
// Kinematic links at their poses of the definition, at rest.
void rgState_ResetKinematic(rgState* state, const rgModel* model);
// Velocities of kinematic links in this step, from their poses, targets and modes.
void rgKinematics_MoveLinks(rgKinematics* kinematics, rgState* state, const rgSettings* settings);
// Write poses and velocities of kinematic links to the state.
void rgKinematics_Commit(rgKinematics* kinematics, rgState* state);
// Forget the last velocities of kinematic links.
void rgKinematics_ClearHistory(rgKinematics* kinematics, rgState* state);
// Prescribe kinematic links to a workspace, for its next call with positions: at the start of
// the step with its velocity, at its end, a step beyond its start, or in the current state.
void rgKinematics_PlaceStart(const rgKinematics* kinematics, double dt, rgDynamics* d);
void rgKinematics_PlaceNext(const rgKinematics* kinematics, rgDynamics* d);
void rgKinematics_PlaceAhead(const rgKinematics* kinematics, double dt, rgDynamics* d);
void rgState_PlaceNow(const rgState* state, const rgModel* model, rgDynamics* d);
// True if any kinematic link moves in this step.
bool rgKinematics_LinksMove(const rgKinematics* kinematics);
// Velocity of a point of a kinematic link; zero for other links.
rgSpatial rgKinematics_Drift(const rgKinematics* kinematics, int link, rgVec3 point);
// False: the body is not kinematic.
bool rgWorld_SetKinematicPose(rgWorld* world, rgBodyId body, rgPose pose);
bool rgWorld_SetKinematicVelocity(rgWorld* world, rgBodyId body, rgSpatial velocity);

// ---- lever_arm.c
// Largest distance that each degree of freedom moves a point of its links by, per unit.
void rgKinematics_SetLeverArms(rgKinematics* kinematics, const rgContactSet* contacts);
