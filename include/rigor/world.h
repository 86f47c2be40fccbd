// A world: one moving instance of a model, advanced by rgWorld_Step().
#pragma once
#include "rigor/contact.h"
#include "rigor/model.h"

/// Raised with every change that makes a step give other bits from the same state. Recordings hold
/// it.
#define RG_PHYSICS_REVISION 10

typedef struct rgWorld rgWorld; ///< where things are: state and workspace, one thread at a time

/// Called before and after each step with the context of the def. May read the world and set
/// controls and wrenches.
typedef void rgStepFcn(rgWorld* world, void* context);

/// Start from rgDefaultWorldDef(), then set members. NULL means the default.
typedef struct rgWorldDef {
    double timeStep; ///< [s], fixed for the life of the world; 0: the model's wish, else 1 ms
    rgIntegrator integrator; ///< any: the model's wish, else midpoint
    bool hasGravity;         ///< use gravity below rather than the model's
    rgVec3 gravity;          ///< [m/s^2]
    rgContactSolverDef contact;
    double stiffness; ///< [N/m] of every contact point; 0: as the materials say (rigid by default)
    double damping;   ///< [N s/m], with stiffness
    double dissipation;          ///< [s/m], with stiffness: F = k x (1 + d x')
    double tangentialStiffness;  ///< [N/m], of all contacts that stick: they keep an anchor
    double tangentialDamping;    ///< [N s/m], with tangentialStiffness
    double friction;             ///< mu of every pair; NAN: as the materials say
    rgFrictionRule frictionRule; ///< of pairs without a material of their own; unset: as these say
    double restitution;          ///< of every pair; NAN: as the materials say
    double pushOutSpeed;         ///< largest speed at which positions are corrected [m/s]
    double restitutionThreshold; ///< [m/s]; 0: 2 |gravity| timeStep
    double margin;               ///< [m] added to the speculative margin
    int maxContactsPerPair;      ///< 4 by default
    unsigned judgeInterval;      ///< solves of which one is judged by M and J, the others by W = J
                                 ///< L^-T, as the solver has it; 1: all. 16 by default
    double sleepTime;  ///< [s] at rest after which bodies that touch each other sleep; 0: never
    double sleepSpeed; ///< [m/s] below which they rest, at the tips of turning bodies; 1 mm/s by
                       ///< default
    bool ignoreLimits; ///< joint limits take no part
    bool untimed;      ///< reports say nothing about time, and cost no looks at the clock
    rgStepFcn* beforeStep;
    rgStepFcn* afterStep;
    void* context;         ///< of the two functions
    rgTasks tasks;         ///< zero means: run on the calling thread
    rgAllocator allocator; ///< zero means the C runtime
    uint32_t cookie;
} rgWorldDef;

typedef enum rgContactState { rg_contactOpen, rg_contactStick, rg_contactSlip } rgContactState;

/// One contact point of the last step or forward call. Vectors are in world axes.
typedef struct rgContact {
    rgBodyId bodyA, bodyB; ///< null: the world, which is never B
    rgShapeId shapeA, shapeB;
    uint32_t feature; ///< stays the same while the same features touch
    rgVec3 point;
    rgVec3 normal; ///< from A to B
    rgVec3 tangent1, tangent2;
    double gap; ///< [m], negative in penetration
    double mu;
    bool regularized;  ///< a kinematic body squeezes it: it has no rigid solution and gives way
    int rowCount;      ///< 1 frictionless is stored as 3 with mu 0; 3, 4 or 6
    int firstRow;      ///< in rgWorld_Problem(); -1: it has none, since nothing closes it
    double impulse[6]; ///< t1, t2, n, torsion, rolling 1, rolling 2 [N s, N m s], acting on B
    rgVec3 force;      ///< on B [N]: impulse over time step
    double slip[2];    ///< tangential velocity after the step [m/s]
    rgVec3 anchor;     ///< how far B has gone elastically from where it stuck to A, after the step
                       ///< [m]; zero where the pair has no tangential stiffness
    rgContactState state;
} rgContact;

