// Models: an editable definition (parsers and programs fill it) and the immutable model compiled
// from it.
#pragma once
#include "rigor/shape.h"

/// Typed index into a definition or a model. A zero-initialized id is null; as a parent body it
/// means the world.
// clang-format off
typedef struct rgBodyId { int32_t index1; } rgBodyId;
typedef struct rgJointId { int32_t index1; } rgJointId;
typedef struct rgShapeId { int32_t index1; } rgShapeId;
typedef struct rgFrameId { int32_t index1; } rgFrameId;
typedef struct rgTendonId { int32_t index1; } rgTendonId;
typedef struct rgActuatorId { int32_t index1; } rgActuatorId;
typedef struct rgEqualityId { int32_t index1; } rgEqualityId;
typedef struct rgSensorId { int32_t index1; } rgSensorId;
typedef struct rgKeyId { int32_t index1; } rgKeyId;
// clang-format on

/// Where a part of a definition was read: compile errors name it. Strings are copied.
typedef struct rgSource {
    const char* file; ///< NULL when made by a program
    int line;
} rgSource;

typedef struct rgBodyDef {
    const char* name;
    rgBodyId parent;   ///< null: the world
    rgPose pose;       ///< in the parent's frame, with all joints of this body at their reference
    rgInertia inertia; ///< in the body frame; mass 0 means none of its own
    double gravityCompensation; ///< share of its weight that is taken off it (MJCF gravcomp)
    rgQuat fluidAxes; ///< principal axes of inertia, in the body frame, that count in a fluid;
                      ///< zero: any. Where moments are equal it makes a difference.
    bool kinematic;   ///< its motion is given (rgWorld_MoveBody(), MJCF mocap) and no force changes
                      ///< it. It has no joints, its parent does not move, bodies fixed to it
                      ///< move with it; nothing is jointed to it.
    rgSource source;
    uint32_t cookie;
} rgBodyDef;

typedef enum rgJointKind {
    rg_jointFixed,
    rg_jointRevolute,  ///< q: angle. Also "continuous": leave hasLimits false.
    rg_jointPrismatic, ///< q: displacement along the axis
    rg_jointSpherical, ///< q: quaternion; v: body rate
    rg_jointFree,      ///< q: position, quaternion; v: linear, angular, both in the body frame
    rg_jointPlanar,    ///< q: x, y, angle in the plane across the axis; v: their rates
} rgJointKind;

/// A joint lets its body move relative to the parent. A body may have several, applied in the order
/// in which they were added (each moves with those before it); a body without joints is fixed to
/// its parent.
typedef struct rgJointDef {
    const char* name;
    rgBodyId body;
    rgJointKind kind;
    rgVec3 anchor;    ///< in the body frame
    rgVec3 axis;      ///< in the body frame; normalized by the compiler
    double reference; ///< value of q at which the body is where its pose says (MJCF `ref`)
    bool hasLimits;
    double lower, upper; ///< [rad] or [m]; spherical: upper is the largest angle
    double damping;      ///< [N s/m] or [N m s/rad]
    double dryFriction;  ///< [N] or [N m]
    double armature;     ///< [kg] or [kg m^2]
    double stiffness;    ///< spring towards springReference
    double springReference;
    double effortLimit;   ///< 0 means none; bound that torques on this joint are clamped to
    double velocityLimit; ///< 0 means none; informative
    rgSource source;
    uint32_t cookie;
} rgJointDef;

/// Combination of the friction coefficients of two shapes. If the rules of their materials differ,
/// the one further down holds.
typedef enum rgFrictionRule {
    rg_frictionUnset,     ///< geometric mean; in a world's def: as the materials say
    rg_frictionGeometric, ///< square root of the product
    rg_frictionAverage,
    rg_frictionMinimum,
    rg_frictionMaximum, ///< as MuJoCo; that of MJCF files
} rgFrictionRule;

