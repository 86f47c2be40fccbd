// Inverse dynamics with contacts: from a state and a wanted velocity to the forces that one time
// step needs to reach it, with rigid and compliant contacts, limits, loops and dry friction.
#pragma once
#include "rigor/dynamics.h"
#include "rigor/world.h"

/// Start of the impulses. Rigid contacts leave them open; the result then depends on the start.
typedef enum rgInverseStart {
    rg_startZero,  ///< no impulses
    rg_startLast,  ///< impulses of the last step
    rg_startForce, ///< rgInverseDef.normalForce at every pair that touches, friction to match
    rg_startGiven, ///< rgInverseDef.impulses
} rgInverseStart;

/// Start from rgDefaultInverseDef(), then set members.
typedef struct rgInverseDef {
    rgContactModel model;
    double penalty;    ///< rho of the proximal iteration [1/kg], 1e-8
    double tolerance;  ///< on the residual in N s, m/s and J, 1e-6
    double snap;       ///< speeds at rigid rows below this count as zero [m/s], 1e-6
    int maxIterations; ///< 1000
    double compliance; ///< R of every contact's normal row [1/kg]; NAN: as the world has it
    rgVelocityCoordinates coordinates; ///< of the wanted velocity, see rgWorld_Inverse()
    rgInverseStart start;
    double normalForce;     ///< [N] per pair of shapes, split over its points (rg_startForce)
    const double* impulses; ///< 6 per contact [N s, N m s], as in rgContact.impulse (rg_startGiven)
    int impulseCount;       ///< contacts that impulses holds; refused unless all of them
    const rgConstraintForce* constraints; ///< impulses of other rows, known by kind, index and row
    int constraintCount;                  ///< those that are missing start from zero
    bool feasible; ///< choose open impulses so that unactuated rows need as little force as can be;
                   ///< rg_errorUnsupported where a rigid contact has tangential stiffness
    const bool* actuated; ///< vCount; NULL: everything but free joints
    bool countRank;       ///< fill rgInverseResult.redundantCount
    uint32_t cookie;
} rgInverseDef;

/// A contact of the call, in the order of rgWorld_Contacts().
typedef struct rgInverseContact {
    double reference[3]; ///< wanted velocity along t1, t2, n [m/s]
    double nearest[3];   ///< the nearest one that the contact model allows
    double violation;    ///< distance between the two [m/s]
} rgInverseContact;

/// Wrench that would hold a floating base, at the origin of its body, in world axes.
typedef struct rgInverseBase {
    rgBodyId body;
    rgVec3 force;  ///< [N]
    rgVec3 torque; ///< [N m]
} rgInverseBase;

/// Outcome for the given motion. The first that holds, in this order.
typedef enum rgInverseStatus {
    rg_inverseUnsolved,  ///< the contact impulses did not converge: see contact and feasible
    rg_inverseForbidden, ///< contacts, limits or loops do not allow that velocity: see violation
    rg_inverseUnheld,    ///< degrees of freedom without a motor lack missingForce, missingTorque
    rg_inverseOverload,  ///< effort limits would cut the force by effortExcess
    rg_inverseSolved,    ///< the motors make the motion
} rgInverseStatus;

/// Arrays are views until the next call that takes the world.
typedef struct rgInverseResult {
    rgInverseStatus status;
    rgContactReport contact; ///< residuals in SI units, of the velocity as it was given. Status
                             ///< infeasible: contacts do not allow that velocity.
    int contactCount;
    int rowCount;
    const double* force;              ///< vCount: input of rgWorld_SetForce() for the step
    const double* contactForce;       ///< vCount: J' lambda / dt, same conventions
    const rgInverseContact* contacts; ///< contactCount
    const rgInverseBase* bases;       ///< one per tree with a free joint
    int baseCount;
    double violation;   ///< largest violation of any row or contact [m/s, rad/s]
    int violationCount; ///< contacts and other rows violated by more than snap and tolerance
    int openCount;      ///< impulse components that the wanted velocity leaves open; 0: unique
    int redundantCount; ///< those that differ without any effect (hyperstatic); -1: not counted
    /// Largest force that joints without a motor lack: of a free joint the length of the vector,
    /// torques at the body's origin. With feasible: the share that no contact can give. Zero below
    /// 1e-6 of the forces that act there, and below the tolerance.
    double missingForce;      ///< [N]
    double missingTorque;     ///< [N m]
    double effortExcess;      ///< by how much a joint's effort limit would cut the force [N, N m]
    rgContactReport feasible; ///< of the least-squares problem; unsolved unless requested
    double seconds;
} rgInverseResult;

RG_API rgInverseDef rgDefaultInverseDef(void);

/// The forces that make the next rgWorld_Step() end with velocity vRef (vCount), and the impulses
/// that go with it. Actuators, springs, damping, wrenches and controls act as they would in the
/// step; forces set by rgWorld_SetForce() do not count, as the result takes their place. The state
/// stays as it is; rgWorld_Contacts(), rgWorld_Constraints() and rgWorld_JointReaction() are then
/// those of this call. vRef is rgWorld_Velocities() after the step (rg_velocityBody), or has
/// the linear velocities of free joints in world axes (rg_velocityStep). Sleeping trees must have
/// zeros. See docs/theory/inverse.md.
RG_API rgResult rgWorld_Inverse(rgWorld* world, const rgInverseDef* def, const double* vRef,
                                rgInverseResult* result);