typedef enum rgConstraintKind {
    rg_constraintLimit,
    rg_constraintFriction,
    rg_constraintEquality,
    rg_constraintActuator,
    rg_constraintTendon,
} rgConstraintKind;

/// One scalar constraint row other than a contact.
typedef struct rgConstraintForce {
    rgConstraintKind kind;
    int index;        ///< of the joint, equality, actuator or tendon in the model, from 0
    int row;          ///< within that constraint
    bool regularized; ///< an equality that is open: beyond reach, or not closed yet; it is damped
    double gap;       ///< violation [m] or [rad]
    double impulse;
    double force; ///< impulse over time step
} rgConstraintForce;

typedef enum rgStage {
    rg_stageKinematics,
    rg_stageCollide,
    rg_stageDynamics,
    rg_stageAssemble,
    rg_stageSolve,
    rg_stageVelocity,
    rg_stagePosition,
    rg_stageProject,
    rg_stageCount
} rgStage;

/// Room of arrays that are indexed by stage: a new stage does not change any size.
#define RG_STAGE_CAPACITY 16

/// Why a step was solved again, as bits of rgStepReport.revisions.
typedef enum rgRevision {
    rg_reviseContacts = 1,    ///< v+ closes an inactive contact
    rg_reviseGaps = 2,        ///< a path curves into the other shape, or a body stops rolling
    rg_reviseRestitution = 4, ///< impacts would add energy
} rgRevision;

typedef struct rgStepReport {
    rgContactReport contact; ///< counts of iterations and factorizations: of all its solves
    int contactCount;
    int rowCount;        ///< of the whole constraint problem
    int passCount;       ///< assemblies and solves of this step
    int revisions;       ///< bits of rgRevision
    double penetration;  ///< deepest at the start of the step [m]
    int regularizedRows; ///< contacts that a kinematic body squeezes, which have no rigid solution
                         ///< and give way, and equalities that are open
    int projectedRows;   ///< of the position problem; 0: nothing to correct
    int projectionFactorizations;
    double projectionResidual; ///< relative to the largest depth
    double projectionWork; ///< against gravity: energy that no force brings in [J]; 0 if untimed
    double stageSeconds[RG_STAGE_CAPACITY]; ///< by rgStage
} rgStepReport;

/// Violations of energy, force and depth bounds, as bits.
typedef enum rgAnomalyFlag {
    rg_anomalyNone = 0,
    rg_anomalyEnergy = 1, ///< energy rose although nothing drove the scene
    rg_anomalyForce = 2,  ///< contact forces beyond 1e4 weights and the force that stops all bodies
    rg_anomalyDepth = 4,  ///< bodies overlap, and their motion does not explain it
} rgAnomalyFlag;

/// Something that mechanics does not explain: how much, when, and between which shapes.
typedef struct rgAnomaly {
    double amount;            ///< [J] or [m]; 0: nothing
    double time;              ///< at the start of the step [s]
    rgShapeId shapeA, shapeB; ///< null where it is not a pair
} rgAnomaly;

/// The largest of each kind since the world was made. Values within their bounds are no anomalies;
/// see monitor.1-3.
typedef struct rgHealth {
    int anomalies;    ///< bits of rgAnomalyFlag; 0: all is explained
    rgAnomaly energy; ///< rise of the energy of a scene that nothing drives [J]
    rgAnomaly force;  ///< largest normal force of a contact [N]
    rgAnomaly depth;  ///< penetration beyond the motion since the last step [m]
} rgHealth;

RG_API rgWorldDef rgDefaultWorldDef(void);
/// The model must outlive the world.
RG_API rgResult rgCreateWorld(const rgModel* model, const rgWorldDef* def,
                              rgDiagnostics* diagnostics, rgWorld** world);
RG_API void rgDestroyWorld(rgWorld* world);

/// Advance by one time step. On error the state is that before the call. The report may be NULL:
/// then nothing is timed.
RG_API rgResult rgWorld_Step(rgWorld* world, rgStepReport* report);
/// Poses, contacts and forces at the current state, without moving.
RG_API rgResult rgWorld_Forward(rgWorld* world, rgStepReport* report);