/// Surface properties of a shape. Pairs combine friction by the rule and have the larger
/// restitution, dimension and transition speed; stiffnesses and dampings are in series, and
/// dissipations weighted by how much either side gives way. Stiffness and damping belong to each
/// contact point of a pair. Restitution is for rigid contacts.
typedef struct rgMaterial {
    double mu;                  ///< sliding friction
    double muTorsion;           ///< [m]; 0 means no torsional friction
    double muRolling;           ///< [m]; 0 means no rolling friction
    double stiffness;           ///< [N/m] along the normal; 0 means rigid
    double damping;             ///< [N s/m], with stiffness
    double tangentialStiffness; ///< [N/m] of sticking contacts, along the surface; 0 means rigid
    double tangentialDamping;   ///< [N s/m], with tangentialStiffness
    double restitution;         ///< 0 to 1
    int dimension; ///< 1 frictionless, 3 sliding, 4 with torsion, 6 with rolling (MJCF condim)
    rgFrictionRule frictionRule;
    double dissipation;     ///< [s/m] of Hunt and Crossley, with stiffness: F = k x (1 + d x')
    double muImpact;        ///< sliding friction of a point that closes at the transition speed
    double transitionSpeed; ///< [m/s]; 0 means mu at any speed
    double adhesion; ///< [N] that each point presses on the other side, up to which it can be
                     ///< pulled off; a pair has the sum of both
} rgMaterial;

typedef struct rgShapeDef {
    const char* name;
    rgBodyId body; ///< null: fixed to the world
    rgPose pose;   ///< in the body frame
    rgShapeKind kind;
    rgVec3 size;     ///< meaning: see rgShapeKind
    double rounding; ///< box, cylinder, hull: radius of a ball added all around, so that the shape
                     ///< reaches further than its size by as much [m]. Inertia does not count it.
    const rgMeshData* mesh;               ///< hull, mesh; copied
    const rgHeightFieldData* heightField; ///< height field; copied
    rgMaterial material;
    rgVec3 surfaceVelocity; ///< of the surface past the shape, in the shape's frame, as that of a
                            ///< conveyor belt; its part along the surface counts [m/s]
    rgVec3 surfaceSpin;     ///< the same as that of a turntable about the shape's origin [rad/s]
    bool visualOnly;        ///< takes no part in collisions
    bool hidden;            ///< viewers and cameras draw the other shapes of its body instead, if
                 ///< there are any (MJCF group 3 and more; collision shapes of URDF, SDF)
    bool disabled;  ///< meets nothing until a world enables it, rgWorld_ChangeShape()
    uint32_t group; ///< bits: its groups (MJCF contype)
    uint32_t mask;  ///< bits: groups it meets (MJCF conaffinity). A pair meets if either mask holds
                    ///< a bit of the other's group.
    int priority;   ///< the material of the higher priority holds for the pair
    double
        margin; ///< [m] distance at which contacts are made; 0 means the world's speculative margin
    bool fluidEllipsoid; ///< a fluid acts on it, as on an ellipsoid, instead of on its body;
                         ///< sphere, capsule, cylinder, box or ellipsoid (MJCF fluidshape)
    double fluidCoefficients[5]; ///< of that: blunt, slender, angular drag, Kutta lift, Magnus lift
    float color[4];              ///< red, green, blue, alpha
    rgSource source;
    uint32_t cookie;
} rgShapeDef;

/// A named frame fixed to a body (MJCF site, URDF link that was merged into its parent).
typedef struct rgFrameDef {
    const char* name;
    rgBodyId body;
    rgPose pose;
    double fieldOfView; ///< vertical, of a camera that looks along -z of the frame [rad]; 0: none
    rgSource source;
    uint32_t cookie;
} rgFrameDef;

typedef enum rgTendonPointKind {
    rg_pointFrame,  ///< it goes through the origin of a frame
    rg_pointShape,  ///< it goes around a sphere or cylinder (of any length) if that is in its way
    rg_pointPulley, ///< it ends here; the points that follow are another branch of it
} rgTendonPointKind;

/// A part of a tendon's way. Every branch begins and ends at a frame, and a shape is between two.
typedef struct rgTendonPoint {
    rgTendonPointKind kind;
    rgFrameId frame; ///< the frame; shape: where it goes around on this side, and if the frame is
                     ///< within the shape it goes through it instead; null: the shorter way
    rgShapeId shape;
    double divisor; ///< pulley: of the branch's length
} rgTendonPoint;

/// Sum of coefficient times joint coordinate (MJCF fixed tendon), or the length of the way along
/// some points (MJCF spatial tendon).
typedef struct rgTendonDef {
    const char* name;
    int jointCount;
    const rgJointId* joints;
    const double* coefficients;
    int pointCount; ///< points or joints
    const rgTendonPoint* points;
    bool hasLimits;
    double lower, upper;
    double damping, dryFriction, stiffness, springReference;
    double slack;    ///< the spring does nothing from springReference to so much more
    double armature; ///< inertia of its length [kg]
    rgSource source;
    uint32_t cookie;
} rgTendonDef;

