// Rigid-body algorithms on a model: kinematics, Jacobians, inverse and forward dynamics, mass
// matrix and its factors, whole-body quantities, and motion on the configuration manifold.
#pragma once
#include "rigor/contact.h"
#include "rigor/model.h"

/// Coordinates of a free joint's linear velocity; everything else is the same in both.
typedef enum rgVelocityCoordinates {
    rg_velocityBody, ///< in the body frame, as models and worlds show them
    rg_velocityStep, ///< in world axes, as in the time step; docs/theory/dynamics.md
} rgVelocityCoordinates;

/// Where a frame's motion is expressed.
typedef enum rgReference {
    rg_referenceLocal,   ///< at the frame's origin, in the frame's axes
    rg_referenceWorld,   ///< at the world's origin, in world axes
    rg_referenceAligned, ///< at the frame's origin, in world axes
} rgReference;

typedef struct rgDynamicsDef {
    rgVec3 gravity; ///< [m/s^2]
    rgVelocityCoordinates coordinates;
    rgAllocator allocator; ///< zero means the C runtime
    uint32_t cookie;
} rgDynamicsDef;

typedef struct rgEnergy {
    double kinetic;   ///< 0.5 v' M v, with armature [J]
    double potential; ///< in the field of gravity [J]
    double spring;    ///< in springs of joints and tendons [J]
} rgEnergy;

/// Workspace of one thread for one model. Set positions or a state, then call functions;
/// shared intermediate results are computed once. No call but create allocates. Arrays have the
/// model's vCount entries unless said otherwise, and matrices are stored row by row. The model must
/// outlive it.
typedef struct rgDynamics rgDynamics;

/// Gravity is the model's own if it has one, else 9.81 m/s^2 along -z.
RG_API rgDynamicsDef rgDefaultDynamicsDef(const rgModel* model);
RG_API rgResult rgCreateDynamics(const rgModel* model, const rgDynamicsDef* def,
                                 rgDynamics** dynamics);
RG_API void rgDestroyDynamics(rgDynamics* dynamics);

/// Forward kinematics from q (qCount entries). Velocities become zero.
RG_API void rgDynamics_SetPositions(rgDynamics* dynamics, const double* q);
/// Forward kinematics of positions and velocities.
RG_API void rgDynamics_SetState(rgDynamics* dynamics, const double* q, const double* v);
/// Accelerations of all bodies for the rate a of v; only rgDynamics_FrameAcceleration() needs it.
RG_API void rgDynamics_SetAccelerations(rgDynamics* dynamics, const double* a);

/// Set pose and velocity of a kinematic body, or of one fixed to it (body origin, world axes), from
/// the next call with positions on; before, it rests at the pose of its definition.
/// rg_errorUnsupported for other bodies.
RG_API rgResult rgDynamics_SetBodyMotion(rgDynamics* dynamics, rgBodyId body, rgPose pose,
                                         rgSpatial velocity, rgSpatial acceleration);

/// Poses in the world; the identity for a wrong id.
RG_API rgPose rgDynamics_BodyPose(const rgDynamics* dynamics, rgBodyId body);
RG_API rgPose rgDynamics_FramePose(const rgDynamics* dynamics, rgFrameId frame);
RG_API rgPose rgDynamics_ShapePose(const rgDynamics* dynamics, rgShapeId shape);

/// Velocity of a frame: J v.
RG_API rgSpatial rgDynamics_FrameVelocity(const rgDynamics* dynamics, rgFrameId frame,
                                          rgReference reference);
/// Rate of that velocity: J a + J' v, without gravity. For rg_referenceAligned the linear part is
/// the acceleration of the frame's origin.
RG_API rgSpatial rgDynamics_FrameAcceleration(const rgDynamics* dynamics, rgFrameId frame,
                                              rgReference reference);
/// J' v, where J' is the Jacobian's rate of change.
RG_API rgSpatial rgDynamics_FrameBias(const rgDynamics* dynamics, rgFrameId frame,
                                      rgReference reference);
/// J, 6 x vCount: three rows for the linear velocity, three for the angular one.
RG_API void rgDynamics_FrameJacobian(const rgDynamics* dynamics, rgFrameId frame,
                                     rgReference reference, double* jacobian);

/// Likewise of a point of a body that is at a place in the world now; world axes.
RG_API void rgDynamics_PointJacobian(const rgDynamics* dynamics, rgBodyId body, rgVec3 point,
                                     double* jacobian);
/// Its velocity, and the body's angular one.
RG_API rgSpatial rgDynamics_PointVelocity(const rgDynamics* dynamics, rgBodyId body, rgVec3 point);

/// Length of a tendon at the present positions: the sum of its joints' coordinates, or the way
/// along its points [m]; 0 for a wrong id.
RG_API double rgDynamics_TendonLength(const rgDynamics* dynamics, rgTendonId tendon);
/// Its gradient: the length's rate is jacobian times v (moment arms), vCount.
RG_API void rgDynamics_TendonJacobian(const rgDynamics* dynamics, rgTendonId tendon,
                                      double* jacobian);

