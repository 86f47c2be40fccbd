// Derivatives of a time step through the exact contact law: linear models, reverse passes, and
// differences as for comparison. docs/theory/step_derivatives.md.
#pragma once
#include "rigor/world.h"

/// Variables of a derivative, as bits. Columns come in this order.
typedef enum rgBy {
    rg_byPosition = 1,    ///< q, by a small velocity in the conventions of v: vCount
    rg_byVelocity = 2,    ///< v: vCount
    rg_byControl = 4,     ///< one per actuator
    rg_byForce = 8,       ///< generalized forces of rgWorld_SetForce(): vCount
    rg_byParameters = 16, ///< those of the def
    rg_byTrend = 32,      ///< what the state holds of the steps before beside q and v: half of the
                     ///< change of v that is foreseen, then the last change, vCount each, in step
                     ///< coordinates, rates of free and ball joints in axes of the parent
} rgBy;

/// A number of the model.
typedef enum rgQuantityKind {
    rg_quantityFriction,     ///< mu of a shape; index -1: of all pairs of the world, at once
    rg_quantityRestitution,  ///< of a shape, or of all pairs
    rg_quantityMass,         ///< of a body, its center and moment about the center unchanged [kg]
    rg_quantityInertia,      ///< of a body, element of rgInertia_Parameters()
    rg_quantityDamping,      ///< of a joint [N s/m, N m s/rad]
    rg_quantityStiffness,    ///< of a joint's spring [N/m, N m/rad]
    rg_quantityArmature,     ///< of a joint [kg, kg m^2]
    rg_quantityDryFriction,  ///< of a joint [N, N m]
    rg_quantityPositionGain, ///< kp of an actuator
    rg_quantityVelocityGain, ///< kd of an actuator
    rg_quantityGain,         ///< of an actuator's control
} rgQuantityKind;

typedef struct rgQuantity {
    rgQuantityKind kind;
    int index;   ///< of the shape, body, joint or actuator, from 0
    int element; ///< rg_quantityInertia: 0 to 9
} rgQuantity;

/// Start from rgDefaultDerivativeDef(), then set members. NULL means the
/// default.
typedef struct rgDerivativeDef {
    unsigned by;                  ///< bits of rgBy; position, velocity and control by default
    const rgQuantity* parameters; ///< with rg_byParameters
    int parameterCount;
    bool heldGaps;    ///< touching contacts have the slope of gaps that open, 1/dt, not of those
                      ///< that are closed, 0
    double smoothing; ///< [m/s]; above 0, contacts and limits go from one mode to another over
                      ///< about so much: those that are about to touch are felt, as far as
                      ///< rgWorldDef.margin, and those that slide may stick. 0: the exact law
    bool impulses;    ///< rgDerivatives.impulse as well
    bool sensors;     ///< rgDerivatives.sensor as well
    bool advance;     ///< take the step that is differentiated; otherwise the state stays
    bool differences; ///< central differences of whole steps, nothing else: a second opinion
    double increment; ///< of the differences; 1e-6 by default
    uint32_t cookie;
} rgDerivativeDef;

/// The linear model of a step: views until the next call with the world. Row by row. nextQ is the
/// change of the new position, as a small velocity in the conventions of v (rgModel_Difference()).
/// No number is ever NaN or infinite.
typedef struct rgDerivatives {
    int columnCount;
    int positionColumn, velocityColumn, controlColumn, forceColumn, parameterColumn,
        trendColumn;         ///< first; -1
    const double* nextQ;     ///< vCount x columnCount
    const double* nextV;     ///< vCount x columnCount
    const double* nextTrend; ///< 2 vCount x columnCount, with rg_byTrend: products of the matrices
                             ///< of several steps have no error with it
    const double* impulse;   ///< rowCount x columnCount, of the rows of rgWorld_Problem()
    const double* sensor;    ///< sensorCount x columnCount, of rgWorld_Sensors() after the step
    int rowCount, sensorCount;
    int betweenModes; ///< rows at a kink of the contact law: one of two answers was chosen
    int touching;     ///< rows whose gap is zero, where columns by position have a kink: they are
                      ///< those of a gap that is closed, or with heldGaps of one that opens
    int inconsistent; ///< rows that contradict each other: least squares
    int redundant; ///< rows that others determine: of their impulses, the least change. It has no
                   ///< part in v+ unless such contacts slip, which is a choice as well
    int frozen;    ///< terms that were left out, because there is no derivative of them here
    const char* frozenWhy; ///< names the first of them; NULL: none
    double margin;         ///< relative distance of the nearest row to another mode; 1: far
} rgDerivatives;

RG_API rgDerivativeDef rgDefaultDerivativeDef(void);
/// Columns that the derivatives of a world of the model have; -1 when the def is wrong.
RG_API int rgModel_DerivativeColumns(const rgModel* model, const rgDerivativeDef* def);

/// Differentiate the step that rgWorld_Step() would take from the present state. Hooks of the def
/// are not called. Memory is taken by the first call, and where contacts are more than ever.
/// rg_errorNumeric: the step fails, or M is singular. rg_errorUnsupported: the model is so large
/// that the matrices would take more than a gigabyte.
RG_API rgResult rgWorld_Derivatives(rgWorld* world, const rgDerivativeDef* def,
                                    rgDerivatives* derivatives);

/// A gradient by the results of a step. NULL: zero.
typedef struct rgStepGradient {
    const double* qBar;     ///< by the new position, in the conventions of nextQ: vCount
    const double* vBar;     ///< by the new velocity: vCount
    const double* trendBar; ///< in the conventions of nextTrend: 2 vCount
    const double*
        sensorBar; ///< by sensors after the step, rgModel_SensorNumbers(): as slow as matrices
} rgStepGradient;

/// The transpose: from a gradient by the results of the step to that by the columns, in
/// out, as many as columnCount of rgWorld_Derivatives(). The derivatives may be NULL; their
/// matrices are.
RG_API rgResult rgWorld_Adjoint(rgWorld* world, const rgDerivativeDef* def,
                                const rgStepGradient* gradient, double* out,
                                rgDerivatives* derivatives);

/// The change of the new position and velocity, vCount each, along one direction of the columns, on
/// the side that it leads to: at a kink, where a contact is about to open, to close, to stick or to
/// slip, the matrices have one of two answers, and this the right one. It is that of the step a
/// small way along the direction, which is found there; numbers of the model count, but do not lead
/// anywhere. The state stays. The derivatives may be NULL; their matrices are.
RG_API rgResult rgWorld_DirectionalDerivative(rgWorld* world, const rgDerivativeDef* def,
                                              const double* direction, double* nextQ, double* nextV,
                                              rgDerivatives* derivatives);