/// How an actuator's input u follows its control c. All but none have an activation, which is part
/// of a world's state.
typedef enum rgActivationKind {
    rg_activationNone,       ///< u = c
    rg_activationIntegrator, ///< u' = c
    rg_activationFilter,     ///< u' = (c - u)/timeConstant
    rg_activationMuscle,     ///< u' = (c - u)/t, t of rgMuscle
} rgActivationKind;

/// Hill's muscle, as in MuJoCo: force = -force (FL(L) FV(V) u + FP(L)), L and V relative to the
/// length at which it is strongest. docs/theory/actuators.md.
typedef struct rgMuscle {
    double lengthRange[2];                   ///< of the actuator's position [m]
    double range[2];                         ///< lengthRange in units of L
    double force;                            ///< the largest active one [N]
    double lmin, lmax;                       ///< where FL vanishes
    double vmax;                             ///< shortening at which FV vanishes [1/s]
    double fpmax;                            ///< FP half way from 1 to lmax, times two
    double fvmax;                            ///< FV when it lengthens fast
    double activationTime, deactivationTime; ///< [s]
    double smoothing; ///< width of the change from one to the other, in c - u
} rgMuscle;

/// force = gain(l, l') u + bias - kp l - kd l', gain(l, l') = gain + gainPosition l + gainVelocity
/// l', limited to the force range, with the position l and its rate l' of its transmission:
///  - a joint: gear times its coordinates, one per degree of freedom; of free joints the linear
///    three in world axes, and l = 0; of free and spherical ones the axis is in the body's frame;
///  - a tendon: gear[0] times its length;
///  - a frame: gear is force and torque in its axes, and l = 0. With a reference, in the axes of
///    that frame, l = gear . (position, rotation vector) in that frame, and the reaction acts
///    there;
///  - a crank (slider and frame): gear[0] times how far the slider is along the z axis of its
///    frame, where a rod of crankLength goes from it to the origin of frame.
/// A position servo has gain = kp; a velocity servo gain = kd, kp = 0. Gains that oppose the motion
/// (kp, kd, -gainPosition u, -gainVelocity u where positive) act implicitly.
typedef struct rgActuatorDef {
    const char* name;
    rgJointId joint; ///< one of joint, tendon and frame
    rgTendonId tendon;
    rgFrameId frame;
    rgFrameId reference; ///< with frame; null: none
    rgFrameId slider;    ///< with frame; null: it is no crank
    bool inParent;       ///< free and spherical joints: the axis is in the parent's frame
    bool isMuscle;       ///< force of rgMuscle; gains and bias do not count
    bool isAdhesive;     ///< with frame: presses the frame's body on bodies in contact (within the
                         ///< margins of the shapes), the same at each point; gear does not count
    bool early;          ///< its force has the activation of the end of the step
    rgActivationKind activation;
    double gear[6];
    double gain;
    double bias;
    double kp, kd;
    double gainPosition, gainVelocity;
    double timeConstant;    ///< [s]
    double crankLength;     ///< [m]
    double delay;           ///< [s] after which its control acts; at least a step, where not 0
    bool delayIsContinuous; ///< the line between the controls of two steps; otherwise the last one
                            ///< before, so that the delay is one of whole steps, rounded up
    bool hasControlRange, hasForceRange, hasActivationRange;
    double controlLower, controlUpper;
    double forceLower, forceUpper;
    double activationLower, activationUpper;
    rgMuscle muscle;
    rgSource source;
    uint32_t cookie;
} rgActuatorDef;

typedef enum rgEqualityKind {
    rg_equalityConnect, ///< a point of A and a point of B coincide
    rg_equalityWeld,    ///< two frames coincide
    rg_equalityJoint, ///< q_A - ref_A = polynomial(q_B - ref_B); without B: q_A is constant (mimic,
                      ///< gear)
    rg_equalityTendon, ///< the same with tendons
} rgEqualityKind;

typedef struct rgEqualityDef {
    const char* name;
    rgEqualityKind kind;
    rgBodyId bodyA, bodyB; ///< connect, weld; null B: the world
    rgPose poseA, poseB;   ///< frames (connect: points) in the body frames
    rgJointId jointA, jointB;
    rgTendonId tendonA, tendonB;
    double polynomial[5]; ///< joint, tendon: constant first
    double stiffness;     ///< [N/m]; 0 means rigid
    double damping;
    bool disabled;
    rgSource source;
    uint32_t cookie;
} rgEqualityDef;