/// State. Set refuses NaN, infinity and quaternions of no length; quaternions are normalized. NULL
/// means neutral or zero. The warm start and the anchors of contacts stay; reset clears them, with
/// controls, forces and wrenches.
RG_API rgResult rgWorld_SetState(rgWorld* world, const double* q, const double* v);
/// Start the next solve from these impulses of the contacts of the last step, 6 numbers each as in
/// rgContact.impulse and in the order of rgWorld_Contacts(). It matters where the answer is not
/// unique. Refused unless a step made the contacts, all of them are given, and all numbers are
/// finite.
RG_API rgResult rgWorld_SetImpulses(rgWorld* world, const double* impulses, int contactCount);
/// One body in world axes, all else as it is; the counterparts of rgWorld_BodyPose() and
/// rgWorld_BodyVelocity(). For kinematic bodies, bodies with a free joint, and those fixed to one;
/// their subtrees move with them. Others have joints that say where they are, which only q and
/// v can set: rg_errorUnsupported. Setting the pose keeps the velocity of the body's origin in
/// world axes.
RG_API rgResult rgWorld_SetBodyPose(rgWorld* world, rgBodyId body, rgPose pose);
RG_API rgResult rgWorld_SetBodyVelocity(rgWorld* world, rgBodyId body, rgSpatial velocity);
/// A kinematic body is to be there at the end of the next step: it moves there at the velocity that
/// takes, pushing bodies in its way, and stands still afterwards unless it is moved again.
/// For a motion over time, give the pose after each step. The other ways:
/// rgWorld_SetBodyVelocity() moves it at a velocity until the next call,
/// rgWorld_SetBodyPose() puts it elsewhere without moving it there; if it then overlaps with
/// another body, rgWorld_Health() names the pair. rg_errorUnsupported when it is not kinematic.
RG_API rgResult rgWorld_MoveBody(rgWorld* world, rgBodyId body, rgPose pose);
/// Close the rigid loops and couplings of the present configuration, by little motion; velocities
/// stay. rg_errorNumeric: no such configuration was found, and the state is the nearest one met.
RG_API rgResult rgWorld_Project(rgWorld* world);
RG_API rgResult rgWorld_SetTime(rgWorld* world, double time);
/// To a key; null: to where the world was created, the neutral configuration with joints inside
/// their limits (rgModel_StartConfiguration()) and loops closed then. rgWorld_SetState() without q
/// gives the neutral configuration itself.
RG_API rgResult rgWorld_Reset(rgWorld* world, rgKeyId key);
RG_API double rgWorld_Time(const rgWorld* world);
RG_API double rgWorld_TimeStep(const rgWorld* world);
RG_API const double* rgWorld_Positions(const rgWorld* world, int* count);
RG_API const double* rgWorld_Velocities(const rgWorld* world, int* count);
RG_API size_t
rgWorld_StateSize(const rgWorld* world); ///< bytes of a saved state; may grow with contacts
RG_API rgResult rgWorld_Save(const rgWorld* world, void* bytes, size_t byteCount);
/// rg_errorArgument: of another model; rg_errorFormat: its checksum does not fit, it was damaged.
RG_API rgResult rgWorld_Restore(rgWorld* world, const void* bytes, size_t byteCount);
/// Same bits in, same hash out, for every worker count.
RG_API uint64_t rgWorld_Hash(const rgWorld* world);