/// RNEA: tau = M a + b - sum J_k' w_k. NULL a means zero. Wrenches: NULL, or one per body in the
/// order of ids, force and torque at the body's origin in world axes.
RG_API void rgDynamics_InverseDynamics(rgDynamics* dynamics, const double* a,
                                       const rgSpatial* wrenches, double* tau);
/// b(q, v): Coriolis, centrifugal and gravity terms.
RG_API void rgDynamics_Bias(rgDynamics* dynamics, double* bias);
/// b(q, 0).
RG_API void rgDynamics_GravityTorque(rgDynamics* dynamics, double* torque);
/// ABA: a = M^-1 (tau + sum J_k' w_k - b). NULL tau means zero. rg_errorNumeric when M is singular.
RG_API rgResult rgDynamics_ForwardDynamics(rgDynamics* dynamics, const double* tau,
                                           const rgSpatial* wrenches, double* a);

/// CRBA: M with armature, vCount x vCount.
RG_API void rgDynamics_MassMatrix(rgDynamics* dynamics, double* mass);
/// M in compact rows, a view until the next call with new positions: row i holds column i, then the
/// columns above it in the tree, upwards. Count is the number of entries; it may be NULL.
RG_API const double* rgDynamics_CompactMassMatrix(rgDynamics* dynamics, int* count);
/// M + diag(added) as compressed rows with both triangles, the form that rgDelassus takes; NULL
/// added means zero. A view until the next call.
RG_API rgSparse rgDynamics_SparseMassMatrix(rgDynamics* dynamics, const double* added);
/// L' D L = M + diag(added), sparse along the tree; NULL added means zero. rg_errorNumeric when the
/// matrix is not positive definite.
RG_API rgResult rgDynamics_Factorize(rgDynamics* dynamics, const double* added);
/// x := (M + diag(added))^-1 x for the last factorization; x is vCount x columnCount.
RG_API void rgDynamics_Solve(const rgDynamics* dynamics, int columnCount, double* x);
/// Rows W with W W' = J (M + diag(added))^-1 J', in the pattern of J, for the last factorization.
/// With every column of a row, all columns above it in the tree must be present (zeros count).
RG_API void rgDynamics_Whiten(const rgDynamics* dynamics, const rgSparse* jacobian, double* W);
/// G = J (M + diag(added))^-1 J', n x n, of such a jacobian. Work has as many entries as J.
RG_API void rgDynamics_Delassus(const rgDynamics* dynamics, const rgSparse* jacobian, double* work,
                                double* G);

/// Whole model: center of mass [m], its velocity, its Jacobian (3 x vCount), and momentum with its
/// angular part about the center of mass. Bodies fixed to the world do not count.
RG_API rgVec3 rgDynamics_Center(rgDynamics* dynamics);
RG_API rgVec3 rgDynamics_CenterVelocity(rgDynamics* dynamics);
RG_API void rgDynamics_CenterJacobian(rgDynamics* dynamics, double* jacobian);
RG_API rgSpatial rgDynamics_Momentum(rgDynamics* dynamics);
/// Centroidal momentum matrix, 6 x vCount: that momentum is the matrix times v.
RG_API void rgDynamics_MomentumMatrix(rgDynamics* dynamics, double* matrix);
/// Operational-space inertia (J M^-1 J')^-1 of a task, rowCount x rowCount, for a Jacobian of
/// rowCount x vCount. rg_errorNumeric when a direction cannot move by itself (singular, to 1e-12 of
/// the diagonal), rg_errorMemory when there is none for M^-1 J'.
RG_API rgResult rgDynamics_OperationalInertia(rgDynamics* dynamics, int rowCount,
                                              const double* jacobian, double* inertia);
RG_API rgEnergy rgDynamics_Energy(rgDynamics* dynamics);

/// The configuration at which every body is where its definition says.
RG_API void rgModel_NeutralConfiguration(const rgModel* model, double* q);
/// The neutral configuration with hinges and slides that are outside their limits there at the
/// nearer one: where worlds start.
RG_API void rgModel_StartConfiguration(const rgModel* model, double* q);
/// Uniform within limits; angles without limits within half a turn either way, lengths within 1 m.
RG_API void rgModel_RandomConfiguration(const rgModel* model, uint64_t seed, double* q);
/// result = q moved for time dt at velocity v (body coordinates). May be q itself.
RG_API void rgModel_Integrate(const rgModel* model, const double* q, const double* v, double dt,
                              double* result);
/// The velocity that integrates from q0 to q1 in unit time.
RG_API void rgModel_Difference(const rgModel* model, const double* q0, const double* q1, double* v);
/// Between the two coordinates of velocity at configuration q. Result may be v itself.
RG_API void rgModel_StepVelocity(const rgModel* model, const double* q, const double* v,
                                 double* result);
RG_API void rgModel_BodyVelocity(const rgModel* model, const double* q, const double* v,
                                 double* result);