typedef enum rgSensorKind {
    rg_sensorNone,
    rg_sensorJointPosition,
    rg_sensorJointVelocity,
    rg_sensorJointActuatorForce,
    rg_sensorTendonPosition,
    rg_sensorTendonVelocity,
    rg_sensorActuatorPosition,
    rg_sensorActuatorVelocity,
    rg_sensorActuatorForce,
    rg_sensorBallQuat,
    rg_sensorBallAngularVelocity,
    rg_sensorFramePosition,
    rg_sensorFrameQuat,
    rg_sensorFrameLinearVelocity,
    rg_sensorFrameAngularVelocity,
    rg_sensorFrameLinearAcceleration,
    rg_sensorFrameAngularAcceleration,
    rg_sensorAccelerometer,
    rg_sensorGyro,
    rg_sensorVelocimeter,
    rg_sensorForce,
    rg_sensorTorque,
    rg_sensorTouch,
    rg_sensorSubtreeCenter,
    rg_sensorSubtreeLinearVelocity,
    rg_sensorSubtreeAngularMomentum,
    rg_sensorTendonActuatorForce,
    rg_sensorJointLimitPosition, ///< how far it is beyond a limit: negative, or 0
    rg_sensorJointLimitVelocity, ///< how fast it comes back, while it is beyond
    rg_sensorJointLimitForce,    ///< of the limits, positive [N] or [N m]
    rg_sensorTendonLimitPosition,
    rg_sensorTendonLimitVelocity,
    rg_sensorTendonLimitForce,
    rg_sensorFrameXAxis,
    rg_sensorFrameYAxis,
    rg_sensorFrameZAxis,
    rg_sensorMagnetometer, ///< the model's magnetic field, in the frame's axes
    rg_sensorRangefinder, ///< distance of the nearest shape along the frame's z axis [m]; -1: none.
                          ///< Shapes of its body and those that do not collide are passed by
    rg_sensorClock,       ///< the world's time [s]
    rg_sensorPotentialEnergy, ///< of gravity and springs [J]
    rg_sensorKineticEnergy,   ///< [J]
    rg_sensorContact,         ///< contacts between two sides, see rgSensorDef.sides
    rg_sensorKindCount
} rgSensorKind;

/// Parts that one side of a contact belongs to.
typedef enum rgContactPart {
    rg_contactPartAny,
    rg_contactPartShape,
    rg_contactPartBody,    ///< shapes of the body; null: of the world
    rg_contactPartSubtree, ///< shapes of the body and of all bodies below it
} rgContactPart;

typedef struct rgContactSide {
    rgContactPart part;
    rgShapeId shape;
    rgBodyId body;
} rgContactSide;

/// Numbers that a sensor of contacts gives for each contact, in this order. Directions are from
/// side 0 to side 1, and forces act on side 1.
typedef enum rgContactNumbers {
    rg_contactFound = 1,   ///< 1 number: how many contacts match
    rg_contactForces = 2,  ///< 3: along the normal and both tangents [N]
    rg_contactTorques = 4, ///< 3: about the normal and both tangents [N m]
    rg_contactGap = 8,     ///< 1: [m], negative in penetration
    rg_contactPoint = 16,  ///< 3: in the world [m]
    rg_contactNormal = 32, ///< 3: in the world
    rg_contactTangent = 64 ///< 3: the first one, in the world
} rgContactNumbers;

/// Choice of the contacts that a sensor gives, where more match.
typedef enum rgContactChoice {
    rg_contactFirst,   ///< in the order of rgWorld_Contacts()
    rg_contactNearest, ///< those with the smallest gap
    rg_contactHardest, ///< those with the largest force
    rg_contactSum,     ///< one that stands for all: force and torque in world axes, at the mean of
                       ///< the points weighted by their forces
} rgContactChoice;