/// Control: one entry per actuator, and generalized forces beside them (nv, in the conventions of
/// v). Both stay until changed.
RG_API rgResult rgWorld_SetControl(rgWorld* world, const double* control);
/// One of them, the others as they are.
RG_API rgResult rgWorld_SetActuatorControl(rgWorld* world, rgActuatorId actuator, double control);
/// Activations: one entry per actuator (those without one are ignored), or none at all if no
/// actuator of the model has one.
RG_API rgResult rgWorld_SetActivation(rgWorld* world, const double* activation);
RG_API const double* rgWorld_Activation(const rgWorld* world, int* count);
RG_API rgResult rgWorld_SetForce(rgWorld* world, const double* force);
RG_API const double* rgWorld_Control(const rgWorld* world, int* count);
RG_API const double* rgWorld_Force(const rgWorld* world, int* count);
/// Add a wrench on a body at its center of mass, in world axes; it stays until cleared.
RG_API rgResult rgWorld_ApplyWrench(rgWorld* world, rgBodyId body, rgVec3 force, rgVec3 torque);
/// Likewise a force at a point of space that the body has there now.
RG_API rgResult rgWorld_ApplyForceAt(rgWorld* world, rgBodyId body, rgVec3 force, rgVec3 point);
RG_API void rgWorld_ClearWrenches(rgWorld* world);
/// Bodies that are disabled take no part: no gravity, no contacts, no motion, and queries pass them
/// by. Holds for everything that hangs together with the body by joints. Shapes and equalities:
/// rgWorld_ChangeShape(), rgWorld_ChangeEquality().
RG_API rgResult rgWorld_EnableBody(rgWorld* world, rgBodyId body, bool enabled);

/// Change parameters while running. Take the part, change it, give it back:
///     rgShapeDef shape = *rgModel_Shape(rgWorld_Model(world), id);
///     shape.material.mu = 0.2;
///     rgWorld_ChangeShape(world, id, &shape, diagnostics);
/// From then on the world has the bits of a world whose model was made so. The model that
/// it was made of stays as it is, for others. Changes are saved, restored and hashed with the
/// state. These can change: inertias and gravity compensation of bodies; limits, damping, dry
/// friction, armature, springs and effort limits of joints; materials of shapes and whether they
/// are disabled; limits, damping, dry friction and springs of tendons; gears, gains, bias and
/// ranges of actuators; frames, polynomial, stiffness and damping of equalities and whether they
/// are disabled. rg_errorUnsupported when something else differs, rg_errorArgument for values that
/// a model would refuse; the diagnostics, which may be NULL, say which. Memory is taken here, never
/// by a step, and by the first change of each kind only.
RG_API rgResult rgWorld_ChangeBody(rgWorld* world, rgBodyId id, const rgBodyDef* body,
                                   rgDiagnostics* diagnostics);
RG_API rgResult rgWorld_ChangeJoint(rgWorld* world, rgJointId id, const rgJointDef* joint,
                                    rgDiagnostics* diagnostics);
RG_API rgResult rgWorld_ChangeShape(rgWorld* world, rgShapeId id, const rgShapeDef* shape,
                                    rgDiagnostics* diagnostics);
RG_API rgResult rgWorld_ChangeTendon(rgWorld* world, rgTendonId id, const rgTendonDef* tendon,
                                     rgDiagnostics* diagnostics);
RG_API rgResult rgWorld_ChangeActuator(rgWorld* world, rgActuatorId id,
                                       const rgActuatorDef* actuator, rgDiagnostics* diagnostics);
RG_API rgResult rgWorld_ChangeEquality(rgWorld* world, rgEqualityId id,
                                       const rgEqualityDef* equality, rgDiagnostics* diagnostics);
/// Likewise gravity and the world def's overrides for all contacts: stiffness to restitution,
/// friction rule, push-out speed, restitution threshold, limits.
RG_API rgResult rgWorld_ChangeSettings(rgWorld* world, const rgWorldDef* def,
                                       rgDiagnostics* diagnostics);
RG_API rgWorldDef rgWorld_Settings(const rgWorld* world); ///< as they are now, with gravity

/// True if a body sleeps (rgWorldDef.sleepTime). Sleeping bodies keep their place and their forces
/// on others; steps skip them. They wake, with all that fell asleep with them, when a moving body
/// comes to touch them, when their state, forces, wrenches or controls are set to
/// something else, and when parameters change. Their contacts are not among rgWorld_Contacts().
RG_API bool rgWorld_IsAsleep(const rgWorld* world, rgBodyId body);