typedef struct rgSensorDef {
    const char* name;
    rgSensorKind kind;
    rgJointId joint;
    rgTendonId tendon;
    rgActuatorId actuator;
    rgFrameId frame;     ///< frame sensors, IMU, force, torque, touch; or, with a null frame:
    rgBodyId body;       ///< the body frame (subtree sensors too)
    rgFrameId reference; ///< position, orientation, axes and velocity of a frame are those as seen
    rgBodyId referenceBody; ///< from this frame or body; both null: from the world
    double cutoff;      ///< readings stay within -cutoff and cutoff (orientations and axes apart,
                        ///< and those that are not negative only from above); 0: none
    double touchRadius; ///< touch: contacts within this distance of the frame's origin count; 0:
                        ///< all of the body
    rgContactSide sides[2];        ///< contact: points that touch and belong to both count
    int contactNumbers;            ///< contact: bits of rgContactNumbers
    int contactCount;              ///< contact: so many contacts, zeros where fewer match; 0: one
    rgContactChoice contactChoice; ///< contact
    int zeroCount;                 ///< rg_sensorNone: it reads so many zeros, to keep their places
    rgSource source;
    uint32_t cookie;
} rgSensorDef;

/// A stored state. Sizes are checked by the compiler; NULL arrays mean neutral or zero.
typedef struct rgKeyDef {
    const char* name;
    double time;
    int qCount, vCount, controlCount, activationCount;
    const double* q; ///< in rigor's conventions
    const double* v;
    const double* control;    ///< one per actuator
    const double* activation; ///< one per actuator; ignored for those without activation
    rgSource source;
    uint32_t cookie;
} rgKeyDef;

/// How a step gets from one state to the next; both have one collision and one contact solve.
typedef enum rgIntegrator {
    rg_integratorAny,      ///< not said
    rg_integratorMidpoint, ///< second order: positions, forces and rows of the middle of the step
    rg_integratorEuler,    ///< first order: those of its start, springs and dampers implicit
} rgIntegrator;

/// Wishes of a file about how it is simulated.
typedef struct rgModelOptions {
    rgVec3 gravity;       ///< [m/s^2]
    double timeStep;      ///< [s]; 0: not said
    bool impliedTimeStep; ///< the file does not say it, but its format means it (MJCF: 2 ms); one
                          ///< that is said in another file goes before it
    rgIntegrator integrator;
    bool hasGravity;
    rgVec3 magnetic;           ///< field that magnetometers measure
    double density, viscosity; ///< of the fluid around bodies [kg/m^3], [Pa s]; 0: none
    rgVec3 wind;               ///< velocity of the fluid [m/s]
    rgSource source;           ///< where they were read
} rgModelOptions;

typedef struct rgModelDef rgModelDef; ///< editable; one thread at a time
typedef struct rgModel rgModel;       ///< immutable; any number of threads

RG_API rgBodyDef rgDefaultBodyDef(void);
RG_API rgJointDef rgDefaultJointDef(void);
RG_API rgMaterial rgDefaultMaterial(void);
RG_API rgShapeDef rgDefaultShapeDef(void);
RG_API rgFrameDef rgDefaultFrameDef(void);
RG_API rgTendonDef rgDefaultTendonDef(void);
RG_API rgActuatorDef rgDefaultActuatorDef(void);
RG_API rgEqualityDef rgDefaultEqualityDef(void);
RG_API rgSensorDef rgDefaultSensorDef(void);
RG_API rgKeyDef rgDefaultKeyDef(void);

RG_API rgResult rgCreateModelDef(const rgAllocator* allocator, rgModelDef** def);
RG_API void rgDestroyModelDef(rgModelDef* def);

/// Each Add copies its definition, strings and arrays too. The id may be NULL. Numbers of one part
/// are checked at once, the rest by rgCompileModel(). The definition remembers the first
/// Add that failed, and rgCompileModel() reports it: a model never lacks a part in silence.
RG_API rgResult rgModelDef_AddBody(rgModelDef* def, const rgBodyDef* body, rgBodyId* id);
RG_API rgResult rgModelDef_AddJoint(rgModelDef* def, const rgJointDef* joint, rgJointId* id);
RG_API rgResult rgModelDef_AddShape(rgModelDef* def, const rgShapeDef* shape, rgShapeId* id);
RG_API rgResult rgModelDef_AddFrame(rgModelDef* def, const rgFrameDef* frame, rgFrameId* id);
RG_API rgResult rgModelDef_AddTendon(rgModelDef* def, const rgTendonDef* tendon, rgTendonId* id);
RG_API rgResult rgModelDef_AddActuator(rgModelDef* def, const rgActuatorDef* actuator,
                                       rgActuatorId* id);