/// Readout, computed on request. Poses, velocities, energies and position sensors are those of
/// the current state; contacts, constraints, reactions, force and acceleration sensors belong to
/// the last step or forward call, which began at the state before. Frame accelerations are without
/// gravity; accelerometers feel it.
/// The model with the world's changes; lives as long as the world, and moves with the first change.
RG_API const rgModel* rgWorld_Model(const rgWorld* world);
RG_API rgPose rgWorld_BodyPose(const rgWorld* world, rgBodyId body);
RG_API rgSpatial rgWorld_BodyVelocity(const rgWorld* world,
                                      rgBodyId body); ///< at the body origin, world axes
RG_API rgPose rgWorld_FramePose(const rgWorld* world, rgFrameId frame);
RG_API rgPose rgWorld_ShapePose(const rgWorld* world, rgShapeId shape);
RG_API const rgContact* rgWorld_Contacts(const rgWorld* world, int* count);
RG_API const rgConstraintForce* rgWorld_Constraints(const rgWorld* world, int* count);
/// Forces of the actuators in the last step or forward call [N] or [N m], one per actuator.
RG_API const double* rgWorld_ActuatorForces(const rgWorld* world, int* count);
/// Forces of the actuators on the joints, through gears, tendons and frames: vCount entries in the
/// conventions of v.
RG_API rgResult rgWorld_ActuatorTorques(const rgWorld* world, double* torques);
RG_API rgVec3 rgWorld_ContactForce(const rgWorld* world, rgBodyId body); ///< net [N], world axes
RG_API rgSpatial rgWorld_JointReaction(
    const rgWorld* world, rgJointId joint); ///< parent on child, at the joint, world axes
/// Reaction on a body: the wrench of its parent, or that of a prescribed motion, on it and on
/// all bodies below it, at the body's origin, world axes. For a kinematic body without mass it
/// is the opposite of the wrench of contacts and loops.
RG_API rgSpatial rgWorld_BodyReaction(const rgWorld* world, rgBodyId body);
RG_API const double* rgWorld_Sensors(const rgWorld* world, int* count);
RG_API int rgWorld_SensorStart(const rgWorld* world, rgSensorId sensor);
RG_API double rgWorld_KineticEnergy(const rgWorld* world);
RG_API double rgWorld_PotentialEnergy(const rgWorld* world); ///< gravity and springs
/// Fastest body: the place where a step failed (rg_errorNumeric). A step fails that
/// makes numbers that are not finite or speeds above 3e8 m/s or rad/s, or after one that left a
/// scene that nothing drives with a hundred times the kinetic energy that it can have; the state is
/// then kept until it is set. Null where nothing moves; speed may be NULL.
RG_API rgBodyId rgWorld_FastestBody(const rgWorld* world, double* speed); ///< of its centre or, in
                                                                          ///< rad/s, of its turn
/// Largest violations of energy, force and depth bounds since the world was made.
RG_API rgHealth rgWorld_Health(const rgWorld* world);
/// The constraint problem of the last step, in the velocity form, for study; a view until the next
/// call.
RG_API const rgContactProblem* rgWorld_Problem(const rgWorld* world, const double** lambda);
/// Search for other answers of the last step (rgContactProblem_FindAnswers(); def may be NULL).
/// impulses, or NULL, gets those of the farthest answer as rgWorld_SetImpulses() takes them: after
/// rgWorld_SetState() to where the step began, the next step makes that motion. A block is that of
/// the contact whose firstRow is rgWorld_Problem()->blocks[block].firstRow. The world does not
/// change. One call takes as long as tens of steps.
RG_API rgResult rgWorld_FindAnswers(const rgWorld* world, const rgAnswerDef* def, double* impulses,
                                    rgAnswers* answers);
RG_API size_t rgWorld_MemoryUse(const rgWorld* world); ///< bytes
/// Steps since creation whose solve did not reach the tolerance; their best impulses were used.
RG_API int rgWorld_UnconvergedSteps(const rgWorld* world);
/// Steps since creation with regularized rows.
RG_API int rgWorld_RegularizedSteps(const rgWorld* world);