RG_API rgResult rgModelDef_AddEquality(rgModelDef* def, const rgEqualityDef* equality,
                                       rgEqualityId* id);
RG_API rgResult rgModelDef_AddSensor(rgModelDef* def, const rgSensorDef* sensor, rgSensorId* id);
RG_API rgResult rgModelDef_AddKey(rgModelDef* def, const rgKeyDef* key, rgKeyId* id);
/// Exclude contacts between two bodies.
RG_API rgResult rgModelDef_ExcludePair(rgModelDef* def, rgBodyId a, rgBodyId b);

/// Two bodies that never meet, and why.
typedef struct rgExcludedPair {
    rgBodyId a, b;
    double
        overlap; ///< [m] by which they overlap at the start of the robot, for which a loader
                 ///< excluded them (rgLoadDef.selfOverlap); 0: the file or a program excluded them
} rgExcludedPair;
/// A view, valid until the next change of the definition.
RG_API const rgExcludedPair* rgModelDef_ExcludedPairs(const rgModelDef* def, int* count);
/// These two shapes meet in spite of masks; the material holds for the pair unless it is NULL.
RG_API rgResult rgModelDef_AddPair(rgModelDef* def, rgShapeId a, rgShapeId b,
                                   const rgMaterial* material);
/// Look-up of a definition's parts by name; null when there is none.
RG_API rgBodyId rgModelDef_FindBody(const rgModelDef* def, const char* name);
RG_API rgJointId rgModelDef_FindJoint(const rgModelDef* def, const char* name);
RG_API rgShapeId rgModelDef_FindShape(const rgModelDef* def, const char* name);
RG_API rgFrameId rgModelDef_FindFrame(const rgModelDef* def, const char* name);
RG_API rgTendonId rgModelDef_FindTendon(const rgModelDef* def, const char* name);
RG_API rgActuatorId rgModelDef_FindActuator(const rgModelDef* def, const char* name);
RG_API rgEqualityId rgModelDef_FindEquality(const rgModelDef* def, const char* name);
RG_API rgSensorId rgModelDef_FindSensor(const rgModelDef* def, const char* name);
RG_API rgKeyId rgModelDef_FindKey(const rgModelDef* def, const char* name);

/// Views of a part, valid until the next change of the definition; NULL for a wrong id. Copy one,
/// change the copy, and Set it.
RG_API const rgBodyDef* rgModelDef_Body(const rgModelDef* def, rgBodyId id);
RG_API const rgJointDef* rgModelDef_Joint(const rgModelDef* def, rgJointId id);
RG_API const rgShapeDef* rgModelDef_Shape(const rgModelDef* def, rgShapeId id);
RG_API const rgFrameDef* rgModelDef_Frame(const rgModelDef* def, rgFrameId id);
RG_API const rgTendonDef* rgModelDef_Tendon(const rgModelDef* def, rgTendonId id);
RG_API const rgActuatorDef* rgModelDef_Actuator(const rgModelDef* def, rgActuatorId id);
RG_API const rgEqualityDef* rgModelDef_Equality(const rgModelDef* def, rgEqualityId id);
RG_API const rgSensorDef* rgModelDef_Sensor(const rgModelDef* def, rgSensorId id);
RG_API const rgKeyDef* rgModelDef_Key(const rgModelDef* def, rgKeyId id);

/// Put another definition in the place of a part, with the checks of Add. A wrong id, such as the
/// null id of a name that was not found, is remembered as a failed Add is. A body stays behind its
/// parent: the new parent's id is below its own.
RG_API rgResult rgModelDef_SetBody(rgModelDef* def, rgBodyId id, const rgBodyDef* body);
RG_API rgResult rgModelDef_SetJoint(rgModelDef* def, rgJointId id, const rgJointDef* joint);
RG_API rgResult rgModelDef_SetShape(rgModelDef* def, rgShapeId id, const rgShapeDef* shape);
RG_API rgResult rgModelDef_SetFrame(rgModelDef* def, rgFrameId id, const rgFrameDef* frame);
RG_API rgResult rgModelDef_SetTendon(rgModelDef* def, rgTendonId id, const rgTendonDef* tendon);
RG_API rgResult rgModelDef_SetActuator(rgModelDef* def, rgActuatorId id,
                                       const rgActuatorDef* actuator);
RG_API rgResult rgModelDef_SetEquality(rgModelDef* def, rgEqualityId id,
                                       const rgEqualityDef* equality);
RG_API rgResult rgModelDef_SetSensor(rgModelDef* def, rgSensorId id, const rgSensorDef* sensor);
RG_API rgResult rgModelDef_SetKey(rgModelDef* def, rgKeyId id, const rgKeyDef* key);

/// Remove a part and all that depend on it: the subtree of a body, tendons, actuators,
/// sensors and couplings of a joint, pairs of a shape. Keys lose the coordinates that go. A note
/// names each part that goes along. The ids of parts that stay change: find them again by name. A
/// wrong id is remembered as a failed Add is.
RG_API rgResult rgModelDef_RemoveBody(rgModelDef* def, rgBodyId id, rgDiagnostics* diagnostics);
RG_API rgResult rgModelDef_RemoveJoint(rgModelDef* def, rgJointId id, rgDiagnostics* diagnostics);
RG_API rgResult rgModelDef_RemoveShape(rgModelDef* def, rgShapeId id, rgDiagnostics* diagnostics);
RG_API rgResult rgModelDef_RemoveFrame(rgModelDef* def, rgFrameId id, rgDiagnostics* diagnostics);
RG_API rgResult rgModelDef_RemoveTendon(rgModelDef* def, rgTendonId id, rgDiagnostics* diagnostics);
RG_API rgResult rgModelDef_RemoveActuator(rgModelDef* def, rgActuatorId id,
                                          rgDiagnostics* diagnostics);
RG_API rgResult rgModelDef_RemoveEquality(rgModelDef* def, rgEqualityId id,
                                          rgDiagnostics* diagnostics);
RG_API rgResult rgModelDef_RemoveSensor(rgModelDef* def, rgSensorId id, rgDiagnostics* diagnostics);
RG_API rgResult rgModelDef_RemoveKey(rgModelDef* def, rgKeyId id, rgDiagnostics* diagnostics);

/// A position servo (gain and kp [N/m] or [N m/rad], kd) for every revolute and prismatic joint
/// that no actuator drives yet, under the joint's name; its effort limit bounds the force.
RG_API rgResult rgModelDef_AddServos(rgModelDef* def, double kp, double kd);

/// How a definition is attached to another.
typedef enum rgAttachKind {
    rg_attachAsIs,  ///< bodies fixed to its world are fixed to the parent; free bodies stay free
    rg_attachFixed, ///< its root bodies lose their free joints and are fixed to the parent
    rg_attachFree,  ///< root bodies that are fixed to its world move freely
    rg_attachJoint, ///< all of it moves against the parent by one joint
} rgAttachKind;

/// Start from rgDefaultAttachDef().
typedef struct rgAttachDef {
    rgAttachKind kind;
    const char* prefix; ///< goes before every name; NULL: names stay as they are
    const char* suffix; ///< goes behind every name; NULL: nothing
    rgBodyId parent;    ///< null: the world
    rgPose pose;        ///< of the other definition's world in the parent's frame
    rgJointDef joint;   ///< rg_attachJoint: its body is not read, its name is taken as given
    bool
        withoutWorld; ///< shapes and frames fixed to the other's world, such as its floor, stay out
    uint32_t cookie;
} rgAttachDef;

RG_API rgAttachDef rgDefaultAttachDef(void);

/// Copy all parts of another definition into this one, any number of times. A NULL attach is the
/// default one. Names that both use
/// are errors with both places. If both have a gravity or a time step, the first is used and a
/// warning names both. Keys of either keep their coordinates; the others' are neutral in them.
/// With rg_attachJoint the joint belongs to the other's root body if it has just one, without
/// joints, and nothing else is fixed to its world; otherwise to a body called prefix, which
/// has all parts. The root may be NULL; it becomes the first root body. On failure nothing is
/// attached, and the definition remembers it as it does a failed Add.
RG_API rgResult rgModelDef_Attach(rgModelDef* def, const rgModelDef* other,
                                  const rgAttachDef* attach, rgDiagnostics* diagnostics,
                                  rgBodyId* root);

RG_API void rgModelDef_SetName(rgModelDef* def, const char* name);
RG_API void rgModelDef_SetOptions(rgModelDef* def, const rgModelOptions* options);

/// Check the definition and make a model of it. Everything that is wrong is said in diagnostics,
/// with the part's name and source; any error means rg_errorArgument and no model. Bodies without
/// joints are merged into their parents and stay addressable. Joint coordinates are ordered depth
/// first: a body, then its children in the order in which they were added.
RG_API rgResult rgCompileModel(const rgModelDef* def, const rgAllocator* allocator,
                               rgDiagnostics* diagnostics, rgModel** model);
RG_API void rgDestroyModel(rgModel* model);

/// Sizes of a model. Ids of parts are those that the definition gave.
typedef struct rgModelInfo {
    const char* name;
    int qCount, vCount;
    int bodyCount, jointCount, shapeCount;
    int frameCount; ///< frames of the definition first, then one per body
    int tendonCount, actuatorCount, equalityCount, sensorCount, keyCount;
    int activationCount; ///< actuatorCount if any actuator has an activation, else 0
    int linkCount;       ///< moving links: one per joint, three per planar joint
    int treeCount;       ///< kinematic trees that move independently of each other
    double mass;         ///< of everything that moves [kg]
    double staticMass;   ///< of bodies fixed to the world [kg]
    rgModelOptions options;
} rgModelInfo;

/// The name, options and counts of parts of a definition; numbers that only a model has are
/// 0, and frameCount is without the bodies' own.
RG_API rgModelInfo rgModelDef_Info(const rgModelDef* def);

/// Places of a joint's coordinates in q and v.
typedef struct rgJointRange {
    int q, qCount;
    int v, vCount;
} rgJointRange;

/// Pose of a body in the frame of the moving body that it is fixed to.
typedef struct rgBodyLink {
    rgBodyId moving; ///< the body with joints that it moves with (maybe itself); null: static
    rgPose pose;     ///< in the frame of that body; static: in the world
} rgBodyLink;

RG_API rgModelInfo rgModel_Info(const rgModel* model);

/// Views of the parts as the compiler took them, valid as long as the model; NULL for a wrong id.
RG_API const rgBodyDef* rgModel_Body(const rgModel* model, rgBodyId id);
RG_API const rgJointDef* rgModel_Joint(const rgModel* model, rgJointId id);
RG_API const rgShapeDef* rgModel_Shape(const rgModel* model, rgShapeId id);
RG_API const rgFrameDef* rgModel_Frame(const rgModel* model, rgFrameId id);
RG_API const rgTendonDef* rgModel_Tendon(const rgModel* model, rgTendonId id);
RG_API const rgActuatorDef* rgModel_Actuator(const rgModel* model, rgActuatorId id);
RG_API const rgEqualityDef* rgModel_Equality(const rgModel* model, rgEqualityId id);
RG_API const rgSensorDef* rgModel_Sensor(const rgModel* model, rgSensorId id);
RG_API const rgKeyDef* rgModel_Key(const rgModel* model, rgKeyId id); ///< arrays are complete
/// Numbers that all sensors have together, as many as rgWorld_Sensors().
RG_API int rgModel_SensorNumbers(const rgModel* model);

/// Look-up by name; null when there is none. Every body is a frame of its name, unless the
/// definition has a frame of that name.
RG_API rgBodyId rgModel_FindBody(const rgModel* model, const char* name);
RG_API rgJointId rgModel_FindJoint(const rgModel* model, const char* name);
RG_API rgShapeId rgModel_FindShape(const rgModel* model, const char* name);
RG_API rgFrameId rgModel_FindFrame(const rgModel* model, const char* name);
RG_API rgTendonId rgModel_FindTendon(const rgModel* model, const char* name);
RG_API rgActuatorId rgModel_FindActuator(const rgModel* model, const char* name);
RG_API rgEqualityId rgModel_FindEquality(const rgModel* model, const char* name);
RG_API rgSensorId rgModel_FindSensor(const rgModel* model, const char* name);
RG_API rgKeyId rgModel_FindKey(const rgModel* model, const char* name);

RG_API rgJointRange rgModel_JointRange(const rgModel* model, rgJointId id);
RG_API rgBodyLink rgModel_BodyLink(const rgModel* model, rgBodyId id);
RG_API rgFrameId rgModel_BodyFrame(const rgModel* model, rgBodyId id);

/// True if two shapes can collide: masks, excluded bodies, explicit pairs; shapes on one body, on
/// parent and child, or both static never do unless they are an explicit pair.
RG_API bool rgModel_ShapesMeet(const rgModel* model, rgShapeId a, rgShapeId b);
/// The material that holds between two shapes.
RG_API rgMaterial rgModel_PairMaterial(const rgModel* model, rgShapeId a, rgShapeId b);
